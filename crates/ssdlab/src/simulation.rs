//! The clock: takes requests in, steps events, hands completions to statistics.

mod alone;
mod senders;
mod settle;
mod trends;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::cache::CustomEviction;
use crate::caller::Caller;
use crate::config::{CachePolicy, Config, PreconditionKind, SeparateFlow, Workload};
use crate::error::{Error, Result};
use crate::files::{Cancellable, WholeFile};
use crate::ftl::Ftl;
use crate::gc::victim::CustomVictim;
use crate::geometry::Geometry;
use crate::inputs;
use crate::memory;
use crate::precondition;
use crate::request::{Request, RequestKind};
use crate::scale;
use crate::ssd::{Estimate, RoundPhase, Ssd};
use crate::stats::{
    Completion, DeviceStats, Load, PreconditionReport, Recorder, Run, RunResult, Series, SeriesResult, Stalls, TimelineResult, Trends,
    WarmUpResult,
};
use crate::storage::{EachVolatile, LevelStats, Storage, drive_seed, each_written};
use crate::timeline::{self, Level, Output};
use crate::units::{ChannelId, Ns};
use crate::workload::{self, Flows, RequestSource};
use senders::{Sender, Senders};
use trends::Settling;

/// Extent of the checks during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Verify {
    /// Nothing beyond the always-on assertions.
    #[default]
    Off,
    /// Data and overlaps during the run, all invariants at its end.
    End,
    /// All invariants after every event: for small devices.
    Every,
}

/// The first part of a run, which is simulated and left out of statistics. A request belongs to the part in which it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUp {
    /// A number of requests: measurement begins with the arrival of the next one.
    Requests(u64),
    /// A simulated time, ns: measurement begins at that instant.
    Time(Ns),
}

impl std::fmt::Display for WarmUp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WarmUp::Requests(count) => write!(f, "warm_up = {count} requests"),
            WarmUp::Time(ns) => write!(f, "warm_up = {} s", *ns as f64 / 1e9),
        }
    }
}

/// Everything that determines a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The effective configuration.
    pub config: Config,
    /// The seed of all random streams.
    pub seed: u64,
    /// Maximum number of requests. `None`: the whole trace (a generated workload needs a number).
    pub requests: Option<u64>,
    /// First part of the run, which is left out of statistics. `None`, or a length of 0: nothing is.
    pub warm_up: Option<WarmUp>,
    /// Extent of the checks during the run.
    pub verify: Verify,
    /// File for a Parquet log of the requests.
    pub request_log: Option<PathBuf>,
    /// Timeline to write for the Perfetto viewer.
    pub timeline: Option<timeline::Wanted>,
    /// Keys that the user set, in a file or by hand; the result names those without effect.
    pub written: Vec<String>,
    /// Record the run over time, and the distribution of response times.
    pub series: bool,
    /// Also run each of several flows alone, with the same requests, and report how much the others slow it down.
    pub alone: bool,
    /// Saved state to begin with, in place of preconditioning.
    pub state: Option<PathBuf>,
    /// File to save the state of the drive to, once the run has ended and the drive has come to rest, which is not part of the run.
    pub save_state: Option<PathBuf>,
    /// User-defined victim policy in place of `gc.victim`, for which the result shows `custom`.
    pub victim: Option<CustomVictim>,
    /// User-defined eviction policy in place of `cache.policy`, which must be `lru` and for which the result shows `custom`.
    pub eviction: Option<CustomEviction>,
}

impl Plan {
    /// Checks that the parts of the plan go together. The configuration itself is checked where it is built; after a change, call
    /// [`crate::config::validate`]. A drive that breaks its rules may come to a stop.
    ///
    /// # Errors
    /// [`Error::Config`] for an eviction policy without an LRU cache, whose place it takes; [`Error::Usage`] for a warm-up that leaves no
    /// request, and for saving the state of an array.
    pub fn check(&self) -> Result<()> {
        if let (Some(warm_up @ WarmUp::Requests(left_out)), Some(requests)) = (self.warm_up, self.requests)
            && left_out >= requests
        {
            return Err(Error::Usage(format!("{warm_up}: the run has {requests}, so that none would be measured; take a shorter one")));
        }
        if self.save_state.is_some() {
            only_of_one_drive(&self.config)?;
        }
        if self.eviction.is_none() || self.config.cache.policy == CachePolicy::Lru {
            return Ok(());
        }
        let policy = serde_json::to_value(self.config.cache.policy).unwrap_or_default();
        Err(Error::Config(format!(
            "cache.policy = {policy}: a user-defined eviction policy needs \"lru\", which it replaces; set cache.policy to that"
        )))
    }

    /// A plan to run the whole workload of a configuration, without further options.
    pub fn new(config: Config, seed: u64) -> Self {
        Plan {
            config,
            seed,
            requests: None,
            warm_up: None,
            verify: Verify::Off,
            request_log: None,
            timeline: None,
            written: Vec::new(),
            series: false,
            alone: false,
            state: None,
            save_state: None,
            victim: None,
            eviction: None,
        }
    }
}

