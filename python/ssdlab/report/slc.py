"""The figure of a cache of blocks in SLC mode: where writes go over time."""

from __future__ import annotations

from ssdlab.report.drawing import Axis, Figure, Panel, Plot
from ssdlab.report.over_time import TIME, figure_of, per_second, steps
from ssdlab.report.runs import Runs

__all__ = ["slc"]

WAYS = {"cached_bytes": "Written in SLC mode", "direct_bytes": "Written past the cache", "folded_bytes": "Folded"}
MEGABYTE = 1e6


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
        "The first falls when the cache is full, and comes back after folding."
    )
    return figure_of("slc", "SLC cache", text, [Plot("Programs by mode of the block", TIME, panels)])
