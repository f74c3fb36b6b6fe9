//! Jobs start, exclude host operations from their scope, and end.

use super::{Planted, Ssd};
use crate::gc::{Excluded, Job};
use crate::sched::{LineKind, NONE, Transaction};
use crate::units::{BlockId, DieId, Lpn, Ns, PlaneId, PoolId};

impl Ssd {
    /// Evaluates the trigger of a pool.
    pub(super) fn look_at_trigger(&mut self, now: Ns, pool: PoolId) {
        if self.idle.is_some() {
            self.resume_if_short(pool);
        }
        let next = self.gc.trigger(&self.ftl, pool);
        self.note_state(now, pool);
        self.start_jobs(now, next);
    }

    /// Starts the job of a pool whose turn it is; where nothing is to be gained, that of the next.
    pub(super) fn start_jobs(&mut self, now: Ns, mut next: Option<PoolId>) {
        while let Some(pool) = next {
            let serial = self.next_serial();
            let started = self.gc.start(&mut self.ftl, pool, now, serial);
            self.note_state(now, pool);
            if started {
                return self.job_started(now, pool);
            }
            next = self.gc.after_job(self.ftl.geometry(), pool);
        }
    }

    fn job_started(&mut self, now: Ns, pool: PoolId) {
        let die = self.geometry().die_of_pool(pool);
        self.note_job(now, pool);
        self.jobs_on_die[die.index()] += 1;
        self.gauge_jobs(now, die);
        if self.idle.is_some() {
            self.job_started_ahead(pool);
        }
        self.set_exclusion(now, pool, true);
        self.dirty.insert(die);
    }

    fn set_exclusion(&mut self, now: Ns, pool: PoolId, on: bool) {
        match self.gc.excluded(self.ftl.geometry(), pool) {
            Excluded::Nothing => {}
            Excluded::Plane(PlaneId(plane)) => {
                self.plane_excluded[plane as usize] = on;
                self.exclusion_changed(now, self.geometry().die_of_pool(pool));
            }
            Excluded::Dies(first, end) => {
                for die in (first..end).map(DieId) {
                    self.excluded_by[die.index()] = on.then_some(pool);
                    self.exclusion_changed(now, die);
                }
            }
        }
    }

    fn exclusion_changed(&mut self, now: Ns, die: DieId) {
        self.update_clocks(die, now);
        self.dirty.insert(die);
    }

    /// Host operations that ran inside the job's scope when it started have not all ended: they finish first (MODEL section 3). For a plane
    /// there is nothing to ask, the die being free. A job that pauses counts as pending too.
    pub(super) fn still_pending(&mut self, pool: PoolId) -> bool {
        if self.pauses_here(pool) {
            return true;
        }
        let pending = self.is_pending(pool);
        self.gc.job_mut(pool).pending = pending;
        pending
    }

    /// The same without a note.
    pub(super) fn is_pending(&self, pool: PoolId) -> bool {
        if self.gc.job(pool).is_some_and(|job| job.paused) {
            return true;
        }
        match self.gc.excluded(self.ftl.geometry(), pool) {
            Excluded::Dies(first, end) => (first..end).any(|die| self.flash.holders(DieId(die)).0),
            Excluded::Nothing if self.block_scope => self.victim_in_use(pool),
            _ => false,
        }
    }

    /// Host operations are under way on the victim of a pool's job.
    fn victim_in_use(&self, pool: PoolId) -> bool {
        let victim = self.gc.job(pool).expect("a job that starts").victim;
        let uses = |first| {
            let next = |&index: &u32| Some(self.transactions[index].next).filter(|&next| next != NONE);
            std::iter::successors(Some(first), next).any(|index| self.block_of(self.transactions[index].ppn) == victim)
        };
        self.flash.host_tags(self.geometry().die_of_pool(pool)).any(uses)
    }

    fn block_of(&self, ppn: crate::units::Ppn) -> BlockId {
        self.geometry().split_page(ppn).0
    }

    /// The first read from `index` on in the line of a pool that no exclusion of a plane or of blocks keeps waiting, and that does not need the
    /// register of this plane.
    pub(super) fn first_read_outside(&self, pool: PoolId, index: u32, register: Option<PlaneId>) -> u32 {
        let job = self.gc.job(pool).filter(|_| self.excludes_reads);
        match (job, register) {
            (None, None) => index,
            (Some(_), _) if !self.block_scope && !self.plane_scope_in_pool => NONE,
            _ => {
                let needs_register = |lpn| register.is_some() && self.ftl.lookup(lpn).map(|ppn| self.plane_of_page(ppn)) == register;
                let goes = |read: &Transaction| !job.is_some_and(|job| self.is_excluded(pool, job, read.lpn)) && !needs_register(read.lpn);
                self.first_in_line(index, goes).unwrap_or(NONE)
            }
        }
    }

