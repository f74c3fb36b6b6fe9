//! A victim is moved and reset. One batch of units is moved at a time.

use super::space::{Run, Writer};
use super::{Below, Log};
use crate::storage::store::Layer;
use ssdlab_base::request::RequestKind;
use ssdlab_base::units::Ns;

/// The collection of a victim.
#[derive(Debug, Default)]
pub(super) struct Moves {
    /// The zone that is collected.
    victim: Option<u32>,
    /// The next of its units to look at, counted over the units of all zones that can be written.
    next: u32,
    /// The units that are being moved, each with its logical unit, in the order in which they are written.
    batch: Vec<(u32, u32)>,
    /// Reads of the batch that have not ended.
    reads: u32,
    /// Where the batch is written.
    to: Option<Run>,
    resets: bool,
}

impl Log {
    /// Goes on with the victim, or chooses one where too few zones are free. Returns true if a request was sent.
    pub(super) fn collect(&mut self, now: Ns) -> bool {
        if self.moves.resets || !self.moves.batch.is_empty() {
            return false;
        }
        let victim = match self.moves.victim {
            Some(victim) => victim,
            None if self.space.free() >= self.keys.log_free => return false,
            None => {
                let Some(victim) = self.space.choose_victim() else { return false };
                self.counters().log_collections += 1;
                (self.moves.victim, self.moves.next) = (Some(victim), victim * self.capacity);
                victim
            }
        };
        if !self.space.is_written(victim) {
            return false;
        }
        let mut sources = Vec::new();
        if self.moves.next / self.capacity == victim {
            let most = self.keys.log_batch.min(self.space.left_for_moves());
            self.moves.next = self.space.valid_from(self.moves.next, most, &mut sources);
        }
        if sources.is_empty() {
            self.moves.resets = true;
            let length = u64::from(self.capacity) * self.unit_bytes;
            self.pass(now, Below::Resets, None, (RequestKind::ZoneReset, self.byte(victim * self.capacity), length));
            return true;
        }
        self.counters().log_moved_units += sources.len() as u64;
        self.moves.batch = sources.iter().map(|&source| (source, self.space.owner(source).expect("it is valid"))).collect();
        if self.keys.log_copy {
            self.copy(now, sources)
        } else {
            self.read_victim(now, &sources)
        }
        true
    }

    /// Takes room for the batch, and returns its first byte and length.
    fn destination(&mut self) -> (u64, u64) {
        let units = self.moves.batch.len() as u32;
        let run = self.space.take(Writer::Moves, units).filter(|run| run.units == units).expect("a zone is kept for moves");
        self.moves.to = Some(run);
        (self.byte(run.first), u64::from(units) * self.unit_bytes)
    }

    /// The drive copies the batch.
    fn copy(&mut self, now: Ns, sources: Vec<u32>) {
        let (offset, length) = self.destination();
        let bytes = sources.iter().map(|&source| self.byte(source)).collect();
        self.zones.lower_mut().will_copy(offset, bytes);
        self.pass(now, Below::Moves, None, (RequestKind::Copy, offset, length));
    }

    /// The host reads the batch, consecutive units together.
    fn read_victim(&mut self, now: Ns, sources: &[u32]) {
        for run in sources.chunk_by(|one, next| one + 1 == *next) {
            self.moves.reads += 1;
            self.pass(now, Below::ReadsVictim, None, (RequestKind::Read, self.byte(run[0]), run.len() as u64 * self.unit_bytes));
        }
    }

    /// A part of the batch has been read; after the last one the host writes all.
    pub(super) fn victim_read(&mut self, now: Ns) {
        self.moves.reads -= 1;
        if self.moves.reads == 0 {
            let (offset, length) = self.destination();
            self.pass(now, Below::Moves, None, (RequestKind::Write, offset, length));
        }
    }

    /// The batch has been written. Units that were overwritten or trimmed meanwhile stay where they are now.
    pub(super) fn moved(&mut self) {
        let to = self.moves.to.take().expect("a batch was being written");
        self.space.write_ended(to.zone);
        for (at, (source, unit)) in (to.first..).zip(std::mem::take(&mut self.moves.batch)) {
            self.note_move(source, at);
            if self.space.place(unit) == Some(source) || self.moves_replace {
                self.space.put(unit, at);
            }
        }
    }

    /// The victim is empty.
    pub(super) fn victim_reset(&mut self) {
        let victim = self.moves.victim.take().expect("a victim was reset");
        self.moves.resets = false;
        self.space.reset_ended(victim);
    }

    /// Units that are being moved.
    pub(super) fn in_batch(&self) -> usize {
        self.moves.batch.len()
    }

    /// A victim is being collected.
    pub(super) fn collects(&self) -> bool {
        self.moves.victim.is_some()
    }
}
