"""The statistics of a result as classes, so that editors and type checkers know them.

Written by `.venv/bin/python tools/statistics_classes.py` from the schema of the core: change the doc comments of the core, not this file.

An entry that a run does not have is absent: its attribute raises `AttributeError`. A time has two names, with and without its unit:
`latency.read.p99` is `latency_ns.read.p99`, in nanoseconds.
"""

from __future__ import annotations

from collections import abc
from typing import ClassVar

from ssdlab.section import Section, UntypedSection

__all__ = [
    "Array",
    "Bandwidth",
    "Breakdown",
    "BreakdownClass",
    "Buffer",
    "BytesWritten",
    "Cache",
    "CacheResponse",
    "CacheResponseClass",
    "Counters",
    "Fairness",
    "Flash",
    "Flow",
    "FlowAlone",
    "Gc",
    "GcDuration",
    "GcMergedPipelined",
    "GcState",
    "Histograms",
    "HistogramsClass",
    "Interface",
    "Late",
    "Latency",
    "LatencyClass",
    "Mapping",
    "PowerCut",
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
    "SlackChips",
    "SlackPassed",
    "SlackPaused",
    "SlackReadWrite",
    "SlackWaiting",
    "Timeline",
    "Utilisation",
    "WarmUp",
    "Wear",
]


