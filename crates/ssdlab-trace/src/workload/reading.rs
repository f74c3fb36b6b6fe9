//! Format, units and event of a trace, where its file leaves them open.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::formats::{Event, Format, Time};
use ssdlab_base::error::{Error, Result};
use ssdlab_keys::config::{FioWait, TimeUnit, TraceEvent, TraceFormat, Workload};

/// Format, units and event of a trace, as its caller states them. Default: none stated, so the file must state them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Format of the trace. `None`: recognised from the file.
    pub format: Option<TraceFormat>,
    /// Bytes per unit of address and size, at least 1, for formats that leave it open.
    pub unit_bytes: Option<u64>,
    /// Unit of times, for formats whose files do not state it.
    pub time_unit: Option<TimeUnit>,
    /// Event that counts as a request, for formats with several events.
    pub event: Option<TraceEvent>,
    /// Meaning of `wait` lines in fio's log of version 2.
    pub fio_wait: FioWait,
}

impl Default for Reading {
    fn default() -> Self {
        Reading { format: None, unit_bytes: None, time_unit: None, event: None, fio_wait: FioWait::Program }
    }
}

impl Reading {
    /// A reading in the given format, with the units of the format's definition.
    pub fn of(format: TraceFormat) -> Self {
        Reading { format: Some(format), ..Reading::default() }
    }

    /// The reading that the keys of `config` state.
    pub fn from_config(config: &Workload) -> Self {
        Reading {
            format: config.format,
            unit_bytes: config.unit_bytes,
            time_unit: config.time_unit,
            event: config.event,
            fio_wait: config.fio_wait,
        }
    }

    /// Checks that the stated units and event apply to `format`, and that the size of a logical block is stated where needed. `stated`: the
    /// file itself states its units. `names_columns`: it has a header, which states at least those of address and size.
    ///
    /// # Errors
    /// [`Error::Usage`] with the key that does not apply or is missing.
    pub(crate) fn check(&self, path: &Path, format: &Format, stated: bool, names_columns: bool) -> Result<()> {
        let (path, name) = (path.display(), format.name);
        let refuse = |key: &str, why: &str| Err(Error::Usage(format!("{path}: {key} is given, but {why}; leave out {key}")));
        let sized = stated || names_columns;
        if self.unit_bytes.is_some() && (sized || !format.counts_units()) {
            let remedy = "unit_bytes is for disksim, ssdsim, mqsim, nvme, and csv without a header";
            let what = if sized { "the header of the file states its units".into() } else { format!("the format {name} fixes its units") };
            return refuse("unit_bytes", &format!("{what} ({remedy})"));
        }
        if self.time_unit.is_some() && (stated || !format.meaning.time.is_open()) {
            let what = if stated { "the header of the file states it".into() } else { format!("the format {name} fixes its unit of time") };
            return refuse("time_unit", &what);
        }
        if self.event.is_some() && matches!(format.event, Event::One) {
            return refuse("event", &format!("the format {name} has one kind of request (event is for blkparse and ftrace)"));
        }
        if self.fio_wait != FioWait::Program && format.meaning.time != Time::Waits {
            return refuse("fio_wait", &format!("the format {name} has no waits (fio_wait is for fio logs of version 2)"));
        }
        if self.unit_bytes.is_none() && format.needs_units() {
            let how = "give --unit-bytes 512 or 4096, the size of a logical block (lsblk -o NAME,LOG-SEC)";
            return Err(Error::Usage(format!("{path}: the format {name} counts logical blocks, whose size it does not state; {how}")));
        }
        Ok(())
    }
}

/// Lines of a trace that hold no request, of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkippedLines {
    /// Kind of the lines, such as `action G (request allocated)`.
    pub what: String,
    /// Number of lines of this kind.
    pub lines: u64,
}

/// Units and codes with which the columns of a trace were read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Units {
    /// Unit of the times: `s`, `ms`, `us`, `ticks` (100 ns) or `ns`; for a trace that has only waits `ms, by wait` or `us, by wait`.
    #[schemars(extend("unit" = "text"))]
    pub time: String,
    /// Unit of the addresses: `bytes`, or the size of a unit, such as `512 bytes`.
    #[schemars(extend("unit" = "text"))]
    pub address: String,
    /// Unit of the sizes: `bytes`, or the size of a unit, such as `512 bytes`.
    #[schemars(extend("unit" = "text"))]
    pub size: String,
    /// Codes of the operations.
    #[schemars(extend("unit" = "text"))]
    pub operations: String,
    /// Event that counts as a request. Absent if the format has one kind of request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "text"))]
    pub event: Option<String>,
}
