//! The write buffer of a drive.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Ns;

/// The write buffer of a drive: writes complete when they are in it, and are programmed later, first in, first out. In an array each drive
/// has its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Buffer {
    /// Size of the buffer, bytes; a rest smaller than a mapping unit is not used. 0: there is none, and a write completes when it is in flash.
    #[schemars(range(min = 0, max = 1099511627776_u64))]
    pub bytes: u64,
    /// Time to put the data of a request into the buffer, or to get them from there, ns.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub access_ns: Ns,
    /// Its content outlives a power failure, so that a flush completes at once. If not, a flush waits until all of it is in flash.
    pub protected: bool,
    /// When its content is programmed.
    pub drain: Drain,
    /// Data that have been in the buffer for so long are programmed without waiting for a whole flash page, us. 0: they wait.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub timeout_us: u64,
    /// Reads and trims go ahead of writes that wait for room in the buffer, unless these are to the same mapping units.
    pub reads_pass: bool,
}

impl Default for Buffer {
    fn default() -> Self {
        Buffer { bytes: 0, access_ns: 1000, protected: true, drain: Drain::Full, timeout_us: 0, reads_pass: true }
    }
}

impl Buffer {
    /// There is a write buffer.
    pub fn is_on(&self) -> bool {
        self.bytes > 0
    }
}

/// When the content of a write buffer is programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Drain {
    /// When it fills a program.
    Full,
    /// As `full`; and what there is, while no program of the buffer waits or runs where it would go.
    Eager,
}
