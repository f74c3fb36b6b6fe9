//! The configuration: one typed tree, the same from TOML, from Python and on the command line.
//!
//! The doc comments of the fields are the reference: the JSON Schema, the documentation and the error messages are made from them.
//! Raw text is merged and checked elsewhere in this module; whoever holds a [`Config`] may rely on every range stated here.

pub mod amounts;
pub mod capacity;
pub mod check;
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
mod text;
pub mod validate;
mod workload_rules;

#[cfg(test)]
mod random_tests;
#[cfg(test)]
mod tests;

pub use capacity::Capacity;
pub use check::{Problem, check};
pub use idle::{IdleKey, idle_by_hand};
pub use layers::Layers;
pub use storage::{Array, ArrayLevel, Cache, CachePlace, CachePolicy, Padding};
pub use validate::validate;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A complete, checked configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The drive's flash: geometry, timing, abilities.
    pub device: Device,
    /// The flash translation layer.
    pub ftl: Ftl,
    /// Garbage collection: the axes of the policy space.
    pub gc: Gc,
    /// The order in which host operations wait for the flash.
    pub scheduler: Scheduler,
    /// A cache above the drive or the array.
    pub cache: Cache,
    /// An array of drives.
    pub array: Array,
    /// Requests: generated, or read from a trace.
    pub workload: Workload,
}

impl Config {
    /// While a job is active, host writes are given pages of another block than the shared frontier that the job fills (ae2022 section 4.2).
    pub fn redirects_writes(&self) -> bool {
        self.ftl.frontier == Frontier::Shared && self.gc.scope == Scope::Block
    }

    /// The cache stands above the array, not in its drives.
    pub fn caches_array(&self) -> bool {
        self.cache.is_on() && self.cache.place == CachePlace::Array
    }

    /// Bytes that the host can address.
    ///
    /// # Errors
    /// As [`Capacity::of`].
    pub fn exported_bytes(&self) -> crate::error::Result<u64> {
        Ok(self.array.exported_bytes(Capacity::of(self)?.exported_bytes()))
    }
}

/// The drive's flash: geometry, timing, abilities.
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
    /// Spare bytes of a page, which are transferred with it.
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
    /// Program times by page type, ns, as `read_ns_by_page`. Empty: `program_ns` for all.
    #[schemars(inner(range(min = 1, max = 1000000000000_u64)))]
    pub program_ns_by_page: Vec<u64>,
    /// Array time of a block erase, ns.
    #[schemars(range(min = 1, max = 1000000000000_u64))]
    pub erase_ns: u64,
    /// Channel bus time, ps a byte. 0: transfers take no time.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub transfer_ps_per_byte: u64,
    /// Fixed overhead of each transfer on the bus, ns.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub command_ns: u64,
    /// A page can move inside its plane without the bus.
    pub copyback: bool,
    /// Operations of one kind on different planes of a die can run as one. Needs `ftl.pool = "plane"`.
    pub multiplane: bool,
    /// Multi-plane programs must go to the same page offset in each plane's block.
    pub multiplane_aligned: bool,
    /// The dies of a chip work independently; if not, a chip does one operation at a time.
    pub die_interleave: bool,
    /// A die can transfer data for one operation while its array executes another of the same kind.
    pub cache_register: bool,
    /// Steps of a program at whose ends it can be paused for a read (`scheduler.write_pausing`): those of incremental step pulse programming,
    /// of equal length. 1: it cannot.
    #[schemars(range(min = 1, max = 1000))]
    pub ispp_steps: u32,
    /// Page registers of a plane. With 1, an operation that needs the register of the plane whose read or program is suspended waits.
    #[schemars(range(min = 1, max = 2))]
    pub page_registers: u32,
    /// Time from the command to suspend an array operation until its die is free for others, ns. An operation that would end before is let
    /// finish.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub suspend_ns: u64,
    /// Over-provisioning: (physical - exported) / physical bytes. Many others divide by the exported bytes.
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
        mean_of_block(&self.program_ns_by_page, self.program_ns, self.pages_per_block)
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
    /// A small current-looking drive; presets replace every value.
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
            erase_ns: 1_500_000,
            transfer_ps_per_byte: 25_000,
            command_ns: 0,
            copyback: false,
            multiplane: false,
            multiplane_aligned: true,
            die_interleave: true,
            cache_register: false,
            ispp_steps: 8,
            page_registers: 2,
            suspend_ns: 20_000,
            overprovisioning: 0.15,
        }
    }
}

