//! Number of distinct addresses that requests touch, in bounded memory.

use std::collections::BTreeMap;

/// Size of the units that are counted, bytes.
const UNIT_BYTES: u64 = 4096;
/// Units of one piece of the bitmap, which is allocated when the first of them is touched: 128 MiB of addresses in 4 KiB.
const PIECE_UNITS: u64 = 64 * WORDS as u64;
const WORDS: usize = 512;
/// Most pieces kept: 256 MiB of memory, for 8 TiB of addresses.
const PIECES_MAX: usize = 1 << 16;

/// Distinct units of 4 KiB of the volumes of a trace. Exact until they lie in more than 65,536 pieces of 128 MiB of addresses.
#[derive(Default)]
pub(super) struct Touched {
    /// By volume and number of the piece: a bit for each unit.
    pieces: BTreeMap<(u32, u64), Box<[u64; WORDS]>>,
    units: u64,
    is_full: bool,
}

impl Touched {
    /// A request touches bytes `offset` to `end` of a volume.
    pub(super) fn add(&mut self, volume: u32, offset: u64, end: u64) {
        if offset >= end || self.is_full {
            return;
        }
        let (mut from, until) = (offset / UNIT_BYTES, end.div_ceil(UNIT_BYTES));
        while from < until {
            let piece = from / PIECE_UNITS;
            let to = until.min((piece + 1) * PIECE_UNITS);
            if !self.add_in_piece((volume, piece), from % PIECE_UNITS, to - from) {
                return;
            }
            from = to;
        }
    }

    /// Touches `count` units of a piece from unit `from` on. Returns false if the piece has no place any more.
    fn add_in_piece(&mut self, piece: (u32, u64), from: u64, count: u64) -> bool {
        if self.pieces.len() == PIECES_MAX && !self.pieces.contains_key(&piece) {
            self.is_full = true;
            return false;
        }
        let words = self.pieces.entry(piece).or_insert_with(|| Box::new([0; WORDS]));
        let (first, last) = ((from / 64) as usize, ((from + count - 1) / 64) as usize);
        for (index, word) in words.iter_mut().enumerate().take(last + 1).skip(first) {
            let below = if index == first { (1 << (from % 64)) - 1 } else { 0 };
            let above = if index == last { !(u64::MAX >> (63 - (from + count - 1) % 64)) } else { 0 };
            let asked = !(below | above);
            self.units += u64::from((asked & !*word).count_ones());
            *word |= asked;
        }
        true
    }

    /// Bytes of the units touched.
    pub(super) fn bytes(&self) -> u64 {
        self.units.saturating_mul(UNIT_BYTES)
    }

    /// There may be more units than were counted.
    pub(super) fn is_lower_bound(&self) -> bool {
        self.is_full
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_base::rng::Rng;
    use std::collections::BTreeSet;

    #[test]
    fn units_are_counted_once_as_a_set_counts_them() {
        let (mut rng, mut touched, mut set) = (Rng::new(1, "touched"), Touched::default(), BTreeSet::new());
        for _ in 0..2_000 {
            // Around the border of two pieces.
            let (volume, offset) = (rng.below(2) as u32, PIECE_UNITS * UNIT_BYTES - 500_000 + rng.below(1_000_000));
            let end = offset + 1 + rng.below(400_000);
            touched.add(volume, offset, end);
            set.extend((offset..end).step_by(512).chain([end - 1]).map(|byte| (volume, byte / UNIT_BYTES)));
        }
        assert_eq!((touched.units, touched.bytes()), (set.len() as u64, 4096 * set.len() as u64));
        assert!(!touched.is_lower_bound() && touched.pieces.len() == 4);
    }

    #[test]
    fn memory_is_bounded_and_what_was_counted_stays() {
        let mut touched = Touched::default();
        for piece in 0..PIECES_MAX as u64 {
            touched.add(0, piece * PIECE_UNITS * UNIT_BYTES, piece * PIECE_UNITS * UNIT_BYTES + 1);
        }
        assert!(!touched.is_lower_bound());
        touched.add(1, 0, 1);
        assert_eq!((touched.is_lower_bound(), touched.units), (true, PIECES_MAX as u64));
    }
}
