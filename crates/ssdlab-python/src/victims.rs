//! Victim policies written in Python: called once for each GC job.

use std::sync::{Arc, OnceLock};

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyMemoryView, PyType};
use ssdlab::gc::victim::{Candidates, CustomVictim, Failure, VictimPolicy};
use ssdlab::units::BlockId;

use crate::door;

/// A policy as Python hands it over: the callable, what it is called, and the text that the result has the hash of.
pub type Given = (Py<PyAny>, String, String);

/// The policy for a plan.
pub fn custom(given: Given) -> CustomVictim {
    let (callable, name, source) = given;
    let callable = Arc::new(callable);
    CustomVictim::new(&name, &source, move || PyVictim { given: Arc::clone(&callable), policy: Arc::default() })
}

/// The blocks that a GC job may collect, an entry each in four read-only arrays.
///
/// They are in order: fewest valid pages first, and among equals the one first that has had that number for longest. So `blocks[0]` is the
/// greedy choice. There is at least one. `numpy.asarray` takes the arrays without a copy; they stay as they are after the call.
#[pyclass(frozen, name = "Candidates", module = "ssdlab._core")]
pub struct PyCandidates {
    length: usize,
    /// The pool that collects: a plane or, with `ftl.pool = "die"`, a die.
    #[pyo3(get)]
    pool: u32,
    /// Pages of every block of the drive.
    #[pyo3(get)]
    pages_per_block: u32,
    /// The blocks' numbers, as in `Simulator.mapping`.
    #[pyo3(get)]
    blocks: Py<PyAny>,
    /// How many of its pages hold data, for each block.
    #[pyo3(get)]
    valid_pages: Py<PyAny>,
    /// How often it was erased, for each block.
    #[pyo3(get)]
    erases: Py<PyAny>,
    /// How many blocks of the pool were filled after it, for each block.
    #[pyo3(get)]
    ages: Py<PyAny>,
}

#[pymethods]
impl PyCandidates {
    fn __len__(&self) -> usize {
        self.length
    }

    fn __repr__(&self) -> String {
        format!("<Candidates: {} blocks of pool {}>", self.length, self.pool)
    }
}

/// The candidates before they are Python's.
#[derive(Default)]
struct Columns {
    length: usize,
    blocks: Vec<u8>,
    valid_pages: Vec<u8>,
    erases: Vec<u8>,
    ages: Vec<u8>,
}

impl Columns {
    fn of(candidates: &Candidates<'_>) -> Self {
        let mut columns = Columns::default();
        for candidate in candidates.iter() {
            columns.length += 1;
            columns.blocks.extend(candidate.block.0.to_ne_bytes());
            columns.valid_pages.extend(candidate.valid_pages.to_ne_bytes());
            columns.erases.extend(candidate.erases.to_ne_bytes());
            columns.ages.extend(candidate.age.to_ne_bytes());
        }
        columns
    }

    fn into_python(self, py: Python<'_>, pool: u32, pages_per_block: u32) -> PyResult<PyCandidates> {
        Ok(PyCandidates {
            length: self.length,
            pool,
            pages_per_block,
            blocks: array(py, &self.blocks, "I")?,
            valid_pages: array(py, &self.valid_pages, "I")?,
            erases: array(py, &self.erases, "I")?,
            ages: array(py, &self.ages, "Q")?,
        })
    }
}

/// A read-only array of numbers in `format` (that of the module `struct`).
fn array(py: Python<'_>, bytes: &[u8], format: &str) -> PyResult<Py<PyAny>> {
    Ok(PyMemoryView::from(&PyBytes::new(py, bytes))?.call_method1("cast", (format,))?.unbind())
}

/// A policy at work.
struct PyVictim {
    given: Arc<Py<PyAny>>,
    /// What is called: as given or, of a class, an instance of it.
    policy: Arc<OnceLock<Py<PyAny>>>,
}

impl VictimPolicy for PyVictim {
    fn pick(&mut self, candidates: &Candidates<'_>) -> Result<Option<BlockId>, Failure> {
        let columns = Columns::of(candidates);
        let (pool, pages) = (candidates.pool().0, candidates.pages_per_block());
        let (given, policy) = (Arc::clone(&self.given), Arc::clone(&self.policy));
        door::in_python(move |py| {
            let candidates = columns.into_python(py, pool, pages)?;
            block(&made(py, &given, &policy)?.bind(py).call1((candidates,))?)
        })
    }
}

/// The policy, made now if a class was given.
fn made<'a>(py: Python<'_>, given: &Py<PyAny>, policy: &'a OnceLock<Py<PyAny>>) -> PyResult<&'a Py<PyAny>> {
    if let Some(made) = policy.get() {
        return Ok(made);
    }
    let new = if given.bind(py).is_instance_of::<PyType>() { given.call0(py)? } else { given.clone_ref(py) };
    Ok(policy.get_or_init(|| new))
}

/// The block that a policy's answer names: any whole number, those of NumPy included, but not a truth value, which would be an accident.
fn block(answer: &Bound<'_, PyAny>) -> Result<Option<BlockId>, Failure> {
    if answer.is_none() {
        return Ok(None);
    }
    let (shown, kind) = (answer.repr()?.to_string(), answer.get_type().name()?.to_string());
    let expected = "expected the number of a block of the drive, or None";
    match answer.extract::<u32>() {
        Ok(number) if !answer.is_instance_of::<PyBool>() => Ok(Some(BlockId(number))),
        Err(error) if error.is_instance_of::<PyOverflowError>(answer.py()) => Err(format!("returned {shown}; {expected}").into()),
        _ => Err(format!("returned {shown}, of type {kind}; {expected}").into()),
    }
}
