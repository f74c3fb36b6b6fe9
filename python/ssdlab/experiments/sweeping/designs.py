"""Designs of sweeps other than all combinations: axes that change together, and values drawn at random."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np

from ssdlab.checks import nearest, shown
from ssdlab.errors import ConfigError

__all__ = ["INDEPENDENT", "LATIN", "Drawn", "check_table", "drawn", "unique", "zipped"]

LATIN, INDEPENDENT = "latin-hypercube", "independent"
DESIGNS = (LATIN, INDEPENDENT)
FROM, TO, LOG = "from", "to", "log"
MOST_DRAWN = 20_000
LARGEST = 2.0**63
"""Bound of the ends of a range."""


@dataclass(frozen=True)
class Drawn:
    """Axes that change together: names, and a row of values for each point."""

    axes: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


def zipped(where: str, table: object) -> Drawn:
    """The axes and rows of a table such as `{ axes = ["a", "b"], rows = [[1, 2], [3, 4]] }`.

    Raises:
        ConfigError: a row has another number of values than there are axes, or is there twice.
    """
    given = check_table(where, table, ("axes", "rows"))
    axes, rows = given.get("axes"), given.get("rows")
    if not isinstance(axes, list) or len(axes) < 2 or not all(isinstance(axis, str) for axis in axes) or len(set(axes)) < len(axes):
        raise ConfigError(f'{where}.axes = {shown(axes)}: expected two or more different names, such as ["gc.soft", "gc.hard"]')
    if not isinstance(rows, list) or not rows:
        raise ConfigError(f"{where}.rows: expected a list of rows, with a value of each axis in each")
    for index, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != len(axes):
            raise ConfigError(f"{where}.rows[{index}] = {shown(row)}: expected {len(axes)} values, of {', '.join(axes)}")
    return Drawn(tuple(axes), tuple(map(tuple, rows)))


def drawn(where: str, table: object) -> Drawn:
    """The axes and rows of a random design: a table with `points`, `axes`, and perhaps `design` and `seed`.

    An axis is a list of values, or a range `{ from = 1.0, to = 10.0, log = true }`. A range between whole numbers has whole numbers. The
    rows depend on nothing but this table. In a Latin hypercube each axis has one value in each of as many equal parts of its range as
    there are points, or each value of a list equally often, up to one.

    Raises:
        ConfigError: the table is not such a design.
    """
    given = check_table(where, table, ("points", "axes", "design", "seed"))
    points, design, seed = given.get("points"), given.get("design", LATIN), given.get("seed", 1)
    if isinstance(points, bool) or not isinstance(points, int) or not 1 <= points <= MOST_DRAWN:
        raise ConfigError(f"{where}.points = {shown(points)}: expected a whole number from 1 to {MOST_DRAWN:,}")
    if design not in DESIGNS:
        raise ConfigError(f"{where}.design = {shown(design)}: expected {' or '.join(DESIGNS)}")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ConfigError(f"{where}.seed = {shown(seed)}: expected a whole number from 0 on")
    axes = given.get("axes")
    ranges = dict(_ranges(axes)) if isinstance(axes, Mapping) else {}
    if not ranges:
        raise ConfigError(f"{where}.axes: expected at least one axis, such as gc.soft = {{ from = 0.02, to = 0.2 }}")
    generator = np.random.default_rng(seed)
    columns = [_column(f"{where}.axes.{name}", of, _uniform(generator, points, design)) for name, of in ranges.items()]
    return Drawn(tuple(ranges), tuple(unique(zip(*columns, strict=True))))


def check_table(where: str, table: object, known: Sequence[str]) -> Mapping[str, Any]:
    """A table with known keys only."""
    if not isinstance(table, Mapping):
        raise ConfigError(f"{where} = {shown(table)}: expected a table with {', '.join(known)}")
    for key in table:
        if key not in known:
            raise ConfigError(f'{where}: unknown key "{key}"{nearest(key, known)} (keys: {", ".join(known)})')
    return table


def unique(rows: Iterator[tuple[Any, ...]] | Sequence[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """The rows in their order, each once."""
    seen: set[str] = set()
    for row in rows:
        if repr(row) not in seen:
            seen.add(repr(row))
            yield row


def _ranges(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Nested tables of keys as full keys, each with its list or range."""
    for key, value in table.items():
        if isinstance(value, Mapping) and not {FROM, TO} & set(value):
            yield from _ranges(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _uniform(generator: np.random.Generator, points: int, design: str) -> list[float]:
    """Numbers from 0 to less than 1; in a Latin hypercube one in each of `points` equal parts."""
    within = generator.random(points)
    return list((generator.permutation(points) + within) / points if design == LATIN else within)


def _column(where: str, of: object, shares: Sequence[float]) -> list[Any]:
    """The values of an axis at shares of its range, or of the list of its values."""
    if isinstance(of, list) and of:
        return [of[int(share * len(of))] for share in shares]
    if not isinstance(of, Mapping):
        raise ConfigError(f"{where} = {shown(of)}: expected a list of values, or a range {{ from = 0.02, to = 0.2 }}")
    table = check_table(where, of, (FROM, TO, LOG))
    low, high, log = table.get(FROM), table.get(TO), table.get(LOG, False)
    if not isinstance(log, bool):
        raise ConfigError(f"{where}.log = {shown(log)}: expected true or false")
    if not _is_number(low) or not _is_number(high) or not low < high:
        raise ConfigError(f"{where}: from = {shown(low)}, to = {shown(high)}: expected two numbers, the second larger")
    if log and low <= 0:
        raise ConfigError(f"{where}: from = {shown(low)}: expected a number above 0, since the range is logarithmic")
    whole = isinstance(low, int) and isinstance(high, int)
    end = high + 1 if whole else high
    places = (low * (end / low) ** share if log else low + share * (end - low) for share in shares)
    # six digits: more are only longer names of folders
    return [min(int(place), high) if whole else float(f"{place:.6g}") for place in places]


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST
