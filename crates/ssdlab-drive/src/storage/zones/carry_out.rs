//! Commands begin, go to the drive, and end.

use super::machine::{Refusal, State};
use super::{Below, Command, Phase, Zones};
use crate::storage::Store;
use crate::storage::desk::Tracked;
use crate::storage::places::Places;
use ssdlab_base::blocked::{Blocked, Served};
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::status::Status;
use ssdlab_base::units::Ns;
use ssdlab_result::stats::Counters;

impl Zones {
    /// A command comes in. It waits for a finish or a reset of its zone; a read for a reset.
    pub(super) fn take(&mut self, now: Ns, index: u64, request: Request) {
        let zone = (request.offset / self.unit_bytes / u64::from(self.distance)) as u32;
        let place = self.requests.accept(index, request, Command { zone, phase: Phase::Held, since: now });
        let waits = match request.kind {
            RequestKind::Flush | RequestKind::Trim => false,
            RequestKind::Read => self.resetting[zone as usize],
            _ => self.busy[zone as usize] || self.held_by_zone[zone as usize] > 0,
        };
        if waits {
            self.counters().zone_waits += 1;
            self.held.push_back(place);
            self.held_by_zone[zone as usize] += 1;
        } else {
            self.begin_command(now, place);
        }
    }

    /// The counters of the drive.
    pub fn counters(&mut self) -> &mut Counters {
        self.drive.drive_mut().drive_mut().counters_of_zones()
    }

    fn begin_command(&mut self, now: Ns, place: u32) {
        let request = self.requests[place].request;
        let taken = match request.kind {
            RequestKind::Flush => return self.pass(now, Below::Serves(place), request),
            // Only a reset frees what a zone holds.
            RequestKind::Trim => return self.complete(now, place),
            RequestKind::Read => self.read(now, place),
            _ if self.drive.is_read_only() => {
                self.drive.drive_mut().drive_mut().note_rejected();
                return self.reject(now, place);
            }
            RequestKind::Write | RequestKind::Append => self.write(now, place),
            RequestKind::Copy => self.copy(now, place),
            _ if self.in_zone(&request).1 > u64::from(self.distance) * self.unit_bytes => Err(Refusal::Boundary),
            RequestKind::ZoneOpen => self.manage(now, place, |zones, zone| zones.machine.open(zone)),
            RequestKind::ZoneClose => self.manage(now, place, |zones, zone| zones.machine.close(zone)),
            RequestKind::ZoneFinish => return self.finish(now, place),
            RequestKind::ZoneReset => return self.reset(now, place),
        };
        if let Err(refusal) = taken {
            self.count_error(refusal);
            self.reject(now, place);
        }
    }

    pub(super) fn count_error(&mut self, refusal: Refusal) {
        let counters = self.counters();
        counters.zone_errors += 1;
        *match refusal {
            Refusal::InvalidWrite => &mut counters.zone_errors_pointer,
            Refusal::Boundary => &mut counters.zone_errors_boundary,
            Refusal::Full => &mut counters.zone_errors_full,
            Refusal::TooManyActive | Refusal::TooManyOpen => &mut counters.zone_errors_limit,
            Refusal::InvalidTransition => &mut counters.zone_errors_state,
        } += 1;
    }

    pub(super) fn reject(&mut self, now: Ns, place: u32) {
        self.requests[place].times.status.add(Status::Rejected);
        self.complete(now, place);
    }

    fn complete(&mut self, now: Ns, place: u32) {
        self.requests.part_ends(place);
        self.requests.complete(now, place);
    }

    pub(super) fn pass(&mut self, now: Ns, below: Below, request: Request) {
        let number = self.below.insert(below);
        let (Below::Serves(place)
        | Below::Reads(place)
        | Below::Writes(place, _)
        | Below::Pads(place)
        | Below::Copies(place, _)
        | Below::Unmaps(place)) = below;
        let own = &mut self.requests[place].own;
        own.since = now;
        if matches!(below, Below::Serves(_) | Below::Reads(_) | Below::Writes(..)) {
            own.phase = Phase::Below;
        }
        self.drive.set_next_origin(self.requests[place].origin);
        self.drive.accept(now, number.into(), Request { arrival_ns: now, ..request });
        self.passed = true;
    }

