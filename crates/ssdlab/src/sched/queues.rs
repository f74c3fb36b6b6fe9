//! The queues in which page operations wait for a die, each in the order of ranks. The links are in the transactions.

use super::transaction::{Transaction, TransactionKind, Transactions, linked};
use crate::units::{ChipId, PoolId, TxnId};
use crate::views::QueueKind;

/// A queue: of a pool's reads, of its writes, or (dynamic allocation) of a chip's writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueId(u32);

impl QueueId {
    #[inline(always)]
    fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    head: Option<TxnId>,
    tail: Option<TxnId>,
    /// Operations of high priority in it.
    high_priority: u32,
}

/// All queues of a drive: two for each pool, behind them one for each chip.
#[derive(Clone, Debug)]
pub(super) struct Queues {
    queues: Vec<Queue>,
    pools: u32,
    /// Writes wait by chip.
    dynamic: bool,
}

impl Queues {
    pub(super) fn new(pools: u32, chips: u32, dynamic: bool) -> Self {
        Queues { queues: vec![Queue::default(); (2 * pools + chips) as usize], pools, dynamic }
    }

    #[inline(always)]
    pub(super) fn of_pool(&self, pool: PoolId, kind: QueueKind) -> QueueId {
        QueueId(2 * pool.0 + kind as u32)
    }

    #[inline(always)]
    pub(super) fn of_chip(&self, chip: ChipId) -> QueueId {
        QueueId(2 * self.pools + chip.0)
    }

    /// The queue of a transaction.
    #[inline(always)]
    pub(super) fn of(&self, transaction: &Transaction) -> QueueId {
        match transaction.kind {
            TransactionKind::Write if self.dynamic => self.of_chip(transaction.chip),
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

    /// The first operation in a queue that was admitted after one that enters it.
    #[inline(always)]
    pub(super) fn first_younger(&self, transactions: &Transactions, queue: QueueId, id: TxnId) -> Option<TxnId> {
        let tail = self.tail(queue)?;
        if transactions[tail].rank < transactions[id].rank { None } else { Some(self.find_first_younger(transactions, queue, id)) }
    }

    /// The same where there is one. Who was last in the queue at its admission mostly still is next to its place, or has gone with all
    /// before it, so that the place is near the front: hence neither a walk over all who came meanwhile, nor one over all who came before.
    #[cold]
    fn find_first_younger(&self, transactions: &Transactions, queue: QueueId, id: TxnId) -> TxnId {
        let Transaction { rank, kind, behind_in_queue, .. } = transactions[id];
        let older = |other: TxnId| transactions[other].rank < rank;
        // By now another operation may have that name: any in this queue that is older will do.
        let known = behind_in_queue[kind.queue() as usize].filter(|&known| {
            transactions.contains(known) && transactions[known].queued && self.of(&transactions[known]) == queue && older(known)
        });
        if let Some(known) = known {
            return linked(transactions, Some(known)).find(|&next| !older(next)).expect("the last is younger");
        }
        let (mut front, mut back) = (self.head(queue).expect("it has a tail"), self.tail(queue).expect("as before"));
        loop {
            if !older(front) {
                return front;
            }
            front = transactions[front].next.expect("the last is younger");
            let previous = transactions[back].previous.expect("the first is older");
            if older(previous) {
                return back;
            }
            back = previous;
        }
    }

    /// Puts a transaction into a queue before another of it, or at its end.
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
        match previous {
            None => queue.head = next,
            Some(previous) => transactions[previous].next = next,
        }
        match next {
            None => queue.tail = previous,
            Some(next) => transactions[next].previous = previous,
        }
    }

    /// Recounts the queues: each is in the order of ranks.
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
        }
        Ok(())
    }
}
