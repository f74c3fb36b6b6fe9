"""The questions of a sweep, stated before its runs, and those that were asked after results were seen."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ssdlab._core import version
from ssdlab.asking.keys import AxisValue, check_keys
from ssdlab.checks import nearest, shown
from ssdlab.errors import ConfigError, FileError, UsageError
from ssdlab.experiments.sweeping import known
from ssdlab.experiments.sweeping.axes import Axis
from ssdlab.pages.report.leader import SHORT
from ssdlab.system.folders import QUESTIONS_FILE, write_json
from ssdlab.system.json_text import read_json

__all__ = ["Question", "dated", "keep", "read"]

COMPARE, AGAINST, VALUES, FIGURES, BY, ACROSS, DEPENDS_ON = KEYS = ("compare", "against", "values", "figures", "by", "across", "depends_on")
BY_DEFAULT = ("p99",)
SEED = "seed"
STATED, AFTER, AXES = "stated", "after", "axes"
EXAMPLE = '[[questions]] with compare = "scheme", and perhaps against = "npgc", figures = ["p99"]'


@dataclass(frozen=True)
class Question:
    """Values of an axis that are compared with one of them, by some figures."""

    compare: str
    against: str
    """The value that the others are compared with, as text."""
    values: tuple[str, ...]
    figures: tuple[str, ...]
    """Figures by path, such as `latency_ns.all.p99`."""
    by: tuple[str, ...] = ()
    """Axes for each of whose values there is an answer of its own; over the others means are taken."""
    across: tuple[str, ...] = ()
    """Axes of workloads, over which intervals are."""
    depends_on: str | None = None
    """The axis on which the change is asked to depend: what is judged is the change at each further value over that at the first."""
    first: str = ""
    """The first value of that axis, as text."""
    after: bool = False
    """Whether it was asked after results were there."""

    @property
    def table(self) -> dict[str, Any]:
        """The question as in a file."""
        lists = {VALUES: self.values, FIGURES: self.figures, BY: self.by, ACROSS: self.across}
        depends = {DEPENDS_ON: self.depends_on} if self.depends_on else {}
        return {
            COMPARE: self.compare,
            AGAINST: self.against,
            **{key: list(entries) for key, entries in lists.items() if entries},
            **depends,
        }


def read(where: str, entries: object, axes: Sequence[Axis], workloads: Sequence[str], columns: Collection[str]) -> tuple[Question, ...]:
    """The questions of a sweep.

    Args:
        where: their place in messages.
        entries: tables, each with `compare`, and perhaps `against`, `values`, `figures`, `by`, `across` and `depends_on`.
        axes: axes of the sweep.
        workloads: names of those that vary the workload, which is `across` by default.
        columns: names of the derived columns.

    Raises:
        ConfigError: an axis, a value or a key does not exist.
    """
    if not isinstance(entries, list):
        raise ConfigError(f"{where} = {shown(entries)}: expected {EXAMPLE}")
    by_name = {axis.name: axis for axis in axes}
    return tuple(_read(f"{where}[{index}]", entry, by_name, workloads, columns) for index, entry in enumerate(entries))


def _read(where: str, entry: object, axes: Mapping[str, Axis], workloads: Sequence[str], columns: Collection[str]) -> Question:
    if not isinstance(entry, Mapping) or COMPARE not in entry:
        raise ConfigError(f"{where}: expected {EXAMPLE}")
    check_keys(where, entry, KEYS)
    compared = _axis(f"{where}.{COMPARE}", entry[COMPARE], axes)
    there = [value.text for value in axes[compared].values]
    against = _value(f"{where}.{AGAINST}", entry.get(AGAINST, there[0]), there)
    values = [_value(f"{where}.{VALUES}", value, there) for value in _list(f"{where}.{VALUES}", entry.get(VALUES, there))]
    others = tuple(value for value in dict.fromkeys(values) if value != against)
    if not others:
        raise ConfigError(f"{where}: {compared} = {against} is compared with nothing: give values beside it")
    figures = _list(f"{where}.{FIGURES}", entry.get(FIGURES, list(BY_DEFAULT)))
    if not figures:
        raise ConfigError(f"{where}.{FIGURES} = []: expected at least one, such as {BY_DEFAULT[0]}")
    for figure in figures:
        if not isinstance(figure, str) or not (figure in SHORT or figure in columns or known.is_known(figure)):
            near = nearest(str(figure), [*SHORT, *columns, *known.figures()])
            expected = f"{', '.join((*SHORT, *columns))}, or a path such as latency_ns.read.p99"
            raise ConfigError(f"{where}.{FIGURES}: {shown(figure)}: no such figure{near} (expected {expected})")
    depends_on = _axis(f"{where}.{DEPENDS_ON}", entry[DEPENDS_ON], axes) if DEPENDS_ON in entry else None
    by = _axes(f"{where}.{BY}", entry.get(BY, []), axes)
    left = [name for name in workloads if name not in (compared, depends_on, *by)]
    across = _axes(f"{where}.{ACROSS}", entry.get(ACROSS, left), axes)
    uses = [compared, *{*by}, *{*across}, *([depends_on] if depends_on else [])]
    twice = {name for name in uses if uses.count(name) > 1}
    if twice:
        raise ConfigError(f"{where}: {min(twice)} has two uses: an axis is one of {COMPARE}, {BY}, {ACROSS} and {DEPENDS_ON}")
    first = axes[depends_on].values[0].text if depends_on else ""
    paths = tuple(dict.fromkeys(SHORT.get(figure, figure) for figure in figures))
    return Question(compared, against, others, paths, by, across, depends_on, first)


def _axis(where: str, name: object, axes: Mapping[str, Axis]) -> str:
    if not isinstance(name, str) or name not in axes or name == SEED:
        known = [axis for axis in axes if axis != SEED]
        raise ConfigError(f"{where} = {shown(name)}: no such axis{nearest(str(name), known)} (there are {', '.join(known)})")
    return name


def _axes(where: str, names: object, axes: Mapping[str, Axis]) -> tuple[str, ...]:
    return tuple(_axis(where, name, axes) for name in _list(where, names))


def _value(where: str, value: object, known: Sequence[str]) -> str:
    text = value if isinstance(value, str) else AxisValue(value, {}, {}).text
    if text not in known:
        raise ConfigError(f"{where}: {text} is no value of the axis{nearest(text, known)} (there are {', '.join(known)})")
    return text


def _list(where: str, values: object) -> list[Any]:
    if not isinstance(values, list):
        raise ConfigError(f"{where} = {shown(values)}: expected a list")
    return values


def dated(questions: Iterable[Question], axes: Sequence[Axis], folder: Path | None, *, has_results: bool) -> tuple[Question, ...]:
    """The questions, marked whether they were asked after results were there.

    Values that were added since are asked about in a question of their own. A question is another one if a value was left out, or if
    another axis, such as seeds, has other values: what is counted was then chosen after results were there.

    Args:
        questions: the questions of the sweep.
        axes: axes of the sweep.
        folder: folder of the sweep, which has those that were stated before.
        has_results: whether it has results of the sweep.
    """
    if folder is None or not has_results:
        return tuple(questions)
    stated = _stated(folder)
    return tuple(part for question in questions for part in _parted(question, _texts(axes), stated))


def _stated(folder: Path) -> list[dict[str, Any]]:
    try:
        found: list[dict[str, Any]] = read_json(folder / QUESTIONS_FILE)[STATED]
    except (FileError, UsageError, KeyError):
        return []
    return found


def _texts(axes: Sequence[Axis]) -> dict[str, list[str]]:
    return {axis.name: [value.text for value in axis.values] for axis in axes}


def _parted(question: Question, axes: Mapping[str, Sequence[str]], stated: Iterable[Mapping[str, Any]]) -> Iterator[Question]:
    """The question about the values that were stated, and about those that were not."""
    known = {value for entry in stated if _is_stated(question, axes, entry) for value in entry[VALUES]}
    for after in (False, True):
        values = tuple(value for value in question.values if (value not in known) == after)
        if values:
            yield replace(question, values=values, after=after)


def _is_stated(question: Question, axes: Mapping[str, Sequence[str]], entry: Mapping[str, Any]) -> bool:
    """Whether a statement is about this question, perhaps with fewer values."""
    then, now = ({name: {*values} for name, values in of.items()} for of in (entry.get(AXES, axes), axes))
    if {*then} != {*now} or not {*entry[VALUES]} <= {*question.values}:
        return False
    more = [name for name in now if now[name] != then[name]]
    if more and (more != [question.compare] or not then[question.compare] <= now[question.compare]):
        return False
    but_values, stated = ({key: of[key] for key in of if key not in (VALUES, AXES)} for of in (question.table, entry))
    return but_values == stated


def keep(questions: Iterable[Question], axes: Sequence[Axis], folder: Path, *, has_results: bool) -> None:
    """Writes the questions to the folder of the sweep, before its runs, with the values of all axes.

    What was stated before the results that are there stays.
    """
    tables: dict[str, list[dict[str, Any]]] = {STATED: _stated(folder) if has_results else [], AFTER: []}
    for question in questions:
        there = tables[AFTER if question.after else STATED]
        if question.after or not any(_is_stated(question, _texts(axes), entry) for entry in there):
            there.append({**question.table, AXES: _texts(axes)})
    write_json(folder / QUESTIONS_FILE, {"version": version(), **tables})
