"""Data placement: drives against a log written apart, and what people see of the streams."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import ROOT, Ssdlab
from reference_placement import Log, Scheme, write_amplification, zipf
from shares import recorded
from ssdlab import _core

PAGES, SIZE, BLOCKS, FREE = 8192, 32, 320, 3
"""Logical pages, pages of a block, blocks, and free blocks below which a block is collected: 20 % are spare, less the open blocks.

There are many blocks, since a stream that hardly ever fills one keeps it open: in 160 blocks of 64 pages that is 3 % of the spare ones."""

KEYS: dict[Scheme, dict[str, Any]] = {
    "shared": {"ftl.frontier": "shared"},
    "separate": {},
    "hot-cold": {"ftl.placement": "hot-cold"},
    "sepbit": {"ftl.placement": "sepbit"},
    "handles": {"ftl.placement": "handles", "ftl.handles": 2},
    "handles persistent": {"ftl.placement": "handles", "ftl.handles": 2, "ftl.isolation": "persistent"},
}


def drive(scheme: Scheme, **keys: object) -> dict[str, Any]:
    """The log as a drive of one die, which takes one write after the other."""
    return {
        "device.channels": 1,
        "device.chips_per_channel": 1,
        "device.dies_per_chip": 1,
        "device.planes_per_die": 1,
        "device.blocks_per_plane": BLOCKS,
        "device.pages_per_block": SIZE,
        "device.overprovisioning": 1 - PAGES / (BLOCKS * SIZE),
        "gc.soft": FREE,
        "ftl.precondition.kind": "fill",
        "workload.read_share": 0.0,
        "workload.queue_depth": 1,
        **KEYS[scheme],
        **keys,
    }


def amplification(keys: dict[str, Any]) -> float:
    """Write amplification of six drive writes, after a warm-up of six."""
    result = ssdlab.run(set=keys, requests=12 * PAGES, warm_up=6 * PAGES, seed=1)
    assert result.gc.write_amplification is not None
    return result.gc.write_amplification


@pytest.mark.parametrize("victim", ["greedy", "cost-benefit"])
@pytest.mark.parametrize("exponent", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("scheme", ["shared", "separate", "hot-cold", "sepbit"])
def test_a_drive_moves_as_many_pages_as_a_log_written_apart(scheme: Scheme, exponent: float, victim: str) -> None:
    addresses = {"workload.address": "zipf", "workload.zipf_exponent": exponent} if exponent else {}
    ours = amplification(drive(scheme, **{"gc.victim": victim}, **addresses))

    def written_apart() -> float:
        log = Log(scheme, PAGES, BLOCKS, SIZE, FREE, cost_benefit=victim == "cost-benefit")
        pages = ((page, 0) for page in zipf(PAGES, exponent, seed=2))
        return write_amplification(log, pages, 6 * PAGES, 6 * PAGES)

    apart = recorded("placement", f"{scheme} {victim} {exponent}", written_apart)
    print(f"\n{scheme}, {victim}, zipf {exponent}: {ours:.4f}, written apart {apart:.4f} ({ours / apart - 1:+.2%})", end="")
    assert ours == pytest.approx(apart, rel=0.02)


def hot_and_cold(seed: int) -> Iterator[tuple[int, int]]:
    """Nine of ten writes go to the first tenth, with handle 1."""
    draws = random.Random(seed)
    while True:
        hot = draws.random() < 0.9
        yield (draws.randrange(PAGES // 10) if hot else draws.randrange(PAGES // 10, PAGES)), int(hot)


@pytest.mark.parametrize("scheme", ["shared", "separate", "handles", "handles persistent"])
def test_handles_save_what_they_save_a_log_written_apart(scheme: Scheme) -> None:
    flows = {
        "workload.address": "hot-cold",
        "workload.hot_share": 0.1,
        "workload.hot_access": 0.9,
        "workload.handle_ranges": [[0.1, 1], [1.0, 0]],
    }
    ours = amplification(drive(scheme, **flows))

    def written_apart() -> float:
        return write_amplification(Log(scheme, PAGES, BLOCKS, SIZE, FREE), hot_and_cold(3), 6 * PAGES, 6 * PAGES)

    apart = recorded("placement", f"{scheme} of hot and cold pages", written_apart)
    print(f"\n{scheme}: {ours:.4f}, written apart {apart:.4f} ({ours / apart - 1:+.2%})", end="")
    assert ours == pytest.approx(apart, rel=0.02)


JOBS = ROOT / "studies" / "placement" / "jobs"
WARP = {("zipf", "none"): 4.1453, ("zipf-shared", "handles"): 3.9139, ("zipf", "handles"): 1.1501}
"""Published write amplification of the last 30 % of the bytes, by jobs and `ftl.placement`."""


@pytest.mark.parametrize("seconds", [250, pytest.param(750, marks=pytest.mark.full)])
def test_the_emulated_drive_of_warp_gains_as_published(tmp_path: Path, seconds: int) -> None:
    """WARP (FAST 2026), artifact WARP-FAST26-AE; here at 1/64 of the size. Rows without handles come out low, for a reason not known."""
    found = {}
    for (job, placement), published in WARP.items():
        shorter = (JOBS / f"{job}.fio").read_text(encoding="utf-8").replace("runtime=3000s", f"runtime={seconds}s")
        (tmp_path / f"{job}.fio").write_text(shorter, encoding="utf-8")
        keys = {"device.pages_per_block": 512, "ftl.placement": placement}
        result = ssdlab.run(config=JOBS / "drive.toml", fio=tmp_path / f"{job}.fio", set=keys, warm_up=f"{7 * seconds // 10}s")
        found[job, placement] = result.gc.write_amplification
        print(f"\n{job}, {placement}: {found[job, placement]:.4f}, published {published:.4f}", end="")
    none, shared, handles = found.values()
    assert handles == pytest.approx(1.1501, rel=0.05)
    assert none > shared > handles
    assert 0.8 * 4.1453 < none < 4.1453
    assert 0.8 * 3.9139 < shared < 3.9139


def test_streams_are_on_the_page_and_in_the_terminal(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    options = (
        "--device demo-4g --scheme fpgc --requests 3000 --set ftl.placement=handles --set ftl.handles=3 --set workload.handle=2 --out seen"
    )
    out = ssdlab_command("run", *options.split()).out
    assert "Streams (ftl.placement = handles):" in out
    assert "host, handle 2: " in out
    page = (tmp_path / "seen" / "report.html").read_text(encoding="utf-8")
    assert '<section id="streams">' in page
    assert "host, handle 2" in page


def test_what_a_preset_places_is_not_remarked(tmp_path: Path) -> None:
    """The preset places by handles for drives whose host names them; here no request does."""
    scaled, remark = "whole-datacentre-tlc-scaled-5g", "one-handle"

    def codes(device: str, **keys: str) -> set[str]:
        small = {"device.blocks_per_plane": 130, "device.overprovisioning": 0.4, "ftl.precondition.kind": "none"}
        result = ssdlab.run(device=device, workload="uniform-4k-write", requests=20, slowest=0, set={**small, **keys})
        return {entry.code for entry in result.remarks}

    assert remark not in codes(scaled)
    assert remark in codes(scaled, **{"ftl.placement": "handles"})
    own = tmp_path / "own.toml"
    own.write_text(_core.preset_text("device", scaled))
    assert remark in codes(str(own))
