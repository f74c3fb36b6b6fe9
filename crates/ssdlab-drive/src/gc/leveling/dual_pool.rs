//! Dual pool (Chang, SAC 2007): blocks are in a hot or in a cold pool. When a block of the hot pool is ahead of the youngest of the cold one by
//! more than the threshold, that one's data move, and both change their pools.

use super::Blocks;
use ssdlab_base::units::BlockId;

/// Which blocks are hot.
#[derive(Debug)]
pub(super) struct DualPool {
    hot: Vec<bool>,
    /// By block: erases since it changed its pool.
    effective: Vec<u32>,
}

impl DualPool {
    /// Every other block is hot.
    pub(super) fn new(blocks: u32) -> Self {
        DualPool { hot: (0..blocks).map(|block| block % 2 == 1).collect(), effective: vec![0; blocks as usize] }
    }

    fn change(&mut self, block: BlockId) {
        self.hot[block.index()] = !self.hot[block.index()];
        self.effective[block.index()] = 0;
    }

    /// Moves data of a cold block into a worn one, or adjusts the pools: a cold block that is erased often since it came there is hot, and a hot
    /// one that is not is cold. If no data may move now, blocks that would exchange them stay where they are.
    pub(super) fn block_erased(&mut self, blocks: Blocks<'_>, erased: BlockId, threshold: u32, may_move: bool) -> Option<BlockId> {
        self.effective[erased.index()] += 1;
        if self.hot[erased.index()] {
            let young = blocks.youngest(|block| !self.hot[block.index()]);
            if let Some(young) = young.filter(|&young| blocks.cycles(erased).saturating_sub(blocks.cycles(young)) > threshold) {
                if may_move {
                    self.change(erased);
                    self.change(young);
                }
                return Some(young);
            }
            let coolest = blocks.all().filter(|block| self.hot[block.index()]).min_by_key(|&block| blocks.cycles(block))?;
            if blocks.cycles(erased).saturating_sub(blocks.cycles(coolest)) > 2 * threshold {
                self.change(coolest);
            }
            return None;
        }
        let hot = blocks.all().filter(|block| self.hot[block.index()]);
        let least = hot.map(|block| self.effective[block.index()]).min().unwrap_or(0);
        if self.effective[erased.index()].saturating_sub(least) > threshold {
            self.change(erased);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flash::Failures;
    use crate::gc::victim::bench::Bench;
    use ssdlab_base::units::PoolId;
    use ssdlab_keys::config::{Config, Leveling};

    const POOL: PoolId = PoolId(0);

    fn failures(bench: &Bench) -> Failures {
        let mut config = Config::default();
        config.wear.leveling = Leveling::DualPool;
        Failures::new(&config, bench.ftl.geometry().blocks, 1).expect("erases matter")
    }

    /// Block 1 has been erased once. As long as another block waits to be moved, it does not exchange its data with block 0, nor its side.
    #[test]
    fn blocks_that_may_not_move_keep_their_sides() {
        let (mut bench, mut policy) = (Bench::filled(), DualPool::new(8));
        bench.trim(&[4, 5, 6, 7]);
        bench.collect(1);
        let failures = failures(&bench);
        let blocks = Blocks { ftl: &bench.ftl, failures: &failures, pool: POOL };
        policy.block_erased(blocks, BlockId(1), 0, false);
        assert_eq!([0, 1].map(|block: usize| policy.hot[block]), [false, true]);
        assert_eq!(policy.block_erased(blocks, BlockId(1), 0, true), Some(BlockId(0)));
        assert_eq!([0, 1].map(|block: usize| policy.hot[block]), [true, false]);
    }

    /// The hot blocks 1, 5 and 7 have been erased once each, block 3, which is retired, never. Block 0 becomes hot two erases after those.
    #[test]
    fn retired_blocks_do_not_count() {
        let (mut bench, mut policy) = (Bench::filled(), DualPool::new(8));
        bench.trim(&[12, 13, 14, 15]);
        bench.ftl.start_job(POOL, BlockId(3));
        bench.ftl.commit_retirement(POOL, BlockId(3));
        let failures = failures(&bench);
        let blocks = Blocks { ftl: &bench.ftl, failures: &failures, pool: POOL };
        let mut erased = |block| {
            policy.block_erased(blocks, BlockId(block), 1, true);
            policy.hot[0]
        };
        assert_eq!([1, 5, 7, 0, 0, 0].map(&mut erased), [false, false, false, false, false, true]);
    }
}