/// The flash translation layer: page-level mapping.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ftl {
    /// Where a written page goes: a permutation of the letters C (channel), W (way: chip), D (die), P (plane), fastest
    /// changing first, or `dynamic` (the least loaded chip).
    pub allocation: Allocation,
    /// The blocks that share a free list, frontiers and garbage collection: those of a plane, or of a die.
    pub pool: PoolScope,
    /// Host writes and GC moves fill one block together, or a block each.
    pub frontier: Frontier,
    /// A write of a part of a page: read-modify-write, or program as it is.
    pub partial_write: PartialWrite,
    /// A read of a page that holds no data: a flash read all the same, or answered at once.
    pub unmapped_read: UnmappedRead,
    /// The drive's state when the run begins.
    pub precondition: Precondition,
}

impl Default for Ftl {
    fn default() -> Self {
        Ftl {
            allocation: Allocation::default(),
            pool: PoolScope::Plane,
            frontier: Frontier::Separate,
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

/// Where a written page goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// By address: the dimensions in the order in which consecutive pages change them.
    Static([Dimension; 4]),
    /// To the chip with the least work waiting (elyasi2017's DynAlloc).
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

/// The blocks that share a free list, frontiers and garbage collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PoolScope {
    /// One pool a plane.
    Plane,
    /// One pool a die (lee2013's "element").
    Die,
}

/// Whether host writes and GC moves fill one block together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Frontier {
    /// One block for both (bux2011).
    Shared,
    /// A block each.
    Separate,
}

/// What a write of a part of a page does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PartialWrite {
    /// Read the page, then program it with the new bytes in it.
    Rmw,
    /// Program it without reading.
    Program,
}

/// What a read of a page that holds no data does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnmappedRead {
    /// It is answered at once, as most drives do after a trim.
    Immediate,
    /// It costs a flash read where the page would lie.
    Flash,
}

/// The drive's state when the run begins. Nothing of it takes simulated time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Precondition {
    /// `none`: erased. `fill`: written once in address order. `ranges`: the ranges of the file `prefill` written once.
    /// `soft` and `steady`: the fill (or the ranges, where `prefill` is given), then random overwriting of `range` until the next write
    /// to some pool would start collection (with the trigger `soft`: cross the soft threshold), or until write amplification is steady.
    pub kind: PreconditionKind,
    /// A CSV file `offset_bytes,size_bytes` with the ranges that held data.
    pub prefill: Option<String>,
    /// The share of the exported range that is overwritten, from its start. Absent: the workload's footprint.
    #[schemars(range(min = 0.000001, max = 1.0))]
    pub range: Option<f64>,
}

