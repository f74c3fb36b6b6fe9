"""The statistics of a result as classes, so that editors and type checkers know them.

Written by `.venv/bin/python tools/statistics_classes.py` from the schema of the core: change the doc comments of the core, not this file.

An entry that a run does not have is absent: its attribute raises `AttributeError`. A time has two names, with and without its unit:
`latency.read.p99` is `latency_ns.read.p99`, in nanoseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ssdlab.section import Section, UntypedSection

__all__ = [
    "Array",
    "Bandwidth",
    "Breakdown",
    "BreakdownClass",
    "Cache",
    "CacheResponse",
    "CacheResponseClass",
    "Counters",
    "Flash",
    "Gc",
    "GcDuration",
    "GcMergedPipelined",
    "GcState",
    "Histograms",
    "HistogramsClass",
    "Latency",
    "LatencyClass",
    "Precondition",
    "Requests",
    "RunStatistics",
    "Series",
    "SeriesCache",
    "SeriesFreeBlocks",
    "SeriesGc",
    "SeriesLatency",
    "SeriesLatencyClass",
    "SeriesOutstanding",
    "SeriesStates",
    "Slack",
    "SlackPassedPausedChips",
    "SlackReadWrite",
    "SlackWaiting",
    "Timeline",
    "Utilisation",
    "WarmUp",
    "Wear",
]


class WarmUp(Section):
    """`warm_up` of a result.

    The warm-up, the first part of the run, which was simulated and is left out of all statistics of what happened. Absent without one.
    Still of the whole run are `digest`, `series`, `workload`, `simulated_ns` and the times on this machine; of its end `wear` and
    `cache.dirty_pages`.
    """

    requests: int
    """Requests that arrived in it: the first so many. Unit: count."""
    ns: int
    """Simulated time at which it ended. Unit: ns."""


class Requests(Section):
    """`requests` of a result. Completed requests by kind."""

    read: int
    """Completed reads. Unit: count."""
    write: int
    """Completed writes. Unit: count."""
    trim: int
    """Completed trims. Unit: count."""
    flush: int
    """Completed flushes. Unit: count."""


class LatencyClass(Section):
    """`latency_ns.{all, read, write, seq_read, rand_read}` of a result."""

    count: int
    """Requests of the class. Unit: count."""
    mean: float
    """Mean response time. Unit: ns."""
    std: float
    """Standard deviation (of the population: the root of the variance). Unit: ns."""
    variance: float
    """Population variance: the mean square minus the squared mean, from exact integer sums. Unit: ns^2."""
    cv: float
    """Coefficient of variation: standard deviation over mean. Absent where the mean is 0. Unit: ratio."""
    min: int
    """The shortest response time. Unit: ns."""
    p50: int
    """The median: half of the requests took at most this long (nearest rank). Unit: ns."""
    p90: int
    """90 % of the requests took at most this long. Unit: ns."""
    p95: int
    """95 % of the requests took at most this long. Unit: ns."""
    p99: int
    """99 % of the requests took at most this long. Unit: ns."""
    p99_9: int
    """99.9 % of the requests took at most this long. Unit: ns."""
    p99_99: int
    """99.99 % of the requests took at most this long. Unit: ns."""
    max: int
    """The longest response time. Unit: ns."""


class Latency(Section):
    """`latency_ns` of a result. Response times (completion minus arrival) by class; trims and flushes are in none."""

    _parts: ClassVar[Mapping[str, type[Section]]] = {
        "all": LatencyClass,
        "read": LatencyClass,
        "write": LatencyClass,
        "seq_read": LatencyClass,
        "rand_read": LatencyClass,
    }

    all: LatencyClass
    """Reads and writes. Absent where the run does not have it."""
    read: LatencyClass
    """Reads. Absent where the run does not have it."""
    write: LatencyClass
    """Writes. Absent where the run does not have it."""
    seq_read: LatencyClass
    """Reads that start where the request before them ended (lee2013, footnote 2). Absent where the run does not have it."""
    rand_read: LatencyClass
    """All other reads. Absent where the run does not have it."""


class BreakdownClass(Section):
    """`breakdown_ns.{all, read, write}` of a result."""

    host_queue: float
    """Waiting in the host queue, for a place in a chip's queue. Unit: ns."""
    die_queue: float
    """Waiting for the die behind host work. Unit: ns."""
    gc: float
    """Waiting for garbage collection. Unit: ns."""
    bus_queue: float
    """Waiting for the channel bus. Unit: ns."""
    transfer: float
    """Being transferred on the bus. Unit: ns."""
    array: float
    """In the flash array. Unit: ns."""
    suspended: float
    """Suspended. Unit: ns."""
    dram: float
    """In the controller's DRAM. Unit: ns."""


