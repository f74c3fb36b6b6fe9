//! Lists in the order of last use. Each unit has a stamp, so that units of several lists can be compared.

use crate::lists::{EMPTY, Links, List, NONE};

/// Stamps of used units count up from here; stamps of units to evict next count down.
const MIDDLE: u64 = 1 << 62;

/// Units in any number of lists, each from the least to the most recently used.
#[derive(Clone, Debug)]
pub struct Recency {
    links: Links,
    lists: Vec<List>,
    stamps: Vec<u64>,
    /// By list: the stamp of its least recently used unit; [`u64::MAX`] if the list is empty. Apart from the lists, since evictions compare
    /// those of all lists.
    first_stamps: Vec<u64>,
    youngest: u64,
    oldest: u64,
}

impl Recency {
    /// `lists` empty lists for `units` units.
    pub fn new(units: u32, lists: u32) -> Self {
        Recency {
            links: Links::new(units as usize),
            lists: vec![EMPTY; lists as usize],
            stamps: vec![0; units as usize],
            first_stamps: vec![u64::MAX; lists as usize],
            youngest: MIDDLE,
            oldest: MIDDLE,
        }
    }

    /// The least recently used unit of a list, or [`NONE`].
    #[inline]
    pub fn first(&self, list: u32) -> u32 {
        self.lists[list as usize].head
    }

    /// A list, least recently used first.
    pub fn chain(&self, list: u32) -> impl Iterator<Item = u32> + '_ {
        self.links.chain(self.lists[list as usize])
    }

    /// Number of uses of units since the last use of this one.
    pub fn age(&self, unit: u32) -> u64 {
        self.youngest - self.stamps[unit as usize]
    }

    /// When a unit was used last: larger is later.
    #[inline]
    pub fn stamp(&self, unit: u32) -> u64 {
        self.stamps[unit as usize]
    }

    /// The list and the unit of it that was used least recently among the first units of all lists that `eligible` accepts. It is called
    /// only with lists whose first unit was used before those of all eligible lists before it.
    #[inline]
    pub fn first_of(&self, eligible: impl Fn(u32) -> bool) -> Option<(u32, u32)> {
        let (mut least, mut found) = (u64::MAX, NONE);
        for (list, &stamp) in (0..).zip(&self.first_stamps) {
            if stamp < least && eligible(list) {
                (least, found) = (stamp, list);
            }
        }
        (found != NONE).then(|| (found, self.first(found)))
    }

    /// Call when the first unit of a list, or its stamp, may have changed.
    #[inline(always)]
    fn note_first(&mut self, list: u32) {
        let first = self.first(list);
        self.first_stamps[list as usize] = if first == NONE { u64::MAX } else { self.stamps[first as usize] };
    }

    /// Adds a unit as the most recently used.
    #[inline]
    pub fn push(&mut self, list: u32, unit: u32) {
        self.youngest += 1;
        self.stamps[unit as usize] = self.youngest;
        self.links.push(&mut self.lists[list as usize], unit);
        self.note_first(list);
    }

    /// Adds a unit to be evicted before all others.
    pub fn push_oldest(&mut self, list: u32, unit: u32) {
        self.oldest -= 1;
        self.stamps[unit as usize] = self.oldest;
        self.links.push_front(&mut self.lists[list as usize], unit);
        self.note_first(list);
    }

    /// Adds a unit with its present stamp. The cost is proportional to the number of younger units in the list.
    pub fn insert(&mut self, list: u32, unit: u32) {
        let mut before = self.lists[list as usize].tail;
        while before != NONE && self.stamps[before as usize] > self.stamps[unit as usize] {
            before = self.links.previous(before);
        }
        self.links.insert_after(&mut self.lists[list as usize], before, unit);
        self.note_first(list);
    }

    /// Removes a unit; it keeps its stamp.
    #[inline]
    pub fn remove(&mut self, list: u32, unit: u32) {
        self.links.unlink(&mut self.lists[list as usize], unit);
        self.note_first(list);
    }
}
