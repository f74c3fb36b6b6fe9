//! Erases in pulses (`wear.erase`): which pulses a block gets, how long that takes, and how much it wears the block.
//!
//! A block needs pulses of some total time until it is erased. Each pulse is followed by a verify read, which tells how much is left. With
//! whole pulses the last one is mostly too long; as needed it is no longer than the verify read before it predicts (AERO, ASPLOS 2024).

use super::wear::normal;
use ssdlab_base::rng::Rng;
use ssdlab_base::units::{BlockId, Ns};
use ssdlab_keys::config::{Config, Erase, MODES, Mode, WHOLE};
use ssdlab_keys::geometry::BlockFacts;
use ssdlab_result::stats::EraseWear;

/// An erase of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErasePlan {
    /// Time of the erase, verify reads included, ns.
    pub ns: Ns,
    /// Number of pulses, the first short one included.
    pub pulses: u32,
    /// Wear of the block in millionths of an erase with whole pulses.
    pub wear: u64,
}

/// The pulses that the blocks of a drive need.
#[derive(Clone, Debug)]
pub struct Pulses {
    as_needed: bool,
    pulse_ns: Ns,
    verify_ns: Ns,
    /// With `as_needed`: pulses are a multiple of this long, or as long as a whole one.
    step_ns: Ns,
    /// With `as_needed`: length of the first pulse, 0 if there is none before the first loop.
    probe_ns: Ns,
    /// By block: time of pulses that it needs while it is new, in native mode.
    new_ns: Vec<Ns>,
    /// What new blocks need on average, by mode, ns.
    mean_ns: [Ns; MODES],
    /// Millionths of that time by which 1,000 erases lengthen it.
    growth: u64,
    /// By block: wear that erases as needed have spared it in the run, in millionths of an erase.
    spared: Vec<u64>,
    /// Erases in the run, by mode, and what their pulses were shorter than whole ones, as a sum of millionths.
    erases: [u64; MODES],
    shorter: [u64; MODES],
}

impl Pulses {
    /// The pulses of `blocks` blocks; `None` if an erase has one time whatever its block needs.
    pub(super) fn new(config: &Config, blocks: u32, seed: u64) -> Option<Self> {
        let wear = &config.wear;
        if wear.erase == Erase::Fixed {
            return None;
        }
        let key = Rng::new(seed, "wear/erase").bits();
        let new_ns = |block: u32| {
            let factor = if wear.erase_spread > 0.0 { 1.0 + wear.erase_spread * normal(key, block.into()) } else { 1.0 };
            (config.device.erase_ns as f64 * factor).round() as Ns
        };
        Some(Pulses {
            as_needed: wear.erase == Erase::AsNeeded,
            pulse_ns: wear.pulse_ns,
            verify_ns: wear.verify_ns,
            step_ns: wear.step_ns,
            probe_ns: wear.probe_ns,
            new_ns: (0..blocks).map(new_ns).collect(),
            mean_ns: config.modes().map(|mode| mode.erase_ns),
            growth: (wear.erase_growth * 1e6).round() as u64,
            spared: vec![0; blocks as usize],
            erases: [0; MODES],
            shorter: [0; MODES],
        })
    }

    /// Wear that a block was spared, in millionths of an erase.
    pub fn spared(&self, block: BlockId) -> u64 {
        self.spared[block.index()]
    }

    /// Time of pulses that a block needs that is worn by `cycles` erases, ns; at least 1. `mode`: its mode.
    pub fn needed_ns(&self, block: BlockId, cycles: u32, mode: Mode) -> Ns {
        let [native_ns, of_mode_ns] = [Mode::Native, mode].map(|mode| u128::from(self.mean_ns[mode as usize]));
        let new_ns = u128::from(self.new_ns[block.index()]) * of_mode_ns;
        self.grown_ns(new_ns.checked_div(native_ns).unwrap_or(of_mode_ns) as Ns, cycles)
    }

    fn grown_ns(&self, new_ns: Ns, cycles: u32) -> Ns {
        let more = u128::from(new_ns) * u128::from(self.growth) * u128::from(cycles) / 1_000_000_000;
        (new_ns + more as Ns).max(1)
    }

