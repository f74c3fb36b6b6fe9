"""The numbers of a result by their path, such as `latency_ns.read.p99`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ssdlab.system.checksums import CHECKSUM

__all__ = ["NOT_SIMULATED", "figures_of", "measures_of"]

NO_FIGURES = ("config", "sweep", "prepared_earlier", CHECKSUM)
"""Entries of a result that describe the run's inputs or the result itself, or what an earlier run left."""
ASKED = ("seed", "requests_per_s", "prepare_s", "wall_s", "percentile_error", "fit", "timeline", "blocks", "warm_up", "workload")
"""Entries with numbers of the inputs or of this machine's speed, which are not simulated."""
NOT_SIMULATED = (*NO_FIGURES, *ASKED)
"""Entries of a result of which no number is a measure."""


def figures_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """Every number, text and truth value of a result by its path, such as `latency_ns.read.p99`; lists are left out."""
    return {name: value for key in result if key not in NO_FIGURES for name, value in _leaves(key, result[key])}


def _leaves(name: str, value: object) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _leaves(f"{name}.{key}", entry)
    elif not isinstance(value, list):
        yield name, value


def measures_of(result: Mapping[str, Any]) -> dict[str, float]:
    """The simulated numbers of a result by path; a mean over seeds can be taken of them."""
    measured = {key: value for key, value in result.items() if key not in ASKED}
    return {name: value for name, value in figures_of(measured).items() if isinstance(value, int | float) and not isinstance(value, bool)}
