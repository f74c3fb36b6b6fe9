//! How long dies and buses were busy, and the stages as intervals for tests and verify mode.

use super::bus::Bus;
use super::op::{Op, OpKind, Owner, Slot, Stage};
use super::{Flash, Interval, Resource, Timing};
use crate::rules::BurstRule;
use ssdlab_base::units::{ChannelId, DieId, Ns, SlotId};
use ssdlab_keys::energy::ArrayTimes;

/// Bursts: a host operation may share the die with another. One that begins beside a page move interrupts them.
pub const BUSY_BURSTS: BurstRule = BurstRule {
    keys: &["device.cache_register", "scheduler.pipeline", "gc.pipeline"],
    exact: |config| !(config.scheduler.pipeline && config.device.cache_register),
};

impl Flash {
    pub(super) fn empty(&mut self, now: Ns, at: SlotId) {
        self.slots[at.index()].stage = Stage::Empty;
        self.note(now, at);
        let die = at.die();
        if self.slots[at.other().index()].is_empty() {
            let (busy, since) = &mut self.die_busy[die.index()];
            *busy += now - *since;
        }
        if !self.rules.interleave {
            self.chip_ops[(die.0 / self.rules.dies_per_chip) as usize] -= 1;
        }
    }

    /// Time until `now` in which the die had an operation in service, ns.
    pub fn die_busy_ns(&self, die: DieId, now: Ns) -> Ns {
        let (busy, since) = self.die_busy[die.index()];
        if self.idle(die) { busy } else { busy + (now - since) }
    }

    /// Time the channel's bus was busy until `now`, ns.
    pub fn bus_busy_ns(&self, channel: ChannelId, now: Ns) -> Ns {
        let bus = &self.buses[channel.index()];
        let running: Ns = match bus.current {
            Some(at) => now - self.slots[at.index()].since,
            None => {
                let of_channel = self.slots.chunks(2).zip(&self.channel_of_die).filter(|(_, of)| **of == channel);
                of_channel.map(|(pair, _)| self.whole_on_bus(&pair[0], now)).sum()
            }
        };
        bus.busy_ns + running
    }

    /// Time until `now` in which channels' buses were busy, summed over all channels, ns.
    pub fn buses_busy_ns(&self, now: Ns) -> u128 {
        let transferring = |bus: &Bus| bus.current.map_or(0, |at| now - self.slots[at.index()].since);
        let buses = self.buses.iter().map(|bus| u128::from(bus.busy_ns + transferring(bus)));
        // An operation that is one event is alone on its channel: no other transfer is in service there.
        buses.sum::<u128>() + self.slots.iter().map(|slot| u128::from(self.whole_on_bus(slot, now))).sum::<u128>()
    }

    /// Bus time until `now` of an operation that is one event.
    fn whole_on_bus(&self, slot: &Slot, now: Ns) -> Ns {
        if slot.stage != Stage::Whole {
            return 0;
        }
        let from = match slot.op.kind {
            OpKind::Erase | OpKind::CopybackMove | OpKind::RegisterRead => return 0,
            OpKind::Read | OpKind::Move => slot.op.read_ns,
            OpKind::Program => 0,
        };
        (now - slot.since).saturating_sub(from).min(self.timing.on_bus(&slot.op))
    }

    /// The array times until `now` of all planes.
    pub fn array_times(&self, now: Ns) -> ArrayTimes {
        let mut times = self.arrays;
        for slot in self.slots.iter().filter(|slot| !slot.is_empty()) {
            let (done, counted) = self.array_stages(slot, now);
            let (read, written) = times_of_op(&mut times, &slot.op);
            let planes = Ns::from(slot.op.pages);
            let drawing = |ns| slot.drawing_ns(ns, self.rules.plane_programs);
            *read = *read + planes * done.0 - planes * counted.0;
            *written = *written + drawing(done.1) - drawing(counted.1);
        }
        times
    }

    /// Of the stages of an operation in the array, or of an operation that is one event: how long its read and its program or erase have
    /// taken until `now`, and how long they were counted for when they began, ns.
    fn array_stages(&self, slot: &Slot, now: Ns) -> ((Ns, Ns), (Ns, Ns)) {
        let Op { read_ns, write_ns, .. } = slot.op;
        let left = || slot.due - now;
        match slot.stage {
            Stage::Whole => {
                let since = now - slot.since;
                let writes = since.saturating_sub(read_ns + self.timing.on_bus(&slot.op)).min(write_ns);
                let counted = if slot.repetitions > 0 { (0, 0) } else { (read_ns, write_ns) };
                ((since.min(read_ns), writes), counted)
            }
            Stage::Read => ((0, 0), (left(), 0)),
            Stage::Program | Stage::Erase | Stage::Pausing => ((0, 0), (0, left())),
            _ => ((0, 0), (0, 0)),
        }
    }

