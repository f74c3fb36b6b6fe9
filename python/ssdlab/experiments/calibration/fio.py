"""Measurements from fio's JSON output (`--output-format=json` or `json+`) for the jobs in `drive.fio` and similar ones.

A job becomes an operating point only if its options determine the point. Other jobs are counted in `left_out`, with the reason.
"""

from __future__ import annotations

import math
import posixpath
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path

from ssdlab.checks import LARGEST_FLOAT
from ssdlab.errors import UsageError
from ssdlab.experiments.calibration.fio_jobs import (
    Direction,
    Job,
    UnusableError,
    check_all,
    how_uniform,
    is_later_output,
    jobs_of,
    outputs,
    starts_after,
)
from ssdlab.experiments.calibration.measurements import FullSpeed, Measurement, Measurements, Pattern, Point, Probe, QuantityName, averaged

__all__ = ["read"]

RATE_TOLERANCE = 0.1
"""Maximum relative difference between the requested and the measured rate of a job."""
SAME_SIZE = 0.01
"""Maximum relative difference between regions of the same size: a fill ends with the last complete request."""

PREPARATION, PROBE, LOAD = "overwrite", "probe", "load"
"""Prefixes of the names of jobs that only prepare the drive, that measure response times, and that run beside a probe."""

COMPLETE = 0.9
"""Minimum share of its `runtime` that a job must have run; below it, the job counts as interrupted."""
COMPLETE_BYTES = 1 - SAME_SIZE
"""Minimum share of its bytes that a job must have moved; below it, the job counts as interrupted."""
COMPLETE_BYTES_AFTER_RAMP = 0.5
"""`COMPLETE_BYTES` of a job with `ramp_time`, in which an unknown number of bytes is moved."""
INTERIM = "printed while fio was running (--status-interval): the last output of the run is used"
SAME_TIME = 0.1
"""Maximum difference between the times of two jobs that ran together, as a share of the whole time."""
LEAST_BYTES, MOST_BYTES = 1024, 2**30
"""Minimum and maximum request size, bytes, that can be simulated."""
MOST_DEPTH = 10**6
"""Maximum number of outstanding requests."""
LARGEST_THETA = 10.0
"""Maximum exponent of Zipf's law that can be simulated."""
LEAST_US = 1.0
"""Minimum response time, us."""

_NO_DRIVE = frozenset(
    (
        *("null", "cpuio", "mmap", "exec", "net", "netsplice", "rdma"),
        *("filecreate", "filestat", "filedelete", "dircreate", "dirstat", "dirdelete"),
        *("falloc", "ftruncate", "e4defrag"),
    )
)
"""I/O engines that do not access a drive, or only through the page cache."""
_UNCACHED = frozenset(("io_uring_cmd", "sg", "spdk"))
"""I/O engines that bypass the page cache without `direct=1`."""
_OTHER_WORK = (
    *("bssplit", "blocksize_range", "bsrange", "rate", "thinktime", "fsync", "fdatasync", "sync", "offset", "offset_increment"),
    *("percentage_random", "latency_target", "flow", "zonemode", "unified_rw_reporting", "directory", "nrfiles", "verify"),
)
"""Options whose effect no operating point describes."""
_PERCENTILES: tuple[tuple[Direction, int, QuantityName], ...] = (
    ("read", 50, "read_p50_us"),
    ("read", 99, "read_p99_us"),
    ("write", 50, "write_p50_us"),
    ("write", 99, "write_p99_us"),
)


