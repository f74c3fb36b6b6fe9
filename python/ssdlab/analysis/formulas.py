"""The core's table of the formulas of bux2011, and their values over arrays. `ssdlab.queueing` has a function for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ssdlab import _core
from ssdlab.checks import shown
from ssdlab.errors import UsageError

Numbers: TypeAlias = npt.ArrayLike
"""A number, or an array of numbers."""
Value: TypeAlias = Any
"""A `float` if all arguments are numbers, else an array. As for NumPy's functions, the type depends on the arguments."""


class Formula(NamedTuple):
    """A row of the table of formulas."""

    name: str
    equation: str
    """Equation or section of the report."""
    dimension: str
    """Dimension of the value: `time`, `rate` or `number`."""
    arguments: list[str]
    sentences: str
    symbols: str
    """Right-hand side of the equation, in the symbols of the report."""


FORMULAS = {row[0]: Formula(*row) for row in _core.queueing_formulas()}
"""All formulas by name, in the order of the report."""


def evaluate(name: str, *arguments: Numbers) -> Value:
    """Computes the formula `name`. Arrays are broadcast.

    Raises:
        UsageError: an argument is not a number or array of numbers, shapes cannot be broadcast, or the formula has no value there.
    """
    names = FORMULAS[name].arguments
    columns = [_column(argument, value) for argument, value in zip(names, arguments, strict=True)]
    try:
        shape = np.broadcast_shapes(*(column.shape for column in columns))
    except ValueError as error:
        shapes = ", ".join(f"{argument} {column.shape}" for argument, column in zip(names, columns, strict=True) if column.shape)
        raise UsageError(f"arrays whose shapes do not broadcast: {shapes}") from error
    # arguments with one value stand for all; partial repeats are expanded
    spread = [(column if column.size == 1 else np.broadcast_to(column, shape)).reshape(-1) for column in columns]
    out = np.empty(shape)
    _core.queueing_formula(name, spread, out.reshape(-1), shape)
    return out if shape else float(out)


def evaluate_all(known: Mapping[str, Numbers]) -> dict[str, Value]:
    """Computes every formula whose arguments are all known, by name, in the order of the report.

    Raises:
        UsageError: as for `evaluate`.
    """
    return {
        name: evaluate(name, *(known[argument] for argument in formula.arguments))
        for name, formula in FORMULAS.items()
        if all(argument in known for argument in formula.arguments)
    }


def _column(name: str, value: Numbers) -> npt.NDArray[np.float64]:
    if isinstance(value, np.ma.MaskedArray):
        raise UsageError(f"{name} is a masked array: give the values that are to be computed, `.compressed()` or `.filled(...)`")
    try:
        column = np.asarray(value)
    except ValueError:  # lists of different lengths
        column = np.empty((), dtype=object)
    if column.dtype.kind not in "iuf":
        raise UsageError(f"{name} = {shown(value)}: expected a number, or an array of numbers")
    return column.astype(np.float64, copy=False)
