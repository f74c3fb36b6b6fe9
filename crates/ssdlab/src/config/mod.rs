//! The configuration: one typed tree, the same from TOML, from Python and on the command line.
//!
//! The doc comments of the fields are the reference: the JSON Schema, the documentation and the error messages are made from them.
//! Other files of this module merge and check raw text: the values of a [`Config`] are within every range stated here.

pub mod amounts;
mod buffer;
mod cancelled;
pub mod capacity;
pub mod check;
mod fit;
mod host;
pub mod idle;
mod json;
pub mod layers;
mod names;
mod node;
mod overrides;
pub mod presets;
pub mod reference;
pub mod schema;
mod storage;
mod streams;
mod text;
pub mod validate;
mod workload;
mod workload_rules;

#[cfg(test)]
mod random_tests;
#[cfg(test)]
mod tests;

pub use buffer::{Buffer, Drain};
pub use capacity::Capacity;
pub use check::{Problem, check};
pub use fit::Fit;
pub use host::{Arbitration, Host};
pub use idle::{IdleKey, idle_by_hand};
pub use layers::Layers;
pub use storage::{Array, ArrayLevel, Cache, CacheGroup, CachePlace, CachePolicy, Padding};
pub use streams::{STREAMS_MAX, Stream, Streams};
pub use validate::{PART_PAGES_MAX, PROGRAM_UNITS_MAX, UNITS_MAX, validate};
pub use workload::{
    Address, Arrival, FioWait, RangePolicy, SeparateFlow, SizeDistribution, TimeOrder, TimeUnit, TraceEvent, TraceFormat, Volumes, Workload,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A complete, checked configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The drive's flash: geometry, timing, features.
    pub device: Device,
    /// The flash translation layer.
    pub ftl: Ftl,
    /// Garbage collection: the axes of the policy space.
    pub gc: Gc,
    /// The scheduling of host operations.
    pub scheduler: Scheduler,
    /// A cache in front of the drive or the array.
    pub cache: Cache,
    /// The write buffer of a drive.
    pub buffer: Buffer,
    /// The host interface of a drive.
    pub host: Host,
    /// An array of drives.
    pub array: Array,
    /// Requests: generated, or read from a trace.
    pub workload: Workload,
}

impl Config {
    /// While a job is active, host writes go to another block than the shared write frontier that the job fills (ae2022 section 4.2).
    pub fn redirects_writes(&self) -> bool {
        self.ftl.frontier == Frontier::Shared && self.gc.scope == Scope::Block
    }

    /// A cache or write buffer loses data of writes that have completed in a power failure, unless a flush came after them.
    pub fn loses_completed_writes(&self) -> bool {
        self.caches_writes() || (self.buffer.is_on() && !self.buffer.protected)
    }

    fn caches_writes(&self) -> bool {
        self.cache.is_on() && self.cache.writes
    }

    /// Checks that the data which a power failure would leave are known.
    ///
    /// # Errors
    /// [`Error::Config`](crate::error::Error::Config) for an array, and for a cache of writes above a write buffer that loses its content as well.
    pub fn survivors_of_a_power_failure_are_known(&self) -> crate::error::Result<()> {
        let why = if self.array.drives() > 1 {
            "a power cut is that of one drive, and an array has several; set array.level = \"none\""
        } else if self.caches_writes() && self.buffer.is_on() && !self.buffer.protected {
            "a power cut needs at most one volatile level: a cache of writes (cache.policy) is above a write buffer that is not protected; set \
             buffer.protected = true, buffer.bytes = 0 or cache.writes = false"
        } else {
            return Ok(());
        };
        Err(crate::error::Error::Config(why.into()))
    }

    /// The cache is in front of the array, not of its drives.
    pub fn caches_array(&self) -> bool {
        self.cache.is_on() && self.cache.place == CachePlace::Array
    }

    /// Mapping units in a flash page.
    pub fn units_per_page(&self) -> u32 {
        self.ftl.map_unit_bytes.map_or(1, |unit| self.device.page_bytes / unit)
    }

    /// Reads for the host transfer a part of a page.
    pub fn reads_parts(&self) -> bool {
        self.device.partial_reads && self.device.transfer_ps_per_byte > 0 && self.units_per_page() > 1
    }

