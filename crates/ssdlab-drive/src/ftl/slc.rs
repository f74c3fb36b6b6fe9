//! The cache of blocks in SLC mode: whether host writes go there, and which of its blocks is folded next.

use super::placement::Class;
use super::{Allocated, Ftl, RESERVE};
use serde::{Deserialize, Serialize};
use ssdlab_base::units::{BlockId, Lpn, PoolId, Ppn};
use ssdlab_keys::config::{Config, Mode, SlcFull, Stream};
use ssdlab_keys::geometry::Geometry;
use ssdlab_result::stats::NO_STREAM;

/// Parts of a share.
const MILLION: u64 = 1_000_000;

/// The mode of the blocks of the static part of the cache, and of the dynamic part.
const STATIC: Mode = Mode::Slc;
const DYNAMIC: Mode = Mode::Slc;

/// What decides where host writes go.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct SlcCache {
    /// The most blocks of the dynamic part of a pool.
    dynamic_each: u32,
    /// Writes wait until a block can be opened in SLC mode (`slc.full = "fold"`).
    waits: bool,
    /// Share of a pool's cache that is full from which folding goes on beside host writes, in millionths; 0: never.
    level: u64,
    /// The drive is read-only: what it has accepted is written past the cache.
    is_closed: bool,
    /// A run has begun. The preparation of a drive writes past the cache.
    in_use: bool,
    /// Plants a defect: the youngest block is folded first.
    youngest_first: bool,
    /// Plants a defect: reads take the time of blocks that are not in SLC mode.
    forgets_mode: bool,
}

impl SlcCache {
    pub(super) fn new(config: &Config, geometry: &Geometry) -> Option<Self> {
        let shape = geometry.slc?;
        Some(SlcCache {
            dynamic_each: shape.dynamic_each,
            waits: config.slc.full == SlcFull::Fold,
            level: libm::round(config.slc.fold_level * MILLION as f64) as u64,
            is_closed: false,
            in_use: false,
            youngest_first: false,
            forgets_mode: false,
        })
    }
}

impl Ftl {
    /// The run begins: host writes go to the cache from now on.
    pub(super) fn open_cache(&mut self) {
        if let Some(slc) = &mut self.slc {
            slc.in_use = true;
            self.steer_all();
        }
    }

    /// The drive is read-only: no block is opened in SLC mode from now on.
    pub(super) fn shut_cache(&mut self) {
        if let Some(slc) = &mut self.slc {
            slc.is_closed = true;
            self.steer_all();
        }
    }

    /// Sets the free blocks of a pool that data take which a level above the drive has accepted: no block is opened in SLC mode for which there
    /// are not more, and of a block that host writes and page moves share the job needs its part before it takes them. Returns false if nothing
    /// changes.
    pub fn promise(&mut self, pool: PoolId, blocks: u32) -> bool {
        let changes = std::mem::replace(&mut self.promised[pool.index()], blocks) != blocks;
        if changes {
            self.steer(pool);
            // Writes may wait for the cache from now on, so that a block is to be folded.
            self.blocks.note_news(pool);
        }
        changes
    }

    /// Something depends on what [`Ftl::promise`] sets.
    pub fn heeds_promises(&self) -> bool {
        self.slc.is_some() || self.streams.of_moves().contains(&self.streams.host)
    }

    /// The free blocks of a pool that [`Ftl::promise`] has set.
    pub fn promised(&self, pool: PoolId) -> u32 {
        self.promised[pool.index()]
    }

    /// Decides for all pools whether the next host writes go to the cache. Call when the free blocks that they want have changed.
    pub(super) fn steer_all(&mut self) {
        if self.slc.is_some() {
            (0..self.geometry.pools.count.get()).for_each(|pool| self.steer(PoolId(pool)));
        }
    }

    /// The run is over: what prepares the drive for another writes past the cache.
    pub fn close_cache(&mut self) {
        if let Some(slc) = &mut self.slc {
            slc.in_use = false;
            self.pools.iter_mut().for_each(|pool| pool.send_past_cache(pool.direct(), self.streams));
        }
    }

