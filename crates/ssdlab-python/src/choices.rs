//! What an order of operations written in Python sees.

use std::sync::OnceLock;

use pyo3::prelude::*;
use ssdlab::sched::{Choices, JobState, Operation, Situation};

use crate::policies::{array, bytes_of};

/// The operations of which one goes first, with one entry per operation in each of its read-only arrays.
///
/// Operations of the host are in the order of their queues, the oldest first. The operation of GC, if `gc` is not `None`, is the last.
/// There are at least two operations. An array is made when it is first used. `numpy.asarray` takes the arrays without a copy; they do not change after the call.
#[pyclass(frozen, name = "OrderChoices", module = "ssdlab._core")]
pub struct PyChoices {
    operations: Vec<Operation>,
    job: Option<JobState>,
    /// The simulated time, ns.
    #[pyo3(get)]
    now_ns: u64,
    /// The die; where the dies of a chip exclude each other, one of its dies.
    #[pyo3(get)]
    die: u32,
    /// What is decided: `begins` (what begins on a die), `stopped` (whether a page move that has stopped goes on) or `in-service` (whether
    /// an operation in the array goes on, or is suspended).
    #[pyo3(get)]
    situation: &'static str,
    /// Number of reads that the chip has accepted and not begun, also those that cannot begin now.
    #[pyo3(get)]
    queued_reads: u32,
    /// Number of writes that the chip has accepted and not begun, also those that cannot begin now.
    #[pyo3(get)]
    queued_writes: u32,
    columns: [OnceLock<Py<PyAny>>; 13],
}

impl PyChoices {
    /// A copy of the choices.
    pub fn of(choices: &Choices<'_>) -> Self {
        let situation = match choices.situation {
            Situation::Begins => "begins",
            Situation::Stopped => "stopped",
            Situation::InService => "in-service",
        };
        let [queued_reads, queued_writes] = choices.queued;
        let (now_ns, die, job) = (choices.now_ns, choices.die.0, choices.job);
        PyChoices {
            operations: choices.operations.to_vec(),
            job,
            now_ns,
            die,
            situation,
            queued_reads,
            queued_writes,
            columns: Default::default(),
        }
    }

    /// The array in place `index`, made of the bytes that `of` gives for each operation.
    fn column<const N: usize>(
        &self,
        py: Python<'_>,
        index: usize,
        format: &str,
        of: impl Fn(&Operation) -> [u8; N],
    ) -> PyResult<Py<PyAny>> {
        let column = &self.columns[index];
        if let Some(made) = column.get() {
            return Ok(made.clone_ref(py));
        }
        let new = array(py, &bytes_of(&self.operations, of), format)?;
        Ok(column.get_or_init(|| new).clone_ref(py))
    }
}

/// A number that may be unknown: -1 then.
fn signed(number: Option<u64>) -> i64 {
    number.map_or(-1, |number| i64::try_from(number).unwrap_or(i64::MAX))
}

#[pymethods]
impl PyChoices {
    /// Kind: a page is read.
    #[classattr]
    const READ: u8 = 0;
    /// Kind: a page is programmed.
    #[classattr]
    const PROGRAM: u8 = 1;
    /// Kind: a page of a GC job's victim is moved.
    #[classattr]
    const MOVE: u8 = 2;
    /// Kind: the victim of a GC job is erased.
    #[classattr]
    const ERASE: u8 = 3;
    /// Cause: a request of the host.
    #[classattr]
    const HOST: u8 = 0;
    /// Cause: garbage collection.
    #[classattr]
    const GC: u8 = 1;
    /// Cause: a part of the mapping table in flash.
    #[classattr]
    const MAPPING: u8 = 2;

    /// Index of the operation of GC, the last one; `None` if all are of the host.
    #[getter]
    fn gc(&self) -> Option<usize> {
        self.job.map(|_| self.operations.len() - 1)
    }

    /// The block that the GC job collects; `None` without one.
    #[getter]
    fn gc_victim(&self) -> Option<u32> {
        self.job.map(|job| job.victim.0)
    }

    /// Valid pages (mapping units) of the block that the GC job collects; `None` without one.
    #[getter]
    fn gc_valid_pages(&self) -> Option<u32> {
        self.job.map(|job| job.valid_pages)
    }

    /// Free blocks of the GC job's pool; `None` without a GC job.
    #[getter]
    fn gc_free_blocks(&self) -> Option<u32> {
        self.job.map(|job| job.free_blocks)
    }

    /// Whether the GC operation has begun, and is suspended, has stopped or is in service; else it is the job's next step.
    #[getter]
    fn gc_begun(&self) -> Option<bool> {
        self.job.map(|job| job.begun)
    }

    /// Kind of each operation: `READ`, `PROGRAM`, `MOVE` (a page of a GC job's victim is moved) or `ERASE`.
    #[getter]
    fn kinds(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, 0, "B", |one| [one.kind as u8])
    }

    /// What each operation is for: `HOST`, `GC` or `MAPPING` (the mapping table in flash).
    #[getter]
    fn causes(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, 1, "B", |one| [one.cause as u8])
    }

    /// When each operation was admitted to its chip's queue, or the GC step became ready, ns: its age.
    #[getter]
    fn ready_ns(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, 2, "Q", |one| one.ready.0.to_ne_bytes())
    }

    /// Serial number of when each operation was admitted or ready: of two operations of one instant, the older one has the lower number.
    #[getter]
    fn serials(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, 3, "Q", |one| one.ready.1.to_ne_bytes())
    }

    /// Arrival of each request, or start of the GC job, ns.
    #[getter]
    fn arrivals_ns(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, 4, "Q", |one| one.arrival_ns.to_ne_bytes())
    }

    /// First byte of each page that the request touches, in the drive; 0 for GC.
    #[getter]
    fn offsets(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, 5, "Q", |one| one.offset.to_ne_bytes())
    }

    /// Bytes of each page that the request touches; for GC, of a page.
    #[getter]
    fn sizes(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, 6, "I", |one| one.bytes.to_ne_bytes())
    }

    /// Serial number of each request, from 0; -1 for GC.
    #[getter]
    fn requests(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, 7, "q", |one| signed(one.request).to_ne_bytes())
    }

    /// Length of each whole request, bytes; 0 for GC.
    #[getter]
    fn request_sizes(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, 8, "Q", |one| one.request_bytes.to_ne_bytes())
    }

    /// Number of the flow that sent each request, from 0; 0 for GC.
    #[getter]
    fn flows(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, 9, "H", |one| one.flow.to_ne_bytes())
    }

    /// 1 for each operation of a high-priority write, else 0.
    #[getter]
    fn high_priority(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, 10, "B", |one| [u8::from(one.high_priority)])
    }

    /// Pool of each operation: index of a plane or, with `ftl.pool = "die"`, of a die, from 0.
    #[getter]
    fn pools(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, 11, "I", |one| one.pool.0.to_ne_bytes())
    }

    /// How much later each operation may end without delaying its request, ns; -1 for GC, and if ends are not estimated.
    #[getter]
    fn slack_ns(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, 12, "q", |one| signed(one.slack_ns).to_ne_bytes())
    }

    fn __len__(&self) -> usize {
        self.operations.len()
    }

    fn __repr__(&self) -> String {
        format!("<OrderChoices: {} operations for die {} at {} ns>", self.operations.len(), self.die, self.now_ns)
    }
}
