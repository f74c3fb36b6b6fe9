"""The answers to the questions of a sweep: paired differences over workloads and seeds, with Holm's correction over all of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ssdlab.analysis.effects import Effect, effect, holm
from ssdlab.analysis.remarks import MOST_NAMED
from ssdlab.asking.plans import value_text
from ssdlab.checks import few
from ssdlab.errors import UsageError
from ssdlab.experiments.sweeping.independence import too_few
from ssdlab.experiments.sweeping.points import SEED, SweepPoint
from ssdlab.experiments.sweeping.questions import Question
from ssdlab.pages.report.leader import SHORT

__all__ = ["ABOUT", "COLUMNS", "Answers", "Comparison", "comparisons", "in_words", "row"]

LEVEL = 0.05
"""Corrected p-value below which a difference is said to be one."""

AMPLIFICATIONS = ("gc.write_amplification", "gc.page_write_amplification")
"""Figures that are judged only where all points have settled."""
NOT_SETTLED = "not-settled"
"""Code of the remark on a point that has not."""


@dataclass(frozen=True)
class Comparison:
    """A value of an axis against another one, by one figure."""

    question: Question
    value: str
    figure: str
    at: Mapping[str, Any]
    """Values of the axes in `by`."""
    workloads: int
    seeds: int
    """Most seeds of a workload."""
    effect: Effect | None
    """Of the logarithm of the ratio; `None` if it was not judged."""
    note: str = ""
    """Why it was not judged, or what else to know."""
    p: float | None = None
    """The p-value with Holm's correction over all comparisons of the sweep."""

    @property
    def judged(self) -> str:
        """`lower`, `higher`, `tie` or `not judged`."""
        if self.effect is None or self.p is None:
            return "not judged"
        return "tie" if self.p >= LEVEL else "lower" if self.effect.mean < 0 else "higher"

    @property
    def change(self) -> tuple[float, float, float] | None:
        """The relative change, and the ends of its 95 % interval: the geometric mean over workloads."""
        if self.effect is None:
            return None
        mean, half = self.effect.mean, self.effect.half
        return math.expm1(mean), math.expm1(mean - half), math.expm1(mean + half) if mean + half < 700 else math.inf

    @property
    def chosen(self) -> str:
        """Whether it was stated before the runs, or chosen after results were there."""
        return "after" if self.question.after else "before"


COLUMNS = (
    *("compare", "value", "against", "figure", "at", "workloads", "seeds", "change", "low", "high", "p", "p_holm", "judged"),
    *("effect_size", "effect_size_low", "effect_size_high", "between_workloads", "between_seeds", "chosen", "note"),
)


def row(one: Comparison) -> dict[str, Any]:
    """A comparison as a row of a table, with `COLUMNS`. Deviations are of the logarithm of the ratio, about relative changes."""
    of, change = one.effect, one.change
    size, ends = (None, None) if of is None else (of.size, of.size_ends)
    return {
        **{"compare": one.question.compare, "value": one.value, "against": one.question.against, "figure": one.figure},
        **{"at": ", ".join(f"{axis} = {value}" for axis, value in one.at.items()), "workloads": one.workloads, "seeds": one.seeds},
        **dict(zip(("change", "low", "high"), change or (None, None, None), strict=True)),
        **{"p": None if of is None else of.p, "p_holm": one.p, "judged": one.judged, "effect_size": size},
        **dict(zip(("effect_size_low", "effect_size_high"), ends or (None, None), strict=True)),
        "between_workloads": None if of is None else of.between,
        "between_seeds": None if of is None else of.within,
        **{"chosen": one.chosen, "note": one.note},
    }


ABOUT = "p has Holm's correction over all answers, intervals have none. comparisons.csv has effect sizes too."
SHORT_NAMES = {path: name for name, path in SHORT.items()}


