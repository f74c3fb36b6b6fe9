"""`ssdlab queueing`: the single die as a queueing model, with formulas beside simulation."""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssdlab._core import write_file
from ssdlab.asking import options as o
from ssdlab.asking.plans import DEFAULT_SEED
from ssdlab.checks import whole
from ssdlab.cli.options import count, folder, parse_settings
from ssdlab.cli.output import INTERRUPTED, how_far, noting_old_results, print_json, print_tables, report_interrupt
from ssdlab.errors import Error, FileError, UsageError
from ssdlab.pages import tables
from ssdlab.runs.batch import check_apart
from ssdlab.system.folders import QUEUEING_FILE, ResultFolder, make_folder, replaced_with, write_json
from ssdlab.system.progress import RunProgress

if TYPE_CHECKING:
    import pyarrow as pa

    from ssdlab.queueing import Experiment, QueueingResult

__all__ = ["queueing"]

SERIES = ("requests", "collections", "copies")
MOST_DIGITS = 18
"""Maximum number of digits of a gap, ns."""
OPTIONS = {
    "read_per_ms": "--read-rate",
    "write_per_ms": "--write-rate",
    "read_gaps_ns and write_gaps_ns": "the gaps of reads and of writes (--gaps FILE)",
    "read_gaps_ns": "--gaps (read)",
    "write_gaps_ns": "--gaps (write)",
    "time_scale": "--scale-time",
    "bad_lines": "--skip-bad-lines",
    "unit_bytes": "--unit-bytes",
    "free_blocks": "--free-blocks",
    "read_ns": "--read-us (in ns)",
    "write_ns": "--write-us (in ns)",
    "copy_ns": "--copy-us (in ns)",
    "erase_ns": "--erase-us (in ns)",
    **{name: f"--{name}" for name in ("valid", "pages", "requests", "seed", "arrivals", "fit", "volume")},
}
"""Option names by the argument names that messages use."""


class Show(StrEnum):
    """What to compute: formulas, simulation or both."""

    both = "both"
    formulas = "formulas"
    simulation = "simulation"


class Priority(StrEnum):
    """Service priorities."""

    rwp = "rwp"
    cep = "cep"
    fifo = "fifo"


class Arrivals(StrEnum):
    """Arrival processes."""

    poisson = "poisson"
    deterministic = "deterministic"
    renewal = "renewal"
    saturated = "saturated"
    replayed = "replayed"


def _time(what: str) -> Any:
    return typer.Option(help=f"Service time of {what}, us (default: the device's).", metavar="X")


