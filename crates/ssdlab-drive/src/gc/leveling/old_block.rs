//! Old block protection: a block that is ahead of the youngest by more than the threshold, and was not erased lately, takes that one's data.

use super::Blocks;
use ssdlab_base::units::BlockId;

/// When each block was erased last.
#[derive(Debug)]
pub(super) struct OldBlock {
    /// By block: erases of its pool when it was erased last.
    last: Vec<u64>,
    /// Erases of the pool between two of a block beyond which its data count as cold.
    rest: u64,
}

impl OldBlock {
    pub(super) fn new(blocks: u32, rest: u32) -> Self {
        OldBlock { last: vec![0; blocks as usize], rest: rest.into() }
    }

    pub(super) fn block_erased(&mut self, blocks: Blocks<'_>, erased: BlockId, threshold: u32) -> Option<BlockId> {
        let now = blocks.ftl.blocks().erases_in_pool(blocks.pool);
        let rested = now - std::mem::replace(&mut self.last[erased.index()], now) > self.rest;
        let young = blocks.youngest(|_| true).filter(|_| rested)?;
        (blocks.cycles(erased).saturating_sub(blocks.cycles(young)) > threshold).then_some(young)
    }
}
