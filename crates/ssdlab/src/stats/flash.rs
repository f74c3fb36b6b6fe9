//! What a result says of the flash: operations, wear, and the share of time in which chips and channels were busy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::device::DeviceStats;
use crate::distribution::Sums;
use crate::units::Ns;

/// Wear: erases of each block since it was new.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Wear {
    /// Mean number of erases of a block.
    #[schemars(extend("unit" = "count"))]
    pub mean: f64,
    /// Standard deviation of the number of erases over all blocks.
    #[schemars(extend("unit" = "count"))]
    pub std: f64,
    /// Number of erases of the most worn block.
    #[schemars(extend("unit" = "count"))]
    pub max: u32,
}

impl Wear {
    /// Wear from the number of erases of each block; `None` without blocks.
    pub fn of(erase_counts: &[u32]) -> Option<Self> {
        let mut sums = Sums::new();
        erase_counts.iter().for_each(|&erases| sums.add(erases.into()));
        Some(Wear { mean: sums.mean()?, std: sums.variance()?.sqrt(), max: *erase_counts.iter().max()? })
    }
}

/// Flash operations of host, GC and mapping table during the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FlashResult {
    /// Number of page reads of host, GC and mapping table.
    #[schemars(extend("unit" = "count"))]
    pub reads: u64,
    /// Number of page programs of host, GC and mapping table; with mapping units, the number of units programmed, without padding.
    #[schemars(extend("unit" = "count"))]
    pub programs: u64,
    /// Number of page programs of host writes; with mapping units, the number of units programmed, without padding.
    #[schemars(extend("unit" = "count"))]
    pub host_programs: u64,
    /// Number of page programs of page moves; with mapping units, the number of units programmed, without padding.
    #[schemars(extend("unit" = "count"))]
    pub gc_programs: u64,
    /// Number of block erases.
    #[schemars(extend("unit" = "count"))]
    pub erases: u64,
}

/// Share of the measured part of the run in which chips and channels are busy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Utilisation {
    /// By chip: share of the measured time in which it is busy. If its dies work in parallel: share in which a die is occupied, mean over
    /// dies.
    #[schemars(extend("unit" = "share"))]
    pub chips: Vec<f64>,
    /// By channel: share of the measured time in which its bus transfers.
    #[schemars(extend("unit" = "share"))]
    pub channels: Vec<f64>,
}

impl Utilisation {
    pub(super) fn of(device: &DeviceStats, measured_ns: Ns) -> Option<Self> {
        let share = |busy: &Ns| {
            assert!(*busy <= measured_ns, "a resource was busy for {busy} ns of {measured_ns} ns");
            *busy as f64 / measured_ns as f64
        };
        let shares = |busy: &[Ns]| busy.iter().map(share).collect();
        (measured_ns > 0).then(|| Utilisation { chips: shares(&device.chip_busy_ns), channels: shares(&device.channel_busy_ns) })
    }
}
