"""The tables of `trace info` and `trace convert`, and the line of a run on how its trace was read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from ssdlab.pages.tables.layout import new_table, titled
from ssdlab.pages.tables.numbers import duration

__all__ = ["collection_tables", "piece_tables", "reading_lines", "trace_table"]

VOLUMES_SHOWN = 20
"""Maximum number of volumes in the table."""
KINDS = {"read": "reads", "write": "writes", "trim": "trims", "flush": "flushes"}
SHARES = {"read_share": "read share", "sequential_share": "sequential share", "bursty_write_share": "bursty write share"}
COUNTS = {
    "bad_lines": "unreadable lines",
    "other_devices": "requests of other volumes",
    "clamped": "times moved forward",
    "time_goes_back": "times that go back",
}


def trace_table(report: Mapping[str, Any], title: str) -> RenderableType:
    """A report of `trace_info` or `trace_convert`, with its remarks below."""
    table = new_table(["", "value"])
    for name, value in _rows(report):
        table.add_row(name, value)
    remarks = [Text(f"{remark['sentence']} {remark['remedy']} ({remark['code']})", style="yellow") for remark in report.get("remarks", ())]
    return Group(titled(title, table), *remarks)


PIECES_SHOWN = 40
"""Maximum number of pieces in a table."""


def piece_tables(drawn: Any, out: Any, table_file: Any) -> list[RenderableType]:
    """The pieces that were drawn from traces (`ssdlab.experiments.populations.drawing.Drawn`), and what was left out."""
    table = new_table(["piece", "reads", "KiB", "footprint", "requests/s", "stratum", "one of"])
    for piece in drawn.pieces[:PIECES_SHOWN]:
        cells = [f"{piece.read_share:.0%}", f"{piece.mean_kib:.1f}", f"{piece.footprint_mib:,} MiB", f"{piece.rate_per_s:,.0f}"]
        table.add_row(piece.file, *cells, piece.stratum, f"{piece.of:,}")
    more = len(drawn.pieces) - PIECES_SHOWN
    rest = [Text(f"... and {more:,} more pieces")] if more > 0 else []
    lines = [Text(f"left out: {name}: {reason}", style="yellow") for name, reason in drawn.left_out.items()]
    lines += [Text(f"left out: unreadable lines of {name}: {count:,}", style="yellow") for name, count in drawn.unreadable.items()]
    title = f"{len(drawn.pieces):,} of {drawn.considered:,} pieces, from {drawn.strata} strata"
    last = [Text(f"table: {table_file}"), Text(f'axis of a sweep: trace = "{out}/*"')]
    return [titled(title, table), *rest, *lines, *last]


def collection_tables(found: Sequence[Any]) -> list[RenderableType]:
    """Public collections of traces (`ssdlab.experiments.populations.manifest.Collection`)."""
    lines: list[RenderableType] = []
    for one in found:
        sums = ", ".join(f"{name} {digest}" for name, digest in one.md5.items())
        facts = [one.about, f"where: {one.where}", f"licence: {one.licence}", f"reader: {one.reader}"]
        facts.append(f"MD5: {sums}" if sums else "checksums: none published")
        lines += [Text(one.name, style="bold"), *(Text(f"  {fact}") for fact in facts)]
    return [*lines, "", "Download and unpack what you may use, then: ssdlab trace sample FOLDER PIECES"]


def reading_lines(workload: Mapping[str, Any] | None) -> list[str]:
    """Lines on how the traces of a run were read, from the entry `workload` of its result: its own trace, and those of flows."""
    workload = workload or {}
    flows = {f" of flow {name}": report.get("trace") for name, report in workload.get("flows", {}).items()}
    traces = {"": workload.get("trace"), **flows}
    return [f"Trace{whose}: {_reading(trace)}" for whose, trace in traces.items() if trace and "units" in trace]


def _reading(trace: Mapping[str, Any]) -> str:
    """Format, units and operation codes of a trace as they were read, and the lines without a request."""
    units = trace["units"]
    header = " without a header" if trace.get("without_header") else ""
    event = f", {units['event']} events" if "event" in units else ""
    read = f"{trace['format']}{header}, times in {units['time']}, addresses in {_unit(units['address'])}, sizes in {_unit(units['size'])}"
    skipped = trace.get("skipped_lines")
    left = f"; skipped {', '.join(_skipped(skipped))}" if skipped else ""
    return f"{read}; {units['operations']}{event}{left}"


def _unit(unit: str) -> str:
    return "bytes" if unit == "bytes" else f"units of {unit}"


def _rows(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    units = report["units"]
    yield "format", f"{report['format']}{' without a header' if report.get('without_header') else ''}"
    if report.get("compression", "none") != "none":
        yield "compression", report["compression"]
    yield "time unit", units["time"]
    yield "address unit", units["address"]
    yield "size unit", units["size"]
    yield "operation codes", units["operations"]
    if "event" in units:
        yield "event", units["event"]
    for kind, name in KINDS.items():
        yield name, f"{report['requests'][kind]:,}"
    yield from ((name, f"{report[key]:,}") for key, name in COUNTS.items() if key in report)
    if skipped := report.get("skipped_lines"):
        yield "skipped lines", "\n".join(_skipped(skipped))
    if volumes := report.get("devices"):
        yield "volumes", _volumes(volumes)
    yield from _sizes(report)
    yield from ((name, f"{report[key]:.1%}") for key, name in SHARES.items() if key in report)
    yield from _times(report)
    for key, name in (("touched_bytes", "touched"), ("max_end_bytes", "max end"), ("bytes", "file")):
        if key in report:
            at_least = "at least " if key == "touched_bytes" and report.get("touched_is_lower_bound") else ""
            yield name, at_least + _size(report[key])


def _sizes(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, name in (("mean_kb", "mean"), ("std_kb", "std")):
        for kind in ("read", "write"):
            if (value := report.get(key, {}).get(kind)) is not None:
                yield f"{name} {kind}", f"{_three(value)} KiB"


def _times(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "span_s" in report:
        yield "span", "0 s" if report["span_s"] == 0 else duration(report["span_s"] * 1e9)
    if "arrival_rate_per_s" in report:
        yield "arrival rate", f"{_three(report['arrival_rate_per_s'])} /s"


def _skipped(skipped: Sequence[Mapping[str, Any]]) -> list[str]:
    return [f"{entry['lines']:,} of {entry['what']}" for entry in skipped]


def _volumes(volumes: Sequence[Mapping[str, Any]]) -> str:
    """The volumes of a trace with their numbers of requests, one per line."""
    lines = [f"{volume['name']} ({volume['requests']:,} requests)" for volume in volumes[:VOLUMES_SHOWN]]
    more = len(volumes) - VOLUMES_SHOWN
    return "\n".join([*lines, f"and {more:,} more (--json has all)"] if more > 0 else lines)


def _size(count: int) -> str:
    """Formats bytes, with a suitable unit of powers of 1024."""
    for power, unit in ((4, "TiB"), (3, "GiB"), (2, "MiB"), (1, "KiB")):
        if count >= 1024**power:
            return f"{count:,} bytes ({_three(count / 1024**power)} {unit})"
    return f"{count:,} bytes"


def _three(value: float) -> str:
    """Formats three significant digits; numbers from 100 on as whole numbers. Only zero is printed as 0."""
    return f"{value:,.0f}" if value == 0 or value >= 100 else f"{value:.3g}"
