//! Input of [`super::RunResult::assemble`]: plain integers, counted from the start of the run, so that preconditioning is
//! excluded.

use std::collections::BTreeMap;

use serde_json::Value;

use super::ages::AgeStats;
use super::array::ArrayResult;
use super::buffer::BufferStats;
use super::cache::CacheStats;
use super::flash::FlashResult;
use super::interface::InterfaceStats;
use super::mapping::MappingStats;
use super::preparation::PreconditionReport;
use super::result::WarmUpResult;
use super::series::{Histograms, SeriesResult};
use super::slack::SlackStats;
use super::slc::SlcStats;
use super::streams::Streams;
use super::wear::{EraseWear, Rating, WearStats};
use ssdlab_base::units::Ns;
use ssdlab_keys::energy::{Drawn, EnergyRates};
use ssdlab_keys::power_states::PowerStateStats;
use ssdlab_keys::thermal::ThermalStats;

/// Configuration, preparation and duration of a run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The effective configuration.
    pub config: Value,
    /// The hash of the source of a user-defined victim policy, if one was used.
    pub victim_source: Option<String>,
    /// The hash of the source of a user-defined eviction policy, if one was used.
    pub eviction_source: Option<String>,
    /// The hash of the source of a user-defined order of operations, if one was used.
    pub order_source: Option<String>,
    /// The hash of the source of a user-defined placement policy, if one was used.
    pub placement_source: Option<String>,
    /// The seed of all random streams.
    pub seed: u64,
    /// The report of the workload on itself; null without a report.
    pub workload: Value,
    /// The preparation of the drive, if it was prepared.
    pub precondition: Option<PreconditionReport>,
    /// The warm-up that statistics leave out, if there was one.
    pub warm_up: Option<WarmUpResult>,
    /// What ratings follow from; `None` without rated erases.
    pub rating: Option<Rating>,
    /// The run over time, if requested.
    pub series: Option<SeriesResult>,
    /// The distribution of response times, if requested.
    pub histograms: Option<Histograms>,
    /// The longest time during which writes were outstanding and none completed; `None` without writes.
    pub write_stall_ns_max: Option<Ns>,
    /// Simulated time from the start of the run to its end.
    pub simulated_ns: Ns,
    /// Wall-clock time of preparing the drive in seconds.
    pub prepare_s: f64,
    /// The drives were not prepared: an earlier run had done so.
    pub prepared_earlier: bool,
    /// Wall-clock time of the simulation in seconds.
    pub wall_s: f64,
}

