//! Operations in the array make way for reads. Host programs pause between two program steps if every page that a read would delay has
//! slack for it (elyasi2017; `scheduler.write_pausing`). Programs and erases are suspended, as drives sold today do (`scheduler.suspend`).
//! With both options, a host program that cannot pause, for want of slack or of a further step, is suspended.

use super::Ssd;
use super::candidates::{GcCandidate, HostCandidate};
use crate::arbiter::Decision;
use crate::blocked::{Blocked, Served};
use crate::flash::{OpKind, Owner};
use crate::sched::{QueueKind, Slack, TransactionKind};
use crate::units::{DieId, Ns, PoolId, SlotId, TxnId};
use crate::views::DiePhase;

impl Ssd {
    fn slack(&self) -> &Slack {
        self.sched.slack().expect("pauses need slack")
    }

    fn read_latency(&self) -> Ns {
        self.slack().estimator().latencies().host[QueueKind::Read as usize]
    }

    /// Makes the operation in the array of the die stop, now or later, if a read could go first. Returns true if it does.
    pub(super) fn stop_for_reads(&mut self, now: Ns, die: DieId) -> bool {
        self.rules.flash.write_pausing && self.pause_for_reads(now, die) || self.rules.flash.for_reads.any() && self.make_way(now, die)
    }

    /// Suspends the operation in the array of the die, now or once it has run for long enough, if a read could go first. Returns true if it
    /// does.
    fn make_way(&mut self, now: Ns, die: DieId) -> bool {
        let Some((at, from)) = self.flash.suspendable(now, die) else { return false };
        if self.read_to_serve(die, self.flash.op(at).owner).is_none() {
            return false;
        }
        if from > now {
            self.flash.stop_at(at, from, &mut self.events);
        } else {
            self.suspend_for_reads(now, at);
        }
        true
    }

    /// The operation in the array of a slot has run for as long as it must: suspends it if a read could still go first.
    pub(super) fn has_run(&mut self, now: Ns, die: DieId, at: SlotId) {
        if self.read_to_serve(die, self.flash.op(at).owner).is_some() {
            self.suspend_for_reads(now, at);
        } else {
            self.flash.do_not_stop(at);
        }
        self.ready.wake(die);
    }

    fn suspend_for_reads(&mut self, now: Ns, at: SlotId) {
        let op = *self.flash.op(at);
        let count = self.probes.count();
        *(if op.kind == OpKind::Erase { &mut count.suspended_erases } else { &mut count.suspended_programs }) += 1;
        self.flash.suspend_for_reads(now, at, &mut self.events);
        if let Owner::Host(first) = op.owner {
            self.all_served(now, first, Served::Array);
        }
    }

    /// The read for which an operation of `owner` on the die is suspended, if any. A GC operation has the priority of the next GC step, and
    /// none is suspended while GC runs to completion.
    fn read_to_serve(&mut self, die: DieId, owner: Owner) -> Option<HostCandidate> {
        let Owner::Gc(pool) = owner else {
            let urgent = self.gc.any_urgent() && self.is_urgent_beside(PoolId(self.geometry().pools_of_die(die).start));
            return if urgent { None } else { self.next_read(die) };
        };
        let read = self.candidates(die).0.filter(is_read)?;
        (self.decide(DiePhase::InArray { may_suspend: true }, Some(read), Some(pool)) == Decision::Suspend).then_some(read)
    }

    /// The read that would begin next on a die if the die were idle.
    fn next_read(&mut self, die: DieId) -> Option<HostCandidate> {
        let (host, gc) = self.candidates(die);
        let read = host.filter(is_read)?;
        (self.decide(DiePhase::BetweenMoves, host, gc.map(GcCandidate::pool)) == Decision::Host).then_some(read)
    }

    /// Makes the host program in the array of the die stop at the end of its step if a read could go first. Returns true if it does.
    fn pause_for_reads(&mut self, now: Ns, die: DieId) -> bool {
        let Some((at, first, end_of_step)) = self.flash.pausable(now, die) else { return false };
        if self.read_with_slack(die, first).is_none() {
            return false;
        }
        self.flash.pause_at(at, end_of_step, &mut self.events);
        true
    }

