//! The configuration: one typed tree, equal in TOML files, in Python and on the command line.
//!
//! The doc comments of the fields are the reference: the JSON Schema, the documentation and the error messages are made from them. Other
//! files of this module merge and check raw text: the values of a [`Config`] are within every range given here.

mod aliases;
pub mod amounts;
mod buffer;
mod cancelled;
pub mod capacity;
pub mod check;
mod energy;
mod errors;
mod fit;
mod host;
pub mod idle;
mod json;
pub mod layers;
mod mode;
mod names;
mod namespaces;
mod node;
mod overrides;
mod power_states;
pub mod presets;
pub mod reference;
pub mod schema;
mod slc;
mod storage;
mod streams;
mod text;
mod thermal;
pub mod validate;
mod wear;
mod workload;
mod workload_rules;
mod zones;

#[cfg(test)]
mod random_tests;
#[cfg(test)]
mod tests;

pub use buffer::{Buffer, Drain};
pub use capacity::{Capacity, RESERVE};
pub use check::{Problem, check};
pub use energy::{Energy, PowerSource};
pub use errors::{Errors, RetryPolicy};
pub use fit::Fit;
pub use host::{Arbitration, Host};
pub use idle::{IdleKey, idle_by_hand};
pub use layers::Layers;
pub use mode::{MODES, Mode, ModeFacts, WHOLE};
pub use namespaces::{Exported, NamespaceLayout};
pub use power_states::{POWER_STATES_MAX, PowerState, PowerStates};
pub use slc::{Slc, SlcFull, SlcShape};
pub use storage::{Array, ArrayLevel, Cache, CacheGroup, CachePlace, CachePolicy, Padding, RebuildReads, Rotation};
pub use streams::{CLASSES_MAX, GROUPS_MAX, HANDLES_MAX, HORIZON, STREAMS_MAX, Stream, Streams, foretold_writes, oracle_bytes};
pub use thermal::Thermal;
pub use validate::{PART_PAGES_MAX, PROGRAM_UNITS_MAX, UNITS_MAX, validate};
pub use wear::{Erase, Leveling, Wear, WearEnd};
pub use workload::{
    Address, Arrival, FioWait, RangePolicy, SeparateFlow, SizeDistribution, TimeOrder, TimeUnit, TraceEvent, TraceFormat, Volumes, Workload,
};
pub use zones::{LogVictim, Zones};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::VariantArray;

/// A complete configuration: drive, policies and requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The drive's flash: geometry, timing, features.
    pub device: Device,
    /// The flash translation layer (FTL): mapping, page allocation and preparation.
    pub ftl: Ftl,
    /// Bit errors of flash reads, and the retries that they cost.
    pub errors: Errors,
    /// Blocks in SLC mode: a cache for host writes inside the flash.
    pub slc: Slc,
    /// Blocks that fail, and the end of the drive's life.
    pub wear: Wear,
    /// Zones of the drive.
    pub zones: Zones,
    /// Garbage collection (GC). The keys are the axes of the policy space.
    pub gc: Gc,
    /// Scheduling of host operations.
    pub scheduler: Scheduler,
    /// A cache in front of the drive or the array.
    pub cache: Cache,
    /// The write buffer of a drive.
    pub buffer: Buffer,
    /// The host interface of a drive.
    pub host: Host,
    /// Energy of the parts of a drive.
    pub energy: Energy,
    /// Power states of an idle drive.
    pub power_states: PowerStates,
    /// Temperature of a drive, and throttling by it.
    pub thermal: Thermal,
    /// An array of drives.
    pub array: Array,
    /// Requests: generated, or read from a trace.
    pub workload: Workload,
}

impl Config {
    /// While a GC job is active, host writes go to another block than the shared write frontier that the job fills (ae2022 section 4.2).
    pub fn redirects_writes(&self) -> bool {
        self.ftl.frontier == Frontier::Shared && self.gc.scope == Scope::Block && !self.has_zones()
    }

    /// A power failure loses data of completed writes in the cache or the write buffer, unless a flush came after them.
    pub fn loses_completed_writes(&self) -> bool {
        self.caches_writes() || (self.buffer.is_on() && !self.buffer.protected)
    }

    /// A cache completes writes before they are below it.
    pub fn caches_writes(&self) -> bool {
        self.cache.is_on() && self.cache.writes
    }

    /// Checks that the simulator knows which data survive a power failure.
    ///
    /// # Errors
    /// [`Error::Config`](ssdlab_base::error::Error::Config) for an array, and for a cache of writes above a write buffer that loses its content
    /// as well.
    pub fn survivors_of_a_power_failure_are_known(&self) -> ssdlab_base::error::Result<()> {
        let why = if self.array.drives() > 1 {
            "a power cut is that of one drive, and an array has several; set array.level = \"none\""
        } else if self.caches_writes() && self.buffer.is_on() && !self.buffer.protected {
            "a power cut needs at most one volatile level: a cache of writes (cache.policy) is above a write buffer that is not protected; set \
             buffer.protected = true, buffer.bytes = 0 or cache.writes = false"
        } else {
            return Ok(());
        };
        Err(ssdlab_base::error::Error::Config(why.into()))
    }

    /// There is a cache in front of the array, not in front of each drive.
    pub fn caches_array(&self) -> bool {
        self.cache.is_on() && self.cache.place == CachePlace::Array
    }

    /// Number of mapping units in a flash page; 1 without `ftl.map_unit_bytes`.
    pub fn units_per_page(&self) -> u32 {
        self.ftl.map_unit_bytes.map_or(1, |unit| self.device.page_bytes / unit)
    }

    /// Reads for the host may transfer a part of a page: `device.partial_reads` is on, and transfers take time.
    pub fn reads_parts(&self) -> bool {
        self.device.partial_reads && self.device.transfer_ps_per_byte > 0
    }

    /// Number of parts of a page that a read for the host can transfer by itself: its mapping units, or [`UNITS_MAX`] if the unit is the
    /// page.
    pub fn parts_per_page(&self) -> u32 {
        match self.units_per_page() {
            1 => UNITS_MAX,
            units => units,
        }
    }

    /// Number of mapping units that a program of one plane writes.
    pub fn units_per_program(&self) -> u32 {
        self.units_per_page() * self.device.pages_per_program
    }

    /// Number of programs of a block, of one plane each, that hold parity: one for each whole stripe; 0 without parity.
    pub fn parity_programs(&self) -> u32 {
        (self.device.pages_per_block / self.device.pages_per_program).checked_div(self.ftl.parity_stripe).unwrap_or(0)
    }

