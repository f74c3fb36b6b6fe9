"""The points of a sweep whose load is a share of what a drive sustains, with the rates that this stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ssdlab.asking.plans import value_text
from ssdlab.checks import nearest
from ssdlab.errors import ConfigError, Error
from ssdlab.experiments.sweeping.definition import SEED, Point, Sweep
from ssdlab.experiments.sweeping.tasks import setup_of
from ssdlab.runs.capacity import Wanted, with_loads

__all__ = ["loaded"]

LOAD, LOAD_OF, SCHEME = "load", "load_of", "scheme"


def loaded(sweep: Sweep, points: Sequence[Point], *, workers: int | None = None, refused: dict[str, Error] | None = None) -> list[Point]:
    """The points with the rates of their loads. Points without `load` are returned as they are.

    All seeds of a point have the capacity of the first one.

    Args:
        sweep: the sweep.
        points: those of its points that can be simulated.
        workers: maximum number of runs at once.
        refused: takes the reasons why loads have no rate, by label of the point, which is left out. By default the first is raised.

    Raises:
        ConfigError: `load_of` names no point.
        ssdlab.Error: a capacity was not found; the message names the point.
        ssdlab.Interrupted: Ctrl-C.
    """
    if all(point.options.get(LOAD) is None for point in points):
        return list(points)
    first: dict[str, Point] = {}
    for point in points:
        first.setdefault(_key(point.values), point)

    def wanted(point: Point) -> Wanted | None:
        of = point.options.get(LOAD_OF)
        other = None
        if of is not None and point.options.get(LOAD) is not None:
            key = _key({**point.values, **_named(sweep, of)})
            if key not in first:
                error = ConfigError(f'{sweep.name}: {point.label}: load_of = "{of}": the sweep has no such point ({key})')
                if refused is None:
                    raise error
                refused[point.label] = error
                return None
            reference = first[key]
            other = (setup_of(reference).with_changes(load=None, load_of=None), reference.options.get(SCHEME))
        return Wanted(point.label, setup_of(first[_key(point.values)]), point.options.get(SCHEME), other)

    asked = {index: one for index, point in enumerate(points) if (one := wanted(point)) is not None}
    setups = with_loads([*asked.values()], workers=workers, refused=refused)
    return [
        replace(points[index], loaded=setup.loaded_as)
        for index, setup in zip(asked, setups, strict=True)
        if refused is None or points[index].label not in refused
    ]


def _named(sweep: Sweep, of: str) -> dict[str, Any]:
    """The values of axes that a text such as `npgc` or `scheme = npgc, device = nvme-4g` names."""
    found: dict[str, Any] = {}
    drives = [axis for axis in sweep.axes if axis.name not in (LOAD, SEED)]
    for part in of.split(","):
        name, equals, text = (piece.strip() for piece in part.partition("="))
        axes = [axis for axis in drives if axis.name == name] if equals else drives
        value = text if equals else name
        having = [(axis.name, entry.value) for axis in axes for entry in axis.values if entry.text == value]
        if len(having) != 1:
            known = [entry.text for axis in axes for entry in axis.values]
            why = f"several axes have it: write {having[0][0]} = {value}" if having else f"no axis has it{nearest(value, known)}"
            raise ConfigError(
                f'{sweep.name}: load_of = "{of}": {value}: {why}; '
                f"expected a value of an axis beside {LOAD} and {SEED}, such as scheme = npgc"
            )
        if having[0][0] in found:
            raise ConfigError(f'{sweep.name}: load_of = "{of}": two values of {having[0][0]}: expected one drive')
        found |= dict(having)
    return found


def _key(values: Mapping[str, Any]) -> str:
    """What names a point beside its seed."""
    others = {axis: value for axis, value in values.items() if axis != SEED}
    return ", ".join(f"{axis} = {value if isinstance(value, str) else value_text(value)}" for axis, value in others.items())
