//! The blocks as arrays of integers, for saving and loading.

use super::{BlockState, Blocks};
use crate::lists::{EMPTY, NONE};
use ssdlab_base::units::{BlockId, PoolId};
use ssdlab_keys::geometry::Geometry;

impl Blocks {
    /// Everything that cannot be recounted, for saving: by block programmed pages, erases, and invalid bits (low halves, high halves of
    /// words); the free and closed lists in order; ages by block (low halves, high halves).
    pub fn parts(&self) -> [Vec<u32>; 7] {
        let pools = self.free.len();
        let count = self.blocks.len();
        let mut order = Vec::with_capacity(count);
        let mut ages = vec![0; count];
        for pool in (0..pools as u32).map(PoolId) {
            for block in self.blocks_by_age(pool) {
                ages[block.index()] = self.age(pool, block);
            }
            for block in self.slc_blocks_by_age(pool) {
                ages[block.index()] = self.age(pool, block);
            }
            order.extend(self.free_blocks(pool).map(|block| block.0));
            order.extend(self.free_static_blocks(pool).map(|block| block.0));
            order.extend(self.slc_blocks_by_age(pool).map(|block| block.0));
            // Superblocks are listed once, for the first pool of their group.
            if self.lead_of(pool) != pool {
                continue;
            }
            for valid in 0..self.lists_per_pool as u32 {
                order.extend(self.closed_blocks(pool, valid).map(|block| block.0));
            }
        }
        order.resize(count, NONE);
        let all = || (0..count as u32).map(BlockId);
        let words = || all().flat_map(|block| (0..self.words()).map(move |word| self.invalid_word(block, word)));
        [
            all().map(|block| self.programmed(block)).collect(),
            self.erases.clone(),
            words().map(|word| word as u32).collect(),
            words().map(|word| (word >> 32) as u32).collect(),
            order,
            ages.iter().map(|&age| age as u32).collect(),
            ages.iter().map(|&age| (age >> 32) as u32).collect(),
        ]
    }

    /// The inverse of [`Blocks::parts`].
    ///
    /// # Errors
    /// A sentence if the arrays contradict each other.
    pub fn from_parts(geometry: &Geometry, parts: &[Vec<u32>]) -> Result<Self, String> {
        let mut blocks = Blocks::new(geometry);
        let pages = geometry.units_per_block.get();
        for list in [&mut blocks.free, &mut blocks.closed] {
            list.fill(EMPTY);
        }
        blocks.free_count.fill(0);
        blocks.slc = super::slc::SlcBlocks::new(geometry);
        blocks.occupied.fill(0);
        blocks.erases.copy_from_slice(&parts[1]);
        for block in (0..geometry.blocks).map(BlockId) {
            let programmed = parts[0][block.index()];
            if programmed > pages {
                return Err(format!("block {block} has {programmed} of {pages} pages programmed"));
            }
            // Limits far below an overflow in a run.
            if parts[1][block.index()] >> 31 != 0 || parts[6][block.index()] >> 30 != 0 {
                return Err(format!("block {block} has more erases, or is older, than a drive lives to see"));
            }
            let invalid = blocks.restore_invalid(block, &parts[2], &parts[3]);
            let valid = programmed.checked_sub(invalid).ok_or_else(|| format!("block {block} has more invalid than programmed pages"))?;
            blocks.blocks[block.index()].programmed = programmed as u16;
            blocks.blocks[block.index()].valid = valid as u16;
            blocks.valid_in_pool[geometry.pool_of_block(block).index()] += valid;
            blocks.erases_in_pool[geometry.pool_of_block(block).index()] += u64::from(blocks.erases[block.index()]);
            blocks.blocks[block.index()].state = BlockState::Open;
        }
        for block in parts[4].iter().take_while(|&&block| block != NONE).map(|&block| BlockId(block)) {
            if block.0 >= geometry.blocks || blocks.state(block) != BlockState::Open {
                return Err(format!("block {block} does not exist or stands in two lists"));
            }
            let pool = geometry.pool_of_block(block);
            if blocks.programmed(block) == 0 {
                blocks.push_free(pool, block);
            } else if blocks.superblocks.is_some() {
                blocks.restore_closed(block)?;
            } else {
                blocks.blocks[block.index()].state = BlockState::Closed;
                blocks.enlist(pool.index(), block, blocks.valid(block));
            }
        }
        blocks.restore_ages(geometry, &parts[5], &parts[6])?;
        Ok(blocks)
    }

