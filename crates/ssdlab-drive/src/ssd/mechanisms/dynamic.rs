//! Dynamic allocation (`ftl.allocation = "dynamic"`): what a write changes for others, where its address does not say to which chip it goes.
//!
//! | where | what |
//! |---|---|
//! | `sched/placement.rs` | which chip and pool take a write |

use crate::ssd::Ssd;
use ssdlab_base::units::ChipId;

/// A host operation has left the queue of a chip: where classes have blocks of their own, the next write may be of a class for which another
/// die has room.
#[inline(always)]
pub(in crate::ssd) fn left_queue(ssd: &mut Ssd, chip: ChipId) {
    if ssd.rules.places && ssd.rules.dynamic {
        ssd.dies_for_write(chip).for_each(|die| ssd.ready.wake(die));
    }
}
