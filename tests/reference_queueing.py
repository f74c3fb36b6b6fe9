"""A slow and simple single die of bux2011, against which the core's is compared, and the report's equations.

W. Bux, System Performance Issues in Flash-Based Solid-State Drives, IBM Research Report RZ 3801, 2011. Written from the report and the
model's description, without the core's sources, so that one misreading does not occur in both.

The simulation steps from instant to instant, in whole numbers of time. At each instant it handles ends, then arrivals, then starts an
operation if the die is idle. Choices that the description leaves open:

* Requests that arrive at one instant are served in the order in which they are given.
* `Outcome.held` counts, once each, the writes that the idle die skipped because no block was available.
* Queue lengths only count requests that wait: a request served at its arrival was never in a queue.

The equations use the report's symbols and only arithmetic, so that they accept floats, NumPy arrays, and fractions (for which they are
exact).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal

import numpy as np

Op = Literal["read", "write"]
Arrivals = Sequence[tuple[int, Op]]
Interval = tuple[int, int]

PRIORITIES = ["rwp", "cep", "fifo"]


# the simulation


@dataclass(frozen=True)
class Die:
    """Service times of a die, and the size of its collections."""

    read_ns: int
    write_ns: int
    copy_ns: int
    erase_ns: int
    pages: int
    valid: tuple[int, ...]
    """Pages that successive collections copy; the list is repeated."""
    free_blocks: int | None = None

    def valid_of(self, collection: int) -> int:
        return self.valid[collection % len(self.valid)]

    def room_before(self, collection: int) -> int:
        """Number of user writes that fill the block which starts this collection (counted from 0)."""
        return self.pages - self.valid_of(max(collection - 1, 0))

    def work_of(self, collection: int) -> int:
        return self.valid_of(collection) * self.copy_ns + self.erase_ns

    def least_ns(self, collection: Collection) -> int:
        """Duration of the collection without interruptions, ns."""
        return collection.valid * self.copy_ns + self.erase_ns

    def service(self, op: Op) -> int:
        return self.read_ns if op == "read" else self.write_ns


@dataclass
class Request:
    """A user's read or write of a page."""

    arrival_ns: int
    op: Op
    entered: int
    """Position in the order of entry, which includes collections."""
    start_ns: int = -1
    held: bool = False

    @property
    def wait_ns(self) -> int:
        return self.start_ns - self.arrival_ns


@dataclass
class Collection:
    """One garbage collection. Times of events that have not happened are -1."""

    start_ns: int
    valid: int
    overlapped: bool
    entered: int
    copies: list[int] = field(default_factory=list)
    """Start time of each copy, ns."""
    erase_start_ns: int = -1
    end_ns: int = -1
    backlog_end_ns: int = -1

    @property
    def duration_ns(self) -> int:
        return self.end_ns - self.start_ns

    @property
    def backlog_ns(self) -> int:
        return self.backlog_end_ns - self.start_ns


@dataclass
class Outcome:
    """The outcome of a simulation."""

    requests: list[Request]
    collections: list[Collection]
    end_ns: int
    held: int


