//! The translation pages in memory, and which of them is replaced.

use crate::lists::{EMPTY, Links, List, NONE};
use ssdlab_keys::config::MapCachePolicy;
use ssdlab_result::timeline::Origin;

/// State of a slot and its translation page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// The slot is empty.
    Free,
    /// The page that the translation page replaces is being written back.
    WaitsForMemory,
    /// The translation page is being read.
    IsRead,
    /// The translation page is in memory.
    Ready,
}

/// The command that missed a translation page: its origin and priority.
#[derive(Clone, Copy, Debug)]
pub(super) struct Client {
    pub(super) origin: Origin,
    pub(super) high_priority: bool,
}

/// A slot: memory for one translation page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) page: u32,
    pub(super) progress: Progress,
    /// Entries of the page have changed since it was read or written.
    pub(super) dirty: bool,
    /// For `clock`: the page was used since it came or was last passed over.
    referenced: bool,
    /// The command that missed the page changes all of its entries, so that the page is not read.
    pub(super) whole: bool,
    pub(super) client: Option<Client>,
    /// The commands that wait for the page: the first and the last of a list, or [`NONE`].
    pub(super) waiters: (u32, u32),
}

const NOTHING: Slot =
    Slot { page: NONE, progress: Progress::Free, dirty: false, referenced: false, whole: false, client: None, waiters: (NONE, NONE) };

/// All translation pages in memory.
pub(super) struct Pages {
    policy: MapCachePolicy,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// By translation page: its slot, or [`NONE`].
    slot_of: Vec<u32>,
    /// Slots in use, in order of replacement: the first is replaced next.
    order: List,
    links: Links,
}

impl Pages {
    pub(super) fn new(policy: MapCachePolicy, capacity: u32, pages: u32) -> Self {
        Pages {
            policy,
            slots: vec![NOTHING; capacity as usize],
            // The lowest number is taken first.
            free: (0..capacity).rev().collect(),
            slot_of: vec![NONE; pages as usize],
            order: EMPTY,
            links: Links::new(capacity as usize),
        }
    }

    pub(super) fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// The slot of a translation page, or [`NONE`].
    #[inline(always)]
    pub(super) fn slot_of(&self, page: u32) -> u32 {
        self.slot_of[page as usize]
    }

    #[inline(always)]
    pub(super) fn get(&self, slot: u32) -> &Slot {
        &self.slots[slot as usize]
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, slot: u32) -> &mut Slot {
        &mut self.slots[slot as usize]
    }

    /// The translation page is in memory, or on its way there, and has changed.
    pub(super) fn is_dirty(&self, page: u32) -> bool {
        let slot = self.slot_of(page);
        slot != NONE && self.get(slot).dirty
    }

    /// Number of slots in use, and number of dirty slots.
    pub(super) fn in_use(&self) -> (u64, u64) {
        let dirty = self.slots.iter().filter(|slot| slot.dirty).count();
        ((self.slots.len() - self.free.len()) as u64, dirty as u64)
    }

    /// Notes a use of the translation page in a slot, for the replacement policy.
    pub(super) fn touch(&mut self, slot: u32) {
        match self.policy {
            MapCachePolicy::Lru => self.put_last(slot),
            MapCachePolicy::Fifo => {}
            MapCachePolicy::Clock => self.get_mut(slot).referenced = true,
        }
    }

    fn put_last(&mut self, slot: u32) {
        self.links.unlink(&mut self.order, slot);
        self.links.push(&mut self.order, slot);
    }

    /// The slot for a missing translation page: a free slot, or the slot of the page to replace. `None` if that page is still on
    /// its way into memory. Repeated calls without a use in between give the same slot.
    pub(super) fn choose(&mut self) -> Option<u32> {
        if let Some(&slot) = self.free.last() {
            return Some(slot);
        }
        // Only `clock` sets `referenced`: such slots are passed over and move to the end.
        while self.get(self.order.head).referenced {
            let slot = self.order.head;
            self.get_mut(slot).referenced = false;
            self.put_last(slot);
        }
        Some(self.order.head).filter(|&slot| self.get(slot).progress == Progress::Ready)
    }

