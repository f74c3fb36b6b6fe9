//! Blocks in SLC mode: a cache for host writes inside the flash.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::VariantArray;

use super::{Config, Mode, ModeFacts, PoolScope, WHOLE};
use ssdlab_base::units::Ns;

/// A cache of blocks in SLC mode, which host writes fill and folding empties. Off unless `static_blocks` or `dynamic_blocks` is above 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Slc {
    /// Static part: blocks of each plane that are always in SLC mode, and hold nothing else. They are part of the spare
    /// (`device.overprovisioning`).
    #[schemars(range(min = 0, max = 1000000))]
    pub static_blocks: u32,
    /// Dynamic part: the most other blocks of each plane in SLC mode at a time. They are used in that mode while the pool has more free
    /// blocks than make GC start.
    #[schemars(range(min = 0, max = 1000000))]
    pub dynamic_blocks: u32,
    /// Where host writes go when no block can be opened in SLC mode.
    pub full: SlcFull,
    /// Share of a pool's cache that is full from which folding goes on beside host writes: of its full blocks, its open one and those that
    /// could be opened now. 0: never.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub fold_level: f64,
    /// Time without an outstanding request after which folding begins, us, and goes on until a request comes. 0: no folding in idle time.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub idle_us: u64,
    /// The most pools that fold at a time, over the drive; those that wait take turns. 0: all.
    #[schemars(range(min = 0, max = 1000000))]
    pub fold_jobs: u32,
    /// Mode of the blocks that translation pages fill, apart from other data (`ftl.map_cache_bytes`). In SLC mode they are part of the cache, and
    /// are folded as others; when no block can be opened there, translation pages go where host writes go.
    pub map_mode: Mode,
    /// Bits per cell of blocks that are not in SLC mode. A block in SLC mode holds that part of its pages, rounded down to whole programs.
    #[schemars(range(min = 2, max = 4))]
    pub bits_per_cell: u32,
    /// Array time of a page read in SLC mode, ns.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub read_ns: Ns,
    /// Array time of the program of a page in SLC mode, ns. A program of several pages (`device.pages_per_program`) takes that for each.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub program_ns: Ns,
    /// Time of the erase of a block in SLC mode, ns.
    #[schemars(range(min = 0, max = 10000000000_u64))]
    pub erase_ns: Ns,
    /// Raw bit error rate of a block in SLC mode, as a share of that of another block of the same age.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub errors: f64,
    /// Wear of a block by an erase in SLC mode, as a share of that by another erase: the endurance of blocks that are never in SLC mode over
    /// that of blocks that always are.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub wear: f64,
}

impl Default for Slc {
    fn default() -> Self {
        Slc {
            static_blocks: 0,
            dynamic_blocks: 0,
            full: SlcFull::Direct,
            fold_level: 0.0,
            // A guess.
            idle_us: 100_000,
            fold_jobs: 0,
            map_mode: Mode::Slc,
            bits_per_cell: 3,
            // Times of chips in SLC mode are not public. Public simulators have 16 to 30 us, 40 to 160 us and up to 3 ms.
            read_ns: 25_000,
            program_ns: 150_000,
            erase_ns: 2_000_000,
            errors: 1.0,
            wear: 1.0,
        }
    }
}

impl Slc {
    /// The drive has blocks in SLC mode.
    pub fn is_on(&self) -> bool {
        self.static_blocks > 0 || self.dynamic_blocks > 0
    }

    /// Blocks turn to a mode of the cache and back.
    pub fn is_dynamic(&self) -> bool {
        self.dynamic_blocks > 0
    }
}

/// Which blocks of a drive can be in the cache.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct SlcShape {
    /// Blocks of a plane from this number on are always in SLC mode.
    pub static_from: u32,
    /// Blocks of a pool that are always in SLC mode.
    pub static_each: u32,
    /// The most other blocks of a pool in SLC mode at a time.
    pub dynamic_each: u32,
}

impl SlcShape {
    /// The cache of a checked configuration; `None` without one.
    pub fn new(config: &Config) -> Option<Self> {
        let (slc, planes) = (&config.slc, config.planes_per_pool());
        let static_from = config.device.blocks_per_plane.saturating_sub(slc.static_blocks);
        let (static_each, dynamic_each) = (slc.static_blocks * planes, slc.dynamic_blocks.min(static_from) * planes);
        slc.is_on().then_some(SlcShape { static_from, static_each, dynamic_each })
    }

    /// Blocks turn to a mode of the cache and back.
    pub fn is_dynamic(&self) -> bool {
        self.dynamic_each > 0
    }
}

impl Config {
    /// What blocks in SLC mode have in common; `None` without such blocks.
    pub(super) fn slc_facts(&self) -> Option<ModeFacts> {
        let slc = &self.slc;
        let program_ns = Ns::from(self.device.pages_per_program) * slc.program_ns;
        slc.is_on().then(|| ModeFacts {
            skipped: self.data_units_per_block() - self.slc_units_per_block(),
            read_ns: vec![slc.read_ns],
            program_ns: vec![program_ns],
            mean_ns: [slc.read_ns, program_ns],
            erase_ns: slc.erase_ns,
            errors: slc.errors,
            wear: libm::round(slc.wear * WHOLE as f64) as u64,
        })
    }

    /// The part of the shape of a saved state that the cache decides ([`Config::SHAPE_OF_SLC`]).
    pub fn slc_shape(&self) -> String {
        let slc = &self.slc;
        if !slc.is_on() {
            return String::new();
        }
        let wear = if slc.wear < 1.0 { format!(" wear {}", slc.wear) } else { String::new() };
        let map = if self.caches_map() { format!(" {:?}", slc.map_mode) } else { String::new() };
        format!(" slc {} {}{wear}{map}", slc.static_blocks, slc.bits_per_cell)
    }

    /// The keys of the cache that shape a saved state.
    pub const SHAPE_OF_SLC: &str = "slc.static_blocks, slc.bits_per_cell, slc.wear and slc.map_mode";

    /// Mapping units that a block in SLC mode holds, in whole programs.
    pub fn slc_units_per_block(&self) -> u32 {
        let units = self.data_units_per_block() / self.slc.bits_per_cell;
        units - units % self.units_per_program()
    }

    /// Wear by a mapping unit programmed in SLC mode, as a share of that by another unit: an erase in that mode wears by `slc.wear`, and a block
    /// holds fewer units. 0 without an SLC cache.
    pub fn slc_unit_wear(&self) -> f64 {
        let units = if self.slc.is_on() { self.slc_units_per_block() } else { 0 };
        if units == 0 { 0.0 } else { self.slc.wear * f64::from(self.data_units_per_block()) / f64::from(units) }
    }

    /// Planes that share a pool of blocks.
    pub fn planes_per_pool(&self) -> u32 {
        match self.ftl.pool {
            PoolScope::Plane => 1,
            PoolScope::Die => self.device.planes_per_die,
        }
    }
}

/// Where host writes go when no block can be opened in SLC mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, VariantArray)]
#[serde(rename_all = "kebab-case")]
pub enum SlcFull {
    /// To a block that is not in SLC mode, at the speed of such blocks.
    Direct,
    /// Nowhere: they wait until folding has freed a block, so that all data of the host pass through blocks in SLC mode.
    Fold,
}
