//! The single die as a queueing model.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::Serialize;
use ssdlab::error::Error;
use ssdlab::queueing::formulas::{DomainError, FORMULAS, Formula, MOST_ARGUMENTS};
use ssdlab::queueing::{
    Arrival, Arrivals, GapLists, LAST_ARRIVAL, Model, Priority, QueueingResult, RatesPerMs, Series, ServiceTimes, Traffic, UserOp, Watch,
    simulate,
};
use ssdlab::replay::replay;
use ssdlab::simulation::Control;

use crate::errors::{Failure, guarded, json};
use crate::runs::PyConfig;
use crate::tools::named;
use crate::workers;

/// Values computed between two checks for signals.
const VALUES_AT_ONCE: usize = 1 << 20;

fn usage(message: String) -> Failure {
    Failure::Core(Error::Usage(message))
}

/// A row of the table of formulas: name, equation, dimension, arguments, sentences, symbols.
type Row = (&'static str, &'static str, &'static str, &'static [&'static str], &'static str, &'static str);

/// The formulas of the queueing model, in the order of the report.
#[pyfunction]
pub fn queueing_formulas() -> Vec<Row> {
    let row = |formula: &Formula| {
        let &Formula { name, equation, dimension, arguments, sentences, symbols, .. } = formula;
        (name, equation, dimension.name(), arguments, sentences.trim_start(), symbols)
    };
    FORMULAS.iter().map(row).collect()
}

/// Computes the formula `name` for every value of `out`. Each argument has as many values, or one for all. `shape` is that of the caller's
/// arrays, for messages.
#[pyfunction]
pub fn queueing_formula(py: Python<'_>, name: &str, arguments: Vec<PyBuffer<f64>>, out: PyBuffer<f64>, shape: Vec<usize>) -> PyResult<()> {
    let formula = Formula::named(name).ok_or_else(|| usage(format!("there is no formula {name}")))?;
    let columns = arguments.iter().map(|argument| argument.to_vec(py)).collect::<PyResult<Vec<_>>>()?;
    let mut results = vec![0.0; out.item_count()];
    let fits = |column: &Vec<f64>| column.len() == 1 || column.len() == results.len();
    if columns.len() != formula.arguments.len() || !columns.iter().all(fits) {
        return Err(usage(format!("{name} takes {}, each of one value or as many as the results", formula.arguments.join(", "))).into());
    }
    for (piece, results) in results.chunks_mut(VALUES_AT_ONCE).enumerate() {
        let first = piece * VALUES_AT_ONCE;
        let done = py.detach(|| compute(formula, &columns, first, results));
        done.map_err(|(index, error)| usage(domain_message(&error, index, &shape)))?;
        py.check_signals()?;
    }
    out.copy_from_slice(py, &results)
}

/// Computes values of a formula from the index `first` on; where it has none, returns the index and the error.
fn compute(formula: &Formula, columns: &[Vec<f64>], first: usize, results: &mut [f64]) -> Result<(), (usize, DomainError)> {
    let mut values = [0.0; MOST_ARGUMENTS];
    let values = &mut values[..columns.len()];
    // Columns of one value are read once.
    for (value, column) in values.iter_mut().zip(columns) {
        *value = column.first().copied().unwrap_or_default();
    }
    let varying: Vec<(usize, &[f64])> = columns.iter().map(Vec::as_slice).enumerate().filter(|(_, column)| column.len() > 1).collect();
    for (index, result) in (first..).zip(results) {
        for (place, column) in &varying {
            values[*place] = column[index];
        }
        *result = formula.value(values).map_err(|error| (index, error))?;
    }
    Ok(())
}

/// The message for the value at the flat index `index` of arrays of this shape.
fn domain_message(error: &DomainError, mut index: usize, shape: &[usize]) -> String {
    let mut places: Vec<String> = Vec::new();
    for length in shape.iter().rev() {
        places.push((index % length).to_string());
        index /= length;
    }
    places.reverse();
    match &places[..] {
        [] => error.to_string(),
        [place] => error.at(place),
        places => error.at(&format!("({})", places.join(", "))),
    }
}

/// The die of a configured device: times to read, write, copy and erase, ns; pages per block; and the priority of its scheme.
#[pyfunction]
pub fn queueing_die(config: &PyConfig) -> PyResult<(u64, u64, u64, u64, u32, String)> {
    let ServiceTimes { read_ns, write_ns, copy_ns, erase_ns } = ServiceTimes::of(&config.0.device);
    let priority = guarded(|| json(&Priority::from(config.0.gc.priority)))?.trim_matches('"').to_string();
    Ok((read_ns, write_ns, copy_ns, erase_ns, config.0.device.pages_per_block, priority))
}

/// Requests for the queueing model. All runs with the same object have the same requests.
#[pyclass(frozen, name = "Traffic", module = "ssdlab._core")]
pub struct PyTraffic(Traffic);

impl PyTraffic {
    fn of(arrivals: Arrivals, requests: u64, seed: u64) -> PyResult<Self> {
        Ok(PyTraffic(guarded(|| Traffic::new(arrivals, requests, seed))?))
    }
}

#[pymethods]
impl PyTraffic {
    /// Reads and writes with given rates per ms; `kind` is `poisson`, `deterministic` or `saturated`.
    #[staticmethod]
    #[pyo3(signature = (kind, *, read_per_ms, write_per_ms, requests, seed))]
    fn drawn(kind: &str, read_per_ms: f64, write_per_ms: f64, requests: u64, seed: u64) -> PyResult<Self> {
        let rates = RatesPerMs { read_per_ms, write_per_ms };
        let arrivals = match kind {
            "poisson" => Arrivals::Poisson(rates),
            "deterministic" => Arrivals::Deterministic(rates),
            "saturated" => Arrivals::Saturated(rates),
            other => {
                let kinds = "poisson, deterministic, renewal, saturated, replayed";
                return Err(usage(format!("arrivals = \"{other}\" is none of {kinds}")).into());
            }
        };
        Self::of(arrivals, requests, seed)
    }

    /// Reads and writes with gaps, ns, drawn from lists.
    #[staticmethod]
    #[pyo3(signature = (*, read_gaps_ns, write_gaps_ns, requests, seed))]
    fn renewal(read_gaps_ns: Vec<u64>, write_gaps_ns: Vec<u64>, requests: u64, seed: u64) -> PyResult<Self> {
        Self::of(Arrivals::Renewal(GapLists { read: read_gaps_ns.into(), write: write_gaps_ns.into() }), requests, seed)
    }

    /// Given requests, in order of arrival, ns.
    #[staticmethod]
    #[pyo3(signature = (*, arrival_ns, is_write, seed))]
    fn replayed(arrival_ns: Vec<u64>, is_write: Vec<bool>, seed: u64) -> PyResult<Self> {
        let arrival = |(&at_ns, &is_write): (&u64, &bool)| {
            let late = || usage(format!("a request arrives at {at_ns} ns; at most {LAST_ARRIVAL} ns (292 years) can be simulated"));
            Arrival::new(at_ns, if is_write { UserOp::Write } else { UserOp::Read }).ok_or_else(late)
        };
        let arrivals: Result<Vec<Arrival>, Failure> = arrival_ns.iter().zip(&is_write).map(arrival).collect();
        Self::of(Arrivals::Replayed(arrivals?.into()), 0, seed)
    }

    /// The page requests that a run of the configured drive would have, and a report on requests left out, as JSON text.
    #[staticmethod]
    #[pyo3(signature = (config, *, requests, seed))]
    fn of_drive(py: Python<'_>, config: &PyConfig, requests: Option<u64>, seed: u64) -> PyResult<(Self, String)> {
        let config = config.0.clone();
        workers::call(py, Arc::default(), None, move |control| {
            let replay = replay(&config, seed, requests, &control.caller)?;
            let traffic = Traffic::new(Arrivals::Replayed(replay.arrivals.into()), 0, seed)?;
            Ok((PyTraffic(traffic), json(&replay.report)?))
        })
    }

    /// Number of requests.
    #[getter]
    fn requests(&self) -> u64 {
        self.0.requests()
    }

    /// Mean reads and writes per millisecond; `None` if all arrive at once and no rate is given.
    #[getter]
    fn rates_per_ms(&self) -> Option<(f64, f64)> {
        self.0.mean_rates().map(|rates| (rates.read_per_ms, rates.write_per_ms))
    }
}

/// A result, and the time that its run took on this machine.
#[derive(Serialize)]
struct Timed {
    #[serde(flatten)]
    result: QueueingResult,
    wall_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    requests_per_s: Option<f64>,
}

impl Timed {
    fn new(result: QueueingResult, wall_s: f64) -> Self {
        let speed = result.requests.total() as f64 / wall_s;
        Timed { result, wall_s, requests_per_s: speed.is_finite().then_some(speed) }
    }
}

/// Runs the queueing model. Returns the result as JSON text and, if `series` is asked for, tables of columns: 64-bit integers as bytes in
/// the machine's order, yes and no as single bytes.
#[pyfunction]
#[pyo3(signature = (traffic, *, times_ns, pages, valid, priority, free_blocks=None, series=false, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are named in Python")]
pub fn queueing_simulate<'py>(
    py: Python<'py>,
    traffic: &PyTraffic,
    times_ns: [u64; 4],
    pages: u64,
    valid: Vec<u64>,
    priority: String,
    free_blocks: Option<u64>,
    series: bool,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<(String, Option<Bound<'py, PyDict>>)> {
    let priority: Priority = named("priority", Some(priority))?.expect("a name was given");
    let small =
        |name: &str, number: u64| u32::try_from(number).map_err(|_| usage(format!("{name} = {number}: expected at most {}", u32::MAX)));
    let pages = small("pages", pages)?;
    let valid = valid.into_iter().map(|valid| small("valid", valid)).collect::<Result<Vec<u32>, Failure>>()?;
    let [read_ns, write_ns, copy_ns, erase_ns] = times_ns;
    let model = Model { times: ServiceTimes { read_ns, write_ns, copy_ns, erase_ns }, pages, valid, priority, free_blocks };
    let traffic = traffic.0.clone();
    let control = Arc::new(Control::default());
    control.expected.store(traffic.requests(), Ordering::Relaxed);
    control.phase.store(1, Ordering::Relaxed);
    let (text, series) = workers::call(py, control, progress.as_ref(), move |control| {
        let watch = Watch { caller: &control.caller, completed: &control.completed };
        let begun = Instant::now();
        let (result, series) = simulate(&model, &traffic, series, watch)?;
        let wall_s = begun.elapsed().as_secs_f64();
        control.phase.store(2, Ordering::Relaxed);
        Ok((json(&Timed::new(result, wall_s))?, series))
    })?;
    Ok((text, series.map(|series| tables(py, &series)).transpose()?))
}

fn tables<'py>(py: Python<'py>, series: &Series) -> PyResult<Bound<'py, PyDict>> {
    let numbers = |column: &[u64]| -> PyResult<Bound<'py, PyBytes>> {
        PyBytes::new_with(py, column.len() * 8, |bytes| {
            for (bytes, number) in bytes.chunks_exact_mut(8).zip(column) {
                bytes.copy_from_slice(&number.to_ne_bytes());
            }
            Ok(())
        })
    };
    let flags = |column: &[u8]| PyBytes::new(py, column);
    let table = |columns: Vec<(&str, Bound<'py, PyBytes>)>| -> PyResult<Bound<'py, PyDict>> {
        let table = PyDict::new(py);
        columns.into_iter().try_for_each(|(name, column)| table.set_item(name, column))?;
        Ok(table)
    };
    let (requests, collections, copies) = (&series.requests, &series.collections, &series.copies);
    let tables = PyDict::new(py);
    let columns = vec![
        ("arrival_ns", numbers(&requests.arrival_ns)?),
        ("is_write", flags(&requests.is_write)),
        ("wait_ns", numbers(&requests.wait_ns)?),
    ];
    tables.set_item("requests", table(columns)?)?;
    let columns = vec![
        ("start_ns", numbers(&collections.start_ns)?),
        ("end_ns", numbers(&collections.end_ns)?),
        ("backlog_end_ns", numbers(&collections.backlog_end_ns)?),
        ("valid", numbers(&collections.valid)?),
        ("overlapped", flags(&collections.overlapped)),
    ];
    tables.set_item("collections", table(columns)?)?;
    let columns = vec![("entered_ns", numbers(&copies.entered_ns)?), ("start_ns", numbers(&copies.start_ns)?)];
    tables.set_item("copies", table(columns)?)?;
    Ok(tables)
}
