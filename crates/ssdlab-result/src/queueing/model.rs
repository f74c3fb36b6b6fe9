//! The model of the single die: its service times, its discipline, its blocks.

use serde::{Deserialize, Serialize};

use ssdlab_base::error::{Error, Result};
use ssdlab_base::units::{Ns, transfer_ns};
use ssdlab_keys::config::{self, Device};

/// Longest service time allowed, ns: that of a device's configuration.
pub(super) const LONGEST_NS: Ns = 1_000_000_000_000;
/// Most pages of a block allowed: that of a device's configuration.
const MOST_PAGES: u32 = 16_384;

/// Service times of the die, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceTimes {
    /// Service time of a user read, b_r.
    pub read_ns: Ns,
    /// Service time of a user write, b_w.
    pub write_ns: Ns,
    /// Service time of a copy, b_c.
    pub copy_ns: Ns,
    /// Service time of an erase, b_e.
    pub erase_ns: Ns,
}

impl ServiceTimes {
    /// Service times of a configured device, including the time of transfers over the bus. Times that differ from page to page are averaged
    /// over a block's pages, rounded to the nearest.
    pub fn of(device: &Device) -> Self {
        let bytes = u64::from(device.page_bytes) + u64::from(device.spare_bytes);
        let transfer = transfer_ns(bytes, device.transfer_ps_per_byte) + device.command_ns;
        let (read, program) = (device.mean_read_ns(), device.mean_program_ns());
        let copy_transfers = if device.copyback { 0 } else { 2 * transfer };
        ServiceTimes {
            read_ns: read + transfer,
            write_ns: transfer + program,
            copy_ns: read + program + copy_transfers,
            erase_ns: device.erase_ns,
        }
    }
}

/// The service discipline. It is not preemptive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    /// User reads and writes first (bux2011, section 3.2).
    Rwp,
    /// Copies and erases first (bux2011, section 3.2).
    Cep,
    /// First come first served; at one instant the GC job before the request.
    Fifo,
}

impl From<config::Priority> for Priority {
    fn from(priority: config::Priority) -> Self {
        match priority {
            config::Priority::Gc => Priority::Cep,
            config::Priority::Fifo => Priority::Fifo,
            config::Priority::Host => Priority::Rwp,
        }
    }
}

/// A die and its garbage collection.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Service times.
    pub times: ServiceTimes,
    /// Pages of a block, c.
    pub pages: u32,
    /// Valid pages of the victims, v: used in order, and again from the first. Each is less than `pages`.
    pub valid: Vec<u32>,
    /// The service discipline.
    pub priority: Priority,
    /// Free blocks, at least 1. A GC job takes one at its start and returns one at its end; writes wait while more GC jobs than this are
    /// unfinished. `None`: there are always enough (bux2011, section 3.2).
    pub free_blocks: Option<u64>,
}

impl Model {
    /// Checks that the model can be simulated.
    ///
    /// # Errors
    /// [`Error::Usage`] naming the value that cannot be simulated.
    pub fn check(&self) -> Result<()> {
        let times = [self.times.read_ns, self.times.write_ns, self.times.copy_ns, self.times.erase_ns];
        for (name, ns) in ["read_ns", "write_ns", "copy_ns", "erase_ns"].into_iter().zip(times) {
            if ns > LONGEST_NS {
                return Err(Error::Usage(format!("{name} = {ns}: expected at most {LONGEST_NS} ns")));
            }
        }
        let pages = self.pages;
        if !(1..=MOST_PAGES).contains(&pages) {
            return Err(Error::Usage(format!("pages = {pages}: expected 1 to {MOST_PAGES} pages of a block")));
        }
        if self.valid.is_empty() {
            return Err(Error::Usage("valid = []: expected at least one number of valid pages".into()));
        }
        if let Some(valid) = self.valid.iter().find(|&&valid| valid >= pages) {
            let most = pages - 1;
            let message = format!("valid = {valid}: expected 0 to {most}, as a block of {pages} pages must give room to write");
            return Err(Error::Usage(message));
        }
        if self.free_blocks == Some(0) {
            return Err(Error::Usage("free_blocks = 0: expected at least 1, as GC copies valid pages to a free block".into()));
        }
        Ok(())
    }
}
