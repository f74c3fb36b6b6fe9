"""A figure of a sweep: one number over one axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Sheet
from matplotlib.ticker import NullLocator

from ssdlab.checks import check_texts, mapping, text
from ssdlab.drawings import geometric
from ssdlab.errors import UsageError
from ssdlab.measures import figures_of
from ssdlab.report.axes import ends_of, label_of, round_ticks, scale
from ssdlab.report.drawing import Figure
from ssdlab.report.ink import of_run
from ssdlab.report.look import Look
from ssdlab.report.paper import Picture, in_a_row, line_height
from ssdlab.report.words import described, key_label
from ssdlab.spelling import nearest
from ssdlab.sweeping.points import SEED, SweepPoint
from ssdlab.uncertainty import Estimate, estimates

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["figure"]

SIZE = (5.4, 3.2)
"""Width and height of the figure, inches."""


@dataclass(frozen=True)
class _Line:
    """The values of one combination, by value on the x axis."""

    label: str
    estimates: Mapping[Any, Estimate]


class _SweepPicture(Picture):
    """The figure of a sweep, whose axes differ from those of a run's figures."""

    def __init__(self, y: str, x: str, values: Sequence[Any], lines: Sequence[_Line], look: Look) -> None:
        seeds = any(estimate.half is not None for line in lines for estimate in line.estimates.values())
        disagree = any(estimate.disagree for line in lines for estimate in line.estimates.values())
        about = "Means over seeds, with their 95 % confidence intervals." if seeds else "A point for each run."
        about += " Where seeds disagree, the median and the range of all." if disagree else ""
        labels = {index: line.label or y for index, line in enumerate(lines)}
        self._x, self._y, self._values, self._lines = x, described(y), values, lines
        super().__init__(Figure("sweep", f"{label_of('', self._y, '')} over {x}", about, ()), labels, look)

    def _draw(self) -> Sheet:
        look = self._look
        width = look.width or SIZE[0]
        columns = in_a_row([line.label for line in self._lines], width, look.font) if len(self._lines) > 1 else 0
        legend = -(-len(self._lines) // columns) * line_height(look.font) if columns else 0.0
        sheet = Sheet(figsize=(width, look.height or min(SIZE[1], width * 0.6) + legend), layout="constrained")
        FigureCanvasAgg(sheet)
        panel = sheet.subplots()
        panel.tick_params(labelsize=look.font, length=2.5, pad=2)
        numbers = _are_numbers(self._values)
        for index, line in enumerate(self._lines):
            values = [value for value in (sorted(self._values) if numbers else self._values) if value in line.estimates]
            panel.errorbar(
                [value if numbers else self._values.index(value) for value in values],
                [_centre(line.estimates[value]) for value in values],
                yerr=list(zip(*(_reach(line.estimates[value]) for value in values), strict=True)) or None,
                label=line.label,
                **{**of_run(index), **({} if numbers else {"linestyle": "none"})},
                markersize=4,
                elinewidth=1.0,
                capsize=2,
            )
        self._across(panel, width, numbers=numbers)
        if min(estimate.mean for line in self._lines for estimate in line.estimates.values()) >= 0:
            panel.set_ylim(bottom=0)
        unit = scale(panel.yaxis, self._y, panel.set_yscale, ends_of(panel.yaxis), 6)
        panel.set_ylabel(label_of("", self._y, unit))
        if look.title:
            panel.set_title(self.title, fontsize=look.font + 1, fontweight="bold")
        if columns:
            sheet.legend(loc="outside upper center", ncols=columns, fontsize=look.font, columnspacing=1.2, handlelength=2.6)
        return sheet

    def _across(self, panel: Axes, width: float, *, numbers: bool) -> None:
        most = max(int((width - 0.8) * 72 / (self._look.font * 4.6)), 2)
        if not numbers:
            names = [str(value) for value in self._values]
            long = sum(map(len, names)) > most * 7
            panel.set_xticks(range(len(names)), names, rotation=30 if long else 0, ha="right" if long else "center")
            panel.set_xlim(-0.5, len(names) - 0.5)
        elif geometric(self._values):
            panel.set_xscale("log", base=2)
            every = -(-len(self._values) // most)
            panel.set_xticks(self._values[::every], [f"{value:g}" for value in self._values[::every]])
            panel.xaxis.set_minor_locator(NullLocator())
        else:
            round_ticks(panel.xaxis, most)
        panel.set_xlabel(key_label(self._x))


def _centre(estimate: Estimate) -> float:
    """The position of a point: the mean, or the median if seeds disagree."""
    return estimate.median if estimate.disagree else estimate.mean


def _reach(estimate: Estimate) -> tuple[float, float]:
    """The length of a point's bar down and up: its interval, or the range of all values if seeds disagree."""
    if not estimate.disagree:
        return estimate.half or 0.0, estimate.half or 0.0
    return estimate.median - min(estimate.values), max(estimate.values) - estimate.median


def figure(
    axes: dict[str, list[Any]],
    sweep: Sequence[SweepPoint],
    y: str,
    x: str | None,
    by: str | None,
    where: Mapping[str, Any],
    look: Look,
) -> Picture:
    """Draws the figure of `SweepResult.plot` from the values of each axis and all points."""
    text("y", y)
    check_texts({"x": x, "by": by})
    mapping("where", where)
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
        _Line(", ".join(_said(axis, value) for axis, value in zip(named, key, strict=True)), {v: _estimate(n) for v, n in of.items()})
        for key, of in lines.items()
    ]
    return _SweepPicture(y, x, [_hashable(value) for value in axes[x]], drawn, look)


def _estimate(numbers: Sequence[float]) -> Estimate:
    return estimates([{"": number} for number in numbers])[""]


def _number(point: SweepPoint, name: str) -> float | None:
    value = figures_of(point.result).get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _names(points: Sequence[SweepPoint]) -> dict[str, None]:
    return {name: None for point in points for name in figures_of(point.result)}


def _hashable(value: Any) -> Any:
    return str(value) if isinstance(value, list) else value


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _said(axis: str, value: Any) -> str:
    """A value as text; a number gets the name of the axis."""
    return value if isinstance(value, str) else f"{axis} = {value}"
