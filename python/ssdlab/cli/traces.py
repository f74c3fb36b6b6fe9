"""`ssdlab trace info`, `convert`, `sample`, `collections` and `record`."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from ssdlab.asking import options as o
from ssdlab.cli.options import TimeOrder, count
from ssdlab.cli.output import INTERRUPTED, complain, print_json, print_tables, report_interrupt, warn
from ssdlab.errors import Error, FileError, UsageError
from ssdlab.pages import tables
from ssdlab.runs import api
from ssdlab.system.folders import DRAWN_FILE
from ssdlab.system.progress import CountProgress, ShareProgress

__all__ = ["collections", "convert", "info", "record", "sample"]


COMMAND_SHOWN = 60
"""Maximum number of characters of a command in a table."""

Volume = Annotated[
    str | None,
    typer.Option(
        "--volume", "--device-of-trace", help="Only requests of this volume (disk, LUN, ASU), as the trace names it.", metavar="NAME"
    ),
]
"""The option `--volume`, and its original name in these commands."""


def _no_queue_depth(depth: int | None) -> None:
    """Refuses `--queue-depth`: a trace states when requests arrive, not how many are outstanding."""
    if depth is not None:
        raise UsageError(
            f"--queue-depth {depth}: a trace has arrival times and no queue depth; give it to `ssdlab run` or `ssdlab compare`"
        )


QueueDepth = Annotated[
    int | None,
    typer.Option(
        "--queue-depth", help="Refused: a trace has arrival times.", metavar="N", hidden=True, parser=count, callback=_no_queue_depth
    ),
]
"""The option `--queue-depth`, which only a replay has; its error message explains that."""


def info(
    files: Annotated[list[Path], typer.Argument(help="Trace files, plain, .gz, .bz2 or .zst; - is standard input.", metavar="FILE...")],
    format: o.Format = None,
    unit_bytes: o.UnitBytes = None,
    time_unit: o.TimeUnit = None,
    event: o.Event = None,
    fio_wait: o.FioWait = None,
    volume: Volume = None,
    skip: o.Skip = None,
    limit_s: o.LimitS = None,
    time_scale: o.TimeScale = None,
    queue_depth: QueueDepth = None,  # noqa: ARG001 (its callback refuses it)
    json_: o.Json = False,
) -> None:
    """The command `ssdlab trace info`."""
    reading: dict[str, Any] = {"format": format, "unit_bytes": unit_bytes, "time_unit": time_unit, "event": event, "fio_wait": fio_wait}
    infos: dict[str, dict[str, Any]] = {}
    code = 0
    for path in files:
        try:
            found = api.trace_info(path, **reading, volume=volume, **_part(skip, limit_s, time_scale))
        except Error as error:
            complain(str(error))
            code = max(code, error.exit_code)
            continue
        infos[str(path)] = found
        if not json_:
            print_tables([tables.trace_table(found, str(path)), *_bad_lines(path, found)])
        if found["bad_lines"]:
            code = max(code, 1)
            complain(f"{path}: {found['bad_lines']:,} lines cannot be read")
    if json_:
        _print_infos(infos, single=len(files) == 1)
    if code:
        raise typer.Exit(code)


def convert(
    source: Annotated[Path, typer.Argument(help="The trace to read; - is standard input.", metavar="IN")],
    target: Annotated[Path, typer.Argument(help="The trace to write: .csv, .csv.zst, .parquet, ...", metavar="OUT")],
    format: o.Format = None,
    unit_bytes: o.UnitBytes = None,
    time_unit: o.TimeUnit = None,
    event: o.Event = None,
    fio_wait: o.FioWait = None,
    volume: Volume = None,
    bad_lines: o.BadLines = None,
    skip: o.Skip = None,
    limit_s: o.LimitS = None,
    time_scale: o.TimeScale = None,
    queue_depth: QueueDepth = None,  # noqa: ARG001 (its callback refuses it)
    time_order: Annotated[TimeOrder, typer.Option(help="Handling of times that decrease.")] = TimeOrder.error,
    requests: Annotated[int | None, typer.Option(help="At most N requests, such as 5000 or 20k.", metavar="N", parser=count)] = None,
    json_: o.Json = False,
) -> None:
    """The command `ssdlab trace convert`."""
    reading = {"format": format, "unit_bytes": unit_bytes, "time_unit": time_unit, "event": event, "fio_wait": fio_wait}
    part = _part(skip, limit_s, time_scale)
    _write(source, target, json_, volume, bad_lines, **reading, time_order=time_order.value, requests=requests, **part)


def _part(skip: int | None, limit_s: float | None, time_scale: float | None) -> dict[str, Any]:
    """The options that select a part of a trace, as arguments of functions."""
    return {"skip": skip or 0, "limit_s": limit_s, "time_scale": time_scale}


def sample(
    source: Annotated[Path, typer.Argument(help="The trace to read; - is standard input. Or a folder of traces.", metavar="IN")],
    target: Annotated[
        Path, typer.Argument(help="The trace to write: .csv, .csv.zst, .parquet, ... Of a folder: a new folder.", metavar="OUT")
    ],
    skip: Annotated[int, typer.Option(help="Skip N requests at the start.", metavar="N", parser=count)] = 0,
    seconds: Annotated[
        float | None, typer.Option(help="At most S seconds of trace time, from the first request taken.", metavar="S")
    ] = None,
    requests: Annotated[
        int | None,
        typer.Option(help="At most N requests, such as 5000 or 20k. Of a folder: requests of a piece (20k).", metavar="N", parser=count),
    ] = None,
    pieces: Annotated[int | None, typer.Option(help="Of a folder: at most N pieces (20).", metavar="N", min=1)] = None,
    seed: Annotated[int | None, typer.Option(help="Of a folder: seed of the draw (1).", metavar="N", min=0)] = None,
    scan: Annotated[
        int | None, typer.Option(help="Of a folder: requests at the start of each trace to draw from (5M).", metavar="N", parser=count)
    ] = None,
    format: o.Format = None,
    unit_bytes: o.UnitBytes = None,
    time_unit: o.TimeUnit = None,
    event: o.Event = None,
    fio_wait: o.FioWait = None,
    volume: Volume = None,
    bad_lines: o.BadLines = None,
    json_: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """The command `ssdlab trace sample`."""
    reading = {"format": format, "unit_bytes": unit_bytes, "time_unit": time_unit, "event": event, "fio_wait": fio_wait}
    if source.is_dir():
        given = [name for name, value in (("--skip", skip), ("--seconds", seconds), ("--volume", volume)) if value]
        if given:
            raise UsageError(f"{source} is a folder, and {given[0]} is of one trace: leave it out (--pieces, --requests, --seed, --scan)")
        more = reading if bad_lines is None else {**reading, "bad_lines": bad_lines}
        _draw(source, target, pieces, requests, seed, scan, more, as_json=json_, quiet=quiet)
        return
    if str(source) != "-" and not source.exists():
        raise FileError(f"{source}: there is no such file or folder")
    for name, value in (("--pieces", pieces), ("--seed", seed), ("--scan", scan)):
        if value is not None:
            raise UsageError(f"{name} {value}: {source} is no folder of traces, of which pieces are drawn: leave it out")
    if not skip and seconds is None and requests is None:
        raise UsageError(
            "no part of the trace is chosen: give --skip, --seconds or --requests (`ssdlab trace convert` writes the whole trace)"
        )
    _write(source, target, json_, volume, bad_lines, **reading, skip=skip, limit_s=seconds, requests=requests)


def _draw(
    source: Path,
    target: Path,
    pieces: int | None,
    requests: int | None,
    seed: int | None,
    scan: int | None,
    reading: Mapping[str, Any],
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Draws pieces of the traces in a folder, and prints them."""
    from ssdlab.experiments.populations import drawing  # noqa: PLC0415 (it takes longer than many commands)

    asked = {"pieces": pieces or 20, "requests": requests or 20_000, "seed": 1 if seed is None else seed}
    with ShareProgress(source.name, quiet=quiet) as progress:
        found = drawing.draw(source, target, **asked, scanned=scan or drawing.SCANNED, progress=progress.callback, **reading)
    if as_json:
        print_json({**asked, **asdict(found)})
        return
    print_tables(tables.piece_tables(found, target, target / DRAWN_FILE))


