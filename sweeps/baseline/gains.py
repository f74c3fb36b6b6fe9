"""How much of a published gain is the choice of the baseline: gains of schemes in the sweeps of this folder, beside published numbers.

    python sweeps/baseline/gains.py results/baseline [--out docs]

A *choice* is a drive, a load and a scope of the baseline. Its gain is the geometric mean over traces of the scheme's figure over that of
its baseline, less 1. A pair with an overloaded point has no gain, since it grows with the length of the run. Ranges are over choices of
which all traces have a gain, so that all are means over the same traces; the others are counted.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import polars as pl

ROOT = Path(__file__).resolve().parents[2]
SCOPES = ("no scope", "block", "plane", "die", "chip", "channel", "device")
LAYER_SCOPES = ("host first", "die", "chip", "channel")
DIES = ("2 dies", "8 dies", "32 dies", "64 dies")
AGGREGATES = ("mean of all", "where it gains", "8 drives")
"""Texts of published numbers that sum up others."""
BESIDE = ("finding", "figure", "published", "low", "high", "inside")
START = ("8 dies", 0.6)
"""Drive and load from which one choice at a time is changed."""


@dataclass(frozen=True)
class Pair:
    """A scheme and its baseline: `own` is the scope of the paper's baseline, `published` texts in the names of findings, by figure."""

    paper: str
    scheme: str
    baseline: str
    own: str
    published: dict[str, tuple[str, ...]]

    @property
    def scopes(self) -> tuple[str, ...]:
        """Scopes of the baseline."""
        return LAYER_SCOPES if self.baseline else SCOPES

    def arms(self, scope: str) -> tuple[str, str]:
        """The arms of scheme and baseline at one scope."""
        return (f"{self.scheme}, {scope}", f"{self.baseline}, {scope}") if self.baseline else (self.scheme, scope)


PAIRS = (
    Pair("lee2013", "pgc", "", "die", {"mean": ("mean", ", pgc against npgc"), "variance": ("variance", ", pgc against npgc")}),
    Pair("ae2022", "bbgc", "", "die", {}),
    Pair("bux2011", "host first", "", "no scope", {}),
    Pair("wu2017", "gcar-lru", "lru", "die", {"mean": ("LRU, aware against not",)}),
    Pair("elyasi2017", "slacker", "fr-fcfs", "chip", {"mean": ("each request, slacker",)}),
)
FIGURES = {
    "mean": "latency_ns.all.mean",
    "mean of reads": "latency_ns.read.mean",
    "variance": "variance",
    "p99": "latency_ns.all.p99",
    "p99 of reads": "latency_ns.read.p99",
}


