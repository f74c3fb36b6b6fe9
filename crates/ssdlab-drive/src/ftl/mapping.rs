//! The page map, both ways, in one `u32` a page. A sequential fill touches neither array: the value 0, which untouched memory holds, means
//! "as the fill left it", so a terabyte drive starts at once.

use std::ops::{Index, IndexMut};

use crate::advice::{prefetch, use_huge_pages};
use serde::{Deserialize, Serialize};
use ssdlab_base::units::{Lpn, Ppn};
use ssdlab_keys::geometry::Geometry;

/// The entry of a page as the sequential fill left it: computed, not stored.
const AS_FILLED: u32 = 0;
/// The entry of a logical page that holds no data.
const NO_DATA: u32 = 1;
/// Added to the page numbers in entries, which are thus at least this.
const FIRST: u32 = 2;
/// Flag of the entry of a pinned logical page, one with host operations under way: the other bits are the index of its [`Pin`].
const PINNED: u32 = 1 << 31;
/// Entries in a line of a processor's cache, 64 bytes.
const LINE: usize = 16;
/// Entries in a small page of memory, 4 KiB.
const SMALL_PAGE: usize = 1024;
/// Large memory pages pay for the forward entries once one of every `FORWARD_SHARE` is accessed, each small page of memory eight times: the
/// first touch of a large page costs about as much as those of its small pages together, and sometimes more.
const FORWARD_SHARE: usize = SMALL_PAGE / 8;
/// Large memory pages pay for the backward entries once one of every `BACKWARD_SHARE` is written: a pool writes its pages in order, and
/// pools lie apart.
const BACKWARD_SHARE: usize = 8;

/// A logical page with host operations under way. The entry of the map is kept here meanwhile, so that finding a page's waiting
/// operations costs no search and no hashing.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Pin {
    entry: u32,
    /// The oldest and the youngest host operation on the page, which the scheduler keeps with the pin.
    payload: (u32, u32),
}

/// The map entries of one direction.
#[derive(Debug, Serialize, Deserialize)]
struct Entries {
    /// Not for `serde`: see [`Mapping::give_entries`].
    #[serde(skip)]
    stored: Vec<u32>,
    /// The memory of the entries comes in large pages.
    dense: bool,
}

impl Entries {
    fn new(stored: Vec<u32>) -> Self {
        Entries { stored, dense: false }
    }

    /// Uses large memory pages from now on: most entries will be touched.
    fn expect_dense(&mut self) {
        self.dense = true;
        use_huge_pages(&mut self.stored);
    }
}

impl Clone for Entries {
    /// A copy touches only memory that its original has touched.
    fn clone(&self) -> Self {
        let mut copy = Entries::new(vec![0; self.stored.len()]);
        if self.dense {
            copy.expect_dense();
        }
        for (from, to) in self.stored.chunks(SMALL_PAGE).zip(copy.stored.chunks_mut(SMALL_PAGE)) {
            if from.iter().any(|&entry| entry != 0) {
                to.copy_from_slice(from);
            }
        }
        copy
    }
}

impl Index<usize> for Entries {
    type Output = u32;

    #[inline(always)]
    fn index(&self, index: usize) -> &u32 {
        &self.stored[index]
    }
}

impl IndexMut<usize> for Entries {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut u32 {
        &mut self.stored[index]
    }
}

/// The page map.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Mapping {
    /// By logical page: its physical page.
    forward: Entries,
    /// By physical page: the logical page programmed there last.
    backward: Entries,
    /// Logical pages below this were filled.
    filled: u32,
    pins: Vec<Pin>,
    free_pins: Vec<u32>,
}

impl Mapping {
    /// A map without data.
    pub fn new(geometry: &Geometry) -> Self {
        Mapping {
            forward: Entries::new(vec![0; geometry.logical_units as usize]),
            backward: Entries::new(vec![0; geometry.units as usize]),
            filled: 0,
            pins: Vec::new(),
            free_pins: Vec::new(),
        }
    }

