"""Runs a command, and reads the kernel's events of requests to a device meanwhile."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from types import FrameType, TracebackType
from typing import Any, Self

from ssdlab.errors import Error, UsageError
from ssdlab.system import signals
from ssdlab.system.platforms import need_linux
from ssdlab.system.recording.devices import Device
from ssdlab.system.recording.recording import Collector, Recording
from ssdlab.system.recording.tracefs import Instance, Tracefs

__all__ = ["Progress", "Recorder", "check_command", "check_system"]

Progress = Callable[[str, int], object]
"""A callback with the present step and the number of events so far."""

_LOOK_S = 0.05
"""Interval between reads of events, s; long enough to leave the processors to the command."""
_TELL_S = 0.5
_STDERR = 2
_READS_PER_LOOK = 1000  # so that many events do not block other checks


def check_system(platform: str | None = None, user: int | None = None) -> None:
    """Checks that the system is Linux and the user is root.

    Raises:
        Error: the system or the user is another one.
    """
    need_linux("requests can be recorded", "record on a Linux machine, and bring the trace here", platform)
    if sys.platform == "win32":
        raise AssertionError("`need_linux` has refused it")
    if (os.geteuid() if user is None else user) != 0:
        raise Error('recording needs root, as it reads what the kernel does: sudo "$(command -v ssdlab)" trace record ...')


def check_command(command: Sequence[str]) -> None:
    """Checks that the program exists.

    Raises:
        UsageError: the program does not exist.
    """
    if not command or shutil.which(command[0]) is None:
        name = command[0] if command else ""
        raise UsageError(f"{name}: no such program: give a program with its arguments after --, such as -- fio job.fio")


def _sync() -> None:
    """Writes dirty pages of all files out."""
    if sys.platform == "win32":
        raise AssertionError("`need_linux` has refused it")
    os.sync()


class Recorder:
    """Records the requests of one device.

    Args:
        device: device to record.
        tracefs: mounted tracefs.
        buffer_mb: memory for unread events, MiB per processor.
        progress: called about twice a second with step and number of events.
        flush: writes out dirty pages, by default `os.sync`.
        patience_s: time for the command to end after each signal, s, before a stronger one is sent.
    """

    def __init__(
        self,
        device: Device,
        tracefs: Tracefs,
        *,
        buffer_mb: int,
        progress: Progress | None = None,
        flush: Callable[[], object] | None = None,
        patience_s: float = 5.0,
    ) -> None:
        self._tracefs = tracefs
        self._device = device
        self._buffer_mb = buffer_mb
        self._progress = progress
        self._flush = flush or _sync
        self._patience_s = patience_s
        self._collector = Collector(device, began_us=0)  # replaced when recording begins
        self._signals = _Signals()
        self._rest = b""
        self._told = 0.0

    def record(self, command: Sequence[str]) -> Recording:
        """Runs `command` to its end; its output goes to standard error.

        Dirty pages of others are written out before, and those of the command before the recording ends: its writes belong to the trace.
        Ctrl-C, or a signal that would end this process, ends the command and then the recording; the recorded part is kept. A second signal
        aborts.

        Raises:
            Error: the kernel or the command refuses. The kernel's tracing is reset.
            KeyboardInterrupt: a second Ctrl-C, or one before the command began.
        """
        self._tracefs.check(self._device.event)
        with self._signals, Instance(self._tracefs, self._device, self._buffer_mb) as instance:
            self._write_out(instance, "writing out what others have left")
            if self._signals.came:
                raise KeyboardInterrupt
            instance.begin()
            self._collector = Collector(self._device, began_us=time.monotonic_ns() // 1000)
            exit_code, duration_s = self._run(command, instance)
            self._write_out(instance, "writing out what the command has left")
            instance.end()
            while self._read(instance):
                pass
            self._take(b"\n")  # completes the last line
            dropped = instance.lost()
        return Recording(
            device=self._device,
            command=tuple(command),
            exit_code=exit_code,
            duration_s=duration_s,
            interrupted=self._signals.came > 0,
            collector=self._collector,
            dropped=dropped,
            left_behind=instance.path if instance.left_behind else None,
        )

    def _run(self, command: Sequence[str], instance: Instance) -> tuple[int, float]:
        """Runs the command and reads its requests; returns its exit code and its duration, s."""
        began = ended = time.monotonic()
        try:
            process = subprocess.Popen(command, stdout=_STDERR)
        except OSError as reason:
            raise Error(f"{command[0]}: cannot be run: {reason.strerror}") from reason

        def wait() -> None:
            nonlocal ended
            process.wait()
            ended = time.monotonic()

        # A terminal also sends Ctrl-C to the command, which may need time to end. Signals to this process alone are passed on.
        means = [process.terminate, process.kill]
        deadline = float("inf")
        waiting = threading.Thread(target=wait, daemon=True)
        waiting.start()
        try:
            while waiting.is_alive():
                self._look(instance, "recording", waiting)
                if self._signals.came and deadline == float("inf"):
                    deadline = time.monotonic() + (self._patience_s if self._signals.first == signal.SIGINT else 0)
                if time.monotonic() > deadline and means:
                    means.pop(0)()
                    deadline = time.monotonic() + self._patience_s
        finally:
            process.kill()  # has no effect on an ended process
            waiting.join()
        code = process.returncode
        return code if code >= 0 else 128 - code, ended - began

    def _write_out(self, instance: Instance, doing: str) -> None:
        """Waits until dirty pages are on the devices, and reads events meanwhile."""
        writing = threading.Thread(target=self._flush, daemon=True)  # not waited for if the user aborts: it cannot be interrupted
        writing.start()
        while writing.is_alive():
            self._look(instance, doing, writing)

    def _look(self, instance: Instance, doing: str, work: threading.Thread) -> None:
        """Reads available events, reports progress, and pauses, unless there are more events or the work ends.

        Raises:
            KeyboardInterrupt: the user aborts. It is raised here rather than in a signal handler, which could interrupt cleaning up.
        """
        if self._signals.came > 1:
            raise KeyboardInterrupt
        behind = all(self._read(instance) for _ in range(_READS_PER_LOOK))
        now = time.monotonic()
        if self._progress is not None and now > self._told + _TELL_S:
            self._told = now
            self._progress(doing, len(self._collector))
        work.join(0 if behind else _LOOK_S)

    def _read(self, instance: Instance) -> bool:
        """Reads once; returns false if there was no data."""
        data = instance.read()
        self._take(data)
        return bool(data)

    def _take(self, data: bytes) -> None:
        """Passes complete lines to the collector, and keeps the rest for the next call."""
        *lines, self._rest = (self._rest + data).split(b"\n") if data else (self._rest,)
        for line in lines:
            self._collector.add(line.decode("ascii", "replace"))


class _Signals:
    """A context manager in which signals that would end the process are only counted."""

    def __init__(self) -> None:
        self.came = 0
        self.first = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in signals.ASKING:
                if signal.getsignal(number) is not signal.SIG_IGN:  # as for `nohup`
                    self._before[number] = signal.signal(number, self._came)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _came(self, number: int, _frame: FrameType | None) -> None:
        self.first = self.first or number
        self.came += 1
