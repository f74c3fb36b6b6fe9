//! Garbage collection (GC): when to collect (trigger), what (victim), how far a job is, and which host operations it keeps waiting. The
//! arbiter decides whether the next step may begin now.
//!
//! | file | question |
//! |---|---|
//! | `mod` | when does a job start and end? |
//! | `victim/` | which block is collected? |
//! | `job`, `job/gathering` | what is the next step of a job? |
//! | `packing` | which moved units share a program? |
//! | `scope_queue` | which pool's job is next inside a scope, and does the host go first between two? |
//! | `exclusion` | from which dies and planes does a job exclude the host? |
//! | `states` | what is allowed while a pool is short of free blocks (S0 to S3)? |
//! | `idle` | when is the drive idle? |
//! | `episode` | does a pool collect another block at once? |
//! | `credits` | may a job take a step, where it needs host operations to go on? |
//! | `fold` | which pools fold blocks in SLC mode? |
//! | `due` | which blocks are moved because they were read too often or are too old? |
//! | `leveling/` | which blocks are moved to wear all evenly? |
//! | `pace` | how much may the host write, where it may not be ahead of collection? |
//! | `untimed` | how are pages written and blocks collected without a clock, for preconditioning? |

mod credits;
mod due;
mod episode;
mod exclusion;
mod fold;
mod idle;
mod job;
mod leveling;
mod pace;
mod packing;
mod scope_queue;
mod states;
pub mod untimed;
pub mod victim;

pub use credits::Credits;
pub use due::DueBlocks;
pub use episode::EPISODE_BURSTS;
pub use exclusion::{EXCLUSION_BURSTS, Excluded};
pub use fold::Folds;
pub use idle::Idle;
pub use job::{JOB_BURSTS, Job, Jobs, Left, Move, Step};
pub use leveling::Leveling;
pub use pace::{Ahead, Pace, WHOLE};
pub use states::{StateChange, States};
pub use victim::VICTIM_BURSTS;

use episode::Episodes;
use exclusion::Exclusion;
use scope_queue::ScopeQueues;
use states::Facts;
use victim::{CustomVictim, Picker};

use crate::ftl::Ftl;
use crate::rules::GcRules;
use crate::views::Ready;
use ssdlab_base::cause::Cause;
use ssdlab_base::error::Error;
use ssdlab_base::units::{BlockId, DieId, Ns, PlaneId, PoolId};
use ssdlab_keys::config::Config;

/// The garbage collector of one drive.
#[derive(Debug)]
pub struct Collector {
    excludes_dies: bool,
    victims: Picker,
    /// The active jobs: their steps.
    pub jobs: Jobs,
    queues: ScopeQueues,
    exclusion: Exclusion,
    /// What is allowed while a pool is short of free blocks. [`Collector::update_state`] keeps it.
    pub states: States,
    idle: Option<Idle>,
    episodes: Episodes,
    /// Blocks that wait to be moved although their pool needs no free block.
    pub due: DueBlocks,
    /// Folding of blocks in SLC mode.
    pub folds: Folds,
    /// Steps that jobs may take, where they need host operations to advance (`gc.advance`).
    pub credits: Credits,
    /// By pool: it waits for a job or has one. Pools whose blocks form superblocks have one job; the first of them stands for the group here
    /// and in `stalled`.
    queued: Vec<bool>,
    /// By pool: it wants GC but has no eligible victim, until one of its pages becomes invalid or one of its blocks closes.
    stalled: Vec<bool>,
    stalled_count: u32,
    /// The drive is read-only: no job starts.
    halted: bool,
}

impl Collector {
    /// A collector without jobs. `seed`: the seed of the run, for policies that draw.
    pub fn new(config: &Config, rules: &GcRules, ftl: &Ftl, seed: u64) -> Self {
        let geometry = ftl.geometry();
        let pools = geometry.pools.count.get() as usize;
        let classes = if rules.carries { ftl.classes_of_moves() } else { ftl.classes_of_victim() };
        Collector {
            excludes_dies: rules.excludes_dies() || rules.scope == ssdlab_keys::config::Scope::Plane,
            victims: Picker::new(&config.gc, seed, "gc/victim"),
            jobs: Jobs::new(geometry, classes, rules.moves_in_flight, rules.carries),
            queues: ScopeQueues::new(rules.scope, rules.jobs_in_turn, geometry),
            exclusion: Exclusion::new(rules.scope, geometry),
            states: States::new(config, geometry),
            idle: Idle::new(config, geometry.pools.blocks_each),
            episodes: Episodes::new(rules.until, geometry),
            due: DueBlocks::new(pools),
            folds: Folds::new(config, pools),
            credits: Credits::new(rules.with_requests, geometry),
            queued: vec![false; pools],
            stalled: vec![false; pools],
            stalled_count: 0,
            halted: false,
        }
    }

