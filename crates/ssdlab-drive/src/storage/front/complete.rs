//! Requests to the lower level end: pages, then host requests complete.

use super::{Access, Front, HostRequest, LowerRequest, PlantedInCache, Purpose, Store, Waiter};
use crate::lists::NONE;
use crate::storage::desk::Tracked;
use ssdlab_base::blocked::{Blocked, Served};
use ssdlab_base::request::RequestKind;
use ssdlab_base::status::Status;
use ssdlab_base::units::Ns;
use ssdlab_result::stats::Times;

impl<B: Store> Front<B> {
    /// Handles completions of the lower level until there are no more at this instant. Returns true if there were any.
    #[inline(always)]
    pub(super) fn settle(&mut self, now: Ns) -> bool {
        let any = self.lower.has_completed();
        if any {
            self.take_completions(now);
        }
        any
    }

    fn take_completions(&mut self, now: Ns) {
        while self.lower.has_completed() {
            let mut ended = std::mem::take(&mut self.ended);
            self.lower.drain_completions(&mut ended);
            for completion in &ended {
                self.lower_request_ended(now, completion.index as u32, &completion.times);
            }
            ended.clear();
            self.ended = ended;
        }
    }

    fn lower_request_ended(&mut self, now: Ns, index: u32, times: &Times) {
        let op = self.lower_requests[index];
        if let Some(shadow) = &mut self.shadow {
            shadow.arrived(index);
        }
        match op.purpose {
            Purpose::Fetch => self.fetch_ended(index, op.pages),
            Purpose::Pass if times.status == Status::Rejected => self.drop_pages(op.pages),
            Purpose::Pass => {}
            Purpose::Destage(transit) => {
                self.frames.arrived(transit);
                if self.has(PlantedInCache::CountsFramesTwice) {
                    self.frames.plant_free();
                }
            }
            Purpose::Clean { idle: true } => self.idle_destage_ended(),
            Purpose::Clean { idle: false } => {}
            Purpose::PadRead => self.write_padding(now, index, op.pages.0),
        }
        self.lower_requests.remove(index);
        let mut sent = op.sent;
        while sent != NONE {
            let next = self.sent[sent].next;
            self.sent.remove(sent);
            sent = next;
        }
        if op.destage != NONE {
            self.destages.swap_remove(op.destage as usize);
            if let Some(&moved) = self.destages.get(op.destage as usize) {
                self.lower_requests[moved].destage = op.destage;
            }
        }
        self.wake(now, &op, times);
    }

    fn fetch_ended(&mut self, index: u32, (first, end): (u32, u32)) {
        for page in first..end {
            let entry = self.cache.entry_of(page);
            if entry != NONE && self.fetches[entry as usize] == index {
                self.fetches[entry as usize] = NONE;
                self.cache.filled(entry);
            }
        }
    }

    /// Continues the pages that waited for a request to the lower level, first come first served.
    fn wake(&mut self, now: Ns, op: &LowerRequest, times: &Times) {
        let mut waiting = op.waiters;
        let mut reversed = NONE;
        while waiting != NONE {
            let next = std::mem::replace(&mut self.waiters[waiting].next, reversed);
            reversed = waiting;
            waiting = next;
        }
        // What becomes of data that leave the cache does not concern the page that takes their place.
        let status = if matches!(op.purpose, Purpose::Fetch | Purpose::Pass) { times.status } else { Status::Done };
        while reversed != NONE {
            let Waiter { request, page, since_ns, accesses, next } = self.waiters[reversed];
            self.waiters.remove(reversed);
            reversed = next;
            let mut times = if since_ns == op.issued_ns { *times } else { behind_others(now - since_ns) };
            times.status = status;
            if accesses {
                // The access is a part in the place of the wait.
                self.access(now, request, page, Some(&times));
            } else {
                self.page_done(now, request, Some((page, &times)));
            }
        }
    }

    /// A page accesses the cache at once.
    #[inline]
    pub(super) fn access_now(&mut self, now: Ns, request: u32, page: u32) {
        self.requests.part_begins(request);
        self.access(now, request, page, None);
    }

    /// A part of a request becomes the access of its page to the cache. `before`: the latency parts of the page until now, if it waited.
    #[inline]
    fn access(&mut self, now: Ns, request: u32, page: u32, before: Option<&Times>) {
        let before = before.map_or(NONE, |times| self.waited_before.insert_with(|| *times));
        self.accesses.push_back(Access { ends_ns: now + self.access_ns, request, page, before });
    }

    /// Ends the accesses to the cache that are due.
    pub(super) fn end_accesses(&mut self, now: Ns) {
        let mut at_once = Times::default();
        at_once.serve(Served::Dram, self.access_ns);
        while let Some(&Access { request, page, before, .. }) = self.accesses.front().filter(|access| access.ends_ns <= now) {
            self.accesses.pop_front();
            if before == NONE {
                self.page_done(now, request, Some((page, &at_once)));
            } else {
                let mut times = self.waited_before[before];
                self.waited_before.remove(before);
                times.serve(Served::Dram, self.access_ns);
                self.page_done(now, request, Some((page, &times)));
            }
        }
    }

    /// A page of a host request is done (`None`: the request has been accepted). The request completes with its last part.
    pub(super) fn page_done(&mut self, now: Ns, place: u32, page: Option<(u32, &Times)>) {
        if self.requests.part_ends_with(now, place, page) {
            self.last_page_done(now, place);
        }
    }

    fn last_page_done(&mut self, now: Ns, mut place: u32) {
        loop {
            let next = self.complete(now, place);
            // A flush waits for this flush. A loop, because any number of flushes may wait for one another.
            if next == NONE {
                return;
            }
            let times = behind_others(now - self.requests[next].request.arrival_ns);
            if !self.requests.part_ends_with(now, next, Some((0, &times))) {
                return;
            }
            place = next;
        }
    }

    /// Completes a host request. Returns the flush that waits for it, or [`NONE`].
    fn complete(&mut self, now: Ns, place: u32) -> u32 {
        let Tracked { request, times, own: HostRequest { in_gc, in_warm_up, next_flush }, .. } = self.requests[place];
        self.note_wait(now, place);
        self.requests.complete(now, place);
        if self.last_flush == place {
            self.last_flush = NONE;
        }
        if let Some(shadow) = &mut self.shadow {
            shadow.completed(place);
        }
        self.begin_idle_time(now);
        if matches!(request.kind, RequestKind::Read | RequestKind::Write) && !in_warm_up && times.status != Status::Rejected {
            self.stats.responses[usize::from(in_gc)].add(now - request.arrival_ns);
        }
        next_flush
    }
}

/// Latency parts of a page that waited `ns` for a lower-level request issued earlier, for another page.
fn behind_others(ns: Ns) -> Times {
    let mut times = Times::default();
    times.wait(Blocked::PageOrder, ns);
    times
}
