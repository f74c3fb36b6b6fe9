"""The keys of files of studies, sweeps and variants: their types, errors that name the wrong key or value, and labelled values."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdlab.asking.option import file_types, options_of
from ssdlab.asking.options import InputOptions, LoadOptions, PolicyOptions, SweepOptions
from ssdlab.asking.plans import AMOUNTS, value_text
from ssdlab.asking.policies import KINDS, located
from ssdlab.checks import amount, nearest, shown
from ssdlab.errors import ConfigError, FileError, UsageError

__all__ = [
    "DRIVE",
    "ENGINES",
    "LABEL",
    "QUEUEING",
    "QUEUEING_OPTIONS",
    "SET",
    "SETUP_KEYS",
    "TABLES",
    "AxisValue",
    "beside",
    "check_keys",
    "check_known",
    "check_type",
    "described",
    "flat",
    "read_file",
    "read_toml",
]

DRIVE, QUEUEING = "drive", "queueing"
ENGINES = (DRIVE, QUEUEING)
"""Engines of a run: the drive or, with `engine = "queueing"`, the queueing model of a single die."""

SETUP_KEYS = ("engine", *options_of(InputOptions), *options_of(LoadOptions), *options_of(PolicyOptions), "quick")
"""Keys of a study or its points that describe runs, in addition to `set` and `queueing`."""
TABLES = ("set", QUEUEING)
"""Tables of single keys, in which a point's keys override the study's."""
QUEUEING_OPTIONS = (
    *("valid", "arrivals", "read_per_ms", "write_per_ms", "read_gaps_ns", "write_gaps_ns", "free_blocks"),
    *("read_ns", "write_ns", "copy_ns", "erase_ns", "pages"),
)
"""Keys of the table `queueing`: options of the model that the drive does not have."""

LABEL, SET = "label", "set"
PATHS = tuple(name for name, option in options_of(SweepOptions).items() if option.check == "path")
"""Options with names of files."""
PRESETS = ("device", "scheme", "workload")
"""Options with names of presets or of their files."""

TYPES: dict[str, type | tuple[type, ...]] = {
    **{name: (*kinds, str) if name in AMOUNTS else kinds for name, kinds in file_types(SweepOptions).items()},
    "title": str,
    "place": str,
    "about": str,
    "engine": str,
    "quick": (int, str),
    "paired": str,
    "paired_tolerance": (int, float),
    "queueing": dict,
    "metrics": dict,
    "figure": dict,
    "name": str,
    "key": str,
    "label": str,
    "what": str,
    "value": str,
    "unit": str,
    "note": str,
    "text": str,
    "paper": (int, float),
    "at_least": (int, float),
    "at_most": (int, float),
    "log": bool,
    "ours": bool,
    "calibrated": bool,
    "relative_to": str,
    "published": bool,
    "overlay": dict,
    "together": str,
}
LISTS: dict[str, type | tuple[type, ...]] = {
    "deviations": str,
    "discussion": (str, dict),
    "schemes": str,
    "seeds": int,
    "vary": dict,
    "rows": dict,
    "points": dict,
    "values": (bool, int, float, str, list),
    "labels": str,
    "panels": str,
    "over_time": str,
    "window_ms": (int, float),
}


def read_toml(name: str, text: str) -> dict[str, Any]:
    """Parses TOML; `name` is used in messages."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name}: not valid TOML: {error}") from error
    except RecursionError as error:
        raise ConfigError(f"{name}: not valid TOML: nested too deeply") from error
    except ValueError as error:  # a number of thousands of digits
        raise ConfigError(f"{name}: not valid TOML: {error}") from error


def read_file(path: Path) -> str:
    """Reads the text of a file."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as reason:
        message = f"{path}: cannot read: {getattr(reason, 'strerror', None) or reason}"
        raise FileError(message, getattr(reason, "errno", None), str(path)) from reason


def check_keys(where: str, table: Mapping[str, Any], known: Sequence[str]) -> None:
    """Refuses unknown keys, and values of a wrong type."""
    for key, value in table.items():
        if key not in known:
            raise ConfigError(f'{where}: unknown key "{key}"{nearest(key, known)} (keys: {", ".join(known)})')
        check_type(f"{where}: {key}", key, value)


def check_type(where: str, key: str, value: object) -> None:
    """Refuses a value with another type than its key has."""
    if key in LISTS:
        entries = value if isinstance(value, list) and value else None
        if entries is None or not all(_is(entry, LISTS[key]) for entry in entries):
            raise ConfigError(f"{where}: expected a list of {_words(LISTS[key])}")
    elif key in TYPES and not _is(value, TYPES[key]):
        raise ConfigError(f"{where} = {shown(value)}: expected {_words(TYPES[key])}")
    elif key in AMOUNTS and isinstance(value, str):
        try:
            amount(where, value, in_bytes=AMOUNTS[key])
        except UsageError as error:
            raise ConfigError(str(error)) from error
    elif key == "engine":
        check_known(where, str(value), ENGINES, "engine")


def _is(value: object, kind: type | tuple[type, ...]) -> bool:
    """`isinstance`, except that truth values are not numbers."""
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return isinstance(value, kinds) and (not isinstance(value, bool) or bool in kinds)


def _words(kind: type | tuple[type, ...]) -> str:
    names = {str: "text", int: "a whole number", float: "a number", dict: "a table", bool: "true or false", list: "a list"}
    return " or ".join(dict.fromkeys(names[entry] for entry in (kind if isinstance(kind, tuple) else (kind,))))


def flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Nested tables of configuration keys as full keys."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def check_known(where: str, name: str, known: Mapping[str, object] | Sequence[str], kind: str) -> None:
    """Refuses a name that is not known."""
    if name not in known:
        raise ConfigError(f'{where}: no {kind} "{name}"{nearest(name, known)} (there are {", ".join(known)})')


@dataclass(frozen=True)
class AxisValue:
    """A value of an axis: the value in its column, and the options and keys that it sets."""

    value: Any
    options: Mapping[str, Any]
    set: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The value as text."""
        return self.value if isinstance(self.value, str) else value_text(self.value)


def described(where: str, table: Mapping[str, Any], folder: Path | None, known: Sequence[str]) -> AxisValue:
    """A labelled value that sets several options and keys; `known`: the options that it may set."""
    check_keys(where, table, (LABEL, SET, *known))
    if not table.get(LABEL):
        raise ConfigError(f"{where}: {LABEL} is missing")
    options = beside({key: table[key] for key in known if key in table}, folder)
    return AxisValue(table[LABEL], options, dict(flat(table.get(SET, {}))))


def beside(options: Mapping[str, Any], folder: Path | None) -> dict[str, Any]:
    """Options with files replaced by paths in the sweep's folder, if they exist there."""
    files = [key for key in (*PATHS, *PRESETS) if key in options and (key in PATHS or str(options[key]).endswith(".toml"))]
    there = {key: str(folder / options[key]) for key in files if folder is not None and (folder / options[key]).is_file()}
    return {**options, **there, **{kind: located(options[kind], folder) for kind in KINDS if kind in options}}
