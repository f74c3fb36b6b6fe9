"""A figure of a sweep: one number over one axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Sheet

from ssdlab.colours import COLOURS
from ssdlab.errors import UsageError
from ssdlab.report.drawing import Figure
from ssdlab.report.paper import Picture
from ssdlab.result import figures_of
from ssdlab.study.expressions import nearest
from ssdlab.study.figures import MARKERS, STYLE, geometric
from ssdlab.sweeping.result import SEED, SweepPoint, SweepResult
from ssdlab.uncertainty import Estimate

__all__ = ["figure"]

DURATIONS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
SIZE = (5.4, 3.2)
"""Inches."""


@dataclass(frozen=True)
class _Line:
    """What one combination of values comes to, by value on the axis across."""

    label: str
    estimates: Mapping[Any, Estimate]


class _SweepPicture(Picture):
    """The figure of a sweep, drawn by itself: its axes are not those of a run."""

    def __init__(self, y: str, x: str, values: Sequence[Any], lines: Sequence[_Line]) -> None:
        seeds = any(estimate.half is not None for line in lines for estimate in line.estimates.values())
        about = "Means over seeds, with their 95 % confidence intervals." if seeds else "A point for each run."
        super().__init__(Figure("sweep", f"{y} over {x}", about, ()), [line.label or y for line in lines])
        self._x, self._y, self._values, self._lines = x, y, values, lines

    @cached_property
    def sheet(self) -> Sheet:
        """Matplotlib's figure."""
        with mpl.rc_context(STYLE):
            return self._drawn()

    def _drawn(self) -> Sheet:
        sheet = Sheet(figsize=SIZE, layout="constrained")
        FigureCanvasAgg(sheet)
        panel = sheet.subplots()
        numbers = _are_numbers(self._values)
        means = [estimate.mean for line in self._lines for estimate in line.estimates.values()]
        size, unit = next((entry for entry in DURATIONS if max(means) >= entry[0]), DURATIONS[-1]) if _is_time(self._y) else (1.0, "")
        for index, line in enumerate(self._lines):
            values = [value for value in (sorted(self._values) if numbers else self._values) if value in line.estimates]
            panel.errorbar(
                [value if numbers else self._values.index(value) for value in values],
                [line.estimates[value].mean / size for value in values],
                yerr=[(line.estimates[value].half or 0.0) / size for value in values],
                label=line.label,
                color=COLOURS[index % len(COLOURS)],
                marker=MARKERS[index % len(MARKERS)],
                markersize=4,
                linewidth=1.3 if numbers else 0.0,
                elinewidth=1.0,
                capsize=2,
            )
        if not numbers:
            panel.set_xticks(range(len(self._values)), [str(value) for value in self._values])
            panel.set_xlim(-0.5, len(self._values) - 0.5)
        elif geometric(self._values):
            panel.set_xscale("log", base=2)
            panel.set_xticks(self._values, [f"{value:g}" for value in self._values])
        if min(means) >= 0:
            panel.set_ylim(bottom=0)
        panel.set_xlabel(self._x)
        panel.set_ylabel(f"{self._y} ({unit})" if unit else self._y)
        if len(self._lines) > 1:
            sheet.legend(loc="outside upper center", ncols=min(len(self._lines), 4))
        return sheet


def figure(sweep: SweepResult, y: str, x: str | None, by: str | None, where: Mapping[str, Any]) -> Picture:
    """What `SweepResult.plot` returns."""
    axes = sweep.axes
    for axis in (*([] if x is None else [x]), *([] if by is None else [by]), *where):
        if axis not in axes:
            raise UsageError(f'plot: no axis "{axis}"{nearest(axis, axes)} (there are {", ".join(axes)})')
    x = next((axis for axis in reversed(axes) if axis not in (SEED, *where)), SEED) if x is None else x
    points = [point for point in sweep if all(point.values[axis] == value for axis, value in where.items())]
    others = [axis for axis in axes if axis not in (x, SEED, *where)]
    for axis in others:
        if by not in (None, axis) and len(axes[axis]) > 1:
            raise UsageError(f"plot: {axis} has {len(axes[axis])} values: choose one by where={{{axis!r}: ...}}")
    named = others if by is None else [by]
    lines: dict[tuple[Any, ...], dict[Any, list[float]]] = {}
    for point in points:
        number = _number(point, y)
        if number is not None:
            key = tuple(_hashable(point.values[axis]) for axis in named)
            lines.setdefault(key, {}).setdefault(_hashable(point.values[x]), []).append(number)
    if not lines:
        raise UsageError(f'plot: nothing to draw: no point has a number "{y}"{nearest(y, _names(points))} (columns of table() are names)')
    drawn = [
        _Line(", ".join(_said(axis, value) for axis, value in zip(named, key, strict=True)), {v: Estimate.of(n) for v, n in of.items()})
        for key, of in lines.items()
    ]
    return _SweepPicture(y, x, [_hashable(value) for value in axes[x]], drawn)


def _number(point: SweepPoint, name: str) -> float | None:
    value = figures_of(point.result).get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _names(points: Sequence[SweepPoint]) -> dict[str, None]:
    return {name: None for point in points for name in figures_of(point.result)}


def _hashable(value: Any) -> Any:
    return str(value) if isinstance(value, list) else value


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _is_time(name: str) -> bool:
    return any(part.endswith("_ns") for part in name.split("."))


def _said(axis: str, value: Any) -> str:
    """A word speaks for itself, a number does not."""
    return value if isinstance(value, str) else f"{axis} = {value}"
