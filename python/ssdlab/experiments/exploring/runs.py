"""Runs of the page: in worker threads, kept when they have finished, and stopped when they are no longer wanted."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from ssdlab.errors import StoppedError
from ssdlab.experiments.exploring.choice import Bench, Choice
from ssdlab.runs.batch import Job, execute

__all__ = ["Key", "Runner", "Told"]

KEPT = 60
"""Number of results that are kept, for choices that come back."""

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
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="explore")
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
        """Stops all runs, and waits until they have stopped."""
        for stop in self._stops:
            stop.set()
        self._pool.shutdown(cancel_futures=True)

    async def _run(self, key: Key, told: Told) -> dict[str, Any]:
        loop, stop = asyncio.get_running_loop(), threading.Event()

        def progress(states: Sequence[tuple[int, int, int, int]]) -> None:
            if stop.is_set():
                raise StoppedError("the run is to stop")
            loop.call_soon_threadsafe(told, key, states[0])

        self._stops.add(stop)
        try:
            return await loop.run_in_executor(self._pool, self._execute, key, progress)
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
