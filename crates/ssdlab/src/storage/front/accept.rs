//! A request arrives: its pages are looked up, all at this instant, and what has to be read or written below goes down.

use super::{Active, Front, Op, Outgoing, PlantedInCache, Purpose, Store, Waiter};
use crate::cache::{Answer, Extent, Found, Leaves, SECTOR_BYTES, Sectors};
use crate::lists::NONE;
use crate::request::{Request, RequestKind};
use crate::stats::Times;
use crate::timeline::{Cause, Origin};
use crate::units::Ns;

/// What has to be read below for a request: pages for the cache, or bytes past it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Missing {
    kept: bool,
    /// First byte and one past the last.
    bytes: (u64, u64),
}

impl<B: Store> Front<B> {
    pub(super) fn take_in(&mut self, now: Ns, index: u64, request: Request) {
        let data = matches!(request.kind, RequestKind::Read | RequestKind::Write);
        let sequential = data && self.last_end == Some(request.offset);
        if data {
            self.last_end = Some(request.offset + request.length);
        }
        self.end_idle_time();
        let active = Active {
            request,
            index,
            sequential,
            pending: 1,
            last: (0, 0),
            times: Times::default(),
            next_flush: NONE,
            in_gc: data && self.meets_gc(&request),
            in_warm_up: self.warming_up,
        };
        let place = self.requests.insert(active);
        match request.kind {
            RequestKind::Read => self.take_read(now, place, &request),
            RequestKind::Write if self.cache.keeps_writes() => self.take_write(now, place, &request),
            RequestKind::Write => self.write_through(now, place, &request),
            RequestKind::Trim => self.take_trim(now, place, &request),
            RequestKind::Flush => self.take_flush(now, place),
        }
        self.page_done(now, place, None);
    }

    /// The pages that bytes touch: first, and one past the last.
    fn pages(&self, (from, to): (u64, u64)) -> (u32, u32) {
        let page = u64::from(self.below.page_bytes());
        ((from / page) as u32, to.div_ceil(page) as u32)
    }

    fn range(request: &Request) -> (u64, u64) {
        (request.offset, request.offset + request.length)
    }

    fn sectors(&self, page: u32, (from, to): (u64, u64)) -> Sectors {
        let bytes = u64::from(self.below.page_bytes());
        let start = u64::from(page) * bytes;
        Sectors::of_bytes((from.saturating_sub(start) as u32, (to - start).min(bytes) as u32))
    }

    fn meets_gc(&self, request: &Request) -> bool {
        let (first, end) = self.pages(Self::range(request));
        (first..end).any(|page| self.below.home_of(page).is_some_and(|home| self.below.in_gc(home, self.soon)))
    }

    fn take_read(&mut self, now: Ns, place: u32, request: &Request) {
        let range = Self::range(request);
        let (first, end) = self.pages(range);
        (self.reading, self.outgoing_of_read) = ((first, end), 0);
        let mut run: Option<Missing> = None;
        for page in first..end {
            let missing = self.look_up_read(now, place, page, range);
            run = match (run, missing) {
                (Some(before), Some(next)) if before.kept == next.kept && before.bytes.1 == next.bytes.0 => {
                    Some(Missing { bytes: (before.bytes.0, next.bytes.1), ..before })
                }
                (before, next) => {
                    self.fetch(now, place, before);
                    next
                }
            };
        }
        self.fetch(now, place, run);
        self.send_down(now, request.high_priority);
    }