class Simulation:
    """A simulation of one die."""

    def __init__(self, die: Die, priority: str, arrivals: Arrivals) -> None:
        assert priority in PRIORITIES
        assert all(0 <= valid < die.pages for valid in die.valid)
        assert [at for at, _ in arrivals] == sorted(at for at, _ in arrivals)
        self.die = die
        self.priority = priority
        self.coming = deque(arrivals)
        self.now = 0
        self.entered = 0
        self.requests: list[Request] = []
        self.waiting: deque[Request] = deque()
        self.collections: list[Collection] = []
        self.unfinished: deque[Collection] = deque()
        self.room = die.room_before(0)
        self.serving: Request | Collection | None = None
        self.until = 0

    def run(self) -> Outcome:
        while True:
            if self.serving is not None and self.until == self.now:
                self.end()
            while self.coming and self.coming[0][0] == self.now:
                self.arrive(*self.coming.popleft())
            if self.serving is None:
                if not self.waiting and not self.unfinished:
                    self.idle()
                else:
                    self.take()
            ahead = [at for at, _ in islice(self.coming, 1)]
            if self.serving is not None:
                ahead.append(self.until)
            if not ahead:
                break
            self.now = min(ahead)
        held = sum(request.held for request in self.requests)
        return Outcome(self.requests, self.collections, self.now, held)

    def enters(self) -> int:
        self.entered += 1
        return self.entered

    def arrive(self, at: int, op: Op) -> None:
        request = Request(at, op, self.enters())
        self.requests.append(request)
        self.waiting.append(request)

    def end(self) -> None:
        """Ends the operation in service."""
        served, self.serving = self.serving, None
        if isinstance(served, Collection):
            if served.erase_start_ns >= 0:
                served.end_ns = self.now
                self.unfinished.popleft()
        elif served is not None and served.op == "write":
            self.room -= 1
            if self.room == 0:
                self.collect()

    def collect(self) -> None:
        """Starts a collection after a block was filled."""
        number = len(self.collections)
        overlapped = number > 0 and self.collections[-1].backlog_end_ns < 0
        collection = Collection(self.now, self.die.valid_of(number), overlapped, self.enters())
        self.collections.append(collection)
        self.unfinished.append(collection)
        self.room = self.die.room_before(number + 1)

    def idle(self) -> None:
        for collection in reversed(self.collections):
            if collection.backlog_end_ns >= 0:
                break
            collection.backlog_end_ns = self.now

    def take(self) -> None:
        """Starts the next operation on the idle die."""
        collection = self.unfinished[0] if self.unfinished else None
        request = self.waiting[0] if self.waiting else None
        if request is not None and request.op == "write" and self.no_block():
            request.held = True
            request = None
        if request is not None and (collection is None or self.goes_first(request, collection)):
            self.waiting.popleft()
            request.start_ns = self.now
            self.serve(request, self.die.service(request.op))
        elif collection is not None and len(collection.copies) < collection.valid:
            collection.copies.append(self.now)
            self.serve(collection, self.die.copy_ns)
        elif collection is not None:
            collection.erase_start_ns = self.now
            self.serve(collection, self.die.erase_ns)

    def no_block(self) -> bool:
        """Whether no block is available: each unfinished collection took one."""
        return self.die.free_blocks is not None and len(self.unfinished) > self.die.free_blocks

    def goes_first(self, request: Request, collection: Collection) -> bool:
        if self.priority == "fifo":
            return request.entered < collection.entered
        return self.priority == "rwp"

    def serve(self, what: Request | Collection, time: int) -> None:
        self.serving = what
        self.until = self.now + time


def simulate(die: Die, priority: str, arrivals: Arrivals) -> Outcome:
    return Simulation(die, priority, arrivals).run()


# invariants of any simulation


def intervals(die: Die, outcome: Outcome) -> list[Interval]:
    """Service intervals of the die: every operation, in order of time."""
    served = [(request.start_ns, request.start_ns + die.service(request.op)) for request in outcome.requests]
    for collection in outcome.collections:
        served += [(start, start + die.copy_ns) for start in collection.copies]
        served.append((collection.end_ns - die.erase_ns, collection.end_ns))
    return sorted(served)


def busy_periods(served: Sequence[Interval]) -> list[Interval]:
    """Intervals in which the die was busy without a break. Fails if two operations overlap."""
    periods: list[Interval] = []
    for start, end in served:
        if periods and start == periods[-1][1]:
            periods[-1] = (periods[-1][0], end)
        else:
            assert not periods or start > periods[-1][1], f"two operations at once at {start}"
            periods.append((start, end))
    return periods


def work_brought(die: Die, arrivals: Arrivals) -> Iterator[tuple[int, int]]:
    """Arrival and work of each request: its service and, for the write that fills a block, the collection that it starts.

    The collection counts from the arrival of its write: only then the unfinished work is that of a work-conserving server with given
    arrivals, which does not depend on the order of service (bux2011, section 7: the last write sees the same total backlog in both
    schemes).
    """
    number, room = 0, die.room_before(0)
    for at, op in arrivals:
        work = die.service(op)
        if op == "write":
            room -= 1
            if room == 0:
                work += die.work_of(number)
                number += 1
                room = die.room_before(number)
        yield at, work


def busy_periods_of_any_order(die: Die, arrivals: Arrivals) -> list[Interval]:
    """Busy periods of the die, computed from the arriving work only."""
    periods: list[Interval] = []
    for at, work in work_brought(die, arrivals):
        if periods and at <= periods[-1][1]:
            periods[-1] = (periods[-1][0], periods[-1][1] + work)
        else:
            periods.append((at, at + work))
    return periods


