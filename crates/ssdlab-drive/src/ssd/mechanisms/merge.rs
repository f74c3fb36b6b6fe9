//! Host operations merge with page moves (lee2013 III-B, Fig. 5, and Table III).
//!
//! A read merges with a move whose transfer out has not begun, and ends with that transfer; later it can be answered from the register. A
//! write merges with a move whose transfer in has not begun, and replaces its data. With several moves in flight the page may be in the
//! controller's buffer. With superblocks of several pools the page may be read on one die and programmed on another: a host operation merges with
//! whichever has it.

use crate::flash::{OpKind, Phase};
use crate::gc::Move;
use crate::rules::BurstRule;
use crate::sched::{QueueKind, Transaction, TransactionKind, page_order};
use crate::ssd::Ssd;
use crate::ssd::mechanisms::{advance, pace};
use crate::ssd::watch::probes::Event;
use crate::ssd::watch::{timeline, waits};
use ssdlab_base::blocked::Served;
use ssdlab_base::units::{DieId, Lpn, Ns, PoolId, Ppn, SlotId, TxnId};

/// Bursts remain exact: an operation that may merge with one of the moves interrupts them.
pub(in crate::ssd) const BURSTS: BurstRule = BurstRule { keys: &["gc.merge"], exact: |_| true };

/// Pages that registers or the controller's buffer hold for reads.
#[derive(Clone, Debug)]
pub(in crate::ssd) struct Merging {
    /// MergeWith die: the page whose move ended last, and when, ns. At that instant it is still in the register.
    just_moved: Vec<Option<(Lpn, Ns)>>,
    /// Reads of this instant that found their page in the controller's buffer.
    answered: Vec<TxnId>,
}

impl Merging {
    pub(in crate::ssd) fn new(dies: u32) -> Self {
        Merging { just_moved: vec![None; dies as usize], answered: Vec::new() }
    }

    /// Notes that the move of a page has ended on the die.
    pub(in crate::ssd) fn moved(&mut self, now: Ns, die: DieId, lpn: Lpn) {
        self.just_moved[die.index()] = Some((lpn, now));
    }

    /// Some reads of this instant found their page in the controller's buffer.
    #[inline(always)]
    pub(in crate::ssd) fn any_answered(&self) -> bool {
        !self.answered.is_empty()
    }

    /// A read of this instant found its page in the controller's buffer.
    pub(in crate::ssd) fn is_answered(&self, id: TxnId) -> bool {
        self.answered.contains(&id)
    }
}

/// How a host operation merges with a move.
#[derive(Clone, Copy, Debug)]
enum MergeWith {
    /// The page is in the controller's buffer.
    Buffer,
    /// The page is in the controller's buffer, and its program by the job of this pool is in service.
    Program(PoolId),
    /// The operation of the move, by the job of this pool, is in this slot.
    Slot(PoolId, SlotId),
}

/// The pool in which the page of the operation lies. A write under dynamic allocation has no pool before it begins.
#[inline(always)]
fn pool_of_page(ssd: &Ssd, id: TxnId) -> Option<PoolId> {
    let Transaction { lpn, pool, .. } = ssd.transactions[id];
    if ssd.rules.gc.spreads { ssd.ftl.lookup(lpn).map(|ppn| ssd.geometry().pool_of_page(ppn)) } else { Some(pool) }
}

/// Merges a host operation, about to wait in its pool's queue, with a move of its page. Returns false if it cannot.
pub(in crate::ssd) fn try_merge(ssd: &mut Ssd, now: Ns, id: TxnId) -> bool {
    let by = may_merge(ssd, now, id);
    if let Some(by) = by {
        merge(ssd, now, id, by);
    }
    by.is_some()
}

/// How the operation could merge with a move, if it can.
fn may_merge(ssd: &Ssd, now: Ns, id: TxnId) -> Option<MergeWith> {
    let (pool, lpn) = (pool_of_page(ssd, id)?, ssd.transactions[id].lpn);
    let write = ssd.transactions[id].kind == TransactionKind::Write;
    let job = ssd.gc.job(pool)?;
    let several = ssd.rules.gc.several_moves();
    // With dynamic allocation the place of a write is not known before it begins, but superblocks have turns for writes and moves alike. A
    // paused job may never program the buffer.
    let never = ssd.rules.dynamic && !ssd.rules.gc.spreads || several && job.is_paused();
    if ssd.gc.states.stops(pool, QueueKind::Read) || write && never {
        return None;
    }
    // A page that was written or trimmed since is not what the move holds.
    let place = ssd.ftl.lookup(lpn)?;
    if let Some(moved) = ssd.gc.jobs.buffered(pool, lpn) {
        return (moved.from == place).then_some(MergeWith::Buffer);
    }
    let mover = ssd.gc.jobs.mover(pool, lpn)?;
    let moved = ssd.gc.jobs.moving_page(mover, lpn).filter(|moved| (moved.from, moved.writer) == (place, None))?;
    if !write && several && moved.to.is_some() {
        // The buffer holds the page until its program has ended.
        return Some(MergeWith::Program(mover));
    }
    let at = ssd.flash.slot_of_gc(ssd.geometry().die_of_pool(mover), mover)?;
    let phase = ssd.flash.phase(at, now);
    let from_array = matches!(ssd.flash.op(at).kind, OpKind::Move | OpKind::Read);
    let before_out = matches!(phase, Phase::Command | Phase::Read(_) | Phase::BeforeOut);
    let merges = if write { takes_writer(ssd, phase, now) } else { from_array && before_out };
    merges.then_some(MergeWith::Slot(mover, at))
}

