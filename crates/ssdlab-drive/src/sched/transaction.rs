//! Page transactions (elyasi2017: sub-requests). They are in a slab, and named by [`TxnId`].

use super::page_order::OnPage;
use crate::ftl::Class;
use crate::slab::Slab;
use crate::views::{QueueKind, Ready};
use ssdlab_base::blocked::{Blocked, DriveTimes, Served};
use ssdlab_base::units::{ChipId, Lpn, Ns, PoolId, Ppn, ReqId, TxnId};

/// A change to a page that younger operations on it have to expect: the bytes written, first and one past the last, or [`TRIMMED`] or
/// [`SCATTERED`].
pub type Change = (u32, u32);

/// The change by a trim: no bytes of the page are left written.
pub const TRIMMED: Change = (0, 0);

/// The change by a write of sectors that do not follow each other: some bytes, but none from which a read can be answered.
pub const SCATTERED: Change = (1, 1);

/// The kinds of transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionKind {
    /// Reads a page.
    Read,
    /// Writes a page.
    Write,
    /// Reads the page of a partial write, after which it becomes a [`TransactionKind::Write`].
    ReadForWrite,
    /// Unmaps a page that had operations in service or waiting when the trim arrived.
    Trim,
}

impl TransactionKind {
    /// The kind of queue in which it waits.
    #[inline(always)]
    pub fn queue(self) -> QueueKind {
        if self == TransactionKind::Write { QueueKind::Write } else { QueueKind::Read }
    }
}

/// The wait clocks of a transaction's domain (die, plane or chip) when it began to wait.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClockNote {
    /// The number of the domain.
    pub domain: u32,
    /// Readings of the domain's clocks, by reason, ns.
    pub shown: [Ns; Blocked::OF_DIES],
}

/// A page transaction: the part of a request in one page.
#[derive(Clone, Copy, Debug)]
pub struct Transaction {
    /// The kind of the transaction.
    pub kind: TransactionKind,
    /// The transaction is in a queue or in service; else it waits for older operations on its page.
    pub active: bool,
    /// The transaction is in a queue.
    pub queued: bool,
    /// The transaction is a landmark of its queue, at which a search may begin.
    pub is_landmark: bool,
    /// The transaction is a mapping unit in the same flash page as the one ahead of it in its operation.
    pub same_page: bool,
    /// The read of the page has too many errors: its data are lost.
    pub uncorrectable: bool,
    /// The request is a high-priority write (lee2013 III-D), or such a write waits for this transaction on the same page.
    pub high_priority: bool,
    /// Of a write: which of the host's streams its page goes to (`ftl.placement`).
    pub class: Class,
    /// The logical page.
    pub lpn: Lpn,
    /// The request that the transaction is part of.
    pub request: ReqId,
    /// The pool in whose queue it waits.
    pub pool: PoolId,
    /// The chip in whose queue the transaction takes a place.
    pub chip: ChipId,
    /// Of a write under dynamic allocation: the station from whose queue a die takes it.
    pub station: u32,
    /// First byte and one past the last within the page.
    pub bytes: Change,
    /// The physical page read or programmed.
    pub ppn: Ppn,
    /// When the transaction was admitted to its chip's queue, and the serial number of that moment: its age, compared with host operations
    /// and GC.
    pub ready: Ready,
    /// Rank in the queue: the serial number of the admission, or, where slack gives the order, of the entry, exchanged in bypasses.
    pub rank: u64,
    /// By kind of queue: the operation that was last when this one was admitted. If it enters late, after older operations on its page or
    /// after its read, the search for its place begins there. By then another operation may have that name.
    pub behind_in_queue: [Option<TxnId>; 2],
    /// Time up to which `times` accounts for the transaction, ns.
    pub mark: Ns,
    /// Time of the transaction so far, by reason of waiting and by service.
    pub times: DriveTimes,
    /// The wait clocks when the transaction began to wait.
    pub noted: ClockNote,
    /// Next in the queue; afterwards the next page of a multi-plane operation, or the next read that has merged with a page move.
    pub next: Option<TxnId>,
    /// Previous in the queue.
    pub previous: Option<TxnId>,
    /// The place in the chain of operations on the page.
    pub on_page: OnPage,
    /// Data version for verify mode.
    pub version: u32,
}

impl Transaction {
    /// A transaction of a request that has just been admitted, in no queue yet. `times` accounts for it up to `arrival`, ns.
    pub fn new(kind: TransactionKind, request: ReqId, lpn: Lpn, bytes: Change, chip: ChipId, arrival: Ns) -> Self {
        Transaction {
            kind,
            active: false,
            queued: false,
            is_landmark: false,
            same_page: false,
            uncorrectable: false,
            high_priority: false,
            class: 0,
            lpn,
            request,
            pool: PoolId(0),
            chip,
            station: 0,
            bytes,
            ppn: Ppn(0),
            ready: (0, 0),
            rank: 0,
            behind_in_queue: [None; 2],
            mark: arrival,
            times: DriveTimes::default(),
            noted: ClockNote::default(),
            next: None,
            previous: None,
            on_page: OnPage::default(),
            version: 0,
        }
    }

    /// The change to its page that younger operations have to expect from this one, or, if it is a waiting read, from older ones.
    #[inline]
    pub fn changes(&self) -> Option<Change> {
        match self.kind {
            TransactionKind::Write | TransactionKind::ReadForWrite => Some(self.bytes),
            TransactionKind::Trim => Some(TRIMMED),
            // A read waits only while something older changes the page.
            TransactionKind::Read if self.active => None,
            TransactionKind::Read => self.on_page.behind(),
        }
    }

    /// Accounts for the time since the mark as waiting for this reason.
    #[inline(always)]
    pub fn waited(&mut self, reason: Blocked, now: Ns) {
        self.times.wait(reason, now - self.mark);
        self.mark = now;
    }

    /// Accounts for the time since the mark as this service.
    #[inline(always)]
    pub fn served(&mut self, by: Served, now: Ns) {
        self.times.serve(by, now - self.mark);
        self.mark = now;
    }
}

/// The slab of transactions.
pub type Transactions = Slab<TxnId, Transaction>;

/// The transactions linked by `next`, from `first` on: the pages of one operation, or the rest of a queue.
pub fn linked(transactions: &Transactions, first: Option<TxnId>) -> impl Iterator<Item = TxnId> {
    std::iter::successors(first, |&id| transactions[id].next)
}
