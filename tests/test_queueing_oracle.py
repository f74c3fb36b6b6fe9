"""The single-die queue against timelines derived by hand, and against a slow reference (`reference_queueing`), to the nanosecond.

The model is that of W. Bux, System Performance Issues in Flash-Based Solid-State Drives, IBM Research Report RZ 3801, 2011. The timelines
also test the reference: it must agree with them before it is compared with the core.

Random cases are the same in every run. `SSDLAB_DIFFERENTIAL_CASES=20000 pytest tests/test_queueing_oracle.py` runs this number.
"""

from __future__ import annotations

import itertools
import math
import os
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reference_queueing as reference
from reference_queueing import PRIORITIES, TABLE_1_DIE, Arrivals, Collection, Die, Outcome, Request
from ssdlab import queueing

# The product, in the reference's terms


def replayed(die: Die, priority: str, arrivals: Arrivals) -> Any:
    return queueing.simulate(
        read_ns=die.read_ns,
        write_ns=die.write_ns,
        copy_ns=die.copy_ns,
        erase_ns=die.erase_ns,
        pages=die.pages,
        valid=list(die.valid),
        priority=priority,
        replay=arrivals,
        free_blocks=die.free_blocks,
        series=True,
    )


def simulated(die: Die, priority: str, arrivals: Arrivals) -> Outcome:
    return outcome_of(replayed(die, priority, arrivals))


def outcome_of(result: Any) -> Outcome:
    """The outcome of a run with series."""
    requests = [
        Request(row["arrival_ns"], row["op"], entered=0, start_ns=row["arrival_ns"] + row["wait_ns"]) for row in result.requests.to_pylist()
    ]
    copies = result.copies.to_pylist()
    assert [row["start_ns"] for row in copies] == sorted(row["start_ns"] for row in copies)
    coming = iter(copies)
    collections = []
    for row in result.collections.to_pylist():
        collection = Collection(row["start_ns"], row["valid"], row["overlapped"], entered=0)
        collection.end_ns, collection.backlog_end_ns = row["end_ns"], row["backlog_end_ns"]
        for copy in itertools.islice(coming, collection.valid):
            assert copy["entered_ns"] == collection.start_ns
            collection.copies.append(copy["start_ns"])
        collections.append(collection)
    assert next(coming, None) is None
    # What was held is told by a counter alone.
    return Outcome(requests, collections, result["simulated_ns"], held=-1)


SIMULATIONS = {"reference": reference.simulate, "product": simulated}
Simulate = Callable[[Die, str, Arrivals], Outcome]


# Timelines by hand
#
# A block has 4 pages. A read takes 2, a write 5, a copy 3, an erase 10. In the workings "W 0-5" is a write being served, "c1 5 8 11" are
# the starts of collection 1's copies, "e1 14-24" is its erase, "held" is a write that finds no block.

SMALL = Die(read_ns=2, write_ns=5, copy_ns=3, erase_ns=10, pages=4, valid=(3,))


@dataclass(frozen=True)
class Collected:
    """Expected times of a collection."""

    start: int
    copies: list[int]
    end: int
    backlog_end: int
    overlapped: bool = False


@dataclass(frozen=True)
class Timeline:
    """Expected outcome under one or more priorities."""

    name: str
    die: Die
    arrivals: str
    """Arrivals such as "W0 R3": a write at 0, a read at 3."""
    priorities: str
    waits: list[int]
    collections: list[Collected]
    held: int = 0


def parsed(arrivals: str) -> Arrivals:
    return [(int(text[1:]), "write" if text[0] == "W" else "read") for text in arrivals.split()]


ALONE = "W0"
BEHIND = "W0 R1 R6"
AT_THE_END = "W0 R5"
BURST = "W0 W0 W0 R0 W0 R0"

