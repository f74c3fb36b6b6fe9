//! Static wear levelling (`wear.leveling`): after an erase, whether the data of a block that has been erased little move, so that a worn block
//! takes them and rests. Superblocks of several pools are levelled as one: each is named by the block that stands for it, and is as worn as the
//! most worn of its blocks.

mod dual_pool;
mod old_block;
mod progressive;

use crate::flash::Failures;
use crate::ftl::{BlockState, Ftl};
use ssdlab_base::units::{BlockId, PoolId};
use ssdlab_keys::config::{Config, Leveling as By};

use dual_pool::DualPool;
use old_block::OldBlock;

/// The levelling of a drive.
#[derive(Debug)]
pub struct Leveling {
    /// Difference of erases beyond which data move.
    threshold: u32,
    policy: Policy,
}

#[derive(Debug)]
enum Policy {
    DualPool(DualPool),
    Progressive,
    OldBlock(OldBlock),
}

/// The blocks of a pool as policies see them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks<'a> {
    ftl: &'a Ftl,
    failures: &'a Failures,
    pool: PoolId,
}

impl Blocks<'_> {
    /// Erases of a block since it was new; of a superblock those of its most worn block.
    fn cycles(&self, block: BlockId) -> u32 {
        self.together(block).map(|block| self.cycles_of_one(block)).max().expect("there is a block")
    }

    /// Erases that a block, or the first block of a superblock to fail, has left until it is worn out.
    fn left(&self, block: BlockId) -> u32 {
        let left = |block| self.failures.endurance(block).saturating_sub(self.cycles_of_one(block));
        self.together(block).map(left).min().expect("there is a block")
    }

    fn cycles_of_one(&self, block: BlockId) -> u32 {
        self.failures.cycles(block, self.ftl.block_facts(block))
    }

    /// A block, and the others of its superblock.
    fn together(&self, block: BlockId) -> impl Iterator<Item = BlockId> + use<> {
        let others = self.ftl.blocks().members(block).filter(move |&(_, other)| other != block);
        std::iter::once(block).chain(others.map(|(_, other)| other))
    }

    /// The blocks, or superblocks, that are in use, without those that are always in SLC mode.
    fn all(&self) -> impl Iterator<Item = BlockId> + '_ {
        let blocks = (0..self.ftl.geometry().pools.blocks_each).map(|index| self.ftl.geometry().block_of_pool(self.pool, index));
        let in_use = |block| !matches!(self.ftl.blocks().state(block), BlockState::Retired | BlockState::Spare);
        blocks.filter(move |&block| in_use(block) && !self.ftl.blocks().is_static(block))
    }

    /// The closed block that has been erased least, of those that count; the first of equals.
    fn youngest(&self, counts: impl Fn(BlockId) -> bool) -> Option<BlockId> {
        let closed = self.all().filter(|&block| self.ftl.blocks().state(block) == BlockState::Closed && counts(block));
        closed.min_by_key(|&block| self.cycles(block))
    }
}

impl Leveling {
    /// The levelling of a drive; `None` without one.
    pub fn new(config: &Config, ftl: &Ftl) -> Option<Self> {
        let policy = match config.wear.leveling {
            By::None => return None,
            By::DualPool => Policy::DualPool(DualPool::new(ftl.geometry().blocks)),
            By::Progressive => Policy::Progressive,
            By::OldBlock => Policy::OldBlock(OldBlock::new(ftl.geometry().blocks, config.wear.leveling_rest)),
        };
        Some(Leveling { threshold: config.wear.leveling_threshold, policy })
    }

    /// A block has been erased, and is free. Returns the block whose data are to move, if any; none if `may_move` is false, since another block
    /// of the pool already waits to be moved.
    pub fn block_erased(&mut self, ftl: &Ftl, failures: &Failures, erased: BlockId, may_move: bool) -> Option<BlockId> {
        let blocks = Blocks { ftl, failures, pool: ftl.geometry().pool_of_block(erased) };
        let young = match &mut self.policy {
            Policy::DualPool(policy) => policy.block_erased(blocks, erased, self.threshold, may_move),
            Policy::Progressive => progressive::block_erased(blocks, erased, self.threshold),
            Policy::OldBlock(policy) => policy.block_erased(blocks, erased, self.threshold),
        };
        young.filter(|_| may_move)
    }
}
