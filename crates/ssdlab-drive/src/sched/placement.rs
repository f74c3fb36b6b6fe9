//! Placement of writes under dynamic allocation (elyasi2017's DynAlloc): the chip with the fewest operations that has room for the data,
//! and the pools of a die in turn. Superblocks of several pools are filled chip after chip instead, one of each channel before the next of each, whatever their load.

use crate::ftl::{Class, Ftl};
use ssdlab_base::units::{ChipId, DieId, PoolId};
use ssdlab_keys::config::STREAMS_MAX;

/// The loads of chips, and the room in them. No function but `check` visits all chips.
#[derive(Clone, Debug)]
pub struct Placement {
    /// Chips by load.
    loads: MinTree,
    /// By chip, or by group of superblocks: pages that hold data, or will when the write to which they are allocated ends.
    held: Vec<u64>,
    /// By chip: pages of its blocks that have failed, which count as held.
    lost: Vec<u64>,
    /// The most pages that a chip, or a group of superblocks, may hold.
    room: u64,
    /// By pool: writes that have a page allocated and have not ended.
    writing: Vec<u32>,
    /// By die: counter that selects the pool for the next write.
    next_pool: Vec<u32>,
    /// Writes go to the chips in turn, where superblocks of several pools are filled.
    turns: Option<Turns>,
}

/// Where superblocks of several pools are filled: which chip takes the next write of each class. Groups take turns; in a group the chip that
/// has the fewest units of the class, those included that wait for it.
#[derive(Clone, Debug)]
struct Turns {
    chips_per_group: u32,
    /// The chips of a group, from its first on, one of each channel before the next of each: the first of equals goes first.
    order: Vec<u32>,
    /// By class and chip: writes that wait for the chip.
    waiting: Vec<u32>,
    chips: u32,
    /// By class: the group to try first for the next write.
    next_group: [u32; STREAMS_MAX],
    /// By group: operations that wait or are in service on its chips.
    load: Vec<u32>,
}

impl Turns {
    fn new(ftl: &Ftl) -> Self {
        let geometry = ftl.geometry();
        let groups = geometry.pools.count.get() / geometry.pools.per_group.get();
        let chips_per_group = geometry.chips / groups;
        let mut order: Vec<u32> = (0..chips_per_group).collect();
        let chips_per_channel = geometry.chips / geometry.channels;
        order.sort_by_key(|&chip| (chip % chips_per_channel, chip / chips_per_channel));
        Turns {
            chips_per_group,
            order,
            waiting: vec![0; STREAMS_MAX * geometry.chips as usize],
            chips: geometry.chips,
            next_group: [0; STREAMS_MAX],
            load: vec![0; groups as usize],
        }
    }

    fn at(&self, chip: u32, class: Class) -> usize {
        usize::from(class) * self.chips as usize + chip as usize
    }

    /// The chip of a group that takes the next write of a class.
    fn next_in(&self, ftl: &Ftl, group: u32, class: Class) -> u32 {
        let geometry = ftl.geometry();
        let pools_per_chip = geometry.pools.count.get() / geometry.chips;
        let units = |&chip: &u32| {
            let pools = chip * pools_per_chip..(chip + 1) * pools_per_chip;
            let begun: u64 = pools.map(|pool| ftl.programs_begun(PoolId(pool), class)).sum();
            begun * u64::from(geometry.units_per_program) + u64::from(self.waiting[self.at(chip, class)])
        };
        self.order.iter().map(|chip| group * self.chips_per_group + chip).min_by_key(units).expect("a group has a chip")
    }
}

impl Placement {
    /// Chips without load, with the room that the drive's chips have.
    pub fn new(ftl: &Ftl) -> Self {
        let geometry = ftl.geometry();
        let pools_per_chip = geometry.pools.count.get() / geometry.chips;
        // What is filled in turn has room for its data together. On one group the host never has more data than that has room for.
        let together = if geometry.spans_pools() { geometry.pools.per_group.get() } else { pools_per_chip };
        let valid = |first: u32| (first..first + together).map(|pool| u64::from(ftl.blocks().valid_in_pool(PoolId(pool))));
        let room = u64::from(ftl.room_of_pool()) * u64::from(together);
        Placement {
            loads: MinTree::new(geometry.chips),
            held: (0..geometry.pools.count.get()).step_by(together as usize).map(|first| valid(first).sum()).collect(),
            lost: vec![0; geometry.chips as usize],
            room: if geometry.spans_pools() && together == geometry.pools.count.get() { u64::MAX } else { room },
            writing: vec![0; geometry.pools.count.get() as usize],
            next_pool: vec![0; geometry.dies as usize],
            turns: geometry.spans_pools().then(|| Turns::new(ftl)),
        }
    }

