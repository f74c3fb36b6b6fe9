//! The simulation of the single die: one server, requests and GC jobs, integer nanoseconds.
//!
//! With one server there is one next event: the end of the operation in service, or, if the server is idle, the next arrival. The order at
//! one instant: an operation ends (and may start a GC job), requests arrive, the server takes its next operation.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

use super::arrivals::{Arrival, Stream, Traffic, UserOp};
use super::model::{Model, Priority};
use super::result::{Collections, OpCounts, QueueLength, QueueingResult, Series, Utilisation, Waits, parameters};
use crate::distribution::{Digest, Distribution, PERCENTILE_ERROR};
use ssdlab_base::caller::Caller;
use ssdlab_base::error::{Error, Result};
use ssdlab_base::units::Ns;
use ssdlab_base::version::version;

/// Operations between two checks of [`Watch`].
const OPERATIONS_PER_LOOK: u64 = 1 << 16;

/// Cancel flag and progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Watch<'a> {
    /// Cancel flag: the run ends with [`Error::Interrupted`] once a stop is requested.
    pub caller: &'a Caller,
    /// Number of requests served so far, updated now and then.
    pub completed: &'a AtomicU64,
}

/// Serves all requests of `traffic` and the GC jobs that they cause, until the die is idle. Equal arguments give an equal result. `series`:
/// also returns every request, GC job and copy.
///
/// # Errors
/// [`Error::Usage`] for a model or arrivals that cannot be simulated; [`Error::Interrupted`].
pub fn simulate(model: &Model, traffic: &Traffic, series: bool, watch: Watch<'_>) -> Result<(QueueingResult, Option<Series>)> {
    model.check()?;
    let mut die = Die::new(model, Queue::new(traffic.stream())?, series.then(Series::default));
    die.run(watch)?;
    Ok(die.finish(traffic))
}

/// Requests that have arrived and wait, in order, and the stream of requests to come.
struct Queue {
    stream: Stream,
    /// Next request to arrive, or, if all arrive at time 0, the head of the queue.
    next: Option<Arrival>,
    waiting: VecDeque<Arrival>,
    longest: u64,
}

impl Queue {
    fn new(mut stream: Stream) -> Result<Self> {
        let next = stream.next_arrival()?;
        Ok(Queue { stream, next, waiting: VecDeque::new(), longest: 0 })
    }

    /// Queues the requests that arrive before `end`.
    #[inline]
    fn enter_before(&mut self, end: Ns) -> Result<()> {
        if self.stream.left_at_start().is_some() {
            return Ok(());
        }
        while let Some(arrival) = self.next.filter(|arrival| arrival.at_ns() < end) {
            self.waiting.push_back(arrival);
            self.next = self.stream.next_arrival()?;
        }
        Ok(())
    }

    /// The request that has waited longest.
    #[inline]
    fn head(&self) -> Option<Arrival> {
        if self.stream.left_at_start().is_some() { self.next } else { self.waiting.front().copied() }
    }

    #[inline]
    fn take_head(&mut self) -> Result<Option<Arrival>> {
        if self.stream.left_at_start().is_none() {
            return Ok(self.waiting.pop_front());
        }
        let head = self.next;
        self.next = self.stream.next_arrival()?;
        Ok(head)
    }

    #[inline]
    fn len(&self) -> u64 {
        match self.stream.left_at_start() {
            Some(left) => left + u64::from(self.next.is_some()),
            None => self.waiting.len() as u64,
        }
    }

    fn is_over(&self) -> bool {
        self.next.is_none() && self.waiting.is_empty()
    }
}

/// Cycles through the entries of a list.
#[derive(Clone, Copy)]
struct Cycle<'a> {
    list: &'a [u32],
    at: usize,
}

impl Cycle<'_> {
    fn next(&mut self) -> u32 {
        let entry = self.list[self.at];
        self.at = if self.at + 1 == self.list.len() { 0 } else { self.at + 1 };
        entry
    }
}

