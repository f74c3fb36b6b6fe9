//! Statistics of the mapping caches of drives.

use schemars::JsonSchema;
use serde::Serialize;

use super::counts::counts;
use super::result::ratio;

counts! {
    /// Counts of a mapping cache, or of those of an array's drives together.
    pub struct MappingStats {
        now {
            /// Number of translation pages of the mapping table.
            pages: u64,
            /// Number of translation pages, or entries (`ftl.map_cache_unit`), for which there is memory.
            capacity: u64,
            /// Number of translation pages or entries in memory now.
            cached: u64,
            /// Number of translation pages or entries in memory now that have changed since they were read or written.
            dirty: u64,
            /// Number of translation pages whose change in flash, because of page moves or replaced entries, has not begun.
            pending: u64,
            /// Number of lines of all learned models (`ftl.map_models`).
            lines: u64,
            /// Memory that these take, bytes.
            model_bytes: u64,
        }
        counted {
            /// Number of uses of translation pages or entries in memory, or on their way there.
            hits: u64,
            /// Number of uses of translation pages or entries that were on their way into memory.
            delayed_hits: u64,
            /// Number of uses of translation pages or entries that were not in memory.
            misses: u64,
            /// Number of uses of translation pages or entries by reads that needed none, since a model gave the places.
            predicted: u64,
            /// Flash reads at a wrong place that a model gave.
            mispredicted: u64,
            /// Number of misses that began no flash read.
            unread: u64,
            /// Number of misses that waited because the page or entry to replace was itself not in memory yet.
            full_waits: u64,
            /// Number of commands that waited for older commands of the same units.
            order_waits: u64,
            /// Number of translation pages written back because they, or entries of them, were replaced.
            write_backs: u64,
            /// Number of page moves of GC whose entry was changed in memory.
            moves_cached: u64,
            /// Number of page moves of GC whose translation page already had a change in flash pending.
            moves_gathered: u64,
            /// Number of translation pages changed in flash because of page moves.
            updates: u64,
            /// Flash reads of translation pages, page moves excluded, in mapping units.
            flash_reads: u64,
            /// Programs of translation pages, page moves excluded, in mapping units.
            flash_programs: u64,
            /// Page moves of translation pages, in mapping units.
            pages_moved: u64,
        }
    }
}

impl MappingStats {
    /// The statistics as they appear in a result.
    pub(super) fn result(self) -> MappingResult {
        MappingResult {
            pages: self.pages,
            capacity: self.capacity,
            hits: self.hits,
            delayed_hits: self.delayed_hits,
            misses: self.misses,
            predicted: self.predicted,
            mispredicted: self.mispredicted,
            hit_ratio: ratio(self.hits.into(), u128::from(self.hits) + u128::from(self.misses)),
            unread: self.unread,
            full_waits: self.full_waits,
            order_waits: self.order_waits,
            write_backs: self.write_backs,
            moves_cached: self.moves_cached,
            moves_gathered: self.moves_gathered,
            updates: self.updates,
            flash_reads: self.flash_reads,
            flash_programs: self.flash_programs,
            pages_moved: self.pages_moved,
            cached: self.cached,
            dirty: self.dirty,
            pending: self.pending,
            lines: self.lines,
            model_bytes: self.model_bytes,
        }
    }
}

/// Statistics of the mapping table of a drive that is partly in flash only, or of those of an array's drives together.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MappingResult {
    /// Number of translation pages of the mapping table.
    #[schemars(extend("unit" = "translation pages"))]
    pub pages: u64,
    /// Number of translation pages, or entries (`ftl.map_cache_unit`), for which there is memory.
    #[schemars(extend("unit" = "count"))]
    pub capacity: u64,
    /// Hits: uses of translation pages (or entries) in memory, or on their way there. A command uses each once.
    #[schemars(extend("unit" = "count"))]
    pub hits: u64,
    /// Delayed hits: uses of translation pages (or entries) that were still on their way into memory for another command.
    #[schemars(extend("unit" = "count"))]
    pub delayed_hits: u64,
    /// Misses: uses of translation pages (or entries) that were not in memory.
    #[schemars(extend("unit" = "count"))]
    pub misses: u64,
    /// Uses of translation pages (or entries) that were not in memory, by reads that needed none: a learned model gave the places. They are
    /// neither hits nor misses.
    #[schemars(extend("unit" = "count"))]
    pub predicted: u64,
    /// Flash reads at a wrong place that a learned model gave: each is followed by the read of the right one.
    #[schemars(extend("unit" = "count"))]
    pub mispredicted: u64,
    /// Hit ratio: hits as a share of all uses. Absent without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "share"))]
    pub hit_ratio: Option<f64>,
    /// Number of misses that began no flash read: the translation page had never been written, or all of its entries were changed, or (for
    /// an entry) it was on its way from or to flash.
    #[schemars(extend("unit" = "count"))]
    pub unread: u64,
    /// Number of misses that waited because the translation page (or entry) to be replaced was itself not in memory yet.
    #[schemars(extend("unit" = "count"))]
    pub full_waits: u64,
    /// Number of commands that waited for an older command of the same units, which waited for a translation page.
    #[schemars(extend("unit" = "count"))]
    pub order_waits: u64,
    /// Number of translation pages that were written back because they, or entries of them, had changed and were replaced.
    #[schemars(extend("unit" = "count"))]
    pub write_backs: u64,
    /// Number of page moves of GC whose entry was changed in memory.
    #[schemars(extend("unit" = "count"))]
    pub moves_cached: u64,
    /// Number of page moves of GC whose translation page already had a change in flash pending: one change serves several moves.
    #[schemars(extend("unit" = "count"))]
    pub moves_gathered: u64,
    /// Number of translation pages read and written in flash because of page moves of GC.
    #[schemars(extend("unit" = "count"))]
    pub updates: u64,
    /// Flash reads of translation pages, page moves excluded, in mapping units.
    #[schemars(extend("unit" = "count"))]
    pub flash_reads: u64,
    /// Programs of translation pages, page moves excluded, in mapping units.
    #[schemars(extend("unit" = "count"))]
    pub flash_programs: u64,
    /// Page moves of translation pages, in mapping units. `gc.pages_moved` counts them too.
    #[schemars(extend("unit" = "count"))]
    pub pages_moved: u64,
    /// Number of translation pages in memory at the end of the run.
    #[schemars(extend("unit" = "translation pages"))]
    pub cached: u64,
    /// Number of translation pages in memory at the end of the run that had changed since they were read or written.
    #[schemars(extend("unit" = "translation pages"))]
    pub dirty: u64,
    /// Number of translation pages whose change in flash, because of page moves, had not begun at the end of the run.
    #[schemars(extend("unit" = "translation pages"))]
    pub pending: u64,
    /// Number of lines of all learned models at the end of the run.
    #[schemars(extend("unit" = "count"))]
    pub lines: u64,
    /// Memory that the learned models take at the end of the run.
    #[schemars(extend("unit" = "bytes"))]
    pub model_bytes: u64,
}
