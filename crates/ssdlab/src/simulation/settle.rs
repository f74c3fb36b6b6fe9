//! The timed end of a drive's preparation: requests under the run's own scheme, generated ones until write amplification has settled, or a
//! trace for some rounds.
//!
//! A drive that is prepared without simulated time keeps as many free blocks as one that is never busy. Under load a drive keeps fewer, so
//! that more of its blocks hold data, and write amplification is lower once all blocks have been collected that way.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::trends::totals;
use super::{Control, Plan, STEPS_PER_LOOK, Senders, Simulation};
use ssdlab_base::error::{Error, Result};
use ssdlab_base::request::Request;
use ssdlab_base::units::PoolId;
use ssdlab_drive::ftl::Ftl;
use ssdlab_drive::precondition;
use ssdlab_drive::storage::drive_seed;
use ssdlab_keys::config::{Config, Exported, PowerStates, PreconditionKind, Wear};
use ssdlab_result::settled::Verdict;
use ssdlab_result::stats::PreconditionReport;
use ssdlab_trace::workload::{Flows, RequestSource};

/// The prepared drives (several for an array), and the report on their preparation.
pub(super) type Prepared = (Vec<Ftl>, PreconditionReport);

/// Number of outstanding requests from which on the drive counts as overloaded, and will not settle.
const OVERLOADED: u64 = 65_536;
/// Drive writes that the timed end takes at least. The windows of the first drive write still show the untimed drive, and one look of many
/// finds no drift by chance: the write amplification of a drive of 24,576 pages was then 5 % below its final value.
const LEAST: f64 = 3.0;
/// Requested bytes, as a multiple of the exported bytes, after which a workload without any writes counts as read-only.
const READS_ONLY: f64 = 1.0;

/// Simulates the whole trace `ftl.precondition.rounds` times, if the kind is `trace`. The drive comes to rest after each round.
///
/// # Errors
/// Errors of a run of the trace.
pub(super) fn replay(plan: &Plan, prepared: Prepared, control: &Control) -> Result<Prepared> {
    if plan.config.ftl.precondition.kind != PreconditionKind::Trace {
        return Ok(prepared);
    }
    replayed(plan, prepared, control).map_err(|error| of_preparation(error, "kind = \"trace\"", "choose another ftl.precondition.kind"))
}

fn replayed(plan: &Plan, (mut ftls, mut report): Prepared, control: &Control) -> Result<Prepared> {
    let exported = Exported::of(&plan.config)?;
    let (mut requests, mut written) = (0, 0);
    for _ in 0..plan.config.ftl.precondition.rounds {
        let mut simulation = Simulation::with_drives(&quiet(plan), ftls, report.clone())?;
        let open = || Flows::open(&plan.config.workload, exported.clone(), plan.seed, None, &control.caller);
        simulation.foretell(open)?;
        let mut flows = open()?;
        simulation.drive_flows(&mut flows, control)?;
        let totals = totals(&simulation.storage);
        requests += simulation.completed;
        written += totals.host_units;
        report.settled_write_amplification = totals.amplification();
        ftls = simulation.into_ftls()?;
    }
    let units = units_of(&ftls);
    let timed = PreconditionReport { timed_requests: Some(requests), timed_drive_writes: Some(written as f64 / units as f64), ..report };
    let report = with_drives_of(timed, &ftls);
    Ok((ftls, report))
}

/// Serves other draws of the generated workload until write amplification has settled or `ftl.precondition.settle` is reached.
///
/// # Errors
/// Errors of a run of these requests, except for an overload, which ends the preparation.
pub(super) fn settle(plan: &Plan, prepared: Prepared, control: &Control) -> Result<Prepared> {
    let most = plan.config.ftl.precondition.settle;
    if most == 0.0 || plan.state.is_some() || plan.config.workload.reads_traces() {
        return Ok(prepared);
    }
    settled(plan, prepared, most, control).map_err(|error| of_preparation(error, "settle", "leave this out (ftl.precondition.settle = 0)"))
}