def queueing(
    device: Annotated[str | None, typer.Option(help="Device preset (default: bux2011).", metavar="NAME", rich_help_panel=o.WHAT)] = None,
    read_us: Annotated[float | None, _time("a read")] = None,
    write_us: Annotated[float | None, _time("a write")] = None,
    copy_us: Annotated[float | None, _time("a copy")] = None,
    erase_us: Annotated[float | None, _time("an erase")] = None,
    pages: Annotated[int | None, typer.Option(help="Pages of a block (default: the device's).", metavar="N")] = None,
    valid: Annotated[
        str | None,
        typer.Option(help="Valid pages of a victim (default: a quarter of a block), or a list to use in order.", metavar="N[,N...]"),
    ] = None,
    arrivals: Annotated[Arrivals | None, typer.Option(help="Distribution of arrivals (default: poisson, or as in the trace).")] = None,
    read_rate: Annotated[float | None, typer.Option(help="Reads per millisecond (default: 1).", metavar="X")] = None,
    write_rate: Annotated[float | None, typer.Option(help="Writes per millisecond (default: 0.5).", metavar="X")] = None,
    gaps: Annotated[
        Path | None, typer.Option(help="CSV `op,gap_ns` of the gaps from which renewal arrivals are drawn.", metavar="FILE")
    ] = None,
    trace: o.Trace = None,
    workload: o.Workload = None,
    format: o.Format = None,
    unit_bytes: o.UnitBytes = None,
    volume: o.Volume = None,
    time_scale: o.TimeScale = None,
    bad_lines: o.BadLines = None,
    fit: o.Fit = None,
    priority: Annotated[list[Priority] | None, typer.Option(help="Service discipline; repeat for several (default: rwp and cep).")] = None,
    free_blocks: Annotated[
        int | None,
        typer.Option(help="Free blocks; writes wait while GC uses all of them (default: unlimited).", metavar="N", parser=count),
    ] = None,
    requests: Annotated[
        int | None,
        typer.Option(
            help="Number of requests (default: 1,000,000 drawn, or as for run with a trace or workload).",
            metavar="N",
            parser=count,
            rich_help_panel=o.WHAT,
        ),
    ] = None,
    seed: o.Seed = DEFAULT_SEED,
    settings: o.Settings = None,
    config: o.Config = None,
    show: Annotated[Show, typer.Option(help="What to compute.")] = Show.both,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results.", metavar="DIR", parser=folder, rich_help_panel="Results")
    ] = None,
    json_: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """The command `ssdlab queueing`."""
    # imported here because NumPy takes longer than many commands
    from ssdlab import queueing as model  # noqa: PLC0415

    names = [entry.value for entry in priority or (Priority.rwp, Priority.cep)]
    if len(set(names)) < len(names):
        raise UsageError(f"a priority named twice: --priority {', '.join(names)}; leave one of them out")
    if show is Show.formulas and (priority or free_blocks is not None):
        raise UsageError("--priority and --free-blocks are for the simulation, which --show formulas leaves out")
    read_gaps, write_gaps = (None, None) if gaps is None else _read_gaps(gaps)
    experiment = model.Experiment(
        device=device,
        read_ns=_ns("--read-us", read_us),
        write_ns=_ns("--write-us", write_us),
        copy_ns=_ns("--copy-us", copy_us),
        erase_ns=_ns("--erase-us", erase_us),
        pages=pages,
        valid=None if valid is None else _numbers(valid),
        arrivals=arrivals.value if arrivals is not None else "renewal" if gaps is not None else None,
        read_per_ms=read_rate,
        write_per_ms=write_rate,
        read_gaps_ns=read_gaps,
        write_gaps_ns=write_gaps,
        trace=trace,
        workload=workload,
        format=format,
        unit_bytes=unit_bytes,
        volume=volume,
        time_scale=time_scale,
        bad_lines=bad_lines,
        fit=fit,
        set=parse_settings(settings),
        config=config,
        free_blocks=free_blocks,
        requests=requests,
        seed=seed,
    )
    with _named_as_options():
        _ = experiment.traffic, experiment.valid_pages  # errors in the arguments are raised as such, not as errors of the formulas
    formulas = {} if show is Show.simulation else _formulas(experiment)
    runs: dict[str, QueueingResult] = {}
    stopped: KeyboardInterrupt | Error | None = None
    folder = ResultFolder(out, "queueing")
    check_apart([file for file in (trace, gaps, config) if file is not None], replaced_with(folder.stage))
    with noting_old_results(folder), folder:
        try:
            for name in () if show is Show.formulas else names:
                with _named_as_options():
                    runs[name] = _run(experiment, name, out=out, quiet=quiet)
        except (KeyboardInterrupt, Error) as reason:
            stopped = reason
        if stopped is not None and not runs:
            raise stopped
        report = _report(formulas, runs)
        try:
            if folder.stage is not None:
                _write(folder.stage, report, runs)
        except Error:  # the files written so far are kept
            folder.commit()
            raise
        folder.commit()
    _show(report, formulas, runs, out=out, as_json=json_, quiet=quiet)
    if isinstance(stopped, Error):
        raise stopped
    if stopped is not None:
        report_interrupt(f"interrupted: {how_far(len(runs), len(names))}")
        raise typer.Exit(INTERRUPTED) from stopped


