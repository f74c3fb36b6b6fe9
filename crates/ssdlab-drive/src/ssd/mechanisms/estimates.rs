//! When will page operations end, and how much later could they (elyasi2017, equations (1) to (8))?
//!
//! | equation | where |
//! |---|---|
//! | (1), (2) response of an operation; (3), (4) queue; (5) T_GC; (6) T_interference | [`crate::sched`], file `estimate` |
//! | (7) T_residual | `residual` here, over `Flash::residual_ns` |
//! | (8) slack | [`crate::sched::Slack::left`] |

use crate::flash::{Op, OpKind, Owner};
use crate::rules::BurstRule;
use crate::sched::page_order::{self, ChainEnds};
use crate::sched::{Ahead, Before, QueueKind, Slack, TRIMMED, Transaction, TransactionKind};
use crate::ssd::Ssd;
use crate::ssd::host::{Outstanding, PageTimes};
use ssdlab_base::request::RequestKind;
use ssdlab_base::units::{ChannelId, ChipId, DieId, Lpn, Ns, PoolId, Ppn, ReqId, TxnId};
use ssdlab_keys::config::Mode;

/// Bursts: estimates count the moves that have ended, and the time that is left of the one in service.
pub(in crate::ssd) const BURSTS: BurstRule = BurstRule {
    keys: &[
        "scheduler.read_bypass",
        "scheduler.write_bypass",
        "scheduler.write_pausing",
        "scheduler.estimates",
        "scheduler.error_feedback",
    ],
    exact: |config| !config.scheduler.makes_estimates(),
};

/// The estimate for a page operation that has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Serial number of the request.
    pub request: u64,
    /// The logical page.
    pub lpn: Lpn,
    /// When the operation will end, as estimated at its admission, ns.
    pub end: Ns,
    /// Slack of the operation: how much later it may end, ns.
    pub slack: Ns,
}

impl Ssd {
    /// The estimates for all page operations that have not ended, by request and page; empty where no estimates are made.
    pub fn estimates(&self) -> Vec<Estimate> {
        let Some(slack) = self.sched.slack() else { return Vec::new() };
        let of = |id: TxnId| {
            let transaction = &self.transactions[id];
            let request = self.host.request(transaction.request).index;
            Estimate { request, lpn: transaction.lpn, end: slack.end(id), slack: slack.left(&self.transactions, id) }
        };
        let mut estimates: Vec<_> = admitted_pages(self).map(of).collect();
        estimates.sort_by_key(|estimate| (estimate.request, estimate.lpn));
        estimates
    }
}

/// The page reads and writes that have been admitted and have not ended.
fn admitted_pages(ssd: &Ssd) -> impl Iterator<Item = TxnId> {
    let pages = (0..ssd.geometry().logical_units).map(Lpn);
    let all = pages.flat_map(|lpn| page_order::chain(&ssd.ftl, &ssd.transactions, lpn));
    all.filter(|&id| ssd.transactions[id].kind != TransactionKind::Trim)
}

/// Verify mode: checks that no slack is below 0, and that the queues of the stations are in order.
pub(in crate::ssd) fn check(ssd: &Ssd) -> Result<(), String> {
    let Some(slack) = ssd.sched.slack() else { return Ok(()) };
    admitted_pages(ssd).for_each(|id| _ = slack.left(&ssd.transactions, id));
    slack.check(&ssd.transactions)
}

/// Puts a page operation into its page's chain and its queue, and estimates from its place there when it will end.
pub(in crate::ssd) fn enter(ssd: &mut Ssd, now: Ns, id: TxnId, ends: Option<ChainEnds>) {
    let Transaction { chip, lpn, request, .. } = ssd.transactions[id];
    let channel = channel_of_chip(ssd, chip);
    let serial = ssd.host.request(request).index;
    let expected = [expected_read(ssd, ssd.ftl.lookup(lpn)), expected_program(ssd, &ssd.transactions[id])];
    let slack = ssd.sched.slack_mut().expect("the caller has looked");
    let first_on_chip = slack.new_operation(id, serial, chip, expected);
    ssd.host.ends(request).chips += u32::from(first_on_chip);
    ssd.enter_page_order(now, id, ends);
    let Transaction { kind, active, .. } = ssd.transactions[id];
    if kind == TransactionKind::ReadForWrite || kind == TransactionKind::Write && !active {
        write_to_come(ssd, id, true);
    }
    let (kind, response, alone) = response(ssd, now, id);
    let response = response.max(after_older(ssd, now, id, ends, alone));
    let slack = ssd.sched.slack_mut().expect("as before");
    slack.admitted(channel);
    slack.will_end(now, id, request, kind, response, alone);
}

