//! The loop of a run: requests are drawn from its flows and submitted when they are due, until all have ended.

use std::sync::atomic::Ordering;

use super::plan::Control;
use super::senders::{Sender, Senders, Turn};
use super::{STEPS_PER_LOOK, Simulation};
use ssdlab_base::error::Result;
use ssdlab_base::units::Ns;
use ssdlab_trace::workload::{Flows, RequestSource};

impl Simulation {
    /// Runs a source of requests to its end: open loop by arrival times, or closed loop with a number of requests outstanding.
    ///
    /// # Errors
    /// Errors of the source, the request log or verify mode; [`Error::Interrupted`].
    pub fn drive(&mut self, source: &mut dyn RequestSource, control: &Control) -> Result<()> {
        let senders = Senders::of_one(self.plan.config.workload.queue_depth.into(), source);
        self.drive_all(senders, control)
    }

    /// Runs flows of requests to their ends.
    ///
    /// # Errors
    /// As [`Simulation::drive`].
    pub fn drive_flows(&mut self, flows: &mut Flows, control: &Control) -> Result<()> {
        self.drive_all(Senders::of(flows), control)
    }

    pub(super) fn drive_all(&mut self, mut senders: Senders<'_>, control: &Control) -> Result<()> {
        let mut steps = 0_u64;
        loop {
            self.draw(&mut senders)?;
            if self.completed == self.submitted && !self.wait_for_start(&mut senders)? {
                return self.look_out(&senders, control);
            }
            self.step_or_stuck(Some(&mut senders))?;
            steps += 1;
            if self.may_wear_out && self.storage.is_at_end_of_life() {
                self.stop_sending(&mut senders);
            }
            if steps.is_multiple_of(STEPS_PER_LOOK) {
                self.look_out(&senders, control)?;
            }
        }
    }

    /// No further request arrives: the drive is at the end of its life (`wear.end`).
    #[cold]
    fn stop_sending(&mut self, senders: &mut Senders<'_>) {
        senders.stop();
        for request in self.arrivals.drain(..) {
            self.outstanding_by_flow[usize::from(request.flow)] -= 1;
            self.submitted -= 1;
        }
        self.next_start = Ns::MAX;
    }

    /// Lets closed loops send as many requests as they may have outstanding: now or, if operations have begun at this instant, 1 ns later.
    /// `ARRIVING`: the round takes in requests, so that those sent now arrive at once.
    #[inline(always)]
    pub(super) fn answer<const ARRIVING: bool>(&mut self, senders: &mut Senders<'_>) -> Result<()> {
        if senders.answered == self.completed && self.now + 1 < self.next_start {
            return Ok(());
        }
        self.answer_now::<ARRIVING>(senders)
    }

    #[inline(never)]
    fn answer_now<const ARRIVING: bool>(&mut self, senders: &mut Senders<'_>) -> Result<()> {
        let at = if self.began_at == Some(self.now) { self.now + 1 } else { self.now };
        if senders.answered == self.completed && at < self.next_start {
            return Ok(());
        }
        senders.answered = self.completed;
        if !senders.any_closed() {
            self.next_start = Ns::MAX;
            return Ok(());
        }
        self.send::<ARRIVING>(at, senders)?;
        while senders.has_stages && self.completed == self.submitted && senders.next_stage(at) {
            self.send::<ARRIVING>(at, senders)?;
        }
        Ok(())
    }

    /// Lets each closed loop that has started send until it has as many requests outstanding as it may.
    fn send<const ARRIVING: bool>(&mut self, at: Ns, senders: &mut Senders<'_>) -> Result<()> {
        self.next_start = Ns::MAX;
        for sender in &mut senders.closed {
            if sender.start_ns > at && !sender.over {
                self.next_start = self.next_start.min(sender.start_ns);
                continue;
            }
            if sender.is_plain() {
                while !sender.over && self.outstanding_by_flow[usize::from(sender.flow)] < sender.depth {
                    match sender.ahead.next(|request| self.storage.foresee(request))? {
                        Some(request) if ARRIVING && self.is_next(at) => self.arrive_at(at, request)?,
                        Some(request) => self.submit_at(at, request)?,
                        None => sender.over = true,
                    }
                }
                continue;
            }
            while !sender.over {
                let outstanding = self.outstanding_by_flow[usize::from(sender.flow)];
                if outstanding >= sender.depth {
                    break;
                }
                match sender.turn(at, outstanding, |request| self.storage.foresee(request))? {
                    Turn::Send(request) => self.submit_at(at, request)?,
                    Turn::Over => sender.over = true,
                    Turn::Wait => {
                        if sender.start_ns > at {
                            self.next_start = self.next_start.min(sender.start_ns);
                        }
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// A request sent at `at` while the round takes in requests is the next to arrive: `at` is now, and no other that arrives now waits.
    #[inline(always)]
    fn is_next(&self, at: Ns) -> bool {
        at == self.now && self.arrivals.front().is_none_or(|request| request.arrival_ns > at)
    }

    /// With no request outstanding, the closed loop that starts next sends its first one. Returns false if there is none.
    #[cold]
    pub(super) fn wait_for_start(&mut self, senders: &mut Senders<'_>) -> Result<bool> {
        let later = |sender: &&mut Sender<'_>| !sender.over && sender.start_ns > self.now && sender.start_ns < Ns::MAX;
        loop {
            let Some(sender) = senders.closed.iter_mut().filter(later).min_by_key(|sender| sender.start_ns) else {
                if senders.has_stages && senders.next_stage(self.now + 1) {
                    continue;
                }
                return Ok(false);
            };
            let start_ns = sender.start_ns;
            match sender.turn(start_ns, 0, |request| self.storage.foresee(request))? {
                Turn::Send(request) => {
                    self.submit_at(start_ns, request)?;
                    return Ok(true);
                }
                Turn::Over => sender.over = true,
                Turn::Wait => {}
            }
        }
    }

    /// Draws and submits requests: those that closed loops may send now, and of open loops those up to the next instant.
    #[inline]
    pub(super) fn draw(&mut self, senders: &mut Senders<'_>) -> Result<()> {
        self.answer::<false>(senders)?;
        let Some(open) = &mut senders.open else { return Ok(()) };
        while !senders.open_over && self.wants_arrival() {
            match open.next(|request| self.storage.foresee(request))? {
                Some(request) => self.submit(request).map(drop)?,
                None => senders.open_over = true,
            }
            // All arrivals of one instant must be known, which may be too many.
            let at_one_instant = self.arrivals.len() as u64 - u64::from(!self.arrivals.is_empty());
            if at_one_instant > self.most_outstanding {
                return Err(self.overloaded(at_one_instant, "that is more than workload.max_outstanding allows"));
            }
        }
        Ok(())
    }

    /// Whether another arrival must be drawn: all arrivals of the next instant must be known, hence one of a later instant.
    pub(super) fn wants_arrival(&self) -> bool {
        match (self.arrivals.front(), self.arrivals.back()) {
            (Some(first), Some(last)) => first.arrival_ns == last.arrival_ns,
            _ => true,
        }
    }

    pub(super) fn look_out(&self, senders: &Senders<'_>, control: &Control) -> Result<()> {
        control.completed.store(self.completed, Ordering::Relaxed);
        if let Some(share) = senders.progress() {
            control.caller.report_progress(share);
        }
        control.caller.check()
    }
}
