"""A study as data: what its TOML file says, checked."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ssdlab.errors import ConfigError, FileError
from ssdlab.study.expressions import Formula, Reference, nearest

__all__ = ["Axis", "Figure", "Metric", "Point", "Row", "Study", "parse"]

SETUP_KEYS = ("device", "workload", "trace", "prefill", "format", "unit_bytes", "time_scale", "bad_lines", "fit", "requests", "quick")
"""What a study, or a point of it, may say of its runs beside `set`."""
STUDY_KEYS = (
    *("title", "place", "about", "deviations", "discussion", "schemes", "seeds", "set", "vary", "metrics", "rows", "figure"),
    *SETUP_KEYS,
)
AXIS_KEYS = ("name", "key", "values", "labels", "points")
ROW_KEYS = ("what", "value", "unit", "paper", "at_least", "at_most", "note")
FIGURE_KEYS = ("panels", "log", "relative_to")
QUICK_SEEDS = 2
ALL = "*"

TYPES: dict[str, type | tuple[type, ...]] = {
    "title": str,
    "place": str,
    "about": str,
    "device": str,
    "workload": str,
    "trace": str,
    "prefill": str,
    "format": str,
    "unit_bytes": int,
    "time_scale": (int, float),
    "bad_lines": int,
    "fit": (int, str),
    "requests": int,
    "quick": int,
    "set": dict,
    "metrics": dict,
    "figure": dict,
    "name": str,
    "key": str,
    "label": str,
    "what": str,
    "value": str,
    "unit": str,
    "note": str,
    "paper": (int, float),
    "at_least": (int, float),
    "at_most": (int, float),
    "log": bool,
    "relative_to": str,
}
LISTS: dict[str, type | tuple[type, ...]] = {
    "deviations": str,
    "discussion": str,
    "schemes": str,
    "seeds": int,
    "vary": dict,
    "rows": dict,
    "points": dict,
    "values": (bool, int, float, str, list),
    "labels": str,
    "panels": str,
}


@dataclass(frozen=True)
class Point:
    """A value of a parameter: its label, and what it says of the runs (setup keys, and `set` with full keys)."""

    label: str
    setup: Mapping[str, Any]


@dataclass(frozen=True)
class Axis:
    """A parameter that is varied."""

    name: str
    points: tuple[Point, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """How its values are called."""
        return tuple(point.label for point in self.points)


@dataclass(frozen=True)
class Metric:
    """A number for each run."""

    name: str
    title: str
    formula: Formula


@dataclass(frozen=True)
class Row:
    """A line of the study's table: a number, what the paper says of it, and what it must be for the finding to hold."""

    what: str
    formula: Formula
    unit: str = ""
    paper: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Figure:
    """What is drawn: a panel for each of these metrics."""

    panels: tuple[str, ...]
    log: bool = False
    relative_to: str | None = None


@dataclass(frozen=True)
class Study:
    """A study, as its file describes it."""

    name: str
    title: str
    place: str
    about: str
    schemes: tuple[str, ...]
    seeds: tuple[int, ...]
    setup: Mapping[str, Any]
    axes: tuple[Axis, ...]
    metrics: Mapping[str, Metric]
    rows: tuple[Row, ...]
    figure: Figure | None = None
    deviations: tuple[str, ...] = ()
    discussion: tuple[str, ...] = ()
    """What came of it, and why, as far as it is known."""
    folder: Path = field(default=Path(), compare=False)
    """The folder that the names of traces are relative to, besides the current one."""

    def combinations(self) -> Iterator[tuple[Point, ...]]:
        """Every combination of the parameters' values."""
        return itertools.product(*(axis.points for axis in self.axes))

    def shortened(self) -> Study:
        """The study with fewer requests and seeds."""
        quick = self.setup.get("quick")
        setup = {**self.setup, "requests": quick} if quick is not None else self.setup
        axes = tuple(Axis(axis.name, tuple(_shortened(point) for point in axis.points)) for axis in self.axes)
        changes: dict[str, Any] = {"setup": setup, "axes": axes, "seeds": self.seeds[:QUICK_SEEDS]}
        return Study(**{**self.__dict__, **changes})

    def places(self, reference: Reference) -> list[tuple[str, tuple[str, ...]]]:
        """The scheme and the labels of each run that a reference means."""
        scheme, *labels = reference.where
        labels += [ALL] * (len(self.axes) - len(labels))
        choices = [axis.labels if label == ALL else (label,) for axis, label in zip(self.axes, labels, strict=True)]
        return [(scheme, combination) for combination in itertools.product(*choices)]


