"""Axes of figures for print: scales, round ticks and labels with units."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullFormatter, NullLocator

from ssdlab.pages.report.drawing import Axis

if TYPE_CHECKING:
    from matplotlib.axis import Axis as MplAxis

__all__ = ["STEPS", "ends_of", "label_of", "log_ticks", "number", "round_ticks", "scale", "widened", "wrapped"]

STEPS = [1, 2, 5, 10]
"""Allowed mantissas of tick distances."""
MOST_WITH_FIVES = 60.0
"""Maximum ratio of the ends of a logarithmic axis with ticks inside decades."""
DURATIONS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
COUNTS = ((1e9, "billions"), (1e6, "millions"), (1e3, "thousands"), (1.0, ""))
SHORT = 100
"""Minimum ratio of a count to thousand or million for that unit."""
LETTER = 0.58
"""Average width of letters, relative to their height."""


def number(value: float) -> str:
    """Formats a tick value."""
    return f"{value:,.10g}" if abs(value) < 1e15 else f"{value:g}"


def log_ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Round numbers between the ends of a logarithmic axis: 1, 2 and 5 of each decade, or decades, or every n-th decade."""
    fives = _within([factor * 10.0**power for power in _decades(low, high) for factor in (1, 2, 5)], low, high)
    if high / low <= MOST_WITH_FIVES and len(fives) <= most:
        return fives
    decades = _within([10.0**power for power in _decades(low, high)], low, high)
    if len(decades) < 2:
        return fives[:: max(1, math.ceil(len(fives) / max(most, 2)))]
    every = 1 if len(decades) <= most + 1 else math.ceil(len(decades) / most)  # labels of decades are short
    return [tick for tick in decades if round(math.log10(tick)) % every == 0] if len(decades) > 2 else decades


def widened(low: float, high: float) -> tuple[float, float]:
    """Extends the ends of a logarithmic axis to include at least two ticks, so that its scale can be read."""
    if len(log_ticks(low, high)) >= 2:
        return low, high
    near = [factor * 10.0**power for power in _decades(low / 10, high * 10) for factor in (1, 2, 5)]
    return max(tick for tick in near if tick <= low * (1 + 1e-9)), min(tick for tick in near if tick >= high * (1 - 1e-9))


def _decades(low: float, high: float) -> Iterable[int]:
    return range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)


def _within(ticks: Sequence[float], low: float, high: float) -> list[float]:
    return [tick for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]


def _minor(ticks: Sequence[float], low: float, high: float) -> list[float]:
    """Minor ticks between the decades."""
    if high / low > 1e7 or not all(math.log10(tick).is_integer() for tick in ticks):
        return []
    return _within([factor * 10.0**power for power in _decades(low, high) for factor in range(2, 10)], low, high)


def scale(
    axis: MplAxis, description: Axis, set_scale: Callable[[str], object], ends: tuple[float, float], ticks: int, *, integer: bool = False
) -> str:
    """Sets scale and at most `ticks` ticks of an axis; returns its unit, or an empty text."""
    low, high = ends
    if description.log:
        set_scale("log")
        places = log_ticks(low, high, ticks)
        axis.set_major_locator(FixedLocator(places))
        axis.set_minor_locator(FixedLocator(_minor(places, low, high)))
        axis.set_minor_formatter(NullFormatter())
    else:
        round_ticks(axis, ticks, integer=integer or (description.unit == "count" and high > 2))
        places = [tick for tick in axis.get_major_locator().tick_values(low, high) if low <= tick <= high]
    size, unit = _unit(description.unit, places)
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value / size)))
    return unit


def round_ticks(axis: MplAxis, most: int, *, integer: bool = False) -> None:
    """Sets ticks at distances of 1, 2 or 5, without minor ticks."""
    axis.set_major_locator(MaxNLocator(max(most, 2), steps=STEPS, integer=integer))
    axis.set_minor_locator(NullLocator())


def _unit(unit: str, ticks: Sequence[float]) -> tuple[float, str]:
    """The divisor of an axis's numbers, and the resulting unit."""
    if unit == "share":
        return 0.01, "%"
    if unit == "ns":  # the unit with the shortest labels: 0.5 and 20 ms rather than 500 and 20,000 µs
        return min(DURATIONS, key=lambda entry: max((len(number(tick / entry[0])) for tick in ticks), default=0))
    return next((entry for entry in COUNTS if max(map(abs, ticks), default=0) >= entry[0] * SHORT), COUNTS[-1])


def label_of(title: str, description: Axis, unit: str) -> str:
    """The label of an axis with its unit; `title` replaces the description if given."""
    own = description.label
    words = title or (own if own[1:2].isdigit() else own[:1].upper() + own[1:])  # p99 keeps its case
    named = [description.label] if title and description.unit == "count" else []
    if description.unit == "per_s" and " second" not in words:
        named = [description.label]
    told = ", ".join(filter(None, [*named, unit]))
    return words + (f" ({told})" if told else "")


def wrapped(text: str, length: float, font: float) -> str:
    """Breaks a text into lines of a length in inches."""
    return textwrap.fill(text, max(8, int(length * 72 / (font * LETTER))), break_long_words=False)


def ends_of(axis: Any) -> tuple[float, float]:
    """The ends of an axis, in increasing order."""
    low, high = axis.get_view_interval()
    return min(low, high), max(low, high)