/// Progress and cancellation of a run, shared between threads.
#[derive(Debug, Default)]
pub struct Control {
    /// Cancel flag, which ends the run with [`Error::Interrupted`] at the next check, and the share of the input consumed.
    pub caller: Caller,
    /// Requests completed so far; while a drive is prepared, pages written so far.
    pub completed: AtomicU64,
    /// Total number of requests, or, while a drive is prepared, of pages; 0 while unknown.
    pub expected: AtomicU64,
    /// Phase of the run: 0 preconditioning, 1 simulating, 2 done.
    pub phase: AtomicU64,
}

impl Control {
    /// Whether a stop was requested.
    pub fn cancelled(&self) -> bool {
        self.caller.stop_requested()
    }
}

/// Name of a user-defined policy in the result's configuration.
const CUSTOM: &str = "custom";
/// Steps of the clock between two checks of [`Control`].
const STEPS_PER_LOOK: u64 = 4096;
/// The last instant at which a request may arrive, ns: 285 years.
const LAST_ARRIVAL: Ns = 9_000_000_000_000_000_000;
/// The last instant at which anything may happen, ns: times fit 63 bits, as readers of logs and results expect, and sums of two fit 64.
const LAST_INSTANT: Ns = Ns::MAX / 2;
/// Number of pages of requests for which room is made at once.
const PAGES_AT_ONCE: usize = 1024;
/// Rounds at one instant, without a request taken in or completed, after which the clock counts as stuck.
const ROUNDS_AT_ONE_INSTANT: u32 = 10_000_000;

/// End of the warm-up: the instant `until_ns`, or the arrival of the request with index `requests`. Both are `u64::MAX` once it is over.
#[derive(Clone, Copy, Debug)]
struct WarmingUp {
    until_ns: Ns,
    requests: u64,
}

impl WarmingUp {
    /// The warm-up is over, or there is none.
    const OVER: WarmingUp = WarmingUp { until_ns: Ns::MAX, requests: u64::MAX };

    fn of(warm_up: Option<WarmUp>) -> Self {
        match warm_up {
            None | Some(WarmUp::Requests(0) | WarmUp::Time(0)) => Self::OVER,
            Some(WarmUp::Requests(requests)) => WarmingUp { requests, ..Self::OVER },
            Some(WarmUp::Time(until_ns)) => WarmingUp { until_ns, ..Self::OVER },
        }
    }

    fn is_over(self) -> bool {
        self.until_ns == Ns::MAX && self.requests == u64::MAX
    }
}

/// A drive and its clock, to be driven step by step or by a workload.
pub struct Simulation {
    plan: Plan,
    storage: Storage,
    /// User-defined policies choose victims or evictions.
    asks_policies: bool,
    exported_bytes: u64,
    recorder: Recorder,
    stalls: Stalls,
    load: Load,
    settling: Settling,
    /// End of the warm-up. `before`: the statistics when it ended.
    warming_up: WarmingUp,
    before: Option<(WarmUpResult, DeviceStats)>,
    timeline: Option<Output>,
    series: Option<Box<Series>>,
    precondition: PreconditionReport,
    now: Ns,
    /// Requests that have not arrived yet, in order of arrival.
    arrivals: VecDeque<Request>,
    submitted: u64,
    /// Requests submitted and not complete, by flow.
    outstanding_by_flow: Vec<u64>,
    /// The most requests that may be outstanding.
    most_outstanding: u64,
    /// For each flow: it is in open loop, so that its requests arrive when they are due, whether or not others have completed.
    open_loop: Vec<bool>,
    /// Number of submitted requests that have been taken in.
    arrived: u64,
    completed: u64,
    completions: Vec<Completion>,
    /// Completions for the caller of [`Simulation::take_completions`]; `None` until the first call.
    kept: Option<Vec<Completion>>,
    prepare_s: f64,
    started: Instant,
    begun: bool,
    rounds_at_now: u32,
    /// The last instant at which operations have begun.
    began_at: Option<Ns>,
    /// When the next closed loop starts that has not started; [`Ns::MAX`] if there is none.
    next_start: Ns,
    /// Sum of the requests taken in and the requests completed, before the last step.
    progress: u64,
    /// Pages for which room is left.
    room: usize,
    /// Time at which a request last found none outstanding, and the number of requests completed until then.
    busy_since: (Ns, u64),
}

impl Simulation {
    /// Prepares the drives of a plan. Simulated time begins at 0.
    ///
    /// # Errors
    /// Errors of preconditioning, and of opening the state, the request log or the timeline.
    pub fn new(plan: &Plan, control: &Control) -> Result<Self> {
        plan.check()?;
        control.phase.store(0, Ordering::Relaxed);
        let began = wall_clock();
        let (ftls, precondition) = prepare(plan, control)?;
        let prepare_s = began.elapsed().as_secs_f64();
        Ok(Simulation { prepare_s, ..Self::with_drives(plan, ftls, precondition)? })
    }

    /// Like [`Simulation::new`], for a run of the workload: with the timed end of the preparation (`ftl.precondition.settle`).
    fn settled(plan: &Plan, control: &Control) -> Result<Self> {
        plan.check()?;
        control.phase.store(0, Ordering::Relaxed);
        let began = wall_clock();
        let (ftls, precondition) = settle::settle(plan, prepare(plan, control)?, control)?;
        let prepare_s = began.elapsed().as_secs_f64();
        Ok(Simulation { prepare_s, ..Self::with_drives(plan, ftls, precondition)? })
    }

