//! Collection that advances with host operations only (`gc.advance = "with-requests"`): which steps of a job may begin.
//!
//! With `gc.advance = "in-turns"` the step that a job may take goes before the next host operation: at each preemption point one operation
//! is served, and the job goes on.
//!
//! A job takes a step if a host operation has begun on its die since the last. Without one it takes a step only where it must: operations
//! that wait for the die cannot begin before, a host write has merged with the move, GC runs to completion (S3), or the drive is idle.
//!
//! Of the job that collects a superblock of several dies each part takes its steps with the host operations of its own die. Where one must go on,
//! all do, since they wait for each other.

use crate::flash::Phase;
use crate::rules::BurstRule;
use crate::ssd::Ssd;
use crate::ssd::candidates::{GcCandidate, Limits};
use crate::ssd::mechanisms::{accepted, pace, slc};
use ssdlab_base::units::{DieId, PoolId, SlotId};

/// Bursts: host operations that begin let the steps of a job begin.
pub(in crate::ssd) const BURSTS: BurstRule = BurstRule { keys: &["gc.advance"], exact: |config| !config.gc.advances_with_requests() };

impl Ssd {
    /// Lets jobs advance without host operations: call when no more of these come.
    pub fn let_jobs_end(&mut self) {
        self.rules.gc.with_requests = false;
        self.rules.gc.in_turns = false;
        (0..self.geometry().dies).for_each(|die| self.ready.wake(DieId(die)));
    }
}

/// A host operation begins on a die: a job there may take one more step.
#[inline(always)]
pub(in crate::ssd) fn lets_job_step(ssd: &mut Ssd, die: DieId) {
    if ssd.rules.gc.with_requests && ssd.gc.jobs.on_die(die) > 0 {
        ssd.gc.credits.change(die, 1);
        limit_credit(ssd, die);
    }
}

/// Drops the credit that no active job of the die can use: a request pays for collection under way, not for jobs that begin later.
#[inline(always)]
pub(in crate::ssd) fn limit_credit(ssd: &mut Ssd, die: DieId) {
    if ssd.rules.gc.with_requests {
        drop_unused(ssd, die);
    }
}

fn drop_unused(ssd: &mut Ssd, die: DieId) {
    let left: u32 = ssd.geometry().pools_of_die(die).map(|pool| steps_left(ssd, PoolId(pool))).sum();
    let unused = ssd.gc.credits.of(die) - left as i32;
    if unused > 0 {
        ssd.gc.credits.change(die, -unused);
        ssd.probes.count().steps_forgone += unused as u64;
    }
}

/// Steps of the pool's job that have not begun: two for each page that is still to be moved, and the erase.
fn steps_left(ssd: &Ssd, pool: PoolId) -> u32 {
    let Some(job) = ssd.gc.job(pool) else { return 0 };
    if ssd.rules.gc.several_moves() {
        return ssd.gc.jobs.steps_left(&ssd.ftl, pool);
    }
    let valid = ssd.ftl.blocks().valid(job.victim());
    match job.moving() {
        None if job.is_busy() => 0,
        None => 2 * valid + 1,
        Some(moved) => {
            let others = valid - u32::from(ssd.ftl.lookup(moved.lpn) == Some(moved.from));
            let programs = ssd.flash.gc_programs(ssd.geometry().die_of_pool(pool));
            2 * others + u32::from(!programs) + 1
        }
    }
}

/// Resets the credit of a die if no job is active on it: a step that was taken ahead needs no operation any more.
pub(in crate::ssd) fn forget_credit(ssd: &mut Ssd, die: DieId) {
    if ssd.rules.gc.with_requests && ssd.gc.jobs.on_die(die) == 0 {
        ssd.gc.credits.change(die, -ssd.gc.credits.of(die));
    }
}

/// Counts the step of the operation that the pool's job begins, if it begins one: the reads that bring a program's worth of units are one step.
pub(in crate::ssd) fn operation_begins(ssd: &mut Ssd, die: DieId, pool: PoolId) {
    if ssd.rules.gc.with_requests && ssd.gc.jobs.begins_step(pool) {
        takes_step(ssd, die, false);
    }
}

