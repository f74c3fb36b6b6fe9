//! What a result says of the life of a drive whose blocks can fail.

use schemars::JsonSchema;
use serde::Serialize;

use ssdlab_base::units::Ns;

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
    /// Rated endurance, erases; 0 if blocks do not wear out.
    pub endurance: u32,
    /// Years of warranty.
    pub warranty_years: f64,
    /// Bytes of the flash, pages of parity included.
    pub flash_bytes: u64,
    /// Bytes that the host can address.
    pub exported_bytes: u64,
    /// Blocks retired since the start of the run, by cause.
    pub retired: RetiredBlocks,
    /// Blocks that the pool with the fewest can still lose.
    pub spare_left: u32,
    /// Bytes that the host had programmed when 1 % of the blocks had failed; `None` if fewer have.
    pub one_percent_bytes: Option<u64>,
    /// Mean wear by an erase, as a share of one with whole pulses; `None` without pulses (`wear.erase`).
    pub erase_wear: Option<f64>,
    /// When and why the drive became read-only.
    pub read_only: Option<ReadOnly>,
}

impl WearStats {
    /// The life of the drive as it appears in a result. `written`: bytes that the host wrote; `amplification`: flash bytes for each of them.
    pub(super) fn result(&self, written: u64, amplification: Option<f64>) -> LifetimeResult {
        let RetiredBlocks { worn_out, failed_erases, failed_programs } = self.retired;
        let rated = amplification.filter(|&amplification| self.endurance > 0 && amplification > 0.0);
        let erases = f64::from(self.endurance) / self.erase_wear.unwrap_or(1.0);
        let bytes = rated.map(|amplification| erases * self.flash_bytes as f64 / amplification);
        let days = self.warranty_years * 365.0;
        LifetimeResult {
            retired_blocks: worn_out + failed_erases + failed_programs,
            worn_out,
            failed_erases,
            failed_programs,
            spare_left: self.spare_left.into(),
            read_only_ns: self.read_only.map(|read_only| read_only.at_ns),
            read_only_cause: self.read_only.map(|read_only| read_only.cause),
            read_only_pool: self.read_only.map(|read_only| read_only.pool.into()),
            written_bytes: written,
            one_percent_bytes: self.one_percent_bytes,
            erase_wear: self.erase_wear,
            tbw: bytes.map(|bytes| bytes / 1e12),
            dwpd: bytes.map(|bytes| bytes / (self.exported_bytes as f64 * days)),
        }
    }
}

/// The life of a drive whose blocks can fail (`wear`).
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
    /// Number of blocks that the pool with the fewest can still lose before the drive is read-only.
    #[schemars(extend("unit" = "count"))]
    pub spare_left: u64,
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
    /// Bytes of the mapping units (pages, without ftl.map_unit_bytes) that the host had programmed in the run, warm-up included, when 1 % of the
    /// blocks had failed. Absent if fewer have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "B"))]
    pub one_percent_bytes: Option<u64>,
    /// Mean wear of a block by an erase of the run, as a share of that by an erase with whole pulses (`wear.erase`). Absent with
    /// `wear.erase = "fixed"`, or if no block was erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "share"))]
    pub erase_wear: Option<f64>,
    /// Terabytes (10^12 bytes) that the host can write in the life of the drive (TBW): rated endurance times the flash's bytes, divided by the
    /// write amplification of the run and by `erase_wear`. It assumes that all blocks wear evenly. Absent without `wear.endurance`, or if the host wrote nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "TB"))]
    pub tbw: Option<f64>,
    /// Drive writes per day (DWPD): `tbw` divided by what the host can address and the days of `wear.warranty_years`. Absent without `tbw`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "per day"))]
    pub dwpd: Option<f64>,
}
