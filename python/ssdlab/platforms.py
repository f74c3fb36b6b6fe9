"""What differs between operating systems: what needs Linux, and how many processors a process may use."""

from __future__ import annotations

import os
import sys

from ssdlab.errors import Error

__all__ = ["need_linux", "processors"]


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
