//! Dies on which something may begin, and channels whose bus became free, to be dispatched before the instant ends.

use std::collections::VecDeque;

use ssdlab_base::units::{ChannelId, DieId};

/// Dies and channels, taken in a defined order.
#[derive(Clone, Debug)]
pub(super) struct Ready {
    /// Dies in the order in which they were woken.
    dies: VecDeque<DieId>,
    /// By die: it is in `dies`.
    woken: Vec<bool>,
    /// Channels whose bus became free; the last is taken first.
    channels: Vec<ChannelId>,
}

impl Ready {
    pub(super) fn new(dies: u32) -> Self {
        Ready { dies: VecDeque::with_capacity(dies as usize), woken: vec![false; dies as usize], channels: Vec::new() }
    }

    /// Call when something may begin on the die, or the reason that holds it has changed: it is dispatched before the instant ends.
    #[inline(always)]
    pub(super) fn wake(&mut self, die: DieId) {
        if !std::mem::replace(&mut self.woken[die.index()], true) {
            self.dies.push_back(die);
        }
    }

    /// A die is to be dispatched, or the bus of a channel became free.
    #[inline(always)]
    pub(super) fn any(&self) -> bool {
        !self.dies.is_empty() || !self.channels.is_empty()
    }

    /// The next die to dispatch.
    #[inline(always)]
    pub(super) fn next_die(&mut self) -> Option<DieId> {
        let die = self.dies.pop_front()?;
        self.woken[die.index()] = false;
        Some(die)
    }

    /// The bus of a channel became free.
    #[inline(always)]
    pub(super) fn bus_freed(&mut self, channel: ChannelId) {
        self.channels.push(channel);
    }

    /// The next channel whose bus became free.
    #[inline(always)]
    pub(super) fn next_channel(&mut self) -> Option<ChannelId> {
        self.channels.pop()
    }
}
