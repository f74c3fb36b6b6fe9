"""Operations, jobs, page operations and times of a request in words."""

from __future__ import annotations

from ssdlab.pages.tables.numbers import duration
from ssdlab.pages.why.names import CAUSES, SERVED, WAITS
from ssdlab.pages.why.records import Explained, Job, Operation, PageOperation, Segment, Share, Stage

__all__ = [
    "die_of",
    "is_aside",
    "job_of",
    "lane_of",
    "most_overlapping",
    "of_operation",
    "of_share",
    "page_name",
    "reason",
    "short_name",
    "since",
    "span",
    "when",
]


def die_of(one: Explained, die: int, drive: int) -> str:
    """A die, with its drive where there are several: `die 6 of drive 2`."""
    return f"die {die} of drive {drive}" if one.drives > 1 else f"die {die}"


def of_operation(one: Explained, operation: Operation) -> str:
    """An operation by what it does, and where: `the erase of block 91 on die 6`."""
    names = [stage.name for stage in operation.stages]
    die = die_of(one, operation.die, operation.drive)
    block = f"block {operation.block}" if operation.block is not None else "a page without data"
    if "erase" in names:
        return f"the erase of {block} on {die}"
    if not operation.host:
        return f"the move of page {operation.lpn} out of {block} on {die}"
    more = f" and {operation.pages - 1} more pages" if operation.pages > 1 else ""
    return f"the {_kind(operation)} of page {operation.lpn}{more} in {block} on {die} for {_whom(operation)}"


def short_name(one: Explained, operation: Operation) -> str:
    """An operation in few words: `die 6: erase block 91`."""
    kind, _, of = of_operation(one, operation).removeprefix("the ").partition(" of ")
    what = " ".join(of.split(" ")[:2])
    return f"{lane_of(one, operation.die, operation.drive)}: {kind} {what}"


def lane_of(one: Explained, die: int, drive: int) -> str:
    """A die in few words, as timelines name it."""
    return f"drive {drive} die {die}" if one.drives > 1 else f"die {die}"


def page_name(one: Explained, page: PageOperation) -> str:
    """A page operation by what it does, where, and for whom: `program of page 17 in block 91 on die 4 for the write buffer`."""
    own = next((one.operations[segment.by] for segment in page.segments if segment.by is not None), None)
    block = f" in block {own.block}" if own is not None and own.host and own.block is not None else ""
    kind = "program" if page.write else "read"
    return f"{kind} of page {page.lpn}{block} on {die_of(one, page.die, page.drive)} for {_whom(page)}"


def job_of(one: Explained, job: Job) -> str:
    """A GC job by its number: `GC job 651 of drive 2`."""
    return f"GC job {job.job:,}" + (f" of drive {job.drive}" if one.drives > 1 else "")


def of_share(share: Share, units: int | None) -> str:
    """A share by what the request did: `waiting for the bus`, `in the DRAM`. `units`: number of units of the write buffer."""
    return f"waiting {reason(share, units)}" if share.waits else SERVED[share.what]


def reason(share: Share, units: int | None) -> str:
    """What a share waited for."""
    full = f", full with {units:,} units" if units is not None and share.what == "buffer_full" else ""
    return f"{WAITS[share.what]}{full}"


def when(one: Explained, ns: int) -> str:
    """A moment, as seen from the arrival of the request."""
    after = ns - one.arrival_ns
    return f"{duration(abs(after))} {'before' if after < 0 else 'after'} the request came"


def since(begun_ns: int, segment: Segment) -> str:
    """When something began, as seen from the start of a segment."""
    before = segment.from_ns - begun_ns
    return f"begun {duration(before)} before" if before >= 0 else f"begun {duration(-before)} later"


def is_aside(stage: Stage) -> bool:
    """Whether an operation is suspended, or waits, in a stage."""
    return stage.name.startswith(("suspended", "paused", "put aside", "wait", "preemption"))


def span(one: Explained) -> tuple[int, int]:
    """The interval of a timeline, ns: from the arrival of the request, or of a page operation that it waited for, to its completion."""
    return min((one.arrival_ns, *(page.from_ns for page in one.pages))), one.completed_ns


def most_overlapping(one: Explained) -> list[Operation]:
    """The operations that segments waited for, those that overlap them longest first."""
    overlaps: dict[int, int] = {}
    for segment in one.all_segments():
        for entry in segment.behind:
            overlaps[entry.operation] = overlaps.get(entry.operation, 0) + entry.ns
    return [one.operations[place] for place in sorted(overlaps, key=lambda place: (-overlaps[place], place))]


def _kind(operation: Operation) -> str:
    return "program" if any(stage.name in ("program", "transfer in") for stage in operation.stages) else "read"


def _whom(operation: Operation | PageOperation) -> str:
    if operation.cause is not None:
        return CAUSES[operation.cause]
    return f"request {operation.request:,}" if operation.request is not None else "the drive"
