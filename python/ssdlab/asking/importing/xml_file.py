"""XML files as lists of keys with their lines.

Safe against entity bombs: a document type declaration is refused, and without one XML has no entities but the five predefined ones. Size
and depth are limited, too, and expat loads nothing from elsewhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.parsers import expat

from ssdlab.asking.importing.source import Source

__all__ = ["Element", "parse"]

DEEPEST = 16
MOST_ELEMENTS = 50_000
_DECLARATION = re.compile(r"<\?xml\b[^>]{0,200}\?>")


@dataclass
class Element:
    """An element: its name, attributes, text, line and children."""

    name: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    children: list[Element] = field(default_factory=list)


def parse(source: Source) -> Element:
    """The root element of an XML text.

    Raises:
        UsageError: the text is not XML, has a document type declaration, or is too large or too deep.
    """
    reader = _Reader(source)
    # some files of SimpleSSD have comments before the XML declaration, which its parser allows
    text = _DECLARATION.sub(lambda found: " " * len(found[0]), source.text, count=1)
    parser = expat.ParserCreate(encoding="utf-8")
    parser.StartElementHandler = lambda name, attributes: reader.begin(name, attributes, parser.CurrentLineNumber)
    parser.EndElementHandler = lambda _: reader.end()
    parser.CharacterDataHandler = reader.characters
    parser.StartDoctypeDeclHandler = lambda *_: reader.doctype(parser.CurrentLineNumber)
    try:
        parser.Parse(text.encode("utf-8", "replace"), True)
    except expat.ExpatError as reason:
        raise source.refuse(reason.lineno, f"not valid XML: {expat.ErrorString(reason.code)}") from reason
    return reader.root


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.root = Element("", {}, 0)
        self._open: list[Element] = []
        self._count = 0

    def begin(self, name: str, attributes: dict[str, str], line: int) -> None:
        self._count += 1
        if len(self._open) >= DEEPEST or self._count > MOST_ELEMENTS:
            raise self.source.refuse(line, f"more than {DEEPEST} levels or {MOST_ELEMENTS:,} elements: not a configuration")
        element = Element(name, attributes, line)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def end(self) -> None:
        element = self._open.pop()
        element.text = element.text.strip()

    def characters(self, text: str) -> None:
        if self._open:
            self._open[-1].text += text

    def doctype(self, line: int) -> None:
        raise self.source.refuse(line, "a document type declaration, which no configuration has and which can hold entity bombs: remove it")
