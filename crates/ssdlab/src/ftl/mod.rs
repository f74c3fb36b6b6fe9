//! The flash translation layer: where a page is, which block takes the next one, what is worn how much, which pool is short of blocks. It knows
//! no time; loads are somebody else's business.

mod blocks;
mod mapping;
mod pool;
mod state;

pub use blocks::BlockState;

use blocks::Blocks;
use mapping::Mapping;
use pool::{Frontier, Frontiers, Pool};

use crate::config::{Config, Trigger};
use crate::geometry::Geometry;
use crate::units::{BlockId, Lpn, PlaneId, PoolId, Ppn};

/// Free blocks of a pool that host writes leave alone, so that a job always finds a place for the pages it moves.
pub const RESERVE: u32 = 1;

/// A page given to a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocated {
    /// The page to program.
    pub ppn: Ppn,
    /// The frontier took a free block for it: the moment at which triggers are evaluated.
    pub took_block: bool,
    /// A host write's page lies in another block than the shared frontier, which a job has to itself (ae2022 section 4.2).
    pub redirected: bool,
}

/// The translation layer of one drive.
#[derive(Clone, Debug)]
pub struct Ftl {
    geometry: Geometry,
    map: Mapping,
    blocks: Blocks,
    pools: Vec<Pool>,
    frontiers: Frontiers,
    /// Soft threshold T_soft in blocks.
    soft: u32,
    /// A pool with fewer free blocks wants collection.
    wanted_free: u32,
    /// A pool wants collection too while it has a closed block with this many invalid pages; more than a block has: never.
    wanted_invalid: u32,
    /// By 4096 logical pages: how many hold data, so that trimming what is trimmed already costs nothing.
    mapped: Vec<u16>,
    /// By the same chunks: how many are pinned.
    pinned: Vec<u32>,
}

/// Logical pages a counter of `Ftl::mapped` covers.
const MAPPED_PAGES: u32 = 4096;

impl Ftl {
    /// An erased drive.
    pub fn new(config: &Config) -> Self {
        let geometry = Geometry::new(config);
        let pages = geometry.pages_per_block.get();
        let frontiers = Frontiers::new(config);
        let mut ftl = Ftl {
            map: Mapping::new(&geometry),
            blocks: Blocks::new(&geometry),
            pools: vec![Pool::new(pages, frontiers); geometry.pools.count.get() as usize],
            frontiers,
            soft: config.gc.soft_blocks(geometry.pools.blocks_each),
            wanted_free: RESERVE + 1,
            wanted_invalid: config.gc.invalid_pages_wanted(pages),
            mapped: vec![0; geometry.exported_pages.div_ceil(MAPPED_PAGES) as usize],
            pinned: vec![0; geometry.exported_pages.div_ceil(MAPPED_PAGES) as usize],
            geometry,
        };
        if config.gc.trigger != Trigger::InvalidShare {
            ftl.want_free(ftl.soft);
        }
        ftl
    }

    /// The drive's shape.
    #[inline(always)]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The blocks, to look at.
    #[inline(always)]
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// The oldest and the youngest operation on a logical page, if there are any under way.
    #[inline(always)]
    pub fn chain(&self, lpn: Lpn) -> Option<(u32, u32)> {
        self.map.pinned(lpn)
    }

    /// Sets the operations under way on a logical page: the first ones with `None` before, the last ones with `None` after.
    #[inline(always)]
    pub fn set_chain(&mut self, lpn: Lpn, before: Option<(u32, u32)>, after: Option<(u32, u32)>) {
        match (before, after) {
            (None, Some(chain)) => {
                self.pinned[(lpn.0 / MAPPED_PAGES) as usize] += 1;
                self.map.pin(lpn, chain);
            }
            (Some(_), Some(chain)) => self.map.set_pin(lpn, chain),
            (Some(_), None) => {
                self.pinned[(lpn.0 / MAPPED_PAGES) as usize] -= 1;
                self.map.unpin(lpn);
            }
            (None, None) => {}
        }
    }

