"""The closed forms against published values, their own limits, and simulations."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

import pytest

from reference_ftl import ReferenceFtl
from reference_theory import (
    bux2011_max_throughput,
    d_choices_write_amplification,
    fifo_write_amplification,
    greedy_write_amplification,
    md1_mean_wait,
    random_write_amplification,
    valid_pages_of_victims,
)

if TYPE_CHECKING:
    from collections.abc import Callable

SHARES = [0.07, 0.15, 0.28]
"""Over-provisioning (T - U) / T for which the write amplification is checked."""


def simulated_mean_wait(arrival_rate: float, service_time: float, count: int) -> float:
    """The mean wait of ``count`` customers, by Lindley's recursion."""
    arrivals = random.Random(1)
    wait = total = 0.0
    for _ in range(count):
        total += wait
        gap = arrivals.expovariate(arrival_rate)
        wait = max(0.0, wait + service_time - gap)
    return total / count


def test_the_mean_wait_by_hand_and_by_simulation() -> None:
    assert md1_mean_wait(0.5, 1.0) == 0.5
    assert md1_mean_wait(0.0, 1.0) == 0.0
    for utilisation in (0.3, 0.7):
        measured = simulated_mean_wait(utilisation / 2.0, 2.0, 400_000)
        assert md1_mean_wait(utilisation / 2.0, 2.0) == pytest.approx(measured, rel=0.02)
    with pytest.raises(ValueError, match=r"utilisation 1\.0"):
        md1_mean_wait(1.0, 1.0)


def test_the_maximum_throughput_at_the_values_of_bux2011_table_1() -> None:
    per_ms = bux2011_max_throughput(
        reads_per_write=2.0,
        pages_per_block=256,
        valid_pages=64,
        write_time=0.9264,
        read_time=0.0763,
        copy_time=0.9507,
        erase_time=3.0003,
    )
    assert per_ms == pytest.approx(2.125, abs=0.0005)


def test_the_report_s_valid_pages_and_amplification_belong_together() -> None:
    assert valid_pages_of_victims(256, 4.0 / 3.0) == pytest.approx(64.0)


def test_fifo_collection_at_a_published_value_and_in_its_own_equation() -> None:
    # arXiv:1110.4245, abstract: 30 % over-provisioning (of the user's size) gives 2.36.
    assert fifo_write_amplification(1.3, 1.0) == pytest.approx(2.36, abs=0.005)
    for share in SHARES:
        amplification = fifo_write_amplification(1.0, 1.0 - share)
        valid = math.exp(-1.0 / (amplification * (1.0 - share)))
        assert amplification == pytest.approx(1.0 / (1.0 - valid), rel=1e-9)


@pytest.mark.parametrize("share", SHARES)
def test_greedy_collection_rises_with_the_block_towards_fifo(share: float) -> None:
    def amplification(pages: int) -> float:
        return greedy_write_amplification(pages, 1.0, 1.0 - share)

    rising = [amplification(pages) for pages in (1, 4, 16, 64, 256, 1024)]
    limit = fifo_write_amplification(1.0, 1.0 - share)
    assert rising == sorted(rising)
    assert rising[0] == pytest.approx(1.0)
    assert rising[-1] < limit
    assert amplification(100_000) == pytest.approx(limit, rel=1e-3)


def test_greedy_collection_has_a_solution_everywhere_and_falls_with_the_rest() -> None:
    for pages in (2, 16, 64, 256):
        values = [greedy_write_amplification(pages, 1000.0, 1000.0 - rest) for rest in range(10, 1000, 7)]
        assert values == sorted(values, reverse=True)
        assert values[-1] >= 1.0
    with pytest.raises(ValueError, match="do not fit"):
        greedy_write_amplification(64, 10.0, 10.0)


