//! Blocks in SLC mode. A block is in that mode from when a stream opens it in SLC mode until it is erased.
//!
//! In SLC mode a word line has one page in place of two to four. A block's pages keep their numbers: those in front are skipped, and count
//! as programmed and invalid from the start. So all lists and counts see what the erase of such a block gains.

use super::{BlockState, Blocks};
use crate::lists::{EMPTY, List, NONE};
use serde::{Deserialize, Serialize};
use ssdlab_base::units::{BlockId, PoolId};
use ssdlab_keys::config::{MODES, Mode, SlcShape, WHOLE};
use ssdlab_keys::geometry::{BlockFacts, Geometry};

/// The blocks in SLC mode of all pools.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SlcBlocks {
    shape: SlcShape,
    /// By mode: units of a block that are skipped, and wear of an erase.
    skipped: [u32; MODES],
    wear: [u64; MODES],
    /// By pool: number of blocks of the static part that have not failed.
    static_left: Vec<u32>,
    /// By pool: erased blocks of the static part.
    free: Vec<List>,
    /// By pool: number of erased blocks of the static part.
    free_count: Vec<u32>,
    /// By pool: full blocks in SLC mode, the one that became full first at the head.
    full: Vec<List>,
    /// By pool: number of full blocks in SLC mode.
    full_count: Vec<u32>,
    /// By pool: number of full blocks in SLC mode without valid pages.
    empty_count: Vec<u32>,
    /// By pool: number of blocks of the dynamic part, open, full or being folded.
    dynamic: Vec<u32>,
    /// By pool, of a group its first: its job folds a block of the static part, so that no free block comes of it.
    folds_static: Vec<bool>,
    /// Pools that may have a block to fold since the last look.
    news: Vec<PoolId>,
}

impl SlcBlocks {
    pub(super) fn new(geometry: &Geometry) -> Option<Box<Self>> {
        let pools = geometry.pools.count.get() as usize;
        geometry.slc.map(|shape| {
            Box::new(SlcBlocks {
                shape,
                skipped: geometry.skipped,
                wear: geometry.wear,
                static_left: vec![shape.static_each; pools],
                free: vec![EMPTY; pools],
                free_count: vec![0; pools],
                full: vec![EMPTY; pools],
                full_count: vec![0; pools],
                empty_count: vec![0; pools],
                dynamic: vec![0; pools],
                folds_static: vec![false; pools],
                news: Vec::new(),
            })
        })
    }
}

impl Blocks {
    /// A block is in a mode of the cache: what it holds is folded.
    #[inline(always)]
    pub fn in_cache(&self, block: BlockId) -> bool {
        self.mode(block) != Mode::Native
    }

    /// A block is of the static part of the cache.
    #[inline(always)]
    pub fn is_static(&self, block: BlockId) -> bool {
        self.columns.is_static[block.index()]
    }

    /// What the age of a block and its wear depend on, if it is in this mode.
    #[inline]
    pub fn facts(&self, block: BlockId, mode: Mode) -> BlockFacts {
        let erases = self.columns.erases[block.index()];
        let Some(cache) = &self.slc else { return BlockFacts::after(erases) };
        BlockFacts { erases, spared: self.columns.spared[block.index()], each: cache.wear[mode as usize], mode }
    }

    /// Number of erased blocks of the static part in a pool.
    pub fn free_static(&self, pool: PoolId) -> u32 {
        self.slc.as_ref().map_or(0, |slc| slc.free_count[pool.index()])
    }

    /// Number of blocks of the static part of a pool that have not failed.
    pub fn static_left(&self, pool: PoolId) -> u32 {
        self.slc.as_ref().map_or(0, |slc| slc.static_left[pool.index()])
    }

    /// A block has failed, or its superblock is given up: if it was of the static part, that is a block smaller.
    pub(super) fn leaves_static(&mut self, pool: PoolId, block: BlockId) {
        if let Some(slc) = self.slc.as_mut().filter(|_| self.columns.is_static[block.index()]) {
            slc.static_left[pool.index()] -= 1;
        }
    }

