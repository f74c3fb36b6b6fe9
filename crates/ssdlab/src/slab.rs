//! Things that come and go, named by index: no allocation once there have been as many at once before.

use std::ops::{Index, IndexMut};

use crate::memory::{self, Exhausted};

/// A slab.
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

impl<T> Slab<T> {
    /// Sees to it that so many more can be stored, and any taken out, without growing.
    ///
    /// # Errors
    /// [`Exhausted`].
    pub fn make_room(&mut self, more: usize) -> Result<(), Exhausted> {
        memory::make_room(&mut self.slots, more.saturating_sub(self.free.len()))?;
        let all_free = self.slots.capacity() - self.free.len();
        memory::make_room(&mut self.free, all_free)
    }

    /// How many it has room for.
    pub fn capacity(&self) -> usize {
        self.slots.capacity()
    }

    /// Stores a thing and returns its index.
    #[inline]
    pub fn insert(&mut self, thing: T) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.slots[index as usize] = thing;
                index
            }
            None => {
                self.slots.push(thing);
                self.slots.len() as u32 - 1
            }
        }
    }

    /// All that are there, with their indices. This looks at every place: for recounts.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let mut is_free = vec![false; self.slots.len()];
        self.free.iter().for_each(|&index| is_free[index as usize] = true);
        (0_u32..).zip(&self.slots).filter(move |(index, _)| !is_free[*index as usize])
    }

    /// Frees a place.
    #[inline]
    pub fn remove(&mut self, index: u32) {
        self.free.push(index);
    }

    /// Things there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// There is nothing.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, index: u32) -> &T {
        &self.slots[index as usize]
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline(always)]
    fn index_mut(&mut self, index: u32) -> &mut T {
        &mut self.slots[index as usize]
    }
}