    /// Declares the logical pages below `pages` as written once in address order. Only on an empty map.
    pub fn fill(&mut self, pages: u32) {
        assert_eq!(self.filled, 0, "a drive is filled once");
        self.filled = pages;
    }

    #[inline(always)]
    fn entry(&self, lpn: Lpn) -> u32 {
        let entry = self.forward[lpn.index()];
        if entry & PINNED == 0 { entry } else { self.pins[(entry & !PINNED) as usize].entry }
    }

    #[inline(always)]
    fn entry_mut(&mut self, lpn: Lpn) -> &mut u32 {
        let entry = &mut self.forward[lpn.index()];
        if *entry & PINNED == 0 { entry } else { &mut self.pins[(*entry & !PINNED) as usize].entry }
    }

    /// Prefetches the map entry of a logical page.
    #[inline(always)]
    pub fn prefetch(&self, lpn: Lpn) {
        prefetch(&self.forward.stored, lpn.index());
    }

    /// Prefetches the backward entries of the pages one line of the processor's cache behind this one.
    #[inline(always)]
    pub fn prefetch_content_behind(&self, ppn: Ppn) {
        prefetch(&self.backward.stored, ppn.index() + LINE);
    }

    /// Prefetches the map entries of the logical pages that some physical pages hold: bit n of `bits` means page `source` + n.
    #[inline(always)]
    pub fn prefetch_pages(&self, geometry: &Geometry, source: Ppn, bits: u64) {
        let mut left = bits;
        while left != 0 {
            self.prefetch(self.content(geometry, Ppn(source.0 + left.trailing_zeros())));
            left &= left - 1;
        }
    }

    /// Announces `pages` look-ups or writes anywhere in the map: an array that these touch for the most part gets large memory pages.
    pub fn expect_accesses(&mut self, pages: u64) {
        if pages >= (self.forward.stored.len() / FORWARD_SHARE) as u64 {
            self.forward.expect_dense();
        }
        if pages >= (self.backward.stored.len() / BACKWARD_SHARE) as u64 {
            self.backward.expect_dense();
        }
    }

    /// The physical page of a logical page, or `None` if it holds no data.
    #[inline(always)]
    pub fn lookup(&self, geometry: &Geometry, lpn: Lpn) -> Option<Ppn> {
        self.place(geometry, lpn, self.entry(lpn))
    }

    /// The physical page that an entry of a logical page means, or `None` for no data.
    #[inline(always)]
    fn place(&self, geometry: &Geometry, lpn: Lpn, entry: u32) -> Option<Ppn> {
        match entry {
            AS_FILLED if lpn.0 < self.filled => Some(geometry.filled_place(lpn)),
            AS_FILLED | NO_DATA => None,
            stored => Some(Ppn(stored - FIRST)),
        }
    }

    /// Maps a logical page to `ppn`. Returns its physical page before, if it held data.
    #[inline(always)]
    pub fn set(&mut self, geometry: &Geometry, lpn: Lpn, ppn: Ppn) -> Option<Ppn> {
        let before = std::mem::replace(self.entry_mut(lpn), ppn.0 + FIRST);
        self.place(geometry, lpn, before)
    }

    /// Unmaps a logical page. Returns its physical page before, if it held data.
    #[inline]
    pub fn clear(&mut self, geometry: &Geometry, lpn: Lpn) -> Option<Ppn> {
        let before = std::mem::replace(self.entry_mut(lpn), NO_DATA);
        self.place(geometry, lpn, before)
    }

    /// Maps a logical page to `to` if it is mapped to `from`; else changes nothing and returns false.
    #[inline(always)]
    pub fn relocate(&mut self, geometry: &Geometry, lpn: Lpn, from: Ppn, to: Ppn) -> bool {
        let entry = &mut self.forward[lpn.index()];
        // Most often the entry is stored and not pinned, and needs no arithmetic.
        if *entry == from.0 + FIRST {
            *entry = to.0 + FIRST;
            return true;
        }
        let current = self.lookup(geometry, lpn) == Some(from);
        if current {
            *self.entry_mut(lpn) = to.0 + FIRST;
        }
        current
    }

