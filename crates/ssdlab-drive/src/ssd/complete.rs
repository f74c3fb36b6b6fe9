//! Stages end; then operations, transactions and requests complete.

use super::mechanisms::{
    self, ErasedBlock, burst, carry, estimates, idle, merge, pace, pause, planes, slc, superblock, table, units, wear,
};
use super::watch::probes::Event;
use super::watch::{slowest, timeline, waits};
use super::{Planted, Ssd};
use crate::flash::{Begun, Op, OpKind, Owner, Phase, Progress};
use crate::ftl::Freed;
use crate::gc::Move;
use crate::sched::{Transaction, TransactionKind, linked, page_order};
use ssdlab_base::blocked::{Blocked, Served};
use ssdlab_base::units::{BlockId, ChannelId, DieId, Ns, PoolId, Ppn, ReqId, SlotId, TxnId};

impl Ssd {
    /// Handles the end of an array stage, or of an operation that is one event.
    pub(super) fn array_event(&mut self, now: Ns, at: SlotId) {
        let op = *self.flash.op(at);
        let whole = self.flash.is_whole(at);
        if self.rules.bursts
            && let Some((pool, at)) = self.gc.jobs.burst_on(at.die())
        {
            burst::ended(self, now, pool, at);
        }
        let (progress, begun) = self.flash.slot_event(now, at, &mut self.events);
        let die = at.die();
        match (progress, op.owner) {
            (Progress::ReadEnded, owner) => {
                if let Owner::Host(first) = owner
                    && !self.flash.step_fails(at)
                {
                    self.all_served(now, first, Served::Array);
                }
                // With a cache register another read may use the array now; a page move may have stopped at a preemption point.
                if self.rules.flash.shares_dies {
                    self.ready.wake(die);
                }
            }
            (Progress::StepBegun, owner) => self.step_begun(now, at, owner),
            (Progress::Suspended | Progress::Stopped, _) => self.die_freed(die),
            (Progress::StepEnded, Owner::Host(first)) if self.flash.is_to_pause(at) => pause::step_ended(self, now, die, at, first),
            (Progress::StepEnded, _) => pause::has_run(self, now, die, at),
            (Progress::BetweenPlanes, _) => planes::goes_on(self, now, at),
            (Progress::Ended(_), Owner::Gc(pool)) => {
                self.gc_operation_ended(now, die, pool, op.kind);
                self.die_freed(die);
            }
            (Progress::Ended(_), Owner::Host(first)) => {
                self.host_operation_ended(now, op, first, whole);
                self.die_freed(die);
            }
            (Progress::CommandEnded | Progress::TransferEnded(_) | Progress::StepFailed | Progress::LastTransferEnded, _) => {
                unreachable!("commands and transfers end on the bus")
            }
        }
        // A program that could begin only now has waited behind the operation that has ended.
        let behind = if op.owner.is_host() { Blocked::HostOperation } else { Blocked::GcOperation };
        self.begun(now, begun, behind);
    }

    /// Handles the end of a host operation in the array, or, if it was one event (`whole`), wherever it ends. `first`: its first
    /// transaction.
    fn host_operation_ended(&mut self, now: Ns, op: Op, first: TxnId, whole: bool) {
        match (op.kind, whole) {
            (OpKind::Read, _) => {
                let transferred = now - self.flash.timing().out(&op, 0);
                units::each_unit(self, first, |transaction| transaction.served(Served::Array, transferred));
                units::page_transferred(self, now, first);
            }
            (_, true) => {
                units::each_unit(self, first, |transaction| {
                    transaction.served(Served::Transfer, now - op.write_ns);
                    transaction.served(Served::Array, now);
                });
                self.host_pages_programmed(now, first);
            }
            (_, false) => {
                self.all_served(now, first, Served::Array);
                self.host_pages_programmed(now, first);
            }
        }
    }