    /// Number of mapping units of a block that hold data: all but those of parity.
    pub fn data_units_per_block(&self) -> u32 {
        (self.device.pages_per_block - self.parity_programs() * self.device.pages_per_program) * self.units_per_page()
    }

    /// Size of a mapping unit, bytes.
    #[inline]
    pub fn map_unit_bytes(&self) -> u32 {
        self.ftl.map_unit_bytes.unwrap_or(self.device.page_bytes)
    }

    /// Part of the mapping table is in flash only (`ftl.map_cache_bytes`).
    pub fn caches_map(&self) -> bool {
        self.ftl.map_cache_bytes > 0
    }

    /// Segments take the place of the whole mapping table (`ftl.map_models`).
    pub fn maps_by_segments(&self) -> bool {
        self.ftl.map_models == MapModels::Segments
    }

    /// Commands wait at the mapping table: for translation pages, or for a read at a wrong place.
    pub fn has_mapping(&self) -> bool {
        self.caches_map() || self.maps_by_segments()
    }

    /// Size of a translation page, bytes.
    pub fn map_page_bytes(&self) -> u32 {
        self.ftl.map_page_bytes.unwrap_or(self.map_unit_bytes())
    }

    /// Size of what the mapping cache holds, a translation page or an entry, bytes.
    pub fn map_cached_bytes(&self) -> u32 {
        match self.ftl.map_cache_unit {
            MapCacheUnit::Page => self.map_page_bytes(),
            MapCacheUnit::Entry => self.ftl.map_entry_bytes,
        }
    }

    /// Number of entries of a translation page: mapping units whose addresses it holds.
    pub fn entries_per_map_page(&self) -> u32 {
        self.map_page_bytes() / self.ftl.map_entry_bytes
    }

    /// Number of mapping units that the table of `exported` units takes in flash, rounded up to whole programs of all `pools`; 0 if the
    /// table is in memory.
    pub fn map_units(&self, exported: u64, pools: u64) -> u64 {
        if !self.caches_map() {
            return 0;
        }
        let pages = exported.div_ceil(self.entries_per_map_page().into());
        let units = pages * u64::from(self.map_page_bytes() / self.map_unit_bytes());
        units.next_multiple_of(pools * u64::from(self.units_per_program()))
    }

    /// Number of mapping units that the write buffer can hold; 0 without one.
    pub fn buffer_units(&self) -> u64 {
        self.buffer.bytes / u64::from(self.map_unit_bytes())
    }

    /// Reads suspend programs of the host (`scheduler.suspend`). With write pausing: those programs that cannot pause.
    pub fn suspends_host_programs(&self) -> bool {
        self.scheduler.suspend.contains(&SuspendedForReads::Program)
    }

    /// Reads suspend `operation` of GC (`scheduler.suspend`). False if preemptible GC (lee2013) has rules of its own: `gc.suspend`,
    /// `gc.pipeline`, `gc.merge`, or jobs that advance with host operations.
    pub fn suspends_gc(&self, operation: SuspendedForReads) -> bool {
        let gc = &self.gc;
        let has_rules = !gc.suspend.is_empty() || gc.pipeline || gc.merge || gc.advances_with_requests();
        self.scheduler.suspend.contains(&operation) && !has_rules
    }

    /// The value of a key or section, such as `gc.soft` or `workload`; null for an optional key that is not set.
    ///
    /// # Errors
    /// A sentence if there is no such key.
    pub fn at(&self, key: &str) -> Result<serde_json::Value, String> {
        let tree = serde_json::to_value(self).map_err(|error| error.to_string())?;
        match tree.pointer(&format!("/{}", key.replace('.', "/"))) {
            Some(value) => Ok(value.clone()),
            None if node::root().keys().iter().any(|node| node.path == key) => Ok(serde_json::Value::Null),
            None => Err(names::unknown(key)),
        }
    }

    /// Reads suspend some operation of the host or of GC (`scheduler.suspend`).
    pub fn suspends_for_reads(&self) -> bool {
        self.suspends_host_programs() || self.suspends_gc(SuspendedForReads::Program) || self.suspends_gc(SuspendedForReads::Erase)
    }

    /// Number of bytes that the host can address: of the drive, or of the array.
    ///
    /// # Errors
    /// [`Error::Config`](ssdlab_base::error::Error::Config) if a drive has more than [`Capacity::PAGES_MAX`] pages, or exports none.
    pub fn exported_bytes(&self) -> ssdlab_base::error::Result<u64> {
        let capacity = Capacity::of(self)?;
        Ok(self.array.exported_bytes(self.addressed_units(&capacity) * capacity.unit_bytes))
    }

    /// Number of placement handles of the drive; 0 without `ftl.placement = "handles"`.
    pub fn handles(&self) -> u8 {
        if self.ftl.placement == Placement::Handles { self.ftl.handles } else { 0 }
    }
}

