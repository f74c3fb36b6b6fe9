//! Placement of writes under dynamic allocation (elyasi2017's DynAlloc): the chip with the fewest operations that has room for the data; chips
//! with equally many, dies of a chip and pools of a die in turn. Superblocks of several pools are filled die after die instead, one of each
//! channel before the next of each, whatever their load.

use crate::ftl::{Class, Ftl};
use crate::rules::BurstRule;
use ssdlab_base::units::{ChipId, DieId, PoolId};
use ssdlab_keys::config::{Allocation, DynamicTies, STREAMS_MAX};

/// Bursts: writes choose a chip by the pages that its pools have left.
pub const PLACEMENT_BURSTS: BurstRule =
    BurstRule { keys: &["ftl.allocation", "ftl.dynamic_ties"], exact: |config| config.ftl.allocation != Allocation::Dynamic };

/// Bits of a key of [`MinTree`] for the pages that a chip holds; its load is in the bits above.
const HELD_BITS: u32 = 40;

/// The loads of chips, and the room in them. No function but `check` visits all chips.
#[derive(Clone, Debug)]
pub struct Placement {
    /// Chips by load, then, where `by_held`, by the pages that they hold: by their place in the order of turns, one of each channel before the
    /// next of each.
    keys: MinTree,
    /// By chip: operations that wait or are in service.
    load: Vec<u32>,
    /// Number of channels, and of chips on each.
    channels: u32,
    chips_per_channel: u32,
    /// Place in the order of turns of the first chip to try of those with equal keys.
    next: u32,
    /// Of chips with equal loads, those that hold the fewest pages go first (`ftl.dynamic_ties = "valid"`).
    by_held: bool,
    /// By station: the die that is offered the next write first, from 0 within the station.
    next_die: Vec<u32>,
    /// By chip, or by group of superblocks: pages that hold data, or will when the write to which they are allocated ends.
    held: Vec<u64>,
    /// By chip, or by group of superblocks: pages of its blocks that have failed, which count as held.
    lost: Vec<u64>,
    /// The most pages that a chip, or a group of superblocks, may hold.
    room: u64,
    /// By pool: writes that have a page allocated and have not ended.
    writing: Vec<u32>,
    /// By die: counter that selects the pool for the next write.
    next_pool: Vec<u32>,
    /// Writes go to the dies in turn, where superblocks of several pools are filled.
    turns: Option<Turns>,
}

/// Where superblocks of several pools are filled: which die takes the next write of each class. Groups take turns; in a group the die that
/// has the fewest units of the class, those included that wait for it.
#[derive(Clone, Debug)]
struct Turns {
    chips_per_group: u32,
    /// The dies of a group, from its first on, one of each channel before the next of each: the first of equals goes first.
    order: Vec<u32>,
    /// By class and die: writes that wait for the die.
    waiting: Vec<u32>,
    dies: u32,
    /// By class: the group to try first for the next write.
    next_group: [u32; STREAMS_MAX],
    /// By group: operations that wait or are in service on its chips.
    load: Vec<u32>,
}

impl Turns {
    fn new(ftl: &Ftl) -> Self {
        let geometry = ftl.geometry();
        let groups = geometry.pools.count.get() / geometry.pools.per_group.get();
        let mut order: Vec<u32> = (0..geometry.dies / groups).collect();
        order.sort_by_key(|&die| {
            let (channel, in_channel) = geometry.dies_per_channel.split(die);
            (in_channel, channel)
        });
        Turns {
            chips_per_group: geometry.chips / groups,
            order,
            waiting: vec![0; STREAMS_MAX * geometry.dies as usize],
            dies: geometry.dies,
            next_group: [0; STREAMS_MAX],
            load: vec![0; groups as usize],
        }
    }

    fn at(&self, die: u32, class: Class) -> usize {
        usize::from(class) * self.dies as usize + die as usize
    }

    /// The group of a die.
    fn group_of(&self, die: u32) -> u32 {
        die / self.order.len() as u32
    }

