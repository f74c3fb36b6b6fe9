"""Jobs of fio as flows of a workload: where each lies, when it sends, and the keys of all together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ssdlab.asking.fio.job_file import Entry, JobFile, Section
from ssdlab.asking.fio.known import check_known, depth_of, ignored, is_cached, is_fdp, is_synchronous, said
from ssdlab.asking.fio.places import MOST_FLOWS, PART_BYTES, begin_of, copies_of, file_of, places_of
from ssdlab.asking.fio.requests import Direction, Shape, by_direction, shape_of

__all__ = ["Flow", "Flows", "flows_of"]

SECTOR = 512
MOST_TOTAL = 2**63 - 1


@dataclass(frozen=True)
class Flow:
    """A job, or one of its copies (`numjobs`), as a flow."""

    name: str
    job: Section
    group: int
    keys: Mapping[str, Any]


@dataclass(frozen=True)
class Flows:
    """The jobs of a file as a workload."""

    file: str
    flows: Sequence[Flow]
    warm_up_ns: int
    ignored: Sequence[str]
    """Options about the host alone."""
    differs: Sequence[str]
    """What fio does in another way, a sentence each."""

    @property
    def settings(self) -> dict[str, Any]:
        """The keys of the workload."""
        first, *others = ({"name": flow.name, **flow.keys} for flow in self.flows)
        parts = first.pop("flows", [])
        keys = {**first, "flows": [*parts, *others]} if parts or others else first
        return {f"workload.{key}": value for key, value in keys.items()}


@dataclass
class _Reader:
    """The jobs of a file, read in order."""

    exported: int
    places: Mapping[str, int]
    flows: list[Flow] = field(default_factory=list)
    differs: list[str] = field(default_factory=list)
    stage: int = 0
    group: int = 0
    names: Counter[str] = field(default_factory=Counter)

    def add(self, job: Section) -> None:
        """Adds a job with its copies."""
        waits = job.is_on("stonewall")
        if self.flows and (waits or job.is_on("new_group")):
            self.group += 1
        self.stage += int(waits and bool(self.flows))
        copies = copies_of(job)
        shape = shape_of(job)
        self.differs += said(job, writes="write" in shape.directions)
        if shape.in_pages:
            self.differs.append(
                f"[{job.name}]: sizes are no whole sectors; the page cache writes whole pages: they are multiples of 4 KiB here"
            )
        common = {**_sending(job, shape, self.differs), **({"stage": self.stage} if self.stage else {}), **_handle(job)}
        for copy in range(copies):
            keys = {**_range(job, shape, copy, self.places[file_of(job, copy)], self.exported, self.differs), **common}
            self.flows.append(Flow(self._name(job.name, copy, copies), job, self.group, _flat(keys, shape)))
        if len(self.flows) > MOST_FLOWS:
            raise job.refuse(f"jobs and their copies are more than {MOST_FLOWS}, which can be reported apart; lower numjobs")

    def _name(self, name: str, copy: int, copies: int) -> str:
        """A name of its own; fio's jobs may share one."""
        own = name if copies == 1 else f"{name}.{copy + 1}"
        self.names[own] += 1
        return own if self.names[own] == 1 else f"{own} ({self.names[own]})"


def flows_of(file: JobFile, exported: int) -> Flows:
    """The jobs of a file for a drive that exports `exported` bytes.

    Raises:
        UsageError: an option is unknown, has a wrong value, or describes what is not simulated; the message has its line.
    """
    check_known(file.jobs)
    reader = _Reader(exported, places_of(file.jobs, exported))
    for job in file.jobs:
        reader.add(job)
    delayed = next((job for job in file.jobs if job.get("startdelay") is not None), None)
    if delayed is not None and reader.stage:
        raise delayed.refuse("startdelay counts from the start of fio, also behind a stonewall, which is not simulated; leave one out")
    return Flows(file.name, reader.flows, _warm_up(file), ignored(file.jobs), list(dict.fromkeys(reader.differs)))


def _flat(keys: dict[str, Any], shape: Shape) -> dict[str, Any]:
    """The keys of a flow. Of a job whose reads and writes differ in more than their kind, the writes are a part of the flow."""
    footprint = keys.pop("footprint_bytes")
    if not shape.needs_parts:
        return {**keys, **shape.kinds(), **shape.of(shape.directions[0], footprint)}
    # Arrivals only order the turns of the parts of a closed loop: exponential ones make each request a read with the share of reads.
    gaps = {"read": 1.0 / shape.read_share, "write": 1.0 / (1.0 - shape.read_share)}
    reads, writes = ({"interarrival_us": gaps[one], **shape.of(one, footprint)} for one in ("read", "write"))
    defaults = {"sequential_share": 0.0, "request_size": "fixed"}
    return {**keys, "read_share": 1.0, **reads, "flows": [{"read_share": 0.0, **defaults, **writes}]}


