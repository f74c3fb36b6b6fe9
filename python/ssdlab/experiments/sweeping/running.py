"""Runs a sweep: every point is checked before the first run, existing results can be kept, and tables are written."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from ssdlab import _core
from ssdlab.analysis.remarks import named
from ssdlab.checks import shown, whole
from ssdlab.errors import Error, StoppedError, UsageError
from ssdlab.experiments.sweeping import columns, questions, screening
from ssdlab.experiments.sweeping.definition import Point, Sweep
from ssdlab.experiments.sweeping.doubts import is_percentile
from ssdlab.experiments.sweeping.fitted import with_spare
from ssdlab.experiments.sweeping.loading import loaded
from ssdlab.experiments.sweeping.outcome import differ
from ssdlab.experiments.sweeping.points import SEED, SweepPoint
from ssdlab.experiments.sweeping.result import SweepResult
from ssdlab.experiments.sweeping.tasks import Task, setup_of
from ssdlab.runs.batch import REPORT_FILE, RESULT_FILE, Batch, Progress, execute
from ssdlab.runs.result import Result
from ssdlab.system.folders import DEFINITION_FILE, SWEEP_TABLES, ResultFolder

__all__ = ["DEFINITION_FILE", "ENGINES", "TABLE_FILES", "Engine", "Prepared", "prepare", "run"]

TABLE_FILES = PARQUET, CSV, MEANS_PARQUET, MEANS_CSV, COMPARISONS_CSV, PARTS_CSV = (
    *SWEEP_TABLES,
    "means.parquet",
    "means.csv",
    "comparisons.csv",
    "part_means.csv",
)
Engine = Literal["local", "ray"]
ENGINES = LOCAL, RAY = ("local", "ray")
WAITING_STATE = (-1, 0, 0, 0)
"""Progress of a run that has not begun."""


PART_KEYS = ("skip", "last", "limit_s")
"""Keys of the workload that choose a part of a trace."""
OTHER_PREPARATION = (
    'points are prepared differently, since ftl.precondition.kind = "trace" replays a trace from the start of each part to its end; '
    "to prepare all alike, run the whole trace once with --save-state FILE, and sweep with state = FILE"
)


@dataclass(frozen=True)
class Prepared:
    """A sweep with checked points, some of which may have results already."""

    sweep: Sweep
    tasks: tuple[Task, ...]
    done: Mapping[str, Result]
    out: ResultFolder
    source: Path | None
    changed: int = 0
    """Number of existing results that were changed after ssdlab wrote them, and are replaced."""
    refused: tuple[tuple[Point, Error], ...] = ()
    """Points that cannot be simulated, which the sweep leaves out."""

    @property
    def idle(self) -> list[Mapping[str, str]]:
        """Keys set by hand that have no effect, for each point."""
        return [task.job.idle for task in self.tasks]

    @property
    def preparation_lines(self) -> list[str]:
        """A line if points that replay other parts of a trace are also prepared by other parts of it."""
        configs = [task.asked["config"] for task in self.tasks if task.point.options.get("state") is None]
        of_parts = [config["workload"] for config in configs if config["ftl"]["precondition"]["kind"] == "trace"]
        differing = [key for key in PART_KEYS if len({json.dumps(workload.get(key)) for workload in of_parts}) > 1]
        return [f"{', '.join(f'workload.{key}' for key in differing)}: {OTHER_PREPARATION}"] if differing else []

    @property
    def left(self) -> tuple[Task, ...]:
        """The points to run."""
        return tuple(task for task in self.tasks if task.point.folder not in self.done)


def prepare(
    sweep: Sweep, *, out: Path | None = None, resume: bool = False, source: Path | None = None, workers: int | None = None
) -> Prepared:
    """Checks every point, and the content of the folder. Writes nothing there.

    If loads of points are shares of what drives sustain, the rates are searched for.

    Args:
        sweep: the sweep.
        out: folder for its results.
        resume: whether to keep existing results.
        source: file that defines the sweep, which must not be overwritten.
        workers: maximum number of runs at once of these searches.

    Raises:
        ssdlab.Error: a point cannot be simulated; the message names it.
        UsageError: the folder has results, and `resume` is false or they belong to another sweep.
    """
    if resume and out is None:
        raise UsageError("resume = True: expected out as well, the folder that has results")
    into = ResultFolder(out, "sweep")
    tasks: list[Task] = []
    wrong: list[tuple[Point, Error]] = []
    sources = columns.sources_of(sweep.columns)
    figures = [source for question in sweep.questions for figure in question.figures for source in sources.get(figure, (figure,))]
    counts = any(map(is_percentile, figures))
    points = [replace(point, series=out is not None and sweep.records, counted=counts) for point in sweep.points()]
    for point in points:
        try:
            if point.options.get("load") is None:
                tasks.append(Task.of(point, out))
            else:
                setup_of(point).build(point.options.get("scheme"))
        except Error as error:
            wrong.append((point, error))
    _check_refused(sweep, wrong)
    if out is not None and not resume:
        _refuse_results(out)
    if len(tasks) + len(wrong) < len(points):
        refused = {point.folder for point, _ in wrong}
        left = [point for point in points if point.folder not in refused]
        without_rate: dict[str, Error] | None = {} if sweep.leave_out_refused else None
        tasks = [Task.of(point, out) for point in loaded(sweep, left, workers=workers, refused=without_rate)]
        if without_rate:
            wrong += [(point, without_rate[point.label]) for point in left if point.label in without_rate]
            _check_refused(sweep, wrong)
    found = [(task, task.there()) for task in tasks] if resume else []
    done = {task.point.folder: result for task, result in found if result is not None}
    changed = sum(result is None and task.file.exists() for task, result in found)
    sweep = replace(sweep, questions=questions.dated(sweep.questions, sweep.axes, out, has_results=bool(done)))
    return Prepared(sweep, tuple(tasks), done, into, source, changed, tuple(wrong))


def _check_refused(sweep: Sweep, wrong: Sequence[tuple[Point, Error]]) -> None:
    """Refuses points that cannot be simulated, unless the sweep leaves them out and has others."""
    if wrong and not (sweep.leave_out_refused and len(wrong) < len(sweep)):
        point, reason = wrong[0]
        others = f" (nor can {len(wrong) - 1:,} of the other {len(sweep) - 1:,} points)" if len(wrong) > 1 else ""
        raise type(reason)(f"{sweep.name}: the point {point.label} cannot be simulated{others}: {reason}") from reason


def run(prepared: Prepared, *, workers: int | None = None, engine: str = LOCAL, progress: Progress | None = None) -> SweepResult:
    """Runs the remaining points, and writes the tables if there is a folder.

    After Ctrl-C it also writes them; the exception is then the result's `interrupt`.

    Raises:
        ssdlab.Error: no run can be started. Runs that fail are in the result.
    """
    if workers is not None:
        whole("jobs", workers, least=1)
    passing = [name for task in prepared.tasks for name in task.job.held]
    if engine == RAY and passing:
        raise UsageError(f'{passing[0]} can be read only once, and only here: engine = "ray" needs a file')
    if engine not in ENGINES:
        raise UsageError(f"engine = {shown(engine)}: expected {' or '.join(ENGINES)}")
    with prepared.out as out:
        if out.folder is not None:
            definition = out.folder / DEFINITION_FILE
            if prepared.source is None or not (definition.exists() and definition.samefile(prepared.source)):
                _core.write_file(definition, prepared.sweep.to_toml())
            if prepared.sweep.questions:
                questions.keep(prepared.sweep.questions, prepared.sweep.axes, out.folder, has_results=bool(prepared.done))
        how = partial(_execute, engine=engine, workers=workers, out=out)
        batch, dropped = _screened(prepared, how, progress) if prepared.sweep.screen else (how(prepared.left, progress=progress), {})
        if batch.interrupt is not None and not isinstance(batch.interrupt, KeyboardInterrupt):
            raise batch.interrupt
        result = _result(prepared, batch, dropped)
        if out.stage is not None and result:
            if batch.interrupt is None:
                _write_pages(result, batch)
            _write(result, out.stage)
            out.commit()
    return result


def _write_pages(result: SweepResult, batch: Batch) -> None:
    from ssdlab.experiments.sweeping import point_pages  # noqa: PLC0415 (the report takes longer to import than many runs take)

    point_pages.write_missing(result, batch.finished)


def _write(result: SweepResult, folder: Path) -> None:
    """Writes the tables and the page."""
    from ssdlab.experiments.sweeping import page  # noqa: PLC0415 (the report takes longer to import than many runs take)

    _core.write_file(folder / PARQUET, result.to_parquet())
    _core.write_file(folder / CSV, result.to_csv())
    if result.means:
        _core.write_file(folder / MEANS_PARQUET, result.to_parquet(means=True))
        _core.write_file(folder / MEANS_CSV, result.to_csv(means=True))
    if result.part_means:
        _core.write_file(folder / PARTS_CSV, result.to_csv(parts=True))
    if result.sweep.questions:
        _core.write_file(folder / COMPARISONS_CSV, result.to_csv(comparisons=True))
    page.write(result, folder / REPORT_FILE)


def _screened(prepared: Prepared, how: Callable[..., Batch], progress: Progress | None) -> tuple[Batch, dict[str, int]]:
    """Runs the points round by round, without those that were dropped; returns these with the number of seeds that they have."""
    screen = prepared.sweep.screen
    assert screen is not None
    whole, dropped = Batch(), dict[str, int]()
    order = {task.point.folder: place for place, task in enumerate(prepared.left)}
    states = [WAITING_STATE] * len(order)
    seeds = [value.value for value in prepared.sweep.axes[-1].values]
    rounds, had = list(screen.rounds(seeds)), 0
    for number, of_round in enumerate(rounds, 1):
        tasks = [task for task in prepared.left if task.point.values[SEED] in of_round and _name_but_seed(task.point) not in dropped]

        def tell(now: Sequence[tuple[int, int, int, int]], tasks: Sequence[Task] = tasks) -> None:
            for task, state in zip(tasks, now, strict=True):
                states[order[task.point.folder]] = state
            if progress is not None:
                progress(list(states))

        batch = how(tuple(tasks), progress=tell)
        whole.finished |= batch.finished
        whole.failed |= batch.failed
        whole.interrupt = batch.interrupt
        had += len(of_round)
        if batch.interrupt is not None or number == len(rounds):
            break
        there = {**prepared.done, **whole.finished}
        points = [
            SweepPoint(dict(task.point.values), there[task.point.folder])
            for task in prepared.tasks
            if task.point.folder in there and task.point.values[SEED] in seeds[:had] and _name_but_seed(task.point) not in dropped
        ]
        dropped |= {named(point.values): had for point in screening.worse(screen, SweepResult(prepared.sweep, points).groups, differ)}
    return whole, dropped


def _name_but_seed(point: Point) -> str:
    """The name of a point over its seeds."""
    return named({axis: value for axis, value in point.values.items() if axis != SEED})


def _execute(tasks: tuple[Task, ...], engine: str, workers: int | None, progress: Progress | None, out: ResultFolder) -> Batch:
    if not tasks:
        return Batch()
    if engine == LOCAL:
        return execute([task.job for task in tasks], workers=workers, progress=progress, out=out)
    from ssdlab.experiments.sweeping import remote  # noqa: PLC0415 (Ray need not be installed)

    return remote.execute(tasks, workers=workers, progress=progress)


def _result(prepared: Prepared, batch: Batch, dropped: Mapping[str, int]) -> SweepResult:
    finished = {**prepared.done, **batch.finished}
    failed = [(task.point, batch.failed[task.point.folder]) for task in prepared.tasks if task.point.folder in batch.failed]
    if batch.interrupt is not None:  # runs that were requested to stop have not failed
        failed = [(point, error) for point, error in failed if not isinstance(error, StoppedError)]
    known = {*finished, *(point.folder for point, _ in failed)}
    points: list[SweepPoint] = []
    absent: dict[str, str] = {}
    sources = columns.sources_of(prepared.sweep.columns)
    for task in prepared.tasks:
        result = finished.get(task.point.folder)
        if result is not None:
            values, reasons = columns.values_of(prepared.sweep.columns, result)
            points.append(SweepPoint(dict(task.point.values), result, task.job.folder, values, sources))
            absent |= reasons
    left = [task.point for task in prepared.tasks if task.point.folder not in known and _name_but_seed(task.point) not in dropped]
    result = SweepResult(
        sweep=prepared.sweep,
        points=points,
        failed=failed,
        left=left,
        refused=prepared.refused,
        dropped=dropped,
        absent={name: reason for name, reason in absent.items() if not any(name in point.columns for point in points)},
        folder=prepared.out.folder,
        interrupt=batch.interrupt,
    )
    return with_spare(result)


def _refuse_results(folder: Path) -> None:
    """Refuses to overwrite the results of a sweep, which take long, if `resume` was probably forgotten."""
    if not os.path.isdir(folder):  # noqa: PTH112 (pathlib raises for a name that is too long)
        return
    here = [file for file in (*(folder / name for name in TABLE_FILES), *folder.glob(f"*/{RESULT_FILE}")) if file.exists()]
    if here:
        raise UsageError(
            f"{folder} has results already ({here[0].relative_to(folder)}): "
            "go on with them by --resume (resume=True), or choose another folder"
        )
