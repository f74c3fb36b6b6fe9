//! Block-associative log zones (BAST: Kim et al., IEEE Transactions on Consumer Electronics 2002): a log zone is of one block. The block whose log zone
//! was written longest ago gives it up.

use super::blocks::Goes;
use super::space::NOWHERE;
use std::collections::VecDeque;

/// Which block has which log zone.
#[derive(Debug)]
pub struct Bast {
    /// By block: its log zone, or [`NOWHERE`].
    logs: Vec<u32>,
    /// Blocks with a log zone, that written longest ago first.
    used: VecDeque<u32>,
    most: usize,
}

impl Bast {
    pub fn new(blocks: u32, most: u32) -> Self {
        Bast { logs: vec![NOWHERE; blocks as usize], used: VecDeque::new(), most: most as usize }
    }

    /// Where a write of a block goes. `has_room`: of a log zone.
    pub fn place(&mut self, block: u32, has_room: impl Fn(u32) -> bool) -> Goes {
        match self.log_of(block) {
            Some(zone) if has_room(zone) => {
                self.used.retain(|&other| other != block);
                self.used.push_back(block);
                Goes::To(zone)
            }
            Some(_) => Goes::AfterMerge(block),
            None if self.used.len() < self.most => Goes::ToNew,
            None => Goes::AfterMerge(self.used[0]),
        }
    }

    /// A log zone was opened for a block.
    pub fn opened(&mut self, block: u32, zone: u32) {
        self.logs[block as usize] = zone;
        self.used.push_back(block);
    }

    /// The log zone of a block.
    pub fn log_of(&self, block: u32) -> Option<u32> {
        Some(self.logs[block as usize]).filter(|&zone| zone != NOWHERE)
    }

    /// A block has been merged. Returns the log zone that it had.
    pub fn merged(&mut self, block: u32) -> Option<u32> {
        let log = self.log_of(block);
        self.logs[block as usize] = NOWHERE;
        self.used.retain(|&other| other != block);
        log
    }

    /// Number of log zones.
    pub fn count(&self) -> usize {
        self.used.len()
    }
}
