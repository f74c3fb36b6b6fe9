//! One instant of a run after the other: stages end, requests arrive, operations begin, completions are recorded.

use super::senders::Senders;
use super::{LAST_INSTANT, PAGES_AT_ONCE, REQUESTS_AT_ONE_INSTANT, ROUNDS_AT_ONE_INSTANT, Simulation};
use ssdlab_base::error::{Error, Result};
use ssdlab_base::request::Request;
use ssdlab_base::units::{Ns, earliest};
use ssdlab_drive::ssd::RoundPhase;
use ssdlab_result::timeline::Level;

impl Simulation {
    /// Time of the next event if no request is submitted before: an event of the drive, the arrival of a submitted request, or the start of
    /// a closed loop.
    #[inline]
    pub fn next_instant(&self) -> Option<Ns> {
        let arrival = self.arrivals.front().map_or(Ns::MAX, |request| request.arrival_ns).min(self.next_start);
        earliest(self.storage.next_event(), (arrival != Ns::MAX).then_some(arrival))
    }

    #[inline]
    pub(super) fn step_or_stuck(&mut self, senders: Option<&mut Senders<'_>>) -> Result<()> {
        if !self.begun {
            self.begin()?;
        }
        match self.next_instant() {
            Some(time) => self.step(time, senders),
            None => Err(self.storage.stuck(self.now)),
        }
    }

    /// Starts the clock. Separate from [`Simulation::new`], so that the drive's watchers can be set up before.
    pub(super) fn begin(&mut self) -> Result<()> {
        self.begun = true;
        self.storage.begin();
        self.policy_could_choose()
    }

    /// Fails if a user-defined policy has failed. Checked after each step, not in drive or cache: there a built-in choice takes its place
    /// until the run ends here.
    pub(super) fn policy_could_choose(&mut self) -> Result<()> {
        self.storage.take_policy_failure().map_or(Ok(()), Err)
    }

    /// One round of an instant at which something is due, in the order of docs/model/index.md, section Time: completions, arrivals
    /// (those of closed loops, too), then operations begin. Where that makes more due at the same instant, another round follows.
    #[inline]
    pub(super) fn step(&mut self, time: Ns, senders: Option<&mut Senders<'_>>) -> Result<()> {
        assert!(time >= self.now, "time goes back");
        if time > LAST_INSTANT {
            return Err(self.too_late());
        }
        // A request taken in or completed is progress also where no time passes.
        let progress = self.arrived + self.completed;
        let stands = time == self.now && progress == self.progress;
        self.progress = progress;
        self.rounds_at_now = if stands { self.rounds_at_now + 1 } else { 0 };
        if self.rounds_at_now > ROUNDS_AT_ONE_INSTANT {
            return Err(self.storage.stuck(self.now));
        }
        self.pass_until(time);
        self.storage.handle_events(time);
        match senders.filter(|senders| senders.any_closed()) {
            Some(senders) => self.take_in_with_answers(time, senders)?,
            None => self.take_in_all(time)?,
        }
        self.storage.dispatch(time);
        self.began_at = Some(time);
        if self.asks_policies {
            self.policy_could_choose()?;
        }
        self.collect_completions()?;
        if self.settling.is_due() {
            self.storage.catch_up(self.now, RoundPhase::Over);
            self.settling.look(&self.storage);
        }
        Ok(())
    }

    /// Takes in the requests that arrive now. Closed loops answer each completion with their next request, until there is no more of either.
    #[inline]
    pub(super) fn take_in_with_answers(&mut self, time: Ns, senders: &mut Senders<'_>) -> Result<()> {
        let last = self.arrived + REQUESTS_AT_ONE_INSTANT;
        loop {
            self.collect_completions()?;
            let before = self.arrived;
            self.answer::<true>(senders)?;
            self.take_in_all(time)?;
            if self.arrived == before {
                return Ok(());
            }
            if self.arrived > last && self.ends_by_time() {
                return Err(self.takes_no_time());
            }
        }
    }

    /// The run has no number of requests after which it ends.
    #[cold]
    fn ends_by_time(&self) -> bool {
        let workload = &self.plan.config.workload;
        self.plan.requests.is_none() && (workload.run_s > 0.0 || !workload.flows.is_empty())
    }

