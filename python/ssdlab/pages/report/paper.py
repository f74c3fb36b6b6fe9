"""Figures for print, drawn by matplotlib, for notebooks and as PNG, SVG and PDF."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Sheet
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.textpath import TextPath

from ssdlab._core import write_file
from ssdlab.checks import path as checked_path
from ssdlab.checks import shown
from ssdlab.errors import UsageError
from ssdlab.pages.drawings import STYLE
from ssdlab.pages.report import ink
from ssdlab.pages.report.axes import ends_of, label_of, number, round_ticks, scale, widened, wrapped
from ssdlab.pages.report.drawing import PART_COLOURS, STATE_COLOURS, Axis, Bars, Figure, Heat, Mark, Panel, Plot, Ranges, Stack, Steps
from ssdlab.pages.report.figures import nice
from ssdlab.pages.report.look import Look, panels_of
from ssdlab.pages.tables import duration

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.gridspec import SubplotSpec

__all__ = ["FORMATS", "Picture", "in_a_row", "line_height", "text_width"]

COLUMN = 3.6
"""Default width of a plot, inches."""
NARROWEST = 2.6
"""Minimum width of plots beside each other, inches."""
PAGE = 9.0
"""Maximum height of a figure, inches, unless its parts would become too flat to read."""
FLATTEST = 0.3
"""Minimum height of a panel, relative to its default height."""
PANEL = 1.15
"""Default height of a panel of height 1, inches."""
LINES = 1.55
"""Height of a line of text, relative to the font size."""
FORMATS = (".png", ".svg", ".pdf")
DPI = 300
TICK = 4.6
"""Room for a tick on the x axis, in font sizes; on the y axis it is `TICK_UP`."""
TICK_UP = 2.0
BINS_PER_INCH = 40
"""Maximum number of distinguishable bins per inch."""
FEWEST_BINS = 20
ROOM = 1.0
"""Room for labels and ticks in the width of a plot, inches."""


class Picture:
    """A figure of results. Notebooks show it; `save` writes it; `sheet` is matplotlib's figure, for manual changes."""

    def __init__(self, figure: Figure, labels: Mapping[int, str], look: Look | None = None, ax: Axes | None = None) -> None:
        self._figure = figure
        self._labels = labels
        self._look = look or Look()
        if ax is not None:
            self.sheet = self._on(ax)

    @property
    def title(self) -> str:
        """Title of the figure."""
        return self._figure.title

    @property
    def about(self) -> str:
        """A sentence on how to read the figure."""
        return self._figure.text

    @cached_property
    def sheet(self) -> Sheet:
        """The figure as matplotlib's `Figure`."""
        with mpl.rc_context({**STYLE, "font.size": self._look.font, "hatch.linewidth": 0.5}):
            return self._draw()

    def _on(self, axes: Axes) -> Sheet:
        """Draws the figure's only part on axes of the user's own; returns the figure that these are in."""
        if not hasattr(axes, "get_position") or not hasattr(axes, "plot"):
            raise UsageError(f"ax = {shown(axes)}: expected matplotlib axes, such as those of plt.subplots()")
        parts = panels_of(self._figure)
        if len(parts) > 1:
            numbered = ", ".join(f"{number} {part}" for number, part in enumerate(parts, 1))
            raise UsageError(f"ax: {self._figure.key} has {len(parts)} parts ({numbered}): choose one, such as panels=[1]")
        sheet = axes.figure.figure  # not a subfigure
        box = axes.get_position()
        width = box.width * sheet.get_figwidth() + ROOM
        with mpl.rc_context({**STYLE, "font.size": self._look.font, "hatch.linewidth": 0.5}):
            _Sheet(self._figure, self._labels, replace(self._look, width=width)).draw_on(axes, box.height * sheet.get_figheight())
        return sheet

    def _draw(self) -> Sheet:
        return _Sheet(self._figure, self._labels, self._look).drawn()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the figure as `.png`, `.svg` or `.pdf`, completely or not at all. Fonts are TrueType in PDF, and text stays text in SVG.

        Raises:
            UsageError: the name has another ending.
            FileError: the file cannot be written.
        """
        target = Path(checked_path("path", path))
        if target.suffix not in FORMATS:
            raise UsageError(f"{target}: expected a name that ends with .png, .svg or .pdf")
        write_file(target, self._rendered(target.suffix[1:]))

    def _rendered(self, format: str, dpi: int = DPI) -> bytes:
        """Renders the figure. Equal results give equal bytes, since dates are left out."""
        metadata: dict[str, Any] = {"svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None}, "png": {}}[format]
        content = io.BytesIO()
        with mpl.rc_context({**STYLE, "hatch.linewidth": 0.5}):
            self.sheet.savefig(content, format=format, dpi=dpi, metadata=metadata)
        return content.getvalue()

    def _repr_svg_(self) -> str:
        return self._rendered("svg").decode()

    def _repr_png_(self) -> bytes:
        return self._rendered("png", 144)

    def __repr__(self) -> str:
        return f"<Picture: {self.title}, of {', '.join(self._labels.values())}>"


@dataclass(frozen=True)
class _Drawn:
    """A panel on its axes, and the index of its plot."""

    axes: Axes
    panel: Panel
    plot: int


def line_height(font: float) -> float:
    """Distance between lines of text, inches."""
    return font * LINES / 72


def text_width(text: str, font: float) -> float:
    """Width of a line of text, inches."""
    return float(TextPath((0, 0), text, size=font).get_extents().width) / 72


def in_a_row(names: Sequence[str], width: float, font: float) -> int:
    """Number of legend entries that fit side by side. Legends are filled column by column."""
    widths = [text_width(name, font) + font * 3.6 / 72 for name in names]
    gap = 1.2 * font / 72
    for columns in range(len(names), 1, -1):
        rows = -(-len(names) // columns)
        taken = [max(widths[at : at + rows]) + gap for at in range(0, len(names), rows)]
        if sum(taken) <= width - 0.15:
            return len(taken)
    return 1


class _Sheet:
    """Layout of a figure: plots side by side if there is room, a legend above, remarks below."""

    def __init__(self, figure: Figure, labels: Mapping[int, str], look: Look) -> None:
        self._labels, self._look = labels, look
        count = len(figure.plots)
        wanted = look.width
        self._columns = min(count, 2) if wanted is None else 2 if count > 1 and wanted / 2 >= NARROWEST else 1
        self._width = (COLUMN * (self._columns if self._columns > 1 else 1.5)) if wanted is None else wanted
        self._across = max(self._width / self._columns - ROOM, 0.5)
        self._figure = figure = _visible(figure, max(int(self._across * BINS_PER_INCH), FEWEST_BINS))
        self._rows = [figure.plots[at : at + self._columns] for at in range(0, count, self._columns)]
        self._drawn: list[_Drawn] = []
        self._unnamed: dict[str, None] = {}
        """Meanings of colours without room beside their scale."""

    def drawn(self) -> Sheet:
        """Draws the figure; returns it as matplotlib's `Figure`."""
        look, figure = self._look, self._figure
        legend = list(self._legend())
        columns = in_a_row([entry.get_label() for entry in legend], self._width, look.font)
        notes = self._notes()
        lines = -(-len(legend) // columns) + notes.count("\n") + bool(notes) + 1.3 * bool(look.title)
        heights = [max(self._height(plot) for plot in row) for row in self._rows]
        texts = lines * line_height(look.font)
        heads = sum(max(self._head(plot) for plot in row) for row in self._rows)
        least = min(sum(heights), heads + FLATTEST * (sum(heights) - heads))
        height = look.height or texts + min(sum(heights), max(PAGE - texts, least))
        panels = sum(heights) - heads
        stretch = max((height - texts - heads) / panels, 0.05) if panels else 1.0
        sheet = Sheet(figsize=(self._width, height), layout=ConstrainedLayoutEngine(w_pad=0.03, h_pad=0.035, hspace=0.02, wspace=0.03))
        FigureCanvasAgg(sheet)
        if look.title:
            sheet.suptitle(figure.title, fontsize=look.font + 1, fontweight="bold")
        self._fill(sheet, heights, stretch)
        notes = "\n".join(filter(None, [notes, *map(self._note, self._unnamed)]))
        if notes:
            sheet.supxlabel(notes, fontsize=look.small, x=0.01, ha="left")
        if legend:
            look_of_legend: dict[str, Any] = {"fontsize": look.font, "columnspacing": 1.2, "handlelength": 2.6, "borderaxespad": 0.2}
            sheet.legend(handles=legend, loc="outside upper center", ncols=columns, **look_of_legend)
        return sheet

    def draw_on(self, axes: Axes, height: float) -> None:
        """Draws the only part on axes of this height, inches, with its legend inside and its remarks left out."""
        (plot,) = self._figure.plots
        if isinstance(plot, Plot):
            (panel,) = plot.panels
            self._panel(axes, plot, 0, panel)
            self._name(self._drawn[0], height / (panel.height * PANEL))
        else:
            self._rest(axes, plot)
        legend = list(self._legend())
        if self._look.title:
            axes.set_title(self._figure.title, fontsize=self._look.font + 1, fontweight="bold")
        if legend:
            axes.legend(handles=legend, fontsize=self._look.small)

    # ---- sizes and texts ----

    def _head(self, plot: Plot | Bars | Ranges) -> float:
        """Fixed part of a plot's height, inches: texts, and bars with their names."""
        if not isinstance(plot, Plot):
            return self._height(plot)
        return line_height(self._look.font) * (3.2 if plot.title else 2.2)

    def _height(self, plot: Plot | Bars | Ranges) -> float:
        """Height of a plot with its texts, inches."""
        line = line_height(self._look.font)
        if isinstance(plot, Plot):
            return sum(panel.height * PANEL for panel in plot.panels) + self._head(plot)
        row = line * 1.12
        if isinstance(plot, Ranges):
            return len(plot.ranges) * row + 3.2 * line
        named = len(plot.groups) > 1
        return sum((len(bars) + named) * row + 0.3 * row for _, bars in plot.groups) + 3.2 * line

    def _legend(self) -> Iterator[Any]:
        """Legend entries: the runs if a panel shows several of them, then the entries of the figure's own legend."""
        panels = [panel for plot in self._figure.plots if isinstance(plot, Plot) for panel in plot.panels]
        of = [{mark.run for mark in panel.marks if mark.run >= 0} for panel in panels]
        if any(len(runs) > 1 for runs in of):
            yield from (ink.key_of_run(run, self._labels[run]) for run in self._labels if any(run in runs for runs in of))
        keys = {shade: key for key, shade in (STATE_COLOURS if panels else PART_COLOURS).items()}
        yield from (ink.key_of_part(keys.get(shade, ""), name, shade) for name, shade in self._figure.legend)

    def _notes(self) -> str:
        """Remarks on values that axes cannot show."""
        told = [(plot.title, plot.note) for plot in self._figure.plots if isinstance(plot, Plot) and plot.note]
        lines = [*(f"{title} that {note}" if title else note for title, note in told), *filter(None, [self._figure.note])]
        return "\n".join(wrapped(line, self._width - 0.1, self._look.small) for line in lines)

    def _note(self, text: str) -> str:
        return wrapped(text, self._width - 0.1, self._look.small)

    # ---- drawing ----

    def _fill(self, sheet: Sheet, heights: Sequence[float], stretch: float) -> None:
        """Places all panels of a column on one grid if possible, so that their edges are aligned."""
        outer = sheet.add_gridspec(len(self._rows), self._columns, height_ratios=heights)
        shapes = [[[panel.height for panel in plot.panels] if isinstance(plot, Plot) else [] for plot in row] for row in self._rows]
        if all(all(shape == row[0] != [] for shape in row) for row in shapes):
            flat = sheet.add_gridspec(
                sum(len(row[0]) for row in shapes), self._columns, height_ratios=[h for row in shapes for h in row[0]]
            )
            starts = [sum(len(row[0]) for row in shapes[:at]) for at in range(len(shapes))]
            places = [
                [[flat[start + at, column] for at in range(len(shape))] for column, shape in enumerate(row)]
                for start, row in zip(starts, shapes, strict=True)
            ]
        else:
            places = [[self._within(outer[at, column], plot) for column, plot in enumerate(row)] for at, row in enumerate(self._rows)]
        number_of = 0
        for row, there in zip(self._rows, places, strict=True):
            for plot, cells in zip(row, there, strict=True):
                if isinstance(plot, Plot):
                    self._plot(sheet, plot, number_of, cells)
                else:
                    self._rest(sheet.add_subplot(cells[0]), plot)
                number_of += 1
        self._align()
        for drawn in self._drawn:
            self._name(drawn, stretch)

    @staticmethod
    def _within(cell: SubplotSpec, plot: Plot | Bars | Ranges) -> list[SubplotSpec]:
        if not isinstance(plot, Plot):
            return [cell]
        grid = cell.subgridspec(len(plot.panels), 1, height_ratios=[panel.height for panel in plot.panels])
        return [grid[at] for at in range(len(plot.panels))]

    def _plot(self, sheet: Sheet, plot: Plot, index: int, cells: Sequence[SubplotSpec]) -> None:
        first: Axes | None = None
        for cell, panel in zip(cells, plot.panels, strict=True):
            axes = sheet.add_subplot(cell, sharex=first)
            if first is None and self._headed(plot.title):
                axes.set_title(plot.title, fontsize=self._look.font, fontweight="bold", pad=3)
            first = first or axes
            self._panel(axes, plot, index, panel)
            if panel is not plot.panels[-1]:
                axes.tick_params(labelbottom=False)

    def _panel(self, axes: Axes, plot: Plot, index: int, panel: Panel) -> None:
        self._drawn.append(_Drawn(axes, panel, index))
        if panel.y.log:
            axes.set_yscale("log")
        if plot.x.log:
            axes.set_xscale("log")
        runs = {mark.run for mark in panel.marks}
        for mark in panel.marks:
            ink.draw(axes, mark, self._look, several=len(runs - {-1}) > 1)
        axes.tick_params(labelsize=self._look.font, length=2.5, pad=2)
        self._reach(axes, panel, plot.x)

    def _headed(self, title: str) -> bool:
        return bool(title) and (self._look.title is not False or len(self._figure.plots) > 1)

    def _reach(self, axes: Axes, panel: Panel, x: Axis) -> None:
        """Sets the limits of axes: at least those of their description."""
        widths = [mark.width * _bins(mark) for mark in panel.marks if isinstance(mark, Steps | Stack | Heat)]
        if not x.log and (widths or x.low == 0):
            axes.set_xlim(0, max(widths, default=axes.get_xlim()[1]))
        if any(isinstance(mark, Heat) for mark in panel.marks):
            axes.grid(visible=False)
            return
        low, high = axes.get_ylim()
        if panel.y.low is not None:
            low = min(low, panel.y.low) if panel.y.log else panel.y.low
        if panel.y.high is not None:
            high = panel.y.high * (1.2 if panel.y.log else 1.02)
        axes.set_ylim(low, high if high > low else low + 1)
        axes.grid(visible=True, axis="both", which="major", alpha=0.3, linewidth=0.5)

    def _align(self) -> None:
        """Gives panels of different plots with the same quantity the same limits."""
        up: dict[Any, list[_Drawn]] = {}
        across: dict[Any, list[_Drawn]] = {}
        for drawn in self._drawn:
            y, x = drawn.panel.y, self._x(drawn)
            up.setdefault(("same", y.same) if y.same else (drawn.panel.title, y.label, y.unit, y.log), []).append(drawn)
            across.setdefault((x.label, x.unit, x.log), []).append(drawn)
        for key, group in up.items():
            if key[0] == "same" or len({drawn.plot for drawn in group}) == len(group):
                ends = [drawn.axes.get_ylim() for drawn in group]
                if not any(high < low for low, high in ends):  # with chips, the first one is at the top
                    self._set(group, "y", min(low for low, _ in ends), max(high for _, high in ends))
        for group in across.values():
            ends = [drawn.axes.get_xlim() for drawn in group]
            self._set(group, "x", min(low for low, _ in ends), max(high for _, high in ends))

    def _set(self, group: Sequence[_Drawn], which: str, low: float, high: float) -> None:
        for drawn in group:
            axis = self._x(drawn) if which == "x" else drawn.panel.y
            drawn.axes.set(**{f"{which}lim": widened(low, high) if axis.log else (low, high)})

    def _x(self, drawn: _Drawn) -> Axis:
        plot = self._figure.plots[drawn.plot]
        assert isinstance(plot, Plot)
        return plot.x

    def _name(self, drawn: _Drawn, stretch: float) -> None:
        """Sets ticks and labels, after the limits of all panels are known."""
        axes, panel, look = drawn.axes, drawn.panel, self._look
        height = panel.height * PANEL * stretch
        if any(isinstance(mark, Heat) for mark in panel.marks):
            axes.set_ylabel("Chip", fontsize=look.font)
            round_ticks(axes.yaxis, min(5, max(int(height * 72 / (look.font * TICK_UP)), 2)), integer=True)
            for key in axes.child_axes:
                if text_width(key.get_ylabel(), look.small) > height:
                    self._unnamed[f"Colours: {key.get_ylabel()[:1].lower()}{key.get_ylabel()[1:]}."] = None
                    key.set_ylabel("")
        else:
            unit = scale(axes.yaxis, panel.y, axes.set_yscale, ends_of(axes.yaxis), max(int(height * 72 / (look.font * TICK_UP)), 2))
            axes.set_ylabel(wrapped(label_of(panel.title, panel.y, unit), height, look.font), fontsize=look.font)
        x = self._x(drawn)
        unit = scale(axes.xaxis, x, axes.set_xscale, ends_of(axes.xaxis), max(int(self._across * 72 / (look.font * TICK)), 2))
        plot = self._figure.plots[drawn.plot]
        last_row = drawn.plot >= len(self._figure.plots) - self._columns
        alone = self._columns == 1 and not last_row and isinstance(self._figure.plots[drawn.plot + 1], Plot)
        if isinstance(plot, Plot) and panel is plot.panels[-1] and not alone:
            axes.set_xlabel(label_of("", x, unit), fontsize=look.font)

    def _rest(self, axes: Axes, plot: Bars | Ranges) -> None:
        """Draws horizontal bars, which leave room for names."""
        look = self._look
        axes.grid(visible=False, axis="y")
        axes.grid(visible=True, axis="x", alpha=0.3, linewidth=0.5)
        axes.tick_params(labelsize=look.font, length=2.5, pad=2)
        axes.tick_params(axis="y", length=0)
        if isinstance(plot, Ranges):
            high = ink.ranges(axes, plot)
        else:
            high = ink.bars(axes, plot, look, lambda value: _written(plot.axis, value))
            behind = (text_width(_written(plot.axis, high), look.small) + 0.08) / self._across
            axes.set_xlim(0, high / max(1 - behind, 0.4) or 1.0)
        ticks = max(int(self._across * 72 / (look.font * TICK)), 2)
        unit = scale(axes.xaxis, plot.axis, axes.set_xscale, (0.0, high or 1.0), ticks, integer=isinstance(plot, Ranges))
        axes.set_xlabel(label_of(plot.title, plot.axis, unit).replace(" (erases)", ""), fontsize=look.font)


def _visible(figure: Figure, bins: int) -> Figure:
    """A copy with at most `bins` bins per mark, and heat maps scaled to the remaining values."""
    joined = _each_mark(figure, lambda mark: mark.joined(bins) if isinstance(mark, Steps | Stack | Heat) else mark)
    panels = [panel for plot in joined.plots if isinstance(plot, Plot) for panel in plot.panels]
    heats = [mark for panel in panels for mark in panel.marks if isinstance(mark, Heat)]
    most = nice(max((share for heat in heats for row in heat.rows for share in row), default=0.0))
    return _each_mark(joined, lambda mark: replace(mark, most=most) if isinstance(mark, Heat) else mark)


def _each_mark(figure: Figure, change: Callable[[Mark], Mark]) -> Figure:
    def changed(plot: Plot) -> Plot:
        return replace(plot, panels=[replace(panel, marks=[change(mark) for mark in panel.marks]) for panel in plot.panels])

    return replace(figure, plots=[changed(plot) if isinstance(plot, Plot) else plot for plot in figure.plots])


def _bins(mark: Steps | Stack | Heat) -> int:
    match mark:
        case Steps():
            return len(mark.values)
        case Stack():
            return len(mark.layers[0][2])
        case Heat():
            return len(mark.rows[0])


def _written(axis: Axis, value: float) -> str:
    if axis.unit == "share":
        return f"{value * 100:.3g} %"
    return duration(value).replace(" us", " µs") if axis.unit == "ns" else number(float(f"{value:.3g}"))
