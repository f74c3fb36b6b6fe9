//! Operations in the array make way for reads. Host programs pause between two program steps if every page that a read would delay has
//! slack for it (elyasi2017; `scheduler.write_pausing`). Programs and erases are suspended, as drives sold today do (`scheduler.suspend`); those
//! that go plane by plane make way between two planes, too.
//! With both options, a host program that cannot pause, for want of slack or of a further step, is suspended.

use crate::arbiter::Decision;
use crate::flash::{OpKind, Owner};
use crate::rules::{BurstRule, ForReads};
use crate::sched::{QueueKind, Slack, TransactionKind};
use crate::ssd::Ssd;
use crate::ssd::candidates::{GcCandidate, HostCandidate};
use crate::ssd::mechanisms::order::{self, Question};
use crate::ssd::mechanisms::power;
use crate::views::DiePhase;
use ssdlab_base::blocked::{Blocked, Served};
use ssdlab_base::units::{DieId, Ns, PoolId, SlotId, TxnId};

/// Bursts: operations of GC may be suspended for reads. Those that `gc.suspend` allows to be are interrupted by the host operation that comes.
pub(in crate::ssd) const BURSTS: BurstRule = BurstRule {
    keys: &[
        "scheduler.suspend",
        "gc.suspend",
        "device.suspend_ns",
        "device.resume_ns",
        "device.min_run_ns",
        "device.max_suspends",
        "device.ispp_steps",
        "device.page_registers",
    ],
    exact: |config| !ForReads::new(config).of_gc(),
};

fn slack(ssd: &Ssd) -> &Slack {
    ssd.sched.slack().expect("pauses need slack")
}

/// Expected time of a read that is waiting, ns.
fn expected_read(ssd: &Ssd, read: TxnId) -> Ns {
    slack(ssd).expected(read, QueueKind::Read)
}

/// Makes the operation in the array of the die stop, now or later, if a read could go first. Returns true if it does.
#[inline]
pub(in crate::ssd) fn stop_for_reads(ssd: &mut Ssd, now: Ns, die: DieId) -> bool {
    let on_this_die = ssd.rules.flash.interleave;
    if on_this_die && !ssd.sched.any_waiting(die) {
        return false;
    }
    ssd.rules.flash.write_pausing && pause_for_reads(ssd, now, die) || ssd.rules.flash.for_reads.any() && make_way(ssd, now, die)
}

/// Suspends the operation in the array of the die, now or once it has run for long enough, if a read could go first. Returns true if it
/// does.
fn make_way(ssd: &mut Ssd, now: Ns, die: DieId) -> bool {
    let Some((at, from)) = ssd.flash.suspendable(now, die) else { return false };
    if read_to_serve(ssd, now, die, ssd.flash.op(at).owner).is_none() {
        return false;
    }
    if from > now {
        ssd.flash.stop_at(at, from, &mut ssd.events);
    } else {
        suspend_for_reads(ssd, now, at);
    }
    true
}

/// The operation in the array of a slot has run for as long as it must: suspends it if a read could still go first.
pub(in crate::ssd) fn has_run(ssd: &mut Ssd, now: Ns, die: DieId, at: SlotId) {
    if read_to_serve(ssd, now, die, ssd.flash.op(at).owner).is_some() {
        suspend_for_reads(ssd, now, at);
    } else {
        ssd.flash.do_not_stop(at);
    }
    ssd.ready.wake(die);
}

fn suspend_for_reads(ssd: &mut Ssd, now: Ns, at: SlotId) {
    let op = *ssd.flash.op(at);
    let count = ssd.probes.count();
    *(if op.kind == OpKind::Erase { &mut count.suspended_erases } else { &mut count.suspended_programs }) += 1;
    order::suspended(ssd, at.die());
    ssd.flash.suspend_for_reads(now, at, &mut ssd.events);
    if let Owner::Host(first) = op.owner {
        ssd.all_served(now, first, Served::Array);
    }
}

