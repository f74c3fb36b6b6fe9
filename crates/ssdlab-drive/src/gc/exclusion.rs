//! The planes or dies from which an active job excludes the host (`gc.scope`). With scope `block`, `ssd::candidates` decides, from the FTL.

use crate::rules::BurstRule;
use ssdlab_base::units::{DieId, PlaneId, PoolId};
use ssdlab_keys::config::{PoolScope, Scope};
use ssdlab_keys::geometry::Geometry;

/// Bursts: jobs of several dies wait for each other, or a page that moves to another plane of its pool becomes eligible to be read.
pub const EXCLUSION_BURSTS: BurstRule = BurstRule {
    keys: &["gc.scope"],
    exact: |config| match config.gc.scope {
        Scope::Device => config.device.channels * config.device.chips_per_channel * config.device.dies_per_chip == 1,
        Scope::Plane => config.ftl.pool == PoolScope::Plane || config.device.planes_per_die == 1,
        _ => true,
    },
};

/// The dies or the plane from which a job excludes the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excluded {
    /// No plane or die as a whole (scopes `block` and `none`).
    Nothing,
    /// One plane.
    Plane(PlaneId),
    /// A range of dies: the first, and one past the last.
    Dies(u32, u32),
}

/// The planes and dies from which active jobs exclude the host.
#[derive(Debug)]
pub(super) struct Exclusion {
    scope: Scope,
    /// By die: the pool whose job excludes the host from it.
    by_job_of: Vec<Option<PoolId>>,
    /// By plane: a job excludes the host from it.
    planes: Vec<bool>,
}

impl Exclusion {
    pub(super) fn new(scope: Scope, geometry: &Geometry) -> Self {
        Exclusion { scope, by_job_of: vec![None; geometry.dies as usize], planes: vec![false; geometry.planes as usize] }
    }

    /// What the job of `pool` excludes the host from while it collects a block of `plane`.
    pub(super) fn of(&self, geometry: &Geometry, pool: PoolId, plane: PlaneId) -> Excluded {
        let die = geometry.die_of_pool(pool);
        let dies = |range: std::ops::Range<u32>| Excluded::Dies(range.start, range.end);
        match self.scope {
            Scope::Device => Excluded::Dies(0, geometry.dies),
            Scope::Channel => dies(geometry.dies_of_channel(geometry.channel_of_die(die))),
            Scope::Chip => dies(geometry.dies_of_chip(geometry.chip_of_die(die))),
            Scope::Die => Excluded::Dies(die.0, die.0 + 1),
            Scope::Plane => Excluded::Plane(plane),
            Scope::Block | Scope::None => Excluded::Nothing,
        }
    }

    /// The job of `pool` excludes the host from these dies or this plane from now on (`on`), or no longer.
    pub(super) fn set(&mut self, pool: PoolId, excluded: Excluded, on: bool) {
        match excluded {
            Excluded::Nothing => {}
            Excluded::Plane(plane) => self.planes[plane.index()] = on,
            Excluded::Dies(first, end) => self.by_job_of[first as usize..end as usize].fill(on.then_some(pool)),
        }
    }

    /// The pool whose job excludes the host from a die.
    #[inline(always)]
    pub(super) fn of_die(&self, die: DieId) -> Option<PoolId> {
        self.by_job_of[die.index()]
    }

    /// A job excludes the host from a plane.
    #[inline(always)]
    pub(super) fn of_plane(&self, plane: PlaneId) -> bool {
        self.planes[plane.index()]
    }
}