/// Counts a step that a job on the die takes. `ahead`: for a waiting host operation that begins after it.
pub(in crate::ssd) fn takes_step(ssd: &mut Ssd, die: DieId, ahead: bool) {
    if !ssd.rules.gc.with_requests {
        return;
    }
    if ahead || ssd.gc.credits.of(die) > 0 {
        ssd.gc.credits.change(die, -1);
        ssd.probes.count().steps_with_requests += 1;
    } else {
        ssd.probes.count().steps_without_requests += 1;
    }
}

/// The next GC step between two moves may begin, as far as it needs host operations to have begun. If not, the die is woken once it need not
/// wait for its own.
#[inline(always)]
pub(in crate::ssd) fn may_begin(ssd: &mut Ssd, die: DieId, step: GcCandidate) -> bool {
    if !ssd.rules.gc.with_requests {
        return true;
    }
    let may = may_step(ssd, die, step);
    if !may {
        ssd.gc.credits.hold(die, true);
    }
    may
}

fn may_step(ssd: &Ssd, die: DieId, step: GcCandidate) -> bool {
    let is_alone = match step {
        GcCandidate::Resume(_, pool) => goes_on_alone(ssd, die, pool),
        GcCandidate::Step(pool) => goes_alone(ssd, pool),
    };
    if ssd.gc.credits.of(die) > 0 || is_alone || room_is_awaited(ssd, die) {
        return true;
    }
    let suspended = ssd.flash.suspended(die).map(|(_, phase)| phase);
    // An operation suspended in the array or before a transfer is in the middle of a step.
    let inside_step = match step {
        GcCandidate::Resume(..) => suspended != Some(Phase::BeforeProgram) || !steps_at_a(ssd),
        GcCandidate::Step(pool) => ssd.gc.jobs.is_inside_step(&ssd.ftl, pool) || ssd.gc.jobs.carries_write(pool),
    };
    let helps_any = || ssd.group_of(step.pool()).any(|part| only_gc_helps(ssd, ssd.geometry().die_of_pool(part)));
    inside_step || if ssd.rules.gc.spreads { helps_any() } else { only_gc_helps(ssd, die) }
}

/// A die has been dispatched: if only GC can help the operations that wait for it, the parts of its superblocks' job on other dies need not wait.
#[inline(always)]
pub(in crate::ssd) fn dispatched(ssd: &mut Ssd, die: DieId) {
    if ssd.rules.gc.with_requests && ssd.rules.gc.spreads && kept_by(ssd, die).any(|die| only_gc_helps(ssd, die)) {
        wake_parts(ssd, PoolId(ssd.geometry().pools_of_die(die).start));
    }
}

/// Units of the pool's job are in the controller's buffer, or a host write has merged with one: if some carry a write, no part waits.
pub(in crate::ssd) fn buffer_changed(ssd: &mut Ssd, pool: PoolId) {
    if ssd.rules.gc.with_requests && ssd.group_of(pool).any(|part| ssd.gc.jobs.carries_write(part)) {
        wake_parts(ssd, pool);
    }
}

/// Wakes the dies on which a part of the pool's job waits for a host operation.
fn wake_parts(ssd: &mut Ssd, pool: PoolId) {
    for part in ssd.group_of(pool) {
        let die = ssd.geometry().die_of_pool(part);
        if ssd.gc.credits.hold(die, false) {
            ssd.ready.wake(die);
        }
    }
}

/// GC and host take turns (`gc.advance = "in-turns"`), and the next step of the pool's job is due: a host operation has begun since the
/// last. False for a step that a waiting operation could suspend, and while an operation is suspended.
#[inline(always)]
pub(in crate::ssd) fn has_turn(ssd: &Ssd, pool: PoolId) -> bool {
    if !ssd.rules.gc.in_turns {
        return false;
    }
    let die = ssd.geometry().die_of_pool(pool);
    let suspends = &ssd.rules.gc.suspends;
    let may_be_suspended = || match () {
        () if ssd.gc.jobs.next_is_erase(&ssd.ftl, pool) => suspends.erase,
        () if ssd.gc.jobs.next_is_program(&ssd.ftl, pool) => suspends.program,
        () => suspends.read,
    };
    (ssd.gc.credits.of(die) > 0 || ssd.gc.jobs.is_inside_step(&ssd.ftl, pool)) && ssd.flash.suspended(die).is_none() && !may_be_suspended()
}

