"""Measurements in CSV tables with the columns of SSD-iq's measurements (PVLDB 18(11), 2025)."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ssdlab.checks import few
from ssdlab.errors import UsageError
from ssdlab.experiments.calibration.measurements import (
    FullSpeed,
    Measurement,
    Measurements,
    Pattern,
    Point,
    Power,
    Probe,
    QuantityName,
    averaged,
)
from ssdlab.system.folders import file_errors

__all__ = ["check_named", "drives_in", "is_table", "read", "tables_in"]

GIB = 1 << 30
SETTLED = 0.05
"""Maximum relative difference between the last two parts of a run in steady state."""
RATE_TOLERANCE = 0.1
"""Maximum relative difference between the achieved and the offered rate of a load."""
SAME_CAPACITY = 0.01
"""Maximum relative difference between two statements of the same capacity, which may be rounded or in other units."""
SHARES_TOLERANCE = 0.01
LEAST_ZONE = 1e-6
"""Minimum share of the addresses in a zone: a smaller zone would be empty on the scaled-down drive."""
PROBE_PER_S = 10_000.0
PROBE_READS = 0.5
LOAD_READS = 0.01
LOAD_THREADS, PROBE_THREADS = 6, 1
"""Threads of the load and of the probe in the measurements under load."""

WRITES: Mapping[str, QuantityName] = {"waf_measured": "write_amplification", "steady_write_iops": "write_iops"}
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
"""Columns that state the capacity of a drive, and the bytes of their units."""
POWERS = ("idle_W", "active_W")
"""Columns with the power of a drive by its data sheet: idle, and while it writes in order at full speed."""
WRITES_NEED = ("pattern", "initial_state", "block_bytes", "queue_depth_total", "used_GiB")
LOADS_NEED = (
    *("pattern", "block_bytes", "queue_depth_total", "used_share_of_capacity"),
    *("offered_writes_and_reads_per_s", "saturated", "achieved_iops"),
)
"""Columns without which a row of a table cannot be read."""
CLIPPED_US = 19_998.0
"""Upper end of the histograms, us: a percentile of this value may be larger. Means are not computed from the histogram."""
PERCENTILES: Mapping[str, str] = {"p50": "median", "p99": "99th percentile"}
MOST_SHOWN = 16
"""Maximum number of a table's columns that a message lists."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
"""Excludes texts such as `3_000` and `nan`, which `float` accepts."""


class _Kind(NamedTuple):
    """The valid numbers of a column.

    Attributes:
        expected: the valid numbers in words, for messages.
        is_right: whether a number is valid.
    """

    expected: str
    is_right: Callable[[float], bool]


def _above_0(most: int, unit: str = "") -> _Kind:
    return _Kind(f"a number above 0, up to {most:,}{unit and ' '}{unit}", lambda value: 0 < value <= most)


def _whole(least: int, most: int, step: int = 1) -> _Kind:
    multiple = "" if step == 1 else f", a multiple of {step}"
    return _Kind(f"a whole number from {least:,} to {most:,}{multiple}", lambda value: least <= value <= most and value % step == 0)


_RATE, _TIME = _above_0(1_000_000_000, "a second"), _above_0(1_000_000_000, "us")
_KINDS: Mapping[str, _Kind] = {
    **dict.fromkeys(("steady_write_iops", "achieved_iops"), _RATE),
    **dict.fromkeys((column for column in LATENCIES if column.endswith("_us")), _TIME),
    "offered_writes_and_reads_per_s": _Kind(
        f"at least {PROBE_PER_S:,.0f}, up to 1,000,000,000 a second: the probe of these tables is {PROBE_PER_S:,.0f} of them",
        lambda value: PROBE_PER_S <= value <= 1e9,
    ),
    "waf_measured": _above_0(10_000, "bytes written to flash for each byte that the host wrote"),
    "late_drift": _Kind("a rate over another: a number of at least 0", lambda value: 0 <= value < float("inf")),
    "saturated": _Kind("1 if the drive did not reach what was offered, or else 0", lambda value: value in (0, 1)),
    "zipf_theta": _Kind("the exponent of Zipf's law: a number from 0 to 10", lambda value: 0 <= value <= 10),
    "used_share_of_capacity": _Kind("a share, such as 0.5: a number above 0, up to 1", lambda value: 0 < value <= 1),
    "used_GiB": _above_0(1_000_000, "GiB"),
    "user_capacity_GiB": _above_0(1_000_000, "GiB"),
    "capacity_GB": _above_0(1_000_000, "GB"),
    **dict.fromkeys(POWERS, _above_0(1_000, "W")),
    "block_bytes": _whole(512, 64 << 20, 512),
    "queue_depth_total": _whole(1, 65_536),
}


