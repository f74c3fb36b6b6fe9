//! Slack-aware scheduling (elyasi2017): when operations will end, what they have to spare, and programs that pause for reads.

use super::Ssd;
use super::candidates::{Candidate, GcCandidate, Limits};
use super::requests::Ends;
use crate::arbiter::{self, Decision};
use crate::flash::{Op, OpKind};
use crate::request::{Request, RequestKind};
use crate::sched::{Ahead, Before, Latencies, LineKind, NONE, Slack, TRIMMED, Transaction, TransactionKind};
use crate::stats::Part;
use crate::units::{ChipId, DieId, Lpn, Ns, PoolId};
use crate::views::Moment;

/// What is estimated of a page operation under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Its request's serial number.
    pub request: u64,
    /// Its page.
    pub lpn: Lpn,
    /// When it will end, as estimated when it was admitted, ns.
    pub end: Ns,
    /// How much later it may end, ns.
    pub slack: Ns,
}

impl Ssd {
    /// What is estimated of the page operations under way, by request and page; nothing where no estimates are made.
    pub fn estimates(&self) -> Vec<Estimate> {
        let Some(slack) = &self.sched.slack else { return Vec::new() };
        let of = |index: u32| {
            let transaction = &self.transactions[index];
            let request = self.requests[transaction.request].index;
            Estimate { request, lpn: transaction.lpn, end: slack.end(index), slack: slack.left(&self.transactions, index) }
        };
        let mut estimates: Vec<_> = self.pages_under_way().map(of).collect();
        estimates.sort_by_key(|estimate| (estimate.request, estimate.lpn));
        estimates
    }

    /// The reads and writes of pages that have been admitted and have not ended.
    fn pages_under_way(&self) -> impl Iterator<Item = u32> {
        let chain = |lpn| {
            let oldest = self.ftl.chain(lpn).map(|(oldest, _)| oldest);
            std::iter::successors(oldest, |&index| Some(self.transactions[index].next_on_page).filter(|&next| next != NONE))
        };
        let pages = (0..self.geometry().exported_pages).map(Lpn);
        pages.flat_map(chain).filter(|&index| self.transactions[index].kind != TransactionKind::Trim)
    }

    /// For verify mode: no slack is below 0, and the stations' queues are in order.
    pub(super) fn check_slack(&self) -> Result<(), String> {
        let Some(slack) = &self.sched.slack else { return Ok(()) };
        self.pages_under_way().for_each(|index| _ = slack.left(&self.transactions, index));
        slack.check(&self.transactions)
    }

    /// Puts a page operation in its place, and estimates from there when it will end.
    pub(super) fn enchain_and_estimate(&mut self, now: Ns, lpn: Lpn, index: u32, chain: Option<(u32, u32)>) {
        let Transaction { chip, request, .. } = self.transactions[index];
        let channel = self.channel_of_chip(chip);
        let active = &mut self.requests[request];
        let slack = self.sched.slack.as_mut().expect("the caller has looked");
        active.ends.chips += u32::from(slack.new_operation(index, active.index, chip));
        self.enchain(now, lpn, index, chain);
        let Transaction { kind, active, .. } = self.transactions[index];
        if kind == TransactionKind::ReadForWrite || kind == TransactionKind::Write && !active {
            self.note_write_to_come(index, true);
        }
        let (kind, response, alone) = self.response(now, index);
        let response = response.max(self.after_older(now, index, chain, alone));
        let slack = self.sched.slack.as_mut().expect("as before");
        slack.estimator.admitted(channel.0);
        slack.will_end(now, index, request, kind, response, alone);
    }

    /// A request arrives.
    pub(super) fn note_arrival(&mut self, now: Ns, place: u32) {
        if let Some(slack) = &mut self.sched.slack {
            slack.new_request(place, now);
            if !self.warming_up {
                self.slack_stats.arrived(slack.on_chips());
            }
        }
    }

    fn channel_of_chip(&self, chip: u32) -> crate::units::ChannelId {
        self.geometry().channel_of_die(DieId(self.geometry().dies_of_chip(ChipId(chip)).start))
    }