TIMELINES = [
    # W 0-5 fills the block of one free page. c1 5 8 11, e1 14-24.
    Timeline("one write, one collection", SMALL, ALONE, "rwp cep fifo", [0], [Collected(5, [5, 8, 11], 24, 24)]),
    # W 0-5. At 5 collection 1 starts and a read has waited since 1.
    # rwp: R 5-7, the other came at 6: R 7-9. c1 9 12 15, e1 18-28.
    Timeline("reads behind the write, rwp", SMALL, BEHIND, "rwp", [0, 4, 1], [Collected(5, [9, 12, 15], 28, 28)]),
    # cep: c1 5 8 11, e1 14-24, R 24-26, R 26-28.
    Timeline("reads behind the write, cep", SMALL, BEHIND, "cep", [0, 23, 20], [Collected(5, [5, 8, 11], 24, 28)]),
    # fifo: the read of 1 entered before the collection of 5, that of 6 after. R 5-7, c1 7 10 13, e1 16-26, R 26-28.
    Timeline("reads behind the write, fifo", SMALL, BEHIND, "fifo", [0, 4, 20], [Collected(5, [7, 10, 13], 26, 28)]),
    # A read comes at the instant at which the write ends and the collection starts.
    # rwp: R 5-7, c1 7 10 13, e1 16-26.
    Timeline("arrival with a completion, rwp", SMALL, AT_THE_END, "rwp", [0, 0], [Collected(5, [7, 10, 13], 26, 26)]),
    # cep, and fifo since the collection entered first: c1 5 8 11, e1 14-24, R 24-26.
    Timeline("arrival with a completion, cep and fifo", SMALL, AT_THE_END, "cep fifo", [0, 19], [Collected(5, [5, 8, 11], 24, 26)]),
    # Two writes, the second at the instant at which the first ends.
    # rwp: W 0-5, W 5-10 starts collection 2. c1 10 13 16, e1 19-29, c2 29 32 35, e2 38-48.
    Timeline(
        "write with a completion, rwp",
        SMALL,
        "W0 W5",
        "rwp",
        [0, 0],
        [Collected(5, [10, 13, 16], 29, 48), Collected(10, [29, 32, 35], 48, 48, overlapped=True)],
    ),
    # cep, fifo: c1 5 8 11, e1 14-24, W 24-29 (came at 5), c2 29 32 35, e2 38-48.
    Timeline(
        "write with a completion, cep and fifo",
        SMALL,
        "W0 W5",
        "cep fifo",
        [0, 19],
        [Collected(5, [5, 8, 11], 24, 48), Collected(29, [29, 32, 35], 48, 48, overlapped=True)],
    ),
    # Non-preemptive. W 0-5. The read of 5 is as above; that of 8 comes during a copy or at its end, that of 20 during the erase or a copy.
    # rwp: R 5-7, c1 7, R(8) 10-12, c1 12 15, e1 18-28, R(20) 28-30.
    Timeline("reads among copies, rwp", SMALL, "W0 R5 R8 R20", "rwp", [0, 0, 2, 8], [Collected(5, [7, 12, 15], 28, 30)]),
    # cep, fifo: c1 5 8 11, e1 14-24, R 24, 26, 28-30.
    Timeline("reads among copies, cep and fifo", SMALL, "W0 R5 R8 R20", "cep fifo", [0, 19, 18, 8], [Collected(5, [5, 8, 11], 24, 30)]),
    # rwp: a read at the very end of a copy goes before the next: c1 5, R 8-10, c1 10 13, e1 16-26.
    Timeline("a read at the end of a copy", SMALL, "W0 R8", "rwp", [0, 0], [Collected(5, [5, 10, 13], 26, 26)]),
    # rwp: at the very end of the last copy it goes before the erase: c1 5 8 11, R 14-16, e1 16-26.
    Timeline("a read before the erase", SMALL, "W0 R14", "rwp", [0, 0], [Collected(5, [5, 8, 11], 26, 26)]),
    # The erase ends at 24 and a read comes then: the die is not idle before 26.
    Timeline("an arrival keeps the backlog", SMALL, "W0 R24", "rwp cep fifo", [0, 0], [Collected(5, [5, 8, 11], 24, 26)]),
    # It comes one later: the die was idle at 24.
    Timeline("an arrival after the backlog", SMALL, "W0 R25", "rwp cep fifo", [0, 0], [Collected(5, [5, 8, 11], 24, 24)]),
    # The same for the flag. W(24) 24-29 starts collection 2 within the backlog of 1; c2 29 32 35, e2 38-48.
    Timeline(
        "a write keeps the backlog",
        SMALL,
        "W0 W24",
        "rwp cep fifo",
        [0, 0],
        [Collected(5, [5, 8, 11], 24, 48), Collected(29, [29, 32, 35], 48, 48, overlapped=True)],
    ),
    # W(25) 25-30, c2 30 33 36, e2 39-49.
    Timeline(
        "a write after the backlog",
        SMALL,
        "W0 W25",
        "rwp cep fifo",
        [0, 0],
        [Collected(5, [5, 8, 11], 24, 24), Collected(30, [30, 33, 36], 49, 49)],
    ),
    # A read and a write at one instant: R 0-2, W 2-7, c1 7 10 13, e1 16-26.
    Timeline("a read and a write at once", SMALL, "R0 W0", "rwp cep fifo", [0, 2], [Collected(7, [7, 10, 13], 26, 26)]),
    # v = 1, room for 3. W 0-5, 5-10, 10-15, c1 15, e1 18-28. R(20) 28-30, R(29) 30-32; that of 32 comes as the die would be idle: 32-34.
    Timeline(
        "a backlog beyond the collection",
        replace(SMALL, valid=(1,)),
        "W0 W5 W10 R20 R29 R32",
        "rwp cep fifo",
        [0, 0, 0, 8, 1, 0],
        [Collected(15, [15], 28, 34)],
    ),
    # v = 2, room for 2. W 0-5, 5-10 (collection 1 starts), 10-15, 15-20 (collection 2 starts); fifo too, since all writes entered at 0.
    # c1 20 23, e1 26-36, c2 36 39, e2 42-52.
    Timeline(
        "overlapping collections, rwp and fifo",
        replace(SMALL, valid=(2,)),
        "W0 W0 W0 W0",
        "rwp fifo",
        [0, 5, 10, 15],
        [Collected(10, [20, 23], 36, 52), Collected(20, [36, 39], 52, 52, overlapped=True)],
    ),
    # cep: W 0-5, 5-10, c1 10 13, e1 16-26, W 26-31, 31-36, c2 36 39, e2 42-52.
    Timeline(
        "overlapping collections, cep",
        replace(SMALL, valid=(2,)),
        "W0 W0 W0 W0",
        "cep",
        [0, 5, 26, 31],
        [Collected(10, [10, 13], 26, 52), Collected(36, [36, 39], 52, 52, overlapped=True)],
    ),
    # Reads do not fill blocks. v = 2: the second write fills the block. R 0-2, W 2-7, R 7-9, R 9-11, W 11-16, c1 16 19, e1 22-32.
    Timeline(
        "reads fill nothing",
        replace(SMALL, valid=(2,)),
        "R0 W0 R0 R0 W0",
        "rwp cep fifo",
        [0, 2, 7, 9, 11],
        [Collected(16, [16, 19], 32, 32)],
    ),
    # v = 0: the fourth write fills the block, there is nothing to copy. W 0-5 5-10 10-15 15-20, e1 20-30, R(25) 30-32.
    Timeline(
        "nothing to copy", replace(SMALL, valid=(0,)), "W0 W0 W0 W0 R25", "rwp cep fifo", [0, 5, 10, 15, 5], [Collected(20, [], 30, 32)]
    ),
    # A block that is not full starts nothing: v = 2 and one write.
    Timeline("no collection", replace(SMALL, valid=(2,)), "W0 R1", "rwp cep fifo", [0, 4], []),
    # v = 1, 3, 2, 1, 3, ... The room is 3, then 3 (of the collection with v = 1), 1, 2, 3: blocks are full with the writes 3, 6, 7, 9, 12,
    # which come 100 apart and end at 205, 505, 605, 805, 1105.
    Timeline(
        "valid pages from a list",
        replace(SMALL, valid=(1, 3, 2)),
        " ".join(f"W{100 * number}" for number in range(12)),
        "rwp cep fifo",
        [0] * 12,
        [
            Collected(205, [205], 218, 218),
            Collected(505, [505, 508, 511], 524, 524),
            Collected(605, [605, 608], 621, 621),
            Collected(805, [805], 818, 818),
            Collected(1105, [1105, 1108, 1111], 1124, 1124),
        ],
    ),
    # v = 3, 0 and all at once, rwp: room 1, 1, 4, 1: W 0-5 (collection 1, 3 copies), 5-10 (2, none), 10-15 15-20 20-25 25-30 (3, 3 copies),
    # 30-35 (4, none). c1 35 38 41, e1 44-54, e2 54-64, c3 64 67 70, e3 73-83, e4 83-93.
    Timeline(
        "a list with nothing to copy, overlapping",
        replace(SMALL, valid=(3, 0)),
        "W0 W0 W0 W0 W0 W0 W0",
        "rwp fifo",
        [0, 5, 10, 15, 20, 25, 30],
        [
            Collected(5, [35, 38, 41], 54, 93),
            Collected(10, [], 64, 93, overlapped=True),
            Collected(30, [64, 67, 70], 83, 93, overlapped=True),
            Collected(35, [], 93, 93, overlapped=True),
        ],
    ),
    # One free block. rwp: W 0-5 (collection 1 takes it), W 5-10 (collection 2: none left), W held and R behind it. c1 10 13 16, e1 19-29
    # gives one back. W 29-34 (collection 3: none left), R 34-36 needs none, W held, R behind it. c2 36 39 42, e2 45-55. W 55-60
    # (collection 4), R 60-62. c3 62 65 68, e3 71-81, c4 81 84 87, e4 90-100. fifo: all requests entered before any collection.
    Timeline(
        "one free block, rwp and fifo",
        replace(SMALL, free_blocks=1),
        BURST,
        "rwp fifo",
        [0, 5, 29, 34, 55, 60],
        [
            Collected(5, [10, 13, 16], 29, 100),
            Collected(10, [36, 39, 42], 55, 100, overlapped=True),
            Collected(34, [62, 65, 68], 81, 100, overlapped=True),
            Collected(60, [81, 84, 87], 100, 100, overlapped=True),
        ],
        held=2,
    ),
    # Two free blocks. W 0-5 (1), 5-10 (2), 10-15 (3: none left), R 15-17, W held. c1 17 20 23, e1 26-36, W 36-41 (4), R 41-43.
    # c2 43 46 49, e2 52-62, c3 62 65 68, e3 71-81, c4 81 84 87, e4 90-100.
    Timeline(
        "two free blocks, rwp and fifo",
        replace(SMALL, free_blocks=2),
        BURST,
        "rwp fifo",
        [0, 5, 10, 15, 36, 41],
        [
            Collected(5, [17, 20, 23], 36, 100),
            Collected(10, [43, 46, 49], 62, 100, overlapped=True),
            Collected(15, [62, 65, 68], 81, 100, overlapped=True),
            Collected(41, [81, 84, 87], 100, 100, overlapped=True),
        ],
        held=1,
    ),
    # Any number. W 0-5 (1), 5-10 (2), 10-15 (3), R 15-17, W 17-22 (4), R 22-24. c1 24 27 30, e1 33-43, c2 43 46 49, e2 52-62, and so on.
    Timeline(
        "no end of free blocks, rwp and fifo",
        SMALL,
        BURST,
        "rwp fifo",
        [0, 5, 10, 15, 17, 22],
        [
            Collected(5, [24, 27, 30], 43, 100),
            Collected(10, [43, 46, 49], 62, 100, overlapped=True),
            Collected(15, [62, 65, 68], 81, 100, overlapped=True),
            Collected(22, [81, 84, 87], 100, 100, overlapped=True),
        ],
    ),
    # cep never has two collections unfinished: W 0-5, c1 5 8 11, e1 14-24, W 24-29, c2 29 32 35, e2 38-48, W 48-53, c3 53 56 59, e3 62-72,
    # R 72-74, W 74-79, c4 79 82 85, e4 88-98, R 98-100.
    *[
        Timeline(
            f"{free_blocks} free blocks, cep",
            replace(SMALL, free_blocks=free_blocks),
            BURST,
            "cep",
            [0, 24, 48, 72, 74, 98],
            [
                Collected(5, [5, 8, 11], 24, 100),
                Collected(29, [29, 32, 35], 48, 100, overlapped=True),
                Collected(53, [53, 56, 59], 72, 100, overlapped=True),
                Collected(79, [79, 82, 85], 98, 100, overlapped=True),
            ],
        )
        for free_blocks in (1, 2, None)
    ],
    # fifo with one free block and a late read: W 0-5 (1 at 5), W 5-10 (2 at 10), W held. c1 10 13 16, e1 19-29, W 29-34 (3 at 34): it
    # entered before collection 2, the read of 12 after. c2 34 37 40, e2 43-53, R 53-55, c3 55 58 61, e3 64-74.
    Timeline(
        "one free block and a late read, fifo",
        replace(SMALL, free_blocks=1),
        "W0 W0 W0 R12",
        "fifo",
        [0, 5, 29, 41],
        [
            Collected(5, [10, 13, 16], 29, 74),
            Collected(10, [34, 37, 40], 53, 74, overlapped=True),
            Collected(34, [55, 58, 61], 74, 74, overlapped=True),
        ],
        held=1,
    ),
    # rwp: as above until W 29-34; R 34-36, c2 36 39 42, e2 45-55, c3 55 58 61, e3 64-74.
    Timeline(
        "one free block and a late read, rwp",
        replace(SMALL, free_blocks=1),
        "W0 W0 W0 R12",
        "rwp",
        [0, 5, 29, 22],
        [
            Collected(5, [10, 13, 16], 29, 74),
            Collected(10, [36, 39, 42], 55, 74, overlapped=True),
            Collected(34, [55, 58, 61], 74, 74, overlapped=True),
        ],
        held=1,
    ),
    # A write that comes at the instant at which a block comes back is not held. rwp, one free block: W 0-5 (1), W 5-10 (2). c1 10 13 16,
    # e1 19-29, W(29) 29-34 (3). c2 34 37 40, e2 43-53, c3 53 56 59, e3 62-72.
    Timeline(
        "a block comes back in time",
        replace(SMALL, free_blocks=1),
        "W0 W0 W29",
        "rwp",
        [0, 5, 0],
        [
            Collected(5, [10, 13, 16], 29, 72),
            Collected(10, [34, 37, 40], 53, 72, overlapped=True),
            Collected(34, [53, 56, 59], 72, 72, overlapped=True),
        ],
    ),
    # A read that comes while a write is held waits behind it. rwp, one free block: W 0-5 (1), W 5-10 (2), W held, R(11) waits for it.
    # c1 10 13 16, e1 19-29, W 29-34 (3), R 34-36. c2 36 39 42, e2 45-55, c3 55 58 61, e3 64-74.
    Timeline(
        "a read behind a held write",
        replace(SMALL, free_blocks=1),
        "W0 W0 W0 R11",
        "rwp",
        [0, 5, 29, 23],
        [
            Collected(5, [10, 13, 16], 29, 74),
            Collected(10, [36, 39, 42], 55, 74, overlapped=True),
            Collected(34, [55, 58, 61], 74, 74, overlapped=True),
        ],
        held=1,
    ),
    # Held with room left to fill (v = 1, room 3): a write that fills nothing waits too. rwp, one free block, seven writes:
    # W 0 5 10-15 (1 at 15), 15 20 25-30 (2 at 30), W held. c1 30, e1 33-43, W 43-48. c2 48, e2 51-61.
    Timeline(
        "a write that fills nothing is held",
        replace(SMALL, valid=(1,), free_blocks=1),
        "W0 W0 W0 W0 W0 W0 W0",
        "rwp fifo",
        [0, 5, 10, 15, 20, 25, 43],
        [Collected(15, [30], 43, 61), Collected(30, [48], 61, 61, overlapped=True)],
        held=1,
    ),
]


