//! Operations begin: they leave their lines, are given pages, and go to the flash.

use super::Ssd;
use super::candidates::Candidate;
use crate::flash::{Op, OpKind};
use crate::gc::{Move, Step};
use crate::sched::{LineKind, NONE, TransactionKind};
use crate::stats::Part;
use crate::units::{ChipId, DieId, Ns, PoolId};

impl Ssd {
    /// Takes a host operation out of its line, with those that can join it on other planes, and starts it.
    pub(super) fn start_host(&mut self, now: Ns, die: DieId, candidate: Candidate, kind: OpKind) {
        let overlaps = !self.flash.idle(die);
        let kind = if kind == OpKind::Read && !overlaps && self.merge && self.is_left_in_register(now, die, candidate.index) {
            OpKind::RegisterRead
        } else {
            kind
        };
        let first = self.take_from_line(now, die, candidate);
        let joins = self.multiplane && kind != OpKind::RegisterRead;
        let pages = 1 + if joins { self.join_planes(now, die, candidate, first) } else { 0 };
        let (mut read_ns, mut write_ns) = (0, 0);
        let mut index = first;
        while index != NONE {
            match kind {
                OpKind::Program => write_ns = self.prepare_program(now, index).max(write_ns),
                OpKind::RegisterRead => self.prepare_register_read(index),
                _ => read_ns = self.prepare_read(index).max(read_ns),
            }
            index = self.transactions[index].next;
        }
        if let Some(slack) = &mut self.sched.slack {
            slack.served(die, candidate.line, pages);
        }
        self.note_host_operation(kind, first);
        let slot = self.flash.start(now, die, Op { kind, host: true, pages, read_ns, write_ns, tag: first }, &mut self.events);
        self.counters.multiplane_ops += u64::from(pages > 1);
        self.counters.overlapped_ops += u64::from(overlaps);
        if self.flash.is_transferring(slot) {
            self.transfer_begun(now, slot);
        }
        self.update_clocks(die, now);
    }

    pub(super) fn prepare_register_read(&mut self, index: u32) {
        self.counters.merged_reads += 1;
        let (lpn, pool) = (self.transactions[index].lpn, self.transactions[index].pool);
        let held = self.gc.job(pool).and_then(|job| job.moving).filter(|moved| moved.lpn == lpn).map(|moved| moved.from);
        let Some(ppn) = held.or_else(|| self.ftl.lookup(lpn)) else { return };
        if let Some(verifier) = &mut self.verifier {
            verifier.read(lpn, ppn);
        }
    }

    pub(super) fn take_from_line(&mut self, now: Ns, die: DieId, candidate: Candidate) -> u32 {
        let Candidate { index, line, pool, .. } = candidate;
        let chip = ChipId(self.transactions[index].chip);
        if line == LineKind::Write && self.sched.is_dynamic() {
            self.sched.remove_on_chip(&mut self.transactions, chip, index);
            self.next_pool[die.index()] = self.next_pool[die.index()].wrapping_add(1);
        } else {
            self.sched.remove(&mut self.transactions, die, self.sched.line(pool, line), index);
        }
        // A partial write keeps its place in the write queue while its page is read.
        if self.transactions[index].kind != TransactionKind::ReadForWrite {
            self.sched.release(chip, line);
            self.host_queue_ready = true;
        }
        self.stop_waiting(now, index);
        self.transactions[index].pool = pool;
        self.transactions[index].next = NONE;
        if line == LineKind::Write && self.states.is_urgent(pool) {
            self.leave_s3(now, pool);
        }
        index
    }

    /// A transaction has waited until now: its wait clocks say for what.
    pub(super) fn stop_waiting(&mut self, now: Ns, index: u32) {
        let shown = self.clocks.read(self.transactions[index].domain, now);
        let transaction = &mut self.transactions[index];
        for (part, (shown, noted)) in [Part::Gc, Part::DieQueue, Part::BusQueue].into_iter().zip(shown.iter().zip(transaction.clock)) {
            transaction.parts.add(part, shown - noted);
        }
        transaction.mark = now;
    }

    /// Adds the first operations of the same kind on the die's other planes to a multi-plane operation. Returns how many.
    pub(super) fn join_planes(&mut self, now: Ns, die: DieId, first: Candidate, head: u32) -> u32 {
        let offset = self.ftl.next_offset(first.pool);
        let limits = self.limits_of_shelf(die);
        let (mut joined, mut last) = (0, head);
        for pool in self.geometry().pools_of_die(die).map(PoolId).filter(|&pool| pool != first.pool) {
            let index = match first.line {
                _ if self.states.is_urgent(pool) => NONE,
                LineKind::Read => self.first_read(pool, limits),
                LineKind::Write if !self.may_write(pool, limits) || self.multiplane_aligned && self.ftl.next_offset(pool) != offset => NONE,
                LineKind::Write if self.sched.is_dynamic() => self.dynamic_partner(die, pool),
                LineKind::Write => self.sched.head(self.sched.line(pool, LineKind::Write)),
            };
            if index == NONE {
                continue;
            }
            let next = self.take_from_line(now, die, Candidate { index, line: first.line, pool, by_move: false });
            self.transactions[last].next = next;
            last = next;
            joined += 1;
        }
        joined
    }

    /// Dynamic allocation: the chip's next write, if this pool has room for it.
    pub(super) fn dynamic_partner(&self, die: DieId, pool: PoolId) -> u32 {
        if self.takes_any_write(pool) { self.sched.head(self.sched.chip_line(self.geometry().chip_of_die(die))) } else { NONE }
    }

