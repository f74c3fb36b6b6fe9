//! Wear (`wear`): erases that take longer, data that move to wear blocks evenly, programs that are repeated elsewhere, blocks that are retired, and the end of the drive's life.
//!
//! | where | what |
//! |---|---|
//! | `flash/wear.rs` | which programs and erases fail |
//! | `flash/pulses.rs` | which pulses an erase has, and how much it wears its block |
//! | `ftl/wear.rs`, `ftl/blocks/retired.rs` | what that changes of open blocks, room and the spare |
//! | `gc/leveling/` | which blocks are moved to wear all evenly |
//! | `gc/due.rs` | blocks that wait to be moved, since a program of them failed |
//!
//! The drive becomes read-only when a pool has lost more blocks than its keys can spare ([`Config::losable_blocks`]), or has no room for the
//! pages of a GC job: its data would not fit any more. Then no GC job goes on, and no write begins but of data that a level above has accepted
//! ([`accepted`]). What waits to be written otherwise is rejected.

use crate::flash::{Failures, Pulses};
use crate::ftl::{Class, Freed, Ftl};
use crate::gc::Leveling;
use crate::rules::BurstRule;
use crate::sched::{Placement, QueueKind, linked};
use crate::ssd::candidates::HostCandidate;
use crate::ssd::mechanisms::accepted::{self, Accepted};
use crate::ssd::mechanisms::{ErasedBlock, ages, dynamic, pace, superblock, units};
use crate::ssd::watch::probes::Event;
use crate::ssd::watch::waits;
use crate::ssd::{Planted, Ssd};
use ssdlab_base::blocked::Served;
use ssdlab_base::cause::Cause;
use ssdlab_base::status::Status;
use ssdlab_base::units::{BlockId, DieId, Lpn, Ns, PoolId, Ppn, ReqId, TxnId};
use ssdlab_keys::config::{Config, WearEnd};
use ssdlab_keys::geometry::{BlockFacts, WHOLE};
use ssdlab_result::stats::{EraseWear, ReadOnly, ReadOnlyCause, RetiredBlocks, WearStats};

/// Bursts: programs may fail, and data move to wear blocks evenly.
pub(in crate::ssd) const BURSTS: BurstRule = BurstRule { keys: &["wear."], exact: |config| !config.wear.is_active() };

/// What a drive whose blocks can fail keeps beside the blocks.
#[derive(Debug)]
pub(in crate::ssd) struct Wear {
    failures: Failures,
    /// Number of blocks that a pool may lose.
    losable: u32,
    /// By pool: blocks that have failed, without those that are always in SLC mode.
    lost: Vec<u32>,
    /// Blocks of the static part of a cache in SLC mode that have failed.
    lost_static: u32,
    /// Blocks that are filled no further while programs of them may be under way, each with the number of its last pages that are left out.
    open: Vec<(BlockId, u32)>,
    /// 1 % of the blocks have failed.
    has_lost_one_percent: bool,
    read_only: Option<ReadOnly>,
    /// By pool, from when the drive became read-only: blocks that had failed.
    lost_before: Vec<u32>,
    /// Data that levels above have accepted; `None`: none accepts any before they are in flash.
    pub(in crate::ssd) accepted: Option<Accepted>,
    /// The drive is read-only, and no pool has a page for a write of its host queue (dynamic allocation).
    full: bool,
    /// The run ends once the drive is read-only.
    stops: bool,
    /// Blocks can fail.
    fails: bool,
    leveling: Option<Leveling>,
    /// By pool (the first of its group): the block, or superblock, that is to take the data of the one that waits to be moved for levelling.
    worn: Vec<BlockId>,
    /// Millionths of its time by which 1,000 erases lengthen an erase.
    erase_growth: u64,
    /// Number of GC jobs given up since the drive is read-only, and the sum of their times, ns.
    given_up: (u64, u128),
    /// Blocks retired, by cause.
    retired: RetiredBlocks,
}

impl Wear {
    /// The wear of a drive; `None` if erases have no effect on its blocks. `seed`: the seed of the run.
    pub(in crate::ssd) fn new(config: &Config, ftl: &Ftl, seed: u64) -> Option<Box<Self>> {
        let geometry = ftl.geometry();
        let failures = Failures::new(config, geometry.blocks, seed)?;
        Some(Box::new(Wear {
            failures,
            losable: config.losable_blocks(),
            lost: vec![0; geometry.pools.count.get() as usize],
            lost_static: 0,
            open: Vec::new(),
            has_lost_one_percent: false,
            read_only: None,
            lost_before: Vec::new(),
            accepted: Accepted::new(config, geometry),
            full: false,
            stops: config.wear.end == WearEnd::Stop,
            fails: config.wear.is_on(),
            leveling: Leveling::new(config, ftl),
            worn: vec![BlockId(0); geometry.pools.count.get() as usize],
            erase_growth: (config.wear.erase_growth * 1e6).round() as u64,
            given_up: (0, 0),
            retired: RetiredBlocks::default(),
        }))
    }

