"""The figure of a study: panels of its metrics and, below them, quantities of single runs over time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.container import Container
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from ssdlab.experiments.study.definition import Axis, Figure
from ssdlab.experiments.study.expressions import Reference
from ssdlab.experiments.study.result import StudyResult
from ssdlab.experiments.study.timelines import Timelines
from ssdlab.pages.colours import COLOURS
from ssdlab.pages.drawings import STYLE, geometric, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

__all__ = ["draw"]

MARKERS = "os^Dvp*X"
MANY_BARS = 12
"""Number of groups of bars above which their names are vertical."""
PANEL = (3.5, 2.5)
"""Width and height of a panel, inches."""


def draw(result: StudyResult, folder: Path) -> None:
    """Draws the study's figure into `figure.svg` and `figure.png` of a folder, each completely or not at all."""
    figure = result.study.figure
    assert figure is not None
    with mpl.rc_context(STYLE):
        save(_drawing(result, figure), folder)


def _drawing(result: StudyResult, figure: Figure) -> Drawing:
    """Draws panels of metrics, and panels over time below them."""
    grids = [panels for panels in (_Panels(result, figure) if figure.panels else None, Timelines(result, PANEL)) if panels]
    heights = [grid.size[1] for grid in grids]
    drawing = Drawing(figsize=(max(grid.size[0] for grid in grids), sum(heights)), layout="constrained")
    FigureCanvasAgg(drawing)
    alone = len(grids) == 1
    parts = [drawing] if alone else list(drawing.subfigures(len(grids), 1, height_ratios=heights, squeeze=False).flat)
    for grid, part in zip(grids, parts, strict=True):
        grid.draw(part)
    return drawing


@dataclass(frozen=True)
class _Line:
    """A scheme's values in one panel."""

    name: str
    scheme: str
    where: tuple[tuple[str, ...], ...]
    """Labels of the points."""
    colour: str
    index: int
    other: int
    """Index among the values that share the panel."""


