//! Programs plane by plane (`device.plane_programs`): while there is time, the planes that a page spans are programmed one after the other; once
//! there is none, those that are left at once.
//!
//! A die that programs plane by plane is busy for longer with the same data, so more reads find it busy.

use super::pause;
use crate::rules::BurstRule;
use crate::ssd::Ssd;
use ssdlab_base::units::{Ns, PoolId, SlotId};

/// Bursts: each program decides plane by plane how it goes on.
pub(in crate::ssd) const BURSTS: BurstRule =
    BurstRule { keys: &["device.plane_programs"], exact: |config| config.device.plane_programs == 1 };

/// The program in a slot is before its first plane, or between two: makes way for reads between two, or goes on with one plane or with all.
pub(in crate::ssd) fn goes_on(ssd: &mut Ssd, now: Ns, at: SlotId) {
    let (left, all) = (ssd.flash.planes_left(at), ssd.rules.flash.plane_programs);
    if left < all && pause::made_way_between_planes(ssd, now, at) {
        return;
    }
    let has_time = has_time(ssd, at);
    let count = ssd.probes.count();
    count.plane_by_plane += u64::from(has_time && left == all);
    count.planes_together += u64::from(!has_time && 1 < left && left < all);
    ssd.flash.program_planes(now, at, !has_time, &mut ssd.events);
    // What came too late to suspend the plane before may suspend this one.
    ssd.ready.wake(at.die());
}

/// No operation of the host waits for the die of a slot, beside it in the other slot or in a queue, and each pool of the die has the free blocks
/// that it wants, or writes at least half of their credit.
fn has_time(ssd: &Ssd, at: SlotId) -> bool {
    let die = at.die();
    let is_pressed = |pool| ssd.ftl.is_short(pool) && !ssd.pace.as_ref().is_some_and(|pace| pace.has_half(pool));
    let waits_for = |die| ssd.sched.any_waiting(die);
    // Dies that exclude each other wait for each other.
    let waits = if ssd.rules.flash.interleave { waits_for(die) } else { ssd.dies_of_chip_of(die).any(waits_for) };
    !waits && ssd.flash.is_alone(at) && !ssd.geometry().pools_of_die(die).map(PoolId).any(is_pressed)
}
