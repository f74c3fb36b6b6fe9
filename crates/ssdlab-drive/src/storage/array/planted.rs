//! Planted defects: a test plants a defect and shows that the tests with random arrays find it.

use super::Array;
use crate::storage::Store;

/// A defect that a test can plant in an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlantedInArray {
    /// A reconstruct-write does not write the new parity.
    SkipsParity,
    /// A read does not wait for an update of its page.
    LetsReadsPass,
    /// Parity is computed without the read of one drive.
    ForgetsARead,
    /// A read in place of another drive does not read one of the working drives.
    LeavesOneOut,
    /// A unit of a failed drive is computed without the read of one working drive.
    RebuildsWithoutOne,
}

impl<D: Store> Array<D> {
    /// Plants a defect.
    #[doc(hidden)]
    pub fn plant(&mut self, defect: PlantedInArray) {
        self.planted = Some(defect);
    }

    /// Whether `defect` is planted.
    #[inline(always)]
    pub(super) fn has(&self, defect: PlantedInArray) -> bool {
        self.planted == Some(defect)
    }
}
