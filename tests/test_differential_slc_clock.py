"""The simulated drive against the slow and simple `reference_slc_clock`: every response, while others are outstanding."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import ssdlab
from one_at_a_time import SETTLED_NS, keys_of
from reference_ftl import OutOfSpace
from reference_slc_clock import Collection, ReferenceSlcClock, Request
from shares import FULL
from test_differential_slc_map import case as case_without_times

CASES = 300 if FULL else 40
PAGE = 4096


def case(seed: int) -> dict[str, dict[str, Any]]:
    config = case_without_times(seed)
    dice = random.Random(f"times of {seed}")
    for section, programs in (("device", 200_000), ("slc", 60_000)):
        config[section] |= {
            "read_ns": dice.randrange(10_000, 60_000),
            "program_ns": dice.randrange(programs // 2, programs * 4),
            "erase_ns": dice.randrange(500_000, 3_000_000),
        }
    config["device"] |= {"transfer_ps_per_byte": dice.choice([1_000, 5_000, 25_000]), "copyback": dice.random() < 0.3}
    if config["slc"]["idle_us"]:
        config["slc"]["idle_us"] = dice.choice([200, 1_000, 5_000])
    return config


def requests_of(seed: int, exported: int) -> list[Request]:
    """Requests of one page, now closer to each other than their operations, now with time for jobs."""
    dice = random.Random(f"requests of {seed}")
    hot, every = max(1, exported // dice.choice([1, 2, 4])), dice.choice([50_000, 300_000, 1_500_000])
    now, requests = 0, []
    for number in range(400):
        now += dice.randrange(1, 2 * every) if dice.random() < 0.97 else 10_000_000
        requests.append(Request(number, dice.choices(["write", "read", "trim"], [6, 3, 1])[0], dice.randrange(hot), now))
    return requests


def compare(seed: int, make: type[ReferenceSlcClock]) -> ReferenceSlcClock:
    """Plays a case on both, and returns the reference."""
    config = case(seed)
    fills = random.Random(f"filled {seed}").random() < 0.6
    reference = make(config)
    drive = ssdlab.Simulator(set=keys_of(config) | {"ftl.precondition.kind": "fill" if fills else "none"}, verify="every")
    if fills:
        reference.fill()
    requests = requests_of(seed, reference.exported_pages)
    for request in requests:
        op: Any = request.op
        drive.submit(ssdlab.Request(op=op, offset=request.lpn * PAGE, length=PAGE, arrival_ns=request.arrival))
    drive.run_to_idle()
    drive.run_until(drive.now_ns + SETTLED_NS)
    reference.run(requests)
    answers = {done.index: done.completed_ns for done in drive.completions()}
    for request in requests:
        assert answers[request.number] == reference.answers[request.number], (seed, request)
    assert drive.mapping() == reference.mapping(), seed
    assert drive.erase_counts() == reference.erase_counts(), seed
    result = drive.finish()
    for name, expected in reference.counted().items():
        assert getattr(result.counters, name) == expected, (seed, name)
    mapping, stale = result.mapping, result.gc.stale_moves
    counted = (reference.updates, reference.write_backs, reference.delayed_hits, reference.stale)
    assert (mapping.updates, mapping.write_backs, mapping.delayed_hits, stale) == counted, seed
    return reference


def test_every_response_is_the_same() -> None:
    references = [compare(seed, ReferenceSlcClock) for seed in range(CASES)]
    for name in references[0].counted():
        assert sum(reference.counted()[name] for reference in references) > CASES, name
    for name in ("updates", "write_backs", "delayed_hits", "dropped"):
        assert sum(getattr(reference, name) for reference in references) > CASES, name
    assert sum(reference.stale for reference in references) > 0


class WritesWhatMemoryHas(ReferenceSlcClock):
    """A translation page is changed in flash though a command has brought it into memory."""

    def _came_meanwhile(self, page: int) -> bool:  # noqa: ARG002
        return False


class ReadsBeforeTheWriteBack(ReferenceSlcClock):
    """The missing page is read while the one that it replaces is written back."""

    def _ask(self, op: str, lpn: int, then: Callable[[], None]) -> None:
        waits = op == "write" and lpn in self.table and lpn != self.changing
        super()._ask(op, lpn, (lambda: None) if waits else then)
        if waits:
            then()


class EndsIdleTimeAtOnce(ReferenceSlcClock):
    """A command ends idle time when it comes, before its translation page is there."""

    def _uses_memory(self, command: Request) -> bool:
        self.idle = False
        return super()._uses_memory(command)


class FoldsSlowly(ReferenceSlcClock):
    """A fold reads pages at the speed of other blocks."""

    def _begin_step(self, job: Collection) -> None:
        both, self.reads = self.reads, self.reads[::-1]
        super()._begin_step(job)
        self.reads = both


@pytest.mark.parametrize("wrong", [WritesWhatMemoryHas, ReadsBeforeTheWriteBack, EndsIdleTimeAtOnce, FoldsSlowly])
def test_another_rule_is_noticed(wrong: type[ReferenceSlcClock]) -> None:
    with pytest.raises((AssertionError, OutOfSpace, IndexError, KeyError)):
        _ = [compare(seed, wrong) for seed in range(CASES)]
