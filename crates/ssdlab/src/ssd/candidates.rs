//! Who could begin on a die: the host operation and the GC step that would be next, and what is in their way.

use super::Ssd;
use crate::flash::Phase;
use crate::sched::{LineKind, NONE, TransactionKind};
use crate::units::{BlockId, DieId, Ns, PlaneId, PoolId};

/// The host operation that would go next on a die.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) index: u32,
    pub(super) line: LineKind,
    /// The pool whose page it reads or takes.
    pub(super) pool: PoolId,
    /// It goes by way of the move of its page.
    pub(super) by_move: bool,
}

/// What the GC operation that is under way or suspended on a die leaves to host operations.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
    /// Only writes.
    pub(super) writes_only: bool,
    /// Not what needs the register of this plane.
    pub(super) plane: Option<PlaneId>,
    /// Nor a write to this block, whose pages are programmed in order.
    pub(super) block: Option<BlockId>,
}

/// The GC step that would go next on a die.
#[derive(Clone, Copy, Debug)]
pub(super) enum GcCandidate {
    /// The next step of the pool's job.
    Step(PoolId),
    /// What was suspended on this die, of the pool.
    Resume(DieId, PoolId),
}

impl GcCandidate {
    pub(super) fn pool(self) -> PoolId {
        match self {
            GcCandidate::Step(pool) | GcCandidate::Resume(_, pool) => pool,
        }
    }
}

impl Ssd {
    /// A host operation that could go first if what GC does on the die were suspended. A write that only a move can serve could not.
    pub(super) fn host_beside(&mut self, die: DieId, limits: Limits) -> Option<Candidate> {
        let host = if self.interleave { self.host_candidate(die, limits) } else { self.host_of_chip(die, limits) };
        host.filter(|candidate| candidate.line == LineKind::Read || !candidate.by_move)
    }

    /// What a GC operation of the pool in this phase leaves to host operations while it is suspended.
    pub(super) fn limits_beside(&self, pool: PoolId, phase: Phase) -> Limits {
        let Some(moved) = self.gc.job(pool).and_then(|job| job.moving) else { return Limits::default() };
        let block = |ppn| self.geometry().split_page(ppn).0;
        let programs = matches!(phase, Phase::BeforeProgram | Phase::Program(_));
        let register = if programs { moved.to } else { Some(moved.from) };
        Limits {
            writes_only: false,
            plane: register.filter(|_| self.suspends.one_register).map(|ppn| self.plane_of_page(ppn)),
            block: moved.to.map(block),
        }
    }

    #[inline(always)]
    pub(super) fn limits_of_shelf(&self, die: DieId) -> Limits {
        if !self.suspends.any() {
            return Limits::default();
        }
        match self.flash.shelved(die) {
            Some((tag, phase)) => self.limits_beside(PoolId(tag), phase),
            None => Limits::default(),
        }
    }

    /// Where the dies of a chip exclude each other, the chip chooses among the operations of all of them as a die does among its own. Begins
    /// to look after `die`, so that dies take turns where nothing else decides.
    pub(super) fn candidates_of_chip(&mut self, die: DieId) -> (Option<Candidate>, Option<GcCandidate>) {
        let dies = self.geometry().dies_of_chip(self.geometry().chip_of_die(die));
        let mut gc: Option<GcCandidate> = None;
        for die in (die.0 + 1..dies.end).chain(dies.start..=die.0).map(DieId) {
            gc = match (gc, self.gc_candidate(die)) {
                (Some(best), Some(other)) if self.gc_order(best.pool()) <= self.gc_order(other.pool()) => Some(best),
                (best, other) => other.or(best),
            };
        }
        (self.host_of_chip(die, Limits::default()), gc)
    }

    /// The host operation that goes first on any die of a chip. `limits` are those of `die`; each other die has its own.
    pub(super) fn host_of_chip(&mut self, of: DieId, limits: Limits) -> Option<Candidate> {
        let chip = self.geometry().chip_of_die(of);
        let dies = self.geometry().dies_of_chip(chip);
        let mut host = None;
        for die in (of.0 + 1..dies.end).chain(dies.start..=of.0).map(DieId) {
            let key = |candidate: &Candidate| (candidate.line, self.transactions[candidate.index].rank);
            let limits = if die == of && self.flash.shelved(die).is_none() { limits } else { self.limits_of_shelf(die) };
            let candidate = self.host_candidate(die, limits);
            if candidate.is_some_and(|candidate| self.states.is_urgent(candidate.pool)) {
                return candidate;
            }
            host = match (host, candidate) {
                (Some(best), Some(other)) if !self.sched.goes_before(key(&other), key(&best), chip) => Some(best),
                (best, other) => other.or(best),
            };
        }
        host
    }

