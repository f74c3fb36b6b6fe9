"""Figures on paper: drawn by matplotlib, for notebooks and as PNG, SVG and PDF."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure as Sheet
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from ssdlab._core import write_file
from ssdlab.checks import path as checked_path
from ssdlab.colours import COLOURS
from ssdlab.errors import UsageError
from ssdlab.report.drawing import (
    OTHER_PART,
    PART_COLOURS,
    SHADES,
    STATE_COLOURS,
    Axis,
    Bars,
    Curve,
    Figure,
    Heat,
    Mark,
    Panel,
    Plot,
    Ranges,
    Rule,
    Stack,
    Steps,
)
from ssdlab.study.figures import STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis as MplAxis
    from matplotlib.figure import SubFigure

__all__ = ["Picture"]

COLUMN = 3.6
"""Width of a plot, inches."""
PANEL = 1.15
"""Height of a panel of height 1, inches."""
ROW = 0.2
"""Height of a bar, inches."""
BINS = 160
"""So many steps across a plot can be told apart."""
FORMATS = (".png", ".svg", ".pdf")
DPI = 300
STEPS = [1, 2, 5, 10]
"""Between ticks."""
FEW_DECADES = 60.0
"""Up to this factor from one end to the other, a logarithmic axis has ticks within decades."""
DASHES: Sequence[Any] = ("-", (0, (5, 2.5)), (0, (2.5, 5)), (0, (6, 2, 2, 2)))
DURATIONS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))


class Picture:
    """A figure of results. Notebooks show it; `save` writes it; `sheet` is matplotlib's own figure, for changes by hand."""

    def __init__(self, figure: Figure, labels: Sequence[str]) -> None:
        self._figure = figure
        self._labels = labels

    @property
    def title(self) -> str:
        """What it shows."""
        return self._figure.title

    @property
    def about(self) -> str:
        """How to read it."""
        return self._figure.text

    @cached_property
    def sheet(self) -> Sheet:
        """Matplotlib's figure."""
        with mpl.rc_context(STYLE):
            return _sheet(self._figure, self._labels)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it as `.png`, `.svg` or `.pdf`, whole or not at all.

        Raises:
            UsageError: the name ends otherwise.
            FileError: it cannot be written.
        """
        target = Path(checked_path("path", path))
        if target.suffix not in FORMATS:
            raise UsageError(f"{target}: a figure is written as .png, .svg or .pdf")
        write_file(target, self._rendered(target.suffix[1:]))

    def _rendered(self, format: str, dpi: int = DPI) -> bytes:
        """The same results give the same bytes: dates are left out."""
        metadata: dict[str, Any] = {"svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None}, "png": {}}[format]
        content = io.BytesIO()
        with mpl.rc_context(STYLE):
            self.sheet.savefig(content, format=format, dpi=dpi, metadata=metadata)
        return content.getvalue()

    def _repr_svg_(self) -> str:
        return self._rendered("svg").decode()

    def _repr_png_(self) -> bytes:
        return self._rendered("png", 144)

    def __repr__(self) -> str:
        return f"<Picture: {self.title}, of {', '.join(self._labels)}>"


def _sheet(figure: Figure, labels: Sequence[str]) -> Sheet:
    """Plots in two columns, below them one legend for all."""
    columns = min(len(figure.plots), 2)
    rows = [figure.plots[at : at + columns] for at in range(0, len(figure.plots), columns)]
    heights = [max(map(_height, row)) for row in rows]
    width = COLUMN * (columns if columns > 1 else 1.5)
    legend = _legend(figure, labels)
    per_line = max(1, int(width / 1.5))
    lines = math.ceil(len(legend) / per_line)
    sheet = Sheet(figsize=(width, sum(heights) + 0.2 * lines), layout="constrained")
    FigureCanvasAgg(sheet)
    grid = sheet.subfigures(len(rows), columns, height_ratios=heights, squeeze=False)
    for row, places in zip(rows, grid, strict=True):
        for plot, place in zip(row, places, strict=False):
            _draw(place, plot)
    _align(figure, sheet)
    if legend:
        sheet.legend(handles=legend, loc="outside lower center", ncols=min(per_line, len(legend)), fontsize=8)
    return sheet


def _align(figure: Figure, sheet: Sheet) -> None:
    """Gives axes that are to reach equally far up the same end."""
    panels = [panel for plot in figure.plots if isinstance(plot, Plot) for panel in plot.panels]
    groups: dict[str, list[Axes]] = {}
    drawn = [axes for part in sheet.subfigs for axes in part.axes]
    for panel, axes in zip(panels, drawn, strict=False):
        if panel.y.same is not None:
            groups.setdefault(panel.y.same, []).append(axes)
    for group in groups.values():
        top = max(axes.get_ylim()[1] for axes in group)
        for axes in group:
            axes.set_ylim(top=top)


def _height(plot: Plot | Bars | Ranges) -> float:
    if isinstance(plot, Plot):
        return sum(panel.height * PANEL + 0.2 for panel in plot.panels) + 0.6
    if isinstance(plot, Ranges):
        return len(plot.ranges) * ROW + 0.9
    return sum(len(bars) * ROW + 0.15 for _, bars in plot.groups) + 0.9


def _legend(figure: Figure, labels: Sequence[str]) -> list[Any]:
    """The runs, where lines are theirs, and the parts."""
    panels = [panel for plot in figure.plots if isinstance(plot, Plot) for panel in plot.panels]
    marks = [[mark for mark in panel.marks if mark.run >= 0] for panel in panels]
    overlaid = any(len({mark.run for mark in panel}) > 1 for panel in marks)
    styles = {mark.run: _dash(mark.run, mark.run if isinstance(mark, Curve) else 0) for panel in marks for mark in panel}
    lines = (
        [Line2D([], [], color=_colour(run), linestyle=style, label=labels[run]) for run, style in sorted(styles.items())]
        if overlaid
        else []
    )
    return [*lines, *(Patch(color=colour, label=name) for name, colour in figure.legend)]


def _draw(place: SubFigure, plot: Plot | Bars | Ranges) -> None:
    if isinstance(plot, Plot):
        _plot(place, plot)
        return
    panel = place.subplots()
    panel.grid(visible=False, axis="y")
    panel.grid(visible=True, axis="x")
    panel.set_title(plot.title, fontsize=9, loc="left")
    if isinstance(plot, Ranges):
        _ranges(panel, plot)
    else:
        _bars(panel, plot)


def _plot(place: SubFigure, plot: Plot) -> None:
    panels = place.subplots(len(plot.panels), 1, squeeze=False, sharex=True, height_ratios=[panel.height for panel in plot.panels])[:, 0]
    place.suptitle(plot.title, fontsize=9, fontweight="bold")
    for axes, panel in zip(panels, plot.panels, strict=True):
        _panel(axes, panel, plot.x)
    # A scale that is shared is set once, for all.
    _scale(panels[-1].xaxis, plot.x, panels[-1].set_xscale, panels[-1].get_xlim()[1])
    panels[-1].set_xlim(left=0 if not plot.x.log else None)
    ends = [mark.width * _bins(mark) for panel in plot.panels for mark in panel.marks if isinstance(mark, Steps | Stack | Heat)]
    if ends and not plot.x.log:
        panels[-1].set_xlim(0, max(ends))


def _bins(mark: Steps | Stack | Heat) -> int:
    match mark:
        case Steps():
            return len(mark.values)
        case Stack():
            return len(mark.layers[0][2])
        case Heat():
            return len(mark.rows[0])


def _panel(axes: Axes, panel: Panel, x: Axis) -> None:
    axes.set_title(panel.title, fontsize=8, loc="left")
    if panel.y.log:
        axes.set_yscale("log")
    for mark in panel.marks:
        _mark(axes, mark)
    if any(isinstance(mark, Heat) for mark in panel.marks):
        axes.tick_params(labelsize=8)
        axes.set_ylabel("Chip", fontsize=8)
        axes.grid(visible=False)
        return
    if panel.y.low is not None or panel.y.high is not None:
        _reach(axes, panel.y)
    axes.grid(visible=True, axis="x" if x.log else "y", alpha=0.3)
    axes.grid(visible=True, axis="y", alpha=0.3)
    _scale(axes.yaxis, panel.y, axes.set_yscale, axes.get_ylim()[1])


def _reach(axes: Axes, y: Axis) -> None:
    """The least that an axis shows; what is drawn may go beyond."""
    low, high = axes.get_ylim()
    if y.low is not None:
        low = min(low, y.low) if y.log else y.low
    if y.high is not None:
        high = y.high * (1.2 if y.log else 1.02)
    axes.set_ylim(low, high)


def _mark(axes: Axes, mark: Mark) -> None:
    match mark:
        case Steps():
            shown = mark.joined(BINS)
            values = np.array([math.nan if value is None else value for value in shown.values], dtype=float)
            edges = np.arange(len(values) + 1) * shown.width
            axes.stairs(values, edges, baseline=None, color=_colour(mark.run), linestyle=_dash(mark.run), linewidth=0.8)
        case Curve():
            axes.step(mark.x, mark.y, where="post", color=_colour(mark.run), linestyle=_dash(mark.run, mark.run), linewidth=1.1)
        case Rule():
            colour = "black" if mark.run < 0 else _colour(mark.run)
            axes.axhline(mark.value, color=colour, linestyle=(0, (4, 3)), linewidth=0.7, zorder=0.9)  # below what is drawn
            place, side = (1, "right") if mark.name == "T_soft" else (0, "left")  # they may lie close to each other
            axes.annotate(mark.name, (place, mark.value), xycoords=("axes fraction", "data"), ha=side, va="bottom", fontsize=7)
        case Stack():
            below = np.zeros(len(mark.layers[0][2]))
            edges = np.arange(len(below) + 1) * mark.width
            for key, _name, shares in mark.layers:
                top = below + np.asarray(shares)
                axes.stairs(top, edges, baseline=below, fill=True, color=STATE_COLOURS[key], linewidth=0)
                below = top
        case Heat():
            _heat(axes, mark)


def _heat(axes: Axes, heat: Heat) -> None:
    shares = np.ma.masked_equal(np.asarray(heat.rows, dtype=float), 0.0)
    colours = LinearSegmentedColormap.from_list("chips", list(SHADES["light"][1:]))
    rows, bins = shares.shape
    extent = (0.0, bins * heat.width, rows * heat.per_row - 0.5, -0.5)
    image = axes.imshow(shares, cmap=colours, vmin=0, vmax=heat.most, extent=extent, aspect="auto", interpolation="nearest")
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True, steps=STEPS))
    # Above the panel: beside it, it would make this panel narrower than the one below.
    bar = axes.figure.colorbar(image, cax=axes.inset_axes((0.74, 1.05, 0.26, 0.06)), orientation="horizontal", ticks=[0, heat.most])
    bar.ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _percent(value)))
    bar.ax.tick_params(labelsize=7, top=True, labeltop=True, bottom=False, labelbottom=False, pad=0, length=2)


def _bars(panel: Axes, plot: Bars) -> None:
    names, places, top = [], [], 0.0
    longest = max(sum(bar.values) for _, bars in plot.groups for bar in bars)
    for group, bars in plot.groups:
        if group:
            named: dict[str, Any] = {"xytext": (-4, 0), "textcoords": "offset points", "ha": "right", "va": "center"}
            panel.annotate(group, (0, top), xycoords=("axes fraction", "data"), fontsize=8, fontweight="bold", **named)
        top += 1.0
        for bar in bars:
            left = 0.0
            for (key, _name), value in zip(plot.parts, bar.values, strict=True):
                colour = _colour(bar.run) if key == "run" else PART_COLOURS.get(key, OTHER_PART)
                panel.barh(top, value, left=left, height=0.75, color=colour)
                left += value
            panel.annotate(
                _text(plot.axis.unit, float(f"{left:.3g}")), (left, top), xytext=(3, 0), textcoords="offset points", va="center", fontsize=7
            )
            names.append(bar.name)
            places.append(top)
            top += 1.0
        top += 0.3
    panel.set_yticks(places, names, fontsize=8)
    panel.set_ylim(top - 0.5, -0.8)
    panel.set_xlim(0, longest * 1.12 or 1.0)
    _scale(panel.xaxis, plot.axis, panel.set_xscale, longest)


def _ranges(panel: Axes, plot: Ranges) -> None:
    for place, entry in enumerate(plot.ranges):
        colour = _colour(entry.run)
        low = max(entry.mean - entry.std, 0.0)
        panel.barh(place, entry.mean + entry.std - low, left=low, height=0.4, color=colour, alpha=0.35)
        panel.plot([entry.mean, entry.most], [place, place], color=colour, linewidth=0.9)
        panel.plot([entry.mean], [place], "o", color=colour, markersize=4)
        panel.plot([entry.most], [place], "|", color=colour, markersize=9, markeredgewidth=2)
    panel.set_yticks(range(len(plot.ranges)), [entry.name for entry in plot.ranges], fontsize=8)
    panel.set_ylim(len(plot.ranges) - 0.5, -0.5)
    panel.set_xlim(left=0)
    panel.set_xlabel(plot.axis.label.capitalize())


def _scale(axis: MplAxis, description: Axis, set_scale: Callable[[str], object], high: float) -> None:
    """Scale, ticks and name of an axis. Durations have one unit on a linear axis, each its own on a logarithmic one."""
    label = description.label[:1].upper() + description.label[1:]
    if description.log:
        set_scale("log")
        low, high = axis.get_view_interval()
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low < FEW_DECADES else (1.0,), numticks=7))
        axis.set_minor_formatter(NullFormatter())
        axis.set_major_formatter(FuncFormatter(lambda value, _: _text(description.unit, value)))
    elif description.unit == "ns":
        size, unit = next((entry for entry in DURATIONS if high >= entry[0]), DURATIONS[-1])
        label = f"{label} ({unit})"
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / size:g}"))
        axis.set_major_locator(MaxNLocator(6, steps=STEPS))
    else:
        axis.set_major_locator(MaxNLocator(5, steps=STEPS))
        axis.set_major_formatter(FuncFormatter(lambda value, _: _text(description.unit, value)))
    axis.set_tick_params(labelsize=8)
    if axis is axis.axes.xaxis:
        axis.set_label_text(label, fontsize=8)


def _text(unit: str, value: float) -> str:
    if unit == "share":
        return _percent(value)
    if unit == "ns":
        size, name = next((entry for entry in DURATIONS if value >= entry[0] * 0.999), DURATIONS[-1])
        return f"{value / size:g} {name}"
    return f"{value:,g}" if abs(value) < 1e5 else f"{value / 1e3:,g} k"


def _percent(value: float) -> str:
    return f"{value * 100:.4g} %"


def _colour(run: int) -> str:
    return COLOURS[run % len(COLOURS)]


def _dash(run: int, further: int = 0) -> Any:
    """Where colours begin again, lines are broken; curves, which often lie on each other, differ in any case."""
    return DASHES[(run // len(COLOURS) + further) % len(DASHES)]
