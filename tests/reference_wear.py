"""A slow and simple drive whose blocks fail, behind a write buffer, with pacing, against which the core's is compared to the nanosecond.

It has the rules of docs/model/wear.md, write-buffer.md and pacing.md for dies with a channel each, which share one buffer, and writes of
one page. Choices that these leave open, by function:

* ``run``: of dies whose operations end at one instant, the one that began first comes first; dies then begin operations in the order of
  their numbers.
* ``_has_what_lacked``: a write that waits for credit does so until there is some, even if its place is gone meanwhile.
* ``_victim``: of blocks with equally few valid pages the one that has had that number for longest. The number of a block counts from
  when its last program ended.
* ``_begin``: a page move takes a free block, if it needs one, when it begins.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, field
from typing import Any

WRITE_NS, MOVE_NS, ERASE_NS = 302_400, 429_800, 1_500_000
"""Times of a write, a page move and an erase on a die that has its channel for itself."""
ACCESS_NS = 1_000
PLANE_PROGRAMS = 2
"""Programs of the buffer that a pool has at a time."""
GC, NEXT_JOB, KEPT = 1, 1, 2
"""Blocks that the host leaves free: for moves, for the next job, and for failures under accepted data."""


class Dice:
    """Which programs and erases fail: SplitMix64 (Steele, Lea and Flood, 2014) of a key, the block, its erases and the page."""

    def __init__(self, key: int, ppm: float, worn_ppm: float, endurance: int) -> None:
        self.key = key
        self.fixed = int(ppm / 1e6 * 2.0**64)
        self.per_cycle = int(worn_ppm / 1e6 * 2.0**64) // endurance if endurance else 0

    def fails(self, block: int, erases: int, page: int) -> bool:
        return _drawn(_drawn(self.key, block << 32 | erases), page) < self.fixed + self.per_cycle * erases


def _drawn(key: int, counter: int) -> int:
    low = (1 << 64) - 1
    bits = (key + (counter + 1) * 0x9E37_79B9_7F4A_7C15) & low
    bits = ((bits ^ bits >> 30) * 0xBF58_476D_1CE4_E5B9) & low
    bits = ((bits ^ bits >> 27) * 0x94D0_49BB_1331_11EB) & low
    return bits ^ bits >> 31


@dataclass
class Unit:
    """A unit in the buffer."""

    lpn: int
    state: str
    """``waits`` for a program, ``behind`` an older unit of its page, or ``sent``."""
    behind: Unit | None = None
    rank: int = 0


@dataclass
class Write:
    """A write of one page."""

    number: int
    lpn: int
    arrival: int


@dataclass
class Job:
    """A job of GC."""

    victim: int
    valid: int
    """Valid pages of the victim when the job started."""
    owed: int
    """Pages for which the job has no place yet, as many as it may need."""
    busy: bool = False
    moved: int = 0
    earned: int = 0


@dataclass
class Pool:
    """A die, which is one pool."""

    number: int
    free: deque[int]
    host: int | None = None
    """The block that host writes fill; ``None``: the next write takes a free one."""
    moves: int | None = None
    job: Job | None = None
    stalled: bool = False
    lost: int = 0
    due: list[int] = field(default_factory=list)
    last_was_due: bool = False
    credit: int = 0
    short: bool = False
    queue: list[Unit] = field(default_factory=list)
    """Programs that wait for the die."""
    waiting: list[Unit] = field(default_factory=list)
    """Units in the buffer that wait for a program."""
    sent: int = 0
    held: int = 0
    """Units of the pool in the buffer."""
    op: tuple[str, Any] | None = None
    """The operation in service."""


class ReferenceWear:
    """The drive. ``keys``: by section the keys that ``case`` of ``test_differential_wear`` sets; ``dice``: keys of draws."""

    def __init__(self, keys: dict[str, dict[str, Any]], dice: dict[str, int]) -> None:
        device, gc, wear = keys["device"], keys["gc"], keys["wear"]
        self.dies: int = device["channels"]
        self.blocks: int = device["blocks_per_plane"]
        self.pages: int = device["pages_per_block"]
        total = self.dies * self.blocks * self.pages
        self.exported: int = int(total * (1.0 - device["overprovisioning"])) // self.dies * self.dies
        self.capacity: int = min(keys["buffer"]["bytes"] // 4096, self.exported)
        self.paced = gc["pace"] == "proportional"
        self.gc_first = gc["priority"] == "gc"
        self.reserve = GC + NEXT_JOB + KEPT
        # No threshold counts the blocks that failures may take under accepted data, and those that a full buffer takes.
        units_per_die: int = -(-self.capacity // self.dies)
        self.soft = int(gc["soft"]) + KEPT + -(-units_per_die // self.pages)
        self.threshold: int = max(self.soft, self.reserve + 1)
        self.window = max(1, _rounded(gc.get("pace_window", 1.0) * int(gc["soft"]) * self.pages))
        spare = self.blocks - -(-(self.exported // self.dies) // self.pages)
        self.losable = max(0, spare - max(2 + self.reserve, 2 + self.soft + 1))
        self.endurance: int = wear["endurance"]
        worn = [wear["program_fails_worn_ppm"], wear["erase_fails_worn_ppm"]]
        self.programs = Dice(dice["program"], wear["program_fails_ppm"], worn[0], self.endurance)
        self.erases_fail = Dice(dice["erase"], wear["erase_fails_ppm"], worn[1], self.endurance)

        blocks = self.dies * self.blocks
        self.pools = [Pool(die, deque(range(die * self.blocks, (die + 1) * self.blocks)), credit=self.window) for die in range(self.dies)]
        self.begun = [0] * blocks
        """By block: pages whose programs have begun, or that are left out."""
        self.ended = [0] * blocks
        self.owner: list[dict[int, int]] = [{} for _ in range(blocks)]
        """By block: the logical page of each valid page."""
        self.place: dict[int, tuple[int, int]] = {}
        self.closed: dict[int, int] = {}
        """By closed block: since when it has its number of valid pages."""
        self.left_out: dict[int, int] = {}
        """By block of which a program has failed, until it closes: pages that are not programmed any more."""
        self.failing: set[int] = set()
        self.retired: set[int] = set()
        self.erase_counts = [0] * blocks
        self.clock = self.serial = 0
        self.now = 0
        self.read_only: tuple[int, int, str] | None = None
        self.entries = 0
        self.youngest: dict[int, Unit] = {}
        self.line: deque[Write] = deque()
        self.lacks = ""
        self.answers: dict[int, tuple[int, str]] = {}
        self.events: list[tuple[int, int, int]] = []
        self.count = dict.fromkeys(["erases", "pages_moved", "failed_programs", "failed_erases", "retirement_jobs", "rejected_writes"], 0)

    # preparation

    def fill(self) -> None:
        """Writes all pages once, in the order of their addresses."""
        for lpn in range(self.exported):
            pool = self.pools[lpn % self.dies]
            if pool.host is None or self.begun[pool.host] == self.pages:
                pool.host = pool.free.popleft()
            page = self._take_page(pool.host)
            self._program_ends(pool, pool.host, page, lpn)

    # time

    def run(self, writes: list[Write]) -> None:
        """Plays writes until nothing is left to do."""
        for pool in self.pools:
            self._note_free(pool)
            self._trigger(pool)
        self._dispatch()
        arrivals = deque(writes)
        while self.events or arrivals:
            self.now = min([event[0] for event in self.events[:1]] + [write.arrival for write in list(arrivals)[:1]])
            while self.events and self.events[0][0] == self.now:
                self._end(self.pools[heapq.heappop(self.events)[2]])
            self._settle()
            while arrivals and arrivals[0].arrival == self.now:
                self._arrives(arrivals.popleft())
            self._dispatch()
            while self._settle():
                self._dispatch()
        assert not self.line, "writes wait for ever"

    def _dispatch(self) -> None:
        self._close_blocks()
        for pool in self.pools:
            if pool.op is None:
                self._begin(pool)
        if self.read_only is not None:
            for pool in self.pools:
                if pool.job is not None and not pool.job.busy:
                    pool.job = None

    def _start(self, pool: Pool, op: tuple[str, Any], ns: int) -> None:
        pool.op = op
        self.serial += 1
        heapq.heappush(self.events, (self.now + ns, self.serial, pool.number))

    # the buffer

    def _arrives(self, write: Write) -> None:
        if self.read_only is not None:
            self._reject(write)
        elif self.line or not self._enters(write):
            self.line.append(write)
        self._settle()

    def _reject(self, write: Write) -> None:
        self.count["rejected_writes"] += 1
        self.answers[write.number] = (self.now, "rejected")

    def _enters(self, write: Write) -> bool:
        pool = self.pools[write.lpn % self.dies]
        present = self.youngest.get(write.lpn)
        if present is None or present.state == "sent":
            self.lacks = "room" if self.entries == self.capacity else "place" if not self._has_place(pool) else ""
            if not self.lacks and not self._lets_in(pool):
                self.lacks = "credit"
            if self.lacks:
                return False
            unit = Unit(write.lpn, "waits")
            if present is None:
                pool.waiting.append(unit)
            else:
                unit.state, present.behind = "behind", unit
            self.youngest[write.lpn] = unit
            self.entries += 1
            pool.held += 1
        self.answers[write.number] = (self.now + ACCESS_NS, "done")
        return True

    def _settle(self) -> bool:
        """Writes come in as far as they can, and programs are sent. Returns whether any was."""
        while self.line and self._has_what_lacked(self.line[0]) and (self.read_only is not None or self._enters(self.line[0])):
            write = self.line.popleft()
            self.lacks = ""
            if self.read_only is not None:
                self._reject(write)
        any_sent = False
        for pool in self.pools:
            while pool.waiting and pool.sent < PLANE_PROGRAMS:
                unit = pool.waiting.pop(0)
                unit.state, pool.sent = "sent", pool.sent + 1
                self.serial += 1
                unit.rank = self.serial
                pool.queue.append(unit)
                any_sent = True
        return any_sent

    def _has_what_lacked(self, write: Write) -> bool:
        """Whether the first write in line may try again: it waits for what it lacked last, whatever else it may lack by now."""
        pool = self.pools[write.lpn % self.dies]
        if self.read_only is not None or not self.lacks:
            return True
        if self.lacks == "room":
            return self.entries < self.capacity
        return self._has_place(pool) if self.lacks == "place" else self._would_let_in(pool)

    def _leaves(self, pool: Pool, unit: Unit) -> None:
        """A unit is in flash."""
        pool.sent -= 1
        pool.held -= 1
        self.entries -= 1
        if self.youngest.get(unit.lpn) is unit:
            del self.youngest[unit.lpn]
        if unit.behind is not None:
            unit.behind.state = "waits"
            pool.waiting.append(unit.behind)

    # place and credit

    def _blocks_for(self, pool: Pool, units: int) -> int:
        """Free blocks that units of the buffer take at most."""
        is_open = pool.host is not None and self.begun[pool.host] < self.pages
        to_come = self.pages - self.ended[pool.host] if is_open and pool.host is not None else 0
        return -(-max(0, units - to_come) // self.pages)

    def _has_place(self, pool: Pool) -> bool:
        return len(pool.free) >= self.reserve + self._blocks_for(pool, pool.held + 1)

    def _is_short(self, pool: Pool) -> bool:
        return len(pool.free) < self.threshold

    def _note_free(self, pool: Pool) -> None:
        """The number of free blocks of a pool has changed. An account begins to count with the whole window."""
        short = self._is_short(pool)
        if short != pool.short:
            pool.credit = self.window
        pool.short = short

    def _lets_in(self, pool: Pool) -> bool:
        comes = self._would_let_in(pool)
        if self.paced and pool.short and pool.credit > 0:
            pool.credit -= 1
        return comes

    def _would_let_in(self, pool: Pool) -> bool:
        return not self.paced or not pool.short or pool.credit > 0 or pool.job is None

    def _earn(self, pool: Pool, due: int) -> None:
        job = pool.job
        assert job is not None
        pool.credit = min(self.window, pool.credit + due - job.earned)
        job.earned = due

    def _freed(self, *, retires: bool) -> int:
        """Pages that an erase frees."""
        return 0 if retires else self.pages

    # operations of a die

    def _can_write(self, pool: Pool) -> bool:
        kept = 0 if self.read_only is not None else self.reserve
        return (pool.host is not None and self.begun[pool.host] < self.pages) or len(pool.free) > kept

    def _begin(self, pool: Pool) -> None:
        host = bool(pool.queue) and self._can_write(pool)
        gc = pool.job is not None and self.read_only is None
        if host and gc:
            awaited = self.lacks == "credit" and bool(self.line) and self.line[0].lpn % self.dies == pool.number
            host = not (self.gc_first or awaited)
        if host:
            self._begin_write(pool)
        elif gc:
            self._begin_step(pool)

    def _begin_write(self, pool: Pool) -> None:
        unit = pool.queue.pop(0)
        took = pool.host is None or self.begun[pool.host] == self.pages
        if took:
            pool.host = pool.free.popleft()
        assert pool.host is not None
        page = self._take_page(pool.host)
        if took:
            self._note_free(pool)
            self._trigger(pool)
        self._start(pool, ("write", (unit, pool.host, page)), WRITE_NS)

    def _begin_step(self, pool: Pool) -> None:
        job = pool.job
        assert job is not None
        job.busy = True
        if not self.owner[job.victim]:
            self._start(pool, ("erase", None), ERASE_NS)
            return
        source = min(self.owner[job.victim])
        if pool.moves is None or self.begun[pool.moves] == self.pages:
            pool.moves = pool.free.popleft()
            self._note_free(pool)
        job.owed -= 1
        self._start(pool, ("move", (source, pool.moves, self._take_page(pool.moves))), MOVE_NS)

    def _end(self, pool: Pool) -> None:
        assert pool.op is not None
        (kind, what), pool.op = pool.op, None
        if kind == "write":
            self._end_write(pool, *what)
        elif kind == "move":
            self._end_move(pool, *what)
        else:
            self._end_erase(pool)

    def _end_write(self, pool: Pool, unit: Unit, block: int, page: int) -> None:
        if self.programs.fails(block, self.erase_counts[block], page):
            self._program_failed(pool, block)
            self._look(pool)
            pool.queue.append(unit)
            pool.queue.sort(key=lambda unit: unit.rank)
            return
        self._program_ends(pool, block, page, unit.lpn)
        self._leaves(pool, unit)
        if pool.stalled:
            pool.stalled = False
            self._trigger(pool)

    def _end_move(self, pool: Pool, source: int, block: int, page: int) -> None:
        job = pool.job
        assert job is not None
        job.busy = False
        if self.programs.fails(block, self.erase_counts[block], page):
            self._program_failed(pool, block)
            job.owed += 1
            self._look(pool)
            return
        self.count["pages_moved"] += 1
        self._program_ends(pool, block, page, self.owner[job.victim][source])
        job.moved += 1
        self._earn(pool, min(job.moved, job.valid) * (self.pages - job.valid) // job.valid)

    def _end_erase(self, pool: Pool) -> None:
        job = pool.job
        assert job is not None
        block = job.victim
        failed = self.erases_fail.fails(block, self.erase_counts[block], 0)
        worn = self.endurance > 0 and self.erase_counts[block] + 1 >= self.endurance
        program = block in self.failing
        self.failing.discard(block)
        self.count["erases"] += 1
        self.count["failed_erases"] += failed or worn
        self.erase_counts[block] += 1
        self.begun[block] = self.ended[block] = 0
        retires = failed or worn or program
        if retires:
            self.retired.add(block)
            pool.lost += not program
        else:
            pool.free.append(block)
        if block in pool.due:
            pool.due.remove(block)
        if retires:
            self._look(pool, over=True)
        if self.read_only is None:
            self._earn(pool, self._freed(retires=retires) - job.moved)
            self._note_free(pool)
        pool.job = None
        self._trigger(pool)

    # blocks

    def _take_page(self, block: int) -> int:
        self.begun[block] += 1
        return self.begun[block] - 1

    def _program_ends(self, pool: Pool, block: int, page: int, lpn: int) -> None:
        if lpn in self.place:
            before, at = self.place[lpn]
            del self.owner[before][at]
            self._stamp(before)
        self.place[lpn] = (block, page)
        self.owner[block][page] = lpn
        self._page_ended(pool, block)

    def _page_ended(self, pool: Pool, block: int) -> None:
        self.ended[block] += 1
        if self.ended[block] == self.pages:
            self.closed[block] = 0
            self._stamp(block)
            pool.host = None if pool.host == block else pool.host
            pool.moves = None if pool.moves == block else pool.moves

    def _stamp(self, block: int) -> None:
        if block in self.closed:
            self.clock += 1
            self.closed[block] = self.clock

    def _program_failed(self, pool: Pool, block: int) -> None:
        self.count["failed_programs"] += 1
        self._page_ended(pool, block)
        left = self.pages - self.begun[block]
        if left:
            self.begun[block] = self.pages
            self.left_out[block] = left
        if block not in self.failing:
            self.failing.add(block)
            pool.due.append(block)
            pool.lost += 1

    def _close_blocks(self) -> None:
        for block, left in list(self.left_out.items()):
            if self.ended[block] + left == self.pages:
                del self.left_out[block]
                pool = self.pools[block // self.blocks]
                self.ended[block] += left - 1
                self._page_ended(pool, block)
        if self.read_only is None:
            for pool in self.pools:
                self._trigger(pool)

    # jobs

    def _due(self, pool: Pool) -> int | None:
        if len(pool.free) <= GC:
            return None
        return next((block for block in pool.due if block in self.closed), None)

    def _victim(self, pool: Pool) -> int | None:
        candidates = [block for block in self.closed if block // self.blocks == pool.number and len(self.owner[block]) < self.pages]
        return min(candidates, key=lambda block: (len(self.owner[block]), self.closed[block]), default=None)

    def _trigger(self, pool: Pool) -> None:
        if pool.job is not None or self.read_only is not None:
            return
        wanted = self._is_short(pool)
        due = self._due(pool)
        if due is not None and wanted and pool.last_was_due:
            due = None
        if not wanted and due is None:
            return
        pool.last_was_due = due is not None
        victim = due if due is not None else self._victim(pool)
        if victim is None:
            pool.stalled = True
            return
        if due is not None:
            pool.due.remove(due)
            self.count["retirement_jobs"] += 1
        del self.closed[victim]
        pool.job = Job(victim, len(self.owner[victim]), len(self.owner[victim]))

    # the end

    def _look(self, pool: Pool, *, over: bool = False) -> None:
        """Makes the drive read-only if a pool has lost too many blocks, or GC no room beside the place of what was accepted."""
        kept = self._blocks_for(pool, pool.held) + KEPT if any(other.held for other in self.pools) else 0
        free = len(pool.free) - kept
        if pool.job is not None and not over:
            opened = 0 if pool.moves is None else self.pages - self.begun[pool.moves]
            goes_on = free >= 0 and free * self.pages + opened >= pool.job.owed
        else:
            goes_on = free > 0
        if self.read_only is None and (pool.lost > self.losable or not goes_on):
            self.read_only = (self.now, pool.number, "spare" if pool.lost > self.losable else "no-room")


def _rounded(value: float) -> int:
    return int(value + 0.5)