/// Counts and times of the drives during the run.
#[derive(Clone, Debug, Default)]
pub struct DeviceStats {
    /// Number of block pools of the drive, for shares of time.
    pub pools: u64,
    /// Size of a mapping unit, bytes; the pages counted in this record are mapping units.
    pub unit_bytes: u64,
    /// Number of units held by write buffers and caches for the flash when the measured part of the run began.
    pub held_before: u64,
    /// Pages programmed for host writes.
    pub host_programs: u64,
    /// Pages programmed for page moves.
    pub gc_programs: u64,
    /// Units of padding in programs of host and GC.
    pub padded_units: u64,
    /// Units programmed as parity.
    pub parity_units: u64,
    /// Flash page reads of host, mapping table and GC.
    pub reads: u64,
    /// Block erases.
    pub erases: u64,
    /// GC jobs completed.
    pub jobs: u64,
    /// Pages that GC jobs moved.
    pub pages_moved: u64,
    /// Page moves that were stale when their program ended.
    pub stale_moves: u64,
    /// Sum over completed GC jobs of the time from start to the end of the erase, ns.
    pub job_ns_sum: u128,
    /// The longest time of a completed GC job from start to the end of the erase, ns.
    pub job_ns_max: Ns,
    /// Host reads (`[0]`) and writes (`[1]`) merged with page moves.
    pub merged: [u64; 2],
    /// Host reads (`[0]`) and writes (`[1]`) whose transfer overlapped the array time of a page move.
    pub pipelined: [u64; 2],
    /// Host reads and writes of pages: flash operations, and operations merged with page moves.
    pub host_operations: u64,
    /// Host operations that began while a GC job on their die could have continued.
    pub preemptions: u64,
    /// GC operations suspended in the array.
    pub suspensions: u64,
    /// Time in the states S0 to S3, summed over pools, ns.
    pub state_ns: [u128; 4],
    /// The fewest free blocks that any pool had.
    pub free_blocks_min: u32,
    /// Time with an active GC job, summed over pools, ns.
    pub gc_active_pool_ns: u128,
    /// By chip: time in which it was busy, ns. If its dies work in parallel: the mean over its dies, rounded down.
    pub chip_busy_ns: Vec<Ns>,
    /// By channel: time in which its bus was transferring, ns.
    pub channel_busy_ns: Vec<Ns>,
    /// Statistics of the cache; `None` without a cache.
    pub cache: Option<CacheStats>,
    /// Statistics of the write buffer; `None` without a write buffer.
    pub buffer: Option<BufferStats>,
    /// Statistics of the mapping cache; `None` without one.
    pub mapping: Option<MappingStats>,
    /// Statistics of the host interface; `None` if it takes no time and has no limits.
    pub interface: Option<InterfaceStats>,
    /// Counts of the streams of data placement; none without a policy.
    pub streams: Streams,
    /// Retries, and the age of blocks; `None` if reads have no errors.
    pub ages: Option<AgeStats>,
    /// The cache of blocks in SLC mode; `None` without one.
    pub slc: Option<SlcStats>,
    /// Blocks that fail; `None` if none can. Arrays have no such drives.
    pub wear: Option<WearStats>,
    /// Wear by erases since the start of the run; `None` if all are alike.
    pub erase_wear: Option<EraseWear>,
    /// The slack of completed requests.
    pub slack: SlackStats,
    /// What drew energy, and at which rates; `None` without `energy`.
    pub energy: Option<(EnergyRates, Drawn)>,
    /// Temperatures; `None` without any.
    pub thermal: Option<ThermalStats>,
    /// Power states; `None` without any.
    pub power_states: Option<PowerStateStats>,
    /// Counters of further mechanisms, by name.
    pub counters: BTreeMap<String, u64>,
    /// Statistics of the array; `None` for a single drive.
    pub array: Option<ArrayResult>,
}

impl DeviceStats {
    /// The sum of the statistics of two drives.
    #[must_use]
    pub fn joined(self, other: DeviceStats) -> Self {
        let mut counters = self.counters;
        for (name, count) in other.counters {
            *counters.entry(name).or_default() += count;
        }
        let both = |[a, b]: [u64; 2], [c, d]: [u64; 2]| [a + c, b + d];
        DeviceStats {
            pools: self.pools + other.pools,
            unit_bytes: self.unit_bytes.max(other.unit_bytes),
            streams: self.streams.joined(&other.streams),
            held_before: self.held_before + other.held_before,
            host_programs: self.host_programs + other.host_programs,
            gc_programs: self.gc_programs + other.gc_programs,
            padded_units: self.padded_units + other.padded_units,
            parity_units: self.parity_units + other.parity_units,
            reads: self.reads + other.reads,
            erases: self.erases + other.erases,
            jobs: self.jobs + other.jobs,
            pages_moved: self.pages_moved + other.pages_moved,
            stale_moves: self.stale_moves + other.stale_moves,
            job_ns_sum: self.job_ns_sum + other.job_ns_sum,
            job_ns_max: self.job_ns_max.max(other.job_ns_max),
            merged: both(self.merged, other.merged),
            pipelined: both(self.pipelined, other.pipelined),
            host_operations: self.host_operations + other.host_operations,
            preemptions: self.preemptions + other.preemptions,
            suspensions: self.suspensions + other.suspensions,
            state_ns: std::array::from_fn(|state| self.state_ns[state] + other.state_ns[state]),
            free_blocks_min: self.free_blocks_min.min(other.free_blocks_min),
            gc_active_pool_ns: self.gc_active_pool_ns + other.gc_active_pool_ns,
            chip_busy_ns: [self.chip_busy_ns, other.chip_busy_ns].concat(),
            channel_busy_ns: [self.channel_busy_ns, other.channel_busy_ns].concat(),
            cache: self.cache.into_iter().chain(other.cache).reduce(CacheStats::joined),
            buffer: self.buffer.into_iter().chain(other.buffer).reduce(BufferStats::joined),
            mapping: self.mapping.into_iter().chain(other.mapping).reduce(MappingStats::joined),
            interface: self.interface.into_iter().chain(other.interface).reduce(InterfaceStats::joined),
            slack: self.slack.joined(other.slack),
            energy: self.energy.zip(other.energy).map(|((rates, drawn), (_, other))| (rates, drawn.joined(other))),
            thermal: self.thermal.into_iter().chain(other.thermal).reduce(ThermalStats::joined),
            power_states: self.power_states.into_iter().chain(other.power_states).reduce(PowerStateStats::joined),
            ages: self.ages.into_iter().chain(other.ages).reduce(|one, other| one.joined(&other)),
            slc: self.slc.into_iter().chain(other.slc).reduce(SlcStats::joined),
            wear: self.wear.into_iter().chain(other.wear).reduce(WearStats::joined),
            erase_wear: self.erase_wear.into_iter().chain(other.erase_wear).reduce(EraseWear::joined),
            counters,
            array: self.array.or(other.array),
        }
    }