/// GC jobs that have started and not ended, in order. Only the first is in service.
struct Backlog<'a> {
    starts: VecDeque<Ns>,
    /// Valid pages of the first job's victim.
    valid: u32,
    /// Copies of the first job that have not begun.
    copies_left: u32,
    /// Copies of all jobs that have not begun.
    copies_waiting: u64,
    /// Valid pages of the victims of the jobs after the first.
    upcoming: Cycle<'a>,
}

impl Backlog<'_> {
    fn start(&mut self, now: Ns, valid: u32) {
        if self.starts.is_empty() {
            self.begin_first();
        }
        self.starts.push_back(now);
        self.copies_waiting += u64::from(valid);
    }

    fn begin_first(&mut self) {
        self.valid = self.upcoming.next();
        self.copies_left = self.valid;
    }

    /// The first job has ended; returns its start.
    fn end_first(&mut self) -> Ns {
        let start = self.starts.pop_front().expect("a GC job is in service");
        if !self.starts.is_empty() {
            self.begin_first();
        }
        start
    }

    /// Sum of the waits so far of the copies that have not begun, ns.
    fn waited(&self, now: Ns) -> u128 {
        let mut upcoming = self.upcoming;
        let rest = self.starts.iter().skip(1).map(|start| (start, upcoming.next()));
        let first = self.starts.front().map(|start| (start, self.copies_left));
        first.into_iter().chain(rest).map(|(start, copies)| u128::from(now - start) * u128::from(copies)).sum()
    }
}

/// The counters of a run.
struct Ledger {
    reads: Distribution,
    writes: Distribution,
    digest: Digest,
    served: OpCounts,
    durations: Distribution,
    backlogs: Distribution,
    /// Starts of the GC jobs since the die was last idle.
    open_backlogs: Vec<Ns>,
    overlapped: u64,
    held_writes: u64,
    prolonged: u64,
    copies: u64,
    /// Sum of the waits of copies until the end of the last request, ns. `most_copies`: maximum number of copies that waited until then.
    copy_waits: u128,
    most_copies: u64,
    /// Counters at the end of the last request; `None` before it.
    at_end: Option<AtEnd>,
    series: Option<Series>,
}

/// The end of the last request, and the counters until then.
#[derive(Clone, Copy)]
struct AtEnd {
    at: Ns,
    copies: u64,
    erases: u64,
}

enum Next {
    User,
    Collection,
    Idle,
}

/// The state of the die.
struct Die<'a> {
    model: &'a Model,
    queue: Queue,
    backlog: Backlog<'a>,
    now: Ns,
    /// User writes that the write block still has room for.
    room: u32,
    /// Valid pages of the victims of the GC jobs after the next one.
    valid: Cycle<'a>,
    /// Valid pages of the next GC job's victim.
    next_valid: u32,
    /// The write at the head of the queue waits for a free block.
    head_is_held: bool,
    ledger: Ledger,
}

impl<'a> Die<'a> {
    fn new(model: &'a Model, queue: Queue, series: Option<Series>) -> Self {
        let all = Cycle { list: &model.valid, at: 0 };
        let mut valid = all;
        let next_valid = valid.next();
        Die {
            model,
            queue,
            backlog: Backlog { starts: VecDeque::new(), valid: 0, copies_left: 0, copies_waiting: 0, upcoming: all },
            now: 0,
            room: model.pages - next_valid,
            valid,
            next_valid,
            head_is_held: false,
            ledger: Ledger {
                reads: Distribution::new(),
                writes: Distribution::new(),
                digest: Digest::new(),
                served: OpCounts::default(),
                durations: Distribution::new(),
                backlogs: Distribution::new(),
                open_backlogs: Vec::new(),
                overlapped: 0,
                held_writes: 0,
                prolonged: 0,
                copies: 0,
                copy_waits: 0,
                most_copies: 0,
                at_end: None,
                series,
            },
        }
    }