    /// The byte of the drive at a byte of a zone.
    pub(super) fn byte(&self, zone: u32, at: u64) -> u64 {
        u64::from(zone) * u64::from(self.capacity) * self.unit_bytes + at
    }

    /// The bytes of a request in its zone: first, and one past the last.
    fn in_zone(&self, request: &Request) -> (u64, u64) {
        let from = request.offset % (u64::from(self.distance) * self.unit_bytes);
        (from, from + request.length)
    }

    fn read(&mut self, now: Ns, place: u32) -> Result<(), Refusal> {
        let Tracked { request, own: Command { zone, .. }, .. } = self.requests[place];
        let (from, to) = self.in_zone(&request);
        if to > u64::from(self.capacity) * self.unit_bytes {
            return Err(Refusal::Boundary);
        }
        let offset = self.byte(zone, from);
        self.accesses[zone as usize] += 1;
        self.pass(now, Below::Reads(place), Request { offset, ..request });
        Ok(())
    }

    /// A write, an append, or a copy whose data have been read.
    pub(super) fn write(&mut self, now: Ns, place: u32) -> Result<(), Refusal> {
        let Tracked { request, own: Command { zone, .. }, .. } = self.requests[place];
        let is_append = request.kind == RequestKind::Append;
        let (from, _) = self.in_zone(&request);
        if !(from | request.length).is_multiple_of(self.unit_bytes) || is_append && from > 0 {
            return Err(Refusal::InvalidWrite);
        }
        let units = u32::try_from(request.length / self.unit_bytes).map_err(|_| Refusal::Boundary)?;
        let at = (!is_append).then_some((from / self.unit_bytes) as u32);
        let (first, active) = self.write_to(zone, at, units)?;
        if is_append {
            self.counters().zone_appends += 1;
            self.requests[place].request.offset = (u64::from(zone) * u64::from(self.distance) + u64::from(first)) * self.unit_bytes;
        }
        self.accesses[zone as usize] += 1;
        self.writes_of_place[usize::from(active)] += 1;
        let offset = self.byte(zone, u64::from(first) * self.unit_bytes);
        self.pass(
            now,
            Below::Writes(place, active),
            Request { kind: RequestKind::Write, offset, high_priority: false, handle: Some(active), ..request },
        );
        Ok(())
    }

    /// [`super::machine::Machine::write`], with its implicit closes counted.
    pub(super) fn write_to(&mut self, zone: u32, at: Option<u32>, units: u32) -> Result<(u32, u8), Refusal> {
        let before = self.machine.closes;
        let found = self.machine.write(zone, at, units);
        self.count_closes(before);
        found
    }

    fn count_closes(&mut self, before: u64) {
        let closed = self.machine.closes - before;
        if closed > 0 {
            self.counters().zone_closes += closed;
        }
    }

    /// Opens or closes a zone.
    fn manage(&mut self, now: Ns, place: u32, change: impl FnOnce(&mut Self, u32) -> Result<(), Refusal>) -> Result<(), Refusal> {
        let zone = self.requests[place].own.zone;
        let before = self.machine.closes;
        let changed = change(self, zone);
        self.count_closes(before);
        changed?;
        self.ends_after(now, place, self.keys.manage_ns);
        Ok(())
    }

    /// The command ends after a time in which the controller serves it.
    fn ends_after(&mut self, now: Ns, place: u32, ns: Ns) {
        let command = &mut self.requests[place];
        (command.own.phase, command.own.since) = (Phase::Ends, now);
        command.times.serve(Served::Core, ns);
        let behind = self.ending.partition_point(|&(at, _)| at <= now + ns);
        self.ending.insert(behind, (now + ns, place));
    }