/// A move in this phase can still take a host write. If its read can be suspended, a write during the read makes the move unnecessary
/// instead.
fn takes_writer(ssd: &Ssd, phase: Phase, now: Ns) -> bool {
    match phase {
        Phase::Command | Phase::Read(_) => !ssd.rules.gc.suspends.read,
        Phase::BeforeOut | Phase::Out | Phase::BeforeIn => true,
        Phase::In(since) => since == now,
        Phase::BeforeProgram | Phase::Program(_) | Phase::Erase(_) | Phase::Closed => false,
    }
}

fn merge(ssd: &mut Ssd, now: Ns, id: TxnId, by: MergeWith) {
    let pool = pool_of_page(ssd, id).expect("it lies where the job moves it");
    let (lpn, kind) = (ssd.transactions[id].lpn, ssd.transactions[id].kind);
    let moved = match by {
        MergeWith::Buffer => ssd.gc.jobs.buffered_mut(pool, lpn).expect("it is in the buffer"),
        MergeWith::Program(mover) => ssd.gc.jobs.moving_page_mut(mover, lpn),
        MergeWith::Slot(mover, at) => {
            timeline::merged(ssd, now, at, id);
            ssd.flash.merge(at);
            ssd.gc.jobs.moving_page_mut(mover, lpn)
        }
    };
    let (from, to) = (moved.from, moved.to);
    if kind == TransactionKind::Write {
        moved.writer = Some(id);
        write_merged(ssd, now, to, id);
        if ssd.rules.gc.spreads {
            leave_turn(ssd, id);
        }
        if matches!(by, MergeWith::Buffer) {
            // The write waits from now on for what holds the die, although it is in no queue of the die.
            ssd.ready.wake(ssd.geometry().die_of_pool(pool));
            advance::buffer_changed(ssd, pool);
        }
    } else {
        match by {
            MergeWith::Buffer | MergeWith::Program(_) => ssd.merging.answered.push(id),
            MergeWith::Slot(..) => ssd.transactions[id].next = moved.readers.replace(id),
        }
        ssd.probes.note(now, &ssd.ftl, Event::MergedRead(lpn, Some(from)));
    }
    if kind != TransactionKind::ReadForWrite {
        ssd.sched.release(ssd.transactions[id].chip, kind.queue());
        ssd.host.place_freed();
    }
}

fn write_merged(ssd: &mut Ssd, now: Ns, to: Option<Ppn>, id: TxnId) {
    // As if the write had begun: it is counted out when its program ends.
    pace::write_begins(ssd, ssd.transactions[id].lpn);
    if let Some(to) = to {
        let pool = ssd.geometry().pool_of_page(to);
        ssd.write_begins(pool);
        pace::pages_taken(ssd, pool, 1);
    }
    ssd.probes.note(now, &ssd.ftl, Event::MergedWrite(to, ssd.transactions[id].version));
}

/// A write that had its turn on a die of superblocks needs none, since it goes with the move of its page.
fn leave_turn(ssd: &mut Ssd, id: TxnId) {
    let Transaction { station, class, .. } = ssd.transactions[id];
    ssd.sched.placement_mut().expect("superblocks are filled in turn").write_leaves(station, class);
    // The next write may be of a class for which the die has room.
    let die = ssd.first_die(station);
    ssd.ready.wake(die);
}

/// Merges host operations that wait in queues with the pool's move of their page, if they can. Call when it, or its transfer in,
/// begins.
pub(in crate::ssd) fn merge_waiting(ssd: &mut Ssd, now: Ns, pool: PoolId) {
    if !ssd.rules.gc.merge {
        return;
    }
    if ssd.rules.gc.gathers() {
        for unit in 0..ssd.gc.units(pool).len() {
            let Move { lpn, from, .. } = ssd.gc.units(pool)[unit];
            merge_waiting_for(ssd, now, ssd.geometry().pool_of_page(from), lpn);
        }
    } else if let Some(moved) = ssd.gc.moving(pool) {
        merge_waiting_for(ssd, now, pool, moved.lpn);
    }
}

