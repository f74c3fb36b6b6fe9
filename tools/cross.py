"""What the table of sweeps/cross says: which scheme is best, what each mechanism does, and which add up or cancel.

    python tools/cross.py RESULTS.parquet sweeps/cross/cross.parquet

keeps the columns that the page needs. `make docs` makes the page and its figures of the stored tables.

All effects are differences of logarithms between points that differ in one mechanism only, and serve the same requests (common random
numbers). An effect under a workload is the mean over all such pairs and loads. Its interval is Student's t over the workloads: it says how
far the effect holds beyond those that were run. An interaction is the effect of one mechanism with another one on, less that with it off.
"""

from __future__ import annotations

import io
import itertools
import math
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ssdlab.analysis.uncertainty import Estimate
from ssdlab.pages.tables.numbers import three

TIMES = "\N{MULTIPLICATION SIGN}"
INTERACTIONS = (0.1, 0.5, 0.9, 1, 1.1, 2, 10)
"""Ticks of the figure of interactions."""
ROOT = Path(__file__).resolve().parent.parent
STORED = ROOT / "sweeps" / "cross" / "cross.parquet"
FLOWS, SETTLED = STORED.with_name("flows.parquet"), STORED.with_name("settled.parquet")

FACTORS = ("gc", "order", "cache", "idle", "placement")
BASELINE = {"gc": "npgc", "order": "fcfs", "cache": "none", "idle": "off", "placement": "static"}
CHANGES = (("gc", "rwp"), ("gc", "pgc"), ("order", "reads first"), ("cache", "gcar-lru"), ("idle", "on"), ("placement", "dynamic"))
"""What each mechanism changes from the baseline."""
SHARED = {"gc": "npgc", "order": "fcfs", "idle": "off", "queues": "one"}
"""The baseline of several flows on one drive."""
SHARED_CHANGES = (("gc", "rwp"), ("gc", "pgc"), ("order", "reads first"), ("idle", "on"), ("queues", "in turns"), ("queues", "weighted"))
BLOCK = ("drive", "workload", "load", "seed")
"""Columns that say under what a scheme was run. Points of one block serve the same requests."""
FIGURES = {
    "mean": ("latency_ns.all.mean", "mean"),
    "p99": ("latency_ns.all.p99", "p99"),
    "p99.9": ("latency_ns.all.p99_9", "p99.9"),
    "read p99": ("latency_ns.read.p99", "p99 of reads"),
    "write amplification": ("gc.write_amplification", "write amplification"),
    "energy": ("energy.nj_per_byte", "energy for a byte"),
    "erases": ("gc.erases", "erases"),
    "fairness": ("fairness.ratio", "fairness"),
    **{f"slowdown of {flow}": (f"slowdown_of_{flow}", f"slowdown of the {flow}") for flow in ("reader", "writer", "mix")},
}
"""Figures that are compared: column of the sweep's table, and words."""
KEPT = (
    *("latency_ns.all.mean", "latency_ns.all.p99", "latency_ns.all.p99_9", "latency_ns.read.mean", "latency_ns.read.p99"),
    *("latency_ns.write.mean", "latency_ns.write.p99", "gc.write_amplification", "gc.jobs", "gc.pages_moved", "gc.erases"),
    *("energy.nj_per_byte", "iops", "breakdown_ns.all.gc", "breakdown_ns.all.die_queue", "breakdown_ns.read.gc"),
    *("breakdown_ns.read.die_queue", "breakdown_ns.all.retry", "breakdown_ns.all.pace", "breakdown_ns.all.array", "cache.write_hits"),
    *("fairness.ratio", "fairness.worst_slowdown", "slowdown_of_reader", "slowdown_of_writer", "slowdown_of_mix"),
)
"""Columns of numbers that are stored."""


# ---- the table ---------------------------------------------------------------------------------------------------------


