"""Whether percentiles of a sweep's points rest on enough independent requests to be judged."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ssdlab.experiments.sweeping.points import SweepPoint
from ssdlab.pages.report.summary import BEYOND

__all__ = ["too_few"]

BEYOND_LEAST = 10
"""Minimum number of independent requests of a point beyond a percentile, over its seeds: of 1,000 for p99, of 10,000 for p99.9."""


def too_few(figure: str, points: Iterable[Sequence[SweepPoint]]) -> str:
    """Why a figure cannot be judged, and what would reach it; empty if it can, or is no percentile of response times.

    Args:
        figure: a path, such as `latency_ns.read.p99`.
        points: for each point its runs, one for each seed.
    """
    path, _, name = figure.rpartition(".")
    if name not in BEYOND or not figure.startswith("latency_ns."):
        return ""
    needed = round(BEYOND_LEAST / BEYOND[name])
    kind = path.removeprefix("latency_ns.")
    least, runs = min(((_independent(runs, kind), runs) for runs in points), key=lambda found: found[0])
    if least >= needed:
        return ""
    return f"rests on about {least:,.0f} independent requests of a point, {needed:,} needed{_remedy(runs, least, needed)}"


def _independent(runs: Sequence[SweepPoint], kind: str) -> float:
    """Effective number of independent requests of a kind at a point, over its seeds; infinite where a result has no counts."""
    return math.fsum(_count(run, kind, math.inf) * run.independent_share for run in runs)


def _count(run: SweepPoint, kind: str, otherwise: float) -> float:
    """Number of measured requests of a kind; `otherwise` if the result has none."""
    return float(run.result.get("latency_ns", {}).get(kind, {}).get("count", otherwise))


def _remedy(runs: Sequence[SweepPoint], least: float, needed: int) -> str:
    """How many seeds, or how much longer runs, would reach the number that is needed, as the end of a sentence."""
    if least <= 0:
        return ""
    times = needed / least
    workload = (runs[0].result.get("config") or {}).get("workload", {})
    if workload.get("trace"):
        return f": workload.repeat = {math.ceil(times * workload.get('repeat', 1)):,} would do"
    kept = max(_count(run, "all", 0) + (run.result.get("warm_up") or {}).get("requests", 0) for run in runs)
    return f": about {math.ceil(times * len(runs)):,} seeds or {_rounded_up(times * kept):,} requests a run would do"


def _rounded_up(number: float) -> int:
    """The next number of two significant digits."""
    unit = int(10 ** max(math.floor(math.log10(number)) - 1, 0))
    return math.ceil(number / unit - 1e-9) * unit
