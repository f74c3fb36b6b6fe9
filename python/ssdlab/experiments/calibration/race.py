"""Compares alternatives by their sums of squares, and simulates only what can still change the outcome.

A sum only grows with each operating point. So the alternatives with the smallest sums so far are simulated at their next point, until one
is complete and the sums of all others are clearly larger: what these would add is of no consequence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ssdlab.experiments.calibration.measurements import Point
from ssdlab.experiments.calibration.runs import Candidate, Runs, Simulated

__all__ = ["Part", "race"]

Name = TypeVar("Name")
AT_ONCE = 4
"""Alternatives that are simulated at once. With the number of processors instead, runs and bounds would depend on it."""


@dataclass(frozen=True)
class Part:
    """A part of a sum of squares.

    Attributes:
        points: operating points to simulate.
        loss: returns the part of the sum, at least 0, from what was simulated at these points.
    """

    points: tuple[Point, ...]
    loss: Callable[[Mapping[Point, Simulated | None]], float]


def race(tried: Mapping[Name, Candidate], parts: Sequence[Part], runs: Runs, *, margin: float, share: float) -> dict[Name, float]:
    """The sum of squares of each alternative; of those that are clearly worse than the best, a lower bound of it.

    A sum is clearly worse if it is larger than the best by `margin`, and if the best is less than `share` of it.

    Args:
        tried: the alternatives.
        parts: parts of the sum; those that tell most come first.
        runs: simulator of candidates.
        margin: from 0.
        share: above 0, up to 1.
    """
    sums = dict.fromkeys(tried, 0.0)
    done = dict.fromkeys(tried, 0)
    while True:
        best = min((sums[name] for name in tried if done[name] == len(parts)), default=math.inf)
        is_open = [name for name in tried if done[name] < len(parts) and sums[name] <= max(best + margin, best / share)]
        if not is_open:
            return sums
        nearest = sorted(is_open, key=sums.__getitem__)[:AT_ONCE]
        wanted = [(tried[name], point) for name in nearest for point in parts[done[name]].points]
        results = dict(zip(wanted, runs.at(wanted), strict=True))
        for name in nearest:
            part = parts[done[name]]
            sums[name] += part.loss({point: results[tried[name], point] for point in part.points})
            done[name] += 1
