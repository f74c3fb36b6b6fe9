//! Block padding LRU (Kim and Ahn, BPLRU: a buffer management scheme for improving random writes in flash storage, FAST 2008): groups of a
//! block's pages in the order of their last use. The cache does the padding; this module does LRU compensation: a group written
//! sequentially from its first page to its last is evicted next, as it will hardly be written again soon.

use super::grouping::Grouping;
use super::policy::{Order, Rank, Use};
use super::recency::Recency;
use crate::lists::NONE;

/// The group was not written sequentially from its first page.
const BROKEN: u32 = u32::MAX;

/// BPLRU: a list of groups for each class.
#[derive(Clone, Debug)]
pub struct Bplru {
    groups: Grouping,
    recency: Recency,
    compensates: bool,
    /// By slot: the offset that continues a sequential write of the group, or [`BROKEN`].
    sequence: Vec<u32>,
}

impl Bplru {
    /// A policy for `entries` cache entries in `classes` classes. `compensates`: with LRU compensation.
    pub fn new(groups: Grouping, entries: u32, classes: u32, compensates: bool) -> Self {
        Bplru { groups, recency: Recency::new(entries, classes), compensates, sequence: vec![0; entries as usize] }
    }

    /// The groups of the cached pages.
    pub fn groups(&self) -> &Grouping {
        &self.groups
    }

    /// A page of the group was used: the group becomes the youngest, or, if a sequential write completes it, the next to evict.
    fn place(&mut self, slot: u32, page: u32, class: u32, used: Use) {
        if self.completes(slot, page, used) {
            self.recency.push_oldest(class, slot);
        } else {
            self.recency.push(class, slot);
        }
    }

    fn completes(&mut self, slot: u32, page: u32, used: Use) -> bool {
        if !used.writes || !self.compensates {
            return false;
        }
        let follows = used.whole_page && self.groups.offset(page) == self.sequence[slot as usize];
        let next = if follows { self.sequence[slot as usize] + 1 } else { BROKEN };
        self.sequence[slot as usize] = next;
        follows && next == self.groups.size(slot)
    }
}

impl Order for Bplru {
    fn insert(&mut self, entry: u32, page: u32, class: u32, used: Use) {
        let (slot, before) = self.groups.add(entry, page);
        if before == 0 {
            self.sequence[slot as usize] = 0;
        } else {
            self.recency.remove(class, slot);
        }
        self.place(slot, page, class, used);
    }

    fn touch(&mut self, entry: u32, page: u32, (from, to): (u32, u32), used: Use) {
        let slot = self.groups.slot(entry);
        self.recency.remove(from, slot);
        self.place(slot, page, to, used);
    }

    fn remove(&mut self, entry: u32, class: u32) {
        let (slot, left) = self.groups.remove(entry);
        if left == 0 {
            self.recency.remove(class, slot);
        }
    }

    fn first(&self, class: u32) -> Option<(Rank, u32)> {
        let slot = self.recency.first(class);
        (slot != NONE).then(|| ((0, self.recency.stamp(slot)), slot))
    }

    fn grouping(&self) -> Option<&Grouping> {
        Some(&self.groups)
    }
}
