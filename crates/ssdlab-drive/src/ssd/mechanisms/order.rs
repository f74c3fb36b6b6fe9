//! A user-defined order decides what goes first on a die: which of the operations that may begin, and whether GC goes before them. The fair
//! order of several flows decides the former only.
//!
//! The policy chooses among eligible operations only. Operations on one page keep their order, since only the oldest is in a queue. A job
//! that runs to completion (S3), the write that waits for it, and a GC step whose turn it is go first without a question.

use crate::custom::AtWork;
use crate::flash::Timing;
use crate::rules::BurstRule;
use crate::sched::fair::{Candidate, Fair};
use crate::sched::{
    Cause, Choices, CustomOrder, JobState, Operation, OperationKind, OrderPolicy, QueueKind, SCATTERED, Situation, TransactionKind,
};
use crate::ssd::Ssd;
use crate::ssd::candidates::{HostCandidate, Limits};
use crate::ssd::mechanisms::advance;
use crate::views::DiePhase;
use ssdlab_base::error::Error;
use ssdlab_base::units::{ChipId, DieId, Ns, PoolId, TxnId};
use ssdlab_keys::config::{Config, Mode, Order, Priority};
use ssdlab_keys::geometry::Geometry;

/// Bursts remain exact: an operation that comes to wait for the die and may go first interrupts them.
pub(in crate::ssd) const BURSTS: BurstRule = BurstRule {
    keys: &["scheduler.order", "scheduler.flow_weights", "scheduler.fair_epoch_us", "scheduler.fair_low_mb_s", "scheduler.fair_ratio"],
    exact: |_| true,
};

/// Suspensions on a chip in a row, each without an operation of the host that begins then, after which the policy has failed: it could go
/// on like that for ever.
const MOST_IN_VAIN: u32 = 100;

/// Who chooses among operations.
#[derive(Debug)]
enum Chooser {
    /// A user-defined policy.
    Own(AtWork<dyn OrderPolicy>),
    /// The fair order, and the operations as it sees them.
    Fair(Box<Fair>, Vec<Candidate>),
}

/// A user-defined order, or the fair one, at work.
#[derive(Debug)]
pub(in crate::ssd) struct OwnOrder {
    chooser: Chooser,
    /// The operations of the host that the policy chooses from, and all operations as it sees them.
    host: Vec<HostCandidate>,
    operations: Vec<Operation>,
    /// By chip: suspensions since an operation of the host began.
    in_vain: Vec<u32>,
}

/// A decision to be made on a die.
#[derive(Clone, Copy, Debug)]
pub(in crate::ssd) struct Question {
    pub(in crate::ssd) now: Ns,
    pub(in crate::ssd) die: DieId,
    pub(in crate::ssd) phase: DiePhase,
    /// The pool of the GC step or operation.
    pub(in crate::ssd) gc: Option<PoolId>,
    /// Limits on the die if nothing is suspended there; `None`: those that follow from what is suspended.
    pub(in crate::ssd) limits: Option<Limits>,
}

impl Ssd {
    /// Uses a user-defined order, also in place of the fair one. Call before [`Ssd::begin`].
    pub fn use_order_policy(&mut self, custom: &CustomOrder) {
        self.rules.never_bursts();
        self.order = Some(Box::new(OwnOrder::new(Chooser::Own(custom.make()), self.geometry())));
    }

    /// The failure of a user-defined order, once there is one.
    #[inline]
    pub(in crate::ssd) fn take_order_failure(&mut self) -> Option<Error> {
        match &mut self.order.as_mut()?.chooser {
            Chooser::Own(policy) => policy.take_failure(),
            Chooser::Fair(..) => None,
        }
    }
}

/// The fair order of a configuration; `None` without it.
pub(in crate::ssd) fn of(config: &Config, geometry: &Geometry, timing: &Timing) -> Option<Box<OwnOrder>> {
    let service_ns = [timing.expected_read(Mode::Native), timing.expected_program(Mode::Native)];
    (config.scheduler.order == Order::Fair).then(|| {
        let fair = Fair::new(&config.scheduler, geometry.dies, geometry.unit_bytes, service_ns);
        Box::new(OwnOrder::new(Chooser::Fair(Box::new(fair), Vec::new()), geometry))
    })
}

/// Call when a page operation of the host begins to wait for a die.
#[inline(always)]
pub(in crate::ssd) fn operation_waits(ssd: &mut Ssd, now: Ns, die: DieId, id: TxnId) {
    if ssd.order.is_some() {
        tell_fair(ssd, id, |fair, candidate| fair.enters(now, die, candidate));
    }
}

/// Tells the fair order, if that is the order, of an operation.
#[cold]
fn tell_fair(ssd: &mut Ssd, id: TxnId, tell: impl FnOnce(&mut Fair, Candidate)) {
    let candidate = fair_candidate(ssd, id);
    if let Some(OwnOrder { chooser: Chooser::Fair(fair, _), .. }) = ssd.order.as_deref_mut() {
        tell(fair, candidate);
    }
}

