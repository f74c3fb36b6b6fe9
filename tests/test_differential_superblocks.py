"""The simulated drive against the slow and simple `reference_superblocks`, page by page.

Requests of one page are run one at a time, with enough time after each for garbage collection to end. After each of them the whole mapping,
the erase counts and the free lists must be equal, and at the end the counters.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

import ssdlab
from one_at_a_time import keys_of, play
from reference_superblocks import OutOfSpace, ReferenceSuperblocks, Superblock

CASES = 60


def case(seed: int) -> dict[str, dict[str, Any]]:
    dice = random.Random(seed)
    planes, pages, soft = dice.choice([2, 3, 4]), dice.choice([2, 3, 4, 8]), dice.choice([1, 2, 3])
    blocks = dice.choice([16, 20])
    spare = soft + 6 + dice.randint(0, 4)
    return {
        "device": {
            "channels": 1,
            "chips_per_channel": 1,
            "dies_per_chip": 1,
            "planes_per_die": planes,
            "blocks_per_plane": blocks,
            "pages_per_block": pages,
            "page_bytes": 4096,
            "overprovisioning": spare / blocks,
        },
        "ftl": {"allocation": "dynamic", "reclaim_unit": "superblock", "frontier": "separate"},
        "gc": {
            "soft": float(soft),
            "victim": dice.choice(["greedy", "fifo", "cost-benefit"]),
            "scope": "none",
            "priority": dice.choice(["gc", "host"]),
            "moves_in_flight": dice.choice([1, 2, 3]),
        },
    }


def compare(seed: int, make: type[ReferenceSuperblocks]) -> ReferenceSuperblocks:
    """Plays a case on both, and returns the reference."""
    config = case(seed)
    dice = random.Random(f"requests of {seed}")
    keys = keys_of(config)
    fills = dice.random() < 0.7
    drive = ssdlab.Simulator(set=keys | {"ftl.precondition.kind": "fill" if fills else "none"}, verify="every")
    reference = make(config)
    if fills:
        reference.fill()
    agree(drive, reference, "at first")
    hot = max(1, reference.exported_pages // dice.choice([1, 1, 3]))
    play(drive, reference, lambda when: agree(drive, reference, when), dice, hot=hot, requests=250)
    result = drive.finish()
    counted = (result.gc.jobs, result.gc.pages_moved, result.gc.stale_moves, result.gc.erases)
    assert counted == (reference.jobs, reference.moved, 0, sum(reference.erases_of)), seed
    assert result.counters.superblocks_opened == reference.opened, seed
    assert result.counters.superblocks_collected == reference.jobs, seed
    assert result.counters.skipped_units == reference.skipped, seed
    return reference


def agree(drive: ssdlab.Simulator, reference: ReferenceSuperblocks, when: str) -> None:
    free = [drive.free_blocks(pool) for pool in reference.pools]
    assert drive.mapping() == reference.place_of, when
    assert drive.erase_counts() == reference.erases_of, when
    assert free == reference.free_lists(), when


def test_the_drive_does_what_the_reference_does() -> None:
    references = [compare(seed, ReferenceSuperblocks) for seed in range(CASES)]
    jobs = sum(reference.jobs for reference in references)
    assert jobs > 20 * CASES, jobs
    assert sum(reference.moved for reference in references) > 20 * CASES


class MovesGoToOnePool(ReferenceSuperblocks):
    """Deals all page moves to the first pool."""

    def _turn(self) -> int:
        return self.pools[0]


class CountsOnePool(ReferenceSuperblocks):
    """Counts the valid pages of a superblock in its first pool only."""

    def _valid(self, superblock: Superblock) -> int:
        places = [self._place(self.pools[0], superblock, page) for page in range(self.pages)]
        return sum(self.owner_of[place] >= 0 for place in places)


@pytest.mark.parametrize("wrong", [MovesGoToOnePool, CountsOnePool])
def test_another_rule_is_noticed(wrong: type[ReferenceSuperblocks]) -> None:
    with pytest.raises((AssertionError, OutOfSpace, IndexError, KeyError)):
        _ = [compare(seed, wrong) for seed in range(CASES)]
