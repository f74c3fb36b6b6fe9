//! Policies written in Python: for victims, called once for each GC job, for evictions from a cache, for the order of operations, and for
//! data placement.

use std::sync::{Arc, OnceLock};

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyMemoryView, PyTraceback, PyType};
use ssdlab::cache::{CustomEviction, EvictionCandidate, EvictionPolicy};
use ssdlab::ftl::{Class, CustomPlacement, PlacementPolicy, Placing};
use ssdlab::gc::victim::{Candidates, CustomVictim, Failure, VictimPolicy};
use ssdlab::sched::{Choices, CustomOrder, OrderPolicy};
use ssdlab::units::BlockId;

use crate::choices::PyChoices;
use crate::errors::Raised;
use crate::placing::PyPlacing;
use crate::workers;

/// A policy from Python: the callable, its name, its source text, whose hash is in the result, and the file and line of its definition,
/// if they are known.
pub type Given = (Py<PyAny>, String, String, Option<(String, u32)>);

/// A victim policy for a plan, from Python.
pub fn victim(given: Given) -> CustomVictim {
    let (name, source, defined) = Defined::of(given);
    CustomVictim::new(&name, &source, move || PyPolicy::new(&defined))
}

/// An eviction policy for a plan, from Python.
pub fn eviction(given: Given) -> CustomEviction {
    let (name, source, defined) = Defined::of(given);
    CustomEviction::new(&name, &source, move || PyPolicy::new(&defined))
}

/// An order of operations for a plan, from Python.
pub fn order(given: Given) -> CustomOrder {
    let (name, source, defined) = Defined::of(given);
    CustomOrder::new(&name, &source, move || PyPolicy::new(&defined))
}

/// A placement policy for a plan, from Python.
pub fn placement(given: Given) -> CustomPlacement {
    let (name, source, defined) = Defined::of(given);
    CustomPlacement::new(&name, &source, move || PyPolicy::new(&defined))
}

/// The blocks that a GC job may collect, with one entry per block in each of four read-only arrays.
///
/// Blocks are sorted by valid pages, fewest first; among equals, the block that has had its number for longest comes first. So `blocks[0]` is
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
pub fn array(py: Python<'_>, bytes: &[u8], format: &str) -> PyResult<Py<PyAny>> {
    Ok(PyMemoryView::from(&PyBytes::new(py, bytes))?.call_method1("cast", (format,))?.unbind())
}

