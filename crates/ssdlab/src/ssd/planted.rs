//! Defects planted on purpose: tests plant one and show that the random drives find it.

use super::Ssd;
use crate::gc::Move;
use crate::units::PoolId;

/// A defect. None is looked for on the way of an ordinary host operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
    /// A suspended move that goes on takes its copy for the newest, although the page was written meanwhile.
    KeepsStaleCopies,
    /// State S2 is never entered.
    ForgetsHardThreshold,
    /// A job that has ended leaves its exclusion behind.
    KeepsExclusion,
}

impl Ssd {
    /// Plants a defect.
    #[doc(hidden)]
    pub fn plant(&mut self, defect: Planted) {
        self.planted = Some(defect);
    }

    /// The defect is there.
    #[inline(always)]
    pub(super) fn has(&self, defect: Planted) -> bool {
        self.planted == Some(defect)
    }

    /// The suspended move of a pool takes its page for the one that was written meanwhile.
    pub(super) fn plant_stale_copy(&mut self, pool: PoolId) {
        let moved = self.gc.job(pool).and_then(|job| job.moving).filter(|moved| moved.to.is_some());
        if let Some((moved, from)) = moved.and_then(|moved| Some((moved, self.ftl.lookup(moved.lpn)?))) {
            self.gc.job_mut(pool).moving = Some(Move { from, ..moved });
        }
    }
}
