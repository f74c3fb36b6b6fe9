"""The definition of a sweep: its TOML file or arguments, parsed and checked."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from glob import glob
from pathlib import Path
from typing import Any

from ssdlab._core import version
from ssdlab.asking.keys import LABEL, SET, AxisValue, beside, check_keys, check_type, described, flat, read_file, read_toml
from ssdlab.asking.option import options_of
from ssdlab.asking.options import DEFAULT_SEED, SweepOptions
from ssdlab.asking.plans import SHORTHANDS, Loaded, value_text
from ssdlab.asking.varied import GRID, SCHEMES, SEEDS, VARY, as_grid
from ssdlab.checks import nearest, shown, text
from ssdlab.errors import ConfigError
from ssdlab.experiments.sweeping import columns, questions, screening
from ssdlab.experiments.sweeping.axes import loads
from ssdlab.experiments.sweeping.designs import Drawn, drawn, unique, zipped
from ssdlab.experiments.sweeping.questions import Question
from ssdlab.experiments.sweeping.screening import Screen
from ssdlab.system.folders import DRAWN_FILE, LONGEST_NAME, folder_name

__all__ = ["MOST_POINTS", "MOST_RECORDED", "TRACES", "Group", "Point", "Sweep", "SweepAxis", "define", "load"]

OPTIONS = tuple(name for name in options_of(SweepOptions) if name != "set")
AXIS_OPTIONS = tuple(name for name in OPTIONS if name not in ("verify", "alone", "state_cache"))
"""Options of a run that an axis can vary, besides the keys of the configuration."""
SEED, SERIES, LEAVE_OUT = "seed", "series", "leave_out_refused"
ZIP, RANDOM, COLUMNS, SCREEN, QUESTIONS = "zip", "random", "columns", "screen", "questions"
KEYS = (*OPTIONS, SCHEMES, SEEDS, SERIES, LEAVE_OUT, SET, VARY, GRID, ZIP, RANDOM, COLUMNS, SCREEN, QUESTIONS)
MOST_RECORDED = 100
"""Number of points up to which the runs of a sweep are recorded over time by default, and get their pages: some 600 kB a point."""
MOST_POINTS = 20_000
"""Maximum number of points, whose results take a gigabyte of memory. A larger grid is more likely a mistake."""
UNSAFE = re.compile(r"[^\w.+,-]+", re.ASCII)
"""Characters that are replaced in names of folders."""
BARE = re.compile(r"[\w-]+", re.ASCII)
"""Matches TOML keys that need no quotes."""


@dataclass(frozen=True)
class SweepAxis:
    """An axis: name and different values."""

    name: str
    values: tuple[AxisValue, ...]

    @property
    def says(self) -> dict[str, str]:
        """The options and keys that the values set: names as written, by configuration key or option."""
        return {_canonical(key): key for value in self.values for key in (*value.options, *value.set)}


@dataclass(frozen=True)
class Group:
    """Axes that change together, and the rows of their values. Most groups are a single axis with a row for each value."""

    axes: tuple[SweepAxis, ...]
    rows: tuple[tuple[AxisValue, ...], ...]

    @classmethod
    def of(cls, axis: SweepAxis) -> Group:
        """A group of one axis."""
        return cls((axis,), tuple((value,) for value in axis.values))


@dataclass(frozen=True)
class Point:
    """A point of the sweep: a value of each axis, with the resulting options and keys."""

    values: Mapping[str, Any]
    options: Mapping[str, Any]
    set: Mapping[str, Any]
    label: str
    """Name in messages."""
    folder: str
    """Name of the folder, unique among the points."""
    series: bool = False
    """Whether the run is recorded over time."""
    counted: bool = False
    """Whether its independent requests are counted, which takes a record over time that need not be kept."""
    loaded: Loaded | None = None
    """The rate that its load stands for, once it is known."""


@dataclass(frozen=True)
class Sweep:
    """A sweep: common options and keys, and the axes in groups, of which the points are all combinations."""

    name: str
    options: Mapping[str, Any]
    set: Mapping[str, Any]
    groups: tuple[Group, ...]
    series: bool | None = None
    """Whether the runs are recorded over time; `None` if their number decides."""
    leave_out_refused: bool = False
    """Whether points that cannot be simulated are left out, instead of being an error."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Formulas of derived columns."""
    screen: Screen | None = None
    """How points that are clearly worse are dropped early, if at all."""
    questions: tuple[Question, ...] = ()
    """What is compared, as stated before the runs or later."""

    @property
    def axes(self) -> tuple[SweepAxis, ...]:
        """All axes, in the order of the columns."""
        return tuple(axis for group in self.groups for axis in group.axes)

    @property
    def records(self) -> bool:
        """Whether the runs are recorded over time, if there is a folder for their pages."""
        return len(self) <= MOST_RECORDED if self.series is None else self.series

    def __len__(self) -> int:
        return math.prod(len(group.rows) for group in self.groups)

    def points(self) -> Iterator[Point]:
        """Every combination of the groups' rows; the last group varies fastest."""
        axes = self.axes
        for rows in itertools.product(*(group.rows for group in self.groups)):
            combination = tuple(itertools.chain.from_iterable(rows))
            options, keys = dict(self.options), dict(self.set)
            for value in combination:
                options |= value.options
                keys |= value.set
            named = [(axis.name, value) for axis, value in zip(axes, combination, strict=True)]
            keys = settled(options, keys)
            yield Point(
                values={name: value.value for name, value in named},
                options=options,
                set=keys,
                label=", ".join(f"{name} = {value.text}" for name, value in named),
                folder=_folder_name(named),
            )

    def _on_settling(self) -> list[str]:
        """A comment on drives that are settled without being told so."""
        added = [key for point in self.points() for key in point.set if key in SETTLED and key not in self.set]
        by_hand = {key for axis in self.axes for value in axis.values for key in value.set}
        keys = [_line(key, value) for key, value in SETTLED.items() if key in added and key not in by_hand]
        return [f"# Drives with a load are settled first: {', '.join(keys)}"] if keys else []

    def to_toml(self) -> str:
        """The sweep as a TOML file."""
        lines = [
            f"# A sweep of {len(self):,} points by ssdlab {version()}",
            *self._on_settling(),
            *(_line(key, value) for key, value in self.options.items()),
        ]
        lines += [] if self.series is None else [_line(SERIES, self.series)]
        lines += [_line(LEAVE_OUT, self.leave_out_refused)] if self.leave_out_refused else []
        for name, table in ((SET, self.set), (COLUMNS, self.columns), (SCREEN, self.screen.table if self.screen else {})):
            if table:
                lines += ["", f"[{name}]", *(_line(key, value) for key, value in table.items())]
        together = [group for group in self.groups if len(group.axes) > 1]
        plain = [axis for group in self.groups for axis in group.axes if group not in together or _is_labelled(axis)]
        if plain:
            lines += ["", f"[{GRID}]", *(_line(axis.name, [_written(axis.name, value) for value in axis.values]) for axis in plain)]
        for group in together:
            rows = (f"  {value_text([value.value for value in row])}," for row in group.rows)
            lines += ["", f"[[{ZIP}]]", _line("axes", [axis.name for axis in group.axes]), "rows = [", *rows, "]"]
        for question in self.questions:
            lines += ["", f"[[{QUESTIONS}]]", *(_line(key, value) for key, value in question.table.items())]
        return "\n".join(lines) + "\n"


