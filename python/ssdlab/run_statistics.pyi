# Written by .venv/bin/python tools/statistics_classes.py from the core's schema. Do not change it by hand.

from ssdlab.section import Section, UntypedSection

class Ages(Section):
    reads: int
    retried: int
    uncorrectable: int
    retries_mean: float
    by_retries: list[int]
    cycles: AgesCyclesDaysReadsOfBlockBitErrorRate
    days: AgesCyclesDaysReadsOfBlockBitErrorRate
    reads_of_block: AgesCyclesDaysReadsOfBlockBitErrorRate
    bit_error_rate: AgesCyclesDaysReadsOfBlockBitErrorRate

class AgesCyclesDaysReadsOfBlockBitErrorRate(Section):
    min: float
    mean: float
    max: float

class Array(Section):
    level: str
    drives: int
    read_modify_writes: int
    reconstruct_writes: int
    full_writes: int
    update_reads: int
    parity_writes: int
    degraded_reads: int
    refused_reads: int
    rebuilt_pages: int
    shortest_waits: int
    row_waits: int

class Bandwidth(Section):
    read: float
    write: float

class Blocks(Section):
    file: str
    instants: int
    interval: int
    interval_ns: int
    end: int
    end_ns: int
    thinned: bool

class Breakdown(Section):
    all: BreakdownClass
    read: BreakdownClass
    write: BreakdownClass
    flush: BreakdownClass

class BreakdownClass(Section):
    host_queue: float
    die_queue: float
    gc: float
    bus_queue: float
    transfer: float
    array: float
    suspended: float
    dram: float
    controller: float
    link: float
    mapping: float
    pace: float
    power: float
    retry: float
    decode: float

class Buffer(Section):
    capacity: int
    units: int
    rewrites: int
    trimmed: int
    read_hits: int
    full_waits: int
    memory_waits: int
    fills: int
    programs: int
    part_programs: int
    timeouts: int
    held: int

class BytesWritten(Section):
    host: int
    flash: int
    data: int
    gc: int
    mapping: int
    padding: int
    parity: int
    held: int

class Cache(Section):
    policy_source: str
    policy_fallbacks: int
    capacity_pages: int
    lookups: int
    read_hits: int
    write_hits: int
    hit_ratio: float
    delayed_hits: int
    evictions: int
    destages: int
    idle_destages: int
    padded_pages: int
    dirty_pages: int
    gc_skips: int
    gc_fallbacks: int
    gc_bypasses: int
    spread_groups: int
    response: CacheResponse
    response_ns: CacheResponse

class CacheResponse(Section):
    no_gc: CacheResponseClass
    gc: CacheResponseClass

class CacheResponseClass(Section):
    count: int
    mean: float
    max: int

class Counters(Section):
    buffer_reads: int
    bus_lines: int
    carried_units: int
    copybacks: int
    data_first: int
    direct_writes: int
    discarded_moves: int
    displaced_moves: int
    empty_jobs: int
    empty_moves: int
    episode_jobs: int
    erase_pulses: int
    failed_erases: int
    failed_programs: int
    folded_pages: int
    folds: int
    full_fold_moves: int
    full_folds: int
    host_first_between_jobs: int
    host_queue_waits: int
    idle_fold_moves: int
    idle_folds: int
    idle_jobs: int
    idle_moves: int
    idle_pauses: int
    job_turns: int
    jobs_set_off: int
    leveling_jobs: int
    leveling_moves: int
    lost_units: int
    misaligned_reads: int
    moves_put_aside: int
    multiplane_operations: int
    multiplane_programs: int
    order_choices: int
    order_fallbacks: int
    outside_window: int
    overlapped_operations: int
    paced_writes: int
    padded_units: int
    page_order_waits: int
    parity_programs: int
    partial_reads: int
    pause_reads: int
    place_waits: int
    plane_by_plane: int
    planes_together: int
    power_waits: int
    programs_dealt_again: int
    read_commands: int
    read_passes: int
    reads_along: int
    reads_between_planes: int
    reads_while_suspended: int
    reclaim_jobs: int
    reclaim_moves: int
    redirected_writes: int
    refresh_jobs: int
    refresh_moves: int
    rejected_writes: int
    relocated_reads: int
    reordered_moves: int
    replaced_blocks: int
    rerouted_writes: int
    retired_by_endurance: int
    retired_by_erase: int
    retired_by_program: int
    retirement_jobs: int
    retirement_moves: int
    retried_reads: int
    retry_steps: int
    rmw_reads: int
    s3_entries: int
    shortened_erases: int
    skipped_units: int
    slc_erases: int
    slc_map_writes: int
    slc_padded_units: int
    slc_reads: int
    slc_writes: int
    space_fold_moves: int
    space_folds: int
    space_jobs: int
    space_moves: int
    steps_forgone: int
    steps_in_turn: int
    steps_owed: int
    steps_with_requests: int
    steps_without_requests: int
    superblocks_collected: int
    superblocks_opened: int
    suspended_erases: int
    suspended_programs: int
    trimmed_pages: int
    uncorrectable_moves: int
    uncorrectable_reads: int
    unmapped_reads: int
    victim_choices: int
    victim_fallbacks: int
    write_passes: int
    write_pauses: int
    writes_dealt_again: int
    zone_appends: int
    zone_closes: int
    zone_errors: int
    zone_finishes: int
    zone_padded_units: int
    zone_resets: int
    zone_skipped_units: int
    zone_waits: int

