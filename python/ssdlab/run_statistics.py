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
    "Ages",
    "AgesCyclesDaysReadsOfBlockBitErrorRate",
    "Array",
    "Bandwidth",
    "Blocks",
    "Breakdown",
    "BreakdownClass",
    "Buffer",
    "BytesWritten",
    "Cache",
    "CacheResponse",
    "CacheResponseClass",
    "Counters",
    "Energy",
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
    "Lifetime",
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
    "SeriesSlc",
    "SeriesStates",
    "SeriesWritten",
    "Slack",
    "SlackChips",
    "SlackPassed",
    "SlackPaused",
    "SlackReadWrite",
    "SlackWaiting",
    "Slc",
    "Timeline",
    "Utilisation",
    "WarmUp",
    "Wear",
    "WearHistogram",
]


class WarmUp(Section):
    """`warm_up` of a result.

    The warm-up: the first part of the run, simulated but left out of the statistics. Absent without one. `digest`, `series`, `workload`,
    `simulated_ns` and the times on this machine cover the whole run; `wear` and `cache.dirty_pages` hold at its end.
    """

    requests: int
    """Number of requests that arrived in the warm-up. Unit: count."""
    ns: int
    """Simulated time at which the warm-up ended. Unit: ns."""


class Requests(Section):
    """`requests` of a result. Number of completed requests by kind."""

    read: int
    """Number of completed reads. Unit: count."""
    write: int
    """Number of completed writes. Unit: count."""
    trim: int
    """Number of completed trims. Unit: count."""
    flush: int
    """Number of completed flushes. Unit: count."""


class LatencyClass(Section):
    """`latency_ns.{all, read, write, seq_read, rand_read}` of a result."""

    count: int
    """Number of requests of the class. Unit: count."""
    mean: float
    """Mean response time. Unit: ns."""
    std: float
    """Standard deviation of the response time (of the population: the root of the variance). Unit: ns."""
    variance: float
    """Population variance of the response time: the mean square minus the squared mean, from exact integer sums. Unit: ns^2."""
    cv: float
    """Coefficient of variation of the response time: standard deviation over mean. Absent where the mean is 0. Unit: ratio."""
    min: int
    """Shortest response time. Unit: ns."""
    p50: int
    """Median response time: half of the requests took at most this long (nearest rank). Unit: ns."""
    p90: int
    """90th percentile: 90 % of the requests took at most this long. Unit: ns."""
    p95: int
    """95th percentile: 95 % of the requests took at most this long. Unit: ns."""
    p99: int
    """99th percentile: 99 % of the requests took at most this long. Unit: ns."""
    p99_9: int
    """99.9th percentile: 99.9 % of the requests took at most this long. Unit: ns."""
    p99_99: int
    """99.99th percentile: 99.99 % of the requests took at most this long. Unit: ns."""
    max: int
    """Longest response time. Unit: ns."""


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
    """Response times of reads and writes. Absent where the run does not have it."""
    read: LatencyClass
    """Response times of reads. Absent where the run does not have it."""
    write: LatencyClass
    """Response times of writes. Absent where the run does not have it."""
    seq_read: LatencyClass
    """Response times of sequential reads, which start where the previous request ended (lee2013, footnote 2).

    Absent where the run does not have it.
    """
    rand_read: LatencyClass
    """Response times of random reads: all reads that are not sequential. Absent where the run does not have it."""


class BreakdownClass(Section):
    """`breakdown_ns.{all, read, write}` of a result."""

    host_queue: float
    """Wait before the chip queues: for a slot for commands or the turn of the queue, for room in the write buffer, for the lock of a
    stripe, for a place in the chip's queue or a chip with room. Unit: ns.
    """
    die_queue: float
    """Wait for the die behind host operations, or for an older operation on the page. Unit: ns."""
    gc: float
    """Wait for garbage collection: a job excluded the request, a GC operation occupied the die, or the pool had no free block. Unit: ns."""
    bus_queue: float
    """Wait for the channel bus. Unit: ns."""
    transfer: float
    """Transfer on the channel bus. Unit: ns."""
    array: float
    """Read or program in the flash array. Unit: ns."""
    suspended: float
    """Pause or suspension of the program for reads (`scheduler.write_pausing`, `scheduler.suspend`). Unit: ns."""
    dram: float
    """Access to the cache or the write buffer in the controller's DRAM. Unit: ns."""
    controller: float
    """Wait for a core of the controller, and the core's time to fetch and complete the command. Unit: ns."""
    link: float
    """Wait for the link to the host or for the data of an older write, and transfer over the link. Unit: ns."""
    mapping: float
    """Wait for translation pages that were not in memory (`ftl.map_cache_bytes`). Unit: ns."""
    pace: float
    """Wait for garbage collection to free room for writes (`gc.pace`). Unit: ns."""
    power: float
    """Wait for power that operations on other dies draw (`energy.cap_w`). Unit: ns."""
    retry: float
    """Steps of reads that failed, so that the read was repeated: array, transfer, decoding, and waits for the bus between them
    (`errors.retry`). Unit: ns.
    """
    decode: float
    """Decoding of the data of reads, in their last step (`errors.decode_ns`). Unit: ns."""


class Breakdown(Section):
    """`breakdown_ns` of a result. Mean parts of the response time by class; the parts add up to the mean response time."""

    _parts: ClassVar[abc.Mapping[str, type[Section]]] = {
        "all": BreakdownClass,
        "read": BreakdownClass,
        "write": BreakdownClass,
    }

    all: BreakdownClass
    """Parts of the response times of reads and writes. Absent where the run does not have it."""
    read: BreakdownClass
    """Parts of the response times of reads. Absent where the run does not have it."""
    write: BreakdownClass
    """Parts of the response times of writes. Absent where the run does not have it."""


class Bandwidth(Section):
    """`bandwidth_mb_s` of a result. Bytes requested per second of simulated time, without the time and the requests of a warm-up."""

    read: float
    """Megabytes (10^6 bytes) read per second. Unit: MB/s."""
    write: float
    """Megabytes (10^6 bytes) written per second. Unit: MB/s."""


class Fairness(Section):
    """`fairness` of a result. Fairness: how evenly the flows slow each other down. Absent unless requested."""

    worst_slowdown: float
    """Largest slowdown of a flow. Unit: ratio."""
    worst: str
    """Name of the flow with the largest slowdown."""
    ratio: float
    """Fairness: smallest slowdown of a flow over the largest. 1 is even. Unit: ratio."""


class GcMergedPipelined(Section):
    """`gc.{merged, pipelined}` of a result."""

    read: int
    """Number of page reads. Unit: count."""
    write: int
    """Number of page writes. Unit: count."""
    read_share: float
    """Page reads as a share of the host's page operations (lee2013 Table IX): flash reads (partial writes included), pages or units
    programmed, and merged reads. Absent without any. Unit: share.
    """
    write_share: float
    """Page writes as a share of the host's page operations (lee2013 Table IX): flash reads (partial writes included), pages or units
    programmed, and merged reads. Absent without any. Unit: share.
    """


class GcState(Section):
    """`gc.state_ns` of a result. Time in the GC states of lee2013 Fig. 7, summed over pools."""

    s0: int
    """Time in S0: GC is not triggered. Unit: ns."""
    s1: int
    """Time in S1: GC is triggered or active; all host operations are allowed. Unit: ns."""
    s2: int
    """Time in S2: GC is triggered or active, and the pool has fewer than T_hard free blocks; host writes wait. Unit: ns."""
    s3: int
    """Time in S3: a GC job runs to completion; host operations wait. Unit: ns."""


