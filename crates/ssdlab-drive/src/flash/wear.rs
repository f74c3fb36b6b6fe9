//! Which programs and erases fail, and how often a block can be erased (`wear`).
//!
//! Each draw is a function of the seed and of what it is about: a block, its erases, a page. So it does not depend on the order of events.

use super::cells;
use super::pulses::{ErasePlan, Pulses, WHOLE};
use ssdlab_base::rng::{Rng, drawn_at};
use ssdlab_base::units::BlockId;
use ssdlab_keys::config::Config;

/// A probability that grows with the erases of a block, as integers: a draw of 64 bits below `fixed + per_cycle * erases` fails.
#[derive(Clone, Copy, Debug)]
struct Chance {
    key: u64,
    fixed: u64,
    per_cycle: u64,
}

impl Chance {
    fn new(key: u64, ppm: f64, worn_ppm: f64, endurance: u32) -> Self {
        let of_draws = |ppm: f64| (ppm / 1e6 * 2f64.powi(64)) as u64;
        let per_cycle = if endurance == 0 { 0 } else { of_draws(worn_ppm) / u64::from(endurance) };
        Chance { key, fixed: of_draws(ppm), per_cycle }
    }

    #[inline]
    fn fails(&self, block: BlockId, cycles: u32, page: u32) -> bool {
        let limit = self.fixed.saturating_add(self.per_cycle.saturating_mul(u64::from(cycles)));
        if limit == 0 {
            return false;
        }
        let draw = drawn_at(drawn_at(self.key, u64::from(block.0) << 32 | u64::from(cycles)), page.into());
        draw < limit || limit == u64::MAX
    }
}

/// How the blocks of a drive fail.
#[derive(Clone, Debug)]
pub struct Failures {
    /// By block: erases before the preparation of the drive.
    base_cycles: Vec<u32>,
    /// By block: erases after which it fails.
    endurance: Vec<u32>,
    program: Chance,
    erase: Chance,
    /// How blocks are erased; `None` if an erase has one time whatever its block needs.
    pulses: Option<Pulses>,
}

impl Failures {
    /// How the `blocks` blocks of a drive fail; `None` if erases have no effect on them.
    pub fn new(config: &Config, blocks: u32, seed: u64) -> Option<Self> {
        let wear = &config.wear;
        if !wear.is_active() {
            return None;
        }
        let key = |of: &str| Rng::new(seed, &format!("wear/{of}")).bits();
        let endurance_key = key("endurance");
        let endurance = |block: u32| match wear.endurance {
            0 => u32::MAX,
            mean => {
                let factor = 1.0 + wear.spread * normal(endurance_key, block.into());
                ((f64::from(mean) * factor).round() as u32).max(1)
            }
        };
        Some(Failures {
            base_cycles: cells::cycles_before(config, blocks, seed),
            endurance: (0..blocks).map(endurance).collect(),
            program: Chance::new(key("program"), wear.program_fails_ppm, wear.program_fails_worn_ppm, wear.endurance),
            erase: Chance::new(key("erase"), wear.erase_fails_ppm, wear.erase_fails_worn_ppm, wear.endurance),
            pulses: Pulses::new(config, blocks, seed),
        })
    }

    /// Erases that a block is worn by, if it has been erased `erases` times in preparation and run. An erase as needed counts for less than one.
    pub fn cycles(&self, block: BlockId, erases: u32) -> u32 {
        let cycles = self.base_cycles[block.index()].saturating_add(erases);
        match &self.pulses {
            None => cycles,
            Some(pulses) => cycles - pulses.spared(block).div_ceil(WHOLE) as u32,
        }
    }

    /// The pulses of blocks; `None` if an erase has one time whatever its block needs.
    pub fn pulses(&self) -> Option<&Pulses> {
        self.pulses.as_ref()
    }

    /// The erase of a block after `erases` others; `None` if an erase has one time whatever its block needs.
    pub fn erase_plan(&self, block: BlockId, erases: u32) -> Option<ErasePlan> {
        self.pulses.as_ref().map(|pulses| pulses.erase(block, self.cycles(block, erases)))
    }

