//! Defects planted on purpose: tests plant one and show that the random caches find it.

use super::{Front, Store};

/// A defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlantedInCache {
    /// Pages that are evicted dirty are not written below.
    ForgetsDestages,
    /// A page that is written or trimmed below is padded nevertheless.
    KeepsPadding,
    /// The frame of a page that has been destaged is free, whoever waits for it.
    CountsFramesTwice,
    /// A flush waits for nothing.
    FlushesEarly,
    /// What a request has evicted goes down behind its reads, also what it reads itself.
    ReadsOldData,
}

impl<B: Store> Front<B> {
    /// Plants a defect.
    pub fn plant(&mut self, defect: PlantedInCache) {
        self.planted = Some(defect);
    }

    /// The defect is there.
    #[inline(always)]
    pub(super) fn has(&self, defect: PlantedInCache) -> bool {
        self.planted == Some(defect)
    }
}
