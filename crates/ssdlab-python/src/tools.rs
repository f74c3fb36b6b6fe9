//! Traces, presets, the schemas.

use std::path::PathBuf;
use std::sync::Arc;

use include_dir::{Dir, include_dir};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use serde::de::DeserializeOwned;
use serde_json::{Value, json as value};
use ssdlab::config::amounts::Amount;
use ssdlab::config::presets::{self as core_presets, Kind};
use ssdlab::config::schema::{self as core_schema, Choice, KeyInfo};
use ssdlab::config::{FioWait, TimeOrder, TimeUnit, TraceEvent, TraceFormat};
use ssdlab::error::Error;
use ssdlab::files::{abandon, write_whole};
use ssdlab::workload::{self, ConvertOptions, Reading, TracePart};

use crate::errors::{Failure, guarded, json};
use crate::workers;

/// The value called `name`; the message for a wrong name lists the valid ones.
pub(crate) fn named<T: DeserializeOwned>(what: &str, name: Option<String>) -> Result<Option<T>, Failure> {
    let Some(name) = name else { return Ok(None) };
    let parsed = serde_json::from_value(Value::String(name.clone()));
    parsed.map(Some).map_err(|reason| Failure::Core(Error::Usage(format!("{what} \"{name}\": {reason}"))))
}

/// Reads a whole trace and returns a report on it as JSON text; unreadable lines are counted and listed, not an error.
#[pyfunction]
#[pyo3(signature = (
    path, *, format=None, unit_bytes=None, time_unit=None, event=None, fio_wait=None, device=None, skip=0, limit_s=0.0, time_scale=1.0,
    progress=None
))]
#[expect(clippy::too_many_arguments, reason = "they are named in Python")]
pub fn trace_info(
    py: Python<'_>,
    path: PathBuf,
    format: Option<String>,
    unit_bytes: Option<u64>,
    time_unit: Option<String>,
    event: Option<String>,
    fio_wait: Option<String>,
    device: Option<String>,
    skip: u64,
    limit_s: f64,
    time_scale: f64,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let part = TracePart { skip, limit_s, time_scale };
    let reading = reading(format, unit_bytes, time_unit, event, fio_wait)?;
    workers::call(py, Arc::default(), progress, move |control| {
        json(&workload::trace_info_cancellable(&path, &reading, device.as_deref(), part, &control.caller)?)
    })
}

/// The settings for reading a trace, from names given by Python.
fn reading(
    format: Option<String>,
    unit_bytes: Option<u64>,
    time_unit: Option<String>,
    event: Option<String>,
    fio_wait: Option<String>,
) -> Result<Reading, Failure> {
    let defaults = Reading::default();
    Ok(Reading {
        format: named::<TraceFormat>("trace format", format)?,
        unit_bytes,
        time_unit: named::<TimeUnit>("time unit", time_unit)?,
        event: named::<TraceEvent>("event", event)?,
        fio_wait: named::<FioWait>("fio_wait", fio_wait)?.unwrap_or(defaults.fio_wait),
    })
}

/// Where the last range of a prefill file ends, bytes.
#[pyfunction]
pub fn prefill_end(path: PathBuf) -> PyResult<u64> {
    let ranges = guarded(|| workload::read_prefill(&path, u64::MAX))?;
    Ok(ranges.iter().map(|(offset, size)| offset + size).max().unwrap_or(0))
}

/// Converts a trace to the format given by the ending of the target's name (`.csv`, `.csv.zst`, `.parquet`, ...); returns a report as JSON.
#[pyfunction]
#[pyo3(signature = (
    source, target, *, format=None, unit_bytes=None, time_unit=None, event=None, fio_wait=None, device=None, bad_lines=0, time_order=None,
    skip=0, limit_s=0.0, time_scale=1.0, requests=None, progress=None
))]
#[expect(clippy::too_many_arguments, reason = "they are named in Python")]
pub fn trace_convert(
    py: Python<'_>,
    source: PathBuf,
    target: PathBuf,
    format: Option<String>,
    unit_bytes: Option<u64>,
    time_unit: Option<String>,
    event: Option<String>,
    fio_wait: Option<String>,
    device: Option<String>,
    bad_lines: u64,
    time_order: Option<String>,
    skip: u64,
    limit_s: f64,
    time_scale: f64,
    requests: Option<u64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let defaults = ConvertOptions::default();
    let options = ConvertOptions {
        reading: reading(format, unit_bytes, time_unit, event, fio_wait)?,
        device,
        bad_lines,
        time_order: named::<TimeOrder>("time order", time_order)?.unwrap_or(defaults.time_order),
        skip,
        limit_s,
        time_scale,
        requests,
        ..defaults
    };
    workers::call(py, Arc::default(), progress, move |control| {
        json(&workload::convert(&source, &target, &ConvertOptions { caller: control.caller.clone(), ..options })?)
    })
}

/// The number in a text such as `64MiB` (`bytes`) or `2M`; `name` is the value's name in error messages.
#[pyfunction]
pub fn amount(name: &str, text: &str, bytes: bool) -> PyResult<u64> {
    let amount = if bytes { Amount::Bytes } else { Amount::Count };
    Ok(guarded(|| amount.parse(name, text))?)
}

