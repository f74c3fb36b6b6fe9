//! Flushes of a buffer that a power failure empties: each waits until all that came before it is in flash.

use std::collections::VecDeque;

/// The flushes that wait, and the number of entries that each waits for.
#[derive(Debug)]
pub(super) struct Flushes {
    /// Number of flushes that have ended.
    ended: u64,
    /// The flush requests, oldest first.
    requests: VecDeque<u32>,
    /// Number of entries not in flash that came before the oldest flush, then between it and the next, and so on; last, after all flushes.
    entries: VecDeque<u32>,
}

impl Flushes {
    pub(super) fn new() -> Self {
        Flushes { ended: 0, requests: VecDeque::new(), entries: VecDeque::from([0]) }
    }

    /// Counts a new entry. Returns the number of flushes that came before it.
    pub(super) fn entry_comes(&mut self) -> u64 {
        *self.entries.back_mut().expect("there is a last") += 1;
        self.ended + self.requests.len() as u64
    }

    /// The data of an entry that came after `flushes_before` flushes are in flash, or no longer needed.
    pub(super) fn entry_ends(&mut self, flushes_before: u64) {
        self.entries[(flushes_before - self.ended) as usize] -= 1;
    }

    /// A flush arrives.
    pub(super) fn comes(&mut self, request: u32) {
        self.requests.push_back(request);
        self.entries.push_back(0);
    }

    /// The oldest waiting flush can end: all entries that came before it are in flash, or no longer needed.
    #[inline(always)]
    pub(super) fn any_done(&self) -> bool {
        !self.requests.is_empty() && self.entries[0] == 0
    }

    /// Takes out the oldest flush, if no entry that came before it is left.
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
