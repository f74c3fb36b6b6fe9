//! The requests of the host at a drive: those that have been taken in and not completed, those that wait in the host queue, and completions
//! that have not been fetched.

use std::collections::VecDeque;

use crate::ftl::Class;
use crate::lists::NONE;
use crate::sched::SCATTERED;
use crate::slab::Slab;
use ssdlab_base::blocked::{Blocked, DriveTimes, Times};
use ssdlab_base::request::{LastEnd, Request, RequestKind};
use ssdlab_base::status::Status;
use ssdlab_base::units::{Lpn, Ns, ReqId};
use ssdlab_keys::geometry::Geometry;
use ssdlab_keys::memory::{self, Exhausted};
use ssdlab_result::distribution::Wide;
use ssdlab_result::stats::{Completion, move_completions};

/// A request that is outstanding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outstanding {
    /// The request.
    pub request: Request,
    /// Serial number of the request.
    pub index: u64,
    /// The request starts where the one before it ended.
    sequential: bool,
    /// The request writes sectors of one page that do not follow each other.
    scattered: bool,
    /// Place of the request's units in [`Units`], or [`NONE`] if they follow each other.
    units: u32,
    /// The class of all units of the request, if a level above the drive has asked the placement policy.
    pub class: Option<Class>,
    /// Class that the placement policy gave to a page of the request that is not admitted yet.
    pub asked: Option<(Lpn, Class)>,
    /// Dynamic allocation, where programs have several pages: the station for the request's program under way, and the program's class
    /// where stations take writes in turn by class (else 0).
    pub station: Option<(u32, Class)>,
    /// Value of [`Held::for_room`] when the request came.
    noted: Ns,
    /// Number of transactions that have not ended, plus 1 until all pages are admitted.
    pending: u32,
    /// The times of the transaction that completed last.
    times: DriveTimes,
    /// When the transaction that completed last did so, ns, and its logical page.
    last: (Ns, Lpn),
    /// What became of the request's pages so far.
    status: Status,
    /// Times of the request's pages, for their slack.
    pub ends: PageTimes,
}

/// Sums over the pages of a request that have ended, as needed for their slack.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PageTimes {
    /// Number of pages that have ended.
    pub pages: u32,
    /// Sum of the pages' times from the arrival of the request to their end, ns.
    pub sum: u128,
    /// Sum of the squares of the pages' times from the arrival of the request to their end, in ns.
    pub squares: Wide,
    /// Number of chips of the pages; counted only where slack is estimated.
    pub chips: u32,
    /// A page of the request has bypassed others.
    pub passed: bool,
    /// A page of the request was served in a pause, or was paused.
    pub paused: bool,
    /// The request arrived in the warm-up, so that no statistic counts it.
    pub in_warm_up: bool,
}

impl PageTimes {
    /// Adds a page that has ended `ns` after the arrival of the request.
    #[inline]
    pub(super) fn add(&mut self, ns: Ns) {
        self.pages += 1;
        self.sum += u128::from(ns);
        self.squares.add_square(ns);
    }
}

impl Outstanding {
    /// The logical pages that the request touches, first and one past the last; of units that do not follow each other, their numbers in
    /// the request.
    #[inline]
    pub(super) fn pages(&self, geometry: &Geometry) -> (u32, u32) {
        (geometry.units_in(self.request.offset) as u32, geometry.units_over(self.request.offset + self.request.length) as u32)
    }

    /// The bytes of a page that the request touches, first and one past the last; [`SCATTERED`] if they do not follow each other.
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

    /// The request has, or may get, another page than the one that ends now, which must still count as pending.
    #[inline]
    pub(super) fn has_several_pages(&self) -> bool {
        self.pending > 1 || self.ends.pages > 0
    }
}

