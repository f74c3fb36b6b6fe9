"""The arithmetic of study files: numbers from the statistics of a run, and rows from the metrics of all runs.

A metric is arithmetic over a result's entries, written with dots:

    latency_ns.all.mean / 1e6

A row is arithmetic over metrics, each with the scheme and the values of the parameters in brackets, `*` for all of them (those left
out at the end are all as well); all of them together are a list, in the order of the file:

    change(mean[pgc, 8], mean[npgc, 8])
    max(mean[pgc]) / min(mean[pgc])
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import itertools
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ssdlab.errors import ConfigError

__all__ = ["FUNCTIONS", "AbsentError", "Formula", "Reference", "lookup", "nearest"]

Value = float | tuple[float, ...]


class AbsentError(Exception):
    """A number that a run does not have; the text says which."""


class _LengthError(Exception):
    """Lists of different lengths in one calculation."""


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean "..."?` where a known name is near, else nothing."""
    found = difflib.get_close_matches(name, list(known), n=1)
    return f'; did you mean "{found[0]}"?' if found else ""


@dataclass(frozen=True)
class Reference:
    """`mean[pgc, 8]`: a metric, and where it is asked for."""

    metric: str
    where: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.metric}[{', '.join(self.where)}]"


INTERNAL = re.compile(r"\breference_\d+\b")
"""What stands for a name with brackets while a formula is parsed."""

BRACKETS = re.compile(r"([A-Za-z_]\w*)\s*\[([^\[\]]*)\]")


class Formula:
    """Parsed arithmetic, of a metric (names with dots) or of a row (names with brackets)."""

    def __init__(self, text: str, where: str) -> None:
        self.text = text
        self.where = where
        self.references: dict[str, Reference] = {}
        bare = BRACKETS.sub(self._take_reference, text)
        try:
            self._tree = ast.parse(bare.strip(), mode="eval").body
        except (SyntaxError, ValueError) as error:
            raise ConfigError(f'{where} = "{text}": cannot be read as arithmetic') from error
        self.names = tuple(self._check(self._tree))

    def _take_reference(self, match: re.Match[str]) -> str:
        name = f"reference_{len(self.references)}"
        self.references[name] = Reference(match[1], tuple(part.strip() for part in match[2].split(",")))
        return name

    def _check(self, node: ast.AST) -> Iterable[str]:
        """Refuses whatever is not arithmetic; yields the names."""
        path = _path(node)
        if path is not None:
            yield path
        elif isinstance(node, ast.Call):
            function = _path(node.func)
            if function not in FUNCTIONS or node.keywords:
                known = ", ".join(FUNCTIONS)
                raise ConfigError(f'{self.where} = "{self.text}": no function {self._shown(node.func)}; there are {known}')
            for argument in node.args:
                yield from self._check(argument)
        elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            yield from self._check(node.left)
            yield from self._check(node.right)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield from self._check(node.operand)
        elif not (isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool)):
            raise ConfigError(f'{self.where} = "{self.text}": {self._shown(node)} is not arithmetic; allowed are + - * / ** and functions')

    def _shown(self, node: ast.AST) -> str:
        """A part of the formula, as its author wrote it."""
        return INTERNAL.sub(lambda name: str(self.references.get(name[0], name[0])), ast.unparse(node))

    def check(self, resolve: Callable[[str], Value]) -> None:
        """Finds the mistakes that do not depend on the numbers: `resolve` says how many there are for a name, and any will do.

        Raises:
            ConfigError: if the formula is no number, calls a function with the wrong arguments, or calculates with lists that do not fit.
        """
        with contextlib.suppress(AbsentError):
            self.number(resolve)

    def number(self, resolve: Callable[[str], Value]) -> float:
        """The value, with names replaced by what `resolve` says.

        Raises:
            AbsentError: if a name has no value, or the value is no finite number.
        """
        try:
            value = self._evaluate(self._tree, resolve)
        except _LengthError as error:
            raise ConfigError(f'{self.where} = "{self.text}": {error}') from error
        if isinstance(value, tuple):
            raise ConfigError(f'{self.where} = "{self.text}": is a list of {len(value)} numbers; say which, or take min, max or mean')
        if not math.isfinite(value):
            raise AbsentError(f"{self.text} is not a finite number")
        return value

    def _evaluate(self, node: ast.AST, resolve: Callable[[str], Value]) -> Value:
        path = _path(node)
        if path is not None:
            return resolve(path)
        if isinstance(node, ast.Call):
            arguments = [self._evaluate(argument, resolve) for argument in node.args]
            try:
                return FUNCTIONS[_path(node.func) or ""](*arguments)
            except TypeError as error:
                raise ConfigError(f'{self.where} = "{self.text}": {self._shown(node)}: wrong number of arguments') from error
        if isinstance(node, ast.BinOp):
            calculate = OPERATORS[type(node.op)]
            return _each(calculate, self._evaluate(node.left, resolve), self._evaluate(node.right, resolve))
        if isinstance(node, ast.UnaryOp):
            return _each(operator.sub, 0.0, self._evaluate(node.operand, resolve))
        assert isinstance(node, ast.Constant)
        assert isinstance(node.value, int | float)
        return float(node.value)


