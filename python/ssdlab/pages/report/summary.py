"""The summary table: a row for each figure, a column for each run, the best value of each row, and differences from the first run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from ssdlab.pages.report.changes import Change, apart, as_good, change, number_of, seeded, spread
from ssdlab.pages.report.runs import Run, Runs, leaves
from ssdlab.pages.tables import SIZES, duration, number, size, three
from ssdlab.system.checksums import CHECKSUM

__all__ = ["Cell", "Group", "Place", "Row", "everything", "few", "overview", "percent", "places", "shown", "summary"]

Better = Literal["low", "high"] | None
FAR = 2.0
"""Factor from which on a value counts as far worse than the first."""
FACTOR = 4.0
"""Relative increase from which on a difference is written as a factor."""
FEWEST = 10
"""Minimum number of requests beyond a percentile for the percentile to be meaningful."""
BEYOND = {"p50": 0.5, "p90": 0.1, "p95": 0.05, "p99": 0.01, "p99_9": 0.001, "p99_99": 0.0001}
"""Share of requests beyond each percentile."""

KINDS = {"all": "all requests", "read": "reads", "write": "writes", "flush": "flushes"}
LATENCIES = {"mean": "mean", "p50": "p50", "p90": "p90", "p99": "p99", "p99_9": "p99.9", "p99_99": "p99.99", "max": "longest"}
UNITS = {
    "_ns": "ns",
    "_share": "share",
    "_ratio": "share",
    "_mb_s": "mb_s",
    "iops": "per_s",
    "requests_per_s": "per_s",
    "_s": "s",
    "_bytes": "bytes",
    "_mb": "mb",
}
"""Units by the endings of names."""
DURATIONS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"))
SCALES = {"share": (" %", 0.01), "per_s": ("/s", 1.0), "mb_s": (" MB/s", 1.0), "s": (" s", 1.0), "mb": (" MiB", 1.0)}
"""Unit and divisor of means over seeds, by unit."""
MINUS = "\N{MINUS SIGN}"
UNLISTED = ("config", "series", "histograms", "version", "digest", "seed", "command", "timeline", "idle_keys", "remarks", CHECKSUM)
"""Entries of a result that are shown elsewhere or as figures."""


@dataclass(frozen=True)
class Place:
    """A figure of a result: name, path, unit, and whether low or high values are better."""

    name: str
    place: str
    unit: str
    better: Better = None
    signed: bool = False
    """Whether values are around zero, so that their differences are not relative to them."""


OVERVIEW = (
    Place("mean", "latency_ns.all.mean", "ns", "low"),
    Place("p99", "latency_ns.all.p99", "ns", "low"),
    Place("p99.9", "latency_ns.all.p99_9", "ns", "low"),
    Place("write amplification", "gc.write_amplification", "ratio", "low"),
    Place("longest GC job", "gc.duration_ns.max", "ns", "low"),
    Place("requests", "latency_ns.all.count", "count"),
)
"""Figures in the overview."""
OTHERS: Mapping[str, tuple[Place, ...]] = {
    "Requests": (
        Place("all", "latency_ns.all.count", "count"),
        Place("reads", "requests.read", "count"),
        Place("writes", "requests.write", "count"),
        Place("trims", "requests.trim", "count"),
        Place("flushes", "requests.flush", "count"),
    ),
    "Throughput": (
        Place("requests a second", "iops", "per_s", "high"),
        Place("read", "bandwidth_mb_s.read", "mb_s", "high"),
        Place("written", "bandwidth_mb_s.write", "mb_s", "high"),
        Place("sustained at most", "capacity.iops", "per_s", "high"),
    ),
    "Garbage collection": (
        Place("jobs", "gc.jobs", "count"),
        Place("pages moved", "gc.pages_moved", "count", "low"),
        Place("write amplification", "gc.write_amplification", "ratio", "low"),
        Place("write amplification in pages", "gc.page_write_amplification", "ratio", "low"),
        Place("a pool's time with a job", "gc.time_share", "share"),
        Place("mean job", "gc.duration_ns.mean", "ns", "low"),
        Place("longest job", "gc.duration_ns.max", "ns", "low"),
        Place("preemptions", "gc.preemptions", "count"),
        Place("fewest free blocks of a pool", "gc.free_blocks_min", "count"),
    ),
    "Suspensions": (
        Place("GC operations, for the host (gc.suspend)", "gc.suspensions", "count"),
        Place("programs, for reads (scheduler.suspend)", "counters.suspended_programs", "count"),
        Place("erases, for reads (scheduler.suspend)", "counters.suspended_erases", "count"),
    ),
    "Bytes written": (
        Place("by the host", "bytes_written.host", "bytes"),
        Place("to flash", "bytes_written.flash", "bytes", "low"),
        Place("host data", "bytes_written.data", "bytes"),
        Place("page moves", "bytes_written.gc", "bytes", "low"),
        Place("mapping table", "bytes_written.mapping", "bytes", "low"),
        Place("padding", "bytes_written.padding", "bytes", "low"),
        Place("parity", "bytes_written.parity", "bytes", "low"),
        Place("in caches and buffers, not in flash", "bytes_written.held", "bytes", signed=True),
    ),
    "Wear": (
        Place("erases", "flash.erases", "count", "low"),
        Place("erases of a block, mean", "wear.mean", "ratio"),
        Place("standard deviation", "wear.std", "ratio", "low"),
        Place("block erased most often", "wear.max", "count", "low"),
    ),
    "Energy": (
        Place("energy, J", "energy.total_j", "ratio", "low"),
        Place("mean power, W", "energy.mean_w", "ratio", "low"),
        Place("energy for a byte of the host, nJ", "energy.nj_per_byte", "ratio", "low"),
        Place("operations that waited for power", "counters.power_waits", "count", "low"),
        Place("highest temperature, degrees C", "thermal.max_c", "ratio", "low"),
        Place("mean temperature, degrees C", "thermal.mean_c", "ratio", "low"),
        Place("throttled lightly", "thermal.light_ns", "ns", "low"),
        Place("throttled heavily", "thermal.heavy_ns", "ns", "low"),
        Place("stopped by heat", "thermal.stopped_ns", "ns", "low"),
        Place("operations that waited for the drive to cool", "counters.heat_waits", "count", "low"),
        Place("energy in power states, J", "energy.states_j", "ratio"),
        Place("commands that woke a drive", "power_states.wakes", "count", "low"),
        Place("wakes by a drive's own work", "power_states.background_wakes", "count", "low"),
    ),
    "Retries": (
        Place("retries of a flash read, mean", "ages.retries_mean", "ratio", "low"),
        Place("flash reads whose data are lost", "ages.uncorrectable", "count", "low"),
    ),
    "Slack": (
        Place("of pages read, mean", "slack.read.mean_ns", "ns"),
        Place("of pages written, mean", "slack.write.mean_ns", "ns"),
        Place("error of the estimates", "slack.estimation_error", "share"),
    ),
    "Cache": (
        Place("hits", "cache.hit_ratio", "share", "high"),
        Place("pages looked up", "cache.lookups", "count"),
        Place("evictions", "cache.evictions", "count"),
        Place("pages destaged", "cache.destages", "count", "low"),
        Place("dirty pages at the end", "cache.dirty_pages", "count"),
        Place("mean response, no target in GC", "cache.response_ns.no_gc.mean", "ns", "low"),
        Place("mean response, a target in GC", "cache.response_ns.gc.mean", "ns", "low"),
    ),
    "Array": (
        Place("drives", "array.drives", "count"),
        Place("read-modify-writes", "array.read_modify_writes", "count"),
        Place("reconstruct-writes", "array.reconstruct_writes", "count"),
        Place("full writes", "array.full_writes", "count"),
        Place("pages of parity written", "array.parity_writes", "count", "low"),
        Place("degraded reads", "array.degraded_reads", "count"),
        Place("reads refused for GC", "array.refused_reads", "count"),
        Place("pages read around GC", "array.rebuilt_pages", "count"),
        Place("refused reads that waited for the shortest GC", "array.shortest_waits", "count"),
        Place("stripes rebuilt", "array.rebuilt_stripes", "count"),
        Place("stripes without data", "array.empty_stripes", "count"),
        Place("stripes left to rebuild", "array.left_stripes", "count"),
        Place("rebuilt after", "array.rebuild_ns", "ns"),
        Place("turns to collect", "array.rotation_turns", "count"),
        Place("turns that a pool waited for", "array.rotation_waits", "count"),
        Place("time waited for turns", "array.rotation_wait_ns", "ns", "low"),
        Place("waits for a stripe lock", "array.row_waits", "count"),
    ),
}


@dataclass(frozen=True)
class Cell:
    """A cell: value, text, difference from the first run, and whether no other value is better."""

    value: Any
    text: str
    difference: str = ""
    best: bool = False
    worse: str = ""
    """How far the value is worse than the first, if it is far worse."""
    few: str = ""
    """Why a percentile is uncertain: how few requests took longer."""
    judged: bool = True
    """For a best value, whether it is known to be better by more than chance."""


@dataclass(frozen=True)
class Row:
    """A figure of all runs; a run without it has an empty cell."""

    name: str
    place: str
    cells: tuple[Cell, ...]
    compared: bool = False
    """Whether the cells have differences from the first run, even if all are negligible."""


@dataclass(frozen=True)
class Group:
    """Rows under a heading."""

    title: str
    rows: tuple[Row, ...]


def summary(runs: Runs) -> list[Group]:
    """The rows with a value other than zero in any run."""
    places = {
        f"Response times, {name}": tuple(Place(title, f"latency_ns.{kind}.{key}", "ns", "low") for key, title in LATENCIES.items())
        for kind, name in KINDS.items()
        if kind != "all" or all(any(run.at(f"latency_ns.{one}") for run in runs) for one in ("read", "write"))
    }
    groups = [Group(title, tuple(_rows(runs, group))) for title, group in {**places, **OTHERS}.items()]
    return [group for group in groups if group.rows]


def places() -> list[Place]:
    """All figures of the table, named with their headings."""
    times = [
        Place(f"Response times, {name}: {title}", f"latency_ns.{kind}.{key}", "ns", "low")
        for kind, name in KINDS.items()
        for key, title in LATENCIES.items()
    ]
    return [*times, *(replace(place, name=f"{title}: {place.name}") for title, group in OTHERS.items() for place in group)]


def everything(runs: Runs) -> list[Row]:
    """Every number and text of the results, except configurations and drawn series."""
    places = dict.fromkeys(
        place for run in runs for place, _ in leaves({key: value for key, value in run.data.items() if key not in UNLISTED})
    )
    return [Row(place, place, tuple(Cell(run.at(place), shown(run.at(place), _unit(place))) for run in runs)) for place in places]


def overview(runs: Runs) -> list[Row]:
    """The figures in the overview."""
    return list(_rows(runs, OVERVIEW))


def _rows(runs: Runs, places: tuple[Place, ...]) -> Iterator[Row]:
    for place in places:
        if any(run.at(place.place) for run in runs):
            yield Row(place.name, place.place, tuple(_cells(runs, place)), compared=True)


def _cells(runs: Runs, place: Place) -> Iterator[Cell]:
    values = [number_of(runs, run, place.place) for run in runs]
    doubtful = any(few(run, place.place) for run in runs)
    best = set() if doubtful else _best(runs, place)
    judged = _is_judged(runs, place) if best else True
    for run, value in zip(runs, values, strict=True):
        seeds = seeded(runs, run, place.place)
        text = _over_seeds(runs, run, place, value, seeds["half_width"]) if seeds else shown(value, place.unit)
        difference = _difference(runs, run, place) if run.index else ""
        worse = "" if doubtful or _disagree(runs, runs[0], run, place) else _far_worse(place, values[0], value)
        yield Cell(value, text, difference, run.index in best, worse, few(run, place.place), judged)


def _over_seeds(runs: Runs, run: Run, place: Place, value: float, half: float) -> str:
    """A mean with its interval; median and range if the seeds disagree."""
    found = spread(runs, run, place.place)
    if found is None and half > value >= 0:  # files of earlier versions have no values
        return f"{shown(value, place.unit)} (seeds disagree)"
    if found is None:
        return within(value, half, place.unit)
    low, high = (shown(end, place.unit) for end in (min(found.values), max(found.values)))
    return f"median {shown(found.median, place.unit)} ({low} to {high})"


def _disagree(runs: Runs, one: Run, other: Run, place: Place) -> bool:
    """Whether seeds disagree about the difference of two runs."""
    found = apart(runs, one, other, place.place) if one is not other else None
    return found is not None and found.disagree


def _is_judged(runs: Runs, place: Place) -> bool:
    """Whether the best value is known to be better than every other by more than chance."""
    having = [run for run in runs if number_of(runs, run, place.place) is not None]
    best = (min if place.better == "low" else max)(having, key=lambda run: number_of(runs, run, place.place))
    found = [apart(runs, best, run, place.place) for run in having if run is not best]
    return all(entry is not None and entry.judged for entry in found)


def _far_worse(place: Place, first: Any, value: Any) -> str:
    """How many times worse than the first a value is, as text; empty if it is not far worse."""
    if place.better is None or not first or not value:
        return ""
    factor = value / first if place.better == "low" else first / value
    return f"{factor:,.2g} times worse than the first" if factor >= FAR else ""


def few(run: Run, place: str) -> str:
    """A caveat for a percentile with hardly any requests beyond it; empty for others."""
    path, _, name = place.rpartition(".")
    if name not in BEYOND or not path.startswith("latency_ns."):
        return ""
    count = run.at(f"{path}.count")
    if count is None:
        return ""
    beyond = int(count * BEYOND[name] + 1e-9)
    return f"{beyond} of {count:,} requests took longer" if beyond < FEWEST else ""


def _best(runs: Runs, place: Place) -> set[int]:
    """Indices of the best runs, ties included; empty if all are tied, or seeds disagree."""
    having = [run for run in runs if number_of(runs, run, place.place) is not None]
    if place.better is None or len(having) < 2 or not runs.one_load:
        return set()
    best = (min if place.better == "low" else max)(having, key=lambda run: number_of(runs, run, place.place))
    if any(_disagree(runs, best, run, place) for run in having):
        return set()
    winners = {run.index for run in having if as_good(runs, best, run, place.place)}
    return winners if len(winners) < len(having) else set()


def _difference(runs: Runs, run: Run, place: Place) -> str:
    """The difference from the first run in percent; of shares in percentage points, of values around zero in their unit."""
    first, value = (number_of(runs, one, place.place) for one in (runs[0], run))
    if first is None or value is None or not (first or place.signed or place.unit == "share"):
        return ""
    if place.signed or first < 0:
        return "" if value == first else f"{MINUS if value < first else '+'}{shown(abs(value - first), place.unit)}"
    if place.unit == "share":
        points = (value - first) * 100
        return "" if round(points, 1) == 0 else f"{points:+.1f} points".replace("-", MINUS)
    found = change(runs, runs[0], run, place.place)
    return "" if found is None else _relative(found)


def _relative(found: Change) -> str:
    """A relative difference with its interval, or why it is not judged."""
    if found.disagree:
        low, high = (f"{end * 100:+,.0f}".replace("-", MINUS) for end in (min(found.values), max(found.values)))
        return f"not judged ({low} to {high} %)"
    return percent(found.relative, found.half) + (" tie" if found.noise else "")


def percent(relative: float, half: float | None = None) -> str:
    """A relative difference in percent with the half width of its interval; empty if it is negligible."""
    if relative >= FACTOR:
        return f"\N{MULTIPLICATION SIGN} {1 + relative:,.{0 if relative >= 9 else 1}f}"
    if round(relative * 100, 1) == 0:
        return ""
    within = "" if half is None else f" ± {half * 100:,.{0 if half >= 0.1 else 1}f}"
    return f"{relative * 100:+.1f}{within} %".replace("-", MINUS)


def _unit(place: str) -> str:
    """The unit of a figure, from the names in its path."""
    names = place.split(".")
    ends = [*reversed(names[:-1])]
    for name in [names[-1], *ends]:
        unit = next((unit for end, unit in UNITS.items() if name.endswith(end)), None)
        if unit:
            return "count" if names[-1] in ("count", "cv", "variance") else unit
    return {"utilisation": "share", "bytes_written": "bytes"}.get(names[0], "count")


def shown(value: Any, unit: str) -> str:
    """Formats a value with its unit."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ", ".join(shown(entry, unit) for entry in value) if isinstance(value, list | tuple) else str(value)
    simple = {
        "ns": lambda: duration(value).replace(" us", " µs"),
        "share": lambda: f"{three(value * 100)} %",
        "per_s": lambda: f"{three(value)}/s",
        "mb_s": lambda: f"{three(value)} MB/s",
        "s": lambda: f"{three(value)} s",
        "mb": lambda: f"{three(value)} MiB",
        "bytes": lambda: size(value),
    }
    return simple[unit]() if unit in simple else three(value) if isinstance(value, float) else number(value)


