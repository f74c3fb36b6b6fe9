//! How much later than the simulated drive completed them requests were answered: where the host or the simulator is slower than the drive.

use std::time::Duration;

/// Answers that come later than this count as late. Waking up a thread takes as long.
pub const TOLERANCE: Duration = Duration::from_micros(100);

/// How late answers were, in real time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Late {
    /// Requests that were answered.
    pub answered: u64,
    /// Those answered later than [`TOLERANCE`] after they were due.
    pub count: u64,
    /// Sum over all.
    pub total: Duration,
    /// The worst.
    pub max: Duration,
}

impl Late {
    /// A request was answered so long after it was due.
    pub fn add(&mut self, by: Duration) {
        self.answered += 1;
        self.count += u64::from(by > TOLERANCE);
        self.total += by;
        self.max = self.max.max(by);
    }

    /// Mean over all requests, ns.
    pub fn mean_ns(&self) -> f64 {
        if self.answered == 0 { 0.0 } else { self.total.as_nanos() as f64 / self.answered as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_over_all_and_the_count_of_those_beyond_the_tolerance() {
        let mut late = Late::default();
        assert_eq!(late.mean_ns(), 0.0);
        for us in [0, 100, 101, 399] {
            late.add(Duration::from_micros(us));
        }
        assert_eq!((late.answered, late.count, late.max), (4, 2, Duration::from_micros(399)));
        assert_eq!(late.mean_ns(), 150_000.0);
    }
}
