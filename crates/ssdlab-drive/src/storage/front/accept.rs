//! A request arrives: its pages are looked up at this instant, misses are read and evicted dirty pages written at the lower level.

use super::{Front, HostRequest, LowerRequest, NO_WRITE, Outgoing, PlantedInCache, Purpose, Sent, Store, Waiter};
use crate::cache::{Answer, Evicted, Extent, Found, SECTOR_BYTES, Sectors};
use crate::lists::NONE;
use crate::storage::desk::Tracked;
use crate::storage::places::Gate;
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::units::Ns;
use ssdlab_result::timeline::{Cause, Origin};

/// A read at the lower level for a host request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Missing {
    /// Whole pages, which the cache stores, are read; otherwise bytes that the cache does not store.
    cached: bool,
    /// First byte and one past the last.
    bytes: (u64, u64),
}

impl<B: Store> Front<B> {
    pub(super) fn accept_request(&mut self, now: Ns, index: u64, request: Request) {
        let data = matches!(request.kind, RequestKind::Read | RequestKind::Write);
        self.end_idle_time();
        let own = HostRequest { in_gc: data && self.meets_gc(&request), in_warm_up: self.warming_up, next_flush: NONE };
        let place = self.requests.accept(index, request, own);
        self.arrives(now, place);
    }

    /// A request comes in: see [`Gate::come_in`].
    pub(super) fn take_in(&mut self, now: Ns, place: u32, from: u32) -> Option<u32> {
        let Tracked { request, origin, .. } = self.requests[place];
        self.origin = origin;
        match request.kind {
            RequestKind::Read => self.accept_read(now, place, &request),
            RequestKind::Write if self.cache.caches_writes() => {
                let without_place = self.accept_write(now, place, &request, from);
                if without_place.is_some() {
                    return without_place;
                }
            }
            RequestKind::Write => self.write_through(now, place, &request),
            RequestKind::Trim => self.accept_trim(now, place, &request),
            RequestKind::Flush => self.accept_flush(now, place),
            // A drive without zones rejects the command.
            _ => self.pass(now, place, &request, (0, 0)),
        }
        self.page_done(now, place, None);
        None
    }

    /// The pages that bytes touch: first, and one past the last.
    fn pages(&self, (from, to): (u64, u64)) -> (u32, u32) {
        let page = u64::from(self.lower.page_bytes());
        ((from / page) as u32, to.div_ceil(page) as u32)
    }

    fn range(request: &Request) -> (u64, u64) {
        (request.offset, request.offset + request.length)
    }

    fn sectors(&self, page: u32, (from, to): (u64, u64)) -> Sectors {
        let bytes = u64::from(self.lower.page_bytes());
        let start = u64::from(page) * bytes;
        Sectors::of_bytes((from.saturating_sub(start) as u32, (to - start).min(bytes) as u32))
    }

    fn meets_gc(&self, request: &Request) -> bool {
        let (first, end) = self.pages(Self::range(request));
        (first..end).any(|page| self.lower.target_of(page).is_some_and(|target| self.lower.in_gc(target, self.soon)))
    }

