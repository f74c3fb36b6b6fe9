//! Brings completions, which come in any order, into the order of request indices, for the digest and the log.

use std::collections::VecDeque;

use ssdlab_base::error::{Error, Result};
use ssdlab_keys::memory::{self, Exhausted};

/// Holds items that come early until all items before them have come. Its length is the distance from the oldest request that has not
/// completed to the newest that has.
#[derive(Debug)]
pub(super) struct InOrder<T> {
    /// The lowest index that has not been taken out.
    next: u64,
    /// The items of `next`, `next + 1`, ..., as far as they have come.
    waiting: VecDeque<Option<T>>,
}

impl<T> InOrder<T> {
    pub(super) fn new() -> Self {
        InOrder { next: 0, waiting: VecDeque::new() }
    }

    /// Adds the item of `index`. Panics if it was added before, as a request completes once; an error if memory does not suffice.
    #[inline]
    pub(super) fn insert(&mut self, index: u64, item: T) -> Result<()> {
        let Some(ahead) = index.checked_sub(self.next) else { panic!("request {index} completed twice") };
        let ahead = usize::try_from(ahead).expect("a request index fits the address space");
        if let Some(slot) = self.waiting.get_mut(ahead) {
            assert!(slot.is_none(), "request {index} completed twice");
            *slot = Some(item);
            return Ok(());
        }
        let more = ahead + 1 - self.waiting.len();
        memory::make_room(&mut self.waiting, more).map_err(|exhausted| self.too_long(exhausted))?;
        self.waiting.extend((1..more).map(|_| None));
        self.waiting.push_back(Some(item));
        Ok(())
    }

    #[cold]
    fn too_long(&self, exhausted: Exhausted) -> Error {
        let (next, count) = (self.next, self.waiting.len());
        Error::Simulation(format!(
            "request {next} is still under way while {count} later ones have completed or wait, and their response times are kept until it \
             ends: {exhausted}"
        ))
    }

    /// Takes out the next item in order, if it has come.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<T> {
        let item = self.waiting.front_mut()?.take()?;
        self.waiting.pop_front();
        self.next += 1;
        Some(item)
    }

    /// The first index that has not come although a later one has; `None` if there is no gap.
    pub(super) fn gap(&self) -> Option<u64> {
        (!self.waiting.is_empty()).then_some(self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_out_in_order_as_soon_as_they_can() {
        let mut order = InOrder::new();
        order.insert(2, 'c').unwrap();
        order.insert(0, 'a').unwrap();
        assert_eq!((order.pop(), order.pop(), order.gap()), (Some('a'), None, Some(1)));
        order.insert(1, 'b').unwrap();
        assert_eq!((order.pop(), order.pop(), order.pop(), order.gap()), (Some('b'), Some('c'), None, None));
    }

    #[test]
    #[should_panic(expected = "request 0 completed twice")]
    fn a_second_item_of_one_index_is_a_defect() {
        let mut order = InOrder::new();
        order.insert(0, ()).unwrap();
        order.pop();
        order.insert(0, ()).unwrap();
    }

    #[test]
    #[should_panic(expected = "request 1 completed twice")]
    fn a_second_item_of_a_waiting_index_is_a_defect() {
        let mut order = InOrder::new();
        order.insert(1, ()).unwrap();
        order.insert(1, ()).unwrap();
    }
}
