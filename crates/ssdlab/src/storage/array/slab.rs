//! Places for what is under way, named by index and used again.

use std::ops::{Index, IndexMut};

/// "Nothing" in a link.
pub const NONE: u32 = u32::MAX;

/// A slab: what is stored keeps its place until it is removed.
#[derive(Clone, Debug)]
pub struct Slab<T> {
    slots: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T: Copy> Slab<T> {
    /// Stores an item and returns its place.
    #[inline]
    pub fn insert(&mut self, item: T) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.slots[place as usize] = item;
                place
            }
            None => {
                self.slots.push(item);
                self.slots.len() as u32 - 1
            }
        }
    }

    /// Takes out what is at a place.
    #[inline]
    pub fn remove(&mut self, place: u32) -> T {
        self.free.push(place);
        self.slots[place as usize]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// All that are there, with their places. For recounts: this looks at every place.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let mut is_free = vec![false; self.slots.len()];
        self.free.iter().for_each(|&place| is_free[place as usize] = true);
        (0_u32..).zip(&self.slots).filter(move |(place, _)| !is_free[*place as usize])
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, place: u32) -> &T {
        &self.slots[place as usize]
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline(always)]
    fn index_mut(&mut self, place: u32) -> &mut T {
        &mut self.slots[place as usize]
    }
}
