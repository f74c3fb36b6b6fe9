//! The flash translation layer (FTL): where a page is, which block takes the next one, how worn blocks are, which pool is short of free
//! blocks. Time and load do not matter here.

mod blocks;
mod carried;
mod check;
mod kept;
mod mapping;
mod moves;
mod placement;
mod pool;
mod slc;
mod state;
mod superblocks;
mod wear;
mod zones;

pub use blocks::{BlockState, Columns, Freed, Row};
pub use kept::{Key, keep, take_kept};
pub use placement::{Class, CustomPlacement, Failure, Foretold, Happened, PlacementPolicy, Placer, Placing, Sizes, Source};

use blocks::Blocks;
use mapping::Mapping;
pub use placement::PLACEMENT_BURSTS;
pub use pool::POOL_BURSTS;
use pool::{Frontier, Pool};
use superblocks::Turns;
pub use superblocks::{Dealt, SuperblockCounts};

use crate::rules::BurstRule;
use serde::{Deserialize, Serialize};
use ssdlab_base::units::{BlockId, Lpn, PlaneId, PoolId, Ppn};
use ssdlab_keys::config::capacity::RESERVE;
use ssdlab_keys::config::{Config, Placement, Stream, Streams, Trigger};
use ssdlab_keys::geometry::{BlockFacts, Geometry, PageFacts, Pools};

/// Bursts: the program that completes a parity stripe takes longer.
pub const PARITY_BURSTS: BurstRule =
    BurstRule { keys: &["ftl.parity_stripe", "ftl.parity_in_spare"], exact: |config| config.ftl.parity_stripe == 0 };

/// Bursts remain exact: a page stays in the pools of its namespace, wherever these are.
pub const NAMESPACE_BURSTS: BurstRule = BurstRule { keys: &["ftl.namespaces", "ftl.namespace_layout"], exact: |_| true };

/// A page allocated for a host write or a page move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocated {
    /// The page to program.
    pub ppn: Ppn,
    /// The class of its block among the streams of the writer.
    pub class: Class,
    /// The page is the first of a block.
    pub began_block: bool,
    /// The write frontier took a free block, or a superblock, for the page: GC triggers are evaluated then.
    pub took_block: bool,
    /// The page of a host write lies in another block than the shared frontier, which the active job has to itself (ae2022 section 4.2).
    pub redirected: bool,
}

/// The translation layer of one drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ftl {
    geometry: Geometry,
    map: Mapping,
    blocks: Blocks,
    pools: Vec<Pool>,
    /// By pool: the victim that waits for the next job.
    waiting: Vec<Option<carried::Waiting>>,
    /// Which streams each writer fills.
    streams: Streams,
    /// There is a placement policy.
    places: bool,
    /// Writes have classes: of a placement policy, or that of translation pages.
    has_classes: bool,
    /// The cache of blocks in SLC mode; `None` without one.
    slc: Option<slc::SlcCache>,
    /// Which of the streams of its writer a page goes to.
    placer: Placer,
    /// Page moves that went to another stream than the placement policy wanted.
    displaced: u64,
    /// Superblocks of several pools that were taken, collected and closed early.
    superblocks: SuperblockCounts,
    /// How far each stream has filled each pool, with superblocks of several pools.
    turns: Turns,
    /// Number of free blocks of a pool that only GC may take ([`Config::reserve`]).
    reserve: u32,
    /// Free blocks of a pool that the host may not take: the reserve; once the drive is read-only none while accepted data are written, then all.
    kept_from_host: u32,
    /// By pool: free blocks that data take which a level above the drive has accepted ([`Ftl::promise`]). Only where [`Ftl::heeds_promises`].
    promised: Vec<u32>,
    /// By pool: pages of its blocks that have failed.
    lost: Vec<u32>,
    /// Soft threshold T_soft in blocks, those included that no threshold counts ([`Config::uncounted_blocks`]).
    soft: u32,
    /// Free blocks below which a pool wants GC, whatever its blocks hold; those included that no threshold counts.
    forced: u32,
    /// A pool with fewer free blocks wants collection.
    wanted_free: u32,
    /// A pool wants collection, too, while a closed block of it has this many invalid pages. If this is more than a block has: never.
    wanted_invalid: u32,
    /// A block with that many invalid pages counts only in pools with fewer free blocks.
    invalid_below: u32,
    /// By chunk of `MAPPED_PAGES` logical pages: how many hold data, so that a trim can skip chunks without data.
    mapped: Vec<u16>,
    /// By chunk of `MAPPED_PAGES` logical pages: how many are pinned, having operations under way.
    pinned: Vec<u32>,
}

/// Logical pages of a chunk, for which `Ftl::mapped` and `Ftl::pinned` have a counter each.
const MAPPED_PAGES: u32 = 4096;