    /// Time of an erase of a block worn by `cycles` erases that has no pulses, ns; `ns`: that of a new block.
    fn grown_ns(&self, ns: Ns, cycles: u32) -> Ns {
        ns + (u128::from(ns) * u128::from(self.erase_growth) * u128::from(cycles) / 1_000_000_000) as Ns
    }

    /// Expected time of the next erase of a block by its wear, ns: with pulses that of a block of mean need. `ns`: that of a new block without
    /// pulses.
    pub(in crate::ssd) fn expected_erase_ns(&self, ftl: &Ftl, block: BlockId, ns: Ns) -> Ns {
        let facts = ftl.block_facts(block);
        let cycles = self.failures.cycles(block, facts);
        self.failures.pulses().map_or_else(|| self.grown_ns(ns, cycles), |pulses| pulses.expected_ns(cycles, facts.mode))
    }
}

impl Ssd {
    fn wear_mut(&mut self) -> &mut Wear {
        self.wear.as_mut().expect("blocks can fail")
    }

    /// The drive is read-only: it takes no writes and trims.
    #[inline(always)]
    pub fn is_read_only(&self) -> bool {
        is_read_only(self)
    }

    /// Counts a write or trim that a level above has rejected, since the drive is read-only.
    pub fn note_rejected(&mut self) {
        self.probes.count().rejected_writes += 1;
    }

    /// The drive is read-only, and the run is to end.
    #[inline]
    pub fn is_at_end_of_life(&self) -> bool {
        self.wear.as_ref().is_some_and(|wear| wear.stops && wear.read_only.is_some())
    }

    /// Statistics of wear; `None` if no block can fail.
    pub fn wear_stats(&self) -> Option<WearStats> {
        let wear = self.wear.as_ref().filter(|wear| wear.fails)?;
        let left = wear.lost.iter().map(|&lost| wear.losable.saturating_sub(lost)).min().unwrap_or(0);
        Some(WearStats { retired: wear.retired, spare_left: left, read_only: wear.read_only })
    }

    /// 1 % of the blocks have failed.
    pub fn has_lost_one_percent(&self) -> bool {
        self.wear.as_ref().is_some_and(|wear| wear.has_lost_one_percent)
    }

    /// Wear by the erases of the run; `None` if all wear a block alike.
    pub fn erase_wear(&self) -> Option<EraseWear> {
        self.wear.as_ref()?.failures.pulses().map(Pulses::wear)
    }

    /// Number of GC jobs that were given up, and the sum of their times, ns.
    pub(in crate::ssd) fn jobs_given_up(&self) -> (u64, u128) {
        self.wear.as_ref().map_or((0, 0), |wear| wear.given_up)
    }

    /// For tests: erases after which each block fails.
    #[doc(hidden)]
    pub fn endurance_of_blocks(&self) -> Vec<u32> {
        let blocks = (0..self.geometry().blocks).map(BlockId);
        self.wear.as_ref().map_or_else(Vec::new, |wear| blocks.map(|block| wear.failures.endurance(block)).collect())
    }
}

/// The drive is read-only.
#[inline(always)]
pub(in crate::ssd) fn is_read_only(ssd: &Ssd) -> bool {
    ssd.wear.as_ref().is_some_and(|wear| wear.read_only.is_some())
}

/// The drive is read-only, and has written all that a level above had accepted: it takes no data of the host.
#[inline(always)]
pub(in crate::ssd) fn is_closed(ssd: &Ssd) -> bool {
    is_read_only(ssd) && !ssd.has_accepted()
}

/// The drive rejects a write of this page: it is closed, and the page is not one of the mapping table.
#[inline(always)]
pub(in crate::ssd) fn rejects(ssd: &Ssd, lpn: Lpn) -> bool {
    is_closed(ssd) && !ssd.geometry().is_of_map(lpn)
}

/// The program that begins at this page fails.
fn program_fails(ssd: &Ssd, first: Ppn) -> bool {
    let (block, page) = ssd.geometry().split_page(first);
    let facts = ssd.ftl.block_facts(block);
    ssd.wear.as_ref().is_some_and(|wear| wear.failures.program_fails(block, facts, page))
}

