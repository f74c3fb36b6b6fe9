//! Policies written in Python: for victims, called once for each GC job, and for evictions from a cache.

use std::sync::{Arc, OnceLock};

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyMemoryView, PyType};
use ssdlab::cache::{CustomEviction, EvictionCandidate, EvictionPolicy};
use ssdlab::gc::victim::{Candidates, CustomVictim, Failure, VictimPolicy};
use ssdlab::units::BlockId;

use crate::workers;

/// A policy from Python: the callable, its name, and its source text, whose hash is in the result.
pub type Given = (Py<PyAny>, String, String);

/// A victim policy for a plan, from Python.
pub fn victim(given: Given) -> CustomVictim {
    let (callable, name, source) = given;
    let callable = Arc::new(callable);
    CustomVictim::new(&name, &source, move || PyPolicy::new(&callable))
}

/// An eviction policy for a plan, from Python.
pub fn eviction(given: Given) -> CustomEviction {
    let (callable, name, source) = given;
    let callable = Arc::new(callable);
    CustomEviction::new(&name, &source, move || PyPolicy::new(&callable))
}

/// The blocks that a GC job may collect, with one entry per block in each of four read-only arrays.
///
/// They are sorted by valid pages, fewest first; among equals, the block that has had its number for longest comes first. So `blocks[0]` is
/// the greedy choice. There is at least one block. `numpy.asarray` takes the arrays without a copy; they do not change after the call.
#[pyclass(frozen, name = "Candidates", module = "ssdlab._core")]
pub struct PyCandidates {
    length: usize,
    /// The pool of the GC job: index of a plane or, with `ftl.pool = "die"`, of a die, from 0.
    #[pyo3(get)]
    pool: u32,
    /// Number of pages per block of the drive.
    #[pyo3(get)]
    pages_per_block: u32,
    /// Number of each block, as in `Simulator.mapping`.
    #[pyo3(get)]
    blocks: Py<PyAny>,
    /// Number of valid pages of each block.
    #[pyo3(get)]
    valid_pages: Py<PyAny>,
    /// Number of erases of each block.
    #[pyo3(get)]
    erases: Py<PyAny>,
    /// Age of each block: number of blocks of the pool that were filled after it.
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

/// Columns of the victim candidates, as bytes in the machine's order.
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

/// A read-only array of numbers. `format`: type of the numbers, as in Python's module `struct`.
fn array(py: Python<'_>, bytes: &[u8], format: &str) -> PyResult<Py<PyAny>> {
    Ok(PyMemoryView::from(&PyBytes::new(py, bytes))?.call_method1("cast", (format,))?.unbind())
}

/// The pages that a cache can evict, with one entry per page in each of five read-only arrays.
///
/// They are in the order of their last use, least recently used first. There is at least one page. `numpy.asarray` takes the arrays without
/// a copy; they do not change after the call.
#[pyclass(frozen, name = "EvictionCandidates", module = "ssdlab._core")]
pub struct PyEvictionCandidates {
    length: usize,
    /// Number of each page.
    #[pyo3(get)]
    pages: Py<PyAny>,
    /// 1 for each page that was written and must be destaged, else 0.
    #[pyo3(get)]
    dirty: Py<PyAny>,
    /// Age of each page: number of page uses since its last use.
    #[pyo3(get)]
    ages: Py<PyAny>,
    /// Home of each page: the chip that stores it or, above an array, the drive; -1 if it is not known.
    #[pyo3(get)]
    homes: Py<PyAny>,
    /// 1 for each page with GC running on its home, else 0.
    #[pyo3(get)]
    in_gc: Py<PyAny>,
}

#[pymethods]
impl PyEvictionCandidates {
    fn __len__(&self) -> usize {
        self.length
    }

