//! Slack (elyasi2017): how much later each waiting operation could end without delaying its request, and the queues in which operations
//! bypass others that have slack.
//!
//! A station serves operations: a die; a chip where its dies exclude each other, and for writes whose die is not yet known. Its queue is
//! kept beside the queues from which dies take their work; only the order has to agree.

use std::ops::Range;

use super::estimate::{Before, Estimator};
use super::feedback::Feedback;
use super::{QueueKind, Transactions};
use crate::flash::Timing;
use ssdlab_base::units::{ChannelId, ChipId, DieId, Ns, PoolId, ReqId, SlabId, TxnId};
use ssdlab_keys::config::{Allocation, Config};
use ssdlab_keys::geometry::Geometry;
use ssdlab_keys::memory::{self, Exhausted};

/// A queue of a station.
#[derive(Clone, Copy, Debug, Default)]
struct StationQueue {
    head: Option<TxnId>,
    tail: Option<TxnId>,
    length: u32,
    /// Expected times of the operations in it, ns.
    expected: Ns,
}

/// State of a page operation that has been admitted and has not ended.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Neighbours in the queue of the operation's station: `previous` goes before it, `next` after it.
    previous: Option<TxnId>,
    next: Option<TxnId>,
    /// The station queue that the operation is in, if any.
    queue: Option<u32>,
    /// Expected times of the operation's read and program, as far as it has them, ns.
    expected: [Ns; 2],
    /// Operations ahead in the station's queue when the operation got its place there.
    ahead: Before,
    /// When the operation will end, as estimated at its admission, ns.
    end: Ns,
    /// The part of the estimated end that corrects for earlier errors, ns.
    correction: i64,
    /// Slack that has been taken from the operation, ns.
    taken: Ns,
    /// The operation has bypassed another.
    passed: bool,
    /// The operation is a read that was served in a pause, or a write that was paused.
    paused: bool,
}

/// Progress of an operation from the end of its station's queue to its place.
#[derive(Clone, Copy, Debug)]
struct Walk {
    /// The operation behind which it goes; `None` at the front.
    after: Option<TxnId>,
    /// The last operation of its own pool's queue that it has passed.
    before_in_queue: Option<TxnId>,
    /// Operations that are still ahead of it.
    ahead: Before,
}

const NOBODY: Before = Before { own: 0, beside: 0, elsewhere: 0 };
const EMPTY: Entry = Entry {
    previous: None,
    next: None,
    queue: None,
    expected: [0; 2],
    ahead: NOBODY,
    end: 0,
    correction: 0,
    taken: 0,
    passed: false,
    paused: false,
};

/// The slack of all page operations under way.
#[derive(Clone, Debug)]
pub struct Slack {
    /// Counters and equations.
    estimator: Estimator,
    /// By kind of operation: such an operation may bypass others.
    bypass: [bool; 2],
    /// The dies of a chip exclude each other.
    by_chip: bool,
    /// Writes have no pool until they begin.
    dynamic: bool,
    /// Writes have no die until they begin.
    dieless: bool,
    dies: u32,
    dies_per_chip: u32,
    pools_per_die: u32,
    /// Two queues, of reads and of writes, for each station: the dies, then the chips.
    queues: Vec<StationQueue>,
    /// Expected times of the reads and of the writes of each pool in station queues, without writes that have no pool yet, ns.
    of_pool: Vec<Ns>,
    /// By station: expected times of writes admitted that are not in its queue yet, behind older operations on their page or behind their own
    /// read, ns.
    coming: Vec<Ns>,
    /// The state of operations, by number of the transaction.
    entries: Vec<Entry>,
    /// By request: the latest estimated end of its pages, ns.
    latest: Vec<Ns>,
    /// By kind of operation: recent errors, if they correct later estimates.
    feedback: Option<[Feedback; 2]>,
    /// By chip: number of operations in the queues of its stations.
    on_chip: Vec<u32>,
    /// By chip: 1 plus the serial number of the last request with a page on it.
    seen_on_chip: Vec<u64>,
    /// By kind of operation: how often one has bypassed another.
    passes: [u64; 2],
}

