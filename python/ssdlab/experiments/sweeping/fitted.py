"""The over-provisioning of fitted drives on the axis of a sweep: what the drives have, in place of what was asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ssdlab.analysis.remarks import named
from ssdlab.asking.keys import AxisValue
from ssdlab.asking.plans import SPARE_KEY
from ssdlab.experiments.sweeping.definition import Group, Sweep, SweepAxis
from ssdlab.experiments.sweeping.points import SEED, SweepPoint
from ssdlab.experiments.sweeping.questions import Question
from ssdlab.experiments.sweeping.result import SweepResult

__all__ = ["with_spare"]


def with_spare(result: SweepResult) -> SweepResult:
    """The result with the over-provisioning of the simulated drives as values of its axis.

    Whole blocks and thresholds may need more than a value asks for. If a value gives drives of several, or two values give the same, they
    become texts that name both.
    """
    axis = next((axis for axis in result.sweep.axes if axis.name == SPARE_KEY), None)
    if axis is None:
        return result
    spare = _spare(axis, result.points)
    if all(list(spare[value.text]) in ([], [value.value]) for value in axis.values):
        return result
    texts = {value.text: _value(value, spare) for value in axis.values}

    def shown(values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: texts[AxisValue(value, {}, {}).text] if name == SPARE_KEY else value for name, value in values.items()}

    points = [replace(point, values=shown(point.values)) for point in result.points]
    names = {_name(before): _name(after) for before, after in zip(result.points, points, strict=True)}
    return replace(
        result,
        sweep=_renamed(result.sweep, texts),
        points=points,
        dropped={names.get(name, name): seeds for name, seeds in result.dropped.items()},
    )


def _spare(axis: SweepAxis, points: Sequence[SweepPoint]) -> dict[str, dict[float, None]]:
    """By value as text: what the drives of its points have, each once."""
    found: dict[str, dict[float, None]] = {value.text: {} for value in axis.values}
    for point in points:
        fit = point.result.to_dict().get("fit")
        if fit is not None:
            found[AxisValue(point.values[SPARE_KEY], {}, {}).text][fit["overprovisioning"]] = None
    return found


def _value(asked: AxisValue, spare: Mapping[str, Mapping[float, None]]) -> Any:
    """The value of the axis in place of one that was asked for."""
    own = list(spare[asked.text])
    if not own:
        return asked.value
    alone = all(own[0] not in others for text, others in spare.items() if text != asked.text)
    if len(own) == 1 and alone:
        return own[0]
    several = f"{min(own):g} to {max(own):g}" if len(own) > 1 else f"{own[0]:g}"
    return f"{several} ({asked.text} asked)"


def _renamed(sweep: Sweep, values: Mapping[str, Any]) -> Sweep:
    """The sweep with these values of the axis, by their texts."""

    def value(axis: SweepAxis, one: AxisValue) -> AxisValue:
        return replace(one, value=values[one.text]) if axis.name == SPARE_KEY else one

    def group(one: Group) -> Group:
        axes = tuple(replace(axis, values=tuple(value(axis, each) for each in axis.values)) for axis in one.axes)
        rows = tuple(tuple(value(axis, each) for axis, each in zip(one.axes, row, strict=True)) for row in one.rows)
        return replace(one, axes=axes, rows=rows)

    texts = {text: AxisValue(value, {}, {}).text for text, value in values.items()}

    def question(one: Question) -> Question:
        if one.depends_on == SPARE_KEY:
            return replace(one, first=texts[one.first])
        if one.compare != SPARE_KEY:
            return one
        return replace(one, against=texts[one.against], values=tuple(texts[of] for of in one.values))

    return replace(sweep, groups=tuple(map(group, sweep.groups)), questions=tuple(map(question, sweep.questions)))


def _name(point: SweepPoint) -> str:
    return named({axis: value for axis, value in point.values.items() if axis != SEED})
