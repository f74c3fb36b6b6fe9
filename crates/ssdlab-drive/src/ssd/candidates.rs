//! What could begin on a die: the next host operation and the next GC step. Operations that the arbiter calls not eligible are left out.

use super::Ssd;
use super::mechanisms::{advance, merge, pace, wear};
use crate::arbiter::eligible;
use crate::flash::Phase;
use crate::ftl::Class;
use crate::gc::Job;
use crate::sched::{QueueKind, TransactionKind, linked, page_order};
use crate::views::{PoolView, Ready};
use ssdlab_base::units::{BlockId, ChipId, DieId, Lpn, PlaneId, PoolId, Ppn, TxnId};
use ssdlab_keys::config::Scope;

/// The host operation that would go next on a die.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostCandidate {
    pub(super) id: TxnId,
    pub(super) kind: QueueKind,
    /// The pool whose page the operation reads, or from which it gets a page.
    pub(super) pool: PoolId,
    /// The operation merges with the move of its page.
    pub(super) by_move: bool,
}

/// Limits to the host operations that may begin, due to the GC operation that occupies a die or is suspended there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
    /// Only writes may begin.
    pub(super) writes_only: bool,
    /// Operations that need the register of this plane may not begin.
    pub(super) plane: Option<PlaneId>,
    /// Writes to this block may not begin, since its pages are programmed in order.
    pub(super) block: Option<BlockId>,
}

/// The GC step that would go next on a die.
#[derive(Clone, Copy, Debug)]
pub(super) enum GcCandidate {
    /// The next step of the pool's job.
    Step(PoolId),
    /// The operation of the pool's job that is suspended on this die.
    Resume(DieId, PoolId),
}

impl GcCandidate {
    pub(super) fn pool(self) -> PoolId {
        match self {
            GcCandidate::Step(pool) | GcCandidate::Resume(_, pool) => pool,
        }
    }
}

/// The best host operation of several pools so far; `Err`: the one that goes before those of all pools.
type Best = Result<Option<HostCandidate>, HostCandidate>;

impl Ssd {
    /// The host operation and the GC step that would go next on a die on which either may begin.
    #[inline(always)]
    pub(super) fn candidates(&mut self, die: DieId) -> (Option<HostCandidate>, Option<GcCandidate>) {
        if !self.rules.flash.interleave {
            return self.candidates_of_chip(die);
        }
        let limits = self.limits_beside_suspended(die);
        (self.host_candidate(die, limits), self.gc_candidate(die))
    }

    /// The host operation that would go first if the GC operation on the die were suspended. A write that only a move can serve does not
    /// count.
    pub(super) fn host_beside(&mut self, die: DieId, limits: Limits) -> Option<HostCandidate> {
        let host = if self.rules.flash.interleave { self.host_candidate(die, limits) } else { self.host_of_chip(die, limits) };
        host.filter(|candidate| candidate.kind == QueueKind::Read || !candidate.by_move)
    }

    /// The limits to host operations while a GC operation of the pool is suspended in this phase.
    pub(super) fn limits_beside(&self, pool: PoolId, phase: Phase) -> Limits {
        let Some(moved) = self.gc.moving(pool) else { return Limits::default() };
        let programs = matches!(phase, Phase::BeforeProgram | Phase::Program(_));
        let register = if programs { moved.to } else { Some(moved.from) };
        Limits {
            writes_only: false,
            plane: register.filter(|_| self.rules.gc.suspends.one_register).map(|ppn| self.plane_of_page(ppn)),
            block: moved.to.map(|ppn| self.block_of_page(ppn)),
        }
    }

    /// The limits to host operations due to the GC operation suspended on a die, if any.
    #[inline(always)]
    pub(super) fn limits_beside_suspended(&self, die: DieId) -> Limits {
        if !self.rules.gc.suspends.any() {
            return Limits::default();
        }
        self.flash.suspended(die).map_or_else(Limits::default, |(pool, phase)| self.limits_beside(pool, phase))
    }

