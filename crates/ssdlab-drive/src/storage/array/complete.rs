//! Requests to drives end: updates continue, then host requests complete.

use super::rebuild::UnitRead;
use super::split::{Access, Run};
use super::stripe_locks::Work;
use super::update::{Method, Update};
use super::{Array, Owner, PlantedInArray};
use crate::storage::Store;
use ssdlab_base::blocked::Blocked;
use ssdlab_base::request::RequestKind;
use ssdlab_base::units::Ns;
use ssdlab_result::stats::{Completion, Times};

impl<D: Store> Array<D> {
    /// Begins an update that holds the lock of its stripe: sends its reads of old data and parity, if it needs any.
    pub(super) fn begin_update(&mut self, now: Ns, place: u32) {
        let update = self.update(place);
        let arrival = self.requests[self.locks.get(place).request].request.arrival_ns;
        let op = self.locks.get_mut(place);
        op.times.wait(Blocked::StripeLock, now - arrival);
        op.reading = true;
        self.choose_methods(&update);
        self.send_columns(now, place, RequestKind::Read);
        if self.locks.get(place).pending == 0 {
            self.begin_to_write(now, place);
        }
    }

    fn update(&self, place: u32) -> Update {
        match self.locks.get(place).work {
            Work::Update(update) => update,
            work => unreachable!("{work:?} is no update"),
        }
    }

    fn choose_methods(&mut self, update: &Update) {
        let layout = &self.layout;
        self.methods.clear();
        self.methods.extend(update.columns(layout).into_iter().flatten().map(|column| update.method(layout, column)));
        for method in &self.methods {
            match method {
                Method::Full => self.result.full_writes += 1,
                Method::Modify => self.result.read_modify_writes += 1,
                Method::Reconstruct | Method::Recover => self.result.reconstruct_writes += 1,
            }
        }
    }

    /// Sends the reads of an update (by `methods`) or its writes to the working drives: adjacent pages as one request.
    fn send_columns(&mut self, now: Ns, place: u32, kind: RequestKind) {
        let (update, layout) = (self.update(place), self.layout);
        for unit in 0..=layout.data_units() {
            if layout.failed_in(update.stripe) == Some(layout.drive_in_stripe(update.stripe, unit)) || self.is_left_out(kind, unit, &update)
            {
                continue;
            }
            let mut rank = 0;
            for columns in update.columns(&layout) {
                let mut run = columns.start..columns.start;
                for column in columns {
                    let wanted = match kind {
                        RequestKind::Read => update.reads(&layout, self.methods[rank], unit, column),
                        _ => update.writes(&layout, unit, column),
                    };
                    rank += 1;
                    if wanted {
                        run.end = column + 1;
                    } else {
                        self.send_pages(now, place, kind, unit, run);
                        run = column + 1..column + 1;
                    }
                }
                self.send_pages(now, place, kind, unit, run);
            }
        }
    }

    /// A planted defect leaves out the pages of a unit.
    fn is_left_out(&self, kind: RequestKind, unit: u32, update: &Update) -> bool {
        match self.planted {
            Some(PlantedInArray::SkipsParity) => {
                let reconstructs = || update.method(&self.layout, update.columns(&self.layout)[0].start) == Method::Reconstruct;
                kind == RequestKind::Write && unit == self.layout.data_units() && reconstructs()
            }
            Some(PlantedInArray::ForgetsARead) => kind == RequestKind::Read && unit == 1,
            _ => false,
        }
    }