/// The drive's flash: geometry, timing, features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Device {
    /// Number of channels (buses) of the drive.
    #[schemars(range(min = 1, max = 1024))]
    pub channels: u32,
    /// Number of chips (packages) on each channel.
    #[schemars(range(min = 1, max = 1024))]
    pub chips_per_channel: u32,
    /// Number of dies in each chip.
    #[schemars(range(min = 1, max = 64))]
    pub dies_per_chip: u32,
    /// Number of planes in each die.
    #[schemars(range(min = 1, max = 64))]
    pub planes_per_die: u32,
    /// Number of blocks in each plane.
    #[schemars(range(min = 4, max = 1048576))]
    pub blocks_per_plane: u32,
    /// Number of pages in each block.
    #[schemars(range(min = 2, max = 16384))]
    pub pages_per_block: u32,
    /// User bytes of a page: a multiple of 512.
    #[schemars(range(min = 512, max = 1048576), extend("multipleOf" = 512))]
    pub page_bytes: u32,
    /// Spare bytes of a page, transferred with it.
    #[schemars(range(min = 0, max = 65536))]
    pub spare_bytes: u32,
    /// Array time of a page read, ns.
    #[schemars(range(min = 1, max = 1000000000000_u64))]
    pub read_ns: u64,
    /// Array time of a program, ns: of a page, or of the `pages_per_program` pages that one program writes.
    #[schemars(range(min = 1, max = 1000000000000_u64))]
    pub program_ns: u64,
    /// Read times by page type (LSB, CSB, MSB ...), ns: page `i` of a block takes entry `i mod length`. Empty: `read_ns` for all.
    #[schemars(inner(range(min = 1, max = 1000000000000_u64)))]
    pub read_ns_by_page: Vec<u64>,
    /// Program times by page type (LSB, CSB, MSB ...), ns: page `i` of a block takes entry `i mod length`; with `pages_per_program` above
    /// 1, program `i`. Empty: `program_ns` for all.
    #[schemars(inner(range(min = 1, max = 1000000000000_u64)))]
    pub program_ns_by_page: Vec<u64>,
    /// Number of pages of a plane that one program writes: 3 where all bits of a TLC word line are programmed together. `program_ns` is the
    /// time of the whole program.
    #[schemars(range(min = 1, max = 4))]
    pub pages_per_program: u32,
    /// Number of planes that a page spans, where a program writes them one after the other, `program_ns` each, while there is time
    /// (docs/model/flash.md, section Programs plane by plane). 1: all of a page is always programmed at once.
    #[schemars(range(min = 1, max = 16))]
    pub plane_programs: u32,
    /// Array time of a block erase, ns.
    #[schemars(range(min = 1, max = 1000000000000_u64))]
    pub erase_ns: u64,
    /// Channel bus time, ps a byte. 0: a transfer takes only `command_ns`.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub transfer_ps_per_byte: u64,
    /// Fixed overhead of each transfer on the bus, ns.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub command_ns: u64,
    /// Time for which the command of a page read occupies the bus before the array reads, ns, for each page. 0: reads begin without the
    /// bus. Above 0: transfers of data in registers go before commands.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub read_command_ns: u64,
    /// A page can be copied inside its plane without the bus (copyback).
    pub copyback: bool,
    /// Operations of one kind on different planes of a die can run as one multi-plane operation. Needs `ftl.pool = "plane"`.
    pub multiplane: bool,
    /// Multi-plane programs must go to the same page offset in each plane's block.
    pub multiplane_aligned: bool,
    /// Multi-plane reads must be of the same page offset in each plane's block.
    pub multiplane_aligned_reads: bool,
    /// The dies of a chip work independently. If not, a chip executes one operation at a time.
    pub die_interleave: bool,
    /// A read for the host transfers only the mapping units that it needs or, where the unit is the page, the sixteenths of the page, each
    /// with its share of the spare bytes. If not, it transfers the whole page.
    pub partial_reads: bool,
    /// A die can transfer data for one operation while its array executes another of the same kind.
    pub cache_register: bool,
    /// Number of steps of a program (incremental step pulse programming), of equal length. A program can pause for reads after each step
    /// but the last (`scheduler.write_pausing`). 1: it cannot pause.
    #[schemars(range(min = 1, max = 1000))]
    pub ispp_steps: u32,
    /// Number of page registers of a plane. With 1, a suspended read or program keeps the register: other operations that need it wait.
    #[schemars(range(min = 1, max = 2))]
    pub page_registers: u32,
    /// Time from the suspend command until the die is free for other operations, ns. An operation that would end sooner is not suspended.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub suspend_ns: u64,
    /// Array time by which each suspension for reads (`scheduler.suspend`) lengthens a program or erase, ns: progress that is lost.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub resume_ns: u64,
    /// Least array time of a program or erase before it is suspended for reads (`scheduler.suspend`), and between two suspensions, ns.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub min_run_ns: u64,
    /// Limit of the suspensions of one program or erase for reads (`scheduler.suspend`), with `plane_programs` of each plane. 0: unlimited.
    #[schemars(range(min = 0, max = 1000000))]
    pub max_suspends: u32,
    /// Over-provisioning: (physical - exported) / physical bytes. Many papers divide by the exported bytes instead. Pages of parity count
    /// as over-provisioning, unless `ftl.parity_in_spare` is false.
    #[schemars(range(min = 0.0, max = 0.99))]
    pub overprovisioning: f64,
}

impl Device {
    /// Array time of a page read, ns. If it differs by page type: the mean over the pages of a block, rounded to the nearest ns.
    pub fn mean_read_ns(&self) -> u64 {
        mean_of_block(&self.read_ns_by_page, self.read_ns, self.pages_per_block)
    }

    /// Array time of a program, ns. If it differs by page type: the mean over the programs of a block, rounded to the nearest ns.
    pub fn mean_program_ns(&self) -> u64 {
        mean_of_block(&self.program_ns_by_page, self.program_ns, self.pages_per_block / self.pages_per_program)
    }
}

fn mean_of_block(by_page: &[u64], single: u64, pages: u32) -> u64 {
    if by_page.is_empty() {
        return single;
    }
    let sum: u128 = by_page.iter().cycle().take(pages as usize).map(|&ns| u128::from(ns)).sum();
    ((sum + u128::from(pages) / 2) / u128::from(pages)) as u64
}

impl Default for Device {
    /// A small drive: 1 GiB of flash with 4 dies.
    fn default() -> Self {
        Device {
            channels: 4,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 1024,
            pages_per_block: 64,
            page_bytes: 4096,
            spare_bytes: 0,
            read_ns: 25_000,
            program_ns: 200_000,
            read_ns_by_page: Vec::new(),
            program_ns_by_page: Vec::new(),
            pages_per_program: 1,
            plane_programs: 1,
            erase_ns: 1_500_000,
            transfer_ps_per_byte: 25_000,
            command_ns: 0,
            read_command_ns: 0,
            copyback: false,
            multiplane: false,
            multiplane_aligned: true,
            multiplane_aligned_reads: false,
            die_interleave: true,
            partial_reads: false,
            cache_register: false,
            ispp_steps: 8,
            page_registers: 2,
            suspend_ns: 20_000,
            resume_ns: 0,
            min_run_ns: 0,
            max_suspends: 0,
            overprovisioning: 0.15,
        }
    }
}

