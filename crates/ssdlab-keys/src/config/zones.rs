//! Zones: the drive's address space in parts that are written in order and reset as a whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capacity, Config, Placement};
use crate::config::Drain;
use ssdlab_base::error::Result;
use ssdlab_base::units::Ns;

/// Zones of a drive (NVMe Zoned Namespace command set). Needs `ftl.placement = "zones"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Zones {
    /// Number of blocks of each pool that a zone takes. Its capacity is what they hold.
    #[schemars(range(min = 1, max = 4096))]
    pub blocks: u32,
    /// Distance between the first bytes of two zones, bytes: a multiple of the mapping unit. 0: the capacity, so that all addresses can be
    /// written.
    #[schemars(range(min = 0, max = 1099511627776_u64))]
    pub size_bytes: u64,
    /// Most zones that are open at a time.
    #[schemars(range(min = 1, max = 14))]
    pub max_open: u8,
    /// Most zones that are active at a time: open, or closed and neither empty nor full. Each has open blocks of its own.
    #[schemars(range(min = 1, max = 14))]
    pub max_active: u8,
    /// Time that an append takes longer than a write, ns.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub append_ns: Ns,
    /// Time to open or close a zone, or to finish an empty one, ns.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub manage_ns: Ns,
    /// Time to close the blocks of a zone that are programmed in part, ns: in a reset, and at the end of a finish.
    #[schemars(range(min = 0, max = 1000000000000_u64))]
    pub close_ns: Ns,
    /// Time to reset a zone, ns. Blocks are erased later.
    #[schemars(range(min = 0, max = 1000000000000_u64))]
    pub reset_ns: Ns,
    /// Further time to reset a zone, ns for each mapping unit written in it, padding not included.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub reset_unit_ns: Ns,
    /// A log of the host on the zones, which takes requests at any address and collects zones itself.
    pub log: LogVictim,
    /// Number of log zones of `log = "bast"` or `"fast"`.
    #[schemars(range(min = 2, max = 4096))]
    pub log_blocks: u32,
    /// Share of the capacity of all zones that the log keeps as spare.
    #[schemars(range(min = 0.0, max = 0.99))]
    pub log_spare: f64,
    /// Number of free zones below which the log collects. Writes never take the last one.
    #[schemars(range(min = 2, max = 4096))]
    pub log_free: u32,
    /// Most mapping units that the log moves at a time.
    #[schemars(range(min = 1, max = 65536))]
    pub log_batch: u32,
    /// The log moves data with the Copy command, inside the drive; else it reads and writes them.
    pub log_copy: bool,
}

/// A log of the host on the zones: which full zone it collects, or how log-block mapping gives log zones to blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LogVictim {
    /// There is no log: requests of the host go to the zones.
    None,
    /// The zone with the fewest valid units.
    Greedy,
    /// The zone with the largest (1 - u) x age / (1 + u), for a share u of valid units (Rosenblum and Ousterhout, TOCS 1992).
    CostBenefit,
    /// Block-associative log zones: a zone takes the writes of one logical block, of a zone's size (BAST, IEEE TCE 2002).
    Bast,
    /// Fully associative log zones: one zone takes writes in order, the others all else (FAST, ACM TECS 2007).
    Fast,
}

impl Default for Zones {
    fn default() -> Self {
        Zones {
            blocks: 1,
            size_bytes: 0,
            max_open: 14,
            max_active: 14,
            append_ns: 0,
            manage_ns: 0,
            close_ns: 0,
            reset_ns: 0,
            reset_unit_ns: 0,
            log: LogVictim::None,
            log_blocks: 8,
            log_spare: 0.1,
            log_free: 2,
            log_batch: 64,
            log_copy: true,
        }
    }
}

impl Config {
    /// The drive has zones (`ftl.placement = "zones"`).
    pub fn has_zones(&self) -> bool {
        self.ftl.placement == Placement::Zones
    }

    /// Number of mapping units of a zone that can be written, on a drive of `pools` pools.
    pub fn zone_units(&self, pools: u64) -> u64 {
        pools * u64::from(self.zones.blocks) * u64::from(self.data_units_per_block())
    }

    /// Number of mapping units of which a drive of `pools` pools exports a multiple: a zone, or a program in each pool, so that each carries the same share.
    pub fn exported_in(&self, pools: u64) -> u64 {
        if self.has_zones() { self.zone_units(pools).max(1) } else { pools * u64::from(self.units_per_program()) }
    }

    /// Number of mapping units between the first units of two zones, on a drive of `pools` pools.
    pub fn zone_distance(&self, pools: u64) -> u64 {
        match self.zones.size_bytes / u64::from(self.map_unit_bytes()) {
            0 => self.zone_units(pools),
            units => units,
        }
    }

    /// A log of the host takes its requests (`zones.log`).
    pub fn has_log(&self) -> bool {
        self.has_zones() && self.zones.log != LogVictim::None
    }

    /// The log of the host maps by block: data zones have log zones (`zones.log = "bast"` or `"fast"`).
    pub fn has_log_blocks(&self) -> bool {
        self.has_zones() && matches!(self.zones.log, LogVictim::Bast | LogVictim::Fast)
    }

    /// Zones that log-block mapping keeps beside those for logs: one for merges, and one that is being reset.
    pub const MERGE_ZONES: u64 = 2;

    /// Number of mapping units that the log of a drive exports whose zones have `units` that can be written, each `zone`.
    pub fn log_units(&self, units: u64, zone: u64) -> u64 {
        if self.has_log_blocks() {
            return units.saturating_sub((u64::from(self.zones.log_blocks) + Self::MERGE_ZONES) * zone);
        }
        (units as f64 * (1.0 - self.zones.log_spare)) as u64
    }

    /// Number of mapping units with an address of the host: those that can be written, and those between zones that cannot.
    pub(super) fn addressed_units(&self, capacity: &Capacity) -> u64 {
        if !self.has_zones() {
            return capacity.exported_units;
        }
        if self.has_log() {
            return self.log_units(capacity.exported_units, self.zone_units(capacity.pools));
        }
        capacity.exported_units / self.zone_units(capacity.pools) * self.zone_distance(capacity.pools)
    }

    /// The programs of a zone fill its blocks exactly, in order, so that none of its blocks has data of another zone.
    pub fn zones_fill_blocks(&self) -> bool {
        self.has_zones() && !self.wear.is_on() && !self.scheduler.write_bypass
    }

    /// Number of zones of the drive.
    ///
    /// # Errors
    /// As [`Capacity::of`].
    pub fn zone_count(&self) -> Result<u64> {
        let capacity = Capacity::of(self)?;
        Ok(capacity.exported_units / self.zone_units(capacity.pools))
    }

    /// Number of classes of host writes that name their class: handles, or active zones; 0 if they name none.
    pub fn named_classes(&self) -> u8 {
        if self.has_zones() { self.zones.max_active } else { self.handles() }
    }
}

/// Programs of the write buffer are always full.
pub(super) fn fills_programs(config: &Config) -> bool {
    let buffer = &config.buffer;
    config.units_per_program() == 1 || buffer.is_on() && buffer.protected && buffer.drain == Drain::Full && buffer.timeout_us == 0
}
