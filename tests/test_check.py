"""`ssdlab check`: what it computes of a drive, against values worked out by hand, theory written apart, and simulated runs."""

from __future__ import annotations

import json
from typing import Any

import pytest

import ssdlab
from conftest import Ssdlab
from reference_theory import (
    d_choices_write_amplification,
    fifo_write_amplification,
    greedy_write_amplification,
    random_write_amplification,
)
from ssdlab import _core
from ssdlab.asking.plans import value_text
from ssdlab.asking.sheet import Summary, summary_of
from ssdlab.asking.sheet.amplification import d_choices, fifo, greedy, random

SMALL_POOLS = {"device.blocks_per_plane": 400, "device.pages_per_block": 32}
SUPERBLOCKS = {
    "ftl.reclaim_unit": "superblock",
    "ftl.allocation": "dynamic",
    "ftl.parity_stripe": 0,
    "gc.pace": "none",
    "device.chips_per_channel": 4,
    "device.dies_per_chip": 1,
    "device.overprovisioning": 0.25,
}


def summary(device: str, scheme: str | None = None, **keys: Any) -> Summary:
    pairs = [(key, value_text(value)) for key, value in keys.items()]
    return summary_of(_core.build_config(device=device, schemes=[scheme] if scheme else [], set=pairs))


def test_the_numbers_of_a_small_drive_are_those_worked_out_by_hand() -> None:
    """demo-4g: 8 channels x 2 chips x 2 dies, pages of 16 KiB in 60 us and 600 us, 833 ps a byte."""
    one = summary("demo-4g", "fr-fcfs")
    found = one.to_dict()
    assert found["exported_bytes"] == 4 << 30
    assert found["flash_bytes"] == found["data_bytes"] == 5 << 30
    # 32 of 40 blocks hold data; T_soft is 0.05 x 40
    assert (found["pools"], found["blocks_per_pool"], found["spare_blocks"], found["soft_blocks"]) == (32, 40, 8, 2)
    transfer = round(16384 * 833 / 1000)
    assert one.latencies["read_4k"] == 60_000 + transfer
    # a part of a page: the page is read first
    assert one.latencies["write_4k"] == 60_000 + transfer + 600_000 + transfer
    assert one.latencies["write_page"] == 600_000 + transfer
    rate = one.rates["random read"]
    assert rate.limits["die"] == pytest.approx(32e9 / (60_000 + transfer))
    assert rate.limits["channel"] == pytest.approx(8e9 / transfer)
    assert rate.binding == "die"
    assert one.rates["sequential write"].mb_s == pytest.approx(32 * 16384 / (600_000 + transfer) * 1e3)


def test_blocks_in_slc_mode_are_not_spare_and_have_no_closed_form() -> None:
    """Of 497 blocks of a pool 425 hold the exported data of nvme-tlc-scaled-5g, after parity of one program in 16."""
    found = {static: summary("nvme-tlc-scaled-5g", "nvme", **{"slc.static_blocks": static}).to_dict() for static in (0, 10)}
    assert [found[static]["spare_blocks"] for static in (0, 10)] == [72, 62]
    assert "write_amplification" in found[0]
    assert "write_amplification" not in found[10]
    assert "no closed form" in found[10]["write_amplification_by"]
    assert any("SLC mode" in remark for remark in found[10]["remarks"])
    # the open block of the static part is one of its own
    assert [found[static]["open_blocks"] for static in (0, 10)] == [2, 2]
    assert summary("nvme-tlc-scaled-5g", "nvme", **{"slc.dynamic_blocks": 10}).drive.open_blocks == 3


def test_parity_units_and_the_link_of_a_modern_drive() -> None:
    """nvme-tlc-2023: 15 of 16 programs hold data, three pages a program, 4 KiB units, 6,900 bytes in a us."""
    one = summary("nvme-tlc-2023", "nvme")
    found = one.to_dict()
    assert found["data_bytes"] * 16 == found["flash_bytes"] * 15
    program = 1_900_000 + 3 * round((16384 + 2208) * 0.625)
    # 64 dies, 48 KiB each, 15 of 16
    assert one.rates["sequential write"].limits["die"] == pytest.approx(64 * 49152 / 131072 * 1e9 / program * 15 / 16)
    assert one.rates["sequential read"].binding == "link"
    assert one.rates["sequential read"].mb_s == pytest.approx(6900)


