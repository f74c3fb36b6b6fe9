//! Blocks: their state, valid counts, wear, and lists. A block is in its pool's free list or in the list of the closed blocks with its
//! number of valid pages, never in both, so one pair of links serves both. A closed block is also in its pool's list by age, which has
//! links of its own.
//!
//! With superblocks of several pools ([`superblocks`]) the lists of closed blocks have superblocks, by their valid units together; the block
//! in the first pool of its group stands for each.

mod columns;
mod parts;
mod retired;
mod slc;
mod superblocks;

use crate::advice::prefetch;
use crate::lists::{EMPTY, Links, List, NONE};
use serde::{Deserialize, Serialize};
use ssdlab_base::units::{BlockId, PoolId};
use ssdlab_keys::config::{Mode, Stream};
use ssdlab_keys::geometry::Geometry;

pub use columns::{Columns, Row};
pub use superblocks::Freed;
use superblocks::Superblocks;

/// The state of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum BlockState {
    /// Erased, on the free list.
    Free,
    /// Being filled, or full with programs still under way (in a superblock: of any of its blocks): never a victim.
    Open,
    /// Full and at rest: a candidate for collection.
    Closed,
    /// Being collected.
    Victim,
    /// Taken with its superblock; its pool has not begun to fill it.
    Taken,
    /// Erased, and not free before the other blocks of its superblock are erased, too.
    Erased,
    /// Full and at rest, in SLC mode: to be folded.
    Cached,
    /// Failed and erased: never used again.
    Retired,
    /// Erased, and in no superblock: takes the place of a block that fails.
    Spare,
}

/// The part of a block's state that each operation on it reads and writes: 16 bytes, so that it lies in one cache line.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Block {
    /// A bit for each of the first 64 pages, set if it was programmed and then overwritten, trimmed or moved. All clear after a fill.
    invalid: u64,
    valid: u16,
    /// Pages programmed since the erase.
    programmed: u16,
    state: BlockState,
}

/// An erased block on the free list.
const ERASED: Block = Block { invalid: 0, valid: 0, programmed: 0, state: BlockState::Free };

/// All blocks of the drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Blocks {
    blocks: Vec<Block>,
    /// The bits of invalid pages ([`Block::invalid`]) from page 64 on: `words_beyond` words a block.
    invalid_beyond: Vec<u64>,
    words_beyond: usize,
    pub(super) columns: Columns,
    links: Links,
    free: Vec<List>,
    free_count: Vec<u32>,
    /// The fewest free blocks that any pool has had since [`Blocks::begin_run`].
    free_min: u32,
    valid_in_pool: Vec<u32>,
    /// By pool: erases of its blocks.
    erases_in_pool: Vec<u64>,
    /// By pool: number of its retired blocks.
    retired: Vec<u32>,
    /// By pool: number of blocks closed so far, the clock by which blocks age. Pages would age them the same way, at a cost for each
    /// program.
    closings: Vec<u64>,
    /// By pool: list of the closed blocks, oldest at the head.
    by_age: Vec<List>,
    age_links: Links,
    /// Blocks in SLC mode; `None` without such blocks.
    slc: Option<Box<slc::SlcBlocks>>,
    /// By pool and valid count: the closed blocks, in the order in which they reached that count.
    closed: Vec<List>,
    /// A bit for each non-empty list of `closed`, by pool.
    occupied: Vec<u64>,
    /// Of a pool, or of a group that has superblocks: the number of its lists in `closed` (pages of a block or superblock + 1), and of its
    /// words in `occupied`.
    lists_per_pool: usize,
    occupied_words: usize,
    pages_per_block: u16,
    /// The most valid pages of an eligible block or superblock: collecting it gains at least the pages of one program.
    valid_max: u32,
    /// Superblocks of several pools, where they are what is collected.
    superblocks: Option<Box<Superblocks>>,
}

