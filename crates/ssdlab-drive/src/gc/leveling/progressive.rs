//! Progressive levelling, after the aim of PWL (Chen, Yang, Chang and Kuo, DATE 2015) that no block wears out early and no data move before
//! that is near: a block may be ahead of the youngest by as many erases as it has left, but by the threshold at least.

use super::Blocks;
use ssdlab_base::units::BlockId;

pub(super) fn block_erased(blocks: Blocks<'_>, erased: BlockId, threshold: u32) -> Option<BlockId> {
    let young = blocks.youngest(|_| true)?;
    let ahead = blocks.cycles(erased).saturating_sub(blocks.cycles(young));
    (ahead > threshold.max(blocks.left(erased))).then_some(young)
}
