//! What the flash tells the recorder of a timeline, if there is one: every stage, also waiting, as it begins.
//!
//! Without a recorder each of these is one look at an empty option.

use super::{Flash, Op, OpKind, Stage};
use crate::timeline::NOWHERE;
use crate::units::{ChannelId, DieId, Ns};

/// How the stages of an operation are called.
struct Names {
    read: &'static str,
    program: &'static str,
    out: &'static str,
    into: &'static str,
}

const PLAIN: Names = Names { read: "read", program: "program", out: "transfer out", into: "transfer in" };
const MOVE: Names = Names { read: "move: read", program: "move: program", out: "move: transfer out", into: "move: transfer in" };
const COPYBACK: Names = Names { read: "copyback: read", program: "copyback: program", ..MOVE };

impl Names {
    fn of(op: &Op) -> Self {
        match op.kind {
            OpKind::CopybackMove => COPYBACK,
            _ if op.host => PLAIN,
            _ => MOVE,
        }
    }
}

/// What an operation does in a stage. `None`: nothing, or more than one thing.
fn doing(stage: Stage, op: &Op) -> Option<&'static str> {
    let names = Names::of(op);
    Some(match stage {
        Stage::Empty | Stage::Whole => return None,
        Stage::Read => names.read,
        Stage::Program | Stage::Pausing => names.program,
        Stage::Erase => "erase",
        Stage::Out => names.out,
        Stage::In => names.into,
        Stage::WaitBusOut | Stage::WaitBusIn => "wait for bus",
        Stage::WaitRegister => "wait for register",
        Stage::WaitArray => "wait for array",
        Stage::HeldOut | Stage::HeldIn | Stage::HeldProgram => "preemption point",
        Stage::Suspending => "suspending",
    })
}

impl Flash {
    /// What the operation in a slot does has changed.
    #[inline(always)]
    pub(super) fn note(&mut self, now: Ns, index: u32) {
        if self.timeline.is_some() {
            self.note_stage(now, index);
        }
    }

    #[cold]
    fn note_stage(&mut self, now: Ns, index: u32) {
        let Some(timeline) = &mut self.timeline else { return };
        let slot = &self.slots[index as usize];
        match doing(slot.stage, &slot.op) {
            None => timeline.empty(now, index),
            Some(name) if matches!(slot.stage, Stage::In | Stage::Out) => {
                timeline.transfer(now, index, ChannelId(self.channel_of_die[index as usize / 2]), name, slot.transferred);
            }
            Some(name) => timeline.stage(now, index, name, NOWHERE),
        }
    }

    /// An operation begins in a slot.
    #[inline(always)]
    pub(super) fn note_start(&mut self, index: u32) {
        if let Some(timeline) = &mut self.timeline {
            timeline.operation_begins(index);
        }
    }

    /// The operation that begins in a slot is played in one piece.
    #[inline(always)]
    pub(super) fn note_whole(&mut self, now: Ns, index: u32) {
        if self.timeline.is_some() {
            self.note_stages(now, index);
        }
    }

    #[cold]
    fn note_stages(&mut self, now: Ns, index: u32) {
        let Some(timeline) = &mut self.timeline else { return };
        let (op, transfer) = (self.slots[index as usize].op, self.timing.transfer_ns);
        let names = Names::of(&op);
        let (read, program) = ((names.read, op.read_ns, false), (names.program, op.write_ns, false));
        let (out, into) = ((names.out, transfer, true), (names.into, transfer, true));
        let channel = ChannelId(self.channel_of_die[index as usize / 2]);
        match op.kind {
            OpKind::RegisterRead => unreachable!("it is never played in one piece"),
            OpKind::Erase => timeline.whole(now, index, channel, &[("erase", op.write_ns, false)]),
            OpKind::CopybackMove => timeline.whole(now, index, channel, &[read, program]),
            OpKind::Read => timeline.whole(now, index, channel, &[read, out]),
            OpKind::Program => timeline.whole(now, index, channel, &[into, program]),
            OpKind::Move => timeline.whole(now, index, channel, &[read, out, into, program]),
        }
    }

    /// The transfer on a channel has ended.
    #[inline(always)]
    pub(super) fn note_transfer_end(&mut self, now: Ns, channel: ChannelId) {
        if let Some(timeline) = &mut self.timeline {
            timeline.transfer_ends(now, channel);
        }
    }

    /// The operation in a slot is told to suspend its array stage.
    pub(super) fn note_suspension(&mut self, now: Ns, index: u32) {
        self.note(now, index);
        if let Some(timeline) = &mut self.timeline {
            timeline.mark(now, index, "suspend");
        }
    }

    /// The operation in a slot is laid on the shelf of its die, or pauses, in this stage.
    pub(super) fn note_aside(&mut self, now: Ns, index: u32, stage: Stage, pauses: bool) {
        let Some(timeline) = &mut self.timeline else { return };
        let (name, mark) = match stage {
            _ if pauses => ("paused program", Some("pause")),
            // Those have been told before.
            Stage::Read => ("suspended read", None),
            Stage::Program => ("suspended program", None),
            Stage::Erase => ("suspended erase", None),
            _ => ("put aside", Some("put aside")),
        };
        timeline.put_aside(now, index, name);
        if let Some(mark) = mark {
            timeline.mark(now, index, mark);
        }
    }

    /// What was laid aside is in a slot again.
    pub(super) fn note_return(&mut self, now: Ns, index: u32) {
        if let Some(timeline) = &mut self.timeline {
            timeline.take_back(now, index);
        }
    }

    /// What lies on the shelf of a die is given up.
    pub(super) fn note_given_up(&mut self, now: Ns, die: DieId) {
        if let Some(timeline) = &mut self.timeline {
            timeline.give_up(now, die);
        }
    }
}
