//! Requests from generators and traces.
//!
//! [`open`] gives the requests that a configuration describes. [`info::trace_info`] describes a trace, [`convert`] rewrites
//! one in the project's own formats. A trace format is one file and one line of the registry in `formats`.

mod ahead;
mod clock;
pub mod convert;
pub mod flows;
mod formats;
pub mod generate;
pub mod info;
mod input;
mod plausible;
pub mod reading;
mod select;
mod skew;
mod source;
mod start;
mod tags;
mod terms;
mod touched;
pub mod trace;
mod volumes;
mod zipf;

use std::collections::BTreeMap;

use serde::Serialize;

pub use ahead::Ahead;
pub use convert::{ConvertOptions, ConvertSummary, convert, read_prefill};
pub use flows::Flows;
pub use formats::csv::HEADER as CSV_HEADER;
pub use formats::trace_formats;
pub use generate::Generator;
pub use info::{TraceInfo, TracePart, trace_info, trace_info_cancellable};
pub use input::Compression;
pub use reading::{Reading, SkippedLines, Units};
pub use terms::Terms;
pub use trace::{TraceCounters, TraceReader};

use ssdlab_base::caller::Caller;
use ssdlab_base::error::{Error, Result};
use ssdlab_base::request::Request;
use ssdlab_keys::config::Workload;
use ssdlab_keys::remark::Remark;

/// A stream of requests in order of arrival, all of them inside the drive's exported range.
pub trait RequestSource: Send {
    /// The next request, or `None` at the end.
    fn next_request(&mut self) -> Result<Option<Request>>;

    /// Whether the next request can be drawn without blocking: true for generators and files, false for a pipe.
    fn is_at_hand(&self) -> bool {
        false
    }

    /// Continues with other draws from the same distributions and with the same popular addresses, for requests that precede the run.
    /// Traces stay the same.
    fn draw_others(&mut self) {}

    /// Share of the input consumed, 0..=1, for a progress bar; `None` if it is not known without reading ahead.
    fn progress(&self) -> Option<f64> {
        None
    }

    /// Counters of the changes made to the input so far, for the result of the run.
    fn report(&self) -> WorkloadReport {
        WorkloadReport::default()
    }
}

/// Changes that a request source made to its input, and remarks on them. Empty for a generator, which has no input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WorkloadReport {
    /// Counters of the changes to the trace; absent without a trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceCounters>,
    /// Remarks for the user on this workload, such as missing times or implausible units.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
    /// Report of each flow that sends requests, by flow name, if there are several flows.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub flows: BTreeMap<String, WorkloadReport>,
}

impl WorkloadReport {
    /// Joins the reports of two sources with several flows.
    fn joined(mut self, other: WorkloadReport) -> WorkloadReport {
        self.flows.extend(other.flows);
        self
    }
}

/// Opens the requests that `config` describes for a drive that exports `exported_bytes`: those of the trace `config.trace` if it is set,
/// else generated ones. `requests`: maximum number; a generator, which is endless, needs it. Several flows are merged by arrival, even
/// those in closed loop, which [`Flows`] keeps apart.
///
/// # Errors
/// [`Error::Config`] for keys that describe no workload; the errors of opening the trace.
pub fn open(config: &Workload, exported_bytes: u64, seed: u64, requests: Option<u64>) -> Result<Box<dyn RequestSource>> {
    open_cancellable(config, exported_bytes, seed, requests, &Caller::default())
}

/// Like [`open`], but reading a trace ends with [`Error::Interrupted`] once `caller` requests a stop, even while one request needs the
/// whole file (sorting by time).
///
/// # Errors
/// As [`open`]; [`Error::Interrupted`].
pub fn open_cancellable(
    config: &Workload,
    exported_bytes: u64,
    seed: u64,
    requests: Option<u64>,
    caller: &Caller,
) -> Result<Box<dyn RequestSource>> {
    if !flows::is_plain(config) {
        return flows::merge(config, exported_bytes, seed, requests, caller);
    }
    let inner: Box<dyn RequestSource> = match (&config.trace, requests) {
        (Some(_), _) => Box::new(TraceReader::cancellable(config, exported_bytes, caller)?),
        (None, Some(_)) => Box::new(Generator::new(config, exported_bytes, seed)?),
        (None, None) if config.is_bounded() => Box::new(Generator::new(config, exported_bytes, seed)?),
        (None, None) => return Err(endless()),
    };
    let begun = start::later(start::start_ns(config), inner);
    Ok(match requests {
        Some(limit) => Box::new(Limited { inner: begun, limit, done: 0 }),
        None => begun,
    })
}

fn endless() -> Error {
    Error::Config("a generated workload has no end: give the number of requests (--requests N), workload.total_bytes or workload.run_s (of each flow), \
         or a trace (workload.trace)".into())
}

/// A source of requests, limited to a number of them.
struct Limited {
    inner: Box<dyn RequestSource>,
    limit: u64,
    done: u64,
}

impl RequestSource for Limited {
    fn next_request(&mut self) -> Result<Option<Request>> {
        if self.done == self.limit {
            return Ok(None);
        }
        let request = self.inner.next_request()?;
        self.done += u64::from(request.is_some());
        Ok(request)
    }

    fn draw_others(&mut self) {
        self.inner.draw_others();
    }

    fn progress(&self) -> Option<f64> {
        let by_count = if self.limit == 0 { 1.0 } else { self.done as f64 / self.limit as f64 };
        Some(self.inner.progress().map_or(by_count, |by_input| by_input.max(by_count)))
    }

    fn is_at_hand(&self) -> bool {
        self.inner.is_at_hand()
    }

    fn report(&self) -> WorkloadReport {
        self.inner.report()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generator_needs_a_number_and_ends_after_it() {
        let config = Workload::default();
        let message = open(&config, 1 << 30, 1, None).err().unwrap().to_string();
        assert!(message.contains("--requests"), "{message}");
        let mut source = open(&config, 1 << 30, 1, Some(3)).unwrap();
        let count = std::iter::from_fn(|| source.next_request().unwrap()).count();
        assert_eq!((count, source.progress()), (3, Some(1.0)));
        assert_eq!(serde_json::to_string(&source.report()).unwrap(), "{}");
    }
}
