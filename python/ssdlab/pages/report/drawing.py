"""Description of figures, independent of rendering: the page draws them by a script, `ssdlab.pages.report.paper` by matplotlib.

A figure has plots; a plot has panels above each other that share the x axis. Times are in ns, shares are 0 to 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

__all__ = [
    "DARK_SHADES",
    "ENERGY_COLOURS",
    "OTHER_PART",
    "PART_COLOURS",
    "SHADES",
    "STATE_COLOURS",
    "Axis",
    "Bar",
    "Bars",
    "Curve",
    "Figure",
    "Heat",
    "Panel",
    "Plot",
    "Range",
    "Ranges",
    "Rule",
    "Stack",
    "Steps",
    "Unit",
]

Unit = Literal["ns", "share", "count", "per_s"]
"""Unit of an axis: durations, shares (shown in percent), counts, and counts per second."""
Join = Literal["mean", "max", "min"]

# Paul Tol's muted colours, which differ from those of the schemes; GC is conspicuous on light and dark backgrounds.
PART_COLOURS: Mapping[str, str] = {
    "host_queue": "#7B6BD0",
    "die_queue": "#88CCEE",
    "gc": "#CC6677",
    "bus_queue": "#44AA99",
    "transfer": "#999933",
    "array": "#BBBBBB",
    "suspended": "#AA4499",
    "dram": "#DDCC77",
    "controller": "#332288",
    "link": "#882255",
    "mapping": "#117733",
    "pace": "#661100",
    "power": "#EE7733",
    "heat": "#CC3311",
    "power_state": "#556688",
    "retry": "#0077BB",
    "decode": "#009988",
}
OTHER_PART = "#5D7385"
"""Colour of a part that is not in `PART_COLOURS`."""
ENERGY_COLOURS: Mapping[str, str] = {
    "idle": "#BBBBBB",
    "states": "#556688",
    "controller": "#332288",
    "link": "#882255",
    "dram": "#DDCC77",
    "bus": "#44AA99",
    "read": "#88CCEE",
    "program": "#CC6677",
    "erase": "#AA4499",
}
"""Colours of the parts of energy."""
DARK_SHADES: Mapping[str, str] = {
    "#7B6BD0": "#9D90E8",
    "#88CCEE": "#88CCEE",
    "#CC6677": "#E58592",
    "#44AA99": "#5CC4B2",
    "#999933": "#BDBD55",
    "#BBBBBB": "#BBBBBB",
    "#AA4499": "#D070C0",
    "#DDCC77": "#DDCC77",
    "#332288": "#5B8DEF",
    "#882255": "#D9669A",
    "#661100": "#D9714F",
    "#117733": "#4FB873",
    "#EE7733": "#EE7733",
    "#CC3311": "#F2604A",
    "#556688": "#93A5CC",
    "#0077BB": "#4FA8DC",
    "#009988": "#33BBA9",
    "#5D7385": "#8FA6B8",
}
"""For each colour of a part or a state, that on dark backgrounds: at least 4.5 : 1, as WCAG 2 asks of text (AA)."""
SHADES: Mapping[str, Sequence[str]] = {
    "light": ("#ffffff", "#fbe3b0", "#f7b563", "#ee7d3a", "#d1453f", "#9c2964", "#621680", "#250d4f"),
    "dark": ("#181b20", "#3a1466", "#65156e", "#9b2964", "#d24644", "#f37819", "#fbb61a", "#fcffa4"),
}
"""Colours of heat maps on light and dark backgrounds, from lowest to highest: matplotlib's inferno."""
STATE_COLOURS: Mapping[str, str] = {"s1": "#DDCC77", "s2": "#CC6677", "s3": "#AA4499"}


@dataclass(frozen=True)
class Axis:
    """An axis: label, unit, lower and upper limit. Axes with the same key in `same` have the same upper end."""

    label: str
    unit: Unit
    log: bool = False
    low: float | None = None
    high: float | None = None
    same: str | None = None