    fn __repr__(&self) -> String {
        format!("<EvictionCandidates: {} pages>", self.length)
    }
}

/// The bytes that `of` gives for each item, one after the other.
fn bytes_of<T, const N: usize>(all: &[T], of: impl Fn(&T) -> [u8; N]) -> Vec<u8> {
    all.iter().flat_map(of).collect()
}

fn eviction_candidates(py: Python<'_>, all: &[EvictionCandidate]) -> PyResult<PyEvictionCandidates> {
    let home = |candidate: &EvictionCandidate| candidate.home.map_or(-1, i64::from);
    Ok(PyEvictionCandidates {
        length: all.len(),
        pages: array(py, &bytes_of(all, |candidate| candidate.page.to_ne_bytes()), "I")?,
        dirty: array(py, &bytes_of(all, |candidate| [u8::from(candidate.dirty)]), "B")?,
        ages: array(py, &bytes_of(all, |candidate| candidate.age.to_ne_bytes()), "Q")?,
        homes: array(py, &bytes_of(all, |candidate| home(candidate).to_ne_bytes()), "q")?,
        in_gc: array(py, &bytes_of(all, |candidate| [u8::from(candidate.in_gc)]), "B")?,
    })
}

/// A policy written in Python, in use.
struct PyPolicy {
    given: Arc<Py<PyAny>>,
    /// The callable: the given one or, for a class, an instance of it; empty before the first call.
    policy: Arc<OnceLock<Py<PyAny>>>,
}

impl PyPolicy {
    fn new(given: &Arc<Py<PyAny>>) -> Self {
        PyPolicy { given: Arc::clone(given), policy: Arc::default() }
    }
}

impl VictimPolicy for PyPolicy {
    fn pick(&mut self, candidates: &Candidates<'_>) -> Result<Option<BlockId>, Failure> {
        let columns = Columns::of(candidates);
        let (pool, pages) = (candidates.pool().0, candidates.pages_per_block());
        let (given, policy) = (Arc::clone(&self.given), Arc::clone(&self.policy));
        workers::in_python(move |py| {
            let candidates = columns.into_python(py, pool, pages)?;
            let answer = made(py, &given, &policy)?.bind(py).call1((candidates,))?;
            Ok(number(&answer, "a block of the drive")?.map(BlockId))
        })
    }
}

impl EvictionPolicy for PyPolicy {
    fn pick(&mut self, candidates: &[EvictionCandidate]) -> Result<Option<u32>, Failure> {
        let all = candidates.to_vec();
        let (given, policy) = (Arc::clone(&self.given), Arc::clone(&self.policy));
        workers::in_python(move |py| {
            let answer = made(py, &given, &policy)?.bind(py).call1((eviction_candidates(py, &all)?,))?;
            number(&answer, "a page that can be evicted")
        })
    }
}

/// The callable of the policy, made on the first call if a class was given.
fn made<'a>(py: Python<'_>, given: &Py<PyAny>, policy: &'a OnceLock<Py<PyAny>>) -> PyResult<&'a Py<PyAny>> {
    if let Some(made) = policy.get() {
        return Ok(made);
    }
    let new = if given.bind(py).is_instance_of::<PyType>() { given.call0(py)? } else { given.clone_ref(py) };
    Ok(policy.get_or_init(|| new))
}

/// The number that a policy returned, if any: any whole number, also NumPy's, but not a truth value, which would be an accident.
fn number(answer: &Bound<'_, PyAny>, of: &str) -> Result<Option<u32>, Failure> {
    if answer.is_none() {
        return Ok(None);
    }
    let (shown, kind) = (answer.repr()?.to_string(), answer.get_type().name()?.to_string());
    let expected = format!("expected the number of {of}, or None");
    match answer.extract::<u32>() {
        Ok(number) if !answer.is_instance_of::<PyBool>() => Ok(Some(number)),
        Err(error) if error.is_instance_of::<PyOverflowError>(answer.py()) => Err(format!("returned {shown}; {expected}").into()),
        _ => Err(format!("returned {shown}, of type {kind}; {expected}").into()),
    }
}
