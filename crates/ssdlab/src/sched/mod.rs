//! The order in which host transactions (a request's parts of one page each) wait for the flash.
//!
//! Each pool has a line of reads and a line of writes, in the order in which they were admitted, or in that which slack allows; with dynamic
//! allocation, writes wait by chip. A die chooses among the heads of its lines. An operation that waits for older ones on its page, and the
//! program of a partial write, enter their line later: in the place of their age.

mod estimate;
mod feedback;
mod slack;
mod transaction;

pub use estimate::{Ahead, Before, Latencies};
pub use slack::Slack;
pub use transaction::{NONE, SCATTERED, TRIMMED, Transaction, TransactionKind, Transactions};

use crate::config::{Config, Order};
use crate::flash::Timing;
use crate::geometry::Geometry;
use crate::units::{ChipId, DieId, PoolId};

/// The kinds of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// Page reads, also those of read-modify-writes.
    Read,
    /// Page programs.
    Write,
}

/// A line of waiting transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineId(u32);

#[derive(Clone, Copy, Debug)]
struct Line {
    head: u32,
    tail: u32,
}

/// All waiting host transactions of one drive.
#[derive(Clone, Debug)]
pub struct Scheduler {
    order: Order,
    lines: Vec<Line>,
    /// Transactions waiting on each die, and (dynamic allocation) chip: nothing to look for where there are none.
    waiting: Vec<u32>,
    waiting_on_chip: Vec<u32>,
    /// By line: writes of high priority in it.
    high_priority: Vec<u32>,
    pools: u32,
    /// Writes wait by chip.
    dynamic: bool,
    /// Reads and writes accepted by each chip and not dispatched, and how many it takes (0: any number).
    accepted: Vec<[u32; 2]>,
    capacity: [u32; 2],
    /// Transactions accepted by each chip and not completed.
    load: Vec<u32>,
    /// With a bounded write queue: more accepted writes than this let writes go first.
    write_mark: u32,
    /// Where it is asked for: what operations have to spare, and the order that follows.
    pub slack: Option<Box<Slack>>,
}

impl Scheduler {
    /// Empty lines.
    pub fn new(config: &Config, geometry: &Geometry, timing: &Timing) -> Self {
        let scheduler = &config.scheduler;
        let pools = geometry.pools.count.get();
        let dynamic = config.ftl.allocation == crate::config::Allocation::Dynamic;
        let write_mark = match scheduler.write_queue {
            0 => u32::MAX,
            bounded => (f64::from(bounded) * scheduler.alpha) as u32,
        };
        Scheduler {
            order: scheduler.order,
            lines: vec![Line { head: NONE, tail: NONE }; 2 * pools as usize + geometry.chips as usize],
            waiting: vec![0; geometry.dies as usize],
            waiting_on_chip: vec![0; geometry.chips as usize],
            high_priority: vec![0; 2 * pools as usize + geometry.chips as usize],
            pools,
            dynamic,
            accepted: vec![[0; 2]; geometry.chips as usize],
            load: vec![0; geometry.chips as usize],
            capacity: [scheduler.read_queue, scheduler.write_queue],
            write_mark,
            slack: Slack::new(config, geometry, timing),
        }
    }

    /// The line of a pool's reads or writes.
    #[inline(always)]
    pub fn line(&self, pool: PoolId, kind: LineKind) -> LineId {
        LineId(2 * pool.0 + u32::from(kind == LineKind::Write))
    }

    /// With dynamic allocation: the line of a chip's writes.
    #[inline(always)]
    pub fn chip_line(&self, chip: ChipId) -> LineId {
        LineId(2 * self.pools + chip.0)
    }

    /// Writes wait by chip.
    #[inline(always)]
    pub fn is_dynamic(&self) -> bool {
        self.dynamic
    }

    /// The chip's queue has a place for one more read or write.
    #[inline(always)]
    pub fn has_place(&self, chip: ChipId, kind: LineKind) -> bool {
        let capacity = self.capacity[kind as usize];
        capacity == 0 || self.accepted[chip.index()][kind as usize] < capacity
    }

    /// A transaction takes a place in the chip's queue.
    #[inline(always)]
    pub fn accept(&mut self, chip: ChipId, kind: LineKind) {
        self.accepted[chip.index()][kind as usize] += 1;
        self.load[chip.index()] += 1;
    }

