"""The result of a study: `StudyResult`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ssdlab._core import version
from ssdlab.analysis.remarks import Remark, as_dicts, of_named
from ssdlab.analysis.uncertainty import Estimate
from ssdlab.errors import Error
from ssdlab.experiments.study.definition import Point, Study
from ssdlab.experiments.study.evaluation import Measured, Outcome, RunKey
from ssdlab.section import Section

__all__ = ["StudyResult", "labels_of"]


@dataclass
class StudyResult:
    """The result of a study."""

    study: Study
    quick: bool
    outcomes: list[Outcome]
    runs: dict[RunKey, Measured]
    skipped: dict[tuple[str, ...], str] = field(default_factory=dict)
    failed: dict[str, Error] = field(default_factory=dict)
    folder: Path | None = None
    series: dict[RunKey, Section] = field(default_factory=dict)
    """Results of runs with series, for quantities over time."""

    def estimate(self, metric: str, scheme: str, labels: tuple[str, ...], relative_to: str | None = None) -> Estimate | None:
        """A metric of a scheme at a combination of values, over the seeds; `None` if a run does not have it.

        Relative to a scheme, it is the ratio seed by seed, as both had the same requests; `None` if the divisor is 0 under a seed.
        """
        values = self._values(metric, scheme, labels)
        if relative_to is not None:
            bases = self._values(metric, relative_to, labels)
            values = [value / base for value, base in zip(values, bases, strict=True)] if len(bases) == len(values) and all(bases) else []
        return Estimate.of(values) if values else None

    def _values(self, metric: str, scheme: str, labels: tuple[str, ...]) -> list[float]:
        """A metric under each seed; empty if a run does not have it."""
        values = [self.runs[key].metrics[metric] for seed in self.study.seeds if (key := (scheme, labels, seed)) in self.runs]
        numbers = [value for value in values if not isinstance(value, str)]
        return numbers if len(numbers) == len(self.study.seeds) else []

    @property
    def remarks(self) -> list[Remark]:
        """Remarks that qualify the numbers of the rows."""
        found: dict[str, list[Remark]] = {}
        for outcome in self.outcomes:
            for run, remarks in outcome.warnings.items():
                known = found.setdefault(run, [])
                known += [remark for remark in remarks if remark not in known]
        return of_named(found)

    def to_dict(self) -> dict[str, Any]:
        """A copy as a dictionary, as in `study.json`. Values that were not measured are absent."""
        study = self.study
        return {
            "study": study.name,
            "title": study.title,
            "place": study.place,
            "about": study.about,
            "deviations": list(study.deviations),
            "discussion": [statement.to_dict() for statement in study.discussion],
            "version": version(),
            "quick": self.quick,
            "setup": {key: value for key, value in study.setup.items() if key != "quick"},
            "schemes": list(study.schemes),
            "seeds": list(study.seeds),
            "parameters": [{"name": axis.name, "values": list(axis.labels)} for axis in study.axes],
            "metrics": {name: {"title": metric.title, "of": metric.text} for name, metric in study.metrics.items()},
            "rows": [_row_dict(outcome) for outcome in self.outcomes],
            "remarks": as_dicts(self.remarks),
            "points": list(self._points()),
            "skipped": [{"values": list(labels), "reason": reason} for labels, reason in self.skipped.items()],
            "failed": {label: str(error) for label, error in self.failed.items()},
            "runs": [
                {"scheme": scheme, "values": list(labels), "seed": seed, "digest": run.digest}
                for (scheme, labels, seed), run in self.runs.items()
            ],
        }

    def _points(self) -> Iterator[dict[str, Any]]:
        for combination in self.study.combinations():
            labels = labels_of(combination)
            for scheme in self.study.schemes:
                estimates = {name: self.estimate(name, scheme, labels) for name in self.study.metrics}
                metrics = {name: estimate_dict(estimate) for name, estimate in estimates.items() if estimate is not None}
                if metrics:
                    yield {"scheme": scheme, "values": list(labels), "metrics": metrics}


def labels_of(combination: Sequence[Point]) -> tuple[str, ...]:
    """The labels of a combination of values."""
    return tuple(point.label for point in combination)


def estimate_dict(estimate: Estimate) -> dict[str, Any]:
    """A mean with the half width of its interval, and its values, as in `study.json`."""
    half = {} if estimate.half is None else {"interval": estimate.half}
    return {"mean": estimate.mean, **half, "values": list(estimate.values)}


def _row_dict(outcome: Outcome) -> dict[str, Any]:
    row = outcome.row
    entries = {
        "what": row.what,
        "value": row.formula.text,
        "unit": row.unit or None,
        "paper": row.paper,
        "at_least": row.at_least,
        "at_most": row.at_most,
        "note": row.note or None,
        "measured": None if outcome.estimate is None else estimate_dict(outcome.estimate),
        "difference": outcome.difference,
        "reason": outcome.reason or None,
        "reproduced": outcome.verdict or None,
        "grade": outcome.grade,
        "kind": None if row.claim is None else row.claim.kind,
        "calibrated": row.calibrated or None,
        "remarks": sorted({remark.code for remarks in outcome.warnings.values() for remark in remarks}) or None,
    }
    return {key: value for key, value in entries.items() if value is not None}
