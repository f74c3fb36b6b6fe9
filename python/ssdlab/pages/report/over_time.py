"""What figures over time have in common: the axis across, and a result's series as marks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ssdlab.pages.report.drawing import Axis, Figure, Join, Plot, Steps
from ssdlab.pages.report.runs import Run

__all__ = ["TIME", "figure_of", "of_what_was", "per_second", "steps"]

TIME = Axis("simulated time", "ns", low=0.0)


def figure_of(key: str, title: str, text: str, plots: Iterable[Plot | None], legend: Sequence[tuple[str, str]] = ()) -> Figure | None:
    """A figure with the plots that are not `None`; `None` without any."""
    having = [plot for plot in plots if plot is not None]
    return Figure(key, title, text, having, legend) if having else None


def steps(run: Run, values: Sequence[float | None], join: Join = "mean", weights: Sequence[float] | None = None) -> Steps:
    """A value of a run for each interval of its series."""
    return Steps(run.label, run.index, run.at("series.bin_ns"), values, join, weights)


def per_second(run: Run, counts: Sequence[float]) -> list[float | None]:
    """Counts by interval as counts in a second."""
    width = run.at("series.bin_ns") / 1e9
    return of_what_was(run, [count / width for count in counts])


def of_what_was(run: Run, values: Sequence[float]) -> list[float | None]:
    """Values per time of a bin, with the last one corrected for the part of its bin that is in the run.

    A last bin that is less than half in the run has no value, since it would look like a drop or a peak; the only bin always has one.
    """
    width = run.at("series.bin_ns")
    part = run.data["simulated_ns"] / width - (len(values) - 1)
    if part >= 1 or (part <= 0 and len(values) == 1):
        return list(values)
    last = None if part < 0.5 and len(values) > 1 else values[-1] / part
    return [*values[:-1], last]
