//! Without a write buffer, writes that collection has earned no room for wait in front of the drive (`gc.pace`), first come first served.
//! Reads and trims pass them, unless an older request of their units waits; flushes always do, as what has completed is in flash.

use std::ops::Range;

use super::MappingCache;
use super::requests::inner_units;
use super::waiting::Waiting;
use crate::storage::Store;
use crate::storage::desk::{Desk, Tracked};
use ssdlab_base::blocked::Blocked;
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::units::{Lpn, Ns};
use ssdlab_keys::memory::Exhausted;
use ssdlab_result::stats::Completion;
use ssdlab_result::timeline::Origin;

/// State of an outstanding request that has come to the queue.
#[derive(Clone, Copy, Debug)]
struct Passing {
    scattered: bool,
    /// When the request went on to the drive.
    entered: Ns,
}

/// Where the requests of a drive without a write buffer pass or, without credit, wait.
pub(super) struct PacingQueue {
    unit_bytes: u32,
    requests: Desk<Passing>,
    waiting: Waiting,
    /// The first unit without credit of the oldest waiting write.
    unpaid: u32,
    /// Buffer reused from call to call.
    ended: Vec<Completion>,
}

impl PacingQueue {
    pub(super) fn new(unit_bytes: u32) -> Self {
        PacingQueue { unit_bytes, requests: Desk::default(), waiting: Waiting::new(), unpaid: 0, ended: Vec::new() }
    }

    pub(super) fn make_room(&mut self, units: usize) -> Result<(), Exhausted> {
        self.requests.make_room(units)?;
        self.waiting.make_room(units)
    }

    pub(super) fn next_request_is(&mut self, origin: Origin) {
        self.requests.next_request_is(origin);
    }

    /// Describes outstanding requests, for the watchdog's report.
    pub(super) fn describe(&self) -> String {
        format!("paced writes: {} requests are outstanding, {} of them wait for credit", self.requests.len(), self.waiting.len())
    }

    /// Units of writes that wait for credit.
    pub(super) fn units_that_wait(&self) -> impl Iterator<Item = u32> + '_ {
        self.waiting.written_units()
    }

    /// No write waits for credit.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Accepts a request: a flush, or a read or trim without conflict, goes on to the drive; a write waits for credit.
    pub(super) fn take(&mut self, now: Ns, index: u64, request: Request, scattered: bool, drive: &mut MappingCache) {
        let place = self.requests.accept(index, request, Passing { scattered, entered: now });
        let unit = u64::from(self.unit_bytes);
        let touched = (request.offset / unit) as u32..(request.offset + request.length).div_ceil(unit) as u32;
        match request.kind {
            RequestKind::Read => self.take_passing(now, place, touched, drive),
            RequestKind::Trim => {
                let (first, end) = inner_units(&request, self.unit_bytes);
                self.take_passing(now, place, first..end, drive);
            }
            RequestKind::Write => {
                self.waiting.waits(place, request.kind, touched.clone());
                if self.waiting.oldest() == Some(place) {
                    self.unpaid = touched.start;
                    self.admit(now, drive);
                }
            }
            _ => self.pass(now, place, drive),
        }
    }

    /// A read or trim of `units` arrives: it waits only for older requests of these units.
    fn take_passing(&mut self, now: Ns, place: u32, units: Range<u32>, drive: &mut MappingCache) {
        let kind = self.requests[place].request.kind;
        match self.waiting.last_conflict(kind, &units) {
            None => self.pass(now, place, drive),
            Some(conflict) => self.waiting.passing_waits(conflict, place, kind, units),
        }
    }

    /// Sends waiting writes to the drive in order, as far as there is credit, then the reads and trims that waited for them. Returns
    /// true if operations of the drive may begin.
    pub(super) fn admit(&mut self, now: Ns, drive: &mut MappingCache) -> bool {
        let mut any = false;
        while let Some(place) = self.waiting.oldest() {
            if let Some(unpaid) = self.first_unpaid(place, drive) {
                self.unpaid = unpaid;
                return drive.drive_mut().awaits_credit(Some(Lpn(unpaid))) || any;
            }
            self.pass(now, place, drive);
            self.waiting.entered(None);
            while let Some(passing) = self.waiting.next_passing() {
                self.pass(now, passing, drive);
            }
            self.unpaid = self.waiting.front().map_or(0, |(_, unit)| unit);
            drive.drive_mut().awaits_credit(None);
            any = true;
        }
        any
    }

    /// Takes credit for the units of the oldest write in order; returns the first unit for which there is none.
    fn first_unpaid(&self, place: u32, drive: &mut MappingCache) -> Option<u32> {
        let request = &self.requests[place].request;
        let end = (request.offset + request.length).div_ceil(self.unit_bytes.into()) as u32;
        (self.unpaid..end).find(|&unit| !drive.drive_mut().lets_in(Lpn(unit)))
    }

    /// Sends a request to the drive.
    fn pass(&mut self, now: Ns, place: u32, drive: &mut MappingCache) {
        self.requests[place].own.entered = now;
        let Tracked { request, origin, own: Passing { scattered, .. }, .. } = self.requests[place];
        if request.kind == RequestKind::Write && now > request.arrival_ns {
            drive.drive_mut().note_paced_write();
        }
        drive.next_request_is(origin);
        let request = Request { arrival_ns: now, ..request };
        if scattered {
            drive.accept_scattered(now, place.into(), request);
        } else {
            drive.accept(now, place.into(), request);
        }
    }

    /// Takes completions from the drive, adds the waits for credit, and moves the completions to `into`.
    pub(super) fn drain_completions(&mut self, drive: &mut MappingCache, into: &mut Vec<Completion>) {
        drive.drain_completions(&mut self.ended);
        for completion in &self.ended {
            let place = completion.index as u32;
            let Tracked { request, times, own: Passing { entered, .. }, .. } = &mut self.requests[place];
            *times = completion.times;
            if *entered > request.arrival_ns {
                times.wait(Blocked::Pace, *entered - request.arrival_ns);
            }
            self.requests.complete(completion.completed_ns, place);
        }
        self.ended.clear();
        self.requests.drain_completions(into);
    }
}