    /// Handles the end of a transfer on a channel.
    pub(super) fn bus_event(&mut self, now: Ns, channel: ChannelId) {
        let (at, progress, begun) = self.flash.bus_event(now, channel, &mut self.events);
        let op = *self.flash.op(at);
        let die = at.die();
        self.ready.bus_freed(channel);
        match (progress, op.owner) {
            (Progress::CommandEnded, owner) => {
                self.probes.count().read_commands += u64::from(op.pages);
                if let Owner::Host(first) = owner
                    && !self.flash.step_fails(at)
                {
                    self.all_served(now, first, Served::Transfer);
                }
            }
            // With a read ahead the next step has begun already.
            (Progress::StepFailed, owner) => self.step_begun(now, at, owner),
            (Progress::LastTransferEnded, Owner::Host(first)) => _ = units::page_transferred(self, now, first),
            (Progress::TransferEnded(page), Owner::Host(first)) => self.host_transfer_ended(now, at, op.kind, first, page),
            (Progress::TransferEnded(_), Owner::Gc(pool)) => self.gc_transfer_ended(now, at, pool),
            (Progress::Ended(_), Owner::Gc(pool)) => {
                self.gc_operation_ended(now, die, pool, op.kind);
                self.die_freed(die);
            }
            (Progress::Ended(_), Owner::Host(first)) => {
                units::page_transferred(self, now, first);
                self.die_freed(die);
            }
            (Progress::LastTransferEnded, Owner::Gc(_))
            | (
                Progress::ReadEnded
                | Progress::Suspended
                | Progress::StepEnded
                | Progress::StepBegun
                | Progress::Stopped
                | Progress::BetweenPlanes,
                _,
            ) => {
                unreachable!("all of these happen in the array")
            }
        }
        self.begun(now, begun, Blocked::HostOperation);
        if self.rules.flash.shares_dies {
            self.ready.wake(die);
        }
    }

    /// A step of a read has begun, or goes on: once it is the last, the steps before it have ended.
    fn step_begun(&mut self, now: Ns, at: SlotId, owner: Owner) {
        if let Owner::Host(first) = owner
            && !self.flash.step_fails(at)
        {
            self.all_served(now, first, Served::Retry);
        }
    }

    fn host_transfer_ended(&mut self, now: Ns, at: SlotId, kind: OpKind, first: TxnId, page: u32) {
        if kind != OpKind::Read {
            let id = self.nth_page(first, page);
            return units::each_unit(self, id, |transaction| transaction.served(Served::Transfer, now));
        }
        // A multi-plane read completes its pages one by one, so its first page is always the one on the bus.
        let rest = units::page_transferred(self, now, first);
        self.flash.set_first(at, rest.expect("the last page's transfer ends the operation"));
    }

    /// Handles a transfer or program that began, if any. `behind`: the reason why a program has waited since its transfer ended.
    pub(super) fn begun(&mut self, now: Ns, begun: Option<Begun>, behind: Blocked) {
        match begun {
            Some(Begun::Transfer(at)) => self.transfer_begun(now, at),
            Some(Begun::Program(at)) => self.program_begun(now, at, behind),
            None => {}
        }
    }

    /// Handles the start of a transfer: its transaction has waited for the bus until now.
    pub(super) fn transfer_begun(&mut self, now: Ns, at: SlotId) {
        let op = *self.flash.op(at);
        match op.owner {
            Owner::Host(first) => {
                let page = if op.kind == OpKind::Program { self.flash.transferred(at) } else { 0 };
                if self.flash.step_fails(at) {
                    return;
                }
                let id = self.nth_page(first, page);
                units::each_unit(self, id, |transaction| transaction.waited(Blocked::Bus, now));
                let pipelined = self.rules.flash.gc_pipeline && self.flash.overlaps_gc_program(at);
                self.probes.count().pipelined_writes += u64::from(pipelined);
            }
            Owner::Gc(pool) => self.gc_transfer_begun(now, at, pool),
        }
    }

    /// Handles the start of a transfer of a page move. The transfer in needs a target page, and is the last chance for a host write to
    /// merge.
    fn gc_transfer_begun(&mut self, now: Ns, at: SlotId, pool: PoolId) {
        if self.flash.step_fails(at) {
            // Reads that have merged with it wait for the last step.
            return;
        }
        let moved = self.gc.moving(pool).expect("a page is being moved");
        if self.flash.phase(at, now) == Phase::Out {
            return self.each_merged(pool, |ssd, moved| merge::readers_wait_no_more(ssd, now, moved.readers));
        }
        merge::merge_waiting(self, now, pool);
        if moved.to.is_none() && !wear::is_read_only(self) {
            let current = self.gc.moving(pool).expect("as before");
            let (placed, ns) = self.place_move(now, pool, current);
            *self.gc.jobs.moving_mut(pool) = placed;
            self.flash.set_write_ns(at, ns + self.rules.gc.poll_ns);
            timeline::target_chosen(self, at, pool);
        }
        self.each_merged(pool, |ssd, moved| {
            if let Some(writer) = moved.writer {
                waits::stop_waiting(ssd, now, writer);
            }
        });
    }