def within(value: float, half: float, unit: str) -> str:
    """A mean and the half width of its interval in one unit: `1.16 ± 0.09 ms`. A half width of 0 is left out."""
    if not half:
        return shown(int(value) if unit in ("count", "bytes") and value == int(value) else value, unit)
    name, size, digits = _scale(value, unit)
    if 0 < abs(value / size) < 1:
        digits = max(digits, 2 - math.floor(math.log10(abs(value / size))))
    rounded = f"{half / size:,.{digits}f}"
    if not float(rounded.replace(",", "")):
        digits = min(digits + 2, math.ceil(-math.log10(half / size)))  # otherwise the value would look exact
        rounded = f"{half / size:,.{digits}f}"
    return f"{value / size:,.{digits}f} ± {rounded}{name}"


def _scale(value: float, unit: str) -> tuple[str, float, int]:
    """Unit, divisor and decimals of a mean."""
    name, size = SCALES.get(unit, ("", 1.0))
    if unit == "ns":
        name, size = next(((f" {name}", size) for size, name in DURATIONS if value >= size), (" ns", 1))
    if unit == "bytes":
        size, name = next(((size, f" {name}") for size, name in SIZES if abs(value) >= size), (1.0, " bytes"))
    if (unit in ("ns", "bytes") and size == 1) or (unit == "count" and abs(value) >= 1000):
        return name, size, 0
    return name, size, max(0, 2 - math.floor(math.log10(abs(value / size)))) if abs(value / size) >= 1 else 2


def of_run(run: Run) -> str:
    """A one-line summary of a result for `ssdlab run`."""
    latency = run.at("latency_ns.all")
    count = sum(run.data["requests"].values())
    times = f", mean response time {shown(latency['mean'], 'ns')}, p99 {shown(latency['p99'], 'ns')}" if latency else ""
    return f"{count:,} {'request' if count == 1 else 'requests'}{times}."