    /// Mapping units that a program of one plane writes.
    pub fn units_per_program(&self) -> u32 {
        self.units_per_page() * self.device.pages_per_program
    }

    /// Programs of a block of one plane that hold parity: one in each whole stripe.
    pub fn parity_programs(&self) -> u32 {
        (self.device.pages_per_block / self.device.pages_per_program).checked_div(self.ftl.parity_stripe).unwrap_or(0)
    }

    /// Mapping units of a block that hold data.
    pub fn data_units_per_block(&self) -> u32 {
        (self.device.pages_per_block - self.parity_programs() * self.device.pages_per_program) * self.units_per_page()
    }

    /// Bytes of a mapping unit.
    pub fn map_unit_bytes(&self) -> u32 {
        self.ftl.map_unit_bytes.unwrap_or(self.device.page_bytes)
    }

    /// Part of the mapping table is in flash only.
    pub fn caches_map(&self) -> bool {
        self.ftl.map_cache_bytes > 0
    }

    /// Bytes of a translation page.
    pub fn map_page_bytes(&self) -> u32 {
        self.ftl.map_page_bytes.unwrap_or(self.map_unit_bytes())
    }

    /// Entries of a translation page.
    pub fn entries_per_map_page(&self) -> u32 {
        self.map_page_bytes() / self.ftl.map_entry_bytes
    }

    /// Mapping units that the table of so many units takes in flash: none where it is in memory. As many as fill the programs that all pools
    /// have at one offset.
    pub fn map_units(&self, exported: u64, pools: u64) -> u64 {
        if !self.caches_map() {
            return 0;
        }
        let pages = exported.div_ceil(self.entries_per_map_page().into());
        let units = pages * u64::from(self.map_page_bytes() / self.map_unit_bytes());
        units.next_multiple_of(pools * u64::from(self.units_per_program()))
    }

    /// Mapping units that the write buffer holds.
    pub fn buffer_units(&self) -> u64 {
        self.buffer.bytes / u64::from(self.map_unit_bytes())
    }

    /// Programs of the host are suspended for reads. With write pausing these are the programs that cannot pause.
    pub fn suspends_host_programs(&self) -> bool {
        self.scheduler.suspend.contains(&SuspendedForReads::Program)
    }

    /// Such operations of GC are suspended for reads. Preemptible GC says itself when its operations make room (lee2013).
    pub fn suspends_gc(&self, operation: SuspendedForReads) -> bool {
        let gc = &self.gc;
        let has_rules = !gc.suspend.is_empty() || gc.pipeline || gc.merge || gc.advances_with_requests();
        self.scheduler.suspend.contains(&operation) && !has_rules
    }

    /// Some operation is suspended for reads.
    pub fn suspends_for_reads(&self) -> bool {
        self.suspends_host_programs() || self.suspends_gc(SuspendedForReads::Program) || self.suspends_gc(SuspendedForReads::Erase)
    }

    /// Bytes that the host can address.
    ///
    /// # Errors
    /// As [`Capacity::of`].
    pub fn exported_bytes(&self) -> crate::error::Result<u64> {
        Ok(self.array.exported_bytes(Capacity::of(self)?.exported_bytes()))
    }
}