class _Panels:
    """Panels: a row for each metric, and a column for each value of all parameters but the last. A single column becomes a row."""

    def __init__(self, result: StudyResult, figure: Figure) -> None:
        self._result, self._figure = result, figure
        *self._outer, self._inner = result.study.axes or (Axis("", ()),)
        self._together = next((axis for axis in self._outer if axis.name == figure.together), Axis("", ()))
        choices = [("",) if axis is self._together else axis.labels for axis in self._outer]
        self._columns = list(itertools.product(*choices))

    @property
    def size(self) -> tuple[float, float]:
        """Width and height, inches."""
        rows, columns = len(self._figure.panels), len(self._columns)
        if columns > 1:
            return (PANEL[0] * columns, PANEL[1] * rows + 0.6)
        width = PANEL[0] * 1.25
        return (width * rows, PANEL[1] + (0.9 if rows > 1 else 0.6))

    def draw(self, part: FigureBase) -> None:
        """Draws the panels and the legend."""
        rows, columns = self._figure.panels, self._columns
        grid = (1, len(rows)) if len(columns) == 1 else (len(rows), len(columns))
        panels = list(part.subplots(*grid, squeeze=False, sharey="row" if len(columns) > 1 else False).flat)
        for panel, (metric, labels) in zip(panels, itertools.product(rows, columns), strict=True):
            self._panel(panel, metric, labels)
            if len(columns) > 1 and metric == rows[0]:
                panel.set_title(", ".join(axis.named(label) for axis, label in zip(self._outer, labels, strict=True) if label), fontsize=9)
            if len(columns) == 1 or labels == columns[0]:
                title, relative = self._result.study.metrics[metric].title, self._figure.relative_to
                panel.set_ylabel(title if relative is None else f"{title.partition(' (')[0]},\nrelative to {relative}")
            if self._inner.name and (len(columns) == 1 or metric == rows[-1]):
                panel.set_xlabel(self._inner.name)
        for panel in panels:  # last, since it fixes the scale that panels of a row share
            if panel.get_yscale() == "linear":
                panel.set_ylim(bottom=0)
        legend = _legend(panels)
        if len(legend) > 1:
            part.legend(list(legend.values()), list(legend), loc="outside upper center", ncols=_in_a_row(list(legend), self.size[0]))

    def _panel(self, panel: Axes, metric: str, outer: tuple[str, ...]) -> None:
        labels = self._inner.labels or ("",)
        numbers = _numbers(labels)
        lines = self._lines(outer)
        overlaid = list(self._overlaid(metric, lines))
        for line in lines:
            heights, halves = _heights(self._result, self._figure, metric, line.scheme, line.where)
            if numbers is not None:
                joined = not line.other and all(over is not line for over, _ in overlaid)
                _draw_points(panel, line, numbers, heights, halves, joined=joined)
            else:
                _draw_bars(panel, line, len(lines), heights, halves)
        for line, style in overlaid:
            heights, _ = _heights(self._result, self._figure, style.metric, line.scheme, line.where)
            _draw_overlay(panel, self._overlay_name(line, style), line.colour, numbers, heights)
        if self._figure.published:
            _draw_published(panel, numbers, len(lines), list(self._published(metric, lines)))
        if numbers is None:
            _name_bars(panel, labels)
        elif geometric(numbers):
            panel.set_xscale("log", base=2)
            panel.set_xticks(numbers, labels)
        else:
            panel.set_xticks(numbers, _apart(numbers, labels))
        if self._figure.log and _has_heights(self._result, self._figure, metric):
            panel.set_yscale("log")
            _mark_decades(panel)

    def _lines(self, outer: tuple[str, ...]) -> list[_Line]:
        """The lines of a panel: one for each scheme and each value that shares the panel."""
        lines: list[_Line] = []
        for (index, scheme), (other, value) in itertools.product(
            enumerate(self._result.study.schemes), enumerate(self._together.labels or ("",))
        ):
            labels = tuple(value if axis is self._together else label for axis, label in zip(self._outer, outer, strict=True))
            where = tuple((*labels, label) if self._inner.labels else labels for label in self._inner.labels or ("",))
            name = f"{scheme}, {value}" if value else scheme
            lines.append(_Line(name, scheme, where, COLOURS[index % len(COLOURS)], len(lines), other))
        return lines

    def _overlaid(self, metric: str, lines: Sequence[_Line]) -> Iterator[tuple[_Line, Reference]]:
        """The lines over which metrics are drawn in a panel, with references to these metrics."""
        for style in self._figure.overlay.get(metric, ()):
            for line in lines:
                scheme, *labels = style.where or (line.scheme,)
                wanted = set(self._result.study.labels(labels))
                if line.scheme == scheme and wanted.issuperset(line.where):
                    yield line, style

    def _published(self, metric: str, lines: Sequence[_Line]) -> Iterator[tuple[_Line, int, float]]:
        """The published numbers of a panel, each with its line and the index of its point."""
        study = self._result.study
        for row in study.rows:
            reference = row.reference
            if row.paper is None or reference is None or reference.metric != metric:
                continue
            places = study.places(reference)
            for line in lines:
                if len(places) == 1 and places[0][0] == line.scheme and places[0][1] in line.where:
                    yield line, line.where.index(places[0][1]), row.paper

    def _overlay_name(self, line: _Line, style: Reference) -> str:
        title = self._result.study.metrics[style.metric].title
        return title if style.where or len(self._result.study.schemes) == 1 else f"{line.scheme}, {title}"


def _legend(panels: Sequence[Axes]) -> dict[str, Artist]:
    """Legend entries of lines and bars, measured ones first."""
    entries = [entry for panel in panels for entry in zip(*panel.get_legend_handles_labels(), strict=True)]
    measured = [entry for entry in entries if isinstance(entry[0], Container)]
    return {name: handle for handle, name in [*measured, *entries]}


def _in_a_row(names: Sequence[str], width: float) -> int:
    """Number of legend entries that fit side by side into a width, inches."""
    widths = [0.55 + 0.07 * len(name) for name in names]
    return len(names) if sum(widths) <= width else max(1, int(width / max(widths)))


def _draw_points(
    panel: Axes, line: _Line, numbers: Sequence[float], heights: Sequence[float], halves: Sequence[float], *, joined: bool
) -> None:
    """Draws points with their intervals; points of further values that share the panel are hollow."""
    look: dict[str, Any] = {"marker": MARKERS[line.index % len(MARKERS)], "markersize": 4, "linewidth": 1.3}
    if not joined:
        look |= {"linestyle": "none"}
    if line.other:
        look |= {"markerfacecolor": "none", "markersize": 8}
    panel.errorbar(numbers, heights, yerr=halves, label=line.name, color=line.colour, capsize=2, **look)


