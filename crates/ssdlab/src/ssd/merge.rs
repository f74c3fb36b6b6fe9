//! Host operations merge with page moves (lee2013 III-B, Fig. 5, and Table III).
//!
//! A read merges with a move whose transfer out has not begun, and ends with that transfer; later it can be answered from the register. A
//! write merges with a move whose transfer in has not begun, and replaces its data. With several moves in flight the page may be in the
//! controller's buffer.

use super::Ssd;
use super::probes::Event;
use crate::blocked::Served;
use crate::flash::{OpKind, Phase};
use crate::gc::Move;
use crate::sched::{QueueKind, TransactionKind, page_order};
use crate::units::{DieId, Lpn, Ns, PoolId, Ppn, SlotId, TxnId};

/// Pages that registers or the controller's buffer hold for reads.
#[derive(Clone, Debug)]
pub(super) struct Merging {
    /// By die: the page whose move ended last, and when, ns. At that instant it is still in the register.
    just_moved: Vec<Option<(Lpn, Ns)>>,
    /// Reads of this instant that found their page in the controller's buffer.
    answered: Vec<TxnId>,
}

impl Merging {
    pub(super) fn new(dies: u32) -> Self {
        Merging { just_moved: vec![None; dies as usize], answered: Vec::new() }
    }

    /// Notes that the move of a page has ended on the die.
    pub(super) fn moved(&mut self, now: Ns, die: DieId, lpn: Lpn) {
        self.just_moved[die.index()] = Some((lpn, now));
    }

    /// Some reads of this instant found their page in the controller's buffer.
    #[inline(always)]
    pub(super) fn any_answered(&self) -> bool {
        !self.answered.is_empty()
    }

    /// A read of this instant found its page in the controller's buffer.
    pub(super) fn is_answered(&self, id: TxnId) -> bool {
        self.answered.contains(&id)
    }
}

/// How a host operation merges with a move.
#[derive(Clone, Copy, Debug)]
enum By {
    /// The page is in the controller's buffer.
    Buffer,
    /// The page is in the controller's buffer, and its program is in service.
    Program,
    /// The operation of the move is in this slot.
    Slot(SlotId),
}

impl Ssd {
    /// Merges a host operation, about to wait in its pool's queue, with a move of its page. Returns false if it cannot.
    pub(super) fn try_merge(&mut self, now: Ns, id: TxnId) -> bool {
        let by = self.may_merge(now, id);
        if let Some(by) = by {
            self.merge(now, id, by);
        }
        by.is_some()
    }

    /// How the operation could merge with a move, if it can.
    fn may_merge(&self, now: Ns, id: TxnId) -> Option<By> {
        let (pool, lpn) = (self.transactions[id].pool, self.transactions[id].lpn);
        let write = self.transactions[id].kind == TransactionKind::Write;
        let job = self.gc.job(pool)?;
        let several = self.rules.gc.several_moves();
        // With dynamic allocation the place of a write is not known before it begins. A paused job may never program the buffer.
        let never = self.rules.dynamic || several && job.is_paused();
        if self.gc.stops(pool, QueueKind::Read) || write && never {
            return None;
        }
        // A page that was written or trimmed since is not what the move holds.
        let place = self.ftl.lookup(lpn)?;
        if let Some(moved) = self.gc.buffered(pool, lpn) {
            return (moved.from == place).then_some(By::Buffer);
        }
        let moved = self.gc.moving_page(pool, lpn).filter(|moved| (moved.from, moved.writer) == (place, None))?;
        if !write && several && moved.to.is_some() {
            // The buffer holds the page until its program has ended.
            return Some(By::Program);
        }
        let at = self.flash.slot_of_gc(self.geometry().die_of_pool(pool), pool)?;
        let phase = self.flash.phase(at, now);
        let from_array = matches!(self.flash.op(at).kind, OpKind::Move | OpKind::Read);
        let before_out = matches!(phase, Phase::Command | Phase::Read(_) | Phase::BeforeOut);
        let merges = if write { self.takes_writer(phase, now) } else { from_array && before_out };
        merges.then_some(By::Slot(at))
    }

    /// A move in this phase can still take a host write. If its read can be suspended, a write during the read makes the move unnecessary
    /// instead.
    fn takes_writer(&self, phase: Phase, now: Ns) -> bool {
        match phase {
            Phase::Command | Phase::Read(_) => !self.rules.gc.suspends.read,
            Phase::BeforeOut | Phase::Out | Phase::BeforeIn => true,
            Phase::In(since) => since == now,
            Phase::BeforeProgram | Phase::Program(_) | Phase::Erase(_) | Phase::Closed => false,
        }
    }

