//! GC jobs start, exclude host operations from their scope, and end; the states of pools follow.

use super::mechanisms::{self, accepted, advance, burst, idle, pace, rotation};
use super::watch::probes::Event;
use super::watch::{gauges, slowest, timeline};
use super::{Planted, Ssd};
use crate::ftl::Allocated;
use crate::gc::Excluded;
use crate::sched::{QueueId, QueueKind, Transaction, linked};
use ssdlab_base::units::{DieId, Ns, PoolId, TxnId};
use ssdlab_keys::config::{Begin, Scope};

impl Ssd {
    /// Call when a page of a pool was allocated.
    #[inline(always)]
    pub(super) fn page_allocated(&mut self, now: Ns, pool: PoolId, allocated: Allocated) {
        if allocated.began_block {
            mechanisms::block_opened(self, now, pool, allocated);
        }
        if allocated.took_block {
            self.block_taken(now, pool, self.ftl.blocks().free_count(pool));
        }
    }

    /// Call when a block was taken from a pool, or a superblock from its group: the pool has `left` free blocks left.
    pub(super) fn block_taken(&mut self, now: Ns, pool: PoolId, left: u32) {
        let blocks = self.geometry().pools.per_group.get();
        self.probes.note(now, &self.ftl, Event::BlocksTaken { blocks, left });
        for pool in self.group_of(pool) {
            pace::pace_block(self, pool);
            if blocks > 1 {
                // The pool may fill its block of the superblock.
                self.ready.wake(self.geometry().die_of_pool(pool));
            }
        }
        self.trigger_gc(now, pool);
    }

    /// The pools that share a job with `pool`: those whose blocks form superblocks, or the pool alone.
    #[inline(always)]
    pub(super) fn group_of(&self, pool: PoolId) -> impl Iterator<Item = PoolId> + use<> {
        self.geometry().pools_of_group(pool).map(PoolId)
    }

    /// Starts the job of a pool if it wants GC and its scope is free. Call when its free blocks or its wish for GC may have changed.
    pub(super) fn trigger_gc(&mut self, now: Ns, pool: PoolId) {
        if self.gc.idle().is_some() {
            idle::resume_if_short(self, pool);
        }
        rotation::may_want(self, pool);
        let next = self.gc.trigger(&self.ftl, pool, self.sets_off(pool));
        self.group_changed(now, pool);
        self.start_jobs(now, next);
    }

    /// A pool that wants GC may begin a job: the event that starts it has come, and it is the pool's turn.
    #[inline(always)]
    fn sets_off(&self, pool: PoolId) -> bool {
        self.is_set_off(pool) && rotation::may_begin(self, pool)
    }

    /// The event that starts GC in a pool that wants it has come (`gc.begin`): always, or if an operation or a write waits for the die. In
    /// idle time, where that is the trigger, GC needs no such event.
    #[inline(always)]
    pub(super) fn is_set_off(&self, pool: PoolId) -> bool {
        let idle = || self.gc.idle().is_some_and(|idle| idle.is_idle()) || accepted::is_awaited(self, pool);
        let mut dies = self.group_of(pool).map(|pool| self.geometry().die_of_pool(pool));
        match self.rules.gc.begin {
            Begin::Frontier => true,
            Begin::Request => dies.any(|die| self.sched.any_waiting(die)) || idle(),
            Begin::Write => dies.any(|die| self.any_write_waiting(die)) || idle(),
        }
    }

    /// A write waits for the die.
    fn any_write_waiting(&self, die: DieId) -> bool {
        if self.rules.dynamic {
            return self.sched.head(self.sched.writes_for(die)).is_some();
        }
        self.geometry().pools_of_die(die).any(|pool| self.sched.head(self.sched.queue(PoolId(pool), QueueKind::Write)).is_some())
    }

    /// Call when a host operation has come to wait for the die: this may start GC there (`gc.begin`).
    #[inline(always)]
    pub(super) fn operation_waits(&mut self, now: Ns, die: DieId) {
        if self.rules.gc.begin != Begin::Frontier {
            self.geometry().pools_of_die(die).for_each(|pool| self.trigger_gc(now, PoolId(pool)));
        }
    }

