//! Requests become page transactions, which wait for older operations on their page, then in a queue for their die.

use super::Ssd;
use super::host::Outstanding;
use super::mechanisms::{self, accepted, burst, estimates, merge, order, slc, superblock, table, wear, zones};
use super::watch::planted::Planted;
use super::watch::probes::Event;
use super::watch::timeline;
use crate::ftl::Class;
use crate::sched::page_order::{self, ChainEnds};
use crate::sched::{Change, Placement, QueueKind, TRIMMED, Transaction, TransactionKind};
use ssdlab_base::blocked::{Blocked, DriveTimes};
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::units::{ChipId, DieId, Lpn, Ns, PoolId, Ppn, ReqId, TxnId};
use ssdlab_keys::config::UnmappedRead;
use ssdlab_keys::memory::Exhausted;

impl Ssd {
    /// Reserves memory for requests of this many pages in all, or this many requests without a page.
    ///
    /// # Errors
    /// [`Exhausted`] if there is not enough memory.
    pub fn make_room(&mut self, pages: usize) -> Result<(), Exhausted> {
        self.host.make_room(pages)?;
        self.transactions.make_room(pages)?;
        if let Some(timeline) = self.flash.recorder() {
            timeline.make_room(self.host.capacity())?;
        }
        self.sched.make_room(self.transactions.capacity(), self.host.capacity())
    }

    #[inline]
    pub(super) fn take_in(&mut self, now: Ns, index: u64, request: Request, scattered: bool) {
        assert!(request.offset + request.length <= self.geometry().logical_bytes());
        let id = self.host.take_in(now, index, request, scattered);
        self.admit_request(now, id, index);
    }

    /// Admits a request that has just been taken in, as far as chip queues have places.
    #[inline]
    pub(super) fn admit_request(&mut self, now: Ns, id: ReqId, index: u64) {
        timeline::request_arrived(self, id, index);
        mechanisms::request_arrived(self, now, id);
        match self.host.request(id).request.kind {
            // A request is acknowledged when it is in flash, so a flush has nothing to wait for.
            RequestKind::Flush => self.admission_done(now, id),
            // A trim needs no place in a chip's queue, but must not pass a waiting request: it may be for the same page.
            RequestKind::Read | RequestKind::Write | RequestKind::Trim => {
                let (first, end) = self.host.request(id).pages(self.geometry());
                if self.host.queued() > 0 {
                    return self.host.push(id, first);
                }
                self.host.looks();
                match self.admit_pages(now, id, first, end) {
                    None => self.all_admitted(now, id),
                    Some((page, by)) => {
                        self.host.push(id, first);
                        self.wait_in_host_queue(now, page, by);
                    }
                }
            }
            _ => zones::reject(self, now, id),
        }
    }

    /// Admits requests from the host queue into chip queues, in order, as far as these have places.
    pub(super) fn admit_from_host_queue(&mut self, now: Ns) {
        self.host.looks();
        while let Some((id, next)) = self.host.front() {
            let end = self.host.request(id).pages(self.geometry()).1;
            if let Some((page, by)) = self.admit_pages(now, id, next, end) {
                return self.wait_in_host_queue(now, page, by);
            }
            self.host.pop(now);
            self.all_admitted(now, id);
        }
    }

    /// The first request of the host queue waits: there is no place for this page of it.
    fn wait_in_host_queue(&mut self, now: Ns, page: u32, by: Blocked) {
        // Each page counts once, however often it finds no place.
        self.probes.count().host_queue_waits += u64::from(self.host.hold(now, page, by));
    }

    /// All pages of a request are admitted: the request completes if none is pending.
    #[inline(always)]
    fn all_admitted(&mut self, now: Ns, id: ReqId) {
        if self.host.all_admitted(id) {
            self.admission_done(now, id);
        }
    }

    /// Admits the pages `from..end` of a request. Returns the first page for which there is no place, and why.
    #[inline(always)]
    fn admit_pages(&mut self, now: Ns, id: ReqId, from: u32, end: u32) -> Option<(u32, Blocked)> {
        let kind = match self.host.request(id).request.kind {
            RequestKind::Read => TransactionKind::Read,
            RequestKind::Write => TransactionKind::Write,
            _ => {
                self.accept_trim(now, id);
                return None;
            }
        };
        let page_bytes = self.geometry().unit_bytes;
        let together = self.geometry().units_per_program;
        (from..end).find_map(|page| {
            let (lpn, bytes) = self.host.page(id, page, page_bytes);
            if together > 1 && self.rules.dynamic && kind == TransactionKind::Write {
                self.choose_station(id, page, together);
            }
            self.admit_page(now, id, kind, lpn, bytes).err().map(|by| (page, by))
        })
    }

