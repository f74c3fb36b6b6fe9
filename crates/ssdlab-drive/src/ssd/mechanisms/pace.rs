//! Pacing (`gc.pace`): which writes may come in, and the credit that GC earns for them, or which steps of GC go before programs of writes.

use crate::ftl::Class;
use crate::gc::{Ahead, Job, Pace, WHOLE};
use crate::rules::BurstRule;
use crate::ssd::Ssd;
use crate::ssd::mechanisms::{accepted, advance};
use ssdlab_base::units::{DieId, Lpn, Ns, PoolId, Ppn};
use ssdlab_keys::config::{Allocation, Config, Pace as PaceBy};
use ssdlab_keys::geometry::Geometry;

/// Bursts: each move earns credit when it ends.
pub(in crate::ssd) const BURSTS: BurstRule =
    BurstRule { keys: &["gc.pace", "gc.pace_window"], exact: |config| config.gc.pace == PaceBy::None };

/// The accounts of a drive; `None` if its writes are not paced.
pub(in crate::ssd) fn of(config: &Config, geometry: &Geometry) -> Option<Box<Pace>> {
    let pages = geometry.units_per_block.get();
    let window = config.gc.pace_units(geometry.pools.blocks_each, pages);
    let by_drive = config.ftl.allocation == Allocation::Dynamic;
    let pools = geometry.pools.count.get();
    match config.gc.pace {
        PaceBy::None => None,
        PaceBy::Proportional => Some(Box::new(Pace::new(pools, window, by_drive))),
        PaceBy::Room => {
            let places = config.buffer_units().min(geometry.exported_units.into());
            // GC of one pool goes before the writes to all pools of its die.
            let of_die = (pools / geometry.dies).max(1);
            // Half of a pool's share of the buffer: several pools may lack free blocks at a time.
            let buffered = places / u64::from(2 * pools * of_die);
            // With a buffer a write waits for a free place in it, which a program on any die frees, so that GC of one die may go on for longer. Not with
            // superblocks over all dies, whose GC jobs hold up all dies.
            let waits_for_any = places > 0 && geometry.dies.min(pools / geometry.pools.per_group.get()) > 1;
            let moves = if waits_for_any { MOVES / i64::from(of_die) } else { 0 };
            Some(Box::new(Pace::by_room(pools, window, buffered as i64, moves)))
        }
    }
}

/// With a write buffer: number of page moves in all pools of a die for each host page, from which [`Pace::rate`] follows.
const MOVES: i64 = 8;

/// Number of jobs after the present one for which the room of a pool is predicted, with victims as full as the present one.
const JOBS_AHEAD: i64 = 3;

impl Ssd {
    /// Writes may have to wait for credit.
    #[inline(always)]
    pub fn paces(&self) -> bool {
        self.pace.as_ref().is_some_and(|pace| !pace.is_by_room())
    }

    /// Lets a page (mapping unit) of a write in, which takes credit. Returns false if it has to wait for credit.
    #[inline]
    pub fn lets_in(&mut self, unit: Lpn) -> bool {
        let pool = self.geometry().static_pool(unit);
        if self.is_read_only() || !self.paces() {
            return true;
        }
        let Some(pace) = &mut self.pace else { return true };
        let comes = pace.take(pool) || !is_paced(self, pool);
        // Pages in a write buffer are limited by the buffer (docs/model/pacing.md).
        let counts = comes && !self.rules.gc.writes_are_complete;
        if let Some(pace) = self.pace.as_mut().filter(|_| counts) {
            pace.comes_in(pool);
        }
        comes
    }

    /// Pages (mapping units) of writes that have come in and have no page in flash yet; 0 without pacing, or with a write buffer.
    #[doc(hidden)]
    pub fn paced_units(&self) -> u64 {
        self.pace.as_ref().map_or(0, |pace| pace.let_in())
    }

    /// [`Ssd::lets_in`] would let this page (mapping unit) of a write in.
    #[inline]
    pub fn would_let_in(&self, unit: Lpn) -> bool {
        let pool = self.geometry().static_pool(unit);
        !self.paces() || self.pace.as_ref().is_none_or(|pace| pace.can_take(pool)) || !is_paced(self, pool) || self.is_read_only()
    }

