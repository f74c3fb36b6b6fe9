//! Idle time as the trigger of GC (`gc.trigger = "idle"`): pools want more free blocks, and jobs begun then may pause when a request comes.

use super::Ssd;
use crate::event::Event;
use crate::units::{Ns, PoolId};

impl Ssd {
    /// Call when no request is outstanding any more: the timeout begins, where idle time is the trigger.
    #[inline(always)]
    pub(super) fn requests_ended(&mut self, now: Ns) {
        if let Some(idle) = self.gc.idle_mut() {
            let timer = idle.requests_ended(now);
            self.set_timer(timer);
        }
    }

    fn set_timer(&mut self, due: Option<Ns>) {
        if let Some(due) = due {
            self.events.push(due, 0, Event::Timer);
        }
    }

    /// Handles a timer that is due.
    pub(super) fn timer_event(&mut self, now: Ns) {
        let outstanding = self.host.outstanding() > 0;
        if let Some(idle) = self.gc.idle_mut() {
            let timer = idle.timer(now, outstanding);
            self.set_timer(timer);
        }
    }

    /// Call after the arrivals of an instant: without an outstanding request the drive is idle, and jobs start or go on.
    pub(super) fn begin_idle_time(&mut self, now: Ns) {
        let outstanding = self.host.outstanding() > 0;
        let Some(wanted_free) = self.gc.idle_mut().and_then(|idle| idle.begin(now, outstanding)) else { return };
        self.ftl.want_free(wanted_free);
        for pool in self.pools() {
            if self.is_ahead(pool) {
                self.worked_ahead();
                self.resume_job(pool);
            }
            if self.rules.gc.with_requests && self.gc.job(pool).is_some() {
                self.ready.wake(self.geometry().die_of_pool(pool));
            }
            self.trigger_gc(now, pool);
        }
    }

    fn is_ahead(&self, pool: PoolId) -> bool {
        self.gc.job(pool).is_some_and(|job| job.is_ahead())
    }

    fn worked_ahead(&mut self) {
        if let Some(idle) = self.gc.idle_mut() {
            idle.worked();
        }
    }

    fn resume_job(&mut self, pool: PoolId) {
        if self.gc.end_pause(pool) {
            self.ready.wake(self.geometry().die_of_pool(pool));
        }
    }

    /// Call when a request arrives: ends the idle time, if there is one.
    pub(super) fn end_idle_time(&mut self) {
        let Some(idle) = self.gc.idle_mut() else { return };
        if !idle.end() {
            return;
        }
        let pauses = idle.pauses();
        self.ftl.want_free(self.ftl.soft_blocks());
        let mut found_work = false;
        for pool in self.pools() {
            if !self.is_ahead(pool) {
                continue;
            }
            found_work = true;
            // A job goes on whose pool meanwhile needs the block.
            if pauses && !self.ftl.wants_collection(pool) {
                self.gc.pause(pool);
            }
        }
        if self.rules.gc.jobs_in_turn {
            // A job goes on, too, if another pool waits for its turn and meanwhile needs a block.
            self.pools().for_each(|pool| self.resume_if_short(pool));
        }
        self.gc.idle_mut().expect("seen above").adapt(found_work);
    }

    /// Call when a job starts: if the drive is idle and the pool not short of free blocks, idle time has started it, ahead of need.
    pub(super) fn job_started_ahead(&mut self, pool: PoolId) {
        let idle = self.gc.idle().is_some_and(|idle| idle.is_idle());
        if idle && !self.ftl.is_short(pool) {
            self.gc.started_ahead(pool);
            self.probes.count().idle_jobs += 1;
            self.worked_ahead();
        }
    }

    /// Call when a job has reached a preemption point. Returns true if it pauses there; counts each pause once.
    pub(super) fn pauses_here(&mut self, pool: PoolId) -> bool {
        self.probes.count().idle_pauses += u64::from(self.gc.reaches_pause(pool));
        self.gc.job(pool).is_some_and(|job| job.is_paused())
    }

    /// Call when a free block was taken from the pool: if the pool is short of free blocks now, a paused job of its scope goes on.
    pub(super) fn resume_if_short(&mut self, pool: PoolId) {
        if let Some(active) = self.gc.active_in_scope(&self.ftl, pool)
            && self.gc.job(active).is_some_and(|job| job.is_paused())
            && self.ftl.is_short(pool)
        {
            self.resume_job(active);
        }
    }
}
