"""Figures as JSON for the page's script, without superfluous digits."""

from __future__ import annotations

import base64
import json
from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from ssdlab.pages.colours import COLOURS
from ssdlab.pages.report.drawing import (
    ENERGY_COLOURS,
    OTHER_PART,
    PART_COLOURS,
    SHADES,
    STATE_COLOURS,
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
from ssdlab.pages.report.frame import DASHES, shade
from ssdlab.pages.report.runs import Runs

__all__ = ["as_script", "embedded", "numbers"]

DIGITS = 6
"""Significant digits of drawn numbers. Tables have exact ones."""
FULL = 65535
"""Encoded value of a share of 1 in a heat map."""


def embedded(figures: Iterable[Figure], runs: Runs) -> str:
    """Figures as JSON that can be embedded in a page: no text in it closes the element."""
    warm_up = runs[0].at("warm_up.ns")
    data = {
        "colours": len(COLOURS),
        "dashes": DASHES,
        "labels": [run.label for run in runs],
        "shades": SHADES,
        **({"warm_up_ns": warm_up} if warm_up else {}),
        "ends_ns": [run.data["simulated_ns"] for run in runs],
        "end_ns": max(run.data["simulated_ns"] for run in runs),
        "plots": {f"{figure.key}-{index}": _plot(plot) for figure in figures for index, plot in enumerate(figure.plots)},
    }
    return as_script(data)


def as_script(data: Mapping[str, Any]) -> str:
    """JSON that can be embedded in a page."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False, ensure_ascii=False).replace("<", "\\u003c")


def _plot(plot: Plot | Bars | Ranges) -> dict[str, Any]:
    if isinstance(plot, Plot):
        return {"k": "plot", "x": _fields(plot.x), "link": plot.link, "panels": [_panel(panel) for panel in plot.panels]}
    if isinstance(plot, Ranges):
        return {"k": "ranges", "axis": _fields(plot.axis), "ranges": [_fields(entry) for entry in plot.ranges]}
    parts = [
        {"name": name, **({"colour": shade({**ENERGY_COLOURS, **PART_COLOURS}.get(key, OTHER_PART))} if key != "run" else {})}
        for key, name in plot.parts
    ]
    groups = [[name, [_fields(bar) for bar in bars]] for name, bars in plot.groups]
    return {"k": "bars", "axis": _fields(plot.axis), "parts": parts, "groups": groups}


def _panel(panel: Panel) -> dict[str, Any]:
    return {"title": panel.title, "height": panel.height, "y": _fields(panel.y), "marks": [_mark(mark) for mark in panel.marks]}


def _mark(mark: Mark) -> dict[str, Any]:
    match mark:
        case Steps():
            return {"k": "steps", **_fields(mark), "values": numbers(mark.values)}
        case Curve():
            return {"k": "curve", **_fields(mark), "x": numbers(mark.x), "y": numbers(mark.y)}
        case Rule():
            return {"k": "rule", **_fields(mark)}
        case Stack():
            layers = [{"name": name, "colour": shade(STATE_COLOURS[key]), "values": numbers(values)} for key, name, values in mark.layers]
            return {"k": "stack", "run": mark.run, "width": mark.width, "layers": layers}
        case Heat():
            shape = {"rows": len(mark.rows), "bins": len(mark.rows[0]), "shares": _shares(mark.rows)}
            return {
                "k": "heat",
                **{key: getattr(mark, key) for key in ("run", "width", "row", "per_row", "things", "most", "drives")},
                **shape,
            }


def _fields(item: Any) -> dict[str, Any]:
    """The fields of a description, without those that are `None`."""
    return {key: value for key, value in vars(item).items() if value is not None}


def numbers(values: Iterable[float | None]) -> list[float | None]:
    """Numbers rounded to `DIGITS` significant digits."""
    return [_short(value) for value in values]


def _short(value: float | None) -> float | None:
    if value is None or isinstance(value, int):
        return value
    rounded = float(f"{value:.{DIGITS}g}")
    return int(rounded) if rounded.is_integer() else rounded


def _shares(rows: Sequence[Sequence[float]]) -> str:
    """Shares as 16 bits each, the lower byte first; a positive share never becomes 0."""
    cells = array("H", (max(round(share * FULL), 1) if share > 0 else 0 for share in chain.from_iterable(rows)))
    if cells.itemsize != 2 or array("H", [1]).tobytes() != b"\x01\x00":
        cells.byteswap()
    return base64.b64encode(cells.tobytes()).decode()
