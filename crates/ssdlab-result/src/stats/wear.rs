//! What a result says of the life of a drive: blocks that failed, and its ratings (TBW, DWPD).

use schemars::JsonSchema;
use serde::Serialize;

use ssdlab_base::error::Result;
use ssdlab_base::units::Ns;
use ssdlab_keys::config::{Capacity, Config, MODES, Mode};

use super::device::DeviceStats;
use super::written::BytesWritten;

/// When and why a drive became read-only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOnly {
    /// When, ns.
    pub at_ns: Ns,
    /// The pool that ran short.
    pub pool: u32,
    /// Blocks that this pool had lost by then.
    pub lost: u32,
    /// Why.
    pub cause: ReadOnlyCause,
}

/// Why a drive became read-only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReadOnlyCause {
    /// A pool lost more blocks than it can spare.
    Spare,
    /// Blocks failed one after the other, so that a pool had no room left for the pages that GC moves.
    NoRoom,
}

/// Blocks retired, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetiredBlocks {
    /// Blocks retired because they had been erased as often as they can be.
    pub worn_out: u64,
    /// Blocks retired because an erase failed.
    pub failed_erases: u64,
    /// Blocks retired because a program failed.
    pub failed_programs: u64,
}

/// The wear of a drive at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct WearStats {
    /// Blocks retired since the start of the run, by cause.
    pub retired: RetiredBlocks,
    /// Blocks that the pool with the fewest can still lose.
    pub spare_left: u32,
    /// When and why the drive became read-only.
    pub read_only: Option<ReadOnly>,
}

impl WearStats {
    /// The wear of two drives: what happened first, and the least that is left.
    #[must_use]
    pub fn joined(self, other: WearStats) -> WearStats {
        let (one, two) = (self.retired, other.retired);
        WearStats {
            retired: RetiredBlocks {
                worn_out: one.worn_out + two.worn_out,
                failed_erases: one.failed_erases + two.failed_erases,
                failed_programs: one.failed_programs + two.failed_programs,
            },
            spare_left: self.spare_left.min(other.spare_left),
            read_only: self.read_only.into_iter().chain(other.read_only).min_by_key(|read_only| read_only.at_ns),
        }
    }
}

/// What the ratings of all drives of a run follow from, beside its write amplification.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rating {
    /// Erases that a block is rated for.
    pub cycles: u32,
    /// Wear by a unit programmed in SLC mode, as a share of that by another unit; 0 without an SLC cache.
    pub slc_wear: f64,
    /// Years of warranty.
    pub warranty_years: f64,
    /// Bytes of the flash of all drives, pages of parity included.
    pub flash_bytes: u64,
    /// Bytes that the host can address.
    pub exported_bytes: u64,
}

impl Rating {
    /// The rating of a checked configuration; `None` without rated erases.
    ///
    /// # Errors
    /// As [`Capacity::of`].
    pub fn of(config: &Config) -> Result<Option<Self>> {
        let (wear, device, capacity) = (&config.wear, &config.device, Capacity::of(config)?);
        let drive = capacity.pools * capacity.blocks_per_pool * u64::from(device.pages_per_block) * u64::from(device.page_bytes);
        Ok((wear.rating() > 0).then_some(Rating {
            cycles: wear.rating(),
            slc_wear: config.slc_unit_wear(),
            warranty_years: wear.warranty_years,
            flash_bytes: drive * u64::from(config.array.drives()),
            exported_bytes: config.exported_bytes()?,
        }))
    }

    /// Flash bytes worn for each byte of the host. A block's worth of programs costs an erase of its mode, also in a run that is too short for
    /// that erase. `None` if the host wrote nothing, or without an SLC cache: write amplification says it then.
    fn wear_amplification(&self, device: &DeviceStats, written: &BytesWritten) -> Option<f64> {
        device.slc.as_ref().filter(|_| written.host > 0)?;
        let units: u64 = SLC_UNITS.iter().filter_map(|&name| device.counters.get(name)).sum();
        let in_slc = units * device.unit_bytes;
        let [native, slc] = [Mode::Native, Mode::Slc].map(|mode| device.erase_wear.and_then(|wear| wear.mean_of(mode)).unwrap_or(1.0));
        Some((written.flash.saturating_sub(in_slc) as f64 * native + in_slc as f64 * self.slc_wear * slc) / written.host as f64)
    }

    /// Bytes that the host can write in the life of the drives. `amplification`: flash bytes for each of them; `erase_wear`: wear by an erase.
    fn bytes(&self, amplification: f64, erase_wear: f64) -> f64 {
        f64::from(self.cycles) / erase_wear * self.flash_bytes as f64 / amplification
    }