def read(file: Path, drive: str | None = None) -> Measurements:
    """Reads the measurements from fio's output.

    Args:
        file: fio's output, as `json` or `json+`. The file may contain other text and several outputs.
        drive: name of the drive; by default the name of the file.

    Raises:
        FileError: the file cannot be read.
        UsageError: the file is not an output of fio, is cut off, has a job that failed, or has no usable job.
    """
    reader, number, found, previous = _Reader(), 1, list[list[Job]](), None
    for output in outputs(file):
        if previous is not None and is_later_output(previous, output):
            reader.left_out[INTERIM] += len(found.pop())
        found.append(jobs_of(file, output, number))
        number += sum(len(job.entries) for job in found[-1])
        previous = output
    _check_drive([job for jobs in found for job in jobs])
    for jobs in found:
        reader.add(jobs)
    if not reader.rows:
        reasons = "; ".join(reader.left_out)
        expected = "expected the jobs that `ssdlab calibrate --print-jobs` prints"
        raise UsageError(f"{file}: none of its {number - 1} jobs can be used ({reasons}): {expected}")
    return Measurements(drive or file.stem, averaged(reader.rows), dict(reader.left_out))


@dataclass
class _Reader:
    """Converts jobs to rows, in the order in which they ran.

    Attributes:
        filled: bytes that the drive holds, once a job has filled it; `None` before.
        once: the last job that prepared the drive, if it wrote each address once before any a second time.
        fill: the job that filled the drive, if it was to fill all of it, whatever its capacity.
        rows: the rows so far.
        left_out: number of unused jobs, and of unused quantities of used jobs, by reason.
    """

    filled: int | None = None
    fill: Job | None = None
    once: Job | None = None
    rows: list[Measurement] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, jobs: list[Job]) -> None:
        """Adds the rows of one output of fio."""
        groups = _together(jobs)
        for at, group in enumerate(groups):
            try:
                _check_alone(groups, at)
                for job in group:
                    _check(job)
                self._read(group, is_first=at == 0, is_cut=at + 1 < len(groups) and _never_ran(groups[at + 1]))
            except UnusableError as reason:
                self.left_out[str(reason)] += len(group)

    def _read(self, jobs: list[Job], *, is_first: bool, is_cut: bool) -> None:
        """Adds the rows of jobs that ran at the same time; `is_cut`: the next jobs never ran."""
        job = jobs[0]
        if job.name.startswith(PREPARATION):
            self._check_filled(job)
            self.once = job if job.writes_each_once else None
            raise UnusableError(f"{PREPARATION}: prepares the drive, and is not measured")
        if job.name.startswith(LOAD):
            raise UnusableError(f"{LOAD}: no {PROBE} before it")
        if job.name.startswith(PROBE) or (job.rates is not None and "read" in job.directions):
            self._probe(*jobs, is_cut=is_cut)
        elif job.directions != ("write",) or job.rates is not None:
            raise UnusableError(_no_point(job))
        elif job.is_random:
            self._random(job, is_cut=is_cut)
        else:
            self._sequential(job, is_first=is_first, is_cut=is_cut)

    def _sequential(self, job: Job, *, is_first: bool, is_cut: bool) -> None:
        """Adds the row of sequential writes, which also determine how many bytes the drive holds."""
        if not is_first:
            raise UnusableError("sequential writes that are not the first job: only those to an empty drive are an operating point")
        if job.has("time_based") or max(job.threads, job.amount("loops", 1)) > 1:
            raise UnusableError("sequential writes with time_based, loops or numjobs: only those that write each address once are a point")
        if job.amount_asked != job.region:
            raise UnusableError(f"{job}: sequential writes with io_size: only those that write each address once are a point")
        _check_complete(job, is_cut=is_cut)
        written = round(sum(job.numbers("write", "io_bytes")))
        self.fill = job if job.amount_asked is None else None
        self.filled = min(written, job.region) if isinstance(job.region, int) else written
        self._full_speed(job, Pattern("sequential"), self.filled)

    def _check_filled(self, job: Job) -> None:
        """Refuses a fill of the whole drive that a later job shows to be incomplete: fio itself does not report the interruption."""
        loop = job.moved_bytes / max(1, job.amount("loops", 1) * job.threads)
        is_whole = job.amount_asked is None and not job.has("runtime")
        if self.fill is not None and self.filled is not None and is_whole and loop > self.filled * (1 + SAME_SIZE):
            what = f"{self.fill} wrote {self.filled:,} bytes, and {job} {loop:,.0f} in each loop"
            raise UsageError(f"{job.file}: {what}: expected the same, all of the drive: let both run to their end")

    def _random(self, job: Job, *, is_cut: bool) -> None:
        """Adds the row of random writes."""
        check_all(partial(_check_ramp, job), partial(self._check_uniform, job), partial(self._region, job))
        used, share = self._region(job)
        _check_complete(job, is_cut=is_cut)
        self._full_speed(job, _pattern(job, share), used)

    def _full_speed(self, job: Job, pattern: Pattern, used_bytes: int) -> None:
        self._row([job], FullSpeed(pattern, used_bytes, job.request_bytes, job.depth), "write_iops", job.rate("write"))

    def _probe(self, probe: Job, load: Job | None = None, *, is_cut: bool) -> None:
        """Adds the rows of a probe and the load beside it."""
        jobs = [probe] if load is None else [probe, load]
        check_all(partial(self._probe_point, probe, load), *(partial(self._check_uniform, job) for job in jobs))
        point = self._probe_point(probe, load)
        for job in jobs:
            _check_complete(job, is_cut=is_cut)
        if load is not None:
            _check_same_time(probe, load)
        for job in jobs:
            _check_rates(job)
        self._row(jobs, point, "iops", sum(job.rate(direction) for job in jobs for direction in job.directions))
        if "read" in probe.directions:
            self._try(jobs, point, "read_mean_us", partial(_mean_us, probe, "read"))
        for direction, percent, name in _PERCENTILES:
            if direction in probe.directions:
                self._try(jobs, point, name, partial(_percentile_us, probe, direction, percent))
        if load is not None and "write" in load.directions:
            self._try(jobs, point, "load_write_mean_us", partial(_mean_us, load, "write"))

    def _probe_point(self, probe: Job, load: Job | None) -> Probe:
        rates = probe.rates
        if rates is None:
            raise UnusableError(f"{PROBE}: no rate_iops: only requests at a fixed rate are an operating point")
        if probe.options.get("rate_process", "linear") != "linear":
            raise UnusableError(f"{PROBE}: rate_process={probe.options['rate_process']}: leave it out: a probe comes at equal distances")
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
        """Bytes that the drive holds, if the jobs address all of them at random with one request size; else an error."""
        regions = [self._region(job) for job in jobs]
        patterns = {_pattern(job, share) for job, (_, share) in zip(jobs, regions, strict=True)}
        if patterns != {Pattern("uniform")} or not all(job.is_random for job in jobs):
            raise UnusableError(f"{PROBE} or {LOAD}: addresses that are not random, all alike, over all that the drive holds")
        if len({job.request_bytes for job in jobs}) > 1:
            raise UnusableError(f"{PROBE} and {LOAD}: requests of different sizes")
        return max(used for used, _ in regions)

    def _check_uniform(self, job: Job) -> None:
        """Refuses random writes to each address once before any a second time, also if only the preparation was done so."""
        if job.writes_each_once:
            raise UnusableError(f"{job.name}: {how_uniform(job)}")
        if self.once is not None and "write" in job.directions:
            raise UnusableError(f"{job.name}: {self.once} prepared the drive: {how_uniform(self.once)}")

    def _region(self, job: Job) -> tuple[int, float]:
        """Bytes that the drive holds, and the share of them that a job addresses, above 0 to 1."""
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
        """Adds a row if its value is available; other rows of the point do not depend on it."""
        try:
            self._row(jobs, point, quantity, value())
        except UnusableError as reason:
            self.left_out[str(reason)] += 1