def collections(json_: o.Json = False) -> None:
    """The command `ssdlab trace collections`."""
    from ssdlab.experiments.populations import manifest  # noqa: PLC0415 (few commands need it)

    found = manifest.collections()
    if json_:
        print_json({"collections": [one.to_dict() for one in found]})
    else:
        print_tables(tables.collection_tables(found))


def _write(
    source: Path,
    target: Path,
    as_json: bool,
    volume: str | None,
    bad_lines: int | None,
    **options: Any,
) -> None:
    """Converts a trace or a part of it, and prints the report. `options` are arguments of `trace_convert`."""
    report = api.trace_convert(source, target, volume=volume, bad_lines=bad_lines or 0, **options)
    if as_json:
        print_json(report)
    else:
        print_tables([tables.trace_table(report, str(target))])


# Words after the first one of COMMAND belong to it, with or without -- before it.
def record(
    command: Annotated[list[str], typer.Argument(help="The program to run, with its arguments.", metavar="-- COMMAND...")],
    device: Annotated[Path, typer.Option("--dev", help="The block device to record: a disk or a partition.", metavar="DEV")],
    out: Annotated[Path, typer.Option(help="The trace to write: .csv, .csv.zst, .parquet, ...", metavar="FILE")],
    buffer_mb: Annotated[int, typer.Option(help="Kernel memory per processor for unread events.", metavar="N", min=1, max=65536)] = 32,
    json_: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """The command `ssdlab trace record`."""
    # imported here because PyArrow takes longer than many runs
    from ssdlab.system import recording  # noqa: PLC0415

    recording.check_target(out)
    recording.check_command(command)
    recording.check_system()
    found = recording.find_device(device)
    tracefs = recording.find_tracefs()
    with CountProgress("requests", quiet=quiet) as progress:
        recorder = recording.Recorder(found, tracefs, buffer_mb=buffer_mb, progress=progress.callback)
        recorded = recorder.record(command)
    for warning in recorded.warnings():
        warn(warning)
    report = recorded.save(out)
    info = api.trace_info(out)
    if json_:
        print_json({"file": str(out), "trace": info, "recording": report})
    elif not quiet:
        tables_ = [tables.trace_table(info, str(out)), tables.report_table(_shown(report), "Recording")]
        print_tables([*tables_, "Next:", f"  ssdlab run --trace {shlex.quote(str(out))} --fit trace"])
    if recorded.interrupted:
        report_interrupt("interrupted; the trace holds what was recorded until then")
        raise typer.Exit(INTERRUPTED)


def _shown(report: Mapping[str, Any]) -> dict[str, Any]:
    """A recording's report with its command shortened, and without lost events, which a warning reports."""
    typed = textwrap.shorten(shlex.join(report["command"]), COMMAND_SHOWN, placeholder=" ...")
    return {key: value for key, value in report.items() if key != "lost_between_s"} | {"command": typed}


def _bad_lines(path: Path, found: dict[str, Any]) -> list[str]:
    """The unreadable lines: the first ones with number and reason, and how many others there are."""
    shown = found.get("bad", [])
    lines = [_bad_line(path, bad) for bad in shown]
    more = found["bad_lines"] - len(shown)
    return [*lines, f"  ... and {more:,} more"] if more > 0 and shown else lines


def _bad_line(path: Path, bad: dict[str, Any]) -> str:
    place = f"{path}:{bad['line']}: "  # the prefix of errors; here the path is printed above and the line in front
    return f"  line {bad['line']}: {bad['message'].removeprefix(place)}"


def _print_infos(infos: dict[str, dict[str, Any]], *, single: bool) -> None:
    """Prints the report of a single file as it is, and reports of several files by name."""
    if single:
        for found in infos.values():
            print_json(found)
    else:
        print_json({"files": infos})
