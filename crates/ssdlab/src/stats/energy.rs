//! Energy of the drives: what has drawn it, and how much each part took.
//!
//! All sums are integers of femtojoules, so that the parts of a run add up exactly: 1 uW in 1 ns is 1 fJ.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::result::ratio;
use crate::config::{Config, Energy};
use crate::units::Ns;

/// Femtojoules in a joule.
const FJ_PER_J: f64 = 1e15;

/// Array times of a drive or of several, each plane by itself, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArrayTimes {
    /// Reads: of the host (`[0]`) and of GC (`[1]`).
    pub read: [Ns; 2],
    /// Programs.
    pub program: [Ns; 2],
    /// Erases. All are of GC.
    pub erase: Ns,
}

/// What the parts of a drive draw, in integers: uW, which are fJ in a ns, and fJ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EnergyRates {
    read_uw: u64,
    program_uw: u64,
    erase_uw: u64,
    bus_uw: u64,
    dram_fj_per_byte: u64,
    link_fj_per_byte: u64,
    command_fj: u64,
    idle_uw: u64,
    /// Time of a byte on a channel; 0: transfers take no time, and no byte counts.
    bus_ps_per_byte: u64,
}

impl EnergyRates {
    /// The rates of a checked configuration; `None` if energy is not asked for.
    pub fn new(config: &Config) -> Option<Self> {
        let Energy { read_mw, program_mw, erase_mw, bus_mw, dram_pj_per_bit, link_pj_per_bit, command_nj, idle_mw, cap_w: _ } =
            config.energy;
        let thousand = |value: f64| (value * 1e3).round() as u64;
        let fj_per_byte = |pj_per_bit: f64| (pj_per_bit * 8e3).round() as u64;
        config.energy.is_on().then(|| EnergyRates {
            read_uw: thousand(read_mw),
            program_uw: thousand(program_mw),
            erase_uw: thousand(erase_mw),
            bus_uw: thousand(bus_mw),
            dram_fj_per_byte: fj_per_byte(dram_pj_per_bit),
            link_fj_per_byte: fj_per_byte(link_pj_per_bit),
            command_fj: (command_nj * 1e6).round() as u64,
            idle_uw: thousand(idle_mw),
            bus_ps_per_byte: config.device.transfer_ps_per_byte,
        })
    }
}

/// What has drawn energy in all drives since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// Array times of all planes.
    pub arrays: ArrayTimes,
    /// Time of transfers, summed over channels, ns.
    pub bus_ns: u128,
    /// Commands that hosts or arrays sent to drives.
    pub commands: u64,
    /// Bytes that these read and wrote.
    pub link_bytes: u64,
    /// Time, summed over drives, ns.
    pub on_ns: u128,
}

impl Drawn {
    /// What both have drawn.
    #[must_use]
    pub fn joined(self, other: Drawn) -> Self {
        self.each(other, |a, b| a + b, |a, b| a + b)
    }

    /// What was drawn since `before`.
    #[must_use]
    pub fn since(self, before: Drawn) -> Self {
        self.each(before, |now, then| now - then, |now, then| now - then)
    }

    fn each(self, other: Drawn, sum: impl Fn(u64, u64) -> u64, long: impl Fn(u128, u128) -> u128) -> Self {
        let (a, b) = (self.arrays, other.arrays);
        let both = |a: [Ns; 2], b: [Ns; 2]| [sum(a[0], b[0]), sum(a[1], b[1])];
        Drawn {
            arrays: ArrayTimes { read: both(a.read, b.read), program: both(a.program, b.program), erase: sum(a.erase, b.erase) },
            bus_ns: long(self.bus_ns, other.bus_ns),
            commands: sum(self.commands, other.commands),
            link_bytes: sum(self.link_bytes, other.link_bytes),
            on_ns: long(self.on_ns, other.on_ns),
        }
    }
}

/// Energy by part, fJ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Parts {
    read: u128,
    program: u128,
    erase: u128,
    bus: u128,
    dram: u128,
    link: u128,
    controller: u128,
    idle: u128,
}

impl EnergyRates {
    fn parts(&self, drawn: &Drawn) -> Parts {
        let of = |rate: u64, count: u128| u128::from(rate) * count;
        let all = |[host, gc]: [Ns; 2]| u128::from(host) + u128::from(gc);
        let on_channels = if self.bus_ps_per_byte == 0 { 0 } else { drawn.bus_ns * 1000 / u128::from(self.bus_ps_per_byte) };
        Parts {
            read: of(self.read_uw, all(drawn.arrays.read)),
            program: of(self.program_uw, all(drawn.arrays.program)),
            erase: of(self.erase_uw, drawn.arrays.erase.into()),
            bus: of(self.bus_uw, drawn.bus_ns),
            dram: of(self.dram_fj_per_byte, on_channels + u128::from(drawn.link_bytes)),
            link: of(self.link_fj_per_byte, drawn.link_bytes.into()),
            controller: of(self.command_fj, drawn.commands.into()),
            idle: of(self.idle_uw, drawn.on_ns),
        }
    }

    /// All that was drawn, fJ.
    pub fn total_fj(&self, drawn: &Drawn) -> u128 {
        self.parts(drawn).total()
    }

    /// The energy of a run of `measured_ns` in which the host read and wrote `host_bytes`.
    pub(super) fn result(&self, drawn: &Drawn, measured_ns: Ns, host_bytes: u128) -> EnergyResult {
        let parts = self.parts(drawn);
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
            total_j: joules(total),
            gc_array_j: joules(self.total_fj(&of_gc)),
            mean_w: ratio(total, measured_ns.into()).map(|uw| uw / 1e6),
            nj_per_byte: ratio(total, host_bytes).map(|fj| fj / 1e6),
        }
    }
}

impl Parts {
    fn total(&self) -> u128 {
        let Parts { read, program, erase, bus, dram, link, controller, idle } = *self;
        [read, program, erase, bus, dram, link, controller, idle].into_iter().sum()
    }
}

/// Energy of all drives in the measured part of the run, by part. The parts add up to `total_j`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Energy that drives draw at any time (`energy.idle_mw`).
    #[schemars(extend("unit" = "J"))]
    pub idle_j: f64,
    /// Energy of all parts.
    #[schemars(extend("unit" = "J"))]
    pub total_j: f64,
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

#[cfg(test)]
mod tests {
    use super::*;

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
        };
        let rates = EnergyRates::new(&config).expect("energy is asked for");
        let drawn = Drawn {
            arrays: ArrayTimes { read: [40, 60], program: [500, 700], erase: 2_000 },
            bus_ns: 25_000,
            commands: 3,
            link_bytes: 4_096,
            on_ns: 10_000,
        };
        let result = rates.result(&drawn, 10_000, 4_096);
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
