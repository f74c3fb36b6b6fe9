"""The figure of a cache of blocks in SLC mode: where writes go over time, and the host's rate over what it has written."""

from __future__ import annotations

from itertools import accumulate

from ssdlab.pages.report.drawing import Axis, Curve, Figure, Panel, Plot
from ssdlab.pages.report.over_time import TIME, figure_of, per_second, steps
from ssdlab.pages.report.runs import Run, Runs

__all__ = ["slc"]

WAYS = {"cached_bytes": "Written in SLC mode", "direct_bytes": "Written past the cache", "folded_bytes": "Folded"}
MEGABYTE = 1e6
PARTS = 100
"""Number of parts of what the host writes, over each of which its rate is a mean: erases come and go within each."""


def slc(runs: Runs) -> Figure | None:
    """The rates at which data go to the cache, past it and out of it."""
    having = [run for run in runs.recorded if run.at("series.slc")]
    if not having:
        return None
    axis = Axis("MB/s", "count", low=0.0, same="slc")
    panels = []
    for way, title in WAYS.items():
        rates = [per_second(run, [count / MEGABYTE for count in run.at(f"series.slc.{way}")]) for run in having]
        panels.append(Panel(title, axis, [steps(run, rate) for run, rate in zip(having, rates, strict=True)]))
    text = (
        "The rates at which the host's data were programmed in SLC mode and in other blocks, and at which folding moved them. "
        "The first falls when the cache is full, and comes back after folding. Beside them: the rate of the host's writes over what it had "
        "written, as reviews of drives plot it; each step is where the cache or the erased blocks ran out."
    )
    over_time = Plot("Programs by mode of the block", TIME, panels)
    return figure_of("slc", "SLC cache", text, [over_time, _cliff(having)])


def _cliff(runs: list[Run]) -> Plot | None:
    """The rate of the host's writes over what it has written."""
    curves = [curve for curve in map(_over_written, runs) if curve is not None]
    if not curves:
        return None
    axis = Axis("MB/s", "count", low=0.0, same="cliff")
    across = Axis("MB written by the host", "count", low=0.0)
    return Plot("Writes over data written", across, [Panel("Written by the host", axis, curves, 1.6)], "written")


def _over_written(run: Run) -> Curve | None:
    """The rates of parts of at least a hundredth of what the host writes, as steps. Time without writes ends a part and has no rate."""
    counts, width = run.at("series.written.host_bytes") or [], run.at("series.bin_ns") / 1e9
    ends = list(accumulate(counts))
    if not ends or not ends[-1]:
        return None
    xs: list[float] = []
    ys: list[float] = []
    begin = bins = 0
    for end, count in zip(ends, counts, strict=True):
        bins += count > 0
        if bins and (end - begin >= ends[-1] / PARTS or end == ends[-1]):
            rate = (end - begin) / bins / width / MEGABYTE
            # The last bin of a run is not a whole one.
            rate = ys[-1] if end == ends[-1] and bins == 1 and ys else rate
            xs += [begin / MEGABYTE, end / MEGABYTE]
            ys += [rate, rate]
            begin, bins = end, 0
    return Curve(run.label, run.index, xs, ys)
