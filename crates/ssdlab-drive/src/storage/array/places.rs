//! Where blocks can fail (`wear`), a write takes places for each of its pages, and for the parity of the page, before any drive gets a part of
//! it: so drives reject nothing, and data and parity are written together or not at all. A write waits in front of the array until there are
//! places for its next page, and all later requests with it. Once a drive is read-only, writes and trims are rejected.

use super::Array;
use super::update::{Update, Written};
use crate::storage::Store;
use crate::storage::places::{Gate, Line, Places};
use ssdlab_base::blocked::Blocked;
use ssdlab_base::status::Status;
use ssdlab_base::units::Ns;
use ssdlab_result::stats::Completion;

impl<D: Store> Places for Array<D> {
    fn is_read_only(&self) -> bool {
        self.layout.working().any(|drive| self.drives[drive as usize].is_read_only())
    }

    fn is_awaited(&self) -> bool {
        self.layout.working().any(|drive| self.drives[drive as usize].is_awaited())
    }

    fn has_lost(&self) -> bool {
        self.layout.working().any(|drive| self.drives[drive as usize].has_lost())
    }

    fn has_place(&self, page: u32) -> bool {
        self.layout.written_with(page).all(|(drive, page)| self.drives[drive as usize].has_place(page))
    }

    fn take_place(&mut self, page: u32) {
        self.layout.written_with(page).for_each(|(drive, page)| self.drives[drive as usize].take_place(page));
    }

    fn give_back_place(&mut self, page: u32) {
        for (drive, page) in self.layout.written_with(page) {
            self.drives[drive as usize].give_back_place(page);
            self.touch(drive);
        }
    }

    fn awaits_place(&mut self, now: Ns, page: u32, waits: bool) {
        for (drive, page) in self.layout.written_with(page) {
            self.drives[drive as usize].awaits_place(now, page, waits);
            self.touch(drive);
        }
    }

    fn note_rejected(&mut self, page: u32) {
        if let Some((drive, page)) = self.layout.written_with(page).next() {
            self.drives[drive as usize].note_rejected(page);
        }
    }
}

impl<D: Store> Gate for Array<D> {
    type Keeper = Self;

    fn line(&mut self) -> Option<&mut Line> {
        self.line.as_deref_mut()
    }

    fn keeper(&mut self) -> &mut Self {
        self
    }

    fn come_in(&mut self, now: Ns, request: u32, from: u32) -> Option<u32> {
        self.split(now, request, from)
    }
}

impl<D: Store> Array<D> {
    /// Takes places for the bytes of a write from `from` on. Returns the end of those that have one; the write is rejected as to the rest if a
    /// drive is read-only.
    pub(super) fn place_bytes(&mut self, place: u32, from: u64, end: u64) -> u64 {
        if self.line.as_ref().is_none_or(|line| line.given) {
            return end;
        }
        let bytes = u64::from(self.layout.page_bytes);
        for page in (from / bytes) as u32..end.div_ceil(bytes) as u32 {
            if self.rejects(place, page) || !self.has_place(page) {
                return from.max(u64::from(page) * bytes);
            }
            self.take_place(page);
        }
        end
    }

    /// A drive is read-only: a write or trim of a request is rejected, from this page on.
    pub(super) fn rejects(&mut self, place: u32, page: u32) -> bool {
        let rejects = self.line.as_ref().is_some_and(|line| !line.given) && self.is_read_only();
        if rejects {
            self.requests[place].times.status.add(Status::Rejected);
            self.note_rejected(page.min(self.layout.exported_pages() - 1));
        }
        rejects
    }

    /// An update programs one page of parity for each column, and has a place for one with each page of data: gives the others back.
    pub(super) fn give_back_spare_places(&mut self, update: &Update) {
        if self.line.is_none() {
            return;
        }
        let layout = self.layout;
        let (first, last) = update.units(&layout);
        let parity = layout.parity_drive(update.stripe).expect("updates write parity");
        for column in update.columns(&layout).into_iter().flatten() {
            let written = (first..=last).filter(|&unit| update.written(&layout, unit, column) != Written::Not).count();
            let drive = &mut self.drives[parity as usize];
            (1..written).for_each(|_| drive.give_back_place(update.stripe * layout.unit_pages + column));
        }
    }

    /// Verify mode: a drive rejects nothing that the array has accepted, unless data of its are lost.
    pub(super) fn check_accepted(&mut self, drive: u32, completion: &Completion) {
        if let Some(shadow) = &mut self.shadow
            && self.line.is_some()
            && completion.times.status == Status::Rejected
            && !self.drives[drive as usize].has_lost()
        {
            shadow.note(Err(format!("drive {drive} rejects a request that the array has accepted")));
        }
    }

    /// A request completes: what its parts did not take of its response time it has waited for places.
    pub(super) fn note_wait(&mut self, now: Ns, place: u32) {
        if self.line.is_some() {
            let request = &mut self.requests[place];
            let waited = now - request.request.arrival_ns - request.times.total().expect("times of a run add up");
            request.times.wait(Blocked::StripeLock, waited);
        }
    }
}
