"""A comparison under several seeds: means, differences and their uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ssdlab.analysis.measures import measures_of
from ssdlab.analysis.uncertainty import LEVEL, Estimate, estimates, relative_differences
from ssdlab.checks import LARGEST, whole
from ssdlab.errors import UsageError
from ssdlab.runs.result import Result

__all__ = ["SeedRuns", "label_of", "seeds_from"]


def seeds_from(first: int, count: int) -> range:
    """`count` consecutive seeds from `first` on."""
    whole("seed", first)
    if first + whole("seeds", count, least=1) - 1 > LARGEST:
        raise UsageError(f"seeds = {count}: from seed {first} on there are fewer, as the largest is 2^64 - 1: choose a smaller seed")
    return range(first, first + count)


def label_of(label: str, seed: int, seeds: Sequence[int]) -> str:
    """The name of a run: the label of its variant for the first seed, else label and seed."""
    return label if seed == seeds[0] else f"{label}, seed {seed}"


@dataclass(frozen=True)
class SeedRuns:
    """The runs of a comparison under several seeds.

    Attributes:
        seeds: seeds, the same for all variants.
        runs: results by label of the variant, and seed.
    """

    seeds: tuple[int, ...]
    runs: Mapping[str, Mapping[int, Result]]

    @property
    def against(self) -> str:
        """The label of the variant that the others are compared with."""
        return next(iter(self.runs))

    @cached_property
    def estimates(self) -> dict[str, dict[str, Estimate]]:
        """The mean over seeds with its interval, by label and path (`latency_ns.read.p99`). Variants with a missing run are left out."""
        return {label: estimates(runs) for label, runs in self._measures.items()}

    @cached_property
    def differences(self) -> dict[str, dict[str, Estimate]]:
        """The relative difference from the first variant, seed by seed, by label and path: -0.1 for 10 % less."""
        base = self._measures.get(self.against)
        if base is None:
            return {}
        others = {label: runs for label, runs in self._measures.items() if label != self.against}
        return {label: relative_differences(base, runs) for label, runs in others.items()}

    @property
    def differ(self) -> bool:
        """Whether results differ between seeds."""
        digests = any(len({run["digest"] for run in runs.values()}) > 1 for runs in self.runs.values())
        return digests or any(len(set(of.values)) > 1 for figures in self.estimates.values() for of in figures.values())

    def to_dict(self) -> dict[str, Any]:
        """A copy as a dictionary, as in `comparison.json`."""
        return {
            "seeds": list(self.seeds),
            "level": LEVEL,
            "differ": self.differ,
            "schemes": {
                label: {place: {"mean": of.mean, "half_width": of.half, **_disagreement(of)} for place, of in figures.items()}
                for label, figures in self.estimates.items()
            },
            "values": {label: {place: list(of.values) for place, of in figures.items()} for label, figures in self.estimates.items()},
            "against": self.against,
            "differences": {
                label: {place: {"relative": of.mean, "half_width": of.half, **_disagreement(of)} for place, of in figures.items()}
                for label, figures in self.differences.items()
            },
        }

    @cached_property
    def _measures(self) -> dict[str, list[dict[str, float]]]:
        """The numbers of each run, by label; variants with a missing run are left out."""
        whole_ones = {label: runs for label, runs in self.runs.items() if len(runs) == len(self.seeds)}
        return {label: [measures_of(runs[seed]) for seed in self.seeds] for label, runs in whole_ones.items()}


def _disagreement(estimate: Estimate) -> dict[str, Any]:
    """The entry for an estimate about which the seeds disagree, in place of mean and interval."""
    return {"seeds_disagree": True, "median": estimate.median} if estimate.disagree else {}
