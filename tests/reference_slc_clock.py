"""A slow and simple drive with an SLC cache and a mapping cache, against which the core's response times are compared to the nanosecond.

It adds time to `reference_slc_map`, whose rules say where pages go and which block a job empties. It was written from docs/model/slc.md,
mapping-cache.md, requests.md and gc.md. The drive has one die, and requests are of one page. Choices that these leave open, by function:

* ``_look``: whether a job is wanted is asked when a job has ended, a write opens a block, a block has no valid page left, or idle time
  begins; before the die begins an operation if a block of the cache has become full; and as soon as a job that found no block may find one.
* ``_write_ends``: the page before becomes invalid before what waited for the write goes on, first on its page, then in the mapping cache.
* ``_takes_no_time``: a read behind a write, or behind a trim, is answered from the controller; a trim behind a trim changes nothing.
* ``_begin_update``: a translation page that a command has brought into memory while it was read to be changed is not written, and takes
  nothing of the gain.
* ``_move_ends``: the copy of a page that was trimmed while it moved takes nothing of the gain.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from reference_ftl import NOWHERE, Pool
from reference_slc_map import ReferenceSlcMap
from reference_streams import Stream


@dataclass(frozen=True)
class Request:
    """A request of one page."""

    number: int
    op: str
    lpn: int
    arrival: int


@dataclass(eq=False)
class Operation:
    """What a command, or the mapping table, asks of the drive."""

    op: str
    lpn: int
    then: Callable[[], None]


@dataclass
class Collection:
    """A job."""

    victim: int
    cause: str
    moved: int = 0


@dataclass
class Service:
    """What the die does."""

    until: int
    ends: Callable[[], None] = field(repr=False)


class ReferenceSlcClock(ReferenceSlcMap):
    """A drive with a clock. Used keys, beside those of `ReferenceSlcMap`: times and ``copyback`` of ``device``, and times of ``slc``."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config)
        device, slc = config["device"], config["slc"]
        self.transfer: int = self.page_bytes * device["transfer_ps_per_byte"] // 1000
        self.copyback: bool = device["copyback"]
        self.reads, self.programs, self.erasing = ((slc[f"{what}_ns"], device[f"{what}_ns"]) for what in ("read", "program", "erase"))
        self.timeout: int = slc["idle_us"] * 1000
        self.pool = self.pools[0]
        self.now = 0
        self.begun = [0] * len(self.written)
        """By block: pages whose programs have begun, or that are skipped."""
        self.line: deque[Request] = deque()
        """Commands that wait for memory of the mapping cache."""
        self.on_its_way: dict[int, list[Request]] = {}
        """Translation pages that are not yet in memory, each with the commands that wait for it."""
        self.asked: list[Operation] = []
        """Operations that have not ended, the oldest first."""
        self.job: Collection | None = None
        self.die: Service | None = None
        self.ended: deque[Operation] = deque()
        """Operations that have ended, and whose commands have not gone on."""
        self.starved = False
        """Whether a job was wanted, and no block was worth it."""
        self.has_filled = False
        """Whether a block in SLC mode has become full since the last look."""
        self.stale = self.delayed_hits = self.dropped = 0
        self.quiet_since: int | None = 0
        """Since when nothing is asked of the drive."""
        self.answers: dict[int, int] = {}

    # time

    def run(self, requests: list[Request]) -> None:
        """Plays requests until nothing is left to do."""
        self.begun = list(self.written)
        arrivals = deque(requests)
        self._look()
        self._dispatch()
        while (due := self._next(arrivals)) is not None:
            self.now = due
            if self.die is not None and self.die.until == due:
                ends, self.die = self.die.ends, None
                ends()
                self._settle()
            while arrivals and arrivals[0].arrival == due:
                self.line.append(arrivals.popleft())
                self._take_commands()
                self._settle()
            if self._idle_from() == due:
                self.idle = True
                self._look()
            if self.has_filled:
                self.has_filled = False
                self._look()
            self._dispatch()
        assert not self.line
        assert not self.asked

    def _next(self, arrivals: deque[Request]) -> int | None:
        times = [self.die.until if self.die else None, arrivals[0].arrival if arrivals else None, self._idle_from()]
        return min((time for time in times if time is not None), default=None)

    def _idle_from(self) -> int | None:
        """When idle time will begin."""
        if self.timeout == 0 or self.idle or self.quiet_since is None:
            return None
        return self.quiet_since + self.timeout

    # the mapping cache

    def _take_commands(self) -> None:
        while self.line:
            command = self.line.popleft()
            if not self._uses_memory(command):
                self.line.appendleft(command)
                return

    def _uses_memory(self, command: Request) -> bool:
        """A command uses its translation page, unless the one to be replaced is still on its way."""
        page, changes = self.exported_pages + command.lpn // self.entries, command.op != "read"
        if page in self.memory:
            self.memory[page] = self.memory.pop(page) or changes
            if page in self.on_its_way:
                self.delayed_hits += 1
                self.on_its_way[page].append(command)
            else:
                self._passes_on(command)
            return True
        replaced = next(iter(self.memory)) if len(self.memory) == self.capacity else None
        if replaced in self.on_its_way:
            return False
        is_dirty = replaced is not None and self.memory.pop(replaced)
        self.memory[page] = changes or page in self.to_change
        self.to_change.discard(page)
        self.on_its_way[page] = [command]
        if replaced is not None and is_dirty:
            self.write_backs += 1
            self._ask("write", replaced, lambda: self._fetch(page))
        else:
            self._fetch(page)
        return True

    def _fetch(self, page: int) -> None:
        if self.place_of[page] == NOWHERE:
            self._is_there(page)
        else:
            self._ask("read", page, lambda: self._is_there(page))

    def _is_there(self, page: int) -> None:
        for command in self.on_its_way.pop(page):
            self._passes_on(command)
        self._take_commands()

    def _passes_on(self, command: Request) -> None:
        """A command goes on to the drive, which ends idle time."""
        self.idle = False
        self.quiet_since = None

        def answer() -> None:
            self.answers[command.number] = self.now

        self._ask(command.op, command.lpn, answer)

    def _begin_update(self) -> None:
        page = self._next_to_change()
        if page is None:
            return

        def write() -> None:
            if self._came_meanwhile(page):
                self.changing, self.spent = None, self.spent - 1
                self.memory[page] = True
                self.dropped += 1
                return
            self.to_change.discard(page)
            self.updates += 1
            self._ask("write", page, ended)

        def ended() -> None:
            self.changing = None
            if page in self.to_change:
                self.turns.append(page)

        if self.place_of[page] == NOWHERE:
            write()
        else:
            self._ask("read", page, write)

    def _came_meanwhile(self, page: int) -> bool:
        """Whether a command has brought a translation page into memory, so that it changes there."""
        return page in self.memory

    # operations

    def _ask(self, op: str, lpn: int, then: Callable[[], None]) -> None:
        self.quiet_since = None
        self.asked.append(Operation(op, lpn, then))

    def _settle(self) -> None:
        """Ends all operations that take no time, and goes on with what waited for those that have ended."""
        while True:
            while (done := next((each for each in self.asked if self._takes_no_time(each)), None)) is not None:
                if done.op == "trim" and not self._older(done):
                    self._unmap(done.lpn)
                self._ended(done)
            if not self.ended:
                break
            self.ended.popleft().then()
            self._begin_update()
        if not self.asked and self.quiet_since is None:
            self.quiet_since = self.now

    def _older(self, operation: Operation) -> list[str]:
        """Older operations on the page of an operation."""
        older = self.asked[: self.asked.index(operation)]
        return [each.op for each in older if each.lpn == operation.lpn]

    def _takes_no_time(self, operation: Operation) -> bool:
        """Whether a read needs no flash, or a trim does not wait."""
        older = self._older(operation)
        changes = [op for op in older if op != "read"]
        if operation.op == "read":
            return bool(changes) or self.place_of[operation.lpn] == NOWHERE
        return operation.op == "trim" and (not older or older[-1] == "trim")

    def _unmap(self, lpn: int) -> None:
        place, self.place_of[lpn] = self.place_of[lpn], NOWHERE
        if place != NOWHERE:
            self.trimmed_pages += 1
            self._invalidate(place)
            self._gains(place)

    def _gains(self, place: int) -> None:
        """A place has become invalid."""
        if self.starved or self.valid_pages(place // self.pages_per_block) == 0:
            self._look()

    def _ended(self, operation: Operation) -> None:
        self.asked.remove(operation)
        self.ended.append(operation)

    def _dispatch(self) -> None:
        """The die begins an operation: a step of the job ahead of all others, or the oldest that can begin."""
        if self.die is None and self.job is not None:
            self._begin_step(self.job)
        for operation in list(self.asked):
            if self.die is None:
                self._begin(operation)

    def _begin(self, operation: Operation) -> None:
        older, lpn = self._older(operation), operation.lpn
        if operation.op == "read" and set(older) <= {"read"}:
            ns = self.reads[not self._in_slc(self.place_of[lpn])] + self.transfer
            self._occupy(ns, lambda: self._ended(operation))
        elif operation.op == "write" and not older and (stream := self._stream_to_write(lpn)) is not None:
            block = self.pool.open[stream]
            self._occupy(self.transfer + self.programs[not self.in_mode[block]], lambda: self._write_ends(operation, block))

    def _occupy(self, ns: int, ends: Callable[[], None]) -> None:
        self.die = Service(self.now + ns, ends)

    def _in_slc(self, place: int) -> bool:
        return self.in_mode[place // self.pages_per_block]

    def _stream_to_write(self, lpn: int) -> Stream | None:
        """The stream of a write that begins, with its page taken; ``None``: it cannot begin."""
        cached = self._cache_stream(lpn)
        in_cache = cached is not None and self._goes_to_cache(self.pool, cached)
        stream = cached if cached is not None and in_cache else self._stream_of(lpn, None)
        opens = stream not in self.pool.open
        if opens and not (self._can_open(self.pool) if in_cache else len(self.pool.free) > 1):
            return None
        if opens and in_cache:
            self._open_slc(stream)
        elif opens:
            self._open(self.pool, stream)
        self.begun[self.pool.open[stream]] += 1
        self._count(lpn, in_cache=in_cache)
        if opens:
            self._look()
        return stream

    def _open_slc(self, stream: Stream) -> None:
        static = self.free_static[0]
        block = self.pool.open[stream] = static.pop(0) if static else self.pool.free.pop(0)
        self.in_mode[block] = True
        self.written[block] = self.begun[block] = self.skipped

    def _close(self, pool: Pool, block: int) -> None:
        super()._close(pool, block)
        self.has_filled |= self.in_mode[block]

    def _has_room(self, pool: Pool, stream: Stream) -> bool:
        return stream in pool.open and self.begun[pool.open[stream]] < self.pages_per_block

    def _write_ends(self, operation: Operation, block: int) -> None:
        old = self.place_of[operation.lpn]
        self._program(self.pool, operation.lpn, block)
        self.host_programs += 1
        if old != NOWHERE:
            self._gains(old)
        if self.starved:
            self._look()
        self._ended(operation)

    # jobs

    def _look(self) -> None:
        """Starts a job if one is wanted."""
        job = None if self.job is not None else self._next_job(self.pool)
        self.starved = self.job is None and job is None and self._wants_collection(self.pool)
        if job is None:
            return
        self.job = Collection(*job)
        self.pool.waiting = self.job.victim
        self.empty_jobs += self.job.cause == "empty"
        if self._folds(self.job):
            self.full[0].remove(self.job.victim)
            self.folds += 1
            self.idle_folds += self.job.cause == "idle"
            self.space_folds += self.job.cause == "space"

    def _folds(self, job: Collection) -> bool:
        return job.cause not in ("collection", "empty")

    def _begin_step(self, job: Collection) -> None:
        place = next((place for place in self._pages_of(job.victim) if self.owner_of[place] != NOWHERE), None)
        mode = not self.in_mode[job.victim]
        if place is None:
            self._occupy(self.erasing[mode], lambda: self._erase_ends(job))
            return
        block = self.pool.open[self._stream_with_room(self.pool, self.streams.of_move(self.owner_of[place], self.filled_by[job.victim]))]
        self.begun[block] += 1
        ns = self.reads[mode] + (0 if self.copyback else 2 * self.transfer) + self.programs[True]
        lpn = self.owner_of[place]
        self._occupy(ns, lambda: self._move_ends(job, lpn, place, block))

    def _move_ends(self, job: Collection, lpn: int, place: int, block: int) -> None:
        if self.owner_of[place] == lpn:
            self._program(self.pool, lpn, block)
            self.gained -= 1
            if lpn not in self.table:
                self._moved(self.exported_pages + lpn // self.entries)
        else:
            self.written[block] += 1
            self._program_ended(self.pool, block)
            self.stale += 1
        job.moved += 1
        self._begin_update()

    def _erase_ends(self, job: Collection) -> None:
        skipped = self.skipped if self.in_mode[job.victim] else 0
        self.job = self.pool.waiting = None
        self._free(self.pool, job.victim)
        self.begun[job.victim] = 0
        self._erased(self.pool, job.victim, job.moved if self._folds(job) else None)
        self.last_folded[0] = self._folds(job)
        self.jobs += 1
        self.gained += self.pages_per_block - skipped
        self._look()
        self._begin_update()