class GcDuration(Section):
    """`gc.duration_ns` of a result. Duration of GC jobs, from the start of the job to the end of the erase. Absent without jobs."""

    mean: float
    """Mean duration of a GC job. Unit: ns."""
    max: int
    """Duration of the longest GC job. Unit: ns."""


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
    """Number of GC jobs completed: a victim emptied, erased and returned to its pool. Unit: count."""
    pages_moved: int
    """Number of pages that GC jobs moved. A page whose move a host write replaced does not count. Unit: count."""
    stale_moves: int
    """Number of page moves that were stale when their program ended, since the host had overwritten or trimmed the page. Unit: count."""
    erases: int
    """Number of blocks erased. Unit: count."""
    write_amplification: float
    """Write amplification: bytes written to flash over bytes that the host wrote (`bytes_written.flash` / `bytes_written.host`), as drives
    report it. Absent if the host wrote nothing. Unit: ratio.
    """
    page_write_amplification: float
    """Write amplification in mapping units: units programmed (host data, page moves, mapping table, padding, parity) over units programmed
    of host data, as papers count it whose host writes whole pages. A write of a part of a unit counts as the unit; data that a cache or
    write buffer absorbs count on neither side. Absent if no host data were programmed. Unit: ratio.
    """
    merged: GcMergedPipelined
    """Host operations merged with a page move (lee2013 III-B)."""
    pipelined: GcMergedPipelined
    """Host operations that overlapped with a page move of the same kind (lee2013 III-C)."""
    preemptions: int
    """Number of host operations that preempted GC: they began while a job on their die was ready to continue. Unit: count."""
    suspensions: int
    """Number of GC operations that host operations suspended in the array (`gc.suspend`, lee2013 IV). Unit: count."""
    state: GcState
    """Time in the GC states of lee2013 Fig. 7, summed over pools. Unit: ns."""
    state_ns: GcState
    """Time in the GC states of lee2013 Fig. 7, summed over pools. Unit: ns."""
    free_blocks_min: int
    """Minimum of the free blocks over pools and time, write frontiers excluded.

    One free block of each pool is reserved for GC. Unit: count.
    """
    duration: GcDuration
    """Duration of GC jobs, from the start of the job to the end of the erase. Absent without jobs. Unit: ns."""
    duration_ns: GcDuration
    """Duration of GC jobs, from the start of the job to the end of the erase. Absent without jobs. Unit: ns."""
    time_share: float
    """Share of the measured part of the run in which a pool has an active GC job, mean over pools.

    Absent where the run does not have it. Unit: share.
    """


class SlackReadWrite(Section):
    """`slack.{read, write}` of a result."""

    mean: float
    """Mean slack of a page. Unit: ns."""
    mean_ns: float
    """Mean slack of a page. Unit: ns."""
    std: float
    """Standard deviation of the slack of a page. Unit: ns."""
    std_ns: float
    """Standard deviation of the slack of a page. Unit: ns."""


class SlackPassed(Section):
    """`slack.passed` of a result.

    Share of requests with a page that bypassed another in its queue (`scheduler.read_bypass`, `scheduler.write_bypass`).
    """

    read: float
    """Reads with a page that bypassed another in its queue, as a share of all reads. Absent where the run does not have it. Unit: share."""
    write: float
    """Writes with a page that bypassed another in its queue, as a share of all writes.

    Absent where the run does not have it. Unit: share.
    """


class SlackPaused(Section):
    """`slack.paused` of a result. Share of requests with a part in the pause of a flash program for reads (`scheduler.write_pausing`)."""

    read: float
    """Reads served in a pause of a program, as a share of all reads. Absent where the run does not have it. Unit: share."""
    write: float
    """Writes whose program was paused, as a share of all writes. Absent where the run does not have it. Unit: share."""


class SlackChips(Section):
    """`slack.chips` of a result. Number of chips that serve a request, mean over requests."""

    read: float
    """Mean over reads. Absent where the run does not have it."""
    write: float
    """Mean over writes. Absent where the run does not have it."""


class SlackWaiting(Section):
    """`slack.waiting` of a result. Number of page operations that waited for a chip at the arrival of a request, mean over requests."""

    mean: float
    """Operations in the queues of a chip, mean over chips. Unit: count."""
    longest: float
    """Operations in the queues of the chip with the most at that time. Unit: count."""
    shortest: float
    """Operations in the queues of the chip with the fewest at that time. Unit: count."""


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
    """Slack of the pages of reads. Absent where the run does not have it."""
    write: SlackReadWrite
    """Slack of the pages of writes. Absent where the run does not have it."""
    estimation_error: float
    """Estimation error: sum over requests of |estimated - actual response time|, over the sum of the actual response times.

    Absent where the run does not have it. Unit: ratio.
    """
    estimation_bias: float
    """Estimation bias: sum over requests of (estimated - actual response time), over the sum of the actual response times.

    Above 0: the estimates are too long. Absent where the run does not have it. Unit: ratio.
    """
    passed: SlackPassed
    """Share of requests with a page that bypassed another in its queue (`scheduler.read_bypass`, `scheduler.write_bypass`).

    Absent where the run does not have it.
    """
    paused: SlackPaused
    """Share of requests with a part in the pause of a flash program for reads (`scheduler.write_pausing`).

    Absent where the run does not have it.
    """
    chips: SlackChips
    """Number of chips that serve a request, mean over requests. Absent where the run does not have it."""
    waiting: SlackWaiting
    """Number of page operations that waited for a chip at the arrival of a request, mean over requests.

    Absent where the run does not have it.
    """


class CacheResponseClass(Section):
    """`cache.response_ns.{no_gc, gc}` of a result."""

    count: int
    """Number of requests of the class. Unit: count."""
    mean: float
    """Mean response time. Unit: ns."""
    max: int
    """Longest response time. Unit: ns."""


class CacheResponse(Section):
    """`cache.response_ns` of a result.

    Response times of reads and writes at the cache, by whether the target of one of their pages was in GC at their arrival.
    """

    _parts: ClassVar[abc.Mapping[str, type[Section]]] = {
        "no_gc": CacheResponseClass,
        "gc": CacheResponseClass,
    }

    no_gc: CacheResponseClass
    """Response times of requests that arrived while no target of their pages was in GC. Absent without any."""
    gc: CacheResponseClass
    """Response times of requests that arrived while the target of one of their pages was in GC. Absent without any."""


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
    """Capacity of the cache in pages. Unit: count."""
    lookups: int
    """Number of pages looked up. Writes of a write-through cache do not count. Unit: count."""
    read_hits: int
    """Read hits: number of pages read that were cached or being fetched. Unit: count."""
    write_hits: int
    """Write hits: number of pages written that were cached, at least in part. Unit: count."""
    hit_ratio: float
    """Hit ratio: hits as a share of the pages looked up. Absent without lookups. Unit: share."""
    delayed_hits: int
    """Delayed hits: number of read hits on a page that was still being fetched. Unit: count."""
    evictions: int
    """Number of pages evicted, clean and dirty. Unit: count."""
    destages: int
    """Destages: number of dirty pages written to the next storage level, on eviction, in idle time or for a flush. Unit: count."""
    idle_destages: int
    """Number of destages in idle time. Unit: count."""
    padded_pages: int
    """Number of pages written as padding of their group though not dirty (BPLRU). Unit: count."""
    dirty_pages: int
    """Number of dirty pages at the end of the run: a power failure would lose them. Unit: count."""
    gc_skips: int
    """Number of evictions that skipped at least one page or group because its target was in GC. Unit: count."""
    gc_fallbacks: int
    """Number of evictions for a write while all targets were in GC. Unit: count."""
    gc_bypasses: int
    """Number of pages read that were not inserted because all targets were in GC. Unit: count."""
    spread_groups: int
    """Number of groups evicted whose pages lay on several chips, or above an array on several drives (`cache.group = "contiguous"`).

    Unit: count.
    """
    response: CacheResponse
    """Response times of reads and writes at the cache, by whether the target of one of their pages was in GC at their arrival. Unit: ns."""
    response_ns: CacheResponse
    """Response times of reads and writes at the cache, by whether the target of one of their pages was in GC at their arrival. Unit: ns."""


