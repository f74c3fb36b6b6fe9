"""The figure of a calibration: measured against simulated values, for each fitted and predicted row."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Sheet

from ssdlab.experiments.calibration.compared import Compared
from ssdlab.experiments.calibration.measurements import FullSpeed, Probe, QuantityName
from ssdlab.pages.drawings import STYLE, as_files
from ssdlab.pages.report.axes import scale, widened
from ssdlab.pages.report.drawing import Axis

__all__ = ["drawn"]

WIDTH, HEIGHT = 9.0, 6.0
"""Width and height of the figure, inches."""
TICKS = 7
"""Maximum number of ticks on a logarithmic axis."""
FITTED, PREDICTED, MEASURED = "#7a7a7a", "#d95f02", "#1b1b1b"
UNDER_LOAD: Sequence[tuple[QuantityName, str]] = (
    ("read_p50_us", "Reads, median"),
    ("read_p99_us", "Reads, 99th percentile"),
    ("write_p50_us", "Writes, median"),
    ("read_mean_us", "Reads, mean"),
)


def drawn(drive: str, rows: Sequence[Compared]) -> tuple[str, bytes]:
    """Draws the figure: response times over the load, write amplification and rates over the used space. Returns SVG and PNG."""
    with rc_context(STYLE):
        sheet = Sheet(figsize=(WIDTH, HEIGHT), layout="constrained")
        FigureCanvasAgg(sheet)
        panels = sheet.subplots(2, 3).flatten()
        for panel, (quantity, title) in zip(panels, UNDER_LOAD, strict=False):
            _under_load(panel, rows, quantity, title)
        _full_speed(panels[4], rows, "write_amplification", "Write amplification")
        _full_speed(panels[5], rows, "write_iops", "Writes at full speed, thousand/s", 1e-3)
        handles = {label: handle for panel in panels for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)}
        sheet.suptitle(f"{drive}: measured and simulated", parse_math=False)
        sheet.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=len(handles) or 1)
        return as_files(sheet)


def _under_load(panel: Axes, rows: Sequence[Compared], quantity: QuantityName, title: str) -> None:
    """Draws a quantity over the offered rate; the saturated load is at the right, at the rate that the drive reaches."""
    those = [row for row in rows if row.row.quantity == quantity and isinstance(row.row.point, Probe)]
    highest = max((row.row.value for row in rows if row.row.quantity == "iops"), default=0.0)
    at = [(_offered(row) or highest) / 1e3 for row in those]
    _both(panel, at, those, 1e3)  # ns
    panel.set_yscale("log")
    ends = widened(*panel.get_ylim())
    panel.set_ylim(ends)
    unit = scale(panel.yaxis, Axis(title, "ns", log=True), panel.set_yscale, ends, TICKS)
    panel.set(title=f"{title}, {unit}", xlabel="thousand requests/s")


def _full_speed(panel: Axes, rows: Sequence[Compared], quantity: QuantityName, title: str, unit: float = 1.0) -> None:
    """Draws a quantity at each operating point, uniform writes in the order of the used space first."""
    those = [row for row in rows if row.row.quantity == quantity and isinstance(row.row.point, FullSpeed)]
    those = [row for row in those if row.row.point.request_bytes == 4096] or those
    _both(panel, list(range(len(those))), those, unit)
    panel.set(title=title, ylim=(0, 1.05 * panel.dataLim.ymax if those else 1))
    panel.set_xticks(range(len(those)), [_short(row) for row in those], rotation=90, fontsize=6)


def _both(panel: Axes, at: Sequence[float], rows: Sequence[Compared], unit: float) -> None:
    """Draws measured and simulated values; a panel without rows is left out."""
    panel.set_visible(bool(rows))
    panel.plot(at, [row.row.value * unit for row in rows], "_", color=MEASURED, markersize=9, label="measured")
    for is_fitted, colour, label, mark in ((True, FITTED, "simulated, fitted", "o"), (False, PREDICTED, "simulated, predicted", "D")):
        alike = [(place, row.simulated) for place, row in zip(at, rows, strict=True) if row.is_fitted == is_fitted]
        those = [(place, value * unit) for place, value in alike if value is not None]
        if those:
            panel.plot(*zip(*those, strict=True), mark, color=colour, markersize=4, fillstyle="none", label=label)


def _offered(row: Compared) -> float | None:
    return row.row.point.offered_per_s if isinstance(row.row.point, Probe) else None


def _short(row: Compared) -> str:
    point = row.row.point
    assert isinstance(point, FullSpeed)
    pattern = point.pattern
    if pattern.kind == "zones":
        return f"{pattern.hot_access:.0%} to {pattern.hot_share:.0%}"
    return f"{pattern}, {point.used_bytes / 1e9:.0f} GB"
