"""The functions of studies: which there are, running one, collecting results."""

from __future__ import annotations

import os
from pathlib import Path

from ssdlab.checks import path, text, truth
from ssdlab.study import library, report
from ssdlab.study.result import StudyResult
from ssdlab.study.running import prepare, run

__all__ = ["run_study", "studies", "study_report"]

Path_ = str | os.PathLike[str]


def studies() -> dict[str, str]:
    """The studies that come with the package: a title for each name."""
    return {name: library.load(name).title for name in library.shipped()}


def run_study(
    name: Path_, *, quick: bool = False, jobs: int | None = None, out: Path_ | None = None, traces: Path_ | None = None
) -> StudyResult:
    """Runs a published experiment again, and compares what was measured with what was published.

    Args:
        name: a study (`studies()`), or a file of one's own that ends with `.toml`.
        quick: a first look, with fewer requests and seeds.
        jobs: runs at once, as many as there are processors by default. It does not change any result.
        out: a folder that gets `PAPER/STUDY` with the result, the figure, and the results of all runs.
        traces: a folder to look for traces in.

    Raises:
        ssdlab.Error: if the study cannot be read or run. Runs that fail do not raise: they are in `result.failed`.
        ssdlab.Interrupted: Ctrl-C. What had finished is in `out`.
    """
    prepared = prepare(
        library.load(text("name", os.fspath(path("name", name)))),
        quick=truth("quick", quick),
        out=None if out is None else Path(path("out", out)),
        traces=None if traces is None else Path(path("traces", traces)),
    )
    return run(prepared, workers=jobs)


def study_report(folder: Path_, page: Path_) -> int:
    """Collects the studies that were run into `folder` into pages; returns how many studies there are.

    Args:
        folder: the folder that studies were run into.
        page: `.html` for one page with its figures in it, `.md` for one with figures beside it, or a folder (a name without an ending)
            for a page for each paper and one that compares published and measured numbers. `effects.csv`, beside the page or in the
            folder, has all published numbers with what was measured and the grade.

    Raises:
        ssdlab.Error: if there are no results, or the page has another ending.
    """
    return report.write(Path(path("folder", folder)), Path(path("page", page)))
