"""What callers hand over, checked for its type: a wrong one is said in one line, before it reaches the core."""

from __future__ import annotations

import math
import operator
import os
import reprlib
from collections.abc import Iterable, Mapping
from typing import Any

from ssdlab.errors import UsageError

__all__ = ["LARGEST", "check_paths", "check_texts", "mapping", "path", "positive", "text", "texts", "truth", "whole"]

LARGEST = 2**64 - 1
"""What the core counts with."""


def whole(name: str, value: object, least: int = 0) -> int:
    """`value`, if it is a whole number (of any type, but no truth value) that the core can take."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or not least <= number <= LARGEST:
        raise _wrong(name, value, f"a whole number from {least} to {LARGEST}")
    return number


def positive(name: str, value: object) -> float:
    """A number above zero."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise _wrong(name, value, "a number above 0")
    return float(value)


def text(name: str, value: object) -> str:
    """`value`, if it is a text."""
    if not isinstance(value, str):
        raise _wrong(name, value, "a text")
    return value


def path(name: str, value: object) -> str | os.PathLike[str]:
    """`value`, if it is the path of a file or folder."""
    if not isinstance(value, str | os.PathLike):
        raise _wrong(name, value, "a path")
    return value


def truth(name: str, value: object) -> bool:
    """`value`, if it is true or false."""
    if not isinstance(value, bool):
        raise _wrong(name, value, "True or False")
    return value


def mapping(name: str, value: object) -> Mapping[str, Any]:
    """`value`, if it is a mapping whose keys are texts."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise _wrong(name, value, 'a mapping such as {"gc.soft": 0.1}')
    return value


def texts(name: str, value: object) -> list[str]:
    """The texts in `value`."""
    entries = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else None
    if entries is None or not all(isinstance(entry, str) for entry in entries):
        raise _wrong(name, value, "a list of names")
    return entries


def check_texts(values: Mapping[str, object]) -> None:
    """Checks values by name, each of which is a text or absent."""
    for name, value in values.items():
        if value is not None:
            text(name, value)


def check_paths(values: Mapping[str, object]) -> None:
    """Checks values by name, each of which is a path or absent."""
    for name, value in values.items():
        if value is not None:
            path(name, value)


def _wrong(name: str, value: object, expected: str) -> UsageError:
    shown = repr(value) if isinstance(value, int) else reprlib.repr(value)
    return UsageError(f"{name} = {shown}: expected {expected}")
