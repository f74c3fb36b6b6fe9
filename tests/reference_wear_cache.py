"""A slow and simple drive whose blocks fail, below a cache of reads and writes, against which the core is compared to the nanosecond.

It puts the rules of docs/model/caching.md (`cache.policy = "lru"`) in front of `reference_wear`, in place of the write buffer. Requests are
of one page. Choices that the rules leave open, by function:

* ``_make_places``: while a write waits for a place, pages are destaged that stay cached, as many at a time as there are dies, others
  included; once the drive is read-only all at once. They go to the drive in ascending order.
* ``_settle``: where operations have ended, dies begin what waits for them before the cache sends more at this instant.
* ``_next``: an operation that cannot begin lets younger ones pass.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from reference_wear import ACCESS_NS, Pool, ReferenceWear, Unit, Write

READ_NS = 127_400
"""Time of a read on a die that has its channel for itself."""


@dataclass
class Access(Write):
    """A request of one page."""

    op: str = "write"


@dataclass(eq=False)
class Below(Unit):
    """A read or write of the drive below the cache."""

    op: str = "write"
    waiting: list[int] = field(default_factory=list)
    """Requests that complete when it has ended."""
    owner: Page | None = None
    """The cached page that waits for the frame of the page that is written."""
    has_frame: bool = False
    """Whether the page that is written left the cache, and kept its frame."""


@dataclass(eq=False)
class Page:
    """A page in the cache."""

    lpn: int
    dirty: bool = False
    fetch: Below | None = None
    """The read that brings its data, unless a write has."""
    frame: Below | None = None
    """The destage whose frame it waits for."""


class ReferenceWearCache(ReferenceWear):
    """The drive. Used keys, beside those of `ReferenceWear`: ``bytes`` of ``cache``."""

    def __init__(self, keys: dict[str, dict[str, Any]], dice: dict[str, int]) -> None:
        super().__init__(keys | {"buffer": {"bytes": 0}}, dice)
        self.room: int = keys["cache"]["bytes"] // 4096
        self.kept: dict[int, Page] = {}
        """Cached pages, the least recently used first."""
        self.dirty: list[int] = []
        """Dirty pages, the longest dirty first."""
        self.free_frames = self.room
        self.frames: deque[Below] = deque()
        """Destages whose frames no page waits for, in the order of eviction."""
        self.ends = False
        """Operations end at this instant, and dies have not begun others yet."""
        self.destages: list[list[Below]] = []
        """The pages of requests to the drive that have not ended."""
        self.hits = self.delayed_hits = self.evictions = self.waits = self.cleaned = 0

    # requests

    def _arrives(self, write: Write) -> None:
        self.line.append(write)
        self._settle()

    def _settle(self) -> bool:
        """Requests come in as far as they can, and pages are destaged whose places are needed. Returns whether the drive has more to do."""
        if self.ends:
            return False
        sent = self.serial
        while self.line and self._comes_in(self.line[0]):
            self.line.popleft()
        self._make_places()
        return self.serial > sent

    def _comes_in(self, request: Write) -> bool:
        assert isinstance(request, Access)
        if request.op == "read":
            self._read(request)
            return True
        if self.read_only is not None:
            self._reject(request)
            return True
        page, pool = self.kept.get(request.lpn), self.pools[request.lpn % self.dies]
        if page is None or not page.dirty:
            if not self._has_place(pool):
                self.waits += 1
                return False
            pool.held += 1
            self.dirty.append(request.lpn)
        self._write(request, page)
        return True

    def _make_places(self) -> None:
        more = len(self.dirty) if self.read_only is not None else self.dies - len(self.destages) if self.line else 0
        cleaned, self.dirty = sorted(self.dirty[: max(0, more)]), self.dirty[max(0, more) :]
        together: list[Below] = []
        for lpn in cleaned:
            self.kept[lpn].dirty = False
            self.cleaned += 1
            # Consecutive pages are one request.
            if not together or together[-1].lpn + 1 != lpn:
                together = []
                self.destages.append(together)
            together.append(Below(lpn, "sent"))
            self._send(together[-1])

    def _answer(self, number: int) -> None:
        self.answers[number] = (self.now + ACCESS_NS, "done")

    def _read(self, request: Access) -> None:
        page = self._use(request.lpn)
        if page is not None:
            self.hits += 1
            if page.fetch is None:
                self._answer(request.number)
            else:
                self.delayed_hits += 1
                page.fetch.waiting.append(request.number)
            return
        evicted = self._evict()
        page = self._insert(request.lpn)
        page.fetch = Below(request.lpn, "sent", op="read", waiting=[request.number])
        if any(unit.lpn == request.lpn for unit in self._outstanding(request.lpn)):
            self._fetched(page.fetch)
        else:
            self._send(page.fetch)
        self._destage(evicted)

    def _write(self, request: Access, page: Page | None) -> None:
        if page is None:
            self._destage(self._evict())
            page = self._insert(request.lpn)
        else:
            self.hits += 1
            self._use(request.lpn)
        page.dirty, page.fetch = True, None
        if page.frame is None:
            self._answer(request.number)
        else:
            page.frame.waiting.append(request.number)

    # pages and frames

    def _use(self, lpn: int) -> Page | None:
        page = self.kept.pop(lpn, None)
        if page is not None:
            self.kept[lpn] = page
        return page

    def _evict(self) -> Below | None:
        """Makes room for a page. Returns the write of the page that had to go, if it is dirty."""
        if len(self.kept) < self.room:
            return None
        self.evictions += 1
        page = self.kept.pop(next(iter(self.kept)))
        if not page.dirty:
            if page.frame is None:
                self.free_frames += 1
            else:
                page.frame.owner = None
                self.frames.append(page.frame)
            return None
        self.dirty.remove(page.lpn)
        if page.frame is not None:
            page.frame.has_frame = False
        destage = Below(page.lpn, "sent", has_frame=True)
        self.frames.append(destage)
        return destage

    def _insert(self, lpn: int) -> Page:
        page = self.kept[lpn] = Page(lpn)
        if self.free_frames > 0:
            self.free_frames -= 1
        else:
            page.frame = self.frames.popleft()
            page.frame.owner = page
        return page

    # the drive below

    def _outstanding(self, lpn: int) -> list[Unit]:
        """Writes of a page that have not ended."""
        pool = self.pools[lpn % self.dies]
        in_service = [pool.op[1][0]] if pool.op is not None and pool.op[0] == "write" else []
        return [unit for unit in in_service + pool.queue if isinstance(unit, Below) and unit.op == "write" and unit.lpn == lpn]

    def _send(self, unit: Below) -> None:
        self.serial += 1
        unit.rank = self.serial
        self.pools[unit.lpn % self.dies].queue.append(unit)

    def _destage(self, evicted: Below | None) -> None:
        if evicted is not None:
            self.destages.append([evicted])
            self._send(evicted)

    def _next(self, pool: Pool) -> Unit | None:
        """The oldest operation of the host that can begin."""
        written: set[int] = set()
        for unit in pool.queue:
            assert isinstance(unit, Below)
            if unit.op == "read" or (unit.lpn not in written and self._can_write(pool)):
                return unit
            written.add(unit.lpn)
        return None

    def _begin(self, pool: Pool) -> None:
        unit = self._next(pool)
        gc = pool.job is not None and self.read_only is None
        if unit is not None and not (gc and self.gc_first):
            pool.queue.remove(unit)
            if isinstance(unit, Below) and unit.op == "read":
                self._start(pool, ("read", unit), READ_NS)
            else:
                pool.queue.insert(0, unit)
                self._begin_write(pool)
        elif gc:
            self._begin_step(pool)

    def _dispatch(self) -> None:
        super()._dispatch()
        self.ends = False

    def _end(self, pool: Pool) -> None:
        self.ends = True
        if pool.op is not None and pool.op[0] == "read":
            (_, unit), pool.op = pool.op, None
            self._fetched(unit)
        else:
            super()._end(pool)

    def _fetched(self, unit: Below) -> None:
        page = self.kept.get(unit.lpn)
        if page is not None and page.fetch is unit:
            page.fetch = None
        for number in unit.waiting:
            self._answer(number)

    def _leaves(self, pool: Pool, unit: Unit) -> None:
        assert isinstance(unit, Below)
        pool.held -= 1
        for together in self.destages:
            if unit in together:
                together.remove(unit)
        self.destages = [together for together in self.destages if together]
        for number in unit.waiting:
            self._answer(number)
        if unit.owner is not None:
            unit.owner.frame = None
        elif unit.has_frame:
            self.frames.remove(unit)
            self.free_frames += 1