SETTLED = {"ftl.precondition.kind": "steady", "ftl.precondition.settle": 8}
"""How drives are prepared whose load is a share of what they sustain in the long run."""


def settled(options: Mapping[str, Any], keys: dict[str, Any]) -> dict[str, Any]:
    """The keys of a point, with those that settle its drive if it has a load and nothing says how the drive is prepared.

    A trace has no further requests to settle a drive with.
    """
    said = any(options.get(name) is not None for name in ("state", "prefill", "trace", "fio", "config"))
    said |= any(key.startswith(("ftl.precondition.", "workload.trace", "workload.flows")) for key in keys)
    return keys if said or options.get("load") is None else {**keys, **SETTLED}


def load(path: Path) -> Sweep:
    """Reads the sweep in a TOML file.

    Raises:
        FileError: the file cannot be read.
        ConfigError: the file does not define a valid sweep.
    """
    return define(path.name, read_toml(str(path), read_file(path)), path.parent)


def define(name: str, table: Mapping[str, Any], folder: Path | None = None) -> Sweep:
    """Builds the sweep that a table defines.

    Args:
        name: name of the sweep in messages.
        table: options of a run, `set`, and `grid`.
        folder: folder of the sweep's file. Names of files are relative to it if the file exists there, else to the current folder.

    Raises:
        ConfigError: the table has an unknown key, or an axis that sets nothing.
    """
    for key, value in table.items():
        if key in OPTIONS and isinstance(value, list):
            raise ConfigError(f"{name}: {key} = {value_text(value)}: expected one value; several values go into [{GRID}]: {key} = [...]")
    check_keys(name, {key: value for key, value in table.items() if key != SEEDS}, KEYS)
    series = table.get(SERIES)
    if series is not None and not isinstance(series, bool):
        raise ConfigError(f"{name}: {SERIES} = {shown(series)}: expected true (record all runs over time) or false")
    leave_out = table.get(LEAVE_OUT, False)
    if not isinstance(leave_out, bool):
        raise ConfigError(f"{name}: {LEAVE_OUT} = {shown(leave_out)}: expected true (leave out what cannot be simulated) or false")
    table = _with_seeds(name, as_grid(name, table))
    groups = _groups(name, table, folder)
    axes = [axis.name for group in groups for axis in group.axes]
    sweep = Sweep(
        name=name,
        options=beside({key: table[key] for key in OPTIONS if key in table}, folder),
        set=dict(flat(table.get(SET, {}))),
        groups=groups,
        series=series,
        leave_out_refused=leave_out,
        columns=columns.check(f"{name}: {COLUMNS}", table.get(COLUMNS, {}), axes),
        screen=None if SCREEN not in table else screening.read(f"{name}: {SCREEN}", table[SCREEN], groups[-1].axes[-1], axes),
    )
    _check_said_once(sweep)
    if QUESTIONS in table:
        axes_ = [axis for axis in sweep.axes if len(axis.values) > 1]
        sweep = replace(sweep, questions=questions.read(f"{name}: {QUESTIONS}", table[QUESTIONS], axes_, loads(axes_), sweep.columns))
    if len(sweep) > MOST_POINTS:
        counts = " x ".join(f"{len(group.rows):,} ({', '.join(axis.name for axis in group.axes)})" for group in sweep.groups)
        raise ConfigError(f"{name}: {len(sweep):,} points, {counts}: expected at most {MOST_POINTS:,} in a sweep; split the grid")
    return sweep


