//! Programs plane by plane (`device.plane_programs`): while there is time, the planes that a page spans are programmed one after the other.
//!
//! Such a die is at work for longer with the same data, so that more reads find it so.

use crate::sched::QueueKind;
use crate::ssd::Ssd;
use crate::units::{Ns, PoolId, Ppn};

/// The number of array programs, one after the other, in which the program that begins at this page writes it.
#[inline(always)]
pub(in crate::ssd) fn programs(ssd: &mut Ssd, first: Ppn) -> Ns {
    if ssd.rules.plane_programs == 1 {
        return 1;
    }
    let pool = ssd.geometry().pool_of_page(first);
    if !has_time(ssd, pool) {
        return 1;
    }
    ssd.probes.count().plane_by_plane += 1;
    ssd.rules.plane_programs.into()
}

/// Nothing waits for the die of a pool, and the pool has the free blocks that it wants, or writes at least half of their credit.
fn has_time(ssd: &Ssd, pool: PoolId) -> bool {
    let die = ssd.geometry().die_of_pool(pool);
    let waits = ssd.sched.waiting_on(die) > 0 || ssd.sched.head(ssd.sched.queue(pool, QueueKind::Write)).is_some();
    !waits && (!ssd.ftl.is_short(pool) || ssd.pace.as_ref().is_some_and(|pace| pace.has_half(pool)))
}