class Breakdown(Section):
    """`breakdown_ns` of a result. Mean parts of the response time by class; they add up to its mean."""

    _parts: ClassVar[Mapping[str, type[Section]]] = {
        "all": BreakdownClass,
        "read": BreakdownClass,
        "write": BreakdownClass,
    }

    all: BreakdownClass
    """Reads and writes. Absent where the run does not have it."""
    read: BreakdownClass
    """Reads. Absent where the run does not have it."""
    write: BreakdownClass
    """Writes. Absent where the run does not have it."""


class Bandwidth(Section):
    """`bandwidth_mb_s` of a result. Bytes asked for in a second of simulated time, without the time and the requests of a warm-up."""

    read: float
    """Megabytes (10^6 bytes) read in a second. Unit: MB/s."""
    write: float
    """Megabytes (10^6 bytes) written in a second. Unit: MB/s."""


class GcMergedPipelined(Section):
    """`gc.{merged, pipelined}` of a result."""

    read: int
    """Page reads. Unit: count."""
    write: int
    """Page writes. Unit: count."""
    read_share: float
    """Page reads as a share of all page reads and writes of the host (lee2013 Table IX). Absent without any. Unit: share."""
    write_share: float
    """Page writes as a share of all page reads and writes of the host (lee2013 Table IX). Absent without any. Unit: share."""


class GcState(Section):
    """`gc.state_ns` of a result. Time in the states of lee2013 Fig. 7, summed over pools."""

    s0: int
    """S0: no collection is wanted. Unit: ns."""
    s1: int
    """S1: it is wanted or under way, and all host operations are allowed. Unit: ns."""
    s2: int
    """S2: the same with fewer than T_hard free blocks, where host writes wait. Unit: ns."""
    s3: int
    """S3: collection runs to completion. Unit: ns."""


class GcDuration(Section):
    """`gc.duration_ns` of a result. How long jobs took, from their start to the end of their erase. Absent without jobs."""

    mean: float
    """Mean duration of a job. Unit: ns."""
    max: int
    """The longest job. Unit: ns."""


class Gc(Section):
    """`gc` of a result. Garbage collection during the run."""

    _parts: ClassVar[Mapping[str, type[Section]]] = {
        "merged": GcMergedPipelined,
        "pipelined": GcMergedPipelined,
        "state_ns": GcState,
        "duration_ns": GcDuration,
    }

    victim_source: str
    """BLAKE3 over the source of the victim policy, where that was the user's own (`config.gc.victim` is `custom`).

    Absent where the run does not have it. Unit: hexadecimal.
    """
    jobs: int
    """Jobs completed: a victim emptied, erased and returned to its pool. Unit: count."""
    pages_moved: int
    """Pages that jobs copied to another place. Pages whose move a host write replaced are not among them. Unit: count."""
    stale_moves: int
    """Copies that were out of date when their program ended, as the host had written the page meanwhile. Unit: count."""
    erases: int
    """Blocks erased. Unit: count."""
    write_amplification: float
    """Write amplification: page programs of host and GC over those of the host. Absent where the host programmed nothing. Unit: ratio."""
    merged: GcMergedPipelined
    """Host operations that became one with a page move (lee2013 III-B)."""
    pipelined: GcMergedPipelined
    """Host operations whose transfer a page move of the same kind overlapped (lee2013 III-C)."""
    preemptions: int
    """Host operations that began while a job on their die could have gone on. Unit: count."""
    suspensions: int
    """GC operations suspended in the array (lee2013 IV). Unit: count."""
    state: GcState
    """Time in the states of lee2013 Fig. 7, summed over pools. Unit: ns."""
    state_ns: GcState
    """The same as `state`."""
    free_blocks_min: int
    """The fewest free blocks that any pool had during the run, blocks being filled excluded.

    One is reserved for collection. Unit: count.
    """
    duration: GcDuration
    """How long jobs took, from their start to the end of their erase. Absent without jobs. Unit: ns."""
    duration_ns: GcDuration
    """The same as `duration`."""
    time_share: float
    """Share of the simulated time in which a pool had a job active, averaged over all pools.

    Absent where the run does not have it. Unit: share.
    """