impl Blocks {
    /// All blocks erased and on their pools' free lists, in the pools' initial order.
    pub fn new(geometry: &Geometry) -> Self {
        let count = geometry.blocks as usize;
        let pools = geometry.pools.count.get();
        let pages = geometry.units_per_block.get() as usize;
        let words_beyond = pages.div_ceil(64) - 1;
        let groups = pools / geometry.pools.per_group.get();
        let collected = geometry.units_per_reclaim() as usize;
        let mut columns = Columns::new(count);
        if geometry.slc.is_some() {
            columns.is_static = (0..geometry.blocks).map(|block| geometry.is_static(BlockId(block))).collect();
        }
        let mut blocks = Blocks {
            blocks: vec![ERASED; count],
            invalid_beyond: vec![0; count * words_beyond],
            words_beyond,
            columns,
            links: Links::new(count),
            free: vec![EMPTY; pools as usize],
            free_count: vec![0; pools as usize],
            free_min: 0,
            valid_in_pool: vec![0; pools as usize],
            erases_in_pool: vec![0; pools as usize],
            retired: vec![0; pools as usize],
            closings: vec![0; pools as usize],
            by_age: vec![EMPTY; pools as usize],
            age_links: Links::new(count),
            slc: slc::SlcBlocks::new(geometry),
            closed: vec![EMPTY; groups as usize * (collected + 1)],
            occupied: vec![0; groups as usize * (collected + 1).div_ceil(64)],
            lists_per_pool: collected + 1,
            occupied_words: (collected + 1).div_ceil(64),
            pages_per_block: pages as u16,
            valid_max: geometry.units_per_reclaim() - geometry.units_per_program,
            superblocks: geometry.spans_pools().then(|| Box::new(Superblocks::new(geometry))),
        };
        for pool in (0..pools).map(PoolId) {
            for index in 0..geometry.pools.blocks_each {
                blocks.push_free(pool, geometry.block_of_pool(pool, index));
            }
        }
        blocks
    }

    /// Prefetches the memory that the invalidation of a page will read and write.
    #[inline(always)]
    pub fn prefetch(&self, block: BlockId, page: u32) {
        prefetch(&self.blocks, block.index());
        self.links.prefetch(block.0);
        if page >= 64 {
            prefetch(&self.invalid_beyond, self.word_beyond(block, page / 64));
        }
    }

    /// Index in `invalid_beyond` of the bits of the pages from `64 * word` on; `word` is at least 1.
    #[inline(always)]
    fn word_beyond(&self, block: BlockId, word: u32) -> usize {
        block.index() * self.words_beyond + word as usize - 1
    }

    /// A bit for each page from `64 * word` on, set if it was programmed and does not hold data any more.
    #[inline(always)]
    fn invalid_word(&self, block: BlockId, word: u32) -> u64 {
        if word == 0 { self.blocks[block.index()].invalid } else { self.invalid_beyond[self.word_beyond(block, word)] }
    }

    #[inline(always)]
    fn invalid_word_mut(&mut self, block: BlockId, word: u32) -> &mut u64 {
        if word == 0 {
            return &mut self.blocks[block.index()].invalid;
        }
        let index = self.word_beyond(block, word);
        &mut self.invalid_beyond[index]
    }

    /// Number of words of bits of a block.
    #[inline(always)]
    fn words(&self) -> u32 {
        self.words_beyond as u32 + 1
    }

    /// The state of a block.
    #[inline(always)]
    pub fn state(&self, block: BlockId) -> BlockState {
        self.blocks[block.index()].state
    }

    /// A block is full, and neither fills nor is collected.
    pub fn is_at_rest(&self, block: BlockId) -> bool {
        matches!(self.state(block), BlockState::Closed | BlockState::Cached)
    }

    /// A block has been opened since its last erase.
    pub fn is_in_use(&self, block: BlockId) -> bool {
        use BlockState::{Erased, Free, Retired, Spare, Taken};
        !matches!(self.state(block), Free | Taken | Erased | Spare | Retired)
    }

    /// Number of valid pages of a block.
    #[inline(always)]
    pub fn valid(&self, block: BlockId) -> u32 {
        u32::from(self.blocks[block.index()].valid)
    }