    /// Call when a page of the pool became invalid or one of its blocks closed: GC that had stopped there for want of a victim may go on.
    pub(super) fn gain_appeared(&mut self, now: Ns, pool: PoolId) {
        if self.gc.any_stalled() {
            rotation::may_want(self, pool);
            let next = self.gc.gain_appeared(&self.ftl, pool, self.sets_off(pool));
            self.group_changed(now, pool);
            self.start_jobs(now, next);
        } else {
            self.group_changed(now, pool);
        }
    }

    /// [`Ssd::pool_changed`] for all pools that share a job with `pool`.
    #[inline(always)]
    fn group_changed(&mut self, now: Ns, pool: PoolId) {
        self.group_of(pool).for_each(|pool| self.pool_changed(now, pool));
    }

    /// Call when the free blocks of a pool, its job, or whether it wants one may have changed: updates its state, wakes its die where that
    /// matters, and lets a waiting high-priority write make GC run to completion.
    pub(super) fn pool_changed(&mut self, now: Ns, pool: PoolId) {
        let change = self.gc.update_state(now, &self.ftl, pool);
        // A threshold that is not crossed changes nothing, not even the order in which dies are dispatched.
        if change.crossed_hard {
            self.ready.wake(self.geometry().die_of_pool(pool));
        }
        // A high-priority write that waits already counts as one that arrives now.
        if change.may_enter_s3
            && self.sched.high_priority_waiting(pool, QueueKind::Write) > 0
            && let Some(write) = self.sched.first_high_priority(&self.transactions, pool, QueueKind::Write)
        {
            self.enter_s3(now, pool, write);
        }
    }

    /// A high-priority write waits in the pool's queue: in S2 it makes GC run to completion.
    pub(super) fn high_priority_waits(&mut self, now: Ns, pool: PoolId, write: TxnId) {
        if self.gc.may_enter_s3(pool) {
            self.enter_s3(now, pool, write);
        }
    }

    /// The pool enters state S3 (lee2013 Fig. 7).
    fn enter_s3(&mut self, now: Ns, pool: PoolId, write: TxnId) {
        self.gc.states.enter_s3(pool, write);
        self.probes.count().s3_entries += 1;
        self.ready.wake(self.geometry().die_of_pool(pool));
        self.pool_changed(now, pool);
    }

    /// The pool leaves S3: the high-priority write for which it was there begins.
    pub(super) fn leave_s3(&mut self, now: Ns, pool: PoolId) {
        self.gc.states.leave_s3(pool);
        self.ready.wake(self.geometry().die_of_pool(pool));
        self.pool_changed(now, pool);
    }

    /// Starts the job of the pool that is next in its scope; if it has no eligible victim, that of the one after, and so on.
    fn start_jobs(&mut self, now: Ns, mut next: Option<PoolId>) {
        while let Some(pool) = next {
            let serial = self.next_serial();
            let (follows, set_off) = (self.gc.episode_goes_on(&self.ftl, pool), self.sets_off(pool));
            self.group_of(pool).for_each(|pool| advance::limit_credit(self, self.geometry().die_of_pool(pool)));
            let started = self.gc.start(&mut self.ftl, pool, (now, serial), set_off);
            self.group_changed(now, pool);
            if started {
                mechanisms::job_begins(self, pool);
                self.count_begin(now, pool, follows);
                self.group_of(pool).for_each(|part| self.job_started(now, part, follows));
                mechanisms::job_begun(self, now, pool);
                return;
            }
            mechanisms::no_job(self, pool);
            next = self.gc.next_in_scope(&self.ftl, pool);
        }
    }

    /// Counts a job that begins, by its cause. `follows`: it follows another of its episode.
    fn count_begin(&mut self, now: Ns, pool: PoolId, follows: bool) {
        let cause = self.gc.job(pool).expect("it has just started").cause();
        self.probes.count().jobs_by_cause[cause as usize] += 1;
        if !cause.collects() {
            return mechanisms::moving_begins(self, now, pool, cause);
        }
        let mut dies = self.group_of(pool).map(|pool| self.geometry().die_of_pool(pool));
        let waited_for = dies.any(|die| self.sched.any_waiting(die));
        let counters = self.probes.count();
        counters.episode_jobs += u64::from(follows);
        counters.jobs_set_off += u64::from(self.rules.gc.begin != Begin::Frontier && !follows && waited_for);
    }

