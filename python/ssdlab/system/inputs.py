"""Input files of a run. An input that can be read only once, such as a pipe, is copied to a temporary file.

Compared schemes all replay the trace, and a device that is fitted to a trace needs its extent first. The copy is kept while an object
returned by `hold` is referenced. On Linux it has no name in any folder, so nothing is left however the process ends; elsewhere an open file
cannot be opened again without a name. Windows has no name for standard input, so inputs are files there.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from pathlib import Path
from typing import IO
from weakref import WeakValueDictionary

from ssdlab import _core
from ssdlab.errors import FileError, UsageError
from ssdlab.system.progress import CountProgress, is_reading_shown, remark

__all__ = ["Held", "hold", "is_passing", "named", "place"]

STANDARD_INPUT = Path("/dev/stdin")
CHUNK_BYTES = 1 << 20
PASSING = ("/dev/fd/", "/proc/")
"""Paths of a process's own open files, which a later command cannot read."""


class Held:
    """A copy of an input that can be read only once. While it lives, opening the original reads the copy."""

    def __init__(self, file: str | os.PathLike[str]) -> None:
        self.name = os.fspath(file)
        copy = _copied(self.name)
        self.place = Path(f"/proc/self/fd/{copy.fileno()}" if sys.platform == "linux" else copy.name)
        """The path of the copy in this process."""
        self._core = _core.StandIn(self.name, self.place)  # before the copy, so that it goes first
        self._copy = copy


_held: WeakValueDictionary[tuple[int, int], Held] = WeakValueDictionary()
"""Copies in use, by device and inode of the original."""


def named(file: str | os.PathLike[str] | None) -> str | os.PathLike[str] | None:
    """The path of a file given by the user: `-` is standard input.

    Raises:
        UsageError: standard input has no path on this system.
    """
    if file is None or os.fspath(file) != "-":
        return file
    if sys.platform == "win32":
        raise UsageError("- (standard input) cannot be read on Windows: write it to a file, and give the file")
    return STANDARD_INPUT


def hold(file: str | os.PathLike[str]) -> Held | None:
    """Copies `file` if it can be read only once; returns the existing copy if there is one, and `None` for other files.

    Raises:
        FileError: `file` cannot be read, or the copy cannot be written.
    """
    status = _status(file)
    if status is None or not _passes(file, status):
        return None
    held = _held.get(_identity(status))
    if held is None:
        held = _held[_identity(status)] = Held(file)
    return held


def place(file: str | os.PathLike[str]) -> Path:
    """The path from which to read `file`: the copy's if there is one, else its own."""
    status = _status(file)
    held = None if status is None else _held.get(_identity(status))
    return Path(file) if held is None else held.place


def is_passing(file: str | os.PathLike[str]) -> bool:
    """Whether a later command cannot read the same content from this path: a pipe, or an open file of this process."""
    name = os.fspath(file)
    if Path(name) == STANDARD_INPUT or name.startswith(PASSING):
        return True
    status = _status(file)
    return status is not None and _passes(file, status)


def _status(file: str | os.PathLike[str]) -> os.stat_result | None:
    """The status of a file; `None` if it does not exist, which its reader reports."""
    try:
        return Path(file).stat()
    except (OSError, ValueError):
        return None


def _identity(status: os.stat_result) -> tuple[int, int]:
    """The identity of a file, independent of its name: device and inode."""
    return status.st_dev, status.st_ino


def _passes(file: str | os.PathLike[str], status: os.stat_result) -> bool:
    """Whether a file can be read only once: pipes, sockets and terminals. Other devices can be read again."""
    if not stat.S_ISCHR(status.st_mode):
        return stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode)
    try:
        with Path(file).open("rb", buffering=0) as device:
            return device.isatty()
    except OSError:
        return False


def _copied(name: str) -> IO[bytes]:
    """Copies the content of `name` to a temporary file without a name."""
    copied = 0
    with _opened(name) as source, CountProgress("bytes", quiet=not is_reading_shown()) as progress:
        try:
            make = tempfile.TemporaryFile if sys.platform == "linux" else tempfile.NamedTemporaryFile
            copy = make(prefix="ssdlab-")  # it lives as long as the copy is held
            while chunk := _read(source, name):
                copy.write(chunk)
                copied += len(chunk)
                if progress.callback is not None:
                    progress.callback(f"copying {name}", copied)
            copy.flush()
        except FileError:
            raise
        except OSError as reason:
            what = f"{name}: can be read only once, and cannot be copied to {tempfile.tempdir or 'a temporary file'}: {reason.strerror}"
            raise FileError(f"{what}; TMPDIR names another folder, or give a file", reason.errno, name) from reason
    remark(f"{name} can be read only once: its {copied:,} bytes were copied to a temporary file")
    return copy


def _opened(name: str) -> IO[bytes]:
    try:
        return Path(name).open("rb", buffering=0)
    except OSError as reason:
        raise _unreadable(name, reason) from reason


def _read(source: IO[bytes], name: str) -> bytes:
    try:
        return source.read(CHUNK_BYTES)
    except OSError as reason:
        raise _unreadable(name, reason) from reason


def _unreadable(name: str, reason: OSError) -> FileError:
    return FileError(f"{name}: cannot read: {reason.strerror}", reason.errno, name)
