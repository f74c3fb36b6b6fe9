//! Blocks that are moved although their pool needs no free block, each with its cause. Of superblocks of several pools the block that stands
//! for each is listed, for the first pool of its group.

use std::collections::VecDeque;

use crate::ftl::Ftl;
use ssdlab_base::cause::Cause;
use ssdlab_base::units::{BlockId, PoolId};
use ssdlab_keys::config::capacity::RESERVE;

/// By pool: blocks that wait to be moved, the one that has waited for longest first.
#[derive(Debug, Default)]
pub struct DueBlocks {
    pools: Vec<VecDeque<(BlockId, Cause)>>,
    /// Number of blocks of all pools.
    count: usize,
    /// By pool: its last job moved such a block.
    last: Vec<bool>,
}

impl DueBlocks {
    /// No block of these pools waits.
    pub(super) fn new(pools: usize) -> Self {
        DueBlocks { pools: vec![VecDeque::new(); pools], count: 0, last: vec![false; pools] }
    }

    /// Some block waits.
    #[inline(always)]
    pub fn any(&self) -> bool {
        self.count > 0
    }

    /// The pools with a block that waits.
    pub fn pools(&self) -> Vec<PoolId> {
        (0..).map(PoolId).zip(&self.pools).filter(|(_, blocks)| !blocks.is_empty()).map(|(pool, _)| pool).collect()
    }

    /// A block is to be moved.
    pub fn push(&mut self, pool: PoolId, block: BlockId, cause: Cause) {
        self.pools[pool.index()].push_back((block, cause));
        self.count += 1;
    }

    /// A block of the pool waits to be moved for this reason.
    pub fn waits_for(&self, pool: PoolId, cause: Cause) -> bool {
        self.count > 0 && self.pools[pool.index()].iter().any(|&(_, other)| other == cause)
    }

    /// A block has been erased: it need not be moved any more.
    pub fn forget(&mut self, pool: PoolId, block: BlockId) {
        if self.count > 0 {
            let blocks = &mut self.pools[pool.index()];
            let before = blocks.len();
            blocks.retain(|&(other, _)| other != block);
            self.count -= before - blocks.len();
        }
    }

    /// The block of a pool that can be moved next: full and at rest, while the pool has a free block beside the one that GC keeps.
    pub(super) fn next(&self, ftl: &Ftl, pool: PoolId) -> Option<(BlockId, Cause)> {
        if self.count == 0 || ftl.blocks().free_count(pool) <= RESERVE {
            return None;
        }
        self.pools[pool.index()].iter().copied().find(|&(block, _)| ftl.blocks().is_at_rest(block))
    }

    /// The block that the next job of a pool moves. A pool that needs free blocks (`wanted`) has a job for that after each of these.
    pub(super) fn take(&mut self, ftl: &Ftl, pool: PoolId, wanted: bool) -> Option<(BlockId, Cause)> {
        let after_another = std::mem::replace(&mut self.last[pool.index()], false);
        if self.count == 0 {
            return None;
        }
        let (block, cause) = self.next(ftl, pool).filter(|_| !(wanted && after_another))?;
        self.last[pool.index()] = true;
        self.forget(pool, block);
        Some((block, cause))
    }
}
