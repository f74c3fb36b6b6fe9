"""Published and measured numbers: the table `effects.csv`, and their agreement, overall and by paper."""

from __future__ import annotations

import csv
import io
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab.experiments.study.grading import AMOUNT, CONTRADICTED, DIRECTION, GRADES, INCONCLUSIVE, OURS, SIZE, UNMEASURED, as_change
from ssdlab.experiments.study.results import Ran

__all__ = ["Agreement", "Effect", "agreement", "agreement_rows", "csv_text", "effects_of", "grade_counts", "rank_correlation"]

HEADS = ("paper", "study", "finding", "published", "measured", "low", "high", "unit", "grade", "calibrated")
"""Columns of `effects.csv`."""
FEWEST = 3
"""Minimum number of pairs for a rank correlation."""


@dataclass(frozen=True)
class Effect:
    """A published number with the measured one."""

    paper: str
    study: str
    """Name with the paper's key: `lee2013/fig11`."""
    finding: str
    published: float
    measured: float | None
    """Mean over the seeds; `None` if it was not measured."""
    low: float | None
    """Lower end of the 95 % confidence interval (`high` is the upper end); `None` for a single seed."""
    high: float | None
    unit: str
    kind: str
    """Kind of number, as in `ssdlab.experiments.study.grading`."""
    grade: str
    calibrated: bool


@dataclass(frozen=True)
class Agreement:
    """Agreement of published and measured numbers, of one paper or of all."""

    name: str
    grades: Mapping[str, int]
    """Number of published numbers with each grade."""
    compared: int
    """Number of measured numbers that compare two others, so that they have a sign."""
    sign_right: int
    """Number of compared numbers with the published sign; a published \"no effect\" requires no effect."""
    correlation: float | None
    """Spearman's rank correlation of the compared numbers as changes in percent; `None` if they are too few."""

    @property
    def numbers(self) -> int:
        """Number of published numbers."""
        return sum(self.grades.values())


def effects_of(studies: Iterable[Ran]) -> list[Effect]:
    """The published numbers that were measured again, ordered by paper, study and row.

    Studies that are not the paper's experiment (`ours`) repeat published numbers for comparison; they are left out.
    """
    ordered = sorted((study for _, study in studies), key=lambda study: str(study["study"]))
    return [_effect(study["study"], row) for study in ordered for row in study["rows"] if "paper" in row and row["grade"] != OURS]


def _effect(name: str, row: Mapping[str, Any]) -> Effect:
    measured = row.get("measured", {})
    mean, half = measured.get("mean"), measured.get("interval")
    low, high = (None, None) if half is None else (mean - half, mean + half)
    paper = name.split("/", maxsplit=1)[0]
    published, unit = float(row["paper"]), row.get("unit", "")
    return Effect(paper, name, row["what"], published, mean, low, high, unit, row["kind"], row["grade"], row.get("calibrated", False))


def csv_text(effects: Iterable[Effect]) -> str:
    """The table as CSV, a line for each published number; a number that was not measured is empty."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(HEADS)
    for effect in effects:
        numbers = (effect.published, effect.measured, effect.low, effect.high)
        cells = ("" if number is None else f"{number:.6g}" for number in numbers)
        calibrated = "true" if effect.calibrated else "false"
        table.writerow((effect.paper, effect.study, effect.finding, *cells, effect.unit, effect.grade, calibrated))
    return text.getvalue()


def grade_counts(studies: Iterable[Ran]) -> dict[str, int]:
    """Number of rows with each grade, including claims without a number and this project's own rows."""
    counts = Counter(row["grade"] for _, study in studies for row in study["rows"])
    return {grade: counts[grade] for grade in GRADES if counts[grade]}


def agreement(effects: Sequence[Effect]) -> list[Agreement]:
    """The agreement of the numbers of each paper, and of all papers (last entry)."""
    papers = sorted({effect.paper for effect in effects})
    parts = [_agreement(paper, [effect for effect in effects if effect.paper == paper]) for paper in papers]
    return [*parts, _agreement("all", effects)] if len(parts) > 1 else parts


def _agreement(name: str, effects: Sequence[Effect]) -> Agreement:
    grades = Counter(effect.grade for effect in effects)
    compared = [(effect, effect.measured) for effect in effects if effect.kind != AMOUNT and effect.measured is not None]
    pairs = [(as_change(effect.kind, effect.published), as_change(effect.kind, measured)) for effect, measured in compared]
    right = [old * new > 0 or (old == 0 and effect.grade == SIZE) for (effect, _), (old, new) in zip(compared, pairs, strict=True)]
    return Agreement(name, {grade: grades[grade] for grade in GRADES}, len(pairs), sum(right), rank_correlation(pairs))


def rank_correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Spearman's rank correlation, with mean ranks for equal values; `None` for fewer than three pairs or equal values only."""
    if len(pairs) < FEWEST:
        return None
    one, other = (_ranks(values) for values in zip(*pairs, strict=True))
    if len(set(one)) == 1 or len(set(other)) == 1:
        return None
    return statistics.correlation(one, other)


def _ranks(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    first = {value: ordered.index(value) for value in set(values)}
    return [first[value] + (ordered.count(value) + 1) / 2 for value in values]


AGREEMENT_HEADS = ("paper", "published numbers", SIZE, DIRECTION, CONTRADICTED, INCONCLUSIVE, UNMEASURED, "sign right", "rank correlation")


def agreement_rows(parts: Iterable[Agreement]) -> list[tuple[str, ...]]:
    """The table of agreement as texts, with headings."""
    grades = [grade for grade in GRADES if grade != OURS]
    rows = []
    for part in parts:
        counts = (str(part.grades[grade]) for grade in grades)
        correlation = "-" if part.correlation is None else f"{part.correlation:.2f}"
        rows.append((part.name, str(part.numbers), *counts, f"{part.sign_right} of {part.compared}", correlation))
    return [AGREEMENT_HEADS, *rows]
