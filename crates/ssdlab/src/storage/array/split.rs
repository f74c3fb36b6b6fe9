//! A request becomes requests to drives, and turns of rows.
//!
//! It is split at units; what lies together on a drive becomes one request again. What has to wait for a row's turn is cut out of that.

use super::turns::{Turn, What};
use super::update::Update;
use super::{Active, Array, Owner, Piece, PlantedInArray};
use crate::blocked::Blocked;
use crate::request::{Request, RequestKind};
use crate::stats::{Completion, Times};
use crate::storage::Store;
use crate::timeline::{Cause, Origin};
use crate::units::Ns;

/// Bytes of a drive that lie together, first and one past the last; none if these are equal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Run {
    pub start: u64,
    pub end: u64,
}

/// What is asked of a drive.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub kind: RequestKind,
    pub drive: u32,
    /// First byte on the drive, and one past the last.
    pub start: u64,
    pub end: u64,
    /// The drive whose bytes are meant: another one where that has failed.
    pub stands_for: u32,
}

impl<D: Store> Array<D> {
    /// Takes a request apart.
    pub(super) fn split(&mut self, now: Ns, index: u64, request: Request, sequential: bool, scattered: bool) {
        let (offset, end) = (request.offset, request.offset + request.length);
        assert!(end <= u64::from(self.layout.exported_pages()) * u64::from(self.layout.page_bytes));
        let mut times = Times::default();
        times.wait(Blocked::StripeLock, now - request.arrival_ns);
        // The request itself counts as pending until all of it is on its way.
        let origin = self.told.take().unwrap_or(Origin::host(index));
        let place = self.requests.insert(Active { request, index, origin, sequential, scattered, pending: 1, times, last: (0, 0) });
        if let Some(shadow) = &mut self.shadow {
            shadow.accepted(&self.layout, place, &request, scattered);
        }
        match request.kind {
            RequestKind::Flush => self.flush(now, place),
            RequestKind::Read => self.read(now, place, offset, end),
            RequestKind::Write if self.layout.parity => self.write_rows(now, place, offset, end),
            RequestKind::Trim if self.layout.parity => self.trim_rows(now, place, offset, end),
            RequestKind::Write | RequestKind::Trim => self.stripe(now, place, offset, end),
        }
        self.request_part_done(now, place);
    }

    fn flush(&mut self, now: Ns, place: u32) {
        for drive in self.layout.working() {
            self.send_part(now, place, Access { kind: RequestKind::Flush, drive, start: 0, end: 0, stands_for: drive });
        }
    }

    /// Units as they are, without turns.
    fn stripe(&mut self, now: Ns, place: u32, offset: u64, end: u64) {
        let mut at = offset;
        while at < end {
            let to = self.end_of_unit(at).min(end);
            self.add_to_run(now, place, at, to);
            at = to;
        }
        self.send_runs(now, place);
    }

    /// Pages that an update of their row is to write, and in a row in use those of the failed drive, wait for their row's turn.
    fn read(&mut self, now: Ns, place: u32, offset: u64, end: u64) {
        if self.turns.is_at_rest() {
            return self.stripe(now, place, offset, end);
        }
        let page = u64::from(self.layout.page_bytes);
        let mut at = offset;
        while at < end {
            let until = self.end_of_unit(at).min(end);
            // Of the unit, pages that wait or do not wait together.
            let waits = self.read_waits(at);
            let mut to = ((at / page + 1) * page).min(until);
            while to < until && self.read_waits(to) == waits {
                to = (to + page).min(until);
            }
            if waits {
                let (row, drive, start) = self.on_drive(at);
                self.wait(row, place, What::Read { drive, start, end: start + (to - at) });
            } else {
                self.add_to_run(now, place, at, to);
            }
            at = to;
        }
        self.send_runs(now, place);
    }

    /// A read of the page with this byte has to wait for its row's turn.
    fn read_waits(&self, byte: u64) -> bool {
        if self.has(PlantedInArray::LetsReadsPass) {
            return false;
        }
        let page = (byte / u64::from(self.layout.page_bytes)) as u32;
        let unit = page / self.layout.unit_pages;
        let row = unit / self.layout.data_units();
        self.turns.changes(row, page) || self.layout.failed == Some(self.layout.drive_of(unit)) && self.turns.is_held(row)
    }

    /// A write goes row by row, each an update with a turn of its own; where parity has failed, data are written as they are.
    fn write_rows(&mut self, now: Ns, place: u32, offset: u64, end: u64) {
        let row_bytes = self.layout.row_bytes();
        let mut at = offset;
        while at < end {
            let row = (at / row_bytes) as u32;
            let start = u64::from(row) * row_bytes;
            let to = (start + row_bytes).min(end);
            if self.layout.parity_failed(row) {
                self.stripe(now, place, at, to);
            } else {
                let scattered = self.requests[place].scattered;
                let update = Update { row, from: at - start, to: to - start, scattered };
                let (turn, has_row) = self.turns.update(&self.layout, Turn::new(What::Update(update), row, place));
                self.requests[place].pending += 1;
                if has_row {
                    self.begin_update(now, turn);
                } else {
                    self.result.row_waits += 1;
                }
            }
            at = to;
        }
    }

