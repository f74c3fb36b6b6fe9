//! Slack (elyasi2017): how much later each waiting operation could end without delaying its request, and the queues in which operations that
//! have it are passed by others.
//!
//! A station is what serves one operation after another: a die; a chip where its dies exclude each other, and for writes whose die is not yet
//! known. Its queue is a list beside the lines from which dies take their work; what has to agree is only the order.

use std::ops::Range;

use super::estimate::{Before, Estimator};
use super::feedback::Feedback;
use super::{LineKind, NONE, Transactions};
use crate::config::{Allocation, Config};
use crate::flash::Timing;
use crate::geometry::Geometry;
use crate::memory::{self, Exhausted};
use crate::units::{ChipId, DieId, Ns, PoolId};

/// A queue of a station.
#[derive(Clone, Copy, Debug)]
struct Queue {
    head: u32,
    tail: u32,
    length: u32,
}

/// What is known of a page operation.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Its neighbours in its station's queue.
    previous: u32,
    next: u32,
    /// The queue it stands in, or [`NONE`].
    queue: u32,
    /// Operations that stood ahead of it in that queue once it had its place.
    ahead: Before,
    /// When it will end, as estimated when it was admitted, ns.
    end: Ns,
    /// What was added to that because of earlier errors, ns.
    correction: i64,
    /// Slack that has been taken from it, ns.
    taken: Ns,
    /// It has passed another.
    passed: bool,
    /// A read that was served in a pause, a write that was paused.
    paused: bool,
}

/// How far an operation has come from the end of its station's queue.
#[derive(Clone, Copy, Debug)]
struct Walk {
    /// The one behind which it stands, or [`NONE`] at the front.
    after: u32,
    /// The last of its own line that it has gone before, or [`NONE`].
    before_in_line: u32,
    /// Operations ahead of it.
    ahead: Before,
}

const NOBODY: Before = Before { own: 0, beside: 0, elsewhere: 0 };
const EMPTY: Entry =
    Entry { previous: NONE, next: NONE, queue: NONE, ahead: NOBODY, end: 0, correction: 0, taken: 0, passed: false, paused: false };

/// The slack of everything under way.
#[derive(Clone, Debug)]
pub struct Slack {
    /// Counters and equations.
    pub estimator: Estimator,
    /// By kind of operation.
    bypass: [bool; 2],
    /// The dies of a chip exclude each other.
    by_chip: bool,
    /// Writes have no die until they begin.
    dynamic: bool,
    dies: u32,
    dies_per_chip: u32,
    pools_per_die: u32,
    /// Two for each station: dies, behind them chips.
    queues: Vec<Queue>,
    /// Two for each pool: its operations in these queues, but writes that have no pool yet.
    of_pool: Vec<u32>,
    /// By station: writes that are not in its queue yet, behind older operations on their page or behind their own read.
    coming: Vec<u32>,
    /// By transaction.
    entries: Vec<Entry>,
    /// By request: the latest estimated end of its pages, ns.
    latest: Vec<Ns>,
    /// By kind, where errors correct later estimates.
    feedback: Option<[Feedback; 2]>,
    /// By chip: operations in its queues.
    on_chip: Vec<u32>,
    /// By chip: the last request that has a page on it, plus one.
    seen_on_chip: Vec<u64>,
    /// Operations passed, by kind.
    passes: [u64; 2],
}

