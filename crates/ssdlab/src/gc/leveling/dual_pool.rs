//! Dual pool (Chang, SAC 2007): blocks are in a hot or in a cold pool. When a block of the hot pool is ahead of the youngest of the cold one by
//! more than the threshold, that one's data move, and both change their pools.

use super::Blocks;
use crate::units::BlockId;

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
    /// one that is not is cold.
    pub(super) fn block_erased(&mut self, blocks: Blocks<'_>, erased: BlockId, threshold: u32) -> Option<BlockId> {
        self.effective[erased.index()] += 1;
        if self.hot[erased.index()] {
            let young = blocks.youngest(|block| !self.hot[block.index()]);
            if let Some(young) = young.filter(|&young| blocks.cycles(erased).saturating_sub(blocks.cycles(young)) > threshold) {
                self.change(erased);
                self.change(young);
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
