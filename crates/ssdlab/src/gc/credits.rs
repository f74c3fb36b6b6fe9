//! Where collection advances with host operations (`gc.advance`): how many steps the jobs of a die may take.
//!
//! A step is what a job does between two preemption points of lee2013 Fig. 2: the read of a page (from B to A), its program (from A to B), or
//! the erase. A host operation that begins on the die lets it take one, if the active jobs
//! have more steps left than may be taken already. Table IX of lee2013 suggests that: reads and writes are pipelined in
//! equal proportion, about one in two where GC is active throughout, as if each request found the job one point further.

use crate::geometry::Geometry;
use crate::units::DieId;

/// Steps that jobs may take.
#[derive(Debug)]
pub(super) struct Credits {
    /// By die: host operations that have begun, less steps, at most the steps that its active jobs have left. -1: a step was taken ahead of
    /// the operation that waits for it. Empty where jobs advance alone.
    by_die: Vec<i32>,
}

impl Credits {
    pub(super) fn new(with_requests: bool, geometry: &Geometry) -> Self {
        Credits { by_die: if with_requests { vec![0; geometry.dies as usize] } else { Vec::new() } }
    }

    #[inline(always)]
    pub(super) fn of(&self, die: DieId) -> i32 {
        self.by_die[die.index()]
    }

    #[inline(always)]
    pub(super) fn change(&mut self, die: DieId, by: i32) {
        self.by_die[die.index()] += by;
    }
}
