//! Stages end: transactions, then requests complete.

use super::Ssd;
use crate::flash::{Begun, OpKind, Phase, Progress};
use crate::sched::{NONE, TransactionKind};
use crate::stats::Part;
use crate::units::{ChannelId, ChipId, DieId, Lpn, Ns, PoolId, Ppn};

impl Ssd {
    /// An array phase, or an operation played in one piece, has ended.
    pub(super) fn slot_event(&mut self, now: Ns, slot: u32) {
        let op = *self.flash.op(slot);
        let whole = self.flash.is_whole(slot);
        let (progress, begun) = self.flash.slot_event(now, slot, &mut self.events);
        let die = DieId(slot / 2);
        match progress {
            Progress::ReadEnded => {
                if op.host {
                    self.account_all(op.tag, Part::Array, now);
                }
                // With a cache register another read may use the array now; a page move may stand at a point.
                if self.shares_dies {
                    self.dirty.insert(die);
                }
            }
            Progress::Suspended => self.die_freed(now, die),
            Progress::StepEnded => self.step_ended(now, die, slot),
            Progress::Ended(_) => {
                if !op.host {
                    self.gc_operation_ended(now, die, PoolId(op.tag), op.kind);
                } else if op.kind == OpKind::Read {
                    self.transactions[op.tag].account_split(Part::Array, now - self.flash.timing.transfer_ns, Part::Transfer, now);
                    self.host_page_read(now, op.tag);
                } else {
                    if whole {
                        self.transactions[op.tag].account_split(Part::Transfer, now - op.write_ns, Part::Array, now);
                    } else {
                        self.account_all(op.tag, Part::Array, now);
                    }
                    self.host_pages_programmed(now, op.tag);
                }
                self.die_freed(now, die);
            }
            Progress::TransferEnded(_) => unreachable!("transfers end on the bus"),
        }
        // What could begin only now waited behind the operation that has ended.
        let behind = if op.host { Part::DieQueue } else { Part::Gc };
        self.begun(now, begun, behind);
    }

    /// A transfer has ended.
    pub(super) fn bus_event(&mut self, now: Ns, channel: ChannelId) {
        let (slot, progress, begun) = self.flash.bus_event(now, channel, &mut self.events);
        let op = *self.flash.op(slot);
        let die = DieId(slot / 2);
        self.freed.push(channel);
        match progress {
            Progress::TransferEnded(page) if op.host => {
                // A multi-plane read lets go of its pages one by one, so its first is always the one on the bus.
                let read = op.kind == OpKind::Read;
                let index = if read { op.tag } else { self.nth(op.tag, page) };
                self.transactions[index].account(Part::Transfer, now);
                if read {
                    self.flash.set_tag(slot, self.transactions[index].next);
                    self.host_page_read(now, index);
                }
            }
            Progress::TransferEnded(_) => self.gc_transfer_ended(now, slot, PoolId(op.tag)),
            Progress::Ended(_) if !op.host => {
                self.gc_operation_ended(now, die, PoolId(op.tag), op.kind);
                self.die_freed(now, die);
            }
            Progress::Ended(_) => {
                self.transactions[op.tag].account(Part::Transfer, now);
                self.host_page_read(now, op.tag);
                self.die_freed(now, die);
            }
            Progress::ReadEnded | Progress::Suspended | Progress::StepEnded => unreachable!("all of these happen in the array"),
        }
        self.begun(now, begun, Part::DieQueue);
        if self.shares_dies {
            self.dirty.insert(die);
        }
    }

    /// `behind`: what a program that begins has waited for since its transfer ended.
    pub(super) fn begun(&mut self, now: Ns, begun: Option<Begun>, behind: Part) {
        match begun {
            Some(Begun::Transfer(slot)) => self.transfer_begun(now, slot),
            Some(Begun::Program(slot)) => self.program_begun(now, slot, behind),
            None => {}
        }
    }

    /// A transfer begins: its transaction has waited for the bus until now.
    pub(super) fn transfer_begun(&mut self, now: Ns, slot: u32) {
        let op = *self.flash.op(slot);
        if op.host {
            let page = if op.kind == OpKind::Program { self.flash.transferred(slot) } else { 0 };
            let index = self.nth(op.tag, page);
            self.transactions[index].account(Part::BusQueue, now);
            self.counters.pipelined_writes += u64::from(self.gc_pipeline && self.flash.overlaps_gc_program(slot));
        } else {
            self.gc_transfer_begun(now, slot, PoolId(op.tag));
        }
    }

    /// A transfer of a page move begins: that in needs a page to go to, and is the last moment at which a host write can take its place.
    fn gc_transfer_begun(&mut self, now: Ns, slot: u32, pool: PoolId) {
        let moved = self.gc.job(pool).and_then(|job| job.moving).expect("a page is being moved");
        if self.flash.phase(slot, now) == Phase::Out {
            return self.readers_wait_no_more(now, moved.readers);
        }
        self.join_waiting(now, pool);
        if moved.to.is_none() {
            let ns = self.place_move(now, pool) + self.poll_ns;
            self.flash.set_write_ns(slot, ns);
            self.note_target(slot, pool);
        }
        let writer = self.gc.job(pool).and_then(|job| job.moving).map_or(NONE, |moved| moved.writer);
        if writer != NONE {
            self.stop_waiting(now, writer);
        }
    }

