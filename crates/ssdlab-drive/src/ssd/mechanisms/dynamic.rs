//! Dynamic allocation (`ftl.allocation = "dynamic"`): what a write changes for others, where its address does not say to which chip it goes.
//!
//! | where | what |
//! |---|---|
//! | `sched/placement.rs` | which chip, or die of superblocks, and which pool take a write |

use crate::ssd::Ssd;
use ssdlab_base::units::DieId;

/// A page operation of the host has ended: its chip may now be the one with the fewest operations, with a place for a write that waits.
#[inline(always)]
pub(in crate::ssd) fn page_ended(ssd: &mut Ssd) {
    if ssd.rules.dynamic {
        ssd.host.place_freed();
    }
}

/// A host operation has left its queue for a die: where classes have blocks of their own, the next write may be of a class for which another
/// die has room.
#[inline(always)]
pub(in crate::ssd) fn left_queue(ssd: &mut Ssd, die: DieId) {
    if ssd.rules.places && ssd.rules.dynamic {
        ssd.dies_for_write(ssd.geometry().station_of_die(die)).for_each(|die| ssd.ready.wake(die));
    }
}