    /// A page lies in a block of the cache.
    #[inline(always)]
    pub fn in_cache(&self, ppn: Ppn) -> bool {
        self.slc.is_some() && self.blocks.in_cache(self.geometry.split_page(ppn).0)
    }

    /// The data of a logical page lie in a block of the cache.
    #[inline(always)]
    pub fn lies_in_cache(&self, lpn: Lpn) -> bool {
        self.slc.is_some() && self.lookup(lpn).is_some_and(|ppn| self.in_cache(ppn))
    }

    /// The mode in which the flash takes the block of a page to be.
    #[inline(always)]
    pub(super) fn mode_of(&self, ppn: Ppn) -> Mode {
        if self.slc.is_some() { self.mode_of_block(self.geometry.split_page(ppn).0) } else { Mode::Native }
    }

    /// The mode in which the flash takes a block to be.
    #[inline(always)]
    pub fn mode_of_block(&self, block: BlockId) -> Mode {
        match &self.slc {
            Some(slc) if !slc.forgets_mode => self.blocks.mode(block),
            _ => Mode::Native,
        }
    }

    /// The next write of a class to a pool goes to a block of the cache.
    #[inline(always)]
    pub fn writes_to_cache(&self, pool: PoolId, class: Class) -> bool {
        self.slc.is_some() && self.streams.is_of_cache(self.pools[pool.index()].host_stream(class))
    }

    /// The mode of the block that the next write of a class to a pool goes to.
    #[inline(always)]
    pub fn mode_of_next(&self, pool: PoolId, class: Class) -> Mode {
        if self.writes_to_cache(pool, class) { self.mode_in_cache(pool, class) } else { Mode::Native }
    }

    fn mode_in_cache(&self, pool: PoolId, class: Class) -> Mode {
        let (stream, open) = (self.pools[pool.index()].host_stream(class), self.pools[pool.index()].host(class));
        let begun = Some(open.block).filter(|_| open.next_page < self.geometry.units_per_block.get());
        let block = begun.or_else(|| self.blocks.next_member(pool, stream));
        block.map_or_else(|| self.mode_to_open(pool, stream), |block| self.blocks.mode(block))
    }

    /// The mode in which the next block of a stream is opened: that of the part of the pool which it is taken from.
    #[inline(always)]
    pub(super) fn mode_to_open(&self, pool: PoolId, stream: Stream) -> Mode {
        match self.streams.is_of_cache(stream) {
            false => Mode::Native,
            true if self.blocks.free_static(pool) > 0 => STATIC,
            true => DYNAMIC,
        }
    }

    /// The stream outside of the cache of the writer that has filled a block; `NO_STREAM` if none of the run has, or translation pages.
    pub fn stream_outside_cache(&self, block: BlockId) -> Stream {
        self.streams.outside_cache(self.blocks.stream(block)).unwrap_or(NO_STREAM)
    }

    /// Units that the erase of a block makes free for writes: in the static part those that it can hold in its mode.
    pub fn units_freed(&self, block: BlockId) -> u32 {
        self.geometry.units_in_mode(if self.blocks.is_static(block) { STATIC } else { Mode::Native })
    }

    /// Units for writes in the static part of a pool, its open blocks apart.
    pub(super) fn static_room(&self, pool: PoolId) -> u64 {
        u64::from(self.blocks.free_static(pool)) * u64::from(self.geometry.units_in_mode(STATIC))
    }

    /// Number of pages of a pool that can be programmed outside the cache: as [`Ftl::room`], without its static part and the open blocks
    /// of the cache.
    pub fn room_outside_cache(&self, pool: PoolId) -> u64 {
        let open: u32 = self.cache_streams().map(|stream| self.room_of_stream(pool, stream)).sum();
        self.room(pool) - self.static_room(pool) - u64::from(open)
    }

    /// The streams of the cache.
    fn cache_streams(&self) -> std::ops::Range<Stream> {
        self.streams.slc..self.streams.count
    }

