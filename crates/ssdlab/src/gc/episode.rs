//! Episodes (`gc.until`): once GC has begun in a pool, it collects block after block until the pool has some free blocks more than the
//! threshold asks for. So does the SSD extension of DiskSim that lee2013 used: cleaning begins with a free block too few and ends with one
//! more than enough, and no request is served between.

use crate::ftl::Ftl;
use crate::geometry::Geometry;
use crate::units::PoolId;

/// The pools that are in an episode.
#[derive(Debug)]
pub(super) struct Episodes {
    /// `gc.until`; 0: there are no episodes.
    until: u32,
    /// By pool.
    within: Vec<bool>,
}

impl Episodes {
    pub(super) fn new(until: u32, geometry: &Geometry) -> Self {
        Episodes { until, within: vec![false; geometry.pools.count.get() as usize] }
    }

    /// The pool is in an episode, and has fewer free blocks than that lasts for.
    #[inline(always)]
    pub(super) fn goes_on(&self, ftl: &Ftl, pool: PoolId) -> bool {
        self.until > 0 && self.within[pool.index()] && ftl.is_below(pool, self.until)
    }

    /// A job of the pool begins (true), or the pool collects nothing more for now.
    #[inline(always)]
    pub(super) fn set(&mut self, pool: PoolId, within: bool) {
        self.within[pool.index()] = within;
    }
}
