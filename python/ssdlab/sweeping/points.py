"""The points of a sweep that were run, one by one or over their seeds."""

from __future__ import annotations

from collections.abc import Mapping
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
    """By axis: its value there."""
    result: Result
    folder: Path | None = None
    """What holds its `result.json`."""


@dataclass(frozen=True)
class SweepMean:
    """A point of a sweep over its seeds."""

    values: Mapping[str, Any]
    """By axis but `seed`: its value there."""
    seeds: tuple[int, ...]
    """The seeds under which it finished."""
    estimates: Mapping[str, Estimate]
    """By place, such as `latency_ns.read.p99`: the mean over these seeds with its 95 % interval."""