/// Why and since when the first request of the host queue waits.
#[derive(Debug, Default)]
struct Held {
    /// The page for which there is no place; `None` if none has been tried yet.
    page: Option<u32>,
    /// Since when the request waits for a chip with room, ns; `None` if it waits for a place in a chip's queue.
    since: Option<Ns>,
    /// For how long the host queue has waited for a chip with room before `since`, ns.
    ns: Ns,
}

impl Held {
    /// For how long the host queue has waited for a chip with room, in total until `now`, ns.
    #[inline(always)]
    fn for_room(&self, now: Ns) -> Ns {
        self.ns + self.since.map_or(0, |since| now - since)
    }
}

/// The requests of the host at a drive.
#[derive(Debug, Default)]
pub(super) struct HostRequests {
    requests: Slab<ReqId, Outstanding>,
    /// The host queue: requests not yet fully in chip queues, oldest first, and their next page.
    queue: VecDeque<(ReqId, u32)>,
    held: Held,
    /// A place in a chip queue, or room for a write, became free since the host queue was last checked.
    place_freed: bool,
    last_end: LastEnd,
    /// Requests that arrive now are left out of statistics.
    warming_up: bool,
    /// Units of writes whose units do not follow each other.
    units: Units,
    completions: Vec<Completion>,
}

/// The units of writes whose units do not follow each other, in places of one size.
#[derive(Debug, Default)]
struct Units {
    units: Vec<u32>,
    /// Units of a place: as many as the largest request so far has.
    size: usize,
    free: Vec<u32>,
}

impl Units {
    /// Stores the units of a request. Returns their place.
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
    /// Reserves memory for this many outstanding requests.
    ///
    /// # Errors
    /// [`Exhausted`] if there is not enough memory.
    pub(super) fn make_room(&mut self, requests: usize) -> Result<(), Exhausted> {
        self.requests.make_room(requests)?;
        memory::make_room(&mut self.queue, requests)
    }

    /// Number of outstanding requests for which memory is reserved.
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

    /// Takes in a write of whole units that need not follow each other. It counts as pending until all of its units are admitted.
    pub(super) fn take_in_units(&mut self, now: Ns, index: u64, request: Request, units: &[u32], class: Option<Class>) -> ReqId {
        let outstanding = Outstanding { units: self.units.store(units), class, ..self.arriving(now, request, index) };
        self.requests.insert(outstanding)
    }