/// The flash translation layer: page-level mapping.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ftl {
    /// Page allocation. A permutation of the letters C (channel), W (way: chip), D (die), P (plane): static by address, fastest changing
    /// first. `dynamic`: to the chip with the fewest operations waiting or in service.
    pub allocation: Allocation,
    /// Which of several chips with equally few operations takes a write (`allocation = "dynamic"`).
    pub dynamic_ties: DynamicTies,
    /// The allocation domain (pool): the blocks of a plane or of a die. A pool has its own free list, write frontiers and garbage
    /// collection.
    pub pool: PoolScope,
    /// Namespaces: the number of dies of each, which are its own. Each has the part of the exported range, in their order, that its dies have
    /// of all dies. Channels, the host interface, caches and the controller are shared. Needs static allocation. Empty: no namespaces, and
    /// addresses are striped over all dies.
    #[schemars(inner(range(min = 1, max = 67108864)))]
    pub namespaces: Vec<u32>,
    /// The order in which namespaces take dies (`namespaces`).
    pub namespace_layout: NamespaceLayout,
    /// What is filled, collected and erased as one: a block, or a superblock, which has a block of each pool (`superblock_span`) and is
    /// filled die after die. Superblocks of several pools need allocation = "dynamic".
    pub reclaim_unit: ReclaimUnit,
    /// The pools whose blocks form a superblock: those of the drive, or of a channel (`reclaim_unit = "superblock"`).
    pub superblock_span: SuperblockSpan,
    /// Write frontier (open block) of a pool: host writes and GC moves share one, or have one each.
    pub frontier: Frontier,
    /// Data placement: which of several open blocks a host write or a page move goes to. Needs ftl.frontier = "separate".
    pub placement: Placement,
    /// Number of placement handles, each with an open block for host writes (`placement = "handles"`).
    #[schemars(range(min = 1, max = 8))]
    pub handles: u8,
    /// The handle of requests that name none, from 0 (`placement = "handles"`).
    #[schemars(range(min = 0, max = 7))]
    pub default_handle: u8,
    /// Whether moved pages of different handles share an open block (`placement = "handles"`).
    pub isolation: Isolation,
    /// A page is hot if its last write was fewer host writes ago than this share of the logical pages (`placement = "hot-cold"`).
    #[schemars(range(min = 0, max = 1000))]
    pub hot_within: f64,
    /// Number of groups by death time, of host writes and of page moves each (`placement = "oracle"`).
    #[schemars(range(min = 2, max = 8))]
    pub groups: u8,
    /// Number of streams of host writes between which a user-defined policy chooses (`placement = "custom"`).
    #[schemars(range(min = 1, max = 8))]
    pub host_streams: u8,
    /// Number of streams of page moves between which a user-defined policy chooses (`placement = "custom"`).
    #[schemars(range(min = 1, max = 8))]
    pub move_streams: u8,
    /// Size of a mapping unit, bytes: a flash page holds page_bytes / map_unit_bytes units of different addresses, each mapped by itself.
    /// That number must be a power of two, at most 16. Absent: the unit is the page.
    #[schemars(range(min = 512, max = 1048576), extend("multipleOf" = 512))]
    pub map_unit_bytes: Option<u32>,
    /// One of every `parity_stripe` programs of a block holds parity instead of data, as protection against the loss of a die. It is
    /// programmed with the program before it, which then takes one more transfer and one more program time. 0: no parity; else at least 2.
    /// A drive with parity needs more over-provisioning, unless `parity_in_spare` is false.
    #[schemars(range(min = 0, max = 65535))]
    pub parity_stripe: u32,
    /// Pages of parity count as over-provisioning. If not, `device.overprovisioning` is (data - exported) / data, where data are the bytes
    /// of all pages that hold no parity.
    pub parity_in_spare: bool,
    /// Memory for the mapping table, bytes. The rest of the table is in flash, in translation pages that are read when they are needed, and
    /// written back. At least one translation page or entry (`map_cache_unit`). 0: there is memory for the whole table.
    #[schemars(range(min = 0, max = 1099511627776_u64))]
    pub map_cache_bytes: u64,
    /// What the mapping cache holds: whole translation pages, or single entries.
    pub map_cache_unit: MapCacheUnit,
    /// Replacement policy of the mapping cache: which translation page (or entry) in memory is replaced by a missing one.
    pub map_cache_policy: MapCachePolicy,
    /// Size of a translation page, bytes: whole mapping units. Absent: one unit.
    #[schemars(range(min = 512, max = 16777216), extend("multipleOf" = 512))]
    pub map_page_bytes: Option<u32>,
    /// Bytes of the mapping table for each mapping unit: a translation page has map_page_bytes / map_entry_bytes entries.
    #[schemars(range(min = 4, max = 512))]
    pub map_entry_bytes: u32,
    /// Learned models of the mapping table: which addresses the controller computes instead of looking them up.
    pub map_models: MapModels,
    /// Most mapping units by which a model of `map_models = "segments"` may be wrong. A read at a wrong place is followed by another.
    #[schemars(range(min = 0, max = 63))]
    pub map_model_error: u8,
    /// Most pieces of the model of a translation page (`map_models = "exact"`).
    #[schemars(range(min = 1, max = 64))]
    pub map_model_pieces: u8,
    /// How a part of a page (or mapping unit) is written: by read-modify-write, or by a program without a read.
    pub partial_write: PartialWrite,
    /// How a page without data is read: at once, or by a flash read.
    pub unmapped_read: UnmappedRead,
    /// The drive's state at the start of the run.
    pub precondition: Precondition,
}

impl Default for Ftl {
    fn default() -> Self {
        Ftl {
            allocation: Allocation::default(),
            dynamic_ties: DynamicTies::Turn,
            pool: PoolScope::Plane,
            namespaces: Vec::new(),
            namespace_layout: NamespaceLayout::Channels,
            reclaim_unit: ReclaimUnit::Block,
            superblock_span: SuperblockSpan::Drive,
            frontier: Frontier::Separate,
            placement: Placement::None,
            handles: 8,
            default_handle: 0,
            isolation: Isolation::Initial,
            hot_within: 0.25,
            groups: 8,
            host_streams: 2,
            move_streams: 2,
            map_unit_bytes: None,
            parity_stripe: 0,
            parity_in_spare: true,
            map_cache_bytes: 0,
            map_cache_unit: MapCacheUnit::Page,
            map_cache_policy: MapCachePolicy::Lru,
            map_page_bytes: None,
            map_entry_bytes: 4,
            map_models: MapModels::None,
            map_model_error: 0,
            map_model_pieces: 8,
            partial_write: PartialWrite::Rmw,
            unmapped_read: UnmappedRead::Immediate,
            precondition: Precondition::default(),
        }
    }
}

/// A dimension of the geometry over which static allocation stripes pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// The channel.
    Channel,
    /// The chip on its channel.
    Way,
    /// The die in its chip.
    Die,
    /// The plane in its die.
    Plane,
}

/// How pages are allocated to channels, chips, dies and planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// Static by address: the dimensions in the order in which consecutive pages change them.
    Static([Dimension; 4]),
    /// To the chip with the fewest operations waiting or in service (elyasi2017's DynAlloc).
    Dynamic,
}

impl Default for Allocation {
    fn default() -> Self {
        Allocation::Static([Dimension::Channel, Dimension::Way, Dimension::Die, Dimension::Plane])
    }
}

