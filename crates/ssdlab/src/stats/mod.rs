//! What a run reports: response times and their parts, recorded at one place, on completion.
//!
//! A [`Recorder`] takes each [`Completion`] once and ends as [`RequestStats`]; [`RunResult::assemble`] joins them with what the
//! drive counted ([`DeviceStats`]). A [`Series`] records how a run goes over time, where that is asked for. [`registry()`] lists every statistic with unit and sentence.

mod array;
mod cache;
mod class;
mod counters;
mod device;
mod log;
mod order;
mod recorder;
mod registry;
mod result;
mod series;
mod slack;

pub use array::ArrayResult;
pub use cache::{CacheCounters, CacheResponse, CacheResponses, CacheResult, CacheStats, Responses};
pub use counters::COUNTERS;
pub use device::{DeviceStats, Run};
pub use recorder::{Recorder, RequestStats};
pub use registry::{Statistic, registry, schema};
pub use result::{
    Bandwidth, Breakdown, Breakdowns, Duration, FlashResult, GcResult, Latencies, Latency, PreconditionReport, RequestCounts, RunResult,
    Shared, StateTimes, TimelineResult, Utilisation, WarmUpResult, Wear,
};
pub use series::{
    CacheSeries, FreeBlockSeries, Gauged, GcSeries, Histogram, Histograms, LatencySeries, Level, MOST_BINS, NARROWEST_NS,
    OutstandingSeries, Readings, ResponseSeries, Series, SeriesResult, SeriesShape, StateSeries,
};
pub use slack::{ByKind, Slack, SlackResult, SlackStats, Waiting};

pub use crate::distribution::PERCENTILE_ERROR;
use crate::request::{Request, RequestKind};
use crate::units::Ns;

/// The named parts of a response time (what the request was waiting for, or being served by).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Part {
    /// Waiting in the host queue, for a place in a chip's queue.
    HostQueue,
    /// Waiting for the die behind host work.
    DieQueue,
    /// Waiting for garbage collection.
    Gc,
    /// Waiting for the channel bus.
    BusQueue,
    /// Being transferred on the bus.
    Transfer,
    /// In the flash array.
    Array,
    /// Suspended.
    Suspended,
    /// In the controller's DRAM.
    Dram,
}

impl Part {
    /// How many there are.
    pub const COUNT: usize = 8;
    /// Their names in results, in order.
    pub const NAMES: [&'static str; Part::COUNT] = ["host_queue", "die_queue", "gc", "bus_queue", "transfer", "array", "suspended", "dram"];
}

/// Nanoseconds by [`Part`]; for a completed request they add up to its response time, exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts(pub [Ns; Part::COUNT]);

impl Parts {
    /// Adds `ns` to `part`.
    #[inline]
    pub fn add(&mut self, part: Part, ns: Ns) {
        self.0[part as usize] += ns;
    }

    /// The sum of all parts.
    #[inline]
    pub fn total(&self) -> Ns {
        self.0.iter().sum()
    }
}

/// One completed request, as handed to the recorder.
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    /// The request's serial number, from 0 in order of arrival.
    pub index: u64,
    /// What it asked for.
    pub kind: RequestKind,
    /// It started where the request before it ended (lee2013, footnote 2).
    pub sequential: bool,
    /// First byte.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
    /// Arrival, ns.
    pub arrival_ns: Ns,
    /// Completion, ns.
    pub completed_ns: Ns,
    /// The parts of its response time.
    pub parts: Parts,
}

impl Completion {
    /// That of a request that completes at `completed_ns`.
    #[inline]
    pub fn of(request: &Request, index: u64, sequential: bool, completed_ns: Ns, parts: Parts) -> Self {
        let Request { arrival_ns, kind, offset, length, .. } = *request;
        Completion { index, kind, sequential, offset, length, arrival_ns, completed_ns, parts }
    }
}
