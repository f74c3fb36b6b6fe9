//! Jobs start, exclude host operations from their scope, and end.

use super::Ssd;
use crate::gc::Excluded;
use crate::sched::{LineKind, NONE};
use crate::units::{DieId, Ns, PlaneId, PoolId};

impl Ssd {
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

    /// Something happened after which the pool's trigger is looked at.
    pub(super) fn look_at_trigger(&mut self, now: Ns, pool: PoolId) {
        let next = self.gc.trigger(&self.ftl, pool);
        self.note_state(now, pool);
        self.start_jobs(now, next);
    }

    fn job_started(&mut self, now: Ns, pool: PoolId) {
        let die = self.geometry().die_of_pool(pool);
        self.jobs_on_die[die.index()] += 1;
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

    /// Host operations that ran inside the job's scope when it started have not all ended: they finish first (MODEL section 3). For scopes
    /// within a die there is nothing to ask, the die being free.
    pub(super) fn still_pending(&mut self, pool: PoolId) -> bool {
        let pending = match self.gc.excluded(self.ftl.geometry(), pool) {
            Excluded::Dies(first, end) => (first..end).any(|die| self.flash.holders(DieId(die)).0),
            _ => false,
        };
        self.gc.job_mut(pool).pending = pending;
        pending
    }

    /// The erase of a pool's job has ended.
    pub(super) fn job_ended(&mut self, now: Ns, pool: PoolId) {
        let die = self.geometry().die_of_pool(pool);
        let excludes = self.gc.excluded(self.ftl.geometry(), pool) != Excluded::Nothing;
        self.set_exclusion(now, pool, false);
        self.jobs_on_die[die.index()] -= 1;
        let gate = (excludes || self.states.is_urgent(pool)).then_some(self.serial + 1);
        let job = self.gc.finish(&self.ftl, pool, gate);
        self.note_state(now, pool);
        let ns = now - job.started_ns;
        self.counters.jobs += 1;
        self.counters.job_ns += ns;
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
        let waits = |line, may: bool| {
            let head = self.sched.head(line);
            may && head != NONE && self.transactions[head].ready.1 < gate
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
}
