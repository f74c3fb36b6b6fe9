"""What is fitted: the parameters of a drive that nobody publishes, their bounds, and which rows speak of which.

| parameter | least and most | rows that speak of it |
|---|---|---|
| share of programs that hold parity | one in a block to half | write amplification of sequential writes: read off, not searched for |
| flash capacity | 1.02 to 4 times what is in use | write amplification and rates at full speed |
| program time | 300 to 8,000 us | rates at full speed, and of a saturated load |
| read time | 5 to 200 us | response times of reads, and a little the rates of writes that GC works for |
| least run | 10 to 2,000 us | response times of reads beside writes, and the rate of a saturated load |
| time lost | 1 to 2,000 us | the same |
| time to suspend | 1 to 200 us | the same |
| time in the write buffer | from 0 | response times of writes below saturation |

A range includes the value of the base. What no row speaks of stays as it is there.

Choices are between mechanisms: their alternatives are tried one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from types import MappingProxyType
from typing import Any, Literal

from ssdlab.calibration.measurements import FullSpeed, Point, Probe
from ssdlab.calibration.runs import flash_bytes

__all__ = [
    "AS_BASE",
    "CAPACITY",
    "CHOICES",
    "COLLECTION",
    "DRAINING",
    "KEYS",
    "PACING",
    "PARAMETERS",
    "PASSING",
    "Choice",
    "Parameter",
    "settings_of",
    "speaks",
    "value_at",
]

Tree = Mapping[str, Any]
"""The configuration of the drive that the calibration begins with."""
Values = Mapping[str, float]
"""Values of parameters by name."""
Speaks = Literal["full speed", "saturated", "below saturation"]
CAPACITY = "capacity_gb"
AS_BASE = "as in the base"
"""The alternative of a choice that leaves its keys as they are in the drive that the calibration begins with."""
ALL: frozenset[Speaks] = frozenset({"full speed", "saturated", "below saturation"})
FULL: frozenset[Speaks] = frozenset({"full speed", "saturated"})
PROBED: frozenset[Speaks] = frozenset({"saturated", "below saturation"})


@dataclass(frozen=True)
class Parameter:
    """A number that is searched for.

    Attributes:
        name: what it is called in results.
        about: what it is.
        unit: its unit.
        low: the least that is tried; of the capacity in units of what is in use.
        high: the most that is tried, likewise.
        start: where the search begins, by the drive that it begins with.
        settings: the configuration keys that it sets, from the values of all.
        rows: at which operating points it matters.
        step: how far, as a logarithm, it is moved to see what changes: far enough that it is more than what chance changes.
    """

    name: str
    about: str
    unit: str
    low: float
    high: float
    start: Callable[[Tree], float]
    settings: Callable[[Values, Tree], Mapping[str, Any]]
    rows: frozenset[Speaks]
    step: float

    def ends(self, used_bytes: int) -> tuple[float, float]:
        """The least and the most that is tried for a drive of which so much is in use."""
        unit = used_bytes / 1e9 if self.name == CAPACITY else 1.0
        return self.low * unit, self.high * unit

    def matters_at(self, point: Point) -> bool:
        """Whether what is measured at a point depends on it."""
        return speaks(point) in self.rows


@dataclass(frozen=True)
class Choice:
    """Alternatives that are tried.

    Attributes:
        name: what it is called in results.
        about: what is chosen.
        alternatives: by name, the configuration keys of each.
        is_told_by: whether an operating point tells them apart.
    """

    name: str
    about: str
    alternatives: Mapping[str, Mapping[str, Any]]
    is_told_by: Callable[[Point], bool]

    def of(self, tree: Tree) -> str:
        """The alternative that a drive has."""
        for name, settings in self.alternatives.items():
            if settings and all(value_at(tree, key) == value for key, value in settings.items()):
                return name
        return AS_BASE


def speaks(point: Point) -> Speaks:
    """Of what kind an operating point is."""
    if isinstance(point, FullSpeed):
        return "full speed"
    return "saturated" if point.is_saturated else "below saturation"


def _blocks(values: Values, tree: Tree) -> Mapping[str, Any]:
    device = tree["device"]
    each = flash_bytes(tree) / device["blocks_per_plane"]
    return {"device.blocks_per_plane": round(values["capacity_gb"] * 1e9 / each)}


def _read_us(tree: Tree) -> float:
    times = tree["device"]["read_ns_by_page"] or [tree["device"]["read_ns"]]
    return float(fmean(times) / 1e3)


def _read_times(values: Values, tree: Tree) -> Mapping[str, Any]:
    """All page types in the proportion that they have."""
    times = tree["device"]["read_ns_by_page"]
    if not times:
        return {"device.read_ns": round(values["read_us"] * 1e3)}
    factor = values["read_us"] / _read_us(tree)
    return {"device.read_ns_by_page": [round(time * factor) for time in times]}


def _key(name: str, about: str, key: str, low: float, high: float, rows: frozenset[Speaks], step: float) -> Parameter:
    """A time that is one key, in us."""
    section, entry = key.split(".")
    return Parameter(
        name,
        about,
        "us",
        low,
        high,
        start=lambda tree: tree[section][entry] / 1e3,
        settings=lambda values, _: {key: round(values[name] * 1e3)},
        rows=rows,
        step=step,
    )


PARAMETERS: Sequence[Parameter] = (
    Parameter(
        CAPACITY,
        "Flash of the drive, with what it keeps as spare",
        "GB",
        low=1.02,
        high=4.0,
        start=lambda tree: flash_bytes(tree) / 1e9,
        settings=_blocks,
        rows=FULL,
        step=0.05,
    ),
    _key("program_us", "Program of all pages of a word line", "device.program_ns", 300.0, 8_000.0, ALL, 0.05),
    Parameter("read_us", "Read of a page, mean of its types", "us", 5.0, 200.0, _read_us, _read_times, ALL, 0.1),
    _key(
        "min_run_us", "Least time that a program runs before it is suspended for a read", "device.min_run_ns", 10.0, 2_000.0, PROBED, 0.25
    ),
    _key("lost_us", "Time that a program or erase does again after a suspension", "device.resume_ns", 1.0, 2_000.0, PROBED, 0.25),
    _key("suspend_us", "Time until a suspended die is free", "device.suspend_ns", 1.0, 200.0, PROBED, 0.25),
)
WRITING = PARAMETERS[:2]
"""What writes alone tell."""
SUSPENDING = PARAMETERS[3:]
"""The times of a suspension."""

PASSING = Choice(
    "reads_pass",
    "Whether reads go ahead of writes that wait for room in the buffer",
    {"reads pass": {"buffer.reads_pass": True}, "in order": {"buffer.reads_pass": False}},
    lambda point: isinstance(point, Probe) and point.is_saturated,
)
DRAINING = Choice(
    "drain",
    "When the write buffer is programmed",
    {"full programs": {"buffer.drain": "full"}, "at once": {"buffer.drain": "eager"}},
    lambda point: isinstance(point, Probe) and not point.is_saturated,
)
COLLECTION = Choice(
    "collection",
    "Which block is collected, and whether moved data and writes share blocks",
    {
        "greedy, apart": {"gc.victim": "greedy", "ftl.frontier": "separate"},
        "greedy, shared": {"gc.victim": "greedy", "ftl.frontier": "shared"},
        "fifo, shared": {"gc.victim": "fifo", "ftl.frontier": "shared"},
        "fifo, apart": {"gc.victim": "fifo", "ftl.frontier": "separate"},
        "best of four, apart": {"gc.victim": "d-choices", "gc.choices": 4, "ftl.frontier": "separate"},
        "cost-benefit, apart": {"gc.victim": "cost-benefit", "ftl.frontier": "separate"},
    },
    lambda point: isinstance(point, FullSpeed) and point.pattern.kind in ("zipf", "zones"),
)
PACING = Choice(
    "pacing",
    "How far writes may be ahead of collection before they wait, in units of the free blocks that it keeps",
    {AS_BASE: {}, **{f"{window:g}": {"gc.pace_window": window} for window in (0.12, 0.2, 0.15, 0.1, 0.08)}},
    lambda point: isinstance(point, Probe) and not point.is_saturated and point.probe_depth > 0,
)
CHOICES: Sequence[Choice] = (PASSING, DRAINING, COLLECTION, PACING)

KEYS: Mapping[str, str] = MappingProxyType(
    {
        "device.blocks_per_plane": "capacity_gb",
        "device.program_ns": "program_us",
        "device.read_ns_by_page": "read_us",
        "device.read_ns": "read_us",
        "device.min_run_ns": "min_run_us",
        "device.resume_ns": "lost_us",
        "device.suspend_ns": "suspend_us",
        "device.chips_per_channel": "chips_per_channel",
        "device.channels": "channels",
        "device.pages_per_block": "pages_per_block",
        "ftl.parity_stripe": "parity_stripe",
        "buffer.access_ns": "access_ns",
        "buffer.reads_pass": "reads_pass",
        "buffer.drain": "drain",
        "gc.victim": "collection",
        "gc.choices": "collection",
        "ftl.frontier": "collection",
        "gc.pace_window": "pacing",
    }
)
"""By configuration key, the value of a calibration that sets it."""


def value_at(tree: Tree, key: str) -> Any:
    """The value of a configuration key."""
    section, name = key.split(".")
    return tree[section][name]


def settings_of(values: Values, choices: Mapping[str, str], tree: Tree) -> dict[str, Any]:
    """The configuration keys of some values and choices, by name."""
    found: dict[str, Any] = {}
    for parameter in PARAMETERS:
        if parameter.name in values:
            found |= parameter.settings(values, tree)
    for choice in CHOICES:
        if choice.name in choices:
            found |= choice.alternatives.get(choices[choice.name], {})  # none of `AS_BASE`
    return found