impl Allocation {
    /// Every name of an allocation, for the schema and messages: `dynamic` and the permutations of CWDP.
    pub fn names() -> Vec<String> {
        let mut names = vec!["dynamic".to_string()];
        for a in "CWDP".chars() {
            for b in "CWDP".chars().filter(|&b| b != a) {
                for c in "CWDP".chars().filter(|&c| c != a && c != b) {
                    let d = "CWDP".chars().find(|&d| d != a && d != b && d != c).expect("four letters");
                    names.push([a, b, c, d].iter().collect());
                }
            }
        }
        names
    }
}

impl std::str::FromStr for Allocation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "dynamic" {
            return Ok(Allocation::Dynamic);
        }
        if !Self::names().iter().any(|name| name == text) {
            return Err(format!("\"{text}\" is neither a permutation of the letters CWDP nor \"dynamic\""));
        }
        let mut order = [Dimension::Channel; 4];
        for (slot, letter) in order.iter_mut().zip(text.chars()) {
            *slot = match letter {
                'C' => Dimension::Channel,
                'W' => Dimension::Way,
                'D' => Dimension::Die,
                _ => Dimension::Plane,
            };
        }
        Ok(Allocation::Static(order))
    }
}

impl std::fmt::Display for Allocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Allocation::Dynamic => f.write_str("dynamic"),
            Allocation::Static(order) => order.iter().try_for_each(|dimension| {
                f.write_str(match dimension {
                    Dimension::Channel => "C",
                    Dimension::Way => "W",
                    Dimension::Die => "D",
                    Dimension::Plane => "P",
                })
            }),
        }
    }
}

impl Serialize for Allocation {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Allocation {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Allocation {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Allocation".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "enum": Allocation::names() })
    }
}

/// The allocation domain: the blocks that share a free list, write frontiers and garbage collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PoolScope {
    /// One pool per plane.
    Plane,
    /// One pool per die (lee2013's "element").
    Die,
}

/// Whether host writes and GC moves share a write frontier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Frontier {
    /// Host writes and GC moves fill one block (bux2011).
    Shared,
    /// Host writes fill one block, GC moves another.
    Separate,
}

/// Data placement policy: which of several streams a host write or a page move goes to, each with an open block in every pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// One stream, or one of host writes and one of page moves (`frontier`).
    None,
    /// The request names the stream: a handle (NVMe Flexible Data Placement).
    Handles,
    /// Pages that were written recently apart from the others.
    HotCold,
    /// By inferred lifetime: two streams of host writes, four of page moves (SepBIT, FAST 2022).
    Sepbit,
    /// By when a page will be overwritten or trimmed, which is read ahead from the workload: a bound for other policies.
    Oracle,
    /// A user-defined policy, which comes with the run.
    Custom,
    /// By zone: the host writes each zone in order and resets it as a whole (section `zones`).
    Zones,
}

/// Which of several chips with equally few operations takes a write under dynamic allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DynamicTies {
    /// The next in turn, one of each channel before the next of each.
    Turn,
    /// The one that holds the fewest valid pages, of equals the next in turn.
    Valid,
}

/// What is filled, collected and erased as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReclaimUnit {
    /// A block.
    Block,
    /// A superblock: a block of each of several pools.
    Superblock,
}

/// The pools whose blocks form a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SuperblockSpan {
    /// All pools of the drive.
    Drive,
    /// The pools of one channel.
    Channel,
}

/// Isolation of the pages that garbage collection moves, with placement handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Moved pages of all handles share a stream.
    Initial,
    /// Moved pages have a stream for each handle.
    Persistent,
}

/// What the mapping cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MapCacheUnit {
    /// Whole translation pages.
    Page,
    /// Single entries. A changed entry that is replaced is written back with all changed entries of its translation page.
    Entry,
}

/// Learned models of the mapping table: lines that give the place of a unit from its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MapModels {
    /// There are none.
    None,
    /// Beside the mapping cache each translation page has a few lines, and a bit for each entry that they give exactly: reads of these need no
    /// translation page (LearnedFTL, HPCA 2024).
    Exact,
    /// Lines with a bounded error take the place of the whole table, in memory (LeaFTL, ASPLOS 2023).
    Segments,
}

/// Replacement policy of the mapping cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MapCachePolicy {
    /// The least recently used translation page is replaced.
    Lru,
    /// The translation page that has been in memory for longest is replaced.
    Fifo,
    /// First in, first out with a second chance: a translation page that was used since it came, or since it was last passed over, is
    /// passed over once.
    Clock,
}

/// How a part of a page is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PartialWrite {
    /// Read-modify-write: the page is read, then programmed with the new bytes.
    Rmw,
    /// The page is programmed without a read.
    Program,
}

/// How a page without data is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnmappedRead {
    /// The read completes at once, as on most drives after a trim.
    Immediate,
    /// The read costs a flash read on the die where the page would be.
    Flash,
}

/// The drive's state at the start of the run. The preparation is not part of the simulated time of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Precondition {
    /// Preparation of the drive. `soft` and `steady` overwrite `range` at random. `soft`, `steady` and `trace` fill the whole drive before,
    /// or only the ranges of the file `prefill`, if it is given.
    pub kind: PreconditionKind,
    /// CSV file `offset_bytes,size_bytes`: the ranges that hold data.
    pub prefill: Option<String>,
    /// The run begins with the whole mapping table in flash (`ftl.map_cache_bytes`). If not, only translation pages with entries of data are
    /// there, and an address in another one is looked up without a flash read.
    pub whole_table: bool,
    /// For `kind = "soft"` and `"steady"`: share of the exported range, from its start, that is overwritten. Absent: the workload's
    /// footprint.
    #[schemars(range(min = 0.000001, max = 1.0))]
    pub range: Option<f64>,
    /// For `kind = "trace"`: number of times that the trace is simulated before the run.
    #[schemars(range(min = 1, max = 1000000))]
    pub rounds: u32,
    /// Limit of a timed end of the preparation, in multiples of the exported bytes that the host reads and writes. In it the drive serves
    /// other requests of the generated workload, under the run's scheme, until write amplification has settled. 0: no timed end.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub settle: f64,
    /// Erases of each block before the preparation, which age its reads (`errors.retry`) and wear it (`wear.endurance`). With `pe_cycles_max`: the least number.
    #[schemars(range(min = 0, max = 1000000))]
    pub pe_cycles: u32,
    /// The largest number of erases of a block before the preparation: each block has one drawn from `pe_cycles` to this. Absent: all have
    /// `pe_cycles`.
    #[schemars(range(min = 0, max = 1000000))]
    pub pe_cycles_max: Option<u32>,
    /// Days since the blocks with data were opened when the run begins (`errors.retry`). With `retention_days_max`: the least number.
    #[schemars(range(min = 0.0, max = 36500.0))]
    pub retention_days: f64,
    /// The largest number of days since a block was opened: each block has one drawn from `retention_days` to this. Absent: all have
    /// `retention_days`.
    #[schemars(range(min = 0.0, max = 36500.0))]
    pub retention_days_max: Option<f64>,
}