    /// Sets the invalid bits of an erased block from the low and the high halves of the words of all blocks. Returns how many are set.
    fn restore_invalid(&mut self, block: BlockId, low: &[u32], high: &[u32]) -> u32 {
        let mut invalid = 0;
        for word in 0..self.words() {
            let index = (block.0 * self.words() + word) as usize;
            let stored = u64::from(low[index]) | u64::from(high[index]) << 32;
            // Untouched memory stays untouched: a zero is not written over a zero.
            if stored != 0 {
                *self.invalid_word_mut(block, word) = stored;
                invalid += stored.count_ones();
            }
        }
        invalid
    }

    /// Puts the closed blocks into their order by age. Each pool's clock starts at the age of its oldest block: only differences count.
    fn restore_ages(&mut self, geometry: &Geometry, low: &[u32], high: &[u32]) -> Result<(), String> {
        let age = |block: BlockId| u64::from(low[block.index()]) | u64::from(high[block.index()]) << 32;
        let leads = |&block: &BlockId| self.lead_of(geometry.pool_of_block(block)) == geometry.pool_of_block(block);
        let is_closed = |&block: &BlockId| self.state(block) == BlockState::Closed;
        let mut closed: Vec<_> = (0..geometry.blocks).map(BlockId).filter(is_closed).filter(leads).collect();
        closed.sort_by_key(|&block| (std::cmp::Reverse(age(block)), block));
        for block in closed {
            let pool = geometry.pool_of_block(block);
            let clock = &mut self.closings[pool.index()];
            *clock = (*clock).max(age(block));
            self.closed_at[block.index()] = *clock - age(block);
            let list = &mut self.by_age[pool.index()];
            if list.tail != NONE && self.closed_at[list.tail as usize] == self.closed_at[block.index()] {
                return Err(format!("blocks {} and {block} were closed at one moment", list.tail));
            }
            self.age_links.push(list, block.0);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::Ftl;
    use ssdlab_keys::config::Config;

    #[test]
    fn arrays_that_no_drive_saves_are_refused() {
        let mut config = Config::default();
        config.device.channels = 1;
        config.device.blocks_per_plane = 8;
        config.device.pages_per_block = 4;
        config.device.overprovisioning = 0.5;
        let mut ftl = Ftl::new(&config);
        ftl.fill(ftl.geometry().exported_units);
        let (geometry, blocks) = (ftl.geometry(), ftl.blocks());
        let parts = || blocks.parts().to_vec();
        assert_eq!(Blocks::from_parts(geometry, &parts()).unwrap().parts(), blocks.parts());
        // Block 0 is closed, block 7 free.
        let refused = |reason: &str, array: usize, place: usize, value: u32| {
            let mut parts = parts();
            parts[array][place] = value;
            let found = Blocks::from_parts(geometry, &parts).err().unwrap_or_else(|| panic!("not refused: {reason}"));
            assert!(found.contains(reason), "{reason}: {found}");
        };
        refused("block 7 has 5 of 4 pages programmed", 0, 7, 5);
        refused("block 7 has more erases", 1, 7, 1 << 31);
        refused("block 7 has more invalid than programmed pages", 2, 7, 1);
        refused("block 8 does not exist", 4, 0, 8);
        let first = parts()[4][0];
        refused("stands in two lists", 4, 1, first);
        let age = parts()[5][0];
        refused("were closed at one moment", 5, 1, age);
        refused("block 0 has more erases, or is older", 6, 0, 1 << 30);
    }
}
