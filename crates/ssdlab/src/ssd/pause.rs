//! Programs of the host pause for reads, between two of their steps, where every page that a read would delay has slack for it
//! (elyasi2017; `scheduler.write_pausing`).

use super::Ssd;
use super::candidates::{GcCandidate, HostCandidate};
use crate::arbiter::Decision;
use crate::blocked::{Blocked, Served};
use crate::flash::OpKind;
use crate::sched::{QueueKind, Slack, TransactionKind};
use crate::units::{DieId, Ns, SlotId, TxnId};
use crate::views::DiePhase;

impl Ssd {
    fn slack(&self) -> &Slack {
        self.sched.slack().expect("pauses need slack")
    }

    fn read_latency(&self) -> Ns {
        self.slack().estimator().latencies().host[QueueKind::Read as usize]
    }

    /// A host program is in the array of the die: if a read could go first, it is to stop at the end of its step. Returns true if so.
    pub(super) fn stop_for_reads(&mut self, now: Ns, die: DieId) -> bool {
        let Some((at, first, end_of_step)) = self.flash.pausable(now, die) else { return false };
        if self.read_with_slack(die, first).is_none() {
            return false;
        }
        self.flash.stop_at(at, end_of_step, &mut self.events);
        true
    }

    /// The program in a slot, whose first page is `first`, has come to the end of the step after which it was to stop.
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

    /// The read that would be next on a die, if every page of the program (its first: `first`) that it would delay has slack for it.
    fn read_with_slack(&mut self, die: DieId, first: TxnId) -> Option<HostCandidate> {
        let latency = self.read_latency();
        if !self.pages_of(first).all(|id| self.slack().left(&self.transactions, id) >= latency) {
            return None;
        }
        let (host, gc) = self.candidates(die);
        let read = host.filter(|candidate| candidate.kind == QueueKind::Read && !candidate.by_move)?;
        (self.decide(DiePhase::BetweenMoves, host, gc.map(GcCandidate::pool)) == Decision::Host).then_some(read)
    }

    /// The die with a paused program, in whose way nothing may come but reads: this one, or one that it excludes.
    #[inline]
    pub(super) fn paused_die(&self, die: DieId) -> Option<DieId> {
        if self.rules.flash.interleave {
            return self.flash.paused(die).map(|_| die);
        }
        self.dies_of_chip_of(die).find(|&die| self.flash.paused(die).is_some())
    }

    /// A program is paused on the die: a read for which it has slack begins, or it goes on. Returns true if something has begun.
    pub(super) fn during_pause(&mut self, now: Ns, die: DieId, granted: bool) -> bool {
        let first = self.flash.paused(die).expect("the caller has looked");
        if let Some(read) = self.read_with_slack(die, first) {
            let on = self.geometry().die_of_pool(read.pool);
            let starts =
                self.flash.can_start(on, OpKind::Read, true) && (!self.flash.needs_bus(OpKind::Read) || self.has_bus(now, on, granted));
            if starts {
                self.read_in_pause(now, on, read, first);
            }
            return starts;
        }
        if !self.flash.can_start(die, OpKind::Erase, true) {
            return false;
        }
        self.flash.end_pause(now, die, &mut self.events);
        self.each_page(first, |transaction| transaction.waited(Blocked::Paused, now));
        true
    }

    fn read_in_pause(&mut self, now: Ns, die: DieId, read: HostCandidate, program: TxnId) {
        self.start_host(now, die, read, OpKind::Read);
        let latency = self.read_latency();
        let mut page = Some(program);
        while let Some(id) = page {
            self.take_slack(id, latency);
            page = self.transactions[id].next;
        }
        let mut page = Some(read.id);
        while let Some(id) = page {
            // The read of a partial write is none of a reading request.
            if self.transactions[id].kind == TransactionKind::Read {
                self.take_slack(id, 0);
            }
            self.probes.count().pause_reads += 1;
            page = self.transactions[id].next;
        }
    }

    /// A page takes part in a pause, which takes so much of its slack, ns.
    fn take_slack(&mut self, id: TxnId, ns: Ns) {
        let slack = self.sched.slack_mut().expect("pauses need slack");
        slack.note_pause(id);
        slack.take(id, ns);
    }
}