    /// A zone becomes full: the rest of it is written, unless it is empty.
    fn finish(&mut self, now: Ns, place: u32) {
        let zone = self.requests[place].own.zone;
        let state = self.machine.state(zone);
        self.busy[zone as usize] = true;
        self.counters().zone_finishes += u64::from(state != State::Full);
        // An empty zone needs no program: no read finds data there.
        if matches!(state, State::Empty | State::Full) || self.machine.written(zone) == 0 {
            return self.ends_after(now, place, self.keys.manage_ns);
        }
        let own = &mut self.requests[place].own;
        (own.phase, own.since) = (Phase::Pads(self.machine.written(zone)), now);
        self.pad(now, place);
    }

    /// Writes the next padding of a finish. If all is written, the blocks close.
    fn pad(&mut self, now: Ns, place: u32) {
        let Tracked { request, own: Command { zone, phase, since }, .. } = self.requests[place];
        let Phase::Pads(next) = phase else { unreachable!("a finish writes padding") };
        let Some(active) = self.machine.place(zone).filter(|_| next < self.capacity) else {
            self.requests[place].times.serve(Served::Array, now - since);
            return self.ends_after(now, place, self.keys.close_ns);
        };
        // Up to the end of a stripe, so that later padding fills whole programs on all planes.
        let units = (self.stripe - next % self.stripe).min(self.capacity - next);
        self.requests[place].own.phase = Phase::Pads(next + units);
        self.counters().zone_padded_units += u64::from(units);
        let offset = self.byte(zone, u64::from(next) * self.unit_bytes);
        let length = u64::from(units) * self.unit_bytes;
        self.pass(now, Below::Pads(place), Request { kind: RequestKind::Write, offset, length, handle: Some(active), ..request });
        self.requests[place].own.since = since;
    }

    /// A zone becomes empty, once its reads and writes have ended.
    fn reset(&mut self, now: Ns, place: u32) {
        let zone = self.requests[place].own.zone;
        self.busy[zone as usize] = true;
        if self.machine.state(zone) == State::Empty {
            return self.ends_after(now, place, self.keys.reset_ns);
        }
        self.resetting[zone as usize] = true;
        self.counters().zone_resets += 1;
        let own = &mut self.requests[place].own;
        (own.phase, own.since) = (Phase::Drains, now);
        self.resets.push(place);
    }

    /// Goes on with resets whose writes or programs have ended. Returns true if any has gone on.
    pub(super) fn go_on_with_resets(&mut self, now: Ns) -> bool {
        let mut any = false;
        for at in (0..self.resets.len()).rev() {
            let place = self.resets[at];
            let Command { zone, phase, .. } = self.requests[place].own;
            match phase {
                Phase::Drains if self.has_drained(zone) => {
                    self.resets.swap_remove(at);
                    self.unmap(now, place);
                }
                Phase::Settles if self.has_settled(zone) => {
                    self.resets.swap_remove(at);
                    self.close_blocks(now, place);
                }
                _ => continue,
            }
            any = true;
        }
        any
    }

    /// All reads and writes of a zone have ended. All data of a full one are in flash, too: else its blocks would not be full, and its place may be that
    /// of another zone.
    fn has_drained(&self, zone: u32) -> bool {
        let first = zone * self.capacity;
        self.accesses[zone as usize] == 0 && (self.machine.place(zone).is_some() || !self.drive.holds_any(first..first + self.capacity))
    }

    /// Nothing of the place of a zone waits for a program or is being programmed.
    fn has_settled(&self, zone: u32) -> bool {
        let is_quiet = |place| self.writes_of_place[usize::from(place)] == 0 && !self.drive.has_data_of(place);
        self.machine.place(zone).is_none_or(is_quiet)
    }

    fn unmap(&mut self, now: Ns, place: u32) {
        let Tracked { request, own: Command { zone, since, .. }, .. } = self.requests[place];
        let (offset, length) = (self.byte(zone, 0), u64::from(self.capacity) * self.unit_bytes);
        self.pass(now, Below::Unmaps(place), Request { kind: RequestKind::Trim, offset, length, ..request });
        self.requests[place].own.since = since;
    }