impl Slack {
    /// The slack of a drive's operations; `None` if no option needs it.
    pub fn new(config: &Config, geometry: &Geometry, timing: &Timing) -> Option<Box<Self>> {
        let scheduler = &config.scheduler;
        if !scheduler.makes_estimates() {
            return None;
        }
        let stations = geometry.dies + geometry.chips;
        Some(Box::new(Slack {
            estimator: Estimator::new(timing, stations, geometry.channels),
            bypass: [scheduler.read_bypass, scheduler.write_bypass],
            by_chip: !config.device.die_interleave,
            dynamic: config.ftl.allocation == Allocation::Dynamic,
            dieless: config.ftl.allocation == Allocation::Dynamic && !geometry.spans_pools(),
            dies: geometry.dies,
            dies_per_chip: config.device.dies_per_chip,
            pools_per_die: geometry.pools.per_die.get(),
            queues: vec![StationQueue::default(); 2 * stations as usize],
            of_pool: vec![0; 2 * geometry.pools.count.get() as usize],
            coming: vec![0; stations as usize],
            entries: Vec::new(),
            latest: Vec::new(),
            feedback: scheduler.error_feedback.then(Default::default),
            on_chip: vec![0; geometry.chips as usize],
            seen_on_chip: vec![0; geometry.chips as usize],
            passes: [0; 2],
        }))
    }

    /// The counters, and the equations that use them.
    #[inline]
    pub fn estimator(&self) -> &Estimator {
        &self.estimator
    }

    /// Counts a page operation that was admitted to a channel.
    pub fn admitted(&mut self, channel: ChannelId) {
        self.estimator.admitted(channel.0);
    }

    /// The station of a die: the die, or its chip where the dies of a chip exclude each other.
    #[inline]
    pub fn station_of_die(&self, die: DieId) -> u32 {
        if self.by_chip { self.station_of_chip(ChipId(die.0 / self.dies_per_chip)) } else { die.0 }
    }

    /// The station of a chip.
    fn station_of_chip(&self, chip: ChipId) -> u32 {
        self.dies + chip.0
    }

    /// The station that serves operations of a kind on a die; with dynamic allocation, for writes, that of its chip.
    #[inline]
    pub fn station(&self, die: DieId, kind: QueueKind) -> u32 {
        if kind == QueueKind::Write && self.dieless {
            self.station_of_chip(ChipId(die.0 / self.dies_per_chip))
        } else {
            self.station_of_die(die)
        }
    }

    /// The dies of a station.
    pub fn dies(&self, station: u32) -> Range<u32> {
        match station.checked_sub(self.dies) {
            None => station..station + 1,
            Some(chip) => chip * self.dies_per_chip..(chip + 1) * self.dies_per_chip,
        }
    }

    /// Number of operations that a station serves at once.
    pub fn width(&self, station: u32) -> u64 {
        if station >= self.dies && !self.by_chip { u64::from(self.dies_per_chip) } else { 1 }
    }

    /// Counts a command of a die for `pages` pages of the host.
    pub fn served(&mut self, die: DieId, kind: QueueKind, pages: u32) {
        self.each_station(die, |estimator, station| estimator.served(station, kind, pages));
    }

    /// Counts an operation of GC on a die that was expected to take this long, ns.
    pub fn collected(&mut self, die: DieId, expected: Ns) {
        self.each_station(die, |estimator, station| estimator.collected(station, expected));
    }

    /// Counts at the die's station, and at that of its chip if it is another.
    fn each_station(&mut self, die: DieId, mut count: impl FnMut(&mut Estimator, u32)) {
        let station = self.station_of_die(die);
        count(&mut self.estimator, station);
        if self.dieless && !self.by_chip {
            let chip = self.station_of_chip(ChipId(die.0 / self.dies_per_chip));
            count(&mut self.estimator, chip);
        }
    }

    /// Expected times of the operations of a kind that wait for a station, ns.
    fn waiting(&self, station: u32, kind: QueueKind) -> Ns {
        let expected = |station: u32| self.queues[queue_of(station, kind)].expected;
        // A chip that is a station for writes only: its reads wait for their dies.
        if station >= self.dies && !self.by_chip && kind == QueueKind::Read {
            self.dies(station).map(expected).sum()
        } else {
            expected(station)
        }
    }

