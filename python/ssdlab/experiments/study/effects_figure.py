"""The figure of published against measured numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from ssdlab.experiments.study.effects import Effect
from ssdlab.experiments.study.grading import AMOUNT, CONTRADICTED, DIRECTION, FACTOR, INCONCLUSIVE, SIZE, as_change
from ssdlab.pages.colours import COLOURS
from ssdlab.pages.drawings import STYLE, as_files

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw"]

MARKERS = {SIZE: "o", DIRECTION: "^", CONTRADICTED: "X", INCONCLUSIVE: "d"}
LARGE = (CONTRADICTED,)
"""Grades drawn with larger points, in front."""
PANEL = (4.6, 4.6)
"""Width and height of a panel, inches."""
EDGE = {True: 0.1, False: 0.01}
"""Limit of the linear part around 0 of the scale, for comparisons (true) and for amounts (false)."""
ROOM = 1.6
"""Extent of the axes beyond the largest number, as a factor."""


def draw(effects: Sequence[Effect]) -> tuple[str, bytes]:
    """Draws the figure as SVG and PNG: a panel for comparisons of two numbers and one for amounts, where there are any."""
    measured = [effect for effect in effects if effect.measured is not None]
    panels = [(compares, chosen) for compares in (True, False) if (chosen := [e for e in measured if (e.kind != AMOUNT) == compares])]
    papers = sorted({effect.paper for effect in effects})
    colours = {paper: COLOURS[index % len(COLOURS)] for index, paper in enumerate(papers)}
    with mpl.rc_context(STYLE):
        width = PANEL[0] * max(len(panels), 1)
        drawing = Drawing(figsize=(width, PANEL[1] + 0.7), layout="constrained")
        FigureCanvasAgg(drawing)
        for panel, (compares, chosen) in zip(drawing.subplots(1, max(len(panels), 1), squeeze=False).flat, panels, strict=False):
            _panel(panel, chosen, colours, compares=compares)
        handles = [*(_mark("o", colour, paper) for paper, colour in colours.items()), *(_mark(MARKERS[g], "#666666", g) for g in MARKERS)]
        handles.append(_mark("o", "#666666", "calibrated", hollow=True))
        drawing.legend(handles=handles, loc="outside upper center", ncols=5)
        return as_files(drawing)


def _mark(marker: str, colour: str, label: str, *, hollow: bool = False) -> Line2D:
    face = "none" if hollow else colour
    return Line2D([], [], linestyle="none", marker=marker, markersize=6, markeredgecolor=colour, markerfacecolor=face, label=label)


def _panel(panel: Axes, effects: Sequence[Effect], colours: dict[str, str], *, compares: bool) -> None:
    points = [(as_change(e.kind, e.published), as_change(e.kind, e.measured or 0.0)) for e in effects]
    edge, numbers = EDGE[compares], [number for point in points for number in point]
    least, most = min(-edge / 5, ROOM * min(numbers)), max(edge, ROOM * max(numbers))
    for scale in (panel.set_xscale, panel.set_yscale):
        scale("symlog", linthresh=edge, linscale=0.5)
    panel.set_xlim(least, most)
    panel.set_ylim(least, most)
    _band(panel, edge, max(most, -least), compares=compares)
    for effect, (published, measured) in zip(effects, points, strict=True):
        colour, large = colours[effect.paper], effect.grade in LARGE
        panel.plot(
            *([published], [measured]),
            marker=MARKERS.get(effect.grade, "o"),
            markersize=7 if large else 5,
            markeredgecolor="white" if large and not effect.calibrated else colour,
            markeredgewidth=0.8,
            markerfacecolor="none" if effect.calibrated else colour,
            alpha=0.9,
            zorder=4 if large else 3,
        )
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.grid(visible=True, axis="both")
    what = "change (%) or difference (points)" if compares else "amount (%, ms, ...)"
    panel.set_xlabel(f"Published {what}")
    panel.set_ylabel("Measured")


def _band(panel: Axes, edge: float, reach: float, *, compares: bool) -> None:
    """Draws the band of a factor of two, and the line of equal numbers."""
    steps = [edge / 100, *(edge * (reach * FACTOR / edge) ** (step / 100) for step in range(101))]
    for sign in (1, -1) if compares else (1,):
        along = [sign * step for step in steps]
        panel.fill_between(along, [x / FACTOR for x in along], [x * FACTOR for x in along], color="#000000", alpha=0.08, linewidth=0)
        panel.plot(along, along, color="#000000", linewidth=0.8, alpha=0.5)
    if compares:
        panel.axhline(0, color="#000000", linewidth=0.6, alpha=0.6)
        panel.axvline(0, color="#000000", linewidth=0.6, alpha=0.6)
