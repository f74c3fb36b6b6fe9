//! Planted defects: a test plants one and shows that the random arrays find it.

use super::Array;
use crate::storage::Store;

/// A defect of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlantedInArray {
    /// A reconstruct-write leaves the old parity.
    SkipsParity,
    /// A read does not wait for an update of its page.
    LetsReadsPass,
    /// Parity is computed without the read of one drive.
    ForgetsARead,
    /// A degraded read leaves out one of the drives.
    LeavesOneOut,
}

impl<D: Store> Array<D> {
    /// Plants a defect.
    #[doc(hidden)]
    pub fn plant(&mut self, defect: PlantedInArray) {
        self.planted = Some(defect);
    }

    /// This defect is planted.
    #[inline(always)]
    pub(super) fn has(&self, defect: PlantedInArray) -> bool {
        self.planted == Some(defect)
    }
}