    /// The operations of a kind that wait for a station, as they count for an operation of another or an unknown plane.
    pub fn all(&self, station: u32, kind: QueueKind) -> Before {
        Before { elsewhere: self.waiting(station, kind), ..NOBODY }
    }

    /// The operations of a kind that wait for the station of a pool, as they count for an operation of that pool.
    pub fn before(&self, station: u32, pool: PoolId, kind: QueueKind) -> Before {
        if self.has_no_pool(kind) {
            return self.all(station, kind);
        }
        let of = |pool: u32| self.of_pool[2 * pool as usize + kind as usize];
        let first = pool.0 / self.pools_per_die * self.pools_per_die;
        let on_die: Ns = (first..first + self.pools_per_die).map(of).sum();
        Before { own: of(pool.0), beside: on_die - of(pool.0), elsewhere: self.waiting(station, kind) - on_die }
    }

    /// An operation of the pool `other` that is expected to take `ns`, as it counts for an operation of the pool `by`.
    fn seen(&self, by: PoolId, other: PoolId, ns: Ns) -> Before {
        match () {
            () if by == other => Before { own: ns, ..NOBODY },
            () if by.0 / self.pools_per_die == other.0 / self.pools_per_die => Before { beside: ns, ..NOBODY },
            () => Before { elsewhere: ns, ..NOBODY },
        }
    }

    /// Counts a write of a die that has been admitted but is not in its queue yet (`comes`), or one such that enters it.
    pub fn write_to_come(&mut self, die: DieId, id: TxnId, comes: bool) {
        let (station, expected) = (self.station(die, QueueKind::Write), self.expected(id, QueueKind::Write));
        let coming = &mut self.coming[station as usize];
        *coming = if comes { *coming + expected } else { *coming - expected };
    }

    /// Expected times of writes admitted to a station that are not in its queue yet, behind older operations on their page or behind their
    /// own read, ns.
    pub fn coming(&self, station: u32) -> Ns {
        self.coming[station as usize]
    }

    /// Reserves memory for this many operations and requests under way.
    ///
    /// # Errors
    /// [`Exhausted`] if there is not enough memory.
    pub fn make_room(&mut self, operations: usize, requests: usize) -> Result<(), Exhausted> {
        let (more_operations, more_requests) = (operations - self.entries.len(), requests - self.latest.len());
        memory::make_room(&mut self.entries, more_operations)?;
        memory::make_room(&mut self.latest, more_requests)
    }

    /// Call when a request arrives.
    pub fn new_request(&mut self, request: ReqId, now: Ns) {
        grow(&mut self.latest, request.number(), 0);
        self.latest[request.number() as usize] = now;
    }

    /// A page of a request needs no flash, and ends now.
    pub fn answered(&mut self, request: ReqId, now: Ns) {
        self.latest[request.number() as usize] = now.max(self.latest[request.number() as usize]);
    }

    /// The latest estimated end of a request's pages, ns.
    pub fn latest_end(&self, request: ReqId) -> Ns {
        self.latest[request.number() as usize]
    }

    /// Call when a page operation of the request with this serial number is about to be admitted to a chip, request by request. Returns
    /// true if it is the request's first on that chip. `expected`: expected times of its read and its program, ns.
    pub fn new_operation(&mut self, id: TxnId, serial: u64, chip: ChipId, expected: [Ns; 2]) -> bool {
        grow(&mut self.entries, id.number(), EMPTY);
        *self.entry_mut(id) = Entry { expected, ..EMPTY };
        std::mem::replace(&mut self.seen_on_chip[chip.index()], serial + 1) != serial + 1
    }

    /// The expected time of an operation's read or program, as at its admission, ns.
    #[inline]
    pub fn expected(&self, id: TxnId, kind: QueueKind) -> Ns {
        self.entry(id).expected[kind as usize]
    }

