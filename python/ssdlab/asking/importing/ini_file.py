"""Configuration files of SimpleSSD with sections (`[pal]`) as lists of keys with their lines, and those of version 2.1, which are XML."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ssdlab.asking.importing.source import Entry, Source
from ssdlab.asking.importing.xml_file import Element, parse

__all__ = ["entries_of", "entries_of_xml"]

_SECTION = re.compile(r"\[\s*([^\]\s]+)\s*\]")


def entries_of(source: Source) -> Iterator[Entry]:
    """The keys of a file with sections. A comment begins with `#` or `;`, at the start of a line or behind a blank."""
    section = ""
    for line, text in enumerate(source.text.split("\n"), 1):
        content = re.split(r"(?:^|\s)[#;]", text, maxsplit=1)[0].strip()
        if not content:
            continue
        if (found := _SECTION.fullmatch(content)) is not None:
            section = found[1].lower()
            continue
        name, equals, value = content.partition("=")
        if not equals or not name.strip():
            raise source.refuse(line, f"{content[:60]}: expected a section such as [pal], or key = value")
        yield Entry(source, line, section, name.strip(), value.strip())


def entries_of_xml(source: Source) -> list[Entry]:
    """The keys of a file of version 2.1, each with the path of its section: `fil.nand`."""
    return list(_below(source, parse(source), ""))


def _below(source: Source, element: Element, section: str) -> Iterator[Entry]:
    for child in element.children:
        name = child.attributes.get("name", "")
        if child.name == "section":
            yield from _below(source, child, f"{section}.{name}" if section else name)
        elif child.name == "config":
            level = child.attributes.get("level")
            yield Entry(source, child.line, section, f"{name}{f'[{level}]' if level else ''}", child.text)