    fn accept_read(&mut self, now: Ns, place: u32, request: &Request) {
        let range = Self::range(request);
        let (first, end) = self.pages(range);
        (self.reading, self.outgoing_of_read) = ((first, end), 0);
        let mut run: Option<Missing> = None;
        for page in first..end {
            let missing = self.look_up_read(now, place, page, range);
            run = match (run, missing) {
                (Some(before), Some(next)) if before.cached == next.cached && before.bytes.1 == next.bytes.0 => {
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

    /// Looks up a page to read. Returns the part to read at the lower level.
    fn look_up_read(&mut self, now: Ns, place: u32, page: u32, range: (u64, u64)) -> Option<Missing> {
        let sectors = self.sectors(page, range);
        let Answer { found, entry } = self.cache.read(page, sectors, &self.lower);
        self.note_evicted();
        if found != Found::Hit && !self.has(PlantedInCache::ReadsOldData) {
            self.send_first(now, page);
        }
        if matches!(found, Found::PartialHit | Found::Inserted)
            && let Some(shadow) = &mut self.shadow
        {
            if found == Found::Inserted {
                shadow.inserted(entry);
            }
            shadow.fetched(page, entry);
        }
        if let Some(shadow) = &mut self.shadow {
            shadow.read(page, sectors, entry);
        }
        let bytes = u64::from(self.lower.page_bytes());
        let start = u64::from(page) * bytes;
        match found {
            Found::Hit if self.cache.holds(entry, sectors) => {
                self.access_now(now, place, page);
                None
            }
            Found::Hit => {
                self.stats.delayed_hits += 1;
                self.wait(now, self.fetches[entry as usize], place, page, true);
                None
            }
            Found::PartialHit => Some(Missing { cached: true, bytes: (start, start + bytes) }),
            Found::Inserted => {
                self.first_writes[entry as usize] = NO_WRITE;
                // The read does not wait until a frame is free: the page may arrive before.
                self.frames.take(entry);
                self.fetches[entry as usize] = NONE;
                self.cache.evict_ahead(entry, &self.lower);
                self.note_evicted();
                Some(Missing { cached: true, bytes: (start, start + bytes) })
            }
            Found::Uncached | Found::Bypass => Some(Missing { cached: false, bytes: (range.0.max(start), range.1.min(start + bytes)) }),
        }
    }

    /// Destages a page that this request has evicted and now reads: the write is sent before the read.
    fn send_first(&mut self, now: Ns, page: u32) {
        while self.outgoing_of_read > 0
            && let Some(place) = self.outgoing.iter().position(|out| out.page == page)
        {
            self.outgoing_of_read -= 1;
            let out = self.outgoing.remove(place);
            self.send_run(now, false, Purpose::Destage(NONE), &[out]);
        }
    }

    /// Reads the missing part of a request at the lower level.
    fn fetch(&mut self, now: Ns, place: u32, missing: Option<Missing>) {
        let Some(Missing { cached, bytes }) = missing else { return };
        let pages = self.pages(bytes);
        let op = self.new_lower_request(now, if cached { Purpose::Fetch } else { Purpose::Pass }, pages);
        for page in pages.0..pages.1 {
            self.wait(now, op, place, page, cached);
            let entry = self.cache.entry_of(page);
            // Another page of this request may have evicted it already.
            if cached && entry != NONE {
                self.fetches[entry as usize] = op;
            }
        }
        let request = Request { arrival_ns: now, offset: bytes.0, length: bytes.1 - bytes.0, ..self.requests[place].request };
        self.lower.set_next_origin(if cached { self.origin.fetched() } else { self.origin });
        self.lower.accept(now, op.into(), request);
    }

    /// Takes in the pages of a write from `from` on. Returns the first for which there is no place.
    fn accept_write(&mut self, now: Ns, place: u32, request: &Request, from: u32) -> Option<u32> {
        let range = Self::range(request);
        let (first, end) = self.pages(range);
        let mut without_place = None;
        for page in first.max(from)..end {
            if self.kept.is_some() && !self.is_placed(place, page, &mut without_place) {
                break;
            }
            let sectors = self.sectors(page, range);
            let Answer { found, entry } = self.cache.write(page, sectors, &self.lower);
            self.note_evicted();
            if let Some(shadow) = &mut self.shadow {
                if found == Found::Inserted {
                    shadow.inserted(entry);
                }
                shadow.written(page, sectors, entry, false);
            }
            self.handles[entry as usize] = request.handle;
            if found == Found::Hit {
                let first = &mut self.first_writes[entry as usize];
                *first = self.origin.request.min(*first);
                match self.frames.awaited(entry) {
                    None => self.access_now(now, place, page),
                    Some(op) => self.wait(now, op, place, page, true),
                }
                continue;
            }
            self.fetches[entry as usize] = NONE;
            self.first_writes[entry as usize] = self.origin.request;
            match self.frames.take(entry) {
                None => self.access_now(now, place, page),
                Some(transit) => self.claims.push((transit, page)),
            }
            self.cache.evict_ahead(entry, &self.lower);
            self.note_evicted();
        }
        self.send_down(now, request.high_priority);
        let mut claims = std::mem::take(&mut self.claims);
        for (transit, page) in claims.drain(..) {
            self.wait(now, self.frames.op(transit), place, page, true);
        }
        self.claims = claims;
        without_place
    }

    /// Write-through: the request is passed on unchanged.
    fn write_through(&mut self, now: Ns, place: u32, request: &Request) {
        let range = Self::range(request);
        let pages = self.pages(range);
        for page in pages.0..pages.1 {
            let sectors = self.sectors(page, range);
            let Answer { entry, .. } = self.cache.write(page, sectors, &self.lower);
            if let Some(shadow) = &mut self.shadow {
                shadow.written(page, sectors, entry, true);
            }
        }
        self.pass(now, place, request, pages);
    }

    fn accept_trim(&mut self, now: Ns, place: u32, request: &Request) {
        let page = u64::from(self.lower.page_bytes());
        let whole = (request.offset.div_ceil(page) as u32, ((request.offset + request.length) / page) as u32);
        if self.rejects_trim(place, whole.0) {
            return;
        }
        self.drop_pages(whole);
        if let Some(shadow) = &mut self.shadow {
            (whole.0..whole.1).for_each(|page| shadow.trimmed(page));
        }
        self.pass(now, place, request, whole);
    }

    /// Drops the pages `first..end`, dirty or not.
    pub(super) fn drop_pages(&mut self, (first, end): (u32, u32)) {
        let Front { frames, fetches, cache, kept, lower, .. } = self;
        cache.drop_range(first, end, |entry, page, was_dirty| {
            frames.give_back(entry);
            fetches[entry as usize] = NONE;
            if was_dirty && let Some(kept) = kept {
                kept.gives_back(page, lower);
            }
        });
    }

    /// Passes a host request on to the lower level unchanged. `pages`: the pages that the request changes.
    fn pass(&mut self, now: Ns, place: u32, request: &Request, pages: (u32, u32)) {
        self.stop_padding(pages);
        let op = self.new_lower_request(now, Purpose::Pass, pages);
        self.wait(now, op, place, pages.0, false);
        self.lower.set_next_origin(self.origin);
        self.lower.accept(now, op.into(), Request { arrival_ns: now, ..*request });
    }

    fn accept_flush(&mut self, now: Ns, place: u32) {
        while let Some(entry) = self.cache.next_dirty(&self.lower, true) {
            let outgoing = self.clean(entry);
            self.outgoing.push(outgoing);
        }
        self.send(now, false, Purpose::Clean { idle: false });
        if let Some(shadow) = &mut self.shadow {
            shadow.flush_begins(place, &self.cache);
        }
        if self.has(PlantedInCache::FlushesEarly) {
            return;
        }
        self.wait_for_destages(now, place);
        if self.lower.is_volatile() {
            // Destaged data are not safe at the lower level yet. The destages sent just now precede the flush there, too.
            let request = self.requests[place].request;
            self.pass(now, place, &request, (0, 0));
        }
    }

    /// A flush waits for the outstanding destages that no earlier flush waits for, and for the flush before it: N flushes
    /// cost no more than one.
    fn wait_for_destages(&mut self, now: Ns, place: u32) {
        let mut destages = std::mem::take(&mut self.destages);
        for op in destages.drain(..) {
            self.lower_requests[op].destage = NONE;
            self.wait(now, op, place, self.lower_requests[op].pages.1 - 1, false);
        }
        self.destages = destages;
        if self.last_flush != NONE {
            self.requests.part_begins(place);
            self.requests[self.last_flush].own.next_flush = place;
        }
        self.last_flush = place;
    }

    /// Marks a dirty entry clean; the page stays in the cache. Returns the page to destage.
    pub(super) fn clean(&mut self, entry: u32) -> Outgoing {
        let page = self.cache.page(entry);
        let extent = self.cache.clean(entry);
        if let Some(shadow) = &mut self.shadow {
            shadow.destaged(page, entry, extent);
        }
        Outgoing { page, extent, transit: NONE, first_write: self.take_first_write(entry), handle: self.handles[entry as usize] }
    }

    /// Returns and clears the oldest host write of an entry that is being destaged.
    fn take_first_write(&mut self, entry: u32) -> u64 {
        std::mem::replace(&mut self.first_writes[entry as usize], NO_WRITE)
    }

    /// Releases the frames of evicted pages and lists the pages to destage or pad.
    #[inline(always)]
    fn note_evicted(&mut self) {
        if self.cache.has_evicted() {
            self.release_evicted();
        }
    }

    fn release_evicted(&mut self) {
        let mut evicted = std::mem::take(&mut self.evicted);
        self.cache.take_evicted(&mut evicted);
        for leaving in evicted.drain(..) {
            match leaving {
                Evicted::Page { entry, page, dirty } => {
                    self.fetches[entry as usize] = NONE;
                    match dirty {
                        None => self.frames.give_back(entry),
                        Some(_) if self.has(PlantedInCache::ForgetsDestages) => self.frames.give_back(entry),
                        Some(extent) => {
                            let transit = self.frames.send(entry);
                            let (first_write, handle) = (self.take_first_write(entry), self.handles[entry as usize]);
                            self.outgoing.push(Outgoing { page, extent, transit, first_write, handle });
                            self.outgoing_of_read += u32::from((self.reading.0..self.reading.1).contains(&page));
                            if let Some(shadow) = &mut self.shadow {
                                shadow.destaged(page, entry, extent);
                            }
                        }
                    }
                }
                Evicted::Padding { page, at_hand } => self.padding.push((page, at_hand)),
            }
        }
        self.evicted = evicted;
    }

    /// Destages the pages that a host request has evicted, with their padding.
    fn send_down(&mut self, now: Ns, high_priority: bool) {
        let mut padding = std::mem::take(&mut self.padding);
        for (page, at_hand) in padding.drain(..) {
            if !self.lower.holds_data(page) {
                continue;
            }
            if at_hand {
                if !self.padding_has_place(page) {
                    continue;
                }
                self.stats.padded_pages += 1;
                self.outgoing.push(Outgoing { page, extent: Extent::Whole, transit: NONE, first_write: NO_WRITE, handle: None });
            } else {
                self.read_padding(now, page);
            }
        }
        self.padding = padding;
        if !self.outgoing.is_empty() {
            self.send(now, high_priority, Purpose::Destage(NONE));
        }
    }

    /// Destages the pages in `outgoing`, in the order of their numbers; consecutive whole pages of one placement handle with one request.
    pub(super) fn send(&mut self, now: Ns, high_priority: bool, purpose: Purpose) {
        let mut outgoing = std::mem::take(&mut self.outgoing);
        // A page may be evicted twice; the sort keeps the older data first.
        outgoing.sort_by_key(|out| out.page);
        let follows = |a: &Outgoing, b: &Outgoing| {
            let whole = a.extent == Extent::Whole && b.extent == Extent::Whole;
            a.page + 1 == b.page && whole && a.handle == b.handle
        };
        for run in outgoing.chunk_by(follows) {
            self.send_run(now, high_priority, purpose, run);
        }
        outgoing.clear();
        self.outgoing = outgoing;
    }

    fn send_run(&mut self, now: Ns, high_priority: bool, purpose: Purpose, run: &[Outgoing]) {
        let pages = (run[0].page, run[0].page + run.len() as u32);
        self.stop_padding(pages);
        self.hand_down(run.len() as u32);
        let first_transit = run.iter().map(|out| out.transit).find(|&transit| transit != NONE).unwrap_or(NONE);
        let purpose = if let Purpose::Destage(_) = purpose { Purpose::Destage(first_transit) } else { purpose };
        let op = self.new_lower_request(now, purpose, pages);
        if let Some(shadow) = &mut self.shadow {
            run.iter().for_each(|out| shadow.sent(out.page, op));
        }
        for out in run.iter().filter(|out| out.first_write != NO_WRITE) {
            let Outgoing { page, first_write, .. } = *out;
            self.lower_requests[op].sent = self.sent.insert(Sent { page, first_write, next: self.lower_requests[op].sent });
        }
        let mut next = NONE;
        for out in run.iter().rev().filter(|out| out.transit != NONE) {
            self.frames.written_by(out.transit, op, next);
            next = out.transit;
        }
        let bytes = u64::from(self.lower.page_bytes());
        let whole = Request {
            arrival_ns: now,
            kind: RequestKind::Write,
            offset: u64::from(pages.0) * bytes,
            length: run.len() as u64 * bytes,
            high_priority,
            flow: 0,
            handle: run[0].handle,
        };
        self.lower.set_next_origin(Origin::nobody(Cause::Destage));
        match run[0].extent {
            Extent::Whole => self.lower.accept(now, op.into(), whole),
            Extent::Scattered => self.lower.accept_scattered(now, op.into(), whole),
            Extent::Part(sectors) => {
                let from = u64::from(sectors.first * SECTOR_BYTES);
                let to = u64::from(sectors.end * SECTOR_BYTES).min(bytes);
                self.lower.accept(now, op.into(), Request { offset: whole.offset + from, length: to - from, ..whole });
            }
        }
    }

    pub(super) fn new_lower_request(&mut self, now: Ns, purpose: Purpose, pages: (u32, u32)) -> u32 {
        let destage = if purpose.is_destage() { self.destages.len() as u32 } else { NONE };
        let op = self.lower_requests.insert(LowerRequest { purpose, issued_ns: now, pages, waiters: NONE, destage, sent: NONE });
        if destage != NONE {
            self.destages.push(op);
        }
        op
    }

    /// Makes a page of a request wait for the end of a request to the lower level. `accesses`: then the page accesses the cache; otherwise
    /// it is done.
    fn wait(&mut self, now: Ns, op: u32, request: u32, page: u32, accesses: bool) {
        self.requests.part_begins(request);
        let next = self.lower_requests[op].waiters;
        self.lower_requests[op].waiters = self.waiters.insert(Waiter { request, page, since_ns: now, accesses, next });
    }
}
