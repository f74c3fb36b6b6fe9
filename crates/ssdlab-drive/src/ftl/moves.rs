//! The page moves of a collection: one by one, or several of a job as one batch.

use super::pool::Frontier;
use super::{Allocated, Class, Freed, Ftl};
use ssdlab_base::units::{BlockId, Lpn, PoolId, Ppn};

/// Result of a batch of page moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The page offset behind the last page moved: where the next batch of the job begins.
    pub end: u32,
    /// Pages moved, stale copies included.
    pub moves: u32,
    /// Copies that were stale: the page had been overwritten or trimmed since its move began. Always 0 or 1.
    pub stale: u32,
    /// Units of padding in the last program.
    pub padding: u32,
    /// Parity programs.
    pub parity: u32,
}

impl Ftl {
    /// Starts collecting a block, or the superblock for which it stands, whose parts in other pools then begin ([`Ftl::start_part`]). Returns
    /// the number of pages to move in this pool.
    #[inline]
    pub fn start_job(&mut self, pool: PoolId, victim: BlockId) -> u32 {
        let moves = self.blocks.valid_together(victim);
        self.blocks.make_victim(pool, victim);
        self.placer.block_collected(&self.blocks.columns, victim, self.blocks.stream(victim), moves);
        self.superblocks.collected += 1;
        self.start_part(pool, victim)
    }

    /// The part of a job begins that collects this block of the pool; returns the number of pages to move.
    #[inline]
    pub fn start_part(&mut self, pool: PoolId, victim: BlockId) -> u32 {
        let moves = self.blocks.valid(victim);
        let owed = match self.geometry.spans_pools() {
            false => moves,
            // The parts of a job place their pages together.
            true if pool == self.geometry.lead_pool(pool) => self.blocks.members(victim).map(|(_, block)| self.blocks.valid(block)).sum(),
            true => 0,
        };
        let placed = self.pages_for(owed) + self.owed_for_waiting(pool);
        self.pools[pool.index()].start_job(placed, self.geometry.units_per_block.get(), self.streams);
        self.steer(pool);
        moves
    }

    /// The most programs that a job with this many units to move begins. Its room is bounded by that.
    ///
    /// If the units are of one class, as many as they fill. If they may be of n classes, each may leave a program that is not full: n - 1
    /// programs more at most. But a job that collects a block must gain a program, or GC might never end; so it begins at least one fewer than
    /// a block has, where the units fit into these (a block is a victim only if they do; one that is moved for another reason may be full of
    /// valid units, and takes as many as it has). Units of several classes share programs rather than begin more
    /// ([`crate::gc`], `packing`): with r programs left and at most r programs of units, each of the n classes that are left has a program of
    /// its own if n <= r, after which r - 1 are left for n - 1 classes of less than a program each; else the next program is full, and as many
    /// programs are left as the rest fills.
    ///
    /// The reserve has a block of room when a job starts, for which that is enough, whichever streams it goes to: a class without room takes a
    /// free block, or, without one, goes to a class that has room ([`Ftl::allocate_move`]).
    #[inline]
    pub fn most_programs(&self, units: u32) -> u32 {
        let each = self.geometry.units_per_program;
        let least = units.div_ceil(each);
        if each == 1 || !self.placer.parts_blocks() {
            return least;
        }
        let apart = (units + u32::from(self.streams.move_classes) * (each - 1)) / each;
        apart.min(least.max(self.geometry.units_per_reclaim() / each - 1))
    }

    /// Pages that the programs of a job with this many units to move may take, in whole programs.
    #[inline]
    pub(super) fn pages_for(&self, units: u32) -> u32 {
        if units == 0 { 0 } else { self.most_programs(units) * self.geometry.units_per_program }
    }

    /// Programs that the pool's active job may still begin.
    pub fn programs_owed(&self, pool: PoolId) -> u32 {
        self.pools[pool.index()].owed / self.geometry.units_per_program
    }

