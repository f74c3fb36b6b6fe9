"""The recorded device: its number in the kernel, and the partition that was named."""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

from ssdlab.errors import Error, UsageError
from ssdlab.system.recording.lines import ISSUE, QUEUE, SECTOR_BYTES

__all__ = ["SYSFS", "Device", "describe", "find_device"]

SYSFS = Path("/sys/dev/block")
"""Folder in which the kernel describes block devices by number."""

_MINOR_BITS = 20  # bits of the minor number within the kernel, which differs from `stat`'s


@dataclass(frozen=True, kw_only=True)
class Device:
    """A disk, or a partition of a disk. Events name the disk, and sectors from its start.

    Attributes:
        path: path given by the user.
        major: major number of the disk.
        minor: minor number of the disk.
        start: first sector of the device on the disk, in units of 512 bytes.
        sectors: number of sectors, in units of 512 bytes.
        partition: whether it is a partition.
        event: kernel event of its requests.
    """

    path: str
    major: int
    minor: int
    start: int
    sectors: int
    partition: bool
    event: str

    @property
    def filter(self) -> str:
        """The kernel's filter expression for events of the disk."""
        return f"dev == {self.major << _MINOR_BITS | self.minor}"

    @property
    def size_bytes(self) -> int:
        """Size of the device, bytes."""
        return self.sectors * SECTOR_BYTES

    def holds(self, sector: int) -> bool:
        """Whether a sector of the disk belongs to the device."""
        return self.start <= sector < self.start + self.sectors


def find_device(path: Path, sysfs: Path = SYSFS) -> Device:
    """Finds the block device with a path such as `/dev/nvme0n1`, `/dev/sda2` or `/dev/mapper/data`.

    Raises:
        UsageError: the path does not exist, or is not a block device with a medium, or is a zoned drive.
        Error: the kernel does not describe it.
    """
    try:
        found = os.stat(path)  # noqa: PTH116 (`os` also splits its device number)
    except OSError as reason:
        raise UsageError(f"--dev {path}: {reason.strerror}; `lsblk` lists the block devices") from reason
    if not stat.S_ISBLK(found.st_mode):
        hint = f"`findmnt -no SOURCE -T {path}` names the one that holds it, `lsblk` lists all"
        raise UsageError(f"--dev {path}: expected a block device, such as /dev/nvme0n1; {hint}")
    if sys.platform == "win32":
        raise AssertionError("`need_linux` has refused it")
    return describe(path, os.major(found.st_rdev), os.minor(found.st_rdev), sysfs)


def describe(path: Path, major: int, minor: int, sysfs: Path = SYSFS) -> Device:
    """Describes the device with these numbers."""
    folder = sysfs / f"{major}:{minor}"
    try:
        partition = (folder / "partition").exists()
        disk = folder.resolve(strict=True).parent if partition else folder
        start = int((folder / "start").read_text()) if partition else 0
        sectors = int((folder / "size").read_text())
        disk_major, disk_minor = map(int, (disk / "dev").read_text().split(":"))
        zoned = disk / "queue" / "zoned"
        is_zoned = zoned.exists() and zoned.read_text().strip() != "none"
        has_queue = (disk / "mq").is_dir()
    except (OSError, ValueError) as reason:
        raise Error(f"--dev {path}: the kernel does not describe it in {folder}: {reason}; is /sys mounted?") from reason
    if sectors == 0:
        raise UsageError(f"--dev {path}: has no medium, its size is 0; `lsblk` lists the block devices with their sizes")
    if is_zoned:
        raise UsageError(f"--dev {path}: is a zoned drive, whose zone appends have no address for a trace: record another device")
    return Device(
        path=os.fspath(path),
        major=disk_major,
        minor=disk_minor,
        start=start,
        sectors=sectors,
        partition=partition,
        event=ISSUE if has_queue else QUEUE,
    )
