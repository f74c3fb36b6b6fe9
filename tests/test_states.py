"""State S3 (lee2013 Fig. 7): a high-priority write to a pool short of free blocks makes GC run to completion."""

from __future__ import annotations

from typing import Any

import pytest

import ssdlab

PAGE = 4096
DRIVE: dict[str, Any] = {
    "device.channels": 1,
    "device.blocks_per_plane": 24,
    "device.pages_per_block": 16,
    "device.overprovisioning": 0.4,
    "ftl.precondition.kind": "soft",
    "gc.scope": "none",
    "gc.priority": "host",
    "gc.soft": 4,
}


class Load:
    """Consecutive requests of one page."""

    def __init__(self, **keys: Any) -> None:
        changed = {key.replace("__", "."): value for key, value in keys.items()}
        self.simulator = ssdlab.Simulator(set=DRIVE | changed, verify="end")
        self.now = 0

    def submit(self, op: str, page: int, *, high_priority: bool = False) -> int:
        request = ssdlab.Request(op=op, offset=page * PAGE, length=PAGE, arrival_ns=self.now, high_priority=high_priority)
        return self.simulator.submit(request)

    def response_of(self, index: int) -> tuple[float, Any]:
        """The response time of a request in ms, and the result."""
        self.simulator.run_to_idle()
        responses = {done.index: done.response_ns for done in self.simulator.completions()}
        return responses[index] / 1e6, self.simulator.finish()


def on_a_second_pool(**keys: Any) -> tuple[float, Any]:
    """The response time of a high-priority write to one of two pools, while reads of the other saturate the die."""
    load = Load(gc__hard=0.5, **keys)
    for index in range(20):
        load.submit("write", 2 * (7 * index % 100))
        load.now += 400_000
    urgent = -1
    for index in range(3000):
        load.submit("read", 2 * (index % 100))
        if index % 4 == 0 and index < 1200:
            load.submit("write", 2 * (index // 4 * 5 % 100) + 1)
        if index == 1300:
            urgent = load.submit("write", 399, high_priority=True)
        load.now += 115_000
    return load.response_of(urgent)


@pytest.mark.parametrize("suspend", [[], ["erase"], ["read", "program", "erase"]])
def test_s3_goes_first_past_what_another_pool_has_suspended(suspend: list[str]) -> None:
    response_ms, result = on_a_second_pool(device__planes_per_die=2, gc__suspend=suspend)
    assert result["counters"]["s3_entries"] == 1
    assert response_ms < 10


def test_s3_goes_first_where_dies_exclude_each_other() -> None:
    response_ms, _ = on_a_second_pool(device__dies_per_chip=2, device__die_interleave=False)
    assert response_ms < 10


@pytest.mark.parametrize("page", [59, 70])
def test_older_writes_of_the_page_are_as_urgent(page: int) -> None:
    """Page 59 has a write that S2 holds up; page 70 has none."""
    load = Load(gc__hard=1.0)
    for index in range(40):
        load.submit("write", index)
        load.now += 300_000
    urgent = -1
    for index in range(2000):
        load.submit("read", 100 + index % 50)
        load.now += 115_000
        if index == 10:
            for held_up in range(60):
                load.submit("write", held_up)
        if index == 400:
            urgent = load.submit("write", page, high_priority=True)
    response_ms, result = load.response_of(urgent)
    assert result["counters"]["s3_entries"] > 0
    assert response_ms < 20


@pytest.mark.parametrize("stops", ["writes", "all"])
def test_partial_writes_ask_for_s3_too(stops: str) -> None:
    keys = DRIVE | {"gc.hard": 1.0, "gc.hard_stops": stops, "workload.request_kb": 2, "workload.interarrival_us": 1500}
    result = ssdlab.run(set=keys | {"workload.high_priority_share": 1.0}, requests=2000, verify="end")
    assert result["counters"]["s3_entries"] > 50
    assert result["counters"]["rmw_reads"] > 500


def test_stopping_all_host_operations_stops_those_that_would_join_a_move() -> None:
    keys = DRIVE | {"gc.hard": 1.0, "gc.merge": True, "workload.interarrival_us": 700}
    merged = {stops: ssdlab.run(set=keys | {"gc.hard_stops": stops}, requests=5000).gc.merged for stops in ("writes", "all")}
    assert merged["writes"].read > 0
    assert merged["writes"].write > 0
    assert (merged["all"].read, merged["all"].write) == (0, 0)
