"""Shows how much tail parity inside a drive removes and what it costs, from the results of a sweep.

    .venv/bin/ssdlab sweep sweeps/rotation/rotation.toml --out results/rotation
    .venv/bin/python tools/rotation.py results/rotation

It prints the tables of `docs/rotating-gc.md`, and writes `docs/images/rotating-gc.svg`.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from statistics import median
from typing import Any

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ssdlab.pages.colours import COLOURS
from ssdlab.pages.drawings import STYLE, as_files

ROOT = Path(__file__).resolve().parent.parent
SWEEP = ROOT / "sweeps" / "rotation" / "rotation.toml"
FIGURE = ROOT / "docs" / "images" / "rotating-gc.svg"
PERCENTILES = ("p99", "p99_9", "p99_99")
NAMES = {
    "no GC": "no GC, no parity",
    "no GC, parity": "no GC, parity",
    "base": "no parity, GC blocks the channel",
    "plane": "no parity, GC blocks the plane",
    "parity": "parity",
    "rebuilt": "parity, rebuilt reads",
    "rotation": "parity, rebuilt reads, turns",
    "forced": "parity, rebuilt reads, forced turns",
    "suspended": "no parity, suspended GC",
}
"""Modes as the page calls them."""
PUBLISHED = {"base": (5, 138), "rotation": (1.0, 2.6)}
"""Slowdowns between the 99th and the 99.99th percentile, Yan et al. 2017."""

Row = dict[str, float]
"""The medians over seeds of a point."""


def of_result(result: dict[str, Any]) -> Row:
    """The figures of a run."""
    array, latency = result["array"], result["latency_ns"]
    others = array["drives"] - 2
    reads = {percentile: latency["read"][percentile] / 1e3 for percentile in PERCENTILES}
    return {
        **reads,
        "reads per read": 1 + array["rebuilt_pages"] * others / latency["read"]["count"],
        "write amplification": result["gc"]["write_amplification"],
        "writes p99_9": latency["write"]["p99_9"] / 1e3,
        "wait": array["rotation_wait_ns"] / max(1, array["rotation_turns"]) / 1e6,
        "forced": result["counters"]["rotation_forced"] / max(1, result["gc"]["jobs"]),
        "jobs": result["gc"]["jobs"],
        "collecting": result["gc"]["time_share"],
    }


def rows(results: Path) -> dict[tuple[str, str], Row]:
    """The points of the sweep, by writes and mode."""
    grid = tomllib.loads(SWEEP.read_text(encoding="utf-8"))["grid"]
    found: dict[tuple[str, str], list[Row]] = {}
    for file in results.glob("*/result.json"):
        axes = dict(part.split("=") for part in re.sub("-[0-9a-f]{8}$", "", file.parent.name).split("_"))
        found.setdefault((axes["writes"], axes["mode"]), []).append(of_result(json.loads(file.read_text(encoding="utf-8"))))
    points = {}
    for writes in grid["writes"]:
        for mode in grid["mode"]:
            of_seeds = found[name(writes["label"]), name(mode["label"])]
            assert len(of_seeds) == len(grid["seed"]), f"{len(of_seeds)} results of {writes['label']}, {mode['label']}"
            points[writes["label"], mode["label"]] = {key: median(row[key] for row in of_seeds) for key in of_seeds[0]}
            collects = points[writes["label"], mode["label"]]["jobs"] > 0
            assert collects != mode["label"].startswith("no GC"), f"{writes['label']}, {mode['label']}"
    return points


def name(label: str) -> str:
    """A label as part of a folder's name."""
    return label.replace("/", "-").replace(" ", "-")


def main() -> None:
    """Prints the tables and draws the figure."""
    points = rows(Path(sys.argv[1]))
    loads, modes = ([*dict.fromkeys(point[axis] for point in points)] for axis in (0, 1))
    for load in loads:
        ideal = points[load, "no GC"]
        print(f"\n{load}: without GC {', '.join(f'{ideal[percentile]:.0f}' for percentile in PERCENTILES)} us\n")
        print("| mode | p99 | p99.9 | p99.99 | reads per read | write amplification | writes p99.9, ms | wait, ms | forced | time in GC |")
        print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
        for mode in modes:
            row = points[load, mode]
            slower = " | ".join(f"{row[percentile] / ideal[percentile]:.2g}" for percentile in PERCENTILES)
            costs = f"{row['reads per read']:.2f} | {row['write amplification']:.2f} | {row['writes p99_9'] / 1e3:.2g}"
            print(f"| {NAMES[mode]} | {slower} | {costs} | {row['wait']:.3g} | {row['forced']:.2f} | {row['collecting']:.1%} |")
    with rc_context(STYLE):
        sheet = Figure(figsize=(7.2, 2.9), layout="constrained")
        FigureCanvasAgg(sheet)
        for panel, load in zip(sheet.subplots(1, len(loads), sharey=True), loads, strict=True):
            panel.set_title(load, fontsize="medium", loc="left")
            for colour, mode in zip(COLOURS, ("base", "plane", "rebuilt", "rotation", "suspended"), strict=False):
                over = [points[load, mode][percentile] / points[load, "no GC"][percentile] for percentile in PERCENTILES]
                panel.plot(["p99", "p99.9", "p99.99"], over, color=colour, marker="o", markersize=3, label=NAMES[mode])
                if mode in PUBLISHED:
                    panel.axhspan(*PUBLISHED[mode], color=colour, alpha=0.12, linewidth=0)
            panel.set_yscale("log")
        sheet.supylabel("reads over those without GC")
        sheet.legend(*panel.get_legend_handles_labels(), loc="outside upper center", ncols=3)
        FIGURE.write_text(as_files(sheet)[0], encoding="utf-8")


if __name__ == "__main__":
    main()