/// The presets of a kind (`device`, `scheme` or `workload`): name, description and source of each.
#[pyfunction]
pub fn presets(kind: &str) -> PyResult<Vec<(String, String, String)>> {
    let infos = guarded(|| Ok(core_presets::list(preset_kind(kind)?)))?;
    Ok(infos.into_iter().map(|info| (info.name, info.description, info.source)).collect())
}

/// The TOML text of a preset.
#[pyfunction]
pub fn preset_text(kind: &str, name: &str) -> PyResult<&'static str> {
    Ok(guarded(|| core_presets::text(preset_kind(kind)?, name))?)
}

fn preset_kind(name: &str) -> ssdlab::error::Result<Kind> {
    let found = Kind::ALL.into_iter().find(|kind| kind.name() == name);
    found.ok_or_else(|| Error::Usage(format!("presets of kind \"{name}\": the kinds are {}", Kind::ALL.map(Kind::name).join(", "))))
}

static STUDIES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/studies");

/// The studies that come with the package: name (`lee2013/fig10a`) and TOML text of each, by name.
#[pyfunction]
pub fn studies() -> Vec<(String, &'static str)> {
    let files = STUDIES.dirs().flat_map(Dir::files);
    let mut studies: Vec<_> = files
        .filter_map(|file| {
            let name = file.path().to_str()?.strip_suffix(".toml")?.replace('\\', "/");
            Some((name, file.contents_utf8()?))
        })
        .collect();
    studies.sort_unstable();
    studies
}

/// The JSON Schema of the configuration, as JSON text.
#[pyfunction]
pub fn schema() -> PyResult<String> {
    Ok(guarded(|| json(&core_schema::schema()))?)
}

/// The JSON Schema of a result, as JSON text: each statistic with its unit and sentence.
#[pyfunction]
pub fn statistics_schema() -> PyResult<String> {
    Ok(guarded(|| json(&ssdlab::stats::schema()))?)
}

/// The page of the configuration, as Markdown: presets, and every key.
#[pyfunction]
pub fn configuration_reference() -> PyResult<String> {
    Ok(guarded(|| Ok(ssdlab::config::reference::reference_markdown()))?)
}

/// The page of statistics, as Markdown: every figure of a result.
#[pyfunction]
pub fn statistics_reference() -> PyResult<String> {
    Ok(guarded(|| Ok(ssdlab::reference::statistics()))?)
}

/// The remarks derived from the entries of a result (JSON text), as JSON text: for results that were written without remarks.
#[pyfunction]
pub fn remarks_of_result(result: &str) -> PyResult<String> {
    Ok(guarded(|| {
        let parsed = serde_json::from_str(result).map_err(|error| Error::Usage(format!("not a result: {error}")))?;
        json(&ssdlab::stats::remarks_of_result(&parsed))
    })?)
}

/// Every trigger of a GC job: its name in results, and what `ssdlab why` says of it.
#[pyfunction]
pub fn triggers() -> Vec<(&'static str, &'static str)> {
    ssdlab::timeline::Trigger::all().map(|trigger| (trigger.name(), trigger.why())).collect()
}

/// Every configuration key with its description, kind, default and range or choices, as JSON text.
#[pyfunction]
pub fn keys() -> PyResult<String> {
    Ok(guarded(|| json(&core_schema::keys().iter().map(key_json).collect::<Vec<_>>()))?)
}

fn key_json(key: &KeyInfo) -> Value {
    let choice = |choice: &Choice| value!({ "name": choice.name, "description": choice.description });
    let choices: Vec<_> = key.choices.iter().map(choice).collect();
    let mut value = value!({ "name": key.name, "description": key.description, "kind": key.kind.name(), "optional": key.optional, "default": key.default });
    let extras = [
        ("minimum", key.minimum.map(Value::from)),
        ("maximum", key.maximum.map(Value::from)),
        ("choices", (!choices.is_empty()).then(|| choices.into())),
    ];
    for (name, extra) in extras {
        if let Some(extra) = extra {
            value[name] = extra;
        }
    }
    value
}

/// The version of ssdlab, with the commit that the core was built from.
#[pyfunction]
pub fn version() -> &'static str {
    ssdlab::version::version()
}

/// Content of a file to write.
#[derive(FromPyObject)]
pub enum Content {
    Text(String),
    Bytes(PyBackedBytes),
}

/// Writes a file, whole or not at all.
#[pyfunction]
pub fn write_file(path: PathBuf, content: Content) -> PyResult<()> {
    let bytes = match &content {
        Content::Text(text) => text.as_bytes(),
        Content::Bytes(bytes) => bytes,
    };
    Ok(guarded(|| write_whole(&path, bytes))?)
}

/// Removes the files that worker threads have begun, and lets them begin no more: called when the interpreter ends, which does not wait
/// for threads that were asked to stop.
#[pyfunction]
pub fn abandon_files() {
    abandon();
}
