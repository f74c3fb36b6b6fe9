//! Planted defects: a test plants a defect and shows that the tests with random caches find it.

use super::{Front, Store};

/// A defect that a test can plant in a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlantedInCache {
    /// Dirty evicted pages are not destaged.
    ForgetsDestages,
    /// A page is padded although it was written or trimmed at the lower level since its read.
    KeepsPadding,
    /// The frame of a destaged page counts as free although an entry waits for it.
    CountsFramesTwice,
    /// A flush waits for nothing.
    FlushesEarly,
    /// A request destages evicted pages after its reads, even a page that it reads itself.
    ReadsOldData,
}

impl<B: Store> Front<B> {
    /// Plants a defect.
    pub fn plant(&mut self, defect: PlantedInCache) {
        self.planted = Some(defect);
    }

    /// Whether `defect` is planted.
    #[inline(always)]
    pub(super) fn has(&self, defect: PlantedInCache) -> bool {
        self.planted == Some(defect)
    }
}
