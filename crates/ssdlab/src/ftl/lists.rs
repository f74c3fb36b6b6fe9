//! Doubly linked lists of blocks over two flat arrays. A block stands in at most one list of those that share a [`Links`].

use crate::units::BlockId;

/// "No block" in a link.
pub const NONE: u32 = u32::MAX;

/// Head and tail of a list of blocks, oldest first.
#[derive(Clone, Copy, Debug)]
pub struct List {
    /// The first block, or [`NONE`].
    pub head: u32,
    /// The last block, or [`NONE`].
    pub tail: u32,
}

/// A list without blocks.
pub const EMPTY: List = List { head: NONE, tail: NONE };

/// The links of any number of lists, by block.
#[derive(Clone, Debug)]
pub struct Links {
    next: Vec<u32>,
    previous: Vec<u32>,
}

impl Links {
    /// Links for lists of `blocks` blocks.
    pub fn new(blocks: usize) -> Self {
        Links { next: vec![NONE; blocks], previous: vec![NONE; blocks] }
    }

    /// The blocks of a list from head to tail.
    pub fn chain(&self, list: List) -> impl Iterator<Item = BlockId> + '_ {
        let link = |block: u32| (block != NONE).then_some(BlockId(block));
        std::iter::successors(link(list.head), move |block| link(self.next[block.index()]))
    }

    /// Adds a block at the tail.
    #[inline(always)]
    pub fn push(&mut self, list: &mut List, block: BlockId) {
        self.next[block.index()] = NONE;
        self.previous[block.index()] = list.tail;
        if list.tail == NONE {
            list.head = block.0;
        } else {
            self.next[list.tail as usize] = block.0;
        }
        list.tail = block.0;
    }

    /// Takes a block out of the list in which it stands.
    #[inline(always)]
    pub fn unlink(&mut self, list: &mut List, block: BlockId) {
        let (previous, next) = (self.previous[block.index()], self.next[block.index()]);
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
