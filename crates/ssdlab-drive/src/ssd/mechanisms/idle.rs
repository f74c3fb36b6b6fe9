//! Idle time: when it is long enough for GC ahead of need or for folding of blocks in SLC mode, and what GC does in it. As the trigger of GC
//! (`gc.trigger = "idle"`) it makes pools want more free blocks, and jobs begun then may pause when a request comes. Folding in idle time is
//! that of [`super::slc`].

use crate::event::{Event, IdleWork};
use crate::gc::Idle;
use crate::rules::BurstRule;
use crate::ssd::Ssd;
use crate::ssd::mechanisms::slc;
use ssdlab_base::cause::Cause;
use ssdlab_base::units::{Ns, PoolId, ReqId};
use ssdlab_keys::config::Trigger;

/// Bursts: a job that began in idle time pauses between two moves.
pub(in crate::ssd) const BURSTS: BurstRule = BurstRule {
    keys: &["gc.trigger", "gc.idle_us", "gc.idle_timeout", "gc.idle_free"],
    exact: |config| config.gc.trigger != Trigger::Idle,
};

/// The detector of idle time for this work; `None` if the drive does none.
#[inline(always)]
fn detector(ssd: &mut Ssd, work: IdleWork) -> Option<&mut Idle> {
    match work {
        IdleWork::Gc => ssd.gc.idle_mut(),
        IdleWork::Folding => ssd.slc.as_mut().and_then(|slc| slc.idle_mut()),
    }
}

/// Call when no request is outstanding any more: timeouts begin.
#[inline(always)]
pub(in crate::ssd) fn all_requests_ended(ssd: &mut Ssd, now: Ns) {
    for work in [IdleWork::Gc, IdleWork::Folding] {
        let timer = detector(ssd, work).and_then(|idle| idle.requests_ended(now));
        set_timer(ssd, work, timer);
    }
}

fn set_timer(ssd: &mut Ssd, work: IdleWork, due: Option<Ns>) {
    if let Some(due) = due {
        ssd.events.push(due, 0, Event::Idle(work));
    }
}

/// Handles a timer that is due.
pub(in crate::ssd) fn timer_is_due(ssd: &mut Ssd, now: Ns, work: IdleWork) {
    let outstanding = ssd.host.outstanding() > 0;
    let timer = detector(ssd, work).and_then(|idle| idle.timer(now, outstanding));
    set_timer(ssd, work, timer);
}

/// Call after the arrivals of an instant: without an outstanding request the drive is idle, and jobs start or go on.
pub(in crate::ssd) fn begin(ssd: &mut Ssd, now: Ns) {
    let outstanding = ssd.host.outstanding() > 0;
    let Some(wanted_free) = ssd.gc.idle_mut().and_then(|idle| idle.begin(now, outstanding)) else { return };
    ssd.ftl.want_free(wanted_free);
    for pool in ssd.pools() {
        if is_ahead(ssd, pool) {
            worked_ahead(ssd);
            resume_job(ssd, pool);
        }
        if ssd.rules.gc.with_requests && ssd.gc.job(pool).is_some() {
            ssd.ready.wake(ssd.geometry().die_of_pool(pool));
        }
        ssd.trigger_gc(now, pool);
    }
}

fn is_ahead(ssd: &Ssd, pool: PoolId) -> bool {
    ssd.gc.job(pool).is_some_and(|job| job.cause() == Cause::Idle)
}

fn worked_ahead(ssd: &mut Ssd) {
    if let Some(idle) = ssd.gc.idle_mut() {
        idle.worked();
    }
}

fn resume_job(ssd: &mut Ssd, pool: PoolId) {
    if ssd.gc.end_pause(pool) {
        ssd.ready.wake(ssd.geometry().die_of_pool(pool));
    }
}

/// Call when a request arrives: ends the idle time, if there is one.
pub(in crate::ssd) fn end(ssd: &mut Ssd) {
    let Some(idle) = ssd.gc.idle_mut() else { return };
    if !idle.end() {
        return;
    }
    let pauses = idle.pauses();
    ssd.ftl.want_free(ssd.ftl.soft_blocks());
    let mut found_work = false;
    for pool in ssd.pools() {
        if !is_ahead(ssd, pool) {
            continue;
        }
        found_work = true;
        // A job goes on whose pool meanwhile needs the block.
        if pauses && !ssd.ftl.wants_collection(pool) && !ssd.ftl.must_fold(pool) {
            ssd.gc.pause(pool);
        }
    }
    if ssd.rules.gc.jobs_in_turn {
        // A job goes on, too, if another pool waits for its turn and meanwhile needs a block.
        ssd.pools().for_each(|pool| resume_if_short(ssd, pool));
    }
    ssd.gc.idle_mut().expect("seen above").adapt(found_work);
}

/// A request has come: idle time ends, unless the request is for the mapping table, perhaps due to page moves in idle time.
#[inline(always)]
pub(in crate::ssd) fn request_arrived(ssd: &mut Ssd, request: ReqId) {
    let may_idle = ssd.gc.idle().is_some() || ssd.rules.slc;
    if may_idle && ssd.host.request(request).request.offset < ssd.geometry().exported_bytes() {
        end(ssd);
        slc::end_idle(ssd);
    }
}

/// Call when the job of a pool and its group starts: if it is for space, the drive is idle and the pool not short of free blocks, idle time
/// has started it, ahead of need.
pub(in crate::ssd) fn job_starts(ssd: &mut Ssd, pool: PoolId) {
    let idle = ssd.gc.idle().is_some_and(|idle| idle.is_idle());
    if idle && ssd.gc.job(pool).is_some_and(|job| job.cause() == Cause::Space) && !ssd.ftl.is_short(pool) {
        ssd.group_of(pool).for_each(|part| ssd.gc.started_ahead(part));
        worked_ahead(ssd);
    }
}

/// Call when a job has reached a preemption point. Returns true if it pauses there; counts each pause once.
pub(in crate::ssd) fn pauses_here(ssd: &mut Ssd, pool: PoolId) -> bool {
    ssd.probes.count().idle_pauses += u64::from(ssd.gc.reaches_pause(pool));
    ssd.gc.job(pool).is_some_and(|job| job.is_paused())
}

/// Call when a free block was taken from the pool, or a block of a cache in SLC mode has become full: if the pool is short of free blocks now,
/// or writes wait for its next job, a paused job of its scope goes on.
pub(in crate::ssd) fn resume_if_short(ssd: &mut Ssd, pool: PoolId) {
    if let Some(active) = ssd.gc.active_in_scope(&ssd.ftl, pool)
        && ssd.gc.job(active).is_some_and(|job| job.is_paused())
        && (ssd.ftl.is_short(pool) || ssd.ftl.must_fold(pool))
    {
        ssd.group_of(active).for_each(|part| resume_job(ssd, part));
    }
}