/// Call when a program of the host has ended, of the page or units from transaction `first` on. If it has failed, they wait to be programmed
/// again. Returns false if it has not; else the first transaction of the operation's next page is stored in `next`.
pub(in crate::ssd) fn host_program_failed(ssd: &mut Ssd, now: Ns, first: TxnId, next: &mut Option<TxnId>) -> bool {
    let (ppn, pool) = (ssd.transactions[first].ppn, ssd.transactions[first].pool);
    if !program_fails(ssd, ppn) {
        return false;
    }
    program_failed(ssd, now, pool, ppn);
    look_for_room(ssd, now, pool, ssd.gc.job(pool).is_some());
    if ssd.rules.gc.spreads {
        superblock::look(ssd, now, pool);
    }
    *next = units::next_page(ssd, first);
    let mut unit = Some(first);
    while let Some(id) = unit {
        unit = units::unit_behind(ssd, id);
        write_again(ssd, now, id, true);
    }
    true
}

/// A write whose program has failed waits for its pool again, or for its station, at the place of its age. `placed`: it had a page.
fn write_again(ssd: &mut Ssd, now: Ns, id: TxnId, placed: bool) {
    if ssd.probes.has(Planted::ForgetsFailedWrite) {
        let version = ssd.transactions[id].version;
        let lpn = ssd.transactions[id].lpn;
        ssd.probes.note(now, &ssd.ftl, Event::Written(lpn, version));
    }
    let transaction = &mut ssd.transactions[id];
    (transaction.next, transaction.previous, transaction.same_page) = (None, None, false);
    let (pool, chip, station, class) = (transaction.pool, transaction.chip, transaction.station, transaction.class);
    let chip_of_page = ssd.geometry().chip_of_die(ssd.geometry().die_of_pool(pool));
    if let Some(placement) = ssd.sched.placement_mut() {
        if placed {
            placement.write_failed(pool, chip_of_page);
        }
        placement.took_write(station, class);
    }
    ssd.sched.take_place_again(chip, QueueKind::Write);
    if ssd.probes.has(Planted::ForgetsFailedWrite) {
        ssd.sched.release(chip, QueueKind::Write);
        return ssd.finish_transaction(now, id);
    }
    ssd.enter_queue(now, id);
}

/// Call when the program of a page move has ended. Returns true if it has failed, or had no page to go to: then its data are still in the
/// victim, from where they are moved again.
pub(in crate::ssd) fn move_failed(ssd: &mut Ssd, now: Ns, pool: PoolId) -> bool {
    let moved = ssd.gc.moving(pool).expect("a page was moved");
    let gathers = ssd.rules.gc.gathers();
    let units = if gathers { ssd.gc.units(pool).len() } else { 1 };
    let writers: Vec<TxnId> =
        if gathers { ssd.gc.units(pool).iter().filter_map(|moved| moved.writer).collect() } else { moved.writer.into_iter().collect() };
    if let Some(to) = moved.to {
        if !program_fails(ssd, to) {
            return false;
        }
        pace::pages_taken(ssd, pool, (units - writers.len()) as u32);
        program_failed(ssd, now, pool, to);
        ssd.ftl.owe_again(pool);
    }
    let serial = ssd.next_serial();
    ssd.gc.jobs.move_failed(&ssd.ftl, pool, (now, serial));
    if moved.to.is_some() {
        look_for_room(ssd, now, pool, true);
    }
    for writer in writers {
        ssd.transactions[writer].served(Served::Array, now);
        leave_move(ssd, now, pool, writer, moved.to.is_some());
    }
    if ssd.rules.gc.spreads {
        superblock::look(ssd, now, pool);
    }
    true
}

/// A host write that had merged with a page move waits for its pool again. `placed`: the move had a page to go to.
fn leave_move(ssd: &mut Ssd, now: Ns, pool: PoolId, writer: TxnId, placed: bool) {
    // It may have waited since it merged.
    waits::stop_waiting(ssd, now, writer);
    ssd.transactions[writer].pool = pool;
    write_again(ssd, now, writer, placed);
}