class _LeftOutError(Exception):
    """A row that is not used; the text is the reason."""


@dataclass
class _Table:
    """A table, with some or all of its rows.

    Attributes:
        path: file of the table.
        columns: names of the columns.
        rows: rows with their line numbers; empty if no column names the drive.
        left_out: number of unused rows, by reason.
    """

    path: Path
    columns: tuple[str, ...]
    rows: list[tuple[int, dict[str, str]]]
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def has_drives(self) -> bool:
        """Whether the table has a column with the drive's name."""
        return "device" in self.columns

    @property
    def reader(self) -> _Reader | None:
        """The function that reads the table's rows; `None` if the table has no measurements."""
        writes, loads = [column for column in self.columns if column in WRITES], [column for column in self.columns if column in LATENCIES]
        if writes and loads:
            raise UsageError(f"{self.path}: columns {writes[0]} and {loads[0]}: expected writes at full speed and loads in a table each")
        return _full_speed if writes else _under_load if loads else None

    @property
    def is_data_sheet(self) -> bool:
        """Whether the table has capacities or powers of drives."""
        return any(column in self.columns for column in (*(column for column, _ in CAPACITIES), *POWERS))

    def of(self, drive: str) -> _Table:
        """A copy of the table with only the rows of one drive."""
        return _Table(self.path, self.columns, [(line, row) for line, row in self.rows if row["device"] == drive])

    def check_columns(self, names: Iterable[str]) -> None:
        """Refuses a table that lacks one of the columns."""
        for name in names:
            if name not in self.columns:
                raise UsageError(f"{self.path}: no column {name}: expected one, next to {few(self.columns, MOST_SHOWN)}")

    def number(self, line: int, row: Mapping[str, str], column: str) -> float | None:
        """The number in a column; `None` if the field is empty or the column does not exist."""
        text = row.get(column, "")
        if not text:
            return None
        value = _number(text)
        if value is None or not _KINDS[column].is_right(value):
            raise UsageError(f"{self.path}, line {line}, {column} = {text}: expected {_KINDS[column].expected}")
        return value

    def needed(self, line: int, row: Mapping[str, str], column: str) -> float:
        """The number in a column. An empty field is an error."""
        self.check_columns([column])
        value = self.number(line, row, column)
        if value is None:
            raise UsageError(f"{self.path}, line {line}: {column} is empty: expected {_KINDS[column].expected}")
        return value


_Reader = Callable[[_Table, int, Mapping[str, str], float | None], list[Measurement]]


def is_table(path: Path) -> bool:
    """Whether a file's name ends with `.csv`."""
    return path.suffix.lower() == ".csv"


def tables_in(folder: Path) -> list[Path]:
    """The tables of a folder, sorted by name."""
    with file_errors("read", folder):
        return sorted(path for path in folder.iterdir() if is_table(path))


def check_named(paths: Iterable[Path]) -> None:
    """Refuses named tables without data on a drive. In a folder such tables are ignored.

    Raises:
        UsageError: a table has no column `device`, or no column with a measurement or a capacity.
        FileError: a file cannot be read.
    """
    for table in _tables(paths):
        table.check_columns(["device"])
        if table.reader is None and not table.is_data_sheet:
            raise UsageError(f"{table.path}: no measurements: expected {_MEASURED}, next to {few(table.columns, MOST_SHOWN)}")


def drives_in(paths: Iterable[Path]) -> dict[str, None]:
    """Names of the drives in the tables, in the order of their first rows."""
    return {row["device"]: None for table in _tables(paths) if table.reader is not None for _, row in table.rows}


def read(paths: Iterable[Path], drive: str) -> Measurements:
    """Reads the rows of one drive, averaged over repeats.

    Tables without measurements are skipped, except for a capacity and a power in them (`drives.csv`). A table that is given twice counts
    once.

    Args:
        paths: files of the tables.
        drive: name of the drive in the column `device`.

    Raises:
        UsageError: a file is not such a table, or lacks a column; a field is not valid, or a needed field is empty; or two rows state
            different capacities.
        FileError: a file cannot be read.
    """
    tables = [table.of(drive) for table in _tables(paths)]
    capacity = _capacity(tables)
    found: list[Measurement] = []
    for table in tables:
        found += _measured(table, capacity)
    return Measurements(drive, averaged(found), sum((table.left_out for table in tables), Counter()), _power(tables))


