//! The parts of a result on a run over time, and on the distribution of response times.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SeriesShape;
use super::bins::{Bin, Bins};
use crate::stats::result::ratio;
use crate::units::Ns;

/// A run over time, in bins of equal width. All rows have `bins` entries. An event at time t counts in bin floor(t / bin_ns). The last bin
/// may reach beyond the end of the run, where nothing is outstanding or busy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesResult {
    /// Width of a bin: 1000 ns x a power of two, as the length of the run requires.
    #[schemars(extend("unit" = "ns"))]
    pub bin_ns: Ns,
    /// Number of bins, at most 512.
    #[schemars(extend("unit" = "count"))]
    pub bins: u64,
    /// Simulated time at which the warm-up ended. Rows show the whole run, all other statistics only the time after. Absent without a
    /// warm-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "ns"))]
    pub warm_up_ns: Option<Ns>,
    /// Response times of the requests that completed in each bin. 0 without any.
    pub latency_ns: LatencySeries,
    /// Outstanding requests in each bin.
    pub outstanding: OutstandingSeries,
    /// Garbage collection in each bin.
    pub gc: GcSeries,
    /// Free blocks of a pool in each bin, write frontiers excluded.
    pub free_blocks: FreeBlockSeries,
    /// Share of each bin in which a pool is in each GC state of lee2013 Fig. 7, mean over pools.
    pub states: StateSeries,
    /// Share of each bin in which a channel transfers, mean over channels.
    #[schemars(extend("unit" = "share"))]
    pub bus: Vec<f64>,
    /// Share of each bin in which a die is occupied, mean over dies.
    #[schemars(extend("unit" = "share"))]
    pub dies: Vec<f64>,
    /// The cache in each bin. Absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheSeries>,
}

/// Response times over time, by kind of request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencySeries {
    /// Reads.
    pub read: ResponseSeries,
    /// Writes.
    pub write: ResponseSeries,
}

/// Response times of one kind of request over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResponseSeries {
    /// Requests completed.
    #[schemars(extend("unit" = "count"))]
    pub count: Vec<u64>,
    /// Mean response time of these requests.
    #[schemars(extend("unit" = "ns"))]
    pub mean: Vec<f64>,
    /// The longest response time of these requests.
    #[schemars(extend("unit" = "ns"))]
    pub max: Vec<Ns>,
}

/// Outstanding requests over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutstandingSeries {
    /// Mean over the time of the bin.
    #[schemars(extend("unit" = "count"))]
    pub mean: Vec<f64>,
    /// Maximum in the bin, of numbers that last longer than an instant.
    #[schemars(extend("unit" = "count"))]
    pub max: Vec<u64>,
}

/// Garbage collection over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GcSeries {
    /// By row of chips, and in it by bin: share of the bin in which a chip has an active GC job, mean over the chips of the row. The chips
    /// of an array's drives follow each other.
    #[schemars(extend("unit" = "share"))]
    pub chips: Vec<Vec<f64>>,
    /// Chips of a row: 1 up to 64 chips, else the least number that gives at most 64 rows (the last row may have fewer).
    #[schemars(extend("unit" = "count"))]
    pub chips_per_row: u32,
    /// GC jobs started.
    #[schemars(extend("unit" = "count"))]
    pub jobs: Vec<u64>,
    /// Pages that GC jobs moved.
    #[schemars(extend("unit" = "count"))]
    pub pages_moved: Vec<u64>,
}

/// Free blocks over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FreeBlockSeries {
    /// Minimum over pools and over the time of the bin.
    #[schemars(extend("unit" = "count"))]
    pub min: Vec<u32>,
    /// Mean over pools and over the part of the bin that is in the run.
    #[schemars(extend("unit" = "count"))]
    pub mean: Vec<f64>,
    /// The soft threshold T_soft of a pool.
    #[schemars(extend("unit" = "count"))]
    pub soft: u32,
    /// The hard threshold T_hard of a pool; 0: none.
    #[schemars(extend("unit" = "count"))]
    pub hard: u32,
}

/// GC states over time. Their sum is 1 in each bin but the last, which may reach beyond the end of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StateSeries {
    /// S0: GC is not triggered.
    #[schemars(extend("unit" = "share"))]
    pub s0: Vec<f64>,
    /// S1: GC is triggered or active; all host operations are allowed.
    #[schemars(extend("unit" = "share"))]
    pub s1: Vec<f64>,
    /// S2: as S1, but with fewer than T_hard free blocks: host writes wait.
    #[schemars(extend("unit" = "share"))]
    pub s2: Vec<f64>,
    /// S3: a GC job runs to completion; host operations wait.
    #[schemars(extend("unit" = "share"))]
    pub s3: Vec<f64>,
}

