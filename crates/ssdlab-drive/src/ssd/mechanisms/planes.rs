//! Programs plane by plane (`device.plane_programs`): while there is time, the planes that a page spans are programmed one after the other; once
//! there is none, those that are left at once.
//!
//! A die that programs plane by plane is busy for longer with the same data, so more reads find it busy.

use super::{pace, pause};
use crate::flash::{Op, Owner};
use crate::rules::BurstRule;
use crate::ssd::Ssd;
use crate::ssd::begin::ProgramTime;
use ssdlab_base::units::{Ns, PoolId, SlotId};

/// Bursts: each program decides plane by plane how it goes on.
pub(in crate::ssd) const BURSTS: BurstRule =
    BurstRule { keys: &["device.plane_programs"], exact: |config| config.device.plane_programs == 1 };

/// The program in a slot is before its first plane, or between two: makes way for reads between two, or goes on with one plane or with all.
pub(in crate::ssd) fn goes_on(ssd: &mut Ssd, now: Ns, at: SlotId) {
    let (left, all) = (ssd.flash.planes_left(at), ssd.rules.flash.plane_programs * ssd.flash.op(at).pages);
    if left < all && pause::made_way_between_planes(ssd, now, at) {
        return;
    }
    let has_time = has_time(ssd, at);
    let count = ssd.probes.count();
    count.plane_by_plane += u64::from(has_time && left == all);
    count.planes_together += u64::from(!has_time && 1 < left && left < all);
    let ns = stage_ns(ssd, at, left, !has_time);
    ssd.flash.program_planes(now, at, !has_time, ns, &mut ssd.events);
    // What came too late to suspend the plane before may suspend this one.
    ssd.ready.wake(at.die());
}

/// Array time of the next plane of the program in a slot, or with `all` of the `left` ones at once, ns. Of several pages each has its own, and the
/// planes of one are programmed before those of the next.
fn stage_ns(ssd: &Ssd, at: SlotId, left: u32, all: bool) -> Ns {
    let Op { owner, pages, write_ns, .. } = *ssd.flash.op(at);
    let Owner::Host(first) = owner else { return write_ns };
    if pages == 1 {
        return write_ns;
    }
    let programs = ssd.pages_of(first).filter(|&id| !ssd.transactions[id].same_page);
    let mut left = programs.skip((pages - left.div_ceil(ssd.rules.flash.plane_programs)) as usize);
    let next = ssd.time_of_program(ssd.transactions[left.next().expect("a plane is left")].ppn);
    let others = if all { left } else { return next.array_ns() };
    others.map(|id| ssd.time_of_program(ssd.transactions[id].ppn)).fold(next, ProgramTime::beside).array_ns()
}

/// No operation of the host waits for the die of a slot, beside it in the other slot or in a queue, and each pool of the die has the free blocks
/// that it wants, or writes at least half of their credit.
fn has_time(ssd: &Ssd, at: SlotId) -> bool {
    let die = at.die();
    let is_pressed = |pool| ssd.ftl.is_short(pool) && !pace::has_half(ssd, pool);
    let waits_for = |die| ssd.sched.any_waiting(die);
    // Dies that exclude each other wait for each other.
    let waits = if ssd.rules.flash.interleave { waits_for(die) } else { ssd.dies_of_chip_of(die).any(waits_for) };
    !waits && ssd.flash.is_alone(at) && !ssd.geometry().pools_of_die(die).map(PoolId).any(is_pressed)
}
