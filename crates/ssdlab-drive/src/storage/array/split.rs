//! Splits a request into requests to drives and operations on stripes.
//!
//! A request is split at units; adjacent bytes on a drive become one request again. Bytes that wait for a stripe lock are cut out.

use super::rebuild::UnitRead;
use super::stripe_locks::{StripeOp, Work};
use super::update::Update;
use super::{Array, ArrayRequest, DriveRequest, Owner, PlantedInArray};
use crate::storage::Store;
use crate::storage::desk::Tracked;
use crate::storage::places::Gate;
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::status::Status;
use ssdlab_base::units::Ns;
use ssdlab_result::timeline::{Cause, Origin};

/// Adjacent bytes of a drive: first, and one past the last. Empty if these are equal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Run {
    pub start: u64,
    pub end: u64,
}

/// A request to a drive, before it is sent.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub kind: RequestKind,
    pub drive: u32,
    /// First byte on the drive, and one past the last.
    pub start: u64,
    pub end: u64,
    /// The drive whose data are needed: not `drive` itself in a degraded read.
    pub data_drive: u32,
}

impl<D: Store> Array<D> {
    /// Takes a host request.
    pub(super) fn take(&mut self, now: Ns, index: u64, request: Request, scattered: bool) {
        assert!(request.offset + request.length <= u64::from(self.layout.exported_pages()) * u64::from(self.layout.page_bytes));
        let place = self.requests.accept(index, request, ArrayRequest { scattered });
        self.arrives(now, place);
    }

    /// Splits a host request into parts and sends those that need not wait; of a write, its pages from `from` on. Returns the first of
    /// these for which there is no place (`wear`).
    pub(super) fn split(&mut self, now: Ns, place: u32, from: u32) -> Option<u32> {
        let Tracked { request, own: ArrayRequest { scattered }, .. } = self.requests[place];
        let (offset, end) = (request.offset, request.offset + request.length);
        let page = u64::from(self.layout.page_bytes);
        let rejected = request.kind == RequestKind::Trim && self.rejects(place, (offset / page) as u32);
        let from = offset.max(u64::from(from) * page);
        if let Some(shadow) = self.shadow.as_mut().filter(|_| from == offset) {
            shadow.accepted(&self.layout, place, &request, scattered, rejected);
        }
        match request.kind {
            RequestKind::Flush => self.flush(now, place),
            RequestKind::Read => self.read(now, place, offset, end),
            RequestKind::Write => {
                let to = self.place_bytes(place, from, end);
                self.write(now, place, from, to);
                if to < end && self.requests[place].times.status != Status::Rejected {
                    return Some((to / page) as u32);
                }
            }
            RequestKind::Trim if rejected => {}
            RequestKind::Trim if self.layout.parity => self.trim_stripes(now, place, offset, end),
            RequestKind::Trim => self.send_by_unit(now, place, offset, end),
            // An array has no zones: a drive rejects the command.
            of_zones => {
                let drive = u32::from(self.layout.failed == Some(0));
                self.send_part(now, place, Access { kind: of_zones, drive, start: 0, end: 0, data_drive: drive });
            }
        }
        self.request_part_done(now, place);
        None
    }

    /// Bytes of a write come in.
    fn write(&mut self, now: Ns, place: u32, offset: u64, end: u64) {
        if offset == end {
            return;
        }
        if let Some(shadow) = &mut self.shadow {
            shadow.comes_in(place, offset, end);
        }
        if self.layout.parity {
            self.write_stripes(now, place, offset, end);
        } else {
            self.send_by_unit(now, place, offset, end);
        }
    }

    fn flush(&mut self, now: Ns, place: u32) {
        for drive in self.layout.working() {
            self.send_part(now, place, Access { kind: RequestKind::Flush, drive, start: 0, end: 0, data_drive: drive });
        }
    }

    /// Sends the bytes from `offset` to before `end` of a request, unit by unit, without locks.
    fn send_by_unit(&mut self, now: Ns, place: u32, offset: u64, end: u64) {
        let mut at = offset;
        while at < end {
            let to = self.end_of_unit(at).min(end);
            self.add_to_run(now, place, at, to);
            at = to;
        }
        self.send_runs(now, place);
    }

