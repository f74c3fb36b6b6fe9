//! Blocks that have failed: they leave the spare for good (`wear`).

use super::{BlockState, Blocks};
use ssdlab_base::units::{BlockId, PoolId};

impl Blocks {
    /// The block has been erased for the last time: it is never free again.
    pub fn retire(&mut self, pool: PoolId, block: BlockId) {
        self.wiped(pool, block);
        self.blocks[block.index()].state = BlockState::Retired;
        self.retired[pool.index()] += 1;
        self.leaves_static(pool, block);
    }

    /// Number of retired blocks of a pool.
    pub fn retired(&self, pool: PoolId) -> u32 {
        self.retired[pool.index()]
    }

    /// Number of retired blocks of all pools.
    pub fn retired_total(&self) -> u64 {
        self.retired.iter().map(|&blocks| u64::from(blocks)).sum()
    }

    /// The job that collects a block is given up: the block is closed again, with the pages that were not moved.
    pub fn give_up_victim(&mut self, pool: PoolId, block: BlockId) {
        assert!(self.state(block) == BlockState::Victim, "block {block} is not being collected: it is {:?}", self.state(block));
        self.close(pool, block);
    }

    /// Puts a free block at the head of its pool's free list: it is taken next.
    pub fn bring_forward(&mut self, pool: PoolId, block: BlockId) {
        self.links.unlink(&mut self.free[pool.index()], block.0);
        self.links.push_front(&mut self.free[pool.index()], block.0);
    }

    /// Plants a defect: a retired block is on the free list.
    pub fn free_retired(&mut self, pool: PoolId, block: BlockId) {
        self.retired[pool.index()] -= 1;
        self.push_free(pool, block);
    }
}