each_timeline = pytest.mark.parametrize(
    ("timeline", "priority"),
    [
        pytest.param(timeline, priority, id=f"{timeline.name}-{priority}")
        for timeline in TIMELINES
        for priority in timeline.priorities.split()
    ],
)


@pytest.mark.parametrize("implementation", SIMULATIONS)
@each_timeline
def test_timelines_worked_by_hand(timeline: Timeline, priority: str, implementation: str) -> None:
    outcome = SIMULATIONS[implementation](timeline.die, priority, parsed(timeline.arrivals))
    assert [request.wait_ns for request in outcome.requests] == timeline.waits
    assert [
        Collected(seen.start_ns, seen.copies, seen.end_ns, seen.backlog_end_ns, seen.overlapped) for seen in outcome.collections
    ] == timeline.collections
    if implementation == "reference":
        assert outcome.held == timeline.held


# Random cases, exact

CASES = int(os.environ.get("SSDLAB_DIFFERENTIAL_CASES") or 400)
EXACT = settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def dies(draw: st.DrawFn, least_ns: int) -> Die:
    pages = draw(st.integers(1, 8))
    return Die(
        read_ns=draw(st.integers(least_ns, 8)),
        write_ns=draw(st.integers(1, 12)),
        copy_ns=draw(st.integers(least_ns, 12)),
        erase_ns=draw(st.integers(least_ns, 30)),
        pages=pages,
        valid=tuple(draw(st.lists(st.integers(0, pages - 1), min_size=1, max_size=4))),
        free_blocks=draw(st.sampled_from([None, None, 1, 2, 3])),
    )


