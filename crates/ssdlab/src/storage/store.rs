//! The one interface that a drive, an array of drives and a cache have in common, so that each can stand on each.

use crate::request::Request;
use crate::stats::Completion;
use crate::units::Ns;

/// Something that takes requests and completes them.
///
/// At an instant its user calls [`Store::handle_events`], then [`Store::accept`] any number of times, then [`Store::dispatch`]; completions may
/// appear in each of them. Requests that touch a common page take effect in the order in which they were accepted: a read returns what the
/// last write accepted before it wrote, even if that is still under way.
pub trait Store {
    /// Begins at time 0.
    fn begin(&mut self);
    /// Takes in a request that arrives now, inside the exported range. `index` is for its completion.
    fn accept(&mut self, now: Ns, index: u64, request: Request);
    /// The same for a write of sectors of one page that do not follow each other; `request` is the page. What is not written is kept.
    fn accept_scattered(&mut self, now: Ns, index: u64, request: Request);
    /// When the next event is due. Never before the present; at the present, if there is more to do at this instant.
    fn next_event(&self) -> Option<Ns>;
    /// Handles all events due at `now`.
    fn handle_events(&mut self, now: Ns);
    /// Lets begin what can begin now.
    fn dispatch(&mut self, now: Ns);
    /// Moves the completions since the last call to `into`.
    fn drain_completions(&mut self, into: &mut Vec<Completion>);

    /// User bytes of a page.
    fn page_bytes(&self) -> u32;
    /// Pages that can be addressed.
    fn exported_pages(&self) -> u32;
    /// Homes of pages: what collects garbage by itself. The chips of a drive, the drives of an array.
    fn homes(&self) -> u32;
    /// Where a page is, or will be when it is written. `None`: nobody knows yet (dynamic allocation).
    fn home_of(&self, page: u32) -> Option<u32>;
    /// A page keeps its home whatever is written.
    fn homes_are_fixed(&self) -> bool;
    /// A home collects garbage, or, with `soon` > 0, has a pool with fewer than T_soft + `soon` free blocks.
    fn in_gc(&self, home: u32, soon: u32) -> bool;
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
                assert!(offset < groups.pages);
                assert_eq!(groups.page(group, offset), u64::from(page), "{groups:?}");
            }
        }
        // Two pools, striped page by page: the first four pages of the first pool.
        let striped = Groups { pages: 4, run: 1, places: 2 };
        assert_eq!([0, 2, 4, 6].map(|page| striped.of(page)), [(0, 0), (0, 1), (0, 2), (0, 3)]);
        assert_eq!([1, 8, 9].map(|page| striped.of(page)), [(1, 0), (2, 0), (3, 0)]);
    }
}
