//! The write buffer of a drive.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use ssdlab_base::units::Ns;

/// The write buffer of a drive: writes complete when they are in it, and are programmed later, first in, first out. In an array each drive
/// has its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Buffer {
    /// Size of the write buffer, bytes; a remainder smaller than a mapping unit is not used. 0: no write buffer, and a write completes when
    /// it is in flash.
    #[schemars(range(min = 0, max = 1099511627776_u64))]
    pub bytes: u64,
    /// Time to write the data of a request into the write buffer, or to read them from it, ns.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub access_ns: Ns,
    /// Bandwidth of the write buffer's memory, bytes per us: accesses take `access_ns` and their transfer, one after the other. 0: they take
    /// `access_ns`, however many come at once.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub bytes_per_us: u64,
    /// The content of the write buffer survives a power failure, so that a flush completes at once. If not, a flush waits until all data
    /// that came before it are in flash.
    pub protected: bool,
    /// When the content of the write buffer is programmed.
    pub drain: Drain,
    /// Time after which data in the write buffer are programmed without waiting for a full program, us. 0: they wait.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub timeout_us: u64,
    /// Reads and trims go ahead of writes that wait for room in the write buffer, unless the writes are to the same mapping units.
    pub reads_pass: bool,
    /// Mapping units that wait for programs to one destination (a pool, or with dynamic allocation the drive) and are put in the order of their
    /// addresses together, before the first of them is programmed. 0: units are programmed in the order in which they came.
    #[schemars(range(min = 0, max = 65536))]
    pub sort_units: u32,
}

impl Default for Buffer {
    fn default() -> Self {
        Buffer {
            bytes: 0,
            access_ns: 1000,
            bytes_per_us: 0,
            protected: true,
            drain: Drain::Full,
            timeout_us: 0,
            reads_pass: true,
            sort_units: 0,
        }
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
    /// When the units that wait fill a program.
    Full,
    /// When the units that wait fill a program; fewer units, while no program of the write buffer waits or runs in their pool (with dynamic
    /// allocation: while there are fewer such programs than dies).
    Eager,
    /// At once, however many programs of the write buffer wait: its units are never replaced there.
    AtOnce,
}