def unfinished_work(die: Die, arrivals: Arrivals, served: Sequence[Interval], at: Sequence[int]) -> list[int]:
    """Unfinished work just after each instant; later collections count with their writes."""
    arrival, work = np.array(list(work_brought(die, arrivals))).T
    start, end = np.array(served).T
    instants = np.array(at)[:, np.newaxis]
    brought = np.where(arrival <= instants, work, 0).sum(axis=1)
    done = np.clip(instants - start, 0, end - start).sum(axis=1)
    return (brought - done).tolist()


def mean_and_most_waiting(waits: Sequence[Interval], until: int) -> tuple[float, int]:
    """Mean number of waiting items from 0 to ``until``, and the maximum, from intervals of waiting."""
    lasting = [(start, min(end, until)) for start, end in waits if start < min(end, until)]
    steps = sorted([(end, -1) for _, end in lasting] + [(start, 1) for start, _ in lasting])
    waiting = most = 0
    for _, step in steps:
        waiting += step
        most = max(most, waiting)
    return sum(end - start for start, end in lasting) / until, most


def waits_under_cep(die: Die, arrival_ns: np.ndarray, is_write: np.ndarray) -> np.ndarray:
    """Every wait under CEP: the unfinished work at the arrival of the request.

    A request waits for all earlier work and the collections that it starts; collections that start later do not delay it. So the waits
    follow Lindley's recursion, w' = max(0, w + work - gap). Whole numbers, any number of requests.
    """
    work = np.where(is_write, die.write_ns, die.read_ns).astype(np.int64)
    writes = np.flatnonzero(is_write)
    filled, number = die.room_before(0), 0
    while filled <= len(writes):
        work[writes[filled - 1]] += die.work_of(number)
        number += 1
        filled += die.room_before(number)
    # the solution of the recursion is the sum of work less gaps, minus the smallest of all sums up to here
    steps = np.concatenate([[0], np.cumsum(work[:-1] - np.diff(arrival_ns))])
    return steps - np.minimum.accumulate(steps)


def blake3_of_one_chunk(data: bytes) -> str:
    """The BLAKE3 hash (J. O'Connor, J.-P. Aumasson, S. Neves, Z. Wilcox-O'Hearn, 2020) of at most 1024 bytes, which need no tree."""
    assert len(data) <= 1024
    initial = [0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19]
    columns_and_diagonals = [(i, 4 + (i + turn) % 4, 8 + (i + 2 * turn) % 4, 12 + (i + 3 * turn) % 4) for turn in (0, 1) for i in range(4)]
    permutation = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8]
    blocks = [data[at : at + 64] for at in range(0, len(data), 64)] or [b""]
    chain = initial
    for number, block in enumerate(blocks):
        words = [int.from_bytes(block.ljust(64, b"\0")[at : at + 4], "little") for at in range(0, 64, 4)]
        # The chunk's first block has flag 1, its last 2, the root's 8.
        flags = (number == 0) | (number == len(blocks) - 1) * (2 | 8)
        v = chain + initial[:4] + [0, 0, len(block), flags]
        for _ in range(7):
            for step, (a, b, c, d) in enumerate(columns_and_diagonals):
                for half, (by_d, by_b) in enumerate(((16, 12), (8, 7))):
                    v[a] = (v[a] + v[b] + words[2 * step + half]) % 2**32
                    v[d] = _rotated(v[d] ^ v[a], by_d)
                    v[c] = (v[c] + v[d]) % 2**32
                    v[b] = _rotated(v[b] ^ v[c], by_b)
            words = [words[at] for at in permutation]
        chain = [low ^ high for low, high in zip(v[:8], v[8:], strict=True)]
    return b"".join(word.to_bytes(4, "little") for word in chain).hex()


def _rotated(word: int, by: int) -> int:
    return (word >> by | word << (32 - by)) % 2**32


# The equations. Symbols are the report's: lr, lw the arrival rates of reads and writes, br, bw, bc, be the service times of a read, a
# write, a copy and an erase, c the pages of a block, v those that are valid, s reads per write, a (the report's A) the write amplification.


def eq1(lw: Any, bw: Any) -> Any:
    return lw * bw


def eq2(lr: Any, br: Any) -> Any:
    return lr * br


def eq3(lw: Any, bc: Any, c: Any, v: Any) -> Any:
    return v / (c - v) * lw * bc


def eq4(lw: Any, be: Any, c: Any, v: Any) -> Any:
    return lw * be / (c - v)