    /// Sends a read. Two kinds of pages wait for the lock of their stripe: pages that an update will write, and pages of the failed drive
    /// in a locked stripe.
    fn read(&mut self, now: Ns, place: u32, offset: u64, end: u64) {
        if self.locks.is_at_rest() && self.rebuilds.is_none() {
            return self.send_by_unit(now, place, offset, end);
        }
        let page = u64::from(self.layout.page_bytes);
        let mut at = offset;
        while at < end {
            let until = self.end_of_unit(at).min(end);
            // Adjacent pages of the unit that all wait, or all need not wait.
            let waits = self.read_waits(at);
            let mut to = ((at / page + 1) * page).min(until);
            while to < until && self.read_waits(to) == waits {
                to = (to + page).min(until);
            }
            let (stripe, drive, start) = self.on_drive(at);
            let end = start + (to - at);
            if waits {
                self.wait(stripe, place, Work::Read { drive, start, end });
            } else if !self.reads_around(now, place, UnitRead { stripe, drive, run: Run { start, end } }, false) {
                self.add_to_run(now, place, at, to);
            }
            at = to;
        }
        self.send_runs(now, place);
    }

    /// A read of the page with this byte of the array must wait for the lock of its stripe.
    fn read_waits(&self, byte: u64) -> bool {
        if self.has(PlantedInArray::LetsReadsPass) {
            return false;
        }
        let page = (byte / u64::from(self.layout.page_bytes)) as u32;
        let unit = page / self.layout.unit_pages;
        let stripe = unit / self.layout.data_units();
        self.locks.changes(stripe, page) || self.locks.is_held(stripe) && self.layout.failed_in(stripe) == Some(self.layout.drive_of(unit))
    }

    /// Sends a write stripe by stripe, each an update with its own lock. If the parity of a stripe is lost, only data are written, once it is not
    /// being rebuilt.
    fn write_stripes(&mut self, now: Ns, place: u32, offset: u64, end: u64) {
        let stripe_bytes = self.layout.stripe_bytes();
        let mut at = offset;
        while at < end {
            let stripe = (at / stripe_bytes) as u32;
            let start = u64::from(stripe) * stripe_bytes;
            let to = (start + stripe_bytes).min(end);
            self.note_degraded_write(stripe);
            if self.layout.parity_failed(stripe) && !self.locks.is_held(stripe) {
                self.send_by_unit(now, place, at, to);
            } else {
                let scattered = self.requests[place].own.scattered;
                let update = Update { stripe, from: at - start, to: to - start, scattered };
                self.give_back_spare_places(&update);
                let (op, has_lock) = self.locks.update(&self.layout, StripeOp::new(Work::Update(update), stripe, place));
                self.requests.part_begins(place);
                if has_lock {
                    self.begin_update(now, op);
                } else {
                    self.result.row_waits += 1;
                }
            }
            at = to;
        }
    }

    /// Unmaps the stripes that lie wholly inside the trim. Adjacent unlocked stripes are trimmed with one request to each drive.
    fn trim_stripes(&mut self, now: Ns, place: u32, offset: u64, end: u64) {
        let stripe_bytes = self.layout.stripe_bytes();
        let (first, last) = (offset.div_ceil(stripe_bytes) as u32, (end / stripe_bytes) as u32);
        let mut from = first;
        for stripe in first..last {
            if self.locks.is_held(stripe) {
                self.trim_at_once(now, place, from, stripe);
                self.wait(stripe, place, Work::Trim);
                from = stripe + 1;
            }
        }
        self.trim_at_once(now, place, from, last);
    }

    /// Trims the stripes from `from` to before `to` on all drives.
    pub(super) fn trim_at_once(&mut self, now: Ns, place: u32, from: u32, to: u32) {
        if from >= to {
            return;
        }
        let unit = self.layout.unit_bytes();
        let (start, end) = (u64::from(from) * unit, u64::from(to) * unit);
        for drive in self.layout.working() {
            self.send_part(now, place, Access { kind: RequestKind::Trim, drive, start, end, data_drive: drive });
        }
    }

    pub(super) fn wait(&mut self, stripe: u32, place: u32, work: Work) {
        self.locks.wait(StripeOp::new(work, stripe, place));
        self.requests.part_begins(place);
        self.result.row_waits += 1;
    }

    fn end_of_unit(&self, byte: u64) -> u64 {
        let unit = self.layout.unit_bytes();
        (byte / unit + 1) * unit
    }

    /// Stripe and drive of a byte of data of the array, and the byte on that drive.
    fn on_drive(&self, byte: u64) -> (u32, u32, u64) {
        let bytes = self.layout.unit_bytes();
        let unit = (byte / bytes) as u32;
        let stripe = unit / self.layout.data_units();
        (stripe, self.layout.drive_of(unit), u64::from(stripe) * bytes + byte % bytes)
    }

    /// Adds bytes of a unit to the run of their drive; if they are not adjacent to the run, sends the run first.
    fn add_to_run(&mut self, now: Ns, place: u32, from: u64, to: u64) {
        let (_, drive, start) = self.on_drive(from);
        let run = &mut self.runs[drive as usize];
        if run.start < run.end && run.end == start {
            run.end = start + (to - from);
            return;
        }
        let before = std::mem::replace(run, Run { start, end: start + (to - from) });
        self.send_run(now, place, drive, before);
    }