    /// Sets the page (mapping unit) for which a write waits for credit; `None`: no write waits. Returns true if a GC step may begin because
    /// of it.
    pub fn awaits_credit(&mut self, unit: Option<Lpn>) -> bool {
        let pool = unit.map(|unit| self.geometry().static_pool(unit));
        let Some(pace) = &mut self.pace else { return false };
        if !pace.awaits(pool) || pool.is_none() {
            return false;
        }
        for die in (0..self.geometry().dies).map(DieId) {
            if self.gc.jobs.on_die(die) > 0 && advance::is_needed(self, die) {
                self.ready.wake(die);
            }
        }
        true
    }

    /// Counts a write that has waited for credit.
    pub fn note_paced_write(&mut self) {
        self.probes.count().paced_writes += 1;
    }
}

/// Notes that a page (mapping unit) of a write has a page in flash, perhaps that of a page move. Pages of the mapping table never came
/// in.
#[inline(always)]
pub(in crate::ssd) fn write_begins(ssd: &mut Ssd, unit: Lpn) {
    if ssd.pace.is_none() || ssd.geometry().is_of_map(unit) {
        return;
    }
    let pool = ssd.geometry().static_pool(unit);
    if let Some(pace) = &mut ssd.pace {
        pace.is_placed(pool);
    }
}

/// GC earns credit for writes to the pool's account: a pool of it is short of free blocks, and has a job that goes on.
fn is_paced(ssd: &Ssd, pool: PoolId) -> bool {
    let pace = ssd.pace.as_ref().expect("writes are paced");
    if pace.is_by_drive() { ssd.pools().any(|pool| earns(ssd, pool)) } else { earns(ssd, pool) }
}

fn earns(ssd: &Ssd, pool: PoolId) -> bool {
    let goes_on = || match ssd.gc.job(pool) {
        Some(job) => !job.is_paused(),
        // Otherwise all waiting writes would come in between two jobs.
        None => ssd.gc.starts_behind_barrier(&ssd.ftl, pool),
    };
    ssd.ftl.is_short(pool) && goes_on()
}

/// A write waits for credit that a job on this die can earn: its steps go before writes, which have been let in before.
#[inline(always)]
pub(in crate::ssd) fn is_awaited_on(ssd: &Ssd, die: DieId) -> bool {
    let Some(pace) = &ssd.pace else { return false };
    ssd.geometry().pools_of_die(die).map(PoolId).any(|pool| pace.is_awaited(pool) && ssd.gc.job(pool).is_some())
}

/// A write waits for credit, and a job on this die can earn some, perhaps for a write behind that one: if it waited until that write is
/// the first, one die after the other would collect.
#[inline(always)]
pub(in crate::ssd) fn is_paced_on(ssd: &Ssd, die: DieId) -> bool {
    let Some(pace) = &ssd.pace else { return false };
    ssd.geometry().pools_of_die(die).map(PoolId).any(|pool| pace.may_be_wanted(pool) && ssd.gc.job(pool).is_some())
}

/// Programs of the pool's group have begun for which its job still owes moves: these go before more writes to the die (`gc.pace = "room"`).
#[inline(always)]
pub(in crate::ssd) fn is_owed(ssd: &Ssd, pool: PoolId) -> bool {
    ssd.pace.as_ref().is_some_and(|pace| pace.is_owed(ssd.geometry().lead_pool(pool)))
}

