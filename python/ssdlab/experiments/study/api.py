"""The public functions of studies: list, run and report."""

from __future__ import annotations

import os
from pathlib import Path

from ssdlab.checks import path, text, truth
from ssdlab.experiments.study import library, report
from ssdlab.experiments.study.result import StudyResult
from ssdlab.experiments.study.running import prepare, run

__all__ = ["run_study", "studies", "study_report"]

Path_ = str | os.PathLike[str]


def studies() -> dict[str, str]:
    """The studies that come with the package: a title for each name."""
    return {name: library.load(name).title for name in library.shipped()}


def run_study(
    name: Path_, *, quick: bool = False, jobs: int | None = None, out: Path_ | None = None, traces: Path_ | None = None
) -> StudyResult:
    """Runs a published experiment again, and compares the measured values with the published ones.

    Args:
        name: name of a study (`studies()`), or a file that ends with `.toml`.
        quick: run fewer requests and seeds, for a first look.
        jobs: maximum number of runs at once (default: one per processor). It does not change any result.
        out: folder for the results; its subfolder `PAPER/STUDY` gets the result, the figure, and the results of all runs.
        traces: folder to search for traces.

    Raises:
        ssdlab.Error: the study cannot be read or run. Runs that fail do not raise; they are in `result.failed`.
        ssdlab.Interrupted: Ctrl-C. The results of finished runs are in `out`.
    """
    prepared = prepare(
        library.load(text("name", os.fspath(path("name", name)))),
        quick=truth("quick", quick),
        out=None if out is None else Path(path("out", out)),
        traces=None if traces is None else Path(path("traces", traces)),
        workers=jobs,
    )
    return run(prepared, workers=jobs)


def study_report(folder: Path_, page: Path_) -> int:
    """Collects the results of the studies in `folder` into pages; returns the number of studies.

    Args:
        folder: folder with the results of studies.
        page: `.html` for one page with embedded figures, `.md` for one page with figures beside it, or a folder (a name without an ending)
            for a page for each paper and one that compares published and measured numbers. `effects.csv`, beside the page or in the folder,
            has all published numbers with the measured numbers and grades.

    Raises:
        ssdlab.Error: there are no results, or `page` has another ending.
    """
    return report.write(Path(path("folder", folder)), Path(path("page", page)))