def _groups(name: str, table: Mapping[str, Any], folder: Path | None) -> tuple[Group, ...]:
    """The axes that change together, then those of the grid."""
    grid = table.get(GRID, {})
    if not isinstance(grid, Mapping) or not (grid or ZIP in table or RANDOM in table):
        raise ConfigError(f'{name}: {GRID}: expected at least one axis, such as scheme = ["npgc", "pgc"] or "gc.soft" = [0.05, 0.1]')
    axes = {key: _axis(f"{name}: {GRID}", key, values, folder) for key, values in flat(grid)}
    given = table.get(ZIP, [])
    if not isinstance(given, list):
        raise ConfigError(f"{name}: {ZIP}: expected [[{ZIP}]] with axes and rows")
    designs = [(f"{name}: {ZIP}[{index}]", zipped(f"{name}: {ZIP}[{index}]", entry)) for index, entry in enumerate(given)]
    designs += [(f"{name}: {RANDOM}", drawn(f"{name}: {RANDOM}", table[RANDOM]))] if RANDOM in table else []
    groups: list[Group] = []
    used: set[str] = set()
    for where, design in designs:
        twice = used & set(design.axes)
        if twice or (where.endswith(RANDOM) and set(design.axes) & set(axes)):
            axis = next(axis for axis in design.axes if axis in used or axis in axes)
            raise ConfigError(f"{where}: {axis} is varied elsewhere as well: leave one of them out")
        groups.append(_together(where, design, axes, folder))
        used |= set(design.axes)
    return (*groups, *(Group.of(axis) for key, axis in axes.items() if key not in used))


