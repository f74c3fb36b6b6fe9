//! What failures of blocks change: blocks that are filled no further, room that is lost, and a drive that takes no more data (`wear`).

use super::Ftl;
use ssdlab_base::units::{BlockId, PoolId, Ppn};

impl Ftl {
    /// The program that began at `first` has failed: its pages hold no data, and the block is filled no further. Returns the number of pages
    /// of the block that are left out ([`Ftl::leave_out`]).
    pub fn program_failed(&mut self, pool: PoolId, first: Ppn) -> u32 {
        let (block, page) = self.geometry.split_page(first);
        let (units, pages) = (self.geometry.units_per_program, self.geometry.units_per_block.get());
        (page..page + units).for_each(|page| self.blocks.mark_stale(block, page));
        self.blocks.programs_ended(pool, block, units, 0);
        let fills = |frontier: &&mut super::Frontier| frontier.block == block && frontier.next_page < pages;
        match self.pools[pool.index()].open.iter_mut().find(fills) {
            Some(frontier) => pages - std::mem::replace(&mut frontier.next_page, pages),
            None => 0,
        }
    }

    /// Closes a block of which the last `left` pages are left out, unless programs of it are under way. Returns true if it is closed.
    pub fn leave_out(&mut self, block: BlockId, left: u32) -> bool {
        let pages = self.geometry.units_per_block.get();
        if self.blocks.programmed(block) + left < pages {
            return false;
        }
        (pages - left..pages).for_each(|page| self.blocks.mark_stale(block, page));
        self.blocks.programs_ended(self.geometry.pool_of_block(block), block, left, 0);
        true
    }

    /// The job of a pool has to place a program once more: that which it placed has failed.
    pub fn owe_again(&mut self, pool: PoolId) {
        self.pools[pool.index()].owed += self.geometry.units_per_program;
    }

    /// The block of the pool's job has been erased, and is retired: it is never free again. Returns true: the job has ended.
    pub fn commit_retirement(&mut self, pool: PoolId, victim: BlockId) -> bool {
        self.blocks.retire(pool, victim);
        self.pools[pool.index()].end_job(self.streams);
        true
    }

    /// The job of a pool is given up. Its block keeps the pages that were not moved.
    pub fn give_up_job(&mut self, pool: PoolId, victim: BlockId) {
        self.blocks.give_up_victim(pool, victim);
        self.pools[pool.index()].end_job(self.streams);
    }

    /// A block of the pool has failed: the pool can hold a block less of valid pages.
    pub fn lose_block(&mut self, pool: PoolId) {
        self.lost[pool.index()] += self.geometry.units_per_block.get();
    }

    /// Pages of the pool's blocks that have failed.
    pub fn lost_pages(&self, pool: PoolId) -> u32 {
        self.lost[pool.index()]
    }

    /// Some block has failed.
    pub fn has_failed_blocks(&self) -> bool {
        self.lost.iter().any(|&pages| pages > 0)
    }

    /// The pool has room for all pages that its job has to move, or, without a job, the block that the next may need.
    pub fn can_collect(&self, pool: PoolId, has_job: bool) -> bool {
        let state = &self.pools[pool.index()];
        let pages = self.geometry.units_per_block.get();
        let free = self.blocks.free_count(pool);
        if has_job { free * pages + pages - state.moves(0).next_page >= state.owed } else { free > 0 }
    }

    /// Makes a block the next that the pool opens, if it is free.
    pub fn bring_forward(&mut self, pool: PoolId, block: BlockId) {
        if self.blocks.state(block) == super::BlockState::Free {
            self.blocks.bring_forward(pool, block);
        }
    }

    /// No program begins from now on: no block is filled further, and no free block may be taken for the host.
    pub fn close_for_writes(&mut self) {
        self.kept_from_host = u32::MAX;
        let pages = self.geometry.units_per_block.get();
        self.pools.iter_mut().flat_map(|pool| &mut pool.open).for_each(|frontier| frontier.next_page = pages);
    }

    /// Plants a defect: a block that was retired is on the free list.
    pub fn free_retired(&mut self, pool: PoolId, block: BlockId) {
        self.blocks.free_retired(pool, block);
    }
}