def parse(name: str, text: str, folder: Path) -> Study:
    """The study that a file describes.

    Raises:
        ConfigError: if it cannot be read, has a key that studies do not have, or names what it does not define.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name}: no valid TOML: {error}") from error
    _check_keys(name, table, STUDY_KEYS)
    for key in ("title", "schemes", "metrics"):
        if not table.get(key):
            raise ConfigError(f"{name}: {key} is missing")
    axes = tuple(_axis(f"{name}: vary[{index}]", axis) for index, axis in enumerate(table.get("vary", [])))
    study = Study(
        name=name,
        title=table["title"],
        place=table.get("place", ""),
        about=table.get("about", "").strip(),
        schemes=tuple(table["schemes"]),
        seeds=tuple(table.get("seeds", [1])),
        setup=_setup(table),
        axes=axes,
        metrics={key: _metric(name, key, value) for key, value in table["metrics"].items()},
        rows=tuple(_row(f"{name}: rows[{index}]", row) for index, row in enumerate(table.get("rows", []))),
        figure=_figure(f"{name}: figure", table["figure"]) if "figure" in table else None,
        deviations=tuple(table.get("deviations", [])),
        discussion=tuple(table.get("discussion", [])),
        folder=folder,
    )
    _check_names(study)
    return study


def read_file(path: Path) -> str:
    """The text of a study's file."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as reason:
        message = f"{path}: cannot read: {getattr(reason, 'strerror', None) or reason}"
        raise FileError(message, getattr(reason, "errno", None), str(path)) from reason


def _check_keys(where: str, table: Mapping[str, Any], known: Sequence[str]) -> None:
    for key, value in table.items():
        if key not in known:
            raise ConfigError(f'{where}: unknown key "{key}"{nearest(key, known)} (keys: {", ".join(known)})')
        _check_type(f"{where}: {key}", key, value)


def _check_type(where: str, key: str, value: object) -> None:
    if key in LISTS:
        entries = value if isinstance(value, list) and value else None
        if entries is None or not all(_is(entry, LISTS[key]) for entry in entries):
            raise ConfigError(f"{where}: expected a list of {_words(LISTS[key])}")
    elif key in TYPES and not _is(value, TYPES[key]):
        raise ConfigError(f"{where} = {value!r}: expected {_words(TYPES[key])}")


def _is(value: object, kind: type | tuple[type, ...]) -> bool:
    """`isinstance`, but true and false are no numbers."""
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return isinstance(value, kinds) and (not isinstance(value, bool) or bool in kinds)


def _words(kind: type | tuple[type, ...]) -> str:
    names = {str: "text", int: "a whole number", float: "a number", dict: "a table", bool: "true or false", list: "a list"}
    return " or ".join(dict.fromkeys(names[entry] for entry in (kind if isinstance(kind, tuple) else (kind,))))


def _setup(table: Mapping[str, Any]) -> dict[str, Any]:
    setup = {key: table[key] for key in SETUP_KEYS if key in table}
    setup["set"] = dict(_flat(table.get("set", {})))
    return setup


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Nested tables of configuration keys as full keys."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _axis(where: str, table: Mapping[str, Any]) -> Axis:
    _check_keys(where, table, AXIS_KEYS)
    if "name" not in table or ("points" in table) == ("values" in table) or ("key" in table) != ("values" in table):
        raise ConfigError(f"{where}: expected a name, and either key and values, or points")
    points = tuple(_labelled(where, table["points"]) if "points" in table else _valued(where, table))
    labels = [point.label for point in points]
    if len(set(labels)) != len(labels) or ALL in labels or any("," in label for label in labels):
        raise ConfigError(f"{where}: each value needs a label of its own, without commas (labels: {', '.join(labels)})")
    return Axis(table["name"], points)


def _labelled(where: str, tables: Sequence[Mapping[str, Any]]) -> Iterator[Point]:
    for index, table in enumerate(tables):
        _check_keys(f"{where}: points[{index}]", table, ("label", "set", *SETUP_KEYS))
        if "label" not in table:
            raise ConfigError(f"{where}: points[{index}]: label is missing")
        yield Point(table["label"], _setup(table))


