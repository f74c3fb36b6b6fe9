"""A slow and simple translation layer with superblocks, against which the core's is compared.

It was written from the model's description (docs/model/placement.md, section Superblocks). The drive has one die, whose planes are the
pools of one group: so one operation ends before the next begins, and their order says what time would say.

Lists and counting take the place of efficient data structures; every rule is a short function.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

NOWHERE = -1
"""Place of a page without data, and owner of a place without valid data."""
RESERVE = 1
"""Free superblocks that only collection may take."""


class OutOfSpace(Exception):
    """A host write needs a superblock, and only the reserve is free."""


@dataclass
class Superblock:
    """A block of each pool of a group. Levelling takes all blocks of one to be worn alike, since they are erased together."""

    number: int
    """Place of its blocks in their pools."""
    written: dict[int, int]
    """By pool: pages programmed."""
    stream: str = ""


@dataclass
class Part:
    """The part of a job in one pool."""

    unread: list[int]
    """Places of the block that may have valid pages to read, in order."""
    ready: int = 0
    """Since when it has a step."""
    held: int = 0
    """Pages read whose programs have not ended."""
    dealt: list[tuple[int, int]] = field(default_factory=list)
    """Pages to program here: place and owner."""


class ReferenceSuperblocks:
    """An untimed translation layer with superblocks over the planes of a die.

    Used keys are in ``device`` (``planes_per_die blocks_per_plane pages_per_block overprovisioning``), ``gc``
    (``soft victim moves_in_flight``), ``ftl`` (``frontier``), ``wear`` (``leveling_threshold leveling_rest`` of old block protection) and
    ``errors`` (``reclaim_reads``; no read is repeated).
    """

    def __init__(self, config: dict[str, Any]) -> None:
        device, gc = config["device"], config["gc"]
        self.pools: list[int] = list(range(device["planes_per_die"]))
        self.blocks: int = device["blocks_per_plane"]
        self.pages: int = device["pages_per_block"]
        self.victim: str = gc["victim"]
        self.in_flight: int = gc["moves_in_flight"]
        self.wanted = max(int(gc["soft"]), RESERVE + 1)
        exported = math.floor(len(self.pools) * self.blocks * self.pages * (1.0 - device["overprovisioning"]))
        self.exported_pages = exported - exported % len(self.pools)
        self.free = [Superblock(number, dict.fromkeys(self.pools, 0)) for number in range(self.blocks)]
        """The next one to be taken first."""
        self.open: list[Superblock] = []
        """In the order in which they were taken."""
        self.log: list[Superblock] = []
        """Closed superblocks in the order of closing; one may occur several times, its last entry counts."""
        self.collected: list[Superblock] = []
        """The superblock that is being collected, or was last."""
        self.starved = False
        """Collection ended because nothing could be collected."""
        self.place_of = [NOWHERE] * self.exported_pages
        self.owner_of = [NOWHERE] * (len(self.pools) * self.blocks * self.pages)
        self.erases_of = [0] * (len(self.pools) * self.blocks)
        self.stamps: dict[int, int] = {}
        """By number: when the valid pages of a superblock last changed, or it was closed."""
        self.clock = 0
        self.moves = "moves" if config["ftl"].get("frontier", "separate") == "separate" else "host"
        """The stream of page moves."""
        self.level = {stream: dict.fromkeys(self.pools, 0) for stream in ("host", "moves")}
        """By stream and pool: programs that the stream has had there, or that were dealt to the pool."""
        self.jobs = self.moved = self.opened = self.skipped = 0
        wear = config.get("wear", {})
        self.threshold: int | None = wear.get("leveling_threshold")
        self.resting_jobs: int = wear.get("leveling_rest", 0)
        self.erased_at = [0] * self.blocks
        """Jobs that had ended when a superblock was erased last."""
        self.reclaim_reads = config.get("errors", {}).get("reclaim_reads", 0)
        self.reads_of = [0] * len(self.erases_of)
        """Array reads of each block since its erase."""
        self.due: list[tuple[Superblock, str, Superblock | None]] = []
        """What is to be moved though nobody needs its room, why, and which superblock is to take it."""
        self.moved_last = False
        """The last job moved such a superblock."""
        self.jobs_for = {"reclaim": 0, "leveling": 0}

    # host operations

    def fill(self) -> None:
        """Writes every page once, in order: consecutive pages in consecutive planes."""
        for lpn in range(self.exported_pages):
            pool = lpn % len(self.pools)
            self._program(lpn, pool, self._open_block(pool, "host"))
            self.level["host"][pool] += 1
        self.opened = 0

    def write(self, lpn: int) -> None:
        """Writes a page to the plane whose turn it is among those that have a page for it."""
        pools = sorted(self.pools, key=lambda pool: self.level["host"][pool])
        fits = [pool for pool in pools if self._block_of(pool, "host") or len(self.free) > RESERVE]
        if not fits:
            raise OutOfSpace
        pool, taken = fits[0], self.opened
        self.level["host"][pool] += 1
        target = self._open_block(pool, "host")
        # The job begins with the write, and has its first step when that has ended.
        victim = self._next_victim(busy=target) if self.opened > taken else None
        self.starved |= victim is None and self.opened > taken and self._wants()
        if victim is not None:
            self._take_out(victim)
        self._program(lpn, pool, target)
        if victim is not None:
            self._run_job(victim)
        if victim is not None or self.starved or self.due:
            self._collect()

    def read(self, lpn: int) -> None:
        """Reads a page, which may make its block due."""
        if self.place_of[lpn] != NOWHERE:
            self._read(self.place_of[lpn])
            if self.due:
                self._collect()

    def trim(self, lpn: int) -> None:
        """Trims a page."""
        if self.place_of[lpn] == NOWHERE:
            return
        self._invalidate(self.place_of[lpn])
        self.place_of[lpn] = NOWHERE
        if self.starved:
            self._collect()

    # writing

    def _block_of(self, pool: int, stream: str) -> Superblock | None:
        """The oldest superblock of the stream in which the pool's block is not full."""
        return next((one for one in self.open if one.stream == stream and one.written[pool] < self.pages), None)

    def _open_block(self, pool: int, stream: str) -> Superblock:
        return self._block_of(pool, stream) or self._take(stream)

    def _take(self, stream: str) -> Superblock:
        taken = self.free.pop(0)
        taken.stream = stream
        self.open.append(taken)
        self.opened += 1
        return taken

    def _program(self, lpn: int, pool: int, target: Superblock) -> None:
        """Writes a page to the next place of the pool's block."""
        place = self._place(pool, target, target.written[pool])
        target.written[pool] += 1
        if self.place_of[lpn] != NOWHERE:
            self._invalidate(self.place_of[lpn])
        self.place_of[lpn], self.owner_of[place] = place, lpn
        self._close_if_full(target)

    def _close_if_full(self, target: Superblock) -> None:
        if all(written == self.pages for written in target.written.values()):
            self.open.remove(target)
            self.log.append(target)
            self._stamp(target.number)

    def _place(self, pool: int, superblock: Superblock, page: int) -> int:
        return (pool * self.blocks + superblock.number) * self.pages + page

    def _pool_of(self, place: int) -> int:
        return place // self.pages // self.blocks

    def _invalidate(self, place: int) -> None:
        self.owner_of[place] = NOWHERE
        self._stamp(place // self.pages % self.blocks)

    def _stamp(self, number: int) -> None:
        self.clock += 1
        self.stamps[number] = self.clock

    # collection

    def _wants(self) -> bool:
        return len(self.free) < self.wanted

    def _collect(self) -> None:
        self.starved = False
        while (victim := self._next_victim()) is not None:
            self._take_out(victim)
            self._run_job(victim)
        self.starved = self._wants()

    def _next_victim(self, busy: Superblock | None = None) -> Superblock | None:
        """One that is due, but for free superblocks a job of their own between two of these; else the policy's choice if one is needed."""
        after_another, self.moved_last = self.moved_last, False
        due = next((entry for entry in self.due if entry[0] in self._closed()), None)
        if due is not None and len(self.free) > RESERVE and not (self._wants() and after_another):
            self.moved_last = True
            self._forget(due[0])
            self.jobs_for[due[1]] += 1
            if due[2] in self.free:
                self.free.remove(due[2])
                self.free.insert(0, due[2])
            return due[0]
        return self._pick(busy) if self._wants() else None

    def _forget(self, one: Superblock) -> None:
        self.due = [entry for entry in self.due if entry[0] is not one]

    def _read(self, place: int) -> None:
        """An array read of a block: the superblock is due once one of its blocks has had so many."""
        block = place // self.pages
        self.reads_of[block] += 1
        if self.reads_of[block] == self.reclaim_reads:
            one = next(one for one in [*self.open, *self._closed(), *self.collected] if one.number == block % self.blocks)
            self.due.append((one, "reclaim", None))

    def _level(self, erased: Superblock) -> None:
        """The data of the superblock erased least move into one that is ahead of it, and was not erased lately."""
        rested = self.jobs - self.erased_at[erased.number] > self.resting_jobs
        self.erased_at[erased.number] = self.jobs
        closed = self._closed()
        if self.threshold is None or not rested or not closed or any(why == "leveling" for _, why, _ in self.due):
            return
        youngest = min(closed, key=lambda one: (self.erases_of[one.number], one.number))
        if self.erases_of[erased.number] - self.erases_of[youngest.number] > self.threshold:
            self.due.append((youngest, "leveling", erased))

    def _pick(self, busy: Superblock | None = None) -> Superblock | None:
        """The policy's choice; ``busy``: a superblock in which a program is under way."""
        most = self.pages * len(self.pools)
        eligible = [one for one in self._closed() if self._valid(one) < most]
        if not eligible:
            return self._pick(busy) if self._close_for_want(busy) else None
        if self.victim == "fifo":
            return self._next_in_the_log(eligible)
        if self.victim == "cost-benefit":
            empty = [one for one in eligible if self._valid(one) == 0]
            worth = {one.number: self._worth(one, most) for one in eligible if one not in empty}
            eligible = empty or [one for one in eligible if worth[one.number] == max(worth.values())]
        return min(eligible, key=lambda one: (self._valid(one), self.stamps[one.number]))

    def _next_in_the_log(self, eligible: list[Superblock]) -> Superblock:
        """The superblock closed first; one without an invalid page goes to the end of the log."""
        while True:
            oldest = max(self._closed(), key=self._age)
            if oldest in eligible:
                return oldest
            self.log.append(oldest)

    def _left(self, one: Superblock) -> int:
        return sum(self.pages - written for written in one.written.values())

    def _close_for_want(self, busy: Superblock | None) -> bool:
        """With only the reserve left: the open superblock that lacks the fewest pages closes, of those with a full block."""
        full = [one for one in self.open if one is not busy and self._left(one) and self.pages in one.written.values()]
        if len(self.free) > RESERVE or not full:
            return False
        one = min(full, key=self._left)
        self.skipped += self._left(one)
        for pool, written in one.written.items():
            self.level[one.stream][pool] += self.pages - written
        one.written = dict.fromkeys(self.pools, self.pages)
        self._close_if_full(one)
        return True

    def _closed(self) -> list[Superblock]:
        return list({one.number: one for one in self.log if one.number != NOWHERE}.values())

    def _worth(self, one: Superblock, most: int) -> Fraction:
        share = Fraction(self._valid(one), most)
        return (1 - share) / (2 * share) * self._age(one)

    def _age(self, one: Superblock) -> int:
        return self.log[::-1].index(one)

    def _take_out(self, victim: Superblock) -> None:
        """The ages of the others stay: each counts what was closed after it."""
        self.log = [Superblock(NOWHERE, {}) if one is victim else one for one in self.log]

    def _run_job(self, victim: Superblock) -> None:
        """Plays the parts of a job step by step: the part that has had a step for longest goes next."""
        self.jobs += 1
        self.collected = [victim]
        places = {pool: [self._place(pool, victim, page) for page in range(self.pages)] for pool in self.pools}
        parts = {pool: Part([place for place in places[pool] if self.owner_of[place] != NOWHERE]) for pool in self.pools}
        moment = 0
        while able := [pool for pool in self.pools if self._has_step(parts[pool])]:
            pool = min(able, key=lambda pool: (parts[pool].ready, pool))
            moment += 1
            self._step(parts, pool)
            waiting = [other for other in self.pools if other not in able and self._has_step(parts[other])]
            parts[pool].ready = moment
            moment += 1
            for other in waiting:
                parts[other].ready = moment
        for pool in self.pools:
            self.erases_of[pool * self.blocks + victim.number] += 1
            self.reads_of[pool * self.blocks + victim.number] = 0
        victim.written = dict.fromkeys(self.pools, 0)
        self.free.append(victim)
        self._forget(victim)
        self._level(victim)

    def _has_step(self, part: Part) -> bool:
        return bool(part.dealt or (part.unread and part.held < self.in_flight))

    def _step(self, parts: dict[int, Part], pool: int) -> None:
        part = parts[pool]
        if part.dealt:
            place, lpn = part.dealt.pop(0)
            self._program(lpn, pool, self._open_block(pool, self.moves))
            self.moved += 1
            parts[self._pool_of(place)].held -= 1
            return
        place = part.unread.pop(0)
        self._read(place)
        part.held += 1
        target = self._turn()
        parts[target].dealt.append((place, self.owner_of[place]))
        self.level[self.moves][target] += 1
        unwritten = sum(self.pages - one.written[target] for one in self.open if one.stream == self.moves)
        if unwritten < len(parts[target].dealt):
            self._take(self.moves)

    def _turn(self) -> int:
        """The pool whose turn it is in the stream of page moves."""
        return min(self.pools, key=lambda pool: (self.level[self.moves][pool], pool))

    def _valid(self, superblock: Superblock) -> int:
        places = [self._place(pool, superblock, page) for pool in self.pools for page in range(self.pages)]
        return sum(self.owner_of[place] != NOWHERE for place in places)

    # state that can be compared

    def free_lists(self) -> list[list[int]]:
        """Free blocks of each pool, the next one to be used first."""
        return [[pool * self.blocks + one.number for one in self.free] for pool in self.pools]
