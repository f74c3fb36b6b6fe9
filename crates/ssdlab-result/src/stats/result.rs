//! The result of a run: the object that `--json` prints.
//!
//! Each field carries its unit and a sentence, from which the JSON Schema is made ([`schema`]). Values that are not defined in
//! a run (the mean of no reads, a ratio to nothing) are absent: a result has no null, NaN or infinity.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::Value;

use super::ages::{AgeStats, AgesResult};
use super::array::ArrayResult;
use super::buffer::{BufferResult, BufferStats};
use super::cache::CacheResult;
use super::device::{DeviceStats, Run};
use super::energy::EnergyResult;
use super::flash::{FlashResult, Utilisation, Wear};
use super::flow::{Fairness, FlowResult};
use super::gc::GcResult;
use super::interface::InterfaceResult;
use super::late::LateResult;
use super::mapping::{MappingResult, MappingStats};
use super::power_states::PowerStatesResult;
use super::preparation::PreconditionReport;
use super::recorder::Recorded;
use super::series::{Histograms, SeriesResult};
use super::slack::SlackResult;
use super::slc::SlcResult;
use super::streams::StreamResult;
use super::thermal::ThermalResult;
use super::wear::LifetimeResult;
use super::written::BytesWritten;
use crate::distribution::{PERCENTILE_ERROR, Summary};
use ssdlab_base::units::Ns;
use ssdlab_base::version::version;
use ssdlab_keys::config::IdleKey;
use ssdlab_keys::remark::Remark;

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunResult {
    /// Version of ssdlab that made this result, and after a `+` the commit that it was built from, `.dirty` if sources were changed.
    #[schemars(extend("unit" = "text"))]
    pub version: String,
    /// The effective configuration of the run, complete.
    #[schemars(extend("unit" = "object"))]
    pub config: Value,
    /// Keys without effect in this configuration: those that the scheme chooses, and all in the user's own files (device, scheme, workload,
    /// configuration) or set by `--set`. Keys of a device or workload that comes with ssdlab are not listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("unit" = "key and needs"))]
    pub idle_keys: Vec<IdleKey>,
    /// Remarks on the numbers: which of them hold only under a condition, and which keys had no effect. See the codes under Remarks. Empty
    /// without any; absent in results of version 1.0.
    #[serde(default)]
    #[schemars(extend("unit" = "remark"))]
    pub remarks: Vec<Remark>,
    /// Seed of all random streams.
    #[schemars(extend("unit" = "number"))]
    pub seed: u64,
    /// BLAKE3 over the response times in ns (eight bytes each, least significant first) in order of arrival. With equal digests every
    /// request has the same response time.
    #[schemars(extend("unit" = "hexadecimal"))]
    pub digest: String,
    /// BLAKE3 over the source of a user-defined order of operations (`config.scheduler.order` is `custom, else` the configured order). Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "hexadecimal"))]
    pub order_source: Option<String>,
    /// BLAKE3 over the source of a user-defined placement policy (`config.ftl.placement` is `custom`). Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "hexadecimal"))]
    pub placement_source: Option<String>,
    /// The warm-up: the first part of the run, simulated but left out of the statistics. Absent without one. `digest`, `series`,
    /// `workload`, `simulated_ns` and the times on this machine cover the whole run; `wear` and `cache.dirty_pages` hold at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<WarmUpResult>,
    /// Number of completed requests by kind.
    pub requests: RequestCounts,
    /// Response times (completion minus arrival) by class. Trims are in no class.
    pub latency_ns: Latencies,
    /// Bound on the relative error of p50 to p99_99: each is at least the exact nearest-rank percentile, and exceeds it by at most this
    /// share. Count, mean, deviation, minimum and maximum are exact.
    #[schemars(extend("unit" = "share"))]
    pub percentile_error: f64,
    /// Mean parts of the response time by class; the parts add up to the mean response time.
    pub breakdown_ns: Breakdowns,
    /// Reads and writes completed per second of simulated time, without the time and the requests of a warm-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "1/s"))]
    pub iops: Option<f64>,
    /// Bytes requested per second of simulated time, without the time and the requests of a warm-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth_mb_s: Option<Bandwidth>,
    /// Statistics of each flow. Absent for a single flow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("unit" = "list"))]
    pub flows: Vec<FlowResult>,
    /// Fairness: how evenly the flows slow each other down. Absent unless requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fairness: Option<Fairness>,
    /// The longest time during which writes were outstanding and none completed. Absent without writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "ns"))]
    pub write_stall_ns_max: Option<Ns>,
    /// Garbage collection during the run.
    pub gc: GcResult,
    /// Slack of page operations, and its estimates.
    #[serde(default, skip_serializing_if = "SlackResult::is_empty")]
    pub slack: SlackResult,
    /// Statistics of the cache, summed over the drives of an array. Absent without a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheResult>,
    /// Statistics of the write buffer, summed over the drives of an array. Absent without a write buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferResult>,
    /// Statistics of the mapping table, if part of it is in flash only (`ftl.map_cache_bytes`), summed over the drives of an array. Absent
    /// if all of it is in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<MappingResult>,
    /// Streams of data placement (`ftl.placement`), those of the host first, then those of page moves. Absent without a placement policy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("unit" = "list"))]
    pub streams: Vec<StreamResult>,
    /// Statistics of the host interface, over the drives of an array together. Absent if it takes no time and has no limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<InterfaceResult>,
    /// Energy of all drives, by part. Absent unless asked for (`energy`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<EnergyResult>,
    /// Temperature of the drives, and throttling by it. Absent without one (`thermal`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thermal: Option<ThermalResult>,
    /// Power states of the drives. Absent without any (`power_states`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_states: Option<PowerStatesResult>,
    /// Erases of each block since it was new, preconditioning included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wear: Option<Wear>,
    /// Retries of flash reads, and how old blocks are (`errors.retry`), over the drives of an array together. Absent if reads have no
    /// errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ages: Option<AgesResult>,
    /// The cache of blocks in SLC mode (`slc`), over the drives of an array together. Absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc: Option<SlcResult>,
    /// The life of the drive (`wear`): blocks that have failed, and the bytes that it can take. Absent if no block can fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<LifetimeResult>,
    /// Flash operations during the run.
    pub flash: FlashResult,
    /// Bytes written in the measured part of the run: by the host, above caches and arrays, and to the flash of all drives.
    pub bytes_written: BytesWritten,
    /// Statistics of the array of drives. Absent for a single drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<ArrayResult>,
    /// Utilisation of chips and channels. Absent for a run of no duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utilisation: Option<Utilisation>,
    /// Time series of the run, in bins. Absent unless recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<SeriesResult>,
    /// Histograms of the response times, by kind of request. Absent unless requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histograms: Option<Histograms>,
    /// Counters of the drive's mechanisms, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "super::counters::schema")]
    pub counters: BTreeMap<String, u64>,
    /// Report on the preparation of the drive before the run. Absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precondition: Option<PreconditionReport>,
    /// Extent of the timeline that was written. Absent unless requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<TimelineResult>,
    /// Extent of the recorded states of blocks. Absent unless requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<BlocksResult>,
    /// Properties of the workload: for example lines of the trace, requests clipped or wrapped.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schemars(extend("unit" = "object"))]
    pub workload: Value,
    /// Simulated time from the start of the run to its end, the warm-up included.
    #[schemars(extend("unit" = "ns"))]
    pub simulated_ns: Ns,
    /// For a drive that was served to programs: delay of its answers beyond the times at which they were due. Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<LateResult>,
    /// For a drive that was served to programs and whose power failed: effects of the power failure. Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_cut: Option<PowerCutResult>,
    /// Wall-clock time to prepare the drive (preconditioning, or reading a saved state).
    #[schemars(extend("unit" = "s"))]
    pub prepare_s: f64,
    /// The state of the drive was taken from the folder of states, where an earlier run with this configuration and seed had left it. Absent
    /// otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "yes or no"))]
    pub prepared_earlier: Option<bool>,
    /// Wall-clock time of the simulation, after the preparation.
    #[schemars(extend("unit" = "s"))]
    pub wall_s: f64,
    /// Simulation speed: requests completed per second of wall-clock time, those of the warm-up included. Absent for a run too short to
    /// time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "1/s"))]
    pub requests_per_s: Option<f64>,
}