    /// The estimated time from now to the end of an operation that has just come (elyasi2017, equations 1 to 7): whether it will end as a read or a
    /// write, the time, and what of it it would need alone, ns.
    fn response(&self, now: Ns, index: u32) -> (LineKind, Ns, Ns) {
        let slack = self.sched.slack.as_ref().expect("the caller has looked");
        let transaction = &self.transactions[index];
        // What it finds in the controller's buffer it need not read.
        let at_once = self.answered.contains(&index);
        let reads_first = self.reads_first(transaction);
        let kind = if transaction.kind == TransactionKind::Write && !reads_first { LineKind::Write } else { LineKind::Read };
        let (die, pool) = self.place_of(index, kind);
        let station = slack.station(die, kind);
        let mut own = slack.ahead(index).unwrap_or_else(|| slack.before(station, pool, kind));
        if kind == LineKind::Write {
            own.elsewhere += slack.coming(station) - u64::from(!transaction.active);
        }
        let ahead = Ahead {
            waiting: match kind {
                LineKind::Read => [own, Before::default()],
                LineKind::Write => [slack.all(station, LineKind::Read), own],
            },
            residual: self.residual(now, slack, station),
            width: slack.width(station),
        };
        let channel = self.channel_of_chip(transaction.chip);
        let response = slack.estimator.response(station, channel.0, kind, ahead, self.flash.bus_stalls(channel));
        let latencies = slack.estimator.latencies().host;
        let (response, alone) = if at_once { (0, 0) } else { (response, latencies[kind as usize]) };
        if !reads_first {
            return (kind, response, alone);
        }
        // Its page is read first; then come the reads that it passed, and all writes before it.
        let behind = slack.ahead(index).map_or(0, |ahead| slack.all(station, kind).elsewhere - 1 - ahead.all());
        let reads = slack.estimator.queue_of(station, kind, Before { elsewhere: behind, ..Before::default() });
        let (die, pool) = self.place_of(index, LineKind::Write);
        let station = slack.station(die, LineKind::Write);
        let mut writes = slack.before(station, pool, LineKind::Write);
        // Itself apart.
        writes.elsewhere += slack.coming(station) - 1;
        let queue = reads + slack.estimator.queue_of(station, LineKind::Write, writes) / slack.width(station);
        (LineKind::Write, response + queue + latencies[1], alone + latencies[1])
    }

    /// A write that has been admitted is not in its queue yet, or is about to be: older operations on its page come first, or its read.
    pub(super) fn note_write_to_come(&mut self, index: u32, comes: bool) {
        if self.sched.slack.is_none() {
            return;
        }
        let die = self.place_of(index, LineKind::Write).0;
        self.sched.slack.as_mut().expect("just seen").write_to_come(die, comes);
    }

    /// The estimated time from now to the end of an operation that waits for older ones on its page, were these all that it waits for.
    fn after_older(&self, now: Ns, index: u32, chain: Option<(u32, u32)>, alone: Ns) -> Ns {
        match chain {
            Some((_, older)) if !self.transactions[index].active && self.transactions[older].kind != TransactionKind::Trim => {
                let slack = self.sched.slack.as_ref().expect("the caller has looked");
                slack.end(older).saturating_sub(now) + alone
            }
            _ => 0,
        }
    }

    /// A write that has been admitted reads its page first, or will once older operations on the page are done.
    fn reads_first(&self, transaction: &Transaction) -> bool {
        let Transaction { kind, active, bytes, behind, lpn, .. } = *transaction;
        let partial = bytes != (0, self.geometry().page_bytes) && !self.skip_partial_read;
        let holds_data = || behind.map_or_else(|| self.ftl.lookup(lpn).is_some(), |change| change != TRIMMED);
        kind == TransactionKind::ReadForWrite || kind == TransactionKind::Write && !active && partial && holds_data()
    }

    /// Where an operation that has been admitted reads or writes. With dynamic allocation a write has no pool yet, and of its chip the first die.
    fn place_of(&self, index: u32, kind: LineKind) -> (DieId, PoolId) {
        let (geometry, Transaction { lpn, chip, .. }) = (self.geometry(), self.transactions[index]);
        if kind == LineKind::Write && self.sched.is_dynamic() {
            return (DieId(geometry.dies_of_chip(ChipId(chip)).start), PoolId(0));
        }
        let place = if kind == LineKind::Write { None } else { self.ftl.lookup(lpn) };
        let pool = place.map_or_else(|| geometry.home(lpn).0, |ppn| geometry.pool_of_page(ppn));
        (geometry.die_of_pool(pool), pool)
    }

    /// What is left of what runs on a station, ns: of several dies that exclude each other the most, of others the least (7).
    fn residual(&self, now: Ns, slack: &Slack, station: u32) -> Ns {
        let latencies = slack.estimator.latencies();
        let left = slack.dies(station).map(|die| self.flash.residual_ns(now, DieId(die), |op| latency(latencies, op)));
        let left = if slack.width(station) > 1 { left.min() } else { left.max() };
        left.expect("a station has dies")
    }

    /// A page operation ends.
    #[inline]
    pub(super) fn note_page_end(&mut self, now: Ns, index: u32) {
        let active = &mut self.requests[self.transactions[index].request];
        // The only page of a request has no slack, and need not be added up.
        if active.pending > 1 || active.ends.pages > 0 {
            active.ends.add(now - active.request.arrival_ns);
        }
        if let Some(slack) = &mut self.sched.slack {
            let kind = if self.transactions[index].kind == TransactionKind::Write { LineKind::Write } else { LineKind::Read };
            slack.ended(now, index, kind);
            let (passed, paused) = slack.touched(index);
            active.ends.passed |= passed;
            active.ends.paused |= paused;
        }
    }