class Energy(Section):
    read_j: float
    program_j: float
    erase_j: float
    bus_j: float
    dram_j: float
    link_j: float
    controller_j: float
    idle_j: float
    total_j: float
    gc_array_j: float
    mean_w: float
    nj_per_byte: float

class Fairness(Section):
    worst_slowdown: float
    worst: str
    ratio: float

class Flash(Section):
    reads: int
    programs: int
    host_programs: int
    gc_programs: int
    erases: int

class Flow(Section):
    name: str
    requests: Requests
    warm_up_requests: int
    began: int
    began_ns: int
    ended: int
    ended_ns: int
    latency: Latency
    latency_ns: Latency
    breakdown: Breakdown
    breakdown_ns: Breakdown
    iops: float
    bandwidth_mb_s: Bandwidth
    alone: FlowAlone

class FlowAlone(Section):
    mean: float
    mean_ns: float
    slowdown: float

class Gc(Section):
    victim_source: str
    jobs: int
    pages_moved: int
    stale_moves: int
    erases: int
    write_amplification: float
    page_write_amplification: float
    merged: GcMergedPipelined
    pipelined: GcMergedPipelined
    preemptions: int
    suspensions: int
    state: GcState
    state_ns: GcState
    free_blocks_min: int
    duration: GcDuration
    duration_ns: GcDuration
    time_share: float

class GcDuration(Section):
    mean: float
    max: int

class GcMergedPipelined(Section):
    read: int
    write: int
    read_share: float
    write_share: float

class GcState(Section):
    s0: int
    s1: int
    s2: int
    s3: int

class Histograms(Section):
    read: HistogramsClass
    write: HistogramsClass

class HistogramsClass(Section):
    upper: list[int]
    upper_ns: list[int]
    count: list[int]

class Interface(Section):
    commands: int
    slot_waits: int
    queue_full_waits: int
    passing_commands: int
    order_waits: int
    core_waits: int
    link_waits: int
    held_commands: int
    rate_waits: int
    cores: float
    link_in: float
    link_out: float

class Late(Section):
    scale: float
    count: int
    mean: float
    max: int

class Latency(Section):
    all: LatencyClass
    read: LatencyClass
    write: LatencyClass
    seq_read: LatencyClass
    rand_read: LatencyClass
    flush: LatencyClass

class LatencyClass(Section):
    count: int
    mean: float
    std: float
    variance: float
    cv: float
    min: int
    p50: int
    p90: int
    p95: int
    p99: int
    p99_9: int
    p99_99: int
    max: int

class Lifetime(Section):
    retired_blocks: int
    worn_out: int
    failed_erases: int
    failed_programs: int
    spare_left: int
    read_only: int
    read_only_ns: int
    read_only_cause: str
    read_only_pool: int
    written_bytes: int
    one_percent_bytes: int
    erase_wear: float
    wear_amplification: float
    tbw: float
    dwpd: float
    years: float

class Mapping(Section):
    pages: int
    capacity: int
    hits: int
    delayed_hits: int
    misses: int
    hit_ratio: float
    unread: int
    full_waits: int
    order_waits: int
    write_backs: int
    moves_cached: int
    moves_gathered: int
    updates: int
    flash_reads: int
    flash_programs: int
    pages_moved: int
    cached: int
    dirty: int
    pending: int

class PowerCut(Section):
    at: int
    at_ns: int
    unanswered: int
    lost_writes: int
    lost_bytes: int

