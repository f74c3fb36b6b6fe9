"""Quantities of single runs over time: a row of panels for each quantity, and a column for each scheme."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdlab.experiments.study.definition import QUANTITIES
from ssdlab.experiments.study.result import StudyResult
from ssdlab.pages.colours import COLOURS

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase
    from numpy.typing import NDArray

    Times = NDArray[np.int64]
    Values = NDArray[np.float64]

__all__ = ["Timelines", "steps"]

MANY = 400
"""Number of points from which on they are drawn as a bitmap in the figure, which is smaller and looks the same."""
MS, S = 1e6, 1e9
WAITING = ("host_queue_ns", "die_queue_ns", "gc_ns", "bus_queue_ns")
"""Columns of a drive's request log with waiting times."""


class Timelines:
    """The panels over time in a study's figure."""

    def __init__(self, result: StudyResult, panel: tuple[float, float]) -> None:
        self._result = result
        self._pictures = result.study.pictures()
        self.size = (panel[0] * 1.2 * len(result.study.schemes), panel[1] * 0.8 * len(self._pictures) + 0.4)
        """Width and height, inches."""

    def __bool__(self) -> bool:
        return bool(self._pictures)

    def draw(self, part: FigureBase) -> None:
        """Draws the panels. Panels of a row have the same scale, so that schemes can be compared."""
        study = self._result.study
        grid = part.subplots(len(self._pictures), len(study.schemes), squeeze=False, sharex=True, sharey="row")
        for place, (row, (quantity, labels)) in enumerate(zip(grid, self._pictures, strict=True)):
            row[0].set_ylabel(QUANTITIES[quantity].replace(" of a collection", "\nof a collection"))
            for index, (panel, scheme) in enumerate(zip(row, study.schemes, strict=True)):
                self._panel(panel, quantity, scheme, labels, COLOURS[index % len(COLOURS)])
                if labels or place == 0:
                    values = (axis.named(label) for axis, label in zip(study.axes, labels, strict=True))
                    panel.set_title(", ".join((scheme, *values)), fontsize=9)
            row[0].set_ylim(bottom=0)
        for panel in grid[-1]:
            panel.set_xlabel("Time (s)")

    def _panel(self, panel: Axes, quantity: str, scheme: str, labels: tuple[str, ...], colour: str) -> None:
        study = self._result.study
        assert study.figure is not None
        first, last = study.figure.window_ms
        run = self._result.series.get((scheme, labels, study.seeds[0]))
        if run is None:  # the run failed
            return
        times, values = _series(quantity, run)
        begin, end = np.searchsorted(times, [first * MS, last * MS])
        dense = end - begin > MANY
        look: dict[str, Any] = {"color": colour, "rasterized": bool(dense)}
        if quantity in ("queue", "copies"):
            before = max(begin - 1, 0)  # the level at the beginning of the window
            panel.step(times[before:end] / S, values[before:end], where="post", linewidth=0.8, **look)
        else:
            panel.plot(times[begin:end] / S, values[begin:end], linestyle="none", marker=".", markersize=2 if dense else 4, **look)
        panel.set_xlim(first / 1000, last / 1000 if math.isfinite(last) else None)


def _series(quantity: str, run: Any) -> tuple[Times, Values]:
    """Instants, ns, and values of a quantity."""
    if quantity == "wait":
        requests = run.requests
        return _column(requests, "arrival_ns"), _waits(requests) / MS
    if quantity == "queue":
        arrivals = _column(run.requests, "arrival_ns")
        return steps(arrivals, np.ones_like(arrivals), arrivals + _waits(run.requests))
    starts = _column(run.collections, "start_ns")
    if quantity == "copies":
        return steps(starts, _column(run.collections, "valid"), _column(run.copies, "start_ns"))
    ends = _column(run.collections, {"duration": "end_ns", "backlog": "backlog_end_ns"}[quantity])
    return starts, (ends - starts) / MS


def steps(entered: Times, counts: Times, left: Times) -> tuple[Times, Values]:
    """Step function of the number of items: instants, and the number after each. `counts` items enter at a time; one leaves at a time."""
    times = np.concatenate([entered, left])
    changes = np.concatenate([counts, -np.ones_like(left)])
    instants, places = np.unique(times, return_inverse=True)
    return instants, np.cumsum(np.bincount(places, weights=changes, minlength=len(instants)))


def _waits(requests: pa.Table) -> Times:
    if "wait_ns" in requests.column_names:
        return _column(requests, "wait_ns")
    waits: Times = np.sum([_column(requests, name) for name in WAITING], axis=0)
    return waits


def _column(table: pa.Table, name: str) -> Times:
    values: Times = table.column(name).to_numpy().astype(np.int64)
    return values