def _valued(where: str, table: Mapping[str, Any]) -> Iterator[Point]:
    key, values = table["key"], table["values"]
    labels = table.get("labels", [_label(value) for value in values])
    if len(labels) != len(values):
        raise ConfigError(f"{where}: {len(labels)} labels for {len(values)} values")
    if "." not in key and key not in SETUP_KEYS:
        raise ConfigError(f'{where}: key = "{key}": expected a configuration key or one of {", ".join(SETUP_KEYS)}')
    for label, value in zip(labels, values, strict=True):
        if "." not in key:
            _check_type(f"{where}: {key}", key, value)
        yield Point(label, {"set": {key: value}} if "." in key else {key: value, "set": {}})


def _label(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _shortened(point: Point) -> Point:
    quick = point.setup.get("quick")
    return point if quick is None else Point(point.label, {**point.setup, "requests": quick})


def _metric(name: str, key: str, value: object) -> Metric:
    where = f"{name}: metrics.{key}"
    table = {"of": value} if isinstance(value, str) else value
    if not isinstance(table, Mapping) or not isinstance(table.get("of"), str) or set(table) - {"of", "title"}:
        raise ConfigError(f'{where}: expected an expression, or {{ of = "expression", title = "text" }}')
    formula = Formula(table["of"], where)
    if formula.references:
        raise ConfigError(f'{where} = "{formula.text}": brackets belong into rows; a metric is of one run')
    formula.check(lambda _: 1.0)
    return Metric(key, str(table.get("title", key)), formula)


def _row(where: str, table: Mapping[str, Any]) -> Row:
    _check_keys(where, table, ROW_KEYS)
    for key in ("what", "value"):
        if key not in table:
            raise ConfigError(f"{where}: {key} is missing")
    fields = {key: value for key, value in table.items() if key != "value"}
    return Row(formula=Formula(table["value"], f"{where}: value"), **fields)


def _figure(where: str, table: Mapping[str, Any]) -> Figure:
    _check_keys(where, table, FIGURE_KEYS)
    if "panels" not in table:
        raise ConfigError(f"{where}: panels is missing: a list of the study's metrics")
    return Figure(tuple(table["panels"]), table.get("log", False), table.get("relative_to"))


def _check_names(study: Study) -> None:
    """Every name that rows and figure use must be defined."""
    for row in study.rows:
        for name in row.formula.names:
            if name not in row.formula.references:
                raise ConfigError(f'{row.formula.where} = "{row.formula.text}": {name} needs brackets: {name}[scheme, ...]')
        for reference in row.formula.references.values():
            _check_reference(study, row.formula, reference)
        row.formula.check(partial(_any_numbers, study, row.formula))
    if study.figure is not None:
        where = f"{study.name}: figure"
        for metric in study.figure.panels:
            _check_known(f"{where}: panels", metric, study.metrics, "metric")
        if study.figure.relative_to is not None:
            _check_known(f"{where}: relative_to", study.figure.relative_to, study.schemes, "scheme")
    if len(set(study.seeds)) != len(study.seeds) or len(set(study.schemes)) != len(study.schemes):
        raise ConfigError(f"{study.name}: a scheme or seed is named twice")


def _any_numbers(study: Study, formula: Formula, name: str) -> float | tuple[float, ...]:
    """As many numbers as a name of a row will stand for."""
    count = len(study.places(formula.references[name]))
    return 1.0 if count == 1 else (1.0,) * count


def _check_reference(study: Study, formula: Formula, reference: Reference) -> None:
    where = f'{formula.where} = "{formula.text}"'
    _check_known(where, reference.metric, study.metrics, "metric")
    scheme, *labels = reference.where
    _check_known(where, scheme, study.schemes, "scheme")
    if len(labels) > len(study.axes):
        raise ConfigError(f"{where}: {reference} has more values than the study has parameters ({len(study.axes)})")
    for label, axis in zip(labels, study.axes, strict=False):
        _check_known(where, label, (*axis.labels, ALL), axis.name)


def _check_known(where: str, name: str, known: Mapping[str, object] | Sequence[str], kind: str) -> None:
    if name not in known:
        raise ConfigError(f'{where}: no {kind} "{name}"{nearest(name, known)} (there are {", ".join(known)})')
