//! The storage levels above a drive: a cache, and an array of drives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::VariantArray;

/// A cache in front of a drive or an array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cache {
    /// Eviction policy of the cache.
    pub policy: CachePolicy,
    /// Place of the cache: in front of the drive (in an array: of each drive), or in front of the array.
    pub place: CachePlace,
    /// Size of the cache, bytes; a remainder smaller than a page (or mapping unit) is not used.
    #[schemars(range(min = 512, max = 1099511627776_u64))]
    pub bytes: u64,
    /// Time to access a page in the cache, ns.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub access_ns: u64,
    /// Pages read are inserted into the cache.
    pub reads: bool,
    /// Pages written are inserted into the cache and destaged later (write-back). If not, they are written through to the next storage
    /// level.
    pub writes: bool,
    /// Pages whose target is in GC are not evicted (wu2017). The target is the chip that stores the page, or above an array the drive.
    pub gc_aware: bool,
    /// For `gc_aware`: a chip counts as in GC also while one of its pools has fewer than T_soft + `soon` free blocks. 0: only while a GC
    /// job runs there.
    #[schemars(range(min = 0, max = 1000000))]
    pub soon: u32,
    /// Dirty pages are destaged in idle time: while no request is outstanding.
    pub flush_on_idle: bool,
    /// For `flush_on_idle`: time without outstanding requests until destaging starts, us.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub flush_idle_us: u64,
    /// Share of the cache that is kept free by eviction ahead of need. 0: a page is evicted only when another needs its place.
    #[schemars(range(min = 0.0, max = 0.9))]
    pub destage_ahead: f64,
    /// For `policy = "cflru"`: size of the clean-first window, as a share of the cache from the least recently used page on.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub clean_window: f64,
    /// For `policy = "bplru"` and `"fab"`: the pages that form a group.
    pub group: CacheGroup,
    /// For `policy = "bplru"`: a group written from its first page to its last is evicted next (LRU compensation).
    pub compensation: bool,
    /// For `policy = "bplru"`: whether the missing pages of an evicted group are read and written with it.
    pub padding: Padding,
    /// For `padding = "share"`: a group is padded if at least this share of its pages is in the cache.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub padding_share: f64,
}

impl Default for Cache {
    fn default() -> Self {
        Cache {
            policy: CachePolicy::None,
            place: CachePlace::Drive,
            bytes: 1 << 20,
            // A page of 4 KiB at about 4 GB/s.
            access_ns: 1000,
            reads: true,
            writes: true,
            gc_aware: false,
            soon: 0,
            flush_on_idle: false,
            flush_idle_us: 0,
            destage_ahead: 0.0,
            clean_window: 0.25,
            group: CacheGroup::Chip,
            compensation: true,
            padding: Padding::Off,
            padding_share: 0.5,
        }
    }
}

impl Cache {
    /// There is a cache.
    pub fn is_on(&self) -> bool {
        self.policy != CachePolicy::None
    }

    /// There is a cache that evicts whole groups of pages.
    pub fn evicts_groups(&self) -> bool {
        matches!(self.policy, CachePolicy::Bplru | CachePolicy::Fab)
    }
}

/// The eviction policy of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, VariantArray)]
#[serde(rename_all = "kebab-case")]
pub enum CachePolicy {
    /// No cache.
    None,
    /// The least recently used page.
    Lru,
    /// The least recently used clean page of the clean-first window; without one, the least recently used page (Park et al. 2006).
    Cflru,
    /// The least recently used group of pages; a group has as many pages as a block (Kim and Ahn 2008).
    Bplru,
    /// The group with the most cached pages; ties: the least recently used (Jo et al. 2006).
    Fab,
}

impl CachePolicy {
    /// All policies; the first is none.
    pub const ALL: &'static [CachePolicy] = CachePolicy::VARIANTS;
}

/// The place of the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CachePlace {
    /// The cache is in front of the drive; in an array, in front of each drive.
    Drive,
    /// The cache is in front of the array.
    Array,
}

/// The pages that form a group: as many as a block has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CacheGroup {
    /// The pages that a sequential fill puts into one block of a chip (above an array: of a drive). The cache knows how pages are striped.
    Chip,
    /// Pages of contiguous addresses, which striping spreads over chips. The cache sees addresses only.
    Contiguous,
}

/// Whether the missing pages of an evicted group are read and written with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Padding {
    /// Missing pages are never written.
    Off,
    /// Missing pages are always written.
    Always,
    /// Missing pages are written if at least `padding_share` of the group is in the cache.
    Share,
}

