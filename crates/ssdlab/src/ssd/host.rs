//! The requests of the host at a drive: those that have been taken in and not completed, those that wait in the host queue, and completions
//! that have not been fetched.

use std::collections::VecDeque;

use crate::blocked::{Blocked, DriveTimes, Times};
use crate::distribution::Wide;
use crate::geometry::Geometry;
use crate::lists::NONE;
use crate::memory::{self, Exhausted};
use crate::request::{LastEnd, Request, RequestKind};
use crate::sched::SCATTERED;
use crate::slab::Slab;
use crate::stats::{Completion, move_completions};
use crate::units::{ChipId, Lpn, Ns, ReqId};

/// A request that is outstanding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outstanding {
    /// The request.
    pub request: Request,
    /// Its serial number.
    pub index: u64,
    /// It starts where the one before ended.
    sequential: bool,
    /// It writes sectors of its page that do not follow each other.
    scattered: bool,
    /// Where [`Units`] has its units, or [`NONE`] if they follow each other.
    units: u32,
    /// Dynamic allocation: the chip that takes its program under way, if it has more than one page.
    pub chip: Option<ChipId>,
    /// What [`Held::for_room`] showed when it came.
    noted: Ns,
    /// Transactions to come or not ended.
    pending: u32,
    /// The times of the transaction that completed last.
    times: DriveTimes,
    /// When that was, and its page.
    last: (Ns, Lpn),
    /// When its pages ended.
    pub ends: Ends,
}

/// When the pages of a request ended, as much of it as is needed for their slack.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ends {
    /// Pages that have ended.
    pub pages: u32,
    /// The sum of their times since arrival, ns, and of the squares of these.
    pub sum: u128,
    /// See `sum`.
    pub squares: Wide,
    /// Chips that they were on; counted where slack is.
    pub chips: u32,
    /// A page has bypassed others; one was served in a pause or paused.
    pub passed: bool,
    /// See `passed`.
    pub paused: bool,
    /// It arrived in the warm-up, so that no statistic counts it.
    pub in_warm_up: bool,
}

impl Ends {
    /// A page has ended so long after the arrival.
    #[inline]
    pub(super) fn add(&mut self, ns: Ns) {
        self.pages += 1;
        self.sum += u128::from(ns);
        self.squares.add_square(ns);
    }
}

impl Outstanding {
    /// The logical pages it touches, first and one past the last. Of units that do not follow each other, their numbers in the request.
    #[inline]
    pub(super) fn pages(&self, geometry: &Geometry) -> (u32, u32) {
        (geometry.pages_in(self.request.offset) as u32, geometry.pages_over(self.request.offset + self.request.length) as u32)
    }

    /// The bytes of a page that it touches, first and one past the last; [`SCATTERED`] if they do not follow each other.
    #[inline]
    fn bytes_in_page(&self, lpn: Lpn, page_bytes: u32) -> (u32, u32) {
        if self.scattered {
            return SCATTERED;
        }
        let start = u64::from(lpn.0) * u64::from(page_bytes);
        let from = self.request.offset.saturating_sub(start);
        let to = (self.request.offset + self.request.length - start).min(u64::from(page_bytes));
        (from as u32, to as u32)
    }

    /// More than one page of it has not ended, or one has.
    #[inline]
    pub(super) fn has_several_pages(&self) -> bool {
        self.pending > 1 || self.ends.pages > 0
    }
}

/// A request that has completed.
pub(super) struct Completed {
    pub place: ReqId,
    pub request: Request,
    pub ends: Ends,
}

/// What holds the first request of the host queue.
#[derive(Debug, Default)]
struct Held {
    /// The page for which there was no place, once that has been tried.
    page: Option<u32>,
    /// Since when it waits for a chip with room; `None` if it waits for a place in a chip's queue.
    since: Option<Ns>,
    /// For how long requests have waited for room before, ns.
    ns: Ns,
}

impl Held {
    /// For how long requests have waited for room, ns.
    #[inline(always)]
    fn for_room(&self, now: Ns) -> Ns {
        self.ns + self.since.map_or(0, |since| now - since)
    }
}

/// The requests of the host.
#[derive(Debug, Default)]
pub(super) struct HostRequests {
    requests: Slab<ReqId, Outstanding>,
    /// Requests not yet fully in the chip queues, oldest first, and their next page.
    queue: VecDeque<(ReqId, u32)>,
    held: Held,
    /// A place in a chip queue became free while requests waited.
    place_freed: bool,
    last_end: LastEnd,
    /// Requests that arrive now are left out of statistics.
    warming_up: bool,
    /// Units of writes whose units do not follow each other.
    units: Units,
    completions: Vec<Completion>,
}

