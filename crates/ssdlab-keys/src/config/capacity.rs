//! Sizes of a configured drive: physical and exported pages, and the spare blocks of its pools.

use ssdlab_base::error::{Error, Result};

use super::{Config, Device, PoolScope, ReclaimUnit, Streams, SuperblockSpan};

/// Number of free blocks of a pool that only GC may take, so that a job always has room for the pages it moves.
pub const RESERVE: u32 = 1;

/// Sizes of a drive that follow from geometry, over-provisioning and pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Number of block pools: planes or dies, by `ftl.pool`.
    pub pools: u64,
    /// Number of blocks in each pool.
    pub blocks_per_pool: u64,
    /// Number of pools whose blocks are collected as one ([`Config::pools_per_group`]).
    pub pools_per_group: u64,
    /// Number of mapping units in each flash page; 1 without `ftl.map_unit_bytes`.
    pub units_per_flash_page: u64,
    /// Number of mapping units that a program of one plane writes.
    pub units_per_program: u64,
    /// Number of mapping units of a block that hold data: all but those of parity (`ftl.parity_stripe`).
    pub units_per_block: u64,
    /// Number of mapping units of a block, those of parity included.
    pub physical_per_block: u64,
    /// Number of mapping units of a block of which over-provisioning is a share: all, or with `ftl.parity_in_spare = false` those that hold
    /// data.
    pub counted_per_block: u64,
    /// User bytes of a mapping unit.
    pub unit_bytes: u64,
    /// Number of mapping units that the host can address: `floor(counted x (1 - overprovisioning))`, rounded down to whole programs of all
    /// pools, or to whole zones (`zones.blocks`). Counted are all units, or with `ftl.parity_in_spare = false` those that hold data.
    pub exported_units: u64,
    /// Number of mapping units behind the exported ones that hold the mapping table, if part of it is in flash only
    /// (`ftl.map_cache_bytes`); else 0.
    pub map_units: u64,
    /// Number of mapping units of one translation page.
    pub map_units_each: u64,
    /// Number of blocks of a pool that may be open at any time ([`Config::open_blocks`]).
    pub frontiers: u64,
    /// Number of blocks of a pool that are always in SLC mode (`slc.static_blocks`).
    pub static_blocks: u64,
}

impl Capacity {
    /// Largest number of physical mapping units of a drive: a physical page number has 32 bits, one of which is a flag.
    pub const PAGES_MAX: u64 = (1 << 31) - 1;

    /// Computes the sizes of a configured drive.
    ///
    /// # Errors
    /// [`Error::Config`] if the drive has more than [`Capacity::PAGES_MAX`] pages, or exports none.
    pub fn of(config: &Config) -> Result<Capacity> {
        let device = &config.device;
        let units = u64::from(config.units_per_page());
        let physical = physical_pages(device).filter(|pages| pages * units <= Self::PAGES_MAX);
        let physical = physical.ok_or_else(|| Error::Config(too_large(device, units)))? * units;
        let dies = u64::from(device.channels) * u64::from(device.chips_per_channel) * u64::from(device.dies_per_chip);
        let (pools, planes_per_pool) = match config.ftl.pool {
            PoolScope::Plane => (dies * u64::from(device.planes_per_die), 1),
            PoolScope::Die => (dies, u64::from(device.planes_per_die)),
        };
        let exported = exported(counted_pages(config, physical), device.overprovisioning, config.exported_in(pools));
        let capacity = Capacity {
            pools,
            blocks_per_pool: planes_per_pool * u64::from(device.blocks_per_plane),
            pools_per_group: config.pools_per_group().into(),
            units_per_flash_page: units,
            units_per_program: config.units_per_program().into(),
            units_per_block: config.data_units_per_block().into(),
            physical_per_block: u64::from(device.pages_per_block) * units,
            counted_per_block: counted_pages(config, u64::from(device.pages_per_block) * units),
            unit_bytes: config.map_unit_bytes().into(),
            exported_units: exported,
            map_units: config.map_units(exported, pools),
            map_units_each: (config.map_page_bytes() / config.map_unit_bytes()).into(),
            frontiers: config.open_blocks().into(),
            static_blocks: u64::from(config.slc.static_blocks) * planes_per_pool,
        };
        if capacity.exported_units == 0 && config.has_zones() {
            let text =
                "leaves no zone: a zone takes as many blocks of each pool; lower it, or device.overprovisioning, or have more blocks";
            return Err(Error::Config(format!("zones.blocks = {}: {text}", config.zones.blocks)));
        }
        if capacity.exported_units == 0 {
            let text = "leaves no page for the host on each of the drive's pools; lower it, or make the drive larger";
            return Err(Error::Config(format!("device.overprovisioning = {}: {text}", device.overprovisioning)));
        }
        Ok(capacity)
    }

    /// Number of mapping units of the flash, those of parity included.
    pub fn physical_pages(&self) -> u64 {
        self.pools * self.blocks_per_pool * self.physical_per_block
    }

    /// Number of mapping units of the flash that hold data: all but those of parity.
    pub fn data_pages(&self) -> u64 {
        self.pools * self.blocks_per_pool * self.units_per_block
    }

    /// Number of bytes that the host can address.
    pub fn exported_bytes(&self) -> u64 {
        self.exported_units * self.unit_bytes
    }

    /// Number of mapping units with an address: those of the host, and those of the mapping table in flash.
    pub fn logical_pages(&self) -> u64 {
        self.exported_units + self.map_units
    }

