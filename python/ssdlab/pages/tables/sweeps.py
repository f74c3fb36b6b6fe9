"""The table of a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any, Protocol

from rich.console import RenderableType
from rich.text import Text

from ssdlab.analysis.remarks import Remark, Shown, named, shown
from ssdlab.pages.tables.comparisons import DISAGREE, SEED_COLUMNS, disagreeing, figures_asked, marked, value_of, with_interval
from ssdlab.pages.tables.layout import Captioned, new_table, titled
from ssdlab.pages.tables.numbers import number, three, time_of
from ssdlab.pages.tables.runs import RunData, capacity_of, remark_lines

if TYPE_CHECKING:
    from ssdlab.analysis.uncertainty import Estimate

__all__ = [
    "sweep_tables",
]


class SweptPoint(Protocol):
    """A point of a sweep (`SweepPoint`)."""

    @property
    def values(self) -> Mapping[str, Any]:
        """Values of the axes, by axis."""

    @property
    def result(self) -> RunData:
        """The result of the run."""

    @property
    def measures(self) -> Mapping[str, float]:
        """The simulated numbers of the result by path."""


class Averaged(Protocol):
    """Points of a sweep as one."""

    @property
    def values(self) -> Mapping[str, Any]:
        """Values of the axes that they have in common, by axis."""

    @property
    def estimates(self) -> Mapping[str, Estimate]:
        """Mean over them, by path in a result."""


class SweptMean(Averaged, Protocol):
    """A point of a sweep over its seeds (`SweepMean`)."""

    @property
    def seeds(self) -> Sequence[int]:
        """Seeds of the finished runs."""


class SweptParts(Averaged, Protocol):
    """A point of a sweep over traces, or over parts of one (`PartMean`)."""

    @property
    def parts(self) -> int:
        """Number of parts."""


class Answered(Protocol):
    """The answers to a question (`Answers`)."""

    @property
    def title(self) -> str:
        """The question."""

    @property
    def heads(self) -> Sequence[str]:
        """Headings of the columns."""

    @property
    def rows(self) -> Sequence[Sequence[str]]:
        """A row for each answer."""

    @property
    def notes(self) -> Sequence[str]:
        """What to know beside the rows."""


class Swept(Protocol):
    """The results of a sweep (`SweepResult`)."""

    @property
    def axes(self) -> Mapping[str, Sequence[Any]]:
        """The values of each axis."""

    @property
    def points(self) -> Sequence[SweptPoint]:
        """The finished points."""

    @property
    def means(self) -> Sequence[SweptMean]:
        """The points over their seeds; empty without several seeds."""

    @property
    def parts(self) -> Sequence[str]:
        """The axes of traces, and of parts of one."""

    @property
    def part_means(self) -> Sequence[SweptParts]:
        """The points over these axes; empty without them."""

    def answers(self) -> tuple[Sequence[Answered], str]:
        """The answers to each question, and what the rows mean."""

    def outcome(self, figure: str | None = None) -> str:
        """The best point by a figure in words; empty if there is none."""

    @property
    def failed(self) -> Sized:
        """The failed points."""

    @property
    def refused(self) -> Sequence[tuple[Any, Exception]]:
        """Points that cannot be simulated, with the reasons, if the sweep leaves them out."""

    @property
    def dropped(self) -> Mapping[str, int]:
        """Points that screening dropped, with the number of seeds that they have."""

    @property
    def absent(self) -> Mapping[str, str]:
        """Derived columns that no run has, with a reason each."""

    @property
    def remarks(self) -> Sequence[Remark]:
        """Remarks that qualify the numbers; points are named by their values."""

    @property
    def sweep(self) -> Sized:
        """All points of the grid."""


SEED = "seed"
"""The axis over which means are taken."""

POINT_COLUMNS = (*SEED_COLUMNS, "gc.jobs", "iops")
"""Figures of each point in the table, by path."""
POINTS_SHOWN = 40
"""Maximum number of points in the table."""


def sweep_tables(sweep: Swept, figure: str | None = None) -> list[RenderableType]:
    """The output of `ssdlab sweep`: the first points with their values and response times of all requests, and the best by a figure."""
    told = shown(sweep.remarks)
    best = sweep.outcome(figure).replace("µs", "us") if len(sweep.points) > 1 else ""
    last = [
        *_over_parts(sweep, figure),
        *_answers(sweep),
        *([Text(best, style="bold")] if best else []),
        *remark_lines(told),
        *_left_out(sweep),
        *_sweep_failures(sweep),
    ]
    return [*(_sweep_means(sweep, told, figure) if sweep.means else _sweep_points(sweep, told, figure)), *last]


def _sweep_points(sweep: Swept, told: Shown, figure: str | None) -> list[RenderableType]:
    """A row for each of the first points."""
    loaded = any("capacity" in point.result for point in sweep.points)
    asked = figures_asked([figure], POINT_COLUMNS)
    figures = ["mean", "p99", "p99.9", "write amplification", "GC jobs", "throughput", *asked, *(["capacity"] if loaded else [])]
    table, apart = new_table([*sweep.axes, *figures]), new_table(figures)
    captions = []
    for point in sweep.points[:POINTS_SHOWN]:
        latency, gc = point.result.get("latency_ns", {}).get("all", {}), point.result.get("gc", {})
        iops, name = point.result.get("iops"), named(point.values)
        cells = [
            *(marked(time_of(latency, column), told, f"latency_ns.all.{column}", name) for column in ("mean", "p99", "p99_9")),
            marked(number(float(gc["write_amplification"])), told, "gc.write_amplification", name) if "write_amplification" in gc else "-",
            marked(number(gc.get("jobs", 0)), told, "gc.jobs", name),
            f"{three(iops)} IOPS" if iops is not None else "-",
            *(marked(value_of(place, point.measures.get(place)), told, place, name) for place in asked.values()),
            *([marked(capacity_of(point.result), told, "capacity", name)] if loaded else []),
        ]
        table.add_row(*(str(value) for value in point.values.values()), *cells)
        apart.add_row(*cells)
        captions.append(name)
    counts = f"{len(sweep.points):,} of {len(sweep.sweep):,} points"
    more = [Text(f"... and {len(sweep.points) - POINTS_SHOWN:,} more points")] if len(sweep.points) > POINTS_SHOWN else []
    table_of_points = [titled(f"Response times at {counts}", table, Captioned(captions, apart))] if sweep.points else []
    return [*table_of_points, *more]


def _answers(sweep: Swept) -> list[RenderableType]:
    """A table for each question of the sweep."""
    found, about = sweep.answers()
    parts: list[RenderableType] = []
    for question in found:
        table = new_table(question.heads)
        for row in question.rows:
            table.add_row(*row)
        parts += [titled(question.title, table), *map(Text, question.notes), *([""] if question.notes else [])]
    return [*parts, Text(about), ""] if found else []


def _left_out(sweep: Swept) -> list[RenderableType]:
    """What is not in the table: points that were refused or dropped, and columns without a value."""
    lines = [f"column {name}: no run has a value: {reason}" for name, reason in sweep.absent.items()]
    if sweep.refused:
        first = sweep.refused[0][1]
        lines.append(f"left out: {len(sweep.refused):,} of {len(sweep.sweep):,} points cannot be simulated. The first: {first}")
    for seeds in sorted(set(sweep.dropped.values())):
        count = sum(had == seeds for had in sweep.dropped.values())
        lines.append(
            f"screening: {count:,} points were dropped after {seeds} seeds, clearly worse than the best of those they compete with"
        )
    return [Text(line, style="yellow") for line in lines]


def _sweep_failures(sweep: Swept) -> list[RenderableType]:
    return [Text(f"failed: {len(sweep.failed):,} of {len(sweep.sweep):,} points", style="bold red")] if sweep.failed else []


def _sweep_means(sweep: Swept, told: Shown, figure: str | None) -> list[RenderableType]:
    """A row for each of the first points, over its seeds."""
    asked = len(sweep.axes[SEED])
    fewer = any(len(point.seeds) < asked for point in sweep.means)
    loaded = any("capacity" in point.result for point in sweep.points)
    figures = SEED_COLUMNS | {place: name for name, place in figures_asked([figure], SEED_COLUMNS).items()}
    columns = [*([SEED] if fewer else []), *figures.values(), *(["capacity"] if loaded else [])]
    table, apart = new_table([*sweep.means[0].values, *columns]), new_table(columns)
    captions = []
    for point in sweep.means[:POINTS_SHOWN]:
        seeds = [f"{len(point.seeds)} of {asked}"] if fewer else []
        runs = [other for other in sweep.points if all(other.values.get(axis) == at for axis, at in point.values.items())]
        names = [named(other.values) for other in runs]
        cells = [*seeds, *(marked(with_interval(place, point.estimates.get(place)), told, place, *names) for place in figures)]
        cells += [marked(capacity_of(runs[0].result), told, "capacity", *names)] if loaded else []
        table.add_row(*(str(value) for value in point.values.values()), *cells)
        apart.add_row(*cells)
        captions.append(named(point.values))
    counts = f"{len(sweep.points):,} of {len(sweep.sweep):,} runs"
    title = f"Response times: mean over {asked} seeds ± 95 % interval"
    done = Text(f"{len(sweep.means):,} points, {counts}")
    more = len(sweep.means) - POINTS_SHOWN
    rest = [Text(f"... and {more:,} more points")] if more > 0 else []
    return [titled(title, table, Captioned(captions, apart)), *rest, *_disagreements(sweep.means[:POINTS_SHOWN]), done]


def _over_parts(sweep: Swept, figure: str | None) -> list[RenderableType]:
    """A row for each of the first points over traces, or parts of one."""
    if not sweep.part_means:
        return []
    columns = SEED_COLUMNS | {place: name for name, place in figures_asked([figure], SEED_COLUMNS).items()}
    table = new_table([*sweep.part_means[0].values, *columns.values()])
    for point in sweep.part_means[:POINTS_SHOWN]:
        table.add_row(*map(str, point.values.values()), *(with_interval(place, point.estimates.get(place)) for place in columns))
    count = max(point.parts for point in sweep.part_means)
    return [*([""] if sweep.means else []), titled(f"Mean over {count} values of {', '.join(sweep.parts)} ± 95 % interval", table)]


LINES_SHOWN = 10
"""Maximum number of lines on seeds that disagree."""


def _disagreements(means: Sequence[SweptMean]) -> list[RenderableType]:
    """The values under each seed, if their mean would mislead."""
    lines = [
        f"{named(point.values)}, {line}{_groups(point.estimates[place])}"
        for point in means
        for place in SEED_COLUMNS
        for line in (disagreeing({place: point.estimates[place]}) if place in point.estimates else [])
    ]
    if not lines:
        return []
    more = len(lines) - LINES_SHOWN
    rest = [Text(f"... and {more:,} more: results.csv has every run")] if more > 0 else []
    return [Text(f"{DISAGREE} The values under each seed:", style="yellow"), *map(Text, lines[:LINES_SHOWN]), *rest]


def _groups(estimate: Estimate) -> str:
    """How many seeds are in either of two groups, if they form two."""
    return "" if estimate.groups is None else f" (two groups: {' and '.join(str(len(group)) for group in estimate.groups)} seeds)"