def store(source: Path, target: Path) -> None:
    """Writes the columns that are kept, as small as they can be: numbers with 24 bits, texts by number."""
    table = pq.read_table(source)
    axes = [name for name in (*BLOCK[:-1], *FACTORS, "queues", "attack", "scheme of a paper") if name in table.column_names]
    columns: dict[str, pa.ChunkedArray] = {axis: pc.dictionary_encode(pc.cast(table[axis], pa.string())) for axis in axes}
    columns["seed"] = pc.cast(table["seed"], pa.int16())
    columns |= {name: pc.cast(table[name], pa.float32(), safe=False) for name in KEPT if name in table.column_names}
    columns["remarks"] = pc.dictionary_encode(table["remarks"])
    columns["digest"] = pc.utf8_slice_codeunits(table["digest"], 0, 8)
    pq.write_table(pa.table(columns), target, compression="zstd", compression_level=19)
    print(f"{target}: {len(table):,} runs, {target.stat().st_size:,} bytes")


@dataclass(frozen=True)
class Runs:
    """Runs by block and scheme."""

    rows: Sequence[Mapping[str, Any]]

    @classmethod
    def read(cls, file: Path) -> Runs:
        """The runs of a stored table."""
        return cls(pq.read_table(file).to_pylist())

    def where(self, **values: Any) -> Runs:
        """The runs with these values."""
        return Runs([row for row in self.rows if all(row[name] == value for name, value in values.items())])

    def values(self, name: str) -> list[Any]:
        """The different values of a column, in their order."""
        return list(dict.fromkeys(row[name] for row in self.rows))

    def blocks(self, figure: str, factors: Sequence[str] = FACTORS) -> dict[tuple[Any, ...], dict[tuple[str, ...], float]]:
        """The logarithm of a figure by block, and there by the values of the factors. Runs without the figure are left out."""
        found: dict[tuple[Any, ...], dict[tuple[str, ...], float]] = {}
        column = FIGURES[figure][0]
        for row in self.rows:
            value = row.get(column)
            if value:
                found.setdefault(tuple(row[name] for name in BLOCK), {})[tuple(row[name] for name in factors)] = math.log(value)
        return found


# ---- effects -----------------------------------------------------------------------------------------------------------


def over_workloads(of_blocks: Mapping[tuple[Any, ...], float]) -> Estimate | None:
    """The mean over workloads of the means over their blocks, with the interval over workloads; `None` without a block."""
    workloads: dict[Any, list[float]] = {}
    for block, value in of_blocks.items():
        workloads.setdefault((block[1]), []).append(value)
    return Estimate.of([math.fsum(values) / len(values) for values in workloads.values()]) if workloads else None


def turned(point: tuple[str, ...], factor: str, value: str, factors: Sequence[str] = FACTORS) -> tuple[str, ...]:
    """A point with another value of a factor."""
    place = factors.index(factor)
    return (*point[:place], value, *point[place + 1 :])


def effect(runs: Runs, figure: str, factor: str, value: str, baseline: Mapping[str, str] = BASELINE) -> Estimate | None:
    """The mean difference of the logarithm between points with `value` and the same points with the value of the baseline."""
    factors = tuple(baseline)
    place = factors.index(factor)
    found: dict[tuple[Any, ...], float] = {}
    for block, points in runs.blocks(figure, factors).items():
        pairs = [
            at - points[other]
            for point, at in points.items()
            if point[place] == value and (other := turned(point, factor, baseline[factor], factors)) in points
        ]
        if pairs:
            found[block] = math.fsum(pairs) / len(pairs)
    return over_workloads(found)


def interaction(runs: Runs, figure: str, one: tuple[str, str], other: tuple[str, str]) -> Estimate | None:
    """The effect of `one` with `other` on, less that with it off, over all values of the other factors."""
    found: dict[tuple[Any, ...], float] = {}
    places = [FACTORS.index(factor) for factor, _ in (one, other)]
    for block, points in runs.blocks(figure).items():
        squares = []
        for point, both in points.items():
            if [point[place] for place in places] != [one[1], other[1]]:
                continue
            only_one = turned(point, other[0], BASELINE[other[0]])
            only_other = turned(point, one[0], BASELINE[one[0]])
            neither = turned(only_one, one[0], BASELINE[one[0]])
            if only_one in points and only_other in points and neither in points:
                squares.append(both - points[only_one] - points[only_other] + points[neither])
        if squares:
            found[block] = math.fsum(squares) / len(squares)
    return over_workloads(found)