    /// The operations ahead in the station's queue when the operation got its place there; `None` if it is in no queue.
    pub fn ahead(&self, id: TxnId) -> Option<Before> {
        let entry = self.entry(id);
        entry.queue.map(|_| entry.ahead)
    }

    /// Sets the estimated end of an operation: `response` after `now`, corrected by recent errors. `alone`: its time without any waiting,
    /// ns.
    pub fn will_end(&mut self, now: Ns, id: TxnId, request: ReqId, kind: QueueKind, response: Ns, alone: Ns) {
        let correction = match &mut self.feedback {
            Some(feedback) => feedback[kind as usize].mean(now).max(-((response - alone) as i64)),
            None => 0,
        };
        let end = (now + response).saturating_add_signed(correction);
        let entry = self.entry_mut(id);
        (entry.end, entry.correction) = (end, correction);
        let latest = &mut self.latest[request.number() as usize];
        *latest = end.max(*latest);
    }

    /// An operation has ended: notes the error of its estimate.
    pub fn ended(&mut self, now: Ns, id: TxnId, kind: QueueKind) {
        let Entry { end, correction, taken, .. } = *self.entry(id);
        if let Some(feedback) = &mut self.feedback {
            // An operation from which slack was taken is late on purpose by that time.
            let on_time = end.saturating_add(taken);
            feedback[kind as usize].ended(now, now.wrapping_sub(on_time).cast_signed().saturating_add(correction));
        }
    }

    /// Number of operations in the queues of each chip.
    pub fn on_chips(&self) -> &[u32] {
        &self.on_chip
    }

    /// When an operation will end, as estimated at its admission, ns.
    pub fn end(&self, id: TxnId) -> Ns {
        self.entry(id).end
    }

    /// The slack of an operation (8): how much later it may end, ns.
    pub fn left(&self, transactions: &Transactions, id: TxnId) -> Ns {
        let entry = self.entry(id);
        let latest = self.latest[transactions[id].request.number() as usize];
        (latest - entry.end).checked_sub(entry.taken).expect("slack is taken only from what has some")
    }

    /// Takes slack from an operation, which must have as much.
    pub fn take(&mut self, id: TxnId, ns: Ns) {
        self.entry_mut(id).taken += ns;
    }

    /// Puts an operation into the queue of its die's station: at the place of its age, then before operations that have slack for it.
    /// Returns the next behind it in its own pool's queue (in its station's under dynamic allocation, for a write that has no pool yet).
    pub(super) fn enter(&mut self, transactions: &mut Transactions, die: DieId, kind: QueueKind, id: TxnId) -> Option<TxnId> {
        let station = self.station(die, kind);
        let number = queue_of(station, kind);
        let pool = transactions[id].pool;
        let tail = self.queues[number].tail;
        let mut walk = Walk { after: tail, before_in_queue: None, ahead: self.before(station, pool, kind) };
        // It has waited for older operations on its page, or for its read: it is older than operations that came meanwhile.
        let age = transactions[id].ready.1;
        while let Some(after) = walk.after.filter(|&after| transactions[after].ready.1 > age) {
            self.step_past(transactions, kind, id, after, &mut walk);
        }
        let passed = if self.bypass[kind as usize] { self.pass(transactions, kind, id, &mut walk) } else { 0 };
        let Walk { after, before_in_queue, ahead } = walk;
        let next = match after {
            _ if after == tail => None,
            None => self.queues[number].head,
            Some(after) => self.entry(after).next,
        };
        let entry = self.entry_mut(id);
        *entry = Entry { previous: after, next, queue: Some(number as u32), ahead, passed: entry.passed || passed > 0, ..*entry };
        match after {
            None => self.queues[number].head = Some(id),
            Some(after) => self.entry_mut(after).next = Some(id),
        }
        match next {
            None => self.queues[number].tail = Some(id),
            Some(next) => self.entry_mut(next).previous = Some(id),
        }
        let expected = self.expected(id, kind);
        self.queues[number].length += 1;
        self.queues[number].expected += expected;
        if !self.has_no_pool(kind) {
            self.of_pool[2 * pool.index() + kind as usize] += expected;
        }
        self.on_chip[(die.0 / self.dies_per_chip) as usize] += 1;
        self.passes[kind as usize] += u64::from(passed);
        before_in_queue
    }

