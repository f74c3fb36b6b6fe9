"""What differs between operating systems: what needs Linux, and how many processors and how much memory a process may use."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from ssdlab.errors import Error

__all__ = ["free_memory", "need_linux", "processors"]

MEMORY_FILE = Path("/proc/meminfo")
GROUP_FOLDER = Path("/sys/fs/cgroup")
"""Folder with the limits of the control group that this process is in, of version 2, as containers see it."""


def need_linux(what: str, instead: str, platform: str | None = None) -> None:
    """Checks that the system is Linux.

    Args:
        what: what is done on Linux only, such as `a drive is served`.
        instead: what to do on other systems.
        platform: the system, by default this one.

    Raises:
        Error: the system is another one.
    """
    platform = sys.platform if platform is None else platform
    if platform != "linux":
        raise Error(f"{what} on Linux only, and this is {platform}: {instead}")


def processors() -> int:
    """The number of processors that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def free_memory() -> int | None:
    """The bytes of memory that can be taken without swapping, within the limit of a container; `None` where the system does not say."""
    known = [size for size in (_available(), _left_of_group()) if size is not None]
    return min(known, default=None)


def _available() -> int | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        lines = (line.split() for line in MEMORY_FILE.read_text().splitlines())
        return next((int(words[1]) * 1024 for words in lines if words[0] == "MemAvailable:"), None)
    return None


def _left_of_group() -> int | None:
    with contextlib.suppress(OSError, ValueError):  # "max" is no number
        return int((GROUP_FOLDER / "memory.max").read_text()) - int((GROUP_FOLDER / "memory.current").read_text())
    return None