    /// The next host operation and GC step of a chip whose dies exclude each other: it chooses among those of all its dies. The search
    /// begins after `die`, so that dies are served in turn where nothing else decides.
    fn candidates_of_chip(&mut self, die: DieId) -> (Option<HostCandidate>, Option<GcCandidate>) {
        let mut gc: Option<GcCandidate> = None;
        for die in self.dies_after(die) {
            gc = match (gc, self.gc_candidate(die)) {
                (Some(best), Some(other)) if self.gc_order(best.pool()) <= self.gc_order(other.pool()) => Some(best),
                (best, other) => other.or(best),
            };
        }
        (self.host_of_chip(die, Limits::default()), gc)
    }

    /// The dies of the chip of `die`, which comes last.
    pub(super) fn dies_after(&self, die: DieId) -> impl Iterator<Item = DieId> + use<> {
        let dies = self.geometry().dies_of_chip(self.geometry().chip_of_die(die));
        (die.0 + 1..dies.end).chain(dies.start..=die.0).map(DieId)
    }

    /// The host operation that goes first on any die of a chip. `limits` are those of the die `of`; each other die has its own.
    fn host_of_chip(&mut self, of: DieId, limits: Limits) -> Option<HostCandidate> {
        let chip = self.geometry().chip_of_die(of);
        let mut host = None;
        for die in self.dies_after(of) {
            let limits = if die == of && self.flash.suspended(die).is_none() { limits } else { self.limits_beside_suspended(die) };
            let candidate = self.host_candidate(die, limits);
            if candidate.is_some_and(|candidate| self.gc.states.urgent(candidate.pool).is_some()) {
                return candidate;
            }
            if let Some(other) = candidate {
                host = Some(self.first_of(host, other, chip));
            }
        }
        host
    }

    /// The host operation that goes first among those that are eligible on the die, no matter what occupies it.
    #[inline]
    pub(super) fn host_candidate(&self, die: DieId, limits: Limits) -> Option<HostCandidate> {
        let chip = self.geometry().chip_of_die(die);
        if !self.sched.any_waiting(die) || self.gc.excludes_die(die).is_some() {
            return None;
        }
        let mut pools = self.geometry().pools_of_die(die).map(PoolId);
        let mut best = None;
        // Most dies are one pool: apart, it is not delayed by what is prepared for several.
        if let Some(first) = pools.next() {
            best = match self.best_of_pool(first, limits, chip, None) {
                Ok(best) => best,
                Err(urgent) => return Some(urgent),
            };
        }
        for pool in pools {
            best = match self.best_of_further_pool(pool, limits, chip, best) {
                Ok(best) => best,
                Err(urgent) => return Some(urgent),
            };
        }
        if self.rules.dynamic
            && let Some(pool) = self.pool_with_room(die, limits)
            && let Some(id) = self.sched.head(self.sched.writes_for(die))
        {
            best = Some(self.first_of(best, HostCandidate { id, kind: QueueKind::Write, pool, by_move: false }, chip));
        }
        if self.rules.gc.merge && !limits.writes_only && !wear::is_read_only(self) { self.by_move(die, best) } else { best }
    }

    /// The first to go of `best` and the operations of a pool. `Err`: in state S3 the write for which it was entered goes before those of all pools.
    #[inline(always)]
    fn best_of_pool(&self, pool: PoolId, limits: Limits, chip: ChipId, mut best: Option<HostCandidate>) -> Best {
        if let Some(write) = self.gc.states.urgent(pool) {
            return self.urgent_candidate(pool, write, limits).map_or(Ok(best), Err);
        }
        if !limits.writes_only
            && let Some(id) = self.first_read(pool, limits)
        {
            best = Some(self.first_of(best, HostCandidate { id, kind: QueueKind::Read, pool, by_move: false }, chip));
        }
        if !self.rules.dynamic
            && let Some(id) = self.first_write(pool, limits)
        {
            best = Some(self.first_of(best, HostCandidate { id, kind: QueueKind::Write, pool, by_move: false }, chip));
        }
        Ok(best)
    }

