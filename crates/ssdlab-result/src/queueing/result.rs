//! The result of a run of the queueing model. Undefined values are absent: it has no null, NaN or infinity.

use serde::Serialize;
use serde_json::{Value, json};

use super::arrivals::{Arrivals, RatesPerMs, Traffic, UserOp};
use super::model::{Model, Priority};
use crate::distribution::Summary;
use ssdlab_base::units::Ns;

/// The result of a run of the queueing model.
#[derive(Clone, Debug, Serialize)]
pub struct QueueingResult {
    /// The version of ssdlab that made this result.
    pub version: &'static str,
    /// The die, its GC and the arrivals of requests.
    pub parameters: Value,
    /// The seed of the arrivals.
    pub seed: u64,
    /// The service discipline.
    pub priority: Priority,
    /// BLAKE3 over the waits in ns (eight bytes each, least significant first) in order of arrival.
    pub digest: String,
    /// Requests served.
    pub requests: OpCounts,
    /// Waits (start of service minus arrival) by class.
    pub wait_ns: Waits,
    /// Bound on the relative error of the percentiles; mean, deviation, minimum and maximum are exact.
    pub percentile_error: f64,
    /// Queue length: requests that wait, without the one in service. Absent in a run of no duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueLength>,
    /// Queue length of GC: copies that wait, without the one in service. Absent in a run of no duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy_queue: Option<QueueLength>,
    /// Utilisation until the end of the last request. Absent in a run of no duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilisation: Option<Utilisation>,
    /// Throughput until the end of the last request, requests per millisecond. Absent in a run of no duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput_per_ms: Option<f64>,
    /// Garbage collection.
    pub gc: Collections,
    /// End of the last request, ns. Averages over time are over the time until then.
    pub requests_end_ns: Ns,
    /// Time at which the die becomes idle for good, ns.
    pub simulated_ns: Ns,
}

/// Number of requests by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OpCounts {
    /// Number of reads.
    pub read: u64,
    /// Number of writes.
    pub write: u64,
}

impl OpCounts {
    #[inline]
    pub(super) fn count(&mut self, op: UserOp) {
        match op {
            UserOp::Read => self.read += 1,
            UserOp::Write => self.write += 1,
        }
    }

    /// Number of reads and writes.
    pub fn total(self) -> u64 {
        self.read + self.write
    }
}

/// Waits by class of request, ns; a class without requests is absent.
#[derive(Clone, Debug, Serialize)]
pub struct Waits {
    /// Waits of reads and writes, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all: Option<Summary>,
    /// Waits of reads, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<Summary>,
    /// Waits of writes, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<Summary>,
}

/// Length of a queue.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct QueueLength {
    /// Mean length over time.
    pub mean: f64,
    /// Maximum length. A wait of less than a nanosecond does not count.
    pub max: u64,
}

/// Utilisation of the die by kind of operation, as shares of the time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Utilisation {
    /// Share of time for user reads.
    pub read: f64,
    /// Share of time for user writes.
    pub write: f64,
    /// Share of time for copies.
    pub copy: f64,
    /// Share of time for erases.
    pub erase: f64,
    /// Share of time for all operations.
    pub total: f64,
}

impl Utilisation {
    /// The utilisation from busy times until `end`, ns (reads, writes, copies, erases); `None` if `end` is 0.
    pub(super) fn of(busy_ns: [u128; 4], end: Ns) -> Option<Self> {
        let share = |busy: u128| busy as f64 / end as f64;
        let [read, write, copy, erase] = busy_ns.map(share);
        (end > 0).then(|| Utilisation { read, write, copy, erase, total: share(busy_ns.iter().sum()) })
    }
}

/// Statistics of GC jobs until the end of the run.
#[derive(Clone, Debug, Serialize)]
pub struct Collections {
    /// Number of GC jobs.
    pub collections: u64,
    /// Pages copied.
    pub copies: u64,
    /// Duration of GC jobs, each from its start to the end of its erase, ns. Absent without jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ns: Option<Summary>,
    /// GC jobs that lasted longer than their copies and erase.
    pub prolonged: u64,
    /// Backlog of GC jobs, each from its start until the die is idle, ns. Absent without jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backlog_ns: Option<Summary>,
    /// GC jobs that started before the backlog of the previous job had ended.
    pub overlapped: u64,
    /// Writes that waited for a free block while the die was free to serve them. Absent if there are always enough blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_writes: Option<u64>,
}

/// The series of a run: every request, GC job and copy.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Requests in order of arrival.
    pub requests: RequestSeries,
    /// GC jobs in order of their starts.
    pub collections: CollectionSeries,
    /// Copies in order of their starts.
    pub copies: CopySeries,
}

/// Requests in order of arrival, by column.
#[derive(Clone, Debug, Default)]
pub struct RequestSeries {
    /// Arrival times, ns.
    pub arrival_ns: Vec<Ns>,
    /// 1 for a write, 0 for a read.
    pub is_write: Vec<u8>,
    /// Waits, ns.
    pub wait_ns: Vec<Ns>,
}

/// GC jobs in order of their starts, by column.
#[derive(Clone, Debug, Default)]
pub struct CollectionSeries {
    /// Starts of the GC jobs, ns.
    pub start_ns: Vec<Ns>,
    /// Ends of the GC jobs' erases, ns.
    pub end_ns: Vec<Ns>,
    /// Times at which the die is next idle after the start of each GC job, ns.
    pub backlog_end_ns: Vec<Ns>,
    /// Valid pages that each GC job copies.
    pub valid: Vec<u64>,
    /// 1 if the backlog of the previous GC job had not ended when the job started, otherwise 0.
    pub overlapped: Vec<u8>,
}

/// Copies in order of their starts, by column.
#[derive(Clone, Debug, Default)]
pub struct CopySeries {
    /// Start of the GC job of each copy, ns.
    pub entered_ns: Vec<Ns>,
    /// Start of each copy, ns.
    pub start_ns: Vec<Ns>,
}

/// Parameters of a run, as JSON for its result.
pub(super) fn parameters(model: &Model, traffic: &Traffic) -> Value {
    let times = model.times;
    let valid = if let [valid] = model.valid[..] { json!(valid) } else { json!(model.valid) };
    let mut parameters = json!({
        "read_ns": times.read_ns, "write_ns": times.write_ns, "copy_ns": times.copy_ns, "erase_ns": times.erase_ns,
        "pages": model.pages, "valid": valid,
    });
    if let Some(free_blocks) = model.free_blocks {
        parameters["free_blocks"] = free_blocks.into();
    }
    let with_rates =
        |kind: &str, rates: &RatesPerMs| json!({"kind": kind, "read_per_ms": rates.read_per_ms, "write_per_ms": rates.write_per_ms});
    parameters["arrivals"] = match traffic.arrivals() {
        Arrivals::Poisson(rates) => with_rates("poisson", rates),
        Arrivals::Deterministic(rates) => with_rates("deterministic", rates),
        Arrivals::Saturated(rates) => with_rates("saturated", rates),
        Arrivals::Renewal(gaps) => json!({"kind": "renewal", "read_gaps": gaps.read.len(), "write_gaps": gaps.write.len()}),
        Arrivals::Replayed(_) => json!({"kind": "replayed"}),
    };
    parameters
}