    /// Takes in the requests that are known to arrive now.
    #[inline]
    pub(super) fn take_in_all(&mut self, time: Ns) -> Result<()> {
        while let Some(&request) = self.arrivals.front().filter(|request| request.arrival_ns == time) {
            self.take_in(&request)?;
            self.arrivals.pop_front();
            self.arrive(time, request);
        }
        Ok(())
    }

    /// A request that was taken in arrives at the storage.
    #[inline(always)]
    pub(super) fn arrive(&mut self, time: Ns, request: Request) {
        let index = self.arrived;
        self.arrived += 1;
        if index == self.warming_up.requests {
            self.end_warm_up(time, index, RoundPhase::StagesEnded);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.requests().arrives(time, index, request);
        }
        self.stalls.arrives(time, request.kind);
        self.storage.accept(time, index, request);
    }

    /// Fetches and records the requests that have completed.
    #[inline(always)]
    pub(super) fn collect_completions(&mut self) -> Result<()> {
        if self.storage.has_completed() { self.record_completions() } else { Ok(()) }
    }

    #[cold]
    fn unknown_handle(&self, handle: u8) -> Error {
        let (number, last) = (self.arrived + 1, self.handles - 1);
        Error::Usage(format!(
            "request {number} of the run names placement handle {handle}; expected 0 to {last} (ftl.handles = {}): raise ftl.handles, to \
             at most 8, or change the handle in the trace or the workload",
            self.handles
        ))
    }

    #[cold]
    fn takes_no_time(&self) -> Error {
        let counters = self.ssd().counters();
        let (unmapped, rejected) = (counters.unmapped_reads, counters.zone_errors);
        Error::Simulation(format!(
            "{REQUESTS_AT_ONE_INSTANT} requests of a closed loop took no time, all at {} ns, so the loop would never end ({unmapped} reads without data, \
             {rejected} commands that zones forbid): read what was written (ftl.precondition.kind = \"fill\"), write zones in order, or give commands a \
             time (host.command_ns)",
            self.now
        ))
    }

    #[cold]
    pub(super) fn too_late(&self) -> Error {
        Error::Simulation(format!(
            "{} requests are still under way at {} ns, and what they wait for ends after {LAST_INSTANT} ns (292 years), which cannot be \
             simulated: lower the load, or the times of the device",
            self.outstanding(),
            self.now
        ))
    }

    /// Makes room for a request, which arrives now; fails if too many requests are outstanding.
    #[inline]
    pub(super) fn take_in(&mut self, request: &Request) -> Result<()> {
        let outstanding = self.outstanding();
        if let Some(handle) = request.handle.filter(|&handle| u16::from(handle) >= self.handles) {
            return Err(self.unknown_handle(handle));
        }
        if self.open_loop[usize::from(request.flow)] {
            self.load.arrives(self.now, outstanding);
        }
        if outstanding == 0 {
            self.busy_since = (self.now, self.completed);
        } else if outstanding >= self.most_outstanding {
            return Err(self.overloaded(outstanding, "that is as many as workload.max_outstanding allows"));
        }
        // At least one, for requests of no page, and one more where the first page is not begun at its start.
        let pages = (request.length / u64::from(self.plan.config.map_unit_bytes())) as usize + 2;
        if self.room < pages {
            self.room = pages + PAGES_AT_ONCE;
            self.storage.make_room(self.room).map_err(|exhausted| self.overloaded(outstanding, &exhausted.to_string()))?;
        }
        self.room -= pages;
        Ok(())
    }

