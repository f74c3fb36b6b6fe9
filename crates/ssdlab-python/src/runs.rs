//! Configurations, plans and runs.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

use pyo3::prelude::*;
use ssdlab::config::layers::Layers;
use ssdlab::config::{Capacity, Config, Fit};
use ssdlab::error::Error;
use ssdlab::inputs;
use ssdlab::simulation::{self, Control, Plan, StateCache, Verify, WarmUp};
use ssdlab::slowest;
use ssdlab::timeline::{DEFAULT_LIMIT, Wanted};

use crate::errors::{Failure, guarded, json};
use crate::policies;
use crate::workers::{self, Message, Snapshot, attend};

/// A complete, checked configuration, and the keys that the user wrote.
#[pyclass(frozen, name = "Config", module = "ssdlab._core")]
pub struct PyConfig(pub Config, pub Vec<String>);

#[pymethods]
impl PyConfig {
    /// The configuration as JSON text.
    fn json(&self) -> PyResult<String> {
        Ok(guarded(|| json(&self.0))?)
    }

    /// The value of a key, or of a section, such as `gc.soft` or `workload`, as JSON text; `null` for one that is not set.
    fn get(&self, key: &str) -> PyResult<String> {
        let found = guarded(|| self.0.at(key).map_err(Error::Usage))?;
        Ok(guarded(|| json(&found))?)
    }

    /// Bytes that the host can address.
    #[getter]
    fn exported_bytes(&self) -> PyResult<u64> {
        Ok(guarded(|| self.0.exported_bytes())?)
    }

    /// The zones of the drive: their number, the bytes of each that can be written, and the bytes between the first bytes of two; `None` without zones.
    #[getter]
    fn zones(&self) -> PyResult<Option<(u64, u64, u64)>> {
        let config = &self.0;
        let sizes = || {
            let (count, pools, unit) = (config.zone_count()?, Capacity::of(config)?.pools, u64::from(config.map_unit_bytes()));
            Ok((count, config.zone_units(pools) * unit, config.zone_distance(pools) * unit))
        };
        Ok(guarded(|| config.has_zones().then(sizes).transpose())?)
    }

    /// Free blocks of a pool that the host may not take.
    #[getter]
    fn reserve_blocks(&self) -> u32 {
        self.0.reserve()
    }

    /// Free blocks of a pool that no threshold of GC counts.
    #[getter]
    fn uncounted_blocks(&self) -> u32 {
        self.0.uncounted_blocks()
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(format!("Config({})", self.json()?))
    }

    fn __eq__(&self, other: &PyConfig) -> bool {
        self.0 == other.0
    }
}

/// Builds a configuration from its layers, of which a later one overrides an earlier one: device, schemes, workload, file, single keys.
/// Without `sized`, spare blocks are not checked, since the drive will be fitted. `fitted`: keys over all others that fitting found; they
/// count as written under the name `fit`.
#[pyfunction]
#[pyo3(signature = (*, device=None, schemes=Vec::new(), workload=None, file=None, set=Vec::new(), fitted=Vec::new(), sized=true))]
pub fn build_config(
    device: Option<String>,
    schemes: Vec<String>,
    workload: Option<String>,
    file: Option<PathBuf>,
    mut set: Vec<(String, String)>,
    fitted: Vec<(String, String)>,
    sized: bool,
) -> PyResult<PyConfig> {
    let found: Vec<String> = fitted.iter().map(|(key, _)| key.clone()).collect();
    set.extend(fitted);
    let mut built = guarded(|| {
        let file = match file {
            None => None,
            Some(path) => {
                let text = inputs::text(&path).map_err(|source| Error::io("read", &path, source))?;
                Some((path.display().to_string(), text))
            }
        };
        let layers = Layers { device, schemes, workload, file, set };
        if sized { layers.build_noting_keys() } else { layers.build_of_any_size() }
    })?;
    for key in found {
        if let Some(index) = built.written.iter().rposition(|written| *written == key) {
            built.written[index] = "fit".into();
        }
    }
    Ok(PyConfig(built.config, built.written))
}

