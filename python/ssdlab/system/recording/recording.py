"""A recording: collected line by line in memory, so that it writes to no device, and saved at the end."""

from __future__ import annotations

import os
import shutil
import tempfile
from array import array
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ssdlab import _core
from ssdlab.errors import Error, UsageError
from ssdlab.system.recording.devices import Device
from ssdlab.system.recording.lines import OPS, SECTOR_BYTES, Lost, parse_line

__all__ = ["Collector", "Gap", "Recording", "check_target"]

ENDINGS = (".csv", ".csv.gz", ".csv.bz2", ".csv.zst", ".parquet")
"""Allowed endings of a trace's name, as for `ssdlab trace convert`."""

IDLE_US = 1_000_000
"""Pause without requests, us, above which the device counts as idle."""

_FLUSH = OPS.index("F")
_REQUEUED = 8  # added to the index of the operation
_US = 1_000_000


@dataclass(frozen=True, order=True)
class Gap:
    """An interval in which events were lost, by the clock of the recording."""

    begin_us: int
    end_us: int


class Collector:
    """Collects the kernel's lines in the order of reading: roughly by time, since each processor has its own buffer.

    Args:
        device: device whose requests are collected.
        began_us: start of the recording by the kernel's clock, us.
    """

    def __init__(self, device: Device, *, began_us: int) -> None:
        self._device = device
        self._began_us = began_us
        self._times, self._sectors, self._counts, self._ops = array("Q"), array("Q"), array("Q"), array("B")
        self._last: dict[int, int] = {}
        self._open: dict[int, int] = {}
        """Time of the last event before the loss, for each processor that has lost events."""
        self._gaps: list[Gap] = []
        self.lost = 0
        self.left_out: Counter[str] = Counter()
        """Number of requests that are not part of a trace, by their letters."""
        self.write_zeroes = 0
        self.other_partitions = 0
        self.unreadable = 0
        self.first_unreadable = ""

    def __len__(self) -> int:
        return len(self._times)

    def add(self, line: str) -> None:
        """Adds one line."""
        try:
            event = parse_line(line)
        except ValueError:
            self.unreadable += 1
            self.first_unreadable = self.first_unreadable or line.strip()
            return
        if event is None:
            return
        if isinstance(event, Lost):
            self.lost += event.events or 1
            self._open.setdefault(event.cpu, self._last.get(event.cpu, self._began_us))
            return
        time_us, cpu, requeued, rwbs, op, sector, sectors = event
        if cpu in self._open:
            self._gaps.append(Gap(self._open.pop(cpu), time_us))
        self._last[cpu] = time_us
        if not op:
            self.left_out[rwbs] += not requeued
            return
        if op == "F":  # flushes are of the whole disk: the printed sector has no meaning
            sector, sectors = self._device.start, 0
        elif not self._device.holds(sector):
            self.other_partitions += not requeued
            return
        if op == "T" and "N" in rwbs:
            self.write_zeroes += -1 if requeued else 1
        self._times.append(time_us)
        self._sectors.append(sector - self._device.start)
        self._counts.append(sectors)
        self._ops.append(OPS.index(op) + _REQUEUED * requeued)

    def table(self) -> tuple[pa.Table, int]:
        """The requests by time, in the columns of a Parquet trace, and the number of requests left out because the driver returned them."""
        times, sectors, counts, ops = (np.asarray(column) for column in (self._times, self._sectors, self._counts, self._ops))
        order = np.argsort(times, kind="stable")
        withdrawn, requeued = _withdrawn(order, sectors, counts, ops)
        order = np.delete(order, withdrawn)
        start = times[order[0]] if len(order) else np.uint64(0)
        columns = {
            "time_ns": (times[order] - start) * np.uint64(1000),
            "op": np.array(list(OPS))[ops[order]],
            "offset_bytes": sectors[order] * np.uint64(SECTOR_BYTES),
            "size_bytes": counts[order] * np.uint64(SECTOR_BYTES),
        }
        return pa.table(columns), requeued

    def first_us(self) -> int:
        """Time of the first request, us; 0 without requests."""
        return min(self._times, default=0)

    def gaps(self) -> list[Gap]:
        """Intervals in which events were lost on any processor, in order and disjoint."""
        latest = max(self._last.values(), default=self._began_us)
        merged: list[Gap] = []
        for gap in sorted([*self._gaps, *(Gap(begin, latest) for begin in self._open.values())]):
            if merged and gap.begin_us <= merged[-1].end_us:
                merged[-1] = Gap(merged[-1].begin_us, max(merged[-1].end_us, gap.end_us))
            else:
                merged.append(gap)
        return merged


def _withdrawn(
    order: npt.NDArray[Any], sectors: npt.NDArray[Any], counts: npt.NDArray[Any], ops: npt.NDArray[Any]
) -> tuple[list[int], int]:
    """Finds requests that the driver returned because it could not take them yet.

    Returns the positions in `order` of these requests and of the events that report them, and the number of such requests.

    If a request was issued several times, the last issue counts, which the drive has executed. It may have been merged with another one, so
    the earlier issue, which is known exactly, is removed.
    """
    if not (ops >= _REQUEUED).any():
        return [], 0
    issued: defaultdict[tuple[int, int, int], list[int]] = defaultdict(list)
    gone: list[int] = []
    requests = 0
    for place, index in enumerate(order):
        op = int(ops[index])
        key = (op % _REQUEUED, int(sectors[index]), int(counts[index]))
        if op < _REQUEUED:
            issued[key].append(place)
            continue
        gone.append(place)
        if issued[key]:  # false if it was issued before the recording
            gone.append(issued[key].pop())
            requests += 1
    return gone, requests


