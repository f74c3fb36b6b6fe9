"""Parses the kernel's lines about block requests, as printed by `trace_pipe`."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["ISSUE", "OPS", "QUEUE", "REQUEUE", "SECTOR_BYTES", "Event", "Lost", "op_of", "parse_line"]

SECTOR_BYTES = 512
"""Unit of the kernel's sector numbers, bytes, for all devices."""

OPS = "RWTF"
"""Operations in a trace: read, write, trim, flush."""

ISSUE = "block_rq_issue"
"""Event: a request is issued to the drive, after merging, splitting and scheduling."""
REQUEUE = "block_rq_requeue"
"""Event: the driver returned a request, which will be issued again."""
QUEUE = "block_bio_queue"
"""Event: a request enters the block layer. Devices without a queue of their own, such as LVM volumes, have no other event."""

# `task-pid (tgid) [cpu] flags seconds: event: major,minor rwbs bytes (command) sector + sectors priority [task]`. The thread group is an
# option; `bytes` only some events have, the priority only some kernels. A task's name may hold anything, but at most 15 characters.
_EVENT = re.compile(
    rf"\[(?P<cpu>\d{{3,}})\] +(?:[^ ]+ +)?(?P<s>\d+)\.(?P<us>\d{{6}}): (?P<event>{ISSUE}|{REQUEUE}|{QUEUE}): "
    r"\d+,\d+ (?P<rwbs>[A-Z]+) (?:\d+ )?(?:\([^)]*\) )?(?P<sector>\d+) \+ (?P<sectors>\d+) "
)
_LOST = re.compile(r"CPU:(?P<cpu>\d+) \[LOST (?:(?P<events>\d+) )?EVENTS\]")
_NAMES = tuple(f": {event}: " for event in (ISSUE, REQUEUE, QUEUE))


class Event(NamedTuple):
    """An event of a request, by the clock of the recording."""

    time_us: int
    cpu: int
    requeued: bool
    rwbs: str
    op: str
    """One of `OPS`; empty for a request that is not part of a trace."""
    sector: int
    """Sector from the start of the disk, in units of 512 bytes."""
    sectors: int


class Lost(NamedTuple):
    """Events of a processor that were overwritten before they were read; their number may be unknown."""

    cpu: int
    events: int | None


def op_of(rwbs: str, sectors: int) -> str:
    """The operation of a request, from the letters of the kernel's `blk_fill_rwbs`: optionally F (flush before), operation, flags.

    The flags (F: to the medium, A: read ahead, S: synchronous, M: metadata) change nothing. Zeroes to be written (N, like other operations
    without a letter, but with sectors) transfer no data and count as a trim, as in the readers of traces. Commands that bypass the block
    layer (N without sectors) and zone operations (Z) are not part of a trace.
    """
    flushes = len(rwbs) > 1 and rwbs[0] == "F" and rwbs[1] in "FRWDNZ"
    kind = rwbs[1:] if flushes else rwbs
    if kind[0] == "F" or (flushes and sectors == 0):
        return "F"
    if sectors == 0:
        return ""
    if kind[0] in "DN" or kind.startswith("WZ"):
        return "T"
    return kind[0] if kind[0] in "RW" else ""


def parse_line(line: str) -> Event | Lost | None:
    """Parses a line; `None` for a line that is not about requests.

    Raises:
        ValueError: the line is about a request, but in an unknown form.
    """
    found = _EVENT.search(line)
    if found is None:
        lost = _LOST.match(line)
        if lost is not None:
            return Lost(int(lost["cpu"]), int(lost["events"]) if lost["events"] else None)
        if any(name in line for name in _NAMES):
            raise ValueError(line)
        return None
    cpu, seconds, micros, event, rwbs, sector, sectors = found.groups()
    count = int(sectors)
    return Event(int(seconds) * 1_000_000 + int(micros), int(cpu), event == REQUEUE, rwbs, op_of(rwbs, count), int(sector), count)