def _together(where: str, design: Drawn, grid: Mapping[str, SweepAxis], folder: Path | None) -> Group:
    """A group of axes. The rows may name the values of axes of the grid, by value or label."""
    columns_ = [
        _chosen(where, name, column, grid, folder) for name, column in zip(design.axes, zip(*design.rows, strict=True), strict=True)
    ]
    rows = tuple(zip(*columns_, strict=True))
    if len(list(unique([tuple(value.text for value in row) for row in rows]))) < len(rows):
        raise ConfigError(f"{where}: a row is there twice")
    axes = []
    for name, column in zip(design.axes, columns_, strict=True):
        by_text = {value.text: value for value in column}
        other = next((value for value in column if by_text[value.text] != value), None)
        if other is not None:
            raise ConfigError(f"{where}: {name} = {other.text} is there with different meanings: give one of them another label")
        values = tuple(by_text.values())
        idle = [value.text for value in grid[name].values if value not in values] if name in grid else []
        if idle:
            raise ConfigError(f"{where}: {name} = {idle[0]} of {GRID} is in no row")
        axes.append(grid.get(name, SweepAxis(name, values)))
    return Group(tuple(axes), rows)


def _chosen(where: str, name: str, column: Sequence[Any], grid: Mapping[str, SweepAxis], folder: Path | None) -> tuple[AxisValue, ...]:
    """The values of an axis in the rows of a group."""
    if name not in grid:
        return tuple(
            described(f"{where}.{name}", cell, folder, AXIS_OPTIONS) if isinstance(cell, Mapping) else _plain(where, name, cell, folder)
            for cell in column
        )
    known = {_comparable(value.value): value for value in grid[name].values}
    wrong = [cell for cell in column if isinstance(cell, dict) or _comparable(cell) not in known]
    if wrong:
        there = ", ".join(value.text for value in grid[name].values)
        raise ConfigError(f"{where}: {name} = {shown(wrong[0])} is not in {GRID}.{name} (there are {there})")
    return tuple(known[_comparable(cell)] for cell in column)


def _is_labelled(axis: SweepAxis) -> bool:
    """Whether the values of an axis are written as tables with a label."""
    return any(isinstance(_written(axis.name, value), Mapping) for value in axis.values)


def _with_seeds(name: str, table: Mapping[str, Any]) -> Mapping[str, Any]:
    """The table with `seeds` replaced by an axis of seeds, from `seed` on, as the last one of the grid."""
    grid = table.get(GRID, {})
    if SEEDS not in table or not isinstance(grid, Mapping):
        return table
    if SEED in grid:
        raise ConfigError(f"{name}: {SEEDS} and {GRID}.{SEED} were both given: leave one of them out")
    count = table[SEEDS]
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_POINTS:
        raise ConfigError(
            f"{name}: {SEEDS} = {value_text(count)}: expected how many, from 1 to {MOST_POINTS:,} (a list of seeds: {GRID}.{SEED})"
        )
    first = table.get(SEED, DEFAULT_SEED)
    others = {key: value for key, value in table.items() if key not in (SEED, SEEDS)}
    return {**others, GRID: {**grid, SEED: list(range(first, first + count))}}


TRACES = ("trace", "workload.trace")
"""Axes whose values may be a pattern of files, such as `pieces/*`."""


def _matching(where: str, pattern: str, folder: Path | None) -> list[str]:
    """The files that match a pattern, in the sweep's folder or else the current one, by name; without the table of drawn pieces.

    A file may have brackets in its name, and is then taken by it.
    """
    places = (*([] if folder is None else [folder]), Path())
    if any((place / pattern).is_file() for place in places):
        return [pattern]
    for place in places:
        found = sorted(glob(pattern, root_dir=place))  # noqa: PTH207 (a pattern may be absolute)
        files = [name for name in found if (place / name).is_file() and Path(name).name != DRAWN_FILE]
        if files:
            return files
    if not {*pattern} & {*"*?"}:
        return [pattern]
    here = f" in {folder} or" if folder is not None and folder != Path() else " in"
    raise ConfigError(f'{where} = "{pattern}": no file matches{here} the current folder: expected traces, such as "pieces/*.csv.zst"')