class Precondition(Section):
    kind: str
    pages_mapped: int
    valid_share: float
    pages_overwritten: int
    write_amplification: float
    steady: bool
    settled: bool
    settled_write_amplification: float
    timed_requests: int
    timed_drive_writes: float
    free_blocks_min: int
    free_blocks_max: int
    soft_blocks: int

class Requests(Section):
    read: int
    write: int
    trim: int
    flush: int
    zone: int

class RunStatistics(Section):
    version: str
    config: UntypedSection
    idle_keys: list[dict[str, str]]
    seed: int
    digest: str
    order_source: str
    placement_source: str
    warm_up: WarmUp
    latency: Latency
    latency_ns: Latency
    percentile_error: float
    breakdown: Breakdown
    breakdown_ns: Breakdown
    iops: float
    bandwidth_mb_s: Bandwidth
    flows: list[Flow]
    fairness: Fairness
    write_stall_ns_max: int
    gc: Gc
    slack: Slack
    cache: Cache
    buffer: Buffer
    mapping: Mapping
    streams: list[dict[str, float | int | str]]
    interface: Interface
    energy: Energy
    wear: Wear
    ages: Ages
    slc: Slc
    lifetime: Lifetime
    flash: Flash
    bytes_written: BytesWritten
    array: Array
    utilisation: Utilisation
    series: Series
    histograms: Histograms
    counters: Counters
    precondition: Precondition
    timeline: Timeline
    blocks: Blocks
    workload: UntypedSection
    simulated: int
    simulated_ns: int
    late: Late
    power_cut: PowerCut
    prepare_s: float
    prepared_earlier: bool
    wall_s: float
    requests_per_s: float

class Series(Section):
    bin: int
    bin_ns: int
    bins: int
    warm_up: int
    warm_up_ns: int
    latency: SeriesLatency
    latency_ns: SeriesLatency
    outstanding: SeriesOutstanding
    gc: SeriesGc
    written: SeriesWritten
    free_blocks: SeriesFreeBlocks
    states: SeriesStates
    bus: list[float]
    dies: list[float]
    power: list[float]
    cache: SeriesCache
    slc: SeriesSlc
    streams: list[dict[str, int | list[int] | str]]

class SeriesCache(Section):
    hits: list[int]
    lookups: list[int]
    dirty: list[int]

class SeriesFreeBlocks(Section):
    min: list[int]
    mean: list[float]
    soft: int
    hard: int

class SeriesGc(Section):
    chips: list[list[float]]
    chips_per_row: int
    jobs: list[int]
    pages_moved: list[int]

class SeriesLatency(Section):
    read: SeriesLatencyClass
    write: SeriesLatencyClass

class SeriesLatencyClass(Section):
    count: list[int]
    mean: list[float]
    max: list[int]

class SeriesOutstanding(Section):
    mean: list[float]
    max: list[int]

class SeriesSlc(Section):
    cached_bytes: list[int]
    direct_bytes: list[int]
    folded_bytes: list[int]

class SeriesStates(Section):
    s0: list[float]
    s1: list[float]
    s2: list[float]
    s3: list[float]

class SeriesWritten(Section):
    host_bytes: list[int]
    flash_bytes: list[int]

class Slack(Section):
    read: SlackReadWrite
    write: SlackReadWrite
    estimation_error: float
    estimation_bias: float
    passed: SlackPassed
    paused: SlackPaused
    chips: SlackChips
    waiting: SlackWaiting

class SlackChips(Section):
    read: float
    write: float

class SlackPassed(Section):
    read: float
    write: float

class SlackPaused(Section):
    read: float
    write: float

class SlackReadWrite(Section):
    mean: float
    mean_ns: float
    std: float
    std_ns: float

class SlackWaiting(Section):
    mean: float
    longest: float
    shortest: float

class Slc(Section):
    static_blocks: int
    dynamic_blocks: int
    capacity_bytes: int
    written_bytes: int
    direct_bytes: int
    cached_share: float
    folded_bytes: int
    folds: int
    blocks_in_use: int
    held_bytes: int
    static_wear: Wear
    other_wear: Wear

class Timeline(Section):
    file: str
    slices: int
    from_ns: int
    to: int
    to_ns: int
    full: bool

class Utilisation(Section):
    chips: list[float]
    channels: list[float]

class WarmUp(Section):
    requests: int
    ns: int

class Wear(Section):
    mean: float
    std: float
    max: int
    histogram: WearHistogram

class WearHistogram(Section):
    least: int
    width: int
    blocks: list[int]
