//! Skewed addresses as fio defines them (`lib/zipf.c`, `lib/gauss.c`, `io_u.c`): Zipf's law, Pareto and normal distributions, zones.

use super::zipf::Scatter;
use ssdlab_base::rng::Rng;

/// The slot of each rank.
#[derive(Clone, Debug)]
pub(super) enum Places {
    /// A slot of its own for each rank.
    Scattered(Scatter),
    /// fio's: rank r in slot (r G + first) mod count, where r G is cut to 64 bits. Ranks may share a slot unless count is a power of 2.
    Fio { count: u64, first: u64 },
}

/// fio's `GOLDEN_RATIO_64`: 2^64 (1 - 1/phi), rounded.
const GOLDEN: u64 = 0x61c8_8646_80b5_83eb;

impl Places {
    /// A slot of its own for each of `count` ranks.
    pub(super) fn scattered(count: u64, rng: &mut Rng) -> Self {
        Places::Scattered(Scatter::new(count, rng))
    }

    /// fio's slots of `count` ranks.
    pub(super) fn fio(count: u64, rng: &mut Rng) -> Self {
        Places::Fio { count, first: rng.below(1 << 32) }
    }

    /// The slot of a rank, from 0.
    pub(super) fn place(&self, rank: u64) -> u64 {
        match self {
            Places::Scattered(scatter) => scatter.place(rank),
            Places::Fio { count, first } => rank.wrapping_mul(GOLDEN).wrapping_add(*first) % count,
        }
    }
}

/// Zipf's law as fio draws it: the approximation of J. Gray et al., "Quickly generating billion-record synthetic databases", SIGMOD 1994.
#[derive(Clone, Debug)]
pub(super) struct FioZipf {
    count: f64,
    /// Sum of k^-theta over the ranks, and over the first two.
    zeta: [f64; 2],
    eta: f64,
    alpha: f64,
}

/// fio adds up no more terms of zeta.
const MOST_TERMS: u64 = 10_000_000;

impl FioZipf {
    /// A distribution over `count` ranks (at least 1) with an exponent that is not 1.
    pub(super) fn new(count: u64, theta: f64) -> Self {
        let (zeta, two) = (zeta(count.min(MOST_TERMS), theta), 1.0 + libm::pow(0.5, theta));
        let eta = (1.0 - libm::pow(2.0 / count as f64, 1.0 - theta)) / (1.0 - two / zeta);
        FioZipf { count: count as f64, zeta: [zeta, two], eta, alpha: 1.0 / (1.0 - theta) }
    }

    /// Draws a rank, from 0.
    pub(super) fn rank(&self, rng: &mut Rng) -> u64 {
        let uniform = rng.unit();
        match uniform * self.zeta[0] {
            z if z < 1.0 => 0,
            z if z < self.zeta[1] => 1,
            _ => (self.count * libm::pow(self.eta * uniform - self.eta + 1.0, self.alpha)) as u64,
        }
    }
}

/// Sum of k^-theta for k = 1..=count: the first terms, then the Euler-Maclaurin formula for the others.
fn zeta(count: u64, theta: f64) -> f64 {
    let term = |k: f64| libm::pow(k, -theta);
    let direct = count.min(1000);
    let sum: f64 = (1..=direct).map(|k| term(k as f64)).sum();
    let (from, to) = (direct as f64, count as f64);
    let integral = (to * term(to) - from * term(from)) / (1.0 - theta);
    let slope = theta * (term(from) / from - term(to) / to) / 12.0;
    sum + integral + (term(to) - term(from)) / 2.0 + slope
}

/// The mean of twelve uniform draws plus a uniform offset, in fio's slots.
#[derive(Clone, Debug)]
pub(super) struct Normal {
    count: u64,
    /// Width of the offset, slots.
    width: u64,
}

/// Number of uniform draws of which fio takes the mean.
const DRAWS: u64 = 12;

impl Normal {
    /// A distribution over `count` slots (at least 1, less than 2^55). `width`: that of the offset, as a share of the slots.
    pub(super) fn new(count: u64, width: f64) -> Self {
        Normal { count, width: ((count as f64 * width).ceil() as u64).min(count / 2) }
    }

