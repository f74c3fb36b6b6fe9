//! The response times of one class of requests: exact sums, and a histogram for the percentiles.

use hdrhistogram::Histogram;

use super::result::{Breakdown, Latency};
use super::sums::Sums;
use super::{Part, Parts};
use crate::units::Ns;

/// Significant decimal digits that the histogram keeps.
const DIGITS: u8 = 3;

/// The bound on the relative error of a reported percentile: it is never below the true one and above it by less than this
/// share of it. With three digits the histogram keeps the upper half of 2048 steps to each power of two.
pub const PERCENTILE_ERROR: f64 = 1.0 / 1024.0;

/// The reported percentiles, in parts of ten thousand.
const RANKS: [u64; 6] = [5_000, 9_000, 9_500, 9_900, 9_990, 9_999];

/// What is kept of the requests of one class. Recording allocates nothing.
#[derive(Clone, Debug)]
pub(super) struct Class {
    sums: Sums,
    histogram: Histogram<u64>,
    parts: [u128; Part::COUNT],
}

impl Class {
    pub(super) fn new() -> Self {
        // The whole range of u64 from the start (440 KB, mostly never touched): no resizing, no value too large.
        let histogram = Histogram::new_with_bounds(1, u64::MAX, DIGITS).expect("constant bounds");
        Class { sums: Sums::new(), histogram, parts: [0; Part::COUNT] }
    }

    #[inline]
    pub(super) fn record(&mut self, response_ns: Ns, parts: &Parts) {
        self.sums.add(response_ns);
        self.histogram.record(response_ns).expect("the histogram covers u64");
        for (sum, &ns) in self.parts.iter_mut().zip(&parts.0) {
            *sum += u128::from(ns);
        }
    }

    /// The requests of both classes as one.
    pub(super) fn merged(&self, other: &Class) -> Class {
        let mut merged = self.clone();
        merged.sums = self.sums.merged(&other.sums);
        merged.histogram.add(&other.histogram).expect("equal bounds");
        for (sum, &ns) in merged.parts.iter_mut().zip(&other.parts) {
            *sum += ns;
        }
        merged
    }

    /// How many requests were recorded.
    pub(super) fn count(&self) -> u64 {
        self.sums.count
    }

    /// The statistics of the class, `None` if it is empty.
    pub(super) fn latency(&self) -> Option<Latency> {
        let (mean, variance) = (self.sums.mean()?, self.sums.variance()?);
        let std = variance.sqrt();
        let [p50, p90, p95, p99, p99_9, p99_99] = self.percentiles();
        Some(Latency {
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

    /// The values of nearest rank: of n values in order, that of rank ceil(p n), counted from 1.
    fn percentiles(&self) -> [Ns; RANKS.len()] {
        let rank = |parts: u64| (u128::from(self.sums.count) * u128::from(parts)).div_ceil(10_000);
        let mut values = [self.sums.max; RANKS.len()];
        let (mut reached, mut found) = (0u128, 0);
        for bin in self.histogram.iter_recorded() {
            reached += u128::from(bin.count_at_value());
            // The last bin reaches beyond the largest value recorded, which stands for it.
            while reached < self.sums.count.into() && found < RANKS.len() && rank(RANKS[found]) <= reached {
                values[found] = bin.value_iterated_to();
                found += 1;
            }
        }
        values
    }

    /// The mean parts of the response time, `None` if the class is empty.
    pub(super) fn breakdown(&self) -> Option<Breakdown> {
        if self.sums.count == 0 {
            return None;
        }
        let mean = |part: Part| self.parts[part as usize] as f64 / self.sums.count as f64;
        Some(Breakdown {
            host_queue: mean(Part::HostQueue),
            die_queue: mean(Part::DieQueue),
            gc: mean(Part::Gc),
            bus_queue: mean(Part::BusQueue),
            transfer: mean(Part::Transfer),
            array: mean(Part::Array),
            suspended: mean(Part::Suspended),
            dram: mean(Part::Dram),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[Ns]) -> Class {
        let mut class = Class::new();
        values.iter().for_each(|&value| class.record(value, &Parts::default()));
        class
    }

    /// The definition of the nearest rank, over all values.
    fn nearest_rank(sorted: &[Ns], parts: u64) -> Ns {
        let rank = (sorted.len() as u64 * parts).div_ceil(10_000);
        sorted[rank as usize - 1]
    }

    /// Response times from nanoseconds to centuries.
    fn response() -> impl Strategy<Value = Ns> {
        (0u32..64, any::<u64>()).prop_map(|(shift, bits)| bits >> shift)
    }

    proptest! {
        #[test]
        fn percentiles_are_nearest_ranks_within_the_stated_error(values in prop::collection::vec(response(), 1..2000)) {
            let class = of(&values);
            let mut sorted = values;
            sorted.sort_unstable();
            for (parts, found) in RANKS.into_iter().zip(class.percentiles()) {
                let exact = nearest_rank(&sorted, parts);
                prop_assert!(found >= exact, "p{parts}: {found} < {exact}");
                prop_assert!((found - exact) as f64 <= PERCENTILE_ERROR * exact as f64, "p{parts}: {found}, exactly {exact}");
                prop_assert!(found <= sorted[sorted.len() - 1]);
            }
        }
    }

    #[test]
    fn small_values_have_exact_percentiles() {
        let values: Vec<Ns> = (1..=1000).collect();
        assert_eq!(of(&values).percentiles(), [500, 900, 950, 990, 999, 1000]);
        assert_eq!(of(&[7]).percentiles(), [7; 6]);
    }

    #[test]
    fn the_longest_response_times_are_neither_refused_nor_clipped() {
        let hour = 3_600_000_000_000;
        let latency = of(&[0, hour, 500_000 * hour, u64::MAX]).latency().unwrap();
        assert_eq!((latency.min, latency.max, latency.p99_99), (0, u64::MAX, u64::MAX));
        assert!(latency.p50 >= hour && latency.p50 as f64 <= hour as f64 * (1.0 + PERCENTILE_ERROR));
    }

    #[test]
    fn an_empty_class_has_no_statistics() {
        assert_eq!((Class::new().latency(), Class::new().breakdown()), (None, None));
    }

    #[test]
    fn response_times_of_zero_have_no_coefficient_of_variation() {
        assert_eq!(of(&[0, 0]).latency().unwrap().cv, None);
    }
}
