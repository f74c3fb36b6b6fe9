//! Where blocks can fail (`wear`), the drive keeps a place for each page that is dirty or on its way to flash. A write waits in front of the
//! cache until there is one for its next page, and all later requests with it. Meanwhile, the cache destages the pages that have been dirty
//! longest. Once a drive is read-only, writes and trims are rejected, and all dirty pages are destaged.

use super::{Front, Purpose, Store};
use crate::lists::NONE;
use crate::storage::places::{Gate, Line};
use ssdlab_base::blocked::Blocked;
use ssdlab_base::status::Status;
use ssdlab_base::units::Ns;
use ssdlab_keys::config::{ArrayLevel, CachePlace, Config};

/// The places of a cache, and the requests that wait for one.
#[derive(Debug)]
pub struct Kept {
    pub line: Line,
    /// Number of places of dirty pages. Those on their way to flash have taken theirs along.
    places: u32,
}

impl Kept {
    /// `None` if no block can fail, or the cache never has dirty pages.
    pub fn new(config: &Config) -> Option<Self> {
        let given = config.array.level != ArrayLevel::None && config.cache.place == CachePlace::Drive;
        let keeps = config.wear.is_on() && config.caches_writes();
        keeps.then(|| Kept { line: Line::new(given), places: 0 })
    }

    /// The data of a page need no place any longer.
    pub fn gives_back(&mut self, page: u32, lower: &mut impl Store) {
        self.places -= 1;
        lower.give_back_place(page);
    }
}

impl<B: Store> Front<B> {
    /// Lets waiting requests in, and destages dirty pages whose places are needed, or all once a drive is read-only. Returns true if
    /// anything was done.
    pub(super) fn serve_places(&mut self, now: Ns) -> bool {
        if self.kept.is_none() {
            return false;
        }
        let any = self.let_in(now);
        let all = self.lower.is_read_only();
        if self.cache.dirty_pages() == 0 || !all && !self.lower.is_awaited() {
            return any;
        }
        let most = if all { usize::MAX } else { self.lower.targets() as usize };
        while self.destages.len() + self.outgoing.len() < most
            && let Some(entry) = self.cache.next_dirty(&self.lower, true)
        {
            let outgoing = self.clean(entry);
            self.outgoing.push(outgoing);
        }
        let sends = !self.outgoing.is_empty();
        self.send(now, false, Purpose::Clean { idle: false });
        any || sends
    }

    /// A page of a write has a place, which it takes, or is rejected. Without a place, `without` is the page.
    pub(super) fn is_placed(&mut self, place: u32, page: u32, without: &mut Option<u32>) -> bool {
        let entry = self.cache.entry_of(page);
        let was_dirty = entry != NONE && self.cache.is_dirty(entry);
        let kept = self.kept.as_mut().expect("seen by the caller");
        if kept.line.given {
            // Two writes of the page need one place together.
            kept.places += 1;
            if was_dirty {
                kept.gives_back(page, &mut self.lower);
            }
            return true;
        }
        if self.lower.is_read_only() {
            self.reject(place, page);
            return false;
        }
        if was_dirty {
            return true;
        }
        if !self.lower.has_place(page) {
            *without = Some(page);
            return false;
        }
        kept.places += 1;
        self.lower.take_place(page);
        true
    }

    /// The cache rejects a trim whose first page this is, since the drive is read-only.
    pub(super) fn rejects_trim(&mut self, place: u32, page: u32) -> bool {
        let rejects = self.kept.as_ref().is_some_and(|kept| !kept.line.given) && self.lower.is_read_only();
        if rejects {
            self.reject(place, page);
        }
        rejects
    }

    fn reject(&mut self, place: u32, page: u32) {
        self.requests[place].times.status.add(Status::Rejected);
        self.lower.note_rejected(page.min(self.lower.exported_pages() - 1));
    }

    /// A page may be written for padding: there is a place for it, which it takes.
    pub(super) fn padding_has_place(&mut self, page: u32) -> bool {
        let Some(kept) = &mut self.kept else { return true };
        let has_place = !self.lower.is_read_only() && self.lower.has_place(page);
        if has_place {
            kept.places += 1;
            self.lower.take_place(page);
        }
        has_place
    }

    /// A number of pages go down, and their places with them.
    pub(super) fn hand_down(&mut self, pages: u32) {
        if let Some(kept) = &mut self.kept {
            kept.places -= pages;
        }
    }

    /// A request completes: what its parts did not take of its response time it has waited for a place.
    pub(super) fn note_wait(&mut self, now: Ns, place: u32) {
        if self.kept.is_some() {
            let request = &mut self.requests[place];
            let waited = now - request.request.arrival_ns - request.times.total().expect("times of a run add up");
            request.times.wait(Blocked::BufferFull, waited);
        }
    }

    /// Checks that there is a place for each dirty page, and for no other.
    ///
    /// # Errors
    /// A sentence with both numbers.
    pub(super) fn recount_places(&self) -> Result<(), String> {
        let dirty = self.cache.dirty_pages();
        match self.kept.as_ref().filter(|kept| kept.places != dirty) {
            Some(kept) => Err(format!("the cache has {} places for {dirty} dirty pages", kept.places)),
            None => Ok(()),
        }
    }
}
