"""Simulated results against theoretical values, through the public interface.

`pytest -s tests/test_closed_forms.py` prints each pair. Runs are long enough for chance to account for only a fraction of the tolerance;
seeds are fixed.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pytest

import ssdlab
from reference_theory import (
    bux2011_max_throughput,
    d_choices_write_amplification,
    fifo_write_amplification,
    fifo_write_amplification_of_passes,
    greedy_write_amplification,
    md1_mean_wait,
    random_write_amplification,
)

ONE_DIE = {
    "device.channels": 1,
    "device.chips_per_channel": 1,
    "device.dies_per_chip": 1,
    "device.planes_per_die": 1,
}


def agree(what: str, measured: float, theory: float, *, rel: float) -> None:
    print(f"\n{what:<56} measured {measured:12.6g}  theory {theory:12.6g}  {measured / theory - 1:+.3%} (at most {rel:.0%})", end="")
    assert measured == pytest.approx(theory, rel=rel), what


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_reads_of_one_die_wait_as_in_an_m_d_1_queue(load: float) -> None:
    """Array and transfer follow each other, the die being taken from the start of one to the end of the other: one server."""
    read_ns, transfer_ns = 60_000, 4096 * 10
    service_ns = read_ns + transfer_ns
    keys = ONE_DIE | {
        "device.read_ns": read_ns,
        "device.transfer_ps_per_byte": 10_000,
        "workload.read_share": 1.0,
        "workload.arrival": "exponential",
        "workload.interarrival_us": service_ns / 1000 / load,
    }
    result = ssdlab.run(set=keys, requests=4_000_000, seed=1)
    assert result.latency.read.min == service_ns
    wait_ns = result.latency.read.mean - service_ns
    agree(f"M/D/1, load {load}: mean wait, ns", wait_ns, md1_mean_wait(load / service_ns, service_ns), rel=0.02)


BLOCKS, PAGES = 4098, 64
# Collection is asked for when the shared frontier has taken a free block and fewer than two are left: the threshold of one block is kept by
# the floor that leaves the last free block to collection. A job gives one block back, which makes two again and is enough. So when a victim
# is picked one block is free and one is the frontier, just taken and still empty: all others are closed, can be victims, and hold all
# valid pages.
CLOSED = BLOCKS - 2


def uniform_writes(spare: float, workload: Mapping[str, object] = MappingProxyType({}), **gc: str | int) -> tuple[ssdlab.Result, float]:
    """A run in steady state with a share `spare` of the closed blocks spare, and the data that it holds, in blocks."""
    keys = ONE_DIE | {
        "device.blocks_per_plane": BLOCKS,
        "device.pages_per_block": PAGES,
        "device.overprovisioning": 1.0 - CLOSED * (1.0 - spare) / BLOCKS,
        "ftl.frontier": "shared",
        "ftl.precondition.kind": "steady",
        "gc.soft": 1,
        "workload.read_share": 0.0,
        "workload.queue_depth": 4,
    }
    result = ssdlab.run(set={**keys, **workload, **{f"gc.{key}": value for key, value in gc.items()}}, requests=1_000_000, seed=1)
    assert result.precondition.steady
    assert result.precondition.free_blocks_min == result.precondition.free_blocks_max == 2
    # The exported pages are a whole number, which rounds the share by less than a page.
    return result, result.precondition.pages_mapped / PAGES


@pytest.mark.parametrize("spare", [0.07, 0.15, 0.28])
def test_greedy_collection_amplifies_uniform_random_writes_as_published(spare: float) -> None:
    """P. Desnoyers, Analytic Models of SSD Write Performance, ACM Trans. Storage 10(2), 2014, doi:10.1145/2577384 (greedy cleaning)."""
    result, user = uniform_writes(spare, victim="greedy")
    theory = greedy_write_amplification(PAGES, CLOSED, user)
    agree(f"greedy, (T - U)/T = {spare:.0%}: write amplification", result.gc.write_amplification, theory, rel=0.03)


@pytest.mark.parametrize("spare", [0.07, 0.15, 0.28])
def test_fifo_collection_amplifies_uniform_random_writes_as_published(spare: float) -> None:
    """Desnoyers 2014 (LRU cleaning); Luojie and Kurkoski 2012."""
    result, user = uniform_writes(spare, victim="fifo")
    agree(
        f"fifo, (T - U)/T = {spare:.0%}: write amplification",
        result.gc.write_amplification,
        fifo_write_amplification(CLOSED, user),
        rel=0.03,
    )


@pytest.mark.parametrize("spare", [0.07, 0.15, 0.28])
def test_random_collection_amplifies_uniform_random_writes_as_a_mean_field(spare: float) -> None:
    """Van Houdt 2013, without the blocks that cannot be collected."""
    result, user = uniform_writes(spare, victim="random")
    assert result.counters.victim_fallbacks == 0
    theory = random_write_amplification(PAGES, CLOSED, user)
    agree(f"random, (T - U)/T = {spare:.0%}: write amplification", result.gc.write_amplification, theory, rel=0.03)


PASSES = {"workload.address": "permutation", "workload.align_kb": 4.0}


@pytest.mark.parametrize("spare", [0.07, 0.10, 0.28])
def test_fifo_collection_amplifies_passes_as_the_ages_of_their_pages_say(spare: float) -> None:
    """Each page is written once a pass, in a new order: fio's random map. `spare`: share of the exported bytes."""
    result, user = uniform_writes(1 - 1 / (1 + spare), PASSES, victim="fifo")
    theory = fifo_write_amplification_of_passes(CLOSED, user)
    agree(f"fifo, passes, spare {spare:.0%} of the exported: write amplification", result.gc.write_amplification, theory, rel=0.01)


