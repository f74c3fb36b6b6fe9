"""Measurements from the JSON that fio writes (`--output-format=json` or `json+`), of the jobs in `drive.fio` and others like them.

A job becomes an operating point only if its options say all that the point needs. All others are counted in `left_out`, with the reason.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ssdlab.calibration.fio_jobs import Direction, Job, UnusableError, jobs_of, outputs
from ssdlab.calibration.measurements import FullSpeed, Measurement, Measurements, Pattern, Point, Probe, QuantityName, averaged
from ssdlab.checks import LARGEST_FLOAT
from ssdlab.errors import UsageError

__all__ = ["read"]

RATE_TOLERANCE = 0.1
"""A job whose rate differs by a larger share from what its options request was not at the operating point that they describe."""
SAME_SIZE = 0.01
"""Regions that differ by a smaller share are the same: a fill ends with the last whole request."""

PREPARATION, PROBE, LOAD = "overwrite", "probe", "load"
"""How the names of jobs begin that only prepare the drive, whose response times are measured, and that run beside these."""

_UNCACHED = frozenset(("io_uring_cmd", "sg", "spdk"))
"""Engines that bypass the page cache without `direct=1`."""
_OTHER_WORK = (
    *("bssplit", "blocksize_range", "bsrange", "rate", "thinktime", "fsync", "fdatasync", "sync", "offset", "offset_increment"),
    *("percentage_random", "latency_target", "flow", "zonemode", "unified_rw_reporting", "directory", "nrfiles", "verify"),
)
"""Options with which a job does what no operating point describes."""
_PERCENTILES: tuple[tuple[Direction, int, QuantityName], ...] = (
    ("read", 50, "read_p50_us"),
    ("read", 99, "read_p99_us"),
    ("write", 50, "write_p50_us"),
    ("write", 99, "write_p99_us"),
)


def read(file: Path, drive: str | None = None) -> Measurements:
    """The measurements in what fio wrote.

    Args:
        file: fio's output, as `json` or `json+`. Other text may be around it, and several outputs may follow each other.
        drive: what the drive is called; without it, the name of the file.

    Raises:
        FileError: it cannot be read.
        UsageError: it is no output of fio, is cut off, has a job that failed, or none that can be used.
    """
    reader, number = _Reader(), 1
    for output in outputs(file):
        jobs = jobs_of(file, output, number)
        number += sum(len(job.entries) for job in jobs)
        reader.add(jobs)
    if not reader.rows:
        reasons = "; ".join(reader.left_out)
        expected = "expected the jobs that `ssdlab calibrate --print-jobs` prints"
        raise UsageError(f"{file}: none of its {number - 1} jobs can be used ({reasons}): {expected}")
    return Measurements(drive or file.stem, averaged(reader.rows), dict(reader.left_out))


@dataclass
class _Reader:
    """Goes through jobs in the order in which they ran.

    Attributes:
        filled: how many bytes the drive holds, once a job has filled it.
        rows: what was measured.
        left_out: by reason, how many jobs, or quantities of a job that is used.
    """

    filled: int | None = None
    rows: list[Measurement] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, jobs: list[Job]) -> None:
        """Adds the rows of one output of fio."""
        at = 0
        while at < len(jobs):
            together = _together(jobs[at : at + 2])
            try:
                for job in together:
                    _check(job)
                self._read(together, is_first=at == 0)
            except UnusableError as reason:
                self.left_out[str(reason)] += len(together)
            at += len(together)

    def _read(self, jobs: list[Job], *, is_first: bool) -> None:
        """Adds the rows of jobs that ran at the same time."""
        job = jobs[0]
        if job.name.startswith(PREPARATION):
            raise UnusableError(f"{PREPARATION}: prepares the drive, and is not measured")
        if job.name.startswith(LOAD):
            raise UnusableError(f"{LOAD}: no {PROBE} before it")
        if job.name.startswith(PROBE):
            self._probe(job, *jobs[1:])
        elif job.directions != ("write",) or job.rates is not None:
            raise UnusableError(f"neither named {PROBE}, nor writes only, at full speed")
        elif job.is_random:
            self._random(job)
        else:
            self._sequential(job, is_first=is_first)

    def _sequential(self, job: Job, *, is_first: bool) -> None:
        """Sequential writes, which also say how much the drive holds afterwards."""
        if not is_first:
            raise UnusableError("sequential writes that are not the first job: only those to an empty drive are an operating point")
        if job.has("time_based") or max(job.threads, job.amount("loops", 1)) > 1:
            raise UnusableError("sequential writes with time_based, loops or numjobs: only those that write each address once are a point")
        written = round(sum(job.numbers("write", "io_bytes")))
        self.filled = min(written, job.region) if isinstance(job.region, int) else written
        self._full_speed(job, Pattern("sequential"), self.filled)

    def _random(self, job: Job) -> None:
        """Random writes."""
        if not job.has("ramp_time"):
            raise UnusableError("random writes without ramp_time: what was measured begins before the drive is steady")
        used, share = self._region(job)
        self._full_speed(job, _pattern(job, share), used)

    def _full_speed(self, job: Job, pattern: Pattern, used_bytes: int) -> None:
        self._row([job], FullSpeed(pattern, used_bytes, job.request_bytes, job.depth), "write_iops", job.rate("write"))

    def _probe(self, probe: Job, load: Job | None = None) -> None:
        """A probe, and the load beside it."""
        jobs = [probe] if load is None else [probe, load]
        point = self._probe_point(probe, load)
        for job in jobs:
            _check_rates(job)
        self._row(jobs, point, "iops", sum(job.rate(direction) for job in jobs for direction in job.directions))
        if "read" in probe.directions:
            self._try(jobs, point, "read_mean_us", partial(probe.mean_us, "read"))
        for direction, percent, name in _PERCENTILES:
            if direction in probe.directions:
                self._try(jobs, point, name, partial(probe.percentile_us, direction, percent))
        if load is not None and "write" in load.directions:
            self._try(jobs, point, "load_write_mean_us", partial(load.mean_us, "write"))

    def _probe_point(self, probe: Job, load: Job | None) -> Probe:
        rates = probe.rates
        if rates is None:
            raise UnusableError(f"{PROBE}: no rate_iops: only requests at a fixed rate are an operating point")
        per_s = sum(rates.values())
        load_per_s, load_read_share = (0.0, 0.0) if load is None else _offered(load)
        return Probe(
            used_bytes=self._all_used([probe] if load is None else [probe, load]),
            request_bytes=probe.request_bytes,
            per_s=float(per_s),
            read_share=rates.get("read", 0) / per_s,
            load_per_s=load_per_s,
            load_read_share=load_read_share,
            load_depth=0 if load is None else load.depth,
        )

    def _all_used(self, jobs: list[Job]) -> int:
        """How many bytes the drive holds, if these jobs address all of them at random, with requests of one size."""
        regions = [self._region(job) for job in jobs]
        patterns = {_pattern(job, share) for job, (_, share) in zip(jobs, regions, strict=True)}
        if patterns != {Pattern("uniform")} or not all(job.is_random for job in jobs):
            raise UnusableError(f"{PROBE} or {LOAD}: addresses that are not random, all alike, over all that the drive holds")
        if len({job.request_bytes for job in jobs}) > 1:
            raise UnusableError(f"{PROBE} and {LOAD}: requests of different sizes")
        return max(used for used, _ in regions)

    def _region(self, job: Job) -> tuple[int, float]:
        """How many bytes the drive holds, and the share of these that a job addresses."""
        region = job.region
        if not self.filled and not isinstance(region, int):
            raise UnusableError("not known how much of the drive holds data: put the output of the job `fill` before, or set size in bytes")
        held = self.filled or 0
        addressed = held if region is None else region if isinstance(region, int) else round(region * held)
        used = max(held, addressed)
        share = addressed / used
        return used, share if share < 1 - SAME_SIZE else 1.0

    def _row(self, jobs: list[Job], point: Point, quantity: QuantityName, value: float) -> None:
        if value <= 0:
            raise UnusableError(f"{quantity} is 0")
        self.rows.append(Measurement(point, quantity, value, f"{jobs[0].file.name}: {', '.join(map(str, jobs))}"))

    def _try(self, jobs: list[Job], point: Point, quantity: QuantityName, value: Callable[[], float]) -> None:
        """Adds a row if its value is there: the others of the point can be used without it."""
        try:
            self._row(jobs, point, quantity, value())
        except UnusableError as reason:
            self.left_out[str(reason)] += 1


def _together(jobs: list[Job]) -> list[Job]:
    """Those that ran at the same time as the first: fio does not say so, but the names do."""
    is_pair = len(jobs) > 1 and jobs[0].name.startswith(PROBE) and jobs[1].name.startswith(LOAD)
    return jobs if is_pair else jobs[:1]


def _check(job: Job) -> None:
    """Refuses a job that does more than operating points describe, or not all of whose threads are there."""
    for option in _OTHER_WORK:
        if job.has(option):
            raise UnusableError(f"{option}={job.options[option]}: no operating point has it")
    if not job.has("direct") and job.options.get("buffered") != "0" and job.options.get("ioengine") not in _UNCACHED:
        raise UnusableError("no direct=1: the page cache was measured, not the drive")
    if len(job.entries) not in {1, job.threads}:
        raise UnusableError(f"{len(job.entries)} of {job.threads} threads are there")


def _check_rates(job: Job) -> None:
    """Refuses a job that did not have the rate that it requested."""
    for direction, rate in (job.rates or {}).items():
        measured = job.rate(direction)
        if abs(measured / rate - 1) > RATE_TOLERANCE:
            what = f"{rate:,} {direction}s/s were requested and {measured:,.0f} made"
            raise UnusableError(f"{job.name}: {what}: the drive, or the computer, could not do more, or fio not less")


def _offered(load: Job) -> tuple[float | None, float]:
    """A load's requests a second, `None` if it is whatever the drive takes, and the share of reads."""
    rates = load.rates
    if rates is not None:
        if load.options.get("rate_process") != "poisson":
            raise UnusableError(f"{LOAD}: rate_iops without rate_process=poisson: only requests at random instants are an operating point")
        return float(sum(rates.values())), rates.get("read", 0) / sum(rates.values())
    if len(load.directions) == 1:
        return None, float(load.directions == ("read",))
    reads = load.amount("rwmixread", 100 - load.amount("rwmixwrite", 50))
    return None, reads / 100