fn settled(plan: &Plan, (ftls, report): Prepared, most: f64, control: &Control) -> Result<Prepared> {
    let workload = plan.config.workload.without_ends();
    let plan = &Plan { config: Config { workload, ..plan.config.clone() }, ..plan.clone() };
    let exported = Exported::of(&plan.config)?;
    let open = || {
        let mut flows = Flows::open(&plan.config.workload, exported.clone(), plan.seed, Some(u64::MAX), &control.caller)?;
        flows.draw_others();
        Ok(flows)
    };
    let mut flows = open()?;
    let limit = Limit::new(exported.bytes, most);
    limit.count(&mut flows);
    let mut simulation = Simulation::with_drives(&quiet(plan), ftls, report.clone())?;
    simulation.foretell(open)?;
    simulation.send_until_settled(Senders::of(&mut flows), &limit, control)?;
    let (verdict, last) = (simulation.settling.verdict(), simulation.settling.amplification());
    let rooms = simulation.rooms(last.unwrap_or(1.0));
    simulation.run_to_idle()?;
    let requests = simulation.completed;
    let totals = totals(&simulation.storage);
    let last = last.or_else(|| totals.amplification());
    let ftls = simulation.into_ftls_as_under_load(&rooms)?;
    let timed = PreconditionReport {
        settled: (totals.host_units > 0).then_some(matches!(verdict, Verdict::Settled { .. })),
        settled_write_amplification: last,
        timed_requests: Some(requests),
        timed_drive_writes: Some(totals.host_units as f64 / units_of(&ftls) as f64),
        ..report
    };
    let report = with_drives_of(timed, &ftls);
    Ok((ftls, report))
}

/// The error of requests that prepare the drive, which says so: the run may be a shorter or slower one. `key`: below `ftl.precondition`.
/// `remedy`: what to do besides.
fn of_preparation(error: Error, key: &str, remedy: &str) -> Error {
    match error {
        Error::Simulation(reason) => {
            Error::Simulation(format!("in the preparation of the drive, before the run (ftl.precondition.{key}): {reason}; or {remedy}"))
        }
        other => other,
    }
}

/// The plan of a simulation of which only the drives are kept: without warm-up, series and files.
fn quiet(plan: &Plan) -> Plan {
    let mut config = Config { wear: Wear::default(), power_states: PowerStates::default(), ..plan.config.clone() };
    // A failed drive is replaced when the run begins.
    (config.array.rebuild_stripes, config.array.rebuild_bytes_per_us) = (0, 0.0);
    Plan {
        config,
        requests: None,
        warm_up: None,
        request_log: None,
        timeline: None,
        blocks: None,
        series: false,
        alone: false,
        state: None,
        save_state: None,
        ..plan.clone()
    }
}

/// Number of units that the host can address, over all drives.
fn units_of(ftls: &[Ftl]) -> u64 {
    ftls.iter().map(|ftl| u64::from(ftl.geometry().exported_units)).sum()
}

/// The report, with mapped pages, valid share and free blocks of the drives as they are now.
fn with_drives_of(report: PreconditionReport, ftls: &[Ftl]) -> PreconditionReport {
    let now: Vec<_> = ftls.iter().map(|ftl| precondition::report(ftl, report.kind.clone())).collect();
    let now = PreconditionReport::of_all(&now);
    PreconditionReport {
        pages_mapped: now.pages_mapped,
        valid_share: now.valid_share,
        free_blocks_min: now.free_blocks_min,
        free_blocks_max: now.free_blocks_max,
        ..report
    }
}

