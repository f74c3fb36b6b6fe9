"""Files of jobs on the drive: each is a range of bytes of its own, one behind another."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ssdlab.asking.fio.job_file import Entry, Section

__all__ = ["MOST_FLOWS", "PART_BYTES", "begin_of", "copies_of", "file_of", "places_of"]

PART_BYTES = 1 << 16
"""Alignment of the parts of the exported range (`workload.part`)."""
MOST_FLOWS = 256
"""Highest number of flows of a workload."""
_PARTITION = re.compile(r"^(/dev/(?:nvme\d+n\d+|mmcblk\d+|md\d+)(?=p\d)|/dev/[svx]v?d[a-z]+(?=\d)|/dev/disk/.+(?=-part\d))[-a-z]*\d+$")
"""The path of a partition; the group is the drive."""


def copies_of(job: Section) -> int:
    """The number of copies of a job (`numjobs`)."""
    entry = job.get("numjobs")
    return 1 if entry is None else entry.whole(1, MOST_FLOWS)


def file_of(job: Section, copy: int) -> str:
    """The path of the file of a copy of a job. Without a name in the job file, each copy has its own, as fio names it."""
    given = job.get("filename") or job.get("filename_format")
    name = job.name if given is None and job.name.startswith("/dev/") else None if given is None else given.value
    if name is not None and name.startswith("/dev/"):
        return re.sub(r"^/dev/ng(?=\d)", "/dev/nvme", name)
    folders = job.options["directory"].parts(":") if job.get("directory") is not None else []
    folder = f"{folders[copy % len(folders)].value.rstrip('/')}/" if folders else ""
    return folder + (f"{job.name}.{copy}.0" if name is None else name)


def begin_of(job: Section, copy: int, exported: int, differs: list[str]) -> int:
    """The first byte of a copy of a job within its file."""
    begin = 0
    for name, times in (("offset", 1), ("offset_increment", copy)):
        entry = job.get(name)
        if entry is None:
            continue
        amount = entry.amount()
        step = amount.of(exported)
        if step % PART_BYTES and amount.percent is None:
            raise entry.refuse("expected a multiple of 64 KiB, at which parts of a drive begin")
        if step % PART_BYTES:
            step = step // PART_BYTES * PART_BYTES
            differs.append(f"[{job.name}]: {name} = {entry.value} is rounded down to {step} bytes, a multiple of 64 KiB")
        begin += step * times
    return begin


def places_of(jobs: Sequence[Section], exported: int) -> Mapping[str, int]:
    """The first byte of each file. A single file is the whole drive.

    Raises:
        UsageError: the files are several drives, the size of one is not known, or all together are larger than the drive.
    """
    users: dict[str, list[tuple[Section, int]]] = {}
    for job in jobs:
        for copy in range(copies_of(job)):
            users.setdefault(file_of(job, copy), []).append((job, copy))
    if len(users) == 1:
        return dict.fromkeys(users, 0)
    _check_drives(users)
    begins, end = {}, 0
    for name, using in users.items():
        begins[name] = -(-end // PART_BYTES) * PART_BYTES
        end = begins[name] + max(_end_in_file(job, copy, name, exported) for job, copy in using)
    if end > exported:
        what = f"{len(users)} files of {end} bytes in all, of which the drive exports {exported}"
        raise jobs[0].refuse(f"{what}; make size smaller, or {ONE_DRIVE}")
    return begins


ONE_DRIVE = (
    "set filename=/dev/nvme0n1 in [global], so that all jobs use the whole drive (without filename each copy of a job has its own file)"
)


def _check_drives(users: Mapping[str, Sequence[tuple[Section, int]]]) -> None:
    """Refuses several drives, and a drive beside its partitions or beside files."""
    drives = {name: _PARTITION.sub(r"\1", name) if name.startswith("/dev/") else "" for name in users}
    for name, drive in drives.items():
        other = next(iter(drives))
        if drive != drives[other] or name == drive:
            job, _ = users[name][0]
            raise (job.get("filename") or job.options.get("filename_format") or Entry(job.file, job.line, f"[{job.name}]", "")).refuse(
                f"{name} beside {other if other != name else list(drives)[-1]}: expected one drive, its partitions, or files on it; "
                "make a job file for each drive, or give all jobs one filename with offset and size"
            )


def _end_in_file(job: Section, copy: int, name: str, exported: int) -> int:
    """The end of the range of a copy of a job within its file."""
    is_partition = name.startswith("/dev/")
    entries = [entry for option in ("size", "offset", "offset_increment") if (entry := job.get(option)) is not None]
    share = next((entry for entry in entries if entry.amount().percent is not None), None)
    if is_partition and share is not None:
        raise share.refuse(f"a share of {name}, whose size is not known: expected bytes such as 512m")
    if job.get("size") is None:
        raise job.refuse(f"needs size, since there are several files; or {ONE_DRIVE}")
    return begin_of(job, copy, exported, []) + job.options["size"].amount().of(exported)
