"""The arithmetic of study files: metrics from the statistics of a run, and rows from the metrics of all runs.

A metric is arithmetic over a result's entries, written with dots:

    latency_ns.all.mean / 1e6
    flows.probe.latency_ns.read.p99 / 1e3

A row is arithmetic over metrics, each with scheme and values of the parameters in brackets; `*` selects all values, and so do values left
out at the end. Several selected values are a list, in the order of the file:

    change(mean[pgc, 8], mean[npgc, 8])
    max(mean[pgc]) / min(mean[pgc])

Both may call the formulas of the queueing model by name, with their arguments in order:

    mean_wait_rwp(1.0, 0.5, 0.0763, 0.9264, 0.9507, 3.0003, 256, gc.pages_moved / gc.jobs)
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import itertools
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

from ssdlab import queueing
from ssdlab._core import queueing_formulas
from ssdlab.checks import nearest
from ssdlab.errors import ConfigError, UsageError

__all__ = ["FUNCTIONS", "AbsentError", "Formula", "Reference", "lookup", "parse_reference"]

Value = float | tuple[float, ...]


class AbsentError(Exception):
    """A run does not have a number; the text says which."""


class _LengthError(Exception):
    """A calculation has lists of different lengths."""


@dataclass(frozen=True)
class Reference:
    """A reference to a metric in some runs: `mean[pgc, 8]`."""

    metric: str
    where: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.metric}[{', '.join(self.where)}]" if self.where else self.metric


INTERNAL = re.compile(r"\breference_\d+\b")
"""Matches the placeholder of a name with brackets in a parsed formula."""

BRACKETS = re.compile(r"([A-Za-z_]\w*)\s*\[([^\[\]]*)\]")


def parse_reference(text: str) -> Reference | None:
    """Parses a reference such as `mean[pgc, 8]` or `mean`; `None` for other texts."""
    name, bracket, inside = text.strip().partition("[")
    whole = text.strip() if bracket else f"{name}[]"
    match = BRACKETS.fullmatch(whole)
    return None if match is None else Reference(match[1], _labels(inside.removesuffix("]")) if bracket else ())


def _labels(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


class Formula:
    """Parsed arithmetic of a metric (names with dots) or of a row (names with brackets)."""

    def __init__(self, text: str, where: str) -> None:
        self.text = text
        self.where = where
        self.references: dict[str, Reference] = {}
        bare = BRACKETS.sub(self._take_reference, text)
        try:
            self._tree = ast.parse(bare.strip(), mode="eval").body
        except (SyntaxError, ValueError) as error:
            raise ConfigError(
                f'{where} = "{text}": cannot be read as arithmetic: expected names, numbers, + - * / ** and functions, such as a / (b + 1)'
            ) from error
        self.names = tuple(self._check(self._tree))

    def calls(self, function: str) -> bool:
        """Whether the arithmetic calls a function."""
        return any(isinstance(node, ast.Call) and _path(node.func) == function for node in ast.walk(self._tree))

    def _take_reference(self, match: re.Match[str]) -> str:
        name = f"reference_{len(self.references)}"
        self.references[name] = Reference(match[1], _labels(match[2]))
        return name

    def _check(self, node: ast.AST) -> Iterable[str]:
        """Refuses everything but arithmetic; yields the names in it."""
        path = _path(node)
        if path is not None:
            yield path
        elif isinstance(node, ast.Call):
            function = _path(node.func)
            if function not in FUNCTIONS or node.keywords:
                known = ", ".join(FUNCTIONS)
                near = nearest(function or "", FUNCTIONS)
                raise ConfigError(f'{self.where} = "{self.text}": no function {self._shown(node.func)}{near} (there are {known})')
            self._check_arguments(node, function)
            for argument in node.args:
                yield from self._check(argument)
        elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            yield from self._check(node.left)
            yield from self._check(node.right)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield from self._check(node.operand)
        elif not (isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool)):
            raise ConfigError(f'{self.where} = "{self.text}": {self._shown(node)} is not arithmetic; allowed are + - * / ** and functions')

    def _check_arguments(self, node: ast.Call, function: str) -> None:
        """Refuses a call with a wrong number of arguments."""
        signature = inspect.signature(FUNCTIONS[function])
        try:
            signature.bind(*node.args)
        except TypeError as error:
            taken = ", ".join(signature.parameters)
            message = f"{self._shown(node)}: wrong number of arguments ({len(node.args)}); {function} takes {taken}"
            raise ConfigError(f'{self.where} = "{self.text}": {message}') from error

    def _shown(self, node: ast.AST) -> str:
        """A part of the formula as written in the file."""
        return INTERNAL.sub(lambda name: str(self.references.get(name[0], name[0])), ast.unparse(node))

    def check(self, resolve: Callable[[str], Value]) -> None:
        """Finds mistakes that do not depend on values. `resolve` returns any numbers for a name, as many as it stands for.

        Raises:
            ConfigError: the formula is not a number, calls a function with wrong arguments, or combines lists of different lengths.
        """
        with contextlib.suppress(AbsentError):
            self._number(resolve, ANY_NUMBERS)

    def number(self, resolve: Callable[[str], Value]) -> float:
        """Computes the value, with `resolve` returning the values of names.

        Raises:
            AbsentError: a name has no value, or the result is not a finite number.
        """
        return self._number(resolve, FUNCTIONS)

    def _number(self, resolve: Callable[[str], Value], functions: Mapping[str, Callable[..., Value]]) -> float:
        try:
            value = self._evaluate(self._tree, resolve, functions)
        except _LengthError as error:
            raise ConfigError(f'{self.where} = "{self.text}": {error}') from error
        if isinstance(value, tuple):
            raise ConfigError(f'{self.where} = "{self.text}": is a list of {len(value)} numbers; name one of them, or use min, max or mean')
        if not math.isfinite(value):
            raise AbsentError(f"{self.text} is not a finite number")
        return value

    def _evaluate(self, node: ast.AST, resolve: Callable[[str], Value], functions: Mapping[str, Callable[..., Value]]) -> Value:
        path = _path(node)
        if path is not None:
            return resolve(path)
        if isinstance(node, ast.Call):
            arguments = [self._evaluate(argument, resolve, functions) for argument in node.args]
            return functions[_path(node.func) or ""](*arguments)
        if isinstance(node, ast.BinOp):
            left, right = (self._evaluate(side, resolve, functions) for side in (node.left, node.right))
            return _each(OPERATORS[type(node.op)], left, right)
        if isinstance(node, ast.UnaryOp):
            return _each(operator.sub, 0.0, self._evaluate(node.operand, resolve, functions))
        assert isinstance(node, ast.Constant)
        assert isinstance(node.value, int | float)
        return float(node.value)


def lookup(result: Mapping[str, Any], path: str) -> float:
    """An entry of a result by its path with dots. Items of a list, such as flows, are found by their names.

    Raises:
        AbsentError: the result has no number at this path.
    """
    value: Any = result
    for name in path.split("."):
        if isinstance(value, Sequence) and not isinstance(value, str):
            value = {part["name"]: part for part in value if isinstance(part, Mapping) and "name" in part}
        if not isinstance(value, Mapping) or name not in value:
            known = nearest(name, value) if isinstance(value, Mapping) else ""
            raise AbsentError(f"the run has no {path}{known}")
        value = value[name]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise AbsentError(f"{path} is not a number")
    return float(value)


def _path(node: ast.AST) -> str | None:
    """`a.b.c` as a text; `None` for an expression other than names and dots."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = _path(node.value)
        return None if base is None else f"{base}.{node.attr}"
    return None


