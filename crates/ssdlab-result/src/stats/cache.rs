//! Statistics of a cache.

use schemars::JsonSchema;
use serde::Serialize;

use super::counts::counts;
use super::result::ratio;
use ssdlab_base::units::Ns;

counts! {
    /// Counters of a cache's decisions, in pages.
    pub struct CacheCounters {
        now {}
        counted {
            /// Pages looked up.
            lookups: u64,
            /// Read hits: pages read that were cached or being fetched.
            read_hits: u64,
            /// Write hits: pages written that were cached, at least in part.
            write_hits: u64,
            /// Pages evicted, clean and dirty.
            evictions: u64,
            /// Destages: dirty pages written to the next storage level, on eviction, in idle time or for a flush.
            destages: u64,
            /// Evictions that skipped at least one page or group because its target was in GC.
            gc_skips: u64,
            /// Evictions for a write while all targets were in GC.
            gc_fallbacks: u64,
            /// Pages read that were not inserted because all targets were in GC.
            gc_bypasses: u64,
            /// Groups evicted whose pages lay on more than one target.
            spread_groups: u64,
            /// Evictions in which the user-defined policy chose no candidate and the least recently used page was evicted.
            policy_fallbacks: u64,
        }
    }
}

/// Number, sum and maximum of the response times of some requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Responses {
    /// Number of requests.
    pub(super) count: u64,
    /// Sum of the response times, ns.
    pub(super) sum: u128,
    /// The longest response time, ns.
    pub(super) max: Ns,
}

impl Responses {
    /// Response times of no requests.
    pub(super) const NONE: Responses = Responses { count: 0, sum: 0, max: 0 };

    /// Adds a response time.
    #[inline]
    pub fn add(&mut self, ns: Ns) {
        self.count += 1;
        self.sum += u128::from(ns);
        self.max = self.max.max(ns);
    }

    pub(super) fn joined(self, other: Responses) -> Self {
        Responses { count: self.count + other.count, sum: self.sum + other.sum, max: self.max.max(other.max) }
    }

    fn result(self) -> Option<CacheResponse> {
        Some(CacheResponse { count: self.count, mean: ratio(self.sum, self.count.into())?, max: self.max })
    }
}

/// Statistics of a cache, or of the caches of an array's drives together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// Capacity in pages.
    pub capacity: u64,
    /// Counters of the cache's decisions.
    pub counters: CacheCounters,
    /// Read hits on a page still being fetched.
    pub delayed_hits: u64,
    /// Destages in idle time.
    pub idle_destages: u64,
    /// Pages written as padding of their group though not dirty.
    pub padded_pages: u64,
    /// Dirty pages at the end of the run.
    pub dirty_pages: u64,
    /// Response times of requests without (`[0]`) and with (`[1]`) a page whose target was in GC when they arrived.
    pub responses: [Responses; 2],
}

impl CacheStats {
    /// The statistics of two caches, joined.
    #[must_use]
    pub fn joined(self, other: CacheStats) -> Self {
        CacheStats {
            capacity: self.capacity + other.capacity,
            counters: self.counters.joined(other.counters),
            delayed_hits: self.delayed_hits + other.delayed_hits,
            idle_destages: self.idle_destages + other.idle_destages,
            padded_pages: self.padded_pages + other.padded_pages,
            dirty_pages: self.dirty_pages + other.dirty_pages,
            responses: [0, 1].map(|gc| self.responses[gc].joined(other.responses[gc])),
        }
    }

    /// Counts since `before`, an earlier state; capacity and dirty pages are the present ones. No response was recorded before.
    #[must_use]
    pub(super) fn since(self, before: &CacheStats) -> Self {
        CacheStats {
            counters: self.counters.since(&before.counters),
            delayed_hits: self.delayed_hits - before.delayed_hits,
            idle_destages: self.idle_destages - before.idle_destages,
            padded_pages: self.padded_pages - before.padded_pages,
            ..self
        }
    }

