//! What is to be looked at before an instant ends: dies on which something may begin, and channels whose bus became free.

use std::collections::VecDeque;

use crate::units::{ChannelId, DieId};

/// Dies and channels, taken in a defined order.
#[derive(Clone, Debug)]
pub(super) struct Ready {
    /// Dies in the order in which they were woken.
    dies: VecDeque<DieId>,
    /// By die: it is among them.
    woken: Vec<bool>,
    /// Channels, the last one first.
    channels: Vec<ChannelId>,
}

impl Ready {
    pub(super) fn new(dies: u32) -> Self {
        Ready { dies: VecDeque::with_capacity(dies as usize), woken: vec![false; dies as usize], channels: Vec::new() }
    }

    /// Something may begin on the die, or what holds it has changed: it is dispatched before the instant ends, and its wait clocks are set then.
    #[inline(always)]
    pub(super) fn wake(&mut self, die: DieId) {
        if !std::mem::replace(&mut self.woken[die.index()], true) {
            self.dies.push_back(die);
        }
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
