"""Writes the report page of saved results."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ssdlab._core import write_file
from ssdlab.experiments.loading import is_sweep, load_sweep
from ssdlab.experiments.sweeping.page import page as sweep_page
from ssdlab.experiments.sweeping.point_pages import is_point, repeated, runs_of, unrecorded
from ssdlab.experiments.sweeping.tasks import ENTRY
from ssdlab.pages.report import load
from ssdlab.pages.report.late import found
from ssdlab.pages.report.page import page
from ssdlab.pages.report.runs import undamaged
from ssdlab.runs.batch import Progress
from ssdlab.system.checksums import is_changed

__all__ = ["Written", "unrecorded", "write_again"]


class Written(NamedTuple):
    """The results that a page was written from."""

    about: str
    changed: list[str]
    """Names of runs whose results were changed after ssdlab wrote them."""
    lacking: str = ""
    """Why the page lacks figures over time, if a run could not be repeated for them."""


def write_again(folder: Path, path: Path, progress: Progress | None = None) -> Written:
    """Writes the report page of the results in a folder. A point of a sweep that was not recorded over time is run again for it.

    Args:
        folder: folder of the results.
        path: the page.
        progress: callback for the progress of a run.

    Raises:
        UsageError: the folder has no results, or they are damaged or from another version.
        FileError: a file cannot be read or written.
    """
    with undamaged(folder):
        text, written = _page_of(folder, path, progress)
    write_file(path, text)
    return written


def _page_of(folder: Path, path: Path, progress: Progress | None) -> tuple[str, Written]:
    """The text of the page and the results on it. A folder of a sweep gets the page of the sweep."""
    if is_sweep(folder):
        sweep = load_sweep(folder)
        changed = [Path(point.folder or "").name for point in sweep if is_changed(point.result.to_dict())]
        return sweep_page(sweep, path.parent), Written(f"{len(sweep):,} of {len(sweep.sweep):,} points", changed)
    saved = unrecorded(folder)
    if saved is not None:
        result, lacking = repeated(folder, saved, progress)
        runs = runs_of(result, folder)
        return page(runs), Written(runs[0].label, [], lacking)
    runs = load(folder)
    if is_point(folder) and ENTRY in runs[0].data:
        runs = runs_of(runs[0].data, folder)
    return page(runs, found(runs, path)), Written(runs.compared, [run.label for run in runs if is_changed(run.data)])
