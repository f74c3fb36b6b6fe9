//! Host requests at a write buffer: they come in, wait for room, find their data, and complete.

use super::{Access, Below, HostRequest, Lacks, PlantedInBuffer, Progress, Purpose, State, Waiter};
use crate::cache::Targets;
use crate::ftl::Class;
use crate::lists::NONE;
use crate::sched::{Change, SCATTERED};
use crate::storage::Store;
use crate::storage::desk::Tracked;
use crate::storage::mapping::MappingCache;
use ssdlab_base::blocked::{Blocked, Served};
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::status::Status;
use ssdlab_base::units::{Lpn, Ns};
use ssdlab_result::stats::Times;
use ssdlab_result::timeline::{Cause, Origin};

impl State {
    /// A host request arrives.
    pub(super) fn take(&mut self, now: Ns, index: u64, request: Request, scattered: bool, drive: &mut MappingCache) {
        let (first, end) = self.units_of(&request);
        let version = match (&mut self.shadow, request.kind) {
            (Some(shadow), RequestKind::Write) => shadow.write_arrives(first..end),
            (Some(shadow), RequestKind::Trim) => {
                let (first, end) = inner_units(&request, self.unit_bytes);
                shadow.trim_arrives(first..end);
                0
            }
            _ => 0,
        };
        let own = HostRequest { scattered, version, entered: now, paced: self.held.paced(now) };
        let place = self.requests.accept(index, request, own);
        if self.rejects(drive) && matches!(request.kind, RequestKind::Write | RequestKind::Trim) {
            return self.reject(now, place, first, drive);
        }
        match request.kind {
            RequestKind::Read | RequestKind::Trim if self.reads_pass => self.take_passing(now, place, drive),
            _ if self.waiting.is_empty() => self.enter(now, place, first, drive),
            _ => self.wait_outside(place, first),
        }
    }

    /// A read or trim arrives: it waits only for older requests of its units.
    fn take_passing(&mut self, now: Ns, place: u32, drive: &mut MappingCache) {
        let request = &self.requests[place].request;
        let kind = request.kind;
        let (first, end) = if kind == RequestKind::Trim { inner_units(request, self.unit_bytes) } else { self.units_of(request) };
        match self.waiting.last_conflict(kind, &(first..end)) {
            None => self.passes(now, place, true, drive),
            Some(conflict) => {
                self.stats.full_waits += u64::from(!self.held.is_paced());
                self.waiting.passing_waits(conflict, place, kind, first..end);
            }
        }
    }

    /// A read or trim comes in. `at_once`: it has not waited for older requests.
    fn passes(&mut self, now: Ns, place: u32, at_once: bool, drive: &mut MappingCache) {
        match self.requests[place].request.kind {
            RequestKind::Trim => self.trim(now, place, drive),
            _ => self.read(now, place, at_once, drive),
        }
    }

    /// The units that a request touches: first, and one past the last.
    fn units_of(&self, request: &Request) -> (u32, u32) {
        let unit = u64::from(self.unit_bytes);
        ((request.offset / unit) as u32, (request.offset + request.length).div_ceil(unit) as u32)
    }

    /// The bytes of a unit that a request touches.
    fn bytes_in(&self, place: u32, unit: u32) -> Change {
        let Tracked { request, own: HostRequest { scattered, .. }, .. } = self.requests[place];
        if scattered {
            return SCATTERED;
        }
        let start = u64::from(unit) * u64::from(self.unit_bytes);
        let from = request.offset.saturating_sub(start);
        let to = (request.offset + request.length - start).min(u64::from(self.unit_bytes));
        (from as u32, to as u32)
    }

    /// Makes a request wait for room or credit, or behind one that does. Its units from `next` on have not come in.
    fn wait_outside(&mut self, place: u32, next: u32) {
        self.stats.full_waits += u64::from(!self.held.is_paced());
        let request = &self.requests[place].request;
        let end = self.units_of(request).1;
        self.waiting.waits(place, request.kind, next..end);
    }