    /// Number of spare blocks of each pool: blocks beyond those that its share of the logical pages fills. 0 also if there are too few
    /// blocks for that. Blocks that are always in SLC mode are none.
    pub fn spare_blocks(&self) -> u64 {
        let blocks = self.blocks_per_pool.saturating_sub(self.static_blocks);
        blocks.saturating_sub((self.logical_pages() / self.pools).div_ceil(self.units_per_block))
    }

    /// Number of blocks of a pool that invalid units may fill for good: a block is collected only if that gains a whole program, so each
    /// block, or superblock of several pools, may keep one unit less than a program invalid.
    pub fn scattered_blocks(&self) -> u64 {
        (self.blocks_per_pool * (self.units_per_program - 1)).div_ceil(self.units_per_block * self.pools_per_group)
    }

    /// `gc.soft` as a number of blocks of a pool: a share is rounded to the nearest block, at least 1.
    pub fn soft_blocks(&self, soft: f64) -> u64 {
        if soft < 1.0 { ((soft * self.blocks_per_pool as f64).round() as u64).max(1) } else { soft as u64 }
    }

    /// Number of mapping units of each pool that are left to the host, if `pages` units hold the host's data and the mapping table.
    /// `pages`: fewer than now.
    fn without_table(&self, pages: u64) -> u64 {
        if self.map_units == 0 {
            return pages;
        }
        // The table shrinks with the data it maps, except for what rounding adds: a translation page, and one program of each pool.
        let rounding = self.map_units_each.div_ceil(self.pools) + self.units_per_program;
        let in_proportion = u128::from(pages.saturating_sub(rounding)) * u128::from(self.exported_units) / u128::from(self.logical_pages());
        // For a small table, its present size is the better bound.
        pages.saturating_sub(self.map_units / self.pools).max(in_proportion as u64)
    }

    /// An over-provisioning, to four decimals, that leaves at least `spare` spare blocks in each pool; `None` if it would be above 0.99.
    pub fn overprovisioning_for(&self, spare: u64) -> Option<f64> {
        let all = self.blocks_per_pool * self.counted_per_block;
        let kept = self.without_table(self.blocks_per_pool.saturating_sub(spare + self.static_blocks) * self.units_per_block);
        let share = ((all - kept) * 10_000).div_ceil(all);
        (share <= 9_900).then_some(share as f64 / 10_000.0)
    }
}

impl Config {
    /// Number of pools whose blocks form what is filled, collected and erased as one: 1 without superblocks.
    pub fn pools_per_group(&self) -> u32 {
        let device = &self.device;
        let per_die = if self.ftl.pool == PoolScope::Plane { device.planes_per_die } else { 1 };
        let per_channel = device.chips_per_channel * device.dies_per_chip * per_die;
        match (self.ftl.reclaim_unit, self.ftl.superblock_span) {
            (ReclaimUnit::Block, _) => 1,
            (ReclaimUnit::Superblock, SuperblockSpan::Channel) => per_channel,
            (ReclaimUnit::Superblock, SuperblockSpan::Drive) => per_channel * device.channels,
        }
    }

    /// Number of blocks of a pool that a stream may have open: 1, or with superblocks of several pools 2, as one pool may begin the next
    /// superblock while another still fills the last.
    pub fn open_each(&self) -> u32 {
        if self.pools_per_group() > 1 { 2 } else { 1 }
    }

    /// Number of blocks of a pool that may be open at any time, without those that are always in SLC mode: one or two for each stream
    /// ([`Streams`], [`Config::open_each`]).
    pub fn open_blocks(&self) -> u32 {
        let streams = Streams::new(self);
        let open = if self.slc.is_dynamic() { streams.count } else { streams.slc };
        // What is left of the open blocks of a zone is of its own capacity.
        let open = if self.zones_fill_blocks() { open - streams.host_classes } else { open };
        u32::from(open) * self.open_each()
    }
}

/// Number of `physical` mapping units of which over-provisioning is a share: all, or those that hold data.
fn counted_pages(config: &Config, physical: u64) -> u64 {
    if config.ftl.parity_in_spare {
        return physical;
    }
    physical / u64::from(config.device.pages_per_block * config.units_per_page()) * u64::from(config.data_units_per_block())
}

/// Number of mapping units exported of `counted` ones, a multiple of `stripe`.
fn exported(counted: u64, overprovisioning: f64, stripe: u64) -> u64 {
    // Both factors are below 2^53: the product is rounded once, and floor never yields more than the exact product.
    let exported = (counted as f64 * (1.0 - overprovisioning)).floor() as u64;
    exported - exported % stripe
}

/// Number of flash pages of the drive; `None` above [`Capacity::PAGES_MAX`].
fn physical_pages(device: &Device) -> Option<u64> {
    let counts = counts(device);
    let product = counts.iter().try_fold(1_u64, |product, (_, count)| product.checked_mul((*count).into()))?;
    (product <= Capacity::PAGES_MAX).then_some(product)
}

fn counts(device: &Device) -> [(&'static str, u32); 6] {
    [
        ("channels", device.channels),
        ("chips_per_channel", device.chips_per_channel),
        ("dies_per_chip", device.dies_per_chip),
        ("planes_per_die", device.planes_per_die),
        ("blocks_per_plane", device.blocks_per_plane),
        ("pages_per_block", device.pages_per_block),
    ]
}

fn too_large(device: &Device, units: u64) -> String {
    let product = counts(device).map(|(name, count)| format!("{name} {count}")).join(" x ");
    let most = Capacity::PAGES_MAX;
    let what = if units > 1 { format!("pages of {units} mapping units each (ftl.map_unit_bytes)") } else { "pages".to_string() };
    let counted = if units > 1 { " units" } else { "" };
    format!("device: {product} {what} are too many; at most {most}{counted} in all can be simulated; lower one of them")
}
