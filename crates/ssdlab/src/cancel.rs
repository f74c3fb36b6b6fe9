//! The caller's wish that long work stops, shared with whoever does the work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// A flag that the caller raises and long work looks at now and then. Clones are the same flag.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks the work to stop.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// True once the caller asked to stop.
    pub fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Ends the work that calls it, if the caller asked to stop.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn check(&self) -> Result<()> {
        if self.asked() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_are_one_flag() {
        let cancel = Cancel::default();
        let other = cancel.clone();
        assert!(other.check().is_ok());
        cancel.ask();
        assert!(other.asked() && matches!(other.check(), Err(Error::Interrupted)));
    }
}
