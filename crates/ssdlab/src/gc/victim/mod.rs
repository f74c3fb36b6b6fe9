//! Which block is collected. One policy, one file: add the file, a variant of [`crate::config::Victim`] and a line in [`pick`].

mod greedy;

use crate::config::Victim;
use crate::ftl::Ftl;
use crate::units::{BlockId, PoolId};

/// The pool's next victim: a closed block with at least one invalid page, or `None` if collecting gains nothing.
#[inline]
pub fn pick(policy: Victim, ftl: &Ftl, pool: PoolId) -> Option<BlockId> {
    match policy {
        Victim::Greedy => greedy::pick(ftl, pool),
        other => unreachable!("{other:?} is refused when the configuration is checked"),
    }
}
