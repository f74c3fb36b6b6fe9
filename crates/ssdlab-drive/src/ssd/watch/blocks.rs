//! What the drive reports to the recorder of its blocks.

use crate::ftl::BlockState;
use crate::ssd::Ssd;
use ssdlab_base::units::{BlockId, PoolId};
use ssdlab_result::stats::{BlockNow, DriveBlocks};

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
                state: recorded(blocks.state(block)),
                stream: blocks.stream(block),
                valid: blocks.valid(block) as u16,
                programmed: blocks.programmed(block) as u16,
                erases: blocks.erases()[block.index()],
            });
        }
    }
}

/// The state under which a block is recorded, as an index into the names of `stats/blocks.rs`: a block of a superblock is open from when
/// that was taken, and a victim until all are erased.
fn recorded(state: BlockState) -> u8 {
    match state {
        BlockState::Free | BlockState::Spare => 0,
        BlockState::Open | BlockState::Taken => 1,
        BlockState::Closed | BlockState::Cached => 2,
        BlockState::Victim | BlockState::Erased => 3,
        BlockState::Retired => 4,
    }
}
