//! What a run reports: response times and their parts, recorded at one place, on completion.
//!
//! A [`Recorder`] takes each [`Completion`] once and ends as [`Recorded`]; [`RunResult::assemble`] joins them with what the drive counted
//! ([`DeviceStats`]). A [`Series`] records how a run goes over time, where that is asked for. [`registry()`] lists every statistic with unit
//! and sentence.

mod array;
mod buffer;
mod cache;
mod class;
mod counters;
mod counts;
mod device;
mod flow;
mod interface;
mod load;
mod log;
mod mapping;
mod order;
mod recorder;
mod registry;
mod remarks;
mod result;
mod series;
mod slack;
mod stalls;
mod written;

pub use array::ArrayResult;
pub use buffer::{BufferResult, BufferStats};
pub use cache::{CacheCounters, CacheResponse, CacheResponses, CacheResult, CacheStats, Responses};
pub use counters::{COUNTERS, Counters};
pub use device::{DeviceStats, Run};
pub use flow::{Alone, Fairness, FlowResult};
pub use interface::{InterfaceResult, InterfaceStats};
pub use load::{Load, Overload};
pub use mapping::{MappingResult, MappingStats};
pub use recorder::{Recorded, Recorder, RequestStats};
pub use registry::{Statistic, registry, schema};
pub use remarks::{Trends, of_result as remarks_of_result, of_run as remarks_of_run};
pub use result::{
    Bandwidth, Breakdown, Breakdowns, Duration, FlashResult, GcResult, LateResult, Latencies, Latency, PowerCutResult, PreconditionReport,
    RequestCounts, RunResult, Shared, StateTimes, TimelineResult, Utilisation, WarmUpResult, Wear,
};
pub use series::{
    CacheSeries, FreeBlockSeries, Gauged, GcSeries, Histogram, Histograms, LatencySeries, Level, MOST_BINS, NARROWEST_NS,
    OutstandingSeries, Readings, ResponseSeries, Series, SeriesResult, SeriesShape, StateSeries,
};
pub use slack::{MeanByKind, PausedShare, ShareByKind, Slack, SlackResult, SlackStats, Waiting};
pub use stalls::Stalls;
pub use written::BytesWritten;

pub use crate::blocked::{Blocked, Part, Parts, Times};
pub use crate::distribution::PERCENTILE_ERROR;
use crate::request::{Request, RequestKind};
use crate::units::Ns;

/// One completed request, as handed to the recorder.
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    /// The request's serial number, from 0 in order of arrival.
    pub index: u64,
    /// The flow that sent it, from 0.
    pub flow: u16,
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
    /// Where its response time went.
    pub times: Times,
}

/// Moves completions to `into`, behind what is there.
#[inline]
pub(crate) fn move_completions(from: &mut Vec<Completion>, into: &mut Vec<Completion>) {
    // They are large, and most often nothing is there.
    if into.is_empty() {
        std::mem::swap(into, from);
    } else {
        into.append(from);
    }
}

impl Completion {
    /// That of a request that completes at `completed_ns`.
    #[inline]
    pub fn of(request: &Request, index: u64, sequential: bool, completed_ns: Ns, times: &Times) -> Self {
        let Request { arrival_ns, kind, offset, length, flow, .. } = *request;
        Completion { index, flow, kind, sequential, offset, length, arrival_ns, completed_ns, times: *times }
    }

    /// The parts of its response time.
    #[inline]
    pub fn parts(&self) -> Parts {
        self.times.parts()
    }

    /// The reason for which it waited longest: of its pages, the one that ended last. `None` if that never waited.
    pub fn blocked_by(&self) -> Option<Blocked> {
        self.times.blocked_by()
    }
}
