"""Runs under way: in the core's threads, each result written as soon as it is there."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ssdlab import _core
from ssdlab.checks import whole
from ssdlab.errors import Error, FileError, Interrupted
from ssdlab.plans import Setup
from ssdlab.result import Result

__all__ = ["Batch", "Job", "Log", "Progress", "execute", "prepare_folder", "write_json"]

RESULT_FILE = "result.json"
LOG_FILE = "requests.parquet"

Log = Literal["kept", "temporary"] | None
"""Whether a run logs its requests, and for how long."""

Progress = Callable[[Sequence[tuple[int, int, int, int]]], object]
"""Called with a tuple for each run: phase, requests completed, requests expected, share of the input in millionths."""


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Writes `value`, whole or not at all."""
    _core.write_file(path, json.dumps(value, indent=2) + "\n")


def prepare_folder(folder: Path, stale: Iterable[str]) -> None:
    """Makes the folder, and takes out what an earlier run left there, which would pass for a result of this one."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in stale:
            (folder / name).unlink(missing_ok=True)
    except OSError as reason:
        message = f"{folder}: cannot write: {reason.strerror}"
        raise FileError(message, reason.errno, os.fspath(folder)) from reason


@dataclass(frozen=True, kw_only=True)
class Job:
    """A run to be done: its plan, and where its result goes."""

    label: str
    plan: _core.Plan
    folder: Path | None = None
    log: Path | None = None
    keep: tempfile.TemporaryDirectory[str] | None = None
    fitted: Mapping[str, Any] | None = None
    title: str = ""

    @classmethod
    def prepare(cls, label: str, setup: Setup, scheme: str | None, *, folder: Path | None, log: Log = None) -> Job:
        """Checks everything that can be checked before the run; touches no file but a temporary folder for the log.

        Args:
            label: what the run is called among others.
            setup: what is simulated.
            scheme: under which scheme.
            folder: where the result goes.
            log: whether a row for each request is logged: `"kept"` with the result, or `"temporary"`, for as long as the result lives.
        """
        keep = tempfile.TemporaryDirectory(prefix="ssdlab-") if log == "temporary" or (log and folder is None) else None
        place = Path(keep.name) if keep is not None else folder
        file = place / LOG_FILE if log and place is not None else None
        return cls(
            label=label,
            plan=setup.plan(scheme, file),
            folder=folder,
            log=file,
            keep=keep,
            fitted=setup.fitted(scheme),
            title=setup.title(scheme),
        )

    def result(self, text: str) -> Result:
        """The result that the core returned as `text`."""
        data = json.loads(text)
        if self.fitted is not None:
            data["fit"] = dict(self.fitted)
        return Result(data, log=self.log, keep=self.keep, title=self.title)


@dataclass
class Batch:
    """What became of some jobs, by label."""

    finished: dict[str, Result] = field(default_factory=dict)
    failed: dict[str, Error] = field(default_factory=dict)
    interrupt: BaseException | None = None

    def raise_failure(self) -> None:
        """Raises what went wrong, if anything did, with the finished results attached."""
        if isinstance(self.interrupt, KeyboardInterrupt):
            raise Interrupted(self.finished) from self.interrupt
        for error in [self.interrupt, *self.failed.values()]:
            if isinstance(error, Error):
                error.finished = self.finished
            if error is not None:
                raise error


def execute(jobs: Sequence[Job], *, workers: int | None = None, progress: Progress | None = None) -> Batch:
    """Runs the jobs, at most `workers` at once (as many as there are processors). Does not raise what the runs raise."""
    for job in jobs:
        if job.folder is not None:
            prepare_folder(job.folder, [RESULT_FILE, LOG_FILE])
    batch = Batch()

    def finished(index: int, outcome: str | Exception) -> None:
        job = jobs[index]
        if isinstance(outcome, str):
            result = job.result(outcome)
            if job.folder is not None:
                write_json(job.folder / RESULT_FILE, result.to_dict())
            batch.finished[job.label] = result

    plans = [job.plan for job in jobs]
    workers = len(os.sched_getaffinity(0)) if workers is None else min(whole("jobs", workers, least=1), len(jobs))
    outcomes, batch.interrupt = _core.run_many(plans, jobs=workers, progress=progress, finished=finished)
    for job, outcome in zip(jobs, outcomes, strict=True):
        if isinstance(outcome, Error):
            batch.failed[job.label] = outcome
        if job.label not in batch.finished and job.folder is not None:
            _remove_if_empty(job.folder)
    # in the order in which they were asked for, not in which they ended
    batch.finished = {job.label: batch.finished[job.label] for job in jobs if job.label in batch.finished}
    return batch


def _remove_if_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()