    /// Replaces the configured victim policy by a user-defined one.
    pub fn use_victim_policy(&mut self, custom: &CustomVictim) {
        self.victims.ask(custom);
    }

    /// Picks for which a user-defined victim policy was called.
    pub fn victim_choices(&self) -> u64 {
        self.victims.asked()
    }

    /// Picks in which the greedy choice replaced that of the victim policy.
    pub fn victim_fallbacks(&self) -> u64 {
        self.victims.fallbacks()
    }

    /// The failure of a user-defined victim policy, once there is one.
    #[inline]
    pub fn take_policy_failure(&mut self) -> Option<Error> {
        self.victims.take_failure()
    }

    /// The pool's active job.
    #[inline(always)]
    pub fn job(&self, pool: PoolId) -> Option<&Job> {
        self.jobs.of(pool)
    }

    /// The move of the pool's job in service or suspended; of gathered units, that of the first, with its pages.
    #[inline(always)]
    pub fn moving(&self, pool: PoolId) -> Option<Move> {
        self.jobs.of(pool)?.moving()
    }

    /// The gathered mapping units of the pool's job that are in service or suspended; empty if jobs gather none.
    pub fn units(&self, pool: PoolId) -> &[Move] {
        if let Some(spread) = self.jobs.spread_jobs() {
            return spread.in_service(pool);
        }
        self.jobs.gathering().map_or(&[], |gathering| gathering.in_service(pool))
    }

    /// Mutable access to the mapping units of the pool's job that are in service or suspended. Only where jobs gather units.
    pub fn units_mut(&mut self, pool: PoolId) -> &mut Vec<Move> {
        self.jobs.in_service_mut(pool)
    }

    /// Number of buffered units that jobs dropped as not needed any more since the last call. Only where jobs gather units.
    pub fn take_discarded(&mut self) -> u32 {
        if self.jobs.gathering().is_none() { 0 } else { self.jobs.gathering_mut().take_discarded() }
    }

    /// Evaluates the trigger for a pool. `set_off`: the event that starts GC where it is wanted has come (`gc.begin`). Returns the pool
    /// whose job may start now, if any.
    #[inline]
    pub fn trigger(&mut self, ftl: &Ftl, pool: PoolId, set_off: bool) -> Option<PoolId> {
        let pool = ftl.geometry().lead_pool(pool);
        let wanted = || {
            let space = self.episodes.goes_on(ftl, pool) || set_off && ftl.wants_collection(pool);
            space
                || self.due.next(ftl, pool).is_some()
                || self.folds.next(ftl, pool, space).is_some()
                || self.next_empty(ftl, pool, space).is_some()
        };
        if self.queued[pool.index()] {
            return None;
        }
        let wanted = !self.halted && wanted();
        self.folds.set_waiting(pool, false);
        if !wanted {
            return None;
        }
        self.queued[pool.index()] = true;
        self.queues.push(ftl.geometry(), pool);
        self.queues.next(ftl.geometry(), pool)
    }

    /// Some pool wants GC but has no eligible victim.
    #[inline(always)]
    pub fn any_stalled(&self) -> bool {
        self.stalled_count > 0
    }

    /// Call when a page of the pool became invalid or a block closed: GC that had stopped for want of a victim may go on. Returns the pool
    /// whose job may start now, if any.
    #[inline(always)]
    pub fn gain_appeared(&mut self, ftl: &Ftl, pool: PoolId, set_off: bool) -> Option<PoolId> {
        let pool = ftl.geometry().lead_pool(pool);
        if self.stalled_count == 0 || !self.stalled[pool.index()] {
            return None;
        }
        self.stalled[pool.index()] = false;
        self.stalled_count -= 1;
        self.trigger(ftl, pool, set_off)
    }

