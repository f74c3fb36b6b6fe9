//! Page transactions: what elyasi2017 calls sub-requests. They live in a slab and are named by [`TxnId`].

use super::page_order::OnPage;
use crate::blocked::{Blocked, DriveTimes, Served};
use crate::slab::Slab;
use crate::units::{ChipId, Lpn, Ns, PoolId, Ppn, ReqId, TxnId};
use crate::views::{QueueKind, Ready};

/// The change to its page that whoever comes after an operation finds still to be made: the bytes written, first and one past the last, or
/// [`TRIMMED`] or [`SCATTERED`].
pub type Change = (u32, u32);

/// The bytes that a trim leaves written in a page.
pub const TRIMMED: Change = (0, 0);

/// The bytes of a write of sectors that do not follow each other: some, but none that a read could be answered with.
pub const SCATTERED: Change = (1, 1);

/// What a transaction does.
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

/// What the wait clocks showed when a transaction began to wait, and which of them it reads.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClockNote {
    /// The domain whose clocks they are.
    pub domain: u32,
    /// Their readings, by reason, ns.
    pub shown: [Ns; Blocked::OF_DIES],
}

/// A request's part of one page.
#[derive(Clone, Copy, Debug)]
pub struct Transaction {
    /// What it does.
    pub kind: TransactionKind,
    /// It waits in a queue or is in service; if not, it waits for older operations on its page.
    pub active: bool,
    /// It stands in a queue.
    pub queued: bool,
    /// A search in its queue may begin at it.
    pub is_landmark: bool,
    /// It is a mapping unit that shares the flash page of the one ahead of it in its operation.
    pub same_page: bool,
    /// Its request is a high-priority write (lee2013 III-D).
    pub high_priority: bool,
    /// Its logical page.
    pub lpn: Lpn,
    /// Its request.
    pub request: ReqId,
    /// The pool in whose queue it waits.
    pub pool: PoolId,
    /// The chip whose queue it takes a place in.
    pub chip: ChipId,
    /// First byte and one past the last within the page.
    pub bytes: Change,
    /// The physical page read or programmed.
    pub ppn: Ppn,
    /// When it was admitted to its chip's queue, and the serial number of that moment: its age among host operations, and beside GC's.
    pub ready: Ready,
    /// Its place in the order of its station: that serial number, or, where slack gives the order, one it has changed with those it bypassed.
    pub rank: u64,
    /// By kind of queue: the operation that was last in its queue when it was admitted. One that enters a queue later, after older operations
    /// on its page or after its read, looks for its place from there. By then another operation may have that name.
    pub behind_in_queue: [Option<TxnId>; 2],
    /// Up to when its time is accounted for.
    pub mark: Ns,
    /// Where its time went.
    pub times: DriveTimes,
    /// The wait clocks when it began to wait.
    pub noted: ClockNote,
    /// Links of its queue; afterwards `next` links the pages of one multi-plane operation, or the reads that merged with a page move.
    pub next: Option<TxnId>,
    /// See `next`.
    pub previous: Option<TxnId>,
    /// Its place in the order of operations on its page.
    pub on_page: OnPage,
    /// Data version for verify mode.
    pub version: u32,
}

impl Transaction {
    /// A transaction of a request that has just been admitted, and waits nowhere yet. Its time is accounted for up to `arrival`, ns.
    pub fn new(kind: TransactionKind, request: ReqId, lpn: Lpn, bytes: Change, chip: ChipId, arrival: Ns) -> Self {
        Transaction {
            kind,
            active: false,
            queued: false,
            is_landmark: false,
            same_page: false,
            high_priority: false,
            lpn,
            request,
            pool: PoolId(0),
            chip,
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

    /// The change to its page that whoever comes after it finds still to be made.
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

    /// It has waited for this reason since the last mark.
    #[inline(always)]
    pub fn waited(&mut self, reason: Blocked, now: Ns) {
        self.times.wait(reason, now - self.mark);
        self.mark = now;
    }

    /// It has been served since the last mark.
    #[inline(always)]
    pub fn served(&mut self, by: Served, now: Ns) {
        self.times.serve(by, now - self.mark);
        self.mark = now;
    }
}

/// The slab of transactions.
pub type Transactions = Slab<TxnId, Transaction>;

/// The transactions that are linked behind one another by `next`, from `first` on: the pages of one operation, or the rest of a queue.
pub fn linked(transactions: &Transactions, first: Option<TxnId>) -> impl Iterator<Item = TxnId> {
    std::iter::successors(first, |&id| transactions[id].next)
}
