//! Pages of the cache by group, for the policies that evict whole groups.

use super::targets::Groups;
use crate::lists::{EMPTY, Links, List, NONE};

/// The groups with pages in the cache, in slots, with their entries.
#[derive(Clone, Debug)]
pub struct Grouping {
    groups: Groups,
    /// Pages of the store.
    pages: u32,
    /// By group: its slot + 1, or 0.
    slot_of: Vec<u32>,
    free: Vec<u32>,
    slots: Vec<Slot>,
    members: Links,
    /// By entry: the slot of its group.
    slot_of_entry: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    group: u32,
    members: List,
    count: u32,
}

impl Grouping {
    /// No groups, with room for `entries` cache entries of a store of `pages` pages.
    pub fn new(groups: Groups, pages: u32, entries: u32) -> Self {
        Grouping {
            groups,
            pages,
            slot_of: vec![0; groups.count(pages) as usize],
            free: (0..entries).rev().collect(),
            slots: vec![Slot { group: 0, members: EMPTY, count: 0 }; entries as usize],
            members: Links::new(entries as usize),
            slot_of_entry: vec![0; entries as usize],
        }
    }

    /// Adds an entry. Returns the slot of its group, and the number of cached pages of the group before.
    pub fn add(&mut self, entry: u32, page: u32) -> (u32, u32) {
        let group = self.groups.of(page).0;
        let mut slot = self.slot_of[group as usize].wrapping_sub(1);
        if slot == NONE {
            slot = self.free.pop().expect("no more groups than entries");
            self.slot_of[group as usize] = slot + 1;
            self.slots[slot as usize] = Slot { group, members: EMPTY, count: 0 };
        }
        self.slot_of_entry[entry as usize] = slot;
        let place = &mut self.slots[slot as usize];
        self.members.push(&mut place.members, entry);
        place.count += 1;
        (slot, place.count - 1)
    }

    /// Removes an entry. Returns the slot of its group, and the number of cached pages of the group now.
    pub fn remove(&mut self, entry: u32) -> (u32, u32) {
        let slot = self.slot_of_entry[entry as usize];
        let place = &mut self.slots[slot as usize];
        self.members.unlink(&mut place.members, entry);
        place.count -= 1;
        if place.count == 0 {
            self.slot_of[place.group as usize] = 0;
            self.free.push(slot);
        }
        (slot, self.slots[slot as usize].count)
    }

    /// The slot of an entry's group.
    pub fn slot(&self, entry: u32) -> u32 {
        self.slot_of_entry[entry as usize]
    }

    /// Number of entries in a slot.
    pub fn count(&self, slot: u32) -> u32 {
        self.slots[slot as usize].count
    }

    /// The entries in a slot, in the order of their insertion.
    pub fn entries(&self, slot: u32) -> impl Iterator<Item = u32> + '_ {
        self.members.chain(self.slots[slot as usize].members)
    }

    /// The offset of a page in its group.
    pub fn offset(&self, page: u32) -> u32 {
        self.groups.of(page).1
    }

    /// Pages of a slot's group; the last groups of the store may be smaller.
    pub fn size(&self, slot: u32) -> u32 {
        let group = self.slots[slot as usize].group;
        (0..self.groups.pages).rev().find(|&offset| self.groups.page(group, offset) < self.pages.into()).map_or(0, |last| last + 1)
    }

    /// The pages of a slot's group, ascending.
    pub fn pages(&self, slot: u32) -> impl Iterator<Item = u32> + '_ {
        let group = self.slots[slot as usize].group;
        (0..self.groups.pages)
            .map(move |offset| self.groups.page(group, offset))
            .filter(|&page| page < self.pages.into())
            .map(|page| page as u32)
    }
}
