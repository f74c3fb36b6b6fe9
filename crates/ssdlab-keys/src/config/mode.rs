//! Modes of blocks: with how many bits their cells are programmed, and what follows from that.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::VariantArray;

use super::Config;
use ssdlab_base::units::Ns;

/// How the cells of a block are programmed, from when it is opened until it is erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, VariantArray)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Mode {
    /// With all bits of a cell.
    #[default]
    Native,
    /// With one bit in a cell: fewer pages, which are faster.
    Slc,
}

impl From<Mode> for u64 {
    fn from(mode: Mode) -> u64 {
        mode as u64
    }
}

impl TryFrom<u64> for Mode {
    type Error = u64;

    fn try_from(number: u64) -> Result<Mode, u64> {
        usize::try_from(number).ok().and_then(|number| Mode::VARIANTS.get(number).copied()).ok_or(number)
    }
}

/// Number of modes.
pub const MODES: usize = Mode::VARIANTS.len();

/// Wear of an erase in native mode with whole pulses: wear is counted in this unit.
pub const WHOLE: u64 = 1_000_000;

/// What all blocks in a mode have in common.
#[derive(Clone, Debug)]
pub struct ModeFacts {
    /// Mapping units of a block that hold no data: those in front, which are skipped when it is opened.
    pub skipped: u32,
    /// Array time of a page read, ns, of each type of pages in turn.
    pub read_ns: Vec<Ns>,
    /// Array time of a program of one plane, ns, of each type in turn.
    pub program_ns: Vec<Ns>,
    /// Means of both over a block.
    pub mean_ns: [Ns; 2],
    /// Time of an erase; where blocks need pulses, the mean of what new ones need, ns.
    pub erase_ns: Ns,
    /// Raw bit error rate, as a share of that of a block of the same age in native mode.
    pub errors: f64,
    /// Wear by an erase with whole pulses, in units of 1 / [`WHOLE`] erases.
    pub wear: u64,
}

impl Config {
    /// By mode: what its blocks have in common. A mode that the drive does not use is as native mode.
    pub fn modes(&self) -> [ModeFacts; MODES] {
        let native = || self.native_facts();
        [native(), self.slc_facts().unwrap_or_else(native)]
    }

    fn native_facts(&self) -> ModeFacts {
        let device = &self.device;
        let by_page = |table: &[Ns], single: Ns| if table.is_empty() { vec![single] } else { table.to_vec() };
        ModeFacts {
            skipped: 0,
            read_ns: by_page(&device.read_ns_by_page, device.read_ns),
            program_ns: by_page(&device.program_ns_by_page, device.program_ns),
            mean_ns: [device.mean_read_ns(), device.mean_program_ns()],
            erase_ns: device.erase_ns,
            errors: 1.0,
            wear: WHOLE,
        }
    }
}
