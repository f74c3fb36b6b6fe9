//! A die that is free begins what the arbiter decides.

use super::Ssd;
use super::idle::Idle;
use crate::arbiter::{self, Decision};
use crate::flash::{Grant, Op, OpKind};
use crate::gc::Step;
use crate::sched::{LineKind, NONE, TransactionKind};
use crate::stats::Part;
use crate::units::{ChipId, DieId, Ns, PoolId};
use crate::views::{DieView, GcView, HostView};

/// The host operation that would go next on a die.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    index: u32,
    line: LineKind,
    /// The pool whose page it reads or takes.
    pool: PoolId,
}

impl Ssd {
    /// Lets everything begin that can begin now.
    pub fn dispatch(&mut self, now: Ns) {
        if self.idle.as_ref().is_some_and(Idle::is_due) {
            self.begin_idle_time(now);
        }
        loop {
            while let Some(channel) = self.freed.pop() {
                self.advance_bus_line(now, channel);
            }
            if let Some(die) = self.dirty.pop() {
                self.dispatch_die(now, die, false);
            } else if self.host_queue_ready && !self.host_queue.is_empty() {
                self.advance_host_queue(now);
            } else if self.gated.is_empty() || !self.open_gates(now) {
                break;
            }
        }
        if let Some(verifier) = &mut self.verifier
            && verifier.every_event()
        {
            let result = super::verify::recount(self);
            self.verifier.as_mut().expect("checked above").note(result);
        }
    }

    fn advance_bus_line(&mut self, now: Ns, channel: crate::units::ChannelId) {
        while let Some(grant) = self.flash.next_in_line(now, channel, &mut self.events) {
            match grant {
                Grant::Transfer(slot) => self.transfer_begun(now, slot),
                Grant::Die(die) => {
                    self.update_clocks(die, now);
                    self.dispatch_die(now, die, true);
                }
            }
        }
    }

    /// Begins operations on a die. `granted`: it is the die's turn on the bus. A die at work begins an operation that can overlap only if that
    /// is what would begin were it idle: else a stream of one kind would keep the other kind, or collection, waiting without end.
    fn dispatch_die(&mut self, now: Ns, die: DieId, granted: bool) {
        loop {
            let (host, gc) =
                if self.interleave { (self.host_candidate(die), self.gc_candidate(die)) } else { self.candidates_of_chip(die) };
            let view = DieView {
                host: host.map(|candidate| HostView { ready: self.transactions[candidate.index].ready }),
                gc: gc.map(|pool| GcView { ready: self.gc.job(pool).expect("a candidate has a job").ready }),
            };
            match (arbiter::decide(&view, &self.axes), host, gc) {
                (Decision::Host, Some(candidate), _) => {
                    let die = self.geometry().die_of_pool(candidate.pool);
                    let kind = if candidate.line == LineKind::Read { OpKind::Read } else { OpKind::Program };
                    if self.pipeline && !self.flash.can_start(die, kind, true) {
                        return;
                    }
                    let bus = if granted { self.flash.bus_idle(die) } else { self.flash.bus_free(die) };
                    if candidate.line == LineKind::Write && !bus {
                        self.stand_in_bus_line(now, die);
                        return;
                    }
                    self.start_host(now, die, candidate);
                }
                (Decision::Gc, _, Some(pool)) => {
                    let die = self.geometry().die_of_pool(pool);
                    if self.pipeline && !self.flash.can_start(die, OpKind::Move, false) {
                        return;
                    }
                    self.start_gc(now, die, pool);
                }
                _ => return,
            }
            if !self.pipeline {
                return;
            }
        }
    }

    /// Where the dies of a chip exclude each other, the chip chooses among the operations of all of them as a die does among its own. Begins
    /// to look after `die`, so that dies take turns where nothing else decides.
    fn candidates_of_chip(&mut self, die: DieId) -> (Option<Candidate>, Option<PoolId>) {
        let chip = self.geometry().chip_of_die(die);
        let dies = self.geometry().dies_of_chip(chip);
        let (mut host, mut gc) = (None, None);
        for die in (die.0 + 1..dies.end).chain(dies.start..=die.0).map(DieId) {
            let key = |candidate: &Candidate| (candidate.line, self.transactions[candidate.index].ready.1);
            host = match (host, self.host_candidate(die)) {
                (Some(best), Some(other)) if !self.sched.goes_before(key(&other), key(&best), chip) => Some(best),
                (best, other) => other.or(best),
            };
            let ready = |pool: PoolId, ssd: &Self| ssd.gc.job(pool).map(|job| job.ready);
            gc = match (gc, self.gc_candidate(die)) {
                (Some(best), Some(other)) if ready(best, self) <= ready(other, self) => Some(best),
                (best, other) => other.or(best),
            };
        }
        (host, gc)
    }