    /// Requests wait outside, and the oldest may find the room or credit that it lacked.
    #[inline(always)]
    pub(super) fn may_admit(&mut self, drive: &MappingCache) -> bool {
        if self.waiting.is_empty() {
            return false;
        }
        match self.lacks {
            None => true,
            _ if drive.drive().is_read_only() => true,
            Some(Lacks::Room) => !self.entries.is_full(),
            Some(Lacks::Place(unit)) => drive.drive().has_place(Lpn(unit)),
            Some(Lacks::Credit(unit)) => {
                let changes = drive.drive().changes();
                if self.has_credit.1 != changes {
                    self.has_credit = (drive.drive().would_let_in(Lpn(unit)), changes);
                }
                self.has_credit.0
            }
        }
    }

    /// Waiting requests come in, in order, as far as there is room and credit, then the reads and trims that waited for them.
    pub(super) fn admit(&mut self, now: Ns, drive: &mut MappingCache) {
        if !self.may_admit(drive) {
            return;
        }
        if matches!(self.lacks, Some(Lacks::Place(_))) {
            drive.drive_mut().awaits_place(now, None);
        }
        self.lacks = None;
        while let Some((place, next)) = self.waiting.front() {
            let Tracked { request, origin, .. } = self.requests[place];
            let blocked = match request.kind {
                RequestKind::Write => self.write(now, place, next, drive),
                _ => {
                    self.enter(now, place, next, drive);
                    None
                }
            };
            self.waiting.entered(blocked);
            if blocked.is_none() {
                drive.drive_mut().note_admission(now, origin, request.arrival_ns);
            }
            while let Some(passing) = self.waiting.next_passing() {
                self.passes(now, passing, false, drive);
            }
            if blocked.is_some() {
                break;
            }
        }
    }

    /// A request comes in that no earlier one holds back. A write begins to wait where it finds no room or credit.
    fn enter(&mut self, now: Ns, place: u32, first: u32, drive: &mut MappingCache) {
        match self.requests[place].request.kind {
            RequestKind::Read => self.read(now, place, false, drive),
            RequestKind::Write => {
                if let Some(next) = self.write(now, place, first, drive) {
                    self.wait_outside(place, next);
                }
            }
            RequestKind::Trim => self.trim(now, place, drive),
            RequestKind::Flush => self.flush(now, place),
            _ => self.pass_on(now, place, drive),
        }
    }

    /// The units of a write, from `from` on, come into the buffer. Returns the first without room or credit.
    fn write(&mut self, now: Ns, place: u32, from: u32, drive: &mut MappingCache) -> Option<u32> {
        let end = self.units_of(&self.requests[place].request).1;
        for unit in from..end {
            if self.rejects(drive) {
                self.reject(now, place, unit, drive);
                return None;
            }
            if !self.put(now, place, unit, drive) {
                return Some(unit);
            }
        }
        self.hold(now, None, drive);
        if self.enters(now, place) > 0 {
            drive.drive_mut().note_paced_write();
        }
        let bytes = self.requests[place].request.length;
        self.access(now, place, NONE, bytes);
        self.page_done(now, place, None);
        None
    }

    /// The drive is read-only, and writes and trims are rejected here, not above.
    fn rejects(&self, drive: &MappingCache) -> bool {
        drive.drive().is_read_only() && !self.accepted_above
    }

    /// The drive is read-only: a write or trim is rejected, as far as its units from `from` on are concerned.
    fn reject(&mut self, now: Ns, place: u32, from: u32, drive: &mut MappingCache) {
        self.hold(now, None, drive);
        self.enters(now, place);
        let end = self.units_of(&self.requests[place].request).1;
        if let Some(shadow) = &mut self.shadow {
            shadow.rejected(from..end);
        }
        self.requests[place].times.status.add(Status::Rejected);
        drive.drive_mut().note_rejected();
        self.page_done(now, place, None);
    }

    /// Records that the oldest waiting request waits for credit for `unit`; `None`: not for credit.
    fn hold(&mut self, now: Ns, unit: Option<u32>, drive: &mut MappingCache) {
        if unit.is_some() || self.held.is_paced() {
            self.held.set(now, unit.is_some());
            self.passed |= drive.drive_mut().awaits_credit(unit.map(Lpn));
        }
    }

    /// All of a request has come in. Returns its wait for credit, ns.
    fn enters(&mut self, now: Ns, place: u32) -> Ns {
        let paced = self.held.paced(now);
        let own = &mut self.requests[place].own;
        (own.entered, own.paced) = (now, paced - own.paced);
        own.paced
    }

