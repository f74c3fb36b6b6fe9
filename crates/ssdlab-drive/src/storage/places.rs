//! Places that drives keep for data which a level above them has accepted, where blocks can fail (`wear`): `ssd/mechanisms/accepted.rs`.
//!
//! The topmost level that accepts writes takes a place for each page, or makes the write wait for one, and rejects it once a drive is
//! read-only. Below that level nothing is rejected: data take their place along, and the write buffer, or without one the drive, gives it back once
//! they are in flash.

use std::collections::VecDeque;

use super::store::Layer;
use crate::ssd::Ssd;
use ssdlab_base::units::{Lpn, Ns};
use ssdlab_keys::memory::{self, Exhausted};

/// A level of storage, as the keeper of places for data that levels above accept. A page has places in all drives that a write of it programs.
pub trait Places {
    /// A drive is read-only.
    fn is_read_only(&self) -> bool;

    /// A level above a drive waits for a place there.
    fn is_awaited(&self) -> bool;

    /// A drive has lost data that were accepted.
    fn has_lost(&self) -> bool;

    /// There is a place for one write more of this page.
    fn has_place(&self, page: u32) -> bool;

    /// Takes a place for a write of this page.
    fn take_place(&mut self, page: u32);

    /// Gives a place of this page back.
    fn give_back_place(&mut self, page: u32);

    /// A write of this page waits for a place, or waits no longer.
    fn awaits_place(&mut self, now: Ns, page: u32, waits: bool);

    /// Counts a write or trim, from this page on, that a level above has rejected.
    fn note_rejected(&mut self, page: u32);
}

/// The requests that wait in front of a level, first come first served, since there is no place for a page of the oldest.
#[derive(Debug)]
pub struct Line {
    /// A level above has taken places for all writes that come: nothing waits or is rejected here.
    pub given: bool,
    waiting: VecDeque<u32>,
    /// The page of the oldest request for which there was no place at the last attempt.
    lacks: Option<u32>,
}

impl Line {
    /// Nothing waits. `given`: see [`Line::given`].
    pub fn new(given: bool) -> Self {
        Line { given, waiting: VecDeque::new(), lacks: None }
    }

    /// The requests that wait, oldest first.
    pub fn waiting(&self) -> impl Iterator<Item = u32> + '_ {
        self.waiting.iter().copied()
    }

    /// Reserves memory for `requests` that wait.
    ///
    /// # Errors
    /// [`Exhausted`].
    pub fn make_room(&mut self, requests: usize) -> Result<(), Exhausted> {
        memory::make_room(&mut self.waiting, requests)
    }
}

/// A level that takes places for the writes that it accepts.
pub trait Gate {
    /// The level that has the places.
    type Keeper: Places;

    /// The requests that wait; `None` where no block can fail.
    fn line(&mut self) -> Option<&mut Line>;

    /// The level that has the places.
    fn keeper(&mut self) -> &mut Self::Keeper;

    /// A request comes in, or is rejected; of a write, its pages from `from` on. Returns the first of these for which there is no place.
    fn come_in(&mut self, now: Ns, request: u32, from: u32) -> Option<u32>;

    /// A request arrives: it comes in, or waits for a place or behind others that do.
    fn arrives(&mut self, now: Ns, request: u32) {
        let Some(line) = self.line() else {
            self.come_in(now, request, 0);
            return;
        };
        line.waiting.push_back(request);
        if line.waiting.len() == 1 {
            self.let_in(now);
        }
    }

    /// Requests that wait come in, in order, as far as there are places. Returns true if anything has changed.
    fn let_in(&mut self, now: Ns) -> bool {
        let mut any = false;
        while let Some((request, lacks)) = self.line().and_then(|line| Some((*line.waiting.front()?, line.lacks))) {
            if let Some(page) = lacks {
                let keeper = self.keeper();
                if !keeper.is_read_only() && !keeper.has_place(page) {
                    return any;
                }
                keeper.awaits_place(now, page, false);
            }
            let lacks = self.come_in(now, request, lacks.unwrap_or(0));
            let line = self.line().expect("seen above");
            line.lacks = lacks;
            any = true;
            match lacks {
                None => _ = line.waiting.pop_front(),
                Some(page) => {
                    self.keeper().awaits_place(now, page, true);
                    return true;
                }
            }
        }
        any
    }
}

impl Places for Ssd {
    #[inline(always)]
    fn is_read_only(&self) -> bool {
        Ssd::is_read_only(self)
    }

    #[inline(always)]
    fn is_awaited(&self) -> bool {
        self.has_awaited_place()
    }

    fn has_lost(&self) -> bool {
        self.counters().lost_units > 0
    }

    fn has_place(&self, page: u32) -> bool {
        Ssd::has_place(self, Lpn(page))
    }

    fn take_place(&mut self, page: u32) {
        self.is_accepted(Lpn(page));
    }

    fn give_back_place(&mut self, page: u32) {
        self.is_in_flash(Lpn(page));
    }

    fn awaits_place(&mut self, now: Ns, page: u32, waits: bool) {
        Ssd::awaits_place(self, now, waits.then_some(Lpn(page)));
    }

    fn note_rejected(&mut self, _page: u32) {
        Ssd::note_rejected(self);
    }
}

impl<L: Layer> Places for L
where
    L::Lower: Places,
{
    #[inline(always)]
    fn is_read_only(&self) -> bool {
        self.lower().is_read_only()
    }

    #[inline(always)]
    fn is_awaited(&self) -> bool {
        self.lower().is_awaited()
    }

    fn has_lost(&self) -> bool {
        self.lower().has_lost()
    }

    fn has_place(&self, page: u32) -> bool {
        self.lower().has_place(page)
    }

    fn take_place(&mut self, page: u32) {
        self.lower_mut().take_place(page);
    }

    fn give_back_place(&mut self, page: u32) {
        self.lower_mut().give_back_place(page);
    }

    fn awaits_place(&mut self, now: Ns, page: u32, waits: bool) {
        self.lower_mut().awaits_place(now, page, waits);
    }

    fn note_rejected(&mut self, page: u32) {
        self.lower_mut().note_rejected(page);
    }
}
