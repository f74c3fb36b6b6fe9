//! Entries of pages that GC has moved. Of a translation page in memory they change there. Others are read, changed and written in flash: moves
//! whose entries are in one translation page are gathered until its turn comes.
//!
//! These programs take at most half of what GC gains. Else GC could feed itself for ever: where more than half of each victim is moved, and each
//! moved page has another translation page changed, it would gain nothing.

use std::collections::VecDeque;

use super::{PlantedInMap, Purpose, State};
use crate::lists::NONE;
use crate::request::RequestKind;
use crate::ssd::Ssd;
use crate::timeline::{Cause, Origin};
use crate::units::Ns;

/// How far the change of a translation page in flash has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// None is on its way.
    None,
    /// It is being read.
    Reads,
    /// It is being read, but is in memory now, where it has changed.
    Drops,
    /// It is being written.
    Writes,
}

/// Changes of translation pages in flash that are to come, or on their way.
pub(super) struct Updates {
    /// By translation page: entries are to be changed.
    to_come: Vec<bool>,
    /// By translation page.
    stages: Vec<Stage>,
    /// Translation pages whose turn comes, some of which may have nothing to be changed any more.
    queue: VecDeque<u32>,
    in_flight: u32,
    most: u32,
    /// Units of a translation page; and those that all of them have programmed, or will, padding among them.
    units_each: i64,
    spent: i64,
}

impl Updates {
    /// Of so many translation pages of so many units, at most so many at a time.
    pub(super) fn new(pages: u32, most: u32, units_each: u32) -> Self {
        Updates {
            to_come: vec![false; pages as usize],
            stages: vec![Stage::None; pages as usize],
            queue: VecDeque::new(),
            in_flight: 0,
            most,
            units_each: units_each.into(),
            spent: 0,
        }
    }

    /// Translation pages that are to be changed, and whose change has not begun.
    pub(super) fn pending(&self) -> u64 {
        self.to_come.iter().filter(|&&is| is).count() as u64
    }

    /// Translation pages that are being changed.
    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// A translation page will be written because of moves.
    pub(super) fn is_to_come(&self, page: u32) -> bool {
        self.to_come[page as usize] || self.stages[page as usize] == Stage::Reads
    }

    /// A translation page comes into memory: what was to be changed in flash changes there. Returns whether there was anything.
    pub(super) fn take_over(&mut self, page: u32) -> bool {
        let reads = self.stages[page as usize] == Stage::Reads;
        if reads {
            self.stages[page as usize] = Stage::Drops;
        }
        std::mem::take(&mut self.to_come[page as usize]) || reads
    }

    /// An entry of a translation page is to be changed in flash. Returns false if others are already.
    fn add(&mut self, page: u32) -> bool {
        let first = !std::mem::replace(&mut self.to_come[page as usize], true);
        if first && self.stages[page as usize] == Stage::None {
            self.queue.push_back(page);
        }
        first
    }

    /// The translation page whose change begins next, if one may. `gained`: units that GC has gained in all.
    fn next(&mut self, gained: i64) -> Option<u32> {
        while self.in_flight < self.most
            && self.spent + self.units_each <= gained / 2
            && let Some(page) = self.queue.pop_front()
        {
            // It may be in memory by now, or have had its turn.
            if self.to_come[page as usize] && self.stages[page as usize] == Stage::None {
                self.to_come[page as usize] = false;
                self.stages[page as usize] = Stage::Reads;
                self.in_flight += 1;
                self.spent += self.units_each;
                return Some(page);
            }
        }
        None
    }

    /// The change of a translation page in flash is over.
    pub(super) fn ended(&mut self, page: u32) {
        self.stages[page as usize] = Stage::None;
        self.in_flight -= 1;
        if self.to_come[page as usize] {
            self.queue.push_back(page);
        }
    }

    /// Recounts.
    ///
    /// # Errors
    /// The first contradiction found.
    pub(super) fn check(&self) -> Result<(), String> {
        let on_their_way = self.stages.iter().filter(|&&stage| stage != Stage::None).count();
        if on_their_way != self.in_flight as usize || self.in_flight > self.most {
            return Err(format!("{on_their_way} translation pages are being changed in flash, but {} are counted", self.in_flight));
        }
        let is_lost = |&page: &usize| self.to_come[page] && self.stages[page] == Stage::None && !self.queue.contains(&(page as u32));
        match (0..self.to_come.len()).find(is_lost) {
            Some(page) => Err(format!("translation page {page} is to be changed in flash, but has no turn")),
            None => Ok(()),
        }
    }
}

impl State {
    /// Programs of translation pages had padding.
    pub(super) fn note_padding(&mut self, drive: &mut Ssd) {
        let mut padded = std::mem::take(&mut self.padded);
        drive.take_padded(&mut padded);
        for (index, units) in padded.drain(..) {
            if let Purpose::WritesUpdate(_) = self.below[index as u32] {
                self.updates.spent += i64::from(units);
            }
        }
        self.padded = padded;
    }

    /// GC has moved pages. Returns true if it has.
    pub(super) fn note_moves(&mut self, drive: &mut Ssd) -> bool {
        let mut moved = std::mem::take(&mut self.moved);
        drive.take_moved(&mut moved);
        let any = !moved.is_empty();
        // Where translation pages are is always in memory.
        for unit in moved.drain(..).filter(|&unit| !drive.ftl().geometry().is_of_map(unit)) {
            self.note_move(self.table.page_of(unit.0));
        }
        self.moved = moved;
        any
    }

    fn note_move(&mut self, page: u32) {
        let slot = self.pages.slot_of(page);
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
        self.stats.moves_gathered += u64::from(!self.updates.add(page));
    }

    /// Translation pages are changed in flash, as many at a time as there are dies, and no more than GC has made room
    /// for. Returns true if any change has begun.
    pub(super) fn begin_updates(&mut self, now: Ns, drive: &mut Ssd) -> bool {
        let mut any = false;
        while let Some(page) = self.updates.next(drive.gained()) {
            any = true;
            if self.written[page as usize] {
                let origin = Origin::nobody(Cause::MapUpdate);
                self.transfer(now, RequestKind::Read, page, Purpose::ReadsForUpdate(page), origin, false, drive);
            } else {
                self.write_update(now, page, drive);
            }
        }
        any
    }

    /// A translation page has been read to be changed: it is written with all changes that have come until now.
    pub(super) fn write_update(&mut self, now: Ns, page: u32, drive: &mut Ssd) {
        if self.updates.stages[page as usize] == Stage::Drops {
            self.updates.spent -= self.updates.units_each;
            return self.updates.ended(page);
        }
        self.updates.stages[page as usize] = Stage::Writes;
        self.updates.to_come[page as usize] = false;
        self.stats.updates += 1;
        self.write(now, page, Purpose::WritesUpdate(page), Origin::nobody(Cause::MapUpdate), false, drive);
    }
}
