"""Progress on standard error: bars on a terminal, elsewhere a line from time to time."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, Task

__all__ = [
    "DONE",
    "PHASES",
    "WAITING",
    "CountProgress",
    "ReadProgress",
    "RunProgress",
    "ShareProgress",
    "TotalProgress",
    "duration",
    "is_reading_shown",
    "remark",
    "share_done",
    "show_reading",
]

PHASES = {-1: "waiting", 0: "preparing the drive", 1: "simulating", 2: "done"}
"""Phases of a run, by number."""
WAITING, PREPARING, DONE = -1, 0, 2
MILLION = 1_000_000
MINUTE_S, HOUR_S = 60.0, 3600.0

FIRST_LINE_S = 60.0
"""Seconds after which work has its first line where there is no terminal."""
LINES_GROW = 1.5
"""How much later each further line comes, as a multiple; but a line comes every :data:`LINES_APART_S` at least."""
LINES_APART_S = 120.0


_reading_shown: ContextVar[bool] = ContextVar("reading_shown", default=False)


def show_reading(shown: bool) -> None:
    """Enables or disables progress bars for reading traces. The command line enables them; by default they are off."""
    _reading_shown.set(shown)


def is_reading_shown() -> bool:
    """Whether progress bars for reading traces are enabled."""
    return _reading_shown.get()


def remark(line: str) -> None:
    """Prints a note on reading to standard error, if progress of reading is enabled."""
    if is_reading_shown():
        with contextlib.suppress(OSError):
            print(f"note: {line}", file=sys.stderr)


def duration(seconds: float) -> str:
    """Formats a duration in seconds, minutes or hours."""
    if seconds < MINUTE_S:
        return f"{seconds:.0f} s" if seconds >= 1 else "less than 1 s"
    return f"{seconds / MINUTE_S:.0f} min" if seconds < HOUR_S else f"{seconds / HOUR_S:.1f} h"


class _Lines:
    """Lines on long work where there is no terminal: what is done, and about how long the rest takes."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._began = time.monotonic()
        self._next_s = FIRST_LINE_S

    def show(self, share: float, doing: str) -> None:
        """Prints a line if one is due. `share`: of the work that is done, 0 to 1. `doing`: the present step, or what is done, in words."""
        spent = time.monotonic() - self._began
        if spent < self._next_s or share >= 1:
            return
        self._next_s = min(spent * LINES_GROW, spent + LINES_APART_S)
        left = f", about {duration(spent * (1 - share) / share)} left" if share > 0 else ""
        with contextlib.suppress(OSError):
            print(f"{self._label}: {100 * share:.0f} %, {doing}{left}", file=sys.stderr, flush=True)


class _Shown(ABC):
    """A context manager that shows progress on a terminal; nothing is shown elsewhere."""

    _progress: Progress | None

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
        """Adds tasks to the progress display."""


class _Bars(_Shown):
    """Progress bars of runs. `callback` is `None` if nothing is shown."""

    def __init__(self, *, quiet: bool, transient: bool = False) -> None:
        self._progress = None if quiet or not sys.stderr.isatty() else _bars(transient=transient)

    @property
    def callback(self) -> Callable[[Sequence[tuple[int, int, int, int]]], None] | None:
        """Callback for the progress of runs."""
        return self._update if self._progress is not None else None

    @abstractmethod
    def _update(self, states: Sequence[tuple[int, int, int, int]]) -> None:
        """Updates the bars."""


class _RunBars(_Bars):
    """Progress bars of runs whose policies may print: to standard error meanwhile, since standard output has results."""

    def __enter__(self) -> Self:
        self._printed = contextlib.redirect_stdout(sys.stderr)
        self._printed.__enter__()
        return super().__enter__()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        super().__exit__(kind, error, trace)
        self._printed.__exit__(kind, error, trace)


class RunProgress(_RunBars):
    """A context manager with a progress bar for each run."""

    def __init__(self, labels: Sequence[str], *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._labels = labels
        self._tasks: list[Task] = []
        self._first: dict[tuple[int, int], tuple[float, int]] = {}

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
                total=_expected(phase, completed, expected, millionths) if completed else None,
                phase=PHASES.get(phase, ""),
                rate=task.fields["rate"] if phase == DONE else self._rate(task.id, phase, completed),
            )

    def _rate(self, task: int, phase: int, completed: int) -> str:
        """The speed since the first pages written or requests completed in this phase, as text."""
        if not completed:
            return ""
        now = time.monotonic()
        since, before = self._first.setdefault((task, phase), (now, completed))
        unit = "pages" if phase == PREPARING else "requests"
        return f"{(completed - before) / (now - since):,.0f} {unit}/s" if now > since else ""


