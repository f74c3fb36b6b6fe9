//! A user-defined order decides what goes first on a die: which of the operations that may begin, and whether GC goes before them.
//!
//! The policy chooses among eligible operations only. Operations on one page keep their order, since only the oldest is in a queue. A job
//! that runs to completion (S3), the write that waits for it, and a GC step whose turn it is go first without a question.

use crate::custom::AtWork;
use crate::rules::BurstRule;
use crate::sched::{
    Cause, Choices, CustomOrder, JobState, Operation, OperationKind, OrderPolicy, QueueKind, SCATTERED, Situation, TransactionKind,
};
use crate::ssd::Ssd;
use crate::ssd::candidates::{HostCandidate, Limits};
use crate::ssd::mechanisms::advance;
use crate::views::DiePhase;
use ssdlab_base::error::Error;
use ssdlab_base::units::{ChipId, DieId, Ns, PoolId};
use ssdlab_keys::config::Priority;

/// Bursts remain exact: an operation that comes to wait for the die and may go first interrupts them.
pub(in crate::ssd) const BURSTS: BurstRule = BurstRule { keys: &["scheduler.order"], exact: |_| true };

/// Suspensions on a chip in a row, each without an operation of the host that begins then, after which the policy has failed: it could go
/// on like that for ever.
const MOST_IN_VAIN: u32 = 100;

/// A user-defined order at work.
#[derive(Debug)]
pub(in crate::ssd) struct OwnOrder {
    policy: AtWork<dyn OrderPolicy>,
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
    /// Uses a user-defined order. Call before [`Ssd::begin`].
    pub fn use_order_policy(&mut self, custom: &CustomOrder) {
        self.rules.never_bursts();
        let in_vain = vec![0; self.geometry().chips as usize];
        self.order = Some(Box::new(OwnOrder { policy: custom.make(), host: Vec::new(), operations: Vec::new(), in_vain }));
    }

    /// The failure of a user-defined order, once there is one.
    #[inline]
    pub(in crate::ssd) fn take_order_failure(&mut self) -> Option<Error> {
        self.order.as_mut()?.policy.take_failure()
    }
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
pub(in crate::ssd) fn host_begins(ssd: &mut Ssd, die: DieId) {
    let chip = ssd.geometry().chip_of_die(die);
    if let Some(order) = &mut ssd.order {
        order.in_vain[chip.index()] = 0;
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
    fn suspended(&mut self, chip: ChipId) {
        let in_vain = &mut self.in_vain[chip.index()];
        *in_vain += 1;
        if *in_vain > MOST_IN_VAIN {
            let message =
                "had an operation suspended for the host, and then chose the suspended operation, again and again: no run would end";
            self.policy.fail(message);
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
    let choice = order.policy.ask(|policy| match policy.pick(&choices)? {
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
