//! The clock: takes requests in, steps events, hands completions to statistics.

mod alone;
mod drive;
mod finish;
mod foresight;
mod plan;
mod prepare;
mod rounds;
mod senders;
mod settle;
mod state_cache;
mod trends;

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::time::Instant;

use foresight::Foresight;
pub use plan::{Control, Plan, Verify, WarmUp};
pub use prepare::precondition;
use prepare::{not_of_zones, save_state};
use senders::Senders;
use ssdlab_base::error::{Error, Result};
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::units::Ns;
use ssdlab_drive::ftl::{Columns, Ftl};
use ssdlab_drive::ssd::{Estimate, RoundPhase, Ssd};
use ssdlab_drive::storage::{EachVolatile, Storage, each_written};
use ssdlab_keys::config::{Exported, Placement, SeparateFlow, Workload};
use ssdlab_keys::memory;
use ssdlab_result::slowest::{Passage, Slowest};
use ssdlab_result::stats::{
    Blocks, Completion, DeviceStats, Load, MOST_CHANGES, PreconditionReport, Recorder, RunResult, Series, Stalls, WarmUpResult,
};
use ssdlab_result::timeline::Output;
use ssdlab_trace::workload::Flows;
pub use state_cache::StateCache;
use trends::Settling;

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
/// Requests that closed loops may send at one instant. A loop whose requests take no time would go on for ever where only time ends it.
const REQUESTS_AT_ONE_INSTANT: u64 = 10_000_000;

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
    /// The run ends once the drive is read-only (`wear.end`).
    may_wear_out: bool,
    /// Blocks can fail, and fewer than 1 % of a drive's have.
    awaits_one_percent: bool,
    /// The writes of the run must be known ahead (`ftl.placement = "oracle"`).
    foretells: bool,
    /// The workload once more, read ahead of the drive.
    foresight: Option<Box<Foresight>>,
    /// Requests may name placement handles below this; all, if handles have no effect.
    handles: u16,
    recorder: Recorder,
    stalls: Stalls,
    load: Load,
    settling: Settling,
    /// End of the warm-up. `before`: the statistics when it ended.
    warming_up: WarmingUp,
    before: Option<(WarmUpResult, DeviceStats)>,
    timeline: Option<Output>,
    slowest: Option<Box<Slowest>>,
    /// Passages of the commands that have completed; only with `slowest`.
    passages: Vec<Passage>,
    blocks: Option<Box<Blocks>>,
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
    /// The drives come from the folder of prepared states.
    prepared_earlier: bool,
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
        Self::begun(plan, control, false)
    }

    /// A simulation of a plan with its drives prepared. `settles`: with the timed end of the preparation (`ftl.precondition.settle`), for a run
    /// of the workload.
    fn begun(plan: &Plan, control: &Control, settles: bool) -> Result<Self> {
        plan.check()?;
        control.phase.store(0, Ordering::Relaxed);
        let began = wall_clock();
        let prepared = state_cache::prepared(plan, control, settles)?;
        let prepare_s = began.elapsed().as_secs_f64();
        Ok(Simulation { prepare_s, prepared_earlier: prepared.earlier, ..Self::with_drives(plan, prepared.ftls, prepared.report)? })
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
        plan.give_policies(&mut storage);
        let flows = plan.config.workload.separate_flows().map_err(Error::Config)?;
        // A single flow needs no name.
        let names: Vec<_> = flows.iter().filter(|_| flows.len() > 1).map(|flow| flow.name.clone()).collect();
        let timeline = plan.timeline.as_ref().map(|wanted| Output::create(wanted, names.clone())).transpose()?;
        if let Some(timeline) = &timeline {
            storage.keep_timeline(timeline.budget());
        }
        let blocks = plan.blocks.as_ref().map(|path| storage.record_blocks(path, MOST_CHANGES)).transpose()?;
        let warming_up = WarmingUp::of(plan.warm_up);
        let slowest = plan.slowest.as_ref();
        let slowest = slowest.map(|wanted| Slowest::new(wanted, !warming_up.is_over(), storage.topology())).transpose()?.map(Box::new);
        if let Some(wanted) = &plan.slowest {
            storage.keep_rings(wanted.stages);
        }
        let mut recorder = Recorder::of(plan.request_log.as_deref(), names, plan.columns_of_log())?;
        if !warming_up.is_over() {
            storage.warm_up();
            recorder.warm_up();
        }
        Ok(Simulation {
            plan: plan.clone(),
            series: plan.series.then(|| Box::new(Series::new(storage.shape()))),
            settling: Settling::new(&storage),
            storage,
            asks_policies: plan.asks_policies(),
            exported_bytes: plan.config.exported_bytes()?,
            may_wear_out: plan.config.wear.is_on() && plan.config.wear.end == ssdlab_keys::config::WearEnd::Stop,
            awaits_one_percent: plan.config.wear.is_on(),
            foretells: plan.config.ftl.placement == Placement::Oracle,
            foresight: None,
            handles: match plan.config.handles() {
                0 => 256,
                handles => handles.into(),
            },
            recorder,
            stalls: Stalls::default(),
            load: Load::default(),
            warming_up,
            before: None,
            timeline,
            slowest,
            passages: Vec::new(),
            blocks: blocks.map(Box::new),
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
            prepared_earlier: false,
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

    /// Lets a request of a closed loop arrive now, while the round takes in requests and no other waits to be taken in.
    #[inline(always)]
    fn arrive_at(&mut self, at: Ns, request: Request) -> Result<()> {
        let request = Request { arrival_ns: at, ..request };
        self.check_request(&request)?;
        if self.foretells {
            self.look_ahead(&request)?;
        }
        self.outstanding_by_flow[usize::from(request.flow)] += 1;
        self.submitted += 1;
        self.take_in(&request)?;
        self.arrive(at, request);
        Ok(())
    }

    fn add_arrival(&mut self, place: usize, request: Request) -> Result<()> {
        if self.foretells {
            self.look_ahead(&request)?;
        }
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
        if request.length == 0 && request.kind != RequestKind::Flush && !request.kind.manages_zone() {
            return Err(Error::Usage(format!("a request at {} has no length; only a flush or a command on a zone may", request.offset)));
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
}

/// Real time, for `prepare_s` and `wall_s`, on which no simulated figure depends. The core reads it at this place only, but for the times of files.
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
    memory::check(&plan.config, plan.verify != Verify::Off, Columns::BYTES)?;
    if plan.save_state.is_some() {
        not_of_zones(&plan.config)?;
    }
    let exported = Exported::of(&plan.config)?;
    let mut flows = Flows::open(&plan.config.workload, exported.clone(), plan.seed, plan.requests, &control.caller)?;
    let mut simulation = Simulation::begun(plan, control, true)?;
    simulation.foretell(|| Flows::open(&plan.config.workload, exported.clone(), plan.seed, plan.requests, &control.caller))?;
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

/// Maximum number of outstanding requests; without open loops not limited, as closed loops limit themselves.
fn most_outstanding(workload: &Workload, flows: &[SeparateFlow]) -> u64 {
    if is_open_loop(flows) { workload.max_outstanding.into() } else { u64::MAX }
}

/// Whether some flow is in open loop, so that its requests arrive when they are due.
fn is_open_loop(flows: &[SeparateFlow]) -> bool {
    flows.iter().any(|flow| flow.workload.queue_depth == 0)
}
