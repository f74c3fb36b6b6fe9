//! Every stage of every operation as an interval on its resource: what tests compare with timelines worked by hand, and what verify mode
//! checks for overlaps.

use std::collections::BTreeMap;

use super::OpKind;
use crate::units::{ChannelId, DieId, Ns};

/// What only one stage can use at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Resource {
    /// The array of a die.
    Array(DieId),
    /// The bus of a channel.
    Bus(ChannelId),
}

/// A stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// What it occupied.
    pub resource: Resource,
    /// The die whose operation it was.
    pub die: DieId,
    /// Its start, ns.
    pub start: Ns,
    /// Its end, ns.
    pub end: Ns,
    /// The operation's kind.
    pub kind: OpKind,
    /// It served a host request.
    pub host: bool,
}

/// The stages seen, checked for overlaps as they come.
#[derive(Debug, Default)]
pub struct Trace {
    /// All of them, if they are kept.
    pub intervals: Vec<Interval>,
    /// Keep them.
    pub keep: bool,
    last_end: BTreeMap<Resource, Ns>,
    /// The first overlap, as a sentence.
    pub overlap: Option<String>,
}

impl Trace {
    /// Notes a stage.
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
