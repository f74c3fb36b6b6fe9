//! A cache in front of a drive or an array: carries out the decisions of `cache`, with their timing. docs/model/caching.md.
//!
//! The *lower* level is the next storage level, the drive or array behind the cache.
//!
//! | file | what happens there |
//! |---|---|
//! | `accept` | a request arrives: its pages are looked up, misses are fetched, evicted dirty pages are destaged |
//! | `complete` | requests to the lower level end: pages, then host requests complete |
//! | `idle` | dirty pages are destaged while no host request is outstanding |
//! | `padding` | pages missing in a group are read, to be written with it |
//! | `places` | where blocks can fail: writes wait for the place that the drive keeps for them |
//! | `frames` | the frames of pages in destage, and the pages that wait for them |
//! | `shadow` | verify mode: versions of data |
//! | `planted` | planted defects |

mod accept;
mod complete;
mod frames;
mod idle;
mod padding;
mod places;
mod planted;
mod shadow;

use std::collections::VecDeque;

use super::Store;
use super::desk::Desk;
use super::observed::{LevelStats, Levels, Observed, above_one_level, add};
use super::places::{Gate, Line};
use super::store::{EachVolatile, Layer};
use crate::cache::{Cache, CustomEviction, Evicted, Extent, SECTOR_BYTES};
use crate::lists::NONE;
use crate::slab::Slab;
use frames::Frames;
use idle::Idle;
use padding::Pads;
use places::Kept;
use shadow::Shadow;
use ssdlab_base::error::Error;
use ssdlab_base::request::Request;
use ssdlab_base::units::{Ns, earliest};
use ssdlab_keys::config::Config;
use ssdlab_keys::memory::{self, Exhausted};
use ssdlab_result::stats::{CacheStats, Completion, Times};
use ssdlab_result::timeline::Origin;

pub use planted::PlantedInCache;

/// State of an outstanding host request at the cache; its parts are its pages.
#[derive(Clone, Copy, Debug)]
struct HostRequest {
    /// GC ran on the target of one of the request's pages when the request arrived.
    in_gc: bool,
    /// The request arrived in the warm-up: statistics leave it out.
    in_warm_up: bool,
    /// The flush that waits for this flush, or [`NONE`].
    next_flush: u32,
}

/// The purpose of a request to the lower level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// Fetches pages into the cache.
    Fetch,
    /// Passes a host request on that the cache does not serve.
    Pass,
    /// Destages evicted pages; holds the first of their transits, or [`NONE`] if all pages are padding.
    Destage(u32),
    /// Destages a dirty page that stays in the cache.
    Clean {
        /// The destage happens in idle time; otherwise it is for a flush.
        idle: bool,
    },
    /// Reads a page that is missing in a group; the page is written when the read has ended.
    PadRead,
}

impl Purpose {
    /// The request writes a page that was dirty, so that a flush must wait for the request.
    fn is_destage(self) -> bool {
        matches!(self, Purpose::Clean { .. }) || matches!(self, Purpose::Destage(transit) if transit != NONE)
    }
}

/// An outstanding request to the lower level.
#[derive(Clone, Copy, Debug)]
struct LowerRequest {
    purpose: Purpose,
    issued_ns: Ns,
    /// Pages of the request: first, and one past the last.
    pages: (u32, u32),
    /// The most recent [`Waiter`] for the end of the request, first of a list, or [`NONE`].
    waiters: u32,
    /// Index of the request in `Front::destages`, or [`NONE`].
    destage: u32,
    /// The first dirty page that the request destages, in `Front::sent`, or [`NONE`].
    sent: u32,
}

/// A dirty page on its way to the lower level.
#[derive(Clone, Copy, Debug)]
struct Sent {
    page: u32,
    /// The oldest host write whose data the page has.
    first_write: u64,
    /// The next page destaged by the same request, or [`NONE`].
    next: u32,
}

/// Means "no host write" in fields that hold the number of a host write.
const NO_WRITE: u64 = u64::MAX;

/// A page of a host request that waits for the end of a request to the lower level.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    request: u32,
    page: u32,
    since_ns: Ns,
    /// When the wait ends, the page accesses the cache; otherwise the page is done.
    accesses: bool,
    next: u32,
}

/// An access to the cache in service.
#[derive(Clone, Copy, Debug)]
struct Access {
    ends_ns: Ns,
    request: u32,
    page: u32,
    /// Latency parts of the page before the access, in `Front::waited_before`, or [`NONE`] if there are none.
    before: u32,
}

/// A page to destage, listed until all pages to destage for the same host request are known.
#[derive(Clone, Copy, Debug)]
struct Outgoing {
    page: u32,
    extent: Extent,
    transit: u32,
    /// The oldest host write whose data the page has, or [`NO_WRITE`].
    first_write: u64,
    /// Placement handle of the last host write to the page.
    handle: Option<u8>,
}