    fn stand_in_bus_line(&mut self, now: Ns, die: DieId) {
        if !self.flash.in_line(die) {
            self.counters.bus_lines += 1;
            self.flash.line_up(die);
            self.update_clocks(die, now);
        }
    }

    /// The host operation that goes first among those that could begin on the die, or (where host operations may overlap) once it is idle.
    #[inline]
    fn host_candidate(&self, die: DieId) -> Option<Candidate> {
        let chip = self.ftl.geometry().chip_of_die(die);
        if !self.sched.any_waiting(die, chip) || self.excluded_by[die.index()].is_some() {
            return None;
        }
        if !self.pipeline && !self.flash.can_start(die, OpKind::Read, true) {
            return None;
        }
        let mut best: Option<(Candidate, u64)> = None;
        let mut consider = |candidate: Candidate| {
            if candidate.index == NONE {
                return;
            }
            let serial = self.transactions[candidate.index].ready.1;
            let better = best.is_none_or(|(other, than)| self.sched.goes_before((candidate.line, serial), (other.line, than), chip));
            if better {
                best = Some((candidate, serial));
            }
        };
        for pool in self.ftl.geometry().pools_of_die(die).map(PoolId) {
            consider(Candidate { index: self.first_read(pool), line: LineKind::Read, pool });
            if !self.sched.is_dynamic() && self.may_write(pool) {
                consider(Candidate { index: self.sched.head(self.sched.line(pool, LineKind::Write)), line: LineKind::Write, pool });
            }
        }
        if self.sched.is_dynamic()
            && let Some(pool) = self.pool_with_room(die)
        {
            consider(Candidate { index: self.sched.head(self.sched.chip_line(chip)), line: LineKind::Write, pool });
        }
        best.map(|(candidate, _)| candidate)
    }

    /// The first read of a pool's line that no exclusion keeps waiting.
    #[inline(always)]
    fn first_read(&self, pool: PoolId) -> u32 {
        let head = self.sched.head(self.sched.line(pool, LineKind::Read));
        if head == NONE || !self.excludes_reads {
            return head;
        }
        self.first_read_outside(pool, head)
    }

    /// A write can be given a page in the pool, and no exclusion keeps it waiting.
    #[inline(always)]
    fn may_write(&self, pool: PoolId) -> bool {
        self.ftl.can_write(pool) && (!self.excludes_planes || !self.plane_excluded[self.ftl.next_write_plane(pool).index()])
    }

    /// Dynamic allocation: the die's pool that takes the next write, in turn among those with room.
    fn pool_with_room(&self, die: DieId) -> Option<PoolId> {
        let range = self.geometry().pools_of_die(die);
        let count = range.end - range.start;
        (0..count).map(|step| PoolId(range.start + (self.next_pool[die.index()] + step) % count)).find(|&pool| self.takes_any_write(pool))
    }

    /// Dynamic allocation: the pool could take a write now, and has room for its data.
    pub(super) fn takes_any_write(&self, pool: PoolId) -> bool {
        self.may_write(pool) && self.ftl.blocks().valid_in_pool(pool) + self.writes_under_way[pool.index()] < self.ftl.room_of_pool()
    }

    /// The pool of the die whose job's step became ready first. A die on which host operations may overlap is asked also while it is at work.
    #[inline]
    fn gc_candidate(&mut self, die: DieId) -> Option<PoolId> {
        if self.jobs_on_die[die.index()] == 0 || !self.pipeline && !self.flash.can_start(die, OpKind::Move, false) {
            return None;
        }
        let mut best: Option<((Ns, u64), PoolId)> = None;
        for pool in self.ftl.geometry().pools_of_die(die).map(PoolId) {
            if let Some(job) = self.gc.job(pool)
                && !job.busy
                && best.is_none_or(|(ready, _)| job.ready < ready)
                && !(job.pending && self.still_pending(pool))
            {
                best = Some((self.gc.job(pool)?.ready, pool));
            }
        }
        best.map(|(_, pool)| pool)
    }

    /// Takes a host operation out of its line, with those that can join it on other planes, and starts it.
    fn start_host(&mut self, now: Ns, die: DieId, candidate: Candidate) {
        let overlaps = !self.flash.idle(die);
        let read = candidate.line == LineKind::Read;
        let first = self.take_from_line(now, die, candidate);
        let pages = 1 + if self.multiplane { self.join_planes(now, die, candidate, first) } else { 0 };
        let (mut read_ns, mut write_ns) = (0, 0);
        let mut index = first;
        while index != NONE {
            let ns = if read { self.prepare_read(index) } else { self.prepare_program(now, index) };
            let longest = if read { &mut read_ns } else { &mut write_ns };
            *longest = ns.max(*longest);
            index = self.transactions[index].next;
        }
        let kind = if read { OpKind::Read } else { OpKind::Program };
        let slot = self.flash.start(now, die, Op { kind, host: true, pages, read_ns, write_ns, tag: first }, &mut self.events);
        self.counters.multiplane_ops += u64::from(pages > 1);
        self.counters.overlapped_ops += u64::from(overlaps);
        if !read && !self.flash.is_whole(slot) {
            self.transfer_begun(now, slot);
        }
        self.update_clocks(die, now);
    }

