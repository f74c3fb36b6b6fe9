//! Operations stop and go on: page moves at preemption points, GC operations that are suspended (lee2013 section IV), host programs that
//! pause for reads (elyasi2017).
//!
//! Beside its slots a die keeps one suspended GC operation (lee2013 IV-B: two commands are never suspended at once), and one operation of
//! host or GC that is paused or suspended for reads (`scheduler.suspend`).

use super::Flash;
use super::busy::time_of;
use super::op::{Op, Owner, Phase, Slot, Stage};
use super::stages::Begun;
use crate::event::{Event, EventQueue};
use ssdlab_base::units::{DieId, Ns, PoolId, SlotId, TxnId};

impl Flash {
    /// Continues an operation that has stopped at a preemption point. Returns the stage that has begun.
    pub fn go_on(&mut self, now: Ns, at: SlotId, events: &mut EventQueue) -> Option<Begun> {
        match self.slots[at.index()].stage {
            Stage::StoppedBeforeOut => self.ask_for_bus(now, at, Stage::WaitBusOut, events).then_some(Begun::Transfer(at)),
            Stage::StoppedBeforeIn => self.ask_for_bus(now, at, Stage::WaitBusIn, events).then_some(Begun::Transfer(at)),
            Stage::StoppedBeforeProgram => {
                self.begin_program(now, at, events);
                Some(Begun::Program(at))
            }
            stage => unreachable!("an operation in stage {stage:?} has not stopped"),
        }
    }

    /// Suspends at once an operation that has stopped at a preemption point.
    pub fn suspend_stopped(&mut self, now: Ns, at: SlotId) {
        self.lay_aside(now, at);
    }

    /// Begins to suspend the array stage of a GC operation: it is suspended `device.suspend_ns` later.
    pub fn suspend(&mut self, now: Ns, at: SlotId, events: &mut EventQueue) {
        self.serial += 1;
        let slot = &mut self.slots[at.index()];
        // This makes the event of its end stale.
        slot.serial = self.serial;
        slot.left = slot.due - now;
        if self.rules.energy {
            *time_of(&mut self.arrays, slot.stage, &slot.op.owner) -= slot.drawing_ns(slot.left, self.rules.plane_programs);
        }
        slot.suspended = std::mem::replace(&mut slot.stage, Stage::Suspending);
        events.push(now + self.rules.suspend_ns, slot.serial, Event::Slot(at.0));
        self.note_suspension(now, at);
    }

    /// Moves an operation from its slot to the die's place for a suspended one.
    pub(super) fn lay_aside(&mut self, now: Ns, at: SlotId) {
        let mut slot = self.slots[at.index()];
        if slot.stage == Stage::Suspending {
            slot.stage = slot.suspended;
        }
        slot.since = now;
        let suspended = &mut self.suspended_op[at.die().index()];
        assert!(suspended.is_none(), "one operation of a die is suspended at a time");
        *suspended = Some(slot);
        self.keep_steps(at);
        self.note_aside(now, at, slot.stage, false);
        self.empty(now, at);
    }

    /// The GC operation that is suspended on the die: its pool, and the phase in which it stopped.
    #[inline]
    pub fn suspended(&self, die: DieId) -> Option<(PoolId, Phase)> {
        let slot = self.suspended_op[die.index()].as_ref()?;
        Some((slot.gc().expect("only GC operations are suspended"), slot.phase(slot.left)))
    }

    /// The GC operation that is suspended on the die.
    pub fn suspended_op(&self, die: DieId) -> &Op {
        &self.suspended_op[die.index()].as_ref().expect("an operation is suspended").op
    }

    /// The operation that is paused or suspended for reads on the die.
    pub fn paused_op(&self, die: DieId) -> &Op {
        &self.paused_op[die.index()].as_ref().expect("an operation is paused").op
    }

    /// A GC operation of the die is in its program, or was suspended in it.
    pub fn gc_programs(&self, die: DieId) -> bool {
        let slots = self.pair(die).into_iter().chain(&self.suspended_op[die.index()]);
        slots.into_iter().any(|slot| slot.gc().is_some() && slot.stage == Stage::Program)
    }

    /// Resumes the suspended GC operation of an idle die where it stopped: in its array stage, or at its preemption point.
    pub fn resume(&mut self, now: Ns, die: DieId, events: &mut EventQueue) {
        let slot = self.suspended_op[die.index()].take().expect("an operation is suspended");
        let at = Flash::first_slot(die);
        self.take_slot(now, die, slot);
        self.take_steps(at);
        if matches!(slot.stage, Stage::Read | Stage::Program | Stage::Erase) {
            self.begin_array(now, at, slot.stage, slot.left, events);
        } else {
            self.note(now, at);
        }
    }

