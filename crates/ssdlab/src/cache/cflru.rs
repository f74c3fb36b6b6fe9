//! Clean-first LRU (Park et al., CFLRU: a replacement algorithm for flash memory, CASES 2006): among the pages unused for longest a clean one
//! goes first, since it need not be written.

use std::collections::BTreeMap;

use super::policy::{Order, Rank, Use};
use super::recency::Recency;
use crate::lists::{EMPTY, Links, List, NONE};

/// CFLRU: for each class all entries and the clean ones (a tree, as entries become clean in any order); for all together the order of use, in
/// which the window is a place.
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
    kept: u32,
    /// The youngest entry in the window, or [`NONE`].
    edge: u32,
}

impl Cflru {
    /// For so many entries in so many classes.
    pub fn new(entries: u32, classes: u32, window: u32) -> Self {
        Cflru {
            all: Recency::new(entries, classes),
            clean: vec![BTreeMap::new(); classes as usize],
            is_clean: vec![false; entries as usize],
            together: Links::new(entries as usize),
            order: EMPTY,
            window,
            kept: 0,
            edge: NONE,
        }
    }

    fn in_window(&self, entry: u32) -> bool {
        self.edge != NONE && self.all.stamp(entry) <= self.all.stamp(self.edge)
    }
}

impl Order for Cflru {
    fn keep(&mut self, entry: u32, _: u32, class: u32, used: Use) {
        self.all.push(class, entry);
        self.together.push(&mut self.order, entry);
        self.is_clean[entry as usize] = !used.dirty;
        if !used.dirty {
            self.clean[class as usize].insert(self.all.stamp(entry), entry);
        }
        self.kept += 1;
        if self.kept <= self.window {
            self.edge = entry;
        }
    }

    fn touch(&mut self, entry: u32, page: u32, (from, to): (u32, u32), used: Use) {
        self.forget(entry, from);
        self.keep(entry, page, to, used);
    }

    fn forget(&mut self, entry: u32, class: u32) {
        if self.in_window(entry) {
            // The next younger entry moves into the window; without one it is smaller now.
            let younger = self.together.next(self.edge);
            if younger != NONE {
                self.edge = younger;
            } else if entry == self.edge {
                self.edge = self.together.previous(entry);
            }
        }
        self.kept -= 1;
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