    /// Starts the job of the pool that is next in its scope. Returns false if GC is not wanted or set off (any more), or the pool has
    /// no eligible victim; the caller then calls [`Collector::next_in_scope`].
    pub fn start(&mut self, ftl: &mut Ftl, pool: PoolId, ready: Ready, set_off: bool) -> bool {
        if self.halted {
            self.queues.pop(ftl.geometry(), pool, false);
            return false;
        }
        let wanted = set_off && ftl.wants_collection(pool);
        let goes_on = self.episodes.goes_on(ftl, pool);
        let due = if goes_on { None } else { self.due.take(ftl, pool, wanted) };
        let empty = due.or_else(|| self.next_empty(ftl, pool, wanted || goes_on));
        // A fold gains more; it begins when another has ended.
        let waits = self.folds.waits_for_others(ftl, pool);
        let found = match empty.or_else(|| self.folds.next(ftl, pool, wanted || goes_on)) {
            None if !waits && (wanted || goes_on) => self.victims.pick_or_close(ftl, pool).map(|victim| (victim, Cause::Space)),
            found => found,
        };
        // The turn of GC, which finds nothing to collect.
        let found = found.or_else(|| self.folds.next(ftl, pool, false));
        // Without a victim the pool gains the block of the one that waits.
        let taken_up = found.is_none() && !waits && (wanted || goes_on) && ftl.waiting_victim(pool).is_some();
        self.queues.pop(ftl.geometry(), pool, found.is_some() || taken_up);
        self.folds.set_waiting(pool, found.is_none() && waits && (wanted || goes_on));
        self.episodes.set(pool, taken_up || found.map_or(goes_on && waits, |(_, cause)| goes_on || cause.is_for_space()));
        if taken_up {
            self.folds.job_starts(pool, Cause::Space);
            let victim = ftl.take_up_job(pool);
            for part in ftl.geometry().pools_of_group(pool).map(PoolId) {
                let victim = ftl.blocks().member(victim, part);
                self.start_part(ftl, part, (victim, Cause::Space), ftl.blocks().valid(victim), ready);
            }
            self.jobs.takes_up(ftl, pool);
            return true;
        }
        let Some((victim, cause)) = found else {
            self.queued[pool.index()] = false;
            if wanted && !self.stalled[pool.index()] {
                self.stalled[pool.index()] = true;
                self.stalled_count += 1;
            }
            return false;
        };
        self.folds.job_starts(pool, cause);
        let moves = ftl.start_job(pool, victim);
        self.start_part(ftl, pool, (victim, cause), moves, ready);
        for part in ftl.geometry().pools_of_group(pool).skip(1).map(PoolId) {
            let victim = ftl.blocks().member(victim, part);
            let moves = ftl.start_part(part, victim);
            self.start_part(ftl, part, (victim, cause), moves, ready);
        }
        true
    }

    /// A block without valid data that the pool would erase if it had no other job, and why. `wanted`: it needs free blocks.
    fn next_empty(&self, ftl: &Ftl, pool: PoolId, wanted: bool) -> Option<(BlockId, Cause)> {
        let idle = self.folds.is_idle() || self.idle.as_ref().is_some_and(Idle::is_idle);
        let cause = if wanted { Cause::Space } else { Cause::Empty };
        ftl.next_empty(pool, idle, wanted).map(|block| (block, cause))
    }

    /// Starts the job of a pool, which has `moves` pages to move: all of a job, or its part of the collection of a superblock.
    fn start_part(&mut self, ftl: &Ftl, pool: PoolId, (victim, cause): (BlockId, Cause), moves: u32, ready: Ready) {
        // Gathered units move much later: their map entries are prefetched when their programs begin.
        if !self.jobs.gathers() {
            ftl.prefetch_moves(victim, 0);
        }
        self.jobs.start(ftl.geometry().die_of_pool(pool), pool, (victim, cause), moves, ready);
    }

    /// What the pool's job leaves for the next, if it ends now without the erase of its victim. A job does so that collects for a pool which has
    /// free blocks beside the reserve, and is not below T_hard.
    pub fn leaves(&mut self, ftl: &Ftl, pool: PoolId) -> Option<Left> {
        if self.may_leave(ftl, pool) { self.jobs.leaves(ftl, pool) } else { None }
    }

