"""The figure of a study: a row of panels for each metric, a column for each value of all parameters but the last."""

from __future__ import annotations

import io
import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from ssdlab._core import write_file
from ssdlab.errors import FileError
from ssdlab.study.definition import Axis, Figure
from ssdlab.study.evaluation import Estimate
from ssdlab.study.running import StudyResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["COLOURS", "STYLE", "draw", "save"]

STYLE: dict[Any, Any] = {
    "svg.hashsalt": "ssdlab",  # the same study gives the same file
    "svg.fonttype": "none",
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.alpha": 0.3,
    "axes.axisbelow": True,
    "legend.frameon": False,
}
# Okabe and Ito's colours, which people with any colour vision can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
MARKERS = "os^Dvp*X"
PANEL = (3.5, 2.5)
"""Width and height of a panel, inches."""


def draw(result: StudyResult, folder: Path) -> None:
    """Draws the study's figure into `figure.svg` and `figure.png` of the folder, each whole or not at all."""
    figure = result.study.figure
    assert figure is not None
    with mpl.rc_context(STYLE):
        save(_drawing(result, figure), folder)


def save(drawing: Drawing, folder: Path) -> None:
    """Writes a drawing as `figure.svg` and `figure.png` of the folder, each whole or not at all."""
    svg = io.StringIO()
    drawing.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    write_file(folder / "figure.svg", "\n".join(line.rstrip() for line in svg.getvalue().splitlines()) + "\n")
    _write_png(drawing, folder / "figure.png")


def _write_png(drawing: Drawing, path: Path) -> None:
    try:
        part = path.with_name(f".{path.name}.part")
        drawing.savefig(part, format="png", dpi=150)
        part.replace(path)
    except OSError as reason:
        raise FileError(f"{path}: cannot write: {reason.strerror}", reason.errno, str(path)) from reason


def _drawing(result: StudyResult, figure: Figure) -> Drawing:
    study = result.study
    *outer, inner = study.axes or (Axis("", ()),)
    columns = list(itertools.product(*(axis.labels for axis in outer)))
    rows = figure.panels
    per_column = 1.0 if len(columns) > 1 else 1.25
    size = (PANEL[0] * per_column * len(columns), PANEL[1] * len(rows) + 0.6)
    if len(columns) == 1 and len(rows) > 1:  # one parameter: panels side by side
        size = (PANEL[0] * per_column * len(rows), PANEL[1] + 0.9)
    drawing = Drawing(figsize=size, layout="constrained")
    FigureCanvasAgg(drawing)
    grid = (1, len(rows)) if len(columns) == 1 else (len(rows), len(columns))
    panels = list(drawing.subplots(*grid, squeeze=False, sharey="row" if len(columns) > 1 else False).flat)
    for panel, (metric, labels) in zip(panels, itertools.product(rows, columns), strict=True):
        _panel(panel, result, figure, metric, labels, inner)
        if len(columns) > 1 and metric == rows[0]:
            panel.set_title(", ".join(map(_named, outer, labels)), fontsize=9)
        if len(columns) == 1 or labels == columns[0]:
            title = study.metrics[metric].title
            relative = figure.relative_to
            panel.set_ylabel(title if relative is None else f"{title.partition(' (')[0]},\nrelative to {relative}")
        if inner.name and (len(columns) == 1 or metric == rows[-1]):
            panel.set_xlabel(inner.name)
    handles, names = panels[0].get_legend_handles_labels()
    if len(names) > 1:
        drawing.legend(handles, names, loc="outside upper center", ncols=min(len(names), max(3, int(size[0] / 1.2))))
    return drawing


