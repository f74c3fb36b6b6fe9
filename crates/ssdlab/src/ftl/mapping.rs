//! The page map, both ways, in one `u32` a page. Neither array is touched by a sequential fill: the value 0, which untouched memory
//! holds, stands for "as the fill left it", so a terabyte drive starts at once.

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

/// A logical page with host operations under way. The entry of the map is kept here meanwhile, so that finding a page's waiting
/// operations costs no search and no hashing.
#[derive(Clone, Copy, Debug)]
struct Pin {
    entry: u32,
    /// What the owner of the pin keeps with it: the oldest and the youngest operation on the page.
    payload: (u32, u32),
}

/// The page map.
#[derive(Clone, Debug)]
pub struct Mapping {
    /// By logical page: where it lies.
    forward: Vec<u32>,
    /// By physical page: what was programmed there last.
    backward: Vec<u32>,
    /// Logical pages below this were filled.
    filled: u32,
    pins: Vec<Pin>,
    free_pins: Vec<u32>,
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

    /// The stored entry of a logical page, whatever it means: only to bring it into the cache.
    #[inline(always)]
    pub fn raw(&self, lpn: Lpn) -> u32 {
        self.forward[lpn.index()]
    }

    /// Where a logical page lies, or `None` if it holds no data.
    #[inline(always)]
    pub fn lookup(&self, geometry: &Geometry, lpn: Lpn) -> Option<Ppn> {
        match self.entry(lpn) {
            AS_FILLED if lpn.0 < self.filled => Some(geometry.filled_place(lpn)),
            AS_FILLED | NO_DATA => None,
            stored => Some(Ppn(stored - FIRST)),
        }
    }

    /// Sets or clears where a logical page lies.
    #[inline(always)]
    pub fn set(&mut self, lpn: Lpn, place: Option<Ppn>) {
        let entry = match place {
            Some(ppn) => ppn.0 + FIRST,
            None => NO_DATA,
        };
        let slot = &mut self.forward[lpn.index()];
        if *slot & PINNED == 0 {
            *slot = entry;
        } else {
            self.pins[(*slot & !PINNED) as usize].entry = entry;
        }
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
        Mapping { forward, backward, filled, pins: Vec::new(), free_pins: Vec::new() }
    }
}