/// The units of some requests, in places of one size.
#[derive(Debug, Default)]
struct Units {
    units: Vec<u32>,
    /// Units of a place: as many as the largest request of the first ones has.
    size: usize,
    free: Vec<u32>,
}

impl Units {
    /// Stores units. Returns where.
    fn store(&mut self, units: &[u32]) -> u32 {
        if units.len() > self.size {
            self.widen(units.len());
        }
        let place = self.free.pop().unwrap_or_else(|| {
            self.units.resize(self.units.len() + self.size, 0);
            (self.units.len() / self.size) as u32 - 1
        });
        let start = place as usize * self.size;
        self.units[start..start + units.len()].copy_from_slice(units);
        place
    }

    #[cold]
    fn widen(&mut self, size: usize) {
        let places = self.units.len().checked_div(self.size).unwrap_or(0);
        let mut units = vec![0; places * size];
        for place in 0..places {
            units[place * size..place * size + self.size].copy_from_slice(&self.units[place * self.size..(place + 1) * self.size]);
        }
        (self.units, self.size) = (units, size);
    }

    fn get(&self, place: u32, number: u32) -> Lpn {
        Lpn(self.units[place as usize * self.size + number as usize])
    }
}

impl HostRequests {
    /// Sees to it that so many requests can be taken in without growing.
    ///
    /// # Errors
    /// [`Exhausted`].
    pub(super) fn make_room(&mut self, requests: usize) -> Result<(), Exhausted> {
        self.requests.make_room(requests)?;
        memory::make_room(&mut self.queue, requests)
    }

    /// How many requests there is room for.
    pub(super) fn capacity(&self) -> usize {
        self.requests.capacity()
    }

    /// Takes in a request. It counts as pending until all of its pages are admitted.
    #[inline]
    pub(super) fn take_in(&mut self, now: Ns, index: u64, request: Request, scattered: bool) -> ReqId {
        let sequential = self.last_end.is_followed_by(&request);
        let outstanding = Outstanding { sequential, scattered, ..self.arriving(now, request, index) };
        self.requests.insert(outstanding)
    }

    /// The same for a write of whole units that need not follow each other.
    pub(super) fn take_in_units(&mut self, now: Ns, index: u64, request: Request, units: &[u32]) -> ReqId {
        let outstanding = Outstanding { units: self.units.store(units), ..self.arriving(now, request, index) };
        self.requests.insert(outstanding)
    }

    /// A request that counts as pending until all of its pages are admitted.
    #[inline(always)]
    fn arriving(&self, now: Ns, request: Request, index: u64) -> Outstanding {
        Outstanding {
            request,
            index,
            sequential: false,
            scattered: false,
            units: NONE,
            chip: None,
            noted: self.held.for_room(now),
            pending: 1,
            times: DriveTimes::default(),
            last: (0, Lpn(0)),
            ends: Ends { in_warm_up: self.warming_up, ..Ends::default() },
        }
    }

    /// A page of a request, by its number (see [`Outstanding::pages`]), and the bytes of it that the request touches.
    #[inline(always)]
    pub(super) fn page(&self, id: ReqId, number: u32, page_bytes: u32) -> (Lpn, (u32, u32)) {
        let outstanding = &self.requests[id];
        if outstanding.units != NONE {
            return (self.units.get(outstanding.units, number), (0, page_bytes));
        }
        (Lpn(number), outstanding.bytes_in_page(Lpn(number), page_bytes))
    }

    #[inline(always)]
    pub(super) fn request(&self, id: ReqId) -> &Outstanding {
        &self.requests[id]
    }

    /// The chip that takes the next pages of a request.
    pub(super) fn set_chip(&mut self, id: ReqId, chip: Option<ChipId>) {
        self.requests[id].chip = chip;
    }

    /// When its pages ended, to add to.
    #[inline(always)]
    pub(super) fn ends(&mut self, id: ReqId) -> &mut Ends {
        &mut self.requests[id].ends
    }

    /// One more page of a request is pending.
    #[inline(always)]
    pub(super) fn page_pending(&mut self, id: ReqId) {
        self.requests[id].pending += 1;
    }

    /// A page of a request needed no flash: its times are these.
    pub(super) fn page_answered(&mut self, now: Ns, id: ReqId, times: DriveTimes) {
        let outstanding = &mut self.requests[id];
        outstanding.times = times;
        outstanding.last = (now, Lpn(0));
        outstanding.ends.add(now - outstanding.request.arrival_ns);
    }