def _panel(panel: Axes, result: StudyResult, figure: Figure, metric: str, outer: tuple[str, ...], inner: Axis) -> None:
    labels = inner.labels or ("",)
    combinations = [(*outer, label) if inner.labels else outer for label in labels]
    numbers = _numbers(labels)
    for index, scheme in enumerate(result.study.schemes):
        heights, halves = _heights(result, figure, metric, scheme, combinations)
        colour = COLOURS[index % len(COLOURS)]
        if numbers is not None:
            marker = MARKERS[index % len(MARKERS)]
            panel.errorbar(numbers, heights, yerr=halves, label=scheme, color=colour, marker=marker, markersize=4, linewidth=1.3, capsize=2)
        else:
            count = len(result.study.schemes)
            places = [place + (index - (count - 1) / 2) * 0.8 / count for place in range(len(labels))]
            panel.bar(places, heights, 0.8 / count, yerr=halves, label=scheme, color=colour, capsize=2, error_kw={"linewidth": 0.8})
    if numbers is None:
        _name_bars(panel, labels)
    elif _geometric(numbers):
        panel.set_xscale("log", base=2)
        panel.set_xticks(numbers, labels)
    else:
        panel.set_xticks(numbers, labels)
    if figure.log and _has_heights(result, figure, metric):
        panel.set_yscale("log")
        _mark_decades(panel)
    else:
        panel.set_ylim(bottom=0)


def _mark_decades(panel: Axes) -> None:
    """Labels a logarithmic axis with plain numbers; within few decades also at 2 and 5."""
    low, high = panel.get_ylim()
    panel.yaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5) if high / low < 1000 else (1,)))
    panel.yaxis.set_minor_locator(NullLocator())
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _has_heights(result: StudyResult, figure: Figure, metric: str) -> bool:
    """Whether anything of a metric is above 0: a logarithmic axis needs it."""
    study = result.study
    combinations = [tuple(point.label for point in combination) for combination in study.combinations()]
    return any(height > 0 for scheme in study.schemes for height in _heights(result, figure, metric, scheme, combinations)[0])


def _heights(
    result: StudyResult, figure: Figure, metric: str, scheme: str, combinations: Sequence[tuple[str, ...]]
) -> tuple[list[float], list[float]]:
    """The scheme's values and the half widths of their intervals; not a number where there is none."""
    estimates = [_estimate(result, figure, metric, scheme, labels) for labels in combinations]
    heights = [float("nan") if estimate is None else estimate.mean for estimate in estimates]
    halves = [0.0 if estimate is None or estimate.half is None else estimate.half for estimate in estimates]
    return heights, halves


def _estimate(result: StudyResult, figure: Figure, metric: str, scheme: str, labels: tuple[str, ...]) -> Estimate | None:
    """The scheme's value; where the figure is relative to a scheme, seed by seed, as both saw the same requests."""
    estimate = result.estimate(metric, scheme, labels)
    if figure.relative_to is None or estimate is None:
        return estimate
    reference = result.estimate(metric, figure.relative_to, labels)
    if reference is None or not all(reference.values):
        return None
    return Estimate.of([value / base for value, base in zip(estimate.values, reference.values, strict=True)])


def _numbers(labels: Sequence[str]) -> list[float] | None:
    """The labels as numbers, if they are some and more than one."""
    try:
        numbers = [float(label.removesuffix("%").removeprefix("x")) for label in labels]
    except ValueError:
        return None
    return numbers if len(numbers) > 1 and all(map(math.isfinite, numbers)) else None


def _named(axis: Axis, label: str) -> str:
    """A value as a title: a word speaks for itself, a number does not."""
    return label if label[:1].isalpha() else f"{axis.name}: {label}"


def _geometric(numbers: Sequence[float]) -> bool:
    """Whether numbers spread over so much that equal factors are better seen than equal steps."""
    return min(numbers) > 0 and len(numbers) > 2 and max(numbers) / min(numbers) >= 8 and numbers[1] / numbers[0] >= 1.9


def _name_bars(panel: Axes, labels: Sequence[str]) -> None:
    long = len(labels) > 1 and max(map(len, labels)) * len(labels) > 36
    panel.set_xticks(range(len(labels)), labels, rotation=30 if long else 0, ha="right" if long else "center")
