//! Flash-aware buffer (Jo et al., FAB: flash-aware buffer management policy for portable media players, IEEE TCE 2006): the group with the
//! most pages is evicted first.

use super::grouping::Grouping;
use super::policy::{Order, Rank, Use};
use super::recency::Recency;

/// FAB: for each class and number of pages a list of groups.
#[derive(Clone, Debug)]
pub struct Fab {
    groups: Grouping,
    recency: Recency,
    /// Lists of a class: one for each number of pages, from 0.
    lists: u32,
    /// By class: pages of the largest group.
    most: Vec<u32>,
}

impl Fab {
    /// A policy for `entries` cache entries in `classes` classes, and groups of `pages` pages.
    pub fn new(groups: Grouping, entries: u32, classes: u32, pages: u32) -> Self {
        let lists = pages + 1;
        Fab { groups, recency: Recency::new(entries, classes * lists), lists, most: vec![0; classes as usize] }
    }

    fn list(&self, class: u32, count: u32) -> u32 {
        class * self.lists + count
    }

    fn remove(&mut self, class: u32, slot: u32, count: u32) {
        self.recency.remove(self.list(class, count), slot);
        let most = self.most[class as usize];
        let rest = (1..=most).rev().find(|&count| self.recency.first(self.list(class, count)) != crate::lists::NONE);
        self.most[class as usize] = rest.unwrap_or(0);
    }

    fn push(&mut self, class: u32, slot: u32, count: u32) {
        self.recency.push(self.list(class, count), slot);
        self.most[class as usize] = self.most[class as usize].max(count);
    }
}

impl Order for Fab {
    fn insert(&mut self, entry: u32, page: u32, class: u32, _: Use) {
        let (slot, before) = self.groups.add(entry, page);
        if before > 0 {
            self.remove(class, slot, before);
        }
        self.push(class, slot, before + 1);
    }

    fn touch(&mut self, entry: u32, _: u32, (from, to): (u32, u32), _: Use) {
        let slot = self.groups.slot(entry);
        let count = self.groups.count(slot);
        self.remove(from, slot, count);
        self.push(to, slot, count);
    }

    fn remove(&mut self, entry: u32, class: u32) {
        let (slot, left) = self.groups.remove(entry);
        self.remove(class, slot, left + 1);
        if left > 0 {
            // A removal does not count as a use: among the groups of its new size it is placed by its last use.
            self.recency.insert(self.list(class, left), slot);
            self.most[class as usize] = self.most[class as usize].max(left);
        }
    }

    fn remove_group(&mut self, entries: &[u32], class: u32) {
        let slot = self.groups.slot(entries[0]);
        self.remove(class, slot, entries.len() as u32);
        for &entry in entries {
            self.groups.remove(entry);
        }
    }

    fn first(&self, class: u32) -> Option<(Rank, u32)> {
        let most = self.most[class as usize];
        if most == 0 {
            return None;
        }
        let slot = self.recency.first(self.list(class, most));
        Some(((u64::from(u32::MAX - most), self.recency.stamp(slot)), slot))
    }

    fn grouping(&self) -> Option<&Grouping> {
        Some(&self.groups)
    }
}