    /// The host operation that goes first among those that could begin on the die once nothing but overlapping operations is in its way.
    #[inline]
    pub(super) fn host_candidate(&self, die: DieId, limits: Limits) -> Option<Candidate> {
        let chip = self.ftl.geometry().chip_of_die(die);
        if !self.sched.any_waiting(die, chip) || self.excluded_by[die.index()].is_some() {
            return None;
        }
        let mut best: Option<(Candidate, u64)> = None;
        let mut consider = |index: u32, line: LineKind, pool: PoolId| {
            if index == NONE {
                return;
            }
            let rank = self.transactions[index].rank;
            if best.is_none_or(|(other, than)| self.sched.goes_before((line, rank), (other.line, than), chip)) {
                best = Some((Candidate { index, line, pool, by_move: false }, rank));
            }
        };
        for pool in self.ftl.geometry().pools_of_die(die).map(PoolId) {
            if self.states.is_urgent(pool) {
                if let Some(candidate) = self.urgent_candidate(pool, limits) {
                    return Some(candidate);
                }
                continue;
            }
            if !limits.writes_only {
                consider(self.first_read(pool, limits), LineKind::Read, pool);
            }
            if !self.sched.is_dynamic() && self.may_write(pool, limits) {
                consider(self.sched.head(self.sched.line(pool, LineKind::Write)), LineKind::Write, pool);
            }
        }
        if self.sched.is_dynamic()
            && let Some(pool) = self.pool_with_room(die, limits)
        {
            consider(self.sched.head(self.sched.chip_line(chip)), LineKind::Write, pool);
        }
        let best = best.map(|(candidate, _)| candidate);
        if self.merge && !limits.writes_only { self.by_move(die, best) } else { best }
    }

    /// State S3: after the job the write for which it was entered goes next.
    pub(super) fn urgent_candidate(&self, pool: PoolId, limits: Limits) -> Option<Candidate> {
        let goes = self.gc.job(pool).is_none() && self.ftl.can_write(pool) && self.is_within(pool, limits);
        goes.then(|| Candidate { index: self.states.urgent_write(pool), line: LineKind::Write, pool, by_move: false })
    }

    /// Reordering (lee2013 III-B, Fig. 5): a read of a page that a job has still to move goes by way of its move; so does a write that would
    /// have to wait otherwise.
    pub(super) fn by_move(&self, die: DieId, best: Option<Candidate>) -> Option<Candidate> {
        if self.jobs_on_die[die.index()] == 0 {
            return best;
        }
        let shelved = self.flash.shelved(die);
        if let Some(candidate) = best {
            let by_move = candidate.line == LineKind::Read
                && match shelved {
                    Some((tag, Phase::Read(_))) => PoolId(tag) == candidate.pool && self.is_being_moved(candidate.pool, candidate.index),
                    Some(_) => false,
                    None => self.is_to_be_moved(candidate.pool, candidate.index),
                };
            return Some(Candidate { by_move, ..candidate });
        }
        if shelved.is_some() {
            return None;
        }
        let pools = self.ftl.geometry().pools_of_die(die).map(PoolId);
        pools.filter(|&pool| self.states.holds_up(pool, LineKind::Write)).find_map(|pool| self.held_up_write(pool))
    }

    /// The page is the one of the move that is under way or suspended.
    pub(super) fn is_being_moved(&self, pool: PoolId, index: u32) -> bool {
        let moving = self.gc.job(pool).and_then(|job| job.moving);
        moving.is_some_and(|moved| self.moves_page_of(moved, index))
    }

    /// The page lies in the victim of the pool's job, whose next step could be to move it.
    pub(super) fn is_to_be_moved(&self, pool: PoolId, index: u32) -> bool {
        let Some(job) = self.gc.job(pool) else { return false };
        let place = self.ftl.lookup(self.transactions[index].lpn);
        let in_victim = place.is_some_and(|ppn| self.geometry().split_page(ppn).0 == job.victim);
        in_victim
            && !job.busy
            && !(job.pending && self.is_pending(pool))
            && self.gc.may_move(pool)
            && !self.gc.is_buffered(pool, self.transactions[index].lpn)
    }

