"""Locks on folders of results, which the system releases when a process ends, however it ends.

Where folders can be locked (Linux, macOS), the lock is on the folder itself: no further file exists, a folder that another process removed
is noticed, and Linux says which process holds the lock. Windows cannot lock folders. There `filelock` locks a file in the folder for
temporary files, so that only processes of one user and machine see each other.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Lock", "holder", "try_lock"]


@dataclass(frozen=True)
class Lock:
    """A lock on a folder.

    Attributes:
        close: releases it.
    """

    close: Callable[[], object]


def try_lock(folder: Path) -> Lock | None:
    """Locks a folder; `None` if another process holds the lock.

    Raises:
        FileNotFoundError: the folder does not exist (any more).
        OSError: the folder cannot be opened.
    """
    return _by_file(folder) if sys.platform == "win32" else _by_folder(folder)


def _by_folder(folder: Path) -> Lock | None:
    """A lock on the open folder."""
    if sys.platform == "win32":
        raise AssertionError("`try_lock` locks a file there")
    import fcntl  # noqa: PLC0415 (Windows has none)

    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    lock = Lock(lambda: os.close(descriptor))
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        same = os.path.samestat(os.fstat(descriptor), folder.stat())
    except BlockingIOError:
        lock.close()
        return None
    except FileNotFoundError:
        lock.close()
        raise
    except OSError:
        return lock  # the file system has no locks
    if not same:
        lock.close()
        raise FileNotFoundError(folder)
    return lock


def _by_file(folder: Path) -> Lock | None:
    """A lock on a temporary file, whose name is made of the folder's."""
    from filelock import FileLock, Timeout  # noqa: PLC0415 (installed on Windows alone)

    name = hashlib.sha256(os.path.normcase(folder.resolve(strict=True)).encode()).hexdigest()[:32]
    lock = FileLock(Path(tempfile.gettempdir()) / f"ssdlab-{name}.lock", blocking=False, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        return None
    return Lock(lock.release)


def holder(folder: Path) -> str:
    """The process that holds the lock of a folder, as text, from Linux's list of locks."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, ValueError):
            status = folder.stat()
            place = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
            for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
                found = re.match(rf"\d+: FLOCK +ADVISORY +WRITE +(\d+) {place} ", line)
                if found:
                    return "this process" if int(found[1]) == os.getpid() else f"process {found[1]}"
    return "another process"
