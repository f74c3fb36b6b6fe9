"""The simulated drive against the slow and simple `reference_wear`: every response, to the end of the drive's life."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, TypeVar

import pytest

import shares
import ssdlab
from one_at_a_time import SETTLED_NS, keys_of
from reference_wear import GC, NEXT_JOB, Pool, ReferenceWear, Write

R = TypeVar("R", bound=ReferenceWear)

CASES = 300
PAGE = 4096
KEYS = {"program": 0xAE6E83819D827569, "erase": 0xCEABB90DDAA72CC7}
"""First numbers of the streams `wear/program` and `wear/erase` under seed 1: xoshiro256++, whose state is the BLAKE3 hash of the seed (8
bytes, little-endian) and the name."""


def case(seed: int) -> dict[str, dict[str, Any]]:
    dice = random.Random(seed)
    blocks, pages, soft = dice.choice([20, 28]), dice.choice([4, 8, 16]), dice.choice([1, 3, 5, 6])
    fails = [dice.choice([0.0, 0.0, 2_000.0, 10_000.0]), dice.choice([0.0, 20_000.0]), dice.choice([0.0, 0.0, 10_000.0]), 50_000.0]
    names = ["program_fails_ppm", "program_fails_worn_ppm", "erase_fails_ppm", "erase_fails_worn_ppm"]
    endurance = dice.choice([3, 5, 8])
    dies, units = dice.choice([1, 1, 2, 3]), dice.choice([1, 4, 16, 60])
    # Beside the threshold: two blocks for failures, and what a full buffer may take.
    units_per_die = -(-units // dies)
    kept = 2 + -(-units_per_die // pages)
    pace: dict[str, Any] = dice.choice([{"pace": "none"}, *({"pace": "proportional", "pace_window": share} for share in (0.05, 0.2, 0.44))])
    return {
        "device": {
            "channels": dies,
            "chips_per_channel": 1,
            "dies_per_chip": 1,
            "planes_per_die": 1,
            "blocks_per_plane": blocks,
            "pages_per_block": pages,
            "page_bytes": PAGE,
            "overprovisioning": (soft + kept + 5 + dice.randint(0, 4)) / blocks,
        },
        "ftl": {"frontier": "separate"},
        "gc": {
            "soft": float(soft),
            "victim": "greedy",
            "scope": "none",
            "priority": dice.choice(["gc", "host"]),
        }
        | pace,
        "buffer": {
            "bytes": PAGE * units,
            "access_ns": 1_000,
            "protected": True,
        },
        "wear": {"endurance": endurance, "spread": 0.0, "end": "reads"} | dict(zip(names, fails, strict=True)),
    }


def writes_of(seed: int, exported: int, pages: int) -> list[Write]:
    """Bursts of writes that come faster than they are programmed, until the drive must have ended."""
    dice = random.Random(f"writes of {seed}")
    hot = max(1, exported // dice.choice([1, 2, 4]))
    now, every = 0, dice.choice([20_000, 150_000, 400_000])
    writes = []
    for number in range(40 * pages + 12 * exported):
        now += dice.randrange(1, 2 * every) if dice.random() < 0.98 else 20_000_000
        writes.append(Write(number, dice.randrange(hot), now))
    return writes


def both_of(config: dict[str, dict[str, Any]], make: type[R]) -> tuple[ssdlab.Simulator, R]:
    """The drive and the reference, filled."""
    drive = ssdlab.Simulator(set=keys_of(config) | {"ftl.precondition.kind": "fill"}, seed=1, verify="every")
    reference = make(config, KEYS)
    reference.fill()
    return drive, reference


def end_alike(seed: int, drive: ssdlab.Simulator, reference: ReferenceWear, requests: Sequence[Write]) -> None:
    """Checks that a drive which has come to rest and the reference have ended alike."""
    answers = {done.index: (done.completed_ns, done.status) for done in drive.completions()}
    for request in requests:
        assert answers[request.number] == reference.answers[request.number], (seed, request)
    assert drive.erase_counts() == reference.erase_counts, seed
    result = drive.finish()
    counted = result.counters.to_dict() | {name: result["gc"][name] for name in ("erases", "pages_moved")}
    assert {name: counted[name] for name in reference.count} == reference.count, seed
    life = result.lifetime.to_dict()
    assert tuple(life.get(f"read_only_{what}") for what in ("ns", "pool", "cause")) == (reference.read_only or (None, None, None)), seed
    assert result.counters.lost_units == 0, seed


def compare(seed: int, make: type[ReferenceWear]) -> ReferenceWear:
    """Plays a case on both, and returns the reference."""
    config = case(seed)
    drive, reference = both_of(config, make)
    writes = writes_of(seed, reference.exported, config["device"]["pages_per_block"])
    for write in writes:
        drive.submit(ssdlab.Request(op="write", offset=write.lpn * PAGE, length=PAGE, arrival_ns=write.arrival))
    drive.run_to_idle()
    drive.run_until(drive.now_ns + SETTLED_NS)
    reference.run(writes)
    end_alike(seed, drive, reference, writes)
    return reference


def test_the_drive_does_what_the_reference_does() -> None:
    references = [compare(seed, ReferenceWear) for seed in range(CASES if shares.FULL else CASES // 10)]
    for name in references[0].count:
        assert sum(reference.count[name] for reference in references) > len(references), name
    assert sum(reference.read_only is not None for reference in references) > len(references) // 2


class EarnsForRetiredBlocks(ReferenceWear):
    """A block that is retired earns credit as one that is free."""

    def _freed(self, *, retires: bool) -> int:  # noqa: ARG002
        return self.pages


class KeepsNoPlace(ReferenceWear):
    """Units come into the buffer as long as it has room."""

    def _has_place(self, pool: Pool) -> bool:  # noqa: ARG002
        return True


class KeepsNoBlocks(ReferenceWear):
    """The host leaves GC two free blocks."""

    def __init__(self, keys: dict[str, dict[str, Any]], dice: dict[str, int]) -> None:
        super().__init__(keys, dice)
        self.reserve = GC + NEXT_JOB


class FillsOn(ReferenceWear):
    """A block goes on to be filled when a program of it has failed."""

    def _program_failed(self, pool: Pool, block: int) -> None:
        begun = self.begun[block]
        super()._program_failed(pool, block)
        self.left_out.pop(block, None)
        self.begun[block] = begun


@pytest.mark.parametrize("wrong", [EarnsForRetiredBlocks, KeepsNoPlace, KeepsNoBlocks, FillsOn])
def test_another_rule_is_noticed(wrong: type[ReferenceWear]) -> None:
    with pytest.raises((AssertionError, IndexError, KeyError)):
        _ = [compare(seed, wrong) for seed in range(CASES // 10)]