    fn run(&mut self, watch: Watch<'_>) -> Result<()> {
        let mut operations = 0_u64;
        loop {
            self.queue.enter_before(self.now + 1)?;
            match self.choose() {
                Next::User => self.serve()?,
                Next::Collection => self.collect()?,
                Next::Idle => {
                    self.ledger.idle(self.now);
                    match self.queue.next {
                        Some(arrival) => self.now = arrival.at_ns(),
                        None => break,
                    }
                }
            }
            operations += 1;
            if operations.is_multiple_of(OPERATIONS_PER_LOOK) {
                watch.completed.store(self.ledger.served.total(), Ordering::Relaxed);
                watch.caller.check()?;
            }
        }
        watch.completed.store(self.ledger.served.total(), Ordering::Relaxed);
        Ok(())
    }

    /// The next operation of the server.
    #[inline]
    fn choose(&mut self) -> Next {
        let Some(head) = self.queue.head() else {
            return if self.backlog.starts.is_empty() { Next::Idle } else { Next::Collection };
        };
        let Some(&start) = self.backlog.starts.front() else { return Next::User };
        if head.op() == UserOp::Write && self.model.free_blocks.is_some_and(|free| self.backlog.starts.len() as u64 > free) {
            // No free block to write to (bux2011 leaves this out in section 3.2, and proposes it in section 8).
            self.ledger.held_writes += u64::from(!std::mem::replace(&mut self.head_is_held, true));
            return Next::Collection;
        }
        let collection_first = match self.model.priority {
            Priority::Rwp => false,
            Priority::Cep => true,
            Priority::Fifo => start <= head.at_ns(),
        };
        if collection_first { Next::Collection } else { Next::User }
    }

    /// Keeps the server busy for `ns`, while requests arrive.
    #[inline]
    fn work(&mut self, ns: Ns) -> Result<()> {
        let end = self
            .now
            .checked_add(ns)
            .ok_or_else(|| Error::Usage("the simulated time exceeds 584 years: use fewer requests, or shorter operations".into()))?;
        if ns > 0 {
            self.queue.enter_before(end)?;
            self.queue.longest = self.queue.longest.max(self.queue.len());
            if self.ledger.at_end.is_none() {
                self.ledger.most_copies = self.ledger.most_copies.max(self.backlog.copies_waiting);
            }
        }
        self.now = end;
        Ok(())
    }

    /// Serves the request at the head of the queue.
    #[inline]
    fn serve(&mut self) -> Result<()> {
        let request = self.queue.take_head()?.expect("there is a request to serve");
        self.ledger.serve(request, self.now - request.at_ns());
        match request.op() {
            UserOp::Read => self.work(self.model.times.read_ns)?,
            UserOp::Write => {
                self.head_is_held = false;
                self.work(self.model.times.write_ns)?;
                self.written();
            }
        }
        if self.queue.is_over() {
            self.ledger.copy_waits += self.backlog.waited(self.now);
            let erases = self.ledger.durations.sums().count;
            self.ledger.at_end = Some(AtEnd { at: self.now, copies: self.ledger.copies, erases });
        }
        Ok(())
    }

    /// Ends a user write. If it fills the write block, a GC job starts.
    #[inline]
    fn written(&mut self) {
        self.room -= 1;
        if self.room == 0 {
            self.room = self.model.pages - self.next_valid;
            self.backlog.start(self.now, self.next_valid);
            self.ledger.start(self.now, self.next_valid);
            self.next_valid = self.valid.next();
        }
    }

    /// Executes the next operation of the first GC job: a copy, or after the last copy the erase.
    fn collect(&mut self) -> Result<()> {
        let start = self.backlog.starts[0];
        if self.backlog.copies_left > 0 {
            self.backlog.copies_left -= 1;
            self.backlog.copies_waiting -= 1;
            self.ledger.copy(start, self.now);
            return self.work(self.model.times.copy_ns);
        }
        self.work(self.model.times.erase_ns)?;
        let needed = u64::from(self.backlog.valid) * self.model.times.copy_ns + self.model.times.erase_ns;
        let start = self.backlog.end_first();
        self.ledger.end(start, self.now, needed);
        Ok(())
    }