    /// Prefetches the map entries of all valid pages of a victim from offset `from` on. They are scattered over the whole map; together
    /// they come from memory in parallel. It pays shortly before the pages are moved.
    #[inline]
    pub fn prefetch_moves(&self, victim: BlockId, from: u32) {
        for (first, bits) in self.blocks.valid_words(victim, from) {
            self.map.prefetch_pages(&self.geometry, self.geometry.page(victim, first), bits);
        }
    }

    /// Page moves that the pool's active job has not placed yet, in whole programs; of a superblock's job, in the first pool of its group.
    #[inline(always)]
    pub fn owed(&self, pool: PoolId) -> u32 {
        self.pools[pool.index()].owed
    }

    /// Allocates the page for a move of the pool's active job to a class (where programs have several pages, the first of a program). If the
    /// class has no room, and no block is free, the page is one of another class that has: a job has room for all its programs, but not in
    /// each class.
    #[inline(always)]
    pub fn allocate_move(&mut self, pool: PoolId, wanted: Class) -> Allocated {
        let class = if self.streams.move_classes == 1 { 0 } else { self.class_with_room(pool, wanted) };
        let (began_block, took_block) = self.open_for_move(pool, class);
        let state = &mut self.pools[pool.index()];
        state.owed -= self.geometry.units_per_program;
        let ppn = state.moves_mut(class).next(&self.geometry);
        Allocated { ppn, class, began_block, took_block, redirected: false }
    }

    /// The class of all moves of a victim, where the placement policy does not part its pages.
    fn class_of_moves(&self, victim: BlockId) -> Class {
        if self.streams.move_classes == 1 { 0 } else { self.placer.move_class(Lpn(0), self.blocks.stream(victim)) }
    }

    /// The class that the placement policy gives to the data at `from`, if they are moved now.
    #[inline(always)]
    pub fn class_to_move(&self, from: Ppn) -> Class {
        if self.streams.move_classes == 1 { 0 } else { self.class_of_data(from) }
    }

    fn class_of_data(&self, from: Ppn) -> Class {
        let lpn = self.map.content(&self.geometry, from);
        self.placer.move_class(lpn, self.blocks.stream(self.geometry.split_page(from).0))
    }

    fn class_with_room(&mut self, pool: PoolId, wanted: Class) -> Class {
        let state = &self.pools[pool.index()];
        let pages = self.geometry.units_per_block.get();
        let has_room = |class: Class| state.moves(class).next_page < pages;
        if has_room(wanted) || self.blocks.free_count(pool) > self.left_by_job(pool) {
            return wanted;
        }
        let other = (0..self.streams.move_classes).find(|&class| has_room(class)).expect("a job has room for its pages");
        // The units of a program of several are counted by their own classes.
        self.displaced += u64::from(self.geometry.units_per_program == 1);
        other
    }

    /// Notes units of a program of several that went to another class than the placement policy wanted.
    pub fn note_displaced(&mut self, units: usize) {
        self.displaced += units as u64;
    }

    /// Page moves that went to another stream than the placement policy wanted, for lack of a free block or of a program.
    pub fn displaced_moves(&self) -> u64 {
        self.displaced
    }

    /// Makes sure that the block which the pool's job fills with a class has room. Returns whether that began a block, and whether it took
    /// a free block or superblock.
    #[inline(always)]
    pub(super) fn open_for_move(&mut self, pool: PoolId, class: Class) -> (bool, bool) {
        let state = &mut self.pools[pool.index()];
        if state.moves(class).next_page < self.geometry.units_per_block.get() {
            return (false, false);
        }
        let stream = state.move_stream(class);
        let took = self.open_block(pool, stream);
        let state = &mut self.pools[pool.index()];
        state.job_took(class, state.moves(class).block);
        self.steer(pool);
        (true, took)
    }

    /// The program of a page move into `pool` has ended. Returns false if the page was overwritten or trimmed meanwhile: then the copy
    /// is stale.
    #[inline(always)]
    pub fn commit_move(&mut self, pool: PoolId, lpn: Lpn, from: Ppn, to: Ppn) -> bool {
        let current = self.map.relocate(&self.geometry, lpn, from, to);
        if current {
            let (block, page) = self.geometry.split_page(from);
            let source = if self.geometry.spans_pools() { self.geometry.pool_of_block(block) } else { pool };
            self.blocks.invalidate(source, block, page);
        }
        self.programmed(pool, lpn, to, current);
        current
    }