/// The warm-up: the first part of the run, left out of the statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WarmUpResult {
    /// Number of requests that arrived in the warm-up.
    #[schemars(extend("unit" = "count"))]
    pub requests: u64,
    /// Simulated time at which the warm-up ended.
    #[schemars(extend("unit" = "ns"))]
    pub ns: Ns,
}

/// The power failure that ended the run of a drive that was served to programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PowerCutResult {
    /// Simulated time of the power failure.
    #[schemars(extend("unit" = "ns"))]
    pub at_ns: Ns,
    /// Number of requests that had arrived and had no answer.
    #[schemars(extend("unit" = "count"))]
    pub unanswered: u64,
    /// Number of completed writes of which a volatile cache or write buffer held data that are lost.
    #[schemars(extend("unit" = "count"))]
    pub lost_writes: u64,
    /// Bytes of the mapping units whose data are those from before a lost write.
    #[schemars(extend("unit" = "B"))]
    pub lost_bytes: u64,
}

/// Number of requests by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RequestCounts {
    /// Number of completed reads.
    #[schemars(extend("unit" = "count"))]
    pub read: u64,
    /// Number of completed writes.
    #[schemars(extend("unit" = "count"))]
    pub write: u64,
    /// Number of completed trims.
    #[schemars(extend("unit" = "count"))]
    pub trim: u64,
    /// Number of completed flushes.
    #[schemars(extend("unit" = "count"))]
    pub flush: u64,
    /// Number of completed commands that manage zones: open, close, finish, reset. Absent without any.
    #[schemars(extend("unit" = "count"))]
    #[serde(default, skip_serializing_if = "is_zero")]
    pub zone: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The JSON Schema of a result, without references. Each statistic carries its `unit`.
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<RunResult>().to_value()
}

