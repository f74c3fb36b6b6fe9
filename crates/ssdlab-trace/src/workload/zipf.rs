//! Zipf-distributed popularity: draws ranks, and scatters the items that have them.

use ssdlab_base::rng::Rng;

/// Ranks 1..=n with probability proportional to rank^-s, by rejection-inversion (Hoermann and Derflinger, "Rejection-inversion to generate
/// variates from monotone discrete distributions", ACM TOMACS 6(3), 1996): constant time, no table, any exponent from 0 on.
#[derive(Clone, Debug)]
pub(crate) struct Zipf {
    count: f64,
    exponent: f64,
    /// Lower end of the range of areas that are inverted.
    area_low: f64,
    /// Upper end of the range of areas that are inverted.
    area_high: f64,
    /// Candidates at most this far below their rank are accepted without a test.
    sure: f64,
}

impl Zipf {
    /// A distribution over the ranks 1..=`count` (at least 1) with `exponent` of at least 0.
    pub(crate) fn new(count: u64, exponent: f64) -> Self {
        assert!(count > 0 && exponent >= 0.0, "a Zipf distribution over nothing, or of a negative exponent");
        let mut zipf = Zipf { count: count as f64, exponent, area_low: 0.0, area_high: 0.0, sure: 0.0 };
        zipf.area_low = zipf.area(1.5) - 1.0;
        zipf.area_high = zipf.area(zipf.count + 0.5);
        zipf.sure = 2.0 - zipf.inverse(zipf.area(2.5) - zipf.density(2.0));
        zipf
    }

    /// Draws a rank in `1..=count`.
    pub(crate) fn rank(&self, rng: &mut Rng) -> u64 {
        loop {
            let area = self.area_high + rng.unit() * (self.area_low - self.area_high);
            let x = self.inverse(area);
            let rank = (x + 0.5).floor().clamp(1.0, self.count);
            if rank - x <= self.sure || area >= self.area(rank + 0.5) - self.density(rank) {
                return rank as u64;
            }
        }
    }

    /// The density x^-s at `x`, where s is the exponent.
    fn density(&self, x: f64) -> f64 {
        libm::exp(-self.exponent * libm::log(x))
    }

    /// The integral of the density from 1 to x, without cancellation near s = 1.
    fn area(&self, x: f64) -> f64 {
        let log = libm::log(x);
        let t = (1.0 - self.exponent) * log;
        log * if t.abs() > 1e-8 { libm::expm1(t) / t } else { 1.0 + t / 2.0 }
    }

    /// The x at which [`Self::area`] equals `area`.
    fn inverse(&self, area: f64) -> f64 {
        let t = (area * (1.0 - self.exponent)).max(-1.0);
        libm::exp(area * if t.abs() > 1e-8 { libm::log1p(t) / t } else { 1.0 - t / 2.0 })
    }
}

/// A fixed random permutation of `0..count` without a table: a four-round Feistel network over the next power of 4, repeated until the
/// value falls into the range (at most four times on average).
#[derive(Clone, Debug)]
pub(crate) struct Scatter {
    count: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Scatter {
    /// A random permutation of `0..count`, which is 1 to 2^62.
    pub(crate) fn new(count: u64, rng: &mut Rng) -> Self {
        assert!((1..=1 << 62).contains(&count), "a permutation of {count} items");
        let bits = u64::BITS - (count - 1).leading_zeros();
        Scatter { count, half_bits: bits.div_ceil(2).max(1), keys: std::array::from_fn(|_| rng.bits()) }
    }

    /// Place of item `index` in the permutation.
    pub(crate) fn place(&self, index: u64) -> u64 {
        assert!(index < self.count, "item {index} of {}", self.count);
        let mut value = index;
        loop {
            value = self.rounds(value);
            if value < self.count {
                return value;
            }
        }
    }

    fn rounds(&self, value: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for key in self.keys {
            (left, right) = (right, left ^ (mix(right ^ key) & mask));
        }
        (left << self.half_bits) | right
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_follow_the_power_law() {
        const DRAWS: u32 = 200_000;
        for exponent in [0.0, 0.5, 0.9999999, 1.0, 1.2, 3.0] {
            let zipf = Zipf::new(10, exponent);
            let mut rng = Rng::new(1, "test");
            let mut counts = [0u32; 10];
            for _ in 0..DRAWS {
                counts[zipf.rank(&mut rng) as usize - 1] += 1;
            }
            let weights: Vec<f64> = (1..=10).map(|k| libm::pow(f64::from(k), -exponent)).collect();
            let total: f64 = weights.iter().sum();
            for (count, weight) in counts.iter().zip(&weights) {
                let expected = weight / total * f64::from(DRAWS);
                // Five standard deviations.
                assert!((f64::from(*count) - expected).abs() < 5.0 * expected.sqrt() + 1.0, "{exponent}: {counts:?}");
            }
        }
    }

    #[test]
    fn huge_ranges_and_extreme_exponents_stay_in_range() {
        let mut rng = Rng::new(2, "test");
        for count in [1, 2, 3, 1 << 40] {
            for exponent in [0.0, 0.8, 1.0, 10.0] {
                let zipf = Zipf::new(count, exponent);
                assert!((0..1000).all(|_| (1..=count).contains(&zipf.rank(&mut rng))), "{count} {exponent}");
            }
        }
    }

    #[test]
    fn scattering_is_a_permutation() {
        for count in [1, 2, 3, 5, 16, 17, 1000, 4096] {
            let scatter = Scatter::new(count, &mut Rng::new(count, "test"));
            let mut places: Vec<u64> = (0..count).map(|i| scatter.place(i)).collect();
            places.sort_unstable();
            assert!(places.iter().copied().eq(0..count), "{count}");
        }
    }
}