    #[inline(never)]
    fn best_of_further_pool(&self, pool: PoolId, limits: Limits, chip: ChipId, best: Option<HostCandidate>) -> Best {
        self.best_of_pool(pool, limits, chip, best)
    }

    /// Calls `each` with all host operations that are eligible on the die, no matter what occupies it. Leaves out pools in state S3, and
    /// writes that only the move of their page can serve.
    pub(super) fn each_eligible(&self, die: DieId, limits: Limits, each: &mut dyn FnMut(HostCandidate)) {
        if !self.sched.any_waiting(die) || self.gc.excludes_die(die).is_some() {
            return;
        }
        let waiting = |queue| linked(&self.transactions, self.sched.head(queue));
        let mut add = |id, kind, pool| each(HostCandidate { id, kind, pool, by_move: false });
        for pool in self.geometry().pools_of_die(die).map(PoolId).filter(|&pool| self.gc.states.urgent(pool).is_none()) {
            let reads = self.sched.queue(pool, QueueKind::Read);
            if self.gc.states.stops(pool, QueueKind::Read) {
                let read = if limits.writes_only { None } else { self.first_read(pool, limits) };
                read.into_iter().for_each(|id| add(id, QueueKind::Read, pool));
            } else if !limits.writes_only {
                let eligible = |&id: &TxnId| eligible(self.view_of_read(pool, id, limits)).is_ok();
                waiting(reads).filter(eligible).for_each(|id| add(id, QueueKind::Read, pool));
            }
            let writes = self.sched.queue(pool, QueueKind::Write);
            if !self.rules.dynamic && self.sched.head(writes).is_some() && self.may_write(pool, limits) {
                let eligible = |&id: &TxnId| eligible(self.view_of_class(pool, self.transactions[id].class, limits)).is_ok();
                waiting(writes).filter(eligible).for_each(|id| add(id, QueueKind::Write, pool));
            }
        }
        if self.rules.dynamic
            && let Some(pool) = self.pool_with_room(die, limits)
        {
            let has_room = |&id: &TxnId| {
                let class = self.transactions[id].class;
                self.ftl.can_write(pool, class) && !self.needs_suspended(pool, class, limits)
            };
            waiting(self.sched.writes_for(die)).filter(has_room).for_each(|id| add(id, QueueKind::Write, pool));
        }
    }

    /// Compares two host operations on a chip, and returns the first to go.
    #[inline(always)]
    fn first_of(&self, best: Option<HostCandidate>, other: HostCandidate, chip: ChipId) -> HostCandidate {
        let key = |candidate: HostCandidate| (candidate.kind, self.transactions[candidate.id].rank);
        match best {
            Some(best) if !self.sched.goes_before(key(other), key(best), chip) => best,
            _ => other,
        }
    }

    /// State S3: the write for which it was entered goes next, once the job has ended.
    fn urgent_candidate(&self, pool: PoolId, write: TxnId, limits: Limits) -> Option<HostCandidate> {
        let goes = self.gc.job(pool).is_none()
            && !self.waits_for_turn(pool)
            && self.ftl.can_write(pool, self.transactions[write].class)
            && !self.needs_suspended(pool, self.transactions[write].class, limits);
        goes.then_some(HostCandidate { id: write, kind: QueueKind::Write, pool, by_move: false })
    }