impl RequestCounts {
    /// Number of requests of all kinds.
    pub fn total(&self) -> u64 {
        self.read + self.write + self.trim + self.flush + self.zone
    }
}

/// Response times by class of requests; a class without requests is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Latencies {
    /// Response times of reads and writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all: Option<Latency>,
    /// Response times of reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Latency>,
    /// Response times of writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<Latency>,
    /// Response times of sequential reads, which start where the previous request ended (lee2013, footnote 2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq_read: Option<Latency>,
    /// Response times of random reads: all reads that are not sequential.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rand_read: Option<Latency>,
    /// Response times of flushes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush: Option<Latency>,
}

/// Response times of one class of requests.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Latency {
    /// Number of requests of the class.
    #[schemars(extend("unit" = "count"))]
    pub count: u64,
    /// Mean response time.
    #[schemars(extend("unit" = "ns"))]
    pub mean: f64,
    /// Standard deviation of the response time (of the population: the root of the variance).
    #[schemars(extend("unit" = "ns"))]
    pub std: f64,
    /// Population variance of the response time: the mean square minus the squared mean, from exact integer sums.
    #[schemars(extend("unit" = "ns^2"))]
    pub variance: f64,
    /// Coefficient of variation of the response time: standard deviation over mean. Absent where the mean is 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "ratio"))]
    pub cv: Option<f64>,
    /// Shortest response time.
    #[schemars(extend("unit" = "ns"))]
    pub min: Ns,
    /// Median response time: half of the requests took at most this long (nearest rank).
    #[schemars(extend("unit" = "ns"))]
    pub p50: Ns,
    /// 90th percentile: 90 % of the requests took at most this long.
    #[schemars(extend("unit" = "ns"))]
    pub p90: Ns,
    /// 95th percentile: 95 % of the requests took at most this long.
    #[schemars(extend("unit" = "ns"))]
    pub p95: Ns,
    /// 99th percentile: 99 % of the requests took at most this long.
    #[schemars(extend("unit" = "ns"))]
    pub p99: Ns,
    /// 99.9th percentile: 99.9 % of the requests took at most this long.
    #[schemars(extend("unit" = "ns"))]
    pub p99_9: Ns,
    /// 99.99th percentile: 99.99 % of the requests took at most this long.
    #[schemars(extend("unit" = "ns"))]
    pub p99_99: Ns,
    /// Longest response time.
    #[schemars(extend("unit" = "ns"))]
    pub max: Ns,
}

