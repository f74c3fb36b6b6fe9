//! Clocks of trace files: the time 0 that all flows which read a file share, and the period after which the file repeats.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::select::Selection;
use super::trace::choice;
use ssdlab_base::caller::Caller;
use ssdlab_base::error::{Error, Result};
use ssdlab_base::inputs;
use ssdlab_base::units::Ns;
use ssdlab_keys::config::{SeparateFlow, Workload};

/// Time 0 and repeat period of a trace file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileClock {
    /// Trace time that counts as time 0, ns.
    pub(super) origin_ns: Ns,
    /// Time from the start of one pass over the file to the start of the next, ns; 0 if the file is read once.
    pub(super) period_ns: Ns,
}

impl FileClock {
    /// The clock of a trace file that all of `flows` read; `None` for one flow that reads it once, where the first request taken sets time
    /// 0.
    ///
    /// # Errors
    /// Errors of opening and reading the trace; [`Error::Usage`] for a pipe, which can be read only once.
    pub(super) fn of(flows: &[&Workload], caller: &Caller) -> Result<Option<FileClock>> {
        let repeats = flows.iter().any(|flow| flow.repeat > 1);
        if flows.len() < 2 && !repeats {
            return Ok(None);
        }
        let origins = flows.iter().map(|flow| opened(flow, caller)?.origin_ns()).collect::<Result<Vec<_>>>()?;
        let origin_ns = origins.into_iter().min().unwrap_or(0);
        let mut all = Pass::default();
        if repeats {
            for flow in flows {
                all = all.joined(Pass::of(flow, origin_ns, caller)?);
            }
        }
        Ok(Some(FileClock { origin_ns, period_ns: all.period_ns() }))
    }

    /// For each flow, the clock of its trace file; `None` for a generated flow, and where [`FileClock::of`] returns none.
    ///
    /// # Errors
    /// As [`FileClock::of`].
    pub(super) fn of_flows(flows: &[SeparateFlow], caller: &Caller) -> Result<Vec<Option<FileClock>>> {
        let mut by_file: BTreeMap<PathBuf, Vec<usize>> = BTreeMap::new();
        for (number, flow) in flows.iter().enumerate() {
            if let Some(trace) = &flow.workload.trace {
                by_file.entry(std::fs::canonicalize(trace).unwrap_or_else(|_| trace.into())).or_default().push(number);
            }
        }
        let mut clocks = vec![None; flows.len()];
        for numbers in by_file.values() {
            let those: Vec<_> = numbers.iter().map(|&number| &flows[number].workload).collect();
            let clock = FileClock::of(&those, caller)?;
            numbers.iter().for_each(|&number| clocks[number] = clock);
        }
        Ok(clocks)
    }
}

/// Opens the requests that a flow takes from its trace. Refuses a pipe, which can be read only once.
fn opened(flow: &Workload, caller: &Caller) -> Result<Selection> {
    let path = Path::new(flow.trace.as_deref().unwrap_or_default());
    if !inputs::is_repeatable(path).map_err(|e| Error::io("read", path, e))? {
        let path = path.display();
        return Err(Error::Usage(format!(
            "{path}: a pipe can be read only once; write it to a file for workload.repeat, or for several flows that read it"
        )));
    }
    Selection::open(path, choice(flow, caller)?)
}

/// One pass over the requests that one or several flows take from a file. Times count from the origin of the file.
#[derive(Clone, Copy, Debug, Default)]
struct Pass {
    /// Time of the last request taken, ns.
    last_ns: Ns,
    /// End of the pass if the time limit (`limit_s`) cut off a request, ns.
    limited_to_ns: Option<Ns>,
    taken: u64,
}

impl Pass {
    /// Reads the trace of one flow to its end and returns its pass.
    fn of(flow: &Workload, origin_ns: Ns, caller: &Caller) -> Result<Pass> {
        let mut selection = opened(flow, caller)?;
        selection.count_from(origin_ns);
        while selection.next_entry()?.is_some() {}
        Ok(Pass { last_ns: selection.last_ns(), limited_to_ns: selection.limited_to_ns(), taken: selection.seen().taken })
    }

    fn joined(self, other: Pass) -> Pass {
        Pass {
            last_ns: self.last_ns.max(other.last_ns),
            limited_to_ns: self.limited_to_ns.max(other.limited_to_ns),
            taken: self.taken + other.taken,
        }
    }

    /// Time from the start of this pass to the start of the next, ns: the time limit if it cut off a request, else one mean interarrival
    /// time beyond the last request, which keeps the rate.
    fn period_ns(self) -> Ns {
        let mean_ns = self.last_ns.checked_div(self.taken.saturating_sub(1)).unwrap_or(0);
        self.limited_to_ns.unwrap_or(self.last_ns.saturating_add(mean_ns))
    }
}
