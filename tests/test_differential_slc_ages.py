"""The simulated drive against the slow and simple `reference_slc_ages`: blocks in both modes whose reads are repeated, page by page."""

from __future__ import annotations

import random
from typing import Any

import pytest

import ssdlab
import test_differential_slc
from one_at_a_time import SETTLED_NS, keys_of
from reference_ftl import OutOfSpace
from reference_slc_ages import ReferenceSlcAges, Unsure
from shares import FULL

# Without retries there is no table.
pytestmark = pytest.mark.filterwarnings("ignore::ssdlab.IdleKeyWarning")

CASES = 300 if FULL else 60
DAY_NS = 86_400_000_000_000


def case(seed: int) -> dict[str, dict[str, Any]]:
    config = test_differential_slc.case(seed)
    dice = random.Random(f"errors of {seed}")
    config["slc"] |= {"errors": dice.choice([1.0, 0.5, 0.1]), "wear": dice.choice([1.0, 0.3, 0.0])}
    config["errors"] = {
        "retry": dice.choice(["none", "in-order", "last-good", "pr2", "ar2"]),
        "retry_table": dice.choice([[0.5, 0.3, 0.2, 0.1], [0.9, 0.81, 0.7, 0.6, 0.5, 0.4, 0.3], [0.5]]),
        "correctable_bits": 72,
        "codeword_bytes": 1024,
        "epsilon": dice.choice([1.48e-3, 4e-3, 1e-2]),
        "alpha": dice.choice([3.9e-10, 1e-4, 1e-3]),
        "k": dice.choice([1.0, 2.05]),
        "beta": dice.choice([6.28e-5, 1e-3]),
        "m": 0.14,
        "n": 0.54,
        "gamma": dice.choice([3.73e-9, 1e-4, 3e-4]),
        "p": 0.33,
        "q": 1.71,
        "reclaim_reads": dice.choice([0, 4, 10, 30]),
    }
    config["ages"] = {"pe_cycles": dice.choice([0, 20]), "retention_days": dice.choice([0.0, 30.0])}
    return config


def compare(seed: int, make: type[ReferenceSlcAges]) -> ReferenceSlcAges:
    """Plays a case on both, as far as the reference is sure of it, and returns the reference."""
    config = case(seed)
    dice = random.Random(f"requests of {seed}")
    fills = dice.random() < 0.6
    ages = {f"ftl.precondition.{key}": value for key, value in config.pop("ages").items()}
    keys = keys_of(config) | ages | {"ftl.precondition.kind": "fill" if fills else "none"}
    drive = ssdlab.Simulator(set=keys, verify="every")
    reference = make(case(seed))
    if fills:
        reference.fill()
        reference.begin()
    hot = max(1, reference.exported_pages // dice.choice([1, 2, 4]))
    try:
        for number in range(250):
            reference.rest()
            one_request(drive, reference, dice, hot)
            reference.rest()
            assert drive.mapping() == reference.mapping(), (seed, number)
            assert drive.erase_counts() == reference.erase_counts(), (seed, number)
    except Unsure:
        reference.unsure = True
        return reference
    counters = drive.finish().counters
    for name, expected in reference.counted().items():
        assert getattr(counters, name) == expected, (seed, name)
    return reference


def one_request(drive: ssdlab.Simulator, reference: ReferenceSlcAges, dice: random.Random, hot: int) -> None:
    """A read, a write or a trim of a page, and a time of rest."""
    lpn, kind = dice.randrange(hot), dice.random()
    op: Any = "read" if kind < 0.5 else "write" if kind < 0.95 else "trim"
    reference.now = drive.now_ns / 1e9
    drive.submit(ssdlab.Request(op=op, offset=lpn * 4096, length=4096))
    drive.run_until(drive.now_ns + dice.choice([SETTLED_NS, SETTLED_NS, DAY_NS, 30 * DAY_NS]))
    {"read": reference.read, "write": reference.write, "trim": reference.trim}[op](lpn)


def test_the_drive_does_what_the_reference_does() -> None:
    references = [compare(seed, ReferenceSlcAges) for seed in range(CASES)]
    assert sum(reference.unsure for reference in references) < CASES / 20
    for name in [*references[0].counted(), "retried_in_mode"]:
        total = sum(reference.counted().get(name, reference.retried_in_mode) for reference in references)
        assert total > CASES / 2, (name, total)


class AgesAlike(ReferenceSlcAges):
    """Forgets the share of errors in SLC mode."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config)
        self.slc = self.slc | {"errors": 1.0}


class WearsAlike(ReferenceSlcAges):
    """Forgets the share of wear in SLC mode."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config)
        self.slc = self.slc | {"wear": 1.0}


class CountsAllPages(ReferenceSlcAges):
    """Divides reads of a block by the pages that it has in the other mode."""

    def _rate(self, block: int, seconds: float) -> float:
        skipped, self.skipped = self.skipped, 0
        try:
            return super()._rate(block, seconds)
        finally:
            self.skipped = skipped


class KeepsTheReads(ReferenceSlcAges):
    """Reads of a block count on when it has been erased."""

    def _opened(self, block: int) -> None:
        reads = self.reads_of[block]
        super()._opened(block)
        self.reads_of[block] = reads


@pytest.mark.parametrize("wrong", [AgesAlike, WearsAlike, CountsAllPages, KeepsTheReads])
def test_another_rule_is_noticed(wrong: type[ReferenceSlcAges]) -> None:
    with pytest.raises((AssertionError, OutOfSpace, IndexError, KeyError)):
        _ = [compare(seed, wrong) for seed in range(CASES)]