impl From<Summary> for Latency {
    fn from(summary: Summary) -> Self {
        let Summary { count, mean, std, variance, cv, min, p50, p90, p95, p99, p99_9, p99_99, max } = summary;
        Latency { count, mean, std, variance, cv, min, p50, p90, p95, p99, p99_9, p99_99, max }
    }
}

/// Mean parts of the response times by class; a class without requests is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Breakdowns {
    /// Parts of the response times of reads and writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all: Option<Breakdown>,
    /// Parts of the response times of reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Breakdown>,
    /// Parts of the response times of writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<Breakdown>,
    /// Parts of the response times of flushes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush: Option<Breakdown>,
}

/// Mean parts of the response times of one class of requests.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Breakdown {
    /// Wait before the chip queues: for a slot for commands or the turn of the queue, for room in the write buffer, for the lock of a
    /// stripe, for a place in the chip's queue or a chip with room.
    #[schemars(extend("unit" = "ns"))]
    pub host_queue: f64,
    /// Wait for the die behind host operations, or for an older operation on the page.
    #[schemars(extend("unit" = "ns"))]
    pub die_queue: f64,
    /// Wait for garbage collection: a job excluded the request, a GC operation occupied the die, or the pool had no free block.
    #[schemars(extend("unit" = "ns"))]
    pub gc: f64,
    /// Wait for the channel bus.
    #[schemars(extend("unit" = "ns"))]
    pub bus_queue: f64,
    /// Transfer on the channel bus.
    #[schemars(extend("unit" = "ns"))]
    pub transfer: f64,
    /// Read or program in the flash array.
    #[schemars(extend("unit" = "ns"))]
    pub array: f64,
    /// Pause or suspension of the program for reads (`scheduler.write_pausing`, `scheduler.suspend`).
    #[schemars(extend("unit" = "ns"))]
    pub suspended: f64,
    /// Access to the cache or the write buffer in the controller's DRAM.
    #[schemars(extend("unit" = "ns"))]
    pub dram: f64,
    /// Wait for a core of the controller, and the core's time to fetch and complete the command.
    #[schemars(extend("unit" = "ns"))]
    pub controller: f64,
    /// Wait for the link to the host or for the data of an older write, and transfer over the link.
    #[schemars(extend("unit" = "ns"))]
    pub link: f64,
    /// Wait for translation pages that were not in memory (`ftl.map_cache_bytes`).
    #[schemars(extend("unit" = "ns"))]
    pub mapping: f64,
    /// Wait for garbage collection to free room for writes (`gc.pace`).
    #[serde(default)]
    #[schemars(extend("unit" = "ns"))]
    pub pace: f64,
    /// Wait for power that operations on other dies draw (`energy.cap_w`).
    #[serde(default)]
    #[schemars(extend("unit" = "ns"))]
    pub power: f64,
    /// Wait since the drive was too warm (`thermal`).
    #[serde(default)]
    #[schemars(extend("unit" = "ns"))]
    pub heat: f64,
    /// Wait for the drive to enter and leave a power state (`power_states`).
    #[serde(default)]
    #[schemars(extend("unit" = "ns"))]
    pub power_state: f64,
    /// Steps of reads that failed, so that the read was repeated: array, transfer, decoding, and waits for the bus between them
    /// (`errors.retry`).
    #[serde(default)]
    #[schemars(extend("unit" = "ns"))]
    pub retry: f64,
    /// Decoding of the data of reads, in their last step (`errors.decode_ns`).
    #[serde(default)]
    #[schemars(extend("unit" = "ns"))]
    pub decode: f64,
}