    /// Reordering (lee2013 III-B, Fig. 5): marks a read of a page that a job has still to move to merge with its move. If no operation is
    /// eligible, a stopped write to such a page does so.
    pub(super) fn by_move(&self, die: DieId, best: Option<HostCandidate>) -> Option<HostCandidate> {
        if self.gc.jobs.on_die(die) == 0 {
            return best;
        }
        let suspended = self.flash.suspended(die);
        if let Some(candidate) = best {
            let by_move = candidate.kind == QueueKind::Read
                && match suspended {
                    Some((pool, Phase::Read(_))) => pool == candidate.pool && self.is_being_moved(candidate.pool, candidate.id),
                    Some(_) => false,
                    None => self.is_to_be_moved(candidate.pool, candidate.id),
                };
            return Some(HostCandidate { by_move, ..candidate });
        }
        if suspended.is_some() {
            return None;
        }
        let pools = self.geometry().pools_of_die(die).map(PoolId);
        pools.filter(|&pool| self.gc.states.stops(pool, QueueKind::Write)).find_map(|pool| self.stopped_write(pool))
    }

    /// The page of the transaction is that of a move in service or suspended.
    pub(super) fn is_being_moved(&self, pool: PoolId, id: TxnId) -> bool {
        self.gc.jobs.moving_page(pool, self.transactions[id].lpn).is_some_and(|moved| merge::moves_page_of(self, moved, id))
    }

    /// The page of the transaction lies in the victim of the pool's job, whose next step could be to move it.
    fn is_to_be_moved(&self, pool: PoolId, id: TxnId) -> bool {
        let Some(job) = self.gc.job(pool) else { return false };
        let lpn = self.transactions[id].lpn;
        self.ftl.lookup(lpn).is_some_and(|ppn| self.block_of_page(ppn) == job.victim())
            && !job.is_busy()
            && !(job.is_pending() && self.is_pending(pool))
            && self.gc.jobs.may_move(pool)
            && self.gc.jobs.buffered(pool, lpn).is_none()
            && !(self.rules.gc.spreads && self.gc.jobs.mover(pool, lpn).is_some())
    }

    /// State S2: the oldest waiting write to a page that the job of the pool has still to move.
    fn stopped_write(&self, pool: PoolId) -> Option<HostCandidate> {
        let victim = self.gc.job(pool)?.victim();
        let head = self.sched.head(self.sched.queue(pool, QueueKind::Write))?;
        if self.rules.dynamic || self.gc.states.stops(pool, QueueKind::Read) {
            return None;
        }
        // Searches the waiting writes in order, or the pages left in the victim, whichever are fewer.
        let id = if self.sched.waiting_on(self.geometry().die_of_pool(pool)) <= self.ftl.blocks().valid(victim) {
            linked(&self.transactions, Some(head)).find(|&id| self.is_to_be_moved(pool, id))
        } else {
            let pages = std::iter::successors(self.ftl.next_move(victim, 0), |&(page, ..)| self.ftl.next_move(victim, page + 1));
            let oldest = pages.filter_map(|(_, _, lpn)| page_order::ends(&self.ftl, lpn)).map(|ends| ends.oldest);
            let writes = oldest.filter(|&id| {
                let transaction = &self.transactions[id];
                transaction.queued && transaction.kind == TransactionKind::Write && self.is_to_be_moved(pool, id)
            });
            writes.min_by_key(|&id| self.transactions[id].rank)
        };
        id.map(|id| HostCandidate { id, kind: QueueKind::Write, pool, by_move: true })
    }

    /// The next write of this class to the pool needs the register or the block that a suspended GC operation holds.
    #[inline(always)]
    fn needs_suspended(&self, pool: PoolId, class: Class, limits: Limits) -> bool {
        limits.block.is_some_and(|block| block == self.ftl.next_write_block(pool, class))
            || limits.plane.is_some_and(|plane| plane == self.ftl.next_write_plane(pool, class))
    }

    /// The class of the first write that waits for the pool, or for its station (dynamic allocation); 0 without one.
    #[inline(always)]
    pub(super) fn class_of_next(&self, pool: PoolId) -> Class {
        if !self.rules.places { 0 } else { self.class_of_head(pool) }
    }

