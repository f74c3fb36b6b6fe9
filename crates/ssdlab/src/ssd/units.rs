//! Mapping units smaller than a flash page (`ftl.map_unit_bytes`), and programs of several pages (`device.pages_per_program`): which units
//! share an operation.
//!
//! Each unit that a request touches is an operation of its own until the die takes it. Then other units of the same request go along: with
//! a read those that lie in its flash page, with a program those that wait directly behind it, as many as fill it. The rest of a program is
//! padding. Units that go along are behind the first in the operation's list, marked [`Transaction::same_page`].

use super::candidates::HostCandidate;
use super::probes::Event;
use super::{Planted, Ssd};
use crate::blocked::Served;
use crate::config::{PROGRAM_UNITS_MAX, UNITS_MAX};
use crate::flash::{OpKind, Parts};
use crate::gc::Move;
use crate::sched::{QueueKind, Transaction, page_order};
use crate::units::{DieId, Lpn, Ns, PoolId, Ppn, TxnId};

/// Units that share a flash operation with a first one.
struct Along {
    ids: [Option<TxnId>; PROGRAM_UNITS_MAX as usize],
    count: usize,
}

impl Along {
    fn none() -> Self {
        Along { ids: [None; PROGRAM_UNITS_MAX as usize], count: 0 }
    }

    fn add(&mut self, id: TxnId) {
        self.ids[self.count] = Some(id);
        self.count += 1;
    }
}

impl Ssd {
    /// Takes an operation out of its queue, with the units that share its page or program. Returns the first and the last of the list.
    #[inline(always)]
    pub(super) fn take_page(&mut self, now: Ns, die: DieId, candidate: HostCandidate, kind: OpKind) -> (TxnId, TxnId) {
        if !self.rules.gc.gathers() {
            let id = self.take_from_queue(now, die, candidate);
            return (id, id);
        }
        self.take_units(now, die, candidate, kind)
    }

    fn take_units(&mut self, now: Ns, die: DieId, candidate: HostCandidate, kind: OpKind) -> (TxnId, TxnId) {
        let along = match kind {
            OpKind::Program => self.writes_behind(candidate.id),
            // What is left in a register may be of another page.
            OpKind::RegisterRead => Along::none(),
            _ => self.reads_of_page(candidate),
        };
        let first = self.take_from_queue(now, die, candidate);
        let mut last = first;
        for id in along.ids.into_iter().flatten() {
            self.leave_queue(now, die, HostCandidate { id, ..candidate });
            self.transactions[id].same_page = true;
            self.transactions[last].next = Some(id);
            last = id;
        }
        (first, last)
    }

    /// The writes of the same request that wait directly behind one, as many as its program has room for.
    fn writes_behind(&self, id: TxnId) -> Along {
        let (mut along, request) = (Along::none(), self.transactions[id].request);
        let mut next = self.transactions[id].next;
        while let Some(id) = next.filter(|&id| self.transactions[id].request == request)
            && along.count + 1 < self.geometry().units_per_program as usize
        {
            along.add(id);
            next = self.transactions[id].next;
        }
        along
    }

    /// The reads of the same request that wait for other units of the flash page of a read's unit. Units without data count as if they lay
    /// in the order of their addresses.
    fn reads_of_page(&self, read: HostCandidate) -> Along {
        let (mut along, lpn) = (Along::none(), self.transactions[read.id].lpn);
        let mut add = |other: Lpn| {
            if other != lpn
                && let Some(id) = self.read_of(other, read)
            {
                along.add(id);
            }
        };
        match self.ftl.lookup(lpn) {
            Some(ppn) => self.ftl.units_with(ppn).for_each(|(_, other)| add(other)),
            None => {
                let first = lpn.0 & !(self.geometry().units_per_page - 1);
                let units = (first..first + self.geometry().units_per_page).map(Lpn);
                units.filter(|&other| self.ftl.lookup(other).is_none()).for_each(add);
            }
        }
        along
    }

    /// The waiting read of a unit, of the same request and in the same queue as `read`.
    fn read_of(&self, unit: Lpn, read: HostCandidate) -> Option<TxnId> {
        let request = self.transactions[read.id].request;
        page_order::chain(&self.ftl, &self.transactions, unit).find(|&id| {
            let Transaction { queued, kind, pool, request: of, .. } = self.transactions[id];
            of == request && queued && kind.queue() == QueueKind::Read && pool == read.pool
        })
    }

    /// Notes the read of a unit that another unit's flash read brings.
    pub(super) fn prepare_read_along(&mut self, now: Ns, id: TxnId) {
        let lpn = self.transactions[id].lpn;
        self.probes.note(now, &self.ftl, Event::ReadAlong(lpn, self.ftl.lookup(lpn)));
    }

