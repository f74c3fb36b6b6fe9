"""Progress bars on standard error, only on a terminal."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, Task, TaskProgressColumn, TextColumn, TimeRemainingColumn

__all__ = ["CountProgress", "RunProgress", "TotalProgress"]

PHASES = {-1: "waiting", 0: "preparing the drive", 1: "simulating", 2: "done"}
DONE = 2
MILLION = 1_000_000


class _Bars(ABC):
    """Bars that runs move. `callback` is `None` where nobody would see them."""

    def __init__(self, *, quiet: bool) -> None:
        self._progress = None if quiet or not sys.stderr.isatty() else _bars()

    @property
    def callback(self) -> Callable[[Sequence[tuple[int, int, int, int]]], None] | None:
        """What the runs call."""
        return self._update if self._progress is not None else None

    def __enter__(self) -> Self:
        if self._progress is not None:
            self._begin(self._progress)
            self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._progress is not None:
            self._progress.stop()

    @abstractmethod
    def _begin(self, progress: Progress) -> None:
        """Adds the bars."""

    @abstractmethod
    def _update(self, states: Sequence[tuple[int, int, int, int]]) -> None:
        """Moves them."""


class RunProgress(_Bars):
    """A context manager: a bar for each run, while it lasts."""

    def __init__(self, labels: Sequence[str], *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._labels = labels
        self._tasks: list[Task] = []
        self._first: dict[int, tuple[float, int]] = {}

    def _begin(self, progress: Progress) -> None:
        for label in self._labels:
            task = progress.add_task(label, total=None, phase="waiting", rate="")
            self._tasks.append(progress.tasks[task])

    def _update(self, states: Sequence[tuple[int, int, int, int]]) -> None:
        assert self._progress is not None
        for task, (phase, completed, expected, millionths) in zip(self._tasks, states, strict=True):
            self._progress.update(
                task.id,
                completed=completed,
                total=_expected(completed, expected, millionths) if completed else None,
                phase=PHASES.get(phase, ""),
                rate=task.fields["rate"] if phase == DONE else self._rate(task.id, completed),
            )

    def _rate(self, task: int, completed: int) -> str:
        """The speed since requests were first seen to be completed."""
        if not completed:
            return ""
        now = time.monotonic()
        since, before = self._first.setdefault(task, (now, completed))
        return f"{(completed - before) / (now - since):,.0f} requests/s" if now > since else ""


class TotalProgress(_Bars):
    """A context manager: one bar for many runs."""

    def __init__(self, label: str, runs: int, *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._label = label
        self._runs = runs

    def _begin(self, progress: Progress) -> None:
        progress.add_task(self._label, total=self._runs, phase="", rate="")

    def _update(self, states: Sequence[tuple[int, int, int, int]]) -> None:
        assert self._progress is not None
        done = sum(phase == DONE for phase, *_ in states)
        self._progress.update(self._progress.tasks[0].id, completed=sum(map(_share, states)), rate=f"{done} of {self._runs} runs")


class CountProgress:
    """A context manager: a line with what is being done and how many of something there are so far."""

    def __init__(self, unit: str, *, quiet: bool) -> None:
        self._unit = unit
        # Drawn only when told to: a thread that draws would disturb what is measured meanwhile.
        self._progress = (
            None
            if quiet or not sys.stderr.isatty()
            else Progress(TextColumn("{task.description}"), console=Console(stderr=True), auto_refresh=False, transient=True)
        )

    @property
    def callback(self) -> Callable[[str, int], None] | None:
        """What is to be called; `None` where nobody would see it."""
        return self._update if self._progress is not None else None

    def __enter__(self) -> Self:
        if self._progress is not None:
            self._progress.add_task("")
            self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._progress is not None:
            self._progress.stop()

    def _update(self, doing: str, count: int) -> None:
        assert self._progress is not None
        self._progress.update(self._progress.tasks[0].id, description=f"{doing}: {count:,} {self._unit}", refresh=True)


def _share(state: tuple[int, int, int, int]) -> float:
    """How much of a run is done."""
    phase, completed, expected, millionths = state
    if phase == DONE:
        return 1.0
    return min(completed / expected, 1.0) if expected > 0 else millionths / MILLION


def _expected(completed: int, expected: int, millionths: int) -> float | None:
    """How many requests there will be: known, or guessed from the share of the input that is behind us."""
    if expected > 0:
        return max(expected, completed)
    return completed * MILLION / millionths if millionths > 0 and completed > 0 else None


def _bars() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[phase]}"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