    /// A simulation of a plan with drives that are prepared already, one for each drive of the array.
    ///
    /// # Errors
    /// Errors of opening the request log or the timeline.
    pub fn with_drives(plan: &Plan, ftls: Vec<Ftl>, precondition: PreconditionReport) -> Result<Self> {
        plan.check()?;
        let mut storage = Storage::new(&plan.config, ftls, plan.seed);
        if plan.verify != Verify::Off {
            storage.verify(plan.verify == Verify::Every);
        }
        if let Some(victim) = &plan.victim {
            storage.use_victim_policy(victim);
        }
        if let Some(eviction) = &plan.eviction {
            storage.use_eviction_policy(eviction);
        }
        let flows = plan.config.workload.separate_flows().map_err(Error::Config)?;
        // A single flow needs no name.
        let names: Vec<_> = flows.iter().filter(|_| flows.len() > 1).map(|flow| flow.name.clone()).collect();
        let timeline = plan.timeline.as_ref().map(|wanted| Output::create(wanted, names.clone())).transpose()?;
        if let Some(timeline) = &timeline {
            storage.keep_timeline(timeline.budget());
        }
        let warming_up = WarmingUp::of(plan.warm_up);
        let mut recorder = Recorder::new(plan.request_log.as_deref(), names)?;
        if !warming_up.is_over() {
            storage.warm_up();
            recorder.warm_up();
        }
        Ok(Simulation {
            plan: plan.clone(),
            series: plan.series.then(|| Box::new(Series::new(storage.shape()))),
            settling: Settling::new(&storage),
            storage,
            asks_policies: plan.victim.is_some() || plan.eviction.is_some(),
            exported_bytes: plan.config.exported_bytes()?,
            recorder,
            stalls: Stalls::default(),
            load: Load::default(),
            warming_up,
            before: None,
            timeline,
            precondition,
            now: 0,
            arrivals: VecDeque::new(),
            submitted: 0,
            outstanding_by_flow: vec![0; flows.len()],
            most_outstanding: most_outstanding(&plan.config.workload, &flows),
            open_loop: flows.iter().map(|flow| flow.workload.queue_depth == 0).collect(),
            arrived: 0,
            completed: 0,
            completions: Vec::new(),
            kept: None,
            prepare_s: 0.0,
            started: wall_clock(),
            begun: false,
            rounds_at_now: 0,
            began_at: None,
            next_start: Ns::MAX,
            progress: 0,
            room: 0,
            busy_since: (0, 0),
        })
    }

    /// The simulated time, ns.
    pub fn now(&self) -> Ns {
        self.now
    }

    /// The drive; of an array, the first.
    pub fn ssd(&self) -> &Ssd {
        self.storage.drives()[0]
    }

    /// Estimates for the page operations under way in the drive (of an array, the first); empty where none are made.
    pub fn estimates(&self) -> Vec<Estimate> {
        self.ssd().estimates()
    }

    /// Mutable access to the drive (of an array, the first), to change how it is watched.
    pub fn ssd_mut(&mut self) -> &mut Ssd {
        self.storage.first_drive_mut()
    }

    /// The storage that the host accesses.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Mutable access to the storage, to plant defects in it.
    #[doc(hidden)]
    pub fn storage_mut(&mut self) -> &mut Storage {
        &mut self.storage
    }

    /// Bytes that the host can address.
    pub fn exported_bytes(&self) -> u64 {
        self.exported_bytes
    }

    /// Lets a request arrive at its arrival time, which must not lie before the present nor before that of a request submitted earlier.
    /// Returns its serial number, by which its completion is known.
    ///
    /// # Errors
    /// [`Error::Usage`] for a request in the past, after 9 x 10^18 ns, beyond the exported range, or of no length; [`Error::Simulation`] if
    /// memory does not suffice.
    pub fn submit(&mut self, request: Request) -> Result<u64> {
        let earliest = self.arrivals.back().map_or(self.now, |last| last.arrival_ns);
        if request.arrival_ns < earliest {
            let message = format!(
                "a request for {} ns is submitted after one for {earliest} ns, or when that is past: submit in order of arrival",
                request.arrival_ns
            );
            return Err(Error::Usage(message));
        }
        if request.arrival_ns > LAST_ARRIVAL {
            return Err(Error::Usage(format!(
                "a request arrives at {} ns; expected at most {LAST_ARRIVAL} ns (285 years): check the unit of the times, or raise \
                 workload.time_scale",
                request.arrival_ns
            )));
        }
        self.check_request(&request)?;
        self.add_arrival(self.arrivals.len(), request)?;
        Ok(self.submitted - 1)
    }

    /// Lets a request of a closed loop arrive at `at`, after the requests that are known to arrive then and before those that come later.
    #[inline]
    fn submit_at(&mut self, at: Ns, request: Request) -> Result<()> {
        let request = Request { arrival_ns: at, ..request };
        self.check_request(&request)?;
        let place = self.arrivals.partition_point(|other| other.arrival_ns <= at);
        self.add_arrival(place, request)
    }