    fn entry(&self, id: TxnId) -> &Entry {
        &self.entries[id.number() as usize]
    }

    fn entry_mut(&mut self, id: TxnId) -> &mut Entry {
        &mut self.entries[id.number() as usize]
    }

    /// Operations of this kind have no pool until they begin.
    fn has_no_pool(&self, kind: QueueKind) -> bool {
        kind == QueueKind::Write && self.dynamic
    }

    /// Bypasses operations ahead that have enough slack, and takes the slack from them. Returns their number.
    fn pass(&mut self, transactions: &mut Transactions, kind: QueueKind, id: TxnId, walk: &mut Walk) -> u32 {
        let latency = self.expected(id, kind);
        let request = transactions[id].request;
        let mut passed = 0;
        while let Some(after) = walk.after
            && transactions[after].request != request
            && self.left(transactions, after) >= latency
        {
            self.take(after, latency);
            self.step_past(transactions, kind, id, after, walk);
            passed += 1;
        }
        passed
    }

    /// Goes before the operation `after`, which was next ahead. The two exchange ranks, so that ranks stay in the queue's order.
    fn step_past(&self, transactions: &mut Transactions, kind: QueueKind, id: TxnId, after: TxnId, walk: &mut Walk) {
        let rank = transactions[after].rank;
        transactions[after].rank = std::mem::replace(&mut transactions[id].rank, rank);
        let one_queue = self.has_no_pool(kind);
        let (pool, other, ns) = (transactions[id].pool, transactions[after].pool, self.expected(after, kind));
        let seen = if one_queue { Before { elsewhere: ns, ..NOBODY } } else { self.seen(pool, other, ns) };
        walk.ahead.own -= seen.own;
        walk.ahead.beside -= seen.beside;
        walk.ahead.elsewhere -= seen.elsewhere;
        let station = |id: TxnId| transactions[id].station;
        let same_queue = if one_queue { station(id) == station(after) } else { pool == other };
        if same_queue {
            walk.before_in_queue = Some(after);
        }
        walk.after = self.entry(after).previous;
    }

    /// Takes an operation out of the queue of its station.
    pub(super) fn leave(&mut self, transactions: &Transactions, id: TxnId) {
        let Entry { previous, next, queue, .. } = *self.entry(id);
        let number = queue.expect("an operation that leaves a queue stands in one");
        let kind = if number.is_multiple_of(2) { QueueKind::Read } else { QueueKind::Write };
        let expected = self.expected(id, kind);
        if !self.has_no_pool(kind) {
            self.of_pool[2 * transactions[id].pool.index() + kind as usize] -= expected;
        }
        let chip = self.dies(number / 2).start / self.dies_per_chip;
        self.on_chip[chip as usize] -= 1;
        let queue = &mut self.queues[number as usize];
        queue.length -= 1;
        queue.expected -= expected;
        match previous {
            None => queue.head = next,
            Some(previous) => self.entries[previous.number() as usize].next = next,
        }
        match next {
            None => queue.tail = previous,
            Some(next) => self.entries[next.number() as usize].previous = previous,
        }
        self.entry_mut(id).queue = None;
    }

    /// Notes that a read is served in a pause, or that a write is paused.
    pub fn note_pause(&mut self, id: TxnId) {
        self.entry_mut(id).paused = true;
    }

    /// Whether the operation has bypassed others; whether it was served in a pause, or paused.
    pub fn touched(&self, id: TxnId) -> (bool, bool) {
        let entry = self.entry(id);
        (entry.passed, entry.paused)
    }

