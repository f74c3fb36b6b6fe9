"""Findings of bux2011, reproduced with the single-die queue.

W. Bux, System Performance Issues in Flash-Based Solid-State Drives, IBM Research Report RZ 3801, 2011. `pytest -s` on this file prints
measured values beside theoretical ones. Seeds are fixed. Each tolerance is at least four standard deviations, measured with twelve seeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import reference_queueing as reference
from reference_queueing import RATES, TABLE_1, TABLE_1_DIE
from ssdlab import queueing

BASE_LOAD = reference.eq5(2.0, 1.0, 0.0763, 0.9264, 0.9507, 3.0003, 256.0, 64.0)
"""Utilisation with one write and two reads per millisecond."""


def rates_for(load: float) -> dict[str, float]:
    """Rates with two reads per write, as in section 5.1."""
    return {"read_rate": 2 * load / BASE_LOAD, "write_rate": load / BASE_LOAD}


def run(rates: Mapping[str, float] | None = None, **options: Any) -> Any:
    if rates is not None:
        options |= {"read_per_ms": rates["read_rate"], "write_per_ms": rates["write_rate"]}
    return queueing.simulate(**options)


def equal(value: float) -> Any:
    """Equal up to floating-point rounding."""
    return pytest.approx(value, rel=1e-12)


def agree(what: str, measured: float, theory: float, *, within: float | None) -> None:
    """Prints both values, and fails if they differ by more than `within`."""
    limit = "" if within is None else f" (at most {within:.1%})"
    print(f"\n{what:<64} measured {measured:12.6g}  theory {theory:12.6g}  {measured / theory - 1:+.3%}{limit}", end="")
    if within is not None:
        assert measured == pytest.approx(theory, rel=within), what


def test_the_preset_is_table_1() -> None:
    by_preset = run(requests=20_000, seed=7)
    by_hand = run(
        requests=20_000, seed=7, read_ns=76_300, write_ns=926_400, copy_ns=950_700, erase_ns=3_000_300, pages=256, valid=64, priority="rwp"
    )
    assert by_preset["digest"] == by_hand["digest"]


def test_utilisations_of_section_5_1() -> None:
    users = queueing.read_utilisation(1.0, 0.0763) + queueing.write_utilisation(0.5, 0.9264)
    total = queueing.utilisation(**RATES, **TABLE_1)
    assert (round(users, 2), round(total, 2)) == (0.54, 0.71)
    assert round(queueing.write_amplification(256, 64), 2) == 1.33
    seen = run(RATES, requests=1_000_000)["utilisation"]
    agree("utilisation by users", seen["read"] + seen["write"], users, within=0.01)
    agree("utilisation", seen["total"], total, within=0.01)


def test_the_maximum_throughput_is_reached_by_cep() -> None:
    limit = queueing.max_throughput(2.0, **TABLE_1)
    assert limit == equal(
        queueing.max_throughput_amplified(2.0, **{k: v for k, v in TABLE_1.items() if k != "valid"}, amplification=256 / 192)
    )
    assert limit == pytest.approx(2.125, abs=0.0005)
    result = run(RATES, requests=4_000_000, arrivals="saturated", priority="cep")
    agree("saturated, CEP: requests per ms", result["throughput_per_ms"], limit, within=0.01)


def test_pure_rwp_exceeds_the_maximum_by_starving_collection() -> None:
    limit = queueing.max_throughput(2.0, **TABLE_1)
    result = run(RATES, requests=4_000_000, arrivals="saturated", priority="rwp")
    # No copy is served before the last request: the time of a request is that of a third of a write and two thirds of a read.
    agree("saturated, RWP: requests per ms", result["throughput_per_ms"], 3 / (0.9264 + 2 * 0.0763), within=0.01)
    assert result["throughput_per_ms"] > 1.25 * limit
    assert result["utilisation"]["copy"] == result["utilisation"]["erase"] == 0
    assert result["utilisation"]["total"] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("free_blocks", [1, 2, 8])
def test_a_finite_pool_brings_rwp_down_to_the_maximum(free_blocks: int) -> None:
    limit = queueing.max_throughput(2.0, **TABLE_1)
    result = run(RATES, requests=8_000_000, arrivals="saturated", priority="rwp", free_blocks=free_blocks)
    agree(f"saturated, RWP, {free_blocks} free blocks: requests per ms", result["throughput_per_ms"], limit, within=0.005)


@pytest.mark.parametrize("load", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
def test_mean_waits_and_collections_under_rwp(load: float) -> None:
    """Figures 9 and 14.

    (15) holds at any load, not only where the report calls it accurate: Poisson arrivals find what there is in the mean over time, however
    copies and writes are coupled. (19) leaves out that collections overlap.
    """
    rates = rates_for(load)
    result = run(rates, requests=4_000_000, priority="rwp")
    wait = queueing.mean_wait_rwp(**rates, **TABLE_1)
    agree(f"(15), load {load}: mean wait, ms", result["wait_ns"]["all"]["mean"] / 1e6, wait, within=0.02)
    queue = queueing.queue_length(wait, rates["read_rate"]) + queueing.queue_length(wait, rates["write_rate"])
    agree(f"(14), load {load}: mean queue", result["queue"]["mean"], queue, within=0.02)
    duration = queueing.gc_duration_rwp(**rates, **{name: value for name, value in TABLE_1.items() if name != "pages"})
    measured = result["gc"]["duration_ns"]["mean"] / 1e6
    agree(f"(19), load {load}: mean collection, ms", measured, duration, within=0.02 if load <= 0.9 else None)
    if load > 0.9:
        assert measured > 1.02 * duration


@pytest.mark.parametrize("load", [0.3, 0.5, 0.71, 0.8])
def test_mean_waits_under_cep_are_below_those_of_independent_batches(load: float) -> None:
    """Section 5.2.2, and figure 10 beside figure 9."""
    rates = rates_for(load)
    cep, rwp = (run(rates, requests=2_000_000, priority=priority) for priority in ("cep", "rwp"))
    approximation = queueing.mean_wait_cep_independent(**rates, **TABLE_1)
    measured = cep["wait_ns"]["all"]["mean"] / 1e6
    agree(f"5.2.2, load {load}: mean wait, ms", measured, approximation, within=None)
    assert measured < approximation / 1.05
    assert measured > 10 * rwp["wait_ns"]["all"]["mean"] / 1e6


@pytest.mark.parametrize("load", [0.2, 0.71, 0.94])
def test_collections_under_cep_take_the_least_time(load: float) -> None:
    """(16), to the nanosecond, and none is prolonged."""
    gc = run(rates_for(load), requests=1_000_000, priority="cep")["gc"]
    least = TABLE_1_DIE.work_of(0)
    assert (gc["duration_ns"]["min"], gc["duration_ns"]["mean"], gc["duration_ns"]["max"]) == (least, least, least)
    assert queueing.gc_duration_cep(950_700, 3_000_300, 64) == least
    assert gc["prolonged"] == 0
    assert gc["collections"] > 1000


def backlogs(rates: Mapping[str, float], priority: str, requests: int) -> Any:
    table = run(rates, requests=requests, priority=priority, series=True).collections
    return {name: np.array(table[name].to_pylist()) for name in table.column_names}


@pytest.mark.parametrize(("factor", "load"), [(1, 0.71), (4 / 3, 0.94)])
def test_backlogs_are_the_same_under_both_priorities(factor: float, load: float) -> None:
    """Figures 15 to 17. Those that began in the backlog of the one before may begin later under CEP; all end at the same instants."""
    rates = {name: rate * factor for name, rate in RATES.items()}
    assert round(queueing.utilisation(**rates, **TABLE_1), 2) == load
    cep, rwp = (backlogs(rates, priority, 2_000_000) for priority in ("cep", "rwp"))
    assert len(cep["start_ns"]) == len(rwp["start_ns"]) > 3000
    assert (cep["backlog_end_ns"] == rwp["backlog_end_ns"]).all()
    assert (cep["overlapped"] == rwp["overlapped"]).all()
    durations = {name: of["backlog_end_ns"] - of["start_ns"] for name, of in (("cep", cep), ("rwp", rwp))}
    differ = durations["cep"] != durations["rwp"]
    overlapped = cep["overlapped"].astype(bool)
    print(f"\nload {load}: {len(differ)} backlogs, {overlapped.sum()} overlapped, {differ.sum()} differ", end="")
    assert not (differ & ~overlapped).any()
    assert (durations["cep"] <= durations["rwp"]).all()
    if load == 0.94:
        assert differ.sum() > 100
        assert overlapped.mean() > 0.1
    else:
        assert overlapped.mean() < 0.01


def test_spikes_under_cep_and_none_under_rwp() -> None:
    """Figures 3 and 6: at least a whole collection, against a few services and one copy or erase."""
    cep, rwp = (run(RATES, requests=200_000, priority=priority)["wait_ns"]["all"] for priority in ("cep", "rwp"))
    assert cep["max"] > TABLE_1_DIE.work_of(0)
    assert rwp["max"] < TABLE_1_DIE.work_of(0) / 2
