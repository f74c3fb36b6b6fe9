//! The trigger `idle`: collection ahead of need when no request has been under way for a while (lee2013 V-B), and what a request that comes
//! then does to it.
//!
//! While the drive is idle, pools want more free blocks than T_soft; everything else is as ever: turns, scopes, victims. The first request
//! puts the threshold back, so that nothing new starts; where nothing is excluded it also has the jobs begun in idleness pause.

use super::Ssd;
use crate::config::{Config, IdleTimeout, Scope, Trigger};
use crate::event::Event;
use crate::units::{DieId, Ns, PoolId};

/// The adaptive timeout is `gc.idle_us` times 2 to at most this power, and at least to minus this power.
const STEPS: i32 = 4;

/// When the drive counts as idle, and what it did in that time.
#[derive(Clone, Debug)]
pub struct Idle {
    /// `gc.idle_us` in ns.
    base_ns: Ns,
    adaptive: bool,
    /// The timeout is `base_ns` times 2 to this power.
    step: i32,
    /// Free blocks of a pool for which it works.
    free: u32,
    /// Jobs pause when a request comes: nothing is excluded.
    pauses: bool,
    /// Since when no request is under way.
    since: Ns,
    /// When the first pending timer is due; `Ns::MAX`: there is none.
    armed: Ns,
    /// The timeout may have passed at this instant. Arrivals of the same instant are taken in before that is decided.
    due: bool,
    /// The drive counts as idle.
    now: bool,
    /// A job that idleness started was active in this idle time.
    worked: bool,
}

impl Idle {
    /// Where idleness is the trigger. `blocks_each`: blocks of a pool.
    pub fn new(config: &Config, blocks_each: u32) -> Option<Self> {
        let gc = &config.gc;
        (gc.trigger == Trigger::Idle).then(|| Idle {
            base_ns: gc.idle_us * 1000,
            adaptive: gc.idle_timeout == IdleTimeout::Adaptive,
            step: 0,
            free: gc.idle_blocks(blocks_each),
            pauses: gc.scope == Scope::None,
            since: 0,
            armed: Ns::MAX,
            due: false,
            now: false,
            worked: false,
        })
    }

    /// When the timeout passes, if no request comes.
    fn deadline(&self) -> Ns {
        let timeout = if self.step < 0 { self.base_ns >> -self.step } else { self.base_ns << self.step };
        self.since + timeout
    }

    /// The timeout may have passed at this instant.
    #[inline(always)]
    pub fn is_due(&self) -> bool {
        self.due
    }

    /// After Douglis et al.: a timeout was too short if a request found what it had started still at work, and could have been shorter if not.
    fn adapt(&mut self, found_work: bool) {
        if self.adaptive && self.worked {
            self.step = (self.step + if found_work { 1 } else { -1 }).clamp(-STEPS, STEPS);
        }
    }
}

impl Ssd {
    /// No request is under way from now on.
    pub(super) fn idle_from(&mut self, now: Ns) {
        let Some(idle) = &mut self.idle else { return };
        idle.since = now;
        self.arm_timer();
    }

    /// Sees to it that a timer is due when the timeout passes, or before: one for many idle times, most of which a request ends.
    fn arm_timer(&mut self) {
        let Some(idle) = &mut self.idle else { return };
        let deadline = idle.deadline();
        if deadline < idle.armed {
            idle.armed = deadline;
            self.events.push(deadline, 0, Event::Timer);
        }
    }

    /// A timer is due.
    pub(super) fn timer_event(&mut self, now: Ns) {
        let Some(idle) = &mut self.idle else { return };
        if idle.armed == now {
            idle.armed = Ns::MAX;
        }
        if !self.requests.is_empty() || idle.now {
            return;
        }
        idle.due = now >= idle.deadline();
        if !idle.due {
            self.arm_timer();
        }
    }

    /// All that happens at this instant has happened: if no request came, the drive is idle, and pools begin or go on to collect.
    pub(super) fn begin_idle_time(&mut self, now: Ns) {
        let under_way = !self.requests.is_empty();
        let Some(idle) = &mut self.idle else { return };
        idle.due = false;
        if under_way || now < idle.deadline() {
            return;
        }
        idle.now = true;
        idle.worked = false;
        self.ftl.want_free(idle.free);
        for pool in (0..self.geometry().pools.count.get()).map(PoolId) {
            if self.gc.job(pool).is_some_and(|job| job.ahead) {
                self.worked_ahead();
                self.resume_job(pool);
            }
            self.look_at_trigger(now, pool);
        }
    }

    fn worked_ahead(&mut self) {
        if let Some(idle) = &mut self.idle {
            idle.worked = true;
        }
    }

    fn resume_job(&mut self, pool: PoolId) {
        let job = self.gc.job_mut(pool);
        if std::mem::replace(&mut job.paused, false) {
            job.pause_seen = false;
            let die: DieId = self.geometry().die_of_pool(pool);
            self.dirty.insert(die);
        }
    }

    /// A request arrives: it ends the idle time, if there is one.
    pub(super) fn end_idle_time(&mut self) {
        let Some(idle) = &mut self.idle else { return };
        if !std::mem::replace(&mut idle.now, false) {
            return;
        }
        let pauses = idle.pauses;
        self.ftl.want_free(self.ftl.soft_blocks());
        let mut found_work = false;
        for pool in (0..self.geometry().pools.count.get()).map(PoolId) {
            if !self.gc.job(pool).is_some_and(|job| job.ahead) {
                continue;
            }
            found_work = true;
            // A pool that has meanwhile come to need the block collects on.
            if pauses && !self.ftl.wants_collection(pool) {
                let job = self.gc.job_mut(pool);
                job.paused = true;
                job.pending = true;
            }
        }
        self.idle.as_mut().expect("seen above").adapt(found_work);
    }

    /// A job starts: by idleness, if its pool would not want it otherwise.
    pub(super) fn job_started_ahead(&mut self, pool: PoolId) {
        let idle = self.idle.as_ref().is_some_and(|idle| idle.now);
        if idle && !self.ftl.is_short(pool) {
            self.gc.job_mut(pool).ahead = true;
            self.counters.idle_jobs += 1;
            self.worked_ahead();
        }
    }

    /// A job has reached a point at which it could go on: it stays there if it is to pause.
    pub(super) fn pauses_here(&mut self, pool: PoolId) -> bool {
        let job = self.gc.job_mut(pool);
        if job.paused && !std::mem::replace(&mut job.pause_seen, true) {
            self.counters.idle_pauses += 1;
        }
        self.gc.job_mut(pool).paused
    }

    /// A frontier took a free block: a job that pauses goes on if its pool needs the block.
    pub(super) fn resume_if_short(&mut self, pool: PoolId) {
        if self.idle.is_some() && self.gc.job(pool).is_some_and(|job| job.paused) && self.ftl.is_short(pool) {
            self.resume_job(pool);
        }
    }
}