    fn finish(self, traffic: &Traffic) -> (QueueingResult, Option<Series>) {
        let Ledger {
            reads,
            writes,
            digest,
            served,
            durations,
            backlogs,
            overlapped,
            held_writes,
            prolonged,
            copies,
            copy_waits,
            most_copies,
            ..
        } = self.ledger;
        let times = self.model.times;
        let AtEnd { at: end, copies: copies_by_end, erases } = self.ledger.at_end.expect("a run serves at least one request");
        let all = reads.merged(&writes);
        let mean_over_time = |waits: u128, max| (end > 0).then(|| QueueLength { mean: waits as f64 / end as f64, max });
        let busy = |count: u64, ns: Ns| u128::from(count) * u128::from(ns);
        let result = QueueingResult {
            version: version(),
            parameters: parameters(self.model, traffic),
            seed: traffic.seed(),
            priority: self.model.priority,
            digest: digest.finish(),
            requests: served,
            percentile_error: PERCENTILE_ERROR,
            // Little's law: the sum of waits is the integral of the queue length.
            queue: mean_over_time(all.sums().sum, self.queue.longest),
            copy_queue: mean_over_time(copy_waits, most_copies),
            utilisation: Utilisation::of(
                [
                    busy(served.read, times.read_ns),
                    busy(served.write, times.write_ns),
                    busy(copies_by_end, times.copy_ns),
                    busy(erases, times.erase_ns),
                ],
                end,
            ),
            throughput_per_ms: (end > 0).then(|| served.total() as f64 * 1e6 / end as f64),
            wait_ns: Waits { all: all.summary(), read: reads.summary(), write: writes.summary() },
            gc: Collections {
                collections: durations.sums().count,
                copies,
                duration_ns: durations.summary(),
                prolonged,
                backlog_ns: backlogs.summary(),
                overlapped,
                held_writes: self.model.free_blocks.map(|_| held_writes),
            },
            requests_end_ns: end,
            simulated_ns: self.now,
        };
        (result, self.ledger.series)
    }
}

impl Ledger {
    /// Counts a request that is served after `wait` ns.
    #[inline]
    fn serve(&mut self, request: Arrival, wait: Ns) {
        self.served.count(request.op());
        self.digest.take(wait);
        match request.op() {
            UserOp::Read => self.reads.record(wait),
            UserOp::Write => self.writes.record(wait),
        }
        if let Some(Series { requests, .. }) = &mut self.series {
            requests.arrival_ns.push(request.at_ns());
            requests.is_write.push(u8::from(request.op() == UserOp::Write));
            requests.wait_ns.push(wait);
        }
    }

    /// Counts the start of a GC job with `valid` pages to copy.
    fn start(&mut self, now: Ns, valid: u32) {
        let overlaps = !self.open_backlogs.is_empty();
        self.overlapped += u64::from(overlaps);
        self.open_backlogs.push(now);
        if let Some(Series { collections, .. }) = &mut self.series {
            collections.start_ns.push(now);
            collections.valid.push(valid.into());
            collections.overlapped.push(overlaps.into());
        }
    }

    /// Counts the start of a copy, of the GC job that started at `entered`.
    #[inline]
    fn copy(&mut self, entered: Ns, now: Ns) {
        self.copies += 1;
        if self.at_end.is_none() {
            self.copy_waits += u128::from(now - entered);
        }
        if let Some(Series { copies, .. }) = &mut self.series {
            copies.entered_ns.push(entered);
            copies.start_ns.push(now);
        }
    }

    /// Counts the end of a GC job that started at `start` and whose operations take `needed` ns.
    fn end(&mut self, start: Ns, now: Ns, needed: Ns) {
        self.durations.record(now - start);
        self.prolonged += u64::from(now - start > needed);
        if let Some(Series { collections, .. }) = &mut self.series {
            collections.end_ns.push(now);
        }
    }