@st.composite
def loads(draw: st.DrawFn, least_ns: int = 1) -> tuple[Die, Arrivals]:
    """A die and requests with various loads, many of them at one instant or at the end of a service."""
    die = draw(dies(least_ns))
    chance = random.Random(draw(st.integers(0, 2**32)))
    write_share = chance.choice([0.2, 0.5, 0.8, 1.0])
    load = chance.choice([0.3, 0.6, 0.9, 1.2, 3.0])
    per_write = sum(die.work_of(number) for number in range(len(die.valid))) / sum(die.pages - valid for valid in die.valid)
    gap = ((1 - write_share) * die.read_ns + write_share * (die.write_ns + per_write)) / load
    bursts = chance.choice([0.0, 0.3, 0.7])
    now, arrivals = chance.randrange(3), []
    for _ in range(draw(st.integers(1, 120))):
        arrivals.append((now, "write" if chance.random() < write_share else "read"))
        if chance.random() >= bursts:
            now += round(chance.expovariate(1 - bursts) * gap)
    return die, arrivals


def happened(outcome: Outcome) -> tuple[list[Any], list[Any]]:
    """All values that can be compared exactly, in a form with readable differences."""
    return (
        [(request.arrival_ns, request.op, request.wait_ns) for request in outcome.requests],
        [(seen.start_ns, seen.valid, seen.copies, seen.end_ns, seen.backlog_end_ns, seen.overlapped) for seen in outcome.collections],
    )


