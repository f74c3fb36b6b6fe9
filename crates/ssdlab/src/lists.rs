//! Doubly linked lists over a flat array, of things that are numbered. A thing stands in at most one list of those that share a [`Links`].

use crate::advice::prefetch;

/// "Nothing" in a link.
pub const NONE: u32 = u32::MAX;

/// Head and tail of a list, oldest first.
#[derive(Clone, Copy, Debug)]
pub struct List {
    /// The first, or [`NONE`].
    pub head: u32,
    /// The last, or [`NONE`].
    pub tail: u32,
}

/// A list of nothing.
pub const EMPTY: List = List { head: NONE, tail: NONE };

/// Both links of one thing, side by side: whoever needs the one needs the other.
#[derive(Clone, Copy, Debug)]
struct Link {
    next: u32,
    previous: u32,
}

/// The links of any number of lists.
#[derive(Clone, Debug)]
pub struct Links(Vec<Link>);

impl Links {
    /// Links for lists of what is numbered from 0 to `count - 1`.
    pub fn new(count: usize) -> Self {
        Links(vec![Link { next: NONE, previous: NONE }; count])
    }

    /// A list from head to tail.
    pub fn chain(&self, list: List) -> impl Iterator<Item = u32> + '_ {
        let link = |index: u32| (index != NONE).then_some(index);
        std::iter::successors(link(list.head), move |&index| link(self.next(index)))
    }

    /// Asks for the links of a thing ahead of their use.
    #[inline(always)]
    pub fn prefetch(&self, index: u32) {
        prefetch(&self.0, index as usize);
    }

    /// What follows in the same list, or [`NONE`].
    #[inline(always)]
    pub fn next(&self, index: u32) -> u32 {
        self.0[index as usize].next
    }

    /// What stands before in the same list, or [`NONE`].
    #[inline(always)]
    pub fn previous(&self, index: u32) -> u32 {
        self.0[index as usize].previous
    }

    /// Adds at the tail.
    #[inline(always)]
    pub fn push(&mut self, list: &mut List, index: u32) {
        self.insert_after(list, list.tail, index);
    }

    /// Adds at the head.
    #[inline]
    pub fn push_front(&mut self, list: &mut List, index: u32) {
        self.insert_after(list, NONE, index);
    }

    /// Adds behind `previous`, or with [`NONE`] at the head.
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

    /// Takes out of the list.
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
