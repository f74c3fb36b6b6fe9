//! The same translation layer and collection without a clock: for preconditioning, and as the floor under the simulator's speed.

use crate::config::Victim;
use crate::ftl::Ftl;
use crate::gc::victim;
use crate::units::{Lpn, PoolId};

/// What untimed writes did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UntimedCounts {
    /// Pages written by the host.
    pub host_programs: u64,
    /// Pages moved by collection.
    pub pages_moved: u64,
    /// Blocks erased.
    pub erases: u64,
}

/// Writes a page into `pool` and collects whatever that makes necessary. Returns false, with nothing written, if the pool is full of
/// valid data.
#[inline]
pub fn write(ftl: &mut Ftl, policy: Victim, pool: PoolId, lpn: Lpn, counts: &mut UntimedCounts) -> bool {
    if !ftl.can_write(pool) {
        collect(ftl, policy, pool, counts);
        if !ftl.can_write(pool) {
            return false;
        }
    }
    let allocated = ftl.allocate_host(pool);
    ftl.commit_write(pool, lpn, allocated.ppn);
    counts.host_programs += 1;
    if allocated.took_block {
        collect(ftl, policy, pool, counts);
    }
    true
}

/// Collects until the pool's free blocks are back at the soft threshold, or nothing is gained any more.
pub fn collect(ftl: &mut Ftl, policy: Victim, pool: PoolId, counts: &mut UntimedCounts) {
    while ftl.wants_collection(pool) {
        let Some(victim) = victim::pick(policy, ftl, pool) else { return };
        ftl.start_job(pool, victim);
        let mut from = 0;
        while let Some((page, source, lpn)) = ftl.next_move(victim, from) {
            let target = ftl.allocate_move(pool).ppn;
            ftl.commit_move(pool, lpn, source, target);
            counts.pages_moved += 1;
            from = page + 1;
        }
        ftl.commit_erase(pool, victim);
        counts.erases += 1;
    }
}
