//! Flushes of a buffer that a power failure empties: each waits until all that came before it is in flash.

use std::collections::VecDeque;

/// The flushes that wait.
#[derive(Debug)]
pub(super) struct Flushes {
    /// Flushes that have ended.
    ended: u64,
    /// The requests, oldest first.
    requests: VecDeque<u32>,
    /// Entries that came before the oldest flush, between it and the next, and so on; the last number is of those that came after all.
    entries: VecDeque<u32>,
}

impl Flushes {
    pub(super) fn new() -> Self {
        Flushes { ended: 0, requests: VecDeque::new(), entries: VecDeque::from([0]) }
    }

    /// An entry comes. Returns how many flushes came before it.
    pub(super) fn entry_comes(&mut self) -> u64 {
        *self.entries.back_mut().expect("there is a last") += 1;
        self.ended + self.requests.len() as u64
    }

    /// The data of an entry that came after so many flushes are in flash, or not needed any more.
    pub(super) fn entry_ends(&mut self, flushes_before: u64) {
        self.entries[(flushes_before - self.ended) as usize] -= 1;
    }

    /// A flush comes.
    pub(super) fn comes(&mut self, request: u32) {
        self.requests.push_back(request);
        self.entries.push_back(0);
    }

    /// Nothing that came before the oldest flush is left.
    #[inline(always)]
    pub(super) fn any_done(&self) -> bool {
        !self.requests.is_empty() && self.entries[0] == 0
    }

    /// The oldest flush, if nothing that came before it is left: it ends.
    pub(super) fn next_done(&mut self) -> Option<u32> {
        let request = if self.any_done() { self.requests.pop_front()? } else { return None };
        self.entries.pop_front();
        self.ended += 1;
        Some(request)
    }

    pub(super) fn waiting(&self) -> usize {
        self.requests.len()
    }
}