def equal(value: float) -> Any:
    """Equal up to floating-point rounding."""
    return pytest.approx(value, rel=1e-12)


def check_spread(entry: Mapping[str, float] | None, values: Sequence[int]) -> None:
    """Checks mean, extremes and percentiles; percentiles may be too high by the width of a histogram's bucket."""
    if not values:
        assert entry is None
        return
    assert entry is not None
    ordered = sorted(values)
    assert entry["count"] == len(ordered)
    assert (entry["min"], entry["max"]) == (ordered[0], ordered[-1])
    assert entry["mean"] == equal(sum(ordered) / len(ordered))
    assert entry["std"] == pytest.approx(np.std(ordered), rel=1e-3)
    for name, share in (("p50", "0.5"), ("p90", "0.9"), ("p99", "0.99"), ("p99_9", "0.999")):
        nearest = ordered[math.ceil(Fraction(share) * len(ordered)) - 1]
        assert nearest <= entry[name] <= nearest * (1 + 1 / 256), name


def check_statistics(die: Die, result: Any, expected: Outcome) -> None:
    """Checks the statistics of a result against an outcome."""
    by_op = {op: [request for request in expected.requests if request.op == op] for op in ("read", "write")}
    assert dict(result["requests"]) == {op: len(requests) for op, requests in by_op.items()}
    for op, requests in (*by_op.items(), ("all", expected.requests)):
        check_spread(result["wait_ns"].get(op), [request.wait_ns for request in requests])
    last = max(request.start_ns + die.service(request.op) for request in expected.requests)
    if last == 0:
        return
    assert result["throughput_per_ms"] == equal(len(expected.requests) / last * 1e6)
    assert (result["requests_end_ns"], result["simulated_ns"]) == (last, expected.end_ns)
    waits = [(request.arrival_ns, request.start_ns) for request in expected.requests]
    copies = [(seen.start_ns, start) for seen in expected.collections for start in seen.copies]
    for name, waiting in (("queue", waits), ("copy_queue", copies)):
        mean, most = reference.mean_and_most_waiting(waiting, last)
        assert result[name]["mean"] == equal(mean), name
        assert result[name]["max"] == most, name
    served = {op: sum(die.service(op) for _ in requests) for op, requests in by_op.items()}
    starts = [start for seen in expected.collections for start in seen.copies]
    served["copy"] = sum(max(0, min(start + die.copy_ns, last) - start) for start in starts)
    served["erase"] = sum(max(0, min(seen.end_ns, last) - (seen.end_ns - die.erase_ns)) for seen in expected.collections)
    served["total"] = sum(served.values())
    assert {name: result["utilisation"][name] for name in served} == {name: equal(time / last) for name, time in served.items()}
    gc, collections = result["gc"], expected.collections
    assert gc["collections"] == len(collections)
    assert gc["overlapped"] == sum(seen.overlapped for seen in collections)
    assert gc["prolonged"] == sum(seen.duration_ns > die.least_ns(seen) for seen in collections)
    assert gc["copies"] == len(starts)
    check_spread(gc.get("duration_ns"), [seen.duration_ns for seen in collections])
    check_spread(gc.get("backlog_ns"), [seen.backlog_ns for seen in collections])