    /// The job of the pool, or of its group, may end without the erase of its victim.
    pub fn may_leave(&self, ftl: &Ftl, pool: PoolId) -> bool {
        let collects = self.jobs.of(pool).is_some_and(|job| job.cause.collects());
        let is_urgent = || ftl.geometry().pools_of_group(pool).any(|part| self.states.urgent(PoolId(part)).is_some());
        let may_wait = || ftl.blocks().free_count(pool) > ftl.reserve() && !self.states.is_short(pool) && !is_urgent();
        collects && !self.halted && may_wait()
    }

    /// The block of the pool's job is erased, and the job goes on in other pools: of its superblock other blocks are not erased yet.
    pub fn part_ended(&mut self, pool: PoolId) {
        self.jobs.of_mut(pool).over = true;
    }

    /// The pool collects another block at once: its episode continues (`gc.until`).
    #[inline(always)]
    pub fn episode_goes_on(&self, ftl: &Ftl, pool: PoolId) -> bool {
        self.episodes.goes_on(ftl, pool)
    }

    /// The erase has ended: returns the finished job. The pool waits for another job if it wants one; in an episode, ahead of others of its
    /// scope. `barrier`: host operations inside the scope that began to wait before this serial number go before the next job. A job that
    /// folded a block counts until [`Folds::ended`].
    pub fn finish(&mut self, ftl: &Ftl, pool: PoolId, barrier: Option<u64>, set_off: bool) -> Job {
        let goes_on = self.episodes.goes_on(ftl, pool);
        let space = goes_on || set_off && ftl.wants_collection(pool);
        let ahead = || self.folds.next(ftl, pool, space).is_some() || self.next_empty(ftl, pool, space).is_some();
        let again = !self.halted && (space || self.due.next(ftl, pool).is_some() || ahead());
        self.episodes.set(pool, goes_on);
        self.queued[pool.index()] = again;
        self.queues.job_ended(ftl.geometry(), pool, again.then_some(goes_on), barrier);
        let end = |part| self.jobs.end(ftl.geometry().die_of_pool(part), part);
        ftl.geometry().pools_of_group(pool).map(PoolId).map(end).last().expect("a group has a pool")
    }

    /// The pool whose job may start now in the scope of `pool`, if any.
    #[inline]
    pub fn next_in_scope(&self, ftl: &Ftl, pool: PoolId) -> Option<PoolId> {
        self.queues.next(ftl.geometry(), pool)
    }

    /// The pool whose job is active in the scope of `pool`, or on its die where jobs take turns there.
    #[inline]
    pub fn active_in_scope(&self, ftl: &Ftl, pool: PoolId) -> Option<PoolId> {
        self.queues.active(ftl.geometry(), pool)
    }

    /// Another pool waits for a job in the scope of `pool`, or on its die where jobs take turns there.
    pub fn another_waits(&self, ftl: &Ftl, pool: PoolId) -> bool {
        self.queues.another_waits(ftl.geometry(), pool)
    }

    /// The host barrier in the scope of `pool`: host operations that began to wait before this serial number go before the next job.
    #[inline]
    pub fn host_barrier(&self, ftl: &Ftl, pool: PoolId) -> Option<u64> {
        self.queues.host_barrier(ftl.geometry(), pool)
    }

    /// Sets a host barrier in the scope of `pool`, where there is none and no job is active.
    pub fn set_barrier(&mut self, ftl: &Ftl, pool: PoolId, barrier: u64) {
        self.queues.set_barrier(ftl.geometry(), pool, barrier);
    }

    /// The pool's job is the next in its scope, and starts when the host barrier there is removed.
    pub fn starts_behind_barrier(&self, ftl: &Ftl, pool: PoolId) -> bool {
        self.queues.starts_behind_barrier(ftl.geometry(), pool)
    }

    /// Removes the host barrier in the scope of `pool`.
    pub fn remove_barrier(&mut self, ftl: &Ftl, pool: PoolId) {
        self.queues.remove_barrier(ftl.geometry(), pool);
    }

    /// Lists the host barrier that the job of this pool left, to be checked again.
    pub fn note_barrier(&mut self, pool: PoolId) {
        self.queues.note_barrier(pool);
    }

