"""The tables of a comparison of variants or schemes, also over several seeds."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from rich.console import RenderableType
from rich.text import Text

from ssdlab.analysis.differences import Change, in_words
from ssdlab.analysis.remarks import Remark, Shown, replays, shown
from ssdlab.pages.tables.layout import new_table, titled
from ssdlab.pages.tables.numbers import FACTOR, duration, number, relative_text, share, significant, three, time_of
from ssdlab.pages.tables.runs import CLASSES, RunData, blocks_line, capacity_of, remark_lines, setup_lines, timeline_line

if TYPE_CHECKING:
    from ssdlab.analysis.uncertainty import Estimate

__all__ = [
    "DISAGREE",
    "SEED_COLUMNS",
    "change_table",
    "comparison_tables",
    "disagreeing",
    "figures_asked",
    "marked",
    "value_of",
    "with_interval",
]


NOTHING: Mapping[str, str] = MappingProxyType({})


class Seeded(Protocol):
    """Runs of variants under several seeds (`SeedRuns`)."""

    @property
    def seeds(self) -> Sequence[int]:
        """The seeds, the same for all variants."""

    @property
    def runs(self) -> Mapping[str, Mapping[int, RunData]]:
        """Results by label and seed."""

    @property
    def against(self) -> str:
        """The label of the variant that the others are compared with."""

    @property
    def estimates(self) -> Mapping[str, Mapping[str, Estimate]]:
        """The mean over seeds, by label and path in a result."""

    @property
    def differences(self) -> Mapping[str, Mapping[str, Estimate]]:
        """The relative difference from the first variant, by label and path."""

    @property
    def differ(self) -> bool:
        """Whether results differ between seeds."""


class Compared(Protocol):
    """The results of variants of a run (`Comparison`)."""

    @property
    def title(self) -> str:
        """A line with what all runs have in common."""

    @property
    def seeds(self) -> Seeded | None:
        """The runs under all seeds; `None` for one seed."""

    @property
    def paired(self) -> Mapping[str, Mapping[str, Any]]:
        """The comparison of each variant's requests with the same ones of the first, by label."""

    @property
    def remarks(self) -> Sequence[Remark]:
        """Remarks that qualify the numbers."""

    @property
    def variants(self) -> Mapping[str, Any]:
        """What each variant was given; empty for schemes."""

    @property
    def half_widths(self) -> Mapping[str, Mapping[str, float]]:
        """Half widths of the 95 % intervals of relative differences from the first variant, by label and path, where they are known."""

    @property
    def changes(self) -> Mapping[str, Sequence[Change]]:
        """What each variant changes against the first, by label."""

    def outcome(self, figure: str) -> str:
        """The best variant by a figure in words; empty if there is none."""

    def items(self) -> Iterable[tuple[str, RunData]]:
        """Labels and results."""


def comparison_table(runs: Mapping[str, RunData], told: Shown, kind: str, wanted: Mapping[str, str] = NOTHING) -> RenderableType:
    """A row for each run, with letters of remarks after the numbers. Times are response times of all requests.

    Args:
        runs: results by label.
        told: the remarks.
        kind: what the runs are.
        wanted: further figures: paths by heading.
    """
    cached = any("cache" in result for result in runs.values())
    loaded = any("capacity" in result for result in runs.values())
    # Of closed loops in a given time each serves as many requests as it can, so that numbers of jobs alone mislead.
    rates = [result.get("iops") or 0.0 for result in runs.values()]
    faster = max(rates) > RATES_DIFFER * min(rates)
    columns = [
        kind,
        "mean",
        "p99",
        "p99.9",
        "max",
        "write amplification",
        "GC jobs",
        *wanted,
        *(["IOPS"] if faster else []),
        *(["hit ratio"] if cached else []),
        *(["capacity"] if loaded else []),
    ]
    table = new_table(columns)
    for label, result in runs.items():
        latency = result.get("latency_ns", {}).get("all", {})
        gc = result.get("gc", {})
        table.add_row(
            _headed(label, told),
            *(marked(time_of(latency, column), told, f"latency_ns.all.{column}", label) for column in ("mean", "p99", "p99_9", "max")),
            marked(number(float(gc["write_amplification"])), told, "gc.write_amplification", label) if "write_amplification" in gc else "-",
            marked(number(gc.get("jobs", 0)), told, "gc.jobs", label),
            *(marked(value_of(place, _at(result, place)), told, place, label) for place in wanted.values()),
            *([marked(three(result["iops"]) if result.get("iops") else "-", told, "iops", label)] if faster else []),
            *([_hit_ratio(result)] if cached else []),
            *([marked(capacity_of(result), told, "capacity", label)] if loaded else []),
        )
    return titled(f"Response times by {kind}", table)


