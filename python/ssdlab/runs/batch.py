"""Executes runs in threads of the core, and writes each result as soon as it is complete."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from ssdlab import _core
from ssdlab.analysis import remarks
from ssdlab.asking.fio import Flows
from ssdlab.asking.plans import SPARE_KEY, Setup, Slowest, Timeline, as_fitted, memory_of
from ssdlab.checks import truth, whole
from ssdlab.errors import Error, Interrupted, StoppedError, UsageError
from ssdlab.runs import fio_jobs, scaled
from ssdlab.runs.result import Result
from ssdlab.system.folders import (
    BLOCKS_FILE,
    COMPARISON_FILE,
    LOG_FILE,
    REPORT_FILE,
    RESULT_FILE,
    SLOWEST_FILE,
    TIMELINE_FILE,
    ResultFolder,
    file_errors,
    final,
    make_folder,
    replaced_with,
    write_json,
)
from ssdlab.system.inputs import Held
from ssdlab.system.platforms import free_memory, processors

if TYPE_CHECKING:
    from ssdlab import queueing

__all__ = [
    "COMPARISON_FILE",
    "LOG_FILE",
    "REPORT_FILE",
    "RESULT_FILE",
    "TIMELINE_FILE",
    "AnyJob",
    "Batch",
    "Job",
    "Log",
    "Pairs",
    "Progress",
    "QueueingJob",
    "check_apart",
    "claim",
    "execute",
    "keep",
    "runs_at_once",
    "write_json",
]

WRITTEN = (RESULT_FILE, LOG_FILE, REPORT_FILE, TIMELINE_FILE, SLOWEST_FILE, BLOCKS_FILE)
"""Files written to the folder of a run."""

OF_PRESETS: Mapping[str, str] = MappingProxyType({"one-handle": "ftl.placement"})
"""Remarks that conclude from a key, by code, which a reader only needs who set the key."""
Log = Literal["kept", "temporary"] | None
"""Whether a run logs its requests: not at all (`None`), for a temporary comparison, or kept with the result."""

Progress = Callable[[Sequence[tuple[int, int, int, int]]], object]
"""A callback with a tuple of progress for each run, as `_core.pyi` describes it."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """A run to execute: its plan, and the folder of its result."""

    label: str
    plan: _core.Plan
    folder: Path | None = None
    log: Path | None = None
    keep: tempfile.TemporaryDirectory[str] | None = None
    title: str = ""
    entries: Mapping[str, Any] = field(default_factory=dict)
    """Entries to add to the core's result, such as `fit` and `command`."""
    idle: Mapping[str, str] = field(default_factory=dict)
    """Keys set by hand that have no effect in the run, each with what it needs."""
    page: Path | None = None
    """Page to make from the timeline, which is temporary then."""
    staged: tempfile.TemporaryDirectory[str] | None = None
    """Folder of a temporary timeline."""
    base: str | None = None
    """Label of the run whose requests this run's are compared with, one by one. Both need logs; temporary logs are removed afterwards."""
    tolerance: float = 0.0
    """Relative change of a response time, from 0, that counts as no change when requests are compared one by one."""
    alike: bool = False
    """Whether the drive was given the size of others that it is compared with."""
    spare_is_set: bool = False
    """Whether the over-provisioning was set by hand."""
    shipped_remarks: frozenset[str] = frozenset()
    """Codes of remarks that would be about what a preset of ssdlab is, and are left out."""
    jobs: Flows | None = None
    """The jobs of fio that the run has, if any."""
    device: str | None = None
    """The preset or file of the drive."""
    fio_json: Path | None = None
    """File for the result in the JSON form of fio."""
    held: Mapping[str, Held] = field(default_factory=dict)
    """Copies of inputs of the run that cannot be read a second time, such as pipes."""
    reduced: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    """What makes the entries that are kept of all entries of the result; `None` to keep all."""

    @property
    def series(self) -> bool:
        """Whether the run logs its requests."""
        return self.log is not None

    @classmethod
    def prepare(
        cls,
        label: str,
        setup: Setup,
        scheme: str | None,
        *,
        folder: Path | None,
        log: Log = None,
        timeline: Timeline | None = None,
        blocks: bool = False,
        save_state: Path | None = None,
        slowest: Slowest | None = None,
        fio_json: Path | None = None,
        base: str | None = None,
        tolerance: float = 0.0,
    ) -> Job:
        """Checks a run as far as possible before it starts. Creates no file except a temporary folder for the log.

        Args:
            label: name of the run in the batch.
            setup: the simulated drive and workload.
            scheme: the scheme, or `None` for the defaults.
            folder: folder of the result, or `None` to keep the result in memory only.
            log: whether to log a row for each request: `"kept"` with the result, or `"temporary"`, until the result is dropped.
            timeline: the timeline to write, if any.
            blocks: whether to record the states of blocks over time, in `folder`.
            save_state: file for the state of the device after the run, if any.
            slowest: the slowest requests to explain, if any.
            fio_json: file for the result in the JSON form of fio, if any. It needs a log.
            base: label of the run to pair this run with, if any.
            tolerance: relative change of a response time that counts as no change in that pairing.
        """
        keep = _temporary() if log == "temporary" or (log and folder is None) else None
        place = Path(keep.name) if keep is not None else folder
        file = place / LOG_FILE if log and place is not None else None
        if truth("blocks", blocks) and folder is None:
            raise UsageError("blocks (--blocks) needs out (--out DIR): blocks.parquet goes there")
        page, staged = None, None
        if timeline is not None and timeline.file.suffix == ".html":
            page, staged = timeline.file, _temporary()
            with file_errors("write", page):
                page.parent.stat()
            timeline = timeline._replace(file=Path(staged.name) / TIMELINE_FILE)
        states = folder / BLOCKS_FILE if blocks and folder is not None else None
        # first, since it checks the options that the rest depends on
        plan = setup.plan(scheme, file, timeline, save_state, slowest, states)
        fit = setup.fitted(scheme)
        capacity = None if setup.loaded_as is None else dict(setup.loaded_as.entry)
        entries = {"fit": fit, "capacity": capacity, "command": setup.command(scheme)}
        written = [
            *([] if fio_json is None else [fio_json]),
            *([] if folder is None else [final(folder) / name for name in WRITTEN]),
            *replaced_with(folder),
        ]
        check_apart(setup.inputs(plan.config), written, page or (timeline and final(timeline.file)), save_state)
        return cls(
            label=label,
            plan=plan,
            folder=folder,
            log=file,
            keep=keep,
            page=page,
            staged=staged,
            title=", ".join(as_fitted(setup.title_parts(scheme), fit)),
            entries={key: value for key, value in entries.items() if value is not None},
            idle=setup.idle(plan.config),
            base=base,
            tolerance=tolerance,
            alike=setup.fitted_as is not None,
            spare_is_set=any(key == SPARE_KEY for key, _ in setup.set),
            shipped_remarks=frozenset(code for code, key in OF_PRESETS.items() if setup.leaves_to_presets(key, scheme)),
            jobs=setup.fio(scheme),
            device=setup.options["device"],
            fio_json=fio_json,
            held=setup.held,
        )

    def result(self, text: str) -> Result:
        """Builds the result from the core's JSON text."""
        data = {**json.loads(text), **self.entries}
        more = [*remarks.of_fit(data["fit"], alike=self.alike)] if "fit" in data else []
        more += remarks.of_preparation(data, spare_is_set=self.spare_is_set)
        more += remarks.of_capacity(data["capacity"]) if "capacity" in data else []
        more += scaled.remarks_of(self.device, data)
        more += remarks.of_pacing(data.get("config", {}))
        if self.jobs is not None:
            more += remarks.of_fio(self.jobs.file, self.jobs.ignored, self.jobs.differs)
            more += fio_jobs.remarks_of(self.jobs, self.device, data)
        own = [entry for entry in data.get("remarks", ()) if entry["code"] not in self.shipped_remarks]
        data["remarks"] = [*own, *remarks.as_dicts(more)]
        if "timeline" in data:
            data["timeline"]["file"] = os.fspath(self.page or final(Path(data["timeline"]["file"])))
        if "blocks" in data:
            data["blocks"]["file"] = os.fspath(final(Path(data["blocks"]["file"])))
        data = data if self.reduced is None else self.reduced(data)
        return Result(data, log=self.log, keep=self.keep, title=self.title)

    def write_page(self, result: Result) -> None:
        """Writes the page of the timeline, if it was asked for, and removes the timeline that it is made from."""
        if self.page is None or self.staged is None:
            return
        from ssdlab.pages import timelines  # noqa: PLC0415 (it takes longer than many runs)

        blocks = self.folder / BLOCKS_FILE if self.folder is not None and "blocks" in result.to_dict() else None
        with self.staged as folder:
            sources = timelines.Sources(self.title or self.label, Path(folder) / TIMELINE_FILE, blocks, result.to_dict())
            timelines.write(sources, self.page)

    def write_fio_json(self, result: Result) -> None:
        """Writes the result in the JSON form of fio, if it was asked for."""
        if self.fio_json is not None:
            write_json(self.fio_json, self.as_fio(result))

    def as_fio(self, result: Result) -> dict[str, Any]:
        """The result in the JSON form of fio."""
        from ssdlab.runs.fio_json import fio_json  # noqa: PLC0415 (it takes longer than many runs)

        if self.jobs is None:
            raise ValueError(f"{self.label} has no jobs of fio")
        return fio_json(result, self.jobs)