/// A program has failed: its block is filled no further, and is moved and retired.
fn program_failed(ssd: &mut Ssd, now: Ns, pool: PoolId, first: Ppn) {
    let block = ssd.block_of_page(first);
    ssd.probes.count().failed_programs += 1;
    ssd.probes.note(now, &ssd.ftl, Event::ProgramFailed(first));
    let left = ssd.ftl.program_failed(pool, first);
    pace::pages_taken(ssd, pool, left);
    let wear = ssd.wear_mut();
    if left > 0 {
        wear.open.push((block, left));
    }
    if !std::mem::replace(&mut ssd.ftl.columns_mut().failing[block.index()], true) {
        let lead = ssd.geometry().lead_pool(pool);
        ssd.gc.due.push(lead, ssd.ftl.blocks().member(block, lead), Cause::Retirement);
        lose_block(ssd, pool, block);
    }
    superblock::deal_again(ssd, pool);
}

/// An erase of a block has ended. Returns true if it has failed, or was the last that the block can have: the block is retired then.
pub(in crate::ssd) fn erase_retires(ssd: &mut Ssd, block: BlockId) -> bool {
    let facts = ssd.ftl.block_facts(block);
    let erase_fails = ssd.wear_mut().failures.erase_fails(block, facts);
    note_pulses(ssd, block, facts);
    let program_failed = ssd.ftl.columns_mut().failing[block.index()];
    let wear = ssd.wear_mut();
    let is_worn_out = wear.failures.is_worn_out(block, facts.erased());
    let retired = &mut wear.retired;
    let cause = match (program_failed, is_worn_out, erase_fails) {
        (true, ..) => Some(&mut retired.failed_programs),
        (_, true, _) => Some(&mut retired.worn_out),
        (_, _, true) => Some(&mut retired.failed_erases),
        _ => None,
    };
    let retires = cause.map(|blocks| *blocks += 1).is_some();
    ssd.probes.count().failed_erases += u64::from(is_worn_out || erase_fails);
    if !retires {
        return false;
    }
    let counters = ssd.probes.count();
    counters.retired_by_program += u64::from(program_failed);
    counters.retired_by_endurance += u64::from(!program_failed && is_worn_out);
    counters.retired_by_erase += u64::from(!program_failed && !is_worn_out);
    if !program_failed {
        lose_block(ssd, ssd.geometry().pool_of_block(block), block);
    }
    true
}

/// A block of the pool, or the superblock for which it stands, is free after an erase: data of another may move, so that this one takes them.
fn block_freed(ssd: &mut Ssd, pool: PoolId, block: BlockId) {
    if ssd.ftl.blocks().is_static(block) {
        // It takes no data of other blocks.
        return;
    }
    let Ssd { wear: Some(wear), ftl, gc, .. } = ssd else { return };
    let Some(leveling) = &mut wear.leveling else { return };
    let may_move = !gc.due.waits_for(pool, Cause::Leveling);
    if let Some(young) = leveling.block_erased(ftl, &wear.failures, block, may_move) {
        wear.worn[pool.index()] = block;
        gc.due.push(pool, young, Cause::Leveling);
    }
}

/// Call when a job starts: if it moves a block for levelling, the worn block takes its data.
pub(in crate::ssd) fn job_starts(ssd: &mut Ssd, pool: PoolId, cause: Cause) {
    if cause == Cause::Leveling {
        let worn = ssd.wear_mut().worn[pool.index()];
        ssd.ftl.bring_forward(pool, worn);
    }
}

/// Time of the next erase of a block; `ns`: that of a new block without pulses.
pub(in crate::ssd) fn erase_ns(ssd: &mut Ssd, block: BlockId, ns: Ns) -> Ns {
    let Some(wear) = ssd.wear.as_ref() else { return ns };
    let facts = ssd.ftl.block_facts(block);
    let cycles = wear.failures.cycles(block, facts);
    if let Some(plan) = wear.failures.erase_plan(block, facts) {
        let whole_last = ssd.probes.has(Planted::ErasesInWholePulses).then(|| wear.failures.pulses()).flatten();
        let ns = whole_last.map_or(plan.ns, |pulses| pulses.whole_ns(block, cycles, facts.mode));
        check_erase(ssd, block, ns);
        return ns;
    }
    wear.grown_ns(ns, cycles)
}

/// An erase of a block has ended: counts its pulses, which wear the block.
fn note_pulses(ssd: &mut Ssd, block: BlockId, facts: BlockFacts) {
    let wear = ssd.wear.as_mut().expect("erases have an effect");
    let Some(plan) = wear.failures.erase_plan(block, facts) else { return };
    wear.failures.erased(block, facts, plan);
    let counters = ssd.probes.count();
    counters.erase_pulses += u64::from(plan.pulses);
    counters.shortened_erases += u64::from(plan.wear < WHOLE);
}