class SlackReadWrite(Section):
    """`slack.{read, write}` of a result."""

    mean: float
    """Mean. Unit: ns."""
    mean_ns: float
    """The same as `mean`."""
    std: float
    """Standard deviation. Unit: ns."""
    std_ns: float
    """The same as `std`."""


class SlackPassedPausedChips(Section):
    """`slack.{passed, paused, chips}` of a result."""

    read: float
    """Of the reads. Absent where the run does not have it."""
    write: float
    """Of the writes. Absent where the run does not have it."""


class SlackWaiting(Section):
    """`slack.waiting` of a result. Page operations that waited for a chip when a request came."""

    mean: float
    """Over all chips. Unit: count."""
    longest: float
    """Of the chip that had most at the time. Unit: count."""
    shortest: float
    """Of the chip that had fewest. Unit: count."""


class Slack(Section):
    """`slack` of a result. Slack of page operations, and its estimates."""

    _parts: ClassVar[Mapping[str, type[Section]]] = {
        "read": SlackReadWrite,
        "write": SlackReadWrite,
        "passed": SlackPassedPausedChips,
        "paused": SlackPassedPausedChips,
        "chips": SlackPassedPausedChips,
        "waiting": SlackWaiting,
    }

    read: SlackReadWrite
    """Of the pages of reads. Absent where the run does not have it."""
    write: SlackReadWrite
    """Of the pages of writes. Absent where the run does not have it."""
    estimation_error: float
    """Sum over requests of the difference between the estimated and the actual response time, over the sum of the actual ones.

    Absent where the run does not have it. Unit: share.
    """
    estimation_bias: float
    """The same with the sign of the difference kept: above 0 the estimates are too long.

    Absent where the run does not have it. Unit: share.
    """
    passed: SlackPassedPausedChips
    """Share of requests of which a page passed another in its queue. Absent where the run does not have it."""
    paused: SlackPassedPausedChips
    """Share of reads served while a program paused for them, and of writes that paused. Absent where the run does not have it."""
    chips: SlackPassedPausedChips
    """Chips that a request's pages are on, mean over requests. Absent where the run does not have it."""
    waiting: SlackWaiting
    """Page operations that waited for a chip when a request came. Absent where the run does not have it."""


class CacheResponseClass(Section):
    """`cache.response_ns.{no_gc, gc}` of a result."""

    count: int
    """Requests. Unit: count."""
    mean: float
    """Mean response time. Unit: ns."""
    max: int
    """The longest response time. Unit: ns."""


class CacheResponse(Section):
    """`cache.response_ns` of a result.

    Response times of reads and writes at the cache, by whether a page of theirs had its home in GC when they arrived.
    """

    _parts: ClassVar[Mapping[str, type[Section]]] = {
        "no_gc": CacheResponseClass,
        "gc": CacheResponseClass,
    }

    no_gc: CacheResponseClass
    """Of requests that arrived when no page's home was in GC. Absent without any."""
    gc: CacheResponseClass
    """Of requests that arrived when a page's home was in GC. Absent without any."""