/// Counts a command of a die for `pages` pages of the host that is about to begin.
#[inline(always)]
pub(in crate::ssd) fn host_prepared(ssd: &mut Ssd, die: DieId, kind: QueueKind, pages: u32) {
    if let Some(slack) = ssd.sched.slack_mut() {
        slack.served(die, kind, pages);
    }
}

/// Notes the arrival of a request, for slack.
#[inline(always)]
pub(in crate::ssd) fn request_arrived(ssd: &mut Ssd, now: Ns, request: ReqId) {
    if let Some(slack) = ssd.sched.slack_mut() {
        slack.new_request(request, now);
        if !ssd.host.is_warming_up() {
            ssd.probes.slack_mut().arrived(slack.on_chips());
        }
    }
}

fn channel_of_chip(ssd: &Ssd, chip: ChipId) -> ChannelId {
    ssd.geometry().channel_of_die(DieId(ssd.geometry().dies_of_chip(chip).start))
}

/// The estimate for an operation that has just been admitted (elyasi2017, equations 1 to 7): whether it will end as a read or a write,
/// the time from now to its end, and its time without any waiting, ns.
fn response(ssd: &Ssd, now: Ns, id: TxnId) -> (QueueKind, Ns, Ns) {
    let slack = ssd.sched.slack().expect("the caller has looked");
    let transaction = &ssd.transactions[id];
    // A read that finds its page in the controller's buffer needs no flash.
    let at_once = ssd.merging.is_answered(id);
    let reads_first = reads_first(ssd, transaction);
    let kind = if reads_first { QueueKind::Read } else { transaction.kind.queue() };
    let (die, pool) = place_of(ssd, id, kind);
    let station = slack.station(die, kind);
    let mut own = slack.ahead(id).unwrap_or_else(|| slack.before(station, pool, kind));
    if kind == QueueKind::Write {
        own.elsewhere += slack.coming(station) - if transaction.active { 0 } else { slack.expected(id, kind) };
    }
    let ahead = Ahead {
        waiting: match kind {
            QueueKind::Read => [own, Before::default()],
            QueueKind::Write => [slack.all(station, QueueKind::Read), own],
        },
        residual: residual(ssd, now, slack, station),
        width: slack.width(station),
    };
    let channel = channel_of_chip(ssd, transaction.chip);
    let alone = slack.expected(id, kind);
    let response = slack.estimator().response(station, channel.0, alone, ahead, ssd.flash.bus_stalls(channel));
    let (response, alone) = if at_once { (0, 0) } else { (response, alone) };
    if !reads_first {
        return (kind, response, alone);
    }
    // Its page is read first; then come the reads that it bypassed, and all writes before it.
    let behind = slack.ahead(id).map_or(0, |ahead| slack.all(station, kind).elsewhere - slack.expected(id, kind) - ahead.all());
    let reads = slack.estimator().queue_of(station, kind, Before { elsewhere: behind, ..Before::default() });
    let (die, pool) = place_of(ssd, id, QueueKind::Write);
    let station = slack.station(die, QueueKind::Write);
    let mut writes = slack.before(station, pool, QueueKind::Write);
    let write = slack.expected(id, QueueKind::Write);
    // Less the operation itself.
    writes.elsewhere += slack.coming(station) - write;
    let queue = reads + slack.estimator().queue_of(station, QueueKind::Write, writes) / slack.width(station);
    (QueueKind::Write, response + queue + write, alone + write)
}

/// Counts an admitted write that is not in its queue yet (`comes`), behind older operations on its page or its own read, or that enters
/// it.
#[inline(always)]
pub(in crate::ssd) fn write_to_come(ssd: &mut Ssd, id: TxnId, comes: bool) {
    if ssd.sched.slack().is_some() {
        let die = place_of(ssd, id, QueueKind::Write).0;
        ssd.sched.slack_mut().expect("just seen").write_to_come(die, id, comes);
    }
}

