"""Numbers for people: durations, counts and shares with their units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = [
    "UNITS",
    "duration",
    "number",
    "quantity",
    "relative_text",
    "significant",
    "time_of",
]

UNITS = {"_per_s": "/s", "_s": "s", "_kb": "KB", "_bytes": "bytes", "_share": "%"}
"""Ends of names, and the units that they stand for."""

SMALLEST_GIB = 2**30 // 100
"""Sizes from here on are given in GiB as well."""


def duration(ns: float) -> str:
    """Nanoseconds in the unit that reads best."""
    for limit, divisor, unit in ((1e3, 1, "ns"), (1e6, 1e3, "us"), (1e9, 1e6, "ms")):
        if ns < limit:
            return _three(ns / divisor, unit)
    return _three(ns / 1e9, "s")


def _three(value: float, unit: str) -> str:
    """About three significant digits."""
    digits = 0 if value >= 100 or unit == "ns" else 1 if value >= 10 else 2
    return f"{value:,.{digits}f} {unit}"


def number(value: object) -> str:
    """A count with separators, a ratio with three digits, anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3f}"


def quantity(key: str, value: object) -> str:
    """A number in the unit that the end of its name says."""
    for ending, unit in UNITS.items():
        if isinstance(value, int | float) and not isinstance(value, bool) and key.endswith(ending):
            size = f" ({value / 2**30:,.2f} GiB)" if unit == "bytes" and value >= SMALLEST_GIB else ""
            return f"{value:.1%}" if unit == "%" else f"{number(value)} {unit}{size}"
    if isinstance(value, int | float) and key.endswith("_ns"):
        return duration(value)
    return number(value)


def significant(value: float, *, sign: bool = False) -> str:
    """A number to about three significant digits, never in powers of ten unless it is tiny."""
    size = abs(value)
    plus = "+" if sign else ""
    if size >= 100 or size < 1e-9:
        return f"{value:{plus},.0f}"
    if size < 0.01:
        return f"{value:{plus}.1g}"
    return f"{value:{plus}.{1 if size >= 10 else 2 if size >= 1 else 3}f}"


def relative_text(ratio: float) -> str:
    """How far a figure is from what was expected; beyond ten times as much, how many times."""
    return f"{ratio - 1:+.1%}" if ratio < 10 else f"x {ratio:,.0f}"


def time_of(row: Mapping[str, Any], key: str) -> str:
    """An entry that is a time; `-` where it is absent."""
    return duration(row[key]) if key in row else "-"
