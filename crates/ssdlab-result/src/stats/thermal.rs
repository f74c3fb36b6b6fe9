//! The part of a result about the temperature of drives.

use schemars::JsonSchema;
use serde::Serialize;

use super::result::ratio;
use ssdlab_base::units::Ns;
use ssdlab_keys::thermal::ThermalStats;

/// Temperature of the drives in the measured part of the run, and throttling by it. Times and counts are summed over the drives of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ThermalResult {
    /// The highest temperature of a drive.
    #[schemars(extend("unit" = "degrees C"))]
    pub max_c: f64,
    /// Mean temperature, over time and drives. Absent for a run of no duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "degrees C"))]
    pub mean_c: Option<f64>,
    /// Temperature at the end of the run, mean over drives.
    #[schemars(extend("unit" = "degrees C"))]
    pub end_c: f64,
    /// How often a drive began to throttle lightly from a lower temperature (NVMe: transition count of thermal management temperature 1).
    #[schemars(extend("unit" = "count"))]
    pub light_count: u64,
    /// Time for which drives throttled lightly.
    #[schemars(extend("unit" = "ns"))]
    pub light_ns: Ns,
    /// How often a drive began to throttle heavily from a lower temperature (NVMe: transition count of thermal management temperature 2).
    #[schemars(extend("unit" = "count"))]
    pub heavy_count: u64,
    /// Time for which drives throttled heavily.
    #[schemars(extend("unit" = "ns"))]
    pub heavy_ns: Ns,
    /// How often a drive stopped, at its critical temperature.
    #[schemars(extend("unit" = "count"))]
    pub stop_count: u64,
    /// Time for which drives were stopped, from the critical temperature until they had cooled.
    #[schemars(extend("unit" = "ns"))]
    pub stopped_ns: Ns,
}

impl ThermalResult {
    /// The temperatures of a run of `measured_ns`.
    pub(super) fn new(stats: &ThermalStats, measured_ns: Ns) -> Self {
        const NANO: f64 = 1e9;
        let [_, light_ns, heavy_ns, stopped_ns] = stats.level_ns.map(|ns| ns as Ns);
        let [_, light_count, heavy_count, stop_count] = stats.entered;
        let drives = u128::from(stats.drives);
        ThermalResult {
            max_c: stats.highest as f64 / NANO,
            mean_c: ratio(1, u128::from(measured_ns) * drives).map(|share| stats.sum as f64 * share / NANO),
            end_c: stats.present as f64 / drives as f64 / NANO,
            light_count,
            light_ns,
            heavy_count,
            heavy_ns,
            stop_count,
            stopped_ns,
        }
    }
}
