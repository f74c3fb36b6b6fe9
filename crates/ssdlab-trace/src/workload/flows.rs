//! The flows of a workload, each with its own source of requests, and what they share: the number of requests of the run.
//!
//! Flows in open loop are merged by arrival. Each flow in closed loop is drawn from on its own, when one of its requests completes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::clock::FileClock;
use super::start::start_ns;
use super::{Generator, RequestSource, Terms, TraceReader, WorkloadReport};
use ssdlab_base::caller::Caller;
use ssdlab_base::error::{Error, Result};
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::units::Ns;
use ssdlab_keys::config::{Exported, SeparateFlow, Workload};
use ssdlab_keys::remark::Remark;

/// Request sources of the flows of a workload: those in open loop merged into one, those in closed loop apart.
pub struct Flows {
    /// Requests of all flows in open loop, merged by arrival; `None` without such flows.
    pub open: Option<Box<dyn RequestSource>>,
    /// The flows in closed loop.
    pub closed: Vec<ClosedLoop>,
}

/// A flow in closed loop.
pub struct ClosedLoop {
    /// Number of the flow, from 0.
    pub flow: u16,
    /// Number of requests that the flow keeps outstanding (its queue depth).
    pub depth: u64,
    /// When the flow begins to send, ns from the start of the run.
    pub start_ns: Ns,
    /// When the flow may send, besides its depth; `None`: always.
    pub terms: Option<Terms>,
    /// Source of the flow's requests.
    pub source: Box<dyn RequestSource>,
}

impl Flows {
    /// Opens the flows of `config` for storage that exports `exported`. `requests`: limit for all flows together; without it,
    /// generated flows end when every trace has been read.
    ///
    /// # Errors
    /// As [`super::open_cancellable`], for each of the flows.
    pub fn open(config: &Workload, exported: impl Into<Exported>, seed: u64, requests: Option<u64>, caller: &Caller) -> Result<Self> {
        let exported = exported.into();
        if is_plain(config) {
            let source = super::open_cancellable(config, exported.bytes, seed, requests, caller)?;
            return Ok(match u64::from(config.queue_depth) {
                0 => Flows { open: Some(source), closed: Vec::new() },
                depth => Flows {
                    open: None,
                    closed: vec![ClosedLoop { flow: 0, depth, start_ns: start_ns(config), terms: Terms::of(config), source }],
                },
            });
        }
        let (closed, open): (Vec<_>, Vec<_>) =
            sending(config, &exported, seed, requests, caller)?.into_iter().partition(|(depth, _)| *depth > 0);
        let closed = closed.into_iter().map(|(depth, source)| {
            let (flow, start_ns, terms) = (source.number, source.start_ns, source.terms);
            ClosedLoop { flow, depth, start_ns, terms, source }
        });
        Ok(Flows { closed: closed.collect(), open: (!open.is_empty()).then(|| merged(open)) })
    }

    /// Calls [`RequestSource::draw_others`] on every source.
    pub fn draw_others(&mut self) {
        self.open.iter_mut().for_each(|source| source.draw_others());
        self.closed.iter_mut().for_each(|flow| flow.source.draw_others());
    }

    /// Counters of the sources: those of a single flow as such, those of several by flow name.
    pub fn report(&self) -> WorkloadReport {
        let sources = self.open.iter().chain(self.closed.iter().map(|flow| &flow.source));
        sources.map(|source| source.report()).reduce(WorkloadReport::joined).unwrap_or_default()
    }
}

/// Whether the workload is a single flow over the whole exported range.
pub(super) fn is_plain(config: &Workload) -> bool {
    !config.has_separate_flows() && config.part == (0.0, 1.0) && config.namespace.is_none()
}

/// Opens all flows, closed loops included, merged by arrival.
///
/// # Errors
/// As [`Flows::open`].
pub(super) fn merge(
    config: &Workload,
    exported_bytes: u64,
    seed: u64,
    requests: Option<u64>,
    caller: &Caller,
) -> Result<Box<dyn RequestSource>> {
    Ok(merged(sending(config, &exported_bytes.into(), seed, requests, caller)?))
}

fn merged(flows: Vec<(u64, Box<OfFlow>)>) -> Box<dyn RequestSource> {
    let place_of = |number: u16| flows.iter().position(|(_, flow)| flow.number == number);
    let after = flows.iter().map(|(_, flow)| flow.after.and_then(place_of)).collect();
    Box::new(Merged { after, flows: flows.into_iter().map(|(_, flow)| (flow, None)).collect(), begun: false })
}

