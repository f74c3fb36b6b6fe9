"""Results as tables for people, with units."""

from __future__ import annotations

import copy
import io
import math
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from ssdlab.uncertainty import Estimate

__all__ = [
    "TRACE_REMARKS",
    "as_text",
    "comparison_tables",
    "duration",
    "formula_table",
    "headline",
    "number",
    "queueing_tables",
    "report_table",
    "run_tables",
    "significant",
    "study_table",
    "sweep_tables",
]

RunData = Mapping[str, Any]
"""The result of a run, of the drive or of the queueing model, by the names of its entries."""


class Seeded(Protocol):
    """Schemes that ran under several seeds (`SeedRuns`)."""

    @property
    def seeds(self) -> Sequence[int]:
        """The seeds, the same for all schemes."""

    @property
    def runs(self) -> Mapping[str, Mapping[int, RunData]]:
        """By scheme and seed, the result."""

    @property
    def against(self) -> str:
        """The scheme that the others are compared with."""

    @property
    def estimates(self) -> Mapping[str, Mapping[str, Estimate]]:
        """By scheme and place in a result: the mean over seeds."""

    @property
    def differences(self) -> Mapping[str, Mapping[str, Estimate]]:
        """By scheme and place: how far it is from the first scheme, relative to that."""

    @property
    def differ(self) -> bool:
        """Whether a seed changes anything."""


class Compared(Protocol):
    """The results of a workload under several schemes (`Comparison`)."""

    @property
    def title(self) -> str:
        """What all runs have in common, in a line."""

    @property
    def seeds(self) -> Seeded | None:
        """The runs under all seeds; `None` for one seed."""

    @property
    def paired(self) -> Mapping[str, Mapping[str, Any]]:
        """By scheme: how its requests fared against the same ones under the first."""

    def items(self) -> Iterable[tuple[str, RunData]]:
        """Schemes and results."""


class SweptPoint(Protocol):
    """A point of a sweep (`SweepPoint`)."""

    @property
    def values(self) -> Mapping[str, Any]:
        """By axis: its value there."""

    @property
    def result(self) -> RunData:
        """The result of its run."""


class SweptMean(Protocol):
    """A point of a sweep over its seeds (`SweepMean`)."""

    @property
    def values(self) -> Mapping[str, Any]:
        """By axis but `seed`: its value there."""

    @property
    def seeds(self) -> Sequence[int]:
        """The seeds under which it finished."""

    @property
    def estimates(self) -> Mapping[str, Estimate]:
        """By place in a result: the mean over these seeds."""


class Swept(Protocol):
    """What came of a sweep (`SweepResult`)."""

    @property
    def axes(self) -> Mapping[str, Sequence[Any]]:
        """The values of each axis."""

    @property
    def points(self) -> Sequence[SweptPoint]:
        """The points that finished."""

    @property
    def means(self) -> Sequence[SweptMean]:
        """These over their seeds; empty without several."""

    @property
    def failed(self) -> Sized:
        """The points that failed."""

    @property
    def sweep(self) -> Sized:
        """All points that were asked for."""


WIDTH_OF_TEXT = 80
"""Tables take no more columns where there is no terminal to fit into; lines of words are not broken there."""

TRACE_REMARKS = {
    "bad_lines": "unreadable lines",
    "other_devices": "requests of other volumes left out",
    "skipped": "skipped",
    "clamped": "times moved forward",
    "wrapped": "addresses wrapped",
    "clipped": "requests clipped",
    "dropped": "requests dropped",
    "split": "requests split",
}
"""What reading a trace counts, and what people call it."""

SEED = "seed"
"""The axis of a sweep over which means are taken."""

UNBOUNDED = 10_000
"""Wider than anything: to ask for the width that is needed."""

UNITS = {"_per_s": "/s", "_s": "s", "_kb": "KB", "_bytes": "bytes", "_share": "%"}
"""Ends of names, and the units that they stand for."""

DEVICES_SHOWN = 20
"""So many devices of a trace are named."""

POINTS_SHOWN = 40
"""So many points of a sweep are shown."""

FEW = 5
"""So many numbers of a list are shown."""

SMALLEST_GIB = 2**30 // 100
"""Sizes from here on are given in GiB as well."""

CLASSES = {
    "all": "all",
    "read": "reads",
    "write": "writes",
    "seq_read": "sequential reads",
    "rand_read": "random reads",
}
LATENCIES = {"mean": "mean", "p50": "p50", "p90": "p90", "p99": "p99", "p99_9": "p99.9", "max": "max"}


def duration(ns: float) -> str:
    """Nanoseconds in the unit that reads best."""
    for limit, divisor, unit in ((1e3, 1, "ns"), (1e6, 1e3, "us"), (1e9, 1e6, "ms")):
        if ns < limit:
            return _three(ns / divisor, unit)
    return _three(ns / 1e9, "s")


def _three(value: float, unit: str) -> str:
    """About three significant digits."""
    digits = 0 if value >= 100 or unit == "ns" else 1 if value >= 10 else 2
    return f"{value:,.{digits}f} {unit}"


def number(value: object) -> str:
    """A count with separators, a ratio with three digits, anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3f}"


def quantity(key: str, value: object) -> str:
    """A number in the unit that the end of its name says."""
    for ending, unit in UNITS.items():
        if isinstance(value, int | float) and not isinstance(value, bool) and key.endswith(ending):
            size = f" ({value / 2**30:,.2f} GiB)" if unit == "bytes" and value >= SMALLEST_GIB else ""
            return f"{value:.1%}" if unit == "%" else f"{number(value)} {unit}{size}"
    if isinstance(value, int | float) and key.endswith("_ns"):
        return duration(value)
    return number(value)


def as_text(items: Iterable[RenderableType]) -> str:
    """Tables as plain text."""
    out = io.StringIO()
    # In a notebook rich would show each table by itself, and leave the text empty.
    console = Console(file=out, width=WIDTH_OF_TEXT, color_system=None, force_jupyter=False)
    for item in items:
        console.print(item, soft_wrap=is_line(item))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def is_line(item: RenderableType) -> bool:
    """A line of words: a terminal may break it, a file or pipe has it whole."""
    return isinstance(item, str | Text)


def _table(columns: Sequence[str]) -> Table:
    """A table whose first column names the row; the others hold numbers. Only headings are ever broken into lines."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 0, 0, 1), pad_edge=False, show_edge=False)
    for index, column in enumerate(columns):
        table.add_column(column, justify="right" if index else "left")
    return table


