//! Data that a level above the drive has accepted, and that are not in flash (`wear`): the drive keeps a place for all of them.
//!
//! A level accepts a unit only if its pool has a program for each unit that was accepted before (a unit may have to be programmed alone), and
//! [`Config::KEPT_BLOCKS`] free blocks beside these and beside those of GC ([`Ssd::has_place`]). GC leaves this place alone: where it could not go
//! on otherwise, the drive becomes read-only. From then on the accepted data alone are written, GC rests, and the drive is closed once they
//! are in flash.
//!
//! With dynamic allocation each pool, or group of pools whose blocks form superblocks, keeps an equal share.
//!
//! Where part of the mapping table is in flash only, each pool has blocks for its share of the whole table as well
//! ([`Config::map_kept_blocks`]), and each accepted unit counts once more for its translation page, which its write changes. A drive that is read-only goes
//! on to write these pages, as reads bring others into memory.

use crate::sched::TransactionKind;
use crate::ssd::Ssd;
use crate::ssd::mechanisms::wear;
use ssdlab_base::units::{DieId, Lpn, Ns, PoolId, TxnId};
use ssdlab_keys::config::{Allocation, Config};
use ssdlab_keys::geometry::{Geometry, MapPages};

/// Mapping units that levels above have accepted.
#[derive(Debug)]
pub(in crate::ssd) struct Accepted {
    /// By pool, or one number for all: accepted units that are not in flash.
    units: Vec<u64>,
    /// Any pool may take any of the data: allocation is dynamic.
    by_drive: bool,
    total: u64,
    /// Pools, or groups of those whose blocks form superblocks.
    pools: u64,
    /// The translation pages, where part of the mapping table is in flash only, and the blocks that each pool keeps for them.
    map: Option<MapPages>,
    map_blocks: u32,
    /// The index in `units` of the place for which a level above waits, if it waits for one.
    awaited: Option<usize>,
    /// A level above accepts all requests that come, so that the drive rejects none.
    above: bool,
    /// Accepted data come straight from that level: no write buffer gives their places back.
    at_once: bool,
    /// The most blocks that accepted data of a pool may take. Where part of the mapping table is in flash only, its writes take free blocks down to
    /// the reserve, while data may stay long in a cache: all have to fit in what is the reserve, without [`Config::KEPT_BLOCKS`] and the table.
    most: u32,
}

impl Accepted {
    /// No accepted data; `None` where no level accepts any before they are in flash, or no block can fail.
    pub(in crate::ssd) fn new(config: &Config, geometry: &Geometry) -> Option<Self> {
        if !config.wear.is_on() || !config.accepts_early() {
            return None;
        }
        let (pools, by_drive) = (geometry.pools.count.get(), config.ftl.allocation == Allocation::Dynamic);
        Some(Accepted {
            units: vec![0; if by_drive { 1 } else { pools as usize }],
            by_drive,
            total: 0,
            pools: (pools / geometry.pools.per_group.get()).into(),
            map: config.caches_map().then(|| MapPages::new(config, geometry)),
            map_blocks: config.map_kept_blocks(),
            awaited: None,
            above: config.accepts_above_buffer(),
            at_once: config.accepts_above_buffer() && !config.buffer.is_on(),
            most: if config.caches_map() && config.accepts_above_buffer() {
                config.reserve() - Config::KEPT_BLOCKS - config.map_kept_blocks()
            } else {
                u32::MAX
            },
        })
    }

    /// Accepted units, and `more`, for which the pool keeps a place. `full`: pools, or groups of them, that keep none.
    fn of(&self, pool: PoolId, more: u64, full: u64) -> u64 {
        let share = if self.by_drive { self.pools - full } else { 1 };
        (self.units[self.place_of(pool)] + more).div_ceil(share)
    }

    fn place_of(&self, pool: PoolId) -> usize {
        if self.by_drive { 0 } else { pool.index() }
    }
}

impl Ssd {
    /// A level above may accept a mapping unit: the drive has a place for it, whatever fails. Always true where no block can fail.
    #[inline(always)]
    pub fn has_place(&self, unit: Lpn) -> bool {
        self.wear.as_ref().is_none_or(|wear| wear.accepted.is_none()) || self.keeps_place(unit)
    }

    fn keeps_place(&self, unit: Lpn) -> bool {
        let has_place = |pool| has_place_in(self, pool, 0);
        if self.rules.dynamic {
            self.pools().all(has_place) || self.others_keep_place()
        } else {
            has_place(self.geometry().static_pool(unit))
        }
    }

