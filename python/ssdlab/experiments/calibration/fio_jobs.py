"""Jobs in fio's JSON output: their options and their measured values."""

from __future__ import annotations

import codecs
import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ssdlab.checks import LARGEST_FLOAT, shown
from ssdlab.errors import FileError, UsageError

__all__ = ["Direction", "Job", "UnusableError", "check_all", "how_uniform", "is_later_output", "jobs_of", "outputs", "starts_after"]

Direction = Literal["read", "write"]

FEWEST_FOR_P99 = 1000
"""Minimum number of requests for a 99th percentile."""

ADDED_UP = 1.5
"""Factor between a job's summed run time and the longest run time of a thread above which fio has added another job to it."""
_SYNCHRONOUS = frozenset(("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"))
"""I/O engines whose threads have one outstanding request, whatever `iodepth` is."""
_DIRECTIONS: Mapping[str, tuple[Direction, ...]] = {
    **dict.fromkeys(("read", "randread"), ("read",)),
    **dict.fromkeys(("write", "randwrite"), ("write",)),
    **dict.fromkeys(("rw", "readwrite", "randrw"), ("read", "write")),
}
_UNSET = frozenset(("", "0", "none"))
_AMOUNT = re.compile(r"(0x[0-9a-f]{1,16}|[0-9]{1,20})([kmgtp]?)(i?)b?", re.IGNORECASE)
_TIME = re.compile(r"([0-9]{1,12}) *(d|h|m|s|sec|ms|msec|us|usec)?", re.IGNORECASE)
_SECONDS: Mapping[str, float] = {"d": 86_400, "h": 3600, "m": 60, "s": 1, "sec": 1, "ms": 1e-3, "msec": 1e-3, "us": 1e-6, "usec": 1e-6}
_BEGINNING = re.compile(r"^\{", re.MULTILINE)
_EXPECTED = "expected what `fio --output-format=json+ --output=FILE` writes"


class UnusableError(Exception):
    """A job that is left out; the text is the reason."""