/// Verify mode: checks the time of an erase that begins, against its pulses one after the other, and what it is to spare the block.
fn check_erase(ssd: &mut Ssd, block: BlockId, ns: Ns) {
    let Ssd { wear: Some(wear), ftl, probes, .. } = ssd else { return };
    let Some(pulses) = wear.failures.pulses() else { return };
    if let Some(verifier) = probes.verifier_mut() {
        let facts = ftl.blocks().facts(block, verifier.mode(block));
        let played = pulses.play(block, wear.failures.cycles(block, facts), facts.mode);
        if ns != played.ns {
            verifier.found(Err(format!("the erase of block {block} takes {ns} ns, and its pulses {} ns", played.ns)));
        }
        verifier.erase_begins(block, facts.spared_by_pulses(played.wear));
    }
}

/// Verify mode: checks that each block has been spared as much wear as its erases have, as the verifier has seen them.
pub(in crate::ssd) fn check_spared(ssd: &Ssd) -> Result<(), String> {
    let pulses = ssd.wear.as_ref().and_then(|wear| wear.failures.pulses());
    let (Some(pulses), Some(verifier)) = (pulses, ssd.probes.verifier()) else { return Ok(()) };
    for block in (0..ssd.geometry().blocks).map(BlockId) {
        let (spared, seen) = (pulses.spared(block), verifier.spared(block));
        if spared != seen {
            return Err(format!("block {block} was spared {spared} millionths of an erase, and its erases {seen}"));
        }
    }
    Ok(())
}

/// A block has been erased, for the last time if it is retired. Its job has not ended.
pub(in crate::ssd) fn block_erased(ssd: &mut Ssd, now: Ns, ErasedBlock { pool, block, retired, earlier, .. }: ErasedBlock) {
    if !retired {
        return;
    }
    ssd.probes.note(now, &ssd.ftl, Event::Retired(block));
    if ssd.probes.has(Planted::UsesRetiredBlock) {
        ssd.ftl.free_retired(pool, block);
        ssd.probes.note(now, &ssd.ftl, Event::BlocksFreed { blocks: 1 });
    }
    // The job goes on where other blocks of a superblock are not erased.
    look_for_room(ssd, now, pool, ssd.rules.gc.spreads || earlier);
}

/// Call when what a job collected has been erased, before the job ends. `victim`: of a superblock, the block in the first pool, `pool`, of its
/// group, as the job began; `freed`: what became of it; `goes_on`: the job does, since the block was that of an earlier one.
pub(in crate::ssd) fn collected(ssd: &mut Ssd, now: Ns, pool: PoolId, victim: BlockId, freed: Freed, goes_on: bool) {
    match freed {
        Freed::Whole { replaced: 0 } => block_freed(ssd, pool, victim),
        Freed::Whole { replaced } => ssd.probes.count().replaced_blocks += u64::from(replaced),
        Freed::Dissolved => look_for_room(ssd, now, pool, goes_on),
    }
}

/// A block of the pool has failed: what it could hold is lost. One that is always in SLC mode holds nothing for long: the static part of the
/// cache is a block smaller, and the spare is not, unless a spare block takes its place in a superblock.
fn lose_block(ssd: &mut Ssd, pool: PoolId, block: BlockId) {
    if ssd.ftl.blocks().is_static(block) && !ssd.geometry().spans_pools() {
        ssd.wear_mut().lost_static += 1;
        return;
    }
    ssd.wear_mut().lost[pool.index()] += 1;
    let (chip, pages) = (ssd.geometry().chip_of_die(ssd.geometry().die_of_pool(pool)), ssd.ftl.lose_block(pool));
    if let Some(placement) = ssd.sched.placement_mut() {
        placement.lose_block(chip, pages);
    }
}

/// Notes that 1 % of the blocks have failed, once they have.
fn note_one_percent(ssd: &mut Ssd) {
    let blocks = u64::from(ssd.geometry().blocks);
    let wear = ssd.wear_mut();
    let failed = u64::from(wear.lost_static) + wear.lost.iter().map(|&lost| u64::from(lost)).sum::<u64>();
    wear.has_lost_one_percent |= 100 * failed >= blocks;
}

