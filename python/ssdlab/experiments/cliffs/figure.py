"""The figure of write cliffs: the rate over what has been written, a panel for each drive."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Sheet

from ssdlab.experiments.cliffs.predictions import Predictions
from ssdlab.pages.colours import COLOURS
from ssdlab.pages.drawings import STYLE, as_files

__all__ = ["drawn"]

COLUMNS = 3
PANEL = (3.0, 1.75)
"""Width and height of a panel, inches."""


def drawn(drives: Sequence[Predictions]) -> tuple[str, bytes]:
    """Draws all drives. Returns SVG and PNG."""
    columns = min(COLUMNS, len(drives))
    rows = -(-len(drives) // columns)
    with rc_context(STYLE):
        sheet = Sheet(figsize=(PANEL[0] * max(columns, 2), PANEL[1] * rows + 0.6), layout="constrained")
        FigureCanvasAgg(sheet)
        panels = sheet.subplots(rows, columns, squeeze=False).flatten()
        for panel, of in zip(panels, drives, strict=False):
            _panel(panel, of)
        for panel in panels[len(drives) :]:
            panel.set_axis_off()
        sheet.supxlabel("Written (GB)")
        sheet.supylabel("Rate (GB/s)")
        sheet.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
        return as_files(sheet)


def _panel(panel: Axes, of: Predictions) -> None:
    drive = of.drive
    panel.set_title(drive.label, fontsize="medium", loc="left", parse_math=False)
    written, rates = of.curve
    panel.stairs(rates, [0.0, *written], color=COLOURS[0], linewidth=1.0, baseline=None, label="simulated")
    for begin, end, rate in drive.steps:
        panel.plot([begin, end], [rate, rate], color=COLOURS[1], linewidth=2.2, alpha=0.7, label="published" if begin == 0 else None)
    panel.set_xlim(0, drive.capacity)
    panel.set_ylim(0, None)