def lookup(result: Mapping[str, Any], path: str) -> float:
    """The entry of a result that a path with dots names.

    Raises:
        AbsentError: if the result has no such number.
    """
    value: Any = result
    for name in path.split("."):
        if not isinstance(value, Mapping) or name not in value:
            known = nearest(name, value) if isinstance(value, Mapping) else ""
            raise AbsentError(f"the run has no {path}{known}")
        value = value[name]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise AbsentError(f"{path} is no number")
    return float(value)


def _path(node: ast.AST) -> str | None:
    """`a.b.c` as a text; `None` for anything but names and dots."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = _path(node.value)
        return None if base is None else f"{base}.{node.attr}"
    return None


def _each(calculate: Callable[[float, float], float], left: Value, right: Value) -> Value:
    """Number by number, where one side or both are lists."""
    if not isinstance(left, tuple) and not isinstance(right, tuple):
        return _safely(calculate, left, right)
    lefts, rights = _as_long(left, right), _as_long(right, left)
    if len(lefts) != len(rights):
        raise _LengthError(f"lists of {len(lefts)} and {len(rights)} numbers cannot be calculated with each other")
    return tuple(_safely(calculate, a, b) for a, b in zip(lefts, rights, strict=True))


def _as_long(value: Value, other: Value) -> tuple[float, ...]:
    if isinstance(value, tuple):
        return value
    return (value,) * (len(other) if isinstance(other, tuple) else 1)


def _safely(calculate: Callable[[float, float], float], a: float, b: float) -> float:
    try:
        return calculate(a, b)
    except (ZeroDivisionError, OverflowError):
        return math.nan


def _flat(values: Iterable[Value]) -> tuple[float, ...]:
    return tuple(number for value in values for number in (value if isinstance(value, tuple) else (value,)))


def _of_all(function: Callable[[tuple[float, ...]], float]) -> Callable[..., Value]:
    """A function of any number of numbers and lists; not a number where one of them is none."""

    def over_all(*values: Value) -> Value:
        numbers = _flat(values)
        return math.nan if not numbers or any(map(math.isnan, numbers)) else function(numbers)

    return over_all


def _power(a: float, b: float) -> float:
    """Not a number where it would be a complex one."""
    value = a**b
    return math.nan if isinstance(value, complex) else float(value)


def _change(new: Value, old: Value) -> Value:
    return _each(lambda a, b: 100 * (a / b - 1), new, old)


def _growth(values: Value) -> Value:
    numbers = _flat([values])
    return tuple(_safely(operator.truediv, later, earlier) for earlier, later in itertools.pairwise(numbers))


OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: _power,
}

FUNCTIONS: dict[str, Callable[..., Value]] = {
    "min": _of_all(min),
    "max": _of_all(max),
    "mean": _of_all(lambda numbers: math.fsum(numbers) / len(numbers)),
    "change": _change,
    "growth": _growth,
}
"""What a formula may call: the least, largest and mean of numbers and lists; `change(new, old)` in percent; `growth(list)`, the factor
from each number of a list to the next."""
