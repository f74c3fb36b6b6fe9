"""The simulated drive against the slow and simple `reference_wear_cache`: every response, to the end of the drive's life."""

from __future__ import annotations

import random
from typing import Any

import pytest

import shares
import ssdlab
from one_at_a_time import SETTLED_NS
from reference_wear import Pool, Unit
from reference_wear_cache import Access, Below, ReferenceWearCache
from test_differential_wear import CASES, PAGE, both_of, end_alike
from test_differential_wear import case as case_with_buffer


def case(seed: int) -> dict[str, dict[str, Any]]:
    config = case_with_buffer(seed)
    dice = random.Random(f"cache of {seed}")
    del config["buffer"]
    # The room for a full buffer, which there is not, may be more than a drive has.
    config["device"]["overprovisioning"] = min(config["device"]["overprovisioning"], 0.8)
    config["gc"]["pace"] = "none"
    config["cache"] = {"policy": "lru", "place": "drive", "bytes": PAGE * dice.choice([1, 4, 16, 60]), "access_ns": 1_000}
    return config | {"scheduler": {"order": "fcfs"}}


def requests_of(seed: int, exported: int, pages: int) -> list[Access]:
    """Bursts of requests that come faster than the drive serves them, until it must have ended."""
    dice = random.Random(f"requests of {seed}")
    hot, reads = max(1, exported // dice.choice([1, 2, 4])), dice.choice([0.1, 0.5])
    now, every = 0, dice.choice([20_000, 150_000, 400_000])
    requests = []
    for number in range(int((40 * pages + 12 * exported) / (1 - reads))):
        now += dice.randrange(1, 2 * every) if dice.random() < 0.98 else 20_000_000
        requests.append(Access(number, dice.randrange(hot), now, "read" if dice.random() < reads else "write"))
    return requests


def compare(seed: int, make: type[ReferenceWearCache]) -> ReferenceWearCache:
    """Plays a case on both, and returns the reference."""
    config = case(seed)
    drive, reference = both_of(config, make)
    requests = requests_of(seed, reference.exported, config["device"]["pages_per_block"])
    for request in requests:
        op: Any = request.op
        drive.submit(ssdlab.Request(op=op, offset=request.lpn * PAGE, length=PAGE, arrival_ns=request.arrival))
    drive.run_to_idle()
    drive.run_until(drive.now_ns + SETTLED_NS)
    reference.run(list(requests))
    end_alike(seed, drive, reference, requests)
    return reference


def test_the_drive_does_what_the_reference_does() -> None:
    references = [compare(seed, ReferenceWearCache) for seed in range(CASES if shares.FULL else CASES // 10)]
    for name in references[0].count:
        assert sum(reference.count[name] for reference in references) > len(references), name
    for name in ("hits", "delayed_hits", "evictions", "waits", "cleaned"):
        assert sum(getattr(reference, name) for reference in references) > len(references), name
    assert sum(reference.read_only is not None for reference in references) > len(references) // 2


class KeepsNoPlace(ReferenceWearCache):
    """Pages become dirty as long as the cache has room."""

    def _has_place(self, pool: Pool) -> bool:  # noqa: ARG002
        return True


class CleansNothing(ReferenceWearCache):
    """Nothing is destaged while a write waits for a place, or once the drive is read-only."""

    def _make_places(self) -> None:
        pass


class ReadsLast(ReferenceWearCache):
    """Reads wait until nothing is to be written."""

    def _next(self, pool: Pool) -> Unit | None:
        pool.queue.sort(key=lambda unit: (isinstance(unit, Below) and unit.op == "read", unit.rank))
        return super()._next(pool)


@pytest.mark.parametrize("wrong", [KeepsNoPlace, CleansNothing, ReadsLast])
def test_another_rule_is_noticed(wrong: type[ReferenceWearCache]) -> None:
    with pytest.raises((AssertionError, IndexError, KeyError)):
        _ = [compare(seed, wrong) for seed in range(CASES // 10)]
