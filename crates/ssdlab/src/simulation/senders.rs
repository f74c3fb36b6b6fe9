//! The flows of a run in progress, with the requests that were drawn ahead.

use ssdlab_base::error::Result;
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::units::Ns;
use ssdlab_trace::workload::flows::ClosedLoop;
use ssdlab_trace::workload::{Ahead, Flows, RequestSource, Terms};

/// The flows of a run in progress, with the requests that were drawn ahead.
pub(super) struct Senders<'a> {
    /// Flows in open loop, merged by arrival; `None` without such flows.
    pub(super) open: Option<Ahead<'a>>,
    pub(super) open_over: bool,
    pub(super) closed: Vec<Sender<'a>>,
    /// Number of completed requests at which closed loops last sent requests; `None` before they have begun.
    pub(super) answered: u64,
    /// Some flows start when others have ended.
    pub(super) has_stages: bool,
}

/// A flow in closed loop.
pub(super) struct Sender<'a> {
    pub(super) flow: u16,
    pub(super) depth: u64,
    /// When the flow begins to send, or sends again, ns; [`Ns::MAX`] before its stage.
    pub(super) start_ns: Ns,
    pub(super) ahead: Ahead<'a>,
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
    /// Arrival time of the flow's first request, ns; `None` before it.
    first_ns: Option<Ns>,
    /// Requests other than flushes sent since the last pause.
    sent: u32,
    /// The flush at the end was sent.
    has_flushed: bool,
}

impl Turns {
    fn new(terms: Terms, delay_ns: Ns) -> Self {
        Turns { terms, delay_ns, began_ns: None, held: None, first_ns: None, sent: 0, has_flushed: false }
    }

    /// The turn at the time `at` with `outstanding` requests of the flow under way. [`Turn::Wait`] moves `start_ns` on, unless a completion
    /// will be next.
    fn turn(&mut self, at: Ns, outstanding: u64, start_ns: &mut Ns, draw: impl FnOnce() -> Result<Option<Request>>) -> Result<Turn> {
        let Terms { run_ns, is_paced, think_ns, think_requests, .. } = self.terms;
        let began = *self.began_ns.get_or_insert(at);
        let end = began.saturating_add(run_ns);
        if self.has_flushed || at >= end {
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
        let first = *self.first_ns.get_or_insert(request.arrival_ns);
        let due = began.saturating_add(request.arrival_ns - first);
        if is_paced && due > at {
            self.held = Some(request);
            *start_ns = due;
            return Ok(if due >= end { Turn::Over } else { Turn::Wait });
        }
        self.sent += u32::from(think_ns > 0 && request.kind != RequestKind::Flush);
        Ok(Turn::Send(request))
    }

    /// What an ended flow does with `outstanding` requests under way: it flushes after the last, if it shall (`flush_at_end`).
    #[cold]
    fn end(&mut self, flow: u16, at: Ns, outstanding: u64, start_ns: &mut Ns) -> Turn {
        if !self.terms.flush_at_end || self.has_flushed || self.first_ns.is_none() {
            return Turn::Over;
        }
        *start_ns = at;
        if outstanding > 0 {
            return Turn::Wait;
        }
        self.has_flushed = true;
        let kind = RequestKind::Flush;
        Turn::Send(Request { arrival_ns: 0, kind, offset: 0, length: 0, high_priority: false, flow, handle: None })
    }
}

impl<'a> Sender<'a> {
    fn new(flow: u16, depth: u64, start_ns: Ns, terms: Option<Terms>, source: &'a mut dyn RequestSource) -> Self {
        let turns = terms.map(|terms| Box::new(Turns::new(terms, start_ns)));
        Sender { flow, depth, start_ns, ahead: Ahead::new(source), over: false, turns }
    }

    /// The flow sends whenever it has fewer requests outstanding than it may.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.turns.is_none()
    }