    /// `times` operations that are one event begin, each on one plane.
    #[inline(always)]
    pub(super) fn whole_begins(&mut self, op: &Op, times: u32) {
        let (read, written) = times_of_op(&mut self.arrays, op);
        *read += Ns::from(times) * op.read_ns;
        *written += Ns::from(times) * op.write_ns;
    }

    #[inline(always)]
    pub(super) fn trace_stage(&mut self, now: Ns, at: SlotId) {
        if self.trace.is_some() {
            self.add_stage_to_trace(now, at);
        }
    }

    #[cold]
    fn add_stage_to_trace(&mut self, now: Ns, at: SlotId) {
        let slot = &self.slots[at.index()];
        let (die, mut start, mut end) = (at.die(), slot.since, now);
        if slot.planes_left > 0 && start == now {
            // No plane has begun yet, or goes on.
            return;
        }
        let resource = match slot.stage {
            Stage::Command | Stage::In | Stage::Out => Resource::Bus(self.channel_of_die[die.index()]),
            Stage::Whole | Stage::Decode if !self.reads_ahead(at) => return,
            Stage::Read | Stage::Stopping | Stage::Decode => {
                start = self.ahead_since(at).unwrap_or(start);
                end = self.array_read_ends(at, now);
                Resource::Array(die)
            }
            _ => Resource::Array(die),
        };
        let Some(trace) = &mut self.trace else { return };
        trace.push(Interval { resource, die, start, end, kind: slot.op.kind, host: slot.op.owner.is_host() });
    }

    #[inline(always)]
    pub(super) fn trace_whole(&mut self, now: Ns, die: DieId, op: Op) {
        if self.trace.is_some() {
            self.add_whole_to_trace(now, die, op);
        }
    }

    #[cold]
    fn add_whole_to_trace(&mut self, now: Ns, die: DieId, op: Op) {
        let Timing { transfer_ns: transfer, program_transfer_ns: into, .. } = self.timing;
        let out = self.timing.out(&op, 0);
        let Some(trace) = &mut self.trace else { return };
        let bus = Resource::Bus(self.channel_of_die[die.index()]);
        let array = Resource::Array(die);
        let mut at = now;
        let mut push = |resource, ns| {
            trace.push(Interval { resource, die, start: at, end: at + ns, kind: op.kind, host: op.owner.is_host() });
            at += ns;
        };
        match op.kind {
            OpKind::RegisterRead => unreachable!("it is never one event"),
            OpKind::Erase => push(array, op.write_ns),
            OpKind::CopybackMove => push(array, op.read_ns + op.write_ns),
            OpKind::Read => {
                push(array, op.read_ns);
                push(bus, out);
            }
            OpKind::Program => {
                push(bus, into);
                push(array, op.write_ns);
            }
            OpKind::Move => {
                push(array, op.read_ns);
                push(bus, transfer);
                push(bus, transfer);
                push(array, op.write_ns);
            }
        }
    }
}

/// The time of array stages of one kind, of the host's operations or GC's.
#[inline(always)]
pub(super) fn time_of<'a>(times: &'a mut ArrayTimes, stage: Stage, owner: &Owner) -> &'a mut Ns {
    let of_gc = usize::from(!owner.is_host());
    match stage {
        Stage::Read => &mut times.read[of_gc],
        Stage::Program => &mut times.program[of_gc],
        Stage::Erase => &mut times.erase,
        stage => unreachable!("stage {stage:?} is not in the array"),
    }
}

/// The time of reads, and that of programs or erases, to which an operation adds.
#[inline(always)]
fn times_of_op<'a>(times: &'a mut ArrayTimes, op: &Op) -> (&'a mut Ns, &'a mut Ns) {
    let of_gc = usize::from(!op.owner.is_host());
    let written = if op.kind == OpKind::Erase { &mut times.erase } else { &mut times.program[of_gc] };
    (&mut times.read[of_gc], written)
}