    /// The program in a slot has come to the end of the step after which it was to stop: pauses it if a read could still go first.
    pub(super) fn step_ended(&mut self, now: Ns, die: DieId, at: SlotId, first: TxnId) {
        if self.read_with_slack(die, first).is_some() {
            self.probes.count().write_pauses += 1;
            self.flash.pause(now, at);
            self.all_served(now, first, Served::Array);
        } else {
            self.flash.do_not_stop(at);
        }
        self.ready.wake(die);
    }

    /// The read that would begin next on a die, if each page of the program that it would delay has slack for it. `first`: its first
    /// transaction.
    fn read_with_slack(&mut self, die: DieId, first: TxnId) -> Option<HostCandidate> {
        let latency = self.read_latency();
        if !self.pages_of(first).all(|id| self.slack().left(&self.transactions, id) >= latency) {
            return None;
        }
        self.next_read(die)
    }

    /// The die with an operation paused or suspended for reads, which keeps this die from all but reads: this one, or one that excludes it.
    #[inline]
    pub(super) fn paused_die(&self, die: DieId) -> Option<DieId> {
        if self.rules.flash.interleave {
            return self.flash.paused(die).map(|_| die);
        }
        self.dies_of_chip_of(die).find(|&die| self.flash.paused(die).is_some())
    }

    /// Begins a read for which the paused or suspended operation of the die makes way, or continues that. Returns true if something has
    /// begun.
    pub(super) fn during_pause(&mut self, now: Ns, die: DieId, granted: bool) -> bool {
        let owner = self.flash.paused(die).expect("the caller has looked");
        let read = match owner {
            Owner::Host(first) if self.flash.is_pausing(die) => self.read_with_slack(die, first),
            Owner::Host(_) | Owner::Gc(_) => self.read_to_serve(die, owner),
        };
        if let Some(read) = read {
            let on = self.geometry().die_of_pool(read.pool);
            let starts =
                self.flash.can_start(on, OpKind::Read, true) && (!self.flash.needs_bus(OpKind::Read) || self.has_bus(now, on, granted));
            if starts {
                self.read_in_pause(now, on, read, die, owner);
            }
            return starts;
        }
        if !self.flash.can_start(die, OpKind::Erase, true) {
            return false;
        }
        self.flash.end_pause(now, die, &mut self.events);
        if let Owner::Host(first) = owner {
            self.each_page(first, |transaction| transaction.waited(Blocked::Paused, now));
        }
        true
    }

    /// Begins a read on a die while an operation is paused or suspended on `aside`, the same die or one that excludes it.
    fn read_in_pause(&mut self, now: Ns, die: DieId, read: HostCandidate, aside: DieId, paused: Owner) {
        self.start_host(now, die, read, OpKind::Read);
        match paused {
            Owner::Host(program) if self.flash.is_pausing(aside) => self.takes_slack(read.id, program),
            Owner::Host(_) | Owner::Gc(_) => {
                let pages = self.pages_of(read.id).count() as u64;
                self.probes.count().reads_while_suspended += pages;
            }
        }
    }

    /// Takes slack for a read that has begun while a program is paused: its time from the program's pages, nothing from the read.
    fn takes_slack(&mut self, read: TxnId, program: TxnId) {
        let latency = self.read_latency();
        let mut page = Some(program);
        while let Some(id) = page {
            self.take_slack(id, latency);
            page = self.transactions[id].next;
        }
        let mut page = Some(read);
        while let Some(id) = page {
            // The read of a partial write belongs to a write request.
            if self.transactions[id].kind == TransactionKind::Read {
                self.take_slack(id, 0);
            }
            self.probes.count().pause_reads += 1;
            page = self.transactions[id].next;
        }
    }

    /// Notes that a page takes part in a pause, which takes `ns` of its slack.
    fn take_slack(&mut self, id: TxnId, ns: Ns) {
        let slack = self.sched.slack_mut().expect("pauses need slack");
        slack.note_pause(id);
        slack.take(id, ns);
    }
}

/// The candidate is a read that begins on the die, not by merging with a move.
fn is_read(candidate: &HostCandidate) -> bool {
    candidate.kind == QueueKind::Read && !candidate.by_move
}
