//! Random numbers: one seed, split by purpose, the same bits on every machine.
//!
//! The generator is xoshiro256++ (Blackman and Vigna, 2019). Each purpose gets a stream of its own, so that drawing one
//! more number for addresses never shifts the arrival times. Logarithms and powers come from `libm`, not from the system.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng};

/// A named stream of random numbers.
#[derive(Clone, Debug)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// The stream for `purpose` under `seed`. Streams of different purposes are independent.
    pub fn new(seed: u64, purpose: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&seed.to_le_bytes());
        hasher.update(purpose.as_bytes());
        Rng(Xoshiro256PlusPlus::from_seed(*hasher.finalize().as_bytes()))
    }

    /// Skips 2^128 numbers, so that later draws differ from those that would have come next.
    pub fn jump(&mut self) {
        self.0.jump();
    }

    /// 64 uniform bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A uniform integer in `0..bound`, by multiplication with rejection (Lemire 2019). `bound` must not be 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "a random integer below 0 was requested");
        loop {
            let product = u128::from(self.bits()) * u128::from(bound);
            let low = product as u64;
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }

    /// A uniform real in `[0, 1)` with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// True with the given probability (0..=1).
    #[inline]
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// An exponential variate of the given mean.
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.unit())
    }
}

/// 64 bits that depend on `key` and `counter` alone, not on what was drawn before: SplitMix64 (Steele, Lea and Flood, 2014) at a place of its
/// sequence.
#[inline]
pub fn drawn_at(key: u64, counter: u64) -> u64 {
    let mut bits = key.wrapping_add(counter.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_and_purpose_give_the_same_bits_forever() {
        let mut rng = Rng::new(1, "address");
        let first = [rng.bits(), rng.bits()];
        let mut again = Rng::new(1, "address");
        assert_eq!(first, [again.bits(), again.bits()]);
        let mut ahead = Rng::new(1, "address");
        ahead.jump();
        assert_ne!(first[0], ahead.bits());
        assert_ne!(first[0], Rng::new(1, "arrival").bits());
        assert_ne!(first[0], Rng::new(2, "address").bits());
    }

    /// The first two numbers of SplitMix64 with seed 1234567, as published with its reference code.
    #[test]
    fn draws_by_counter_are_those_of_splitmix() {
        assert_eq!([0, 1].map(|counter| drawn_at(1_234_567, counter)), [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn below_is_uniform_and_exponential_has_its_mean() {
        let mut rng = Rng::new(7, "test");
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            counts[rng.below(6) as usize] += 1;
        }
        assert!(counts.iter().all(|&c| (9_500..10_500).contains(&c)), "{counts:?}");
        let mean = (0..100_000).map(|_| rng.exponential(3.0)).sum::<f64>() / 1e5;
        assert!((mean - 3.0).abs() < 0.05, "{mean}");
    }
}