/// Makes the drive read-only if the data of the pool may not fit any more. `has_job`: the pool's job goes on.
fn look_for_room(ssd: &mut Ssd, now: Ns, pool: PoolId, has_job: bool) {
    note_one_percent(ssd);
    let spreads = has_job && ssd.rules.gc.spreads;
    let kept = accepted::blocks_left_alone(ssd, pool);
    let can_collect = if spreads { group_can_collect(ssd, pool, kept) } else { ssd.ftl.can_collect(pool, has_job, kept) };
    let wear = ssd.wear_mut();
    let lost = wear.lost[pool.index()];
    let cause = match lost > wear.losable {
        true => ReadOnlyCause::Spare,
        false if !can_collect => ReadOnlyCause::NoRoom,
        false => return,
    };
    if wear.read_only.is_some() {
        return;
    }
    wear.read_only = Some(ReadOnly { at_ns: now, pool: pool.0, lost, cause });
    wear.lost_before.clone_from(&wear.lost);
    if accepted::writes_on(ssd) {
        ssd.ftl.open_reserve();
        check_places(ssd);
    } else {
        ssd.ftl.close_for_writes();
    }
    ssd.gc.halt();
    ssd.host.place_freed();
    for pool in ssd.pools() {
        ssd.pool_changed(now, pool);
        ssd.ready.wake(ssd.geometry().die_of_pool(pool));
    }
}

/// The group of a pool has room for all units that its job has still to place, and `kept` free superblocks beside that.
fn group_can_collect(ssd: &Ssd, pool: PoolId, kept: u32) -> bool {
    let lead = ssd.geometry().lead_pool(pool);
    ssd.ftl.group_can_collect(lead, ssd.gc.jobs.units_to_place(&ssd.ftl, lead), kept)
}

/// Verify mode, when the drive becomes read-only: each pool has a place for the data that were accepted, and a block that may fail.
fn check_places(ssd: &mut Ssd) {
    let short = ssd.pools().find(|&pool| ssd.ftl.blocks().free_count(pool) <= accepted::blocks_kept(ssd, pool));
    let Some(pool) = short else { return };
    let (free, kept) = (ssd.ftl.blocks().free_count(pool), accepted::blocks_kept(ssd, pool));
    if let Some(verifier) = ssd.probes.verifier_mut() {
        verifier.found(Err(format!("the drive is read-only, and pool {pool} has {free} free blocks for accepted data that take {kept}")));
    }
}

/// Call when a round begins to dispatch: blocks that failed, and are filled no further, close once their last program has ended, and wait to
/// be moved.
#[inline(always)]
pub(in crate::ssd) fn look(ssd: &mut Ssd, now: Ns) {
    if ssd.wear.is_some() {
        close_blocks(ssd, now);
        if is_closed(ssd) && accepted::has_table(ssd) {
            reject_waiting(ssd, now);
        }
    }
}

/// Rejects the writes of the host that wait, where those of the mapping table go on.
fn reject_waiting(ssd: &mut Ssd, now: Ns) {
    while let Some(candidate) = first_write(ssd, |id| rejects(ssd, ssd.transactions[id].lpn)) {
        let die = ssd.geometry().die_of_pool(candidate.pool);
        let id = ssd.leave_queue(now, die, candidate);
        reject(ssd, ssd.transactions[id].request);
        ssd.finish_transaction(now, id);
    }
}

/// The first write of any queue for which this holds.
fn first_write(ssd: &Ssd, holds: impl Fn(TxnId) -> bool) -> Option<HostCandidate> {
    let of_pool = |pool| {
        let die = ssd.geometry().die_of_pool(pool);
        let queue = if ssd.rules.dynamic { ssd.sched.writes_for(die) } else { ssd.sched.queue(pool, QueueKind::Write) };
        let id = linked(&ssd.transactions, ssd.sched.head(queue)).find(|&id| holds(id))?;
        Some(HostCandidate { id, kind: QueueKind::Write, pool, by_move: false })
    };
    ssd.pools().find_map(of_pool)
}

fn close_blocks(ssd: &mut Ssd, now: Ns) {
    for (block, left) in std::mem::take(&mut ssd.wear_mut().open) {
        if !ssd.ftl.leave_out(block, left) {
            ssd.wear_mut().open.push((block, left));
            continue;
        }
        ssd.gain_appeared(now, ssd.geometry().pool_of_block(block));
    }
    if ssd.gc.due.any() && !is_read_only(ssd) {
        ages::move_due(ssd, now);
    }
}

/// Call when nothing more can begin in a round. Returns true if something may begin because of this.
pub(in crate::ssd) fn nothing_begins(ssd: &mut Ssd, now: Ns) -> bool {
    if is_read_only(ssd) {
        return give_up(ssd, now);
    }
    ssd.wear.is_some() && ssd.rules.dynamic && ssd.ftl.has_failed_blocks() && choose_chips_again(ssd, now)
}

