//! Copies of inputs that can be read only once.

use std::path::PathBuf;

use pyo3::prelude::*;
use ssdlab::error::Error;
use ssdlab::inputs::{StandIn, stand_in};

use crate::errors::guarded;

/// A stand-in for an input: while it lives, opening `path` under any name reads `copy`.
#[pyclass(frozen, name = "StandIn", module = "ssdlab._core")]
pub struct PyStandIn {
    _held: StandIn,
}

#[pymethods]
impl PyStandIn {
    #[new]
    fn new(path: PathBuf, copy: PathBuf) -> PyResult<Self> {
        let held = guarded(|| stand_in(&path, copy).map_err(|source| Error::io("read", &path, source)))?;
        Ok(PyStandIn { _held: held })
    }
}
