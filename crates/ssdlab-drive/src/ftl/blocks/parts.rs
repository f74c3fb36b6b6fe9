//! The blocks as arrays of integers, for saving and loading.

use super::columns::{halves, joined};
use super::{BlockState, Blocks};
use crate::lists::{EMPTY, NONE};
use ssdlab_base::units::{BlockId, PoolId};
use ssdlab_keys::geometry::Geometry;

impl Blocks {
    /// Everything that cannot be recounted, for saving: by block the programmed pages; the invalid bits (low halves, high halves of words); the
    /// free and closed lists in order; the columns.
    pub fn parts(&self) -> Vec<Vec<u32>> {
        let pools = self.free.len();
        let count = self.blocks.len();
        let mut order = Vec::with_capacity(count);
        for pool in (0..pools as u32).map(PoolId) {
            order.extend(self.free_blocks(pool).map(|block| block.0));
            order.extend(self.free_static_blocks(pool).map(|block| block.0));
            order.extend(self.cached_by_age(pool).map(|block| block.0));
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
        let [low, high] = halves(all().flat_map(|block| (0..self.words()).map(move |word| self.invalid_word(block, word))));
        let mut parts = vec![all().map(|block| self.programmed(block)).collect(), low, high, order];
        parts.extend(self.columns.parts());
        parts
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
        blocks.columns.restore(&parts[4..])?;
        let mut words = joined(&parts[1], &parts[2]);
        for block in (0..geometry.blocks).map(BlockId) {
            let programmed = parts[0][block.index()];
            if programmed > pages {
                return Err(format!("block {block} has {programmed} of {pages} pages programmed"));
            }
            // Limits far below an overflow in a run.
            let (erases, closed_at) = (blocks.columns.erases[block.index()], blocks.columns.closed_at[block.index()]);
            if erases >> 31 != 0 || closed_at >> 62 != 0 {
                return Err(format!("block {block} has more erases, or is older, than a drive lives to see"));
            }
            let invalid = blocks.restore_invalid(block, &mut words);
            let valid = programmed.checked_sub(invalid).ok_or_else(|| format!("block {block} has more invalid than programmed pages"))?;
            blocks.blocks[block.index()].programmed = programmed as u16;
            blocks.blocks[block.index()].valid = valid as u16;
            let pool = geometry.pool_of_block(block).index();
            blocks.valid_in_pool[pool] += valid;
            blocks.erases_in_pool[pool] += u64::from(erases);
            blocks.closings[pool] = blocks.closings[pool].max(closed_at);
            blocks.blocks[block.index()].state = BlockState::Open;
        }
        for block in parts[3].iter().take_while(|&&block| block != NONE).map(|&block| BlockId(block)) {
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
        blocks.restore_ages(geometry)?;
        Ok(blocks)
    }

    /// Sets the invalid bits of an erased block from the words that come next. Returns how many are set.
    fn restore_invalid(&mut self, block: BlockId, words: &mut impl Iterator<Item = u64>) -> u32 {
        let mut invalid = 0;
        for (word, stored) in (0..self.words()).zip(words) {
            // Untouched memory stays untouched: a zero is not written over a zero.
            if stored != 0 {
                *self.invalid_word_mut(block, word) = stored;
                invalid += stored.count_ones();
            }
        }
        invalid
    }

    /// Puts the closed blocks into their order by age.
    fn restore_ages(&mut self, geometry: &Geometry) -> Result<(), String> {
        let leads = |&block: &BlockId| self.lead_of(geometry.pool_of_block(block)) == geometry.pool_of_block(block);
        let is_closed = |&block: &BlockId| self.state(block) == BlockState::Closed;
        let mut closed: Vec<_> = (0..geometry.blocks).map(BlockId).filter(is_closed).filter(leads).collect();
        closed.sort_by_key(|&block| self.columns.closed_at[block.index()]);
        for block in closed {
            let list = &mut self.by_age[geometry.pool_of_block(block).index()];
            if list.tail != NONE && self.columns.closed_at[list.tail as usize] == self.columns.closed_at[block.index()] {
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
    use crate::ftl::blocks::Columns;
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
        let parts = || blocks.parts();
        assert_eq!(Blocks::from_parts(geometry, &parts()).unwrap().parts(), blocks.parts());
        // Behind the first four arrays the columns, in two halves each.
        let column = |name: &str| 4 + 2 * Columns::saved().iter().position(|&column| column == name).expect("it is saved");
        let (erases, closed_at, stream) = (column("erases"), column("closed_at"), column("stream"));
        // Block 0 is closed, block 7 free.
        let refused = |reason: &str, array: usize, place: usize, value: u32| {
            let mut parts = parts();
            parts[array][place] = value;
            let found = Blocks::from_parts(geometry, &parts).err().unwrap_or_else(|| panic!("not refused: {reason}"));
            assert!(found.contains(reason), "{reason}: {found}");
        };
        refused("block 7 has 5 of 4 pages programmed", 0, 7, 5);
        refused("block 7 has more erases", erases, 7, 1 << 31);
        refused("block 7 has more invalid than programmed pages", 1, 7, 1);
        refused("block 8 does not exist", 3, 0, 8);
        let first = parts()[3][0];
        refused("stands in two lists", 3, 1, first);
        let closed = parts()[closed_at][0];
        refused("were closed at one moment", closed_at, 1, closed);
        refused("block 0 has more erases, or is older", closed_at + 1, 0, 1 << 30);
        refused("block 0 has an impossible stream", stream, 0, 256);
    }
}