def scores(runs: Runs, figure: str) -> dict[tuple[str, ...], Estimate]:
    """For each scheme its figure against the baseline, as a difference of logarithms over workloads. Only schemes of every block."""
    blocks = runs.blocks(figure)
    base = tuple(BASELINE.values())
    found: dict[tuple[str, ...], dict[tuple[Any, ...], float]] = {}
    for block, points in blocks.items():
        start = points.get(base, points.get(turned(base, "placement", "dynamic")))
        for point, at in points.items():
            if start is not None:
                found.setdefault(point, {})[block] = at - start
    whole = {point: over_workloads(of) for point, of in found.items() if len(of) == len(blocks)}
    return {point: estimate for point, estimate in whole.items() if estimate is not None}


def difference(runs: Runs, figure: str, one: tuple[str, ...], other: tuple[str, ...]) -> Estimate | None:
    """The figure of one scheme against another's."""
    both = {block: points[one] - points[other] for block, points in runs.blocks(figure).items() if one in points and other in points}
    return over_workloads(both)


def contrast(runs: Runs, figure: str, terms: Sequence[tuple[int, tuple[str, ...]]], factors: Sequence[str] = FACTORS) -> Estimate | None:
    """A sum of logarithms of a figure of several schemes, each with a sign, over the blocks that have them all."""
    found = {
        block: float(sum(sign * points[scheme] for sign, scheme in terms))
        for block, points in runs.blocks(figure, factors).items()
        if all(scheme in points for _, scheme in terms)
    }
    return over_workloads(found)


def front(points: Mapping[tuple[str, ...], tuple[float, float]]) -> list[tuple[str, ...]]:
    """The points that no other one beats in both numbers, by the first number."""
    kept: list[tuple[str, ...]] = []
    lowest = math.inf
    for point, (_, second) in sorted(points.items(), key=lambda entry: entry[1]):
        if second < lowest:
            kept.append(point)
            lowest = second
    return kept


# ---- words -------------------------------------------------------------------------------------------------------------


def percent(estimate: Estimate | None, *, bold: bool = True) -> str:
    """A difference of logarithms as a change in percent, with the ends of its interval; bold if the interval leaves out 0."""
    if estimate is None:
        return "-"
    if estimate.half is None:
        return f"{signed(100 * math.expm1(estimate.mean))} (one workload)"
    centre, half = estimate.mean, estimate.half or 0.0
    middle, low, high = (100 * math.expm1(at) for at in (centre, centre - half, centre + half))
    text = f"{signed(middle)} ({signed(low)} to {signed(high)})"
    return f"**{text}**" if bold and not estimate.is_tie else text


def signed(value: float) -> str:
    """A number with its sign and two or three digits."""
    return f"{value:+.0f}" if abs(value) >= 10 else f"{value:+.1f}"


def name_of(point: tuple[str, ...]) -> str:
    """What a scheme has beside the baseline."""
    parts = []
    for factor, value in zip(FACTORS, point, strict=True):
        if value != BASELINE[factor] or factor == "gc":
            parts.append(word_of(value))
    return ", ".join(parts)


