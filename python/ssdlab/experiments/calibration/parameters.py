"""The fitted parameters of a drive: their bounds, and the rows that determine each.

| parameter | bounds | rows that determine it |
|---|---|---|
| share of programs that hold parity | one per block to one half | write amplification of sequential writes, directly without a search |
| flash capacity | 1.02 to 4 times the used bytes | write amplification and rates at full speed |
| program time | 300 to 8,000 us | rates at full speed, and of a saturated load |
| read time | 5 to 200 us | response times of reads, and slightly the rates of writes with GC |
| minimum run time | 10 to 2,000 us | response times of reads beside writes, and the rate of a saturated load |
| lost time | 1 to 2,000 us | response times of reads beside writes, and the rate of a saturated load |
| suspend time | 1 to 200 us | response times of reads beside writes, and the rate of a saturated load |
| write buffer access time | from 0 | response times of writes below saturation |

Bounds are extended to include the value of the base. A parameter without rows keeps the value of the base.

Choices select a mechanism: their alternatives are tried one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from types import MappingProxyType
from typing import Any, Literal

from ssdlab.experiments.calibration.measurements import FullSpeed, Point, Power, Probe
from ssdlab.experiments.calibration.runs import flash_bytes

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
    "PLANES",
    "POWER",
    "READING",
    "SLOTS",
    "Choice",
    "Parameter",
    "power_settings",
    "settings_of",
    "speaks",
    "value_at",
]

Tree = Mapping[str, Any]
"""The configuration of the base drive."""
Values = Mapping[str, float]
"""Values of parameters, by name."""
Speaks = Literal["full speed", "saturated", "below saturation"]
CAPACITY = "capacity_gb"
POWER = "power"
READ_DRAWS = 0.8
"""Power of a die that reads, of that of one that programs, as public simulators have it."""
AS_BASE = "as in the base"
"""The alternative of a choice that keeps the base's values."""
ALL: frozenset[Speaks] = frozenset({"full speed", "saturated", "below saturation"})
FULL: frozenset[Speaks] = frozenset({"full speed", "saturated"})
PROBED: frozenset[Speaks] = frozenset({"saturated", "below saturation"})


