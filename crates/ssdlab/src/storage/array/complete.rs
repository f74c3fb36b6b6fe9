//! Requests to drives end: updates go on, then requests complete.

use super::split::{Access, Run};
use super::turns::What;
use super::update::{Method, Update};
use super::{Array, Owner, PlantedInArray};
use crate::blocked::Blocked;
use crate::request::RequestKind;
use crate::stats::{Completion, Times};
use crate::storage::Store;
use crate::units::Ns;

impl<D: Store> Array<D> {
    /// An update has its row: what it needs is read.
    pub(super) fn begin_update(&mut self, now: Ns, place: u32) {
        let update = self.update(place);
        let arrival = self.requests[self.turns.get(place).request].request.arrival_ns;
        let turn = self.turns.get_mut(place);
        turn.times.wait(Blocked::StripeLock, now - arrival);
        turn.reading = true;
        self.choose_methods(&update);
        self.send_columns(now, place, RequestKind::Read);
        if self.turns.get(place).pending == 0 {
            self.begin_to_write(now, place);
        }
    }

    fn update(&self, place: u32) -> Update {
        match self.turns.get(place).what {
            What::Update(update) => update,
            what => unreachable!("{what:?} has no phases"),
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

    /// Sends an update's reads (by `methods`), or its writes, to the drives that work: pages that lie together as one request.
    fn send_columns(&mut self, now: Ns, place: u32, kind: RequestKind) {
        let (update, layout) = (self.update(place), self.layout);
        for unit in 0..=layout.data_units() {
            if layout.failed == Some(layout.drive_in_row(update.row, unit)) || self.is_left_out(kind, unit, &update) {
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

    /// Defects that tests plant.
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

    /// Sends pages of a unit, by their columns.
    fn send_pages(&mut self, now: Ns, place: u32, kind: RequestKind, unit: u32, columns: std::ops::Range<u32>) {
        if columns.is_empty() {
            return;
        }
        let row = self.turns.get(place).row;
        let drive = self.layout.drive_in_row(row, unit);
        let byte = |column: u32| u64::from(row) * self.layout.unit_bytes() + u64::from(column) * u64::from(self.layout.page_bytes);
        let access = Access { kind, drive, start: byte(columns.start), end: byte(columns.end), stands_for: drive };
        self.turns.get_mut(place).pending += 1;
        let pages = u64::from(columns.end - columns.start);
        match kind {
            RequestKind::Read => self.result.update_reads += pages,
            _ => self.result.parity_writes += if unit == self.layout.data_units() { pages } else { 0 },
        }
        let at = u64::from(unit) * u64::from(self.layout.unit_pages) + u64::from(columns.end);
        self.send(now, Owner::Update(place), at, access);
    }

    /// All that an update needs is read.
    fn begin_to_write(&mut self, now: Ns, place: u32) {
        self.turns.get_mut(place).reading = false;
        let (update, request) = (self.update(place), self.turns.get(place).request);
        if let Some(shadow) = &mut self.shadow {
            shadow.compute(&self.layout, place, request, &update);
        }
        self.send_columns(now, place, RequestKind::Write);
    }

    /// A request to a drive has ended.
    pub(super) fn piece_done(&mut self, now: Ns, completion: &Completion) {
        let piece_place = completion.index as u32;
        let piece = self.pieces[piece_place];
        self.pieces.remove(piece_place);
        if let Some(shadow) = &mut self.shadow {
            shadow.delivered(&self.layout, piece.owner, piece_place);
        }
        match piece.owner {
            Owner::Request(place) => {
                let mut times = completion.times;
                times.wait(Blocked::StripeLock, completion.arrival_ns - self.requests[place].request.arrival_ns);
                self.account(now, place, piece.place, times);
                self.request_part_done(now, place);
            }
            Owner::Update(place) => self.update_piece_done(now, place, (now, piece.place, completion.times)),
        }
    }

    /// The times of a request are those of what ends last; the highest among equals.
    fn account(&mut self, now: Ns, place: u32, at: u64, times: Times) {
        let active = &mut self.requests[place];
        if (now, at) >= active.last {
            active.last = (now, at);
            active.times = times;
        }
    }

    fn update_piece_done(&mut self, now: Ns, place: u32, ended: (Ns, u64, Times)) {
        let turn = self.turns.get_mut(place);
        if (ended.0, ended.1) >= (turn.last.0, turn.last.1) {
            turn.last = ended;
        }
        turn.pending -= 1;
        if turn.pending > 0 {
            return;
        }
        let (_, _, last) = std::mem::take(&mut turn.last);
        turn.times.then(&last);
        if turn.reading {
            self.begin_to_write(now, place);
        } else {
            self.end_update(now, place);
        }
    }

    fn end_update(&mut self, now: Ns, place: u32) {
        let update = self.update(place);
        let turn = self.turns.release(&self.layout, place);
        if let Some(shadow) = &mut self.shadow {
            shadow.check_update(&self.layout, &update);
        }
        // As the last page of the row would count.
        let pages = u64::from(turn.row + 1) * u64::from(self.layout.drives) * u64::from(self.layout.unit_pages);
        self.account(now, turn.request, (pages << 6) - 1, turn.times);
        self.row_is_free(now, turn.row);
        self.request_part_done(now, turn.request);
    }

    /// Those who wait for a row go, up to the next update, which has it then.
    fn row_is_free(&mut self, now: Ns, row: u32) {
        while let Some((place, turn)) = self.turns.next(row) {
            match turn.what {
                What::Update(_) => return self.begin_update(now, place),
                What::Read { drive, start, end } => self.send_run(now, turn.request, drive, Run { start, end }),
                What::Trim => self.trim_at_once(now, turn.request, row, row + 1),
            }
            // What it waits for now are the drives.
            self.request_part_done(now, turn.request);
        }
    }
}
