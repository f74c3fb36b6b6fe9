"""A part of a result: a mapping with entries as attributes."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast, dataclass_transform

__all__ = ["Section", "UntypedSection"]


@dataclass_transform(frozen_default=True, eq_default=False)
class Section(Mapping[str, Any]):
    """A part of a result: a mapping whose entries are also attributes.

    A name may be given without its unit: `latency` is the entry `latency_ns`, in nanoseconds. An entry that the run does not have is
    absent: access raises `AttributeError` (or `KeyError`), and `get` returns its default.

    Type checkers and editors know the entries of the statistics, whose parts have classes with named attributes. Other parts are an
    `UntypedSection`.
    """

    _parts: ClassVar[Mapping[str, type[Section]]] = {}
    """Class of a part, or of the items in a list of parts, by entry."""

    def __init__(self, data: Mapping[str, Any], path: str = "") -> None:
        self._data = data
        self._path = path

    def __getitem__(self, key: str) -> Any:
        value, path = self._data[key], f"{self._path}.{key}".lstrip(".")
        if isinstance(value, list) and key in self._parts:
            return [self._parts[key](entry, f"{path}[{number}]") for number, entry in enumerate(value)]
        if not isinstance(value, dict):
            return value
        return self._parts.get(key, UntypedSection)(value, path)

    def _entry(self, name: str) -> Any:
        """The entry that an attribute stands for."""
        # copying and pickling read private names before there is any data
        if name.startswith("_"):
            raise AttributeError(name)
        for key in (name, f"{name}_ns"):
            if key in self._data:
                return self[key]
        where = self._path or "this result"
        raise AttributeError(f"{where} has no {name}; it has {', '.join(self._data) or 'nothing'}")

    if not TYPE_CHECKING:  # type checkers should refuse names that a typed part does not have

        def __getattr__(self, name: str) -> Any:
            return self._entry(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._data]

    def __repr__(self) -> str:
        return f"<{self._path or 'result'}: {json.dumps(_shortened(self._data))}>"

    def _repr_html_(self) -> str:
        """Names and values as HTML, for notebooks."""
        from ssdlab.pages.html_table import of_mapping  # noqa: PLC0415 (only notebooks need it)

        return of_mapping(self._path, self._data)

    def to_dict(self) -> dict[str, Any]:
        """A plain copy: dictionaries, lists, numbers and texts."""
        return cast("dict[str, Any]", copy.deepcopy(self._data))


class UntypedSection(Section):
    """A part whose entries depend on the run, such as `config`. Type checkers accept every name."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


SHOWN = 8
"""Maximum number of entries of a list that are printed."""


def _shortened(value: Any) -> Any:
    """A value with lists cut to their first entries and their length; series have thousands of entries."""
    if isinstance(value, Mapping):
        return {key: _shortened(entry) for key, entry in value.items()}
    if not isinstance(value, list):
        return value
    more = len(value) - SHOWN
    return [*map(_shortened, value[:SHOWN]), *([f"... {more:,} more"] if more > 0 else [])]
