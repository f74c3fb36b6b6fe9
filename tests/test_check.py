"""`ssdlab check`: what it computes of a drive, against values worked out by hand, theory written apart, and simulated runs."""

from __future__ import annotations

import json
from dataclasses import replace
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
from ssdlab.asking.sheet.retries import failed_steps, with_failed

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


UNLOADED = [
    ("demo-4g", "fr-fcfs", {}),
    ("demo-4g", "fr-fcfs", {"device.partial_reads": True}),
    ("nvme-4g", "nvme", {}),
    ("nvme-4g", "nvme", {"device.partial_reads": True}),
    ("bux2011", "cep", {}),
]


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
    result = saturated(one, what, device, scheme, {})
    assert 0.90 <= result.iops / one.rates[what].per_s <= 1.02


def saturated(one: Summary, what: str, device: str, scheme: str, keys: dict[str, Any], **options: Any) -> ssdlab.Result:
    """A run with more requests of one of the rates outstanding than the drive can serve."""
    random_, reads, size = "random" in what, "read" in what, one.rates[what].size // 1024
    load = {
        "workload.queue_depth": one.drive.dies * one.drive.planes_together * (16 if random_ else 4),
        "workload.read_share": 1.0 if reads else 0.0,
        "workload.request_kb": size,
        "workload.align_kb": size,
        "workload.sequential_share": 0.0 if random_ else 1.0,
        "workload.address": "uniform",
        "workload.footprint": 1.0,
        "ftl.precondition.kind": "fill" if reads else "steady" if random_ else "none",
    }
    count = 8_000 if not random_ else 40_000 if reads else 200_000
    return ssdlab.run(device=device, scheme=scheme, set={**keys, **load}, **{"requests": count, **options})


NVME = {"device.blocks_per_plane": 400, "device.pages_per_block": 48}
POWERED = {
    "energy.read_mw": 20.0,
    "energy.program_mw": 40.0,
    "energy.erase_mw": 30.0,
    "energy.bus_mw": 50.0,
    "energy.dram_pj_per_bit": 20.0,
    "energy.link_pj_per_bit": 5.0,
    "energy.command_nj": 1000.0,
    "energy.idle_mw": 1000.0,
}
PLANES = {"device.planes_per_die": 2, "device.multiplane": True, "ftl.pool": "plane", "device.blocks_per_plane": 200}
ALONE = {"device.multiplane_aligned": False, "device.multiplane_aligned_reads": False}
WORN = {"ftl.precondition.pe_cycles": 3_000, "ftl.precondition.retention_days": 200.0}
SMALL_QLC = {
    **PLANES,
    **ALONE,
    "device.channels": 2,
    "device.chips_per_channel": 1,
    "device.dies_per_chip": 2,
    "device.blocks_per_plane": 150,
    "device.pages_per_block": 128,
    "ftl.parity_stripe": 0,
    "buffer.bytes": 4 << 20,
}
EACH: list[tuple[str, str, dict[str, Any], str | None]] = [
    # keys that must act on the numbers, and the limit that they bring
    ("nvme-4g", "nvme", {**NVME, "ftl.map_unit_bytes": 16384}, None),
    ("nvme-4g", "nvme", {**NVME, **PLANES, **ALONE}, None),
    ("nvme-4g", "nvme", {**NVME, "host.write_bytes_per_us": 50}, "write rate"),
    ("nvme-4g", "nvme", {**NVME, **POWERED, "energy.cap_w": 1.3}, "power"),
    ("nvme-4g", "nvme", {**NVME, **WORN, "errors.retry": "ar2"}, None),
    # the padding of jobs is next to nothing, so that they move a program more
    ("nvme-4g", "nvme", {**NVME, "device.blocks_per_plane": 200}, None),
]
MORE: list[tuple[str, str, dict[str, Any], str | None]] = [
    ("nvme-4g", "nvme", {**NVME, "ftl.map_unit_bytes": 8192}, None),
    ("nvme-4g", "nvme", {**NVME, "ftl.map_unit_bytes": 2048}, None),
    ("nvme-4g", "nvme", {**NVME, "ftl.map_unit_bytes": 16384, "ftl.partial_write": "program"}, None),
    ("demo-4g", "fpgc", SMALL_POOLS, None),
    ("nvme-4g", "nvme", {**NVME, **PLANES}, None),
    ("demo-4g", "fpgc", {**SMALL_POOLS, **PLANES, **ALONE}, None),
    ("nvme-qlc-2023", "nvme", SMALL_QLC, None),
    ("nvme-4g", "nvme", {**NVME, **POWERED}, None),
    ("demo-4g", "fpgc", {**SMALL_POOLS, **POWERED, "energy.cap_w": 1.3}, "power"),
    ("nvme-4g", "nvme", {**NVME, "device.blocks_per_plane": 200, "device.pages_per_block": 96}, None),
    *(("nvme-4g", "nvme", {**NVME, **WORN, "errors.retry": retry}, None) for retry in ("in-order", "last-good", "pr2")),
]


