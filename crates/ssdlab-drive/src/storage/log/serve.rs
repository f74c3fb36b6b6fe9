//! Requests come in, are sent to the zones, and end.

use super::space::{Run, Writer};
use super::{Below, Command, Log};
use ssdlab_base::blocked::Blocked;
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::status::Status;
use ssdlab_base::units::Ns;
use ssdlab_result::stats::Times;

impl Log {
    /// A request comes in. It is served, or waits for earlier ones of its units.
    pub(super) fn take(&mut self, now: Ns, index: u64, request: Request) {
        let first = self.units(&request).start;
        let own = Command { before: Times::default(), since: now, number: self.came, behind: 0, fills: 0, next: first };
        self.came += 1;
        let place = self.requests.accept(index, request, own);
        self.note_request(place);
        let has_order = request.kind != RequestKind::Flush && !request.kind.needs_zones();
        if has_order && self.units(&request).any(|unit| self.unsent.contains_key(&unit)) {
            self.queue_up(place);
        } else {
            self.serve(now, place);
        }
        self.serve_released(now);
    }

    /// The logical units that a request touches.
    fn units(&self, request: &Request) -> std::ops::Range<u32> {
        let end = request.offset + request.length;
        (request.offset / self.unit_bytes) as u32..end.div_ceil(self.unit_bytes) as u32
    }

    /// A request joins the queue of each of its mapping units: later requests of these wait until it has been sent.
    fn queue_up(&mut self, place: u32) {
        for unit in self.units(&self.requests[place].request) {
            let queue = self.unsent.entry(unit).or_default();
            self.requests[place].own.behind += u32::from(!queue.is_empty());
            queue.push_back(place);
        }
    }

    /// A request that has been sent leaves the queues of its mapping units: the next requests there may follow.
    fn leave_queues(&mut self, place: u32) {
        for unit in self.units(&self.requests[place].request) {
            let std::collections::btree_map::Entry::Occupied(mut queue) = self.unsent.entry(unit) else { continue };
            if queue.get().front() != Some(&place) {
                continue;
            }
            queue.get_mut().pop_front();
            let Some(&next) = queue.get().front() else {
                queue.remove();
                continue;
            };
            let behind = &mut self.requests[next].own.behind;
            *behind -= 1;
            if *behind == 0 {
                self.released.push_back(next);
            }
        }
    }

    /// Serves the requests that are the first of all their units now.
    fn serve_released(&mut self, now: Ns) {
        while let Some(place) = self.released.pop_front() {
            self.serve(now, place);
        }
    }

    fn serve(&mut self, now: Ns, place: u32) {
        let own = &mut self.requests[place].own;
        own.before.wait(Blocked::Zone, now - own.since);
        own.since = now;
        match self.requests[place].request.kind {
            RequestKind::Flush => {
                self.requests.part_begins(place);
                self.pass(now, Below::Flushes(place), Some(place), (RequestKind::Flush, 0, 0));
                self.sent(now, place);
            }
            RequestKind::Read => self.read(now, place),
            RequestKind::Write => self.write(now, place),
            RequestKind::Trim => self.trim(now, place),
            // Hosts of a log know no zones.
            _ => {
                self.counters().zone_errors += 1;
                self.requests[place].times.status.add(Status::Rejected);
                self.sent(now, place);
            }
        }
    }

    /// All parts of a request have been sent.
    fn sent(&mut self, now: Ns, place: u32) {
        self.leave_queues(place);
        if self.requests.part_ends(place) {
            let command = &mut self.requests[place];
            let status = command.times.status;
            command.times = command.own.before;
            command.times.status.add(status);
            self.complete(now, place);
        }
    }

    /// A part of a request has ended.
    pub(super) fn part_ended(&mut self, now: Ns, place: u32, position: u32, times: &Times) {
        if self.requests.part_ends_with(now, place, Some((position, times))) {
            self.complete(now, place);
        }
    }

    fn complete(&mut self, now: Ns, place: u32) {
        self.forget_request(place);
        self.requests.complete(now, place);
    }

    /// Reads what the request asks for, consecutive units of a zone together.
    fn read(&mut self, now: Ns, place: u32) {
        let request = self.requests[place].request;
        let (unit_bytes, end) = (self.unit_bytes, request.offset + request.length);
        let mut part: Option<(u32, u64, u64)> = None;
        for unit in self.units(&request) {
            self.check_read(place, unit);
            let (from, to) = ((u64::from(unit) * unit_bytes).max(request.offset), (u64::from(unit + 1) * unit_bytes).min(end));
            let Some(at) = self.space.place(unit) else {
                self.counters().unmapped_reads += 1;
                continue;
            };
            let byte = self.byte(at) + from % unit_bytes;
            part = match part {
                Some((first, offset, length)) if offset + length == byte && at % self.capacity > 0 => {
                    Some((first, offset, length + to - from))
                }
                other => {
                    self.read_part(now, place, other);
                    Some((unit, byte, to - from))
                }
            };
        }
        self.read_part(now, place, part);
        self.sent(now, place);
    }