def word_of(value: str) -> str:
    """A value of a factor as it stands by itself."""
    return "idle" if value == "on" else value


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines of a table."""
    yield f"| {' | '.join(head)} |"
    yield "|---|" + "--:|" * (len(head) - 1)
    for row in rows:
        yield f"| {' | '.join(row)} |"


# ---- figures -----------------------------------------------------------------------------------------------------------


def svg(sheet: Any) -> str:
    """A figure as text; equal data give equal texts."""
    written = io.StringIO()
    sheet.savefig(written, metadata={"Date": None})
    return written.getvalue()


def new_sheet(width: float, height: float, **more: Any) -> tuple[Any, Any]:
    """A figure and its axes."""
    import matplotlib as mpl  # noqa: PLC0415 (not needed to store)
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    mpl.rcParams.update({"svg.hashsalt": "cross", "svg.fonttype": "none", "font.size": 8})
    sheet = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasSVG(sheet)
    return sheet, sheet.subplots(**more)


def few_ticks(low: float, high: float) -> list[float]:
    """Two or three factors between two logarithms, so that their labels fit under a narrow picture."""
    for factors in ((0.9, 1, 1.1), (0.8, 1, 1.25), (0.5, 1, 2), (0.3, 1, 3), (0.01, 0.1, 1, 10)):
        inside = [factor for factor in factors if low <= math.log(factor) <= high]
        if len(inside) > 1 and math.log(inside[1] / inside[0]) > (high - low) / 4:
            return inside
    return [1]


def draw_effects(runs: Runs, figure: str) -> str:
    """Effects of each mechanism by drive, with intervals."""
    drives = runs.values("drive")
    sheet, panels = new_sheet(7.2, 3.0, nrows=1, ncols=len(CHANGES), sharey=True)
    for axes, (factor, value) in zip(panels, CHANGES, strict=True):
        for place, drive in enumerate(drives):
            found = effect(runs.where(drive=drive), figure, factor, value)
            if found is not None:
                axes.errorbar(found.mean, place, xerr=found.half or 0, fmt="o", ms=3, lw=1, color="C3" if found.is_tie else "C0")
        axes.axvline(0, color="0.7", lw=0.8, zorder=0)
        axes.set_title(f"{factor}:\n{value}", fontsize=8)
        ticks = few_ticks(*axes.get_xlim())
        axes.set_xticks([math.log(tick) for tick in ticks], [f"{TIMES}{tick:g}" for tick in ticks])
    panels[0].set_yticks(range(len(drives)), drives)
    panels[0].invert_yaxis()
    sheet.supxlabel(f"{FIGURES[figure][1]} against the same scheme without the mechanism")
    return svg(sheet)


def draw_heat(runs: Runs, figure: str) -> str:
    """Each scheme against the baseline, by drive."""
    drives = runs.values("drive")
    of_drives = {drive: scores(runs.where(drive=drive), figure) for drive in drives}
    schemes = sorted({point for of in of_drives.values() for point in of}, key=lambda point: _mean_score(of_drives, point))
    values = np.array([[of_drives[drive][point].mean if point in of_drives[drive] else np.nan for drive in drives] for point in schemes])
    sheet, axes = new_sheet(6.4, 0.14 * len(schemes) + 0.8)
    reach = float(np.nanquantile(np.abs(values), 0.95))
    picture = axes.pcolormesh(values, cmap="RdBu_r", vmin=-reach, vmax=reach)
    axes.set_yticks(np.arange(len(schemes)) + 0.5, [name_of(point) for point in schemes], fontsize=6)
    axes.set_xticks(np.arange(len(drives)) + 0.5, drives, rotation=20)
    axes.invert_yaxis()
    ticks = [factor for factor in (0.01, 0.03, 0.1, 0.3, 0.5, 1, 2, 3, 10) if abs(math.log(factor)) <= reach]
    bar = sheet.colorbar(picture, ax=axes, ticks=[math.log(tick) for tick in ticks])
    bar.ax.set_yticklabels([f"{TIMES}{tick:g}" for tick in ticks])
    bar.set_label(f"{FIGURES[figure][1]} against the baseline")
    return svg(sheet)


def _mean_score(of_drives: Mapping[str, Mapping[tuple[str, ...], Estimate]], point: tuple[str, ...]) -> float:
    known = [of[point].mean for of in of_drives.values() if point in of]
    return math.fsum(known) / len(known)


def pairs_of_changes() -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """The pairs of mechanisms that can be on together."""
    return [(one, other) for one, other in itertools.combinations(CHANGES, 2) if one[0] != other[0]]


def draw_interactions(runs: Runs, figure: str) -> str:
    """Interactions of all pairs of mechanisms, by drive."""
    drives, pairs = runs.values("drive"), pairs_of_changes()
    sheet, axes = new_sheet(6.4, 4.2)
    for shift, drive in enumerate(drives):
        of_drive = runs.where(drive=drive)
        for place, (one, other) in enumerate(pairs):
            found = interaction(of_drive, figure, one, other)
            if found is not None:
                at = place + (shift - len(drives) / 2) * 0.13
                axes.errorbar(
                    found.mean, at, xerr=found.half or 0, fmt="o", ms=2.5, lw=0.8, color=f"C{shift}", label=drive if place == 0 else ""
                )
    axes.axvline(0, color="0.7", lw=0.8, zorder=0)
    axes.set_yticks(range(len(pairs)), [f"{word_of(one[1])} and {word_of(other[1])}" for one, other in pairs])
    axes.set_xscale("symlog", linthresh=0.1)
    axes.set_xticks([math.log(tick) for tick in INTERACTIONS], [f"{TIMES}{tick:g}" for tick in INTERACTIONS])
    axes.invert_yaxis()
    axes.set_xlabel(f"{FIGURES[figure][1]} of both against the product of each: left they reinforce, right they cancel")
    handles = {label: handle for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    sheet.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=len(drives), fontsize=7)
    return svg(sheet)


def draw_front(runs: Runs) -> str:
    """The schemes of each drive by write amplification and p99.9, with the front."""
    from matplotlib.ticker import NullLocator  # noqa: PLC0415 (not needed by `store`)

    drives = runs.values("drive")
    sheet, panels = new_sheet(7.2, 4.4, nrows=2, ncols=3)
    for axes, drive in zip(panels.flat, drives, strict=False):
        found = points_of(runs.where(drive=drive))
        best = front(found)
        marks = {"npgc": "o", "rwp": "s", "pgc": "^"}
        for gc, mark in marks.items():
            some = [found[point] for point in found if point[0] == gc]
            if some:
                axes.scatter(*zip(*some, strict=True), marker=mark, s=9, label=gc, lw=0)
        axes.plot(*zip(*(found[point] for point in best), strict=True), color="0.3", lw=0.8, zorder=0)
        axes.set_yscale("log")
        ticks = few_ticks(*(math.log(end) for end in axes.get_ylim()))
        axes.set_yticks(ticks, [f"{TIMES}{tick:g}" for tick in ticks])
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_title(drive, fontsize=8)
    panels[0][0].legend(fontsize=6)
    sheet.supxlabel("write amplification against the baseline")
    sheet.supylabel("p99.9 against the baseline")
    return svg(sheet)


def points_of(runs: Runs) -> dict[tuple[str, ...], tuple[float, float]]:
    """Write amplification and p99.9 of each scheme, as factors of the baseline."""
    one, other = scores(runs, "write amplification"), scores(runs, "p99.9")
    return {point: (math.exp(one[point].mean), math.exp(other[point].mean)) for point in other if point in one}


# ---- the page ----------------------------------------------------------------------------------------------------------

HEAD = """# Every mechanism beside every other

