"""Blocks that fail, and drives at the end of their life, from Python."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import ssdlab
from ssdlab.pages.tables.numbers import three

SMALL = {
    "device.channels": 2,
    "device.blocks_per_plane": 40,
    "device.pages_per_block": 16,
    "device.overprovisioning": 0.35,
    "ftl.precondition.kind": "fill",
    "gc.pace": "none",
    "buffer.bytes": 0,
    "workload.read_share": 0.2,
    "workload.queue_depth": 8,
    "workload.request_kb": 4,
}
WORN = {**SMALL, "wear.endurance": 15, "wear.spread": 0.1, "wear.program_fails_ppm": 500.0, "wear.erase_fails_ppm": 2_000.0}


def run(scheme: str = "npgc", requests: int = 60_000, **settings: Any) -> ssdlab.Result:
    return ssdlab.run(device="demo-4g", scheme=scheme, requests=requests, seed=4, verify="end", set={**WORN, **settings})


@pytest.mark.parametrize("scheme", ["npgc", "pgc", "fpgc", "pgc-idle", "nvme"])
def test_drives_of_all_schemes_live_until_their_blocks_are_worn(scheme: str) -> None:
    result = run(scheme)
    life, counters = result["lifetime"], result["counters"]
    assert life["read_only_ns"] <= result["simulated_ns"]
    assert life["retired_blocks"] == life["worn_out"] + life["failed_erases"] + life["failed_programs"] > 5
    assert counters["failed_programs"] > 0
    assert result["wear"]["mean"] < 15
    # What blocks could take if all wore evenly, and failed at 15 erases.
    assert 0.3 < life["written_bytes"] / 1e12 / life["tbw"] < 1.05
    assert "read-only since" in str(result)
    assert [remark["code"] for remark in result["remarks"] if remark["code"] in ("read-only", "rated-life")] == ["read-only", "rated-life"]


TODAY = {
    "device.channels": 2,
    "device.dies_per_chip": 2,
    "device.blocks_per_plane": 32,
    "device.pages_per_block": 48,
    "device.overprovisioning": 0.6,
    "buffer.bytes": 1 << 19,
    "ftl.precondition.kind": "fill",
    "workload.read_share": 0.2,
    "workload.queue_depth": 16,
    "workload.request_kb": 4,
    "wear.endurance": 8,
    "wear.spread": 0.1,
    "wear.program_fails_ppm": 200.0,
    "wear.erase_fails_ppm": 1_000.0,
}
"""A drive of today, scaled down: one-shot programs, a protected buffer, parity, suspension, pacing, and blocks that fail."""


@pytest.mark.parametrize("keys", [{}, {"ftl.placement": "handles", "ftl.handles": 2}, {"ftl.allocation": "dynamic"}])
def test_a_drive_of_today_lives_until_its_blocks_are_worn(keys: dict[str, Any]) -> None:
    result = ssdlab.run(device="nvme-4g", scheme="nvme", requests=400_000, seed=4, verify="end", set={**TODAY, **keys})
    life, counters = result["lifetime"], result["counters"]
    assert life["read_only_ns"] <= result["simulated_ns"]
    assert counters["failed_programs"] > 0
    assert counters["paced_writes"] + counters["place_waits"] > 0
    assert counters["lost_units"] == 0
    # What blocks could take if all wore evenly, and failed at 8 erases.
    assert 0.3 < life["written_bytes"] / 1e12 / life["tbw"] < 1.05
    expected = ssdlab.check("nvme-4g", scheme="nvme", set={**TODAY, **keys}).summary
    assert life["dwpd"] == pytest.approx(life["tbw"] * 1e12 / (expected.drive.exported_bytes * 5 * 365), rel=1e-4)
    of_life = life["written_bytes"] / 1e12 / life["tbw"]
    assert life["years"] == pytest.approx(result["simulated_ns"] / (365 * 86_400e9) / of_life, rel=1e-4)


def test_the_log_names_rejected_requests(tmp_path: Path) -> None:
    keys = {**WORN, "wear.end": "reads"}
    result = ssdlab.run(device="demo-4g", scheme="npgc", requests=60_000, seed=4, set=keys, log_requests=True, out=tmp_path)
    table = pq.read_table(tmp_path / "requests.parquet").to_pandas()
    rejected = table[table["rejected"]]
    assert len(rejected) == result["counters"]["rejected_writes"] > 100
    assert set(rejected["kind"]) == {"write"}
    assert (rejected["arrival_ns"] + rejected["response_ns"] >= result["lifetime"]["read_only_ns"]).all()
    assert result["requests"]["read"] == (table["kind"] == "read").sum()
    assert result["requests"]["write"] + len(rejected) == (table["kind"] == "write").sum()


def test_levelling_is_for_any_drive() -> None:
    hot = {"workload.address": "hot-cold", "workload.hot_share": 0.1, "workload.hot_access": 0.95, "workload.read_share": 0.0}
    keys = {**SMALL, **hot, "buffer.bytes": 1 << 20, "gc.pace": "proportional"}
    runs = {}
    for policy in ("none", "old-block", "dual-pool"):
        levelled = {**keys, "wear.leveling": policy, **({} if policy == "none" else {"wear.leveling_threshold": 4})}
        runs[policy] = ssdlab.run(device="demo-4g", scheme="nvme", requests=30_000, seed=4, verify="end", set=levelled)
    for policy in ("old-block", "dual-pool"):
        assert runs[policy]["counters"]["leveling_jobs"] > 0
        assert runs[policy]["wear"]["std"] < runs["none"]["wear"]["std"]
        assert "lifetime" not in runs[policy].to_dict()


def test_erases_as_long_as_needed_let_a_drive_live_longer() -> None:
    """Blocks that need 2.5 ms: 3.6 ms with whole pulses, 2.7 ms as needed (1 and 1.5 ms), which wears them by 5 sevenths."""
    lives = {}
    for erase in ("pulses", "as-needed"):
        keys: dict[str, Any] = {"wear.erase": erase, "device.erase_ns": 2_500_000, "wear.endurance": 60}
        keys |= {"wear.program_fails_ppm": 0.0, "wear.erase_fails_ppm": 0.0}
        result = run(requests=400_000, **keys)
        life, counters = result["lifetime"], result["counters"]
        # counted alike, though a write of 4 KiB programs a page of 16
        assert 0.5 * life["written_bytes"] < life["one_percent_bytes"] < life["written_bytes"]
        assert counters["erase_pulses"] == (2 if erase == "as-needed" else 1) * result["gc"]["erases"]
        assert counters["shortened_erases"] == (result["gc"]["erases"] if erase == "as-needed" else 0)
        lives[erase] = life
    assert lives["pulses"]["erase_wear"] == 1
    assert lives["as-needed"]["erase_wear"] == pytest.approx(5 / 7, rel=1e-5)
    assert lives["as-needed"]["written_bytes"] == pytest.approx(1.4 * lives["pulses"]["written_bytes"], rel=0.04)


def test_the_rating_is_what_erases_allow_whatever_a_block_holds() -> None:
    """The bytes that the host wrote for each erase, times endurance and blocks: also where parity and padding take part of a block."""
    more: list[dict[str, Any]] = [
        {},
        {"ftl.parity_stripe": 4, "device.overprovisioning": 0.6},
        {"ftl.map_unit_bytes": 1024, "workload.request_kb": 1, "workload.queue_depth": 1},
    ]
    for settings in more:
        keys = {**SMALL, "ftl.precondition.kind": "steady", "workload.read_share": 0.0, "wear.endurance": 100_000, **settings}
        result = ssdlab.run(device="demo-4g", scheme="npgc", requests=20_000, seed=4, set=keys)
        device = result["config"]["device"]
        dies = device["channels"] * device["chips_per_channel"] * device["dies_per_chip"]
        blocks = dies * device["planes_per_die"] * device["blocks_per_plane"]
        rated = result["bytes_written"]["host"] / result["flash"]["erases"] * blocks * 100_000 / 1e12
        assert result["lifetime"]["tbw"] == pytest.approx(rated, rel=0.005), settings


def test_padding_and_parity_in_slc_mode_wear_by_its_share() -> None:
    """Nothing is programmed in other blocks, so that all padding and parity of the run is in SLC mode."""
    keys = {
        "slc.static_blocks": 8,
        "slc.wear": 0.2,
        "device.overprovisioning": 0.7,
        "ftl.parity_stripe": 4,
        "buffer.bytes": 0,
        "wear.rated_cycles": 3_000,
    }
    load = {"workload.read_share": 0.0, "workload.request_kb": 4, "workload.queue_depth": 8}
    drive = {key: value for key, value in TODAY.items() if not key.startswith("wear.")}
    result = ssdlab.run(device="nvme-4g", scheme="nvme", requests=100, seed=4, set={**drive, **keys, **load})
    counters, written = result["counters"], result["bytes_written"]
    assert counters["folds"] == counters["direct_writes"] == 0
    assert min(written["padding"], written["parity"]) > 0
    unit = written["data"] // counters["slc_writes"]
    assert counters["slc_padded_units"] * unit == written["padding"] + written["parity"]
    # a block in SLC mode holds a third of the units
    assert result["lifetime"]["wear_amplification"] == pytest.approx(0.6 * result["gc"]["write_amplification"])


BESIDE: list[tuple[str, str, dict[str, Any]]] = [
    ("nvme-4g", "nvme", {"ftl.map_cache_bytes": 1 << 20}),
    ("demo-4g", "fpgc", {"wear.rated_cycles": 500, "ftl.placement": "sepbit", "device.overprovisioning": 0.3}),
    ("nvme-4g", "nvme", {"slc.static_blocks": 2, "device.blocks_per_plane": 64}),
    (
        "nvme-tlc-superpage-2023",
        "nvme",
        {"device.blocks_per_plane": 16, "device.pages_per_block": 48, "gc.soft": 2, "device.overprovisioning": 0.6},
    ),
    ("demo-4g", "slacker", {}),
    ("demo-4g", "fpgc", {"array.level": "rais5", "array.drives": 3}),
    ("demo-4g", "gcar-lru", {}),
]


@pytest.mark.parametrize(("device", "scheme", "keys"), BESIDE)
def test_any_drive_can_be_rated_and_nothing_fails(device: str, scheme: str, keys: dict[str, Any]) -> None:
    load = {"workload.read_share": 0.5, "workload.queue_depth": 8, "workload.request_kb": 16, "ftl.precondition.kind": "fill"}
    rated = {"wear.rated_cycles": 3_000, **keys}
    bare = {key: value for key, value in keys.items() if key != "wear.rated_cycles"}
    result = ssdlab.run(device=device, scheme=scheme, requests=2_000, seed=4, set={**load, **rated})
    assert result["digest"] == ssdlab.run(device=device, scheme=scheme, requests=2_000, seed=4, set={**load, **bare})["digest"]
    config, life = result["config"].to_dict(), result["lifetime"].to_dict()
    array = config["array"]
    drives = 1 if array["level"] == "none" else array["drives"]
    sizes = ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die", "blocks_per_plane", "pages_per_block", "page_bytes")
    flash = drives * math.prod(config["device"][size] for size in sizes)
    wears = life.get("wear_amplification", result["gc"]["write_amplification"])
    assert ("wear_amplification" in life) == ("slc.static_blocks" in keys)
    assert life["tbw"] == pytest.approx(rated["wear.rated_cycles"] * flash / wears / 1e12)
    exported = ssdlab.check(device, scheme=scheme, set=bare).summary.drive.exported_bytes * (drives - 1 if drives > 1 else 1)
    assert life["dwpd"] == pytest.approx(life["tbw"] * 1e12 / (exported * 5 * 365), rel=1e-4)
    assert "spare_left" not in life
    assert not life["retired_blocks"]
    assert f"rated {three(life['tbw'])} TB written" in str(result)
    seconds = life["tbw"] * 1e12 / result["bytes_written"]["host"] * result["simulated_ns"] / 1e9
    assert f": {three(seconds / 86_400 / 365)} years" in str(result)


def test_a_rating_has_the_letters_of_its_write_amplification() -> None:
    result = ssdlab.run(device="demo-4g", scheme="pgc", workload="uniform-4k-write", requests=300, set={"wear.rated_cycles": 3_000})
    letters = {remark: letter for letter, remark in re.findall(r"\[([a-z])\] .*\(([a-z-]+)\)", str(result))}
    rated = next(line for line in str(result).splitlines() if "  rated" in line)
    assert rated.endswith(f" [{letters['not-settled']}] [{letters['rated-life']}]"), rated


@pytest.mark.parametrize(("rated", "early"), [(16, True), (15, False)])
def test_blocks_that_fail_before_their_rating_are_said(rated: int, early: bool) -> None:
    """The endurance is 15."""
    keys: dict[str, Any] = {"wear.rated_cycles": rated}
    found = run(requests=500, **keys)
    assert ("fails-early" in [remark["code"] for remark in found["remarks"]]) == early
    checked = ssdlab.check("demo-4g", scheme="npgc", set={**WORN, **keys}).summary
    assert any("wear.endurance = 15" in remark for remark in checked.remarks) == early


def test_blocks_that_failed_in_the_warm_up_have_their_causes() -> None:
    whole, measured = (ssdlab.run(device="demo-4g", scheme="npgc", requests=60_000, warm_up=left, seed=4, set=WORN) for left in (0, 20_000))
    for life in (whole["lifetime"], measured["lifetime"]):
        assert life["retired_blocks"] == life["worn_out"] + life["failed_erases"] + life["failed_programs"] > 20
        assert life["one_percent_bytes"] < life["written_bytes"]
    assert measured["lifetime"]["one_percent_bytes"] < whole["lifetime"]["one_percent_bytes"]
    assert measured["counters"]["retired_by_program"] < measured["lifetime"]["failed_programs"] == whole["lifetime"]["failed_programs"]


@pytest.mark.parametrize("scheme", ["npgc", "pgc", "fpgc"])
def test_the_end_is_recorded_whatever_the_drive_did(scheme: str, tmp_path: Path) -> None:
    """Jobs that are given up stay counted in series, and a write that merged with a move of such a job has waited all the time."""
    failing = {"wear.program_fails_ppm": 50_000.0, "wear.end": "reads", "device.overprovisioning": 0.5, "workload.read_share": 0.5}
    for seed in range(12):
        keys = {**SMALL, **failing, "device.channels": 1, "device.blocks_per_plane": 30, "device.pages_per_block": 8}
        result = ssdlab.run(device="demo-4g", scheme=scheme, requests=3_000, seed=seed, set=keys, log_requests=True, out=tmp_path)
        assert result["lifetime"]["read_only_ns"] < result["simulated_ns"]
        jobs = sum(result.series.gc.jobs)
        assert result["gc"]["jobs"] <= jobs <= result["gc"]["jobs"] + result["counters"]["failed_programs"] + 8


def test_moves_are_counted_in_mapping_units() -> None:
    """Of four units in each of 16 pages of a block: a job has 16 programs at most, and moves more units than that."""
    hot = {"workload.address": "hot-cold", "workload.hot_share": 0.05, "workload.hot_access": 1.0, "workload.read_share": 0.0}
    keys = {**SMALL, **hot, "ftl.map_unit_bytes": 4096, "wear.leveling": "old-block", "wear.leveling_threshold": 2, "wear.leveling_rest": 0}
    result = ssdlab.run(device="demo-4g", scheme="npgc", requests=30_000, seed=4, set=keys)
    jobs, moves = (result["counters"][f"leveling_{what}"] for what in ("jobs", "moves"))
    assert 20 * jobs < moves <= 64 * jobs
    assert jobs > 10
    assert moves <= result["gc"]["pages_moved"]
