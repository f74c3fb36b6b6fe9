//! Which sectors of its page an entry of the cache holds.

/// Bytes of a sector.
pub const SECTOR_BYTES: u32 = 512;

/// Consecutive sectors of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sectors {
    /// The first sector.
    pub first: u32,
    /// One past the last sector.
    pub end: u32,
}

impl Sectors {
    /// The sectors that the bytes `from..to` of a page touch.
    #[inline]
    pub fn of_bytes((from, to): (u32, u32)) -> Self {
        Sectors { first: from / SECTOR_BYTES, end: to.div_ceil(SECTOR_BYTES) }
    }
}

/// The part of a page that an entry has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The whole page.
    Whole,
    /// Consecutive sectors.
    Part(Sectors),
    /// Sectors that are not consecutive.
    Scattered,
}

/// A bit for each sector of each entry.
#[derive(Clone, Debug)]
pub struct Held {
    bits: Vec<u64>,
    words: usize,
    sectors: u32,
}

impl Held {
    /// Entries without sectors: `entries` of `sectors` sectors each.
    pub fn new(entries: u32, sectors: u32) -> Self {
        let words = sectors.div_ceil(64) as usize;
        Held { bits: vec![0; entries as usize * words], words, sectors }
    }

    fn entry(&self, entry: u32) -> &[u64] {
        &self.bits[entry as usize * self.words..(entry as usize + 1) * self.words]
    }

    /// The bits of the sectors that fall into a word.
    #[inline]
    fn mask(word: usize, sectors: Sectors) -> u64 {
        let base = word as u32 * 64;
        let (first, end) = (sectors.first.clamp(base, base + 64) - base, sectors.end.clamp(base, base + 64) - base);
        let below = |bit: u32| if bit == 64 { u64::MAX } else { (1 << bit) - 1 };
        below(end) & !below(first)
    }

    /// Number of sectors of a page.
    pub fn sectors(&self) -> u32 {
        self.sectors
    }

    fn all(&self) -> Sectors {
        Sectors { first: 0, end: self.sectors }
    }

    /// The entry has these sectors from now on.
    #[inline]
    pub fn add(&mut self, entry: u32, sectors: Sectors) {
        let start = entry as usize * self.words;
        for (word, bits) in self.bits[start..start + self.words].iter_mut().enumerate() {
            *bits |= Self::mask(word, sectors);
        }
    }

    /// The entry has all sectors.
    pub fn fill(&mut self, entry: u32) {
        self.add(entry, self.all());
    }

    /// The entry has no sectors.
    #[inline]
    pub fn clear(&mut self, entry: u32) {
        let start = entry as usize * self.words;
        self.bits[start..start + self.words].fill(0);
    }

    /// The entry has all of these sectors.
    #[inline]
    pub fn covers(&self, entry: u32, sectors: Sectors) -> bool {
        self.entry(entry).iter().enumerate().all(|(word, bits)| {
            let mask = Self::mask(word, sectors);
            bits & mask == mask
        })
    }

    /// The part of the page that the entry has: at least one sector.
    pub fn extent(&self, entry: u32) -> Extent {
        if self.covers(entry, self.all()) {
            return Extent::Whole;
        }
        let held = self.entry(entry);
        let first = held.iter().position(|&bits| bits != 0).expect("a destaged entry has sectors");
        let last = held.iter().rposition(|&bits| bits != 0).expect("found from the other end");
        let sectors =
            Sectors { first: first as u32 * 64 + held[first].trailing_zeros(), end: last as u32 * 64 + 64 - held[last].leading_zeros() };
        if self.covers(entry, sectors) { Extent::Part(sectors) } else { Extent::Scattered }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_over_several_words() {
        let mut held = Held::new(2, 130);
        let sectors = |first, end| Sectors { first, end };
        held.add(1, sectors(60, 70));
        assert!(held.covers(1, sectors(60, 70)) && !held.covers(1, sectors(59, 61)) && !held.covers(0, sectors(60, 61)));
        assert_eq!(held.extent(1), Extent::Part(sectors(60, 70)));
        held.add(1, sectors(128, 130));
        assert_eq!(held.extent(1), Extent::Scattered);
        held.add(1, sectors(70, 128));
        assert_eq!(held.extent(1), Extent::Part(sectors(60, 130)));
        held.add(1, sectors(0, 64));
        assert_eq!(held.extent(1), Extent::Whole);
        held.clear(1);
        assert!(!held.covers(1, sectors(0, 1)) && !held.covers(1, sectors(129, 130)));
        assert_eq!(Sectors::of_bytes((511, 1025)), sectors(0, 3));
    }
}