def _titled(title: str, table: Table, otherwise: RenderableType | None = None, *, keys: int = 1) -> RenderableType:
    """Title and table; rich's own titles are broken to the width of the table, and its cells cut off on a narrow terminal."""
    narrow = _narrow(table)
    choices = _Fitting(_Whole(table), _Whole(narrow), otherwise or _Stacked(narrow, keys))
    return Group(Text(title, style="bold", overflow="ignore"), choices, "")


def _narrow(table: Table) -> Table:
    """The table with the headings broken that are wider than what stands below them."""
    narrow = copy.deepcopy(table)
    for column, broken in zip(table.columns, narrow.columns, strict=True):
        cells = max((len(line) for cell in column.cells for line in str(cell).splitlines()), default=0)
        if len(str(column.header)) > cells:
            broken.header = "\n".join(str(column.header).split())
    return narrow


class _Whole:
    """A table that takes the width it needs."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.widest = table
        for column in table.columns:
            column.no_wrap = True

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self._table

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        needed = Measurement.get(console, options.update(width=UNBOUNDED), self._table).maximum
        return Measurement(needed, needed)


class _Stacked:
    """A table in parts below each other, with as many columns as fit; each begins with those that name the row."""

    def __init__(self, table: Table, keys: int) -> None:
        self._table = table
        self._keys = keys

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for index, part in enumerate(self._parts(console, options)):
            if index:
                yield ""
            yield _Whole(part)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        unbounded = options.update(width=UNBOUNDED)
        columns = range(self._keys, max(self._keys + 1, len(self._table.columns)))
        needed = max(Measurement.get(console, unbounded, _Whole(self._part([column]))).maximum for column in columns)
        return Measurement(needed, needed)

    def _parts(self, console: Console, options: ConsoleOptions) -> list[Table]:
        """As few as there can be, about as wide as each other."""
        left = list(range(self._keys, len(self._table.columns)))
        parts = [self._table]
        for count in range(1, len(left) + 1):
            share = -(-len(left) // count)
            parts = [self._part(left[at : at + share]) for at in range(0, len(left), share)]
            unbounded = options.update(width=UNBOUNDED)
            if all(Measurement.get(console, unbounded, _Whole(part)).maximum <= options.max_width for part in parts):
                break
        return parts

    def _part(self, columns: Sequence[int]) -> Table:
        kept = [self._table.columns[index] for index in (*range(self._keys), *columns) if index < len(self._table.columns)]
        part = _table([str(column.header) for column in kept])
        for cells in zip(*(column.cells for column in kept), strict=True):
            part.add_row(*cells)
        return part


class _Captioned:
    """A table of numbers whose rows have a line of words each above them."""

    def __init__(self, captions: Sequence[str], table: Table) -> None:
        table.columns[0].justify = "right"
        self._captions = captions
        self._table = _narrow(table)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for column in self._table.columns:
            column.no_wrap = True
        if self._width(console, options) > options.max_width:
            yield from self._words()
            return
        lines = console.render_lines(self._table, options, pad=False)
        head = len(lines) - len(self._captions)
        for line in lines[:head]:
            yield Segments([*line, Segment.line()])
        for caption, row in zip(self._captions, lines[head:], strict=True):
            yield Text(caption)
            yield Segments([*row, Segment.line()])

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, self._width(console, options))

    def _width(self, console: Console, options: ConsoleOptions) -> int:
        return Measurement.get(console, options.update(width=UNBOUNDED), self._table).maximum

    def _words(self) -> Iterator[RenderableType]:
        """On a terminal that is too narrow for the table, what its cells say."""
        heads = [" ".join(str(column.header).split()) for column in self._table.columns]
        for caption, *cells in zip(self._captions, *(column.cells for column in self._table.columns), strict=True):
            yield Text(caption)
            yield Text(f"  {', '.join(f'{head} {cell}' for head, cell in zip(heads, cells, strict=True))}")


class _Fitting:
    """The first of some renderings that is not cut off at the right, else the last."""

    def __init__(self, *choices: RenderableType) -> None:
        self._choices = choices
        self.widest = choices[0]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        unbounded = options.update(width=UNBOUNDED)
        fitting = (item for item in self._choices if Measurement.get(console, unbounded, item).minimum <= options.max_width)
        yield next(fitting, self._choices[-1])

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        sizes = [Measurement.get(console, options.update(width=UNBOUNDED), item) for item in self._choices]
        return Measurement(sizes[-1].minimum, sizes[0].maximum)


def headline(result: RunData) -> str:
    """A result in a few words."""
    latency = result.get("latency_ns", {}).get("all")
    count = sum(result.get("requests", {}).values())
    times = f", mean {duration(latency['mean'])}, p99 {duration(latency['p99'])}" if latency else ""
    return f"{count:,} requests{times}, {gc_sentence(result)}"


def gc_sentence(result: RunData) -> str:
    """Whether garbage collection ran, and what it did."""
    gc = result.get("gc", {})
    if not gc.get("jobs"):
        return "garbage collection did not run"
    amplification = gc.get("write_amplification")
    parts = [f"{gc['jobs']:,} GC jobs"]
    if amplification is not None:
        parts.append(f"write amplification {amplification:.3f}")
    return ", ".join(parts)


def run_tables(result: RunData) -> list[RenderableType]:
    """What `ssdlab run` prints."""
    return [
        *_header(result),
        latency_table(result),
        breakdown_table(result),
        Text(f"Garbage collection: {_gc_details(result)}"),
        *_gc_scheduling(result),
        *_slack(result),
        *_cache(result),
        *_array(result),
        *remarks(result),
        *idle_remarks({"": result}),
        *timeline_remark(result),
        Text(_speed(result)),
        Text(f"Digest: {result.get('digest', '')[:16]}, seed {result.get('seed')}"),
    ]


def remarks(result: RunData) -> list[RenderableType]:
    """What was done to the device or the trace so that they go together."""
    return [*_fit_remark(result), *_warm_up_remark(result), *trace_remarks(result)]


def idle_remarks(runs: Mapping[str, RunData]) -> list[RenderableType]:
    """The lines of `idle_lines`, for a terminal."""
    return [Text(line) for line in idle_lines(runs)]


def idle_lines(runs: Mapping[str, RunData]) -> list[str]:
    """The keys that had no effect, each with what it needs; a line names the schemes in which that was so, if not all."""
    where: dict[str, list[str]] = {}
    for scheme, result in runs.items():
        for idle in result.get("idle_keys", ()):
            where.setdefault(f"{idle['key']} (needs {idle['needs']})", []).append(scheme)
    of = {key: "" if len(schemes) == len(runs) else f" in {', '.join(schemes)}" for key, schemes in where.items()}
    return [f"No effect{of[key]}: {key}" for key in where]


def timeline_remark(result: RunData, whose: str = "") -> list[RenderableType]:
    """What part of the run its timeline shows, if there is one."""
    timeline = result.get("timeline")
    if not timeline:
        return []
    start, end, whole = (f"{ns / 1000:,.3f}" for ns in (timeline["from_ns"], timeline["to_ns"], result["simulated_ns"]))
    of = f"Timeline{whose}, {timeline['file']}:"
    if timeline["from_ns"] == result["simulated_ns"]:
        return [Text(f"{of} empty, the run ends at {whole} us, before the window begins")]
    shows = f"{of} {number(timeline['slices'])} slices, from {start} us to {end} us of {whole} us simulated"
    return [Text(f"{shows}; it ends there because it is full (--timeline-limit)" if timeline["full"] else shows)]


def _fit_remark(result: RunData) -> list[RenderableType]:
    fit = result.get("fit")
    if not fit:
        return []
    before, after, exported = (number(fit[key]) for key in ("blocks_per_plane_before", "blocks_per_plane", "exported_bytes"))
    lines = [f"Fit to {number(fit['to'])}: {before} -> {after} blocks a plane, {exported} bytes exported"]
    if fit.get("needed_bytes", fit["exported_bytes"]) * MUCH_LARGER < fit["exported_bytes"]:
        needed = number(fit["needed_bytes"])
        lines.append(f"Only {needed} bytes are needed, but with fewer blocks this drive could not collect: the rest stays cold")
    return [Text(line) for line in lines]


MUCH_LARGER = 1.5
"""A drive that exports so many times what is needed is said to."""


def _warm_up_remark(result: RunData) -> list[RenderableType]:
    warm_up = result.get("warm_up")
    if not warm_up:
        return []
    return [Text(f"Warm-up: the first {warm_up['requests']:,} requests, {duration(warm_up['ns'])}, are left out of all figures")]


def _header(result: RunData) -> list[RenderableType]:
    """What was simulated, and how fast and how busy the drive was."""
    title = getattr(result, "title", "")
    lines = [Text(title, style="bold")] if title else []
    return [*lines, Text(_throughput(result)), ""]


def _throughput(result: RunData) -> str:
    iops, bandwidth, utilisation = (result.get(key) for key in ("iops", "bandwidth_mb_s", "utilisation"))
    parts = [f"{iops:,.0f} IOPS"] if iops is not None else ["no time passed"]
    if bandwidth:
        parts += [f"{verb} {bandwidth[kind]:,.1f} MB/s" for kind, verb in (("read", "reads"), ("write", "writes"))]
    if utilisation:
        parts += [f"{name} {_mean(utilisation[name]):.1%} busy" for name in ("chips", "channels")]
    return ", ".join(parts)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def trace_remarks(result: RunData) -> list[RenderableType]:
    """What was left out of a trace or changed in it, if anything: never silently."""
    trace = (result.get("workload") or {}).get("trace") or {}
    remarks = [f"{trace[key]:,} {name}" for key, name in TRACE_REMARKS.items() if trace.get(key)]
    lines = [f"Trace: {', '.join(remarks)}"] if remarks else []
    if trace.get("without_header"):
        lines.append("Trace: no header, so its columns were taken as timestamp_us,op,offset_bytes,size_bytes (times in microseconds)")
    workload = (result.get("config") or {}).get("workload") or {}
    if trace.get("devices", 0) > 1 and workload.get("device") is None:
        one = "--volume NAME replays one of them, `ssdlab trace info` lists them"
        lines.append(f"Trace: {trace['devices']:,} volumes share one address space, their addresses overlaid; {one}")
    return [Text(line, style="yellow") for line in lines]


def latency_table(result: RunData) -> RenderableType:
    """Response times by class of requests."""
    table = _table(["requests", "count", *LATENCIES.values()])
    for key, name in CLASSES.items():
        row = result.get("latency_ns", {}).get(key)
        if row:
            table.add_row(name, number(row["count"]), *(_time(row, column) for column in LATENCIES))
    return _titled("Response times", table)


def breakdown_table(result: RunData) -> RenderableType:
    """What the mean response time is made of; parts that are zero throughout are left out."""
    breakdown = result.get("breakdown_ns", {})
    parts = [part for part in breakdown.get("all", {}) if any(row.get(part) for row in breakdown.values())]
    table = _table(["requests", *(part.replace("_", " ") for part in parts)])
    for key, row in breakdown.items():
        table.add_row(CLASSES.get(key, key), *(_time(row, part) for part in parts))
    return _titled("Where the mean response time goes", table)


def comparison_table(runs: Mapping[str, RunData]) -> RenderableType:
    """A row for each scheme. Times are response times of all requests."""
    cached = any("cache" in result for result in runs.values())
    columns = [
        "scheme",
        "mean",
        "p99",
        "p99.9",
        "max",
        "write amplification",
        "GC jobs",
        *(["hit ratio"] if cached else []),
    ]
    table = _table(columns)
    for scheme, result in runs.items():
        latency = result.get("latency_ns", {}).get("all", {})
        gc = result.get("gc", {})
        table.add_row(
            scheme,
            *(_time(latency, column) for column in ("mean", "p99", "p99_9", "max")),
            number(gc["write_amplification"]) if "write_amplification" in gc else "-",
            number(gc.get("jobs", 0)),
            *([_hit_ratio(result)] if cached else []),
        )
    return _titled("Response times by scheme", table)


CHANGES = {
    "mean": "latency_ns.all.mean",
    "p99": "latency_ns.all.p99",
    "p99.9": "latency_ns.all.p99_9",
    "max": "latency_ns.all.max",
    "write amplification": "gc.write_amplification",
    "GC jobs": "gc.jobs",
}
"""What schemes are compared in, and where it stands in a result."""


def change_table(runs: Mapping[str, RunData]) -> RenderableType:
    """A row for each scheme but the first: by how much it differs from that."""
    (first, base), *others = runs.items()
    table = _table(["scheme", *CHANGES])
    for scheme, result in others:
        table.add_row(scheme, *(_change(_at(result, place), _at(base, place)) for place in CHANGES.values()))
    return _titled(f"Change against {first}", table)


def _at(result: Mapping[str, Any], place: str) -> Any:
    """An entry by its path; `None` where there is none."""
    found: Any = result
    for part in place.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _change(value: float | None, base: float | None) -> str:
    """In percent; a tie is called one."""
    if value is None or base is None:
        return "-"
    if value == base:
        return "same"
    if base == 0:
        return "-"
    ratio = value / base
    return f"{'+' if ratio > 1 else '-'}<0.1%" if abs(ratio - 1) < 0.0005 else _difference(ratio)


def _identities(runs: Mapping[str, RunData]) -> list[RenderableType]:
    """Seed and digests, by which a comparison is known again, and how fast the simulator was."""
    seeds = ", ".join(dict.fromkeys(str(result["seed"]) for result in runs.values() if "seed" in result))
    digests = ", ".join(f"{scheme} {result['digest'][:16]}" for scheme, result in runs.items() if "digest" in result)
    known = {scheme: result["requests_per_s"] for scheme, result in runs.items() if "requests_per_s" in result}
    speeds = ", ".join(f"{scheme} {speed:,.0f} requests/s" for scheme, speed in known.items())
    lines = [f"Seed {seeds}, digests: {digests}"] if digests else []
    return [Text(line) for line in [*lines, *([f"Simulator speed: {speeds}"] if speeds else [])]]


def sweep_tables(sweep: Swept) -> list[RenderableType]:
    """What `ssdlab sweep` prints: a row for each of the first points, with its values and response times of all requests."""
    if sweep.means:
        return [*_sweep_means(sweep), *_sweep_failures(sweep)]
    figures = ["mean", "p99", "p99.9", "write amplification", "GC jobs", "throughput"]
    table, apart = _table([*sweep.axes, *figures]), _table(figures)
    captions = []
    for point in sweep.points[:POINTS_SHOWN]:
        latency, gc = point.result.get("latency_ns", {}).get("all", {}), point.result.get("gc", {})
        iops = point.result.get("iops")
        cells = [
            *(_time(latency, column) for column in ("mean", "p99", "p99_9")),
            number(gc["write_amplification"]) if "write_amplification" in gc else "-",
            number(gc.get("jobs", 0)),
            f"{iops:,.0f} IOPS" if iops is not None else "-",
        ]
        table.add_row(*(str(value) for value in point.values.values()), *cells)
        apart.add_row(*cells)
        captions.append(_named(point.values))
    counts = f"{len(sweep.points):,} of {len(sweep.sweep):,} points"
    more = [Text(f"... and {len(sweep.points) - POINTS_SHOWN:,} more points")] if len(sweep.points) > POINTS_SHOWN else []
    shown = [_titled(f"Response times at {counts}", table, _Captioned(captions, apart))] if sweep.points else []
    return [*shown, *more, *_sweep_failures(sweep)]


def _sweep_failures(sweep: Swept) -> list[RenderableType]:
    return [Text(f"failed: {len(sweep.failed):,} of {len(sweep.sweep):,} points", style="bold red")] if sweep.failed else []


def _sweep_means(sweep: Swept) -> list[RenderableType]:
    """A row for each of the first points, over its seeds."""
    asked = len(sweep.axes[SEED])
    fewer = any(len(point.seeds) < asked for point in sweep.means)
    columns = [*([SEED] if fewer else []), *SEED_COLUMNS.values()]
    table, apart = _table([*sweep.means[0].values, *columns]), _table(columns)
    captions = []
    for point in sweep.means[:POINTS_SHOWN]:
        seeds = [f"{len(point.seeds)} of {asked}"] if fewer else []
        cells = [*seeds, *(_interval(place, point.estimates.get(place)) for place in SEED_COLUMNS)]
        table.add_row(*(str(value) for value in point.values.values()), *cells)
        apart.add_row(*cells)
        captions.append(_named(point.values))
    counts = f"{len(sweep.points):,} of {len(sweep.sweep):,} runs"
    title = f"Response times: mean over {asked} seeds ± 95 % interval"
    done = Text(f"{len(sweep.means):,} points, {counts}")
    more = len(sweep.means) - POINTS_SHOWN
    return [_titled(title, table, _Captioned(captions, apart)), *([Text(f"... and {more:,} more points")] if more > 0 else []), done]


def _named(values: Mapping[str, Any]) -> str:
    """A point of a sweep in words."""
    return ", ".join(f"{axis} = {value}" for axis, value in values.items())


def _hit_ratio(result: RunData) -> str:
    cache = result.get("cache", {})
    return f"{cache['hit_ratio']:.2%}" if "hit_ratio" in cache else "-"


def comparison_tables(comparison: Compared) -> list[RenderableType]:
    """What `ssdlab compare` prints: a row for each scheme, where requests were logged how they fared one by one, and what else to know."""
    runs = dict(comparison.items())
    title: list[RenderableType] = [Text(comparison.title, style="bold"), ""] if comparison.title else []
    changes = [change_table(runs)] if len(runs) > 1 else []
    tables = [comparison_table(runs), *changes] if comparison.seeds is None else seed_tables(comparison.seeds)
    paired = [paired_table(next(iter(runs)), comparison.paired)] if comparison.paired else []
    first = [line for result in list(runs.values())[:1] for line in remarks(result)]
    timelines = [line for scheme, result in runs.items() for line in timeline_remark(result, f" of {scheme}")]
    others = [*_no_collection(runs), *first, *idle_remarks(runs), *timelines]
    return [*title, *tables, *paired, *_identities(runs), *others]


def _no_collection(runs: Mapping[str, RunData]) -> list[RenderableType]:
    """Where no scheme collected, their differences say nothing about collection."""
    if any(result.get("gc", {}).get("jobs") for result in runs.values()):
        return []
    return [Text("Garbage collection did not run under any scheme: write more, or precondition the device", style="yellow")]


SEED_COLUMNS = {
    "latency_ns.all.mean": "mean",
    "latency_ns.all.p99": "p99",
    "latency_ns.all.p99_9": "p99.9",
    "gc.write_amplification": "write amplification",
}
"""What is shown with its interval: places of a result."""


def seed_tables(runs: Seeded) -> list[RenderableType]:
    """Means over seeds, and the differences to the first scheme, with their intervals."""
    seeds = f"{len(runs.seeds)} seeds ({runs.seeds[0]} to {runs.seeds[-1]})"
    means = _table(["scheme", *SEED_COLUMNS.values()])
    for scheme, figures in runs.estimates.items():
        means.add_row(scheme, *(_interval(place, figures.get(place)) for place in SEED_COLUMNS))
    changes = _table(["scheme", *SEED_COLUMNS.values()])
    for scheme, figures in runs.differences.items():
        changes.add_row(scheme, *(_change_over_seeds(figures.get(place)) for place in SEED_COLUMNS))
    missing = [scheme for scheme in runs.runs if scheme not in runs.estimates]
    return [
        _titled(f"Response times by scheme: mean over {seeds} ± 95 % interval", means),
        *([_titled(f"Change against {runs.against}, seed by seed ± 95 % interval", changes)] if runs.differences else []),
        *([Text("tie: the interval includes 0, so that the difference may be chance")] if _has_tie(runs) else []),
        *([Text(f"Without all seeds, hence without intervals: {', '.join(missing)}", style="bold red")] if missing else []),
        *([] if runs.differ else [Text(NOTHING_RANDOM, style="yellow")]),
        *([Text(SEEDS_OF_A_TRACE)] if runs.differ and _replays(runs) else []),
    ]


NOTHING_RANDOM = "All seeds gave the same runs: nothing here is random, so that the intervals of ± 0 say nothing."
SEEDS_OF_A_TRACE = "A seed changes the drive's preparation and random choices, not the trace: the intervals are not about other traces."


def _replays(runs: Seeded) -> bool:
    """Whether requests are those of a trace, which no seed changes."""
    return any("trace" in result.get("config", {}).get("workload", {}) for of in runs.runs.values() for result in of.values())


def _has_tie(runs: Seeded) -> bool:
    return any(place in figures and figures[place].is_tie for figures in runs.differences.values() for place in SEED_COLUMNS)


def _interval(place: str, estimate: Estimate | None) -> str:
    """A mean with its half width, in one unit and with digits that show both."""
    if estimate is None:
        return "-"
    units = ((1e3, 1.0, " ns"), (1e6, 1e3, " us"), (1e9, 1e6, " ms"), (math.inf, 1e9, " s"))
    size, unit = next((size, unit) for limit, size, unit in units if abs(estimate.mean) < limit) if "_ns" in place else (1.0, "")
    mean, half = estimate.mean / size, None if estimate.half is None else estimate.half / size
    digits = max(0, 2 - math.floor(math.log10(abs(mean)))) if mean else 0
    if half:
        digits = min(max(digits, -math.floor(math.log10(half))), digits + 2)
    shown = f"{mean:,.{min(digits, MOST_DIGITS)}f}"
    return f"{shown}{unit}" if half is None else f"{shown} ± {half:,.{min(digits, MOST_DIGITS)}f}{unit}"


MOST_DIGITS = 4


def _change_over_seeds(estimate: Estimate | None) -> str:
    """A relative difference in percent with its half width; a tie is said."""
    if estimate is None:
        return "-"
    if not any(estimate.values):
        return "same"
    half = "" if estimate.half is None else f" ± {estimate.half:.1%}"
    shown = f"{estimate.mean:+z.1%}{half}"
    return f"tie ({shown})" if estimate.is_tie else shown


def paired_table(base: str, paired: Mapping[str, Mapping[str, Any]]) -> RenderableType:
    """A row for each scheme and kind of requests."""
    table = _table(["scheme", "requests", "count", "faster", "by (mean)", "slower", "by (mean)", "unchanged"])
    for scheme, kinds in paired.items():
        for kind, row in kinds.items():
            shares = {name: f"{row[name]:.1%}" for name in ("faster", "slower", "same")}
            gain, loss = (_time(row, key) for key in ("gain_ns", "loss_ns"))
            table.add_row(scheme, CLASSES[kind], number(row["requests"]), shares["faster"], gain, shares["slower"], loss, shares["same"])
    return _titled(f"The same requests, one by one, against {base}", table, keys=2)


def report_table(report: Mapping[str, Any], title: str) -> RenderableType:
    """Any report: a row for each figure, nested names joined by blanks, units with the values; of other lists than devices the length."""
    table = _table(["", "value"])
    for name, key, value in _figures(report):
        table.add_row(name, quantity(key, value))
    return _titled(title, table)


def study_table(study: Mapping[str, Any]) -> RenderableType:
    """The rows of a study (as in its `study.json`): paper, measured, difference."""
    heads = ["paper", "measured", "difference", "expected", "reproduced"]
    table, apart = _table(["", *heads]), _table(heads)
    for row in study["rows"]:
        cells = study_cells(row)
        verdict = Text(cells[-1], style="bold red" if cells[-1] == "NO" else "")
        table.add_row(textwrap.fill(row["what"], 68), *cells[:-1], verdict)
        apart.add_row(*cells[:-1], verdict)
    length = " (quick: fewer requests and seeds)" if study["quick"] else ""
    reasons = [f"  not measured: {row['what']}: {row['reason']}" for row in study["rows"] if "reason" in row]
    captioned = _Captioned([row["what"] for row in study["rows"]], apart)
    return Group(_titled(f"{study['study']}: {study['title']}{length}", table, captioned), *(Text(reason) for reason in reasons))


def study_cells(row: Mapping[str, Any]) -> tuple[str, str, str, str, str]:
    """A row of a study as texts: paper, measured with its confidence interval, difference, expected, reproduced."""
    unit = row.get("unit", "")
    unit = f" {unit}" if unit not in ("", "x") else unit
    measured = row.get("measured")
    value = "-"
    if measured is not None:
        interval = f" ± {significant(measured['interval'])}" if "interval" in measured else ""
        value = f"{significant(measured['mean'])}{interval}{unit}"
    bounds = [f"{sign} {row[key]:g}" for key, sign in (("at_least", "≥"), ("at_most", "≤")) if key in row]
    return (
        f"{row['paper']:g}{unit}" if "paper" in row else "-",
        value,
        f"{significant(row['difference'], sign=True)}{' points' if unit == ' %' else unit}" if "difference" in row else "-",
        f"{' and '.join(bounds)}{unit}" if bounds else "-",
        row.get("reproduced", "-"),
    )


def significant(value: float, *, sign: bool = False) -> str:
    """A number to about three significant digits, never in powers of ten unless it is tiny."""
    size = abs(value)
    plus = "+" if sign else ""
    if size >= 100 or size < 1e-9:
        return f"{value:{plus},.0f}"
    if size < 0.01:
        return f"{value:{plus}.1g}"
    return f"{value:{plus}.{1 if size >= 10 else 2 if size >= 1 else 3}f}"


class _Row(NamedTuple):
    """A figure of the queueing model: what it is called, where it stands in a result, and the formulas for it by priority."""

    label: str
    place: str
    formulas: Mapping[str, str] = MappingProxyType({})

    def formula(self, priority: str) -> str:
        """The formula for it, empty where there is none."""
        return self.formulas.get(priority, self.formulas.get("", ""))


QUEUEING_ROWS = (
    _Row("busy with reads", "utilisation.read", {"": "read_utilisation"}),
    _Row("busy with writes", "utilisation.write", {"": "write_utilisation"}),
    _Row("busy with copies", "utilisation.copy", {"": "copy_utilisation"}),
    _Row("busy with erases", "utilisation.erase", {"": "erase_utilisation"}),
    _Row("busy", "utilisation.total", {"": "utilisation"}),
    _Row("requests served", "throughput_per_ms", {"": "total_rate_per_ms"}),
    _Row("most that can be served", "", {"": "max_throughput_per_ms"}),
    _Row("mean wait", "wait_ns.all.mean", {"rwp": "mean_wait_rwp_ns", "cep": "mean_wait_cep_independent_ns"}),
    _Row("p99 of the waits", "wait_ns.all.p99"),
    _Row("longest wait", "wait_ns.all.max"),
    _Row("mean wait of reads", "wait_ns.read.mean", {"rwp": "mean_wait_rwp_ns", "cep": "mean_wait_cep_independent_ns"}),
    _Row("mean wait of writes", "wait_ns.write.mean", {"rwp": "mean_wait_rwp_ns", "cep": "mean_wait_cep_independent_ns"}),
    _Row("requests waiting", "queue.mean", {"rwp": "queue_length"}),
    _Row("copies waiting", "copy_queue.mean"),
    _Row("a collection takes", "gc.duration_ns.mean", {"rwp": "gc_duration_rwp_ns", "cep": "gc_duration_cep_ns"}),
    _Row("the die is idle after", "gc.backlog_ns.mean"),
)
"""What the table of the queueing model shows."""

AT_THE_LIMIT = {"total_rate_per_ms": "max_throughput_per_ms"}
"""With requests waiting all the time, as many are served as can be."""


def queueing_tables(runs: Mapping[str, RunData], formulas: Mapping[str, float]) -> list[RenderableType]:
    """Formulas, simulation and the difference: side by side for all priorities where there is room, else below each other."""
    first = next(iter(runs.values()))
    saturated = first["parameters"]["arrivals"]["kind"] == "saturated"
    formulas = {**formulas, **{name: formulas[limit] for name, limit in AT_THE_LIMIT.items() if saturated and limit in formulas}}
    side_by_side = _queueing_table(runs, formulas, saturated=saturated)
    apart = [_queueing_table({priority: run}, formulas, saturated=saturated) for priority, run in runs.items()]
    return [
        Text(queueing_title(first), style="bold"),
        "",
        _Fitting(side_by_side, Group(*apart)),
        *(Text(f"{priority}: {_collections(run)}") for priority, run in runs.items()),
        *_too_high(runs, formulas),
        *trace_remarks(first),
        *_left_out(first),
        *(Text(f"{priority}: {_speed(run)}, digest {run['digest'][:16]}") for priority, run in runs.items()),
    ]


def _queueing_table(runs: Mapping[str, RunData], formulas: Mapping[str, float], *, saturated: bool) -> RenderableType:
    shown = ["formula", "simulated", "difference"] if formulas else ["simulated"]
    table = _table(["", *(f"{priority} {name}" if name == "simulated" else name for priority in runs for name in shown)])
    for row in QUEUEING_ROWS:
        cells = [cell for priority, run in runs.items() for cell in _queueing_cells(row, priority, run, formulas)]
        if any(cell != "-" for cell in cells) and not (saturated and not row.place):
            table.add_row(row.label, *cells)
    # Whole: the columns of a priority belong together, and all priorities stand below each other where they are too wide.
    return _titled("Single-die queueing model", table, _Whole(_narrow(table)))


def _too_high(runs: Mapping[str, RunData], formulas: Mapping[str, float]) -> list[RenderableType]:
    """Why the formula for waits under cep is not what was simulated, where it is above that."""
    name = "mean_wait_cep_independent_ns"
    waits = runs["cep"]["wait_ns"].get("all") if "cep" in runs else None
    if waits is None or formulas.get(name, 0.0) <= waits["mean"]:
        return []
    return [Text("The formula for waits under cep takes collections to be independent of writes, which makes it too high (section 5.2.2).")]


def _left_out(run: RunData) -> list[RenderableType]:
    """Requests of a workload that the model has no operation for."""
    workload = run.get("workload") or {}
    counts = [(workload.get(f"{kind}_left_out", 0), kind) for kind in ("trims", "flushes")]
    parts = [f"{count:,} {kind}" for count, kind in counts if count]
    return [Text(f"Left out: {' and '.join(parts)}", style="yellow")] if parts else []


def _queueing_cells(row: _Row, priority: str, run: RunData, formulas: Mapping[str, float]) -> list[str]:
    measured: Any = run
    for part in row.place.split("."):
        measured = measured.get(part) if isinstance(measured, Mapping) else None
    name = row.formula(priority)
    simulated = "-" if measured is None else _queueing_quantity(row.place, measured)
    if not formulas:
        return [simulated]
    expected = formulas.get(name)
    difference = "-" if measured is None or not expected else _difference(measured / expected)
    return ["-" if expected is None else _queueing_quantity(name, expected), simulated, difference]


def _difference(ratio: float) -> str:
    """How far a figure is from what was expected; beyond ten times as much, how many times."""
    return f"{ratio - 1:+.1%}" if ratio < 10 else f"x {ratio:,.0f}"


def _queueing_quantity(name: str, value: float) -> str:
    """A figure of the model or a value of its formulas, with its unit."""
    if name.endswith("_per_ms"):
        return f"{significant(value)} /ms"
    if "_ns" in name:
        return duration(value)
    return f"{value:.1%}" if "utilisation" in name else significant(value)


def queueing_title(run: RunData) -> str:
    """What was simulated, in a line for people."""
    p = run["parameters"]
    times = ", ".join(f"{name} {duration(p[f'{name}_ns'])}" for name in ("read", "write", "copy", "erase"))
    valid = _valid(p["valid"])
    arrivals = p["arrivals"]
    rates = f" ({arrivals['read_per_ms']:g} + {arrivals['write_per_ms']:g} a ms)" if "read_per_ms" in arrivals else ""
    free = f", {p['free_blocks']:,} free blocks" if "free_blocks" in p else ""
    requests = sum(run["requests"].values())
    return (
        f"{times.capitalize()}; {valid} of {p['pages']} pages valid{free}; {arrivals['kind']} arrivals{rates}; {requests:,} requests, "
        f"seed {run['seed']}"
    )


def _valid(valid: int | Sequence[int]) -> str:
    """Pages to copy: a number, or the first of a list in turn."""
    if isinstance(valid, int):
        return f"{valid}"
    return (
        ", ".join(map(str, valid))
        if len(valid) <= FEW
        else f"{', '.join(map(str, valid[: FEW - 1]))}, ... ({len(valid):,} numbers in turn)"
    )


def _collections(run: RunData) -> str:
    gc = run["gc"]
    if not gc["collections"]:
        return "no collection"
    held = f", {gc['held_writes']:,} writes held for want of a block" if gc.get("held_writes") else ""
    counts = f"{gc['collections']:,} collections, {gc['prolonged']:,} of them prolonged, {gc['overlapped']:,} in the backlog of another"
    return counts + held


def formula_table(formulas: Mapping[str, float], equations: Mapping[str, str]) -> RenderableType:
    """All formulas of the queueing model, with their equations in the report."""
    table = _table(["", "value", "equation"])
    for name, value in formulas.items():
        plain = name.removesuffix("_ns").removesuffix("_per_ms")
        table.add_row(plain.replace("_", " "), _queueing_quantity(name, value), equations[plain])
    return _titled("Formulas of bux2011", table)


def _figures(report: Mapping[str, Any], prefix: str = "", unit: str = "") -> Iterable[tuple[str, str, object]]:
    """Label, name (whose end is the unit) and value of each figure. `unit`: the end of the name of the group."""
    for key, value in report.items():
        end = next((end for end in UNITS if key.endswith(end)), "")
        # A share is called one; other units stand with the value.
        label = f"{prefix} {(key if end == '_share' else key.removesuffix(end)).replace('_', ' ')}".strip()
        if isinstance(value, Mapping):
            yield from _figures(value, label, end)
        elif key == "devices":
            yield "volumes", key, _devices(value)
        else:
            yield label, key + unit, len(value) if isinstance(value, list) else value


def _devices(devices: Sequence[Mapping[str, Any]]) -> str:
    """The volumes of a trace with their requests, one a line."""
    lines = [f"{device['name']} ({device['requests']:,} requests)" for device in devices[:DEVICES_SHOWN]]
    more = len(devices) - DEVICES_SHOWN
    return "\n".join([*lines, f"and {more:,} more (--json has all)"] if more > 0 else lines)


def _time(row: Mapping[str, Any], key: str) -> str:
    return duration(row[key]) if key in row else "-"


def _gc_details(result: RunData) -> str:
    gc = result.get("gc", {})
    if not gc.get("jobs"):
        return "it did not run"
    details = [
        gc_sentence(result),
        f"{gc['pages_moved']:,} pages moved" if "pages_moved" in gc else None,
        f"{gc['erases']:,} erases" if "erases" in gc else None,
        f"{gc['time_share']:.1%} of a pool's time" if "time_share" in gc else None,
    ]
    return ", ".join(detail for detail in details if detail)


def _gc_scheduling(result: RunData) -> list[RenderableType]:
    """How collection gave way to requests, and the states that it was in; what did not happen is left out."""
    gc = result.get("gc", {})
    counts = [f"{gc[key]:,} {key}" for key in ("preemptions", "suspensions") if gc.get(key)]
    for kind in ("merged", "pipelined"):
        moved = {operation: gc.get(kind, {}).get(operation, 0) for operation in ("read", "write")}
        parts = [f"{count:,} {operation}{'' if count == 1 else 's'}" for operation, count in moved.items() if count]
        if parts:
            counts.append(f"{kind} {' and '.join(parts)}")
    lines = [", ".join(counts)] if counts else []
    states = gc.get("state_ns", {})
    total = sum(states.values())
    if any(time for state, time in states.items() if state != "s0"):
        lines.append("time in " + ", ".join(f"{state.upper()} {time / total:.2%}" for state, time in states.items() if time))
    return [Text(f"  {line}") for line in lines]


def _slack(result: RunData) -> list[RenderableType]:
    """How well the ends of requests were estimated, and what came of it; nothing where no estimates were made."""
    slack, counters = result.get("slack", {}), result.get("counters", {})
    if "estimation_error" not in slack:
        return []
    means = [f"{kind}s {duration(slack[kind]['mean_ns'])}" for kind in ("read", "write") if kind in slack]
    error, bias = slack["estimation_error"], slack["estimation_bias"]
    lines = [f"Slack: {', '.join(means)} on average; response times estimated with {error:.1%} error ({bias:+.1%} on balance)"]
    names = {
        "read_passes": "reads passed",
        "write_passes": "writes passed",
        "write_pauses": "pauses of programs",
        "pause_reads": "reads in them",
    }
    counts = [f"{counters[key]:,} {name}" for key, name in names.items() if counters.get(key)]
    return [Text(line) for line in [*lines, *([f"  {', '.join(counts)}"] if counts else [])]]


def _cache(result: RunData) -> list[RenderableType]:
    """What the cache did, and what awareness of collection did to it."""
    cache = result.get("cache")
    if cache is None:
        return []
    share = f" of {cache['lookups']:,} pages ({cache['hit_ratio']:.2%})" if "hit_ratio" in cache else ""
    lines = [f"Cache of {cache['capacity_pages']:,} pages: {cache['read_hits'] + cache['write_hits']:,} hits{share}"]
    names = {
        "evictions": "evictions",
        "destages": "destages",
        "idle_destages": "in idle time",
        "padded_pages": "pages of padding",
        "gc_skips": "evictions passed over homes in GC",
        "gc_fallbacks": "found all in GC",
        "gc_bypasses": "pages not kept since all were in GC",
        "dirty_pages": "dirty pages left",
    }
    counts = [f"{cache[key]:,} {name}" for key, name in names.items() if cache.get(key)]
    responses = cache.get("response_ns", {})
    split = [f"{duration(responses[key]['mean'])} {where}" for key, where in (("gc", "with"), ("no_gc", "without")) if key in responses]
    lines += [f"  {', '.join(counts)}"] if counts else []
    lines += [f"  mean response {' and '.join(split)} a page whose home was in GC"] if split else []
    return [Text(line) for line in lines]


def _array(result: RunData) -> list[RenderableType]:
    """How the array wrote."""
    array = result.get("array")
    if array is None:
        return []
    names = {
        "read_modify_writes": "pages of parity by read-modify-write",
        "reconstruct_writes": "by reconstruction",
        "full_writes": "without reading",
        "degraded_reads": "reads made from all other drives",
        "row_waits": "waits for a row",
    }
    counts = [f"{array[key]:,} {name}" for key, name in names.items() if array.get(key)]
    return [Text(f"Array: {array['level']} of {array['drives']} drives{''.join(f', {count}' for count in counts)}")]


def _speed(result: RunData) -> str:
    simulated, wall, speed = (result.get(key) for key in ("simulated_ns", "wall_s", "requests_per_s"))
    text = f"Simulated {duration(simulated or 0)}"
    if wall is not None:
        text += f" in {duration(wall * 1e9)}"
    prepared = result.get("prepare_s")
    if prepared is not None:
        text += f", after {duration(prepared * 1e9)} of preparation"
    return text + (f" (simulator speed: {speed:,.0f} requests/s)" if speed is not None else "")