/// Bytes requested by the host per second of simulated time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Bandwidth {
    /// Megabytes (10^6 bytes) read per second.
    #[schemars(extend("unit" = "MB/s"))]
    pub read: f64,
    /// Megabytes (10^6 bytes) written per second.
    #[schemars(extend("unit" = "MB/s"))]
    pub write: f64,
}

/// The extent of a timeline file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TimelineResult {
    /// Path of the timeline file, as given.
    #[schemars(extend("unit" = "text"))]
    pub file: String,
    /// Number of slices in the timeline.
    #[schemars(extend("unit" = "count"))]
    pub slices: u64,
    /// Simulated time from which the timeline is complete.
    #[schemars(extend("unit" = "ns"))]
    pub from_ns: Ns,
    /// Simulated time up to which the timeline is complete.
    #[schemars(extend("unit" = "ns"))]
    pub to_ns: Ns,
    /// The timeline ends before the run because the limit of slices was reached.
    #[schemars(extend("unit" = "yes or no"))]
    pub full: bool,
}

/// The extent of a file with the states of blocks over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlocksResult {
    /// Path of the file, as given.
    #[schemars(extend("unit" = "text"))]
    pub file: String,
    /// Number of instants at which the states were recorded: the start of the run, each full interval, and the end.
    #[schemars(extend("unit" = "count"))]
    pub instants: u64,
    /// Simulated time between two instants, except before the last one.
    #[schemars(extend("unit" = "ns"))]
    pub interval_ns: Ns,
    /// Simulated time of the last instant, the end of the run.
    #[schemars(extend("unit" = "ns"))]
    pub end_ns: Ns,
    /// The interval is longer than a bin of the series because the limit of changes was reached.
    #[schemars(extend("unit" = "yes or no"))]
    pub thinned: bool,
}

