//! No retry: a read with too many errors is uncorrectable at once.

use super::Steps;

#[inline]
pub(super) fn steps(needed: u8) -> Steps {
    Steps { uncorrectable: needed > 0, ..Steps::default() }
}
