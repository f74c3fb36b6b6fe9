//! Changes of translation pages in flash: of entries of pages that GC has moved, if they are not in memory, and of single entries that left
//! memory changed. The page is read, changed and written; changes of one page are gathered until its turn comes.
//!
//! Programs because of moves take at most half of the units that GC gains. Else GC could feed itself for ever: where more
//! than half of each victim is moved, and each moved page has another translation page changed, it would gain nothing.

use std::collections::VecDeque;

use super::{PlantedInMap, Purpose, State};
use crate::lists::NONE;
use crate::ssd::Ssd;
use ssdlab_base::request::RequestKind;
use ssdlab_base::units::Ns;
use ssdlab_result::timeline::{Cause, Origin};

/// Why a translation page is to change in flash. The later reason includes the earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(super) enum Due {
    /// It is not to change.
    Never,
    /// GC has moved pages with entries in it.
    Moved,
    /// Changed entries of it have left memory.
    Replaced,
}

/// Stage of the change of a translation page in flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// No change is under way.
    None,
    /// The translation page is being read.
    Reads,
    /// The translation page is being read, but has come into memory since, where it has changed.
    Drops,
    /// The translation page is being written.
    Writes,
}

/// Changes of translation pages in flash, pending or under way.
pub(super) struct Updates {
    /// By translation page: why entries are to be changed, where the change has not begun.
    to_come: Vec<Due>,
    /// By translation page: the stage of its change.
    stages: Vec<Stage>,
    /// Translation pages waiting for their turn, because of moves and because of replaced entries; some may have nothing left to change.
    queue: VecDeque<u32>,
    replaced: VecDeque<u32>,
    in_flight: u32,
    most: u32,
    /// Units of a translation page. `spent`: units programmed, or to be programmed, by changes begun because of moves, padding included.
    units_each: i64,
    spent: i64,
}

impl Updates {
    /// No changes, for `pages` translation pages of `units_each` units; at most `most` changes at a time.
    pub(super) fn new(pages: u32, most: u32, units_each: u32) -> Self {
        Updates {
            to_come: vec![Due::Never; pages as usize],
            stages: vec![Stage::None; pages as usize],
            queue: VecDeque::new(),
            replaced: VecDeque::new(),
            in_flight: 0,
            most,
            units_each: units_each.into(),
            spent: 0,
        }
    }

    /// Number of translation pages to change whose change has not begun.
    pub(super) fn pending(&self) -> u64 {
        self.to_come.iter().filter(|&&due| due != Due::Never).count() as u64
    }

    /// Number of translation pages whose change is under way.
    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// A translation page will be written with changes of entries that are not in memory.
    pub(super) fn is_to_come(&self, page: u32) -> bool {
        self.to_come[page as usize] != Due::Never || self.is_read(page)
    }

    /// A translation page is being read to be changed.
    pub(super) fn is_read(&self, page: u32) -> bool {
        self.stages[page as usize] == Stage::Reads
    }

    /// A changed translation page is being written: its content is in memory until that ends.
    pub(super) fn is_written(&self, page: u32) -> bool {
        self.stages[page as usize] == Stage::Writes
    }

    /// A translation page comes into memory: its pending changes are made there. Returns true if there were any.
    pub(super) fn take_over(&mut self, page: u32) -> bool {
        let reads = self.stages[page as usize] == Stage::Reads;
        if reads {
            self.stages[page as usize] = Stage::Drops;
        }
        std::mem::replace(&mut self.to_come[page as usize], Due::Never) != Due::Never || reads
    }

    /// An entry of a translation page is to be changed in flash. Returns false if the page had such a change pending already.
    pub(super) fn add(&mut self, page: u32, due: Due) -> bool {
        let first = self.to_come[page as usize] < due;
        if first {
            self.to_come[page as usize] = due;
            self.stand_in_line(page);
        }
        first
    }

    /// A translation page waits for its turn, if it is to change and its last change has ended.
    fn stand_in_line(&mut self, page: u32) {
        match self.to_come[page as usize] {
            _ if self.stages[page as usize] != Stage::None => {}
            Due::Never => {}
            Due::Moved => self.queue.push_back(page),
            Due::Replaced => self.replaced.push_back(page),
        }
    }

    /// Begins the change of the next translation page, if one may begin, and returns the page, and whether replaced entries or moves have
    /// caused it. `gained`: units gained by GC so far.
    fn next(&mut self, gained: i64) -> Option<(u32, Due)> {
        while self.in_flight < self.most {
            let (page, due) = match self.replaced.pop_front() {
                Some(page) => (page, Due::Replaced),
                None if self.spent + self.units_each <= gained / 2 => (self.queue.pop_front()?, Due::Moved),
                None => return None,
            };
            // The page may have come into memory, or had its turn.
            if self.to_come[page as usize] != Due::Never && self.stages[page as usize] == Stage::None {
                self.to_come[page as usize] = Due::Never;
                self.stages[page as usize] = Stage::Reads;
                self.in_flight += 1;
                self.spend(due, self.units_each);
                return Some((page, due));
            }
        }
        None
    }

