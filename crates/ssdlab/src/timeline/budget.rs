//! The window of a run that is recorded, and the slices that may be taken: shared by all that record.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::units::Ns;

/// The window of a run that is recorded, and the slices that may be taken, shared by all of its recorders.
#[derive(Debug)]
pub struct Budget {
    pub(super) from: Ns,
    to: Ns,
    limit: u64,
    /// Slices, also those under way.
    taken: AtomicU64,
    /// When recording stopped because the limit was reached. `Ns::MAX`: it was not.
    stopped: AtomicU64,
}

impl Budget {
    /// At most `limit` slices of the window from `from` to `to`, ns.
    pub fn new(from: Ns, to: Ns, limit: u64) -> Self {
        Budget { from, to, limit, taken: AtomicU64::new(0), stopped: AtomicU64::new(Ns::MAX) }
    }

    /// Recording stopped because the limit was reached.
    pub fn is_full(&self) -> bool {
        self.end() < self.to
    }

    /// When recording ends, as far as it is known.
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

/// Whether a recorder goes on.
#[derive(Debug)]
pub(super) struct Gate {
    budget: Arc<Budget>,
    /// The window has begun.
    entered: bool,
    /// Recording has ended, at this time.
    ended: Option<Ns>,
}

impl Gate {
    pub fn new(budget: &Arc<Budget>) -> Self {
        Gate { budget: Arc::clone(budget), entered: false, ended: None }
    }

    /// When recording ended, once it has.
    #[inline]
    pub fn ended(&self) -> Option<Ns> {
        self.ended
    }

    /// Recording goes on at this time. If not, it has ended, maybe just now.
    pub fn is_open(&mut self, now: Ns) -> bool {
        if self.ended.is_some() {
            return false;
        }
        let budget = &self.budget;
        if now >= budget.from && !std::mem::replace(&mut self.entered, true) && budget.has_more_than(budget.limit) {
            // More is under way already than may be shown.
            budget.stop(budget.from);
        }
        let end = budget.end();
        if now >= end {
            self.ended = Some(end);
        }
        now < end
    }

    /// The run ends. Returns when recording did.
    pub fn finish(&mut self, end: Ns) -> Ns {
        if self.is_open(end) {
            self.ended = Some(end);
        }
        self.ended.expect("it is not open")
    }

    /// Takes one more slice; if there may be no more, recording has ended. What is under way before the window does not count yet.
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

    /// Recording ends now, for all.
    pub fn stop(&mut self, now: Ns) {
        self.budget.stop(now);
        self.ended = Some(now);
    }

    /// The part of a slice that lies in the window. `None`: nothing of it, and it was not taken after all.
    pub fn clip(&self, start: Ns, end: Ns) -> Option<(Ns, Ns)> {
        let (start, end) = (start.max(self.budget.from), end.min(self.budget.to));
        if end <= start {
            self.budget.taken.fetch_sub(1, Ordering::Relaxed);
        }
        (end > start).then_some((start, end))
    }

    /// The window has begun at this time.
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
        let (mut first, mut second) = (Gate::new(&budget), Gate::new(&budget));
        // Before the window any number may be under way; what ends before it is given back.
        assert!((0..5).all(|at| first.take(at)));
        assert_eq!([(0, 10), (1, 100), (2, 100)].map(|(start, end)| first.clip(start, end)), [None; 3]);
        assert!(first.is_open(100) && second.is_open(150));
        assert_eq!(first.clip(3, 160), Some((100, 160)));
        assert!(!second.take(200), "two are taken, the one under way included");
        assert!(budget.is_full());
        assert_eq!((second.ended(), first.is_open(199), first.is_open(210), first.ended()), (Some(200), true, false, Some(200)));
    }

    #[test]
    fn more_under_way_than_may_be_shown_ends_it_at_once() {
        let budget = Arc::new(Budget::new(100, 1000, 2));
        let mut gate = Gate::new(&budget);
        assert!((0..3).all(|at| gate.take(at)));
        assert!(!gate.is_open(130));
        assert_eq!((gate.ended(), budget.is_full()), (Some(100), true));
    }

    #[test]
    fn a_window_that_ends_before_the_run_is_not_full() {
        let budget = Arc::new(Budget::new(0, 500, 2));
        let mut gate = Gate::new(&budget);
        assert!(gate.take(0) && gate.take(499));
        assert_eq!((gate.finish(700), budget.is_full()), (500, false));
        let mut other = Gate::new(&Arc::new(Budget::new(0, Ns::MAX, 2)));
        assert_eq!(other.finish(700), 700);
    }
}
