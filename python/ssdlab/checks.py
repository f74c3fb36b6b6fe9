"""Type checks of arguments before values reach the core, and names and values in one-line messages."""

from __future__ import annotations

import difflib
import operator
import os
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, cast

from ssdlab import _core
from ssdlab.errors import UsageError

__all__ = [
    "LARGEST",
    "amount",
    "check_numbers",
    "check_paths",
    "check_texts",
    "few",
    "mapping",
    "nearest",
    "path",
    "positive",
    "shown",
    "text",
    "texts",
    "truth",
    "whole",
]

LARGEST = 2**64 - 1
"""The largest integer that the core takes."""
LARGEST_FLOAT = 2.0**1023
"""An upper bound of whole numbers that convert to a float."""
MOST_SHOWN = 10**80
"""Whole numbers from here on are not printed in messages."""


def shown(value: object) -> str:
    """A value as messages show it, shortened."""
    short = reprlib.Repr()
    short.maxstring, short.maxother = 80, 160
    short.fillvalue = "…"
    try:
        # user text may contain any characters; very large numbers are not printed
        return short.repr(value) if not isinstance(value, int) or abs(value) < MOST_SHOWN else f"a number of {value.bit_length():,} bits"
    except Exception:
        return f"<{type(value).__name__}>"


def amount(name: str, value: str, *, in_bytes: bool) -> int:
    """The number in a text, with a unit (`64MiB`, `2M`) or without one. A text in another form is an error."""
    try:
        return int(value)
    except ValueError:
        return _core.amount(name, text(name, value), in_bytes)


def whole(name: str, value: object, least: int = 0) -> int:
    """Checks that `value` is a whole number of any type except `bool`, from `least` to `LARGEST`; returns it."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except Exception:
        number = None
    if number is None or isinstance(value, bool) or not least <= number <= LARGEST:
        raise _wrong(name, value, f"a whole number from {least} to {LARGEST}")
    return number


def positive(name: str, value: object) -> float:
    """Checks that `value` is a finite number above 0; returns it."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < LARGEST_FLOAT:
        raise _wrong(name, value, "a number above 0")
    return float(value)


def text(name: str, value: object) -> str:
    """Checks that `value` is a text of valid characters; returns it."""
    if not isinstance(value, str):
        raise _wrong(name, value, "a text")
    if not _is_plain(value):
        raise _wrong(name, value, "a text without NUL characters" if "\0" in value else "a text in UTF-8")
    return value


def _is_plain(value: str) -> bool:
    """Whether a text is valid UTF-8 without NUL. Invalid bytes of a command line appear as lone surrogates."""
    return not any(character == "\0" or "\ud800" <= character <= "\udfff" for character in value)


def path(name: str, value: object) -> str | os.PathLike[str]:
    """Checks that `value` is the path of a file or folder; returns it."""
    try:
        place = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    except Exception:
        place = None
    if not isinstance(place, str):
        raise _wrong(name, value, "a path")
    if "\0" in place:
        raise _wrong(name, value, "a path without NUL characters")
    try:
        os.fsencode(place)
    except UnicodeEncodeError:
        raise _wrong(name, value, "a path that the system can encode") from None
    if name == "out" and not place:
        raise _wrong(name, value, "the name of a folder; . is the current one")
    return cast("str | os.PathLike[str]", value)


def truth(name: str, value: object) -> bool:
    """Checks that `value` is a truth value; returns it."""
    if not isinstance(value, bool):
        raise _wrong(name, value, "True or False")
    return value


def mapping(name: str, value: object) -> Mapping[str, Any]:
    """Checks that `value` is a mapping with text keys; returns it."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise _wrong(name, value, 'a mapping such as {"gc.soft": 0.1}')
    for key in value:
        text(f"a key of {name}", key)
    return value


def texts(name: str, value: object) -> list[str]:
    """Checks that `value` is an iterable of texts, other than a text; returns a list."""
    entries = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else None
    if entries is None or not all(isinstance(entry, str) for entry in entries):
        raise _wrong(name, value, "a list of names")
    return [text(name, entry) for entry in entries]


def check_texts(values: Mapping[str, object]) -> None:
    """Checks that each value, by name, is a text or `None`."""
    for name, value in values.items():
        if value is not None:
            text(name, value)


def check_numbers(values: Mapping[str, object]) -> None:
    """Checks that each value, by name, is a number of any type, a text (which the core parses), or `None`."""
    for name, value in values.items():
        is_number = isinstance(value, Real | str) or hasattr(value, "item")  # numbers of NumPy
        if value is not None and (isinstance(value, bool) or not is_number or (isinstance(value, int) and abs(value) >= MOST_SHOWN)):
            raise _wrong(name, value, "a number")


def check_paths(values: Mapping[str, object]) -> None:
    """Checks that each value, by name, is a path or `None`."""
    for name, value in values.items():
        if value is not None:
            path(name, value)


def _wrong(name: str, value: object, expected: str) -> UsageError:
    return UsageError(f"{name} = {shown(value)}: expected {expected}")


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean "..."?` if a similar name is known, else an empty text."""
    found = difflib.get_close_matches(name, list(known), n=1)
    return f'; did you mean "{found[0]}"?' if found else ""


def few(names: Sequence[str], most: int, between: str = ", ") -> str:
    """The first `most` of several names, and how many there are besides: `a, b and 3 more`."""
    more = len(names) - most
    return between.join(names[:most]) + (f" and {more:,} more" if more > 0 else "")
