//! Writes and collection on the FTL without a clock: for preconditioning, and as a lower bound on run times in the benchmarks.

use super::Move;
use super::packing::Packing;
use crate::ftl::{Class, Ftl};
use crate::gc::victim::Picker;
use ssdlab_base::rng::Rng;
use ssdlab_base::units::{BlockId, Lpn, PoolId, Ppn};

/// Flash operations of untimed writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UntimedCounts {
    /// Mapping units written by the host.
    pub host_programs: u64,
    /// Pages moved by collection.
    pub pages_moved: u64,
    /// Units of padding in programs of host and collection.
    pub padded_units: u64,
    /// Units programmed as parity.
    pub parity_units: u64,
    /// Blocks erased.
    pub erases: u64,
}

/// Writes a page, or up to a program of mapping units, into `pool`, and collects as far as that makes it necessary. Returns false, with
/// nothing written, if the pool is full of valid data.
#[inline]
pub fn write(ftl: &mut Ftl, victims: &mut Picker, pool: PoolId, units: &[Lpn], counts: &mut UntimedCounts) -> bool {
    let class = units.first().map_or(0, |&lpn| ftl.host_class(lpn, None));
    write_class(ftl, victims, pool, class, units, counts)
}

/// As [`write`], of units that go to this class of host writes.
#[inline]
pub fn write_class(ftl: &mut Ftl, victims: &mut Picker, pool: PoolId, class: Class, units: &[Lpn], counts: &mut UntimedCounts) -> bool {
    let allocated = match ftl.try_allocate_outside_cache(pool, class) {
        Some(allocated) => allocated,
        None => {
            collect(ftl, victims, pool, counts);
            let Some(allocated) = ftl.try_allocate_outside_cache(pool, class) else { return false };
            allocated
        }
    };
    program(ftl, pool, units, allocated.ppn, counts);
    if allocated.took_block {
        collect(ftl, victims, pool, counts);
    }
    true
}

/// Programs units of the host from page `first` on, and pads the rest of the program.
#[inline]
pub fn program(ftl: &mut Ftl, pool: PoolId, units: &[Lpn], first: Ppn, counts: &mut UntimedCounts) {
    for (&lpn, ppn) in units.iter().zip(first.0..) {
        ftl.commit_write(pool, lpn, Ppn(ppn));
    }
    counts.host_programs += units.len() as u64;
    counts.padded_units += u64::from(ftl.pad(pool, first, units.len() as u32));
    if ftl.geometry().parity_with(first).is_some() {
        counts.parity_units += u64::from(ftl.geometry().units_per_program);
    }
}

/// Units gathered by pool until they fill a program, as a write buffer would.
#[derive(Clone, Debug)]
pub struct Packs {
    by_pool: Vec<Vec<Lpn>>,
    units_per_program: usize,
}

impl Packs {
    /// No units yet, for `pools` pools. A pack is full at `units_per_program` units.
    pub fn new(pools: usize, units_per_program: u32) -> Self {
        Packs { by_pool: vec![Vec::new(); pools], units_per_program: units_per_program as usize }
    }

    /// The pack of a pool already has this unit: program it before the unit is added again.
    #[inline]
    pub fn has(&self, pool: usize, lpn: Lpn) -> bool {
        self.by_pool[pool].contains(&lpn)
    }

    /// Adds a unit to the pack of a pool. Returns true if that fills a program; call [`Packs::take`] then.
    #[inline]
    pub fn add(&mut self, pool: usize, lpn: Lpn) -> bool {
        let pack = &mut self.by_pool[pool];
        pack.push(lpn);
        pack.len() == self.units_per_program
    }

    /// Takes the pack of a pool. Return its memory by [`Packs::give_back`].
    #[inline]
    pub fn take(&mut self, pool: usize) -> Vec<Lpn> {
        std::mem::take(&mut self.by_pool[pool])
    }

    /// Takes back the memory of a pack that has been programmed.
    #[inline]
    pub fn give_back(&mut self, pool: usize, mut pack: Vec<Lpn>) {
        pack.clear();
        self.by_pool[pool] = pack;
    }

    /// Number of pools.
    pub fn pools(&self) -> usize {
        self.by_pool.len()
    }
}

/// Random logical pages below a bound, each drawn well before it is returned, so that its map entry can be prefetched. The order is that
/// in which the random numbers are drawn.
#[derive(Debug)]
pub struct PagesAhead {
    rng: Rng,
    bound: u64,
    drawn: [Lpn; PagesAhead::AHEAD],
    next: usize,
}