/// A cache in front of a store.
pub struct Front<B: Store> {
    lower: B,
    cache: Cache,
    access_ns: Ns,
    soon: u32,
    gc_aware: bool,
    frames: Frames,
    /// By entry: the request to the lower level that fetches its page, or [`NONE`].
    fetches: Vec<u32>,
    /// By entry: the oldest host write whose data are not destaged, or [`NO_WRITE`].
    first_writes: Vec<u64>,
    /// By cache entry, the placement handle of the last host write to it.
    handles: Vec<Option<u8>>,
    sent: Slab<u32, Sent>,
    requests: Desk<HostRequest>,
    lower_requests: Slab<u32, LowerRequest>,
    waiters: Slab<u32, Waiter>,
    accesses: VecDeque<Access>,
    waited_before: Slab<u32, Times>,
    pads: Pads,
    /// Outstanding destages of dirty pages for which no flush waits, in any order.
    destages: Vec<u32>,
    /// The youngest outstanding flush, or [`NONE`].
    last_flush: u32,
    /// The present instant.
    now: Ns,
    idle: Option<Idle>,
    /// `None`: no block can fail, or no page is ever dirty.
    kept: Option<Box<Kept>>,
    /// The origin of the request that is being accepted.
    origin: Origin,
    stats: CacheStats,
    /// Response times leave out requests that arrive now.
    warming_up: bool,
    /// Buffer reused from call to call.
    ended: Vec<Completion>,
    evicted: Vec<Evicted>,
    outgoing: Vec<Outgoing>,
    /// Pages of the host read that is being accepted: first, and one past the last.
    reading: (u32, u32),
    /// Number of pages in `outgoing` that lie in `reading`.
    outgoing_of_read: u32,
    padding: Vec<(u32, bool)>,
    /// Of the host write that is being accepted: transits whose frame a page waits for, and that page.
    claims: Vec<(u32, u32)>,
    shadow: Option<Shadow>,
    checks_every_event: bool,
    planted: Option<PlantedInCache>,
}

impl<B: Store> Front<B> {
    /// A cache as configured by `config`, in front of `lower`.
    pub fn new(config: &Config, lower: B) -> Self {
        let lower_pages = lower.exported_pages();
        let kept = Kept::new(config);
        let config = &config.cache;
        let cache = Cache::new(config, lower.page_bytes(), lower_pages, &lower);
        Front {
            frames: Frames::new(cache.capacity(), cache.entries()),
            fetches: vec![NONE; cache.entries() as usize],
            first_writes: vec![NO_WRITE; cache.entries() as usize],
            handles: vec![None; cache.entries() as usize],
            sent: Slab::default(),
            idle: Idle::new(config),
            kept: kept.map(Box::new),
            cache,
            lower,
            access_ns: config.access_ns,
            soon: config.soon,
            gc_aware: config.gc_aware,
            requests: Desk::default(),
            lower_requests: Slab::default(),
            waiters: Slab::default(),
            accesses: VecDeque::new(),
            waited_before: Slab::default(),
            pads: Pads::new(config, lower_pages),
            destages: Vec::new(),
            last_flush: NONE,
            now: 0,
            origin: Origin::host(0),
            stats: CacheStats::default(),
            warming_up: false,
            ended: Vec::new(),
            evicted: Vec::new(),
            outgoing: Vec::new(),
            reading: (0, 0),
            outgoing_of_read: 0,
            padding: Vec::new(),
            claims: Vec::new(),
            shadow: None,
            checks_every_event: false,
            planted: None,
        }
    }

    fn recount(&self) -> Result<(), String> {
        let (spare, cached, capacity) = (self.frames.spare(), self.cache.cached_pages(), self.cache.capacity());
        if spare + cached != capacity {
            return Err(format!("the cache has {capacity} frames, {cached} of them in use and {spare} spare"));
        }
        self.cache.check()?;
        self.recount_places()?;
        self.shadow.as_ref().map_or(Ok(()), |shadow| shadow.check(&self.cache))
    }

    fn check_if_verifying(&mut self) {
        if self.checks_every_event
            && let Err(sentence) = self.recount()
            && let Some(shadow) = &mut self.shadow
        {
            shadow.note(sentence);
        }
    }
}

