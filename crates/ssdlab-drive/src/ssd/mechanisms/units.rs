//! Mapping units smaller than a flash page (`ftl.map_unit_bytes`), and programs of several pages (`device.pages_per_program`): which units
//! share an operation.
//!
//! Each unit that a request touches is an operation of its own until the die takes it. Then other units of the same request go along: with
//! a read those that lie in its flash page, with a program those that wait directly behind it, as many as fill it. The rest of a program is
//! padding. Units that go along are behind the first in the operation's list, marked [`Transaction::same_page`].

use crate::flash::{OpKind, Parts};
use crate::gc::Move;
use crate::rules::BurstRule;
use crate::sched::{QueueKind, Transaction, TransactionKind, page_order};
use crate::ssd::candidates::HostCandidate;
use crate::ssd::mechanisms::{ages, carry, merge, pace, superblock, table};
use crate::ssd::watch::probes::Event;
use crate::ssd::{Planted, Ssd};
use ssdlab_base::blocked::Served;
use ssdlab_base::cause::Cause;
use ssdlab_base::units::{DieId, Lpn, Ns, PoolId, Ppn, TxnId};
use ssdlab_keys::config::{PROGRAM_UNITS_MAX, UNITS_MAX};

/// Bursts: jobs gather units until they fill a program.
pub(in crate::ssd) const BURSTS: BurstRule = BurstRule {
    keys: &["ftl.map_unit_bytes", "device.pages_per_program", "gc.leftover", "device.partial_reads", "device.spare_bytes"],
    exact: |config| config.units_per_program() == 1,
};

/// Units that share a flash operation with a first one.
struct Companions {
    ids: [Option<TxnId>; PROGRAM_UNITS_MAX as usize],
    count: usize,
}

impl Companions {
    fn none() -> Self {
        Companions { ids: [None; PROGRAM_UNITS_MAX as usize], count: 0 }
    }

    fn add(&mut self, id: TxnId) {
        self.ids[self.count] = Some(id);
        self.count += 1;
    }
}

/// Takes an operation out of its queue, with the units that share its page or program. Returns the first and the last of the list.
#[inline(always)]
pub(in crate::ssd) fn take_page(ssd: &mut Ssd, now: Ns, die: DieId, candidate: HostCandidate, kind: OpKind) -> (TxnId, TxnId) {
    if !ssd.rules.gc.gathers() {
        let id = ssd.take_from_queue(now, die, candidate);
        return (id, id);
    }
    take_units(ssd, now, die, candidate, kind)
}

fn take_units(ssd: &mut Ssd, now: Ns, die: DieId, candidate: HostCandidate, kind: OpKind) -> (TxnId, TxnId) {
    let along = match kind {
        OpKind::Program => writes_behind(ssd, candidate.id),
        // What is left in a register may be of another page.
        OpKind::RegisterRead => Companions::none(),
        _ => reads_of_page(ssd, candidate),
    };
    let first = ssd.take_from_queue(now, die, candidate);
    let mut last = first;
    for id in along.ids.into_iter().flatten() {
        ssd.leave_queue(now, die, HostCandidate { id, ..candidate });
        ssd.transactions[id].same_page = true;
        ssd.transactions[last].next = Some(id);
        last = id;
    }
    (first, last)
}

/// The writes of the same request and class that wait directly behind one, as many as its program has room for; those of other classes among
/// them wait for programs of their own.
fn writes_behind(ssd: &Ssd, id: TxnId) -> Companions {
    let (mut along, Transaction { request, class, .. }) = (Companions::none(), ssd.transactions[id]);
    let mut next = ssd.transactions[id].next;
    while let Some(id) = next.filter(|&id| ssd.transactions[id].request == request)
        && along.count + 1 < ssd.geometry().units_per_program as usize
    {
        if ssd.transactions[id].class == class {
            along.add(id);
        }
        next = ssd.transactions[id].next;
    }
    along
}

/// The reads of the same request that wait for other units of the flash page of a read's unit. Units without data count as if they lay
/// in the order of their addresses.
fn reads_of_page(ssd: &Ssd, read: HostCandidate) -> Companions {
    let (mut along, lpn) = (Companions::none(), ssd.transactions[read.id].lpn);
    let mut add = |other: Lpn| {
        if other != lpn
            && let Some(id) = read_of(ssd, other, read)
        {
            along.add(id);
        }
    };
    match ssd.ftl.lookup(lpn) {
        Some(ppn) => ssd.ftl.units_with(ppn).for_each(|(_, other)| add(other)),
        None => {
            let first = lpn.0 & !(ssd.geometry().units_per_flash_page - 1);
            let units = (first..first + ssd.geometry().units_per_flash_page).map(Lpn);
            units.filter(|&other| ssd.ftl.lookup(other).is_none()).for_each(add);
        }
    }
    along
}

