//! Superblocks of several pools (`ftl.reclaim_unit = "superblock"`): which are open, how many valid units each closed one has, and when
//! their blocks close and come free together.
//!
//! A superblock has a block of each pool of a group: at first those at the same place of all. The group takes a superblock for a stream; each pool then begins
//! its block when it needs one. The block in the first pool of the group stands for the superblock in the lists of closed blocks and by
//! age, so that victim policies see superblocks where they would see blocks.

use super::{BlockState, Blocks};
use serde::{Deserialize, Serialize};
use ssdlab_base::units::{BlockId, PoolId};
use ssdlab_keys::config::{Mode, Stream};
use ssdlab_keys::geometry::{Divisor, Geometry};

/// In the table of superblocks: there is no superblock of this number any more.
const GONE: BlockId = BlockId(u32::MAX);

/// The superblocks of all groups.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Superblocks {
    /// Pools of a group.
    members: Divisor,
    /// Blocks of a pool, and so superblocks of a group.
    blocks_each: Divisor,
    /// By superblock, and then by pool of its group: its block there.
    blocks: Vec<BlockId>,
    /// By block: the number of its superblock; of one that was retired or is spare, of its last.
    of: Vec<u32>,
    /// By pool: erased blocks that are in no superblock.
    spare: Vec<Vec<BlockId>>,
    /// By superblock: units that are valid in it, while it is closed.
    valid: Vec<u32>,
    /// By superblock: number of its blocks that are full and at rest.
    full: Vec<u32>,
    /// By group: its open superblocks, each with its stream, in the order in which they were taken.
    open: Vec<Vec<(BlockId, Stream)>>,
}

/// What became of a superblock whose blocks were all erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freed {
    /// Its blocks are on the free lists of their pools.
    Whole {
        /// Number of spare blocks that replace retired ones.
        replaced: u32,
    },
    /// A retired block had no spare block to replace it: the superblock is gone, and its other blocks are spare.
    Dissolved,
}

impl Superblocks {
    pub(super) fn new(geometry: &Geometry) -> Self {
        let members = geometry.pools.per_group;
        let groups = geometry.pools.count.get() / members.get();
        let each = geometry.pools.blocks_each;
        let superblocks = (groups * each) as usize;
        let at_place = |superblock: u32| {
            let (group, place) = (superblock / each, superblock % each);
            (group * members.get()..(group + 1) * members.get()).map(move |pool| BlockId(pool * each + place))
        };
        let blocks: Vec<BlockId> = (0..groups * each).flat_map(at_place).collect();
        let mut of = vec![0; blocks.len()];
        blocks.iter().enumerate().for_each(|(index, block)| of[block.index()] = (index / members.get() as usize) as u32);
        Superblocks {
            members,
            blocks_each: Divisor::new(each),
            blocks,
            of,
            spare: vec![Vec::new(); geometry.pools.count.get() as usize],
            valid: vec![0; superblocks],
            full: vec![0; superblocks],
            open: vec![Vec::new(); groups as usize],
        }
    }

    /// The group of a pool.
    #[inline(always)]
    pub(super) fn group_of(&self, pool: PoolId) -> usize {
        self.members.quotient(pool.0) as usize
    }

    /// The number of a block's superblock.
    #[inline(always)]
    fn number(&self, block: BlockId) -> usize {
        self.of[block.index()] as usize
    }

    /// The group of a superblock, by its number.
    #[inline(always)]
    fn group(&self, number: usize) -> usize {
        self.blocks_each.quotient(number as u32) as usize
    }

    /// The blocks of a superblock, by its number.
    #[inline(always)]
    fn blocks_of(&self, number: usize) -> &[BlockId] {
        let members = self.members.get() as usize;
        &self.blocks[number * members..][..members]
    }

    /// The block that stands for a superblock, by its number.
    #[inline(always)]
    fn lead(&self, number: usize) -> BlockId {
        self.blocks_of(number)[0]
    }

    /// The block of a pool in a superblock, by its number.
    #[inline(always)]
    fn in_pool(&self, number: usize, pool: PoolId) -> BlockId {
        self.blocks_of(number)[self.members.split(pool.0).1 as usize]
    }

