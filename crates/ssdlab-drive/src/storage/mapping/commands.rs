//! Commands at the mapping table: each uses the translation pages (or entries) of its units, called items, one after the other, waits until
//! all of them have been there, and goes on to the drive.

use std::ops::Range;

use super::pages::Progress;
use super::{PlantedInMap, Purpose, State};
use crate::ftl::Class;
use crate::lists::NONE;
use crate::ssd::{Drained, Ssd};
use crate::storage::desk::Tracked;
use ssdlab_base::blocked::Blocked;
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::status::Status;
use ssdlab_base::units::Ns;
use ssdlab_result::stats::Times;

/// State of an outstanding request at the mapping table, called a command.
#[derive(Debug, Default)]
pub(super) struct Command {
    /// Serial number of the command, from 1 in order of arrival.
    number: u64,
    /// The command writes sectors of its unit that are not consecutive.
    scattered: bool,
    /// Units of a write that need not be consecutive; `items`: their items. Empty for other commands.
    units: Vec<u32>,
    items: Vec<u32>,
    /// The class of these units, if the placement policy was asked above the drive.
    class: Option<Class>,
    /// Items that the command has not used: their numbers or, if `items` is not empty, their places in `items`.
    left: Range<u32>,
    /// Number of items that the command waits for; `behind`: number of older commands of the same units.
    pub(super) missing: u32,
    behind: u32,
    /// The command has gone on to the drive, after a wait of `waited` ns.
    pub(super) passed: bool,
    waited: Ns,
    /// The wait for an item that cannot be replaced yet has been counted for the item next in turn.
    held: bool,
    /// The mispredicted flash pages of the command have been read, if it has any.
    pub(super) guessed: bool,
}

/// A command that waits for an item, and the next waiter for the same item, or `NONE`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    pub(super) command: u32,
    pub(super) next: u32,
}

impl Tracked<Command> {
    /// The command changes mapping entries.
    fn changes(&self) -> bool {
        matches!(self.request.kind, RequestKind::Write | RequestKind::Trim)
    }
}

impl State {
    /// A command arrives.
    pub(super) fn take(&mut self, now: Ns, index: u64, request: Request, scattered: bool) {
        self.came += 1;
        let command = Command { number: self.came, scattered, ..Command::default() };
        let place = self.commands.accept(index, Request { arrival_ns: now, ..request }, command);
        let units = self.units_of(&self.commands[place]);
        if !units.is_empty() && !self.maps_by_segments() {
            self.commands[place].own.left = self.item_of(units.start)..self.item_of(units.end - 1) + 1;
        }
        self.line.push_back(place);
    }

    /// A write or trim arrives at a drive that is read-only.
    pub(super) fn reject(&mut self, now: Ns, index: u64, request: Request, drive: &mut Ssd) {
        let place = self.commands.accept(index, Request { arrival_ns: now, ..request }, Command::default());
        self.commands[place].times.status.add(Status::Rejected);
        drive.note_rejected();
        self.commands.complete(now, place);
    }

    /// A write of whole units that need not be consecutive arrives.
    pub(super) fn take_units(&mut self, now: Ns, index: u64, units: &[u32], of: Drained) {
        let Drained { high_priority, handle, class } = of;
        let length = u64::from(self.unit_bytes) * units.len() as u64;
        let request = Request { arrival_ns: now, kind: RequestKind::Write, offset: 0, length, high_priority, flow: 0, handle };
        self.came += 1;
        let (own_units, items) = (self.spare.pop().unwrap_or_default(), self.spare.pop().unwrap_or_default());
        let mut command = Command { number: self.came, units: own_units, items, class, ..Command::default() };
        command.units.extend_from_slice(units);
        for &unit in units.iter().filter(|_| !self.maps_by_segments()) {
            let item = self.item_of(unit);
            if !command.items.contains(&item) {
                command.items.push(item);
            }
        }
        command.left = 0..command.items.len() as u32;
        let place = self.commands.accept_units(index, request, command);
        self.line.push_back(place);
    }

    /// The consecutive units whose entries a command needs: of a trim, those that lie wholly inside it.
    pub(super) fn units_of(&self, command: &Tracked<Command>) -> Range<u32> {
        let (unit, Request { offset, length, kind, .. }) = (u64::from(self.unit_bytes), command.request);
        let (first, end) = match kind {
            RequestKind::Read | RequestKind::Write => (offset / unit, (offset + length).div_ceil(unit)),
            RequestKind::Trim => (offset.div_ceil(unit), (offset + length) / unit),
            _ => (0, 0),
        };
        first as u32..end.max(first) as u32
    }

    /// The command needs the entry of `unit`.
    fn uses(&self, command: &Tracked<Command>, unit: u32) -> bool {
        if command.own.units.is_empty() { self.units_of(command).contains(&unit) } else { command.own.units.contains(&unit) }
    }

