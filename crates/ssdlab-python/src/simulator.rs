//! Co-simulation step by step.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use ssdlab::error::{Error, Result};
use ssdlab::request::Request;
use ssdlab::simulation::{Control, Simulation};
use ssdlab::stats::{Completion, Part};
use ssdlab::units::{Lpn, PoolId};

use crate::errors::{guarded, json};
use crate::runs::PyPlan;
use crate::workers;

/// Maximum delay of Ctrl-C in `run_until`.
const PIECE: Duration = Duration::from_millis(20);
/// Simulated time of the first piece, from which the pieces grow while they are shorter than [`PIECE`].
const FIRST_PIECE_NS: u64 = 10_000_000;

/// One completed request.
#[pyclass(frozen, name = "Completion", module = "ssdlab._core")]
pub struct PyCompletion(Completion);

#[pymethods]
impl PyCompletion {
    /// The request's serial number, as `submit` returned it.
    #[getter]
    fn index(&self) -> u64 {
        self.0.index
    }

    /// Index of the flow that sent the request, from 0.
    #[getter]
    fn flow(&self) -> u16 {
        self.0.flow
    }

    /// `read`, `write`, `trim` or `flush`; of drives with zones also `append`, `zone-open`, `zone-close`, `zone-finish` or `zone-reset`.
    #[getter]
    fn op(&self) -> &'static str {
        self.0.kind.name()
    }

    /// First byte of the request.
    #[getter]
    fn offset(&self) -> u64 {
        self.0.offset
    }

    /// Length in bytes.
    #[getter]
    fn length(&self) -> u64 {
        self.0.length
    }

    /// Arrival, ns.
    #[getter]
    fn arrival_ns(&self) -> u64 {
        self.0.arrival_ns
    }

    /// Completion, ns.
    #[getter]
    fn completed_ns(&self) -> u64 {
        self.0.completed_ns
    }

    /// What became of the request: `done`; `lost` if data that it needed could not be read; `rejected` if the drive, being read-only, did not
    /// carry out all of it.
    #[getter]
    fn status(&self) -> &'static str {
        self.0.times.status.name()
    }

    /// Completion - arrival, ns.
    #[getter]
    fn response_ns(&self) -> u64 {
        self.0.completed_ns - self.0.arrival_ns
    }

    /// The parts of the response time by name, ns; their sum is the response time.
    #[getter]
    fn parts_ns(&self) -> std::collections::BTreeMap<&'static str, u64> {
        Part::NAMES.into_iter().zip(self.0.parts().0).collect()
    }

    fn __repr__(&self) -> String {
        let done = &self.0;
        format!(
            "Completion(index={}, op='{}', offset={}, length={}, arrival_ns={}, completed_ns={})",
            done.index,
            self.op(),
            done.offset,
            done.length,
            done.arrival_ns,
            done.completed_ns
        )
    }
}

/// A drive that takes requests one by one.
#[pyclass(frozen, name = "Simulator", module = "ssdlab._core")]
pub struct PySimulator {
    /// `None` once finished, or after an error that left it unusable.
    simulation: Arc<Mutex<Option<Simulation>>>,
    control: Arc<Control>,
}

impl PySimulator {
    /// Runs short work on the simulation.
    fn with<T>(&self, work: impl FnOnce(&mut Simulation) -> Result<T>) -> PyResult<T> {
        Ok(guarded(|| locked(&self.simulation, work))?)
    }

    /// Runs long work on the simulation, in a worker thread.
    fn long<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Option<Simulation>) -> Result<T> + Send + 'static,
    ) -> PyResult<T> {
        let simulation = Arc::clone(&self.simulation);
        workers::call(py, Arc::clone(&self.control), None, move |_| {
            let mut slot = simulation.try_lock().map_err(|_| busy())?;
            let result = work(&mut slot);
            give_up(&mut slot, &result);
            result
        })
    }
}

fn busy() -> Error {
    Error::Usage("this simulator is in use, by another thread or by the call that this one is part of".into())
}

fn over() -> Error {
    Error::Usage("this simulator has finished, or ended with an error".into())
}

fn locked<T>(simulation: &Mutex<Option<Simulation>>, work: impl FnOnce(&mut Simulation) -> Result<T>) -> Result<T> {
    let mut slot = simulation.try_lock().map_err(|_| busy())?;
    let result = work(slot.as_mut().ok_or_else(over)?);
    give_up(&mut slot, &result);
    result
}

/// Drops the simulation after an error in the midst of a step, after which it cannot go on.
fn give_up<T>(slot: &mut Option<Simulation>, result: &Result<T>) {
    if matches!(result, Err(Error::Simulation(_) | Error::Policy { .. } | Error::Interrupted)) {
        *slot = None;
    }
}

