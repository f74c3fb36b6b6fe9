//! Operations begin, go through their stages, and end.

use super::Flash;
use super::busy::time_of;
use super::op::{Op, OpKind, Slot, Stage};
use crate::event::{Event, EventQueue};
use ssdlab_base::units::{ChannelId, DieId, Ns, SlotId};

/// What the end of a stage means for its operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The command of a read has ended; the array reads.
    CommandEnded,
    /// The array has read the page.
    ReadEnded,
    /// The transfer of the operation's page of this number has ended.
    TransferEnded(u32),
    /// The operation has ended. If it ended with a transfer, this is the number of the page transferred.
    Ended(Option<u32>),
    /// Of a read that may be repeated: a transfer of a step that fails has ended, or the die stays busy with the read's last data.
    StepFailed,
    /// The next step of a read has begun.
    StepBegun,
    /// The last data of a read have been transferred; the die is busy until an array read that was begun ahead has been stopped.
    LastTransferEnded,
    /// The die of a read whose data were transferred before is free.
    Stopped,
    /// The operation is suspended.
    Suspended,
    /// The operation has reached the point where it was to stop ([`Flash::pause_at`], [`Flash::stop_at`]).
    StepEnded,
    /// A program is before the first, or between two, of the planes that it may program one after the other.
    BetweenPlanes,
}

/// A stage that began because another stage ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// A transfer of the operation in this slot.
    Transfer(SlotId),
    /// The array stage of the program in this slot.
    Program(SlotId),
}

impl Flash {
    /// Starts an operation on a die. Only where [`Flash::can_start`], and, if [`Flash::needs_bus`], with [`Flash::bus_free`] or after a
    /// grant of the bus. Returns its slot.
    #[inline]
    pub fn start(&mut self, now: Ns, die: DieId, op: Op, events: &mut EventQueue) -> SlotId {
        assert!(self.can_start(die, op.kind, op.owner.is_host()), "die {die} cannot begin a {:?}", op.kind);
        if self.idle(die) {
            self.die_busy[die.index()].1 = now;
        }
        let first = Flash::first_slot(die);
        let at = if self.slots[first.index()].is_empty() { first } else { first.other() };
        if !self.rules.interleave {
            self.chip_ops[(die.0 / self.rules.dies_per_chip) as usize] += 1;
        }
        self.serial += 1;
        let serial = self.serial;
        self.slots[at.index()] = Slot { stage: Stage::Whole, op, serial, began: now, since: now, transferred_at: now, ..Slot::IDLE };
        self.note_start(at);
        let on_bus = self.timing.on_bus(&op);
        let needs_no_bus = matches!(op.kind, OpKind::Erase | OpKind::CopybackMove) && !self.needs_bus(op.kind);
        if needs_no_bus && !self.rules.staged || self.rules.solo && op.pages == 1 {
            events.push(now + op.read_ns + op.write_ns + on_bus, serial, Event::Slot(at.0));
            self.trace_whole(now, die, op);
            self.note_whole(now, at);
            if self.rules.energy {
                self.whole_begins(&op, 1);
            }
            return at;
        }
        match op.kind {
            OpKind::Program => self.ask_for_granted_bus(now, at, Stage::WaitBusIn, events),
            OpKind::RegisterRead => _ = self.ask_for_bus(now, at, Stage::WaitBusOut, events),
            OpKind::Erase => self.begin_array(now, at, Stage::Erase, op.write_ns, events),
            OpKind::Read | OpKind::Move | OpKind::CopybackMove if self.rules.read_commands => self.begin_command(now, at, events),
            OpKind::Read | OpKind::Move | OpKind::CopybackMove => self.begin_array(now, at, Stage::Read, op.read_ns, events),
        }
        at
    }

    /// An operation of this kind begins on the bus.
    #[inline(always)]
    pub fn needs_bus(&self, kind: OpKind) -> bool {
        match kind {
            OpKind::Program => true,
            OpKind::Read | OpKind::Move | OpKind::CopybackMove => self.rules.read_commands,
            OpKind::Erase | OpKind::RegisterRead => false,
        }
    }

