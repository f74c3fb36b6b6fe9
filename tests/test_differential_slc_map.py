"""The simulated drive against the slow and simple `reference_slc_map`, page by page, as `test_differential_slc` does it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from reference_ftl import OutOfSpace
from reference_slc_map import ReferenceSlcMap
from shares import FULL
from test_differential_slc import case as case_without_table
from test_differential_slc import compare_with

CASES = 300 if FULL else 40


def case(seed: int) -> dict[str, dict[str, Any]]:
    config = case_without_table(seed)
    dice = random.Random(f"table of {seed}")
    device = config["device"]
    device["planes_per_die"] = 1
    # A stream more, and the blocks of the table: one page for each eight or more.
    device["blocks_per_plane"] += 8
    spare = device["overprovisioning"] * (device["blocks_per_plane"] - 8) + 4
    device["overprovisioning"] = spare / device["blocks_per_plane"]
    entry = dice.choice([512, 256])
    config["ftl"] |= {"map_cache_bytes": 4096 * dice.choice([1, 1, 2, 3]), "map_entry_bytes": entry}
    config["gc"]["priority"] = "gc"
    config["slc"]["map_mode"] = dice.choice(["slc", "slc", "native"])
    return config | {"scheduler": {"order": "fcfs"}}


def compare(seed: int, make: type[ReferenceSlcMap]) -> ReferenceSlcMap:
    """Plays a case on both, and returns the reference."""
    config = case(seed)
    reference = make(config)
    result = compare_with(reference, config, seed, requests=200)
    assert (result.mapping.updates, result.mapping.write_backs) == (reference.updates, reference.write_backs), seed
    return reference


def test_the_drive_does_what_the_reference_does() -> None:
    references = [compare(seed, ReferenceSlcMap) for seed in range(CASES)]
    for name in references[0].counted():
        assert sum(reference.counted()[name] for reference in references) > CASES, name
    assert sum(reference.updates for reference in references) > CASES


class WritesTheTableWithTheHost(ReferenceSlcMap):
    """Translation pages have no blocks of their own."""

    def _cache_stream(self, lpn: int) -> tuple[str, int] | None:
        return super()._cache_stream(0 if self.in_cache else lpn)


class UpdatesWithoutEnd(ReferenceSlcMap):
    """Changes of translation pages may take all that collection has gained."""

    def _begin_update(self) -> None:
        self.gained *= 2
        super()._begin_update()
        self.gained //= 2


class FoldsTheTableLast(ReferenceSlcMap):
    """Of the cache folds the blocks of translation pages last."""

    def _first_to_fold(self, blocks: list[int]) -> int:
        of_host = [block for block in blocks if all(owner not in self.table for owner in self._owners(block))]
        return super()._first_to_fold(of_host or blocks)

    def _owners(self, block: int) -> list[int]:
        return [self.owner_of[place] for place in self._pages_of(block)]


@pytest.mark.parametrize("wrong", [WritesTheTableWithTheHost, UpdatesWithoutEnd, FoldsTheTableLast])
def test_another_rule_is_noticed(wrong: type[ReferenceSlcMap]) -> None:
    with pytest.raises((AssertionError, OutOfSpace, IndexError, KeyError)):
        _ = [compare(seed, wrong) for seed in range(CASES)]
