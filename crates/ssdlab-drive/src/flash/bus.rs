//! The bus of a channel: one transfer at a time, and a queue, first come first served. Where the commands of reads need the bus, data that
//! wait in registers go ahead of operations that would begin with a command.
//!
//! A program does not claim its die while it waits for the bus: the die itself is in the queue, and the arbiter decides at its turn.

use std::collections::VecDeque;

use super::Flash;
use super::op::{OpKind, Slot, Stage};
use crate::event::{Event, EventQueue};
use crate::rules::BurstRule;
use ssdlab_base::units::{ChannelId, DieId, Ns, SlotId};

/// Bursts: other dies want the bus between the stages of a move, and commands of reads.
pub const BUS_BURSTS: BurstRule = BurstRule {
    keys: &[
        "device.channels",
        "device.chips_per_channel",
        "device.dies_per_chip",
        "device.die_interleave",
        "device.transfer_ps_per_byte",
        "device.command_ns",
        "device.read_command_ns",
    ],
    exact: |config| {
        let device = &config.device;
        device.chips_per_channel == 1 && device.dies_per_chip == 1 && device.die_interleave && device.read_command_ns == 0
    },
};

#[derive(Clone, Debug, Default)]
pub(super) struct Bus {
    pub(super) current: Option<SlotId>,
    waiting: VecDeque<Waiter>,
    pub(super) busy_ns: Ns,
    /// When the transfer in service, or else the last, ends.
    end: Ns,
    /// Summed over the bus's transfers: how many waiters were in its queue during each.
    stalls: u64,
}

impl Bus {
    /// A transfer has begun on the idle bus, whose queue is empty, and ends at `end`.
    pub(super) fn begin(&mut self, at: SlotId, end: Ns) {
        (self.current, self.end) = (Some(at), end);
    }

    /// The last transfer ended at `end`, or earlier.
    pub(super) fn ended_at(&mut self, end: Ns) {
        self.end = self.end.max(end);
    }

    fn queue_up(&mut self, now: Ns, waiter: Waiter) {
        self.stalls += u64::from(self.end > now);
        self.waiting.push_back(waiter);
    }
}

/// An entry of a bus's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiter {
    /// An operation with data in a register.
    Slot(SlotId),
    /// A die that would begin a program, or a read whose command needs the bus.
    Die(DieId),
}

/// The next in a bus's queue, whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// A transfer has begun.
    Transfer {
        /// The slot whose operation is transferred.
        at: SlotId,
        /// A die has waited for longer: the data have gone ahead of it.
        ahead: bool,
    },
    /// The bus is granted to a die, which begins what needs the bus or what the arbiter prefers by now.
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

    /// The bus of the die's channel is idle, and its queue is empty.
    #[inline(always)]
    pub fn bus_free(&self, die: DieId) -> bool {
        let bus = self.bus_of(die);
        bus.current.is_none() && bus.waiting.is_empty()
    }

    /// No transfer is in service on the die's channel; its queue may have entries.
    #[inline(always)]
    pub fn bus_idle(&self, die: DieId) -> bool {
        self.bus_of(die).current.is_none()
    }

    /// The die is in its bus's queue, to begin a program or a read whose command needs the bus.
    #[inline(always)]
    pub fn waits_for_bus(&self, die: DieId) -> bool {
        self.waits_for_bus[die.index()]
    }

    /// Puts the die into its bus's queue, unless it is there already.
    pub fn queue_for_bus(&mut self, now: Ns, die: DieId) {
        if !std::mem::replace(&mut self.waits_for_bus[die.index()], true) {
            self.bus_of_mut(die).queue_up(now, Waiter::Die(die));
        }
    }

    /// Serves the next in the queue of an idle bus. `None` if the bus is busy or its queue is empty.
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

    /// Begins the command of a slot's read on an idle bus, one after the other for each page of the read.
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

    /// The command of a slot's read has ended: its array stage begins.
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

    /// Begins a transfer if the bus is idle, even if others are in its queue: it was granted to this die. Else the slot waits in the queue.
    pub(super) fn ask_for_granted_bus(&mut self, now: Ns, at: SlotId, waiting: Stage, events: &mut EventQueue) {
        let free = self.bus_idle(at.die());
        self.transfer_or_wait(now, at, waiting, free, events);
    }

    /// Begins a transfer if the bus is idle and its queue is empty, and returns true. Else the slot waits in the queue.
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

    /// Summed over a channel's transfers: how many waiters were in the bus's queue during each, even for a part of it.
    pub fn bus_stalls(&self, channel: ChannelId) -> u64 {
        self.buses[channel.index()].stalls
    }
}
