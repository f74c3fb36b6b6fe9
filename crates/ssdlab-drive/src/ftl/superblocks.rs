//! Superblocks of several pools (`ftl.reclaim_unit = "superblock"`): the turns of pools in each stream, and superblocks that close early. The
//! blocks' states are kept by [`super::blocks`].
//!
//! A stream fills its superblocks pool after pool: the next program goes to the pool that has the fewest programs of the stream. A host
//! write is dealt to a chip when it is admitted ([`crate::sched::Placement`]), a page move to a pool once its data are in the controller's
//! buffer ([`Ftl::deal_move`]).

use super::{Allocated, Class, Freed, Ftl, RESERVE};
use serde::{Deserialize, Serialize};
use ssdlab_base::units::{BlockId, PoolId, Ppn};
use ssdlab_keys::config::{Config, Stream};
use ssdlab_keys::geometry::Geometry;

/// What was counted of superblocks, and the room that they need.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SuperblockCounts {
    /// Superblocks taken to be filled; 0 without superblocks of several pools.
    pub opened: u64,
    /// Superblocks (without superblocks: blocks) whose collection began.
    pub(super) collected: u64,
    /// Units left without data in superblocks that closed early.
    pub skipped: u64,
    /// Blocks of each pool that its data may not fill: those up to the threshold of free blocks, the open ones, and one.
    pub(super) kept: u32,
}

impl SuperblockCounts {
    pub(super) fn new(config: &Config, geometry: &Geometry) -> Self {
        let blocks = geometry.pools.blocks_each;
        let threshold = (config.gc.forced_blocks(blocks) + config.uncounted_blocks()).max(RESERVE + 1) + config.gc.until;
        SuperblockCounts { kept: threshold + config.open_blocks(), ..SuperblockCounts::default() }
    }

    pub(super) fn begin_counting(&mut self) {
        (self.opened, self.collected, self.skipped) = (0, 0, 0);
    }
}

/// How far each stream has filled each pool; empty without superblocks of several pools.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Turns {
    /// The pools of a group, counted from its first, in the order in which a superblock is filled: a plane of one chip of each channel, of
    /// the next chip of each, and so on; then the next plane.
    order: Vec<u32>,
    streams: usize,
    /// By pool and stream: programs begun, those skipped included.
    begun: Vec<u64>,
    /// By pool and stream: programs of page moves that were dealt to the pool and have not begun.
    dealt: Vec<u32>,
}

impl Turns {
    pub(super) fn new(geometry: &Geometry, streams: u8) -> Self {
        if !geometry.spans_pools() {
            return Turns::default();
        }
        let place = |pool: u32| {
            let (die, plane) = geometry.pools.per_die.split(pool);
            let (channel, in_channel) = geometry.dies_per_channel.split(die);
            (plane, in_channel, channel)
        };
        let mut order: Vec<u32> = (0..geometry.pools.per_group.get()).collect();
        order.sort_by_key(|&pool| place(pool));
        let entries = geometry.pools.count.get() as usize * usize::from(streams);
        Turns { order, streams: streams.into(), begun: vec![0; entries], dealt: vec![0; entries] }
    }

    #[inline(always)]
    fn at(&self, pool: PoolId, stream: Stream) -> usize {
        pool.index() * self.streams + usize::from(stream)
    }

    /// The pool whose turn it is in a stream, of the group that begins with `lead`.
    fn next(&self, lead: PoolId, stream: Stream) -> PoolId {
        let pools = self.order.iter().map(|&pool| PoolId(lead.0 + pool));
        pools.min_by_key(|&pool| self.level(pool, stream)).expect("a group has a pool")
    }

    /// Programs of a stream that a pool has begun, or that were dealt to it.
    fn level(&self, pool: PoolId, stream: Stream) -> u64 {
        self.begun[self.at(pool, stream)] + u64::from(self.dealt[self.at(pool, stream)])
    }
}

/// Where a program of page moves goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dealt {
    /// The pool.
    pub pool: PoolId,
    /// The class, among the streams of page moves.
    pub class: Class,
    /// The program needed a free superblock, which the group has taken.
    pub took: bool,
}

impl Ftl {
    /// What was counted of superblocks since [`Ftl::begin_counting`].
    pub fn superblock_counts(&self) -> &SuperblockCounts {
        &self.superblocks
    }

    /// Superblocks of several pools whose collection began since [`Ftl::begin_counting`].
    pub fn superblocks_collected(&self) -> u64 {
        if self.geometry.spans_pools() { self.superblocks.collected } else { 0 }
    }

    /// What a saved state has of superblocks of several pools, in arrays of fixed lengths; empty without them.
    pub(super) fn superblock_arrays(&self) -> Vec<Vec<u32>> {
        self.blocks.superblock_parts()
    }