    /// Days of the warranty.
    fn days(&self) -> f64 {
        self.warranty_years * 365.0
    }
}

/// A year of 365 days.
const YEAR_NS: f64 = 365.0 * 86_400e9;

/// The counters of the mapping units that are programmed in SLC mode.
const SLC_UNITS: [&str; 3] = ["slc_writes", "slc_map_writes", "slc_padded_units"];

/// Wear by erases that are as long as their block needs (`wear.erase`), in all drives, by mode of the block.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EraseWear {
    /// Number of erases.
    pub erases: [u64; MODES],
    /// Their wear, as a sum of shares of erases with whole pulses in the same mode.
    pub worn: [f64; MODES],
}

impl EraseWear {
    /// The erases of both.
    #[must_use]
    pub fn joined(self, other: EraseWear) -> Self {
        EraseWear {
            erases: std::array::from_fn(|mode| self.erases[mode] + other.erases[mode]),
            worn: std::array::from_fn(|mode| self.worn[mode] + other.worn[mode]),
        }
    }

    /// Mean wear by an erase of any mode; `None` without one.
    fn mean(self) -> Option<f64> {
        let erases: u64 = self.erases.iter().sum();
        (erases > 0).then(|| self.worn.iter().sum::<f64>() / erases as f64)
    }

    /// Mean wear by an erase of a mode; `None` without one.
    fn mean_of(self, mode: Mode) -> Option<f64> {
        let (erases, worn) = (self.erases[mode as usize], self.worn[mode as usize]);
        (erases > 0).then(|| worn / erases as f64)
    }
}

impl LifetimeResult {
    /// The life of the drive as it appears in a result; `None` if no block can fail and none is rated. `one_percent_bytes`: what the host had
    /// written when 1 % of the blocks had failed. `measured_ns`: the time in which it wrote.
    pub(super) fn of(
        rating: Option<Rating>,
        device: &DeviceStats,
        written: &BytesWritten,
        one_percent_bytes: Option<u64>,
        measured_ns: Ns,
    ) -> Option<Self> {
        let wear = device.wear.as_ref();
        if wear.is_none() && rating.is_none() {
            return None;
        }
        let RetiredBlocks { worn_out, failed_erases, failed_programs } = wear.map_or_else(RetiredBlocks::default, |wear| wear.retired);
        let read_only = wear.and_then(|wear| wear.read_only);
        let erase_wear = device.erase_wear.and_then(EraseWear::mean);
        let wear_amplification = rating.and_then(|rating| rating.wear_amplification(device, written));
        let (worn, by_an_erase) = match wear_amplification {
            None => (written.amplification(), erase_wear.unwrap_or(1.0)),
            worn => (worn, 1.0),
        };
        let rated = rating.zip(worn.filter(|&worn| worn > 0.0));
        let bytes = rated.map(|(rating, worn)| (rating, rating.bytes(worn, by_an_erase)));
        Some(LifetimeResult {
            retired_blocks: worn_out + failed_erases + failed_programs,
            worn_out,
            failed_erases,
            failed_programs,
            spare_left: wear.map(|wear| wear.spare_left.into()),
            read_only_ns: read_only.map(|read_only| read_only.at_ns),
            read_only_cause: read_only.map(|read_only| read_only.cause),
            read_only_pool: read_only.map(|read_only| read_only.pool.into()),
            written_bytes: written.host,
            one_percent_bytes,
            erase_wear,
            wear_amplification,
            tbw: bytes.map(|(_, bytes)| bytes / 1e12),
            dwpd: bytes.map(|(rating, bytes)| bytes / (rating.exported_bytes as f64 * rating.days())),
            years: bytes.filter(|_| measured_ns > 0).map(|(_, bytes)| bytes / written.host as f64 * measured_ns as f64 / YEAR_NS),
        })
    }
}

