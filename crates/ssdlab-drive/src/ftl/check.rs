//! Recounts the redundant state of the translation layer.

use super::{BlockState, Frontier, Ftl, MAPPED_PAGES, Pool};
use ssdlab_base::units::{BlockId, Lpn, PoolId};

impl Ftl {
    /// Recounts the redundant state, and compares. Slow: for tests and verify mode.
    ///
    /// # Errors
    /// A sentence about the first contradiction.
    pub fn check(&self) -> Result<(), String> {
        self.check_blocks()?;
        self.check_frontiers()?;
        self.check_map()
    }

    /// Checks that each frontier with room is an open block of its pool, filled in whole programs up to its next page, and not filled
    /// twice.
    fn check_frontiers(&self) -> Result<(), String> {
        let pages = self.geometry.units_per_block.get();
        let twice = |pool: &Pool| {
            let open = pool.open.iter().filter(|at| at.next_page < pages).map(|at| at.block);
            open.clone().enumerate().find_map(|(index, block)| open.clone().take(index).any(|other| other == block).then_some(block))
        };
        if let Some((pool, block)) = self.pools.iter().enumerate().find_map(|(pool, at)| twice(at).map(|block| (pool, block))) {
            return Err(format!("pool {pool} fills block {block} twice at a time"));
        }
        for (pool, frontier) in (0..).map(PoolId).zip(&self.pools).flat_map(|(pool, at)| at.open.map(|frontier| (pool, frontier))) {
            let Frontier { block, next_page } = frontier;
            if next_page == pages {
                continue;
            }
            let is_here = next_page < pages
                && next_page.is_multiple_of(self.geometry.units_per_program)
                && block.0 < self.geometry.blocks
                && self.geometry.pool_of_block(block) == pool;
            if !is_here || self.blocks.state(block) != BlockState::Open || self.blocks.programmed(block) > next_page {
                return Err(format!("pool {pool} fills block {block} from page {next_page} on, which cannot be"));
            }
        }
        Ok(())
    }

    fn check_blocks(&self) -> Result<(), String> {
        let pages = self.geometry.units_per_block.get();
        for pool in (0..self.geometry.pools.count.get()).map(PoolId) {
            self.check_ages(pool)?;
            let leads = self.geometry.lead_pool(pool) == pool;
            if leads {
                self.blocks.check_superblocks(pool)?;
            }
            self.blocks.check_slc(&self.geometry, pool)?;
            let mut listed = 0;
            let mut closed = 0;
            for block in self.blocks.free_blocks(pool) {
                listed += 1;
                if self.blocks.state(block) != BlockState::Free || self.blocks.programmed(block) != 0 {
                    return Err(format!("block {block} is on the free list of pool {pool} but is {:?}", self.blocks.state(block)));
                }
            }
            if listed != self.blocks.free_count(pool) {
                return Err(format!("pool {pool} counts {} free blocks and lists {listed}", self.blocks.free_count(pool)));
            }
            // The first pool of a group lists what is closed in the group.
            for valid in (0..=self.geometry.units_per_reclaim()).take_while(|_| leads) {
                for block in self.blocks.closed_blocks(pool, valid) {
                    closed += 1;
                    if self.blocks.valid_together(block) != valid || self.blocks.state(block) != BlockState::Closed {
                        return Err(format!("block {block} is listed under {valid} valid pages and has {}", self.blocks.valid(block)));
                    }
                    if self.blocks.programmed(block) != pages {
                        return Err(format!("block {block} is closed with {} pages programmed", self.blocks.programmed(block)));
                    }
                }
            }
            let all: Vec<_> = (0..self.geometry.pools.blocks_each).map(|index| self.geometry.block_of_pool(pool, index)).collect();
            let of = |state| all.iter().filter(|&&block| self.blocks.state(block) == state).count();
            let of_closed = if leads { of(BlockState::Closed) } else { closed };
            let free = (listed + self.blocks.free_static(pool)) as usize;
            if (of(BlockState::Free), of_closed) != (free, closed)
                || of(BlockState::Victim) > 1 + usize::from(self.waiting_victim(pool).is_some())
            {
                return Err(format!("pool {pool} lists {listed} free and {closed} closed blocks and has others, or more than one victim"));
            }
            let marked = |block| (0..pages).filter(|&page| self.blocks.is_valid(block, page)).count() as u32;
            if let Some(&block) = all.iter().find(|&&block| marked(block) != self.blocks.valid(block)) {
                return Err(format!("block {block} marks {} pages valid and counts {}", marked(block), self.blocks.valid(block)));
            }
            let erased = |&&block: &&BlockId| !self.blocks.is_in_use(block) && self.blocks.state(block) != BlockState::Taken;
            if let Some((block, column)) = all.iter().filter(erased).find_map(|&block| Some((block, self.blocks.columns.not_reset(block)?)))
            {
                return Err(format!("block {block} is erased and keeps its {column}"));
            }
            let retired = of(BlockState::Retired);
            if retired != self.blocks.retired(pool) as usize {
                return Err(format!("pool {pool} counts {} retired blocks and has {retired}", self.blocks.retired(pool)));
            }
            let valid: u32 = all.iter().map(|&block| self.blocks.valid(block)).sum();
            if valid != self.blocks.valid_in_pool(pool) {
                return Err(format!("pool {pool} counts {} valid pages and has {valid}", self.blocks.valid_in_pool(pool)));
            }
        }
        Ok(())
    }

