"""Shows what protects a quiet tenant from a noisy one, from the results of a sweep.

    .venv/bin/ssdlab sweep sweeps/tenants/tenants.toml --out results/tenants
    .venv/bin/python tools/tenants.py results/tenants

It prints the table of `docs/tenants.md`, and writes `docs/images/tenants.svg`.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from statistics import fmean
from typing import Any

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ssdlab.pages.colours import COLOURS
from ssdlab.pages.drawings import STYLE, as_files

ROOT = Path(__file__).resolve().parent.parent
SWEEP = ROOT / "sweeps" / "tenants" / "tenants.toml"
FIGURE = ROOT / "docs" / "images" / "tenants.svg"

Row = dict[str, float]
"""The means over seeds of a point."""


def of_result(result: dict[str, Any]) -> Row:
    """The figures of a run."""
    quiet, noisy = result["flows"]
    assert (quiet["name"], noisy["name"]) == ("database", "batch"), "flows in another order"
    return {
        "quiet": quiet["alone"]["slowdown"],
        "noisy": noisy["alone"]["slowdown"],
        "fairness": result["fairness"]["ratio"],
        "weighted": result["fairness"]["weighted_speedup"],
        "reads": quiet["latency_ns"]["read"]["mean"] / 1e3,
        "reads p99": quiet["latency_ns"]["read"]["p99"] / 1e6,
        "writes": quiet["latency_ns"]["write"]["mean"] / 1e3,
        "MB/s": noisy["bandwidth_mb_s"]["read"] + noisy["bandwidth_mb_s"]["write"],
        "wa": result["gc"]["write_amplification"],
    }


def rows(results: Path) -> dict[tuple[str, str], Row]:
    """The points of the sweep, by limit of commands and protection."""
    sweep = tomllib.loads(SWEEP.read_text(encoding="utf-8"))
    found = {}
    for commands in sweep["grid"]["commands"]:
        for way in sweep["grid"]["protection"]:
            point = f"commands={commands['label']}_protection={way['label']}_seed=".replace(" ", "-")
            files = [file for folder in results.glob(f"{point}*") for file in folder.glob("result.json")]
            assert len(files) == len(sweep["grid"]["seed"]), f"{len(files)} results of {point}"
            of_seeds = [of_result(json.loads(file.read_text(encoding="utf-8"))) for file in files]
            found[commands["label"], way["label"]] = {name: fmean(row[name] for row in of_seeds) for name in of_seeds[0]}
    return found


def main() -> None:
    """Prints the table and draws the figure."""
    points = rows(Path(sys.argv[1]))
    print("| commands | protection | database | batch | fairness | weighted speedup | reads, us | p99, ms | writes, us | MB/s | WA |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for (commands, way), row in points.items():
        print(f"| {commands} | {way} | {' | '.join(f'{value:.3g}' for value in row.values())} |")
    limits = list(dict.fromkeys(commands for commands, _ in points))
    with rc_context(STYLE):
        sheet = Figure(figsize=(7.2, 3.0), layout="constrained")
        FigureCanvasAgg(sheet)
        for panel, commands in zip(sheet.subplots(1, len(limits), sharey=True), limits, strict=True):
            ways = [way for of, way in points if of == commands]
            panel.set_title(commands, fontsize="medium", loc="left")
            for shift, kind, colour in ((-0.2, "reads", COLOURS[0]), (0.2, "writes", COLOURS[1])):
                at = [place + shift for place in range(len(ways))]
                panel.barh(at, [points[commands, way][kind] for way in ways], height=0.4, color=colour, label=f"{kind} of the database")
            panel.set_yticks(range(len(ways)), ways)
            panel.set_xscale("log")
            panel.set_xlabel("mean response time, us")
        panel.invert_yaxis()  # shared by the panels
        sheet.legend(*panel.get_legend_handles_labels(), loc="outside upper right", ncols=2)
        FIGURE.write_text(as_files(sheet)[0], encoding="utf-8")


if __name__ == "__main__":
    main()