    /// The parts of each page of a read that are transferred: as many units as it is for.
    pub(super) fn parts_to_transfer(&mut self, first: TxnId) -> Parts {
        let (mut parts, mut next, mut page) = (Parts::WHOLE, Some(first), 0);
        while let Some(of_page) = next {
            let (mut last, mut units) = (of_page, 1);
            while let Some(unit) = self.unit_behind(last) {
                (last, units) = (unit, units + 1);
            }
            parts.set(page, units);
            self.probes.count().partial_reads += u64::from(units < self.geometry().units_per_page);
            (next, page) = (self.transactions[last].next, page + 1);
        }
        parts
    }

    /// Gives a unit that shares a program the page behind the one at `before`.
    pub(super) fn prepare_program_along(&mut self, now: Ns, id: TxnId, before: Ppn) {
        let ppn = Ppn(before.0 + 1);
        self.transactions[id].ppn = ppn;
        self.ftl.prefetch(self.transactions[id].lpn);
        self.paced_write_begins(self.transactions[id].lpn);
        self.write_begins(self.transactions[id].pool);
        self.probes.note(now, &self.ftl, Event::HostProgram(ppn, self.transactions[id].version));
    }

    /// Notes the padding of a program whose last unit is at `last`.
    pub(super) fn note_padding(&mut self, now: Ns, last: Ppn) {
        let units = self.geometry().units_per_program;
        let padding = units - 1 - self.geometry().split_page(last).1 % units;
        self.probes.note(now, &self.ftl, Event::Padded(Ppn(last.0 + 1), padding));
        self.pace_padding(self.geometry().pool_of_page(last), padding);
    }

    /// The transactions that share one page of an operation, from the first on.
    pub(super) fn units_of(&self, first: TxnId) -> impl Iterator<Item = TxnId> {
        let along = std::iter::successors(self.transactions[first].next, |&id| self.transactions[id].next);
        std::iter::once(first).chain(along.take_while(|&id| self.transactions[id].same_page))
    }

    /// Applies `change` to the transactions that share one page of an operation, from the first on.
    #[inline(always)]
    pub(super) fn each_unit(&mut self, first: TxnId, mut change: impl FnMut(&mut Transaction)) {
        let mut unit = Some(first);
        while let Some(id) = unit {
            change(&mut self.transactions[id]);
            unit = self.unit_behind(id);
        }
    }

    /// The next transaction that shares the page of one, if any.
    #[inline(always)]
    fn unit_behind(&self, id: TxnId) -> Option<TxnId> {
        self.transactions[id].next.filter(|&next| self.transactions[next].same_page)
    }

    /// Ends the reads of a page whose transfer has ended. Returns the first transaction of the operation's next page.
    #[inline(always)]
    pub(super) fn page_transferred(&mut self, now: Ns, first: TxnId) -> Option<TxnId> {
        let mut unit = first;
        loop {
            let (next, more) = (self.transactions[unit].next, self.unit_behind(unit));
            self.transactions[unit].served(Served::Transfer, now);
            self.host_page_read(now, unit);
            match more {
                Some(more) => unit = more,
                None => return next,
            }
        }
    }

    /// Ends the writes of a host program that has ended. Returns the first transaction of the operation's next program.
    pub(super) fn units_programmed(&mut self, now: Ns, first: TxnId) -> Option<TxnId> {
        let (ppn, pool) = (self.transactions[first].ppn, self.transactions[first].pool);
        let (mut unit, mut count) = (Some(first), 0);
        let padding = self.ftl.pad(pool, ppn, self.units_of(first).count() as u32);
        if self.rules.notes_moves && self.geometry().is_of_map(self.transactions[first].lpn) {
            self.padded.push((self.host.request(self.transactions[first].request).index, padding));
        }
        self.units_of(first).for_each(|id| self.ftl.prefetch_old(self.transactions[id].lpn));
        while let Some(id) = unit {
            self.unit_written(now, id);
            count += 1;
            unit = self.unit_behind(id);
        }
        self.plant_second_count(ppn, count);
        let mut unit = first;
        loop {
            let (next, more) = (self.transactions[unit].next, self.unit_behind(unit));
            self.unit_ends(now, unit);
            match more {
                Some(more) => unit = more,
                None => return next,
            }
        }
    }

    /// Maps a written unit to its new place. Its transaction keeps the old one.
    fn unit_written(&mut self, now: Ns, id: TxnId) {
        let Transaction { lpn, ppn, version, pool, .. } = self.transactions[id];
        let old = self.ftl.commit_write(pool, lpn, ppn);
        self.transactions[id].ppn = old.unwrap_or(NOWHERE);
        self.probes.note(now, &self.ftl, Event::Written(lpn, version));
    }

    /// Ends the write of a unit. Only after all units of its program have been mapped.
    fn unit_ends(&mut self, now: Ns, id: TxnId) {
        let Transaction { pool, ppn, .. } = self.transactions[id];
        self.write_ended(now, id, pool, Some(ppn).filter(|&old| old != NOWHERE));
    }