@dataclass(frozen=True)
class Steps:
    """A value for each bin of equal width; `None` for a bin without a value.

    If there are more bins than can be drawn, neighbours are joined as `join` specifies. A mean is weighted by `weights`, such as numbers of
    requests.
    """

    name: str
    run: int
    width: float
    values: Sequence[float | None]
    join: Join = "mean"
    weights: Sequence[float] | None = None

    def joined(self, bins: int) -> Steps:
        """A copy with at most this many bins."""
        each = -(-len(self.values) // bins)
        if each == 1:
            return self
        values = [self._join(slice(at, at + each)) for at in range(0, len(self.values), each)]
        return replace(self, width=self.width * each, values=values, weights=None)

    def _join(self, bins: slice) -> float | None:
        having = [value for value in self.values[bins] if value is not None]
        if not having:
            return None
        if self.join != "mean":
            return (max if self.join == "max" else min)(having)
        if self.weights is None:
            return sum(having) / len(having)
        pairs = [(value, weight) for value, weight in zip(self.values[bins], self.weights[bins], strict=True) if value is not None]
        return sum(value * weight for value, weight in pairs) / sum(weight for _, weight in pairs)


@dataclass(frozen=True)
class Curve:
    """A step function: from each x on, its y; from the last x on `end`, unless it is `None`."""

    name: str
    run: int
    x: Sequence[float]
    y: Sequence[float]
    end: float | None = None


@dataclass(frozen=True)
class Rule:
    """A horizontal line. `run` is -1 if all runs share it."""

    name: str
    run: int
    value: float


@dataclass(frozen=True)
class Stack:
    """Stacked shares of each bin: key of the colour, name and values of each layer."""

    run: int
    width: float
    layers: Sequence[tuple[str, str, Sequence[float]]]

    def joined(self, bins: int) -> Stack:
        """A copy with at most this many bins."""
        each = -(-len(self.layers[0][2]) // bins)
        return replace(self, width=self.width * each, layers=[(key, name, _means(shares, each)) for key, name, shares in self.layers])


@dataclass(frozen=True)
class Heat:
    """A heat map with a row of shares for each item, in bins; `most` is the share with the last colour."""

    run: int
    width: float
    rows: Sequence[Sequence[float]]
    row: str
    """Name of a row's item: `chip`."""
    per_row: int
    things: int
    """Number of items; the last row may stand for fewer than the others."""
    most: float
    drives: int = 1
    """Number of drives of an array, which share the items in order."""

    def joined(self, bins: int) -> Heat:
        """A copy with at most this many bins, and the same colours."""
        each = -(-len(self.rows[0]) // bins)
        return replace(self, width=self.width * each, rows=[_means(row, each) for row in self.rows])


def _means(shares: Sequence[float], each: int) -> Sequence[float]:
    """Means of neighbouring bins; missing bins after the last count as 0."""
    return shares if each == 1 else [sum(shares[at : at + each]) / each for at in range(0, len(shares), each)]


Mark = Steps | Curve | Rule | Stack | Heat


@dataclass(frozen=True)
class Panel:
    """Marks with common axes."""

    title: str
    y: Axis
    marks: Sequence[Mark]
    height: float = 1.0


@dataclass(frozen=True)
class Plot:
    """Panels above each other that share the x axis."""

    title: str
    x: Axis
    panels: Sequence[Panel]
    link: Literal["time", "latency", "wear", "retries", "written"] = "time"
    """Plots with the same link are zoomed together."""
    note: str = ""
    """A remark on values that the axes cannot show."""


@dataclass(frozen=True)
class Bar:
    """A bar with its parts from left to right.

    `half` is the half width of the interval around its end, `dots` the values of which the end is the median.
    """

    name: str
    run: int
    values: Sequence[float]
    half: float | None = None
    dots: Sequence[float] | None = None

    @property
    def reach(self) -> float:
        """The largest value that is drawn."""
        whole = sum(self.values)
        return max([whole + (self.half or 0.0), *(self.dots or ())])


@dataclass(frozen=True)
class Bars:
    """Groups of horizontal bars: keys and names of their parts, and the groups by name."""

    title: str
    axis: Axis
    parts: Sequence[tuple[str, str]]
    groups: Sequence[tuple[str, Sequence[Bar]]]


@dataclass(frozen=True)
class Range:
    """Mean, standard deviation and maximum of a quantity."""

    name: str
    run: int
    mean: float
    std: float
    most: float


@dataclass(frozen=True)
class Ranges:
    """Means with a range of one standard deviation, and maxima."""

    title: str
    axis: Axis
    ranges: Sequence[Range]


@dataclass(frozen=True)
class Figure:
    """A figure: key for file names, heading, a sentence on how to read it, and plots."""

    key: str
    title: str
    text: str
    plots: Sequence[Plot | Bars | Ranges]
    legend: Sequence[tuple[str, str]] = ()
    """Names and colours of parts, if any."""
    note: str = ""
    """A remark below the figure, in print only."""
