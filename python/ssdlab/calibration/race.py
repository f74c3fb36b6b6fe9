"""Compares alternatives by their sums of squares, and simulates only what can still change the outcome.

A sum only grows with each operating point. So the alternatives with the smallest sums so far are simulated at their next point, until one
is complete and the sums of all others are clearly larger: what these would add is of no consequence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ssdlab.calibration.measurements import Point
from ssdlab.calibration.runs import Candidate, Runs, Simulated

__all__ = ["Part", "race"]

Name = TypeVar("Name")


@dataclass(frozen=True)
class Part:
    """A part of a sum of squares.

    Attributes:
        points: operating points to simulate.
        loss: returns the part of the sum, at least 0, from what was simulated at these points.
    """

    points: tuple[Point, ...]
    loss: Callable[[Mapping[Point, Simulated | None]], float]


def race(tried: Mapping[Name, Candidate], parts: Sequence[Part], runs: Runs, *, clear: float, share: float) -> dict[Name, float]:
    """The sum of squares of each alternative; of those that are clearly worse than the best, the part of it that shows that.

    The sums do not depend on the number of runs at once, unlike how far those that are clearly worse are simulated.

    Args:
        tried: the alternatives.
        parts: parts of the sum; those that tell most come first.
        runs: simulator of candidates.
        clear: how much larger a sum is that is clearly worse.
        share: share of a sum that is clearly worse below which the best sum is.
    """
    sums: dict[Name, list[float]] = {name: [0.0] for name in tried}
    while True:
        best = min((to[-1] for to in sums.values() if len(to) > len(parts)), default=math.inf)
        clearly_worse = max(best + clear, best / share)
        is_open = [name for name, to in sums.items() if len(to) <= len(parts) and to[-1] <= clearly_worse]
        if not is_open:
            return {name: next((one for one in to if one > clearly_worse), to[-1]) for name, to in sums.items()}
        nearest = sorted(is_open, key=lambda name: sums[name][-1])[: runs.workers]
        wanted = [(tried[name], point) for name in nearest for point in parts[len(sums[name]) - 1].points]
        results = dict(zip(wanted, runs.at(wanted), strict=True))
        for name in nearest:
            part = parts[len(sums[name]) - 1]
            sums[name].append(sums[name][-1] + part.loss({point: results[tried[name], point] for point in part.points}))
