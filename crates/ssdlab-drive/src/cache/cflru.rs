//! Clean-first LRU (Park et al., CFLRU: a replacement algorithm for flash memory, CASES 2006): among the least recently used pages a clean
//! one is evicted first, as it is not destaged.

use std::collections::BTreeMap;

use super::policy::{Order, Rank, Use};
use super::recency::Recency;
use crate::lists::{EMPTY, Links, List, NONE};

/// CFLRU: per class all entries and the clean ones (a tree, as entries become clean in any order); over all classes the order of use, whose
/// old end is the clean-first window.
#[derive(Clone, Debug)]
pub struct Cflru {
    all: Recency,
    /// By class: the clean entries by their stamps.
    clean: Vec<BTreeMap<u64, u32>>,
    is_clean: Vec<bool>,
    together: Links,
    order: List,
    /// Entries in the window, at most.
    window: u32,
    cached: u32,
    /// The youngest entry in the window, or [`NONE`].
    edge: u32,
}

impl Cflru {
    /// A policy for `entries` cache entries in `classes` classes, with up to `window` entries in the clean-first window.
    pub fn new(entries: u32, classes: u32, window: u32) -> Self {
        Cflru {
            all: Recency::new(entries, classes),
            clean: vec![BTreeMap::new(); classes as usize],
            is_clean: vec![false; entries as usize],
            together: Links::new(entries as usize),
            order: EMPTY,
            window,
            cached: 0,
            edge: NONE,
        }
    }

    fn in_window(&self, entry: u32) -> bool {
        self.edge != NONE && self.all.stamp(entry) <= self.all.stamp(self.edge)
    }
}

impl Order for Cflru {
    fn insert(&mut self, entry: u32, _: u32, class: u32, used: Use) {
        self.all.push(class, entry);
        self.together.push(&mut self.order, entry);
        self.is_clean[entry as usize] = !used.dirty;
        if !used.dirty {
            self.clean[class as usize].insert(self.all.stamp(entry), entry);
        }
        self.cached += 1;
        if self.cached <= self.window {
            self.edge = entry;
        }
    }

    fn touch(&mut self, entry: u32, page: u32, (from, to): (u32, u32), used: Use) {
        self.remove(entry, from);
        self.insert(entry, page, to, used);
    }

    fn remove(&mut self, entry: u32, class: u32) {
        if self.in_window(entry) {
            // The next younger entry moves into the window; without one the window shrinks.
            let younger = self.together.next(self.edge);
            if younger != NONE {
                self.edge = younger;
            } else if entry == self.edge {
                self.edge = self.together.previous(entry);
            }
        }
        self.cached -= 1;
        self.together.unlink(&mut self.order, entry);
        self.all.remove(class, entry);
        if self.is_clean[entry as usize] {
            self.clean[class as usize].remove(&self.all.stamp(entry));
        }
    }

    fn cleaned(&mut self, entry: u32, class: u32) {
        self.is_clean[entry as usize] = true;
        self.clean[class as usize].insert(self.all.stamp(entry), entry);
    }

    fn first(&self, class: u32) -> Option<(Rank, u32)> {
        if let Some((&stamp, &clean)) = self.clean[class as usize].first_key_value()
            && self.in_window(clean)
        {
            return Some(((0, stamp), clean));
        }
        let oldest = self.all.first(class);
        (oldest != NONE).then(|| ((1, self.all.stamp(oldest)), oldest))
    }
}
