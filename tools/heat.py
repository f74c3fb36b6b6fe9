"""Shows what throttling does to the rate and the tail of writes, from the results of a sweep.

    .venv/bin/ssdlab sweep sweeps/heat/heat.toml --out results/heat
    .venv/bin/python tools/heat.py results/heat

It prints the table of `docs/heat.md`, and writes `docs/images/heat.svg`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ssdlab.pages.colours import COLOURS
from ssdlab.pages.drawings import STYLE, as_files

ROOT = Path(__file__).resolve().parent.parent
FIGURE = ROOT / "docs" / "images" / "heat.svg"
CASES = {
    "sink": "heat sink",
    "bare": "no heat sink",
    "warm": "and 40 °C around instead of 25",
    "low-cap": "and a lower cap, 5 W from 70 °C on",
    "unthrottled": "neither heat sink nor throttling",
}
DRAWN = ("sink", "bare", "unthrottled")
MEAN_OF = 10
"""Bins of the series that a drawn rate is the mean of."""
SIZE, SLOWER = 8, 24
"""The drive has an eighth of the dies, and its times are a 24th."""


def row(result: dict[str, Any]) -> str:
    """The cells of a case, for the whole drive."""
    seconds, thermal = result["simulated_ns"] / 1e9, result["thermal"]
    throttled = sum(thermal[key] for key in ("light_ns", "heavy_ns", "stopped_ns")) / 1e9 / seconds
    rate, p99 = result["bytes_written"]["host"] / 1e9 / seconds * SIZE, result["latency_ns"]["write"]["p99"] / 1e6
    return f"{rate:.2f} | {p99:.1f} | {result['energy']['mean_w'] * SIZE:.1f} | {thermal['max_c']:.1f} | {throttled:.0%}"


def main() -> None:
    """Prints the table and draws the figure."""
    folder = Path(sys.argv[1])
    results = {case: json.loads((folder / f"case={case}" / "result.json").read_text(encoding="utf-8")) for case in CASES}
    print("| | GB/s | p99, ms | mean, W | hottest, °C | throttled |\n|---|--:|--:|--:|--:|--:|")
    for case, name in CASES.items():
        print(f"| {name} | {row(results[case])} |")
    with rc_context(STYLE):
        sheet = Figure(figsize=(7.2, 4.2), layout="constrained")
        FigureCanvasAgg(sheet)
        degrees, rates = sheet.subplots(2, 1, sharex=True)
        for case, colour in zip(DRAWN, COLOURS, strict=False):
            series = results[case]["series"]
            seconds = [series["bin_ns"] * number / 1e9 * SLOWER for number in range(series["bins"])]
            degrees.plot(seconds, series["thermal"]["mean_c"], color=colour, label=CASES[case])
            if case != "unthrottled":  # as with a heat sink
                written = series["written"]["host_bytes"]
                whole = range(0, len(written) - MEAN_OF, MEAN_OF)
                means = [sum(written[at : at + MEAN_OF]) / MEAN_OF / series["bin_ns"] * SIZE for at in whole]
                rates.plot([seconds[at] for at in whole], means, color=colour)
        for limit in (70, 75):
            degrees.axhline(limit, color="grey", linewidth=0.6)
        degrees.set_ylabel("°C")
        rates.set_ylabel("GB/s")
        rates.set_ylim(bottom=0)
        rates.set_xlabel("s")
        sheet.legend(*degrees.get_legend_handles_labels(), loc="outside upper center", ncols=3)
        FIGURE.write_text(as_files(sheet)[0], encoding="utf-8")


if __name__ == "__main__":
    main()
