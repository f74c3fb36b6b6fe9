//! What a result says of garbage collection.

use schemars::JsonSchema;
use serde::Serialize;

use super::device::DeviceStats;
use super::result::ratio;
use super::written::BytesWritten;
use ssdlab_base::units::Ns;

/// Garbage collection during the run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GcResult {
    /// BLAKE3 over the source of a user-defined victim policy (`config.gc.victim` is `custom`). Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "hexadecimal"))]
    pub victim_source: Option<String>,
    /// Number of GC jobs completed: a victim emptied, erased and returned to its pool.
    #[schemars(extend("unit" = "count"))]
    pub jobs: u64,
    /// Number of pages that GC jobs moved. A page whose move a host write replaced does not count.
    #[schemars(extend("unit" = "count"))]
    pub pages_moved: u64,
    /// Number of page moves that were stale when their program ended, since the host had overwritten or trimmed the page.
    #[schemars(extend("unit" = "count"))]
    pub stale_moves: u64,
    /// Number of blocks erased.
    #[schemars(extend("unit" = "count"))]
    pub erases: u64,
    /// Write amplification: bytes written to flash over bytes that the host wrote (`bytes_written.flash` / `bytes_written.host`), as
    /// drives report it. Absent if the host wrote nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "ratio"))]
    pub write_amplification: Option<f64>,
    /// Write amplification in mapping units: units programmed (host data, page moves, mapping table, padding, parity) over units programmed
    /// of host data, as papers count it whose host writes whole pages. A write of a part of a unit counts as the unit; data that a cache or
    /// write buffer absorbs count on neither side. Absent if no host data were programmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "ratio"))]
    pub page_write_amplification: Option<f64>,
    /// Host operations merged with a page move (lee2013 III-B).
    pub merged: Shared,
    /// Host operations that overlapped with a page move of the same kind (lee2013 III-C).
    pub pipelined: Shared,
    /// Number of host operations that preempted GC: they began while a job on their die was ready to continue.
    #[schemars(extend("unit" = "count"))]
    pub preemptions: u64,
    /// Number of GC operations that host operations suspended in the array (`gc.suspend`, lee2013 IV).
    #[schemars(extend("unit" = "count"))]
    pub suspensions: u64,
    /// Time in the GC states of lee2013 Fig. 7, summed over pools.
    pub state_ns: StateTimes,
    /// Minimum of the free blocks over pools and time, write frontiers excluded. One free block of each pool is reserved for GC.
    #[schemars(extend("unit" = "count"))]
    pub free_blocks_min: u32,
    /// Duration of GC jobs, from the start of the job to the end of the erase. Absent without jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ns: Option<Duration>,
    /// Share of the measured part of the run in which a pool has an active GC job, mean over pools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "share"))]
    pub time_share: Option<f64>,
}

/// Host operations that merged, or overlapped, with page moves of GC.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Shared {
    /// Number of page reads.
    #[schemars(extend("unit" = "count"))]
    pub read: u64,
    /// Number of page writes.
    #[schemars(extend("unit" = "count"))]
    pub write: u64,
    /// Page reads as a share of the host's page operations (lee2013 Table IX): flash reads (partial writes included), pages or units
    /// programmed, and merged reads. Absent without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "share"))]
    pub read_share: Option<f64>,
    /// Page writes as a share of the host's page operations (lee2013 Table IX): flash reads (partial writes included), pages or units
    /// programmed, and merged reads. Absent without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "share"))]
    pub write_share: Option<f64>,
}

impl Shared {
    pub(super) fn of([read, write]: [u64; 2], operations: u64) -> Self {
        let share = |count: u64| ratio(count.into(), operations.into());
        Shared { read, write, read_share: share(read), write_share: share(write) }
    }
}

/// Time in the GC states of lee2013 Fig. 7, summed over pools: the sum of all states is the measured time x the number of pools. Exact
/// below 2^63 ns; above (thousands of pools over days) rounded to 53 bits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct StateTimes {
    /// Time in S0: GC is not triggered.
    #[serde(serialize_with = "summed_ns::serialize")]
    #[schemars(with = "Ns", extend("unit" = "ns"))]
    pub s0: u128,
    /// Time in S1: GC is triggered or active; all host operations are allowed.
    #[serde(serialize_with = "summed_ns::serialize")]
    #[schemars(with = "Ns", extend("unit" = "ns"))]
    pub s1: u128,
    /// Time in S2: GC is triggered or active, and the pool has fewer than T_hard free blocks; host writes wait.
    #[serde(serialize_with = "summed_ns::serialize")]
    #[schemars(with = "Ns", extend("unit" = "ns"))]
    pub s2: u128,
    /// Time in S3: a GC job runs to completion; host operations wait.
    #[serde(serialize_with = "summed_ns::serialize")]
    #[schemars(with = "Ns", extend("unit" = "ns"))]
    pub s3: u128,
}

/// Writes a sum of times as an integer up to 63 bits, as JSON readers expect; above, as the nearest real number.
mod summed_ns {
    use serde::Serializer;

    pub(super) fn serialize<S: Serializer>(ns: &u128, serializer: S) -> Result<S::Ok, S::Error> {
        match i64::try_from(*ns) {
            Ok(ns) => serializer.serialize_i64(ns),
            Err(_) => serializer.serialize_f64(*ns as f64),
        }
    }
}

/// Duration of GC jobs, from the start of the job to the end of the erase.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Duration {
    /// Mean duration of a GC job.
    #[schemars(extend("unit" = "ns"))]
    pub mean: f64,
    /// Duration of the longest GC job.
    #[schemars(extend("unit" = "ns"))]
    pub max: Ns,
}

impl GcResult {
    pub(super) fn of(device: &DeviceStats, written: &BytesWritten, measured_ns: Ns) -> Self {
        let duration = |mean| Duration { mean, max: device.job_ns_max };
        GcResult {
            victim_source: None,
            jobs: device.jobs,
            pages_moved: device.pages_moved,
            stale_moves: device.stale_moves,
            erases: device.erases,
            write_amplification: written.amplification(),
            page_write_amplification: written.page_amplification(),
            merged: Shared::of(device.merged, device.host_operations),
            pipelined: Shared::of(device.pipelined, device.host_operations),
            preemptions: device.preemptions,
            suspensions: device.suspensions,
            state_ns: StateTimes { s0: device.state_ns[0], s1: device.state_ns[1], s2: device.state_ns[2], s3: device.state_ns[3] },
            free_blocks_min: device.free_blocks_min,
            duration_ns: ratio(device.job_ns_sum, device.jobs.into()).map(duration),
            time_share: ratio(device.gc_active_pool_ns, u128::from(measured_ns) * u128::from(device.pools)),
        }
    }
}