    /// Dynamic allocation: the pools that have room for one more valid page have a place between them. Where a block fails, the data of its pool
    /// may fill what is left, so that GC cannot give the pool a free block.
    fn others_keep_place(&self) -> bool {
        let full = self.pools().filter(|&pool| !wear::pool_has_room(self, pool)).count() as u32;
        let mut others = self.pools().filter(|&pool| wear::pool_has_room(self, pool)).peekable();
        let full = u64::from(full / self.geometry().pools.per_group.get());
        full > 0 && others.peek().is_some() && others.all(|pool| has_place_in(self, pool, full))
    }

    /// A level above waits for a place for this mapping unit ([`Ssd::has_place`]), or for none. GC makes room for it, even where it begins or
    /// goes on with operations of the host only.
    pub fn awaits_place(&mut self, now: Ns, unit: Option<Lpn>) {
        let pool = unit.map(|unit| self.geometry().static_pool(unit));
        let Some(accepted) = self.wear.as_mut().and_then(|wear| wear.accepted.as_mut()) else { return };
        accepted.awaited = pool.map(|pool| accepted.place_of(pool));
        let Some(pool) = pool else { return };
        self.probes.count().place_waits += 1;
        let all = self.rules.dynamic;
        for pool in self.pools().filter(|&other| all || other == pool) {
            self.ready.wake(self.geometry().die_of_pool(pool));
            self.trigger_gc(now, pool);
        }
    }

    /// A level above waits for a place in the drive.
    #[inline(always)]
    pub fn has_awaited_place(&self) -> bool {
        self.wear.as_ref().and_then(|wear| wear.accepted.as_ref()).is_some_and(|accepted| accepted.awaited.is_some())
    }

    /// A level above has accepted a mapping unit: the drive keeps a place for it, until [`Ssd::is_in_flash`].
    #[inline(always)]
    pub fn is_accepted(&mut self, unit: Lpn) {
        if self.wear.is_some() {
            self.count_accepted(unit, 1);
        }
    }

    /// A mapping unit that was accepted is in flash, or its data are no longer needed.
    #[inline(always)]
    pub fn is_in_flash(&mut self, unit: Lpn) {
        if self.wear.is_some() {
            self.count_accepted(unit, -1);
        }
    }

    fn count_accepted(&mut self, unit: Lpn, units: i64) {
        let geometry = self.ftl.geometry();
        let Some(accepted) = self.wear.as_mut().and_then(|wear| wear.accepted.as_mut()) else { return };
        let of_map = accepted.map.as_ref().map_or(0..0, |map| map.units_of(map.page_of(unit.0)));
        for unit in std::iter::once(unit).chain(of_map.clone().map(Lpn)) {
            let place = accepted.place_of(geometry.static_pool(unit));
            let count = |held: u64| held.checked_add_signed(units).expect("a unit was accepted once for each time that it left");
            (accepted.units[place], accepted.total) = (count(accepted.units[place]), count(accepted.total));
        }
        if wear::is_read_only(self) && !writes_on(self) {
            self.ftl.close_for_writes();
        }
        if self.ftl.heeds_promises() {
            std::iter::once(unit).chain(of_map.map(Lpn)).for_each(|unit| self.promise_places(unit));
        }
    }

    /// Tells the pools how many free blocks accepted data take, now that the number of accepted units of a unit's pool has changed.
    fn promise_places(&mut self, unit: Lpn) {
        let own = self.geometry().static_pool(unit);
        let blocks = blocks_of_units(self, own, 0, 0);
        if !self.rules.dynamic {
            self.promise(own, blocks);
        } else if self.ftl.promised(own) != blocks {
            // All pools keep an equal share.
            self.pools().for_each(|pool| self.promise(pool, blocks));
        }
    }

    /// A host write may wait for room that the pool's job no longer needs, or for the cache in SLC mode, past which it goes now.
    fn promise(&mut self, pool: PoolId, blocks: u32) {
        if self.ftl.promise(pool, blocks) && (self.rules.slc || self.ftl.is_shared(pool)) {
            self.ready.wake(self.geometry().die_of_pool(pool));
        }
    }

    /// Accepted mapping units that are not in flash; `None` where the drive keeps no place for any.
    pub fn accepted_units(&self) -> Option<u64> {
        self.wear.as_ref()?.accepted.as_ref().map(|accepted| accepted.total)
    }

