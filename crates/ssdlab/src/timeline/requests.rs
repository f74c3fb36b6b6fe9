//! The host requests of a run, from arrival to completion.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Ns;
use super::budget::{Budget, RecordingWindow};
use crate::blocked::Blocked;
use crate::request::Request;

/// A recorded request.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordedRequest {
    /// Its number.
    pub index: u64,
    pub request: Request,
    /// Start and end of its part in the window.
    pub start: Ns,
    pub end: Ns,
    pub arrived: Ns,
    /// When it completed, and the reason for which it waited longest, if that was before recording ended.
    pub completed: Option<(Ns, Option<Blocked>)>,
}

/// The requests of the host.
#[derive(Debug)]
pub struct Requests {
    window: RecordingWindow,
    /// The names of the flows, where there are several.
    pub(super) flows: Vec<String>,
    /// Outstanding requests, by number, with their arrival times.
    outstanding: BTreeMap<u64, (Ns, Request)>,
    /// Requests that have ended; at last sorted by start, then by number.
    pub(super) recorded: Vec<RecordedRequest>,
    /// When the warm-up ended, if there was one.
    pub(super) warm_up_ended: Option<Ns>,
}

impl Requests {
    pub(super) fn new(budget: &Arc<Budget>, flows: Vec<String>) -> Self {
        Requests { window: RecordingWindow::new(budget), flows, outstanding: BTreeMap::new(), recorded: Vec::new(), warm_up_ended: None }
    }

    /// The warm-up ends.
    pub fn warm_up_ends(&mut self, now: Ns) {
        self.warm_up_ended = Some(now);
    }

    /// A request arrives.
    #[cold]
    pub fn arrives(&mut self, now: Ns, index: u64, request: Request) {
        if self.window.take(now) {
            self.outstanding.insert(index, (now, request));
        }
    }

    /// A request completes. `blocked_by`: the reason for which it waited longest.
    #[cold]
    pub fn completes(&mut self, now: Ns, index: u64, blocked_by: Option<Blocked>) {
        if self.window.is_open(now)
            && let Some((arrived, request)) = self.outstanding.remove(&index)
        {
            self.record(now, index, arrived, request, Some((now, blocked_by)));
        }
    }

    /// The run ends. Returns when recording ended: now, or before.
    pub(super) fn finish(&mut self, end: Ns) -> Ns {
        let end = self.window.finish(end);
        for (index, (arrived, request)) in std::mem::take(&mut self.outstanding) {
            self.record(end, index, arrived, request, None);
        }
        self.recorded.sort_by_key(|request| (request.start, request.index));
        end
    }

    /// Number of recorded requests.
    pub(super) fn count(&self) -> u64 {
        self.recorded.len() as u64
    }

    fn record(&mut self, end: Ns, index: u64, arrived: Ns, request: Request, completed: Option<(Ns, Option<Blocked>)>) {
        if let Some((start, end)) = self.window.clip(arrived, end) {
            self.recorded.push(RecordedRequest { index, request, start, end, arrived, completed });
        }
    }
}