/// The estimated time from now to the end of an operation if it waits only for older ones on its page, ns; 0 if it waits for none.
fn after_older(ssd: &Ssd, now: Ns, id: TxnId, ends: Option<ChainEnds>, alone: Ns) -> Ns {
    match ends {
        Some(ChainEnds { youngest: older, .. })
            if !ssd.transactions[id].active && ssd.transactions[older].kind != TransactionKind::Trim =>
        {
            let slack = ssd.sched.slack().expect("the caller has looked");
            slack.end(older).saturating_sub(now) + alone
        }
        _ => 0,
    }
}

/// An admitted write reads its page first, now or once older operations on the page are done.
fn reads_first(ssd: &Ssd, transaction: &Transaction) -> bool {
    let Transaction { kind, active, bytes, lpn, on_page, .. } = *transaction;
    let partial = bytes != (0, ssd.geometry().unit_bytes) && !ssd.rules.skip_partial_read;
    let holds_data = || on_page.behind().map_or_else(|| ssd.ftl.lookup(lpn).is_some(), |change| change != TRIMMED);
    kind == TransactionKind::ReadForWrite || kind == TransactionKind::Write && !active && partial && holds_data()
}

/// The die and pool of an admitted operation; for a write under dynamic allocation, which has no pool yet, the first die of its station
/// and pool 0.
fn place_of(ssd: &Ssd, id: TxnId, kind: QueueKind) -> (DieId, PoolId) {
    let Transaction { lpn, station, .. } = ssd.transactions[id];
    if kind == QueueKind::Write && ssd.rules.dynamic {
        return (ssd.first_die(station), PoolId(0));
    }
    let pool = if kind == QueueKind::Write { ssd.geometry().static_pool(lpn) } else { ssd.pool_of_data(lpn) };
    (ssd.geometry().die_of_pool(pool), pool)
}

/// T_residual (7): the residual service time of a station, ns. Of several operations in service the largest, or, where the station
/// serves several at once (width above 1), the smallest. A suspended GC operation counts 0, unless it is suspended for reads.
fn residual(ssd: &Ssd, now: Ns, slack: &Slack, station: u32) -> Ns {
    let left = slack.dies(station).map(|die| ssd.flash.residual_ns(now, DieId(die), |op| expected_of(ssd, op)));
    let left = if slack.width(station) > 1 { left.min() } else { left.max() };
    left.expect("a station has dies")
}

/// Notes the end of a page operation, for slack.
#[inline]
pub(in crate::ssd) fn page_ended(ssd: &mut Ssd, now: Ns, id: TxnId) {
    let Transaction { request, kind, .. } = ssd.transactions[id];
    let outstanding = ssd.host.request(request);
    let ns = now - outstanding.request.arrival_ns;
    // The only page of a request has no slack, and needs no sums.
    if outstanding.has_several_pages() {
        ssd.host.ends(request).add(ns);
    }
    if let Some(slack) = ssd.sched.slack_mut() {
        slack.ended(now, id, kind.queue());
        let (passed, paused) = slack.touched(id);
        let ends = ssd.host.ends(request);
        ends.passed |= passed;
        ends.paused |= paused;
    }
}

/// Notes the end of a request, for statistics: the slack of its pages, and the error of its estimate.
#[inline(always)]
pub(in crate::ssd) fn request_ended(ssd: &mut Ssd, now: Ns, id: ReqId) {
    let Outstanding { request, ends, .. } = ssd.host.request(id);
    if ends.in_warm_up {
        return;
    }
    let kind = match request.kind {
        RequestKind::Read => 0,
        RequestKind::Write => 1,
        _ => return,
    };
    let response = now - request.arrival_ns;
    let stats = ssd.probes.slack_mut();
    match *ends {
        PageTimes { pages: 0, .. } => stats.only_page_ended(kind),
        PageTimes { pages, sum, squares, .. } => stats.pages_ended(kind, pages, sum, squares, response),
    }
    if let Some(slack) = ssd.sched.slack() {
        let estimate = slack.latest_end(id) - request.arrival_ns;
        stats.request_ended(kind, ends.chips, estimate, response, [ends.passed, ends.paused]);
    }
}