    /// The next valid page of a victim at or after page offset `from`.
    #[inline(always)]
    pub fn next_valid(&self, victim: BlockId, from: u32) -> Option<Ppn> {
        self.blocks.next_valid(victim, from).map(|page| self.geometry.page(victim, page))
    }

    /// Number of valid pages of a victim at or after page offset `from`.
    pub fn valid_from(&self, victim: BlockId, from: u32) -> u32 {
        self.blocks.valid_words(victim, from).map(|(_, bits)| bits.count_ones()).sum()
    }

    /// Prefetches the logical pages that the physical pages a little behind this one hold, for the moves that follow.
    #[inline(always)]
    pub fn prefetch_content_behind(&self, ppn: Ppn) {
        self.map.prefetch_content_behind(ppn);
    }

    /// The next valid page of a victim at or after page offset `from`: its offset, its physical and its logical page.
    #[inline(always)]
    pub fn next_move(&self, victim: BlockId, from: u32) -> Option<(u32, Ppn, Lpn)> {
        let page = self.blocks.next_valid(victim, from)?;
        let ppn = self.geometry.page(victim, page);
        Some((page, ppn, self.map.content(&self.geometry, ppn)))
    }

    /// Moves the next `count` pages of the pool's victim, as [`Ftl::next_move`], [`Ftl::allocate_move`] and [`Ftl::commit_move`] in turn
    /// would, or as many as are left. It begins at page offset `from`. With `begun`, the move of the page there has begun before the batch:
    /// the page is copied even if it was overwritten or trimmed meanwhile.
    ///
    /// Where programs have several pages, `count` must cover all pages that are left, since the last program of a batch is padded.
    ///
    /// `took` is called for each free block taken, with the batch's moves before it and the pool's free blocks after it.
    #[inline]
    pub fn move_batch(
        &mut self,
        pool: PoolId,
        victim: BlockId,
        from: u32,
        begun: bool,
        count: u32,
        mut took: impl FnMut(u32, u32),
    ) -> Batch {
        let mut batch = Batch { end: from, moves: 0, stale: 0, padding: 0, parity: 0 };
        if begun && count > 0 {
            let (allocated, current) = self.move_begun(pool, victim, from);
            if allocated.took_block {
                took(0, self.blocks.free_count(pool));
            }
            let parity = u32::from(self.geometry.parity_with(allocated.ppn).is_some());
            batch = Batch { end: from + 1, moves: 1, stale: u32::from(!current), padding: 0, parity };
        }
        if self.placer.parts_blocks() {
            return self.move_singly(pool, victim, count, batch, took);
        }
        let class = self.class_of_moves(victim);
        while batch.moves < count && self.blocks.next_valid(victim, batch.end).is_some() {
            if self.open_for_move(pool, class).1 {
                took(batch.moves, self.blocks.free_count(pool));
            }
            let Frontier { block, next_page } = *self.pools[pool.index()].moves(class);
            let (end, moves) = self.move_run(pool, class, victim, batch.end, count - batch.moves);
            // A program that was begun before, and goes on, is counted already.
            let each = self.geometry.units_per_program;
            let (first, behind) = (next_page.next_multiple_of(each), (next_page + moves).next_multiple_of(each));
            batch = Batch {
                end,
                moves: batch.moves + moves,
                parity: batch.parity + self.geometry.parity_between(block, first, behind),
                ..batch
            };
        }
        batch.padding = self.pad_moves(pool, class);
        batch
    }

    /// Goes on with a batch whose pages go to several streams.
    fn move_singly(&mut self, pool: PoolId, victim: BlockId, count: u32, begun: Batch, mut took: impl FnMut(u32, u32)) -> Batch {
        let mut batch = begun;
        while batch.moves < count
            && let Some((page, from, lpn)) = self.next_move(victim, batch.end)
        {
            let allocated = self.allocate_move(pool, self.class_to_move(from));
            if allocated.took_block {
                took(batch.moves, self.blocks.free_count(pool));
            }
            self.commit_move(pool, lpn, from, allocated.ppn);
            batch.parity += u32::from(self.geometry.parity_with(allocated.ppn).is_some());
            (batch.end, batch.moves) = (page + 1, batch.moves + 1);
        }
        batch
    }

