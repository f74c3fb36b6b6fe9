//! Small plain structs by which modules of one layer pass information to each other without importing each other.

use ssdlab_base::units::{Ns, PoolId};

/// The kinds of queues in which host operations wait for a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueKind {
    /// Page reads, also those of read-modify-writes.
    Read,
    /// Page programs.
    Write,
}

/// Age of an operation: when it became ready, ns, and the serial number of that moment.
pub type Ready = (Ns, u64);

/// The host operation that would go next on a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostView {
    /// When the operation began to wait, and the serial number of that moment; (0, 0) without a GC step to compare with.
    pub ready: Ready,
    /// The operation reads or overwrites a page that the GC job on the die has still to move, and merges with that move.
    pub in_victim: bool,
    /// The operation is the high-priority write for which its pool is in state S3 (lee2013 Fig. 7).
    pub urgent: bool,
}

/// The GC step that would go next on a die, or the GC operation in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GcView {
    /// When the GC step became ready, and the serial number of that moment.
    pub ready: Ready,
    /// A pool of the die is in state S3: the GC step runs to completion.
    pub urgent: bool,
    /// The GC step has its turn: a host operation has gone since the last step (`gc.advance = "in-turns"`), or a write waits for credit
    /// that the job earns (`gc.pace`).
    pub in_turn: bool,
}

/// State of a die when the arbiter decides what begins on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DiePhase {
    /// The die is free of GC operations: preemption point B of lee2013 Fig. 2, where anything may begin.
    #[default]
    BetweenMoves,
    /// A page move has stopped before a transfer, or before its program (preemption point A).
    InsideMove {
        /// The move can be suspended here, since programs can.
        may_suspend: bool,
        /// The host operation is a write that could be transferred while the move programs.
        may_pair: bool,
    },
    /// A GC operation is in the array that can be suspended, with enough of it left.
    InArray,
}

/// Operations that could begin on a die now. Operations that are not eligible are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DieView {
    /// State of the die.
    pub phase: DiePhase,
    /// The next host operation.
    pub host: Option<HostView>,
    /// The next GC step between moves; else the GC operation in service.
    pub gc: Option<GcView>,
}

/// Conditions that make a host operation ineligible on a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PoolView {
    /// A job excludes the host from the die, or from the plane or block that the operation needs (`gc.scope`).
    pub excluded: bool,
    /// The pool's state (S2 or S3) stops operations of this kind.
    pub stopped: bool,
    /// A write would find no page without using pages that GC needs.
    pub no_page: bool,
    /// A suspended GC operation holds the register of the plane, or the block, that the operation needs.
    pub register_held: bool,
}

/// What an array learns of the turns to collect of a drive's pools (`array.rotation`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnNews {
    /// Jobs of one position, of all drives, take turns.
    pub position: u32,
    /// The pool, which stands for its group.
    pub pool: PoolId,
    /// The turn of the pool ends; else the pool asks for one.
    pub ends: bool,
}