    /// Number of pages of a block programmed since its last erase.
    #[inline(always)]
    pub fn programmed(&self, block: BlockId) -> u32 {
        u32::from(self.blocks[block.index()].programmed)
    }

    /// The columns' values for what is collected with a block: for its superblock, or itself.
    pub fn row(&self, block: BlockId) -> Row {
        self.columns.row(block, self.members(block).map(|(_, member)| member).filter(|&member| member != block))
    }

    /// Erase counts by block.
    pub fn erases(&self) -> &[u32] {
        &self.columns.erases
    }

    /// The stream that has filled a block since its last erase; [`NO_STREAM`] if it is free, or was filled before the run.
    pub fn stream(&self, block: BlockId) -> Stream {
        self.columns.stream[block.index()]
    }

    /// The mode of a block.
    #[inline(always)]
    pub fn mode(&self, block: BlockId) -> Mode {
        self.columns.mode[block.index()]
    }

    /// Number of blocks on the pool's free list; write frontiers do not count.
    #[inline(always)]
    pub fn free_count(&self, pool: PoolId) -> u32 {
        self.free_count[pool.index()]
    }

    /// Number of erased blocks of all pools, those of the static part of a cache in SLC mode included.
    pub fn free_total(&self) -> u64 {
        self.free_count.iter().map(|&free| u64::from(free)).sum::<u64>() + self.free_static_total()
    }

    /// Number of blocks on the free list of the pool that has the fewest.
    pub fn free_fewest(&self) -> u32 {
        self.free_count.iter().copied().min().unwrap_or(0)
    }

    /// Number of valid pages of a pool.
    #[inline(always)]
    pub fn valid_in_pool(&self, pool: PoolId) -> u32 {
        self.valid_in_pool[pool.index()]
    }

