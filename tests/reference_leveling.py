"""A slow and simple translation layer whose blocks wear out and that levels wear, against which the core's is compared.

It adds the rules of docs/model/wear.md (endurance, Wear levelling) to `reference_ftl`, and was written from them. Choices that they leave
open, by function:

* ``__init__``: odd blocks are hot at first.
* ``_youngest``: of blocks erased equally often, the one with the smallest number.
* ``_by_sides``: one hot block becomes cold at an erase, the one erased least, and none where data move.
* ``_level``: where a pool needs free blocks, a job for that follows each job that levels. The worn block comes to the front of the free
  list when the job begins.
"""

from __future__ import annotations

from typing import Any

from reference_ftl import Decides, OutOfSpace, Pool, ReferenceFtl
from reference_streams import Stream

RETIRED_MOST = 2
"""Blocks that a drive may lose. Its end has rules of its own, which are not followed."""


class EndOfLife(Exception):
    """The drive has lost more blocks than are followed."""


class ReferenceLeveling(ReferenceFtl):
    """An FTL with static wear levelling, whose blocks are retired with their last erase.

    Used keys of ``wear``: ``leveling leveling_threshold leveling_rest endurance``; all blocks have the same endurance.
    """

    def __init__(self, config: dict[str, Any], *, decides: Decides = "started") -> None:
        super().__init__(config, decides=decides)
        wear = config["wear"]
        self.policy: str = wear["leveling"]
        self.threshold: int = wear.get("leveling_threshold", 0)
        self.rest: int = wear.get("leveling_rest", 0)
        self.endurance: int = wear.get("endurance", 0)
        self.reserve = 2 if self.endurance else 1
        """Free blocks that the host leaves to collection."""
        self.is_hot = [block % 2 == 1 for block in range(len(self.erases_of))]
        self.erases_before = [0] * len(self.erases_of)
        """Erases of each block when it became hot or cold."""
        self.pool_erases = [0] * len(self.pools)
        self.erased_at = [0] * len(self.erases_of)
        """Erases of its pool when each block was erased last."""
        self.due: dict[int, tuple[int, int]] = {}
        """By pool: the block whose data are to move, and the worn block that is to take them."""
        self.levelled: set[int] = set()
        """Pools whose last job moved such a block."""
        self.retired: list[int] = []
        self.leveling_jobs = self.leveling_moves = 0

    def _open_host_block(self, pool: Pool, stream: Stream) -> bool:
        if stream not in pool.open and len(pool.free) <= self.reserve:
            self._collect(pool)
        if stream not in pool.open and len(pool.free) <= self.reserve:
            raise OutOfSpace("the last free blocks are for garbage collection only")
        return super()._open_host_block(pool, stream)

    def _wants_collection(self, pool: Pool) -> bool:
        return super()._wants_collection(pool) or len(pool.free) <= self.reserve

    def _collect(self, pool: Pool, *, begun: bool = False) -> None:
        self._level(pool, needs=self._wants_collection(pool))
        super()._collect(pool, begun=begun)

    def _run_job(self, pool: Pool, victim: int) -> None:
        super()._run_job(pool, victim)
        self._block_erased(pool, victim)
        self.levelled.discard(self.pools.index(pool))
        self._level(pool, needs=self._wants_collection(pool))

    def _level(self, pool: Pool, *, needs: bool) -> None:
        """Moves the data of the block that is due, if the pool has a free block beside the reserve. `needs`: the pool needs free blocks."""
        number = self.pools.index(pool)
        if number not in self.due or len(pool.free) < 2 or (needs and number in self.levelled):
            return
        self.levelled.add(number)
        block, worn = self.due.pop(number)
        if worn in pool.free:
            pool.free.remove(worn)
            pool.free.insert(0, worn)
        moves = self.gc_programs
        super()._run_job(pool, block)
        self.leveling_moves += self.gc_programs - moves
        self.leveling_jobs += 1
        self._block_erased(pool, block)
        self._level(pool, needs=self._wants_collection(pool))

    def _block_erased(self, pool: Pool, erased: int) -> None:
        number = self.pools.index(pool)
        if self.endurance and self.erases_of[erased] == self.endurance:
            pool.free.remove(erased)
            self.retired.append(erased)
            if len(self.retired) > RETIRED_MOST:
                raise EndOfLife
        self.pool_erases[number] += 1
        if number in self.due and self.due[number][0] == erased:
            del self.due[number]
        if erased in self.retired:
            return
        youngest = self._chosen(pool, erased)
        self.erased_at[erased] = self.pool_erases[number]
        if youngest is not None and number not in self.due:
            self.due[number] = (youngest, erased)

    def _chosen(self, pool: Pool, erased: int) -> int | None:
        """The block to move, which the policy names after an erase."""
        if self.policy == "none":
            return None
        if self.policy == "dual-pool":
            return self._by_sides(pool, erased)
        youngest = self._youngest(self._closed(pool))
        if youngest is None:
            return None
        ahead = self.erases_of[erased] - self.erases_of[youngest]
        if self.policy == "progressive":
            left = self.endurance - self.erases_of[erased]
            return youngest if ahead > max(left, self.threshold) else None
        rested = self.pool_erases[self.pools.index(pool)] - self.erased_at[erased] > self.rest
        return youngest if ahead > self.threshold and rested else None

    def _youngest(self, blocks: list[int]) -> int | None:
        return min(blocks, key=lambda block: (self.erases_of[block], block), default=None)

    def _by_sides(self, pool: Pool, erased: int) -> int | None:
        hot = [block for block in pool.blocks if self.is_hot[block]]
        if not self.is_hot[erased]:
            if hot and self._erases_since(erased) - min(self._erases_since(block) for block in hot) > self.threshold:
                self._turn(erased, hot=True)
            return None
        youngest = self._youngest([block for block in self._closed(pool) if not self.is_hot[block]])
        if youngest is not None and self.erases_of[erased] - self.erases_of[youngest] > self.threshold:
            if self.pools.index(pool) not in self.due:
                self._turn(erased, hot=False)
                self._turn(youngest, hot=True)
            return youngest
        coolest = self._youngest(hot)
        if coolest is not None and self.erases_of[erased] - self.erases_of[coolest] > 2 * self.threshold:
            self._turn(coolest, hot=False)
        return None

    def _erases_since(self, block: int) -> int:
        """Erases of a block since it became hot or cold."""
        return self.erases_of[block] - self.erases_before[block]

    def _turn(self, block: int, *, hot: bool) -> None:
        self.is_hot[block] = hot
        self.erases_before[block] = self.erases_of[block]
