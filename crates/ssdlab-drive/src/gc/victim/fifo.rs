//! FIFO: the blocks of a pool are collected in the order in which they were filled, as in a cyclic log.
//!
//! A cyclic log also copies a block without an invalid page, which gains nothing: the copy is the same block at the log's end. Here such a
//! block is skipped, and its age begins again, which saves the copy and keeps the order. (If it stayed first, blocks of cold data would
//! pile up at the head for good.)
//!
//! Cost: a step for each block skipped. As the log turns, that is per victim at most the number of closed blocks per eligible one; the
//! eligible ones are at least the spare blocks that are neither free nor open.

use crate::ftl::Ftl;
use ssdlab_base::units::{BlockId, PoolId};

/// The victim, or `None` if no closed block has an invalid page.
#[inline]
pub fn pick(ftl: &mut Ftl, pool: PoolId) -> Option<BlockId> {
    for _ in 0..ftl.geometry().pools.blocks_each {
        let oldest = ftl.blocks().blocks_by_age(pool).next()?;
        if ftl.blocks().is_eligible(oldest) {
            return Some(oldest);
        }
        ftl.renew_age(pool, oldest);
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::gc::victim::bench::Bench;
    use ssdlab_base::units::PoolId;
    use ssdlab_keys::config::Victim::Fifo;

    #[test]
    fn the_block_filled_first_wins_however_little_it_gains() {
        let mut bench = Bench::filled();
        bench.write(&[12, 13, 14, 1]); // block 3 loses three pages, block 0 one
        assert_eq!(bench.pick(Fifo), Some(0));
        assert_eq!(bench.collect(0), 3);
    }

    #[test]
    fn a_block_without_invalid_pages_goes_to_the_end_of_the_log() {
        let mut bench = Bench::filled();
        assert_eq!(bench.pick(Fifo), None);
        bench.write(&[8, 9, 12, 13]); // fills block 4; blocks 2 and 3 lose two pages each
        assert_eq!(bench.pick(Fifo), Some(2));
        let order: Vec<u32> = bench.ftl.blocks().blocks_by_age(PoolId(0)).map(|block| block.0).collect();
        assert_eq!(order, [2, 3, 4, 0, 1]);
        bench.collect(2);
        bench.write(&[0]); // block 0 loses a page, but it is not the oldest any more
        assert_eq!(bench.pick(Fifo), Some(3));
        bench.collect(3); // the moved pages fill block 5
        assert_eq!(bench.pick(Fifo), Some(0), "block 4 has no invalid page");
        bench.ftl.check().unwrap();
    }
}
