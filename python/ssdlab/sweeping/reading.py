"""A sweep's results, read again from its folder."""

from __future__ import annotations

from pathlib import Path

from ssdlab.batch import COMPARISON_FILE, RESULT_FILE
from ssdlab.errors import UsageError
from ssdlab.report.runs import read_result
from ssdlab.result import Result
from ssdlab.sweeping.definition import Point, load
from ssdlab.sweeping.result import SweepPoint, SweepResult
from ssdlab.sweeping.running import DEFINITION_FILE

__all__ = ["is_sweep", "read"]


def is_sweep(folder: Path) -> bool:
    """Whether it holds what `ssdlab sweep` wrote."""
    others = (RESULT_FILE, COMPARISON_FILE)
    return (folder / DEFINITION_FILE).is_file() and not any((folder / name).exists() for name in others)


def read(folder: Path) -> SweepResult:
    """The sweep in a folder; points whose results are not there are its `left`.

    Raises:
        UsageError: there are no results, or one is damaged or that of another version.
        FileError: a file cannot be read.
    """
    sweep = load(folder / DEFINITION_FILE)
    points: list[SweepPoint] = []
    left: list[Point] = []
    for point in sweep.points():
        file = folder / point.folder / RESULT_FILE
        if file.exists():
            points.append(SweepPoint(dict(point.values), Result(read_result(file)), file.parent))
        else:
            left.append(point)
    if not points:
        raise UsageError(f"{folder}: a sweep of which no point has a result (`ssdlab sweep` with --resume makes them)")
    return SweepResult(sweep, points, left=left, folder=folder)
