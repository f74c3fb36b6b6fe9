//! GC that advances with host operations (`gc.advance`): how many steps the jobs of a die may take now.
//!
//! A step is what a job does between two preemption points of lee2013 Fig. 2: the read of a page (from B to A), its program (from A to B),
//! or the erase. Each host operation that begins on a die lets its active jobs take one step more, up to the steps they have left. Table IX
//! of lee2013 suggests this: reads and writes are pipelined in equal proportion, about one in two where GC is active throughout, as if each
//! request found the job one point further.

use ssdlab_base::units::DieId;
use ssdlab_keys::geometry::Geometry;

/// Steps that the GC jobs of each die may take.
#[derive(Debug)]
pub struct Credits {
    /// By die: host operations begun less steps taken, at most the steps that its active jobs have left. -1: a step was taken ahead, for a
    /// host operation that waits for it. Empty if jobs need no host operations to advance.
    by_die: Vec<i32>,
    /// By die: a part of the job of a superblock waits there for a host operation, although it has a step. Empty as the other.
    held: Vec<bool>,
}

impl Credits {
    pub(super) fn new(with_requests: bool, geometry: &Geometry) -> Self {
        let dies = if with_requests { geometry.dies as usize } else { 0 };
        Credits { by_die: vec![0; dies], held: vec![false; dies] }
    }

    /// Steps that the jobs of a die may take before the next host operation. Only where jobs advance with host operations (`gc.advance`).
    #[inline(always)]
    pub fn of(&self, die: DieId) -> i32 {
        self.by_die[die.index()]
    }

    /// Adds to the steps that the jobs of a die may take, such as 1 when a host operation begins there, or -1 for a step taken.
    #[inline(always)]
    pub fn change(&mut self, die: DieId, by: i32) {
        self.by_die[die.index()] += by;
    }

    /// Notes that a step of the die waits for a host operation (`held`), or that it is looked at again. Returns true if one has waited.
    pub fn hold(&mut self, die: DieId, held: bool) -> bool {
        std::mem::replace(&mut self.held[die.index()], held)
    }
}
