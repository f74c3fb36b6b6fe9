"""Figures of the runs of an arena, and the ranks that follow from them."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from ssdlab.analysis.effects import effect, holm
from ssdlab.analysis.uncertainty import LEVEL

__all__ = ["FIGURES", "Arena", "Standing", "ranked", "warnings_of"]

Result: TypeAlias = Mapping[str, Any]
"""The result of a run."""
Runs: TypeAlias = Mapping[str, Mapping[str, Sequence[Result]]]
"""Results by policy and case, one for each seed."""

FIGURES: Mapping[str, Callable[[Mapping[str, Any]], float]] = {
    "p99.9": lambda run: float(run["latency_ns"]["all"]["p99_9"]),
    "mean": lambda run: float(run["latency_ns"]["all"]["mean"]),
    "wa": lambda run: float(run["gc"]["write_amplification"]),
}
"""What policies are ranked by: its value in a result, by name. Response times are in ns."""


@dataclass(frozen=True)
class Ratio:
    """The geometric mean over cases of a figure, relative to that of the baseline. Below 1 is better.

    Attributes:
        mean: over all cases and seeds.
        low: lower end of its 95 % interval over the seeds, on these cases; as the mean with one seed.
        high: upper end of the interval.
        best: over the seeds, in the case where it is lowest.
        worst: over the seeds, in the case where it is highest.
    """

    mean: float
    low: float
    high: float
    best: float
    worst: float


@dataclass(frozen=True)
class Standing:
    """A policy among the others of its kind.

    Attributes:
        rank: 1 more than the number of policies that are better beyond chance, so that ties share a rank; `None` for the bound.
        name: value of the configuration key, or file and class of a policy of one's own.
        is_own: whether it is the user's.
        ratios: by figure, its ratio to the baseline.
        by_case: by case and figure, the mean over the seeds, ns for times.
        digest: hash of the digests of its runs. Equal digests are equal runs.
    """

    rank: int | None
    name: str
    is_own: bool
    ratios: Mapping[str, Ratio]
    by_case: Mapping[str, Mapping[str, float]]
    digest: str

    def to_dict(self) -> dict[str, Any]:
        """The standing as JSON has it."""
        cases = {case: dict(figures) for case, figures in self.by_case.items()}
        known = {"rank": self.rank, "name": self.name, "is_own": self.is_own, "digest": self.digest}
        return {**known, "ratios": {figure: asdict(ratio) for figure, ratio in self.ratios.items()}, "cases": cases}


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
        seeds: number of runs of each policy in each case.
        repeats: whether a run of the user's policy, done again, was the same; `None` without one.
        quick: whether the runs were too short for ranks that mean something.
    """

    kind: str
    version: int
    by: str
    baseline: str
    standings: Sequence[Standing]
    remarks: Mapping[str, Sequence[str]]
    seeds: int
    repeats: bool | None
    quick: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The arena as JSON has it."""
        rows = [one.to_dict() for one in self.standings]
        return {"kind": self.kind, "version": self.version, "by": self.by, "baseline": self.baseline, "standings": rows} | {
            "remarks": dict(self.remarks),
            "seeds": self.seeds,
            "repeats": self.repeats,
            "quick": self.quick,
        }


def warnings_of(runs: Runs) -> dict[str, list[str]]:
    """By case, the kinds of warnings that any of its runs has; only cases with some. `runs`: results by policy and case."""
    kinds: dict[str, set[str]] = {}
    for case, seeds in ((case, seeds) for cases in runs.values() for case, seeds in cases.items()):
        remarks = (remark for run in seeds for remark in run["remarks"])
        kinds.setdefault(case, set()).update(remark["code"] for remark in remarks if remark["severity"] == "warning")
    return {case: sorted(found) for case, found in kinds.items() if found}


def ranked(runs: Runs, own: str | None, by: str, bound: str | None = None) -> list[Standing]:
    """The standings of policies, best first.

    Args:
        runs: results by policy and case, one for each seed; the first policy is the baseline.
        own: the user's policy, if any.
        by: the figure to rank by.
        bound: the policy without a rank, if any.
    """
    baseline = next(iter(runs.values()))
    logarithms = {name: {figure: _logarithms(cases, baseline, figure) for figure in FIGURES} for name, cases in runs.items()}
    ranks = _ranks({name: _over_cases(found[by]) for name, found in logarithms.items() if name != bound})
    standings = [
        Standing(
            ranks.get(name),
            name,
            name == own,
            {figure: _ratio(of_cases) for figure, of_cases in logarithms[name].items()},
            {case: {figure: math.fsum(map(of, seeds)) / len(seeds) for figure, of in FIGURES.items()} for case, seeds in cases.items()},
            _digest(cases),
        )
        for name, cases in runs.items()
    ]
    return sorted(standings, key=lambda one: one.ratios[by].mean)


def _digest(cases: Mapping[str, Sequence[Result]]) -> str:
    return hashlib.sha256(" ".join(run["digest"] for seeds in cases.values() for run in seeds).encode()).hexdigest()[:16]


def _logarithms(cases: Mapping[str, Sequence[Result]], baseline: Mapping[str, Sequence[Result]], figure: str) -> list[list[float]]:
    """For each case, the logarithm of the ratio to the baseline under each seed."""
    of = FIGURES[figure]
    return [[math.log(of(run) / of(base)) for run, base in zip(seeds, baseline[case], strict=True)] for case, seeds in cases.items()]


def _over_cases(logarithms: Sequence[Sequence[float]]) -> list[float]:
    """For each seed, the mean over the cases."""
    return [math.fsum(seed) / len(seed) for seed in zip(*logarithms, strict=True)]


def _ratio(logarithms: Sequence[Sequence[float]]) -> Ratio:
    seeds = _over_cases(logarithms)
    mean = math.fsum(seeds) / len(seeds)
    found = effect([seeds])
    half = found.half if found else 0.0
    cases = [math.exp(math.fsum(case) / len(case)) for case in logarithms]
    return Ratio(math.exp(mean), math.exp(mean - half), math.exp(mean + half), min(cases), max(cases))


def _ranks(seeds: Mapping[str, Sequence[float]]) -> dict[str, int]:
    """Ranks from the logarithms under each seed, less being better: paired differences of all policies, with Holm's correction.

    With one seed each difference counts.
    """
    pairs = list(itertools.combinations(seeds, 2))
    differences = [[one - other for one, other in zip(seeds[a], seeds[b], strict=True)] for a, b in pairs]
    found = [effect([difference]) for difference in differences]
    certain = [p < 1 - LEVEL for p in holm([one.p if one else 0.0 for one in found])]
    worse: dict[str, int] = dict.fromkeys(seeds, 1)
    for (a, b), difference, is_certain in zip(pairs, differences, certain, strict=True):
        total = math.fsum(difference)
        if is_certain and total:
            worse[b if total < 0 else a] += 1
    return worse