def _temporary() -> tempfile.TemporaryDirectory[str]:
    """Creates a temporary folder, below TMPDIR, for a log that is not kept."""
    with file_errors("write", Path(os.environ.get("TMPDIR", "/tmp"))):
        return tempfile.TemporaryDirectory(prefix="ssdlab-")


@dataclass(frozen=True, kw_only=True)
class QueueingJob:
    """A run of the queueing model to execute: experiment, priority, and the folder of the result."""

    label: str
    experiment: queueing.Experiment
    priority: str
    folder: Path | None = None
    series: bool = False

    @classmethod
    def prepare(cls, label: str, experiment: queueing.Experiment, priority: str, *, folder: Path | None, series: bool) -> QueueingJob:
        """Checks a run as far as possible before it starts, by serving a single request."""
        if experiment.requests is not None:
            whole("requests", experiment.requests, least=1)
        experiment.hold_inputs()
        replace(experiment, requests=1).run(priority)
        return cls(label=label, experiment=experiment, priority=priority, folder=folder, series=series)

    def run(self, progress: Progress) -> queueing.QueueingResult:
        """Executes the run."""
        experiment = replace(self.experiment)  # a copy: the requests that it keeps for further runs are freed with it
        return experiment.run(self.priority, series=self.series, progress=progress)


