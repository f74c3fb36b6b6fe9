//! Frames of the cache: what is free, what is in use though the policy has forgotten its page, and who waits for it.

use std::collections::VecDeque;

use crate::lists::NONE;
use crate::slab::Slab;

/// Who gets the frame of a page in destage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// Nobody yet.
    Nobody,
    /// This entry.
    Entry(u32),
    /// It counts as that of the page that had been waiting for it and is in destage itself by now.
    Passed,
}

/// A page in destage.
#[derive(Clone, Copy, Debug)]
struct Transit {
    owner: Owner,
    /// The operation below that writes it.
    op: u32,
    /// The next page of the same operation, or [`NONE`].
    next: u32,
}

/// The frames of a cache. Those not held by kept pages are free or in transit: free + unclaimed = capacity - kept, always.
#[derive(Clone, Debug)]
pub struct Frames {
    free: u32,
    transits: Slab<u32, Transit>,
    /// Transits that nobody waits for, the longest evicted first.
    unclaimed: VecDeque<u32>,
    /// By entry: the transit whose frame it waits for, or [`NONE`].
    claims: Vec<u32>,
}

impl Frames {
    /// So many, all free, for so many entries.
    pub fn new(capacity: u32, entries: u32) -> Self {
        Frames { free: capacity, transits: Slab::default(), unclaimed: VecDeque::new(), claims: vec![NONE; entries as usize] }
    }

    /// Frames that no kept page has or waits for.
    pub fn spare(&self) -> u32 {
        self.free + self.unclaimed.len() as u32
    }

    /// A page becomes kept as `entry`. Returns the transit whose frame it waits for, if none is free.
    #[inline]
    pub fn take(&mut self, entry: u32) -> Option<u32> {
        if self.free > 0 {
            self.free -= 1;
            self.claims[entry as usize] = NONE;
            return None;
        }
        let transit = self.unclaimed.pop_front().expect("a frame is free or in transit for every page that is not kept");
        self.transits[transit].owner = Owner::Entry(entry);
        self.claims[entry as usize] = transit;
        Some(transit)
    }

    /// The operation whose end an entry's frame waits for.
    #[inline]
    pub fn awaited(&self, entry: u32) -> Option<u32> {
        let claim = self.claims[entry as usize];
        (claim != NONE).then(|| self.transits[claim].op)
    }

    /// The operation that writes a transit.
    pub fn op(&self, transit: u32) -> u32 {
        self.transits[transit].op
    }

    /// The page of an entry goes, clean: its frame is free, or as far as it was.
    pub fn give_back(&mut self, entry: u32) {
        match std::mem::replace(&mut self.claims[entry as usize], NONE) {
            NONE => self.free += 1,
            transit => {
                self.transits[transit].owner = Owner::Nobody;
                self.unclaimed.push_back(transit);
            }
        }
    }

    /// The page of an entry goes, and is to be written below: its frame is in transit.
    #[inline]
    pub fn send(&mut self, entry: u32) -> u32 {
        let claim = std::mem::replace(&mut self.claims[entry as usize], NONE);
        if claim != NONE {
            self.transits[claim].owner = Owner::Passed;
        }
        let transit = self.transits.insert(Transit { owner: Owner::Nobody, op: NONE, next: NONE });
        self.unclaimed.push_back(transit);
        transit
    }

    /// A transit is written by this operation, of which `next` is another.
    pub fn written_by(&mut self, transit: u32, op: u32, next: u32) {
        self.transits[transit].op = op;
        self.transits[transit].next = next;
    }

    /// Plants a defect: a frame more than there are.
    pub(super) fn plant_free(&mut self) {
        self.free += 1;
    }

    /// The operation that writes `transit` and those after it has ended.
    pub fn arrived(&mut self, mut transit: u32) {
        while transit != NONE {
            let Transit { owner, next, .. } = self.transits[transit];
            match owner {
                Owner::Entry(entry) => self.claims[entry as usize] = NONE,
                Owner::Passed => {}
                Owner::Nobody => {
                    let place = self.unclaimed.iter().position(|&other| other == transit).expect("what nobody waits for is listed");
                    self.unclaimed.remove(place);
                    self.free += 1;
                }
            }
            self.transits.remove(transit);
            transit = next;
        }
    }
}
