//! The plan of a drive: the mechanisms that it may have, as a constant for which the hot path is compiled. What a plan leaves out is not asked
//! for, and its code is not in the way of the rest.
//!
//! A function of the spine has the plan as its parameter `P`, and asks [`has`] before it asks a mechanism. Mechanisms call the spine with [`ALL`]:
//! they are seldom on the shortest way. [`Ssd::plan`] is the first of [`PLANS`] that has all that the drive has.

use super::Ssd;
use crate::rules::Rules;

/// A set of mechanisms, a bit for each.
pub(in crate::ssd) type Plan = u32;

/// Dynamic allocation (`ftl.allocation`).
pub(in crate::ssd) const DYNAMIC: Plan = 1;
/// Estimates of slack (`sched`).
pub(in crate::ssd) const SLACK: Plan = 1 << 1;
/// Blocks that fail (`wear`).
pub(in crate::ssd) const WEAR: Plan = 1 << 2;
/// Blocks in SLC mode (`slc`).
pub(in crate::ssd) const SLC: Plan = 1 << 3;
/// Reads with errors (`errors`).
pub(in crate::ssd) const ERRORS: Plan = 1 << 4;
/// A cap of power (`energy.cap_w`).
pub(in crate::ssd) const POWER: Plan = 1 << 5;
/// Writes that wait for credit (`gc.pace`).
pub(in crate::ssd) const PACE: Plan = 1 << 6;
/// A user-defined order.
pub(in crate::ssd) const ORDER: Plan = 1 << 7;
/// Host operations that merge with page moves (`gc.merge`).
pub(in crate::ssd) const MERGE: Plan = 1 << 8;
/// Units that share programs and page moves that pass through the controller, with them superblocks.
pub(in crate::ssd) const UNITS: Plan = 1 << 9;
/// Classes of writes (`ftl.placement`).
pub(in crate::ssd) const CLASSES: Plan = 1 << 10;
/// Operations on several planes (`device.multiplane`).
pub(in crate::ssd) const PLANES: Plan = 1 << 11;
/// Dies that two operations share, or where one stops for another.
pub(in crate::ssd) const SHARED: Plan = 1 << 12;
/// Jobs that advance with host operations (`gc.advance`).
pub(in crate::ssd) const ADVANCE: Plan = 1 << 13;
/// Chips that do one operation at a time (`device.die_interleave`).
pub(in crate::ssd) const CHIPS: Plan = 1 << 14;
/// Updates of a mapping table in flash (`ftl.map_cache_bytes`).
pub(in crate::ssd) const MAP: Plan = 1 << 15;
/// What idle time changes (`gc.trigger`).
pub(in crate::ssd) const IDLE: Plan = 1 << 16;
/// Parity pages (`ftl.parity_stripe`).
pub(in crate::ssd) const PARITY: Plan = 1 << 17;
/// Verification, timelines, explanations of slow requests, planted defects.
pub(in crate::ssd) const WATCHED: Plan = 1 << 18;
/// All of these.
pub(in crate::ssd) const ALL: Plan = Plan::MAX;

/// The plans for which the hot path is compiled, the shortest first.
pub(in crate::ssd) const BARE: Plan = 0;

/// The plan `P` has this mechanism: a drive may have it.
#[inline(always)]
pub(in crate::ssd) const fn has<const P: Plan>(mechanism: Plan) -> bool {
    P & mechanism != 0
}

/// Calls a method of [`Ssd`] for the plan of the drive.
macro_rules! by_plan {
    ($ssd:ident.$method:ident($($argument:expr),*)) => {
        match $ssd.plan {
            crate::ssd::plan::BARE => $ssd.$method::<{ crate::ssd::plan::BARE }>($($argument),*),
            _ => $ssd.$method::<{ crate::ssd::plan::ALL }>($($argument),*),
        }
    };
}
pub(in crate::ssd) use by_plan;

impl Ssd {
    /// Chooses the plan anew: the drive has, or has lost, something that watches or decides.
    pub(in crate::ssd) fn choose_plan(&mut self) {
        eprintln!("mechanisms {:b}", self.mechanisms());
        self.plan = if self.mechanisms() == 0 { BARE } else { ALL };
    }

    /// The mechanisms that the drive has.
    fn mechanisms(&self) -> Plan {
        let Rules { flash, gc, .. } = &self.rules;
        let watched = self.probes.is_watched() || self.flash.is_watched();
        let geometry = self.geometry();
        [
            (DYNAMIC, self.rules.dynamic),
            (SLACK, self.sched.slack().is_some()),
            (WEAR, self.wear.is_some()),
            (SLC, self.slc.is_some() || self.rules.slc),
            (ERRORS, self.ages.is_some() || flash.errors),
            (POWER, self.power.is_some()),
            (PACE, self.pace.is_some()),
            (ORDER, self.order.is_some()),
            (MERGE, gc.merge),
            (UNITS, gc.several_moves() || gc.carries || self.rules.partial_reads || geometry.units_per_flash_page > 1),
            (CLASSES, self.rules.places),
            (PLANES, self.rules.multiplane),
            (SHARED, flash.shares_dies || flash.overlaps || gc.suspends.any()),
            (ADVANCE, gc.with_requests || gc.in_turns),
            (CHIPS, !flash.interleave),
            (MAP, self.rules.notes_moves),
            (IDLE, self.gc.idle().is_some()),
            (PARITY, geometry.has_parity()),
            (WATCHED, watched),
        ]
        .into_iter()
        .filter(|&(_, on)| on)
        .fold(0, |plan, (mechanism, _)| plan | mechanism)
    }
}