    /// Pages of the open block of a stream in a pool that no program has taken, and of those that its superblocks have for it.
    pub(super) fn room_of_stream(&self, pool: PoolId, stream: Stream) -> u32 {
        let open = self.geometry.units_per_block.get() - self.pools[pool.index()].open[usize::from(stream)].next_page;
        if self.geometry.spans_pools() { self.room_open(pool, stream) } else { open }
    }

    /// A block of the static part can be opened.
    fn can_open_static(&self, pool: PoolId) -> bool {
        self.blocks.free_static(pool) > 0 && self.kept_from_host < u32::MAX && self.slc.is_some_and(|slc| !slc.is_closed)
    }

    /// Writes to a pool wait until a block can be opened in SLC mode (`slc.full = "fold"`), as long as each class can have one, and accepted data
    /// do not need it.
    fn waits(&self, slc: SlcCache, pool: PoolId) -> bool {
        let promised = self.promised[pool.index()];
        let is_needed = slc.is_closed || promised > 0 && self.blocks.free_count(pool) <= self.kept(pool).saturating_add(promised);
        slc.waits && !is_needed && slc.dynamic_each + self.blocks.static_left(pool) >= self.cache_streams().len() as u32
    }

    /// Number of streams of the cache that have an open block with room in a pool, or an open superblock.
    fn open_in_cache(&self, pool: PoolId) -> u32 {
        let is_open = |&stream: &Stream| match self.geometry.spans_pools() {
            true => self.blocks.open_superblocks(pool).iter().any(|&(_, of)| of == stream),
            false => self.room_of_stream(pool, stream) > 0,
        };
        self.cache_streams().filter(is_open).count() as u32
    }

    /// A block of the dynamic part can be opened.
    fn can_open_dynamic(&self, slc: SlcCache, pool: PoolId, kept: u32) -> bool {
        let kept = kept.saturating_add(self.promised[pool.index()]);
        !slc.is_closed && self.blocks.dynamic_blocks(pool) < slc.dynamic_each && self.blocks.free_count(pool) > kept
    }

    /// Allocates the page for a host write, in a block of the mode that writes go to now; `None` unless [`Ftl::can_write`].
    #[inline(never)]
    pub(super) fn allocate_in_mode(&mut self, pool: PoolId, class: Class) -> Option<Allocated> {
        if !self.can_write(pool, class) {
            return None;
        }
        let redirected = !self.writes_to_cache(pool, class) && self.pools[pool.index()].is_redirected(self.streams);
        let stream = self.pools[pool.index()].host_stream(class);
        let began_block = self.frontier_full(pool, class);
        let took_block = began_block && self.open_block(pool, stream);
        if self.geometry.spans_pools() {
            self.program_begins(pool, stream, 1);
        }
        let ppn = self.pools[pool.index()].host_mut(class).next(&self.geometry);
        self.steer(pool);
        Some(Allocated { ppn, class, began_block, took_block, redirected })
    }

    /// A block can be opened for the next host write of a pool. Only where its open block is full, and there is a cache.
    #[cold]
    #[inline(never)]
    pub(super) fn can_open_host(&self, pool: PoolId, class: Class) -> bool {
        match self.slc.filter(|_| self.writes_to_cache(pool, class)) {
            Some(slc) => self.can_open(slc, pool) && !self.is_kept_for_others(slc, pool, class),
            None => self.blocks.free_count(pool) > self.kept(pool),
        }
    }

    /// Where writes wait for the cache, its superblocks that can be opened are kept for classes without room in their own, if this class has room
    /// on another die. So each class gets one in the end, whatever others have begun.
    fn is_kept_for_others(&self, slc: SlcCache, pool: PoolId, class: Class) -> bool {
        if !self.waits_in_turns(pool) {
            return false;
        }
        let has_room = |stream: Stream| self.geometry.pools_of_group(pool).any(|part| self.room_open(PoolId(part), stream) > 0);
        let without = self.cache_streams().filter(|&stream| !has_room(stream)).count() as u32;
        let free = self.blocks.free_count(pool).saturating_sub(self.kept(pool).saturating_add(self.promised[pool.index()]));
        let dynamic = free.min(slc.dynamic_each.saturating_sub(self.blocks.dynamic_blocks(pool)));
        has_room(self.streams.in_cache(class)) && self.blocks.free_static(pool) + dynamic <= without
    }

