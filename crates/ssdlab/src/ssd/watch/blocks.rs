//! What the drive reports to the recorder of its blocks.

use crate::ftl::BlockState;
use crate::ssd::Ssd;
use crate::stats::{BlockNow, DriveBlocks};
use crate::units::{BlockId, PoolId};

impl Ssd {
    /// Number and place of the blocks of this drive.
    pub fn blocks_shape(&self) -> DriveBlocks {
        let geometry = self.geometry();
        let pools = 0..geometry.pools.count.get();
        DriveBlocks {
            blocks_per_pool: geometry.pools.blocks_each,
            die_of_pool: pools.map(|pool| geometry.die_of_pool(PoolId(pool)).0).collect(),
        }
    }

    /// Calls `each` with the state of each block as it is now, in order.
    pub fn blocks_now(&self, each: &mut dyn FnMut(BlockNow)) {
        let blocks = self.ftl.blocks();
        for block in (0..self.geometry().blocks).map(BlockId) {
            each(BlockNow {
                state: recorded(blocks.state(block)) as u8,
                stream: blocks.stream(block),
                valid: blocks.valid(block) as u16,
                programmed: blocks.programmed(block) as u16,
                erases: blocks.erases()[block.index()],
            });
        }
    }
}

/// The state under which a block is recorded: one of a superblock is open from when that was taken, and a victim until all are erased.
fn recorded(state: BlockState) -> BlockState {
    match state {
        BlockState::Taken => BlockState::Open,
        BlockState::Erased => BlockState::Victim,
        BlockState::Cached => BlockState::Closed,
        other => other,
    }
}