impl Default for Precondition {
    fn default() -> Self {
        Precondition { kind: PreconditionKind::Fill, prefill: None, range: None }
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
    /// Filled, then overwritten at random until GC is at the door.
    Soft,
    /// Filled, then overwritten at random until write amplification is steady.
    Steady,
}

/// Garbage collection: the axes of the policy space. A published scheme is a point in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Gc {
    /// What starts collection.
    pub trigger: Trigger,
    /// Soft threshold T_soft: collection starts when a pool has fewer free blocks. Below 1: a share of the pool's blocks, rounded to
    /// the nearest block but never to 0; from 1 on: a number of blocks.
    #[schemars(range(min = 0.0, max = 1000000.0))]
    pub soft: f64,
    /// Hard threshold T_hard as a share of T_soft, below which host writes wait. 0: none.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub hard: f64,
    /// What the hard threshold stops: host writes, or all host operations.
    pub hard_stops: HardStops,
    /// For the trigger `invalid-share`: a block whose invalid share exceeds this is collected.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub invalid_share: f64,
    /// Which block is collected.
    pub victim: Victim,
    /// Random blocks of which the victim policy `d-choices` takes the best: 1 leaves it to chance, many come to the greedy choice.
    #[schemars(range(min = 1, max = 65536))]
    pub choices: u32,
    /// Where host operations wait while a job is active.
    pub scope: Scope,
    /// Who goes first when host and GC operations are ready for a die.
    pub priority: Priority,
    /// GC operations in progress that a host operation may suspend.
    pub suspend: Vec<Suspendable>,
    /// Host operations overlap the page moves of GC of the same kind, on devices with a cache register.
    pub pipeline: bool,
    /// Host requests join page moves of the same page, where the scope lets them through. Moves then never use copyback.
    pub merge: bool,
    /// Page moves a job may have under way at once. 1: the page stays in its register. More: pages go through the controller's buffer,
    /// never by copyback.
    #[schemars(range(min = 1, max = 16384))]
    pub moves_in_flight: u32,
    /// For the trigger `idle`: the time without a request under way after which it collects, us.
    #[schemars(range(min = 1, max = 1000000000_u64))]
    pub idle_us: u64,
    /// For the trigger `idle`: the timeout stays `idle_us`, or is adapted to the workload, beginning there.
    pub idle_timeout: IdleTimeout,
    /// For the trigger `idle`: it collects until a pool has this many times T_soft free blocks.
    #[schemars(range(min = 1.0, max = 1000000.0))]
    pub idle_free: f64,
    /// Time of a look into the host queue at each preemption point, ns: added to each read, program and erase of a job.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub poll_ns: u64,
}

impl Default for Gc {
    fn default() -> Self {
        Gc {
            trigger: Trigger::Soft,
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
            idle_us: 10_000,
            idle_timeout: IdleTimeout::Fixed,
            idle_free: 2.0,
            poll_ns: 0,
        }
    }
}

impl Gc {
    /// Host reads of the blocks that a job works on wait: not with priority for the host (ae2022 section 4.3: "the DTQ accepts only regular
    /// read requests while GC is being applied to the same block").
    pub fn excludes_block_reads(&self) -> bool {
        self.scope == Scope::Block && self.priority != Priority::Host
    }

    /// Invalid pages with which a block of `pages` pages starts collection: the least number that exceeds the share `invalid_share`, where
    /// that is the trigger; else more than a block has.
    pub fn invalid_pages_wanted(&self, pages: u32) -> u32 {
        match self.trigger {
            Trigger::InvalidShare => whole_part(self.invalid_share, pages) + 1,
            Trigger::Soft | Trigger::Idle => pages + 1,
        }
    }

    /// Free blocks that the trigger `idle` works for: `idle_free` x T_soft, rounded to the nearest block.
    pub fn idle_blocks(&self, pool_blocks: u32) -> u32 {
        libm::round(self.idle_free * f64::from(self.soft_blocks(pool_blocks))) as u32
    }

    /// The soft threshold T_soft in blocks, for pools of `pool_blocks`.
    pub fn soft_blocks(&self, pool_blocks: u32) -> u32 {
        let blocks = if self.soft < 1.0 { self.soft * f64::from(pool_blocks) } else { self.soft };
        // `libm` and not the system's rounding, as everywhere.
        (libm::round(blocks) as u32).max(1)
    }

    /// The hard threshold T_hard in blocks, for pools of `pool_blocks`; 0: none.
    pub fn hard_blocks(&self, pool_blocks: u32) -> u32 {
        if self.hard == 0.0 {
            return 0;
        }
        (libm::round(self.hard * f64::from(self.soft_blocks(pool_blocks))) as u32).max(1)
    }
}

/// A share of `count` things, rounded down. 0.29 of 100 are 29, whatever the product of binary numbers is.
pub fn whole_part(share: f64, count: u32) -> u32 {
    let product = share * f64::from(count);
    let nearest = libm::round(product);
    (if (product - nearest).abs() < 1e-6 { nearest } else { libm::floor(product) }) as u32
}

