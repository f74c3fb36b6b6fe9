//! The open blocks of a zone that is reset (`ftl.placement = "zones"`).

use super::{Class, Ftl};
use ssdlab_base::units::PoolId;

impl Ftl {
    /// Closes the open blocks of a pool that host writes of a class fill, without the pages that they lack. Returns the number of these
    /// units. No program of the class may be under way.
    pub fn close_open(&mut self, pool: PoolId, class: Class) -> u32 {
        let stream = self.pools[pool.index()].host_stream(class);
        if self.geometry.spans_pools() {
            return if self.geometry.lead_pool(pool) == pool { self.close_superblocks(pool, stream) } else { 0 };
        }
        let pages = self.geometry.units_per_block.get();
        let frontier = &mut self.pools[pool.index()].open[usize::from(stream)];
        let (block, from) = (frontier.block, std::mem::replace(&mut frontier.next_page, pages));
        if from < pages {
            self.blocks.skip_rest(pool, block, from);
        }
        pages - from
    }
}
