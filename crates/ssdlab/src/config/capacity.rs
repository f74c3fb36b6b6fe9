//! How much a configured drive holds, and how many blocks its pools can spare.

use crate::error::{Error, Result};

use super::{Config, Device, Frontier, PoolScope};

/// Free blocks of a pool that host writes leave alone, so that a job always finds a place for the pages it moves.
pub const RESERVE: u32 = 1;

/// The sizes that follow from geometry, over-provisioning and pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Pools of blocks: planes or dies, by `ftl.pool`.
    pub pools: u64,
    /// Blocks in each pool.
    pub blocks_per_pool: u64,
    /// Mapping units in each flash page: 1, or more with `ftl.map_unit_bytes`. Then they are what is called a page here.
    pub units_per_page: u64,
    /// Units that a program of a plane writes.
    pub units_per_program: u64,
    /// Pages in each block that hold data: all but those of parity (`ftl.parity_stripe`).
    pub pages_per_block: u64,
    /// Pages in each block, those of parity among them.
    pub physical_per_block: u64,
    /// User bytes of a page.
    pub page_bytes: u64,
    /// Pages that the host can address: `floor(physical x (1 - overprovisioning))`, rounded down to a multiple of the flash pages that the
    /// pools have at one offset.
    pub exported_pages: u64,
    /// Pages behind them that hold the mapping table, where part of it is in flash only (`ftl.map_cache_bytes`).
    pub map_pages: u64,
    /// Of these, the pages of one translation page.
    pub map_pages_each: u64,
    /// Blocks of a pool that are being filled at any time: 1 with a shared frontier from which no write is redirected, else 2.
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
        // Both are below 2^53: the product is rounded once, and floor never yields more than the exact product.
        let exported = (physical as f64 * (1.0 - device.overprovisioning)).floor() as u64;
        let exported = exported - exported % (pools * u64::from(config.units_per_program()));
        let capacity = Capacity {
            pools,
            blocks_per_pool: planes_per_pool * u64::from(device.blocks_per_plane),
            units_per_page: units,
            units_per_program: config.units_per_program().into(),
            pages_per_block: config.data_units_per_block().into(),
            physical_per_block: u64::from(device.pages_per_block) * units,
            page_bytes: config.map_unit_bytes().into(),
            exported_pages: exported,
            map_pages: config.map_units(exported, pools),
            map_pages_each: (config.map_page_bytes() / config.map_unit_bytes()).into(),
            frontiers: if config.ftl.frontier == Frontier::Shared && !config.redirects_writes() { 1 } else { 2 },
        };
        if capacity.exported_pages == 0 {
            let text = "leaves no page for the host on each of the drive's pools; lower it, or make the drive larger";
            return Err(Error::Config(format!("device.overprovisioning = {}: {text}", device.overprovisioning)));
        }
        Ok(capacity)
    }

    /// The least `device.blocks_per_plane` with which the drive (or the array of such drives) exports at least `bytes` and can work, all
    /// else as configured: a drive of few blocks may have none to spare, or too few for `gc.soft`. What cannot work for a reason that no
    /// number of blocks mends is left to the configuration's checks: then the fewest that export enough. `None` if no drive that can be
    /// simulated exports so much.
    pub fn blocks_per_plane_for(config: &Config, bytes: u64) -> Option<u32> {
        let with = |blocks: u32| Config { device: Device { blocks_per_plane: blocks, ..config.device.clone() }, ..config.clone() };
        let one = physical_pages(&Device { blocks_per_plane: 1, ..config.device.clone() })? * u64::from(config.units_per_page());
        let most = u32::try_from(Self::PAGES_MAX / one).ok()?;
        let exports_enough = |blocks: u32| with(blocks).exported_bytes().is_ok_and(|exported| exported >= bytes);
        let least = fewest(0, most, exports_enough)?;
        Some(fewest(least - 1, most, |blocks| super::validate(&with(blocks)).is_ok()).unwrap_or(least))
    }

    /// Pages of flash, those of parity among them.
    pub fn physical_pages(&self) -> u64 {
        self.pools * self.blocks_per_pool * self.physical_per_block
    }

    /// Pages of flash that hold data.
    pub fn data_pages(&self) -> u64 {
        self.pools * self.blocks_per_pool * self.pages_per_block
    }

    /// Bytes that the host can address.
    pub fn exported_bytes(&self) -> u64 {
        self.exported_pages * self.page_bytes
    }

    /// Pages with an address: those of the host, and those of the mapping table in flash.
    pub fn logical_pages(&self) -> u64 {
        self.exported_pages + self.map_pages
    }

    /// Blocks of each pool beyond those that its share of the logical pages fills; 0 also if there are too few for that.
    pub fn spare_blocks(&self) -> u64 {
        self.blocks_per_pool.saturating_sub((self.logical_pages() / self.pools).div_ceil(self.pages_per_block))
    }

    /// Blocks of a pool that invalid units may fill from which nothing is to be gained: a block is collected only if that gains a whole
    /// program, so that each may keep one unit less than a program invalid.
    pub fn scattered_blocks(&self) -> u64 {
        (self.blocks_per_pool * (self.units_per_program - 1)).div_ceil(self.pages_per_block)
    }

    /// `gc.soft` as a number of blocks of a pool: a share is rounded to the nearest block, but never to 0.
    pub fn soft_blocks(&self, soft: f64) -> u64 {
        if soft < 1.0 { ((soft * self.blocks_per_pool as f64).round() as u64).max(1) } else { soft as u64 }
    }

    /// Of so many pages of each pool, fewer than now, those that are left for the host beside the mapping table of these.
    fn without_table(&self, pages: u64) -> u64 {
        if self.map_pages == 0 {
            return pages;
        }
        // The table shrinks with what it maps, but for what rounding adds to it: a translation page, and the programs that all pools have.
        let rounding = self.map_pages_each.div_ceil(self.pools) + self.units_per_program;
        let in_proportion = u128::from(pages.saturating_sub(rounding)) * u128::from(self.exported_pages) / u128::from(self.logical_pages());
        // A small table is best taken as it is.
        pages.saturating_sub(self.map_pages / self.pools).max(in_proportion as u64)
    }

    /// The over-provisioning, to four decimals, that leaves at least `spare` blocks in each pool; `None` if none that is
    /// allowed does.
    pub fn overprovisioning_for(&self, spare: u64) -> Option<f64> {
        let all = self.blocks_per_pool * self.physical_per_block;
        let kept = self.without_table(self.blocks_per_pool.saturating_sub(spare) * self.pages_per_block);
        let share = ((all - kept) * 10_000).div_ceil(all);
        (share <= 9_900).then_some(share as f64 / 10_000.0)
    }
}

