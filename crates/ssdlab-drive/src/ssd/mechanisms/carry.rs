//! Units that wait for the next job of their pool (`gc.leftover = "carry"`): when a job ends without the erase of its victim, and when that is
//! erased.

use crate::ssd::Ssd;
use crate::ssd::mechanisms::pace;
use crate::ssd::watch::probes::Event;
use ssdlab_base::units::{Ns, PoolId};

impl Ssd {
    /// The drive is at rest, and stays so: what waits for the next job of a pool stays in its block.
    pub fn close_waiting(&mut self) {
        self.ftl.close_waiting();
    }
}

/// Ends the job of a pool if nothing is left to be done but what the next job can do. Returns true if it has ended.
#[inline(always)]
pub(in crate::ssd) fn look(ssd: &mut Ssd, now: Ns, pool: PoolId) -> bool {
    ssd.rules.gc.carries && leave(ssd, now, pool)
}

fn leave(ssd: &mut Ssd, now: Ns, pool: PoolId) -> bool {
    let left = ssd.gc.leaves(&ssd.ftl, pool);
    ssd.probes.count().discarded_moves += u64::from(ssd.gc.take_discarded());
    let (Some(left), Some(job)) = (left, ssd.gc.job(pool)) else { return false };
    let (victim, took) = (job.victim(), now - job.started_ns());
    ssd.probes.count().carried_units += u64::from(left.units);
    ssd.probes.note(now, &ssd.ftl, Event::JobEnded(took));
    pace::job_leaves(ssd, pool);
    ssd.ftl.leave_job(pool, victim, left.programs);
    ssd.job_ended(now, pool);
    true
}

/// The erase of the block that waited has ended: the pool has a free block more, and its job goes on.
pub(in crate::ssd) fn erased(ssd: &mut Ssd, now: Ns, pool: PoolId) {
    let serial = ssd.next_serial();
    ssd.gc.jobs.waiting_erased(pool, (now, serial));
    ssd.pool_changed(now, pool);
    look(ssd, now, pool);
}