    /// Admits one page of a request if its chip's queue has a place, or answers it at once; else returns why it has to wait.
    fn admit_page(&mut self, now: Ns, request: ReqId, kind: TransactionKind, lpn: Lpn, bytes: Change) -> Result<(), Blocked> {
        if self.wear.is_some() && kind == TransactionKind::Write && wear::finds_no_page(self, request, lpn) {
            self.page_answered(now, request);
            return Ok(());
        }
        let ends = page_order::ends(&self.ftl, lpn);
        let (chip, pool, station) = if kind == TransactionKind::Read {
            let place = self.ftl.lookup(lpn);
            if self.answer_at_once(now, request, place, bytes, ends) {
                return Ok(());
            }
            let pool = self.pool_of(lpn, place);
            (self.geometry().chip_of_die(self.geometry().die_of_pool(pool)), pool, 0)
        } else {
            self.destination(request, lpn).ok_or(Blocked::NoRoom)?
        };
        if !self.sched.has_place(chip, kind.queue()) {
            return Err(Blocked::QueueFull);
        }
        self.sched.accept(chip, kind.queue());
        if kind == TransactionKind::Write {
            self.ftl.prefetch_old(lpn);
        }
        self.host.page_pending(request);
        let serial = self.next_serial();
        let id = self.add_transaction(now, request, kind, lpn, bytes, chip);
        let transaction = &mut self.transactions[id];
        (transaction.ready, transaction.pool) = ((now, serial), pool);
        if self.rules.dynamic && kind == TransactionKind::Write {
            transaction.station = station;
            self.sched.placement_mut().expect("writes go by load").took_write(station, transaction.class);
        }
        if self.sched.slack().is_none() {
            if ends.is_some() || bytes != (0, self.geometry().unit_bytes) {
                self.note_place(id);
            }
            self.enter_page_order(now, id, ends);
        } else {
            estimates::enter(self, now, id, ends);
        }
        Ok(())
    }

    /// A write or trim of a page has not ended: its data are in the controller's memory, or there are none.
    pub fn is_changing(&self, lpn: Lpn) -> bool {
        page_order::ends(&self.ftl, lpn).is_some_and(|ends| self.transactions[ends.youngest].changes().is_some())
    }

    /// Notes the last operations of the queues that an operation may enter later than it is admitted.
    fn note_place(&mut self, id: TxnId) {
        let Transaction { kind, lpn, station, .. } = self.transactions[id];
        let home = self.geometry().static_pool(lpn);
        let read_queue = self.sched.queue(self.pool_of_data(lpn), QueueKind::Read);
        let write_queue = if self.rules.dynamic { self.sched.station_queue(station) } else { self.sched.queue(home, QueueKind::Write) };
        let last_write = if kind == TransactionKind::Write { self.sched.tail(write_queue) } else { None };
        self.transactions[id].behind_in_queue = [self.sched.tail(read_queue), last_write];
    }

    /// The pool in which a page lies, or, if it holds no data, that of its address.
    #[inline(always)]
    pub(super) fn pool_of_data(&self, lpn: Lpn) -> PoolId {
        self.pool_of(lpn, self.ftl.lookup(lpn))
    }

    /// The pool of a page that lies at `place`, or, if it holds no data (`None`), that of its address.
    #[inline(always)]
    fn pool_of(&self, lpn: Lpn, place: Option<Ppn>) -> PoolId {
        place.map_or_else(|| self.geometry().static_pool(lpn), |ppn| self.geometry().pool_of_page(ppn))
    }