    /// Drops the suspended GC operation of the die.
    pub fn drop_suspended(&mut self, now: Ns, die: DieId) {
        self.suspended_op[die.index()] = None;
        self.note_given_up(now, die);
    }

    /// Drops an operation that has stopped at a preemption point.
    pub fn drop_stopped(&mut self, now: Ns, at: SlotId) {
        self.empty(now, at);
    }

    /// Puts a suspended or paused operation into the first slot of its idle die.
    fn take_slot(&mut self, now: Ns, die: DieId, slot: Slot) {
        assert!(self.idle(die));
        self.die_busy[die.index()].1 = now;
        if !self.rules.interleave {
            self.chip_ops[(die.0 / self.rules.dies_per_chip) as usize] += 1;
        }
        self.serial += 1;
        // As if it had begun later by the time that it was suspended.
        let began = slot.began + (now - slot.since);
        let at = Flash::first_slot(die);
        self.slots[at.index()] = Slot { serial: self.serial, began, since: now, ..slot };
        self.note_return(now, at);
    }

    /// The owner of the operation that is paused or suspended for reads on the die.
    #[inline(always)]
    pub fn paused(&self, die: DieId) -> Option<Owner> {
        Some(self.paused_op.get(die.index())?.as_ref()?.op.owner)
    }

    /// The operation beside the die's slots is paused between two program steps; else it is suspended for reads, or there is none.
    #[inline(always)]
    pub fn is_pausing(&self, die: DieId) -> bool {
        self.paused_op.get(die.index()).and_then(Option::as_ref).is_some_and(|slot| slot.pauses)
    }

    /// The operation in a slot is to pause at the end of its program step; else it is to be suspended.
    pub fn is_to_pause(&self, at: SlotId) -> bool {
        self.slots[at.index()].pauses
    }

    /// The operation in the array of a die that may be suspended for reads: its slot, and from when on, ns. `None` if there is none, or it
    /// would end before it were suspended.
    pub fn suspendable(&self, now: Ns, die: DieId) -> Option<(SlotId, Ns)> {
        let rules = &self.rules.for_reads;
        let first = Flash::first_slot(die);
        let at = [first, first.other()].into_iter().find(|at| {
            let slot = &self.slots[at.index()];
            match slot.stage {
                Stage::Program if slot.op.owner.is_host() => rules.host_programs,
                Stage::Program => rules.gc_programs,
                Stage::Erase => rules.erases,
                _ => false,
            }
        })?;
        let slot = &self.slots[at.index()];
        let from = now.max(slot.runs_since + rules.min_run_ns);
        let may = slot.suspensions < rules.most && self.may_make_way(at);
        (may && from + self.rules.suspend_ns < slot.due).then_some((at, from))
    }

    /// Begins to suspend for reads the operation in the array of a slot: the die is free for them `device.suspend_ns` later.
    pub fn suspend_for_reads(&mut self, now: Ns, at: SlotId, events: &mut EventQueue) {
        self.serial += 1;
        let slot = &mut self.slots[at.index()];
        slot.serial = self.serial;
        slot.left = slot.due - now + self.rules.for_reads.resume_ns;
        (slot.suspensions, slot.for_reads, slot.pauses) = (slot.suspensions + 1, true, false);
        if slot.stage != Stage::Pausing {
            slot.suspended = slot.stage;
        }
        if self.rules.energy {
            *time_of(&mut self.arrays, slot.suspended, &slot.op.owner) -= slot.drawing_ns(slot.due - now, self.rules.plane_programs);
        }
        slot.stage = Stage::Suspending;
        events.push(now + self.rules.suspend_ns, slot.serial, Event::Slot(at.0));
        self.note_suspension(now, at);
    }

    /// The operation in a slot is suspended for reads now: moves it to the die's place for that.
    pub(super) fn make_way(&mut self, now: Ns, at: SlotId) {
        let mut slot = self.slots[at.index()];
        (slot.stage, slot.since, slot.for_reads) = (slot.suspended, now, false);
        self.lay_beside(now, at, slot, false);
    }

    /// Moves an operation from its slot to the die's place for one that is paused or suspended for reads.
    pub(super) fn lay_beside(&mut self, now: Ns, at: SlotId, slot: Slot, pauses: bool) {
        let paused = &mut self.paused_op[at.die().index()];
        assert!(paused.is_none(), "one operation of a die is paused at a time");
        *paused = Some(slot);
        self.note_aside(now, at, slot.stage, pauses);
        self.empty(now, at);
    }

