//! Every stage of every operation as an interval on its resource: what tests compare with timelines worked by hand, and what verify mode
//! checks for overlaps.

use std::collections::BTreeMap;

use super::OpKind;
use ssdlab_base::units::{ChannelId, DieId, Ns};

/// A resource that only one stage can use at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Resource {
    /// The array of a die.
    Array(DieId),
    /// The bus of a channel.
    Bus(ChannelId),
}

/// A stage of an operation, as an interval on its resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The resource that the stage occupied.
    pub resource: Resource,
    /// The die of the operation.
    pub die: DieId,
    /// Start of the stage, ns.
    pub start: Ns,
    /// End of the stage, ns.
    pub end: Ns,
    /// Kind of the operation.
    pub kind: OpKind,
    /// The operation belonged to the host.
    pub host: bool,
}

/// The stages of all operations, checked for overlaps as they come.
#[derive(Debug, Default)]
pub struct Trace {
    /// All stages, if they are kept.
    pub intervals: Vec<Interval>,
    /// Stages are kept, not only checked.
    pub keep: bool,
    last_end: BTreeMap<Resource, Ns>,
    /// The first overlap, as a sentence.
    pub overlap: Option<String>,
}

impl Trace {
    /// Checks a stage, and keeps it if wanted.
    pub(super) fn push(&mut self, interval: Interval) {
        let last = self.last_end.entry(interval.resource).or_insert(0);
        if interval.start < *last && interval.end > interval.start && self.overlap.is_none() {
            self.overlap = Some(format!("{interval:?} begins before the stage ahead of it ended at {last} ns"));
        }
        *last = interval.end.max(*last);
        if self.keep {
            self.intervals.push(interval);
        }
    }
}