@pytest.mark.parametrize(("device", "scheme", "keys", "limit"), [*EACH, *(pytest.param(*one, marks=pytest.mark.full) for one in MORE)])
def test_what_a_key_does_to_a_saturated_drive_is_on_the_sheet(device: str, scheme: str, keys: dict[str, Any], limit: str | None) -> None:
    """Write amplification, requests a second and watts of each row, beside a run, within the bounds of the page."""
    one = summary(device, scheme, **keys)
    for what, rate in one.rates.items():
        is_random_write = "random write" in what
        # the data of random writes in steady state are new, and the first read of each block finds its step
        new = {"ftl.precondition.retention_days": 0.0} if "errors.retry" in keys and is_random_write else {}
        late = {"requests": 200_000, "warm_up": 100_000} if "errors.retry" in keys and "read" in what else {}
        result = saturated(one, what, device, scheme, {**keys, **new}, **late)
        assert 0.85 <= result.iops / rate.per_s <= (1.15 if is_random_write else 1.03), (what, result.iops, rate.per_s)
        if limit is not None and (limit == "power" or "write" in what):
            assert rate.binding == limit
        if is_random_write:
            bound = one.small_amplification if rate.size == 4096 else one.amplification
            assert bound.low * 0.93 <= result.gc.write_amplification <= bound.high * 1.07, what
        if rate.watts:
            assert result.energy.mean_w == pytest.approx(rate.watts, rel=0.07), what


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
    units = max(one.drive.unit_bytes, 4096)
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
    what = "random write" if units == 4096 else "random write of a unit"
    assert result.iops == pytest.approx(one.rates[what].per_s, rel=rate)


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


def test_blocks_that_were_read_often_are_moved_before_reads_go_on() -> None:
    """GC goes first: so many reads are outstanding that dies are not idle while one of their chip collects."""
    small = {**SMALL_POOLS, "device.blocks_per_plane": 60}
    keys = {**small, "errors.retry": "in-order", "errors.reclaim_reads": 100}
    one = summary("demo-4g", "cep", **keys)
    assert one.rates["random read"].per_s < 0.3 * summary("demo-4g", "cep", **small).rates["random read"].per_s
    deep = {**keys, "workload.queue_depth": 8192, "workload.read_share": 1.0, "workload.request_kb": 4, "workload.align_kb": 4}
    deep |= {"workload.address": "uniform", "workload.footprint": 1.0, "ftl.precondition.kind": "fill"}
    result = ssdlab.run(device="demo-4g", scheme="cep", set=deep, requests=360_000, warm_up=210_000)
    assert result.iops == pytest.approx(one.rates["random read"].per_s, rel=0.1)
    assert result.counters.reclaim_jobs > 1_000