def _show(
    report: Mapping[str, Any],
    formulas: Mapping[str, float],
    runs: Mapping[str, QueueingResult],
    *,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Prints the report."""
    if as_json:
        print_json(report)
    elif not quiet:
        from ssdlab.queueing import EQUATIONS  # noqa: PLC0415

        print_tables(tables.queueing_tables(runs, formulas) if runs else [tables.formula_table(formulas, EQUATIONS)])
        print_tables([] if out is None else [f"results: {out}"])


@contextlib.contextmanager
def _named_as_options() -> Iterator[None]:
    """Replaces names of arguments in messages with names of options."""
    try:
        yield
    except UsageError as error:
        message = str(error)
        for name, option in OPTIONS.items():
            if re.match(rf"{name}\b", message):
                raise UsageError(option + message[len(name) :]) from error
        raise


def _report(formulas: Mapping[str, float], runs: Mapping[str, QueueingResult]) -> dict[str, Any]:
    report: dict[str, Any] = {"formulas": dict(formulas)} if formulas else {}
    return report | ({"runs": {name: run.to_dict() for name, run in runs.items()}} if runs else {})


def _formulas(experiment: Experiment) -> dict[str, float]:
    try:
        return experiment.formulas()
    except UsageError as error:
        most = experiment.max_throughput_per_ms()
        limit = "" if most is None else f"; in this mixture of reads and writes the die can serve {most:.4g} a ms at most"
        raise UsageError(f"{error}{limit} (--show simulation runs it without the formulas)") from error


def _run(experiment: Experiment, priority: str, *, out: Path | None, quiet: bool) -> QueueingResult:
    with RunProgress([priority], quiet=quiet) as progress:
        return experiment.run(priority, series=out is not None, progress=progress.callback)


def _ns(option: str, us: float | None) -> int | None:
    """Converts microseconds to whole nanoseconds."""
    if us is None:
        return None
    ns = us * 1000
    if not 0 <= ns < 2**53 or abs(ns - round(ns)) > 1e-6 * max(1.0, ns * 1e-6):
        raise UsageError(f"{option} = {us:g}: expected microseconds of at least 0, in whole nanoseconds")
    return round(ns)


def _numbers(text: str) -> int | list[int]:
    try:
        parts = [part.strip() for part in text.split(",")]
        if not all(part.isascii() and part.isdigit() for part in parts):
            raise ValueError(text)
        numbers = [whole("--valid", int(part)) for part in parts]
    except ValueError as error:
        raise UsageError(f'--valid = "{text}": expected a number of pages, or several with commas between them') from error
    return numbers[0] if len(numbers) == 1 else numbers


def _read_gaps(path: Path) -> tuple[list[int], list[int]]:
    """Reads the gaps of reads and of writes, ns, from a CSV file with the columns `op` and `gap_ns`."""
    gaps: dict[str, list[int]] = {"read": [], "write": []}
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = csv.reader(file)
            if next(rows, None) != ["op", "gap_ns"]:
                raise UsageError(f'{path}:1: expected the header "op,gap_ns"')
            for row in rows:
                if len(row) != 2 or row[0] not in gaps or not (row[1].isascii() and row[1].isdigit() and len(row[1]) <= MOST_DIGITS):
                    raise UsageError(f'{path}:{rows.line_num}: expected "read" or "write" and a gap in whole nanoseconds')
                gaps[row[0]].append(int(row[1]))
    except OSError as reason:
        raise FileError(f"{path}: cannot read: {reason.strerror}", reason.errno, str(path)) from reason
    except (UnicodeDecodeError, csv.Error) as reason:
        raise UsageError(f'{path}: expected a CSV file of text with the columns "op,gap_ns"') from reason
    return gaps["read"], gaps["write"]


def _write(folder: Path, report: Mapping[str, Any], runs: Mapping[str, QueueingResult]) -> None:
    write_json(folder / QUEUEING_FILE, report)  # first: a failure of series or figure must not lose the numbers
    for priority, run in runs.items():
        make_folder(folder / priority)
        for name in SERIES:
            _write_table(getattr(run, name), folder / priority / f"{name}.parquet")
    if runs:
        from ssdlab.runs.queueing_figure import draw  # noqa: PLC0415

        draw(runs, folder)


def _write_table(table: pa.Table, path: Path) -> None:
    import pyarrow.parquet as pq  # noqa: PLC0415

    content = io.BytesIO()
    pq.write_table(table, content, compression="zstd")
    write_file(path, content.getvalue())