impl Simulation {
    /// Sends requests until write amplification has settled, the limit is reached, or the drive is overloaded.
    fn send_until_settled(&mut self, mut senders: Senders<'_>, limit: &Limit, control: &Control) -> Result<()> {
        let (mut steps, mut judged) = (0_u64, 0);
        while limit.is_left() && self.outstanding() < OVERLOADED {
            self.draw(&mut senders)?;
            if self.completed == self.submitted && !self.wait_for_start(&mut senders)? {
                break;
            }
            self.step_or_stuck(Some(&mut senders))?;
            steps += 1;
            if steps.is_multiple_of(STEPS_PER_LOOK) {
                self.look_out(&senders, control)?;
                if self.settling.drive_writes() == 0.0 && limit.used() > READS_ONLY {
                    break;
                }
            }
            if self.settling.looks() > judged {
                judged = self.settling.looks();
                if self.settling.drive_writes() >= LEAST && matches!(self.settling.verdict(), Verdict::Settled { .. }) {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Brings the drives to rest and returns them.
    fn into_ftls(mut self) -> Result<Vec<Ftl>> {
        self.storage.come_to_rest(self.now)?;
        let mut ftls = Vec::new();
        self.storage.each_drive_mut(|drive| ftls.push(drive.take_ftl()));
        Ok(ftls)
    }

    /// Brings the drives to rest and returns them with the room (programmable units) that each had under load, `rooms`. GC jobs that end
    /// without concurrent writes leave more room, which is then overwritten without simulated time.
    fn into_ftls_as_under_load(self, rooms: &[f64]) -> Result<Vec<Ftl>> {
        let plan = self.plan.clone();
        let written_on = self.into_ftls()?.into_iter().zip(rooms).zip(0..).map(|((ftl, room), drive)| {
            let pools = (0..ftl.geometry().pools.count.get()).map(PoolId);
            let now: u64 = pools.map(|pool| ftl.room_outside_cache(pool)).sum();
            let owed = (now as f64 - room).max(0.0) as u64;
            precondition::overwrite_without_collection(&plan.config, ftl, drive_seed(plan.seed, drive), owed)
        });
        Ok(written_on.collect())
    }

    /// Programmable units of each drive under load.
    fn rooms(&self, amplification: f64) -> Vec<f64> {
        // Of the N units of a block, a GC job moves N (1 - 1/A).
        let moved_share = 1.0 - 1.0 / amplification.max(1.0);
        self.storage.drives().into_iter().map(|drive| drive.room_under_way(moved_share)).collect()
    }
}

/// Limit of the bytes that the host may read and write while the drive settles.
struct Limit {
    /// Bytes requested so far, over all flows.
    requested: Arc<AtomicU64>,
    exported: u64,
    most: f64,
}

impl Limit {
    fn new(exported: u64, most: f64) -> Self {
        Limit { requested: Arc::default(), exported, most }
    }

    /// Bytes requested so far, as a multiple of the exported bytes.
    fn used(&self) -> f64 {
        self.requested.load(Ordering::Relaxed) as f64 / self.exported as f64
    }

    fn is_left(&self) -> bool {
        self.used() < self.most
    }

    /// Wraps the sources of `flows`, so that the bytes they request are counted.
    fn count(&self, flows: &mut Flows) {
        let counted = |inner| -> Box<dyn RequestSource> { Box::new(Counted { inner, requested: Arc::clone(&self.requested) }) };
        flows.open = flows.open.take().map(counted);
        flows.closed = std::mem::take(&mut flows.closed)
            .into_iter()
            .map(|flow| ssdlab_trace::workload::flows::ClosedLoop { source: counted(flow.source), ..flow })
            .collect();
    }
}

/// A request source whose requested bytes are counted.
struct Counted {
    inner: Box<dyn RequestSource>,
    requested: Arc<AtomicU64>,
}

impl RequestSource for Counted {
    fn next_request(&mut self) -> Result<Option<Request>> {
        let request = self.inner.next_request()?;
        // Each request counts as at least one byte, so that a workload of flushes ends.
        self.requested.fetch_add(request.map_or(0, |request| request.length.max(1)), Ordering::Relaxed);
        Ok(request)
    }

    fn is_at_hand(&self) -> bool {
        self.inner.is_at_hand()
    }
}
