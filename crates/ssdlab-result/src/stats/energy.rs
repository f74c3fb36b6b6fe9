//! The part of a result about energy.

use schemars::JsonSchema;
use serde::Serialize;

use super::result::ratio;
use ssdlab_base::units::Ns;
use ssdlab_keys::config::PowerSource;
use ssdlab_keys::energy::{ArrayTimes, Drawn, EnergyRates};

/// Femtojoules in a joule.
pub(super) const FJ_PER_J: f64 = 1e15;

/// Energy of all drives in the measured part of the run, by part. The parts add up to `total_j`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct EnergyResult {
    /// Energy of reads in the flash arrays (`energy.read_mw`).
    #[schemars(extend("unit" = "J"))]
    pub read_j: f64,
    /// Energy of programs in the flash arrays (`energy.program_mw`).
    #[schemars(extend("unit" = "J"))]
    pub program_j: f64,
    /// Energy of erases in the flash arrays (`energy.erase_mw`).
    #[schemars(extend("unit" = "J"))]
    pub erase_j: f64,
    /// Energy of transfers on the channels (`energy.bus_mw`).
    #[schemars(extend("unit" = "J"))]
    pub bus_j: f64,
    /// Energy of the controller's memory (`energy.dram_pj_per_bit`).
    #[schemars(extend("unit" = "J"))]
    pub dram_j: f64,
    /// Energy of the link to the host (`energy.link_pj_per_bit`).
    #[schemars(extend("unit" = "J"))]
    pub link_j: f64,
    /// Energy of the controller for commands of the host (`energy.command_nj`).
    #[schemars(extend("unit" = "J"))]
    pub controller_j: f64,
    /// Energy that drives draw at any time outside of power states (`energy.idle_mw`).
    #[schemars(extend("unit" = "J"))]
    pub idle_j: f64,
    /// Energy that drives draw in power states (`power_states.power_mw`), in place of that.
    #[schemars(extend("unit" = "J"))]
    pub states_j: f64,
    /// Energy of all parts.
    #[schemars(extend("unit" = "J"))]
    pub total_j: f64,
    /// Where the powers are from, as `energy.source` says: `guessed`, `sheet` or `measured`.
    #[schemars(with = "String", extend("unit" = "text"))]
    pub source: PowerSource,
    /// Energy of GC in the flash arrays: its reads, programs and erases. It is part of `read_j`, `program_j` and `erase_j`.
    #[schemars(extend("unit" = "J"))]
    pub gc_array_j: f64,
    /// Mean power of all drives together. Absent for a run of no duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "W"))]
    pub mean_w: Option<f64>,
    /// Energy for each byte that the host reads or writes. Absent without such bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "nJ/B"))]
    pub nj_per_byte: Option<f64>,
}

impl EnergyResult {
    /// The energy of a run of `measured_ns` in which the host read and wrote `host_bytes`.
    pub(super) fn new(rates: &EnergyRates, drawn: &Drawn, measured_ns: Ns, host_bytes: u128) -> Self {
        let parts = rates.parts(drawn);
        let total = parts.total();
        let Drawn { arrays, .. } = *drawn;
        let of_gc = Drawn {
            arrays: ArrayTimes { read: [0, arrays.read[1]], program: [0, arrays.program[1]], erase: arrays.erase },
            ..Drawn::default()
        };
        let joules = |fj: u128| fj as f64 / FJ_PER_J;
        EnergyResult {
            read_j: joules(parts.read),
            program_j: joules(parts.program),
            erase_j: joules(parts.erase),
            bus_j: joules(parts.bus),
            dram_j: joules(parts.dram),
            link_j: joules(parts.link),
            controller_j: joules(parts.controller),
            idle_j: joules(parts.idle),
            states_j: joules(parts.states),
            total_j: joules(total),
            source: rates.source,
            gc_array_j: joules(rates.total_fj(&of_gc)),
            mean_w: ratio(total, measured_ns.into()).map(|uw| uw / 1e6),
            nj_per_byte: ratio(total, host_bytes).map(|fj| fj / 1e6),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_keys::config::{Config, Energy};

    /// Each part by hand: mW times ns are pJ, and a thousand fJ are a pJ.
    #[test]
    fn each_part_by_hand() {
        let mut config = Config::default();
        config.device.transfer_ps_per_byte = 2_500;
        config.energy = Energy {
            read_mw: 82.5,
            program_mw: 100.0,
            erase_mw: 90.0,
            bus_mw: 20.0,
            dram_pj_per_bit: 22.0,
            link_pj_per_bit: 8.9,
            command_nj: 1.5,
            idle_mw: 1_000.0,
            cap_w: 0.0,
            ..Energy::default()
        };
        let rates = EnergyRates::new(&config).expect("energy is asked for");
        let drawn = Drawn {
            arrays: ArrayTimes { read: [40, 60], program: [500, 700], erase: 2_000 },
            bus_ns: 25_000,
            commands: 3,
            link_bytes: 4_096,
            on_ns: 10_000,
            ..Drawn::default()
        };
        let result = EnergyResult::new(&rates, &drawn, 10_000, 4_096);
        let pj = |joules: f64| (joules * 1e15).round() / 1e3;
        assert_eq!(pj(result.read_j), 8_250.0);
        assert_eq!(pj(result.program_j), 120_000.0);
        assert_eq!(pj(result.erase_j), 180_000.0);
        assert_eq!(pj(result.bus_j), 500_000.0);
        // 10,000 bytes on the channels and 4,096 on the link, 176 pJ each.
        assert_eq!(pj(result.dram_j), 2_480_896.0);
        assert_eq!(pj(result.link_j), 291_635.2);
        assert_eq!(pj(result.controller_j), 4_500.0);
        assert_eq!(pj(result.idle_j), 10_000_000.0);
        assert_eq!(pj(result.total_j), 13_585_281.2);
        assert_eq!(pj(result.gc_array_j), 60.0 * 82.5 + 700.0 * 100.0 + 180_000.0);
        assert_eq!(result.mean_w.map(|watts| (watts * 1e6).round()), Some(1_358_528.0));
    }

    #[test]
    fn a_drive_that_draws_nothing_has_no_energy() {
        assert_eq!(EnergyRates::new(&Config::default()), None);
    }
}