    /// Takes back the arrays of [`Ftl::superblock_arrays`].
    pub(super) fn restore_superblocks(&mut self, arrays: &[Vec<u32>]) -> Result<(), String> {
        self.blocks.restore_superblocks(arrays, self.streams.count)?;
        for lead in (0..self.geometry.pools.count.get()).map(PoolId).filter(|&pool| self.geometry.lead_pool(pool) == pool) {
            for (first, stream) in self.blocks.open_superblocks(lead).to_vec() {
                for (pool, block) in self.blocks.members(first) {
                    let (at, units) = (self.turns.at(pool, stream), self.blocks.programmed(block));
                    self.turns.begun[at] += u64::from(units.div_ceil(self.geometry.units_per_program));
                }
            }
        }
        Ok(())
    }

    /// Pages that a stream has left in the pool's blocks of its open superblocks.
    pub(super) fn room_open(&self, pool: PoolId, stream: Stream) -> u32 {
        let pages = self.geometry.units_per_block.get();
        let open = pages - self.pools[pool.index()].open[usize::from(stream)].next_page;
        if self.kept_from_host == u32::MAX {
            return open;
        }
        let taken = self.blocks.taken_members(pool).filter(|&(_, of)| of == stream);
        open + taken.map(|(block, _)| pages - self.blocks.programmed(block)).sum::<u32>()
    }

    /// As [`Ftl::room_open`], beside those of the programs of page moves that were dealt to the pool.
    pub(super) fn room_left(&self, pool: PoolId, stream: Stream) -> u32 {
        let dealt = self.turns.dealt[self.turns.at(pool, stream)] * self.geometry.units_per_program;
        self.room_open(pool, stream).saturating_sub(dealt)
    }

    /// Host writes and page moves fill the same blocks of the pool now.
    pub fn is_shared(&self, pool: PoolId) -> bool {
        self.shares(pool, 0)
    }

    /// Host writes and page moves of the group share superblocks, the group is below its reserve, and what is left of the open ones is needed by the job
    /// that is to free one.
    pub(super) fn room_is_the_jobs(&self, pool: PoolId) -> bool {
        let lead = self.geometry.lead_pool(pool);
        self.group_room_of_moves(pool) <= self.pools[lead.index()].owed
    }

    /// The pool's next program of a class of host writes begins alone: it takes a superblock, or the group may have no page for another.
    pub fn writes_alone(&self, pool: PoolId, class: Class) -> bool {
        let no_other = || self.shares(pool, class) && self.is_below_reserve(pool);
        self.geometry.spans_pools() && (self.takes_free(pool, class) || no_other())
    }

    /// Programs that a pool has begun, or that were dealt to it, of the stream that a class of host writes fills in the first pool of the group: in
    /// a cache of blocks in SLC mode some pools may have begun to write past it.
    pub fn host_level(&self, pool: PoolId, class: Class) -> u64 {
        let lead = self.geometry.lead_pool(pool);
        self.turns.level(pool, self.pools[lead.index()].host_stream(class))
    }

    /// The pool of the group of `lead` whose turn it is in a class of host writes.
    pub fn host_turn(&self, lead: PoolId, class: Class) -> PoolId {
        self.turns.next(lead, self.pools[lead.index()].host_stream(class))
    }

    /// The pools of the group of `lead` can hold one more valid page and leave the room that GC needs.
    pub fn group_has_room(&self, lead: PoolId) -> bool {
        let pools = self.geometry.pools_of_group(lead);
        let room = u64::from(self.room_of_pool() - self.lost_pages(lead)) * u64::from(self.geometry.pools.per_group.get());
        pools.map(|pool| u64::from(self.blocks.valid_in_pool(PoolId(pool)))).sum::<u64>() < room
    }

    /// Counts a program of a stream that begins in a pool.
    #[inline]
    pub(super) fn program_begins(&mut self, pool: PoolId, stream: Stream, programs: u32) {
        let at = self.turns.at(pool, stream);
        self.turns.begun[at] += u64::from(programs);
    }

    /// The group of `lead` takes a free superblock for a stream.
    pub(super) fn open_superblock(&mut self, lead: PoolId, stream: Stream) -> BlockId {
        let first = self.blocks.take_superblock(lead, stream, self.mode_to_open(lead, stream));
        self.placer.block_opened(&mut self.blocks.columns, first, stream);
        self.superblocks.opened += 1;
        self.steer_group(lead);
        first
    }

