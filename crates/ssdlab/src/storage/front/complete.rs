//! Requests to the lower level end: pages, then host requests complete.

use super::{Access, Front, HostRequest, LowerRequest, PlantedInCache, Purpose, Store, Waiter};
use crate::blocked::{Blocked, Served};
use crate::lists::NONE;
use crate::request::RequestKind;
use crate::stats::Times;
use crate::storage::desk::Tracked;
use crate::units::Ns;

impl<B: Store> Front<B> {
    /// Handles completions of the lower level until there are no more at this instant. Returns true if there were any.
    pub(super) fn settle(&mut self, now: Ns) -> bool {
        let mut any = false;
        loop {
            let mut ended = std::mem::take(&mut self.ended);
            self.lower.drain_completions(&mut ended);
            let done = ended.is_empty();
            for completion in ended.drain(..) {
                self.lower_request_ended(now, completion.index as u32, &completion.times);
            }
            self.ended = ended;
            if done {
                return any;
            }
            any = true;
        }
    }

    fn lower_request_ended(&mut self, now: Ns, index: u32, times: &Times) {
        let op = self.lower_requests[index];
        if let Some(shadow) = &mut self.shadow {
            shadow.arrived(index);
        }
        match op.purpose {
            Purpose::Fetch => self.fetch_ended(index, op.pages),
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
        while reversed != NONE {
            let Waiter { request, page, since_ns, accesses, next } = self.waiters[reversed];
            self.waiters.remove(reversed);
            reversed = next;
            let times = if since_ns == op.issued_ns { *times } else { behind_others(now - since_ns) };
            if accesses {
                self.access(now, request, page, times);
                self.requests.part_ends(request);
            } else {
                self.page_done(now, request, Some((page, times)));
            }
        }
    }

    /// A page accesses the cache; `times` has the latency parts of the page until now.
    #[inline]
    pub(super) fn access(&mut self, now: Ns, request: u32, page: u32, mut times: Times) {
        self.requests.part_begins(request);
        times.serve(Served::Dram, self.access_ns);
        self.accesses.push_back(Access { ends_ns: now + self.access_ns, request, page, times });
    }

    /// A page of a host request is done (`None`: the request has been accepted). The request completes with its last part.
    pub(super) fn page_done(&mut self, now: Ns, mut place: u32, mut page: Option<(u32, Times)>) {
        loop {
            if !self.requests.part_ends_with(now, place, page) {
                return;
            }
            let next = self.complete(now, place);
            // A flush waits for this flush. A loop, because any number of flushes may wait for one another.
            if next == NONE {
                return;
            }
            place = next;
            page = Some((0, behind_others(now - self.requests[next].request.arrival_ns)));
        }
    }

    /// Completes a host request. Returns the flush that waits for it, or [`NONE`].
    fn complete(&mut self, now: Ns, place: u32) -> u32 {
        let Tracked { request, own: HostRequest { in_gc, in_warm_up, next_flush }, .. } = self.requests[place];
        self.requests.complete(now, place);
        if self.last_flush == place {
            self.last_flush = NONE;
        }
        if let Some(shadow) = &mut self.shadow {
            shadow.completed(place);
        }
        self.begin_idle_time(now);
        if matches!(request.kind, RequestKind::Read | RequestKind::Write) && !in_warm_up {
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