    /// Begins an array stage of a slot's operation that takes `ns`.
    #[inline]
    pub(super) fn begin_array(&mut self, now: Ns, at: SlotId, stage: Stage, ns: Ns, events: &mut EventQueue) {
        let slot = &mut self.slots[at.index()];
        slot.stage = stage;
        (slot.since, slot.runs_since) = (now, now);
        slot.due = now + ns;
        events.push(slot.due, slot.serial, Event::Slot(at.0));
        if self.rules.energy && !matches!(stage, Stage::Decode | Stage::Stopping) {
            *time_of(&mut self.arrays, stage, &slot.op.owner) += slot.drawing_ns(ns, self.rules.plane_programs);
        }
        self.note(now, at);
    }

    /// Begins the array stage of a slot's program.
    pub(super) fn begin_program(&mut self, now: Ns, at: SlotId, events: &mut EventQueue) {
        if self.rules.plane_programs > 1 {
            return self.begin_planes(now, at, events);
        }
        self.begin_array(now, at, Stage::Program, self.slots[at.index()].op.write_ns, events);
    }

    /// The event of a slot with this serial number belongs to another operation, or to a time before the operation was suspended.
    #[inline(always)]
    pub fn is_stale(&self, at: SlotId, serial: u64) -> bool {
        let slot = &self.slots[at.index()];
        slot.is_empty() || slot.serial != serial
    }

    /// Handles the end of the array stage (or of the whole operation) in a slot. Returns what that means, and the transfer or array stage
    /// that began on the die because of it.
    #[inline]
    pub fn slot_event(&mut self, now: Ns, at: SlotId, events: &mut EventQueue) -> (Progress, Option<Begun>) {
        let Slot { stage, op, repetitions, planes_left, .. } = self.slots[at.index()];
        self.trace_stage(now, at);
        match stage {
            Stage::Whole => {
                let ns = self.timing.on_bus(&op);
                self.bus_of_mut(at.die()).busy_ns += ns;
                if repetitions > 0 {
                    self.whole_begins(&op, 1);
                }
                self.empty(now, at);
                (Progress::Ended(None), None)
            }
            Stage::Erase => {
                self.empty(now, at);
                (Progress::Ended(None), None)
            }
            Stage::Suspending => {
                if self.slots[at.index()].for_reads {
                    self.make_way(now, at);
                } else {
                    self.lay_aside(now, at);
                }
                (Progress::Suspended, None)
            }
            Stage::Pausing => {
                self.slots[at.index()].since = now;
                (Progress::StepEnded, None)
            }
            Stage::Program if planes_left > 0 => (Progress::BetweenPlanes, None),
            Stage::Program => {
                self.empty(now, at);
                let other = at.other();
                let begun = (self.slots[other.index()].stage == Stage::WaitArray).then(|| {
                    self.begin_program(now, other, events);
                    Begun::Program(other)
                });
                (Progress::Ended(None), begun)
            }
            Stage::Read => {
                self.step_read(now, at);
                (Progress::ReadEnded, self.read_ended(now, at, op.kind, events))
            }
            Stage::Decode => (self.step_decoded(now, at, events), None),
            Stage::Stopping => {
                self.empty(now, at);
                (Progress::Stopped, None)
            }
            stage => unreachable!("an array event in stage {stage:?}"),
        }
    }

    /// The array has read the page of a slot's operation. Returns the transfer that begins because of it.
    fn read_ended(&mut self, now: Ns, at: SlotId, kind: OpKind, events: &mut EventQueue) -> Option<Begun> {
        if kind == OpKind::CopybackMove {
            if self.rules.stop_before_program {
                self.stop(now, at, Stage::StoppedBeforeProgram);
            } else {
                self.begin_program(now, at, events);
            }
            return None;
        }
        if matches!(self.slots[at.other().index()].stage, Stage::WaitBusOut | Stage::Out) {
            self.stop(now, at, Stage::WaitRegister);
            return None;
        }
        self.ask_or_stop(now, at, Stage::WaitBusOut, Stage::StoppedBeforeOut, events).then_some(Begun::Transfer(at))
    }