impl Slack {
    /// `None` where nothing asks for it.
    pub fn new(config: &Config, geometry: &Geometry, timing: &Timing) -> Option<Box<Self>> {
        let scheduler = &config.scheduler;
        if !scheduler.makes_estimates() {
            return None;
        }
        let stations = geometry.dies + geometry.chips;
        Some(Box::new(Slack {
            estimator: Estimator::new(&config.device, timing, stations, geometry.channels),
            bypass: [scheduler.read_bypass, scheduler.write_bypass],
            by_chip: !config.device.die_interleave,
            dynamic: config.ftl.allocation == Allocation::Dynamic,
            dies: geometry.dies,
            dies_per_chip: config.device.dies_per_chip,
            pools_per_die: geometry.pools.per_die.get(),
            queues: vec![Queue { head: NONE, tail: NONE, length: 0 }; 2 * stations as usize],
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

    /// What serves the operations of a die.
    #[inline]
    pub fn station_of_die(&self, die: DieId) -> u32 {
        if self.by_chip { self.station_of_chip(ChipId(die.0 / self.dies_per_chip)) } else { die.0 }
    }

    /// A chip as a station.
    fn station_of_chip(&self, chip: ChipId) -> u32 {
        self.dies + chip.0
    }

    /// What serves the operations of a kind: those of a die, or, with dynamic allocation, the writes of its chip.
    #[inline]
    pub fn station(&self, die: DieId, kind: LineKind) -> u32 {
        if kind == LineKind::Write && self.dynamic {
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

    /// Operations that a station works on at once.
    pub fn width(&self, station: u32) -> u64 {
        if station >= self.dies && !self.by_chip { u64::from(self.dies_per_chip) } else { 1 }
    }

    /// A die begins a command for this many pages of the host.
    pub fn served(&mut self, die: DieId, kind: LineKind, pages: u32) {
        self.each_station(die, |estimator, station| estimator.served(station, kind, pages));
    }

    /// Collection has moved a page on a die.
    pub fn moved(&mut self, die: DieId) {
        self.each_station(die, Estimator::moved);
    }

    /// Collection has erased a block on a die.
    pub fn erased(&mut self, die: DieId) {
        self.each_station(die, Estimator::erased);
    }

    /// The die's station, and its chip where that is one too.
    fn each_station(&mut self, die: DieId, mut count: impl FnMut(&mut Estimator, u32)) {
        let station = self.station_of_die(die);
        count(&mut self.estimator, station);
        if self.dynamic && !self.by_chip {
            let chip = self.station_of_chip(ChipId(die.0 / self.dies_per_chip));
            count(&mut self.estimator, chip);
        }
    }

    /// Operations of a kind that wait for a station.
    fn waiting(&self, station: u32, kind: LineKind) -> u64 {
        let length = |station: u32| u64::from(self.queues[queue_of(station, kind)].length);
        // A chip that is the station of writes alone: its reads wait for their dies.
        if station >= self.dies && !self.by_chip && kind == LineKind::Read { self.dies(station).map(length).sum() } else { length(station) }
    }

    /// Operations of a kind that wait for a station, as one sees them whose plane is not theirs or not known.
    pub fn all(&self, station: u32, kind: LineKind) -> Before {
        Before { elsewhere: self.waiting(station, kind), ..NOBODY }
    }

    /// Operations of a kind that wait for the station of a pool, as one of that pool sees them.
    pub fn before(&self, station: u32, pool: PoolId, kind: LineKind) -> Before {
        if self.has_no_pool(kind) {
            return self.all(station, kind);
        }
        let of = |pool: u32| u64::from(self.of_pool[2 * pool as usize + kind as usize]);
        let first = pool.0 / self.pools_per_die * self.pools_per_die;
        let on_die: u64 = (first..first + self.pools_per_die).map(of).sum();
        Before { own: of(pool.0), beside: on_die - of(pool.0), elsewhere: self.waiting(station, kind) - on_die }
    }

    /// One operation of a pool, as one of another pool sees it.
    fn seen(&self, by: PoolId, other: PoolId) -> Before {
        match () {
            () if by == other => Before { own: 1, ..NOBODY },
            () if by.0 / self.pools_per_die == other.0 / self.pools_per_die => Before { beside: 1, ..NOBODY },
            () => Before { elsewhere: 1, ..NOBODY },
        }
    }

    /// A write of a die has been admitted that is not in its queue yet, or one of these enters it.
    pub fn write_to_come(&mut self, die: DieId, comes: bool) {
        let station = self.station(die, LineKind::Write);
        let coming = &mut self.coming[station as usize];
        *coming = if comes { *coming + 1 } else { *coming - 1 };
    }

    /// Writes admitted to a station that are not in its queue yet, behind older operations on their page or behind their own read.
    pub fn coming(&self, station: u32) -> u64 {
        u64::from(self.coming[station as usize])
    }

    /// Sees to it that so many operations and requests can be under way without growing.
    ///
    /// # Errors
    /// [`Exhausted`].
    pub fn make_room(&mut self, operations: usize, requests: usize) -> Result<(), Exhausted> {
        let (more_operations, more_requests) = (operations - self.entries.len(), requests - self.latest.len());
        memory::make_room(&mut self.entries, more_operations)?;
        memory::make_room(&mut self.latest, more_requests)
    }

    /// A request arrives.
    pub fn new_request(&mut self, place: u32, now: Ns) {
        grow(&mut self.latest, place, 0);
        self.latest[place as usize] = now;
    }

    /// A page of a request needs no flash: it ends now.
    pub fn answered(&mut self, place: u32, now: Ns) {
        self.latest[place as usize] = now.max(self.latest[place as usize]);
    }

    /// The latest estimated end of a request's pages, ns.
    pub fn latest_end(&self, place: u32) -> Ns {
        self.latest[place as usize]
    }

    /// A page operation of a request with this serial number is about to be admitted to a chip. Returns true if it is its first there: pages
    /// of one request are admitted before those of the next.
    pub fn new_operation(&mut self, index: u32, serial: u64, chip: u32) -> bool {
        grow(&mut self.entries, index, EMPTY);
        self.entries[index as usize] = EMPTY;
        std::mem::replace(&mut self.seen_on_chip[chip as usize], serial + 1) != serial + 1
    }

    /// Operations ahead of it in the queue in which it stands, once it had its place; `None` if it stands in none.
    pub fn ahead(&self, index: u32) -> Option<Before> {
        let entry = &self.entries[index as usize];
        (entry.queue != NONE).then_some(entry.ahead)
    }

    /// It has been estimated how long after `now` an operation will end, `alone` of which it needs by itself, ns.
    pub fn will_end(&mut self, now: Ns, index: u32, request: u32, kind: LineKind, response: Ns, alone: Ns) {
        let correction = match &mut self.feedback {
            Some(feedback) => feedback[kind as usize].mean(now).max(-((response - alone) as i64)),
            None => 0,
        };
        let end = (now + response).saturating_add_signed(correction);
        let entry = &mut self.entries[index as usize];
        (entry.end, entry.correction) = (end, correction);
        let latest = &mut self.latest[request as usize];
        *latest = end.max(*latest);
    }

    /// An operation of a kind has ended.
    pub fn ended(&mut self, now: Ns, index: u32, kind: LineKind) {
        let Entry { end, correction, taken, .. } = self.entries[index as usize];
        if let Some(feedback) = &mut self.feedback {
            // By what was taken from it it is late on purpose.
            let on_time = end.saturating_add(taken);
            feedback[kind as usize].ended(now, now.wrapping_sub(on_time).cast_signed().saturating_add(correction));
        }
    }

    /// Operations in the queues of each chip.
    pub fn on_chips(&self) -> &[u32] {
        &self.on_chip
    }

    /// When an operation was estimated to end, ns.
    pub fn end(&self, index: u32) -> Ns {
        self.entries[index as usize].end
    }

    /// How much later an operation may end, ns (8).
    pub fn left(&self, transactions: &Transactions, index: u32) -> Ns {
        let entry = &self.entries[index as usize];
        let latest = self.latest[transactions[index].request as usize];
        (latest - entry.end).checked_sub(entry.taken).expect("slack is taken only from what has some")
    }

    /// Takes slack from an operation that has as much.
    pub fn take(&mut self, index: u32, ns: Ns) {
        self.entries[index as usize].taken += ns;
    }

    /// An operation begins to wait on a die. It takes the place of its age, passes those that have slack for it, and is put in order. Returns
    /// the one in its own line before which it stands, or [`NONE`].
    pub(super) fn enter(&mut self, transactions: &mut Transactions, die: DieId, kind: LineKind, index: u32) -> u32 {
        let station = self.station(die, kind);
        let queue = queue_of(station, kind);
        let pool = transactions[index].pool;
        let tail = self.queues[queue].tail;
        let mut walk = Walk { after: tail, before_in_line: NONE, ahead: self.before(station, pool, kind) };
        // It has waited for older operations on its page, or for its read: it is older than who came meanwhile.
        let age = transactions[index].ready.1;
        while walk.after != NONE && transactions[walk.after].ready.1 > age {
            self.step_past(transactions, kind, index, &mut walk);
        }
        let passed = if self.bypass[kind as usize] { self.pass(transactions, kind, index, &mut walk) } else { 0 };
        let Walk { after, before_in_line, ahead } = walk;
        let next = if after == tail { NONE } else { self.behind(queue, after) };
        let entry = &mut self.entries[index as usize];
        *entry = Entry { previous: after, next, queue: queue as u32, ahead, passed: entry.passed || passed > 0, ..*entry };
        if after != NONE {
            self.entries[after as usize].next = index;
        }
        match next {
            NONE => self.queues[queue].tail = index,
            next => self.entries[next as usize].previous = index,
        }
        if after == NONE {
            self.queues[queue].head = index;
        }
        self.queues[queue].length += 1;
        if !self.has_no_pool(kind) {
            self.of_pool[2 * pool.index() + kind as usize] += 1;
        }
        self.on_chip[(die.0 / self.dies_per_chip) as usize] += 1;
        self.passes[kind as usize] += u64::from(passed);
        before_in_line
    }

    /// The operation behind another in a queue; behind none stands the first.
    fn behind(&self, queue: usize, after: u32) -> u32 {
        if after == NONE { self.queues[queue].head } else { self.entries[after as usize].next }
    }

    /// A kind of operations that have no pool until they begin.
    fn has_no_pool(&self, kind: LineKind) -> bool {
        kind == LineKind::Write && self.dynamic
    }

    /// Passes operations that have slack for it. Returns how many.
    fn pass(&mut self, transactions: &mut Transactions, kind: LineKind, index: u32, walk: &mut Walk) -> u32 {
        let latency = self.estimator.latencies().host[kind as usize];
        let request = transactions[index].request;
        let mut passed = 0;
        while let after = walk.after
            && after != NONE
            && transactions[after].request != request
            && self.left(transactions, after) >= latency
        {
            self.take(after, latency);
            self.step_past(transactions, kind, index, walk);
            passed += 1;
        }
        passed
    }

    /// Goes on before the operation that stood next ahead. The two change ranks, so that ranks stay in the queue's order.
    fn step_past(&self, transactions: &mut Transactions, kind: LineKind, index: u32, walk: &mut Walk) {
        let after = walk.after;
        let rank = transactions[after].rank;
        transactions[after].rank = std::mem::replace(&mut transactions[index].rank, rank);
        let one_line = self.has_no_pool(kind);
        let (pool, other) = (transactions[index].pool, transactions[after].pool);
        let seen = if one_line { Before { elsewhere: 1, ..NOBODY } } else { self.seen(pool, other) };
        walk.ahead.own -= seen.own;
        walk.ahead.beside -= seen.beside;
        walk.ahead.elsewhere -= seen.elsewhere;
        if one_line || seen.own > 0 {
            walk.before_in_line = after;
        }
        walk.after = self.entries[after as usize].previous;
    }

    /// An operation waits no longer.
    pub(super) fn leave(&mut self, transactions: &Transactions, index: u32) {
        let Entry { previous, next, queue, .. } = self.entries[index as usize];
        let kind = if queue.is_multiple_of(2) { LineKind::Read } else { LineKind::Write };
        if !self.has_no_pool(kind) {
            self.of_pool[2 * transactions[index].pool.index() + kind as usize] -= 1;
        }
        let chip = self.dies(queue / 2).start / self.dies_per_chip;
        self.on_chip[chip as usize] -= 1;
        let queue = &mut self.queues[queue as usize];
        queue.length -= 1;
        match previous {
            NONE => queue.head = next,
            previous => self.entries[previous as usize].next = next,
        }
        match next {
            NONE => queue.tail = previous,
            next => self.entries[next as usize].previous = previous,
        }
        self.entries[index as usize].queue = NONE;
    }

    /// A read is served in a pause, or a write is paused.
    pub fn note_pause(&mut self, index: u32) {
        self.entries[index as usize].paused = true;
    }

    /// It has passed others; it was served in a pause, or paused.
    pub fn touched(&self, index: u32) -> (bool, bool) {
        let entry = &self.entries[index as usize];
        (entry.passed, entry.paused)
    }

    /// Recounts the queues: links, lengths, and ranks in the queues' order.
    ///
    /// # Errors
    /// The first contradiction found.
    pub fn check(&self, transactions: &Transactions) -> Result<(), String> {
        for (number, queue) in self.queues.iter().enumerate() {
            let (mut previous, mut index, mut length) = (NONE, queue.head, 0);
            while index != NONE {
                let entry = &self.entries[index as usize];
                if entry.previous != previous || entry.queue as usize != number || !transactions[index].in_line {
                    return Err(format!("operation {index} does not stand where queue {number} has it"));
                }
                if previous != NONE && transactions[previous].rank >= transactions[index].rank {
                    return Err(format!("operation {index} stands behind {previous} in queue {number}, but ranks before it"));
                }
                (previous, index, length) = (index, entry.next, length + 1);
            }
            if (previous, length) != (queue.tail, queue.length) {
                return Err(format!("queue {number} has {length} operations, not {}", queue.length));
            }
        }
        let on_chips: u32 = self.on_chip.iter().sum();
        let in_queues: u32 = self.queues.iter().map(|queue| queue.length).sum();
        if on_chips == in_queues { Ok(()) } else { Err(format!("{in_queues} operations wait, but {on_chips} on chips")) }
    }

    /// Operations passed by others of their kind.
    pub fn passes(&self) -> [u64; 2] {
        self.passes
    }
}

fn queue_of(station: u32, kind: LineKind) -> usize {
    2 * station as usize + kind as usize
}

fn grow<T: Clone>(list: &mut Vec<T>, index: u32, value: T) {
    if list.len() <= index as usize {
        list.resize(index as usize + 1, value);
    }
}
