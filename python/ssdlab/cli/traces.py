"""`ssdlab trace info` and `trace convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ssdlab import api, tables
from ssdlab.cli import options as o
from ssdlab.cli.output import complain, print_json, print_tables
from ssdlab.errors import Error

__all__ = ["app"]

app = typer.Typer(help="Look at traces and convert them.", no_args_is_help=True)

DeviceOfTrace = Annotated[
    str | None,
    typer.Option("--device-of-trace", help="Only requests of this device, as the trace names it.", metavar="NAME"),
]


@app.command()
def info(
    files: Annotated[list[Path], typer.Argument(help="Trace files, plain, .gz, .bz2 or .zst.", metavar="FILE...")],
    format: o.Format = None,
    unit_bytes: o.UnitBytes = None,
    device: DeviceOfTrace = None,
    json_: o.Json = False,
) -> None:
    """Count what is in traces, and list lines that cannot be read (exit code 1 if there are any)."""
    infos: dict[str, dict[str, Any]] = {}
    code = 0
    for path in files:
        try:
            found = api.trace_info(path, format=format, unit_bytes=unit_bytes, device=device)
        except Error as error:
            complain(str(error))
            code = max(code, error.exit_code)
            continue
        infos[str(path)] = found
        if not json_:
            figures = {key: value for key, value in found.items() if key != "bad"}
            print_tables([tables.report_table(figures, str(path)), *_bad_lines(path, found)])
        if found["bad_lines"]:
            code = max(code, 1)
            complain(f"{path}: {found['bad_lines']:,} lines cannot be read")
    if json_:
        _print_infos(infos, single=len(files) == 1)
    if code:
        raise typer.Exit(code)


@app.command()
def convert(
    source: Annotated[Path, typer.Argument(help="The trace to read.", metavar="IN")],
    target: Annotated[Path, typer.Argument(help="The trace to write: .csv, .csv.zst, .parquet, ...", metavar="OUT")],
    format: o.Format = None,
    unit_bytes: o.UnitBytes = None,
    device: DeviceOfTrace = None,
    bad_lines: o.BadLines = None,
    time_order: Annotated[o.TimeOrder, typer.Option(help="What to do where times go back.")] = o.TimeOrder.error,
    requests: Annotated[int | None, typer.Option(help="At most N requests.", metavar="N", min=1)] = None,
    json_: o.Json = False,
) -> None:
    """Convert a trace to the format that OUT ends with."""
    report = api.trace_convert(
        source,
        target,
        format=format,
        unit_bytes=unit_bytes,
        device=device,
        bad_lines=bad_lines or 0,
        time_order=time_order.value,
        requests=requests,
    )
    if json_:
        print_json(report)
    else:
        print_tables([tables.report_table(report, str(target))])


def _bad_lines(path: Path, found: dict[str, Any]) -> list[str]:
    """The lines that cannot be read: the first of them by number, and how many more there are."""
    shown = found.get("bad", [])
    lines = [_bad_line(path, bad) for bad in shown]
    more = found["bad_lines"] - len(shown)
    return [*lines, f"  ... and {more:,} more"] if more > 0 and shown else lines


def _bad_line(path: Path, bad: dict[str, Any]) -> str:
    place = f"{path}:{bad['line']}: "  # as errors give it; here the path is above and the line in front
    return f"  line {bad['line']}: {bad['message'].removeprefix(place)}"


def _print_infos(infos: dict[str, dict[str, Any]], *, single: bool) -> None:
    """One file's figures as they are; those of several by file."""
    if single:
        for found in infos.values():
            print_json(found)
    else:
        print_json({"files": infos})