class WarmUp(Section):
    """`warm_up` of a result.

    The warm-up: the first part of the run, simulated but left out of the statistics. Absent without one. `digest`, `series`, `workload`,
    `simulated_ns` and the times on this machine cover the whole run; `wear` and `cache.dirty_pages` hold at its end.
    """

    requests: int
    """Requests that arrived in it. Unit: count."""
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
    """`latency_ns` of a result. Response times (completion minus arrival) by class. Trims and flushes are in no class."""

    _parts: ClassVar[abc.Mapping[str, type[Section]]] = {
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
    """Reads that start where the previous request ended (lee2013, footnote 2). Absent where the run does not have it."""
    rand_read: LatencyClass
    """All other reads. Absent where the run does not have it."""


class BreakdownClass(Section):
    """`breakdown_ns.{all, read, write}` of a result."""

    host_queue: float
    """Wait in the host queue, for a slot for commands or while a chip queue is full. Unit: ns."""
    die_queue: float
    """Wait for the die, behind host operations. Unit: ns."""
    gc: float
    """Wait for garbage collection. Unit: ns."""
    bus_queue: float
    """Wait for the channel bus. Unit: ns."""
    transfer: float
    """Transfer on the bus. Unit: ns."""
    array: float
    """Read, program or erase in the flash array. Unit: ns."""
    suspended: float
    """Suspension. Unit: ns."""
    dram: float
    """Access to the controller's DRAM. Unit: ns."""
    controller: float
    """Wait for a core of the controller, and its time to fetch and complete the command. Unit: ns."""
    link: float
    """Wait for the link to the host, and transfer over it. Unit: ns."""
    mapping: float
    """Wait for entries of the mapping table that were not in memory. Unit: ns."""
    pace: float
    """Wait for garbage collection to free room for writes (`gc.pace`). Unit: ns."""


class Breakdown(Section):
    """`breakdown_ns` of a result. Mean parts of the response time by class; they add up to its mean."""

    _parts: ClassVar[abc.Mapping[str, type[Section]]] = {
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
    """`bandwidth_mb_s` of a result. Bytes requested per second of simulated time, without the time and the requests of a warm-up."""

    read: float
    """Megabytes (10^6 bytes) read per second. Unit: MB/s."""
    write: float
    """Megabytes (10^6 bytes) written per second. Unit: MB/s."""


class Fairness(Section):
    """`fairness` of a result. How evenly the flows slow each other down. Absent unless requested."""

    worst_slowdown: float
    """The largest slowdown of a flow. Unit: ratio."""
    worst: str
    """The flow with the largest slowdown."""
    ratio: float
    """Fairness: the smallest slowdown over the largest. 1 is even. Unit: ratio."""


class GcMergedPipelined(Section):
    """`gc.{merged, pipelined}` of a result."""

    read: int
    """Page reads. Unit: count."""
    write: int
    """Page writes. Unit: count."""
    read_share: float
    """Page reads as a share of the host's page operations (lee2013 Table IX): flash reads, those of partial writes included, pages or units
    programmed, and merged reads. Absent without any. Unit: share.
    """
    write_share: float
    """Page writes as a share of the host's page operations (lee2013 Table IX): flash reads, those of partial writes included, pages or
    units programmed, and merged reads. Absent without any. Unit: share.
    """


class GcState(Section):
    """`gc.state_ns` of a result. Time in the GC states of lee2013 Fig. 7, summed over pools."""

    s0: int
    """S0: GC is not triggered. Unit: ns."""
    s1: int
    """S1: GC is triggered or active; all host operations are allowed. Unit: ns."""
    s2: int
    """S2: as S1, but with fewer than T_hard free blocks: host writes wait. Unit: ns."""
    s3: int
    """S3: a GC job runs to completion; host operations wait. Unit: ns."""


class GcDuration(Section):
    """`gc.duration_ns` of a result. Duration of GC jobs, from the start to the end of the erase. Absent without jobs."""

    mean: float
    """Mean duration of a job. Unit: ns."""
    max: int
    """The longest job. Unit: ns."""


class Gc(Section):
    """`gc` of a result. Garbage collection during the run."""

    _parts: ClassVar[abc.Mapping[str, type[Section]]] = {
        "merged": GcMergedPipelined,
        "pipelined": GcMergedPipelined,
        "state_ns": GcState,
        "duration_ns": GcDuration,
    }

    victim_source: str
    """BLAKE3 over the source of a user-defined victim policy (`config.gc.victim` is `custom`). Absent otherwise. Unit: hexadecimal."""
    jobs: int
    """GC jobs completed: a victim emptied, erased and returned to its pool. Unit: count."""
    pages_moved: int
    """Pages that GC jobs moved. A page whose move a host write replaced does not count. Unit: count."""
    stale_moves: int
    """Page moves that were stale when their program ended, as the host had written the page meanwhile. Unit: count."""
    erases: int
    """Blocks erased. Unit: count."""
    write_amplification: float
    """Write amplification: bytes written to flash over bytes that the host wrote (`bytes_written.flash` / `bytes_written.host`), as drives
    report it. Absent if the host wrote nothing. Unit: ratio.
    """
    page_write_amplification: float
    """Write amplification in mapping units: units programmed (host data, page moves, mapping table, padding, parity) over units programmed
    of host data, as papers count it that write whole pages. A write of a part of a unit counts as the unit; data that a cache or write
    buffer took up count on neither side. Absent if no host data were programmed. Unit: ratio.
    """
    merged: GcMergedPipelined
    """Host operations merged with a page move (lee2013 III-B)."""
    pipelined: GcMergedPipelined
    """Host operations that overlapped with a page move of the same kind (lee2013 III-C)."""
    preemptions: int
    """Host operations that preempted GC: they began while a job on their die was ready to continue. Unit: count."""
    suspensions: int
    """GC operations suspended in the array (lee2013 IV). Unit: count."""
    state: GcState
    """Time in the GC states of lee2013 Fig. 7, summed over pools. Unit: ns."""
    state_ns: GcState
    """The same as `state`."""
    free_blocks_min: int
    """Minimum of the free blocks over pools and time, write frontiers excluded. One is reserved for GC. Unit: count."""
    duration: GcDuration
    """Duration of GC jobs, from the start to the end of the erase. Absent without jobs. Unit: ns."""
    duration_ns: GcDuration
    """The same as `duration`."""
    time_share: float
    """Share of the measured part of the run in which a pool has an active job, mean over pools.

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


class SlackPassed(Section):
    """`slack.passed` of a result. Requests with a page that bypassed another in its queue."""

    read: float
    """As a share of the reads. Absent where the run does not have it. Unit: share."""
    write: float
    """As a share of the writes. Absent where the run does not have it. Unit: share."""


class SlackPaused(Section):
    """`slack.paused` of a result. Pauses of flash programs for reads."""

    read: float
    """Reads that were served in such a pause, as a share of all reads. Absent where the run does not have it. Unit: share."""
    write: float
    """Writes whose program was paused, as a share of all writes. Absent where the run does not have it. Unit: share."""


class SlackChips(Section):
    """`slack.chips` of a result. Number of chips that serve a request, mean over requests."""

    read: float
    """Reads. Absent where the run does not have it."""
    write: float
    """Writes. Absent where the run does not have it."""


class SlackWaiting(Section):
    """`slack.waiting` of a result. Page operations that waited for a chip at the arrival of a request."""

    mean: float
    """Mean over chips. Unit: count."""
    longest: float
    """The chip with the most at that time. Unit: count."""
    shortest: float
    """The chip with the fewest at that time. Unit: count."""


class Slack(Section):
    """`slack` of a result. Slack of page operations, and its estimates."""

    _parts: ClassVar[abc.Mapping[str, type[Section]]] = {
        "read": SlackReadWrite,
        "write": SlackReadWrite,
        "passed": SlackPassed,
        "paused": SlackPaused,
        "chips": SlackChips,
        "waiting": SlackWaiting,
    }

    read: SlackReadWrite
    """Pages of reads. Absent where the run does not have it."""
    write: SlackReadWrite
    """Pages of writes. Absent where the run does not have it."""
    estimation_error: float
    """Estimation error: sum over requests of |estimated - actual response time|, over the sum of the actual times.

    Absent where the run does not have it. Unit: ratio.
    """
    estimation_bias: float
    """Estimation bias: the same sum with sign. Above 0: the estimates are too long. Absent where the run does not have it. Unit: ratio."""
    passed: SlackPassed
    """Requests with a page that bypassed another in its queue. Absent where the run does not have it."""
    paused: SlackPaused
    """Pauses of flash programs for reads. Absent where the run does not have it."""
    chips: SlackChips
    """Number of chips that serve a request, mean over requests. Absent where the run does not have it."""
    waiting: SlackWaiting
    """Page operations that waited for a chip at the arrival of a request. Absent where the run does not have it."""


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

    Response times of reads and writes at the cache, by whether the target of one of their pages was in GC at their arrival.
    """

    _parts: ClassVar[abc.Mapping[str, type[Section]]] = {
        "no_gc": CacheResponseClass,
        "gc": CacheResponseClass,
    }

    no_gc: CacheResponseClass
    """Requests that arrived while no target of their pages was in GC. Absent without any."""
    gc: CacheResponseClass
    """Requests that arrived while the target of one of their pages was in GC. Absent without any."""


class Cache(Section):
    """`cache` of a result. Statistics of the cache, summed over the drives of an array. Absent without a cache."""

    _parts: ClassVar[abc.Mapping[str, type[Section]]] = {
        "response_ns": CacheResponse,
    }

    policy_source: str
    """BLAKE3 over the source of a user-defined eviction policy (`config.cache.policy` is `custom`). Absent otherwise. Unit: hexadecimal."""
    policy_fallbacks: int
    """Evictions in which the user-defined policy chose no candidate and the least recently used page was evicted.

    Absent without such a policy. Unit: count.
    """
    capacity_pages: int
    """Capacity in pages. Unit: count."""
    lookups: int
    """Pages looked up. Writes of a write-through cache do not count. Unit: count."""
    read_hits: int
    """Read hits: pages read that were cached or being fetched. Unit: count."""
    write_hits: int
    """Write hits: pages written that were cached, at least in part. Unit: count."""
    hit_ratio: float
    """Hits as a share of the pages looked up. Absent without any. Unit: share."""
    delayed_hits: int
    """Read hits on a page still being fetched. Unit: count."""
    evictions: int
    """Pages evicted, clean and dirty. Unit: count."""
    destages: int
    """Destages: dirty pages written to the next storage level, on eviction, in idle time or for a flush. Unit: count."""
    idle_destages: int
    """Destages in idle time. Unit: count."""
    padded_pages: int
    """Pages written as padding of their group though not dirty (BPLRU). Unit: count."""
    dirty_pages: int
    """Dirty pages at the end of the run: a power loss would lose them. Unit: count."""
    gc_skips: int
    """Evictions that skipped at least one page or group because its target was in GC. Unit: count."""
    gc_fallbacks: int
    """Evictions for a write while all targets were in GC. Unit: count."""
    gc_bypasses: int
    """Pages read that were not inserted because all targets were in GC. Unit: count."""
    spread_groups: int
    """Groups evicted whose pages lay on several chips, or above an array on several drives (`cache.group = "contiguous"`). Unit: count."""
    response: CacheResponse
    """Response times of reads and writes at the cache, by whether the target of one of their pages was in GC at their arrival. Unit: ns."""
    response_ns: CacheResponse
    """The same as `response`."""


class Buffer(Section):
    """`buffer` of a result. The write buffer of the drive, or those of the drives of an array together. Absent without one."""

    capacity: int
    """Mapping units that it can hold. Unit: units."""
    units: int
    """Units of writes that came in, whole or in part. Unit: count."""
    rewrites: int
    """Those that replaced data of the same unit which had not been sent to the flash. Unit: count."""
    trimmed: int
    """Units that were trimmed before they were sent to the flash. Unit: count."""
    read_hits: int
    """Units of reads that were found in it, whole or in part. Unit: count."""
    full_waits: int
    """Requests that waited for room, or behind one that did. Unit: count."""
    fills: int
    """Reads from flash of the rest of a unit that was written in part. Unit: count."""
    programs: int
    """Programs that it sent to the flash. Unit: count."""
    part_programs: int
    """Those that it did not fill. Unit: count."""
    timeouts: int
    """Of these, those that were sent because a unit was as old as `buffer.timeout_us`. Unit: count."""
    held: int
    """Units in it at the end of the run. Unit: units."""


class Mapping(Section):
    """`mapping` of a result.

    The mapping table, where part of it is in flash only (`ftl.map_cache_bytes`). Absent where all of it is in memory.
    """

    pages: int
    """Translation pages of the table. Unit: translation pages."""
    capacity: int
    """Translation pages for which there is memory. Unit: translation pages."""
    hits: int
    """Uses of translation pages in memory, those still being read included. A command uses each translation page once. Unit: count."""
    delayed_hits: int
    """Hits of translation pages that were still being read for another command. Unit: count."""
    misses: int
    """Uses of translation pages that were not in memory. Unit: count."""
    hit_ratio: float
    """Hits as a share of all uses. Absent without any. Unit: share."""
    unread: int
    """Misses that needed no flash read: the translation page had never been written, or all of its entries were changed. Unit: count."""
    full_waits: int
    """Misses that waited since the translation page to be replaced was itself still being read or waited for. Unit: count."""
    order_waits: int
    """Commands that waited for an older one of the same units, which waited for a translation page. Unit: count."""
    write_backs: int
    """Translation pages that were replaced and written, since they had changed. Unit: count."""
    moves_cached: int
    """Page moves of GC whose entry was changed in memory. Unit: count."""
    moves_gathered: int
    """Page moves of GC whose entry was changed in flash together with others of its translation page. Unit: count."""
    updates: int
    """Translation pages that were read and written in flash because of page moves of GC. Unit: count."""
    flash_reads: int
    """Flash reads of translation pages, those of page moves excluded; in mapping units, here and below. Unit: count."""
    flash_programs: int
    """Programs of translation pages, those of page moves excluded. Unit: count."""
    pages_moved: int
    """Page moves of translation pages, which `gc.pages_moved` counts too. Unit: count."""
    cached: int
    """Translation pages in memory at the end of the run. Unit: translation pages."""
    dirty: int
    """Those of them that had changed since they were read or written. Unit: translation pages."""
    pending: int
    """Translation pages whose change in flash, because of page moves, had not begun. Unit: translation pages."""


class Interface(Section):
    """`interface` of a result.

    The host interface of the drive, or those of the drives of an array together. Absent where it takes no time and has no limits.
    """

    commands: int
    """Commands that the controller fetched. Unit: count."""
    slot_waits: int
    """Commands that waited for a slot (`host.slots`). Unit: count."""
    queue_full_waits: int
    """Commands that found their queue with as many fetched as it may have (`host.queue_depth`). Unit: count."""
    passing_commands: int
    """Commands that were fetched before an older one of another queue (`host.queues`). Unit: count."""
    order_waits: int
    """Commands that waited for the fetch of an older one of the same bytes from another queue. Unit: count."""
    core_waits: int
    """Fetches and completions of commands that waited for a core (`host.cores`). Unit: count."""
    link_waits: int
    """Reads and writes whose data waited for the link (`host.link_bytes_per_us`). Unit: count."""
    held_commands: int
    """Commands that waited for the data of an older write of the same bytes. Unit: count."""
    cores: float
    """Share of the measured time in which cores worked, mean over cores. Unit: share."""
    link_in: float
    """Share of the measured time in which the link carried data of writes. Unit: share."""
    link_out: float
    """Share of the measured time in which the link carried data of reads. Unit: share."""


class Wear(Section):
    """`wear` of a result. Erases of the blocks since they were new, preconditioning included."""

    mean: float
    """Mean erases of a block. Unit: count."""
    std: float
    """Standard deviation of the erases over all blocks. Unit: count."""
    max: int
    """Erases of the most worn block. Unit: count."""


class Flash(Section):
    """`flash` of a result. Flash operations during the run."""

    reads: int
    """Page reads, of host, GC and mapping table. Unit: count."""
    programs: int
    """Page programs, of host, GC and mapping table; with mapping units the units that they wrote, without padding, here and below.

    Unit: count.
    """
    host_programs: int
    """Page programs of host writes. Unit: count."""
    gc_programs: int
    """Page programs of page moves. Unit: count."""
    erases: int
    """Block erases. Unit: count."""


class BytesWritten(Section):
    """`bytes_written` of a result.

    Bytes written in the measured part of the run: by the host, above caches and arrays, and to the flash of all drives.
    """

    host: int
    """Bytes of the host's writes that completed, above caches and arrays. Trims write nothing. Unit: B."""
    flash: int
    """Bytes programmed in flash, of all drives of an array: the sum of `data`, `gc`, `mapping`, `padding` and `parity`. Unit: B."""
    data: int
    """Bytes programmed of host data, as they come from cache and write buffer: whole mapping units. In an array its parity too. Unit: B."""
    gc: int
    """Bytes programmed by page moves of GC. Unit: B."""
    mapping: int
    """Bytes programmed of the mapping table (`ftl.map_cache_bytes`), its page moves excluded. Unit: B."""
    padding: int
    """Bytes of flash pages that programs left without data (`ftl.map_unit_bytes`). Unit: B."""
    parity: int
    """Bytes programmed of parity within a drive (`ftl.parity_stripe`). Unit: B."""
    held: int
    """Bytes of the mapping units that write buffers and caches held for the flash at the end, less those that they held when the measured
    part began. What the host wrote of them is in `host`; none of it is in `flash`. Unit: B.
    """


class Array(Section):
    """`array` of a result. The array of drives. Absent for a single drive."""

    level: str
    """The layout: `rais0` or `rais5`."""
    drives: int
    """Number of drives, a failed one included. Unit: count."""
    read_modify_writes: int
    """Parity pages computed by read-modify-write: from the old parity and the old content of the pages written. Unit: count."""
    reconstruct_writes: int
    """Parity pages computed by reconstruct-write: from all data of their column, some of them read. Unit: count."""
    full_writes: int
    """Parity pages computed without a read, as all data of their column were written. Unit: count."""
    update_reads: int
    """Pages read for these parity pages: old data and old parity. Unit: count."""
    parity_writes: int
    """Parity pages written. Unit: count."""
    degraded_reads: int
    """Degraded reads: reads of the failed drive, replaced by reads of all others. Unit: count."""
    row_waits: int
    """Operations (writes to a stripe, reads, trims) that waited for the lock of their stripe. Unit: count."""


class Utilisation(Section):
    """`utilisation` of a result. Utilisation of chips and channels."""

    chips: list[float]
    """By chip: share of the measured time in which it is busy.

    If its dies work in parallel: share in which a die is occupied, mean over dies. Unit: share.
    """
    channels: list[float]
    """By channel: share of the measured time in which its bus transfers. Unit: share."""


class SeriesLatencyClass(Section):
    """`series.latency_ns.{read, write}` of a result."""

    count: list[int]
    """Requests completed. Unit: count."""
    mean: list[float]
    """Mean response time of these requests. Unit: ns."""
    max: list[int]
    """The longest response time of these requests. Unit: ns."""


class SeriesLatency(Section):
    """`series.latency_ns` of a result. Response times of the requests that completed in each bin. 0 without any."""

    _parts: ClassVar[abc.Mapping[str, type[Section]]] = {
        "read": SeriesLatencyClass,
        "write": SeriesLatencyClass,
    }

    read: SeriesLatencyClass
    """Reads."""
    write: SeriesLatencyClass
    """Writes."""


class SeriesOutstanding(Section):
    """`series.outstanding` of a result. Outstanding requests in each bin."""

    mean: list[float]
    """Mean over the time of the bin. Unit: count."""
    max: list[int]
    """Maximum in the bin, of numbers that last longer than an instant. Unit: count."""


class SeriesGc(Section):
    """`series.gc` of a result. Garbage collection in each bin."""

    chips: list[list[float]]
    """By row of chips, and in it by bin: share of the bin in which a chip has an active GC job, mean over the chips of the row.

    The chips of an array's drives follow each other. Unit: share.
    """
    chips_per_row: int
    """Chips of a row: 1 up to 64 chips, else the least number that gives at most 64 rows (the last row may have fewer). Unit: count."""
    jobs: list[int]
    """GC jobs started. Unit: count."""
    pages_moved: list[int]
    """Pages that GC jobs moved. Unit: count."""


class SeriesFreeBlocks(Section):
    """`series.free_blocks` of a result. Free blocks of a pool in each bin, write frontiers excluded."""

    min: list[int]
    """Minimum over pools and over the time of the bin. Unit: count."""
    mean: list[float]
    """Mean over pools and over the part of the bin that is in the run. Unit: count."""
    soft: int
    """The soft threshold T_soft of a pool. Unit: count."""
    hard: int
    """The hard threshold T_hard of a pool; 0: none. Unit: count."""


class SeriesStates(Section):
    """`series.states` of a result. Share of each bin in which a pool is in each GC state of lee2013 Fig. 7, mean over pools."""

    s0: list[float]
    """S0: GC is not triggered. Unit: share."""
    s1: list[float]
    """S1: GC is triggered or active; all host operations are allowed. Unit: share."""
    s2: list[float]
    """S2: as S1, but with fewer than T_hard free blocks: host writes wait. Unit: share."""
    s3: list[float]
    """S3: a GC job runs to completion; host operations wait. Unit: share."""


class SeriesCache(Section):
    """`series.cache` of a result. The cache in each bin. Absent without one."""

    hits: list[int]
    """Hits: pages looked up that are cached or being fetched. Unit: count."""
    lookups: list[int]
    """Pages looked up. Unit: count."""
    dirty: list[int]
    """Dirty pages at the end of the bin. Unit: count."""


class Series(Section):
    """`series` of a result. The run over time. Absent unless requested."""

    _parts: ClassVar[abc.Mapping[str, type[Section]]] = {
        "latency_ns": SeriesLatency,
        "outstanding": SeriesOutstanding,
        "gc": SeriesGc,
        "free_blocks": SeriesFreeBlocks,
        "states": SeriesStates,
        "cache": SeriesCache,
    }

    bin: int
    """Width of a bin: 1000 ns x a power of two, as the length of the run requires. Unit: ns."""
    bin_ns: int
    """The same as `bin`."""
    bins: int
    """Number of bins, at most 512. Unit: count."""
    warm_up: int
    """Simulated time at which the warm-up ended.

    Rows show the whole run, all other statistics only the time after. Absent without a warm-up. Unit: ns.
    """
    warm_up_ns: int
    """The same as `warm_up`."""
    latency: SeriesLatency
    """Response times of the requests that completed in each bin. 0 without any. Unit: ns."""
    latency_ns: SeriesLatency
    """The same as `latency`."""
    outstanding: SeriesOutstanding
    """Outstanding requests in each bin."""
    gc: SeriesGc
    """Garbage collection in each bin."""
    free_blocks: SeriesFreeBlocks
    """Free blocks of a pool in each bin, write frontiers excluded."""
    states: SeriesStates
    """Share of each bin in which a pool is in each GC state of lee2013 Fig. 7, mean over pools."""
    bus: list[float]
    """Share of each bin in which a channel transfers, mean over channels. Unit: share."""
    dies: list[float]
    """Share of each bin in which a die is occupied, mean over dies. Unit: share."""
    cache: SeriesCache
    """The cache in each bin. Absent without one."""


class HistogramsClass(Section):
    """`histograms.{read, write}` of a result."""

    upper: list[int]
    """Upper bound of the bucket; for the last bucket the longest time. Unit: ns."""
    upper_ns: list[int]
    """The same as `upper`."""
    count: list[int]
    """Requests in the bucket. Unit: count."""


class Histograms(Section):
    """`histograms` of a result. Distribution of response times, by kind of request. Absent unless requested."""

    _parts: ClassVar[abc.Mapping[str, type[Section]]] = {
        "read": HistogramsClass,
        "write": HistogramsClass,
    }

    read: HistogramsClass
    """Response times of reads."""
    write: HistogramsClass
    """Response times of writes."""


class Counters(Section):
    """`counters` of a result. Counters of further mechanisms, by name."""

    buffer_reads: int
    """Page reads that were answered from a write that had not ended. Absent where the run does not have it. Unit: count."""
    bus_lines: int
    """Times that a program, or a read whose command needs the bus (read_command_ns), had to wait for its bus.

    Absent where the run does not have it. Unit: count.
    """
    copybacks: int
    """Page moves within a plane, which need no bus. Absent where the run does not have it. Unit: count."""
    data_first: int
    """Times that data in a register went on the bus ahead of a die that had waited longer (read_command_ns).

    Absent where the run does not have it. Unit: count.
    """
    discarded_moves: int
    """Page moves given up before their program, since the host had written or trimmed the page.

    Absent where the run does not have it. Unit: count.
    """
    episode_jobs: int
    """GC jobs that followed another of their episode at once, since the pool had not all free blocks that `gc.until` asks for.

    Absent where the run does not have it. Unit: count.
    """
    host_first_between_jobs: int
    """How often host operations that a GC job had excluded (`gc.scope`) went before the next job.

    Absent where the run does not have it. Unit: count.
    """
    host_queue_waits: int
    """Pages that waited in the host queue because the queue of their chip was full. Absent where the run does not have it. Unit: count."""
    idle_jobs: int
    """GC jobs that idle time started although their pool had T_soft free blocks or more.

    Absent where the run does not have it. Unit: count.
    """
    idle_pauses: int
    """Times that such a job paused because a request came. Absent where the run does not have it. Unit: count."""
    job_turns: int
    """GC jobs that ended while another plane of their die waited for its turn (gc.turns = job).

    Absent where the run does not have it. Unit: count.
    """
    jobs_set_off: int
    """GC jobs that a host operation that waited for the die set off (`gc.begin`). Absent where the run does not have it. Unit: count."""
    misaligned_reads: int
    """Reads that did not join a multi-plane read, since their page has another offset (multiplane_aligned_reads).

    Absent where the run does not have it. Unit: count.
    """
    moves_put_aside: int
    """Page moves suspended at a preemption point between two of their stages. Absent where the run does not have it. Unit: count."""
    multiplane_operations: int
    """Multi-plane operations. Absent where the run does not have it. Unit: count."""
    multiplane_programs: int
    """Multi-plane programs, which are among these. Absent where the run does not have it. Unit: count."""
    overlapped_operations: int
    """Operations that overlapped another through the cache register. Absent where the run does not have it. Unit: count."""
    paced_writes: int
    """Writes that waited for credit that GC earns, or behind one that did (`gc.pace`).

    Absent where the run does not have it. Unit: count.
    """
    padded_units: int
    """Mapping units of padding: what programs of host and GC left of their flash pages (`ftl.map_unit_bytes`).

    Absent where the run does not have it. Unit: count.
    """
    page_order_waits: int
    """Operations that waited for an older one on their page. Absent where the run does not have it. Unit: count."""
    parity_programs: int
    """Programs of parity (`ftl.parity_stripe`): each in the time of the program before it.

    Absent where the run does not have it. Unit: count.
    """
    partial_reads: int
    """Flash reads for the host, of one plane each, that transferred only a part of their page (`device.partial_reads`).

    Absent where the run does not have it. Unit: count.
    """
    pause_reads: int
    """Page reads served while a program paused (write_pausing). Absent where the run does not have it. Unit: count."""
    read_commands: int
    """Pages read by commands that held the bus (read_command_ns). Absent where the run does not have it. Unit: count."""
    read_passes: int
    """Reads that a later one bypassed (read_bypass). Absent where the run does not have it. Unit: count."""
    reads_along: int
    """Reads of mapping units that came with the flash read of another unit of their request, of the same flash page.

    Absent where the run does not have it. Unit: count.
    """
    reads_while_suspended: int
    """Pages read while a program or erase was suspended for them (`scheduler.suspend`).

    Absent where the run does not have it. Unit: count.
    """
    redirected_writes: int
    """Writes given a page of another block, since a GC job had the shared open block to itself.

    Absent where the run does not have it. Unit: count.
    """
    reordered_moves: int
    """Page moves that began out of order because a host operation merges with them. Absent where the run does not have it. Unit: count."""
    rmw_reads: int
    """Pages read in order to write a part of them. Absent where the run does not have it. Unit: count."""
    s3_entries: int
    """Times that a high-priority write made GC run to completion. Absent where the run does not have it. Unit: count."""
    steps_forgone: int
    """Steps that host operations would have let begin, had an active job of the die had more of them left (`gc.advance`).

    Absent where the run does not have it. Unit: count.
    """
    steps_in_turn: int
    """Steps of GC jobs that went before a host operation that waited, as it was their turn (`gc.advance = "in-turns"`).

    Absent where the run does not have it. Unit: count.
    """
    steps_with_requests: int
    """Steps of GC jobs that a host operation let begin (`gc.advance`). Absent where the run does not have it. Unit: count."""
    steps_without_requests: int
    """Steps that GC jobs took without one, since nothing else could serve what waited, or GC ran to completion, or the drive was idle.

    Absent where the run does not have it. Unit: count.
    """
    suspended_erases: int
    """Erases suspended for reads (`scheduler.suspend`), each time. Absent where the run does not have it. Unit: count."""
    suspended_programs: int
    """Programs suspended for reads (`scheduler.suspend`), each time. Absent where the run does not have it. Unit: count."""
    trimmed_pages: int
    """Pages unmapped by trims. Absent where the run does not have it. Unit: count."""
    unmapped_reads: int
    """Page reads of pages that held no data. Absent where the run does not have it. Unit: count."""
    victim_fallbacks: int
    """Victims that the greedy policy chose because the configured policy named none, or one that cannot be collected.

    Absent where the run does not have it. Unit: count.
    """
    write_passes: int
    """Writes that a later one bypassed (write_bypass). Absent where the run does not have it. Unit: count."""
    write_pauses: int
    """Times that a program of the host paused for reads (write_pausing). Absent where the run does not have it. Unit: count."""


class Precondition(Section):
    """`precondition` of a result. The preparation of the drive before the run. Absent without one."""

    kind: str
    """The kind of preconditioning, as configured."""
    pages_mapped: int
    """Logical pages with data at the start of the run. Unit: count."""
    valid_share: float
    """`pages_mapped` as a share of the exported pages. Unit: share."""
    pages_overwritten: int
    """Pages overwritten at random. Unit: count."""
    write_amplification: float
    """Write amplification in the last window of overwriting, which writes whole mapping units (so that the ratios of bytes and of units are
    equal) and leaves the mapping table as it is. Absent without overwriting, or if the overwriting runs no GC (`soft`). Unit: ratio.
    """
    steady: bool
    """Overwriting ended because write amplification was steady; if not, it reached its limit. Absent where the run does not have it."""
    settled: bool
    """The timed end of the preparation (`ftl.precondition.settle`) ended because write amplification had settled.

    If not, it reached its limit. Absent without one, and if the host wrote nothing.
    """
    settled_write_amplification: float
    """Write amplification in the last drive write of the timed end, or the last round of the trace, of mapping units as
    `gc.page_write_amplification`. Absent without host writes there. Unit: ratio.
    """
    timed_requests: int
    """Requests of the timed end, or of all rounds of the trace. Absent where the run does not have it. Unit: count."""
    timed_drive_writes: float
    """Mapping units programmed for the host in them, in times of those that it can address.

    Absent where the run does not have it. Unit: ratio.
    """
    free_blocks_min: int
    """Minimum of the free blocks over pools at the start of the run, write frontiers excluded. Unit: count."""
    free_blocks_max: int
    """Maximum of the free blocks over pools at the start of the run, write frontiers excluded. Unit: count."""
    soft_blocks: int
    """The soft threshold T_soft of a pool in blocks. Unit: count."""


class Timeline(Section):
    """`timeline` of a result. The timeline written. Absent unless requested."""

    file: str
    """Its file, as given."""
    slices: int
    """Slices in it. Unit: count."""
    from_ns: int
    """Simulated time from which it is complete. Unit: ns."""
    to: int
    """Simulated time up to which it is complete. Unit: ns."""
    to_ns: int
    """The same as `to`."""
    full: bool
    """It ends there because the limit of slices was reached."""


class Late(Section):
    """`late` of a result.

    For a drive that was served to programs: how much later than they were due requests were answered. Absent otherwise.
    """

    scale: float
    """How many times slower than real time the drive was."""
    count: int
    """Answers that came more than 100 us after they were due. Unit: count."""
    mean: float
    """Mean over all answers, in real time. Unit: ns."""
    max: int
    """The latest, in real time. Unit: ns."""


class PowerCut(Section):
    """`power_cut` of a result. For a drive that was served to programs and whose power failed: what that did. Absent otherwise."""

    at: int
    """Simulated time at which it came. Unit: ns."""
    at_ns: int
    """The same as `at`."""
    unanswered: int
    """Requests that had come and got no answer. Unit: count."""
    lost_writes: int
    """Writes that had completed, of which a volatile cache or write buffer held data that are lost. Unit: count."""
    lost_bytes: int
    """Bytes of the mapping units that are as they were before such a write. Unit: B."""


class FlowAlone(Section):
    """`flows[].alone` of a result. The same requests alone on the drive. Absent unless requested."""

    mean: float
    """Mean response time of its reads and writes without the other flows. Unit: ns."""
    mean_ns: float
    """The same as `mean`."""
    slowdown: float
    """Slowdown by the other flows: mean response time with them over that without. Absent where that is 0. Unit: ratio."""


class Flow(Section):
    """`flows[]` of a result. One of several flows of requests."""

    _parts: ClassVar[abc.Mapping[str, type[Section]]] = {
        "requests": Requests,
        "latency_ns": Latency,
        "breakdown_ns": Breakdown,
        "bandwidth_mb_s": Bandwidth,
        "alone": FlowAlone,
    }

    name: str
    """Its name (`workload.flows`)."""
    requests: Requests
    """Its completed requests by kind."""
    warm_up_requests: int
    """Its requests that arrived in the warm-up. Absent if there are none. Unit: count."""
    latency: Latency
    """Its response times by class. Unit: ns."""
    latency_ns: Latency
    """The same as `latency`."""
    breakdown: Breakdown
    """Mean parts of its response times by class. Unit: ns."""
    breakdown_ns: Breakdown
    """The same as `breakdown`."""
    iops: float
    """Its reads and writes completed per second of simulated time. Absent where the run does not have it. Unit: 1/s."""
    bandwidth_mb_s: Bandwidth
    """Bytes that it requested per second of simulated time. Absent where the run does not have it."""
    alone: FlowAlone
    """The same requests alone on the drive. Absent unless requested."""


class RunStatistics(Section):
    """Everything a run reports."""

    _parts: ClassVar[abc.Mapping[str, type[Section]]] = {
        "warm_up": WarmUp,
        "requests": Requests,
        "latency_ns": Latency,
        "breakdown_ns": Breakdown,
        "bandwidth_mb_s": Bandwidth,
        "fairness": Fairness,
        "gc": Gc,
        "slack": Slack,
        "cache": Cache,
        "buffer": Buffer,
        "mapping": Mapping,
        "interface": Interface,
        "wear": Wear,
        "flash": Flash,
        "bytes_written": BytesWritten,
        "array": Array,
        "utilisation": Utilisation,
        "series": Series,
        "histograms": Histograms,
        "counters": Counters,
        "precondition": Precondition,
        "timeline": Timeline,
        "late": Late,
        "power_cut": PowerCut,
        "flows": Flow,
    }

    version: str
    """The version of ssdlab that made this result."""
    config: UntypedSection
    """The effective configuration of the run, complete."""
    idle_keys: list[dict[str, str]]
    """Keys without effect in this configuration: those that the scheme chooses, and all that stand in a file of the user's own (device,
    scheme, workload, configuration) or in `--set`. Keys of a device or workload that comes with ssdlab are not listed. Absent where the
    run does not have it.
    """
    seed: int
    """The seed of all random streams."""
    digest: str
    """BLAKE3 over the response times in ns (eight bytes each, least significant first) in order of arrival.

    Equal digests: every request has the same response time. Unit: hexadecimal.
    """
    warm_up: WarmUp
    """The warm-up: the first part of the run, simulated but left out of the statistics.

    Absent without one. `digest`, `series`, `workload`, `simulated_ns` and the times on this machine cover the whole run; `wear` and
    `cache.dirty_pages` hold at its end.
    """
    latency: Latency
    """Response times (completion minus arrival) by class. Trims and flushes are in no class. Unit: ns."""
    latency_ns: Latency
    """The same as `latency`."""
    percentile_error: float
    """Bound on the relative error of p50 to p99_99: each is at least the exact nearest-rank percentile, and exceeds it by at most this
    share. Count, mean, deviation, minimum and maximum are exact. Unit: share.
    """
    breakdown: Breakdown
    """Mean parts of the response time by class; they add up to its mean. Unit: ns."""
    breakdown_ns: Breakdown
    """The same as `breakdown`."""
    iops: float
    """Reads and writes completed per second of simulated time, without the time and the requests of a warm-up.

    Absent where the run does not have it. Unit: 1/s.
    """
    bandwidth_mb_s: Bandwidth
    """Bytes requested per second of simulated time, without the time and the requests of a warm-up.

    Absent where the run does not have it.
    """
    flows: list[Flow]
    """The requests by flow. Absent for a single one."""
    fairness: Fairness
    """How evenly the flows slow each other down. Absent unless requested."""
    write_stall_ns_max: int
    """The longest time during which writes were outstanding and none completed. Absent without writes. Unit: ns."""
    gc: Gc
    """Garbage collection during the run."""
    slack: Slack
    """Slack of page operations, and its estimates. Absent where the run does not have it."""
    cache: Cache
    """Statistics of the cache, summed over the drives of an array. Absent without a cache."""
    buffer: Buffer
    """The write buffer of the drive, or those of the drives of an array together. Absent without one."""
    mapping: Mapping
    """The mapping table, where part of it is in flash only (`ftl.map_cache_bytes`). Absent where all of it is in memory."""
    interface: Interface
    """The host interface of the drive, or those of the drives of an array together. Absent where it takes no time and has no limits."""
    wear: Wear
    """Erases of the blocks since they were new, preconditioning included. Absent where the run does not have it."""
    flash: Flash
    """Flash operations during the run."""
    bytes_written: BytesWritten
    """Bytes written in the measured part of the run: by the host, above caches and arrays, and to the flash of all drives."""
    array: Array
    """The array of drives. Absent for a single drive."""
    utilisation: Utilisation
    """Utilisation of chips and channels. Absent where the run does not have it."""
    series: Series
    """The run over time. Absent unless requested."""
    histograms: Histograms
    """Distribution of response times, by kind of request. Absent unless requested."""
    counters: Counters
    """Counters of further mechanisms, by name. Absent where the run does not have it."""
    precondition: Precondition
    """The preparation of the drive before the run. Absent without one."""
    timeline: Timeline
    """The timeline written. Absent unless requested."""
    workload: UntypedSection
    """Properties of the workload: for example lines of the trace, requests clipped or wrapped. Absent where the run does not have it."""
    simulated: int
    """Simulated time from the start of the run to its end, a warm-up included. Unit: ns."""
    simulated_ns: int
    """The same as `simulated`."""
    late: Late
    """For a drive that was served to programs: how much later than they were due requests were answered. Absent otherwise."""
    power_cut: PowerCut
    """For a drive that was served to programs and whose power failed: what that did. Absent otherwise."""
    prepare_s: float
    """Wall-clock time to prepare the drive (preconditioning, or reading a saved state). Unit: s."""
    wall_s: float
    """Wall-clock time of the simulation, after the preparation. Unit: s."""
    requests_per_s: float
    """Simulation speed: requests completed per second of wall-clock time. Absent where the run does not have it. Unit: 1/s."""