class Cache(Section):
    """`cache` of a result. What the cache did; those of an array's drives together. Absent without one."""

    _parts: ClassVar[Mapping[str, type[Section]]] = {
        "response_ns": CacheResponse,
    }

    policy_source: str
    """BLAKE3 over the source of the eviction policy, where that was the user's own (`config.cache.policy` is `custom`).

    Absent where the run does not have it. Unit: hexadecimal.
    """
    policy_fallbacks: int
    """Evictions in which the page used longest ago stood in, since the user's own policy named none, or none that could be evicted.

    Absent without such a policy. Unit: count.
    """
    capacity_pages: int
    """Pages it can keep. Unit: count."""
    lookups: int
    """Pages looked up. Writes that go below at once are not. Unit: count."""
    read_hits: int
    """Pages read that were there, or on their way there. Unit: count."""
    write_hits: int
    """Pages written of which something was there. Unit: count."""
    hit_ratio: float
    """Hits as a share of the pages looked up. Absent without any. Unit: share."""
    delayed_hits: int
    """Pages read that were on their way. Unit: count."""
    evictions: int
    """Pages evicted, clean ones too. Unit: count."""
    destages: int
    """Dirty pages written below: for room, in idle time, for flushes. Unit: count."""
    idle_destages: int
    """Dirty pages written below in idle time. Unit: count."""
    padded_pages: int
    """Pages written with their group that were not dirty (BPLRU). Unit: count."""
    dirty_pages: int
    """Dirty pages when the run ended: what a loss of power would lose. Unit: count."""
    gc_skips: int
    """Evictions that passed over at least one page or group because its home was in GC. Unit: count."""
    gc_fallbacks: int
    """Evictions for writes while all homes were in GC. Unit: count."""
    gc_bypasses: int
    """Pages read that were not kept, since all homes were in GC. Unit: count."""
    response: CacheResponse
    """Response times of reads and writes at the cache, by whether a page of theirs had its home in GC when they arrived. Unit: ns."""
    response_ns: CacheResponse
    """The same as `response`."""


class Wear(Section):
    """`wear` of a result. Erases that the blocks have seen since they were new, those of preconditioning included."""

    mean: float
    """Mean erases of a block. Unit: count."""
    std: float
    """Standard deviation of the erases over all blocks. Unit: count."""
    max: int
    """Erases of the most worn block. Unit: count."""


class Flash(Section):
    """`flash` of a result. Flash operations during the run."""

    reads: int
    """Page reads, of host and GC. Unit: count."""
    programs: int
    """Page programs, of host and GC. Unit: count."""
    host_programs: int
    """Page programs of host writes. Unit: count."""
    gc_programs: int
    """Page programs of page moves. Unit: count."""
    erases: int
    """Block erases. Unit: count."""


class Array(Section):
    """`array` of a result. The array of drives. Absent for a single drive."""

    level: str
    """How data lie on the drives: `rais0` or `rais5`."""
    drives: int
    """Drives, one that has failed included. Unit: count."""
    read_modify_writes: int
    """Pages of parity made from the old parity and the old content of the pages written. Unit: count."""
    reconstruct_writes: int
    """Pages of parity made from all data of their column, after some of these were read. Unit: count."""
    full_writes: int
    """Pages of parity made from data that were all written, so that nothing was read. Unit: count."""
    update_reads: int
    """Pages read before these writes: of old data and old parity. Unit: count."""
    parity_writes: int
    """Pages of parity written. Unit: count."""
    degraded_reads: int
    """Reads of the failed drive that were replaced by reads of all others. Unit: count."""
    row_waits: int
    """Writes to a row, reads and trims that waited for their row's turn. Unit: count."""


class Utilisation(Section):
    """`utilisation` of a result. How busy the resources were."""

    chips: list[float]
    """By chip: share of the time in which it was busy.

    Where its dies work side by side: in which they held an operation, averaged over them. Unit: share.
    """
    channels: list[float]
    """By channel: share of the time in which its bus was transferring. Unit: share."""


class SeriesLatencyClass(Section):
    """`series.latency_ns.{read, write}` of a result."""

    count: list[int]
    """Requests completed. Unit: count."""
    mean: list[float]
    """Their mean response time. Unit: ns."""
    max: list[int]
    """The longest. Unit: ns."""


class SeriesLatency(Section):
    """`series.latency_ns` of a result. Response times of the requests that completed in each bin. 0 where none did."""

    _parts: ClassVar[Mapping[str, type[Section]]] = {
        "read": SeriesLatencyClass,
        "write": SeriesLatencyClass,
    }

    read: SeriesLatencyClass
    """Reads."""
    write: SeriesLatencyClass
    """Writes."""


class SeriesOutstanding(Section):
    """`series.outstanding` of a result. Requests under way in each bin."""

    mean: list[float]
    """Mean over the time of the bin. Unit: count."""
    max: list[int]
    """The most that were under way for any time. Unit: count."""