    /// State S2: the oldest waiting write to a page that the job has still to move.
    pub(super) fn held_up_write(&self, pool: PoolId) -> Option<Candidate> {
        let victim = self.gc.job(pool)?.victim;
        let head = self.sched.head(self.sched.line(pool, LineKind::Write));
        if head == NONE || self.sched.is_dynamic() || self.states.holds_up(pool, LineKind::Read) {
            return None;
        }
        let pages = std::iter::successors(self.ftl.next_move(victim, 0), |&(page, ..)| self.ftl.next_move(victim, page + 1));
        let writes = pages.filter_map(|(_, _, lpn)| self.ftl.chain(lpn)).map(|(oldest, _)| oldest).filter(|&index| {
            let transaction = &self.transactions[index];
            transaction.in_line && transaction.kind == TransactionKind::Write && self.is_to_be_moved(pool, index)
        });
        let index = writes.min_by_key(|&index| self.transactions[index].rank)?;
        Some(Candidate { index, line: LineKind::Write, pool, by_move: true })
    }

    /// A write to the pool needs neither the register nor the block of what is suspended.
    #[inline(always)]
    pub(super) fn is_within(&self, pool: PoolId, limits: Limits) -> bool {
        limits.block.is_none_or(|block| block != self.ftl.next_write_block(pool))
            && limits.plane.is_none_or(|plane| plane != self.ftl.next_write_plane(pool))
    }

    /// The first read of a pool's line that no exclusion keeps waiting.
    #[inline(always)]
    pub(super) fn first_read(&self, pool: PoolId, limits: Limits) -> u32 {
        let head = self.sched.head(self.sched.line(pool, LineKind::Read));
        if head == NONE || self.states.holds_up(pool, LineKind::Read) {
            return self.first_of_high_priority(pool);
        }
        if !self.excludes_reads && limits.plane.is_none() {
            return head;
        }
        self.first_read_outside(pool, head, limits.plane)
    }

    /// Where all host operations are held up: the read of a partial write of high priority, which asks for S3 once it has its page.
    #[cold]
    pub(super) fn first_of_high_priority(&self, pool: PoolId) -> u32 {
        if self.states.is_urgent(pool) || self.sched.high_priority_waiting(pool, LineKind::Read) == 0 {
            return NONE;
        }
        self.first_high_priority(pool, LineKind::Read).unwrap_or(NONE)
    }

    /// A write can be given a page in the pool, and no exclusion keeps it waiting.
    #[inline(always)]
    pub(super) fn may_write(&self, pool: PoolId, limits: Limits) -> bool {
        self.ftl.can_write(pool)
            && !self.states.holds_up(pool, LineKind::Write)
            && self.is_within(pool, limits)
            && (!self.excludes_planes || !self.plane_excluded[self.ftl.next_write_plane(pool).index()])
    }

    /// Dynamic allocation: the die's pool that takes the next write, in turn among those with room.
    pub(super) fn pool_with_room(&self, die: DieId, limits: Limits) -> Option<PoolId> {
        let range = self.geometry().pools_of_die(die);
        let count = range.end - range.start;
        (0..count)
            .map(|step| PoolId(range.start + (self.next_pool[die.index()] + step) % count))
            .find(|&pool| self.takes_any_write(pool) && self.is_within(pool, limits))
    }

    /// Dynamic allocation: the pool could take a write now, and has room for its data.
    pub(super) fn takes_any_write(&self, pool: PoolId) -> bool {
        self.may_write(pool, Limits::default())
            && self.ftl.blocks().valid_in_pool(pool) + self.writes_under_way[pool.index()] < self.ftl.room_of_pool()
    }

    /// Which pool's step goes first: one in S3, then the one that became ready first.
    pub(super) fn gc_order(&self, pool: PoolId) -> (bool, Option<(Ns, u64)>) {
        (!self.states.is_urgent(pool), self.gc.job(pool).map(|job| job.ready))
    }

    /// What was suspended on the die, or the step of a job of it that became ready first.
    #[inline]
    pub(super) fn gc_candidate(&mut self, die: DieId) -> Option<GcCandidate> {
        if self.jobs_on_die[die.index()] == 0 {
            return None;
        }
        if let Some((tag, _)) = self.flash.shelved(die) {
            return Some(GcCandidate::Resume(die, PoolId(tag)));
        }
        let mut best: Option<PoolId> = None;
        for pool in self.ftl.geometry().pools_of_die(die).map(PoolId) {
            if let Some(job) = self.gc.job(pool)
                && !job.busy
                && best.is_none_or(|best| self.gc_order(pool) < self.gc_order(best))
                && !(job.pending && self.still_pending(pool))
            {
                best = Some(pool);
            }
        }
        best.map(GcCandidate::Step)
    }
}