def test_ratings_and_watts_of_a_sheet_are_those_worked_out_by_hand(ssdlab_command: Ssdlab) -> None:
    """16 KiB units: a write of 4 KiB programs one, so that it wears the flash four times as much."""
    keys = {**SMALL_POOLS, "wear.rated_cycles": 3_000, "wear.warranty_years": 3.0, "energy.program_mw": 40.0, "energy.idle_mw": 500.0}
    one = ssdlab.check("demo-4g", scheme="fpgc", set=keys, sheet={"tbw": 10, "dwpd": 1, "watts": 2})
    found = {claim.name: claim.computed for claim in one.claims}
    drive, each = one.summary.drive, one.summary.amplification.high
    assert found["tbw"] == pytest.approx(3_000 * drive.flash_bytes / (4 * each) / 1e12)
    assert found["dwpd"] == pytest.approx(found["tbw"] * 1e12 / drive.exported_bytes / (3 * 365))
    sequential = one.summary.sequential_rating
    assert sequential["tbw"] == pytest.approx(3_000 * drive.flash_bytes / 1e12)
    assert sequential["dwpd"] / found["dwpd"] == pytest.approx(4 * each)
    # all 32 dies program, but for the transfers
    transfer = round(16384 * 833 / 1000)
    assert found["watts"] == pytest.approx(0.5 + 32 * 0.04 * 600_000 / (600_000 + transfer))
    run = saturated(one.summary, "random write", "demo-4g", "fpgc", keys)
    assert run.lifetime.tbw == pytest.approx(found["tbw"], rel=0.07)
    done = ssdlab_command("check", "demo-4g", "--sheet", "tbw=10,watts=2")
    assert "--sheet tbw: nothing is computed to compare it with: no erases are rated: set wear.rated_cycles" in done.err
    assert "--sheet watts: nothing is computed to compare it with: the drive draws no power" in done.err


@pytest.mark.parametrize("wear", [0.1, 1.0])
def test_a_run_rates_what_passes_through_the_slc_cache_as_the_drive_is_rated(wear: float) -> None:
    """In steady state each byte is programmed in SLC mode, and once more when it is folded: 1 + 3 slc.wear bytes of flash are worn."""
    keys = {"ftl.map_cache_bytes": 0, "slc.wear": wear, "slc.fold_level": 0.5}
    rated = summary("whole-consumer-tlc-scaled-4g", "nvme", **keys).sequential_rating
    load = {"read_share": 0.0, "request_kb": 128, "align_kb": 128, "sequential_share": 1.0, "address": "uniform", "queue_depth": 0}
    load |= {"interarrival_us": 1_500.0}
    more = {**keys, **{f"workload.{key}": value for key, value in load.items()}}
    run = ssdlab.run(device="whole-consumer-tlc-scaled-4g", scheme="nvme", set=more, requests=20_000, warm_up=8_000)
    assert run.counters.direct_writes == 0
    assert run.gc.write_amplification == pytest.approx(2, rel=0.02)
    assert run.lifetime.wear_amplification == pytest.approx(1 + 3 * wear, rel=0.02)
    for name in ("tbw", "dwpd"):
        assert run.lifetime[name] == pytest.approx(rated[name], rel=0.02)


def test_ratings_of_a_sheet_are_compared_with_sequential_writes_without_a_closed_form(ssdlab_command: Ssdlab) -> None:
    done = ssdlab_command("check", "whole-consumer-tlc", "--sheet", "tbw=600,dwpd=0.3", "--json")
    assert not done.err
    found = json.loads(done.out)
    assert "rating" not in found
    for claim, what in zip(found["sheet"], ("tbw", "dwpd"), strict=True):
        assert claim["computed"] == found["sequential_rating"][what]
        assert "sequential" in claim["about"]
    random = ssdlab.check("demo-4g", scheme="fpgc", set={"wear.rated_cycles": 3_000}, sheet={"tbw": 1}).rows[0]
    assert "random" in random["about"]


def test_an_option_that_is_an_argument_is_explained(ssdlab_command: Ssdlab) -> None:
    message = ssdlab_command("check", "--device", "demo-4g").failed(2)
    assert "--device: expected without an option here: `ssdlab check NAME|FILE.toml`" in message
    assert "No such option: --sceme" in ssdlab_command("check", "demo-4g", "--sceme", "nvme").failed(2)