    /// The job of a pool has started, or its part of a job. `follows`: it follows another of its episode.
    fn job_started(&mut self, now: Ns, pool: PoolId, follows: bool) {
        let die = self.geometry().die_of_pool(pool);
        // The steps of several jobs take turns.
        burst::interrupt_on(self, now, die);
        timeline::job_started(self, now, pool);
        slowest::job_started(self, now, pool, follows);
        gauges::jobs_changed(self, now, die);
        self.set_exclusion(pool, true);
        self.ready.wake(die);
    }

    fn set_exclusion(&mut self, pool: PoolId, on: bool) {
        match self.gc.set_exclusion(&self.ftl, pool, on) {
            Excluded::Nothing => {}
            Excluded::Plane(_) => self.ready.wake(self.geometry().die_of_pool(pool)),
            Excluded::Dies(first, end) => {
                let [first_station, last_station] = [first, end - 1].map(|die| self.geometry().station_of_die(DieId(die)));
                for station in first_station..=last_station {
                    let dies = self.dies_for_write(station).filter(|die| (first..end).contains(&die.0));
                    dies.for_each(|die| self.ready.wake(die));
                }
            }
        }
    }

    /// Host operations that were in service inside the job's scope when it started have not all ended: they end first. A plane needs no
    /// check, since its die is free. A job that pauses counts as pending, too.
    pub(super) fn still_pending(&mut self, pool: PoolId) -> bool {
        if idle::pauses_here(self, pool) {
            return true;
        }
        let pending = self.is_pending(pool);
        self.gc.set_pending(pool, pending);
        pending
    }

    /// The pool's job waits until host operations in its scope have ended, or pauses. Unlike [`Ssd::still_pending`] this changes nothing.
    pub(super) fn is_pending(&self, pool: PoolId) -> bool {
        let Some(job) = self.gc.job(pool) else { return false };
        if job.is_paused() {
            return true;
        }
        match self.gc.excluded(&self.ftl, pool) {
            Excluded::Dies(first, end) => (first..end).any(|die| self.flash.holders(DieId(die)).0),
            Excluded::Nothing if self.rules.gc.scope == Scope::Block => self.victim_in_use(pool),
            Excluded::Nothing | Excluded::Plane(_) => false,
        }
    }

    /// A host operation in service uses the victim of a pool's job.
    fn victim_in_use(&self, pool: PoolId) -> bool {
        let victim = self.gc.job(pool).expect("a job that starts").victim();
        let uses = |first| self.pages_of(first).any(|id| self.block_of_page(self.transactions[id].ppn) == victim);
        self.flash.host_operations(self.geometry().die_of_pool(pool)).any(uses)
    }

    /// The erase of a pool's job, or of the last part of the job of its group, has ended: the job ends, and the next in its scope starts.
    pub(super) fn job_ended(&mut self, now: Ns, pool: PoolId) {
        let excludes = self.rules.gc.excludes_reads || self.gc.excluded(&self.ftl, pool) != Excluded::Nothing;
        for part in self.group_of(pool) {
            self.set_exclusion(part, self.probes.has(Planted::KeepsExclusion));
        }
        // In an episode only the write for which S3 was entered comes between two jobs.
        let lets_through = excludes && !self.gc.episode_goes_on(&self.ftl, pool);
        let urgent = self.group_of(pool).any(|part| self.gc.states.urgent(part).is_some());
        let barrier = (lets_through || urgent).then_some(self.serial + 1);
        let awaited = self.rules.gc.jobs_in_turn && self.gc.another_waits(&self.ftl, pool);
        self.probes.count().job_turns += u64::from(awaited);
        let job = self.gc.finish(&self.ftl, pool, barrier, self.sets_off(pool));
        for part in self.group_of(pool) {
            gauges::jobs_changed(self, now, self.geometry().die_of_pool(part));
            self.pool_changed(now, part);
            timeline::job_ended(self, now, part);
            slowest::job_ended(self, now, part);
        }
        if let Some(barrier) = self.gc.host_barrier(&self.ftl, pool) {
            self.note_host_barrier(pool, barrier);
        }
        mechanisms::job_ends(self, pool, barrier);
        let next = self.gc.next_in_scope(&self.ftl, pool);
        self.start_jobs(now, next);
        mechanisms::job_ended(self, now, pool, job.cause());
        self.group_of(pool).for_each(|part| self.ready.wake(self.ftl.geometry().die_of_pool(part)));
    }

