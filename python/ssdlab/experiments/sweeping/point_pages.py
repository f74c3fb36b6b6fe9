"""The page of a single point of a sweep: the same as that of a run. A point that was not recorded over time is run again for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ssdlab.analysis.remarks import named
from ssdlab.asking.plans import Loaded
from ssdlab.errors import Error
from ssdlab.experiments.sweeping.definition import load
from ssdlab.experiments.sweeping.points import SweepPoint
from ssdlab.experiments.sweeping.tasks import ENTRY, Task, difference
from ssdlab.pages.report import write
from ssdlab.pages.report.runs import Runs, read_result
from ssdlab.runs.batch import REPORT_FILE, RESULT_FILE, Progress, execute
from ssdlab.system.checksums import is_changed
from ssdlab.system.folders import DEFINITION_FILE, settle

__all__ = ["Repeated", "is_point", "repeated", "runs_of", "unrecorded", "write_missing"]

Repeated = tuple[Mapping[str, Any], str]
"""The result of a point, recorded over time, and an empty text; or its saved result and why it could not be run again."""


def write_missing(points: Iterable[SweepPoint], fresh: Iterable[str]) -> None:
    """Writes the pages of points that were recorded over time: of those that were just run, and where there is none."""
    new = set(fresh)
    for point in points:
        place = point.folder
        if place is not None and "series" in point.result and (place.name in new or not (place / REPORT_FILE).exists()):
            write(runs_of(point.result.to_dict(), place), place / REPORT_FILE)


def runs_of(result: Mapping[str, Any], folder: Path | None) -> Runs:
    """A point as a run of the report, named by its values."""
    return Runs.of({named(result[ENTRY]["point"]): result}, source=folder)


def is_point(folder: Path) -> bool:
    """Whether a folder holds the result of a point of a sweep."""
    return (folder.absolute().parent / DEFINITION_FILE).is_file() and (folder / RESULT_FILE).is_file()


def unrecorded(folder: Path) -> Mapping[str, Any] | None:
    """The result of a point that was not recorded over time, and that is as ssdlab wrote it; `None` for other folders.

    Raises:
        ssdlab.Error: the result cannot be read.
    """
    if not is_point(folder):
        return None
    settle(folder.absolute().parent)
    data = read_result(folder / RESULT_FILE)
    return data if ENTRY in data and "series" not in data and not is_changed(data) else None


def repeated(folder: Path, saved: Mapping[str, Any], progress: Progress | None = None) -> Repeated:
    """Runs a point again, recorded over time.

    Args:
        folder: the folder of the point, in that of its sweep.
        saved: its result. The repeated run must have the same digest.
        progress: callback for the progress of the run.

    Raises:
        ssdlab.Interrupted: Ctrl-C.
    """
    try:
        sweep = load(folder.absolute().parent / DEFINITION_FILE)
        point = next((point for point in sweep.points() if point.folder == folder.absolute().name), None)
        if point is None:
            return saved, f"{DEFINITION_FILE} has no such point any more"
        rate = Loaded(saved["config"]["workload"]["time_scale"], saved["capacity"]) if "capacity" in saved else None
        task = Task.of(replace(point, series=True, loaded=rate), None)
        other = difference(task.asked, saved)
        if other is not None:
            return saved, f"it would be another run now ({other})"
        batch = execute([task.job], workers=1, progress=progress)
    except Error as error:
        return saved, str(error)
    if batch.failed:
        return saved, str(batch.failed[point.folder])
    batch.raise_failure()
    result = batch.finished[point.folder]
    return (result, "") if result["digest"] == saved["digest"] else (saved, "the run now has another digest")
