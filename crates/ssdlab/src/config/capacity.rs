//! How much a configured drive holds, and how many blocks its pools can spare.

use crate::error::{Error, Result};

use super::{Config, Device, PoolScope, Streams};

/// Free blocks of a pool that host writes leave alone, so that a job always finds a place for the pages it moves.
pub const RESERVE: u32 = 1;

/// The sizes that follow from geometry, over-provisioning and pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Pools of blocks: planes or dies, by `ftl.pool`.
    pub pools: u64,
    /// Blocks in each pool.
    pub blocks_per_pool: u64,
    /// Mapping units in each flash page: 1, or more with `ftl.map_unit_bytes`.
    pub units_per_flash_page: u64,
    /// Units that a program of a plane writes.
    pub units_per_program: u64,
    /// Units in each block that hold data: all but those of parity (`ftl.parity_stripe`).
    pub units_per_block: u64,
    /// Units in each block, those of parity among them.
    pub physical_per_block: u64,
    /// Units in each block of which over-provisioning is a share: all, or with `ftl.parity_in_spare = false` those that hold data.
    pub counted_per_block: u64,
    /// User bytes of a unit.
    pub unit_bytes: u64,
    /// Units that the host can address: `floor(counted x (1 - overprovisioning))`, rounded down to a multiple of the flash pages that the
    /// pools have at one offset. Counted are all units, or with `ftl.parity_in_spare = false` those that hold data.
    pub exported_units: u64,
    /// Units behind them that hold the mapping table, where part of it is in flash only (`ftl.map_cache_bytes`).
    pub map_units: u64,
    /// Of these, the units of one translation page.
    pub map_units_each: u64,
    /// Blocks of a pool that are being filled at any time: the number of streams ([`Streams`]).
    pub frontiers: u64,
}

impl Capacity {
    /// Physical page numbers are 32 bits wide, of which one is a flag.
    pub const PAGES_MAX: u64 = (1 << 31) - 1;

    /// The sizes of a configured drive.
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
        let stripe = pools * u64::from(config.units_per_program());
        let exported = exported(counted_pages(config, physical), device.overprovisioning, stripe);
        let capacity = Capacity {
            pools,
            blocks_per_pool: planes_per_pool * u64::from(device.blocks_per_plane),
            units_per_flash_page: units,
            units_per_program: config.units_per_program().into(),
            units_per_block: config.data_units_per_block().into(),
            physical_per_block: u64::from(device.pages_per_block) * units,
            counted_per_block: counted_pages(config, u64::from(device.pages_per_block) * units),
            unit_bytes: config.map_unit_bytes().into(),
            exported_units: exported,
            map_units: config.map_units(exported, pools),
            map_units_each: (config.map_page_bytes() / config.map_unit_bytes()).into(),
            frontiers: Streams::new(config).count.into(),
        };
        if capacity.exported_units == 0 {
            let text = "leaves no page for the host on each of the drive's pools; lower it, or make the drive larger";
            return Err(Error::Config(format!("device.overprovisioning = {}: {text}", device.overprovisioning)));
        }
        Ok(capacity)
    }

    /// Pages of flash, those of parity among them.
    pub fn physical_pages(&self) -> u64 {
        self.pools * self.blocks_per_pool * self.physical_per_block
    }

    /// Pages of flash that hold data.
    pub fn data_pages(&self) -> u64 {
        self.pools * self.blocks_per_pool * self.units_per_block
    }

    /// Bytes that the host can address.
    pub fn exported_bytes(&self) -> u64 {
        self.exported_units * self.unit_bytes
    }

    /// Pages with an address: those of the host, and those of the mapping table in flash.
    pub fn logical_pages(&self) -> u64 {
        self.exported_units + self.map_units
    }

    /// Blocks of each pool beyond those that its share of the logical pages fills; 0 also if there are too few for that.
    pub fn spare_blocks(&self) -> u64 {
        self.blocks_per_pool.saturating_sub((self.logical_pages() / self.pools).div_ceil(self.units_per_block))
    }

    /// Blocks of a pool that invalid units may fill from which nothing is to be gained: a block is collected only if that gains a whole
    /// program, so that each may keep one unit less than a program invalid.
    pub fn scattered_blocks(&self) -> u64 {
        (self.blocks_per_pool * (self.units_per_program - 1)).div_ceil(self.units_per_block)
    }

    /// `gc.soft` as a number of blocks of a pool: a share is rounded to the nearest block, but never to 0.
    pub fn soft_blocks(&self, soft: f64) -> u64 {
        if soft < 1.0 { ((soft * self.blocks_per_pool as f64).round() as u64).max(1) } else { soft as u64 }
    }

    /// Of so many pages of each pool, fewer than now, those that are left for the host beside the mapping table of these.
    fn without_table(&self, pages: u64) -> u64 {
        if self.map_units == 0 {
            return pages;
        }
        // The table shrinks with what it maps, but for what rounding adds to it: a translation page, and the programs that all pools have.
        let rounding = self.map_units_each.div_ceil(self.pools) + self.units_per_program;
        let in_proportion = u128::from(pages.saturating_sub(rounding)) * u128::from(self.exported_units) / u128::from(self.logical_pages());
        // A small table is best taken as it is.
        pages.saturating_sub(self.map_units / self.pools).max(in_proportion as u64)
    }

    /// The over-provisioning, to four decimals, that leaves at least `spare` blocks in each pool; `None` if none that is
    /// allowed does.
    pub fn overprovisioning_for(&self, spare: u64) -> Option<f64> {
        let all = self.blocks_per_pool * self.counted_per_block;
        let kept = self.without_table(self.blocks_per_pool.saturating_sub(spare) * self.units_per_block);
        let share = ((all - kept) * 10_000).div_ceil(all);
        (share <= 9_900).then_some(share as f64 / 10_000.0)
    }
}

/// Pages of which over-provisioning is a share, of so many physical ones: all, or those that hold data.
fn counted_pages(config: &Config, physical: u64) -> u64 {
    if config.ftl.parity_in_spare {
        return physical;
    }
    physical / u64::from(config.device.pages_per_block * config.units_per_page()) * u64::from(config.data_units_per_block())
}

/// What is exported of the pages that count.
fn exported(counted: u64, overprovisioning: f64, stripe: u64) -> u64 {
    // Both are below 2^53: the product is rounded once, and floor never yields more than the exact product.
    let exported = (counted as f64 * (1.0 - overprovisioning)).floor() as u64;
    exported - exported % stripe
}

/// All pages of the drive, unless they are too many to be simulated.
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
