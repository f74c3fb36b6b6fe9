//! Page transactions: what elyasi2017 calls sub-requests. They live in a slab and are named by index.

use crate::slab::Slab;
use crate::stats::{Part, Parts};
use crate::units::{Lpn, Ns, PoolId, Ppn};

/// "No transaction" in a link.
pub const NONE: u32 = u32::MAX;

/// The bytes that a trim leaves written in a page.
pub const TRIMMED: (u32, u32) = (0, 0);

/// The bytes of a write of sectors that do not follow each other: some, but none that a read could be answered with.
pub const SCATTERED: (u32, u32) = (1, 1);

/// What a transaction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionKind {
    /// Reads a page.
    Read,
    /// Writes a page.
    Write,
    /// Reads the page of a partial write, after which it becomes a [`TransactionKind::Write`].
    ReadForWrite,
    /// Unmaps a page that had operations under way when the trim arrived.
    Trim,
}

/// A request's part of one page.
#[derive(Clone, Copy, Debug)]
pub struct Transaction {
    /// What it does.
    pub kind: TransactionKind,
    /// It is waiting in a line or running; if not, it waits for older operations on its page.
    pub active: bool,
    /// It stands in a line.
    pub in_line: bool,
    /// Its request is a high-priority write (lee2013 III-D).
    pub high_priority: bool,
    /// Its logical page.
    pub lpn: Lpn,
    /// Its request's index in the slab.
    pub request: u32,
    /// The pool in whose line it waits.
    pub pool: PoolId,
    /// The chip whose queue it takes a place in.
    pub chip: u32,
    /// First byte and one past the last within the page.
    pub bytes: (u32, u32),
    /// The physical page read or programmed.
    pub ppn: Ppn,
    /// When it was admitted to its chip's queue, and the serial number of that moment: its age among host operations, and beside GC's.
    pub ready: (Ns, u64),
    /// Its place in the order of its station: that serial number, or, where slack gives the order, one it has changed with those it passed.
    pub rank: u64,
    /// By kind of line: the operation that was last in its line when it was admitted, or [`NONE`]. An operation that enters a line later, after
    /// older operations on its page or after its read, looks for its place from there.
    pub behind_in_line: [u32; 2],
    /// Up to when its time is accounted for.
    pub mark: Ns,
    /// Where its time went.
    pub parts: Parts,
    /// The wait clock it reads, and what that showed when it began to wait.
    pub domain: u32,
    /// See `domain`.
    pub clock: [Ns; 3],
    /// Links of its line; afterwards `next` links the pages of one multi-plane operation.
    pub next: u32,
    /// See `next`.
    pub previous: u32,
    /// The next younger operation on the same logical page.
    pub next_on_page: u32,
    /// Of an operation that waits for older ones on its page: what the youngest of these that is no read does to it.
    pub behind: Option<(u32, u32)>,
    /// Data version for verify mode.
    pub version: u32,
}

impl Transaction {
    /// The change to its page that whoever comes after it finds still under way: the bytes written, or [`TRIMMED`].
    #[inline]
    pub fn changes(&self) -> Option<(u32, u32)> {
        match self.kind {
            TransactionKind::Write | TransactionKind::ReadForWrite => Some(self.bytes),
            TransactionKind::Trim => Some(TRIMMED),
            // A read waits only while something older changes the page.
            TransactionKind::Read if self.active => None,
            TransactionKind::Read => self.behind,
        }
    }

    /// Accounts for the time since the last mark.
    #[inline(always)]
    pub fn account(&mut self, part: Part, now: Ns) {
        self.parts.add(part, now - self.mark);
        self.mark = now;
    }

    /// Accounts for the time since the last mark: up to `until` to one part, from there to `now` to another.
    #[inline(always)]
    pub fn account_split(&mut self, part: Part, until: Ns, then: Part, now: Ns) {
        self.account(part, until);
        self.account(then, now);
    }
}

/// The slab of transactions.
pub type Transactions = Slab<Transaction>;
