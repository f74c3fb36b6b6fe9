//! The clock: takes requests in, steps events, hands completions to statistics.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::config::Config;

/// How much is checked while a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Verify {
    /// Nothing beyond the always-on assertions.
    #[default]
    Off,
    /// Data and op overlap as the run goes, all invariants at its end.
    End,
    /// All invariants after every event: for small devices.
    Every,
}

/// Everything that determines a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The effective configuration.
    pub config: Config,
    /// The seed of all random streams.
    pub seed: u64,
    /// Stop after this many requests. `None`: the whole trace (a generated workload needs a number).
    pub requests: Option<u64>,
    /// How much is checked.
    pub verify: Verify,
    /// Write a per-request Parquet log here.
    pub request_log: Option<PathBuf>,
    /// Begin with this saved state in place of preconditioning.
    pub state: Option<PathBuf>,
}

/// A run's line to the outside: progress out, cancellation in. Shared between threads.
#[derive(Debug, Default)]
pub struct Control {
    /// Set to stop the run at the next opportunity with [`crate::error::Error::Interrupted`].
    pub cancel: AtomicBool,
    /// Requests completed so far.
    pub completed: AtomicU64,
    /// Requests expected in all, 0 while unknown.
    pub expected: AtomicU64,
    /// Share of the input consumed, in millionths, where the number of requests is unknown.
    pub input_millionths: AtomicU64,
    /// What is being done: 0 preconditioning, 1 simulating, 2 done.
    pub phase: AtomicU64,
}

impl Control {
    /// True once the caller asked to stop.
    pub fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}