    /// Sends the pages of a unit in these columns to the drive of the unit.
    fn send_pages(&mut self, now: Ns, place: u32, kind: RequestKind, unit: u32, columns: std::ops::Range<u32>) {
        if columns.is_empty() {
            return;
        }
        let stripe = self.locks.get(place).stripe;
        let drive = self.layout.drive_in_stripe(stripe, unit);
        let byte = |column: u32| u64::from(stripe) * self.layout.unit_bytes() + u64::from(column) * u64::from(self.layout.page_bytes);
        let access = Access { kind, drive, start: byte(columns.start), end: byte(columns.end), data_drive: drive };
        self.locks.get_mut(place).pending += 1;
        let pages = u64::from(columns.end - columns.start);
        match kind {
            RequestKind::Read => self.result.update_reads += pages,
            _ => self.result.parity_writes += if unit == self.layout.data_units() { pages } else { 0 },
        }
        let at = u64::from(unit) * u64::from(self.layout.unit_pages) + u64::from(columns.end);
        self.send(now, Owner::Update(place), at, access);
    }

    /// An update has read all that it needs: it writes data and parity.
    fn begin_to_write(&mut self, now: Ns, place: u32) {
        self.locks.get_mut(place).reading = false;
        let (update, request) = (self.update(place), self.locks.get(place).request);
        if let Some(shadow) = &mut self.shadow {
            shadow.compute(&self.layout, place, request, &update);
        }
        self.send_columns(now, place, RequestKind::Write);
    }

    /// A request to a drive has ended.
    pub(super) fn drive_request_done(&mut self, now: Ns, drive: u32, completion: &Completion) {
        let id = completion.index as u32;
        let drive_request = self.drive_requests[id];
        self.drive_requests.remove(id);
        self.check_accepted(drive, completion);
        if let Some(shadow) = &mut self.shadow {
            shadow.delivered(&self.layout, drive_request.owner, id);
        }
        match drive_request.owner {
            Owner::Request(place) => {
                let mut times = completion.times;
                times.wait(Blocked::StripeLock, completion.arrival_ns - self.requests[place].request.arrival_ns);
                self.requests.note_times(now, place, drive_request.place, &times);
                self.request_part_done(now, place);
            }
            Owner::Update(place) => self.update_request_done(now, place, drive_request.place, &completion.times),
            Owner::Rebuild(place) => self.rebuild_request_done(now, place),
        }
    }

    fn update_request_done(&mut self, now: Ns, place: u32, position: u64, times: &Times) {
        let op = self.locks.get_mut(place);
        op.times.status.add(times.status);
        if (now, position) >= op.last {
            (op.last, op.last_times) = ((now, position), *times);
        }
        op.pending -= 1;
        if op.pending > 0 {
            return;
        }
        op.last = (0, 0);
        op.times.then(&op.last_times);
        if op.reading {
            self.begin_to_write(now, place);
        } else {
            self.end_update(now, place);
        }
    }

    fn end_update(&mut self, now: Ns, place: u32) {
        let update = self.update(place);
        let op = self.locks.release(&self.layout, place);
        if let Some(shadow) = &mut self.shadow {
            shadow.check_update(&self.layout, &update);
        }
        // The position of the update among the parts is that of the last page of its stripe.
        let pages = u64::from(op.stripe + 1) * u64::from(self.layout.drives) * u64::from(self.layout.unit_pages);
        self.requests.note_times(now, op.request, (pages << 6) - 1, &op.times);
        self.stripe_is_free(now, op.stripe);
        self.request_part_done(now, op.request);
    }

    /// Sends the operations that wait for a released stripe, up to the next update, which then holds the lock.
    pub(super) fn stripe_is_free(&mut self, now: Ns, stripe: u32) {
        while let Some((place, op)) = self.locks.next(stripe) {
            match op.work {
                Work::Update(_) => return self.begin_update(now, place),
                Work::Replacement => return self.begin_to_rebuild(now, place),
                Work::Read { drive, start, end } => self.read_in_turn(now, op.request, UnitRead { stripe, drive, run: Run { start, end } }),
                Work::Rebuild { drive, start, end } => self.rebuild(now, op.request, drive, Run { start, end }),
                Work::Trim => self.trim_at_once(now, op.request, stripe, stripe + 1),
            }
            // From now on the request waits for the drives.
            self.request_part_done(now, op.request);
        }
    }
}
