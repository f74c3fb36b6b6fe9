//! Translation pages come into memory: the one that is replaced is written back if it has changed, then the missing one is read. Single
//! entries come into memory: what they replace leaves at once, and its change in flash is one of `updates`.

use super::pages::{Client, Progress};
use super::updates::Due;
use super::{PlantedInMap, Purpose, State};
use crate::lists::NONE;
use crate::ssd::Ssd;
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::units::Ns;
use ssdlab_result::timeline::{Cause, Origin};

impl State {
    /// A missing item takes a slot, for a command.
    pub(super) fn bring(&mut self, now: Ns, slot: u32, item: u32, place: u32, drive: &mut Ssd) {
        if self.single { self.bring_entry(now, slot, item, place, drive) } else { self.bring_page(now, slot, item, place, drive) }
    }

    /// A missing translation page takes a slot, for a command. The slot can be filled once the page that it replaces is in flash.
    fn bring_page(&mut self, now: Ns, slot: u32, page: u32, place: u32, drive: &mut Ssd) {
        let whole = self.is_whole(place, page);
        let replaced = self.pages.replace(slot, page);
        let (origin, high_priority) = (self.commands[place].origin, self.commands[place].request.high_priority);
        let dirty = self.updates.take_over(page);
        let taken = self.pages.get_mut(slot);
        (taken.whole, taken.dirty, taken.client) = (whole, dirty, Some(Client { origin, high_priority }));
        match replaced {
            Some((old, true)) if self.planted != Some(PlantedInMap::DropsDirtyPages) => {
                self.stats.write_backs += 1;
                self.write(now, old, Purpose::WritesBack(slot), origin.made(Cause::MapWrite), high_priority, drive);
            }
            _ => self.read(now, slot, drive),
        }
    }

    /// A missing entry takes a slot, for a command: it is read with its translation page, unless that is in memory to be written, or was
    /// never written. Entries that are missing while their translation page is read come with it.
    fn bring_entry(&mut self, now: Ns, slot: u32, unit: u32, place: u32, drive: &mut Ssd) {
        let page = self.table.page_of(unit);
        if let Some((old, true)) = self.pages.replace(slot, unit)
            && self.planted != Some(PlantedInMap::DropsDirtyPages)
        {
            self.updates.add(self.table.page_of(old), Due::Replaced);
        }
        if !self.written[page as usize] || self.updates.is_written(page) {
            self.stats.unread += 1;
            return self.is_there(now, slot, drive);
        }
        self.pages.get_mut(slot).progress = Progress::IsRead;
        let comes_along = self.arriving[page as usize].head != NONE || self.updates.is_read(page);
        self.arrivals.push(&mut self.arriving[page as usize], slot);
        if comes_along {
            self.stats.unread += 1;
            return;
        }
        let (origin, high_priority) = (self.commands[place].origin.made(Cause::MapRead), self.commands[place].request.high_priority);
        let first = u64::from(self.table.units_of(page).start) * u64::from(self.unit_bytes);
        let within = u64::from((unit - self.table.mapped_by(page).start) * self.entry_bytes);
        let range = (first + within, self.entry_bytes.into());
        self.request(now, RequestKind::Read, range, Purpose::ReadsEntries(page), origin, high_priority, drive);
    }

    /// A translation page has been read: entries that have waited for it are in memory.
    pub(super) fn entries_are_there(&mut self, now: Ns, page: u32, drive: &mut Ssd) {
        while self.single && self.arriving[page as usize].head != NONE {
            let slot = self.arriving[page as usize].head;
            self.arrivals.unlink(&mut self.arriving[page as usize], slot);
            self.is_there(now, slot, drive);
        }
    }

    /// The slot can be filled: reads its translation page, unless the page was never written or all of its entries are changed.
    pub(super) fn read(&mut self, now: Ns, slot: u32, drive: &mut Ssd) {
        let taken = self.pages.get(slot);
        let (page, Client { origin, high_priority }) = (taken.item, taken.client.expect("a command has asked for it"));
        if taken.whole || !self.written[page as usize] {
            self.stats.unread += 1;
            return self.is_there(now, slot, drive);
        }
        self.pages.get_mut(slot).progress = Progress::IsRead;
        self.transfer(now, RequestKind::Read, page, Purpose::Reads(slot), origin.made(Cause::MapRead), high_priority, drive);
    }

    /// The item of a slot is in memory now.
    pub(super) fn is_there(&mut self, now: Ns, slot: u32, drive: &mut Ssd) {
        let taken = self.pages.get_mut(slot);
        taken.progress = Progress::Ready;
        let (page, dirty) = (taken.item, taken.dirty);
        if let Some(shadow) = &mut self.shadow
            && !self.single
            && !dirty
            && let Err(sentence) = shadow.check(page)
        {
            shadow.note(sentence);
        }
        self.serve_waiters(now, slot, drive);
    }

    /// Writes the present version of a translation page to flash.
    pub(super) fn write(&mut self, now: Ns, page: u32, purpose: Purpose, origin: Origin, high_priority: bool, drive: &mut Ssd) {
        self.written[page as usize] = true;
        if let Some(shadow) = &mut self.shadow {
            shadow.written(page);
        }
        self.learn(page, drive);
        self.transfer(now, RequestKind::Write, page, purpose, origin, high_priority, drive);
    }

    #[expect(clippy::too_many_arguments, reason = "all of a request to the drive")]
    pub(super) fn transfer(
        &mut self,
        now: Ns,
        kind: RequestKind,
        page: u32,
        purpose: Purpose,
        origin: Origin,
        high_priority: bool,
        drive: &mut Ssd,
    ) {
        let (units, unit_bytes) = (self.table.units_of(page), u64::from(self.unit_bytes));
        let range = (u64::from(units.start) * unit_bytes, units.len() as u64 * unit_bytes);
        self.request(now, kind, range, purpose, origin, high_priority, drive);
    }

    #[expect(clippy::too_many_arguments, reason = "all of a request to the drive")]
    fn request(
        &mut self,
        now: Ns,
        kind: RequestKind,
        (offset, length): (u64, u64),
        purpose: Purpose,
        origin: Origin,
        high_priority: bool,
        drive: &mut Ssd,
    ) {
        let below = self.below.insert(purpose);
        drive.next_request_is(origin);
        drive.accept(now, below.into(), Request { arrival_ns: now, kind, offset, length, high_priority, flow: 0, handle: None });
        self.passed = true;
    }
}