    /// Writes of a pool wait for a superblock of the cache (`slc.full = "fold"`), each in its die as long as that, or none of its group, has room.
    pub fn waits_in_turns(&self, pool: PoolId) -> bool {
        self.geometry.spans_pools() && self.slc.is_some_and(|slc| slc.in_use && self.waits(slc, pool))
    }

    /// Units of host writes of a class for which a pool has room before they would wait for the cache; `u32::MAX` if it can open a superblock.
    pub fn room_for_host(&self, pool: PoolId, class: Class) -> u32 {
        if self.can_open_host(pool, class) { u32::MAX } else { self.room_left(pool, self.pools[pool.index()].host_stream(class)) }
    }

    /// Free blocks of a pool that host writes leave: those that GC keeps, and one that a job still takes of which no free block comes.
    fn kept(&self, pool: PoolId) -> u32 {
        // The job of a superblock counts no room.
        let classes = if self.geometry.spans_pools() { 0 } else { self.streams.move_classes };
        let room = || (0..classes).map(|class| self.room_of_stream(pool, self.streams.moves + class)).sum();
        let owed = self.pools[self.geometry.lead_pool(pool).index()].owed;
        self.kept_from_host.saturating_add(u32::from(self.blocks.folds_static(pool) && owed > room()))
    }

    /// Free blocks of a pool that are to be there when its job has ended, if no free block comes of it.
    #[inline(always)]
    pub(super) fn left_by_job(&self, pool: PoolId) -> u32 {
        if self.blocks.folds_static(pool) { RESERVE } else { 0 }
    }

    /// The block that is opened next for host writes, if any.
    pub(super) fn next_opened(&self, pool: PoolId, class: Class) -> Option<BlockId> {
        let in_cache = self.blocks.free_static_blocks(pool).next().filter(|_| self.writes_to_cache(pool, class));
        in_cache.or_else(|| self.blocks.free_blocks(pool).next())
    }

    /// Decides whether the next host writes of a pool go to the cache. Call when its open block there is full, or its free blocks have
    /// changed.
    #[inline(always)]
    pub fn steer(&mut self, pool: PoolId) {
        if self.slc.as_ref().is_some_and(|slc| slc.in_use) {
            self.steer_host(pool);
        }
    }

    /// As [`Ftl::steer`], for all pools that share the free superblocks of a pool. Call when their number has changed.
    pub fn steer_group(&mut self, pool: PoolId) {
        if self.slc.as_ref().is_some_and(|slc| slc.in_use) {
            self.geometry.pools_of_group(pool).for_each(|part| self.steer_host(PoolId(part)));
        }
    }

    #[cold]
    #[inline(never)]
    fn steer_host(&mut self, pool: PoolId) {
        let slc = self.slc.expect("seen by the caller");
        let can_open =
            self.waits(slc, pool) || self.can_open_ahead(slc, pool) || self.erases_for_cache(slc, pool) && self.can_open(slc, pool);
        let direct = self.pools[pool.index()].direct();
        self.pools[pool.index()].send_past_cache(direct, self.streams);
        for class in 0..self.streams.write_classes() {
            let stream = self.streams.in_cache(class);
            if can_open || self.room_of_stream(pool, stream) > 0 {
                self.pools[pool.index()].send(class, stream);
            }
        }
    }

    /// Takes a pool in which a block in SLC mode has become full, or accepted data need other free blocks, since the last call.
    pub fn take_news(&mut self) -> Option<PoolId> {
        self.blocks.take_news()
    }

