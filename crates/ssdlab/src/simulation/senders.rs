//! The flows of a run in progress, with the requests that were drawn ahead.

use crate::units::Ns;
use crate::workload::{Ahead, Flows, RequestSource};

/// The flows of a run in progress, with the requests that were drawn ahead.
pub(super) struct Senders<'a> {
    /// Flows in open loop, merged by arrival; `None` without such flows.
    pub(super) open: Option<Ahead<'a>>,
    pub(super) open_over: bool,
    pub(super) closed: Vec<Sender<'a>>,
    /// Number of completed requests at which closed loops last sent requests; `None` before they have begun.
    pub(super) answered: Option<u64>,
}

/// A flow in closed loop.
pub(super) struct Sender<'a> {
    pub(super) flow: u16,
    pub(super) depth: u64,
    /// When the flow begins to send, ns.
    pub(super) start_ns: Ns,
    pub(super) ahead: Ahead<'a>,
    pub(super) over: bool,
}

impl<'a> Sender<'a> {
    fn new(flow: u16, depth: u64, start_ns: Ns, source: &'a mut dyn RequestSource) -> Self {
        Sender { flow, depth, start_ns, ahead: Ahead::new(source), over: false }
    }
}

impl<'a> Senders<'a> {
    pub(super) fn of(flows: &'a mut Flows) -> Self {
        let closed = flows.closed.iter_mut().map(|flow| Sender::new(flow.flow, flow.depth, flow.start_ns, flow.source.as_mut()));
        let ahead = |source: &'a mut Box<dyn RequestSource>| Ahead::new(source.as_mut());
        Senders { closed: closed.collect(), open: flows.open.as_mut().map(ahead), open_over: false, answered: None }
    }

    /// The senders of a single flow. `depth`: its queue depth; 0: open loop.
    pub(super) fn of_one(depth: u64, source: &'a mut dyn RequestSource) -> Self {
        if depth > 0 {
            return Senders { closed: vec![Sender::new(0, depth, 0, source)], open: None, open_over: true, answered: None };
        }
        Senders { closed: Vec::new(), open: Some(Ahead::new(source)), open_over: false, answered: None }
    }

    /// Whether a flow is in closed loop.
    #[inline]
    pub(super) fn any_closed(&self) -> bool {
        !self.closed.is_empty()
    }

    /// Lowest share of the input consumed, 0..=1, over all flows; `None` if no flow has one.
    pub(super) fn progress(&self) -> Option<f64> {
        let sources = self.open.iter().chain(self.closed.iter().map(|sender| &sender.ahead));
        sources.filter_map(|ahead| ahead.source().progress()).min_by(f64::total_cmp)
    }
}