    fn merge(&mut self, now: Ns, id: TxnId, by: By) {
        let (pool, lpn, kind) = (self.transactions[id].pool, self.transactions[id].lpn, self.transactions[id].kind);
        let moved = match by {
            By::Buffer => self.gc.buffered_mut(pool, lpn).expect("it is in the buffer"),
            By::Program => self.gc.moving_page_mut(pool, lpn),
            By::Slot(at) => {
                self.note_merge(now, at, id);
                self.flash.merge(at);
                self.gc.moving_page_mut(pool, lpn)
            }
        };
        let (from, to) = (moved.from, moved.to);
        if kind == TransactionKind::Write {
            moved.writer = Some(id);
            self.write_merged(now, pool, to, id);
            if matches!(by, By::Buffer) {
                // The write waits from now on for what holds the die, although it is in no queue of the die.
                self.ready.wake(self.geometry().die_of_pool(pool));
            }
        } else {
            match by {
                By::Buffer | By::Program => self.merging.answered.push(id),
                By::Slot(_) => self.transactions[id].next = moved.readers.replace(id),
            }
            self.probes.note(now, &self.ftl, Event::MergedRead(lpn, Some(from)));
        }
        if kind != TransactionKind::ReadForWrite {
            self.sched.release(self.transactions[id].chip, kind.queue());
            self.host.place_freed();
        }
    }

    fn write_merged(&mut self, now: Ns, pool: PoolId, to: Option<Ppn>, id: TxnId) {
        // As if the write had begun: it is counted out when its program ends.
        self.paced_write_begins(self.transactions[id].lpn);
        self.write_begins(pool);
        self.note_taken(pool, u32::from(to.is_some()));
        self.probes.note(now, &self.ftl, Event::MergedWrite(to, self.transactions[id].version));
    }

    /// Merges host operations that wait in queues with the pool's move of their page, if they can. Call when it, or its transfer in,
    /// begins.
    pub(super) fn merge_waiting(&mut self, now: Ns, pool: PoolId) {
        if !self.rules.gc.merge {
            return;
        }
        if self.rules.gc.gathers() {
            for unit in 0..self.gc.units(pool).len() {
                self.merge_waiting_for(now, pool, self.gc.units(pool)[unit].lpn);
            }
        } else if let Some(moved) = self.gc.moving(pool) {
            self.merge_waiting_for(now, pool, moved.lpn);
        }
    }

    /// Merges host operations that wait in queues with the pool's move of this page, if they can.
    pub(super) fn merge_waiting_for(&mut self, now: Ns, pool: PoolId, lpn: Lpn) {
        let mut next = page_order::ends(&self.ftl, lpn).map(|ends| ends.oldest);
        while let Some(id) = next.filter(|&id| self.transactions[id].active) {
            if self.transactions[id].queued
                && self.transactions[id].pool == pool
                && let Some(by) = self.may_merge(now, id)
            {
                let die = self.geometry().die_of_pool(pool);
                self.sched.remove(&mut self.transactions, die, id);
                self.merge(now, id, by);
            }
            next = page_order::next(&self.transactions, id);
        }
    }

    /// The transfer out of a move begins: the reads that merged with it have waited for GC until now.
    pub(super) fn readers_wait_no_more(&mut self, now: Ns, mut readers: Option<TxnId>) {
        while let Some(id) = readers {
            self.stop_waiting(now, id);
            readers = self.transactions[id].next;
        }
    }

    /// The transfer out of a move has ended: the reads that merged with it are done.
    pub(super) fn readers_served(&mut self, now: Ns, mut readers: Option<TxnId>) {
        while let Some(id) = readers {
            readers = self.transactions[id].next;
            self.transactions[id].served(Served::Transfer, now);
            self.host_page_read(now, id);
        }
    }

    /// Ends the reads that found their page in the controller's buffer.
    pub(super) fn answer_buffered(&mut self, now: Ns) {
        while let Some(id) = self.merging.answered.pop() {
            self.stop_waiting(now, id);
            self.host_page_read(now, id);
        }
    }

    /// A waiting read of a page that a move on this die holds in its register, too late to merge with the transfer out: its pool, and the
    /// read.
    pub(super) fn register_reader(&self, die: DieId) -> Option<(PoolId, TxnId)> {
        self.geometry().pools_of_die(die).map(PoolId).find_map(|pool| {
            let moved = self.gc.moving(pool).filter(|moved| self.ftl.lookup(moved.lpn) == Some(moved.from))?;
            let mut waiting = page_order::chain(&self.ftl, &self.transactions, moved.lpn);
            // The first operation that waits in a queue, or is not active yet.
            let id = waiting.find(|&id| !self.transactions[id].active || self.transactions[id].queued)?;
            let transaction = &self.transactions[id];
            let found = !self.rules.gc.several_moves() && transaction.active && transaction.kind != TransactionKind::Write;
            (found && !self.gc.stops(pool, QueueKind::Read)).then_some((pool, id))
        })
    }

    /// The move is that of the transaction's page, with its current data.
    pub(super) fn moves_page_of(&self, moved: &Move, id: TxnId) -> bool {
        let lpn = self.transactions[id].lpn;
        moved.lpn == lpn && self.ftl.lookup(lpn) == Some(moved.from)
    }

    /// The page of a read is still in a register of its die: of a move that was suspended, or whose program ends at this instant.
    pub(super) fn is_left_in_register(&self, now: Ns, die: DieId, id: TxnId) -> bool {
        self.merging.just_moved[die.index()] == Some((self.transactions[id].lpn, now)) || self.is_in_suspended_register(die, id)
    }

    fn is_in_suspended_register(&self, die: DieId, id: TxnId) -> bool {
        let Some((pool, phase)) = self.flash.suspended(die) else { return false };
        matches!(phase, Phase::BeforeOut | Phase::BeforeIn | Phase::BeforeProgram | Phase::Program(_)) && self.is_being_moved(pool, id)
    }
}