/// The life of a drive whose blocks can fail (`wear`), or that is rated for a number of erases.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LifetimeResult {
    /// Number of retired blocks at the end, whether they failed in the warm-up or later.
    #[schemars(extend("unit" = "count"))]
    pub retired_blocks: u64,
    /// Number of these blocks that had been erased as often as they can be.
    #[schemars(extend("unit" = "count"))]
    pub worn_out: u64,
    /// Number of these blocks of which an erase failed.
    #[schemars(extend("unit" = "count"))]
    pub failed_erases: u64,
    /// Number of these blocks of which a program failed.
    #[schemars(extend("unit" = "count"))]
    pub failed_programs: u64,
    /// Number of blocks that the pool with the fewest can still lose before the drive is read-only. Absent if no block can fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "count"))]
    pub spare_left: Option<u64>,
    /// Time at which the drive became read-only. Absent if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "ns"))]
    pub read_only_ns: Option<Ns>,
    /// Why the drive became read-only: `spare` if a pool lost more blocks than it can spare, `no-room` if blocks failed one after the other,
    /// so that a pool had no room for the pages that GC moves. Absent if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", extend("unit" = "text"))]
    pub read_only_cause: Option<ReadOnlyCause>,
    /// Number of the pool that ran short, from 0. Absent if the drive did not become read-only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "number"))]
    pub read_only_pool: Option<u64>,
    /// Bytes of the host's writes that completed in the measured part of the run.
    #[schemars(extend("unit" = "B"))]
    pub written_bytes: u64,
    /// What `written_bytes` was when 1 % of the blocks (in an array, of those of a drive) had failed: 0 if that was in the warm-up. Absent if fewer
    /// have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "B"))]
    pub one_percent_bytes: Option<u64>,
    /// Mean wear of a block by an erase of the run, as a share of that by an erase with whole pulses in the same mode (`wear.erase`). Absent
    /// with `wear.erase = "fixed"`, or if no block was erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "share"))]
    pub erase_wear: Option<f64>,
    /// Flash bytes worn for each byte of the host: write amplification in which a byte programmed in SLC mode counts `slc.wear` times the bytes
    /// that it takes the place of, and each byte by the pulses of the erases in its mode. Absent without an SLC cache or a rating.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "ratio"))]
    pub wear_amplification: Option<f64>,
    /// Terabytes (10^12 bytes) that the host can write in the life of the drive (TBW): rated endurance times the flash's bytes, divided by
    /// `wear_amplification`, or without an SLC cache by the write amplification of the run and by `erase_wear`. It assumes that all blocks wear
    /// evenly. Absent without `wear.rated_cycles` and `wear.endurance`, or if the host wrote nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "TB"))]
    pub tbw: Option<f64>,
    /// Drive writes per day (DWPD): `tbw` divided by what the host can address and the days of `wear.warranty_years`. Absent without `tbw`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "per day"))]
    pub dwpd: Option<f64>,
    /// Years (of 365 days) until the host has written `tbw`, if it goes on writing as in the measured part of the run. Absent without `tbw`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "years"))]
    pub years: Option<f64>,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::SlcStats;
    use super::*;

    /// Of 100 units of the host all were programmed in SLC mode, 10 of them padding, and 90 moved to other blocks; 3 erases in each mode.
    fn cached(erase_wear: Option<[f64; 2]>) -> DeviceStats {
        let erase_wear = erase_wear.map(|[native, in_slc]| EraseWear { erases: [3, 3], worn: [3.0 * native, 3.0 * in_slc] });
        DeviceStats {
            unit_bytes: 4096,
            host_programs: 90,
            gc_programs: 90,
            padded_units: 10,
            slc: Some(SlcStats::default()),
            counters: BTreeMap::from([("slc_writes".into(), 90), ("slc_padded_units".into(), 10)]),
            erase_wear,
            ..DeviceStats::default()
        }
    }

    #[test]
    fn a_byte_in_slc_mode_wears_by_its_share() {
        let life = |slc_wear, device: DeviceStats| {
            let rating = Rating { cycles: 3_000, slc_wear, warranty_years: 5.0, flash_bytes: 1 << 30, exported_bytes: 1 << 29 };
            LifetimeResult::of(Some(rating), &device, &BytesWritten::of(100 * 4096, &device), None, YEAR_NS as Ns).unwrap()
        };
        let written = |wears: f64| 3_000.0 * f64::from(1 << 30) / wears / 1e12;
        for (slc_wear, erase_wear, wears) in [
            (0.0, None, 0.9),
            (0.3, None, 0.9 + 0.3),
            (3.0, None, 0.9 + 3.0),
            // Shorter pulses spare each mode by itself.
            (3.0, Some([0.5, 0.25]), 0.9 * 0.5 + 3.0 * 0.25),
        ] {
            let found = life(slc_wear, cached(erase_wear));
            assert!((found.wear_amplification.unwrap() - wears).abs() < 1e-12, "{found:?}");
            assert!((found.tbw.unwrap() - written(wears)).abs() < 1e-9, "{found:?}");
            // In a year the host writes 100 pages.
            assert!((found.years.unwrap() - written(wears) * 1e12 / 409_600.0).abs() < 1e-3, "{found:?}");
        }
        let found = life(0.0, DeviceStats { slc: None, ..cached(Some([0.5, 0.5])) });
        assert_eq!((found.wear_amplification, found.erase_wear), (None, Some(0.5)));
        assert!((found.tbw.unwrap() - written(1.9 * 0.5)).abs() < 1e-9, "write amplification says it");
    }
}
