//! The parts of a result with time series of a run, and with histograms of its response times.

use schemars::JsonSchema;
use serde::Serialize;

use super::SeriesShape;
use super::bins::{Bin, Bins};
use crate::stats::result::ratio;
use crate::stats::streams::Writer;
use ssdlab_base::units::Ns;
use ssdlab_keys::config::Stream;

/// Time series of a run, in bins of equal width. All rows have `bins` entries. An event at time t counts in bin floor(t / bin_ns). The last
/// bin may reach beyond the end of the run, where nothing is outstanding or busy.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SeriesResult {
    /// Width of a bin: 1000 ns x a power of two, as the length of the run requires.
    #[schemars(extend("unit" = "ns"))]
    pub bin_ns: Ns,
    /// Number of bins, at most 512.
    #[schemars(extend("unit" = "count"))]
    pub bins: u64,
    /// Simulated time at which the warm-up ended. Rows show the whole run, all other statistics only the time after the warm-up. Absent
    /// without a warm-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "ns"))]
    pub warm_up_ns: Option<Ns>,
    /// Response times of the requests that completed in each bin; 0 in a bin without such requests.
    pub latency_ns: LatencySeries,
    /// Number of outstanding requests in each bin.
    pub outstanding: OutstandingSeries,
    /// Garbage collection in each bin.
    pub gc: GcSeries,
    /// Bytes written in each bin, by the host and to flash: the two sides of write amplification.
    pub written: WrittenSeries,
    /// Number of free blocks of a pool in each bin, write frontiers excluded.
    pub free_blocks: FreeBlockSeries,
    /// Share of each bin in which a pool is in each GC state of lee2013 Fig. 7, mean over pools.
    pub states: StateSeries,
    /// Share of each bin in which the bus of a channel transfers, mean over channels.
    #[schemars(extend("unit" = "share"))]
    pub bus: Vec<f64>,
    /// Share of each bin in which a die is occupied, mean over dies.
    #[schemars(extend("unit" = "share"))]
    pub dies: Vec<f64>,
    /// Mean power of all drives in each bin, over the part of the bin that is in the run. Absent unless asked for (`energy`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "W"))]
    pub power: Option<Vec<f64>>,
    /// Temperature of the drives in each bin, and throttling by it. Absent without one (`thermal`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thermal: Option<ThermalSeries>,
    /// Statistics of the cache in each bin. Absent without a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheSeries>,
    /// Where the host's data went in each bin: the write cliff. Absent without a cache of blocks in SLC mode (`slc`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc: Option<SlcSeries>,
    /// By stream of data placement: what it took in and how much of what it gave back was valid, in each bin. Absent without a placement
    /// policy (`ftl.placement`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("unit" = "list"))]
    pub streams: Vec<StreamSeries>,
}

/// Temperature of the drives in each bin, over the part of the bin that is in the run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ThermalSeries {
    /// Mean temperature, over time and drives; 0 in a bin of no duration.
    #[schemars(extend("unit" = "degrees C"))]
    pub mean_c: Vec<f64>,
    /// Share of the bin in which a drive was throttled or stopped, mean over drives.
    #[schemars(extend("unit" = "share"))]
    pub throttled: Vec<f64>,
}

/// A stream of data placement in each bin.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StreamSeries {
    /// Who fills the stream: the host, or the page moves of GC.
    #[schemars(with = "String", extend("unit" = "text"))]
    pub writer: Writer,
    /// Number among the streams of the same writer, from 0: the handle, or the class of the policy (`ftl.placement`).
    #[schemars(extend("unit" = "number"))]
    pub class: Stream,
    /// By bin: mapping units that the host wrote into the stream.
    #[schemars(extend("unit" = "mapping units"))]
    pub host_units: Vec<u64>,
    /// By bin: mapping units of the blocks, filled by the stream, that GC collected.
    #[schemars(extend("unit" = "mapping units"))]
    pub collected_units: Vec<u64>,
    /// By bin: those of `collected_units` that were valid. Their share is the valid share at collection.
    #[schemars(extend("unit" = "mapping units"))]
    pub valid_units: Vec<u64>,
}

