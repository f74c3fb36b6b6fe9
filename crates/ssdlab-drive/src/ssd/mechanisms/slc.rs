//! Blocks in SLC mode (`slc`): idle time in which they are folded, what is counted of them, and the times of operations on them.
//!
//! | where | what |
//! |---|---|
//! | `ftl/slc.rs` | whether host writes go to the cache, and which block is folded next |
//! | `ftl/blocks/slc.rs` | which blocks are in SLC mode |
//! | `gc/fold.rs` | which pools fold now |

use crate::flash::Timing;
use crate::ftl::BlockState;
use crate::gc::Idle;
use crate::rules::BurstRule;
use crate::ssd::Ssd;
use crate::ssd::mechanisms::{ErasedBlock, pace, wear};
use crate::ssd::watch::probes;
use ssdlab_base::cause::Cause;
use ssdlab_base::units::{BlockId, Ns, PoolId, Ppn};
use ssdlab_keys::config::capacity::RESERVE;
use ssdlab_keys::config::{Config, Mode};
use ssdlab_keys::geometry::PageFacts;
use ssdlab_result::stats::SlcStats;

/// Bursts: moves from blocks in SLC mode take other times, and what is folded depends on free blocks.
pub(in crate::ssd) const BURSTS: BurstRule = BurstRule { keys: &["slc."], exact: |config| !config.slc.is_on() };

/// What a drive with a cache of blocks in SLC mode keeps beside the blocks.
#[derive(Debug)]
pub(in crate::ssd) struct Slc {
    /// Idle time after which blocks are folded; `None` without folding in idle time.
    idle: Option<Idle>,
}

impl Slc {
    /// The cache of a drive; `None` without one.
    pub(in crate::ssd) fn new(config: &Config) -> Option<Box<Self>> {
        let idle = (config.slc.idle_us > 0).then(|| Idle::after(config.slc.idle_us * 1000));
        config.slc.is_on().then(|| Box::new(Slc { idle }))
    }

    /// The detector of idle time in which blocks are folded.
    #[inline(always)]
    pub(in crate::ssd) fn idle_mut(&mut self) -> Option<&mut Idle> {
        self.idle.as_mut()
    }
}

impl Ssd {
    /// Statistics of the cache of blocks in SLC mode; `None` without one.
    pub fn slc_stats(&self) -> Option<SlcStats> {
        let (shape, geometry, blocks) = (self.geometry().slc?, self.geometry(), self.ftl.blocks());
        let pools = u64::from(geometry.pools.count.get());
        let mut stats = SlcStats {
            units_per_block: u64::from(geometry.units_in_mode(Mode::Slc)),
            static_blocks: self.pools().map(|pool| u64::from(blocks.static_left(pool))).sum(),
            dynamic_blocks: pools * u64::from(shape.dynamic_each),
            ..SlcStats::default()
        };
        for block in (0..geometry.blocks).map(BlockId) {
            let erases = blocks.erases()[block.index()];
            if blocks.is_static(block) {
                stats.static_erases.push(erases)
            } else {
                stats.other_erases.push(erases)
            }
            if blocks.in_cache(block) {
                stats.in_use += 1;
                stats.held_units += u64::from(blocks.valid(block));
            }
        }
        Some(stats)
    }
}

/// A block has been erased.
pub(in crate::ssd) fn block_erased(ssd: &mut Ssd, erased: ErasedBlock) {
    ssd.probes.count().slc_erases += u64::from(erased.in_cache);
}

/// Call when a request arrives: no further block is folded for idle time.
#[inline(always)]
pub(in crate::ssd) fn end_idle(ssd: &mut Ssd) {
    if let Some(idle) = ssd.slc.as_mut().and_then(|slc| slc.idle_mut())
        && idle.end()
    {
        ssd.gc.folds.set_idle(false);
    }
}

/// Call when a round begins to dispatch: folding begins in pools that want it since the last look.
#[inline(always)]
pub(in crate::ssd) fn look(ssd: &mut Ssd, now: Ns) {
    if ssd.slc.is_some() {
        look_at_cache(ssd, now);
    }
}

fn look_at_cache(ssd: &mut Ssd, now: Ns) {
    let outstanding = ssd.host.outstanding() > 0;
    let idle = ssd.slc.as_mut().and_then(|slc| slc.idle_mut()).filter(|idle| idle.is_due());
    if idle.is_some_and(|idle| idle.begin(now, outstanding).is_some()) {
        ssd.gc.folds.set_idle(true);
        ssd.pools().for_each(|pool| ssd.trigger_gc(now, pool));
        wake_jobs(ssd);
    }
    while let Some(pool) = ssd.ftl.take_news() {
        ssd.trigger_gc(now, pool);
    }
}

/// Call when the page at `old` was overwritten or trimmed: its block may be erased so that the cache can take it.
#[inline(always)]
pub(in crate::ssd) fn page_invalid(ssd: &mut Ssd, now: Ns, old: Option<Ppn>) {
    if ssd.rules.slc {
        look_at_block(ssd, now, old);
    }
}

#[cold]
#[inline(never)]
fn look_at_block(ssd: &mut Ssd, now: Ns, old: Option<Ppn>) {
    if let Some(old) = old
        && ssd.ftl.blocks().valid_together(ssd.block_of_page(old)) == 0
    {
        let pool = ssd.geometry().pool_of_page(old);
        ssd.ftl.steer_group(pool);
        ssd.trigger_gc(now, pool);
    }
}

