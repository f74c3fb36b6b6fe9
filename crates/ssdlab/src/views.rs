//! The small plain structs by which modules of one floor are told about each other without importing each other.

use crate::units::Ns;

/// The host operation that would go next on a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostView {
    /// When it began to wait, and the serial number of that moment.
    pub ready: (Ns, u64),
}

/// The GC step that would go next on a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GcView {
    /// When it became ready, and the serial number of that moment.
    pub ready: (Ns, u64),
}

/// What could begin on a die now, or, where operations may overlap, if it were idle. Operations that may not (the scope of a job excludes
/// them, no free block) are not in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DieView {
    /// The next host operation.
    pub host: Option<HostView>,
    /// The next GC step.
    pub gc: Option<GcView>,
}
