"""Formatting of durations, counts, sizes, rates and shares with their units.

Numbers have three significant digits, and more for large whole numbers. Only zero is printed as zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

__all__ = [
    "FACTOR",
    "SIZES",
    "UNITS",
    "duration",
    "number",
    "quantity",
    "relative_text",
    "share",
    "significant",
    "size",
    "three",
    "time_of",
]

UNITS = {"_per_s": "/s", "_s": "s", "_kb": "KiB", "_mb": "MiB", "_bytes": "bytes", "_share": "%"}
"""Units by the endings of names. Names keep `kb` and `mb` for powers of 1024."""

SMALLEST_GIB = 2**30 // 100
"""Size from which on GiB are printed too, bytes."""

DURATIONS = ((1e3, 1.0, "ns"), (1e6, 1e3, "us"), (1e9, 1e6, "ms"))
SIZES = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))
"""Binary units of bytes, the largest first."""
ROUNDS_UP = 0.9995
"""Share of a power of ten from which on a number rounds to that power."""
PLAIN = 1e-6
"""Number below which powers of ten are used."""


def three(value: float) -> str:
    """Formats three significant digits, and all before the point: `1,234`, `12.3`, `0.0123`, `1.23e-08`. Only zero is `0`."""
    if not value or not math.isfinite(value):
        return f"{value:.0f}"
    rounded = float(f"{value:.3g}")
    if abs(rounded) < PLAIN:
        return f"{value:.3g}"
    return f"{value:,.{max(0, 2 - math.floor(math.log10(abs(rounded))))}f}"


def duration(ns: float) -> str:
    """Formats nanoseconds in a suitable unit."""
    divisor, unit = next(((divisor, unit) for limit, divisor, unit in DURATIONS if ns < limit * ROUNDS_UP), (1e9, "s"))
    value = ns / divisor
    return f"{value:,.0f} ns" if unit == "ns" and value == int(value) else f"{three(value)} {unit}"


def size(count: float) -> str:
    """Formats bytes in a suitable binary unit: `512 bytes`, `16.0 KiB`."""
    divisor, unit = next(((divisor, unit) for divisor, unit in SIZES if abs(count) >= divisor * ROUNDS_UP), (1, "bytes"))
    return f"{count:,} bytes" if divisor == 1 else f"{three(count / divisor)} {unit}"


def share(value: float, *, sign: bool = False, digits: int = 1) -> str:
    """Formats a share in percent with `digits` decimals; a share below one percent has three significant digits."""
    plus = "+" if sign and value > 0 else ""
    return f"{plus}{100 * value:,.{digits}f}%" if abs(value) >= 0.01 else f"{plus}{three(100 * value)}%"


def number(value: object) -> str:
    """Formats a count with separators, a ratio with three decimals or three significant digits, and other values as text."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    return three(value) if 0 < abs(value) < 1 else f"{value:,.3f}"


def quantity(key: str, value: object) -> str:
    """Formats a number with the unit given by the ending of its name."""
    for ending, unit in UNITS.items():
        if isinstance(value, int | float) and not isinstance(value, bool) and key.endswith(ending):
            binary = f" ({value / 2**30:,.2f} GiB)" if unit == "bytes" and value >= SMALLEST_GIB else ""
            return share(value) if unit == "%" else f"{number(value)} {unit}{binary}"
    if isinstance(value, int | float) and key.endswith("_ns"):
        return duration(value)
    return number(value)


def significant(value: float, *, sign: bool = False) -> str:
    """Formats a number with about three significant digits, without powers of ten unless it is tiny."""
    magnitude = abs(value)
    plus = "+" if sign else ""
    if magnitude >= 100 or not magnitude:
        return f"{value:{plus},.0f}"
    if magnitude < 0.01:
        return f"{value:{plus}.1g}"
    return f"{value:{plus}.{1 if magnitude >= 10 else 2 if magnitude >= 1 else 3}f}"


FACTOR = 5.0
"""Ratio from which on a difference is written as a factor, as on pages."""


def relative_text(ratio: float, half: float | None = None) -> str:
    """A relative difference in percent, from `FACTOR` on as a factor; with the half width of its interval, if that is given."""
    within = "" if half is None else f" ± {half:,.1f}" if ratio >= FACTOR else f" ± {half:.1%}"
    return (f"\N{MULTIPLICATION SIGN} {ratio:,.{0 if ratio >= 10 else 1}f}" if ratio >= FACTOR else f"{ratio - 1:+z.1%}") + within


def time_of(row: Mapping[str, Any], key: str) -> str:
    """Formats an entry with a time; `-` if it is absent."""
    return duration(row[key]) if key in row else "-"