    /// A translation page takes a slot from [`Pages::choose`]. Returns the page that it replaces, and whether that is dirty.
    pub(super) fn replace(&mut self, slot: u32, page: u32) -> Option<(u32, bool)> {
        let before = *self.get(slot);
        let replaced = before.progress == Progress::Ready;
        if replaced {
            self.slot_of[before.page as usize] = NONE;
            self.put_last(slot);
        } else {
            self.free.pop();
            self.links.push(&mut self.order, slot);
        }
        *self.get_mut(slot) = Slot { page, progress: Progress::WaitsForMemory, ..NOTHING };
        self.slot_of[page as usize] = slot;
        replaced.then_some((before.page, before.dirty))
    }

    /// Recounts the redundant state.
    ///
    /// # Errors
    /// The first contradiction found.
    pub(super) fn check(&self) -> Result<(), String> {
        let listed = self.links.chain(self.order).count();
        let used = self.slots.iter().filter(|slot| slot.progress != Progress::Free).count();
        let found = self.slot_of.iter().filter(|&&slot| slot != NONE).count();
        if listed != used || found != used || used + self.free.len() != self.slots.len() {
            return Err(format!("{used} translation pages are in memory, but {listed} are listed and {found} are found"));
        }
        let lost = |(page, &slot): (usize, &u32)| slot != NONE && self.get(slot).page as usize != page;
        match self.slot_of.iter().enumerate().find(|&at| lost(at)) {
            Some((page, slot)) => Err(format!("translation page {page} is looked for in slot {slot}, which has another")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pages in memory after `uses`, a sequence of used pages.
    fn left_after(policy: MapCachePolicy, uses: &[u32]) -> Vec<u32> {
        let mut pages = Pages::new(policy, 3, 10);
        for &page in uses {
            let slot = pages.slot_of(page);
            if slot != NONE {
                pages.touch(slot);
                continue;
            }
            let slot = pages.choose().expect("all are there");
            pages.replace(slot, page);
            pages.get_mut(slot).progress = Progress::Ready;
            pages.check().unwrap();
        }
        (0..10).filter(|&page| pages.slot_of(page) != NONE).collect()
    }

    #[test]
    fn each_policy_replaces_another_page() {
        // 0 came first and was used last; 1 came next and was never used again; 2 came last.
        let uses = [0, 1, 2, 1, 0, 3];
        assert_eq!(left_after(MapCachePolicy::Lru, &uses), [0, 1, 3]);
        assert_eq!(left_after(MapCachePolicy::Fifo, &uses), [1, 2, 3]);
        // 0 and 1 are passed over; 2 is replaced. Then 0 is first, and has no second chance left.
        assert_eq!(left_after(MapCachePolicy::Clock, &uses), [0, 1, 3]);
        assert_eq!(left_after(MapCachePolicy::Clock, &[0, 1, 2, 1, 0, 3, 4]), [1, 3, 4]);
    }

    #[test]
    fn a_page_that_is_not_there_is_not_replaced() {
        let mut pages = Pages::new(MapCachePolicy::Lru, 1, 10);
        let slot = pages.choose().unwrap();
        assert_eq!(pages.replace(slot, 4), None);
        assert_eq!(pages.choose(), None);
        pages.get_mut(slot).progress = Progress::Ready;
        pages.get_mut(slot).dirty = true;
        assert_eq!(pages.choose(), Some(slot));
        assert_eq!(pages.replace(slot, 5), Some((4, true)));
        pages.slot_of[7] = slot;
        assert!(pages.check().unwrap_err().contains("1 translation pages are in memory"));
        pages.slot_of[5] = NONE;
        assert!(pages.check().unwrap_err().contains("translation page 7"));
    }
}
