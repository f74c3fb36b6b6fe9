//! The small plain structs by which modules of one floor are told about each other without importing each other.

use crate::units::Ns;

/// The host operation that would go next on a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostView {
    /// When it began to wait, and the serial number of that moment.
    pub ready: (Ns, u64),
    /// It reads a page that the job on the die has still to move, and the two could be one.
    pub in_victim: bool,
    /// The high-priority write for which its pool is in state S3 (lee2013 Fig. 7).
    pub urgent: bool,
}

/// The GC step that would go next on a die, or the GC operation that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GcView {
    /// When it became ready, and the serial number of that moment.
    pub ready: (Ns, u64),
    /// Its pool is in state S3: it runs to completion.
    pub urgent: bool,
}

/// How far the die is with what it is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Moment {
    /// Free of GC: preemption point B of lee2013 Fig. 2, where anything may begin.
    #[default]
    B,
    /// A page move stands before a transfer, or before its program (point A).
    InsideMove {
        /// It can be put aside, since programs can be suspended.
        may_put_aside: bool,
        /// The host operation is a write that could be transferred while the move programs.
        may_pair: bool,
    },
    /// The array is at work for GC.
    Array {
        /// What it does can be suspended, and enough of it is left.
        may_suspend: bool,
    },
}

/// What could begin on a die now. Operations that may not (the scope of a job excludes them, no free block) are not in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DieView {
    /// How far the die is.
    pub moment: Moment,
    /// The next host operation.
    pub host: Option<HostView>,
    /// The next GC step at B; else the GC operation under way.
    pub gc: Option<GcView>,
}