/// Bytes programmed in each bin by way through a cache of blocks in SLC mode.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SlcSeries {
    /// By bin: bytes of the host programmed in SLC mode.
    #[schemars(extend("unit" = "B"))]
    pub cached_bytes: Vec<u64>,
    /// By bin: bytes of the host programmed in other blocks.
    #[schemars(extend("unit" = "B"))]
    pub direct_bytes: Vec<u64>,
    /// By bin: bytes that folding moves to other blocks.
    #[schemars(extend("unit" = "B"))]
    pub folded_bytes: Vec<u64>,
}

/// Response times in each bin, by kind of request.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LatencySeries {
    /// Response times of reads in each bin.
    pub read: ResponseSeries,
    /// Response times of writes in each bin.
    pub write: ResponseSeries,
}

/// Response times of one kind of request in each bin.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ResponseSeries {
    /// By bin: number of requests completed.
    #[schemars(extend("unit" = "count"))]
    pub count: Vec<u64>,
    /// By bin: mean response time of the requests completed in it.
    #[schemars(extend("unit" = "ns"))]
    pub mean: Vec<f64>,
    /// By bin: longest response time of the requests completed in it.
    #[schemars(extend("unit" = "ns"))]
    pub max: Vec<Ns>,
}

/// Number of outstanding requests in each bin.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OutstandingSeries {
    /// By bin: mean of the outstanding requests over its time.
    #[schemars(extend("unit" = "count"))]
    pub mean: Vec<f64>,
    /// By bin: maximum of the outstanding requests. A number that lasts only an instant does not count.
    #[schemars(extend("unit" = "count"))]
    pub max: Vec<u64>,
}

/// Garbage collection in each bin.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GcSeries {
    /// By row of chips, and in it by bin: share of the bin in which a chip has an active GC job, mean over the chips of the row. The chips
    /// of an array's drives follow each other.
    #[schemars(extend("unit" = "share"))]
    pub chips: Vec<Vec<f64>>,
    /// Number of chips of a row: 1 up to 64 chips, else the least number that gives at most 64 rows (the last row may have fewer).
    #[schemars(extend("unit" = "count"))]
    pub chips_per_row: u32,
    /// By bin: number of GC jobs started.
    #[schemars(extend("unit" = "count"))]
    pub jobs: Vec<u64>,
    /// By bin: number of pages that GC jobs moved.
    #[schemars(extend("unit" = "count"))]
    pub pages_moved: Vec<u64>,
}

/// Bytes written in each bin, by the host and to flash.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WrittenSeries {
    /// By bin: bytes of the host's writes that completed in it.
    #[schemars(extend("unit" = "B"))]
    pub host_bytes: Vec<u64>,
    /// By bin: bytes programmed in flash: of host data, page moves, mapping table, padding and parity. Data that a write buffer or a cache
    /// holds are programmed in a later bin than that in which the host wrote them.
    #[schemars(extend("unit" = "B"))]
    pub flash_bytes: Vec<u64>,
}

/// Number of free blocks of a pool in each bin.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FreeBlockSeries {
    /// By bin: minimum of the free blocks over pools and over the time of the bin.
    #[schemars(extend("unit" = "count"))]
    pub min: Vec<u32>,
    /// By bin: mean of the free blocks over pools and over the part of the bin that is in the run.
    #[schemars(extend("unit" = "count"))]
    pub mean: Vec<f64>,
    /// Soft threshold T_soft of a pool, blocks.
    #[schemars(extend("unit" = "count"))]
    pub soft: u32,
    /// Hard threshold T_hard of a pool, blocks; 0: none.
    #[schemars(extend("unit" = "count"))]
    pub hard: u32,
}

/// Shares of the GC states in each bin. They add up to 1 in each bin but the last, which may reach beyond the end of the run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StateSeries {
    /// By bin: share of its time in S0, in which GC is not triggered; mean over pools.
    #[schemars(extend("unit" = "share"))]
    pub s0: Vec<f64>,
    /// By bin: share of its time in S1, in which GC is triggered or active and all host operations are allowed; mean over pools.
    #[schemars(extend("unit" = "share"))]
    pub s1: Vec<f64>,
    /// By bin: share of its time in S2, in which GC is triggered or active and the pool has fewer than T_hard free blocks, so that host
    /// writes wait; mean over pools.
    #[schemars(extend("unit" = "share"))]
    pub s2: Vec<f64>,
    /// By bin: share of its time in S3, in which a GC job runs to completion and host operations wait; mean over pools.
    #[schemars(extend("unit" = "share"))]
    pub s3: Vec<f64>,
}