    /// Adds a transaction of a request on a page. Its time until now was spent in the host queue.
    #[inline(always)]
    fn add_transaction(&mut self, now: Ns, request: ReqId, kind: TransactionKind, lpn: Lpn, bytes: Change, chip: ChipId) -> TxnId {
        let Request { arrival_ns, high_priority, handle, .. } = self.host.request(request).request;
        let write = kind == TransactionKind::Write;
        let version = self.probes.verifier_mut().filter(|_| write).map_or(0, |verifier| verifier.next_version(handle));
        let class = if write && self.rules.places { self.class_of_write(request, lpn, handle) } else { 0 };
        let id = self.transactions.insert_with(|| Transaction::new(kind, request, lpn, bytes, chip, arrival_ns));
        let transaction = &mut self.transactions[id];
        (transaction.high_priority, transaction.version, transaction.class) = (write && high_priority, version, class);
        // Most transactions are admitted as soon as their request arrives.
        if now > arrival_ns {
            transaction.waited(Blocked::NoRoom, arrival_ns + self.host.waited_for_room(now, request));
            transaction.waited(Blocked::QueueFull, now);
        }
        id
    }

    /// The class of a write that is admitted.
    fn class_of_write(&mut self, request: ReqId, lpn: Lpn, handle: Option<u8>) -> Class {
        let &Outstanding { class, asked, .. } = self.host.request(request);
        let known = class.or_else(|| asked.filter(|&(of, _)| of == lpn).map(|(_, class)| class));
        let class = known.unwrap_or_else(|| self.ftl.host_class(lpn, handle));
        if self.probes.has(Planted::WritesToAnotherStream) { self.ftl.next_class(class) } else { class }
    }

    /// Answers a page read that needs no flash: from a write that has not ended, or since the page holds no data. Returns true if it has.
    fn answer_at_once(&mut self, now: Ns, request: ReqId, place: Option<Ppn>, bytes: Change, ends: Option<ChainEnds>) -> bool {
        let unmapped = match ends.and_then(|ends| self.transactions[ends.youngest].changes()) {
            None => place.is_none(),
            Some(TRIMMED) => true,
            Some(written) => {
                let covered = written.0 <= bytes.0 && bytes.1 <= written.1;
                if covered {
                    let of_host = self.host.request(request).request.offset < self.geometry().exported_bytes();
                    self.probes.count().buffer_reads += u64::from(of_host);
                    self.page_answered(now, request);
                }
                return covered;
            }
        };
        self.probes.count().unmapped_reads += u64::from(unmapped);
        let at_once = unmapped && self.rules.unmapped_read == UnmappedRead::Immediate;
        if at_once {
            self.page_answered(now, request);
        }
        at_once
    }

    /// A page needed no flash: if it took any time, that was in the host queue.
    fn page_answered(&mut self, now: Ns, request: ReqId) {
        let mut times = DriveTimes::default();
        let for_room = self.host.waited_for_room(now, request);
        times.wait(Blocked::NoRoom, for_room);
        times.wait(Blocked::QueueFull, now - self.host.request(request).request.arrival_ns - for_room);
        self.host.page_answered(now, request, times);
        if let Some(slack) = self.sched.slack_mut() {
            slack.answered(request, now);
        }
    }

    /// The class of a page of the host that comes into a write buffer, which gathers what it programs together by class; `None` where it
    /// need not, since the handle says the class, or each unit is a program.
    #[inline(always)]
    pub fn class_of_program(&mut self, lpn: Lpn, handle: Option<u8>) -> Option<Class> {
        let apart = self.geometry().units_per_program > 1 && self.ftl.classes_of_write() > 1;
        apart.then(|| self.ftl.host_class(lpn, handle))
    }

    /// Dynamic allocation: chooses the station of a page of a request. Pages that fill one program go where the first of them goes; where stations
    /// take writes in turn by class, as far as they have one class.
    fn choose_station(&mut self, id: ReqId, page: u32, together: u32) {
        let first = self.host.request(id).pages(self.geometry()).0;
        let goes_on = !(page - first).is_multiple_of(together);
        let class = self.class_for_turn(id, self.host.page(id, page, self.geometry().unit_bytes).0);
        let placement = self.sched.placement().expect("writes go by load");
        let before = self.host.request(id).station.filter(|&(station, of)| goes_on && of == class && placement.has_room(station));
        let station = before.or_else(|| wear::next_station(self, placement, class).map(|station| (station, class)));
        self.host.set_station(id, station);
    }