Papers change one mechanism and keep the rest. Here garbage collection (GC), queue order, cache, idle-time GC and placement are
changed together, on a drive of 2013 and on drives of today. [Findings](findings.md) has what follows.

## What was run

| | |
|---|---|
| GC | `npgc`, `rwp` (the host first), `pgc` (preemptible, with merging and pipelining) |
| order | `fcfs`, reads first (`fr-fcfs`) |
| cache | none, 1 MiB that does not evict to chips in GC (`gcar-lru`) |
| idle-time GC | off, on after 1 ms without requests (adaptive) |
| placement | static (`CWDP`), dynamic (the chip with the fewest operations) |
| drives | six, below |
| workloads | uniform writes and reads of 32 KiB, 4 KiB by Zipf's law (70 % reads), and parts of six traces of databases |
| load | 30, 60 and 90 % of the rate at which the baseline serves 12,000 requests that are all offered at once |
| a run | 9,000 requests, the first 1,000 left out: p99.9 has eight requests beyond it |

The drives:

| drive | preset | what is smaller, or set |
|---|---|---|
| lee2013 | `lee2013` | 64 blocks of a plane; begins steady |
| nvme | `nvme-tlc-scaled-5g` | 150 blocks of a plane |
| nvme worn | as nvme | 3,000 erases and a year old, retries in order |
| nvme superblocks | `nvme-tlc-2023-superblock` | dies, blocks, buffer, link and cores as nvme |
| pe8110-like | `pe8110-like`, calibrated | 4 of 16 dies, 150 blocks of 48 pages |
| consumer | `consumer-tlc-scaled-4g` | full, so that the static part of its SLC cache is left |

