//! Histogram of times, with buckets that are narrow in proportion to the times in them.

use ssdlab_base::units::Ns;

/// Times below 2^EXACT_BITS have a bucket each; each further power of two has half as many equal buckets.
const EXACT_BITS: u32 = 11;
const HALF: usize = 1 << (EXACT_BITS - 1);
/// One bucket for each exact time, and `HALF` for each further power of two.
const BUCKETS: usize = (64 - EXACT_BITS as usize + 2) * HALF;

/// Counts of all times that a `u64` can hold, in buckets whose width is at most 1/1024 of the times in them. Recording allocates nothing.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// Number of times by bucket: 440 KiB, of which most is never touched.
    counts: Vec<u64>,
}

impl Histogram {
    /// An empty histogram.
    pub fn new() -> Self {
        Histogram { counts: vec![0; BUCKETS] }
    }

    /// Counts one time, ns.
    #[inline]
    pub fn record(&mut self, ns: Ns) {
        self.counts[bucket(ns)] += 1;
    }

    /// Adds the counts of another histogram.
    pub fn add(&mut self, other: &Histogram) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
    }

    /// Buckets that are not empty, in ascending order: the longest time that belongs to each, ns, and the number of times in it.
    pub fn buckets(&self) -> impl Iterator<Item = (Ns, u64)> {
        self.counts.iter().enumerate().filter(|&(_, &count)| count > 0).map(|(bucket, &count)| (longest(bucket), count))
    }
}

/// Number of bits by which a time is shifted until it has no more than [`EXACT_BITS`].
#[inline]
fn shift_of(ns: Ns) -> u32 {
    (64 - ns.leading_zeros()).saturating_sub(EXACT_BITS)
}

/// The bucket of a time. With a shift above 0, the shifted time lies in `HALF..2 * HALF`.
#[inline]
fn bucket(ns: Ns) -> usize {
    let shift = shift_of(ns);
    shift as usize * HALF + (ns >> shift) as usize
}

/// The longest time that belongs to a bucket, ns.
fn longest(bucket: usize) -> Ns {
    let shift = (bucket / HALF).saturating_sub(1);
    let shifted = (bucket - shift * HALF) as Ns;
    shifted << shift | ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_buckets_are_exact_and_the_last_ends_with_the_range() {
        assert!((0..2048).all(|ns| (bucket(ns), longest(bucket(ns))) == (ns as usize, ns)));
        assert_eq!((longest(bucket(2048)), longest(bucket(2050))), (2049, 2051));
        assert_eq!((bucket(u64::MAX), longest(BUCKETS - 1)), (BUCKETS - 1, u64::MAX));
    }

    proptest! {
        #[test]
        fn a_bucket_has_all_times_from_the_longest_of_the_one_before_to_its_own(shift in 0u32..64, bits in any::<u64>()) {
            let ns = bits >> shift;
            let of = bucket(ns);
            prop_assert!(ns <= longest(of) && (of == 0 || ns > longest(of - 1)));
            prop_assert_eq!(bucket(longest(of)), of);
            prop_assert!((longest(of) - ns) as f64 <= ns as f64 / 1024.0);
        }
    }
}
