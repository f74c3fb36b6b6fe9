//! Reads that are repeated (`errors.retry`): a flash read goes through steps, each an array read, a transfer and the decoding of its data,
//! until one succeeds.
//!
//! The pages of a multi-plane read are read again together. A failing step keeps the die: the next one follows in the same slot. After the
//! last step the die is free, and the data of the host are decoded beside it; a read of garbage collection keeps the die until then. With
//! PR2 the array reads for the next retry step (`ahead`) while the data of one are transferred and decoded; a read ahead that is not needed
//! any more is stopped.

use super::busy::time_of;
use super::op::{OpKind, Stage};
use super::retry::{Pace, Steps};
use super::stages::Progress;
use super::{Cells, Flash};
use crate::event::EventQueue;
use ssdlab_base::units::{Ns, SlotId};

/// The steps of a flash read, of all its planes together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retry {
    /// Number of steps that fail before the last.
    pub failed: u8,
    /// The retry table has a step behind the last.
    has_more: bool,
    pace: Pace,
    /// Array time of a retry step, ns.
    step_ns: Ns,
}

impl Retry {
    /// The retry steps of one page; `step_ns`: array time of a retry step, ns.
    pub fn new(steps: Steps, pace: Pace, step_ns: Ns) -> Self {
        Retry { failed: steps.failed, has_more: steps.has_more, pace, step_ns }
    }

    /// The retry steps of a read of these pages together with those of another plane.
    #[must_use]
    pub fn beside(self, other: Retry) -> Self {
        let (more, less) = if other.failed > self.failed { (other, self) } else { (self, other) };
        Retry { step_ns: more.step_ns.max(less.step_ns), ..more }
    }

    /// The steps of the read without a pipeline: each retry step begins when the data of the one before have been decoded.
    #[must_use]
    pub fn one_by_one(self) -> Self {
        Retry { pace: Pace { pipelined: false, ..self.pace }, ..self }
    }
}

/// The read in a slot.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Read {
    retry: Retry,
    /// Number of steps that have failed: the number of the step in service.
    step: u8,
    /// When the array began to read ahead for the next step, ns.
    ahead: Option<Ns>,
}

impl Read {
    fn fails(&self) -> bool {
        self.step < self.retry.failed
    }

    /// The next step is a retry step, and the array reads ahead for it.
    fn reads_ahead(&self) -> bool {
        self.retry.pace.pipelined && self.step >= 1 && (self.fails() || self.retry.has_more)
    }

    /// When the read ahead ends, ns.
    fn ahead_until(&self) -> Option<Ns> {
        self.ahead.map(|since| since + self.retry.step_ns)
    }
}

impl Flash {
    /// Lets reads have errors from now on.
    pub fn age(&mut self, cells: Option<Box<Cells>>) {
        if cells.is_some() {
            self.reads = vec![Read::default(); self.slots.len()];
            self.suspended_reads = vec![Read::default(); self.slots.len() / 2];
        }
        self.cells = cells;
    }

    /// The cells of the drive; `None` if reads have no errors.
    #[inline(always)]
    pub fn cells(&self) -> Option<&Cells> {
        self.cells.as_deref()
    }

    /// Mutable access to the cells of the drive; `None` if reads have no errors.
    #[inline(always)]
    pub fn cells_mut(&mut self) -> Option<&mut Cells> {
        self.cells.as_deref_mut()
    }

    /// Sets the steps of the read that has just begun in a slot.
    pub fn set_steps(&mut self, at: SlotId, retry: Retry) {
        self.reads[at.index()] = Read { retry, ..Read::default() };
    }

    /// The operation in a slot is suspended: keeps its steps, since another operation may take the slot.
    pub(super) fn keep_steps(&mut self, at: SlotId) {
        if let Some(kept) = self.suspended_reads.get_mut(at.die().index()) {
            *kept = self.reads[at.index()];
        }
    }

    /// The suspended operation of the die goes on in a slot, with its steps.
    pub(super) fn take_steps(&mut self, at: SlotId) {
        if let Some(&kept) = self.suspended_reads.get(at.die().index()) {
            self.reads[at.index()] = kept;
        }
    }

    /// The step in service of a slot's read fails.
    #[inline(always)]
    pub fn step_fails(&self, at: SlotId) -> bool {
        !self.reads.is_empty() && self.slots[at.index()].op.kind == OpKind::Read && self.reads[at.index()].fails()
    }

