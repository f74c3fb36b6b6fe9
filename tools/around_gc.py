"""Compares arrays that read around GC with published ones, from the results of a sweep.

    .venv/bin/ssdlab sweep sweeps/around-gc/around-gc.toml --out results/around-gc
    .venv/bin/python tools/around_gc.py results/around-gc

It prints the table of `docs/model/arrays.md`, and writes `docs/images/around-gc.svg`.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from statistics import median

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ssdlab.pages.colours import COLOURS
from ssdlab.pages.drawings import STYLE, as_files

ROOT = Path(__file__).resolve().parent.parent
PUBLISHED = ROOT / "sweeps" / "around-gc" / "published.csv"
FIGURE = ROOT / "docs" / "images" / "around-gc.svg"
TRACES = ("azurestorage", "bingindex", "bingselect", "cosmos")
MODES = ("base", "iod1", "iod2", "iod3", "ioda")
SEEDS = (1, 2, 3)

Latencies = dict[tuple[str, str], float]
"""The 99th percentile of reads, us, by trace and mode: the median of the seeds."""


def published() -> Latencies:
    """What was measured on emulated drives."""
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        return {(row["trace"], row["mode"]): float(row["p99_us"]) for row in csv.DictReader(file)}


def simulated(sweep: Path) -> Latencies:
    """What the sweep found."""
    found = {}
    for trace in TRACES:
        for mode in ("ideal", *MODES):
            of_seeds = []
            for seed in SEEDS:
                file = sweep / f"load={trace}_drive={mode}_seed={seed}" / "result.json"
                result = json.loads(file.read_text(encoding="utf-8"))
                assert (mode == "ideal") == (result["gc"]["jobs"] == 0), f"{trace}, {mode}: {result['gc']['jobs']} jobs"
                of_seeds.append(result["latency_ns"]["read"]["p99"] / 1000)
            found[trace, mode] = median(of_seeds)
    return found


def over_ideal(of: Latencies, trace: str) -> list[float]:
    """The 99th percentile of each mode over that without GC."""
    return [of[trace, mode] / of[trace, "ideal"] for mode in MODES]


def main() -> None:
    """Prints the table and draws the figure."""
    here, there = simulated(Path(sys.argv[1])), published()
    print(f"| load | p99 without GC, ms | {' | '.join(f'`{mode}`' for mode in MODES)} |\n|---|--:|{'--:|' * len(MODES)}")
    for trace in TRACES:
        pairs = zip(over_ideal(here, trace), over_ideal(there, trace), strict=True)
        ideal = f"{here[trace, 'ideal'] / 1000:.2g} ({there[trace, 'ideal'] / 1000:.2g})"
        print(f"| {trace} | {ideal} | {' | '.join(f'{ours:.2g} ({theirs:.2g})' for ours, theirs in pairs)} |")
    with rc_context(STYLE):
        sheet = Figure(figsize=(7.2, 2.2), layout="constrained")
        FigureCanvasAgg(sheet)
        panels = sheet.subplots(1, len(TRACES), sharey=True)
        panels[0].set_ylabel("p99 of reads over\nthat without GC")
        for panel, trace in zip(panels, TRACES, strict=True):
            panel.set_title(trace, fontsize="medium", loc="left")
            panel.plot(MODES, over_ideal(there, trace), color=COLOURS[1], marker="o", label="published")
            panel.plot(MODES, over_ideal(here, trace), color=COLOURS[0], marker="x", label="simulated")
            panel.set_yscale("log")
            panel.axhline(1, color="grey", linewidth=0.6)
        sheet.legend(*panel.get_legend_handles_labels(), loc="outside upper right", ncols=2)
        FIGURE.write_text(as_files(sheet)[0], encoding="utf-8")


if __name__ == "__main__":
    main()
