//! The recording window of a run and its limit of slices, shared by all recorders.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ssdlab_base::units::Ns;

/// The recording window of a run and its limit of slices, shared by all recorders.
#[derive(Debug)]
pub struct Budget {
    pub(super) from: Ns,
    to: Ns,
    limit: u64,
    /// Number of slices taken, open ones included.
    taken: AtomicU64,
    /// Time at which recording stopped because the limit was reached, ns; `Ns::MAX` if it was not.
    stopped: AtomicU64,
}

impl Budget {
    /// A budget of at most `limit` slices in the window from `from` to `to`, ns.
    pub fn new(from: Ns, to: Ns, limit: u64) -> Self {
        Budget { from, to, limit, taken: AtomicU64::new(0), stopped: AtomicU64::new(Ns::MAX) }
    }

    /// A budget of an empty window, for recorders without a timeline.
    pub fn nothing() -> Self {
        Budget::new(0, 0, 0)
    }

    /// Whether recording stopped because the limit was reached.
    pub fn is_full(&self) -> bool {
        self.end() < self.to
    }

    /// Time at which recording ends, as far as is known, ns.
    fn end(&self) -> Ns {
        self.stopped.load(Ordering::Relaxed).min(self.to)
    }

    fn has_more_than(&self, slices: u64) -> bool {
        self.taken.load(Ordering::Relaxed) > slices
    }

    fn stop(&self, at: Ns) {
        self.stopped.fetch_min(at, Ordering::Relaxed);
    }
}

/// The recording window as one recorder sees it: open until the window or the budget ends.
#[derive(Debug)]
pub(super) struct RecordingWindow {
    budget: Arc<Budget>,
    /// The window has begun.
    entered: bool,
    /// Time at which recording ended, ns; `None` before it has.
    ended: Option<Ns>,
}

impl RecordingWindow {
    pub fn new(budget: &Arc<Budget>) -> Self {
        RecordingWindow { budget: Arc::clone(budget), entered: false, ended: None }
    }

    /// Time at which recording ended, ns; `None` before it has.
    #[inline]
    pub fn ended(&self) -> Option<Ns> {
        self.ended
    }

    /// Whether recording goes on at `now`. If not, it has ended, possibly with this call.
    pub fn is_open(&mut self, now: Ns) -> bool {
        if self.ended.is_some() {
            return false;
        }
        let budget = &self.budget;
        if now >= budget.from && !std::mem::replace(&mut self.entered, true) && budget.has_more_than(budget.limit) {
            // The slices open at the start exceed the limit.
            budget.stop(budget.from);
        }
        let end = budget.end();
        if now >= end {
            self.ended = Some(end);
        }
        now < end
    }

    /// Ends recording at the end of the run, if it has not ended before. Returns when it ended, ns.
    pub fn finish(&mut self, end: Ns) -> Ns {
        if self.is_open(end) {
            self.ended = Some(end);
        }
        self.ended.expect("the window is closed")
    }

    /// Takes one more slice of the budget. Returns false if recording has ended, possibly because this slice exceeds the limit. Before the
    /// window begins the limit does not apply.
    pub fn take(&mut self, now: Ns) -> bool {
        if !self.is_open(now) {
            return false;
        }
        if now >= self.budget.from && self.budget.has_more_than(self.budget.limit - 1) {
            self.budget.stop(now);
            self.ended = Some(now);
            return false;
        }
        self.budget.taken.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Ends recording now, for all recorders.
    pub fn stop(&mut self, now: Ns) {
        self.budget.stop(now);
        self.ended = Some(now);
    }

    /// The part of a slice that lies in the window. If there is none, returns `None` and gives the slice back to the budget.
    pub fn clip(&self, start: Ns, end: Ns) -> Option<(Ns, Ns)> {
        let (start, end) = (start.max(self.budget.from), end.min(self.budget.to));
        if end <= start {
            self.budget.taken.fetch_sub(1, Ordering::Relaxed);
        }
        (end > start).then_some((start, end))
    }

    /// Whether the window has begun at `now`.
    pub fn is_within(&self, now: Ns) -> bool {
        now >= self.budget.from
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorders_of_one_budget_stop_at_one_time() {
        let budget = Arc::new(Budget::new(100, 1000, 2));
        let (mut first, mut second) = (RecordingWindow::new(&budget), RecordingWindow::new(&budget));
        // Before the window any number may be open; slices that end before it are given back.
        assert!((0..5).all(|at| first.take(at)));
        assert_eq!([(0, 10), (1, 100), (2, 100)].map(|(start, end)| first.clip(start, end)), [None; 3]);
        assert!(first.is_open(100) && second.is_open(150));
        assert_eq!(first.clip(3, 160), Some((100, 160)));
        assert!(!second.take(200), "two are taken, the open one included");
        assert!(budget.is_full());
        assert_eq!((second.ended(), first.is_open(199), first.is_open(210), first.ended()), (Some(200), true, false, Some(200)));
    }

    #[test]
    fn more_open_slices_than_the_limit_end_the_window_at_once() {
        let budget = Arc::new(Budget::new(100, 1000, 2));
        let mut window = RecordingWindow::new(&budget);
        assert!((0..3).all(|at| window.take(at)));
        assert!(!window.is_open(130));
        assert_eq!((window.ended(), budget.is_full()), (Some(100), true));
    }

    #[test]
    fn a_window_that_ends_before_the_run_is_not_full() {
        let budget = Arc::new(Budget::new(0, 500, 2));
        let mut window = RecordingWindow::new(&budget);
        assert!(window.take(0) && window.take(499));
        assert_eq!((window.finish(700), budget.is_full()), (500, false));
        let mut other = RecordingWindow::new(&Arc::new(Budget::new(0, Ns::MAX, 2)));
        assert_eq!(other.finish(700), 700);
    }
}
