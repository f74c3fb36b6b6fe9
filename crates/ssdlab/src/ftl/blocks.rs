//! Blocks: their state, valid counts, wear, and the lists they stand in. A block stands in its pool's free list or in the list of the
//! closed blocks with its number of valid pages, never in both, so one pair of links serves both. A closed block also stands in its
//! pool's list by age, which has links of its own.

use crate::geometry::Geometry;
use crate::lists::{EMPTY, Links, List, NONE};
use crate::units::{BlockId, PoolId};

/// What a block is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum BlockState {
    /// Erased, on the free list.
    Free,
    /// Being filled, or full with programs still under way: never a victim.
    Open,
    /// Full and at rest: a candidate for collection.
    Closed,
    /// Being collected.
    Victim,
}

/// All blocks of the drive.
#[derive(Clone, Debug)]
pub struct Blocks {
    state: Vec<BlockState>,
    valid: Vec<u16>,
    /// Pages programmed since the erase.
    programmed: Vec<u16>,
    erases: Vec<u32>,
    /// A bit a page: programmed, and since overwritten, trimmed or moved. All clear after a fill.
    invalid: Vec<u64>,
    words_per_block: usize,
    links: Links,
    free: Vec<List>,
    free_count: Vec<u32>,
    /// The fewest free blocks that any pool has had since [`Blocks::begin_run`].
    free_min: u32,
    valid_in_pool: Vec<u32>,
    /// By pool: erases of its blocks.
    erases_in_pool: Vec<u64>,
    /// By pool: blocks closed so far, the clock by which blocks age. Pages would age them the same way, at a cost for each program.
    closings: Vec<u64>,
    /// By block: the reading of that clock when it closed last.
    closed_at: Vec<u64>,
    /// By pool: the closed blocks, the one closed first at the head.
    by_age: Vec<List>,
    age_links: Links,
    /// By pool and valid count: the closed blocks, in the order in which they reached that count.
    closed: Vec<List>,
    /// A bit for each non-empty list of `closed`, by pool.
    occupied: Vec<u64>,
    /// Lists of `closed` a pool has (pages a block + 1), and words of `occupied`.
    lists_per_pool: usize,
    occupied_words: usize,
    pages_per_block: u16,
}

impl Blocks {
    /// All blocks erased and on their pools' free lists, in the pools' initial order.
    pub fn new(geometry: &Geometry) -> Self {
        let count = geometry.blocks as usize;
        let pools = geometry.pools.count.get();
        let pages = geometry.pages_per_block.get() as usize;
        let mut blocks = Blocks {
            state: vec![BlockState::Free; count],
            valid: vec![0; count],
            programmed: vec![0; count],
            erases: vec![0; count],
            invalid: vec![0; count * pages.div_ceil(64)],
            words_per_block: pages.div_ceil(64),
            links: Links::new(count),
            free: vec![EMPTY; pools as usize],
            free_count: vec![0; pools as usize],
            free_min: 0,
            valid_in_pool: vec![0; pools as usize],
            erases_in_pool: vec![0; pools as usize],
            closings: vec![0; pools as usize],
            closed_at: vec![0; count],
            by_age: vec![EMPTY; pools as usize],
            age_links: Links::new(count),
            closed: vec![EMPTY; pools as usize * (pages + 1)],
            occupied: vec![0; pools as usize * (pages + 1).div_ceil(64)],
            lists_per_pool: pages + 1,
            occupied_words: (pages + 1).div_ceil(64),
            pages_per_block: pages as u16,
        };
        for pool in (0..pools).map(PoolId) {
            for index in 0..geometry.pools.blocks_each {
                blocks.push_free(pool, geometry.block_of_pool(pool, index));
            }
        }
        blocks
    }

    /// What the block is doing.
    #[inline(always)]
    pub fn state(&self, block: BlockId) -> BlockState {
        self.state[block.index()]
    }

