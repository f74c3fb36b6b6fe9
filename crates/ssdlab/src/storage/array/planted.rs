//! Defects planted on purpose: tests plant one and show that the random arrays find it.

use super::Array;
use crate::storage::Store;

/// A defect of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlantedInArray {
    /// A write that was made by reading what is not written leaves the old parity.
    SkipsParity,
    /// A read does not wait for an update of its page.
    LetsReadsPass,
    /// Parity is made without what one drive had to read.
    ForgetsARead,
    /// A read of a failed drive leaves one of the others out.
    LeavesOneOut,
}

impl<D: Store> Array<D> {
    /// Plants a defect.
    #[doc(hidden)]
    pub fn plant(&mut self, defect: PlantedInArray) {
        self.planted = Some(defect);
    }

    /// The defect is there.
    #[inline(always)]
    pub(super) fn has(&self, defect: PlantedInArray) -> bool {
        self.planted == Some(defect)
    }
}
