//! Adaptive retry on top of PR2, AR2 (Park et al., ASPLOS 2021, arXiv 2104.09611): SET FEATURES shortens the array read before the first
//! retry step, at the cost of errors for which the good step has margin. Here that margin always suffices.

use super::{Pace, Steps};

pub(super) const PACE: Pace = Pace { pipelined: true, shortened: true };

#[inline]
pub(super) fn steps(needed: u8, table: u8) -> Steps {
    super::from(0, needed, table)
}
