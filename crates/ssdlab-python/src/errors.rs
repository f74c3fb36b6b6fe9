//! Core errors and panics as Python exceptions. The exception classes are Python's own (`ssdlab.errors`), so that they can be
//! documented and subclassed there.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::import_exception;
use pyo3::prelude::*;
use ssdlab::error::Error;

import_exception!(ssdlab.errors, ConfigError);
import_exception!(ssdlab.errors, FileError);
import_exception!(ssdlab.errors, InternalError);
import_exception!(ssdlab.errors, PolicyError);
import_exception!(ssdlab.errors, SimulationError);
import_exception!(ssdlab.errors, StoppedError);
import_exception!(ssdlab.errors, TraceError);
import_exception!(ssdlab.errors, UsageError);

/// Why work in the core failed.
#[derive(Debug)]
pub enum Failure {
    /// The core returned an error.
    Core(Error),
    /// The core panicked, with this message and place.
    Panic(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Core(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> PyErr {
        match failure {
            Failure::Core(error) => exception(&error),
            Failure::Panic(what) => {
                InternalError::new_err(format!("internal error, please report it with the command that led to it: {what}"))
            }
        }
    }
}

/// The Python exception for a core error, with the core's message.
fn exception(error: &Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Config(_) => ConfigError::new_err(message),
        Error::Usage(_) => UsageError::new_err(message),
        Error::Trace(_) => TraceError::new_err(message),
        Error::Simulation(_) => SimulationError::new_err(message),
        Error::Policy { reason, .. } => policy_error(message, reason.as_ref()),
        Error::Interrupted => StoppedError::new_err("stopped before its end"),
        Error::Io { path, source, .. } => FileError::new_err((message, source.raw_os_error(), path.display().to_string())),
    }
}

/// An exception that a policy raised, and the line of the policy's file that raised it, if that is known.
#[derive(Debug)]
pub struct Raised {
    /// The exception that the policy raised.
    pub error: PyErr,
    /// The line of the policy's file, from 1; `None` if it is not known.
    pub line: Option<u32>,
}

impl std::fmt::Display for Raised {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = self.error.to_string();
        // Python prints an exception without a text as `ValueError: `.
        write!(f, "{}", text.trim_end().trim_end_matches(':'))?;
        self.line.map_or(Ok(()), |line| write!(f, " (line {line})"))
    }
}

impl std::error::Error for Raised {}

/// The Python exception behind the failure of a policy, if there is one.
pub fn raised<'a>(reason: &'a (dyn std::error::Error + Send + Sync + 'static)) -> Option<&'a PyErr> {
    reason.downcast_ref::<PyErr>().or_else(|| Some(&reason.downcast_ref::<Raised>()?.error))
}

/// The error for a policy that could not choose. An exception that it raised in Python is the cause; Ctrl-C is not an error of the policy,
/// and stays as it is.
fn policy_error(message: String, reason: &(dyn std::error::Error + Send + Sync + 'static)) -> PyErr {
    let error = PolicyError::new_err(message);
    let Some(raised) = raised(reason) else { return error };
    Python::attach(|py| {
        let raised = raised.clone_ref(py);
        if raised.is_instance_of::<PyKeyboardInterrupt>(py) {
            return raised;
        }
        error.set_cause(py, Some(raised));
        error
    })
}

thread_local! {
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Silences panics, which become exceptions, on standard error. The default hook stays in use when the user requests backtraces.
pub fn keep_panics_quiet() {
    let default_hook = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if std::env::var_os("SSDLAB_TRACEBACK").is_some() {
            default_hook(info);
        }
        LAST_PANIC.with(|last| *last.borrow_mut() = Some(info.to_string().replace('\n', " ")));
    }));
}

/// Runs work in the core; a panic is returned as a [`Failure`].
pub fn guarded<T>(work: impl FnOnce() -> ssdlab::error::Result<T>) -> Result<T, Failure> {
    // The work's state is never used after a panic: callers drop it.
    match panic::catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(Failure::Core),
        Err(_) => Err(Failure::Panic(LAST_PANIC.with(|last| last.borrow_mut().take()).unwrap_or_default())),
    }
}

/// A result of the core as JSON text.
pub fn json<T: serde::Serialize>(value: &T) -> ssdlab::error::Result<String> {
    serde_json::to_string(value).map_err(|reason| Error::Simulation(format!("the result cannot be written as JSON: {reason}")))
}