    /// Opens the pool's block of the oldest superblock that a stream has open and in which the pool has not begun its block; if there is
    /// none, of a free superblock, which the group takes. Returns the block, and true if a superblock was taken.
    pub(super) fn open_member(&mut self, pool: PoolId, stream: Stream) -> (BlockId, bool) {
        if let Some(block) = self.blocks.next_member(pool, stream) {
            self.blocks.begin_member(block);
            return (block, false);
        }
        let first = self.open_superblock(self.geometry.lead_pool(pool), stream);
        let block = self.blocks.member(first, pool);
        self.blocks.begin_member(block);
        (block, true)
    }

    /// Deals a program of page moves of a job of the group of `lead` to the pool whose turn it is in the stream of the class. If that pool has
    /// no page left in the open superblocks of the stream, the group takes a free one, or without one the data go to another stream.
    pub fn deal_move(&mut self, lead: PoolId, wanted: Class) -> Dealt {
        let mut dealt = Dealt { pool: self.move_turn(lead, wanted), class: wanted, took: false };
        if !self.has_program_left(dealt) {
            if self.blocks.free_count(lead) > 0 {
                self.open_superblock(lead, self.streams.moves + wanted);
                dealt.took = true;
            } else {
                dealt = self.any_room(lead).expect("a job has room for its pages");
            }
        }
        let at = self.turns.at(dealt.pool, self.streams.moves + dealt.class);
        self.turns.dealt[at] += 1;
        let owed = &mut self.pools[lead.index()].owed;
        *owed = owed.saturating_sub(self.geometry.units_per_program);
        dealt
    }

    /// Where a program of page moves can go without a free superblock: to the pool whose turn it is in some class, or else to any.
    fn any_room(&self, lead: PoolId) -> Option<Dealt> {
        let classes = || 0..self.streams.move_classes;
        let in_turn = classes().map(|class| (self.move_turn(lead, class), class));
        let any = classes().flat_map(|class| self.geometry.pools_of_group(lead).map(move |pool| (PoolId(pool), class)));
        let places = in_turn.chain(any).map(|(pool, class)| Dealt { pool, class, took: false });
        places.into_iter().find(|&place| self.has_program_left(place))
    }

    fn move_turn(&self, lead: PoolId, class: Class) -> PoolId {
        self.turns.next(lead, self.streams.moves + class)
    }

    /// The pool has room for one more program of the class, in the open superblocks of its stream, beside those that were dealt to it.
    fn has_program_left(&self, Dealt { pool, class, .. }: Dealt) -> bool {
        self.room_left(pool, self.streams.moves + class) > 0
    }

    /// Allocates the page of a program of page moves that was dealt to the pool.
    pub fn allocate_dealt(&mut self, pool: PoolId, class: Class) -> Allocated {
        self.take_back(pool, class);
        let (began_block, took_block) = self.open_for_move(pool, class);
        let stream = self.streams.moves + class;
        self.program_begins(pool, stream, 1);
        let ppn = self.pools[pool.index()].moves_mut(class).next(&self.geometry);
        Allocated { ppn, class, began_block, took_block, redirected: false }
    }

    /// A program of page moves that was dealt to the pool is not needed: its turn is free again.
    pub fn take_back(&mut self, pool: PoolId, class: Class) {
        let at = self.turns.at(pool, self.streams.moves + class);
        self.turns.dealt[at] -= 1;
    }

    /// No program is under way in an open superblock.
    fn is_at_rest(&self, first: BlockId) -> bool {
        self.blocks.members(first).all(|(pool, block)| self.next_page_of(pool, block) == self.blocks.programmed(block))
    }

    /// The page from which on the pool goes on to fill this block of an open superblock; the number of its pages if it does not.
    fn next_page_of(&self, pool: PoolId, block: BlockId) -> u32 {
        if self.blocks.state(block) == super::BlockState::Taken {
            return self.blocks.programmed(block);
        }
        let pages = self.geometry.units_per_block.get();
        let filled = self.pools[pool.index()].open.iter().find(|frontier| frontier.block == block && frontier.next_page < pages);
        filled.map_or(pages, |frontier| frontier.next_page)
    }

    /// Pages of an open superblock that no program has taken.
    fn left_in(&self, first: BlockId) -> u32 {
        let pages = self.geometry.units_per_block.get();
        self.blocks.members(first).map(|(pool, block)| pages - self.next_page_of(pool, block)).sum()
    }

    /// Closes an open superblock of a stream, in which no program is under way, without the pages that it lacks.
    fn close_early(&mut self, first: BlockId, stream: Stream) {
        let pages = self.geometry.units_per_block.get();
        for (pool, block) in self.blocks.members(first) {
            let from = self.next_page_of(pool, block);
            if from == pages {
                continue;
            }
            let open = &mut self.pools[pool.index()].open;
            open.iter_mut().filter(|frontier| frontier.block == block).for_each(|frontier| frontier.next_page = pages);
            self.blocks.skip_rest(pool, block, from);
            self.program_begins(pool, stream, (pages - from) / self.geometry.units_per_program);
            self.superblocks.skipped += u64::from(pages - from);
        }
    }