/// The keys set by hand that have no effect in the configuration, each with what it needs.
#[pyfunction]
pub fn idle_by_hand(config: &PyConfig, set: Vec<(String, String)>, from_state: bool) -> PyResult<Vec<(String, String)>> {
    let idle = guarded(|| ssdlab::config::idle_by_hand(&config.0, &set, from_state))?;
    Ok(idle.into_iter().map(|key| (key.key, key.needs)).collect())
}

/// Blocks a plane and over-provisioning with which the configured drive exports `bytes`; `None` if no drive does.
#[pyfunction]
pub fn fit_device(config: &PyConfig, bytes: u64) -> Option<(u32, f64)> {
    Fit::of(&config.0, bytes).map(|fit| (fit.blocks_per_plane, fit.overprovisioning))
}

/// Everything that determines a run.
#[pyclass(frozen, name = "Plan", module = "ssdlab._core")]
pub struct PyPlan(pub Plan);

#[pymethods]
impl PyPlan {
    #[new]
    #[pyo3(signature = (
        config, *, seed, requests=None, warm_up=None, verify="off", request_log=None, timeline=None, blocks=None, series=false, alone=false,
        state=None, state_cache=None, save_state=None, victim=None, eviction=None, order=None, placement=None, slowest=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are named in Python")]
    fn new(
        config: &PyConfig,
        seed: u64,
        requests: Option<u64>,
        warm_up: Option<(u64, String)>,
        verify: &str,
        request_log: Option<PathBuf>,
        timeline: Option<(PathBuf, u64, Option<u64>, Option<u64>)>,
        blocks: Option<PathBuf>,
        series: bool,
        alone: bool,
        state: Option<PathBuf>,
        state_cache: Option<PathBuf>,
        save_state: Option<PathBuf>,
        victim: Option<policies::Given>,
        eviction: Option<policies::Given>,
        order: Option<policies::Given>,
        placement: Option<policies::Given>,
        slowest: Option<(PathBuf, usize, Vec<u64>, Option<usize>)>,
    ) -> PyResult<Self> {
        let verify = match verify {
            "off" => Verify::Off,
            "end" => Verify::End,
            "every" => Verify::Every,
            other => {
                let message = format!("verify = \"{other}\" is none of off, end, every");
                return Err(Failure::Core(Error::Usage(message)).into());
            }
        };
        let wanted = |(path, from, to, limit): (_, _, Option<_>, Option<_>)| {
            Wanted::new(path, (from, to.unwrap_or(u64::MAX)), limit.unwrap_or(DEFAULT_LIMIT))
        };
        let timeline = timeline.map(wanted).transpose().map_err(Failure::Core)?;
        let explained = |(path, count, requests, stages)| slowest::Wanted::new(path, count, requests, stages);
        let slowest = slowest.map(explained).transpose().map_err(Failure::Core)?;
        let warm_up = warm_up.map(|(length, unit)| if unit == "ns" { WarmUp::Time(length) } else { WarmUp::Requests(length) });
        let (victim, eviction, order) = (victim.map(policies::victim), eviction.map(policies::eviction), order.map(policies::order));
        let plan = Plan {
            requests,
            warm_up,
            verify,
            request_log,
            timeline,
            slowest,
            blocks,
            written: config.1.clone(),
            series,
            alone,
            state,
            state_cache: state_cache.map(|folder| StateCache::new(folder, env!("SSDLAB_CODE").to_string())),
            save_state,
            victim,
            eviction,
            order,
            placement: placement.map(policies::placement),
            ..Plan::new(config.0.clone(), seed)
        };
        guarded(|| plan.check())?;
        Ok(PyPlan(plan))
    }

    /// The configuration.
    #[getter]
    fn config(&self) -> PyConfig {
        PyConfig(self.0.config.clone(), self.0.written.clone())
    }

    /// The configuration as the result has it, as JSON text: with user-defined policies in place of the keys that
    /// they replace.
    fn config_of_result(&self) -> PyResult<String> {
        Ok(guarded(|| json(&self.0.config_of_result()))?)
    }
}

/// Runs shared by the worker threads.
struct Batch {
    plans: Vec<Plan>,
    controls: Vec<Control>,
    next: AtomicUsize,
}

type Outcome = Result<String, Failure>;
/// Outcome of each run, and the exception that cut the batch short, if any.
type Ended = (Vec<Py<PyAny>>, Option<Py<PyAny>>);

