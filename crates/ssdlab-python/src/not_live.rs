//! In place of `live` on systems that cannot serve drives to programs.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use ssdlab::error::Error;

use crate::errors::Failure;

/// Refuses: a drive is served on Linux only.
#[pyfunction]
#[pyo3(signature = (*_args, **_options))]
pub fn serve(_args: &Bound<'_, PyTuple>, _options: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    let message = format!(
        "a drive is served on Linux only, and this is {}: serve it on a Linux machine, or replay a trace of the program with `ssdlab run`",
        std::env::consts::OS
    );
    Err(Failure::Core(Error::Usage(message)).into())
}