    /// Ends all backlogs, as the die is idle.
    #[inline]
    fn idle(&mut self, now: Ns) {
        for start in self.open_backlogs.drain(..) {
            self.backlogs.record(now - start);
            if let Some(Series { collections, .. }) = &mut self.series {
                collections.backlog_end_ns.push(now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::arrivals::{Arrivals, RatesPerMs};
    use super::super::model::{LONGEST_NS, ServiceTimes};
    use super::*;
    use ssdlab_keys::config::Device;

    /// Table 1 of the report.
    const TABLE_1: ServiceTimes = ServiceTimes { read_ns: 76_300, write_ns: 926_400, copy_ns: 950_700, erase_ns: 3_000_300 };
    const RATES: RatesPerMs = RatesPerMs { read_per_ms: 1.0, write_per_ms: 0.5 };

    fn model(priority: Priority) -> Model {
        Model { times: TABLE_1, pages: 256, valid: vec![64], priority, free_blocks: None }
    }

    fn run(model: &Model, arrivals: Arrivals, requests: u64) -> (QueueingResult, Series) {
        let traffic = Traffic::new(arrivals, requests, 1).unwrap();
        let watch = Watch { caller: &Caller::default(), completed: &AtomicU64::new(0) };
        let (result, series) = simulate(model, &traffic, true, watch).unwrap();
        (result, series.unwrap())
    }

    /// A die of 10 ns reads, 100 ns writes, 50 ns copies and 300 ns erases, with blocks of four pages.
    fn small(priority: Priority, valid: &[u32]) -> Model {
        let times = ServiceTimes { read_ns: 10, write_ns: 100, copy_ns: 50, erase_ns: 300 };
        Model { times, pages: 4, valid: valid.to_vec(), priority, free_blocks: None }
    }

    fn replayed(requests: &[(Ns, UserOp)]) -> Arrivals {
        Arrivals::Replayed(requests.iter().map(|&(at_ns, op)| Arrival::new(at_ns, op).unwrap()).collect())
    }

    const R: UserOp = UserOp::Read;
    const W: UserOp = UserOp::Write;

    /// Two writes at 0, of which the second fills the block at 200, a read at 150, and a write at 200.
    fn at_the_instant() -> Arrivals {
        replayed(&[(0, W), (0, W), (150, R), (200, W)])
    }

    #[test]
    fn copies_and_erases_first() {
        let (result, series) = run(&small(Priority::Cep, &[2]), at_the_instant(), 0);
        // Copies at 200 and 250, the erase from 300 to 600, then the read and the write.
        assert_eq!(series.requests.wait_ns, [0, 100, 450, 410]);
        assert_eq!((series.copies.entered_ns, series.copies.start_ns), (vec![200, 200], vec![200, 250]));
        assert_eq!((series.collections.start_ns, series.collections.end_ns), (vec![200], vec![600]));
        assert_eq!(series.collections.backlog_end_ns, [710]);
        assert_eq!((result.gc.prolonged, result.gc.overlapped), (0, 0));
        assert_eq!((result.requests_end_ns, result.simulated_ns), (710, 710));
        let queue = result.queue.unwrap();
        assert_eq!((queue.max, queue.mean), (2, 960.0 / 710.0));
        let copies = result.copy_queue.unwrap();
        assert_eq!((copies.max, copies.mean), (1, 50.0 / 710.0));
        let utilisation = result.utilisation.unwrap();
        assert_eq!((utilisation.copy, utilisation.erase, utilisation.total), (100.0 / 710.0, 300.0 / 710.0, 1.0));
    }

    #[test]
    fn reads_and_writes_first() {
        let (result, series) = run(&small(Priority::Rwp, &[2]), at_the_instant(), 0);
        assert_eq!(series.requests.wait_ns, [0, 100, 50, 10]);
        assert_eq!(series.copies.start_ns, [310, 360]);
        assert_eq!((series.collections.end_ns, series.collections.backlog_end_ns), (vec![710], vec![710]));
        assert_eq!((result.gc.prolonged, result.requests_end_ns, result.simulated_ns), (1, 310, 710));
        // Until the last request has been served, two copies wait from 200 on.
        let copies = result.copy_queue.unwrap();
        assert_eq!((copies.max, copies.mean), (2, 220.0 / 310.0));
        assert_eq!(result.utilisation.unwrap().copy, 0.0);
        assert_eq!(result.throughput_per_ms.unwrap(), 4e6 / 310.0);
    }

    #[test]
    fn in_the_order_of_entering() {
        let (_, series) = run(&small(Priority::Fifo, &[2]), at_the_instant(), 0);
        // The read entered before the collection, the write of the same instant after it.
        assert_eq!(series.requests.wait_ns, [0, 100, 50, 410]);
        assert_eq!(series.copies.start_ns, [210, 260]);
    }

    #[test]
    fn valid_pages_follow_the_list_and_leave_so_much_room() {
        let writes: Vec<_> = (0..9).map(|index| (index * 10_000, W)).collect();
        let (result, series) = run(&small(Priority::Cep, &[3, 0, 2]), replayed(&writes), 0);
        // Room for 1, 1, 4, 2 and 1 writes.
        assert_eq!(series.collections.start_ns, [100, 10_100, 50_100, 70_100, 80_100]);
        assert_eq!(series.collections.valid, [3, 0, 2, 3, 0]);
        assert_eq!((result.gc.copies, result.gc.overlapped), (8, 0));
        assert!(series.collections.overlapped.iter().all(|&overlapped| overlapped == 0));
    }

    #[test]
    fn without_a_free_block_writes_wait_and_what_is_behind_them() {
        let requests = [(0, W), (0, W), (0, W), (0, W), (0, R)];
        let free = |free_blocks| Model { free_blocks, ..small(Priority::Rwp, &[3]) };
        // Each write fills its block. With one free block, the second collection holds the third write until the first has ended.
        let (result, series) = run(&free(Some(1)), replayed(&requests), 0);
        assert_eq!(series.requests.wait_ns, [0, 100, 650, 1200, 1300]);
        assert_eq!(series.collections.start_ns, [100, 200, 750, 1300]);
        assert_eq!((result.gc.overlapped, result.gc.held_writes), (3, Some(2)));
        let (result, series) = run(&free(None), replayed(&requests), 0);
        assert_eq!(result.gc.held_writes, None);
        assert_eq!(series.requests.wait_ns, [0, 100, 200, 300, 400]);
    }

    #[test]
    fn backlogs_last_until_the_die_is_idle() {
        // The second write comes while the collection of the first is under way, the third long after.
        let (result, series) = run(&small(Priority::Cep, &[3]), replayed(&[(0, W), (300, W), (50_000, W)]), 0);
        assert_eq!(series.collections.start_ns, [100, 650, 50_100]);
        assert_eq!(series.collections.backlog_end_ns, [1100, 1100, 50_550]);
        assert_eq!((series.collections.overlapped, result.gc.overlapped), (vec![0, 1, 0], 1));
        assert_eq!(result.gc.backlog_ns.unwrap().max, 1000);
        // A request that arrives at the instant at which the die would become idle keeps it busy.
        let (_, series) = run(&small(Priority::Cep, &[3]), replayed(&[(0, W), (550, R)]), 0);
        assert_eq!(series.collections.backlog_end_ns, [560]);
    }

    #[test]
    fn saturated_throughput_is_that_of_the_report() {
        let formula = 3.0 / (0.9264 + 2.0 * 0.0763 + (64.0 * 0.9507 + 3.0003) / 192.0);
        let throughput = |model: &Model| run(model, Arrivals::Saturated(RATES), 300_000).0.throughput_per_ms.unwrap();
        let cep = throughput(&model(Priority::Cep));
        assert!((cep / formula - 1.0).abs() < 0.01, "{cep}, by (8) {formula}");
        // Unbounded, rwp leaves all collection for later.
        let rwp = throughput(&model(Priority::Rwp));
        assert!((rwp / (3.0 / (0.9264 + 2.0 * 0.0763)) - 1.0).abs() < 0.01, "{rwp}");
        for free in [1, 3, 10] {
            let bounded = throughput(&Model { free_blocks: Some(free), ..model(Priority::Rwp) });
            assert!((bounded / formula - 1.0).abs() < 0.02, "{bounded}, by (8) {formula}");
        }
    }

    #[test]
    fn waits_under_poisson_arrivals_are_near_the_formulas() {
        use crate::queueing::formulas as f;
        let near =
            |measured: f64, formula: f64, by: f64| assert!((measured / 1e6 / formula - 1.0).abs() < by, "{measured} ns, {formula} ms");
        let (rwp, _) = run(&model(Priority::Rwp), Arrivals::Poisson(RATES), 400_000);
        near(rwp.wait_ns.all.unwrap().mean, f::mean_wait_rwp(1.0, 0.5, 0.0763, 0.9264, 0.9507, 3.0003, 256.0, 64.0).unwrap(), 0.05);
        near(rwp.gc.duration_ns.unwrap().mean, f::gc_duration_rwp(1.0, 0.5, 0.0763, 0.9264, 0.9507, 3.0003, 64.0).unwrap(), 0.05);
        assert!(
            (rwp.utilisation.unwrap().total / f::utilisation(1.0, 0.5, 0.0763, 0.9264, 0.9507, 3.0003, 256.0, 64.0).unwrap() - 1.0).abs()
                < 0.02
        );
        let (cep, _) = run(&model(Priority::Cep), Arrivals::Poisson(RATES), 400_000);
        assert_eq!((cep.gc.duration_ns.as_ref().unwrap().min, cep.gc.duration_ns.unwrap().max), (63_845_100, 63_845_100));
        assert!(
            cep.wait_ns.all.unwrap().mean / 1e6
                < f::mean_wait_cep_independent(1.0, 0.5, 0.0763, 0.9264, 0.9507, 3.0003, 256.0, 64.0).unwrap()
        );
    }

    #[test]
    fn impossible_models_name_the_value() {
        let base = model(Priority::Rwp);
        let message = |model: Model| model.check().unwrap_err().to_string();
        assert!(message(Model { valid: vec![3, 256], ..base.clone() }).starts_with("valid = 256: expected 0 to 255"));
        assert!(message(Model { valid: vec![], ..base.clone() }).starts_with("valid = []"));
        assert!(message(Model { pages: 0, ..base.clone() }).starts_with("pages = 0"));
        assert!(message(Model { free_blocks: Some(0), ..base.clone() }).starts_with("free_blocks = 0"));
        let times = ServiceTimes { erase_ns: Ns::MAX, ..TABLE_1 };
        assert!(message(Model { times, ..base }).starts_with("erase_ns = 18446744073709551615: expected at most"));
    }

    #[test]
    fn a_run_that_is_cancelled_or_too_long_says_so() {
        let traffic = Traffic::new(Arrivals::Saturated(RATES), u64::MAX, 1).unwrap();
        let caller = Caller::default();
        caller.request_stop();
        let watch = Watch { caller: &caller, completed: &AtomicU64::new(0) };
        assert!(matches!(simulate(&model(Priority::Cep), &traffic, false, watch), Err(Error::Interrupted)));
        let times = ServiceTimes { read_ns: LONGEST_NS, write_ns: LONGEST_NS, copy_ns: 0, erase_ns: 0 };
        let slow = Model { times, ..model(Priority::Cep) };
        let watch = Watch { caller: &Caller::default(), completed: &AtomicU64::new(0) };
        let error = simulate(&slow, &traffic, false, watch).unwrap_err().to_string();
        assert!(error.contains("584 years"), "{error}");
    }

    #[test]
    fn the_die_of_a_device_is_busy_during_transfers_too() {
        let device = Device {
            page_bytes: 4096,
            spare_bytes: 224,
            read_ns: 50_300,
            program_ns: 900_400,
            erase_ns: 3_000_300,
            transfer_ps_per_byte: 6000,
            command_ns: 80,
            copyback: true,
            pages_per_block: 256,
            ..Device::default()
        };
        assert_eq!(ServiceTimes::of(&device), TABLE_1);
        let over_the_bus = ServiceTimes::of(&Device { copyback: false, ..device.clone() });
        assert_eq!(over_the_bus.copy_ns, 950_700 + 2 * 26_000);
        let by_page = Device { read_ns_by_page: vec![10, 20, 40], pages_per_block: 4, ..device };
        assert_eq!(ServiceTimes::of(&by_page).read_ns, 20 + 26_000); // (10 + 20 + 40 + 10) / 4
    }

    fn priority() -> impl Strategy<Value = Priority> {
        prop_oneof![Just(Priority::Rwp), Just(Priority::Cep), Just(Priority::Fifo)]
    }

    fn requests() -> impl Strategy<Value = Vec<(Ns, UserOp)>> {
        prop::collection::vec((0u64..400, prop::bool::ANY), 1..150).prop_map(|gaps| {
            let mut now = 0;
            gaps.into_iter()
                .map(|(gap, write)| {
                    now += gap / 3 * 2; // instants that coincide are not rare
                    (now, if write { W } else { R })
                })
                .collect()
        })
    }

    proptest! {
        /// Work is conserved: the die is idle at the same instants under every discipline, as long as collections start in the same busy
        /// period, and all work is done.
        #[test]
        fn all_work_is_done_and_the_server_never_idles_in_between(
            requests in requests(),
            valid in prop::collection::vec(0u32..4, 1..4),
            priority in priority(),
            free_blocks in prop::option::of(1u64..4),
        ) {
            let model = Model { free_blocks, ..small(priority, &valid) };
            let (result, series) = run(&model, replayed(&requests), 0);
            let writes = requests.iter().filter(|(_, op)| *op == W).count() as u64;
            prop_assert_eq!((result.requests.read, result.requests.write), (requests.len() as u64 - writes, writes));
            prop_assert_eq!(series.copies.start_ns.len() as u64, series.collections.valid.iter().sum::<u64>());
            prop_assert_eq!(series.collections.end_ns.len(), series.collections.start_ns.len());
            prop_assert_eq!(series.collections.backlog_end_ns.len(), series.collections.start_ns.len());
            // Requests are served in order, and no two operations overlap.
            let mut spans: Vec<(Ns, Ns)> = Vec::new();
            let starts: Vec<Ns> = series.requests.arrival_ns.iter().zip(&series.requests.wait_ns).map(|(at, wait)| at + wait).collect();
            prop_assert!(starts.is_sorted());
            spans.extend(starts.iter().zip(&series.requests.is_write).map(|(&at, &write)| (at, if write == 1 { 100 } else { 10 })));
            spans.extend(series.copies.start_ns.iter().map(|&at| (at, 50)));
            spans.extend(series.collections.end_ns.iter().map(|&end| (end - 300, 300)));
            spans.sort_unstable();
            prop_assert!(spans.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0));
            // Between two operations there is a gap only where the second is an arrival.
            for pair in spans.windows(2) {
                prop_assert!(pair[0].0 + pair[0].1 == pair[1].0 || series.requests.arrival_ns.contains(&pair[1].0));
            }
            prop_assert_eq!(result.simulated_ns, spans.last().map(|(at, ns)| at + ns).unwrap());
        }

        #[test]
        fn the_sum_of_waits_is_the_integral_of_the_queue(requests in requests(), priority in priority()) {
            let (result, series) = run(&small(priority, &[1, 3]), replayed(&requests), 0);
            let end = result.requests_end_ns;
            let spans: Vec<(Ns, Ns)> = series.copies.entered_ns.iter().zip(&series.copies.start_ns).map(|(&a, &b)| (a, b)).collect();
            let counts: Vec<u64> = (0..end).map(|now| spans.iter().filter(|&&(a, b)| a <= now && now < b).count() as u64).collect();
            let copies = result.copy_queue.unwrap();
            prop_assert_eq!(copies.max, *counts.iter().max().unwrap());
            prop_assert_eq!(copies.mean, counts.iter().sum::<u64>() as f64 / end as f64);
            let waits: Vec<(Ns, Ns)> =
                series.requests.arrival_ns.iter().zip(&series.requests.wait_ns).map(|(&at, &wait)| (at, at + wait)).collect();
            let counts: Vec<u64> = (0..end).map(|now| waits.iter().filter(|&&(a, b)| a <= now && now < b).count() as u64).collect();
            let queue = result.queue.unwrap();
            prop_assert_eq!(queue.max, *counts.iter().max().unwrap());
            prop_assert_eq!(queue.mean, counts.iter().sum::<u64>() as f64 / end as f64);
        }
    }
}
