"""A slow and simple translation layer with a cache of superblocks in SLC mode, against which the core's is compared.

It adds the rules of docs/model/slc.md to `reference_superblocks`, with a superblock where those say block and a group for a pool, and was
written from the descriptions. Choices that they leave open, by function:

* ``__init__``: the last blocks of each plane are the static part.
* ``_fits``: writes past the cache have turns of their own. Those of the part to which the first plane writes say where the next write goes.
* ``_take``: the first pages of each block are those that it skips.
* ``_next_job``: a group that needs free superblocks has a job for that between two folds for other reasons, even if it finds nothing to
  collect.
"""

from __future__ import annotations

from typing import Any

from reference_superblocks import RESERVE, OutOfSpace, ReferenceSuperblocks, Superblock

COUNTERS = ["slc_writes", "direct_writes", "folds", "idle_folds", "space_folds", "folded_pages", "slc_erases", "empty_jobs"]
Job = tuple[Superblock, str]
"""The superblock that a job empties, and why."""


class ReferenceSlcSuperblocks(ReferenceSuperblocks):
    """Superblocks over the planes of a die, with an SLC cache.

    Used keys of ``slc``: ``static_blocks dynamic_blocks bits_per_cell full fold_level idle_us``, of which the last counts as on or off.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config)
        self.slc = config["slc"]
        self.skips = self.pages - self.pages // self.slc["bits_per_cell"]
        """Pages of a block that SLC mode leaves out."""
        self.first_static: int = self.blocks - self.slc["static_blocks"]
        self.free_static = [one for one in self.free if self._is_static(one)]
        self.free = [one for one in self.free if not self._is_static(one)]
        self.level["cache"] = dict.fromkeys(self.pools, 0)
        self.in_mode: list[Superblock] = []
        self.full: list[Superblock] = []
        """Full superblocks in SLC mode, the oldest first."""
        self.last_folded = self.idle = False
        self.counters = dict.fromkeys(COUNTERS, 0)

    # where writes go

    def write(self, lpn: int) -> None:
        """Writes a page to the cache or past it, in the plane whose turn it is of those that have a page for it."""
        self.idle = False
        if not self._fits():
            raise OutOfSpace
        pool, stream = self._fits()[0]
        self.level[stream][pool] += 1
        self.counters["slc_writes" if stream == "cache" else "direct_writes"] += 1
        taken = self.opened
        target = self._open_block(pool, stream)
        # A job begins with the write that takes a superblock, and has its first step when that has ended.
        job = self._next_job(target) if self.opened > taken else None
        self._program(lpn, pool, target)
        if job is not None:
            self._run(*job)
        self._jobs()

    def _fits(self) -> list[tuple[int, str]]:
        """The planes in which a write has a page, the one whose turn it is first, and the stream of the write there."""
        turns = self.level[self._stream_in(self.pools[0])]
        pools = sorted(self.pools, key=lambda pool: turns[pool])
        streams = [(pool, self._stream_in(pool)) for pool in pools]
        return [(pool, stream) for pool, stream in streams if self._has_room(pool, stream)]

    def _stream_in(self, pool: int) -> str:
        in_cache = self.slc["full"] == "fold" or self._has_room(pool, "cache")
        return "cache" if in_cache else "host"

    def _has_room(self, pool: int, stream: str) -> bool:
        free = len(self.free) > RESERVE
        can_open = self._can_open() or (self._erases_for_cache() and free) if stream == "cache" else free
        return can_open or self._block_of(pool, stream) is not None

    def _can_open(self) -> bool:
        return bool(self.free_static) or self._dynamic_left() > 0

    def _empty(self) -> list[Superblock]:
        """Closed superblocks outside of the cache that hold no data, the one that has been so for longest first."""
        empty = [one for one in self._closed() if self._valid(one) == 0]
        return sorted(empty, key=lambda one: self.stamps[one.number])

    def _erases_for_cache(self) -> bool:
        """Whether a superblock without data is to be erased so that the cache can open it."""
        dynamic = sum(not self._is_static(one) for one in self.in_mode)
        return dynamic < self.slc["dynamic_blocks"] and not self._can_open() and bool(self._empty())

    def _dynamic_left(self) -> int:
        """Superblocks of the dynamic part that can be opened now."""
        kept = RESERVE if self.slc["full"] == "fold" else self.wanted
        most: int = self.slc["dynamic_blocks"]
        return min(max(len(self.free) - kept, 0), most - sum(not self._is_static(one) for one in self.in_mode))

    def _is_static(self, one: Superblock) -> bool:
        return one.number >= self.first_static

    def _take(self, stream: str) -> Superblock:
        if stream == "cache" and self.free_static:
            self.free.insert(0, self.free_static.pop(0))
        taken = super()._take(stream)
        if stream == "cache":
            self.in_mode.append(taken)
            taken.written = dict.fromkeys(self.pools, self.skips)
        return taken

    def _close_if_full(self, target: Superblock) -> None:
        super()._close_if_full(target)
        if target in self.in_mode and target not in self.open:
            self.full.append(target)

    def trim(self, lpn: int) -> None:
        self.idle = False
        super().trim(lpn)
        self._jobs()

    # jobs

    def _collect(self) -> None:
        self._jobs()

    def _jobs(self) -> None:
        self.starved = False
        while (job := self._next_job()) is not None:
            self._run(*job)
        self.starved = self._wants()

    def _next_job(self, busy: Superblock | None = None) -> Job | None:
        empty = self._empty()
        if empty and (self._wants() or self.idle or self._erases_for_cache()):
            return empty[0], "collection" if self._wants() else "empty"
        dynamic = [one for one in self.full if not self._is_static(one)]
        if self._wants() and dynamic:
            return self._first_to_fold(dynamic), "space"
        empty_in_cache = any(self._valid(one) == 0 for one in self.full) and not self._can_open()
        cause = "full" if self._has_level() or self._lacks_room() or empty_in_cache else "idle" if self.idle else None
        fold = (self._first_to_fold(self.full), cause) if cause and self.full and len(self.free) > RESERVE else None
        if fold is not None and not (self._wants() and self.last_folded):
            return fold
        victim = self._pick(busy) if self._wants() else None
        return fold if victim is None else (victim, "collection")

    def _first_to_fold(self, full: list[Superblock]) -> Superblock:
        """The oldest without data, or else the oldest."""
        return next((one for one in full if self._valid(one) == 0), full[0])

    def _has_level(self) -> bool:
        """Whether the share ``fold_level`` of the cache is full."""
        level: float = self.slc["fold_level"]
        opened = sum(one.stream == "cache" for one in self.open)
        size = len(self.full) + opened + len(self.free_static) + self._dynamic_left()
        return level > 0 and len(self.full) >= level * size

    def _lacks_room(self) -> bool:
        """Whether a write would wait for a fold."""
        return self.slc["full"] == "fold" and all(one.stream != "cache" for one in self.open) and not self._can_open()

    def _closed(self) -> list[Superblock]:
        return [one for one in super()._closed() if one not in self.in_mode]

    def _run(self, victim: Superblock, cause: str) -> None:
        folds, moved = cause not in ("collection", "empty"), self.moved
        self.counters["empty_jobs"] += cause == "empty"
        self._take_out(victim)
        if folds:
            self.full.remove(victim)
        self._run_job(victim)
        if folds:
            self.in_mode.remove(victim)
            self.counters["folds"] += 1
            self.counters["idle_folds"] += cause == "idle"
            self.counters["space_folds"] += cause == "space"
            self.counters["folded_pages"] += self.moved - moved
            self.counters["slc_erases"] += len(self.pools)
        if self._is_static(victim):
            self.free.remove(victim)
            self.free_static.append(victim)
        self.last_folded = folds

    def rest(self) -> None:
        """No request is outstanding for long: superblocks of the cache are folded."""
        if self.slc["idle_us"]:
            self.idle = True
            self._jobs()

    # state that can be compared

    def counted(self) -> dict[str, int]:
        """What the drive counts, by its names."""
        return self.counters | {"superblocks_opened": self.opened, "superblocks_collected": self.jobs}