RATES_DIFFER = 1.02
"""Ratio of rates from which on variants served other loads."""


def flows_table(runs: Mapping[str, RunData], kind: str) -> list[RenderableType]:
    """Rate and response times of each flow under each variant; nothing without flows."""
    table = new_table(["flow", kind, "IOPS", "MB/s", "mean", "p99", "max"])
    names = dict.fromkeys(flow["name"] for result in runs.values() for flow in result.get("flows", ()) if any(flow["requests"].values()))
    for name in names:
        shown_name = name
        for label, result in runs.items():
            flow: Mapping[str, Any] = next((flow for flow in result.get("flows", ()) if flow["name"] == name), {})
            latency, bandwidth = flow.get("latency_ns", {}).get("all"), flow.get("bandwidth_mb_s")
            rates = [three(flow["iops"]), three(sum(bandwidth.values()))] if flow.get("iops") and bandwidth else ["-", "-"]
            times = [time_of(latency, column) if latency else "-" for column in ("mean", "p99", "max")]
            table.add_row(shown_name, broken(label), *rates, *times)
            shown_name = ""
    return [titled(f"Flows by {kind}", table)] if names else []


def _headed(label: str, told: Shown) -> str:
    """The label of a row with the letters of warnings about the whole run."""
    letters = [letter for letter, _ in told.of_whole(label)]
    return broken(label) + (f" [{', '.join(letters)}]" if letters else "")


LONGEST_LABEL = 32
"""Width from which on a label is broken into lines, characters."""


def broken(label: str) -> str:
    """A label in lines that leave room for numbers beside it."""
    return label if len(label) <= LONGEST_LABEL else "\n".join(textwrap.wrap(label, LONGEST_LABEL))


def marked(cell: str, told: Shown, place: str, *names: str) -> str:
    """A number with the letters of the warnings about it."""
    return cell if cell == "-" else cell + told.mark(place, *names)


CHANGES = {
    "mean": "latency_ns.all.mean",
    "p99": "latency_ns.all.p99",
    "p99.9": "latency_ns.all.p99_9",
    "max": "latency_ns.all.max",
    "write amplification": "gc.write_amplification",
    "GC jobs": "gc.jobs",
}
"""Figures in the table of differences, with their path in a result."""


def figures_asked(figures: Iterable[str | None], known: Iterable[str]) -> dict[str, str]:
    """The figures that were asked for by `--best`, as their paths by heading, without those that are among the known ones."""
    paths = CHANGES | {"write-amplification": "gc.write_amplification"}
    places = [paths.get(figure, figure) for figure in figures if figure]
    return {_heading(place): place for place in places if place not in known}


def _heading(place: str) -> str:
    part, *names = place.split(".")
    return " ".join(names).replace("_", ".") if part == "latency_ns" else place


def value_of(place: str, value: float | None) -> str:
    """A number of a result as text; `-` if there is none."""
    return "-" if value is None else _in_words(place, value)


def given_lines(found: Mapping[str, Sequence[Change]], first: str) -> list[RenderableType]:
    """A line for each variant but the first, with the options and keys that it changes."""
    lines = [Text(f"{label}: {in_words(differing) or 'nothing, its configuration is the same'}") for label, differing in found.items()]
    return [Text(f"What each variant changes against {first}", style="bold"), *lines, ""]


NO_DIFFERENCE = 0.001
"""Relative difference up to which values are a tie, as in the report."""
OF_ONE_RUN = "±: 95 % interval from 20 parts of each run"
SEEDS_MEASURE = "; --seeds 5 measures it"
TIE = "tie: the interval includes 0, so that the difference may be chance"


