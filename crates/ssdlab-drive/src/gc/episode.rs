//! Episodes (`gc.until`): once GC has begun in a pool, it collects block after block until the pool has `gc.until` free blocks more than
//! the threshold. The SSD extension of DiskSim that lee2013 used does so: cleaning begins with a free block too few and ends with one more
//! than enough, and no request is served in between.

use crate::ftl::Ftl;
use crate::rules::BurstRule;
use ssdlab_base::units::PoolId;
use ssdlab_keys::config::Begin;
use ssdlab_keys::geometry::Geometry;

/// Bursts: host operations that wait decide when a job begins.
pub const EPISODE_BURSTS: BurstRule =
    BurstRule { keys: &["gc.begin", "gc.until"], exact: |config| config.gc.begin == Begin::Frontier && config.gc.until == 0 };

/// The pools that are in an episode.
#[derive(Debug)]
pub(super) struct Episodes {
    /// `gc.until`: free blocks above the threshold with which an episode ends; 0: no episodes.
    until: u32,
    /// By pool: it is in an episode.
    within: Vec<bool>,
}

impl Episodes {
    pub(super) fn new(until: u32, geometry: &Geometry) -> Self {
        Episodes { until, within: vec![false; geometry.pools.count.get() as usize] }
    }

    /// The episode of the pool continues: the pool has fewer free blocks than the threshold plus `gc.until`.
    #[inline(always)]
    pub(super) fn goes_on(&self, ftl: &Ftl, pool: PoolId) -> bool {
        self.until > 0 && self.within[pool.index()] && ftl.is_below(pool, self.until)
    }

    /// Sets whether the pool is in an episode: true when a job of it starts, false when it collects nothing more for now.
    #[inline(always)]
    pub(super) fn set(&mut self, pool: PoolId, within: bool) {
        self.within[pool.index()] = within;
    }
}
