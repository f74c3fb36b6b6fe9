//! What a result says of a cache of blocks in SLC mode.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::flash::Wear;
use super::result::ratio;

/// The cache of a drive, or of those of an array's drives together, at a moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlcStats {
    /// Units that a block in SLC mode holds.
    pub units_per_block: u64,
    /// Blocks of the static part.
    pub static_blocks: u64,
    /// The most blocks of the dynamic part.
    pub dynamic_blocks: u64,
    /// Blocks in SLC mode: open, full or being folded.
    pub in_use: u64,
    /// Valid units in them.
    pub held_units: u64,
    /// Erases of each block of the static part.
    pub static_erases: Vec<u32>,
    /// Erases of each other block.
    pub other_erases: Vec<u32>,
}

impl SlcStats {
    /// The statistics of two drives together.
    #[must_use]
    pub fn joined(self, other: SlcStats) -> Self {
        SlcStats {
            units_per_block: self.units_per_block.max(other.units_per_block),
            static_blocks: self.static_blocks + other.static_blocks,
            dynamic_blocks: self.dynamic_blocks + other.dynamic_blocks,
            in_use: self.in_use + other.in_use,
            held_units: self.held_units + other.held_units,
            static_erases: [self.static_erases, other.static_erases].concat(),
            other_erases: [self.other_erases, other.other_erases].concat(),
        }
    }

    /// The statistics as they appear in a result. `counters`: those of the run by name.
    pub(super) fn result(self, counters: &BTreeMap<String, u64>, unit_bytes: u64) -> SlcResult {
        let count = |name: &str| counters.get(name).copied().unwrap_or(0);
        let (cached, direct) = (count("slc_writes"), count("direct_writes"));
        SlcResult {
            static_blocks: self.static_blocks,
            dynamic_blocks: self.dynamic_blocks,
            capacity_bytes: (self.static_blocks + self.dynamic_blocks) * self.units_per_block * unit_bytes,
            written_bytes: cached * unit_bytes,
            direct_bytes: direct * unit_bytes,
            cached_share: ratio(cached.into(), (cached + direct).into()),
            folded_bytes: count("folded_pages") * unit_bytes,
            folds: count("folds"),
            blocks_in_use: self.in_use,
            held_bytes: self.held_units * unit_bytes,
            static_wear: Wear::of(&self.static_erases),
            other_wear: Wear::of(&self.other_erases),
        }
    }
}

/// The cache of blocks in SLC mode during the run (`slc`), over the drives of an array together.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SlcResult {
    /// Number of blocks that are always in SLC mode.
    #[schemars(extend("unit" = "count"))]
    pub static_blocks: u64,
    /// Maximum of the other blocks in SLC mode at a time.
    #[schemars(extend("unit" = "count"))]
    pub dynamic_blocks: u64,
    /// Size of the cache with all these blocks. The dynamic part needs as many free blocks.
    #[schemars(extend("unit" = "B"))]
    pub capacity_bytes: u64,
    /// Bytes of the host programmed in SLC mode.
    #[schemars(extend("unit" = "B"))]
    pub written_bytes: u64,
    /// Bytes of the host programmed in other blocks.
    #[schemars(extend("unit" = "B"))]
    pub direct_bytes: u64,
    /// Share of the host's bytes that were programmed in SLC mode. Absent if none were programmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "share"))]
    pub cached_share: Option<f64>,
    /// Bytes that folding moved to other blocks.
    #[schemars(extend("unit" = "B"))]
    pub folded_bytes: u64,
    /// Number of GC jobs that folded a block.
    #[schemars(extend("unit" = "count"))]
    pub folds: u64,
    /// Number of blocks in SLC mode at the end: open, full or being folded.
    #[schemars(extend("unit" = "count"))]
    pub blocks_in_use: u64,
    /// Bytes of valid data in them at the end.
    #[schemars(extend("unit" = "B"))]
    pub held_bytes: u64,
    /// Erases of each block of the static part since it was new. Absent without a static part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub static_wear: Option<Wear>,
    /// Erases of each other block since it was new, in either mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_wear: Option<Wear>,
}
