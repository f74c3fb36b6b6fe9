//! SepBIT (Wang et al., FAST 2022): pages that are expected to become invalid at about the same time share blocks.
//!
//! The life of a version is inferred: that of a host write from the life of the version that it replaces, and that of a moved page from its
//! age. Lives and ages count pages written by the host. The paper's classes 1 and 2 are those of host writes, 3 to 6 those of page moves.

use super::{Class, LastWrites};
use crate::ftl::blocks::Columns;
use serde::{Deserialize, Serialize};
use ssdlab_base::units::{BlockId, Lpn};
use ssdlab_keys::config::Stream;

/// The class of host writes with a short life.
const SHORT: Class = 0;
const LONG: Class = 1;

/// Blocks of short lives that are collected between two updates of the threshold.
const BLOCKS_AVERAGED: u32 = 16;
/// Upper ends of the ages of the second and third class of page moves, in multiples of the threshold.
const AGES: [u64; 2] = [4, 16];

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SepBit {
    last: LastWrites,
    /// Page moves have streams of their own.
    parts_moves: bool,
    /// The threshold: the mean life of the last blocks of short lives that were collected. `u32::MAX`: none has been averaged yet.
    life: u32,
    /// Blocks of short lives collected since the last update of the threshold, and the sum of their lives.
    collected: u32,
    total: u64,
}

impl SepBit {
    pub(super) fn new(pages: u32, parts_moves: bool) -> Self {
        SepBit { last: LastWrites::new(pages), parts_moves, life: u32::MAX, collected: 0, total: 0 }
    }

    #[inline]
    pub(super) fn host_class(&self, lpn: Lpn, is_new: bool) -> Class {
        let replaced = self.last.age(lpn);
        if !is_new && replaced < self.life { SHORT } else { LONG }
    }

    pub(super) fn filled(&mut self, pages: u32) {
        self.last.filled(pages);
    }

    #[inline]
    pub(super) fn written(&mut self, lpn: Lpn) {
        self.last.written(lpn);
    }

    #[inline]
    pub(super) fn move_class(&self, lpn: Lpn, from: Stream) -> Class {
        if !self.parts_moves {
            // A block has data of the host and moved data: only the age tells their lives.
            return if u64::from(self.last.age(lpn)) < AGES[0] * u64::from(self.life) { SHORT } else { LONG };
        }
        if from == SHORT {
            return 0;
        }
        let (age, life) = (u64::from(self.last.age(lpn)), u64::from(self.life));
        1 + AGES.iter().filter(|&&times| age >= times * life).count() as Class
    }

    #[inline]
    pub(super) fn block_opened(&self, columns: &mut Columns, block: BlockId) {
        columns.opened_at[block.index()] = self.last.now;
    }

    pub(super) fn block_collected(&mut self, columns: &Columns, block: BlockId, from: Stream) {
        if from != SHORT {
            return;
        }
        self.total += u64::from(self.last.now.wrapping_sub(columns.opened_at[block.index()]));
        self.collected += 1;
        if self.collected == BLOCKS_AVERAGED {
            self.life = (self.total / u64::from(BLOCKS_AVERAGED)) as u32;
            (self.collected, self.total) = (0, 0);
        }
    }

    pub(super) fn parts(&self) -> Vec<Vec<u32>> {
        let rest = vec![self.last.now, self.life, self.collected, self.total as u32, (self.total >> 32) as u32];
        vec![rest, self.last.at.clone()]
    }

    pub(super) fn restore(&mut self, parts: &[Vec<u32>]) -> Result<(), String> {
        let [now, life, collected, low, high] = parts[0][..] else { unreachable!("the lengths are those of `parts`") };
        self.last = LastWrites { now, at: parts[1].clone() };
        (self.life, self.collected, self.total) = (life, collected, u64::from(low) | u64::from(high) << 32);
        Ok(())
    }
}