    /// Rows that lie wholly inside the trim are unmapped, those that follow each other and are at rest together.
    fn trim_rows(&mut self, now: Ns, place: u32, offset: u64, end: u64) {
        let row_bytes = self.layout.row_bytes();
        let (first, last) = (offset.div_ceil(row_bytes) as u32, (end / row_bytes) as u32);
        let mut from = first;
        for row in first..last {
            if self.turns.is_held(row) {
                self.trim_at_once(now, place, from, row);
                self.wait(row, place, What::Trim);
                from = row + 1;
            }
        }
        self.trim_at_once(now, place, from, last);
    }

    /// Trims the rows from one to before another on all drives.
    pub(super) fn trim_at_once(&mut self, now: Ns, place: u32, from: u32, to: u32) {
        if from >= to {
            return;
        }
        let unit = self.layout.unit_bytes();
        let (start, end) = (u64::from(from) * unit, u64::from(to) * unit);
        for drive in self.layout.working() {
            self.send_part(now, place, Access { kind: RequestKind::Trim, drive, start, end, stands_for: drive });
        }
    }

    fn wait(&mut self, row: u32, place: u32, what: What) {
        self.turns.wait(Turn::new(what, row, place));
        self.requests[place].pending += 1;
        self.result.row_waits += 1;
    }

    fn end_of_unit(&self, byte: u64) -> u64 {
        let unit = self.layout.unit_bytes();
        (byte / unit + 1) * unit
    }

    /// The row of a byte of data, its drive, and the byte there.
    fn on_drive(&self, byte: u64) -> (u32, u32, u64) {
        let bytes = self.layout.unit_bytes();
        let unit = (byte / bytes) as u32;
        let row = unit / self.layout.data_units();
        (row, self.layout.drive_of(unit), u64::from(row) * bytes + byte % bytes)
    }

    /// Adds bytes of one unit to what is asked of their drive.
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

    /// Sends what lies together on a drive. What a failed drive would read all others read.
    pub(super) fn send_run(&mut self, now: Ns, place: u32, drive: u32, Run { start, end }: Run) {
        if start == end {
            return;
        }
        let kind = self.requests[place].request.kind;
        let access = Access { kind, drive, start, end, stands_for: drive };
        if self.layout.failed != Some(drive) {
            return self.send_part(now, place, access);
        }
        assert_eq!(kind, RequestKind::Read, "writes and trims leave the failed drive out");
        self.result.degraded_reads += 1;
        let left_out = self.has(PlantedInArray::LeavesOneOut).then(|| self.layout.working().next()).flatten();
        for drive in self.layout.working().filter(|&drive| Some(drive) != left_out) {
            self.send_part(now, place, Access { drive, ..access });
        }
    }

    /// Sends a part of a request to a drive.
    fn send_part(&mut self, now: Ns, place: u32, access: Access) {
        self.requests[place].pending += 1;
        let last = access.end.saturating_sub(1) / u64::from(self.layout.page_bytes);
        let row = last as u32 / self.layout.unit_pages;
        // By row, then by unit, then by page; and by drive where one stands for another.
        let unit = self.layout.unit_on(row, access.stands_for);
        let among = (u64::from(row) * u64::from(self.layout.drives) + u64::from(unit)) * u64::from(self.layout.unit_pages);
        let at = (among + last % u64::from(self.layout.unit_pages)) << 6 | u64::from(access.drive);
        self.send(now, Owner::Request(place), at, access);
    }

    /// Sends a request to a drive. `at`: see [`Piece::place`].
    pub(super) fn send(&mut self, now: Ns, owner: Owner, at: u64, access: Access) {
        let Access { kind, drive, start, end, .. } = access;
        let piece = self.pieces.insert(Piece { owner, place: at });
        let place = match owner {
            Owner::Request(place) => place,
            Owner::Update(turn) => self.turns.get(turn).request,
        };
        let Active { request, origin, scattered, .. } = self.requests[place];
        let origin = self.made_of(origin, owner, access);
        if let Some(shadow) = &mut self.shadow {
            shadow.sent(&self.layout, owner, piece, access);
        }
        let high_priority = kind == RequestKind::Write && request.high_priority;
        let below = Request { arrival_ns: now, kind, offset: start, length: end - start, high_priority };
        let to = &mut self.drives[drive as usize];
        to.next_is(origin);
        // Only where its page is written as it is do the sectors of a write matter.
        if scattered && matches!(owner, Owner::Request(_)) {
            to.accept_scattered(now, piece.into(), below);
        } else {
            to.accept(now, piece.into(), below);
        }
        self.touched |= 1 << drive;
        self.news |= 1 << drive;
    }

    /// Whose a request to a drive is, and what for.
    fn made_of(&self, origin: Origin, owner: Owner, access: Access) -> Origin {
        let Access { kind, drive, stands_for, .. } = access;
        match owner {
            Owner::Request(_) if stands_for != drive => origin.made(Cause::Degraded),
            Owner::Request(_) => origin,
            Owner::Update(_) if kind == RequestKind::Read => origin.made(Cause::Update),
            Owner::Update(turn) if self.layout.parity_drive(self.turns.get(turn).row) == Some(drive) => origin.made(Cause::Parity),
            Owner::Update(_) => origin,
        }
    }

    /// Something that a request waited for is done, and is accounted for.
    pub(super) fn request_part_done(&mut self, now: Ns, place: u32) {
        let active = &mut self.requests[place];
        active.pending -= 1;
        if active.pending > 0 {
            return;
        }
        let Active { request, index, sequential, times, .. } = self.requests[place];
        self.requests.remove(place);
        if let Some(shadow) = &mut self.shadow {
            shadow.completed(place);
        }
        self.completions.push(Completion::of(&request, index, sequential, now, times));
    }
}
