//! One job at a time inside each instance of the scope (`gc.scope`), or on each die (`gc.turns = "job"`): pools that want GC wait for each
//! other, and between two jobs host operations that waited before may go first (a host barrier).
//!
//! Pools whose blocks form superblocks have one job, which waits for its turn as that of the first of them. Its scope is that of all of
//! them: their group, or with `gc.scope = "device"` the drive.

use std::collections::VecDeque;

use ssdlab_base::units::PoolId;
use ssdlab_keys::config::Scope;
use ssdlab_keys::geometry::Geometry;

#[derive(Clone, Debug, Default)]
struct ScopeQueue {
    active: Option<PoolId>,
    waiting: VecDeque<PoolId>,
    /// The host barrier, between two jobs: host operations that began to wait before this serial number go first.
    host_barrier: Option<u64>,
}

/// The queues of all instances of the scope.
#[derive(Debug)]
pub(super) struct ScopeQueues {
    scope: Scope,
    /// Jobs of one die take turns although their scopes are smaller (`gc.turns = "job"`): they have one queue.
    jobs_in_turn: bool,
    queues: Vec<ScopeQueue>,
    /// Host barriers to be checked, each named by the pool whose job left it.
    barriers: Vec<PoolId>,
    /// Number of host barriers that are set.
    set: u32,
}

impl ScopeQueues {
    pub(super) fn new(scope: Scope, jobs_in_turn: bool, geometry: &Geometry) -> Self {
        let instances = match scope {
            Scope::Device => 1,
            _ if geometry.spans_pools() => geometry.pools.count.get() / geometry.pools.per_group.get(),
            Scope::Channel => geometry.channels,
            Scope::Chip => geometry.chips,
            Scope::Die => geometry.dies,
            Scope::Plane | Scope::Block | Scope::None if jobs_in_turn => geometry.dies,
            Scope::Plane | Scope::Block | Scope::None => geometry.pools.count.get(),
        };
        ScopeQueues { scope, jobs_in_turn, queues: vec![ScopeQueue::default(); instances as usize], barriers: Vec::new(), set: 0 }
    }

    fn instance(&self, geometry: &Geometry, pool: PoolId) -> usize {
        let die = geometry.die_of_pool(pool);
        match self.scope {
            Scope::Device => 0,
            _ if geometry.spans_pools() => geometry.group_of_pool(pool) as usize,
            Scope::Channel => geometry.channel_of_die(die).index(),
            Scope::Chip => geometry.chip_of_die(die).index(),
            Scope::Die => die.index(),
            Scope::Plane | Scope::Block | Scope::None if self.jobs_in_turn => die.index(),
            Scope::Plane | Scope::Block | Scope::None => pool.index(),
        }
    }

    /// Puts a pool that wants a job at the end of its queue.
    pub(super) fn push(&mut self, geometry: &Geometry, pool: PoolId) {
        let instance = self.instance(geometry, pool);
        self.queues[instance].waiting.push_back(pool);
    }

    /// The pool whose job may start now in the scope of `pool`.
    #[inline]
    pub(super) fn next(&self, geometry: &Geometry, pool: PoolId) -> Option<PoolId> {
        let queue = &self.queues[self.instance(geometry, pool)];
        if queue.active.is_some() || queue.host_barrier.is_some() { None } else { queue.waiting.front().copied() }
    }

    /// The pool whose job is active in the queue of `pool`.
    #[inline]
    pub(super) fn active(&self, geometry: &Geometry, pool: PoolId) -> Option<PoolId> {
        self.queues[self.instance(geometry, pool)].active
    }

    /// Another pool than `pool` waits for a job in its queue.
    pub(super) fn another_waits(&self, geometry: &Geometry, pool: PoolId) -> bool {
        self.queues[self.instance(geometry, pool)].waiting.iter().any(|&waiting| waiting != pool)
    }

    /// Takes the first pool out of its queue; if `starts`, its job is active.
    pub(super) fn pop(&mut self, geometry: &Geometry, pool: PoolId, starts: bool) {
        let instance = self.instance(geometry, pool);
        let queue = &mut self.queues[instance];
        assert_eq!(queue.waiting.pop_front(), Some(pool), "jobs start in the order in which pools began to wait");
        queue.active = starts.then_some(pool);
    }

    /// The active job has ended. `again`: the pool wants another, ahead of those that wait (true) or behind them. `barrier`: the host
    /// barrier to set if a pool waits.
    pub(super) fn job_ended(&mut self, geometry: &Geometry, pool: PoolId, again: Option<bool>, barrier: Option<u64>) {
        let instance = self.instance(geometry, pool);
        let queue = &mut self.queues[instance];
        queue.active = None;
        match again {
            Some(true) => queue.waiting.push_front(pool),
            Some(false) => queue.waiting.push_back(pool),
            None => {}
        }
        if let Some(barrier) = barrier.filter(|_| !queue.waiting.is_empty()) {
            self.set_barrier(geometry, pool, barrier);
        }
    }