class Buffer(Section):
    """`buffer` of a result. Statistics of the write buffer, summed over the drives of an array. Absent without a write buffer."""

    capacity: int
    """Number of mapping units that the write buffer can hold. Unit: units."""
    units: int
    """Number of mapping units of writes that came into the write buffer, whole or in part. Unit: count."""
    rewrites: int
    """Number of mapping units of writes that replaced data of the same unit not sent to the flash yet. Unit: count."""
    trimmed: int
    """Number of mapping units trimmed before they were sent to the flash. Unit: count."""
    read_hits: int
    """Number of mapping units of reads found in the write buffer, whole or in part. Unit: count."""
    full_waits: int
    """Number of requests that waited for room in the write buffer, or behind a request that did. Unit: count."""
    fills: int
    """Number of flash reads of the rest of a mapping unit that was written in part. Unit: count."""
    programs: int
    """Number of programs that the write buffer sent to the flash. Unit: count."""
    part_programs: int
    """Number of programs that the write buffer did not fill. Unit: count."""
    timeouts: int
    """Number of programs not filled that were sent because a unit had reached `buffer.timeout_us`. Unit: count."""
    held: int
    """Number of mapping units in the write buffer at the end of the run. Unit: units."""


class Mapping(Section):
    """`mapping` of a result.

    Statistics of the mapping table, if part of it is in flash only (`ftl.map_cache_bytes`), summed over the drives of an array. Absent if
    all of it is in memory.
    """

    pages: int
    """Number of translation pages of the mapping table. Unit: translation pages."""
    capacity: int
    """Number of translation pages for which there is memory. Unit: translation pages."""
    hits: int
    """Hits: uses of translation pages in memory, or on their way there. A command uses each translation page once. Unit: count."""
    delayed_hits: int
    """Delayed hits: uses of translation pages that were still on their way into memory for another command. Unit: count."""
    misses: int
    """Misses: uses of translation pages that were not in memory. Unit: count."""
    hit_ratio: float
    """Hit ratio: hits as a share of all uses of translation pages. Absent without any. Unit: share."""
    unread: int
    """Number of misses that needed no flash read: the translation page had never been written, or all of its entries were changed.

    Unit: count.
    """
    full_waits: int
    """Number of misses that waited because the translation page to be replaced was itself not in memory yet. Unit: count."""
    order_waits: int
    """Number of commands that waited for an older command of the same units, which waited for a translation page. Unit: count."""
    write_backs: int
    """Number of translation pages that were replaced and written back, since they had changed. Unit: count."""
    moves_cached: int
    """Number of page moves of GC whose entry was changed in memory. Unit: count."""
    moves_gathered: int
    """Number of page moves of GC whose translation page already had a change in flash pending: one change serves several moves.

    Unit: count.
    """
    updates: int
    """Number of translation pages read and written in flash because of page moves of GC. Unit: count."""
    flash_reads: int
    """Flash reads of translation pages, page moves excluded, in mapping units. Unit: count."""
    flash_programs: int
    """Programs of translation pages, page moves excluded, in mapping units. Unit: count."""
    pages_moved: int
    """Page moves of translation pages, in mapping units. `gc.pages_moved` counts them too. Unit: count."""
    cached: int
    """Number of translation pages in memory at the end of the run. Unit: translation pages."""
    dirty: int
    """Number of translation pages in memory at the end of the run that had changed since they were read or written.

    Unit: translation pages.
    """
    pending: int
    """Number of translation pages whose change in flash, because of page moves, had not begun at the end of the run.

    Unit: translation pages.
    """


class Interface(Section):
    """`interface` of a result.

    Statistics of the host interface, over the drives of an array together. Absent if it takes no time and has no limits.
    """

    commands: int
    """Number of commands that the controller fetched. Unit: count."""
    slot_waits: int
    """Number of commands that waited for a slot (`host.slots`). Unit: count."""
    queue_full_waits: int
    """Number of commands that found their queue full: with as many commands fetched as `host.queue_depth` allows. Unit: count."""
    passing_commands: int
    """Number of commands fetched before an older command of another queue (`host.queues`). Unit: count."""
    order_waits: int
    """Number of commands that waited for the fetch of an older command of another queue: one of the same bytes, or a write before a flush.

    Unit: count.
    """
    core_waits: int
    """Number of fetches and completions of commands that waited for a core (`host.cores`). Unit: count."""
    link_waits: int
    """Number of reads and writes whose data waited for the link (`host.link_bytes_per_us`). Unit: count."""
    held_commands: int
    """Number of commands that waited for the data of an older write: one of the same bytes, or any before a flush. Unit: count."""
    rate_waits: int
    """Number of writes that waited for the rate at which the drive takes in their data (`host.write_bytes_per_us`). Unit: count."""
    cores: float
    """Share of the measured time in which cores were busy, mean over cores. Unit: share."""
    link_in: float
    """Share of the measured time in which the link carried data of writes, mean over drives. Unit: share."""
    link_out: float
    """Share of the measured time in which the link carried data of reads, mean over drives. Unit: share."""


class Energy(Section):
    """`energy` of a result. Energy of all drives, by part. Absent unless asked for (`energy`)."""

    read_j: float
    """Energy of reads in the flash arrays (`energy.read_mw`). Unit: J."""
    program_j: float
    """Energy of programs in the flash arrays (`energy.program_mw`). Unit: J."""
    erase_j: float
    """Energy of erases in the flash arrays (`energy.erase_mw`). Unit: J."""
    bus_j: float
    """Energy of transfers on the channels (`energy.bus_mw`). Unit: J."""
    dram_j: float
    """Energy of the controller's memory (`energy.dram_pj_per_bit`). Unit: J."""
    link_j: float
    """Energy of the link to the host (`energy.link_pj_per_bit`). Unit: J."""
    controller_j: float
    """Energy of the controller for commands of the host (`energy.command_nj`). Unit: J."""
    idle_j: float
    """Energy that drives draw at any time (`energy.idle_mw`). Unit: J."""
    total_j: float
    """Energy of all parts. Unit: J."""
    gc_array_j: float
    """Energy of GC in the flash arrays: its reads, programs and erases. It is part of `read_j`, `program_j` and `erase_j`. Unit: J."""
    mean_w: float
    """Mean power of all drives together. Absent for a run of no duration. Unit: W."""
    nj_per_byte: float
    """Energy for each byte that the host reads or writes. Absent without such bytes. Unit: nJ/B."""


class WearHistogram(Section):
    """`wear.histogram` of a result. Number of blocks by number of erases."""

    least: int
    """Number of erases of the least worn block, where the first bin begins. Unit: count."""
    width: int
    """How many numbers of erases a bin has: 1 if there are at most 64 between the least and the most worn block, else the fewest that give
    at most 64 bins. Unit: count.
    """
    blocks: list[int]
    """By bin: number of blocks erased that often. Unit: count."""


class Wear(Section):
    """`wear` of a result. Erases of each block since it was new, preconditioning included."""

    _parts: ClassVar[abc.Mapping[str, type[Section]]] = {
        "histogram": WearHistogram,
    }

    mean: float
    """Mean number of erases of a block. Unit: count."""
    std: float
    """Standard deviation of the number of erases over all blocks. Unit: count."""
    max: int
    """Number of erases of the most worn block. Unit: count."""
    histogram: WearHistogram
    """Number of blocks by number of erases."""


class AgesCyclesDaysReadsOfBlockBitErrorRate(Section):
    """`ages.{cycles, days, reads_of_block, bit_error_rate}` of a result."""

    min: float
    """Least value of a block."""
    mean: float
    """Mean over the blocks."""
    max: float
    """Largest value of a block."""


class Ages(Section):
    """`ages` of a result.

    Retries of flash reads, and how old blocks are (`errors.retry`), over the drives of an array together. Absent if reads have no errors.
    """

    _parts: ClassVar[abc.Mapping[str, type[Section]]] = {
        "cycles": AgesCyclesDaysReadsOfBlockBitErrorRate,
        "days": AgesCyclesDaysReadsOfBlockBitErrorRate,
        "reads_of_block": AgesCyclesDaysReadsOfBlockBitErrorRate,
        "bit_error_rate": AgesCyclesDaysReadsOfBlockBitErrorRate,
    }

    reads: int
    """Number of flash reads whose data were decoded, of host and GC, one for each plane. Copyback is not decoded. Unit: count."""
    retried: int
    """Number of these with at least one step that failed before the last. Unit: count."""
    uncorrectable: int
    """Number of flash reads whose data were lost: no step that the policy takes was good. Unit: count."""
    retries_mean: float
    """Mean number of retries of a flash read. Absent without reads. Unit: ratio."""
    by_retries: list[int]
    """Number of flash reads by retries: entry `i` has those with `i` steps that failed before the last. Unit: count."""
    cycles: AgesCyclesDaysReadsOfBlockBitErrorRate
    """Erases of a block, those before the run included (`ftl.precondition.pe_cycles`). Absent where the run does not have it."""
    days: AgesCyclesDaysReadsOfBlockBitErrorRate
    """Days since a block was opened. Absent where the run does not have it."""
    reads_of_block: AgesCyclesDaysReadsOfBlockBitErrorRate
    """Array reads of a block since it was opened. Absent where the run does not have it."""
    bit_error_rate: AgesCyclesDaysReadsOfBlockBitErrorRate
    """Raw bit error rate of a block. Absent where the run does not have it."""


