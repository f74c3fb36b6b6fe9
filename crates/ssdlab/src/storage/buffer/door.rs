//! Without a write buffer, writes that collection has earned no room for wait in front of the drive (`gc.pace`), first come first served.
//! Reads pass them, unless they are to read their data; so do trims that touch none of their pages, and flushes, as what has completed is in
//! flash.

use super::MappingCache;
use super::outside::Outside;
use crate::blocked::Blocked;
use crate::memory::Exhausted;
use crate::request::{LastEnd, Request, RequestKind};
use crate::slab::Slab;
use crate::stats::Completion;
use crate::storage::Store;
use crate::timeline::Origin;
use crate::units::{Lpn, Ns};

/// An outstanding request.
#[derive(Clone, Copy, Debug)]
struct Passing {
    request: Request,
    index: u64,
    sequential: bool,
    scattered: bool,
    origin: Origin,
    /// When it went on to the drive.
    entered: Ns,
}

/// The door of a drive.
pub(super) struct Door {
    unit_bytes: u64,
    requests: Slab<u32, Passing>,
    outside: Outside,
    /// Of the oldest request that waits, the first unit that has no credit.
    unpaid: u32,
    last_end: LastEnd,
    next_origin: Option<Origin>,
    /// Reused from call to call.
    ended: Vec<Completion>,
}

impl Door {
    pub(super) fn new(unit_bytes: u32) -> Self {
        Door {
            unit_bytes: unit_bytes.into(),
            requests: Slab::default(),
            outside: Outside::new(),
            unpaid: 0,
            last_end: LastEnd::default(),
            next_origin: None,
            ended: Vec::new(),
        }
    }

    pub(super) fn make_room(&mut self, units: usize) -> Result<(), Exhausted> {
        self.requests.make_room(units)?;
        self.outside.make_room(units)
    }

    pub(super) fn next_request_is(&mut self, origin: Origin) {
        self.next_origin = Some(origin);
    }

    /// Outstanding requests, for the watchdog's report.
    pub(super) fn describe(&self) -> String {
        format!("paced writes: {} requests are outstanding, {} of them wait for credit", self.requests.len(), self.outside.len())
    }

    /// The units of writes that wait.
    pub(super) fn units_that_wait(&self) -> impl Iterator<Item = u32> + '_ {
        self.outside.written_units()
    }

    /// Nobody waits.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.outside.is_empty()
    }

    /// A request arrives.
    pub(super) fn take(&mut self, now: Ns, index: u64, request: Request, scattered: bool, drive: &mut MappingCache) {
        let sequential = self.last_end.is_followed_by(&request);
        let origin = self.next_origin.take().unwrap_or(Origin::host(index));
        let place = self.requests.insert(Passing { request, index, sequential, scattered, origin, entered: now });
        let units = (request.offset / self.unit_bytes) as u32..(request.offset + request.length).div_ceil(self.unit_bytes) as u32;
        match request.kind {
            RequestKind::Read => match self.outside.last_conflict(units) {
                None => self.pass(now, place, drive),
                Some(conflict) => self.outside.read_waits(conflict, place),
            },
            RequestKind::Flush => self.pass(now, place, drive),
            RequestKind::Trim if !self.outside.is_touched(&units) => self.pass(now, place, drive),
            RequestKind::Trim | RequestKind::Write => {
                self.outside.waits(place, request.kind, units.clone());
                if self.outside.oldest() == Some(place) {
                    self.unpaid = units.start;
                    self.admit(now, drive);
                }
            }
        }
    }

    /// Requests go on to the drive, in order, as far as there is credit, and reads that waited for them. Returns true if something may begin.
    pub(super) fn admit(&mut self, now: Ns, drive: &mut MappingCache) -> bool {
        let mut any = false;
        while let Some(place) = self.outside.oldest() {
            if let Some(unpaid) = self.first_unpaid(place, drive) {
                self.unpaid = unpaid;
                return drive.drive_mut().awaits_credit(Some(Lpn(unpaid))) || any;
            }
            self.pass(now, place, drive);
            self.outside.entered(None);
            while let Some(read) = self.outside.next_read() {
                self.pass(now, read, drive);
            }
            self.unpaid = self.outside.front().map_or(0, |(_, unit)| unit);
            drive.drive_mut().awaits_credit(None);
            any = true;
        }
        any
    }

    /// The first unit of a write for which there is no credit. Those before have theirs.
    fn first_unpaid(&self, place: u32, drive: &mut MappingCache) -> Option<u32> {
        let Passing { request, .. } = self.requests[place];
        if request.kind != RequestKind::Write {
            return None;
        }
        let end = (request.offset + request.length).div_ceil(self.unit_bytes) as u32;
        (self.unpaid..end).find(|&unit| !drive.drive_mut().lets_in(Lpn(unit)))
    }

    /// A request goes on to the drive.
    fn pass(&mut self, now: Ns, place: u32, drive: &mut MappingCache) {
        self.requests[place].entered = now;
        let Passing { request, scattered, origin, .. } = self.requests[place];
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

    /// The drive has completed requests.
    pub(super) fn drain_completions(&mut self, drive: &mut MappingCache, into: &mut Vec<Completion>) {
        drive.drain_completions(&mut self.ended);
        for completion in self.ended.drain(..) {
            let place = completion.index as u32;
            let Passing { request, index, sequential, entered, .. } = self.requests[place];
            self.requests.remove(place);
            let mut times = completion.times;
            if entered > request.arrival_ns {
                times.wait(Blocked::Pace, entered - request.arrival_ns);
            }
            into.push(Completion::of(&request, index, sequential, completion.completed_ns, &times));
        }
    }
}
