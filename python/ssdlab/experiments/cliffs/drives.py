"""Drives on sale, as reviews measure them: a row of a CSV table for each."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType

from ssdlab.checks import few, nearest
from ssdlab.errors import UsageError
from ssdlab.system.folders import file_errors

__all__ = ["KINDS", "Drive", "Table", "read"]

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "D": "dynamic: the cache is free space, then direct writes, then folding beside them",
        "F": "dynamic, and folding already beside direct writes",
        "S": "static: the cache has blocks of its own, then direct writes to the end",
        "SF": "static, and folding beside direct writes",
        "W": "whole: all free space is cache, then folding only",
    }
)
"""Kinds of caches, by their letters in the column `kind`."""
DYNAMIC, FLASH = ("D", "F"), 1.1
"""Kinds of caches in the free space of the flash, and the most flash that a drive has for each byte of its size."""
_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)", re.ASCII)


@dataclass(frozen=True)
class Drive:
    """A row of a table of drives. Sizes are in GB and rates in GB/s; a measured value that was not published is `None`.

    Attributes:
        name: name of the drive.
        capacity: exported size.
        bits: bits per cell outside the cache.
        kind: kind of the cache, a key of `KINDS`.
        cache: data written in the first phase.
        v1: rate of the first phase, into the cache.
        v2: rate of the second phase, past the cache.
        until: data written when the second phase ends.
        v3: rate of the third phase.
        fill: rate of a whole fill.
        dies: number of dies.
        planes: planes of a die.
        channels: number of channels.
        die_rate: rate at which a die programs word lines, planes together.
        back: least and most data that the full cache took again after a pause.
        idle: shortest and longest such pause, s.
    """

    name: str
    capacity: float
    bits: int
    kind: str
    cache: float
    v1: float
    v2: float | None = None
    until: float | None = None
    v3: float | None = None
    fill: float | None = None
    dies: int | None = None
    planes: int | None = None
    channels: int | None = None
    die_rate: float | None = None
    back: tuple[float, float] | None = None
    idle: tuple[float, float] | None = None

    @property
    def label(self) -> str:
        """The name with the size, as tables and figures have it."""
        return f"{self.name} {self.capacity:,g} GB"

    @property
    def is_static(self) -> bool:
        """Whether the cache has blocks of its own."""
        return self.kind.startswith("S")

    @property
    def is_whole(self) -> bool:
        """Whether all data pass through the cache."""
        return self.kind == "W"

    @property
    def is_rated(self) -> bool:
        """Whether the rate of writes past the cache is given."""
        return self.v2 is not None or self.die_rate is not None

    @property
    def has_rates(self) -> bool:
        """Whether the rates of all phases but the third, or of the only other one, are given."""
        return self.is_rated or (self.is_whole and self.v3 is not None)

    @property
    def fits(self) -> bool:
        """Whether the flash has room for what was measured to be written before anything is folded."""
        return self.until is None or self.until + (self.bits - 1) * self.cache <= self.capacity * FLASH

    @property
    def steps(self) -> list[tuple[float, float, float]]:
        """The published phases: begin, end, and rate."""
        steps = [(0.0, self.cache, self.v1)]
        until = self.until or self.capacity
        if self.v2 is not None:
            steps.append((self.cache, until, self.v2))
        if self.v3 is not None:
            steps.append((self.cache if self.is_whole else until, self.capacity, self.v3))
        return [step for step in steps if step[1] > step[0]]

    @property
    def fill_by_steps(self) -> float | None:
        """Rate of a whole fill by the published phases; `None` if they do not cover it."""
        if self.until is None and not self.is_whole and not self.is_static:
            return None
        covered = sum(end - begin for begin, end, _ in self.steps)
        return self.capacity / sum((end - begin) / rate for begin, end, rate in self.steps) if covered >= self.capacity else None


@dataclass(frozen=True)
class Table:
    """A table of drives.

    Attributes:
        drives: the rows that can be used.
        refused: of each other row the name of the drive, and what is wrong.
    """

    drives: tuple[Drive, ...]
    refused: tuple[tuple[str, str], ...]


class _Columns:
    """The fields of a line."""

    def __init__(self, place: str, row: Mapping[str, str | None]) -> None:
        self._place, self._row = place, row

    def check_length(self) -> None:
        # csv has the fields beyond the last column under the key `None`.
        if None in self._row:
            raise UsageError(f"{self._place}: more values than columns: expected one for each, and numbers without separators of thousands")

    def text(self, column: str) -> str:
        return (self._row.get(column) or "").strip()

    def number(self, column: str, least: float, most: float, unit: str = "") -> float | None:
        text = self.text(column)
        if not text:
            return None
        value = float(text) if _NUMBER.fullmatch(text) else -1.0
        if not least <= value <= most:
            raise UsageError(f"{self._place}, {column} = {text}: expected a number from {least:g} to {most:,g}{unit and ' '}{unit}")
        return value

    def whole(self, column: str, most: int, least: int = 1) -> int | None:
        value = self.number(column, least, most)
        if value is not None and value != int(value):
            raise UsageError(f"{self._place}, {column} = {value:g}: expected a whole number from {least} to {most:,}")
        return None if value is None else int(value)

    def needed(self, column: str, least: float, most: float, unit: str = "") -> float:
        value = self.number(column, least, most, unit)
        if value is None:
            raise UsageError(f"{self._place}: {column} is empty: expected a number from {least:g} to {most:,g}{unit and ' '}{unit}")
        return value

    def span(self, column: str, least: float, most: float, unit: str) -> tuple[float, float] | None:
        """The numbers in two columns, whose names end with `_least` and `_most`."""
        low, high = (self.number(f"{column}_{end}", least, most, unit) for end in ("least", "most"))
        if low is None and high is None:
            return None
        if low is None or high is None or low > high:
            raise UsageError(f"{self._place}: {column}_least and {column}_most: expected both, the first no larger than the second")
        return low, high


NEEDED = ("drive", "capacity_GB", "bits", "slc_GB", "v1_GBps", "kind")
COLUMNS = (
    *NEEDED,
    *("v2_GBps", "die_MBps", "phase2_until_GB", "v3_GBps", "fill_MBps", "dies_derived", "planes", "channels"),
    *("back_GB_least", "back_GB_most", "idle_s_least", "idle_s_most"),
)
"""Columns that are read."""
NEARLY = 0.8
"""Likeness of two names, 0 to 1, from which on one is taken for a misspelling of the other."""


def read(path: Path) -> Table:
    """Reads a table of drives.

    Raises:
        UsageError: a column is missing or wrong, or no row can be used.
        FileError: the file cannot be read.
    """
    with file_errors("read", path), path.open(newline="", encoding="utf-8-sig") as text:
        reader = csv.DictReader(text)
        try:
            columns = list(reader.fieldnames or ())
            lines = [(reader.line_num, row) for row in reader]
        except (csv.Error, UnicodeDecodeError) as reason:
            raise UsageError(f"{path}: not a table in CSV: {reason}") from reason
    _check_columns(path, columns)
    if not lines:
        raise UsageError(f"{path}: no drives: expected a line for each below the names of the columns")
    drives, refused, first = [], [], None
    for line, row in lines:
        try:
            drives.append(_drive(_Columns(f"{path}, line {line}", row), f"{path}, line {line}"))
        except UsageError as reason:
            first = first or reason
            refused.append((row["drive"] or "", str(reason)))
    if not drives and first is not None:
        raise first
    return Table(tuple(drives), tuple(refused))


def _check_columns(path: Path, columns: Sequence[str]) -> None:
    """Refuses a table that lacks a column, has one twice, or has one whose name is nearly that of another which it lacks."""
    for name in NEEDED:
        if name not in columns:
            raise UsageError(f"{path}: no column {name}{nearest(name, columns)}: expected one, next to {few(columns, 16) or 'no other'}")
    for name in COLUMNS:
        if columns.count(name) > 1:
            raise UsageError(f"{path}: {columns.count(name)} columns are named {name}: expected one")
    missing = [name for name in COLUMNS if name not in columns]
    for name in columns:
        meant = get_close_matches(name, missing, n=1, cutoff=NEARLY) if name not in COLUMNS else []
        if meant:
            raise UsageError(
                f'{path}: column {name}: did you mean "{meant[0]}"? Rename the column: under this name it would have no effect'
            )


def _drive(row: _Columns, place: str) -> Drive:
    name, kind = row.text("drive"), row.text("kind")
    row.check_length()
    if not name:
        raise UsageError(f"{place}: drive is empty: expected a name")
    if kind not in KINDS:
        raise UsageError(f"{place}, kind = {kind or 'nothing'}: expected one of {', '.join(KINDS)}")
    capacity = row.needed("capacity_GB", 1, 100_000, "GB")
    row.needed("bits", 2, 4)
    bits, cache = row.whole("bits", 4, least=2) or 2, row.needed("slc_GB", 0.01, capacity, "GB")
    if kind in DYNAMIC and cache > capacity / bits * FLASH:
        most = f"{capacity / bits:,.3g} GB of the {capacity:,g}"
        raise UsageError(f"{place}, slc_GB = {cache:g}: {most} fit at one bit per cell into cells of {bits} bits: expected at most that")
    until = row.number("phase2_until_GB", 0.01, capacity, "GB")
    if until is not None and until < cache:
        raise UsageError(f"{place}, phase2_until_GB = {until:g}: expected at least slc_GB, {cache:g}: all that was written by then")
    die_mbps = row.number("die_MBps", 0.1, 10_000, "MB/s")
    fill = row.number("fill_MBps", 1, 100_000, "MB/s")
    drive = Drive(
        name=name,
        capacity=capacity,
        bits=bits,
        kind=kind,
        cache=cache,
        v1=row.needed("v1_GBps", 0.01, 100, "GB/s"),
        v2=row.number("v2_GBps", 0.001, 100, "GB/s"),
        until=until,
        v3=row.number("v3_GBps", 0.001, 100, "GB/s"),
        fill=None if fill is None else fill / 1e3,
        dies=row.whole("dies_derived", 1024),
        planes=row.whole("planes", 16),
        channels=row.whole("channels", 64),
        die_rate=None if die_mbps is None else die_mbps / 1e3,
        back=row.span("back_GB", 0.01, capacity, "GB"),
        idle=row.span("idle_s", 0.1, 3600, "s"),
    )
    if (drive.back is None) != (drive.idle is None):
        raise UsageError(f"{place}: back_GB and idle_s: expected both, or neither")
    if drive.back is not None and drive.is_whole:
        raise UsageError(f"{place}: back_GB and idle_s: all data of kind W pass through the cache, full or not: leave them empty")
    if drive.is_static and not drive.is_rated:
        raise UsageError(f"{place}: v2_GBps is empty: expected the rate past the cache, or die_MBps, that of one die")
    return drive
