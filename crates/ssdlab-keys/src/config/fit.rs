//! Fits a drive to a number of exported bytes: blocks of a plane and over-provisioning.

use super::validate::is_valid;
use super::{Capacity, Config, Device};

/// Size of a drive that exports a given number of bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// `device.blocks_per_plane` of the fitted drive.
    pub blocks_per_plane: u32,
    /// `device.overprovisioning` of the fitted drive, at least the configured one.
    pub overprovisioning: f64,
}

/// Highest over-provisioning with which a fitted drive exports just the given bytes. If the frontiers, reserve and threshold of a small
/// drive take more, the drive exports more instead: with more than half of it spare, GC would hardly have to move a page.
const MOST_SPARE: f64 = 0.5;

impl Fit {
    /// The drive (or the array of such drives) with the fewest blocks of a plane that has at least the configured over-provisioning,
    /// exports just `bytes`, rounded up to whole programs of all pools, and is valid; all other keys are as configured. So the configured
    /// over-provisioning does not change the exported bytes. Two exceptions: if more than half of the drive would be spare, the drive
    /// exports as much as the configured over-provisioning leaves; a problem that no number of blocks solves is left to the checks of the
    /// configuration. `None` if no drive that can be simulated exports `bytes`.
    ///
    /// `config` need not be valid as it is: see [`super::Layers::build_of_any_size`].
    pub fn of(config: &Config, bytes: u64) -> Option<Fit> {
        let asked = config.device.overprovisioning;
        let most = most_blocks(config)?;
        let exports_enough = |blocks| with(config, blocks, asked).exported_bytes().is_ok_and(|exported| exported >= bytes);
        let least = fewest(0, most, exports_enough)?;
        let pages = least_pages(&with(config, least, asked), bytes)?;
        let just = |blocks| just_exporting(config, blocks, pages);
        let works = |blocks: u32, share: f64| is_valid(&with(config, blocks, share));
        let found = fewest(least - 1, most, |blocks| just(blocks).is_some_and(|share| works(blocks, share)));
        if let Some((blocks, share)) = found.and_then(|blocks| Some((blocks, just(blocks)?)))
            && share <= MOST_SPARE.max(asked)
        {
            return Some(Fit { blocks_per_plane: blocks, overprovisioning: share });
        }
        let blocks = fewest(least - 1, most, |blocks| works(blocks, asked)).unwrap_or(least);
        Some(Fit { blocks_per_plane: blocks, overprovisioning: asked })
    }
}

fn with(config: &Config, blocks: u32, overprovisioning: f64) -> Config {
    Config { device: Device { blocks_per_plane: blocks, overprovisioning, ..config.device.clone() }, ..config.clone() }
}

/// Highest number of blocks of a plane with which the drive can be simulated; `None` if the number of pages overflows.
fn most_blocks(config: &Config) -> Option<u32> {
    let device = &config.device;
    let factors = [device.channels, device.chips_per_channel, device.dies_per_chip, device.planes_per_die, device.pages_per_block];
    let one = factors.iter().try_fold(u64::from(config.units_per_page()), |product, &factor| product.checked_mul(factor.into()))?;
    u32::try_from(Capacity::PAGES_MAX.checked_div(one)?).ok()
}

/// Least number of mapping units that each drive exports, in whole programs of all pools, so that the host has at least `bytes`. `config`
/// must export that much; `None` if it is too large or exports nothing.
fn least_pages(config: &Config, bytes: u64) -> Option<u64> {
    let capacity = Capacity::of(config).ok()?;
    let stripe = capacity.pools * capacity.units_per_program;
    let enough = |stripes: u64| config.array.exported_bytes(stripes * stripe * capacity.unit_bytes) >= bytes;
    let (mut low, mut high) = (0, capacity.exported_units / stripe);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if enough(middle) { high = middle } else { low = middle }
    }
    Some(high * stripe)
}