/// Dynamic allocation: writes that wait for a station without room for their data, since blocks of it have failed, go to another. Returns true if
/// there are any.
fn choose_chips_again(ssd: &mut Ssd, now: Ns) -> bool {
    let mut any = false;
    for station in 0..ssd.geometry().stations() {
        let waits =
            |ssd: &Ssd| dynamic::write_for_station(ssd, station).filter(|write| !has_room(ssd, station, ssd.transactions[write.id].class));
        while let Some(candidate) = waits(ssd) {
            let placement = ssd.sched.placement().expect("writes go by load");
            let class = ssd.transactions[candidate.id].class;
            // On a drive that is read-only a write whose chip has no page would be lost, so that it waits for no place.
            let other = if is_read_only(ssd) { station_with_page(ssd, class, |_| true) } else { placement.next_station(&ssd.ftl, class) };
            let may_go = |&other: &u32| other != station && has_room(ssd, other, class) && (is_read_only(ssd) || has_place(ssd, other));
            let Some(other) = other.filter(may_go) else { break };
            dynamic::waits_for_another(ssd, now, candidate, other);
            ssd.probes.count().rerouted_writes += 1;
            any = true;
        }
    }
    any
}

/// Some pool of the station, or its group of superblocks, has room for one more page of a write of this class.
fn has_room(ssd: &Ssd, station: u32, class: Class) -> bool {
    if is_read_only(ssd) {
        return pools_of_station(ssd, station).any(|pool| ssd.ftl.can_write(pool, class));
    }
    let by_turns = ssd.sched.placement().expect("writes go by load").by_turns();
    let mut pools = pools_of_station(ssd, station).take(if by_turns { 1 } else { usize::MAX });
    pools.any(|pool| pool_has_room(ssd, pool))
}

/// Dynamic allocation: the pool, or its group of superblocks, has room for one more valid page.
pub(in crate::ssd) fn pool_has_room(ssd: &Ssd, pool: PoolId) -> bool {
    let placement = ssd.sched.placement().expect("writes go by load");
    if placement.by_turns() {
        return ssd.ftl.group_has_room(ssd.geometry().lead_pool(pool));
    }
    ssd.ftl.blocks().valid_in_pool(pool) + ssd.ftl.lost_pages(pool) + placement.writing(pool) < ssd.ftl.room_of_pool()
}

/// Dynamic allocation: the station that takes the next write of a class. Once GC rests, one with a page.
#[inline(always)]
pub(in crate::ssd) fn next_station(ssd: &Ssd, placement: &Placement, class: Class) -> Option<u32> {
    if is_read_only(ssd) {
        station_with_page(ssd, class, |station| has_place(ssd, station))
    } else {
        placement.next_station(&ssd.ftl, class)
    }
}

/// The first station with a page for a write of this class, of those that it may wait for. Where writes go to dies in turn, the one with the fewest
/// programs: it fills what other dies of its group have opened, before they open more.
fn station_with_page(ssd: &Ssd, class: Class, may: impl Fn(u32) -> bool) -> Option<u32> {
    let level = |&station: &u32| match ssd.rules.gc.spreads {
        true => pools_of_station(ssd, station).map(|pool| ssd.ftl.host_level(pool, class)).sum(),
        false => 0,
    };
    (0..ssd.geometry().stations()).filter(|&station| has_room(ssd, station, class) && may(station)).min_by_key(level)
}

/// The queue of the station's chip has a place for one more write.
fn has_place(ssd: &Ssd, station: u32) -> bool {
    ssd.sched.has_place(ssd.geometry().chip_of_die(ssd.first_die(station)), QueueKind::Write)
}

/// A drive that is read-only gives up its GC jobs, and rejects the writes that wait. Returns true if it had any.
fn give_up(ssd: &mut Ssd, now: Ns) -> bool {
    let mut any = false;
    for pool in ssd.pools().filter(|&pool| ssd.ftl.geometry().lead_pool(pool) == pool).collect::<Vec<_>>() {
        if ssd.gc.job(pool).is_some() && ssd.group_of(pool).all(|part| is_at_rest(ssd, part)) {
            give_up_job(ssd, now, pool);
            any = true;
        }
    }
    if ssd.rules.dynamic && accepted::writes_on(ssd) {
        any |= choose_chips_again(ssd, now);
    }
    any |= ssd.rules.dynamic && lose_queued(ssd, now);
    while let Some(candidate) = waiting_write(ssd) {
        let die = ssd.geometry().die_of_pool(candidate.pool);
        let id = ssd.leave_queue(now, die, candidate);
        if rejects(ssd, ssd.transactions[id].lpn) {
            reject(ssd, ssd.transactions[id].request);
        } else {
            lose(ssd, candidate.pool, ssd.transactions[id].request);
        }
        ssd.finish_transaction(now, id);
        any = true;
    }
    any
}

