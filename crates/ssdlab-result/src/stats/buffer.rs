//! Statistics of the write buffers of drives.

use schemars::JsonSchema;
use serde::Serialize;

use super::counts::counts;

counts! {
    /// Counts of a write buffer, or of those of an array's drives together.
    pub struct BufferStats {
        now {
            /// Number of units that the write buffer can hold.
            capacity: u64,
            /// Number of units in the write buffer now.
            held: u64,
        }
        counted {
            /// Number of units of writes that came into the write buffer.
            units: u64,
            /// Number of units of writes that replaced data of the same unit not sent to the flash yet.
            rewrites: u64,
            /// Number of units trimmed before they were sent to the flash.
            trimmed: u64,
            /// Number of units of reads found in the write buffer, whole or in part.
            read_hits: u64,
            /// Number of requests that waited for room, or behind one that did.
            full_waits: u64,
            /// Number of accesses that waited for the memory (`buffer.bytes_per_us`).
            memory_waits: u64,
            /// Number of flash reads of the rest of a unit.
            fills: u64,
            /// Number of programs sent to the flash.
            programs: u64,
            /// Number of programs that the write buffer did not fill.
            part_programs: u64,
            /// Number of programs not filled that were sent because a unit had reached `buffer.timeout_us`.
            timeouts: u64,
            /// Number of batches that were put in the order of their addresses (`buffer.sort_units`).
            sorts: u64,
        }
    }
}

impl BufferStats {
    /// The statistics as they appear in a result.
    pub(super) fn result(self) -> BufferResult {
        BufferResult {
            capacity: self.capacity,
            units: self.units,
            rewrites: self.rewrites,
            trimmed: self.trimmed,
            read_hits: self.read_hits,
            full_waits: self.full_waits,
            memory_waits: self.memory_waits,
            fills: self.fills,
            programs: self.programs,
            part_programs: self.part_programs,
            timeouts: self.timeouts,
            sorts: self.sorts,
            held: self.held,
        }
    }
}

/// Statistics of the write buffer of a drive, or of those of an array's drives together.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BufferResult {
    /// Number of mapping units that the write buffer can hold.
    #[schemars(extend("unit" = "units"))]
    pub capacity: u64,
    /// Number of mapping units of writes that came into the write buffer, whole or in part.
    #[schemars(extend("unit" = "count"))]
    pub units: u64,
    /// Number of mapping units of writes that replaced data of the same unit not sent to the flash yet.
    #[schemars(extend("unit" = "count"))]
    pub rewrites: u64,
    /// Number of mapping units trimmed before they were sent to the flash.
    #[schemars(extend("unit" = "count"))]
    pub trimmed: u64,
    /// Number of mapping units of reads found in the write buffer, whole or in part.
    #[schemars(extend("unit" = "count"))]
    pub read_hits: u64,
    /// Number of requests that waited for room in the write buffer, or behind a request that did.
    #[schemars(extend("unit" = "count"))]
    pub full_waits: u64,
    /// Number of accesses that waited for the memory of the write buffer (`buffer.bytes_per_us`).
    #[schemars(extend("unit" = "count"))]
    pub memory_waits: u64,
    /// Number of flash reads of the rest of a mapping unit that was written in part.
    #[schemars(extend("unit" = "count"))]
    pub fills: u64,
    /// Number of programs that the write buffer sent to the flash.
    #[schemars(extend("unit" = "count"))]
    pub programs: u64,
    /// Number of programs that the write buffer did not fill.
    #[schemars(extend("unit" = "count"))]
    pub part_programs: u64,
    /// Number of programs not filled that were sent because a unit had reached `buffer.timeout_us`.
    #[schemars(extend("unit" = "count"))]
    pub timeouts: u64,
    /// Number of batches of units that were put in the order of their addresses (`buffer.sort_units`).
    #[schemars(extend("unit" = "count"))]
    pub sorts: u64,
    /// Number of mapping units in the write buffer at the end of the run.
    #[schemars(extend("unit" = "units"))]
    pub held: u64,
}
