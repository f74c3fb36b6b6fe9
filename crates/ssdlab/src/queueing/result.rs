//! What a run of the queueing model reports. What is not defined in a run is absent: there is no null, NaN or infinity in it.

use serde::Serialize;
use serde_json::{Value, json};

use super::arrivals::{Arrivals, Op, RatesPerMs, Traffic};
use super::simulation::{Model, Priority};
use crate::distribution::Summary;
use crate::units::Ns;

/// Everything that a run of the queueing model reports.
#[derive(Clone, Debug, Serialize)]
pub struct QueueingResult {
    /// The version of ssdlab that made this result.
    pub version: &'static str,
    /// The die, its collections and how requests arrived.
    pub parameters: Value,
    /// The seed from which the arrivals were drawn.
    pub seed: u64,
    /// Which operations go first.
    pub priority: Priority,
    /// BLAKE3 over the waits in ns (eight bytes each, least significant first) in order of arrival.
    pub digest: String,
    /// Requests served.
    pub requests: OpCounts,
    /// Waits (start of service minus arrival) by class.
    pub wait_ns: Waits,
    /// Bound on the relative error of the percentiles; mean, deviation, minimum and maximum are exact.
    pub percentile_error: f64,
    /// Requests that wait, those in service excluded. Absent in a run of no duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueLength>,
    /// Copies that wait, that in service excluded. Absent in a run of no duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy_queue: Option<QueueLength>,
    /// Shares of the time until the last request has been served. Absent in a run of no duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilisation: Option<Utilisation>,
    /// Requests in a millisecond until the last one has been served. Absent in a run of no duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput_per_ms: Option<f64>,
    /// Collections.
    pub gc: Collections,
    /// When the last request had been served: what time averages are taken over.
    pub requests_end_ns: Ns,
    /// When the die had nothing left to do.
    pub simulated_ns: Ns,
}

/// How many requests of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OpCounts {
    /// Reads.
    pub read: u64,
    /// Writes.
    pub write: u64,
}

impl OpCounts {
    #[inline]
    pub(super) fn count(&mut self, op: Op) {
        match op {
            Op::Read => self.read += 1,
            Op::Write => self.write += 1,
        }
    }

    /// Both.
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

/// How many wait.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct QueueLength {
    /// The average over time.
    pub mean: f64,
    /// The most at one time: what stays for less than a nanosecond does not wait.
    pub max: u64,
}

/// Shares of the time, by what the die does.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Utilisation {
    /// Reads of the user.
    pub read: f64,
    /// Writes of the user.
    pub write: f64,
    /// Copies.
    pub copy: f64,
    /// Erases.
    pub erase: f64,
    /// All of them.
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

/// What collections did, to the end of the run.
#[derive(Clone, Debug, Serialize)]
pub struct Collections {
    /// How many there were.
    pub collections: u64,
    /// Pages copied.
    pub copies: u64,
    /// From a collection's start to the end of its erase. Absent without collections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ns: Option<Summary>,
    /// Collections that took longer than their copies and erase.
    pub prolonged: u64,
    /// From a collection's start until the die is next idle. Absent without collections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backlog_ns: Option<Summary>,
    /// Collections that started before the backlog of the one before them had ended.
    pub overlapped: u64,
}

/// What happened, one by one.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Requests in order of arrival.
    pub requests: RequestSeries,
    /// Collections in order.
    pub collections: CollectionSeries,
    /// Copies in order.
    pub copies: CopySeries,
}

/// Requests in order of arrival, by column.
#[derive(Clone, Debug, Default)]
pub struct RequestSeries {
    /// When they arrive.
    pub arrival_ns: Vec<Ns>,
    /// 1 for a write, 0 for a read.
    pub is_write: Vec<u8>,
    /// How long they wait.
    pub wait_ns: Vec<Ns>,
}

/// Collections in order, by column.
#[derive(Clone, Debug, Default)]
pub struct CollectionSeries {
    /// Their starts.
    pub start_ns: Vec<Ns>,
    /// The ends of their erases.
    pub end_ns: Vec<Ns>,
    /// When the die is next idle after their starts.
    pub backlog_end_ns: Vec<Ns>,
    /// Pages to copy.
    pub valid: Vec<u64>,
    /// 1 where the backlog of the collection before had not ended.
    pub overlapped: Vec<u8>,
}

/// Copies in order, by column.
#[derive(Clone, Debug, Default)]
pub struct CopySeries {
    /// The starts of their collections.
    pub entered_ns: Vec<Ns>,
    /// Their own starts.
    pub start_ns: Vec<Ns>,
}

/// What determined a run, for its result.
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