/// An operation as the fair order sees it.
fn fair_candidate(ssd: &Ssd, id: TxnId) -> Candidate {
    let transaction = &ssd.transactions[id];
    let kind = if transaction.kind == TransactionKind::Write { QueueKind::Write } else { QueueKind::Read };
    let known = !ssd.geometry().is_of_map(transaction.lpn) && (kind == QueueKind::Read || ssd.rules.writes_have_flows);
    Candidate { id, kind, flow: known.then(|| ssd.host.request(transaction.request).request.flow) }
}

/// The host operation that goes first of those that may begin, and whether it goes before GC: `host` and the configured priority, unless a
/// user-defined order says otherwise. `OWN`: there may be one.
#[inline(always)]
pub(in crate::ssd) fn choose<const OWN: bool>(
    ssd: &mut Ssd,
    question: Question,
    host: Option<HostCandidate>,
) -> (Option<HostCandidate>, Priority) {
    match host {
        Some(host) if OWN && ssd.order.is_some() => ask(ssd, question, host),
        _ => (host, ssd.rules.gc.priority),
    }
}

/// Call when an operation of the host begins on a die.
#[inline(always)]
pub(in crate::ssd) fn host_begins(ssd: &mut Ssd, now: Ns, die: DieId, id: TxnId) {
    let chip = ssd.geometry().chip_of_die(die);
    if let Some(order) = &mut ssd.order {
        order.in_vain[chip.index()] = 0;
        tell_fair(ssd, id, |fair, candidate| fair.begins(now, die, candidate));
    }
}

/// Call when an operation on a die is suspended for the host.
#[inline(always)]
pub(in crate::ssd) fn suspended(ssd: &mut Ssd, die: DieId) {
    let chip = ssd.geometry().chip_of_die(die);
    if let Some(order) = &mut ssd.order {
        order.suspended(chip);
    }
}

impl OwnOrder {
    fn new(chooser: Chooser, geometry: &Geometry) -> Self {
        OwnOrder { chooser, host: Vec::new(), operations: Vec::new(), in_vain: vec![0; geometry.chips as usize] }
    }

    fn suspended(&mut self, chip: ChipId) {
        let in_vain = &mut self.in_vain[chip.index()];
        *in_vain += 1;
        if let Chooser::Own(policy) = &mut self.chooser
            && *in_vain > MOST_IN_VAIN
        {
            let message =
                "had an operation suspended for the host, and then chose the suspended operation, again and again: no run would end";
            policy.fail(message);
        }
    }
}

#[cold]
fn ask(ssd: &mut Ssd, question: Question, built_in: HostCandidate) -> (Option<HostCandidate>, Priority) {
    let configured = (Some(built_in), ssd.rules.gc.priority);
    if is_settled(ssd, question, built_in) {
        return configured;
    }
    let mut order = ssd.order.take().expect("the caller has looked");
    gather(ssd, question, built_in, &mut order.host);
    if let Chooser::Fair(fair, operations) = &mut order.chooser {
        operations.clear();
        operations.extend(order.host.iter().map(|candidate| fair_candidate(ssd, candidate.id)));
        let first = fair.first(question.now, question.die, operations);
        ssd.probes.count().order_choices += u64::from(operations.len() > 1);
        ssd.probes.count().order_passes += u64::from(first > 0);
        let chosen = merged(ssd, question, order.host[first]);
        ssd.order = Some(order);
        return (Some(chosen), ssd.rules.gc.priority);
    }
    order.operations.clear();
    order.operations.extend(order.host.iter().map(|&candidate| operation(ssd, candidate)));
    let job = question.gc.map(|pool| {
        order.operations.push(gc_operation(ssd, pool));
        job_state(ssd, question.phase, pool)
    });
    let choice = if order.operations.len() > 1 { picked(ssd, &mut order, question, job) } else { None };
    let chosen = match choice {
        None => configured,
        Some(index) => match order.host.get(index) {
            Some(&candidate) => (Some(merged(ssd, question, candidate)), Priority::Host),
            None => (Some(built_in), Priority::Gc),
        },
    };
    ssd.order = Some(order);
    chosen
}

/// Asks the policy. Returns the index that it chooses, which is checked, if it chooses one.
fn picked(ssd: &mut Ssd, order: &mut OwnOrder, question: Question, job: Option<JobState>) -> Option<usize> {
    let situation = match question.phase {
        DiePhase::BetweenMoves => Situation::Begins,
        DiePhase::InsideMove { .. } => Situation::Stopped,
        DiePhase::InArray => Situation::InService,
    };
    let (now_ns, die) = (question.now, question.die);
    let queued = ssd.sched.queued(ssd.geometry().chip_of_die(die));
    let count = order.operations.len();
    let choices = Choices { now_ns, die, situation, queued, operations: &order.operations, job };
    let Chooser::Own(policy) = &mut order.chooser else { return None };
    let choice = policy.ask(|policy| match policy.pick(&choices)? {
        Some(index) if index >= count => {
            Err(format!("chose operation {index} of {count}: expected an index from 0 to {}", count - 1).into())
        }
        chosen => Ok(chosen),
    });
    let counters = ssd.probes.count();
    counters.order_choices += 1;
    counters.order_fallbacks += u64::from(choice.is_none());
    choice
}

