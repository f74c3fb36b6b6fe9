//! Blocks: which pages are invalid, which blocks are free, and the closed ones by their number of valid pages.

use ssdlab_base::units::{BlockId, PoolId};
use ssdlab_drive::ftl::{BlockState, Ftl};

use crate::operations::NONE;

/// Pages of a block: a word has a bit for each.
pub(crate) const PAGES: u32 = u64::BITS;

#[derive(Clone, Copy)]
struct Block {
    invalid: u64,
    valid: u16,
    programmed: u16,
    closed: bool,
    /// Neighbours in the list that has it.
    next: u32,
    before: u32,
}

#[derive(Clone, Copy)]
struct List {
    first: u32,
    last: u32,
}

const EMPTY: List = List { first: NONE, last: NONE };

impl List {
    #[inline(always)]
    fn push(&mut self, blocks: &mut [Block], block: u32) {
        (blocks[block as usize].next, blocks[block as usize].before) = (NONE, self.last);
        match self.last {
            NONE => self.first = block,
            last => blocks[last as usize].next = block,
        }
        self.last = block;
    }

    #[inline(always)]
    fn cut(&mut self, blocks: &mut [Block], block: u32) {
        let Block { next, before, .. } = blocks[block as usize];
        match before {
            NONE => self.first = next,
            before => blocks[before as usize].next = next,
        }
        match next {
            NONE => self.last = before,
            next => blocks[next as usize].before = before,
        }
    }
}

/// The blocks from which a die takes what it fills.
struct Pool {
    free: List,
    free_count: u32,
    /// Closed blocks by valid pages, in the order in which they reached that number. One whose pages are all valid is in no list: GC gains nothing by it.
    closed: [List; PAGES as usize],
    /// Which lists of `closed` have blocks, a bit each.
    occupied: u64,
}

/// All blocks.
pub(crate) struct Blocks {
    blocks: Vec<Block>,
    pools: Vec<Pool>,
}

impl Blocks {
    pub(crate) fn new(ftl: &Ftl) -> Self {
        let geometry = ftl.geometry();
        assert_eq!(geometry.units_per_block.get(), PAGES, "pages of a block");
        let mut blocks = Blocks { blocks: (0..geometry.blocks).map(|block| taken(ftl, BlockId(block))).collect(), pools: Vec::new() };
        for pool in 0..geometry.pools.count.get() {
            blocks.add_pool(ftl, PoolId(pool));
        }
        blocks
    }

    fn add_pool(&mut self, ftl: &Ftl, pool: PoolId) {
        self.pools.push(Pool { free: EMPTY, free_count: 0, closed: [EMPTY; PAGES as usize], occupied: 0 });
        for block in ftl.blocks().free_blocks(pool) {
            self.add_free(pool.0, block.0);
        }
        for valid in 0..PAGES {
            ftl.blocks().closed_blocks(pool, valid).for_each(|block| self.list(pool.0, block.0));
        }
    }

    /// Number of free blocks.
    #[inline(always)]
    pub(crate) fn free(&self, pool: u32) -> u32 {
        self.pools[pool as usize].free_count
    }

    #[inline(always)]
    fn add_free(&mut self, pool: u32, block: u32) {
        let pool = &mut self.pools[pool as usize];
        pool.free.push(&mut self.blocks, block);
        pool.free_count += 1;
    }

    /// Takes the block that has been free for longest.
    #[inline(always)]
    pub(crate) fn take_free(&mut self, pool: u32) -> u32 {
        let pool = &mut self.pools[pool as usize];
        let block = pool.free.first;
        pool.free.cut(&mut self.blocks, block);
        pool.free_count -= 1;
        block
    }

    /// Puts a closed block at the end of the list for its number of valid pages.
    #[inline(always)]
    fn list(&mut self, pool: u32, block: u32) {
        let valid = u32::from(self.blocks[block as usize].valid);
        if valid < PAGES {
            let pool = &mut self.pools[pool as usize];
            pool.closed[valid as usize].push(&mut self.blocks, block);
            pool.occupied |= 1 << valid;
        }
    }

