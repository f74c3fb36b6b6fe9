//! A request becomes page transactions. Operations on one logical page never pass each other: they stand in the page's chain, which hangs
//! on its pin in the map, and only the oldest (or, if it is a read, the reads at the front) are active.

use super::Ssd;
use super::requests::{Active, Ends};
use crate::config::UnmappedRead;
use crate::memory::{self, Exhausted};
use crate::request::{Request, RequestKind};
use crate::sched::{LineKind, NONE, SCATTERED, TRIMMED, Transaction, TransactionKind};
use crate::stats::{Completion, Part, Parts};
use crate::units::{ChipId, DieId, Lpn, Ns, PoolId, Ppn};

impl Ssd {
    /// Takes in a request that arrives now. It must lie inside the exported range.
    #[inline]
    pub fn accept(&mut self, now: Ns, index: u64, request: Request) {
        self.accept_as(now, index, request, false);
    }

    /// Takes in a write of sectors of one page that do not follow each other; `request` is the page. Its page is read first, once.
    pub fn accept_scattered(&mut self, now: Ns, index: u64, request: Request) {
        assert!(request.kind == RequestKind::Write && request.length == u64::from(self.geometry().page_bytes));
        self.accept_as(now, index, request, true);
    }

    /// Sees to it that requests for so many pages, or so many requests without a page, can be accepted without growing.
    ///
    /// # Errors
    /// [`Exhausted`].
    pub fn make_room(&mut self, pages: usize) -> Result<(), Exhausted> {
        self.requests.make_room(pages)?;
        self.transactions.make_room(pages)?;
        memory::make_room(&mut self.host_queue, pages)?;
        match &mut self.sched.slack {
            Some(slack) => slack.make_room(self.transactions.capacity(), self.requests.capacity()),
            None => Ok(()),
        }
    }

    fn accept_as(&mut self, now: Ns, index: u64, request: Request, scattered: bool) {
        assert!(request.offset + request.length <= self.geometry().exported_bytes());
        let data = matches!(request.kind, RequestKind::Read | RequestKind::Write);
        let sequential = data && self.last_end == Some(request.offset);
        if data {
            self.last_end = Some(request.offset + request.length);
        }
        if self.idle.is_some() {
            self.end_idle_time();
        }
        // The request itself counts as pending until all of its pages are in.
        let place = self.requests.insert(Active {
            request,
            index,
            sequential,
            scattered,
            pending: 1,
            parts: Parts::default(),
            last: (0, Lpn(0)),
            ends: Ends { in_warm_up: self.warming_up, ..Ends::default() },
        });
        self.note_request(place, index);
        self.note_arrival(now, place);
        match request.kind {
            // A request is acknowledged when it is in flash, so whatever a flush waits for is there.
            RequestKind::Flush => self.page_done(now, place, None),
            // A trim needs no place in a chip's queue, but must not pass a request that waits for one: it may be to the same page.
            RequestKind::Read | RequestKind::Write | RequestKind::Trim => {
                let first = self.requests[place].pages(self.ftl.geometry().page_bytes).0;
                self.host_queue.push_back((place, first));
                if self.host_queue.len() == 1 {
                    self.advance_host_queue(now);
                }
            }
        }
    }

    /// Lets requests from the host queue into the chip queues, in order, as far as these have places.
    pub(super) fn advance_host_queue(&mut self, now: Ns) {
        self.host_queue_ready = false;
        while let Some(&(place, next)) = self.host_queue.front() {
            match self.admit_pages(now, place, next) {
                Some(lpn) => {
                    self.host_queue[0].1 = lpn;
                    // Each page counts once, however often it is looked at in vain.
                    let held = self.held_in_host_queue.replace(lpn);
                    self.counters.host_queue_waits += u64::from(held != Some(lpn));
                    return;
                }
                None => {
                    self.host_queue.pop_front();
                    self.held_in_host_queue = None;
                    self.page_done(now, place, None);
                }
            }
        }
    }

    /// Admits the pages of a request from `from` on. Returns the first for which there is no place.
    fn admit_pages(&mut self, now: Ns, place: u32, from: u32) -> Option<u32> {
        let page_bytes = self.geometry().page_bytes;
        let active = self.requests[place];
        if active.request.kind == RequestKind::Trim {
            self.accept_trim(now, place);
            return None;
        }
        let kind = if active.request.kind == RequestKind::Read { TransactionKind::Read } else { TransactionKind::Write };
        for lpn in from..active.pages(page_bytes).1 {
            let bytes = if active.scattered { SCATTERED } else { active.bytes_in_page(Lpn(lpn), page_bytes) };
            if !self.admit_page(now, place, active.request.arrival_ns, kind, Lpn(lpn), bytes) {
                return Some(lpn);
            }
        }
        None
    }