def test_power_beside_what_a_cap_holds_is_said() -> None:
    """Ten dies of 32 may read, at 20 mW beside 1 W at rest; buses, memory, link and commands draw more."""
    keys = {**POWERED, "energy.cap_w": 1.2, "ftl.precondition.kind": "fill"}
    load = {"workload.read_share": 1.0, "workload.request_kb": 4, "workload.queue_depth": 256}
    run = ssdlab.run(device="demo-4g", scheme="fr-fcfs", set={**keys, **load}, requests=2_000)
    assert run.counters.power_waits > 0
    assert run.energy.mean_w > 1.2
    assert "above-cap" in [remark.code for remark in run.remarks]
    assert any("energy.cap_w = 1.2" in remark for remark in summary("demo-4g", "fr-fcfs", **keys).remarks)
    free = {**keys, "energy.cap_w": 20.0}
    assert not any("energy.cap_w" in remark for remark in summary("demo-4g", "fr-fcfs", **free).remarks)
    run = ssdlab.run(device="demo-4g", scheme="fr-fcfs", set={**free, **load}, requests=2_000)
    assert "above-cap" not in [remark.code for remark in run.remarks]


def test_quotas_of_all_queues_are_a_limit() -> None:
    """500 commands a second of one queue, and 4 MB a second of the other: 976 of 4 KiB, 30 of 128 KiB, of which it may send 1,000."""
    keys = {"host.queues": 2, "host.quota_iops": [500, 1_000], "host.quota_mb_s": [0, 4], "host.quota_burst_us": 0}
    one = summary("demo-4g", "fr-fcfs", **keys)
    assert one.rates["random read"].limits["quotas"] == pytest.approx(500 + 4e6 / 4096)
    assert one.rates["sequential write"].limits["quotas"] == pytest.approx(500 + 4e6 / 131072)
    other = {"name": "other", "read_share": 1.0, "request_kb": 4, "queue_depth": 8}
    load = {"workload.read_share": 1.0, "workload.request_kb": 4, "workload.queue_depth": 8, "workload.flows": [other]}
    run = ssdlab.run(device="demo-4g", scheme="fr-fcfs", set={**keys, **load, "ftl.precondition.kind": "fill"}, requests=3_000)
    # the queue that is faster sends alone at the end
    assert run.interface.quota_waits > 0
    assert run.iops <= one.rates["random read"].per_s * 1.01
    for unlimited in ({}, {"host.queues": 2}, {"host.queues": 2, "host.quota_iops": [500, 0]}):
        assert "quotas" not in summary("demo-4g", "fr-fcfs", **unlimited).rates["random read"].limits


def test_a_drive_that_gets_too_warm_for_its_rates_is_said() -> None:
    """All 32 dies program at 40 mW beside 0.5 W: 1.78 W, 1.76 with the transfers, and 25 + 20 x 1.76 = 60 degrees C."""
    keys = {**SMALL_POOLS, "energy.program_mw": 40.0, "energy.idle_mw": 500.0, "thermal.resistance_c_per_w": 20.0}
    cool = summary("demo-4g", "fpgc", **keys)
    assert not any("settle" in remark for remark in cool.remarks)
    warm = {**keys, "thermal.light_c": 55.0, "thermal.light_w": 1.5, "thermal.heavy_c": 90.0, "thermal.heavy_w": 1.0}
    said = [remark for remark in summary("demo-4g", "fpgc", **warm).remarks if "settle" in remark]
    assert len(said) == 1
    settled = 25 + 20 * cool.watts
    assert f"settle at {settled:.0f} °C" in said[0]
    assert "from thermal.light_c = 55 on" in said[0]
    mild = {**warm, "thermal.light_w": 3.0}
    assert not any("settle" in remark for remark in summary("demo-4g", "fpgc", **mild).remarks), "a cap that limits nothing"
    # without limits it gets there
    fast = {**keys, "thermal.time_constant_s": 0.01, "thermal.sample_us": 1_000}
    run = saturated(cool, "sequential write", "demo-4g", "fpgc", fast)
    assert run.thermal.max_c == pytest.approx(settled, abs=2)


def test_what_is_not_in_the_numbers_is_said() -> None:
    asleep = {"power_states.power_mw": [50, 20], "power_states.entry_us": [100, 200], "power_states.exit_us": [1_800, 1_500]}
    asleep |= {"energy.idle_mw": 90.0}
    rebuilt = {"array.level": "rais5", "array.drives": 4, "array.degraded": 1, "array.rebuild_stripes": 2}
    for keys, said in (
        (asleep, "from its deepest power state a command takes 1,500 us more"),
        ({"ftl.namespaces": [8, 24]}, "Rates are those of all namespaces together"),
        (rebuilt, "The rebuild of the failed drive is not in these numbers"),
    ):
        assert any(said in remark for remark in summary("demo-4g", "fpgc", **keys).remarks), keys
        assert not any(said in remark for remark in summary("demo-4g", "fpgc").remarks)


