"""The definition of a study: its TOML file, parsed and checked."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ssdlab.asking.keys import (
    DRIVE,
    ENGINES,
    QUEUEING,
    QUEUEING_OPTIONS,
    SETUP_KEYS,
    TABLES,
    check_keys,
    check_known,
    check_type,
    flat,
    read_toml,
)
from ssdlab.asking.varied import as_vary, check_axis
from ssdlab.checks import shown
from ssdlab.errors import ConfigError
from ssdlab.experiments.study.expressions import Formula, Reference, parse_reference
from ssdlab.experiments.study.grading import AMOUNT, CHANGE, DIFFERENCE, NO_EFFECT, RATIO, Claim, as_change
from ssdlab.experiments.study.statements import Statement, statements

__all__ = [
    "Axis",
    "Figure",
    "Metric",
    "Point",
    "Row",
    "Study",
    "parse",
]

STUDY_KEYS = (
    *("title", "place", "about", "deviations", "discussion", "schemes", "paired", "paired_tolerance", "seeds"),
    *(*TABLES, "vary", "metrics", "rows", "figure", "ours", "calibrated"),
    *SETUP_KEYS,
)
ROW_KEYS = ("what", "value", "unit", "paper", "at_least", "at_most", "ours", "calibrated", "note")
FIGURE_KEYS = ("panels", "log", "relative_to", "published", "overlay", "together", "over_time", "window_ms")
QUANTITIES = {
    "wait": "Wait (ms)",
    "queue": "Requests waiting",
    "copies": "Copies waiting",
    "duration": "Duration of a collection (ms)",
    "backlog": "Backlog of a collection (ms)",
}
"""Quantities that can be drawn over time, with their axis labels."""
DRIVE_QUANTITIES = ("wait",)
"""Quantities that a drive's request log has."""
QUICK_SEEDS = 2
"""Number of seeds of a study's quick form."""
QUICK_RUNS = 40
"""Number of runs above which the quick form has one seed: short runs take long to prepare their drive."""
ALL = "*"
RANGE = ".."


@dataclass(frozen=True)
class Point:
    """A value of a parameter: its label, and its setup keys (with full keys in the tables)."""

    label: str
    setup: Mapping[str, Any]