/// The drive's flash: geometry, timing, features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Device {
    /// Channels (buses) of the drive.
    #[schemars(range(min = 1, max = 1024))]
    pub channels: u32,
    /// Chips (packages) on each channel.
    #[schemars(range(min = 1, max = 1024))]
    pub chips_per_channel: u32,
    /// Dies in each chip.
    #[schemars(range(min = 1, max = 64))]
    pub dies_per_chip: u32,
    /// Planes in each die.
    #[schemars(range(min = 1, max = 64))]
    pub planes_per_die: u32,
    /// Blocks in each plane.
    #[schemars(range(min = 4, max = 1048576))]
    pub blocks_per_plane: u32,
    /// Pages in each block.
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
    /// Array time of a page program, ns.
    #[schemars(range(min = 1, max = 1000000000000_u64))]
    pub program_ns: u64,
    /// Read times by page type (LSB, CSB, MSB ...), ns: page `i` of a block takes entry `i mod length`. Empty: `read_ns` for all.
    #[schemars(inner(range(min = 1, max = 1000000000000_u64)))]
    pub read_ns_by_page: Vec<u64>,
    /// Program times by page type, ns, as `read_ns_by_page`; with `pages_per_program` above 1, by program. Empty: `program_ns` for all.
    #[schemars(inner(range(min = 1, max = 1000000000000_u64)))]
    pub program_ns_by_page: Vec<u64>,
    /// Pages of a plane that one program writes: 3 where all bits of a TLC word line are programmed together. `program_ns` is then of them all.
    #[schemars(range(min = 1, max = 4))]
    pub pages_per_program: u32,
    /// Array time of a block erase, ns.
    #[schemars(range(min = 1, max = 1000000000000_u64))]
    pub erase_ns: u64,
    /// Channel bus time, ps a byte. 0: transfers take no time.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub transfer_ps_per_byte: u64,
    /// Fixed overhead of each transfer on the bus, ns.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub command_ns: u64,
    /// Time that the command of a page read holds the bus before the array reads, ns, for each page. 0: reads begin without the bus. Above 0,
    /// data that wait in registers go ahead of commands.
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
    /// A read for the host transfers only the mapping units that it is for, each with its share of the spare bytes. If not, it transfers the
    /// whole page. Needs `ftl.map_unit_bytes`.
    pub partial_reads: bool,
    /// A die can transfer data for one operation while its array executes another of the same kind.
    pub cache_register: bool,
    /// Steps of a program (incremental step pulse programming), of equal length. A program can pause for reads after each step
    /// (`scheduler.write_pausing`). 1: it cannot pause.
    #[schemars(range(min = 1, max = 1000))]
    pub ispp_steps: u32,
    /// Page registers of a plane. With 1, a suspended read or program keeps the register: other operations that need it wait.
    #[schemars(range(min = 1, max = 2))]
    pub page_registers: u32,
    /// Time from the suspend command until the die is free for other operations, ns. An operation that would end sooner is not suspended.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub suspend_ns: u64,
    /// Array time that an operation which is suspended for reads (`scheduler.suspend`) has to do again, ns.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub resume_ns: u64,
    /// Array time that such an operation has at least before it is suspended, and again after each suspension, ns.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub min_run_ns: u64,
    /// Times that such an operation is suspended at most. 0: as often as reads come.
    #[schemars(range(min = 0, max = 1000000))]
    pub max_suspends: u32,
    /// Over-provisioning: (physical - exported) / physical bytes. Many papers divide by the exported bytes instead. Parity is part of it
    /// (`ftl.parity_in_spare`).
    #[schemars(range(min = 0.0, max = 0.99))]
    pub overprovisioning: f64,
}

impl Device {
    /// Array time of a page read, ns: where it differs by page type, the mean over a block, rounded to the nearest.
    pub fn mean_read_ns(&self) -> u64 {
        mean_of_block(&self.read_ns_by_page, self.read_ns, self.pages_per_block)
    }