impl PagesAhead {
    /// Pages drawn ahead. Halfway the map entry is in the processor's cache, and names the block in which the write invalidates a page.
    const AHEAD: usize = 32;

    /// A sequence of pages below `bound`, which must not be 0.
    pub fn new(mut rng: Rng, bound: u64) -> Self {
        let drawn = std::array::from_fn(|_| Lpn(rng.below(bound) as u32));
        PagesAhead { rng, bound, drawn, next: 0 }
    }

    /// The next page to be written to `ftl`.
    #[inline]
    pub fn next(&mut self, ftl: &Ftl) -> Lpn {
        let later = Lpn(self.rng.below(self.bound) as u32);
        ftl.prefetch(later);
        let lpn = std::mem::replace(&mut self.drawn[self.next], later);
        self.next = (self.next + 1) % Self::AHEAD;
        ftl.prefetch_old(self.drawn[(self.next + Self::AHEAD / 2) % Self::AHEAD]);
        lpn
    }
}

/// Collects until the pool no longer wants collection ([`Ftl::wants_collection`]), or no block is eligible.
pub fn collect(ftl: &mut Ftl, victims: &mut Picker, pool: PoolId, counts: &mut UntimedCounts) {
    let lead = ftl.geometry().lead_pool(pool);
    while ftl.wants_collection(lead) {
        let Some(victim) = victims.pick_or_close(ftl, lead) else { return };
        let units = ftl.start_job(lead, victim);
        if ftl.geometry().spans_pools() || ftl.geometry().units_per_program > 1 && ftl.classes_of_victim() > 1 {
            collect_packed(ftl, lead, victim, units, counts);
            continue;
        }
        ftl.prefetch_moves(victim, 0);
        let batch = ftl.move_batch(pool, victim, 0, false, u32::MAX, |_, _| ());
        counts.pages_moved += u64::from(batch.moves);
        counts.padded_units += u64::from(batch.padding);
        counts.parity_units += u64::from(batch.parity * ftl.geometry().units_per_program);
        ftl.commit_erase(pool, victim);
        counts.erases += 1;
    }
}

/// Collects a block, or the superblock for which `first` stands: gathers its units block by block, and programs those of a class in whole
/// programs, and then the rest ([`Packing`]). `units`: those to move in the first block.
fn collect_packed(ftl: &mut Ftl, lead: PoolId, first: BlockId, mut units: u32, counts: &mut UntimedCounts) {
    let mut packing = Packing::new(ftl.geometry().units_per_program, ftl.classes_of_victim(), 1);
    let parts = ftl.geometry().pools_of_group(lead).map(PoolId);
    for part in parts.clone().skip(1) {
        units += ftl.start_part(part, ftl.blocks().member(first, part));
    }
    let mut allowed = ftl.most_programs(units);
    let mut next = Vec::with_capacity(ftl.geometry().units_per_program as usize);
    for part in parts.clone() {
        let block = ftl.blocks().member(first, part);
        ftl.prefetch_moves(block, 0);
        let mut cursor = 0;
        while let Some((page, from, lpn)) = ftl.next_move(block, cursor) {
            cursor = page + 1;
            packing.push(Move { class: ftl.class_to_move(from), ..Move::new(lpn, from) });
            // As a job reads them: all units of a flash page before the next program.
            let of_page = cursor.next_multiple_of(ftl.geometry().units_per_flash_page);
            let more = ftl.next_valid(block, cursor).is_some_and(|ppn| ftl.geometry().split_page(ppn).1 < of_page);
            while !more && packing.filled() > 0 {
                program_packed(ftl, lead, &mut packing, &mut next, &mut allowed, counts);
            }
        }
    }
    while !packing.units().is_empty() {
        program_packed(ftl, lead, &mut packing, &mut next, &mut allowed, counts);
    }
    for part in parts {
        ftl.commit_erase(part, ftl.blocks().member(first, part));
        counts.erases += 1;
    }
}