impl Default for Precondition {
    fn default() -> Self {
        Precondition {
            kind: PreconditionKind::Fill,
            prefill: None,
            whole_table: false,
            range: None,
            rounds: 1,
            settle: 0.0,
            pe_cycles: 0,
            pe_cycles_max: None,
            retention_days: 0.0,
            retention_days_max: None,
        }
    }
}

/// Preparation of the drive before the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PreconditionKind {
    /// Every block is erased.
    None,
    /// Every exported page is written once, in address order.
    Fill,
    /// The pages of the ranges in the file `prefill` are written once.
    Ranges,
    /// The drive (or only the ranges of `prefill`) is filled, then overwritten at random until the next write would trigger GC in some
    /// pool.
    Soft,
    /// The drive (or only the ranges of `prefill`) is filled, then overwritten at random until write amplification is steady, without
    /// simulated time (see `settle`).
    Steady,
    /// The drive (or only the ranges of `prefill`) is filled, then the trace is simulated `rounds` times: all that the run would replay
    /// without a number of requests, from `skip` to the end or `limit_s`.
    Trace,
}

/// Garbage collection (GC). The keys are the axes of the policy space; a published scheme is a point in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Gc {
    /// Condition that triggers GC in a pool.
    pub trigger: Trigger,
    /// Event that starts GC in a pool where it is triggered: the write that takes a block, or a host operation that waits.
    pub begin: Begin,
    /// Length of GC in a pool. 0: one block; host operations that waited go before the next job. Above 0: an episode, block after block,
    /// until the pool has T_soft + `until` free blocks. (2 blocks take the place of T_soft if that is smaller, or if the trigger is
    /// `invalid-share`.) Within an episode, operations that the scope excludes wait.
    #[schemars(range(min = 0, max = 1000000))]
    pub until: u32,
    /// How a GC job advances: whenever its die is free for it, or step by step with host operations, if the scope is `none` or `block`.
    pub advance: Advance,
    /// Soft threshold T_soft: a pool with fewer free blocks triggers GC. Below 1: a share of the pool's blocks, rounded to the nearest
    /// block, at least 1. From 1: a number of blocks.
    #[schemars(range(min = 0.0, max = 1000000.0))]
    pub soft: f64,
    /// Hard threshold T_hard as a share of T_soft: below it host writes wait. Rounded to the nearest block, at least 1. 0: none.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub hard: f64,
    /// Operations that wait below the hard threshold: host writes, or all host operations.
    pub hard_stops: HardStops,
    /// For the triggers `invalid-share` and `both`: a block with a larger share of invalid pages triggers GC. The victim policy picks the
    /// victim.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub invalid_share: f64,
    /// For the trigger `both`: a pool with fewer free blocks triggers GC, whatever its blocks hold. Below 1: a share of the pool's blocks,
    /// rounded to the nearest block; from 1: a number of blocks. The last free block is always kept for GC.
    #[schemars(range(min = 0.0, max = 1000000.0))]
    pub forced: f64,
    /// Victim policy: which block of a pool a GC job collects.
    pub victim: Victim,
    /// For `victim = "d-choices"`: number of blocks drawn at random, of which the one with the fewest valid pages is collected. 1: a random
    /// block; large numbers: close to greedy.
    #[schemars(range(min = 1, max = 65536))]
    pub choices: u32,
    /// The scope of blocking: where host operations wait while a GC job is active.
    pub scope: Scope,
    /// Priority between host and GC operations that are ready for the same die.
    pub priority: Priority,
    /// GC operations in service that a host operation may suspend.
    pub suspend: Vec<Suspendable>,
    /// Host operations overlap with page moves of GC of the same kind. Needs `device.cache_register`.
    pub pipeline: bool,
    /// Host requests merge with a page move of the same page, where the scope does not block them. Page moves then never use copyback.
    pub merge: bool,
    /// Number of page moves that a job may have in flight. 1: the page stays in the register of the die. Above 1: pages go through the
    /// controller's buffer, never by copyback. With several mapping units in a program: number of programs for which a job gathers units in
    /// that buffer.
    #[schemars(range(min = 1, max = 16384))]
    pub moves_in_flight: u32,
    /// What becomes of the mapping units of a job that fill no program, where a program takes several.
    pub leftover: Leftover,
    /// Jobs of several planes of a die take turns step by step (page moves, erases), or job by job.
    pub turns: Turns,
    /// Pacing: host writes go on at the rate at which GC frees room, while a pool is below T_soft and its job is active.
    pub pace: Pace,
    /// For `pace = "proportional"`: limit of the credit of host writes, which may be ahead of GC by that much, as a share of the pages of
    /// T_soft free blocks. For `pace = "room"`: the room over which what writes owe rises, as a share of the pages of a block. At least
    /// one page.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub pace_window: f64,
    /// For the trigger `idle`: time without outstanding requests until idle-time GC starts, us.
    #[schemars(range(min = 1, max = 1000000000_u64))]
    pub idle_us: u64,
    /// For the trigger `idle`: the timeout is always `idle_us`, or starts at `idle_us` and adapts to the workload.
    pub idle_timeout: IdleTimeout,
    /// For the trigger `idle`: number of free blocks of a pool at which idle-time GC stops, in multiples of T_soft.
    #[schemars(range(min = 1.0, max = 1000000.0))]
    pub idle_free: f64,
    /// Time to poll the host queue at each preemption point, ns: added to the array time of each read, program and erase of a GC job.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub poll_ns: u64,
}

impl Default for Gc {
    fn default() -> Self {
        Gc {
            trigger: Trigger::Soft,
            begin: Begin::Frontier,
            until: 0,
            advance: Advance::Alone,
            soft: 0.05,
            hard: 0.0,
            hard_stops: HardStops::Writes,
            invalid_share: 0.7,
            forced: 0.01,
            victim: Victim::Greedy,
            // Close to greedy: Van Houdt 2013 (src/gc/victim/d_choices.rs).
            choices: 10,
            scope: Scope::Chip,
            priority: Priority::Gc,
            suspend: Vec::new(),
            pipeline: false,
            merge: false,
            moves_in_flight: 1,
            leftover: Leftover::Pad,
            turns: Turns::Step,
            pace: Pace::None,
            // With T_soft = 4 blocks, a window above 0.44 lets pools run dry (docs/model/pacing.md).
            pace_window: 0.4,
            idle_us: 10_000,
            idle_timeout: IdleTimeout::Fixed,
            idle_free: 2.0,
            poll_ns: 0,
        }
    }
}

