"""From the metrics of all runs to the rows of a study: a number for each seed, their mean and how sure it is."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ssdlab.remarks import Remark, of_run
from ssdlab.study.definition import Row, Study
from ssdlab.study.expressions import AbsentError, lookup
from ssdlab.study.grading import OURS, UNMEASURED, grade
from ssdlab.uncertainty import Estimate

__all__ = ["Measured", "Outcome", "RunKey", "evaluate", "metrics_of"]

RunKey = tuple[str, tuple[str, ...], int]
"""Scheme, labels of the parameters' values, seed."""

HOLDS, WITHIN, FAILS, SHOWN = "yes", "within interval", "NO", ""


@dataclass(frozen=True)
class Measured:
    """A run: its digest and its metrics; of a metric that it does not have, why. `warnings`: the remarks that its numbers need."""

    digest: str
    metrics: Mapping[str, float | str]
    warnings: tuple[Remark, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """A row with what came of it."""

    row: Row
    estimate: Estimate | None
    reason: str = ""
    warnings: Mapping[str, Sequence[Remark]] = field(default_factory=dict)
    """By run: the remarks on the numbers that the row is made of."""

    @property
    def difference(self) -> float | None:
        """Measured minus published."""
        return None if self.estimate is None or self.row.paper is None else self.estimate.mean - self.row.paper

    @property
    def criterion(self) -> str:
        """What the number must be, in words."""
        parts = []
        if self.row.at_least is not None:
            parts.append(f">= {self.row.at_least:g}")
        if self.row.at_most is not None:
            parts.append(f"<= {self.row.at_most:g}")
        return " and ".join(parts)

    @property
    def verdict(self) -> str:
        """Whether the finding is reproduced; nothing where the row only shows a number.

        "yes" and "NO" are for confidence intervals that lie all on one side of a bound, "within interval" for those that a bound crosses.
        """
        if self.estimate is None:
            return UNMEASURED
        if self.row.at_least is None and self.row.at_most is None:
            return SHOWN
        low = -math.inf if self.row.at_least is None else self.row.at_least
        high = math.inf if self.row.at_most is None else self.row.at_most
        mean, half = self.estimate.mean, self.estimate.half or 0.0
        if low <= mean - half and mean + half <= high:
            return HOLDS
        return WITHIN if low <= mean + half and mean - half <= high else FAILS

    @property
    def grade(self) -> str:
        """How well the number agrees with what the paper says, by one rule: `ssdlab.study.grading`."""
        claim = self.row.claim
        if claim is None:
            return OURS
        if self.estimate is None:
            return UNMEASURED
        mean, half = self.estimate.mean, self.estimate.half or 0.0
        return grade(claim, mean - half, mean, mean + half)


def metrics_of(study: Study, engine: str, result: Mapping[str, Any]) -> Measured:
    """The metrics of a run of an engine."""
    metrics: dict[str, float | str] = {}
    for metric in study.metrics.values():
        try:
            if engine not in metric.formulas:
                raise AbsentError(f"{metric.name} is not defined for the engine {engine}")
            metrics[metric.name] = metric.formulas[engine].number(lambda path: lookup(result, path))
        except AbsentError as absent:
            metrics[metric.name] = str(absent)
    return Measured(str(result.get("digest", "")), metrics, tuple(remark for remark in of_run(result) if remark.is_warning))


def evaluate(study: Study, runs: Mapping[RunKey, Measured], missing: Mapping[tuple[str, ...], str]) -> list[Outcome]:
    """Every row of the study.

    Args:
        study: the study.
        runs: its runs, those that finished.
        missing: why the runs of a combination of values were left out.
    """
    return [_outcome(study, row, runs, missing) for row in study.rows]


def _outcome(study: Study, row: Row, runs: Mapping[RunKey, Measured], missing: Mapping[tuple[str, ...], str]) -> Outcome:
    try:
        values = [row.formula.number(_resolver(study, row, runs, missing, seed)) for seed in study.seeds]
    except AbsentError as absent:
        return Outcome(row, None, str(absent))
    return Outcome(row, Estimate.of(values), warnings=_warnings(study, row, runs))


def _warnings(study: Study, row: Row, runs: Mapping[RunKey, Measured]) -> dict[str, list[Remark]]:
    """By run: the remarks on what the metrics of a row are made of."""
    found: dict[str, list[Remark]] = {}
    for reference in row.formula.references.values():
        paths = {path for formula in study.metrics[reference.metric].formulas.values() for path in formula.names}
        for (scheme, labels), seed in itertools.product(study.places(reference), study.seeds):
            run = runs.get((scheme, labels, seed))
            about = [remark for remark in run.warnings if any(map(remark.concerns, paths))] if run is not None else []
            if about:
                found[", ".join([scheme, *labels, *([f"seed {seed}"] if len(study.seeds) > 1 else [])])] = about
    return found


def _resolver(study: Study, row: Row, runs: Mapping[RunKey, Measured], missing: Mapping[tuple[str, ...], str], seed: int) -> Any:
    """What the references of a row stand for in the runs of one seed: all schemes saw the same requests."""

    def resolve(name: str) -> float | tuple[float, ...]:
        reference = row.formula.references[name]
        places = study.places(reference)
        left_out = [labels for _, labels in places if labels in missing]
        if left_out:
            raise AbsentError(missing[left_out[0]])
        numbers = tuple(_number(runs, reference.metric, (scheme, labels, seed)) for scheme, labels in places)
        return numbers[0] if len(numbers) == 1 else numbers

    return resolve


def _number(runs: Mapping[RunKey, Measured], metric: str, key: RunKey) -> float:
    run = runs.get(key)
    scheme, labels, seed = key
    where = ", ".join([scheme, *labels])
    if run is None:
        raise AbsentError(f"the run of {where}, seed {seed}, did not finish")
    value = run.metrics[metric]
    if isinstance(value, str):
        raise AbsentError(f"{where}: {value}")
    return value