impl RunResult {
    /// Assembles the result of a run. `erase_counts` has the erases of each block since it was new.
    ///
    /// # Panics
    /// If `run.wall_s` (or `run.prepare_s`) is not a finite number of seconds, or busy times exceed the simulated time.
    pub fn assemble(run: Run, recorded: Recorded, device: DeviceStats, erase_counts: &[u32]) -> Self {
        for seconds in [run.prepare_s, run.wall_s] {
            assert!(seconds.is_finite() && seconds >= 0.0, "the wall-clock time is {seconds} s");
        }
        let measured_ns = run.simulated_ns - run.warm_up.map_or(0, |warm_up| warm_up.ns);
        let Recorded { all: requests, host_bytes, one_percent_bytes, flows, digest } = recorded;
        let bytes_written = BytesWritten::of(host_bytes, &device);
        let power_states = device.power_states.map(|stats| PowerStatesResult::new(&stats, device.energy.as_ref()));
        let energy = device.energy.map(|(rates, drawn)| EnergyResult::new(&rates, &drawn, measured_ns, requests.bytes()));
        let speed = (requests.requests.total() + requests.left_out) as f64 / run.wall_s;
        RunResult {
            version: version().to_string(),
            config: run.config,
            idle_keys: Vec::new(),
            remarks: Vec::new(),
            seed: run.seed,
            digest,
            order_source: run.order_source,
            placement_source: run.placement_source,
            warm_up: run.warm_up,
            iops: requests.iops(measured_ns),
            bandwidth_mb_s: requests.bandwidth_mb_s(measured_ns),
            requests: requests.requests,
            latency_ns: requests.latency_ns,
            percentile_error: PERCENTILE_ERROR,
            breakdown_ns: requests.breakdown_ns,
            write_stall_ns_max: run.write_stall_ns_max,
            flows: flows.into_iter().map(|(name, flow)| FlowResult::of(name, flow)).collect(),
            fairness: None,
            gc: GcResult { victim_source: run.victim_source, ..GcResult::of(&device, &bytes_written, measured_ns) },
            slack: device.slack.result(),
            cache: device.cache.map(|cache| cache.result(run.eviction_source)),
            buffer: device.buffer.map(BufferStats::result),
            streams: device.streams.result(),
            mapping: device.mapping.map(MappingStats::result),
            interface: device.interface.map(|interface| interface.result(measured_ns)),
            energy,
            power_states,
            thermal: device.thermal.map(|stats| ThermalResult::new(&stats, measured_ns)),
            wear: Wear::of(erase_counts),
            ages: device.ages.as_ref().map(AgeStats::result),
            slc: device.slc.clone().map(|slc| slc.result(&device.counters, device.unit_bytes)),
            lifetime: LifetimeResult::of(run.rating, &device, &bytes_written, one_percent_bytes, measured_ns),
            flash: device.flash(),
            bytes_written,
            utilisation: Utilisation::of(&device, measured_ns),
            array: device.array,
            series: run.series,
            histograms: run.histograms,
            counters: device.counters,
            precondition: run.precondition,
            timeline: None,
            blocks: None,
            workload: run.workload,
            simulated_ns: run.simulated_ns,
            late: None,
            power_cut: None,
            prepare_s: run.prepare_s,
            prepared_earlier: run.prepared_earlier.then_some(true),
            wall_s: run.wall_s,
            // The clock may be too coarse for a very short run: then the speed is absent, not infinite.
            requests_per_s: speed.is_finite().then_some(speed),
        }
    }
}

