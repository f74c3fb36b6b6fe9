"""Differences of a figure between runs, and their uncertainty: ties and noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ssdlab.analysis.uncertainty import Estimate, estimates, relative_differences
from ssdlab.pages.report import noise
from ssdlab.pages.report.runs import Run, Runs

__all__ = ["TIE", "Change", "apart", "as_good", "change", "half_widths", "number_of", "seeded", "spread"]

TIE = 0.001
"""Relative difference up to which values are a tie: percentiles are not more exact."""

ESTIMATES: Mapping[str, Callable[[Run, Run], float | None]] = {
    "latency_ns.all.mean": noise.scatter,
    "latency_ns.all.p99": lambda base, other: noise.tail_scatter(base, other, 0.99),
}
"""Estimators of the uncertainty of a difference from one run each, by path."""


@dataclass(frozen=True)
class Change:
    """A relative difference and the half width of its 95 % interval; `None` if it was not judged.

    If seeds disagree, `relative` is the median of the differences under each seed, which are in `values`.
    """

    relative: float
    half: float | None
    values: tuple[float, ...] = ()

    @classmethod
    def of(cls, estimate: Estimate) -> Change:
        """The difference over several seeds."""
        return cls(estimate.median, None, estimate.values) if estimate.disagree else cls(estimate.mean, estimate.half)

    @classmethod
    def within(cls, relative: float, half: float | None) -> Change:
        """A difference with its interval. An interval down to -100 % or below is impossible, and is discarded."""
        return cls(relative, half if half is not None and relative - half > -1 else None)

    @property
    def disagree(self) -> bool:
        """Whether seeds disagree about the difference, so that it is not judged."""
        return bool(self.values)

    @property
    def judged(self) -> bool:
        """Whether the difference is known to exceed chance, or is a tie."""
        return self.half is not None or self.tie

    @property
    def tie(self) -> bool:
        """Whether the difference may be zero."""
        return not self.disagree and abs(self.relative) <= max(self.half or 0.0, TIE)

    @property
    def noise(self) -> bool:
        """Whether the difference is a tie only because of noise."""
        return self.tie and abs(self.relative) > TIE


def number_of(runs: Runs, run: Run, place: str) -> Any:
    """A figure of a run: with several seeds, their mean, or their median if they disagree."""
    seeds = seeded(runs, run, place)
    if not seeds:
        return run.at(place)
    estimate = spread(runs, run, place)
    return seeds["mean"] if estimate is None else estimate.median


def spread(runs: Runs, run: Run, place: str) -> Estimate | None:
    """A figure over seeds that disagree about it; `None` if they agree, or for one seed."""
    values = runs.seeds.get("values", {}).get(run.label, {}).get(place)
    estimate = estimates([{place: value} for value in values])[place] if values else None
    return estimate if estimate is not None and estimate.disagree else None


def seeded(runs: Runs, run: Run, place: str) -> Mapping[str, Any] | None:
    """Mean and half width of the interval over seeds; `None` for one seed."""
    found = runs.seeds.get("schemes", {}).get(run.label, {}).get(place)
    return found if isinstance(found, dict) else None


def change(runs: Runs, base: Run, other: Run, place: str) -> Change | None:
    """The relative difference of a figure from another run; `None` if a run lacks it or the base is 0."""
    before, after = number_of(runs, base, place), number_of(runs, other, place)
    if not before or after is None:
        return None
    relative = after / before - 1
    if runs.seeds:
        return _over_seeds(runs, base, other, place, relative)
    estimate = ESTIMATES.get(place)
    return Change.within(relative, estimate(base, other) if estimate and abs(relative) > TIE else None)


def half_widths(runs: Runs) -> dict[str, dict[str, float]]:
    """Half widths of the intervals of differences from the first run, estimated from one run each, by label and path."""
    first, *others = runs.runs
    found = {run.label: {place: change(runs, first, run, place) for place in ESTIMATES} for run in others}
    return {
        label: {place: one.half for place, one in of.items() if one is not None and one.half is not None} for label, of in found.items()
    }


def as_good(runs: Runs, one: Run, other: Run, place: str) -> bool:
    """Whether neither of two runs is known to be better, independent of their order."""
    if number_of(runs, one, place) == number_of(runs, other, place):
        return True
    found = apart(runs, one, other, place)
    return found is not None and found.tie


def apart(runs: Runs, one: Run, other: Run, place: str) -> Change | None:
    """The difference of two runs, relative to the run that comes first: relative to the larger value, the interval would differ."""
    base, further = sorted((one, other), key=lambda run: run.index)
    return change(runs, base, further, place)


def _over_seeds(runs: Runs, base: Run, other: Run, place: str, relative: float) -> Change:
    """The difference of two runs seed by seed. A figure that is 0 under a seed is not judged."""
    before, after = (runs.seeds.get("values", {}).get(run.label, {}).get(place) for run in (base, other))
    found = relative_differences([{place: value} for value in before], [{place: value} for value in after]) if before and after else {}
    against = runs.seeds.get("differences", {}).get(other.label, {}).get(place)
    is_said = base.label == runs.seeds.get("against") and isinstance(against, dict)
    if is_said and not (place in found and found[place].disagree):
        return Change.within(against["relative"], against["half_width"])
    return Change.of(found[place]) if place in found else Change(relative, None)
