//! Pools: the open block of each stream, and what the pool's job fills.

use super::placement::Class;
use crate::rules::BurstRule;
use serde::{Deserialize, Serialize};
use ssdlab_base::units::{BlockId, Ppn};
use ssdlab_keys::config as keys;
use ssdlab_keys::config::{CLASSES_MAX, HANDLES_MAX, STREAMS_MAX, Stream, Streams};
use ssdlab_keys::geometry::Geometry;

/// Bursts: a write that waits may find a page in the block that a move has taken.
pub const POOL_BURSTS: BurstRule = BurstRule {
    keys: &["ftl.frontier", "ftl.pool"],
    exact: |config| {
        config.gc.priority != keys::Priority::Host || config.ftl.frontier != keys::Frontier::Shared || config.redirects_writes()
    },
};

/// A write frontier: a block being filled.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Frontier {
    /// The block.
    pub block: BlockId,
    /// Offset of the next page (or program) to be programmed; the number of pages of a block if the block is full or there is none.
    pub next_page: u32,
}

impl Frontier {
    /// Allocates the next page of the block (where programs have several pages, the first of the next program).
    #[inline(always)]
    pub fn next(&mut self, geometry: &Geometry) -> Ppn {
        let ppn = geometry.page(self.block, self.next_page);
        self.next_page += geometry.units_per_program;
        ppn
    }
}

/// The open blocks of one pool, and what its job fills.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(C)]
pub struct Pool {
    /// By class: the stream of host writes now.
    hosts: [Stream; CLASSES_MAX],
    /// The first stream of host writes past a cache in SLC mode, or of all.
    direct: Stream,
    /// The first stream of page moves.
    moves: Stream,
    /// Pages that the active job still has to place, in whole programs.
    pub owed: u32,
    /// The open block of each stream; those of streams that the table does not have stay unused. Behind the rest: most drives use the first
    /// two, which share a line of the processor's cache with it.
    pub open: [Frontier; STREAMS_MAX],
    /// By class of page moves: the blocks that the active job, or else the last, fills: one with room when it started, and one taken since. A
    /// job moves no more pages than a block has, so there are no more.
    filling: [[Option<BlockId>; 2]; HANDLES_MAX as usize],
}

impl Pool {
    /// A pool without open blocks; its blocks have `pages` pages.
    pub fn new(pages: u32, streams: Streams) -> Self {
        let none = Frontier { block: BlockId(0), next_page: pages };
        let (hosts, direct) = ([streams.host; CLASSES_MAX], streams.host);
        let filling = [[None; 2]; HANDLES_MAX as usize];
        let mut pool = Pool { open: [none; STREAMS_MAX], hosts, direct, moves: streams.moves, owed: 0, filling };
        pool.send_past_cache(streams.host, streams);
        pool
    }

    /// A job with `moves` pages to move, in whole programs, starts; blocks have `pages` pages.
    pub fn start_job(&mut self, moves: u32, pages: u32, streams: Streams) {
        self.owed = moves;
        for (stream, filling) in streams.of_moves().zip(&mut self.filling) {
            let Frontier { block, next_page } = self.open[usize::from(stream)];
            *filling = [Some(block).filter(|_| next_page < pages), None];
        }
        self.redirect(streams.host_during_job, streams);
    }

    /// Host writes of all classes fill streams from `first` on, past a cache in SLC mode.
    pub fn send_past_cache(&mut self, first: Stream, streams: Streams) {
        self.direct = first;
        (0..streams.host_classes).for_each(|class| self.send(class, first + class));
        if let Some(map) = streams.map {
            self.send(streams.host_classes, if map < streams.slc { map } else { first + streams.map_class });
        }
    }

    /// Host writes of a class fill this stream from now on.
    #[inline(always)]
    pub fn send(&mut self, class: Class, stream: Stream) {
        self.hosts[usize::from(class) % CLASSES_MAX] = stream;
    }

    /// Host writes that go past a cache in SLC mode fill streams from `first` on. The caller then steers them.
    #[inline(always)]
    fn redirect(&mut self, first: Stream, streams: Streams) {
        if self.direct != first {
            self.send_past_cache(first, streams);
        }
    }