/// Opens the flows that send requests (all, or only `workload.only`), each with its queue depth (0: open loop).
fn sending(config: &Workload, exported: &Exported, seed: u64, requests: Option<u64>, caller: &Caller) -> Result<Vec<(u64, Box<OfFlow>)>> {
    let flows = config.separate_flows().map_err(Error::Config)?;
    let sends = |(_, flow): &(u16, &SeparateFlow)| config.only.as_ref().is_none_or(|only| *only == flow.name);
    let sending: Vec<_> = (0..).zip(&flows).filter(sends).collect();
    let traces = sending.iter().filter(|(_, flow)| flow.workload.trace.is_some()).count() as u64;
    if traces == 0 && requests.is_none() && sending.iter().any(|(_, flow)| !flow.workload.is_bounded()) {
        return Err(super::endless());
    }
    let shared = Shared {
        left: Arc::new(AtomicU64::new(requests.unwrap_or(u64::MAX))),
        limit: requests,
        traces: Arc::new(AtomicU64::new(traces)),
        is_only: flows.len() == 1,
    };
    let clocks = FileClock::of_flows(&flows, caller)?;
    let number_of = |name: &String| flows.iter().position(|flow| flow.name == *name).map(|number| number as u16);
    let open = |&(number, flow): &(u16, &SeparateFlow)| {
        let source = OfFlow::open(number, flow, clocks[usize::from(number)], exported, seed, &shared, caller)?;
        let source = OfFlow { after: flow.workload.start_after.as_ref().and_then(number_of), ..source };
        Ok((flow.workload.queue_depth.into(), Box::new(source)))
    };
    sending.iter().map(open).collect()
}

/// State that the flows of a run share.
#[derive(Clone)]
struct Shared {
    /// Number of requests that may still be drawn, over all flows.
    left: Arc<AtomicU64>,
    limit: Option<u64>,
    /// Number of traces that have not been read to their end.
    traces: Arc<AtomicU64>,
    /// The workload has a single flow.
    is_only: bool,
}

/// Requests of one flow, moved into its part of the exported range.
struct OfFlow {
    number: u16,
    name: String,
    is_trace: bool,
    is_bounded: bool,
    terms: Option<Terms>,
    source: Box<dyn RequestSource>,
    /// First byte of the flow's part of the exported range.
    begin: u64,
    /// Offset added to the flow's arrival times, ns. [`Merged`] adds the end of the flow that it starts after.
    start_ns: Ns,
    /// Number of the flow that this one starts after (`start_after`).
    after: Option<u16>,
    shared: Shared,
    ended: bool,
}

impl OfFlow {
    fn open(
        number: u16,
        flow: &SeparateFlow,
        clock: Option<FileClock>,
        exported: &Exported,
        seed: u64,
        shared: &Shared,
        caller: &Caller,
    ) -> Result<Self> {
        let (begin, bytes) = flow.range(exported);
        if bytes == 0 {
            let (path, (from, to)) = (&flow.path, flow.workload.part);
            return Err(Error::Config(format!(
                "{path}.part = [{from}, {to}]: is less than 64 KiB of the {} bytes that the drive exports; widen it",
                flow.workload
                    .namespace
                    .map_or(exported.bytes, |number| exported.namespaces.get(number as usize).map_or(0, |range| range.1))
            )));
        }
        let is_trace = flow.workload.trace.is_some();
        let source: Box<dyn RequestSource> = if is_trace {
            Box::new(TraceReader::with_clock(&flow.workload, bytes, clock, caller)?)
        } else {
            Box::new(Generator::of_flow(flow, bytes, seed)?)
        };
        let (name, start_ns) = (flow.name.clone(), start_ns(&flow.workload));
        let (is_bounded, terms) = (flow.workload.is_bounded(), Terms::of(&flow.workload));
        let shared = shared.clone();
        Ok(OfFlow { number, name, is_trace, is_bounded, terms, source, begin, start_ns, after: None, shared, ended: false })
    }

    /// Whether this is a generated flow without an end of its own that must end because all traces have ended: so it is in a run without a
    /// limit of requests.
    fn outlives_traces(&self) -> bool {
        !self.is_trace && !self.is_bounded && self.shared.limit.is_none() && self.shared.traces.load(Ordering::Relaxed) == 0
    }
}

impl RequestSource for OfFlow {
    fn next_request(&mut self) -> Result<Option<Request>> {
        let left = self.shared.left.load(Ordering::Relaxed);
        if self.ended || left == 0 || self.outlives_traces() {
            return Ok(None);
        }
        let Some(request) = self.source.next_request()? else {
            self.ended = true;
            self.shared.traces.fetch_sub(u64::from(self.is_trace), Ordering::Relaxed);
            return Ok(None);
        };
        self.shared.left.store(left - 1, Ordering::Relaxed);
        // A flush has no address.
        let begin = if request.kind == RequestKind::Flush { 0 } else { self.begin };
        let arrival_ns = request.arrival_ns.saturating_add(self.start_ns);
        Ok(Some(Request { arrival_ns, offset: request.offset + begin, flow: self.number, ..request }))
    }

