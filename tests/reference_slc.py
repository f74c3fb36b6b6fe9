"""A slow and simple translation layer with a cache of blocks in SLC mode, against which the core's is compared.

It adds the rules of docs/model/slc.md to `reference_ftl`, and was written from them. Choices that they leave open, by function:

* ``__init__``: the last blocks of each plane are the static part.
* ``_open_in_cache``: the first pages of a block are those that it skips.
* ``_next_job``: a pool that needs free blocks has a job for that between two folds for other reasons, even if it finds no block to collect.
"""

from __future__ import annotations

from typing import Any

from reference_ftl import OutOfSpace, Pool, ReferenceFtl
from reference_streams import Stream

CACHE: Stream = ("host", 1)
"""The stream of host writes that go to the cache. The others have number 0."""
RESERVE = 1
"""Free blocks that only jobs may take."""


class ReferenceSlc(ReferenceFtl):
    """An FTL with an SLC cache.

    Used keys of ``slc``: ``static_blocks dynamic_blocks bits_per_cell full fold_level idle_us``, of which the last counts as on or off.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        self.slc = config["slc"]
        static: int = self.slc["static_blocks"]
        super().__init__(config, decides="started")
        self.skipped = self.pages_per_block - self.pages_per_block // self.slc["bits_per_cell"]
        self.is_static = [block % self.blocks_per_plane >= self.blocks_per_plane - static for block in range(len(self.erases_of))]
        self.cached = [CACHE]
        """Streams of the cache."""
        self.in_mode = [False] * len(self.erases_of)
        self.free_static = [[block for block in pool.blocks if self.is_static[block]] for pool in self.pools]
        for pool in self.pools:
            pool.free = [block for block in pool.blocks if not self.is_static[block]]
        self.full: list[list[int]] = [[] for _ in self.pools]
        """Full blocks in SLC mode of each pool, the oldest first."""
        self.last_folded = [False] * len(self.pools)
        """Whether the last job of each pool was a fold."""
        self.idle = False
        self.cache_writes = self.direct_writes = self.folds = self.idle_folds = self.space_folds = self.folded_pages = self.cache_erases = 0
        self.empty_jobs = 0
        self.opening: Stream | None = None
        """The stream whose block was just opened: its first program has not ended."""

    # where writes go

    def _write_page(self, lpns: list[int], stream: Stream, *, last: bool = True) -> None:
        pool = self.pools[self.pool_of(lpns[0])]
        cached = self._cache_stream(lpns[0])
        in_cache = cached is not None and self._goes_to_cache(pool, cached)
        self._count(lpns[0], in_cache=in_cache)
        if cached is not None and in_cache:
            self._write_to_cache(pool, lpns[0], cached)
        else:
            super()._write_page(lpns, stream, last=last)
        self._jobs(pool)

    def _cache_stream(self, lpn: int) -> Stream | None:  # noqa: ARG002
        """The stream of a page in the cache."""
        return CACHE

    def _count(self, lpn: int, *, in_cache: bool) -> None:  # noqa: ARG002
        self.cache_writes += in_cache
        self.direct_writes += not in_cache

    def _goes_to_cache(self, pool: Pool, stream: Stream) -> bool:
        if self.slc["full"] == "fold" or stream in pool.open or self.free_static[self.pools.index(pool)]:
            return True
        return self._can_open_ahead(pool) or (self._erases_for_cache(pool) and self._can_open(pool))

    def _can_open_ahead(self, pool: Pool) -> bool:
        """Whether a block of the cache can be opened without setting off collection."""
        kept = RESERVE if self.slc["full"] == "fold" else max(self.soft_blocks, RESERVE + 1)
        return bool(self.free_static[self.pools.index(pool)]) or self._can_open_dynamic(pool, kept)

    def _empty_blocks(self, pool: Pool) -> list[int]:
        """Full blocks outside of the cache that hold no data."""
        return [block for block in self._closed(pool) if not self.in_mode[block] and self.valid_pages(block) == 0]

    def _erases_for_cache(self, pool: Pool) -> bool:
        """Whether a block without data is to be erased so that the cache can open it."""
        may = self._dynamic_blocks(pool) < self.slc["dynamic_blocks"] and not self._can_open_ahead(pool)
        return may and bool(self._empty_blocks(pool))

    def _can_open_dynamic(self, pool: Pool, kept: int) -> bool:
        return self._dynamic_blocks(pool) < self.slc["dynamic_blocks"] and len(pool.free) > kept

    def _dynamic_blocks(self, pool: Pool) -> int:
        return sum(self.in_mode[block] and not self.is_static[block] for block in pool.blocks)

    def _can_open(self, pool: Pool) -> bool:
        return bool(self.free_static[self.pools.index(pool)]) or self._can_open_dynamic(pool, RESERVE)

    def _write_to_cache(self, pool: Pool, lpn: int, stream: Stream) -> None:
        if stream not in pool.open and not self._can_open(pool):
            raise OutOfSpace("folding frees no block for the write")
        first = None
        if stream not in pool.open:
            first = self._open_in_cache(pool, stream)
        self._program(pool, lpn, pool.open[stream])
        self._note_written([lpn])
        self.host_programs += 1
        if first is not None:
            self._run(pool, *first)

    def _open_in_cache(self, pool: Pool, stream: Stream) -> tuple[int, str] | None:
        """Opens a block in SLC mode. Returns the job that this sets off, which has its first step when the write has ended."""
        static = self.free_static[self.pools.index(pool)]
        block = static.pop(0) if static else pool.free.pop(0)
        pool.open[stream] = block
        self.in_mode[block] = True
        self.written[block] = self.skipped
        self.opening = stream
        job = self._next_job(pool)
        self.opening = None
        return job

    def _has_room(self, pool: Pool, stream: Stream) -> bool:
        """Whether the open block of a stream has a page that no program has taken."""
        return stream in pool.open and self.written[pool.open[stream]] + (stream == self.opening) < self.pages_per_block

    def _close(self, pool: Pool, block: int) -> None:
        super()._close(pool, block)
        if self.in_mode[block]:
            self.full[self.pools.index(pool)].append(block)

    def write(self, lpn: int) -> None:
        self.idle = False
        super().write(lpn)

    def trim(self, lpn: int) -> None:
        self.idle = False
        super().trim(lpn)
        self._jobs(self.pools[self.pool_of(lpn)])

    # jobs

    def _collect(self, pool: Pool, *, begun: bool = False) -> None:  # noqa: ARG002
        self._jobs(pool)

    def _wants_job(self, pool: Pool) -> bool:
        return self._next_job(pool) is not None

    def _victim(self, pool: Pool) -> int | None:
        """The first job of a direct write, which is decided when it begins."""
        self.first = self._next_job(pool)
        return None if self.first is None else self.first[0]

    def _jobs(self, pool: Pool) -> None:
        pool.starved = False
        while (job := self._next_job(pool)) is not None:
            self._run(pool, *job)
        pool.starved = self._wants_collection(pool)

    def _next_job(self, pool: Pool) -> tuple[int, str] | None:
        """The block that the next job empties, and why."""
        number = self.pools.index(pool)
        wanted = self._wants_collection(pool)
        empty = self._empty_blocks(pool)
        if empty and (wanted or self.idle or self._erases_for_cache(pool)):
            return self._greedy(empty), "collection" if wanted else "empty"
        dynamic = [block for block in self.full[number] if not self.is_static[block]]
        if wanted and dynamic:
            return self._first_to_fold(dynamic), "space"
        empty_in_cache = any(self.valid_pages(block) == 0 for block in self.full[number]) and not self._can_open_ahead(pool)
        wanted_for_cache = self._has_level(pool) or self._lacks_room(pool) or empty_in_cache
        cause = "full" if wanted_for_cache else "idle" if self.idle else None
        folds = cause is not None and bool(self.full[number]) and len(pool.free) > RESERVE
        if folds and not (wanted and self.last_folded[number]):
            return self._first_to_fold(self.full[number]), str(cause)
        victim = super()._victim(pool) if wanted else None
        if victim is not None:
            return victim, "collection"
        return (self._first_to_fold(self.full[number]), str(cause)) if folds else None

    def _first_to_fold(self, blocks: list[int]) -> int:
        """The oldest block without data, or else the oldest."""
        return next((block for block in blocks if self.valid_pages(block) == 0), blocks[0])

    def _has_level(self, pool: Pool) -> bool:
        number, level = self.pools.index(pool), self.slc["fold_level"]
        kept = RESERVE if self.slc["full"] == "fold" else max(self.soft_blocks, RESERVE + 1)
        more = min(max(len(pool.free) - kept, 0), self.slc["dynamic_blocks"] - self._dynamic_blocks(pool))
        full = len(self.full[number])
        size = full + sum(self._has_room(pool, stream) for stream in self.cached) + len(self.free_static[number]) + more
        return level > 0 and full > 0 and full >= level * size

    def _lacks_room(self, pool: Pool) -> bool:
        """Whether a write would wait for a fold."""
        has_room = all(self._has_room(pool, stream) for stream in self.cached)
        return self.slc["full"] == "fold" and not has_room and not self._can_open(pool)

    def _choice(self, pool: Pool) -> int | None:
        hidden = [block for block in pool.blocks if self.in_mode[block]]
        blocks, pool.blocks = pool.blocks, [block for block in pool.blocks if block not in hidden]
        try:
            return super()._choice(pool)
        finally:
            pool.blocks = blocks

    def _run(self, pool: Pool, block: int, cause: str) -> None:
        number = self.pools.index(pool)
        folds, moves = cause not in ("collection", "empty"), self.gc_programs
        self.empty_jobs += cause == "empty"
        if folds:
            self.full[number].remove(block)
            self.folds += 1
            self.idle_folds += cause == "idle"
            self.space_folds += cause == "space"
        super()._run_job(pool, block)
        self._erased(pool, block, self.gc_programs - moves if folds else None)
        self.last_folded[number] = folds

    def _erased(self, pool: Pool, block: int, moved: int | None) -> None:
        """A job has erased a block; ``moved``: pages that it moved out of the cache, if the block was in SLC mode."""
        if moved is not None:
            self.folded_pages += moved
            self.cache_erases += 1
            self.in_mode[block] = False
        if self.is_static[block]:
            pool.free.remove(block)
            self.free_static[self.pools.index(pool)].append(block)

    def _run_job(self, pool: Pool, victim: int) -> None:
        """The first job of a direct write."""
        assert self.first is not None
        assert self.first[0] == victim
        self._run(pool, *self.first)

    def rest(self) -> None:
        """No request is outstanding for long: blocks of the cache are folded."""
        if self.slc["idle_us"]:
            self.idle = True
            for pool in self.pools:
                self._jobs(pool)

    def counted(self) -> dict[str, int]:
        """What the drive counts, by its names."""
        return {
            "slc_writes": self.cache_writes,
            "direct_writes": self.direct_writes,
            "folds": self.folds,
            "idle_folds": self.idle_folds,
            "space_folds": self.space_folds,
            "folded_pages": self.folded_pages,
            "slc_erases": self.cache_erases,
            "empty_jobs": self.empty_jobs,
        }
