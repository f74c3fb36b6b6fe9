"""A part of a result: a mapping with entries as attributes, and the classes of parts, made from a schema."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, ClassVar, cast, dataclass_transform

__all__ = ["Section", "UntypedSection", "part_classes"]


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


TYPES = {"integer": "int", "number": "float", "string": "str", "boolean": "bool"}
UNITLESS = ("text", "object", "list", "number", "yes or no", "key and needs", "remark")
"""Units that add nothing to the type."""


def part_classes(root: type[Section], schema: Mapping[str, Any], hidden: tuple[str, ...] = ()) -> dict[str, type[Section]]:
    """Classes of all parts of a result by name, made from its schema; `root` gets the entries of the result, except `hidden` attributes.

    Parts with the same entries share a class, which is named after its place. Annotations have the types of the entries as text, and
    docstrings have the sentence and unit of each entry.
    """
    made: dict[str, type[Section]] = {}
    by_content: dict[str, type[Section]] = {}

    def fill(kind: type[Section], name: str, place: str, schema: Mapping[str, Any]) -> None:
        fields = schema["properties"]
        kind._parts = {key: part(name, place, key, fields) for key, field in fields.items() if "properties" in field}
        items = {key: field["items"] for key, field in fields.items() if _holds_parts(field)}
        kind._parts |= {key: add(_camel(key.removesuffix("s")), f"{key}[]", item) for key, item in items.items()}
        types = {key: kind._parts[key].__name__ if key in kind._parts else _type_of(field) for key, field in fields.items()}
        types |= {key: f"list[{types[key]}]" for key in items}
        shown = {name: key for key in fields if place or key not in hidden for name in _names(key, fields)}
        kind.__annotations__ = {name: types[key] for name, key in shown.items()}
        needed = schema.get("required", [])
        lines = [f"    {name}: {_sentence(key, fields[key], required=key in needed)}" for name, key in shown.items()]
        kind.__doc__ = "\n".join([_class_sentence(place, schema), "", "Attributes:", *lines])

    def add(name: str, place: str, schema: Mapping[str, Any]) -> type[Section]:
        """The class of an object: one with the same entries, or a new one."""
        content = json.dumps([schema["properties"], schema.get("required", [])], sort_keys=True)
        if content not in by_content:
            assert name not in made, f"two classes would be called {name}"
            made[name] = by_content[content] = type(name, (Section,), {"__module__": root.__module__})
            fill(made[name], name, place, schema)
        return by_content[content]

    def part(parent: str, place: str, key: str, siblings: Mapping[str, Any]) -> type[Section]:
        """The class of a part, named after its place, or after all places of parts that share it."""
        same = [other for other, field in siblings.items() if _same(field, siblings[key])]
        name = _camel(key) if len(same) == 1 else "Class" if len(same) == len(siblings) else "".join(map(_camel, same))
        here = f"{place}.{{{', '.join(same)}}}" if len(same) > 1 else f"{place}.{key}"
        return add(f"{parent}{name}", here.lstrip("."), siblings[key])

    fill(root, "", "", schema)
    return {**made, root.__name__: root}


def _holds_parts(field: Mapping[str, Any]) -> bool:
    """Whether a field is a list of objects that have parts."""
    return any("properties" in entry for entry in field.get("items", {}).get("properties", {}).values())


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return "properties" in one and all(one.get(key) == other.get(key) for key in ("properties", "required"))


def _camel(key: str) -> str:
    return "".join(word.capitalize() for word in key.removesuffix("_ns").removesuffix("_mb_s").split("_"))


def _names(key: str, others: Mapping[str, Any]) -> list[str]:
    """The attributes of an entry: one whose name ends with the unit of time has two names."""
    short = key.removesuffix("_ns")
    return [key] if short == key or short in others or iskeyword(short) else [short, key]


def _type_of(field: Mapping[str, Any]) -> str:
    kind = field.get("type")
    if isinstance(kind, list):  # null values are absent in results
        (kind,) = [one for one in kind if one != "null"]
    if kind == "array":
        return f"list[{_type_of(field['items'])}]"
    if kind == "object":  # within a list, as in JSON
        values = sorted({_type_of(entry) for entry in field["properties"].values()})
        return f"dict[str, {' | '.join(values)}]"
    return TYPES[kind] if kind else "UntypedSection"


def _class_sentence(place: str, schema: Mapping[str, Any]) -> str:
    """The sentence on a class. Parts that share a class have sentences of their own at their places."""
    if "{" in place:
        return f"`{place}` of a result."
    return f"`{place}` of a result. {_plain(schema)}" if place else _plain(schema)


def _sentence(key: str, field: Mapping[str, Any], *, required: bool) -> str:
    """The sentence on an entry, with its unit."""
    sentence = _plain(field)
    if not required and "bsent" not in sentence:
        sentence += " Absent where the run does not have it."
    unit = field.get("unit", "ns" if key.endswith("_ns") else "text")
    return sentence if unit in UNITLESS else f"{sentence} Unit: {unit}."


def _plain(schema: Mapping[str, Any]) -> str:
    """A doc comment in one line."""
    return " ".join(schema["description"].split())