@pytest.mark.parametrize(("spare", "apart"), [(0.07, 6.85), (0.10, 5.04), (0.28, 2.16)])
def test_greedy_collection_amplifies_passes_as_a_simulation_apart(spare: float, apart: float) -> None:
    result, _ = uniform_writes(1 - 1 / (1 + spare), PASSES, victim="greedy")
    agree(f"greedy, passes, spare {spare:.0%} of the exported: write amplification", result.gc.write_amplification, apart, rel=0.01)


@pytest.mark.parametrize(("repeats", "amplifies"), [(True, False), (False, True)])
def test_passes_in_one_order_move_nothing_once_the_blocks_have_that_order(*, repeats: bool, amplifies: bool) -> None:
    """What was written together becomes invalid together, so that victims have no valid pages, from the second pass on."""
    drive = {"device.blocks_per_plane": 256, "device.pages_per_block": PAGES, "device.overprovisioning": 0.1, "gc.soft": 1}
    pass_of = round(256 * PAGES * 0.9)
    keys = ONE_DIE | drive | PASSES | {"workload.queue_depth": 4, "workload.read_share": 0.0, "workload.permutation_repeats": repeats}
    result = ssdlab.run(set=keys, requests=5 * pass_of, warm_up=2 * pass_of, seed=1)
    assert result.gc.jobs > 600
    assert (result.gc.write_amplification > 2) if amplifies else (result.gc.write_amplification == pytest.approx(1.0, abs=0.005))


@pytest.mark.full
def test_d_choices_lead_from_random_to_greedy_as_a_mean_field() -> None:
    """Van Houdt 2013. One choice leads away from its theory: blocks without an invalid page are not collected but replaced."""
    spare = 0.15
    measured = []
    for choices in (2, 3, 10, 100):
        result, user = uniform_writes(spare, victim="d-choices", choices=choices)
        measured.append(result.gc.write_amplification)
        theory = d_choices_write_amplification(PAGES, CLOSED, user, choices)
        agree(f"{choices} choices, (T - U)/T = {spare:.0%}: write amplification", measured[-1], theory, rel=0.03)
    one = uniform_writes(spare, victim="d-choices", choices=1)[0]
    assert one.counters.victim_fallbacks > 0
    random, greedy = [uniform_writes(spare, victim=victim)[0].gc.write_amplification for victim in ("random", "greedy")]
    order = [random, one.gc.write_amplification, *measured, greedy]
    print(f"\nrandom, 1, 2, 3, 10, 100 choices, greedy: {', '.join(f'{amplification:.3f}' for amplification in order)}", end="")
    # A hundred choices and greedy differ by less than chance does.
    assert order[:-1] == sorted(order[:-1], reverse=True)
    assert measured[-1] == pytest.approx(greedy, rel=0.01)
    assert measured[-2] == pytest.approx(greedy, rel=0.05), "ten are close to greedy"


@pytest.mark.parametrize("reads_per_write", [0, 2])
def test_a_saturated_die_reaches_the_throughput_of_bux2011(reads_per_write: int) -> None:
    """Equation (8) at Table 1's values, with the mean number of valid pages that the run itself had in its victims."""
    keys = {
        "workload.queue_depth": 4,
        "workload.read_share": reads_per_write / (1 + reads_per_write),
        "workload.address": "uniform",
    }
    result = ssdlab.run(device="bux2011", scheme="cep", set=keys, requests=300_000 * (1 + reads_per_write), seed=1)
    # Saturated: the die has never been idle. The moves are the table's copies: no transfer.
    assert result.utilisation.chips == pytest.approx([1.0], abs=1e-3)
    assert result.counters.copybacks == result.gc.pages_moved
    theory = bux2011_max_throughput(
        reads_per_write=reads_per_write,
        pages_per_block=256,
        valid_pages=result.gc.pages_moved / result.gc.jobs,
        write_time=0.9264,
        read_time=0.0763,
        copy_time=0.9507,
        erase_time=3.0003,
    )
    agree(f"bux2011 (8), {reads_per_write} reads a write: requests/ms", result.iops / 1000.0, theory, rel=0.01)