/// How long the trigger `idle` waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IdleTimeout {
    /// Always `gc.idle_us`.
    Fixed,
    /// Longer after a request came while collection that it had started was under way, shorter after none did.
    Adaptive,
}

/// What starts garbage collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// Free blocks below the soft threshold.
    Soft,
    /// As `soft`, and ahead of need in times without host requests.
    Idle,
    /// A block with a large invalid share; free blocks only once they are down to the reserve.
    InvalidShare,
}

/// What the hard threshold stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HardStops {
    /// Host writes to the pool (lee2013 III-D).
    Writes,
    /// All host operations (lee2013 V-B).
    All,
}

/// Which block is collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Victim {
    /// The block with the fewest valid pages; among equals the one that has had that number for longest.
    Greedy,
    /// Greedy among the blocks not erased more often than the average of their pool.
    WearAware,
    /// Of `choices` random blocks the one with the fewest valid pages.
    DChoices,
    /// The block filled first, as in a cyclic log; one without an invalid page is passed over and counts as filled anew.
    Fifo,
    /// The largest (1 - u) / 2u x age: u is the share of valid pages, the age that since the block was filled.
    CostBenefit,
    /// Any block with an invalid page.
    Random,
}

/// Where host operations wait while a GC job is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Everywhere.
    Device,
    /// On the job's channel.
    Channel,
    /// On its chip.
    Chip,
    /// On its die.
    Die,
    /// On its plane.
    Plane,
    /// On its blocks: the victim and the one being filled.
    Block,
    /// Nowhere.
    None,
}

/// Who goes first when host and GC operations are ready for a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Priority {
    /// The GC operation.
    Gc,
    /// The one that became ready first; a host operation counts from its admission to the chip's queue.
    Fifo,
    /// The host operation.
    Host,
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

/// The order in which host operations wait for the flash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Scheduler {
    /// `fcfs`: oldest first. `fr-fcfs`: reads first, oldest first among reads and among writes.
    pub order: Order,
    /// Host operations of one kind overlap transfer and array time. Needs `device.cache_register`.
    pub pipeline: bool,
    /// With a bounded write queue and `fr-fcfs`: writes go first while it is filled to more than this share.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub alpha: f64,
    /// Read operations a chip's queue holds. 0: unbounded.
    #[schemars(range(min = 0, max = 1000000))]
    pub read_queue: u32,
    /// Write operations a chip's queue holds. 0: unbounded.
    #[schemars(range(min = 0, max = 1000000))]
    pub write_queue: u32,
    /// A read goes ahead of others whose requests are not delayed by it (elyasi2017's Rbyp). Needs `fr-fcfs`.
    pub read_bypass: bool,
    /// A write goes ahead of others whose requests are not delayed by it (Wbyp). Needs `fr-fcfs`.
    pub write_bypass: bool,
    /// A program whose request is not delayed by it pauses for reads between two of its `device.ispp_steps` (WP). Needs `fr-fcfs`.
    pub write_pausing: bool,
    /// Estimate the end of every request also where nothing uses it, to see how good the estimates are.
    pub estimates: bool,
    /// Add to each estimate the mean error of those of the last second (elyasi2017, footnote 3).
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
            estimates: false,
            error_feedback: false,
        }
    }
}

impl Scheduler {
    /// Something uses estimates of when operations will end, or wants to see them.
    pub fn makes_estimates(&self) -> bool {
        self.read_bypass || self.write_bypass || self.write_pausing || self.estimates
    }
}

/// The order in which host operations wait for a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Oldest first.
    Fcfs,
    /// Reads first, then oldest first.
    FrFcfs,
}

