"""The kernel's tracing, as files: finding it, and an instance of it for one recording."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path

from ssdlab.errors import Error
from ssdlab.recording.devices import Device
from ssdlab.recording.lines import ISSUE, REQUEUE

__all__ = ["PLACES", "Instance", "Tracefs", "find_tracefs"]

PLACES = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
"""Where tracefs is mounted: of its own, or below debugfs."""

# An instance begins with the options that the rest of the system's tracing happens to have: those that would change what is read.
_OPTIONS = {
    "overwrite": "1",  # the oldest events go, and the kernel says where
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
_PATIENCE_S = 2.0  # for the kernel to let go of an instance


class Tracefs:
    """A mounted tracefs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def create(self, name: str) -> Path:
        """Makes an instance: the kernel fills its folder."""
        path = self.folder / "instances" / name
        path.mkdir()
        return path

    def remove(self, path: Path) -> None:
        """Removes one, which the kernel refuses while its pipe is open."""
        path.rmdir()

    def check(self, event: str) -> None:
        """Checks that the kernel has this block event, and instances."""
        if not _is_folder(self.folder / "events" / "block" / event):
            needed = "it was built without block events (CONFIG_BLK_DEV_IO_TRACE)"
            raise Error(f"{self.folder}: this kernel has no event {event}: {needed}; record on another one")
        if not _is_folder(self.folder / "instances"):
            raise Error(f"{self.folder}: this kernel's tracing has no instances, which are there from Linux 3.15 on; record on another one")


def find_tracefs(places: Sequence[Path] = PLACES) -> Tracefs:
    """The first of `places` that is a tracefs."""
    for place in places:
        if _is_folder(place / "events"):
            return Tracefs(place)
    where = " or ".join(map(str, places))
    raise Error(f"the kernel's tracing is not at {where}: mount it with `mount -t tracefs tracefs {places[0]}` and try again")


class Instance:
    """A context manager: tracing of one device, apart from all other tracing on the machine, and gone afterwards."""

    def __init__(self, tracefs: Tracefs, device: Device, buffer_mb: int) -> None:
        self._tracefs = tracefs
        self._device = device
        self._buffer_mb = buffer_mb
        self._pipe = -1
        self.path = tracefs.folder / "instances" / f"ssdlab-{os.getpid()}"
        self.left_behind = False
        """Set on exit: whether the kernel would not let it go."""

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
        """From here on, events are recorded."""
        self._write("tracing_on", "1")

    def end(self) -> None:
        """From here on, none are any more; what was recorded can still be read."""
        self._write("tracing_on", "0")

    def read(self) -> bytes:
        """Some of what can be read now; nothing if there is nothing."""
        try:
            return os.read(self._pipe, 1 << 16)
        except BlockingIOError:
            return b""
        except OSError as reason:
            raise Error(f"{self.path / 'trace_pipe'}: cannot read: {reason.strerror}") from reason

    def lost(self) -> int:
        """How many events the kernel had to drop, by its own account."""
        stats = (path.read_text() for path in self.path.glob("per_cpu/cpu*/stats"))
        return sum(int(count) for text in stats for count in _LOSSES.findall(text))

    def _set_up(self) -> None:
        self.end()
        self._write("trace_clock", "mono")
        for option, value in _OPTIONS.items():
            if (self.path / "options" / option).exists():  # not every kernel has all
                self._write(f"options/{option}", value)
        self._write("buffer_size_kb", str(self._buffer_mb * 1024))
        # Only what has a queue hands requests back.
        for event in (ISSUE, REQUEUE) if self._device.event == ISSUE else (self._device.event,):
            self._write(f"events/block/{event}/filter", self._device.filter)
            self._write(f"events/block/{event}/enable", "1")
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
    """Whether it is one that can be seen."""
    try:
        return path.is_dir()
    except OSError:
        return False