class GreedySimulation:
    """A large device under greedy collection, with its victims sorted by level.

    It is fast for many blocks, while the reference FTL is simple. ``blocks`` are closed; one block is open for host writes and moves, and
    two are free.
    """

    def __init__(self, blocks: int, pages_per_block: int, user_pages: int) -> None:
        self.pages_per_block = pages_per_block
        self.owners: list[list[int]] = [[] for _ in range(blocks + 3)]
        self.valid = [0] * (blocks + 3)
        self.place = [-1] * user_pages
        self.levels: list[set[int]] = [set() for _ in range(pages_per_block + 1)]
        self.free = list(range(blocks + 3))
        self.open = self.free.pop()
        self.closed = [False] * (blocks + 3)
        self.programs = 0
        for lpn in range(user_pages):
            self.write(lpn)

    def write(self, lpn: int) -> None:
        self._program(lpn)
        while len(self.free) < 2:
            self._collect()

    def _program(self, lpn: int) -> None:
        if self.place[lpn] >= 0:
            self._invalidate(self.place[lpn])
        block = self.open
        self.place[lpn] = block
        self.owners[block].append(lpn)
        self.valid[block] += 1
        self.programs += 1
        if len(self.owners[block]) == self.pages_per_block:
            self.closed[block] = True
            self.levels[self.valid[block]].add(block)
            self.open = self.free.pop()

    def _invalidate(self, block: int) -> None:
        level = self.valid[block]
        self.valid[block] = level - 1
        if self.closed[block]:
            self.levels[level].remove(block)
            self.levels[level - 1].add(block)

    def _collect(self) -> None:
        victim = next(level for level in self.levels if level).pop()
        self.closed[victim] = False
        # A page written twice to this block is listed twice: once it has moved, its
        # place is elsewhere.
        for lpn in self.owners[victim]:
            if self.place[lpn] == victim:
                self._program(lpn)
        assert self.valid[victim] == 0
        self.owners[victim] = []
        self.free.append(victim)


def measured_amplification(
    write: Callable[[int], None],
    programs: Callable[[], int],
    user_pages: int,
    overwrites: tuple[int, int],
) -> float:
    """Programs per host write, after uniform random writes have reached steady state."""
    warm, counted = (times * user_pages for times in overwrites)
    addresses = random.Random(1)
    for _ in range(warm):
        write(addresses.randrange(user_pages))
    before = programs()
    for _ in range(counted):
        write(addresses.randrange(user_pages))
    return (programs() - before) / counted


@pytest.mark.parametrize("share", SHARES)
def test_greedy_collection_of_a_large_device(share: float) -> None:
    blocks, pages = 1024, 64
    user_pages = int(blocks * pages * (1.0 - share))
    device = GreedySimulation(blocks, pages, user_pages)
    measured = measured_amplification(device.write, lambda: device.programs, user_pages, (3, 2))
    theory = greedy_write_amplification(pages, blocks, user_pages / pages)
    assert theory == pytest.approx(measured, rel=0.02)


@pytest.mark.parametrize("share", SHARES)
def test_greedy_collection_of_the_reference_ftl(share: float) -> None:
    blocks, pages = 160, 16
    device = {
        "channels": 1,
        "chips_per_channel": 1,
        "dies_per_chip": 1,
        "planes_per_die": 1,
        "blocks_per_plane": blocks,
        "pages_per_block": pages,
        "overprovisioning": share,
    }
    ftl = ReferenceFtl({"device": device, "gc": {"soft": 1.0}})
    ftl.fill()
    user_pages = ftl.exported_pages
    measured = measured_amplification(
        ftl.write,
        lambda: ftl.host_programs + ftl.gc_programs,
        user_pages,
        (2, 3),
    )
    # Two free blocks and two frontiers hold no victims; the frontiers, half full on
    # average, hold about one block of valid pages.
    theory = greedy_write_amplification(pages, blocks - 4, user_pages / pages - 1)
    assert theory == pytest.approx(measured, rel=0.03)


@pytest.mark.parametrize("spare", SHARES)
def test_d_choices_lie_between_random_and_greedy(spare: float) -> None:
    user = 1.0 - spare
    choices = (1, 2, 3, 10, 30, 1000)
    between = [d_choices_write_amplification(64, 1.0, user, d) for d in choices]
    assert between[0] == pytest.approx(1.0 / spare)  # Van Houdt 2013, Random
    assert between == sorted(between, reverse=True)
    greedy = greedy_write_amplification(64, 1.0, user)
    assert between[-1] == pytest.approx(greedy, rel=1e-3)
    assert between[3] == pytest.approx(greedy, rel=0.05)


def test_random_victims_by_hand_and_in_the_limit_of_large_blocks() -> None:
    # A block of one page that is collected is always empty.
    assert random_write_amplification(1, 1.0, 0.9) == pytest.approx(1.0)
    # Two pages, half of all valid: 1 / (1 - 1/2 + 1/4).
    assert random_write_amplification(2, 2.0, 1.0) == pytest.approx(4.0 / 3.0)
    assert random_write_amplification(10**9, 1.0, 0.8) == pytest.approx(5.0)
