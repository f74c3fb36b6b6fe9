"""The simulated drive against the slow and simple `reference_slc`, page by page, as `test_differential_superblocks` does it."""

from __future__ import annotations

import random
from typing import Any

import pytest

import ssdlab
from one_at_a_time import keys_of, play
from reference_ftl import OutOfSpace, Pool
from reference_slc import ReferenceSlc

CASES = 80
LONG = 1_000_000
"""More microseconds than all jobs that a request sets off take."""


def case(seed: int) -> dict[str, dict[str, Any]]:
    dice = random.Random(seed)
    static, dynamic = dice.choice([(0, 3), (0, 6), (2, 0), (2, 3), (3, 2)])
    soft, blocks, full = dice.choice([1, 2, 3]), dice.choice([20, 24]), dice.choice(["direct", "fold"])
    # Static blocks are not folded for space.
    never = (0.0, 0) if full == "fold" or static == 0 else (1.0, 0)
    level, idle_us = dice.choice([(0.0, LONG), (0.5, 0), (0.8, 0), (0.5, LONG), never])
    return {
        "device": {
            "channels": 1,
            "chips_per_channel": 1,
            "dies_per_chip": 1,
            "planes_per_die": dice.choice([1, 1, 2]),
            "blocks_per_plane": blocks,
            "pages_per_block": dice.choice([4, 6, 9]),
            "page_bytes": 4096,
            "overprovisioning": (soft + 6 + static + dice.randint(0, 3)) / blocks,
        },
        "ftl": {"frontier": "separate"},
        "gc": {"soft": float(soft), "victim": dice.choice(["greedy", "fifo"]), "scope": "none", "priority": dice.choice(["gc", "host"])},
        "slc": {
            "static_blocks": static,
            "dynamic_blocks": dynamic,
            "bits_per_cell": dice.choice([3, 4]),
            "full": full,
            "fold_level": level,
            "idle_us": idle_us,
        },
    }


def compare(seed: int, make: type[ReferenceSlc]) -> ReferenceSlc:
    """Plays a case on both, and returns the reference."""
    reference = make(case(seed))
    compare_with(reference, case(seed), seed, requests=300)
    return reference


def compare_with(reference: ReferenceSlc, config: dict[str, Any], seed: int, *, requests: int) -> ssdlab.RunResult:
    """Plays random requests on a reference and on the drive of its configuration. Returns the result of the drive."""
    dice = random.Random(f"requests of {seed}")
    fills = dice.random() < 0.6
    drive = ssdlab.Simulator(set=keys_of(config) | {"ftl.precondition.kind": "fill" if fills else "none"}, verify="every")
    if fills:
        reference.fill()
        reference.begin()
    agree(drive, reference, "at first")
    hot = max(1, reference.exported_pages // dice.choice([1, 2, 4]))
    play(drive, reference, lambda when: agree(drive, reference, when), dice, hot=hot, requests=requests)
    result = drive.finish()
    for name, expected in reference.counted().items():
        assert getattr(result.counters, name) == expected, (seed, name)
    return result


def agree(drive: ssdlab.Simulator, reference: ReferenceSlc, when: str) -> None:
    reference.rest()
    assert drive.mapping() == reference.mapping(), when
    assert drive.erase_counts() == reference.erase_counts(), when


def test_the_drive_does_what_the_reference_does() -> None:
    references = [compare(seed, ReferenceSlc) for seed in range(CASES)]
    for name in references[0].counted():
        assert sum(reference.counted()[name] for reference in references) > 3 * CASES, name


class FoldsTheYoungest(ReferenceSlc):
    """Folds the block that became full last."""

    def _close(self, pool: Pool, block: int) -> None:
        super()._close(pool, block)
        blocks = self.full[self.pools.index(pool)]
        if blocks and blocks[-1] == block:
            blocks.insert(0, blocks.pop())


class LeavesNoBlocks(ReferenceSlc):
    """Opens blocks of the dynamic part until one is left, whatever makes collection start."""

    def _can_open_dynamic(self, pool: Pool, kept: int) -> bool:
        return super()._can_open_dynamic(pool, min(kept, 1))


class ErasesNothingAhead(ReferenceSlc):
    """Knows no blocks without data."""

    def _empty_blocks(self, pool: Pool) -> list[int]:  # noqa: ARG002
        return []


class FillsThemWhole(ReferenceSlc):
    """Skips a page less in a block in SLC mode."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config)
        self.skipped -= 1


class CountsTheOpenBlockFull(ReferenceSlc):
    """Leaves the open block out of the size of the cache."""

    def _has_level(self, pool: Pool) -> bool:
        opened = pool.open
        pool.open = {stream: block for stream, block in opened.items() if not self.in_mode[block]}
        try:
            return super()._has_level(pool)
        finally:
            pool.open = opened


@pytest.mark.parametrize("wrong", [FoldsTheYoungest, LeavesNoBlocks, ErasesNothingAhead, FillsThemWhole, CountsTheOpenBlockFull])
def test_another_rule_is_noticed(wrong: type[ReferenceSlc]) -> None:
    with pytest.raises((AssertionError, OutOfSpace, IndexError, KeyError)):
        _ = [compare(seed, wrong) for seed in range(CASES)]
