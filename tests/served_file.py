"""A drive that is served as a file, for tests. Mounts need permission; file systems and databases need other programs."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

from conftest import DRIVE, options
from programs import NOT_INSTALLED, SEARCHED, ended_well, tool, unmount
from server import Server

SYS_ADMIN = 1 << 21
"""The capability to mount file systems."""


def may_mount() -> bool:
    """Whether this process has the capability to mount."""
    held = re.search(r"^CapEff:\s*(\w+)$", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert held
    return int(held[1], 16) & SYS_ADMIN != 0


@cache
def why_no_mount() -> str | None:
    """The reason why a file cannot be served here; `None` if it can."""
    try:
        os.close(os.open("/dev/fuse", os.O_RDWR))
    except OSError as error:
        return f"FUSE cannot be had: {error}"
    if not may_mount() and shutil.which("fusermount3") is None:
        return "this user may not mount, and there is no fusermount3"
    return None


@cache
def why_no_loop_device() -> str | None:
    """The reason why a file cannot be made a block device here; `None` if it can."""
    losetup = shutil.which("losetup", path=SEARCHED)
    if losetup is None:
        return f"losetup {NOT_INSTALLED}"
    if os.geteuid() != 0 or not may_mount():
        return "a loop device, and mounting it, need root"
    with tempfile.NamedTemporaryFile() as plain:
        plain.truncate(1 << 20)
        done = subprocess.run([losetup, "--find", "--show", plain.name], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return f"no loop device can be had here: {done.stderr.strip()}"
        subprocess.run([losetup, "--detach", done.stdout.strip()], check=True)
    return None


class FileDrive(Server):
    """A running server.

    Attributes:
        file: file that it serves.
    """

    def __init__(self, folder: Path, words: Sequence[str], *, scale: float, drive: Sequence[str]) -> None:
        reason = why_no_mount()
        if reason is not None:
            pytest.skip(reason)
        self.mount = folder / "mount"
        self.mount.mkdir(exist_ok=True)
        self.file = self.mount / "drive"
        words = ["serve", "--file", str(self.mount), "--scale", str(scale), "--json", *drive, *words]
        super().__init__(folder, words)
        assert self.process.stderr is not None
        said = self.process.stderr.readline()
        if "cannot mount there" in said and "not permitted" in said:
            pytest.skip(said)
        assert said.startswith(f"serving at {self.file} "), said + self.process.stderr.read()


@contextlib.contextmanager
def served(folder: Path, *words: str, scale: float = 0.01, drive: Sequence[str] = tuple(options(DRIVE))) -> Iterator[FileDrive]:
    """Serves a drive, and checks that it ends regularly and leaves no mount."""
    server = FileDrive(folder, words, scale=scale, drive=drive)
    try:
        yield server
        code, said = server.stop()
        assert (code, said) == (0, "")
        assert not is_mounted(server.mount)
        assert not list(server.mount.iterdir())
    finally:
        server.process.kill()
        server.process.communicate()
        if is_mounted(server.mount):
            subprocess.run(["umount", "--lazy", server.mount], check=False)


def is_mounted(folder: Path) -> bool:
    """Whether a file system is mounted at a folder, even if its server has ended."""
    return any(line.split()[4] == str(folder) for line in Path("/proc/self/mountinfo").read_text().splitlines())


@contextlib.contextmanager
def loop_device(file: Path) -> Iterator[str]:
    """Makes the file a Linux block device that bypasses the page cache."""
    reason = why_no_loop_device()
    if reason is not None:
        pytest.skip(reason)
    losetup = tool("losetup")
    device = ended_well([losetup, "--find", "--show", "--direct-io=on", file]).strip()
    try:
        yield device
    finally:
        subprocess.run([losetup, "--detach", device], check=True)


def make_ext4(file: Path) -> None:
    """Makes a new ext4 file system."""
    ended_well([tool("mkfs.ext4"), "-q", file])


def check_ext4(file: Path) -> None:
    """Checks that the file system needs no repair."""
    ended_well([tool("fsck.ext4"), "-f", "-n", file])


@contextlib.contextmanager
def mounted(file: Path, folder: Path) -> Iterator[Path]:
    """Mounts the ext4 of a file at a folder; the file system is checked afterwards."""
    folder.mkdir(exist_ok=True)
    with loop_device(file) as device:
        done = subprocess.run(["mount", device, folder], capture_output=True, text=True, check=False)
        if done.returncode != 0 and "ext4" not in Path("/proc/filesystems").read_text():
            pytest.skip("this kernel has no ext4")
        assert done.returncode == 0, done.stderr
        try:
            yield folder
        finally:
            unmount(folder)
    check_ext4(file)