/// The cache over time, summed over the drives of an array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CacheSeries {
    /// Hits: pages looked up that are cached or being fetched.
    #[schemars(extend("unit" = "count"))]
    pub hits: Vec<u64>,
    /// Pages looked up.
    #[schemars(extend("unit" = "count"))]
    pub lookups: Vec<u64>,
    /// Dirty pages at the end of the bin.
    #[schemars(extend("unit" = "count"))]
    pub dirty: Vec<u64>,
}

/// Distribution of response times, by kind of request: the buckets from which the percentiles are taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Histograms {
    /// Response times of reads.
    pub read: Histogram,
    /// Response times of writes.
    pub write: Histogram,
}

/// The buckets that are not empty, shortest times first. A time is below the bound of its bucket by at most the share `percentile_error`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Histogram {
    /// Upper bound of the bucket; for the last bucket the longest time.
    #[schemars(extend("unit" = "ns"))]
    pub upper_ns: Vec<Ns>,
    /// Requests in the bucket.
    #[schemars(extend("unit" = "count"))]
    pub count: Vec<u64>,
}

impl SeriesResult {
    /// The series of the bins of a run that ended with `free_blocks` free blocks.
    pub(super) fn of(ended: &Bins, shape: &SeriesShape, chips_per_row: u32, free_blocks: u64) -> Self {
        let each = Each(ended);
        let pools = u128::from(shape.pools);
        let free = |bin: &Bin| match u128::from(bin.ns) * pools {
            0 => free_blocks as f64 / pools as f64,
            whole => bin.free_block_ns as f64 / whole as f64,
        };
        let [s0, s1, s2, s3] = [0, 1, 2, 3].map(|state| each.share(shape.pools, |bin| bin.state_ns[state]));
        SeriesResult {
            bin_ns: ended.width_ns,
            bins: ended.bins.len() as u64,
            warm_up_ns: None,
            latency_ns: LatencySeries { read: each.responses(0), write: each.responses(1) },
            outstanding: OutstandingSeries { mean: each.share(1, |bin| bin.outstanding_ns), max: each.bin(|bin| bin.outstanding_max) },
            gc: GcSeries {
                chips: each.gc_rows(shape.chips, chips_per_row),
                chips_per_row,
                jobs: each.bin(|bin| bin.jobs),
                pages_moved: each.bin(|bin| bin.pages_moved),
            },
            free_blocks: FreeBlockSeries {
                min: each.bin(|bin| bin.free_min),
                mean: each.bin(free),
                soft: shape.soft_blocks,
                hard: shape.hard_blocks,
            },
            states: StateSeries { s0, s1, s2, s3 },
            bus: each.share(shape.channels, |bin| bin.bus_ns),
            dies: each.share(shape.dies, |bin| bin.die_ns),
            cache: shape.cached.then(|| CacheSeries {
                hits: each.bin(|bin| bin.cache_hits),
                lookups: each.bin(|bin| bin.cache_lookups),
                dirty: each.bin(|bin| bin.cache_dirty),
            }),
        }
    }
}

/// Makes rows of a result from the bins: a value for each bin.
struct Each<'a>(&'a Bins);

impl Each<'_> {
    fn bin<T>(&self, figure: impl Fn(&Bin) -> T) -> Vec<T> {
        self.0.bins.iter().map(figure).collect()
    }

    /// By bin, the share of its time that `sum`, summed over `count` things, takes of the time of all `count`.
    fn share(&self, count: u32, sum: impl Fn(&Bin) -> u128) -> Vec<f64> {
        self.bin(|bin| self.share_of(count, sum(bin)))
    }

    fn share_of(&self, count: u32, sum: u128) -> f64 {
        ratio(sum, u128::from(self.0.width_ns) * u128::from(count)).unwrap_or(0.0)
    }

    fn responses(&self, kind: usize) -> ResponseSeries {
        ResponseSeries {
            count: self.bin(|bin| bin.responses[kind].count),
            mean: self.bin(|bin| ratio(bin.responses[kind].sum, bin.responses[kind].count.into()).unwrap_or(0.0)),
            max: self.bin(|bin| bin.responses[kind].max),
        }
    }

    fn gc_rows(&self, chips: u32, chips_per_row: u32) -> Vec<Vec<f64>> {
        let chips_of = |row: u32| chips_per_row.min(chips - row * chips_per_row);
        (0..).zip(self.0.gc_rows()).map(|(row, bins)| bins.map(|sum| self.share_of(chips_of(row), sum)).collect()).collect()
    }
}
