//! Host operations join page moves (lee2013 III-B, Fig. 5, and Table III).
//!
//! A read joins a move whose transfer out has not begun, and ends with it; later it can be answered from the register. A write joins a move
//! whose transfer in has not begun, whose data it replaces. With several moves in flight the page may be in the controller's buffer.

use super::Ssd;
use crate::flash::{OpKind, Phase};
use crate::gc::Move;
use crate::sched::{LineKind, NONE, TransactionKind};
use crate::stats::Part;
use crate::units::{ChipId, DieId, Lpn, Ns, PoolId, Ppn};

/// How a host operation joins a move.
#[derive(Clone, Copy, Debug)]
enum Joining {
    /// Its page is in the controller's buffer.
    Buffered,
    /// The same, and its program is under way.
    Programming,
    /// The operation of the move in this slot.
    Slot(u32),
}

impl Ssd {
    /// A host operation that is about to wait in its pool's line joins a move of its page, if it can.
    pub(super) fn try_join(&mut self, now: Ns, index: u32) -> bool {
        if !self.merge {
            return false;
        }
        let Some(joining) = self.joining(now, index) else { return false };
        self.join(now, index, joining);
        true
    }

    /// How the operation could join a move, if it can.
    fn joining(&self, now: Ns, index: u32) -> Option<Joining> {
        let (pool, lpn) = (self.transactions[index].pool, self.transactions[index].lpn);
        let write = self.transactions[index].kind == TransactionKind::Write;
        let job = self.gc.job(pool)?;
        // With dynamic allocation the place of a write is not known before it begins. A job that pauses may never program what is in the buffer.
        let never = self.sched.is_dynamic() || self.several_moves && job.paused;
        if self.states.holds_up(pool, LineKind::Read) || write && never {
            return None;
        }
        // A page that was written or trimmed since is not what the move holds.
        let place = self.ftl.lookup(lpn)?;
        if let Some(moved) = self.gc.buffered(pool, lpn) {
            return (moved.from == place).then_some(Joining::Buffered);
        }
        let moved = job.moving.filter(|moved| (moved.lpn, moved.from, moved.writer) == (lpn, place, NONE))?;
        if !write && self.several_moves && moved.to.is_some() {
            // Its program is under way; the buffer has it until that ends.
            return Some(Joining::Programming);
        }
        let slot = self.flash.slot_of_gc(self.geometry().die_of_pool(pool), pool.0)?;
        let phase = self.flash.phase(slot, now);
        let from_array = matches!(self.flash.op(slot).kind, OpKind::Move | OpKind::Read);
        let joins = if write { self.takes_writer(phase, now) } else { from_array && matches!(phase, Phase::Read(_) | Phase::BeforeOut) };
        joins.then_some(Joining::Slot(slot))
    }

    /// A move in this phase could still carry a host write. A write during a read that can be suspended makes the move unnecessary instead.
    fn takes_writer(&self, phase: Phase, now: Ns) -> bool {
        match phase {
            Phase::Read(_) => !self.suspends.read,
            Phase::BeforeOut | Phase::Out | Phase::BeforeIn => true,
            Phase::In(since) => since == now,
            _ => false,
        }
    }

    fn join(&mut self, now: Ns, index: u32, joining: Joining) {
        let pool = self.transactions[index].pool;
        let write = self.transactions[index].kind == TransactionKind::Write;
        let moved = match joining {
            Joining::Buffered => self.gc.buffered_mut(pool, self.transactions[index].lpn).expect("it is in the buffer"),
            Joining::Programming => self.gc.job_mut(pool).moving.as_mut().expect("it is being moved"),
            Joining::Slot(slot) => {
                self.note_join(now, slot, index);
                self.flash.join(slot);
                self.gc.job_mut(pool).moving.as_mut().expect("it is being moved")
            }
        };
        let (from, to) = (moved.from, moved.to);
        if write {
            moved.writer = index;
            self.write_joined(pool, to, index);
        } else {
            match joining {
                Joining::Buffered | Joining::Programming => self.answered.push(index),
                Joining::Slot(_) => self.transactions[index].next = std::mem::replace(&mut moved.readers, index),
            }
            self.counters.merged_reads += 1;
            if let Some(verifier) = &mut self.verifier {
                verifier.read(self.transactions[index].lpn, from);
            }
        }
        if self.transactions[index].kind != TransactionKind::ReadForWrite {
            let line = if write { LineKind::Write } else { LineKind::Read };
            self.sched.release(ChipId(self.transactions[index].chip), line);
            self.host_queue_ready = true;
        }
    }

