//! What the write buffers of drives did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::counts::counts;

counts! {
    /// Counts of a write buffer, or of those of an array's drives together.
    pub struct BufferStats {
        now {
            /// Units that it can hold.
            capacity: u64,
            /// Units in it now.
            held: u64,
        }
        counted {
            /// Units of writes that came in.
            units: u64,
            /// Those that replaced data which waited.
            rewrites: u64,
            /// Units that were trimmed before they were on their way.
            trimmed: u64,
            /// Units of reads that were found in it, whole or in part.
            read_hits: u64,
            /// Requests that waited for room.
            full_waits: u64,
            /// Reads of the rest of a unit.
            fills: u64,
            /// Programs.
            programs: u64,
            /// Those that it did not fill.
            part_programs: u64,
            /// Of these, those that a unit's age set off.
            timeouts: u64,
        }
    }
}

impl BufferStats {
    /// As the result has it.
    pub(super) fn result(self) -> BufferResult {
        BufferResult {
            capacity: self.capacity,
            units: self.units,
            rewrites: self.rewrites,
            trimmed: self.trimmed,
            read_hits: self.read_hits,
            full_waits: self.full_waits,
            fills: self.fills,
            programs: self.programs,
            part_programs: self.part_programs,
            timeouts: self.timeouts,
            held: self.held,
        }
    }
}

/// The write buffer of a drive, or those of an array's drives together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BufferResult {
    /// Mapping units that it can hold.
    #[schemars(extend("unit" = "units"))]
    pub capacity: u64,
    /// Units of writes that came in, whole or in part.
    #[schemars(extend("unit" = "count"))]
    pub units: u64,
    /// Those that replaced data of the same unit which had not been sent to the flash.
    #[schemars(extend("unit" = "count"))]
    pub rewrites: u64,
    /// Units that were trimmed before they were sent to the flash.
    #[schemars(extend("unit" = "count"))]
    pub trimmed: u64,
    /// Units of reads that were found in it, whole or in part.
    #[schemars(extend("unit" = "count"))]
    pub read_hits: u64,
    /// Requests that waited for room, or behind one that did.
    #[schemars(extend("unit" = "count"))]
    pub full_waits: u64,
    /// Reads from flash of the rest of a unit that was written in part.
    #[schemars(extend("unit" = "count"))]
    pub fills: u64,
    /// Programs that it sent to the flash.
    #[schemars(extend("unit" = "count"))]
    pub programs: u64,
    /// Those that it did not fill.
    #[schemars(extend("unit" = "count"))]
    pub part_programs: u64,
    /// Of these, those that were sent because a unit was as old as `buffer.timeout_us`.
    #[schemars(extend("unit" = "count"))]
    pub timeouts: u64,
    /// Units in it at the end of the run.
    #[schemars(extend("unit" = "units"))]
    pub held: u64,
}
