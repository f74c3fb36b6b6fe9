//! The states of a pool (lee2013 III-D, Fig. 7): what is still allowed while there is too little free space.
//!
//! | state | when | host operations on the pool |
//! |---|---|---|
//! | S0 | no collection is wanted | all |
//! | S1 | it is | all |
//! | S2 | the same with fewer than T_hard free blocks | reads, and writes that join a page move (none with `gc.hard_stops = "all"`) |
//! | S3 | from S2, when a high-priority write waits | none until the job has ended, then that write |
//!
//! A scope that excludes the host while a job is active is counted as S3 as well; what it keeps waiting is decided by plane, die, chip or
//! channel (`collect`).

use super::{Planted, Ssd};
use crate::config::{Config, HardStops, Scope};
use crate::geometry::Geometry;
use crate::sched::{LineKind, NONE};
use crate::units::{Ns, PoolId};

/// Indices of the states.
const S0: u8 = 0;
const S1: u8 = 1;
const S2: u8 = 2;
const S3: u8 = 3;

/// The states of all pools.
#[derive(Clone, Debug)]
pub(super) struct States {
    /// T_hard in blocks; 0: none.
    hard: u32,
    stops_reads: bool,
    /// An active job excludes its pool.
    excludes: bool,
    /// By pool: its state, and since when.
    now: Vec<(u8, Ns)>,
    /// Time in each, summed over pools: more than 64 bits, since there may be many pools.
    total: [u128; 4],
    /// By pool: collection is wanted and there are fewer than T_hard free blocks.
    short: Vec<bool>,
    /// By pool: the high-priority write for which it is in S3.
    urgent: Vec<u32>,
    /// Pools with such a write.
    any_urgent: u32,
}

impl States {
    pub(super) fn new(config: &Config, geometry: &Geometry) -> Self {
        let pools = geometry.pools.count.get() as usize;
        States {
            hard: config.gc.hard_blocks(geometry.pools.blocks_each),
            stops_reads: config.gc.hard_stops == HardStops::All,
            excludes: !matches!(config.gc.scope, Scope::Block | Scope::None),
            now: vec![(S0, 0); pools],
            total: [0; 4],
            short: vec![false; pools],
            urgent: vec![NONE; pools],
            any_urgent: 0,
        }
    }

    /// T_hard in blocks; 0: none.
    pub(super) fn hard_blocks(&self) -> u32 {
        self.hard
    }

    /// The pool is in S3 for a high-priority write.
    #[inline(always)]
    pub(super) fn is_urgent(&self, pool: PoolId) -> bool {
        self.any_urgent > 0 && self.urgent[pool.index()] != NONE
    }

    /// Some pool is in S3 for a high-priority write.
    #[inline(always)]
    pub(super) fn any_urgent(&self) -> bool {
        self.any_urgent > 0
    }

    /// The high-priority write for which the pool is in S3, or [`NONE`].
    pub(super) fn urgent_write(&self, pool: PoolId) -> u32 {
        self.urgent[pool.index()]
    }

    /// The state keeps operations of this kind waiting.
    #[inline(always)]
    pub(super) fn holds_up(&self, pool: PoolId, kind: LineKind) -> bool {
        self.hard > 0 && self.held_up(pool, kind)
    }

    fn held_up(&self, pool: PoolId, kind: LineKind) -> bool {
        self.urgent[pool.index()] != NONE || self.short[pool.index()] && (kind == LineKind::Write || self.stops_reads)
    }
}

impl Ssd {
    /// The state of a pool may have changed.
    pub(super) fn note_state(&mut self, now: Ns, pool: PoolId) {
        let was_short = self.states.short[pool.index()];
        if self.states.hard > 0 {
            self.states.short[pool.index()] = self.gc.is_wanted(pool)
                && self.ftl.blocks().free_count(pool) < self.states.hard
                && !self.has(Planted::ForgetsHardThreshold);
        }
        let state = self.state_of(pool);
        let (before, since) = self.states.now[pool.index()];
        if state != before {
            self.states.total[before as usize] += u128::from(now - since);
            self.states.now[pool.index()] = (state, now);
        }
        if self.states.hard == 0 {
            return;
        }
        // A threshold that is not crossed changes nothing, not even whose turn it is.
        if self.states.short[pool.index()] != was_short {
            self.dirty.insert(self.geometry().die_of_pool(pool));
        }
        // A write of high priority that waits already is as good as one that arrives.
        if self.states.short[pool.index()]
            && !self.states.is_urgent(pool)
            && self.sched.high_priority_waiting(pool, LineKind::Write) > 0
            && let Some(index) = self.first_high_priority(pool, LineKind::Write)
        {
            self.enter_s3(now, pool, index);
        }
    }

    fn state_of(&self, pool: PoolId) -> u8 {
        if self.states.urgent[pool.index()] != NONE || self.states.excludes && self.gc.job(pool).is_some() {
            S3
        } else if !self.gc.is_wanted(pool) {
            S0
        } else if self.states.short[pool.index()] {
            S2
        } else {
            S1
        }
    }

    /// The first operation of high priority in a line of the pool.
    pub(super) fn first_high_priority(&self, pool: PoolId, kind: LineKind) -> Option<u32> {
        let mut index = self.sched.head(self.sched.line(pool, kind));
        while index != NONE && !self.transactions[index].high_priority {
            index = self.transactions[index].next;
        }
        (index != NONE).then_some(index)
    }

    /// A high-priority write waits in the pool's line: in S2 it has collection run to completion.
    pub(super) fn high_priority_waits(&mut self, now: Ns, pool: PoolId, index: u32) {
        if self.states.short[pool.index()] && !self.states.is_urgent(pool) {
            self.enter_s3(now, pool, index);
        }
    }

    fn enter_s3(&mut self, now: Ns, pool: PoolId, index: u32) {
        self.states.urgent[pool.index()] = index;
        self.states.any_urgent += 1;
        self.counters.s3_entries += 1;
        self.dirty.insert(self.geometry().die_of_pool(pool));
        self.note_state(now, pool);
    }

    /// The high-priority write for which its pool was in S3 goes now.
    pub(super) fn leave_s3(&mut self, now: Ns, pool: PoolId) {
        self.states.urgent[pool.index()] = NONE;
        self.states.any_urgent -= 1;
        self.dirty.insert(self.geometry().die_of_pool(pool));
        self.note_state(now, pool);
    }

    /// Verify mode: a host write that begins finds T_hard free blocks, or no collection that could bring them; the one that S3 was for aside.
    pub(super) fn check_hard_threshold(&mut self, pool: PoolId, index: u32) {
        let Some(verifier) = &mut self.verifier else { return };
        let (free, hard) = (self.ftl.blocks().free_count(pool), self.states.hard);
        if free < hard && self.gc.is_wanted(pool) && !self.transactions[index].high_priority {
            verifier.note(Err(format!("a host write begins in pool {pool} with {free} free blocks, T_hard being {hard}")));
        }
    }

    /// Time in S0 to S3 until `now`, summed over pools, ns.
    pub fn state_ns(&self, now: Ns) -> [u128; 4] {
        let mut total = self.states.total;
        for &(state, since) in &self.states.now {
            total[state as usize] += u128::from(now - since);
        }
        total
    }
}