def change_table(
    runs: Mapping[str, RunData],
    kind: str = "scheme",
    told: Shown | None = None,
    half_widths: Mapping[str, Mapping[str, float]] | None = None,
    wanted: Mapping[str, str] = NOTHING,
) -> list[RenderableType]:
    """A row for each run but the first, with its differences from the first, and what marks mean.

    Args:
        runs: results by label.
        kind: what the runs are.
        told: the remarks; labels have the letters of warnings about a whole run.
        half_widths: half width of the 95 % interval of a relative difference, by label and path, where it is known.
        wanted: further figures: paths by heading.
    """
    columns = CHANGES | dict(wanted)
    (first, base), *others = runs.items()
    told = told or shown(())
    table = new_table([kind, *columns])
    cells: list[str] = []
    for label, result in others:
        halves = (half_widths or {}).get(label, {})
        changes = {place: _change(_at(result, place), _at(base, place), halves.get(place)) for place in columns.values()}
        table.add_row(_headed(label, told), *changes.values())
        cells += changes.values()
    notes = {"±": OF_ONE_RUN if any(map(replays, runs.values())) else OF_ONE_RUN + SEEDS_MEASURE, "tie": TIE}
    return [titled(f"Change against {first}", table), *(Text(note) for mark, note in notes.items() if any(mark in cell for cell in cells))]


def _at(result: Mapping[str, Any], place: str) -> Any:
    """An entry by its path; `None` if it does not exist."""
    found: Any = result
    for part in place.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _change(value: float | None, base: float | None, half: float | None = None) -> str:
    """A difference in percent, with the half width of its interval if that is known; a tie is marked."""
    if value is None or base is None:
        return "-"
    if value == base:
        return "same"
    if base == 0:
        return "-"
    ratio = value / base
    if abs(ratio - 1) < NO_DIFFERENCE / 2:
        return f"{'+' if ratio > 1 else '-'}<0.1%"
    written = relative_text(ratio, half if ratio < FACTOR else None)
    return f"tie ({written})" if half is not None and abs(ratio - 1) <= max(half, NO_DIFFERENCE) else written


KINDS = {"read": "reads", "write": "writes", "flush": "flushes"}
SUSPENDED = {
    "by gc.suspend": ("gc.suspensions",),
    "by scheduler.suspend": ("counters.suspended_programs", "counters.suspended_erases"),
}
"""Headings of suspensions of either way, with the paths that add up to their number."""


def kinds_table(runs: Mapping[str, RunData], told: Shown, kind: str = "scheme") -> list[RenderableType]:
    """Means, p99 and its change against the first run, of each kind of requests, and suspensions; nothing for one kind of requests."""
    kinds = [one for one in KINDS if any(_at(result, f"latency_ns.{one}") for result in runs.values())]
    if len(kinds) < 2:
        return []
    suspended = {name: places for name, places in SUSPENDED.items() if any(_sum(result, places) for result in runs.values())}
    changes = ["change"] if len(runs) > 1 else []
    table = new_table([kind, *(head for one in kinds for head in (f"{one} mean", f"{one} p99", *changes)), *suspended])
    base = next(iter(runs.values()))
    for label, result in runs.items():
        cells = [cell for one in kinds for cell in _of_kind(result, base, told, label, one)[: 2 + len(changes)]]
        table.add_row(broken(label), *cells, *(number(_sum(result, places)) for places in suspended.values()))
    *names, last = [*(KINDS[one] for one in kinds), *(["suspensions"] if suspended else [])]
    return [titled(f"{', '.join(names).capitalize()} and {last} by {kind}", table)]


def _of_kind(result: RunData, base: RunData, told: Shown, label: str, kind: str) -> tuple[str, str, str]:
    """Mean and p99 of one kind of requests, and the change of p99 against the first run."""
    row, place = _at(result, f"latency_ns.{kind}") or {}, f"latency_ns.{kind}.p99"
    change = "" if result is base else _change(row.get("p99"), _at(base, place))
    return marked(time_of(row, "mean"), told, f"latency_ns.{kind}.mean", label), marked(time_of(row, "p99"), told, place, label), change