    /// The chip that takes a write, its pool and its station. With dynamic allocation the pool is chosen later; `None` if there is no room for a
    /// page now.
    #[inline(always)]
    fn destination(&mut self, request: ReqId, lpn: Lpn) -> Option<(ChipId, PoolId, u32)> {
        let pool = self.geometry().static_pool(lpn);
        if !self.rules.dynamic {
            return Some((self.geometry().chip_of_die(self.geometry().die_of_pool(pool)), pool, 0));
        }
        let station = if self.geometry().units_per_program > 1 {
            self.host.request(request).station?.0
        } else {
            let class = self.class_for_turn(request, lpn);
            wear::next_station(self, self.sched.placement()?, class)?
        };
        Some((self.geometry().chip_of_die(self.first_die(station)), pool, station))
    }

    /// The first die of a station.
    pub(super) fn first_die(&self, station: u32) -> DieId {
        DieId(self.geometry().dies_of_station(station).start)
    }

    /// The class of a write, where stations take writes in turn by class; else 0. A policy that counts its calls is asked once, and its answer kept
    /// until the write is admitted.
    fn class_for_turn(&mut self, request: ReqId, lpn: Lpn) -> Class {
        let by_turns = self.rules.places && self.sched.placement().is_some_and(Placement::by_turns);
        if !by_turns {
            return 0;
        }
        let &Outstanding { class, asked, request: Request { handle, .. }, .. } = self.host.request(request);
        if let Some(class) = class.or_else(|| asked.filter(|&(of, _)| of == lpn).map(|(_, class)| class)) {
            return class;
        }
        if !self.ftl.counts_calls() {
            return self.ftl.host_class_now(lpn, handle);
        }
        let class = self.ftl.host_class(lpn, handle);
        self.host.set_asked(request, (lpn, class));
        class
    }

    /// Puts a transaction at the end of its page's chain, and activates it if it need not wait for older operations.
    pub(super) fn enter_page_order(&mut self, now: Ns, id: TxnId, ends: Option<ChainEnds>) {
        let goes = page_order::append(&mut self.ftl, &mut self.transactions, id, ends);
        if ends.is_some() && self.transactions[id].high_priority && !self.rules.dynamic {
            self.raise_older(now, id);
        }
        if goes {
            self.activate(now, id);
        } else {
            self.probes.count().page_order_waits += 1;
        }
    }

    /// Makes older writes to the page of a high-priority write, which it must not pass, as urgent as it is.
    fn raise_older(&mut self, now: Ns, youngest: TxnId) {
        let lpn = self.transactions[youngest].lpn;
        // These may make GC run to completion from now on.
        burst::interrupt_on(self, now, self.geometry().die_of_pool(self.geometry().static_pool(lpn)));
        let mut older = page_order::ends(&self.ftl, lpn).map(|ends| ends.oldest);
        while let Some(id) = older.filter(|&id| id != youngest) {
            let Transaction { kind, queued, pool, .. } = self.transactions[id];
            match kind {
                TransactionKind::Write | TransactionKind::ReadForWrite if queued => {
                    self.sched.raise(&mut self.transactions, id);
                    if kind == TransactionKind::Write {
                        self.high_priority_waits(now, pool, id);
                    }
                }
                TransactionKind::Write | TransactionKind::ReadForWrite => self.transactions[id].high_priority = true,
                TransactionKind::Read | TransactionKind::Trim => {}
            }
            older = page_order::next(&self.transactions, id);
        }
    }

    /// Activates a transaction: it need not wait for older operations on its page any more.
    pub(super) fn activate(&mut self, now: Ns, id: TxnId) {
        let transaction = &mut self.transactions[id];
        transaction.active = true;
        transaction.waited(Blocked::PageOrder, now);
        let (lpn, kind, bytes) = (transaction.lpn, transaction.kind, transaction.bytes);
        match kind {
            // The caller finishes the trim, at this same instant.
            TransactionKind::Trim if wear::is_closed(self) => wear::reject(self, self.transactions[id].request),
            TransactionKind::Trim => self.trim_page(now, lpn),
            TransactionKind::Write => {
                let partial = bytes != (0, self.geometry().unit_bytes);
                if partial && !self.rules.skip_partial_read && self.ftl.lookup(lpn).is_some() {
                    self.transactions[id].kind = TransactionKind::ReadForWrite;
                    self.probes.count().rmw_reads += 1;
                }
                self.enter_queue(now, id);
            }
            TransactionKind::Read | TransactionKind::ReadForWrite => self.enter_queue(now, id),
        }
    }