/// The waiting read of a unit, of the same request and in the same queue as `read`.
fn read_of(ssd: &Ssd, unit: Lpn, read: HostCandidate) -> Option<TxnId> {
    let request = ssd.transactions[read.id].request;
    page_order::chain(&ssd.ftl, &ssd.transactions, unit).find(|&id| {
        let Transaction { queued, kind, pool, request: of, .. } = ssd.transactions[id];
        of == request && queued && kind.queue() == QueueKind::Read && pool == read.pool
    })
}

/// Notes the read of a unit that the flash read of another unit, `first`, brings.
pub(in crate::ssd) fn prepare_read_along(ssd: &mut Ssd, now: Ns, id: TxnId, first: TxnId) {
    let lpn = ssd.transactions[id].lpn;
    ssd.transactions[id].uncorrectable = ssd.transactions[first].uncorrectable;
    ssd.probes.note(now, &ssd.ftl, Event::ReadAlong(lpn, ssd.ftl.lookup(lpn)));
}

/// The parts of each page of a host operation that are transferred, from its transaction `first` on.
#[inline(always)]
pub(in crate::ssd) fn parts_of(ssd: &mut Ssd, kind: OpKind, first: TxnId) -> Parts {
    if ssd.rules.partial_reads && kind == OpKind::Read { parts_to_transfer(ssd, first) } else { Parts::WHOLE }
}

/// The parts of each page of a read that are transferred: as many units as it is for or, where the unit is the page, as many sixteenths.
fn parts_to_transfer(ssd: &mut Ssd, first: TxnId) -> Parts {
    let (mut parts, mut next, mut page) = (Parts::WHOLE, Some(first), 0);
    while let Some(of_page) = next {
        let (mut last, mut count) = (of_page, 1);
        while let Some(unit) = unit_behind(ssd, last) {
            (last, count) = (unit, count + 1);
        }
        if ssd.geometry().units_per_flash_page == 1 {
            count = sixteenths(ssd, of_page);
        }
        parts.set(page, count);
        ssd.probes.count().partial_reads += u64::from(count < ssd.rules.parts_per_page);
        (next, page) = (ssd.transactions[last].next, page + 1);
    }
    parts
}

/// Number of sixteenths of its page that a read touches. One that reads the rest of a partial write transfers all of it.
fn sixteenths(ssd: &Ssd, id: TxnId) -> u32 {
    let Transaction { kind, bytes: (from, to), .. } = ssd.transactions[id];
    let parts = ssd.rules.parts_per_page;
    if kind != TransactionKind::Read || from >= to {
        return parts;
    }
    let (from, to, page) = (u64::from(from), u64::from(to), u64::from(ssd.geometry().unit_bytes));
    ((to * u64::from(parts)).div_ceil(page) - from * u64::from(parts) / page) as u32
}

/// Gives a unit that shares a program the page behind the one at `before`.
pub(in crate::ssd) fn prepare_program_along(ssd: &mut Ssd, now: Ns, id: TxnId, before: Ppn) {
    let ppn = Ppn(before.0 + 1);
    ssd.transactions[id].ppn = ppn;
    ssd.ftl.prefetch(ssd.transactions[id].lpn);
    pace::write_begins(ssd, ssd.transactions[id].lpn);
    ssd.write_begins(ssd.transactions[id].pool);
    ssd.probes.note(now, &ssd.ftl, Event::HostProgram(ppn, ssd.transactions[id].version));
}

/// The unit at `unit` of a host operation is prepared; `next`: the transaction behind it. If it is the last of a program, the rest is padding.
#[inline(always)]
pub(in crate::ssd) fn page_prepared(ssd: &mut Ssd, now: Ns, kind: OpKind, unit: Ppn, next: Option<TxnId>) {
    if ssd.rules.gc.gathers() && kind == OpKind::Program && !next.is_some_and(|next| ssd.transactions[next].same_page) {
        note_padding(ssd, now, unit);
    }
}