    /// A job may begin without an event or a request: idle time has become long enough, or a host barrier is to be checked.
    #[inline(always)]
    pub fn may_begin(&self) -> bool {
        self.queues.any_barrier() || self.idle.as_ref().is_some_and(Idle::is_due)
    }

    /// Some host barrier is listed to be checked.
    #[inline(always)]
    pub fn any_barrier(&self) -> bool {
        self.queues.any_barrier()
    }

    /// Takes the list of host barriers to be checked, by the pools whose jobs left them. Return it by [`Collector::keep_list`].
    pub fn take_barriers(&mut self) -> Vec<PoolId> {
        self.queues.take_barriers()
    }

    /// Takes back the list of [`Collector::take_barriers`], for its memory.
    pub fn keep_list(&mut self, list: Vec<PoolId>) {
        self.queues.give_back(list);
    }

    /// The pools inside the scope of `pool`.
    pub fn pools_of_scope(&self, ftl: &Ftl, pool: PoolId) -> impl Iterator<Item = PoolId> + use<> {
        self.queues.pools(ftl.geometry(), pool).map(PoolId)
    }

    /// The planes or dies from which the active job of a pool excludes the host.
    pub fn excluded(&self, ftl: &Ftl, pool: PoolId) -> Excluded {
        let job = self.jobs.of(pool).expect("exclusion is that of an active job");
        self.exclusion.of(ftl.geometry(), pool, ftl.geometry().plane_of_block(job.victim()))
    }

    /// The active job of a pool begins or ceases to exclude the host. Returns the planes or dies concerned.
    pub fn set_exclusion(&mut self, ftl: &Ftl, pool: PoolId, on: bool) -> Excluded {
        let excluded = self.excluded(ftl, pool);
        self.exclusion.set(pool, excluded, on);
        excluded
    }

    /// The pool whose job excludes the host from a die.
    #[inline(always)]
    pub fn excludes_die(&self, die: DieId) -> Option<PoolId> {
        self.exclusion.of_die(die)
    }

    /// A job excludes the host from a plane.
    #[inline(always)]
    pub fn excludes_plane(&self, plane: PlaneId) -> bool {
        self.exclusion.of_plane(plane)
    }

    /// T_hard in blocks; 0: none.
    pub fn hard_blocks(&self) -> u32 {
        self.states.hard_blocks()
    }

    /// The pool wants GC and may have an eligible victim: it waits for a job or has one.
    #[inline(always)]
    pub fn is_wanted(&self, ftl: &Ftl, pool: PoolId) -> bool {
        self.queued[ftl.geometry().lead_pool(pool).index()] || self.jobs.of(pool).is_some()
    }

    /// GC is triggered in the pool, which has a victim: it waits for a job or has one, or waits for its turn to fold a block (`slc.fold_jobs`).
    #[inline(always)]
    pub fn is_triggered(&self, ftl: &Ftl, pool: PoolId) -> bool {
        self.is_wanted(ftl, pool) || !self.halted && self.folds.is_waiting(ftl.geometry().lead_pool(pool))
    }

    /// Updates the state of a pool. Call when its free blocks, its job, or whether it wants one may have changed.
    #[inline]
    pub fn update_state(&mut self, now: Ns, ftl: &Ftl, pool: PoolId) -> StateChange {
        let excluded = self.excludes_dies && self.jobs.of(pool).is_some();
        let facts = Facts { wanted: self.is_triggered(ftl, pool), excluded, free: ftl.blocks().free_count(pool) };
        self.states.update(now, pool, facts)
    }

    /// The pool has fewer than T_hard free blocks while GC is wanted, and is not in S3: a waiting high-priority write makes it enter S3.
    pub fn may_enter_s3(&self, pool: PoolId) -> bool {
        self.states.is_short(pool) && self.states.urgent(pool).is_none()
    }

    /// The idle detector, where idle time is the trigger (`gc.trigger = "idle"`).
    #[inline(always)]
    pub fn idle(&self) -> Option<&Idle> {
        self.idle.as_ref()
    }

    /// Mutable access to the idle detector, where idle time is the trigger (`gc.trigger = "idle"`).
    #[inline(always)]
    pub fn idle_mut(&mut self) -> Option<&mut Idle> {
        self.idle.as_mut()
    }