/// The program in a slot is between two planes: puts it aside, without a delay, if a read could go first. Returns true if it does.
pub(in crate::ssd) fn made_way_between_planes(ssd: &mut Ssd, now: Ns, at: SlotId) -> bool {
    let (die, owner) = (at.die(), ssd.flash.op(at).owner);
    if !ssd.rules.flash.pauses || !ssd.flash.may_make_way(at) {
        return false;
    }
    let pauses = match owner {
        Owner::Host(first) if ssd.rules.flash.write_pausing => read_with_slack(ssd, now, die, first).is_some(),
        Owner::Host(_) | Owner::Gc(_) => false,
    };
    if !pauses && (!ssd.flash.may_be_suspended(at) || read_to_serve(ssd, now, die, owner).is_none()) {
        return false;
    }
    let count = ssd.probes.count();
    count.reads_between_planes += 1;
    count.write_pauses += u64::from(pauses);
    order::suspended(ssd, die);
    ssd.flash.make_way_between_planes(now, at, pauses);
    if let Owner::Host(first) = owner {
        ssd.all_served(now, first, Served::Array);
    }
    ssd.ready.wake(die);
    true
}

/// The read for which an operation of `owner` on the die is suspended, if any. A GC operation has the priority of the next GC step, and
/// none is suspended while GC runs to completion.
fn read_to_serve(ssd: &mut Ssd, now: Ns, die: DieId, owner: Owner) -> Option<HostCandidate> {
    let Owner::Gc(pool) = owner else {
        let urgent = ssd.gc.states.any_urgent() && ssd.is_urgent_beside(PoolId(ssd.geometry().pools_of_die(die).start));
        return if urgent { None } else { next_read(ssd, now, die) };
    };
    let phase = DiePhase::InArray;
    let host = ssd.candidates(die).0;
    let (host, priority) = order::choose::<true>(ssd, Question { now, die, phase, gc: Some(pool), limits: None }, host);
    let read = host.filter(is_read)?;
    (ssd.decide(phase, Some(read), Some(pool), priority) == Decision::Suspend).then_some(read)
}

/// The read that would begin next on a die if the die were idle.
fn next_read(ssd: &mut Ssd, now: Ns, die: DieId) -> Option<HostCandidate> {
    let (host, gc) = ssd.candidates(die);
    let (phase, gc) = (DiePhase::BetweenMoves, gc.map(GcCandidate::pool));
    let (host, priority) = order::choose::<true>(ssd, Question { now, die, phase, gc, limits: None }, host);
    let read = host.filter(is_read)?;
    (ssd.decide(phase, host, gc, priority) == Decision::Host).then_some(read)
}

/// Makes the host program in the array of the die stop at the end of its step if a read could go first. Returns true if it does.
fn pause_for_reads(ssd: &mut Ssd, now: Ns, die: DieId) -> bool {
    let Some((at, first, end_of_step)) = ssd.flash.pausable(now, die) else { return false };
    if read_with_slack(ssd, now, die, first).is_none() {
        return false;
    }
    ssd.flash.pause_at(at, end_of_step, &mut ssd.events);
    true
}

/// The program in a slot has come to the end of the step after which it was to stop: pauses it if a read could still go first.
pub(in crate::ssd) fn step_ended(ssd: &mut Ssd, now: Ns, die: DieId, at: SlotId, first: TxnId) {
    if read_with_slack(ssd, now, die, first).is_some() {
        order::suspended(ssd, die);
        ssd.probes.count().write_pauses += 1;
        ssd.flash.pause(now, at);
        ssd.all_served(now, first, Served::Array);
    } else {
        ssd.flash.do_not_stop(at);
    }
    ssd.ready.wake(die);
}

