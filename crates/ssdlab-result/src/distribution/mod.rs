//! Distributions of times: exact sums and a histogram for percentiles; and digests, by which runs are compared.

mod digest;
mod histogram;
mod sums;

use serde::Serialize;

pub use digest::Digest;
use histogram::Histogram;
pub use sums::{Sums, Wide};

use ssdlab_base::units::Ns;

/// Bound on the relative error of a reported percentile, which is never below the exact one and above it by less than this share. The
/// histogram has 1024 buckets for each power of two.
pub const PERCENTILE_ERROR: f64 = 1.0 / 1024.0;

/// Reported percentiles, in parts of ten thousand.
const RANKS: [u64; 6] = [5_000, 9_000, 9_500, 9_900, 9_990, 9_999];

/// Exact sums and a histogram of many times. Recording a time allocates nothing.
#[derive(Clone, Debug)]
pub struct Distribution {
    sums: Sums,
    histogram: Histogram,
}

/// A distribution in numbers, all in nanoseconds but `count`, `variance` (ns^2) and `cv`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Number of times.
    pub count: u64,
    /// Mean of the times.
    pub mean: f64,
    /// Standard deviation (of the population: the root of the variance).
    pub std: f64,
    /// Population variance: the mean square minus the squared mean, from exact integer sums.
    pub variance: f64,
    /// Coefficient of variation: standard deviation over mean. Absent where the mean is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cv: Option<f64>,
    /// Shortest time.
    pub min: Ns,
    /// The median (nearest rank): half of the times are at most this. The percentiles are at least the exact ones, and above them by no
    /// more than [`PERCENTILE_ERROR`].
    pub p50: Ns,
    /// 90 % of the times are at most this.
    pub p90: Ns,
    /// 95 % of the times are at most this.
    pub p95: Ns,
    /// 99 % of the times are at most this.
    pub p99: Ns,
    /// 99.9 % of the times are at most this.
    pub p99_9: Ns,
    /// 99.99 % of the times are at most this.
    pub p99_99: Ns,
    /// Longest time.
    pub max: Ns,
}

impl Default for Distribution {
    fn default() -> Self {
        Distribution::new()
    }
}

impl Distribution {
    /// An empty distribution.
    pub fn new() -> Self {
        Distribution { sums: Sums::new(), histogram: Histogram::new() }
    }

    /// Counts one time, ns.
    #[inline]
    pub fn record(&mut self, ns: Ns) {
        self.sums.add(ns);
        self.histogram.record(ns);
    }

    /// The distribution of the times of both.
    #[must_use]
    pub fn merged(&self, other: &Distribution) -> Distribution {
        let mut merged = self.clone();
        merged.sums = self.sums.merged(&other.sums);
        merged.histogram.add(&other.histogram);
        merged
    }

    /// Exact sums of the times.
    pub fn sums(&self) -> &Sums {
        &self.sums
    }

    /// The distribution in numbers, `None` if it is empty.
    pub fn summary(&self) -> Option<Summary> {
        let (mean, variance) = (self.sums.mean()?, self.sums.variance()?);
        let std = variance.sqrt();
        let [p50, p90, p95, p99, p99_9, p99_99] = self.percentiles();
        Some(Summary {
            count: self.sums.count,
            mean,
            std,
            variance,
            cv: (mean > 0.0).then(|| std / mean),
            min: self.sums.min,
            p50,
            p90,
            p95,
            p99,
            p99_9,
            p99_99,
            max: self.sums.max,
        })
    }

    /// Buckets that are not empty, in ascending order: the longest time that belongs to each, ns, and the number of times in it. The bound
    /// of the last is the longest time recorded.
    pub fn buckets(&self) -> impl Iterator<Item = (Ns, u64)> {
        let mut left = self.sums.count;
        self.histogram.buckets().map(move |(longest, count)| {
            left -= count;
            (if left == 0 { self.sums.max } else { longest }, count)
        })
    }