    /// Array time of a page program, ns, likewise.
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
    /// A small drive; presets replace every value.
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
    /// first. `dynamic`: the least loaded chip.
    pub allocation: Allocation,
    /// The allocation domain (pool): the blocks of a plane or of a die. A pool has its own free list, write frontiers and garbage
    /// collection.
    pub pool: PoolScope,
    /// Host writes and GC moves share one write frontier (open block), or have one each.
    pub frontier: Frontier,
    /// Bytes of a mapping unit: a flash page holds page_bytes / map_unit_bytes units of different addresses, each mapped by itself. A power of
    /// two units a page, at most 16. Absent: the page.
    #[schemars(range(min = 512, max = 1048576), extend("multipleOf" = 512))]
    pub map_unit_bytes: Option<u32>,
    /// One program in so many of a block holds parity instead of data, as protection against the loss of a die. It is programmed with the
    /// program before it, which takes a transfer and a program longer. 0: none does; else at least 2. A drive with parity needs more
    /// over-provisioning, unless `parity_in_spare` is false.
    #[schemars(range(min = 0, max = 65535))]
    pub parity_stripe: u32,
    /// Pages of parity count as over-provisioning. If not, `device.overprovisioning` is a share of the bytes without them, (data -
    /// exported) / data: what collection has, with parity beside it.
    pub parity_in_spare: bool,
    /// Memory for the mapping table, bytes. What of the table does not fit is in flash, in translation pages that are read when they are needed,
    /// and written back. At least one translation page. 0: there is memory for the whole table.
    #[schemars(range(min = 0, max = 1099511627776_u64))]
    pub map_cache_bytes: u64,
    /// Which translation page in memory is replaced by one that is missing.
    pub map_cache_policy: MapCachePolicy,
    /// Bytes of a translation page: whole mapping units. Absent: one unit.
    #[schemars(range(min = 512, max = 16777216), extend("multipleOf" = 512))]
    pub map_page_bytes: Option<u32>,
    /// Bytes of the table for each mapping unit: a translation page has map_page_bytes / map_entry_bytes entries.
    #[schemars(range(min = 4, max = 512))]
    pub map_entry_bytes: u32,
    /// A write of part of a page (or mapping unit): read-modify-write, or program without a read.
    pub partial_write: PartialWrite,
    /// A read of a page without data: completes at once, or costs a flash read.
    pub unmapped_read: UnmappedRead,
    /// The drive's state at the start of the run.
    pub precondition: Precondition,
}

impl Default for Ftl {
    fn default() -> Self {
        Ftl {
            allocation: Allocation::default(),
            pool: PoolScope::Plane,
            frontier: Frontier::Separate,
            map_unit_bytes: None,
            parity_stripe: 0,
            parity_in_spare: true,
            map_cache_bytes: 0,
            map_cache_policy: MapCachePolicy::Lru,
            map_page_bytes: None,
            map_entry_bytes: 4,
            partial_write: PartialWrite::Rmw,
            unmapped_read: UnmappedRead::Immediate,
            precondition: Precondition::default(),
        }
    }
}

/// A dimension of the geometry over which static allocation stripes.
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

/// Page allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// Static by address: the dimensions in the order in which consecutive pages change them.
    Static([Dimension; 4]),
    /// To the chip with the least waiting work (elyasi2017's DynAlloc).
    Dynamic,
}

impl Default for Allocation {
    fn default() -> Self {
        Allocation::Static([Dimension::Channel, Dimension::Way, Dimension::Die, Dimension::Plane])
    }
}

impl Allocation {
    /// Every spelling, for schema and messages.
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

/// Whether host writes and GC moves share one write frontier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Frontier {
    /// One block for both (bux2011).
    Shared,
    /// One block each.
    Separate,
}

/// Which translation page in memory is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MapCachePolicy {
    /// The least recently used one.
    Lru,
    /// The one that has been in memory for longest.
    Fifo,
    /// As `fifo`, but one that was used since it came, or since it was passed over last, is passed over once (second chance).
    Clock,
}

/// The operations of a write of part of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PartialWrite {
    /// Read the page, then program it with the new bytes.
    Rmw,
    /// Program it without a read.
    Program,
}

/// The cost of a read of a page without data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnmappedRead {
    /// It completes at once, as on most drives after a trim.
    Immediate,
    /// It costs a flash read on the die where the page would be.
    Flash,
}

/// The drive's state at the start of the run. Preparing it takes no simulated time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Precondition {
    /// `none`: all blocks erased. `fill`: written once in address order. `ranges`: the ranges of the file `prefill` written once.
    /// `soft` and `steady` fill the drive (or the ranges, if `prefill` is given), then overwrite `range` at random. `soft` stops before the
    /// write that would trigger GC in some pool; `steady` stops when write amplification is steady, without time (see `settle`). `trace`
    /// fills the drive (or the ranges), then simulates the whole trace `rounds` times.
    pub kind: PreconditionKind,
    /// A CSV file `offset_bytes,size_bytes` with the ranges that have data.
    pub prefill: Option<String>,
    /// Share of the exported range, from its start, that is overwritten. Absent: the workload's footprint.
    #[schemars(range(min = 0.000001, max = 1.0))]
    pub range: Option<f64>,
    /// For `kind = "trace"`: how often the trace is simulated before the run.
    #[schemars(range(min = 1, max = 1000000))]
    pub rounds: u32,
    /// How much the host may read and write in a timed end of the preparation, in times of the exported bytes. There the drive serves
    /// other requests of the generated workload, under the run's scheme, until write amplification has settled. 0: there is none.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub settle: f64,
}