def _measured(table: _Table, capacity: float | None) -> list[Measurement]:
    """Reads the measurements of a table; rows without a measurement are counted in `left_out`."""
    reader = table.reader
    if not table.has_drives:
        table.left_out[f"{table.path.name}: a whole table without the column device"] += 1
    elif reader is None and not table.is_data_sheet and table.rows:
        table.left_out[f"{table.path.name}: a table without what is measured"] += len(table.rows)
    if reader is None or not table.rows:
        return []
    table.check_columns(WRITES_NEED if reader is _full_speed else LOADS_NEED)
    found: list[Measurement] = []
    for line, row in table.rows:
        try:
            found += reader(table, line, row, capacity)
        except _LeftOutError as reason:
            table.left_out[str(reason)] += 1
    return found


def _tables(paths: Iterable[Path]) -> list[_Table]:
    """Reads the tables, each file once even if it is given under several names."""
    files: dict[tuple[int, int], Path] = {}
    for path in paths:
        with file_errors("read", path):
            status = path.stat()
        files.setdefault((status.st_dev, status.st_ino), path)
    return [_table(path) for path in files.values()]


def _table(path: Path) -> _Table:
    """Reads all rows of a table."""
    with file_errors("read", path), path.open(newline="", encoding="utf-8-sig") as file:  # Excel writes a byte order mark
        lines = csv.reader(file, skipinitialspace=True, strict=True)
        try:
            columns = tuple(name.strip() for name in next(lines, ()))
            _check_head(path, columns)
            if "device" not in columns:
                return _Table(path, columns, [])
            cells = [(lines.line_num, [cell.strip() for cell in line]) for line in lines]
        except (csv.Error, UnicodeDecodeError) as error:
            place = f", line {lines.line_num}" if lines.line_num else ""
            raise UsageError(f"{path}{place}: not a table of comma-separated values in UTF-8: {error}") from error
    rows = [(line, _row(path, line, columns, found)) for line, found in cells if any(found) or len(found) > 1]
    if not rows:
        raise UsageError(f"{path}: no rows: expected some below its first line, which has {few(columns, MOST_SHOWN)}")
    return _Table(path, columns, rows)


def _row(path: Path, line: int, columns: tuple[str, ...], cells: list[str]) -> dict[str, str]:
    if len(cells) != len(columns):
        raise UsageError(f"{path}, line {line}: {len(cells)} fields: expected {len(columns)} fields, as its first line has")
    row = dict(zip(columns, cells, strict=True))
    if not row["device"]:
        raise UsageError(f"{path}, line {line}: device is empty: expected the name of the drive")
    return row


def _check_head(path: Path, columns: tuple[str, ...]) -> None:
    """Refuses a first line that cannot be the head of a table of measurements."""
    expected = f"expected names of columns, such as device, {_MEASURED}"
    if not any(columns):
        raise UsageError(f"{path}: its first line is empty: {expected}")
    twice = [name for name, count in Counter(columns).items() if name and count > 1]
    if twice:
        raise UsageError(f"{path}, line 1: two columns {twice[0]}: expected each name once")
    if "device" in columns:
        return
    for sign, name in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars")):
        if any("device" in (word.strip(' "') for word in column.split(sign)) for column in columns if sign in column):
            raise UsageError(f"{path}, line 1: names with {name} between them: expected commas. It has {few(columns, MOST_SHOWN)}")
    measured = [name for name in columns if name in WRITES or name in LATENCIES]
    if measured:  # other tables of the folder are ignored
        raise UsageError(
            f"{path}: no column device beside {measured[0]}: expected one with the name of the drive, next to {few(columns, MOST_SHOWN)}"
        )


_MEASURED = "steady_write_iops, waf_measured or probe_read_p50_us"


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text) else None


def _capacity(tables: Iterable[_Table]) -> float | None:
    """The exported capacity of the drive, bytes: as stated, or from rows that use all of it; `None` if unknown."""
    rows = [(table, line, row) for table in tables for line, row in table.rows]
    found = [(stated, f"{table.path}, line {line}") for table, line, row in rows if (stated := _stated(table, line, row))]
    if not found and any(table.reader is _under_load for table, _, _ in rows):
        found = [(used, f"{table.path}, line {line}") for table, line, row in rows if (used := _used_whole(table, line, row))]
    for capacity, place in found:
        if abs(capacity / found[0][0] - 1) > SAME_CAPACITY:
            both = f"{found[0][0] / 1e9:,.1f} GB ({found[0][1]}) and {capacity / 1e9:,.1f} GB ({place})"
            raise UsageError(f"two capacities of a drive: {both}: expected one: correct a row, or give the drives different names")
    return found[0][0] if found else None