    fn write_joined(&mut self, pool: PoolId, to: Option<Ppn>, index: u32) {
        self.counters.merged_writes += 1;
        // As if it had begun: it is counted out when its program ends.
        self.writes_under_way[pool.index()] += 1;
        if let (Some(to), Some(verifier)) = (to, &mut self.verifier) {
            verifier.replace(to, self.transactions[index].version);
        }
    }

    /// The move under way begins, or its transfer in: host operations on its page that wait in lines join it if they can.
    pub(super) fn join_waiting(&mut self, now: Ns, pool: PoolId) {
        if self.merge
            && let Some(moved) = self.gc.job(pool).and_then(|job| job.moving)
        {
            self.join_waiting_for(now, pool, moved.lpn);
        }
    }

    /// The same for the page of a move that has just come into the controller's buffer.
    pub(super) fn join_waiting_for(&mut self, now: Ns, pool: PoolId, lpn: Lpn) {
        let mut index = self.ftl.chain(lpn).map_or(NONE, |(oldest, _)| oldest);
        while index != NONE && self.transactions[index].active {
            if self.transactions[index].in_line
                && self.transactions[index].pool == pool
                && let Some(joining) = self.joining(now, index)
            {
                let write = self.transactions[index].kind == TransactionKind::Write;
                let line = self.sched.line(pool, if write { LineKind::Write } else { LineKind::Read });
                let die = self.geometry().die_of_pool(pool);
                self.sched.remove(&mut self.transactions, die, line, index);
                self.join(now, index, joining);
            }
            index = self.transactions[index].next_on_page;
        }
    }

    /// The transfer out of a move begins: until now its reads waited for collection.
    pub(super) fn readers_wait_no_more(&mut self, now: Ns, mut index: u32) {
        while index != NONE {
            self.stop_waiting(now, index);
            index = self.transactions[index].next;
        }
    }

    /// The transfer out of a move has ended: the reads that have joined it are done.
    pub(super) fn readers_served(&mut self, now: Ns, mut index: u32) {
        while index != NONE {
            let next = self.transactions[index].next;
            self.transactions[index].account(Part::Transfer, now);
            self.host_page_read(now, index);
            index = next;
        }
    }

    /// Reads that found their page in the controller's buffer.
    pub(super) fn answer_buffered(&mut self, now: Ns) {
        while let Some(index) = self.answered.pop() {
            self.stop_waiting(now, index);
            self.host_page_read(now, index);
        }
    }

    /// A waiting read of a page that the move on this die holds in its register, past the transfer that it could have shared.
    pub(super) fn register_reader(&self, die: DieId) -> Option<(PoolId, u32)> {
        self.geometry().pools_of_die(die).map(PoolId).find_map(|pool| {
            let moved = self.gc.job(pool)?.moving.filter(|moved| self.ftl.lookup(moved.lpn) == Some(moved.from))?;
            let mut index = self.ftl.chain(moved.lpn)?.0;
            while index != NONE && self.transactions[index].active && !self.transactions[index].in_line {
                index = self.transactions[index].next_on_page;
            }
            let found = !self.several_moves
                && index != NONE
                && self.transactions[index].active
                && self.transactions[index].kind != TransactionKind::Write;
            (found && !self.states.holds_up(pool, LineKind::Read)).then_some((pool, index))
        })
    }

    /// The move holds the page that the transaction wants, as it is now.
    pub(super) fn moves_page_of(&self, moved: Move, index: u32) -> bool {
        let lpn = self.transactions[index].lpn;
        moved.lpn == lpn && self.ftl.lookup(lpn) == Some(moved.from)
    }

    /// The page of a read is still in a register of its die: of a move that was suspended, or whose program ends at this instant.
    pub(super) fn is_left_in_register(&self, now: Ns, die: DieId, index: u32) -> bool {
        self.just_moved[die.index()] == (self.transactions[index].lpn, now) || self.is_in_shelved_register(die, index)
    }

    fn is_in_shelved_register(&self, die: DieId, index: u32) -> bool {
        let Some((tag, phase)) = self.flash.shelved(die) else { return false };
        let moving = self.gc.job(PoolId(tag)).and_then(|job| job.moving);
        matches!(phase, Phase::BeforeOut | Phase::BeforeIn | Phase::BeforeProgram | Phase::Program(_))
            && moving.is_some_and(|moved| self.moves_page_of(moved, index))
    }
}
