"""Estimates the uncertainty of a difference between two runs from one run of each, by batch means.

A run is divided into parts of equal length, whose scatter shows how repeats of the run would differ. Requests at the same time are
identical in both runs, so the scatter of the *difference* between them counts: most effects of the load on both cancel out.

The method is batch means (Law, Simulation Modeling and Analysis, section 9.5.3) for a ratio of ratios (Cochran, Sampling Techniques,
section 6): parts may have different numbers of requests.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from statistics import correlation

from ssdlab.analysis.uncertainty import Estimate, student_t
from ssdlab.pages.report.runs import KINDS, Run

__all__ = ["PARTS", "independent", "scatter", "tail_scatter"]

PARTS = 20
"""Number of parts: enough for an interval, and few enough that neighbouring parts are nearly independent."""
LEAST = 100
"""Minimum mean number of requests in a part."""
FEWEST = 10
"""Minimum number of independent requests beyond a percentile."""
STUDENT = student_t(PARTS - 1)

Part = tuple[float, float]
"""Number of requests in a part of a run, and the sum of their response times, ns."""


def scatter(base: Run, other: Run) -> float | None:
    """Half width of the 95 % interval of the relative difference of mean response times; `None` for runs that are too short."""
    before, after = _parts(base), _parts(other)
    if before is None or after is None:
        return None
    (count_a, mean_a), (count_b, mean_b) = _total(before), _total(after)
    ratio = mean_b / mean_a
    parts = [
        ratio + PARTS * ((sum_b - mean_b * n_b) / count_b - ratio * (sum_a - mean_a * n_a) / count_a) / mean_a
        for (n_a, sum_a), (n_b, sum_b) in zip(before, after, strict=True)
    ]
    return Estimate.of(parts).half


def _total(parts: Sequence[Part]) -> tuple[float, float]:
    """Number of requests in all parts together, and their mean response time, ns."""
    count = math.fsum(n for n, _ in parts)
    return count, math.fsum(total for _, total in parts) / count


def _parts(run: Run) -> list[Part] | None:
    """The requests completed in each part of a run, after its warm-up; `None` for a run that is too short."""
    series = run.series
    if not series or not series["bins"]:
        return None
    begin = -(-int(run.at("warm_up.ns") or 0) // series["bin_ns"])
    bins = [(sum(n for n, _ in pairs), math.fsum(n * mean for n, mean in pairs)) for pairs in _by_bin(series["latency_ns"])][begin:]
    if len(bins) < PARTS or sum(n for n, _ in bins) < PARTS * LEAST:
        return None
    ends = [len(bins) * part // PARTS for part in range(PARTS + 1)]
    slices = [bins[first:last] for first, last in pairwise(ends)]
    return [(sum(n for n, _ in part), math.fsum(total for _, total in part)) for part in slices]


def _by_bin(latencies: object) -> Iterable[Sequence[tuple[int, float]]]:
    """Count and mean of each kind of request, by bin."""
    assert isinstance(latencies, dict)
    kinds = [latencies[kind] for kind in KINDS if kind in latencies]
    return zip(*(zip(kind["count"], kind["mean"], strict=True) for kind in kinds), strict=True)


def tail_scatter(base: Run, other: Run, share: float) -> float | None:
    """Approximate half width for the difference of a percentile; `share` is 0.99 for p99. `None` if too few requests took longer.

    Requests that wait for the same collection are not independent. The effective number of independent requests of a run follows from the
    scatter of its parts' means, and determines the ranks between which the percentile lies. Since both runs had the same load, the
    correlation of their parts reduces the scatter of the difference.
    """
    before, after = _percentile(base, share), _percentile(other, share)
    if before is None or after is None:
        return None
    (value_a, half_a), (value_b, half_b) = before, after
    shared = 2 * _correlation(base, other) * half_a * half_b
    return value_b / value_a * math.sqrt(max(half_a**2 + half_b**2 - shared, 0.0))


def independent(run: Run) -> tuple[float, float] | None:
    """Effective number of independent requests of a run, and the number of all; `None` for runs that are too short."""
    parts, variance = _parts(run), run.at("latency_ns.all.variance")
    return (_independent(parts, variance), _total(parts)[0]) if parts and variance else None


def _independent(parts: Sequence[Part], variance: float) -> float:
    """Number of independent requests whose mean would scatter as the means of the parts do."""
    count, mean = _total(parts)
    of_mean = math.fsum((total - mean * n) ** 2 for n, total in parts) * PARTS / (PARTS - 1) / count**2
    return min(variance / of_mean, count) if of_mean else count


def _correlation(base: Run, other: Run) -> float:
    """Correlation of the parts' means of both runs, from 0 to 1."""
    means = [[total / n if n else 0.0 for n, total in _parts(run) or ()] for run in (base, other)]
    if any(len(set(values)) < 2 for values in means):
        return 0.0
    return max(correlation(*means), 0.0)


def _percentile(run: Run, share: float) -> tuple[float, float] | None:
    """A percentile of all requests, ns, and the relative half width of its interval."""
    parts, variance = _parts(run), run.at("latency_ns.all.variance")
    upper, counts = run.histogram
    if parts is None or not variance or not upper:
        return None
    independent = _independent(parts, variance)
    if independent * (1 - share) < FEWEST:
        return None
    by = STUDENT * math.sqrt(share * (1 - share) / independent)
    reached = list(accumulate(counts))
    low, value, high = (upper[min(bisect_left(reached, at * reached[-1]), len(upper) - 1)] for at in (share - by, share, share + by))
    return value, (high - low) / 2 / value