class Slc(Section):
    """`slc` of a result. The cache of blocks in SLC mode (`slc`), over the drives of an array together. Absent without one."""

    _parts: ClassVar[abc.Mapping[str, type[Section]]] = {
        "static_wear": Wear,
        "other_wear": Wear,
    }

    static_blocks: int
    """Number of blocks that are always in SLC mode. Unit: count."""
    dynamic_blocks: int
    """Maximum of the other blocks in SLC mode at a time. Unit: count."""
    capacity_bytes: int
    """Size of the cache with all these blocks. The dynamic part needs as many free blocks. Unit: B."""
    written_bytes: int
    """Bytes of the host programmed in SLC mode. Unit: B."""
    direct_bytes: int
    """Bytes of the host programmed in other blocks. Unit: B."""
    cached_share: float
    """Share of the host's bytes that were programmed in SLC mode. Absent if none were programmed. Unit: share."""
    folded_bytes: int
    """Bytes that folding moved to other blocks. Unit: B."""
    folds: int
    """Number of GC jobs that folded a block. Unit: count."""
    blocks_in_use: int
    """Number of blocks in SLC mode at the end: open, full or being folded. Unit: count."""
    held_bytes: int
    """Bytes of valid data in them at the end. Unit: B."""
    static_wear: Wear
    """Erases of each block of the static part since it was new. Absent without a static part."""
    other_wear: Wear
    """Erases of each other block since it was new, in either mode. Absent where the run does not have it."""


class Lifetime(Section):
    """`lifetime` of a result.

    The life of the drive (`wear`): blocks that have failed, and the bytes that it can take. Absent if no block can fail.
    """

    retired_blocks: int
    """Number of retired blocks at the end, whether they failed in the warm-up or later. Unit: count."""
    worn_out: int
    """Number of these blocks that had been erased as often as they can be. Unit: count."""
    failed_erases: int
    """Number of these blocks of which an erase failed. Unit: count."""
    failed_programs: int
    """Number of these blocks of which a program failed. Unit: count."""
    spare_left: int
    """Number of blocks that the pool with the fewest can still lose before the drive is read-only. Unit: count."""
    read_only: int
    """Time at which the drive became read-only. Absent if it did not. Unit: ns."""
    read_only_ns: int
    """Time at which the drive became read-only. Absent if it did not. Unit: ns."""
    read_only_cause: str
    """Why the drive became read-only: `spare` if a pool lost more blocks than it can spare, `no-room` if blocks failed one after the other,
    so that a pool had no room for the pages that GC moves. Absent if it did not.
    """
    read_only_pool: int
    """Number of the pool that ran short, from 0. Absent if the drive did not become read-only."""
    written_bytes: int
    """Bytes of the host's writes that completed in the measured part of the run. Unit: B."""
    one_percent_bytes: int
    """Bytes of the mapping units (pages, without ftl.map_unit_bytes) that the host had programmed in the run, warm-up included, when 1 % of
    the blocks had failed. Absent if fewer have. Unit: B.
    """
    erase_wear: float
    """Mean wear of a block by an erase of the run, as a share of that by an erase with whole pulses (`wear.erase`).

    Absent with `wear.erase = "fixed"`, or if no block was erased. Unit: share.
    """
    tbw: float
    """Terabytes (10^12 bytes) that the host can write in the life of the drive (TBW): rated endurance times the flash's bytes, divided by
    the write amplification of the run and by `erase_wear`. It assumes that all blocks wear evenly. Absent without `wear.endurance`, or
    if the host wrote nothing. Unit: TB.
    """
    dwpd: float
    """Drive writes per day (DWPD): `tbw` divided by what the host can address and the days of `wear.warranty_years`.

    Absent without `tbw`. Unit: per day.
    """


class Flash(Section):
    """`flash` of a result. Flash operations during the run."""

    reads: int
    """Number of page reads of host, GC and mapping table. Unit: count."""
    programs: int
    """Number of page programs of host, GC and mapping table; with mapping units, the number of units programmed, without padding.

    Unit: count.
    """
    host_programs: int
    """Number of page programs of host writes; with mapping units, the number of units programmed, without padding. Unit: count."""
    gc_programs: int
    """Number of page programs of page moves; with mapping units, the number of units programmed, without padding. Unit: count."""
    erases: int
    """Number of block erases. Unit: count."""


class BytesWritten(Section):
    """`bytes_written` of a result.

    Bytes written in the measured part of the run: by the host, above caches and arrays, and to the flash of all drives.
    """

    host: int
    """Bytes of the host's writes that completed, above caches and arrays. Trims write nothing. Unit: B."""
    flash: int
    """Bytes programmed in flash, of all drives of an array: the sum of `data`, `gc`, `mapping`, `padding` and `parity`. Unit: B."""
    data: int
    """Bytes programmed of host data, in whole mapping units, as they come from cache and write buffer.

    In an array its parity too. Unit: B.
    """
    gc: int
    """Bytes programmed by page moves of GC. Unit: B."""
    mapping: int
    """Bytes programmed of the mapping table (`ftl.map_cache_bytes`), page moves excluded. Unit: B."""
    padding: int
    """Bytes of padding: parts of flash pages that programs left without data (`ftl.map_unit_bytes`, `device.pages_per_program`).

    Unit: B.
    """
    parity: int
    """Bytes programmed of parity within a drive (`ftl.parity_stripe`). Unit: B."""
    held: int
    """Bytes of the mapping units that write buffers and caches held for the flash at the end, less those held when the measured part began.
    Bytes that the host wrote of them are in `host`; none of them are in `flash`. Unit: B.
    """


class Array(Section):
    """`array` of a result. Statistics of the array of drives. Absent for a single drive."""

    level: str
    """Layout of the array: `rais0` or `rais5`."""
    drives: int
    """Number of drives, a failed one included. Unit: count."""
    read_modify_writes: int
    """Number of parity pages computed by read-modify-write: from the old parity and the old content of the pages written. Unit: count."""
    reconstruct_writes: int
    """Number of parity pages computed by reconstruct-write: from all data of their column, some of them read. Unit: count."""
    full_writes: int
    """Number of parity pages computed without a read, as all data of their column were written. Unit: count."""
    update_reads: int
    """Number of pages read to compute parity pages: old parity, and old data of the column. Unit: count."""
    parity_writes: int
    """Number of parity pages written. Unit: count."""
    degraded_reads: int
    """Number of degraded reads: reads of the failed drive, replaced by reads of all others. Unit: count."""
    row_waits: int
    """Number of parts of requests (writes to a stripe, reads, trims) that waited for the lock of their stripe. Unit: count."""


class Utilisation(Section):
    """`utilisation` of a result. Utilisation of chips and channels. Absent for a run of no duration."""

    chips: list[float]
    """By chip: share of the measured time in which it is busy.

    If its dies work in parallel: share in which a die is occupied, mean over dies. Unit: share.
    """
    channels: list[float]
    """By channel: share of the measured time in which its bus transfers. Unit: share."""


class SeriesLatencyClass(Section):
    """`series.latency_ns.{read, write}` of a result."""

    count: list[int]
    """By bin: number of requests completed. Unit: count."""
    mean: list[float]
    """By bin: mean response time of the requests completed in it. Unit: ns."""
    max: list[int]
    """By bin: longest response time of the requests completed in it. Unit: ns."""


class SeriesLatency(Section):
    """`series.latency_ns` of a result. Response times of the requests that completed in each bin; 0 in a bin without such requests."""

    _parts: ClassVar[abc.Mapping[str, type[Section]]] = {
        "read": SeriesLatencyClass,
        "write": SeriesLatencyClass,
    }

    read: SeriesLatencyClass
    """Response times of reads in each bin."""
    write: SeriesLatencyClass
    """Response times of writes in each bin."""