/// Notes the padding of a program whose last unit is at `last`.
fn note_padding(ssd: &mut Ssd, now: Ns, last: Ppn) {
    let units = ssd.geometry().units_per_program;
    let padding = units - 1 - ssd.geometry().split_page(last).1 % units;
    ssd.probes.note(now, &ssd.ftl, Event::Padded(Ppn(last.0 + 1), padding));
    pace::padding_taken(ssd, ssd.geometry().pool_of_page(last), padding);
}

/// The transactions that share one page of an operation, from the first on.
pub(in crate::ssd) fn units_of(ssd: &Ssd, first: TxnId) -> impl Iterator<Item = TxnId> {
    let along = std::iter::successors(ssd.transactions[first].next, |&id| ssd.transactions[id].next);
    std::iter::once(first).chain(along.take_while(|&id| ssd.transactions[id].same_page))
}

/// Applies `change` to the transactions that share one page of an operation, from the first on.
#[inline(always)]
pub(in crate::ssd) fn each_unit(ssd: &mut Ssd, first: TxnId, mut change: impl FnMut(&mut Transaction)) {
    let mut unit = Some(first);
    while let Some(id) = unit {
        change(&mut ssd.transactions[id]);
        unit = unit_behind(ssd, id);
    }
}

/// The next transaction that shares the page of one, if any.
#[inline(always)]
pub(in crate::ssd) fn unit_behind(ssd: &Ssd, id: TxnId) -> Option<TxnId> {
    ssd.transactions[id].next.filter(|&next| ssd.transactions[next].same_page)
}

/// Handles the end of the transfer of a page of a read. Returns the first transaction of the operation's next page.
#[inline(always)]
pub(in crate::ssd) fn page_transferred(ssd: &mut Ssd, now: Ns, first: TxnId) -> Option<TxnId> {
    if ssd.rules.flash.errors {
        return ages::decode(ssd, now, first);
    }
    page_ends(ssd, now, first, Served::Transfer)
}

/// Ends the reads of a page that was served until now. Returns the first transaction of the operation's next page.
#[inline(always)]
pub(in crate::ssd) fn page_ends(ssd: &mut Ssd, now: Ns, first: TxnId, by: Served) -> Option<TxnId> {
    let mut unit = first;
    loop {
        let (next, more) = (ssd.transactions[unit].next, unit_behind(ssd, unit));
        ssd.transactions[unit].served(by, now);
        ssd.host_page_read(now, unit);
        match more {
            Some(more) => unit = more,
            None => return next,
        }
    }
}

/// The first transaction of the next page of an operation, behind the units of the page of `first`.
pub(in crate::ssd) fn next_page(ssd: &Ssd, first: TxnId) -> Option<TxnId> {
    let mut unit = first;
    while let Some(more) = unit_behind(ssd, unit) {
        unit = more;
    }
    ssd.transactions[unit].next
}

/// Ends the writes of a host program that has ended. Returns the first transaction of the operation's next program.
pub(in crate::ssd) fn programmed(ssd: &mut Ssd, now: Ns, first: TxnId) -> Option<TxnId> {
    let (ppn, pool) = (ssd.transactions[first].ppn, ssd.transactions[first].pool);
    let (mut unit, mut count) = (Some(first), 0);
    let padding = ssd.ftl.pad(pool, ppn, units_of(ssd, first).count() as u32);
    if ssd.rules.notes_moves && ssd.geometry().is_of_map(ssd.transactions[first].lpn) {
        ssd.padded.push((ssd.host.request(ssd.transactions[first].request).index, padding));
    }
    units_of(ssd, first).for_each(|id| ssd.ftl.prefetch_old(ssd.transactions[id].lpn));
    while let Some(id) = unit {
        unit_written(ssd, now, id);
        count += 1;
        unit = unit_behind(ssd, id);
    }
    plant_second_count(ssd, ppn, count);
    let mut unit = first;
    loop {
        let (next, more) = (ssd.transactions[unit].next, unit_behind(ssd, unit));
        unit_ends(ssd, now, unit);
        match more {
            Some(more) => unit = more,
            None => return next,
        }
    }
}

/// Maps a written unit to its new place. Its transaction keeps the old one.
fn unit_written(ssd: &mut Ssd, now: Ns, id: TxnId) {
    let Transaction { lpn, ppn, version, pool, .. } = ssd.transactions[id];
    let old = ssd.ftl.commit_write(pool, lpn, ppn);
    ssd.transactions[id].ppn = old.unwrap_or(NOWHERE);
    table::place_changed(ssd, lpn);
    ssd.probes.note(now, &ssd.ftl, Event::Written(lpn, version));
}

