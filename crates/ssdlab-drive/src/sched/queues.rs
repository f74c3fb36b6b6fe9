//! The queues in which page operations wait for a die, each in the order of ranks. The links are in the transactions.
//!
//! An operation that enters late, having waited for older ones on its page, enters in the middle. In an overload most do, and queues are
//! long. So a search leaves landmarks in the queue, at most [`STRIDE`] operations apart, from which later searches begin.

use std::collections::BTreeMap;

use super::transaction::{Transaction, TransactionKind, Transactions, linked};
use crate::views::QueueKind;
use ssdlab_base::units::{PoolId, TxnId};
use ssdlab_keys::geometry::Geometry;

/// Operations from one landmark to the next, at most; also the most that a search nearby passes.
const STRIDE: u32 = 32;

/// A queue: of a pool's reads, of its writes, or (dynamic allocation) of a station's writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueId(u32);

impl QueueId {
    #[inline(always)]
    fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Debug, Default)]
struct Queue {
    head: Option<TxnId>,
    tail: Option<TxnId>,
    /// Number of operations of high-priority writes in the queue.
    high_priority: u32,
    /// Some operations of the queue, by rank, at which searches may begin.
    landmarks: BTreeMap<u64, TxnId>,
}

/// All queues of a drive: two for each pool, behind them one for each station.
#[derive(Clone, Debug)]
pub(super) struct Queues {
    queues: Vec<Queue>,
    pools: u32,
    /// Dynamic allocation: writes wait by station.
    dynamic: bool,
    /// Number of operations that searches have passed so far.
    passed: u64,
}

impl Queues {
    pub(super) fn new(geometry: &Geometry, dynamic: bool) -> Self {
        let pools = geometry.pools.count.get();
        Queues { queues: vec![Queue::default(); (2 * pools + geometry.stations()) as usize], pools, dynamic, passed: 0 }
    }

    #[inline(always)]
    pub(super) fn of_pool(&self, pool: PoolId, kind: QueueKind) -> QueueId {
        QueueId(2 * pool.0 + kind as u32)
    }

    #[inline(always)]
    pub(super) fn of_station(&self, station: u32) -> QueueId {
        QueueId(2 * self.pools + station)
    }

    /// The queue of a transaction.
    #[inline(always)]
    pub(super) fn of(&self, transaction: &Transaction) -> QueueId {
        match transaction.kind {
            TransactionKind::Write if self.dynamic => self.of_station(transaction.station),
            kind => self.of_pool(transaction.pool, kind.queue()),
        }
    }

    #[inline(always)]
    pub(super) fn head(&self, queue: QueueId) -> Option<TxnId> {
        self.queues[queue.index()].head
    }

    #[inline(always)]
    pub(super) fn tail(&self, queue: QueueId) -> Option<TxnId> {
        self.queues[queue.index()].tail
    }

    #[inline]
    pub(super) fn high_priority(&self, queue: QueueId) -> u32 {
        self.queues[queue.index()].high_priority
    }

    pub(super) fn raise(&mut self, transactions: &mut Transactions, id: TxnId) {
        let queue = self.of(&transactions[id]);
        let was = std::mem::replace(&mut transactions[id].high_priority, true);
        self.queues[queue.index()].high_priority += u32::from(!was);
    }

    /// Number of operations passed in searches for places in queues: a measure of work.
    pub(super) fn passed(&self) -> u64 {
        self.passed
    }

    /// The first operation in a queue that is younger than `id`, which enters it: `id` goes before it, or, if `None`, at the end.
    #[inline(always)]
    pub(super) fn first_younger(&mut self, transactions: &mut Transactions, queue: QueueId, id: TxnId) -> Option<TxnId> {
        let tail = self.tail(queue)?;
        if transactions[tail].rank < transactions[id].rank { None } else { Some(self.find_first_younger(transactions, queue, id)) }
    }

    /// The first operation in a queue that is younger than `id`, which enters it. There must be one.
    #[cold]
    fn find_first_younger(&mut self, transactions: &mut Transactions, queue: QueueId, id: TxnId) -> TxnId {
        if let Some(found) = self.find_nearby(transactions, queue, id) {
            return found;
        }
        let rank = transactions[id].rank;
        let Queue { head, landmarks, .. } = &mut self.queues[queue.index()];
        let landmark = landmarks.range(..rank).next_back().map(|(_, &landmark)| landmark);
        let mut next = landmark.or(*head).expect("a queue with a tail has a head");
        let mut steps = 0_u32;
        while transactions[next].rank < rank {
            steps += 1;
            if steps.is_multiple_of(STRIDE) {
                transactions[next].is_landmark = true;
                landmarks.insert(transactions[next].rank, next);
            }
            next = transactions[next].next.expect("the last is younger");
        }
        self.passed += u64::from(steps);
        next
    }