    /// Number of erased blocks of the static part in all pools.
    pub(super) fn free_static_total(&self) -> u64 {
        self.slc.as_ref().map_or(0, |slc| slc.free_count.iter().map(|&count| u64::from(count)).sum())
    }

    /// Number of blocks of the dynamic part in a pool.
    pub fn dynamic_blocks(&self, pool: PoolId) -> u32 {
        self.slc.as_ref().map_or(0, |slc| slc.dynamic[pool.index()])
    }

    /// Number of full blocks in SLC mode of a pool.
    pub fn full_in_cache(&self, pool: PoolId) -> u32 {
        self.slc.as_ref().map_or(0, |slc| slc.full_count[pool.index()])
    }

    /// The full blocks in SLC mode of a pool, the one that became full first at the head.
    pub fn cached_by_age(&self, pool: PoolId) -> impl Iterator<Item = BlockId> + '_ {
        let list = self.slc.as_ref().map_or(EMPTY, |slc| slc.full[pool.index()]);
        self.links.chain(list).map(BlockId)
    }

    /// The full blocks in SLC mode of a pool that hold no valid page, the one that became full first at the head.
    pub fn empty_cached(&self, pool: PoolId) -> impl Iterator<Item = BlockId> + '_ {
        let empty = self.slc.as_ref().map_or(0, |slc| slc.empty_count[pool.index()]);
        self.cached_by_age(pool).filter(|&block| self.valid_together(block) == 0).take(empty as usize)
    }

    /// The last valid page of a full block in SLC mode has become invalid.
    #[cold]
    #[inline(never)]
    pub(super) fn cached_block_emptied(&mut self, pool: PoolId) {
        self.slc.as_mut().expect("there are blocks in SLC mode").empty_count[pool.index()] += 1;
    }

    /// The erased blocks of the static part of a pool, the next to be taken first.
    pub fn free_static_blocks(&self, pool: PoolId) -> impl Iterator<Item = BlockId> + '_ {
        let list = self.slc.as_ref().map_or(EMPTY, |slc| slc.free[pool.index()]);
        self.links.chain(list).map(BlockId)
    }

    /// What decides whether the pool folds a block has changed.
    pub fn note_news(&mut self, pool: PoolId) {
        self.slc.iter_mut().for_each(|slc| slc.news.push(pool));
    }

    /// Takes a pool for which there is news since the last call: see [`Blocks::note_news`].
    pub fn take_news(&mut self) -> Option<PoolId> {
        self.slc.as_mut()?.news.pop()
    }

    /// Opens a block in a mode of the cache: an erased one of the static part, or else any free block. Returns it, and the number of its first
    /// page.
    pub(super) fn take_for_cache(&mut self, pool: PoolId, mode: Mode) -> (BlockId, u32) {
        let slc = self.slc.as_mut().expect("there are blocks in SLC mode");
        let list = &mut slc.free[pool.index()];
        let skipped = slc.skipped[mode as usize];
        let block = if list.head == NONE {
            slc.dynamic[pool.index()] += 1;
            self.take_free(pool)
        } else {
            let block = BlockId(list.head);
            self.links.unlink(list, block.0);
            slc.free_count[pool.index()] -= 1;
            self.blocks[block.index()].state = BlockState::Open;
            block
        };
        self.columns.mode[block.index()] = mode;
        self.blocks[block.index()].programmed = skipped as u16;
        (0..skipped).for_each(|page| self.mark_stale(block, page));
        (block, skipped)
    }

    /// Puts an erased block of the static part on its list.
    #[cold]
    #[inline(never)]
    pub(super) fn push_free_static(&mut self, pool: PoolId, block: BlockId) {
        self.blocks[block.index()].state = BlockState::Free;
        let slc = self.slc.as_mut().expect("there are blocks in SLC mode");
        self.links.push(&mut slc.free[pool.index()], block.0);
        slc.free_count[pool.index()] += 1;
    }

    /// A block in SLC mode is full.
    #[cold]
    #[inline(never)]
    pub(super) fn cache_block_full(&mut self, pool: PoolId, block: BlockId) {
        self.blocks[block.index()].state = BlockState::Cached;
        self.closings[pool.index()] += 1;
        self.columns.closed_at[block.index()] = self.closings[pool.index()];
        let is_empty = self.valid_together(block) == 0;
        let slc = self.slc.as_mut().expect("there are blocks in SLC mode");
        self.links.push(&mut slc.full[pool.index()], block.0);
        slc.full_count[pool.index()] += 1;
        slc.empty_count[pool.index()] += u32::from(is_empty);
        slc.news.push(pool);
    }

    /// A full block in SLC mode is folded.
    #[cold]
    #[inline(never)]
    pub(super) fn take_from_cache(&mut self, pool: PoolId, block: BlockId) {
        let is_empty = self.valid_together(block) == 0;
        let slc = self.slc.as_mut().expect("there are blocks in SLC mode");
        self.links.unlink(&mut slc.full[pool.index()], block.0);
        slc.full_count[pool.index()] -= 1;
        slc.empty_count[pool.index()] -= u32::from(is_empty);
        slc.folds_static[pool.index()] = self.columns.is_static[block.index()];
    }

    /// The job of a pool, or of its group, folds a block of the static part.
    pub fn folds_static(&self, pool: PoolId) -> bool {
        self.slc.as_ref().is_some_and(|slc| slc.folds_static[self.lead_of(pool).index()])
    }

    /// A block in SLC mode has been erased.
    #[cold]
    #[inline(never)]
    pub(super) fn erased_in_cache(&mut self, pool: PoolId, block: BlockId) {
        let mode = self.mode(block);
        self.columns.spared[block.index()] += self.slc.as_ref().map_or(0, |slc| WHOLE - slc.wear[mode as usize]);
        if self.superblocks.is_none() {
            self.leaves_cache(pool, block);
        }
    }

    /// A block in SLC mode has been erased; of a superblock the last.
    #[cold]
    #[inline(never)]
    pub(super) fn leaves_cache(&mut self, pool: PoolId, block: BlockId) {
        let slc = self.slc.as_mut().expect("there are blocks in SLC mode");
        slc.folds_static[pool.index()] = false;
        slc.dynamic[pool.index()] -= u32::from(!self.columns.is_static[block.index()]);
        self.columns.mode[block.index()] = Mode::Native;
    }

    /// Pages of a block that are skipped in its mode.
    pub fn skipped(&self, block: BlockId) -> u32 {
        self.slc.as_ref().map_or(0, |slc| slc.skipped[self.mode(block) as usize])
    }

    /// A block of a pool takes the place of another, in the static part of the cache or not.
    pub(super) fn takes_part_of(&mut self, pool: PoolId, block: BlockId, other: BlockId) {
        if let Some(slc) = &mut self.slc {
            let is_static = self.columns.is_static[other.index()];
            self.columns.is_static[block.index()] = is_static;
            slc.static_left[pool.index()] += u32::from(is_static);
        }
    }

    /// Sorts the blocks of a saved state into those in SLC mode and others.
    ///
    /// # Errors
    /// A sentence if a block of the static part is not in SLC mode, one in SLC mode has data in skipped pages, or there are more than may be.
    pub fn restore_slc(&mut self, geometry: &Geometry) -> Result<(), String> {
        if self.slc.is_none() {
            return Ok(());
        }
        let in_use: Vec<_> = (0..geometry.blocks).map(BlockId).filter(|&block| self.state(block) != BlockState::Free).collect();
        if let Some(block) = in_use.iter().find(|&&block| self.is_static(block) && !self.in_cache(block)) {
            return Err(format!("block {block} is of the static part of the cache and not in SLC mode"));
        }
        let mut in_slc: Vec<_> = in_use.into_iter().filter(|&block| self.in_cache(block)).collect();
        in_slc.sort_by_key(|block| self.columns.closed_at[block.index()]);
        for block in in_slc {
            let (pool, skipped) = (geometry.pool_of_block(block), self.skipped(block));
            if self.programmed(block) < skipped || (0..skipped).any(|page| self.is_valid(block, page)) {
                return Err(format!("block {block} is in SLC mode and has data in pages that are skipped"));
            }
            let is_static = self.is_static(block);
            if self.state(block) == BlockState::Closed && self.lead_of(pool) == pool {
                self.delist(self.lists_of(pool), block, self.valid_together(block));
                self.age_links.unlink(&mut self.by_age[pool.index()], block.0);
                self.blocks[block.index()].state = BlockState::Cached;
                self.set_members(block, BlockState::Cached);
                let is_empty = self.valid_together(block) == 0;
                let slc = self.slc.as_mut().expect("seen above");
                slc.empty_count[pool.index()] += u32::from(is_empty);
                self.links.push(&mut slc.full[pool.index()], block.0);
                slc.full_count[pool.index()] += 1;
            }
            let slc = self.slc.as_mut().expect("seen above");
            slc.dynamic[pool.index()] += u32::from(!is_static);
        }
        self.dynamic_part_is_allowed()
    }

    /// Checks that no pool has more blocks of the dynamic part than it may.
    fn dynamic_part_is_allowed(&self) -> Result<(), String> {
        let Some(slc) = &self.slc else { return Ok(()) };
        let most = slc.shape.dynamic_each;
        match slc.dynamic.iter().zip(0..).find(|(blocks, _)| **blocks > most) {
            Some((blocks, pool)) => Err(format!(
                "pool {pool} was saved with {blocks} blocks in SLC mode beside the static part, and may have {most}; raise slc.dynamic_blocks"
            )),
            None => Ok(()),
        }
    }

    /// Recounts the blocks in SLC mode of a pool.
    ///
    /// # Errors
    /// A sentence about the first contradiction.
    pub fn check_slc(&self, geometry: &Geometry, pool: PoolId) -> Result<(), String> {
        let Some(slc) = &self.slc else { return Ok(()) };
        let all = || (0..geometry.pools.blocks_each).map(|index| geometry.block_of_pool(pool, index));
        let in_slc = || all().filter(|&block| self.in_cache(block));
        let full: Vec<_> = self.cached_by_age(pool).collect();
        // The first pool of a group lists its superblocks.
        let leads = self.lead_of(pool) == pool;
        let cached = all().filter(|&block| leads && self.state(block) == BlockState::Cached).count();
        if full.len() != cached || cached != slc.full_count[pool.index()] as usize || full.iter().any(|&block| !self.in_cache(block)) {
            return Err(format!("pool {pool} lists {} full blocks in SLC mode and has {cached}", full.len()));
        }
        if let Some(pair) = full.windows(2).find(|pair| self.columns.closed_at[pair[0].index()] >= self.columns.closed_at[pair[1].index()])
        {
            return Err(format!("block {} in SLC mode is listed as older than block {} and is not", pair[0], pair[1]));
        }
        let empty = full.iter().filter(|&&block| self.valid_together(block) == 0).count();
        if empty != slc.empty_count[pool.index()] as usize {
            return Err(format!(
                "pool {pool} counts {} full blocks in SLC mode without data and has {empty}",
                slc.empty_count[pool.index()]
            ));
        }
        let free = self.free_static_blocks(pool).filter(|&block| self.state(block) == BlockState::Free && self.is_static(block)).count();
        if free != slc.free_count[pool.index()] as usize {
            return Err(format!("pool {pool} counts {} erased blocks of the static part and has {free}", slc.free_count[pool.index()]));
        }
        let dynamic = in_slc().filter(|&block| !self.is_static(block)).count();
        if dynamic != slc.dynamic[pool.index()] as usize || dynamic > slc.shape.dynamic_each as usize {
            let most = slc.shape.dynamic_each;
            return Err(format!(
                "pool {pool} counts {} blocks of the dynamic part of the cache and has {dynamic}, at most {most} being allowed",
                slc.dynamic[pool.index()]
            ));
        }
        if let Some(block) = all().find(|&block| self.is_static(block) && self.is_in_use(block) && !self.in_cache(block)) {
            return Err(format!("block {block} of the static part is in use and not in SLC mode"));
        }
        match in_slc().find(|&block| self.state(block) == BlockState::Closed) {
            Some(block) => Err(format!("block {block} is in SLC mode and a candidate for collection")),
            None => Ok(()),
        }
    }
}