    /// Sets whether host operations that were in service inside the scope of the pool's job when it started may not all have ended.
    #[inline(always)]
    pub fn set_pending(&mut self, pool: PoolId, pending: bool) {
        self.jobs.of_mut(pool).pending = pending;
    }

    /// The pool's job, which has just started for space, was started by idle time, ahead of need.
    pub fn started_ahead(&mut self, pool: PoolId) {
        self.jobs.of_mut(pool).cause = Cause::Idle;
    }

    /// Makes the pool's job pause at its next preemption point.
    pub fn pause(&mut self, pool: PoolId) {
        let job = self.jobs.of_mut(pool);
        (job.paused, job.pending) = (true, true);
    }

    /// The pool's job has reached a preemption point. Returns true if it pauses there for the first time.
    pub fn reaches_pause(&mut self, pool: PoolId) -> bool {
        let job = self.jobs.of_mut(pool);
        job.paused && !std::mem::replace(&mut job.pause_seen, true)
    }

    /// Ends the pause of the pool's job. Returns true if it paused.
    pub fn end_pause(&mut self, pool: PoolId) -> bool {
        let job = self.jobs.of_mut(pool);
        let paused = std::mem::replace(&mut job.paused, false);
        if paused {
            job.pause_seen = false;
        }
        paused
    }

    /// No job starts from now on, and no pool wants one: the drive is read-only.
    pub fn halt(&mut self) {
        self.halted = true;
        self.queued.fill(false);
        self.stalled.fill(false);
        self.stalled_count = 0;
    }

    /// Plants a defect: state S2 is never entered.
    #[doc(hidden)]
    pub fn forget_hard_threshold(&mut self) {
        self.states.forget_hard_threshold();
    }

