//! What the flash reports to the recorder of a timeline, if there is one: every stage, also waiting, as it begins.
//!
//! Without a recorder each of these functions checks an empty option.

use super::op::Stage;
use super::{Flash, Op, OpKind};
use ssdlab_base::units::{ChannelId, DieId, Ns, SlotId};
use ssdlab_result::timeline::NOWHERE;

/// Names of the stages of an operation in a timeline.
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
            _ if op.owner.is_host() => PLAIN,
            _ => MOVE,
        }
    }
}

/// Name of a stage of an operation in a timeline. `None`: the slot is empty, or the operation is one event with several stages.
fn doing(stage: Stage, op: &Op) -> Option<&'static str> {
    let names = Names::of(op);
    Some(match stage {
        Stage::Empty | Stage::Whole => return None,
        Stage::Command => "read command",
        Stage::Read => names.read,
        Stage::Program | Stage::Pausing => names.program,
        Stage::Erase => "erase",
        Stage::Out => names.out,
        Stage::In => names.into,
        Stage::WaitBusOut | Stage::WaitBusIn => "wait for bus",
        Stage::WaitRegister => "wait for register",
        Stage::WaitArray => "wait for array",
        Stage::Decode => "decode",
        Stage::Stopping => "stop read ahead",
        Stage::StoppedBeforeOut | Stage::StoppedBeforeIn | Stage::StoppedBeforeProgram => "preemption point",
        Stage::Suspending => "suspending",
    })
}

/// Name of a stage of a read's step that fails.
fn in_vain(name: &'static str) -> &'static str {
    match name {
        "read" | "move: read" => "failed read",
        "transfer out" | "move: transfer out" => "failed transfer",
        "decode" => "failed decode",
        "wait for bus" => "failed read waits for bus",
        other => other,
    }
}

impl Flash {
    /// Reports that the operation in a slot has a new stage.
    #[inline(always)]
    pub(super) fn note(&mut self, now: Ns, at: SlotId) {
        if self.recorder.is_some() {
            self.note_stage(now, at);
        }
    }

    #[cold]
    fn note_stage(&mut self, now: Ns, at: SlotId) {
        let fails = self.step_fails(at);
        let Some(timeline) = &mut self.recorder else { return };
        let slot = &self.slots[at.index()];
        match doing(slot.stage, &slot.op).map(|name| if fails { in_vain(name) } else { name }) {
            None => timeline.empty(now, at.0),
            Some(name) if matches!(slot.stage, Stage::In | Stage::Out) => {
                timeline.transfer(now, at.0, self.channel_of_die[at.die().index()], name, slot.transferred);
            }
            // A command transfers no page.
            Some(name) if slot.stage == Stage::Command => {
                timeline.transfer(now, at.0, self.channel_of_die[at.die().index()], name, NOWHERE);
            }
            Some(name) => timeline.stage(now, at.0, name, NOWHERE),
        }
    }

    /// Reports that an operation begins in a slot.
    #[inline(always)]
    pub(super) fn note_start(&mut self, at: SlotId) {
        if let Some(timeline) = &mut self.recorder {
            timeline.operation_begins(at.0);
        }
    }

    /// Reports all stages of the operation that begins in a slot and is one event.
    #[inline(always)]
    pub(super) fn note_whole(&mut self, now: Ns, at: SlotId) {
        if self.recorder.is_some() {
            self.note_stages(now, at);
        }
    }

    #[cold]
    fn note_stages(&mut self, now: Ns, at: SlotId) {
        let Some(timeline) = &mut self.recorder else { return };
        let (op, transfer) = (self.slots[at.index()].op, self.timing.transfer_ns);
        let names = Names::of(&op);
        let (read, program) = ((names.read, op.read_ns, false), (names.program, op.write_ns, false));
        let (out, into) = ((names.out, self.timing.out(&op, 0), true), (names.into, transfer, true));
        let channel = self.channel_of_die[at.die().index()];
        match op.kind {
            OpKind::RegisterRead => unreachable!("it is never one event"),
            OpKind::Erase => timeline.whole(now, at.0, channel, &[("erase", op.write_ns, false)]),
            OpKind::CopybackMove => timeline.whole(now, at.0, channel, &[read, program]),
            OpKind::Read => timeline.whole(now, at.0, channel, &[read, out]),
            OpKind::Program => {
                let all_in = (names.into, self.timing.program_transfer_ns, true);
                timeline.whole(now, at.0, channel, &[all_in, program]);
            }
            OpKind::Move => timeline.whole(now, at.0, channel, &[read, out, into, program]),
        }
    }

    /// Reports that the transfer on a channel has ended.
    #[inline(always)]
    pub(super) fn note_transfer_end(&mut self, now: Ns, channel: ChannelId) {
        if let Some(timeline) = &mut self.recorder {
            timeline.transfer_ends(now, channel);
        }
    }

    /// Reports that the operation in a slot begins to suspend its array stage.
    pub(super) fn note_suspension(&mut self, now: Ns, at: SlotId) {
        self.note(now, at);
        if let Some(timeline) = &mut self.recorder {
            timeline.mark(now, at.0, "suspend");
        }
    }

    /// Reports that the operation in a slot is suspended, or paused if `pauses`, in this stage.
    pub(super) fn note_aside(&mut self, now: Ns, at: SlotId, stage: Stage, pauses: bool) {
        let Some(timeline) = &mut self.recorder else { return };
        let (name, mark) = match stage {
            _ if pauses => ("paused program", Some("pause")),
            // The marks of these were made when their suspension began. A program between two planes has none.
            Stage::Read => ("suspended read", None),
            Stage::Program => ("suspended program", None),
            Stage::Erase => ("suspended erase", None),
            _ => ("put aside", Some("put aside")),
        };
        timeline.put_aside(now, at.0, name);
        if let Some(mark) = mark {
            timeline.mark(now, at.0, mark);
        }
    }

    /// Reports that a suspended or paused operation is in a slot again.
    pub(super) fn note_return(&mut self, now: Ns, at: SlotId) {
        if let Some(timeline) = &mut self.recorder {
            timeline.take_back(now, at.0);
        }
    }

    /// Reports that the suspended operation of a die is dropped.
    pub(super) fn note_given_up(&mut self, now: Ns, die: DieId) {
        if let Some(timeline) = &mut self.recorder {
            timeline.give_up(now, die);
        }
    }
}
