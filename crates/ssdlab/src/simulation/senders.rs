//! The flows of a run in progress, with the requests that were drawn ahead.

use crate::error::Result;
use crate::request::Request;
use crate::units::Ns;
use crate::workload::flows::ClosedLoop;
use crate::workload::{Ahead, Flows, RequestSource, Terms};

/// The flows of a run in progress, with the requests that were drawn ahead.
pub(super) struct Senders<'a> {
    /// Flows in open loop, merged by arrival; `None` without such flows.
    pub(super) open: Option<Ahead<'a>>,
    pub(super) open_over: bool,
    pub(super) closed: Vec<Sender<'a>>,
    /// Number of completed requests at which closed loops last sent requests; `None` before they have begun.
    pub(super) answered: Option<u64>,
    /// Some flows start when others have ended.
    pub(super) has_stages: bool,
}

/// A flow in closed loop.
pub(super) struct Sender<'a> {
    pub(super) flow: u16,
    pub(super) depth: u64,
    /// When the flow begins to send, or sends again, ns; [`Ns::MAX`] before its stage.
    pub(super) start_ns: Ns,
    ahead: Ahead<'a>,
    pub(super) over: bool,
    turns: Option<Box<Turns>>,
}

/// What a flow in closed loop may do now.
pub(super) enum Turn {
    Send(Request),
    /// Nothing before `start_ns`, or before a request completes.
    Wait,
    Over,
}

/// The progress of a flow under its terms.
struct Turns {
    terms: Terms,
    /// `start_s` of the flow, ns.
    delay_ns: Ns,
    /// When the flow was first asked for a request, ns.
    began_ns: Option<Ns>,
    /// The next request, if it was drawn before it is due.
    held: Option<Request>,
    /// Requests sent since the last pause.
    sent: u32,
}

impl Turns {
    fn new(terms: Terms, delay_ns: Ns) -> Self {
        Turns { terms, delay_ns, began_ns: None, held: None, sent: 0 }
    }

    /// The turn at the time `at` with `outstanding` requests of the flow under way. [`Turn::Wait`] moves `start_ns` on, unless a completion
    /// will be next.
    fn turn(&mut self, at: Ns, outstanding: u64, start_ns: &mut Ns, draw: impl FnOnce() -> Result<Option<Request>>) -> Result<Turn> {
        let Terms { run_ns, is_paced, think_ns, think_requests, .. } = self.terms;
        let began = *self.began_ns.get_or_insert(at);
        let end = began.saturating_add(run_ns);
        if at >= end {
            return Ok(Turn::Over);
        }
        if think_ns > 0 && self.sent == think_requests {
            if outstanding == 0 {
                self.sent = 0;
                *start_ns = at.saturating_add(think_ns);
            }
            return Ok(if outstanding == 0 && *start_ns >= end { Turn::Over } else { Turn::Wait });
        }
        let Some(request) = self.held.take().map_or_else(draw, |held| Ok(Some(held)))? else { return Ok(Turn::Over) };
        // Arrival times of a source count from the start of the run, as if the flow began after its own delay.
        let due = began.saturating_add(request.arrival_ns.saturating_sub(self.delay_ns));
        if is_paced && due > at {
            self.held = Some(request);
            *start_ns = due;
            return Ok(if due >= end { Turn::Over } else { Turn::Wait });
        }
        self.sent += u32::from(think_ns > 0);
        Ok(Turn::Send(request))
    }
}

impl<'a> Sender<'a> {
    fn new(flow: u16, depth: u64, start_ns: Ns, terms: Option<Terms>, source: &'a mut dyn RequestSource) -> Self {
        let turns = terms.map(|terms| Box::new(Turns::new(terms, start_ns)));
        Sender { flow, depth, start_ns, ahead: Ahead::new(source), over: false, turns }
    }

    /// The flow's turn at the time `at`, with `outstanding` requests of the flow under way, fewer than its depth.
    #[inline]
    pub(super) fn turn(&mut self, at: Ns, outstanding: u64, foresee: impl FnMut(&Request)) -> Result<Turn> {
        let Sender { start_ns, ahead, turns, .. } = self;
        match turns {
            None => Ok(ahead.next(foresee)?.map_or(Turn::Over, Turn::Send)),
            Some(turns) => turns.turn(at, outstanding, start_ns, || ahead.next(foresee)),
        }
    }

    fn stage(&self) -> u32 {
        self.turns.as_ref().map_or(0, |turns| turns.terms.stage)
    }

    fn delay_ns(&self) -> Ns {
        self.turns.as_ref().map_or(0, |turns| turns.delay_ns)
    }
}

impl<'a> Senders<'a> {
    pub(super) fn of(flows: &'a mut Flows) -> Self {
        let sender = |flow: &'a mut ClosedLoop| Sender::new(flow.flow, flow.depth, flow.start_ns, flow.terms, flow.source.as_mut());
        let mut closed: Vec<_> = flows.closed.iter_mut().map(sender).collect();
        let first = closed.iter().map(Sender::stage).min().unwrap_or(0);
        for sender in closed.iter_mut().filter(|sender| sender.stage() > first) {
            sender.start_ns = Ns::MAX;
        }
        let has_stages = closed.iter().any(|sender| sender.start_ns == Ns::MAX);
        let ahead = |source: &'a mut Box<dyn RequestSource>| Ahead::new(source.as_mut());
        Senders { closed, open: flows.open.as_mut().map(ahead), open_over: false, answered: None, has_stages }
    }

    /// The senders of a single flow. `depth`: its queue depth; 0: open loop.
    pub(super) fn of_one(depth: u64, source: &'a mut dyn RequestSource) -> Self {
        if depth > 0 {
            let closed = vec![Sender::new(0, depth, 0, None, source)];
            return Senders { closed, open: None, open_over: true, answered: None, has_stages: false };
        }
        Senders { closed: Vec::new(), open: Some(Ahead::new(source)), open_over: false, answered: None, has_stages: false }
    }

    /// Starts the flows of the next stage at `at` if all flows before it are over. Returns false if there is none to start.
    #[cold]
    pub(super) fn next_stage(&mut self, at: Ns) -> bool {
        let waits = |sender: &Sender<'_>| sender.start_ns == Ns::MAX && !sender.over;
        if self.closed.iter().any(|sender| !sender.over && !waits(sender)) {
            return false;
        }
        let Some(stage) = self.closed.iter().filter(|sender| waits(sender)).map(Sender::stage).min() else { return false };
        for sender in self.closed.iter_mut().filter(|sender| waits(sender) && sender.stage() == stage) {
            sender.start_ns = at.saturating_add(sender.delay_ns());
        }
        true
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
