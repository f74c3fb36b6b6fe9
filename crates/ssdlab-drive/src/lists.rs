//! Doubly linked lists over a flat array, of items that are numbered. An item is in at most one of the lists that share a [`Links`].

use crate::advice::prefetch;
use serde::{Deserialize, Serialize};

/// Link to no item.
pub const NONE: u32 = u32::MAX;

/// Head and tail of a list, oldest first.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct List {
    /// First item, or [`NONE`].
    pub head: u32,
    /// Last item, or [`NONE`].
    pub tail: u32,
}

/// An empty list.
pub const EMPTY: List = List { head: NONE, tail: NONE };

/// Both links of an item, side by side, as they are used together.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Link {
    next: u32,
    previous: u32,
}

/// The links of any number of lists.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Links(Vec<Link>);

impl Links {
    /// Links for items that are numbered from 0 to `count - 1`.
    pub fn new(count: usize) -> Self {
        Links(vec![Link { next: NONE, previous: NONE }; count])
    }

    /// The items of a list, from head to tail.
    pub fn chain(&self, list: List) -> impl Iterator<Item = u32> + '_ {
        let link = |index: u32| (index != NONE).then_some(index);
        std::iter::successors(link(list.head), move |&index| link(self.next(index)))
    }

    /// Prefetches the links of an item.
    #[inline(always)]
    pub fn prefetch(&self, index: u32) {
        prefetch(&self.0, index as usize);
    }

    /// The item after `index` in its list, or [`NONE`].
    #[inline(always)]
    pub fn next(&self, index: u32) -> u32 {
        self.0[index as usize].next
    }

    /// The item before `index` in its list, or [`NONE`].
    #[inline(always)]
    pub fn previous(&self, index: u32) -> u32 {
        self.0[index as usize].previous
    }

    /// Adds an item at the tail of a list.
    #[inline(always)]
    pub fn push(&mut self, list: &mut List, index: u32) {
        self.insert_after(list, list.tail, index);
    }

    /// Adds an item at the head of a list.
    #[inline]
    pub fn push_front(&mut self, list: &mut List, index: u32) {
        self.insert_after(list, NONE, index);
    }

    /// Adds an item to a list behind the item `previous`, or at the head for [`NONE`].
    #[inline(always)]
    pub fn insert_after(&mut self, list: &mut List, previous: u32, index: u32) {
        let next = if previous == NONE { list.head } else { self.next(previous) };
        self.0[index as usize] = Link { next, previous };
        if previous == NONE {
            list.head = index;
        } else {
            self.0[previous as usize].next = index;
        }
        if next == NONE {
            list.tail = index;
        } else {
            self.0[next as usize].previous = index;
        }
    }

    /// Removes an item from its list.
    #[inline(always)]
    pub fn unlink(&mut self, list: &mut List, index: u32) {
        let Link { next, previous } = self.0[index as usize];
        if previous == NONE {
            list.head = next;
        } else {
            self.0[previous as usize].next = next;
        }
        if next == NONE {
            list.tail = previous;
        } else {
            self.0[next as usize].previous = previous;
        }
    }
}