    fn add_arrival(&mut self, place: usize, request: Request) -> Result<()> {
        let waiting = self.submitted - self.completed;
        memory::make_room(&mut self.arrivals, 1).map_err(|exhausted| self.overloaded(waiting, &exhausted.to_string()))?;
        self.outstanding_by_flow[usize::from(request.flow)] += 1;
        self.arrivals.insert(place, request);
        self.submitted += 1;
        Ok(())
    }

    /// Checks the range, the length and the flow of a request.
    fn check_request(&self, request: &Request) -> Result<()> {
        let end = request.offset.checked_add(request.length);
        if end.is_none_or(|end| end > self.exported_bytes()) {
            return Err(Error::Usage(format!(
                "a request for {} bytes at {} ends beyond the drive's {} exported bytes",
                request.length,
                request.offset,
                self.exported_bytes()
            )));
        }
        if request.length == 0 && request.kind != RequestKind::Flush {
            return Err(Error::Usage(format!("a request at {} has no length; only a flush may", request.offset)));
        }
        if usize::from(request.flow) >= self.outstanding_by_flow.len() {
            let (flow, flows) = (request.flow, self.outstanding_by_flow.len());
            return Err(Error::Usage(format!("a request of flow {flow}: the workload has {flows} flows, counted from 0 (workload.flows)")));
        }
        Ok(())
    }

    /// Simulates up to and including the time `until`.
    ///
    /// # Errors
    /// [`Error::Usage`] for a time after 2^63 ns; errors of the request log or of verify mode; [`Error::Policy`].
    pub fn run_until(&mut self, until: Ns) -> Result<()> {
        if until > LAST_INSTANT {
            return Err(Error::Usage(format!("the time {until} ns: expected at most {LAST_INSTANT} ns (292 years)")));
        }
        if !self.begun {
            self.begin()?;
        }
        while let Some(time) = self.next_instant().filter(|&time| time <= until) {
            self.step(time, None)?;
        }
        self.pass_until(self.now.max(until));
        self.storage.catch_up(self.now, RoundPhase::Over);
        Ok(())
    }

    /// Simulates until every submitted request is complete.
    ///
    /// # Errors
    /// As [`Simulation::run_until`]; [`Error::Simulation`] if a request never completes.
    pub fn run_to_idle(&mut self) -> Result<()> {
        while self.completed < self.submitted {
            self.step_or_stuck(None)?;
        }
        self.storage.catch_up(self.now, RoundPhase::Over);
        Ok(())
    }

    /// The requests completed since the last call, in order of completion. Completions are kept from the first call on, so call it once
    /// before submitting.
    pub fn take_completions(&mut self) -> Vec<Completion> {
        if !self.begun {
            // Completions at one instant are then in the order that single page moves give.
            self.storage.move_page_by_page();
        }
        self.kept.replace(Vec::new()).unwrap_or_default()
    }

    /// Calls `each` with the units whose newest data a power failure would lose now: see [`Storage::volatile_units`].
    pub fn volatile_units(&self, each: &mut EachVolatile<'_>) {
        self.arrivals.iter().for_each(|request| each_written(request, self.unit_bytes(), each));
        self.storage.volatile_units(each);
    }

    /// Whether a power failure would lose data of writes that have completed, unless a flush came after them.
    pub fn is_volatile(&self) -> bool {
        self.plan.config.loses_completed_writes()
    }

    /// Bytes of a mapping unit.
    pub fn unit_bytes(&self) -> u32 {
        self.plan.config.map_unit_bytes()
    }

    /// Simulates until every submitted request is complete, ends the run and returns its result.
    ///
    /// # Errors
    /// [`Error::Simulation`] if a request never completes or verify mode finds a defect; errors of writing the request log or the timeline.
    pub fn finish(self) -> Result<RunResult> {
        Ok(self.end()?.0)
    }

    /// Like [`Simulation::finish`], but afterwards, which is not part of the run, writes all that caches hold to flash and lets GC jobs
    /// end. Returns the storage at rest, too.
    ///
    /// # Errors
    /// As [`Simulation::finish`].
    pub fn finish_at_rest(self) -> Result<(RunResult, Storage)> {
        let (result, mut storage, now) = self.end()?;
        storage.come_to_rest(now)?;
        Ok((result, storage))
    }

    /// Like [`Simulation::finish`], but afterwards saves the state of the drive at rest to `out`, for a later run to begin with. Returns
    /// also whether that succeeded.
    ///
    /// # Errors
    /// As [`Simulation::finish`]; [`Error::Usage`] for an array.
    pub fn finish_and_save(self, out: &Path) -> Result<(RunResult, Result<()>)> {
        let config = self.plan.config.clone();
        only_of_one_drive(&config)?;
        let (result, mut storage, now) = self.end()?;
        let saved = storage.come_to_rest(now).and_then(|_| save_state(&config, storage.drives()[0].ftl(), out, &Caller::default()));
        Ok((result, saved))
    }

    fn end(mut self) -> Result<(RunResult, Storage, Ns)> {
        self.run_to_idle()?;
        self.finish_with(serde_json::Value::Null, &Caller::default())
    }

