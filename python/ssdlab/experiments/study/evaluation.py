"""Evaluation of a study: rows from the metrics of all runs, with a number for each seed, their mean and its uncertainty."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ssdlab.analysis.remarks import Remark, of_run
from ssdlab.analysis.uncertainty import Estimate
from ssdlab.experiments.study.definition import Row, Study
from ssdlab.experiments.study.expressions import AbsentError, lookup
from ssdlab.experiments.study.grading import OURS, UNMEASURED, grade

__all__ = ["Measured", "Outcome", "RunKey", "evaluate", "metrics_of"]

RunKey = tuple[str, tuple[str, ...], int]
"""Key of a run: scheme, labels of the parameters' values, and seed."""

HOLDS, WITHIN, FAILS, SHOWN = "yes", "within interval", "NO", ""


@dataclass(frozen=True)
class Measured:
    """A run's digest, metrics and warnings. A metric without a value has a text with the reason."""

    digest: str
    metrics: Mapping[str, float | str]
    warnings: tuple[Remark, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """A row with its measured value."""

    row: Row
    estimate: Estimate | None
    reason: str = ""
    warnings: Mapping[str, Sequence[Remark]] = field(default_factory=dict)
    """Warnings on the numbers that the row is computed from, by run."""

    @property
    def difference(self) -> float | None:
        """Measured minus published number; `None` if one is missing."""
        return None if self.estimate is None or self.row.paper is None else self.estimate.mean - self.row.paper

    @property
    def criterion(self) -> str:
        """The bounds of the number, in words."""
        parts = []
        if self.row.at_least is not None:
            parts.append(f">= {self.row.at_least:g}")
        if self.row.at_most is not None:
            parts.append(f"<= {self.row.at_most:g}")
        return " and ".join(parts)

    @property
    def verdict(self) -> str:
        """The verdict on the finding; empty for a row that only shows a number.

        "yes" and "NO" mean that the confidence interval lies on one side of a bound, "within interval" that a bound crosses it.
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
        """The grade of agreement with the paper, by the rule in `ssdlab.experiments.study.grading`."""
        claim = self.row.claim
        if claim is None:
            return OURS
        if self.estimate is None:
            return UNMEASURED
        mean, half = self.estimate.mean, self.estimate.half or 0.0
        return grade(claim, mean - half, mean, mean + half)


def metrics_of(study: Study, engine: str, result: Mapping[str, Any]) -> Measured:
    """Computes the metrics of a run."""
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
    """Computes every row of the study.

    Args:
        study: the study.
        runs: finished runs.
        missing: reasons why the runs of a combination of values were left out.
    """
    return [_outcome(study, row, runs, missing) for row in study.rows]


def _outcome(study: Study, row: Row, runs: Mapping[RunKey, Measured], missing: Mapping[tuple[str, ...], str]) -> Outcome:
    try:
        values = [row.formula.number(_resolver(study, row, runs, missing, seed)) for seed in study.seeds]
    except AbsentError as absent:
        return Outcome(row, None, str(absent))
    return Outcome(row, Estimate.of(values), warnings=_warnings(study, row, runs))


def _warnings(study: Study, row: Row, runs: Mapping[RunKey, Measured]) -> dict[str, list[Remark]]:
    """Warnings on the numbers that a row's metrics are computed from, by run."""
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
    """A function for the values of a row's references under one seed, with which all schemes had the same requests."""

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