def _stated(table: _Table, line: int, row: Mapping[str, str]) -> float | None:
    values = [(table.number(line, row, column), unit) for column, unit in CAPACITIES]
    return next((value * unit for value, unit in values if value is not None), None)


def _power(tables: Iterable[_Table]) -> Power | None:
    """The power of the drive's data sheet; `None` without one."""
    found: tuple[Power, str] | None = None
    for table in tables:
        for line, row in table.rows:
            place = f"{table.path}, line {line}"
            idle, active = (table.number(line, row, column) for column in POWERS)
            if idle is None and active is None:
                continue
            if idle is None or active is None:
                raise UsageError(f"{place}: only one of {' and '.join(POWERS)}: expected both, or neither")
            if idle >= active:
                raise UsageError(f"{place}, active_W = {active:g}: expected more than idle_W, {idle:g}")
            if found is not None and found[0] != (idle, active):
                (before, after), first = found
                both = f"{before:g} and {after:g} W ({first}), and {idle:g} and {active:g} W ({place})"
                raise UsageError(f"two powers of a drive: {both}: expected one")
            found = found or (Power(idle, active), place)
    return None if found is None else found[0]


def _used_whole(table: _Table, line: int, row: Mapping[str, str]) -> float | None:
    """The used bytes of a row that uses the whole drive; `None` for other rows."""
    used = table.number(line, row, "used_GiB")
    return used * GIB if used is not None and table.number(line, row, "used_share_of_capacity") == 1 else None


def _full_speed(table: _Table, line: int, row: Mapping[str, str], _: float | None) -> list[Measurement]:
    values = {column: table.number(line, row, column) for column in WRITES if column in table.columns}
    if list(values) == ["steady_write_iops"]:
        table.needed(line, row, "steady_write_iops")
    point = _writes(table, line, row)
    rows: list[Measurement] = []
    for column, value in values.items():
        if value is None:
            table.left_out[f"{column} is empty"] += 1
        elif column == "waf_measured" and value < 1:
            table.left_out["write amplification below 1, as of a drive that compresses, which is not simulated here"] += 1
        else:
            rows.append(_measurement(table, line, point, WRITES[column], value))
    return rows


def _measurement(table: _Table, line: int, point: Point, quantity: QuantityName, value: float) -> Measurement:
    return Measurement(point, quantity, value, f"{table.path.name}:{line}")


def _writes(table: _Table, line: int, row: Mapping[str, str]) -> FullSpeed:
    table.number(line, row, "used_share_of_capacity")  # not needed, but checked
    used = round(table.needed(line, row, "used_GiB") * GIB)
    request = round(table.needed(line, row, "block_bytes"))
    depth = table.number(line, row, "queue_depth_total")
    if used < request:
        raise UsageError(f"{table.path}, line {line}, used_GiB = {row['used_GiB']}: expected at least a request, {request:,} bytes")
    drift = table.number(line, row, "late_drift")
    if drift is not None and abs(drift - 1) > SETTLED:
        raise _LeftOutError("writes at full speed that had not become steady")
    pattern = _pattern(table, line, row)
    if pattern.kind != "sequential" and not row["initial_state"].startswith("filled"):
        raise _LeftOutError("random writes to a drive that was not filled first")
    if depth is None:
        raise _LeftOutError("writes at full speed at a depth that is not stated")
    return FullSpeed(pattern, used, request, round(depth))


def _pattern(table: _Table, line: int, row: Mapping[str, str]) -> Pattern:
    name = row["pattern"]
    if name == "uniform":
        return Pattern("uniform")
    if name in ("sequential", "sequential-noshuffle"):
        return Pattern("sequential")
    if name == "zipf-shuffle":
        theta = table.needed(line, row, "zipf_theta")
        return Pattern("zipf", theta=theta) if theta else Pattern("uniform")
    if name == "zones-shuffle":
        table.check_columns(["zones"])
        return _zones(table, line, row["zones"])
    if not name:
        raise UsageError(f"{table.path}, line {line}: pattern is empty: expected uniform, sequential, zipf-shuffle or zones-shuffle")
    raise _LeftOutError(f'the pattern "{name}", which is not simulated here')