AnyJob = Job | QueueingJob


@dataclass
class Batch:
    """The outcome of a batch of jobs, by label."""

    finished: dict[str, Any] = field(default_factory=dict)
    failed: dict[str, Error] = field(default_factory=dict)
    interrupt: BaseException | None = None

    def settle(self) -> None:
        """Updates the paths of logs after the results were moved to their folder."""
        for result in self.finished.values():
            if isinstance(result, Result):
                result.settle_log()

    def raise_failure(self) -> None:
        """Raises the error of a run or the interrupt, if any, with the finished results attached."""
        if isinstance(self.interrupt, KeyboardInterrupt):
            raise Interrupted(self.finished) from self.interrupt
        for error in [self.interrupt, *self.failed.values()]:
            if isinstance(error, Error):
                error.finished = self.finished
            if error is not None:
                raise error


def execute(
    jobs: Sequence[AnyJob], *, workers: int | None = None, progress: Progress | None = None, out: ResultFolder | None = None
) -> Batch:
    """Executes jobs, at most `workers` at once, and writes their results into `out`.

    By default there is one at once per processor, but no more than fit into the free memory, and at least one.

    Errors of runs are not raised; they are in the returned batch.
    """
    if out is not None:
        out.claim(job.folder / name for job in jobs if job.folder is not None for name in WRITTEN)
    for job in jobs:
        if job.folder is not None:
            make_folder(job.folder)
    batch = Batch()
    workers = (
        runs_at_once(job.plan.config for job in jobs if isinstance(job, Job))
        if workers is None
        else min(whole("jobs", workers, least=1), len(jobs))
    )
    told = _BatchProgress(len(jobs), progress)
    _run_drives(batch, {index: job for index, job in enumerate(jobs) if isinstance(job, Job)}, workers, told)
    if batch.interrupt is None:
        _run_queues(batch, {index: job for index, job in enumerate(jobs) if isinstance(job, QueueingJob)}, workers, told)
    for job in jobs:
        if job.label not in batch.finished and job.folder is not None:
            _remove_if_empty(job.folder)
    # in the order of `jobs`, not of completion
    batch.finished = {job.label: batch.finished[job.label] for job in jobs if job.label in batch.finished}
    return batch


