"""Runs of the page: in worker threads, kept when they have finished, and stopped when they are no longer wanted."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from ssdlab.errors import StoppedError
from ssdlab.experiments.exploring.choice import Bench, Choice
from ssdlab.runs.batch import Job, execute

__all__ = ["Key", "Runner", "Told", "apart"]

KEPT = 60
"""Number of results that are kept, for choices that come back."""
PATIENCE_S = 2.0
"""Time in which a run that is to stop does so, s, unless it waits for an input."""

NAME = "explore"
"""Name of the threads of `apart`."""

T = TypeVar("T")

Told = Callable[["Key", tuple[int, int, int, int]], object]
"""A callback with the progress of a run: phase, completed and expected requests, share of the input in millionths."""


class Key(NamedTuple):
    """A run: the choice, and whether only its sample is run."""

    choice: Choice
    sampled: bool


class Runner:
    """Executes runs and keeps their results.

    Args:
        bench: what is explored.
        workers: maximum number of runs at once.
    """

    def __init__(self, bench: Bench, workers: int) -> None:
        self._bench = bench
        self._free = asyncio.Semaphore(workers)
        self._kept: OrderedDict[Key, dict[str, Any]] = OrderedDict()
        self._stops: set[threading.Event] = set()

    async def result(self, key: Key, told: Told) -> dict[str, Any]:
        """The result of a run. The run stops if the task that awaits it is cancelled.

        Raises:
            ssdlab.Error: the run failed.
        """
        if key not in self._kept:
            self._kept[key] = await self._run(key, told)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]

    def has(self, key: Key) -> bool:
        """Whether the result of a run is kept."""
        return key in self._kept

    def close(self) -> None:
        """Stops all runs, and waits until they have stopped; not for those that wait for an input, such as a pipe."""
        for stop in self._stops:
            stop.set()
        ends = time.monotonic() + PATIENCE_S
        for thread in threading.enumerate():
            if thread.name == NAME:
                thread.join(max(0.0, ends - time.monotonic()))

    async def _run(self, key: Key, told: Told) -> dict[str, Any]:
        loop, stop = asyncio.get_running_loop(), threading.Event()

        def progress(states: Sequence[tuple[int, int, int, int]]) -> None:
            if stop.is_set():
                raise StoppedError("the run is to stop")
            loop.call_soon_threadsafe(told, key, states[0])

        async with self._free:
            self._stops.add(stop)
            try:
                return await apart(lambda: self._execute(key, progress))
            finally:
                stop.set()
                self._stops.discard(stop)

    def _execute(self, key: Key, progress: Callable[[Sequence[tuple[int, int, int, int]]], None]) -> dict[str, Any]:
        setup = self._bench.setup(key.choice, sampled=key.sampled)
        job = Job.prepare("run", setup, key.choice.scheme or None, folder=None)
        batch = execute([job], workers=1, progress=progress)
        batch.raise_failure()
        result: dict[str, Any] = batch.finished["run"].to_dict()
        return result


async def apart(work: Callable[[], T]) -> T:
    """What a call returns that is made in a thread of its own.

    The process does not wait for the thread when it ends, as it does for those of an executor: the call may wait for ever, for a pipe that
    nothing is written into.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(settled: Callable[[], None]) -> None:
        if not done.done():
            settled()

    def call() -> None:
        try:
            result = work()
        except BaseException as error:
            settled = functools.partial(done.set_exception, error)
        else:
            settled = functools.partial(done.set_result, result)
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, settled)

    threading.Thread(target=call, name=NAME, daemon=True).start()
    return await done
