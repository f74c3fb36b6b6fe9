//! When the content of a write buffer is programmed, and what happens when it is.

use super::entries::Entry;
use super::{Below, Progress, Purpose, State};
use crate::lists::NONE;
use crate::ssd::Drained;
use crate::storage::Store;
use crate::storage::mapping::MappingCache;
use crate::storage::places::Places;
use ssdlab_base::units::{Lpn, Ns};
use ssdlab_result::stats::Times;
use ssdlab_result::timeline::{Cause, Origin};

impl State {
    /// Starts programs to all destinations where something has changed, as far as possible.
    pub(super) fn drain(&mut self, now: Ns, drive: &mut MappingCache) {
        while let Some(destination) = self.entries.next_noted() {
            self.sort(destination);
            while let Some(count) = self.wanted(destination) {
                if !self.is_ready(now, destination, count, drive) {
                    break;
                }
                self.send(now, destination, count, drive);
                self.sort(destination);
            }
        }
    }

    /// Puts a batch of those that wait for a destination in the order of their addresses, once the last batch has been sent.
    #[inline(always)]
    fn sort(&mut self, destination: u32) {
        let to = self.entries.destination(destination);
        if self.sort_units > 0 && to.sorted == 0 && to.waiting >= self.sort_units {
            self.entries.sort(destination, self.sort_units);
            self.stats.sorts += 1;
        }
    }

    /// Number of units in the next program to a destination; `None` if no program is to begin now.
    fn wanted(&self, destination: u32) -> Option<u32> {
        let to = self.entries.destination(destination);
        if to.sent >= self.most_sent || to.waiting == 0 {
            return None;
        }
        let part = self.is_idle(destination) || self.entries.has_late(destination);
        if self.sort_units > 0 && to.sorted == 0 && !part {
            return None;
        }
        if to.waiting >= self.program_units { Some(self.program_units) } else { part.then_some(to.waiting) }
    }

    /// Draining is eager, and some die has no outstanding program to this destination.
    fn is_idle(&self, destination: u32) -> bool {
        self.eager && self.entries.destination(destination).sent < self.idle_below
    }

    /// The first `count` units waiting for a destination can be programmed. Starts to read the rest of units that lack it.
    fn is_ready(&mut self, now: Ns, destination: u32, count: u32, drive: &mut MappingCache) -> bool {
        let mut parts = std::mem::take(&mut self.chosen);
        parts.extend(self.entries.first_of(destination, count).filter(|&entry| !self.skips_rest && self.needs_rest(entry, drive)));
        let ready = parts.is_empty();
        for entry in parts.drain(..) {
            self.fill(now, entry, drive);
        }
        self.chosen = parts;
        ready && self.entries.first_of(destination, count).all(|entry| !self.entries.get(entry).filling)
    }

    /// Programs the first `count` units waiting for a destination together.
    fn send(&mut self, now: Ns, destination: u32, count: u32, drive: &mut MappingCache) {
        let mut units = std::mem::take(&mut self.chosen);
        let (part, waited) = (count < self.program_units, !self.is_idle(destination));
        let first = self.entries.send(destination, count);
        let (mut entry, mut high_priority, mut timed_out) = (first, false, false);
        // All units of a destination have one handle, or one class.
        let Entry { handle, class, .. } = *self.entries.get(first);
        while entry != NONE {
            let of = *self.entries.get(entry);
            units.push(of.unit);
            high_priority |= of.high_priority;
            timed_out |= of.timed_out;
            if let Some(shadow) = &mut self.shadow {
                shadow.sends(of.unit, of.version);
            }
            entry = of.next;
        }
        self.sent += 1;
        self.stats.programs += 1;
        self.stats.part_programs += u64::from(part);
        self.stats.timeouts += u64::from(part && waited && timed_out);
        let below = self.below.insert(Below { purpose: Purpose::Programs(first, destination), since: now });
        drive.next_request_is(Origin::nobody(Cause::Drain));
        drive.accept_units(now, below.into(), &units, Drained { high_priority, handle, class });
        units.clear();
        self.chosen = units;
        self.passed = true;
    }

    /// Entries older than the timeout no longer wait for others to fill their program.
    pub(super) fn end_waits(&mut self, now: Ns) {
        while let Some((entry, since)) = self.entries.oldest()
            && self.timeout.is_some_and(|timeout| since + timeout <= now)
        {
            self.entries.get_mut(entry).timed_out = true;
            self.entries.hurry(entry);
        }
    }

    /// A level above waits for a place (`wear`) that data in the buffer may have, and no program or read is outstanding.
    #[inline(always)]
    pub(super) fn is_pressed(&self, drive: &MappingCache) -> bool {
        drive.is_awaited() && self.sent == 0 && self.filling == 0 && self.entries.oldest().is_some()
    }

    /// If a write waits for room here or for a place above, and no program or read is outstanding, releases the oldest entry. Returns true if
    /// it did.
    pub(super) fn press(&mut self, drive: &MappingCache) -> bool {
        let stuck = !self.waiting.is_empty() && !self.held.is_paced() && self.sent == 0 && self.filling == 0;
        match self.entries.oldest().filter(|_| stuck || self.is_pressed(drive)) {
            Some((entry, _)) => self.entries.hurry(entry),
            None => return false,
        }
        true
    }

    /// Handles the requests that the drive has completed.
    pub(super) fn take_completions(&mut self, now: Ns, drive: &mut MappingCache) {
        let mut ended = std::mem::take(&mut self.ended);
        drive.drain_completions(&mut ended);
        for completion in &ended {
            self.ended_below(now, completion.index as u32, &completion.times, drive);
        }
        ended.clear();
        self.ended = ended;
    }

    fn ended_below(&mut self, now: Ns, index: u32, times: &Times, drive: &mut MappingCache) {
        let Below { purpose, since } = self.below[index];
        self.below.remove(index);
        match purpose {
            Purpose::Serves(place, unit) => self.page_done(now, place, Some((unit, times))),
            Purpose::Fills(entry) => self.rest_read(now, entry, since, times, drive),
            Purpose::Programs(first, destination) => self.programmed(first, destination, drive),
        }
    }

    fn programmed(&mut self, first: u32, destination: u32, drive: &mut MappingCache) {
        self.sent -= 1;
        let mut entry = first;
        while entry != NONE {
            let next = self.entries.get(entry).next;
            debug_assert_eq!(self.entries.get(entry).progress, Progress::Sent);
            self.entry_ends(entry, drive);
            self.entries.in_flash(entry);
            entry = next;
        }
        self.entries.program_ended(destination);
    }

    /// The drive is read-only: what was accepted is programmed, whatever would fill its programs.
    pub(super) fn close(&mut self) {
        self.closing = true;
        self.hurry_all();
    }

    /// The drive has become read-only since the last turn.
    #[inline(always)]
    pub(super) fn is_to_close(&self, drive: &MappingCache) -> bool {
        drive.drive().is_read_only() && !self.closing
    }

    /// The data of `entry` are in flash, or no longer needed: no flush waits for them any more, and the drive keeps no place for them.
    pub(super) fn entry_ends(&mut self, entry: u32, drive: &mut MappingCache) {
        drive.drive_mut().is_in_flash(Lpn(self.entries.get(entry).unit));
        let before = self.entries.get(entry).flushes_before;
        self.flushes.entry_ends(before);
    }
}
