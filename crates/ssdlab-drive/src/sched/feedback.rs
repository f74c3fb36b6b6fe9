//! Errors of recent estimates (elyasi2017, footnote 3).

use std::collections::VecDeque;

use ssdlab_base::units::Ns;

/// How long an error counts, ns: a second, as in the paper.
const WINDOW_NS: Ns = 1_000_000_000;

/// The errors of the last second.
#[derive(Clone, Debug, Default)]
pub struct Feedback {
    /// When an operation ended, ns, and its actual minus its estimated end, ns.
    errors: VecDeque<(Ns, i64)>,
    sum: i128,
}

impl Feedback {
    /// Adds the error of an operation that has ended: its actual minus its estimated end, ns.
    pub fn ended(&mut self, now: Ns, error: i64) {
        self.errors.push_back((now, error));
        self.sum += i128::from(error);
        self.forget(now);
    }

    /// The mean error of operations that ended within the second before now, ns, rounded towards 0.
    pub fn mean(&mut self, now: Ns) -> i64 {
        self.forget(now);
        match self.errors.len() {
            0 => 0,
            count => (self.sum / count as i128) as i64,
        }
    }

    fn forget(&mut self, now: Ns) {
        while let Some(&(at, error)) = self.errors.front()
            && at + WINDOW_NS < now
        {
            self.sum -= i128::from(error);
            self.errors.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_count_for_a_second() {
        let mut feedback = Feedback::default();
        assert_eq!(feedback.mean(5), 0);
        feedback.ended(10, 300);
        feedback.ended(20, -100);
        assert_eq!(feedback.mean(20), 100);
        assert_eq!(feedback.mean(10 + WINDOW_NS), 100);
        assert_eq!(feedback.mean(11 + WINDOW_NS), -100);
        assert_eq!(feedback.mean(21 + WINDOW_NS), 0);
    }
}
