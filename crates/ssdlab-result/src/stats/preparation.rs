//! What a result says of how the drive was prepared.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Report on the preparation of the drive before the run. The preparation takes no time of the run, and only `wear` counts it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct PreconditionReport {
    /// Kind of the preparation, as configured; `state` for a saved state.
    #[schemars(extend("unit" = "text"))]
    pub kind: String,
    /// Number of logical pages with data at the start of the run.
    #[schemars(extend("unit" = "count"))]
    pub pages_mapped: u64,
    /// `pages_mapped` as a share of the exported pages.
    #[schemars(extend("unit" = "share"))]
    pub valid_share: f64,
    /// Number of pages overwritten at random without simulated time.
    #[schemars(extend("unit" = "count"))]
    pub pages_overwritten: u64,
    /// Write amplification in the last window of overwriting. It writes whole mapping units, so that the ratios of bytes and of units are
    /// equal, and leaves the mapping table as it is. Absent without overwriting, or if the overwriting runs no GC (`soft`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "ratio"))]
    pub write_amplification: Option<f64>,
    /// Overwriting ended because write amplification was steady; if not, it reached its limit. Absent unless the kind is `steady`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "yes or no"))]
    pub steady: Option<bool>,
    /// The timed end of the preparation (`ftl.precondition.settle`) ended because write amplification had settled. If not, it reached its
    /// limit, or the drive was overloaded. Absent without a timed end, and if the host wrote nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "yes or no"))]
    pub settled: Option<bool>,
    /// Write amplification in mapping units, as `gc.page_write_amplification`, in the last drive write of the timed end (in all of it, if
    /// that wrote less), or in the last round of the trace. Absent without host writes there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "ratio"))]
    pub settled_write_amplification: Option<f64>,
    /// Number of requests of the timed end, or of all rounds of the trace. Absent without both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "count"))]
    pub timed_requests: Option<u64>,
    /// Mapping units programmed for the host in the timed end, or in all rounds of the trace, as a multiple of the units that the host can
    /// address. Absent without both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "ratio"))]
    pub timed_drive_writes: Option<f64>,
    /// Minimum of the free blocks over pools at the start of the run, write frontiers excluded.
    #[schemars(extend("unit" = "count"))]
    pub free_blocks_min: u32,
    /// Maximum of the free blocks over pools at the start of the run, write frontiers excluded.
    #[schemars(extend("unit" = "count"))]
    pub free_blocks_max: u32,
    /// Soft threshold T_soft of a pool in blocks.
    #[schemars(extend("unit" = "count"))]
    pub soft_blocks: u32,
}

impl PreconditionReport {
    /// Joins the reports of an array's drives, all prepared in the same way: sums, means, minimum and maximum of the free blocks.
    ///
    /// # Panics
    /// Without reports.
    pub fn of_all(reports: &[PreconditionReport]) -> Self {
        let mean = |of: &dyn Fn(&PreconditionReport) -> f64| reports.iter().map(of).sum::<f64>() / reports.len() as f64;
        let amplifications: Option<Vec<f64>> = reports.iter().map(|report| report.write_amplification).collect();
        let steady: Option<Vec<bool>> = reports.iter().map(|report| report.steady).collect();
        PreconditionReport {
            kind: reports[0].kind.clone(),
            pages_mapped: reports.iter().map(|report| report.pages_mapped).sum(),
            valid_share: mean(&|report| report.valid_share),
            pages_overwritten: reports.iter().map(|report| report.pages_overwritten).sum(),
            write_amplification: amplifications.map(|all| all.iter().sum::<f64>() / all.len() as f64),
            steady: steady.map(|all| all.into_iter().all(|steady| steady)),
            free_blocks_min: reports.iter().map(|report| report.free_blocks_min).min().unwrap_or(0),
            free_blocks_max: reports.iter().map(|report| report.free_blocks_max).max().unwrap_or(0),
            soft_blocks: reports[0].soft_blocks,
            ..PreconditionReport::default()
        }
    }
}
