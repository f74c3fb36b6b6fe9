//! The least recently used page is evicted.

use super::policy::{Order, Rank, Use};
use super::recency::Recency;

/// LRU: a list for each class.
#[derive(Clone, Debug)]
pub struct Lru(Recency);

impl Lru {
    /// A policy for `entries` cache entries in `classes` classes.
    pub fn new(entries: u32, classes: u32) -> Self {
        Lru(Recency::new(entries, classes))
    }
}

impl Order for Lru {
    #[inline]
    fn insert(&mut self, entry: u32, _: u32, class: u32, _: Use) {
        self.0.push(class, entry);
    }

    #[inline]
    fn touch(&mut self, entry: u32, _: u32, (from, to): (u32, u32), _: Use) {
        self.0.remove(from, entry);
        self.0.push(to, entry);
    }

    #[inline]
    fn remove(&mut self, entry: u32, class: u32) {
        self.0.remove(class, entry);
    }

    #[inline]
    fn first(&self, class: u32) -> Option<(Rank, u32)> {
        let entry = self.0.first(class);
        (entry != crate::lists::NONE).then(|| ((0, self.0.stamp(entry)), entry))
    }

    #[inline]
    fn first_of(&self, _: u32, eligible: impl Fn(u32) -> bool) -> Option<(u32, u32)> {
        self.0.first_of(eligible)
    }
}
