"""Points of a sweep that were run, individually or over seeds."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ssdlab.analysis.measures import figures_of, measures_of
from ssdlab.analysis.uncertainty import Estimate, estimates
from ssdlab.pages.report import noise
from ssdlab.pages.report.runs import Run
from ssdlab.runs.result import Result

__all__ = ["SAME_RATE", "SEED", "PartMean", "SweepMean", "SweepPoint", "counted"]

SAME_RATE = 1.001
"""Ratio up to which two offered rates are one."""
SEED = "seed"
"""The axis over which means are taken."""
SERIES, INDEPENDENT = "series", "independent_share"
"""Entries of a result: its record over time, and what is kept of one that was made for this alone."""


@dataclass(frozen=True)
class SweepPoint:
    """A point of a sweep that was run."""

    values: Mapping[str, Any]
    """Values of the axes at this point, by axis."""
    result: Result
    folder: Path | None = None
    """Folder with its `result.json`."""
    columns: Mapping[str, float] = field(default_factory=dict)
    """Derived columns, by name."""
    sources: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The figures that each derived column is calculated from, by path."""

    @property
    def figures(self) -> dict[str, Any]:
        """Every number, text and truth value of the result by its path, and the derived columns."""
        return {**figures_of(self.result), **self.columns}

    @property
    def measures(self) -> dict[str, float]:
        """The simulated numbers of the result by path, and the derived columns."""
        return {**measures_of(self.result), **self.columns}

    @property
    def share_of_own(self) -> tuple[float, float] | None:
        """Its load and the rate that this stands for, requests/s; `None` unless the load is a share of what this very point sustains."""
        capacity = self.result.get("capacity")
        return None if capacity is None or "of" in capacity else (capacity["load"], capacity["load"] * capacity["iops"])

    @property
    def is_counted(self) -> bool:
        """Whether its independent requests are known."""
        return SERIES in self.result or INDEPENDENT in self.result

    @cached_property
    def independent_share(self) -> float:
        """Effective number of independent requests, as a share of all; 1 for a run that is too short, or was not recorded over time."""
        known = self.result.get(INDEPENDENT)
        return _independent_share(self.result.to_dict()) if known is None else float(known)


def counted(result: dict[str, Any]) -> dict[str, Any]:
    """The entries of a result with the share of independent requests in place of the record over time, from which it is."""
    return {**{key: value for key, value in result.items() if key != SERIES}, INDEPENDENT: _independent_share(result)}


def _independent_share(result: Mapping[str, Any]) -> float:
    found = noise.independent(Run("", 0, result))
    return 1.0 if found is None else min(1.0, found[0] / found[1])


@dataclass(frozen=True)
class SweepMean:
    """A point of a sweep over its seeds."""

    values: Mapping[str, Any]
    """Values of the axes except `seed`, by axis."""
    seeds: tuple[int, ...]
    """Seeds of the finished runs."""
    estimates: Mapping[str, Estimate]
    """Mean over these seeds with its 95 % interval, by path, such as `latency_ns.read.p99`. Absent where a seed lacks the number."""
    runs: Sequence[SweepPoint] = ()
    """The runs, one for each of `seeds`."""


@dataclass(frozen=True)
class PartMean:
    """A point of a sweep over traces, or over parts of one."""

    values: Mapping[str, Any]
    """Values of the other axes, by axis, without `seed`."""
    parts: int
    """Number of parts."""
    estimates: Mapping[str, Estimate]
    """Mean over these parts with its 95 % interval, by path."""

    @classmethod
    def of(cls, points: Sequence[SweepMean], parts: Collection[str]) -> PartMean:
        """The mean over points that differ in the axes `parts` alone."""
        values = {axis: value for axis, value in points[0].values.items() if axis not in parts}
        return cls(values, len(points), estimates([{place: of.mean for place, of in point.estimates.items()} for point in points]))
