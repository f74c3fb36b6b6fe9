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
