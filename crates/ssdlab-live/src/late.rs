//! How much later requests were answered than the simulated drive completed them: where the host or the simulator is slower than the drive.

use std::time::Duration;

/// Answers that come later than this count as late. Waking up a thread takes about as long.
pub const TOLERANCE: Duration = Duration::from_micros(100);

/// Lateness of answers, in real time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Late {
    /// Number of requests answered.
    pub answered: u64,
    /// Number of requests answered later than [`TOLERANCE`] after they were due.
    pub count: u64,
    /// Sum of the lateness of all answers.
    pub total: Duration,
    /// Maximum lateness of an answer.
    pub max: Duration,
}

impl Late {
    /// Counts a request that was answered `by` after it was due.
    pub fn add(&mut self, by: Duration) {
        self.answered += 1;
        self.count += u64::from(by > TOLERANCE);
        self.total += by;
        self.max = self.max.max(by);
    }

    /// Mean lateness over all answers, ns; 0 without answers.
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