impl Ftl {
    /// An erased drive.
    pub fn new(config: &Config) -> Self {
        let geometry = Geometry::new(config);
        let pages = geometry.units_per_block.get();
        let streams = Streams::new(config);
        let soft = config.gc.soft_blocks(geometry.pools.blocks_each) + config.uncounted_blocks();
        let mut ftl = Ftl {
            map: Mapping::new(&geometry),
            blocks: Blocks::new(&geometry),
            pools: vec![Pool::new(pages, streams); geometry.pools.count.get() as usize],
            waiting: vec![None; geometry.pools.count.get() as usize],
            streams,
            places: config.ftl.placement != Placement::None,
            has_classes: config.ftl.placement != Placement::None || streams.map.is_some(),
            slc: slc::SlcCache::new(config, &geometry),
            placer: Placer::new(config, geometry.logical_units, geometry.blocks, geometry.units_per_reclaim()),
            displaced: 0,
            superblocks: SuperblockCounts::new(config, &geometry),
            turns: Turns::new(&geometry, streams.count),
            reserve: config.reserve(),
            kept_from_host: config.reserve(),
            promised: vec![0; geometry.pools.count.get() as usize],
            lost: vec![0; geometry.pools.count.get() as usize],
            soft,
            forced: config.gc.forced_blocks(geometry.pools.blocks_each) + config.uncounted_blocks(),
            wanted_free: RESERVE + 1,
            invalid_below: if config.gc.trigger == Trigger::Both { soft } else { u32::MAX },
            wanted_invalid: config.gc.invalid_pages_wanted(geometry.units_per_reclaim()).max(geometry.units_per_program),
            mapped: vec![0; geometry.logical_units.div_ceil(MAPPED_PAGES) as usize],
            pinned: vec![0; geometry.logical_units.div_ceil(MAPPED_PAGES) as usize],
            geometry,
        };
        ftl.want_configured();
        ftl
    }

    /// Sets the free blocks that pools want back to the configured threshold, which idle time may have raised.
    pub fn want_configured(&mut self) {
        self.want_free(self.forced);
    }

    /// The geometry of the drive.
    #[inline(always)]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Read access to the blocks.
    #[inline(always)]
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// The columns of the blocks, to set those of other modules.
    pub fn columns_mut(&mut self) -> &mut Columns {
        &mut self.blocks.columns
    }

    /// The oldest and the youngest operation under way on a logical page, by transaction number; `None` if there is none.
    #[inline(always)]
    pub fn chain(&self, lpn: Lpn) -> Option<(u32, u32)> {
        self.map.pinned(lpn)
    }

    /// Sets the oldest and the youngest operation under way on a logical page, from `before` to `after`; `None`: there is none.
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

    /// The host writes a page: which of its streams the page goes to. `handle`: that of the request; `None`: it names none.
    #[inline(always)]
    pub fn host_class(&mut self, lpn: Lpn, handle: Option<u8>) -> Class {
        if !self.has_classes {
            return 0;
        }
        if self.streams.map.is_some() && lpn.0 >= self.geometry.exported_units {
            return self.streams.host_classes;
        }
        let is_new = self.lookup(lpn).is_none();
        self.placer.host_class(lpn, handle, is_new)
    }

    /// Plants a defect: the class of host writes behind another one.
    pub fn next_class(&self, class: Class) -> Class {
        (class + 1) % self.streams.host_classes
    }

    /// The placement policy counts the calls of [`Ftl::host_class`], so that [`Ftl::host_class_now`] cannot tell its answer.
    pub fn counts_calls(&self) -> bool {
        self.placer.counts_calls()
    }

    /// Number of classes among which the units of one write of the host may be parted.
    pub fn classes_of_write(&self) -> u8 {
        if self.placer.parts_blocks() { self.streams.host_classes } else { 1 }
    }

    /// Number of classes of writes: those of the host, and translation pages if they have a stream of their own.
    pub fn write_classes(&self) -> u8 {
        self.streams.write_classes()
    }

    /// Number of classes among which the units of one victim may be parted when they are moved.
    pub fn classes_of_victim(&self) -> u8 {
        if self.placer.parts_blocks() { self.streams.move_classes } else { 1 }
    }

    /// Number of classes of page moves.
    pub fn classes_of_moves(&self) -> u8 {
        self.streams.move_classes
    }

    /// The class that [`Ftl::host_class`] would give now.
    pub fn host_class_now(&self, lpn: Lpn, handle: Option<u8>) -> Class {
        if !self.has_classes {
            return 0;
        }
        if self.streams.map.is_some() && lpn.0 >= self.geometry.exported_units {
            return self.streams.host_classes;
        }
        self.placer.host_class_now(lpn, handle, self.lookup(lpn).is_none())
    }