@pytest.mark.parametrize(("pages", "step"), [(96, "30 programs of data"), (2304, None)])
def test_steps_of_whole_programs_are_said(pages: int, step: str | None) -> None:
    """Near an edge a run is one step away: with 15 % spare 32 / 4 and not 32 / 5, of 32 programs with parity."""
    said = [remark for remark in summary("nvme-tlc-2023", "nvme", **{"device.pages_per_block": pages}).remarks if "goes in steps" in remark]
    assert len(said) == (step is not None)
    assert all(str(step) in remark for remark in said)


def test_the_sheet_of_an_array_is_that_of_a_drive_of_it() -> None:
    alone = summary("demo-4g", "fpgc").to_dict()
    for level in ("rais0", "rais5"):
        found = summary("demo-4g", "fpgc", **{"array.level": level, "array.drives": 5}).to_dict()
        assert found["exported_bytes"] == alone["exported_bytes"]
        assert found["rates"] == alone["rates"]
        assert "All numbers are those of one of the 5 drives of the array." in found["remarks"]


@pytest.mark.parametrize(
    ("policy", "failed", "expected"),
    [
        # R 100, T 10, D 20: docs/model/ageing.md; the die is free at the last transfer, or when a read ahead has been stopped (5)
        ("in-order", 2, (300, 30, 3 * 110 + 2 * 20, 3 * 130)),
        ("pr2", 2, (400, 30, 130 + 100 + 100 + 10 + 20 + 5, 130 + 100 + 100 + 10 + 20)),
        ("ar2", 2, (100 + 3 * 50, 30, 130 + 3 + 50 + 50 + 10 + 20 + 5, 130 + 3 + 50 + 50 + 10 + 20)),
        # the last step of the table has no read ahead behind it
        ("pr2", 3, (400, 40, 130 + 3 * 100 + 10, 130 + 3 * 100 + 10 + 20)),
        ("in-order", 0, (100, 10, 110, 130)),
    ],
)
def test_a_read_that_fails_takes_its_steps(policy: str, failed: int, expected: tuple[float, ...]) -> None:
    errors = {"retry": policy, "decode_ns": 20, "set_ns": 3, "reset_ns": 5, "short_read": 0.5, "retry_table": [0.5, 0.4, 0.3]}
    drive = replace(summary("demo-4g").drive, errors=errors)
    assert with_failed(drive, failed, 100.0, 10.0, 1, overlaps=False) == pytest.approx(expected)


def test_planes_that_read_together_take_as_long_as_the_slowest() -> None:
    """Pages of 10 and 30 us: of two at random the slowest takes 30 us in three of four reads."""
    drive = summary("demo-4g", **{"device.read_ns_by_page": [10_000, 30_000]}).drive
    assert [drive.slowest_ns("read_ns", draws) for draws in (1, 2)] == [20_000, 25_000]


def test_reads_of_blocks_of_all_ages_fail_by_the_power_law() -> None:
    """Half of the range of days is beyond what a plain read corrects: 1 - beta t^n with n = 1 in a codeword of 1,000 bits."""
    law = {"errors.epsilon": 0.0, "errors.alpha": 0.0, "errors.beta": 1e-3, "errors.m": 0.0, "errors.n": 1.0}
    keys = {**law, "errors.codeword_bytes": 125, "errors.correctable_bits": 5, "errors.retry_table": [0.5]}
    days = {"ftl.precondition.retention_days": 0.0, "ftl.precondition.retention_days_max": 10.0}
    one = summary("demo-4g", **{"errors.retry": "in-order", **keys, **days})
    assert failed_steps(one.drive, aged=True) == {0: 0.5, 1: 0.5}
    assert failed_steps(one.drive, aged=False) == {0: 1.0}


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
