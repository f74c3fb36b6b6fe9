//! Doubly linked lists over two flat arrays, of things that are numbered. A thing stands in at most one list of those that share a [`Links`].

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

/// The links of any number of lists.
#[derive(Clone, Debug)]
pub struct Links {
    next: Vec<u32>,
    previous: Vec<u32>,
}

impl Links {
    /// Links for lists of what is numbered from 0 to `count - 1`.
    pub fn new(count: usize) -> Self {
        Links { next: vec![NONE; count], previous: vec![NONE; count] }
    }

    /// A list from head to tail.
    pub fn chain(&self, list: List) -> impl Iterator<Item = u32> + '_ {
        let link = |index: u32| (index != NONE).then_some(index);
        std::iter::successors(link(list.head), move |&index| link(self.next[index as usize]))
    }

    /// What follows in the same list, or [`NONE`].
    #[inline(always)]
    pub fn next(&self, index: u32) -> u32 {
        self.next[index as usize]
    }

    /// What stands before in the same list, or [`NONE`].
    #[inline(always)]
    pub fn previous(&self, index: u32) -> u32 {
        self.previous[index as usize]
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
        let next = if previous == NONE { list.head } else { self.next[previous as usize] };
        self.previous[index as usize] = previous;
        self.next[index as usize] = next;
        if previous == NONE {
            list.head = index;
        } else {
            self.next[previous as usize] = index;
        }
        if next == NONE {
            list.tail = index;
        } else {
            self.previous[next as usize] = index;
        }
    }

    /// Takes out of the list.
    #[inline(always)]
    pub fn unlink(&mut self, list: &mut List, index: u32) {
        let (previous, next) = (self.previous[index as usize], self.next[index as usize]);
        if previous == NONE {
            list.head = next;
        } else {
            self.next[previous as usize] = next;
        }
        if next == NONE {
            list.tail = previous;
        } else {
            self.previous[next as usize] = previous;
        }
    }
}
