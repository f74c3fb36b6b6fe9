"""What varies in the files of sweeps and studies: either takes the other's way of writing it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ssdlab.asking.keys import LABEL, SET, check_keys, check_type, flat
from ssdlab.asking.options import DEFAULT_SEED
from ssdlab.checks import shown
from ssdlab.errors import ConfigError

__all__ = ["GRID", "SCHEMES", "SEEDS", "VARY", "as_grid", "as_vary", "check_axis"]

GRID, VARY, SCHEMES, SEEDS = "grid", "vary", "schemes", "seeds"
SCHEME, SEED = "scheme", "seed"
AXIS_KEYS = ("name", "key", "values", "labels", "points")


def check_axis(where: str, axis: Mapping[str, Any]) -> None:
    """Refuses a table of `[[vary]]` that lacks something.

    Raises:
        ConfigError: it has neither `key` and `values` nor `points`, or not a label for each value.
    """
    check_keys(where, axis, AXIS_KEYS)
    if "name" not in axis or ("points" in axis) == ("values" in axis) or ("key" in axis) != ("values" in axis):
        raise ConfigError(f"{where}: expected a name, and either key and values, or points")
    labels, values = axis.get("labels"), axis.get("values")
    if labels is not None and values is not None and len(labels) != len(values):
        raise ConfigError(f"{where}: {len(labels)} labels for {len(values)} values")


def as_grid(name: str, table: Mapping[str, Any]) -> Mapping[str, Any]:
    """The table of a sweep with what studies write as axes of its grid: `schemes`, `[[vary]]` and a list of `seeds`.

    An axis without labels has the name of its key, under which figures and tables know its numbers.

    Raises:
        ConfigError: an axis is incomplete, or there twice.
    """
    grid, more = table.get(GRID, {}), _from_study(name, table)
    if not more or not isinstance(grid, Mapping):
        return table
    _refuse_twice(name, [*(axis for axis, _ in more), *(axis for axis, _ in flat(grid))])
    left = {key: value for key, value in table.items() if key not in (VARY, SCHEMES) and not (key == SEEDS and isinstance(value, list))}
    varied = [(axis, values) for axis, values in more if axis != SEED]
    return {**left, GRID: {**dict(varied), **grid, **{axis: values for axis, values in more if axis == SEED}}}


def _from_study(name: str, table: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The axes that a table has in the way of studies, with their values."""
    check_keys(name, {key: table[key] for key in (VARY, SCHEMES) if key in table}, (VARY, SCHEMES))
    found = [(SCHEME, table[SCHEMES])] if SCHEMES in table else []
    for index, axis in enumerate(table.get(VARY, [])):
        check_axis(f"{name}: {VARY}[{index}]", axis)
        found.append(_labelled(axis))
    return [*found, *([(SEED, table[SEEDS])] if isinstance(table.get(SEEDS), list) else [])]


def _labelled(axis: Mapping[str, Any]) -> tuple[str, Any]:
    """An axis as in a grid."""
    if "points" in axis:
        return axis["name"], axis["points"]
    key, values = axis["key"], axis["values"]
    if "labels" not in axis:
        return key, values
    return axis["name"], [
        {LABEL: label, **({SET: {key: value}} if "." in key else {key: value})} for label, value in zip(axis["labels"], values, strict=True)
    ]


def as_vary(name: str, table: Mapping[str, Any]) -> Mapping[str, Any]:
    """The table of a study with what sweeps write in the way of studies: the axes of `[grid]`, and a number of `seeds`.

    Raises:
        ConfigError: an axis is there twice, or has no list of values.
    """
    found = dict(table)
    if isinstance(table.get(SEEDS), int) and not isinstance(table[SEEDS], bool) and table[SEEDS] > 0:
        found[SEEDS] = list(range(DEFAULT_SEED, DEFAULT_SEED + table[SEEDS]))
    grid = found.pop(GRID, {})
    if not isinstance(grid, Mapping):
        raise ConfigError(f'{name}: {GRID} = {shown(grid)}: expected a table of axes, such as "gc.soft" = [0.05, 0.1]')
    axes = dict(flat(grid))
    for axis, into in ((SCHEME, SCHEMES), (SEED, SEEDS)):
        if axis in axes:
            _refuse_twice(name, [axis, *([axis] if into in found else [])])
            found[into] = axes.pop(axis)
    return {**found, VARY: [*found.get(VARY, []), *_tables(name, axes)]} if axes else found


def _tables(name: str, axes: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Axes of a grid as tables of `[[vary]]`."""
    for axis, values in axes.items():
        if not isinstance(values, list) or not values:
            raise ConfigError(f"{name}: {GRID}.{axis}: expected a list of values")
        labelled = all(isinstance(value, Mapping) for value in values)
        if not labelled:
            check_type(f"{name}: {GRID}.{axis}", "values", values)
        yield {"name": axis, "points": values} if labelled else {"name": axis, "key": axis, "values": values}


def _refuse_twice(name: str, axes: list[str]) -> None:
    twice = next((axis for at, axis in enumerate(axes) if axis in axes[:at]), None)
    if twice is not None:
        raise ConfigError(f"{name}: {twice} is varied twice: leave one of them out")