    /// Asks for the bus, unless the operation stops at this preemption point. Returns true if the transfer has begun.
    fn ask_or_stop(&mut self, now: Ns, at: SlotId, waiting: Stage, stopped: Stage, events: &mut EventQueue) -> bool {
        if self.rules.stop_before_transfers && !self.slots[at.index()].op.owner.is_host() {
            self.stop(now, at, stopped);
            return false;
        }
        self.ask_for_bus(now, at, waiting, events)
    }

    /// Puts a slot's operation into a stage in which it waits, until another stage ends or the arbiter decides.
    fn stop(&mut self, now: Ns, at: SlotId, stage: Stage) {
        self.slots[at.index()].stage = stage;
        self.note(now, at);
    }

    /// Handles the end of the transfer on a channel. Returns the slot, what that means, and the stage that began on the die because of it.
    #[inline]
    pub fn bus_event(&mut self, now: Ns, channel: ChannelId, events: &mut EventQueue) -> (SlotId, Progress, Option<Begun>) {
        let bus = &mut self.buses[channel.index()];
        let at = bus.current.take().expect("a transfer was in service");
        if self.slots[at.index()].stage == Stage::Command {
            self.command_ended(now, at, channel, events);
            return (at, Progress::CommandEnded, None);
        }
        bus.busy_ns += now - self.slots[at.index()].since;
        self.trace_stage(now, at);
        self.note_transfer_end(now, channel);
        let slot = &mut self.slots[at.index()];
        let page = slot.transferred;
        slot.transferred += 1;
        slot.transferred_at = now;
        if slot.transferred < slot.op.pages {
            // The pages of one multi-plane operation requested the bus together, so they follow each other.
            self.begin_transfer(now, at, events);
            let progress = if self.step_fails(at) { Progress::StepFailed } else { Progress::TransferEnded(page) };
            return (at, progress, Some(Begun::Transfer(at)));
        }
        if self.has_steps(at)
            && let Some(progress) = self.step_transferred(now, at, events)
        {
            return (at, progress, None);
        }
        let slot = &mut self.slots[at.index()];
        let (progress, begun) = match (slot.stage, slot.op.kind) {
            (Stage::Out, OpKind::Read) => {
                self.empty(now, at);
                let other = at.other();
                let begun = self.slots[other.index()].stage == Stage::WaitRegister
                    && self.ask_or_stop(now, other, Stage::WaitBusOut, Stage::StoppedBeforeOut, events);
                (Progress::Ended(Some(page)), begun.then_some(Begun::Transfer(other)))
            }
            (Stage::Out, OpKind::RegisterRead) => {
                self.empty(now, at);
                (Progress::Ended(Some(page)), None)
            }
            (Stage::Out, OpKind::Move) => {
                slot.transferred = 0;
                let begun = self.ask_or_stop(now, at, Stage::WaitBusIn, Stage::StoppedBeforeIn, events);
                (Progress::TransferEnded(page), begun.then_some(Begun::Transfer(at)))
            }
            (Stage::In, _) => (Progress::TransferEnded(page), self.transferred_in(now, at, events)),
            (stage, kind) => unreachable!("a {kind:?} was on the bus in stage {stage:?}"),
        };
        (at, progress, begun)
    }

    /// All pages of a slot's operation have been transferred in. Returns the array stage that begins because of it.
    fn transferred_in(&mut self, now: Ns, at: SlotId, events: &mut EventQueue) -> Option<Begun> {
        if self.slots[at.other().index()].stage == Stage::Program {
            self.stop(now, at, Stage::WaitArray);
            return None;
        }
        if self.rules.stop_before_program && !self.slots[at.index()].op.owner.is_host() {
            self.stop(now, at, Stage::StoppedBeforeProgram);
            return None;
        }
        self.begin_program(now, at, events);
        Some(Begun::Program(at))
    }
}
