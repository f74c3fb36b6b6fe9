"""The pairs of points that a question divides, and their changes by workload and seed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from ssdlab.asking.plans import value_text
from ssdlab.experiments.sweeping.points import SEED, SweepPoint
from ssdlab.experiments.sweeping.questions import Question

__all__ = ["Pair", "change", "grouped", "in_text", "pairs", "plain", "used"]

LEAST_SEEDS = 2
"""Seeds of a single workload that an interval takes."""


class HasValues(Protocol):
    """A point, run or not."""

    @property
    def values(self) -> Mapping[str, Any]:
        """Values of the axes, by axis."""


Point = TypeVar("Point", bound=HasValues)


@dataclass(frozen=True)
class Pair(Generic[Point]):
    """Points whose figures are divided: the product of those after by the product of those before."""

    before: tuple[Point, ...]
    after: tuple[Point, ...]

    @property
    def points(self) -> tuple[Point, ...]:
        """All of them."""
        return (*self.before, *self.after)


def change(pair: Pair[SweepPoint], figure: str) -> float | None:
    """The logarithm of the ratio; `None` if a point lacks the figure, or it is 0."""
    if not all(point.measures.get(figure, 0) > 0 for point in pair.points):
        return None
    after, before = ([math.log(point.measures[figure]) for point in points] for points in (pair.after, pair.before))
    return math.fsum(after) - math.fsum(before)


def grouped(question: Question, points: Sequence[Point]) -> dict[str, list[Point]]:
    """The points of each combination of values of the axes `by`."""
    groups: dict[str, list[Point]] = {}
    for point in points:
        groups.setdefault(in_text({axis: point.values[axis] for axis in question.by}), []).append(point)
    return groups


def pairs(question: Question, value: str, points: Sequence[Point]) -> Iterator[tuple[dict[str, Any], list[Pair[Point]]]]:
    """The pairs with and without a value: all at once, or for each value of the axis on which the change may depend but the first."""
    depends_on = question.depends_on
    axes = {question.compare, depends_on}
    by_rest: dict[str, dict[tuple[str, str | None], Point]] = {}
    for point in points:
        rest = in_text({axis: of for axis, of in point.values.items() if axis not in axes})
        on = plain(point.values[depends_on]) if depends_on else None
        by_rest.setdefault(rest, {})[plain(point.values[question.compare]), on] = point
    first = question.first if depends_on else None
    levels: dict[str | None, Any] = {None: None}
    if depends_on:
        levels = {text: of for point in points if (text := plain(of := point.values[depends_on])) != first}
    for level, of_level in levels.items():
        before = [(question.against, level), *([(value, first)] if depends_on else [])]
        after = [(value, level), *([(question.against, first)] if depends_on else [])]
        whole = [found for found in by_rest.values() if all(key in found for key in (*before, *after))]
        found = [Pair(tuple(found[key] for key in before), tuple(found[key] for key in after)) for found in whole]
        yield ({depends_on: of_level} if depends_on else {}), found


def used(question: Question, found: Sequence[Pair[SweepPoint]]) -> list[list[list[Pair[SweepPoint]]]]:
    """The pairs that count, by workload and seed: all seeds of a workload with the same values of other axes.

    Seeds that lack a combination of values are left out; where too few are then left for an interval, combinations that a seed lacks.
    """
    by_workload: dict[str, dict[int, dict[str, Pair[SweepPoint]]]] = {}
    apart = {question.compare, question.depends_on, SEED, *question.across}
    for pair in found:
        one = pair.after[0]
        workload = in_text({axis: one.values[axis] for axis in question.across})
        seed = one.values.get(SEED, one.result["seed"])
        rest = in_text({axis: value for axis, value in one.values.items() if axis not in apart})
        by_workload.setdefault(workload, {}).setdefault(seed, {})[rest] = pair
    least = 1 if len(by_workload) > 1 else LEAST_SEEDS
    even = (_even(list(seeds.values()), least) for seeds in by_workload.values())
    return [seeds for seeds in even if seeds]


def _even(seeds: Sequence[Mapping[str, Pair[SweepPoint]]], least: int) -> list[list[Pair[SweepPoint]]]:
    """The pairs of seeds that have the same combinations."""
    whole = {rest for of in seeds for rest in of}
    full = [of for of in seeds if len(of) == len(whole)]
    if len(full) < min(least, len(seeds)):
        full, whole = list(seeds), {rest for rest in whole if all(rest in of for of in seeds)}
    return [[pair for rest, pair in of.items() if rest in whole] for of in full] if whole else []


def plain(value: Any) -> str:
    """A value of an axis as text, a text without quotes."""
    return value if isinstance(value, str) else value_text(value)


def in_text(values: Mapping[str, Any]) -> str:
    """Values of axes as a text that tells them apart."""
    return ", ".join(f"{axis} = {value_text(value)}" for axis, value in values.items())
