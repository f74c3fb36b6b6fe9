//! What stands above a drive: a cache, and an array of drives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cache above a drive or an array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cache {
    /// Who is evicted from a full cache; `none`: there is no cache.
    pub policy: CachePolicy,
    /// In front of the drive (of each, in an array), or of the array.
    pub place: CachePlace,
    /// Its size, bytes; whole pages of it are used.
    #[schemars(range(min = 512, max = 1099511627776_u64))]
    pub bytes: u64,
    /// Time of an access to a page in the cache, ns.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub access_ns: u64,
    /// Pages that were read are kept.
    pub reads: bool,
    /// Pages that are written are kept and written below later (write-back); if not, they are written below at once.
    pub writes: bool,
    /// Pages whose home (the chip, or above an array the drive) collects garbage are not evicted (wu2017).
    pub gc_aware: bool,
    /// A chip counts as collecting also while a pool of it has fewer than T_soft + so many free blocks. 0: only while it collects.
    #[schemars(range(min = 0, max = 1000000))]
    pub soon: u32,
    /// Dirty pages are written below while no request is under way.
    pub flush_on_idle: bool,
    /// For `flush_on_idle`: the time without a request under way after which it begins, us.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub flush_idle_us: u64,
    /// Share of the cache that is kept free by evicting ahead of need. 0: a page is evicted when another needs its place.
    #[schemars(range(min = 0.0, max = 0.9))]
    pub destage_ahead: f64,
    /// For `cflru`: the share of the pages, from the longest unused on, among which clean ones are evicted first.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub clean_window: f64,
    /// For `bplru`: a group written from its first page to its last is evicted next (LRU compensation).
    pub compensation: bool,
    /// For `bplru`: pages missing in a group that is evicted are read and written with it.
    pub padding: Padding,
    /// For `padding = "share"`: the share of a group's pages that must be in the cache for it to be padded.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub padding_share: f64,
}

impl Default for Cache {
    fn default() -> Self {
        Cache {
            policy: CachePolicy::None,
            place: CachePlace::Drive,
            bytes: 1 << 20,
            // A page of 4 KB at about 4 GB/s.
            access_ns: 1000,
            reads: true,
            writes: true,
            gc_aware: false,
            soon: 0,
            flush_on_idle: false,
            flush_idle_us: 0,
            destage_ahead: 0.0,
            clean_window: 0.25,
            compensation: true,
            padding: Padding::Off,
            padding_share: 0.5,
        }
    }
}

impl Cache {
    /// There is one.
    pub fn is_on(&self) -> bool {
        self.policy != CachePolicy::None
    }
}

/// Who is evicted from a full cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CachePolicy {
    /// There is no cache.
    None,
    /// The page used longest ago.
    Lru,
    /// The clean page used longest ago, if one is among those unused for long; else as `lru` (Park et al. 2006).
    Cflru,
    /// The group of a block's pages used longest ago (Kim and Ahn 2008).
    Bplru,
    /// The group with the most pages (Jo et al. 2006).
    Fab,
}

/// Where the cache stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CachePlace {
    /// In front of the drive; in an array, in front of each.
    Drive,
    /// In front of the array.
    Array,
}

/// Whether pages missing in a group are written with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Padding {
    /// No.
    Off,
    /// Yes.
    Always,
    /// If `padding_share` of the group is there.
    Share,
}

/// An array of drives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Array {
    /// `none`: a single drive. `rais0`: striped. `rais5`: striped, with rotating parity.
    pub level: ArrayLevel,
    /// Drives of the array.
    #[schemars(range(min = 2, max = 64))]
    pub drives: u32,
    /// Size of a stripe unit, KB (1024 bytes): whole pages.
    #[schemars(range(min = 0.5, max = 1048576.0))]
    pub stripe_kb: f64,
    /// The drive of a `rais5` that has failed, counted from 0. Absent: none.
    #[schemars(range(min = 0, max = 63))]
    pub degraded: Option<u32>,
}

impl Default for Array {
    fn default() -> Self {
        Array { level: ArrayLevel::None, drives: 4, stripe_kb: 64.0, degraded: None }
    }
}

impl Array {
    /// Bytes of a stripe unit.
    pub fn stripe_bytes(&self) -> u64 {
        (self.stripe_kb * 1024.0) as u64
    }

    /// Drives that are simulated.
    pub fn drives(&self) -> u32 {
        if self.level == ArrayLevel::None { 1 } else { self.drives }
    }

    /// Units of a row that hold data.
    pub fn data_units(&self) -> u32 {
        match self.level {
            ArrayLevel::None => 1,
            ArrayLevel::Rais0 => self.drives,
            ArrayLevel::Rais5 => self.drives - 1,
        }
    }

    /// Bytes that an array of drives of `drive_bytes` exports: whole rows of units; those of a single drive as they are.
    pub fn exported_bytes(&self, drive_bytes: u64) -> u64 {
        if self.level == ArrayLevel::None {
            return drive_bytes;
        }
        drive_bytes / self.stripe_bytes() * self.stripe_bytes() * u64::from(self.data_units())
    }
}

/// How data lie on the drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArrayLevel {
    /// A single drive.
    None,
    /// Striped.
    Rais0,
    /// Striped, with rotating parity.
    Rais5,
}