impl Default for Precondition {
    fn default() -> Self {
        Precondition { kind: PreconditionKind::Fill, prefill: None, range: None, rounds: 1, settle: 0.0 }
    }
}

/// How the drive is prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PreconditionKind {
    /// Every block erased.
    None,
    /// Every exported page written once, in address order.
    Fill,
    /// The pages of the prefill file's ranges written once.
    Ranges,
    /// Filled, then overwritten at random until the next write would trigger GC.
    Soft,
    /// Filled, then overwritten at random until write amplification is steady.
    Steady,
    /// Filled (or its ranges), then used as the trace uses it.
    Trace,
}

/// Garbage collection: the axes of the policy space. A published scheme is a point in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Gc {
    /// What triggers GC.
    pub trigger: Trigger,
    /// Which event starts GC in a pool where it is triggered: the write that takes a block, or a host operation that waits.
    pub begin: Begin,
    /// How long GC lasts in a pool. 0: for one block; host operations that waited go before the next job. More: for an episode, block after
    /// block, until the pool has this many free blocks more than T_soft. (2 blocks stand for T_soft if that is smaller, or if the trigger is
    /// `invalid-share`.) Within an episode, operations that the scope excludes wait.
    #[schemars(range(min = 0, max = 1000000))]
    pub until: u32,
    /// Whether a job goes on by itself, or only with host operations, where the scope lets these through.
    pub advance: Advance,
    /// Soft threshold T_soft: a pool with fewer free blocks triggers GC. Below 1: a share of the pool's blocks, rounded to the nearest
    /// block, at least 1. From 1: a number of blocks.
    #[schemars(range(min = 0.0, max = 1000000.0))]
    pub soft: f64,
    /// Hard threshold T_hard as a share of T_soft: below it host writes wait. 0: none.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub hard: f64,
    /// What waits below the hard threshold: host writes, or all host operations.
    pub hard_stops: HardStops,
    /// For the trigger `invalid-share`: a block with a larger share of invalid pages triggers GC and is its victim.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub invalid_share: f64,
    /// The victim policy.
    pub victim: Victim,
    /// For `victim = "d-choices"`: number of random blocks of which it takes the best. 1: a random block; many: close to greedy.
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
    /// Host requests merge with a page move of the same page, where the scope does not block them. Moves then never use copyback.
    pub merge: bool,
    /// Page moves that a job may have in flight. 1: the page stays in its register. More: pages go through the controller's buffer, never
    /// by copyback.
    #[schemars(range(min = 1, max = 16384))]
    pub moves_in_flight: u32,
    /// What takes turns where GC is triggered in several planes of a die: single steps (page moves, erases) of their jobs, or whole jobs.
    pub turns: Turns,
    /// Whether host writes are let in at the rate at which GC frees room, while a pool is below T_soft and its job is active.
    pub pace: Pace,
    /// For `pace = "proportional"`: the most that writes may be ahead of GC, as a share of the pages of T_soft free blocks. At least a page.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub pace_window: f64,
    /// For the trigger `idle`: time without outstanding requests until idle-time GC starts, us.
    #[schemars(range(min = 1, max = 1000000000_u64))]
    pub idle_us: u64,
    /// For the trigger `idle`: the timeout is always `idle_us`, or starts there and adapts to the workload.
    pub idle_timeout: IdleTimeout,
    /// For the trigger `idle`: idle-time GC stops when a pool has this many times T_soft free blocks.
    #[schemars(range(min = 1.0, max = 1000000.0))]
    pub idle_free: f64,
    /// Time to poll the host queue at each preemption point, ns. It is added to each read, program and erase of a job.
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
            victim: Victim::Greedy,
            // Close to greedy: Van Houdt 2013 (src/gc/victim/d_choices.rs).
            choices: 10,
            scope: Scope::Chip,
            priority: Priority::Gc,
            suspend: Vec::new(),
            pipeline: false,
            merge: false,
            moves_in_flight: 1,
            turns: Turns::Step,
            pace: Pace::None,
            // With T_soft = 4 blocks the most that leaves collection what it needs (docs/model.md).
            pace_window: 0.4,
            idle_us: 10_000,
            idle_timeout: IdleTimeout::Fixed,
            idle_free: 2.0,
            poll_ns: 0,
        }
    }
}

