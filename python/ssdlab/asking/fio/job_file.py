"""The sections and options of a job file, each option with its line, and the values in them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeVar

from ssdlab.checks import shown
from ssdlab.errors import FileError, UsageError

__all__ = ["Amount", "Entry", "JobFile", "Section", "load"]

T = TypeVar("T")

MOST_BYTES = 1 << 20
"""Maximum size of a job file."""
KIB, KB = 1024, 1000
SIZES = {"": 1, "b": 1} | {
    f"{letter}{rest}": base ** (power + 1)
    for power, letter in enumerate("kmgtp")
    for rest, base in (("", KIB), ("b", KIB), ("i", KIB), ("ib", KB))
}
"""Units of sizes by fio's default `kb_base=1024`, by which the units that end in `ib` are powers of 1000."""
TIMES = {"us": 1, "usec": 1, "ms": 10**3, "msec": 10**3, "s": 10**6, "sec": 10**6, "m": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}
"""Units of time, us."""
ALIASES = {
    "readwrite": "rw",
    "blocksize": "bs",
    "blocksize_range": "bsrange",
    "blockalign": "ba",
    "wait_for_previous": "stonewall",
    "io_limit": "io_size",
    "nr_jobs": "numjobs",
    "plids": "fdp_pli",
    "fdp_pli_select": "plid_select",
}
"""Other names of options."""
_NUMBER = re.compile(r"(\d{1,18}(?:\.\d{1,12})?)\s*([a-z]*|%)", re.IGNORECASE | re.ASCII)
_SECTION = re.compile(r"\[(.+)\]")


class Amount(NamedTuple):
    """A number of bytes, or a share of what there is."""

    bytes: int = 0
    percent: float | None = None

    def of(self, whole: int) -> int:
        """The bytes, of `whole` bytes that there are."""
        return self.bytes if self.percent is None else int(whole * self.percent / 100)


class Entry(NamedTuple):
    """An option with its value."""

    file: str
    line: int
    name: str
    value: str

    def refuse(self, what: str) -> UsageError:
        """An error about the option."""
        return UsageError(f"{self.file}:{self.line}: {self.name}{f' = {self.value[:60]}' if self.value else ''}: {what}")

    def wrong(self, expected: str) -> UsageError:
        """The error about a value that cannot be read."""
        return self.refuse(f"expected {expected}")

    def with_value(self, value: str) -> Entry:
        """The option with another value, such as a part of it."""
        return self._replace(value=value.strip())

    def _read(self, units: Mapping[str, int], expected: str) -> tuple[float, str]:
        found = _NUMBER.fullmatch(self.value)
        if found is None or found[2].lower() not in units:
            raise self.wrong(expected)
        return float(found[1]), found[2].lower()

    def number(self, least: float, most: float) -> float:
        """The value as a number without a unit, or with a percent sign."""
        number, _ = self._read({"": 1, "%": 1}, f"a number from {least:g} to {most:g}")
        if not least <= number <= most:
            raise self.wrong(f"a number from {least:g} to {most:g}")
        return number

    def whole(self, least: int, most: int) -> int:
        """The value as a whole number, which may have a unit of sizes."""
        expected = f"a whole number from {least} to {most}"
        number, unit = self._read(SIZES, expected)
        found = number * SIZES[unit]
        if found != int(found) or not least <= found <= most:
            raise self.wrong(expected)
        return int(found)

    def amount(self) -> Amount:
        """The value as a number of bytes or a share."""
        number, unit = self._read(SIZES | {"%": 1}, "bytes such as 4096, 4k or 1g, or a share such as 10%")
        if unit == "%":
            if number > 100:
                raise self.wrong("a share up to 100%")
            return Amount(percent=number)
        return Amount(round(number * SIZES[unit]))

    def size(self) -> int:
        """The value as a number of bytes, above 0."""
        amount = self.amount()
        if amount.percent is not None or amount.bytes == 0:
            raise self.wrong("bytes such as 4096, 4k or 1g")
        return amount.bytes

    def time_us(self, unit: str) -> float:
        """The value as a time, us. `unit`: that of a number without one."""
        number, given = self._read({"": 1, **TIMES}, f"a time such as 10 ({unit}), 500ms or 2m")
        return number * TIMES[given or unit]

    def truth(self) -> bool:
        """The value of a switch; its name alone switches it on."""
        if self.value in ("", "1", "true"):
            return True
        if self.value in ("0", "false"):
            return False
        raise self.wrong("0 or 1")

    def choice(self, choices: Mapping[str, T]) -> T:
        """What the value stands for."""
        if self.value not in choices:
            raise self.wrong(f"one of {', '.join(choices)}")
        return choices[self.value]

    def parts(self, separator: str) -> list[Entry]:
        """The parts of the value, each as an entry of its own."""
        return [self.with_value(part) for part in self.value.split(separator)]


@dataclass
class Section:
    """A job: its name, and its options with those of `[global]` before it."""

    name: str
    file: str
    line: int
    options: dict[str, Entry] = field(default_factory=dict)

    def get(self, name: str) -> Entry | None:
        """An option, if it is given."""
        return self.options.get(name)

    def is_on(self, name: str) -> bool:
        """Whether a switch is on."""
        entry = self.get(name)
        return entry is not None and entry.truth()

    def refuse(self, what: str) -> UsageError:
        """An error about the job."""
        return UsageError(f"{self.file}:{self.line}: [{self.name}]: {what}")


@dataclass(frozen=True)
class JobFile:
    """The jobs of a file, in order."""

    name: str
    jobs: Sequence[Section]


def load(file: str | os.PathLike[str], place: Path) -> JobFile:
    """Reads a job file. `place`: where its content is, which differs from its name for a pipe.

    Raises:
        FileError: the file cannot be read.
        UsageError: the file is no job file.
    """
    name = os.fspath(file)
    try:
        with place.open("rb") as opened:
            content = opened.read(MOST_BYTES + 1)
    except OSError as reason:
        raise FileError(f"{name}: cannot read: {reason.strerror}", reason.errno, name) from reason
    if len(content) > MOST_BYTES or b"\0" in content:
        raise UsageError(f"{name}: binary, or larger than {MOST_BYTES >> 20} MiB: expected a job file of fio")
    return JobFile(name, _sections(name, content.decode("utf-8-sig", "replace").splitlines()))


def _sections(file: str, lines: Sequence[str]) -> list[Section]:
    common: dict[str, Entry] = {}
    jobs: list[Section] = []
    current: dict[str, Entry] | None = None
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text[0] in "#;":
            continue
        if (found := _SECTION.fullmatch(text)) is not None:
            if found[1].strip().lower() == "global":
                current = common
            else:
                jobs.append(Section(found[1].strip(), file, number, dict(common)))
                current = jobs[-1].options
            continue
        entry = _entry(file, number, text)
        if current is None:
            raise entry.refuse("stands before the first section: expected [global] or the name of a job in brackets")
        current[entry.name] = entry
    if not jobs:
        raise UsageError(f"{file}: has no job: expected a section such as [random-writes] with rw=randwrite")
    return jobs


def _entry(file: str, line: int, text: str) -> Entry:
    name, equals, value = (part.strip() for part in text.partition("="))
    entry = Entry(file, line, ALIASES.get(name.lower(), name.lower()), value)
    if not name or " " in name or (equals and not value):
        raise UsageError(f"{file}:{line}: {shown(text[:60])}: expected an option such as rw=randwrite")
    if "$" in value:
        raise entry.refuse("variables are not expanded: write the value")
    return entry