/// The over-provisioning, in as few digits as suffice, with which a drive of `blocks` blocks of a plane exports just `pages`; `None` if
/// that is below the configured one, or above the range of the key.
fn just_exporting(config: &Config, blocks: u32, pages: u64) -> Option<f64> {
    const MOST: f64 = 0.99;
    const DIGITS: std::ops::RangeInclusive<i32> = 3..=16;
    let asked = config.device.overprovisioning;
    let exports = |share: f64| Capacity::of(&with(config, blocks, share)).is_ok_and(|capacity| capacity.exported_units == pages);
    if exports(asked) {
        return Some(asked);
    }
    let capacity = Capacity::of(&with(config, blocks, 0.0)).ok()?;
    let counted = capacity.pools * capacity.blocks_per_pool * capacity.counted_per_block;
    let stripe = capacity.pools * capacity.units_per_program;
    let middle = 1.0 - (pages as f64 + stripe as f64 / 2.0) / counted as f64;
    let rounded = DIGITS.map(|digits| {
        let scale = libm::pow(10.0, digits.into());
        libm::round(middle * scale) / scale
    });
    rounded.chain([middle]).find(|&share| (asked..=MOST).contains(&share) && exports(share))
}

/// The least number above `few` and up to `most` that is `enough`, or `None`. The first hundred are tried one by one, since rounding to
/// whole blocks and pools makes small drives differ from their neighbours. Beyond them, every number above one that is enough must be
/// enough: the search doubles its step, then halves the interval.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layers, validate};

    fn drive(device: &str, pairs: &[(&str, &str)]) -> Config {
        let set = pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        Layers { device: Some(device.into()), set, ..Layers::default() }.build_of_any_size().unwrap().config
    }

    fn fitted(config: &Config, bytes: u64) -> Config {
        let fit = Fit::of(config, bytes).unwrap();
        with(config, fit.blocks_per_plane, fit.overprovisioning)
    }

    #[test]
    fn the_fewest_blocks_that_have_the_spare_asked_for_and_work_are_found() {
        let config = Config::default();
        // The default drive has 4 pools of pages of 4 KiB.
        for bytes in [50 << 20, 123_456_789, 1 << 32] {
            let found = fitted(&config, bytes);
            assert_eq!(found.exported_bytes().unwrap(), bytes.next_multiple_of(4 * 4096), "{bytes}");
            assert!(validate(&found).is_ok() && found.device.overprovisioning >= 0.15, "{bytes}");
            let smaller = with(&config, found.device.blocks_per_plane - 1, 0.15);
            assert!(validate(&smaller).is_err() || smaller.exported_bytes().unwrap() < bytes, "{bytes}");
        }
        assert_eq!(Fit::of(&config, u64::MAX), None);
    }

    /// Regression: 7 % spare was refused on drives of few blocks before they were fitted, and exported more than 15 %.
    #[test]
    fn what_is_exported_does_not_depend_on_the_spare_asked_for() {
        for (device, pages_per_block) in [("demo-4g", "64"), ("nvme-4g", "96"), ("nvme-tlc-scaled-5g", "96")] {
            for spare in ["0.07", "0.15", "0.28"] {
                let keys = [
                    ("device.overprovisioning", spare),
                    ("device.pages_per_block", pages_per_block),
                    ("gc.soft", "2"),
                    ("ftl.parity_in_spare", "false"),
                ];
                let config = drive(device, &keys);
                let found = fitted(&config, 4_000_000_000);
                let exported = found.exported_bytes().unwrap();
                // At most one more program of each pool: 16 programs of 48 KiB.
                assert!(exported - 4_000_000_000 < 1 << 20, "{device} {spare}: {exported}");
                validate(&found).unwrap();
                let more = found.device.overprovisioning / config.device.overprovisioning;
                assert!((1.0..1.15).contains(&more), "{device} {spare}: {more}");
            }
        }
    }

    #[test]
    fn a_drive_too_small_to_work_exports_more_at_the_spare_asked_for() {
        let config = drive("demo-4g", &[]);
        let found = fitted(&config, 4096);
        assert!(validate(&found).is_ok() && found.device.overprovisioning == 0.2);
        assert!(found.exported_bytes().unwrap() > 100 << 20);
    }

    #[test]
    fn what_more_blocks_do_not_mend_keeps_the_fewest_that_export_enough() {
        let mut config = Config::default();
        config.gc.soft = 1.5; // neither a share nor a number of blocks
        assert!(fitted(&config, 1 << 30).exported_bytes().unwrap() >= 1 << 30);
    }
}
