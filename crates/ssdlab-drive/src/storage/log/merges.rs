//! Log-block mapping: merges are carried out, and zones without valid units are reset.

use super::blocks::{Blocks, How, Merge};
use super::space::Run;
use super::{Below, Log};
use crate::storage::store::Layer;
use ssdlab_base::request::RequestKind;
use ssdlab_base::units::Ns;

/// What is under way.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// The logical units that are being copied, each behind the place it is copied from; `None` where padding is written instead.
    batch: Vec<(Option<u32>, u32)>,
    /// Where they are written.
    to: Option<Run>,
    /// The zone that is being reset.
    reset: Option<u32>,
}

impl Log {
    /// Goes on with the merge under way, begins one that writes wait for, and resets a zone without valid units. Returns true if anything was done.
    pub(super) fn merge(&mut self, now: Ns) -> bool {
        let mut any = self.reset_empty(now);
        let Some(blocks) = &mut self.blocks else { return any };
        let asked = blocks.asks();
        if let Some(Merge { how, .. }) = blocks.begin_merge(&mut self.space) {
            let counters = self.zones.lower_mut().counters();
            *match how {
                How::Switch => &mut counters.log_switch_merges,
                How::Partial => &mut counters.log_partial_merges,
                How::Full => &mut counters.log_full_merges,
            } += 1;
        }
        any |= asked && !self.blocks.as_ref().is_some_and(Blocks::asks);
        any | self.next_step(now)
    }

    /// Copies the next data of the merge, or pads where the block has none. Returns true if anything was done.
    fn next_step(&mut self, now: Ns) -> bool {
        let Some(blocks) = self.blocks.as_mut().filter(|_| self.steps.to.is_none()) else { return false };
        let Some(Merge { block, into, next, .. }) = blocks.merging() else { return false };
        if next == self.capacity {
            blocks.end_merge();
            return true;
        }
        let source = |offset: u32| self.space.place(block * self.capacity + offset);
        let pads = source(next).is_none();
        let end = self.capacity.min(next + self.keys.log_batch);
        let units = (next..end).take_while(|&offset| source(offset).is_none() == pads);
        let batch: Vec<(Option<u32>, u32)> = units.map(|offset| (source(offset), block * self.capacity + offset)).collect();
        // A write of a unit may still be under way.
        if batch.iter().any(|(source, _)| source.is_some_and(|place| !self.space.is_written(place / self.capacity))) {
            return false;
        }
        let run = blocks.append(&mut self.space, into, batch.len() as u32);
        let (offset, length) = (self.byte(run.first), u64::from(run.units) * self.unit_bytes);
        let kind = if pads {
            self.counters().log_padded_units += u64::from(run.units);
            RequestKind::Write
        } else {
            self.counters().log_moved_units += u64::from(run.units);
            let bytes = batch.iter().filter_map(|(source, _)| source.map(|place| self.byte(place))).collect();
            self.zones.lower_mut().will_copy(offset, bytes);
            RequestKind::Copy
        };
        (self.steps.batch, self.steps.to) = (batch, Some(run));
        self.pass(now, Below::Merges, None, (kind, offset, length));
        true
    }

    /// A step of the merge has ended. Units that were trimmed meanwhile stay without data.
    pub(super) fn step_ended(&mut self) {
        let run = self.steps.to.take().expect("a step was under way");
        self.space.write_ended(run.zone);
        for (at, (source, unit)) in (run.first..).zip(std::mem::take(&mut self.steps.batch)) {
            let Some(source) = source else { continue };
            self.note_move(source, at);
            if self.space.place(unit) == Some(source) || self.moves_replace {
                self.space.put(unit, at);
            }
        }
        self.blocks.as_mut().expect("there are merges").merged(run.units);
    }

    fn reset_empty(&mut self, now: Ns) -> bool {
        let Some(blocks) = self.blocks.as_ref().filter(|_| self.steps.reset.is_none()) else { return false };
        let Some(zone) = blocks.to_reset(&self.space) else { return false };
        self.steps.reset = Some(zone);
        self.space.resets(zone);
        let length = u64::from(self.capacity) * self.unit_bytes;
        self.pass(now, Below::ResetsEmpty, None, (RequestKind::ZoneReset, self.byte(zone * self.capacity), length));
        true
    }

    /// The reset of a zone without valid units has ended: it is free.
    pub(super) fn empty_reset(&mut self) {
        let zone = self.steps.reset.take().expect("a zone was being reset");
        self.blocks.as_mut().expect("there are merges").reset_ended(zone);
        self.space.reset_ended(zone);
    }

    /// A merge is under way, or a zone is being reset.
    pub(super) fn merges(&self) -> bool {
        self.steps.reset.is_some() || self.blocks.as_ref().is_some_and(|blocks| blocks.merging().is_some())
    }
}