/// Ends the write of a unit. Only after all units of its program have been mapped.
fn unit_ends(ssd: &mut Ssd, now: Ns, id: TxnId) {
    let Transaction { pool, ppn, .. } = ssd.transactions[id];
    ssd.write_ended(now, id, pool, Some(ppn).filter(|&old| old != NOWHERE));
}

/// Allocates the pages of the units that a pool's job programs next. Returns the move of the first unit, and the array time, ns.
pub(in crate::ssd) fn place(ssd: &mut Ssd, now: Ns, pool: PoolId) -> (Move, Ns) {
    let class = ssd.gc.jobs.class_in_service(pool);
    let allocated = if ssd.rules.gc.spreads { ssd.ftl.allocate_dealt(pool, class) } else { ssd.ftl.allocate_move(pool, class) };
    ssd.ftl.note_displaced(ssd.gc.units(pool).iter().filter(|moved| moved.class != allocated.class).count());
    let mut to = allocated.ppn;
    for unit in 0..ssd.gc.units(pool).len() {
        to = Ppn(allocated.ppn.0 + unit as u32);
        // The map entry is needed when the program ends.
        ssd.ftl.prefetch(ssd.gc.units(pool)[unit].lpn);
        let moved = &mut ssd.gc.units_mut(pool)[unit];
        moved.to = Some(to);
        let placed = match moved.writer {
            None => Event::MovePlaced(moved.from, to),
            Some(writer) => {
                ssd.write_begins(pool);
                Event::HostProgram(to, ssd.transactions[writer].version)
            }
        };
        ssd.probes.note(now, &ssd.ftl, placed);
    }
    let own = ssd.gc.units(pool).iter().filter(|moved| moved.writer.is_none()).count() as u32;
    pace::pages_taken(ssd, pool, ssd.geometry().units_per_program - own);
    note_padding(ssd, now, to);
    ssd.page_allocated(now, pool, allocated);
    (ssd.gc.units(pool)[0], ssd.program_time(allocated.ppn).array_ns())
}

/// The units of a page have been read into the controller's buffer.
pub(in crate::ssd) fn buffered(ssd: &mut Ssd, now: Ns, pool: PoolId) {
    let serial = ssd.next_serial();
    if ssd.rules.gc.merge {
        merging_buffered(ssd, now, pool, serial);
    } else {
        ssd.gc.jobs.read_ended(&ssd.ftl, pool, (now, serial));
    }
    if ssd.rules.gc.spreads {
        superblock::look(ssd, now, pool);
    }
    carry::look(ssd, now, pool);
}

/// The units of a read are in the controller's buffer: reads that have merged with them are answered, and writes that wait merge.
fn merging_buffered(ssd: &mut Ssd, now: Ns, pool: PoolId, serial: u64) {
    let mut units = [(Lpn(0), None); UNITS_MAX as usize];
    let count = ssd.gc.units(pool).len();
    for (unit, moved) in units.iter_mut().zip(ssd.gc.units_mut(pool)) {
        *unit = (moved.lpn, moved.readers.take());
    }
    ssd.gc.jobs.read_ended(&ssd.ftl, pool, (now, serial));
    for (lpn, readers) in units.into_iter().take(count) {
        merge::readers_served(ssd, now, readers);
        merge::merge_waiting_for(ssd, now, pool, lpn);
    }
}

/// Handles the end of the program of a job's units.
pub(in crate::ssd) fn moved(ssd: &mut Ssd, now: Ns, pool: PoolId) {
    let units = std::mem::take(ssd.gc.units_mut(pool));
    let first = units[0].to.expect("it was programmed somewhere");
    let padding = ssd.ftl.pad(pool, first, units.len() as u32);
    if ssd.rules.notes_moves {
        ssd.gained -= i64::from(padding);
    }
    let current = units.iter().map(|moved| u32::from(unit_moved(ssd, now, pool, moved))).sum();
    ssd.gc.jobs.committed(pool, current);
    plant_second_count(ssd, first, units.len());
    earn(ssd, pool, &units);
    let serial = ssd.next_serial();
    ssd.gc.jobs.move_ended(&ssd.ftl, pool, (now, serial));
    for writer in units.iter().filter_map(|moved| moved.writer) {
        unit_ends(ssd, now, writer);
    }
    if ssd.rules.gc.spreads {
        superblock::units_done(ssd, now, pool, &units);
    }
    // Keeps the memory of the list: no job has begun a step since.
    *ssd.gc.units_mut(pool) = units;
    ssd.gc.units_mut(pool).clear();
    carry::look(ssd, now, pool);
}

