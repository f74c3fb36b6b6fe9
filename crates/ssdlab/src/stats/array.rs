//! What an array of drives did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An array of drives during the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArrayResult {
    /// How data lie on the drives: `rais0` or `rais5`.
    #[schemars(extend("unit" = "text"))]
    pub level: String,
    /// Drives, one that has failed included.
    #[schemars(extend("unit" = "count"))]
    pub drives: u32,
    /// Pages of parity made from the old parity and the old content of the pages written.
    #[schemars(extend("unit" = "count"))]
    pub read_modify_writes: u64,
    /// Pages of parity made from all data of their column, after some of these were read.
    #[schemars(extend("unit" = "count"))]
    pub reconstruct_writes: u64,
    /// Pages of parity made from data that were all written, so that nothing was read.
    #[schemars(extend("unit" = "count"))]
    pub full_writes: u64,
    /// Pages read before these writes: of old data and old parity.
    #[schemars(extend("unit" = "count"))]
    pub update_reads: u64,
    /// Pages of parity written.
    #[schemars(extend("unit" = "count"))]
    pub parity_writes: u64,
    /// Reads of the failed drive that were replaced by reads of all others.
    #[schemars(extend("unit" = "count"))]
    pub degraded_reads: u64,
    /// Writes to a row, reads and trims that waited for their row's turn.
    #[schemars(extend("unit" = "count"))]
    pub row_waits: u64,
}

impl ArrayResult {
    /// What has been done since `before`.
    #[must_use]
    pub(super) fn since(self, before: &ArrayResult) -> Self {
        ArrayResult {
            read_modify_writes: self.read_modify_writes - before.read_modify_writes,
            reconstruct_writes: self.reconstruct_writes - before.reconstruct_writes,
            full_writes: self.full_writes - before.full_writes,
            update_reads: self.update_reads - before.update_reads,
            parity_writes: self.parity_writes - before.parity_writes,
            degraded_reads: self.degraded_reads - before.degraded_reads,
            row_waits: self.row_waits - before.row_waits,
            ..self
        }
    }
}
