//! The order in which host transactions (a request's parts of one page each) wait for the flash.
//!
//! Each pool has a queue of reads and a queue of writes, in the order of admission or of slack; with dynamic allocation, writes wait by
//! chip. A die chooses among the heads of its queues. An operation that waits for older ones on its page, and the program of a partial
//! write, enter their queue later, at the place of their age.
//!
//! | file | question |
//! |---|---|
//! | `mod` | which operations wait for a die, and is there a place in a chip's queue for one more? |
//! | `queues` | in which order do they wait? |
//! | `order` | what does a user-defined order see, and answer? |
//! | `fair` | which operation goes first so that flows are slowed down evenly (FLIN)? |
//! | `transaction` | what is known of a page operation? |
//! | `page_order` | which operations on one logical page wait for each other? |
//! | `placement` | which chip and pool take a write under dynamic allocation? |
//! | `slack`, `estimate`, `feedback` | how much later may an operation end, and which others may bypass it (elyasi2017)? |

mod estimate;
pub mod fair;
mod feedback;
mod order;
pub mod page_order;
mod placement;
mod queues;
mod slack;
mod transaction;

pub use crate::views::QueueKind;
pub use estimate::{Ahead, Before};
pub use order::{Cause, Choices, CustomOrder, Failure, JobState, Operation, OperationKind, OrderPolicy, Situation};
pub use placement::{PLACEMENT_BURSTS, Placement};
pub use queues::QueueId;
pub use slack::Slack;
pub use transaction::{Change, ClockNote, SCATTERED, TRIMMED, Transaction, TransactionKind, Transactions, linked};

use queues::Queues;

use crate::flash::Timing;
use crate::ftl::Ftl;
use ssdlab_base::units::{ChipId, DieId, PoolId, TxnId};
use ssdlab_keys::config::{Config, Order};
use ssdlab_keys::geometry::Divisor;
use ssdlab_keys::memory::Exhausted;

/// All waiting host transactions of one drive.
#[derive(Clone, Debug)]
pub struct Scheduler {
    order: Order,
    queues: Queues,
    /// Number of transactions that wait on each die, and (dynamic allocation) station, so that empty queues need no search.
    waiting: Vec<u32>,
    waiting_on_station: Vec<u32>,
    dies_per_station: Divisor,
    /// By chip: reads and writes accepted and not begun (`accepted`); of any chip: the most of each (`capacity`; 0: no limit).
    accepted: Vec<[u32; 2]>,
    capacity: [u32; 2],
    /// With a bounded write queue: if more writes than this are accepted, writes go before reads (fr-fcfs).
    write_mark: u32,
    /// By chip: transactions accepted and not completed.
    load: Vec<u32>,
    /// Places writes under dynamic allocation; else `None`.
    placement: Option<Box<Placement>>,
    /// Slack of operations, and the order by it; `None` if no option needs it.
    slack: Option<Box<Slack>>,
}

impl Scheduler {
    /// A scheduler with empty queues.
    pub fn new(config: &Config, ftl: &Ftl, timing: &Timing) -> Self {
        let (scheduler, geometry) = (&config.scheduler, ftl.geometry());
        let dynamic = config.ftl.allocation == ssdlab_keys::config::Allocation::Dynamic;
        let write_mark = match scheduler.write_queue {
            0 => u32::MAX,
            bounded => (f64::from(bounded) * scheduler.alpha) as u32,
        };
        Scheduler {
            order: scheduler.order,
            queues: Queues::new(geometry, dynamic),
            waiting: vec![0; geometry.dies as usize],
            waiting_on_station: vec![0; geometry.stations() as usize],
            dies_per_station: geometry.dies_per_station,
            accepted: vec![[0; 2]; geometry.chips as usize],
            capacity: [scheduler.read_queue, scheduler.write_queue],
            write_mark,
            load: vec![0; geometry.chips as usize],
            placement: dynamic.then(|| Box::new(Placement::new(ftl, config.ftl.dynamic_ties))),
            slack: Slack::new(config, geometry, timing),
        }
    }