    /// A unit of a write comes into the buffer. Returns false if the buffer is full or there is no credit.
    fn put(&mut self, now: Ns, place: u32, unit: u32, drive: &mut MappingCache) -> bool {
        let Tracked { request, origin, own: HostRequest { version, .. }, .. } = self.requests[place];
        let bytes = self.bytes_in(place, unit);
        let present = self.entries.of_unit(unit);
        let entry = if present != NONE && self.entries.get(present).progress != Progress::Sent {
            self.stats.rewrites += 1;
            self.entries.rewrite(present, bytes);
            if self.accepted_above {
                drive.drive_mut().is_in_flash(Lpn(unit));
            }
            if self.planted == Some(PlantedInBuffer::ForgetsRewrites) {
                return self.note_entered(unit, version);
            }
            present
        } else if self.entries.is_full() {
            self.lacks = Some(Lacks::Room);
            self.hold(now, None, drive);
            return false;
        } else if !self.accepted_above && !drive.drive().has_place(Lpn(unit)) {
            self.lacks = Some(Lacks::Place(unit));
            drive.drive_mut().awaits_place(now, Some(Lpn(unit)));
            self.passed = true;
            self.hold(now, None, drive);
            return false;
        } else if !drive.drive_mut().lets_in(Lpn(unit)) {
            self.lacks = Some(Lacks::Credit(unit));
            self.has_credit = (false, drive.drive().changes());
            self.hold(now, Some(unit), drive);
            return false;
        } else {
            if !self.accepted_above {
                drive.drive_mut().is_accepted(Lpn(unit));
            }
            let class = drive.drive_mut().class_of_program(Lpn(unit), request.handle);
            let destination = self.destination_of(unit, request.handle, class, drive);
            let entry = self.entries.insert(now, unit, bytes, destination, origin.request);
            let inserted = self.entries.get_mut(entry);
            (inserted.handle, inserted.class, inserted.flushes_before) = (request.handle, class, self.flushes.entry_comes());
            entry
        };
        let entry = self.entries.get_mut(entry);
        entry.version = version;
        entry.high_priority |= request.high_priority;
        self.note_entered(unit, version)
    }

    fn note_entered(&mut self, unit: u32, version: u32) -> bool {
        self.stats.units += 1;
        if let Some(shadow) = &mut self.shadow {
            shadow.enters(unit, version);
        }
        true
    }

    /// The destination of the program for `unit`, written with a placement handle and of this class. Data that replace an entry stay with its
    /// handle and class.
    fn destination_of(&self, unit: u32, handle: Option<u8>, class: Option<Class>, drive: &MappingCache) -> u32 {
        let pool = if self.dynamic { 0 } else { drive.ftl().geometry().static_pool(Lpn(unit)).0 };
        pool * self.classes + u32::from(class.or(handle).unwrap_or(self.default_handle)) % self.classes
    }

    /// A read finds its units in the buffer, or goes on to the drive. `passes`: it has not waited for older requests.
    fn read(&mut self, now: Ns, place: u32, passes: bool, drive: &mut MappingCache) {
        self.enters(now, place);
        let (first, end) = self.units_of(&self.requests[place].request);
        let (mut hits, mut missing) = (0, first);
        for unit in first..end {
            let entry = self.entries.of_unit(unit);
            if let Some(shadow) = &mut self.shadow {
                shadow.reads(unit, (entry != NONE).then(|| self.entries.get(entry).version), passes);
            }
            if entry == NONE {
                continue;
            }
            self.read_below(now, place, missing..unit, drive);
            missing = unit + 1;
            self.stats.read_hits += 1;
            if self.entries.covers(entry, self.bytes_in(place, unit)) || !self.needs_rest(entry, drive) {
                hits += self.bytes_of(place, unit);
            } else {
                self.wait_for_rest(now, place, entry, drive);
            }
        }
        self.read_below(now, place, missing..end, drive);
        if hits > 0 {
            self.access(now, place, NONE, hits);
        }
        self.page_done(now, place, None);
    }