@pytest.mark.parametrize("spare", [0.07, 0.15, 0.28])
def test_closed_forms_are_those_of_a_reference_written_apart(spare: float) -> None:
    pages, total, user = 64, 1000.0, 1000.0 * (1 - spare)
    assert greedy(pages, total, user) == pytest.approx(greedy_write_amplification(pages, total, user), rel=1e-9)
    assert fifo(total, user) == pytest.approx(fifo_write_amplification(total, user), rel=1e-6)
    assert random(pages, total, user) == pytest.approx(random_write_amplification(pages, total, user), rel=1e-12)
    assert d_choices(pages, total, user, 5) == pytest.approx(d_choices_write_amplification(pages, total, user, 5), rel=1e-6)


UNLOADED = [("demo-4g", "fr-fcfs", {}), ("nvme-4g", "nvme", {}), ("bux2011", "cep", {})]


@pytest.mark.parametrize(("device", "scheme", "keys"), UNLOADED)
def test_a_read_of_an_idle_drive_takes_the_computed_time(device: str, scheme: str, keys: dict[str, Any]) -> None:
    one = summary(device, scheme, **keys)
    load = {"workload.queue_depth": 1, "workload.read_share": 1.0, "workload.request_kb": 4, "ftl.precondition.kind": "fill"}
    result = ssdlab.run(device=device, scheme=scheme, set={**keys, **load}, requests=2000)
    assert result.latency.read.mean == pytest.approx(one.latencies["read_4k"], rel=7e-3)  # pages are drawn: 3 sigma of 2,000


@pytest.mark.parametrize(("device", "scheme"), [("demo-4g", "fr-fcfs"), ("nvme-4g", "nvme"), ("bux2011", "cep")])
@pytest.mark.parametrize("what", ["random read", "sequential write"])
def test_a_saturated_drive_reaches_the_limit(device: str, scheme: str, what: str) -> None:
    """With 16 requests for each die between 90 and 102 % of it: some dies are idle by chance, and at the end the write buffer is full."""
    one = summary(device, scheme)
    is_read = what == "random read"
    load = {
        "workload.queue_depth": one.drive.dies * (16 if is_read else 4),
        "workload.read_share": 1.0 if is_read else 0.0,
        "workload.request_kb": 4 if is_read else 128,
        "workload.align_kb": 4 if is_read else 128,
        "workload.sequential_share": 0.0 if is_read else 1.0,
        "ftl.precondition.kind": "fill" if is_read else "none",
    }
    result = ssdlab.run(device=device, scheme=scheme, set=load, requests=40_000 if is_read else 8_000)
    assert 0.90 <= result.iops / one.rates[what].per_s <= 1.02


WRITES = [
    # GC goes first, a pool for each die: both bounds are one
    ("bux2011", "cep", {}, 0.02, 0.02),
    pytest.param("demo-4g", "cep", {**SMALL_POOLS, "gc.victim": "random"}, 0.02, 0.35, marks=pytest.mark.full),
    # the host goes first: the reserve is all that is free
    ("demo-4g", "fpgc", SMALL_POOLS, 0.05, 0.15),
    pytest.param("demo-4g", "fpgc", {**SMALL_POOLS, "gc.victim": "fifo"}, 0.05, 0.15, marks=pytest.mark.full),
    ("nvme-4g", "nvme", {"device.blocks_per_plane": 400, "device.pages_per_block": 48}, 0.07, 0.10),
    # superblocks of 16 blocks of 24 units: with blocks of 24 units there would be less to move
    ("nvme-4g", "nvme", {**SUPERBLOCKS, "device.blocks_per_plane": 400, "device.pages_per_block": 6}, 0.05, 0.25),
]


