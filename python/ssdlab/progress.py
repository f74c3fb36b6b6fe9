"""Progress bars on standard error, only on a terminal."""

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

__all__ = ["CountProgress", "ReadProgress", "RunProgress", "ShareProgress", "TotalProgress", "is_reading_shown", "remark", "show_reading"]

PHASES = {-1: "waiting", 0: "preparing the drive", 1: "simulating", 2: "done"}
PREPARING, DONE = 0, 2
MILLION = 1_000_000


_reading_shown: ContextVar[bool] = ContextVar("reading_shown", default=False)


def show_reading(shown: bool) -> None:
    """Whether reading a trace shows a bar from now on. The command line wants it, the Python API does not."""
    _reading_shown.set(shown)


def is_reading_shown() -> bool:
    """Whether what is read shows something."""
    return _reading_shown.get()


def remark(line: str) -> None:
    """Says something about what is read, on standard error, where reading shows anything."""
    if is_reading_shown():
        with contextlib.suppress(OSError):
            print(f"note: {line}", file=sys.stderr)


class _Shown(ABC):
    """What is drawn while a context lasts; nothing where nobody would see it."""

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
        """Adds what is drawn."""


class _Bars(_Shown):
    """Bars that runs move. `callback` is `None` where nobody would see them."""

    def __init__(self, *, quiet: bool, transient: bool = False) -> None:
        self._progress = None if quiet or not sys.stderr.isatty() else _bars(transient=transient)

    @property
    def callback(self) -> Callable[[Sequence[tuple[int, int, int, int]]], None] | None:
        """What the runs call."""
        return self._update if self._progress is not None else None

    @abstractmethod
    def _update(self, states: Sequence[tuple[int, int, int, int]]) -> None:
        """Moves them."""


class RunProgress(_Bars):
    """A context manager: a bar for each run, while it lasts."""

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
        """The speed since pages were first seen to be written, or requests completed."""
        if not completed:
            return ""
        now = time.monotonic()
        since, before = self._first.setdefault((task, phase), (now, completed))
        unit = "pages" if phase == PREPARING else "requests"
        return f"{(completed - before) / (now - since):,.0f} {unit}/s" if now > since else ""


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


class ShareProgress(_Shown):
    """A context manager: one bar for work of which only the share that is done is known, with what is being done."""

    def __init__(self, label: str, *, quiet: bool) -> None:
        self._label = label
        self._progress = None if quiet or not sys.stderr.isatty() else _bars()

    @property
    def callback(self) -> Callable[[str, float], None] | None:
        """What is to be called; `None` where nobody would see it."""
        return self._update if self._progress is not None else None

    def _begin(self, progress: Progress) -> None:
        progress.add_task(self._label, total=1.0, phase="", rate="")

    def _update(self, doing: str, share: float) -> None:
        assert self._progress is not None
        self._progress.update(self._progress.tasks[0].id, completed=share, phase=doing)


class ReadProgress(_Bars):
    """A context manager: a bar for the reading of a file, gone afterwards."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(quiet=not _reading_shown.get(), transient=True)
        self._path = Path(path)
        self._bytes = 0
        self._began = time.monotonic()

    def _begin(self, progress: Progress) -> None:
        # Of a pipe nobody knows the length, and what cannot be read is said by who reads it.
        self._bytes = self._path.stat().st_size if self._path.is_file() else 0
        progress.add_task(self._path.name, total=self._bytes or None, phase="reading", rate="")

    def _update(self, states: Sequence[tuple[int, int, int, int]]) -> None:
        assert self._progress is not None
        read = self._bytes * states[0][3] // MILLION
        spent = time.monotonic() - self._began
        rate = f"{read / spent / MILLION:,.1f} MB/s" if read and spent > 0 else ""
        self._progress.update(self._progress.tasks[0].id, completed=read, rate=rate)


class CountProgress(_Shown):
    """A context manager: a line with what is being done and how many of something there are so far."""

    def __init__(self, unit: str, *, quiet: bool) -> None:
        self._unit = unit
        # Drawn only when told to: a thread that draws would disturb what is measured meanwhile.
        self._progress = None if quiet or not sys.stderr.isatty() else _line()

    @property
    def callback(self) -> Callable[[str, int], None] | None:
        """What is to be called; `None` where nobody would see it."""
        return self._update if self._progress is not None else None

    def _begin(self, progress: Progress) -> None:
        progress.add_task("")

    def _update(self, doing: str, count: int) -> None:
        assert self._progress is not None
        self._progress.update(self._progress.tasks[0].id, description=f"{doing}: {count:,} {self._unit}".rstrip(), refresh=True)


def _share(state: tuple[int, int, int, int]) -> float:
    """How much of a run is done."""
    phase, completed, expected, millionths = state
    if phase == DONE:
        return 1.0
    if phase == PREPARING:
        return 0.0
    return min(completed / expected, 1.0) if expected > 0 else millionths / MILLION


def _expected(phase: int, completed: int, expected: int, millionths: int) -> float | None:
    """How many pages or requests there will be: known, or guessed from the share of the input that is behind us."""
    if expected > 0:
        return max(expected, completed)
    if phase == PREPARING:
        return None
    return completed * MILLION / millionths if millionths > 0 and completed > 0 else None


def _line() -> Progress:
    # Imported here, as below, because it takes longer than many a run, and most have no terminal.
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
