"""The kernel's tracing as files: finds tracefs, and makes an instance for one recording."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ssdlab.errors import Error
from ssdlab.system.recording.devices import Device
from ssdlab.system.recording.lines import ISSUE, REQUEUE

__all__ = ["PLACES", "Instance", "Tracefs", "find_tracefs"]

PLACES = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
"""Mount points of tracefs: its own, or below debugfs."""

# An instance starts with the options of the system's tracing; options that change the lines are set here.
_OPTIONS = {
    "overwrite": "1",  # the oldest events are dropped, and the kernel reports where
    "context-info": "1",
    "irq-info": "1",
    "latency-format": "0",
    "verbose": "0",
    "fields": "0",
    "raw": "0",
    "hex": "0",
    "bin": "0",
}
_LOSSES = re.compile(r"^(?:overrun|commit overrun|dropped events): (\d+)$", re.MULTILINE)
_PATIENCE_S = 2.0  # time for the kernel to release an instance


class Tracefs:
    """A mounted tracefs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def create(self, name: str) -> Path:
        """Makes an instance; the kernel fills its folder. Returns its path."""
        path = self.folder / "instances" / name
        path.mkdir()
        return path

    def remove(self, path: Path) -> None:
        """Removes an instance; the kernel refuses while its pipe is open."""
        path.rmdir()

    def check(self, event: str) -> None:
        """Checks that the kernel has the block event and supports instances."""
        if not _is_folder(self.folder / "events" / "block" / event):
            needed = "it was built without block events (CONFIG_BLK_DEV_IO_TRACE)"
            raise Error(f"{self.folder}: this kernel has no event {event}: {needed}; record on another one")
        if not _is_folder(self.folder / "instances"):
            raise Error(f"{self.folder}: this kernel's tracing has no instances: record on Linux 3.15 or newer")


def find_tracefs(places: Sequence[Path] = PLACES) -> Tracefs:
    """The first of `places` that is a tracefs."""
    for place in places:
        if _is_folder(place / "events"):
            return Tracefs(place)
    where = " or ".join(map(str, places))
    raise Error(f"the kernel's tracing is not at {where}: mount it with `mount -t tracefs tracefs {places[0]}` and try again")


class Instance:
    """A context manager for tracing one device, separately from other tracing on the machine. It is removed on exit."""

    def __init__(self, tracefs: Tracefs, device: Device, buffer_mb: int) -> None:
        self._tracefs = tracefs
        self._device = device
        self._buffer_mb = buffer_mb
        self._pipe = -1
        self.path = tracefs.folder / "instances" / f"ssdlab-{os.getpid()}"
        self.left_behind = False
        """Whether the kernel refused to remove the instance; set on exit."""

    def __enter__(self) -> Instance:
        try:
            self._tracefs.create(self.path.name)
        except OSError as reason:
            raise Error(f"{self.path}: cannot be made: {reason.strerror}") from reason
        try:
            self._set_up()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def begin(self) -> None:
        """Starts recording of events."""
        self._write("tracing_on", "1")

    def end(self) -> None:
        """Stops recording; recorded events can still be read."""
        self._write("tracing_on", "0")

    def read(self) -> bytes:
        """Reads available data; empty if there is none."""
        try:
            return os.read(self._pipe, 1 << 16)
        except BlockingIOError:
            return b""
        except OSError as reason:
            raise Error(f"{self.path / 'trace_pipe'}: cannot read: {reason.strerror}") from reason

    def lost(self) -> int:
        """Number of events that the kernel reports as dropped."""
        stats = (path.read_text() for path in self.path.glob("per_cpu/cpu*/stats"))
        return sum(int(count) for text in stats for count in _LOSSES.findall(text))

    def _set_up(self) -> None:
        self.end()
        self._write("trace_clock", "mono")
        for option, value in _OPTIONS.items():
            if (self.path / "options" / option).exists():  # some kernels lack some options
                self._write(f"options/{option}", value)
        self._write("buffer_size_kb", str(self._buffer_mb * 1024))
        # only devices with a queue return requests
        for event in (ISSUE, REQUEUE) if self._device.event == ISSUE else (self._device.event,):
            self._write(f"events/block/{event}/filter", self._device.filter)
            self._write(f"events/block/{event}/enable", "1")
        if sys.platform == "win32":
            raise AssertionError("`need_linux` has refused it")
        self._pipe = os.open(self.path / "trace_pipe", os.O_RDONLY | os.O_NONBLOCK)

    def _write(self, name: str, value: str) -> None:
        path = self.path / name
        try:
            path.write_text(value)
        except OSError as reason:
            hint = ""
            if name == "buffer_size_kb" and reason.errno in (errno.ENOMEM, errno.EINVAL):
                hint = f"; it has no {self._buffer_mb:,} MiB for each of its {os.cpu_count()} processors: give a smaller --buffer-mb"
            raise Error(f"{path}: the kernel does not take {value}: {reason.strerror}{hint}") from reason

    def _close(self) -> None:
        for name in ("tracing_on", "events/enable"):
            with contextlib.suppress(OSError):
                (self.path / name).write_text("0")
        if self._pipe >= 0:
            os.close(self._pipe)
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            try:
                self._tracefs.remove(self.path)
                return
            except OSError:
                if time.monotonic() > deadline:
                    self.left_behind = True
                    return
                time.sleep(0.05)


def _is_folder(path: Path) -> bool:
    """Whether a path is a folder that can be accessed."""
    try:
        return path.is_dir()
    except OSError:
        return False