/// The pages that a cache can evict, with one entry per page in each of five read-only arrays.
///
/// Pages are in the order of their last use, least recently used first. There is at least one page. `numpy.asarray` takes the arrays without
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
pub fn bytes_of<T, const N: usize>(all: &[T], of: impl Fn(&T) -> [u8; N]) -> Vec<u8> {
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

/// A policy as it is defined in Python.
struct Defined {
    callable: Py<PyAny>,
    /// File and line of the definition.
    place: Option<(String, u32)>,
}

impl Defined {
    /// A policy with its name in messages and its source.
    fn of(given: Given) -> (String, String, Arc<Self>) {
        let name = shown_name(&given);
        let (callable, _, source, place) = given;
        (name, source, Arc::new(Defined { callable, place }))
    }

    /// The callable that answers: the given one or, for a class, a new instance of it.
    fn made(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        if self.callable.bind(py).is_instance_of::<PyType>() { self.callable.call0(py) } else { Ok(self.callable.clone_ref(py)) }
    }

    /// The failure by an exception, with the line of the policy's file that raised it.
    fn raised(&self, py: Python<'_>, error: PyErr) -> Failure {
        let line = self.place.as_ref().and_then(|(file, _)| error.traceback(py).and_then(|traceback| last_line_in(&traceback, file)));
        Box::new(Raised { error, line })
    }

    /// The failure of a policy whose answer is not a choice.
    fn wrong(answer: &Bound<'_, PyAny>, of_number: bool, expected: &str) -> PyResult<Failure> {
        let shown: String = answer.py().import("ssdlab.checks")?.call_method1("shown", (answer,))?.extract()?;
        let kind = if of_number { String::new() } else { format!(", of type {}", answer.get_type().name()?) };
        Ok(format!("returned {shown}{kind}; expected {expected}").into())
    }
}

/// The name of a policy in messages, with the line of its definition.
fn shown_name((_, name, _, place): &Given) -> String {
    match place {
        None => name.clone(),
        Some((file, line)) if name.starts_with(file.as_str()) => format!("{name} (line {line})"),
        Some((file, line)) => format!("{name} ({}, line {line})", file.rsplit(['/', '\\']).next().unwrap_or(file)),
    }
}

/// The line of `file` that a traceback names last, if it names any.
fn last_line_in(traceback: &Bound<'_, PyTraceback>, file: &str) -> Option<u32> {
    let (mut found, mut next) = (None, Some(traceback.clone().into_any()));
    while let Some(entry) = next {
        let code = entry.getattr("tb_frame").ok()?.getattr("f_code").ok()?;
        if code.getattr("co_filename").ok()?.extract::<String>().is_ok_and(|name| name == file) {
            found = entry.getattr("tb_lineno").ok()?.extract().ok();
        }
        next = entry.getattr("tb_next").ok().filter(|entry| !entry.is_none());
    }
    found
}

/// A policy written in Python, in use.
struct PyPolicy {
    defined: Arc<Defined>,
    /// The callable: the given one or, for a class, an instance of it; empty before the first call.
    policy: Arc<OnceLock<Py<PyAny>>>,
}

impl PyPolicy {
    fn new(defined: &Arc<Defined>) -> Self {
        PyPolicy { defined: Arc::clone(defined), policy: Arc::default() }
    }

    /// Calls the policy with what `candidates` makes, and returns the number that it chooses. `expected`: what the number must be.
    fn number(
        &self,
        expected: impl FnOnce() -> String + Send + 'static,
        candidates: impl for<'py> FnOnce(Python<'py>) -> PyResult<Bound<'py, PyAny>> + Send + 'static,
    ) -> Result<Option<u32>, Failure> {
        let (defined, policy) = (Arc::clone(&self.defined), Arc::clone(&self.policy));
        workers::in_python(move |py| {
            let answer = made(py, &defined, &policy).and_then(|made| made.bind(py).call1((candidates(py)?,)));
            let answer = answer.map_err(|error| defined.raised(py, error))?;
            if answer.is_none() {
                return Ok(None);
            }
            match answer.extract::<u32>() {
                Ok(number) if !answer.is_instance_of::<PyBool>() => Ok(Some(number)),
                Ok(_) => Err(Defined::wrong(&answer, false, &expected())?),
                Err(error) => Err(Defined::wrong(&answer, error.is_instance_of::<PyOverflowError>(py), &expected())?),
            }
        })
    }
}

impl VictimPolicy for PyPolicy {
    fn pick(&mut self, candidates: &Candidates<'_>) -> Result<Option<BlockId>, Failure> {
        let columns = Columns::of(candidates);
        let (pool, pages) = (candidates.pool().0, candidates.pages_per_block());
        let named = self.number(
            || "the number of a block of the drive, or None".into(),
            move |py| Ok(Bound::new(py, columns.into_python(py, pool, pages)?)?.into_any()),
        )?;
        Ok(named.map(BlockId))
    }
}

impl EvictionPolicy for PyPolicy {
    fn pick(&mut self, candidates: &[EvictionCandidate]) -> Result<Option<u32>, Failure> {
        let all = candidates.to_vec();
        self.number(
            || "the number of a page that can be evicted, or None".into(),
            move |py| Ok(Bound::new(py, eviction_candidates(py, &all)?)?.into_any()),
        )
    }
}

impl OrderPolicy for PyPolicy {
    fn pick(&mut self, choices: &Choices<'_>) -> Result<Option<usize>, Failure> {
        let count = choices.operations.len();
        let choices = PyChoices::of(choices);
        let named = self.number(
            move || format!("the index of an operation, 0 to {}, or None", count - 1),
            move |py| Ok(Bound::new(py, choices)?.into_any()),
        )?;
        Ok(named.map(|index| index as usize))
    }
}

impl PlacementPolicy for PyPolicy {
    fn place(&mut self, placing: &Placing<'_>) -> Result<Class, Failure> {
        let placing = PyPlacing::of(placing);
        let last = placing.streams() - 1;
        let expected = move || format!("the number of a stream, 0 to {last}");
        let chosen = self.number(expected, move |py| Ok(Bound::new(py, placing)?.into_any()))?;
        // A number beyond a byte is a stream that no drive has.
        chosen
            .map(|stream| Class::try_from(stream).unwrap_or(Class::MAX))
            .ok_or_else(|| format!("returned None; expected {}", expected()).into())
    }
}

/// The callable of the policy, made on the first call if a class was given.
fn made<'a>(py: Python<'_>, defined: &Defined, policy: &'a OnceLock<Py<PyAny>>) -> PyResult<&'a Py<PyAny>> {
    if let Some(made) = policy.get() {
        return Ok(made);
    }
    let new = defined.made(py)?;
    Ok(policy.get_or_init(|| new))
}