    /// The flow's turn at the time `at`, with `outstanding` requests of the flow under way, fewer than its depth.
    #[inline]
    pub(super) fn turn(&mut self, at: Ns, outstanding: u64, foresee: impl FnMut(&Request)) -> Result<Turn> {
        let Sender { flow, start_ns, ahead, turns, .. } = self;
        match turns {
            None => Ok(ahead.next(foresee)?.map_or(Turn::Over, Turn::Send)),
            Some(turns) => Ok(match turns.turn(at, outstanding, start_ns, || ahead.next(foresee))? {
                Turn::Over => turns.end(*flow, at, outstanding, start_ns),
                turn => turn,
            }),
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
    /// No flow sends another request.
    pub(super) fn stop(&mut self) {
        self.open_over = true;
        self.has_stages = false;
        self.closed.iter_mut().for_each(|sender| sender.over = true);
    }

    pub(super) fn of(flows: &'a mut Flows) -> Self {
        let sender = |flow: &'a mut ClosedLoop| Sender::new(flow.flow, flow.depth, flow.start_ns, flow.terms, flow.source.as_mut());
        let mut closed: Vec<_> = flows.closed.iter_mut().map(sender).collect();
        let first = closed.iter().map(Sender::stage).min().unwrap_or(0);
        for sender in closed.iter_mut().filter(|sender| sender.stage() > first) {
            sender.start_ns = Ns::MAX;
        }
        let has_stages = closed.iter().any(|sender| sender.start_ns == Ns::MAX);
        let ahead = |source: &'a mut Box<dyn RequestSource>| Ahead::new(source.as_mut());
        Senders { closed, open: flows.open.as_mut().map(ahead), open_over: false, answered: u64::MAX, has_stages }
    }

    /// The senders of a single flow. `depth`: its queue depth; 0: open loop.
    pub(super) fn of_one(depth: u64, source: &'a mut dyn RequestSource) -> Self {
        if depth > 0 {
            let closed = vec![Sender::new(0, depth, 0, None, source)];
            return Senders { closed, open: None, open_over: true, answered: u64::MAX, has_stages: false };
        }
        Senders { closed: Vec::new(), open: Some(Ahead::new(source)), open_over: false, answered: u64::MAX, has_stages: false }
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

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Terms = Terms { stage: 0, run_ns: Ns::MAX, is_paced: false, think_ns: 0, think_requests: 1, flush_at_end: false };

    /// The times at which a flow of depth 1, whose requests take 30 ns and arrive at 100, 200, ... ns, sends until 1 us.
    fn sent(terms: Terms, start_ns: Ns) -> Vec<Ns> {
        let (mut turns, mut start, mut at, mut arrival) = (Turns::new(terms, start_ns), start_ns, start_ns, 0);
        let mut times = Vec::new();
        while at < 1000 {
            let draw = || {
                arrival += 100;
                let kind = RequestKind::Read;
                Ok(Some(Request { arrival_ns: arrival, kind, offset: 0, length: 512, high_priority: false, flow: 0, handle: None }))
            };
            match turns.turn(at, 0, &mut start, draw).unwrap() {
                Turn::Send(_) => {
                    times.push(at);
                    at += 30;
                }
                Turn::Over => break,
                Turn::Wait => at = start,
            }
        }
        times
    }

    #[test]
    fn a_paced_flow_begins_at_once_and_keeps_the_distances_of_its_arrivals() {
        assert_eq!(sent(Terms { is_paced: true, run_ns: 350, ..PLAIN }, 50), [50, 150, 250, 350]);
        assert_eq!(sent(Terms { run_ns: 70, ..PLAIN }, 50), [50, 80, 110]);
    }

    /// Two requests of 30 ns, then a pause of 200 ns from the end of the second.
    #[test]
    fn a_flow_pauses_from_the_end_of_its_requests() {
        let thinks = Terms { think_ns: 200, think_requests: 2, ..PLAIN };
        assert_eq!(sent(thinks, 0), [0, 30, 260, 290, 520, 550, 780, 810]);
        assert_eq!(sent(Terms { run_ns: 300, ..thinks }, 0), [0, 30, 260, 290], "a pause that ends after the flow ends it");
    }

    /// With a request under way, the flow that ended has no flush to send; then one, and no more.
    #[test]
    fn a_flow_flushes_when_its_last_request_has_completed() {
        let (mut turns, mut start) = (Turns::new(Terms { flush_at_end: true, run_ns: 10, ..PLAIN }, 0), 0);
        let mut turn = |at, outstanding| {
            let write =
                Request { arrival_ns: 0, kind: RequestKind::Write, offset: 0, length: 512, high_priority: false, flow: 3, handle: None };
            match turns.turn(at, outstanding, &mut start, || Ok(Some(write))).unwrap() {
                Turn::Over => turns.end(3, at, outstanding, &mut start),
                other => other,
            }
        };
        assert!(matches!(turn(90, 0), Turn::Send(write) if write.kind == RequestKind::Write));
        assert!(matches!(turn(100, 2), Turn::Wait));
        assert!(matches!(turn(130, 1), Turn::Wait));
        assert!(matches!(turn(150, 0), Turn::Send(flush) if flush.kind == RequestKind::Flush && flush.flow == 3));
        assert!(matches!(turn(150, 1), Turn::Over));
    }

    /// With a request under way, a pause has not begun.
    #[test]
    fn a_pause_waits_for_all_requests() {
        let mut turns = Turns::new(Terms { think_ns: 200, ..PLAIN }, 0);
        let request =
            Request { arrival_ns: 0, kind: RequestKind::Read, offset: 0, length: 512, high_priority: false, flow: 0, handle: None };
        let mut start = 0;
        let mut turn = |at, outstanding| (turns.turn(at, outstanding, &mut start, || Ok(Some(request))).unwrap(), start);
        assert!(matches!(turn(0, 0), (Turn::Send(_), 0)));
        assert!(matches!(turn(5, 1), (Turn::Wait, 0)));
        assert!(matches!(turn(30, 0), (Turn::Wait, 230)));
        assert!(matches!(turn(230, 0), (Turn::Send(_), _)));
    }
}
