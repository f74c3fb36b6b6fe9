"""Whether a change holds over workloads: paired differences, a mixed model with the workload as random effect, and Holm's correction.

The difference d of workload w under seed s is m + u(w) + e(w, s): the effect m, how workloads differ (u), and chance within a workload (e).
With as many seeds for each workload, m is the mean over the means of workloads, and its t-interval with one degree of freedom less than
there are workloads is exact, whatever the variances (Searle, Casella and McCulloch, Variance Components, 1992, chapter 3). Otherwise the
model is fitted by restricted maximum likelihood (statsmodels), unless no workload has chance in it, which leaves nothing but the means.
With one workload the interval is over seeds, and about this workload only.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ssdlab.analysis.uncertainty import student_t
from ssdlab.errors import UsageError

__all__ = ["Effect", "effect", "holm", "p_value", "size_interval"]


@dataclass(frozen=True)
class Effect:
    """A mean difference over workloads, or over the seeds of one."""

    mean: float
    half: float
    """Half width of its 95 % interval."""
    p: float
    """Two-sided p-value of no difference."""
    units: int
    """Number of workloads, or of seeds of one workload, over which the interval is."""
    between: float | None
    """Standard deviation between workloads; `None` for one workload, or one seed."""
    within: float | None
    """Standard deviation between seeds of a workload; `None` for one seed."""
    size: float | None
    """Standardised effect: the mean over the standard deviation of the units (Cohen's d of pairs); `None` if they are equal."""

    @property
    def size_ends(self) -> tuple[float, float] | None:
        """The ends of the 95 % interval of `size`."""
        return None if self.size is None else size_interval(self.size, self.units)


def effect(groups: Sequence[Sequence[float]]) -> Effect | None:
    """The effect from paired differences; `None` for a single one, about whose scatter nothing is known.

    Args:
        groups: for each workload, the difference under each seed; none is empty.

    Raises:
        UsageError: workloads have different numbers of seeds, and statsmodels is not installed.
    """
    if len(groups) == 1:
        (values,) = groups
        return _of_units(values, None, statistics.stdev(values)) if len(values) > 1 else None
    means = [math.fsum(values) / len(values) for values in groups]
    if len({len(values) for values in groups}) > 1:
        firsts = [values[0] for values in groups]
        if all(value == first for first, values in zip(firsts, groups, strict=True) for value in values):
            return _of_units(firsts, statistics.stdev(firsts), 0.0)
        return _fitted(groups, means)
    seeds = len(groups[0])
    if seeds == 1:
        return _of_units(means, None, None)
    within = statistics.fmean(statistics.variance(values) for values in groups)
    between = max(0.0, statistics.variance(means) - within / seeds)
    return _of_units(means, math.sqrt(between), math.sqrt(within))


def _of_units(units: Sequence[float], between: float | None, within: float | None) -> Effect:
    count, mean, deviation = len(units), math.fsum(units) / len(units), statistics.stdev(units)
    return _with_size(mean, deviation / math.sqrt(count), deviation, count, between, within)


def _fitted(groups: Sequence[Sequence[float]], means: Sequence[float]) -> Effect:
    """The effect by restricted maximum likelihood."""
    try:
        from statsmodels.regression.mixed_linear_model import MixedLM  # noqa: PLC0415 (it need not be installed)
    except ImportError:
        counts = sorted({len(values) for values in groups})
        raise UsageError(
            f"workloads have different numbers of seeds ({counts[0]} to {counts[-1]}), which needs statsmodels: "
            "pip install 'ssdlab[statistics]', or run the missing points (--resume)"
        ) from None
    import warnings  # noqa: PLC0415

    import numpy as np  # noqa: PLC0415 (it takes longer than many runs)

    values = list(itertools.chain.from_iterable(groups))
    names = [name for name, of in enumerate(groups) for _ in of]
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # of a variance between workloads that is 0
            fit = MixedLM(np.array(values), np.ones((len(values), 1)), groups=np.array(names)).fit(reml=True)
    except np.linalg.LinAlgError:
        return _of_units(means, statistics.stdev(means), 0.0)
    mean, error, variance, scale = (float(of) for of in (fit.fe_params[0], fit.bse_fe[0], np.asarray(fit.cov_re)[0, 0], fit.scale))
    if not all(map(math.isfinite, (mean, error, variance, scale))) or error <= 0:
        return _of_units(means, statistics.stdev(means), 0.0)
    return _with_size(mean, error, statistics.stdev(means), len(groups), math.sqrt(max(0.0, variance)), math.sqrt(scale))


def _with_size(mean: float, error: float, deviation: float, units: int, between: float | None, within: float | None) -> Effect:
    p = p_value(mean / error, units - 1) if error else float(mean == 0)
    size = mean / deviation if deviation else None
    return Effect(mean, student_t(units - 1) * error, p, units, between, within, size)


STEPS = 200
REACH = 9.0
"""Number of standard deviations beyond which a normal distribution has nothing."""


def size_interval(size: float, units: int) -> tuple[float, float]:
    """The 95 % interval of a standardised effect from the noncentral t distribution (Steiger and Fouladi, 1997): without 0 if p < 0.05."""
    if size < 0:
        low, high = size_interval(-size, units)
        return -high, -low
    t = size * math.sqrt(units)
    low, high = (_noncentrality(t, units - 1, below) / math.sqrt(units) for below in (0.975, 0.025))
    return low, high


def _noncentrality(t: float, degrees: int, below: float) -> float:
    """The noncentrality with which a share `below` of the distribution is up to t >= 0."""
    most = t * (1 + REACH / math.sqrt(2 * degrees)) + REACH
    low, high = -REACH, most
    while high - low > 1e-9 * most:
        middle = (low + high) / 2
        low, high = (middle, high) if _noncentral_t(t, degrees, middle) > below else (low, middle)
    return low


def _noncentral_t(t: float, degrees: int, noncentrality: float) -> float:
    """The share of the noncentral t distribution up to t >= 0: the mean of Phi(t w - noncentrality), w the deviation that is estimated."""
    scale = math.log(2) + degrees / 2 * math.log(degrees / 2) - math.lgamma(degrees / 2)

    def density(w: float) -> float:
        return math.exp(scale + (degrees - 1) * math.log(w) - degrees * w * w / 2) if w else float(degrees == 1) * math.exp(scale)

    first, last = (max(0.0, 1 + end * REACH / math.sqrt(2 * degrees)) for end in (-1, 1))
    # Phi is 0 below the window, and 1 above it
    start, end = (min(max((noncentrality + side * REACH) / t, first), last) if t else end for side, end in ((-1, first), (1, last)))
    inside = _integral(lambda w: density(w) * math.erfc((noncentrality - t * w) / math.sqrt(2)) / 2, start, end)
    return inside + _integral(density, end, last)


def _integral(of: Callable[[float], float], start: float, end: float) -> float:
    """An integral by Simpson's rule."""
    step = (end - start) / STEPS
    return step / 3 * math.fsum(of(start + place * step) * (1 if place in (0, STEPS) else 2 + place % 2 * 2) for place in range(STEPS + 1))


def p_value(t: float, degrees: int) -> float:
    """The two-sided p-value of Student's t (Abramowitz and Stegun 26.7.3 and 26.7.4), to about 1e-15."""
    if math.isnan(t):
        raise ValueError("t is not a number: expected a mean over its standard error")
    angle = math.atan2(abs(t), math.sqrt(degrees))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = degrees % 2
    term, total = (cosine, cosine if degrees > 1 else 0.0) if odd else (1.0, 1.0)
    for step in range(2 if odd else 1, degrees - 1, 2):
        term *= cosine**2 * step / (step + 1)
        total += term
    within = 2 / math.pi * (angle + sine * total) if odd else sine * total
    return min(1.0, max(0.0, 1 - within))


def holm(ps: Sequence[float]) -> list[float]:
    """p-values with Holm's correction: the probability of a false one among all that are below 5 % is at most 5 %."""
    order = sorted(range(len(ps)), key=ps.__getitem__)
    adjusted, largest = [0.0] * len(ps), 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[index]))
        adjusted[index] = largest
    return adjusted
