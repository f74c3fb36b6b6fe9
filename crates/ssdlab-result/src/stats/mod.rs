//! The statistics that a run reports: response times and their parts, recorded in one place, on completion.
//!
//! A [`Recorder`] takes each [`Completion`] once and ends as [`Recorded`]; [`RunResult::assemble`] joins that with the counts of the drive
//! ([`DeviceStats`]). A [`Series`] records a run over time, if requested. [`schema`] gives every statistic with unit and sentence.

mod ages;
mod array;
mod blocks;
mod buffer;
mod cache;
mod class;
mod counters;
mod counts;
mod device;
mod energy;
mod flash;
mod flow;
mod gc;
mod interface;
mod late;
mod load;
mod log;
mod mapping;
mod order;
mod power_states;
mod preparation;
mod recorder;
mod remarks;
mod result;
mod series;
mod slack;
mod slc;
mod stalls;
mod streams;
mod thermal;
mod wear;
mod written;

pub use ages::{AgeStats, AgedBlock, AgesResult, OverBlocks};
pub use array::ArrayResult;
pub use blocks::{BlockNow, Blocks, DriveBlocks, MOST_BLOCKS, MOST_CHANGES, NO_STREAM};
pub use buffer::{BufferResult, BufferStats};
pub use cache::{CacheCounters, CacheResponse, CacheResponses, CacheResult, CacheStats, Responses};
pub use counters::{COUNTERS, Counters};
pub use device::{DeviceStats, Run};
pub use energy::EnergyResult;
pub use flash::{FlashResult, Utilisation, Wear, WearHistogram};
pub use flow::{Alone, Fairness, FlowResult};
pub use gc::{Duration, GcResult, Shared, StateTimes};
pub use interface::{InterfaceResult, InterfaceStats};
pub use late::LateResult;
pub use load::{Load, Overload};
pub use log::Extra;
pub use mapping::{MappingResult, MappingStats};
pub use power_states::{PowerStateResult, PowerStatesResult};
pub use preparation::PreconditionReport;
pub use recorder::{Recorded, Recorder, RequestStats};
pub use remarks::{Filled, Trends, of_result as remarks_of_result, of_run as remarks_of_run};
pub use result::{
    Bandwidth, BlocksResult, Breakdown, Breakdowns, Latencies, Latency, PowerCutResult, RequestCounts, RunResult, TimelineResult,
    WarmUpResult, schema,
};
pub use series::{
    CacheSeries, FreeBlockSeries, Gauged, GcSeries, Histogram, Histograms, LatencySeries, Level, MOST_BINS, NARROWEST_NS,
    OutstandingSeries, Readings, ResponseSeries, Series, SeriesResult, SeriesShape, SlcSeries, StateSeries, StreamSeries, WrittenSeries,
};
pub use slack::{MeanByKind, PausedShare, ShareByKind, Slack, SlackResult, SlackStats, Waiting};
pub use slc::{SlcResult, SlcStats};
pub use stalls::Stalls;
pub use streams::{StreamResult, StreamStats, Streams, Writer};
pub use thermal::ThermalResult;
pub use wear::{EraseWear, LifetimeResult, Rating, ReadOnly, ReadOnlyCause, RetiredBlocks, WearStats};
pub use written::BytesWritten;

pub use crate::distribution::PERCENTILE_ERROR;
pub use ssdlab_base::blocked::{Blocked, Part, Parts, Times};
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::status::Status;
use ssdlab_base::units::Ns;

/// One completed request, as handed to the recorder.
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    /// Serial number of the request, from 0 in order of arrival.
    pub index: u64,
    /// The flow that sent the request, from 0.
    pub flow: u16,
    /// Kind of the request.
    pub kind: RequestKind,
    /// The request started where the request before it ended (lee2013, footnote 2).
    pub sequential: bool,
    /// First byte of the request.
    pub offset: u64,
    /// Length of the request in bytes.
    pub length: u64,
    /// The placement handle of the request; `None`: it names none.
    pub handle: Option<u8>,
    /// Arrival of the request, ns.
    pub arrival_ns: Ns,
    /// Completion of the request, ns.
    pub completed_ns: Ns,
    /// Waiting time by reason, and service time by resource, of the page or part of the request that ended last.
    pub times: Times,
}

/// Moves completions to `into`, behind its content.
#[inline]
pub fn move_completions(from: &mut Vec<Completion>, into: &mut Vec<Completion>) {
    // Completions are large, and most often `into` is empty.
    if into.is_empty() {
        std::mem::swap(into, from);
    } else {
        into.append(from);
    }
}

impl Completion {
    /// The completion of `request` at `completed_ns`.
    #[inline]
    pub fn of(request: &Request, index: u64, sequential: bool, completed_ns: Ns, times: &Times) -> Self {
        let Request { arrival_ns, kind, offset, length, flow, handle, .. } = *request;
        Completion { index, flow, kind, sequential, offset, length, handle, arrival_ns, completed_ns, times: *times }
    }

    /// The drive rejected the request, or a part of it.
    #[inline(always)]
    pub fn is_rejected(&self) -> bool {
        self.times.status == Status::Rejected
    }

    /// The parts of the response time.
    #[inline]
    pub fn parts(&self) -> Parts {
        self.times.parts()
    }

    /// The reason of the longest wait of the request, or of its page that ended last; `None` if that never waited.
    pub fn blocked_by(&self) -> Option<Blocked> {
        self.times.blocked_by()
    }
}