    fn gc_transfer_ended(&mut self, now: Ns, slot: u32, pool: PoolId) {
        let moved = self.gc.job_mut(pool).moving.as_mut().expect("a page is being moved");
        if matches!(self.flash.phase(slot, now), Phase::BeforeIn | Phase::In(_)) {
            let readers = std::mem::replace(&mut moved.readers, NONE);
            if moved.writer == NONE {
                self.flash.leave(slot);
            }
            self.readers_served(now, readers);
        } else if moved.writer != NONE {
            let writer = moved.writer;
            self.transactions[writer].account(Part::Transfer, now);
        }
    }

    /// The array phase of a program begins. Until now its pages waited for each other's transfers, and together for the program ahead.
    fn program_begun(&mut self, now: Ns, slot: u32, behind: Part) {
        let op = *self.flash.op(slot);
        if !op.host {
            return;
        }
        let last_transfer = self.flash.last_transfer_end(slot);
        let mut index = op.tag;
        while index != NONE {
            self.transactions[index].account(Part::BusQueue, last_transfer);
            self.transactions[index].account(behind, now);
            index = self.transactions[index].next;
        }
    }

    /// The `page`-th transaction of an operation.
    fn nth(&self, first: u32, page: u32) -> u32 {
        (0..page).fold(first, |index, _| self.transactions[index].next)
    }

    pub(super) fn account_all(&mut self, first: u32, part: Part, now: Ns) {
        let mut index = first;
        while index != NONE {
            self.transactions[index].account(part, now);
            index = self.transactions[index].next;
        }
    }

    fn die_freed(&mut self, now: Ns, die: DieId) {
        self.update_clocks(die, now);
        // Without interleave this asks for the whole chip.
        self.dirty.insert(die);
        // A job that waits for the running host operations of its scope may have waited for this one.
        if let Some(pool) = self.excluded_by[die.index()] {
            self.dirty.insert(self.geometry().die_of_pool(pool));
        }
    }

    pub(super) fn host_page_read(&mut self, now: Ns, index: u32) {
        if self.transactions[index].kind == TransactionKind::ReadForWrite {
            self.transactions[index].kind = TransactionKind::Write;
            self.note_write_to_come(index, false);
            self.line_up(now, index);
        } else {
            self.finish_transaction(now, index);
        }
    }

    fn host_pages_programmed(&mut self, now: Ns, first: u32) {
        let mut index = first;
        while index != NONE {
            let next = self.transactions[index].next;
            self.host_page_programmed(now, index);
            index = next;
        }
    }

    fn host_page_programmed(&mut self, now: Ns, index: u32) {
        let transaction = &self.transactions[index];
        let (lpn, ppn, version, pool) = (transaction.lpn, transaction.ppn, transaction.version, transaction.pool);
        let old = self.ftl.commit_write(pool, lpn, ppn);
        self.counters.host_programs += 1;
        self.writes_under_way[pool.index()] -= 1;
        if let Some(verifier) = &mut self.verifier {
            verifier.written(lpn, version);
        }
        if self.sched.is_dynamic() {
            self.room_appeared(old);
        }
        self.look_for_gain(now, pool, old);
        self.finish_transaction(now, index);
    }

    /// Dynamic allocation: a page at `old` became invalid, so that its pool may have room for a write that waits.
    pub(super) fn room_appeared(&mut self, old: Option<Ppn>) {
        self.host_queue_ready = true;
        if let Some(old) = old {
            let geometry = self.ftl.geometry();
            self.dirty.insert(geometry.die_of_pool(geometry.pool_of_page(old)));
        }
    }

    /// A program ended in `pool`, and the page at `old` became invalid: a pool that stopped collecting for want of gain may go on.
    fn look_for_gain(&mut self, now: Ns, pool: PoolId, old: Option<Ppn>) {
        if !self.gc.any_stalled() {
            return;
        }
        let old_pool = old.map(|ppn| self.geometry().pool_of_page(ppn));
        for pool in std::iter::once(pool).chain(old_pool) {
            let next = self.gc.gain_appeared(&self.ftl, pool);
            self.note_state(now, pool);
            self.start_jobs(now, next);
        }
    }

