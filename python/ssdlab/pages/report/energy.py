"""The figure of energy: by part, and power and temperature over time."""

from __future__ import annotations

from ssdlab.pages.report.drawing import ENERGY_COLOURS, Axis, Bar, Bars, Figure, Panel, Plot, Ranges
from ssdlab.pages.report.over_time import TIME, steps
from ssdlab.pages.report.runs import Runs

__all__ = ["energy"]

PARTS = {
    "idle": "at any time",
    "states": "in power states",
    "controller": "controller",
    "link": "link to the host",
    "dram": "controller's memory",
    "bus": "channels",
    "read": "reads of arrays",
    "program": "programs",
    "erase": "erases",
}


def energy(runs: Runs) -> Figure | None:
    """The energy of each run by part, and its power over time."""
    having = [run for run in runs if run.at("energy")]
    if not having:
        return None
    parts = [part for part in PARTS if any(run.at(f"energy.{part}_j") for run in having)]
    bars = [Bar(run.label, run.index, [run.at(f"energy.{part}_j") for part in parts]) for run in having]
    names = [(part, PARTS[part]) for part in parts]
    plots: list[Plot | Bars | Ranges] = [Bars("Energy of the measured part", Axis("energy, J", "count", low=0.0), names, [("Drive", bars)])]
    recorded = [run for run in runs.recorded if run.at("series.power")]
    if recorded:
        panel = Panel(
            "Of all drives together", Axis("power, W", "count", low=0.0), [steps(run, run.at("series.power")) for run in recorded]
        )
        plots.append(Plot("Power over time", TIME, [panel]))
    warm = [run for run in runs.recorded if run.at("series.thermal")]
    if warm:
        panels = [
            Panel(
                "Mean of the drives", Axis("temperature, degrees C", "count"), [steps(run, run.at("series.thermal.mean_c")) for run in warm]
            ),
            Panel("Throttled", Axis("of the time", "share", low=0.0), [steps(run, run.at("series.thermal.throttled")) for run in warm]),
        ]
        plots.append(Plot("Temperature over time", TIME, panels))
    text = "The energy of all drives in joules, by what took it, and the power that they drew. The keys of the section energy set both."
    return Figure("energy", "Energy", text, plots, [(name, ENERGY_COLOURS[part]) for part, name in names])