    fn send_runs(&mut self, now: Ns, place: u32) {
        for drive in 0..self.layout.drives {
            let run = std::mem::take(&mut self.runs[drive as usize]);
            self.send_run(now, place, drive, run);
        }
    }

    /// Sends a run to its drive. Of a read of the failed drive, what a new one does not have yet is sent to all other drives instead (degraded
    /// read).
    pub(super) fn send_run(&mut self, now: Ns, place: u32, drive: u32, Run { start, end }: Run) {
        if start == end {
            return;
        }
        let kind = self.requests[place].request.kind;
        let lost_from =
            if self.layout.failed == Some(drive) { u64::from(self.layout.rebuilt) * self.layout.unit_bytes() } else { u64::MAX };
        if start < lost_from {
            self.send_part(now, place, Access { kind, drive, start, end: end.min(lost_from), data_drive: drive });
        }
        if end <= lost_from {
            return;
        }
        let start = start.max(lost_from);
        assert_eq!(kind, RequestKind::Read, "writes and trims leave the failed drive out");
        self.result.degraded_reads += 1;
        self.rebuild(now, place, drive, Run { start, end });
    }

    /// Sends a read that has waited for its turn among the operations on its stripe.
    pub(super) fn read_in_turn(&mut self, now: Ns, place: u32, read: UnitRead) {
        if !self.reads_around(now, place, read, true) {
            self.send_run(now, place, read.drive, read.run);
        }
    }

    /// Sends a part of a host request to a drive.
    pub(super) fn send_part(&mut self, now: Ns, place: u32, access: Access) {
        self.requests.part_begins(place);
        let last = access.end.saturating_sub(1) / u64::from(self.layout.page_bytes);
        let stripe = last as u32 / self.layout.unit_pages;
        // By stripe, then by unit, then by page; a degraded read also by drive.
        let unit = self.layout.unit_on(stripe, access.data_drive);
        let among = (u64::from(stripe) * u64::from(self.layout.drives) + u64::from(unit)) * u64::from(self.layout.unit_pages);
        let at = (among + last % u64::from(self.layout.unit_pages)) << 6 | u64::from(access.drive);
        self.send(now, Owner::Request(place), at, access);
    }

    /// Sends a request to a drive. `at`: its position, see [`DriveRequest::place`].
    pub(super) fn send(&mut self, now: Ns, owner: Owner, at: u64, access: Access) {
        let Access { kind, drive, start, end, .. } = access;
        let place = match owner {
            Owner::Request(place) => Some(place),
            Owner::Update(op) => Some(self.locks.get(op).request),
            Owner::Rebuild(_) => None,
        };
        let mut below = Request { arrival_ns: now, kind, offset: start, length: end - start, high_priority: false, flow: 0, handle: None };
        let (mut origin, mut scattered) = (Origin::nobody(Cause::Rebuild), false);
        if let Some(place) = place {
            let Tracked { request, origin: of_request, own, .. } = self.requests[place];
            below.high_priority = kind == RequestKind::Write && request.high_priority;
            (below.flow, below.handle) = (request.flow, request.handle);
            (origin, scattered) = (self.made_of(of_request, owner, access), own.scattered);
        }
        let drive_request = self.drive_requests.insert(DriveRequest { owner, place: at });
        if let Some(shadow) = &mut self.shadow {
            shadow.sent(&self.layout, owner, drive_request, access);
        }
        let to = &mut self.drives[drive as usize];
        to.set_next_origin(origin);
        // An update writes whole pages; only a write without parity is scattered.
        if scattered && matches!(owner, Owner::Request(_)) {
            to.accept_scattered(now, drive_request.into(), below);
        } else {
            to.accept(now, drive_request.into(), below);
        }
        self.touch(drive);
    }

    /// The origin of a request to a drive, which tells why the array sends it.
    fn made_of(&self, origin: Origin, owner: Owner, access: Access) -> Origin {
        let Access { kind, drive, data_drive, .. } = access;
        match owner {
            Owner::Request(_) if data_drive != drive => origin.made(Cause::Degraded),
            Owner::Request(_) => origin,
            Owner::Update(_) if kind == RequestKind::Read => origin.made(Cause::Update),
            Owner::Update(op) if self.layout.parity_drive(self.locks.get(op).stripe) == Some(drive) => origin.made(Cause::Parity),
            Owner::Update(_) | Owner::Rebuild(_) => origin,
        }
    }

    /// A part of a host request has ended, and its times are noted.
    pub(super) fn request_part_done(&mut self, now: Ns, place: u32) {
        if !self.requests.part_ends(place) {
            return;
        }
        if let Some(shadow) = &mut self.shadow {
            shadow.completed(place);
        }
        self.note_wait(now, place);
        self.requests.complete(now, place);
    }
}
