"""Size, fonts and selected parts of a figure in print."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ssdlab.checks import shown, whole
from ssdlab.errors import UsageError
from ssdlab.pages.report.drawing import Axis, Bar, Bars, Figure, Plot, Ranges
from ssdlab.pages.report.runs import KINDS

__all__ = ["Kind", "Length", "Look", "chosen_panels", "in_shares", "inches", "panels_of", "reduced"]

Kind = Literal["read", "write"]
Length = str | float
"""A length: inches as a number, or a text with a unit: `"3.4in"`, `"86mm"`."""

UNITS = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}
"""Inches per unit. Points are those of TeX, which prints column widths in them."""
SIZES = (0.5, 100.0)
"""Minimum and maximum width and height of a figure, inches."""
LETTERS = (4.0, 40.0)
"""Minimum and maximum font size, points."""


@dataclass(frozen=True)
class Look:
    """Style of a figure. Sizes are in inches; `None` is the default size of the figure."""

    width: float | None = None
    height: float | None = None
    font: float = 8.0
    """Font size, points."""
    title: bool | None = None
    """`True` writes the figure's heading. `None` writes only the headings of its parts, and `False` these only if there are several."""

    @classmethod
    def of(cls, width: Length | None, height: Length | None, font: float | None, title: bool | None) -> Look:
        """Builds a style from arguments.

        Raises:
            UsageError: a length is invalid, or out of range.
        """
        if title is not None and not isinstance(title, bool):
            raise UsageError(f"title = {shown(title)}: expected True or False")
        if font is not None and not (_is_number(font) and LETTERS[0] <= font <= LETTERS[1]):
            raise UsageError(f"font = {shown(font)}: expected points, {LETTERS[0]:g} to {LETTERS[1]:g}")
        size = {name: inches(name, value) for name, value in (("width", width), ("height", height)) if value is not None}
        return cls(**size, **({} if font is None else {"font": float(font)}), title=title)

    @property
    def small(self) -> float:
        """The font size of remarks, points."""
        return min(self.font, max(self.font - 1, 7.0))


def inches(name: str, value: object) -> float:
    """Converts a length to inches."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)\s*", value) if isinstance(value, str) else None
    unit = 1.0 if not found else UNITS.get(found[2] or "in", math.nan)
    length = float(found[1]) * unit if found else value if _is_number(value) else math.nan
    if not isinstance(length, int | float) or not SIZES[0] <= length <= SIZES[1]:
        raise UsageError(f"{name} = {shown(value)}: expected {SIZES[0]:g} to {SIZES[1]:g} inches, such as 3.4in, 86mm, 8.6cm or 245pt")
    return float(length)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def panels_of(figure: Figure) -> list[str]:
    """Descriptions of the figure's parts, in the order of their numbers, from 1."""
    found: list[str] = []
    for plot in figure.plots:
        if isinstance(plot, Plot):
            found += [": ".join(filter(None, (plot.title, panel.title[:1].lower() + panel.title[1:]))) for panel in plot.panels]
        elif isinstance(plot, Bars):
            found += [": ".join(filter(None, (plot.title, name.lower()))) for name, _ in plot.groups]
        else:
            found.append(plot.title)
    return found


def chosen_panels(name: str, there: Sequence[str], panels: Sequence[int] | None) -> set[int]:
    """The numbers of the parts of a figure to draw, from 1: all, or those of `panels`.

    Raises:
        UsageError: the figure, of this name, has no such part.
    """
    if panels is None:
        return set(range(1, len(there) + 1))
    if not isinstance(panels, Sequence) or isinstance(panels, str):
        raise UsageError(f"panels = {shown(panels)}: expected a list of numbers, such as [1]")
    wanted = {whole("panels", number, least=1) for number in panels}
    if not wanted or max(wanted) > len(there):
        raise UsageError(f"panels = {sorted(wanted)}: {name} has {len(there)} ({_numbered(there)})")
    return wanted


def reduced(figure: Figure, *, kind: Kind | None = None, panels: Sequence[int] | None = None) -> Figure:
    """A copy of a figure with some of its parts.

    Args:
        figure: the complete figure.
        kind: `"read"` or `"write"` to select parts about these requests; `None` for all.
        panels: numbers of parts to select, as in `panels_of`; they keep the figure's order.

    Raises:
        UsageError: the figure has no such part.
    """
    if kind is not None and (not isinstance(kind, str) or kind not in KINDS):
        raise UsageError(f"kind = {shown(kind)}: expected {' or '.join(KINDS)}")
    there = panels_of(figure)
    wanted = chosen_panels(figure.key, there, panels)
    numbers = iter(range(1, len(there) + 1))
    plots = [plot for plot in (_reduced(plot, [next(numbers) in wanted for _ in _parts(plot)], kind) for plot in figure.plots) if plot]
    if not plots:
        of_kinds = any(name in words for words in there for name in KINDS.values())
        why = "there are none in it" if of_kinds else "it does not tell reads from writes"
        raise UsageError(f"kind = {shown(kind)}: {figure.key} has no part about {KINDS[kind].lower() if kind else 'that'}: {why}")
    return replace(figure, plots=plots)


def in_shares(figure: Figure) -> Figure:
    """A copy of a figure whose bars are as long as each other: their parts are shares.

    Raises:
        UsageError: the figure has no bars with several parts.
    """
    plots = [_in_shares(plot) if isinstance(plot, Bars) and len(plot.parts) > 1 else None for plot in figure.plots]
    drawn = [plot for plot in plots if plot is not None]
    if len(drawn) < len(figure.plots):
        raise UsageError(f"shares = True: {figure.key} has no bars with parts: leave it out, or draw breakdown")
    return replace(figure, plots=drawn)


def _in_shares(bars: Bars) -> Bars:
    def shares(bar: Bar) -> Bar:
        whole = sum(bar.values)
        return replace(bar, values=[value / whole if whole else 0.0 for value in bar.values])

    axis = Axis(f"share of the {bars.axis.label}", "share", low=0.0, high=1.0)
    groups = [(name, [shares(bar) for bar in group]) for name, group in bars.groups]
    return replace(bars, title=f"Share of the {bars.title[:1].lower()}{bars.title[1:]}", axis=axis, groups=groups)


def _numbered(names: Sequence[str]) -> str:
    return ", ".join(f"{number} {name}" for number, name in enumerate(names, 1))


def _parts(plot: Plot | Bars | Ranges) -> Sequence[object]:
    if isinstance(plot, Plot):
        return plot.panels
    return plot.groups if isinstance(plot, Bars) else [plot]


def _reduced(plot: Plot | Bars | Ranges, wanted: Sequence[bool], kind: Kind | None) -> Plot | Bars | Ranges | None:
    name = None if kind is None else KINDS[kind]
    if isinstance(plot, Plot):
        panels = [
            panel for panel, here in zip(plot.panels, wanted, strict=True) if here and (name is None or name in (plot.title, panel.title))
        ]
        return replace(plot, panels=panels) if panels else None
    if isinstance(plot, Bars):
        groups = [group for group, here in zip(plot.groups, wanted, strict=True) if here and (name is None or group[0] == name)]
        return replace(plot, groups=groups) if groups else None
    return plot if wanted[0] and name is None else None