class SeriesGc(Section):
    """`series.gc` of a result. Garbage collection in each bin."""

    chips: list[list[float]]
    """By row of chips, and in it by bin: share of the bin in which a chip had a job active, averaged over the chips of the row.

    Those of an array's drives follow each other. Unit: share.
    """
    chips_per_row: int
    """Chips of a row: 1 up to 64 chips, else as many as make at most 64 rows (the last row may have fewer). Unit: count."""
    jobs: list[int]
    """Jobs started. Unit: count."""
    pages_moved: list[int]
    """Pages that jobs copied to another place. Unit: count."""


class SeriesFreeBlocks(Section):
    """`series.free_blocks` of a result. Free blocks of a pool in each bin, blocks being filled excluded."""

    min: list[int]
    """The fewest that any pool had. Unit: count."""
    mean: list[float]
    """Mean over pools and over the time of the bin, as far as it is in the run. Unit: count."""
    soft: int
    """The soft threshold T_soft of a pool. Unit: count."""
    hard: int
    """The hard threshold T_hard of a pool; 0: none. Unit: count."""


class SeriesStates(Section):
    """`series.states` of a result. Share of each bin that the pools were in the states of lee2013 Fig. 7, averaged over pools."""

    s0: list[float]
    """S0: no collection is wanted. Unit: share."""
    s1: list[float]
    """S1: it is wanted or under way, and all host operations are allowed. Unit: share."""
    s2: list[float]
    """S2: the same with fewer than T_hard free blocks, where host writes wait. Unit: share."""
    s3: list[float]
    """S3: collection runs to completion. Unit: share."""


class SeriesCache(Section):
    """`series.cache` of a result. The cache in each bin. Absent without one."""

    hits: list[int]
    """Pages looked up that were there, or on their way there. Unit: count."""
    lookups: list[int]
    """Pages looked up. Unit: count."""
    dirty: list[int]
    """Dirty pages at the end of the bin. Unit: count."""


class Series(Section):
    """`series` of a result. The run over time. Absent where it was not asked for."""

    _parts: ClassVar[Mapping[str, type[Section]]] = {
        "latency_ns": SeriesLatency,
        "outstanding": SeriesOutstanding,
        "gc": SeriesGc,
        "free_blocks": SeriesFreeBlocks,
        "states": SeriesStates,
        "cache": SeriesCache,
    }

    bin: int
    """Width of a bin: 1000 ns, doubled as often as the run needs. Unit: ns."""
    bin_ns: int
    """The same as `bin`."""
    bins: int
    """Bins, at most 512. Unit: count."""
    warm_up: int
    """Simulated time at which the warm-up ended: rows show all of the run, all other statistics only what is after.

    Absent without a warm-up. Unit: ns.
    """
    warm_up_ns: int
    """The same as `warm_up`."""
    latency: SeriesLatency
    """Response times of the requests that completed in each bin. 0 where none did. Unit: ns."""
    latency_ns: SeriesLatency
    """The same as `latency`."""
    outstanding: SeriesOutstanding
    """Requests under way in each bin."""
    gc: SeriesGc
    """Garbage collection in each bin."""
    free_blocks: SeriesFreeBlocks
    """Free blocks of a pool in each bin, blocks being filled excluded."""
    states: SeriesStates
    """Share of each bin that the pools were in the states of lee2013 Fig. 7, averaged over pools."""
    bus: list[float]
    """Share of each bin in which channels were transferring, averaged over channels. Unit: share."""
    dies: list[float]
    """Share of each bin in which dies held an operation, averaged over dies. Unit: share."""
    cache: SeriesCache
    """The cache in each bin. Absent without one."""


class HistogramsClass(Section):
    """`histograms.{read, write}` of a result."""

    upper: list[int]
    """The longest time that belongs to the bucket; of the last bucket the longest there was. Unit: ns."""
    upper_ns: list[int]
    """The same as `upper`."""
    count: list[int]
    """Requests in the bucket. Unit: count."""


class Histograms(Section):
    """`histograms` of a result. How response times are distributed, by kind of request. Absent where it was not asked for."""

    _parts: ClassVar[Mapping[str, type[Section]]] = {
        "read": HistogramsClass,
        "write": HistogramsClass,
    }

    read: HistogramsClass
    """Response times of reads."""
    write: HistogramsClass
    """Response times of writes."""