    /// The order of two commands could change which data are read: both touch a unit, and one of them changes it.
    fn conflict(&self, a: &Tracked<Command>, b: &Tracked<Command>) -> bool {
        if !a.changes() && !b.changes() {
            return false;
        }
        if !a.own.units.is_empty() {
            return a.own.units.iter().any(|&unit| self.uses(b, unit));
        }
        if !b.own.units.is_empty() {
            return b.own.units.iter().any(|&unit| self.uses(a, unit));
        }
        let (a, b) = (self.units_of(a), self.units_of(b));
        a.start < b.end && b.start < a.end
    }

    /// Whether the youngest command that changes `unit` and has not reached the drive is a write (else a trim); `None` without one.
    pub(super) fn writes_before_the_drive(&self, unit: u32) -> Option<bool> {
        let outside = self.commands.iter().filter(|(_, command)| !command.own.passed && command.changes() && self.uses(command, unit));
        outside.max_by_key(|(_, command)| command.own.number).map(|(_, command)| command.request.kind == RequestKind::Write)
    }

    /// Commands use their items in order of arrival. Returns true if a command has used all of its items.
    pub(super) fn serve_line(&mut self, now: Ns, drive: &mut Ssd) -> bool {
        let mut any = false;
        while let Some(&place) = self.line.front() {
            while let Some(item) = self.next_item(place).filter(|_| !self.is_rejected(place, drive)) {
                if !self.use_item(now, place, item, drive) {
                    let held = std::mem::replace(&mut self.commands[place].own.held, true);
                    self.stats.full_waits += u64::from(!held);
                    return any;
                }
                let command = &mut self.commands[place];
                (command.own.left.start, command.own.held) = (command.own.left.start + 1, false);
            }
            self.line.pop_front();
            self.enter(now, place, drive);
            any = true;
        }
        any
    }

    /// The drive is read-only, and writes and trims of the host are rejected here.
    pub(super) fn rejects(&self, drive: &Ssd) -> bool {
        drive.is_read_only() && !self.accepted_above
    }

    /// The drive is read-only, and the command is a write or trim of the host that no level above has accepted.
    fn is_rejected(&self, place: u32, drive: &Ssd) -> bool {
        let command = &self.commands[place];
        self.rejects(drive) && command.changes() && command.own.units.is_empty()
    }

    /// The next item that a command has not used.
    fn next_item(&self, place: u32) -> Option<u32> {
        let Command { left, items, .. } = &self.commands[place].own;
        let next = Some(left.start).filter(|_| !left.is_empty())?;
        Some(if items.is_empty() { next } else { items[next as usize] })
    }

    /// A command uses an item. Returns false, with nothing changed, if no slot can be had for the item yet.
    fn use_item(&mut self, now: Ns, place: u32, item: u32, drive: &mut Ssd) -> bool {
        let changes = self.commands[place].changes();
        let mut slot = self.pages.slot_of(item);
        if slot == NONE && self.is_predicted(place, item, drive) {
            return true;
        }
        if slot == NONE {
            let Some(chosen) = self.pages.choose() else { return false };
            self.stats.misses += 1;
            slot = chosen;
            self.bring(now, slot, item, place, drive);
        } else {
            self.stats.hits += 1;
            self.stats.delayed_hits += u64::from(self.pages.get(slot).progress != Progress::Ready);
            self.pages.touch(slot);
        }
        if changes {
            self.change(slot);
        }
        if self.pages.get(slot).progress != Progress::Ready {
            self.wait_for(slot, place);
        }
        true
    }

    /// Records that an item in memory has changed.
    pub(super) fn change(&mut self, slot: u32) {
        let slot = self.pages.get_mut(slot);
        slot.dirty = true;
        let page = if self.single { self.table.page_of(slot.item) } else { slot.item };
        if let Some(shadow) = &mut self.shadow {
            shadow.changed(page);
        }
    }

    /// The command changes all entries of a translation page without needing the old ones.
    pub(super) fn is_whole(&self, place: u32, page: u32) -> bool {
        let (command, all) = (&self.commands[place], self.table.mapped_by(page));
        if !command.own.units.is_empty() {
            return command.own.units.iter().filter(|unit| all.contains(unit)).count() == all.len();
        }
        let units = if self.reads_rest { self.units_within(command) } else { self.units_of(command) };
        command.changes() && units.start <= all.start && all.end <= units.end
    }

    /// The units that a command changes without needing their old data.
    fn units_within(&self, command: &Tracked<Command>) -> Range<u32> {
        let (unit, Request { offset, length, .. }) = (u64::from(self.unit_bytes), command.request);
        if command.own.scattered { 0..0 } else { offset.div_ceil(unit) as u32..((offset + length) / unit) as u32 }
    }