    /// Gives a transaction that is about to enter a queue its rank there. Where slack gives the order, it enters at the end of its station's queue,
    /// and exchanges ranks with those it passes.
    #[inline(always)]
    pub(super) fn give_rank(&mut self, id: TxnId) {
        let rank = if self.sched.slack().is_some() { self.next_serial() } else { self.transactions[id].ready.1 };
        self.transactions[id].rank = rank;
    }

    /// Puts an active transaction into the queue where it waits for its die, at the place of its age.
    pub(super) fn enter_queue(&mut self, now: Ns, id: TxnId) {
        self.give_rank(id);
        let Transaction { kind, lpn, pool, high_priority, on_page, .. } = self.transactions[id];
        let write = kind == TransactionKind::Write;
        if write && self.rules.dynamic {
            return self.enter_station_queue(now, id);
        }
        let pool = match kind {
            TransactionKind::Write => self.geometry().static_pool(lpn),
            // Found at admission, just now. A read that waited for older operations may find its page in another pool.
            TransactionKind::Read if on_page.behind().is_none() => pool,
            _ => self.pool_of_data(lpn),
        };
        let die = self.geometry().die_of_pool(pool);
        let transaction = &mut self.transactions[id];
        transaction.pool = pool;
        self.clocks.note_pool(now, pool, die, &mut transaction.noted);
        burst::interrupt_to_merge(self, now, die, id);
        if self.rules.gc.merge && merge::try_merge(self, now, id) {
            return;
        }
        self.sched.push(&mut self.transactions, die, id);
        order::operation_waits(self, now, die, id);
        self.ready.wake(die);
        self.operation_waits(now, die);
        burst::interrupt_for_host(self, now, die);
        if write && high_priority {
            self.high_priority_waits(now, pool, id);
        }
    }

    fn enter_station_queue(&mut self, now: Ns, id: TxnId) {
        let station = self.transactions[id].station;
        self.clocks.note_station(now, station, &mut self.transactions[id].noted);
        if self.rules.gc.merge && self.rules.gc.spreads && merge::try_merge(self, now, id) {
            return;
        }
        let first = self.first_die(station);
        self.sched.push(&mut self.transactions, first, id);
        order::operation_waits(self, now, first, id);
        self.dies_for_write(station).for_each(|die| {
            self.ready.wake(die);
            self.operation_waits(now, die);
        });
    }

    /// Unmaps the pages that are wholly inside a trim. Where a page has operations that the trim must not pass, it waits behind them.
    fn accept_trim(&mut self, now: Ns, id: ReqId) {
        let Request { offset, length, .. } = self.host.request(id).request;
        // This is the answer for the pages that are unmapped at once, if there are any.
        self.page_answered(now, id);
        if wear::is_closed(self) && !accepted::are_accepted_above(self) {
            return wear::reject(self, id);
        }
        let page_bytes = u64::from(self.geometry().unit_bytes);
        let end = ((offset + length) / page_bytes) as u32;
        let mut page = self.ftl.skip_unmapped(offset.div_ceil(page_bytes) as u32, end);
        while page < end {
            let lpn = Lpn(page);
            match page_order::ends(&self.ftl, lpn) {
                None => self.trim_page(now, lpn),
                // The page will be trimmed when older operations have ended: one more trim would change nothing, and rows of trims would
                // pile up.
                Some(ChainEnds { youngest, .. }) if self.transactions[youngest].kind == TransactionKind::Trim => {}
                ends => {
                    self.host.page_pending(id);
                    let trim = self.add_transaction(now, id, TransactionKind::Trim, lpn, (0, page_bytes as u32), ChipId(0));
                    self.enter_page_order(now, trim, ends);
                }
            }
            page = self.ftl.skip_unmapped(page + 1, end);
        }
    }

    fn trim_page(&mut self, now: Ns, lpn: Lpn) {
        let Some(place) = self.ftl.lookup(lpn) else { return };
        burst::interrupt_for_trim(self, now, place);
        let Some(pool) = self.ftl.trim(lpn) else { return };
        if self.rules.dynamic {
            self.room_appeared(Some(place));
        }
        table::place_changed(self, lpn);
        self.probes.note(now, &self.ftl, Event::Trimmed(lpn));
        superblock::page_invalid(self, now, place);
        self.gain_appeared(now, pool);
        slc::page_invalid(self, now, Some(place));
    }
}