    /// The statistics as they appear in a result.
    pub(super) fn result(&self, policy_source: Option<String>) -> CacheResult {
        let CacheCounters { lookups, read_hits, write_hits, evictions, destages, .. } = self.counters;
        let CacheCounters { gc_skips, gc_fallbacks, gc_bypasses, spread_groups, policy_fallbacks, .. } = self.counters;
        CacheResult {
            policy_fallbacks: policy_source.is_some().then_some(policy_fallbacks),
            policy_source,
            capacity_pages: self.capacity,
            lookups,
            read_hits,
            write_hits,
            hit_ratio: ratio(u128::from(read_hits) + u128::from(write_hits), lookups.into()),
            delayed_hits: self.delayed_hits,
            evictions,
            destages,
            idle_destages: self.idle_destages,
            padded_pages: self.padded_pages,
            dirty_pages: self.dirty_pages,
            gc_skips,
            gc_fallbacks,
            gc_bypasses,
            spread_groups,
            response_ns: CacheResponses { no_gc: self.responses[0].result(), gc: self.responses[1].result() },
        }
    }
}

/// Statistics of the cache, summed over the drives of an array.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CacheResult {
    /// BLAKE3 over the source of a user-defined eviction policy (`config.cache.policy` is `custom`). Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "hexadecimal"))]
    pub policy_source: Option<String>,
    /// Evictions in which the user-defined policy chose no candidate and the least recently used page was evicted. Absent without such a
    /// policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "count"))]
    pub policy_fallbacks: Option<u64>,
    /// Capacity of the cache in pages.
    #[schemars(extend("unit" = "count"))]
    pub capacity_pages: u64,
    /// Number of pages looked up. Writes of a write-through cache do not count.
    #[schemars(extend("unit" = "count"))]
    pub lookups: u64,
    /// Read hits: number of pages read that were cached or being fetched.
    #[schemars(extend("unit" = "count"))]
    pub read_hits: u64,
    /// Write hits: number of pages written that were cached, at least in part.
    #[schemars(extend("unit" = "count"))]
    pub write_hits: u64,
    /// Hit ratio: hits as a share of the pages looked up. Absent without lookups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "share"))]
    pub hit_ratio: Option<f64>,
    /// Delayed hits: number of read hits on a page that was still being fetched.
    #[schemars(extend("unit" = "count"))]
    pub delayed_hits: u64,
    /// Number of pages evicted, clean and dirty.
    #[schemars(extend("unit" = "count"))]
    pub evictions: u64,
    /// Destages: number of dirty pages written to the next storage level, on eviction, in idle time or for a flush.
    #[schemars(extend("unit" = "count"))]
    pub destages: u64,
    /// Number of destages in idle time.
    #[schemars(extend("unit" = "count"))]
    pub idle_destages: u64,
    /// Number of pages written as padding of their group though not dirty (BPLRU).
    #[schemars(extend("unit" = "count"))]
    pub padded_pages: u64,
    /// Number of dirty pages at the end of the run: a power failure would lose them.
    #[schemars(extend("unit" = "count"))]
    pub dirty_pages: u64,
    /// Number of evictions that skipped at least one page or group because its target was in GC.
    #[schemars(extend("unit" = "count"))]
    pub gc_skips: u64,
    /// Number of evictions for a write while all targets were in GC.
    #[schemars(extend("unit" = "count"))]
    pub gc_fallbacks: u64,
    /// Number of pages read that were not inserted because all targets were in GC.
    #[schemars(extend("unit" = "count"))]
    pub gc_bypasses: u64,
    /// Number of groups evicted whose pages lay on several chips, or above an array on several drives (`cache.group = "contiguous"`).
    #[schemars(extend("unit" = "count"))]
    pub spread_groups: u64,
    /// Response times of reads and writes at the cache, by whether the target of one of their pages was in GC at their arrival.
    pub response_ns: CacheResponses,
}

/// Response times of requests, by whether the target of one of their pages was in GC at their arrival.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CacheResponses {
    /// Response times of requests that arrived while no target of their pages was in GC. Absent without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_gc: Option<CacheResponse>,
    /// Response times of requests that arrived while the target of one of their pages was in GC. Absent without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gc: Option<CacheResponse>,
}

/// Response times of a class of requests.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CacheResponse {
    /// Number of requests of the class.
    #[schemars(extend("unit" = "count"))]
    pub count: u64,
    /// Mean response time.
    #[schemars(extend("unit" = "ns"))]
    pub mean: f64,
    /// Longest response time.
    #[schemars(extend("unit" = "ns"))]
    pub max: Ns,
}