def _draw_bars(panel: Axes, line: _Line, count: int, heights: Sequence[float], halves: Sequence[float]) -> None:
    places = [_place(line, count, place) for place in range(len(heights))]
    hatch = "///" if line.other else None
    panel.bar(
        places, heights, 0.8 / count, yerr=halves, label=line.name, color=line.colour, hatch=hatch, capsize=2, error_kw={"linewidth": 0.8}
    )


def _place(line: _Line, count: int, group: int) -> float:
    """The position of a line's bar in a group of `count` bars."""
    return group + (line.index - (count - 1) / 2) * 0.8 / count


def _draw_published(panel: Axes, numbers: Sequence[float] | None, count: int, published: Sequence[tuple[_Line, int, float]]) -> None:
    """Draws published numbers as crosses."""
    places = [_place(line, count, index) if numbers is None else numbers[index] for line, index, _ in published]
    if places:
        look: dict[str, Any] = {"linestyle": "none", "marker": "x", "markersize": 5, "color": "black", "zorder": 4}
        panel.plot(places, [number for *_, number in published], label="published", **look)


def _draw_overlay(panel: Axes, name: str, colour: str, numbers: Sequence[float] | None, heights: Sequence[float]) -> None:
    """Draws a metric as a dashed line: between points, or over each group of bars."""
    look: dict[str, Any] = {"label": name, "linestyle": "--", "linewidth": 1.3, "zorder": 3}
    if numbers is not None:
        panel.plot(numbers, heights, color=colour, **look)
    else:
        places = range(len(heights))
        panel.hlines(heights, [place - 0.45 for place in places], [place + 0.45 for place in places], color="black", **look)


def _mark_decades(panel: Axes) -> None:
    """Labels a logarithmic axis with plain numbers; within few decades also at 2 and 5."""
    low, high = panel.get_ylim()
    panel.yaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5) if high / low < 1000 else (1,)))
    panel.yaxis.set_minor_locator(NullLocator())
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _has_heights(result: StudyResult, figure: Figure, metric: str) -> bool:
    """Whether any value of a metric is above 0, which a logarithmic axis needs."""
    study = result.study
    combinations = [tuple(point.label for point in combination) for combination in study.combinations()]
    return any(height > 0 for scheme in study.schemes for height in _heights(result, figure, metric, scheme, combinations)[0])


def _heights(
    result: StudyResult, figure: Figure, metric: str, scheme: str, combinations: Sequence[tuple[str, ...]]
) -> tuple[list[float], list[float]]:
    """The scheme's values and the half widths of their intervals; nan for missing ones."""
    estimates = [result.estimate(metric, scheme, labels, figure.relative_to) for labels in combinations]
    heights = [float("nan") if estimate is None else estimate.mean for estimate in estimates]
    halves = [0.0 if estimate is None or estimate.half is None else estimate.half for estimate in estimates]
    return heights, halves


def _numbers(labels: Sequence[str]) -> list[float] | None:
    """The labels as numbers; `None` if they are not numbers or there is only one."""
    try:
        numbers = [float(label.removesuffix("%").removeprefix("x")) for label in labels]
    except ValueError:
        return None
    return numbers if len(numbers) > 1 and all(map(math.isfinite, numbers)) else None


def _apart(numbers: Sequence[float], labels: Sequence[str]) -> list[str]:
    """The labels, with those removed that would overlap the previous one."""
    least = 0.07 * (max(numbers) - min(numbers))
    shown: list[str] = []
    last = -math.inf
    for number, label in zip(numbers, labels, strict=True):
        near = 0 <= number - last < least
        shown.append("" if near else label)
        last = last if near else number
    return shown


def _name_bars(panel: Axes, labels: Sequence[str]) -> None:
    long = len(labels) > 1 and max(map(len, labels)) * len(labels) > 36
    many = len(labels) > MANY_BARS
    panel.set_xticks(range(len(labels)), labels, rotation=90 if many else 30 if long else 0, ha="right" if long and not many else "center")