class SeriesOutstanding(Section):
    """`series.outstanding` of a result. Number of outstanding requests in each bin."""

    mean: list[float]
    """By bin: mean of the outstanding requests over its time. Unit: count."""
    max: list[int]
    """By bin: maximum of the outstanding requests. A number that lasts only an instant does not count. Unit: count."""


class SeriesGc(Section):
    """`series.gc` of a result. Garbage collection in each bin."""

    chips: list[list[float]]
    """By row of chips, and in it by bin: share of the bin in which a chip has an active GC job, mean over the chips of the row.

    The chips of an array's drives follow each other. Unit: share.
    """
    chips_per_row: int
    """Number of chips of a row: 1 up to 64 chips, else the least number that gives at most 64 rows (the last row may have fewer).

    Unit: count.
    """
    jobs: list[int]
    """By bin: number of GC jobs started. Unit: count."""
    pages_moved: list[int]
    """By bin: number of pages that GC jobs moved. Unit: count."""


class SeriesWritten(Section):
    """`series.written` of a result. Bytes written in each bin, by the host and to flash: the two sides of write amplification."""

    host_bytes: list[int]
    """By bin: bytes of the host's writes that completed in it. Unit: B."""
    flash_bytes: list[int]
    """By bin: bytes programmed in flash: of host data, page moves, mapping table, padding and parity.

    Data that a write buffer or a cache holds are programmed in a later bin than that in which the host wrote them. Unit: B.
    """


class SeriesFreeBlocks(Section):
    """`series.free_blocks` of a result. Number of free blocks of a pool in each bin, write frontiers excluded."""

    min: list[int]
    """By bin: minimum of the free blocks over pools and over the time of the bin. Unit: count."""
    mean: list[float]
    """By bin: mean of the free blocks over pools and over the part of the bin that is in the run. Unit: count."""
    soft: int
    """Soft threshold T_soft of a pool, blocks. Unit: count."""
    hard: int
    """Hard threshold T_hard of a pool, blocks; 0: none. Unit: count."""


class SeriesStates(Section):
    """`series.states` of a result. Share of each bin in which a pool is in each GC state of lee2013 Fig. 7, mean over pools."""

    s0: list[float]
    """By bin: share of its time in S0, in which GC is not triggered; mean over pools. Unit: share."""
    s1: list[float]
    """By bin: share of its time in S1, in which GC is triggered or active and all host operations are allowed; mean over pools.

    Unit: share.
    """
    s2: list[float]
    """By bin: share of its time in S2, in which GC is triggered or active and the pool has fewer than T_hard free blocks, so that host
    writes wait; mean over pools. Unit: share.
    """
    s3: list[float]
    """By bin: share of its time in S3, in which a GC job runs to completion and host operations wait; mean over pools. Unit: share."""


class SeriesCache(Section):
    """`series.cache` of a result. Statistics of the cache in each bin. Absent without a cache."""

    hits: list[int]
    """By bin: number of hits, which are pages looked up that are cached or being fetched. Unit: count."""
    lookups: list[int]
    """By bin: number of pages looked up. Unit: count."""
    dirty: list[int]
    """By bin: number of dirty pages at its end. Unit: count."""


class SeriesSlc(Section):
    """`series.slc` of a result.

    Where the host's data went in each bin: the write cliff. Absent without a cache of blocks in SLC mode (`slc`).
    """

    cached_bytes: list[int]
    """By bin: bytes of the host programmed in SLC mode. Unit: B."""
    direct_bytes: list[int]
    """By bin: bytes of the host programmed in other blocks. Unit: B."""
    folded_bytes: list[int]
    """By bin: bytes that folding moves to other blocks. Unit: B."""


class Series(Section):
    """`series` of a result. Time series of the run, in bins. Absent unless recorded."""

    _parts: ClassVar[abc.Mapping[str, type[Section]]] = {
        "latency_ns": SeriesLatency,
        "outstanding": SeriesOutstanding,
        "gc": SeriesGc,
        "written": SeriesWritten,
        "free_blocks": SeriesFreeBlocks,
        "states": SeriesStates,
        "cache": SeriesCache,
        "slc": SeriesSlc,
    }

    bin: int
    """Width of a bin: 1000 ns x a power of two, as the length of the run requires. Unit: ns."""
    bin_ns: int
    """Width of a bin: 1000 ns x a power of two, as the length of the run requires. Unit: ns."""
    bins: int
    """Number of bins, at most 512. Unit: count."""
    warm_up: int
    """Simulated time at which the warm-up ended.

    Rows show the whole run, all other statistics only the time after the warm-up. Absent without a warm-up. Unit: ns.
    """
    warm_up_ns: int
    """Simulated time at which the warm-up ended.

    Rows show the whole run, all other statistics only the time after the warm-up. Absent without a warm-up. Unit: ns.
    """
    latency: SeriesLatency
    """Response times of the requests that completed in each bin; 0 in a bin without such requests. Unit: ns."""
    latency_ns: SeriesLatency
    """Response times of the requests that completed in each bin; 0 in a bin without such requests. Unit: ns."""
    outstanding: SeriesOutstanding
    """Number of outstanding requests in each bin."""
    gc: SeriesGc
    """Garbage collection in each bin."""
    written: SeriesWritten
    """Bytes written in each bin, by the host and to flash: the two sides of write amplification."""
    free_blocks: SeriesFreeBlocks
    """Number of free blocks of a pool in each bin, write frontiers excluded."""
    states: SeriesStates
    """Share of each bin in which a pool is in each GC state of lee2013 Fig. 7, mean over pools."""
    bus: list[float]
    """Share of each bin in which the bus of a channel transfers, mean over channels. Unit: share."""
    dies: list[float]
    """Share of each bin in which a die is occupied, mean over dies. Unit: share."""
    power: list[float]
    """Mean power of all drives in each bin, over the part of the bin that is in the run. Absent unless asked for (`energy`). Unit: W."""
    cache: SeriesCache
    """Statistics of the cache in each bin. Absent without a cache."""
    slc: SeriesSlc
    """Where the host's data went in each bin: the write cliff. Absent without a cache of blocks in SLC mode (`slc`)."""
    streams: list[dict[str, int | list[int] | str]]
    """By stream of data placement: what it took in and how much of what it gave back was valid, in each bin.

    Absent without a placement policy (`ftl.placement`).
    """


class HistogramsClass(Section):
    """`histograms.{read, write}` of a result."""

    upper: list[int]
    """By bucket: upper bound of its times; for the last bucket the longest time. Unit: ns."""
    upper_ns: list[int]
    """By bucket: upper bound of its times; for the last bucket the longest time. Unit: ns."""
    count: list[int]
    """By bucket: number of requests in it. Unit: count."""


class Histograms(Section):
    """`histograms` of a result. Histograms of the response times, by kind of request. Absent unless requested."""

    _parts: ClassVar[abc.Mapping[str, type[Section]]] = {
        "read": HistogramsClass,
        "write": HistogramsClass,
    }

    read: HistogramsClass
    """Histogram of the response times of reads."""
    write: HistogramsClass
    """Histogram of the response times of writes."""