    /// The next erase of a block that is worn by `cycles` erases. `mode`: its mode.
    pub fn erase(&self, block: BlockId, cycles: u32, mode: Mode) -> ErasePlan {
        self.plan(self.needed_ns(block, cycles, mode))
    }

    /// Time of the next erase of a block of mean need that is worn by `cycles` erases, ns. `mode`: its mode.
    pub fn expected_ns(&self, cycles: u32, mode: Mode) -> Ns {
        self.plan(self.grown_ns(self.mean_ns[mode as usize], cycles)).ns
    }

    /// The erase of a block that needs pulses of this time.
    fn plan(&self, needed: Ns) -> ErasePlan {
        let loops = needed.div_ceil(self.pulse_ns);
        if !self.as_needed {
            return ErasePlan { ns: loops * (self.pulse_ns + self.verify_ns), pulses: loops as u32, wear: WHOLE };
        }
        let whole_ns = loops * self.pulse_ns;
        let (applied, pulses) = if needed <= self.probe_ns {
            (self.probe_ns, 1)
        } else {
            // The first loop is what is left of a whole pulse after the probe; the last is shortened.
            let before = if loops == 1 { self.probe_ns } else { (loops - 1) * self.pulse_ns };
            let last = (needed - before).next_multiple_of(self.step_ns).min(whole_ns - before);
            (before + last, loops + u64::from(0 < self.probe_ns && self.probe_ns < self.pulse_ns))
        };
        let wear = (u128::from(applied) * u128::from(WHOLE) / u128::from(whole_ns)) as u64;
        ErasePlan { ns: applied + pulses * self.verify_ns, pulses: pulses as u32, wear }
    }

    /// Time of an erase with whole pulses, ns.
    pub fn whole_ns(&self, block: BlockId, cycles: u32, mode: Mode) -> Ns {
        self.needed_ns(block, cycles, mode).div_ceil(self.pulse_ns) * (self.pulse_ns + self.verify_ns)
    }

    /// Notes an erase of a block, and the wear that its pulses spared it.
    pub(super) fn erased(&mut self, block: BlockId, facts: BlockFacts, plan: ErasePlan) {
        self.spared[block.index()] += facts.spared_by_pulses(plan.wear);
        self.erases[facts.mode as usize] += 1;
        self.shorter[facts.mode as usize] += WHOLE - plan.wear;
    }

    /// Wear by the erases of the run.
    pub fn wear(&self) -> EraseWear {
        let worn = std::array::from_fn(|mode| self.erases[mode] as f64 - self.shorter[mode] as f64 / WHOLE as f64);
        EraseWear { erases: self.erases, worn }
    }

