"""Why a run takes more or less time than another: the parts of the difference, and the counters that changed with each part.

A counter that changed with a part of the response time is named as what lies behind it only if the mechanism that it counts makes requests
wait in that part (`Blocked::part` in the core).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from ssdlab.pages.report.runs import Run
from ssdlab.pages.report.summary import shown

__all__ = ["REASONS", "TELLING", "causes", "parts"]

REASONS = {
    "host_queue": "waiting in front of the drive",
    "die_queue": "waiting for dies busy with host work",
    "gc": "waiting for garbage collection",
    "bus_queue": "waiting for the bus",
    "transfer": "transfers",
    "array": "operations of flash",
    "suspended": "being suspended",
    "dram": "accesses to DRAM",
    "controller": "the controller",
    "link": "the link to the host",
    "mapping": "waiting for the mapping table",
    "pace": "waiting for collection to free room (gc.pace), the rate of writes (host.write_bytes_per_us) or a quota (host.quota_iops)",
    "power": "waiting for power (energy.cap_w)",
    "heat": "waiting since the drive was too warm (thermal)",
    "power_state": "waiting for the drive to leave a power state (power_states)",
    "retry": "steps of reads that failed",
    "decode": "decoding",
}
"""Descriptions of the parts of a response time, as reasons for a difference."""
TELLING = 0.2
"""Minimum share of the whole difference for a part to be named as a reason."""
MOVED = 0.05
"""Minimum relative difference of a counter that is named."""
MOST = 4
"""Maximum number of counters named for a part."""
IDLE = 0.5
"""Share of time below which chips are idle so often that GC as a whole is no reason for a full write buffer."""


class Part(NamedTuple):
    """A named part of the mean response time, and its values in the earlier and the later run, ns."""

    name: str
    before: float
    after: float


def parts(base: Run, other: Run) -> list[Part]:
    """The parts that make up most of the difference of the mean response time, the largest first."""
    values = [(name, base.at(f"breakdown_ns.all.{name}"), other.at(f"breakdown_ns.all.{name}")) for name in REASONS]
    known = [Part(name, before or 0.0, after or 0.0) for name, before, after in values if before is not None or after is not None]
    whole = sum(part.after - part.before for part in known)
    telling = [part for part in known if whole and (part.after - part.before) / whole >= TELLING]
    return sorted(telling, key=lambda part: abs(part.after - part.before), reverse=True)


class Counter(NamedTuple):
    """A counter or statistic: its path, its unit, and words around its value in the later run."""

    place: str
    words: str
    unit: str = "count"


COLLECTION = (
    Counter("gc.jobs", "{} GC jobs"),
    Counter("gc.pages_moved", "{} pages moved"),
    Counter("gc.duration_ns.mean", "{} for a job in the mean", "ns"),
    Counter("gc.time_share", "a job active {} of a pool's time", "share"),
)
BUSY = (
    Counter("utilisation.chips", "chips busy {} of the time", "share"),
    Counter("flash.reads", "{} flash reads"),
    Counter("flash.host_programs", "{} programs of the host"),
    Counter("counters.page_order_waits", "{} waits for an older operation on the page"),
)
BEHIND: dict[str, tuple[Counter, ...]] = {
    "host_queue": (
        Counter("interface.slot_waits", "{} commands waited for a slot"),
        Counter("interface.queue_full_waits", "{} commands found their queue full"),
        Counter("counters.host_queue_waits", "{} pages waited for a place in a chip's queue"),
        Counter("array.row_waits", "{} waits for a stripe lock"),
    ),
    "gc": (
        *COLLECTION,
        Counter("gc.preemptions", "{} preemptions of GC by the host"),
        Counter("gc.suspensions", "{} GC operations suspended"),
        Counter("gc.state_ns.s2", "pools held writes back (S2) for {}", "ns"),
        Counter("gc.state_ns.s3", "pools held all requests back (S3) for {}", "ns"),
    ),
    "die_queue": BUSY,
    "bus_queue": (
        Counter("utilisation.channels", "buses busy {} of the time", "share"),
        Counter("counters.bus_lines", "{} operations waited for the bus"),
    ),
    "transfer": (
        Counter("cache.hit_ratio", "{} of pages found in the cache", "share"),
        Counter("buffer.read_hits", "{} reads of the buffer"),
    ),
    "array": (
        Counter("cache.hit_ratio", "{} of pages found in the cache", "share"),
        Counter("buffer.units", "{} units written to the write buffer"),
        Counter("counters.rmw_reads", "{} reads for writes of a part of a page"),
        Counter("counters.unmapped_reads", "{} reads of pages without data"),
    ),
    "suspended": (
        Counter("counters.suspended_programs", "{} programs suspended"),
        Counter("counters.write_pauses", "{} pauses of programs"),
    ),
    "controller": (
        Counter("interface.core_waits", "{} waits for a core"),
        Counter("interface.cores", "cores busy {} of the time", "share"),
    ),
    "link": (
        Counter("interface.link_waits", "{} requests waited for the link"),
        Counter("interface.held_commands", "{} commands waited for the data of an older write"),
    ),
    "mapping": (
        Counter("mapping.misses", "{} misses in the mapping cache"),
        Counter("mapping.flash_reads", "{} reads of translation pages"),
        Counter("mapping.mispredicted", "{} reads at a wrong place first"),
        Counter("mapping.write_backs", "{} written back"),
    ),
    "power": (Counter("counters.power_waits", "{} waits for power"),),
    "heat": (
        Counter("counters.heat_waits", "{} waits of a drive that was too warm"),
        Counter("thermal.light_count", "throttled lightly {} times"),
        Counter("thermal.heavy_count", "throttled heavily {} times"),
        Counter("thermal.stop_count", "stopped {} times"),
    ),
    "power_state": (
        Counter("power_states.wakes", "{} commands woke a drive"),
        Counter("power_states.background_wakes", "{} wakes by a drive's own work"),
    ),
    "pace": (
        Counter("counters.paced_writes", "{} writes waited for credit"),
        Counter("counters.steps_owed", "{} steps of jobs went before writes that owed them"),
        Counter("interface.rate_waits", "{} writes waited for the rate of writes"),
        Counter("interface.quota_waits", "{} commands waited for the quota of their queue"),
        *COLLECTION,
    ),
    "retry": (
        Counter("counters.retried_reads", "{} flash reads repeated"),
        Counter("counters.retry_steps", "{} steps failed"),
    ),
}
"""Counters of the mechanisms that make requests wait, by part of the response time."""


def causes(base: Run, other: Run) -> Iterator[str]:
    """A sentence for each telling part of the difference: its time in both runs, and the counters behind it."""
    for part in parts(base, other):
        text = f"{REASONS[part.name]} {shown(part.after, 'ns')} instead of {shown(part.before, 'ns')}"
        behind = [*(_buffer(base, other) if part.name == "host_queue" else ()), *_moved(base, other, BEHIND.get(part.name, ()), part)]
        if part.name == "die_queue" and not behind:
            behind = ["same work, better order"]
        yield f"{text} ({'; '.join(behind[: MOST + 1])})" if behind else text


def _moved(base: Run, other: Run, counters: Sequence[Counter], part: Part) -> list[str]:
    """The counters that changed in the direction of a part, in words."""
    found = []
    for counter in counters:
        before, after = (_value(run, counter.place) for run in (base, other))
        if abs(after - before) > MOVED * max(before, after) and _agrees(counter, after - before, part):
            found.append(counter.words.format(f"{shown(_whole(after), counter.unit)} instead of {shown(_whole(before), counter.unit)}"))
    return found[:MOST]


HELPS = ("cache.hit_ratio", "buffer.read_hits", "buffer.units", "gc.preemptions", "gc.suspensions", "counters.unmapped_reads")
"""Counters of mechanisms that shorten response times."""


def _agrees(counter: Counter, change: float, part: Part) -> bool:
    """Whether a counter changed as one that lies behind the change of a part does."""
    longer = part.after > part.before
    return (change > 0) == (longer != (counter.place in HELPS))


def _buffer(base: Run, other: Run) -> Iterator[str]:
    """Waits for room in the write buffer, and what kept it full."""
    waits = [_value(run, "buffer.full_waits") for run in (base, other)]
    longer = waits[1] > waits[0]
    if abs(waits[1] - waits[0]) <= MOVED * max(waits):
        return
    yield f"{_pair(*waits)} requests waited for room in the write buffer"
    sizes = [_value(run, "buffer.capacity") for run in (base, other)]
    if sizes[0] != sizes[1] and (sizes[1] < sizes[0]) == longer:
        yield f"it holds {_pair(*sizes)} units"
    busy = max((run for run in (base, other)), key=lambda run: _value(run, "buffer.full_waits")).at("utilisation.chips")
    if busy and fmean(busy) < IDLE:
        yield f"chips were busy only {shown(fmean(busy), 'share')} of the time: bursts, or waits for single dies, fill it"
        return
    part = Part("host_queue", float(not longer), float(longer))
    programs = (Counter("buffer.part_programs", "{} programs that it did not fill"), *COLLECTION[:2], *BUSY[:1])
    moved = _moved(base, other, programs, part)
    if moved:
        yield f"what {'kept it full' if longer else 'emptied it'}: {', '.join(moved)}"


def _pair(before: float, after: float) -> str:
    return f"{shown(_whole(after), 'count')} instead of {shown(_whole(before), 'count')}"


def _whole(value: float) -> float:
    return int(value) if value == int(value) else value


def _value(run: Run, place: str) -> float:
    """A counter, 0 if the run does not have it; of a list, the mean."""
    value: Any = run.at(place)
    if isinstance(value, list | tuple):
        return fmean(value) if value else 0.0
    return float(value or 0.0)