class Counters(Section):
    """`counters` of a result. Counters of the drive's mechanisms, by name."""

    buffer_reads: int
    """Page reads of the host answered from a write that had not ended. Absent where the run does not have it. Unit: count."""
    bus_lines: int
    """Programs, and reads whose command needs the bus (`device.read_command_ns`), that had to wait for the bus.

    Absent where the run does not have it. Unit: count.
    """
    copybacks: int
    """Page moves by copyback: within a plane, without the bus. Absent where the run does not have it. Unit: count."""
    data_first: int
    """Transfers of data in registers that went before a die that had waited longer for the bus (`device.read_command_ns`).

    Absent where the run does not have it. Unit: count.
    """
    direct_writes: int
    """Mapping units of the host written past the cache of blocks in SLC mode (`slc`), those in place of page moves included.

    Absent where the run does not have it. Unit: count.
    """
    discarded_moves: int
    """Page moves given up before their program, since the host had overwritten or trimmed the page.

    Absent where the run does not have it. Unit: count.
    """
    displaced_moves: int
    """Page moves that went to another stream than the placement policy chose, since no block was free for that (`ftl.placement`).

    Absent where the run does not have it. Unit: count.
    """
    episode_jobs: int
    """GC jobs that followed another job of their episode at once, since the pool had too few free blocks to end it (`gc.until`).

    Absent where the run does not have it. Unit: count.
    """
    erase_pulses: int
    """Pulses that erased blocks (`wear.erase`). Absent where the run does not have it. Unit: count."""
    failed_erases: int
    """Erases that failed, and those after which their block was worn out (`wear`): the block was retired.

    Absent where the run does not have it. Unit: count.
    """
    failed_programs: int
    """Programs that failed, of host and GC: their data were programmed again in another block (`wear`).

    Absent where the run does not have it. Unit: count.
    """
    folded_pages: int
    """Mapping units moved out of blocks in SLC mode (`slc`), stale copies included. Absent where the run does not have it. Unit: count."""
    folds: int
    """GC jobs that folded a block in SLC mode (`slc`). Absent where the run does not have it. Unit: count."""
    host_first_between_jobs: int
    """Ends of GC jobs at which waiting host operations of their scope (`gc.scope`) went before the next job.

    Absent where the run does not have it. Unit: count.
    """
    host_queue_waits: int
    """Pages that waited in the host queue: the queue of their chip was full, or no chip had room (dynamic allocation).

    Absent where the run does not have it. Unit: count.
    """
    idle_folds: int
    """GC jobs that folded a block in SLC mode since the drive was idle (`slc.idle_us`).

    Absent where the run does not have it. Unit: count.
    """
    idle_jobs: int
    """GC jobs that idle time started although their pool had T_soft free blocks or more.

    Absent where the run does not have it. Unit: count.
    """
    idle_pauses: int
    """Pauses of idle-time GC jobs because a request came. Absent where the run does not have it. Unit: count."""
    job_turns: int
    """GC jobs that ended while another plane of their die waited for its turn (`gc.turns = "job"`).

    Absent where the run does not have it. Unit: count.
    """
    jobs_set_off: int
    """GC jobs set off by a host operation that waited for the die (`gc.begin`). Absent where the run does not have it. Unit: count."""
    leveling_jobs: int
    """GC jobs that moved the data of a block that had been erased less than others (`wear.leveling`).

    Absent where the run does not have it. Unit: count.
    """
    leveling_moves: int
    """Pages (mapping units) that these GC jobs moved (`wear.leveling`). Absent where the run does not have it. Unit: count."""
    misaligned_reads: int
    """Reads that did not join a multi-plane read, since their page has another offset (`device.multiplane_aligned_reads`).

    Absent where the run does not have it. Unit: count.
    """
    moves_put_aside: int
    """Page moves suspended at a preemption point between two of their stages. Absent where the run does not have it. Unit: count."""
    multiplane_operations: int
    """Multi-plane operations of the host: reads and programs. Absent where the run does not have it. Unit: count."""
    multiplane_programs: int
    """Multi-plane programs of the host. Absent where the run does not have it. Unit: count."""
    order_choices: int
    """Decisions of a user-defined order of operations, each between two operations or more.

    Absent where the run does not have it. Unit: count.
    """
    order_fallbacks: int
    """Decisions that a user-defined order of operations left to the configured order.

    Absent where the run does not have it. Unit: count.
    """
    overlapped_operations: int
    """Host operations that began while another operation was in service on their die (cache register).

    Absent where the run does not have it. Unit: count.
    """
    paced_writes: int
    """Writes that waited for credit that GC earns, or behind a request that did (`gc.pace`).

    Absent where the run does not have it. Unit: count.
    """
    padded_units: int
    """Mapping units of padding: parts of flash pages that programs of host and GC left without data (`ftl.map_unit_bytes`).

    Absent where the run does not have it. Unit: count.
    """
    page_order_waits: int
    """Operations that waited for an older operation on their page. Absent where the run does not have it. Unit: count."""
    parity_programs: int
    """Programs of parity (`ftl.parity_stripe`), each with the program before it. Absent where the run does not have it. Unit: count."""
    partial_reads: int
    """Flash reads for the host, of one plane each, that transferred only a part of their page (`device.partial_reads`).

    Absent where the run does not have it. Unit: count.
    """
    pause_reads: int
    """Page reads served while a program paused (`scheduler.write_pausing`). Absent where the run does not have it. Unit: count."""
    plane_by_plane: int
    """Programs of host and GC that began to write their page plane by plane, since there was time (`device.plane_programs`).

    Absent where the run does not have it. Unit: count.
    """
    planes_together: int
    """Programs that had begun plane by plane and wrote the last planes at once, since there was no time any more.

    Absent where the run does not have it. Unit: count.
    """
    power_waits: int
    """Operations that waited for power, since those in service drew too much of the cap (`energy.cap_w`).

    Absent where the run does not have it. Unit: count.
    """
    read_commands: int
    """Pages read by commands that occupied the bus (`device.read_command_ns`). Absent where the run does not have it. Unit: count."""
    read_passes: int
    """Queued reads that a later read bypassed (`scheduler.read_bypass`). Absent where the run does not have it. Unit: count."""
    reads_along: int
    """Reads of mapping units that came with the flash read of another unit of their request, of the same flash page.

    Absent where the run does not have it. Unit: count.
    """
    reads_between_planes: int
    """Times that a program made way for reads between two planes (`device.plane_programs`).

    Absent where the run does not have it. Unit: count.
    """
    reads_while_suspended: int
    """Pages read while a program or erase was suspended for them (`scheduler.suspend`), or was between two planes.

    Absent where the run does not have it. Unit: count.
    """
    reclaim_jobs: int
    """GC jobs that moved a block because it had been read too often (`errors.reclaim_reads`).

    Absent where the run does not have it. Unit: count.
    """
    redirected_writes: int
    """Writes given a page of another block, since a GC job had the shared open block to itself.

    Absent where the run does not have it. Unit: count.
    """
    refresh_jobs: int
    """GC jobs that moved a block because its data were too old (`errors.refresh_days`).

    Absent where the run does not have it. Unit: count.
    """
    rejected_writes: int
    """Writes and trims that the drive rejected, in whole or in part, since it was read-only (`wear`).

    Absent where the run does not have it. Unit: count.
    """
    relocated_reads: int
    """Host reads that waited while their page moved to another die, and have followed it (`ftl.reclaim_unit`).

    Absent where the run does not have it. Unit: count.
    """
    reordered_moves: int
    """Page moves that began out of order because a host operation merges with them. Absent where the run does not have it. Unit: count."""
    rerouted_writes: int
    """Writes that went to another chip, since failed blocks left no room in that for which they waited (`wear`, dynamic allocation).

    Absent where the run does not have it. Unit: count.
    """
    retired_by_endurance: int
    """Blocks retired since they had been erased as often as they can be (`wear.endurance`).

    Absent where the run does not have it. Unit: count.
    """
    retired_by_erase: int
    """Blocks retired since an erase failed (`wear.erase_fails_ppm`). Absent where the run does not have it. Unit: count."""
    retired_by_program: int
    """Blocks retired since a program failed (`wear.program_fails_ppm`). Absent where the run does not have it. Unit: count."""
    retirement_jobs: int
    """GC jobs that moved the data of a block of which a program had failed, before it was retired (`wear`).

    Absent where the run does not have it. Unit: count.
    """
    retirement_moves: int
    """Pages (mapping units) that these GC jobs moved (`wear`). Absent where the run does not have it. Unit: count."""
    retried_reads: int
    """Flash reads of host and GC with at least one step that failed before the last (`errors.retry`).

    Absent where the run does not have it. Unit: count.
    """
    retry_steps: int
    """Steps of flash reads that failed before the last (`errors.retry`). Absent where the run does not have it. Unit: count."""
    rmw_reads: int
    """Page reads of partial writes (read-modify-write). Absent where the run does not have it. Unit: count."""
    s3_entries: int
    """Entries into state S3: a high-priority write made GC run to completion. Absent where the run does not have it. Unit: count."""
    shortened_erases: int
    """Erases whose last pulse was shorter than a whole one (`wear.erase`). Absent where the run does not have it. Unit: count."""
    skipped_units: int
    """Mapping units (pages, without ftl.map_unit_bytes) left without data in superblocks that closed early (`ftl.reclaim_unit`).

    Absent where the run does not have it. Unit: count.
    """
    slc_erases: int
    """Erases of blocks in SLC mode (`slc`). Absent where the run does not have it. Unit: count."""
    slc_reads: int
    """Flash reads of the host from blocks in SLC mode (`slc`). Absent where the run does not have it. Unit: count."""
    slc_writes: int
    """Mapping units of the host written to blocks in SLC mode (`slc`). Absent where the run does not have it. Unit: count."""
    space_folds: int
    """GC jobs that folded a block in SLC mode since its pool needed a free block (`slc.dynamic_blocks`).

    Absent where the run does not have it. Unit: count.
    """
    steps_forgone: int
    """Steps that host operations would have let begin, if an active GC job of the die had had more steps left (`gc.advance`).

    Absent where the run does not have it. Unit: count.
    """
    steps_in_turn: int
    """Steps of GC jobs that went before a waiting host operation, as it was their turn (`gc.advance = "in-turns"`).

    Absent where the run does not have it. Unit: count.
    """
    steps_with_requests: int
    """Steps of GC jobs that a host operation let begin (`gc.advance`). Absent where the run does not have it. Unit: count."""
    steps_without_requests: int
    """Steps of GC jobs without a host operation (`gc.advance`): none could begin, GC ran to completion, or the drive was idle.

    Absent where the run does not have it. Unit: count.
    """
    superblocks_collected: int
    """Superblocks of several pools whose collection began (`ftl.reclaim_unit`). Absent where the run does not have it. Unit: count."""
    superblocks_opened: int
    """Superblocks of several pools taken to be filled (`ftl.reclaim_unit`). Absent where the run does not have it. Unit: count."""
    suspended_erases: int
    """Suspensions of erases for reads (`scheduler.suspend`). Absent where the run does not have it. Unit: count."""
    suspended_programs: int
    """Suspensions of programs for reads (`scheduler.suspend`). Absent where the run does not have it. Unit: count."""
    trimmed_pages: int
    """Pages unmapped by trims. Absent where the run does not have it. Unit: count."""
    uncorrectable_moves: int
    """Flash reads of page moves whose data were lost: they are moved as they are (`errors.retry`).

    Absent where the run does not have it. Unit: count.
    """
    uncorrectable_reads: int
    """Flash reads of the host whose data were lost (`errors.retry`). Absent where the run does not have it. Unit: count."""
    unmapped_reads: int
    """Reads of pages that held no data. Absent where the run does not have it. Unit: count."""
    victim_choices: int
    """Victims that a user-defined policy was asked for. Absent where the run does not have it. Unit: count."""
    victim_fallbacks: int
    """Victims that the greedy policy chose because the configured policy named no block, or one that cannot be collected.

    Absent where the run does not have it. Unit: count.
    """
    write_passes: int
    """Queued writes that a later write bypassed (`scheduler.write_bypass`). Absent where the run does not have it. Unit: count."""
    write_pauses: int
    """Pauses of host programs for reads (`scheduler.write_pausing`). Absent where the run does not have it. Unit: count."""