    fn finish_with(mut self, workload: serde_json::Value, caller: &Caller) -> Result<(RunResult, Storage, Ns)> {
        self.storage.catch_up(self.now, RoundPhase::Over);
        if self.plan.verify != Verify::Off {
            self.storage.check()?;
        }
        let erases: Vec<u32> = self.storage.drives().into_iter().flat_map(|drive| drive.ftl().blocks().erases()).copied().collect();
        self.check_warm_up()?;
        let trends = self.trends();
        let device = device_stats(&self.storage, self.now);
        let (warm_up, device) = match &self.before {
            Some((warm_up, before)) => (Some(*warm_up), device.since(before)),
            None => (None, device),
        };
        let outstanding = self.outstanding();
        let warm_up_ns = warm_up.map(|warm_up| warm_up.ns);
        let shown = |series: Box<Series>| SeriesResult { warm_up_ns, ..series.finish(self.now, outstanding, &mut self.storage) };
        let series = self.series.map(shown);
        let mut config = self.plan.config.to_value();
        if self.plan.victim.is_some() {
            config["gc"]["victim"] = CUSTOM.into();
        }
        if self.plan.eviction.is_some() {
            config["cache"]["policy"] = CUSTOM.into();
        }
        let run = Run {
            config,
            victim_source: self.plan.victim.map(|victim| victim.source_hash().to_string()),
            eviction_source: self.plan.eviction.map(|eviction| eviction.source_hash().to_string()),
            seed: self.plan.seed,
            workload,
            precondition: Some(self.precondition),
            warm_up,
            series,
            histograms: self.plan.series.then(|| self.recorder.histograms()),
            write_stall_ns_max: self.stalls.longest(),
            simulated_ns: self.now,
            prepare_s: self.prepare_s,
            wall_s: self.started.elapsed().as_secs_f64(),
        };
        let idle_keys = self.plan.config.idle_choices(&self.plan.written, self.plan.state.is_some());
        let recorders = self.storage.take_timelines();
        let reach = self.timeline.as_mut().map(|timeline| timeline.write(recorders, self.now, caller)).transpose()?;
        let result = RunResult::assemble(run, self.recorder.finish()?, device, &erases);
        self.timeline.map(Output::commit).transpose()?;
        let timeline = self.plan.timeline.as_ref().zip(reach).map(|(wanted, reach)| timeline_result(&wanted.path, reach));
        let of_config = [self.plan.config.remarks(), scale::remarks(&self.plan.config)].concat();
        let result = trends::with_remarks(RunResult { timeline, idle_keys, ..result }, &trends, of_config)?;
        Ok((result, self.storage, self.now))
    }

    /// Overload of the run and settling of its write amplification, at the end of the run.
    fn trends(&mut self) -> Trends {
        let overload = if self.open_loop.contains(&true) { self.load.overload() } else { None };
        Trends { overload, settling: self.settling.ended(&self.storage) }
    }

    /// Checks that the warm-up, if there is one, is over and that requests came after it.
    fn check_warm_up(&self) -> Result<()> {
        let Some(warm_up) = self.plan.warm_up.filter(|&warm_up| !WarmingUp::of(Some(warm_up)).is_over()) else { return Ok(()) };
        let left_out = self.before.as_ref().map_or(0, |(warm_up, _)| warm_up.requests);
        if self.warming_up.is_over() && left_out < self.submitted {
            return Ok(());
        }
        Err(Error::Usage(format!(
            "{warm_up}: the run ended after {} requests and {} s, so that none was measured; take a shorter one",
            self.submitted,
            self.now as f64 / 1e9
        )))
    }

    /// Ends the warm-up at `ns`. `phase`: nothing of that instant has happened yet, or only the ends of stages. `first`: index of the
    /// request that is taken in next.
    #[cold]
    fn end_warm_up(&mut self, ns: Ns, first: u64, phase: RoundPhase) {
        self.warming_up = WarmingUp::OVER;
        // The stages that end at this instant have been counted before a request that ends the warm-up arrives.
        let from_ns = if phase == RoundPhase::StagesEnded { ns + 1 } else { ns };
        self.recorder.measure_from(first, from_ns);
        self.stalls.begin_at(ns);
        match phase {
            RoundPhase::StagesEnded => self.storage.interrupt_bursts(ns),
            RoundPhase::Begins | RoundPhase::Over => self.storage.catch_up(ns, phase),
        }
        self.settling.restart(&self.storage);
        self.before = Some((WarmUpResult { requests: first, ns }, device_stats(&self.storage, ns)));
        self.storage.end_warm_up();
        if let Some(timeline) = &mut self.timeline {
            timeline.requests().warm_up_ends(ns);
        }
    }

    /// Time of the next event if no request is submitted before: an event of the drive, the arrival of a submitted request, or the start of
    /// a closed loop.
    #[inline]
    pub fn next_instant(&self) -> Option<Ns> {
        let start = (self.next_start != Ns::MAX).then_some(self.next_start);
        let arrival = self.arrivals.front().map(|request| request.arrival_ns).into_iter().chain(start).min();
        match (self.storage.next_event(), arrival) {
            (Some(event), Some(arrival)) => Some(event.min(arrival)),
            (event, arrival) => event.or(arrival),
        }
    }

    #[inline]
    fn step_or_stuck(&mut self, senders: Option<&mut Senders<'_>>) -> Result<()> {
        if !self.begun {
            self.begin()?;
        }
        match self.next_instant() {
            Some(time) => self.step(time, senders),
            None => Err(self.storage.stuck(self.now)),
        }
    }

