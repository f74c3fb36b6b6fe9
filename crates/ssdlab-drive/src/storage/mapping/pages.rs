//! The translation pages or entries in memory, called items, and which of them is replaced.

use std::ops::Range;

use crate::lists::{EMPTY, Links, List, NONE};
use ssdlab_keys::config::MapCachePolicy;
use ssdlab_result::timeline::Origin;

/// State of a slot and its item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// The slot is empty.
    Free,
    /// The translation page that the item replaces is being written back.
    WaitsForMemory,
    /// The translation page is being read.
    IsRead,
    /// The item is in memory.
    Ready,
}

/// The command that missed an item: its origin and priority.
#[derive(Clone, Copy, Debug)]
pub(super) struct Client {
    pub(super) origin: Origin,
    pub(super) high_priority: bool,
}

/// A slot: memory for one item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// The number of the translation page, or the unit whose entry it is.
    pub(super) item: u32,
    pub(super) progress: Progress,
    /// The item has changed since it was read or written.
    pub(super) dirty: bool,
    /// For `clock`: the item was used since it came or was last passed over.
    referenced: bool,
    /// The command that missed the translation page changes all of its entries, so that the page is not read.
    pub(super) whole: bool,
    pub(super) client: Option<Client>,
    /// The commands that wait for the item: the first and the last of a list, or [`NONE`].
    pub(super) waiters: (u32, u32),
}

const NOTHING: Slot =
    Slot { item: NONE, progress: Progress::Free, dirty: false, referenced: false, whole: false, client: None, waiters: (NONE, NONE) };

/// All items in memory.
pub(super) struct Pages {
    policy: MapCachePolicy,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// By item: the number of its slot plus 1; 0 if it is not in memory. (Memory of zeros costs nothing until it is used.)
    places: Vec<u32>,
    /// Slots in use, in order of replacement: the first is replaced next.
    order: List,
    links: Links,
}

impl Pages {
    pub(super) fn new(policy: MapCachePolicy, capacity: u32, items: u32) -> Self {
        Pages {
            policy,
            slots: vec![NOTHING; capacity as usize],
            // The lowest number is taken first.
            free: (0..capacity).rev().collect(),
            places: vec![0; items as usize],
            order: EMPTY,
            links: Links::new(capacity as usize),
        }
    }

    pub(super) fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// The slot of an item, or [`NONE`].
    #[inline(always)]
    pub(super) fn slot_of(&self, item: u32) -> u32 {
        self.places[item as usize].wrapping_sub(1)
    }

    #[inline(always)]
    pub(super) fn get(&self, slot: u32) -> &Slot {
        &self.slots[slot as usize]
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, slot: u32) -> &mut Slot {
        &mut self.slots[slot as usize]
    }

    /// The item is in memory, or on its way there, and has changed.
    pub(super) fn is_dirty(&self, item: u32) -> bool {
        let slot = self.slot_of(item);
        slot != NONE && self.get(slot).dirty
    }

    /// Number of slots in use, and number of dirty slots.
    pub(super) fn in_use(&self) -> (u64, u64) {
        let dirty = self.slots.iter().filter(|slot| slot.dirty).count();
        ((self.slots.len() - self.free.len()) as u64, dirty as u64)
    }

    /// Items of a translation page have been written with it.
    pub(super) fn clean(&mut self, items: Range<u32>) {
        for item in items {
            let slot = self.slot_of(item);
            if slot != NONE {
                self.get_mut(slot).dirty = false;
            }
        }
    }

    /// Notes a use of the item in a slot, for the replacement policy.
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

    /// The slot for a missing item: a free slot, or the slot of the item to replace. `None` if that item is still on its
    /// way into memory. Repeated calls without a use in between give the same slot.
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

    /// An item takes a slot from [`Pages::choose`]. Returns the item that it replaces, and whether that is dirty.
    pub(super) fn replace(&mut self, slot: u32, item: u32) -> Option<(u32, bool)> {
        let before = *self.get(slot);
        let replaced = before.progress == Progress::Ready;
        if replaced {
            self.places[before.item as usize] = 0;
            self.put_last(slot);
        } else {
            self.free.pop();
            self.links.push(&mut self.order, slot);
        }
        *self.get_mut(slot) = Slot { item, progress: Progress::WaitsForMemory, ..NOTHING };
        self.places[item as usize] = slot + 1;
        replaced.then_some((before.item, before.dirty))
    }

    /// Recounts the redundant state.
    ///
    /// # Errors
    /// The first contradiction found.
    pub(super) fn check(&self) -> Result<(), String> {
        let listed = self.links.chain(self.order).count();
        let used = self.slots.iter().filter(|slot| slot.progress != Progress::Free).count();
        let found = self.places.iter().filter(|&&place| place != 0).count();
        if listed != used || found != used || used + self.free.len() != self.slots.len() {
            return Err(format!("{used} items of the mapping table are in memory, but {listed} are listed and {found} are found"));
        }
        let lost = |&item: &u32| self.places[item as usize] != 0 && self.get(self.slot_of(item)).item != item;
        match (0..self.places.len() as u32).find(lost) {
            Some(item) => Err(format!("item {item} of the mapping table is looked for in slot {}, which has another", self.slot_of(item))),
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
        pages.places[7] = slot + 1;
        assert!(pages.check().unwrap_err().contains("1 items of the mapping table are in memory"));
        pages.places[5] = 0;
        assert!(pages.check().unwrap_err().contains("item 7 of the mapping table"));
    }
}