def _check_ramp(job: Job) -> None:
    """Refuses random writes that were measured from their start."""
    if job.seconds("ramp_time") == 0:
        raise UnusableError("random writes without ramp_time: what was measured begins before the drive is steady")


def _no_point(job: Job) -> str:
    """The reason why a single job is not an operating point, and what would make it one."""
    kind = job.options.get("rw", "read")
    if job.rates is not None:
        return f"{job}: rw={kind} with rate_iops: writes are measured at full speed: leave out rate_iops"
    reads = f"reads are measured at a fixed rate, below what the drive can do: set rate_iops, such as rate_iops=500 with rw={kind}"
    return f"{job}: rw={kind} at full speed: {reads}"


def _together(jobs: list[Job]) -> list[list[Job]]:
    """Groups jobs that ran at the same time. If fio does not state the times, names decide; `_check_alone` checks them."""
    groups: list[list[Job]] = []
    for job in jobs:
        previous = groups[-1][-1] if groups else None
        if previous is None or (starts_after(previous, job) if _is_known(previous, job) else not _is_pair([previous, job])):
            groups.append([])
        groups[-1].append(job)
    return groups


def _is_known(previous: Job, job: Job) -> bool:
    return starts_after(previous, job) is not None


def _is_pair(jobs: list[Job]) -> bool:
    return len(jobs) == 2 and jobs[0].name.startswith(PROBE) and jobs[1].name.startswith(LOAD)


