"""A slow and simple translation layer with a cache of blocks in SLC mode whose reads have errors, against which the core's is compared.

It adds the rules of docs/model/ageing.md, and those of docs/model/slc.md on wear and ageing, to `reference_slc`, and was written from them.
Choices that they leave open, by function:

* ``read``: the reads of a block count when a read begins, so that the one that makes it due sees those before it only.
* ``_next_job``: a pool that needs free blocks has a job for that between two blocks that are due. If it finds none, the next block that is
  due is moved. A fold that was not for space does not follow a block that was due, in such a pool.
* ``_due_block``: blocks are moved in the order in which they became due; one that is being filled waits, and others do not wait for it.
"""

from __future__ import annotations

import math
from typing import Any

from reference_ftl import NOWHERE, Pool
from reference_slc import RESERVE, ReferenceSlc
from reference_streams import Stream

DAY_S = 86_400.0


class Unsure(Exception):
    """The answer depends on a time that this reference, which has no clock for single operations, does not know."""


class ReferenceSlcAges(ReferenceSlc):
    """An FTL with an SLC cache and reads that are repeated.

    Used keys of ``errors``: ``retry`` (``none in-order last-good pr2 ar2``, of which the latter two take the steps of ``in-order``) and
    ``retry_table correctable_bits codeword_bytes epsilon alpha k beta m n gamma p q reclaim_reads``; of ``slc`` those of `ReferenceSlc` and
    ``errors wear``; of ``ages``, for ``ftl.precondition``: ``pe_cycles retention_days``.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config)
        blocks = len(self.erases_of)
        self.errors = config["errors"]
        self.base_cycles: int = config["ages"]["pe_cycles"]
        self.retention_days: float = config["ages"]["retention_days"]
        self.older_days = [0.0] * blocks
        self.opened_at = [0.0] * blocks
        self.now = 0.0
        """Time, s."""
        self.reads_of = [0] * blocks
        self.erases_in_mode = [0] * blocks
        self.good = [0] * blocks
        """The step that was good for the last read of each block."""
        self.due: list[list[int]] = [[] for _ in self.pools]
        self.last_due = [False] * len(self.pools)
        """Whether the last job of each pool moved a block that was due."""
        self.reclaims = self.retry_steps = self.retried = self.lost_host = self.lost_moves = 0
        self.unsure = False
        self.retried_in_mode = 0
        """Reads of blocks in SLC mode that were repeated."""

    # ages

    def _opened(self, block: int) -> None:
        self.older_days[block], self.opened_at[block] = 0.0, self.now
        self.reads_of[block] = self.good[block] = 0
        number = next(number for number, pool in enumerate(self.pools) if block in pool.blocks)
        if block in self.due[number]:
            self.due[number].remove(block)

    def _program(self, pool: Pool, lpn: int, block: int) -> None:
        if self.written[block] == (self.skipped if self.in_mode[block] else 0):
            self._opened(block)
        super()._program(pool, lpn, block)

    def _write_to_cache(self, pool: Pool, lpn: int, stream: Stream) -> None:
        """Where a block that is due waits until it is full, a job that writes wait for begins with the program that fills the cache."""
        first = None
        if self.due[self.pools.index(pool)] and stream in pool.open and not self._leaves_room(pool, stream):
            self.opening = stream
            first = self._next_job(pool) if self._lacks_room(pool) else None
            self.opening = None
        super()._write_to_cache(pool, lpn, stream)
        if first is not None:
            self._run(pool, *first)

    def _leaves_room(self, pool: Pool, stream: Stream) -> bool:
        """Whether the open block of a stream has a page beside the next."""
        return self.written[pool.open[stream]] + 1 < self.pages_per_block

    def _rate(self, block: int, seconds: float) -> float:
        e, in_mode = self.errors, self.in_mode[block]
        spared = self.erases_in_mode[block] * round((1.0 - self.slc["wear"]) * 1e6)
        cycles = max(1, self.base_cycles + self.erases_of[block] - -(-spared // 1_000_000))
        days = self.older_days[block] + (self.now - self.opened_at[block] + seconds) / DAY_S
        pages = self.pages_per_block - (self.skipped if in_mode else 0)
        law = e["epsilon"] + e["alpha"] * cycles ** e["k"] + e["beta"] * cycles ** e["m"] * max(days, 0.0) ** e["n"]
        law += e["gamma"] * cycles ** e["p"] * (self.reads_of[block] / pages) ** e["q"]
        return law * (self.slc["errors"] if in_mode else 1.0)

    def _retry_step(self, block: int, seconds: float) -> int:
        """The first step of the table that corrects the expected errors, or one behind the last."""
        bits = 8.0 * self.errors["codeword_bytes"] * self._rate(block, seconds)
        shares = [1.0, *self.errors["retry_table"]]
        if any(math.isclose(bits * share, self.errors["correctable_bits"], rel_tol=1e-9) for share in shares):
            raise Unsure
        return next((step for step, share in enumerate(shares) if bits * share <= self.errors["correctable_bits"]), len(shares))

    def _read_block(self, block: int) -> bool:
        """Reads a page of a block. Returns whether its data are lost."""
        needed = self._retry_step(block, 0.0)
        # A request and all that follows it last less than two seconds, and the block was opened at some time in such a span.
        if not self._retry_step(block, -2.0) == needed == self._retry_step(block, 2.0):
            raise Unsure
        table, policy = len(self.errors["retry_table"]), self.errors["retry"]
        lost = needed > table
        if policy == "none":
            failed, lost = 0, needed > 0
        else:
            first = self.good[block] if policy == "last-good" else 0
            last = min(max(needed, first), table)
            failed = last - first
            if not lost:
                self.good[block] = last
        self.reads_of[block] += 1 + failed
        self.retry_steps += failed
        self.retried += failed > 0
        self.retried_in_mode += failed > 0 and self.in_mode[block]
        number = next(number for number, pool in enumerate(self.pools) if block in pool.blocks)
        limit = self.errors["reclaim_reads"]
        if limit and self.reads_of[block] >= limit and block not in self.due[number] and block not in self.moving:
            self.due[number].append(block)
        return lost

    moving: frozenset[int] = frozenset()
    """The block that a job moves."""

    def read(self, lpn: int) -> None:
        """Reads one logical page."""
        place = self.place_of[lpn]
        self.idle = False
        if place == NOWHERE:
            return
        self.lost_host += self._read_block(place // self.pages_per_block)
        self._jobs(self.pools[self.pool_of(lpn)])

    def begin(self) -> None:
        """The blocks that are filled were opened before the run."""
        self.older_days = [float(self.retention_days)] * len(self.older_days)
        super().begin()

    # jobs

    def _due_block(self, pool: Pool) -> int | None:
        number = self.pools.index(pool)
        if len(pool.free) <= RESERVE:
            return None
        return next((block for block in self.due[number] if self.written[block] == self.pages_per_block), None)

    def _next_job(self, pool: Pool) -> tuple[int, str] | None:
        number = self.pools.index(pool)
        wanted, due = self._wants_collection(pool), self._due_block(pool)
        if due is not None and not (wanted and self.last_due[number]):
            return due, "due"
        other = super()._next_job(pool)
        return (due, "due") if other is None and due is not None else other

    def _run(self, pool: Pool, block: int, cause: str) -> None:
        number, in_mode = self.pools.index(pool), self.in_mode[block]
        if block in self.due[number]:
            self.due[number].remove(block)
        self.moving = frozenset([block])
        lost = sum(self._read_block(block) for ppn in self._pages_of(block) if self.owner_of[ppn] != NOWHERE)
        self.lost_moves += lost
        if cause != "due":
            super()._run(pool, block, cause)
        else:
            self._move_due(pool, block)
        self.moving = frozenset()
        self.erases_in_mode[block] += in_mode
        self.last_due[number] = cause == "due"

    def _move_due(self, pool: Pool, block: int) -> None:
        number, in_mode, moves = self.pools.index(pool), self.in_mode[block], self.gc_programs
        self.reclaims += 1
        if in_mode:
            self.full[number].remove(block)
        super(ReferenceSlc, self)._run_job(pool, block)
        self._erased(pool, block, self.gc_programs - moves if in_mode else None)
        self.last_folded[number] = True

    def counted(self) -> dict[str, int]:
        """What the drive counts, by its names."""
        return super().counted() | {
            "reclaim_jobs": self.reclaims,
            "retry_steps": self.retry_steps,
            "retried_reads": self.retried,
            "uncorrectable_reads": self.lost_host,
            "uncorrectable_moves": self.lost_moves,
        }