def _axis(grid: str, name: str, values: object, folder: Path | None) -> SweepAxis:
    where = f"{grid}.{name}"
    if name in TRACES and isinstance(values, str):
        values = [values]
    if name in TRACES and isinstance(values, list):
        values = [
            one
            for value in values
            for one in (_matching(where, value, folder) if isinstance(value, str) and {*value} & {*"*?["} else [value])
        ]
    if not isinstance(values, list) or not values:
        raise ConfigError(f"{where}: expected a list of values")
    tables = sum(isinstance(value, Mapping) for value in values)
    if tables not in (0, len(values)):
        raise ConfigError(f"{where}: expected a list of values, or of tables with a label each, not of both")
    if tables:
        entries = tuple(described(f"{where}[{index}]", value, folder, AXIS_OPTIONS) for index, value in enumerate(values))
    else:
        entries = tuple(_plain(grid, name, value, folder) for value in values)
    seen: set[object] = set()
    for entry in entries:
        text(where, entry.text)
        names = {("text", entry.text), ("value", _comparable(entry.value))}
        if seen & names:
            raise ConfigError(f"{where}: {entry.text} is there twice")
        seen |= names
    return SweepAxis(name, entries)


def _plain(grid: str, name: str, value: object, folder: Path | None) -> AxisValue:
    """A value of an axis named after an option, or after a configuration key, which the core checks."""
    where = f"{grid}.{name}"
    if "." in name:
        if not isinstance(value, bool | int | float | str | list):
            raise ConfigError(f"{where} = {value}: expected numbers, texts, true, false, or lists of such")
        return AxisValue(value, {}, {name: value})
    if name not in AXIS_OPTIONS:
        options = ", ".join(AXIS_OPTIONS)
        raise ConfigError(
            f'{grid}: unknown axis "{name}"{nearest(name, AXIS_OPTIONS)} '
            f"(there are {options}, keys of the configuration such as gc.soft, and axes whose values are tables with a label)"
        )
    check_type(where, name, value)
    return AxisValue(value, beside({name: value}, folder), {})


def _check_said_once(sweep: Sweep) -> None:
    """Refuses an option or key that is set in two places, of which one would have no effect."""
    said = {_canonical(key): (key, "for all points") for key in (*sweep.options, *sweep.set)}
    for axis in sweep.axes:
        for canonical, key in axis.says.items():
            if canonical in said:
                other, where = said[canonical]
                raise ConfigError(
                    f"{sweep.name}: {GRID}.{axis.name} varies {key}, but {other} is given {where} as well: leave one of them out"
                )
        said |= {canonical: (key, f"by {GRID}.{axis.name}") for canonical, key in axis.says.items()}


def _canonical(key: str) -> str:
    """The configuration key that an option sets, or the name itself."""
    return SHORTHANDS.get(key, key)


def _comparable(value: object) -> object:
    """A key that is equal for equal values: 1 equals 1.0, but not true."""
    if isinstance(value, list):
        return tuple(map(_comparable, value))
    if isinstance(value, dict):
        return frozenset((key, _comparable(of_key)) for key, of_key in value.items())
    return (bool, value) if isinstance(value, bool) else value


def _folder_name(named: Sequence[tuple[str, AxisValue]]) -> str:
    """A folder name with axes and values; if it has unsafe characters or is too long, it is shortened and gets a hash."""
    plain = "_".join(f"{UNSAFE.sub('-', name)}={UNSAFE.sub('-', value.text)}" for name, value in named)
    if len(plain) <= LONGEST_NAME and not any(UNSAFE.search(text) for name, value in named for text in (name, value.text)):
        return folder_name(plain)
    return folder_name(plain, json.dumps([(name, value.text) for name, value in named]))


def _written(axis: str, value: AxisValue) -> Any:
    """A value of an axis as in the file: the plain value if it only sets the option or key that the axis is named after."""
    if {**value.options, **value.set} == {axis: value.value}:
        return value.value
    return {LABEL: value.value, **value.options, **({SET: value.set} if value.set else {})}


def _line(key: str, value: object) -> str:
    return f"{key if BARE.fullmatch(key) else value_text(key)} = {value_text(value)}"
