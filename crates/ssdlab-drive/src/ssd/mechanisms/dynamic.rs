//! Dynamic allocation (`ftl.allocation = "dynamic"`): what a write changes for others, where its address does not say to which chip it goes.
//!
//! | where | what |
//! |---|---|
//! | `sched/placement.rs` | which chip, or die of superblocks, and which pool take a write |

use crate::sched::QueueKind;
use crate::ssd::Ssd;
use crate::ssd::candidates::HostCandidate;
use ssdlab_base::units::{DieId, Ns, PoolId};

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

/// The first write that waits for a station.
pub(in crate::ssd) fn write_for_station(ssd: &Ssd, station: u32) -> Option<HostCandidate> {
    let pool = PoolId(ssd.geometry().pools_of_die(ssd.first_die(station)).start);
    let head = ssd.sched.head(ssd.sched.station_queue(station));
    head.map(|id| HostCandidate { id, kind: QueueKind::Write, pool, by_move: false })
}

/// A write that waits for a station waits for another from now on, and takes a place in the queue of its chip, even if all are taken.
pub(in crate::ssd) fn waits_for_another(ssd: &mut Ssd, now: Ns, write: HostCandidate, station: u32) {
    let [chip, other] = [ssd.transactions[write.id].chip, ssd.geometry().chip_of_die(ssd.first_die(station))];
    let id = ssd.leave_queue(now, ssd.geometry().die_of_pool(write.pool), write);
    ssd.sched.finished(chip);
    ssd.sched.accept(other, QueueKind::Write);
    ssd.sched.placement_mut().expect("writes go by load").took_write(station, ssd.transactions[id].class);
    let transaction = &mut ssd.transactions[id];
    (transaction.chip, transaction.station, transaction.behind_in_queue) = (other, station, [None; 2]);
    ssd.enter_queue(now, id);
}