    fn is_at_hand(&self) -> bool {
        self.source.is_at_hand()
    }

    fn draw_others(&mut self) {
        self.source.draw_others();
    }

    fn progress(&self) -> Option<f64> {
        match self.shared.limit {
            Some(limit) => Some(1.0 - self.shared.left.load(Ordering::Relaxed) as f64 / limit.max(1) as f64),
            None => self.source.progress(),
        }
    }

    fn report(&self) -> WorkloadReport {
        if self.shared.is_only {
            return self.source.report();
        }
        let report = self.source.report();
        let named = |remark: Remark| Remark { sentence: format!("Flow {}: {}", self.name, remark.sentence), ..remark };
        let report = WorkloadReport { remarks: report.remarks.into_iter().map(named).collect(), ..report };
        WorkloadReport { flows: BTreeMap::from([(self.name.clone(), report)]), ..WorkloadReport::default() }
    }
}

/// Flows merged by arrival; at one instant the flow with the lower number comes first.
struct Merged {
    flows: Vec<(Box<OfFlow>, Option<Request>)>,
    /// By place of a flow: the place of the flow that it starts after, until that has ended.
    after: Vec<Option<usize>>,
    begun: bool,
}

impl Merged {
    fn begin(&mut self) -> Result<()> {
        self.begun = true;
        for (flow, head) in &mut self.flows {
            if flow.after.is_none() {
                *head = flow.next_request()?;
            }
        }
        let without = (0..self.flows.len()).filter(|&place| self.flows[place].0.after.is_none() && self.flows[place].1.is_none());
        // A flow that follows one that does not send begins with the run.
        let follows_none = (0..self.flows.len()).filter(|&place| self.flows[place].0.after.is_some() && self.after[place].is_none());
        let (ended, free): (Vec<_>, Vec<_>) = (without.collect(), follows_none.collect());
        for place in free {
            self.start(place, 0)?;
        }
        ended.into_iter().try_for_each(|place| self.ended(place, 0))
    }

    /// Starts the flows that follow the flow at `place`, whose last request arrived at `end_ns`.
    #[cold]
    fn ended(&mut self, place: usize, end_ns: Ns) -> Result<()> {
        for next in 0..self.flows.len() {
            if self.after[next] == Some(place) {
                self.after[next] = None;
                self.start(next, end_ns)?;
            }
        }
        Ok(())
    }

    fn start(&mut self, place: usize, start_ns: Ns) -> Result<()> {
        let (flow, head) = &mut self.flows[place];
        flow.start_ns = flow.start_ns.saturating_add(start_ns);
        *head = flow.next_request()?;
        if head.is_none() { self.ended(place, start_ns) } else { Ok(()) }
    }
}

impl RequestSource for Merged {
    fn next_request(&mut self) -> Result<Option<Request>> {
        if !self.begun {
            self.begin()?;
        }
        let heads = self.flows.iter().enumerate().filter_map(|(place, (_, head))| head.map(|request| (request.arrival_ns, place)));
        // `min` by time and place: at one instant the flow with the lower number.
        let Some((end_ns, place)) = heads.min() else { return Ok(None) };
        let (flow, head) = &mut self.flows[place];
        let next = flow.next_request()?;
        let is_last = next.is_none();
        let request = std::mem::replace(head, next);
        if is_last {
            self.ended(place, end_ns)?;
        }
        Ok(request)
    }

    fn is_at_hand(&self) -> bool {
        self.flows.iter().all(|(flow, _)| flow.is_at_hand())
    }

    fn draw_others(&mut self) {
        self.flows.iter_mut().for_each(|(flow, _)| flow.draw_others());
    }

    /// The lowest progress of all flows, since the run ends with the last one.
    fn progress(&self) -> Option<f64> {
        self.flows.iter().filter_map(|(flow, _)| flow.progress()).min_by(f64::total_cmp)
    }

    fn report(&self) -> WorkloadReport {
        self.flows.iter().map(|(flow, _)| flow.report()).reduce(WorkloadReport::joined).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two flows share the request limit of a run: each request of one is progress of both.
    #[test]
    fn the_progress_of_a_flow_is_that_of_the_run() {
        let flows = serde_json::from_str(r#"[{"name": "other"}]"#).unwrap();
        let config = Workload { flows, ..Workload::default() };
        let shares = |limit: u64| {
            let mut flows = sending(&config, &(1 << 30).into(), 1, Some(limit), &Caller::default()).unwrap();
            let mut shares = vec![flows[0].1.progress().unwrap()];
            for number in 0..limit as usize {
                assert!(flows[number % 2].1.next_request().unwrap().is_some());
                shares.push(flows[0].1.progress().unwrap());
            }
            shares
        };
        assert_eq!(shares(4), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(shares(1), [0.0, 1.0]);
        assert_eq!(shares(0), [1.0], "a run of no requests is over");
    }
}
