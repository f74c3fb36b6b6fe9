"""Points of a sweep that were run, individually or over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdlab.result import Result
from ssdlab.uncertainty import Estimate

__all__ = ["SEED", "SweepMean", "SweepPoint"]

SEED = "seed"
"""The axis over which means are taken."""


@dataclass(frozen=True)
class SweepPoint:
    """A point of a sweep that was run."""

    values: Mapping[str, Any]
    """Values of the axes at this point, by axis."""
    result: Result
    folder: Path | None = None
    """Folder with its `result.json`."""


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