    /// The blocks of the superblock of a block, each with its pool.
    fn members(&self, block: BlockId) -> impl Iterator<Item = (PoolId, BlockId)> + use<> {
        let number = self.number(block);
        let first = self.group(number) as u32 * self.members.get();
        let blocks = self.blocks_of(number).to_vec();
        (first..).map(PoolId).zip(blocks)
    }

    /// Number of valid units of the closed superblock of a block.
    pub(super) fn valid(&self, block: BlockId) -> u32 {
        self.valid[self.number(block)]
    }
}

impl Blocks {
    /// The pool that stands for the group of `pool`: itself without superblocks.
    pub(super) fn lead_of(&self, pool: PoolId) -> PoolId {
        let members = |superblocks: &Superblocks| PoolId(superblocks.members.quotient(pool.0) * superblocks.members.get());
        self.superblocks.as_deref().map_or(pool, members)
    }

    /// The block that stands for what is collected with a block: for its superblock, or itself.
    #[inline]
    pub fn stands_for(&self, block: BlockId) -> BlockId {
        self.superblocks.as_deref().map_or(block, |superblocks| superblocks.lead(superblocks.number(block)))
    }

    /// The superblocks, where there are some.
    fn superblocks(&self) -> &Superblocks {
        self.superblocks.as_ref().expect("there are superblocks")
    }

    fn superblocks_mut(&mut self) -> &mut Superblocks {
        self.superblocks.as_mut().expect("there are superblocks")
    }

    /// The block of a pool in the superblock of a block; without superblocks the block itself.
    #[inline(always)]
    pub fn member(&self, block: BlockId, pool: PoolId) -> BlockId {
        self.superblocks.as_ref().map_or(block, |superblocks| superblocks.in_pool(superblocks.number(block), pool))
    }

    /// The blocks of the superblock of a block, each with its pool; without superblocks none.
    pub fn members(&self, block: BlockId) -> impl Iterator<Item = (PoolId, BlockId)> + use<> {
        self.superblocks.as_ref().map(|superblocks| superblocks.members(block)).into_iter().flatten()
    }

    /// Takes the oldest free superblock of the group of a pool in a mode, for a stream to fill, and returns the block that stands for it.
    pub fn take_superblock(&mut self, pool: PoolId, stream: Stream, mode: Mode) -> BlockId {
        let group = self.superblocks().group_of(pool);
        let first = self.open(self.lead_of(pool), stream, mode).0;
        for (pool, block) in self.members(first) {
            if block != first {
                let taken = self.open(pool, stream, mode).0;
                assert_eq!(taken, block, "the blocks of a superblock are free together");
            }
            self.blocks[block.index()].state = BlockState::Taken;
        }
        self.superblocks_mut().open[group].push((first, stream));
        first
    }

    /// The block of the pool in the oldest superblock that the stream has open and in which the pool has not begun its block.
    #[inline]
    pub fn next_member(&self, pool: PoolId, stream: Stream) -> Option<BlockId> {
        self.taken_members(pool).find_map(|(block, of)| (of == stream).then_some(block))
    }