def _zones(table: _Table, line: int, text: str) -> Pattern:
    """Parses two zones such as `s0.8 f0.2 s0.2 f0.8`: for each its share of the addresses (s) and of the writes (f)."""
    words = text.split()
    shares = [share for word in words if (share := _number(word[1:])) is not None and 0 <= share <= 1]
    if [word[0] for word in words] != ["s", "f", "s", "f"] or len(shares) < len(words):
        why = "shares from 0 to 1 of the addresses (s) and of the writes (f)"
        raise UsageError(f"{table.path}, line {line}, zones = {text}: expected two zones, as s0.8 f0.2 s0.2 f0.8: {why}")
    sizes, writes = shares[::2], shares[1::2]
    for letter, parts in (("s", sizes), ("f", writes)):
        if abs(sum(parts) - 1) > SHARES_TOLERANCE:
            wrong = f"shares {letter} that sum to {sum(parts):g}"
            raise UsageError(f"{table.path}, line {line}, zones = {text}: {wrong}: expected a sum of 1, as s0.8 f0.2 s0.2 f0.8")
    if min(sizes) < LEAST_ZONE:
        wrong = f"a zone with a share s{min(sizes):g} of the addresses"
        raise UsageError(
            f"{table.path}, line {line}, zones = {text}: {wrong}: expected at least {LEAST_ZONE:f}; one zone is the pattern uniform"
        )
    zones = sorted(zip(sizes, writes, strict=True), key=lambda zone: zone[1] / zone[0])
    return Pattern("zones", hot_share=zones[-1][0], hot_access=zones[-1][1])


def _under_load(table: _Table, line: int, row: Mapping[str, str], capacity: float | None) -> list[Measurement]:
    if capacity is None:
        raise UsageError(
            f"{table.path}, line {line}: the drive's capacity is not stated: give drives.csv, or a table of writes at full speed, too"
        )
    point = _probe(table, line, row, capacity)
    values = {quantity: table.number(line, row, column) for column, quantity in LATENCIES.items()}
    _check_rate(point, values["iops"])
    if not any(values.values()):
        raise _LeftOutError("loads of which nothing was measured")
    rows: list[Measurement] = []
    for quantity, value in values.items():
        percentile = next((words for part, words in PERCENTILES.items() if part in quantity), None)
        if value is not None and percentile and value >= CLIPPED_US:
            table.left_out[f"{percentile} of {quantity.partition('_')[0]}s at the end of the histogram, 20 ms: it may be any above"] += 1
        elif value is not None:
            rows.append(_measurement(table, line, point, quantity, value))
    return rows


def _probe(table: _Table, line: int, row: Mapping[str, str], capacity: float) -> Probe:
    used = round(capacity * table.needed(line, row, "used_share_of_capacity"))
    request = round(table.needed(line, row, "block_bytes"))
    if used < request:
        share = row["used_share_of_capacity"]
        raise UsageError(f"{table.path}, line {line}, used_share_of_capacity = {share}: expected at least a request, {request:,} bytes")
    is_saturated = table.needed(line, row, "saturated") == 1
    of_load, of_probe = _depths(table, line, row)
    offered = table.number(line, row, "offered_writes_and_reads_per_s")
    if row["pattern"] != "uniform-shuffle":
        raise _LeftOutError("response times under a load that is not uniform")
    if is_saturated and not of_load:
        raise _LeftOutError("response times under a saturated load of a depth that is not stated")
    if offered is None and not is_saturated:
        offered = table.needed(line, row, "offered_writes_and_reads_per_s")
    return Probe(
        used_bytes=used,
        request_bytes=request,
        per_s=PROBE_PER_S,
        read_share=PROBE_READS,
        # the rates of repeats differ by a request or so
        load_per_s=None if is_saturated or offered is None else round(offered - PROBE_PER_S, -2),
        load_read_share=LOAD_READS,
        load_depth=of_load,
        probe_depth=of_probe,
    )


def _depths(table: _Table, line: int, row: Mapping[str, str]) -> tuple[int, int]:
    """Outstanding requests of the load and of the probe; 0 and 0 if the depth is not stated."""
    depth = round(table.number(line, row, "queue_depth_total") or 0)
    of_load = depth * LOAD_THREADS // (LOAD_THREADS + PROBE_THREADS)
    if depth and depth < LOAD_THREADS + PROBE_THREADS:
        threads = f"{LOAD_THREADS} threads of the load and {PROBE_THREADS} of the probe, in these tables"
        raise UsageError(f"{table.path}, line {line}, queue_depth_total = {depth}: expected at least one for each of {threads}, or nothing")
    return of_load, depth - of_load


def _check_rate(point: Probe, achieved: float | None) -> None:
    """Leaves out a load whose rate differs from the offered one, like the reader of fio's output."""
    if point.is_saturated:
        return
    if achieved is None:
        raise _LeftOutError("loads below saturation whose achieved_iops is empty: not known whether they were as offered")
    if abs(achieved / (point.offered_per_s or PROBE_PER_S) - 1) > RATE_TOLERANCE:
        raise _LeftOutError("loads not saturated whose achieved_iops is more than 10 % off what was offered")