    fn class_of_head(&self, pool: PoolId) -> Class {
        let die = || self.geometry().die_of_pool(pool);
        let queue = if self.rules.dynamic { self.sched.writes_for(die()) } else { self.sched.queue(pool, QueueKind::Write) };
        self.sched.head(queue).map_or(0, |id| self.transactions[id].class)
    }

    /// The view of a pool that decides whether its next write is eligible.
    #[inline(always)]
    pub(super) fn view_of_write(&self, pool: PoolId, limits: Limits) -> PoolView {
        self.view_of_class(pool, self.class_of_next(pool), limits)
    }

    /// The view of a pool that decides whether a write of this class is eligible.
    #[inline(always)]
    fn view_of_class(&self, pool: PoolId, class: Class, limits: Limits) -> PoolView {
        PoolView {
            no_page: !self.ftl.can_write(pool, class),
            stopped: self.gc.states.stops(pool, QueueKind::Write),
            register_held: self.needs_suspended(pool, class, limits),
            excluded: self.rules.gc.scope == Scope::Plane && self.gc.excludes_plane(self.ftl.next_write_plane(pool, class)),
        }
    }

    /// The view of a pool that decides whether a read of it is eligible.
    pub(super) fn view_of_read(&self, pool: PoolId, id: TxnId, limits: Limits) -> PoolView {
        let lpn = self.transactions[id].lpn;
        let needs_register = |plane| self.ftl.lookup(lpn).is_some_and(|ppn| self.plane_of_page(ppn) == plane);
        PoolView {
            no_page: false,
            stopped: self.gc.states.stops(pool, QueueKind::Read),
            register_held: limits.plane.is_some_and(needs_register),
            excluded: self.excludes_read(pool, lpn),
        }
    }

    /// The job of a pool excludes reads of this page.
    #[inline(always)]
    pub(super) fn excludes_read(&self, pool: PoolId, lpn: Lpn) -> bool {
        self.rules.gc.excludes_reads && self.gc.job(pool).is_some_and(|job| self.is_excluded(pool, job, lpn))
    }

    /// The job of a pool excludes reads of this page, which lies in the plane or in one of the blocks from which the job excludes the host.
    fn is_excluded(&self, pool: PoolId, job: &Job, lpn: Lpn) -> bool {
        let by_block = self.rules.gc.scope == Scope::Block;
        if !by_block && !self.rules.gc.plane_in_pool {
            // The plane is the pool.
            return true;
        }
        let Some(ppn) = self.ftl.lookup(lpn) else { return false };
        if !by_block {
            return self.gc.excludes_plane(self.plane_of_page(ppn));
        }
        let block = self.block_of_page(ppn);
        block == job.victim() || self.ftl.job_fills(pool, block)
    }

    /// The first read of a pool's queue that is eligible.
    #[inline(always)]
    pub(super) fn first_read(&self, pool: PoolId, limits: Limits) -> Option<TxnId> {
        let head = self.sched.head(self.sched.queue(pool, QueueKind::Read))?;
        if self.gc.states.stops(pool, QueueKind::Read) {
            return self.first_of_high_priority(pool);
        }
        if !self.rules.gc.excludes_reads && limits.plane.is_none() {
            return Some(head);
        }
        linked(&self.transactions, Some(head)).find(|&id| eligible(self.view_of_read(pool, id, limits)).is_ok())
    }

    /// Where the state of the pool stops all host operations: the read of a high-priority partial write, which enters S3 once it has its
    /// page.
    #[cold]
    fn first_of_high_priority(&self, pool: PoolId) -> Option<TxnId> {
        if self.gc.states.urgent(pool).is_some() || self.sched.high_priority_waiting(pool, QueueKind::Read) == 0 {
            return None;
        }
        self.sched.first_high_priority(&self.transactions, pool, QueueKind::Read)
    }