/// Programs the next units of a packing: of a superblock of several pools in the pool whose turn it is. `next`: empty, reused from call to
/// call; `allowed`: programs that the job may still begin.
fn program_packed(ftl: &mut Ftl, lead: PoolId, packing: &mut Packing, next: &mut Vec<Move>, allowed: &mut u32, counts: &mut UntimedCounts) {
    let class = packing.take(*allowed, next).expect("there are units");
    *allowed = allowed.saturating_sub(1);
    let (pool, allocated) = if ftl.geometry().spans_pools() {
        let dealt = ftl.deal_move(lead, class);
        (dealt.pool, ftl.allocate_dealt(dealt.pool, dealt.class))
    } else {
        (lead, ftl.allocate_move(lead, class))
    };
    let first = allocated.ppn;
    ftl.note_displaced(next.iter().filter(|moved| moved.class != allocated.class).count());
    for (&Move { lpn, from, .. }, to) in next.iter().zip(first.0..) {
        ftl.commit_move(pool, lpn, from, Ppn(to));
    }
    counts.pages_moved += next.len() as u64;
    counts.padded_units += u64::from(ftl.pad(pool, first, next.len() as u32));
    if ftl.geometry().parity_with(first).is_some() {
        counts.parity_units += u64::from(ftl.geometry().units_per_program);
    }
    next.clear();
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_keys::config::{Config, Victim};

    fn overwrite(config: &Config, ftl: &mut Ftl, seed: u64) -> UntimedCounts {
        let (mut rng, mut counts) = (Rng::new(seed, "test"), UntimedCounts::default());
        let mut victims = Picker::new(&config.gc, seed, "test/victim");
        for _ in 0..3000 {
            let lpn = Lpn(rng.below(u64::from(ftl.geometry().exported_units)) as u32);
            let (pool, _) = ftl.geometry().home(lpn);
            assert!(write(ftl, &mut victims, pool, &[lpn], &mut counts));
        }
        counts
    }

    #[test]
    fn pages_drawn_ahead_are_those_of_the_generator() {
        let ftl = Ftl::new(&Config::default());
        let bound = u64::from(ftl.geometry().exported_units);
        let (mut ahead, mut rng) = (PagesAhead::new(Rng::new(5, "test"), bound), Rng::new(5, "test"));
        for _ in 0..1000 {
            assert_eq!(ahead.next(&ftl), Lpn(rng.below(bound) as u32));
        }
    }

    #[test]
    fn room_is_made_when_a_block_is_taken_and_all_is_counted_once() {
        let mut config = Config::default();
        config.device.channels = 1;
        config.device.blocks_per_plane = 24;
        config.device.pages_per_block = 8;
        config.device.overprovisioning = 0.3;
        let (mut ftl, mut rng) = (Ftl::new(&config), Rng::new(1, "test"));
        let (mut counts, mut victims) = (UntimedCounts::default(), Picker::new(&config.gc, 1, "test/victim"));
        let (pool, pages) = (PoolId(0), ftl.geometry().exported_units);
        ftl.fill(pages);
        for _ in 0..500 {
            let lpn = Lpn(rng.below(u64::from(pages)) as u32);
            assert!(write(&mut ftl, &mut victims, pool, &[lpn], &mut counts));
            assert!(!ftl.wants_collection(pool));
        }
        assert_eq!(counts.host_programs, 500);
        assert_eq!(counts.erases, ftl.blocks().erases_in_pool(pool));
        assert!(counts.erases > 60, "{counts:?}");
    }

    #[test]
    fn a_loaded_drive_goes_on_like_the_saved_one_whatever_the_policy() {
        let mut ends = std::collections::BTreeSet::new();
        for &victim in Victim::ALL {
            let mut config = Config::default();
            config.device.channels = 2;
            config.device.blocks_per_plane = 24;
            config.device.pages_per_block = 8;
            config.device.overprovisioning = 0.3;
            config.gc.victim = victim;
            let mut ftl = Ftl::new(&config);
            ftl.fill(ftl.geometry().exported_units);
            overwrite(&config, &mut ftl, 1);
            let mut bytes = Vec::new();
            ftl.save(&config, &mut bytes).unwrap();
            let mut loaded = Ftl::load(&config, bytes.as_slice()).unwrap();
            loaded.check().unwrap();
            let counts = overwrite(&config, &mut ftl, 2);
            assert_eq!(overwrite(&config, &mut loaded, 2), counts, "{victim:?}");
            assert_eq!(ftl.blocks().parts(), loaded.blocks().parts(), "{victim:?}");
            assert!(counts.erases > 0 && ends.insert(counts.pages_moved), "{victim:?}: {counts:?}");
        }
    }
}
