//! Fully associative log zones (FAST: Lee et al., ACM Transactions on Embedded Computing Systems 2007): one log zone takes writes in order from the first
//! unit of a block on, the others take all else, of any block. The oldest of these is emptied by merges of all blocks that have data there.

use super::blocks::Goes;
use super::space::Space;
use std::collections::VecDeque;

/// The log zones.
#[derive(Debug)]
pub struct Fast {
    /// The block that is written in order, and its log zone.
    sequential: Option<(u32, u32)>,
    /// The other log zones, oldest first.
    others: VecDeque<u32>,
    most: usize,
}

impl Fast {
    /// `most`: log zones beside the sequential one.
    pub fn new(most: u32) -> Self {
        Fast { sequential: None, others: VecDeque::new(), most: most as usize }
    }

    /// Where a write of a block goes that begins at an offset. `written`: units of a zone.
    pub fn place(&mut self, block: u32, offset: u32, written: impl Fn(u32) -> u32, capacity: u32, space: &Space) -> Goes {
        match self.sequential {
            None if offset == 0 => return Goes::ToNew,
            Some((of, _)) if offset == 0 => return Goes::AfterMerge(of),
            Some((of, zone)) if of == block => {
                return if written(zone) == offset { Goes::To(zone) } else { Goes::AfterMerge(block) };
            }
            _ => {}
        }
        match self.others.back() {
            Some(&zone) if written(zone) < capacity => Goes::To(zone),
            _ if self.others.len() < self.most => Goes::ToNew,
            _ => {
                let oldest = self.others[0];
                let mut places = oldest * capacity..(oldest + 1) * capacity;
                places.find_map(|place| space.owner(place)).map_or(Goes::AfterEmpty(oldest), |unit| Goes::AfterMerge(unit / capacity))
            }
        }
    }

    /// A log zone was opened for a write of a block that begins at an offset.
    pub fn opened(&mut self, block: u32, offset: u32, zone: u32) {
        if offset == 0 { self.sequential = Some((block, zone)) } else { self.others.push_back(zone) }
    }

    /// The sequential log zone, if it is of this block.
    pub fn sequential_of(&self, block: u32) -> Option<u32> {
        self.sequential.filter(|&(of, _)| of == block).map(|(_, zone)| zone)
    }

    /// A block has been merged. Returns the sequential log zone, if it was of the block.
    pub fn merged(&mut self, block: u32) -> Option<u32> {
        let zone = self.sequential_of(block)?;
        self.sequential = None;
        Some(zone)
    }

    /// A log zone without newest data has been given up.
    pub fn gave_up(&mut self, zone: u32) {
        self.others.retain(|&other| other != zone);
    }

    /// Number of log zones.
    pub fn count(&self) -> usize {
        self.others.len() + usize::from(self.sequential.is_some())
    }
}