    /// Moves valid pages to the pages from `to` on; bit n of `bits` means page `source` + n. Returns their number.
    ///
    /// # Panics
    /// If a page is mapped elsewhere.
    #[inline(always)]
    pub fn move_pages(&mut self, geometry: &Geometry, source: Ppn, bits: u64, to: Ppn) -> u32 {
        let (mut left, mut to) = (bits, to);
        while left != 0 {
            let from = Ppn(source.0 + left.trailing_zeros());
            let lpn = self.content(geometry, from);
            assert!(self.relocate(geometry, lpn, from, to), "page {lpn} is valid at {from} but mapped elsewhere");
            self.program(to, lpn);
            (left, to) = (left & (left - 1), Ppn(to.0 + 1));
        }
        bits.count_ones()
    }

    /// Notes which logical page is programmed at a physical page.
    #[inline(always)]
    pub fn program(&mut self, ppn: Ppn, lpn: Lpn) {
        self.backward[ppn.index()] = lpn.0 + FIRST;
    }

    /// The logical page that was programmed last at a physical page. Only for a page programmed since its block was erased.
    #[inline(always)]
    pub fn content(&self, geometry: &Geometry, ppn: Ppn) -> Lpn {
        match self.backward[ppn.index()] {
            AS_FILLED => geometry.filled_content(ppn),
            stored => Lpn(stored - FIRST),
        }
    }

    /// The payload of a logical page's pin, if it is pinned.
    #[inline(always)]
    pub fn pinned(&self, lpn: Lpn) -> Option<(u32, u32)> {
        let entry = self.forward[lpn.index()];
        (entry & PINNED != 0).then(|| self.pins[(entry & !PINNED) as usize].payload)
    }

    /// Pins a logical page that is not pinned.
    #[inline]
    pub fn pin(&mut self, lpn: Lpn, payload: (u32, u32)) {
        let entry = self.forward[lpn.index()];
        assert!(entry & PINNED == 0, "page {lpn} is pinned already");
        let pin = Pin { entry, payload };
        let index = match self.free_pins.pop() {
            Some(index) => {
                self.pins[index as usize] = pin;
                index
            }
            None => {
                self.pins.push(pin);
                self.pins.len() as u32 - 1
            }
        };
        self.forward[lpn.index()] = PINNED | index;
    }

    /// Changes the payload of a pinned page.
    #[inline]
    pub fn set_pin(&mut self, lpn: Lpn, payload: (u32, u32)) {
        let entry = self.forward[lpn.index()];
        assert!(entry & PINNED != 0, "page {lpn} is not pinned");
        self.pins[(entry & !PINNED) as usize].payload = payload;
    }

    /// Releases the pin of a logical page.
    #[inline]
    pub fn unpin(&mut self, lpn: Lpn) {
        let entry = self.forward[lpn.index()];
        assert!(entry & PINNED != 0, "page {lpn} is not pinned");
        let index = entry & !PINNED;
        self.forward[lpn.index()] = self.pins[index as usize].entry;
        self.free_pins.push(index);
    }

    /// The forward and the backward array, and the number of filled pages, for saving. Only when no page is pinned.
    pub fn parts(&self) -> (&[u32], &[u32], u32) {
        assert_eq!(self.pins.len(), self.free_pins.len(), "a drive with operations under way cannot be saved");
        (&self.forward.stored, &self.backward.stored, self.filled)
    }

    /// Gives a map that `serde` has read its entries, which are not among what that reads.
    pub fn give_entries(&mut self, forward: Vec<u32>, backward: Vec<u32>) {
        for (entries, stored) in [(&mut self.forward, forward), (&mut self.backward, backward)] {
            entries.stored = stored;
            if entries.dense {
                entries.expect_dense();
            }
        }
    }