    fn wait_for(&mut self, slot: u32, place: u32) {
        let waiter = self.waiters.insert(Waiter { command: place, next: NONE });
        let (first, last) = self.pages.get(slot).waiters;
        if last != NONE {
            self.waiters[last].next = waiter;
        }
        self.pages.get_mut(slot).waiters = (if first == NONE { waiter } else { first }, waiter);
        self.commands[place].own.missing += 1;
    }

    /// An item is in memory: the commands that waited for it go on, unless they wait for something else.
    pub(super) fn serve_waiters(&mut self, now: Ns, slot: u32, drive: &mut Ssd) {
        let (mut waiter, _) = std::mem::replace(&mut self.pages.get_mut(slot).waiters, (NONE, NONE));
        while waiter != NONE {
            let Waiter { command, next } = self.waiters[waiter];
            self.waiters.remove(waiter);
            waiter = next;
            self.commands[command].own.missing -= 1;
            self.go_on_if_free(now, command, drive);
        }
    }

    /// A command has used all of its items: it goes on, unless one is not in memory or an older command conflicts.
    fn enter(&mut self, now: Ns, place: u32, drive: &mut Ssd) {
        let command = &self.commands[place];
        let ordered = self.planted != Some(PlantedInMap::ForgetsOrder);
        let behind = self.waiting.iter().filter(|&&older| ordered && self.conflict(&self.commands[older], command)).count() as u32;
        self.stats.order_waits += u64::from(behind > 0);
        let command = &mut self.commands[place];
        command.own.behind = behind;
        if command.own.missing == 0 && behind == 0 && !self.reads_wrong_places(now, place, drive) {
            return self.go_on(now, place, drive);
        }
        self.waiting.push_back(place);
    }

    /// A command goes on if it need not wait any longer, then the commands that have waited for it.
    pub(super) fn go_on_if_free(&mut self, now: Ns, place: u32, drive: &mut Ssd) {
        let mut free = vec![place];
        while let Some(place) = free.pop() {
            // A command may have followed several others, and be here once for each: it has gone on, or been rejected.
            let Some(at) = self.waiting.iter().position(|&waits| waits == place) else { continue };
            let Command { missing, behind, .. } = self.commands[place].own;
            if missing > 0 || behind > 0 || self.reads_wrong_places(now, place, drive) {
                continue;
            }
            self.waiting.remove(at);
            let ordered = self.planted != Some(PlantedInMap::ForgetsOrder);
            let follows = |&younger: &u32| ordered && self.conflict(&self.commands[place], &self.commands[younger]);
            let followers: Vec<u32> = self.waiting.iter().skip(at).copied().filter(follows).collect();
            self.go_on(now, place, drive);
            followers.iter().for_each(|&younger| self.commands[younger].own.behind -= 1);
            // The oldest command is on top of the stack.
            free.extend(followers.into_iter().rev());
        }
    }

    /// Sends a command on to the drive.
    fn go_on(&mut self, now: Ns, place: u32, drive: &mut Ssd) {
        self.check_order(place);
        let is_rejected = self.is_rejected(place, drive);
        let command = &mut self.commands[place];
        (command.own.passed, command.own.waited) = (true, now - command.request.arrival_ns);
        if is_rejected {
            let mut times = Times::default();
            times.status.add(Status::Rejected);
            drive.note_rejected();
            return self.complete(now, place, times);
        }
        let below = self.below.insert(Purpose::Serves(place));
        let command = &self.commands[place];
        let request = Request { arrival_ns: now, ..command.request };
        drive.next_request_is(command.origin);
        if !command.own.units.is_empty() {
            let Request { high_priority, handle, .. } = request;
            let of = Drained { high_priority, handle, class: command.own.class };
            drive.accept_units(now, below.into(), &command.own.units, of);
        } else if command.own.scattered {
            drive.accept_scattered(now, below.into(), request);
        } else {
            drive.accept(now, below.into(), request);
        }
        self.passed = true;
    }

    /// Verify mode: no older command of the same units may still wait here.
    fn check_order(&mut self, place: u32) {
        if self.shadow.is_none() {
            return;
        }
        let command = &self.commands[place];
        let is_passed =
            |other: &Tracked<Command>| !other.own.passed && other.own.number < command.own.number && self.conflict(other, command);
        let passed = self.commands.iter().find(|(_, other)| is_passed(other)).map(|(_, other)| other.index);
        if let (Some(older), Some(shadow)) = (passed, &mut self.shadow) {
            shadow.note(format!("a command of the same units as command {older} goes on before it, though it came later"));
        }
    }

    /// The drive has completed a command.
    pub(super) fn complete(&mut self, now: Ns, place: u32, mut times: Times) {
        let command = &mut self.commands[place];
        if command.own.waited > 0 {
            times.wait(Blocked::TranslationPage, command.own.waited);
        }
        command.times = times;
        for mut list in [std::mem::take(&mut command.own.units), std::mem::take(&mut command.own.items)] {
            if list.capacity() > 0 {
                list.clear();
                self.spare.push(list);
            }
        }
        self.commands.complete(now, place);
    }
}
