//! Which programs and erases fail, and how often a block can be erased (`wear`).
//!
//! Each draw is a function of the seed and of what it is about: a block, its erases, a page. So it does not depend on the order of events.

use super::cells;
use super::pulses::{ErasePlan, Pulses};
use ssdlab_base::rng::{Rng, drawn_at};
use ssdlab_base::units::BlockId;
use ssdlab_keys::config::Config;
use ssdlab_keys::geometry::{BlockFacts, WHOLE};

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
    fn fails(&self, block: BlockId, cycles: Cycles, page: u32) -> bool {
        let limit = self.fixed.saturating_add(self.per_cycle.saturating_mul(u64::from(cycles.worn)));
        if limit == 0 {
            return false;
        }
        let draw = drawn_at(drawn_at(self.key, u64::from(block.0) << 32 | u64::from(cycles.drawn)), page.into());
        draw < limit || limit == u64::MAX
    }
}

/// Erases of a block, as failures take them.
#[derive(Clone, Copy, Debug)]
struct Cycles {
    /// By which it is worn.
    worn: u32,
    /// By which draws go: those in SLC mode count as any other, so that each has draws of its own.
    drawn: u32,
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

    /// Erases that a block is worn by, in preparation and run. One in SLC mode or as needed counts for less than one.
    pub fn cycles(&self, block: BlockId, facts: BlockFacts) -> u32 {
        let cycles = self.base_cycles[block.index()].saturating_add(facts.erases);
        let by_pulses = self.pulses.as_ref().map_or(0, |pulses| pulses.spared(block));
        cycles - (facts.spared + by_pulses).div_ceil(WHOLE) as u32
    }

    fn both(&self, block: BlockId, facts: BlockFacts) -> Cycles {
        Cycles { worn: self.cycles(block, facts), drawn: self.cycles(block, BlockFacts { spared: 0, ..facts }) }
    }

    /// The pulses of blocks; `None` if an erase has one time whatever its block needs.
    pub fn pulses(&self) -> Option<&Pulses> {
        self.pulses.as_ref()
    }

    /// The next erase of a block; `None` if an erase has one time whatever its block needs.
    pub fn erase_plan(&self, block: BlockId, facts: BlockFacts) -> Option<ErasePlan> {
        self.pulses.as_ref().map(|pulses| pulses.erase(block, self.cycles(block, facts), facts.mode))
    }

    /// Notes an erase of a block, so that it wears the block as much as its pulses do.
    pub fn erased(&mut self, block: BlockId, facts: BlockFacts, plan: ErasePlan) {
        if let Some(pulses) = &mut self.pulses {
            pulses.erased(block, facts, plan);
        }
    }

    /// Erases after which a block fails.
    pub fn endurance(&self, block: BlockId) -> u32 {
        self.endurance[block.index()]
    }

    /// The program that begins at this page of a block fails.
    #[inline]
    pub fn program_fails(&self, block: BlockId, facts: BlockFacts, page: u32) -> bool {
        self.program.fails(block, self.both(block, facts), page)
    }

    /// The next erase of a block fails, whatever its endurance.
    pub fn erase_fails(&self, block: BlockId, facts: BlockFacts) -> bool {
        self.erase.fails(block, self.both(block, facts), 0)
    }

    /// The block has been erased as often as it can be.
    pub fn is_worn_out(&self, block: BlockId, facts: BlockFacts) -> bool {
        self.cycles(block, facts) >= self.endurance(block)
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
    use ssdlab_keys::config::Mode;

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
            let failed =
                (0..20_000).filter(|&block| failures.program_fails(BlockId(block), BlockFacts::after(cycles), 3)).count() as f64 / 2e4;
            assert!((failed - share).abs() < 0.008, "{failed} of {share} after {cycles} erases");
        }
        assert!(!failures.erase_fails(BlockId(0), BlockFacts::after(500)), "erases have a chance of their own");
    }

    #[test]
    fn a_failure_that_is_certain_happens() {
        let failures = failures(|c| (c.wear.program_fails_ppm, c.wear.erase_fails_ppm) = (1e6, 1e6));
        let once = BlockFacts::after(1);
        assert!((0..1_000).all(|block| failures.program_fails(BlockId(block), once, 0) && failures.erase_fails(BlockId(block), once)));
    }

    /// An erase in SLC mode that wears by a quarter: the block is worn out with the fourth times as many, and each erase has draws of its own.
    #[test]
    fn erases_in_slc_mode_wear_by_their_share() {
        let mut worn = failures(|c| c.wear.endurance = 5);
        let mut facts = BlockFacts { each: WHOLE / 4, mode: Mode::Slc, ..BlockFacts::after(0) };
        let erases = std::iter::repeat_with(|| {
            let out = worn.is_worn_out(BlockId(0), facts);
            facts = facts.erased();
            out
        });
        assert_eq!(erases.take_while(|out| !out).count(), 20);
        worn = failures(|c| (c.wear.endurance, c.wear.erase_fails_ppm) = (5, 5e5));
        let mut facts = BlockFacts { each: 0, mode: Mode::Slc, ..BlockFacts::after(0) };
        let failed = (0..1_000).filter(|_| {
            facts = facts.erased();
            worn.erase_fails(BlockId(0), facts)
        });
        assert!((450..550).contains(&failed.count()), "the share that is asked for, not all or none");
    }
}