class TotalProgress(_RunBars):
    """A context manager with one progress bar for many runs; without a terminal, a line from time to time."""

    def __init__(self, label: str, runs: int, *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._label = label
        self._runs = runs
        self._lines = None if quiet or self._progress is not None else _Lines(label)

    @property
    def callback(self) -> Callable[[Sequence[tuple[int, int, int, int]]], None] | None:
        """Callback for the progress of runs; `None` if nothing is shown."""
        return None if self._progress is None and self._lines is None else self._update

    def _begin(self, progress: Progress) -> None:
        progress.add_task(self._label, total=self._runs, phase="", rate="")

    def _update(self, states: Sequence[tuple[int, int, int, int]]) -> None:
        done, completed = sum(phase == DONE for phase, *_ in states), sum(map(share_done, states))
        if self._progress is not None:
            self._progress.update(self._progress.tasks[0].id, completed=completed, rate=f"{done} of {self._runs} runs")
        elif self._lines is not None:
            self._lines.show(completed / self._runs, f"{done} of {self._runs} runs")


class ShareProgress(_Shown):
    """A context manager with one progress bar for work with steps; without a terminal, a line from time to time."""

    def __init__(self, label: str, *, quiet: bool) -> None:
        self._label = label
        self._progress = None if quiet or not sys.stderr.isatty() else _bars()
        self._lines = None if quiet or self._progress is not None else _Lines(label)

    @property
    def callback(self) -> Callable[[str, float], None] | None:
        """Callback for step and share, 0 to 1; `None` if nothing is shown."""
        return None if self._progress is None and self._lines is None else self._update

    def _begin(self, progress: Progress) -> None:
        progress.add_task(self._label, total=1.0, phase="", rate="")

    def _update(self, doing: str, share: float) -> None:
        if self._progress is not None:
            self._progress.update(self._progress.tasks[0].id, completed=share, phase=doing)
        elif self._lines is not None:
            self._lines.show(share, doing)


class ReadProgress(_Bars):
    """A context manager with a progress bar for reading a file, which is removed afterwards."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(quiet=not _reading_shown.get(), transient=True)
        self._path = Path(path)
        self._bytes = 0
        self._began = time.monotonic()

    def _begin(self, progress: Progress) -> None:
        # the length of a pipe is unknown, and read errors are reported by the reader
        self._bytes = self._path.stat().st_size if self._path.is_file() else 0
        progress.add_task(self._path.name, total=self._bytes or None, phase="reading", rate="")

    def _update(self, states: Sequence[tuple[int, int, int, int]]) -> None:
        assert self._progress is not None
        read = self._bytes * states[0][3] // MILLION
        spent = time.monotonic() - self._began
        rate = f"{read / spent / MILLION:,.1f} MB/s" if read and spent > 0 else ""
        self._progress.update(self._progress.tasks[0].id, completed=read, rate=rate)


class CountProgress(_Shown):
    """A context manager with a line that shows the present step and a count."""

    def __init__(self, unit: str, *, quiet: bool) -> None:
        self._unit = unit
        # refreshed only by updates: a thread would disturb what is measured meanwhile
        self._progress = None if quiet or not sys.stderr.isatty() else _line()

    @property
    def callback(self) -> Callable[[str, int], None] | None:
        """Callback for step and count; `None` if nothing is shown."""
        return self._update if self._progress is not None else None

    def _begin(self, progress: Progress) -> None:
        progress.add_task("")

    def _update(self, doing: str, count: int) -> None:
        assert self._progress is not None
        self._progress.update(self._progress.tasks[0].id, description=f"{doing}: {count:,} {self._unit}".rstrip(), refresh=True)


def share_done(state: tuple[int, int, int, int]) -> float:
    """The share of a run that is done, 0 to 1."""
    phase, completed, expected, millionths = state
    if phase == DONE:
        return 1.0
    if phase == PREPARING:
        return 0.0
    return min(completed / expected, 1.0) if expected > 0 else millionths / MILLION


def _expected(phase: int, completed: int, expected: int, millionths: int) -> float | None:
    """Expected number of pages or requests: known, or estimated from the share of the input that was read."""
    if expected > 0:
        return max(expected, completed)
    if phase == PREPARING:
        return None
    return completed * MILLION / millionths if millionths > 0 and completed > 0 else None


def _line() -> Progress:
    # imported here and below because it takes longer than many runs, most of which have no terminal
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress, TextColumn  # noqa: PLC0415

    return Progress(TextColumn("{task.description}"), console=Console(stderr=True), auto_refresh=False, transient=True)


def _bars(*, transient: bool = False) -> Progress:
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[phase]}"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=transient,
    )
