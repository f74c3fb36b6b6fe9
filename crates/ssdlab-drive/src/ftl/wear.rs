//! What failures of blocks change: blocks that are filled no further, room that is lost, and a drive that takes no more data (`wear`).

use super::{Freed, Ftl};
use ssdlab_base::units::{BlockId, PoolId, Ppn};
use ssdlab_keys::config::Streams;

impl Ftl {
    /// The program that began at `first` has failed: its pages hold no data, and the block is filled no further. Returns the number of pages
    /// of the block that are left out ([`Ftl::leave_out`]).
    pub fn program_failed(&mut self, pool: PoolId, first: Ppn) -> u32 {
        let (block, page) = self.geometry.split_page(first);
        let (units, pages) = (self.geometry.units_per_program, self.geometry.units_per_block.get());
        (page..page + units).for_each(|page| self.blocks.mark_stale(block, page));
        self.blocks.programs_ended(pool, block, units, 0);
        let fills = |frontier: &super::Frontier| frontier.block == block && frontier.next_page < pages;
        let mut open = (0..).zip(&mut self.pools[pool.index()].open);
        let Some((stream, frontier)) = open.find(|(_, frontier)| fills(frontier)) else { return 0 };
        let left = pages - std::mem::replace(&mut frontier.next_page, pages);
        self.rest_left_out(pool, stream, left);
        self.steer(pool);
        left
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

    /// The job of a pool, or of its group, has to place a program once more: that which it placed has failed, or was dealt in vain.
    pub fn owe_again(&mut self, pool: PoolId) {
        self.pools[self.geometry.lead_pool(pool).index()].owed += self.geometry.units_per_program;
    }

    /// The block of the pool's job, or part of a job, has been erased, and is retired: it is never free again. Returns what is free if the
    /// job ends.
    pub fn commit_retirement(&mut self, pool: PoolId, victim: BlockId) -> Option<Freed> {
        self.blocks.retire(pool, victim);
        if self.geometry.spans_pools() {
            return self.member_erased(victim);
        }
        self.pools[pool.index()].end_job(self.streams);
        self.steer(pool);
        Some(Freed::Dissolved)
    }

    /// The job of a pool, or of its group, is given up. What it collected keeps the pages that were not moved.
    pub fn give_up_job(&mut self, pool: PoolId, victim: BlockId) {
        self.give_up_block(pool, victim);
        for pool in self.geometry.pools_of_group(pool) {
            self.pools[pool as usize].end_job(self.streams);
        }
    }

    /// What a job collected, or a superblock of which no block has been erased, is closed again with the pages that were not moved.
    pub(super) fn give_up_block(&mut self, pool: PoolId, victim: BlockId) {
        if self.geometry.spans_pools() {
            self.blocks.give_up_superblock(victim);
        } else {
            self.blocks.give_up_victim(pool, victim);
        }
    }

    /// A block of the pool has failed: the pool can hold a block less of valid pages. Returns the pages that it and the pools of its group can
    /// hold less: where there are superblocks, a block of each, unless another pool has lost as many before, whose superblocks can spare a
    /// block of this one.
    pub fn lose_block(&mut self, pool: PoolId) -> u32 {
        let before = self.lost_pages(pool);
        self.lost[pool.index()] += self.geometry.units_per_block.get();
        (self.lost_pages(pool) - before) * self.geometry.pools.per_group.get()
    }

    /// Pages of the pool's blocks that have failed; where there are superblocks, of the pool of its group that has lost the most.
    pub fn lost_pages(&self, pool: PoolId) -> u32 {
        self.geometry.pools_of_group(pool).map(|pool| self.lost[pool as usize]).max().unwrap_or(0)
    }

    /// Some block has failed.
    pub fn has_failed_blocks(&self) -> bool {
        self.lost.iter().any(|&pages| pages > 0)
    }

    /// The pool has room for all pages that its job has to move, and a free block when it ends, or, without a job, the block or superblock that
    /// the next may need, and `kept` free blocks beside that. The job of a superblock has a function of its own ([`Ftl::group_can_collect`]).
    pub fn can_collect(&self, pool: PoolId, has_job: bool, kept: u32) -> bool {
        let state = &self.pools[pool.index()];
        let pages = self.geometry.units_per_block.get();
        let left = if has_job { self.left_by_job(pool) } else { 0 };
        let Some(free) = self.blocks.free_count(pool).checked_sub(kept + left) else { return false };
        let owed = if self.waiting_victim(pool).is_some() { state.owed.min(pages) } else { state.owed };
        if has_job { free * pages + self.room_of_moves(pool) >= owed } else { free > 0 }
    }

    /// Pages for which no program has ended, of the open block of a pool that all host writes and no page moves fill; 0 if the block is full, there
    /// are several, or it changes with GC jobs.
    pub fn open_to_host(&self, pool: PoolId) -> u32 {
        let Streams { host, host_during_job, host_classes, .. } = self.streams;
        let (state, pages) = (&self.pools[pool.index()], self.geometry.units_per_block.get());
        let one = self.slc.is_none()
            && host_classes == 1
            && host == host_during_job
            && host != self.streams.moves
            && !self.geometry.spans_pools();
        let open = state.host(0);
        if one && open.next_page < pages { pages - self.blocks.programmed(open.block) } else { 0 }
    }

    /// Free blocks of a pool, or superblocks of its group, that `pages` pages of host writes take at most, beside `open` pages of
    /// the open block ([`Ftl::open_to_host`]).
    pub fn blocks_for(&self, pages: u64, open: u64) -> u32 {
        let each = u64::from(self.geometry.units_per_reclaim());
        let classes = self.streams.host_classes;
        // Each class, or pool of a superblock, may leave a block that is not full.
        let in_turn = classes > 1 || self.geometry.spans_pools();
        let blocks = if in_turn { pages / each + u64::from(classes) } else { pages.saturating_sub(open).div_ceil(each) };
        if pages == 0 { 0 } else { u32::try_from(blocks).unwrap_or(u32::MAX) }
    }

    /// The pool has a free block for each of `blocks` beside those that the host may not take. One for each further stream of host writes counts
    /// among both.
    pub fn has_beside_reserve(&self, pool: PoolId, blocks: u32) -> bool {
        self.blocks.free_count(pool) + u32::from(self.streams.host_classes) > self.reserve + blocks
    }

    /// The pool has a page for a host write of some class.
    pub fn has_page(&self, pool: PoolId) -> bool {
        (0..self.streams.host_classes).any(|class| self.can_write(pool, class))
    }

    /// GC has stopped: the host may take the blocks that were kept for it.
    pub fn open_reserve(&mut self) {
        self.kept_from_host = 0;
        self.shut_cache();
    }

    /// Makes a block the next that the pool opens, or its superblock the next of its group, if it is free.
    pub fn bring_forward(&mut self, pool: PoolId, block: BlockId) {
        if self.blocks.state(block) != super::BlockState::Free {
            return;
        }
        self.blocks.bring_forward(pool, block);
        for (other, member) in self.blocks.members(block).filter(|&(other, _)| other != pool) {
            self.blocks.bring_forward(other, member);
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
