//! A level's outstanding requests, and its completions that the level above has not fetched yet.

use std::ops::{Index, IndexMut};

use crate::slab::Slab;
use ssdlab_base::request::{LastEnd, Request};
use ssdlab_base::units::Ns;
use ssdlab_keys::memory::Exhausted;
use ssdlab_result::stats::{Completion, Times, move_completions};
use ssdlab_result::timeline::Origin;

/// An outstanding request, and the level's own state of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tracked<T> {
    pub request: Request,
    /// The serial number that the completion of the request carries.
    pub index: u64,
    /// The host request that caused this request, and the reason for it.
    pub origin: Origin,
    /// Latency parts of the request so far; with several parts, of the part that ended last.
    pub times: Times,
    /// The level's own state of the request.
    pub own: T,
    /// The request begins where the request before it ended.
    sequential: bool,
    /// Number of parts that have not ended, plus 1 until all parts are known.
    pending: u32,
    /// End and position of the part that ended last. Of parts that end at one instant, the part with the highest position counts, so
    /// that times do not depend on the order of simultaneous events.
    last: (Ns, u64),
}

impl<T> Tracked<T> {
    #[inline(always)]
    fn note_times(&mut self, now: Ns, position: u64, times: &Times) {
        let status = self.times.status.max(times.status);
        if (now, position) >= self.last {
            (self.last, self.times) = ((now, position), *times);
        }
        self.times.status = status;
    }

    #[inline(always)]
    fn part_ends(&mut self) -> bool {
        self.pending -= 1;
        self.pending == 0
    }
}

/// A level's outstanding requests, by place, and its completions.
#[derive(Debug)]
pub(super) struct Desk<T> {
    requests: Slab<u32, Tracked<T>>,
    last_end: LastEnd,
    next_origin: Option<Origin>,
    completions: Vec<Completion>,
}

impl<T> Default for Desk<T> {
    fn default() -> Self {
        Desk { requests: Slab::default(), last_end: LastEnd::default(), next_origin: None, completions: Vec::new() }
    }
}

impl<T> Desk<T> {
    /// Reserves memory for `requests` further requests.
    ///
    /// # Errors
    /// [`Exhausted`].
    pub fn make_room(&mut self, requests: usize) -> Result<(), Exhausted> {
        self.requests.make_room(requests)
    }

    /// Sets the origin of the next request; the default is the host request with the same number.
    #[inline]
    pub fn next_request_is(&mut self, origin: Origin) {
        self.next_origin = Some(origin);
    }

    /// Accepts a request. It counts as one part until [`Desk::part_ends`] is called for its acceptance. Returns its place.
    #[inline]
    pub fn accept(&mut self, index: u64, request: Request, own: T) -> u32 {
        let sequential = self.last_end.is_followed_by(&request);
        self.track(index, request, sequential, own)
    }

    /// Accepts a write of units that need not be consecutive: it is never sequential, and no later request is sequential to it.
    pub fn accept_units(&mut self, index: u64, request: Request, own: T) -> u32 {
        self.track(index, request, false, own)
    }

    #[inline(always)]
    fn track(&mut self, index: u64, request: Request, sequential: bool, own: T) -> u32 {
        let origin = self.next_origin.take().unwrap_or(Origin::host(index));
        self.requests.insert_with(|| Tracked { request, index, origin, times: Times::default(), own, sequential, pending: 1, last: (0, 0) })
    }

    /// A part of a request begins.
    #[inline]
    pub fn part_begins(&mut self, place: u32) {
        self.requests[place].pending += 1;
    }

    /// A part that ended at `now`, at `position`, took `times`: these become the times of the request unless a later part ended.
    #[inline]
    pub fn note_times(&mut self, now: Ns, place: u32, position: u64, times: &Times) {
        self.requests[place].note_times(now, position, times);
    }

    /// A part of a request, or its acceptance, ends. Returns true if it was the last, so that the request must be completed.
    #[inline]
    pub fn part_ends(&mut self, place: u32) -> bool {
        self.requests[place].part_ends()
    }

    /// Ends a part, as [`Desk::part_ends`]; `part`: the position and times to note first, `None` for the acceptance.
    #[inline]
    pub fn part_ends_with(&mut self, now: Ns, place: u32, part: Option<(u32, &Times)>) -> bool {
        let tracked = &mut self.requests[place];
        if let Some((position, times)) = part {
            tracked.note_times(now, position.into(), times);
        }
        tracked.part_ends()
    }