    /// The active job has taken a free block to fill with a class.
    pub fn job_took(&mut self, class: Class, block: BlockId) {
        self.filling[usize::from(class)][1] = Some(block);
    }

    /// The active job has ended.
    pub fn end_job(&mut self, streams: Streams) {
        self.owed = 0;
        self.redirect(streams.host, streams);
    }

    /// The active job, or else the last, fills the block.
    #[inline]
    pub fn job_fills(&self, block: BlockId) -> bool {
        self.filling.iter().any(|blocks| blocks.contains(&Some(block)))
    }

    /// The stream of host writes of a class now.
    #[inline(always)]
    pub fn host_stream(&self, class: Class) -> Stream {
        self.hosts[usize::from(class) % CLASSES_MAX]
    }

    /// The stream of page moves of a class.
    #[inline(always)]
    pub fn move_stream(&self, class: Class) -> Stream {
        self.moves + class
    }

    /// The frontier that host writes of a class fill now.
    #[inline(always)]
    pub fn host(&self, class: Class) -> &Frontier {
        &self.open[usize::from(self.host_stream(class)) % STREAMS_MAX]
    }

    /// Mutable access to the frontier that host writes of a class fill now.
    #[inline(always)]
    pub fn host_mut(&mut self, class: Class) -> &mut Frontier {
        &mut self.open[usize::from(self.host_stream(class)) % STREAMS_MAX]
    }

    /// The frontier that page moves of a class fill.
    #[inline(always)]
    pub fn moves(&self, class: Class) -> &Frontier {
        &self.open[usize::from(self.move_stream(class)) % STREAMS_MAX]
    }

    /// Mutable access to the frontier that page moves of a class fill.
    #[inline(always)]
    pub fn moves_mut(&mut self, class: Class) -> &mut Frontier {
        &mut self.open[usize::from(self.move_stream(class)) % STREAMS_MAX]
    }

    /// The first stream of host writes past a cache in SLC mode, or of all, now.
    #[inline(always)]
    pub fn direct(&self) -> Stream {
        self.direct
    }

    /// Host writes fill another stream than while no job is active.
    #[inline(always)]
    pub fn is_redirected(&self, streams: Streams) -> bool {
        self.direct != streams.host
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_keys::config::{Config, Frontier as Sharing, Scope};

    fn table(frontier: Sharing, scope: Scope) -> Streams {
        let mut config = Config::default();
        (config.ftl.frontier, config.gc.scope) = (frontier, scope);
        Streams::new(&config)
    }

    #[test]
    fn a_job_fills_the_block_that_had_room_and_the_one_that_it_takes() {
        let separate = table(Sharing::Separate, Scope::None);
        let mut pool = Pool::new(4, separate);
        pool.open[1] = Frontier { block: BlockId(5), next_page: 2 };
        pool.start_job(3, 4, separate);
        assert_eq!([5, 7, 0].map(|block| pool.job_fills(BlockId(block))), [true, false, false]);
        pool.job_took(0, BlockId(7));
        pool.end_job(separate);
        assert_eq!([5, 7, 0].map(|block| pool.job_fills(BlockId(block))), [true, true, false]);
        pool.open[1] = Frontier { block: BlockId(7), next_page: 4 };
        pool.start_job(1, 4, separate);
        assert_eq!([5, 7].map(|block| pool.job_fills(BlockId(block))), [false; 2], "the block was full when the job started");
    }

    #[test]
    fn a_job_owes_nothing_once_it_has_ended() {
        let shared = table(Sharing::Shared, Scope::None);
        let mut pool = Pool::new(4, shared);
        pool.start_job(3, 4, shared);
        assert_eq!(pool.owed, 3);
        pool.end_job(shared);
        assert_eq!(pool.owed, 0);
    }

    #[test]
    fn host_writes_leave_the_block_of_the_moves_while_a_job_is_active() {
        let redirected = table(Sharing::Shared, Scope::Block);
        let mut pool = Pool::new(4, redirected);
        let seen = |pool: &Pool| (redirected.of_moves().contains(&pool.host_stream(0)), pool.is_redirected(redirected));
        assert_eq!(seen(&pool), (true, false));
        pool.start_job(1, 4, redirected);
        assert_eq!(seen(&pool), (false, true));
        pool.end_job(redirected);
        assert_eq!(seen(&pool), (true, false));
    }
}
