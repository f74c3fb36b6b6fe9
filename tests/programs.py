"""Other programs that some tests use if they are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

# only to end programs that hang; no test depends on it
PATIENCE_S = 600
PLACES = [os.environ["PATH"], "/usr/sbin", "/sbin", *map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True))]
SEARCHED = os.pathsep.join(PLACES)
"""Search path for programs: a user's PATH lacks some folders."""
NOT_INSTALLED = "is not installed"
"""End of the reason of a test that was skipped for lack of a program."""
PACKAGES = {
    "fio": "fio",
    "fsck.ext4": "e2fsprogs",
    "initdb": "postgresql",
    "losetup": "mount",
    "mariadb-install-db": "mariadb-server",
    "mkfs.ext4": "e2fsprogs",
    "nbdcopy": "libnbd-bin",
    "nbdinfo": "libnbd-bin",
    "qemu-io": "qemu-utils",
}
"""Debian packages of programs that a development machine may lack."""


def tool(name: str) -> str:
    """The path of a program; skips the test without it."""
    found = shutil.which(name, path=SEARCHED)
    if found is None:
        pytest.skip(f"{name} {NOT_INSTALLED}")
    return found


def ended_well(words: Sequence[str | Path], **more: Any) -> str:
    """Runs a program; fails the test if it fails, else returns its output."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S, check=False, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def unmount(folder: Path) -> None:
    """Unmounts a file system as soon as no program uses it: one that has just ended may hold it for a moment."""
    deadline = time.monotonic() + PATIENCE_S
    while (done := subprocess.run(["umount", folder], capture_output=True, text=True, check=False)).returncode != 0:
        assert "busy" in done.stderr, done.stderr
        assert time.monotonic() < deadline, done.stderr
        time.sleep(0.05)


def left_out(reasons: Sequence[str]) -> str | None:
    """A line about the tests skipped for lack of a program, from the reasons of all skipped tests; `None` without any."""
    missing = [reason.removesuffix(f" {NOT_INSTALLED}").rpartition(" ")[2] for reason in reasons if reason.endswith(NOT_INSTALLED)]
    if not missing:
        return None
    names = sorted({*missing})
    packages = " ".join(sorted({PACKAGES.get(name, name) for name in names}))
    return f"LEFT OUT: {len(missing)} tests with {', '.join(names)}, which are not installed (Debian: apt install {packages})"
