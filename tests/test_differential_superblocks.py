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
    more: dict[str, dict[str, Any]] = {}
    if seed % 3 == 1:
        more["wear"] = {"leveling": "old-block", "leveling_threshold": dice.choice([1, 2]), "leveling_rest": dice.choice([0, 3])}
    if seed % 4 == 2:
        more["errors"] = {"retry": "in-order", "reclaim_reads": dice.choice([3, 8])}
    return more | {
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
        "ftl": {"allocation": "dynamic", "reclaim_unit": "superblock", "frontier": "shared" if seed % 5 > 2 else "separate"},
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
    reads = 0.3 if reference.reclaim_reads else 0.0
    requests = 400 if reads else 250
    play(drive, reference, lambda when: agree(drive, reference, when), dice, hot=hot, requests=requests, reads=reads)
    result = drive.finish()
    assert {why: result.counters[f"{why}_jobs"] for why in reference.jobs_for} == reference.jobs_for, seed
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
    assert all(sum(reference.jobs_for[why] for reference in references) > CASES // 4 for why in ("reclaim", "leveling"))


class MovesGoToOnePool(ReferenceSuperblocks):
    """Deals all page moves to the first pool."""

    def _turn(self) -> int:
        return self.pools[0]


class CountsOnePool(ReferenceSuperblocks):
    """Counts the valid pages of a superblock in its first pool only."""

    def _valid(self, superblock: Superblock) -> int:
        places = [self._place(self.pools[0], superblock, page) for page in range(self.pages)]
        return sum(self.owner_of[place] >= 0 for place in places)


class LevelsNothing(ReferenceSuperblocks):
    """Leaves the superblocks erased least where they are."""

    def _level(self, erased: Superblock) -> None:
        del erased


class MovesOneBlock(ReferenceSuperblocks):
    """Counts reads by superblock."""

    def _read(self, place: int) -> None:
        super()._read(place // self.pages % self.blocks * self.pages)


class MovesApart(ReferenceSuperblocks):
    """Moves fill superblocks of their own with a shared frontier, too."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config)
        self.moves = "moves"


@pytest.mark.parametrize("wrong", [MovesGoToOnePool, CountsOnePool, LevelsNothing, MovesOneBlock, MovesApart])
def test_another_rule_is_noticed(wrong: type[ReferenceSuperblocks]) -> None:
    with pytest.raises((AssertionError, OutOfSpace, IndexError, KeyError)):
        _ = [compare(seed, wrong) for seed in range(CASES)]