    /// The queue of a pool's reads or writes.
    #[inline(always)]
    pub fn queue(&self, pool: PoolId, kind: QueueKind) -> QueueId {
        self.queues.of_pool(pool, kind)
    }

    /// With dynamic allocation: the queue of a station's writes.
    #[inline(always)]
    pub fn station_queue(&self, station: u32) -> QueueId {
        self.queues.of_station(station)
    }

    /// With dynamic allocation: the queue from which a die takes writes, that of its station.
    #[inline(always)]
    pub fn writes_for(&self, die: DieId) -> QueueId {
        self.station_queue(self.dies_per_station.quotient(die.0))
    }

    /// Dynamic allocation: writes wait by station, since their address does not say where they go.
    #[inline(always)]
    pub fn is_dynamic(&self) -> bool {
        self.placement.is_some()
    }

    /// The placement of writes under dynamic allocation; else `None`.
    #[inline(always)]
    pub fn placement(&self) -> Option<&Placement> {
        self.placement.as_deref()
    }

    /// Mutable access to the placement of writes under dynamic allocation; else `None`.
    #[inline(always)]
    pub fn placement_mut(&mut self) -> Option<&mut Placement> {
        self.placement.as_deref_mut()
    }

    /// The slack of operations; `None` if no option needs it.
    #[inline(always)]
    pub fn slack(&self) -> Option<&Slack> {
        self.slack.as_deref()
    }

    /// Mutable access to the slack of operations; `None` if no option needs it.
    #[inline(always)]
    pub fn slack_mut(&mut self) -> Option<&mut Slack> {
        self.slack.as_deref_mut()
    }

    /// Reserves memory for this many outstanding operations and requests.
    ///
    /// # Errors
    /// [`Exhausted`] if there is not enough memory.
    pub fn make_room(&mut self, operations: usize, requests: usize) -> Result<(), Exhausted> {
        self.slack.as_mut().map_or(Ok(()), |slack| slack.make_room(operations, requests))
    }

    /// The chip's queue has a place for one more read or write.
    #[inline(always)]
    pub fn has_place(&self, chip: ChipId, kind: QueueKind) -> bool {
        let capacity = self.capacity[kind as usize];
        capacity == 0 || self.accepted[chip.index()][kind as usize] < capacity
    }

    /// A transaction takes a place in the chip's queue.
    #[inline(always)]
    pub fn accept(&mut self, chip: ChipId, kind: QueueKind) {
        self.accepted[chip.index()][kind as usize] += 1;
        self.change_load(chip, 1);
    }

    /// A transaction that had given its place in the chip's queue back takes one again, even if all are taken: its program has failed.
    pub fn take_place_again(&mut self, chip: ChipId, kind: QueueKind) {
        self.accepted[chip.index()][kind as usize] += 1;
    }

    /// A transaction gives its place in the chip's queue back.
    #[inline(always)]
    pub fn release(&mut self, chip: ChipId, kind: QueueKind) {
        self.accepted[chip.index()][kind as usize] -= 1;
    }

    /// Numbers of reads and writes that the chip has accepted and not begun.
    pub fn queued(&self, chip: ChipId) -> [u32; 2] {
        self.accepted[chip.index()]
    }

    /// A transaction accepted by the chip has completed.
    #[inline(always)]
    pub fn finished(&mut self, chip: ChipId) {
        self.change_load(chip, -1);
    }

    #[inline(always)]
    fn change_load(&mut self, chip: ChipId, by: i32) {
        let load = &mut self.load[chip.index()];
        *load = load.checked_add_signed(by).expect("what is finished was accepted");
        if let Some(placement) = &mut self.placement {
            placement.set_load(chip, *load);
        }
    }

    /// Number of operations of high-priority writes that wait in a queue of the pool.
    #[inline]
    pub fn high_priority_waiting(&self, pool: PoolId, kind: QueueKind) -> u32 {
        self.queues.high_priority(self.queue(pool, kind))
    }