/// The ratio `part / whole` as a real number; `None` if `whole` is 0.
pub(super) fn ratio(part: u128, whole: u128) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Completion, Recorder, Times};
    use super::*;
    use ssdlab_base::blocked::Served;
    use ssdlab_base::request::RequestKind;

    fn run(simulated_ns: Ns) -> Run {
        Run {
            config: json!({"gc": {"soft": 0.05}}),
            victim_source: None,
            eviction_source: None,
            order_source: None,
            placement_source: None,
            seed: 42,
            workload: Value::Null,
            precondition: None,
            warm_up: None,
            rating: None,
            series: None,
            histograms: None,
            write_stall_ns_max: None,
            simulated_ns,
            prepare_s: 0.25,
            prepared_earlier: false,
            wall_s: 0.5,
        }
    }

    fn requests() -> Recorded {
        let mut recorder = Recorder::new(None, Vec::new()).unwrap();
        for index in 0..10 {
            let mut times = Times::default();
            times.serve(Served::Array, 100 + index);
            let kind = if index < 8 { RequestKind::Write } else { RequestKind::Trim };
            let (arrival_ns, length) = (1000 * index, 4096);
            let completed_ns = arrival_ns + times.parts().total();
            recorder
                .record(&Completion {
                    index,
                    flow: 0,
                    kind,
                    sequential: false,
                    offset: 0,
                    length,
                    handle: None,
                    arrival_ns,
                    completed_ns,
                    times,
                })
                .unwrap();
        }
        recorder.finish().unwrap()
    }

    fn device() -> DeviceStats {
        DeviceStats {
            pools: 2,
            unit_bytes: 4096,
            host_programs: 8,
            gc_programs: 4,
            reads: 4,
            erases: 2,
            jobs: 2,
            pages_moved: 4,
            job_ns_sum: 3000,
            job_ns_max: 2000,
            gc_active_pool_ns: 3000,
            chip_busy_ns: vec![5000, 0],
            channel_busy_ns: vec![2500],
            ..DeviceStats::default()
        }
    }

    #[test]
    fn a_hand_worked_result() {
        let result = RunResult::assemble(run(10_000), requests(), device(), &[0, 2, 2, 4]);
        let json = serde_json::to_value(&result).unwrap();
        let at = |path: &str| json.pointer(path).unwrap_or_else(|| panic!("{path} in {json:#}")).clone();
        for (path, value) in [
            ("/seed", json!(42)),
            ("/config/gc/soft", json!(0.05)),
            ("/requests", json!({"read": 0, "write": 8, "trim": 2, "flush": 0})),
            ("/latency_ns/write/mean", json!(103.5)),
            ("/latency_ns/all/variance", json!(5.25)),
            ("/latency_ns/all/p50", json!(103)),
            ("/latency_ns/all/p99_9", json!(107)),
            ("/breakdown_ns/write/array", json!(103.5)),
            // 12 pages of 4,096 bytes for 8 writes of 4,096 bytes.
            ("/gc/write_amplification", json!(1.5)),
            ("/gc/page_write_amplification", json!(1.5)),
            ("/bytes_written/host", json!(32_768)),
            ("/bytes_written/flash", json!(49_152)),
            ("/bytes_written/data", json!(32_768)),
            ("/bytes_written/gc", json!(16_384)),
            ("/bytes_written/held", json!(0)),
            ("/gc/duration_ns", json!({"mean": 1500.0, "max": 2000})),
            ("/gc/time_share", json!(0.15)),
            ("/wear", json!({"mean": 2.0, "std": 2f64.sqrt(), "max": 4, "histogram": {"least": 0, "width": 1, "blocks": [1, 0, 2, 0, 1]}})),
            ("/flash", json!({"reads": 4, "programs": 12, "host_programs": 8, "gc_programs": 4, "erases": 2})),
            ("/utilisation", json!({"chips": [0.5, 0.0], "channels": [0.25]})),
            ("/iops", json!(8e5)),
            ("/bandwidth_mb_s", json!({"read": 0.0, "write": 3276.8})),
            ("/requests_per_s", json!(20.0)),
        ] {
            assert_eq!(at(path), value, "{path}");
        }
    }

    /// Fails on null, which is how JSON shows NaN and infinity.
    fn assert_no_null(value: &Value) {
        match value {
            Value::Null => panic!("null"),
            Value::Array(items) => items.iter().for_each(assert_no_null),
            Value::Object(fields) => fields.values().for_each(assert_no_null),
            _ => {}
        }
    }

    #[test]
    fn what_is_undefined_is_absent() {
        let empty = Recorder::new(None, Vec::new()).unwrap().finish().unwrap();
        let result = RunResult::assemble(Run { wall_s: 0.0, ..run(0) }, empty, DeviceStats::default(), &[]);
        let json = serde_json::to_value(&result).unwrap();
        assert_no_null(&json);
        for absent in ["/iops", "/requests_per_s", "/gc/write_amplification", "/gc/page_write_amplification", "/gc/duration_ns"] {
            assert_eq!(json.pointer(absent), None, "{absent}");
        }
        assert_eq!((json.pointer("/wear"), json.pointer("/utilisation")), (None, None));
        assert_eq!(json["latency_ns"], json!({}));

        let full = serde_json::to_value(RunResult::assemble(run(10_000), requests(), device(), &[0])).unwrap();
        assert_no_null(&full);
        assert_eq!(full["latency_ns"].get("read"), None);
    }

    #[test]
    #[should_panic(expected = "a resource was busy for 5000 ns of 4999 ns")]
    fn nothing_is_busy_for_longer_than_the_run() {
        let _ = RunResult::assemble(run(4_999), requests(), device(), &[]);
    }
}