    /// The die of a group that takes the next write of a class; where writes wait for a cache, of those with room there, if any has.
    fn next_in(&self, ftl: &Ftl, group: u32, class: Class) -> u32 {
        let geometry = ftl.geometry();
        let first = group * self.order.len() as u32;
        let waits = ftl.waits_in_turns(PoolId(geometry.pools_of_die(DieId(first)).start));
        let units = |&die: &u32| {
            let level: u64 = geometry.pools_of_die(DieId(die)).map(|pool| ftl.host_level(PoolId(pool), class)).sum();
            level * u64::from(geometry.units_per_program) + u64::from(self.waiting[self.at(die, class)])
        };
        let dies = self.order.iter().map(|die| first + die);
        dies.min_by_key(|die| (waits && !self.has_room_for_another(ftl, *die, class), units(die))).expect("a group has a die")
    }

    /// A die has room in the cache for a write of a class beside those that wait for it.
    fn has_room_for_another(&self, ftl: &Ftl, die: u32, class: Class) -> bool {
        room_of_die(ftl, die, class) > u64::from(self.waiting[self.at(die, class)])
    }
}

/// Units of host writes of a class for which a die has room before they would wait for the cache.
fn room_of_die(ftl: &Ftl, die: u32, class: Class) -> u64 {
    ftl.geometry().pools_of_die(DieId(die)).map(|pool| u64::from(ftl.room_for_host(PoolId(pool), class))).sum()
}

impl Placement {
    /// Chips without load, with the room that the drive's chips have.
    pub fn new(ftl: &Ftl, ties: DynamicTies) -> Self {
        let geometry = ftl.geometry();
        let pools_per_chip = geometry.pools.count.get() / geometry.chips;
        // What is filled in turn has room for its data together. On one group the host never has more data than that has room for.
        let together = if geometry.spans_pools() { geometry.pools.per_group.get() } else { pools_per_chip };
        let valid = |first: u32| (first..first + together).map(|pool| u64::from(ftl.blocks().valid_in_pool(PoolId(pool))));
        let room = u64::from(ftl.room_of_pool()) * u64::from(together);
        let mut placement = Placement {
            keys: MinTree::new(geometry.chips),
            load: vec![0; geometry.chips as usize],
            channels: geometry.channels,
            chips_per_channel: geometry.chips / geometry.channels,
            next: 0,
            by_held: ties == DynamicTies::Valid && !geometry.spans_pools(),
            next_die: vec![0; geometry.stations() as usize],
            held: (0..geometry.pools.count.get()).step_by(together as usize).map(|first| valid(first).sum()).collect(),
            lost: vec![0; geometry.chips as usize],
            room: if geometry.spans_pools() && together == geometry.pools.count.get() { u64::MAX } else { room },
            writing: vec![0; geometry.pools.count.get() as usize],
            next_pool: vec![0; geometry.dies as usize],
            turns: geometry.spans_pools().then(|| Turns::new(ftl)),
        };
        (0..geometry.chips).for_each(|chip| placement.set_key(ChipId(chip)));
        placement
    }

    /// The place of a chip in the order of turns.
    #[inline(always)]
    fn order_of(&self, chip: ChipId) -> u32 {
        chip.0 % self.chips_per_channel * self.channels + chip.0 / self.chips_per_channel
    }

    /// The chip at a place in the order of turns.
    #[inline(always)]
    fn chip_at(&self, order: u32) -> ChipId {
        ChipId(order % self.channels * self.chips_per_channel + order / self.channels)
    }

    /// Sets the key of a chip after its load, or what it holds, has changed.
    #[inline]
    fn set_key(&mut self, chip: ChipId) {
        let held = if self.by_held { self.held[chip.index()] } else { 0 };
        let key = u64::from(self.load[chip.index()]) << HELD_BITS | held;
        self.keys.set(self.order_of(chip), key);
    }

    /// The station that takes the next write of a class, among those with room for one more page: the die whose turn it is, where writes go to dies
    /// in turn, else the chip with the fewest operations waiting or in service, and of equals (those with the fewest pages, and of these) the next in
    /// turn.
    pub fn next_station(&self, ftl: &Ftl, class: Class) -> Option<u32> {
        if let Some(turns) = &self.turns {
            let (groups, first) = (turns.load.len() as u32, turns.next_group[usize::from(class)]);
            let mut groups = (0..groups).map(|step| (first + step) % groups);
            let group = groups.find(|&group| self.has_room_beside(group, turns.load[group as usize]))?;
            return Some(turns.next_in(ftl, group, class));
        }
        let has_room = |order| {
            let chip = self.chip_at(order);
            self.has_room_beside(chip.0, self.load[chip.index()])
        };
        self.keys.first_from(self.next, has_room).map(|order| self.chip_at(order).0)
    }