def runs_at_once(configs: Iterable[_core.Config]) -> int:
    """The number of runs at once: one per processor, or as many of the largest as fit into the free memory."""
    most, free = processors(), free_memory()
    needed = max(map(memory_of, configs), default=0)
    return most if free is None or not needed else max(1, min(most, free // needed))


class _BatchProgress:
    """Progress of all runs of a batch, reported by several threads, each for some of the runs."""

    def __init__(self, runs: int, progress: Progress | None) -> None:
        self._progress = progress
        self._states = [(-1, 0, 0, 0)] * runs
        self._lock = threading.Lock()

    def by(self, indices: Iterable[int]) -> Progress | None:
        """A callback for the progress of the runs at `indices`; `None` if no progress is wanted."""
        progress, places = self._progress, list(indices)
        if progress is None:
            return None

        def tell(states: Sequence[tuple[int, int, int, int]]) -> None:
            with self._lock:
                for place, state in zip(places, states, strict=True):
                    self._states[place] = state
                progress(list(self._states))

        return tell


def _run_drives(batch: Batch, jobs: Mapping[int, Job], workers: int, told: _BatchProgress) -> None:
    """Executes runs of the drive in threads of the core."""
    ordered = list(jobs.values())
    pairs = Pairs(ordered)

    def finished(index: int, outcome: str | Exception) -> None:
        job = ordered[index]
        for other, result in pairs.settled(job, job.result(outcome) if isinstance(outcome, str) else None):
            _keep(batch, other, result)

    plans = [job.plan for job in ordered]
    outcomes, batch.interrupt = _core.run_many(plans, jobs=workers, progress=told.by(jobs), finished=finished)
    for other, result in pairs.left():
        _keep(batch, other, result)
    for job, outcome in zip(ordered, outcomes, strict=True):
        if isinstance(outcome, Error):
            batch.failed[job.label] = outcome


class Pairs:
    """Pairs results with the result that they are compared with, and holds them until it is complete.

    A temporary log is removed after the last comparison that needs it, so that logs do not accumulate.
    """

    def __init__(self, jobs: Iterable[Job]) -> None:
        self._due = Counter(job.base for job in jobs if job.base is not None)
        """Number of comparisons still due with each run, by its label."""
        self._bases: dict[str, Result | None] = {}
        """Finished runs that comparisons are still due with, by label; `None` for a run that failed."""
        self._waiting: dict[str, list[tuple[Job, Result]]] = {}

    def settled(self, job: Job, result: Result | None) -> Iterator[tuple[Job, Result]]:
        """The results that are complete now that `job` has ended with `result`; `None` means that it failed."""
        if job.base is not None:
            if result is None:
                self._compared(job.base)
            elif job.base in self._bases:
                yield job, self._paired(job, result)
            else:
                self._waiting.setdefault(job.base, []).append((job, result))
            return
        if self._due[job.label]:
            self._bases[job.label] = result
        if result is not None:
            yield job, result
        for other, waiting in self._waiting.pop(job.label, []):
            yield other, self._paired(other, waiting)

    def left(self) -> Iterator[tuple[Job, Result]]:
        """The results that wait for a run which never ended, without a comparison."""
        for job, result in itertools.chain.from_iterable(self._waiting.values()):
            result.drop_log()
            yield job, result

    def _paired(self, job: Job, result: Result) -> Result:
        if job.base is None:
            raise ValueError(f"{job.label} is not to be paired with any run")
        base = self._bases[job.base]
        if base is not None:
            result.pair_with(base, job.tolerance)
        result.drop_log()
        self._compared(job.base)
        return result

    def _compared(self, label: str) -> None:
        self._due[label] -= 1
        if not self._due[label]:
            base = self._bases.pop(label, None)
            if base is not None:
                base.drop_log()


def _run_queues(batch: Batch, jobs: Mapping[int, QueueingJob], workers: int, told: _BatchProgress) -> None:
    """Executes runs of the queueing model in Python threads that call the core.

    Ctrl-C interrupts the main thread; the others stop at their next report of progress.
    """
    stop = threading.Event()

    def run(index: int, job: QueueingJob) -> queueing.QueueingResult:
        tell = told.by([index])

        def progress(states: Sequence[tuple[int, int, int, int]]) -> None:
            if stop.is_set():
                raise StoppedError("the run is to stop")
            if tell is not None:
                tell(states)

        return job.run(progress)

    if not jobs:
        return
    # imported here because runs of the drive do not need it
    from concurrent.futures import ThreadPoolExecutor, as_completed  # noqa: PLC0415

    with ThreadPoolExecutor(workers) as pool:
        futures = {pool.submit(run, index, job): job for index, job in jobs.items()}
        try:
            for future in as_completed(futures):
                try:
                    result = future.result()
                except Error as error:
                    batch.failed[futures[future].label] = error
                else:
                    _keep(batch, futures[future], result)
        except BaseException as interrupt:  # as in the core, the caller raises whatever ended the wait
            batch.interrupt = interrupt
            stop.set()
            pool.shutdown(cancel_futures=True)


def _keep(batch: Batch, job: AnyJob, result: Result | queueing.QueueingResult) -> None:
    keep(job, result)
    batch.finished[job.label] = result


def claim(job: Job, out: ResultFolder) -> None:
    """Creates the folder of a job, if it has one, as a part of `out`."""
    if job.folder is not None:
        out.claim(job.folder / name for name in WRITTEN)
        make_folder(job.folder)


def keep(job: AnyJob, result: Result | queueing.QueueingResult) -> None:
    """Writes the result of a job to its folder, if it has one."""
    if job.folder is not None:
        if isinstance(result, Result):
            result.seal()
        write_json(job.folder / RESULT_FILE, result.to_dict())


def check_apart(
    inputs: Iterable[str | os.PathLike[str]], written: Sequence[Path], timeline: Path | None = None, save_state: Path | None = None
) -> None:
    """Refuses output paths that coincide with each other or with an input of the run, which would be overwritten."""
    places = set(map(_place, written))
    if timeline is not None and timeline.name != TIMELINE_FILE and _place(timeline) in places:
        raise UsageError(f"{timeline}: the results go there: choose another name for the timeline")
    if timeline is not None:
        places.add(_place(timeline))
    if save_state is not None and _place(save_state) in places:
        raise UsageError(f"{save_state}: another file of the run goes there: choose another name for the saved state")
    if save_state is not None:
        places.add(_place(save_state))
    for file in inputs:
        if _place(file) in places:
            raise UsageError(f"{os.fspath(file)} is what the run reads, and would be written over: choose another folder or name")


def _place(file: str | os.PathLike[str]) -> str:
    """The path of a file with links resolved, as far as a loop of links allows."""
    return os.path.realpath(file)


def _remove_if_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()