    /// The physical page of a logical page, or `None` if it holds no data.
    #[inline(always)]
    pub fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        self.map.lookup(&self.geometry, lpn)
    }

    /// What the array time of the flash page that holds `ppn` depends on.
    #[inline(always)]
    pub fn page_facts(&self, ppn: Ppn) -> PageFacts {
        PageFacts { offset: self.geometry.flash_page(ppn), mode: self.mode_of(ppn) }
    }

    /// What the age of a block and its wear depend on.
    #[inline(always)]
    pub fn block_facts(&self, block: BlockId) -> BlockFacts {
        self.blocks.facts(block, self.mode_of_block(block))
    }

    /// What the program of the parity page depends on, if the program that begins at `first` completes a parity stripe.
    #[inline(always)]
    pub fn parity_facts(&self, first: Ppn) -> Option<PageFacts> {
        self.geometry.parity_with(first).map(|offset| PageFacts { offset, mode: self.mode_of(first) })
    }

    /// A page holds the newest data of its logical page.
    #[inline(always)]
    pub fn is_valid(&self, ppn: Ppn) -> bool {
        let (block, page) = self.geometry.split_page(ppn);
        self.blocks.is_valid(block, page)
    }

    /// The mapping units that hold data in the flash page of `ppn`, each with its physical and its logical page.
    pub fn units_with(&self, ppn: Ppn) -> impl Iterator<Item = (Ppn, Lpn)> + '_ {
        let first = self.geometry.first_in_flash_page(ppn);
        let (block, page) = self.geometry.split_page(first);
        let mut valid = self.blocks.valid_among(block, page, self.geometry.units_per_flash_page);
        std::iter::from_fn(move || {
            let ppn = Ppn(first.0 + valid.trailing_zeros());
            (valid != 0).then(|| {
                valid &= valid - 1;
                (ppn, self.map.content(&self.geometry, ppn))
            })
        })
    }

    /// Prefetches the map entry of a logical page, to be used at the earliest a few hundred nanoseconds (of real time) later.
    #[inline(always)]
    pub fn prefetch(&self, lpn: Lpn) {
        self.map.prefetch(lpn);
    }

    /// Prefetches the record and the links of the block in which a logical page lies, ahead of the write or trim that invalidates it there.
    /// Reads the map entry: call [`Ftl::prefetch`] well before.
    #[inline(always)]
    pub fn prefetch_old(&self, lpn: Lpn) {
        if let Some(ppn) = self.lookup(lpn) {
            let (block, page) = self.geometry.split_page(ppn);
            self.blocks.prefetch(block, page);
        }
    }

    /// Announces reads or writes of `pages` pages all over the drive. If these touch most of the map, it gets large memory pages; else
    /// nothing changes, so that a short run on a large drive takes little memory.
    pub fn expect_accesses(&mut self, pages: u64) {
        self.map.expect_accesses(pages);
    }

    /// The placement policy, to be given what it needs from outside.
    pub fn placer_mut(&mut self) -> &mut Placer {
        &mut self.placer
    }

    /// What the placement policy has placed in each stream since [`Ftl::begin_counting`]; no stream without a policy.
    pub fn placed(&self) -> &ssdlab_result::stats::Streams {
        self.placer.placed()
    }

    /// Counts what is placed from now on: preparation is over.
    pub fn begin_counting(&mut self) {
        self.displaced = 0;
        self.superblocks.begin_counting();
        self.placer.begin_counting();
    }

    /// Starts to record the fewest free blocks of any pool ([`Blocks::free_min`]), and to use a cache of blocks in SLC mode.
    pub fn begin_run(&mut self) {
        self.blocks.begin_run();
        self.open_cache();
    }

    /// Number of free blocks of a pool that only GC may take.
    pub fn reserve(&self) -> u32 {
        self.reserve
    }

    /// The soft threshold T_soft in blocks, those included that no threshold counts ([`Config::uncounted_blocks`]).
    pub fn soft_blocks(&self) -> u32 {
        self.soft
    }

    /// The pool wants GC: it has fewer free blocks than the threshold (T_soft, or as set by [`Ftl::want_free`]) or no more than the
    /// reserve, or a block with a larger invalid share than the trigger allows.
    #[inline(always)]
    pub fn wants_collection(&self, pool: PoolId) -> bool {
        self.blocks.free_count(pool) < self.wanted_free || self.has_invalid_block(pool)
    }

    /// The pool has fewer free blocks than the threshold of [`Ftl::want_free`] plus `more`.
    #[inline(always)]
    pub fn is_below(&self, pool: PoolId, more: u32) -> bool {
        self.blocks.free_count(pool) < self.wanted_free.saturating_add(more)
    }

    /// The pool wants GC, or will want it once it has taken another free block.
    pub fn wants_collection_after_one_block(&self, pool: PoolId) -> bool {
        self.blocks.free_count(pool) <= self.wanted_free || self.has_invalid_block(pool)
    }

    #[inline(always)]
    fn has_invalid_block(&self, pool: PoolId) -> bool {
        let pages = self.geometry.units_per_reclaim();
        self.wanted_invalid <= pages
            && self.blocks.free_count(pool) < self.invalid_below
            && self.blocks.fewest_valid(pool).is_some_and(|block| pages - self.blocks.valid_together(block) >= self.wanted_invalid)
    }

    /// The pool has fewer free blocks than the soft threshold, or is down to the reserve.
    pub fn is_short(&self, pool: PoolId) -> bool {
        self.blocks.free_count(pool) < self.soft.max(self.reserve + 1)
    }

    /// From now on pools with fewer than `blocks` free blocks want collection; those that are down to the reserve always do.
    pub fn want_free(&mut self, blocks: u32) {
        self.wanted_free = blocks.max(self.reserve + 1);
        self.steer_all();
    }

    /// A host write of this class to the pool can be given a page without touching what collection needs.
    #[inline(always)]
    pub fn can_write(&self, pool: PoolId, class: Class) -> bool {
        let state = &self.pools[pool.index()];
        let mut room = self.geometry.units_per_block.get() - state.host(class).next_page;
        if self.geometry.spans_pools() {
            room = self.room_left(pool, state.host_stream(class));
        }
        let free = self.blocks.free_count(pool);
        if room == 0 {
            return if self.slc.is_some() { self.can_open_host(pool, class) } else { free > self.kept_from_host };
        }
        if !self.is_below_reserve(pool) || !self.shares(pool, class) {
            return true;
        }
        if self.geometry.spans_pools() { !self.room_is_the_jobs(pool) } else { self.room_of_moves(pool) > state.owed }
    }

    /// The pool has fewer free blocks than are kept from the host, as after its job has taken one: of a block that both fill, the job needs what it
    /// has still to place, lest it take another. Never once GC has stopped.
    #[inline(always)]
    pub(super) fn is_below_reserve(&self, pool: PoolId) -> bool {
        let (free, kept) = (self.blocks.free_count(pool), self.kept_from_host.saturating_add(self.promised[pool.index()]));
        free <= kept && self.kept_from_host > 0 && free < kept.saturating_add(self.left_by_job(pool))
    }

    /// Host writes of this class and page moves fill the same blocks of the pool now.
    #[inline(always)]
    pub(super) fn shares(&self, pool: PoolId, class: Class) -> bool {
        self.streams.of_moves().contains(&self.pools[pool.index()].host_stream(class))
    }

    /// The pool's host frontier for this class is full.
    #[inline]
    fn frontier_full(&self, pool: PoolId, class: Class) -> bool {
        self.pools[pool.index()].host(class).next_page == self.geometry.units_per_block.get()
    }

    /// The pool's next host write of this class takes a free block.
    #[inline]
    pub fn takes_free(&self, pool: PoolId, class: Class) -> bool {
        if self.geometry.spans_pools() {
            return self.room_left(pool, self.pools[pool.index()].host_stream(class)) == 0;
        }
        self.frontier_full(pool, class)
    }

    /// The page offset that the pool's next host write of this class will have (that of the first page if it opens a block).
    #[inline]
    pub fn next_offset(&self, pool: PoolId, class: Class) -> u32 {
        let next = self.pools[pool.index()].host(class).next_page;
        let first = || self.geometry.skipped[self.mode_of_next(pool, class) as usize];
        if next == self.geometry.units_per_block.get() { first() } else { next }
    }

    /// The block that the pool's next host write of this class goes to.
    pub fn next_write_block(&self, pool: PoolId, class: Class) -> BlockId {
        let state = &self.pools[pool.index()];
        if !self.frontier_full(pool, class) {
            return state.host(class).block;
        }
        let taken = self.blocks.next_member(pool, state.host_stream(class));
        taken.or_else(|| self.next_opened(pool, class)).unwrap_or(state.host(class).block)
    }

    /// The plane of the block that the pool's next host write of this class goes to.
    pub fn next_write_plane(&self, pool: PoolId, class: Class) -> PlaneId {
        self.geometry.plane_of_block(self.next_write_block(pool, class))
    }

    /// Allocates the page for a host write (where programs have several pages, the first of a program). Only where [`Ftl::can_write`].
    #[inline(always)]
    pub fn allocate_host(&mut self, pool: PoolId, class: Class) -> Allocated {
        self.try_allocate_host(pool, class).expect("the pool can take a host write")
    }

    /// Allocates the page for a host write (where programs have several pages, the first of a program); `None` unless [`Ftl::can_write`].
    #[inline(always)]
    pub fn try_allocate_host(&mut self, pool: PoolId, class: Class) -> Option<Allocated> {
        if self.slc.is_some() { self.allocate_in_mode(pool, class) } else { self.try_allocate_outside_cache(pool, class) }
    }

    /// As [`Ftl::try_allocate_host`], while no run uses a cache of blocks in SLC mode.
    #[inline(always)]
    pub fn try_allocate_outside_cache(&mut self, pool: PoolId, class: Class) -> Option<Allocated> {
        if !self.can_write(pool, class) {
            return None;
        }
        let state = &mut self.pools[pool.index()];
        let redirected = state.is_redirected(self.streams);
        let stream = state.host_stream(class);
        let full = state.host(class).next_page == self.geometry.units_per_block.get();
        let mut took_block = false;
        if self.geometry.spans_pools() {
            // What is left of the open ones may have been dealt to page moves.
            took_block = self.room_left(pool, stream) == 0;
            if took_block {
                self.open_superblock(self.geometry.lead_pool(pool), stream);
            }
            self.program_begins(pool, stream, 1);
        }
        took_block |= full && self.open_block(pool, stream);
        let frontier = self.pools[pool.index()].host_mut(class);
        Some(Allocated { ppn: frontier.next(&self.geometry), class, began_block: full, took_block, redirected })
    }

    /// Opens the next block of the pool for a stream, whose last is full. Returns true if that took a free block, or a superblock.
    #[inline(always)]
    fn open_block(&mut self, pool: PoolId, stream: Stream) -> bool {
        let (frontier, took) = if self.geometry.spans_pools() {
            let (block, took) = self.open_member(pool, stream);
            (Frontier { block, next_page: self.blocks.programmed(block) }, took)
        } else {
            let (block, first) = self.blocks.open(pool, stream, self.mode_to_open(pool, stream));
            self.placer.block_opened(&mut self.blocks.columns, block, stream);
            (Frontier { block, next_page: first }, true)
        };
        self.pools[pool.index()].open[usize::from(stream)] = frontier;
        took
    }

    /// Number of pages of a pool that can be programmed: those of its free blocks, and what is left of its open blocks.
    pub fn room(&self, pool: PoolId) -> u64 {
        let pages = self.geometry.units_per_block.get();
        let open: u32 =
            self.pools[pool.index()].open[..usize::from(self.streams.count)].iter().map(|frontier| pages - frontier.next_page).sum();
        let taken: u32 = self.blocks.taken_members(pool).map(|(block, _)| pages - self.blocks.programmed(block)).sum();
        u64::from(self.blocks.free_count(pool)) * u64::from(pages) + u64::from(taken + open) + self.static_room(pool)
    }

    /// Pages (mapping units) left in the open block that a class of host writes fills in a pool.
    pub fn room_of_host(&self, pool: PoolId, class: Class) -> u32 {
        self.room_of_stream(pool, self.pools[pool.index()].host_stream(class))
    }

    /// Pages (mapping units) left in the open blocks that page moves fill in a pool, also in those that its superblocks have for them.
    pub fn room_of_moves(&self, pool: PoolId) -> u32 {
        (0..self.streams.move_classes).map(|class| self.room_of_stream(pool, self.streams.moves + class)).sum()
    }

    /// Host writes and page moves fill the same blocks.
    pub fn shares_frontiers(&self) -> bool {
        self.streams.moves == self.streams.host
    }

    /// Number of free blocks of a pool that the host may take; below 0, of the reserve that page moves have taken.
    pub fn free_above_reserve(&self, pool: PoolId) -> i64 {
        i64::from(self.blocks.free_count(pool)) - i64::from(self.reserve)
    }

    /// The pool can hold one more valid page and leave the room that GC needs. With static allocation this always holds; dynamic allocation
    /// checks it before it sends a page to a pool.
    #[inline]
    pub fn has_room(&self, pool: PoolId) -> bool {
        self.blocks.valid_in_pool(pool) + self.lost[pool.index()] < self.room_of_pool()
    }

    /// The most valid pages that a pool may hold: all blocks but the reserve and the frontiers, plus half a block, so that GC can always
    /// gain a page. Where programs have several pages, minus those that could be left over in each block and in the program under way.
    #[inline]
    pub fn room_of_pool(&self) -> u32 {
        let Pools { blocks_each, per_group, .. } = self.geometry.pools;
        let pages = self.geometry.units_per_block.get();
        let slc = self.geometry.slc;
        let open = u32::from(if slc.is_some_and(|slc| !slc.is_dynamic()) { self.streams.slc } else { self.streams.count });
        let kept = if self.geometry.spans_pools() { self.superblocks.kept } else { self.reserve + open };
        let blocks_each = blocks_each - slc.map_or(0, |slc| slc.static_each);
        let left_over = self.geometry.units_per_program - 1;
        let in_blocks = (left_over * blocks_each).div_ceil(per_group.get());
        ((blocks_each - kept) * pages + pages / 2).saturating_sub(in_blocks + left_over)
    }

    /// A host program in `pool` has ended: maps the logical page to `ppn`. Returns its physical page before, which is invalid now.
    #[inline(always)]
    pub fn commit_write(&mut self, pool: PoolId, lpn: Lpn, ppn: Ppn) -> Option<Ppn> {
        let old = self.map.set(&self.geometry, lpn, ppn);
        match old {
            Some(old) => self.invalidate(old),
            None => self.mapped[(lpn.0 / MAPPED_PAGES) as usize] += 1,
        }
        self.programmed(pool, lpn, ppn, true);
        if self.places {
            self.placer.written(lpn);
        }
        old
    }

    /// Pads the program that begins at `first` and has `units` units of data. Returns the number of units of padding.
    #[inline(always)]
    pub fn pad(&mut self, pool: PoolId, first: Ppn, units: u32) -> u32 {
        let padding = self.geometry.units_per_program - units;
        if padding > 0 {
            let (block, page) = self.geometry.split_page(first);
            (units..units + padding).for_each(|unit| self.blocks.mark_stale(block, page + unit));
            self.blocks.programs_ended(pool, block, padding, 0);
        }
        padding
    }

    /// Plants a defect: a page counts as valid twice.
    pub fn count_twice(&mut self, ppn: Ppn) {
        self.blocks.count_twice(self.geometry.split_page(ppn).0);
    }

    /// Writes the first `pages` logical pages, whole flash pages, once in address order, without touching the memory of the map.
    pub fn fill(&mut self, pages: u32) {
        self.map.fill(pages);
        let per_block = self.geometry.units_per_block.get();
        assert!(pages.is_multiple_of(self.geometry.units_per_flash_page), "a drive is filled in whole flash pages");
        let order = self.geometry.pools.striped().to_vec();
        let most = order.iter().map(|&pool| self.geometry.filled_units(pool, pages)).max().unwrap_or(0);
        for filled in (0..most).step_by(per_block as usize) {
            for &pool in &order {
                let left = self.geometry.filled_units(pool, pages).saturating_sub(filled);
                if left > 0 {
                    self.fill_block(pool, left.min(per_block));
                }
            }
        }
        for (chunk, count) in self.mapped.iter_mut().enumerate() {
            *count = pages.saturating_sub(chunk as u32 * MAPPED_PAGES).min(MAPPED_PAGES) as u16;
        }
        self.placer.filled(pages);
    }

    /// Fills the next block of a pool with `pages` pages, all valid, as if the host had written them.
    fn fill_block(&mut self, pool: PoolId, pages: u32) {
        let block = if self.geometry.spans_pools() {
            let stream = self.pools[pool.index()].host_stream(self.placer.fill_class());
            let block = self.open_member(pool, stream).0;
            self.program_begins(pool, stream, pages.div_ceil(self.geometry.units_per_program));
            // Blocks that were filled before the run have no stream.
            self.blocks.columns.stream[block.index()] = ssdlab_result::stats::NO_STREAM;
            block
        } else {
            self.blocks.take_free(pool)
        };
        self.blocks.programs_ended(pool, block, pages, pages);
        *self.pools[pool.index()].host_mut(self.placer.fill_class()) = Frontier { block, next_page: pages };
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

    /// Unmaps a trimmed page. Returns the pool in which it lay, if it held data.
    #[inline]
    pub fn trim(&mut self, lpn: Lpn) -> Option<PoolId> {
        let ppn = self.map.clear(&self.geometry, lpn)?;
        self.invalidate(ppn);
        self.mapped[(lpn.0 / MAPPED_PAGES) as usize] -= 1;
        Some(self.geometry.pool_of_page(ppn))
    }

    /// The first logical page in `from..end` that may hold data or have operations under way, else `end`: whole chunks without any are
    /// skipped.
    #[inline]
    pub fn skip_unmapped(&self, from: u32, end: u32) -> u32 {
        if from >= end {
            return end;
        }
        let (first, last) = ((from / MAPPED_PAGES) as usize, end.div_ceil(MAPPED_PAGES) as usize);
        let (mapped, pinned) = (&self.mapped[first..last], &self.pinned[first..last]);
        // 64 chunks at a time: a loop without an exit runs several times as fast, and a drive may have tens of thousands of chunks.
        let empty = |mapped: &[u16], pinned: &[u32]| {
            mapped.iter().fold(0, |any, &count| any | count) == 0 && pinned.iter().fold(0, |any, &count| any | count) == 0
        };
        let many = mapped.chunks(64).zip(pinned.chunks(64)).take_while(|(mapped, pinned)| empty(mapped, pinned)).count() * 64;
        let rest = mapped.iter().zip(pinned).skip(many).take_while(|(mapped, pinned)| **mapped == 0 && **pinned == 0).count();
        from.max((first + many + rest) as u32 * MAPPED_PAGES).min(end)
    }

    /// Number of logical pages that hold data, pages of the mapping table included.
    pub fn mapped_pages(&self) -> u64 {
        self.mapped.iter().map(|&count| u64::from(count)).sum()
    }

    /// Number of logical pages of the host that hold data.
    pub fn host_pages(&self) -> u64 {
        let of_map = (self.geometry.exported_units..self.geometry.logical_units).filter(|&lpn| self.lookup(Lpn(lpn)).is_some());
        self.mapped_pages() - of_map.count() as u64
    }

    fn recount_mapped(&mut self) {
        for chunk in 0..self.mapped.len() as u32 {
            let pages = chunk * MAPPED_PAGES..((chunk + 1) * MAPPED_PAGES).min(self.geometry.logical_units);
            self.mapped[chunk as usize] = pages.filter(|&lpn| self.lookup(Lpn(lpn)).is_some()).count() as u16;
        }
    }

    /// Sets the age of a closed block to 0, as if it had closed just now: a victim policy passed it over.
    #[inline]
    pub fn renew_age(&mut self, pool: PoolId, block: BlockId) {
        self.blocks.renew(pool, block);
    }

    /// The pool's active job, or else its last, fills the block: one open for its moves when it started, or taken since.
    #[inline]
    pub fn job_fills(&self, pool: PoolId, block: BlockId) -> bool {
        self.pools[pool.index()].job_fills(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(blocks: u32, pages_per_block: u32) -> Config {
        let mut config = Config::default();
        config.device.channels = 1;
        config.device.blocks_per_plane = blocks;
        config.device.pages_per_block = pages_per_block;
        config.device.overprovisioning = 0.5;
        config
    }

    /// Each page with data or operations is found, alone in its chunk or not, and whole chunks without any are skipped.
    #[test]
    fn chunks_without_data_and_operations_are_skipped() {
        let mut ftl = Ftl::new(&config(63, 4096));
        let end = ftl.geometry().exported_units;
        assert!(end > 3 * MAPPED_PAGES && !end.is_multiple_of(MAPPED_PAGES), "{end}");
        assert_eq!(ftl.skip_unmapped(5, end), end);
        let (third, lpn) = (2 * MAPPED_PAGES, Lpn(2 * MAPPED_PAGES + 7));
        let pool = ftl.geometry().static_pool(lpn);
        let ppn = ftl.allocate_host(pool, 0).ppn;
        ftl.commit_write(pool, lpn, ppn);
        assert_eq!(
            [0, 5, third, third + 9].map(|from| ftl.skip_unmapped(from, end)),
            [third, third, third, third + 9],
            "one page has data"
        );
        ftl.trim(lpn);
        assert_eq!(ftl.skip_unmapped(0, end), end, "none has");
        ftl.set_chain(lpn, None, Some((1, 2)));
        assert_eq!(ftl.skip_unmapped(0, end), third, "an operation on one is under way");
        ftl.set_chain(lpn, Some((1, 2)), Some((1, 3)));
        assert_eq!((ftl.skip_unmapped(0, end), ftl.chain(lpn)), (third, Some((1, 3))));
        ftl.set_chain(lpn, Some((1, 3)), None);
        assert_eq!((ftl.skip_unmapped(0, end), ftl.chain(lpn)), (end, None), "none is");
        assert_eq!(ftl.skip_unmapped(5, 5), 5);
    }

    /// Where 64 chunks are checked together, each chunk with data or an operation is found, and no other.
    #[test]
    fn each_of_many_chunks_is_found_by_its_data_or_its_operation() {
        let mut ftl = Ftl::new(&config(200, 4096));
        let end = ftl.geometry().exported_units;
        assert!(end > 90 * MAPPED_PAGES, "{end}");
        for chunk in [0, 1, 63, 64, 65, 89] {
            let (first, lpn) = (chunk * MAPPED_PAGES, Lpn(chunk * MAPPED_PAGES + 7));
            let pool = ftl.geometry().static_pool(lpn);
            let ppn = ftl.allocate_host(pool, 0).ppn;
            ftl.commit_write(pool, lpn, ppn);
            assert_eq!(ftl.skip_unmapped(0, end), first, "one page of chunk {chunk} has data");
            ftl.trim(lpn);
            ftl.set_chain(lpn, None, Some((1, 2)));
            assert_eq!(ftl.skip_unmapped(0, end), first, "an operation on one of chunk {chunk} is under way");
            ftl.set_chain(lpn, Some((1, 2)), None);
            assert_eq!(ftl.skip_unmapped(0, end), end);
        }
    }

    /// 75 % of four pages are three: a block has a larger share if all four are invalid. It has more than 50 % with three.
    #[test]
    fn a_block_with_more_than_its_share_of_invalid_pages_wants_collection() {
        let wanted = |invalid_share| {
            let mut config = config(8, 4);
            (config.gc.trigger, config.gc.invalid_share) = (Trigger::InvalidShare, invalid_share);
            let mut ftl = Ftl::new(&config);
            ftl.fill(8);
            [0, 1, 2, 3].map(|page| {
                ftl.trim(Lpn(page));
                let (now, ahead) = (ftl.wants_collection(PoolId(0)), ftl.wants_collection_after_one_block(PoolId(0)));
                assert_eq!(now, ahead, "enough blocks are free");
                now
            })
        };
        assert_eq!(wanted(0.75), [false, false, false, true]);
        assert_eq!(wanted(0.5), [false, false, true, true]);
    }

    /// A write that finds its block full opens another, whose first page it gets.
    #[test]
    fn the_next_write_has_the_offset_that_is_told_before() {
        let mut ftl = Ftl::new(&config(8, 4));
        for offset in [0, 1, 2, 3, 0, 1] {
            assert_eq!(ftl.next_offset(PoolId(0), 0), offset);
            let ppn = ftl.allocate_host(PoolId(0), 0).ppn;
            assert_eq!(ftl.geometry().split_page(ppn).1, offset);
        }
    }

    /// Of eight blocks of four pages: all but the reserve and the open blocks, plus half a block. With four units a page, minus three that
    /// could be left over in each block and in the program under way.
    #[test]
    fn a_pool_has_room_for_all_that_leaves_a_page_to_gain() {
        let room = |change: fn(&mut Config)| {
            let mut config = config(8, 4);
            change(&mut config);
            Ftl::new(&config).room_of_pool()
        };
        assert_eq!(room(|c| c.ftl.frontier = ssdlab_keys::config::Frontier::Shared), (8 - 1 - 1) * 4 + 2);
        assert_eq!(room(|c| c.ftl.frontier = ssdlab_keys::config::Frontier::Separate), (8 - 1 - 2) * 4 + 2);
        let units = |c: &mut Config| {
            c.ftl.frontier = ssdlab_keys::config::Frontier::Shared;
            c.ftl.map_unit_bytes = Some(c.device.page_bytes / 4);
        };
        assert_eq!(room(units), (8 - 1 - 1) * 16 + 8 - 3 * (8 + 1));
    }

    /// That a pool will want GC once it has taken another block is known one block ahead.
    #[test]
    fn collection_is_foreseen_one_block_ahead() {
        let mut config = config(8, 4);
        config.gc.soft = 4.0;
        let mut ftl = Ftl::new(&config);
        let pool = PoolId(0);
        let seen: Vec<_> = (0..5)
            .map(|_| {
                let seen = (ftl.blocks().free_count(pool), ftl.wants_collection_after_one_block(pool), ftl.wants_collection(pool));
                ftl.blocks.take_free(pool);
                seen
            })
            .collect();
        assert_eq!(seen, [(8, false, false), (7, false, false), (6, false, false), (5, false, false), (4, true, false)]);
        assert!(ftl.wants_collection_after_one_block(pool) && ftl.wants_collection(pool), "three are free");
    }

    /// With a shared frontier and no free block, the host may take only those pages of the frontier that the job does not need.
    #[test]
    fn the_rest_of_the_last_open_block_is_first_for_the_job_that_is_to_free_one() {
        let pool = PoolId(0);
        let mut config = config(8, 4);
        let mut taken = |frontier| {
            config.ftl.frontier = frontier;
            let mut ftl = Ftl::new(&config);
            ftl.allocate_host(pool, 0);
            while ftl.blocks.free_count(pool) > 0 {
                ftl.blocks.take_free(pool);
            }
            ftl
        };
        let mut ftl = taken(ssdlab_keys::config::Frontier::Shared);
        let streams = ftl.streams;
        let may_write: Vec<_> = (0..5)
            .map(|owed| {
                ftl.pools[pool.index()].start_job(owed, 4, streams);
                ftl.can_write(pool, 0)
            })
            .collect();
        assert_eq!(may_write, [true, true, true, false, false], "three pages are left of the block");
        let mut ftl = taken(ssdlab_keys::config::Frontier::Separate);
        let streams = ftl.streams;
        ftl.pools[pool.index()].start_job(4, 4, streams);
        assert!(ftl.can_write(pool, 0), "the job has a block of its own");
    }

    /// Where blocks can fail the job of a shared frontier takes one block of the reserve, and leaves the others, and those of accepted data.
    #[test]
    fn a_job_below_the_reserve_needs_its_part_of_a_shared_block() {
        let mut config = config(16, 4);
        config.ftl.frontier = ssdlab_keys::config::Frontier::Shared;
        (config.wear.endurance, config.buffer.bytes) = (9, 4096);
        let (pool, mut ftl) = (PoolId(0), Ftl::new(&config));
        ftl.allocate_host(pool, 0);
        assert_eq!(ftl.reserve(), 4);
        while ftl.blocks.free_count(pool) > 4 {
            ftl.blocks.take_free(pool);
        }
        let streams = ftl.streams;
        ftl.pools[pool.index()].start_job(3, 4, streams);
        assert!(ftl.can_write(pool, 0), "a block takes what the job has to place");
        assert!(ftl.promise(pool, 1));
        assert!(!ftl.can_write(pool, 0), "accepted data need that block");
        assert!(ftl.promise(pool, 0));
        ftl.blocks.take_free(pool);
        assert!(!ftl.can_write(pool, 0), "the job would need a second block");
        ftl.pools[pool.index()].end_job(streams);
        assert!(ftl.can_write(pool, 0), "no job needs the open block");
        ftl.pools[pool.index()].start_job(3, 4, streams);
        ftl.open_reserve();
        assert!(ftl.can_write(pool, 0), "GC has stopped");
    }
}