    /// Counts units that a change because of moves programs; a negative number: does not program after all.
    fn spend(&mut self, due: Due, units: i64) {
        if due == Due::Moved {
            self.spent += units;
        }
    }

    /// The change of a translation page in flash has ended.
    pub(super) fn ended(&mut self, page: u32) {
        self.stages[page as usize] = Stage::None;
        self.in_flight -= 1;
        self.stand_in_line(page);
    }

    /// Recounts the redundant state.
    ///
    /// # Errors
    /// The first contradiction found.
    pub(super) fn check(&self) -> Result<(), String> {
        let on_their_way = self.stages.iter().filter(|&&stage| stage != Stage::None).count();
        if on_their_way != self.in_flight as usize || self.in_flight > self.most {
            return Err(format!("{on_their_way} translation pages are being changed in flash, but {} are counted", self.in_flight));
        }
        let waits = |page: usize| self.queue.contains(&(page as u32)) || self.replaced.contains(&(page as u32));
        let is_lost = |&page: &usize| self.to_come[page] != Due::Never && self.stages[page] == Stage::None && !waits(page);
        match (0..self.to_come.len()).find(is_lost) {
            Some(page) => Err(format!("translation page {page} is to be changed in flash, but has no turn")),
            None => Ok(()),
        }
    }
}

impl State {
    /// Counts the padding of programs of changed translation pages.
    pub(super) fn note_padding(&mut self, drive: &mut Ssd) {
        let mut padded = std::mem::take(&mut self.padded);
        drive.take_padded(&mut padded);
        for (index, units) in padded.drain(..) {
            if let Purpose::WritesUpdate(_, due) = self.below[index as u32] {
                self.updates.spend(due, units.into());
            }
        }
        self.padded = padded;
    }

    /// Handles page moves that GC has made. Returns true if there were any.
    pub(super) fn note_moves(&mut self, drive: &mut Ssd) -> bool {
        let mut moved = std::mem::take(&mut self.moved);
        drive.take_moved(&mut moved);
        let any = !moved.is_empty();
        // The directory of the translation pages is always in memory.
        for unit in moved.drain(..).filter(|&unit| !drive.ftl().geometry().is_of_map(unit)) {
            self.note_move(unit.0);
        }
        self.moved = moved;
        any
    }

    fn note_move(&mut self, unit: u32) {
        let (slot, page) = (self.pages.slot_of(self.item_of(unit)), self.table.page_of(unit));
        if slot != NONE {
            self.stats.moves_cached += 1;
            return self.change(slot);
        }
        if let Some(shadow) = &mut self.shadow {
            shadow.changed(page);
        }
        if self.planted == Some(PlantedInMap::ForgetsMoves) {
            return;
        }
        self.stats.moves_gathered += u64::from(!self.updates.add(page, Due::Moved));
    }

    /// Begins changes of translation pages in flash, as many at a time as there are dies, those because of moves only while GC has made room.
    /// Returns true if any has begun.
    pub(super) fn begin_updates(&mut self, now: Ns, drive: &mut Ssd) -> bool {
        let mut any = false;
        while let Some((page, due)) = self.updates.next(drive.gained()) {
            any = true;
            if self.written[page as usize] {
                let origin = Origin::nobody(Cause::MapUpdate);
                self.transfer(now, RequestKind::Read, page, Purpose::ReadsForUpdate(page, due), origin, false, drive);
            } else {
                self.write_update(now, page, due, drive);
            }
        }
        any
    }

    /// A translation page has been read to be changed: it is written with all changes pending by now, and those of its entries in memory.
    pub(super) fn write_update(&mut self, now: Ns, page: u32, due: Due, drive: &mut Ssd) {
        if self.updates.stages[page as usize] == Stage::Drops {
            self.updates.spend(due, -self.updates.units_each);
            return self.updates.ended(page);
        }
        self.updates.stages[page as usize] = Stage::Writes;
        self.updates.to_come[page as usize] = Due::Never;
        match due {
            Due::Replaced => self.stats.write_backs += 1,
            _ => self.stats.updates += 1,
        }
        if self.single {
            self.pages.clean(self.table.mapped_by(page));
        }
        self.write(now, page, Purpose::WritesUpdate(page, due), Origin::nobody(Cause::MapUpdate), false, drive);
    }
}