    /// Calls `what` with the move in service of a pool's job, or with each of its gathered units, if host operations may have merged with them.
    #[inline(always)]
    fn each_merged(&mut self, pool: PoolId, mut what: impl FnMut(&mut Self, Move)) {
        if !self.rules.gc.merge {
            return;
        }
        if !self.rules.gc.gathers() {
            return what(self, self.gc.moving(pool).expect("a page is being moved"));
        }
        for unit in 0..self.gc.units(pool).len() {
            what(self, self.gc.units(pool)[unit]);
        }
    }

    fn gc_transfer_ended(&mut self, now: Ns, at: SlotId, pool: PoolId) {
        if self.rules.gc.gathers() {
            // This was a transfer of a program; host reads that merged with a read are completed when that has ended.
            return self.each_merged(pool, |ssd, moved| {
                if let Some(writer) = moved.writer {
                    ssd.transactions[writer].served(Served::Transfer, now);
                }
            });
        }
        let moved = self.gc.jobs.moving_mut(pool);
        if matches!(self.flash.phase(at, now), Phase::BeforeIn | Phase::In(_)) {
            let readers = moved.readers.take();
            if moved.writer.is_none() {
                self.flash.unmerge(at);
            }
            merge::readers_served(self, now, readers);
        } else if let Some(writer) = moved.writer {
            self.transactions[writer].served(Served::Transfer, now);
        }
    }

    /// The array stage of a program begins: its pages have waited for each other's transfers, and then for the program ahead (`behind`).
    fn program_begun(&mut self, now: Ns, at: SlotId, behind: Blocked) {
        let Owner::Host(first) = self.flash.op(at).owner else { return };
        let last_transfer = self.flash.last_transfer_end(at);
        self.each_page(first, |transaction| {
            transaction.waited(Blocked::Bus, last_transfer);
            transaction.waited(behind, now);
        });
    }

    /// The first transaction of the page of this number, from 0, of an operation.
    fn nth_page(&self, first: TxnId, page: u32) -> TxnId {
        let mut pages = self.pages_of(first).filter(|&id| !self.transactions[id].same_page);
        pages.nth(page as usize).expect("an operation has as many transactions as pages")
    }

    /// The transactions of an operation, from the first on.
    pub(super) fn pages_of(&self, first: TxnId) -> impl Iterator<Item = TxnId> {
        linked(&self.transactions, Some(first))
    }

    /// Applies `change` to each transaction of an operation.
    pub(super) fn each_page(&mut self, first: TxnId, mut change: impl FnMut(&mut crate::sched::Transaction)) {
        let mut page = Some(first);
        while let Some(id) = page {
            change(&mut self.transactions[id]);
            page = self.transactions[id].next;
        }
    }

    pub(super) fn all_served(&mut self, now: Ns, first: TxnId, by: Served) {
        self.each_page(first, |transaction| transaction.served(by, now));
    }

    #[inline(always)]
    fn die_freed(&mut self, die: DieId) {
        // Where the dies of a chip exclude each other, this die is dispatched for the whole chip.
        self.ready.wake(die);
        // A job that waits for the host operations in service in its scope may have waited for this one.
        if let Some(pool) = self.gc.excludes_die(die) {
            self.group_of(pool).for_each(|part| self.ready.wake(self.ftl.geometry().die_of_pool(part)));
        }
    }

    pub(super) fn host_page_read(&mut self, now: Ns, id: TxnId) {
        if self.transactions[id].kind == TransactionKind::ReadForWrite {
            self.transactions[id].kind = TransactionKind::Write;
            estimates::write_to_come(self, id, false);
            self.enter_queue(now, id);
        } else {
            self.finish_transaction(now, id);
        }
    }

    fn host_pages_programmed(&mut self, now: Ns, first: TxnId) {
        let mut page = Some(first);
        while let Some(id) = page {
            page = self.transactions[id].next;
            if self.wear.is_some() && wear::host_program_failed(self, now, id, &mut page) {
                continue;
            }
            if self.rules.gc.gathers() {
                page = units::programmed(self, now, id);
            } else {
                self.host_page_programmed(now, id);
            }
        }
    }

    fn host_page_programmed(&mut self, now: Ns, id: TxnId) {
        let transaction = &self.transactions[id];
        let (lpn, ppn, version, pool) = (transaction.lpn, transaction.ppn, transaction.version, transaction.pool);
        let old = self.ftl.commit_write(pool, lpn, ppn);
        table::place_changed(self, lpn);
        self.probes.note(now, &self.ftl, Event::Written(lpn, version));
        self.write_ended(now, id, pool, old);
    }

