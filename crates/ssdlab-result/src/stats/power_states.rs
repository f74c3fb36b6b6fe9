//! The part of a result about power states.

use schemars::JsonSchema;
use serde::Serialize;

use super::energy::FJ_PER_J;
use ssdlab_base::units::Ns;
use ssdlab_keys::energy::{Drawn, EnergyRates};
use ssdlab_keys::power_states::PowerStateStats;

/// Power states in the measured part of the run. Times and counts are summed over the drives of an array.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PowerStatesResult {
    /// How often a command came to a drive in a power state, or to one that entered a state, and woke it.
    #[schemars(extend("unit" = "count"))]
    pub wakes: u64,
    /// How often work of a drive's own woke it: GC, folding, refreshes or drains of its write buffer.
    #[schemars(extend("unit" = "count"))]
    pub background_wakes: u64,
    /// Time of entries and exits, in which a drive draws `energy.idle_mw`.
    #[schemars(extend("unit" = "ns"))]
    pub changing_ns: Ns,
    /// The states, the shallowest first.
    #[schemars(extend("unit" = "list"))]
    pub states: Vec<PowerStateResult>,
}

/// A power state in the measured part of the run, over all drives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PowerStateResult {
    /// How often drives entered it, those on the way to a deeper one included.
    #[schemars(extend("unit" = "count"))]
    pub entries: u64,
    /// Time in it, without that of entries and exits.
    #[schemars(extend("unit" = "ns"))]
    pub in_ns: Ns,
    /// Energy drawn in it.
    #[schemars(extend("unit" = "J"))]
    pub energy_j: f64,
}

impl PowerStatesResult {
    /// The power states of a run; `energy`: what was drawn, `None` without energy.
    pub(super) fn new(stats: &PowerStateStats, energy: Option<&(EnergyRates, Drawn)>) -> Self {
        let drawn_fj = energy.map(|(rates, drawn)| rates.of_states(drawn)).unwrap_or_default();
        let of = |state: usize| PowerStateResult {
            entries: stats.entries[state],
            in_ns: stats.in_ns[state] as Ns,
            energy_j: drawn_fj[state] as f64 / FJ_PER_J,
        };
        PowerStatesResult {
            wakes: stats.wakes,
            background_wakes: stats.background_wakes,
            changing_ns: stats.changing_ns as Ns,
            states: (0..stats.states).map(of).collect(),
        }
    }
}