def _each(calculate: Callable[..., float], *values: Value) -> Value:
    """Applies a function to numbers, or item by item to lists."""
    lengths = [len(value) for value in values if isinstance(value, tuple)]
    if not lengths:
        return _safely(calculate, *values)
    if len(set(lengths)) > 1:
        raise _LengthError(f"lists of {' and '.join(map(str, lengths))} numbers cannot be calculated with each other")
    columns = [value if isinstance(value, tuple) else (value,) * lengths[0] for value in values]
    return tuple(_safely(calculate, *numbers) for numbers in zip(*columns, strict=True))


def _safely(calculate: Callable[..., float], *numbers: Value) -> float:
    """Applies a function to numbers; nan if it has no value, or an argument is nan."""
    if any(math.isnan(number) for number in numbers if isinstance(number, float)):
        return math.nan
    try:
        return calculate(*numbers)
    except (ZeroDivisionError, OverflowError):
        return math.nan


def _flat(values: Iterable[Value]) -> tuple[float, ...]:
    return tuple(number for value in values for number in (value if isinstance(value, tuple) else (value,)))


def _of_all(function: Callable[[tuple[float, ...]], float]) -> Callable[..., Value]:
    """A function of all numbers in its arguments, which may be numbers and lists; nan if one of them is nan."""

    def over_all(*values: Value) -> Value:
        numbers = _flat(values)
        return math.nan if not numbers or any(map(math.isnan, numbers)) else function(numbers)

    return over_all


def _of_the_model(formula: Callable[..., float]) -> Callable[..., Value]:
    """A formula of the queueing model that also takes lists, item by item."""

    @wraps(formula)  # keeps the names of the arguments
    def calculated(*arguments: Value) -> Value:
        try:
            return _each(formula, *arguments)
        except UsageError as error:
            raise AbsentError(f"{formula.__name__}: {error}") from error

    return calculated


def _power(a: float, b: float) -> float:
    """A power; nan instead of a complex number."""
    value = a**b
    return math.nan if isinstance(value, complex) else float(value)


def _change(new: Value, old: Value) -> Value:
    return _each(lambda a, b: 100 * (a / b - 1), new, old)


def _growth(values: Value) -> Value:
    numbers = _flat([values])
    return tuple(_safely(operator.truediv, later, earlier) for earlier, later in itertools.pairwise(numbers))


def _count(values: Value, limit: Value) -> Value:
    (bound,) = _flat([limit])
    return float(sum(number <= bound for number in _flat([values])))


OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: _power,
}

MODEL: dict[str, Callable[..., float]] = {name: getattr(queueing, name) for name, *_ in queueing_formulas()}
"""The formulas of the queueing model."""

FUNCTIONS: dict[str, Callable[..., Value]] = {
    "min": _of_all(min),
    "max": _of_all(max),
    "mean": _of_all(lambda numbers: math.fsum(numbers) / len(numbers)),
    "abs": lambda values: _each(abs, values),
    "change": _change,
    "growth": _growth,
    "count": _count,
    **{name: _of_the_model(formula) for name, formula in MODEL.items()},
}
"""Functions that a formula may call: minimum, maximum and mean of numbers and lists; `abs`; `change(new, old)` in percent; `growth(list)`,
the factors between successive numbers; `count(list, limit)`, the count of numbers up to the limit; and the formulas of the queueing
model."""

ANY_NUMBERS = FUNCTIONS | dict.fromkeys(MODEL, lambda *values: _each(lambda *_: 1.0, *values))
"""`FUNCTIONS`, with formulas of the model that accept any numbers, also outside their domain."""