impl<B: Store + 'static> Observed for Front<B> {
    fn describe(&self) -> Option<String> {
        Some(format!(
            "cache: {} requests, {} requests to the next level and {} accesses are outstanding",
            self.requests.len(),
            self.lower_requests.len(),
            self.accesses.len()
        ))
    }

    fn check(&self) -> Result<(), String> {
        self.recount()
    }

    fn verify(&mut self, every_event: bool) {
        let sectors = self.lower.page_bytes().div_ceil(SECTOR_BYTES);
        self.shadow = Some(Shadow::new(&self.cache, self.lower.exported_pages(), sectors));
        self.checks_every_event = every_event;
    }

    fn is_at_rest(&self) -> bool {
        self.requests.is_empty() && self.lower_requests.is_empty() && self.cache.dirty_pages() == 0
    }

    fn set_warming_up(&mut self, on: bool) {
        self.warming_up = on;
    }

    /// Calls back with each dirty page, pages in destage among them, and the oldest host write whose data the page has.
    fn volatile_units(&self, each: &mut EachVolatile<'_>) {
        for (entry, &write) in (0..).zip(&self.first_writes) {
            if write != NO_WRITE && self.cache.is_dirty(entry) {
                each(self.cache.page(entry), Some(write));
            }
        }
        self.sent.iter().for_each(|(_, sent)| each(sent.page, Some(sent.first_write)));
    }

    fn add_stats(&self, _now: Ns, to: &mut LevelStats) {
        let stats = CacheStats {
            counters: *self.cache.counters(),
            capacity: self.cache.capacity().into(),
            dirty_pages: self.cache.dirty_pages().into(),
            ..self.stats
        };
        add(&mut to.cache, Some(stats), CacheStats::joined);
    }

    fn dirty_pages(&self) -> Option<u64> {
        Some(self.cache.dirty_pages().into())
    }

    fn use_eviction_policy(&mut self, custom: &CustomEviction) {
        self.cache.use_eviction_policy(custom);
    }

    #[inline]
    fn own_policy_failure(&mut self) -> Option<Error> {
        self.cache.take_policy_failure()
    }
}

above_one_level!(Front<B>, lower, B);

impl<B: Store> Store for Front<B> {
    fn begin(&mut self) {
        self.lower.begin();
        self.settle(0);
    }

    fn make_room(&mut self, pages: usize) -> Result<(), Exhausted> {
        self.requests.make_room(pages)?;
        // A page may be fetched, and another destaged for it.
        self.lower_requests.make_room(2 * pages)?;
        self.sent.make_room(2 * pages)?;
        self.waiters.make_room(2 * pages)?;
        memory::make_room(&mut self.accesses, pages)?;
        if let Some(kept) = &mut self.kept {
            kept.line.make_room(pages)?;
        }
        self.waited_before.make_room(pages)?;
        self.lower.make_room(2 * pages)
    }

    fn accept(&mut self, now: Ns, index: u64, request: Request) {
        self.now = now;
        self.accept_request(now, index, request);
        self.settle(now);
    }

    fn accept_scattered(&mut self, _: Ns, _: u64, _: Request) {
        unreachable!("only caches write scattered sectors, and no cache is behind another");
    }

    #[inline]
    fn set_next_origin(&mut self, origin: Origin) {
        self.requests.next_request_is(origin);
    }

    fn next_event(&self) -> Option<Ns> {
        let access = self.accesses.front().map(|access| access.ends_ns);
        earliest(self.lower.next_event(), earliest(access, self.idle_timer()))
    }

    fn handle_events(&mut self, now: Ns) {
        self.now = now;
        self.lower.handle_events(now);
        self.settle(now);
        self.end_accesses(now);
        self.check_if_verifying();
    }

    fn dispatch(&mut self, now: Ns) {
        self.now = now;
        loop {
            self.lower.dispatch(now);
            if !self.settle(now) && !self.flush_if_idle(now) && !self.serve_places(now) {
                return self.check_if_verifying();
            }
        }
    }

    fn has_completed(&self) -> bool {
        self.requests.has_completed()
    }

    fn drain_completions(&mut self, into: &mut Vec<Completion>) {
        self.requests.drain_completions(into);
    }

    fn page_bytes(&self) -> u32 {
        self.lower.page_bytes()
    }

    fn exported_pages(&self) -> u32 {
        self.lower.exported_pages()
    }
}

impl<B: Store> Gate for Front<B> {
    type Keeper = B;

    fn line(&mut self) -> Option<&mut Line> {
        self.kept.as_mut().map(|kept| &mut kept.line)
    }

    fn keeper(&mut self) -> &mut B {
        &mut self.lower
    }

    fn come_in(&mut self, now: Ns, request: u32, from: u32) -> Option<u32> {
        self.take_in(now, request, from)
    }
}

impl<B: Store> Layer for Front<B> {
    type Lower = B;

    fn lower(&self) -> &B {
        &self.lower
    }

    fn lower_mut(&mut self) -> &mut B {
        &mut self.lower
    }

    fn holds_here(&self, page: u32) -> Option<bool> {
        (self.cache.entry_of(page) != NONE).then_some(true)
    }
}