    /// Notes an erase of a block, so that it wears the block as much as its pulses do.
    pub fn erased(&mut self, block: BlockId, plan: ErasePlan) {
        if let Some(pulses) = &mut self.pulses {
            pulses.erased(block, plan);
        }
    }

    /// Erases after which a block fails.
    pub fn endurance(&self, block: BlockId) -> u32 {
        self.endurance[block.index()]
    }

    /// The program that begins at this page of a block fails.
    #[inline]
    pub fn program_fails(&self, block: BlockId, erases: u32, page: u32) -> bool {
        self.program.fails(block, self.cycles(block, erases), page)
    }

    /// The erase after `erases` others fails, whatever the endurance of the block.
    pub fn erase_fails(&self, block: BlockId, erases: u32) -> bool {
        self.erase.fails(block, self.cycles(block, erases), 0)
    }

    /// The block has been erased as often as it can be, once it has been erased `erases` times.
    pub fn is_worn_out(&self, block: BlockId, erases: u32) -> bool {
        self.cycles(block, erases) >= self.endurance(block)
    }
}

/// The standard normal variate that belongs to `counter`, by the transform of Box and Muller, cut off at three standard deviations.
pub(super) fn normal(key: u64, counter: u64) -> f64 {
    let unit = |bits: u64| (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64);
    let (first, second) = (unit(drawn_at(key, 2 * counter)), unit(drawn_at(key, 2 * counter + 1)));
    let variate = libm::sqrt(-2.0 * libm::log(1.0 - first)) * libm::cos(2.0 * std::f64::consts::PI * second);
    variate.clamp(-3.0, 3.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failures(change: fn(&mut Config)) -> Failures {
        let mut config = Config::default();
        change(&mut config);
        Failures::new(&config, 20_000, 1).expect("blocks can fail")
    }

    /// Of 20,000 draws the mean lies within 5 standard errors, and 68 % within one standard deviation.
    #[test]
    fn endurance_is_spread_as_asked_for() {
        let drawn = failures(|c| (c.wear.endurance, c.wear.spread) = (3_000, 0.1)).endurance;
        let mean = drawn.iter().map(|&cycles| f64::from(cycles)).sum::<f64>() / 2e4;
        assert!((mean - 3_000.0).abs() < 5.0 * 300.0 / 2e4_f64.sqrt(), "{mean}");
        let within = drawn.iter().filter(|&&cycles| (2_700..=3_300).contains(&cycles)).count() as f64 / 2e4;
        assert!((0.66..0.71).contains(&within), "{within}");
        assert!(drawn.iter().all(|cycles| (2_100..=3_900).contains(cycles)), "no draw is beyond three standard deviations");
        assert!(failures(|c| c.wear.endurance = 70).endurance.iter().all(|&cycles| cycles == 70), "without a spread all are the same");
    }

    /// The share of failed programs at 0, half and all of the rated erases: 1 %, 6 %, 11 %.
    #[test]
    fn programs_fail_as_often_as_asked_for() {
        let failures = failures(|c| {
            c.wear.endurance = 1_000;
            (c.wear.program_fails_ppm, c.wear.program_fails_worn_ppm) = (10_000.0, 100_000.0);
        });
        for (cycles, share) in [(0, 0.01), (500, 0.06), (1_000, 0.11)] {
            let failed = (0..20_000).filter(|&block| failures.program_fails(BlockId(block), cycles, 3)).count() as f64 / 2e4;
            assert!((failed - share).abs() < 0.008, "{failed} of {share} after {cycles} erases");
        }
        assert!(!failures.erase_fails(BlockId(0), 500), "erases have a chance of their own");
    }

    #[test]
    fn a_failure_that_is_certain_happens() {
        let failures = failures(|c| (c.wear.program_fails_ppm, c.wear.erase_fails_ppm) = (1e6, 1e6));
        assert!((0..1_000).all(|block| failures.program_fails(BlockId(block), 1, 0) && failures.erase_fails(BlockId(block), 1)));
    }
}