def eq5(lr: Any, lw: Any, br: Any, bw: Any, bc: Any, be: Any, c: Any, v: Any) -> Any:
    return eq1(lw, bw) + eq2(lr, br) + eq3(lw, bc, c, v) + eq4(lw, be, c, v)


def eq6(s: Any, br: Any, bw: Any, bc: Any, be: Any, c: Any, v: Any) -> Any:
    return 1 / (bw + s * br + v / (c - v) * bc + be / (c - v))


def eq7(lw: Any, s: Any) -> Any:
    return (1 + s) * lw


def eq8(s: Any, br: Any, bw: Any, bc: Any, be: Any, c: Any, v: Any) -> Any:
    return (1 + s) / (bw + s * br + v / (c - v) * bc + be / (c - v))


def eq9(c: Any, v: Any) -> Any:
    return c / (c - v)


def eq10(s: Any, br: Any, bw: Any, bc: Any, be: Any, c: Any, a: Any) -> Any:
    return (1 + s) / (bw + s * br + (a - 1) * bc + a / c * be)


def eq11(lw: Any, c: Any, v: Any) -> Any:
    return lw / (c - v)


def eq12(lw: Any, c: Any, v: Any) -> Any:
    return v / (c - v) * lw


def eq13(qr: Any, qw: Any, lr: Any, lw: Any, br: Any, bw: Any, bc: Any, be: Any, c: Any, v: Any) -> Any:
    lc, le = eq12(lw, c, v), eq11(lw, c, v)
    residual = lr * br * br + lw * bw * bw + lc * bc * bc + le * be * be
    return residual / 2 + qr * br + qw * bw


def eq14(w: Any, rate: Any) -> Any:
    return w * rate


def eq15(lr: Any, lw: Any, br: Any, bw: Any, bc: Any, be: Any, c: Any, v: Any) -> Any:
    residual = lr * br**2 + lw * bw**2 + v / (c - v) * lw * bc**2 + lw * be**2 / (c - v)
    return residual / (2 * (1 - lr * br - lw * bw))


def eq16(bc: Any, be: Any, v: Any) -> Any:
    return v * bc + be


def eq17(lr: Any, lw: Any, br: Any, bw: Any) -> Any:
    return (lr * br**2 + lw * bw**2) / (2 * (1 - lr * br - lw * bw))


def eq18(lr: Any, lw: Any, br: Any, bw: Any, bc: Any, v: Any) -> Any:
    return (bw + v * bc + eq17(lr, lw, br, bw)) / (1 - lr * br - lw * bw)


def eq19_in_steps(lr: Any, lw: Any, br: Any, bw: Any, bc: Any, be: Any, v: Any) -> Any:
    """The first line of (19): from the last write's arrival, less its wait and service, plus the erase."""
    return eq18(lr, lw, br, bw, bc, v) - eq17(lr, lw, br, bw) - bw + be


def eq19(lr: Any, lw: Any, br: Any, bw: Any, bc: Any, be: Any, v: Any) -> Any:
    """The second line of (19)."""
    u = lr * br + lw * bw
    return (u * bw + v * bc + u * (lr * br**2 + lw * bw**2) / (2 * (1 - u))) / (1 - u) + be


def two_classes(lr: Any, lw: Any, br: Any, bw: Any, bc: Any, be: Any, c: Any, v: Any) -> Any:
    """Section 5.2.2: the wait of the lower of two non-preemptive classes, the upper one being complete collections that arrive at random.

    L. Kleinrock, Queueing Systems, Vol. II, Wiley, 1976, section 3.6: the mean residual service over (1 - upper) (1 - both).
    """
    batch, batches = v * bc + be, lw / (c - v)
    upper, users = batches * batch, lr * br + lw * bw
    residual = (lr * br**2 + lw * bw**2 + batches * batch**2) / 2
    return residual / ((1 - upper) * (1 - upper - users))


# The report's example, Table 1 and section 5.1: in milliseconds, and for the simulation in nanoseconds.

TABLE_1 = {"read_time": 0.0763, "write_time": 0.9264, "copy_time": 0.9507, "erase_time": 3.0003, "pages": 256.0, "valid": 64.0}
TABLE_1_DIE = Die(read_ns=76_300, write_ns=926_400, copy_ns=950_700, erase_ns=3_000_300, pages=256, valid=(64,))
RATES = {"read_rate": 1.0, "write_rate": 0.5}
"""Rates of the report's example, per millisecond."""
