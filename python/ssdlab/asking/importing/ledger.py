"""What becomes of the keys of a file: a row for each, and the configuration keys that they set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from ssdlab.asking.importing.source import Entry, Source

__all__ = ["Fate", "Imported", "Ledger", "Preset", "Row"]


class Fate(StrEnum):
    """What becomes of a key of theirs."""

    mapped = "mapped"
    """Means the same here, after the conversion that its row shows."""
    approximated = "approximated"
    """Means nearly the same here; the row says what differs."""
    left_out = "left out"
    """Is not simulated here, and not in the presets; the row says why, and which key of ssdlab is near."""
    idle = "idle"
    """Changes no time there either: a name, a log, or a value that another key switches off."""
    unknown = "unknown"
    """Not known to the importer; a fork's own key, or a misspelling."""


class Row(NamedTuple):
    """A row of the table. `line` is 0 for what the simulator does without a key."""

    file: str
    line: int
    section: str
    name: str
    value: str
    fate: Fate
    settings: Mapping[str, Any]
    note: str

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON has it."""
        return {**self._asdict(), "fate": self.fate.value, "settings": dict(self.settings)}


class Preset(NamedTuple):
    """A preset to write: its kind, its keys, and a comment for each."""

    kind: str
    label: str
    settings: Mapping[str, Any]
    comments: Mapping[str, str]


@dataclass(frozen=True)
class Imported:
    """A file that was read.

    Attributes:
        file: its name.
        form: the simulator and the kind of file.
        presets: the presets to write; none if the file describes what cannot be simulated.
        rows: a row for each key, in the order of the file.
        fixed: rows for what their simulator does without a key, or by its defaults.
        problem: why there is no preset, or why a run with them is refused; empty if they run.
    """

    file: str
    form: str
    presets: tuple[Preset, ...]
    rows: tuple[Row, ...]
    fixed: tuple[Row, ...] = ()
    problem: str = ""

    def count(self, fate: Fate) -> int:
        """The number of keys of this fate."""
        return sum(row.fate is fate for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """The table as JSON."""
        return {
            "file": self.file,
            "form": self.form,
            "counts": {fate.value: self.count(fate) for fate in Fate},
            "runs": not self.problem,
            **({"problem": self.problem} if self.problem else {}),
            "keys": [row.to_dict() for row in self.rows],
            "without_a_key": [row.to_dict() for row in self.fixed],
            "presets": [{"kind": preset.kind, "label": preset.label, "settings": dict(preset.settings)} for preset in self.presets],
        }


@dataclass
class Ledger:
    """The keys of a file, each of which gets exactly one row. A key without one is unknown: nothing is dropped."""

    source: Source
    entries: list[Entry]
    settings: dict[str, Any] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    fixed: list[Row] = field(default_factory=list)
    _rows: dict[int, Row] = field(default_factory=dict)
    _current: dict[tuple[str, str], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for index, entry in enumerate(self.entries):
            earlier = self._current.get((entry.section, entry.name))
            if earlier is not None:
                self._enter(earlier, Fate.idle, {}, f"set again on line {entry.line}, which counts")
            self._current[entry.section, entry.name] = index

    def get(self, name: str, section: str | None = None) -> Entry | None:
        """The entry of a key that is still without a row; `None` if the file does not have it."""
        index = self._find(name, section)
        return None if index is None else self.entries[index]

    def mapped(self, name: str, settings: Mapping[str, Any], note: str = "", section: str | None = None) -> None:
        """Enters a key that means the same here."""
        self._note(name, section, Fate.mapped, settings, note)

    def approximated(self, name: str, settings: Mapping[str, Any], note: str, section: str | None = None) -> None:
        """Enters a key that means nearly the same here."""
        self._note(name, section, Fate.approximated, settings, note)

    def left_out(self, name: str, note: str, section: str | None = None) -> None:
        """Enters a key that is not simulated here."""
        self._note(name, section, Fate.left_out, {}, note)

    def idle(self, name: str, note: str, section: str | None = None) -> None:
        """Enters a key that changes no time there."""
        self._note(name, section, Fate.idle, {}, note)

    def all_of(self, fate: Callable[..., None], notes: Mapping[str, str], section: str | None = None) -> None:
        """Enters keys with a note each, if the file has them."""
        for name, note in notes.items():
            fate(name, note, section=section)

    def rest_of(self, section: str, fate: Fate, note: str) -> None:
        """Enters all keys of a section that have no row yet."""
        for index, entry in enumerate(self.entries):
            if entry.section == section and index not in self._rows:
                self._enter(index, fate, {}, note)

    def require(self, names: Iterable[str], section: str | None = None) -> None:
        """Refuses a file without one of these keys, so that no default of ssdlab takes its place unsaid."""
        for name in names:
            if self.get(name, section) is None:
                raise self.source.refuse(0, f"{name} is not given: the presets would have a default of ssdlab in its place")

    def whole(self, name: str, key: str, *, default: int | None = None, section: str | None = None, most: int = 10**18) -> int | None:
        """Maps a whole number as it is; returns it, or the default of their simulator, which is then entered as such."""
        entry = self.get(name, section)
        if entry is None:
            if default is not None:
                self.without_key({key: default}, f"{name} is not given: the default there is {default}")
            return default
        number = entry.whole(1, most)
        self.mapped(name, {key: number}, section=section)
        return number

    def without_key(self, settings: Mapping[str, Any], note: str) -> None:
        """Enters what their simulator does without a key."""
        self.fixed.append(Row(self.source.name, 0, "", "", "", Fate.approximated, settings, note))
        self._set(settings, note)

    def rows(self) -> tuple[Row, ...]:
        """A row for each key, in the order of the file."""
        for index, entry in enumerate(self.entries):
            if index not in self._rows:
                self._enter(
                    index, Fate.unknown, {}, f"not a key that ssdlab knows of this simulator; nothing was made of line {entry.line}"
                )
        return tuple(self._rows[index] for index in sorted(self._rows))

    def imported(self, form: str, presets: Iterable[Preset], problem: str = "") -> Imported:
        """The result."""
        return Imported(self.source.name, form, tuple(presets), self.rows(), tuple(self.fixed), problem)

    def _find(self, name: str, section: str | None) -> int | None:
        places = ((place, index) for place, index in self._current.items() if place[1] == name and section in {None, place[0]})
        return next((index for _, index in places if index not in self._rows), None)

    def _note(self, name: str, section: str | None, fate: Fate, settings: Mapping[str, Any], note: str) -> None:
        index = self._find(name, section)
        if index is not None:
            self._enter(index, fate, settings, note)
        elif settings:
            self.without_key(settings, f"{name} is not given, the default there" + (f": {note}" if note else ""))

    def _enter(self, index: int, fate: Fate, settings: Mapping[str, Any], note: str) -> None:
        entry = self.entries[index]
        self._rows[index] = Row(self.source.name, entry.line, entry.section, entry.name, entry.value, fate, settings, note)
        self._set(settings, f"{entry.name} = {entry.value}" + (f": {note}" if note else ""))

    def _set(self, settings: Mapping[str, Any], comment: str) -> None:
        for key, value in settings.items():
            self.settings[key] = value
            self.comments[key] = comment
