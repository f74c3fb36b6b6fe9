//! Greedy: the closed block with the fewest valid pages (lee2013 V-A, bux2011 section 3). Among equals the block
//! unchanged for longest, which is the least likely to lose further pages soon. Cost: a check of a bit for each number of valid pages.

use crate::ftl::Ftl;
use ssdlab_base::units::{BlockId, PoolId};

/// The victim, or `None` if no closed block has an invalid page.
#[inline]
pub fn pick(ftl: &Ftl, pool: PoolId) -> Option<BlockId> {
    ftl.blocks().fewest_valid(pool)
}

#[cfg(test)]
mod tests {
    use crate::gc::victim::bench::Bench;
    use ssdlab_keys::config::Victim::Greedy;

    #[test]
    fn the_fewest_valid_pages_win_and_among_equals_the_longest_unchanged() {
        let mut bench = Bench::filled();
        assert_eq!(bench.pick(Greedy), None, "nothing is invalid yet");
        bench.write(&[9]); // block 2 loses a page
        bench.write(&[1]); // block 0 loses a page later
        assert_eq!(bench.pick(Greedy), Some(2));
        bench.write(&[2]);
        assert_eq!(bench.pick(Greedy), Some(0));
    }
}
