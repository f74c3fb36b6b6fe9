"""What is drawn, without saying how: the page draws it with a script, `ssdlab.report.paper` on paper.

A figure is some plots; a plot is some panels above each other that share the axis across. Times are ns, shares lie between 0 and 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

__all__ = [
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
"""Of an axis: durations, shares (shown in percent), numbers of things, and these in a second."""
Join = Literal["mean", "max", "min"]

# Paul Tol's muted colours, which are not those of the schemes; collection stands out, on light and on dark ground.
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
    "mapping": "#999933",
    "pace": "#661100",
}
OTHER_PART = "#117733"
"""The colour of a part that is not among these."""
SHADES: Mapping[str, Sequence[str]] = {
    "light": ("#ffffff", "#fbe3b0", "#f7b563", "#ee7d3a", "#d1453f", "#9c2964", "#621680", "#250d4f"),
    "dark": ("#181b20", "#3a1466", "#65156e", "#9b2964", "#d24644", "#f37819", "#fbb61a", "#fcffa4"),
}
"""Of heat maps, on light and on dark ground, from nothing to most: matplotlib's inferno."""
STATE_COLOURS: Mapping[str, str] = {"s1": "#DDCC77", "s2": "#CC6677", "s3": "#AA4499"}


@dataclass(frozen=True)
class Axis:
    """An axis: what it shows, in which unit, how far down at least, how far up. Axes with one key in `same` reach equally far up."""

    label: str
    unit: Unit
    log: bool = False
    low: float | None = None
    high: float | None = None
    same: str | None = None


@dataclass(frozen=True)
class Steps:
    """A value for each bin of equal width; `None` where there is none.

    Where there are more bins than can be drawn, several are joined, as `join` says. The mean is that of `weights`, such as requests, where
    bins do not count the same.
    """

    name: str
    run: int
    width: float
    values: Sequence[float | None]
    join: Join = "mean"
    weights: Sequence[float] | None = None

    def joined(self, bins: int) -> Steps:
        """With at most as many bins."""
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
    """A line of steps: from each x on, its y; from the last on `end`, where that is another than its y."""

    name: str
    run: int
    x: Sequence[float]
    y: Sequence[float]
    end: float | None = None


@dataclass(frozen=True)
class Rule:
    """A level. `run` is -1 where it is that of all runs."""

    name: str
    run: int
    value: float


@dataclass(frozen=True)
class Stack:
    """Shares of each bin, on top of each other: key of the colour, name, values."""

    run: int
    width: float
    layers: Sequence[tuple[str, str, Sequence[float]]]

    def joined(self, bins: int) -> Stack:
        """With at most as many bins."""
        each = -(-len(self.layers[0][2]) // bins)
        return replace(self, width=self.width * each, layers=[(key, name, _means(shares, each)) for key, name, shares in self.layers])


@dataclass(frozen=True)
class Heat:
    """A row of shares for each thing, in bins; colours reach up to `most`."""

    run: int
    width: float
    rows: Sequence[Sequence[float]]
    row: str
    """What a row is: `chip`."""
    per_row: int
    things: int
    """How many there are; the last row may stand for fewer than the others."""
    most: float
    drives: int = 1
    """Of an array: how many drives share the things, one after the other."""

    def joined(self, bins: int) -> Heat:
        """With at most as many bins; colours reach as far as before."""
        each = -(-len(self.rows[0]) // bins)
        return replace(self, width=self.width * each, rows=[_means(row, each) for row in self.rows])


def _means(shares: Sequence[float], each: int) -> Sequence[float]:
    """Of neighbouring bins; what would come after the last is nothing."""
    return shares if each == 1 else [sum(shares[at : at + each]) / each for at in range(0, len(shares), each)]


Mark = Steps | Curve | Rule | Stack | Heat


@dataclass(frozen=True)
class Panel:
    """Marks over a common axis across."""

    title: str
    y: Axis
    marks: Sequence[Mark]
    height: float = 1.0


@dataclass(frozen=True)
class Plot:
    """Panels above each other that share the axis across."""

    title: str
    x: Axis
    panels: Sequence[Panel]
    link: Literal["time", "latency"] = "time"
    """Plots of one link are zoomed together."""
    note: str = ""
    """What the axes have no place for."""


@dataclass(frozen=True)
class Bar:
    """A bar: its parts from left to right."""

    name: str
    run: int
    values: Sequence[float]


@dataclass(frozen=True)
class Bars:
    """Groups of bars from left to right: keys and names of their parts, and the groups by name."""

    title: str
    axis: Axis
    parts: Sequence[tuple[str, str]]
    groups: Sequence[tuple[str, Sequence[Bar]]]


@dataclass(frozen=True)
class Range:
    """Mean, spread around it, and extreme of something."""

    name: str
    run: int
    mean: float
    std: float
    most: float


@dataclass(frozen=True)
class Ranges:
    """Means with what lies a standard deviation around them, and maxima."""

    title: str
    axis: Axis
    ranges: Sequence[Range]


@dataclass(frozen=True)
class Figure:
    """A figure: a key to name files by, a heading, a sentence on how to read it, and plots."""

    key: str
    title: str
    text: str
    plots: Sequence[Plot | Bars | Ranges]
    legend: Sequence[tuple[str, str]] = ()
    """Names of parts and their colours, where there are such."""
    note: str = ""
    """On paper, a remark below it."""