/// Dynamic allocation: writes wait in the host queue for a page of any pool. If none has any, the data are lost. Returns true if there were such.
fn lose_queued(ssd: &mut Ssd, now: Ns) -> bool {
    let queued = ssd.host.queued();
    if queued == 0 || ssd.pools().any(|pool| ssd.gc.job(pool).is_some() || ssd.ftl.has_page(pool)) {
        return false;
    }
    ssd.wear_mut().full = true;
    ssd.admit_from_host_queue(now);
    ssd.host.queued() < queued
}

/// A page of a write for which the drive has none is lost, if it was accepted, or rejected. Returns true if it is so.
pub(in crate::ssd) fn finds_no_page(ssd: &mut Ssd, request: ReqId, lpn: Lpn) -> bool {
    if rejects(ssd, lpn) {
        reject(ssd, request);
        return true;
    }
    let full = ssd.wear.as_ref().is_some_and(|wear| wear.full);
    if full {
        lose(ssd, ssd.geometry().static_pool(lpn), request);
        accepted::write_ended(ssd, lpn);
    }
    full
}

/// No operation of the pool's job, or of its part of one, is in service or suspended.
fn is_at_rest(ssd: &Ssd, pool: PoolId) -> bool {
    let suspended = ssd.flash.suspended(ssd.geometry().die_of_pool(pool)).is_some_and(|(suspended, _)| suspended == pool);
    ssd.gc.job(pool).is_some_and(|job| job.is_over() || !job.is_busy()) && !suspended
}

/// Accepted data have no place: more blocks have failed since the drive is read-only than it kept ([`Config::KEPT_BLOCKS`]).
fn lose(ssd: &mut Ssd, pool: PoolId, request: ReqId) {
    ssd.host.note_status(request, Status::Rejected);
    ssd.probes.count().lost_units += 1;
    let wear = ssd.wear_mut();
    let most = wear.lost.iter().zip(&wear.lost_before).map(|(lost, before)| lost - before).max().unwrap_or(0);
    if most < Config::KEPT_BLOCKS
        && let Some(verifier) = ssd.probes.verifier_mut()
    {
        verifier.found(Err(format!("accepted data have no place in pool {pool}, though {most} of its blocks have failed since")));
    }
}

fn give_up_job(ssd: &mut Ssd, now: Ns, pool: PoolId) {
    let job = ssd.gc.job(pool).expect("seen by the caller");
    let (victim, took) = (job.victim(), u128::from(now - job.started_ns()));
    let (jobs, ns) = &mut ssd.wear_mut().given_up;
    (*jobs, *ns) = (*jobs + 1, *ns + took);
    for writer in ssd.gc.jobs.give_up_moves(pool) {
        leave_move(ssd, now, pool, writer, false);
    }
    ssd.ftl.give_up_job(pool, victim);
    ssd.job_ended(now, pool);
}

/// A write that waits in a queue, and finds no page.
fn waiting_write(ssd: &Ssd) -> Option<HostCandidate> {
    let goes_on = |pool, id: TxnId| ssd.ftl.can_write(pool, ssd.transactions[id].class) && !ssd.probes.has(Planted::LosesAccepted);
    if ssd.rules.dynamic {
        let waits = |station| {
            dynamic::write_for_station(ssd, station).filter(|write| !pools_of_station(ssd, station).any(|pool| goes_on(pool, write.id)))
        };
        return (0..ssd.geometry().stations()).find_map(waits);
    }
    let in_queue = |pool| {
        let head = ssd.sched.head(ssd.sched.queue(pool, QueueKind::Write)).filter(|&id| !goes_on(pool, id));
        head.map(|id| HostCandidate { id, kind: QueueKind::Write, pool, by_move: false })
    };
    ssd.pools().find_map(in_queue)
}

fn pools_of_station(ssd: &Ssd, station: u32) -> impl Iterator<Item = PoolId> + '_ {
    ssd.geometry().dies_of_station(station).flat_map(|die| ssd.geometry().pools_of_die(DieId(die)).map(PoolId))
}

/// The drive rejects a request, or what is left of it.
pub(in crate::ssd) fn reject(ssd: &mut Ssd, request: ReqId) {
    let first = ssd.host.note_status(request, Status::Rejected);
    ssd.probes.count().rejected_writes += u64::from(first);
}