@dataclass(frozen=True)
class Answers:
    """The answers to a question in words."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str]
    """Why answers were not judged, or what else to know."""


def in_words(found: Sequence[Comparison]) -> list[Answers]:
    """The answers in words: a table for each question, with what all its rows have in common in the title."""
    return [_in_words(question, list(group)) for question, group in itertools.groupby(found, key=lambda one: one.question)]


def _over(found: Sequence[Comparison]) -> str:
    """Over what intervals are."""
    workloads, seeds = max(one.workloads for one in found), max(one.seeds for one in found)
    of_seeds = f"{seeds} seed{'' if seeds == 1 else 's'}"
    return f"{workloads} workloads x {of_seeds}" if workloads > 1 else of_seeds


def _in_words(question: Question, found: Sequence[Comparison]) -> Answers:
    several = len(question.figures) > 1
    figure = "" if several else f", {_short(question.figures[0])}"
    stated = "asked after results were there" if question.after else "stated before the runs"
    return Answers(
        f"{question.compare} against {question.against}{figure}: over {_over(found)}, {stated}",
        [question.compare, *(["figure"] if several else []), *question.by, "change (95 % interval)", "p (Holm)", "judged"],
        [_cells(one, several=several) for one in found],
        _notes(found),
    )


def _short(figure: str) -> str:
    return SHORT_NAMES.get(figure, figure)


def _cells(one: Comparison, *, several: bool) -> list[str]:
    change = "" if one.change is None else "{:+.1%} ({:+.1%} to {:+.1%})".format(*one.change)
    figure, p = [_short(one.figure)] if several else [], "" if one.p is None else f"{one.p:.2g}"
    return [one.value, *figure, *(_plain(value) for value in one.at.values()), change, p, one.judged]


def _notes(found: Sequence[Comparison]) -> list[str]:
    """Each note once, with what it is about unless that is all rows."""
    about: dict[str, list[str]] = {}
    for one in found:
        if one.note:
            about.setdefault(one.note, []).append(", ".join([one.value, _short(one.figure), *(_plain(value) for value in one.at.values())]))
    return [note if len(names) == len(found) else f"{few(names, MOST_NAMED, '; ')}: {note}" for note, names in about.items()]


def comparisons(questions: Sequence[Question], points: Sequence[SweepPoint]) -> list[Comparison]:
    """The answers to all questions, in their order, with Holm's correction over all of them."""
    found = [one for question in questions for one in _answers(question, points)]
    judged = [index for index, one in enumerate(found) if one.effect is not None]
    adjusted = dict(zip(judged, holm([one.effect.p for one in found if one.effect is not None]), strict=True))
    return [replace(one, p=adjusted.get(index)) for index, one in enumerate(found)]


def _answers(question: Question, points: Sequence[SweepPoint]) -> Iterator[Comparison]:
    groups: dict[str, list[SweepPoint]] = {}
    for point in points:
        groups.setdefault(_text({axis: point.values[axis] for axis in question.by}), []).append(point)
    for group in groups.values():
        at = {axis: group[0].values[axis] for axis in question.by}
        by_value: dict[str, dict[str, SweepPoint]] = {}
        for point in group:
            rest = {axis: value for axis, value in point.values.items() if axis != question.compare}
            by_value.setdefault(_plain(point.values[question.compare]), {})[_text(rest)] = point
        base = by_value.get(question.against, {})
        for value in question.values:
            others = by_value.get(value, {})
            pairs = [(base[rest], other) for rest, other in others.items() if rest in base]
            for figure in question.figures:
                yield _answer(question, value, figure, at, pairs)


def _answer(
    question: Question, value: str, figure: str, at: Mapping[str, Any], pairs: Sequence[tuple[SweepPoint, SweepPoint]]
) -> Comparison:
    having = [(before, after) for before, after in pairs if _positive(before, figure) and _positive(after, figure)]
    # by workload and seed: the differences of all pairs, which differ in other axes
    found: dict[str, dict[int, list[float]]] = {}
    for before, after in having:
        workload = _text({axis: before.values[axis] for axis in question.across})
        seed = before.values.get(SEED, before.result["seed"])
        found.setdefault(workload, {}).setdefault(seed, []).append(math.log(after.measures[figure] / before.measures[figure]))
    groups = [[math.fsum(of) / len(of) for of in seeds.values()] for seeds in found.values()]
    seeds = max(map(len, groups), default=0)
    note = _doubt(figure, pairs, having)
    judged: Effect | None = None
    if not note:
        try:
            judged = effect(groups)
            note = "" if judged is not None else "one workload and one seed: give more of either"
        except UsageError as reason:
            note = str(reason)
    if judged is not None and len(groups) == 1 and question.across:
        note = "of one workload: the interval is over its seeds"
    elif judged is not None and len(groups) == 1:
        note = "no axis of workloads: the interval is over seeds of one"
    return Comparison(question, value, figure, at, len(groups), seeds, judged, note)


def _doubt(figure: str, pairs: Sequence[tuple[SweepPoint, SweepPoint]], having: Sequence[tuple[SweepPoint, SweepPoint]]) -> str:
    """Why a comparison cannot be judged; empty if it can."""
    if not pairs:
        return "no pair of points was run"
    if not having:
        return "no run has the figure, or it is 0"
    if len(having) < len(pairs):
        return f"{len(pairs) - len(having):,} of {len(pairs):,} pairs lack the figure, or it is 0"
    points = {id(point): point for pair in pairs for point in pair}.values()
    if figure in AMPLIFICATIONS:
        unsettled = sum(any(remark.code == NOT_SETTLED for remark in point.result.remarks) for point in points)
        return f"write amplification has not settled at {unsettled:,} of {len(points):,} points" if unsettled else ""
    over_seeds: dict[str, list[SweepPoint]] = {}
    for point in {id(point): point for pair in pairs for point in pair}.values():
        over_seeds.setdefault(_text({axis: value for axis, value in point.values.items() if axis != SEED}), []).append(point)
    return too_few(figure, over_seeds.values())


def _positive(point: SweepPoint, figure: str) -> bool:
    return point.measures.get(figure, 0) > 0


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else value_text(value)


def _text(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{axis} = {value_text(value)}" for axis, value in values.items())