    /// The counts since `before`, the state of the same drives at the end of the warm-up. Extremes are those since then (the end of a warm-up
    /// resets them), and so is slack (a warm-up records none). `held_before` becomes what `before` held.
    #[must_use]
    pub fn since(self, before: &DeviceStats) -> Self {
        let each = |[a, b]: [u64; 2], [c, d]: [u64; 2]| [a - c, b - d];
        let times = |now: Vec<Ns>, then: &[Ns]| now.into_iter().zip(then).map(|(now, then)| now - then).collect();
        let grown = |(name, count): (String, u64)| {
            let before = before.counters.get(&name).copied().unwrap_or(0);
            (name, count - before)
        };
        DeviceStats {
            held_before: before.held(),
            host_programs: self.host_programs - before.host_programs,
            gc_programs: self.gc_programs - before.gc_programs,
            padded_units: self.padded_units - before.padded_units,
            parity_units: self.parity_units - before.parity_units,
            reads: self.reads - before.reads,
            erases: self.erases - before.erases,
            jobs: self.jobs - before.jobs,
            pages_moved: self.pages_moved - before.pages_moved,
            stale_moves: self.stale_moves - before.stale_moves,
            job_ns_sum: self.job_ns_sum - before.job_ns_sum,
            merged: each(self.merged, before.merged),
            pipelined: each(self.pipelined, before.pipelined),
            host_operations: self.host_operations - before.host_operations,
            preemptions: self.preemptions - before.preemptions,
            suspensions: self.suspensions - before.suspensions,
            state_ns: std::array::from_fn(|state| self.state_ns[state] - before.state_ns[state]),
            gc_active_pool_ns: self.gc_active_pool_ns - before.gc_active_pool_ns,
            chip_busy_ns: times(self.chip_busy_ns, &before.chip_busy_ns),
            channel_busy_ns: times(self.channel_busy_ns, &before.channel_busy_ns),
            cache: self.cache.zip(before.cache).map(|(now, then)| now.since(&then)),
            buffer: self.buffer.zip(before.buffer).map(|(now, then)| now.since(&then)),
            mapping: self.mapping.zip(before.mapping).map(|(now, then)| now.since(&then)),
            interface: self.interface.zip(before.interface).map(|(now, then)| now.since(&then)),
            counters: self.counters.into_iter().map(grown).collect(),
            streams: self.streams.since(&before.streams),
            energy: self.energy.zip(before.energy).map(|((rates, drawn), (_, before))| (rates, drawn.since(before))),
            thermal: self.thermal.zip(before.thermal.as_ref()).map(|(now, then)| now.since(then)),
            power_states: self.power_states.zip(before.power_states.as_ref()).map(|(now, then)| now.since(then)),
            ages: self.ages.zip(before.ages.as_ref()).map(|(now, then)| now.since(then)),
            array: self.array.zip(before.array.as_ref()).map(|(now, then)| now.since(then)),
            ..self
        }
    }

    /// Number of units that write buffers and caches hold now and the flash does not have.
    pub(super) fn held(&self) -> u64 {
        self.buffer.map_or(0, |buffer| buffer.held) + self.cache.map_or(0, |cache| cache.dirty_pages)
    }

    /// Units programmed for the mapping table, page moves excluded.
    pub(super) fn map_programs(&self) -> u64 {
        self.mapping.map_or(0, |mapping| mapping.flash_programs)
    }

    /// The flash operations as they appear in a result.
    pub(super) fn flash(&self) -> FlashResult {
        FlashResult {
            reads: self.reads,
            programs: self.host_programs + self.gc_programs + self.map_programs(),
            host_programs: self.host_programs,
            gc_programs: self.gc_programs,
            erases: self.erases,
        }
    }
}