    /// Checks that the list by age holds exactly the closed blocks, oldest first, and that the pool's erases are the sum over its blocks.
    fn check_ages(&self, pool: PoolId) -> Result<(), String> {
        let all = || (0..self.geometry.pools.blocks_each).map(|index| self.geometry.block_of_pool(pool, index));
        let by_age: Vec<BlockId> = self.blocks.blocks_by_age(pool).collect();
        let leads = self.geometry.lead_pool(pool) == pool;
        let closed = all().filter(|&block| leads && self.blocks.state(block) == BlockState::Closed).count();
        if by_age.len() != closed || by_age.iter().any(|&block| self.blocks.state(block) != BlockState::Closed) {
            return Err(format!("pool {pool} lists {} blocks by age and has {closed} closed ones", by_age.len()));
        }
        if let Some(pair) = by_age.windows(2).find(|pair| self.blocks.age(pool, pair[0]) <= self.blocks.age(pool, pair[1])) {
            return Err(format!("block {} is listed as older than block {} and is not", pair[0], pair[1]));
        }
        let erases: u64 = all().map(|block| u64::from(self.blocks.erases()[block.index()])).sum();
        if erases != self.blocks.erases_in_pool(pool) {
            return Err(format!("pool {pool} counts {} erases and has {erases}", self.blocks.erases_in_pool(pool)));
        }
        Ok(())
    }

    fn check_map(&self) -> Result<(), String> {
        let mut valid = vec![0u32; self.geometry.blocks as usize];
        let mut mapped = vec![0u16; self.mapped.len()];
        for lpn in (0..self.geometry.logical_units).map(Lpn) {
            let Some(ppn) = self.lookup(lpn) else { continue };
            let (block, page) = self.geometry.split_page(ppn);
            if !self.blocks.is_valid(block, page) {
                return Err(format!("page {lpn} is mapped to {ppn}, which is not valid"));
            }
            if self.map.content(&self.geometry, ppn) != lpn {
                return Err(format!("page {lpn} is mapped to {ppn}, which holds page {}", self.map.content(&self.geometry, ppn)));
            }
            let namespace = |pool| self.geometry.namespace_of_pool(pool);
            if namespace(self.geometry.pool_of_page(ppn)) != namespace(self.geometry.static_pool(lpn)) {
                return Err(format!("page {lpn} lies on a die of another namespace"));
            }
            valid[block.index()] += 1;
            mapped[(lpn.0 / MAPPED_PAGES) as usize] += 1;
        }
        if mapped != self.mapped {
            return Err("the counts of mapped pages are wrong".to_string());
        }
        match (0..self.geometry.blocks).map(BlockId).find(|&block| self.blocks.valid(block) != valid[block.index()]) {
            Some(block) => Err(format!("block {block} counts {} valid pages and has {}", self.blocks.valid(block), valid[block.index()])),
            None => Ok(()),
        }
    }
}
