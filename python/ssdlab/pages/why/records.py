"""The records of `slowest.json`: a request with its segments, and the operations, jobs and page operations that these name by place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields
from typing import Any

__all__ = ["Explained", "Job", "Older", "Operation", "Overlap", "PageOperation", "Record", "Segment", "Share", "Stage"]


@dataclass(frozen=True)
class Record:
    """An object of the file."""

    def to_dict(self) -> dict[str, Any]:
        """The object as JSON has it: without entries that have their default."""
        kept = ((field, getattr(self, field.name)) for field in fields(self))
        return {field.name: _plain(value) for field, value in kept if field.default is MISSING or value != field.default}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    return value.to_dict() if isinstance(value, Record) else value


@dataclass(frozen=True)
class Share(Record):
    """A share of a time: waiting for a reason, or being served by a resource."""

    what: str
    waits: bool
    part: str
    """The part of the response time that it belongs to."""
    ns: int


@dataclass(frozen=True)
class Overlap(Record):
    """An operation, by its place in `operations`, and for how long it overlaps a segment."""

    operation: int
    ns: int


@dataclass(frozen=True)
class Segment(Record):
    """An interval of a time, with what it was spent on: several shares where their order is not known."""

    from_ns: int
    to_ns: int
    shares: tuple[Share, ...]
    drive: int | None = None
    die: int | None = None
    by: int | None = None
    """The operation that served it, by its place."""
    behind: tuple[Overlap, ...] = ()
    """Operations that it waited for, those with the longest overlap first."""
    more: int = 0
    """Number of further operations that it waited for, and their overlaps together (`more_ns`)."""
    more_ns: int = 0
    programs: int = 0
    """Number of programs of the write buffer that ended while it waited for room there."""
    jobs: tuple[int, ...] = ()
    """GC jobs that it waited for, by place."""
    pages: tuple[int, ...] = ()
    """Page operations whose end it waited for, by place."""

    @property
    def ns(self) -> int:
        """Length of the segment, ns."""
        return self.to_ns - self.from_ns


@dataclass(frozen=True)
class Stage(Record):
    """A stage of an operation; `to_ns` is `None` if its end is not known."""

    name: str
    from_ns: int
    to_ns: int | None = None


@dataclass(frozen=True)
class Operation(Record):
    """A flash operation with its stages until the request completed."""

    drive: int
    die: int
    host: bool
    """Whether the operation serves requests; else it is a step of a GC job."""
    stages: tuple[Stage, ...]
    pages: int
    request: int | None = None
    cause: str | None = None
    lpn: int | None = None
    ppn: int | None = None
    block: int | None = None
    job: int | None = None


@dataclass(frozen=True)
class Job(Record):
    """A GC job."""

    drive: int
    job: int
    pool: int
    die: int
    victim: int
    valid_pages: int
    trigger: str
    free_blocks: int
    from_ns: int
    to_ns: int | None = None
    set_off_by: int | None = None
    """The program that took the free block for which it began, by its place in `operations`."""


@dataclass(frozen=True)
class PageOperation(Record):
    """A page operation whose end a request waited for."""

    drive: int
    die: int
    lpn: int
    write: bool
    from_ns: int
    to_ns: int
    segments: tuple[Segment, ...]
    request: int | None = None
    cause: str | None = None


@dataclass(frozen=True)
class Older(Record):
    """An older write or trim that a read waited behind: the read came in when it did."""

    request: int
    kind: str
    arrival_ns: int
    same: str
    """What both have in common: `bytes`, a mapping `unit`, or nothing, where no read passes a write that waits (`buffer.reads_pass`)."""


@dataclass(frozen=True)
class Explained(Record):
    """A request, and why it took as long as it did."""

    request: int
    flow: int
    kind: str
    offset_bytes: int
    size_bytes: int
    arrival_ns: int
    completed_ns: int
    response_ns: int
    drives: int
    shares: tuple[Share, ...]
    segments: tuple[Segment, ...]
    operations: tuple[Operation, ...]
    jobs: tuple[Job, ...]
    pages: tuple[PageOperation, ...]
    blocked_by: str | None = None
    known_from_ns: int | None = None
    """From this time on all operations were still recorded; `None` if none is missing."""
    older: Older | None = None
    """The older request that a read waited behind, found in the log of requests; not in the file."""

    def all_segments(self) -> Iterator[Segment]:
        """Segments of the request and of its page operations."""
        yield from self.segments
        for page in self.pages:
            yield from page.segments