def _sum(result: RunData, places: Sequence[str]) -> int:
    return sum(_at(result, place) or 0 for place in places)


def _identities(runs: Mapping[str, RunData]) -> list[RenderableType]:
    """Seed and digests, which identify a comparison, and the speed of the simulator."""
    seeds = ", ".join(dict.fromkeys(str(result["seed"]) for result in runs.values() if "seed" in result))
    digests = ", ".join(f"{label} {result['digest'][:16]}" for label, result in runs.items() if "digest" in result)
    known = {label: result["requests_per_s"] for label, result in runs.items() if "requests_per_s" in result}
    speeds = ", ".join(f"{label} {three(speed)} requests/s" for label, speed in known.items())
    lines = [f"Seed {seeds}, digests: {digests}"] if digests else []
    return [Text(line) for line in [*lines, *([f"Simulator speed: {speeds}"] if speeds else [])]]


def _hit_ratio(result: RunData) -> str:
    cache = result.get("cache", {})
    return share(cache["hit_ratio"], digits=2) if "hit_ratio" in cache else "-"


def comparison_tables(comparison: Compared, figures: Sequence[str] = ()) -> list[RenderableType]:
    """The output of `ssdlab compare`: a row for each variant, requests one by one if logged, the best by each of `figures`, and remarks."""
    runs, kind = dict(comparison.items()), "variant" if comparison.variants else "scheme"
    title: list[RenderableType] = [Text(comparison.title, style="bold"), ""] if comparison.title else []
    told = shown(comparison.remarks)
    given = given_lines(comparison.changes, next(iter(runs))) if comparison.variants and len(runs) > 1 else []
    wanted = figures_asked(figures, CHANGES.values())
    changes = change_table(runs, kind, told, comparison.half_widths, wanted) if len(runs) > 1 and comparison.seeds is None else []
    tables = (
        [comparison_table(runs, told, kind, wanted), *changes, *kinds_table(runs, told, kind), *flows_table(runs, kind)]
        if comparison.seeds is None
        else seed_tables(comparison.seeds, told, kind, figures)
    )
    paired = [paired_table(next(iter(runs)), comparison.paired, kind)] if comparison.paired else []
    best = [_best_line(comparison.outcome(figure), figure) for figure in figures]
    timelines = [line for label, result in runs.items() for line in _recorded(result, f" of {label}")]
    others = [*_setups(runs), *timelines, *remark_lines(told)]
    return [*title, *given, *tables, *paired, *_identities(runs), *best, *others]


def _setups(runs: Mapping[str, RunData]) -> list[RenderableType]:
    """What was fitted, left out and read: lines of all runs, each with the runs that it is about, if it is not about all."""
    found: dict[str, list[str]] = {}
    for label, result in runs.items():
        for line in setup_lines(result):
            found.setdefault(line, []).append(label)
    return [Text(line if len(labels) == len(runs) else f"{', '.join(labels)}: {line}") for line, labels in found.items()]


def _best_line(outcome: str, figure: str) -> RenderableType:
    """The best variant by a figure in words."""
    return Text(outcome.replace("µs", "us") or f"No run has {figure}, so that none is the best by it.", style="bold")


SEED_COLUMNS = {
    "latency_ns.all.mean": "mean",
    "latency_ns.all.p99": "p99",
    "latency_ns.all.p99_9": "p99.9",
    "gc.write_amplification": "write amplification",
}
"""Figures that are shown with their interval: heading by path in a result."""