@dataclass(frozen=True)
class Job:
    """A job of fio, with all of its threads.

    Attributes:
        file: file of the output.
        number: position of the job in the file, from 1; with several threads, position of the first one.
        name: name of the job.
        options: options of the job, including the global ones.
        entries: one entry per thread, or one for all threads (`group_reporting`).
    """

    file: Path
    number: int
    name: str
    options: Mapping[str, str]
    entries: tuple[Mapping[str, Any], ...]

    def __str__(self) -> str:
        return f"job {self.number} ({self.name})"

    def has(self, option: str) -> bool:
        """Whether an option is set to a value other than 0 or none."""
        return self.options.get(option, "") not in _UNSET

    def amount(self, option: str, default: int) -> int:
        """The value of an option as a whole number."""
        return self._amount(option, self.options[option]) if option in self.options else default

    def seconds(self, option: str) -> float:
        """The value of an option as a time, s, from texts such as `90`, `2m` or `1:30`; 0 if it is not set."""
        text = self.options.get(option, "0").strip()
        total = 0.0
        for part in text.split(":"):
            found = _TIME.fullmatch(part.strip())
            if found is None:
                raise UnusableError(f"{option}={text}: expected a time, such as 90, 90s or 2m")
            total = 60 * total + int(found[1]) * _SECONDS[(found[2] or "s").lower()]
        return total

    @property
    def threads(self) -> int:
        """Number of threads."""
        return self.amount("numjobs", 1)

    @property
    def depth(self) -> int:
        """Maximum number of outstanding requests of all threads."""
        is_one = self.options.get("ioengine", "psync") in _SYNCHRONOUS and self.options.get("io_submit_mode") != "offload"
        return self.threads * (1 if is_one else self.amount("iodepth", 1))

    @property
    def is_random(self) -> bool:
        """Whether the addresses are random."""
        return self.options.get("rw", "read").startswith("rand")

    @property
    def writes_each_once(self) -> bool:
        """Whether random writes go to each address once before any a second time.

        That is fio's default: it keeps a map of used addresses. With a distribution that is not uniform it keeps none (fio's `init.c`); the
        generator `lfsr` has the same effect without a map.
        """
        if not self.is_random or self.directions == ("read",):
            return False
        is_uniform = self.options.get("random_distribution", "random").partition(":")[0] == "random"
        return is_uniform and (not self.has("norandommap") or self.options.get("random_generator") == "lfsr")

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The directions of the requests: read, write or both."""
        kind = self.options.get("rw", "read")
        if kind not in _DIRECTIONS:
            raise UnusableError(f"rw={kind}: expected one of {', '.join(_DIRECTIONS)}")
        return _DIRECTIONS[kind]

    @property
    def request_bytes(self) -> int:
        """The request size, bytes."""
        text = self.options.get("bs", "4k")
        sizes = {self._amount("bs", _part(text, direction) or "4k") for direction in self.directions}
        if len(sizes) > 1:
            raise UnusableError(f"bs={text}: reads and writes of different sizes: set one size")
        return sizes.pop()

    @property
    def rates(self) -> Mapping[Direction, int] | None:
        """Requested rates of all threads, requests per second; `None` if rates are not limited."""
        text = self.options.get("rate_iops", "")
        rates = {direction: self.threads * self._amount("rate_iops", _part(text, direction) or "0") for direction in self.directions}
        if not any(rates.values()):
            return None
        if not all(rates.values()):
            raise UnusableError(f"rate_iops={text}: reads or writes have no rate: set both")
        return rates

    @property
    def region(self) -> int | float | None:
        """The addressed bytes, or, as a float, the addressed share of the drive or file; `None` for all of it."""
        return self._extent("size", self.options.get("size", self.options.get("filesize", "")))

    @property
    def amount_asked(self) -> int | float | None:
        """The amount to read or write in each loop, bytes or, as a float, a share: `region` unless `io_size` is set."""
        name = "io_limit" if self.has("io_limit") else "io_size"
        return self._extent(name, self.options[name]) if self.has(name) else self.region

    def _extent(self, option: str, text: str) -> int | float | None:
        if text in _UNSET:
            return None
        if text.endswith("%"):
            return self._amount(option, text[:-1]) / 100 or None
        return self._amount(option, text) or None

    @property
    def group(self) -> tuple[int, int] | None:
        """The group numbers of the first and the last thread; `None` if fio did not report them."""
        first, last = self.entries[0].get("groupid"), self.entries[-1].get("groupid")
        return (first, last) if isinstance(first, int) and isinstance(last, int) else None

    @property
    def started_s(self) -> float | None:
        """The start time, s; `None` if fio did not report it, as older versions."""
        start = self.entries[0].get("job_start")
        return start / 1000 if isinstance(start, int) and 0 < start < LARGEST_FLOAT else None

    @property
    def measured_s(self) -> float:
        """The measured time of a thread, s, without `ramp_time`: the shortest, or the mean if fio adds times up."""
        return min(self._thread_s() or self._longest_s())

    @property
    def longest_s(self) -> float:
        """The longest measured time of a thread, s."""
        return max(self._longest_s())

    @property
    def whole_s(self) -> float:
        """The run time with `ramp_time`, s."""
        return self.seconds("ramp_time") + self.longest_s

    @property
    def is_added_up(self) -> bool:
        """Whether fio added another job to this one, so that the summed times exceed the threads' own."""
        return any(each > ADDED_UP * longest > 0 for each, longest in zip(self._thread_s(), self._longest_s(), strict=False))

    def _longest_s(self) -> list[float]:
        pairs = zip(self.numbers("read", "runtime"), self.numbers("write", "runtime"), strict=True)
        return [max(pair) / 1000 for pair in pairs]

    def _thread_s(self) -> list[float]:
        """The mean thread time of each entry, s; empty if fio did not report it."""
        if any("job_runtime" not in entry for entry in self.entries):
            return []
        return [number / max(1.0, self.threads / len(self.entries)) / 1000 for number in self.numbers("job_runtime")]

    @property
    def moved_bytes(self) -> float:
        """Bytes read and written, without `ramp_time`."""
        return sum(self.numbers("read", "io_bytes")) + sum(self.numbers("write", "io_bytes"))

    @property
    def failed(self) -> int:
        """Number of failed requests, which `continue_on_error` allows."""
        counts = [entry.get("total_err", 0) for entry in self.entries]
        return round(sum(count for count in counts if isinstance(count, int | float) and 0 < count < LARGEST_FLOAT))

    def rate(self, direction: Direction) -> float:
        """Measured requests per second of all threads."""
        return sum(self.numbers(direction, "iops"))

    def mean_us(self, direction: Direction) -> float:
        """The mean response time over all threads, us."""
        means = self.numbers(direction, "lat_ns", "mean")
        # the mean of a thread with a very short measurement is 0
        weights = [count if mean else 0.0 for count, mean in zip(self.numbers(direction, "total_ios"), means, strict=True)]
        if not any(weights):
            raise UnusableError(f"no response times of {direction}s were recorded")
        return sum(weight * mean for weight, mean in zip(weights, means, strict=True)) / sum(weights) / 1000

    def percentile_us(self, direction: Direction, percent: int) -> float:
        """A percentile of the response times, us.

        It comes from fio's `lat`, which begins at the submission of a request, as response times do in the simulator. If fio did not record
        percentiles of `lat`, it comes from `clat`, which begins after submission: a few microseconds later where submission does not block.
        """
        if len(self.entries) > 1:
            raise UnusableError("percentiles of several threads cannot be joined: set group_reporting=1")
        if percent == 99 and self.numbers(direction, "total_ios")[0] < FEWEST_FOR_P99:
            raise UnusableError(f"fewer than {FEWEST_FOR_P99:,} {direction}s, too few for the 99th percentile: set a longer runtime")
        for kind in ("lat_ns", "clat_ns"):
            percentiles = _mapping(_mapping(_mapping(self.entries[0].get(direction)).get(kind)).get("percentile"))
            value = percentiles.get(f"{percent}.000000")
            if isinstance(value, int | float) and 0 < value < LARGEST_FLOAT:
                return float(value) / 1000
        raise UnusableError(f"no percentile {percent} of {direction}s: set lat_percentiles=1 and percentile_list=50:99")

    def numbers(self, *path: str) -> list[float]:
        """A number of each entry, at a path of keys.

        Raises:
            UsageError: an entry lacks the number.
        """
        return [self._number(entry, path) for entry in self.entries]

    def _number(self, entry: Mapping[str, Any], path: tuple[str, ...]) -> float:
        value: Any = entry
        for name in path:
            value = _mapping(value).get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < LARGEST_FLOAT:
            raise UsageError(f"{self.file}: {self}: {'.'.join(path)} is not there or not a number: {_EXPECTED}")
        return float(value)

    def _amount(self, option: str, text: str) -> int:
        """Parses a whole number such as `4k`: 4096, or 4000 with `kb_base=1000`; `4ki` is the other of the two."""
        found = _AMOUNT.fullmatch(text.strip())
        if found is None:
            raise UnusableError(f"{option}={text}: expected a whole number")
        number, unit, letter_i = found.groups()
        base = 1000 if bool(letter_i) != (self.options.get("kb_base") == "1000") else 1024
        power = " kmgtp".index(unit.lower() or " ")
        return int(number, 16 if number[:2] in {"0x", "0X"} else 10) * int(base**power)