    /// Looks up a page to be read. Returns what of it has to be read below.
    fn look_up_read(&mut self, now: Ns, place: u32, page: u32, range: (u64, u64)) -> Option<Missing> {
        let sectors = self.sectors(page, range);
        let Answer { found, entry } = self.cache.read(page, sectors, &self.below);
        self.note_leaving();
        if found != Found::Hit && !self.has(PlantedInCache::ReadsOldData) {
            self.send_first(now, page);
        }
        if matches!(found, Found::Part | Found::Kept)
            && let Some(shadow) = &mut self.shadow
        {
            if found == Found::Kept {
                shadow.kept(entry);
            }
            shadow.fetched(page, entry);
        }
        if let Some(shadow) = &mut self.shadow {
            shadow.read(page, sectors, entry);
        }
        let bytes = u64::from(self.below.page_bytes());
        let start = u64::from(page) * bytes;
        match found {
            Found::Hit if self.cache.holds(entry, sectors) => {
                self.access(now, place, page, Times::default());
                None
            }
            Found::Hit => {
                self.stats.delayed_hits += 1;
                self.wait(now, self.fetches[entry as usize], place, page, true);
                None
            }
            Found::Part => Some(Missing { kept: true, bytes: (start, start + bytes) }),
            Found::Kept => {
                // Its page may come before its frame is free: the read does not wait for that.
                self.frames.take(entry);
                self.fetches[entry as usize] = NONE;
                self.cache.evict_ahead(entry, &self.below);
                self.note_leaving();
                Some(Missing { kept: true, bytes: (start, start + bytes) })
            }
            Found::Past | Found::Bypass => Some(Missing { kept: false, bytes: (range.0.max(start), range.1.min(start + bytes)) }),
        }
    }

    /// A page that this request has evicted, and now reads: it goes down ahead of the read.
    fn send_first(&mut self, now: Ns, page: u32) {
        while self.outgoing_of_read > 0
            && let Some(place) = self.outgoing.iter().position(|out| out.page == page)
        {
            self.outgoing_of_read -= 1;
            let out = self.outgoing.remove(place);
            self.send_run(now, false, Purpose::Destage(NONE), &[out]);
        }
    }

    /// Reads below what a request misses.
    fn fetch(&mut self, now: Ns, place: u32, missing: Option<Missing>) {
        let Some(Missing { kept, bytes }) = missing else { return };
        let pages = self.pages(bytes);
        let op = self.new_op(now, if kept { Purpose::Fetch } else { Purpose::Pass }, pages);
        for page in pages.0..pages.1 {
            self.wait(now, op, place, page, kept);
            let entry = self.cache.entry_of(page);
            // Another page of this request may have taken its place already.
            if kept && entry != NONE {
                self.fetches[entry as usize] = op;
            }
        }
        let request = Request { arrival_ns: now, offset: bytes.0, length: bytes.1 - bytes.0, ..self.requests[place].request };
        self.below.next_is(if kept { self.origin.fetched() } else { self.origin });
        self.below.accept(now, op.into(), request);
    }

    fn take_write(&mut self, now: Ns, place: u32, request: &Request) {
        let range = Self::range(request);
        let (first, end) = self.pages(range);
        for page in first..end {
            let sectors = self.sectors(page, range);
            let Answer { found, entry } = self.cache.write(page, sectors, &self.below);
            self.note_leaving();
            if let Some(shadow) = &mut self.shadow {
                if found == Found::Kept {
                    shadow.kept(entry);
                }
                shadow.written(page, sectors, entry, false);
            }
            if found == Found::Hit {
                match self.frames.awaited(entry) {
                    None => self.access(now, place, page, Times::default()),
                    Some(op) => self.wait(now, op, place, page, true),
                }
                continue;
            }
            self.fetches[entry as usize] = NONE;
            match self.frames.take(entry) {
                None => self.access(now, place, page, Times::default()),
                Some(transit) => self.claims.push((transit, page)),
            }
            self.cache.evict_ahead(entry, &self.below);
            self.note_leaving();
        }
        self.send_down(now, request.high_priority);
        let mut claims = std::mem::take(&mut self.claims);
        for (transit, page) in claims.drain(..) {
            self.wait(now, self.frames.op(transit), place, page, true);
        }
        self.claims = claims;
    }

