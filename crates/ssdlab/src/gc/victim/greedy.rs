//! Greedy: the closed block with the fewest valid pages (lee2013 V-A, bux2011 section 3). Among equals the one that has had that
//! number for longest, which is the least likely to lose further pages soon.

use crate::ftl::Ftl;
use crate::units::{BlockId, PoolId};

/// The victim, or `None` if no closed block has an invalid page.
#[inline]
pub fn pick(ftl: &Ftl, pool: PoolId) -> Option<BlockId> {
    ftl.blocks().fewest_valid(pool)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::units::Lpn;

    fn write(ftl: &mut Ftl, lpn: u32) {
        let allocated = ftl.allocate_host(PoolId(0));
        ftl.commit_write(PoolId(0), Lpn(lpn), allocated.ppn);
    }

    #[test]
    fn the_fewest_valid_pages_win_and_among_equals_the_longest_unchanged() {
        let mut config = Config::default();
        config.device.channels = 1;
        config.device.blocks_per_plane = 8;
        config.device.pages_per_block = 4;
        config.device.overprovisioning = 0.5;
        let mut ftl = Ftl::new(&config);
        for lpn in 0..16 {
            write(&mut ftl, lpn);
        }
        assert_eq!(pick(&ftl, PoolId(0)), None, "nothing is invalid yet");
        write(&mut ftl, 9); // block 2 loses a page
        write(&mut ftl, 1); // block 0 loses a page later
        assert_eq!(pick(&ftl, PoolId(0)), Some(BlockId(2)));
        write(&mut ftl, 2);
        assert_eq!(pick(&ftl, PoolId(0)), Some(BlockId(0)));
    }
}