    /// Number of parts of a request that have not ended, plus 1 until all parts are known.
    pub fn pending(&self, place: u32) -> u32 {
        self.requests[place].pending
    }

    /// Removes a request and adds its completion.
    #[inline]
    pub fn complete(&mut self, now: Ns, place: u32) {
        let Tracked { request, index, sequential, times, .. } = &self.requests[place];
        // Made in its place, unlike by `push`: completions are large.
        self.completions.extend(std::iter::once(times).map(|times| Completion::of(request, *index, *sequential, now, times)));
        self.requests.remove(place);
    }

    /// Requests have completed since the last call of [`Desk::drain_completions`].
    #[inline(always)]
    pub fn has_completed(&self) -> bool {
        !self.completions.is_empty()
    }

    /// Moves the completions since the last call to `into`, behind its content.
    #[inline]
    pub fn drain_completions(&mut self, into: &mut Vec<Completion>) {
        move_completions(&mut self.completions, into);
    }

    /// Number of requests for which memory is reserved.
    pub fn capacity(&self) -> usize {
        self.requests.capacity()
    }

    /// Number of outstanding requests.
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// No request is outstanding.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// The outstanding requests with their places. Looks at every place: for checks.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Tracked<T>)> {
        self.requests.iter()
    }
}

impl<T> Index<u32> for Desk<T> {
    type Output = Tracked<T>;

    #[inline(always)]
    fn index(&self, place: u32) -> &Tracked<T> {
        &self.requests[place]
    }
}

impl<T> IndexMut<u32> for Desk<T> {
    #[inline(always)]
    fn index_mut(&mut self, place: u32) -> &mut Tracked<T> {
        &mut self.requests[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_base::blocked::Blocked;
    use ssdlab_base::request::RequestKind;

    fn read(offset: u64) -> Request {
        Request { arrival_ns: 0, kind: RequestKind::Read, offset, length: 8, high_priority: false, flow: 0, handle: None }
    }

    fn waited(ns: Ns) -> Times {
        let mut times = Times::default();
        times.wait(Blocked::Link, ns);
        times
    }

    fn completions(desk: &mut Desk<()>) -> Vec<(u64, bool, Ns, Times)> {
        let mut found = Vec::new();
        desk.drain_completions(&mut found);
        found.iter().map(|c| (c.index, c.sequential, c.completed_ns, c.times)).collect()
    }

    /// The last part to end gives the times; of two that end at one instant, the part with the higher position.
    #[test]
    fn a_request_completes_with_its_last_part() {
        for positions in [[1, 2], [2, 1]] {
            let mut desk = Desk::default();
            let place = desk.accept(7, read(0), ());
            positions.iter().for_each(|_| desk.part_begins(place));
            assert!(!desk.part_ends(place), "two parts are known");
            desk.note_times(10, place, positions[0], &waited(positions[0]));
            assert!(!desk.part_ends(place) && desk.pending(place) == 1);
            desk.note_times(10, place, positions[1], &waited(positions[1]));
            assert!(desk.part_ends(place) && !desk.has_completed());
            desk.complete(10, place);
            assert!(desk.is_empty() && desk.has_completed());
            assert_eq!(completions(&mut desk), [(7, false, 10, waited(2))]);
        }
    }

    #[test]
    fn requests_that_follow_each_other_are_sequential_whatever_units_come_between() {
        let mut desk = Desk::default();
        let places = [desk.accept(0, read(0), ()), desk.accept_units(1, read(8), ()), desk.accept(2, read(8), ())];
        places.iter().for_each(|&place| desk.complete(0, place));
        assert_eq!(
            completions(&mut desk).iter().map(|&(index, sequential, ..)| (index, sequential)).collect::<Vec<_>>(),
            [(0, false), (1, false), (2, true)]
        );
    }

    #[test]
    fn an_origin_is_that_of_one_request() {
        let mut desk = Desk::default();
        let made = Origin::host(3).made(ssdlab_result::timeline::Cause::Parity);
        desk.next_request_is(made);
        let (first, second) = (desk.accept(0, read(0), ()), desk.accept(1, read(0), ()));
        assert_eq!((desk[first].origin, desk[second].origin), (made, Origin::host(1)));
    }
}