@pytest.mark.parametrize(("device", "scheme", "keys", "amplification", "rate"), WRITES)
def test_steady_random_writes_are_within_the_stated_bounds(
    device: str, scheme: str, keys: dict[str, Any], amplification: float, rate: float
) -> None:
    one = summary(device, scheme, **keys)
    units = one.drive.unit_bytes if one.drive.units_per_program == 1 else 4096
    load = {
        "workload.queue_depth": 256,
        "workload.read_share": 0.0,
        "workload.request_kb": units / 1024,
        "workload.align_kb": units / 1024,
        "workload.address": "uniform",
        "workload.footprint": 1.0,
        "ftl.precondition.kind": "steady",
    }
    result = ssdlab.run(device=device, scheme=scheme, set={**keys, **load}, requests=200_000 if device != "nvme-4g" else 400_000)
    low, high = one.amplification.low, one.amplification.high
    assert low * (1 - amplification) <= result.gc.write_amplification <= high * (1 + amplification)
    assert result.iops == pytest.approx(one.rates["random write"].per_s, rel=rate)


def test_a_sheet_gets_ratios_and_verdicts(ssdlab_command: Ssdlab) -> None:
    sheet = "read_iops=0.5M,write_mb_s=1400,capacity_gb=960"
    done = ssdlab_command("check", "nvme-tlc-2023", "--scheme", "nvme", "--sheet", sheet, "--json")
    rows = {row["name"]: row for row in json.loads(done.out)["sheet"]}
    assert rows["capacity_gb"]["verdict"] == "agrees"
    assert rows["write_mb_s"]["ratio"] == pytest.approx(1524 / 1400, rel=1e-3)
    assert rows["read_iops"]["verdict"] == "differs"
    text = ssdlab_command("check", "nvme-tlc-2023", "--scheme", "nvme", "--sheet", sheet).out
    assert "Beside the sheet" in text
    assert "channel" in text


def test_what_has_no_closed_form_is_said(ssdlab_command: Ssdlab) -> None:
    done = ssdlab_command("check", "nvme-4g", "--set", "buffer.bytes=0", "--sheet", "write_iops=1k")
    assert done.code == 0
    assert "no closed form without a write buffer" in done.out
    assert "--sheet write_iops: nothing is computed" in done.err


@pytest.mark.parametrize("sheet", ["", "read_iops", "read_iops=0", "read_iops=1,read_iops=2", "speed=3", "read_iops=1e9"])
def test_a_wrong_sheet_is_one_line(ssdlab_command: Ssdlab, sheet: str) -> None:
    assert ssdlab_command("check", "demo-4g", "--sheet", sheet).failed(2).startswith("--sheet")


def test_the_function_gives_what_the_command_prints(ssdlab_command: Ssdlab) -> None:
    sheet = "read_iops=530k,write_iops=85k,write_mb_s=1400"
    words = ("check", "nvme-tlc-2023", "--scheme", "nvme", "--set", "device.read_us=50", "--sheet", sheet, "--json")
    numbers = {"read_iops": 530_000, "write_iops": 85_000, "write_mb_s": 1_400}
    found = ssdlab.check("nvme-tlc-2023", scheme="nvme", set={"device.read_us": 50}, sheet=numbers)
    assert found.to_dict() == json.loads(ssdlab_command(*words).out)
    assert [one.name for one in found.claims] == list(numbers)
    assert found.claims[0].computed == found.summary.rates["random read"].per_s
    assert "sheet" not in ssdlab.check("demo-4g").to_dict()
    with pytest.raises(ssdlab.UsageError, match='no number is named read_iop; did you mean "read_iops"'):
        ssdlab.check("demo-4g", sheet={"read_iop": 3})
    with pytest.raises(ssdlab.UsageError, match="sheet read_iops = 0: expected a number above 0"):
        ssdlab.check("demo-4g", sheet={"read_iops": 0})