    /// The error for requests that come faster than the drive completes them. `limit`: the limit reached with `outstanding` requests.
    #[cold]
    pub(super) fn overloaded(&self, outstanding: u64, limit: &str) -> Error {
        let (since, completed) = self.busy_since;
        let arrived = outstanding + self.completed - completed;
        let seconds = |ns: Ns| ns as f64 / 1e9;
        let clock = |ns: Ns| if 0 < ns && ns < 1_000_000 { format!("{:.9}", seconds(ns)) } else { format!("{:.3}", seconds(ns)) };
        let rate = |count: u64| count as f64 / seconds(self.now - since);
        let rates = if self.now > since {
            // Decimals for low rates, so that a few completions do not show as 0.
            let shown = |rate: f64| if rate < 10.0 { format!("{rate:.3}") } else { format!("{rate:.0}") };
            format!("arrived at {} a second and completed at {} a second", shown(rate(arrived)), shown(rate(self.completed - completed)))
        } else {
            "arrived at one instant".to_string()
        };
        Error::Simulation(format!(
            "the drive is overloaded: at {} s {outstanding} requests are outstanding; since {} s, when there were none, requests {rates}; \
             {limit}. Slow them down (workload.time_scale below 1, workload.interarrival_us), run fewer, simulate a drive with more chips, \
             issue the next only when one completes (workload.queue_depth), or raise workload.max_outstanding where memory is there",
            clock(self.now),
            clock(since),
        ))
    }

    /// Moves the clock on to `time`, ending a warm-up that ends until then. Nothing else happens until `time`.
    #[inline]
    pub(super) fn pass_until(&mut self, time: Ns) {
        if time >= self.warming_up.until_ns {
            let end = self.warming_up.until_ns;
            self.hold_until(end);
            self.end_warm_up(end, self.arrived, RoundPhase::Begins);
        }
        self.hold_until(time);
    }

    /// Records that nothing changes until `time`, and sets the clock to it.
    #[inline]
    pub(super) fn hold_until(&mut self, time: Ns) {
        if time > self.now {
            let outstanding = self.outstanding();
            if let Some(series) = &mut self.series {
                series.hold(self.now, time, outstanding, &mut self.storage);
            }
            if let Some(blocks) = self.blocks.as_mut().filter(|blocks| blocks.next_ns() <= time) {
                blocks.hold(time, |each| self.storage.blocks_now(each));
            }
            if let Some(timeline) = &mut self.timeline {
                let storage = &self.storage;
                timeline.levels().hold(self.now, time, |each| {
                    each(Level::Outstanding, outstanding);
                    storage.levels(each);
                });
            }
        }
        self.now = time;
    }

    /// Requests that have arrived and are not complete.
    #[inline]
    pub(super) fn outstanding(&self) -> u64 {
        self.arrived - self.completed
    }

    /// Keeps the completions that are among the slowest so far, and explains them before the drives' rings have turned.
    #[cold]
    fn keep_slowest(&mut self) {
        let Some(slowest) = &mut self.slowest else { return };
        self.passages.clear();
        self.storage.take_passages(&mut self.passages);
        for (at, completion) in self.completions.iter().enumerate() {
            slowest.completes(completion, self.passages.get(at));
        }
        if slowest.may_be_due() {
            self.storage.with_rings(self.now, |rings| slowest.look(rings));
        }
    }

    /// Notes what the host has written once 1 % of the blocks have failed.
    #[inline(always)]
    pub(super) fn look_for_failures(&mut self) {
        if self.awaits_one_percent && self.storage.has_lost_one_percent() {
            self.awaits_one_percent = false;
            self.recorder.note_one_percent();
        }
    }

    #[inline(never)]
    fn record_completions(&mut self) -> Result<()> {
        self.look_for_failures();
        self.storage.drain_completions(&mut self.completions);
        for completion in &self.completions {
            self.recorder.record(completion)?;
            self.stalls.completes(completion.completed_ns, completion.kind);
            if !completion.is_rejected() {
                self.settling.completes(completion.kind, completion.length);
                if let Some(series) = &mut self.series {
                    series.completed(completion.kind, completion.completed_ns - completion.arrival_ns, completion.length);
                }
            }
            if let Some(timeline) = &mut self.timeline {
                timeline.requests().completes(completion.completed_ns, completion.index, completion.blocked_by());
            }
            self.outstanding_by_flow[usize::from(completion.flow)] -= 1;
            self.completed += 1;
        }
        if self.slowest.is_some() {
            self.keep_slowest();
        }
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(&self.completions);
        }
        self.completions.clear();
        Ok(())
    }
}