    /// The inverse of [`Mapping::parts`].
    ///
    /// # Errors
    /// A message if an entry names a page that the drive does not have.
    pub fn from_parts(geometry: &Geometry, forward: Vec<u32>, backward: Vec<u32>, filled: u32) -> Result<Self, String> {
        let names = |pages: u32| move |&entry: &u32| entry < FIRST || entry - FIRST < pages;
        if filled > geometry.logical_units
            || !forward.iter().all(names(geometry.units))
            || backward.contains(&NO_DATA)
            || !backward.iter().all(names(geometry.logical_units))
        {
            return Err("it maps pages that the drive does not have".to_string());
        }
        let (forward, backward) = (Entries::new(forward), Entries::new(backward));
        let mut map = Mapping { forward, backward, filled, pins: Vec::new(), free_pins: Vec::new() };
        let stored = map.forward.stored.iter().filter(|&&entry| entry != AS_FILLED).count();
        map.expect_accesses(stored as u64);
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_keys::config::Config;

    #[test]
    fn a_copy_has_every_entry_whether_dense_or_not() {
        let geometry = Geometry::new(&Config::default());
        let mut map = Mapping::new(&geometry);
        map.fill(geometry.exported_units / 2);
        let (first, last) = (Lpn(7), Lpn(geometry.exported_units - 1));
        assert_eq!(map.set(&geometry, first, Ppn(99)), Some(geometry.filled_place(first)));
        assert_eq!(map.set(&geometry, last, Ppn(5)), None);
        map.program(Ppn(99), first);
        map.pin(last, (1, 2));
        for dense in [false, true] {
            if dense {
                map.expect_accesses(u64::from(geometry.units));
            }
            let copy = map.clone();
            assert_eq!(copy.forward.stored, map.forward.stored);
            assert_eq!(copy.backward.stored, map.backward.stored);
            assert_eq!([copy.forward.dense, copy.backward.dense], [dense; 2]);
            assert_eq!((copy.lookup(&geometry, first), copy.lookup(&geometry, last)), (Some(Ppn(99)), Some(Ppn(5))));
            assert_eq!((copy.pinned(last), copy.content(&geometry, Ppn(99))), (Some((1, 2)), first));
        }
    }

    #[test]
    fn a_few_accesses_keep_small_pages() {
        let geometry = Geometry::new(&Config::default());
        let mut map = Mapping::new(&geometry);
        let mut dense_after = |accesses: u32| {
            map.expect_accesses(accesses.into());
            [map.forward.dense, map.backward.dense]
        };
        assert_eq!(dense_after(geometry.exported_units / 128 - 1), [false, false]);
        assert_eq!(dense_after(geometry.exported_units / 128), [true, false]);
        assert_eq!(dense_after(geometry.units / 8), [true, true]);
    }

    #[test]
    fn a_loaded_map_takes_large_pages_only_where_much_of_it_is_stored() {
        let geometry = Geometry::new(&Config::default());
        let dense_with = |stored: u32| {
            let mut map = Mapping::new(&geometry);
            map.fill(geometry.exported_units);
            (0..stored).for_each(|lpn| _ = map.set(&geometry, Lpn(lpn), Ppn(lpn)));
            let (forward, backward, filled) = map.parts();
            let map = Mapping::from_parts(&geometry, forward.to_vec(), backward.to_vec(), filled).unwrap();
            [map.forward.dense, map.backward.dense]
        };
        assert_eq!(dense_with(1), [false, false]);
        assert_eq!(dense_with(geometry.exported_units / 2), [true, true]);
    }

    #[test]
    fn a_page_is_relocated_only_from_where_it_lies() {
        let geometry = Geometry::new(&Config::default());
        let mut map = Mapping::new(&geometry);
        map.fill(10);
        let filled = geometry.filled_place(Lpn(3));
        assert!(!map.relocate(&geometry, Lpn(3), Ppn(filled.0 + 1), Ppn(50)));
        assert!(map.relocate(&geometry, Lpn(3), filled, Ppn(50)));
        assert!(map.relocate(&geometry, Lpn(3), Ppn(50), Ppn(51)));
        assert!(!map.relocate(&geometry, Lpn(10), Ppn(50), Ppn(52)));
        assert_eq!(map.clear(&geometry, Lpn(3)), Some(Ppn(51)));
        assert!(!map.relocate(&geometry, Lpn(3), Ppn(51), Ppn(50)));
        assert_eq!(map.clear(&geometry, Lpn(3)), None);
    }
}
