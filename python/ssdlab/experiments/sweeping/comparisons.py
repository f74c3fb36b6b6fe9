"""The answers to the questions of a sweep: paired differences over workloads and seeds, with Holm's correction over all of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ssdlab.analysis.effects import Effect, effect, holm
from ssdlab.analysis.remarks import MOST_NAMED
from ssdlab.asking.plans import value_text
from ssdlab.checks import few
from ssdlab.errors import UsageError
from ssdlab.experiments.sweeping.doubts import OF_PARTS, doubt, is_of_parts
from ssdlab.experiments.sweeping.points import SEED, SweepPoint
from ssdlab.experiments.sweeping.questions import Question
from ssdlab.pages.report.leader import SHORT

__all__ = ["ABOUT", "COLUMNS", "Answers", "Comparison", "comparisons", "in_words", "row"]

LEVEL = 0.05
"""Corrected p-value below which a difference is said to be one."""

OVERLOADED = "overloaded"
"""Code of the remark on a point that was offered more than it completed."""
TIMES = "latency_ns."
"""Begin of the figures that grow with the length of an overloaded run."""


@dataclass(frozen=True)
class Comparison:
    """A value of an axis against another one, by one figure."""

    question: Question
    value: str
    figure: str
    at: Mapping[str, Any]
    """Values of the axes in `by`, and of the one in `depends_on`."""
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
        """`lower`, `higher`, `tie` or `not judged`; `uncertain` where chance is left out alone, and not among all that was compared."""
        if self.effect is None or self.p is None:
            return "not judged"
        if self.p >= LEVEL:
            return "uncertain" if self.effect.p < LEVEL else "tie"
        return "lower" if self.effect.mean < 0 else "higher"

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
    against: dict[str, set[str]] = {}
    for one in found:
        against.setdefault(one.question.compare, set()).add(one.question.against)
    groups = itertools.groupby(found, key=lambda one: one.question)
    return [_in_words(question, list(group), against[question.compare]) for question, group in groups]


def _over(found: Sequence[Comparison]) -> str:
    """Over what intervals are."""
    workloads, seeds = max(one.workloads for one in found), max(one.seeds for one in found)
    of_seeds = f"{seeds} seed{'' if seeds == 1 else 's'}"
    return f"{workloads} workloads x {of_seeds}" if workloads > 1 else of_seeds


def _in_words(question: Question, found: Sequence[Comparison], against: Collection[str]) -> Answers:
    several = len(question.figures) > 1
    figure = "" if several else f", {_short(question.figures[0])}"
    stated = "asked after results were there" if question.after else "stated before the runs"
    depends = [question.depends_on] if question.depends_on else []
    asked = f", whether it depends on {question.depends_on}" if question.depends_on else ""
    return Answers(
        f"{question.compare} against {question.against}{asked}{figure}: over {_over(found)}, {stated}",
        [question.compare, *(["figure"] if several else []), *question.by, *depends, "change (95 % interval)", "p (Holm)", "judged"],
        [_cells(one, several=several) for one in found],
        [*_notes(found), *_other_pairs(question, against)],
    )


def _other_pairs(question: Question, against: Collection[str]) -> Iterator[str]:
    """How to ask about the pairs that no question compares. `against`: what those of this axis compare with."""
    left = [value for value in question.values if value not in against]
    if len(left) > 1:
        yield f'other pairs: a further question with against = "{left[0]}"'


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


@dataclass(frozen=True)
class _Pair:
    """Points whose figures are divided: the product of those after by the product of those before."""

    before: tuple[SweepPoint, ...]
    after: tuple[SweepPoint, ...]

    @property
    def points(self) -> tuple[SweepPoint, ...]:
        """All of them."""
        return (*self.before, *self.after)

    def change(self, figure: str) -> float | None:
        """The logarithm of the ratio; `None` if a point lacks the figure, or it is 0."""
        if not all(point.measures.get(figure, 0) > 0 for point in self.points):
            return None
        after, before = ([math.log(point.measures[figure]) for point in points] for points in (self.after, self.before))
        return math.fsum(after) - math.fsum(before)


def _answers(question: Question, points: Sequence[SweepPoint]) -> Iterator[Comparison]:
    groups: dict[str, list[SweepPoint]] = {}
    for point in points:
        groups.setdefault(_text({axis: point.values[axis] for axis in question.by}), []).append(point)
    for group in groups.values():
        at = {axis: group[0].values[axis] for axis in question.by}
        for value in question.values:
            for more, pairs in _pairs(question, value, group):
                for figure in question.figures:
                    yield _answer(question, value, figure, {**at, **more}, pairs)


def _pairs(question: Question, value: str, points: Sequence[SweepPoint]) -> Iterator[tuple[dict[str, Any], list[_Pair]]]:
    """The pairs with and without a value: all at once, or for each value of the axis on which the change may depend but the first."""
    depends_on = question.depends_on
    axes = {question.compare, depends_on}
    by_rest: dict[str, dict[tuple[str, Any], SweepPoint]] = {}
    for point in points:
        rest = _text({axis: of for axis, of in point.values.items() if axis not in axes})
        on = point.values[depends_on] if depends_on else None
        by_rest.setdefault(rest, {})[_plain(point.values[question.compare]), on] = point
    levels = list(dict.fromkeys(point.values[depends_on] for point in points)) if depends_on else [None]
    first = levels[0]
    for level in levels[1:] if depends_on else levels:
        before = [(question.against, level), *([(value, first)] if depends_on else [])]
        after = [(value, level), *([(question.against, first)] if depends_on else [])]
        whole = [found for found in by_rest.values() if all(key in found for key in (*before, *after))]
        pairs = [_Pair(tuple(found[key] for key in before), tuple(found[key] for key in after)) for found in whole]
        yield ({depends_on: level} if depends_on else {}), pairs


def _answer(question: Question, value: str, figure: str, at: Mapping[str, Any], pairs: Sequence[_Pair]) -> Comparison:
    changes = [(pair, change) for pair in pairs if (change := pair.change(figure)) is not None]
    # by workload and seed: the differences of all pairs, which differ in other axes
    found: dict[str, dict[int, list[float]]] = {}
    for pair, change in changes:
        one = pair.after[0]
        workload = _text({axis: one.values[axis] for axis in question.across})
        seed = one.values.get(SEED, one.result["seed"])
        found.setdefault(workload, {}).setdefault(seed, []).append(change)
    groups = [[math.fsum(of) / len(of) for of in seeds.values()] for seeds in found.values()]
    seeds = max(map(len, groups), default=0)
    note = _doubt(question, figure, pairs, len(changes))
    judged: Effect | None = None
    if not note:
        try:
            judged = effect(groups)
            note = "" if judged is not None else "one workload and one seed: give more of either"
        except UsageError as reason:
            note = str(reason)
    if judged is not None:
        note = "; ".join(_conditions(question, figure, pairs, len(groups)))
    return Comparison(question, value, figure, at, len(groups), seeds, judged, note)


def _conditions(question: Question, figure: str, pairs: Sequence[_Pair], workloads: int) -> Iterator[str]:
    """What to know of an answer."""
    if workloads == 1:
        yield (
            "of one workload: the interval is over its seeds"
            if question.across
            else "no axis of workloads: the interval is over seeds of one"
        )
    points = _points(pairs)
    if is_of_parts(figure, points, question.across):
        yield OF_PARTS
    overloaded = sum(any(remark.code == OVERLOADED for remark in point.result.remarks) for point in points)
    if overloaded and figure.startswith(TIMES):
        yield f"{overloaded:,} of {len(points):,} points are overloaded: how large the change is depends on the length of the runs"


def _doubt(question: Question, figure: str, pairs: Sequence[_Pair], having: int) -> str:
    """Why a comparison cannot be judged; empty if it can. `having`: number of pairs with the figure."""
    if not pairs:
        return "no pair of points was run"
    if not having:
        return "no run has the figure, or it is 0"
    if having < len(pairs):
        return f"{len(pairs) - having:,} of {len(pairs):,} pairs lack the figure, or it is 0"
    return doubt(figure, _points(pairs), question.across)


def _points(pairs: Sequence[_Pair]) -> list[SweepPoint]:
    """The points of pairs, each once."""
    return list({id(point): point for pair in pairs for point in pair.points}.values())


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else value_text(value)


def _text(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{axis} = {value_text(value)}" for axis, value in values.items())
