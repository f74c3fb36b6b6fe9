//! The result of a run of the queueing model. Undefined values are absent: it has no null, NaN or infinity.

use serde::Serialize;
use serde_json::{Value, json};

use super::arrivals::{Arrivals, RatesPerMs, Traffic, UserOp};
use super::simulation::{Model, Priority};
use crate::distribution::Summary;
use crate::units::Ns;

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
    /// End of the last request. Time averages are over the time until then.
    pub requests_end_ns: Ns,
    /// Time at which the die is idle for good.
    pub simulated_ns: Ns,
}

/// Number of requests by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OpCounts {
    /// Reads.
    pub read: u64,
    /// Writes.
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

    /// Reads and writes.
    pub fn total(self) -> u64 {
        self.read + self.write
    }
}

/// Waits by class; a class without requests is absent.
#[derive(Clone, Debug, Serialize)]
pub struct Waits {
    /// Reads and writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all: Option<Summary>,
    /// Reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<Summary>,
    /// Writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<Summary>,
}

/// A queue length.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct QueueLength {
    /// Mean over time.
    pub mean: f64,
    /// Maximum. A wait of less than a nanosecond does not count.
    pub max: u64,
}

/// Utilisation of the die by kind of operation, as shares of the time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Utilisation {
    /// User reads.
    pub read: f64,
    /// User writes.
    pub write: f64,
    /// Copies.
    pub copy: f64,
    /// Erases.
    pub erase: f64,
    /// All operations.
    pub total: f64,
}

impl Utilisation {
    /// From busy times, in the order of the fields; `None` without time.
    pub(super) fn of(busy_ns: [u128; 4], end: Ns) -> Option<Self> {
        let share = |busy: u128| busy as f64 / end as f64;
        let [read, write, copy, erase] = busy_ns.map(share);
        (end > 0).then(|| Utilisation { read, write, copy, erase, total: share(busy_ns.iter().sum()) })
    }
}

/// GC jobs, to the end of the run.
#[derive(Clone, Debug, Serialize)]
pub struct Collections {
    /// Number of GC jobs.
    pub collections: u64,
    /// Pages copied.
    pub copies: u64,
    /// Duration of a GC job: from its start to the end of its erase. Absent without jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ns: Option<Summary>,
    /// GC jobs that lasted longer than their copies and erase.
    pub prolonged: u64,
    /// Backlog of a GC job: from its start until the die is idle. Absent without jobs.
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
    /// GC jobs in order.
    pub collections: CollectionSeries,
    /// Copies in order.
    pub copies: CopySeries,
}

/// Requests in order of arrival, by column.
#[derive(Clone, Debug, Default)]
pub struct RequestSeries {
    /// Arrival times.
    pub arrival_ns: Vec<Ns>,
    /// 1 for a write, 0 for a read.
    pub is_write: Vec<u8>,
    /// Waits.
    pub wait_ns: Vec<Ns>,
}

/// GC jobs in order, by column.
#[derive(Clone, Debug, Default)]
pub struct CollectionSeries {
    /// Their starts.
    pub start_ns: Vec<Ns>,
    /// The ends of their erases.
    pub end_ns: Vec<Ns>,
    /// Times at which the die is next idle after the starts.
    pub backlog_end_ns: Vec<Ns>,
    /// Pages to copy.
    pub valid: Vec<u64>,
    /// 1 if the backlog of the previous job had not ended.
    pub overlapped: Vec<u8>,
}

/// Copies in order, by column.
#[derive(Clone, Debug, Default)]
pub struct CopySeries {
    /// The starts of their GC jobs.
    pub entered_ns: Vec<Ns>,
    /// Their own starts.
    pub start_ns: Vec<Ns>,
}

/// The input of a run, for its result.
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