def check_all(*checks: Callable[[], object]) -> None:
    """Calls all checks, and reports the failures of all of them in one error."""
    reasons = []
    for check in checks:
        try:
            check()
        except UnusableError as reason:
            reasons.append(str(reason))
    if reasons:
        raise UnusableError("; and ".join(dict.fromkeys(reasons)))


def how_uniform(job: Job) -> str:
    """The options that make a job's random writes uniform, for messages."""
    generator = "leave out random_generator=lfsr, and " if job.options.get("random_generator") == "lfsr" else ""
    what = "fio wrote each address once before any for a second time, which wears a drive less than uniform writes do"
    return f"{what}: {generator}set norandommap=1 (with =1, or fio does not list it)"


def outputs(file: Path) -> list[Mapping[str, Any]]:
    """Reads the outputs of fio in a file, which may contain several and other text around them.

    Raises:
        FileError: the file cannot be read.
        UsageError: the file is not an output of fio, or is cut off.
    """
    try:
        data = file.read_bytes()
        # PowerShell writes UTF-16 with a mark where output is sent to a file.
        text = data.decode("utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig", errors="replace")
    except OSError as reason:
        raise FileError(f"{file}: cannot read: {reason.strerror}", reason.errno, os.fspath(file)) from reason
    found = list(_documents(file, text))
    if not found:
        raise UsageError(f"{file}: no JSON of fio in it: {_EXPECTED}; if fio ended early, its messages say why")
    return found


