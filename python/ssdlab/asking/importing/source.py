"""The keys of a file of another simulator, each with its line, and the numbers in their values."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

from ssdlab.checks import shown
from ssdlab.errors import FileError, UsageError

__all__ = ["Entry", "Source", "load"]

T = TypeVar("T")

MOST_BYTES = 4 << 20
"""Maximum size of a file; configurations have some kilobytes."""
DECIMAL = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
"""SimpleSSD's suffixes of whole numbers: small letters are powers of 1000, capitals of 1024."""
PICOSECONDS = {"": 1, "ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
_NUMBER = re.compile(r"[+-]?(?:\d{1,40}\.?\d{0,40}|\.\d{1,40})(?:[eE][+-]?\d{1,3})?")
_WITH_UNIT = re.compile(r"(\d{1,30})([A-Za-z]{0,2})")


class Source(NamedTuple):
    """A file, as it was read."""

    name: str
    text: str

    def refuse(self, line: int, what: str) -> UsageError:
        """An error about a line."""
        return UsageError(f"{self.name}:{line}: {what}" if line else f"{self.name}: {what}")

    def line_at(self, position: int) -> int:
        """The line, from 1, of a position in the text."""
        return self.text.count("\n", 0, position) + 1


class Entry(NamedTuple):
    """A key of theirs with its value."""

    source: Source
    line: int
    section: str
    name: str
    value: str

    def wrong(self, expected: str) -> UsageError:
        """The error about a value that cannot be read."""
        return self.source.refuse(self.line, f"{self.name} = {shown(self.value)}: expected {expected}")

    def number(self, least: float = 0.0, most: float = 1e18) -> float:
        """The value as a number."""
        text = self.value.strip()
        number = float(text) if _NUMBER.fullmatch(text) else math.nan
        if not least <= number <= most:
            raise self.wrong(f"a number from {least:g} to {most:g}")
        return number

    def whole(self, least: int = 0, most: int = 10**18) -> int:
        """The value as a whole number."""
        number = self.number(least, most)
        if number != int(number):
            raise self.wrong("a whole number")
        return int(self.value) if self.value.strip().isdigit() else int(number)

    def truth(self) -> bool:
        """The value as a truth value, in the spellings of the four simulators."""
        word = self.value.strip().lower()
        if word in {"true", "t", "1", "yes", "y", "on"}:
            return True
        if word in {"false", "f", "0", "no", "n", "off", ""}:
            return False
        raise self.wrong("true or false")

    def choice(self, choices: Mapping[str, T]) -> T:
        """What the value stands for."""
        if (found := choices.get(self.value.strip().upper())) is None:
            raise self.wrong(f"one of {', '.join(choices)}")
        return found

    def amount(self) -> int:
        """The value as a whole number with one of SimpleSSD's suffixes."""
        found = _WITH_UNIT.fullmatch(self.value.strip())
        if found is None or found[2] not in {"", *DECIMAL} or int(found[1]) > 10**18:
            raise self.wrong("a whole number, which may end in k, m, g, t, K, M, G or T")
        return int(found[1]) * DECIMAL.get(found[2], 1)

    def nanoseconds(self) -> float:
        """The value as a time of SimpleSSD: picoseconds, or with a unit."""
        found = _WITH_UNIT.fullmatch(self.value.strip())
        if found is None or found[2] not in PICOSECONDS or int(found[1]) > 10**18:
            raise self.wrong("a time: a whole number of picoseconds, or with s, ms, us, ns or ps")
        return int(found[1]) * PICOSECONDS[found[2]] / 1000


def load(file: Path) -> Source:
    """Reads a file. Characters that are not UTF-8, as in comments, are replaced.

    Raises:
        FileError: the file cannot be read.
        UsageError: the file is too large for a configuration, or binary.
    """
    name = str(file)
    try:
        if file.is_fifo():
            raise UsageError(f"{name}: a pipe: save what it gives to a file first, and name that")
        with file.open("rb") as opened:
            content = opened.read(MOST_BYTES + 1)
    except OSError as reason:
        raise FileError(f"{name}: cannot read: {reason.strerror}", reason.errno, name) from reason
    if len(content) > MOST_BYTES:
        raise UsageError(f"{name}: larger than {MOST_BYTES >> 20} MiB: expected a configuration of another simulator")
    if b"\0" in content:
        raise UsageError(f"{name}: binary: expected a configuration of another simulator, which is text")
    return Source(name, content.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n"))
