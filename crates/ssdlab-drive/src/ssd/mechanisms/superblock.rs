//! Superblocks of several pools (`ftl.reclaim_unit = "superblock"`): the page moves of their jobs go from die to die. What a part has read is
//! dealt to the pool whose turn it is, and host reads that wait follow their page to its new die.

use crate::ftl::{BlockState, Class};
use crate::gc::Move;
use crate::rules::BurstRule;
use crate::sched::{QueueKind, Transaction, TransactionKind, page_order};
use crate::ssd::Ssd;
use crate::ssd::candidates::HostCandidate;
use crate::ssd::mechanisms::{advance, carry, dynamic, wear};
use crate::ssd::watch::waits;
use ssdlab_base::units::{Lpn, Ns, PoolId, Ppn};

/// Bursts: moves go from die to die.
pub(in crate::ssd) const BURSTS: BurstRule =
    BurstRule { keys: &["ftl.reclaim_unit", "ftl.superblock_span"], exact: |config| config.pools_per_group() == 1 };

/// Deals the programs that the job of the pool's group has gathered, and lets it erase its blocks once nothing is left to be moved. Call when
/// the job has started, and when a unit of its victim was read, moved or became invalid.
pub(in crate::ssd) fn look(ssd: &mut Ssd, now: Ns, pool: PoolId) {
    let lead = ssd.geometry().lead_pool(pool);
    if ssd.gc.job(lead).is_none() || wear::is_read_only(ssd) {
        return;
    }
    if ssd.rules.gc.carries {
        carry::look_at_parts(ssd, now, lead);
    }
    while let Some(class) = ssd.gc.jobs.to_deal(&ssd.ftl, lead, ssd.rules.gc.carries && ssd.gc.may_leave(&ssd.ftl, lead)) {
        let dealt = ssd.ftl.deal_move(lead, class);
        let serial = ssd.next_serial();
        ssd.gc.jobs.deal(&ssd.ftl, dealt.pool, dealt.class, (now, serial));
        ssd.ready.wake(ssd.ftl.geometry().die_of_pool(dealt.pool));
        if dealt.took {
            ssd.block_taken(now, lead, ssd.ftl.blocks().free_count(lead));
        }
    }
    let serial = ssd.next_serial();
    if ssd.gc.jobs.begin_erases(&ssd.ftl, lead, (now, serial)) {
        ssd.group_of(lead).for_each(|part| ssd.ready.wake(ssd.ftl.geometry().die_of_pool(part)));
    }
    advance::buffer_changed(ssd, lead);
    carry::look(ssd, now, lead);
}

/// A page of the pool was allocated for a host write of a class. Where writes wait for a cache of blocks in SLC mode (`slc.full = "fold"`), a die that
/// has filled its part of a superblock may open another once the class has no room on any.
#[inline(always)]
pub(in crate::ssd) fn host_page_allocated(ssd: &mut Ssd, pool: PoolId, class: Class) {
    if ssd.rules.slc && ssd.rules.gc.spreads && ssd.ftl.waits_in_turns(pool) && ssd.ftl.takes_free(pool, class) {
        ssd.group_of(pool).for_each(|part| ssd.ready.wake(ssd.ftl.geometry().die_of_pool(part)));
    }
}

/// Where host writes wait for a cache of blocks in SLC mode (`slc.full = "fold"`), one whose die has no room there waits for a die of its group
/// that has, even if that takes more places than its chip's queue has: the writes that hold these may wait for this one. So no write waits for a
/// fold as long as there is nothing full to be folded. Returns true if a write may begin because of this.
pub(in crate::ssd) fn deal_writes_again(ssd: &mut Ssd, now: Ns) -> bool {
    let mut any = false;
    for station in 0..ssd.geometry().stations() {
        while let Some((write, other)) = write_to_deal_again(ssd, station) {
            dynamic::waits_for_another(ssd, now, write, other);
            ssd.probes.count().writes_dealt_again += 1;
            any = true;
        }
    }
    any
}

/// The first write that waits for a die without room in the cache, and the die of its group with room.
fn write_to_deal_again(ssd: &Ssd, station: u32) -> Option<(HostCandidate, u32)> {
    let write = dynamic::write_for_station(ssd, station)?;
    let placement = ssd.sched.placement()?;
    let is_stuck = |die| {
        let first = dynamic::write_for_station(ssd, die);
        first.is_none_or(|write| placement.is_full(&ssd.ftl, die, ssd.transactions[write.id].class))
    };
    let other = placement.die_with_room(&ssd.ftl, station, ssd.transactions[write.id].class, is_stuck)?;
    Some((write, other))
}

/// Verify mode: checks that no write waits for a fold while a die of its group has room in the cache.
pub(in crate::ssd) fn check_waiting(ssd: &Ssd) -> Result<(), String> {
    let waits = |&station: &u32| ssd.rules.gc.spreads && ssd.rules.slc && write_to_deal_again(ssd, station).is_some();
    match (0..ssd.geometry().stations()).find(waits).filter(|_| !wear::is_read_only(ssd)) {
        Some(die) => Err(format!("a write waits for die {die}, which has no room in the cache, while another die of its group has")),
        None => Ok(()),
    }
}