    /// A station, or the group of superblocks that it belongs to, has room for one more page.
    pub fn has_room(&self, station: u32) -> bool {
        let (place, load) = match &self.turns {
            None => (station, &self.load),
            Some(turns) => (turns.group_of(station), &turns.load),
        };
        self.has_room_beside(place, load[place as usize])
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

    /// Writes go to dies in turn, by class.
    pub fn by_turns(&self) -> bool {
        self.turns.is_some()
    }

    /// The die to which a write of a class goes that waits for another, if that has no room in the cache, and one of its group has: beside the writes
    /// that wait there, or without any that could begin (`is_stuck`). Of these may be writes of a class without room, or for the page of this one.
    pub fn die_with_room(&self, ftl: &Ftl, die: u32, class: Class, is_stuck: impl Fn(u32) -> bool) -> Option<u32> {
        let turns = self.turns.as_ref()?;
        let first = turns.group_of(die) * turns.order.len() as u32;
        if !ftl.waits_in_turns(PoolId(ftl.geometry().pools_of_die(DieId(first)).start)) || room_of_die(ftl, die, class) > 0 {
            return None;
        }
        let other = turns.next_in(ftl, turns.group_of(die), class);
        if turns.has_room_for_another(ftl, other, class) {
            return Some(other);
        }
        turns.order.iter().map(|other| first + other).find(|&other| room_of_die(ftl, other, class) > 0 && is_stuck(other))
    }

    /// A die has no room in the cache for writes of a class.
    pub fn is_full(&self, ftl: &Ftl, die: u32, class: Class) -> bool {
        room_of_die(ftl, die, class) == 0
    }

    /// A station has taken a write of a class, which waits for it from now on.
    #[inline]
    pub fn took_write(&mut self, station: u32, class: Class) {
        match &mut self.turns {
            None => self.next = self.order_of(ChipId(station)) + 1,
            Some(turns) => {
                turns.next_group[usize::from(class)] = turns.group_of(station) + 1;
                let at = turns.at(station, class);
                turns.waiting[at] += 1;
            }
        }
    }

    /// A write of a class, which waited for the station, begins. Only where writes go to dies in turn.
    pub fn write_leaves(&mut self, station: u32, class: Class) {
        if let Some(turns) = &mut self.turns {
            let at = turns.at(station, class);
            turns.waiting[at] -= 1;
        }
    }

    /// Sets the number of operations waiting or in service on a chip.
    #[inline]
    pub fn set_load(&mut self, chip: ChipId, load: u32) {
        if let Some(turns) = &mut self.turns {
            let of_group = &mut turns.load[(chip.0 / turns.chips_per_group) as usize];
            *of_group = *of_group + load - self.load[chip.index()];
        }
        self.load[chip.index()] = load;
        self.set_key(chip);
    }

    /// Counts a write to which a page of the pool, on this chip, has been allocated.
    #[inline]
    pub fn write_begins(&mut self, pool: PoolId, chip: ChipId) {
        self.writing[pool.index()] += 1;
        let place = self.place(chip);
        self.held[place] += 1;
        self.held_changes(chip);
    }

    /// What a chip holds has changed.
    #[inline(always)]
    fn held_changes(&mut self, chip: ChipId) {
        if self.by_held {
            self.set_key(chip);
        }
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
        self.held_changes(chip);
    }

    /// The program of a write to the pool, on this chip, has failed: the write waits again, and holds no page.
    pub fn write_failed(&mut self, pool: PoolId, chip: ChipId) {
        self.write_ends(pool);
        self.page_invalid(chip);
    }

    /// A block has failed, so that this chip, or its group of superblocks, can hold `pages` pages less.
    pub fn lose_block(&mut self, chip: ChipId, pages: u32) {
        let place = self.place(chip);
        self.held[place] += u64::from(pages);
        self.lost[place] += u64::from(pages);
        self.held_changes(chip);
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

    /// The die of a station to offer the next write to first, from 0 within the station.
    #[inline]
    pub fn next_die(&self, station: u32) -> u32 {
        self.next_die[station as usize]
    }

    /// A write has begun on the die, whose station has `dies` dies: the next one tries another pool of it first, and the die behind it first.
    #[inline]
    pub fn took_pool(&mut self, die: DieId, station: u32, dies: u32) {
        let next = &mut self.next_pool[die.index()];
        *next = next.wrapping_add(1);
        self.next_die[station as usize] = (die.0 + 1) % dies;
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
        let (mut fresh, chips) = (self.clone(), self.load.len() as u32);
        (0..chips).for_each(|chip| fresh.set_key(ChipId(chip)));
        if fresh.keys.nodes != self.keys.nodes {
            return Err("the keys of chips are not those of their loads and of what they hold".into());
        }
        Ok(())
    }
}

/// Keys by number, the least of which is found without visiting all: a binary tree of minima.
#[derive(Clone, Debug)]
struct MinTree {
    /// From index 1 on the minima of the two nodes below; from `leaves` on the keys, `u64::MAX` in unused leaves.
    nodes: Vec<u64>,
    leaves: usize,
}

/// A search of [`MinTree`]: the numbers in `from..end` that are wanted, and the least key found so far with its number.
struct Search<F> {
    from: usize,
    end: usize,
    wanted: F,
    best: (u64, Option<u32>),
}

impl MinTree {
    fn new(count: u32) -> Self {
        let leaves = (count as usize).next_power_of_two();
        let mut tree = MinTree { nodes: vec![u64::MAX; 2 * leaves], leaves };
        (0..count).for_each(|thing| tree.set(thing, 0));
        tree
    }

    fn set(&mut self, thing: u32, key: u64) {
        let mut node = self.leaves + thing as usize;
        self.nodes[node] = key;
        while node > 1 {
            node /= 2;
            let least = self.nodes[2 * node].min(self.nodes[2 * node + 1]);
            if std::mem::replace(&mut self.nodes[node], least) == least {
                return;
            }
        }
    }

    /// The number with the least key among those that are `wanted`, of equals the first from `first` on, around the end. Visits few others,
    /// unless most are not wanted.
    fn first_from(&self, first: u32, wanted: impl Fn(u32) -> bool) -> Option<u32> {
        let first = first as usize;
        let mut search = Search { from: first, end: self.leaves, wanted, best: (u64::MAX, None) };
        self.visit(1, (0, self.leaves), &mut search);
        (search.from, search.end) = (0, first);
        self.visit(1, (0, self.leaves), &mut search);
        search.best.1
    }

    /// Looks for a lesser key than the best so far below a node, which has the numbers `begin..end`: from left to right, so that the first
    /// of equals is found.
    fn visit<F: Fn(u32) -> bool>(&self, node: usize, (begin, end): (usize, usize), search: &mut Search<F>) {
        let least = self.nodes[node];
        if least >= search.best.0 || end <= search.from || search.end <= begin {
            return;
        }
        if node < self.leaves {
            let middle = usize::midpoint(begin, end);
            self.visit(2 * node, (begin, middle), search);
            self.visit(2 * node + 1, (middle, end), search);
        } else if (search.wanted)(begin as u32) {
            search.best = (least, Some(begin as u32));
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
            first in 0u32..71,
            changes in prop::collection::vec((0u32..70, 0u64..6), 0..60),
            without in prop::collection::vec(any::<bool>(), 70),
        ) {
            let mut keys = vec![0; count as usize];
            let mut tree = MinTree::new(count);
            for (thing, key) in changes {
                let thing = thing % count;
                keys[thing as usize] = key;
                tree.set(thing, key);
                let around = |thing: u32| (thing < first, thing);
                let wanted = (0..count).filter(|&thing| !without[thing as usize]);
                let scanned = wanted.min_by_key(|&thing| (keys[thing as usize], around(thing)));
                prop_assert_eq!(tree.first_from(first, |thing| !without[thing as usize]), scanned);
            }
        }
    }
}
