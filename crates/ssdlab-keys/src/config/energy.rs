//! Energy: what the parts of a drive draw.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Energy: the power and energy of the parts of a drive. If all keys are 0, results have no energy. In an array each drive draws as much.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Energy {
    /// Power of a plane while its array reads a page, mW. With `device.planes_per_die = 1` a die has one plane.
    #[schemars(range(min = 0.0, max = 100000.0))]
    pub read_mw: f64,
    /// Power of a plane while its array programs, mW.
    #[schemars(range(min = 0.0, max = 100000.0))]
    pub program_mw: f64,
    /// Power of a plane while its array erases a block, mW.
    #[schemars(range(min = 0.0, max = 100000.0))]
    pub erase_mw: f64,
    /// Power of a channel while its bus transfers, mW.
    #[schemars(range(min = 0.0, max = 100000.0))]
    pub bus_mw: f64,
    /// Energy of the controller's memory, pJ a bit: of each byte on the link to the host, and of each byte on a channel.
    #[schemars(range(min = 0.0, max = 100000.0))]
    pub dram_pj_per_bit: f64,
    /// Energy of the link to the host, pJ a bit.
    #[schemars(range(min = 0.0, max = 100000.0))]
    pub link_pj_per_bit: f64,
    /// Energy of the controller for each command of the host, nJ.
    #[schemars(range(min = 0.0, max = 1000000000.0))]
    pub command_nj: f64,
    /// Power that the drive always draws, mW: of the controller, its memory and flash at rest.
    #[schemars(range(min = 0.0, max = 1000000.0))]
    pub idle_mw: f64,
    /// Power cap, W: an operation begins only if `idle_mw` and all operations on dies draw no more with it. 0: no cap.
    #[schemars(range(min = 0.0, max = 1000000.0))]
    pub cap_w: f64,
    /// Where the powers are from. Results that rest on guessed powers carry a remark.
    pub source: PowerSource,
}

/// Where the powers of a drive are from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PowerSource {
    /// At least one power that matters is a guess, or of another drive.
    #[default]
    Guessed,
    /// A data sheet of the drive or of its parts.
    Sheet,
    /// Measurements of the drive.
    Measured,
}

impl Energy {
    /// Some part of the drive draws power.
    pub fn is_on(&self) -> bool {
        Energy { cap_w: 0.0, source: PowerSource::Guessed, ..self.clone() } != Energy::default()
    }

    /// Operations on dies draw power.
    pub fn of_operations(&self) -> bool {
        self.read_mw > 0.0 || self.program_mw > 0.0 || self.erase_mw > 0.0
    }
}
