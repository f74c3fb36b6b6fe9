"""Drawing on matplotlib axes: lines, areas and bars, in the page's colours. In grey they differ by dashes, markers and hatches."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from ssdlab.pages.colours import COLOURS
from ssdlab.pages.report.axes import number, round_ticks
from ssdlab.pages.report.drawing import (
    ENERGY_COLOURS,
    OTHER_PART,
    PART_COLOURS,
    SHADES,
    STATE_COLOURS,
    Bars,
    Curve,
    Heat,
    Mark,
    Ranges,
    Rule,
    Stack,
    Steps,
)
from ssdlab.pages.report.look import Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["bars", "colour", "draw", "key_of_part", "key_of_run", "of_run", "ranges"]

DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 2)),
    (0, (1.2, 1.2)),
    (0, (6, 1.6, 1.4, 1.6)),
    (0, (10, 2.4)),
    (0, (5, 1.4, 1.2, 1.4, 1.2, 1.4)),
)
MARKERS = "os^Dvp*X"
MARKERS_APART = 0.23
"""Distance of markers, relative to the width or height of a panel."""
HATCHES = {
    "gc": "////",
    "die_queue": "....",
    "bus_queue": "\\\\\\\\",
    "host_queue": "xxxx",
    "suspended": "++++",
    "s2": "////",
    "s3": "xxxx",
}
"""Hatches of parts and states with similar shades of grey."""


def colour(run: int) -> str:
    """The colour of a run, the same in all figures."""
    return COLOURS[run % len(COLOURS)]


def _line(run: int, *, several: bool) -> dict[str, Any]:
    """The style of a line. Among several, lines have distributed markers, so that they are distinct in grey."""
    if not several:
        return {"color": colour(run), "linewidth": 1.0}
    begin = MARKERS_APART * ((run * 0.382) % 1)
    return {**of_run(run), "markevery": (begin, MARKERS_APART), "markersize": 3.2, "markeredgewidth": 0.0}


def of_run(run: int) -> dict[str, Any]:
    """Colour, dashes and marker of a line."""
    return {"color": colour(run), "linestyle": DASHES[run % len(DASHES)], "linewidth": 1.0, "marker": MARKERS[run % len(MARKERS)]}


def key_of_run(run: int, label: str) -> Line2D:
    """The legend entry of a run."""
    look = _line(run, several=True)
    del look["markevery"]
    return Line2D([], [], label=label, **look)


def key_of_part(key: str, label: str, shade: str) -> Patch:
    """The legend entry of a part."""
    return Patch(facecolor=shade, label=label, **_hatch(key))


def _hatch(key: str) -> dict[str, Any]:
    hatch = HATCHES.get(key)
    return {} if hatch is None else {"hatch": hatch, "edgecolor": "white", "linewidth": 0.0}


def draw(axes: Axes, mark: Mark, look: Look, *, several: bool) -> None:
    """Draws a mark. `several`: whether the axes have lines of several runs."""
    match mark:
        case Steps():
            values = [math.nan if value is None else value for value in mark.values]
            edges = np.arange(len(values) + 1) * mark.width
            axes.plot(edges, [*values, values[-1]], drawstyle="steps-post", **_line(mark.run, several=several))
        case Curve():
            axes.plot(mark.x, mark.y, drawstyle="steps-post", **_line(mark.run, several=several))
        case Rule():
            of = "black" if mark.run < 0 else colour(mark.run)
            axes.axhline(mark.value, color=of, linestyle=(0, (4, 3)), linewidth=0.7, zorder=0.9)  # below the data
            place, side = (1, "right") if mark.name == "T_soft" else (0, "left")  # the lines may be close to each other
            axes.annotate(mark.name, (place, mark.value), xycoords=("axes fraction", "data"), ha=side, va="bottom", fontsize=look.small)
        case Stack():
            below = np.zeros(len(mark.layers[0][2]))
            edges = np.arange(len(below) + 1) * mark.width
            for key, _name, shares in mark.layers:
                top = below + np.asarray(shares)
                if any(shares):
                    axes.stairs(top, edges, baseline=below, fill=True, color=STATE_COLOURS[key], **_hatch(key))
                below = top
        case Heat():
            _heat(axes, mark, look)


def _heat(axes: Axes, heat: Heat, look: Look) -> None:
    shares = np.ma.masked_equal(np.asarray(heat.rows, dtype=float), 0.0)
    colours = LinearSegmentedColormap.from_list("chips", list(SHADES["light"][1:]))
    rows, bins = shares.shape
    extent = (0.0, bins * heat.width, rows * heat.per_row - 0.5, -0.5)
    image = axes.imshow(shares, cmap=colours, vmin=0, vmax=heat.most, extent=extent, aspect="auto", interpolation="nearest")
    round_ticks(axes.yaxis, 5, integer=True)
    # in the margin, so that the panel is as wide as those below
    bar = axes.figure.colorbar(image, cax=axes.inset_axes((1.02, 0, 0.025, 1)), ticks=[0, heat.most])
    bar.ax.set_yticklabels(["0", number(heat.most * 100)])
    bar.ax.tick_params(labelsize=look.small, pad=1.5, length=2)
    bar.ax.set_ylabel("Time collecting (%)", fontsize=look.small, labelpad=-4)
    bar.outline.set_linewidth(0.4)


def bars(panel: Axes, plot: Bars, look: Look, written: Any) -> float:
    """Draws groups of bars, with their lengths formatted by `written` behind them; returns the largest value drawn."""
    names, places, top = [], [], 0.0
    longest = max(bar.reach for _, group in plot.groups for bar in group)
    for group, entries in plot.groups:
        if group and len(plot.groups) > 1:
            named: dict[str, Any] = {"xytext": (2, 0), "textcoords": "offset points", "va": "center"}
            panel.annotate(group, (0, top), xycoords=("axes fraction", "data"), fontsize=look.font, fontweight="bold", **named)
            top += 1.0
        for bar in entries:
            left = 0.0
            for (key, _name), value in zip(plot.parts, bar.values, strict=True):
                shade = colour(bar.run) if key == "run" else {**ENERGY_COLOURS, **PART_COLOURS}.get(key, OTHER_PART)
                panel.barh(top, value, left=left, height=0.75, color=shade, **_hatch(key))
                left += value
            said: dict[str, Any] = {"xytext": (3, 0), "textcoords": "offset points", "va": "center", "fontsize": look.small}
            panel.annotate(written(left), (bar.reach, top), **said)
            if bar.half:
                panel.errorbar(left, top, xerr=bar.half, color="black", elinewidth=0.9, capsize=2)
            if bar.dots:
                panel.plot(bar.dots, [top] * len(bar.dots), linestyle="none", marker=".", markersize=5, color="black")
            names.append(bar.name)
            places.append(top)
            top += 1.0
        top += 0.3
    panel.set_yticks(places, names)
    panel.set_ylim(top - 0.6, -0.6)
    return longest


def ranges(panel: Axes, plot: Ranges) -> float:
    """Draws means with a range of one standard deviation, and maxima; returns the largest value."""
    for place, entry in enumerate(plot.ranges):
        shade = colour(entry.run)
        low = max(entry.mean - entry.std, 0.0)
        panel.barh(place, entry.mean + entry.std - low, left=low, height=0.4, color=shade, alpha=0.35)
        panel.plot([entry.mean, entry.most], [place, place], color=shade, linewidth=0.9)
        panel.plot([entry.mean], [place], "o", color=shade, markersize=4)
        panel.plot([entry.most], [place], "|", color=shade, markersize=9, markeredgewidth=2)
    panel.set_yticks(range(len(plot.ranges)), [entry.name for entry in plot.ranges])
    panel.set_ylim(len(plot.ranges) - 0.5, -0.5)
    panel.set_xlim(left=0)
    return max(entry.most for entry in plot.ranges)