/// Statistics of the cache in each bin, summed over the drives of an array.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CacheSeries {
    /// By bin: number of hits, which are pages looked up that are cached or being fetched.
    #[schemars(extend("unit" = "count"))]
    pub hits: Vec<u64>,
    /// By bin: number of pages looked up.
    #[schemars(extend("unit" = "count"))]
    pub lookups: Vec<u64>,
    /// By bin: number of dirty pages at its end.
    #[schemars(extend("unit" = "count"))]
    pub dirty: Vec<u64>,
}

/// Histograms of the response times, by kind of request: the buckets from which the percentiles are taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Histograms {
    /// Histogram of the response times of reads.
    pub read: Histogram,
    /// Histogram of the response times of writes.
    pub write: Histogram,
}

/// Histogram of response times: the buckets that are not empty, shortest times first. A time is below the bound of its bucket by at most
/// the share `percentile_error`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Histogram {
    /// By bucket: upper bound of its times; for the last bucket the longest time.
    #[schemars(extend("unit" = "ns"))]
    pub upper_ns: Vec<Ns>,
    /// By bucket: number of requests in it.
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
            written: WrittenSeries { host_bytes: each.bin(|bin| bin.host_bytes), flash_bytes: each.bin(|bin| bin.flash_bytes) },
            free_blocks: FreeBlockSeries {
                min: each.bin(|bin| bin.free_min),
                mean: each.bin(free),
                soft: shape.soft_blocks,
                hard: shape.hard_blocks,
            },
            states: StateSeries { s0, s1, s2, s3 },
            bus: each.share(shape.channels, |bin| bin.bus_ns),
            dies: each.share(shape.dies, |bin| bin.die_ns),
            power: shape.energy.map(|_| each.bin(|bin| if bin.ns == 0 { 0.0 } else { bin.energy_fj as f64 / bin.ns as f64 / 1e6 })),
            thermal: (shape.heated > 0).then(|| ThermalSeries {
                mean_c: each.bin(|bin| {
                    let ns = bin.ns as f64 * f64::from(shape.heated);
                    if bin.ns == 0 { 0.0 } else { bin.temperature as f64 / ns / 1e9 }
                }),
                throttled: each.share(shape.heated, |bin| bin.throttled_ns),
            }),
            cache: shape.cached.then(|| CacheSeries {
                hits: each.bin(|bin| bin.cache_hits),
                lookups: each.bin(|bin| bin.cache_lookups),
                dirty: each.bin(|bin| bin.cache_dirty),
            }),
            slc: shape.slc.then(|| SlcSeries {
                cached_bytes: each.bin(|bin| bin.slc_bytes[0]),
                direct_bytes: each.bin(|bin| bin.slc_bytes[1]),
                folded_bytes: each.bin(|bin| bin.slc_bytes[2]),
            }),
            streams: each.streams(shape.host_streams),
        }
    }
}

/// Makes rows of a result from the bins: one value for each bin.
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

    fn streams(&self, of_host: usize) -> Vec<StreamSeries> {
        let mut rows = self.0.streams.by_row().map(Iterator::collect);
        let each = (0..).map_while(|stream| {
            let (writer, class) = Writer::of(stream, of_host);
            Some(StreamSeries { writer, class, host_units: rows.next()?, collected_units: rows.next()?, valid_units: rows.next()? })
        });
        each.collect()
    }

    fn gc_rows(&self, chips: u32, chips_per_row: u32) -> Vec<Vec<f64>> {
        let chips_of = |row: u32| chips_per_row.min(chips - row * chips_per_row);
        (0..).zip(self.0.gc_ns.by_row()).map(|(row, bins)| bins.map(|sum| self.share_of(chips_of(row), sum)).collect()).collect()
    }
}