    /// Percentiles at [`RANKS`], by nearest rank: of n values in order, the value of rank ceil(p n), counted from 1.
    fn percentiles(&self) -> [Ns; RANKS.len()] {
        let rank = |parts: u64| (u128::from(self.sums.count) * u128::from(parts)).div_ceil(10_000);
        let mut values = [self.sums.max; RANKS.len()];
        let (mut reached, mut found) = (0u128, 0);
        for (upper, count) in self.buckets() {
            reached += u128::from(count);
            while found < RANKS.len() && rank(RANKS[found]) <= reached {
                values[found] = upper;
                found += 1;
            }
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[Ns]) -> Distribution {
        let mut distribution = Distribution::new();
        values.iter().for_each(|&value| distribution.record(value));
        distribution
    }

    /// The percentile by nearest rank, by its definition over all values.
    fn nearest_rank(sorted: &[Ns], parts: u64) -> Ns {
        let rank = (sorted.len() as u64 * parts).div_ceil(10_000);
        sorted[rank as usize - 1]
    }

    /// Times from nanoseconds to centuries.
    fn time() -> impl Strategy<Value = Ns> {
        (0u32..64, any::<u64>()).prop_map(|(shift, bits)| bits >> shift)
    }

    proptest! {
        #[test]
        fn percentiles_are_nearest_ranks_within_the_stated_error(values in prop::collection::vec(time(), 1..2000)) {
            let distribution = of(&values);
            let mut sorted = values;
            sorted.sort_unstable();
            for (parts, found) in RANKS.into_iter().zip(distribution.percentiles()) {
                let exact = nearest_rank(&sorted, parts);
                prop_assert!(found >= exact, "p{parts}: {found} < {exact}");
                prop_assert!((found - exact) as f64 <= PERCENTILE_ERROR * exact as f64, "p{parts}: {found}, exactly {exact}");
                prop_assert!(found <= sorted[sorted.len() - 1]);
            }
        }

        #[test]
        fn buckets_have_all_times_between_the_bound_before_and_theirs(values in prop::collection::vec(time(), 1..500)) {
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let mut rest = &sorted[..];
            let mut before = None;
            for (upper, count) in of(&values).buckets() {
                prop_assert!(count > 0 && before.is_none_or(|before| before < upper));
                let (bucket, others) = rest.split_at(count as usize);
                for &time in bucket {
                    prop_assert!(time <= upper && before.is_none_or(|before| before < time), "{time} between {before:?} and {upper}");
                    prop_assert!((upper - time) as f64 <= PERCENTILE_ERROR * time as f64, "{time} in a bucket up to {upper}");
                }
                (rest, before) = (others, Some(upper));
            }
            prop_assert!(rest.is_empty() && before == sorted.last().copied());
        }

        #[test]
        fn merged_is_as_if_recorded_together(values in prop::collection::vec(time(), 1..200), cut in 0usize..200) {
            let (front, back) = values.split_at(cut.min(values.len()));
            prop_assert_eq!(of(front).merged(&of(back)).summary(), of(&values).summary());
        }
    }

    #[test]
    fn small_values_have_exact_percentiles() {
        let values: Vec<Ns> = (1..=1000).collect();
        assert_eq!(of(&values).percentiles(), [500, 900, 950, 990, 999, 1000]);
        assert_eq!(of(&[7]).percentiles(), [7; 6]);
    }

    #[test]
    fn the_longest_times_are_neither_refused_nor_clipped() {
        let hour = 3_600_000_000_000;
        let summary = of(&[0, hour, 500_000 * hour, u64::MAX]).summary().unwrap();
        assert_eq!((summary.min, summary.max, summary.p99_99), (0, u64::MAX, u64::MAX));
        assert!(summary.p50 >= hour && summary.p50 as f64 <= hour as f64 * (1.0 + PERCENTILE_ERROR));
    }

    #[test]
    fn nothing_has_no_summary_and_zeros_no_coefficient_of_variation() {
        assert_eq!(Distribution::new().summary(), None);
        assert_eq!(of(&[0, 0]).summary().unwrap().cv, None);
    }
}
