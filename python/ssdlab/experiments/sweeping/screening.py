"""Screening: successive halving over seeds. Points that are clearly worse than the best are dropped after few seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ssdlab.asking.plans import value_text
from ssdlab.checks import shown
from ssdlab.errors import ConfigError, UsageError
from ssdlab.experiments.sweeping.designs import check_table
from ssdlab.experiments.sweeping.points import SEED, SweepMean
from ssdlab.pages.report.leader import known_figure

if TYPE_CHECKING:
    from ssdlab.pages.report.summary import Place

__all__ = ["Screen", "read", "worse"]

LEAST_SEEDS = 3
"""Number of seeds from which on an interval says anything: with two, Student's t is 12.7."""
KEYS = ("by", "among", "first", "keep")


class _Axis(Protocol):
    """An axis of a sweep."""

    @property
    def name(self) -> str:
        """Name of the axis."""

    @property
    def values(self) -> Sequence[Any]:
        """Values of the axis."""


@dataclass(frozen=True)
class Screen:
    """How points are dropped early."""

    by: str
    """The figure by which they are compared."""
    among: tuple[str, ...]
    """The axes along which points compete. Points that differ in another axis do not."""
    first: int
    """Number of seeds of the first round. Each further round has twice as many."""
    keep: float
    """Share of the competing points that goes on in any case."""

    @property
    def table(self) -> dict[str, Any]:
        """The screening as in a file."""
        return {"by": self.by, "among": list(self.among), "first": self.first, "keep": self.keep}

    def rounds(self, seeds: Sequence[int]) -> Iterator[Sequence[int]]:
        """The seeds of each round."""
        begin, end = 0, self.first
        while begin < len(seeds):
            yield seeds[begin:end]
            begin, end = end, 2 * end


def read(where: str, table: object, last: _Axis, axes: Sequence[str]) -> Screen:
    """The screening of a table.

    Args:
        where: its place in messages.
        table: the table, with `by`, and perhaps `among`, `first` and `keep`.
        last: the last axis of the sweep, which must be that of the seeds.
        axes: names of all axes.

    Raises:
        ConfigError: an entry is wrong, or there are too few seeds.
    """
    given = check_table(where, table, KEYS)
    others = [axis for axis in axes if axis != SEED]
    by, among = given.get("by"), given.get("among", others)
    first, keep = given.get("first", LEAST_SEEDS), given.get("keep", 0.5)
    if not isinstance(by, str):
        raise ConfigError(f'{where}.by = {shown(by)}: expected a figure, such as "p99"')
    try:
        known_figure(by)
    except UsageError as reason:
        raise ConfigError(f"{where}.by: {reason}") from reason
    if not isinstance(among, list) or not among or not all(axis in others for axis in among):
        raise ConfigError(f"{where}.among = {shown(among)}: expected names of axes ({', '.join(others)})")
    if isinstance(first, bool) or not isinstance(first, int) or first < LEAST_SEEDS:
        raise ConfigError(f"{where}.first = {shown(first)}: expected how many seeds the first round has, at least {LEAST_SEEDS}")
    if isinstance(keep, bool) or not isinstance(keep, int | float) or not 0 < keep < 1:
        raise ConfigError(f"{where}.keep = {shown(keep)}: expected a share above 0 and below 1")
    if last.name != SEED or len(last.values) <= first:
        raise ConfigError(f"{where}: expected more than {first} seeds, as the last axis (seeds = {4 * first})")
    return Screen(by, tuple(among), first, float(keep))


def worse(screen: Screen, points: Sequence[SweepMean], differ: Callable[[SweepMean, SweepMean, str], bool | None]) -> list[SweepMean]:
    """The points that are clearly worse than the best of those that they compete with.

    A point is dropped if it is not in the best `keep` share, and its difference from the best exceeds its interval over seeds. A point
    without the figure is kept.
    """
    place = known_figure(screen.by)
    fields: dict[str, list[SweepMean]] = {}
    for point in points:
        if place.place in point.estimates:
            fields.setdefault(value_text(_rest(point.values, screen.among)), []).append(point)
    return [point for field in fields.values() for point in _last_of(field, screen, place, differ)]


def _last_of(
    field: list[SweepMean], screen: Screen, place: Place, differ: Callable[[SweepMean, SweepMean, str], bool | None]
) -> list[SweepMean]:
    ordered = sorted(field, key=lambda point: point.estimates[place.place].centre, reverse=place.better == "high")
    kept = max(1, round(screen.keep * len(ordered)))
    return [point for point in ordered[kept:] if differ(ordered[0], point, place.place)]


def _rest(values: Mapping[str, Any], among: Sequence[str]) -> dict[str, Any]:
    return {axis: value for axis, value in values.items() if axis not in among}