/// Requests: generated, or read from a trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Workload {
    /// Generated: mean request size, KB (1024 bytes).
    #[schemars(range(min = 0.5, max = 1048576.0))]
    pub request_kb: f64,
    /// Generated: how sizes are distributed. Sizes are whole sectors of 512 bytes, at least one and at most the footprint.
    pub request_size: SizeDistribution,
    /// Generated, for `request_size = "table"`: pairs of size in KB (0.5 to 1048576) and relative weight (from 0).
    pub size_table: Vec<(f64, f64)>,
    /// Generated: mean time between arrivals, us.
    #[schemars(range(min = 0.0, max = 1000000000.0))]
    pub interarrival_us: f64,
    /// Generated: how arrivals are distributed.
    pub arrival: Arrival,
    /// Generated, for `arrival = "burst"`: requests that arrive together in a burst; bursts are spaced so that the mean holds.
    #[schemars(range(min = 1, max = 1000000))]
    pub burst_length: u32,
    /// Generated: probability that a request is a read.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub read_share: f64,
    /// Generated: probability that a request starts where the one before of its flow ended (lee2013, footnote 2), or at the footprint's
    /// start where it would not fit there.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub sequential_share: f64,
    /// Generated: share of writes marked as high priority.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub high_priority_share: f64,
    /// Generated: how addresses are distributed over the footprint.
    pub address: Address,
    /// Generated, for `address = "hot-cold"`: share of the footprint, from its start, that is hot.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub hot_share: f64,
    /// Generated, for `address = "hot-cold"`: share of the random requests that go to the hot part.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub hot_access: f64,
    /// Generated, for `address = "zipf"`: the exponent.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub zipf_exponent: f64,
    /// Generated: share of the exported range, from its start, that is accessed.
    #[schemars(range(min = 0.000001, max = 1.0))]
    pub footprint: f64,
    /// Generated: addresses of random requests are multiples of this, KB; itself a multiple of 0.5.
    #[schemars(range(min = 0.5, max = 1048576.0))]
    pub align_kb: f64,
    /// Generated: further independent flows, each a table of the `Generated` keys above (those not given are as in this flow); requests
    /// of all flows are merged by arrival time.
    pub flows: Vec<serde_json::Map<String, serde_json::Value>>,
    /// Requests outstanding at once; the next is issued when one completes, arrival times are ignored. 0: open loop by arrival times.
    #[schemars(range(min = 0, max = 65536))]
    pub queue_depth: u32,
    /// Open loop: the most requests that may be outstanding at once. A run that would have more ends with an error: the drive is overloaded.
    /// Each takes some 0.5 KB of memory, and as much again for each further page.
    #[schemars(range(min = 1, max = 1000000000))]
    pub max_outstanding: u32,
    /// Trace: the file to replay. Absent: generate.
    pub trace: Option<String>,
    /// Trace: its format. Absent: by content, and by name where several formats fit.
    pub format: Option<TraceFormat>,
    /// Trace, for `disksim`, `ssdsim` and `mqsim` only: bytes of one unit of address and size. Absent: 512, or 4096 for a file whose name
    /// has the part `.disksim-pages.`.
    #[schemars(range(min = 1, max = 1073741824))]
    pub unit_bytes: Option<u64>,
    /// Trace (`--volume`): only requests of this volume, as `trace info` lists it (MSR: `host_disk`, as in `prn_0`). Absent: all volumes,
    /// overlaid in one address space.
    pub device: Option<String>,
    /// Time between arrivals runs this many times faster, of a trace or generated (all flows). Counted to six decimals.
    #[schemars(range(min = 0.000001, max = 1000000.0))]
    pub time_scale: f64,
    /// Trace: addresses beyond the device.
    pub range: RangePolicy,
    /// Trace: unreadable lines that are tolerated (and counted).
    #[schemars(range(min = 0, max = 1000000000000_u64))]
    pub bad_lines: u64,
    /// Trace: arrival times that go back.
    pub time_order: TimeOrder,
    /// Trace: requests (of the chosen device) left out at its start.
    #[schemars(range(min = 0, max = 1000000000000_u64))]
    pub skip: u64,
    /// Trace: only so many requests at its end (from these, `skip` leaves out the first). 0: all. The whole trace is read first.
    #[schemars(range(min = 0, max = 1000000000000_u64))]
    pub last: u64,
    /// Trace: only this many seconds of it, by its own clock, from the first request taken. 0: all.
    #[schemars(range(min = 0.0, max = 1000000000.0))]
    pub limit_s: f64,
}

