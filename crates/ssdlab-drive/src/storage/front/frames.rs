//! Frames of the cache: free frames, frames in transit (their evicted page is being destaged), and the entries that wait for them.

use std::collections::VecDeque;

use crate::lists::NONE;
use crate::slab::Slab;

/// The next owner of the frame of a page in destage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// No entry waits for the frame.
    None,
    /// The page of this entry gets the frame.
    Entry(u32),
    /// The page that waited for the frame is in destage itself; the transit of that page accounts for the frame.
    InDestage,
}

/// A page in destage, and the frame that it occupies until the destage has ended.
#[derive(Clone, Copy, Debug)]
struct Transit {
    owner: Owner,
    /// The request to the lower level that writes the page.
    op: u32,
    /// The next page that the same request writes, or [`NONE`].
    next: u32,
}

/// The frames of a cache. Invariant: free + unclaimed = capacity - cached pages.
#[derive(Clone, Debug)]
pub struct Frames {
    free: u32,
    transits: Slab<u32, Transit>,
    /// Transits that no entry waits for, in the order of their eviction.
    unclaimed: VecDeque<u32>,
    /// By entry: the transit whose frame it waits for, or [`NONE`].
    claims: Vec<u32>,
}

impl Frames {
    /// `capacity` free frames, for a cache with `entries` entries.
    pub fn new(capacity: u32, entries: u32) -> Self {
        Frames { free: capacity, transits: Slab::default(), unclaimed: VecDeque::new(), claims: vec![NONE; entries as usize] }
    }

    /// Number of frames that are free, or in transit with no entry waiting for them.
    pub fn spare(&self) -> u32 {
        self.free + self.unclaimed.len() as u32
    }

    /// Assigns a frame to a page inserted as `entry`. Returns the transit whose frame the page waits for, if no frame is free.
    #[inline]
    pub fn take(&mut self, entry: u32) -> Option<u32> {
        if self.free > 0 {
            self.free -= 1;
            self.claims[entry as usize] = NONE;
            return None;
        }
        let transit = self.unclaimed.pop_front().expect("each frame without a cached page is free or in transit");
        self.transits[transit].owner = Owner::Entry(entry);
        self.claims[entry as usize] = transit;
        Some(transit)
    }

    /// The request to the lower level that must end before `entry` has a frame; `None` if it has one.
    #[inline]
    pub fn awaited(&self, entry: u32) -> Option<u32> {
        let claim = self.claims[entry as usize];
        (claim != NONE).then(|| self.transits[claim].op)
    }

    /// The request to the lower level that writes the page of a transit.
    pub fn op(&self, transit: u32) -> u32 {
        self.transits[transit].op
    }

    /// A clean page leaves `entry`. Its frame becomes free; if it still waited for the frame of a page in destage, no entry waits for that
    /// frame any longer.
    pub fn give_back(&mut self, entry: u32) {
        match std::mem::replace(&mut self.claims[entry as usize], NONE) {
            NONE => self.free += 1,
            transit => {
                self.transits[transit].owner = Owner::None;
                self.unclaimed.push_back(transit);
            }
        }
    }

    /// A dirty page leaves `entry` to be destaged. Returns the transit of the page.
    #[inline]
    pub fn send(&mut self, entry: u32) -> u32 {
        let claim = std::mem::replace(&mut self.claims[entry as usize], NONE);
        if claim != NONE {
            self.transits[claim].owner = Owner::InDestage;
        }
        let transit = self.transits.insert(Transit { owner: Owner::None, op: NONE, next: NONE });
        self.unclaimed.push_back(transit);
        transit
    }

    /// Records that request `op` writes the page of `transit`; `next` is the next transit that `op` writes, or [`NONE`].
    pub fn written_by(&mut self, transit: u32, op: u32, next: u32) {
        self.transits[transit].op = op;
        self.transits[transit].next = next;
    }

    /// Plants a defect: counts one free frame too many.
    pub(super) fn plant_free(&mut self) {
        self.free += 1;
    }

    /// The request that writes `transit`, and the transits linked to it, has ended.
    pub fn arrived(&mut self, mut transit: u32) {
        while transit != NONE {
            let Transit { owner, next, .. } = self.transits[transit];
            match owner {
                Owner::Entry(entry) => self.claims[entry as usize] = NONE,
                Owner::InDestage => {}
                Owner::None => {
                    let place = self.unclaimed.iter().position(|&other| other == transit).expect("unclaimed transits are listed");
                    self.unclaimed.remove(place);
                    self.free += 1;
                }
            }
            self.transits.remove(transit);
            transit = next;
        }
    }
}
