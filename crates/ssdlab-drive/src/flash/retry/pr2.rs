//! Pipelined retry, PR2 (Park et al., ASPLOS 2021, arXiv 2104.09611): once a plain read has failed, retry steps use CACHE READ, so that the
//! array reads for the next step while the data of one are transferred and decoded. After the good step a read that was begun ahead is
//! stopped by RESET.

use super::{Pace, Steps};

pub(super) const PACE: Pace = Pace { pipelined: true, shortened: false };

#[inline]
pub(super) fn steps(needed: u8, table: u8) -> Steps {
    super::from(0, needed, table)
}
