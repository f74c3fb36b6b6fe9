//! Reads around GC (`array.rebuild_reads`; Li et al. 2021): a read of a drive is replaced by reads of all others, from which the data are
//! computed, if the drive refuses it, since it would wait for GC, or if the drive is in its window to collect. Bytes of one unit are decided on
//! together. Like a read of a failed drive they are read in turn with the updates of their stripe.

use super::split::{Access, Run};
use super::stripe_locks::Work;
use super::{Array, PlantedInArray};
use crate::storage::Store;
use ssdlab_base::request::RequestKind;
use ssdlab_base::units::Ns;
use ssdlab_keys::config::{self, RebuildReads};
use ssdlab_keys::turns::Turns;

/// Which reads are rebuilt.
#[derive(Clone, Copy, Debug)]
pub struct Rebuilds {
    by: RebuildReads,
    turns: Option<Turns>,
}

impl Rebuilds {
    /// `None`: no read is.
    pub fn new(array: &config::Array) -> Option<Self> {
        (array.rebuild_reads != RebuildReads::Off).then(|| Rebuilds { by: array.rebuild_reads, turns: Turns::new(array) })
    }
}

/// Bytes of one unit on a drive.
#[derive(Clone, Copy, Debug)]
pub struct UnitRead {
    pub stripe: u32,
    pub drive: u32,
    pub run: Run,
}

impl<D: Store> Array<D> {
    /// Sends a read of bytes of one unit if the array reads around GC and the unit's drive collects. Returns false, with nothing sent, if its drive
    /// is to be read. `in_turn`: the read is the next of its stripe; else it waits for its turn if the stripe is locked.
    pub(super) fn reads_around(&mut self, now: Ns, place: u32, read: UnitRead, in_turn: bool) -> bool {
        if self.rebuilds.is_none_or(|rebuilds| !self.is_to_rebuild(now, rebuilds, read)) {
            return false;
        }
        let (Run { start, end }, page) = (read.run, u64::from(self.layout.page_bytes));
        self.result.rebuilt_pages += end.div_ceil(page) - start / page;
        if in_turn || !self.locks.is_held(read.stripe) {
            self.rebuild(now, place, read.drive, read.run);
        } else {
            self.wait(read.stripe, place, Work::Rebuild { drive: read.drive, start, end });
        }
        true
    }

    /// Reads all working drives except this one, from whose data its own are computed.
    pub(super) fn rebuild(&mut self, now: Ns, place: u32, drive: u32, Run { start, end }: Run) {
        let others = || self.layout.working().filter(move |&other| other != drive);
        let left_out = self.has(PlantedInArray::LeavesOneOut).then(|| others().next()).flatten();
        for other in others().filter(|&other| Some(other) != left_out) {
            self.send_part(now, place, Access { kind: RequestKind::Read, drive: other, start, end, data_drive: drive });
        }
    }

    fn is_to_rebuild(&mut self, now: Ns, rebuilds: Rebuilds, read: UnitRead) -> bool {
        if rebuilds.by == RebuildReads::Window {
            return rebuilds.turns.is_some_and(|turns| turns.drive_at(now) == read.drive);
        }
        let Some(own) = self.gc_ahead_of(read.drive, read.run) else { return false };
        self.result.refused_reads += 1;
        if rebuilds.by == RebuildReads::Refused {
            return true;
        }
        let others = self.layout.working().filter(|&drive| drive != read.drive);
        let Some(longest) = others.filter_map(|drive| self.gc_ahead_of(drive, read.run)).max() else { return true };
        self.result.shortest_waits += 1;
        longest < own
    }

    /// A drive refuses a read of these bytes of it, since one of their pages would wait for GC: the longest time for which GC remains busy, ns.
    fn gc_ahead_of(&self, drive: u32, Run { start, end }: Run) -> Option<Ns> {
        let page = u64::from(self.layout.page_bytes);
        let pages = (start / page) as u32..end.div_ceil(page) as u32;
        pages.filter_map(|page| self.drives[drive as usize].gc_ahead(page)).max()
    }
}