    /// A transaction is done: the next on its page may go, and its request may be complete.
    pub(super) fn finish_transaction(&mut self, now: Ns, mut index: u32) {
        loop {
            let transaction = self.transactions[index];
            let front = self.unchain(transaction.lpn, index);
            if transaction.kind != TransactionKind::Trim {
                self.note_page_end(now, index);
                self.sched.finished(ChipId(transaction.chip));
                // Dynamic allocation: this may now be the chip with the fewest operations, with a place for a write that waits.
                self.host_queue_ready |= self.sched.is_dynamic();
            }
            self.transactions.remove(index);
            self.page_done(now, transaction.request, Some((transaction.lpn, transaction.parts)));
            self.activate_front(now, transaction.lpn, front);
            // A trim is done as soon as it is active. There may be any number of them on one page, hence no recursion.
            if front == NONE || self.transactions[front].kind != TransactionKind::Trim {
                return;
            }
            index = front;
        }
    }

    /// Takes a transaction out of its page's chain. Returns the one that has come to the front because of it, or [`NONE`].
    fn unchain(&mut self, lpn: Lpn, index: u32) -> u32 {
        let chain = self.ftl.chain(lpn);
        let (oldest, youngest) = chain.expect("a page with a transaction has a chain");
        let next = self.transactions[index].next_on_page;
        if oldest == index {
            self.ftl.set_chain(lpn, chain, (next != NONE).then_some((next, youngest)));
            return next;
        }
        // Reads of one page may end in another order than they came.
        let mut before = oldest;
        while self.transactions[before].next_on_page != index {
            before = self.transactions[before].next_on_page;
        }
        self.transactions[before].next_on_page = next;
        if youngest == index {
            self.ftl.set_chain(lpn, chain, Some((oldest, before)));
        }
        NONE
    }

    /// Activates what has come to the front of a page's chain: an operation, or all reads up to the next that is none.
    fn activate_front(&mut self, now: Ns, lpn: Lpn, front: u32) {
        if front == NONE || self.transactions[front].active {
            return;
        }
        if self.transactions[front].kind != TransactionKind::Read {
            let write = self.transactions[front].kind == TransactionKind::Write;
            self.activate(now, front);
            // Unless it has its page to read first.
            if write && self.transactions[front].kind == TransactionKind::Write {
                self.note_write_to_come(front, false);
            }
            return;
        }
        let mut index = front;
        while index != NONE && self.transactions[index].kind == TransactionKind::Read {
            assert_eq!(self.transactions[index].lpn, lpn);
            let next = self.transactions[index].next_on_page;
            self.activate(now, index);
            index = next;
        }
    }

    fn gc_operation_ended(&mut self, now: Ns, die: DieId, pool: PoolId, kind: OpKind) {
        match kind {
            OpKind::Erase => self.victim_erased(now, pool),
            OpKind::Read => self.page_buffered(now, pool),
            _ => self.page_moved(now, pool, kind),
        }
        self.dirty.insert(die);
    }

    /// The page of a move is in the controller's buffer.
    fn page_buffered(&mut self, now: Ns, pool: PoolId) {
        let serial = self.next_serial();
        let moved = self.gc.job_mut(pool).moving.as_mut().expect("a page was read");
        let (readers, lpn) = (std::mem::replace(&mut moved.readers, NONE), moved.lpn);
        self.gc.read_ended(&self.ftl, pool, (now, serial));
        self.readers_served(now, readers);
        if self.merge {
            self.join_waiting_for(now, pool, lpn);
        }
    }

    /// The program of a page move has ended.
    fn page_moved(&mut self, now: Ns, pool: PoolId, kind: OpKind) {
        let moved = self.gc.job(pool).and_then(|job| job.moving).expect("a page was moved");
        let to = moved.to.expect("it was programmed somewhere");
        let serial = self.next_serial();
        self.counters.copybacks += u64::from(kind == OpKind::CopybackMove);
        if moved.writer == NONE {
            let current = self.ftl.commit_move(pool, moved.lpn, moved.from, to);
            if self.merge && current && kind == OpKind::Move {
                let die = self.geometry().die_of_pool(pool);
                self.just_moved[die.index()] = (moved.lpn, now);
            }
            self.counters.pages_moved += 1;
            self.counters.stale_moves += u64::from(!current);
            if let Some(slack) = &mut self.sched.slack {
                slack.moved(self.ftl.geometry().die_of_pool(pool));
            }
            self.gc.move_ended(&self.ftl, pool, (now, serial));
            return;
        }
        let transaction = &mut self.transactions[moved.writer];
        transaction.account(Part::Array, now);
        transaction.ppn = to;
        transaction.pool = pool;
        self.gc.move_ended(&self.ftl, pool, (now, serial));
        self.host_page_programmed(now, moved.writer);
    }

    fn victim_erased(&mut self, now: Ns, pool: PoolId) {
        let victim = self.gc.job(pool).expect("a job had an operation under way").victim;
        if let Some(verifier) = &mut self.verifier {
            verifier.erased(self.ftl.geometry(), victim);
        }
        self.ftl.commit_erase(pool, victim);
        self.gauges.block_freed(now);
        self.counters.erases += 1;
        if let Some(slack) = &mut self.sched.slack {
            slack.erased(self.ftl.geometry().die_of_pool(pool));
        }
        self.job_ended(now, pool);
    }
}
