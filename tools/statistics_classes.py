"""Writes `python/ssdlab/run_statistics.py`, the typed classes of a result, from the schema of results in the built core.

    .venv/bin/python tools/statistics_classes.py

A test compares the file with the output of this script. Change the doc comments of the core, not the file.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from keyword import iskeyword
from pathlib import Path
from typing import Any

from ssdlab import _core
from ssdlab.section import Section

FILE = Path(__file__).resolve().parent.parent / "python" / "ssdlab" / "run_statistics.py"
COMMAND = ".venv/bin/python tools/statistics_classes.py"

ROOT = "RunStatistics"
NOT_ATTRIBUTES = ("requests", "remarks")
"""Entries of a result whose attribute differs: `Result.requests` is the log, `Result.remarks` a list of `Remark`."""
TYPES = {"integer": "int", "number": "float", "string": "str", "boolean": "bool"}
UNITLESS = ("text", "object", "list", "number", "yes or no", "key and needs", "remark")
"""Units that add nothing to the type."""
WIDTH = 140
HEAD = f'''"""The statistics of a result as classes, so that editors and type checkers know them.

Written by `{COMMAND}` from the schema of the core: change the doc comments of the core, not this file.

An entry that a run does not have is absent: its attribute raises `AttributeError`. A time has two names, with and without its unit:
`latency.read.p99` is `latency_ns.read.p99`, in nanoseconds.
"""

from __future__ import annotations

from collections import abc
from typing import ClassVar

from ssdlab.section import Section, UntypedSection

'''


class Classes:
    """The classes written so far, by content: parts with the same entries share one."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._names: dict[str, str] = {}

    def add(self, name: str, place: str, schema: Mapping[str, Any]) -> str:
        """Writes the class of an object, after those of its parts, unless a class with the same entries exists; returns its name."""
        content = json.dumps([schema["properties"], schema.get("required", [])], sort_keys=True)
        if content not in self._names:
            taken = name in self._names.values()
            assert not taken, f"two classes would be called {name}"
            self._names[content] = name
            self.texts.append(self._text(name, place, schema))
        return self._names[content]

    def _text(self, name: str, place: str, schema: Mapping[str, Any]) -> str:
        fields = {key: field for key, field in schema["properties"].items() if place or key not in NOT_ATTRIBUTES}
        parts = {key: self._part(name, place, key, schema["properties"]) for key, field in schema["properties"].items() if _is_part(field)}
        parts |= {key: self._item(key, field["items"]) for key, field in schema["properties"].items() if _holds_parts(field)}
        needed = schema.get("required", [])
        lines = [f"class {name}(Section):", *_docstring(_class_sentence(place, schema))]
        if parts:
            entries = "".join(f'        "{key}": {part},\n' for key, part in parts.items())
            lines += ["", f"    _parts: ClassVar[abc.Mapping[str, type[Section]]] = {{\n{entries}    }}"]
        lines.append("")
        for key, field in fields.items():
            kind = f"list[{parts[key]}]" if _holds_parts(field) else parts.get(key) or _type_of(field)
            lines += _entry(key, kind, field, required=key in needed, others=fields)
        return "\n".join(lines)

    def _part(self, parent: str, place: str, key: str, siblings: Mapping[str, Any]) -> str:
        """The class of a part, named after its place, or after all places of parts that share it."""
        same = [other for other, field in siblings.items() if _same(field, siblings[key])]
        stem = "" if parent == ROOT else parent
        name = _camel(key) if len(same) == 1 else "Class" if len(same) == len(siblings) else "".join(map(_camel, same))
        here = f"{place}.{{{', '.join(same)}}}" if len(same) > 1 else f"{place}.{key}"
        return self.add(f"{stem}{name}", here.lstrip("."), siblings[key])

    def _item(self, key: str, schema: Mapping[str, Any]) -> str:
        """The class of the items of a list."""
        return self.add(_camel(key.removesuffix("s")), f"{key}[]", schema)


def _holds_parts(field: Mapping[str, Any]) -> bool:
    """Whether a field is a list of objects that have parts."""
    entries = field.get("items", {}).get("properties", {})
    return any(_is_part(entry) for entry in entries.values())


def _is_part(field: Mapping[str, Any]) -> bool:
    return "properties" in field


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return _is_part(one) and one.get("properties") == other.get("properties") and one.get("required") == other.get("required")


def _camel(key: str) -> str:
    return "".join(word.capitalize() for word in key.removesuffix("_ns").removesuffix("_mb_s").split("_"))


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


def _entry(key: str, kind: str, field: Mapping[str, Any], *, required: bool, others: Mapping[str, Any]) -> Iterator[str]:
    """The lines of an entry with its sentence. An entry whose name ends with the unit of time has two names."""
    sentence = _plain(field)
    if not required and "bsent" not in sentence:
        sentence += " Absent where the run does not have it."
    unit = field.get("unit", "ns" if key.endswith("_ns") else "text")
    sentence += "" if unit in UNITLESS else f" Unit: {unit}."
    short = key.removesuffix("_ns")
    names = [key] if short == key or short in others or iskeyword(short) else [short, key]
    for name in names:
        assert not hasattr(Section, name), f"{name} is a method of all parts of a result: choose another name"
        yield f"    {name}: {kind}"
        yield from _docstring(sentence)


def _plain(schema: Mapping[str, Any]) -> str:
    """A doc comment in one line."""
    return re.sub(r"\s+", " ", schema["description"]).strip()


def _docstring(sentence: str) -> list[str]:
    quotes = '"""'
    text = f"{quotes}{sentence}{quotes}"
    if len(text) <= WIDTH - 4:
        return [f"    {text}"]
    first, dot, rest = sentence.partition(". ")
    first, rest = (first + dot.strip(), rest) if len(first) < WIDTH - 8 else (sentence, "")
    if not rest:  # a single long sentence is broken into lines
        lines = textwrap.wrap(first, WIDTH - 7)
        return [f"    {quotes}{lines[0]}", *(f"    {line}" for line in lines[1:]), f"    {quotes}"]
    return [f"    {quotes}{first}", "", *(f"    {line}" for line in textwrap.wrap(rest, WIDTH - 4)), f"    {quotes}"]


def text() -> str:
    """The content of the file."""
    classes = Classes()
    classes.add(ROOT, "", json.loads(_core.statistics_schema()))
    names = sorted(re.findall(r"^class (\w+)", "\n".join(classes.texts), re.MULTILINE))
    listed = "".join(f'    "{name}",\n' for name in names)
    return f"{HEAD}__all__ = [\n{listed}]\n" + "".join(f"\n\n{text}\n" for text in classes.texts)


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