def test_random_cases_are_those_of_the_reference() -> None:
    """Random cases agree with the reference, and each kind of event occurs in at least one case of twenty."""
    seen: Counter[str] = Counter()

    @EXACT
    @given(load=loads(least_ns=0), priority=st.sampled_from(PRIORITIES))
    def agrees(load: tuple[Die, Arrivals], priority: str) -> None:
        die, arrivals = load
        expected = reference.simulate(die, priority, arrivals)
        result = replayed(die, priority, arrivals)
        assert happened(outcome_of(result)) == happened(expected)
        check_statistics(die, result, expected)
        seen["cases"] += 1
        seen["held"] += expected.held > 0
        seen["overlapped"] += any(collection.overlapped for collection in expected.collections)
        seen["not overlapped"] += any(not collection.overlapped for collection in expected.collections[1:])
        seen["prolonged"] += any(collection.duration_ns > die.least_ns(collection) for collection in expected.collections)

    agrees()
    print(f"\n{dict(seen)}", end="")
    assert all(seen[what] > seen["cases"] // 20 for what in ("held", "overlapped", "not overlapped", "prolonged"))


@pytest.mark.parametrize("implementation", SIMULATIONS)
@EXACT
@given(load=loads())
def test_no_priority_changes_the_unfinished_work(load: tuple[Die, Arrivals], implementation: str) -> None:
    """Bux2011, section 7. A limited number of free blocks does not change it either: the die has collection work to do then."""
    die, arrivals = load
    busy = reference.busy_periods_of_any_order(die, arrivals)
    outcomes = [SIMULATIONS[implementation](die, priority, arrivals) for priority in PRIORITIES]
    served = [reference.intervals(die, outcome) for outcome in outcomes]
    assert all(reference.busy_periods(intervals) == busy for intervals in served)
    instants = sorted({instant for intervals in served for interval in intervals for instant in interval} | {at for at, _ in arrivals})
    first, *others = [reference.unfinished_work(die, arrivals, intervals, instants) for intervals in served]
    assert all(other == first for other in others)
    # So the backlogs of all priorities end together, each with its busy period.
    for outcome in outcomes:
        for collection in outcome.collections:
            assert collection.backlog_end_ns == next(end for start, end in busy if start < collection.start_ns < end)


@pytest.mark.parametrize("implementation", SIMULATIONS)
@EXACT
@given(load=loads())
def test_waits_under_cep_follow_lindleys_recursion(load: tuple[Die, Arrivals], implementation: str) -> None:
    die, arrivals = load
    outcome = SIMULATIONS[implementation](die, "cep", arrivals)
    expected = reference.waits_under_cep(die, np.array([at for at, _ in arrivals]), np.array([op == "write" for _, op in arrivals]))
    assert [request.wait_ns for request in outcome.requests] == expected.tolist()
    assert outcome.held <= 0, "one collection at most is unfinished"
    assert all(seen.duration_ns == die.least_ns(seen) for seen in outcome.collections)


# Arrivals


def requests_of(**options: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Arrivals, whether they are writes, and waits."""
    table = queueing.simulate(series=True, **options).requests
    return (
        np.array(table["arrival_ns"].to_pylist()),
        np.array([op == "write" for op in table["op"].to_pylist()]),
        np.array(table["wait_ns"].to_pylist()),
    )


def test_poisson_arrivals_are_two_independent_streams() -> None:
    at, is_write, _ = requests_of(read_per_ms=1.0, write_per_ms=0.5, requests=400_000)
    assert len(at) == 400_000
    assert (np.diff(at) >= 0).all()
    for stream, mean in ((at[~is_write], 1e6), (at[is_write], 2e6), (at, 1e6 / 1.5)):
        gaps = np.diff(stream, prepend=0) / mean
        n = len(gaps)
        # Five standard errors of an exponential gap's mean, mean square (variance of x^2 is 20) and of its distribution function.
        assert abs(gaps.mean() - 1) < 5 / math.sqrt(n)
        assert abs((gaps**2).mean() - 2) < 5 * math.sqrt(20 / n)
        for x in (0.01, 0.1, 0.5, 1.0, 2.0, 5.0):
            below = 1 - math.exp(-x)
            assert abs((gaps < x).mean() - below) < 5 * math.sqrt(below * (1 - below) / n)
        # A gap says nothing of the next.
        assert abs(np.corrcoef(gaps[:-1], gaps[1:])[0, 1]) < 5 / math.sqrt(n)
    # Nor does the kind of a request say anything of the next, or of the gap before it.
    kinds = is_write.astype(float)
    assert abs(kinds.mean() - 1 / 3) < 5 * math.sqrt(2 / 9 / len(kinds))
    assert abs(np.corrcoef(kinds[:-1], kinds[1:])[0, 1]) < 5 / math.sqrt(len(kinds))
    assert abs(np.corrcoef(kinds[1:], np.diff(at))[0, 1]) < 5 / math.sqrt(len(kinds))


def test_rounding_to_nanoseconds_does_not_change_the_rate() -> None:
    """Gaps of 1 ns in the mean: rounding each would make them 0.959 ns."""
    at, is_write, _ = requests_of(
        read_per_ms=1e6, write_per_ms=1e6, requests=300_000, read_ns=1, write_ns=1, copy_ns=1, erase_ns=1, pages=256, valid=0
    )
    for stream in (at[is_write], at[~is_write]):
        assert abs(stream[-1] / len(stream) - 1) < 5 / math.sqrt(len(stream))


def test_deterministic_arrivals_come_at_fixed_gaps_and_reads_first() -> None:
    at, is_write, waits = requests_of(arrivals="deterministic", read_per_ms=1.0, write_per_ms=0.5, requests=9, valid=0)
    assert at.tolist() == [1_000_000, 2_000_000, 2_000_000, 3_000_000, 4_000_000, 4_000_000, 5_000_000, 6_000_000, 6_000_000]
    assert is_write.tolist() == [False, False, True] * 3
    # A write that began after a read ends 2.7 us after the next read has come.
    assert waits.tolist() == [0, 0, 76_300] + [2_700, 0, 76_300] * 2


def test_renewal_arrivals_have_the_gaps_of_their_lists() -> None:
    at, is_write, _ = requests_of(arrivals="renewal", read_gaps_ns=[0, 10, 100], write_gaps_ns=[7, 300], requests=100_000)
    for stream, gaps in ((at[~is_write], [0, 10, 100]), (at[is_write], [7, 300])):
        drawn = np.searchsorted(gaps, np.diff(stream, prepend=0))
        assert (np.array(gaps)[drawn] == np.diff(stream, prepend=0)).all()
        n, share = len(drawn), 1 / len(gaps)
        for number in range(len(gaps)):
            assert abs((drawn == number).mean() - share) < 5 * math.sqrt(share * (1 - share) / n)
        assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 5 / math.sqrt(n)
    # Of a read and a write at one instant the read comes first.
    together = np.flatnonzero((np.diff(at) == 0) & (is_write[:-1] != is_write[1:]))
    assert len(together) > 100
    assert not is_write[together].any()


def test_every_page_of_a_trace_is_an_arrival(tmp_path: Path) -> None:
    """A block of the preset has pages of 4096 bytes. Trims and flushes are left out and counted."""
    trace = tmp_path / "requests.csv"
    rows = ["1,W,0,12288", "1,R,4096,4096", "2,T,0,8192", "3,F,0,0", "5,R,4000,200", "5.5,W,8191,1", "1000,T,0,4096"]
    trace.write_text("\n".join(["timestamp_us,op,offset_bytes,size_bytes", *rows]) + "\n")
    result = queueing.simulate(trace=trace, read_ns=100, write_ns=1000, valid=255, copy_ns=1, erase_ns=1, series=True)
    arrivals = [(1000, "write")] * 3 + [(1000, "read")] + [(5000, "read")] * 2 + [(5500, "write")]
    seen = [(request.arrival_ns, request.op) for request in outcome_of(result).requests]
    first = seen[0][0]
    assert [(at - first, op) for at, op in seen] == [(at - 1000, op) for at, op in arrivals]
    assert happened(outcome_of(result)) == happened(reference.simulate(Die(100, 1000, 1, 1, 256, (255,)), "rwp", seen))
    assert (result["workload"]["trims_left_out"], result["workload"]["flushes_left_out"]) == (2, 1)


def test_saturated_arrivals_all_come_at_the_start() -> None:
    at, is_write, waits = requests_of(arrivals="saturated", read_per_ms=3.0, write_per_ms=1.0, requests=400_000, priority="cep")
    assert not at.any()
    assert abs(is_write.mean() - 1 / 4) < 5 * math.sqrt(3 / 16 / len(at))
    assert (np.diff(waits) > 0).all()
    assert waits[0] == 0


# Determinism, statistics, counters


def test_the_seed_decides_the_arrivals_and_nothing_else_does() -> None:
    options = {"read_per_ms": 1.0, "write_per_ms": 0.5} | {"requests": 50_000}
    first = queueing.simulate(seed=3, **options)
    assert queueing.simulate(seed=3, **options)["digest"] == first["digest"]
    assert queueing.simulate(seed=3, series=True, **options)["digest"] == first["digest"]
    assert queueing.simulate(seed=4, **options)["digest"] != first["digest"]
    at, is_write, _ = requests_of(seed=3, **options)
    for other in ({"priority": "cep"}, {"priority": "fifo"}, {"free_blocks": 1, "valid": 200}, {"valid": [0, 128]}, {"read_ns": 1}):
        other_at, other_is_write, _ = requests_of(seed=3, **options, **other)
        assert (other_at == at).all()
        assert (other_is_write == is_write).all()
        assert queueing.simulate(seed=3, **options, **other)["digest"] != first["digest"]
    assert len(requests_of(seed=3, **options | {"requests": 100})[0]) == 100


def test_the_digest_is_that_of_the_waits() -> None:
    """The digest is BLAKE3 over the waits in order of arrival, eight bytes each, the lowest first."""
    result = queueing.simulate(requests=128, read_per_ms=4 / 3, write_per_ms=2 / 3, valid=250, priority="cep", series=True)
    waits = result.requests["wait_ns"].to_pylist()
    assert len(set(waits)) > 100
    assert result["digest"] == reference.blake3_of_one_chunk(b"".join(wait.to_bytes(8, "little") for wait in waits))


@pytest.mark.parametrize("free_blocks", [None, 1])
@pytest.mark.parametrize("priority", PRIORITIES)
@pytest.mark.parametrize("factor", [0.5, 4 / 3])
def test_a_long_run_is_that_of_the_reference(priority: str, free_blocks: int | None, factor: float) -> None:
    """Poisson arrivals of the product's own, at Table 1's values: everything that happened, and everything that is said of it."""
    die = replace(TABLE_1_DIE, free_blocks=free_blocks, valid=(64, 0, 200))
    result = queueing.simulate(
        read_per_ms=factor,
        write_per_ms=factor / 2,
        requests=30_000,
        priority=priority,
        valid=[64, 0, 200],
        free_blocks=free_blocks,
        seed=11,
        series=True,
    )
    outcome = outcome_of(result)
    arrivals = [(request.arrival_ns, request.op) for request in outcome.requests]
    expected = reference.simulate(die, priority, arrivals)
    assert happened(outcome) == happened(expected)
    check_statistics(die, result, expected)


BUSY = {"read_per_ms": 4 / 3, "write_per_ms": 2 / 3}
CALM = {"read_per_ms": 0.2, "write_per_ms": 0.1}


def test_each_counter_counts_in_one_case_and_not_in_its_twin() -> None:
    def counted(**options: Any) -> tuple[int, int]:
        gc = queueing.simulate(requests=100_000, **options)["gc"]
        return gc["overlapped"], gc["prolonged"]

    assert min(counted(**BUSY, priority="rwp")) > 0
    assert counted(**CALM, priority="rwp")[0] == 0
    assert counted(**BUSY, priority="cep")[1] == 0


# Writes that were held


def held_of(result: Any) -> int:
    """Number of held writes; a run without a limit of blocks has no counter."""
    if "free_blocks" not in result["parameters"]:
        assert "held_writes" not in result["gc"]
        return 0
    return int(result["gc"]["held_writes"])


def test_writes_held_in_the_timelines_are_counted() -> None:
    for timeline in TIMELINES:
        for priority in timeline.priorities.split():
            assert held_of(replayed(timeline.die, priority, parsed(timeline.arrivals))) == timeline.held, timeline.name


def test_writes_held_in_random_cases_are_counted() -> None:
    for seed in range(200):
        arrivals = [(at, "write") for at in sorted(random.Random(seed).choices(range(300), k=40))]
        for priority in PRIORITIES:
            die = replace(SMALL, free_blocks=1 + seed % 3)
            assert held_of(replayed(die, priority, arrivals)) == reference.simulate(die, priority, arrivals).held


def test_writes_are_held_in_one_case_and_not_in_its_twins() -> None:
    def held(**options: Any) -> int:
        return held_of(queueing.simulate(requests=100_000, **options))

    assert held(**BUSY, priority="rwp", free_blocks=1) > 0
    assert held(**BUSY, priority="rwp") == 0
    assert held(**BUSY, priority="cep", free_blocks=1) == 0
    assert held(**CALM, priority="rwp", free_blocks=1) == 0