    /// A transaction gives its place in the chip's queue back.
    #[inline(always)]
    pub fn release(&mut self, chip: ChipId, kind: LineKind) {
        self.accepted[chip.index()][kind as usize] -= 1;
    }

    /// Reads and writes that the chip has accepted and not begun.
    pub fn queued(&self, chip: ChipId) -> [u32; 2] {
        self.accepted[chip.index()]
    }

    /// A transaction accepted by the chip has completed.
    #[inline(always)]
    pub fn finished(&mut self, chip: ChipId) {
        self.load[chip.index()] -= 1;
    }

    /// Reads and writes accepted by the chip and not completed.
    #[inline(always)]
    pub fn load(&self, chip: ChipId) -> u32 {
        self.load[chip.index()]
    }

    /// Operations of high-priority writes that wait in a line of the pool.
    #[inline]
    pub fn high_priority_waiting(&self, pool: PoolId, kind: LineKind) -> u32 {
        self.high_priority[self.line(pool, kind).0 as usize]
    }

    /// A waiting operation becomes one of high priority.
    pub fn raise(&mut self, transactions: &mut Transactions, line: LineId, index: u32) {
        self.high_priority[line.0 as usize] += u32::from(!std::mem::replace(&mut transactions[index].high_priority, true));
    }

    /// Writes go before reads on this chip (fr-fcfs with a filled write queue).
    #[inline]
    pub fn writes_first(&self, chip: ChipId) -> bool {
        self.accepted[chip.index()][LineKind::Write as usize] > self.write_mark
    }

    /// Transactions wait for this die by name.
    #[inline(always)]
    pub fn any_waiting(&self, die: DieId, chip: ChipId) -> bool {
        self.waiting[die.index()] > 0 || self.dynamic && self.waiting_on_chip[chip.index()] > 0
    }

    /// Puts a transaction into a line of a die: in the place of its age, and before those that have slack for it.
    #[inline(always)]
    pub fn push(&mut self, transactions: &mut Transactions, die: DieId, line: LineId, kind: LineKind, index: u32) {
        self.insert(transactions, die, line, kind, index);
        self.waiting[die.index()] += 1;
    }

    /// Puts a write into the line of the chip that has this die.
    #[inline]
    pub fn push_on_chip(&mut self, transactions: &mut Transactions, chip: ChipId, die: DieId, index: u32) {
        self.insert(transactions, die, self.chip_line(chip), LineKind::Write, index);
        self.waiting_on_chip[chip.index()] += 1;
    }

    #[inline(always)]
    fn insert(&mut self, transactions: &mut Transactions, die: DieId, line: LineId, kind: LineKind, index: u32) {
        let before = match &mut self.slack {
            Some(slack) => slack.enter(transactions, die, kind, index),
            None => self.first_younger(transactions, line, kind, index),
        };
        match before {
            NONE => self.append(transactions, line, index),
            before => self.put_before(transactions, line, before, index),
        }
    }

    /// The first operation in a line that was admitted after one that enters it, or [`NONE`].
    #[inline(always)]
    fn first_younger(&self, transactions: &Transactions, line: LineId, kind: LineKind, index: u32) -> u32 {
        let tail = self.tail(line);
        if tail == NONE || transactions[tail].rank < transactions[index].rank {
            return NONE;
        }
        self.find_first_younger(transactions, line, kind, index)
    }

    /// The same where there is one. Who was last in the line at its admission mostly still is next to its place, or has gone with all
    /// before it, so that the place is near the front: hence neither a walk over all who came meanwhile, nor one over all who came before.
    #[cold]
    fn find_first_younger(&self, transactions: &Transactions, line: LineId, kind: LineKind, index: u32) -> u32 {
        let rank = transactions[index].rank;
        let older = |other: u32| transactions[other].rank < rank;
        let known = transactions[index].behind_in_line[kind as usize];
        // By now another operation may be at that index: any in this line that is older will do.
        if known != NONE && transactions[known].in_line && self.line_of(&transactions[known]) == line && older(known) {
            let mut next = transactions[known].next;
            while older(next) {
                next = transactions[next].next;
            }
            return next;
        }
        let (mut front, mut back) = (self.head(line), self.tail(line));
        loop {
            if !older(front) {
                return front;
            }
            front = transactions[front].next;
            let previous = transactions[back].previous;
            if older(previous) {
                return back;
            }
            back = previous;
        }
    }