/// A host operation has left its queue.
#[inline(always)]
pub(in crate::ssd) fn left_queue(ssd: &mut Ssd, left: HostCandidate) {
    if left.kind == QueueKind::Write && ssd.rules.gc.spreads {
        let Transaction { class, station, .. } = ssd.transactions[left.id];
        ssd.sched.placement_mut().expect("superblocks are filled in turn").write_leaves(station, class);
    }
}

/// The job of a group has begun: its victim may have no valid page.
#[inline(always)]
pub(in crate::ssd) fn job_begun(ssd: &mut Ssd, now: Ns, pool: PoolId) {
    if ssd.rules.gc.spreads {
        look(ssd, now, pool);
    }
}

/// The page at `old` has become invalid by a write or trim of the host: if a job was to move it, it need not.
#[inline(always)]
pub(in crate::ssd) fn page_invalid(ssd: &mut Ssd, now: Ns, old: Ppn) {
    if ssd.rules.gc.spreads {
        let block = ssd.block_of_page(old);
        if ssd.ftl.blocks().state(block) == BlockState::Victim {
            look(ssd, now, ssd.geometry().pool_of_block(block));
        }
    }
}

/// The units of a program, or of a read that was dropped, of the part in `pool` are done.
pub(in crate::ssd) fn units_done(ssd: &mut Ssd, now: Ns, pool: PoolId, units: &[Move]) {
    let serial = ssd.next_serial();
    ssd.gc.jobs.units_done(&ssd.ftl, pool, units, (now, serial));
    for moved in units {
        ssd.ready.wake(ssd.geometry().die_of_pool(ssd.geometry().pool_of_page(moved.from)));
    }
    look(ssd, now, pool);
}

/// A program in `pool` has failed, so that its block is filled no further: the programs that were dealt to the pool are to be dealt again.
pub(in crate::ssd) fn deal_again(ssd: &mut Ssd, pool: PoolId) {
    if ssd.rules.gc.spreads && ssd.gc.job(pool).is_some() {
        for class in ssd.gc.jobs.dealt_again(pool) {
            ssd.ftl.take_back(pool, class);
            ssd.ftl.owe_again(pool);
            ssd.probes.count().programs_dealt_again += 1;
        }
    }
}

/// The part in `pool` drops its operation, since none of its units is needed.
pub(in crate::ssd) fn discard(ssd: &mut Ssd, now: Ns, pool: PoolId) {
    if !ssd.gc.jobs.part_reads(pool) {
        let class = ssd.gc.jobs.class_in_service(pool);
        ssd.ftl.take_back(pool, class);
        if ssd.ftl.is_shared(pool) {
            // Its pages are free for the host.
            ssd.group_of(pool).for_each(|part| ssd.ready.wake(ssd.ftl.geometry().die_of_pool(part)));
        }
    }
    let units = std::mem::take(ssd.gc.units_mut(pool));
    let serial = ssd.next_serial();
    ssd.gc.jobs.move_ended(&ssd.ftl, pool, (now, serial));
    units_done(ssd, now, pool, &units);
    // Keeps the memory of the list.
    *ssd.gc.units_mut(pool) = units;
    ssd.gc.units_mut(pool).clear();
}

/// A page has been moved to `pool`, perhaps from another: host reads that wait for it wait for the die of `pool` from now on.
pub(in crate::ssd) fn readers_follow(ssd: &mut Ssd, now: Ns, lpn: Lpn, pool: PoolId) {
    let mut next = page_order::ends(&ssd.ftl, lpn).map(|ends| ends.oldest);
    while let Some(id) = next {
        next = page_order::next(&ssd.transactions, id);
        let Transaction { queued, kind, pool: before, chip, .. } = ssd.transactions[id];
        if !queued || kind.queue() != QueueKind::Read || before == pool {
            continue;
        }
        let (from, to) = (ssd.geometry().die_of_pool(before), ssd.geometry().die_of_pool(pool));
        ssd.sched.remove(&mut ssd.transactions, from, id);
        waits::stop_waiting(ssd, now, id);
        // The read of a partial write has the place of the write, on the chip of the write.
        if kind == TransactionKind::Read {
            ssd.sched.release(chip, QueueKind::Read);
            ssd.sched.finished(chip);
            ssd.transactions[id].chip = ssd.geometry().chip_of_die(to);
            ssd.sched.accept(ssd.transactions[id].chip, QueueKind::Read);
            ssd.host.place_freed();
        }
        ssd.transactions[id].pool = pool;
        ssd.give_rank(id);
        ssd.clocks.note_pool(now, pool, to, &mut ssd.transactions[id].noted);
        ssd.sched.push(&mut ssd.transactions, to, id);
        ssd.probes.count().relocated_reads += 1;
        ssd.ready.wake(from);
        ssd.ready.wake(to);
        ssd.operation_waits(now, to);
    }
}
