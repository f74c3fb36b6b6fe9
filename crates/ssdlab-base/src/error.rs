//! The one error type of the core. Each variant's message says what is wrong, where, what was expected and what to do.

use std::path::{Path, PathBuf};

/// An error of the core. [`Error::Config`] and [`Error::Usage`] are for the caller to correct (exit code 2); all others ended a run that
/// was specified correctly (exit code 1).
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A configuration key, value or combination that cannot be simulated.
    #[error("{0}")]
    Config(String),
    /// A call or command that makes no sense as given.
    #[error("{0}")]
    Usage(String),
    /// A trace that cannot be read, with file and line where there is one.
    #[error("{0}")]
    Trace(String),
    /// A file that cannot be read or written.
    #[error("{path}: cannot {action}: {source}", path = .path.display())]
    Io {
        /// Action that failed: `"read"`, `"write"`, ...
        action: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// The simulation cannot continue: a defect or an impossible situation. The message lists what waits for what.
    #[error("{0}")]
    Simulation(String),
    /// A user-defined policy failed.
    #[error("{kind} policy {policy}: {reason}")]
    Policy {
        /// What the policy chooses: `"victim"`, `"eviction"`, `"order"` or `"placement"`.
        kind: &'static str,
        /// Name of the policy.
        policy: String,
        /// Why the policy failed.
        #[source]
        reason: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The caller requested a stop (Ctrl-C).
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// Wraps an error of the operating system with the file and the action that failed.
    pub fn io(action: &'static str, path: &Path, source: std::io::Error) -> Self {
        Error::Io { action, path: path.to_path_buf(), source }
    }

    /// The process exit code that this error leads to.
    pub fn exit_code(&self) -> i32 {
        match self {
            Error::Config(_) | Error::Usage(_) => 2,
            _ => 1,
        }
    }
}

/// The core's result type.
pub type Result<T> = std::result::Result<T, Error>;
