//! Retry in order: a plain read, then the steps of the retry table from the first on, each after the data of the one before have been
//! decoded.

use super::Steps;

#[inline]
pub(super) fn steps(needed: u8, table: u8) -> Steps {
    super::from(0, needed, table)
}
