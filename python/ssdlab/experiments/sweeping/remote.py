"""Points as tasks of Ray, on this machine or several. Ray is an extra: `pip install 'ssdlab[ray]'`.

Each task builds and runs its point like a local run. Its inputs are compared with those on this machine, so that another version, trace or
preset on a remote machine cannot affect the results.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ssdlab import errors
from ssdlab.asking.policies import provided, sources_of
from ssdlab.errors import Error, UsageError
from ssdlab.experiments.sweeping.definition import Point
from ssdlab.experiments.sweeping.tasks import Task, difference
from ssdlab.runs import batch
from ssdlab.runs.batch import Batch, Progress, write_json
from ssdlab.runs.result import Result
from ssdlab.system.folders import make_folder

__all__ = ["execute"]

ADDRESS = "RAY_ADDRESS"
PATIENCE_S = 10.0
"""Maximum time for a cluster to answer, s."""
LOOK_S = 0.5
"""Interval between checks for Ctrl-C, s."""
RETRIES = 3
"""Number of times that Ray repeats a point after a machine or its result was lost; results are equal on all machines."""
WAITING, DONE = (-1, 0, 0, 0), (2, 0, 0, 0)


def execute(tasks: Sequence[Task], *, workers: int | None, progress: Progress | None) -> Batch:
    """Runs the tasks, at most `workers` at once (default: one per processor of Ray). Errors of runs are not raised.

    Raises:
        UsageError: Ray is not installed.
        ssdlab.Error: the cluster cannot be reached.
    """
    try:
        ray: Any = import_module("ray")
    except ImportError as error:
        raise UsageError("engine = \"ray\": Ray is not installed: pip install 'ssdlab[ray]'") from error
    ended = Batch()
    states = [WAITING] * len(tasks)
    with _started(ray, workers):
        remote = ray.remote(num_cpus=1, max_retries=RETRIES)(_simulate)
        places = iter(range(len(tasks)))
        running: dict[Any, int] = {}
        try:
            while True:
                for place in _some(places, len(tasks) if workers is None else workers - len(running)):
                    point = tasks[place].point
                    running[remote.remote(os.fspath(Path.cwd()), point, sources_of(point.options))] = place
                if not running:
                    break
                for reference in ray.wait(list(running), timeout=LOOK_S)[0]:
                    place = running.pop(reference)
                    _settle(ended, tasks[place], _outcome(ray, reference))
                    states[place] = DONE
                    if progress is not None:
                        progress(list(states))
        except BaseException as interrupt:  # as in the core, the caller raises whatever ended the wait
            ended.interrupt = interrupt
            for reference in running:
                ray.cancel(reference, force=True)
    return ended


@contextlib.contextmanager
def _started(ray: Any, workers: int | None) -> Iterator[None]:
    """Connects to a running Ray at the address in RAY_ADDRESS, or starts a local one while the context lasts."""
    if ray.is_initialized():
        yield
        return
    address = os.environ.get(ADDRESS)
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address is None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a local simulation should report nothing
        options |= {"address": "local", "num_cpus": workers, "include_dashboard": False}
    else:
        options["address"] = address
    try:
        _knock(address)
        ray.init(**options)
    except Exception as error:
        where = "on this machine" if address is None else f"at {ADDRESS} = {address}"
        raise Error(f'engine = "ray": Ray does not run {where}: {error}') from error
    try:
        yield
    finally:
        ray.shutdown()


def _knock(address: str | None) -> None:
    """Fails if the address does not answer, for which Ray would wait minutes."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE_S).close()


def _simulate(folder: str, point: Point, sources: dict[str, str]) -> dict[str, Any] | tuple[str, str]:
    """Runs a point in a task; returns its result, or class and text of an error. File names are relative to `folder`, as here.

    `sources`: texts of the files of user-defined policies, which need not exist here.
    """
    with contextlib.suppress(OSError):
        os.chdir(folder)
    try:
        with provided(sources):
            task = Task.of(point, None)
        ended = batch.execute([task.job], workers=1)
        ended.raise_failure()
    except Error as error:
        return type(error).__name__, str(error)
    result: Result = ended.finished[point.folder]
    return result.to_dict()


def _outcome(ray: Any, reference: Any) -> dict[str, Any] | tuple[str, str]:
    try:
        outcome: dict[str, Any] | tuple[str, str] = ray.get(reference)
    except ray.exceptions.RayError as error:  # a machine that was lost, or has no ssdlab
        return Error.__name__, f"the task of Ray failed: {error}"
    return outcome


def _settle(ended: Batch, task: Task, outcome: dict[str, Any] | tuple[str, str]) -> None:
    """Saves a result, or records the error."""
    name = task.point.folder
    if isinstance(outcome, tuple):
        kind, message = outcome
        ended.failed[name] = getattr(errors, kind)(message)
        return
    other = difference(task.asked, outcome)
    if other is not None:
        ended.failed[name] = Error(f"the machine that ran it has other inputs ({other}): ssdlab, traces and presets must be the same")
        return
    result = Result(outcome, title=task.job.title)
    if task.job.folder is not None:
        make_folder(task.job.folder)
        result.seal()
        write_json(task.file, result.to_dict())
    ended.finished[name] = result


def _some(places: Iterator[int], count: int) -> Iterator[int]:
    """The next `count` items of an iterator."""
    for _ in range(count):
        place = next(places, None)
        if place is None:
            return
        yield place