    /// Checks the queues: links, lengths, expected times, and the order of ranks.
    ///
    /// # Errors
    /// The first contradiction found.
    pub fn check(&self, transactions: &Transactions) -> Result<(), String> {
        for (number, queue) in self.queues.iter().enumerate() {
            let kind = if number.is_multiple_of(2) { QueueKind::Read } else { QueueKind::Write };
            let (mut previous, mut here, mut length, mut expected) = (None, queue.head, 0, 0);
            while let Some(id) = here {
                let entry = self.entry(id);
                if entry.previous != previous || entry.queue != Some(number as u32) || !transactions[id].queued {
                    return Err(format!("operation {id} does not stand where queue {number} has it"));
                }
                if let Some(previous) = previous.filter(|&previous| transactions[previous].rank >= transactions[id].rank) {
                    return Err(format!("operation {id} stands behind {previous} in queue {number}, but ranks before it"));
                }
                (previous, here, length, expected) = (Some(id), entry.next, length + 1, expected + self.expected(id, kind));
            }
            if (previous, length, expected) != (queue.tail, queue.length, queue.expected) {
                let StationQueue { length: noted, expected: ns, .. } = *queue;
                return Err(format!("queue {number} has {length} operations of {expected} ns, not {noted} of {ns} ns"));
            }
        }
        let on_chips: u32 = self.on_chip.iter().sum();
        let in_queues: u32 = self.queues.iter().map(|queue| queue.length).sum();
        if on_chips == in_queues { Ok(()) } else { Err(format!("{in_queues} operations wait, but {on_chips} on chips")) }
    }

    /// By kind of operation: how often one has bypassed another.
    pub fn passes(&self) -> [u64; 2] {
        self.passes
    }
}

fn queue_of(station: u32, kind: QueueKind) -> usize {
    2 * station as usize + kind as usize
}

fn grow<T: Clone>(list: &mut Vec<T>, index: u32, value: T) {
    if list.len() <= index as usize {
        list.resize(index as usize + 1, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chips of two dies, which exclude each other if `by_chip`, with two planes each.
    fn slack(dynamic: bool, by_chip: bool) -> Box<Slack> {
        let mut config = Config::default();
        config.device.dies_per_chip = 2;
        config.device.planes_per_die = 2;
        config.device.die_interleave = !by_chip;
        if dynamic {
            config.ftl.allocation = Allocation::Dynamic;
        }
        config.scheduler.read_bypass = true;
        let geometry = Geometry::new(&config);
        Slack::new(&config, &geometry, &Timing::new(&config)).expect("reads that bypass have slack")
    }

    /// Time that two waiting writes of 10 ns elsewhere at a station take, ns: less than 20 if pages have shared a command there.
    fn two_writes(slack: &Slack, station: u32) -> Ns {
        let before = Before { elsewhere: 20, ..NOBODY };
        slack.estimator.queue_of(station, QueueKind::Write, before)
    }

    #[test]
    fn a_chip_knows_what_its_dies_do_where_it_is_asked_about_writes() {
        for (dynamic, by_chip, of_dies, of_chip) in
            [(false, false, [20, 10], 20), (true, false, [20, 10], 10), (false, true, [20, 20], 10), (true, true, [20, 20], 10)]
        {
            let mut slack = slack(dynamic, by_chip);
            slack.served(DieId(1), QueueKind::Write, 2);
            let chips = slack.dies;
            assert_eq!([0, 1].map(|die| two_writes(&slack, die)), of_dies, "dies: {dynamic}, {by_chip}");
            assert_eq!([chips, chips + 1].map(|chip| two_writes(&slack, chip)), [of_chip, 20], "chips: {dynamic}, {by_chip}");
        }
    }

    #[test]
    fn operations_are_seen_on_the_own_plane_beside_it_and_elsewhere() {
        let slack = slack(false, true);
        let seen = [0, 1, 2, 3].map(|other| slack.seen(PoolId(1), PoolId(other), 7));
        let elsewhere = Before { elsewhere: 7, ..NOBODY };
        assert_eq!(seen, [Before { beside: 7, ..NOBODY }, Before { own: 7, ..NOBODY }, elsewhere, elsewhere]);
    }

    #[test]
    fn a_page_that_needs_no_flash_ends_when_it_is_answered() {
        let (mut slack, request) = (slack(false, false), ReqId::new(0));
        slack.new_request(request, 100);
        slack.answered(request, 500);
        assert_eq!(slack.latest[0], 500);
        slack.answered(request, 300);
        assert_eq!(slack.latest[0], 500);
    }
}