    /// Draws a slot.
    pub(super) fn slot(&self, rng: &mut Rng) -> u64 {
        Places::Fio { count: self.count, first: 0 }.place(self.value(rng))
    }

    /// Draws a value in 0..=count. An offset that leads out of 0..count is halved until it does not.
    fn value(&self, rng: &mut Rng) -> u64 {
        let mean = (0..DRAWS).map(|_| rng.below(self.count + 1)).sum::<u64>().div_ceil(DRAWS);
        let mut offset = if self.width == 0 { 0 } else { rng.below(self.width) as i64 - (self.width / 2) as i64 };
        loop {
            match mean.checked_add_signed(offset) {
                Some(value) if value < self.count || offset == 0 => return value,
                _ => offset /= 2,
            }
        }
    }
}

/// Ranks 0..count of which the share h gets the share 1 - h of the draws: rank (count - 1) u^p for a uniform u and p = ln h / ln (1 - h).
#[derive(Clone, Debug)]
pub(super) struct Pareto {
    last: f64,
    power: f64,
}

impl Pareto {
    /// A distribution over `count` ranks (at least 1); `h` is above 0 and below 1.
    pub(super) fn new(count: u64, h: f64) -> Self {
        Pareto { last: (count - 1) as f64, power: libm::log(h) / libm::log1p(-h) }
    }

    /// Draws a rank, from 0.
    pub(super) fn rank(&self, rng: &mut Rng) -> u64 {
        (self.last * libm::pow(rng.unit(), self.power)) as u64
    }
}

/// Zones of slots that follow each other, each with a weight, uniform within each.
#[derive(Clone, Debug)]
pub(super) struct Zones {
    /// Per zone: the sum of the weights up to and including it, its first slot, and its number of slots.
    zones: Vec<(f64, u64, u64)>,
}

impl Zones {
    /// Zones over `count` slots by pairs of weights, of draws and of size; `None` if no zone has both. A zone has at least one slot.
    pub(super) fn new(count: u64, weights: &[(f64, f64)]) -> Option<Self> {
        let size: f64 = weights.iter().map(|zone| zone.1).sum();
        let (mut drawn, mut before, mut zones) = (0.0, 0.0, Vec::new());
        for &(access, share) in weights {
            let at = |sum: f64| ((count as f64 * sum / size).round() as u64).min(count);
            let first = at(before).min(count - 1);
            before += share;
            drawn += access;
            if access > 0.0 && share > 0.0 {
                zones.push((drawn, first, at(before).saturating_sub(first).max(1)));
            }
        }
        (!zones.is_empty()).then_some(Zones { zones })
    }