    #[inline(always)]
    fn unlist(&mut self, pool: u32, block: u32) {
        let valid = u32::from(self.blocks[block as usize].valid);
        if valid < PAGES {
            let pool = &mut self.pools[pool as usize];
            let list = &mut pool.closed[valid as usize];
            list.cut(&mut self.blocks, block);
            if list.first == NONE {
                pool.occupied &= !(1 << valid);
            }
        }
    }

    /// The data of a page have been written elsewhere.
    #[inline(always)]
    pub(crate) fn invalidate(&mut self, pool: u32, page: u32) {
        let number = page / PAGES;
        let Block { closed, .. } = self.blocks[number as usize];
        if closed {
            self.unlist(pool, number);
        }
        self.moved_away(number, 1 << (page % PAGES));
        if closed {
            self.list(pool, number);
        }
    }

    /// Pages of a block that is in no list become invalid, a bit each.
    #[inline(always)]
    pub(crate) fn moved_away(&mut self, block: u32, pages: u64) {
        let block = &mut self.blocks[block as usize];
        assert!(block.invalid & pages == 0, "a page becomes invalid once");
        block.invalid |= pages;
        block.valid -= pages.count_ones() as u16;
    }

    /// The next pages of a block have been programmed and are valid.
    #[inline(always)]
    pub(crate) fn programmed(&mut self, pool: u32, number: u32, pages: u32) {
        let block = &mut self.blocks[number as usize];
        block.programmed += pages as u16;
        block.valid += pages as u16;
        if u32::from(block.programmed) == PAGES {
            block.closed = true;
            self.list(pool, number);
        }
    }

    /// Takes the closed block with the fewest valid pages for GC, of several the one that has had that number for longest.
    #[inline(always)]
    pub(crate) fn take_victim(&mut self, pool: u32) -> u32 {
        let Pool { occupied, closed, .. } = &self.pools[pool as usize];
        assert!(*occupied != 0, "some closed block has an invalid page");
        let victim = closed[occupied.trailing_zeros() as usize].first;
        self.unlist(pool, victim);
        self.blocks[victim as usize].closed = false;
        victim
    }

    /// The valid pages of a full block, a bit each.
    #[inline(always)]
    pub(crate) fn valid_pages(&self, block: u32) -> u64 {
        !self.blocks[block as usize].invalid
    }

    /// A block is erased and free.
    #[inline(always)]
    pub(crate) fn erased(&mut self, pool: u32, number: u32) {
        let block = &mut self.blocks[number as usize];
        (block.invalid, block.programmed) = (0, 0);
        self.add_free(pool, number);
    }
}

/// A block as the drive has it, in no list.
fn taken(ftl: &Ftl, block: BlockId) -> Block {
    let (geometry, blocks) = (ftl.geometry(), ftl.blocks());
    let programmed = blocks.programmed(block);
    let invalid = (0..programmed).filter(|&page| !ftl.is_valid(geometry.page(block, page))).map(|page| 1 << page).sum();
    let closed = blocks.state(block) == BlockState::Closed;
    Block { invalid, valid: blocks.valid(block) as u16, programmed: programmed as u16, closed, next: NONE, before: NONE }
}

/// A block that is being filled, and its next page.
pub(crate) struct Frontier {
    pub(crate) block: u32,
    pub(crate) next: u32,
}

impl Frontier {
    /// The frontier of host writes and that of page moves in a pool.
    pub(crate) fn both(ftl: &Ftl, pool: PoolId) -> [Frontier; 2] {
        const STREAM_OF_MOVES: u8 = 1;
        let (geometry, blocks) = (ftl.geometry(), ftl.blocks());
        let mut both = [(); 2].map(|()| Frontier { block: NONE, next: PAGES });
        for block in (0..geometry.pools.blocks_each).map(|index| geometry.block_of_pool(pool, index)) {
            if blocks.state(block) == BlockState::Open {
                both[usize::from(blocks.stream(block) == STREAM_OF_MOVES)] = Frontier { block: block.0, next: blocks.programmed(block) };
            }
        }
        both
    }

    /// Pages that can still be filled.
    #[inline(always)]
    pub(crate) fn room(&self) -> u32 {
        PAGES - self.next
    }

    /// Takes the next pages; returns the first.
    #[inline(always)]
    pub(crate) fn take(&mut self, pages: u32) -> u32 {
        let first = self.block * PAGES + self.next;
        self.next += pages;
        first
    }
}