    /// The line in which a waiting transaction stands.
    fn line_of(&self, transaction: &Transaction) -> LineId {
        match transaction.kind {
            TransactionKind::Write if self.dynamic => self.chip_line(ChipId(transaction.chip)),
            TransactionKind::Write => self.line(transaction.pool, LineKind::Write),
            _ => self.line(transaction.pool, LineKind::Read),
        }
    }

    fn put_before(&mut self, transactions: &mut Transactions, line: LineId, before: u32, index: u32) {
        self.high_priority[line.0 as usize] += u32::from(transactions[index].high_priority);
        let previous = std::mem::replace(&mut transactions[before].previous, index);
        let transaction = &mut transactions[index];
        transaction.in_line = true;
        (transaction.previous, transaction.next) = (previous, before);
        match previous {
            NONE => self.lines[line.0 as usize].head = index,
            previous => transactions[previous].next = index,
        }
    }

    #[inline(always)]
    fn append(&mut self, transactions: &mut Transactions, line: LineId, index: u32) {
        self.high_priority[line.0 as usize] += u32::from(transactions[index].high_priority);
        let line = &mut self.lines[line.0 as usize];
        transactions[index].next = NONE;
        transactions[index].in_line = true;
        transactions[index].previous = line.tail;
        if line.tail == NONE {
            line.head = index;
        } else {
            transactions[line.tail].next = index;
        }
        line.tail = index;
    }

    /// Takes a transaction out of a line of a die.
    #[inline(always)]
    pub fn remove(&mut self, transactions: &mut Transactions, die: DieId, line: LineId, index: u32) {
        self.unlink(transactions, line, index);
        self.waiting[die.index()] -= 1;
    }

    /// Takes a write out of its chip's line.
    #[inline]
    pub fn remove_on_chip(&mut self, transactions: &mut Transactions, chip: ChipId, index: u32) {
        self.unlink(transactions, self.chip_line(chip), index);
        self.waiting_on_chip[chip.index()] -= 1;
    }

    #[inline(always)]
    fn unlink(&mut self, transactions: &mut Transactions, line: LineId, index: u32) {
        if let Some(slack) = &mut self.slack {
            slack.leave(transactions, index);
        }
        let (previous, next) = (transactions[index].previous, transactions[index].next);
        transactions[index].in_line = false;
        self.high_priority[line.0 as usize] -= u32::from(transactions[index].high_priority);
        let line = &mut self.lines[line.0 as usize];
        if previous == NONE {
            line.head = next;
        } else {
            transactions[previous].next = next;
        }
        if next == NONE {
            line.tail = previous;
        } else {
            transactions[next].previous = previous;
        }
    }

    /// The transaction at the front of a line, or [`NONE`].
    #[inline(always)]
    pub fn head(&self, line: LineId) -> u32 {
        self.lines[line.0 as usize].head
    }

    /// The transaction at the end of a line, or [`NONE`].
    #[inline(always)]
    pub fn tail(&self, line: LineId) -> u32 {
        self.lines[line.0 as usize].tail
    }

    /// True if candidate `a` goes before candidate `b` on this chip.
    #[inline(always)]
    pub fn goes_before(&self, a: (LineKind, u64), b: (LineKind, u64), chip: ChipId) -> bool {
        if self.order == Order::FrFcfs && a.0 != b.0 {
            return (a.0 == LineKind::Read) != self.writes_first(chip);
        }
        a.1 < b.1
    }

    /// Recounts the lines: each is in the order of ranks.
    ///
    /// # Errors
    /// The first contradiction found.
    pub fn check(&self, transactions: &Transactions) -> Result<(), String> {
        for (number, line) in self.lines.iter().enumerate() {
            let (mut previous, mut index) = (NONE, line.head);
            while index != NONE {
                if previous != NONE && transactions[previous].rank >= transactions[index].rank {
                    return Err(format!("operation {index} stands behind {previous} in line {number}, but ranks before it"));
                }
                (previous, index) = (index, transactions[index].next);
            }
        }
        Ok(())
    }

    /// Transactions waiting in all lines, for the watchdog's report.
    pub fn describe(&self) -> String {
        let waiting: u32 = self.waiting.iter().chain(&self.waiting_on_chip).sum();
        format!("{waiting} page operations wait in chip queues")
    }
}
