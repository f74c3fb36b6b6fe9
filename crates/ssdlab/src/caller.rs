//! The caller of long work, as the work sees it: it may ask for a stop, and is told how far the work is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Error, Result};

const MILLION: f64 = 1e6;

#[derive(Debug, Default)]
struct Line {
    stop: AtomicBool,
    millionths: AtomicU64,
}

/// The line between long work and its caller, which both look at now and then. Clones are the same line.
#[derive(Clone, Debug, Default)]
pub struct Caller(Arc<Line>);

impl Caller {
    /// Asks the work to stop.
    pub fn ask(&self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }

    /// True once the caller asked to stop.
    pub fn asked(&self) -> bool {
        self.0.stop.load(Ordering::Relaxed)
    }

    /// Ends the work that calls it, if the caller asked to stop.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn check(&self) -> Result<()> {
        if self.asked() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Tells which share of its input the work has consumed, 0..=1.
    pub fn tell(&self, share: f64) {
        self.0.millionths.store((share * MILLION) as u64, Ordering::Relaxed);
    }

    /// What the work told last, in millionths; 0 if nothing.
    pub fn millionths(&self) -> u64 {
        self.0.millionths.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_are_one_line() {
        let caller = Caller::default();
        let other = caller.clone();
        assert!(other.check().is_ok() && caller.millionths() == 0);
        caller.ask();
        other.tell(0.25);
        assert!(other.asked() && matches!(other.check(), Err(Error::Interrupted)));
        assert_eq!(caller.millionths(), 250_000);
    }
}