    /// All programs of a zone that is reset have ended: its open blocks close, and the reset ends after its time.
    fn close_blocks(&mut self, now: Ns, place: u32) {
        let Command { zone, since, .. } = self.requests[place].own;
        let mut skipped = 0;
        if let Some(active) = self.machine.place(zone) {
            skipped = self.drive.drive_mut().drive_mut().close_blocks_of(now, active);
        }
        self.requests[place].times.wait(Blocked::Zone, now - since);
        let by_unit = self.keys.reset_unit_ns * u64::from(self.machine.written(zone));
        let to_close = if skipped > 0 { self.keys.close_ns } else { 0 };
        self.ends_after(now, place, self.keys.reset_ns + by_unit + to_close);
        self.passed = true;
    }

    /// Handles the requests that the drive has completed.
    pub(super) fn take_completions(&mut self, now: Ns) {
        let mut ended = std::mem::take(&mut self.ended);
        self.drive.drain_completions(&mut ended);
        for completion in &ended {
            let number = completion.index as u32;
            let below = self.below[number];
            self.below.remove(number);
            match below {
                Below::Serves(place) => {
                    self.requests[place].times.then(&completion.times);
                    self.complete(now, place);
                }
                Below::Reads(place) => {
                    let command = &mut self.requests[place];
                    command.times.then(&completion.times);
                    self.accesses[command.own.zone as usize] -= 1;
                    self.complete(now, place);
                }
                Below::Writes(place, active) => {
                    let command = &mut self.requests[place];
                    command.times.then(&completion.times);
                    let (zone, is_append) = (command.own.zone, command.request.kind == RequestKind::Append);
                    self.accesses[zone as usize] -= 1;
                    self.writes_of_place[usize::from(active)] -= 1;
                    if is_append && self.keys.append_ns > 0 {
                        self.ends_after(now, place, self.keys.append_ns);
                    } else {
                        self.complete(now, place);
                    }
                }
                Below::Pads(place) => {
                    self.requests[place].times.status.add(completion.times.status);
                    self.pad(now, place);
                }
                Below::Copies(place, zone) => self.copy_has_read(now, place, zone, &completion.times),
                Below::Unmaps(place) => {
                    self.requests[place].times.status.add(completion.times.status);
                    self.requests[place].own.phase = Phase::Settles;
                    self.resets.push(place);
                }
            }
        }
        ended.clear();
        self.ended = ended;
    }

    /// Ends the commands that are due. Returns true if there are any.
    pub(super) fn end_commands(&mut self, now: Ns) -> bool {
        let mut any = false;
        while let Some(&(_, place)) = self.ending.front().filter(|(at, _)| *at <= now) {
            self.ending.pop_front();
            any = true;
            let Tracked { request, own: Command { zone, .. }, .. } = self.requests[place];
            self.complete(now, place);
            match request.kind {
                RequestKind::ZoneFinish => self.machine.finish(zone),
                RequestKind::ZoneReset => self.machine.reset(zone),
                _ => continue,
            }
            (self.busy[zone as usize], self.resetting[zone as usize]) = (false, false);
            self.let_in(now, zone);
        }
        any
    }

    /// Commands that waited for a zone begin, in order, up to the next finish or reset; behind a finish the reads.
    pub(super) fn let_in(&mut self, now: Ns, zone: u32) {
        while self.held_by_zone[zone as usize] > 0
            && let Some(at) = self.held.iter().position(|&place| self.may_begin(zone, place))
        {
            let place = self.held.remove(at).expect("just found");
            self.held_by_zone[zone as usize] -= 1;
            let command = &mut self.requests[place];
            command.times.wait(Blocked::Zone, now - command.own.since);
            self.begin_command(now, place);
        }
    }

    /// A held command is one of this zone that no finish or reset holds up.
    fn may_begin(&self, zone: u32, place: u32) -> bool {
        let Tracked { request, own, .. } = &self.requests[place];
        let is_held_up = if request.kind == RequestKind::Read { &self.resetting } else { &self.busy };
        own.zone == zone && !is_held_up[zone as usize]
    }
}