impl Batch {
    fn new(plans: Vec<Plan>) -> Self {
        let controls = plans.iter().map(|_| Control::default()).collect();
        Batch { plans, controls, next: AtomicUsize::new(0) }
    }

    /// Body of a worker thread: runs the next plan until none is left.
    fn work(&self, sender: &Sender<Message<(usize, Outcome)>>) {
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some((plan, control)) = self.plans.get(index).zip(self.controls.get(index)) else { return };
            if control.cancelled() {
                continue;
            }
            let outcome = guarded(|| json(&simulation::run(plan, control)?));
            // The receiver is gone only if the caller no longer waits.
            let _ = sender.send(Message::Report((index, outcome)));
        }
    }

    fn cancel(&self) {
        self.controls.iter().for_each(workers::cancel);
    }

    fn snapshots(&self) -> Vec<Snapshot> {
        let begun = self.next.load(Ordering::Relaxed);
        let waiting = (workers::WAITING, 0, 0, 0);
        self.controls.iter().enumerate().map(|(index, control)| if index < begun { workers::snapshot(control) } else { waiting }).collect()
    }
}

/// Runs the plans in at most `jobs` threads. `progress(list)` is called regularly with the progress of each run,
/// `finished(index, outcome)` as soon as a run has ended. Returns every run's outcome, a JSON text or an exception, and the
/// exception that cut the batch short, if one did (Ctrl-C, or an error of a callback).
#[pyfunction]
#[pyo3(signature = (plans, *, jobs=1, progress=None, finished=None))]
pub fn run_many(
    py: Python<'_>,
    plans: Vec<Py<PyPlan>>,
    jobs: usize,
    progress: Option<Bound<'_, PyAny>>,
    finished: Option<Bound<'_, PyAny>>,
) -> PyResult<Ended> {
    let mut outcomes: Vec<Option<Py<PyAny>>> = plans.iter().map(|_| None).collect();
    let batch = Arc::new(Batch::new(plans.iter().map(|plan| plan.get().0.clone()).collect()));
    let (sender, receiver) = channel();
    for _ in 0..jobs.clamp(1, plans.len().max(1)) {
        let (batch, sender) = (Arc::clone(&batch), sender.clone());
        workers::spawn(sender, move |sender| batch.work(sender))?;
    }
    drop(sender); // so that the inbox closes when the last worker has ended
    let interrupt = attend(
        py,
        &Mutex::new(receiver),
        workers::GRACE,
        || batch.cancel(),
        |message, stopping| {
            if let Some((index, outcome)) = message {
                let outcome = outcome_object(py, outcome)?;
                outcomes[index] = Some(outcome.clone_ref(py));
                if let Some(finished) = &finished {
                    finished.call1((index, outcome))?;
                }
            }
            if let (Some(progress), false) = (&progress, stopping) {
                progress.call1((batch.snapshots(),))?;
            }
            Ok(ControlFlow::Continue(()))
        },
    );
    let outcomes = outcomes.into_iter().map(|outcome| outcome.map_or_else(|| stopped(py), Ok)).collect::<PyResult<_>>()?;
    Ok((outcomes, interrupt.map(|error| error.into_value(py).into_any())))
}

fn outcome_object(py: Python<'_>, outcome: Outcome) -> PyResult<Py<PyAny>> {
    match outcome {
        Ok(text) => Ok(text.into_pyobject(py)?.into_any().unbind()),
        Err(failure) => Ok(PyErr::from(failure).into_value(py).into_any()),
    }
}

fn stopped(py: Python<'_>) -> PyResult<Py<PyAny>> {
    outcome_object(py, Err(Failure::Core(Error::Interrupted)))
}

/// Prepares a device and saves its state; returns the report as JSON text.
#[pyfunction]
#[pyo3(signature = (plan, out, *, progress=None))]
pub fn precondition(py: Python<'_>, plan: &PyPlan, out: PathBuf, progress: Option<Bound<'_, PyAny>>) -> PyResult<String> {
    let plan = plan.0.clone();
    workers::call(py, Arc::default(), progress.as_ref(), move |control| json(&simulation::precondition(&plan, &out, control)?))
}