/// An array of drives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Array {
    /// Layout of the array.
    pub level: ArrayLevel,
    /// Number of drives of the array.
    #[schemars(range(min = 2, max = 64))]
    pub drives: u32,
    /// Size of a stripe unit (the part of a stripe on one drive), KiB: a multiple of the page size.
    #[schemars(range(min = 0.5, max = 1048576.0))]
    pub stripe_kb: f64,
    /// For `level = "rais5"`: number of the failed drive, from 0. Absent: no drive has failed.
    #[schemars(range(min = 0, max = 63))]
    pub degraded: Option<u32>,
    /// Rebuild of the failed drive (`degraded`) on an empty drive that replaces it when the run begins: number of stripes that are rebuilt at a
    /// time, beside the requests of the host. 0: the failed drive is not replaced.
    #[schemars(range(min = 0, max = 1024))]
    pub rebuild_stripes: u32,
    /// Rate limit of the rebuild (`rebuild_stripes`): bytes written to the new drive per us (MB/s). 0: no limit.
    #[schemars(range(min = 0.0, max = 1000000.0))]
    pub rebuild_bytes_per_us: f64,
    /// For `level = "rais5"`: which reads of a drive are replaced by reads of all others, from which the data are computed, so that they do
    /// not wait for GC.
    pub rebuild_reads: RebuildReads,
    /// For `level = "rais5"`: length of the windows in which the drives collect, one after the other, us. 0: no windows.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub window_us: u64,
    /// For `window_us` above 0: time before the end of its window from which on a drive begins no job, us.
    #[schemars(range(min = 0, max = 1000000000_u64))]
    pub window_tail_us: u64,
    /// For `window_us` above 0: a pool with fewer free blocks collects outside the window of its drive, too. A share of T_soft, rounded to
    /// the nearest block. A pool always collects that is down to the last free block.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub window_forced: f64,
    /// For `level = "rais5"`: which pools take turns to collect, over all drives: of these at most one at a time has a job for space.
    pub rotation: Rotation,
    /// For `rotation` other than "off": a pool that is down to the reserve (the last free block, which GC keeps) collects without its turn, so that
    /// writes do not wait for jobs of other drives.
    pub rotation_forced: bool,
}

impl Default for Array {
    fn default() -> Self {
        Array {
            level: ArrayLevel::None,
            drives: 4,
            stripe_kb: 64.0,
            degraded: None,
            rebuild_stripes: 0,
            rebuild_bytes_per_us: 0.0,
            rebuild_reads: RebuildReads::Off,
            window_us: 0,
            window_tail_us: 0,
            // 5 % of all blocks, if T_soft is 10 % (Li et al. 2021).
            window_forced: 0.5,
            rotation: Rotation::Off,
            rotation_forced: false,
        }
    }
}

impl Array {
    /// Size of a stripe unit, bytes.
    pub fn unit_bytes(&self) -> u64 {
        (self.stripe_kb * 1024.0) as u64
    }

    /// A drive of the array has failed, and a new one is in its place.
    pub fn replaces(&self, drive: u32) -> bool {
        self.rebuild_stripes > 0 && self.degraded == Some(drive)
    }

    /// Number of drives that are simulated; 1 without an array.
    pub fn drives(&self) -> u32 {
        if self.level == ArrayLevel::None { 1 } else { self.drives }
    }

    /// Number of units of a stripe that hold data; 1 without an array.
    pub fn data_units(&self) -> u32 {
        match self.level {
            ArrayLevel::None => 1,
            ArrayLevel::Rais0 => self.drives,
            ArrayLevel::Rais5 => self.drives - 1,
        }
    }

    /// Free blocks below which a pool collects outside the window of its drive, if T_soft is `soft` blocks.
    pub fn window_forced_blocks(&self, soft: u32) -> u32 {
        libm::round(self.window_forced * f64::from(soft)) as u32
    }

    /// Number of bytes that the host can address, if each drive exports `drive_bytes`: whole stripes. A single drive exports `drive_bytes`.
    pub fn exported_bytes(&self, drive_bytes: u64) -> u64 {
        if self.level == ArrayLevel::None {
            return drive_bytes;
        }
        drive_bytes / self.unit_bytes() * self.unit_bytes() * u64::from(self.data_units())
    }
}

/// Which reads of a drive an array replaces by reads of all others (Li et al. 2021).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RebuildReads {
    /// No read is replaced.
    Off,
    /// A read that would wait for GC is refused by its drive and replaced by reads of all other drives, which may wait for GC.
    Refused,
    /// A read that would wait for GC is refused by its drive and replaced by reads of all other drives, unless one of these would be refused, too, and
    /// GC of that drive remains busy for as long or longer.
    Shortest,
    /// Every read of the drive whose window it is (`array.window_us`) is replaced by reads of all other drives.
    Window,
}

/// Pools of an array's drives that take turns to collect (Yan et al. 2017).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rotation {
    /// Pools collect without turns.
    Off,
    /// The pools of the same number, one of each drive; of pools whose blocks form superblocks, these together.
    Pool,
    /// The pools of the dies of the same number.
    Die,
    /// All pools of all drives.
    Drive,
}

/// The layout of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArrayLevel {
    /// No array: a single drive.
    None,
    /// Striped over the drives, without parity.
    Rais0,
    /// Striped over the drives, with rotating parity.
    Rais5,
}