def _never_ran(jobs: list[Job]) -> bool:
    return not any(max(job.numbers("read", "runtime") + job.numbers("write", "runtime")) for job in jobs)


def _check_alone(groups: list[list[Job]], at: int) -> None:
    """Refuses jobs that ran beside others, or may have."""
    jobs = groups[at]
    if len(jobs) > 1 and not _is_pair(jobs):
        names = f"{jobs[0]} to {jobs[-1]}" if len(jobs) > 2 else " and ".join(map(str, jobs))
        raise UnusableError(f"{names} ran at the same time: set stonewall=1 in each, but not in a {LOAD} directly behind its {PROBE}")
    for job in jobs:
        if job.is_added_up:
            raise UnusableError(
                f"{job}: fio added other jobs to it, which ran at the same time: set stonewall=1, or new_group=1 in a {LOAD}"
            )
    if len(jobs) > 1 and not _is_known(*jobs):
        raise UnusableError(f"not known whether {jobs[1]} ran beside {jobs[0]}: set new_group=1 in it, with =1, or fio does not list it")
    behind = groups[at + 1][:1] if at + 1 < len(groups) else []
    for one, other in pairwise([*jobs, *behind]):
        if one.group is not None and other.group is not None and other.group[0] > one.group[1] + 1:
            raise UnusableError(
                f"between {one} and {other} a job is missing, which may have run beside them: pass the file as fio wrote it"
            )
    before = groups[at - 1][-1:] if at else []
    for one, other in (*pairwise([*before, jobs[0]]), *pairwise([jobs[-1], *behind])):
        if not _is_known(one, other) and not _fit_in_a_row(groups):
            raise UnusableError(f"not known whether {other} ran beside {one}: set stonewall=1 in it, with =1, or fio does not list it")


def _fit_in_a_row(groups: list[list[Job]]) -> bool:
    """Whether the groups can have run one after another within the time that fio took."""
    elapsed = groups[-1][-1].entries[-1].get("elapsed")
    if not isinstance(elapsed, int | float) or not 0 < elapsed < LARGEST_FLOAT:
        return False
    try:
        return sum(max(job.whole_s for job in jobs) for jobs in groups) <= elapsed * (1 + SAME_SIZE)
    except UnusableError:  # the ramp_time of another job is not a time
        return False


def _check_drive(jobs: list[Job]) -> None:
    """Refuses jobs of different drives, whose numbers would be averaged."""
    first: Job | None = None
    for job in jobs:
        if not job.options.get("filename"):
            continue
        first = first or job
        one, other = first.options["filename"], job.options["filename"]
        if posixpath.normpath(one) != posixpath.normpath(other):
            what = f"{first} has filename={one}, and {job} has filename={other}"
            raise UsageError(f"{job.file}: {what}: expected the output of one drive: put that of each drive into a file of its own")