    /// Folding is wanted in a pool beside host writes: the cache has reached the level, or no block can be opened for writes that wait.
    pub fn wants_folding(&self, pool: PoolId) -> bool {
        let Some(slc) = self.slc else { return false };
        let empty = || self.blocks.empty_cached(pool).next().is_some() && !self.can_open_ahead(slc, pool);
        self.has_level(slc, pool) || self.must_fold(pool) || empty()
    }

    /// Writes to a pool wait until a block is folded, or would if they came.
    pub fn must_fold(&self, pool: PoolId) -> bool {
        let full = || self.open_in_cache(pool) < self.cache_streams().len() as u32;
        self.slc.is_some_and(|slc| self.waits(slc, pool) && full() && !self.can_open(slc, pool))
    }

    /// A block of the cache can be opened.
    fn can_open(&self, slc: SlcCache, pool: PoolId) -> bool {
        self.can_open_static(pool) || self.can_open_dynamic(slc, pool, self.kept(pool))
    }

    /// A block of the cache can be opened, and GC need not start to free what the cache takes.
    fn can_open_ahead(&self, slc: SlcCache, pool: PoolId) -> bool {
        let kept = if self.waits(slc, pool) { self.kept(pool) } else { self.wanted_free.max(self.kept(pool)) };
        self.can_open_static(pool) || self.can_open_dynamic(slc, pool, kept)
    }

    /// A block without valid data is to be erased, so that it can be opened for the cache.
    fn erases_for_cache(&self, slc: SlcCache, pool: PoolId) -> bool {
        self.blocks.dynamic_blocks(pool) < slc.dynamic_each && !self.can_open_ahead(slc, pool) && self.blocks.empty_block(pool).is_some()
    }

    /// The block outside of the cache without valid data that is to be erased ahead of need: in `idle` time, or so that the cache can take
    /// it. If the pool has too few free blocks (`wanted`) and there is a cache, before anything is folded or moved for that.
    pub fn next_empty(&self, pool: PoolId, idle: bool, wanted: bool) -> Option<BlockId> {
        let for_cache = || self.slc.is_some_and(|slc| slc.in_use && (wanted || self.erases_for_cache(slc, pool)));
        if idle && !wanted || for_cache() { self.blocks.empty_block(pool) } else { None }
    }

    /// The full blocks in SLC mode are as many as the level asks for, of these, the open ones and those that could be opened now.
    fn has_level(&self, slc: SlcCache, pool: PoolId) -> bool {
        let full = self.blocks.full_in_cache(pool);
        let free = self.blocks.free_count(pool).saturating_sub(if slc.waits { self.reserve } else { self.wanted_free });
        let dynamic = free.min(slc.dynamic_each - self.blocks.dynamic_blocks(pool));
        let size = full + self.open_in_cache(pool) + self.blocks.free_static(pool) + dynamic;
        slc.level > 0 && full > 0 && u64::from(full) * MILLION >= slc.level * u64::from(size)
    }

    /// The full block in SLC mode of a pool that is folded next: one without valid data, or the oldest. `for_space`: one whose erase frees a
    /// block for all writes.
    pub fn next_fold(&self, pool: PoolId, for_space: bool) -> Option<BlockId> {
        let slc = self.slc?;
        let fits = |block: &BlockId| !for_space || !self.blocks.is_static(*block);
        let mut blocks = self.blocks.cached_by_age(pool).filter(fits);
        if slc.youngest_first {
            return blocks.last();
        }
        self.blocks.empty_cached(pool).find(fits).or_else(|| blocks.next())
    }

    /// Plants a defect: the youngest block is folded first.
    #[doc(hidden)]
    pub fn fold_youngest(&mut self) {
        self.slc.iter_mut().for_each(|slc| slc.youngest_first = true);
    }

    /// Plants a defect: operations take the times of blocks that are not in SLC mode.
    #[doc(hidden)]
    pub fn forget_mode(&mut self) {
        self.slc.iter_mut().for_each(|slc| slc.forgets_mode = true);
    }
}