    /// Closes all open superblocks that a stream fills in the group of `lead`, without the pages that they lack. No program may be under way in
    /// them. Returns the number of these units.
    pub(super) fn close_superblocks(&mut self, lead: PoolId, stream: Stream) -> u32 {
        let open: Vec<BlockId> = self.blocks.open_superblocks(lead).iter().filter(|open| open.1 == stream).map(|open| open.0).collect();
        let skipped = open.iter().map(|&first| self.left_in(first)).sum();
        open.into_iter().for_each(|first| self.close_early(first, stream));
        skipped
    }

    /// The group of the pool has nothing to collect, and no free superblock but the reserve: closes the open superblock that lacks the
    /// fewest pages, of those in which a pool has filled its block. Returns true if a superblock has closed.
    pub fn close_for_want(&mut self, pool: PoolId) -> bool {
        if !self.geometry.spans_pools() || self.blocks.free_count(pool) > RESERVE {
            return false;
        }
        let pages = self.geometry.units_per_block.get();
        let has_full = |first| self.blocks.members(first).any(|(pool, block)| self.next_page_of(pool, block) == pages);
        let open = self.blocks.open_superblocks(pool).iter();
        let unfilled = open.filter(|&&(first, _)| self.left_in(first) > 0 && has_full(first) && self.is_at_rest(first));
        let Some(&(first, stream)) = unfilled.min_by_key(|&&(first, _)| self.left_in(first)) else { return false };
        self.close_early(first, stream);
        true
    }

    /// Plants a defect: an erased block comes free before the others of its superblock.
    pub fn free_apart(&mut self, pool: PoolId, block: BlockId) {
        self.blocks.free_member(pool, block);
    }

    /// Plants a defect: the superblock of a page counts one valid unit too many, if it is closed.
    pub fn forget_invalid(&mut self, ppn: Ppn) {
        if self.geometry.spans_pools() {
            self.blocks.count_too_many(self.geometry.split_page(ppn).0);
        }
    }

    /// A block of a superblock has been erased, perhaps for the last time. If it was the last, all come free: returns what became of them.
    pub(super) fn superblock_freed(&mut self, block: BlockId) -> Option<Freed> {
        self.blocks.all_erased(block).then(|| self.blocks.free_members(block))
    }

    /// Pages that the page moves of the group of a pool have left in its open superblocks, beside the programs that were dealt.
    pub(super) fn group_room_of_moves(&self, pool: PoolId) -> u32 {
        let streams = (0..self.streams.move_classes).map(|class| self.streams.moves + class);
        streams.flat_map(|stream| self.geometry.pools_of_group(pool).map(move |pool| self.room_left(PoolId(pool), stream))).sum()
    }

    /// A block of a superblock has been erased, perhaps for the last time. If it was the last, the job ends: returns what became of the
    /// superblock.
    pub(super) fn member_erased(&mut self, block: BlockId) -> Option<Freed> {
        let freed = self.superblock_freed(block)?;
        let pool = self.geometry.pool_of_block(block);
        for part in self.geometry.pools_of_group(pool) {
            self.pools[part as usize].end_job(self.streams);
        }
        self.steer_group(pool);
        Some(freed)
    }

    /// Programs that were to fill the rest of a pool's block, of `pages` pages, go elsewhere: their turns have passed.
    pub(super) fn rest_left_out(&mut self, pool: PoolId, stream: Stream, pages: u32) {
        if self.geometry.spans_pools() {
            self.program_begins(pool, stream, pages / self.geometry.units_per_program);
        }
    }

    /// The group of a pool has room for `units` units that its job has still to place, and `kept` free superblocks beside that.
    pub fn group_can_collect(&self, lead: PoolId, units: u32, kept: u32) -> bool {
        let Some(free) = self.blocks.free_count(lead).checked_sub(kept + self.left_by_job(lead)) else { return false };
        let each = self.geometry.units_per_program;
        // Each class may leave a program in part.
        let needed = u64::from(units.next_multiple_of(each) + (u32::from(self.streams.move_classes) - 1) * each);
        let open = |(pool, class): (u32, Class)| u64::from(self.room_open(PoolId(pool), self.streams.moves + class));
        let classes = 0..self.streams.move_classes;
        let open: u64 = self.geometry.pools_of_group(lead).flat_map(|pool| classes.clone().map(move |class| (pool, class))).map(open).sum();
        open + u64::from(free) * u64::from(self.geometry.units_per_reclaim()) >= needed
    }
}
