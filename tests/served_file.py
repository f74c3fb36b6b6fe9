"""A drive that is served as a file, for tests, where that can be: mounts need permission, file systems and databases other programs."""

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
from programs import NOT_INSTALLED, SEARCHED, ended_well, tool
from server import Server

SYS_ADMIN = 1 << 21
"""The capability with which a process may mount."""


def may_mount() -> bool:
    """Whether this process has that capability."""
    held = re.search(r"^CapEff:\s*(\w+)$", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert held
    return int(held[1], 16) & SYS_ADMIN != 0


@cache
def why_no_mount() -> str | None:
    """Why a file cannot be served here, if it cannot."""
    try:
        os.close(os.open("/dev/fuse", os.O_RDWR))
    except OSError as error:
        return f"FUSE cannot be had: {error}"
    if not may_mount() and shutil.which("fusermount3") is None:
        return "this user may not mount, and there is no fusermount3"
    return None


@cache
def why_no_loop_device() -> str | None:
    """Why a file cannot be a block device here, if it cannot."""
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
    """A server under way.

    Attributes:
        file: the file that it serves.
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
    """A drive that ends well, and leaves no mount."""
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
    """Whether something is mounted at a folder, even if nobody serves it any more."""
    return any(line.split()[4] == str(folder) for line in Path("/proc/self/mountinfo").read_text().splitlines())


@contextlib.contextmanager
def loop_device(file: Path) -> Iterator[str]:
    """The file as a block device of Linux, past the page cache."""
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
    """A new file system."""
    ended_well([tool("mkfs.ext4"), "-q", file])


def check_ext4(file: Path) -> None:
    """The file system is as it should be: nothing is to be mended."""
    ended_well([tool("fsck.ext4"), "-f", "-n", file])


@contextlib.contextmanager
def mounted(file: Path, folder: Path) -> Iterator[Path]:
    """The folder with the ext4 of a file, which is checked afterwards."""
    folder.mkdir(exist_ok=True)
    with loop_device(file) as device:
        done = subprocess.run(["mount", device, folder], capture_output=True, text=True, check=False)
        if done.returncode != 0 and "ext4" not in Path("/proc/filesystems").read_text():
            pytest.skip("this kernel has no ext4")
        assert done.returncode == 0, done.stderr
        try:
            yield folder
        finally:
            ended_well(["umount", folder])
    check_ext4(file)