    /// A request that arrives, and counts as pending until all of its pages are admitted.
    #[inline(always)]
    fn arriving(&self, now: Ns, request: Request, index: u64) -> Outstanding {
        Outstanding {
            request,
            index,
            sequential: false,
            scattered: false,
            units: NONE,
            class: None,
            asked: None,
            station: None,
            noted: self.held.for_room(now),
            pending: 1,
            times: DriveTimes::default(),
            last: (0, Lpn(0)),
            status: Status::Done,
            ends: PageTimes { in_warm_up: self.warming_up, ..PageTimes::default() },
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

    /// Notes the class that the placement policy gave to a page of a request.
    pub(super) fn set_asked(&mut self, id: ReqId, asked: (Lpn, Class)) {
        self.requests[id].asked = Some(asked);
    }

    /// Sets the station that takes the next pages of a request.
    pub(super) fn set_station(&mut self, id: ReqId, station: Option<(u32, Class)>) {
        self.requests[id].station = station;
    }

    /// Mutable access to the sums over the pages of a request that have ended.
    #[inline(always)]
    pub(super) fn ends(&mut self, id: ReqId) -> &mut PageTimes {
        &mut self.requests[id].ends
    }

    /// Counts one more page of a request as pending.
    #[inline(always)]
    pub(super) fn page_pending(&mut self, id: ReqId) {
        self.requests[id].pending += 1;
    }

    /// Notes that a page of a request needed no flash, and its times.
    pub(super) fn page_answered(&mut self, now: Ns, id: ReqId, times: DriveTimes) {
        let outstanding = &mut self.requests[id];
        outstanding.times = times;
        outstanding.last = (now, Lpn(0));
        outstanding.ends.add(now - outstanding.request.arrival_ns);
    }

    /// All pages of a request are admitted. Returns true if none of them is pending; the request completes then
    /// ([`HostRequests::page_done`]).
    #[inline(always)]
    pub(super) fn all_admitted(&mut self, id: ReqId) -> bool {
        let pending = &mut self.requests[id].pending;
        let alone = *pending == 1;
        *pending -= u32::from(!alone);
        alone
    }

    /// One page of a request is done, or, with `None`, its admission. Returns true if the request is complete: it stays until
    /// [`HostRequests::remove`].
    #[inline(always)]
    pub(super) fn page_done(&mut self, now: Ns, id: ReqId, page: Option<(Lpn, &DriveTimes)>) -> bool {
        let outstanding = &mut self.requests[id];
        // Among pages that end at one instant the highest counts, so that the times do not depend on the order of simultaneous events.
        let last = page.filter(|&(lpn, _)| (now, lpn) >= outstanding.last);
        if outstanding.pending > 1 {
            outstanding.pending -= 1;
            if let Some((lpn, &times)) = last {
                (outstanding.last, outstanding.times) = ((now, lpn), times);
            }
            return false;
        }
        let times = last.map_or(&outstanding.times, |(_, times)| times);
        let completion = |outstanding: &Outstanding| {
            let mut times = Times::from(times);
            times.status = outstanding.status;
            Completion::of(&outstanding.request, outstanding.index, outstanding.sequential, now, &times)
        };
        // Made in its place, unlike by `push`: completions are large.
        self.completions.extend(std::iter::once(&*outstanding).map(completion));
        true
    }

    /// Removes a request that is complete.
    #[inline(always)]
    pub(super) fn remove(&mut self, id: ReqId) {
        let units = self.requests[id].units;
        if units != NONE {
            self.units.free.push(units);
        }
        self.requests.remove(id);
    }

    /// Notes what became of a page of a request. Returns true if that of no page was as bad.
    pub(super) fn note_status(&mut self, id: ReqId, page: Status) -> bool {
        let status = &mut self.requests[id].status;
        let worse = page > *status;
        status.add(page);
        worse
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

    /// Number of requests in the host queue.
    #[inline(always)]
    pub(super) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Calls `each` with the logical pages of the writes in the host queue that have not been admitted.
    pub(super) fn each_queued_write(&self, geometry: &Geometry, each: &mut dyn FnMut(u32)) {
        for &(id, next) in &self.queue {
            let outstanding = &self.requests[id];
            if outstanding.request.kind == RequestKind::Write {
                let end = outstanding.pages(geometry).1;
                (next..end).for_each(|number| each(self.page(id, number, geometry.unit_bytes).0.0));
            }
        }
    }

    /// Takes the first request out of the host queue: all of its pages are admitted.
    pub(super) fn pop(&mut self, now: Ns) {
        self.queue.pop_front();
        self.held = Held { page: None, since: None, ns: self.held.for_room(now) };
    }

    /// The first request of the host queue waits before this page, for this reason. Returns true if the page has not been tried before.
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

    /// Notes that a place in a chip queue, or room for a write, became free.
    #[inline(always)]
    pub(super) fn place_freed(&mut self) {
        self.place_freed = true;
    }

    /// Requests wait in the host queue, and a place or room became free since the last [`HostRequests::looks`].
    #[inline(always)]
    pub(super) fn may_admit(&self) -> bool {
        self.place_freed && !self.queue.is_empty()
    }

    /// Notes that the host queue is checked now.
    #[inline(always)]
    pub(super) fn looks(&mut self) {
        self.place_freed = false;
    }

    /// Number of outstanding requests.
    #[inline(always)]
    pub(super) fn outstanding(&self) -> usize {
        self.requests.len()
    }

    /// Sets whether requests that arrive from now on are left out of statistics.
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