    fn take_from_line(&mut self, now: Ns, die: DieId, candidate: Candidate) -> u32 {
        let Candidate { index, line, pool } = candidate;
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
        let shown = self.clocks.read(self.transactions[index].domain, now);
        let transaction = &mut self.transactions[index];
        for (part, (shown, noted)) in [Part::Gc, Part::DieQueue, Part::BusQueue].into_iter().zip(shown.iter().zip(transaction.clock)) {
            transaction.parts.add(part, shown - noted);
        }
        transaction.mark = now;
        transaction.pool = pool;
        transaction.next = NONE;
        index
    }

    /// Adds the first operations of the same kind on the die's other planes to a multi-plane operation. Returns how many.
    fn join_planes(&mut self, now: Ns, die: DieId, first: Candidate, head: u32) -> u32 {
        let offset = self.ftl.next_offset(first.pool);
        let (mut joined, mut last) = (0, head);
        for pool in self.geometry().pools_of_die(die).map(PoolId).filter(|&pool| pool != first.pool) {
            let index = match first.line {
                LineKind::Read => self.first_read(pool),
                LineKind::Write if !self.may_write(pool) || self.multiplane_aligned && self.ftl.next_offset(pool) != offset => NONE,
                LineKind::Write if self.sched.is_dynamic() => self.dynamic_partner(die, pool),
                LineKind::Write => self.sched.head(self.sched.line(pool, LineKind::Write)),
            };
            if index == NONE {
                continue;
            }
            let next = self.take_from_line(now, die, Candidate { index, line: first.line, pool });
            self.transactions[last].next = next;
            last = next;
            joined += 1;
        }
        joined
    }

    /// Dynamic allocation: the chip's next write, if this pool has room for it.
    fn dynamic_partner(&self, die: DieId, pool: PoolId) -> u32 {
        if self.takes_any_write(pool) { self.sched.head(self.sched.chip_line(self.geometry().chip_of_die(die))) } else { NONE }
    }

    /// A read resolves its mapping when it starts. Returns its array time.
    fn prepare_read(&mut self, index: u32) -> Ns {
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
    fn prepare_program(&mut self, now: Ns, index: u32) -> Ns {
        let pool = self.transactions[index].pool;
        let allocated = self.ftl.allocate_host(pool);
        self.transactions[index].ppn = allocated.ppn;
        self.writes_under_way[pool.index()] += 1;
        if let Some(verifier) = &mut self.verifier {
            verifier.program(self.ftl.geometry(), allocated.ppn, self.transactions[index].version);
        }
        self.counters.redirected_writes += u64::from(allocated.redirected);
        if allocated.took_block {
            self.look_at_trigger(now, pool);
        }
        self.flash.timing.program(self.ftl.geometry().split_page(allocated.ppn).1)
    }

    /// Starts the next step of a pool's job.
    fn start_gc(&mut self, now: Ns, die: DieId, pool: PoolId) {
        let op = match self.gc.next_step(&self.ftl, pool) {
            Step::Erase => {
                self.gc.job_mut(pool).moving = None;
                Op { kind: OpKind::Erase, host: false, pages: 1, read_ns: 0, write_ns: self.flash.timing.erase_ns, tag: pool.0 }
            }
            Step::Move(from, lpn) => {
                let to = self.ftl.allocate_move(pool).ppn;
                if let Some(verifier) = &mut self.verifier {
                    verifier.copy(self.ftl.geometry(), from, to);
                }
                self.gc.job_mut(pool).moving = Some((lpn, from, to));
                let geometry = self.ftl.geometry();
                let (from, to) = (geometry.split_page(from), geometry.split_page(to));
                let copyback = self.copyback && geometry.plane_of_block(from.0) == geometry.plane_of_block(to.0);
                let kind = if copyback { OpKind::CopybackMove } else { OpKind::Move };
                self.counters.copybacks += u64::from(copyback);
                Op {
                    kind,
                    host: false,
                    pages: 1,
                    read_ns: self.flash.timing.read(from.1),
                    write_ns: self.flash.timing.program(to.1),
                    tag: pool.0,
                }
            }
        };
        self.gc.job_mut(pool).busy = true;
        self.flash.start(now, die, op, &mut self.events);
        self.update_clocks(die, now);
    }
}
