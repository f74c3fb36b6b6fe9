"""`ssdlab.load`: saved results, as if they had just been simulated."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ssdlab.batch import COMPARISON_FILE, LOG_FILE, RESULT_FILE
from ssdlab.checks import path
from ssdlab.errors import UsageError
from ssdlab.report.runs import saved_in, title_of, undamaged
from ssdlab.result import Comparison, Result
from ssdlab.sweeping.definition import Point
from ssdlab.sweeping.definition import load as load_definition
from ssdlab.sweeping.result import SweepPoint, SweepResult
from ssdlab.sweeping.running import DEFINITION_FILE

__all__ = ["is_sweep", "load", "load_sweep"]


def load(folder: str | os.PathLike[str]) -> Result | Comparison | SweepResult:
    """Gives back the results that were saved in a folder, with their logs of requests and their figures.

        comparison = ssdlab.load("results/first")
        comparison.plot.latency_tail(width="3.4in").save("tail.pdf")

    Args:
        folder: what `ssdlab run`, `compare` or `sweep` wrote with `--out`, or `run`, `compare` or `sweep` with `out=`.

    Returns:
        A `Result` of a run, a `Comparison` of several schemes, a `SweepResult` of a sweep; points of it that are not there are its `left`.

    Raises:
        UsageError: there are no results, or they are damaged or those of another version.
        FileError: a file cannot be read.
    """
    place = Path(path("folder", folder))
    with undamaged(place):
        if is_sweep(place):
            return load_sweep(place)
        file, data = saved_in(place)
        if file.name == RESULT_FILE:
            return _result(data, place)
        runs = {scheme: _result(run, place / scheme) for scheme, run in data["runs"].items()}
        return Comparison(runs, saved={key: entry for key, entry in data.items() if key != "runs"}, source=place)


def _result(data: Mapping[str, Any], folder: Path) -> Result:
    log = folder / LOG_FILE
    return Result(data, log=log if log.is_file() else None, title=title_of(data), source=folder)


def is_sweep(folder: Path) -> bool:
    """Whether it holds what `ssdlab sweep` wrote, and not the results of a run or comparison beside such a file."""
    return (folder / DEFINITION_FILE).is_file() and not any((folder / name).exists() for name in (COMPARISON_FILE, RESULT_FILE))


def load_sweep(folder: Path) -> SweepResult:
    """The sweep in a folder; points whose results are not there are its `left`."""
    sweep = load_definition(folder / DEFINITION_FILE)
    points: list[SweepPoint] = []
    left: list[Point] = []
    for point in sweep.points():
        place = folder / point.folder
        if not (place / RESULT_FILE).exists():
            left.append(point)
            continue
        _, data = saved_in(place)
        points.append(SweepPoint(dict(point.values), _result(data, place), place))
    if not points:
        raise UsageError(f"{folder}: a sweep without results (`ssdlab sweep {folder / DEFINITION_FILE} --out DIR` makes them)")
    return SweepResult(sweep, points, left=left, folder=folder)