    /// Admits one page of a request; false if its chip's queue is full.
    fn admit_page(&mut self, now: Ns, place: u32, arrival: Ns, kind: TransactionKind, lpn: Lpn, bytes: (u32, u32)) -> bool {
        let chain = self.ftl.chain(lpn);
        if kind == TransactionKind::Read && self.answer_at_once(now, place, arrival, lpn, bytes, chain) {
            return true;
        }
        let line = if kind == TransactionKind::Read { LineKind::Read } else { LineKind::Write };
        let Some(chip) = self.chip_for(kind, lpn) else { return false };
        if !self.sched.has_place(chip, line) {
            return false;
        }
        self.sched.accept(chip, line);
        self.requests[place].pending += 1;
        let mut transaction = self.new_transaction(place, arrival, kind, lpn, bytes, chip);
        transaction.account(Part::HostQueue, now);
        transaction.ready = (now, self.next_serial());
        let index = self.transactions.insert(transaction);
        if self.sched.slack.is_none() {
            if chain.is_some() || bytes != (0, self.geometry().page_bytes) {
                self.note_place(index);
            }
            self.enchain(now, lpn, index, chain);
        } else {
            self.enchain_and_estimate(now, lpn, index, chain);
        }
        true
    }

    /// Notes who is last in the lines that an operation may enter later than it is admitted.
    fn note_place(&mut self, index: u32) {
        let Transaction { kind, lpn, chip, .. } = self.transactions[index];
        let geometry = self.ftl.geometry();
        let home = geometry.home(lpn).0;
        let write = kind == TransactionKind::Write;
        let read_from = self.ftl.lookup(lpn).map_or(home, |ppn| geometry.pool_of_page(ppn));
        let write_line = if self.sched.is_dynamic() { self.sched.chip_line(ChipId(chip)) } else { self.sched.line(home, LineKind::Write) };
        let read_line = self.sched.line(read_from, LineKind::Read);
        self.transactions[index].behind_in_line = [self.sched.tail(read_line), if write { self.sched.tail(write_line) } else { NONE }];
    }

    fn new_transaction(
        &mut self,
        place: u32,
        arrival: Ns,
        kind: TransactionKind,
        lpn: Lpn,
        bytes: (u32, u32),
        chip: ChipId,
    ) -> Transaction {
        let version = match &mut self.verifier {
            Some(verifier) if kind == TransactionKind::Write => verifier.next_version(),
            _ => 0,
        };
        Transaction {
            kind,
            active: false,
            in_line: false,
            high_priority: kind == TransactionKind::Write && self.requests[place].request.high_priority,
            lpn,
            request: place,
            pool: PoolId(0),
            chip: chip.0,
            bytes,
            ppn: Ppn(0),
            ready: (0, 0),
            rank: 0,
            behind_in_line: [NONE; 2],
            mark: arrival,
            parts: Parts::default(),
            domain: 0,
            clock: [0; 3],
            next: NONE,
            previous: NONE,
            next_on_page: NONE,
            behind: None,
            version,
        }
    }

    /// Answers a page read that needs no flash: from a write still under way, or because there is no data.
    fn answer_at_once(&mut self, now: Ns, place: u32, arrival: Ns, lpn: Lpn, bytes: (u32, u32), chain: Option<(u32, u32)>) -> bool {
        let unmapped = match chain.map(|(_, youngest)| self.transactions[youngest]) {
            None => self.ftl.lookup(lpn).is_none(),
            Some(youngest) => match youngest.changes() {
                None => self.ftl.lookup(lpn).is_none(),
                Some(TRIMMED) => true,
                Some(written) => {
                    let covered = written.0 <= bytes.0 && bytes.1 <= written.1;
                    if covered {
                        self.counters.buffer_reads += 1;
                        self.page_answered(now, place, arrival);
                    }
                    return covered;
                }
            },
        };
        if unmapped {
            self.counters.unmapped_reads += 1;
        }
        let at_once = unmapped && self.unmapped_read == UnmappedRead::Immediate;
        if at_once {
            self.page_answered(now, place, arrival);
        }
        at_once
    }

    /// A page needed no flash: all of its time, if any, was in the host queue.
    fn page_answered(&mut self, now: Ns, place: u32, arrival: Ns) {
        let mut parts = Parts::default();
        parts.add(Part::HostQueue, now - arrival);
        let active = &mut self.requests[place];
        active.parts = parts;
        active.last = (now, Lpn(0));
        active.ends.add(now - arrival);
        if let Some(slack) = &mut self.sched.slack {
            slack.answered(place, now);
        }
    }