impl Default for Workload {
    fn default() -> Self {
        Workload {
            request_kb: 4.0,
            request_size: SizeDistribution::Fixed,
            size_table: Vec::new(),
            interarrival_us: 1000.0,
            arrival: Arrival::Exponential,
            burst_length: 8,
            read_share: 0.5,
            sequential_share: 0.0,
            high_priority_share: 0.0,
            address: Address::Uniform,
            hot_share: 0.2,
            hot_access: 0.8,
            zipf_exponent: 1.0,
            footprint: 1.0,
            align_kb: 4.0,
            flows: Vec::new(),
            queue_depth: 0,
            max_outstanding: 10_000_000,
            trace: None,
            format: None,
            unit_bytes: None,
            device: None,
            time_scale: 1.0,
            range: RangePolicy::Error,
            bad_lines: 0,
            time_order: TimeOrder::Error,
            skip: 0,
            last: 0,
            limit_s: 0.0,
        }
    }
}

/// How generated request sizes are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SizeDistribution {
    /// All of `request_kb`.
    Fixed,
    /// Exponential with mean `request_kb`.
    Exponential,
    /// By `size_table`.
    Table,
}

/// How generated arrivals are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arrival {
    /// A Poisson process.
    Exponential,
    /// Evenly spaced.
    Fixed,
    /// Bursts of `burst_length`, themselves a Poisson process.
    Burst,
}

/// How generated addresses are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Address {
    /// Uniform over the footprint.
    Uniform,
    /// A hot part and a cold part, uniform within each.
    HotCold,
    /// Zipf-distributed popularity, scattered over the footprint.
    Zipf,
}

/// The trace formats that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TraceFormat {
    /// MSR Cambridge CSV: Windows ticks of 100 ns, host, disk, type, offset and size in bytes, response.
    Msr,
    /// MSR Cambridge reduced to time, type, offset, size.
    MsrReduced,
    /// SPC (UMass): ASU, LBA, size in bytes, opcode, seconds.
    Spc,
    /// DiskSim ASCII: milliseconds, device, block, size in blocks, flags (1 = read).
    Disksim,
    /// SSDSim ASCII: nanoseconds, device, sector, sectors, 1 = read.
    Ssdsim,
    /// MQSim ASCII: nanoseconds, device, sector, sectors, 1 = read.
    Mqsim,
    /// blkparse text output.
    Blkparse,
    /// fio iolog version 2.
    FioV2,
    /// fio iolog version 3.
    FioV3,
    /// SNIA SYSTOR '17 CSV.
    Systor,
    /// Alibaba block traces CSV.
    Alibaba,
    /// Tencent block storage CSV.
    Tencent,
    /// FIU (IODedup): nanoseconds, process, sector, sectors, R or W, device, digests.
    Fiu,
    /// DiskMon (Sysinternals) log: number, seconds, duration, disk, Read or Write, sector, sectors.
    Diskmon,
    /// VMware vscsiStats text: serial number, bytes, elements, read or write, sector, microseconds.
    VscsiText,
    /// VMware vscsiStats records, version 1 or 2, as CloudPhysics published them.
    Vscsi,
    /// ssdlab CSV: `timestamp_us,op,offset_bytes,size_bytes` and optional further columns.
    Csv,
    /// ssdlab Parquet.
    Parquet,
}

/// What happens to addresses beyond the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RangePolicy {
    /// The run is refused at the first one.
    Error,
    /// They wrap around (modulo the exported size), counted.
    Wrap,
    /// The part beyond is cut off and requests wholly beyond are dropped, counted.
    Clip,
    /// The megabytes in use are numbered anew, in order of first use, so that gaps vanish.
    Compact,
}

/// What happens when arrival times go back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimeOrder {
    /// The run is refused at the first one.
    Error,
    /// The request arrives at the time of the one before it, counted.
    Clamp,
    /// The whole trace is sorted by time first (stable), which reads it into memory.
    Sort,
}
