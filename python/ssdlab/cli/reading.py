"""Values of the command line read without what typer checks them with: importing that takes longer than most commands.

What is plain is read here, and means the same; all else, and all that is wrong, is left to typer, which imports it then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

__all__ = ["read_plainly"]

MOST_DIGITS = 18
"""A whole number of no more is within all that can count."""


def read_plainly(parameters: Iterable[Any]) -> None:
    """Has parameters of typer's read plain values by themselves."""
    for parameter in parameters:
        if hasattr(parameter, "get_runtime_param") and not isinstance(parameter.get_runtime_param, _Reader):
            parameter.get_runtime_param = _Reader(parameter, parameter.get_runtime_param)


class _Reader:
    """Takes the place of what makes typer's reader of a parameter, and of that reader."""

    def __init__(self, parameter: Any, make: Callable[[], Any]) -> None:
        self._make = make
        self._default = parameter.default
        self._kind = parameter.type_descriptor.annotation
        self._info = parameter.type_descriptor.parameter_info

    def __call__(self) -> _Reader:
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value that a word, or several, stand for."""
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        if several:
            return (
                list(value) if self._kind == list[str] and self._info.parser is None else self._make().coerce(value, param=param, ctx=ctx)
            )
        return value if self._is_default(value) else self._read(value, param, ctx)

    def _read(self, value: Any, param: Any, ctx: Any) -> Any:
        if isinstance(value, str) and self._info.parser is not None:
            return self._info.parser(value)
        if isinstance(value, str) and self._kind is str:
            return value
        if isinstance(value, str) and self._kind is int and self._is_plain(value):
            return int(value)
        if isinstance(self._kind, type) and issubclass(self._kind, Enum) and value in self._kind.__members__.values():
            return self._kind(value)
        return self._make().coerce(value, param=param, ctx=ctx)

    def _is_default(self, value: Any) -> bool:
        return value is self._default and isinstance(self._kind, type) and isinstance(value, self._kind)

    def _is_plain(self, word: str) -> bool:
        if not (word.isascii() and word.isdigit() and len(word) <= MOST_DIGITS):
            return False
        least, most = self._info.min, self._info.max
        return (least is None or least <= int(word)) and (most is None or int(word) <= most)
