//! Victims whose last units wait in the controller's buffer for the next job of their pool (`gc.leftover = "carry"`). Until they are programmed
//! they are valid in the victim, which answers reads of them.

use super::{Freed, Ftl};
use serde::{Deserialize, Serialize};
use ssdlab_base::units::{BlockId, PoolId};

/// A victim that waits.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Waiting {
    block: BlockId,
    /// Pages that the programs of its last units may take, in whole programs.
    owed: u32,
}

impl Ftl {
    /// The victim of the pool that waits for the next job.
    #[inline]
    pub fn waiting_victim(&self, pool: PoolId) -> Option<BlockId> {
        self.waiting[pool.index()].map(|waiting| waiting.block)
    }

    /// Pages that the programs of a waiting victim may take, in whole programs.
    pub(super) fn owed_for_waiting(&self, pool: PoolId) -> u32 {
        self.waiting[pool.index()].map_or(0, |waiting| waiting.owed)
    }

    /// The pool's job ends without the erase of its victim, which waits. `programs`: the most that its last units take.
    pub fn leave_job(&mut self, pool: PoolId, victim: BlockId, programs: u32) {
        self.waiting[pool.index()] = Some(Waiting { block: victim, owed: programs * self.geometry.units_per_program });
        self.pools[pool.index()].end_job(self.streams);
        self.steer(pool);
    }

    /// The job of the pool's waiting victim goes on. Returns the victim.
    pub fn take_up_job(&mut self, pool: PoolId) -> BlockId {
        let Waiting { block, owed } = self.waiting[pool.index()].take().expect("a victim waits");
        self.pools[pool.index()].start_job(owed, self.geometry.units_per_block.get(), self.streams);
        self.steer(pool);
        block
    }

    /// The waiting victim has been erased; its pool's job goes on, with `left` units to move. `retires`: the block is never free again.
    pub fn commit_waiting(&mut self, pool: PoolId, left: u32, retires: bool) -> Freed {
        let Waiting { block, .. } = self.waiting[pool.index()].take().expect("a victim waits");
        let most = self.pages_for(left);
        let state = &mut self.pools[pool.index()];
        state.owed = state.owed.min(most);
        if retires {
            self.blocks.retire(pool, block);
            return Freed::Dissolved;
        }
        self.blocks.erased(pool, block);
        self.steer(pool);
        Freed::Whole { replaced: 0 }
    }

    /// The pool's job must have the waiting victim erased before it places more units of its own: the host may take no more blocks, and the job
    /// may find no room for both.
    ///
    /// As long as that is so, the pool has a free block, or enough room: of the two blocks that were free when the earlier job left its victim
    /// the host can take one, and then the other has room for what that victim has left.
    pub fn victim_holds_room(&self, pool: PoolId) -> bool {
        self.blocks.free_count(pool) <= self.reserve && self.room_for_job(pool) < self.pools[pool.index()].owed
    }

    /// Pages that the pool's job can program in its open blocks and the free ones.
    pub fn room_for_job(&self, pool: PoolId) -> u32 {
        self.blocks.free_count(pool) * self.geometry.units_per_block.get() + self.room_of_moves(pool)
    }

    /// Closes all victims that wait, with the units that they hold: no job goes on from now on.
    pub fn close_waiting(&mut self) {
        for pool in (0..self.geometry.pools.count.get()).map(PoolId) {
            if let Some(Waiting { block, .. }) = self.waiting[pool.index()].take() {
                self.blocks.give_up_victim(pool, block);
            }
        }
    }
}
