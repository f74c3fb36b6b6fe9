//! The small plain structs by which modules of one layer are told about each other without importing each other.

use crate::units::Ns;

/// The kinds of queues in which host operations wait for a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueKind {
    /// Page reads, also those of read-modify-writes.
    Read,
    /// Page programs.
    Write,
}

/// When something became ready, ns, and the serial number of that moment: its age.
pub type Ready = (Ns, u64);

/// The host operation that would go next on a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostView {
    /// When it began to wait, and the serial number of that moment.
    pub ready: Ready,
    /// It reads a page that the job on the die has still to move, and the two could be one.
    pub in_victim: bool,
    /// The high-priority write for which its pool is in state S3 (lee2013 Fig. 7).
    pub urgent: bool,
}

/// The GC step that would go next on a die, or the GC operation in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GcView {
    /// When it became ready, and the serial number of that moment.
    pub ready: Ready,
    /// Its pool is in state S3: it runs to completion.
    pub urgent: bool,
    /// A host operation has gone since the last step, so that it is this one's turn (`gc.advance = "in-turns"`).
    pub in_turn: bool,
}

/// What a die is doing when the arbiter is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DiePhase {
    /// It is free of GC operations: preemption point B of lee2013 Fig. 2, where anything may begin.
    #[default]
    BetweenMoves,
    /// A page move has stopped before a transfer, or before its program (preemption point A).
    InsideMove {
        /// The move can be suspended here, since programs can.
        may_suspend: bool,
        /// The host operation is a write that could be transferred while the move programs.
        may_pair: bool,
    },
    /// A GC operation is in the array.
    InArray {
        /// It can be suspended, and enough of it is left.
        may_suspend: bool,
    },
}

/// What could begin on a die now. Operations that are not eligible are not in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DieView {
    /// What the die is doing.
    pub phase: DiePhase,
    /// The next host operation.
    pub host: Option<HostView>,
    /// The next GC step between moves; else the GC operation in service.
    pub gc: Option<GcView>,
}

/// What decides whether a host operation is eligible on a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PoolView {
    /// A job excludes the host from the die, or from the plane or block that the operation needs (`gc.scope`).
    pub excluded: bool,
    /// The pool's state (S2 or S3) stops operations of this kind.
    pub stopped: bool,
    /// A write finds no page without touching what GC needs.
    pub no_page: bool,
    /// A suspended GC operation holds the register of the plane, or the block, that the operation needs.
    pub register_held: bool,
}