/// What goes first does not depend on any order.
fn is_settled(ssd: &Ssd, question: Question, host: HostCandidate) -> bool {
    let gc_runs = |pool| ssd.is_urgent_beside(pool) || question.phase == DiePhase::BetweenMoves && advance::has_turn(ssd, pool);
    ssd.gc.states.urgent(host.pool).is_some() || question.gc.is_some_and(gc_runs)
}

/// Collects the host operations that may begin, in the order of their queues. `built_in`: the one that the configured order chooses.
fn gather(ssd: &Ssd, question: Question, built_in: HostCandidate, into: &mut Vec<HostCandidate>) {
    into.clear();
    let Question { die: of, limits, .. } = question;
    let mut each = |die, limits| ssd.each_eligible(die, limits, &mut |candidate| into.push(candidate));
    // A write that goes along with a move is of the same die.
    let pairs = limits.is_some_and(|limits| limits.writes_only);
    if ssd.rules.flash.interleave || pairs {
        each(of, limits.unwrap_or_else(|| ssd.limits_beside_suspended(of)));
    } else {
        for die in ssd.dies_after(of) {
            let given = limits.filter(|_| die == of && ssd.flash.suspended(die).is_none());
            each(die, given.unwrap_or_else(|| ssd.limits_beside_suspended(die)));
        }
    }
    if built_in.by_move && built_in.kind == QueueKind::Write {
        // A stopped write that only its page's move can serve.
        into.push(built_in);
    }
    // A write that waits by chip is there once for each die: the first die has its turn.
    into.sort_by_key(|candidate| ssd.transactions[candidate.id].rank);
    into.dedup_by_key(|candidate| candidate.id);
    debug_assert!(into.iter().any(|candidate| candidate.id == built_in.id), "the configured choice is one of the operations");
}

/// The chosen candidate, with a mark if it merges with the move of its page.
fn merged(ssd: &Ssd, question: Question, candidate: HostCandidate) -> HostCandidate {
    let merges = ssd.rules.gc.merge && !question.limits.is_some_and(|limits| limits.writes_only) && !candidate.by_move;
    let die = ssd.geometry().die_of_pool(candidate.pool);
    if merges { ssd.by_move(die, Some(candidate)).unwrap_or(candidate) } else { candidate }
}

fn operation(ssd: &Ssd, candidate: HostCandidate) -> Operation {
    let transaction = &ssd.transactions[candidate.id];
    let outstanding = ssd.host.request(transaction.request);
    let unit = ssd.geometry().unit_bytes;
    let (from, to) = if transaction.bytes == SCATTERED { (0, unit) } else { transaction.bytes };
    let of_host = u64::from(transaction.lpn.0) * u64::from(unit) < ssd.geometry().exported_bytes();
    Operation {
        kind: if transaction.kind == TransactionKind::Write { OperationKind::Program } else { OperationKind::Read },
        cause: if of_host { Cause::Host } else { Cause::Mapping },
        ready: transaction.ready,
        arrival_ns: outstanding.request.arrival_ns,
        offset: u64::from(transaction.lpn.0) * u64::from(unit) + u64::from(from),
        bytes: to - from,
        request: Some(outstanding.index),
        request_bytes: outstanding.request.length,
        flow: outstanding.request.flow,
        high_priority: transaction.high_priority,
        pool: candidate.pool,
        slack_ns: ssd.sched.slack().map(|slack| slack.left(&ssd.transactions, candidate.id)),
    }
}

fn gc_operation(ssd: &Ssd, pool: PoolId) -> Operation {
    let job = ssd.gc.job(pool).expect("a candidate has a job");
    let erases = if job.is_busy() { job.moving().is_none() } else { ssd.gc.jobs.next_is_erase(&ssd.ftl, pool) };
    Operation {
        kind: if erases { OperationKind::Erase } else { OperationKind::Move },
        cause: Cause::Gc,
        ready: job.ready(),
        arrival_ns: job.started_ns(),
        offset: 0,
        bytes: ssd.geometry().unit_bytes * ssd.geometry().units_per_flash_page,
        request: None,
        request_bytes: 0,
        flow: 0,
        high_priority: false,
        pool,
        slack_ns: None,
    }
}

fn job_state(ssd: &Ssd, phase: DiePhase, pool: PoolId) -> JobState {
    let job = ssd.gc.job(pool).expect("a candidate has a job");
    let is_suspended = || ssd.flash.suspended(ssd.geometry().die_of_pool(pool)).is_some();
    JobState {
        victim: job.victim(),
        valid_pages: ssd.ftl.blocks().valid(job.victim()),
        free_blocks: ssd.ftl.blocks().free_count(pool),
        begun: phase != DiePhase::BetweenMoves || is_suspended(),
    }
}
