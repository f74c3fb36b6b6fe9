"""The simulated drive against the slow and simple `reference_slc_superblocks`, page by page, as `test_differential_slc` does it."""

from __future__ import annotations

import random
from typing import Any

import pytest

import ssdlab
from one_at_a_time import keys_of, play
from reference_slc_superblocks import ReferenceSlcSuperblocks
from reference_superblocks import OutOfSpace, Superblock
from shares import FULL

CASES = 300 if FULL else 60
LONG = 1_000_000
"""More microseconds than all jobs that a request sets off take."""


def case(seed: int) -> dict[str, dict[str, Any]]:
    dice = random.Random(seed)
    static, dynamic = dice.choice([(0, 3), (0, 6), (2, 0), (2, 3), (3, 2)])
    soft, blocks, full = dice.choice([1, 2, 3]), dice.choice([20, 24]), dice.choice(["direct", "fold"])
    # Static superblocks are not folded for space.
    never = (0.0, 0) if full == "fold" or static == 0 else (1.0, 0)
    level, idle_us = dice.choice([(0.0, LONG), (0.5, 0), (0.8, 0), (0.5, LONG), never, never, never])
    return {
        "device": {
            "channels": 1,
            "chips_per_channel": 1,
            "dies_per_chip": 1,
            "planes_per_die": dice.choice([2, 2, 3, 4]),
            "blocks_per_plane": blocks,
            "pages_per_block": dice.choice([4, 6, 9]),
            "page_bytes": 4096,
            "overprovisioning": (soft + 7 + static + dice.randint(0, 3)) / blocks,
        },
        "ftl": {"allocation": "dynamic", "reclaim_unit": "superblock", "frontier": "separate"},
        "gc": {
            "soft": float(soft),
            "victim": dice.choice(["greedy", "fifo", "cost-benefit"]),
            "scope": "none",
            "priority": dice.choice(["gc", "host"]),
            "moves_in_flight": dice.choice([1, 2, 3]),
        },
        "slc": {
            "static_blocks": static,
            "dynamic_blocks": dynamic,
            "bits_per_cell": dice.choice([3, 4]),
            "full": full,
            "fold_level": level,
            "idle_us": idle_us,
        },
    }


def compare(seed: int, make: type[ReferenceSlcSuperblocks]) -> ReferenceSlcSuperblocks:
    """Plays a case on both, and returns the reference."""
    config = case(seed)
    dice = random.Random(f"requests of {seed}")
    keys = keys_of(config)
    fills = dice.random() < 0.6
    drive = ssdlab.Simulator(set=keys | {"ftl.precondition.kind": "fill" if fills else "none"}, verify="every")
    reference = make(config)
    if fills:
        reference.fill()
    agree(drive, reference, "at first")
    hot = max(1, reference.exported_pages // dice.choice([1, 2, 4]))
    play(drive, reference, lambda when: agree(drive, reference, when), dice, hot=hot, requests=300)
    counters = drive.finish().counters
    for name, expected in reference.counted().items():
        assert getattr(counters, name) == expected, (seed, name)
    assert counters.skipped_units == reference.skipped, seed
    return reference


def agree(drive: ssdlab.Simulator, reference: ReferenceSlcSuperblocks, when: str) -> None:
    reference.rest()
    assert drive.mapping() == reference.place_of, when
    assert drive.erase_counts() == reference.erases_of, when
    assert [drive.free_blocks(pool) for pool in reference.pools] == reference.free_lists(), when


def test_the_drive_does_what_the_reference_does() -> None:
    references = [compare(seed, ReferenceSlcSuperblocks) for seed in range(CASES)]
    for name in references[0].counted():
        # Hardly any superblock outside of the cache loses all of its data before it is collected.
        at_least = CASES if name == "empty_jobs" else 3 * CASES
        assert sum(reference.counted()[name] for reference in references) > at_least, name


class FoldsTheYoungest(ReferenceSlcSuperblocks):
    """Folds the superblock that became full last."""

    def _close_if_full(self, target: Superblock) -> None:
        super()._close_if_full(target)
        if self.full and self.full[-1] is target:
            self.full.insert(0, self.full.pop())


class LeavesOneSuperblock(ReferenceSlcSuperblocks):
    """Opens superblocks of the dynamic part until one is left, whatever makes collection start."""

    def _dynamic_left(self) -> int:
        wanted, self.wanted = self.wanted, 1
        try:
            return super()._dynamic_left()
        finally:
            self.wanted = wanted


class FillsThemWhole(ReferenceSlcSuperblocks):
    """Skips a page less of each block in SLC mode."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config)
        self.skips -= 1


class CountsTheOpenOneFull(ReferenceSlcSuperblocks):
    """Leaves the open superblock out of the size of the cache."""

    def _has_level(self) -> bool:
        opened, self.open = self.open, []
        try:
            return super()._has_level()
        finally:
            self.open = opened


class CountsBlocks(ReferenceSlcSuperblocks):
    """Counts the dynamic part in blocks of all planes."""

    def _dynamic_left(self) -> int:
        return super()._dynamic_left() // len(self.pools)


class TakesTurnsTogether(ReferenceSlcSuperblocks):
    """Counts writes to the cache and past it together, to find the plane whose turn it is."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config)
        self.level["cache"] = self.level["host"]


class GoesPastTheCacheTogether(ReferenceSlcSuperblocks):
    """Writes past the cache only once no plane has room there."""

    def _stream_in(self, pool: int) -> str:
        if any(one.stream == "cache" for one in self.open):
            return "cache"
        return super()._stream_in(pool)


WRONG = [
    FoldsTheYoungest,
    LeavesOneSuperblock,
    FillsThemWhole,
    CountsTheOpenOneFull,
    CountsBlocks,
    TakesTurnsTogether,
    GoesPastTheCacheTogether,
]


@pytest.mark.parametrize("wrong", WRONG)
def test_another_rule_is_noticed(wrong: type[ReferenceSlcSuperblocks]) -> None:
    with pytest.raises((AssertionError, OutOfSpace, IndexError, KeyError)):
        _ = [compare(seed, wrong) for seed in range(CASES)]
