//! Victims whose last units wait in the controller's buffer for the next job of their pool (`gc.leftover = "carry"`). Until they are programmed
//! they are valid in the victim, which answers reads of them. A superblock of several pools waits as one, in the first pool of its group.

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
    /// The victim of the pool, or of its group, that waits for the next job; of a superblock the block that stands for it.
    #[inline]
    pub fn waiting_victim(&self, pool: PoolId) -> Option<BlockId> {
        self.waiting[self.geometry.lead_pool(pool).index()].map(|waiting| waiting.block)
    }

    /// The block, or its superblock, was collected, and waits for the next job.
    pub fn waits_for_job(&self, block: BlockId) -> bool {
        self.waiting_victim(self.geometry.pool_of_block(block)) == Some(self.blocks.stands_for(block))
    }

    /// Pages that the programs of a waiting victim may take, in whole programs; of a superblock, in the first pool of its group.
    pub(super) fn owed_for_waiting(&self, pool: PoolId) -> u32 {
        self.waiting[pool.index()].map_or(0, |waiting| waiting.owed)
    }

    /// The job of the pool, or of the group whose first it is, ends without the erase of its victim, which waits. `programs`: the most that its
    /// last units take.
    pub fn leave_job(&mut self, pool: PoolId, victim: BlockId, programs: u32) {
        self.waiting[pool.index()] = Some(Waiting { block: victim, owed: programs * self.geometry.units_per_program });
        for part in self.geometry.pools_of_group(pool) {
            self.pools[part as usize].end_job(self.streams);
        }
        self.steer_group(pool);
    }

    /// The job of the waiting victim of the pool, or of the group whose first it is, goes on. Returns the victim.
    pub fn take_up_job(&mut self, pool: PoolId) -> BlockId {
        let Waiting { block, owed } = self.waiting[pool.index()].take().expect("a victim waits");
        for part in self.geometry.pools_of_group(pool).map(PoolId) {
            let placed = if part == pool { owed } else { 0 };
            self.pools[part.index()].start_job(placed, self.geometry.units_per_block.get(), self.streams);
        }
        self.steer_group(pool);
        block
    }

    /// The waiting victim has been erased, or of a superblock this block of the pool; the job goes on, with `left` units to move. `retires`: the
    /// block is never free again. Returns what is free once all is erased.
    pub fn commit_waiting(&mut self, pool: PoolId, block: BlockId, left: u32, retires: bool) -> Option<Freed> {
        if retires {
            self.blocks.retire(pool, block);
        } else {
            self.blocks.erased(pool, block);
        }
        let alone = if retires { Freed::Dissolved } else { Freed::Whole { replaced: 0 } };
        let freed = if self.geometry.spans_pools() { self.superblock_freed(block)? } else { alone };
        let (lead, most) = (self.geometry.lead_pool(pool), self.pages_for(left));
        self.waiting[lead.index()] = None;
        let state = &mut self.pools[lead.index()];
        state.owed = state.owed.min(most);
        self.steer_group(pool);
        Some(freed)
    }

    /// The job of the pool, or of its group, must have the waiting victim erased before it places more units of its own: the host may take no more
    /// blocks, and the job may find no room for both.
    ///
    /// As long as that is so, the pool has a free block, or enough room: of the two blocks that were free when the earlier job left its victim
    /// the host can take one, and then the other has room for what that victim has left.
    pub fn victim_holds_room(&self, pool: PoolId) -> bool {
        let owed = self.pools[self.geometry.lead_pool(pool).index()].owed;
        self.blocks.free_count(pool) <= self.reserve && self.room_for_job(pool) < owed
    }

    /// Pages that the job of the pool, or of its group, can program in its open blocks and the free ones.
    pub fn room_for_job(&self, pool: PoolId) -> u32 {
        let open = if self.geometry.spans_pools() { self.group_room_of_moves(pool) } else { self.room_of_moves(pool) };
        self.blocks.free_count(pool) * self.geometry.units_per_reclaim() + open
    }

    /// Closes all victims that wait, with the units that they hold: no job goes on from now on.
    pub fn close_waiting(&mut self) {
        for pool in (0..self.geometry.pools.count.get()).map(PoolId) {
            if let Some(Waiting { block, .. }) = self.waiting[pool.index()].take() {
                self.give_up_block(pool, block);
            }
        }
    }
}