    /// Verify mode: the same erase, played pulse by pulse.
    pub fn play(&self, block: BlockId, cycles: u32, mode: Mode) -> ErasePlan {
        let needed = self.needed_ns(block, cycles, mode);
        let (mut applied, mut pulses, mut in_loop) = (0, 0, 0);
        while applied < needed {
            let rest = self.pulse_ns - in_loop;
            let pulse = match self.as_needed {
                false => rest,
                true if applied == 0 && self.probe_ns > 0 => self.probe_ns,
                true => rest.min((needed - applied).div_ceil(self.step_ns) * self.step_ns),
            };
            applied += pulse;
            pulses += 1;
            in_loop = (in_loop + pulse) % self.pulse_ns;
        }
        let whole_ns = u128::from(needed.div_ceil(self.pulse_ns) * self.pulse_ns);
        let wear = (u128::from(applied) * u128::from(WHOLE) / whole_ns) as u64;
        ErasePlan { ns: applied + pulses * self.verify_ns, pulses: pulses as u32, wear }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Ns = 1_000_000;

    fn pulses(erase: Erase, needed_ns: Ns, change: fn(&mut Config)) -> Pulses {
        let mut config = Config::default();
        config.device.erase_ns = needed_ns;
        (config.wear.erase, config.wear.verify_ns) = (erase, 100_000);
        change(&mut config);
        Pulses::new(&config, 20_000, 1).expect("erases in pulses")
    }

    /// Pulses of 3.5 ms, a probe of 1 ms, steps of 0.5 ms, verify reads of 0.1 ms. A need of 2.3 ms takes 1 + 1.5 ms, one of 4.2 ms
    /// 1 + 2.5 + 1 ms; whole pulses take 3.5 and 7 ms.
    #[test]
    fn the_last_pulse_is_as_long_as_needed() {
        let erase = |erase, needed| pulses(erase, needed, |_| ()).erase(BlockId(0), 0, Mode::Native);
        assert_eq!(erase(Erase::Pulses, 2_300_000), ErasePlan { ns: 3_600_000, pulses: 1, wear: WHOLE });
        assert_eq!(erase(Erase::AsNeeded, 2_300_000), ErasePlan { ns: 2_700_000, pulses: 2, wear: 714_285 });
        assert_eq!(erase(Erase::Pulses, 4_200_000), ErasePlan { ns: 7_200_000, pulses: 2, wear: WHOLE });
        assert_eq!(erase(Erase::AsNeeded, 4_200_000), ErasePlan { ns: 4_800_000, pulses: 3, wear: 642_857 });
        assert_eq!(erase(Erase::AsNeeded, 900_000), ErasePlan { ns: 1_100_000, pulses: 1, wear: 285_714 });
        let unprobed = pulses(Erase::AsNeeded, 2_300_000, |c| c.wear.probe_ns = 0).erase(BlockId(0), 0, Mode::Native);
        assert_eq!(unprobed, ErasePlan { ns: 2_600_000, pulses: 1, wear: 714_285 });
    }

    #[test]
    fn a_need_that_fills_its_pulses_spares_nothing() {
        for needed in [3_500_000, 7 * MS] {
            assert_eq!(pulses(Erase::AsNeeded, needed, |_| ()).erase(BlockId(0), 0, Mode::Native).wear, WHOLE);
        }
    }

    /// Whatever a block needs, the pulses one after the other come to the same.
    #[test]
    fn an_erase_is_the_sum_of_its_pulses() {
        for how in [Erase::Pulses, Erase::AsNeeded] {
            let changes: [fn(&mut Config); 4] =
                [|_| (), |c| c.wear.probe_ns = 0, |c| c.wear.probe_ns = 3_500_000, |c| c.wear.step_ns = 800_000];
            for change in changes {
                for needed in (1..12 * MS).step_by(99_991) {
                    let pulses = pulses(how, needed, change);
                    assert_eq!(pulses.erase(BlockId(0), 0, Mode::Native), pulses.play(BlockId(0), 0, Mode::Native), "{how:?} {needed}");
                }
            }
        }
    }

    /// With a growth of 0.5 a block needs half as much again after 1,000 erases. Needs differ by block as configured.
    #[test]
    fn needs_grow_with_wear_and_differ_by_block() {
        let grown = pulses(Erase::AsNeeded, 2 * MS, |c| c.wear.erase_growth = 0.5);
        assert_eq!([0, 1_000, 2_000].map(|cycles| grown.needed_ns(BlockId(0), cycles, Mode::Native)), [2 * MS, 3 * MS, 4 * MS]);
        let in_slc = pulses(Erase::AsNeeded, 2 * MS, |c| (c.wear.erase_growth, c.slc.static_blocks, c.slc.erase_ns) = (0.5, 1, 400_000));
        assert_eq!([0, 1_000].map(|cycles| in_slc.needed_ns(BlockId(0), cycles, Mode::Slc)), [400_000, 600_000]);
        let spread = pulses(Erase::AsNeeded, 2 * MS, |c| c.wear.erase_spread = 0.1);
        let mean = spread.new_ns.iter().map(|&ns| ns as f64).sum::<f64>() / 2e4;
        assert!((mean - 2e6).abs() < 5.0 * 2e5 / 2e4_f64.sqrt(), "{mean}");
        let within = spread.new_ns.iter().filter(|ns| (1_800_000..=2_200_000).contains(*ns)).count() as f64 / 2e4;
        assert!((0.66..0.71).contains(&within), "{within}");
    }
}