impl Gc {
    /// Host reads of the blocks that a GC job uses wait: the scope is `block`, and the host has no priority (ae2022 section 4.3: "the DTQ
    /// accepts only regular read requests while GC is being applied to the same block").
    pub fn excludes_block_reads(&self) -> bool {
        self.scope == Scope::Block && self.priority != Priority::Host
    }

    /// GC jobs wait for host operations between their steps (`gc.advance`). False if the scope is not `none` or `block`.
    pub fn advances_with_requests(&self) -> bool {
        self.advance != Advance::Alone && matches!(self.scope, Scope::None | Scope::Block)
    }

    /// Host operations merge with page moves. Where they wait until the job has ended there is nothing to merge.
    pub fn merges(&self) -> bool {
        self.merge && (self.scope == Scope::None || self.scope == Scope::Block && self.priority == Priority::Host)
    }

    /// Number of invalid pages with which a block of `pages` pages triggers GC: the least number above the share `invalid_share`. With
    /// another trigger: `pages + 1`, which no block reaches.
    pub fn invalid_pages_wanted(&self, pages: u32) -> u32 {
        match self.trigger {
            Trigger::InvalidShare | Trigger::Both => whole_part(self.invalid_share, pages) + 1,
            Trigger::Soft | Trigger::Idle => pages + 1,
        }
    }

    /// Number of free blocks at which idle-time GC stops, for pools of `pool_blocks`: `idle_free` x T_soft, rounded to the nearest block.
    pub fn idle_blocks(&self, pool_blocks: u32) -> u32 {
        libm::round(self.idle_free * f64::from(self.soft_blocks(pool_blocks))) as u32
    }

    /// Soft threshold T_soft for pools of `pool_blocks`, blocks; at least 1.
    pub fn soft_blocks(&self, pool_blocks: u32) -> u32 {
        blocks_of(self.soft, pool_blocks).max(1)
    }

    /// Free blocks below which a pool of `pool_blocks` triggers GC, whatever its blocks hold.
    pub fn forced_blocks(&self, pool_blocks: u32) -> u32 {
        match self.trigger {
            Trigger::Soft | Trigger::Idle => self.soft_blocks(pool_blocks),
            Trigger::InvalidShare => 0,
            Trigger::Both => blocks_of(self.forced, pool_blocks),
        }
    }

    /// Window of paced writes (`pace_window`) in a pool of `pool_blocks`, in mapping units, of which a block holds `pages` with data; at
    /// least 1.
    pub fn pace_units(&self, pool_blocks: u32, pages: u32) -> i64 {
        let blocks = if self.pace == Pace::Room { 1 } else { self.soft_blocks(pool_blocks) };
        let units = self.pace_window * f64::from(blocks) * f64::from(pages);
        (libm::round(units) as i64).max(1)
    }

    /// Hard threshold T_hard for pools of `pool_blocks`, blocks; 0: none.
    pub fn hard_blocks(&self, pool_blocks: u32) -> u32 {
        if self.hard == 0.0 {
            return 0;
        }
        (libm::round(self.hard * f64::from(self.soft_blocks(pool_blocks))) as u32).max(1)
    }
}

/// A number of blocks of a pool of `pool_blocks`: below 1 a share of them, rounded to the nearest.
fn blocks_of(value: f64, pool_blocks: u32) -> u32 {
    let blocks = if value < 1.0 { value * f64::from(pool_blocks) } else { value };
    // `libm` instead of the system's rounding: equal results on all platforms.
    libm::round(blocks) as u32
}

/// The share of `count`, rounded down. 0.29 of 100 is 29, although the product of binary numbers is slightly less.
pub fn whole_part(share: f64, count: u32) -> u32 {
    let product = share * f64::from(count);
    let nearest = libm::round(product);
    (if (product - nearest).abs() < 1e-6 { nearest } else { libm::floor(product) }) as u32
}

/// How the timeout of the trigger `idle` changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IdleTimeout {
    /// The timeout is always `gc.idle_us`.
    Fixed,
    /// The timeout doubles (up to 16 x `gc.idle_us`) when a request interrupts idle-time GC; it halves (down to 1/16 x `gc.idle_us`) when
    /// idle-time GC ends before a request comes.
    Adaptive,
}

/// Condition that triggers garbage collection in a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// The pool has fewer free blocks than the soft threshold.
    Soft,
    /// The pool has fewer free blocks than the soft threshold; in idle time, fewer than `gc.idle_free` times as many.
    Idle,
    /// A closed block of the pool has a share of invalid pages above `gc.invalid_share`, or the pool's free blocks are down to the reserve.
    InvalidShare,
    /// Two thresholds at once: the pool has fewer free blocks than the soft threshold, and a closed block with a share of invalid pages above
    /// `gc.invalid_share`; or it has fewer free blocks than `gc.forced`, whatever its blocks hold.
    Both,
}

/// Event that starts GC in a pool where it is triggered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Begin {
    /// The write that takes a free block as write frontier: a job begins at once, whether or not an operation waits.
    Frontier,
    /// A host operation that waits for the die. Until one does, the pool stays short of free blocks.
    Request,
    /// A host write that waits for the die. Until one does, the pool stays short of free blocks.
    Write,
}

/// How a GC job advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Advance {
    /// The job takes its next step whenever its die is free for it.
    Alone,
    /// Each host operation that begins on the die lets the job take one step: the read of a page, the program of a page, or the erase.
    WithRequests,
    /// Each host operation that begins on the die lets the job take one step, which goes before the next waiting host operation, unless
    /// that operation could suspend it.
    InTurns,
}

/// Operations that wait below the hard threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HardStops {
    /// Host writes to the pool wait (lee2013 III-D).
    Writes,
    /// All host operations on the pool wait (lee2013 V-B).
    All,
}

/// Victim policy: which block of a pool a GC job collects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, VariantArray)]
#[serde(rename_all = "kebab-case")]
pub enum Victim {
    /// The block with the fewest valid pages; ties: the block that has had that number for longest.
    Greedy,
    /// The block with the fewest valid pages among the blocks erased no more often than the mean of their pool.
    WearAware,
    /// The block with the fewest valid pages among `gc.choices` blocks drawn at random.
    DChoices,
    /// The block filled first, as in a cyclic log. A block without invalid pages is skipped and counts as filled again.
    Fifo,
    /// The block with the largest (1 - u) / 2u x age: u is its share of valid pages, the age the number of blocks of the pool filled since.
    CostBenefit,
    /// A random block with an invalid page, each with equal probability.
    Random,
}