    /// All pages of a request are admitted. Returns true if nothing of it is pending but that.
    #[inline(always)]
    pub(super) fn all_admitted(&mut self, id: ReqId) -> bool {
        let pending = &mut self.requests[id].pending;
        let alone = *pending == 1;
        *pending -= u32::from(!alone);
        alone
    }

    /// One page of a request is done (or, with `None`, its admission): the request completes with its last.
    #[inline(always)]
    pub(super) fn page_done(&mut self, now: Ns, id: ReqId, page: Option<(Lpn, &DriveTimes)>) -> Option<Completed> {
        let outstanding = &mut self.requests[id];
        // Among pages that end at one instant the highest counts, so that the times do not depend on the order of simultaneous events.
        let last = page.filter(|&(lpn, _)| (now, lpn) >= outstanding.last);
        if outstanding.pending > 1 {
            outstanding.pending -= 1;
            if let Some((lpn, &times)) = last {
                (outstanding.last, outstanding.times) = ((now, lpn), times);
            }
            return None;
        }
        let Outstanding { request, index, sequential, units, ends, .. } = *outstanding;
        if units != NONE {
            self.units.free.push(units);
        }
        let times = last.map_or(&outstanding.times, |(_, times)| times);
        self.completions.push(Completion::of(&request, index, sequential, now, &Times::from(times)));
        self.requests.remove(id);
        Some(Completed { place: id, request, ends })
    }

    /// Puts a request at the end of the host queue, before its page `first`.
    pub(super) fn push(&mut self, id: ReqId, first: u32) {
        self.queue.push_back((id, first));
    }

    /// The first request of the host queue, and its next page.
    #[inline(always)]
    pub(super) fn front(&self) -> Option<(ReqId, u32)> {
        self.queue.front().copied()
    }

    /// Requests in the host queue.
    #[inline(always)]
    pub(super) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Calls back with the pages of the writes of the host queue that have not been admitted.
    pub(super) fn each_queued_write(&self, geometry: &Geometry, each: &mut dyn FnMut(u32)) {
        for &(id, next) in &self.queue {
            let outstanding = &self.requests[id];
            if outstanding.request.kind == RequestKind::Write {
                let end = outstanding.pages(geometry).1;
                (next..end).for_each(|number| each(self.page(id, number, geometry.page_bytes).0.0));
            }
        }
    }

    /// All pages of the first request are admitted.
    pub(super) fn pop(&mut self, now: Ns) {
        self.queue.pop_front();
        self.held = Held { page: None, since: None, ns: self.held.for_room(now) };
    }

    /// There is no place for this page of the first request, for this reason. Returns true if it has not been tried before.
    pub(super) fn hold(&mut self, now: Ns, page: u32, by: Blocked) -> bool {
        self.queue[0].1 = page;
        let since = (by == Blocked::NoRoom).then_some(now);
        let first = self.held.page != Some(page);
        self.held = Held { page: Some(page), since, ns: self.held.for_room(now) };
        first
    }

    /// For how long a request has waited for a chip with room, ns.
    #[inline(always)]
    pub(super) fn waited_for_room(&self, now: Ns, id: ReqId) -> Ns {
        self.held.for_room(now) - self.requests[id].noted
    }

    /// A place in a chip queue became free, or room for a write.
    #[inline(always)]
    pub(super) fn place_freed(&mut self) {
        self.place_freed = true;
    }

    /// Requests wait in the host queue, and a place became free since that was asked last.
    #[inline(always)]
    pub(super) fn may_admit(&self) -> bool {
        self.place_freed && !self.queue.is_empty()
    }

    /// The host queue is looked at now.
    #[inline(always)]
    pub(super) fn looks(&mut self) {
        self.place_freed = false;
    }

    /// Requests that are outstanding.
    #[inline(always)]
    pub(super) fn outstanding(&self) -> usize {
        self.requests.len()
    }

    /// Requests that arrive from now on are left out of statistics, or not.
    pub(super) fn set_warming_up(&mut self, on: bool) {
        self.warming_up = on;
    }

    /// Requests that arrive now are left out of statistics.
    #[inline(always)]
    pub(super) fn is_warming_up(&self) -> bool {
        self.warming_up
    }

    /// Requests have completed since the last call of [`HostRequests::drain_completions`].
    #[inline]
    pub(super) fn has_completed(&self) -> bool {
        !self.completions.is_empty()
    }

    /// Moves the completions since the last call to `into`.
    #[inline]
    pub(super) fn drain_completions(&mut self, into: &mut Vec<Completion>) {
        move_completions(&mut self.completions, into);
    }
}
