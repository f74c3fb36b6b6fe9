"""The answers to the questions of a sweep: paired differences over workloads and seeds, with Holm's correction over all of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ssdlab.analysis.effects import Effect, effect, holm
from ssdlab.analysis.remarks import MOST_NAMED
from ssdlab.checks import few
from ssdlab.errors import UsageError
from ssdlab.experiments.sweeping.definition import Point
from ssdlab.experiments.sweeping.doubts import NO_REPEATS, OF_PARTS, UNCOUNTED, doubt, is_of_parts, is_percentile, sources
from ssdlab.experiments.sweeping.pairs import Pair, change, grouped, in_text, pairs, plain, used
from ssdlab.experiments.sweeping.points import SAME_RATE, SweepPoint
from ssdlab.experiments.sweeping.questions import Question
from ssdlab.pages.report.leader import SHORT

__all__ = ["ABOUT", "COLUMNS", "Answers", "Comparison", "comparisons", "in_words", "row"]

LEVEL = 0.05
"""Corrected p-value below which a difference is said to be one."""

OVERLOADED = {"overloaded", "load-above-capacity"}
"""Codes of the remarks on a point that was offered more than it completes."""
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
    asked = f", whether it depends on {question.depends_on} (against {question.first})" if question.depends_on else ""
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
    return [one.value, *figure, *(plain(value) for value in one.at.values()), change, p, one.judged]


def _notes(found: Sequence[Comparison]) -> list[str]:
    """Each note once, with what it is about unless that is all rows."""
    about: dict[str, list[str]] = {}
    for one in found:
        if one.note:
            about.setdefault(one.note, []).append(", ".join([one.value, _short(one.figure), *(plain(value) for value in one.at.values())]))
    return [note if len(names) == len(found) else f"{few(names, MOST_NAMED, '; ')}: {note}" for note, names in about.items()]


def comparisons(questions: Sequence[Question], points: Sequence[SweepPoint], planned: Sequence[Point] = ()) -> list[Comparison]:
    """The answers to all questions, in their order, with Holm's correction over all of them.

    Args:
        questions: the questions.
        points: the points that were run.
        planned: all points of the sweep, to say how many pairs were not run.
    """
    found = [one for question in questions for one in _answers(question, points, planned)]
    judged = [index for index, one in enumerate(found) if one.effect is not None]
    adjusted = dict(zip(judged, holm([one.effect.p for one in found if one.effect is not None]), strict=True))
    return [replace(one, p=adjusted.get(index)) for index, one in enumerate(found)]


def _answers(question: Question, points: Sequence[SweepPoint], planned: Sequence[Point]) -> Iterator[Comparison]:
    all_planned = grouped(question, planned)
    for key, group in grouped(question, points).items():
        at = {axis: group[0].values[axis] for axis in question.by}
        for value in question.values:
            wanted = {in_text(more): len(found) for more, found in pairs(question, value, all_planned.get(key, []))}
            for more, found in pairs(question, value, group):
                for figure in question.figures:
                    yield _answer(question, value, figure, {**at, **more}, found, wanted.get(in_text(more), 0))


def _answer(
    question: Question, value: str, figure: str, at: Mapping[str, Any], found: Sequence[Pair[SweepPoint]], planned: int
) -> Comparison:
    counted = used(question, found)
    kept = [pair for seeds in counted for of in seeds for pair in of]
    note = _doubt(question, figure, found, kept)
    apart = [_distinct(counted[0], figure)] if len(counted) == 1 else counted
    repeated = sum(map(len, counted)) - sum(map(len, apart))
    groups = [] if note else [[math.fsum(_changes(of, figure)) / len(of) for of in seeds] for seeds in apart]
    judged: Effect | None = None
    if groups:
        try:
            judged = effect(groups)
            note = "" if judged is not None else NO_REPEATS if repeated else "one workload and one seed: give more of either"
        except UsageError as reason:
            note = str(reason)
    if judged is not None:
        note = "; ".join([*_conditions(question, figure, kept, len(groups)), *_missing(len(kept), max(planned, len(found)), repeated)])
    return Comparison(question, value, figure, at, len(apart), max(map(len, apart), default=0), judged, note)


def _distinct(seeds: Sequence[Sequence[Pair[SweepPoint]]], figure: str) -> list[Sequence[Pair[SweepPoint]]]:
    """The seeds that differ in a run: they are no evidence of their own where they change nothing."""
    found: dict[object, Sequence[Pair[SweepPoint]]] = {}
    for of in seeds:
        runs = [(point.result.get("digest") or id(point), point.measures.get(figure)) for pair in of for point in pair.points]
        found.setdefault(tuple(runs), of)
    return list(found.values())


def _changes(of: Sequence[Pair[SweepPoint]], figure: str) -> list[float]:
    return [found for pair in of if (found := change(pair, figure)) is not None]


def _missing(counted: int, planned: int, repeated: int) -> Iterator[str]:
    """How many pairs and seeds an answer is without."""
    if repeated:
        yield f"seeds that gave the same runs as others, and do not count: {repeated:,}"
    if counted < planned:
        yield f"without {planned - counted:,} of {planned:,} pairs, which were not run, or not under every seed"


def _conditions(question: Question, figure: str, found: Sequence[Pair[SweepPoint]], workloads: int) -> Iterator[str]:
    """What to know of an answer."""
    if workloads == 1:
        yield (
            "of one workload: the interval is over its seeds"
            if question.across
            else "no axis in across: the interval is over seeds, not over workloads"
        )
    points = _points(found)
    if is_of_parts(figure, points, question.across):
        yield OF_PARTS
    rates = _rates(found)
    if rates:
        low, high = (f"{rate - 1:+.0%}" for rate in (min(rates), max(rates)))
        span = low if low == high else f"{low} to {high}"
        yield f"offered {span} requests/s, each a share of what it sustains: load_of compares at one rate"
    overloaded = sum(any(remark.code in OVERLOADED for remark in point.result.remarks) for point in points)
    if overloaded and any(source.startswith(TIMES) for source in sources(figure, points)):
        yield f"{overloaded:,} of {len(points):,} points are overloaded: how large the change is depends on the length of the runs"


def _rates(found: Sequence[Pair[SweepPoint]]) -> list[float]:
    """The offered rates relative to those that they are compared with, of points at one load, if they are not one."""
    loads = [(one.share_of_own, other.share_of_own) for pair in found for one, other in zip(pair.after, pair.before, strict=True)]
    ratios = [one[1] / other[1] for one, other in loads if one is not None and other is not None and one[0] == other[0]]
    return ratios if any(max(ratio, 1 / ratio) > SAME_RATE for ratio in ratios) else []


def _doubt(question: Question, figure: str, found: Sequence[Pair[SweepPoint]], kept: Sequence[Pair[SweepPoint]]) -> str:
    """Why a comparison cannot be judged; empty if it can. `kept`: the pairs that count."""
    if not found:
        return "no pair of points was run"
    lacking = sum(change(pair, figure) is None for pair in found)
    if lacking == len(found):
        return "no run has the figure, or it is 0"
    if lacking:
        return f"{lacking:,} of {len(found):,} pairs lack the figure, or it is 0"
    if any(map(is_percentile, sources(figure, _points(kept)))) and (uncounted := sum(not point.is_counted for point in _points(kept))):
        return f"{uncounted:,} of {len(_points(kept)):,} points were {UNCOUNTED}"
    return doubt(figure, _points(kept), question.across) if kept else "no two seeds have pairs alike: run the missing points (--resume)"


def _points(found: Sequence[Pair[SweepPoint]]) -> list[SweepPoint]:
    """The points of pairs, each once."""
    return list({id(point): point for pair in found for point in pair.points}.values())
