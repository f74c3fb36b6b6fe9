"""Idle and loaded watts of a drive on sale, from the constants of the preset and the drive's size; docs/model/energy.md has the table."""

from __future__ import annotations

import re

import pytest

import ssdlab
from conftest import ROOT

P5500 = {
    # 7.68 TB: 144 dies of 512 Gbit, each of four planes that count as dies. Blocks are short: power is drawn by planes, not by blocks.
    "device.channels": 12,
    "device.chips_per_channel": 3,
    "device.dies_per_chip": 16,
    "device.blocks_per_plane": 16,
    "device.pages_per_block": 96,
    "device.overprovisioning": 0.55,
    "ftl.precondition.kind": "none",
    # Two programs for each plane and a few more.
    "buffer.bytes": 64 << 20,
}
WRITES = {
    "workload.read_share": 0.0,
    "workload.sequential_share": 1.0,
    "workload.request_kb": 128,
    "workload.queue_depth": 0,
    # 4.3 GB/s, the sheet's rate.
    "workload.interarrival_us": 30.48,
}
IDLE = {"workload.read_share": 1.0, "workload.request_kb": 4, "workload.queue_depth": 0, "workload.interarrival_us": 100_000}


def watts(load: dict[str, float], requests: int, warm_up: int) -> float:
    keys = {**P5500, **load}
    return ssdlab.run(device="nvme-tlc-2023", scheme="nvme", seed=1, set=keys, requests=requests, warm_up=warm_up).energy.mean_w


def rows() -> dict[str, list[float]]:
    """By state: the sheet's watts, the simulated ones, and the difference in percent."""
    page = (ROOT / "docs" / "model" / "energy.md").read_text()
    found = re.findall(r"^\| (idle|sequential writes).*? \| (\S+) \| (\S+) \| (\S+) % \|$", page, re.MULTILINE)
    return {name: [float(number) for number in numbers] for name, *numbers in found}


@pytest.mark.parametrize(
    ("state", "load", "requests", "warm_up"),
    [("idle", IDLE, 20, 0), ("sequential writes", WRITES, 16_000, 6_000)],
)
def test_the_table_is_what_runs_give(state: str, load: dict[str, float], requests: int, warm_up: int) -> None:
    sheet, simulated, difference = rows()[state]
    measured = watts(load, requests, warm_up)
    assert measured == pytest.approx(simulated, abs=0.05)
    assert 100 * (measured / sheet - 1) == pytest.approx(difference, abs=0.5)
