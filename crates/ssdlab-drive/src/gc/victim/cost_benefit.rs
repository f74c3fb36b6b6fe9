//! Cost-benefit: the block with the largest (1 - u) / 2u x age, where u is its share of valid pages: the space gained, over the cost of
//! reading and writing the rest, weighted by age (A. Kawaguchi, S. Nishioka, H. Motoda, A Flash-Memory Based File System, USENIX 1995;
//! after M. Rosenblum and J. K. Ousterhout, The Design and Implementation of a Log-Structured File System, ACM Trans. Comput. Syst. 10(1),
//! 1992, doi:10.1145/146941.146943). The age is the number of blocks of the pool filled since this one was. Among equals the block with the
//! fewest valid pages, and of these the one unchanged for longest.
//!
//! Cost: a step for each block with few enough valid pages to win if it were as old as the oldest.

use crate::ftl::Ftl;
use ssdlab_base::units::{BlockId, PoolId};

/// The worth of a block: (1 - u) / u x age as a fraction. The factor 2 is the same for all blocks.
#[derive(Clone, Copy)]
struct Worth {
    invalid: u32,
    valid: u32,
    age: u64,
}

impl Worth {
    /// Compares by cross-multiplication. 2^14 pages x 2^14 pages x 2^64 fit.
    fn exceeds(self, other: Worth) -> bool {
        let product = |a: Worth, b: Worth| u128::from(a.invalid) * u128::from(a.age) * u128::from(b.valid);
        product(self, other) > product(other, self)
    }
}

/// The victim, or `None` if no closed block has an invalid page.
#[inline]
pub fn pick(ftl: &Ftl, pool: PoolId) -> Option<BlockId> {
    let (blocks, pages) = (ftl.blocks(), ftl.geometry().units_per_reclaim());
    let age_max = blocks.age_max(pool);
    let mut best: Option<(BlockId, Worth)> = None;
    for valid in blocks.eligible_levels(pool) {
        // A block without valid pages costs nothing.
        if valid == 0 {
            return blocks.closed_blocks(pool, 0).next();
        }
        let worth = |age| Worth { invalid: pages - valid, valid, age };
        // From here on even the oldest block is worth no more.
        if best.is_some_and(|(_, best)| !worth(age_max).exceeds(best)) {
            break;
        }
        for block in blocks.closed_blocks(pool, valid) {
            let worth = worth(blocks.age(pool, block));
            if best.is_none_or(|(_, best)| worth.exceeds(best)) {
                best = Some((block, worth));
            }
        }
    }
    best.map(|(block, _)| block)
}

#[cfg(test)]
mod tests {
    use crate::gc::victim::bench::Bench;
    use ssdlab_base::units::{BlockId, PoolId};
    use ssdlab_keys::config::Victim::{CostBenefit, Greedy};

    #[test]
    fn age_makes_up_for_valid_pages() {
        let mut bench = Bench::filled();
        assert_eq!(bench.pick(CostBenefit), None);
        bench.write(&[0, 12, 13, 4]); // fills block 4; of block 0 one page of four is invalid, of block 1 one, of block 3 two
        // Ages 4, 3 and 1: worth 1/3 x 4, 1/3 x 3 and 2/2 x 1.
        assert_eq!((bench.pick(CostBenefit), bench.pick(Greedy)), (Some(0), Some(3)));
        bench.trim(&[14]); // worth 3/1 x 1
        assert_eq!(bench.pick(CostBenefit), Some(3));
    }

    #[test]
    fn a_block_with_one_valid_page_may_be_too_young() {
        let mut bench = Bench::filled();
        bench.write(&[0, 1, 12, 13]); // fills block 4
        bench.trim(&[14]);
        // Block 0 has two valid pages and age 4, block 3 one and age 1: worth 2/2 x 4 and 3/1 x 1.
        assert_eq!((bench.pick(CostBenefit), bench.pick(Greedy)), (Some(0), Some(3)));
    }

    #[test]
    fn an_empty_block_is_its_own_choice() {
        let mut bench = Bench::filled();
        bench.write(&[4, 5, 6, 7]);
        let mut picker = bench.picker(CostBenefit);
        assert_eq!(picker.pick(&mut bench.ftl, PoolId(0)), Some(BlockId(1)));
        assert_eq!(picker.fallbacks(), 0, "the greedy choice would be the same");
    }

    #[test]
    fn among_equals_the_fewest_valid_pages_win() {
        let mut bench = Bench::filled();
        bench.write(&[4, 8, 9, 0]); // worth 1/3 x 3 for block 1, 2/2 x 2 for block 2, 1/3 x 4 for block 0
        bench.collect(0);
        bench.write(&[5, 10, 1, 2]); // block 6 after the moves' block 5; ages of blocks 1 and 2: 4 and 3, worth 2/2 x 4 and 3/1 x 3
        assert_eq!(bench.pick(CostBenefit), Some(2));
        bench.trim(&[11, 6, 7, 12]);
        assert_eq!(bench.pick(CostBenefit), Some(2), "an empty block comes before all others");
    }
}