@dataclass(frozen=True)
class Axis:
    """A parameter that is varied."""

    name: str
    points: tuple[Point, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the values."""
        return tuple(point.label for point in self.points)

    def named(self, label: str) -> str:
        """A value as a title; a number gets the name of the parameter."""
        return label if label[:1].isalpha() else f"{self.name}: {label}"

    def chosen(self, asked: str) -> tuple[str, ...]:
        """The labels selected by `*`, a label, or `first..last`."""
        if asked == ALL:
            return self.labels
        first, dots, last = asked.partition(RANGE)
        if asked in self.labels or not dots:
            return (asked,)
        return self.labels[self.labels.index(first) : self.labels.index(last) + 1]


@dataclass(frozen=True)
class Metric:
    """A number computed for each run."""

    name: str
    title: str
    formulas: Mapping[str, Formula]
    """Formulas by engine; a single one may apply to all."""

    @property
    def text(self) -> str | dict[str, str]:
        """The formula as written in the file."""
        texts = {engine: formula.text for engine, formula in self.formulas.items()}
        return texts if len(set(texts.values())) > 1 or len(texts) < len(ENGINES) else next(iter(texts.values()))


@dataclass(frozen=True)
class Row:
    """A row of the study's table: a number, the paper's claim about it, and the bounds of the finding."""

    what: str
    formula: Formula
    unit: str = ""
    paper: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    ours: bool = False
    """Whether the paper makes no claim, or the study is not the paper's experiment; a published number is then for comparison only."""
    calibrated: bool = False
    """Whether a parameter of the runs was calibrated to the published number."""
    note: str = ""

    @property
    def claim(self) -> Claim | None:
        """The paper's claim about the number; `None` for a row of this project's own."""
        claim = Claim(_kind(self), self.paper, self.at_least, self.at_most)
        return None if self.ours or (self.paper is None and not claim.is_bounded) else claim

    @property
    def reference(self) -> Reference | None:
        """The single metric of one run that the row shows; `None` if the row is computed otherwise."""
        return parse_reference(self.formula.text)


@dataclass(frozen=True)
class Figure:
    """The figure of a study: a panel for each of some metrics, and quantities of single runs over time."""

    panels: tuple[str, ...] = ()
    log: bool = False
    relative_to: str | None = None
    published: bool = False
    """Whether panels show the published numbers of rows that are values of their metric."""
    overlay: Mapping[str, tuple[Reference, ...]] = field(default_factory=dict)
    """Metrics drawn as lines over the metric of a panel; a metric without a scheme applies to all."""
    together: str | None = None
    """Name of a parameter whose values share panels."""
    over_time: tuple[Reference, ...] = ()
    """Quantities over time, each with values of the parameters (no scheme): a row of panels each, with a column for each scheme."""
    window_ms: tuple[float, float] = (0.0, math.inf)
    """Time window of the quantities over time, ms."""


@dataclass(frozen=True)
class Study:
    """A study as defined by its file."""

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
    discussion: tuple[Statement, ...] = ()
    """Statements about the results, and explanations that runs show."""
    paired: str | None = None
    """Scheme that the requests of all others are compared with, one by one."""
    paired_tolerance: float = 0.0
    """Relative change of a response time that counts as no change in that comparison."""
    folder: Path = field(default=Path(), compare=False)
    """Folder that names of traces are relative to, besides the current one."""

    def combinations(self) -> Iterator[tuple[Point, ...]]:
        """Every combination of the parameters' values."""
        return itertools.product(*(axis.points for axis in self.axes))

    def shortened(self) -> Study:
        """The quick form of the study: fewer requests, and two seeds, or one if two would make more than `QUICK_RUNS` runs."""
        quick = self.setup.get("quick")
        setup = {**self.setup, "requests": quick} if quick is not None else self.setup
        axes = tuple(Axis(axis.name, tuple(_shortened(point) for point in axis.points)) for axis in self.axes)
        runs_a_seed = len(self.schemes) * math.prod(len(axis.points) for axis in axes)
        seeds = self.seeds[: QUICK_SEEDS if runs_a_seed * QUICK_SEEDS <= QUICK_RUNS else 1]
        changes: dict[str, Any] = {"setup": setup, "axes": axes, "seeds": seeds}
        return Study(**{**self.__dict__, **changes})

    def places(self, reference: Reference) -> list[tuple[str, tuple[str, ...]]]:
        """Scheme and labels of each run that a reference selects."""
        scheme, *labels = reference.where
        return [(scheme, combination) for combination in self.labels(labels)]

    def labels(self, asked: Sequence[str]) -> list[tuple[str, ...]]:
        """Combinations of labels selected by texts such as `*`."""
        labels = [*asked, *[ALL] * (len(self.axes) - len(asked))]
        return list(itertools.product(*(axis.chosen(label) for axis, label in zip(self.axes, labels, strict=True))))

    def pictures(self) -> list[tuple[str, tuple[str, ...]]]:
        """The quantities over time: each quantity with the labels of its runs, one run for each scheme."""
        references = () if self.figure is None else self.figure.over_time
        return [(asked.metric, labels) for asked in references for labels in self.labels(asked.where)]

    def setup_of(self, combination: Sequence[Point]) -> dict[str, Any]:
        """The setup of a combination of values: the study's keys, overridden by those of the values."""
        merged: dict[str, Any] = {"engine": DRIVE}
        for setup in (self.setup, *(point.setup for point in combination)):
            merged |= {**setup, **{table: {**merged.get(table, {}), **setup.get(table, {})} for table in TABLES}}
        return merged


def parse(name: str, text: str, folder: Path) -> Study:
    """Parses the file of a study.

    Raises:
        ConfigError: the text is not TOML, has an unknown key, or refers to a name that is not defined.
    """
    table = as_vary(name, read_toml(name, text))
    check_keys(name, table, STUDY_KEYS)
    for key in ("title", "schemes", "metrics"):
        if not table.get(key):
            raise ConfigError(f"{name}: {key} is missing or empty")
    axes = tuple(_axis(f"{name}: vary[{index}]", axis) for index, axis in enumerate(table.get("vary", [])))
    study = Study(
        name=name,
        title=table["title"],
        place=table.get("place", ""),
        about=table.get("about", "").strip(),
        schemes=tuple(table["schemes"]),
        seeds=tuple(table.get("seeds", [1])),
        setup=_setup(name, table),
        axes=axes,
        metrics={key: _metric(name, key, value) for key, value in table["metrics"].items()},
        rows=tuple(_row(f"{name}: rows[{index}]", row, table) for index, row in enumerate(table.get("rows", []))),
        figure=_figure(f"{name}: figure", table["figure"]) if "figure" in table else None,
        deviations=tuple(table.get("deviations", [])),
        discussion=statements(f"{name}: discussion", table.get("discussion", [])),
        paired=table.get("paired"),
        paired_tolerance=table.get("paired_tolerance", 0.0),
        folder=folder,
    )
    _check_names(study)
    return study


def _setup(where: str, table: Mapping[str, Any]) -> dict[str, Any]:
    for option in table.get(QUEUEING, {}):
        check_known(f"{where}: {QUEUEING}", option, QUEUEING_OPTIONS, "option")
    setup = {key: table[key] for key in SETUP_KEYS if key in table}
    tables = {"set": dict(flat(table.get("set", {}))), QUEUEING: dict(table.get(QUEUEING, {}))}
    return setup | {name: entries for name, entries in tables.items() if entries}


def _axis(where: str, table: Mapping[str, Any]) -> Axis:
    check_axis(where, table)
    points = tuple(_labelled(where, table["points"]) if "points" in table else _valued(where, table))
    labels = [point.label for point in points]
    if len(set(labels)) != len(labels) or ALL in labels or any("," in label for label in labels):
        raise ConfigError(f"{where}: each value needs a label of its own, without commas (labels: {', '.join(labels)})")
    return Axis(table["name"], points)


def _labelled(where: str, tables: Sequence[Mapping[str, Any]]) -> Iterator[Point]:
    for index, table in enumerate(tables):
        check_keys(f"{where}: points[{index}]", table, ("label", *TABLES, *SETUP_KEYS))
        if "label" not in table:
            raise ConfigError(f"{where}: points[{index}]: label is missing")
        yield Point(table["label"], _setup(f"{where}: points[{index}]", table))


def _valued(where: str, table: Mapping[str, Any]) -> Iterator[Point]:
    key, values = table["key"], table["values"]
    labels = table.get("labels", [_label(value) for value in values])
    if "." not in key and key not in SETUP_KEYS:
        raise ConfigError(f'{where}: key = "{key}": expected a configuration key or one of {", ".join(SETUP_KEYS)}')
    for label, value in zip(labels, values, strict=True):
        if "." not in key:
            check_type(f"{where}: {key}", key, value)
        yield Point(label, _setup(where, {key: value} if "." not in key else _in_table(key, value)))


def _in_table(key: str, value: object) -> dict[str, Any]:
    table, _, option = key.partition(".")
    return {QUEUEING: {option: value}} if table == QUEUEING else {"set": {key: value}}


def _label(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _shortened(point: Point) -> Point:
    quick = point.setup.get("quick")
    return point if quick is None else Point(point.label, {**point.setup, "requests": quick})


def _metric(name: str, key: str, value: object) -> Metric:
    where = f"{name}: metrics.{key}"
    table = value if isinstance(value, Mapping) else {"of": value}
    of = table.get("of")
    texts: Mapping[str, Any] = of if isinstance(of, Mapping) else dict.fromkeys(ENGINES, of)
    if not texts or not all(isinstance(text, str) for text in texts.values()) or set(table) - {"of", "title"}:
        raise ConfigError(f'{where}: expected an expression, or {{ of = "expression", title = "text" }}')
    for engine in texts:
        check_known(where, engine, ENGINES, "engine")
    return Metric(key, str(table.get("title", key)), {engine: _metric_formula(where, text) for engine, text in texts.items()})


def _metric_formula(where: str, text: str) -> Formula:
    formula = Formula(text, where)
    if formula.references:
        raise ConfigError(f'{where} = "{formula.text}": brackets are for rows only, a metric is computed for each run')
    formula.check(lambda _: 1.0)
    return formula


def _kind(row: Row) -> str:
    """The kind of number in a row, from its unit and arithmetic (see docs/studies.md)."""
    if row.unit in ("x", "points"):
        return RATIO if row.unit == "x" else DIFFERENCE
    negative = row.paper is not None and row.paper < 0
    if row.unit == "%":
        return CHANGE if negative or row.formula.calls("change") else AMOUNT
    return DIFFERENCE if negative else AMOUNT


def _row(where: str, table: Mapping[str, Any], study: Mapping[str, Any]) -> Row:
    """Builds a row, with the study's defaults for `ours` and `calibrated`."""
    check_keys(where, table, ROW_KEYS)
    published = "paper" in table
    for key in ("ours", "calibrated"):
        if table.get(key) and published != (key == "calibrated"):
            what = "a row with a published number is graded against it" if published else "it needs the published number (paper)"
            raise ConfigError(f"{where}: {key} = true: {what}")
    for key in ("what", "value"):
        if not table.get(key):
            raise ConfigError(f"{where}: {key} is missing")
    fields = {key: value for key, value in table.items() if key != "value"}
    given: dict[str, Any] = {"ours": study.get("ours", False), "calibrated": published and study.get("calibrated", False)}
    row = Row(formula=Formula(table["value"], f"{where}: value"), **given | fields)
    _check_numbers(where, row)
    _check_none(where, row)
    return row


def _check_numbers(where: str, row: Row) -> None:
    """Refuses nan, inf and bounds that exclude every number, with which no measurement could agree."""
    for key, number in (("paper", row.paper), ("at_least", row.at_least), ("at_most", row.at_most)):
        if number is not None and not math.isfinite(number):
            raise ConfigError(f"{where}: {key} = {number}: expected a finite number")
    if row.at_least is not None and row.at_most is not None and row.at_least > row.at_most:
        raise ConfigError(f"{where}: at_least = {row.at_least:g}: is more than at_most = {row.at_most:g}; swap them, or leave one out")
    least = {RATIO: 0.0, CHANGE: -100.0}.get(_kind(row), -math.inf)
    if row.paper is not None and row.paper < least:
        what = "a ratio is at least 0" if least == 0 else 'a reduction is at most 100 %; a difference of percentages has unit = "points"'
        raise ConfigError(f"{where}: paper = {row.paper:g}: {what}")


def _check_none(where: str, row: Row) -> None:
    """Refuses a published 0 without narrow bounds, which define what counts as no effect."""
    if row.claim is None or not row.claim.says_none:
        return
    low, high = (as_change(row.claim.kind, bound) for bound in row.claim.bounds)
    low = low if row.claim.kind != AMOUNT else max(low, 0.0)
    if not -NO_EFFECT <= low <= 0 <= high <= NO_EFFECT:
        unit = "5 %" if row.unit == "x" else f"5 {row.unit}".strip()
        message = (
            "at_least and at_most must say what counts as no effect" if row.claim.kind != AMOUNT else "at_most must say what counts as none"
        )
        raise ConfigError(f"{where}: paper = {row.paper:g}: {message}, at most {unit} from it")


def _figure(where: str, table: Mapping[str, Any]) -> Figure:
    check_keys(where, table, FIGURE_KEYS)
    if "panels" not in table and "over_time" not in table:
        raise ConfigError(f"{where}: nothing to draw: expected panels, a list of the study's metrics, or over_time")
    needs = dict.fromkeys(("log", "relative_to", "published", "together"), "panels") | {"window_ms": "over_time"}
    for key, of in needs.items():
        if key in table and of not in table:
            raise ConfigError(f"{where}: {key} has no effect without {of}: add it, or leave {key} out")
    if table.get("published") and "relative_to" in table:
        raise ConfigError(f"{where}: published = true: the published numbers are not relative to a scheme; leave out one of the two")
    overlay = table.get("overlay", {})
    return Figure(
        panels=tuple(table.get("panels", ())),
        log=table.get("log", False),
        relative_to=table.get("relative_to"),
        published=table.get("published", False),
        overlay={panel: _references(f"{where}: overlay.{panel}", value) for panel, value in overlay.items()},
        together=table.get("together"),
        over_time=_references(f"{where}: over_time", table.get("over_time", [])),
        window_ms=_window(f"{where}: window_ms", table.get("window_ms", [0, math.inf])),
    )


def _references(where: str, value: object) -> tuple[Reference, ...]:
    texts = [value] if isinstance(value, str) else value
    found = [parse_reference(text) if isinstance(text, str) else None for text in texts] if isinstance(texts, list) else [None]
    if None in found:
        raise ConfigError(f"{where} = {shown(value)}: expected names, with or without brackets, such as mean or mean[rwp]")
    return tuple(entry for entry in found if entry is not None)


def _window(where: str, value: Sequence[float]) -> tuple[float, float]:
    if len(value) != 2 or not 0 <= value[0] < value[1]:
        raise ConfigError(f"{where} = {value}: expected two times in ms, from and to, such as [0, 1000]")
    return (float(value[0]), float(value[1]))


def _check_names(study: Study) -> None:
    """Refuses undefined names in rows and figure, and rows of the same name, which explanations refer to."""
    names = [row.what for row in study.rows]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f'{study.name}: rows: two are called "{twice}"; give each a name of its own')
    for row in study.rows:
        for name in row.formula.names:
            if name not in row.formula.references:
                raise ConfigError(f'{row.formula.where} = "{row.formula.text}": {name} needs brackets: {name}[scheme, ...]')
        for reference in row.formula.references.values():
            _check_reference(study, f'{row.formula.where} = "{row.formula.text}"', reference)
        row.formula.check(partial(_any_numbers, study, row.formula))
    if study.figure is not None:
        _check_figure(study, f"{study.name}: figure", study.figure)
    if study.paired is not None:
        check_known(f"{study.name}: paired", study.paired, study.schemes, "scheme of the study")
        if any(study.setup_of(combination)["engine"] != DRIVE for combination in study.combinations()):
            raise ConfigError(f'{study.name}: paired = "{study.paired}": only runs of the drive have logs to pair')
    if study.paired_tolerance and (study.paired is None or not 0 < study.paired_tolerance < 1):
        raise ConfigError(f"{study.name}: paired_tolerance = {study.paired_tolerance}: expected 0 to 1, beside `paired`")
    for key, names in (("seeds", list(map(str, study.seeds))), ("schemes", [*study.schemes])):
        twice = next((name for index, name in enumerate(names) if name in names[:index]), None)
        if twice is not None:
            raise ConfigError(f"{study.name}: {key}: {twice} is named twice; leave one of them out")


def _check_figure(study: Study, where: str, figure: Figure) -> None:
    for metric in figure.panels:
        check_known(f"{where}: panels", metric, study.metrics, "metric")
    if figure.relative_to is not None:
        check_known(f"{where}: relative_to", figure.relative_to, study.schemes, "scheme")
    if figure.together is not None:
        check_known(f"{where}: together", figure.together, [axis.name for axis in study.axes[:-1]], "parameter before the last")
    for panel, references in figure.overlay.items():
        check_known(f"{where}: overlay", panel, figure.panels, "panel")
        for asked in references:
            _check_reference(study, f"{where}: overlay.{panel}", asked)
    for asked in figure.over_time:
        check_known(f"{where}: over_time", asked.metric, QUANTITIES, "quantity")
        _check_labels(study, f"{where}: over_time", asked, asked.where)
    engines = {tuple(point.label for point in combination): study.setup_of(combination)["engine"] for combination in study.combinations()}
    for quantity, labels in study.pictures():
        if engines[labels] == DRIVE and quantity not in DRIVE_QUANTITIES:
            what = f"{where}: over_time: {Reference(quantity, labels)}"
            raise ConfigError(f'{what}: runs of the drive only have {", ".join(DRIVE_QUANTITIES)}; {quantity} needs engine = "{QUEUEING}"')


def _any_numbers(study: Study, formula: Formula, name: str) -> float | tuple[float, ...]:
    """The number, or as many numbers as a name in a row will stand for."""
    count = len(study.places(formula.references[name]))
    return 1.0 if count == 1 else (1.0,) * count


def _check_reference(study: Study, where: str, asked: Reference) -> None:
    check_known(where, asked.metric, study.metrics, "metric")
    if asked.where:
        scheme, *labels = asked.where
        _check_scheme(study, where, asked, scheme)
        _check_labels(study, where, asked, labels)


def _check_scheme(study: Study, where: str, asked: Reference, scheme: str) -> None:
    if scheme not in study.schemes and any(scheme in axis.labels for axis in study.axes):
        order = ", ".join(("scheme", *(axis.name for axis in study.axes)))
        raise ConfigError(f"{where}: {asked}: values come after the scheme: {asked.metric}[{order}]")
    check_known(where, scheme, study.schemes, "scheme")


def _check_labels(study: Study, where: str, asked: Reference, labels: Sequence[str]) -> None:
    if len(labels) > len(study.axes):
        raise ConfigError(f"{where}: {asked} has more values than the study has parameters ({len(study.axes)})")
    for label, axis in zip(labels, study.axes, strict=False):
        first, dots, last = label.partition(RANGE) if label not in axis.labels else (label, "", "")
        for end in (first, last) if dots else (first,):
            check_known(where, end, axis.labels if dots else (*axis.labels, ALL), axis.name)
        if dots and not axis.chosen(label):
            raise ConfigError(f"{where}: {asked}: no values of {axis.name} from {first} to {last}")
