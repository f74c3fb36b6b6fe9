//! Where the data of each address are, and the order of operations on one address.

use ssdlab_base::units::{Lpn, Ppn};
use ssdlab_drive::ftl::Ftl;

use crate::operations::{NONE, Operation, Operations};

/// The entry of an address is the number of the oldest operation on it, which has the page.
const PINNED: u32 = 1 << 31;

/// What becomes of an operation that arrives.
pub(crate) enum Admission {
    /// It may begin: its number.
    Ready(u32),
    /// It waits for an older operation on its address.
    Waits,
    /// A read has its answer from a write that has not ended.
    Answered,
}

/// The map, and the addresses of pages.
pub(crate) struct Map {
    entries: Vec<u32>,
    addresses: Vec<u32>,
}

impl Map {
    /// The map of a drive that is full.
    pub(crate) fn new(ftl: &Ftl) -> Self {
        let geometry = ftl.geometry();
        let page = |address| ftl.lookup(Lpn(address)).expect("a drive that is full");
        let entries: Vec<u32> = (0..geometry.logical_units).map(|address| page(address).0).collect();
        let mut addresses = vec![NONE; geometry.units as usize];
        for (address, &page) in entries.iter().enumerate() {
            addresses[Ppn(page).0 as usize] = address as u32;
        }
        Map { entries, addresses }
    }

    /// An operation arrives.
    #[inline(always)]
    pub(crate) fn admit(&mut self, operations: &mut Operations, mut operation: Operation) -> Admission {
        let entry = self.entries[operation.address as usize];
        let (address, reads) = (operation.address, operation.reads);
        if entry & PINNED == 0 {
            operation.page = entry;
            let number = operations.add(operation);
            operations[number].youngest = number;
            self.entries[address as usize] = PINNED | number;
            return Admission::Ready(number);
        }
        let oldest = entry & !PINNED;
        let youngest = operations[oldest].youngest;
        if reads && !operations[youngest].reads {
            return Admission::Answered;
        }
        let number = operations.add(operation);
        operations[youngest].next_on_address = number;
        operations[oldest].youngest = number;
        if reads { Admission::Ready(number) } else { Admission::Waits }
    }

    /// The oldest operation on its address ends and leaves its data in `page`. Returns the write that has waited for it.
    #[inline(always)]
    pub(crate) fn ended(&mut self, operations: &mut Operations, number: u32, page: u32) -> Option<u32> {
        let Operation { address, next_on_address: next, youngest, .. } = operations[number];
        operations.remove(number);
        if next == NONE {
            self.entries[address as usize] = page;
            return None;
        }
        let after = &mut operations[next];
        (after.page, after.youngest) = (page, youngest);
        self.entries[address as usize] = PINNED | next;
        (!after.reads).then_some(next)
    }

    /// The data of an address are in a page.
    #[inline(always)]
    pub(crate) fn programmed(&mut self, page: u32, address: u32) {
        self.addresses[page as usize] = address;
    }

    /// GC moves valid data to another page.
    #[inline(always)]
    pub(crate) fn moved(&mut self, operations: &mut Operations, from: u32, to: u32) {
        let address = self.addresses[from as usize];
        self.addresses[to as usize] = address;
        let entry = &mut self.entries[address as usize];
        let page = if *entry & PINNED == 0 { entry } else { &mut operations[*entry & !PINNED].page };
        assert!(*page == from, "a page that is moved has the data of its address");
        *page = to;
    }
}