    /// Call when the program of a host write in `pool` has ended, and its page before, at `old`, has become invalid.
    #[inline(always)]
    pub(super) fn write_ended(&mut self, now: Ns, id: TxnId, pool: PoolId, old: Option<Ppn>) {
        if self.rules.dynamic {
            self.sched.placement_mut().expect("writes go by load").write_ends(pool);
            self.room_appeared(old);
            if let Some(old) = old.filter(|_| self.probes.has(Planted::ForgetsOneInvalid)) {
                self.ftl.forget_invalid(old);
            }
        }
        if let Some(old) = old {
            superblock::page_invalid(self, now, old);
        }
        self.look_for_gain(now, pool, old);
        self.finish_transaction(now, id);
    }

    /// Dynamic allocation: call when a page at `old` became invalid, so that its chip may have room for a write that waits.
    pub(super) fn room_appeared(&mut self, old: Option<Ppn>) {
        self.host.place_freed();
        if let Some(old) = old {
            let die = self.geometry().die_of_pool(self.geometry().pool_of_page(old));
            let chip = self.geometry().chip_of_die(die);
            self.sched.placement_mut().expect("writes go by load").page_invalid(chip);
            self.ready.wake(die);
        }
    }

    /// Call when a program ended in `pool` and the page at `old` became invalid: GC that had stopped there for want of a victim may go on.
    #[inline(always)]
    fn look_for_gain(&mut self, now: Ns, pool: PoolId, old: Option<Ppn>) {
        slc::page_invalid(self, now, old);
        if self.gc.any_stalled() {
            self.look_at_stalled(now, pool, old);
        }
    }

    #[cold]
    #[inline(never)]
    fn look_at_stalled(&mut self, now: Ns, pool: PoolId, old: Option<Ppn>) {
        let old_pool = old.map(|ppn| self.geometry().pool_of_page(ppn));
        for pool in std::iter::once(pool).chain(old_pool) {
            self.gain_appeared(now, pool);
        }
    }

    /// Ends a transaction: activates the next on its page, and completes its request if nothing else of it is pending.
    pub(super) fn finish_transaction(&mut self, now: Ns, mut id: TxnId) {
        loop {
            let front = page_order::remove(&mut self.ftl, &mut self.transactions, id);
            let Transaction { kind, chip, request, lpn, .. } = self.transactions[id];
            if kind != TransactionKind::Trim {
                self.sched.finished(chip);
                mechanisms::page_ended(self, now, id);
            }
            slowest::page_ended(self, now, id);
            let completed = self.host.page_done(now, request, Some((lpn, &self.transactions[id].times)));
            self.transactions.remove(id);
            if completed {
                self.request_completed(now, request);
            }
            let Some(front) = front else { return };
            self.activate_front(now, front);
            // A trim is done as soon as it is active. There may be any number of them on one page, hence no recursion.
            if self.transactions[front].kind != TransactionKind::Trim {
                return;
            }
            id = front;
        }
    }

    /// Activates the operation at the front of a page's chain, or, if it is a read, all reads at the front.
    fn activate_front(&mut self, now: Ns, front: TxnId) {
        if self.transactions[front].active {
            return;
        }
        if self.transactions[front].kind != TransactionKind::Read {
            let write = self.transactions[front].kind == TransactionKind::Write;
            self.activate(now, front);
            // A write that has to read its page first is still to come.
            if write && self.transactions[front].kind == TransactionKind::Write {
                estimates::write_to_come(self, front, false);
            }
            return;
        }
        let mut read = Some(front);
        while let Some(id) = read.filter(|&id| self.transactions[id].kind == TransactionKind::Read) {
            read = page_order::next(&self.transactions, id);
            self.activate(now, id);
        }
    }

    /// The admission of a request is done: the request completes if none of its pages is pending.
    pub(super) fn admission_done(&mut self, now: Ns, id: ReqId) {
        if self.host.page_done(now, id, None) {
            self.request_completed(now, id);
        }
    }

    #[inline(always)]
    fn request_completed(&mut self, now: Ns, id: ReqId) {
        estimates::request_ended(self, now, id);
        self.host.remove(id);
        if self.host.outstanding() == 0 {
            idle::all_requests_ended(self, now);
        }
    }

    fn gc_operation_ended(&mut self, now: Ns, die: DieId, pool: PoolId, kind: OpKind) {
        estimates::gc_operation_ends(self, die, pool, kind);
        match kind {
            OpKind::Erase => self.victim_erased(now, pool),
            OpKind::Read => self.page_buffered(now, pool),
            _ => self.page_moved(now, die, pool, kind),
        }
        self.ready.wake(die);
    }

