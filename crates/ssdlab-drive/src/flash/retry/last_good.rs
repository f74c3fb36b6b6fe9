//! Retry from the last good step: the controller keeps the step that was good for the last read of each block, and begins the next read of
//! the block with it. An erase sets it back to the plain read.

use super::Steps;

#[inline]
pub(super) fn steps(needed: u8, table: u8, good: &mut u8) -> Steps {
    let steps = super::from(*good, needed, table);
    if !steps.uncorrectable {
        *good = steps.first + steps.failed;
    }
    steps
}