/// The pool's job needs no host operations to advance: GC runs to completion (S3), the drive is idle, or writes elsewhere may wait for the
/// job to end.
fn goes_alone(ssd: &Ssd, pool: PoolId) -> bool {
    let urgent = ssd.group_of(pool).any(|part| ssd.gc.states.urgent(part).is_some());
    urgent || ssd.gc.idle().is_some_and(|idle| idle.is_idle()) || slc::goes_alone(ssd, pool)
}

/// What the pool's job has begun on the die needs no host operations to go on: neither does the job, or another that waits for the die.
fn goes_on_alone(ssd: &Ssd, die: DieId, pool: PoolId) -> bool {
    let other = || kept_by(ssd, die).flat_map(|die| ssd.geometry().pools_of_die(die)).any(|other| slc::goes_alone(ssd, PoolId(other)));
    goes_alone(ssd, pool) || ssd.rules.slc && other()
}

/// The dies that wait for what a die does: itself, and where the dies of a chip exclude each other those of its chip.
fn kept_by(ssd: &Ssd, die: DieId) -> impl Iterator<Item = DieId> + use<> {
    let dies = if ssd.rules.flash.interleave { die.0..die.0 + 1 } else { ssd.geometry().dies_of_chip(ssd.geometry().chip_of_die(die)) };
    dies.map(DieId)
}

/// Host operations wait for the die, and none of them is eligible: only GC can change that.
fn only_gc_helps(ssd: &Ssd, die: DieId) -> bool {
    ssd.sched.any_waiting(die) && ssd.host_candidate(die, ssd.limits_beside_suspended(die)).is_none()
}

/// A page move takes a step at preemption point A, for its program. A program from the controller's buffer has taken its step when it began.
pub(in crate::ssd) fn steps_at_a(ssd: &Ssd) -> bool {
    !ssd.rules.gc.several_moves()
}

/// A page move that has stopped at preemption point A stays there: no operation waits for the die, and no host operation has begun
/// since.
pub(in crate::ssd) fn stays_before_program(ssd: &Ssd, die: DieId, pool: PoolId, at: SlotId) -> bool {
    let carries_write = ssd.gc.moving(pool).is_some_and(|moved| moved.writer.is_some());
    ssd.rules.gc.with_requests
        && steps_at_a(ssd)
        && ssd.gc.credits.of(die) <= 0
        && !ssd.flash.is_merged(at)
        && !carries_write
        && !goes_on_alone(ssd, die, pool)
        && !is_needed(ssd, die)
}

/// A move goes on from preemption point A: counts its step, which is taken ahead if a host operation waits, which begins after its program.
pub(in crate::ssd) fn program_goes_on(ssd: &mut Ssd, die: DieId) {
    if ssd.rules.gc.with_requests && steps_at_a(ssd) {
        let ahead = ssd.gc.credits.of(die) == 0 && ssd.host_candidate(die, Limits::default()).is_some();
        takes_step(ssd, die, ahead);
    }
}

/// Host operations wait for the die, or for one that waits for it, or writes in front of the drive for room that a job there can make.
pub(in crate::ssd) fn is_needed(ssd: &Ssd, die: DieId) -> bool {
    kept_by(ssd, die).any(|die| ssd.sched.any_waiting(die) || room_is_awaited(ssd, die))
}

/// Writes that have not come in wait for room that a job on this die can make.
fn room_is_awaited(ssd: &Ssd, die: DieId) -> bool {
    pace::is_paced_on(ssd, die) || accepted::is_awaited_on(ssd, die)
}
