"""What a sweep found by one figure: the best point, and the differences along each axis, with intervals over seeds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ssdlab.analysis.remarks import named, replays
from ssdlab.analysis.uncertainty import Estimate, relative_differences
from ssdlab.asking.plans import value_text
from ssdlab.experiments.sweeping.doubts import doubt, no_repeats, too_few
from ssdlab.experiments.sweeping.points import SAME_RATE, SweepMean
from ssdlab.pages.report.leader import SHORT, known_figure
from ssdlab.pages.report.runs import Run
from ssdlab.pages.report.summary import Place, few, percent, shown, within
from ssdlab.pages.report.words import described

__all__ = [
    "SHORT",
    "Best",
    "Change",
    "Pairs",
    "best",
    "by_load",
    "by_workload",
    "differ",
    "difference",
    "groups_in_words",
    "headline",
    "in_words",
    "known_figure",
    "outcome",
    "relative",
]

MOST_LOADS = 4
"""Maximum number of workloads in a headline."""
ONE_RATE = "load_of compares at one rate"
FEW_POINTS = 20
"""Number of points up to which the best of them is hardly flattered by chance."""


@dataclass(frozen=True)
class Best:
    """The best point by a figure, and the next."""

    point: SweepMean
    next: SweepMean | None
    """The second best; `None` for the only point with the figure."""
    difference: Estimate | None
    """Relative difference of the next point from the best, seed by seed; `None` if the figure of the best is 0."""
    differs: bool | None
    """Whether the next point differs beyond the interval; `None` if it is not known: one seed, seeds that disagree, or `doubt`."""
    others: int
    """Number of other points."""
    alike: int
    """Number of other points that are not known to differ from the best beyond their intervals."""
    doubt: str = ""
    """Why the difference is not judged: seeds that change nothing, or too few independent requests for a percentile; empty if it is."""
    offered: tuple[float, float] | None = None
    """Lowest and highest rate offered to the points, requests/s; `None` if it is one rate, or no load is a share of what drives sustain."""


@dataclass(frozen=True)
class Change:
    """A value of an axis against the first one: the relative difference over all other axes and seeds."""

    axis: str
    value: Any
    estimate: Estimate
    """Over workloads, each with the mean over all pairs of points; of one workload over seeds; with one seed, over the pairs."""
    least: float
    """The smallest difference of a pair, over its seeds."""
    most: float
    pairs: int
    """Number of pairs of points that differ in this axis only."""
    left_out: int
    """Number of further pairs without a relative difference, since the figure is 0 or absent."""
    doubt: str = ""
    """Why the difference is not judged, as for questions; empty if it is."""

    @property
    def differs(self) -> bool | None:
        """Whether the difference exceeds its interval; `None` if it is not known."""
        return None if self.doubt else _is_apart(self.estimate)


def best(points: Sequence[SweepMean], place: Place) -> Best | None:
    """The best point by a figure; `None` if no point has it. Of equal points the first is the best."""
    having = [point for point in points if place.place in point.estimates]
    having.sort(key=lambda point: point.estimates[place.place].centre, reverse=place.better == "high")
    if not having:
        return None
    first, *others = having
    doubts = [no_repeats(place.place, runs) or too_few(place.place, runs) for runs in ([first.runs, other.runs] for other in others)]
    apart = [None if doubt else differ(first, other, place.place) for doubt, other in zip(doubts, others, strict=True)]
    return Best(
        point=first,
        next=others[0] if others else None,
        difference=difference(first, others[0], place.place) if others else None,
        differs=apart[0] if apart else None,
        others=len(others),
        alike=sum(not differs for differs in apart),
        doubt=doubts[0] if doubts else "",
        offered=_offered(having),
    )


def _offered(points: Sequence[SweepMean]) -> tuple[float, float] | None:
    """Lowest and highest offered rate at one load that is a share of what each point sustains, requests/s, where they differ most.

    `None` if rates differ by the load and number of requests alone.
    """
    rates: dict[tuple[float, Any], list[float]] = {}
    for point in points:
        for run in point.runs:
            if run.share_of_own is not None:
                load, rate = run.share_of_own
                rates.setdefault((load, run.values.get("requests")), []).append(rate)
    low, high = max(((min(of), max(of)) for of in rates.values()), key=lambda ends: ends[1] / ends[0], default=(1.0, 1.0))
    return (low, high) if high > low * SAME_RATE else None


def difference(base: SweepMean, other: SweepMean, place: str) -> Estimate | None:
    """The relative difference of a figure between two points, seed by seed; `None` if it is 0 in `base`, or they share no seed."""
    before, after = _shared(base, other, place)
    return relative_differences([{place: value} for value in before], [{place: value} for value in after]).get(place) if before else None


def _shared(base: SweepMean, other: SweepMean, place: str) -> tuple[list[float], list[float]]:
    """The values of a figure at two points, of the seeds that both have."""
    later = dict(zip(other.seeds, other.estimates[place].values, strict=True))
    pairs = [(value, later[seed]) for seed, value in zip(base.seeds, base.estimates[place].values, strict=True) if seed in later]
    return [value for value, _ in pairs], [value for _, value in pairs]


def differ(base: SweepMean, other: SweepMean, place: str) -> bool | None:
    """Whether two points differ beyond the interval of their difference; `None` if it is not known."""
    before, after = _shared(base, other, place)
    found = difference(base, other, place)
    if found is None and before:  # relative to 0
        found = Estimate.of([late - early for early, late in zip(before, after, strict=True)])
    return None if found is None else _is_apart(found)


def _is_apart(estimate: Estimate) -> bool | None:
    return None if estimate.half is None or estimate.disagree else not estimate.is_tie


# ---- along the axes ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pairs:
    """The pairs of points along the axes of a sweep, found once for all figures."""

    points: Sequence[SweepMean]
    axes: Mapping[str, Sequence[Any]]
    loads: Sequence[str] = ()
    """Axes of workloads."""

    @cached_property
    def _found(self) -> list[tuple[str, Any, list[tuple[SweepMean, SweepMean]]]]:
        """For each axis and each of its values but the first: the points with this value, each with that of the first."""
        found: list[tuple[str, Any, list[tuple[SweepMean, SweepMean]]]] = []
        for axis, (first, *values) in self.axes.items():
            at: dict[str, dict[str, SweepMean]] = {}
            for point in self.points:
                rest = value_text({key: value for key, value in point.values.items() if key != axis})
                at.setdefault(value_text(point.values[axis]), {})[rest] = point
            base = at.get(value_text(first), {})
            for value in values:
                others = at.get(value_text(value), {})
                found.append((axis, value, [(base[rest], other) for rest, other in others.items() if rest in base]))
        return found

    def changes(self, place: str) -> Iterator[Change]:
        """The differences of a figure along all axes. Without a pair there is none."""
        for axis, value, pairs in self._found:
            having = [(base, other, found) for base, other in pairs if (found := _relative(base, other, place)) is not None]
            if having:
                told = [found for _, _, found in having]
                means = [math.fsum(values) / len(values) for _, values in told]
                across = [load for load in self.loads if load != axis]
                workloads = [value_text({load: base.values[load] for load in across}) for base, _, _ in having]
                sides = [of.runs for base, other, _ in having for of in (base, other)]
                alike = no_repeats(place, sides) if len(set(workloads)) == 1 else ""
                why = alike or doubt(place, [run for runs in sides for run in runs], across)
                over = _over_all(told, means, workloads)
                yield Change(axis, value, over, min(means), max(means), len(told), len(pairs) - len(told), why)


def _relative(base: SweepMean, other: SweepMean, place: str) -> tuple[tuple[int, ...], list[float]] | None:
    """The seeds of two points and the relative difference of a figure under each; `None` without the figure, or if it is 0 in `base`."""
    if place not in base.estimates or place not in other.estimates:
        return None
    seeds = tuple(seed for seed in base.seeds if seed in other.seeds)
    before, after = _shared(base, other, place)
    return (seeds, [late / early - 1 for early, late in zip(before, after, strict=True)]) if seeds and all(before) else None


def _over_all(pairs: Sequence[tuple[tuple[int, ...], Sequence[float]]], means: Sequence[float], workloads: Sequence[str]) -> Estimate:
    """The mean over pairs of points, from the seeds and the differences of each, their means and their workloads.

    Its interval is over what is random, and not over points, which were chosen. With several workloads it is over their means, as that of
    a question. With one it is over seeds: all pairs have their seeds in common, so the mean over them under one seed is one value. With one
    seed, or if runs are missing, the interval is over the pairs; it then says how evenly the difference holds over the other axes.
    """
    seeds = {seeds for seeds, _ in pairs}
    values = means
    if len(set(workloads)) > 1:
        of_load = [[mean for mean, own in zip(means, workloads, strict=True) if own == load] for load in dict.fromkeys(workloads)]
        values = [math.fsum(of) / len(of) for of in of_load]
    elif len(seeds) == 1 and len(next(iter(seeds))) > 1:
        values = [math.fsum(of_seed) / len(pairs) for of_seed in zip(*(values for _, values in pairs), strict=True)]
    return Estimate.of(values, least=-1.0 if min(values) >= -1 else -math.inf)


# ---- words -------------------------------------------------------------------------------------------------------------


def in_words(estimate: Estimate, unit: str) -> str:
    """A mean with its interval, `1.69 ± 0.12 ms`, or what the seeds have if they disagree."""
    if not estimate.disagree:
        return within(estimate.mean, estimate.half or 0.0, unit)
    low, high = (shown(end, unit) for end in (min(estimate.values), max(estimate.values)))
    return f"median {shown(estimate.median, unit)} ({low} to {high})"


def relative(estimate: Estimate) -> str:
    """A relative difference with its interval, in percent or as a factor; empty if seeds disagree about it."""
    told = "" if estimate.disagree else percent(estimate.mean, estimate.half) or "0.0 %"
    within = f" ± {estimate.half:,.1f}" if estimate.half and told.startswith("\N{MULTIPLICATION SIGN}") else ""
    return f"0.0 ± {100 * estimate.half:.1f} %" if estimate.half and told == "0.0 %" else told + within


def groups_in_words(estimate: Estimate, unit: str) -> str:
    """How seeds disagree: the two groups of their values, or all of them."""
    if estimate.groups is None:
        return f"an interval would reach below what can be: {', '.join(shown(value, unit) for value in estimate.values)}"
    told = (f"{len(group)} near {shown(Estimate.of(group).median, unit)}" for group in estimate.groups)
    return f"two groups of seeds, {' and '.join(told)}"


def outcome(found: Best | None, place: Place, marks: str = "") -> str:
    """The best point in words, with the next one and whether they differ; empty without a point. `marks` are letters of remarks."""
    if found is None:
        return ""
    of, run = found.point.estimates[place.place], Run("", 0, found.point.runs[0].result)
    which = "highest" if place.better == "high" else "lowest"
    doubt = few(run, place.place)
    label = described(place.place).label
    head = f"The only point, {label}:" if found.next is None else f"Best by {label} ({which}): {named(found.point.values)},"
    text = f"{head} {in_words(of, place.unit)}{marks}{f' (few: {doubt})' if doubt else ''}."
    if found.next is None:
        return text
    later = named(found.next.values)
    if found.next.estimates[place.place].values == of.values:
        return f"{text} The same: {later}{_alike(found)}{_rates(found)}"
    return f"{text} Next: {later}, {in_words(found.next.estimates[place.place], place.unit)}{_judgement(found)}{_rates(found)}"


def headline(points: Sequence[SweepMean], place: Place, loads: Sequence[str]) -> str:
    """The best point in one sentence, for each combination of values of `loads`; empty if no point has the figure."""
    found = [(values, first) for values, group in by_load(points, loads).items() if (first := best(group, place)) is not None]
    told = [_named_best(values, first, place, loads) for values, first in found[:MOST_LOADS]]
    more = [f"{len(found) - MOST_LOADS} more below"] if len(found) > MOST_LOADS else []
    which = "Highest" if place.better == "high" else "Lowest"
    return f"{which} {described(place.place).label}: {'; '.join([*told, *more])}." if told else ""


def by_workload(points: Sequence[SweepMean], place: Place, loads: Sequence[str]) -> str:
    """The best point of each workload; empty if there is nothing to choose among. A workload is none of the options."""
    found = [(values, first) for values, group in by_load(points, loads).items() if (first := best(group, place)) is not None]
    if not any(first.next for _, first in found):
        return ""
    apart = max((first.offered for _, first in found if first.offered), key=lambda ends: ends[1] / ends[0], default=None)
    rates = "" if apart is None else f" Points of a workload were offered rates up to {apart[1] / apart[0] - 1:.0%} apart; {ONE_RATE}."
    if len(found) <= MOST_LOADS:
        return headline(points, place, loads) + rates
    names = Counter(_option(first, loads) for _, first in found)
    which = "highest" if place.better == "high" else "lowest"
    told = "; ".join(f"{name} in {count:,}" for name, count in names.most_common(MOST_LOADS))
    return f"Best by {described(place.place).label} ({which}) in each of {len(found):,} workloads ({', '.join(loads)}): {told}.{rates}"


def by_load(points: Sequence[SweepMean], loads: Sequence[str]) -> dict[tuple[str, ...], list[SweepMean]]:
    """The points by their values of `loads`, in order."""
    groups: dict[tuple[str, ...], list[SweepMean]] = {}
    for point in points:
        groups.setdefault(tuple(value_text(point.values[axis]) for axis in loads), []).append(point)
    return groups


def _named_best(values: Sequence[str], found: Best, place: Place, loads: Sequence[str]) -> str:
    """The best point of a workload with its number, and how many others are as good."""
    name = _option(found, loads)
    tied = f" and {found.alike:,} tied" if found.alike and len(found.point.seeds) > 1 else ""
    told = [
        *(value.strip('"') if value[0] == '"' else f"{axis} = {value}" for axis, value in zip(loads, values, strict=True)),
        shown(found.point.estimates[place.place].centre, place.unit),
    ]
    return f"{name}{tied} ({', '.join(told)})" if name else ", ".join(told)


def _option(found: Best, loads: Sequence[str]) -> str:
    """The best point of a workload by its other values, with the next if that has the same figure."""
    same = [found.next] if found.next is not None and found.difference is not None and not any(found.difference.values) else []
    names = (named({axis: value for axis, value in point.values.items() if axis not in loads}) for point in (found.point, *same))
    return " and ".join(name for name in names if name)


def _judgement(found: Best) -> str:
    """Whether the next point differs from the best, in words."""
    change, seeds = found.difference, len(found.point.seeds)
    told = "" if change is None else relative(change)
    aside = f" ({told}{' seed by seed' if seeds > 1 else ''})" if told else ""
    if seeds < 2:
        return f"{aside}{_alike(found)}"
    if found.doubt:
        return f"{aside}; not judged: {found.doubt}{_alike(found)}"
    if found.differs is None:
        return f"{aside}; not judged, since the seeds disagree about the difference{_alike(found)}"
    return f"{aside}: it differs beyond the interval." if found.differs else f"{aside}: no difference beyond the interval{_alike(found)}"


def _rates(found: Best) -> str:
    """The range of offered rates as a sentence, since points at rates of their own do not have the same work."""
    if found.offered is None:
        return ""
    low, high = found.offered
    return f" Points were offered {low:,.0f} to {high:,.0f} requests/s; {ONE_RATE}."


def _alike(found: Best) -> str:
    """How many other points are not known to differ from the best, as the end of a sentence."""
    if len(found.point.seeds) < 2:
        advice = "cut the trace into parts, by an axis skip" if replays(found.point.runs[0].result) else "seeds = 5"
        return f". One seed: whether that is chance is not known ({advice})."
    text = f". {found.alike:,} others may be as good." if found.alike > 1 else "."
    return f"{text} Run the best again with new seeds." if found.others > FEW_POINTS else text