    /// Pads the program of the last move of the pool's job. Returns the number of units of padding.
    fn pad_moves(&mut self, pool: PoolId, class: Class) -> u32 {
        let state = &mut self.pools[pool.index()];
        let Frontier { block, next_page } = *state.moves(class);
        let each = self.geometry.units_per_program;
        let units = if each == 1 { 0 } else { next_page % each };
        if units == 0 {
            return 0;
        }
        let padding = each - units;
        state.moves_mut(class).next_page += padding;
        state.owed -= padding;
        self.pad(pool, self.geometry.page(block, next_page - units), units)
    }

    /// Ends a move that has begun. Returns where the copy went and whether it is current.
    fn move_begun(&mut self, pool: PoolId, victim: BlockId, page: u32) -> (Allocated, bool) {
        let from = self.geometry.page(victim, page);
        let lpn = self.map.content(&self.geometry, from);
        let allocated = self.allocate_move(pool, self.class_to_move(from));
        (allocated, self.commit_move(pool, lpn, from, allocated.ppn))
    }

    /// Moves up to `limit` valid pages of a victim from offset `from` on, as many as the block that the job fills has room for. Returns
    /// the offset behind the last, and their number.
    #[inline]
    fn move_run(&mut self, pool: PoolId, class: Class, victim: BlockId, from: u32, limit: u32) -> (u32, u32) {
        let Ftl { geometry, map, blocks, pools, .. } = self;
        let state = &mut pools[pool.index()];
        let target = state.moves_mut(class);
        let limit = limit.min(geometry.units_per_block.get() - target.next_page);
        let (mut end, mut moves) = (from, 0);
        for (first, bits) in blocks.valid_words(victim, from) {
            let bits = lowest_bits(bits, limit - moves);
            if bits != 0 {
                let to = geometry.page(target.block, target.next_page + moves);
                moves += map.move_pages(geometry, geometry.page(victim, first), bits, to);
                end = first + 64 - bits.leading_zeros();
            }
        }
        target.next_page += moves;
        let block = target.block;
        state.owed -= moves;
        blocks.moved_away(pool, victim, from, end, moves);
        blocks.programs_ended(pool, block, moves, moves);
        (end, moves)
    }

    /// The victim of the pool's job, or part of a job, has been erased. Returns what is free if the job ends.
    #[inline]
    pub fn commit_erase(&mut self, pool: PoolId, victim: BlockId) -> Option<Freed> {
        self.blocks.erased(pool, victim);
        if self.geometry.spans_pools() {
            return self.member_erased(victim);
        }
        self.pools[pool.index()].end_job(self.streams);
        self.steer(pool);
        Some(Freed::Whole { replaced: 0 })
    }
}