    /// The first operation of a high-priority write that waits in a queue of the pool.
    pub fn first_high_priority(&self, transactions: &Transactions, pool: PoolId, kind: QueueKind) -> Option<TxnId> {
        linked(transactions, self.head(self.queue(pool, kind))).find(|&id| transactions[id].high_priority)
    }

    /// Marks a waiting operation as one of a high-priority write.
    pub fn raise(&mut self, transactions: &mut Transactions, id: TxnId) {
        self.queues.raise(transactions, id);
    }

    /// Writes go before reads on this chip (fr-fcfs with a filled write queue).
    #[inline]
    fn writes_first(&self, chip: ChipId) -> bool {
        self.accepted[chip.index()][QueueKind::Write as usize] > self.write_mark
    }

    /// Transactions wait for this die, or for its station.
    #[inline(always)]
    pub fn any_waiting(&self, die: DieId) -> bool {
        let on_station = || self.waiting_on_station[self.dies_per_station.quotient(die.0) as usize];
        self.waiting[die.index()] > 0 || self.is_dynamic() && on_station() > 0
    }

    /// Number of transactions that wait for this die, without writes that wait by station.
    pub fn waiting_on(&self, die: DieId) -> u32 {
        self.waiting[die.index()]
    }

    /// Puts a transaction into its queue, at the place of its age and before those that have slack for it. `die`: the die that it waits
    /// for; for a write that waits by station, the first die of that.
    #[inline(always)]
    pub fn push(&mut self, transactions: &mut Transactions, die: DieId, id: TxnId) {
        let queue = self.queues.of(&transactions[id]);
        let before = match &mut self.slack {
            Some(slack) => slack.enter(transactions, die, transactions[id].kind.queue(), id),
            None => self.queues.first_younger(transactions, queue, id),
        };
        self.queues.insert(transactions, queue, before, id);
        *self.waiting_with(&transactions[id], die) += 1;
    }

    /// Takes a transaction out of its queue.
    #[inline(always)]
    pub fn remove(&mut self, transactions: &mut Transactions, die: DieId, id: TxnId) {
        if let Some(slack) = &mut self.slack {
            slack.leave(transactions, id);
        }
        self.queues.remove(transactions, id);
        *self.waiting_with(&transactions[id], die) -= 1;
    }

    #[inline(always)]
    fn waiting_with(&mut self, transaction: &Transaction, die: DieId) -> &mut u32 {
        if self.placement.is_some() && transaction.kind == TransactionKind::Write {
            &mut self.waiting_on_station[transaction.station as usize]
        } else {
            &mut self.waiting[die.index()]
        }
    }

    /// The transaction at the front of a queue.
    #[inline(always)]
    pub fn head(&self, queue: QueueId) -> Option<TxnId> {
        self.queues.head(queue)
    }

    /// The transaction at the end of a queue.
    #[inline(always)]
    pub fn tail(&self, queue: QueueId) -> Option<TxnId> {
        self.queues.tail(queue)
    }

    /// Candidate `a` (its kind and rank) goes before candidate `b` on this chip.
    #[inline(always)]
    pub fn goes_before(&self, a: (QueueKind, u64), b: (QueueKind, u64), chip: ChipId) -> bool {
        if self.order == Order::FrFcfs && a.0 != b.0 {
            return (a.0 == QueueKind::Read) != self.writes_first(chip);
        }
        a.1 < b.1
    }

    /// Number of operations passed in searches for places in queues: a measure of work.
    pub fn passed_in_queues(&self) -> u64 {
        self.queues.passed()
    }

    /// Checks that queues are in the order of ranks, and recounts the pages that chips hold.
    ///
    /// # Errors
    /// The first contradiction found.
    pub fn check(&self, ftl: &Ftl, transactions: &Transactions) -> Result<(), String> {
        self.queues.check(transactions)?;
        self.placement.as_ref().map_or(Ok(()), |placement| placement.check(ftl))
    }

    /// Transactions waiting in all queues, for the watchdog's report.
    pub fn describe(&self) -> String {
        let waiting: u32 = self.waiting.iter().chain(&self.waiting_on_station).sum();
        format!("{waiting} page operations wait in chip queues")
    }
}