/// Merges host operations that wait in queues with the move of this page, which lies in the pool, if they can.
pub(in crate::ssd) fn merge_waiting_for(ssd: &mut Ssd, now: Ns, pool: PoolId, lpn: Lpn) {
    let mut next = page_order::ends(&ssd.ftl, lpn).map(|ends| ends.oldest);
    while let Some(id) = next.filter(|&id| ssd.transactions[id].active) {
        if ssd.transactions[id].queued
            && pool_of_page(ssd, id) == Some(pool)
            && let Some(by) = may_merge(ssd, now, id)
        {
            let die = ssd.geometry().die_of_pool(pool);
            ssd.sched.remove(&mut ssd.transactions, die, id);
            merge(ssd, now, id, by);
        }
        next = page_order::next(&ssd.transactions, id);
    }
}

/// The transfer out of a move begins: the reads that merged with it have waited for GC until now.
pub(in crate::ssd) fn readers_wait_no_more(ssd: &mut Ssd, now: Ns, mut readers: Option<TxnId>) {
    while let Some(id) = readers {
        waits::stop_waiting(ssd, now, id);
        readers = ssd.transactions[id].next;
    }
}

/// The transfer out of a move has ended: the reads that merged with it are done.
pub(in crate::ssd) fn readers_served(ssd: &mut Ssd, now: Ns, mut readers: Option<TxnId>) {
    while let Some(id) = readers {
        readers = ssd.transactions[id].next;
        ssd.transactions[id].served(Served::Transfer, now);
        ssd.host_page_read(now, id);
    }
}

/// Ends the reads that found their page in the controller's buffer.
pub(in crate::ssd) fn answer_buffered(ssd: &mut Ssd, now: Ns) {
    while let Some(id) = ssd.merging.answered.pop() {
        waits::stop_waiting(ssd, now, id);
        ssd.host_page_read(now, id);
    }
}

/// A waiting read of a page that a move on this die holds in its register, too late to merge with the transfer out: its pool, and the
/// read.
pub(in crate::ssd) fn register_reader(ssd: &Ssd, die: DieId) -> Option<(PoolId, TxnId)> {
    ssd.geometry().pools_of_die(die).map(PoolId).find_map(|pool| {
        let moved = ssd.gc.moving(pool).filter(|moved| ssd.ftl.lookup(moved.lpn) == Some(moved.from))?;
        let mut waiting = page_order::chain(&ssd.ftl, &ssd.transactions, moved.lpn);
        // The first operation that waits in a queue, or is not active yet.
        let id = waiting.find(|&id| !ssd.transactions[id].active || ssd.transactions[id].queued)?;
        let transaction = &ssd.transactions[id];
        let found = !ssd.rules.gc.several_moves() && transaction.active && transaction.kind != TransactionKind::Write;
        (found && !ssd.gc.states.stops(pool, QueueKind::Read)).then_some((pool, id))
    })
}

/// The move is that of the transaction's page, with its current data.
pub(in crate::ssd) fn moves_page_of(ssd: &Ssd, moved: &Move, id: TxnId) -> bool {
    let lpn = ssd.transactions[id].lpn;
    moved.lpn == lpn && ssd.ftl.lookup(lpn) == Some(moved.from)
}

/// The kind of the flash operation that serves a host operation of this kind, which begins on a die.
#[inline(always)]
pub(in crate::ssd) fn kind_of(ssd: &Ssd, now: Ns, die: DieId, id: TxnId, kind: OpKind) -> OpKind {
    let in_register = kind == OpKind::Read && ssd.rules.gc.merge && ssd.flash.idle(die) && is_left_in_register(ssd, now, die, id);
    if in_register { OpKind::RegisterRead } else { kind }
}

/// The page of a read is still in a register of its die: of a move that was suspended, or whose program ends at this instant.
fn is_left_in_register(ssd: &Ssd, now: Ns, die: DieId, id: TxnId) -> bool {
    ssd.merging.just_moved[die.index()] == Some((ssd.transactions[id].lpn, now)) || is_in_suspended_register(ssd, die, id)
}

fn is_in_suspended_register(ssd: &Ssd, die: DieId, id: TxnId) -> bool {
    let Some((pool, phase)) = ssd.flash.suspended(die) else { return false };
    matches!(phase, Phase::BeforeOut | Phase::BeforeIn | Phase::BeforeProgram | Phase::Program(_)) && ssd.is_being_moved(pool, id)
}