/// Earns credit for the units that the job of a pool has moved, out of its victim or out of one that waited.
fn earn(ssd: &mut Ssd, pool: PoolId, units: &[Move]) {
    let own = units.iter().filter(|moved| moved.writer.is_none());
    let waits = ssd.rules.gc.carries && ssd.ftl.waiting_victim(pool).is_some();
    let of_waiting = own.clone().filter(|moved| waits && ssd.ftl.waits_for_job(ssd.block_of_page(moved.from))).count() as u32;
    pace::earn(ssd, pool, own.count() as u32 - of_waiting);
    pace::earn_for_waiting(ssd, pool, of_waiting);
}

/// A unit of a program has been moved. Returns true if its copy is the newest, and no host write has merged with the move.
fn unit_moved(ssd: &mut Ssd, now: Ns, pool: PoolId, moved: &Move) -> bool {
    let to = moved.to.expect("it was programmed somewhere");
    let Some(writer) = moved.writer else {
        let current = ssd.ftl.commit_move(pool, moved.lpn, moved.from, to);
        table::unit_moved(ssd, moved.lpn, current);
        if current && ssd.rules.gc.spreads {
            superblock::readers_follow(ssd, now, moved.lpn, pool);
        }
        // Only jobs for space leave units.
        let waited = ssd.rules.gc.carries && ssd.ftl.waits_for_job(ssd.block_of_page(moved.from));
        let cause = if waited { Cause::Space } else { ssd.gc.job(pool).expect("a unit was moved").cause() };
        ssd.probes.note(now, &ssd.ftl, Event::PageMoved { from: moved.from, cause, current });
        return current;
    };
    let transaction = &mut ssd.transactions[writer];
    transaction.served(Served::Array, now);
    (transaction.ppn, transaction.pool) = (to, pool);
    unit_written(ssd, now, writer);
    false
}

/// If that defect is planted, counts the first unit of a program of several as valid twice.
fn plant_second_count(ssd: &mut Ssd, first: Ppn, units: usize) {
    if ssd.probes.has(Planted::CountsUnitTwice) && units > 1 {
        ssd.ftl.count_twice(first);
    }
}

/// The place of a unit that held no data.
const NOWHERE: Ppn = Ppn(u32::MAX);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::Ftl;
    use ssdlab_base::request::{Request, RequestKind};
    use ssdlab_keys::config::{Config, Frontier, Priority, Scope};

    const POOL: PoolId = PoolId(0);

    /// Four of eight blocks are filled, with two units in a page. The fifth write takes the second free block, and a job moves pages 2 and
    /// 3. When its first program has ended, and before its next step begins, no unit is in service.
    #[test]
    fn units_whose_program_has_ended_are_not_being_moved() {
        let mut config = Config::default();
        (config.device.channels, config.device.blocks_per_plane, config.device.pages_per_block) = (1, 8, 4);
        config.device.overprovisioning = 0.5;
        (config.ftl.map_unit_bytes, config.ftl.frontier) = (Some(config.device.page_bytes / 2), Frontier::Shared);
        (config.gc.soft, config.gc.scope, config.gc.priority) = (3.0, Scope::None, Priority::Host);
        let mut ftl = Ftl::new(&config);
        ftl.fill(ftl.geometry().exported_units);
        let mut ssd = Ssd::new(&config, ftl, 1);
        ssd.begin();
        let length = u64::from(config.device.page_bytes);
        let mut now = 0;
        for (page, index) in [0, 1, 4, 8, 12].into_iter().zip(0..) {
            let kind = RequestKind::Write;
            ssd.accept(
                now,
                index,
                Request { arrival_ns: now, kind, offset: page * length, length, high_priority: false, flow: 0, handle: None },
            );
            ssd.dispatch(now);
            while let Some(next) = ssd.next_event() {
                now = next;
                ssd.handle_events(now);
                if ssd.counters().pages_moved > 0 {
                    assert_eq!((ssd.counters().pages_moved, ssd.gc.job(POOL).is_some()), (2, true));
                    assert_eq!(ssd.gc.units(POOL), []);
                    return;
                }
                ssd.dispatch(now);
            }
        }
        panic!("a job has moved nothing");
    }
}
