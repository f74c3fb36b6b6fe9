//! d-choices: of d closed blocks drawn at random (with replacement) the one with the fewest valid pages; among equals, the first drawn.
//! With d = 1 the choice is random, with large d it is greedy; d = 10 is close to greedy already: B. Van Houdt, A mean field model for a
//! class of garbage collection algorithms in flash-based solid state drives, SIGMETRICS 2013, doi:10.1145/2465529.2465543.
//!
//! If no block drawn has an invalid page, the greedy choice is collected. Cost: d draws, and another for each that hits no closed block.

use super::draw;
use crate::ftl::{BlockState, Ftl};
use ssdlab_base::rng::Rng;
use ssdlab_base::units::{BlockId, PoolId};

/// The best block drawn. A closed block must exist.
#[inline]
pub fn pick(ftl: &Ftl, pool: PoolId, choices: u32, rng: &mut Rng) -> Option<BlockId> {
    let blocks = ftl.blocks();
    (0..choices)
        .map(|_| draw(ftl, pool, rng, |block| blocks.state(block) == BlockState::Closed))
        .min_by_key(|&block| blocks.valid_together(block))
}

#[cfg(test)]
mod tests {
    use crate::gc::victim::bench::Bench;
    use ssdlab_base::units::PoolId;
    use ssdlab_keys::config::Victim::DChoices;

    /// How often each block is picked in 4000 picks, and the number of fallbacks to greedy.
    fn picked(choices: u32) -> ([u32; 8], u64) {
        let mut bench = Bench::filled();
        bench.config.gc.choices = choices;
        bench.write(&[0, 4, 5]); // block 0 has 3 valid pages, block 1 has 2; blocks 2 and 3 have all four, block 4 is open
        let mut picker = bench.picker(DChoices);
        let mut picked = [0; 8];
        for _ in 0..4000 {
            picked[picker.pick(&mut bench.ftl, PoolId(0)).unwrap().index()] += 1;
        }
        (picked, picker.fallbacks())
    }

    #[test]
    fn the_best_of_the_blocks_drawn_wins() {
        // Two draws from four blocks: block 1 unless neither draw is block 1, 7/16; block 0 if neither draw is block 1 and one is block 0,
        // 9/16 - 4/16; no eligible block in the remaining 4/16, for which greedy takes block 1.
        let (counts, fallbacks) = picked(2);
        let near = |count: u64, of_16: u64| count.abs_diff(of_16 * 250) < 130;
        assert!(near(u64::from(counts[0]), 5) && near(u64::from(counts[1]), 11) && near(fallbacks, 4), "{counts:?} {fallbacks}");
        assert_eq!(counts[2..], [0; 6]);
    }

    #[test]
    fn one_choice_is_left_to_chance_and_many_are_greedy() {
        let (counts, fallbacks) = picked(1);
        assert!(counts[0].abs_diff(1000) < 130 && fallbacks.abs_diff(2000) < 130, "{counts:?} {fallbacks}");
        assert_eq!(picked(100), ([0, 4000, 0, 0, 0, 0, 0, 0], 0));
    }
}