def _pattern(job: Job, share: float) -> Pattern:
    """Which addresses random requests go to, in a share of those that hold data."""
    text = job.options.get("random_distribution", "random")
    kind, _, parameters = text.partition(":")
    if kind == "random":
        return Pattern("uniform") if share == 1 else Pattern("zones", hot_share=share, hot_access=1.0)
    if share == 1 and kind == "zipf":
        return Pattern("zipf", theta=_numbers(parameters.split(":")[0], text)[0])
    if share == 1 and kind == "zoned":
        return _zones(parameters, text)
    raise UnusableError(f"random_distribution={text}: expected random, or over all that the drive holds zipf or zoned")


def _zones(parameters: str, text: str) -> Pattern:
    """Of `zoned:90/10:10/90`: 90 % of the requests go to 10 % of the addresses, and the others to the others."""
    zones = [tuple(_numbers(zone, text)) for zone in parameters.split(":")]
    if len(zones) != 2 or any(len(zone) != 2 for zone in zones) or [sum(column) for column in zip(*zones, strict=True)] != [100, 100]:
        raise UnusableError(f"random_distribution={text}: expected two zones, such as zoned:90/10:10/90")
    access, size = max(zones, key=lambda zone: zone[0] / max(zone[1], 1e-9))
    return Pattern("zones", hot_share=size / 100, hot_access=access / 100)


def _numbers(parameters: str, text: str) -> list[float]:
    try:
        found = [float(part) for part in parameters.split("/")]
    except ValueError:
        found = [math.nan]
    if not all(0 <= number < LARGEST_FLOAT for number in found):
        raise UnusableError(f"random_distribution={text}: expected numbers")
    return found
