//! What the host asked, from arrival to completion, whatever it talks to: drives, caches, an array.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Ns;
use super::budget::{Budget, Gate};
use crate::request::Request;

/// A request in the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// Its number.
    pub index: u64,
    pub request: Request,
    /// What of it lies in the window.
    pub start: Ns,
    pub end: Ns,
    pub arrived: Ns,
    /// When it was complete, if that was before recording ended.
    pub completed: Option<Ns>,
}

/// The requests of the host.
#[derive(Debug)]
pub struct Requests {
    gate: Gate,
    /// Those under way, by number, with when they arrived.
    under_way: BTreeMap<u64, (Ns, Request)>,
    /// In the end by start, then by number.
    pub(super) asked: Vec<Asked>,
    /// When the warm-up ended, if there was one.
    pub(super) warm_up_ended: Option<Ns>,
}

impl Requests {
    pub(super) fn new(budget: &Arc<Budget>) -> Self {
        Requests { gate: Gate::new(budget), under_way: BTreeMap::new(), asked: Vec::new(), warm_up_ended: None }
    }

    /// The warm-up ends.
    pub fn warm_up_ends(&mut self, now: Ns) {
        self.warm_up_ended = Some(now);
    }

    /// A request comes.
    #[cold]
    pub fn arrives(&mut self, now: Ns, index: u64, request: Request) {
        if self.gate.take(now) {
            self.under_way.insert(index, (now, request));
        }
    }

    /// A request is complete.
    #[cold]
    pub fn completes(&mut self, now: Ns, index: u64) {
        if self.gate.is_open(now)
            && let Some((arrived, request)) = self.under_way.remove(&index)
        {
            self.keep(now, index, arrived, request, Some(now));
        }
    }

    /// The run ends, unless recording has ended before. Returns when it did.
    pub(super) fn finish(&mut self, end: Ns) -> Ns {
        let end = self.gate.finish(end);
        for (index, (arrived, request)) in std::mem::take(&mut self.under_way) {
            self.keep(end, index, arrived, request, None);
        }
        self.asked.sort_by_key(|asked| (asked.start, asked.index));
        end
    }

    /// How many there are.
    pub(super) fn count(&self) -> u64 {
        self.asked.len() as u64
    }

    fn keep(&mut self, end: Ns, index: u64, arrived: Ns, request: Request, completed: Option<Ns>) {
        if let Some((start, end)) = self.gate.clip(arrived, end) {
            self.asked.push(Asked { index, request, start, end, arrived, completed });
        }
    }
}
