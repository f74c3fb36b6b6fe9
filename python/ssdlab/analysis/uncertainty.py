"""Means with confidence intervals, over seeds or over parts of one run. All arithmetic on uncertainty is here.

Runs under different seeds are independent, so the mean over n of them has Student's t-interval with n - 1 degrees of freedom. The response
times within one run are not independent: a request waits longer if the previous one did. `batch_means` therefore divides the run into a few
long parts, whose means are nearly independent.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ssdlab.checks import shown, whole
from ssdlab.errors import UsageError

__all__ = ["LEVEL", "Estimate", "batch_means", "estimates", "relative_differences", "student_t"]

LEVEL = 0.95
"""Confidence level of all intervals: 19 of 20 intervals contain the true value."""
APART = 2.0
"""Ratio of the largest to the smallest value above which values on both sides of a gap disagree."""
BATCHES = 20
"""Number of parts of one run. Schmeiser (Operations Research 30(3), 1982) recommends 10 to 30, for any length of the run."""

T_95 = (
    12.706,
    4.303,
    3.182,
    2.776,
    2.571,
    2.447,
    2.365,
    2.306,
    2.262,
    2.228,
    2.201,
    2.179,
    2.160,
    2.145,
    2.131,
    2.120,
    2.110,
    2.101,
    2.093,
)
"""Student's t for a two-sided interval of 95 %, by degrees of freedom from 1."""


def student_t(degrees: int) -> float:
    """Student's t for a two-sided interval of 95 %, for any degrees of freedom from 1, to about 0.001."""
    if degrees <= len(T_95):
        return T_95[degrees - 1]
    # expansion around the normal quantile (Abramowitz and Stegun 26.7.5)
    z = statistics.NormalDist().inv_cdf((1 + LEVEL) / 2)
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)


@dataclass(frozen=True)
class Estimate:
    """A mean over independent values, with the half width of its 95 % confidence interval (absent for a single value)."""

    mean: float
    half: float | None
    values: tuple[float, ...]
    least: float = -math.inf
    """Lower limit of possible values: 0 for a time or a count, -1 for a relative difference."""

    @classmethod
    def of(cls, values: Sequence[float], least: float = -math.inf) -> Estimate:
        """The estimate from independent values, such as one for each seed, with Student's t-interval."""
        mean = math.fsum(values) / len(values)
        if len(values) < 2:
            return cls(mean, None, tuple(values), least)
        # most figures of a sweep are counts that no seed changes, and the deviation takes long
        deviation = statistics.stdev(values) if any(value != values[0] for value in values) else 0.0
        return cls(mean, student_t(len(values) - 1) * deviation / math.sqrt(len(values)), tuple(values), least)

    @property
    def median(self) -> float:
        """The median of the values."""
        return statistics.median(self.values)

    @property
    def disagree(self) -> bool:
        """Whether the values are so far apart that mean and half width would mislead; then use the median and all values.

        That is the case if the interval contains impossible values, such as times below 0, or if the values form two `groups`.
        """
        return bool(self.half) and (self.mean - (self.half or 0.0) < self.least or self.groups is not None)

    @property
    def groups(self) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
        """The values in two groups that are far apart, low and high; `None` if they are not.

        The largest gap between neighbours is then more than half of the range, and the largest value more than twice the smallest, both
        relative to `least`.
        """
        ordered = sorted(self.values)
        if len(ordered) < 2:
            return None
        low, high = ordered[0], ordered[-1]
        gap, cut = max((after - before, index) for index, (before, after) in enumerate(pairwise(ordered), 1))
        apart = gap > (high - low) / 2 and high - self.least > APART * (low - self.least)
        return (tuple(ordered[:cut]), tuple(ordered[cut:])) if apart else None

    @property
    def centre(self) -> float:
        """The value that stands for all: the mean, or the median if they disagree."""
        return self.median if self.disagree else self.mean

    @property
    def is_tie(self) -> bool:
        """For a difference, whether its interval includes 0, so that it may be due to chance."""
        return self.half is not None and abs(self.mean) <= self.half


def estimates(runs: Sequence[Mapping[str, float]]) -> dict[str, Estimate]:
    """Estimates of the numbers that all runs have, by name."""
    first, *others = runs
    values = {name: [run[name] for run in runs] for name in first if all(name in run for run in others)}
    return {name: Estimate.of(of, 0.0 if min(of) >= 0 else -math.inf) for name, of in values.items()}


def relative_differences(base: Sequence[Mapping[str, float]], other: Sequence[Mapping[str, float]]) -> dict[str, Estimate]:
    """The relative differences of the numbers of `other` from those of `base`, run by run, by name: -0.1 for 10 % less.

    The runs of both are paired, for example by seed. A number that is 0 in a run of `base` is left out.
    """
    names = [name for name in base[0] if all(run.get(name) for run in base) and all(name in run for run in other)]
    pairs = list(zip(base, other, strict=True))
    changes = {name: [after[name] / before[name] - 1 for before, after in pairs] for name in names}
    return {name: Estimate.of(of, -1.0 if min(of) >= -1 else -math.inf) for name, of in changes.items()}


def batch_means(values: Sequence[float], batches: int = BATCHES) -> Estimate:
    """The mean of one run's values in their order, with an interval from the means of consecutive parts of equal length.

    The interval is valid if the run is stationary (leave out a warm-up) and the parts are much longer than effects that correlate values,
    such as a collection or a burst. Values left over at the end, fewer than `batches`, are not used.

    Args:
        values: values in order, such as response times of a run's log in order of arrival; at least two for each part.
        batches: number of parts, at least 2.

    Raises:
        UsageError: there are too few values.
    """
    whole("batches", batches, least=2)
    if not hasattr(values, "__len__") or isinstance(values, str | Mapping):
        raise UsageError(f"batch_means: values = {shown(values)}: expected a list of numbers")
    if len(values) < 2 * batches:
        raise UsageError(f"batch_means: {len(values)} values in {batches} parts: expected at least 2 parts of at least 2 values")
    length = len(values) // batches
    bounds = range(0, length * batches + 1, length)
    return Estimate.of([math.fsum(values[start:end]) / length for start, end in pairwise(bounds)])