    /// Accepted data are not in flash yet.
    pub(in crate::ssd) fn has_accepted(&self) -> bool {
        self.wear.as_ref().and_then(|wear| wear.accepted.as_ref()).is_some_and(|accepted| accepted.total > 0)
    }
}

/// A level above has accepted all requests that come to the drive.
pub(in crate::ssd) fn are_accepted_above(ssd: &Ssd) -> bool {
    ssd.wear.as_ref().and_then(|wear| wear.accepted.as_ref()).is_some_and(|accepted| accepted.above)
}

/// A page operation of the host has ended.
#[inline(always)]
pub(in crate::ssd) fn page_ended(ssd: &mut Ssd, id: TxnId) {
    if ssd.wear.is_some() && ssd.transactions[id].kind == TransactionKind::Write {
        write_ended(ssd, ssd.transactions[id].lpn);
    }
}

/// Call when a write of a unit has ended, or finds no page: without a write buffer its place is given back.
pub(in crate::ssd) fn write_ended(ssd: &mut Ssd, unit: Lpn) {
    let at_once = ssd.wear.as_ref().and_then(|wear| wear.accepted.as_ref()).is_some_and(|accepted| accepted.at_once);
    if at_once && !ssd.geometry().is_of_map(unit) {
        ssd.is_in_flash(unit);
    }
}

/// A level above waits for a place in this pool.
pub(in crate::ssd) fn is_awaited(ssd: &Ssd, pool: PoolId) -> bool {
    let accepted = ssd.wear.as_ref().and_then(|wear| wear.accepted.as_ref());
    accepted.is_some_and(|accepted| accepted.awaited.is_some_and(|place| place == accepted.place_of(pool)))
}

/// A level above waits for a place in a pool of this die.
#[inline(always)]
pub(in crate::ssd) fn is_awaited_on(ssd: &Ssd, die: DieId) -> bool {
    ssd.wear.is_some() && ssd.geometry().pools_of_die(die).any(|pool| is_awaited(ssd, PoolId(pool)))
}

/// The mapping table is in flash, so that a drive that is read-only goes on to write changed pages of it.
#[inline(always)]
pub(in crate::ssd) fn has_table(ssd: &Ssd) -> bool {
    ssd.wear.as_ref().and_then(|wear| wear.accepted.as_ref()).is_some_and(|accepted| accepted.map.is_some())
}

/// There are accepted data, or changes of the mapping table may be, that are not in flash.
pub(in crate::ssd) fn writes_on(ssd: &Ssd) -> bool {
    ssd.has_accepted() || has_table(ssd)
}

/// Free blocks that accepted data of the pool, and its share of the mapping table, take at most.
pub(in crate::ssd) fn blocks_kept(ssd: &Ssd, pool: PoolId) -> u32 {
    let of_table = ssd.wear.as_ref().and_then(|wear| wear.accepted.as_ref()).map_or(0, |accepted| accepted.map_blocks);
    blocks_of_units(ssd, pool, 0, 0) + of_table
}

/// The pool has a place for one more unit; `full`: as [`Accepted::of`].
fn has_place_in(ssd: &Ssd, pool: PoolId, full: u64) -> bool {
    let blocks = blocks_of_units(ssd, pool, 1, full);
    let most = ssd.wear.as_ref().and_then(|wear| wear.accepted.as_ref()).map_or(u32::MAX, |accepted| accepted.most);
    blocks <= most && ssd.ftl.has_beside_reserve(pool, blocks)
}

/// Free blocks that accepted data of the pool, and `more` units, take at most. `full`: as [`Accepted::of`].
fn blocks_of_units(ssd: &Ssd, pool: PoolId, more: u64, full: u64) -> u32 {
    let Some(accepted) = ssd.wear.as_ref().and_then(|wear| wear.accepted.as_ref()) else { return 0 };
    let pages = accepted.of(pool, more, full) * u64::from(ssd.geometry().units_per_program);
    ssd.ftl.blocks_for(pages, ssd.ftl.open_to_host(pool).into())
}

/// Free blocks of the pool that GC leaves to accepted data, so that [`Config::KEPT_BLOCKS`] may fail.
pub(in crate::ssd) fn blocks_left_alone(ssd: &Ssd, pool: PoolId) -> u32 {
    if writes_on(ssd) { blocks_kept(ssd, pool) + Config::KEPT_BLOCKS } else { 0 }
}