/// Pages that GC has to free for each page of a write class that the host programs now, in parts of [`WHOLE`]; the formula is in docs/model/pacing.md,
/// "By room". `lead`: the pool, or the first pool of those whose blocks form superblocks.
fn share(ssd: &Ssd, lead: PoolId, class: Class) -> i64 {
    let pace = ssd.pace.as_ref().expect("writes are paced");
    let ahead @ Ahead { to_move, due, valid, pages } = pace.ahead(lead);
    // GC of a block that is always in SLC mode frees no page outside the SLC cache.
    let is_static = ssd.gc.job(lead).is_some_and(|job| ssd.geometry().is_static(job.victim()));
    if pages <= valid || is_static {
        return 0;
    }
    let (mut pools, mut open, mut of_moves) = (0, 0, 0);
    for part in ssd.group_of(lead) {
        pools += 1;
        open += i64::from(ssd.ftl.room_of_host(part, class));
        of_moves += i64::from(ssd.ftl.room_of_moves(part));
    }
    let rate = pace.rate(ahead);
    let free = ssd.ftl.free_above_reserve(lead) - i64::from(accepted::blocks_kept(ssd, lead));
    if ssd.ftl.shares_frontiers() {
        // Jobs fill one block of the reserve, which the host may fill, too, but for what they need.
        return pace.share(due, of_moves + (free + 1) * pages - to_move, pools, rate);
    }
    // Page moves take whole blocks, so the pool may run dry during a later job and not during this one.
    let (mut most, mut kept) = (0, 0);
    for jobs in 0..=JOBS_AHEAD {
        let to_move = to_move + jobs * valid - of_moves;
        let left = free + jobs - (to_move.max(0) + pages - 1) / pages;
        // With a write buffer writes are waiting, so the host takes a freed block before the next job does.
        let blocks = if ssd.rules.gc.writes_are_complete { left.max(kept) } else { left };
        most = most.max(pace.share(due + jobs * (pages - valid), open + blocks.max(0) * pages, pools, rate));
        kept = kept.max(left + 1);
    }
    most
}

/// A pool does not need time for its programs: half of a full account is left to its writes, or they owe less than half of the moves that free what
/// they take.
pub(in crate::ssd) fn has_half(ssd: &Ssd, pool: PoolId) -> bool {
    let half = |pace: &Pace| {
        if pace.is_by_room() {
            2 * share(ssd, ssd.geometry().lead_pool(pool), ssd.class_of_next(pool)) < WHOLE
        } else {
            pace.has_half(pool)
        }
    };
    ssd.pace.as_ref().is_some_and(|pace| half(pace))
}

/// Call when the number of free blocks of a pool has changed.
#[inline(always)]
pub(in crate::ssd) fn pace_block(ssd: &mut Ssd, pool: PoolId) {
    if let Some(pace) = &mut ssd.pace {
        pace.set_short(pool, ssd.ftl.is_short(pool));
    }
}

/// Pages that can be programmed in a pool, or in all pools of its group.
fn room(ssd: &Ssd, pool: PoolId) -> u64 {
    ssd.group_of(pool).map(|pool| ssd.ftl.room(pool)).sum()
}

/// Call when the job of a pool has started, or that of the group whose first pool it is.
pub(in crate::ssd) fn job_starts(ssd: &mut Ssd, pool: PoolId) {
    if ssd.pace.is_none() {
        return;
    }
    if ssd.gc.jobs.finishes(pool) {
        return ssd.pace.as_mut().expect("writes are paced").taken_up(pool);
    }
    let waits = ssd.ftl.waiting_victim(pool).is_some();
    let victim = ssd.gc.job(pool).map(Job::victim).expect("it has just started");
    let members = ssd.group_of(pool).map(|part| ssd.ftl.blocks().member(victim, part));
    let (pages, valid) =
        members.fold((0, 0), |(pages, valid), block| (pages + ssd.ftl.units_freed(block), valid + ssd.ftl.blocks().valid(block)));
    let room = room(ssd, pool);
    if let Some(pace) = &mut ssd.pace {
        pace.job_starts(pool, pages, valid);
    }
    if let Some(verifier) = ssd.probes.verifier_mut().filter(|_| !waits) {
        verifier.job_starts(pool, room);
    }
}

/// The job of a pool ends, and its victim waits: the rest of its credit is earned with the erase.
pub(in crate::ssd) fn job_leaves(ssd: &mut Ssd, pool: PoolId) {
    if let Some(pace) = &mut ssd.pace {
        pace.leaves(pool);
    }
}

