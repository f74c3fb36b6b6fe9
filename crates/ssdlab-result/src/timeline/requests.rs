//! The host requests of a run, from arrival to completion.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Ns;
use super::budget::{Budget, RecordingWindow};
use ssdlab_base::blocked::Blocked;
use ssdlab_base::request::Request;

/// A recorded request.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordedRequest {
    /// Number of the request in the run.
    pub index: u64,
    pub request: Request,
    /// Start of the request's part in the window, ns. `end`: the end of that part.
    pub start: Ns,
    pub end: Ns,
    pub arrived: Ns,
    /// Completion time, ns, and the reason for which the request waited longest; `None` if it did not complete before recording ended.
    pub completed: Option<(Ns, Option<Blocked>)>,
}

/// Recorder of the host requests of a run.
#[derive(Debug)]
pub struct Requests {
    window: RecordingWindow,
    /// The names of the flows, where there are several.
    pub(super) flows: Vec<String>,
    /// Outstanding requests, by number, with their arrival times.
    outstanding: BTreeMap<u64, (Ns, Request)>,
    /// Recorded requests; once recording has ended, sorted by start, then by number.
    pub(super) recorded: Vec<RecordedRequest>,
    /// Time at which the warm-up ended, ns; `None` without one.
    pub(super) warm_up_ended: Option<Ns>,
}

impl Requests {
    pub(super) fn new(budget: &Arc<Budget>, flows: Vec<String>) -> Self {
        Requests { window: RecordingWindow::new(budget), flows, outstanding: BTreeMap::new(), recorded: Vec::new(), warm_up_ended: None }
    }

    /// Records that the warm-up ends.
    pub fn warm_up_ends(&mut self, now: Ns) {
        self.warm_up_ended = Some(now);
    }

    /// Records the arrival of a request.
    #[cold]
    pub fn arrives(&mut self, now: Ns, index: u64, request: Request) {
        if self.window.take(now) {
            self.outstanding.insert(index, (now, request));
        }
    }

    /// Records the completion of a request. `blocked_by`: the reason for which it waited longest.
    #[cold]
    pub fn completes(&mut self, now: Ns, index: u64, blocked_by: Option<Blocked>) {
        if self.window.is_open(now)
            && let Some((arrived, request)) = self.outstanding.remove(&index)
        {
            self.record(now, index, arrived, request, Some((now, blocked_by)));
        }
    }

    /// Ends recording at the end of the run, if it has not ended before. Returns when it ended, ns.
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
