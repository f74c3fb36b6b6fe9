"""For each drive and load of a sweep of this folder: in how many traces the host first is faster than whole jobs on a die, and by how much.

    python sweeps/claims/signs.py results/claims [--figure latency_ns.read.p99]

The size is the geometric mean over traces under which both drives complete what they are offered; with others it would be as large as the
run is long.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import polars as pl

KEYS = ["drive", "load", "trace", "seed"]


def pairs(folder: Path, figure: str) -> pl.DataFrame:
    """The logarithm of the ratio for each drive, load, trace and seed, and whether both keep up."""
    overloaded = pl.col("remarks").fill_null("").str.split(" ").list.contains("overloaded")
    points = pl.read_parquet(folder / "results.parquet").filter(pl.col("beside") == "nothing")
    points = points.select(*KEYS, "gc", figure, keeps_up=~overloaded)
    first, whole = (points.filter(pl.col("gc") == gc) for gc in ("host first", "whole jobs, die"))
    both = first.join(whole, on=KEYS, suffix="_whole").filter((pl.col(figure) > 0) & (pl.col(f"{figure}_whole") > 0))
    return both.select(
        *KEYS, ratio=(pl.col(figure) / pl.col(f"{figure}_whole")).log(), keeps_up=pl.col("keeps_up") & pl.col("keeps_up_whole")
    )


def main() -> None:
    """Prints a line for each drive and load."""
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    words.add_argument("folder", type=Path, help="folder of the sweep's results")
    words.add_argument("--figure", default="latency_ns.read.p99", help="the figure, by path")
    chosen = words.parse_args()
    for (drive, load), rows in pairs(chosen.folder, chosen.figure).group_by("drive", "load", maintain_order=True):
        kept = rows.filter(pl.col("keeps_up"))["ratio"].to_list()
        size = f", {100 * math.expm1(math.fsum(kept) / len(kept)):.0f} % in {len(kept)} that keep up" if kept else ""
        print(f"{drive} at {load:.0%}: lower in {sum(ratio < 0 for ratio in rows['ratio'])} of {len(rows)}{size}")


if __name__ == "__main__":
    main()
