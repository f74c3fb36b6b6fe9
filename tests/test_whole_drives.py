"""The presets of whole drives, scaled down, wear out: until they are read-only nothing that was accepted is lost."""

from __future__ import annotations

from typing import Any

import pytest

import ssdlab

CONSUMER = {"slc_writes", "folded_pages", "slc_map_writes"}
# A quarter of the blocks, and the same number of spare ones.
SMALL = {"device.blocks_per_plane": 130, "device.overprovisioning": 0.4}

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize(
    ("device", "keys", "happens"),
    [
        ("whole-consumer-tlc-scaled-4g", {}, CONSUMER),
        ("whole-consumer-qlc-scaled-4g", {}, CONSUMER),
        ("whole-datacentre-tlc-scaled-5g", SMALL, {"paced_writes", "parity_programs"}),
    ],
)
def test_a_whole_drive_wears_out_and_loses_nothing(device: str, keys: dict[str, Any], happens: set[str]) -> None:
    short = {"ftl.precondition.kind": "fill", "wear.endurance": 4, "wear.end": "stop"}
    result = ssdlab.run(
        device=device, scheme="nvme", workload="jesd219-enterprise", set=short | keys, requests=3_000_000, verify="end", slowest=0
    )
    counters = result.to_dict()["counters"]
    assert result.lifetime.read_only_ns is not None
    assert result.lifetime.tbw > 0
    assert result.lifetime.dwpd > 0
    assert counters["lost_units"] == 0
    assert {name for name in happens if not counters[name]} == set()
    assert counters["retired_by_endurance"] > 10


@pytest.mark.parametrize("device", ["whole-consumer-tlc", "whole-consumer-qlc", "whole-datacentre-tlc"])
def test_a_whole_drive_has_a_rating(device: str) -> None:
    rating = ssdlab.check(device, scheme="nvme").summary.sequential_rating
    assert 300 < rating["tbw"] < 6_000
    assert 0.3 < rating["dwpd"] < 5