    /// The first write of a pool's queue, if a write to the pool is eligible.
    #[inline(always)]
    pub(super) fn first_write(&self, pool: PoolId, limits: Limits) -> Option<TxnId> {
        let head = self.sched.head(self.sched.queue(pool, QueueKind::Write))?;
        self.may_write(pool, limits).then_some(head)
    }

    /// A write to the pool is eligible.
    #[inline(always)]
    pub(super) fn may_write(&self, pool: PoolId, limits: Limits) -> bool {
        eligible(self.view_of_write(pool, limits)).is_ok()
    }

    /// Dynamic allocation: the pool of the die that takes the next write, in turn among those with room.
    fn pool_with_room(&self, die: DieId, limits: Limits) -> Option<PoolId> {
        let first = self.sched.placement()?.next_pool(die);
        let range = self.geometry().pools_of_die(die);
        let count = range.end - range.start;
        if self.rules.gc.spreads {
            let takes = |&pool: &PoolId| self.takes_any_write(pool) && !self.needs_suspended(pool, self.class_of_next(pool), limits);
            let begun = |&pool: &PoolId| self.ftl.host_level(pool, self.class_of_next(pool));
            return range.map(PoolId).filter(takes).min_by_key(begun);
        }
        let mut pools = (0..count).map(|step| PoolId(range.start + (first + step) % count));
        pools.find(|&pool| self.takes_any_write(pool) && !self.needs_suspended(pool, self.class_of_next(pool), limits))
    }

    /// Dynamic allocation: the pool could take a write now, and has room for its data.
    pub(super) fn takes_any_write(&self, pool: PoolId) -> bool {
        let writing = self.sched.placement().map_or(0, |placement| placement.writing(pool));
        // The groups of superblocks check their room before a write is admitted. Without GC there is nothing to leave room for.
        self.may_write(pool, Limits::default())
            && (self.rules.gc.spreads
                || self.ftl.blocks().valid_in_pool(pool) + self.ftl.lost_pages(pool) + writing < self.ftl.room_of_pool()
                || wear::is_read_only(self))
    }

    /// Order of GC steps: a pool in S3 first, then one whose moves are owed, then the step that became ready first.
    fn gc_order(&self, pool: PoolId) -> (bool, bool, Option<Ready>) {
        (self.gc.states.urgent(pool).is_none(), !pace::is_owed(self, pool), self.gc.job(pool).map(Job::ready))
    }

    /// The suspended GC operation of the die, or else, of the steps of its jobs that may begin, the one that became ready first.
    #[inline]
    fn gc_candidate(&mut self, die: DieId) -> Option<GcCandidate> {
        if self.gc.jobs.on_die(die) == 0 {
            return None;
        }
        if let Some((pool, _)) = self.flash.suspended(die) {
            return Some(GcCandidate::Resume(die, pool)).filter(|&step| advance::may_begin(self, die, step));
        }
        let mut best: Option<PoolId> = None;
        for pool in self.geometry().pools_of_die(die).map(PoolId) {
            if let Some(job) = self.gc.job(pool)
                && !job.is_busy()
                && self.gc.jobs.has_step(&self.ftl, pool)
                && best.is_none_or(|best| self.gc_order(pool) < self.gc_order(best))
                && !(job.is_pending() && self.still_pending(pool))
                && advance::may_begin(self, die, GcCandidate::Step(pool))
            {
                best = Some(pool);
            }
        }
        if wear::is_read_only(self) {
            return None;
        }
        best.map(GcCandidate::Step)
    }

    #[inline(always)]
    pub(super) fn block_of_page(&self, ppn: Ppn) -> BlockId {
        self.geometry().split_page(ppn).0
    }

    pub(super) fn plane_of_page(&self, ppn: Ppn) -> PlaneId {
        self.geometry().plane_of_block(self.block_of_page(ppn))
    }
}