impl Gc {
    /// Host reads of the blocks that a job uses wait, unless the host has priority (ae2022 section 4.3: "the DTQ accepts only regular
    /// read requests while GC is being applied to the same block").
    pub fn excludes_block_reads(&self) -> bool {
        self.scope == Scope::Block && self.priority != Priority::Host
    }

    /// A job waits for host operations between its steps. Where the scope keeps them from the die there are none to wait for.
    pub fn advances_with_requests(&self) -> bool {
        self.advance != Advance::Alone && matches!(self.scope, Scope::None | Scope::Block)
    }

    /// Invalid pages with which a block of `pages` pages triggers GC: the least number above the share `invalid_share`. With another
    /// trigger: more than a block has.
    pub fn invalid_pages_wanted(&self, pages: u32) -> u32 {
        match self.trigger {
            Trigger::InvalidShare => whole_part(self.invalid_share, pages) + 1,
            Trigger::Soft | Trigger::Idle => pages + 1,
        }
    }

    /// Free blocks at which idle-time GC stops: `idle_free` x T_soft, rounded to the nearest block.
    pub fn idle_blocks(&self, pool_blocks: u32) -> u32 {
        libm::round(self.idle_free * f64::from(self.soft_blocks(pool_blocks))) as u32
    }

    /// The soft threshold T_soft in blocks, for pools of `pool_blocks`.
    pub fn soft_blocks(&self, pool_blocks: u32) -> u32 {
        let blocks = if self.soft < 1.0 { self.soft * f64::from(pool_blocks) } else { self.soft };
        // `libm` and not the system's rounding, as everywhere.
        (libm::round(blocks) as u32).max(1)
    }

    /// The most credit that paced writes may have in a pool of `pool_blocks`, in pages of data (mapping units) of which a block has `pages`.
    pub fn pace_units(&self, pool_blocks: u32, pages: u32) -> i64 {
        let units = self.pace_window * f64::from(self.soft_blocks(pool_blocks)) * f64::from(pages);
        (libm::round(units) as i64).max(1)
    }

    /// The hard threshold T_hard in blocks, for pools of `pool_blocks`; 0: none.
    pub fn hard_blocks(&self, pool_blocks: u32) -> u32 {
        if self.hard == 0.0 {
            return 0;
        }
        (libm::round(self.hard * f64::from(self.soft_blocks(pool_blocks))) as u32).max(1)
    }
}

/// A share of `count`, rounded down: 0.29 of 100 is 29, although the product of binary numbers is slightly less.
pub fn whole_part(share: f64, count: u32) -> u32 {
    let product = share * f64::from(count);
    let nearest = libm::round(product);
    (if (product - nearest).abs() < 1e-6 { nearest } else { libm::floor(product) }) as u32
}

/// The timeout of the trigger `idle`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IdleTimeout {
    /// Always `gc.idle_us`.
    Fixed,
    /// Doubles (up to 16 x `idle_us`) when a request interrupts idle-time GC; halves (down to 1/16 x) when that GC ends before a request comes.
    Adaptive,
}

/// What triggers garbage collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// Fewer free blocks than the soft threshold.
    Soft,
    /// As `soft`, and ahead of need in idle time.
    Idle,
    /// A block with a share of invalid pages above `gc.invalid_share`; free blocks only when they are down to the reserve.
    InvalidShare,
}

/// Which event starts GC in a pool where it is triggered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Begin {
    /// The write that takes a free block as write frontier: a job begins at once, whether or not an operation waits.
    Frontier,
    /// A host operation that waits for the die. Until one does, the pool stays short of free blocks.
    Request,
    /// A write that waits for the die.
    Write,
}

