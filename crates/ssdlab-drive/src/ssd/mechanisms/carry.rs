//! Units that wait for the next job of their pool (`gc.leftover = "carry"`): when a job ends without the erase of its victim, and when that is
//! erased.

use crate::ssd::Ssd;
use crate::ssd::mechanisms::{pace, superblock};
use crate::ssd::watch::probes::Event;
use ssdlab_base::units::{Ns, PoolId};

impl Ssd {
    /// The drive is at rest, and stays so: what waits for the next job of a pool stays in its block.
    pub fn close_waiting(&mut self) {
        self.ftl.close_waiting();
    }
}

/// Ends the job of a pool, or of its group, if nothing is left to be done but what the next job can do. Returns true if it has ended.
#[inline(always)]
pub(in crate::ssd) fn look(ssd: &mut Ssd, now: Ns, pool: PoolId) -> bool {
    ssd.rules.gc.carries && leave(ssd, now, ssd.geometry().lead_pool(pool))
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

/// Superblocks: drops units of the job of the group of `lead` that are not needed any more, and lets it erase the blocks of the superblock that
/// waited, once that has no unit left.
pub(in crate::ssd) fn look_at_parts(ssd: &mut Ssd, now: Ns, lead: PoolId) {
    let serial = ssd.next_serial();
    let dropped = ssd.gc.jobs.drop_stale(&ssd.ftl, lead, (now, serial));
    ssd.probes.count().discarded_moves += u64::from(dropped);
    if ssd.gc.jobs.begin_erases_of_waiting(&ssd.ftl, lead, (now, serial)) || dropped > 0 {
        ssd.group_of(lead).for_each(|part| ssd.ready.wake(ssd.ftl.geometry().die_of_pool(part)));
    }
}

/// The erase of the pool's block that waited has ended: its job goes on. `freed`: all of a superblock are erased, so that there is a free one more.
pub(in crate::ssd) fn erased(ssd: &mut Ssd, now: Ns, pool: PoolId, freed: bool) {
    let serial = ssd.next_serial();
    ssd.gc.jobs.waiting_erased(pool, (now, serial));
    if !freed {
        return;
    }
    ssd.group_of(pool).for_each(|part| ssd.pool_changed(now, part));
    if ssd.rules.gc.spreads {
        ssd.gc.jobs.all_of_waiting_erased(ssd.geometry().lead_pool(pool));
        superblock::look(ssd, now, pool);
    } else {
        look(ssd, now, pool);
    }
}
