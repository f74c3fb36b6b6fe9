"""Figures of the runs of an arena, and the ranks that follow from them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["FIGURES", "Arena", "Standing", "ranked", "warnings_of"]

FIGURES: Mapping[str, Callable[[Mapping[str, Any]], float]] = {
    "p99.9": lambda run: float(run["latency_ns"]["all"]["p99_9"]),
    "mean": lambda run: float(run["latency_ns"]["all"]["mean"]),
    "wa": lambda run: float(run["gc"]["write_amplification"]),
}
"""What policies are ranked by: its value in a result, by name. Response times are in ns."""


@dataclass(frozen=True)
class Standing:
    """A policy among the others of its kind.

    Attributes:
        rank: 1 for the best; equal figures have equal ranks.
        name: value of the configuration key, or file and class of a policy of one's own.
        is_own: whether it is the user's.
        ratios: by figure, the geometric mean over all cases of its value, relative to that of the baseline. Below 1 is better.
        by_case: by case and figure, the value, ns for times.
        digest: hash of the digests of its runs. Equal digests are equal runs.
    """

    rank: int
    name: str
    is_own: bool
    ratios: Mapping[str, float]
    by_case: Mapping[str, Mapping[str, float]]
    digest: str

    def to_dict(self) -> dict[str, Any]:
        """The standing as JSON has it."""
        cases = {case: dict(figures) for case, figures in self.by_case.items()}
        known = {"rank": self.rank, "name": self.name, "is_own": self.is_own, "digest": self.digest}
        return {**known, "ratios": dict(self.ratios), "cases": cases}


@dataclass(frozen=True)
class Arena:
    """The ranks of the policies of one kind.

    Attributes:
        kind: the decision that the policies make.
        version: number of the field; ranks of different numbers cannot be compared.
        by: the figure by which they are ranked.
        baseline: the policy to which ratios are relative.
        standings: the policies, best first.
        remarks: by case, the kinds of warnings that any of its runs has.
        quick: whether the runs were too short for ranks that mean something.
    """

    kind: str
    version: int
    by: str
    baseline: str
    standings: Sequence[Standing]
    remarks: Mapping[str, Sequence[str]]
    quick: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The arena as JSON has it."""
        rows = [one.to_dict() for one in self.standings]
        return {"kind": self.kind, "version": self.version, "by": self.by, "baseline": self.baseline, "standings": rows} | {
            "remarks": dict(self.remarks),
            "quick": self.quick,
        }


def warnings_of(runs: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> dict[str, list[str]]:
    """By case, the kinds of warnings that any of its runs has; only cases with some. `runs`: results by policy and case."""
    kinds: dict[str, set[str]] = {}
    for case, run in ((case, run) for cases in runs.values() for case, run in cases.items()):
        kinds.setdefault(case, set()).update(remark["code"] for remark in run["remarks"] if remark["severity"] == "warning")
    return {case: sorted(found) for case, found in kinds.items() if found}


def ranked(runs: Mapping[str, Mapping[str, Mapping[str, Any]]], own: str | None, by: str) -> list[Standing]:
    """The standings of policies, best first.

    Args:
        runs: results by policy and case; the first policy is the baseline.
        own: the user's policy, if any.
        by: the figure to rank by.
    """
    values = {name: {case: _figures(run) for case, run in cases.items()} for name, cases in runs.items()}
    baseline = next(iter(values.values()))
    ratios = {name: {figure: _mean_ratio(cases, baseline, figure) for figure in FIGURES} for name, cases in values.items()}
    order = sorted(runs, key=lambda name: ratios[name][by])
    ranks = {name: 1 + sum(ratios[other][by] < ratios[name][by] for other in runs) for name in runs}
    return [Standing(ranks[name], name, name == own, ratios[name], values[name], _digest(runs[name])) for name in order]


def _figures(run: Mapping[str, Any]) -> dict[str, float]:
    return {figure: of(run) for figure, of in FIGURES.items()}


def _digest(cases: Mapping[str, Mapping[str, Any]]) -> str:
    return hashlib.sha256(" ".join(run["digest"] for run in cases.values()).encode()).hexdigest()[:16]


def _mean_ratio(cases: Mapping[str, Mapping[str, float]], baseline: Mapping[str, Mapping[str, float]], figure: str) -> float:
    """The geometric mean over all cases of a figure relative to the baseline."""
    logarithms = [math.log(cases[case][figure] / baseline[case][figure]) for case in cases]
    return math.exp(math.fsum(logarithms) / len(logarithms))
