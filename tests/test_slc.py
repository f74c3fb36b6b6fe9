"""A cache of blocks in SLC mode on published schemes and preset drives, from Python."""

from __future__ import annotations

from typing import Any

import pytest

import ssdlab
from ssdlab.pages.report.drawing import Curve, Plot
from ssdlab.pages.report.runs import Runs
from ssdlab.pages.report.slc import slc

CACHE = {"slc.static_blocks": 2, "slc.dynamic_blocks": 20, "slc.fold_level": 0.5}
WRITES = {
    "workload.read_share": 0.3,
    "workload.queue_depth": 8,
    "workload.address": "uniform",
    "ftl.precondition.kind": "steady",
    "ftl.precondition.settle": 0,
    "ftl.frontier": "separate",
    "ftl.placement": "none",
}


def run(device: str, scheme: str, requests: int = 6_000, **settings: Any) -> ssdlab.Result:
    return ssdlab.run(device=device, scheme=scheme, requests=requests, seed=4, verify="end", set={**CACHE, **WRITES, **settings})


def adds_up(result: ssdlab.Result) -> None:
    counters, flash = result["counters"], result["flash"]
    assert counters["slc_writes"] > 0
    # Programs that are under way at the end have not ended.
    assert 0 <= counters["slc_writes"] + counters["direct_writes"] - flash["host_programs"] <= 12 * 32
    assert counters["folds"] > 0
    assert result["slc"]["folded_bytes"] <= result["slc"]["written_bytes"]


@pytest.mark.parametrize("scheme", ["pgc", "npgc", "fpgc", "nvme"])
def test_schemes_have_a_cache(scheme: str) -> None:
    shape = {"device.channels": 2, "device.blocks_per_plane": 200, "device.pages_per_block": 48, "device.overprovisioning": 0.3}
    result = run("nvme-4g", scheme, **shape)
    adds_up(result)
    assert result["counters"]["slc_reads"] > 0


@pytest.mark.parametrize("sequential", [0.0, 1.0])
def test_a_drive_with_buffer_units_parity_and_suspension_has_a_cache(sequential: float) -> None:
    keys = {"workload.sequential_share": sequential, "workload.request_kb": 64, "gc.pace": "proportional"}
    adds_up(run("nvme-tlc-scaled-5g", "nvme", 8_000, **keys))


def test_the_cliff_is_in_the_series_and_on_the_page(tmp_path: Any) -> None:
    keys = {
        "slc.static_blocks": 10,
        "ftl.precondition.kind": "none",
        "ftl.precondition.settle": 0,
        "workload.read_share": 0.0,
        "workload.address": "start",
        "workload.sequential_share": 1.0,
        "workload.queue_depth": 16,
        "workload.request_kb": 192,
    }
    result = ssdlab.run(device="nvme-tlc-scaled-5g", scheme="nvme", requests=2_000, set=keys, series=True)
    series = result["series"]["slc"]
    first = next(index for index, count in enumerate(series["direct_bytes"]) if count)
    assert sum(series["cached_bytes"]) == result["slc"]["written_bytes"] == result["slc"]["capacity_bytes"]
    host = result["series"]["written"]["host_bytes"]
    before, after = sum(host[: first - 1]) / (first - 1), sum(host[first + 2 : -2]) / len(host[first + 2 : -2])
    # A word line takes 1.9 ms, three pages in SLC mode 0.45 ms.
    assert before > 2 * after
    _, cliff = drawn.plots if (drawn := slc(Runs.of({"run": result.to_dict()}))) else ((), None)
    assert isinstance(cliff, Plot)
    (curve,) = cliff.panels[0].marks
    assert isinstance(curve, Curve)
    assert (curve.x[0], curve.x[-1]) == (0, pytest.approx(sum(host) / 1e6))
    assert curve.y[0] == pytest.approx(before / (result["series"]["bin_ns"] / 1e3), rel=0.1)
    assert curve.y[-4] == pytest.approx(after / (result["series"]["bin_ns"] / 1e3), rel=0.1)
    # The time of all parts is that of the run, but for part of the last bin.
    seconds = sum((end - begin) / rate for begin, end, rate in zip(curve.x[::2], curve.x[1::2], curve.y[::2], strict=True))
    assert seconds == pytest.approx(result["simulated_ns"] / 1e9, rel=0.03)
    page = tmp_path / "report.html"
    result.report(page)
    assert '<figure id="slc">' in page.read_text()
    result.plot.slc().save(tmp_path / "slc.svg")
    assert (tmp_path / "slc.svg").read_bytes().startswith(b"<?xml")
    assert "SLC cache of" in str(result)
