"""The figure of the queueing model: waits and queue lengths over time (bux2011, Figs. 3 to 8)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import MaxNLocator

from ssdlab.pages.colours import COLOURS
from ssdlab.pages.drawings import STYLE, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ssdlab.queueing import QueueingResult

__all__ = ["draw"]

COLLECTIONS_SHOWN = 6
"""Maximum number of collections in the figure."""
REQUESTS_SHOWN = 20_000
"""Maximum number of requests in the figure; more could not be distinguished."""
PANEL = (4.6, 2.1)
"""Width and height of a panel, inches."""

Times = npt.NDArray[np.float64]


def draw(runs: Mapping[str, QueueingResult], folder: Path) -> None:
    """Draws the start of runs that kept series into `figure.svg` and `figure.png` of a folder, with a column for each priority."""
    with mpl.rc_context(STYLE):
        drawing = Drawing(figsize=(PANEL[0] * len(runs), PANEL[1] * 3 + 0.4), layout="constrained")
        FigureCanvasAgg(drawing)
        panels = drawing.subplots(3, len(runs), squeeze=False, sharex=True)
        end = max(map(_window, runs.values()))
        for column, (priority, run) in enumerate(runs.items()):
            panels[0][column].set_title(priority)
            _waits(panels[0][column], run, end)
            requests = run.requests
            arrivals = _seconds(requests["arrival_ns"])
            _queue(panels[1][column], arrivals, arrivals + _seconds(requests["wait_ns"]), end)
            copies = run.copies
            _queue(panels[2][column], _seconds(copies["entered_ns"]), _seconds(copies["start_ns"]), end)
            panels[2][column].set_xlabel("Time (s)")
            panels[2][column].set_xlim(0, end or 1.0)
        for row, label in enumerate(("Wait (ms)", "Requests waiting", "Copies waiting")):
            panels[row][0].set_ylabel(label)
        drawing.legend(*panels[0][0].get_legend_handles_labels(), loc="outside upper right", ncols=2, markerscale=3)
        save(drawing, folder)


def _seconds(column: object) -> Times:
    return np.asarray(column, dtype=np.float64) / 1e9


def _window(run: QueueingResult) -> float:
    """End of the drawn part of a run, s: when the die is idle after the last drawn collection, or the end of a run with fewer."""
    ends = _seconds(run.collections["backlog_end_ns"])
    arrivals = _seconds(run.requests["arrival_ns"][: REQUESTS_SHOWN + 1])
    end = ends[COLLECTIONS_SHOWN - 1] if len(ends) >= COLLECTIONS_SHOWN else run.simulated_ns / 1e9
    return float(min(end, arrivals[-1]) if len(arrivals) > REQUESTS_SHOWN and arrivals[-1] > 0 else end)


def _waits(panel: Axes, run: QueueingResult, end: float) -> None:
    requests = run.requests
    arrivals, waits = _seconds(requests["arrival_ns"]), _seconds(requests["wait_ns"]) * 1e3
    is_write = requests["op"].combine_chunks().indices.to_numpy() == 1
    for name, chosen, colour in (("reads", ~is_write, COLOURS[0]), ("writes", is_write, COLOURS[1])):
        shown = chosen & (arrivals <= end)
        panel.plot(arrivals[shown], waits[shown], ".", markersize=1.8, color=colour, label=name, rasterized=True)
    panel.set_ylim(0, None if waits[arrivals <= end].any() else 1)


def _queue(panel: Axes, enter: Times, leave: Times, end: float) -> None:
    """Draws the number of items between entering and leaving, over time."""
    times = np.concatenate([enter, leave])
    steps = np.concatenate([np.ones_like(enter), -np.ones_like(leave)])
    times, steps = times[times <= end], steps[times <= end]
    # all changes at one instant together
    instants, place = np.unique(times, return_inverse=True)
    heights = np.cumsum(np.bincount(place, weights=steps, minlength=len(instants)))
    # from 0 to the end of the drawn part
    last = heights[-1] if len(heights) else 0.0
    panel.plot([0.0, *instants, end], [0.0, *heights, last], drawstyle="steps-post", color=COLOURS[2], linewidth=0.8)
    panel.set_ylim(0, None if heights.any() else 1)
    panel.yaxis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=2))
