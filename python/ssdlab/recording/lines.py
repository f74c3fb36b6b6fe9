"""The kernel's lines about block requests, as `trace_pipe` prints them."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["ISSUE", "OPS", "QUEUE", "REQUEUE", "SECTOR_BYTES", "Event", "Lost", "op_of", "parse_line"]

SECTOR_BYTES = 512
"""The kernel counts in these, whatever the device's own sectors are."""

OPS = "RWTF"
"""Read, write, trim, flush, as the trace has them."""

ISSUE = "block_rq_issue"
"""The drive is given a request, after merging, splitting and scheduling."""
REQUEUE = "block_rq_requeue"
"""The drive's driver handed one back; it will be issued again."""
QUEUE = "block_bio_queue"
"""A request enters the block layer: all that is seen of devices without a queue of their own, such as LVM volumes."""

# `task-pid (tgid) [cpu] flags seconds: event: major,minor rwbs bytes (command) sector + sectors priority [task]`. The thread group is an
# option; `bytes` only some events have, the priority only some kernels. A task's name may hold anything, but at most 15 characters.
_EVENT = re.compile(
    rf"\[(?P<cpu>\d{{3,}})\] +(?:[^ ]+ +)?(?P<s>\d+)\.(?P<us>\d{{6}}): (?P<event>{ISSUE}|{REQUEUE}|{QUEUE}): "
    r"\d+,\d+ (?P<rwbs>[A-Z]+) (?:\d+ )?(?:\([^)]*\) )?(?P<sector>\d+) \+ (?P<sectors>\d+) "
)
_LOST = re.compile(r"CPU:(?P<cpu>\d+) \[LOST (?:(?P<events>\d+) )?EVENTS\]")
_NAMES = tuple(f": {event}: " for event in (ISSUE, REQUEUE, QUEUE))


class Event(NamedTuple):
    """Something that happened to a request, by the clock of the recording."""

    time_us: int
    cpu: int
    requeued: bool
    rwbs: str
    op: str
    """One of `OPS`, or empty for what is no request of a trace."""
    sector: int
    """From the start of the disk, in units of 512 bytes."""
    sectors: int


class Lost(NamedTuple):
    """Events of a processor that were overwritten before they could be read; the kernel may not know how many."""

    cpu: int
    events: int | None


def op_of(rwbs: str, sectors: int) -> str:
    """What a request is, by the letters of the kernel's `blk_fill_rwbs`: perhaps F (flush before), the operation, further flags.

    The further flags (F: to the medium, A: read ahead, S: synchronous, M: metadata) change nothing. Zeroes to be written (N, as anything
    that has no letter, but with sectors) transfer no data and are a trim, as in the readers of traces. Commands past the block layer (N
    without sectors) and operations of zones (Z) are no requests of a trace.
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
    """What a line says; `None` for one that says nothing about requests.

    Raises:
        ValueError: if it is about a request, but not in a form known here.
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