    /// The first younger operation, if it is near the operation that was last in the queue when `id` was admitted, or near the front or the
    /// end. The operation that was last is often still next to the place, or has left with all before it.
    fn find_nearby(&mut self, transactions: &Transactions, queue: QueueId, id: TxnId) -> Option<TxnId> {
        let Transaction { rank, kind, behind_in_queue, .. } = transactions[id];
        let older = |other: TxnId| transactions[other].rank < rank;
        // By now another operation may have this name: any older one in this queue will do.
        let known = behind_in_queue[kind.queue() as usize].filter(|&known| {
            transactions.contains(known) && transactions[known].queued && self.of(&transactions[known]) == queue && older(known)
        });
        if let Some(known) = known {
            self.passed += u64::from(STRIDE / 2);
            return linked(transactions, Some(known)).take(STRIDE as usize).find(|&next| !older(next));
        }
        let (mut front, mut back) = (self.head(queue).expect("it has a tail"), self.tail(queue).expect("as before"));
        for _ in 0..STRIDE {
            self.passed += 1;
            if !older(front) {
                return Some(front);
            }
            front = transactions[front].next.expect("the last is younger");
            let previous = transactions[back].previous.expect("the first is older");
            if older(previous) {
                return Some(back);
            }
            back = previous;
        }
        None
    }

    /// Puts a transaction into a queue, before `before` or at the end.
    #[inline(always)]
    pub(super) fn insert(&mut self, transactions: &mut Transactions, queue: QueueId, before: Option<TxnId>, id: TxnId) {
        let queue = &mut self.queues[queue.index()];
        queue.high_priority += u32::from(transactions[id].high_priority);
        let previous = match before {
            None => queue.tail.replace(id),
            Some(before) => transactions[before].previous.replace(id),
        };
        match previous {
            None => queue.head = Some(id),
            Some(previous) => transactions[previous].next = Some(id),
        }
        let transaction = &mut transactions[id];
        transaction.queued = true;
        (transaction.previous, transaction.next) = (previous, before);
    }

    /// Takes a transaction out of its queue.
    #[inline(always)]
    pub(super) fn remove(&mut self, transactions: &mut Transactions, id: TxnId) {
        let number = self.of(&transactions[id]);
        let queue = &mut self.queues[number.index()];
        let transaction = &mut transactions[id];
        let (previous, next) = (transaction.previous, transaction.next);
        transaction.queued = false;
        queue.high_priority -= u32::from(transaction.high_priority);
        if std::mem::take(&mut transaction.is_landmark) {
            queue.landmarks.remove(&transaction.rank);
        }
        match previous {
            None => queue.head = next,
            Some(previous) => transactions[previous].next = next,
        }
        match next {
            None => queue.tail = previous,
            Some(next) => transactions[next].previous = previous,
        }
    }

    /// Checks that each queue is in the order of ranks, and that landmarks have the ranks by which they are listed.
    ///
    /// # Errors
    /// The first contradiction found.
    pub(super) fn check(&self, transactions: &Transactions) -> Result<(), String> {
        for (number, queue) in self.queues.iter().enumerate() {
            let mut previous: Option<TxnId> = None;
            for id in linked(transactions, queue.head) {
                if let Some(previous) = previous.filter(|&previous| transactions[previous].rank >= transactions[id].rank) {
                    return Err(format!("operation {id} stands behind {previous} in queue {number}, but ranks before it"));
                }
                previous = Some(id);
            }
            let lost = queue.landmarks.iter().find(|&(&rank, &id)| !transactions.contains(id) || transactions[id].rank != rank);
            if let Some((rank, id)) = lost {
                return Err(format!("queue {number} has a landmark of rank {rank}, which operation {id} is not"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_base::rng::Rng;
    use ssdlab_base::units::{ChipId, Lpn, ReqId, SlabId};
    use ssdlab_keys::config::Config;

    const POOL: PoolId = PoolId(0);

    fn write(rank: u64) -> Transaction {
        let write = Transaction::new(TransactionKind::Write, ReqId::new(0), Lpn(0), (0, 4096), ChipId(0), 0);
        Transaction { rank, ..write }
    }

    fn enter(queues: &mut Queues, transactions: &mut Transactions, rank: u64) {
        let id = transactions.insert(write(rank));
        let queue = queues.of_pool(POOL, QueueKind::Write);
        let before = queues.first_younger(transactions, queue, id);
        queues.insert(transactions, queue, before, id);
    }

    /// `count` operations come in order, then as many come late; for each of these one leaves from the front. Returns the mean number of
    /// operations passed for a late one.
    fn passed_by_late_ones(count: u64) -> f64 {
        let geometry = Geometry::new(&Config::default());
        let (mut queues, mut transactions, mut rng) = (Queues::new(&geometry, false), Transactions::default(), Rng::new(count, "late"));
        (0..count).for_each(|number| enter(&mut queues, &mut transactions, number * count));
        for number in 0..count - 1 {
            let first = queues.head(queues.of_pool(POOL, QueueKind::Write)).expect("it is long");
            queues.remove(&mut transactions, first);
            transactions.remove(first);
            // Between two operations that came in order.
            let after = number + 1 + rng.below(count - 1 - number);
            enter(&mut queues, &mut transactions, after * count + 1 + number % (count - 1));
            if number % (count / 4) == 0 {
                queues.check(&transactions).expect("the order of ranks");
            }
        }
        queues.passed() as f64 / count as f64
    }

    #[test]
    fn a_late_operation_passes_no_more_in_a_long_queue_than_in_a_short_one() {
        let (short, long) = (passed_by_late_ones(2_500), passed_by_late_ones(40_000));
        assert!(long < 1.2 * short && long < 3.0 * f64::from(STRIDE), "{short} and {long} operations");
    }
}