    /// A request ends: what slack its pages had, and what had been estimated.
    pub(super) fn note_request_end(&mut self, now: Ns, place: u32, request: &Request, ends: Ends) {
        if ends.in_warm_up {
            return;
        }
        let kind = match request.kind {
            RequestKind::Read => 0,
            RequestKind::Write => 1,
            RequestKind::Trim | RequestKind::Flush => return,
        };
        let response = now - request.arrival_ns;
        match ends.pages {
            0 => self.slack_stats.only_page_ended(kind),
            pages => self.slack_stats.pages_ended(kind, pages, ends.sum, ends.squares, response),
        }
        if let Some(slack) = &self.sched.slack {
            let estimate = slack.latest_end(place) - request.arrival_ns;
            self.slack_stats.request_ended(kind, ends.chips, estimate, response, [ends.passed, ends.paused]);
        }
    }

    /// A host program is in the array of the die: if a read could go first, it is to stop at the end of its step. Returns true if so.
    pub(super) fn look_at_pause(&mut self, now: Ns, die: DieId) -> bool {
        let Some((slot, first, at)) = self.flash.pausable(now, die) else { return false };
        if self.read_with_slack(die, first).is_none() {
            return false;
        }
        self.flash.stop_at(slot, at, &mut self.events);
        true
    }

    /// The program in a slot has come to the end of the step after which it was to stop.
    pub(super) fn step_ended(&mut self, now: Ns, die: DieId, slot: u32) {
        let first = self.flash.op(slot).tag;
        if self.read_with_slack(die, first).is_some() {
            self.counters.write_pauses += 1;
            self.flash.pause(now, slot);
            self.account_all(first, Part::Array, now);
            self.update_clocks(die, now);
        } else {
            self.flash.do_not_stop(slot);
        }
        self.dirty.insert(die);
    }

    /// The read that would be next on a die, if every page of the program that it would delay has slack for it.
    fn read_with_slack(&mut self, die: DieId, first: u32) -> Option<Candidate> {
        let slack = self.sched.slack.as_ref().expect("who pauses knows slack");
        let latency = slack.estimator.latencies().host[LineKind::Read as usize];
        if !self.pages_of(first).all(|index| slack.left(&self.transactions, index) >= latency) {
            return None;
        }
        let (host, gc) = if self.interleave {
            (self.host_candidate(die, Limits::default()), self.gc_candidate(die))
        } else {
            self.candidates_of_chip(die)
        };
        let read = host.filter(|candidate| candidate.line == LineKind::Read && !candidate.by_move)?;
        let view = self.view(Moment::B, host, gc.map(GcCandidate::pool));
        (arbiter::decide(&view, &self.axes) == Decision::Host).then_some(read)
    }

    /// The transactions of an operation.
    fn pages_of(&self, first: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(first), |&index| Some(self.transactions[index].next).filter(|&next| next != NONE))
    }

    /// The die with a paused program in whose way nothing may come but reads: this one, or one that it excludes.
    #[inline]
    pub(super) fn paused_die(&self, die: DieId) -> Option<DieId> {
        if self.interleave {
            return self.flash.paused(die).map(|_| die);
        }
        let dies = self.geometry().dies_of_chip(self.geometry().chip_of_die(die));
        dies.map(DieId).find(|&die| self.flash.paused(die).is_some())
    }

    /// A program pauses on the die: a read for which it has slack begins, or it goes on. Returns true if something has begun.
    pub(super) fn during_pause(&mut self, now: Ns, die: DieId) -> bool {
        let first = self.flash.paused(die).expect("the caller has looked");
        if let Some(read) = self.read_with_slack(die, first) {
            let on = self.geometry().die_of_pool(read.pool);
            return self.flash.can_start(on, OpKind::Read, true) && self.read_in_pause(now, on, read, first);
        }
        if !self.flash.can_start(die, OpKind::Erase, true) {
            return false;
        }
        self.flash.end_pause(now, die, &mut self.events);
        self.account_all(first, Part::Suspended, now);
        self.update_clocks(die, now);
        true
    }

    fn read_in_pause(&mut self, now: Ns, die: DieId, read: Candidate, program: u32) -> bool {
        self.start_host(now, die, read, OpKind::Read);
        let slack = self.sched.slack.as_mut().expect("who pauses knows slack");
        let latency = slack.estimator.latencies().host[LineKind::Read as usize];
        let mut index = program;
        while index != NONE {
            slack.note_pause(index);
            slack.take(index, latency);
            index = self.transactions[index].next;
        }
        let mut index = read.index;
        while index != NONE {
            // The read of a partial write is none of a reading request.
            if self.transactions[index].kind == TransactionKind::Read {
                slack.note_pause(index);
            }
            self.counters.pause_reads += 1;
            index = self.transactions[index].next;
        }
        true
    }
}

/// How long an operation takes that nothing keeps waiting, ns.
fn latency(latencies: &Latencies, op: &Op) -> Ns {
    match op.kind {
        OpKind::Read | OpKind::RegisterRead => latencies.host[0],
        OpKind::Program => latencies.host[1],
        OpKind::Erase => latencies.erase,
        OpKind::Move | OpKind::CopybackMove => latencies.page_move(),
    }
}
