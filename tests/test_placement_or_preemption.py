"""Placement against preemption: the stored results are what runs give, and the page names the better lever by them."""

from __future__ import annotations

import sys
import tomllib
from typing import Any

import pytest

import ssdlab
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import stored_studies

PAPER = "placement-or-preemption"
STUDY = tomllib.loads((ROOT / "studies" / PAPER / "load.toml").read_text())
FIGURES = ("wa", "p99", "p999", "read")


def run(placement: str, scheme: str) -> list[float]:
    """The figures of a run of the study at the rate of the trace, under its first seed."""
    settings: dict[str, Any] = next(point for point in STUDY["vary"][1]["points"] if point["label"] == placement).get("set", {})
    keys = {f"{section}.{key}": value for of in (STUDY["set"], settings) for section, values in of.items() for key, value in values.items()}
    trace = ROOT / "traces" / STUDY["trace"]
    result = ssdlab.run(
        device=STUDY["device"], scheme=scheme, trace=trace, set=keys, requests=STUDY["requests"], warm_up=STUDY["warm_up"], seed=1
    )
    latency = result.latency_ns
    return [result.gc.write_amplification, latency.all.p99 / 1e6, latency.all.p99_9 / 1e6, latency.read.p99 / 1e6]


@pytest.mark.parametrize(("placement", "scheme"), [("none", "npgc"), ("handles", "npgc"), ("none", "fpgc"), ("none", "nvme")])
def test_stored_points_are_what_runs_give(placement: str, scheme: str) -> None:
    """A seed lies within the 95 % interval of three, or 1 % beside it where seeds hardly differ."""
    (load,) = (result for result in stored_studies.stored(PAPER) if result.study.name == f"{PAPER}/load")
    for name, measured in zip(FIGURES, run(placement, scheme), strict=True):
        stored = load.points[name, scheme, ("1", placement)]
        assert measured == pytest.approx(stored.mean, abs=(stored.half or 0) + 0.01 * stored.mean), name


def test_the_better_lever_is_the_one_that_the_page_names() -> None:
    """By the whole interval of the difference, at each load and spare: placement for all requests and writes, preemption for reads."""
    rows = [row for row in stored_studies.read(PAPER) if ", handles less fpgc, " in row["finding"]]
    assert len(rows) == 4 * (3 + 2)
    for row in rows:
        mean, half = float(row["simulated"]), float(row["interval"])
        assert mean - half > 0 if row["finding"].startswith("p99 of reads") else mean + half < 0, row["finding"]