/// Whether a job goes on by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Advance {
    /// It goes on whenever its die is free for it.
    Alone,
    /// Each host operation that begins on the die lets it take one step: the read of a page, the program of a page, or the erase.
    WithRequests,
    /// The same, and GC and host take turns: the step goes before the next host operation that waits, unless that could suspend it.
    InTurns,
}

/// What waits below the hard threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HardStops {
    /// Host writes to the pool (lee2013 III-D).
    Writes,
    /// All host operations (lee2013 V-B).
    All,
}

/// The victim policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Victim {
    /// The block with the fewest valid pages; ties: the block that has had that number for longest.
    Greedy,
    /// Greedy among the blocks erased no more often than the mean of their pool.
    WearAware,
    /// The block with the fewest valid pages among `choices` random blocks.
    DChoices,
    /// The block filled first, as in a cyclic log. A block without invalid pages is skipped and counts as filled again.
    Fifo,
    /// The block with the largest (1 - u) / 2u x age: u is its share of valid pages, the age the time since it was filled.
    CostBenefit,
    /// A random block with an invalid page.
    Random,
}

/// The scope of blocking: where host operations wait while a GC job is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// On the whole drive.
    Device,
    /// On the job's channel.
    Channel,
    /// On the job's chip.
    Chip,
    /// On the job's die.
    Die,
    /// On the job's plane.
    Plane,
    /// On the job's blocks: the victim and the write frontier.
    Block,
    /// Nowhere.
    None,
}

/// Priority between host and GC operations that are ready for the same die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Priority {
    /// GC operations first.
    Gc,
    /// The operation that became ready first; a host operation counts from its admission to the chip queue.
    Fifo,
    /// Host operations first.
    Host,
}

/// What takes turns where GC is triggered in several planes of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Turns {
    /// Each plane has a job. Of their next steps the one that became ready first goes first.
    Step,
    /// A die has one job at a time. The other planes with triggered GC wait for it.
    Job,
}

/// How host writes are admitted while GC is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// As they come, until there is no page for them.
    None,
    /// Each page (mapping unit) that they write has to be earned by GC: of a victim with v valid pages of N each move earns (N - v) / v.
    Proportional,
}

/// A GC operation that may be suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Suspendable {
    /// Page reads.
    Read,
    /// Page programs.
    Program,
    /// Block erases.
    Erase,
}

/// An operation that is suspended for reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SuspendedForReads {
    /// Programs, of the host and of GC.
    Program,
    /// Block erases.
    Erase,
}

/// The scheduling of host operations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Scheduler {
    /// Queue order of a chip. `fcfs`: oldest first. `fr-fcfs`: reads before writes, oldest first among each.
    pub order: Order,
    /// Host operations of one kind overlap: one transfers while another is in the array. Needs `device.cache_register`.
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
    /// A write bypasses queued writes that have enough slack, so that it does not delay their requests (Wbyp). Needs `fr-fcfs`.
    pub write_bypass: bool,
    /// A program with enough slack pauses for reads after one of its `device.ispp_steps` (write pausing, WP). Needs `fr-fcfs`.
    pub write_pausing: bool,
    /// Operations of the host and of GC that are suspended in the array when a read of the host waits. With `scheduler.write_pausing` a
    /// program of the host that has slack for the read pauses instead. `gc.suspend` alone decides about operations of GC (if it is empty, none
    /// is suspended) in each of four cases: it is not empty, `gc.pipeline` is on, `gc.merge` is on, `gc.advance` is not `alone`.
    pub suspend: Vec<SuspendedForReads>,
    /// Estimate the end of every request even if no mechanism uses it, to measure the error of the estimates.
    pub estimates: bool,
    /// Add the mean error of the last second's estimates to each estimate (elyasi2017, footnote 3).
    pub error_feedback: bool,
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
        }
    }
}

impl Scheduler {
    /// A mechanism uses estimates of when operations end, or `estimates` is on.
    pub fn makes_estimates(&self) -> bool {
        self.read_bypass || self.write_bypass || self.write_pausing || self.estimates
    }
}

/// The queue order of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Oldest first.
    Fcfs,
    /// Reads before writes, oldest first among each.
    FrFcfs,
}