    /// The job of a pool has left a host barrier: it is to be checked, and counts if a host operation goes first.
    pub(super) fn note_host_barrier(&mut self, pool: PoolId, barrier: u64) {
        self.probes.count().host_first_between_jobs += u64::from(self.host_goes_first(pool, barrier));
        self.gc.note_barrier(pool);
    }

    /// Removes host barriers behind which no host operation waits that could go first. Returns true if something may begin because of it.
    pub(super) fn lift_barriers(&mut self, now: Ns) -> bool {
        let mut lifted = false;
        let list = self.gc.take_barriers();
        for &pool in &list {
            let Some(barrier) = self.gc.host_barrier(&self.ftl, pool) else { continue };
            if self.host_goes_first(pool, barrier) {
                self.gc.note_barrier(pool);
                continue;
            }
            self.gc.remove_barrier(&self.ftl, pool);
            let next = self.gc.next_in_scope(&self.ftl, pool);
            self.start_jobs(now, next);
            lifted = true;
        }
        self.gc.keep_list(list);
        lifted
    }

    /// A host operation that began to wait before `barrier` still waits in the scope of `pool`, and neither for T_hard nor for a page.
    fn host_goes_first(&self, pool: PoolId, barrier: u64) -> bool {
        if self.rules.gc.scope == Scope::Block {
            return self.group_of(pool).any(|pool| match self.gc.states.urgent(pool) {
                Some(write) => self.ftl.can_write(pool, self.transactions[write].class),
                None => !self.gc.states.stops(pool, QueueKind::Read) && self.read_goes_first(pool, barrier),
            });
        }
        self.gc.pools_of_scope(&self.ftl, pool).any(|pool| {
            if let Some(write) = self.gc.states.urgent(pool) {
                return self.ftl.can_write(pool, self.transactions[write].class);
            }
            let die = self.geometry().die_of_pool(pool);
            let may_write = self.ftl.can_write(pool, self.class_of_next(pool)) && !self.gc.states.stops(pool, QueueKind::Write);
            self.waits_since(self.sched.queue(pool, QueueKind::Read), !self.gc.states.stops(pool, QueueKind::Read), barrier)
                || self.waits_since(self.sched.queue(pool, QueueKind::Write), may_write, barrier)
                || self.rules.dynamic && self.waits_since(self.sched.writes_for(die), self.takes_any_write(pool), barrier)
        })
    }

    /// An operation in the queue began to wait before `barrier`. `may`: operations of the queue may begin at all.
    fn waits_since(&self, queue: QueueId, may: bool, barrier: u64) -> bool {
        let before = |id: TxnId| self.transactions[id].ready.1 < barrier;
        let head = self.sched.head(queue).filter(|_| may);
        // The first of a queue has waited for longest, unless it has bypassed others.
        let bypasses = self.sched.slack().is_some();
        head.is_some_and(|head| before(head) || bypasses && linked(&self.transactions, Some(head)).any(before))
    }

    /// With scope `block`: a read that began to wait before `barrier` waits for a block that the job filled. Pages that reads of the victim
    /// wait for have moved there.
    fn read_goes_first(&self, pool: PoolId, barrier: u64) -> bool {
        let excluded = |lpn| self.ftl.lookup(lpn).is_some_and(|ppn| self.ftl.job_fills(pool, self.block_of_page(ppn)));
        let waits = |read: &Transaction| read.ready.1 < barrier && excluded(read.lpn);
        linked(&self.transactions, self.sched.head(self.sched.queue(pool, QueueKind::Read))).any(|id| waits(&self.transactions[id]))
    }

    /// Verify mode: checks that a host write begins with at least T_hard free blocks, or while no GC is wanted. High-priority writes are
    /// exempt.
    pub(super) fn check_hard_threshold(&mut self, pool: PoolId, id: TxnId) {
        let Some(verifier) = self.probes.verifier_mut() else { return };
        let (free, hard) = (self.ftl.blocks().free_count(pool), self.gc.hard_blocks());
        if free < hard && self.gc.is_triggered(&self.ftl, pool) && !self.transactions[id].high_priority {
            verifier.found(Err(format!("a host write begins in pool {pool} with {free} free blocks, T_hard being {hard}")));
        }
    }
}
