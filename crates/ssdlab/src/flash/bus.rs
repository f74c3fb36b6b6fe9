//! The bus of a channel: one transfer at a time, and a queue of those who wait for it, first come first served. Where the commands of reads
//! need the bus, data that wait in registers go ahead of what would begin with a command.
//!
//! A program does not claim its die while it waits for the bus: the die itself stands in the queue, and decides what to do when it is its turn.

use std::collections::VecDeque;

use super::Flash;
use super::op::{OpKind, Slot, Stage};
use crate::event::{Event, EventQueue};
use crate::units::{ChannelId, DieId, Ns, SlotId};

#[derive(Clone, Debug, Default)]
pub(super) struct Bus {
    pub(super) current: Option<SlotId>,
    waiting: VecDeque<Waiter>,
    pub(super) busy_ns: Ns,
    /// When the transfer in service, or else the last, ends.
    end: Ns,
    /// Summed over its transfers: how many stood in its queue while they went on.
    stalls: u64,
}

impl Bus {
    /// A transfer that nothing else waited for has begun, and ends at this time.
    pub(super) fn begin(&mut self, at: SlotId, end: Ns) {
        (self.current, self.end) = (Some(at), end);
    }

    /// The last transfer ended at this time, or earlier.
    pub(super) fn ended_at(&mut self, end: Ns) {
        self.end = self.end.max(end);
    }

    fn queue_up(&mut self, now: Ns, waiter: Waiter) {
        self.stalls += u64::from(self.end > now);
        self.waiting.push_back(waiter);
    }
}

/// What stands in a bus's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiter {
    /// An operation with data in a register.
    Slot(SlotId),
    /// A die that would begin a program, or a read whose command needs the bus.
    Die(DieId),
}

/// A bus's queue moved on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// A transfer has begun.
    Transfer {
        /// Of this slot's operation.
        at: SlotId,
        /// A die has waited longer.
        ahead: bool,
    },
    /// This die may begin what needs the bus, or whatever it prefers by now.
    Die(DieId),
}

impl Flash {
    #[inline(always)]
    pub(super) fn bus_of(&self, die: DieId) -> &Bus {
        &self.buses[self.channel_of_die[die.index()].index()]
    }

    #[inline(always)]
    pub(super) fn bus_of_mut(&mut self, die: DieId) -> &mut Bus {
        &mut self.buses[self.channel_of_die[die.index()].index()]
    }

    /// A transfer could begin on the die's channel now.
    #[inline(always)]
    pub fn bus_free(&self, die: DieId) -> bool {
        let bus = self.bus_of(die);
        bus.current.is_none() && bus.waiting.is_empty()
    }

    /// No transfer is in service on the die's channel; others may wait for it.
    #[inline(always)]
    pub fn bus_idle(&self, die: DieId) -> bool {
        self.bus_of(die).current.is_none()
    }

    /// The die stands in its bus's queue to begin a program, or a read whose command needs the bus.
    #[inline(always)]
    pub fn waits_for_bus(&self, die: DieId) -> bool {
        self.waits_for_bus[die.index()]
    }

    /// Puts the die into its bus's queue, unless it stands there.
    pub fn queue_for_bus(&mut self, now: Ns, die: DieId) {
        if !std::mem::replace(&mut self.waits_for_bus[die.index()], true) {
            self.bus_of_mut(die).queue_up(now, Waiter::Die(die));
        }
    }

    /// Moves the queue of an idle bus on by one. `None` if it is busy or nothing waits.
    pub fn next_for_bus(&mut self, now: Ns, channel: ChannelId, events: &mut EventQueue) -> Option<Grant> {
        let bus = &mut self.buses[channel.index()];
        if bus.current.is_some() {
            return None;
        }
        // MQSim sends the data of reads that wait in registers before any command (NVM_PHY_ONFI_NVDDR2).
        let first_data =
            if self.rules.read_commands { bus.waiting.iter().position(|waiter| matches!(waiter, Waiter::Slot(_))) } else { None };
        let index = first_data.unwrap_or(0);
        Some(match bus.waiting.remove(index)? {
            Waiter::Slot(at) => {
                self.begin_transfer(now, at, events);
                Grant::Transfer { at, ahead: index > 0 }
            }
            Waiter::Die(die) => {
                self.waits_for_bus[die.index()] = false;
                Grant::Die(die)
            }
        })
    }