    /// Where a logical page lies, or `None` if it holds no data.
    #[inline(always)]
    pub fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        self.map.lookup(&self.geometry, lpn)
    }

    /// Begins to look for the fewest free blocks that any pool has ([`Blocks::free_min`]).
    pub fn begin_run(&mut self) {
        self.blocks.begin_run();
    }

    /// The soft threshold T_soft in blocks.
    pub fn soft_blocks(&self) -> u32 {
        self.soft
    }

    /// Free blocks are below the threshold (T_soft, or what [`Ftl::want_free`] set), or down to the reserve, or a block has a larger
    /// invalid share than the trigger allows.
    #[inline(always)]
    pub fn wants_collection(&self, pool: PoolId) -> bool {
        self.blocks.free_count(pool) < self.wanted_free || self.has_invalid_block(pool)
    }

    /// The next free block taken will have the pool want collection.
    pub fn wants_collection_after_one_block(&self, pool: PoolId) -> bool {
        self.blocks.free_count(pool) <= self.wanted_free || self.has_invalid_block(pool)
    }

    #[inline(always)]
    fn has_invalid_block(&self, pool: PoolId) -> bool {
        let pages = self.geometry.pages_per_block.get();
        self.wanted_invalid <= pages
            && self.blocks.fewest_valid(pool).is_some_and(|block| pages - self.blocks.valid(block) >= self.wanted_invalid)
    }

    /// The pool has fewer free blocks than the soft threshold, or is down to the reserve.
    pub fn is_short(&self, pool: PoolId) -> bool {
        self.blocks.free_count(pool) < self.soft.max(RESERVE + 1)
    }

    /// From now on pools with fewer than `blocks` free blocks want collection; those that are down to the reserve always do.
    pub fn want_free(&mut self, blocks: u32) {
        self.wanted_free = blocks.max(RESERVE + 1);
    }

    /// A host write to the pool can be given a page without touching what collection needs.
    #[inline(always)]
    pub fn can_write(&self, pool: PoolId) -> bool {
        let state = &self.pools[pool.index()];
        let room = self.geometry.pages_per_block.get() - state.host().next_page;
        let free = self.blocks.free_count(pool);
        if room == 0 {
            return free > RESERVE;
        }
        // With a shared frontier and no free block left, the rest of the frontier belongs to the job that is to free one.
        !state.shares() || free > 0 || room > state.owed
    }

    /// True if the pool's host frontier is full: the next write takes a free block.
    #[inline]
    pub fn frontier_full(&self, pool: PoolId) -> bool {
        self.pools[pool.index()].host().next_page == self.geometry.pages_per_block.get()
    }

    /// The page offset that the pool's next host write will have (0 if it opens a block).
    #[inline]
    pub fn next_offset(&self, pool: PoolId) -> u32 {
        let next = self.pools[pool.index()].host().next_page;
        if next == self.geometry.pages_per_block.get() { 0 } else { next }
    }

    /// The block that the pool's next host write goes to.
    pub fn next_write_block(&self, pool: PoolId) -> BlockId {
        let next = self.blocks.free_blocks(pool).next().filter(|_| self.frontier_full(pool));
        next.unwrap_or(self.pools[pool.index()].host().block)
    }

    /// The plane of that block.
    pub fn next_write_plane(&self, pool: PoolId) -> PlaneId {
        self.geometry.plane_of_block(self.next_write_block(pool))
    }

    /// The page for a host write. Only where [`Ftl::can_write`].
    #[inline(always)]
    pub fn allocate_host(&mut self, pool: PoolId) -> Allocated {
        assert!(self.can_write(pool));
        let state = &mut self.pools[pool.index()];
        let redirected = state.is_redirected();
        Allocated { redirected, ..Self::allocate(state.host_mut(), &mut self.blocks, &self.geometry, pool) }
    }

    /// The page for a page move of the pool's active job.
    #[inline(always)]
    pub fn allocate_move(&mut self, pool: PoolId) -> Allocated {
        let state = &mut self.pools[pool.index()];
        state.owed -= 1;
        let allocated = Self::allocate(state.gc_mut(), &mut self.blocks, &self.geometry, pool);
        if allocated.took_block {
            state.job_took(state.gc().block);
        }
        allocated
    }

    #[inline(always)]
    fn allocate(frontier: &mut Frontier, blocks: &mut Blocks, geometry: &Geometry, pool: PoolId) -> Allocated {
        let took_block = frontier.next_page == geometry.pages_per_block.get();
        if took_block {
            *frontier = Frontier { block: blocks.take_free(pool), next_page: 0 };
        }
        let ppn = geometry.page(frontier.block, frontier.next_page);
        frontier.next_page += 1;
        Allocated { ppn, took_block, redirected: false }
    }

    /// The pool can keep one more page of data for good: what collection needs to turn around stays free. With static allocation this
    /// always holds; dynamic allocation asks before it sends a page somewhere.
    #[inline]
    pub fn has_room(&self, pool: PoolId) -> bool {
        self.blocks.valid_in_pool(pool) < self.room_of_pool()
    }

    /// The valid pages a pool may hold: all but the reserve, the frontiers and half a block, so that there is always a page to gain.
    #[inline]
    pub fn room_of_pool(&self) -> u32 {
        let spare = RESERVE + self.frontiers.count();
        let pages = self.geometry.pages_per_block.get();
        (self.geometry.pools.blocks_each - spare) * pages + pages / 2
    }

    /// A host program in `pool` has ended: the logical page now lies there, and where it lay before (returned) is invalid.
    #[inline(always)]
    pub fn commit_write(&mut self, pool: PoolId, lpn: Lpn, ppn: Ppn) -> Option<Ppn> {
        let old = self.lookup(lpn);
        match old {
            Some(old) => self.invalidate(old),
            None => self.mapped[(lpn.0 / MAPPED_PAGES) as usize] += 1,
        }
        self.map.set(lpn, Some(ppn));
        self.programmed(pool, lpn, ppn, true);
        old
    }

    /// Writes the first `pages` logical pages once in address order, without touching the memory of any page.
    pub fn fill(&mut self, pages: u32) {
        self.map.fill(pages);
        let per_block = self.geometry.pages_per_block.get();
        let pools = self.geometry.pools.count.get();
        for stripe in 0..pools.min(pages) {
            let (pool, _) = self.geometry.home(Lpn(stripe));
            let mut left = (pages - stripe).div_ceil(pools);
            while left > 0 {
                let now = left.min(per_block);
                let block = self.blocks.fill_block(pool, now);
                *self.pools[pool.index()].host_mut() = Frontier { block, next_page: now };
                left -= now;
            }
        }
        for (chunk, count) in self.mapped.iter_mut().enumerate() {
            *count = pages.saturating_sub(chunk as u32 * MAPPED_PAGES).min(MAPPED_PAGES) as u16;
        }
    }

    /// The program of a page move within `pool` has ended. Returns false if the page was overwritten or trimmed meanwhile: then the copy is stale.
    #[inline(always)]
    pub fn commit_move(&mut self, pool: PoolId, lpn: Lpn, from: Ppn, to: Ppn) -> bool {
        let current = self.lookup(lpn) == Some(from);
        if current {
            let (block, page) = self.geometry.split_page(from);
            self.blocks.invalidate(pool, block, page);
            self.map.set(lpn, Some(to));
        }
        self.programmed(pool, lpn, to, current);
        current
    }

    #[inline(always)]
    fn programmed(&mut self, pool: PoolId, lpn: Lpn, ppn: Ppn, valid: bool) {
        let (block, page) = self.geometry.split_page(ppn);
        self.map.program(ppn, lpn);
        if !valid {
            self.blocks.mark_stale(block, page);
        }
        self.blocks.program_ended(pool, block, valid);
    }

    #[inline(always)]
    fn invalidate(&mut self, ppn: Ppn) {
        let (block, page) = self.geometry.split_page(ppn);
        self.blocks.invalidate(self.geometry.pool_of_block(block), block, page);
    }

    /// The host no longer needs a page. Returns the pool in which it lay, if it held data.
    #[inline]
    pub fn trim(&mut self, lpn: Lpn) -> Option<PoolId> {
        let ppn = self.lookup(lpn)?;
        self.invalidate(ppn);
        self.map.set(lpn, None);
        self.mapped[(lpn.0 / MAPPED_PAGES) as usize] -= 1;
        Some(self.geometry.pool_of_page(ppn))
    }

    /// The first logical page in `from..end` that may hold data or have operations under way: whole chunks without any are skipped.
    #[inline]
    pub fn skip_unmapped(&self, from: u32, end: u32) -> u32 {
        if from >= end {
            return end;
        }
        let (first, last) = ((from / MAPPED_PAGES) as usize, end.div_ceil(MAPPED_PAGES) as usize);
        let (mapped, pinned) = (&self.mapped[first..last], &self.pinned[first..last]);
        // Many chunks at a time: a loop without an exit runs several times as fast, and a drive may have ten thousands of chunks.
        let empty = |mapped: &[u16], pinned: &[u32]| {
            mapped.iter().fold(0, |any, &count| any | count) == 0 && pinned.iter().fold(0, |any, &count| any | count) == 0
        };
        let many = mapped.chunks(64).zip(pinned.chunks(64)).take_while(|(mapped, pinned)| empty(mapped, pinned)).count() * 64;
        let rest = mapped.iter().zip(pinned).skip(many).take_while(|(mapped, pinned)| **mapped == 0 && **pinned == 0).count();
        from.max((first + many + rest) as u32 * MAPPED_PAGES).min(end)
    }

    /// Logical pages that hold data.
    pub fn mapped_pages(&self) -> u64 {
        self.mapped.iter().map(|&count| u64::from(count)).sum()
    }

    fn recount_mapped(&mut self) {
        for chunk in 0..self.mapped.len() as u32 {
            let pages = chunk * MAPPED_PAGES..((chunk + 1) * MAPPED_PAGES).min(self.geometry.exported_pages);
            self.mapped[chunk as usize] = pages.filter(|&lpn| self.lookup(Lpn(lpn)).is_some()).count() as u16;
        }
    }

    /// Has a closed block count as closed just now: a policy passed it over.
    #[inline]
    pub fn renew_age(&mut self, pool: PoolId, block: BlockId) {
        self.blocks.renew(pool, block);
    }

    /// Starts collecting a block; returns the number of pages to move.
    #[inline]
    pub fn start_job(&mut self, pool: PoolId, victim: BlockId) -> u32 {
        self.blocks.make_victim(pool, victim);
        let moves = self.blocks.valid(victim);
        self.pools[pool.index()].start_job(moves, self.geometry.pages_per_block.get(), self.frontiers);
        self.touch_moves(victim);
        moves
    }

    /// Reads the map entries of all pages about to be moved. They lie scattered over the whole map; asked for together they come from memory
    /// in parallel, asked for one by one at each move they would come one after the other.
    #[inline]
    fn touch_moves(&self, victim: BlockId) {
        let mut from = 0;
        let mut sum = 0u32;
        while let Some((page, _, lpn)) = self.next_move(victim, from) {
            sum ^= self.map.raw(lpn);
            from = page + 1;
        }
        std::hint::black_box(sum);
    }

    /// The pool's active or last job fills or filled the block: the one that was open for it when it started, or one taken since.
    #[inline]
    pub fn job_fills(&self, pool: PoolId, block: BlockId) -> bool {
        self.pools[pool.index()].job_fills(block)
    }

    /// The next valid page of a victim at or after an offset, with the logical page it holds.
    #[inline(always)]
    pub fn next_move(&self, victim: BlockId, from: u32) -> Option<(u32, Ppn, Lpn)> {
        let page = self.blocks.next_valid(victim, from)?;
        let ppn = self.geometry.page(victim, page);
        Some((page, ppn, self.map.content(&self.geometry, ppn)))
    }

    /// The victim has been erased.
    #[inline]
    pub fn commit_erase(&mut self, pool: PoolId, victim: BlockId) {
        self.pools[pool.index()].end_job(self.frontiers);
        self.blocks.erased(pool, victim);
    }

    /// Recounts everything that is kept twice and compares. Slow: for tests and verify mode.
    ///
    /// # Errors
    /// A sentence about the first contradiction.
    pub fn check(&self) -> Result<(), String> {
        self.check_blocks()?;
        self.check_map()
    }

    fn check_blocks(&self) -> Result<(), String> {
        let pages = self.geometry.pages_per_block.get();
        for pool in (0..self.geometry.pools.count.get()).map(PoolId) {
            self.check_ages(pool)?;
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
            for valid in 0..=self.geometry.pages_per_block.get() {
                for block in self.blocks.closed_blocks(pool, valid) {
                    closed += 1;
                    if self.blocks.valid(block) != valid || self.blocks.state(block) != BlockState::Closed {
                        return Err(format!("block {block} is listed under {valid} valid pages and has {}", self.blocks.valid(block)));
                    }
                    if self.blocks.programmed(block) != pages {
                        return Err(format!("block {block} is closed with {} pages programmed", self.blocks.programmed(block)));
                    }
                }
            }
            let all: Vec<_> = (0..self.geometry.pools.blocks_each).map(|index| self.geometry.block_of_pool(pool, index)).collect();
            let of = |state| all.iter().filter(|&&block| self.blocks.state(block) == state).count();
            if (of(BlockState::Free), of(BlockState::Closed)) != (listed as usize, closed) || of(BlockState::Victim) > 1 {
                return Err(format!("pool {pool} lists {listed} free and {closed} closed blocks and has others, or more than one victim"));
            }
            let marked = |block| (0..pages).filter(|&page| self.blocks.is_valid(block, page)).count() as u32;
            if let Some(&block) = all.iter().find(|&&block| marked(block) != self.blocks.valid(block)) {
                return Err(format!("block {block} marks {} pages valid and counts {}", marked(block), self.blocks.valid(block)));
            }
            let valid: u32 = all.iter().map(|&block| self.blocks.valid(block)).sum();
            if valid != self.blocks.valid_in_pool(pool) {
                return Err(format!("pool {pool} counts {} valid pages and has {valid}", self.blocks.valid_in_pool(pool)));
            }
        }
        Ok(())
    }

    /// Ages fall along the list, which holds exactly the closed blocks; the pool's wear is the sum of its blocks'.
    fn check_ages(&self, pool: PoolId) -> Result<(), String> {
        let all = || (0..self.geometry.pools.blocks_each).map(|index| self.geometry.block_of_pool(pool, index));
        let by_age: Vec<BlockId> = self.blocks.blocks_by_age(pool).collect();
        let closed = all().filter(|&block| self.blocks.state(block) == BlockState::Closed).count();
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
        for lpn in (0..self.geometry.exported_pages).map(Lpn) {
            let Some(ppn) = self.lookup(lpn) else { continue };
            let (block, page) = self.geometry.split_page(ppn);
            if !self.blocks.is_valid(block, page) {
                return Err(format!("page {lpn} is mapped to {ppn}, which is not valid"));
            }
            if self.map.content(&self.geometry, ppn) != lpn {
                return Err(format!("page {lpn} is mapped to {ppn}, which holds page {}", self.map.content(&self.geometry, ppn)));
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