/// The least number above `few` and up to `most` that is `enough`, or `None`. The first hundred are tried one by one, since rounding to
/// whole blocks and pools makes small drives differ from their neighbours; beyond them what is enough stays so: doubling, then halving.
fn fewest(few: u32, most: u32, enough: impl Fn(u32) -> bool) -> Option<u32> {
    const ONE_BY_ONE: u32 = 100;
    let near = few.saturating_add(ONE_BY_ONE).min(most);
    if let Some(found) = (few + 1..=near).find(|&number| enough(number)) {
        return Some(found);
    }
    let (mut low, mut step) = (near, ONE_BY_ONE);
    let mut high = loop {
        if low >= most {
            return None;
        }
        let next = low.saturating_add(step).min(most);
        if enough(next) {
            break next;
        }
        (low, step) = (next, step.saturating_mul(2));
    };
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if enough(middle) { high = middle } else { low = middle }
    }
    Some(high)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_blocks_that_export_enough_and_work_are_found() {
        let mut config = Config::default();
        let exported = |config: &Config| Capacity::of(config).unwrap().exported_bytes();
        let works = |config: &Config| crate::config::validate(config).is_ok();
        for bytes in [1, 1 << 20, 123_456_789, 1 << 32, exported(&config)] {
            let blocks = Capacity::blocks_per_plane_for(&config, bytes).unwrap();
            config.device.blocks_per_plane = blocks;
            assert!(exported(&config) >= bytes && works(&config), "{blocks} blocks");
            config.device.blocks_per_plane = blocks - 1;
            assert!(!works(&config) || exported(&config) < bytes, "{blocks} blocks");
        }
        assert_eq!(Capacity::blocks_per_plane_for(&config, u64::MAX), None);
    }

    #[test]
    fn what_more_blocks_do_not_mend_keeps_the_fewest_that_export_enough() {
        let mut config = Config::default();
        config.gc.soft = 1.5; // neither a share nor a number of blocks
        let blocks = Capacity::blocks_per_plane_for(&config, 1 << 30).unwrap();
        config.device.blocks_per_plane = blocks;
        assert!(Capacity::of(&config).unwrap().exported_bytes() >= 1 << 30);
    }
}