    /// A read resolves its mapping when it starts. Returns its array time.
    pub(super) fn prepare_read(&mut self, index: u32) -> Ns {
        self.counters.host_reads += 1;
        let Some(ppn) = self.ftl.lookup(self.transactions[index].lpn) else {
            if let Some(verifier) = &mut self.verifier {
                verifier.read_nothing(self.transactions[index].lpn);
            }
            // `ftl.unmapped_read = flash`: some page of the place where it would lie.
            return self.flash.timing.read(0);
        };
        assert_eq!(self.geometry().pool_of_page(ppn), self.transactions[index].pool, "a page never leaves its pool while it is waited for");
        self.transactions[index].ppn = ppn;
        if let Some(verifier) = &mut self.verifier {
            verifier.read(self.transactions[index].lpn, ppn);
        }
        self.flash.timing.read(self.ftl.geometry().split_page(ppn).1)
    }

    /// A write is given its page when it starts. Returns its array time.
    pub(super) fn prepare_program(&mut self, now: Ns, index: u32) -> Ns {
        let pool = self.transactions[index].pool;
        self.check_hard_threshold(pool, index);
        let allocated = self.ftl.allocate_host(pool);
        self.transactions[index].ppn = allocated.ppn;
        self.writes_under_way[pool.index()] += 1;
        if let Some(verifier) = &mut self.verifier {
            verifier.program(self.ftl.geometry(), allocated.ppn, self.transactions[index].version);
        }
        self.counters.redirected_writes += u64::from(allocated.redirected);
        if allocated.took_block {
            self.block_taken(now, pool);
        }
        self.flash.timing.program(self.ftl.geometry().split_page(allocated.ppn).1)
    }

    fn block_taken(&mut self, now: Ns, pool: PoolId) {
        self.gauges.block_taken(now, self.ftl.blocks().free_count(pool));
        self.look_at_trigger(now, pool);
    }

    /// Starts a step of a pool's job.
    pub(super) fn start_gc(&mut self, now: Ns, die: DieId, pool: PoolId, step: Step) {
        let poll = self.poll_ns;
        let op = |kind, read_ns, write_ns| Op { kind, host: false, pages: 1, read_ns, write_ns, tag: pool.0 };
        let op = match step {
            Step::Erase => op(OpKind::Erase, 0, self.flash.timing.erase_ns + poll),
            Step::Move(moved) => {
                let (kind, moved, write_ns) = self.prepare_move(now, pool, moved);
                self.gc.job_mut(pool).moving = Some(moved);
                op(kind, self.move_read_ns(moved) + poll, write_ns + poll)
            }
            Step::Read(moved) => {
                self.gc.job_mut(pool).moving = Some(moved);
                op(OpKind::Read, self.move_read_ns(moved) + poll, 0)
            }
            Step::Program(moved) => {
                let unneeded = moved.writer == NONE && self.ftl.lookup(moved.lpn) != Some(moved.from);
                self.gc.job_mut(pool).moving = Some(moved);
                if unneeded {
                    self.dirty.insert(die);
                    return self.discard_move(now, pool);
                }
                let write_ns = self.place_move(now, pool);
                op(OpKind::Program, 0, write_ns + poll)
            }
        };
        if matches!(step, Step::Erase) {
            self.gc.job_mut(pool).moving = None;
        }
        self.note_gc_operation(pool, step);
        self.counters.gc_reads += u64::from(op.read_ns > 0);
        self.counters.pipelined_reads += u64::from(op.read_ns > 0 && !self.flash.idle(die));
        self.gc.job_mut(pool).busy = true;
        let slot = self.flash.start(now, die, op, &mut self.events);
        self.join_waiting(now, pool);
        if self.flash.is_transferring(slot) {
            self.transfer_begun(now, slot);
        }
        self.update_clocks(die, now);
    }

    pub(super) fn move_read_ns(&self, moved: Move) -> Ns {
        self.flash.timing.read(self.geometry().split_page(moved.from).1)
    }

    /// How a page is moved, and, unless host operations may come between its read and its program, where to.
    pub(super) fn prepare_move(&mut self, now: Ns, pool: PoolId, moved: Move) -> (OpKind, Move, Ns) {
        if !self.copyback && (self.suspends.read || self.suspends.program) {
            return (OpKind::Move, moved, 0);
        }
        self.gc.job_mut(pool).moving = Some(moved);
        let write_ns = self.place_move(now, pool);
        let moved = self.gc.job(pool).and_then(|job| job.moving).expect("just set");
        let geometry = self.ftl.geometry();
        let plane = |ppn| geometry.plane_of_block(geometry.split_page(ppn).0);
        let copyback = self.copyback && moved.to.map(plane) == Some(plane(moved.from));
        (if copyback { OpKind::CopybackMove } else { OpKind::Move }, moved, write_ns)
    }

    /// Chooses the page to which the pool's move goes. Returns its array time.
    pub(super) fn place_move(&mut self, now: Ns, pool: PoolId) -> Ns {
        let allocated = self.ftl.allocate_move(pool);
        let to = allocated.ppn;
        let job = self.gc.job_mut(pool);
        let moved = job.moving.as_mut().expect("a page is being moved");
        moved.to = Some(to);
        let moved = *moved;
        if let Some(verifier) = &mut self.verifier {
            match moved.writer {
                NONE => verifier.copy(self.ftl.geometry(), moved.from, to),
                writer => verifier.program(self.ftl.geometry(), to, self.transactions[writer].version),
            }
        }
        if allocated.took_block {
            self.block_taken(now, pool);
        }
        self.flash.timing.program(self.ftl.geometry().split_page(to).1)
    }
}