    /// The chip that takes the next write of a class, among those with room for one more page: that whose turn it is, where writes go to chips in
    /// turn, else the one with the fewest operations waiting or in service, the first of equals.
    pub fn next_chip(&self, ftl: &Ftl, class: Class) -> Option<ChipId> {
        if let Some(turns) = &self.turns {
            let (groups, first) = (turns.load.len() as u32, turns.next_group[usize::from(class)]);
            let mut groups = (0..groups).map(|step| (first + step) % groups);
            let group = groups.find(|&group| self.has_room(ChipId(group * turns.chips_per_group)))?;
            return Some(ChipId(turns.next_in(ftl, group, class)));
        }
        self.loads.first_with(|chip, load| self.has_room_beside(chip, load)).map(ChipId)
    }

    /// A chip, or the group of superblocks that it belongs to, has room for one more page.
    pub fn has_room(&self, chip: ChipId) -> bool {
        match &self.turns {
            None => self.has_room_beside(chip.0, self.loads.get(chip.0)),
            Some(turns) => {
                let group = chip.0 / turns.chips_per_group;
                self.has_room_beside(group, turns.load[group as usize])
            }
        }
    }

    /// Index in `held` of a chip.
    #[inline(always)]
    fn place(&self, chip: ChipId) -> usize {
        self.turns.as_ref().map_or(chip.0, |turns| chip.0 / turns.chips_per_group) as usize
    }

    /// A chip, or group of superblocks, has room for one more page beside `load` operations that wait or are in service.
    #[inline(always)]
    fn has_room_beside(&self, place: u32, load: u32) -> bool {
        self.held[place as usize] + u64::from(load) < self.room
    }

    /// Writes go to chips in turn, by class.
    pub fn by_turns(&self) -> bool {
        self.turns.is_some()
    }

    /// A chip has taken a write of a class, which waits for it from now on.
    #[inline]
    pub fn took_write(&mut self, chip: ChipId, class: Class) {
        if let Some(turns) = &mut self.turns {
            turns.next_group[usize::from(class)] = chip.0 / turns.chips_per_group + 1;
            let at = turns.at(chip.0, class);
            turns.waiting[at] += 1;
        }
    }

    /// A write of a class, which waited for the chip, begins. Only where writes go to chips in turn.
    pub fn write_leaves(&mut self, chip: ChipId, class: Class) {
        if let Some(turns) = &mut self.turns {
            let at = turns.at(chip.0, class);
            turns.waiting[at] -= 1;
        }
    }

    /// Sets the number of operations waiting or in service on a chip.
    #[inline]
    pub fn set_load(&mut self, chip: ChipId, load: u32) {
        if let Some(turns) = &mut self.turns {
            let of_group = &mut turns.load[(chip.0 / turns.chips_per_group) as usize];
            *of_group = *of_group + load - self.loads.get(chip.0);
        }
        self.loads.set(chip.0, load);
    }

    /// Counts a write to which a page of the pool, on this chip, has been allocated.
    #[inline]
    pub fn write_begins(&mut self, pool: PoolId, chip: ChipId) {
        self.writing[pool.index()] += 1;
        let place = self.place(chip);
        self.held[place] += 1;
    }

    /// The program of a write to the pool has ended: the write is no longer counted, and its page holds data.
    #[inline]
    pub fn write_ends(&mut self, pool: PoolId) {
        self.writing[pool.index()] -= 1;
    }

    /// A page on this chip holds data no longer, and is no longer counted.
    #[inline]
    pub fn page_invalid(&mut self, chip: ChipId) {
        let place = self.place(chip);
        self.held[place] -= 1;
    }

    /// The program of a write to the pool, on this chip, has failed: the write waits again, and holds no page.
    pub fn write_failed(&mut self, pool: PoolId, chip: ChipId) {
        self.write_ends(pool);
        self.page_invalid(chip);
    }

    /// A block of `pages` pages on this chip has failed: it holds no data any more. Superblocks have no such blocks.
    pub fn lose_block(&mut self, chip: ChipId, pages: u32) {
        self.held[chip.index()] += u64::from(pages);
        self.lost[chip.index()] += u64::from(pages);
    }

    /// Number of writes that have a page of the pool allocated and have not ended.
    #[inline]
    pub fn writing(&self, pool: PoolId) -> u32 {
        self.writing[pool.index()]
    }

