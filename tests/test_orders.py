"""Orders of operations written in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ssdlab
from conftest import SMALL

GC_WITH_PREEMPTION = SMALL | {
    "ftl.precondition.kind": "steady",
    "gc.scope": "none",
    "gc.suspend": ["program", "erase"],
    "workload.read_share": 0.5,
    "workload.interarrival_us": 300,
}


def run(order: Any = None, requests: int = 2000, **keys: Any) -> ssdlab.Result:
    return ssdlab.run(set=GC_WITH_PREEMPTION | keys, requests=requests, order=order)


def oldest(choices: ssdlab.OrderChoices) -> int:
    """`fcfs` with `gc.priority = "fifo"`."""
    return min(range(len(choices)), key=lambda i: (choices.ready_ns[i], choices.serials[i]))


def reads_first(choices: ssdlab.OrderChoices) -> int:
    """`fr-fcfs` with `gc.priority = "host"`."""
    kinds = np.asarray(choices.kinds)
    reads = np.flatnonzero(kinds == choices.READ)
    return reads[0] if len(reads) else 0


class GcLast:
    """`fcfs` with `gc.priority = "host"`."""

    def __call__(self, _: ssdlab.OrderChoices) -> int:
        return 0


def gc_first(choices: ssdlab.OrderChoices) -> int | None:
    """`fcfs` with `gc.priority = "gc"`."""
    return 0 if choices.gc is None else choices.gc


@pytest.mark.parametrize(
    ("order", "built_in", "priority"),
    [(oldest, "fcfs", "fifo"), (reads_first, "fr-fcfs", "host"), (GcLast, "fcfs", "host"), (gc_first, "fcfs", "gc")],
)
def test_a_policy_that_repeats_a_built_in_order_gives_its_digest(order: Any, built_in: str, priority: str) -> None:
    theirs = run(**{"scheduler.order": built_in, "gc.priority": priority})
    # What the configuration says is for `None` only.
    ours = run(order, **{"gc.priority": "host" if priority == "gc" else "gc"})
    assert ours.digest == theirs.digest
    assert ours.gc.suspensions == theirs.gc.suspensions
    assert ours.gc.jobs > 50
    assert ours.counters.order_choices > 500
    assert ours.counters.order_fallbacks == 0
    assert (theirs.gc.suspensions > 0) == (priority == "host")
    assert ours.config.scheduler.order.startswith("custom, else ")
    assert theirs.get("order_source") is None


def test_the_policy_sees_what_the_core_sees() -> None:
    seen: list[tuple[Any, ...]] = []

    def look(choices: ssdlab.OrderChoices) -> None:
        columns = ("kinds", "causes", "ready_ns", "serials", "arrivals_ns", "offsets", "sizes", "requests", "request_sizes", "flows")
        arrays = [getattr(choices, name) for name in (*columns, "high_priority", "pools", "slack_ns")]
        assert {len(array) for array in arrays} == {len(choices)}
        assert all(array.readonly for array in arrays)
        assert arrays[0] is choices.kinds
        host = range(len(choices) - (choices.gc is not None))
        assert all(choices.causes[i] == choices.HOST and choices.requests[i] >= 0 for i in host)
        assert all(choices.ready_ns[i] <= choices.now_ns for i in range(len(choices)))
        assert len(host) <= choices.queued_reads + choices.queued_writes
        if choices.gc is not None:
            assert choices.gc == len(choices) - 1
            assert (choices.causes[-1], choices.requests[-1], choices.offsets[-1]) == (choices.GC, -1, 0)
            assert choices.kinds[-1] in (choices.MOVE, choices.ERASE)
        seen.append((choices.situation, choices.gc_begun, choices.gc_victim is not None, choices.gc_free_blocks is not None))

    suspends = {"gc.priority": "host"}
    result = run(look, 1000, **suspends)
    assert result.counters.order_fallbacks == result.counters.order_choices == len(seen)
    assert result.digest == run(None, 1000, **suspends).digest
    assert {
        ("stopped", True, True, True),
        ("begins", False, True, True),
        ("begins", True, True, True),
        ("in-service", True, True, True),
    } <= set(seen)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (-1, "returned -1; expected the index of an operation, 0 to 1, or None"),
        ("read", "returned 'read', of type str; expected"),
        (True, "returned True, of type bool; expected"),
        (9, "chose operation 9 of 2: expected an index from 0 to 1"),
    ],
)
def test_an_answer_that_is_no_index(answer: Any, message: str) -> None:
    with pytest.raises(ssdlab.PolicyError) as caught:
        run(lambda _: answer)
    assert message in str(caught.value)
    assert "(test_orders.py, line " in str(caught.value)


def test_a_policy_that_is_not_deterministic_is_found_by_verify() -> None:
    calls = iter(range(10**9))
    with pytest.raises(
        ssdlab.PolicyError, match=r"order policy .*not deterministic: two instances, called with .*, chose \d+ and \d+ in call \d+$"
    ):
        ssdlab.run(set=GC_WITH_PREEMPTION, requests=500, verify="end", order=lambda choices: next(calls) % len(choices))
    assert ssdlab.run(set=GC_WITH_PREEMPTION, requests=500, verify="end", order=reads_first).counters.order_choices > 100


def test_comparisons_and_simulators_take_an_order() -> None:
    ours = ssdlab.compare(schemes=["npgc", "pgc"], set=SMALL, requests=500, order=GcLast, jobs=2)
    assert all(result.counters.order_choices > 0 for result in ours.values())
    sim = ssdlab.Simulator(set=SMALL, order=oldest)
    for page in range(40):
        sim.submit(ssdlab.Request(op="write", offset=4096 * page, length=4096, arrival_ns=0))
    sim.run_to_idle()
    assert sim.finish().counters.order_choices > 0