/// The lowest bits that are set, at most `count` of them.
#[inline(always)]
fn lowest_bits(bits: u64, count: u32) -> u64 {
    if bits.count_ones() <= count {
        return bits;
    }
    let higher = (0..count).fold(bits, |higher, _| higher & (higher - 1));
    bits & !higher
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_base::rng::Rng;
    use ssdlab_keys::config::{Config, Frontier as Sharing};

    const POOL: PoolId = PoolId(0);

    fn drive(pages_per_block: u32, sharing: Sharing) -> Ftl {
        let mut config = Config::default();
        config.device.channels = 1;
        config.device.blocks_per_plane = 12;
        config.device.pages_per_block = pages_per_block;
        config.device.overprovisioning = 0.4;
        config.ftl.frontier = sharing;
        let mut ftl = Ftl::new(&config);
        // The last quarter is left without data, so that maps hold all kinds of entries.
        ftl.fill(ftl.geometry().exported_units * 3 / 4);
        ftl
    }

    /// Overwrites and trims at random while no job is active.
    fn disturb(ftl: &mut Ftl, rng: &mut Rng) {
        for _ in 0..ftl.geometry().units_per_block.get() {
            let lpn = Lpn(rng.below(u64::from(ftl.geometry().exported_units)) as u32);
            if rng.below(8) == 0 {
                ftl.trim(lpn);
            } else if ftl.can_write(POOL, 0) {
                let ppn = ftl.allocate_host(POOL, 0).ppn;
                ftl.commit_write(POOL, lpn, ppn);
            }
        }
    }

    /// Moves the pages of a batch one by one. Returns the result that a batch would have, and the free blocks taken.
    fn move_singly(ftl: &mut Ftl, victim: BlockId, from: u32, count: u32) -> (Batch, Vec<(u32, u32)>) {
        let (mut batch, mut taken) = (Batch { end: from, moves: 0, stale: 0, padding: 0, parity: 0 }, Vec::new());
        while batch.moves < count
            && let Some((page, source, lpn)) = ftl.next_move(victim, batch.end)
        {
            let target = ftl.allocate_move(POOL, ftl.class_to_move(source));
            if target.took_block {
                taken.push((batch.moves, ftl.blocks().free_count(POOL)));
            }
            assert!(ftl.commit_move(POOL, lpn, source, target.ppn));
            batch = Batch { end: page + 1, moves: batch.moves + 1, ..batch };
        }
        (batch, taken)
    }

    fn assert_equal(batched: &Ftl, single: &Ftl) {
        batched.check().unwrap();
        assert_eq!(batched.blocks().parts(), single.blocks().parts());
        assert_eq!(batched.owed(POOL), single.owed(POOL));
        let places = |ftl: &Ftl| (0..ftl.geometry().exported_units).map(|lpn| ftl.lookup(Lpn(lpn))).collect::<Vec<_>>();
        assert_eq!(places(batched), places(single));
    }

    #[test]
    fn the_lowest_bits_are_kept() {
        assert_eq!([0, 1, 2, 3, 9].map(|count| lowest_bits(0b1011_0000, count)), [0, 0b1_0000, 0b11_0000, 0b1011_0000, 0b1011_0000]);
        assert_eq!([63, 64].map(|count| lowest_bits(u64::MAX, count)), [u64::MAX >> 1, u64::MAX]);
    }

    #[test]
    fn a_batch_does_what_its_moves_do_one_by_one() {
        let mut blocks_taken = 0;
        for (seed, pages) in [4, 64, 70, 200].into_iter().enumerate() {
            for sharing in [Sharing::Separate, Sharing::Shared] {
                let (mut batched, mut rng) = (drive(pages, sharing), Rng::new(seed as u64, "test"));
                for _ in 0..40 {
                    disturb(&mut batched, &mut rng);
                    let Some(victim) = batched.blocks().fewest_valid(POOL) else { continue };
                    let mut single = batched.clone();
                    let moves = batched.start_job(POOL, victim);
                    assert_eq!(single.start_job(POOL, victim), moves);
                    let mut from = 0;
                    while batched.owed(POOL) > 0 {
                        let count = 1 + rng.below(u64::from(pages)) as u32;
                        let mut taken = Vec::new();
                        let batch = batched.move_batch(POOL, victim, from, false, count, |before, free| taken.push((before, free)));
                        assert_eq!((batch, taken.clone()), move_singly(&mut single, victim, from, count));
                        assert_equal(&batched, &single);
                        blocks_taken += taken.len();
                        from = batch.end;
                    }
                    assert_eq!(
                        batched.move_batch(POOL, victim, from, false, 9, |_, _| ()),
                        Batch { end: from, moves: 0, stale: 0, padding: 0, parity: 0 }
                    );
                    batched.commit_erase(POOL, victim);
                    single.commit_erase(POOL, victim);
                    assert_equal(&batched, &single);
                }
            }
        }
        assert!(blocks_taken > 20, "{blocks_taken} blocks were taken by batches");
    }

    #[test]
    fn the_copy_of_a_page_trimmed_during_its_move_is_stale() {
        let mut ftl = drive(64, Sharing::Separate);
        for lpn in [0, 1, 5] {
            ftl.trim(Lpn(lpn));
        }
        let victim = ftl.blocks().fewest_valid(POOL).unwrap();
        assert_eq!(ftl.start_job(POOL, victim), 61);
        let (page, _, lpn) = ftl.next_move(victim, 0).unwrap();
        assert_eq!((page, lpn), (2, Lpn(2)));
        ftl.trim(lpn);
        // Without `begun` the trimmed page is left out; with it, its copy takes a page and is stale.
        let mut left_out = ftl.clone();
        assert_eq!(
            left_out.move_batch(POOL, victim, page, false, 3, |_, _| ()),
            Batch { end: 7, moves: 3, stale: 0, padding: 0, parity: 0 }
        );
        let mut alone = ftl.clone();
        assert_eq!(alone.move_batch(POOL, victim, page, true, 1, |_, _| ()), Batch { end: 3, moves: 1, stale: 1, padding: 0, parity: 0 });
        let mut taken = Vec::new();
        let batch = ftl.move_batch(POOL, victim, page, true, 3, |before, free| taken.push((before, free)));
        assert_eq!(batch, Batch { end: 5, moves: 3, stale: 1, padding: 0, parity: 0 });
        assert_eq!(taken, [(0, ftl.blocks().free_count(POOL))]);
        assert_eq!((ftl.owed(POOL), ftl.lookup(lpn)), (58, None));
        ftl.check().unwrap();
    }

    #[test]
    fn a_batch_of_no_moves_leaves_the_one_that_has_begun() {
        let mut ftl = drive(64, Sharing::Separate);
        ftl.trim(Lpn(9));
        let victim = ftl.blocks().fewest_valid(POOL).unwrap();
        ftl.start_job(POOL, victim);
        let nothing = Batch { end: 0, moves: 0, stale: 0, padding: 0, parity: 0 };
        assert_eq!(ftl.move_batch(POOL, victim, 0, true, 0, |_, _| ()), nothing);
        assert_eq!(ftl.owed(POOL), 63);
        // The move that has begun is that of the first page of the block.
        assert_eq!(ftl.move_batch(POOL, victim, 0, true, 1, |_, _| ()), Batch { end: 1, moves: 1, ..nothing });
        assert_eq!(ftl.owed(POOL), 62);
    }

    /// No block is open for the moves of a job when it starts: the first move takes one, alone or in a batch.
    #[test]
    fn a_job_fills_the_block_that_its_moves_take() {
        for in_a_batch in [false, true] {
            let mut ftl = drive(64, Sharing::Separate);
            ftl.trim(Lpn(3));
            let victim = ftl.blocks().fewest_valid(POOL).unwrap();
            ftl.start_job(POOL, victim);
            let free = ftl.blocks().free_blocks(POOL).next().unwrap();
            assert!(!ftl.job_fills(POOL, free));
            if in_a_batch {
                assert_eq!(ftl.move_batch(POOL, victim, 0, false, 1, |_, _| ()).moves, 1);
            } else {
                let (_, source, _) = ftl.next_move(victim, 0).expect("it has valid pages");
                let moved_to = ftl.allocate_move(POOL, ftl.class_to_move(source)).ppn;
                assert_eq!(ftl.geometry().split_page(moved_to).0, free);
            }
            assert!(ftl.job_fills(POOL, free), "in a batch: {in_a_batch}");
        }
    }

    /// Pages with operations under way have their map entries in pins.
    #[test]
    fn pinned_pages_move_in_a_batch_too() {
        let mut ftl = drive(64, Sharing::Separate);
        ftl.trim(Lpn(3));
        ftl.set_chain(Lpn(4), None, Some((7, 8)));
        let victim = ftl.blocks().fewest_valid(POOL).unwrap();
        let before = ftl.lookup(Lpn(4)).unwrap();
        let moves = ftl.start_job(POOL, victim);
        assert_eq!(ftl.move_batch(POOL, victim, 0, false, u32::MAX, |_, _| ()).moves, moves);
        let after = ftl.lookup(Lpn(4)).unwrap();
        assert!(ftl.geometry().split_page(before).0 == victim && ftl.geometry().split_page(after).0 != victim);
        assert_eq!(ftl.chain(Lpn(4)), Some((7, 8)));
        ftl.check().unwrap();
    }
}
