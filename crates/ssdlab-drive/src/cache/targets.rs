//! What a cache knows of the next storage level: the target of a page, and whether GC runs there. In a drive a target is a chip; above an
//! array it is a drive (wu2017 section 3.2).

use crate::views::TurnNews;
use ssdlab_base::units::{Ns, PoolId};

/// The chips or drives that store the pages of a cache.
pub trait Targets {
    /// Number of targets.
    fn targets(&self) -> u32;
    /// The target that stores a page, or will store it. `None`: not decided yet (dynamic allocation).
    fn target_of(&self, page: u32) -> Option<u32>;
    /// Writes do not change the target of a page.
    fn targets_are_fixed(&self) -> bool;
    /// GC runs on a target, or (`soon` > 0) one of its pools has fewer than T_soft + `soon` free blocks.
    fn in_gc(&self, target: u32, soon: u32) -> bool;
    /// A read of the page that comes now would wait for GC; the time for which GC remains busy there, ns. `None`: it would not.
    fn gc_ahead(&self, _page: u32) -> Option<Ns> {
        None
    }
    /// Moves what an array does not know yet of turns to collect to `into` (`array.rotation`).
    fn take_turn_news(&mut self, _into: &mut Vec<TurnNews>) {}
    /// It is the turn of a pool to collect. The caller dispatches the store at this instant.
    fn give_turn(&mut self, _now: Ns, _pool: PoolId) {}
    /// Calls back with the position of each active job for space that needs its turn, its pool, and whether it is its turn.
    fn jobs_in_turn(&self, _each: &mut dyn FnMut(u32, PoolId, bool)) {}
    /// The page has been written and not trimmed since.
    fn holds_data(&self, page: u32) -> bool;
    /// The groups of pages that a sequential fill puts into one block.
    fn groups(&self) -> Groups;
}

/// The partition of pages into groups: the pages that a sequential fill puts into one block, or (one place) contiguous addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    /// Pages of a group.
    pub pages: u32,
    /// Consecutive pages on one place (pool, or drive of an array) before the next place follows.
    pub run: u32,
    /// Places, used round robin.
    pub places: u32,
}

impl Groups {
    /// Groups of `pages` pages with contiguous addresses.
    pub fn contiguous(pages: u32) -> Self {
        Groups { pages, run: 1, places: 1 }
    }

    /// The group of a page, and its offset there.
    #[inline]
    pub fn of(&self, page: u32) -> (u32, u32) {
        let (round, place) = (page / self.run / self.places, page / self.run % self.places);
        let rank = round * self.run + page % self.run;
        (rank / self.pages * self.places + place, rank % self.pages)
    }

    /// The page at an offset of a group: the inverse of [`Groups::of`].
    #[inline]
    pub fn page(&self, group: u32, offset: u32) -> u64 {
        let rank = group / self.places * self.pages + offset;
        let round = u64::from(rank / self.run) * u64::from(self.places) + u64::from(group % self.places);
        round * u64::from(self.run) + u64::from(rank % self.run)
    }

    /// Number of groups of a store of `pages` pages; the last ones may be incomplete.
    pub fn count(&self, pages: u32) -> u32 {
        let ranks = pages.div_ceil(self.run * self.places) * self.run;
        ranks.div_ceil(self.pages) * self.places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_pages_are_inverse() {
        for groups in [
            Groups { pages: 4, run: 1, places: 3 },
            Groups { pages: 4, run: 2, places: 3 },
            Groups { pages: 3, run: 4, places: 2 },
            Groups::contiguous(64),
        ] {
            for page in 0..500 {
                let (group, offset) = groups.of(page);
                assert!(offset < groups.pages && group < groups.count(page + 1));
                assert_eq!(groups.page(group, offset), u64::from(page), "{groups:?}");
            }
        }
        // Two pools, striped page by page: the first four pages of the first pool.
        let striped = Groups { pages: 4, run: 1, places: 2 };
        assert_eq!([0, 2, 4, 6].map(|page| striped.of(page)), [(0, 0), (0, 1), (0, 2), (0, 3)]);
        assert_eq!([1, 8, 9].map(|page| striped.of(page)), [(1, 0), (2, 0), (3, 0)]);
    }
}