    /// The page of a GC move has been read into the controller's buffer.
    fn page_buffered(&mut self, now: Ns, pool: PoolId) {
        if self.rules.gc.gathers() {
            return units::buffered(self, now, pool);
        }
        let serial = self.next_serial();
        let moved = self.gc.jobs.moving_mut(pool);
        let (readers, lpn) = (moved.readers.take(), moved.lpn);
        self.gc.jobs.read_ended(&self.ftl, pool, (now, serial));
        merge::readers_served(self, now, readers);
        if self.rules.gc.merge {
            merge::merge_waiting_for(self, now, pool, lpn);
        }
    }

    /// Handles the end of the program of a page move.
    fn page_moved(&mut self, now: Ns, die: DieId, pool: PoolId, kind: OpKind) {
        if self.wear.is_some() && wear::move_failed(self, now, pool) {
            return;
        }
        if self.rules.gc.gathers() {
            return units::moved(self, now, pool);
        }
        let moved = self.gc.moving(pool).expect("a page was moved");
        let to = moved.to.expect("it was programmed somewhere");
        let serial = self.next_serial();
        self.probes.count().copybacks += u64::from(kind == OpKind::CopybackMove);
        if let Some(writer) = moved.writer {
            let transaction = &mut self.transactions[writer];
            transaction.served(Served::Array, now);
            transaction.ppn = to;
            transaction.pool = pool;
            self.gc.jobs.move_ended(&self.ftl, pool, (now, serial));
            return self.host_page_programmed(now, writer);
        }
        let current = self.ftl.commit_move(pool, moved.lpn, moved.from, to);
        pace::earn(self, pool, 1);
        if self.rules.gc.merge && current && kind == OpKind::Move {
            self.merging.moved(now, die, moved.lpn);
        }
        table::unit_moved(self, moved.lpn, current);
        let cause = self.gc.job(pool).expect("a page was moved").cause();
        self.probes.note(now, &self.ftl, Event::PageMoved { from: moved.from, cause, current });
        self.gc.jobs.move_ended(&self.ftl, pool, (now, serial));
    }

    fn victim_erased(&mut self, now: Ns, pool: PoolId) {
        let job = self.gc.job(pool).expect("a job had an operation in service");
        let (victim, waited) = (job.erases(), job.erases() != job.victim());
        let first = self.ftl.blocks().stands_for(victim);
        let (in_cache, skipped) = (self.ftl.blocks().in_cache(victim), self.ftl.blocks().skipped(victim));
        let retires = self.wear.is_some() && wear::erase_retires(self, victim);
        let freed = match retires {
            _ if waited => self.commit_waiting(pool, victim, retires),
            true => self.ftl.commit_retirement(pool, victim),
            false => self.ftl.commit_erase(pool, victim),
        };
        self.probes.note(now, &self.ftl, Event::Erased(victim));
        let erased = ErasedBlock { pool, block: victim, in_cache, skipped, retired: retires, earlier: waited };
        mechanisms::block_erased(self, now, erased);
        let Some(freed) = freed else {
            if self.probes.has(Planted::FreesMembersApart) {
                self.ftl.free_apart(pool, victim);
            }
            return if waited { carry::erased(self, now, pool, false) } else { self.gc.part_ended(pool) };
        };
        if !waited {
            let begun = self.gc.job(pool).expect("a job had an operation in service").started_ns();
            self.probes.note(now, &self.ftl, Event::JobEnded(now - begun));
        }
        if freed != Freed::Dissolved {
            self.probes.note(now, &self.ftl, Event::BlocksFreed { blocks: self.geometry().pools.per_group.get() });
        }
        let lead = self.geometry().lead_pool(pool);
        self.gc.due.forget(lead, first);
        if self.wear.is_some() {
            wear::collected(self, now, lead, first, freed, waited);
        }
        pace::block_erased(self, now, pool, freed == Freed::Dissolved, waited);
        if waited { carry::erased(self, now, pool, true) } else { self.job_ended(now, lead) }
    }

    fn commit_waiting(&mut self, pool: PoolId, block: BlockId, retires: bool) -> Option<Freed> {
        let valid = |part| self.gc.job(part).map_or(0, |job| self.ftl.blocks().valid(job.victim()));
        let left = self.group_of(pool).map(valid).sum();
        self.ftl.commit_waiting(pool, block, left, retires)
    }
}
