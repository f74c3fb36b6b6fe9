"""A figure of a sweep for print: one number over one axis, with lines for what is compared and panels for the rest, as on its page."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Sheet
from matplotlib.ticker import NullLocator

from ssdlab.analysis.remarks import named
from ssdlab.analysis.uncertainty import Estimate, estimates
from ssdlab.checks import check_texts, mapping, nearest, text
from ssdlab.errors import UsageError
from ssdlab.experiments.sweeping.axes import WIDE, Uses, is_wide, needs_log, numbers_of, uses
from ssdlab.experiments.sweeping.points import SweepPoint
from ssdlab.pages.report.axes import ends_of, label_of, round_ticks, scale, wrapped
from ssdlab.pages.report.drawing import Figure
from ssdlab.pages.report.figures import FIGURES
from ssdlab.pages.report.ink import colour, of_run
from ssdlab.pages.report.leader import SHORT
from ssdlab.pages.report.look import Look, chosen_panels
from ssdlab.pages.report.paper import Picture, in_a_row, line_height, text_width
from ssdlab.pages.report.plots import WORDS
from ssdlab.pages.report.runs import check_labels
from ssdlab.pages.report.words import described, key_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

__all__ = ["Wanted", "figure"]

SIZE = (5.4, 3.2)
"""Width and height of a figure of one panel, inches."""
NARROWEST = 2.4
"""Minimum width of panels beside each other, inches."""
MOST_PANELS = 24
EXAMPLE = "latency_ns.read.p99"


@dataclass(frozen=True)
class _Axis:
    """The axis across: its name, values, and their numbers, `None` for words."""

    name: str
    values: Sequence[Any]
    numbers: Sequence[float] | None

    @property
    def places(self) -> dict[Any, float]:
        """The place of each value: its number, or the words side by side."""
        return dict(zip(self.values, self.numbers or range(len(self.values)), strict=True))


@dataclass(frozen=True)
class _Panel:
    """A panel: its title, and for each line the estimates by value on the x axis."""

    title: str
    lines: Mapping[str, Mapping[Any, Estimate]]

    @property
    def all(self) -> Iterator[Estimate]:
        """All estimates."""
        return itertools.chain.from_iterable(line.values() for line in self.lines.values())


class _SweepPicture(Picture):
    """The figure of a sweep, whose axes differ from those of a run's figures."""

    def __init__(self, y: str, x: _Axis, panels: Sequence[_Panel], beside: int, look: Look, over: str) -> None:
        every = [estimate for panel in panels for estimate in panel.all]
        seeds = any(estimate.half is not None for estimate in every)
        about = f"Means over {over}, with their 95 % confidence intervals." if seeds else "A point for each run."
        about += f" Where {over} disagree, the median, with a dot for each." if any(one.disagree for one in every) else ""
        self._lines = list(dict.fromkeys(label for panel in panels for label in panel.lines))
        self._x, self._panels, self._beside, self._ends = x, panels, beside, _ends(every)
        self._y = replace(described(y), log=is_wide([value for one in every for value in _shown(one)]))
        super().__init__(
            Figure("sweep", f"{label_of('', self._y, '')} over {x.name}", about, ()), dict(enumerate(self._lines or [y])), look
        )

    def _draw(self) -> Sheet:
        look, count = self._look, len(self._panels)
        width = look.width or (SIZE[0] if count == 1 else SIZE[0] * 1.25)
        columns = min(count, max(int(width / NARROWEST), 1), 4)
        columns = self._beside if 0 < self._beside < columns else columns
        rows = -(-count // columns)
        keys = in_a_row(self._lines, width, look.font) if len(self._lines) > 1 else 0
        legend = -(-len(self._lines) // keys) * line_height(look.font) if keys else 0.0
        texts = legend + bool(look.title) * line_height(look.font + 1)
        height = look.height or rows * min(SIZE[1], width / columns * (0.6 if count == 1 else 0.8)) + texts
        sheet = Sheet(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(sheet)
        grid = sheet.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flatten()
        for place, (axes, panel) in enumerate(zip(grid, self._panels, strict=False)):
            self._panel(axes, panel, width / columns)  # texts of shared ticks belong to each panel
            axes.xaxis.set_tick_params(labelbottom=place + columns >= count)
        for axes in grid[count:]:
            axes.set_visible(False)
        (sheet.supxlabel if count > 1 else grid[0].set_xlabel)(key_label(self._x.name), fontsize=look.font)
        unit = self._upright(grid[0])
        named = (sheet.supylabel if count > 1 else grid[0].set_ylabel)(label_of("", self._y, unit), fontsize=look.font)
        bold = {"size": look.font + 1, "weight": "bold"}
        if keys:
            of_keys: dict[str, Any] = {"ncols": keys, "fontsize": look.font, "columnspacing": 1.2, "handlelength": 2.6}
            titled = {"title": self.title, "title_fontproperties": bold} if look.title else {}
            sheet.legend(*grid[0].get_legend_handles_labels(), loc="outside upper center", **of_keys, **titled)
        elif look.title:
            sheet.suptitle(wrapped(self.title, width, look.font + 1), **bold)
        _fit_upright(sheet, named, (height - texts) if count > 1 else grid[0])
        return sheet

    def _panel(self, axes: Axes, panel: _Panel, width: float) -> None:
        axes.tick_params(labelsize=self._look.font, length=2.5, pad=2)
        for index, label in enumerate(self._lines):
            at = panel.lines.get(label, {})
            places = sorted((place, at[value]) for value, place in self._x.places.items() if value in at)
            self._line(axes, index, label, places)
        if panel.title and self._look.title is not False:
            axes.set_title(wrapped(panel.title, width - 0.5, self._look.font), fontsize=self._look.font)
        self._across(axes, width)

    def _line(self, axes: Axes, index: int, label: str, places: Sequence[tuple[float, Estimate]]) -> None:
        count = len(self._lines)
        # marks of words would lie on each other
        aside = 0.0 if self._x.numbers else (index - (count - 1) / 2) * min(0.12, 0.8 / (count + 1))
        places = [(place + aside, estimate) for place, estimate in places]
        axes.errorbar(
            [place for place, _ in places],
            [estimate.centre for _, estimate in places],
            yerr=[_reach(estimate) for _, estimate in places] or None,
            label=label,
            **{**of_run(index), **({} if self._x.numbers else {"linestyle": "none"})},
            markersize=4,
            elinewidth=1.0,
            capsize=2,
        )
        dots = [(place, value) for place, estimate in places if estimate.disagree for value in estimate.values]
        if dots:
            axes.plot(*zip(*dots, strict=True), linestyle="none", marker=".", markersize=6, alpha=0.6, color=colour(index), zorder=1.9)

    def _upright(self, axes: Axes) -> str:
        """Sets the scale of the y axis of all panels; returns its unit."""
        low, high = self._ends
        if self._y.log:
            axes.set_yscale("log")
            axes.set_ylim(low / 1.25, high * 1.25)
        else:
            room = 0.06 * ((high - min(low, 0.0)) or 1.0)
            axes.set_ylim(0.0 if low >= 0 else low - room, high + room)
        return scale(axes.yaxis, self._y, axes.set_yscale, ends_of(axes.yaxis), 6)

    def _across(self, axes: Axes, width: float) -> None:
        most = max(int((width - 0.8) * 72 / (self._look.font * 4.6)), 2)
        numbers = self._x.numbers
        if numbers is None:
            names = [str(value) for value in self._x.values]
            room = (width - 0.8) / len(names)
            long = any(text_width(name, self._look.font) + 0.08 > room for name in names)
            axes.set_xticks(range(len(names)), names, rotation=30 if long else 0, ha="right" if long else "center")
            axes.set_xlim(-0.5, len(names) - 0.5)
        elif needs_log(numbers):
            axes.set_xscale("log")
            ticks = sorted(zip(numbers, self._x.values, strict=True))[:: -(-len(numbers) // most)]
            axes.set_xticks([place for place, _ in ticks], [f"{value:g}" if isinstance(value, float) else str(value) for _, value in ticks])
            axes.xaxis.set_minor_locator(NullLocator())
        else:
            round_ticks(axes.xaxis, most)


def _shown(estimate: Estimate) -> Sequence[float]:
    """The values by which a scale is chosen: the mean, or all values if the seeds disagree."""
    return estimate.values if estimate.disagree else [estimate.mean]


def _fit_upright(sheet: Sheet, label: Text, along: Axes | float) -> None:
    """Breaks the upright label of an axis into lines, and shrinks it, to be no longer than its axes, or than a length in inches."""
    words, font = label.get_text().split(), float(label.get_fontsize())
    if isinstance(along, float):
        room = along
    else:  # how high they are depends on ticks and other labels
        label.set_text("")
        sheet.draw_without_rendering()
        room = along.bbox.height / sheet.dpi
    lines = [words[0]]
    for word in words[1:]:
        longer = f"{lines[-1]} {word}"
        lines = [*lines[:-1], longer] if text_width(longer, font) <= room else [*lines, word]
    longest = max(text_width(line, font) for line in lines)
    label.set(text="\n".join(lines), fontsize=font * min(1.0, room / longest))


def _ends(every: Sequence[Estimate]) -> tuple[float, float]:
    """The ends of what is drawn. An interval that reaches far down does not stretch a logarithmic axis."""
    values = [value for one in every for value in _shown(one)]
    reach = [end for one in every for end in (one.centre - _reach(one), one.centre + _reach(one))]
    low = min([*values, *reach])
    return max(low, min(values) / WIDE) if min(values) > 0 else low, max([*values, *reach])


def _reach(estimate: Estimate) -> float:
    """The half length of a point's bar: its interval, and none if the seeds disagree, which are dots then."""
    return 0.0 if estimate.disagree else estimate.half or 0.0


def figure(
    axes: dict[str, list[Any]],
    sweep: Sequence[SweepPoint],
    y: str,
    wanted: Wanted,
    look: Look,
    labels: Mapping[str, str] = MappingProxyType({}),
    loads: Sequence[str] = (),
) -> Picture:
    """Draws the figure of `SweepResult.plot` from the values of each axis and all points. `loads` are axes of workloads."""
    text("y", y)
    if y in (*FIGURES, *WORDS):
        raise UsageError(f"plot: {y} is a figure of a run or a comparison; a sweep draws a column of its table, such as {EXAMPLE}")
    y = SHORT.get(y, y)
    used = wanted.checked(axes)
    points = [point for point in sweep if all(point.values[axis] == value for axis, value in wanted.where.items())]
    free = {axis: values for axis, values in axes.items() if axis not in (*wanted.where, *wanted.mean_over) or axis in used}
    known = {axis: numbers_of(axis, values, sweep) for axis, values in free.items()}
    chosen = uses(known, free, wanted.x, wanted.by, wanted.panels_by, loads)
    if chosen.x not in axes or chosen.x in (wanted.by, *wanted.panels_by):
        raise UsageError(f"plot: no axis is left to go across (there are {', '.join(axes)}): name fewer for lines and panels")
    if not any(_number(point, y) is not None for point in points):
        raise UsageError(f'plot: nothing to draw: no point has a number "{y}"{nearest(y, _names(points))} (columns of table() are names)')
    panels = _panels(points, y, chosen, axes, wanted.mean_over)
    if labels:
        check_labels(labels, list(dict.fromkeys(line for panel in panels for line in panel.lines)))
        panels = [replace(panel, lines={labels.get(line, line): at for line, at in panel.lines.items()}) for panel in panels]
    kept = chosen_panels(y, [panel.title or y for panel in panels], wanted.panels)
    if len(kept) > MOST_PANELS:
        raise UsageError(
            f"plot: {len(kept):,} panels, for {' x '.join(chosen.panels)}: expected at most {MOST_PANELS}; "
            f"choose a value by where={{{chosen.panels[-1]!r}: ...}}"
        )
    whole = len(chosen.panels) > 1 and len(kept) == math.prod(len(free[axis]) for axis in chosen.panels)
    beside = len(free[chosen.panels[-1]]) if whole else 0
    across = _Axis(chosen.x, [_hashable(value) for value in axes[chosen.x]], known.get(chosen.x))
    return _SweepPicture(
        y, across, [panel for number, panel in enumerate(panels, 1) if number in kept], beside, look, ", ".join(wanted.mean_over) or "seeds"
    )


class Wanted(NamedTuple):
    """What a figure of a sweep is asked to show, as in `SweepResult.plot`."""

    x: str | None = None
    by: str | None = None
    panels_by: Sequence[str] = ()
    panels: Sequence[int] | None = None
    where: Mapping[str, Any] = MappingProxyType({})
    mean_over: Sequence[str] = ()

    def checked(self, axes: Mapping[str, Sequence[Any]]) -> list[str]:
        """The axes that have a use; an error if there is no such axis, or one has two."""
        check_texts({"x": self.x, "by": self.by})
        mapping("where", self.where)
        uses = {"the x axis": self.x, "lines": self.by}
        found = [(axis, use) for use, axis in uses.items() if axis is not None]
        found += [*((axis, "panels") for axis in self.panels_by), *((axis, "the mean") for axis in self.mean_over)]
        for axis in (*(axis for axis, _ in found), *self.where):
            if axis not in axes:
                raise UsageError(f'plot: no axis "{axis}"{nearest(axis, axes)} (there are {", ".join(axes)})')
        for (axis, use), (other, also) in itertools.combinations(found, 2):
            if axis == other:
                raise UsageError(f"plot: {axis} has two uses, {use} and {also}: choose another axis for one of them")
        return [axis for axis, use in found if use != "the mean"]


def _panels(points: Sequence[SweepPoint], y: str, uses: Uses, axes: Mapping[str, list[Any]], mean_over: Sequence[str]) -> list[_Panel]:
    """The panels with the estimates of their lines, in the order of the values of their axes, the last axis fastest."""
    found: dict[tuple[int, ...], dict[str, dict[Any, dict[str, list[float]]]]] = {}
    for point in points:
        number = _number(point, y)
        if number is not None:
            place = tuple(axes[axis].index(point.values[axis]) for axis in uses.panels)
            line = "" if uses.lines is None else _said(uses.lines, point.values[uses.lines])
            found.setdefault(place, {}).setdefault(line, {}).setdefault(_hashable(point.values[uses.x]), {}).setdefault(
                _unit(point, mean_over), []
            ).append(number)
    return [
        _Panel(
            ", ".join(f"{axis} = {axes[axis][index]}" for axis, index in zip(uses.panels, place, strict=True)),
            {line: {at: _estimate(units) for at, units in of.items()} for line, of in by_line.items()},
        )
        for place, by_line in sorted(found.items())
    ]


def _unit(point: SweepPoint, mean_over: Sequence[str]) -> str:
    """What the mean takes a point for: points of one name are averaged before."""
    return named({axis: point.values[axis] for axis in mean_over or point.values})


def _estimate(units: Mapping[str, Sequence[float]]) -> Estimate:
    """The mean over units, each the mean of its numbers."""
    return estimates([{"": math.fsum(numbers) / len(numbers)} for numbers in units.values()])[""]


def _number(point: SweepPoint, name: str) -> float | None:
    value = point.figures.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _names(points: Sequence[SweepPoint]) -> dict[str, None]:
    return {name: None for point in points for name in point.figures}


def _hashable(value: Any) -> Any:
    return str(value) if isinstance(value, list) else value


def _said(axis: str, value: Any) -> str:
    """A value as text; a number gets the name of the axis."""
    return value if isinstance(value, str) else f"{axis} = {value}"