    /// Allocates the pages of the units that a pool's job programs next. Returns the move of the first unit, and the array time, ns.
    pub(super) fn place_units(&mut self, now: Ns, pool: PoolId) -> (Move, Ns) {
        let allocated = self.ftl.allocate_move(pool);
        let mut to = allocated.ppn;
        for unit in 0..self.gc.units(pool).len() {
            to = Ppn(allocated.ppn.0 + unit as u32);
            // The map entry is needed when the program ends.
            self.ftl.prefetch(self.gc.units(pool)[unit].lpn);
            let moved = &mut self.gc.units_mut(pool)[unit];
            moved.to = Some(to);
            let placed = match moved.writer {
                None => Event::MovePlaced(moved.from, to),
                Some(writer) => Event::HostProgram(to, self.transactions[writer].version),
            };
            self.probes.note(now, &self.ftl, placed);
        }
        let units = self.gc.units(pool);
        let own = units.iter().filter(|moved| moved.writer.is_none()).count() as u32;
        self.note_taken(pool, self.geometry().units_per_program - own);
        self.note_padding(now, to);
        if allocated.took_block {
            self.block_taken(now, pool, self.ftl.blocks().free_count(pool));
        }
        (self.gc.units(pool)[0], self.program_time(allocated.ppn).array_ns())
    }

    /// The units of a page have been read into the controller's buffer.
    pub(super) fn units_buffered(&mut self, now: Ns, pool: PoolId) {
        let serial = self.next_serial();
        let mut units = [(Lpn(0), None); UNITS_MAX as usize];
        let count = self.gc.units(pool).len();
        for (unit, moved) in units.iter_mut().zip(self.gc.units_mut(pool)) {
            *unit = (moved.lpn, moved.readers.take());
        }
        self.gc.read_ended(&self.ftl, pool, (now, serial));
        for (lpn, readers) in units.into_iter().take(count) {
            self.readers_served(now, readers);
            if self.rules.gc.merge {
                self.merge_waiting_for(now, pool, lpn);
            }
        }
    }

    /// Handles the end of the program of a job's units.
    pub(super) fn units_moved(&mut self, now: Ns, die: DieId, pool: PoolId) {
        let units = std::mem::take(self.gc.units_mut(pool));
        let first = units[0].to.expect("it was programmed somewhere");
        let padding = self.ftl.pad(pool, first, units.len() as u32);
        if self.rules.notes_moves {
            self.gained -= i64::from(padding);
        }
        for moved in &units {
            self.unit_moved(now, pool, moved);
        }
        self.plant_second_count(first, units.len());
        self.earn(pool, units.iter().filter(|moved| moved.writer.is_none()).count() as u32);
        if let Some(slack) = self.sched.slack_mut() {
            slack.moved(die);
        }
        let serial = self.next_serial();
        self.gc.move_ended(&self.ftl, pool, (now, serial));
        for writer in units.iter().filter_map(|moved| moved.writer) {
            self.unit_ends(now, writer);
        }
        // Keeps the memory of the list: no job has begun a step since.
        *self.gc.units_mut(pool) = units;
        self.gc.units_mut(pool).clear();
    }

    fn unit_moved(&mut self, now: Ns, pool: PoolId, moved: &Move) {
        let to = moved.to.expect("it was programmed somewhere");
        let Some(writer) = moved.writer else {
            let current = self.ftl.commit_move(pool, moved.lpn, moved.from, to);
            self.note_move(moved.lpn, current);
            return self.probes.note(now, &self.ftl, Event::PageMoved { current });
        };
        let transaction = &mut self.transactions[writer];
        transaction.served(Served::Array, now);
        (transaction.ppn, transaction.pool) = (to, pool);
        self.unit_written(now, writer);
    }

    /// If that defect is planted, counts the first unit of a program of several as valid twice.
    fn plant_second_count(&mut self, first: Ppn, units: usize) {
        if self.probes.has(Planted::CountsUnitTwice) && units > 1 {
            self.ftl.count_twice(first);
        }
    }
}

/// The place of a unit that held no data.
const NOWHERE: Ppn = Ppn(u32::MAX);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Frontier, Priority, Scope};
    use crate::ftl::Ftl;
    use crate::request::{Request, RequestKind};

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
        ftl.fill(ftl.geometry().exported_pages);
        let mut ssd = Ssd::new(&config, ftl, 1);
        ssd.begin();
        let length = u64::from(config.device.page_bytes);
        let mut now = 0;
        for (page, index) in [0, 1, 4, 8, 12].into_iter().zip(0..) {
            let kind = RequestKind::Write;
            ssd.accept(now, index, Request { arrival_ns: now, kind, offset: page * length, length, high_priority: false, flow: 0 });
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