    fn read_part(&mut self, now: Ns, place: u32, part: Option<(u32, u64, u64)>) {
        if let Some((unit, offset, length)) = part {
            self.requests.part_begins(place);
            self.pass(now, Below::Reads(place, unit), Some(place), (RequestKind::Read, offset, length));
        }
    }

    /// Forgets the units that a trim covers as a whole.
    fn trim(&mut self, now: Ns, place: u32) {
        let request = self.requests[place].request;
        let end = (request.offset + request.length) / self.unit_bytes;
        for unit in request.offset.div_ceil(self.unit_bytes)..end {
            self.counters().trimmed_pages += u64::from(self.space.place(unit as u32).is_some());
            self.space.forget(unit as u32);
        }
        self.sent(now, place);
    }

    /// Writes, after the units of which the request has a part have been read, if they have data.
    fn write(&mut self, now: Ns, place: u32) {
        let request = self.requests[place].request;
        let (units, end) = (self.units(&request), request.offset + request.length);
        let first = (!request.offset.is_multiple_of(self.unit_bytes)).then_some(units.start);
        let last = (!end.is_multiple_of(self.unit_bytes)).then_some(units.end - 1).filter(|&last| Some(last) != first);
        if first.is_none() && last.is_none() && self.waiting.is_empty() && self.send(now, place) {
            return self.sent(now, place);
        }
        if self.unsent.get(&units.start).is_none_or(|queue| queue.front() != Some(&place)) {
            self.queue_up(place);
        }
        for unit in [first, last].into_iter().flatten() {
            let Some(at) = self.space.place(unit) else { continue };
            self.requests[place].own.fills += 1;
            self.counters().log_fills += 1;
            let offset = self.byte(at);
            self.pass(now, Below::Fills(place), Some(place), (RequestKind::Read, offset, self.unit_bytes));
        }
        if self.requests[place].own.fills == 0 {
            self.waits_for_zone(now, place);
        }
    }

    /// A unit has been read of which a write has a part.
    pub(super) fn filled(&mut self, now: Ns, place: u32, times: &Times) {
        let own = &mut self.requests[place].own;
        own.fills -= 1;
        own.before.status.add(times.status);
        if own.fills == 0 {
            own.before.then(times);
            own.since = now;
            self.waits_for_zone(now, place);
        }
    }

    /// A write is ready to be sent, after older ones that wait for a free zone.
    fn waits_for_zone(&mut self, now: Ns, place: u32) {
        let number = self.requests[place].own.number;
        let at = self.waiting.partition_point(|&other| self.requests[other].own.number < number);
        self.waiting.insert(at, place);
        if self.waiting.len() > 1 || !self.send_waiting(now) {
            self.counters().log_waits += 1;
        }
    }

    /// Sends the writes for which there is room. Returns true if any has been sent as a whole.
    pub(super) fn send_waiting(&mut self, now: Ns) -> bool {
        let mut any = false;
        while let Some(&place) = self.waiting.front()
            && self.send(now, place)
        {
            self.waiting.pop_front();
            self.sent(now, place);
            any = true;
            // A write that waited for this one has its turn before younger ones.
            self.serve_released(now);
        }
        any
    }

    /// Sends what is left of a write, as far as there is room. Returns true if nothing is left.
    fn send(&mut self, now: Ns, place: u32) -> bool {
        let end = self.units(&self.requests[place].request).end;
        while self.requests[place].own.next < end {
            let next = self.requests[place].own.next;
            let Some(run) = self.take_room(next, end - next) else { return false };
            self.requests[place].own.next += run.units;
            self.counters().log_written_units += u64::from(run.units);
            for at in 0..run.units {
                self.space.put(next + at, run.first + at);
                self.note_write(place, next + at, run.first + at);
            }
            self.requests.part_begins(place);
            let (offset, length) = (self.byte(run.first), u64::from(run.units) * self.unit_bytes);
            self.pass(now, Below::Writes { place, run, sent: now }, Some(place), (RequestKind::Write, offset, length));
        }
        true
    }

    /// Takes room for up to `most` units of a write from `unit` on. `None`: it waits.
    fn take_room(&mut self, unit: u32, most: u32) -> Option<Run> {
        match &mut self.blocks {
            None => self.space.take(Writer::Host, most),
            Some(blocks) => blocks.take(&mut self.space, unit, most),
        }
    }

    /// A part of a write has ended.
    pub(super) fn written(&mut self, now: Ns, place: u32, run: Run, sent: Ns, served: &Times) {
        self.space.write_ended(run.zone);
        let own = &self.requests[place].own;
        let mut times = own.before;
        times.wait(Blocked::Zone, sent - own.since);
        times.then(served);
        self.part_ended(now, place, run.first, &times);
    }
}