    /// The drive has data of the entry's unit, of which the entry holds only a part.
    pub(super) fn needs_rest(&self, entry: u32, drive: &MappingCache) -> bool {
        !self.entries.is_whole(entry) && drive.holds_data(self.entries.get(entry).unit)
    }

    fn wait_for_rest(&mut self, now: Ns, place: u32, entry: u32, drive: &mut MappingCache) {
        self.fill(now, entry, drive);
        self.requests.part_begins(place);
        let next = self.entries.get(entry).readers;
        self.entries.get_mut(entry).readers = self.waiters.insert(Waiter { request: place, since: now, next });
    }

    /// Sends the part of a read that touches `units` to the drive.
    fn read_below(&mut self, now: Ns, place: u32, units: std::ops::Range<u32>, drive: &mut MappingCache) {
        if units.is_empty() {
            return;
        }
        let Tracked { request, origin, .. } = self.requests[place];
        let unit_bytes = u64::from(self.unit_bytes);
        let from = request.offset.max(u64::from(units.start) * unit_bytes);
        let to = (request.offset + request.length).min(u64::from(units.end) * unit_bytes);
        self.requests.part_begins(place);
        let below = self.below.insert(Below { purpose: Purpose::Serves(place, units.end - 1), since: now });
        drive.next_request_is(origin);
        drive.accept(now, below.into(), Request { arrival_ns: now, offset: from, length: to - from, ..request });
        self.passed = true;
    }

    /// Reads the rest of the entry's unit, unless that is being read.
    pub(super) fn fill(&mut self, now: Ns, entry: u32, drive: &mut MappingCache) {
        if std::mem::replace(&mut self.entries.get_mut(entry).filling, true) {
            return;
        }
        self.stats.fills += 1;
        self.filling += 1;
        let unit_bytes = u64::from(self.unit_bytes);
        let offset = u64::from(self.entries.get(entry).unit) * unit_bytes;
        let below = self.below.insert(Below { purpose: Purpose::Fills(entry), since: now });
        drive.next_request_is(Origin::nobody(Cause::Fill));
        let high_priority = self.entries.get(entry).high_priority;
        let request =
            Request { arrival_ns: now, kind: RequestKind::Read, offset, length: unit_bytes, high_priority, flow: 0, handle: None };
        drive.accept(now, below.into(), request);
        self.passed = true;
    }

    /// The rest of an entry's unit has been read: the reads that waited for it go on.
    pub(super) fn rest_read(&mut self, now: Ns, entry: u32, since: Ns, times: &Times, drive: &mut MappingCache) {
        self.filling -= 1;
        let unit = self.entries.get(entry).unit;
        let mut waiting = std::mem::replace(&mut self.entries.get_mut(entry).readers, NONE);
        while waiting != NONE {
            let Waiter { request, since: from, next } = self.waiters[waiting];
            self.waiters.remove(waiting);
            waiting = next;
            let mut own = *times;
            if from != since {
                // The request waited for a read that another request has begun.
                own = Times::default();
                own.wait(Blocked::PageOrder, now - from);
                own.status = times.status;
            }
            let before = self.waited_before.insert(own);
            self.access(now, request, before, self.bytes_of(request, unit));
            self.requests.part_ends(request);
        }
        if self.entries.get(entry).progress == Progress::Dropped {
            self.entry_ends(entry, drive);
            return self.entries.free(entry);
        }
        self.entries.filled(entry);
        let destination = self.entries.get(entry).destination;
        self.entries.note(destination);
    }

    fn trim(&mut self, now: Ns, place: u32, drive: &mut MappingCache) {
        let Tracked { request, origin, .. } = self.requests[place];
        if self.rejects(drive) {
            let first = self.units_of(&request).0;
            return self.reject(now, place, first, drive);
        }
        self.enters(now, place);
        let (first, end) = inner_units(&request, self.unit_bytes);
        for entry in self.entries.within(first, end) {
            let was = *self.entries.get(entry);
            self.entries.trim(entry);
            self.stats.trimmed += u64::from(was.progress != Progress::Sent);
            if was.progress != Progress::Sent && !was.filling {
                self.entry_ends(entry, drive);
            }
        }
        if let Some(shadow) = &mut self.shadow {
            shadow.trimmed(first..end);
        }
        let below = self.below.insert(Below { purpose: Purpose::Serves(place, 0), since: now });
        drive.next_request_is(origin);
        drive.accept(now, below.into(), Request { arrival_ns: now, ..request });
        self.passed = true;
    }

