"""The summary table: a row for each figure, a column for each run, the best of each row and differences against the first run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ssdlab.report.runs import Run, Runs, leaves
from ssdlab.tables import duration, number

__all__ = ["Cell", "Group", "Row", "everything", "shown", "summary", "verdict"]

Better = Literal["low", "high"] | None
TIE = 0.001
"""Values closer together than this are as good as each other: percentiles are no more exact."""

KINDS = {"all": "all requests", "read": "reads", "write": "writes"}
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
"""Ends of names, and the units that they stand for."""
UNLISTED = ("config", "series", "histograms", "version", "digest", "seed", "command", "timeline")
"""Parts of a result that stand elsewhere, or are figures."""


@dataclass(frozen=True)
class Place:
    """A figure of a result: what it is called, where it stands, its unit, and which is better."""

    name: str
    place: str
    unit: str
    better: Better = None


OTHERS: Mapping[str, tuple[Place, ...]] = {
    "Throughput": (
        Place("requests a second", "iops", "per_s", "high"),
        Place("read", "bandwidth_mb_s.read", "mb_s", "high"),
        Place("written", "bandwidth_mb_s.write", "mb_s", "high"),
    ),
    "Garbage collection": (
        Place("jobs", "gc.jobs", "count"),
        Place("pages moved", "gc.pages_moved", "count", "low"),
        Place("write amplification", "gc.write_amplification", "ratio", "low"),
        Place("a pool's time with a job", "gc.time_share", "share"),
        Place("mean job", "gc.duration_ns.mean", "ns"),
        Place("longest job", "gc.duration_ns.max", "ns"),
        Place("preemptions", "gc.preemptions", "count"),
        Place("suspensions", "gc.suspensions", "count"),
        Place("fewest free blocks of a pool", "gc.free_blocks_min", "count"),
    ),
    "Wear": (
        Place("erases", "flash.erases", "count", "low"),
        Place("erases of a block, mean", "wear.mean", "ratio"),
        Place("standard deviation", "wear.std", "ratio", "low"),
        Place("block erased most often", "wear.max", "count", "low"),
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
        Place("mean response, no page in collection", "cache.response_ns.no_gc.mean", "ns", "low"),
        Place("mean response, a page in collection", "cache.response_ns.gc.mean", "ns", "low"),
    ),
    "Array": (
        Place("drives", "array.drives", "count"),
        Place("read-modify-writes", "array.read_modify_writes", "count"),
        Place("reconstruct-writes", "array.reconstruct_writes", "count"),
        Place("full writes", "array.full_writes", "count"),
        Place("pages of parity written", "array.parity_writes", "count", "low"),
        Place("degraded reads", "array.degraded_reads", "count"),
        Place("waits for a row's turn", "array.row_waits", "count"),
    ),
}


@dataclass(frozen=True)
class Cell:
    """A value, as it is shown, its difference against the first run, and whether no other is better."""

    value: Any
    text: str
    difference: str = ""
    best: bool = False


@dataclass(frozen=True)
class Row:
    """A figure of all runs; a run that does not have it has no value."""

    name: str
    place: str
    cells: tuple[Cell, ...]
    compared: bool = False
    """Whether its cells have differences against the first, if only none worth mentioning."""


@dataclass(frozen=True)
class Group:
    """Rows under a heading."""

    title: str
    rows: tuple[Row, ...]


def summary(runs: Runs) -> list[Group]:
    """The rows that any run has a value for other than zero."""
    places = {
        f"Response times, {name}": tuple(Place(title, f"latency_ns.{kind}.{key}", "ns", "low") for key, title in LATENCIES.items())
        for kind, name in KINDS.items()
        if kind != "all" or all(any(run.at(f"latency_ns.{one}") for run in runs) for one in ("read", "write"))
    }
    groups = [Group(title, tuple(_rows(runs, group))) for title, group in {**places, **OTHERS}.items()]
    return [group for group in groups if group.rows]


def everything(runs: Runs) -> list[Row]:
    """Every number and text of the results but configurations and what is drawn."""
    places = dict.fromkeys(
        place for run in runs for place, _ in leaves({key: value for key, value in run.data.items() if key not in UNLISTED})
    )
    return [Row(place, place, tuple(Cell(run.at(place), shown(run.at(place), _unit(place))) for run in runs)) for place in places]


def verdict(runs: Runs) -> str:
    """The outcome in a sentence: how long requests took, and under which scheme they took the least time."""
    shared, told = "", 0
    for place, what in (("latency_ns.all.p99", "p99 response time"), ("latency_ns.all.mean", "mean response time")):
        row = next(iter(_rows(runs, (Place(what, place, "ns", "low"),))), None)
        told = max(told, sum(cell.value is not None for cell in row.cells) if row else 0)
        winners = [(run.label, cell) for run, cell in zip(runs, row.cells, strict=True) if cell.best] if row else []
        if len(winners) == 1:
            label, cell = winners[0]
            against = f", {cell.difference} against {runs[0].label}" if cell.difference else ""
            return f"{label} has the shortest {what}: {cell.text}{against}."
        if winners and not shared:
            labels = [label for label, _ in winners]
            shared = f"{', '.join(labels[:-1])} and {labels[-1]} have the shortest {what}: {winners[0][1].text}."
    if len(runs) == 1 or shared:
        return shared
    return "The schemes have the same response times." if told == len(runs) else "There are no response times of all schemes to compare."


def _rows(runs: Runs, places: tuple[Place, ...]) -> Iterator[Row]:
    for place in places:
        values = [run.at(place.place) for run in runs]
        if any(values):
            yield Row(place.name, place.place, tuple(_cells(place, values)), compared=True)


def _cells(place: Place, values: list[Any]) -> Iterator[Cell]:
    best = _best(place.better, values)
    for index, value in enumerate(values):
        difference = _difference(place.unit, values[0], value) if index else ""
        yield Cell(value, shown(value, place.unit), difference, index in best)


def _best(better: Better, values: list[Any]) -> set[int]:
    """Which values no other is better than, but for ties; none if all are as good."""
    having = {index: value for index, value in enumerate(values) if value is not None}
    if better is None or len(having) < 2:
        return set()
    best = (min if better == "low" else max)(having.values())
    winners = {index for index, value in having.items() if abs(value - best) <= TIE * abs(best)}
    return winners if len(winners) < len(having) else set()


def _difference(unit: str, first: Any, value: Any) -> str:
    """In percent of the first; of shares in points."""
    if first is None or value is None or (unit != "share" and not first):
        return ""
    if unit == "share":
        points = (value - first) * 100
        return "" if round(points, 1) == 0 else f"{points:+.1f} points".replace("-", "\N{MINUS SIGN}")
    percent = (value / first - 1) * 100
    if percent >= 1000:
        return f"\N{MULTIPLICATION SIGN} {value / first:,.0f}"
    return "" if round(percent, 1) == 0 else f"{percent:+.1f} %".replace("-", "\N{MINUS SIGN}")


def _unit(place: str) -> str:
    """The unit of a figure, from the names on its path."""
    names = place.split(".")
    ends = [*reversed(names[:-1])]
    for name in [names[-1], *ends]:
        unit = next((unit for end, unit in UNITS.items() if name.endswith(end)), None)
        if unit:
            return "count" if names[-1] in ("count", "cv", "variance") else unit
    return "share" if names[0] == "utilisation" else "count"


def shown(value: Any, unit: str) -> str:
    """A value with its unit, as people write it."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ", ".join(shown(entry, unit) for entry in value) if isinstance(value, list | tuple) else str(value)
    simple = {
        "ns": lambda: duration(value).replace(" us", " µs"),
        "share": lambda: f"{value * 100:.2f} %",
        "per_s": lambda: f"{value:,.0f}/s",
        "mb_s": lambda: f"{value:,.1f} MB/s",
        "s": lambda: f"{value:,.3g} s",
        "mb": lambda: f"{value:,.1f} MB",
        "bytes": lambda: f"{value:,} bytes",
    }
    return simple[unit]() if unit in simple else number(value)


def of_run(run: Run) -> str:
    """What `ssdlab run` says of a result in a line."""
    latency = run.at("latency_ns.all")
    count = sum(run.data["requests"].values())
    times = f", mean response time {shown(latency['mean'], 'ns')}, p99 {shown(latency['p99'], 'ns')}" if latency else ""
    return f"{count:,} {'request' if count == 1 else 'requests'}{times}."
