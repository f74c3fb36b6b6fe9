//! The states of a pool (lee2013 III-D, Fig. 7): what is still allowed while there is too little free space.
//!
//! | state | when | host operations on the pool |
//! |---|---|---|
//! | S0 | GC is not wanted | all |
//! | S1 | GC is wanted | all |
//! | S2 | GC is wanted, and the pool has fewer than T_hard free blocks | reads, and writes that merge with a page move (none with `gc.hard_stops = "all"`) |
//! | S3 | entered from S2 when a high-priority write waits | none until the job has ended, then that write |
//!
//! While a job excludes the host (`gc.scope`) the pool counts as in S3, too; `exclusion` says which host operations wait for it.

use crate::views::QueueKind;
use ssdlab_base::units::{Ns, PoolId, TxnId};
use ssdlab_keys::config::{Config, HardStops};
use ssdlab_keys::geometry::Geometry;

const S0: u8 = 0;
const S1: u8 = 1;
const S2: u8 = 2;
const S3: u8 = 3;

/// What decides the state of a pool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// GC is wanted, and the pool may have an eligible victim.
    pub wanted: bool,
    /// A job is active that excludes the host.
    pub excluded: bool,
    /// Free blocks of the pool.
    pub free: u32,
}

/// What an update of a pool's state has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateChange {
    /// The pool has begun or ceased to have fewer than T_hard free blocks while GC is wanted.
    pub crossed_hard: bool,
    /// The pool has fewer than T_hard free blocks while GC is wanted, and is not in S3: a waiting high-priority write makes it enter S3.
    pub may_enter_s3: bool,
}

/// The states of all pools.
#[derive(Clone, Debug)]
pub struct States {
    /// T_hard in blocks; 0: none.
    hard: u32,
    stops_reads: bool,
    /// By pool: its state, and since when, ns.
    now: Vec<(u8, Ns)>,
    /// Time in each state, summed over pools, ns: more than 64 bits, since there may be many pools.
    total: [u128; 4],
    /// By pool: GC is wanted and there are fewer than T_hard free blocks.
    short: Vec<bool>,
    /// By pool: the high-priority write for which it is in S3.
    urgent: Vec<Option<TxnId>>,
    /// Number of pools in S3 for a high-priority write.
    any_urgent: u32,
    /// A planted defect: S2 is never entered.
    forgets_hard: bool,
}

impl States {
    pub(super) fn new(config: &Config, geometry: &Geometry) -> Self {
        let pools = geometry.pools.count.get() as usize;
        States {
            hard: if config.gc.hard == 0.0 { 0 } else { config.gc.hard_blocks(geometry.pools.blocks_each) + config.uncounted_blocks() },
            stops_reads: config.gc.hard_stops == HardStops::All,
            now: vec![(S0, 0); pools],
            total: [0; 4],
            short: vec![false; pools],
            urgent: vec![None; pools],
            any_urgent: 0,
            forgets_hard: false,
        }
    }

    pub(super) fn hard_blocks(&self) -> u32 {
        self.hard
    }

    pub(super) fn forget_hard_threshold(&mut self) {
        self.forgets_hard = true;
    }

    /// The high-priority write for which the pool is in S3.
    #[inline(always)]
    pub fn urgent(&self, pool: PoolId) -> Option<TxnId> {
        if self.any_urgent == 0 { None } else { self.urgent[pool.index()] }
    }

    /// Some pool is in S3 for a high-priority write.
    #[inline(always)]
    pub fn any_urgent(&self) -> bool {
        self.any_urgent > 0
    }

    /// The state of the pool stops host operations of this kind.
    #[inline(always)]
    pub fn stops(&self, pool: PoolId, kind: QueueKind) -> bool {
        self.hard > 0 && (self.urgent[pool.index()].is_some() || self.short[pool.index()] && (kind == QueueKind::Write || self.stops_reads))
    }

    /// The pool has fewer than T_hard free blocks while GC is wanted.
    #[inline]
    pub(super) fn is_short(&self, pool: PoolId) -> bool {
        self.short[pool.index()]
    }

    /// Updates the state of a pool from these facts.
    #[inline]
    pub(super) fn update(&mut self, now: Ns, pool: PoolId, facts: Facts) -> StateChange {
        let was_short = self.short[pool.index()];
        if self.hard > 0 {
            self.short[pool.index()] = facts.wanted && facts.free < self.hard && !self.forgets_hard;
        }
        let short = self.short[pool.index()];
        let urgent = self.urgent[pool.index()].is_some();
        let state = match facts {
            _ if urgent || facts.excluded => S3,
            Facts { wanted: false, .. } => S0,
            _ if short => S2,
            _ => S1,
        };
        let (before, since) = self.now[pool.index()];
        if state != before {
            self.total[before as usize] += u128::from(now - since);
            self.now[pool.index()] = (state, now);
        }
        StateChange { crossed_hard: short != was_short, may_enter_s3: short && !urgent }
    }

    /// A pool enters S3: GC runs to completion for this high-priority write.
    pub fn enter_s3(&mut self, pool: PoolId, write: TxnId) {
        self.urgent[pool.index()] = Some(write);
        self.any_urgent += 1;
    }

    /// A pool leaves S3: the high-priority write for which it was there begins.
    pub fn leave_s3(&mut self, pool: PoolId) {
        self.urgent[pool.index()] = None;
        self.any_urgent -= 1;
    }

    /// Time in S0 to S3 until `now`, summed over pools, ns.
    pub fn times(&self, now: Ns) -> [u128; 4] {
        let mut total = self.total;
        for &(state, since) in &self.now {
            total[state as usize] += u128::from(now - since);
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_base::units::SlabId;

    const POOL: PoolId = PoolId(0);

    /// lee2013 Fig. 7, from S0 to S3 and back, 10 ns in each state. T_hard is two blocks.
    #[test]
    fn a_pool_goes_through_the_states_of_figure_7() {
        let mut config = Config::default();
        config.device.channels = 1;
        (config.gc.soft, config.gc.hard) = (4.0, 0.5);
        let mut states = States::new(&config, &Geometry::new(&config));
        let mut time = 0;
        let mut after_10_ns = |states: &mut States, wanted, free| {
            time += 10;
            let change = states.update(time, POOL, Facts { wanted, excluded: false, free });
            let stops = [QueueKind::Read, QueueKind::Write].map(|kind| states.stops(POOL, kind));
            ((change.crossed_hard, change.may_enter_s3), states.is_short(POOL), stops)
        };
        assert_eq!(after_10_ns(&mut states, true, 3), ((false, false), false, [false, false]), "S0 ends");
        assert_eq!(after_10_ns(&mut states, true, 1), ((true, true), true, [false, true]), "S1 ends");
        let write = TxnId::new(7);
        states.enter_s3(POOL, write);
        assert_eq!((states.any_urgent(), states.urgent(POOL)), (true, Some(write)));
        assert_eq!(after_10_ns(&mut states, true, 1), ((false, false), true, [true, true]), "S2 ends");
        states.leave_s3(POOL);
        assert_eq!((states.any_urgent(), states.urgent(POOL)), (false, None));
        assert_eq!(after_10_ns(&mut states, false, 1), ((true, false), false, [false, false]), "S3 ends");
        assert_eq!(states.times(45), [10 + 5, 10, 10, 10]);
    }
}
