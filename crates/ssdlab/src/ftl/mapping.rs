//! The page map, both ways, in one `u32` a page. Neither array is touched by a sequential fill: the value 0, which untouched memory
//! holds, stands for "as the fill left it", so a terabyte drive starts at once.

use crate::advice::{prefetch, use_huge_pages};
use crate::geometry::Geometry;
use crate::units::{Lpn, Ppn};

/// As the sequential fill left it: computed, not stored.
const AS_FILLED: u32 = 0;
/// No data.
const NO_DATA: u32 = 1;
/// Stored page numbers start here.
const FIRST: u32 = 2;
/// The entry of a logical page with host operations under way: the other bits name its [`Pin`].
const PINNED: u32 = 1 << 31;
/// A saved map of which one entry in so many is stored is taken for densely written.
const DENSE_SHARE: usize = 16;

/// A logical page with host operations under way. The entry of the map is kept here meanwhile, so that finding a page's waiting
/// operations costs no search and no hashing.
#[derive(Clone, Copy, Debug)]
struct Pin {
    entry: u32,
    /// What the owner of the pin keeps with it: the oldest and the youngest operation on the page.
    payload: (u32, u32),
}

/// The page map.
#[derive(Debug)]
pub struct Mapping {
    /// By logical page: where it lies.
    forward: Vec<u32>,
    /// By physical page: what was programmed there last.
    backward: Vec<u32>,
    /// Logical pages below this were filled.
    filled: u32,
    pins: Vec<Pin>,
    free_pins: Vec<u32>,
    /// Most pages are or will be written.
    dense: bool,
}

impl Clone for Mapping {
    fn clone(&self) -> Self {
        let copy = |array: &[u32]| {
            let mut copy = vec![0; array.len()];
            if self.dense {
                use_huge_pages(&mut copy);
            }
            copy_touched(array, &mut copy);
            copy
        };
        Mapping {
            forward: copy(&self.forward),
            backward: copy(&self.backward),
            filled: self.filled,
            pins: self.pins.clone(),
            free_pins: self.free_pins.clone(),
            dense: self.dense,
        }
    }
}

/// Copies an array into one of zeros, but does not touch memory for zeros.
fn copy_touched(from: &[u32], to: &mut [u32]) {
    const CHUNK: usize = 1024;
    for (from, to) in from.chunks(CHUNK).zip(to.chunks_mut(CHUNK)) {
        if from.iter().any(|&entry| entry != 0) {
            to.copy_from_slice(from);
        }
    }
}

impl Mapping {
    /// A map without data.
    pub fn new(geometry: &Geometry) -> Self {
        Mapping {
            forward: vec![0; geometry.exported_pages as usize],
            backward: vec![0; geometry.pages as usize],
            filled: 0,
            pins: Vec::new(),
            free_pins: Vec::new(),
            dense: false,
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

    /// Asks for the entry of a logical page ahead of its use.
    #[inline(always)]
    pub fn prefetch(&self, lpn: Lpn) {
        prefetch(&self.forward, lpn.index());
    }

    /// Most pages will be written: memory comes in large pages from now on.
    pub fn expect_dense(&mut self) {
        self.dense = true;
        use_huge_pages(&mut self.forward);
        use_huge_pages(&mut self.backward);
    }

    /// Where a logical page lies, or `None` if it holds no data.
    #[inline(always)]
    pub fn lookup(&self, geometry: &Geometry, lpn: Lpn) -> Option<Ppn> {
        self.place(geometry, lpn, self.entry(lpn))
    }

    /// What an entry of a logical page means.
    #[inline(always)]
    fn place(&self, geometry: &Geometry, lpn: Lpn, entry: u32) -> Option<Ppn> {
        match entry {
            AS_FILLED if lpn.0 < self.filled => Some(geometry.filled_place(lpn)),
            AS_FILLED | NO_DATA => None,
            stored => Some(Ppn(stored - FIRST)),
        }
    }

    /// Sets where a logical page lies. Returns where it lay before.
    #[inline(always)]
    pub fn set(&mut self, geometry: &Geometry, lpn: Lpn, ppn: Ppn) -> Option<Ppn> {
        let before = std::mem::replace(self.entry_mut(lpn), ppn.0 + FIRST);
        self.place(geometry, lpn, before)
    }

    /// A logical page holds no data any more. Returns where it lay before.
    #[inline]
    pub fn clear(&mut self, geometry: &Geometry, lpn: Lpn) -> Option<Ppn> {
        let before = std::mem::replace(self.entry_mut(lpn), NO_DATA);
        self.place(geometry, lpn, before)
    }

    /// A logical page that lies at `from` lies at `to` from now on. Returns false, with nothing changed, if it lies elsewhere or nowhere.
    #[inline(always)]
    pub fn relocate(&mut self, geometry: &Geometry, lpn: Lpn, from: Ppn, to: Ppn) -> bool {
        let entry = &mut self.forward[lpn.index()];
        // Most often it is stored and not pinned, and needs no arithmetic.
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

    /// The stored arrays and the fill, for saving. Only when nothing is pinned.
    pub fn parts(&self) -> (&[u32], &[u32], u32) {
        assert_eq!(self.pins.len(), self.free_pins.len(), "a drive with operations under way cannot be saved");
        (&self.forward, &self.backward, self.filled)
    }

    /// The inverse of [`Mapping::parts`].
    pub fn from_parts(forward: Vec<u32>, backward: Vec<u32>, filled: u32) -> Self {
        let mut map = Mapping { forward, backward, filled, pins: Vec::new(), free_pins: Vec::new(), dense: false };
        let stored = map.forward.iter().filter(|&&entry| entry != AS_FILLED).count();
        if stored >= map.forward.len() / DENSE_SHARE {
            map.expect_dense();
        }
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn a_copy_has_every_entry_whether_dense_or_not() {
        let geometry = Geometry::new(&Config::default());
        let mut map = Mapping::new(&geometry);
        map.fill(geometry.exported_pages / 2);
        let (first, last) = (Lpn(7), Lpn(geometry.exported_pages - 1));
        assert_eq!(map.set(&geometry, first, Ppn(99)), Some(geometry.filled_place(first)));
        assert_eq!(map.set(&geometry, last, Ppn(5)), None);
        map.program(Ppn(99), first);
        map.pin(last, (1, 2));
        for dense in [false, true] {
            if dense {
                map.expect_dense();
            }
            let copy = map.clone();
            assert_eq!((&copy.forward, &copy.backward), (&map.forward, &map.backward));
            assert_eq!((copy.lookup(&geometry, first), copy.lookup(&geometry, last)), (Some(Ppn(99)), Some(Ppn(5))));
            assert_eq!((copy.pinned(last), copy.content(&geometry, Ppn(99))), (Some((1, 2)), first));
        }
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
