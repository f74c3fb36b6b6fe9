//! Collection that advances with host operations only (`gc.advance = "with-requests"`): which steps of a job may begin.
//!
//! With `gc.advance = "in-turns"` the step that a job may take goes before the next host operation: at each preemption point one operation
//! is served, and the job goes on.
//!
//! A job takes a step if a host operation has begun on its die since the last. Without one it takes a step only where it must: operations
//! that wait for the die cannot begin before, a host write has merged with the move, GC runs to completion (S3), or the drive is idle.

use super::Ssd;
use super::candidates::{GcCandidate, Limits};
use crate::flash::Phase;
use crate::units::{DieId, PoolId, SlotId};

impl Ssd {
    /// A host operation begins on a die: a job there may take one more step.
    #[inline(always)]
    pub(super) fn lets_job_step(&mut self, die: DieId) {
        if self.rules.gc.with_requests && self.gc.jobs_on_die(die) > 0 {
            self.gc.change_credit(die, 1);
            self.limit_credit(die);
        }
    }

    /// Drops the credit that no active job of the die can use: a request pays for collection under way, not for jobs that begin later.
    pub(super) fn limit_credit(&mut self, die: DieId) {
        if !self.rules.gc.with_requests {
            return;
        }
        let left: u32 = self.geometry().pools_of_die(die).map(|pool| self.steps_left(PoolId(pool))).sum();
        let unused = self.gc.credit(die) - left as i32;
        if unused > 0 {
            self.gc.change_credit(die, -unused);
            self.probes.count().steps_forgone += unused as u64;
        }
    }

    /// Steps of the pool's job that have not begun: two for each page that is still to be moved, and the erase.
    fn steps_left(&self, pool: PoolId) -> u32 {
        let Some(job) = self.gc.job(pool) else { return 0 };
        let valid = self.ftl.blocks().valid(job.victim());
        match job.moving() {
            None if job.is_busy() => 0,
            None => 2 * valid + 1,
            Some(moved) => {
                let others = valid - u32::from(self.ftl.lookup(moved.lpn) == Some(moved.from));
                let programs = self.flash.gc_programs(self.geometry().die_of_pool(pool));
                2 * others + u32::from(!programs) + 1
            }
        }
    }

    /// Resets the credit of a die if no job is active on it: a step that was taken ahead needs no operation any more.
    pub(super) fn forget_credit(&mut self, die: DieId) {
        if self.rules.gc.with_requests && self.gc.jobs_on_die(die) == 0 {
            self.gc.change_credit(die, -self.gc.credit(die));
        }
    }

    /// Counts a step that a job on the die takes. `ahead`: for a waiting host operation that begins after it.
    pub(super) fn takes_step(&mut self, die: DieId, ahead: bool) {
        if !self.rules.gc.with_requests {
            return;
        }
        if ahead || self.gc.credit(die) > 0 {
            self.gc.change_credit(die, -1);
            self.probes.count().steps_with_requests += 1;
        } else {
            self.probes.count().steps_without_requests += 1;
        }
    }

    /// The next GC step between two moves may begin, as far as it needs host operations to have begun.
    pub(super) fn may_step(&self, die: DieId, step: GcCandidate) -> bool {
        if !self.rules.gc.with_requests || self.gc.credit(die) > 0 || self.goes_alone(step.pool()) || self.is_paced_on(die) {
            return true;
        }
        let suspended = self.flash.suspended(die).map(|(_, phase)| phase);
        // An operation suspended in the array or before a transfer is in the middle of a step.
        let inside_step = matches!(step, GcCandidate::Resume(..)) && suspended != Some(Phase::BeforeProgram);
        inside_step || self.only_gc_helps(die)
    }

    /// GC and host take turns (`gc.advance = "in-turns"`), and the next step of the pool's job is due: a host operation has begun since the
    /// last. False for a step that a waiting operation could suspend, and while an operation is suspended.
    #[inline(always)]
    pub(super) fn has_turn(&self, pool: PoolId) -> bool {
        if !self.rules.gc.in_turns {
            return false;
        }
        let die = self.geometry().die_of_pool(pool);
        let suspends = &self.rules.gc.suspends;
        let may_be_suspended = || if self.gc.next_is_erase(&self.ftl, pool) { suspends.erase } else { suspends.read };
        self.gc.credit(die) > 0 && self.flash.suspended(die).is_none() && !may_be_suspended()
    }

    /// Lets jobs advance without host operations: call when no more of these come.
    pub fn let_jobs_end(&mut self) {
        self.rules.gc.with_requests = false;
        self.rules.gc.in_turns = false;
        (0..self.geometry().dies).for_each(|die| self.ready.wake(DieId(die)));
    }

    /// The pool's job needs no host operations to advance: GC runs to completion (S3), or the drive is idle.
    fn goes_alone(&self, pool: PoolId) -> bool {
        self.gc.urgent(pool).is_some() || self.gc.idle().is_some_and(|idle| idle.is_idle())
    }

    /// Host operations wait for the die, and none of them is eligible: only GC can change that.
    fn only_gc_helps(&self, die: DieId) -> bool {
        self.sched.any_waiting(die, self.geometry().chip_of_die(die))
            && self.host_candidate(die, self.limits_beside_suspended(die)).is_none()
    }

    /// A page move that has stopped at preemption point A stays there: no operation waits for the die, and no host operation has begun
    /// since.
    pub(super) fn stays_before_program(&self, die: DieId, pool: PoolId, at: SlotId) -> bool {
        let carries_write = self.gc.moving(pool).is_some_and(|moved| moved.writer.is_some());
        self.rules.gc.with_requests
            && self.gc.credit(die) <= 0
            && !self.flash.is_merged(at)
            && !carries_write
            && !self.goes_alone(pool)
            && !self.is_needed(die)
    }

    /// The step of a move that goes on from preemption point A is taken ahead: for a waiting host operation, which begins after its
    /// program.
    pub(super) fn steps_ahead(&self, die: DieId) -> bool {
        self.rules.gc.with_requests && self.gc.credit(die) == 0 && self.host_candidate(die, Limits::default()).is_some()
    }

    /// Host operations wait for the die, or writes wait for credit that a job on it can earn; where the dies of a chip exclude each other,
    /// also for another die of the chip.
    pub(super) fn is_needed(&self, die: DieId) -> bool {
        let chip = self.geometry().chip_of_die(die);
        let needed = |die| self.sched.any_waiting(die, chip) || self.is_paced_on(die);
        if self.rules.flash.interleave { needed(die) } else { self.dies_of_chip_of(die).any(needed) }
    }
}