/// Counts an operation of GC that ends on a die, for T_GC: a page move or an erase; where page moves go from die to die, each read and each
/// program. Call before the operation has its effects.
#[inline(always)]
pub(in crate::ssd) fn gc_operation_ends(ssd: &mut Ssd, die: DieId, pool: PoolId, kind: OpKind) {
    if ssd.sched.slack().is_some() {
        let expected = collected(ssd, pool, kind);
        ssd.sched.slack_mut().expect("just seen").collected(die, expected);
    }
}

/// Time that an operation of GC which ends is expected to have cost its die, ns. The read of a page that its own die programs counts with the
/// program, and a move with which a write of the host has merged is none of GC.
fn collected(ssd: &Ssd, pool: PoolId, kind: OpKind) -> Ns {
    let rules = &ssd.rules.gc;
    let merged = || !rules.gathers() && ssd.gc.moving(pool).is_some_and(|moved| moved.writer.is_some());
    match kind {
        OpKind::Erase => expected_of_step(ssd, pool, kind),
        _ if rules.spreads => expected_of_step(ssd, pool, kind),
        OpKind::Read => 0,
        _ if merged() => 0,
        _ => expected_of_step(ssd, pool, OpKind::Move),
    }
}

/// The mode of the block that holds a page; `None`: a page without a place.
fn mode_of(ssd: &Ssd, place: Option<Ppn>) -> Mode {
    place.map_or(Mode::Native, |ppn| ssd.ftl.page_facts(ppn).mode)
}

/// Expected time of the read of a page, by the mode of the block in which it lies, ns.
fn expected_read(ssd: &Ssd, place: Option<Ppn>) -> Ns {
    ssd.flash.timing().expected_read(mode_of(ssd, place))
}

/// Expected time of the program of a write that has no page yet, by the mode of the block that its pool fills next, ns. With dynamic allocation
/// the mean over the pools of its chip.
fn expected_program(ssd: &Ssd, transaction: &Transaction) -> Ns {
    let in_pool = |pool| ssd.flash.timing().expected_program(ssd.ftl.mode_of_next(pool, transaction.class));
    if !ssd.rules.dynamic || !ssd.rules.slc {
        return in_pool(ssd.geometry().static_pool(transaction.lpn));
    }
    let dies = ssd.geometry().dies_of_chip(transaction.chip).map(DieId);
    let pools = dies.flat_map(|die| ssd.geometry().pools_of_die(die).map(PoolId));
    let (sum, count) = pools.fold((0, 0), |(sum, count), pool| (sum + in_pool(pool), count + 1));
    sum / count
}

/// Expected time of the operation in service, by the page with which it begins, ns.
fn expected_of(ssd: &Ssd, op: &Op) -> Ns {
    let first = match op.owner {
        Owner::Gc(pool) => return expected_of_step(ssd, pool, op.kind),
        Owner::Host(first) => &ssd.transactions[first],
    };
    let place = ssd.ftl.lookup(first.lpn);
    match op.kind {
        OpKind::Program => ssd.flash.timing().expected_program(mode_of(ssd, Some(first.ppn))),
        // The page may have been moved since the read began.
        OpKind::Read => expected_read(ssd, place.map(|_| first.ppn)),
        _ => expected_read(ssd, place),
    }
}

/// Expected time of the operation of a pool's job that is in service, ns.
fn expected_of_step(ssd: &Ssd, pool: PoolId, kind: OpKind) -> Ns {
    let job = ssd.gc.job(pool).expect("a job has an operation in service");
    let moved = job.moving();
    let read = || expected_read(ssd, moved.map(|moved| moved.from));
    let program = || ssd.flash.timing().expected_program(mode_of(ssd, moved.and_then(|moved| moved.to)));
    match kind {
        OpKind::Read | OpKind::RegisterRead => read(),
        OpKind::Program => program(),
        OpKind::Erase => ssd.expected_erase_ns(job.erases()),
        OpKind::Move | OpKind::CopybackMove => read() + program(),
    }
}