/// Call when a block was taken for writes of the host, to program its page `first`.
/// `took`: a free block, or superblock, was taken for it, not one that a superblock had.
#[inline]
pub(in crate::ssd) fn block_opened(ssd: &mut Ssd, now: Ns, pool: PoolId, first: Ppn, took: bool) {
    if !ssd.rules.slc || !took || !ssd.ftl.in_cache(first) {
        return;
    }
    let (block, _) = ssd.geometry().split_page(first);
    for part in ssd.group_of(pool) {
        opened(ssd, now, part, ssd.ftl.blocks().member(block, part));
    }
}

fn opened(ssd: &mut Ssd, now: Ns, pool: PoolId, block: BlockId) {
    let mode = ssd.ftl.blocks().mode(block);
    ssd.probes.note(now, &ssd.ftl, probes::Event::OpenedInCache(block, mode));
    // Of the static part, these pages never counted as room.
    if !ssd.ftl.blocks().is_static(block) {
        let skipped = ssd.ftl.blocks().skipped(block);
        pace::pages_taken(ssd, pool, skipped);
        pace::padding_taken(ssd, pool, skipped);
    }
}

/// Call when a job starts: it may fold a block.
pub(in crate::ssd) fn job_starts(ssd: &mut Ssd, now: Ns, pool: PoolId, cause: Cause) {
    if cause.folds() {
        let victim = ssd.gc.job(pool).expect("it starts").victim();
        ssd.probes.note(now, &ssd.ftl, probes::Event::FoldBegins(victim, cause));
        ssd.probes.count().folds += 1;
        if !ssd.gc.folds.has_room() {
            wake_jobs(ssd);
        }
    }
}

/// Jobs that need host operations to advance may go on without.
fn wake_jobs(ssd: &mut Ssd) {
    for pool in ssd.pools().filter(|_| ssd.rules.gc.with_requests) {
        if goes_alone(ssd, pool) {
            ssd.ready.wake(ssd.geometry().die_of_pool(pool));
        }
    }
}

/// The pool's job advances without host operations (`gc.advance`): it works for the cache in idle time, or folds a block while as many pools
/// fold as may at a time (`slc.fold_jobs`). The writes that the drive has may all wait for pools that wait for their turn to fold.
pub(in crate::ssd) fn goes_alone(ssd: &Ssd, pool: PoolId) -> bool {
    let Some(job) = ssd.gc.job(pool).filter(|_| ssd.rules.slc) else { return false };
    let (folds, cause) = (&ssd.gc.folds, job.cause());
    folds.is_idle() && (cause.folds() || cause == Cause::Empty) || cause.folds() && !folds.has_room()
}

/// Call when a job of a pool has ended, and its scope has had its turn. If it folded a block, the pools that wait for it (`slc.fold_jobs`) fold
/// in turn, from the next pool on, so that none waits for ever.
pub(in crate::ssd) fn job_ended(ssd: &mut Ssd, now: Ns, pool: PoolId, cause: Cause) {
    if !cause.folds() {
        return;
    }
    ssd.gc.folds.ended();
    if !ssd.gc.folds.is_limited() {
        return;
    }
    let pools = ssd.geometry().pools.count.get();
    for next in (pool.0 + 1..pools).chain(0..=pool.0).map(PoolId) {
        if !ssd.gc.folds.has_room() {
            return;
        }
        ssd.gain_appeared(now, next);
        ssd.trigger_gc(now, next);
    }
}

/// Verify mode: checks the array time of a read of a page, against the mode that the verifier knows of its block.
#[inline(always)]
pub(in crate::ssd) fn check_read(ssd: &mut Ssd, ppn: Ppn, ns: Ns) {
    if ssd.rules.slc {
        check(ssd, ppn, "read", ns, |timing, facts| timing.read(facts));
    }
}

/// Verify mode: checks the array time of a program that begins at a page.
#[inline(always)]
pub(in crate::ssd) fn check_program(ssd: &mut Ssd, first: Ppn, ns: Ns) {
    if ssd.rules.slc {
        check(ssd, first, "program", ns, |timing, facts| timing.program(facts));
    }
}

fn check(ssd: &mut Ssd, ppn: Ppn, what: &str, ns: Ns, time: fn(&Timing, &PageFacts) -> Ns) {
    let block = ssd.block_of_page(ppn);
    let Some(mode) = ssd.probes.verifier().map(|verifier| verifier.mode(block)) else { return };
    let expected = time(ssd.flash.timing(), &PageFacts { offset: ssd.geometry().flash_page(ppn), mode });
    if ns != expected
        && let Some(verifier) = ssd.probes.verifier_mut()
    {
        verifier.found(Err(format!("the {what} of page {ppn} takes {ns} ns, and {expected} in the mode of its block ({mode:?})")));
    }
}

/// Verify mode: checks that each pool without a job has the block that GC keeps, and that the blocks in SLC mode are those that the
/// verifier has seen opened in it.
pub(in crate::ssd) fn check_modes(ssd: &Ssd) -> Result<(), String> {
    let Some(verifier) = ssd.probes.verifier().filter(|_| ssd.rules.slc) else { return Ok(()) };
    let short = |&pool: &PoolId| ssd.gc.job(pool).is_none() && ssd.ftl.blocks().free_count(pool) < RESERVE;
    if let Some(pool) = ssd.pools().find(short).filter(|_| !wear::is_read_only(ssd)) {
        return Err(format!("pool {pool} has no free block between two jobs"));
    }
    // The blocks of a superblock keep their mode until all are erased.
    let is_erased = |&block: &BlockId| matches!(ssd.ftl.blocks().state(block), BlockState::Erased | BlockState::Retired);
    let mut blocks = (0..ssd.geometry().blocks).map(BlockId).filter(|block| !is_erased(block));
    match blocks.find(|&block| ssd.ftl.blocks().mode(block) != verifier.mode(block)) {
        Some(block) => Err(format!("block {block} has changed its mode without an erase")),
        None => Ok(()),
    }
}