    /// A command that this level does not know goes on to the drive.
    #[cold]
    fn pass_on(&mut self, now: Ns, place: u32, drive: &mut MappingCache) {
        self.enters(now, place);
        let Tracked { request, origin, .. } = self.requests[place];
        let below = self.below.insert(Below { purpose: Purpose::Serves(place, 0), since: now });
        drive.next_request_is(origin);
        drive.accept(now, below.into(), Request { arrival_ns: now, ..request });
        self.passed = true;
    }

    fn flush(&mut self, now: Ns, place: u32) {
        self.enters(now, place);
        if self.protected {
            return self.page_done(now, place, None);
        }
        if self.planted == Some(PlantedInBuffer::FlushesEarly) {
            return self.flush_ends(now, place);
        }
        self.hurry_all();
        self.flushes.comes(place);
    }

    /// No entry waits any longer for others to fill its program.
    pub(super) fn hurry_all(&mut self) {
        while let Some((entry, _)) = self.entries.oldest() {
            self.entries.hurry(entry);
        }
    }

    /// Completes the flushes whose data are all in flash.
    pub(super) fn end_flushes(&mut self, now: Ns) {
        while let Some(place) = self.flushes.next_done() {
            self.flush_ends(now, place);
        }
    }

    fn flush_ends(&mut self, now: Ns, place: u32) {
        let entered = self.requests[place].own.entered;
        if let Some(shadow) = &mut self.shadow
            && self.entries.any_before(entered)
        {
            shadow.note(format!("a flush that came at {entered} ns ends before data that came earlier are in flash"));
        }
        let mut times = Times::default();
        times.wait(Blocked::PageOrder, now - entered);
        self.page_done(now, place, Some((0, &times)));
    }

    /// Number of bytes of a unit that a read touches.
    fn bytes_of(&self, place: u32, unit: u32) -> u64 {
        let (from, to) = self.bytes_in(place, unit);
        (to - from).into()
    }

    /// Begins a transfer of data of a request into or out of the buffer. `before`: see [`Access`].
    fn access(&mut self, now: Ns, place: u32, before: u32, bytes: u64) {
        self.requests.part_begins(place);
        let mut ends = now + self.access_ns;
        if self.bytes_per_us > 0 {
            self.stats.memory_waits += u64::from(self.memory_free > now);
            ends = self.memory_free.max(now) + self.access_ns + (bytes * 1_000).div_ceil(self.bytes_per_us);
            self.memory_free = ends;
        }
        self.accesses.push_back(Access { came: now, ends, request: place, before });
    }

    /// Ends the accesses that are due.
    pub(super) fn end_accesses(&mut self, now: Ns) {
        while let Some(&Access { came, request, before, .. }) = self.accesses.front().filter(|access| access.ends <= now) {
            self.accesses.pop_front();
            let mut times = Times::default();
            if before != NONE {
                times = self.waited_before[before];
                self.waited_before.remove(before);
            }
            times.serve(Served::Dram, now - came);
            // Of parts that end at one instant, the part that the drive served counts.
            self.page_done(now, request, Some((0, &times)));
        }
    }

    /// A part of a request is done, with its last unit and times; `None`: the request has come in. Its last part completes it.
    pub(super) fn page_done(&mut self, now: Ns, place: u32, part: Option<(u32, &Times)>) {
        if !self.requests.part_ends_with(now, place, part) {
            return;
        }
        let Tracked { request, times, own: HostRequest { entered, paced, .. }, .. } = &mut self.requests[place];
        times.wait(Blocked::BufferFull, *entered - request.arrival_ns - *paced);
        times.wait(Blocked::Pace, *paced);
        self.requests.complete(now, place);
    }
}

/// The units that lie wholly inside a request: first, and one past the last.
pub(super) fn inner_units(request: &Request, unit_bytes: u32) -> (u32, u32) {
    let unit = u64::from(unit_bytes);
    let first = request.offset.div_ceil(unit);
    let end = (request.offset + request.length) / unit;
    (first as u32, end.max(first) as u32)
}
