//! Cancel flag and progress of a long task.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Error, Result};

const MILLION: f64 = 1e6;

#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    millionths: AtomicU64,
}

/// Cancel flag and progress of a long task. Clones share them: the caller of the task keeps one, the task another.
#[derive(Clone, Debug, Default)]
pub struct Caller(Arc<Shared>);

impl Caller {
    /// Requests the task to stop. It stops at its next check.
    pub fn request_stop(&self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }

    /// True once a stop was requested.
    pub fn stop_requested(&self) -> bool {
        self.0.stop.load(Ordering::Relaxed)
    }

    /// Returns an error if a stop was requested; the task returns with it.
    ///
    /// # Errors
    /// [`Error::Interrupted`] once a stop was requested.
    pub fn check(&self) -> Result<()> {
        if self.stop_requested() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Reports the share of its input that the task has consumed, 0..=1.
    pub fn report_progress(&self, share: f64) {
        self.0.millionths.store((share * MILLION) as u64, Ordering::Relaxed);
    }

    /// The share last reported, in millionths; 0 before the first report.
    pub fn millionths(&self) -> u64 {
        self.0.millionths.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_flag_and_progress() {
        let caller = Caller::default();
        let other = caller.clone();
        assert!(other.check().is_ok() && caller.millionths() == 0);
        caller.request_stop();
        other.report_progress(0.25);
        assert!(other.stop_requested() && matches!(other.check(), Err(Error::Interrupted)));
        assert_eq!(caller.millionths(), 250_000);
    }
}