@dataclass(frozen=True)
class Parameter:
    """A numeric parameter of the search.

    Attributes:
        name: name in results.
        about: description.
        unit: unit of the value.
        low: lower bound; for the capacity, relative to the used bytes.
        high: upper bound; for the capacity, relative to the used bytes.
        start: returns the starting value for a base drive.
        settings: returns the configuration keys for the values of all parameters.
        rows: kinds of operating points whose rows depend on the parameter.
        step: step of its logarithm for numerical derivatives, large enough to exceed the effects of chance.
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
        """The bounds for a drive with this many used bytes."""
        unit = used_bytes / 1e9 if self.name == CAPACITY else 1.0
        return self.low * unit, self.high * unit

    def matters_at(self, point: Point) -> bool:
        """Whether measurements at a point depend on the parameter."""
        return speaks(point) in self.rows


@dataclass(frozen=True)
class Choice:
    """A choice between alternatives.

    Attributes:
        name: name in results.
        about: description.
        alternatives: configuration keys of each alternative, by name.
        is_told_by: returns whether an operating point distinguishes the alternatives.
    """

    name: str
    about: str
    alternatives: Mapping[str, Mapping[str, Any]]
    is_told_by: Callable[[Point], bool]

    def of(self, tree: Tree) -> str:
        """The name of the alternative that a drive has."""
        for name, settings in self.alternatives.items():
            if settings and all(value_at(tree, key) == value for key, value in settings.items()):
                return name
        return AS_BASE


def speaks(point: Point) -> Speaks:
    """The kind of an operating point."""
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
    """Scales the read times of all page types by one factor."""
    times = tree["device"]["read_ns_by_page"]
    if not times:
        return {"device.read_ns": round(values["read_us"] * 1e3)}
    factor = values["read_us"] / _read_us(tree)
    return {"device.read_ns_by_page": [round(time * factor) for time in times]}


def _key(name: str, about: str, key: str, low: float, high: float, rows: frozenset[Speaks], step: float) -> Parameter:
    """A parameter that is a single key with a time; bounds in us."""
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
"""Parameters that writes at full speed determine."""
SUSPENDING = PARAMETERS[3:]
"""Parameters of program and erase suspension."""
READING = PARAMETERS[2:]
"""Parameters that response times of reads determine."""

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
        "best of two, apart": {"gc.victim": "d-choices", "gc.choices": 2, "ftl.frontier": "separate"},
        "superblocks, greedy": {"gc.victim": "greedy", "ftl.frontier": "separate", "ftl.reclaim_unit": "superblock"},
    },
    lambda point: isinstance(point, FullSpeed) and point.pattern.kind in ("zipf", "zones"),
)
PACING = Choice(
    "pacing",
    "How far writes may be ahead of collection before they wait, in units of the free blocks that it keeps",
    {AS_BASE: {}, **{f"{window:g}": {"gc.pace_window": window} for window in (0.12, 0.2, 0.15, 0.1, 0.08)}},
    lambda point: isinstance(point, Probe) and not point.is_saturated and point.probe_depth > 0,
)
PLANES = Choice(
    "planes",
    "How many of the planes that a page spans are programmed at once",
    {"all": {"device.plane_programs": 1}, "one by one while there is time": {"device.plane_programs": 4}},
    lambda point: isinstance(point, Probe) and not point.is_saturated,
)
SLOTS = Choice(
    "slots",
    "Commands that are inside the drive at once; its queues give them in turn",
    {AS_BASE: {}, **{str(slots): {"host.slots": slots} for slots in (256, 320, 384, 128)}},
    lambda point: isinstance(point, Probe) and point.is_saturated and point.probe_depth > 0,
)
CHOICES: Sequence[Choice] = (PASSING, DRAINING, PLANES, COLLECTION, PACING, SLOTS)

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
        "buffer.bytes": "bytes",
        "ftl.parity_stripe": "parity_stripe",
        "buffer.access_ns": "access_ns",
        "buffer.reads_pass": "reads_pass",
        "buffer.drain": "drain",
        "gc.victim": "collection",
        "gc.choices": "collection",
        "ftl.frontier": "collection",
        "ftl.reclaim_unit": "collection",
        "gc.pace_window": "pacing",
        "device.plane_programs": "planes",
        "host.slots": "slots",
        **dict.fromkeys(("energy.idle_mw", "energy.program_mw", "energy.erase_mw", "energy.read_mw", "energy.source"), POWER),
    }
)
"""Name of the calibrated value that sets a key, by configuration key."""


def value_at(tree: Tree, key: str) -> Any:
    """The value of a configuration key."""
    section, name = key.split(".")
    return tree[section][name]


def settings_of(values: Values, choices: Mapping[str, str], tree: Tree) -> dict[str, Any]:
    """The configuration keys for some values and choices, by name."""
    found: dict[str, Any] = {}
    for parameter in PARAMETERS:
        if parameter.name in values:
            found |= parameter.settings(values, tree)
    for choice in CHOICES:
        if choice.name in choices:
            found |= choice.alternatives.get(choices[choice.name], {})  # `AS_BASE` sets no keys
    return found


def power_settings(power: Power, tree: Tree, in_order_per_us: float | None) -> dict[str, Any]:
    """The keys of a drive that draws by its data sheet what it does when idle, and when it writes in order at full speed.

    What is above idle is that of the planes that program: all, or as many as the measured rate keeps busy, with those that program parity.

    Args:
        power: the data sheet.
        tree: the configuration of the drive.
        in_order_per_us: measured rate of writes in order, bytes per us; `None` if unknown.
    """
    device = tree["device"]
    planes = device["channels"] * device["chips_per_channel"] * device["dies_per_chip"] * device["planes_per_die"]
    stripe = tree["ftl"]["parity_stripe"]
    of_data = 1 - 1 / stripe if stripe else 1.0
    each_per_us = of_data * device["page_bytes"] * device["pages_per_program"] / (device["program_ns"] / 1e3)
    busy = planes if in_order_per_us is None else min(planes, in_order_per_us / each_per_us)
    program_mw = round((power.active_w - power.idle_w) * 1e3 / busy, 1)
    return {
        "energy.idle_mw": round(power.idle_w * 1e3, 1),
        "energy.program_mw": program_mw,
        "energy.erase_mw": program_mw,
        "energy.read_mw": round(program_mw * READ_DRAWS, 1),
        "energy.source": "sheet",
    }