    /// The command of a slot's read begins on an idle bus, once for each page.
    pub(super) fn begin_command(&mut self, now: Ns, at: SlotId, events: &mut EventQueue) {
        let slot = &mut self.slots[at.index()];
        (slot.stage, slot.since) = (Stage::Command, now);
        let (serial, ends) = (slot.serial, now + Ns::from(slot.op.pages) * self.timing.read_command_ns);
        let channel = self.channel_of_die[at.die().index()];
        let current = &mut self.buses[channel.index()].current;
        assert!(current.is_none(), "a command begins on an idle bus");
        *current = Some(at);
        events.push(ends, serial, Event::Bus(channel.0));
        self.note(now, at);
    }

    /// The command of a slot's read has ended: the array reads.
    pub(super) fn command_ended(&mut self, now: Ns, at: SlotId, channel: ChannelId, events: &mut EventQueue) {
        let Slot { since, op, .. } = self.slots[at.index()];
        self.buses[channel.index()].busy_ns += now - since;
        self.trace_stage(now, at);
        self.note_transfer_end(now, channel);
        self.begin_array(now, at, Stage::Read, op.read_ns, events);
    }

    pub(super) fn begin_transfer(&mut self, now: Ns, at: SlotId, events: &mut EventQueue) {
        let slot = &mut self.slots[at.index()];
        slot.stage = match slot.stage {
            Stage::Whole | Stage::WaitBusIn | Stage::In => Stage::In,
            _ => Stage::Out,
        };
        slot.since = now;
        let ns = match slot.op.kind {
            OpKind::Program => self.timing.program_transfer_ns,
            _ => self.timing.out(&slot.op, slot.transferred),
        };
        let serial = slot.serial;
        let channel = self.channel_of_die[at.die().index()];
        let bus = &mut self.buses[channel.index()];
        bus.current = Some(at);
        bus.end = now + ns;
        bus.stalls += bus.waiting.len() as u64;
        events.push(bus.end, serial, Event::Bus(channel.0));
        self.note(now, at);
    }

    /// Begins a transfer on an idle bus even if others wait for it: the bus was granted to this die. Else waits for it.
    pub(super) fn ask_for_granted_bus(&mut self, now: Ns, at: SlotId, waiting: Stage, events: &mut EventQueue) {
        let free = self.bus_idle(at.die());
        self.transfer_or_wait(now, at, waiting, free, events);
    }

    /// Begins a transfer on an idle bus for which nothing waits. Else waits for it. Returns true if the transfer has begun.
    pub(super) fn ask_for_bus(&mut self, now: Ns, at: SlotId, waiting: Stage, events: &mut EventQueue) -> bool {
        let free = self.bus_free(at.die());
        self.transfer_or_wait(now, at, waiting, free, events)
    }

    #[inline(always)]
    fn transfer_or_wait(&mut self, now: Ns, at: SlotId, waiting: Stage, free: bool, events: &mut EventQueue) -> bool {
        self.slots[at.index()].stage = waiting;
        if free {
            self.begin_transfer(now, at, events);
        } else {
            self.bus_of_mut(at.die()).queue_up(now, Waiter::Slot(at));
            self.note(now, at);
        }
        free
    }

    /// Summed over a channel's transfers: how many stood in the bus's queue while they went on, be it for a part of them.
    pub fn bus_stalls(&self, channel: ChannelId) -> u64 {
        self.buses[channel.index()].stalls
    }
}