    /// The pool of the die to try first for the next write; take it modulo the number of pools.
    #[inline]
    pub fn next_pool(&self, die: DieId) -> u32 {
        self.next_pool[die.index()]
    }

    /// A write has begun on the die: the next one tries another pool first.
    #[inline]
    pub fn took_pool(&mut self, die: DieId) {
        let next = &mut self.next_pool[die.index()];
        *next = next.wrapping_add(1);
    }

    /// Recounts the pages that chips, or groups of superblocks, hold.
    ///
    /// # Errors
    /// The first contradiction found.
    pub fn check(&self, ftl: &Ftl) -> Result<(), String> {
        let each = self.writing.len() / self.held.len();
        let of_pool = |pool: usize| u64::from(ftl.blocks().valid_in_pool(PoolId(pool as u32)) + self.writing[pool]);
        for (place, &held) in self.held.iter().enumerate() {
            let counted = (place * each..(place + 1) * each).map(of_pool).sum::<u64>() + self.lost[place];
            if held != counted {
                return Err(format!("chip or group {place} holds {counted} pages, but {held} are counted"));
            }
        }
        Ok(())
    }
}

/// Values by number, the least of which is found without visiting all: a binary tree of minima.
#[derive(Clone, Debug)]
struct MinTree {
    /// From index 1 on the minima of the two nodes below; from `leaves` on the values, `u32::MAX` in unused leaves.
    nodes: Vec<u32>,
    leaves: usize,
}

impl MinTree {
    fn new(count: u32) -> Self {
        let leaves = (count as usize).next_power_of_two();
        let mut tree = MinTree { nodes: vec![u32::MAX; 2 * leaves], leaves };
        (0..count).for_each(|thing| tree.set(thing, 0));
        tree
    }

    fn get(&self, thing: u32) -> u32 {
        self.nodes[self.leaves + thing as usize]
    }

    fn set(&mut self, thing: u32, value: u32) {
        let mut node = self.leaves + thing as usize;
        self.nodes[node] = value;
        while node > 1 {
            node /= 2;
            let least = self.nodes[2 * node].min(self.nodes[2 * node + 1]);
            if std::mem::replace(&mut self.nodes[node], least) == least {
                return;
            }
        }
    }

    /// The number with the least value among those that are `wanted`, the first of equals. Visits few others, unless most are not wanted.
    fn first_with(&self, wanted: impl Fn(u32, u32) -> bool) -> Option<u32> {
        let mut best = (u32::MAX, None);
        self.search(1, &wanted, &mut best);
        best.1
    }

    fn search(&self, node: usize, wanted: &impl Fn(u32, u32) -> bool, best: &mut (u32, Option<u32>)) {
        let least = self.nodes[node];
        if least >= best.0 {
            return;
        }
        if node >= self.leaves {
            let thing = (node - self.leaves) as u32;
            if wanted(thing, least) {
                *best = (least, Some(thing));
            }
            return;
        }
        // The side with the lesser minimum first, the left one among equals: the other is mostly cut off then.
        let (left, right) = (2 * node, 2 * node + 1);
        if self.nodes[left] <= self.nodes[right] {
            self.search(left, wanted, best);
            self.search(right, wanted, best);
        } else {
            let before = best.1;
            self.search(right, wanted, best);
            if best.1 == before {
                self.search(left, wanted, best);
            } else {
                // An equal value on the left goes before one on the right.
                self.search_before(left, wanted, best);
            }
        }
    }

    /// Searches the left side after the right one: an equal value found here replaces the best so far.
    fn search_before(&self, node: usize, wanted: &impl Fn(u32, u32) -> bool, best: &mut (u32, Option<u32>)) {
        let mut here = (best.0.saturating_add(1), None);
        self.search(node, wanted, &mut here);
        if here.1.is_some() {
            *best = here;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_tree_finds_what_a_scan_finds(
            count in 1u32..70,
            changes in prop::collection::vec((0u32..70, 0u32..6), 0..60),
            without in prop::collection::vec(any::<bool>(), 70),
        ) {
            let mut values = vec![0; count as usize];
            let mut tree = MinTree::new(count);
            for (thing, value) in changes {
                let thing = thing % count;
                values[thing as usize] = value;
                tree.set(thing, value);
                let scanned = (0..count).filter(|&thing| !without[thing as usize]).min_by_key(|&thing| (values[thing as usize], thing));
                prop_assert_eq!(tree.first_with(|thing, _| !without[thing as usize]), scanned);
            }
        }
    }
}
