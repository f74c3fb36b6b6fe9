//! When a flow in closed loop may send: its stage, its end, its pace, its pauses and its last flush.

use ssdlab_base::units::Ns;
use ssdlab_keys::config::Workload;

/// When a flow in closed loop may send, besides its queue depth.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// The flow starts when all flows of lower stages have ended.
    pub stage: u32,
    /// How long the flow sends, ns; [`Ns::MAX`]: until its source ends.
    pub run_ns: Ns,
    /// No request is sent before its arrival time.
    pub is_paced: bool,
    /// Pause after each `think_requests` requests, once they have completed, ns; 0: none.
    pub think_ns: Ns,
    /// Number of requests from one pause to the next.
    pub think_requests: u32,
    /// The flow sends a flush when it has ended and all of its requests have completed.
    pub flush_at_end: bool,
}

impl Terms {
    /// The terms of a flow; `None` if it may always send.
    pub(super) fn of(flow: &Workload) -> Option<Terms> {
        let terms = Terms {
            stage: flow.stage,
            run_ns: run_ns(flow),
            is_paced: flow.paced,
            think_ns: (flow.think_us * 1e3).round() as Ns,
            think_requests: flow.think_requests,
            flush_at_end: flow.flush_at_end,
        };
        let Terms { stage, run_ns, is_paced, think_ns, flush_at_end, .. } = terms;
        (stage > 0 || run_ns < Ns::MAX || is_paced || think_ns > 0 || flush_at_end).then_some(terms)
    }
}

/// How long a generated flow sends (`run_s`), ns; [`Ns::MAX`]: without that end.
pub(super) fn run_ns(flow: &Workload) -> Ns {
    if flow.trace.is_none() && flow.run_s > 0.0 { (flow.run_s * 1e9).round() as Ns } else { Ns::MAX }
}