    /// Draws a slot.
    pub(super) fn slot(&self, rng: &mut Rng) -> u64 {
        let drawn = rng.unit() * self.zones.last().expect("there is a zone").0;
        let (_, first, count) = self.zones[self.zones.partition_point(|zone| zone.0 <= drawn).min(self.zones.len() - 1)];
        first + rng.below(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 1,000,000 draws a share of 0.8 falls on the first fifth, with a standard deviation of 0.0004.
    #[test]
    fn the_share_h_of_the_ranks_gets_the_share_1_minus_h() {
        for h in [0.1, 0.2, 0.5] {
            let (pareto, mut rng) = (Pareto::new(1_000_000, h), Rng::new(1, "pareto"));
            let hot = (0..1_000_000).filter(|_| pareto.rank(&mut rng) < (h * 1e6) as u64).count();
            assert!((hot as f64 / 1e6 - (1.0 - h)).abs() < 0.003, "{h}: {hot}");
        }
    }

    /// Ranks 0, 1 and 2 of 1,000 in fio 3.33, of which 308 slots have any rank: each is 131 slots further.
    #[test]
    fn fio_places_several_ranks_in_one_slot() {
        let places = Places::Fio { count: 1000, first: 308 };
        assert_eq!([0, 1, 2].map(|rank| places.place(rank)), [308, 439, 570]);
        let slots: std::collections::BTreeSet<u64> = (0..1000).map(|rank| places.place(rank)).collect();
        assert_eq!(slots.len(), 308);
        let even = Places::Fio { count: 1024, first: 5 };
        assert_eq!((0..1024).map(|rank| even.place(rank)).collect::<std::collections::BTreeSet<_>>().len(), 1024);
    }

    /// 1 + 1/4 + ... + 1/10^8 = pi^2/6 - 1/10^4 + 1/(2 10^8) - ..., and the sum of k^-0.5 to 4 is 1 + 0.7071 + 0.5774 + 0.5.
    #[test]
    fn zeta_is_the_sum_of_its_terms() {
        assert!((zeta(10_000, 2.0) - (std::f64::consts::PI.powi(2) / 6.0 - 1e-4 + 0.5e-8)).abs() < 1e-11);
        assert!((zeta(4, 0.5) - 2.784_457_05).abs() < 1e-8);
        let direct: f64 = (1..=20_000).map(|k| f64::from(k).powf(-1.2)).sum();
        assert!((zeta(20_000, 1.2) - direct).abs() < 1e-9);
    }

    /// The share of the first ten ranks is u with count (eta u - eta + 1)^alpha = 10, solved by hand: 0.5052 for 100,000 ranks and 1.2, where
    /// Zipf's law itself has 0.4847.
    #[test]
    fn fio_draws_the_approximation_to_zipfs_law() {
        let (zipf, mut rng) = (FioZipf::new(100_000, 1.2), Rng::new(1, "fio"));
        let ranks: Vec<u64> = (0..400_000).map(|_| zipf.rank(&mut rng)).collect();
        let share = |count: u64| ranks.iter().filter(|&&rank| rank < count).count() as f64 / 4e5;
        for (count, expected) in [(1, 0.1964), (2, 0.2819), (10, 0.5052), (1000, 0.8591)] {
            assert!((share(count) - expected).abs() < 0.003, "{count}: {}", share(count));
        }
        assert!(ranks.iter().all(|&rank| rank < 100_000));
        for count in [1, 2] {
            let few = FioZipf::new(count, 1.2);
            assert!((0..1000).all(|_| few.rank(&mut rng) < count));
        }
    }

    /// The mean of 12 uniform values has the variance 1/144, and an offset of width 0.1 adds 0.01/12. The mean is rounded up: + 0.0005.
    #[test]
    fn normal_values_have_the_mean_and_the_variance_of_their_definition() {
        for (width, variance) in [(0.0, 1.0 / 144.0), (0.1, 1.0 / 144.0 + 0.01 / 12.0)] {
            let (normal, mut rng) = (Normal::new(1000, width), Rng::new(1, "normal"));
            let values: Vec<f64> = (0..200_000).map(|_| normal.value(&mut rng) as f64 / 1e3).collect();
            let mean = values.iter().sum::<f64>() / 2e5;
            let found = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 2e5;
            assert!((mean - 0.5).abs() < 0.0015 && (found / variance - 1.0).abs() < 0.02, "{mean} {found}");
        }
        let mut rng = Rng::new(1, "normal");
        assert!((0..1000).all(|_| Normal::new(1, 0.5).slot(&mut rng) == 0));
    }

    #[test]
    fn zones_get_their_shares_at_their_places() {
        let (zones, mut rng) = (Zones::new(100, &[(60.0, 10.0), (0.0, 50.0), (40.0, 40.0)]).unwrap(), Rng::new(1, "zones"));
        let slots: Vec<u64> = (0..100_000).map(|_| zones.slot(&mut rng)).collect();
        let share = |from: u64, to: u64| slots.iter().filter(|slot| (from..to).contains(slot)).count() as f64 / 1e5;
        assert!((share(0, 10) - 0.6).abs() < 0.01 && share(10, 60) == 0.0 && (share(60, 100) - 0.4).abs() < 0.01);
        assert!((0..10).chain(60..100).all(|slot| slots.contains(&slot)));
    }

    #[test]
    fn a_small_zone_has_a_slot_and_zones_without_draws_or_size_have_none() {
        let (zones, mut rng) = (Zones::new(4, &[(1.0, 0.001), (1.0, 1.0)]).unwrap(), Rng::new(1, "zones"));
        assert!((0..1000).all(|_| zones.slot(&mut rng) < 4));
        assert!(Zones::new(4, &[(0.0, 1.0), (1.0, 0.0)]).is_none());
    }
}
