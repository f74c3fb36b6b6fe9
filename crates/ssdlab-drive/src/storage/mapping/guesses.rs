//! Reads whose address is predicted by models: without a translation page where these are exact, or after a read of a mispredicted flash page.

use super::models::Models;
use super::{PlantedInMap, Purpose, State};
use crate::ssd::Ssd;
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::units::{Lpn, Ns, Ppn};
use ssdlab_result::timeline::Cause;

impl State {
    /// Segments take the place of the table.
    pub(super) fn maps_by_segments(&self) -> bool {
        matches!(self.models, Models::Segments(_))
    }

    /// Models forget the units whose places have changed.
    pub(super) fn note_changes(&mut self, drive: &mut Ssd) {
        let mut changed = std::mem::take(&mut self.moved);
        drive.take_changed(&mut changed);
        for unit in changed.drain(..).filter(|&unit| !drive.ftl().geometry().is_of_map(unit)) {
            if self.planted != Some(PlantedInMap::KeepsOldModels) {
                self.models.entry_changes(unit.0);
            }
        }
        self.moved = changed;
    }

    /// A translation page is written: its entries are in memory, and its model is made of them.
    pub(super) fn learn(&mut self, page: u32, drive: &mut Ssd) {
        self.note_changes(drive);
        if let Models::Exact(models) = &mut self.models {
            models.page_is_written(page, drive.ftl());
        }
    }

    /// The model gives all places of an item that a read needs, so that it needs no translation page.
    pub(super) fn is_predicted(&mut self, place: u32, item: u32, drive: &mut Ssd) -> bool {
        self.note_changes(drive);
        let (Models::Exact(models), command) = (&self.models, &self.commands[place]) else { return false };
        if command.request.kind != RequestKind::Read {
            return false;
        }
        let (units, of_item) = (self.units_of(command), if self.single { item..item + 1 } else { self.table.mapped_by(item) });
        let mut needed = units.start.max(of_item.start)..units.end.min(of_item.end);
        if !needed.clone().all(|unit| models.knows(unit)) {
            return false;
        }
        let right = needed.try_for_each(|unit| models.check(unit, drive.ftl()));
        if let (Some(shadow), Err(sentence)) = (&mut self.shadow, right) {
            shadow.note(sentence);
        }
        self.stats.predicted += 1;
        true
    }

    /// Begins to read the flash pages that segments mispredict for a command, each once. Returns true if there are any.
    pub(super) fn reads_wrong_places(&mut self, now: Ns, place: u32, drive: &mut Ssd) -> bool {
        let command = &self.commands[place];
        if !self.maps_by_segments() || command.request.kind != RequestKind::Read || command.own.guessed {
            return false;
        }
        self.note_changes(drive);
        let command = &self.commands[place];
        let (units, origin) = (self.units_of(command), command.origin.made(Cause::MapRead));
        let high_priority = command.request.high_priority;
        self.commands[place].own.guessed = true;
        let mut read = Vec::new();
        for unit in units {
            let Some(wrong) = self.wrong_page(unit, drive) else { continue };
            let first = drive.ftl().geometry().first_in_flash_page(wrong);
            if read.contains(&first) {
                continue;
            }
            read.push(first);
            self.stats.mispredicted += 1;
            self.commands[place].own.missing += 1;
            let number = self.below.insert(Purpose::Guesses(place));
            let length = self.unit_bytes.into();
            let offset = u64::from(read_instead(wrong, unit, drive)) * length;
            drive.next_request_is(origin);
            let request = Request { arrival_ns: now, kind: RequestKind::Read, offset, length, high_priority, flow: 0, handle: None };
            drive.accept(now, number.into(), request);
            self.passed = true;
        }
        !read.is_empty()
    }

    /// The wrong page that the controller reads for a unit. None if the unit holds no data, or is being written: then it is in memory.
    fn wrong_page(&mut self, unit: u32, drive: &Ssd) -> Option<Ppn> {
        let Models::Segments(segments) = &mut self.models else { return None };
        let ftl = drive.ftl();
        let ppn = ftl.lookup(Lpn(unit)).filter(|_| !drive.is_changing(Lpn(unit)))?;
        let wrong = segments.wrong_page(unit, ppn, ftl);
        if let Some(shadow) = &mut self.shadow
            && let Err(sentence) = segments.check(unit, ftl)
        {
            shadow.note(sentence);
        }
        wrong
    }

    /// A mispredicted flash page has been read for a command.
    pub(super) fn wrong_place_read(&mut self, now: Ns, place: u32, drive: &mut Ssd) {
        self.commands[place].own.missing -= 1;
        self.go_on_if_free(now, place, drive);
    }
}

/// The unit by which a flash page is read: one that it holds; if it holds none that is not changing, the unit that is looked for, which takes as long.
fn read_instead(wrong: Ppn, unit: u32, drive: &Ssd) -> u32 {
    let ftl = drive.ftl();
    let mut held = ftl.units_with(wrong).map(|(_, lpn)| lpn);
    held.find(|&lpn| !drive.is_changing(lpn) && !ftl.geometry().is_of_map(lpn)).map_or(unit, |lpn| lpn.0)
}
