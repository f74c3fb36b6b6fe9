"""Measurements in tables: CSV files with the columns in which SSD-iq's measurements (PVLDB 18(11), 2025) were collected."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ssdlab.calibration.measurements import FullSpeed, Measurement, Measurements, Pattern, Probe, QuantityName, averaged
from ssdlab.errors import UsageError
from ssdlab.folders import said

__all__ = ["drives_in", "is_table", "read"]

GIB = 1 << 30
SETTLED = 0.05
"""A run whose last part differs by more from the part before had not become steady."""
PROBE_PER_S = 10_000.0
PROBE_READS = 0.5
LOAD_READS = 0.01
LOAD_THREADS, PROBE_THREADS = 6, 1
"""In the measurements under load: one of seven threads is the probe."""

LATENCIES: Mapping[str, QuantityName] = {
    "achieved_iops": "iops",
    "probe_read_avg_us": "read_mean_us",
    "probe_read_p50_us": "read_p50_us",
    "probe_read_p99_us": "read_p99_us",
    "probe_write_p50_us": "write_p50_us",
    "probe_write_p99_us": "write_p99_us",
    "load_write_avg_us": "load_write_mean_us",
}
CAPACITIES = (("user_capacity_GiB", GIB), ("capacity_GB", 1e9))
"""Columns that state the capacity of a drive, and bytes of their units."""
CLIPPED_US = 19_998.0
"""The histograms end here: a percentile of that value may be any above it."""


class _LeftOutError(Exception):
    """A row that is not used, with the reason."""


@dataclass
class _File:
    """A table, with the rows of one drive."""

    path: Path
    rows: list[tuple[int, dict[str, str]]]
    columns: frozenset[str]
    left_out: Counter[str] = field(default_factory=Counter)

    def number(self, line: int, row: Mapping[str, str], column: str) -> float | None:
        """The number in a column; `None` if the field is empty."""
        text = (row.get(column) or "").strip()
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not 0 <= value < float("inf"):
            raise UsageError(f"{self.path}, line {line}, {column} = {text}: expected a number of at least 0, or nothing")
        return value

    def needed(self, line: int, row: Mapping[str, str], column: str) -> float:
        """As `number`, of a column that must have one."""
        value = self.number(line, row, column)
        if not value:
            raise UsageError(f"{self.path}, line {line}: {column} is empty or 0: expected a number above 0")
        return value


def is_table(path: Path) -> bool:
    """Whether a file is meant to be one of these tables, by its name."""
    return path.suffix.lower() == ".csv"


def drives_in(paths: Iterable[Path]) -> dict[str, None]:
    """The drives that the tables have rows of."""
    return {row["device"]: None for path in paths for _, row in _rows(path) if _reader(frozenset(row)) is not None}


def read(paths: Iterable[Path], drive: str) -> Measurements:
    """The rows of one drive, averaged over repeats.

    Tables without measurements of operating points are passed over, as `drives.csv` is but for the capacity.

    Args:
        paths: the tables.
        drive: as the column `device` names it.

    Raises:
        UsageError: a field is no number, or a needed one is empty.
        FileError: a file cannot be read.
    """
    files = [_File(path, [(line, row) for line, row in rows if row["device"] == drive], columns) for path, rows, columns in _tables(paths)]
    capacity = _capacity(files)
    found: list[Measurement] = []
    for file in files:
        reader = _reader(file.columns)
        for line, row in file.rows if reader is not None else []:
            assert reader is not None
            try:
                found += reader(file, line, row, capacity)
            except _LeftOutError as reason:
                file.left_out[str(reason)] += 1
    return Measurements(drive, averaged(found), sum((file.left_out for file in files), Counter()))


def _tables(paths: Iterable[Path]) -> Iterator[tuple[Path, list[tuple[int, dict[str, str]]], frozenset[str]]]:
    for path in paths:
        rows = _rows(path)
        yield path, rows, frozenset(rows[0][1]) if rows else frozenset()


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    """The rows with their lines; none of a table without the column `device`."""
    with said("read", path), path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        try:
            if "device" not in (reader.fieldnames or ()):
                return []
            rows = [(reader.line_num, row) for row in reader]
        except (csv.Error, UnicodeDecodeError) as error:
            raise UsageError(f"{path}: not a table of comma-separated values in UTF-8: {error}") from error
    for line, row in rows:
        if None in row or None in row.values():
            raise UsageError(f"{path}, line {line}: expected {len(reader.fieldnames or ())} fields, as its first line has")
    return rows


_Reader = Callable[[_File, int, Mapping[str, str], float | None], list[Measurement]]


def _reader(columns: frozenset[str]) -> _Reader | None:
    """What reads a table with these columns."""
    for column, reader in (("waf_measured", _amplification), ("steady_write_iops", _full_speed), ("probe_read_p50_us", _under_load)):
        if column in columns:
            return reader
    return None


def _capacity(files: Iterable[_File]) -> float | None:
    """What the drive exports, bytes: stated, or what is used where all of it is."""
    for file in files:
        for line, row in file.rows:
            stated = next((value for column, unit in CAPACITIES if (value := _scaled(file, line, row, column, unit))), None)
            if stated is None and "used_GiB" in row and file.number(line, row, "used_share_of_capacity") == 1:
                stated = _scaled(file, line, row, "used_GiB", GIB)
            if stated:
                return stated
    return None


def _scaled(file: _File, line: int, row: Mapping[str, str], column: str, unit: float) -> float | None:
    value = file.number(line, row, column)
    return None if value is None else value * unit


def _amplification(file: _File, line: int, row: Mapping[str, str], _: float | None) -> list[Measurement]:
    value = file.number(line, row, "waf_measured")
    if value is None:
        return []  # the rates of the same runs stand in another table
    return [Measurement(_writes(file, line, row), "write_amplification", value, f"{file.path.name}:{line}")]


def _full_speed(file: _File, line: int, row: Mapping[str, str], _: float | None) -> list[Measurement]:
    value = file.needed(line, row, "steady_write_iops")
    return [Measurement(_writes(file, line, row), "write_iops", value, f"{file.path.name}:{line}")]


def _writes(file: _File, line: int, row: Mapping[str, str]) -> FullSpeed:
    drift = file.number(line, row, "late_drift")
    if drift is not None and abs(drift - 1) > SETTLED:
        raise _LeftOutError("writes at full speed that had not become steady")
    pattern = _pattern(file, line, row)
    if pattern.kind != "sequential" and not row["initial_state"].startswith("filled"):
        raise _LeftOutError("random writes to a drive that was not filled first")
    depth = file.number(line, row, "queue_depth_total")
    if not depth:
        raise _LeftOutError("writes at full speed at a depth that is not stated")
    used = round(file.needed(line, row, "used_GiB") * GIB)
    return FullSpeed(pattern, used, round(file.needed(line, row, "block_bytes")), round(depth))


def _pattern(file: _File, line: int, row: Mapping[str, str]) -> Pattern:
    name = row["pattern"]
    if name == "uniform":
        return Pattern("uniform")
    if name in ("sequential", "sequential-noshuffle"):
        return Pattern("sequential")
    if name == "zipf-shuffle":
        return Pattern("zipf", theta=file.needed(line, row, "zipf_theta"))
    if name == "zones-shuffle":
        return _zones(file, line, row["zones"])
    raise _LeftOutError(f'the pattern "{name}", which is not simulated here')


def _zones(file: _File, line: int, text: str) -> Pattern:
    """Two zones, written as `s0.8 f0.2 s0.2 f0.8`: share of the addresses and of the writes of each."""
    words = text.split()
    try:
        if [word[0] for word in words] != ["s", "f", "s", "f"]:
            raise ValueError
        shares = [float(word[1:]) for word in words]
    except (ValueError, IndexError):
        raise UsageError(f"{file.path}, line {line}, zones = {text}: expected two zones, as s0.8 f0.2 s0.2 f0.8") from None
    zones = sorted(zip(shares[::2], shares[1::2], strict=True), key=lambda zone: zone[1] / zone[0])
    return Pattern("zones", hot_share=zones[-1][0], hot_access=zones[-1][1])


def _under_load(file: _File, line: int, row: Mapping[str, str], capacity: float | None) -> list[Measurement]:
    if capacity is None:
        raise UsageError(f"{file.path}, line {line}: how large is the drive? Give drives.csv, or a table of writes at full speed, as well")
    if row["pattern"] != "uniform-shuffle":
        raise _LeftOutError("response times under a load that is not uniform")
    is_saturated = file.number(line, row, "saturated") == 1
    depth = file.number(line, row, "queue_depth_total") or 0
    if is_saturated and not depth:
        raise _LeftOutError("response times under a saturated load of a depth that is not stated")
    of_load = round(depth) * LOAD_THREADS // (LOAD_THREADS + PROBE_THREADS)
    point = Probe(
        used_bytes=round(capacity * (file.number(line, row, "used_share_of_capacity") or 1)),
        request_bytes=round(file.needed(line, row, "block_bytes")),
        per_s=PROBE_PER_S,
        read_share=PROBE_READS,
        # Three repeats ask for a request more or less each.
        load_per_s=None if is_saturated else round(file.needed(line, row, "offered_writes_and_reads_per_s") - PROBE_PER_S, -2),
        load_read_share=LOAD_READS,
        load_depth=of_load,
        probe_depth=0 if is_saturated else round(depth) - of_load,
    )
    values = {quantity: file.number(line, row, column) for column, quantity in LATENCIES.items()}
    source = f"{file.path.name}:{line}"
    return [
        Measurement(point, quantity, value, source)
        for quantity, value in values.items()
        if value is not None and not (quantity.endswith("_us") and value >= CLIPPED_US)
    ]