class Counters(Section):
    """`counters` of a result. How often each further mechanism fired, by its name."""

    buffer_reads: int
    """Pages read that were answered from a write still under way. Absent where the run does not have it. Unit: count."""
    bus_lines: int
    """Times that a program had to wait for its bus. Absent where the run does not have it. Unit: count."""
    copybacks: int
    """Page moves within a plane, which need no bus. Absent where the run does not have it. Unit: count."""
    discarded_moves: int
    """Page moves given up before their program, since the host had written or trimmed the page.

    Absent where the run does not have it. Unit: count.
    """
    host_first_between_jobs: int
    """Times that what the host had waiting went first between two jobs. Absent where the run does not have it. Unit: count."""
    host_queue_waits: int
    """Pages that a full chip queue held in the host queue. Absent where the run does not have it. Unit: count."""
    idle_jobs: int
    """Jobs begun in idle time while their pool had T_soft free blocks or more. Absent where the run does not have it. Unit: count."""
    idle_pauses: int
    """Times that such a job paused because a request had come. Absent where the run does not have it. Unit: count."""
    moves_put_aside: int
    """Page moves put aside between two of their stages. Absent where the run does not have it. Unit: count."""
    multiplane_operations: int
    """Operations of several planes at once. Absent where the run does not have it. Unit: count."""
    overlapped_operations: int
    """Operations that overlapped another through the cache register. Absent where the run does not have it. Unit: count."""
    page_order_waits: int
    """Operations that waited for an older one on their page. Absent where the run does not have it. Unit: count."""
    pause_reads: int
    """Pages read while a program paused (write_pausing). Absent where the run does not have it. Unit: count."""
    read_passes: int
    """Operations of reads that a later one went ahead of (read_bypass). Absent where the run does not have it. Unit: count."""
    redirected_writes: int
    """Writes given a page of another block, since a job had the one being filled to itself.

    Absent where the run does not have it. Unit: count.
    """
    reordered_moves: int
    """Page moves that went ahead of their turn because a host operation joins them. Absent where the run does not have it. Unit: count."""
    rmw_reads: int
    """Pages read in order to write a part of them. Absent where the run does not have it. Unit: count."""
    s3_entries: int
    """Times that a high-priority write made collection run to completion. Absent where the run does not have it. Unit: count."""
    trimmed_pages: int
    """Pages unmapped by trims. Absent where the run does not have it. Unit: count."""
    unmapped_reads: int
    """Pages read that held no data. Absent where the run does not have it. Unit: count."""
    victim_fallbacks: int
    """Victims for which the greedy choice stood in, since the policy named none, or none that can be collected.

    Absent where the run does not have it. Unit: count.
    """
    write_passes: int
    """Operations of writes that a later one went ahead of (write_bypass). Absent where the run does not have it. Unit: count."""
    write_pauses: int
    """Times that a program of the host paused for reads (write_pausing). Absent where the run does not have it. Unit: count."""


class Precondition(Section):
    """`precondition` of a result. How the drive was prepared before the run, where it was."""

    kind: str
    """The kind of preconditioning, as configured."""
    pages_mapped: int
    """Logical pages that hold data when the run begins. Unit: count."""
    valid_share: float
    """Their share of the exported pages. Unit: share."""
    pages_overwritten: int
    """Pages overwritten at random. Unit: count."""
    write_amplification: float
    """Write amplification of the last window of overwriting.

    Absent where overwriting collected nothing on purpose, or nothing was overwritten. Unit: ratio.
    """
    steady: bool
    """Overwriting ended because write amplification was steady, not because it went on for too long.

    Absent where the run does not have it.
    """
    free_blocks_min: int
    """Free blocks of the pool that has the fewest, frontiers excluded, when the run begins. Unit: count."""
    free_blocks_max: int
    """Free blocks of the pool that has the most, frontiers excluded, when the run begins. Unit: count."""
    soft_blocks: int
    """The soft threshold T_soft of a pool in blocks. Unit: count."""


class Timeline(Section):
    """`timeline` of a result. The timeline that was written, if one was."""

    file: str
    """Its file, as it was named."""
    slices: int
    """Slices in it. Unit: count."""
    from_ns: int
    """Simulated time from which on it shows everything. Unit: ns."""
    to: int
    """Simulated time up to which it shows everything. Unit: ns."""
    to_ns: int
    """The same as `to`."""
    full: bool
    """It ends there because it had as many slices as it may have."""