class Precondition(Section):
    """`precondition` of a result. Report on the preparation of the drive before the run. Absent without one."""

    kind: str
    """Kind of the preparation, as configured; `state` for a saved state."""
    pages_mapped: int
    """Number of logical pages with data at the start of the run. Unit: count."""
    valid_share: float
    """`pages_mapped` as a share of the exported pages. Unit: share."""
    pages_overwritten: int
    """Number of pages overwritten at random without simulated time. Unit: count."""
    write_amplification: float
    """Write amplification in the last window of overwriting.

    It writes whole mapping units, so that the ratios of bytes and of units are equal, and leaves the mapping table as it is. Absent without
    overwriting, or if the overwriting runs no GC (`soft`). Unit: ratio.
    """
    steady: bool
    """Overwriting ended because write amplification was steady; if not, it reached its limit. Absent unless the kind is `steady`."""
    settled: bool
    """The timed end of the preparation (`ftl.precondition.settle`) ended because write amplification had settled.

    If not, it reached its limit, or the drive was overloaded. Absent without a timed end, and if the host wrote nothing.
    """
    settled_write_amplification: float
    """Write amplification in mapping units, as `gc.page_write_amplification`, in the last drive write of the timed end (in all of it, if
    that wrote less), or in the last round of the trace. Absent without host writes there. Unit: ratio.
    """
    timed_requests: int
    """Number of requests of the timed end, or of all rounds of the trace. Absent without both. Unit: count."""
    timed_drive_writes: float
    """Mapping units programmed for the host in the timed end, or in all rounds of the trace, as a multiple of the units that the host can
    address. Absent without both. Unit: ratio.
    """
    free_blocks_min: int
    """Minimum of the free blocks over pools at the start of the run, write frontiers excluded. Unit: count."""
    free_blocks_max: int
    """Maximum of the free blocks over pools at the start of the run, write frontiers excluded. Unit: count."""
    soft_blocks: int
    """Soft threshold T_soft of a pool in blocks. Unit: count."""


class Timeline(Section):
    """`timeline` of a result. Extent of the timeline that was written. Absent unless requested."""

    file: str
    """Path of the timeline file, as given."""
    slices: int
    """Number of slices in the timeline. Unit: count."""
    from_ns: int
    """Simulated time from which the timeline is complete. Unit: ns."""
    to: int
    """Simulated time up to which the timeline is complete. Unit: ns."""
    to_ns: int
    """Simulated time up to which the timeline is complete. Unit: ns."""
    full: bool
    """The timeline ends before the run because the limit of slices was reached."""


class Blocks(Section):
    """`blocks` of a result. Extent of the recorded states of blocks. Absent unless requested."""

    file: str
    """Path of the file, as given."""
    instants: int
    """Number of instants at which the states were recorded: the start of the run, each full interval, and the end. Unit: count."""
    interval: int
    """Simulated time between two instants, except before the last one. Unit: ns."""
    interval_ns: int
    """Simulated time between two instants, except before the last one. Unit: ns."""
    end: int
    """Simulated time of the last instant, the end of the run. Unit: ns."""
    end_ns: int
    """Simulated time of the last instant, the end of the run. Unit: ns."""
    thinned: bool
    """The interval is longer than a bin of the series because the limit of changes was reached."""


class Late(Section):
    """`late` of a result.

    For a drive that was served to programs: delay of its answers beyond the times at which they were due. Absent otherwise.
    """

    scale: float
    """Factor by which the drive was slower than real time."""
    count: int
    """Number of answers that came more than 100 us after they were due. Unit: count."""
    mean: float
    """Mean delay of all answers, in real time. Unit: ns."""
    max: int
    """Longest delay of an answer, in real time. Unit: ns."""


class PowerCut(Section):
    """`power_cut` of a result.

    For a drive that was served to programs and whose power failed: effects of the power failure. Absent otherwise.
    """

    at: int
    """Simulated time of the power failure. Unit: ns."""
    at_ns: int
    """Simulated time of the power failure. Unit: ns."""
    unanswered: int
    """Number of requests that had arrived and had no answer. Unit: count."""
    lost_writes: int
    """Number of completed writes of which a volatile cache or write buffer held data that are lost. Unit: count."""
    lost_bytes: int
    """Bytes of the mapping units whose data are those from before a lost write. Unit: B."""


class FlowAlone(Section):
    """`flows[].alone` of a result. Comparison with a run of the same requests without the other flows. Absent unless requested."""

    mean: float
    """Mean response time of the flow's reads and writes without the other flows. Unit: ns."""
    mean_ns: float
    """Mean response time of the flow's reads and writes without the other flows. Unit: ns."""
    slowdown: float
    """Slowdown of the flow by the others: its mean response time beside them over that without them.

    Absent if the latter is 0. Unit: ratio.
    """


