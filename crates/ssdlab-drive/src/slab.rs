//! A slab: entries that come and go, each named by its place. Memory is allocated only when there are more entries than ever before.
//!
//! A name is an index type of its own ([`SlabId`]), so that a request cannot be looked up where a transaction is meant. Looking up an empty
//! place panics: its name is stale.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use ssdlab_base::units::SlabId;
use ssdlab_keys::memory::{self, Exhausted};

/// A place of a slab: an entry, and whether it is in use.
#[derive(Clone, Copy, Debug)]
struct Place<T> {
    thing: T,
    taken: bool,
}

/// A slab of entries `T` that are named by `I`.
#[derive(Clone, Debug)]
pub struct Slab<I, T> {
    places: Vec<Place<T>>,
    free: Vec<u32>,
    named_by: PhantomData<I>,
}

impl<I, T> Default for Slab<I, T> {
    fn default() -> Self {
        Slab { places: Vec::new(), free: Vec::new(), named_by: PhantomData }
    }
}

impl<I: SlabId, T> Slab<I, T> {
    /// Makes room for `more` further entries, so that storing them and removing any entry does not allocate.
    ///
    /// # Errors
    /// [`Exhausted`] if the memory is not available.
    pub fn make_room(&mut self, more: usize) -> Result<(), Exhausted> {
        memory::make_room(&mut self.places, more.saturating_sub(self.free.len()))?;
        let all_free = self.places.capacity() - self.free.len();
        memory::make_room(&mut self.free, all_free)
    }

    /// Number of entries that there is room for.
    pub fn capacity(&self) -> usize {
        self.places.capacity()
    }

    /// Stores an entry and returns its name.
    #[inline(always)]
    pub fn insert(&mut self, thing: T) -> I {
        self.insert_with(|| thing)
    }

    /// Stores an entry that `make` makes in its place, without a copy, and returns its name.
    #[inline(always)]
    pub fn insert_with(&mut self, make: impl FnOnce() -> T) -> I {
        let Some(number) = self.free.pop() else { return self.append(make()) };
        let place = &mut self.places[number as usize];
        place.taken = true;
        place.thing = make();
        I::new(number)
    }

    #[cold]
    fn append(&mut self, thing: T) -> I {
        self.places.push(Place { thing, taken: true });
        I::new(self.places.len() as u32 - 1)
    }

    /// All entries with their names. Visits every place: for recounts.
    pub fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        (0_u32..).zip(&self.places).filter(|(_, place)| place.taken).map(|(number, place)| (I::new(number), &place.thing))
    }

    /// Whether an entry has this name.
    #[inline]
    pub fn contains(&self, id: I) -> bool {
        self.places.get(id.number() as usize).is_some_and(|place| place.taken)
    }

    /// Removes an entry. Its name is stale from now on.
    #[inline]
    pub fn remove(&mut self, id: I) {
        let place = &mut self.places[id.number() as usize];
        assert!(place.taken, "{id:?} is stale: it is removed twice");
        place.taken = false;
        self.free.push(id.number());
    }

    /// Number of entries.
    #[inline]
    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Whether there are no entries.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<I: SlabId, T> Index<I> for Slab<I, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, id: I) -> &T {
        let place = &self.places[id.number() as usize];
        assert!(place.taken, "a stale name: nothing is there any more");
        &place.thing
    }
}

impl<I: SlabId, T> IndexMut<I> for Slab<I, T> {
    #[inline(always)]
    fn index_mut(&mut self, id: I) -> &mut T {
        let place = &mut self.places[id.number() as usize];
        assert!(place.taken, "a stale name: nothing is there any more");
        &mut place.thing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_base::units::TxnId;

    #[test]
    fn places_are_used_again() {
        let mut slab = Slab::<TxnId, u64>::default();
        let (a, b) = (slab.insert(7), slab.insert(8));
        slab.remove(a);
        assert_eq!((slab.len(), slab.contains(a), slab[b]), (1, false, 8));
        assert_eq!(slab.insert(9), a);
        assert_eq!(slab.iter().collect::<Vec<_>>(), [(a, &9), (b, &8)]);
    }

    #[test]
    #[should_panic(expected = "a stale name")]
    fn a_stale_name_is_noticed() {
        let mut slab = Slab::<TxnId, u64>::default();
        let id = slab.insert(7);
        slab.remove(id);
        let _ = slab[id];
    }
}
