//! Skewed addresses other than Zipf's law: a Pareto distribution, and zones with weights. Both as fio defines them (`lib/zipf.c`, `io_u.c`).

use crate::rng::Rng;

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
