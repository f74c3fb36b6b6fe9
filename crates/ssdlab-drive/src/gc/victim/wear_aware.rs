//! Wear-aware: greedy among the blocks that were not erased more often than the average block of the pool ("to avoid selecting a block that
//! has experienced more erase operations than the average wear-out", lee2013 V, Fig. 15). If all eligible blocks were, the greedy choice is
//! collected.
//!
//! Cost: a step for each eligible block that greedy prefers to the victim and that is worn more than average.

use crate::ftl::Ftl;
use ssdlab_base::units::{BlockId, PoolId};

/// The best block not worn more than average.
#[inline]
pub fn pick(ftl: &Ftl, pool: PoolId) -> Option<BlockId> {
    let blocks = ftl.blocks();
    let (erases, count) = (blocks.erases_in_pool(pool), u64::from(ftl.geometry().pools.blocks_each));
    blocks.eligible_blocks(pool).find(|&block| u64::from(blocks.erases()[block.index()]) * count <= erases)
}

#[cfg(test)]
mod tests {
    use crate::gc::victim::bench::Bench;
    use ssdlab_base::units::PoolId;
    use ssdlab_keys::config::Victim::{Greedy, WearAware};

    /// Pages 0 to 11 lie in blocks 5 to 7, which were never erased, pages 12 to 15 in block 0, which was, as were blocks 1 to 4: five
    /// erases of eight blocks.
    fn worn() -> Bench {
        let mut bench = Bench::filled();
        bench.write(&[0, 1, 2, 3]);
        bench.collect(0);
        bench.trim(&Vec::from_iter(0..16));
        for block in 1..5 {
            bench.collect(block);
        }
        bench.write(&Vec::from_iter(0..16));
        bench
    }

    #[test]
    fn a_block_worn_more_than_average_is_spared() {
        let mut bench = worn();
        assert_eq!(bench.pick(WearAware), None);
        bench.trim(&[14, 15, 0]);
        assert_eq!((bench.pick(Greedy), bench.pick(WearAware)), (Some(0), Some(5)));
        bench.trim(&[4, 5, 6, 12, 13]);
        assert_eq!((bench.pick(Greedy), bench.pick(WearAware)), (Some(0), Some(6)), "the best of the others");
    }

    #[test]
    fn a_block_worn_as_much_as_the_average_is_not_spared() {
        let mut bench = Bench::filled();
        bench.write(&[0]);
        assert_eq!(bench.pick(WearAware), Some(0));
    }

    #[test]
    fn where_all_are_worn_more_than_average_the_greedy_choice_stands_in() {
        let mut bench = worn();
        bench.trim(&[15]);
        let mut picker = bench.picker(WearAware);
        assert_eq!(picker.pick(&mut bench.ftl, PoolId(0)).map(|block| block.0), Some(0));
        assert_eq!(picker.fallbacks(), 1);
        bench.trim(&[0]);
        assert_eq!(picker.pick(&mut bench.ftl, PoolId(0)).map(|block| block.0), Some(5));
        assert_eq!(picker.fallbacks(), 1);
    }
}
