//! Statistics of an array of drives.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::units::Ns;

/// Statistics of an array of drives during the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ArrayResult {
    /// Layout of the array: `rais0` or `rais5`.
    #[schemars(extend("unit" = "text"))]
    pub level: String,
    /// Number of drives, a failed one included.
    #[schemars(extend("unit" = "count"))]
    pub drives: u32,
    /// Number of parity pages computed by read-modify-write: from the old parity and the old content of the pages written.
    #[schemars(extend("unit" = "count"))]
    pub read_modify_writes: u64,
    /// Number of parity pages computed by reconstruct-write: from all data of their column, some of them read.
    #[schemars(extend("unit" = "count"))]
    pub reconstruct_writes: u64,
    /// Number of parity pages computed without a read, as all data of their column were written.
    #[schemars(extend("unit" = "count"))]
    pub full_writes: u64,
    /// Number of pages read to compute parity pages: old parity, and old data of the column.
    #[schemars(extend("unit" = "count"))]
    pub update_reads: u64,
    /// Number of parity pages written.
    #[schemars(extend("unit" = "count"))]
    pub parity_writes: u64,
    /// Number of degraded reads: reads of the failed drive, replaced by reads of all others.
    #[schemars(extend("unit" = "count"))]
    pub degraded_reads: u64,
    /// Number of reads that drives refused, as they would have waited for GC.
    #[schemars(extend("unit" = "count"))]
    pub refused_reads: u64,
    /// Number of pages computed from reads of all other drives, so that their read would not wait for GC.
    #[schemars(extend("unit" = "count"))]
    pub rebuilt_pages: u64,
    /// Number of refused reads in whose place other drives would have refused reads, too: the array waited for the shorter of both.
    #[schemars(extend("unit" = "count"))]
    pub shortest_waits: u64,
    /// Number of stripes whose part on the failed drive was rebuilt on the drive in its place.
    #[schemars(extend("unit" = "count"))]
    pub rebuilt_stripes: u64,
    /// Number of stripes that needed no rebuild, as they held no data.
    #[schemars(extend("unit" = "count"))]
    pub empty_stripes: u64,
    /// Number of stripes that were still to be rebuilt at the end of the run.
    #[schemars(extend("unit" = "count"))]
    pub left_stripes: u32,
    /// When the last stripe was rebuilt, ns after the beginning; 0 if that was not reached, or no drive is replaced.
    #[schemars(extend("unit" = "ns"))]
    pub rebuild_ns: Ns,
    /// Number of turns to collect that pools were given.
    #[schemars(extend("unit" = "count"))]
    pub rotation_turns: u64,
    /// Number of turns to collect that did not come at the instant at which the pool asked.
    #[schemars(extend("unit" = "count"))]
    pub rotation_waits: u64,
    /// Sum of the times for which pools waited for their turns to collect, ns.
    #[schemars(extend("unit" = "ns"))]
    pub rotation_wait_ns: Ns,
    /// Number of parts of requests (writes to a stripe, reads, trims) that waited for the lock of their stripe.
    #[schemars(extend("unit" = "count"))]
    pub row_waits: u64,
}

impl ArrayResult {
    /// The counts since `before`, an earlier state of the same array.
    #[must_use]
    pub(super) fn since(self, before: &ArrayResult) -> Self {
        ArrayResult {
            read_modify_writes: self.read_modify_writes - before.read_modify_writes,
            reconstruct_writes: self.reconstruct_writes - before.reconstruct_writes,
            full_writes: self.full_writes - before.full_writes,
            update_reads: self.update_reads - before.update_reads,
            parity_writes: self.parity_writes - before.parity_writes,
            degraded_reads: self.degraded_reads - before.degraded_reads,
            refused_reads: self.refused_reads - before.refused_reads,
            rebuilt_pages: self.rebuilt_pages - before.rebuilt_pages,
            shortest_waits: self.shortest_waits - before.shortest_waits,
            rotation_turns: self.rotation_turns - before.rotation_turns,
            rotation_waits: self.rotation_waits - before.rotation_waits,
            rotation_wait_ns: self.rotation_wait_ns - before.rotation_wait_ns,
            rebuilt_stripes: self.rebuilt_stripes - before.rebuilt_stripes,
            empty_stripes: self.empty_stripes - before.empty_stripes,
            row_waits: self.row_waits - before.row_waits,
            ..self
        }
    }
}