def is_later_output(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> bool:
    """Whether two outputs are of one run of fio, which prints interim outputs with `--status-interval` and a final one.

    Both then have the same jobs, and the later one began before the middle of the time that the earlier one covers; a second run of the
    same jobs begins after it. Outputs without times are taken as separate runs.
    """
    began, (from_s, to_s) = _span(later)[0], _span(earlier)
    return _jobs_listed(earlier) == _jobs_listed(later) and began < (from_s + to_s) / 2


def _span(output: Mapping[str, Any]) -> tuple[float, float]:
    """Start of the run, to a second, and the time of printing, s; an empty span if fio did not report times."""
    printed, entries = output.get("timestamp_ms"), output.get("jobs")
    elapsed = _mapping(entries[-1]).get("elapsed") if isinstance(entries, list) and entries else None
    if not isinstance(printed, int) or not isinstance(elapsed, int) or not 0 < max(printed, elapsed) < LARGEST_FLOAT:
        return math.nan, math.nan
    return printed / 1000 - elapsed, printed / 1000


def _jobs_listed(output: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """The jobs of an output, as name, group and options."""
    entries = output.get("jobs")
    return [
        (entry.get("jobname"), entry.get("groupid"), _options(output, entry))
        for entry in map(_mapping, entries if isinstance(entries, list) else [])
    ]


class _TwiceError(Exception):
    """A JSON object has a key twice, with different values."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Builds a JSON object. fio repeats the key of an option that is given several times: of several drives only the last would remain."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and found[key] != value:
            raise _TwiceError(f'"{key}" is given twice, as {shown(found[key])} and as {shown(value)}')
        found[key] = value
    return found


def _documents(file: Path, text: str) -> Iterator[Mapping[str, Any]]:
    decoder, end = json.JSONDecoder(object_pairs_hook=_object), 0
    while beginning := _BEGINNING.search(text, end):
        try:
            document, end = decoder.raw_decode(text, beginning.start())
        except _TwiceError as reason:
            expected = "expected each option once, and one drive: run fio on each drive alone"
            line = text.count("\n", 0, beginning.start()) + 1
            raise UsageError(f"{file}: fio's output from line {line} on: {reason}: {expected}") from reason
        except json.JSONDecodeError as reason:
            if '"fio version"' not in text[beginning.start() :][:1000]:
                raise UsageError(f"{file}: line {reason.lineno}: neither JSON nor text of fio ({reason.msg}): {_EXPECTED}") from reason
            what = f"fio's output is damaged or ends too early ({reason.msg})"
            raise UsageError(f"{file}: line {reason.lineno}: {what}: let fio run to its end, and copy the whole file") from reason
        except ValueError as reason:
            raise UsageError(f"{file}: a number with more digits than can be read: {_EXPECTED}") from reason
        except RecursionError as reason:
            raise UsageError(f"{file}: nested too deeply: {_EXPECTED}") from reason
        if "fio version" not in document:
            raise UsageError(f"{file}: JSON without `fio version`: {_EXPECTED}")
        if "client_stats" in document:
            raise UsageError(f"{file}: fio ran as a client of servers: run it on the machine that has the drive")
        yield document


def jobs_of(file: Path, output: Mapping[str, Any], first: int) -> list[Job]:
    """Reads the jobs of an output. Threads that fio lists one by one, without `group_reporting`, are joined to one job.

    Args:
        file: file of the output.
        output: one of `outputs`.
        first: number of its first job.

    Raises:
        UsageError: a job failed, or its options are missing.
    """
    entries = output.get("jobs")
    if not isinstance(entries, list) or not entries:
        raise UsageError(f"{file}: fio's output has no jobs: {_EXPECTED}")
    found: list[Job] = []
    for number, entry in enumerate(entries, first):
        _check(f"{file}: job {number}", entry)
        job = Job(file, number, str(entry["jobname"]), _options(output, entry), (entry,))
        if found and _is_next_thread(found[-1], job):
            last = found.pop()
            job = Job(file, last.number, last.name, last.options, (*last.entries, entry))
        found.append(job)
    return found


def starts_after(previous: Job, job: Job) -> bool | None:
    """Whether a job started after the previous one had ended (true) or ran beside it (false); `None` if that is unknown.

    fio lists an option only with a value: `stonewall` without `=1` only shows as a new group.
    """
    if previous.group is not None and job.group is not None and previous.group[1] == job.group[0]:
        return False
    if previous.started_s is not None and job.started_s is not None:
        return job.started_s - previous.started_s >= previous.longest_s
    if job.has("stonewall") or job.has("wait_for_previous"):
        return True
    return False if job.has("new_group") or job.group is None or previous.group is None else None


def _is_next_thread(job: Job, other: Job) -> bool:
    is_same = job.name == other.name and job.options == other.options
    same_group = job.entries[-1].get("groupid") == other.entries[0].get("groupid")
    return is_same and same_group and str(len(job.entries)) != job.options.get("numjobs", "1")


def _check(job: str, entry: object) -> None:
    """Refuses an output with a job that failed or lacks needed entries."""
    if not isinstance(entry, Mapping) or "jobname" not in entry:
        raise UsageError(f"{job}: not a job of fio: {_EXPECTED}")
    job = f"{job} ({entry['jobname']})"
    error = entry.get("error", 0)
    if error:
        cause = os.strerror(error) if isinstance(error, int) and 0 < error < 2**31 else "unknown"
        raise UsageError(f"{job}: fio ended it with error {error} ({cause}): remove the cause, and run fio again")
    if any("clat" in _mapping(entry.get(direction)) for direction in ("read", "write")):
        raise UsageError(f"{job}: times in microseconds, as fio 2 writes them: use fio 3.0 or newer")
    if not isinstance(entry.get("job options"), Mapping):
        raise UsageError(f"{job}: no `job options`, which say what was measured: pass the file as fio wrote it")


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _options(output: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, str]:
    """The options of a job in the order in which fio applies them: the global ones, then its own."""
    own = _texts(entry.get("job options"))
    return {option: value for option, value in _texts(output.get("global options")).items() if option not in own} | own


def _texts(options: object) -> dict[str, str]:
    return {str(name): str(value) for name, value in _mapping(options).items()}


def _part(text: str, direction: Direction) -> str:
    """The value for one direction in a list such as `4k,8k` (reads, writes); a single value applies to both."""
    parts = [part.strip() for part in text.split(",")]
    return parts[min(direction == "write", len(parts) - 1)]