def findings(pair: Pair, figure: str) -> list[tuple[str, float]]:
    """Published changes of a pair: study and finding, and the change in percent."""
    words = pair.published.get(figure)
    if words is None:
        return []
    with (ROOT / "docs" / "studies" / f"{pair.paper}.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["published"] and row["unit"] == "%" and row["grade"] != "ours"]
    own = [row for row in rows if row["finding"].startswith(words[0]) and all(word in row["finding"] for word in words)]
    own = [row for row in own if not any(word in row["finding"] for word in AGGREGATES)]
    return [(f"{row['study']}: {row['finding']}", float(row["published"])) for row in own]


def published(pair: Pair, figure: str) -> list[float]:
    """Published changes of a pair, percent."""
    return [number for _, number in findings(pair, figure)]


def gains(points: pl.DataFrame) -> pl.DataFrame:
    """A row for each pair, figure, drive, load and scope: the change in percent, and the number of traces with and without a gain."""
    keys = ["drive", "load", "trace"]
    rows = []
    for pair in PAIRS:
        for scope in pair.scopes:
            new, old = (points.filter(pl.col("arm") == arm) for arm in pair.arms(scope))
            both = new.join(old, on=keys, suffix="_old")
            for figure, column in FIGURES.items():
                ratio = (pl.col(column) / pl.col(f"{column}_old")).log()
                keeps_up = ~(pl.col("overloaded") | pl.col("overloaded_old"))
                means = both.group_by("drive", "load", maintain_order=True).agg(
                    change=100 * (ratio.filter(keeps_up).mean().exp() - 1.0),
                    traces=keeps_up.sum(),
                    overloaded=(~keeps_up).sum(),
                )
                rows.append(means.with_columns(paper=pl.lit(pair.paper), figure=pl.lit(figure), scope=pl.lit(scope)))
    return pl.concat(rows)


def load(folder: Path) -> pl.DataFrame:
    """The points of a sweep with what `gains` needs."""
    points = pl.read_parquet(folder / "results.parquet")
    return points.with_columns(
        variance=pl.col("latency_ns.all.std") ** 2,
        overloaded=pl.col("remarks").fill_null("").str.split(" ").list.contains("overloaded"),
    )


def complete(rows: pl.DataFrame) -> pl.DataFrame:
    """The choices of which all traces have a gain."""
    return rows.filter(pl.col("overloaded") == 0)


def spread(rows: pl.DataFrame) -> tuple[float, float] | None:
    """Least and largest change of choices of which all traces have a gain."""
    changes = complete(rows)["change"].drop_nulls().drop_nans()
    return (changes.min(), changes.max()) if len(changes) else None  # type: ignore[return-value]


def text(ends: tuple[float, float] | None) -> str:
    """A range as text, percent."""
    return "overloaded" if ends is None else f"{ends[0]:.0f} to {ends[1]:.0f}"


def summary(all_gains: pl.DataFrame) -> list[dict[str, object]]:
    """For each pair and figure: the gain at the scope that the paper's baseline has, and ranges over one choice and over all."""
    out: list[dict[str, object]] = []
    drive, rate = START
    for pair in PAIRS:
        for figure in FIGURES:
            mine = all_gains.filter((pl.col("paper") == pair.paper) & (pl.col("figure") == figure))
            own = mine.filter(pl.col("scope") == pair.own)
            here = (pl.col("drive") == drive) & (pl.col("load") == rate)
            numbers = published(pair, figure)
            by_scope = spread(mine.filter(here))
            inside = sum(by_scope is not None and by_scope[0] <= number <= by_scope[1] for number in numbers)
            at_load = own.filter(pl.col("load") == rate)
            out.append({
                "paper": pair.paper,
                "figure": figure,
                "published": text((min(numbers), max(numbers))) if numbers else "",
                "own scope": text(spread(own.filter(here))),
                "scope": text(by_scope),
                "dies": text(spread(at_load.filter(pl.col("drive").is_in(DIES)))),
                "block, jobs": text(spread(at_load.filter((pl.col("drive") == drive) | ~pl.col("drive").is_in(DIES)))),
                "load": text(spread(own.filter(pl.col("drive") == drive))),
                "all": text(spread(mine)),
                "inside scope": f"{inside} of {len(numbers)}" if numbers else "",
                "choices": f"{len(complete(mine))} of {len(mine)}",
            })  # fmt: skip
    return out


def beside_published(all_gains: pl.DataFrame) -> Iterator[tuple[object, ...]]:
    """For each published change, with the heads `BESIDE`: the least and the largest change that scopes of the baseline make."""
    for pair in PAIRS:
        for figure in FIGURES:
            start = (pl.col("drive") == START[0]) & (pl.col("load") == START[1])
            ends = spread(all_gains.filter((pl.col("paper") == pair.paper) & (pl.col("figure") == figure) & start))
            for name, number in findings(pair, figure):
                low, high = ends or (math.nan, math.nan)
                yield name, figure, number, round(low, 1), round(high, 1), "yes" if low <= number <= high else "no"


def table(rows: list[dict[str, object]]) -> str:
    """Rows as Markdown."""
    names = list(rows[0])
    lines = [names, ["---"] * len(names), *([str(row[name]) for name in names] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def picture(all_gains: pl.DataFrame, path: Path) -> None:
    """Draws the changes of the mean of all choices as dots, by paper and scope, with published numbers."""
    figure, panels = plt.subplots(1, len(PAIRS), figsize=(11, 3.4), sharey=True, layout="constrained")
    for pair, panel in zip(PAIRS, panels, strict=True):
        mine = all_gains.filter((pl.col("paper") == pair.paper) & (pl.col("figure") == "mean"))
        for number in published(pair, "mean"):
            panel.axhline(number, color="tab:red", lw=0.8, alpha=0.6)
        for place, scope in enumerate(pair.scopes):
            changes = complete(mine).filter(pl.col("scope") == scope)["change"].drop_nulls().to_list()
            panel.plot([place] * len(changes), changes, "o", ms=4, alpha=0.6, color="tab:blue" if scope != pair.own else "black")
        panel.set_xticks(range(len(pair.scopes)), pair.scopes, rotation=60, ha="right", fontsize=8)
        panel.set_title(f"{pair.paper}: {pair.scheme}", fontsize=9)
        panel.axhline(0, color="grey", lw=0.5)
    panels[0].set_ylabel("change of the mean (%)")
    plt.rcParams["svg.hashsalt"] = "baseline"  # the same points make the same file
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    """Prints the summary, and writes all gains and the picture."""
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    words.add_argument("folder", type=Path, help="folder of the sweep's results")
    words.add_argument("--out", type=Path, help="folder in whose folder studies are the tables, and in whose folder images is the picture")
    chosen = words.parse_args()
    found = gains(load(chosen.folder))
    print(table(summary(found)))
    if chosen.out is not None:
        found.select("paper", "figure", "drive", "load", "scope", "change", "traces", "overloaded").write_csv(
            chosen.out / "studies" / "baseline.csv", float_precision=4
        )
        with (chosen.out / "studies" / "baseline-published.csv").open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([BESIDE, *beside_published(found)])
        picture(found, chosen.out / "images" / "baseline.svg")


if __name__ == "__main__":
    main()
