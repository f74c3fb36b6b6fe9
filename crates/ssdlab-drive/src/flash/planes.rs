//! Programs plane by plane (`device.plane_programs`): each plane, or all that are left at once, takes an array stage of its own.
//! [`crate::ssd`] decides before each stage which of the two it is ([`Progress::BetweenPlanes`](super::Progress::BetweenPlanes)).

use super::Flash;
use super::op::Stage;
use crate::event::{Event, EventQueue};
use ssdlab_base::units::{Ns, SlotId};

impl Flash {
    /// A slot's program begins, none of its planes yet.
    pub(super) fn begin_planes(&mut self, now: Ns, at: SlotId, events: &mut EventQueue) {
        let slot = &mut self.slots[at.index()];
        slot.planes_left = (self.rules.plane_programs * slot.op.pages) as u16;
        self.ask_for_planes(now, at, events);
    }

    /// A slot's program is before a plane: the event that asks how it goes on comes at once.
    pub(super) fn ask_for_planes(&mut self, now: Ns, at: SlotId, events: &mut EventQueue) {
        let slot = &mut self.slots[at.index()];
        slot.stage = Stage::Program;
        (slot.since, slot.runs_since, slot.due) = (now, now, now);
        events.push(now, slot.serial, Event::Slot(at.0));
    }

    /// Number of planes that the program in a slot has not begun.
    pub fn planes_left(&self, at: SlotId) -> u32 {
        self.slots[at.index()].planes_left.into()
    }

    /// The program in a slot begins its next plane, or with `all` those that are left, at once: an array stage of `ns`. The limit of
    /// suspensions is for each plane; the program has run since it began or last resumed, not since this plane began.
    pub fn program_planes(&mut self, now: Ns, at: SlotId, all: bool, ns: Ns, events: &mut EventQueue) {
        let slot = &mut self.slots[at.index()];
        let runs_since = slot.runs_since;
        slot.op.write_ns = ns;
        slot.planes_now = if all { slot.planes_left } else { 1 };
        slot.planes_left -= slot.planes_now;
        slot.suspensions = 0;
        self.begin_array(now, at, Stage::Program, ns, events);
        self.slots[at.index()].runs_since = runs_since;
    }

    /// The program in a slot, which is between two planes, may be suspended for reads.
    pub fn may_be_suspended(&self, at: SlotId) -> bool {
        let rules = &self.rules.for_reads;
        if self.slots[at.index()].op.owner.is_host() { rules.host_programs } else { rules.gc_programs }
    }

    /// The program in a slot may make way for another operation: it is alone on its die, on which nothing is suspended.
    pub fn may_make_way(&self, at: SlotId) -> bool {
        self.is_alone(at) && self.suspended_op[at.die().index()].is_none()
    }

    /// The program in a slot, which is between two planes, makes way for reads: it moves to the die's place for that, without a delay.
    /// `pauses`: for those for which it has slack; else it is suspended for them.
    pub fn make_way_between_planes(&mut self, now: Ns, at: SlotId, pauses: bool) {
        let mut slot = self.slots[at.index()];
        (slot.left, slot.since, slot.pauses, slot.for_reads) = (0, now, pauses, false);
        self.lay_beside(now, at, slot, pauses);
    }
}
