//! Repeated page moves, as one event: moves that follow each other without a pause, on a die that has its channel for itself.

use super::Flash;
use super::busy::time_of;
use super::op::{Op, Slot, Stage};
use crate::event::{Event, EventQueue};
use ssdlab_base::units::{ChannelId, DieId, Ns, SlotId};

/// The stage of the first repeated move that is left, once it has become an operation of its own ([`Flash::unroll`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unrolled {
    /// A stage of the move is in service.
    InService,
    /// The array stage of the move ends now.
    ArrayEnds,
    /// The transfer of the move, on this channel, ends now.
    TransferEnds(ChannelId),
}

impl Flash {
    /// Starts a page move that is repeated without a pause: `times` of them are one event.
    pub fn start_repeated(&mut self, now: Ns, die: DieId, op: Op, times: u32, events: &mut EventQueue) -> SlotId {
        assert!(self.can_start(die, op.kind, op.owner.is_host()), "die {die} cannot begin a {:?}", op.kind);
        let at = Flash::first_slot(die);
        self.die_busy[die.index()].1 = now;
        self.serial += 1;
        let serial = self.serial;
        self.slots[at.index()] = Slot { stage: Stage::Whole, op, serial, began: now, since: now, repetitions: times, ..Slot::IDLE };
        let (_, each) = self.repeated(at);
        events.push(now + Ns::from(times) * each, serial, Event::Slot(at.0));
        at
    }

    /// When the first of a slot's repeated moves that is left began, and how long each takes, ns.
    pub fn repeated(&self, at: SlotId) -> (Ns, Ns) {
        let Slot { op, since, .. } = self.slots[at.index()];
        (since, op.read_ns + op.write_ns + self.timing.on_bus(&op))
    }

    /// Number of moves that are left of a slot's repeated move.
    pub fn repetitions(&self, at: SlotId) -> u32 {
        self.slots[at.index()].repetitions
    }

    /// The time from the start of a move until it is given its target page, ns: 0, or with `late` until its transfer in begins.
    pub fn placed_after(&self, at: SlotId, late: bool) -> Ns {
        if late { self.op(at).read_ns + self.timing.transfer_ns } else { 0 }
    }

    /// The first `times` of a slot's repeated moves have ended: counts them out.
    pub fn skip_repetitions(&mut self, at: SlotId, times: u32) {
        let (since, each) = self.repeated(at);
        let begins = since + Ns::from(times) * each;
        let slot = &mut self.slots[at.index()];
        (slot.began, slot.since, slot.transferred_at) = (begins, begins, begins);
        slot.repetitions -= times;
        let transferred = Ns::from(times) * self.timing.on_bus(&slot.op);
        self.bus_of_mut(at.die()).busy_ns += transferred;
        let op = self.slots[at.index()].op;
        self.whole_begins(&op, times);
    }

    /// Makes the first of a slot's repeated moves that is left an operation of its own. A stage that ends at `now` has ended if `begun`;
    /// else the caller ends it, as the return value says.
    pub fn unroll(&mut self, now: Ns, at: SlotId, begun: bool, events: &mut EventQueue) -> Unrolled {
        self.serial += 1;
        let (since, each) = self.repeated(at);
        let slot = &mut self.slots[at.index()];
        slot.serial = self.serial;
        slot.repetitions = 0;
        if self.rules.solo {
            let op = slot.op;
            self.whole_begins(&op, 1);
            let slot = &self.slots[at.index()];
            if since + each == now {
                return Unrolled::ArrayEnds;
            }
            events.push(since + each, slot.serial, Event::Slot(at.0));
            return Unrolled::InService;
        }
        let transfer = self.timing.transfer_ns;
        let stages = [(Stage::Read, slot.op.read_ns), (Stage::Out, transfer), (Stage::In, transfer), (Stage::Program, slot.op.write_ns)];
        let mut begins = since;
        for (stage, ns) in stages {
            let ends = begins + ns;
            if now < ends || now == ends && !begun {
                return self.put_in_stage(at, stage, begins, ends, now, events);
            }
            begins = ends;
        }
        unreachable!("a move that has ended is skipped")
    }

    fn put_in_stage(&mut self, at: SlotId, stage: Stage, begins: Ns, ends: Ns, now: Ns, events: &mut EventQueue) -> Unrolled {
        let transfer = self.timing.transfer_ns;
        let channel = self.channel_of_die[at.die().index()];
        let slot = &mut self.slots[at.index()];
        (slot.stage, slot.since) = (stage, begins);
        if matches!(stage, Stage::In | Stage::Program) {
            slot.transferred_at = begins;
        }
        *time_of(&mut self.arrays, Stage::Read, &slot.op.owner) += slot.op.read_ns;
        if stage == Stage::Program {
            *time_of(&mut self.arrays, stage, &slot.op.owner) += slot.op.write_ns;
        }
        let serial = slot.serial;
        let bus = &mut self.buses[channel.index()];
        bus.busy_ns += transfer
            * match stage {
                Stage::Read | Stage::Out => 0,
                Stage::In => 1,
                _ => 2,
            };
        if matches!(stage, Stage::Out | Stage::In) {
            bus.begin(at, ends);
            if ends == now {
                return Unrolled::TransferEnds(channel);
            }
            events.push(ends, serial, Event::Bus(channel.0));
            return Unrolled::InService;
        }
        bus.ended_at(if stage == Stage::Program { begins } else { 0 });
        slot.due = ends;
        if ends == now {
            return Unrolled::ArrayEnds;
        }
        events.push(ends, serial, Event::Slot(at.0));
        Unrolled::InService
    }
}