    /// Starts the clock. Separate from [`Simulation::new`], so that the drive's watchers can be set up before.
    fn begin(&mut self) -> Result<()> {
        self.begun = true;
        self.storage.begin();
        self.policy_could_choose()
    }

    /// Fails if a user-defined policy has failed. Checked after each step, not in drive or cache: there a built-in choice takes its place
    /// until the run ends here.
    fn policy_could_choose(&mut self) -> Result<()> {
        self.storage.take_policy_failure().map_or(Ok(()), Err)
    }

    /// One round of an instant at which something is due, in the order of docs/model/index.md, section Time: completions, arrivals
    /// (those of closed loops, too), then operations begin. Where that makes more due at the same instant, another round follows.
    #[inline]
    fn step(&mut self, time: Ns, senders: Option<&mut Senders<'_>>) -> Result<()> {
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
    fn take_in_with_answers(&mut self, time: Ns, senders: &mut Senders<'_>) -> Result<()> {
        loop {
            self.collect_completions()?;
            self.answer(senders)?;
            if self.arrivals.front().is_none_or(|request| request.arrival_ns > time) {
                return Ok(());
            }
            self.take_in_all(time)?;
        }
    }

    /// Takes in the requests that are known to arrive now.
    #[inline]
    fn take_in_all(&mut self, time: Ns) -> Result<()> {
        while self.arrivals.front().is_some_and(|request| request.arrival_ns == time) {
            self.take_in()?;
            let request = self.arrivals.pop_front().expect("just seen");
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
        Ok(())
    }

    /// Fetches and records the requests that have completed.
    #[inline]
    fn collect_completions(&mut self) -> Result<()> {
        self.storage.drain_completions(&mut self.completions);
        if self.completions.is_empty() { Ok(()) } else { self.record_completions() }
    }

    #[cold]
    fn too_late(&self) -> Error {
        Error::Simulation(format!(
            "{} requests are still under way at {} ns, and what they wait for ends after {LAST_INSTANT} ns (292 years), which cannot be \
             simulated: lower the load, or the times of the device",
            self.outstanding(),
            self.now
        ))
    }

    /// Makes room for the next request, which arrives now; fails if too many requests are outstanding.
    #[inline]
    fn take_in(&mut self) -> Result<()> {
        let outstanding = self.outstanding();
        if self.open_loop[usize::from(self.arrivals[0].flow)] {
            self.load.arrives(self.now, outstanding);
        }
        if outstanding == 0 {
            self.busy_since = (self.now, self.completed);
        } else if outstanding >= self.most_outstanding {
            return Err(self.overloaded(outstanding, "that is as many as workload.max_outstanding allows"));
        }
        // At least one, for requests of no page, and one more where the first page is not begun at its start.
        let pages = (self.arrivals[0].length / u64::from(self.plan.config.map_unit_bytes())) as usize + 2;
        if self.room < pages {
            self.room = pages + PAGES_AT_ONCE;
            self.storage.make_room(self.room).map_err(|exhausted| self.overloaded(outstanding, &exhausted.to_string()))?;
        }
        self.room -= pages;
        Ok(())
    }

    /// The error for requests that come faster than the drive completes them. `limit`: the limit reached with `outstanding` requests.
    #[cold]
    fn overloaded(&self, outstanding: u64, limit: &str) -> Error {
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
    fn pass_until(&mut self, time: Ns) {
        if time >= self.warming_up.until_ns {
            let end = self.warming_up.until_ns;
            self.hold_until(end);
            self.end_warm_up(end, self.arrived, RoundPhase::Begins);
        }
        self.hold_until(time);
    }

    /// Records that nothing changes until `time`, and sets the clock to it.
    #[inline]
    fn hold_until(&mut self, time: Ns) {
        if time > self.now {
            let outstanding = self.outstanding();
            if let Some(series) = &mut self.series {
                series.hold(self.now, time, outstanding, &mut self.storage);
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
    fn outstanding(&self) -> u64 {
        self.arrived - self.completed
    }

    fn record_completions(&mut self) -> Result<()> {
        for completion in &self.completions {
            self.recorder.record(completion)?;
            self.stalls.completes(completion.completed_ns, completion.kind);
            self.settling.completes(completion.kind, completion.length);
            if let Some(series) = &mut self.series {
                series.completed(completion.kind, completion.completed_ns - completion.arrival_ns);
            }
            if let Some(timeline) = &mut self.timeline {
                timeline.requests().completes(completion.completed_ns, completion.index, completion.blocked_by());
            }
            self.outstanding_by_flow[usize::from(completion.flow)] -= 1;
            self.completed += 1;
        }
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(&self.completions);
        }
        self.completions.clear();
        Ok(())
    }

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

    fn drive_all(&mut self, mut senders: Senders<'_>, control: &Control) -> Result<()> {
        let mut steps = 0_u64;
        loop {
            self.draw(&mut senders)?;
            if self.completed == self.submitted && !self.wait_for_start(&mut senders)? {
                return self.look_out(&senders, control);
            }
            self.step_or_stuck(Some(&mut senders))?;
            steps += 1;
            if steps.is_multiple_of(STEPS_PER_LOOK) {
                self.look_out(&senders, control)?;
            }
        }
    }

    /// Lets closed loops send as many requests as they may have outstanding: now or, if operations have begun at this instant, 1 ns later.
    #[inline]
    fn answer(&mut self, senders: &mut Senders<'_>) -> Result<()> {
        let at = if self.began_at == Some(self.now) { self.now + 1 } else { self.now };
        if senders.answered == Some(self.completed) && at < self.next_start {
            return Ok(());
        }
        senders.answered = Some(self.completed);
        self.next_start = Ns::MAX;
        for sender in &mut senders.closed {
            if sender.start_ns > at && !sender.over {
                self.next_start = self.next_start.min(sender.start_ns);
                continue;
            }
            while !sender.over && self.outstanding_by_flow[usize::from(sender.flow)] < sender.depth {
                match sender.ahead.next(|request| self.storage.foresee(request))? {
                    Some(request) => self.submit_at(at, request)?,
                    None => sender.over = true,
                }
            }
        }
        Ok(())
    }

    /// With no request outstanding, the closed loop that starts next sends its first one. Returns false if there is none.
    #[cold]
    fn wait_for_start(&mut self, senders: &mut Senders<'_>) -> Result<bool> {
        let later = |sender: &&mut Sender<'_>| !sender.over && sender.start_ns > self.now;
        while let Some(sender) = senders.closed.iter_mut().filter(later).min_by_key(|sender| sender.start_ns) {
            match sender.ahead.next(|request| self.storage.foresee(request))? {
                Some(request) => {
                    let start_ns = sender.start_ns;
                    self.submit_at(start_ns, request)?;
                    return Ok(true);
                }
                None => sender.over = true,
            }
        }
        Ok(false)
    }

    /// Draws and submits requests: those that closed loops may send now, and of open loops those up to the next instant.
    #[inline]
    fn draw(&mut self, senders: &mut Senders<'_>) -> Result<()> {
        self.answer(senders)?;
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
    fn wants_arrival(&self) -> bool {
        match (self.arrivals.front(), self.arrivals.back()) {
            (Some(first), Some(last)) => first.arrival_ns == last.arrival_ns,
            _ => true,
        }
    }

    fn look_out(&self, senders: &Senders<'_>, control: &Control) -> Result<()> {
        control.completed.store(self.completed, Ordering::Relaxed);
        if let Some(share) = senders.progress() {
            control.caller.report_progress(share);
        }
        control.caller.check()
    }
}

/// Real time, for `prepare_s` and `wall_s`, on which no simulated figure depends. The core reads it at this place only.
#[expect(clippy::disallowed_methods, reason = "how long preparing and running took are the only figures in real time")]
fn wall_clock() -> Instant {
    Instant::now()
}

/// Runs a plan from its workload's first request to its last.
///
/// # Errors
/// Any error of a run; [`Error::Interrupted`] once `control` requests a stop.
pub fn run(plan: &Plan, control: &Control) -> Result<RunResult> {
    alone::check(plan)?;
    let mut result = run_once(plan, control)?;
    if plan.alone {
        alone::add(plan, &mut result, control)?;
    }
    control.phase.store(2, Ordering::Relaxed);
    Ok(result)
}

/// Runs a plan like [`run`], but does not run flows alone.
fn run_once(plan: &Plan, control: &Control) -> Result<RunResult> {
    memory::check(&plan.config, plan.verify != Verify::Off)?;
    let exported = plan.config.exported_bytes()?;
    let mut flows = Flows::open(&plan.config.workload, exported, plan.seed, plan.requests, &control.caller)?;
    let mut simulation = Simulation::settled(plan, control)?;
    control.completed.store(0, Ordering::Relaxed);
    control.expected.store(plan.requests.unwrap_or(0), Ordering::Relaxed);
    control.phase.store(1, Ordering::Relaxed);
    simulation.drive_flows(&mut flows, control)?;
    let report = serde_json::to_value(flows.report()).map_err(|error| Error::Simulation(error.to_string()))?;
    let (result, mut storage, now) = simulation.finish_with(report, &control.caller)?;
    if let Some(path) = &plan.save_state {
        storage.come_to_rest(now)?;
        save_state(&plan.config, storage.drives()[0].ftl(), path, &control.caller)?;
    }
    Ok(result)
}

/// Prepares a drive and saves its state to a file.
///
/// # Errors
/// Errors of preconditioning or of writing the file; [`Error::Interrupted`].
pub fn precondition(plan: &Plan, out: &Path, control: &Control) -> Result<PreconditionReport> {
    only_of_one_drive(&plan.config)?;
    let (ftls, report) = settle::settle(plan, prepare(plan, control)?, control)?;
    save_state(&plan.config, &ftls[0], out, &control.caller)?;
    control.phase.store(2, Ordering::Relaxed);
    Ok(report)
}

fn only_of_one_drive(config: &Config) -> Result<()> {
    if config.array.drives() > 1 {
        let message = "a saved state is that of one drive, and an array has several; set array.level = \"none\"";
        return Err(Error::Usage(message.into()));
    }
    Ok(())
}

fn save_state(config: &Config, ftl: &Ftl, out: &Path, caller: &Caller) -> Result<()> {
    let mut file = WholeFile::create(out)?;
    let saved = ftl.save(config, Cancellable { file: &mut file, caller });
    caller.check()?;
    saved.map_err(|error| Error::io("write", out, error))?;
    file.commit()
}

/// Maximum number of outstanding requests; without open loops not limited, as closed loops limit themselves.
fn most_outstanding(workload: &Workload, flows: &[SeparateFlow]) -> u64 {
    if is_open_loop(flows) { workload.max_outstanding.into() } else { u64::MAX }
}

/// Whether some flow is in open loop, so that its requests arrive when they are due.
fn is_open_loop(flows: &[SeparateFlow]) -> bool {
    flows.iter().any(|flow| flow.workload.queue_depth == 0)
}

fn prepare(plan: &Plan, control: &Control) -> Result<(Vec<Ftl>, PreconditionReport)> {
    memory::check(&plan.config, plan.verify != Verify::Off)?;
    if let Some(path) = &plan.state {
        if plan.config.array.drives() > 1 {
            return Err(Error::Usage(format!(
                "{}: a saved state is that of one drive, and an array has several; leave it out",
                path.display()
            )));
        }
        let ftl = load_state(&plan.config, path)?;
        let report = precondition::report(&ftl, "state".to_string());
        return Ok((vec![ftl], report));
    }
    let wanted = &plan.config.ftl.precondition;
    let ranges = match &wanted.prefill {
        Some(path) if !matches!(wanted.kind, PreconditionKind::None | PreconditionKind::Fill) => {
            let exported = Geometry::new(&plan.config).exported_bytes();
            Some(workload::read_prefill(Path::new(path), exported)?)
        }
        _ => None,
    };
    let prepared: Vec<_> = (0..plan.config.array.drives())
        .map(|drive| {
            let seed = drive_seed(plan.seed, drive);
            let watch = |written, expected| {
                control.completed.store(written, Ordering::Relaxed);
                control.expected.store(expected, Ordering::Relaxed);
                control.caller.check()
            };
            precondition::prepare(&plan.config, ranges.as_deref(), plan.victim.as_ref(), seed, &watch)
        })
        .collect::<Result<_>>()?;
    let (ftls, reports): (Vec<_>, Vec<_>) = prepared.into_iter().unzip();
    settle::replay(plan, (ftls, PreconditionReport::of_all(&reports)), control)
}

fn load_state(config: &Config, path: &Path) -> Result<Ftl> {
    let unreadable = |error| Error::io("read", path, error);
    let file = inputs::open(path).map_err(unreadable)?;
    // A folder can be opened; only reading it would fail, and pass for a damaged state.
    if file.metadata().map_err(unreadable)?.is_dir() {
        return Err(unreadable(std::io::ErrorKind::IsADirectory.into()));
    }
    Ftl::load(config, file)
        .map_err(|reason| Error::Config(format!("{}: {reason}; `ssdlab precondition` saves one for this configuration", path.display())))
}

fn timeline_result(file: &Path, reach: timeline::Reach) -> TimelineResult {
    let timeline::Reach { slices, from, to, full } = reach;
    TimelineResult { file: file.display().to_string(), slices, from_ns: from, to_ns: to, full }
}

/// The statistics of all drives at the time `end`.
fn device_stats(storage: &Storage, end: Ns) -> DeviceStats {
    let drives = storage.drives().into_iter().map(|drive| drive_stats(drive, end));
    let joined = drives.reduce(DeviceStats::joined).expect("there is a drive");
    let LevelStats { cache, buffer, mapping, interface, array } = storage.stats(end);
    DeviceStats { cache, buffer, mapping, interface, array, ..joined }
}

fn drive_stats(ssd: &Ssd, end: Ns) -> DeviceStats {
    let counters = ssd.counters();
    let geometry = ssd.ftl().geometry();
    DeviceStats {
        pools: u64::from(geometry.pools.count.get()),
        unit_bytes: geometry.unit_bytes.into(),
        held_before: 0,
        host_programs: counters.host_programs,
        gc_programs: counters.pages_moved,
        padded_units: counters.padded_units,
        parity_units: counters.parity_programs * u64::from(geometry.units_per_program),
        reads: counters.host_reads + counters.map_reads + counters.gc_reads,
        erases: counters.erases,
        jobs: counters.jobs,
        pages_moved: counters.pages_moved,
        stale_moves: counters.stale_moves,
        job_ns_sum: counters.job_ns,
        job_ns_max: counters.job_ns_max,
        merged: [counters.merged_reads, counters.merged_writes],
        pipelined: [counters.pipelined_reads, counters.pipelined_writes],
        host_operations: counters.host_reads + counters.host_programs + counters.merged_reads,
        preemptions: counters.preemptions,
        suspensions: counters.suspensions,
        state_ns: ssd.state_ns(end),
        cache: None,
        buffer: None,
        mapping: None,
        interface: None,
        slack: *ssd.slack_stats(),
        free_blocks_min: ssd.ftl().blocks().free_min(),
        gc_active_pool_ns: ssd.gc_active_ns(end),
        chip_busy_ns: (0..geometry.chips).map(|chip| ssd.chip_busy_ns(chip, end)).collect(),
        channel_busy_ns: (0..geometry.channels).map(|channel| ssd.bus_busy_ns(ChannelId(channel), end)).collect(),
        counters: counters.listed().map(|(name, count)| (name.to_string(), count)).collect(),
        array: None,
    }
}