    /// The step in service of a slot's read is the last, and the array does not read ahead: another read may use the array once the data
    /// are in the register.
    #[inline(always)]
    pub(super) fn leaves_array(&self, at: SlotId) -> bool {
        self.reads.is_empty() || !self.reads[at.index()].fails() && self.reads[at.index()].ahead.is_none()
    }

    /// The slot's operation is a read that may be repeated.
    #[inline(always)]
    pub(super) fn has_steps(&self, at: SlotId) -> bool {
        !self.reads.is_empty() && self.slots[at.index()].op.kind == OpKind::Read
    }

    /// The data of a step are in the register: the array may read ahead.
    #[inline(always)]
    pub(super) fn step_read(&mut self, now: Ns, at: SlotId) {
        if self.has_steps(at) {
            let read = &mut self.reads[at.index()];
            read.ahead = read.reads_ahead().then_some(now);
        }
    }

    /// All pages of a step have been transferred. Returns what that means; `None` if the read has ended, and the die is free.
    pub(super) fn step_transferred(&mut self, now: Ns, at: SlotId, events: &mut EventQueue) -> Option<Progress> {
        let (read, decode_ns) = (self.reads[at.index()], self.timing.decode_ns);
        if read.fails() && read.ahead.is_some() {
            self.next_step(now, at, events);
            return Some(Progress::StepFailed);
        }
        let decoded = now + decode_ns;
        let stopped = if read.ahead_until().is_some_and(|until| until > decoded) { decoded + self.timing.reset_ns } else { decoded };
        if read.fails() {
            self.begin_array(now, at, Stage::Decode, decode_ns, events);
            return Some(Progress::StepFailed);
        }
        if let Some(since) = read.ahead {
            self.read_ahead(at, stopped.min(since + read.retry.step_ns) - since);
        }
        let host = self.slots[at.index()].op.owner.is_host();
        if host && read.ahead.is_none() {
            return None;
        }
        self.begin_array(now, at, if host { Stage::Stopping } else { Stage::Decode }, stopped - now, events);
        Some(if host { Progress::LastTransferEnded } else { Progress::StepFailed })
    }

    /// The data of a step have been decoded: the next one begins if it failed; else the read of garbage collection ends.
    pub(super) fn step_decoded(&mut self, now: Ns, at: SlotId, events: &mut EventQueue) -> Progress {
        if self.reads[at.index()].fails() {
            self.next_step(now, at, events);
            return Progress::StepBegun;
        }
        self.empty(now, at);
        Progress::Ended(None)
    }

    /// The next step begins; the array may have read ahead for it.
    fn next_step(&mut self, now: Ns, at: SlotId, events: &mut EventQueue) {
        let read = &mut self.reads[at.index()];
        read.step += 1;
        let set_ns = if read.step == 1 && read.retry.pace.shortened { self.timing.set_ns } else { 0 };
        let (ahead, until) = (read.ahead, read.ahead_until().unwrap_or(now + set_ns + read.retry.step_ns));
        self.slots[at.index()].transferred = 0;
        self.begin_array(now, at, Stage::Read, until.saturating_sub(now), events);
        if let Some(since) = ahead {
            self.read_ahead(at, until.min(now) - since);
            self.slots[at.index()].since = since;
        }
    }

    /// The array has read ahead for a slot's read, for `ns`.
    fn read_ahead(&mut self, at: SlotId, ns: Ns) {
        let op = &self.slots[at.index()].op;
        *time_of(&mut self.arrays, Stage::Read, &op.owner) += ns * Ns::from(op.pages);
    }

    /// When the array read of the stage in service began to be idle, ns: a read ahead may end before it is waited for.
    pub(super) fn array_read_ends(&self, at: SlotId, now: Ns) -> Ns {
        if !self.has_steps(at) {
            return now;
        }
        self.reads[at.index()].ahead_until().map_or(now, |until| until.min(now))
    }

    /// When the array began to read ahead for a slot's read, ns; `None` if it does not.
    pub(super) fn ahead_since(&self, at: SlotId) -> Option<Ns> {
        self.reads.get(at.index()).filter(|_| self.has_steps(at)).and_then(|read| read.ahead)
    }

    /// The array reads ahead for a slot's read.
    pub(super) fn reads_ahead(&self, at: SlotId) -> bool {
        self.ahead_since(at).is_some()
    }
}