The baseline is `npgc` in order of arrival, without cache, idle-time GC, and with static placement (on superblocks dynamic: they have no
other). `sweeps/cross/cross.toml` is the sweep. One command
makes the table:

```console
$ ssdlab sweep sweeps/cross/cross.toml --out results/cross
```
"""

READING = """
Numbers are changes in percent against the same scheme without the mechanism, over all other mechanisms, loads and workloads; in
parentheses the 95 % interval over the workloads. Bold: the interval leaves out 0. Changes are geometric means: -50 and +100 cancel.
A run under one seed: what another seed says is on the page of findings.
"""


def files() -> Iterator[tuple[str, str]]:
    """Name and text of the page and of its pictures, from the stored tables."""
    runs = Runs.read(STORED)
    yield "cross.md", "\n".join(page(runs, Runs.read(SETTLED), Runs.read(FLOWS))) + "\n"
    yield "cross/effects.svg", draw_effects(runs, "p99.9")
    yield "cross/heat.svg", draw_heat(runs, "p99.9")
    yield "cross/interactions.svg", draw_interactions(runs, "p99.9")
    yield "cross/front.svg", draw_front(runs)


def page(runs: Runs, settled: Runs, flows: Runs) -> Iterator[str]:
    """The lines of the page, from all schemes, from those of settled drives and from those of several flows."""
    yield from HEAD.splitlines()
    yield from counts(runs)
    yield from ["", "## What each mechanism does", *READING.splitlines()]
    for figure in ("mean", "p99", "p99.9", "read p99", "write amplification", "energy", "erases"):
        yield from ["", f"### {heading(FIGURES[figure][1])}", ""]
        yield from table(["drive", *(f"{factor}: {value}" for factor, value in CHANGES)], list(effect_rows(runs, figure)))
    yield from ["", "![Effects on p99.9 by drive and mechanism](cross/effects.svg)", "", "## Which scheme is best", ""]
    yield from ["Over all workloads and loads. Alike: schemes that are not known to differ from the best. In the long run dynamic"]
    yield from ["placement is worse than these short runs say: [settled drives](#settled-drives).", ""]
    yield from table(["drive, figure", "best", "against the baseline, %", "next, % above the best", "alike"], list(best_rows(runs)))
    yield from ["", "![Each scheme against the baseline, by drive](cross/heat.svg)", "", "## What adds up, and what cancels", ""]
    yield from [
        "Two mechanisms add up if both together change the logarithm by the sum of what each does. The number is what is left: below 0"
    ]
    yield from ["they gain more together, above 0 one takes away from the other. p99.9, in percent:", ""]
    yield from table(["mechanisms", *runs.values("drive")], list(interaction_rows(runs, "p99.9")))
    yield from ["", "Mean:", ""]
    yield from table(["mechanisms", *runs.values("drive")], list(interaction_rows(runs, "mean")))
    yield from ["", "![Interactions of pairs of mechanisms](cross/interactions.svg)", "", "## Tail against write amplification", ""]
    yield from ["Schemes that no other one beats in both. Each point is a scheme, over all workloads and loads.", ""]
    yield from table(["drive", "front (write amplification, p99.9, as factors of the baseline)"], list(front_rows(runs)))
    yield from ["", "![Write amplification and p99.9 of all schemes](cross/front.svg)"]
    yield from [*LONG.splitlines(), ""]
    yield from table(["drive, workload", *OF_SETTLED], list(settled_rows(runs, settled)))
    yield from sharing(flows)


def heading(words: str) -> str:
    """A figure's words as a heading; percentiles stay small."""
    return words if words.startswith("p9") else words.capitalize()


