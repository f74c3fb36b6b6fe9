"""Shows what learned models of the mapping table save, from the results of a sweep.

    .venv/bin/ssdlab sweep sweeps/mapping/mapping.toml --out results/mapping
    .venv/bin/python tools/mapping.py results/mapping

It prints the table of `docs/learned-mapping.md`, and writes `docs/images/mapping.svg`.
"""

from __future__ import annotations

import csv
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
SWEEP = ROOT / "sweeps" / "mapping" / "mapping.toml"
FIGURE = ROOT / "docs" / "images" / "mapping.svg"
TABLE_KIB = 4096.0
"""The mapping table of 4 GiB: 4 bytes for each 4 KiB."""

Row = dict[str, float]
Point = tuple[str, str, str]
"""Drive, mapping and trace."""


def count(row: dict[str, str], name: str) -> float:
    """A figure of the mapping; 0 where the whole table is in memory."""
    return float(row.get(f"mapping.{name}") or 0)


def of_row(row: dict[str, str], settings: dict[str, Any]) -> Row:
    """The figures of a run."""
    cached = settings.get("ftl", {}).get("map_cache_bytes", 0)
    models = count(row, "model_bytes")
    waits = count(row, "misses") - count(row, "unread") + count(row, "mispredicted")
    return {
        "memory": (cached + models) / 1024 or TABLE_KIB,
        "waits": waits / float(row["requests.read"]),
        "mean": float(row["latency_ns.read.mean"]) / 1e3,
        "p99": float(row["latency_ns.read.p99"]) / 1e3,
    }


def points_of(results: Path) -> dict[Point, Row]:
    """The points of the sweep."""
    grid = tomllib.loads(SWEEP.read_text(encoding="utf-8"))["grid"]
    settings = {way["label"]: way.get("set", {}) for way in grid["mapping"]}
    with (results / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = {(row["drive"], row["mapping"], Path(row["trace"]).name.split(".")[0]): of_row(row, settings[row["mapping"]]) for row in rows}
    assert len(found) == len(grid["trace"]) * len(grid["drive"]) * len(grid["mapping"]), f"{len(found)} results"
    return found


def number(value: float) -> str:
    """Three digits, without an exponent."""
    return f"{float(f'{value:.3g}'):,g}"


def main() -> None:
    """Prints the table and draws the figure."""
    points = points_of(Path(sys.argv[1]))
    drives, ways, traces = ([*dict.fromkeys(point[axis] for point in points)] for axis in range(3))
    print(f"| drive | mapping | {' | '.join(f'{trace}: KiB | waits | p99, us' for trace in traces)} |")
    print("|---|---|" + "--:|" * 3 * len(traces))
    for drive in drives:
        for way in ways:
            cells = [number(points[drive, way, trace][name]) for trace in traces for name in ("memory", "waits", "p99")]
            print(f"| {drive} | {way} | {' | '.join(cells)} |")
    draw(points, drives, ways, traces)


def draw(points: dict[Point, Row], drives: list[str], ways: list[str], traces: list[str]) -> None:
    """Draws the memory that each mapping takes, and the tail of reads on the drive filled in order."""
    places = [*range(len(ways))]
    with rc_context(STYLE):
        sheet = Figure(figsize=(7.2, 3.2), layout="constrained")
        FigureCanvasAgg(sheet)
        memory, tail = sheet.subplots(1, 2, sharey=True)
        names = {"filled": "filled in order", "in use": "overwritten at random"}
        for drive, colour in zip(drives, COLOURS[3:], strict=False):
            mean = [fmean(points[drive, way, trace]["memory"] for trace in traces) for way in ways]
            filling = {"markerfacecolor": "none", "markersize": 9} if drive == "in use" else {}
            memory.plot(mean, places, "D", color=colour, label=names[drive], **filling)
        memory.set_xlabel("memory, KiB: mean of the traces")
        for trace, colour, marker in zip(traces, COLOURS, "os^", strict=False):
            tail.plot([points[drives[0], way, trace]["p99"] for way in ways], places, marker, color=colour, label=trace)
        tail.set_xlabel("p99 of reads, us: filled in order")
        memory.set_yticks(places, ways)
        memory.invert_yaxis()
        for panel, ticks in ((memory, (200, 500, 1000, 2000, 5000)), (tail, (100, 200, 500, 1000, 2000, 5000))):
            panel.set_xscale("log")
            panel.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
            panel.minorticks_off()
            panel.grid(axis="y")
        sheet.legend(loc="outside upper right", ncols=5, fontsize="small", handletextpad=0.1, columnspacing=0.8)
        FIGURE.write_text(as_files(sheet)[0], encoding="utf-8")


if __name__ == "__main__":
    main()