    /// The blocks of the pool, with their streams, that were taken with their superblocks and have not been begun.
    pub fn taken_members(&self, pool: PoolId) -> impl Iterator<Item = (BlockId, Stream)> + '_ {
        let open = self.superblocks.iter().flat_map(move |superblocks| &superblocks.open[superblocks.group_of(pool)]);
        let each = move |&(first, stream): &(BlockId, Stream)| (self.member(first, pool), stream);
        open.map(each).filter(|&(block, _)| self.state(block) == BlockState::Taken)
    }

    /// The superblocks that the group of a pool has open, each by the block that stands for it and with its stream, in the order in which
    /// they were taken.
    pub fn open_superblocks(&self, pool: PoolId) -> &[(BlockId, Stream)] {
        self.superblocks.as_ref().map_or(&[], |superblocks| &superblocks.open[superblocks.group_of(pool)])
    }

    /// The pool begins to fill a block that was taken with its superblock.
    pub fn begin_member(&mut self, block: BlockId) {
        assert!(self.state(block) == BlockState::Taken, "block {block} cannot be begun: it is {:?}", self.state(block));
        self.blocks[block.index()].state = BlockState::Open;
    }

    /// Leaves the rest of a block, from page `from` on, without data: it closes early, or its superblock does.
    pub fn skip_rest(&mut self, pool: PoolId, block: BlockId, from: u32) {
        if self.state(block) == BlockState::Taken {
            self.begin_member(block);
        }
        let from = from.max(self.programmed(block));
        let pages = u32::from(self.pages_per_block);
        (from..pages).for_each(|page| self.mark_stale(block, page));
        self.programs_ended(pool, block, pages - from, 0);
    }

    /// A block of a superblock is full and at rest: the superblock closes with its last.
    pub(super) fn close_member(&mut self, block: BlockId) {
        let superblocks = self.superblocks_mut();
        let number = superblocks.number(block);
        let (first, group) = (superblocks.lead(number), superblocks.group(number));
        superblocks.full[number] += 1;
        if superblocks.full[number] < superblocks.members.get() {
            return;
        }
        superblocks.open[group].retain(|&(open, _)| open != first);
        self.close_superblock(first);
    }

    /// All blocks of a superblock are full and at rest.
    fn close_superblock(&mut self, first: BlockId) {
        let number = self.superblocks().number(first);
        let (group, lead) = (self.superblocks().group(number), self.lead_of(self.pool_of(first)));
        let valid = self.members(first).map(|(_, block)| self.valid(block)).sum();
        self.superblocks_mut().valid[number] = valid;
        if self.in_cache(first) {
            self.set_members(first, BlockState::Cached);
            return self.cache_block_full(lead, first);
        }
        self.set_members(first, BlockState::Closed);
        self.enlist(group, first, valid);
        self.begin_to_age(lead, first);
    }

    /// A unit of a block in a superblock that is closed, or full in SLC mode, has become invalid.
    pub(super) fn invalidate_member(&mut self, block: BlockId) {
        let superblocks = self.superblocks_mut();
        let number = superblocks.number(block);
        let (first, group) = (superblocks.lead(number), superblocks.group(number));
        let valid = superblocks.valid[number];
        superblocks.valid[number] = valid - 1;
        if self.in_cache(first) {
            if valid == 1 {
                self.cached_block_emptied(self.lead_of(self.pool_of(first)));
            }
            return;
        }
        self.delist(group, first, valid);
        self.enlist(group, first, valid - 1);
    }

    /// Sets the state of all blocks of a superblock.
    pub(super) fn set_members(&mut self, block: BlockId, state: BlockState) {
        for (_, block) in self.members(block) {
            self.blocks[block.index()].state = state;
        }
    }

    /// All blocks of the superblock of a block have been erased, perhaps for the last time.
    pub fn all_erased(&self, block: BlockId) -> bool {
        self.members(block).all(|(_, block)| self.state(block) != BlockState::Victim)
    }

    /// The blocks of a superblock, all erased, come free together. If some of them were retired, spare blocks of their pools take the places;
    /// where a pool has none, the other blocks become spare. Returns what became of the superblock.
    pub fn free_members(&mut self, block: BlockId) -> Freed {
        let number = self.superblocks().number(block);
        self.superblocks_mut().full[number] = 0;
        let members: Vec<_> = self.members(block).collect();
        self.superblock_leaves_cache(number);
        let (failed, erased): (Vec<_>, Vec<_>) = members.into_iter().partition(|&(_, block)| self.state(block) == BlockState::Retired);
        if failed.iter().any(|(pool, _)| self.superblocks().spare[pool.index()].is_empty()) {
            self.dissolve(number, &erased);
            return Freed::Dissolved;
        }
        failed.iter().for_each(|&(pool, _)| self.replace(number, pool));
        // A defect that is planted has freed some of them.
        for (pool, block) in erased {
            if self.state(block) == BlockState::Erased {
                self.free_member(pool, block);
            }
        }
        Freed::Whole { replaced: failed.len() as u32 }
    }

    /// The blocks of a superblock were erased: they are in native mode again.
    fn superblock_leaves_cache(&mut self, number: usize) {
        let blocks: Vec<_> = self.superblocks().blocks_of(number).to_vec();
        for block in blocks.into_iter().filter(|&block| self.in_cache(block)).collect::<Vec<_>>() {
            self.leaves_cache(self.pool_of(block), block);
        }
    }

    /// A spare block of the pool takes the place of the one that was retired.
    fn replace(&mut self, number: usize, pool: PoolId) {
        let superblocks = self.superblocks_mut();
        let spare = superblocks.spare[pool.index()].pop().expect("the pool has a spare block");
        let members = superblocks.members;
        let failed = std::mem::replace(&mut superblocks.blocks[number * members.get() as usize + members.split(pool.0).1 as usize], spare);
        superblocks.of[spare.index()] = number as u32;
        self.takes_part_of(pool, spare, failed);
        self.push_free(pool, spare);
    }

    /// There is no superblock of this number any more: its blocks that are left, all erased, are spare.
    fn dissolve(&mut self, number: usize, erased: &[(PoolId, BlockId)]) {
        for &(pool, block) in erased {
            self.blocks[block.index()].state = BlockState::Spare;
            self.leaves_static(pool, block);
            self.superblocks_mut().spare[pool.index()].push(block);
        }
        let members = self.superblocks().members.get() as usize;
        self.superblocks_mut().blocks[number * members..][..members].fill(GONE);
    }

    /// The collection of a superblock is given up, of which no block has been erased: it is closed again, with the units that were not moved.
    pub fn give_up_superblock(&mut self, first: BlockId) {
        if self.members(first).any(|(_, block)| self.state(block) != BlockState::Victim) {
            return;
        }
        self.close_superblock(first);
    }

    /// An erased block of a superblock comes free.
    pub fn free_member(&mut self, pool: PoolId, block: BlockId) {
        assert!(self.state(block) == BlockState::Erased, "block {block} cannot come free: it is {:?}", self.state(block));
        self.push_free(pool, block);
    }

    /// Plants a defect: the closed superblock of a block counts a valid unit that it has not.
    pub fn count_too_many(&mut self, block: BlockId) {
        let superblocks = self.superblocks_mut();
        let number = superblocks.number(block);
        let (first, group) = (superblocks.lead(number), superblocks.group(number));
        let valid = superblocks.valid[number];
        if self.state(block) == BlockState::Closed && valid < self.valid_max {
            self.superblocks_mut().valid[number] = valid + 1;
            self.delist(group, first, valid);
            self.enlist(group, first, valid + 1);
        }
    }

    fn pool_of(&self, block: BlockId) -> PoolId {
        PoolId(self.superblocks().blocks_each.quotient(block.0))
    }

    /// For saving: by superblock 0 if it is not open, else its stream + 1, and its rank among those open in its group.
    pub fn superblock_parts(&self) -> Vec<Vec<u32>> {
        let Some(superblocks) = &self.superblocks else { return Vec::new() };
        let (mut streams, mut ranks) = (vec![0; superblocks.full.len()], vec![0; superblocks.full.len()]);
        for (rank, &(first, stream)) in superblocks.open.iter().flat_map(|open| open.iter().enumerate()) {
            (streams[superblocks.number(first)], ranks[superblocks.number(first)]) = (u32::from(stream) + 1, rank as u32);
        }
        vec![streams, ranks]
    }

    /// The inverse of [`Blocks::superblock_parts`]. `filled`: pages from which on a pool goes on to fill a block, for those that one does.
    ///
    /// # Errors
    /// A sentence if the arrays contradict the blocks.
    pub fn restore_superblocks(&mut self, parts: &[Vec<u32>], streams: u8) -> Result<(), String> {
        let [open, ranks] = parts else { return Ok(()) };
        let mut found: Vec<(u32, BlockId, Stream)> = Vec::new();
        for (number, (&stream, &rank)) in open.iter().zip(ranks).enumerate() {
            let first = self.superblocks().lead(number);
            let states: Vec<BlockState> = self.members(first).map(|(_, block)| self.state(block)).collect();
            let is_open = states.iter().all(|&state| state == BlockState::Open);
            if stream > u32::from(streams) || is_open != (stream > 0) || !is_open && states.iter().any(|state| *state != states[0]) {
                return Err(format!("the blocks of the superblock of block {first} are in different states"));
            }
            if is_open {
                found.push((rank, first, (stream - 1) as Stream));
                self.restore_open(first);
            }
        }
        found.sort_by_key(|&(rank, first, _)| (rank, first));
        for (_, first, stream) in found {
            let group = self.superblocks().group(self.superblocks().number(first));
            self.superblocks_mut().open[group].push((first, stream));
        }
        Ok(())
    }

    /// Finds out which blocks of an open superblock have not been begun, and which are full.
    fn restore_open(&mut self, first: BlockId) {
        for (_, block) in self.members(first) {
            if self.programmed(block) == self.skipped(block) {
                self.blocks[block.index()].state = BlockState::Taken;
            } else if self.programmed(block) == u32::from(self.pages_per_block) {
                let number = self.superblocks().number(first);
                self.superblocks_mut().full[number] += 1;
            }
        }
    }

    /// Puts a closed superblock back into its lists. `first`: the block that stands for it.
    ///
    /// # Errors
    /// A sentence if its blocks are not all full.
    pub(super) fn restore_closed(&mut self, first: BlockId) -> Result<(), String> {
        let pages = u32::from(self.pages_per_block);
        let number = self.superblocks().number(first);
        if self.superblocks().lead(number) != first || self.members(first).any(|(_, block)| self.programmed(block) != pages) {
            return Err(format!("block {first} stands for no closed superblock"));
        }
        let valid = self.members(first).map(|(_, block)| self.valid(block)).sum();
        let group = self.superblocks().group(number);
        let superblocks = self.superblocks_mut();
        superblocks.valid[number] = valid;
        superblocks.full[number] = superblocks.members.get();
        self.set_members(first, BlockState::Closed);
        self.enlist(group, first, valid);
        Ok(())
    }

    /// Recounts the superblocks of the group of a pool.
    ///
    /// # Errors
    /// A sentence about the first contradiction.
    pub fn check_superblocks(&self, lead: PoolId) -> Result<(), String> {
        use BlockState::{Cached, Closed, Erased, Free, Open, Retired, Taken, Victim};
        let Some(superblocks) = &self.superblocks else { return Ok(()) };
        let (each, group) = (superblocks.blocks_each.get() as usize, superblocks.group_of(lead));
        let pages = u32::from(self.pages_per_block);
        for first in (group * each..(group + 1) * each).map(|number| superblocks.lead(number)).filter(|&first| first != GONE) {
            let states: Vec<BlockState> = self.members(first).map(|(_, block)| self.state(block)).collect();
            let all = |among: &[BlockState]| states.iter().all(|state| among.contains(state));
            let listed = self.open_superblocks(lead).iter().filter(|(open, _)| *open == first).count();
            if !(all(&[Free]) || all(&[Closed]) || all(&[Cached]) || all(&[Victim, Erased, Retired]) || all(&[Taken, Open]))
                || (listed == 1) != all(&[Taken, Open])
            {
                return Err(format!(
                    "the blocks of the superblock of block {first} are {states:?}, and it is listed as open {listed} times"
                ));
            }
            let full = self.members(first).filter(|&(_, block)| self.programmed(block) == pages).count() as u32;
            if all(&[Taken, Open]) && full != superblocks.full[superblocks.number(first)] {
                return Err(format!("the superblock of block {first} has {full} full blocks and counts others"));
            }
            let valid: u32 = self.members(first).map(|(_, block)| self.valid(block)).sum();
            if (all(&[Closed]) || all(&[Cached])) && valid != superblocks.valid(first) {
                return Err(format!("the superblock of block {first} has {valid} valid units and counts {}", superblocks.valid(first)));
            }
            if let Some((_, taken)) =
                self.members(first).find(|&(_, block)| self.state(block) == Taken && self.programmed(block) > self.skipped(block))
            {
                return Err(format!("block {taken} has pages programmed and has not been begun"));
            }
        }
        self.check_spare(group)
    }

    /// Each superblock that is gone has left a block in each pool of its group, which is spare, was retired, or has taken the place of one that
    /// was.
    fn check_spare(&self, group: usize) -> Result<(), String> {
        let superblocks = self.superblocks();
        let (each, members) = (superblocks.blocks_each.get() as usize, superblocks.members.get());
        let numbers = group * each..(group + 1) * each;
        let gone = numbers.clone().filter(|&number| superblocks.lead(number) == GONE).count();
        for pool in (group as u32 * members..(group as u32 + 1) * members).map(PoolId) {
            let in_place = numbers.clone().map(|number| superblocks.in_pool(number, pool)).filter(|&block| block != GONE);
            let failing = in_place.filter(|&block| self.state(block) == BlockState::Retired).count();
            let spare = &superblocks.spare[pool.index()];
            if spare.len() + self.retired(pool) as usize - failing != gone
                || spare.iter().any(|&block| self.state(block) != BlockState::Spare)
            {
                return Err(format!("pool {pool} has {} spare blocks, and {gone} superblocks of its group are gone", spare.len()));
            }
        }
        Ok(())
    }
}