def counts(runs: Runs) -> Iterator[str]:
    """How many runs there are, and how many have which remark."""
    rows = runs.rows
    codes = Counter(code for row in rows for code in (row["remarks"] or "").split())
    yield ""
    yield f"The stored table has {len(rows):,} runs under {len(runs.values('workload'))} workloads, which took 8.6 minutes on two cores"
    yield "beside other work. On Ray (`--engine ray`) with two nodes, of which one was killed after 1,203 points and, once resumed, one"
    yield "after 3,214, every run had the same digest."
    yield ""
    yield "Of the 6,912 points of the sweep 768 are refused and left out: static placement, merging and"
    yield "pipelining do not go with superblocks. Runs with a remark that bears on their numbers:"
    yield ""
    loads = sorted(runs.values("load"))
    some = [code for code in ("not-settled", "no-collection", "overloaded", "held-data") if codes[code]]
    drives = runs.values("drive")
    yield from table(
        ["drive", "runs", *(f"at {load} %" for load in loads), *(f"`{code}`" for code in some)],
        [
            [
                drive,
                f"{len(of):,}",
                *(f"{sum(row['load'] == load for row in of):,}" for load in loads),
                *(f"{sum(code in (row['remarks'] or '').split() for row in of):,}" for code in some),
            ]
            for drive in drives
            for of in [runs.where(drive=drive).rows]
        ],
    )
    yield ""
    yield "`not-settled`: the run is shorter than a drive write, so its write amplification still moves. `overloaded`: requests arrive"
    yield "faster than they are served, so response times grow with the length of the run. `no-collection`: no GC ran. That is most runs of"
    yield "the consumer drive, whose SLC cache takes nearly all writes of a run this short: it says nothing on GC. `held-data`: buffers and"
    yield "caches hold more than when the measured part began, so that write amplification is too low."


def effect_rows(runs: Runs, figure: str) -> Iterator[list[str]]:
    """A row for each drive."""
    for drive in runs.values("drive"):
        of = runs.where(drive=drive)
        yield [drive, *(percent(effect(of, figure, factor, value)) for factor, value in CHANGES)]


def best_rows(runs: Runs) -> Iterator[list[str]]:
    """A row for each drive and figure."""
    for drive in runs.values("drive"):
        of = runs.where(drive=drive)
        for figure in ("mean", "p99", "p99.9", "write amplification", "energy", "erases"):
            found = sorted(scores(of, figure).items(), key=lambda entry: entry[1].mean)
            if not found:  # a run without any: no logarithm
                yield [f"{drive}, {FIGURES[figure][1]}", "-", "-", "-", "-"]
                continue
            (first, estimate), *others = found
            apart = [difference(of, figure, point, first) for point, _ in others]
            alike = sum(one is None or one.is_tie for one in apart)
            yield [
                f"{drive}, {FIGURES[figure][1]}",
                name_of(first),
                percent(estimate),
                percent(apart[0]) if apart else "-",
                f"{alike} of {len(others)}",
            ]


def interaction_rows(runs: Runs, figure: str) -> Iterator[list[str]]:
    """A row for each pair of mechanisms."""
    drives = {drive: runs.where(drive=drive) for drive in runs.values("drive")}
    for one, other in pairs_of_changes():
        yield [f"{one[1]}, {other[1]}", *(percent(interaction(of, figure, one, other)) for of in drives.values())]


def front_rows(runs: Runs) -> Iterator[list[str]]:
    """A row for each drive."""
    for drive in runs.values("drive"):
        found = points_of(runs.where(drive=drive))
        yield [drive, "; ".join(f"{name_of(point)} ({found[point][0]:.3f}, {found[point][1]:.3g})" for point in front(found))]


LONG = """
## Settled drives

The runs above begin on a drive that was overwritten without time, and end before a drive write. `sweeps/cross/settled.toml` runs ten
schemes after the drive has served the workload until write amplification had settled, and measures 40,000 (uniform) or 150,000 requests
(Zipf). Under the Zipf workload the load is 30 %: at 60 % the baseline is overloaded in the long run on lee2013, although it
serves 12,000 requests at that rate. Write amplification and p99.9 in ms, in parentheses those of the short runs at the same load. *Best*:
`rwp`, reads first, gcar-lru, dynamic. *Paced*: `rwp`, reads first, dynamic, writes paced by GC (`gc.pace`), two moves in flight. A star:
the run has the remark `overloaded` or `not-settled`.
"""
OF_SETTLED = {
    "npgc": tuple(BASELINE.values()),
    "rwp": ("rwp", "fcfs", "none", "off", "static"),
    "best": ("rwp", "reads first", "gcar-lru", "off", "dynamic"),
    "paced": ("paced", "reads first", "none", "off", "dynamic"),
}
"""Schemes of the table of settled drives."""