impl Victim {
    /// All policies, in the order of the reference.
    pub const ALL: &'static [Victim] = Victim::VARIANTS;

    /// The policy draws random numbers, so that the order in which pools pick changes the victims.
    pub fn draws(self) -> bool {
        match self {
            Victim::DChoices | Victim::Random => true,
            Victim::Greedy | Victim::WearAware | Victim::Fifo | Victim::CostBenefit => false,
        }
    }
}

/// The scope of blocking: where host operations wait while a GC job is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Host operations on the whole drive wait.
    Device,
    /// Host operations on the job's channel wait.
    Channel,
    /// Host operations on the job's chip wait.
    Chip,
    /// Host operations on the job's die wait.
    Die,
    /// Host operations on the job's plane wait.
    Plane,
    /// Host operations on the job's blocks wait: the victim and the blocks that the job fills. With priority `host` only writes wait.
    Block,
    /// No host operation waits.
    None,
}

/// Priority between host and GC operations that are ready for the same die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Priority {
    /// GC operations go first.
    Gc,
    /// The operation that became ready first goes first; a host operation counts from its admission to the chip queue.
    Fifo,
    /// Host operations go first.
    Host,
}

/// What becomes of the mapping units of a GC job that fill no program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Leftover {
    /// The job programs them, with padding.
    Pad,
    /// They wait in the controller's buffer for the next job of their pool, and their block is erased when the last of them is programmed,
    /// at the end of that job at the latest. A pool that is down to the reserve or below T_hard does not wait.
    Carry,
}

/// How GC jobs of several planes of a die take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Turns {
    /// Each plane with triggered GC has a job. Of the jobs' next steps, the one that became ready first goes first.
    Step,
    /// A die has one job at a time. Other planes of the die with triggered GC wait for their turn.
    Job,
}

/// How host writes are admitted while a pool is short of free blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// Writes are admitted without pacing, until their pool has no page left.
    None,
    /// Each page (mapping unit) written takes credit that GC earns: each move from a victim with v valid pages of N earns (N - v) / v.
    Proportional,
    /// Each page (mapping unit) programmed for the host in a pool below T_soft owes moves, which go before more writes to its die: the more, the less
    /// room the pool has beside what its jobs have still to earn.
    Room,
}

/// A GC operation that a host operation may suspend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Suspendable {
    /// Page reads of GC.
    Read,
    /// Page programs of GC.
    Program,
    /// Block erases of GC.
    Erase,
}

/// An operation that is suspended when a read of the host waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SuspendedForReads {
    /// Programs of the host and of GC.
    Program,
    /// Block erases of GC.
    Erase,
}

/// Scheduling of host operations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Scheduler {
    /// Queue order of a chip.
    pub order: Order,
    /// Host operations of one kind overlap on a die: one transfers while another is in the array. Needs `device.cache_register`.
    pub pipeline: bool,
    /// With a bounded write queue and `fr-fcfs`: writes have priority while the queue is filled to more than this share.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub alpha: f64,
    /// Capacity of a chip's read queue, operations. 0: unbounded.
    #[schemars(range(min = 0, max = 1000000))]
    pub read_queue: u32,
    /// Capacity of a chip's write queue, operations. 0: unbounded.
    #[schemars(range(min = 0, max = 1000000))]
    pub write_queue: u32,
    /// A read bypasses queued reads that have enough slack, so that it does not delay their requests (elyasi2017's Rbyp). Needs `fr-fcfs`.
    pub read_bypass: bool,
    /// A write bypasses queued writes that have enough slack, so that it does not delay their requests (elyasi2017's Wbyp). Needs
    /// `fr-fcfs`.
    pub write_bypass: bool,
    /// A program with enough slack pauses for reads after one of its `device.ispp_steps` (write pausing, WP). Needs `fr-fcfs`.
    pub write_pausing: bool,
    /// Operations of the host and of GC that are suspended in the array when a read of the host waits. With `scheduler.write_pausing` a
    /// program of the host that has slack for the read pauses instead. `gc.suspend` alone decides about operations of GC (if it is empty,
    /// none is suspended) in each of four cases: it is not empty, `gc.pipeline` is on, `gc.merge` is on, `gc.advance` is not `alone` and
    /// `gc.scope` is `none` or `block`.
    pub suspend: Vec<SuspendedForReads>,
    /// The end of every request is estimated even if no mechanism uses it, to measure the error of the estimates.
    pub estimates: bool,
    /// The mean error of the last second's estimates is added to each estimate (elyasi2017, footnote 3).
    pub error_feedback: bool,
    /// For `order = "fair"`: operations that a flow gives on a die in each round, by flow; further flows give one. Empty: no rounds.
    #[schemars(inner(range(min = 1, max = 256)))]
    pub flow_weights: Vec<u32>,
    /// For `order = "fair"`: length of the epochs by which flows are classified, us.
    #[schemars(range(min = 1, max = 1000000000))]
    pub fair_epoch_us: u32,
    /// For `order = "fair"`: a flow that read less than this in an epoch, MB (1,000,000 bytes) a second of all dies, is of low intensity among
    /// reads, and one that wrote less among writes.
    #[schemars(range(min = 0, max = 1000000000))]
    pub fair_low_mb_s: u32,
    /// For `order = "fair"`: where the least mean slowdown of a flow is less than this share of the greatest, the flow that is slowed down most
    /// goes first.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub fair_ratio: f64,
}

impl Default for Scheduler {
    fn default() -> Self {
        Scheduler {
            order: Order::Fcfs,
            pipeline: false,
            alpha: 0.8,
            read_queue: 0,
            write_queue: 0,
            read_bypass: false,
            write_bypass: false,
            write_pausing: false,
            suspend: Vec::new(),
            estimates: false,
            error_feedback: false,
            flow_weights: Vec::new(),
            fair_epoch_us: 10_000,
            fair_low_mb_s: 25,
            fair_ratio: 0.6,
        }
    }
}

impl Scheduler {
    /// Ends of operations are estimated: a mechanism uses the estimates, or `estimates` is on.
    pub fn makes_estimates(&self) -> bool {
        self.read_bypass || self.write_bypass || self.write_pausing || self.estimates
    }
}

/// The queue order of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The oldest operation first (first come, first served).
    Fcfs,
    /// Reads before writes, and the oldest first among reads and among writes.
    FrFcfs,
    /// An order that slows down the flows of requests evenly (docs/model/tenants.md, after FLIN).
    Fair,
}