    /// The chip whose queue takes the operation; `None` if, with dynamic allocation, no chip has room for a page now.
    fn chip_for(&self, kind: TransactionKind, lpn: Lpn) -> Option<ChipId> {
        let geometry = self.geometry();
        if kind == TransactionKind::Write && self.sched.is_dynamic() {
            return self.least_loaded_chip();
        }
        let pool = self.ftl.lookup(lpn).map_or_else(|| geometry.home(lpn).0, |ppn| geometry.pool_of_page(ppn));
        let pool = if kind == TransactionKind::Write { geometry.home(lpn).0 } else { pool };
        Some(geometry.chip_of_die(geometry.die_of_pool(pool)))
    }

    /// elyasi2017's DynAlloc: the chip with the fewest operations waiting or running, among those with room for the data; the first among equals.
    fn least_loaded_chip(&self) -> Option<ChipId> {
        let geometry = self.geometry();
        let pools_per_chip = geometry.dies_per_chip.get() * geometry.pools.per_die.get();
        let has_room = |chip: &u32| {
            let pools = chip * pools_per_chip..(chip + 1) * pools_per_chip;
            let held: u64 =
                pools.map(|pool| u64::from(self.ftl.blocks().valid_in_pool(PoolId(pool)) + self.writes_under_way[pool as usize])).sum();
            held + u64::from(self.sched.load(ChipId(*chip))) < u64::from(self.ftl.room_of_pool()) * u64::from(pools_per_chip)
        };
        (0..geometry.chips).filter(has_room).map(ChipId).min_by_key(|&chip| (self.sched.load(chip), chip))
    }

    /// Puts a transaction at the end of its page's chain.
    pub(super) fn enchain(&mut self, now: Ns, lpn: Lpn, index: u32, chain: Option<(u32, u32)>) {
        let Some((oldest, youngest)) = chain else {
            self.ftl.set_chain(lpn, None, Some((index, index)));
            return self.activate(now, index);
        };
        self.transactions[youngest].next_on_page = index;
        self.transactions[index].behind = self.transactions[youngest].changes();
        self.ftl.set_chain(lpn, chain, Some((oldest, index)));
        if self.transactions[index].high_priority && !self.sched.is_dynamic() {
            self.raise_older(now, oldest, index);
        }
        let reads_only = self.transactions[youngest].kind == TransactionKind::Read && self.transactions[youngest].active;
        if reads_only && self.transactions[index].kind == TransactionKind::Read {
            self.activate(now, index);
        } else {
            self.counters.page_order_waits += 1;
        }
    }

    /// Writes of the same page that a high-priority write must not pass are as urgent as it is.
    fn raise_older(&mut self, now: Ns, mut index: u32, until: u32) {
        while index != until {
            let Transaction { kind, in_line, pool, next_on_page, .. } = self.transactions[index];
            match kind {
                TransactionKind::Write | TransactionKind::ReadForWrite if in_line => {
                    let write = kind == TransactionKind::Write;
                    let line = self.sched.line(pool, if write { LineKind::Write } else { LineKind::Read });
                    self.sched.raise(&mut self.transactions, line, index);
                    if write {
                        self.high_priority_waits(now, pool, index);
                    }
                }
                TransactionKind::Write | TransactionKind::ReadForWrite => self.transactions[index].high_priority = true,
                TransactionKind::Read | TransactionKind::Trim => {}
            }
            index = next_on_page;
        }
    }

    /// Nothing older on its page stands in a transaction's way any more.
    pub(super) fn activate(&mut self, now: Ns, index: u32) {
        let transaction = &mut self.transactions[index];
        transaction.active = true;
        // Waiting for an older operation on the page is waiting behind host work.
        transaction.account(Part::DieQueue, now);
        let (lpn, kind, bytes) = (transaction.lpn, transaction.kind, transaction.bytes);
        match kind {
            // The caller finishes it, at this same instant.
            TransactionKind::Trim => self.trim_page(now, lpn),
            TransactionKind::Write => {
                let partial = bytes != (0, self.geometry().page_bytes);
                if partial && !self.skip_partial_read && self.ftl.lookup(lpn).is_some() {
                    self.transactions[index].kind = TransactionKind::ReadForWrite;
                    self.counters.rmw_reads += 1;
                }
                self.line_up(now, index);
            }
            TransactionKind::Read | TransactionKind::ReadForWrite => self.line_up(now, index),
        }
    }

