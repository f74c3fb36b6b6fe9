//! The write frontiers of a pool: which of them host writes and page moves fill.
//!
//! | frontiers | host writes | page moves |
//! |---|---|---|
//! | separate | 0 | 1 |
//! | shared | 0 | 0 |
//! | shared, redirecting | 0; 1 while a job is active | 0 |

use crate::config::{Config, Frontier as Sharing};
use crate::geometry::Geometry;
use crate::units::{BlockId, Ppn};

/// A write frontier: a block being filled.
#[derive(Clone, Copy, Debug)]
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

/// The write frontiers of one pool, and what its job fills.
#[derive(Clone, Copy, Debug)]
pub struct Pool {
    /// The blocks being filled; with a shared frontier that is not redirected the second stays unused.
    pub frontiers: [Frontier; 2],
    /// Indices in `frontiers`: of the block that host writes fill now, and of the block that page moves fill.
    host: u8,
    gc: u8,
    /// Pages that the active job still has to place, in whole programs.
    pub owed: u32,
    /// The blocks that the active job, or else the last, fills: one with room when it started, and one taken since. A job moves fewer pages
    /// than a block has, so there are no more.
    filling: [Option<BlockId>; 2],
}

impl Pool {
    /// A pool without open blocks; its blocks have `pages` pages.
    pub fn new(pages: u32, frontiers: Frontiers) -> Self {
        let none = Frontier { block: BlockId(0), next_page: pages };
        Pool { frontiers: [none; 2], host: 0, gc: u8::from(frontiers == Frontiers::Separate), owed: 0, filling: [None; 2] }
    }

    /// A job with `moves` pages to move, in whole programs, starts; blocks have `pages` pages.
    pub fn start_job(&mut self, moves: u32, pages: u32, frontiers: Frontiers) {
        self.owed = moves;
        self.filling = [Some(self.gc().block).filter(|_| self.gc().next_page < pages), None];
        if frontiers == Frontiers::Redirected {
            self.host = 1;
        }
    }

    /// The active job has taken a free block to fill.
    pub fn job_took(&mut self, block: BlockId) {
        self.filling[1] = Some(block);
    }

    /// The active job has ended.
    pub fn end_job(&mut self, frontiers: Frontiers) {
        self.owed = 0;
        if frontiers == Frontiers::Redirected {
            self.host = 0;
        }
    }

    /// The active job, or else the last, fills the block.
    #[inline]
    pub fn job_fills(&self, block: BlockId) -> bool {
        self.filling.contains(&Some(block))
    }

    /// The block that host writes fill now.
    #[inline(always)]
    pub fn host(&self) -> &Frontier {
        &self.frontiers[usize::from(self.host)]
    }

    /// Mutable access to the block that host writes fill now.
    #[inline(always)]
    pub fn host_mut(&mut self) -> &mut Frontier {
        &mut self.frontiers[usize::from(self.host)]
    }

    /// The block that the pool's jobs fill.
    #[inline(always)]
    pub fn gc(&self) -> &Frontier {
        &self.frontiers[usize::from(self.gc)]
    }

    /// Mutable access to the block that the pool's jobs fill.
    #[inline(always)]
    pub fn gc_mut(&mut self) -> &mut Frontier {
        &mut self.frontiers[usize::from(self.gc)]
    }

    /// Host writes and page moves fill the same block now.
    #[inline(always)]
    pub fn shares(&self) -> bool {
        self.host == self.gc
    }

    /// Host writes go to another block than the shared frontier now.
    #[inline(always)]
    pub fn is_redirected(&self) -> bool {
        self.host > self.gc
    }
}

/// How host writes and page moves share the write frontiers of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frontiers {
    /// Host writes and page moves fill one block together.
    Shared,
    /// Host writes and page moves fill one block, but while a job is active it has that block to itself, and host writes fill another.
    Redirected,
    /// Host writes and page moves fill a block each.
    Separate,
}

impl Frontiers {
    /// The sharing that a configuration asks for (`ftl.frontier`; redirected with `gc.scope = "block"`).
    pub fn new(config: &Config) -> Self {
        match config.ftl.frontier {
            Sharing::Separate => Frontiers::Separate,
            Sharing::Shared if config.redirects_writes() => Frontiers::Redirected,
            Sharing::Shared => Frontiers::Shared,
        }
    }

    /// The most blocks of a pool that are open at a time.
    pub fn count(self) -> u32 {
        if self == Frontiers::Shared { 1 } else { 2 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_fills_the_block_that_had_room_and_the_one_that_it_takes() {
        let mut pool = Pool::new(4, Frontiers::Separate);
        pool.frontiers[1] = Frontier { block: BlockId(5), next_page: 2 };
        pool.start_job(3, 4, Frontiers::Separate);
        assert_eq!([5, 7, 0].map(|block| pool.job_fills(BlockId(block))), [true, false, false]);
        pool.job_took(BlockId(7));
        pool.end_job(Frontiers::Separate);
        assert_eq!([5, 7, 0].map(|block| pool.job_fills(BlockId(block))), [true, true, false]);
        pool.frontiers[1] = Frontier { block: BlockId(7), next_page: 4 };
        pool.start_job(1, 4, Frontiers::Separate);
        assert_eq!([5, 7].map(|block| pool.job_fills(BlockId(block))), [false; 2], "the block was full when the job started");
    }

    #[test]
    fn a_job_owes_nothing_once_it_has_ended() {
        let mut pool = Pool::new(4, Frontiers::Shared);
        pool.start_job(3, 4, Frontiers::Shared);
        assert_eq!(pool.owed, 3);
        pool.end_job(Frontiers::Shared);
        assert_eq!(pool.owed, 0);
    }

    #[test]
    fn as_many_blocks_are_open_as_the_table_says() {
        assert_eq!([Frontiers::Shared, Frontiers::Redirected, Frontiers::Separate].map(Frontiers::count), [1, 2, 2]);
    }
}