def _check_complete(job: Job, *, is_cut: bool) -> None:
    """Refuses a job that ended early, by an interruption or an error."""
    asked_s, asked = job.seconds("runtime"), job.amount_asked
    if asked_s and job.measured_s >= COMPLETE * asked_s:
        return
    if asked_s and (job.has("time_based") or not isinstance(asked, int)):
        raise UnusableError(f"{job}: measured for {job.measured_s:.3g} s, and runtime asks for {asked_s:.3g} s: let fio run to its end")
    if not isinstance(asked, int):
        if is_cut:
            raise UnusableError(f"{job}: the jobs behind it never ran, so it was interrupted: let fio run to its end")
        return
    wanted = asked * job.amount("loops", 1) * job.threads
    least = COMPLETE_BYTES_AFTER_RAMP if job.seconds("ramp_time") else COMPLETE_BYTES
    if job.moved_bytes < least * wanted:
        raise UnusableError(f"{job}: {job.moved_bytes:,.0f} of {wanted:,} bytes were read or written: let fio run to its end")


def _check_same_time(probe: Job, load: Job) -> None:
    """Refuses a probe and a load if one was measured while the other was not running."""
    within = SAME_TIME * max(probe.whole_s, load.whole_s)
    starts = (probe.started_s, load.started_s) if probe.started_s and load.started_s else (0.0, 0.0)
    begins, ends = zip(
        *((at + job.seconds("ramp_time"), at + job.whole_s) for at, job in zip(starts, (probe, load), strict=True)), strict=True
    )
    if max(abs(begins[0] - begins[1]), abs(ends[0] - ends[1])) > within:
        raise UnusableError(f"{probe} and {load} were not measured at the same time: give both the same ramp_time and runtime")


def _mean_us(job: Job, direction: Direction) -> float:
    return _time_us(job, direction, "mean", job.mean_us(direction))


def _percentile_us(job: Job, direction: Direction, percent: int) -> float:
    value = _time_us(job, direction, f"percentile {percent}", job.percentile_us(direction, percent))
    try:
        low, high = job.percentile_us(direction, 50), job.percentile_us(direction, 99)
    except UnusableError:
        return value
    if low > high:
        what = f"median {low:,.5g} us is above their 99th percentile, {high:,.5g} us"
        raise UnusableError(f"{job}: of its {direction}s the {what}: pass the file as fio wrote it")
    return value


def _time_us(job: Job, direction: Direction, what: str, us: float) -> float:
    """A response time, us: at least `LEAST_US`, and at most as long as the job ran; otherwise the quantity is unusable."""
    longest = 1e6 * job.whole_s
    if not LEAST_US <= us <= longest:
        expected = f"expected {LEAST_US:g} us to the {longest / 1e6:.3g} s that the job ran"
        raise UnusableError(f"{job}: {what} of {direction}s is {us:.3g} us: {expected}")
    return us


def _check(job: Job) -> None:
    """Refuses a job whose options no operating point describes, or that lacks some of its threads."""
    for option in _OTHER_WORK:
        if job.has(option):
            raise UnusableError(f"{option}={job.options[option]}: no operating point has it: leave it out")
    # One option is the inverse of the other; a job's own options come after the global ones, and the last one counts.
    last = next((option for option in reversed(list(job.options)) if option in ("direct", "buffered")), None)
    bypasses = job.has("direct") if last == "direct" else last == "buffered" and not job.has("buffered")
    if not bypasses and job.options.get("ioengine") not in _UNCACHED:
        raise UnusableError("no direct=1: the page cache was measured, not the drive")
    if job.options.get("ioengine") in _NO_DRIVE:
        raise UnusableError(
            f"ioengine={job.options['ioengine']}: does not read or write the drive itself: expected such as libaio or io_uring"
        )
    if re.search(r"(?<!\\):", job.options.get("filename", "")):
        raise UnusableError(f"filename={job.options['filename']}: several files: expected one drive")
    if job.failed:
        raise UnusableError(f"{job}: {job.failed:,} of its requests failed (total_err): remove the cause, and run fio again")
    _check_amounts(job)
    if len(job.entries) not in {1, job.threads}:
        raise UnusableError(f"{len(job.entries)} of {job.threads} threads are there: pass the file as fio wrote it")


