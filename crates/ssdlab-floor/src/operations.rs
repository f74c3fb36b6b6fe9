//! Page operations of the host under way, and the queues in which they wait for a die.

use std::ops::{Index, IndexMut};

use ssdlab_base::units::Ns;

/// No operation, block or page.
pub(crate) const NONE: u32 = u32::MAX;

/// A page operation under way: less than a line of the processor's cache.
pub(crate) struct Operation {
    pub(crate) address: u32,
    /// Page that has the data of the address. Kept up to date only in the oldest operation on it.
    pub(crate) page: u32,
    /// Page that a write programs.
    pub(crate) target: u32,
    /// Youngest operation on the address. Kept up to date only in the oldest one.
    pub(crate) youngest: u32,
    /// Next younger operation on the address.
    pub(crate) next_on_address: u32,
    /// Next operation in the queue of the die.
    pub(crate) next: u32,
    /// Number of its request.
    pub(crate) request: u32,
    pub(crate) reads: bool,
    /// Larger than that of each operation that arrived before.
    pub(crate) age: u64,
    pub(crate) arrival_ns: Ns,
}

/// All operations under way, by number.
#[derive(Default)]
pub(crate) struct Operations {
    all: Vec<Operation>,
    unused: Vec<u32>,
}

impl Operations {
    #[inline(always)]
    pub(crate) fn add(&mut self, operation: Operation) -> u32 {
        if let Some(number) = self.unused.pop() {
            self[number] = operation;
            return number;
        }
        self.all.push(operation);
        self.all.len() as u32 - 1
    }

    #[inline(always)]
    pub(crate) fn remove(&mut self, number: u32) {
        self.unused.push(number);
    }
}

impl Index<u32> for Operations {
    type Output = Operation;

    #[inline(always)]
    fn index(&self, number: u32) -> &Operation {
        &self.all[number as usize]
    }
}

impl IndexMut<u32> for Operations {
    #[inline(always)]
    fn index_mut(&mut self, number: u32) -> &mut Operation {
        &mut self.all[number as usize]
    }
}

/// Operations that wait for a die, oldest first.
pub(crate) struct Queue {
    first: u32,
    last: u32,
}

impl Queue {
    pub(crate) const EMPTY: Queue = Queue { first: NONE, last: NONE };

    /// The numbers of the operations.
    #[inline(always)]
    pub(crate) fn iter(&self, operations: &Operations) -> impl Iterator<Item = u32> {
        let present = |number| (number != NONE).then_some(number);
        std::iter::successors(present(self.first), move |&number| present(operations[number].next))
    }

    /// Puts an operation at the place of its age: often the last, or the first if it has waited for another on its address.
    #[inline(always)]
    pub(crate) fn insert(&mut self, operations: &mut Operations, number: u32) {
        let age = operations[number].age;
        if self.first == NONE {
            (self.first, self.last) = (number, number);
        } else if operations[self.last].age < age {
            operations[self.last].next = number;
            self.last = number;
        } else if operations[self.first].age > age {
            operations[number].next = self.first;
            self.first = number;
        } else {
            self.insert_between(operations, number, age);
        }
    }

    fn insert_between(&self, operations: &mut Operations, number: u32, age: u64) {
        let mut before = self.first;
        while operations[operations[before].next].age < age {
            before = operations[before].next;
        }
        operations[number].next = operations[before].next;
        operations[before].next = number;
    }

    /// Takes an operation out, most often the oldest.
    #[inline(always)]
    pub(crate) fn take(&mut self, operations: &mut Operations, number: u32) {
        let next = operations[number].next;
        let before = if self.first == number { NONE } else { self.before(operations, number) };
        match before {
            NONE => self.first = next,
            before => operations[before].next = next,
        }
        if next == NONE {
            self.last = before;
        }
    }

    fn before(&self, operations: &Operations, number: u32) -> u32 {
        self.iter(operations).find(|&before| operations[before].next == number).expect("an operation that waits")
    }
}
