//! A small table of units, by their number: a few thousand of a drive's thousand millions, so that it stays in the processor's cache, where
//! an array over all units would not. Open addressing in a flat array.

use crate::lists::NONE;
use ssdlab_keys::memory::Exhausted;

/// A map from some units to a number each, which is not [`NONE`].
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// Unit and number; the number is [`NONE`] in an empty place.
    places: Vec<(u32, u32)>,
    len: usize,
}

impl Table {
    /// An empty table that can hold `units` units without growing.
    pub(super) fn new(units: usize) -> Self {
        Table { places: vec![(0, NONE); Table::places_for(units)], len: 0 }
    }

    /// Number of places for `units` units: half stay empty, so that look-ups probe few.
    fn places_for(units: usize) -> usize {
        (2 * units).next_power_of_two().max(16)
    }

    /// Reserves memory for `more` further units.
    ///
    /// # Errors
    /// [`Exhausted`].
    pub(super) fn make_room(&mut self, more: usize) -> Result<(), Exhausted> {
        let wanted = Table::places_for(self.len + more);
        if wanted > self.places.len() {
            let mut places = Vec::new();
            ssdlab_keys::memory::make_room(&mut places, wanted)?;
            places.resize(wanted, (0, NONE));
            self.take_places(places);
        }
        Ok(())
    }

    /// All units with their numbers, in no particular order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.places.iter().copied().filter(|&(_, number)| number != NONE)
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    fn home(&self, unit: u32) -> usize {
        // Fibonacci hashing: neighbours lie apart.
        (u64::from(unit).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & (self.places.len() - 1)
    }

    /// The place of a unit, or the empty place where it would be put.
    #[inline(always)]
    fn place(&self, unit: u32) -> usize {
        let mut place = self.home(unit);
        while self.places[place].1 != NONE && self.places[place].0 != unit {
            place = (place + 1) & (self.places.len() - 1);
        }
        place
    }

    /// The number of a unit, or [`NONE`].
    #[inline(always)]
    pub(super) fn get(&self, unit: u32) -> u32 {
        self.places[self.place(unit)].1
    }

    /// Gives a unit a number.
    #[inline]
    pub(super) fn set(&mut self, unit: u32, number: u32) {
        let place = self.place(unit);
        self.len += usize::from(self.places[place].1 == NONE);
        self.places[place] = (unit, number);
        if 2 * self.len > self.places.len() {
            self.grow();
        }
    }

    /// Doubles the table. Can happen despite `make_room`, which reserves for the requests to come: requests for which it reserved
    /// before may still be in the host interface.
    #[cold]
    fn grow(&mut self) {
        let places = vec![(0, NONE); 2 * self.places.len()];
        self.take_places(places);
    }

    fn take_places(&mut self, places: Vec<(u32, u32)>) {
        let old = std::mem::replace(self, Table { places, len: 0 });
        old.iter().for_each(|(unit, number)| self.set(unit, number));
    }

    /// Removes a unit. Units that it displaced from their home places move up.
    pub(super) fn remove(&mut self, unit: u32) {
        let mask = self.places.len() - 1;
        let mut empty = self.place(unit);
        if self.places[empty].1 == NONE {
            return;
        }
        self.len -= 1;
        let mut next = empty;
        loop {
            next = (next + 1) & mask;
            let (other, number) = self.places[next];
            if number == NONE {
                break;
            }
            // A unit may move if its home is not between the empty place and its present place.
            if (next.wrapping_sub(self.home(other)) & mask) >= (next.wrapping_sub(empty) & mask) {
                self.places[empty] = (other, number);
                empty = next;
            }
        }
        self.places[empty].1 = NONE;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_knows_what_a_map_knows(room in any::<bool>(), changes in prop::collection::vec((0u32..80, prop::option::of(0u32..9)), 0..300)) {
            let (mut table, mut map) = (Table::new(2), BTreeMap::new());
            for (unit, number) in changes {
                // Far apart, and close together.
                let unit = if unit % 2 == 0 { unit } else { unit << 20 };
                if room {
                    table.make_room(1).unwrap();
                }
                match number {
                    Some(number) => {
                        table.set(unit, number);
                        map.insert(unit, number);
                    }
                    None => {
                        table.remove(unit);
                        map.remove(&unit);
                    }
                }
                prop_assert_eq!(table.get(unit), number.unwrap_or(NONE));
                let mut all: Vec<(u32, u32)> = table.iter().collect();
                all.sort_unstable();
                prop_assert_eq!(&all, &map.iter().map(|(&unit, &number)| (unit, number)).collect::<Vec<_>>());
                prop_assert_eq!(table.len(), map.len());
            }
        }
    }
}
