//! Random: any eligible block, each with the same probability. The baseline of B. Van Houdt, A mean field model for a class of garbage
//! collection algorithms in flash-based solid state drives, SIGMETRICS 2013, doi:10.1145/2465529.2465543.
//!
//! Cost: the mean number of draws is the blocks of the pool divided by the eligible ones.

use super::draw;
use crate::ftl::Ftl;
use ssdlab_base::rng::Rng;
use ssdlab_base::units::{BlockId, PoolId};

/// The victim. The pool must have an eligible block.
#[inline]
pub fn pick(ftl: &Ftl, pool: PoolId, rng: &mut Rng) -> Option<BlockId> {
    Some(draw(ftl, pool, rng, |block| ftl.blocks().is_eligible(block)))
}

#[cfg(test)]
mod tests {
    use crate::gc::victim::bench::Bench;
    use ssdlab_base::units::PoolId;
    use ssdlab_keys::config::Victim::Random;

    #[test]
    fn every_block_with_an_invalid_page_is_as_likely_as_another() {
        let mut bench = Bench::filled();
        assert_eq!(bench.pick(Random), None);
        bench.write(&[0, 4, 5, 6, 8]); // of block 3 nothing, of the others one page or more
        let mut picker = bench.picker(Random);
        let mut picked = [0u32; 8];
        for _ in 0..3000 {
            picked[picker.pick(&mut bench.ftl, PoolId(0)).unwrap().index()] += 1;
        }
        assert!(picked[..3].iter().all(|count| (900..1100).contains(count)), "{picked:?}");
        assert_eq!((picked.iter().sum::<u32>(), picked[..3].iter().sum(), picker.fallbacks()), (3000, 3000, 0));
    }

    #[test]
    fn picks_are_the_same_in_every_run() {
        let mut bench = Bench::filled();
        bench.write(&[0, 4, 8, 12]);
        let mut picker = bench.picker(Random);
        let picks: Vec<u32> = (0..12).map(|_| picker.pick(&mut bench.ftl, PoolId(0)).unwrap().0).collect();
        let mut again = bench.picker(Random);
        assert_eq!(picks, Vec::from_iter((0..12).map(|_| again.pick(&mut bench.ftl, PoolId(0)).unwrap().0)));
        assert!((0..4).all(|block| picks.contains(&block)), "{picks:?}");
    }
}
