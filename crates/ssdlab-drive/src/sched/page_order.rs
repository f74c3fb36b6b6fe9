//! The order on a logical page: operations on one page never pass each other.
//!
//! The operations on a page form a chain, oldest first. Only the oldest (or, if it is a read, the reads at the front) are active: the
//! others wait. The map keeps the two ends of a page's chain with the page's entry, so that finding them needs no search; the links are in
//! [`OnPage`]. Only this module changes them.

use super::transaction::{Change, TransactionKind, Transactions};
use crate::ftl::Ftl;
use ssdlab_base::units::{Lpn, SlabId, TxnId};

/// The links and state of a transaction in its page's chain.
#[derive(Clone, Copy, Debug, Default)]
pub struct OnPage {
    /// The next younger operation on the page.
    next: Option<TxnId>,
    /// Of an operation that waits for older ones on its page: the change to the page by the youngest older write or trim.
    behind: Option<Change>,
}

impl OnPage {
    /// Of an operation that waits for older ones on its page: the change to the page by the youngest older write or trim.
    #[inline]
    pub fn behind(&self) -> Option<Change> {
        self.behind
    }
}

/// The two ends of a page's chain of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainEnds {
    /// The oldest operation on the page.
    pub oldest: TxnId,
    /// The youngest operation on the page.
    pub youngest: TxnId,
}

impl ChainEnds {
    fn stored(self) -> (u32, u32) {
        (self.oldest.number(), self.youngest.number())
    }
}

/// The two ends of the chain of operations on a page, if there are any.
#[inline(always)]
pub fn ends(ftl: &Ftl, lpn: Lpn) -> Option<ChainEnds> {
    ftl.chain(lpn).map(|(oldest, youngest)| ChainEnds { oldest: TxnId::new(oldest), youngest: TxnId::new(youngest) })
}

/// The operations on a page, oldest first.
pub fn chain(ftl: &Ftl, transactions: &Transactions, lpn: Lpn) -> impl Iterator<Item = TxnId> {
    std::iter::successors(ends(ftl, lpn).map(|ends| ends.oldest), |&id| transactions[id].on_page.next)
}

/// The next younger operation on the page of a transaction.
#[inline]
pub fn next(transactions: &Transactions, id: TxnId) -> Option<TxnId> {
    transactions[id].on_page.next
}

/// Puts a transaction at the end of its page's chain, which has these ends. Returns true if it need not wait for older operations.
#[inline]
pub fn append(ftl: &mut Ftl, transactions: &mut Transactions, id: TxnId, ends: Option<ChainEnds>) -> bool {
    let lpn = transactions[id].lpn;
    let Some(ChainEnds { oldest, youngest }) = ends else {
        ftl.set_chain(lpn, None, Some((id.number(), id.number())));
        return true;
    };
    transactions[youngest].on_page.next = Some(id);
    transactions[id].on_page.behind = transactions[youngest].changes();
    ftl.set_chain(lpn, Some((oldest.number(), youngest.number())), Some((oldest.number(), id.number())));
    let is_read = |id: TxnId| transactions[id].kind == TransactionKind::Read;
    is_read(id) && is_read(youngest) && transactions[youngest].active
}

/// Takes a transaction out of its page's chain. Returns the transaction that is now at the front because of it.
#[inline]
pub fn remove(ftl: &mut Ftl, transactions: &mut Transactions, id: TxnId) -> Option<TxnId> {
    let lpn = transactions[id].lpn;
    let ends = ends(ftl, lpn).expect("a page with a transaction has a chain");
    let next = transactions[id].on_page.next;
    if ends.oldest == id {
        let rest = next.map(|next| ChainEnds { oldest: next, ..ends }.stored());
        ftl.set_chain(lpn, Some(ends.stored()), rest);
        return next;
    }
    // Reads of one page may end in another order than they came.
    let before = chain(ftl, transactions, lpn).find(|&other| transactions[other].on_page.next == Some(id));
    let before = before.expect("what is not the oldest stands behind another");
    transactions[before].on_page.next = next;
    if ends.youngest == id {
        ftl.set_chain(lpn, Some(ends.stored()), Some(ChainEnds { youngest: before, ..ends }.stored()));
    }
    None
}