    /// The host program that is alone in the array of a die on which nothing is suspended: its slot, its first transaction, and when the
    /// next of its steps ends, ns; plane by plane, of the plane that is programmed. `None` in the last step.
    pub fn pausable(&self, now: Ns, die: DieId) -> Option<(SlotId, TxnId, Ns)> {
        let first = Flash::first_slot(die);
        let at = [first, first.other()].into_iter().find(|at| self.slots[at.index()].stage == Stage::Program)?;
        let slot = &self.slots[at.index()];
        let pages = slot.host()?;
        if !self.may_make_way(at) {
            return None;
        }
        let (total, steps) = (slot.op.write_ns, self.rules.ispp_steps);
        let end_of_step = |step: u64| (u128::from(total) * u128::from(step) / u128::from(steps)) as Ns;
        // A suspension may have lost more than was done.
        let done = total.saturating_sub(slot.due - now);
        // The first step whose end is not past; time 0 is the end of none.
        let step = ((u128::from(done) * u128::from(steps)).div_ceil(u128::from(total)) as u64).max(1);
        (step < steps).then(|| (at, pages, slot.due - (total - end_of_step(step))))
    }

    /// Makes a program in a slot stop at the end of a step: the caller then pauses it, or lets it go on ([`Flash::do_not_stop`]).
    pub fn pause_at(&mut self, at: SlotId, end_of_step: Ns, events: &mut EventQueue) {
        self.stop_at(at, end_of_step, events);
        self.slots[at.index()].pauses = true;
    }

    /// Makes the array stage in a slot stop at an instant: the caller then suspends it, or lets it go on ([`Flash::do_not_stop`]).
    pub fn stop_at(&mut self, at: SlotId, instant: Ns, events: &mut EventQueue) {
        self.serial += 1;
        let stopping = &mut self.slots[at.index()];
        stopping.pauses = false;
        // This makes the event of its end stale until it goes on.
        stopping.serial_of_end = std::mem::replace(&mut stopping.serial, self.serial);
        stopping.suspended = std::mem::replace(&mut stopping.stage, Stage::Pausing);
        events.push(instant, stopping.serial, Event::Slot(at.0));
    }

    /// Cancels a pending stop: the operation in a slot goes on as before.
    pub fn do_not_stop(&mut self, at: SlotId) {
        let slot = &mut self.slots[at.index()];
        slot.stage = slot.suspended;
        slot.serial = slot.serial_of_end;
    }

    /// Pauses a program that has come to the end of the step after which it was to stop.
    pub fn pause(&mut self, now: Ns, at: SlotId) {
        let mut slot = self.slots[at.index()];
        (slot.stage, slot.left) = (slot.suspended, slot.due - now);
        if self.rules.energy {
            *time_of(&mut self.arrays, slot.stage, &slot.op.owner) -= slot.drawing_ns(slot.left, self.rules.plane_programs);
        }
        self.lay_beside(now, at, slot, true);
    }

    /// Continues, on an idle die, the operation that is paused or suspended for reads.
    pub fn end_pause(&mut self, now: Ns, die: DieId, events: &mut EventQueue) {
        let slot = self.paused_op[die.index()].take().expect("an operation is paused");
        self.take_slot(now, die, slot);
        let at = Flash::first_slot(die);
        let is_between_planes = slot.planes_left > 0 && slot.left == 0;
        if is_between_planes {
            return self.ask_for_planes(now, at, events);
        }
        self.begin_array(now, at, slot.stage, slot.left, events);
    }

    /// The residual service time of a die (elyasi2017 (7)), ns, where an operation takes `latency`; the longest of several operations. A read
    /// whose data are decoded has none left, although an array read that was begun ahead is still to be stopped.
    pub fn residual_ns(&self, now: Ns, die: DieId, latency: impl Fn(&Op) -> Ns) -> Ns {
        let is_decoded = |slot: &Slot| slot.stage == Stage::Stopping && now >= slot.transferred_at + self.timing.decode_ns;
        let running = self.pair(die).into_iter().filter(|slot| !slot.is_empty() && !is_decoded(slot));
        let left = running.map(|slot| latency(&slot.op).saturating_sub(now - slot.began));
        let paused = self.paused_op.get(die.index()).and_then(Option::as_ref).map(|slot| slot.left);
        left.chain(paused).max().unwrap_or(0)
    }

    /// Notes that a host operation has merged with the operation in a slot, which is not suspended from now on.
    pub fn merge(&mut self, at: SlotId) {
        self.slots[at.index()].merged = true;
    }

    /// Notes that the host operations that had merged with the operation in a slot are done.
    pub fn unmerge(&mut self, at: SlotId) {
        self.slots[at.index()].merged = false;
    }

    /// A host operation has merged with the operation in a slot.
    pub fn is_merged(&self, at: SlotId) -> bool {
        self.slots[at.index()].merged
    }

    /// The slot that an operation of the job of a pool occupies, if any.
    pub fn slot_of_gc(&self, die: DieId, pool: PoolId) -> Option<SlotId> {
        let first = Flash::first_slot(die);
        [first, first.other()].into_iter().find(|at| {
            let slot = &self.slots[at.index()];
            !slot.is_empty() && slot.op.owner == Owner::Gc(pool)
        })
    }
}
