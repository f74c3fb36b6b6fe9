"""The simulated drive against the slow and simple `reference_leveling`, page by page, as `test_differential_superblocks` does it."""

from __future__ import annotations

import random
from typing import Any

import pytest

import ssdlab
from one_at_a_time import keys_of, play
from reference_ftl import OutOfSpace, Pool
from reference_leveling import EndOfLife, ReferenceLeveling

CASES = 120
POLICIES = ["dual-pool", "progressive", "old-block", "none"]


def case(seed: int) -> dict[str, dict[str, Any]]:
    dice = random.Random(seed)
    blocks, soft = dice.choice([14, 18]), dice.choice([1, 2, 3])
    policy = POLICIES[seed % len(POLICIES)]
    wear: dict[str, Any] = {"leveling": policy}
    wear |= {"leveling_threshold": dice.choice([1, 2, 4])} if policy != "none" else {}
    wear |= {"leveling_rest": dice.choice([2, 6])} if policy == "old-block" else {}
    wear |= {"endurance": dice.choice([6, 12]), "spread": 0.0, "end": "stop"} if policy in ("progressive", "none") else {}
    # Two blocks of a pool may be lost.
    spare = soft + 4 + dice.randint(0, 2) + (3 if "endurance" in wear else 0)
    return {
        "device": {
            "channels": 1,
            "chips_per_channel": 1,
            "dies_per_chip": 1,
            "planes_per_die": dice.choice([1, 1, 2]),
            "blocks_per_plane": blocks,
            "pages_per_block": dice.choice([2, 4]),
            "page_bytes": 4096,
            "overprovisioning": spare / blocks,
        },
        "ftl": {"frontier": dice.choice(["separate", "shared"])},
        "gc": {
            "soft": float(soft),
            "victim": dice.choice(["greedy", "fifo", "wear-aware"]),
            "scope": "none",
            "priority": dice.choice(["gc", "host"]),
        },
        "wear": wear,
    }


def compare(seed: int, make: type[ReferenceLeveling]) -> ReferenceLeveling:
    """Plays a case on both, and returns the reference."""
    config = case(seed)
    dice = random.Random(f"requests of {seed}")
    keys = keys_of(config)
    drive = ssdlab.Simulator(set=keys | {"ftl.precondition.kind": "fill"}, verify="every")
    reference = make(config)
    reference.fill()
    reference.begin()
    agree(drive, reference, "at first")
    hot = max(1, reference.exported_pages // dice.choice([2, 4, 8]))
    try:
        play(drive, reference, lambda when: agree(drive, reference, when), dice, hot=hot, requests=400)
    except EndOfLife:
        return reference
    result = drive.finish()
    counted = (result.gc.jobs, result.gc.pages_moved, result.gc.erases, result.counters.leveling_jobs, result.counters.leveling_moves)
    assert result.counters.retired_by_endurance == len(reference.retired), seed
    expected = (reference.jobs, reference.gc_programs, reference.erases, reference.leveling_jobs, reference.leveling_moves)
    assert counted == expected, seed
    return reference


def agree(drive: ssdlab.Simulator, reference: ReferenceLeveling, when: str) -> None:
    free = [drive.free_blocks(pool) for pool in range(len(reference.pools))]
    assert drive.erase_counts() == reference.erase_counts(), when
    assert free == reference.free_lists(), when
    assert drive.mapping() == reference.mapping(), when


def test_the_drive_does_what_the_reference_does() -> None:
    references = [compare(seed, ReferenceLeveling) for seed in range(CASES)]
    assert sum(len(reference.retired) for reference in references) > CASES // 4
    for policy in POLICIES[:-1]:
        levelled = [reference.leveling_moves for reference in references if reference.policy == policy]
        assert sum(levelled) > len(levelled), policy


class LevelsTheOldest(ReferenceLeveling):
    """Moves the data of the block erased most."""

    def _youngest(self, blocks: list[int]) -> int | None:
        return max(blocks, key=lambda block: (self.erases_of[block], -block), default=None)


class LeavesOneBlock(ReferenceLeveling):
    """Leaves one free block to collection where blocks can fail."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config)
        self.reserve = 1


class NeverLevelsFirst(ReferenceLeveling):
    """Has a job for free blocks first wherever a pool needs them."""

    def _level(self, pool: Pool, *, needs: bool) -> None:
        self.levelled.add(self.pools.index(pool))
        super()._level(pool, needs=needs)


class LastsOneEraseMore(ReferenceLeveling):
    """Retires a block an erase later."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config)
        self.endurance += self.endurance > 0


@pytest.mark.parametrize("wrong", [LevelsTheOldest, LeavesOneBlock, NeverLevelsFirst, LastsOneEraseMore])
def test_another_rule_is_noticed(wrong: type[ReferenceLeveling]) -> None:
    with pytest.raises((AssertionError, OutOfSpace)):
        _ = [compare(seed, wrong) for seed in range(CASES)]