    /// Its number of valid pages.
    #[inline(always)]
    pub fn valid(&self, block: BlockId) -> u32 {
        u32::from(self.valid[block.index()])
    }

    /// Its pages programmed since the last erase.
    #[inline(always)]
    pub fn programmed(&self, block: BlockId) -> u32 {
        u32::from(self.programmed[block.index()])
    }

    /// Erase counts by block.
    pub fn erases(&self) -> &[u32] {
        &self.erases
    }

    /// Blocks on the pool's free list: frontiers are not among them.
    #[inline(always)]
    pub fn free_count(&self, pool: PoolId) -> u32 {
        self.free_count[pool.index()]
    }

    /// Blocks on the free lists of all pools.
    pub fn free_total(&self) -> u64 {
        self.free_count.iter().map(|&free| u64::from(free)).sum()
    }

    /// Blocks on the free list of the pool that has the fewest.
    pub fn free_fewest(&self) -> u32 {
        self.free_count.iter().copied().min().unwrap_or(0)
    }

    /// Valid pages of the pool.
    #[inline(always)]
    pub fn valid_in_pool(&self, pool: PoolId) -> u32 {
        self.valid_in_pool[pool.index()]
    }

    /// The pool's free blocks, the next to be taken first.
    pub fn free_blocks(&self, pool: PoolId) -> impl Iterator<Item = BlockId> + '_ {
        self.links.chain(self.free[pool.index()]).map(BlockId)
    }

    /// The pool's closed blocks with `valid` valid pages, longest unchanged first.
    pub fn closed_blocks(&self, pool: PoolId, valid: u32) -> impl Iterator<Item = BlockId> + '_ {
        self.links.chain(self.closed[pool.index() * self.lists_per_pool + valid as usize]).map(BlockId)
    }

    /// The pool's closed blocks by number of valid pages, fewest first and within a number longest unchanged first, as far as they can be
    /// collected: each has an invalid page.
    pub fn eligible_blocks(&self, pool: PoolId) -> impl Iterator<Item = BlockId> + '_ {
        self.eligible_levels(pool).flat_map(move |valid| self.closed_blocks(pool, valid))
    }

    /// The numbers of valid pages that blocks of the pool which can be collected have, fewest first.
    pub fn eligible_levels(&self, pool: PoolId) -> impl Iterator<Item = u32> + '_ {
        let words = &self.occupied[pool.index() * self.occupied_words..][..self.occupied_words];
        let levels = words.iter().enumerate().flat_map(|(index, &word)| {
            let without_lowest = |word: &u64| Some(word & (word - 1)).filter(|&rest| rest != 0);
            std::iter::successors(Some(word).filter(|&word| word != 0), without_lowest)
                .map(move |word| index as u32 * 64 + word.trailing_zeros())
        });
        levels.take_while(|&valid| valid < u32::from(self.pages_per_block))
    }

    /// The block is closed and has an invalid page: collecting it gains something and disturbs nothing under way.
    #[inline]
    pub fn is_eligible(&self, block: BlockId) -> bool {
        self.state(block) == BlockState::Closed && self.valid[block.index()] < self.pages_per_block
    }

    /// The pool's closed blocks, the one closed first at the front.
    pub fn blocks_by_age(&self, pool: PoolId) -> impl Iterator<Item = BlockId> + '_ {
        self.age_links.chain(self.by_age[pool.index()]).map(BlockId)
    }

    /// The age of a closed block: how many blocks of its pool were closed after it.
    #[inline]
    pub fn age(&self, pool: PoolId, block: BlockId) -> u64 {
        self.closings[pool.index()] - self.closed_at[block.index()]
    }

    /// The age of the pool's oldest closed block, 0 if there is none.
    #[inline]
    pub fn age_max(&self, pool: PoolId) -> u64 {
        match self.by_age[pool.index()].head {
            NONE => 0,
            oldest => self.age(pool, BlockId(oldest)),
        }
    }

    /// Erases of all blocks of the pool.
    #[inline]
    pub fn erases_in_pool(&self, pool: PoolId) -> u64 {
        self.erases_in_pool[pool.index()]
    }

    fn push_free(&mut self, pool: PoolId, block: BlockId) {
        self.links.push(&mut self.free[pool.index()], block.0);
        self.free_count[pool.index()] += 1;
        self.state[block.index()] = BlockState::Free;
    }

    /// Begins to look for the fewest free blocks that any pool has.
    pub fn begin_run(&mut self) {
        self.free_min = self.free_count.iter().copied().min().unwrap_or(0);
    }

    /// The fewest free blocks that any pool has had since the run began.
    pub fn free_min(&self) -> u32 {
        self.free_min
    }

    /// Takes the oldest free block of the pool and opens it.
    #[inline]
    pub fn take_free(&mut self, pool: PoolId) -> BlockId {
        let list = &mut self.free[pool.index()];
        assert!(list.head != NONE, "pool {pool} has no free block to take");
        let block = BlockId(list.head);
        self.links.unlink(list, block.0);
        self.free_count[pool.index()] -= 1;
        self.free_min = self.free_min.min(self.free_count[pool.index()]);
        self.state[block.index()] = BlockState::Open;
        block
    }

    /// A program of the block has ended; with its last page the block closes.
    #[inline(always)]
    pub fn program_ended(&mut self, pool: PoolId, block: BlockId, valid: bool) {
        let index = block.index();
        self.programmed[index] += 1;
        self.valid[index] += u16::from(valid);
        self.valid_in_pool[pool.index()] += u32::from(valid);
        if self.programmed[index] == self.pages_per_block {
            self.close(pool, block);
        }
    }

    #[inline]
    fn close(&mut self, pool: PoolId, block: BlockId) {
        self.state[block.index()] = BlockState::Closed;
        self.enlist(pool, block);
        self.begin_to_age(pool, block);
    }

    #[inline]
    fn begin_to_age(&mut self, pool: PoolId, block: BlockId) {
        self.closings[pool.index()] += 1;
        self.closed_at[block.index()] = self.closings[pool.index()];
        self.age_links.push(&mut self.by_age[pool.index()], block.0);
    }

    /// Has a closed block count as closed just now.
    #[inline]
    pub fn renew(&mut self, pool: PoolId, block: BlockId) {
        assert!(self.state(block) == BlockState::Closed, "block {block} has no age: it is {:?}", self.state(block));
        self.age_links.unlink(&mut self.by_age[pool.index()], block.0);
        self.begin_to_age(pool, block);
    }

    /// A page of the block was overwritten, trimmed or moved.
    #[inline(always)]
    pub fn invalidate(&mut self, pool: PoolId, block: BlockId, page: u32) {
        let index = block.index();
        let word = &mut self.invalid[index * self.words_per_block + page as usize / 64];
        let bit = 1u64 << (page % 64);
        assert!(*word & bit == 0, "page {page} of block {block} is invalidated twice");
        *word |= bit;
        self.valid_in_pool[pool.index()] -= 1;
        if self.state[index] == BlockState::Closed {
            self.delist(pool, block);
            self.valid[index] -= 1;
            self.enlist(pool, block);
        } else {
            self.valid[index] -= 1;
        }
    }

    /// Marks a page that became stale while its program was under way. It was never counted as valid.
    #[inline]
    pub fn mark_stale(&mut self, block: BlockId, page: u32) {
        self.invalid[block.index() * self.words_per_block + page as usize / 64] |= 1 << (page % 64);
    }

    /// The first valid page of a block under collection at or after `from`.
    #[inline(always)]
    pub fn next_valid(&self, block: BlockId, from: u32) -> Option<u32> {
        let pages = u32::from(self.pages_per_block);
        let words = &self.invalid[block.index() * self.words_per_block..][..self.words_per_block];
        let mut page = from;
        while page < pages {
            let rest = !words[page as usize / 64] >> (page % 64);
            if rest != 0 {
                let found = page + rest.trailing_zeros();
                return (found < pages).then_some(found);
            }
            page = (page / 64 + 1) * 64;
        }
        None
    }

    /// True if the page was programmed since the last erase and still holds its logical page's data.
    pub fn is_valid(&self, block: BlockId, page: u32) -> bool {
        page < self.programmed(block) && self.invalid[block.index() * self.words_per_block + page as usize / 64] >> (page % 64) & 1 == 0
    }

    /// The closed block with the fewest valid pages, among equals the one that has had them for longest; `None` if no closed block has
    /// an invalid page.
    #[inline]
    pub fn fewest_valid(&self, pool: PoolId) -> Option<BlockId> {
        let words = &self.occupied[pool.index() * self.occupied_words..][..self.occupied_words];
        let (index, word) = words.iter().enumerate().find(|(_, word)| **word != 0)?;
        let valid = index * 64 + word.trailing_zeros() as usize;
        (valid < usize::from(self.pages_per_block)).then(|| BlockId(self.closed[pool.index() * self.lists_per_pool + valid].head))
    }

    /// Starts collecting a closed block.
    #[inline]
    pub fn make_victim(&mut self, pool: PoolId, block: BlockId) {
        assert!(self.state(block) == BlockState::Closed, "block {block} cannot be collected: it is {:?}", self.state(block));
        self.delist(pool, block);
        self.age_links.unlink(&mut self.by_age[pool.index()], block.0);
        self.state[block.index()] = BlockState::Victim;
    }

    /// The block has been erased and is free.
    #[inline]
    pub fn erased(&mut self, pool: PoolId, block: BlockId) {
        let index = block.index();
        assert!(self.state[index] == BlockState::Victim && self.valid[index] == 0, "block {block} is erased with data in it");
        self.programmed[index] = 0;
        self.erases[index] += 1;
        self.erases_in_pool[pool.index()] += 1;
        self.invalid[index * self.words_per_block..][..self.words_per_block].fill(0);
        self.push_free(pool, block);
    }

    /// Fills the next free block of a pool with `pages` pages, all valid, as if programmed. Returns it.
    pub fn fill_block(&mut self, pool: PoolId, pages: u32) -> BlockId {
        let block = self.take_free(pool);
        self.programmed[block.index()] = pages as u16;
        self.valid[block.index()] = pages as u16;
        self.valid_in_pool[pool.index()] += pages;
        if pages == u32::from(self.pages_per_block) {
            self.close(pool, block);
        }
        block
    }

    /// Everything that cannot be recounted, for saving: programmed pages, erase counts, invalid bits, all lists in order, and ages.
    pub fn parts(&self) -> [Vec<u32>; 7] {
        let pools = self.free.len();
        let mut order = Vec::with_capacity(self.state.len());
        let mut ages = vec![0; self.state.len()];
        for pool in (0..pools as u32).map(PoolId) {
            for block in self.blocks_by_age(pool) {
                ages[block.index()] = self.age(pool, block);
            }
            order.extend(self.free_blocks(pool).map(|block| block.0));
            for valid in 0..self.lists_per_pool as u32 {
                order.extend(self.closed_blocks(pool, valid).map(|block| block.0));
            }
        }
        order.resize(self.state.len(), NONE);
        [
            self.programmed.iter().map(|&pages| u32::from(pages)).collect(),
            self.erases.clone(),
            self.invalid.iter().map(|&word| word as u32).collect(),
            self.invalid.iter().map(|&word| (word >> 32) as u32).collect(),
            order,
            ages.iter().map(|&age| age as u32).collect(),
            ages.iter().map(|&age| (age >> 32) as u32).collect(),
        ]
    }

    /// The inverse of [`Blocks::parts`].
    ///
    /// # Errors
    /// A sentence if the arrays contradict each other.
    pub fn from_parts(geometry: &Geometry, parts: &[Vec<u32>]) -> Result<Self, String> {
        let mut blocks = Blocks::new(geometry);
        let pages = geometry.pages_per_block.get();
        for list in [&mut blocks.free, &mut blocks.closed] {
            list.fill(EMPTY);
        }
        blocks.free_count.fill(0);
        blocks.occupied.fill(0);
        blocks.erases.copy_from_slice(&parts[1]);
        for (word, (low, high)) in blocks.invalid.iter_mut().zip(parts[2].iter().zip(&parts[3])) {
            let stored = u64::from(*low) | u64::from(*high) << 32;
            if stored != 0 {
                *word = stored;
            }
        }
        for block in (0..geometry.blocks).map(BlockId) {
            let programmed = parts[0][block.index()];
            if programmed > pages {
                return Err(format!("block {block} has {programmed} of {pages} pages programmed"));
            }
            blocks.programmed[block.index()] = programmed as u16;
            let words = &blocks.invalid[block.index() * blocks.words_per_block..][..blocks.words_per_block];
            let invalid: u32 = words.iter().map(|word| word.count_ones()).sum();
            let valid = programmed.checked_sub(invalid).ok_or_else(|| format!("block {block} has more invalid than programmed pages"))?;
            blocks.valid[block.index()] = valid as u16;
            blocks.valid_in_pool[geometry.pool_of_block(block).index()] += valid;
            blocks.erases_in_pool[geometry.pool_of_block(block).index()] += u64::from(blocks.erases[block.index()]);
            blocks.state[block.index()] = BlockState::Open;
        }
        for block in parts[4].iter().take_while(|&&block| block != NONE).map(|&block| BlockId(block)) {
            if block.0 >= geometry.blocks || blocks.state(block) != BlockState::Open {
                return Err(format!("block {block} does not exist or stands in two lists"));
            }
            let pool = geometry.pool_of_block(block);
            if blocks.programmed(block) == 0 {
                blocks.push_free(pool, block);
            } else {
                blocks.state[block.index()] = BlockState::Closed;
                blocks.enlist(pool, block);
            }
        }
        blocks.restore_ages(geometry, &parts[5], &parts[6])?;
        Ok(blocks)
    }

    /// Puts the closed blocks into their order by age. Each pool's clock starts at the age of its oldest block: only differences count.
    fn restore_ages(&mut self, geometry: &Geometry, low: &[u32], high: &[u32]) -> Result<(), String> {
        let age = |block: BlockId| u64::from(low[block.index()]) | u64::from(high[block.index()]) << 32;
        let mut closed: Vec<_> = (0..geometry.blocks).map(BlockId).filter(|&block| self.state(block) == BlockState::Closed).collect();
        closed.sort_by_key(|&block| (std::cmp::Reverse(age(block)), block));
        for block in closed {
            let pool = geometry.pool_of_block(block);
            let clock = &mut self.closings[pool.index()];
            *clock = (*clock).max(age(block));
            self.closed_at[block.index()] = *clock - age(block);
            let list = &mut self.by_age[pool.index()];
            if list.tail != NONE && self.closed_at[list.tail as usize] == self.closed_at[block.index()] {
                return Err(format!("blocks {} and {block} were closed at one moment", list.tail));
            }
            self.age_links.push(list, block.0);
        }
        Ok(())
    }

    #[inline(always)]
    fn enlist(&mut self, pool: PoolId, block: BlockId) {
        let valid = usize::from(self.valid[block.index()]);
        self.links.push(&mut self.closed[pool.index() * self.lists_per_pool + valid], block.0);
        self.occupied[pool.index() * self.occupied_words + valid / 64] |= 1 << (valid % 64);
    }

    #[inline(always)]
    fn delist(&mut self, pool: PoolId, block: BlockId) {
        let valid = usize::from(self.valid[block.index()]);
        let list = &mut self.closed[pool.index() * self.lists_per_pool + valid];
        self.links.unlink(list, block.0);
        if list.head == NONE {
            self.occupied[pool.index() * self.occupied_words + valid / 64] &= !(1 << (valid % 64));
        }
    }
}
