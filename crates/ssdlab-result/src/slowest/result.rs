//! The file of the slowest requests.

use serde::Serialize;

use crate::timeline::{Index, Track};
use ssdlab_base::blocked::Share;
use ssdlab_base::units::Ns;

/// The file `slowest.json`.
#[derive(Clone, Debug, Serialize)]
pub struct File {
    /// Version of ssdlab.
    pub version: String,
    /// Digest of the run's result.
    pub digest: String,
    /// Limit of the stages that the rings held.
    pub stages: u64,
    /// The slowest reads and writes after the warm-up, the slowest first; of equally slow ones the first to arrive.
    pub slowest: Vec<Explained>,
    /// Requests that the caller requested by number.
    pub asked: Vec<Explained>,
}

/// A share of a segment: waiting for a reason, or being served by a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ShareResult {
    /// The reason or the resource.
    pub what: &'static str,
    /// Whether the request waited; else it was served.
    pub waits: bool,
    /// The part of the response time.
    pub part: &'static str,
    /// Time, ns.
    pub ns: Ns,
}

impl From<(Share, Ns)> for ShareResult {
    fn from((share, ns): (Share, Ns)) -> Self {
        ShareResult { what: share.name(), waits: matches!(share, Share::Wait(_)), part: share.part(), ns }
    }
}

/// An operation, and for how long it overlaps a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct OperationShare {
    /// Index of the operation in `operations`.
    pub operation: usize,
    /// Time for which the operation overlaps the segment, ns.
    pub ns: Ns,
}

/// An interval of a request's response time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Segment {
    /// Start, ns.
    pub from_ns: Ns,
    /// End, ns.
    pub to_ns: Ns,
    /// What the time was spent on; several shares if their order is not known. They add up to the length.
    pub shares: Vec<ShareResult>,
    /// The drive and die where it was spent, if it was on one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drive: Option<u32>,
    /// See `drive`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub die: Option<u32>,
    /// The operation that served it, as its place in `operations`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<usize>,
    /// Operations that it waited for, those with the longest overlap first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub behind: Vec<OperationShare>,
    /// Number of further operations that it waited for.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: usize,
    /// The overlaps of these further operations together, ns.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_ns: Ns,
    /// Number of programs of the write buffer that ended while it waited for room there, the last of them at its end.
    #[serde(skip_serializing_if = "is_zero")]
    pub programs: usize,
    /// GC jobs that it waited for, as places in `jobs`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<usize>,
    /// Page operations of other requests, or for the mapping table, whose end it waited for, as places in `pages`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pages: Vec<usize>,
}

fn is_zero<T: Default + PartialEq>(count: &T) -> bool {
    *count == T::default()
}

/// A stage of an operation, a slice in a timeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StageResult {
    /// Name of the slice.
    pub name: &'static str,
    /// Start, ns.
    pub from_ns: Ns,
    /// End, ns; absent if it had left the ring before it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_ns: Option<Ns>,
    #[serde(skip)]
    pub(super) track: Option<Track>,
}

/// A flash operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OperationResult {
    /// The drive.
    pub drive: u32,
    /// The die.
    pub die: u32,
    /// The operation serves requests; else it is a step of a GC job.
    pub host: bool,
    /// Stages of the operation on the die until the request completed.
    pub stages: Vec<StageResult>,
    /// The host request of its first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<u64>,
    /// Why there is a request, if not for the host's data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<&'static str>,
    /// The logical page of its first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lpn: Option<u32>,
    /// The physical page of its first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ppn: Option<u32>,
    /// The block of the operation's first page, or the block that it erases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
    /// Number of pages.
    pub pages: u32,
    /// The number of its GC job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<u64>,
    #[serde(skip)]
    pub(super) serial: u64,
}

/// A GC job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JobResult {
    /// The drive.
    pub drive: u32,
    /// Number of the job in the drive.
    pub job: u64,
    /// The pool.
    pub pool: u32,
    /// The die of the pool.
    pub die: u32,
    /// The block that it collects.
    pub victim: u32,
    /// Valid pages of the victim at the start.
    pub valid_pages: u32,
    /// Why it began: `hard`, `soft`, `idle`, `episode`, `invalid`.
    pub trigger: &'static str,
    /// Free blocks of the pool at the start.
    pub free_blocks: u32,
    /// Start, ns.
    pub from_ns: Ns,
    /// End, ns; absent if it had not ended when the run did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_ns: Option<Ns>,
    /// The program that took the free block for which it began, as its place in `operations`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_off_by: Option<usize>,
}

/// A page operation whose end a request waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChainResult {
    /// The drive.
    pub drive: u32,
    /// The die.
    pub die: u32,
    /// The host request that it belongs to, if it does to one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<u64>,
    /// Why there is a request, if not for the host's data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<&'static str>,
    /// The logical page.
    pub lpn: u32,
    /// The page operation is a write; else a read.
    pub write: bool,
    /// When the request of the page came to the drive, ns.
    pub from_ns: Ns,
    /// End of the page operation, ns.
    pub to_ns: Ns,
    /// Segments of the page operation, which add up to its time.
    pub segments: Vec<Segment>,
}

/// Why a request took as long as it did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// Number of the request, from 0 in the order of arrival.
    pub request: u64,
    /// The flow that sent it.
    pub flow: u16,
    /// Kind of the request.
    pub kind: &'static str,
    /// First byte.
    pub offset_bytes: u64,
    /// Length, bytes.
    pub size_bytes: u64,
    /// Arrival, ns.
    pub arrival_ns: Ns,
    /// Completion, ns.
    pub completed_ns: Ns,
    /// Response time, ns.
    pub response_ns: Ns,
    /// Number of drives of the storage.
    pub drives: usize,
    /// The reason of the longest wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<&'static str>,
    /// All that happened from this time on was still in the rings. Names of earlier operations may be missing. Absent if nothing is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known_from_ns: Option<Ns>,
    /// Shares of the response time, which add up to it.
    pub shares: Vec<ShareResult>,
    /// Intervals of the response time in order, without gaps.
    pub segments: Vec<Segment>,
    /// Operations that segments name.
    pub operations: Vec<OperationResult>,
    /// GC jobs that segments and operations name.
    pub jobs: Vec<JobResult>,
    /// Page operations that segments name.
    pub pages: Vec<ChainResult>,
}

impl Explained {
    /// Learns when stages and jobs ended that were under way when the request was explained.
    pub(super) fn settle(&mut self, rings: &[Index<'_>]) {
        for operation in &mut self.operations {
            let ring = &rings[operation.drive as usize];
            for stage in operation.stages.iter_mut().filter(|stage| stage.to_ns.is_none()) {
                let ended = stage.track.and_then(|track| ring.stage_at(operation.serial, track, stage.from_ns));
                stage.to_ns = ended.map(|ended| ended.end);
            }
        }
        for job in self.jobs.iter_mut().filter(|job| job.to_ns.is_none()) {
            let ended = rings[job.drive as usize].job(job.job).filter(|other| other.ended != Ns::MAX);
            job.to_ns = ended.map(|ended| ended.ended);
        }
    }
}