    /// The pool's free blocks, the next to be taken first.
    pub fn free_blocks(&self, pool: PoolId) -> impl Iterator<Item = BlockId> + '_ {
        self.links.chain(self.free[pool.index()]).map(BlockId)
    }

    /// Where the lists of a pool, or of its group, begin: the number by which `closed` and `occupied` go.
    #[inline(always)]
    fn lists_of(&self, pool: PoolId) -> usize {
        match &self.superblocks {
            None => pool.index(),
            Some(superblocks) => superblocks.group_of(pool),
        }
    }

    /// The pool's closed blocks with `valid` valid pages, in the order in which they reached that number.
    pub fn closed_blocks(&self, pool: PoolId, valid: u32) -> impl Iterator<Item = BlockId> + '_ {
        self.links.chain(self.closed[self.lists_of(pool) * self.lists_per_pool + valid as usize]).map(BlockId)
    }

    /// The pool's eligible blocks, fewest valid pages first; those with the same number in the order in which they reached it.
    pub fn eligible_blocks(&self, pool: PoolId) -> impl Iterator<Item = BlockId> + '_ {
        self.eligible_levels(pool).flat_map(move |valid| self.closed_blocks(pool, valid))
    }

    /// The numbers of valid pages that eligible blocks of the pool have, ascending.
    pub fn eligible_levels(&self, pool: PoolId) -> impl Iterator<Item = u32> + '_ {
        let words = &self.occupied[self.lists_of(pool) * self.occupied_words..][..self.occupied_words];
        let levels = words.iter().enumerate().flat_map(|(index, &word)| {
            let without_lowest = |word: &u64| Some(word & (word - 1)).filter(|&rest| rest != 0);
            std::iter::successors(Some(word).filter(|&word| word != 0), without_lowest)
                .map(move |word| index as u32 * 64 + word.trailing_zeros())
        });
        levels.take_while(|&valid| valid <= self.valid_max)
    }

    /// The block is eligible as a victim: closed, with an invalid page (where programs have several pages, as many as fill one).
    #[inline]
    pub fn is_eligible(&self, block: BlockId) -> bool {
        self.state(block) == BlockState::Closed && self.valid_together(block) <= self.valid_max
    }

    /// Number of valid pages of what is collected with a block: of a closed superblock those of all its blocks.
    #[inline]
    pub fn valid_together(&self, block: BlockId) -> u32 {
        match &self.superblocks {
            None => self.valid(block),
            Some(superblocks) => superblocks.valid(block),
        }
    }

    /// The pool's closed blocks, oldest first.
    pub fn blocks_by_age(&self, pool: PoolId) -> impl Iterator<Item = BlockId> + '_ {
        self.age_links.chain(self.by_age[pool.index()]).map(BlockId)
    }

    /// The age of a closed block: how many blocks of its pool were closed after it.
    #[inline]
    pub fn age(&self, pool: PoolId, block: BlockId) -> u64 {
        self.closings[pool.index()] - self.columns.closed_at[block.index()]
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
        if self.is_static(block) {
            return self.push_free_static(pool, block);
        }
        self.links.push(&mut self.free[pool.index()], block.0);
        self.free_count[pool.index()] += 1;
        self.blocks[block.index()].state = BlockState::Free;
    }

    /// Starts to record the fewest free blocks of any pool ([`Blocks::free_min`]).
    pub fn begin_run(&mut self) {
        self.free_min = self.free_count.iter().copied().min().unwrap_or(0);
    }

    /// The fewest free blocks that any pool has had since [`Blocks::begin_run`].
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
        self.blocks[block.index()].state = BlockState::Open;
        block
    }

    /// Opens a block of the pool in a mode, for a stream to fill. Returns it, and the number of its first page that holds data.
    #[inline]
    pub fn open(&mut self, pool: PoolId, stream: Stream, mode: Mode) -> (BlockId, u32) {
        let (block, first) = match mode {
            Mode::Native => (self.take_free(pool), 0),
            _ => self.take_for_cache(pool, mode),
        };
        self.columns.stream[block.index()] = stream;
        (block, first)
    }

    /// A page of the block has been programmed, `valid` if it holds data; with its last page the block closes.
    #[inline(always)]
    pub fn program_ended(&mut self, pool: PoolId, block: BlockId, valid: bool) {
        self.programs_ended(pool, block, 1, u32::from(valid));
    }

    /// `pages` pages of the block have been programmed, of which `valid` hold data; with its last page the block closes.
    #[inline(always)]
    pub fn programs_ended(&mut self, pool: PoolId, block: BlockId, pages: u32, valid: u32) {
        let record = &mut self.blocks[block.index()];
        record.programmed += pages as u16;
        record.valid += valid as u16;
        self.valid_in_pool[pool.index()] += valid;
        if record.programmed == self.pages_per_block && pages > 0 {
            self.close(pool, block);
        }
    }

    #[inline]
    fn close(&mut self, pool: PoolId, block: BlockId) {
        if self.superblocks.is_some() {
            return self.close_member(block);
        }
        if self.in_cache(block) {
            return self.cache_block_full(pool, block);
        }
        self.blocks[block.index()].state = BlockState::Closed;
        self.enlist(pool.index(), block, self.valid(block));
        self.begin_to_age(pool, block);
    }

    #[inline]
    fn begin_to_age(&mut self, pool: PoolId, block: BlockId) {
        self.closings[pool.index()] += 1;
        self.columns.closed_at[block.index()] = self.closings[pool.index()];
        self.age_links.push(&mut self.by_age[pool.index()], block.0);
    }

    /// Sets the age of a closed block to 0, as if it had closed just now.
    #[inline]
    pub fn renew(&mut self, pool: PoolId, block: BlockId) {
        assert!(self.state(block) == BlockState::Closed, "block {block} has no age: it is {:?}", self.state(block));
        self.age_links.unlink(&mut self.by_age[pool.index()], block.0);
        self.begin_to_age(pool, block);
    }

    /// Marks a valid page of the block as invalid: it was overwritten, trimmed or moved.
    #[inline(always)]
    pub fn invalidate(&mut self, pool: PoolId, block: BlockId, page: u32) {
        let word = self.invalid_word_mut(block, page / 64);
        let bit = 1u64 << (page % 64);
        assert!(*word & bit == 0, "page {page} of block {block} is invalidated twice");
        *word |= bit;
        self.valid_in_pool[pool.index()] -= 1;
        let valid = self.valid(block);
        self.blocks[block.index()].valid -= 1;
        let state = self.state(block);
        if self.superblocks.is_some() && matches!(state, BlockState::Closed | BlockState::Cached) {
            self.invalidate_member(block);
        } else if state == BlockState::Closed {
            self.delist(pool.index(), block, valid);
            self.enlist(pool.index(), block, valid - 1);
        } else if valid == 1 && self.state(block) == BlockState::Cached {
            self.cached_block_emptied(pool);
        }
    }

    /// Marks the pages `from..end` of a victim as moved. Of these `valid` were valid.
    pub fn moved_away(&mut self, pool: PoolId, victim: BlockId, from: u32, end: u32, valid: u32) {
        for word in from / 64..end.div_ceil(64) {
            let below = |page: u32| if page >= 64 { u64::MAX } else { (1 << page) - 1 };
            *self.invalid_word_mut(victim, word) |= below(end - word * 64) & !below(from.saturating_sub(word * 64));
        }
        self.blocks[victim.index()].valid -= valid as u16;
        self.valid_in_pool[pool.index()] -= valid;
    }

    /// Marks a page that was never counted as valid: it became stale while its program was under way, or is padding.
    #[inline]
    pub fn mark_stale(&mut self, block: BlockId, page: u32) {
        *self.invalid_word_mut(block, page / 64) |= 1 << (page % 64);
    }

    /// The valid pages of a victim from offset `from` on, in words of 64 pages: the offset of a word's first page, and a bit for each page.
    #[inline(always)]
    pub fn valid_words(&self, block: BlockId, from: u32) -> impl Iterator<Item = (u32, u64)> + '_ {
        let pages = u32::from(self.pages_per_block);
        (from / 64..self.words()).map(move |word| {
            let first = word * 64;
            let within = if pages - first < 64 { !(u64::MAX << (pages - first)) } else { u64::MAX };
            let behind = if from > first { u64::MAX << (from - first) } else { u64::MAX };
            (first, !self.invalid_word(block, word) & within & behind)
        })
    }

    /// The offset of the first valid page of a victim at or after `from`.
    #[inline(always)]
    pub fn next_valid(&self, block: BlockId, from: u32) -> Option<u32> {
        self.valid_words(block, from).find(|(_, bits)| *bits != 0).map(|(first, bits)| first + bits.trailing_zeros())
    }

    /// True if the page was programmed since the last erase and still holds its logical page's data.
    #[inline(always)]
    pub fn is_valid(&self, block: BlockId, page: u32) -> bool {
        page < self.programmed(block) && self.invalid_word(block, page / 64) >> (page % 64) & 1 == 0
    }

    /// Which of the `count` pages from `first` on are valid, a bit each. They are in one flash page, and so in one word.
    #[inline(always)]
    pub fn valid_among(&self, block: BlockId, first: u32, count: u32) -> u64 {
        let programmed = self.programmed(block).saturating_sub(first).min(count);
        !(self.invalid_word(block, first / 64) >> (first % 64)) & !(u64::MAX << programmed)
    }

    /// The greedy choice: the eligible block with the fewest valid pages, unchanged for longest among equals; `None` if no block is
    /// eligible.
    #[inline]
    pub fn fewest_valid(&self, pool: PoolId) -> Option<BlockId> {
        let lists = self.lists_of(pool);
        let words = &self.occupied[lists * self.occupied_words..][..self.occupied_words];
        let (index, word) = words.iter().enumerate().find(|(_, word)| **word != 0)?;
        let valid = index * 64 + word.trailing_zeros() as usize;
        (valid <= self.valid_max as usize).then(|| BlockId(self.closed[lists * self.lists_per_pool + valid].head))
    }

    /// A closed block or superblock of the pool without valid pages: the one that has been so for longest.
    #[inline]
    pub fn empty_block(&self, pool: PoolId) -> Option<BlockId> {
        let list = self.closed[self.lists_of(pool) * self.lists_per_pool];
        (list.head != NONE).then_some(BlockId(list.head))
    }

    /// Starts collecting a closed block, or the superblock that it represents, or folding a full block in SLC mode.
    #[inline]
    pub fn make_victim(&mut self, pool: PoolId, block: BlockId) {
        if self.state(block) == BlockState::Cached {
            self.take_from_cache(pool, block);
        } else {
            assert!(self.state(block) == BlockState::Closed, "block {block} cannot be collected: it is {:?}", self.state(block));
            self.delist(self.lists_of(pool), block, self.valid_together(block));
            self.age_links.unlink(&mut self.by_age[pool.index()], block.0);
        }
        match self.superblocks {
            None => self.blocks[block.index()].state = BlockState::Victim,
            Some(_) => self.set_members(block, BlockState::Victim),
        }
    }

    /// The block has been erased and is free, unless other blocks of its superblock are to be erased.
    #[inline]
    pub fn erased(&mut self, pool: PoolId, block: BlockId) {
        self.wiped(pool, block);
        match self.superblocks {
            None => self.push_free(pool, block),
            Some(_) => self.blocks[block.index()].state = BlockState::Erased,
        }
    }

    /// The block has been erased. The caller sets its state.
    #[inline(always)]
    fn wiped(&mut self, pool: PoolId, block: BlockId) {
        assert!(self.state(block) == BlockState::Victim && self.valid(block) == 0, "block {block} is erased with data in it");
        self.blocks[block.index()] = ERASED;
        self.invalid_beyond[block.index() * self.words_beyond..][..self.words_beyond].fill(0);
        self.columns.erases[block.index()] += 1;
        if self.in_cache(block) {
            self.erased_in_cache(pool, block);
        }
        self.columns.erased(block);
        self.erases_in_pool[pool.index()] += 1;
    }

    /// Plants a defect: the block counts a valid page more than it has.
    pub fn count_twice(&mut self, block: BlockId) {
        // No more than are programmed, as there are no lists for such a block.
        if self.state(block) == BlockState::Open && self.valid(block) < self.programmed(block) {
            self.blocks[block.index()].valid += 1;
        }
    }

    /// Adds a block with `valid` valid pages, of it or its superblock, to the lists number `lists` ([`Blocks::lists_of`]).
    #[inline(always)]
    fn enlist(&mut self, lists: usize, block: BlockId, valid: u32) {
        let valid = valid as usize;
        self.links.push(&mut self.closed[lists * self.lists_per_pool + valid], block.0);
        self.occupied[lists * self.occupied_words + valid / 64] |= 1 << (valid % 64);
    }

    #[inline(always)]
    fn delist(&mut self, lists: usize, block: BlockId, valid: u32) {
        let valid = valid as usize;
        let list = &mut self.closed[lists * self.lists_per_pool + valid];
        self.links.unlink(list, block.0);
        if list.head == NONE {
            self.occupied[lists * self.occupied_words + valid / 64] &= !(1 << (valid % 64));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::Ftl;
    use ssdlab_base::units::Lpn;
    use ssdlab_keys::config::Config;

    /// The second of two pools.
    const POOL: PoolId = PoolId(1);

    /// Two pools of eight blocks of four pages. All exported pages are written, which closes four blocks of each.
    fn drive() -> Ftl {
        let mut config = Config::default();
        config.device.channels = 2;
        config.device.blocks_per_plane = 8;
        config.device.pages_per_block = 4;
        config.device.overprovisioning = 0.5;
        let mut ftl = Ftl::new(&config);
        ftl.fill(ftl.geometry().exported_units);
        ftl.check().unwrap();
        ftl
    }

    /// The first block on the pool's free list.
    fn free(ftl: &mut Ftl) -> &mut Block {
        let block = ftl.blocks.free_blocks(POOL).next().expect("four are free");
        &mut ftl.blocks.blocks[block.index()]
    }

    /// The pool's oldest closed block.
    fn closed(ftl: &mut Ftl) -> &mut Block {
        let block = ftl.blocks.blocks_by_age(POOL).next().expect("four are closed");
        &mut ftl.blocks.blocks[block.index()]
    }

    #[test]
    fn the_oldest_block_has_the_largest_age() {
        let mut config = Config::default();
        config.device.blocks_per_plane = 8;
        let mut ftl = Ftl::new(&config);
        assert_eq!(ftl.blocks().age_max(PoolId(0)), 0, "none is closed");
        ftl.fill(ftl.geometry().exported_units);
        let blocks = ftl.blocks();
        let ages: Vec<_> = blocks.blocks_by_age(PoolId(0)).map(|block| blocks.age(PoolId(0), block)).collect();
        assert!(ages.len() > 2 && ages[0] > ages[1], "{ages:?}");
        assert_eq!(blocks.age_max(PoolId(0)), ages[0]);
    }

    fn found(what: &str, spoil: impl FnOnce(&mut Ftl)) {
        let mut ftl = drive();
        spoil(&mut ftl);
        let reason = ftl.check().err().unwrap_or_else(|| panic!("not found: {what}"));
        assert!(reason.contains(what), "{what}: {reason}");
    }

    #[test]
    fn a_contradiction_between_two_counts_of_one_thing_is_found() {
        found("on the free list of pool 1 but is Open", |ftl| free(ftl).state = BlockState::Open);
        found("on the free list of pool 1 but is Free", |ftl| free(ftl).programmed = 1);
        found("pool 1 counts 5 free blocks and lists 4", |ftl| ftl.blocks.free_count[1] += 1);
        found("listed under 4 valid pages and has 3", |ftl| closed(ftl).valid = 3);
        found("closed with 3 pages programmed", |ftl| closed(ftl).programmed = 3);
        found("marks 3 pages valid and counts 4", |ftl| closed(ftl).invalid = 1);
        found("pool 1 counts 15 valid pages and has 16", |ftl| ftl.blocks.valid_in_pool[1] -= 1);
        found("pool 1 counts 1 erases and has 0", |ftl| ftl.blocks.erases_in_pool[1] += 1);
        found("4 blocks by age and has 3 closed", |ftl| closed(ftl).state = BlockState::Open);
        found("more than one victim", |ftl| {
            for _ in 0..2 {
                let block = ftl.blocks.blocks_by_age(POOL).next().expect("four are closed");
                ftl.blocks.make_victim(POOL, block);
            }
        });
        found("listed as older", |ftl| {
            let by_age: Vec<BlockId> = ftl.blocks.blocks_by_age(POOL).collect();
            ftl.blocks.columns.closed_at[by_age[1].index()] = ftl.blocks.columns.closed_at[by_age[0].index()];
        });
        found("is erased and keeps its stream", |ftl| {
            let free = ftl.blocks.free_blocks(POOL).next().expect("four are free");
            ftl.blocks.columns.stream[free.index()] = 0;
        });
        found("mapped pages are wrong", |ftl| ftl.mapped[0] -= 1);
    }

    #[test]
    fn a_frontier_that_cannot_go_on_is_found() {
        let fill = |ftl: &mut Ftl, block, next_page| *ftl.pools[1].host_mut(0) = crate::ftl::Frontier { block, next_page };
        found("from page 0 on, which cannot be", |ftl| {
            let free = ftl.blocks.free_blocks(POOL).next().expect("four are free");
            fill(ftl, free, 0);
        });
        found("from page 0 on, which cannot be", |ftl| {
            let ppn = ftl.allocate_host(POOL, 0).ppn;
            ftl.commit_write(POOL, Lpn(1), ppn);
            let block = ftl.geometry().split_page(ppn).0;
            fill(ftl, block, 0);
        });
        found("from page 0 on, which cannot be", |ftl| {
            let other = ftl.blocks.take_free(PoolId(0));
            fill(ftl, other, 0);
        });
    }
}
