"""What the axes of a sweep are in its figures: numbers across, what is compared as lines, workloads and the rest as panels."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ssdlab.asking.keys import AxisValue
from ssdlab.asking.plans import value_text
from ssdlab.experiments.sweeping.points import SEED, SweepPoint
from ssdlab.pages.drawings import geometric

__all__ = ["WIDE", "Axis", "Uses", "is_wide", "loads", "needs_log", "numbers_of", "uses"]

WIDE = 10.0
"""Ratio of the largest to the smallest value from which on an axis is logarithmic."""
SCHEME = "scheme"
PARTS = {"trace", "workload.trace", "skip", "workload.skip", "workload.last", "limit_s", "workload.limit_s"}
"""Options and keys that choose a trace, or a part of one."""
LOADS = {"workload", "fio", "volume", "workload.device", *PARTS}
"""Options and keys that say what the host requests."""


class Axis(Protocol):
    """An axis of a sweep."""

    @property
    def name(self) -> str:
        """Name of the axis."""

    @property
    def values(self) -> Sequence[AxisValue]:
        """Values of the axis."""


@dataclass(frozen=True)
class Uses:
    """The use of each axis of several values in a figure; an axis of one value, and `seed`, may have none."""

    x: str
    lines: str | None
    panels: tuple[str, ...]


def uses(
    axes: Mapping[str, Sequence[float] | None],
    values: Mapping[str, Sequence[Any]],
    x: str | None,
    lines: str | None,
    panels: Sequence[str] = (),
    loads: Collection[str] = (),
) -> Uses:
    """Chooses what is drawn how.

    Args:
        axes: the numbers of each axis, `None` for an axis of words.
        values: the values of each axis.
        x: axis across; `None` to take the axis of most numbers, or without numbers the last one that is not `scheme`.
        lines: axis with a line for each value; `None` to take `scheme`, or the first axis of words, or that of fewest numbers.
        loads: axes of workloads, which are panels unless there is nothing else to go across.
        panels: axes with a panel for each value. Axes that are left are panels within these.
    """
    others = [axis for axis in axes if axis not in (SEED, lines, *panels)]
    if x is None:
        numbered = sorted((axis for axis in others if axes[axis] is not None), key=lambda axis: -len(values[axis]))
        worded = sorted(others, key=lambda axis: (axis != SCHEME) * len(values[axis]))
        worded = [axis for axis in worded if axis not in loads] or worded
        x = next((axis for axis in numbered if len(values[axis]) > 1), worded[-1] if worded else SEED)
    rest = [axis for axis in others if axis != x and len(values[axis]) > 1]
    compared = [axis for axis in rest if axis not in loads]
    if lines is None and compared:
        lines = min(compared, key=lambda axis: (axis != SCHEME, axes[axis] is not None, axes[axis] is not None and len(values[axis])))
    return Uses(x, lines, (*panels, *(axis for axis in rest if axis != lines)))


def loads(axes: Sequence[Axis]) -> list[str]:
    """The axes of workloads."""
    return [axis.name for axis in axes if LOADS & _given(axis)]


def parts(axes: Sequence[Axis]) -> list[str]:
    """The axes of traces and of parts of a trace, over which means are taken."""
    return [axis for axis in loads(axes) if not {"workload", "fio"} & {name for one in axes if one.name == axis for name in _given(one)}]


def _given(axis: Axis) -> set[str]:
    """The options and keys that an axis sets."""
    return {axis.name, *(key for value in axis.values for key in (*value.options, *value.set))}


def is_wide(numbers: Sequence[float]) -> bool:
    """Whether numbers are so far apart that an axis of them is logarithmic: all positive, the largest at least 10 times the smallest."""
    return bool(numbers) and min(numbers) > 0 and max(numbers) >= WIDE * min(numbers)


def needs_log(numbers: Sequence[float] | None) -> bool:
    """Whether the x axis over these values of an axis is logarithmic: they are far apart, or each about twice the one before."""
    return numbers is not None and (is_wide(numbers) or (len(numbers) > 1 and geometric(sorted(numbers))))


def numbers_of(axis: str, values: Sequence[Any], points: Sequence[SweepPoint]) -> list[float] | None:
    """The numbers of an axis: its values, or what a key of the configuration makes of texts such as `4MiB`; `None` for words."""
    if all(_is_number(value) for value in values):
        return list(values)
    found: dict[str, Any] = {value_text(point.values[axis]): _at(point.result["config"], axis) for point in points}
    made = [found[text] for text in map(value_text, values) if _is_number(found.get(text))]
    return made if "." in axis and len(set(made)) == len(values) else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _at(config: Any, key: str) -> Any:
    for part in key.split("."):
        config = config.get(part) if isinstance(config, Mapping) else None
    return config