    /// Write-through: the request goes below as it is.
    fn write_through(&mut self, now: Ns, place: u32, request: &Request) {
        let range = Self::range(request);
        let pages = self.pages(range);
        for page in pages.0..pages.1 {
            let sectors = self.sectors(page, range);
            let Answer { entry, .. } = self.cache.write(page, sectors, &self.below);
            if let Some(shadow) = &mut self.shadow {
                shadow.written(page, sectors, entry, true);
            }
        }
        self.pass(now, place, request, pages);
    }

    fn take_trim(&mut self, now: Ns, place: u32, request: &Request) {
        let page = u64::from(self.below.page_bytes());
        let whole = (request.offset.div_ceil(page) as u32, ((request.offset + request.length) / page) as u32);
        let (frames, fetches) = (&mut self.frames, &mut self.fetches);
        self.cache.drop_range(whole.0, whole.1, |entry, _| {
            frames.give_back(entry);
            fetches[entry as usize] = NONE;
        });
        if let Some(shadow) = &mut self.shadow {
            (whole.0..whole.1).for_each(|page| shadow.trimmed(page));
        }
        self.pass(now, place, request, whole);
    }

    /// A request goes below as it is. `pages`: those that it changes.
    fn pass(&mut self, now: Ns, place: u32, request: &Request, pages: (u32, u32)) {
        self.stop_padding(pages);
        let op = self.new_op(now, Purpose::Pass, pages);
        self.wait(now, op, place, pages.0, false);
        self.below.next_is(self.origin);
        self.below.accept(now, op.into(), Request { arrival_ns: now, ..*request });
    }

    fn take_flush(&mut self, now: Ns, place: u32) {
        while let Some(entry) = self.cache.next_dirty(&self.below, true) {
            let page = self.cache.page(entry);
            let extent = self.clean(entry);
            self.outgoing.push(Outgoing { page, extent, transit: NONE });
        }
        self.send(now, false, Purpose::Clean { idle: false });
        if let Some(shadow) = &mut self.shadow {
            shadow.flush_begins(place, &self.cache);
        }
        if !self.has(PlantedInCache::FlushesEarly) {
            self.wait_for_destages(now, place);
        }
    }

    /// A flush waits for the destages under way: for those after the flush before it, and for that flush, so that many flushes cost no more than one.
    fn wait_for_destages(&mut self, now: Ns, place: u32) {
        let mut destages = std::mem::take(&mut self.destages);
        for op in destages.drain(..) {
            self.ops[op].destage = NONE;
            self.wait(now, op, place, self.ops[op].pages.1 - 1, false);
        }
        self.destages = destages;
        if self.last_flush != NONE {
            self.requests[place].pending += 1;
            self.requests[self.last_flush].next_flush = place;
        }
        self.last_flush = place;
    }

    /// A dirty entry is about to be written below, and stays. Returns what is.
    pub(super) fn clean(&mut self, entry: u32) -> Extent {
        let page = self.cache.page(entry);
        let extent = self.cache.clean(entry);
        if let Some(shadow) = &mut self.shadow {
            shadow.destaged(page, entry, extent);
        }
        extent
    }

    /// Frames of pages that have left the cache change hands; what has to be written below is collected.
    #[inline]
    fn note_leaving(&mut self) {
        let mut leaving = std::mem::take(&mut self.leaving);
        self.cache.take_leaving(&mut leaving);
        for leaves in leaving.drain(..) {
            match leaves {
                Leaves::Page { entry, page, dirty } => {
                    self.fetches[entry as usize] = NONE;
                    match dirty {
                        None => self.frames.give_back(entry),
                        Some(_) if self.has(PlantedInCache::ForgetsDestages) => self.frames.give_back(entry),
                        Some(extent) => {
                            let transit = self.frames.send(entry);
                            self.outgoing.push(Outgoing { page, extent, transit });
                            self.outgoing_of_read += u32::from((self.reading.0..self.reading.1).contains(&page));
                            if let Some(shadow) = &mut self.shadow {
                                shadow.destaged(page, entry, extent);
                            }
                        }
                    }
                }
                Leaves::Padding { page, at_hand } => self.padding.push((page, at_hand)),
            }
        }
        self.leaving = leaving;
    }

