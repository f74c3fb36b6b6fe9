"""One number of a result as a figure: a bar for each run."""

from __future__ import annotations

from collections.abc import Iterable

from ssdlab.analysis.measures import measures_of
from ssdlab.pages.report.axes import label_of
from ssdlab.pages.report.changes import number_of, seeded, spread
from ssdlab.pages.report.drawing import Bar, Bars, Figure
from ssdlab.pages.report.leader import SHORT
from ssdlab.pages.report.runs import Run, Runs
from ssdlab.pages.report.words import described

__all__ = ["of_number"]


def of_number(runs: Runs, name: str) -> Figure | None:
    """The figure of a number by its path or short name (`SHORT`), with its intervals over seeds; `None` if no run has such a number."""
    place = SHORT.get(name, name)
    having = [run for run in runs if place in measures_of(run.data)]
    if not having:
        return None
    axis = described(place)
    bars = Bars("", axis, [("run", axis.label)], [("", [_bar(runs, run, place) for run in having])])
    return Figure(place, label_of("", axis, ""), "A bar for each run.", [bars], note=_of_seeds(runs, bars.groups[0][1]))


def _bar(runs: Runs, run: Run, place: str) -> Bar:
    apart, mean = spread(runs, run, place), seeded(runs, run, place)
    half = mean["half_width"] if mean and not apart else None
    return Bar(run.label, run.index, [number_of(runs, run, place)], half, apart.values if apart else None)


def _of_seeds(runs: Runs, bars: Iterable[Bar]) -> str:
    """What bars, lines and dots are, if there are several seeds."""
    seeds = runs.seeds.get("seeds", ())
    if len(seeds) < 2:
        return ""
    apart = " Where seeds disagree, the median, with a dot for each." if any(bar.dots for bar in bars) else ""
    return f"Means over {len(seeds)} seeds, with their 95 % confidence intervals.{apart}"