def seed_tables(runs: Seeded, told: Shown, kind: str = "scheme", wanted: Sequence[str] = ()) -> list[RenderableType]:
    """Means over seeds with letters of remarks, and differences from the first variant, both with their intervals.

    Args:
        runs: the runs.
        told: the remarks.
        kind: what the runs are.
        wanted: further figures to show.
    """
    seeds = f"{len(runs.seeds)} seeds ({runs.seeds[0]} to {runs.seeds[-1]})"
    apart = {f"latency_ns.{one}.p99": f"{one} p99" for one in KINDS}
    given = {place: name for place, name in apart.items() if any(place in figures for figures in runs.estimates.values())}
    columns = SEED_COLUMNS | (given if len(given) > 1 else {})
    columns |= {place: name for name, place in figures_asked(wanted, columns).items()}
    means = new_table([kind, *columns.values()])
    for label, figures in runs.estimates.items():
        means.add_row(_headed(label, told), *(marked(with_interval(place, figures.get(place)), told, place, label) for place in columns))
    changes = new_table([kind, *columns.values()])
    for label, figures in runs.differences.items():
        changes.add_row(_headed(label, told), *(_change_over_seeds(figures.get(place)) for place in columns))
    missing = [label for label in runs.runs if label not in runs.estimates]
    return [
        titled(f"Response times by {kind}: mean over {seeds} ± 95 % interval", means),
        *([titled(f"Change against {runs.against}, seed by seed ± 95 % interval", changes)] if runs.differences else []),
        *([Text(TIE)] if _has_tie(runs, columns) else []),
        *_disagreements(runs, columns),
        *([Text(f"Without all seeds, hence without intervals: {', '.join(missing)}", style="bold red")] if missing else []),
    ]


def _has_tie(runs: Seeded, columns: Mapping[str, str]) -> bool:
    shown = [figures[place] for figures in runs.differences.values() for place in columns if place in figures]
    return any(of.is_tie and not of.disagree for of in shown)


def _disagreements(runs: Seeded, columns: Mapping[str, str]) -> list[RenderableType]:
    """The values under each seed, if their mean would mislead."""
    values = [f"{label}, {line}" for label, figures in runs.estimates.items() for line in disagreeing(figures, columns)]
    changes = [
        f"{label} against {runs.against}, {columns[place]}: {', '.join(relative_text(1 + change) for change in figures[place].values)}"
        for label, figures in runs.differences.items()
        for place in columns
        if place in figures and figures[place].disagree
    ]
    if not values and not changes:
        return []
    return [Text(f"{DISAGREE} The values under seeds {runs.seeds[0]} to {runs.seeds[-1]}:", style="yellow"), *map(Text, values + changes)]


DISAGREE = "Seeds disagree: a mean with an interval would mislead, and differences are not judged."


def disagreeing(figures: Mapping[str, Estimate], columns: Mapping[str, str] = SEED_COLUMNS) -> list[str]:
    """A line for each figure about which the seeds disagree, with its value under each of them."""
    having = {place: figures[place] for place in columns if place in figures and figures[place].disagree}
    return [f"{columns[place]}: {', '.join(_in_words(place, value) for value in of.values)}" for place, of in having.items()]


def _in_words(place: str, value: float) -> str:
    return duration(value) if "_ns" in place else significant(value)


def with_interval(place: str, estimate: Estimate | None) -> str:
    """A mean with its half width, in one unit and with sufficient digits; the median if the seeds disagree."""
    if estimate is None:
        return "-"
    if estimate.disagree:
        return f"median {_in_words(place, estimate.median)}"
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
    """A relative difference in percent with its half width; ties, and differences that seeds disagree about, are marked."""
    if estimate is None:
        return "-"
    if estimate.disagree:
        return "not judged"
    if not any(estimate.values):
        return "same"
    shown = relative_text(1 + estimate.mean, estimate.half)
    return f"tie ({shown})" if estimate.is_tie else shown


def paired_table(base: str, paired: Mapping[str, Mapping[str, Any]], kind: str) -> RenderableType:
    """A row for each variant and kind of requests, from the comparison one by one."""
    table = new_table([kind, "requests", "count", "faster", "by (mean)", "slower", "by (mean)", "unchanged"])
    for label, kinds in paired.items():
        for of, row in kinds.items():
            shares = {name: share(row[name]) for name in ("faster", "slower", "same")}
            gain, loss = (time_of(row, key) for key in ("gain_ns", "loss_ns"))
            table.add_row(
                broken(label), CLASSES[of], number(row["requests"]), shares["faster"], gain, shares["slower"], loss, shares["same"]
            )
    return titled(f"The same requests, one by one, against {base}", table, keys=2)


def _recorded(result: RunData, whose: str) -> list[RenderableType]:
    return [*timeline_line(result, whose), *blocks_line(result, whose)]