#[pymethods]
impl PySimulator {
    #[new]
    fn new(py: Python<'_>, plan: &PyPlan) -> PyResult<Self> {
        let (plan, control) = (plan.0.clone(), Arc::new(Control::default()));
        let simulation = workers::call(py, Arc::clone(&control), None, move |control| {
            let mut simulation = Simulation::new(&plan, control)?;
            simulation.take_completions(); // completions are kept from now on
            Ok(simulation)
        })?;
        Ok(PySimulator { simulation: Arc::new(Mutex::new(Some(simulation))), control })
    }

    /// Submits a request; returns its serial number. Arrival times must not decrease.
    #[pyo3(signature = (op, offset, length, *, arrival_ns, high_priority=false, flow=0, handle=None))]
    #[allow(clippy::too_many_arguments)]
    fn submit(
        &self,
        op: &str,
        offset: u64,
        length: u64,
        arrival_ns: u64,
        high_priority: bool,
        flow: u16,
        handle: Option<u8>,
    ) -> PyResult<u64> {
        let kind = crate::caching::kind(op)?;
        self.with(|simulation| simulation.submit(Request { arrival_ns, kind, offset, length, high_priority, flow, handle }))
    }

    /// Simulates up to and including the instant `until_ns`.
    ///
    /// Called for every few events, so without a thread of its own: piece by piece, with a look at the signals in between.
    fn run_until(&self, py: Python<'_>, until_ns: u64) -> PyResult<()> {
        let mut piece_ns = FIRST_PIECE_NS;
        loop {
            let started = Instant::now();
            let now = py.detach(|| {
                self.with(|simulation| {
                    let end = simulation.now().saturating_add(piece_ns).min(until_ns);
                    simulation.run_until(end)?;
                    Ok(simulation.now())
                })
            })?;
            if now >= until_ns {
                return Ok(());
            }
            py.check_signals()?;
            piece_ns = if started.elapsed() < PIECE { piece_ns.saturating_mul(2) } else { (piece_ns / 2).max(1) };
        }
    }

    /// Simulates until no event is left.
    fn run_to_idle(&self, py: Python<'_>) -> PyResult<()> {
        self.long(py, |slot| slot.as_mut().ok_or_else(over)?.run_to_idle())
    }

    /// The requests completed since the last call, in order of completion.
    fn completions(&self) -> PyResult<Vec<PyCompletion>> {
        self.with(|simulation| Ok(simulation.take_completions().into_iter().map(PyCompletion).collect()))
    }

    /// The simulated time, ns.
    #[getter]
    fn now_ns(&self) -> PyResult<u64> {
        self.with(|simulation| Ok(simulation.now()))
    }

    /// The physical page that holds the data of each logical page; -1 for a page without data. With zones these are the pages that can be written: without
    /// the addresses between zones.
    fn mapping(&self) -> PyResult<Vec<i64>> {
        self.with(|simulation| {
            let ftl = simulation.ssd().ftl();
            let place = |lpn| ftl.lookup(Lpn(lpn)).map_or(-1, |ppn| i64::from(ppn.0));
            Ok((0..ftl.geometry().exported_units).map(place).collect())
        })
    }

    /// The zones: state, first byte, bytes that can be written, and bytes that the host has written. Empty for a drive without zones.
    fn zones(&self) -> PyResult<Vec<(&'static str, u64, u64, u64)>> {
        self.with(|simulation| {
            let Some(zones) = simulation.storage().zones() else { return Ok(Vec::new()) };
            let unit = u64::from(simulation.unit_bytes());
            let row = |zone| {
                let (state, written) = zones.zone(zone);
                (state.name(), u64::from(zone) * zones.zone_bytes(), u64::from(zones.capacity()) * unit, u64::from(written) * unit)
            };
            Ok((0..zones.count()).map(row).collect())
        })
    }

    /// The number of erases of each block.
    fn erase_counts(&self) -> PyResult<Vec<u32>> {
        self.with(|simulation| Ok(simulation.ssd().ftl().blocks().erases().to_vec()))
    }

    /// The free blocks of a pool, the next one to be used first; open blocks are not included.
    fn free_blocks(&self, pool: u64) -> PyResult<Vec<u32>> {
        self.with(|simulation| {
            let ftl = simulation.ssd().ftl();
            let pools = ftl.geometry().pools.count.get();
            if pool >= u64::from(pools) {
                return Err(Error::Usage(format!("pool = {pool}: the drive has {pools} pools, numbered from 0")));
            }
            Ok(ftl.blocks().free_blocks(PoolId(pool as u32)).map(|block| block.0).collect())
        })
    }

    /// Simulates to the end and returns the result as JSON text.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        self.long(py, |slot| json(&slot.take().ok_or_else(over)?.finish()?))
    }
}
