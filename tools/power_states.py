"""Shows what power states save and what they cost, from the results of a sweep.

    .venv/bin/ssdlab sweep sweeps/power-states/power-states.toml --out results/power-states
    .venv/bin/python tools/power_states.py results/power-states

It prints the table of `docs/power-states.md`, and writes `docs/images/power-states.svg`.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from statistics import fmean

import pyarrow.parquet
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ssdlab.pages.colours import COLOURS
from ssdlab.pages.drawings import STYLE, as_files

ROOT = Path(__file__).resolve().parent.parent
FIGURE = ROOT / "docs" / "images" / "power-states.svg"
FIGURES = {
    "mean power, mW": ("energy.mean_w", 1e3),
    "mean, ms": ("latency_ns.all.mean", 1e-6),
    "p99, ms": ("latency_ns.all.p99", 1e-6),
    "p99.9, ms": ("latency_ns.all.p99_9", 1e-6),
}


def rows(results: Path) -> dict[tuple[str, str], dict[str, float]]:
    """The means over seeds of the points, by load and states."""
    found = defaultdict(list)
    for row in pyarrow.parquet.read_table(results / "results.parquet").to_pylist():
        found[row["load"], row["states"]].append(row)
    means = {name: place for name, (place, _) in FIGURES.items()}
    return {
        point: {name: fmean(row[place] for row in of_seeds) * FIGURES[name][1] for name, place in means.items()}
        for point, of_seeds in found.items()
    }


def main() -> None:
    """Prints the table and draws the figure."""
    points = rows(Path(sys.argv[1]))
    print(f"| a request | states | {' | '.join(FIGURES)} |")
    print(f"|---|---|{'--:|' * len(FIGURES)}")
    for (load, states), row in points.items():
        print(f"| {load} | {states} | {' | '.join(f'{value:.3g}' for value in row.values())} |")
    loads, ways = (list(dict.fromkeys(point[axis] for point in points)) for axis in (0, 1))
    with rc_context(STYLE):
        sheet = Figure(figsize=(7.2, 3.2), layout="constrained")
        FigureCanvasAgg(sheet)
        shown = {"mean power, mW": (20, 50, 100, 200, 500), "p99, ms": (0.1, 0.2, 0.5, 1, 2, 5, 10)}
        for panel, (name, ticks) in zip(sheet.subplots(1, 2), shown.items(), strict=True):
            for place, (way, colour) in enumerate(zip(ways, COLOURS, strict=False)):
                at = [number + (place - (len(ways) - 1) / 2) * 0.14 for number in range(len(loads))]
                panel.bar(at, [points[load, way][name] for load in loads], 0.13, color=colour, label=way)
            panel.set_xticks(range(len(loads)), loads)
            panel.set_yscale("log")
            panel.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
            panel.minorticks_off()
            panel.set_ylabel(name)
        sheet.legend(*panel.get_legend_handles_labels(), loc="outside lower center", ncols=2)
        FIGURE.write_text(as_files(sheet)[0], encoding="utf-8")


if __name__ == "__main__":
    main()