/// The read that would begin next on a die, if each page of the program that it would delay has slack for it. `first`: its first
/// transaction.
fn read_with_slack(ssd: &mut Ssd, now: Ns, die: DieId, first: TxnId) -> Option<HostCandidate> {
    let left = ssd.pages_of(first).map(|id| slack(ssd).left(&ssd.transactions, id)).min().expect("an operation has pages");
    // The order of the user's own is not asked in vain.
    if left < ssd.flash.timing().least_expected_read() {
        return None;
    }
    next_read(ssd, now, die).filter(|read| left >= expected_read(ssd, read.id))
}

/// The die with an operation paused or suspended for reads, which keeps this die from all but reads: this one, or one that excludes it.
#[inline]
pub(in crate::ssd) fn paused_die(ssd: &Ssd, die: DieId) -> Option<DieId> {
    if ssd.rules.flash.interleave {
        return ssd.flash.paused(die).map(|_| die);
    }
    ssd.dies_of_chip_of(die).find(|&die| ssd.flash.paused(die).is_some())
}

/// Begins a read for which the paused or suspended operation of the die makes way, or continues that. Returns true if something has
/// begun.
pub(in crate::ssd) fn during_pause(ssd: &mut Ssd, now: Ns, die: DieId, granted: bool) -> bool {
    let owner = ssd.flash.paused(die).expect("the caller has looked");
    let read = match owner {
        Owner::Host(first) if ssd.flash.is_pausing(die) => read_with_slack(ssd, now, die, first),
        Owner::Host(_) | Owner::Gc(_) => read_to_serve(ssd, now, die, owner),
    };
    if let Some(read) = read {
        let on = ssd.geometry().die_of_pool(read.pool);
        let can = ssd.flash.can_start(on, OpKind::Read, true) && (!ssd.flash.needs_bus(OpKind::Read) || ssd.has_bus(now, on, granted));
        let starts = can && power::granted(ssd, on, OpKind::Read);
        if starts {
            read_in_pause(ssd, now, on, read, die, owner);
        }
        return starts;
    }
    if !ssd.flash.can_start(die, OpKind::Erase, true) || !power::may_end_pause(ssd, die) {
        return false;
    }
    ssd.flash.end_pause(now, die, &mut ssd.events);
    if let Owner::Host(first) = owner {
        ssd.each_page(first, |transaction| transaction.waited(Blocked::Paused, now));
    }
    true
}

/// Begins a read on a die while an operation is paused or suspended on `aside`, the same die or one that excludes it.
fn read_in_pause(ssd: &mut Ssd, now: Ns, die: DieId, read: HostCandidate, aside: DieId, paused: Owner) {
    ssd.start_host(now, die, read, OpKind::Read);
    match paused {
        Owner::Host(program) if ssd.flash.is_pausing(aside) => takes_slack(ssd, read.id, program),
        Owner::Host(_) | Owner::Gc(_) => {
            let pages = ssd.pages_of(read.id).count() as u64;
            ssd.probes.count().reads_while_suspended += pages;
        }
    }
}

/// Takes slack for a read that has begun while a program is paused: its time from the program's pages, nothing from the read.
fn takes_slack(ssd: &mut Ssd, read: TxnId, program: TxnId) {
    let latency = expected_read(ssd, read);
    let mut page = Some(program);
    while let Some(id) = page {
        take_slack(ssd, id, latency);
        page = ssd.transactions[id].next;
    }
    let mut page = Some(read);
    while let Some(id) = page {
        // The read of a partial write belongs to a write request.
        if ssd.transactions[id].kind == TransactionKind::Read {
            take_slack(ssd, id, 0);
        }
        ssd.probes.count().pause_reads += 1;
        page = ssd.transactions[id].next;
    }
}

/// Notes that a page takes part in a pause, which takes `ns` of its slack.
fn take_slack(ssd: &mut Ssd, id: TxnId, ns: Ns) {
    let slack = ssd.sched.slack_mut().expect("pauses need slack");
    slack.note_pause(id);
    slack.take(id, ns);
}

/// The candidate is a read that begins on the die, not by merging with a move.
fn is_read(candidate: &HostCandidate) -> bool {
    candidate.kind == QueueKind::Read && !candidate.by_move
}