def _check_amounts(job: Job) -> None:
    """Refuses amounts that cannot be simulated, or that leave out a part of the addresses."""
    size, asked, region = job.request_bytes, job.amount_asked, job.region
    if not LEAST_BYTES <= size <= MOST_BYTES:
        raise UnusableError(f"bs={job.options.get('bs')}: requests of {size:,} bytes: expected 1 KiB to 1 GiB")
    if isinstance(region, int) and region < size:
        raise UnusableError(f"size={job.options.get('size')}: less than one request of {size:,} bytes: set a larger size")
    if not 1 <= job.depth <= MOST_DEPTH:
        raise UnusableError(f"numjobs and iodepth: {job.depth:,} requests are outstanding: expected 1 to {MOST_DEPTH:,}")
    if asked != region and not (isinstance(asked, int) and isinstance(region, int) and asked > region):
        raise UnusableError(
            f"{job}: io_size without a size, or below it, so that the used addresses are not known: set size, and no smaller io_size"
        )


def _check_rates(job: Job) -> None:
    """Refuses a job whose measured rate differs from the requested one."""
    for direction, rate in (job.rates or {}).items():
        measured = job.rate(direction)
        if abs(measured / rate - 1) > RATE_TOLERANCE:
            what = f"{rate:,} {direction}s/s were requested and {measured:,.0f} made"
            raise UnusableError(f"{job.name}: {what}: set a rate that the drive and the computer reach")


def _offered(load: Job) -> tuple[float | None, float]:
    """The offered rate of a load, requests per second (`None`: as many as the drive takes), and its share of reads."""
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
    """The pattern of random requests; `share`: the part of the used addresses that they cover."""
    text = job.options.get("random_distribution", "random")
    kind, _, parameters = text.partition(":")
    if kind == "random":
        return Pattern("uniform") if share == 1 else Pattern("zones", hot_share=share, hot_access=1.0)
    if share == 1 and kind == "zipf":
        theta = _numbers(parameters.split(":")[0], text)[0]
        if not 0 < theta <= LARGEST_THETA:
            raise UnusableError(f"random_distribution={text}: expected an exponent above 0, up to {LARGEST_THETA:g}")
        return Pattern("zipf", theta=theta)
    if share == 1 and kind == "zoned":
        return _zones(parameters, text)
    raise UnusableError(f"random_distribution={text}: expected random or, over all data on the drive, zipf or zoned")


def _zones(parameters: str, text: str) -> Pattern:
    """Parses `zoned:90/10:10/90`: 90 % of the requests go to 10 % of the addresses, the rest to the other 90 %."""
    zones = [tuple(_numbers(zone, text)) for zone in parameters.split(":")]
    if len(zones) != 2 or any(len(zone) != 2 for zone in zones) or [sum(column) for column in zip(*zones, strict=True)] != [100, 100]:
        raise UnusableError(f"random_distribution={text}: expected two zones, such as zoned:90/10:10/90")
    if any(size == 0 for _, size in zones):
        raise UnusableError(f"random_distribution={text}: a zone without addresses: expected two zones, such as zoned:90/10:10/90")
    access, size = max(zones, key=lambda zone: zone[0] / zone[1])
    return Pattern("zones", hot_share=size / 100, hot_access=access / 100)


def _numbers(parameters: str, text: str) -> list[float]:
    try:
        found = [float(part) for part in parameters.split("/")]
    except ValueError:
        found = [math.nan]
    if not all(0 <= number < LARGEST_FLOAT for number in found):
        raise UnusableError(f"random_distribution={text}: expected numbers")
    return found