@dataclass(frozen=True, kw_only=True)
class Recording:
    """The outcome of a recorded command.

    Attributes:
        device: recorded device.
        command: words of the command.
        exit_code: exit code of the command; 128 + number for a signal.
        duration_s: duration of the command, s.
        interrupted: whether Ctrl-C or a signal ended the recording.
        collector: collected events.
        dropped: number of events that the kernel reports as dropped.
        left_behind: tracefs folder that could not be removed, if any.
    """

    device: Device
    command: Sequence[str]
    exit_code: int
    duration_s: float
    interrupted: bool
    collector: Collector
    dropped: int
    left_behind: Path | None

    @property
    def lost(self) -> int:
        """Number of missing events."""
        return max(self.dropped, self.collector.lost)

    def save(self, out: Path) -> dict[str, Any]:
        """Writes the trace, completely or not at all, in the format of the name's ending.

        Returns:
            A report on the recording; counts of 0 are absent.

        Raises:
            Error: there are no requests, or the trace cannot be written. The recording is then kept in a file that the message names.
        """
        table, requeued = self.collector.table()
        if not table.num_rows or pc.all(pc.equal(table["op"], "F")).as_py():  # flushes there are by writing out alone
            raise Error(self._nothing())
        _save(table, out)
        return self._report(table, requeued)

    def warnings(self) -> list[str]:
        """Reasons why the trace differs from the command's own requests, for messages."""
        said = []
        if self.lost:
            said.append(self._losses())
        if self.exit_code and not self.interrupted:
            said.append(f"{self.command[0]} failed with exit code {self.exit_code}; the trace holds what it did")
        if self.collector.unreadable:
            line = self.collector.first_unreadable
            said.append(
                f"{self.collector.unreadable:,} of the kernel's lines are in an unknown form and left out; please report one: {line}"
            )
        if self.left_behind is not None:
            said.append(f"the kernel would not remove {self.left_behind}: remove it with `rmdir {self.left_behind}`")
        return said

    def _losses(self) -> str:
        gaps = [f"{begin:.3f} to {end:.3f} s" for begin, end in self._gaps_s()]
        more = f" and {len(gaps) - 3} times more" if len(gaps) > 3 else ""
        when = f" ({', '.join(gaps[:3])}{more})" if gaps else ""
        return f"LOST {self.lost:,} EVENTS{when}: the trace is not complete; record again with a larger --buffer-mb"

    def _gaps_s(self) -> list[tuple[float, float]]:
        """Intervals in which events were lost, s, by the trace's clock: negative before the first request."""
        start = self.collector.first_us()
        return [((gap.begin_us - start) / _US, (gap.end_us - start) / _US) for gap in self.collector.gaps()]

    def _nothing(self) -> str:
        others = self.collector.other_partitions
        seen = f" ({others:,} reached other parts of the disk)" if others else ""
        return (
            f"no request reached {self.device.path} while {self.command[0]} ran{seen}: are its files on that device "
            "(`findmnt -no SOURCE -T PATH` names the device of a path), and did it read what was in memory already "
            f"(with O_DIRECT, or after `echo 3 > /proc/sys/vm/drop_caches`, reads reach the device)"
        )

    def _report(self, table: pa.Table, requeued: int) -> dict[str, Any]:
        times = table["time_ns"].to_numpy() // 1000
        pauses = np.diff(times)
        span = int(times[-1])
        report: dict[str, Any] = {
            "device": self.device.path,
            "device_size_bytes": self.device.size_bytes,
            "event": self.device.event,
            "command": list(self.command),
            "exit_code": self.exit_code,
            "duration_s": round(self.duration_s, 6),
            "lost_events": self.lost,
        }
        if span:
            report["longest_gap_s"] = int(pauses.max()) / _US
            report["idle_share"] = int(pauses[pauses > IDLE_US].sum()) / span
        counts = {
            "write_zeroes": self.collector.write_zeroes,
            "requeued": requeued,
            "other_partitions": self.collector.other_partitions,
            "unreadable_lines": self.collector.unreadable,
            "left_out": self.collector.left_out.total(),
        }
        report |= {key: count for key, count in counts.items() if count}
        if self.collector.gaps():
            report["lost_between_s"] = [list(gap) for gap in self._gaps_s()]
        if self.interrupted:
            report["interrupted"] = True
        return report


def _save(table: pa.Table, out: Path) -> None:
    """Writes the trace through a file in a temporary folder, which is kept if conversion fails: the recording may have taken hours."""
    folder = Path(tempfile.mkdtemp(prefix="ssdlab-"))
    between = folder / "recorded.parquet"
    try:
        pq.write_table(table, between)
    except OSError as reason:
        shutil.rmtree(folder)
        raise Error(f"{between}: cannot write: {reason.strerror or reason}") from reason
    try:
        _core.trace_convert(between, out)
    except Error as reason:
        raise Error(f"{reason}; what was recorded is kept as {between}") from reason
    except BaseException:
        shutil.rmtree(folder)
        raise
    shutil.rmtree(folder)


def check_target(out: Path) -> None:
    """Checks before the recording that a trace can be written to this path.

    Raises:
        UsageError: the name has no known ending, or its folder cannot be written to.
    """
    if not out.name.lower().endswith(ENDINGS):
        raise UsageError(f"--out {out}: expected a name that ends in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}")
    if out.is_dir():
        raise UsageError(f"--out {out}: is a folder: give the name of a file in it")
    if not out.parent.is_dir():
        raise UsageError(f"--out {out}: there is no folder {out.parent}")
    if not os.access(out if out.exists() else out.parent, os.W_OK):
        raise UsageError(f"--out {out}: no permission to write: choose another name or folder")