    /// Active jobs, and pools that wait, for the watchdog's report.
    pub fn describe(&self) -> String {
        let active = self.jobs.active().count();
        format!("{active} GC jobs active, {} waiting, {} pools stalled without gain", self.queues.waiting(), self.stalled_count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Rules;
    use ssdlab_base::units::Lpn;
    use ssdlab_keys::config::{Frontier, PoolScope, Scope};
    use ssdlab_keys::geometry::Geometry;

    const POOLS: [PoolId; 2] = [PoolId(0), PoolId(1)];
    const READY: Ready = (0, 1);

    /// Two planes of a die that collect one at a time. Each has eight blocks of four pages, four of them filled, and wants three free
    /// blocks.
    fn drive() -> (Ftl, Collector) {
        let mut config = Config::default();
        (config.device.channels, config.device.planes_per_die) = (1, 2);
        (config.device.blocks_per_plane, config.device.pages_per_block, config.device.overprovisioning) = (8, 4, 0.5);
        config.ftl.allocation = "PDWC".parse().unwrap();
        (config.ftl.pool, config.ftl.frontier) = (PoolScope::Plane, Frontier::Shared);
        (config.gc.soft, config.gc.scope) = (3.0, Scope::Die);
        let geometry = Geometry::new(&config);
        let mut ftl = Ftl::new(&config);
        ftl.fill(geometry.exported_units);
        let collector = Collector::new(&config, &Rules::new(&config, &geometry).gc, &ftl, 1);
        (ftl, collector)
    }

    /// Writes five pages: the fifth takes the second of four free blocks.
    fn write_until_collection_is_wanted(ftl: &mut Ftl, pool: PoolId) {
        for rank in 0..5 {
            assert!(!ftl.wants_collection(pool));
            let lpn = Lpn(2 * rank + pool.0);
            assert_eq!(ftl.geometry().static_pool(lpn), pool);
            let ppn = ftl.allocate_host(pool, 0).ppn;
            ftl.commit_write(pool, lpn, ppn);
        }
        assert!(ftl.wants_collection(pool));
    }

    fn play_job(ftl: &mut Ftl, collector: &mut Collector, pool: PoolId) {
        while let Step::Move(moved) = collector.jobs.next_step(ftl, pool) {
            let to = ftl.allocate_move(pool, ftl.class_to_move(moved.from)).ppn;
            ftl.commit_move(pool, moved.lpn, moved.from, to);
        }
        let victim = collector.job(pool).expect("it is active").victim();
        assert!(ftl.commit_erase(pool, victim).is_some());
        collector.finish(ftl, pool, None, true);
    }

    #[test]
    fn a_pool_waits_for_a_job_if_it_wants_one_and_what_sets_it_off_is_there() {
        let (mut ftl, mut collector) = drive();
        let [pool, _] = POOLS;
        assert_eq!((collector.trigger(&ftl, pool, true), collector.is_wanted(&ftl, pool)), (None, false), "it wants none");
        write_until_collection_is_wanted(&mut ftl, pool);
        assert_eq!((collector.trigger(&ftl, pool, false), collector.is_wanted(&ftl, pool)), (None, false), "nothing sets it off");
        assert_eq!((collector.trigger(&ftl, pool, true), collector.is_wanted(&ftl, pool)), (Some(pool), true));
    }

    /// A pool that has a job and takes a block does not wait again: when its job ends, that of the other pool starts, and then none.
    #[test]
    fn a_pool_waits_for_one_job_at_a_time() {
        let (mut ftl, mut collector) = drive();
        let [first, second] = POOLS;
        write_until_collection_is_wanted(&mut ftl, first);
        assert_eq!(collector.trigger(&ftl, first, true), Some(first));
        assert!(collector.start(&mut ftl, first, READY, true));
        assert_eq!(collector.trigger(&ftl, first, true), None);
        write_until_collection_is_wanted(&mut ftl, second);
        assert_eq!(collector.trigger(&ftl, second, true), None);
        assert!(collector.another_waits(&ftl, first));
        play_job(&mut ftl, &mut collector, first);
        assert_eq!(collector.next_in_scope(&ftl, first), Some(second));
        assert!(collector.start(&mut ftl, second, READY, true));
        assert!(!collector.another_waits(&ftl, second));
        play_job(&mut ftl, &mut collector, second);
        assert_eq!(collector.next_in_scope(&ftl, second), None);
    }

    /// Block 0 keeps one of its units, which its job leaves. No other block has an invalid unit: the next job programs that unit, leaves nothing, and
    /// erases block 0.
    #[test]
    fn a_job_without_a_victim_finishes_the_block_that_waits() {
        let pool = PoolId(0);
        let mut config = Config::default();
        (config.device.channels, config.device.blocks_per_plane, config.device.pages_per_block) = (1, 8, 4);
        (config.device.overprovisioning, config.ftl.map_unit_bytes) = (0.5, Some(config.device.page_bytes / 2));
        config.gc.leftover = ssdlab_keys::config::Leftover::Carry;
        let mut ftl = Ftl::new(&config);
        ftl.fill(ftl.geometry().exported_units);
        (1..8).for_each(|unit| _ = ftl.trim(Lpn(unit)));
        ftl.want_free(5);
        let mut collector = Collector::new(&config, &Rules::new(&config, ftl.geometry()).gc, &ftl, 1);
        assert_eq!(collector.trigger(&ftl, pool, true), Some(pool));
        assert!(collector.start(&mut ftl, pool, READY, true));
        let victim = collector.job(pool).expect("it has started").victim();
        let Step::Read(moved) = collector.jobs.next_step(&ftl, pool) else { panic!("the unit is read") };
        collector.jobs.begin_step(pool, Some(moved));
        collector.jobs.read_ended(&ftl, pool, READY);
        let left = collector.leaves(&ftl, pool).expect("four blocks are free");
        ftl.leave_job(pool, victim, left.programs);
        collector.finish(&ftl, pool, None, true);
        assert!(collector.start(&mut ftl, pool, READY, true));
        assert_eq!(collector.job(pool).map(|job| (job.victim(), job.cause())), Some((victim, Cause::Space)));
        assert!(collector.leaves(&ftl, pool).is_none());
        let Step::Program(moved) = collector.jobs.next_step(&ftl, pool) else { panic!("the unit is programmed") };
        collector.jobs.begin_step(pool, Some(moved));
        let to = ftl.allocate_move(pool, 0).ppn;
        ftl.pad(pool, to, 1);
        assert!(ftl.commit_move(pool, moved.lpn, moved.from, to));
        collector.jobs.move_ended(&ftl, pool, READY);
        assert_eq!(collector.jobs.next_step(&ftl, pool), Step::Erase);
        assert!(ftl.commit_erase(pool, victim).is_some());
        ftl.check().unwrap();
    }
}