    /// Sets the host barrier in the scope of `pool`, where there is none and no job is active.
    pub(super) fn set_barrier(&mut self, geometry: &Geometry, pool: PoolId, barrier: u64) {
        let instance = self.instance(geometry, pool);
        self.queues[instance].host_barrier = Some(barrier);
        self.set += 1;
    }

    /// The host barrier in the scope of `pool`: host operations that began to wait before it go first.
    #[inline]
    pub(super) fn host_barrier(&self, geometry: &Geometry, pool: PoolId) -> Option<u64> {
        if self.set == 0 { None } else { self.queues[self.instance(geometry, pool)].host_barrier }
    }

    /// The job of `pool` is the next in its scope, and starts when the host barrier there is lifted.
    pub(super) fn starts_behind_barrier(&self, geometry: &Geometry, pool: PoolId) -> bool {
        let next = || self.queues[self.instance(geometry, pool)].waiting.front().copied();
        self.host_barrier(geometry, pool).is_some() && next() == Some(pool)
    }

    /// Removes the host barrier in the scope of `pool`.
    pub(super) fn remove_barrier(&mut self, geometry: &Geometry, pool: PoolId) {
        let instance = self.instance(geometry, pool);
        self.set -= u32::from(self.queues[instance].host_barrier.take().is_some());
    }

    /// Lists the host barrier that the job of this pool left, to be checked again.
    pub(super) fn note_barrier(&mut self, pool: PoolId) {
        self.barriers.push(pool);
    }

    /// Some host barrier is listed to be checked.
    #[inline(always)]
    pub(super) fn any_barrier(&self) -> bool {
        !self.barriers.is_empty()
    }

    /// Takes the list of host barriers to be checked, by the pools whose jobs left them. Return it by [`ScopeQueues::give_back`].
    pub(super) fn take_barriers(&mut self) -> Vec<PoolId> {
        std::mem::take(&mut self.barriers)
    }

    /// Takes back the list of [`ScopeQueues::take_barriers`], for its memory.
    pub(super) fn give_back(&mut self, mut list: Vec<PoolId>) {
        if self.barriers.is_empty() {
            list.clear();
            self.barriers = list;
        }
    }

    /// The pools inside the scope of `pool`.
    pub(super) fn pools(&self, geometry: &Geometry, pool: PoolId) -> std::ops::Range<u32> {
        let die = geometry.die_of_pool(pool);
        let dies = match self.scope {
            Scope::Device => 0..geometry.dies,
            _ if geometry.spans_pools() => return geometry.pools_of_group(pool),
            Scope::Channel => geometry.dies_of_channel(geometry.channel_of_die(die)),
            Scope::Chip => geometry.dies_of_chip(geometry.chip_of_die(die)),
            Scope::Die => die.0..die.0 + 1,
            Scope::Plane | Scope::Block | Scope::None => return pool.0..pool.0 + 1,
        };
        let per_die = geometry.pools.per_die.get();
        dies.start * per_die..dies.end * per_die
    }

    pub(super) fn waiting(&self) -> usize {
        self.queues.iter().map(|queue| queue.waiting.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_keys::config::Config;

    #[test]
    fn a_barrier_is_for_a_pool_that_waits() {
        let geometry = Geometry::new(&Config::default());
        let mut queues = ScopeQueues::new(Scope::Device, false, &geometry);
        let [first, second] = [PoolId(0), PoolId(1)];
        let start = |queues: &mut ScopeQueues, pool| {
            queues.push(&geometry, pool);
            assert_eq!(queues.next(&geometry, pool), Some(pool));
            queues.pop(&geometry, pool, true);
        };
        start(&mut queues, first);
        assert!(!queues.another_waits(&geometry, first));
        queues.job_ended(&geometry, first, None, Some(7));
        assert_eq!((queues.host_barrier(&geometry, first), queues.set), (None, 0), "no pool waits");
        start(&mut queues, first);
        queues.push(&geometry, second);
        assert!(queues.another_waits(&geometry, first));
        queues.job_ended(&geometry, first, None, None);
        assert_eq!((queues.host_barrier(&geometry, first), queues.set), (None, 0), "no operation waits");
        queues.pop(&geometry, second, true);
        queues.job_ended(&geometry, second, Some(true), Some(9));
        assert_eq!((queues.host_barrier(&geometry, first), queues.set), (Some(9), 1));
        assert!(queues.starts_behind_barrier(&geometry, second) && !queues.starts_behind_barrier(&geometry, first));
        assert_eq!(queues.next(&geometry, first), None);
        queues.remove_barrier(&geometry, first);
        assert_eq!((queues.next(&geometry, first), queues.set), (Some(second), 0));
    }
}