/// Earns credit for `pages` that were moved out of the pool's waiting victim.
pub(in crate::ssd) fn earn_for_waiting(ssd: &mut Ssd, pool: PoolId, pages: u32) {
    if pages == 0 || ssd.pace.is_none() {
        return;
    }
    let lead = ssd.geometry().lead_pool(pool);
    ssd.pace.as_mut().expect("writes are paced").moved_out_of_waiting(lead, pages);
}

/// Earns credit for `pages` that the job of the pool, or of its group, has moved.
#[inline(always)]
pub(in crate::ssd) fn earn(ssd: &mut Ssd, pool: PoolId, pages: u32) {
    if ssd.pace.is_none() {
        return;
    }
    let lead = ssd.geometry().lead_pool(pool);
    ssd.pace.as_mut().expect("writes are paced").moved(lead, pages);
}

/// Takes credit for `pages` of the pool that are padding.
pub(in crate::ssd) fn padding_taken(ssd: &mut Ssd, pool: PoolId, pages: u32) {
    if pages == 0 || !ssd.paces() {
        return;
    }
    let owes = is_paced(ssd, pool);
    if let Some(pace) = &mut ssd.pace {
        pace.use_up(pool, pages, owes);
    }
}

/// Notes pages of the pool that a host write or padding takes: no job earns them.
#[inline(always)]
pub(in crate::ssd) fn pages_taken(ssd: &mut Ssd, pool: PoolId, pages: u32) {
    let lead = ssd.geometry().lead_pool(pool);
    if let Some(verifier) = ssd.probes.verifier_mut() {
        verifier.takes_room(lead, pages);
    }
}

/// Call when the host begins to program a write class at page `first` of a pool. With `gc.pace = "room"`, GC of the pool then has to free pages before
/// the next write to its die.
#[inline(always)]
pub(in crate::ssd) fn program_begins(ssd: &mut Ssd, pool: PoolId, class: Class, first: Ppn) {
    if ssd.pace.as_ref().is_some_and(|pace| pace.is_by_room()) {
        owes(ssd, pool, class, first);
    }
}

fn owes(ssd: &mut Ssd, pool: PoolId, class: Class, first: Ppn) {
    let lead = ssd.geometry().lead_pool(pool);
    // Writes to the SLC cache are held back by folding instead.
    if !earns(ssd, lead) || ssd.ftl.in_cache(first) {
        return;
    }
    let (units, share) = (ssd.geometry().units_per_program, share(ssd, lead, class));
    ssd.pace.as_mut().expect("writes are paced").owes(lead, units, share);
}

/// Earns the rest of the credit of the job of the pool, or of its group, whose victim is erased.
/// `retired`: it takes no data any more; `waited`: it was the victim of an earlier job.
pub(in crate::ssd) fn block_erased(ssd: &mut Ssd, now: Ns, pool: PoolId, retired: bool, waited: bool) {
    if ssd.is_read_only() {
        // No write waits for credit any more.
        return;
    }
    let lead = ssd.geometry().lead_pool(pool);
    let being_moved = if waited && ssd.pace.is_some() { being_programmed(ssd, lead) } else { 0 };
    let Some(pace) = &mut ssd.pace else { return };
    if waited {
        pace.exchange(lead);
    }
    let earned = if retired { pace.retired(lead) } else { pace.erased(lead) };
    let mut moved = 0;
    if waited {
        pace.exchange(lead);
        moved = pace.moved_by(lead) + being_moved;
    }
    ssd.group_of(lead).for_each(|part| pace_block(ssd, part));
    let room = room(ssd, lead);
    if let Some(verifier) = ssd.probes.verifier_mut() {
        verifier.job_earned(now, lead, earned - i64::from(moved), room);
        if waited {
            verifier.room_gained(lead, earned);
        }
    }
}

/// Units that programs of the job of the group of `lead` take that have begun and not ended: on other dies, while a superblock that waited is erased.
fn being_programmed(ssd: &Ssd, lead: PoolId) -> u32 {
    let units = |part| ssd.gc.units(part).iter().filter(|moved| moved.to.is_some() && moved.writer.is_none()).count() as u32;
    if ssd.rules.gc.spreads { ssd.group_of(lead).map(units).sum() } else { 0 }
}
