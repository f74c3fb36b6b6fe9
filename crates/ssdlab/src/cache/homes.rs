//! What a cache knows of that which lies below it: the homes of pages, and whether a home is in GC. In a drive homes are chips, above an array
//! drives (wu2017 section 3.2).

/// The homes of pages.
pub trait Homes {
    /// How many there are.
    fn homes(&self) -> u32;
    /// Where a page is, or will be when it is written. `None`: nobody knows yet (dynamic allocation).
    fn home_of(&self, page: u32) -> Option<u32>;
    /// A page keeps its home whatever is written.
    fn homes_are_fixed(&self) -> bool;
    /// A home collects garbage, or, with `soon` > 0, has a pool with fewer than T_soft + `soon` free blocks.
    fn in_gc(&self, home: u32, soon: u32) -> bool;
    /// The page has been written and not trimmed since.
    fn holds_data(&self, page: u32) -> bool;
    /// The groups of pages that a sequential fill puts into one block.
    fn groups(&self) -> Groups;
}

/// Which pages make a group: `pages` that a sequential fill puts into one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    /// Pages in each.
    pub pages: u32,
    /// Pages that follow each other before the next place (pool, or drive of an array) has its turn.
    pub run: u32,
    /// Places that take turns.
    pub places: u32,
}

impl Groups {
    /// The group of a page, and its offset there.
    #[inline]
    pub fn of(&self, page: u32) -> (u32, u32) {
        let (turn, place) = (page / self.run / self.places, page / self.run % self.places);
        let rank = turn * self.run + page % self.run;
        (rank / self.pages * self.places + place, rank % self.pages)
    }

    /// The page at an offset of a group: the inverse of [`Groups::of`].
    #[inline]
    pub fn page(&self, group: u32, offset: u32) -> u64 {
        let rank = group / self.places * self.pages + offset;
        let turn = u64::from(rank / self.run) * u64::from(self.places) + u64::from(group % self.places);
        turn * u64::from(self.run) + u64::from(rank % self.run)
    }

    /// How many groups `pages` pages make, the last ones perhaps not whole.
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
            Groups { pages: 64, run: 1, places: 1 },
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