    /// Puts an active transaction into the line where it waits for its die, in the place of its age.
    pub(super) fn line_up(&mut self, now: Ns, index: u32) {
        // Where slack gives the order it comes from the end of its station's queue to its place, and changes ranks with those it passes.
        let rank = if self.sched.slack.is_some() { self.next_serial() } else { self.transactions[index].ready.1 };
        let Transaction { kind, lpn, chip, .. } = self.transactions[index];
        let write = kind == TransactionKind::Write;
        if write && self.sched.is_dynamic() {
            let domain = self.domain_of_chip(chip);
            self.start_waiting(now, index, rank, domain);
            let first = DieId(self.geometry().dies_of_chip(ChipId(chip)).start);
            self.sched.push_on_chip(&mut self.transactions, ChipId(chip), first, index);
            for die in self.geometry().dies_of_chip(ChipId(chip)) {
                self.dirty.insert(DieId(die));
            }
            return;
        }
        let geometry = self.ftl.geometry();
        let place = if write { None } else { self.ftl.lookup(lpn) };
        let pool = place.map_or_else(|| geometry.home(lpn).0, |ppn| geometry.pool_of_page(ppn));
        let die = geometry.die_of_pool(pool);
        self.transactions[index].pool = pool;
        self.start_waiting(now, index, rank, self.domain_of_pool(pool));
        if self.try_join(now, index) {
            return;
        }
        let kind = if write { LineKind::Write } else { LineKind::Read };
        self.sched.push(&mut self.transactions, die, self.sched.line(pool, kind), kind, index);
        self.dirty.insert(die);
        if self.transactions[index].high_priority && write {
            self.high_priority_waits(now, pool, index);
        }
    }

    fn start_waiting(&mut self, now: Ns, index: u32, rank: u64, domain: u32) {
        let clock = self.clocks.read(domain, now);
        let transaction = &mut self.transactions[index];
        transaction.rank = rank;
        transaction.domain = domain;
        transaction.clock = clock;
    }

    /// Unmaps the pages that lie wholly inside a trim; where operations are under way that it must not pass, it waits behind them.
    fn accept_trim(&mut self, now: Ns, place: u32) {
        let Request { offset, length, arrival_ns, .. } = self.requests[place].request;
        // Of the pages that are unmapped at once, if there are any.
        self.page_answered(now, place, arrival_ns);
        let page_bytes = u64::from(self.geometry().page_bytes);
        let end = ((offset + length) / page_bytes) as u32;
        let mut lpn = self.ftl.skip_unmapped(offset.div_ceil(page_bytes) as u32, end);
        while lpn < end {
            match self.ftl.chain(Lpn(lpn)) {
                None => self.trim_page(now, Lpn(lpn)),
                // Trimmed already, as soon as what is older has ended: one more changes nothing, and rows of them would pile up.
                Some((_, youngest)) if self.transactions[youngest].kind == TransactionKind::Trim => {}
                chain => {
                    self.requests[place].pending += 1;
                    let mut transaction =
                        self.new_transaction(place, arrival_ns, TransactionKind::Trim, Lpn(lpn), (0, page_bytes as u32), ChipId(0));
                    transaction.account(Part::HostQueue, now);
                    let index = self.transactions.insert(transaction);
                    self.enchain(now, Lpn(lpn), index, chain);
                }
            }
            lpn = self.ftl.skip_unmapped(lpn + 1, end);
        }
    }

    fn trim_page(&mut self, now: Ns, lpn: Lpn) {
        let place = self.ftl.lookup(lpn);
        let Some(pool) = self.ftl.trim(lpn) else { return };
        if self.sched.is_dynamic() {
            self.room_appeared(place);
        }
        self.counters.trimmed_pages += 1;
        if let Some(verifier) = &mut self.verifier {
            verifier.trimmed(lpn);
        }
        let next = self.gc.gain_appeared(&self.ftl, pool);
        self.note_state(now, pool);
        self.start_jobs(now, next);
    }

    /// One page of a request is done (or, with `None`, its admission): the request completes with its last.
    pub(super) fn page_done(&mut self, now: Ns, place: u32, parts: Option<(Lpn, Parts)>) {
        let active = &mut self.requests[place];
        active.pending -= 1;
        // Among pages that end at one instant the highest counts, so that the parts do not depend on the order of simultaneous events.
        if let Some((lpn, parts)) = parts
            && (now, lpn) >= active.last
        {
            active.last = (now, lpn);
            active.parts = parts;
        }
        if active.pending > 0 {
            return;
        }
        let Active { request, index, sequential, parts, ends, .. } = *active;
        self.requests.remove(place);
        self.note_request_end(now, place, &request, ends);
        if self.idle.is_some() && self.requests.is_empty() {
            self.idle_from(now);
        }
        self.completions.push(Completion::of(&request, index, sequential, now, parts));
    }
}
