"""Parsing of plain values without typer's validation, whose import takes longer than most commands.

Plain values are parsed here with the same result; other values, and invalid ones, are passed to typer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

__all__ = ["read_plainly"]

MOST_DIGITS = 18
"""Maximum number of digits of a whole number that is parsed here; it fits all integer types."""


def read_plainly(parameters: Iterable[Any]) -> None:
    """Makes typer's parameters parse plain values themselves."""
    for parameter in parameters:
        if hasattr(parameter, "get_runtime_param") and not isinstance(parameter.get_runtime_param, _Reader):
            parameter.get_runtime_param = _Reader(parameter, parameter.get_runtime_param)


class _Reader:
    """Replaces typer's reader of a parameter, and its factory."""

    def __init__(self, parameter: Any, make: Callable[[], Any]) -> None:
        self._make = make
        self._default = parameter.default
        self._kind = parameter.type_descriptor.annotation
        self._info = parameter.type_descriptor.parameter_info

    def __call__(self) -> _Reader:
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Parses the word or words of a parameter."""
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