class Flow(Section):
    """`flows[]` of a result. Statistics of one of several flows of requests."""

    _parts: ClassVar[abc.Mapping[str, type[Section]]] = {
        "requests": Requests,
        "latency_ns": Latency,
        "breakdown_ns": Breakdown,
        "bandwidth_mb_s": Bandwidth,
        "alone": FlowAlone,
    }

    name: str
    """Name of the flow (`workload.flows`)."""
    requests: Requests
    """Number of completed requests of the flow, by kind."""
    warm_up_requests: int
    """Number of requests of the flow that arrived in the warm-up. Absent if there are none. Unit: count."""
    began: int
    """Arrival of the flow's first measured request. Absent without one. Unit: ns."""
    began_ns: int
    """Arrival of the flow's first measured request. Absent without one. Unit: ns."""
    ended: int
    """Completion of the flow's last measured request. Absent without one. Unit: ns."""
    ended_ns: int
    """Completion of the flow's last measured request. Absent without one. Unit: ns."""
    latency: Latency
    """Response times of the flow's requests, by class. Unit: ns."""
    latency_ns: Latency
    """Response times of the flow's requests, by class. Unit: ns."""
    breakdown: Breakdown
    """Mean parts of the response times of the flow's requests, by class. Unit: ns."""
    breakdown_ns: Breakdown
    """Mean parts of the response times of the flow's requests, by class. Unit: ns."""
    iops: float
    """Reads and writes of the flow completed per second of simulated time, without the time and the requests of a warm-up.

    Absent where the run does not have it. Unit: 1/s.
    """
    bandwidth_mb_s: Bandwidth
    """Bytes that the flow requested per second of simulated time, without the time and the requests of a warm-up.

    Absent where the run does not have it.
    """
    alone: FlowAlone
    """Comparison with a run of the same requests without the other flows. Absent unless requested."""


class RunStatistics(Section):
    """The result of a run."""

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
        "energy": Energy,
        "wear": Wear,
        "ages": Ages,
        "slc": Slc,
        "lifetime": Lifetime,
        "flash": Flash,
        "bytes_written": BytesWritten,
        "array": Array,
        "utilisation": Utilisation,
        "series": Series,
        "histograms": Histograms,
        "counters": Counters,
        "precondition": Precondition,
        "timeline": Timeline,
        "blocks": Blocks,
        "late": Late,
        "power_cut": PowerCut,
        "flows": Flow,
    }

    version: str
    """Version of ssdlab that made this result."""
    config: UntypedSection
    """The effective configuration of the run, complete."""
    idle_keys: list[dict[str, str]]
    """Keys without effect in this configuration: those that the scheme chooses, and all in the user's own files (device, scheme, workload,
    configuration) or set by `--set`. Keys of a device or workload that comes with ssdlab are not listed. Absent where the run does not
    have it.
    """
    seed: int
    """Seed of all random streams."""
    digest: str
    """BLAKE3 over the response times in ns (eight bytes each, least significant first) in order of arrival.

    With equal digests every request has the same response time. Unit: hexadecimal.
    """
    order_source: str
    """BLAKE3 over the source of a user-defined order of operations (`config.scheduler.order` is `custom, else` the configured order).

    Absent otherwise. Unit: hexadecimal.
    """
    placement_source: str
    """BLAKE3 over the source of a user-defined placement policy (`config.ftl.placement` is `custom`).

    Absent otherwise. Unit: hexadecimal.
    """
    warm_up: WarmUp
    """The warm-up: the first part of the run, simulated but left out of the statistics.

    Absent without one. `digest`, `series`, `workload`, `simulated_ns` and the times on this machine cover the whole run; `wear` and
    `cache.dirty_pages` hold at its end.
    """
    latency: Latency
    """Response times (completion minus arrival) by class. Trims and flushes are in no class. Unit: ns."""
    latency_ns: Latency
    """Response times (completion minus arrival) by class. Trims and flushes are in no class. Unit: ns."""
    percentile_error: float
    """Bound on the relative error of p50 to p99_99: each is at least the exact nearest-rank percentile, and exceeds it by at most this
    share. Count, mean, deviation, minimum and maximum are exact. Unit: share.
    """
    breakdown: Breakdown
    """Mean parts of the response time by class; the parts add up to the mean response time. Unit: ns."""
    breakdown_ns: Breakdown
    """Mean parts of the response time by class; the parts add up to the mean response time. Unit: ns."""
    iops: float
    """Reads and writes completed per second of simulated time, without the time and the requests of a warm-up.

    Absent where the run does not have it. Unit: 1/s.
    """
    bandwidth_mb_s: Bandwidth
    """Bytes requested per second of simulated time, without the time and the requests of a warm-up.

    Absent where the run does not have it.
    """
    flows: list[Flow]
    """Statistics of each flow. Absent for a single flow."""
    fairness: Fairness
    """Fairness: how evenly the flows slow each other down. Absent unless requested."""
    write_stall_ns_max: int
    """The longest time during which writes were outstanding and none completed. Absent without writes. Unit: ns."""
    gc: Gc
    """Garbage collection during the run."""
    slack: Slack
    """Slack of page operations, and its estimates. Absent where the run does not have it."""
    cache: Cache
    """Statistics of the cache, summed over the drives of an array. Absent without a cache."""
    buffer: Buffer
    """Statistics of the write buffer, summed over the drives of an array. Absent without a write buffer."""
    mapping: Mapping
    """Statistics of the mapping table, if part of it is in flash only (`ftl.map_cache_bytes`), summed over the drives of an array.

    Absent if all of it is in memory.
    """
    streams: list[dict[str, float | int | str]]
    """Streams of data placement (`ftl.placement`), those of the host first, then those of page moves. Absent without a placement policy."""
    interface: Interface
    """Statistics of the host interface, over the drives of an array together. Absent if it takes no time and has no limits."""
    energy: Energy
    """Energy of all drives, by part. Absent unless asked for (`energy`)."""
    wear: Wear
    """Erases of each block since it was new, preconditioning included. Absent where the run does not have it."""
    ages: Ages
    """Retries of flash reads, and how old blocks are (`errors.retry`), over the drives of an array together.

    Absent if reads have no errors.
    """
    slc: Slc
    """The cache of blocks in SLC mode (`slc`), over the drives of an array together. Absent without one."""
    lifetime: Lifetime
    """The life of the drive (`wear`): blocks that have failed, and the bytes that it can take. Absent if no block can fail."""
    flash: Flash
    """Flash operations during the run."""
    bytes_written: BytesWritten
    """Bytes written in the measured part of the run: by the host, above caches and arrays, and to the flash of all drives."""
    array: Array
    """Statistics of the array of drives. Absent for a single drive."""
    utilisation: Utilisation
    """Utilisation of chips and channels. Absent for a run of no duration."""
    series: Series
    """Time series of the run, in bins. Absent unless recorded."""
    histograms: Histograms
    """Histograms of the response times, by kind of request. Absent unless requested."""
    counters: Counters
    """Counters of the drive's mechanisms, by name. Absent where the run does not have it."""
    precondition: Precondition
    """Report on the preparation of the drive before the run. Absent without one."""
    timeline: Timeline
    """Extent of the timeline that was written. Absent unless requested."""
    blocks: Blocks
    """Extent of the recorded states of blocks. Absent unless requested."""
    workload: UntypedSection
    """Properties of the workload: for example lines of the trace, requests clipped or wrapped. Absent where the run does not have it."""
    simulated: int
    """Simulated time from the start of the run to its end, the warm-up included. Unit: ns."""
    simulated_ns: int
    """Simulated time from the start of the run to its end, the warm-up included. Unit: ns."""
    late: Late
    """For a drive that was served to programs: delay of its answers beyond the times at which they were due. Absent otherwise."""
    power_cut: PowerCut
    """For a drive that was served to programs and whose power failed: effects of the power failure. Absent otherwise."""
    prepare_s: float
    """Wall-clock time to prepare the drive (preconditioning, or reading a saved state). Unit: s."""
    wall_s: float
    """Wall-clock time of the simulation, after the preparation. Unit: s."""
    requests_per_s: float
    """Simulation speed: requests completed per second of wall-clock time, those of the warm-up included.

    Absent for a run too short to time. Unit: 1/s.
    """