    /// What a request has evicted goes down, padding with it.
    fn send_down(&mut self, now: Ns, high_priority: bool) {
        let mut padding = std::mem::take(&mut self.padding);
        for (page, at_hand) in padding.drain(..) {
            if !self.below.holds_data(page) {
                continue;
            }
            if at_hand {
                self.stats.padded_pages += 1;
                self.outgoing.push(Outgoing { page, extent: Extent::Whole, transit: NONE });
            } else {
                self.read_padding(now, page);
            }
        }
        self.padding = padding;
        if !self.outgoing.is_empty() {
            self.send(now, high_priority, Purpose::Destage(NONE));
        }
    }

    /// Writes below what is collected, by page; pages that follow each other and are whole with one request.
    pub(super) fn send(&mut self, now: Ns, high_priority: bool, purpose: Purpose) {
        let mut outgoing = std::mem::take(&mut self.outgoing);
        // A page may leave twice, the older data first.
        outgoing.sort_by_key(|out| out.page);
        let follows = |a: &Outgoing, b: &Outgoing| a.page + 1 == b.page && a.extent == Extent::Whole && b.extent == Extent::Whole;
        for run in outgoing.chunk_by(follows) {
            self.send_run(now, high_priority, purpose, run);
        }
        outgoing.clear();
        self.outgoing = outgoing;
    }

    fn send_run(&mut self, now: Ns, high_priority: bool, purpose: Purpose, run: &[Outgoing]) {
        let pages = (run[0].page, run[0].page + run.len() as u32);
        self.stop_padding(pages);
        let first_transit = run.iter().map(|out| out.transit).find(|&transit| transit != NONE).unwrap_or(NONE);
        let purpose = if let Purpose::Destage(_) = purpose { Purpose::Destage(first_transit) } else { purpose };
        let op = self.new_op(now, purpose, pages);
        if let Some(shadow) = &mut self.shadow {
            run.iter().for_each(|out| shadow.sent(out.page, op));
        }
        let mut next = NONE;
        for out in run.iter().rev().filter(|out| out.transit != NONE) {
            self.frames.written_by(out.transit, op, next);
            next = out.transit;
        }
        let bytes = u64::from(self.below.page_bytes());
        let whole = Request {
            arrival_ns: now,
            kind: RequestKind::Write,
            offset: u64::from(pages.0) * bytes,
            length: run.len() as u64 * bytes,
            high_priority,
        };
        self.below.next_is(Origin::nobody(Cause::Destage));
        match run[0].extent {
            Extent::Whole => self.below.accept(now, op.into(), whole),
            Extent::Scattered => self.below.accept_scattered(now, op.into(), whole),
            Extent::Part(sectors) => {
                let from = u64::from(sectors.first * SECTOR_BYTES);
                let to = u64::from(sectors.end * SECTOR_BYTES).min(bytes);
                self.below.accept(now, op.into(), Request { offset: whole.offset + from, length: to - from, ..whole });
            }
        }
    }

    pub(super) fn new_op(&mut self, now: Ns, purpose: Purpose, pages: (u32, u32)) -> u32 {
        let destage = if purpose.is_destage() { self.destages.len() as u32 } else { NONE };
        let op = self.ops.insert(Op { purpose, issued_ns: now, pages, waiters: NONE, destage });
        if destage != NONE {
            self.destages.push(op);
        }
        op
    }

    /// A page of a request waits for the end of a request below.
    fn wait(&mut self, now: Ns, op: u32, request: u32, page: u32, accesses: bool) {
        self.requests[request].pending += 1;
        let next = self.ops[op].waiters;
        self.ops[op].waiters = self.waiters.insert(Waiter { request, page, since_ns: now, accesses, next });
    }
}