def is_settled(row: Mapping[str, Any]) -> bool:
    """Whether a run has no remark that bears on its write amplification or response times."""
    return not {"not-settled", "overloaded", "no-collection"} & set((row["remarks"] or "").split())


def settled_rows(runs: Runs, settled: Runs) -> Iterator[list[str]]:
    """A row for each drive and workload."""
    for workload, drive in itertools.product(settled.values("workload"), settled.values("drive")):
        long = {tuple(row[name] for name in FACTORS): row for row in settled.where(drive=drive, workload=workload).rows}
        if not long:
            continue
        load = next(iter(long.values()))["load"]
        short = {tuple(row[name] for name in FACTORS): row for row in runs.where(drive=drive, workload=workload, load=load).rows}
        cells = []
        for point in OF_SETTLED.values():
            at = point if point in long else turned(point, "placement", "dynamic")
            star = "" if is_settled(long[at]) else "*"
            before = f" ({amplification_and_tail(short[at])})" if at in short else ""
            cells.append(f"{amplification_and_tail(long[at])}{star}{before}")
        yield [f"{drive}, {workload}", *cells]


def amplification_and_tail(row: Mapping[str, Any]) -> str:
    """Write amplification and p99.9 in ms."""
    return f"{row['gc.write_amplification']:.2f}, {three(row['latency_ns.all.p99_9'] / 1e6)}"


SHARING = """
## Several flows on one drive

Three flows share a drive, each with a third of the addresses: a *reader* of 4 KiB at equal times, a *writer*, and a *mix* of 4 KiB by
Zipf's law (70 % reads). The writer sends 32 KiB in bursts of 32 or of 128, 4 KiB in bursts of 32, or 128 KiB in sequence: four workloads.
All three flows are open loops; together they send 60 % of what the baseline sustains. The drive takes 32 commands at once
(`host.slots`), so that queues matter: one for all flows, or one for each, which give a command in their turn, or 4 (reader), 1 (writer)
and 2. `sweeps/cross/flows.toml` is the sweep, with GC schemes, orders and idle-time GC as above, and each flow also run alone.

The slowdown of a flow is its mean response time beside the others over that alone, under the same scheme. Fairness is the smallest
slowdown over the largest, as in A. Tavakkol et al. (FLIN, ISCA 2018): 1 is even. Geometric means
over the four workloads; in order of arrival, without idle-time GC:
"""

EVENNESS = """
What each mechanism does to fairness, in percent, over all others; above 0 is fairer. Intervals are over the four workloads.
"""


def sharing(runs: Runs) -> Iterator[str]:
    """The lines about several flows."""
    yield from SHARING.splitlines()
    yield ""
    yield from table(["drive, GC, queues", "slowdown of the reader", "of the writer", "of the mix", "fairness"], list(slowdown_rows(runs)))
    yield from EVENNESS.splitlines()
    yield ""
    yield from table(["drive", *(f"{factor}: {value}" for factor, value in SHARED_CHANGES)], list(fairness_rows(runs)))


def slowdown_rows(runs: Runs) -> Iterator[list[str]]:
    """A row for each drive, GC scheme and kind of queue: the slowdown of each flow, and fairness."""
    for drive, gc, queues in itertools.product(runs.values("drive"), ("npgc", "rwp", "pgc"), ("one", "in turns")):
        point = tuple({**SHARED, "gc": gc, "queues": queues}.values())
        of = runs.where(drive=drive)
        figures = ("slowdown of reader", "slowdown of writer", "slowdown of mix", "fairness")
        found = [contrast(of, figure, ((1, point),), tuple(SHARED)) for figure in figures]
        if found[0] is not None:
            yield [f"{drive}, {gc}, {queues}", *(three(math.exp(one.mean)) if one else "-" for one in found)]


def fairness_rows(runs: Runs) -> Iterator[list[str]]:
    """A row for each drive."""
    for drive in runs.values("drive"):
        of = runs.where(drive=drive)
        yield [drive, *(percent(effect(of, "fairness", factor, value, SHARED)) for factor, value in SHARED_CHANGES)]


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    store(Path(sys.argv[1]), Path(sys.argv[2]))