def _handle(job: Section) -> dict[str, Any]:
    """The keys of the data placement of a job (FDP)."""
    if not is_fdp(job):  # fio ignores fdp_pli then
        return {}
    entry = job.get("fdp_pli")
    if entry is None or len(entry.parts(",")) > 1:
        raise (entry or job.get("fdp") or job.options["dataplacement"]).refuse(
            "a job writes with one placement handle here; set fdp_pli to one, and make a job for each"
        )
    return {"handle": entry.whole(0, HANDLES_MAX - 1)}


HANDLES_MAX = 8
"""Placement handles of a drive, at most."""


# ---- where a job lies ------------------------------------------------------------------------------------------------


def _range(job: Section, shape: Shape, copy: int, place: int, exported: int, differs: list[str]) -> dict[str, Any]:
    """The part of the drive that a copy of a job uses, how many bytes it sends, and its passes."""
    begin = place + begin_of(job, copy, exported, differs)
    entry = job.get("size")
    amount = entry.amount() if entry is not None else None
    asked = exported - begin if amount is None else amount.of(exported)
    size = asked // shape.least * shape.least
    if size <= 0 or begin + size > exported:
        what = f"bytes {begin} to {begin + max(asked, 0)}, of which the drive exports {exported}"
        raise (entry or job.get("offset") or Entry(job.file, job.line, f"[{job.name}]", "")).refuse(
            f"{what}: expected room for one request of {shape.least} bytes at least, within the drive; change offset, size or bs"
        )
    end = -(-(begin + size) // PART_BYTES) * PART_BYTES
    # No whole unit of parts is behind it.
    end = exported if end + PART_BYTES > exported else end
    part = [_share(begin, exported), 1.0 if end == exported else _share(end, exported)]
    footprint = 1.0 if end - begin == size else (size + SECTOR / 2) / (end - begin)
    if sum(zone.of(size) for _, zone in shape.zones) > size:
        raise job.options["random_distribution"].refuse(f"zones beyond the job's {size} bytes; make them smaller, or the size larger")
    where = {"part": part} if part != [0.0, 1.0] else {}
    return {**where, **({"footprint": footprint} if footprint < 1.0 else {}), "footprint_bytes": size, **_ends(job, shape, size)}


def _share(byte: int, exported: int) -> float:
    """A share of the exported range that the core rounds down to `byte`, a multiple of `PART_BYTES`."""
    return 0.0 if byte == 0 else (byte + PART_BYTES / 2) / exported


def _ends(job: Section, shape: Shape, size: int) -> dict[str, Any]:
    """How many bytes a job sends, and whether the passes of its random map have one order."""
    given, loops = job.get("io_size"), job.get("loops")
    if job.is_on("time_based"):
        return {}
    if given is not None and loops is not None and loops.whole(1, 10**9) > 1:
        raise loops.refuse("does not go with io_size: leave one of them out")
    if given is not None and shape.directions == ("trim", "write"):
        raise given.refuse("with rw = trimwrite is not simulated; give loops or time_based")
    total = given.size() if given is not None else size * (loops.whole(1, 10**9) if loops is not None else 1)
    if total > MOST_TOTAL:
        raise job.refuse(f"{total} bytes in all are more than {MOST_TOTAL}; lower loops")
    if total > size and shape.is_mixed and not shape.is_random:
        raise (given or loops or job.options["rw"]).refuse(
            "reads and writes in a row begin again whenever size is reached in sum, which is not simulated; set time_based=1 and runtime"
        )
    repeats = job.get("randrepeat")
    one_order = shape.has_map and total > size and (repeats is None or repeats.truth())
    return {"total_bytes": total, **({"permutation_repeats": True} if one_order else {})}


# ---- when a job sends ------------------------------------------------------------------------------------------------


def _sending(job: Section, shape: Shape, differs: list[str]) -> dict[str, Any]:
    """Queue depth, run time, delay, pauses and rate."""
    depth, timed, run_us = depth_of(job, differs), job.is_on("time_based"), _time_us(job, "runtime", "s")
    if timed and not run_us:
        raise job.options["time_based"].refuse("needs runtime: give a time such as runtime=10s")
    ramp_us = _time_us(job, "ramp_time", "s")
    if ramp_us and not timed:
        raise job.options["ramp_time"].refuse("needs time_based=1: bytes sent before its end do not count in fio, which is not simulated")
    run = {"run_s": (run_us + ramp_us) / 1e6} if run_us else {}
    delay_us = _time_us(job, "startdelay", "s")
    start = {"start_s": delay_us / 1e6} if delay_us else {}
    flushes = _flushes(job, depth, differs) if "write" in shape.directions else {}
    return {"queue_depth": depth, **run, **start, **flushes, **_thinking(job, depth, differs), **_pace(job, shape, differs)}


def _flushes(job: Section, depth: int, differs: list[str]) -> dict[str, Any]:
    """Flushes behind every N writes, and at the end of the job."""
    given = [entry for name in ("fsync", "fdatasync") if (entry := job.get(name)) is not None and entry.whole(0, 10**9)]
    counts = sorted(entry.whole(1, 10**9) for entry in given)
    at_end = job.is_on("end_fsync") or job.is_on("fsync_on_close")
    if is_synchronous(job):
        counts, at_end = [1], True
        differs.append(
            f"[{job.name}]: in fio a write with sync ends with its flush; here the flush has a row of its own (--fio-json adds both)"
        )
    elif counts and is_cached(job):
        before = "the write (--fio-json adds both)" if counts[0] == 1 else "the writes, one by one"
        differs.append(f"[{job.name}]: in fio {given[0].name} also writes the page cache back; here that is {before}")
    if len(counts) > 1 and counts[1] % counts[0]:
        differs.append(f"[{job.name}]: fsync = {counts[1]} beside {counts[0]} is left out: expected a multiple")
    if counts and depth > 1 and job.options["ioengine"].value == "libaio":
        differs.append(f"[{job.name}]: libaio waits for each flush before it sends more; here the flush is one of iodepth requests")
    return {**({"flush_every": counts[0]} if counts else {}), **({"flush_at_end": True} if at_end else {})}


def _time_us(job: Section, name: str, unit: str) -> float:
    entry = job.get(name)
    return 0.0 if entry is None else entry.time_us(unit)


def _thinking(job: Section, depth: int, differs: list[str]) -> dict[str, Any]:
    think_us, blocks = _time_us(job, "thinktime", "us"), job.get("thinktime_blocks")
    if not think_us:
        return {}
    count = 1 if blocks is None else blocks.whole(1, 10**9)
    if depth > 1:
        differs.append(f"[{job.name}]: thinktime counts requests that were sent; fio counts completed ones, which differ for iodepth > 1")
    return {"think_us": think_us, **({"think_requests": count} if count > 1 else {})}


def _pace(job: Section, shape: Shape, differs: list[str]) -> dict[str, Any]:
    """The rate of a job, as a distance between requests."""
    given = [entry for name in ("rate", "rate_iops") if (entry := job.get(name)) is not None]
    if not given:
        return {}
    if len(given) > 1:
        raise given[1].refuse("does not go with rate: leave one of them out")
    (entry,) = given
    process = job.get("rate_process")
    law = "fixed" if process is None else process.choice({"linear": "fixed", "poisson": "exponential"})
    if shape.needs_parts or shape.directions == ("trim", "write"):
        raise entry.refuse("a rate of a job whose reads, writes and trims differ in size or position is not simulated; leave it out")
    rates = dict(_rates(entry, shape))
    if len(rates) < len(shape.directions):
        raise entry.wrong("a rate for each direction of the job, such as 500,500")
    total = sum(rates.values())
    if shape.is_mixed and abs(rates["read"] / total - shape.read_share) > 0.005:
        mix = f"rwmixread = {shape.read_share:.0%}".replace("%", "")
        raise entry.refuse(f"fio has a rate for reads and one for writes: expected them in the proportion of {mix}, such as 700,300 for 70")
    if not shape.is_fixed:
        differs.append(f"[{job.name}]: {entry.name} sends requests at equal distances; fio's are as long as the size of each needs")
    return {"paced": True, "arrival": law, "interarrival_us": 1e6 / total}


def _rates(entry: Entry, shape: Shape) -> Iterator[tuple[Direction, float]]:
    """Requests per second by direction. fio's `rate_iops` is of requests of the smallest size."""
    for one in shape.directions:
        part = by_direction(entry)[one]
        if part is None:
            continue
        sizes = shape.sizes[one]
        mean = sum(size * weight for size, weight in sizes) / sum(weight for _, weight in sizes)
        if entry.name == "rate":
            yield one, part.size() / mean
        else:
            yield one, part.whole(1, 10**9) * min(size for size, _ in sizes) / mean


def _warm_up(file: JobFile) -> int:
    """The ramp time of all jobs, ns, which is not measured."""
    ramps = {_time_us(job, "ramp_time", "s") for job in file.jobs}
    if ramps == {0.0}:
        return 0
    late = next((job for job in file.jobs[1:] if job.is_on("stonewall")), None)
    other = next((job for job in file.jobs if _time_us(job, "ramp_time", "s") != max(ramps) or job.get("startdelay") is not None), late)
    if other is not None:
        raise other.refuse("a ramp_time for some jobs, or of jobs that begin later, is not simulated; give one in [global]")
    return round(max(ramps) * 1000)