class RunStatistics(Section):
    """Everything a run reports."""

    _parts: ClassVar[Mapping[str, type[Section]]] = {
        "warm_up": WarmUp,
        "requests": Requests,
        "latency_ns": Latency,
        "breakdown_ns": Breakdown,
        "bandwidth_mb_s": Bandwidth,
        "gc": Gc,
        "slack": Slack,
        "cache": Cache,
        "wear": Wear,
        "flash": Flash,
        "array": Array,
        "utilisation": Utilisation,
        "series": Series,
        "histograms": Histograms,
        "counters": Counters,
        "precondition": Precondition,
        "timeline": Timeline,
    }

    version: str
    """The version of ssdlab that made this result."""
    config: UntypedSection
    """The effective configuration of the run, complete."""
    idle_keys: list[dict[str, str]]
    """Keys of schemes, of the file or set by hand that have no effect in this configuration.

    Keys of the device and the workload are not listed. Absent where the run does not have it.
    """
    seed: int
    """The seed of all random streams."""
    digest: str
    """BLAKE3 over the response times in ns (eight bytes each, least significant first) in order of arrival: equal digests mean that every
    request took exactly as long. Unit: hexadecimal.
    """
    warm_up: WarmUp
    """The warm-up, the first part of the run, which was simulated and is left out of all statistics of what happened.

    Absent without one. Still of the whole run are `digest`, `series`, `workload`, `simulated_ns` and the times on this machine; of its end
    `wear` and `cache.dirty_pages`.
    """
    latency: Latency
    """Response times (completion minus arrival) by class; trims and flushes are in none. Unit: ns."""
    latency_ns: Latency
    """The same as `latency`."""
    percentile_error: float
    """Bound on the relative error of p50 to p99_99: each is at least the exact nearest-rank percentile, and above it by no more than this
    share. Count, mean, deviation, minimum and maximum are exact. Unit: share.
    """
    breakdown: Breakdown
    """Mean parts of the response time by class; they add up to its mean. Unit: ns."""
    breakdown_ns: Breakdown
    """The same as `breakdown`."""
    iops: float
    """Reads and writes completed in a second of simulated time, without the time and the requests of a warm-up.

    Absent where the run does not have it. Unit: 1/s.
    """
    bandwidth_mb_s: Bandwidth
    """Bytes asked for in a second of simulated time, without the time and the requests of a warm-up.

    Absent where the run does not have it.
    """
    gc: Gc
    """Garbage collection during the run."""
    slack: Slack
    """Slack of page operations, and its estimates. Absent where the run does not have it."""
    cache: Cache
    """What the cache did; those of an array's drives together. Absent without one."""
    wear: Wear
    """Erases that the blocks have seen since they were new, those of preconditioning included. Absent where the run does not have it."""
    flash: Flash
    """Flash operations during the run."""
    array: Array
    """The array of drives. Absent for a single drive."""
    utilisation: Utilisation
    """How busy the resources were. Absent where the run does not have it."""
    series: Series
    """The run over time. Absent where it was not asked for."""
    histograms: Histograms
    """How response times are distributed, by kind of request. Absent where it was not asked for."""
    counters: Counters
    """How often each further mechanism fired, by its name. Absent where the run does not have it."""
    precondition: Precondition
    """How the drive was prepared before the run, where it was. Absent where the run does not have it."""
    timeline: Timeline
    """The timeline that was written, if one was. Absent where the run does not have it."""
    workload: UntypedSection
    """What the workload says of itself: the trace's lines, what was clipped or wrapped, and the like.

    Absent where the run does not have it.
    """
    simulated: int
    """Simulated time from the start of the run to its end, a warm-up included. Unit: ns."""
    simulated_ns: int
    """The same as `simulated`."""
    prepare_s: float
    """Time that preparing the drive (preconditioning, or reading a saved state) took on this machine. Unit: s."""
    wall_s: float
    """Time that the simulation took on this machine, after that. Unit: s."""
    requests_per_s: float
    """Simulation speed: requests completed in a second on this machine. Absent where the run does not have it. Unit: 1/s."""
