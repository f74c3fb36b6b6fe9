"""The options of a QEMU device in a command line or a run script: `-device femu,secsz=512,...`.

A script is not executed. Assignments are followed (`name=value`, `NAME=${NAME}",key=${other}"`, `${x:-default}`), and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ssdlab.asking.importing.source import Entry, Source

__all__ = ["devices"]

MOST_CHARACTERS = 100_000
_ASSIGNMENT = re.compile(r"(?:export\s+|local\s+|declare\s+)?([A-Za-z_]\w*)(\+?)=(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)(?::?[-=]([^{}]*))?\}|\$([A-Za-z_]\w*)")
_DEVICE = re.compile(r"-device[\s=]+(femu|femu-subsys|nvme)((?:,[^\s,]*)*)(?=\s|$)")
_COMMENT = re.compile(r"(?:^|\s)#.*")


def devices(source: Source) -> dict[str, list[Entry]]:
    """The options of the first device of each name (`femu`, `femu-subsys`, `nvme`), with the lines on which they are set."""
    variables: dict[str, str] = {}
    found: dict[str, list[Entry]] = {}
    for line, statement in _statements(source.text):
        assigned = _ASSIGNMENT.fullmatch(statement)
        if assigned is None:
            for name, options in _DEVICE.findall(_expanded(statement, variables)):
                found.setdefault(name, list(_entries(source, name, options, line)))
            continue
        name, adds, value = assigned.groups()
        value = _expanded(_unquoted(value), variables)
        variables[name] = (variables.get(name, "") if adds else "") + value
        if len(variables[name]) > MOST_CHARACTERS:
            raise source.refuse(line, f"{name} grows beyond {MOST_CHARACTERS:,} characters")
    for value in variables.values():  # options that no command of the script uses
        for name, options in _DEVICE.findall(value):
            found.setdefault(name, list(_entries(source, name, options, 0)))
    return found


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """The lines without comments, those that end in a backslash joined with the next."""
    joined, first = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        first = first or number
        if line.rstrip().endswith("\\") and not line.lstrip().startswith("#"):
            joined += f"{line.rstrip()[:-1]} "
            continue
        joined += _COMMENT.sub("", line)
        if joined.strip():
            yield first, joined.strip()
        joined, first = "", 0
    if joined.strip():
        yield first, joined.strip()


def _unquoted(text: str) -> str:
    return text.replace('"', "").replace("'", "").strip()


def _expanded(text: str, variables: dict[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        name = found[1] or found[3]
        return variables.get(name, found[2] or "")

    return _VARIABLE.sub(value, _unquoted(text))[: 2 * MOST_CHARACTERS]


def _entries(source: Source, device: str, options: str, line: int) -> Iterator[Entry]:
    for option in options.split(",")[1:]:
        name, _, value = option.partition("=")
        if name.strip():
            yield Entry(source, _line_of(source, name.strip()) or line, device, name.strip(), value)


def _line_of(source: Source, name: str) -> int:
    """The line that has the option: the first with `,name=`, else 0."""
    found = re.search(rf",{re.escape(name)}(?:=|,|\"|\s|$)", source.text, flags=re.MULTILINE)
    return source.line_at(found.start()) if found else 0
