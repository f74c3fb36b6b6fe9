"""The page that compares placement with preemption: its tables are what the study's runs give."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest

import ssdlab
from conftest import ROOT

STUDY = tomllib.loads((ROOT / "studies" / "placement-or-preemption" / "load.toml").read_text())
PAGE = (ROOT / "docs" / "placement-or-preemption.md").read_text()
FIGURES = ("wa", "p99", "p999", "read")


def of_page() -> dict[tuple[str, str], list[tuple[float, float]]]:
    """By placement and scheme: the means of the figures at the rate of the trace, and the half widths of their intervals."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    placement = ""
    for line in PAGE.split("At the rate of the trace")[1].split("## ")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")] if " ± " in line else []
        if cells:
            placement = cells[0] if len(cells) == 2 + len(FIGURES) else placement
            numbers = [tuple(map(float, cell.split(" ± "))) for cell in cells[-len(FIGURES) :]]
            found[placement, cells[-len(FIGURES) - 1]] = [(mean, half) for mean, half in numbers]
    return found


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
def test_the_table_of_the_page_is_what_runs_give(placement: str, scheme: str) -> None:
    """A seed lies within the 95 % interval of three; 1 % covers the rounding of the table."""
    for name, measured, (mean, half) in zip(FIGURES, run(placement, scheme), of_page()[placement, scheme], strict=True):
        assert measured == pytest.approx(mean, abs=half + 0.01 * mean), name


def test_the_page_names_the_better_lever_by_the_interval_of_the_difference() -> None:
    lines = [line for line in PAGE.splitlines() if re.search(r"\| (placement|preemption|not known) \|$", line)]
    assert len(lines) == 4 * (3 + 2)
    for line in lines:
        *_, difference, lever = (cell.strip() for cell in line.strip("|").split("|"))
        mean, half = map(float, difference.split(" ± "))
        assert lever == ("placement" if mean + half < 0 else "preemption" if mean - half > 0 else "not known"), line
