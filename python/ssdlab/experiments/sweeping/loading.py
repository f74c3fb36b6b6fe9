"""The points of a sweep whose load is a share of what a drive sustains, with the rates that this stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ssdlab.asking.plans import value_text
from ssdlab.checks import nearest
from ssdlab.errors import ConfigError
from ssdlab.experiments.sweeping.definition import SEED, Point, Sweep
from ssdlab.experiments.sweeping.tasks import setup_of
from ssdlab.runs.capacity import Wanted, with_loads

__all__ = ["loaded"]

LOAD, LOAD_OF, SCHEME = "load", "load_of", "scheme"


def loaded(sweep: Sweep, points: Sequence[Point], *, workers: int | None = None) -> list[Point]:
    """The points with the rates of their loads. Points without `load` are returned as they are.

    All seeds of a point have the capacity of the first one.

    Args:
        sweep: the sweep.
        points: those of its points that can be simulated.
        workers: maximum number of runs at once.

    Raises:
        ConfigError: `load_of` names no point.
        ssdlab.Error: a capacity was not found; the message names the point.
        ssdlab.Interrupted: Ctrl-C.
    """
    if all(point.options.get(LOAD) is None for point in points):
        return list(points)
    by_values = {_key(point.values): point for point in points}
    seeds = next((axis.values for axis in sweep.axes if axis.name == SEED), ())
    first = {SEED: seeds[0].value} if seeds else {}

    def wanted(point: Point) -> Wanted:
        of = point.options.get(LOAD_OF)
        other = None
        if of is not None and point.options.get(LOAD) is not None:
            values = {**point.values, **first, **_named(sweep, of)}
            if _key(values) not in by_values:
                raise ConfigError(f'{sweep.name}: {point.label}: load_of = "{of}": the sweep has no such point ({_key(values)})')
            reference = by_values[_key(values)]
            other = (setup_of(replace(reference, loaded=None)).with_changes(load=None, load_of=None), reference.options.get(SCHEME))
        return Wanted(point.label, setup_of(point).with_changes(**first), point.options.get(SCHEME), other)

    setups = with_loads([wanted(point) for point in points], workers=workers)
    return [replace(point, loaded=setup.loaded_as) for point, setup in zip(points, setups, strict=True)]


def _named(sweep: Sweep, of: str) -> dict[str, Any]:
    """The values of axes that a text such as `npgc` or `scheme = npgc, device = nvme-4g` names."""
    found: dict[str, Any] = {}
    for part in of.split(","):
        name, equals, text = (piece.strip() for piece in part.partition("="))
        axes = [axis for axis in sweep.axes if axis.name == name] if equals else list(sweep.axes)
        value = text if equals else name
        having = [(axis.name, entry.value) for axis in axes for entry in axis.values if entry.text == value]
        if len(having) != 1:
            known = [entry.text for axis in axes for entry in axis.values]
            why = f"several axes have it: write {having[0][0]} = {value}" if having else f"no axis has it{nearest(value, known)}"
            raise ConfigError(f'{sweep.name}: load_of = "{of}": {value}: {why}; expected a value of an axis, such as scheme = npgc')
        found |= dict(having)
    return found


def _key(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{axis} = {value if isinstance(value, str) else value_text(value)}" for axis, value in values.items())