    /// The first transaction from `index` on in its line that is wanted.
    fn first_in_line(&self, mut index: u32, wanted: impl Fn(&Transaction) -> bool) -> Option<u32> {
        while index != NONE {
            let transaction = &self.transactions[index];
            if wanted(transaction) {
                return Some(index);
            }
            index = transaction.next;
        }
        None
    }

    /// A page lies in the plane, or in one of the blocks, that the pool's job excludes.
    fn is_excluded(&self, pool: PoolId, job: &Job, lpn: Lpn) -> bool {
        let Some(ppn) = self.ftl.lookup(lpn) else { return false };
        if !self.block_scope {
            return self.plane_excluded[self.plane_of_page(ppn).index()];
        }
        let block = self.block_of(ppn);
        block == job.victim || self.ftl.job_fills(pool, block)
    }

    /// The erase of a pool's job has ended.
    pub(super) fn job_ended(&mut self, now: Ns, pool: PoolId) {
        let die = self.geometry().die_of_pool(pool);
        let excludes = self.excludes_reads || self.gc.excluded(self.ftl.geometry(), pool) != Excluded::Nothing;
        self.set_exclusion(now, pool, self.has(Planted::KeepsExclusion));
        self.jobs_on_die[die.index()] -= 1;
        self.gauge_jobs(now, die);
        let gate = (excludes || self.states.is_urgent(pool)).then_some(self.serial + 1);
        let job = self.gc.finish(&self.ftl, pool, gate);
        self.note_state(now, pool);
        self.note_job_end(now, pool);
        let ns = now - job.started_ns;
        self.counters.jobs += 1;
        self.counters.job_ns += u128::from(ns);
        self.counters.job_ns_max = self.counters.job_ns_max.max(ns);
        if let Some(gate) = self.gc.gate(self.ftl.geometry(), pool) {
            self.counters.gates += u64::from(self.somebody_goes_first(pool, gate));
            self.gated.push(pool);
        }
        let next = self.gc.after_job(self.ftl.geometry(), pool);
        self.start_jobs(now, next);
        self.dirty.insert(die);
    }

    /// Opens the gates behind which no host operation is left that could go first. Returns true if something may begin because of it.
    pub(super) fn open_gates(&mut self, now: Ns) -> bool {
        let mut opened = false;
        for pool in std::mem::take(&mut self.gated) {
            let Some(gate) = self.gc.gate(self.ftl.geometry(), pool) else { continue };
            if self.somebody_goes_first(pool, gate) {
                self.gated.push(pool);
                continue;
            }
            let next = self.gc.open_gate(self.ftl.geometry(), pool);
            self.start_jobs(now, next);
            opened = true;
        }
        opened
    }

    /// A host operation that began to wait before `gate` is still waiting in the turn of `pool`, and not for a free block.
    fn somebody_goes_first(&self, pool: PoolId, gate: u64) -> bool {
        if self.block_scope && !self.states.is_urgent(pool) {
            return !self.states.holds_up(pool, LineKind::Read) && self.read_goes_first(pool, gate);
        }
        // The first of a line has waited longest, unless it has passed others.
        let passes = self.sched.slack.is_some();
        let waits = |line, may: bool| {
            let head = self.sched.head(line);
            let before = |transaction: &Transaction| transaction.ready.1 < gate;
            may && head != NONE && (before(&self.transactions[head]) || passes && self.first_in_line(head, before).is_some())
        };
        self.gc.pools_of_turn(self.geometry(), pool).map(PoolId).any(|pool| {
            if self.states.is_urgent(pool) {
                return self.ftl.can_write(pool);
            }
            let chip = self.geometry().chip_of_die(self.geometry().die_of_pool(pool));
            waits(self.sched.line(pool, LineKind::Read), !self.states.holds_up(pool, LineKind::Read))
                || waits(self.sched.line(pool, LineKind::Write), self.ftl.can_write(pool) && !self.states.holds_up(pool, LineKind::Write))
                || self.sched.is_dynamic() && waits(self.sched.chip_line(chip), self.takes_any_write(pool))
        })
    }
    /// With scope `block`: a read that began to wait before `gate` waited for a block that the job filled. What waited for the victim has
    /// moved there.
    fn read_goes_first(&self, pool: PoolId, gate: u64) -> bool {
        let excluded = |read: &Transaction| self.ftl.lookup(read.lpn).is_some_and(|ppn| self.ftl.job_fills(pool, self.block_of(ppn)));
        let waits = |read: &Transaction| read.ready.1 < gate && excluded(read);
        self.first_in_line(self.sched.head(self.sched.line(pool, LineKind::Read)), waits).is_some()
    }
}
