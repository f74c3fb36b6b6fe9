//! A cache in front of a drive or an array: carries out what `cache` decides, in time. docs/model.md, section Caching.
//!
//! | file | what happens there |
//! |---|---|
//! | `accept` | a request arrives: its pages are looked up, and what has to be read or written below goes down |
//! | `complete` | what went down has ended: pages, then requests complete |
//! | `idle` | dirty pages are written below while no request is under way |
//! | `padding` | pages missing in a group are read, to be written with it |
//! | `frames` | who waits for the frames of pages in destage |
//! | `shadow` | versions of data, for verify mode |
//! | `planted` | defects planted on purpose |

mod accept;
mod complete;
mod frames;
mod idle;
mod padding;
mod planted;
mod shadow;

use std::collections::VecDeque;

use super::Store;
use crate::cache::{Cache, CustomEviction, Extent, Groups, Homes, Leaves, SECTOR_BYTES};
use crate::config::Cache as Config;
use crate::error::{Error, Result};
use crate::lists::NONE;
use crate::memory::{self, Exhausted};
use crate::request::Request;
use crate::slab::Slab;
use crate::stats::{CacheStats, Completion, Times};
use crate::timeline::Origin;
use crate::units::Ns;
use frames::Frames;
use idle::Idle;
use padding::Pads;
use shadow::Shadow;

pub use planted::PlantedInCache;

/// A request of the host under way.
#[derive(Clone, Copy, Debug)]
struct Active {
    request: Request,
    index: u64,
    sequential: bool,
    /// Pages under way, and one for its being taken in.
    pending: u32,
    /// When its last page ended, and which (the highest at one instant), and the times of that.
    last: (Ns, u32),
    times: Times,
    /// A page of it had its home in GC when it arrived.
    in_gc: bool,
    /// It arrived in the warm-up, so that no statistic counts it.
    in_warm_up: bool,
    /// The flush that waits for this one, or [`NONE`].
    next_flush: u32,
}

/// What a request below is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// Pages for the cache.
    Fetch,
    /// Something of the host's that the cache has no part in.
    Pass,
    /// Evicted pages; the first of their transits, or [`NONE`] (padding alone).
    Destage(u32),
    /// A dirty page that stays. In idle time?
    Clean { idle: bool },
    /// A page that is missing in a group is read, and written when that has ended.
    PadRead,
}

impl Purpose {
    /// Writes a page that was dirty: what a flush waits for.
    fn is_destage(self) -> bool {
        matches!(self, Purpose::Clean { .. }) || matches!(self, Purpose::Destage(transit) if transit != NONE)
    }
}

/// A request below.
#[derive(Clone, Copy, Debug)]
struct Op {
    purpose: Purpose,
    issued_ns: Ns,
    /// Its pages: first, and one past the last.
    pages: (u32, u32),
    /// Who waits for its end, the youngest first.
    waiters: u32,
    /// Its place among the destages under way for which no flush waits, or [`NONE`].
    destage: u32,
}

/// A page of a host request that waits for the end of a request below.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    request: u32,
    page: u32,
    since_ns: Ns,
    /// It then passes through the cache.
    accesses: bool,
    next: u32,
}

/// An access to the cache under way.
#[derive(Clone, Copy, Debug)]
struct Access {
    ends_ns: Ns,
    request: u32,
    page: u32,
    times: Times,
}

/// A page on its way down that waits for the others of its request to be collected.
#[derive(Clone, Copy, Debug)]
struct Outgoing {
    page: u32,
    extent: Extent,
    transit: u32,
}

/// A cache in front of a store.
pub struct Front<B: Store> {
    below: B,
    cache: Cache,
    access_ns: Ns,
    soon: u32,
    gc_aware: bool,
    frames: Frames,
    /// By entry: the request below that brings its page, or [`NONE`].
    fetches: Vec<u32>,
    requests: Slab<u32, Active>,
    ops: Slab<u32, Op>,
    waiters: Slab<u32, Waiter>,
    accesses: VecDeque<Access>,
    pads: Pads,
    /// The destages under way for which no flush waits, in any order.
    destages: Vec<u32>,
    /// The youngest flush under way, or [`NONE`].
    last_flush: u32,
    /// The present.
    now: Ns,
    idle: Option<Idle>,
    /// Where the request before ended, by which sequential ones are known.
    last_end: Option<u64>,
    /// Whose the next request is, where somebody said so, and whose the one is that is being taken in.
    told: Option<Origin>,
    origin: Origin,
    stats: CacheStats,
    /// Requests that arrive now are left out of response times.
    warming_up: bool,
    completions: Vec<Completion>,
    /// Reused from call to call.
    ended: Vec<Completion>,
    leaving: Vec<Leaves>,
    outgoing: Vec<Outgoing>,
    /// The pages of the read that is being taken in, and how many of `outgoing` are among them.
    reading: (u32, u32),
    outgoing_of_read: u32,
    padding: Vec<(u32, bool)>,
    /// Pages of the request that wait for transits, and these.
    claims: Vec<(u32, u32)>,
    shadow: Option<Shadow>,
    checks_every_event: bool,
    planted: Option<PlantedInCache>,
}

impl<B: Store> Front<B> {
    /// A cache as configured in front of `below`.
    pub fn new(config: &Config, below: B) -> Self {
        let below_pages = below.exported_pages();
        let cache = Cache::new(config, below.page_bytes(), below_pages, &below);
        Front {
            frames: Frames::new(cache.capacity(), cache.entries()),
            fetches: vec![NONE; cache.entries() as usize],
            idle: Idle::new(config),
            cache,
            below,
            access_ns: config.access_ns,
            soon: config.soon,
            gc_aware: config.gc_aware,
            requests: Slab::default(),
            ops: Slab::default(),
            waiters: Slab::default(),
            accesses: VecDeque::new(),
            pads: Pads::new(config, below_pages),
            destages: Vec::new(),
            last_flush: NONE,
            now: 0,
            last_end: None,
            told: None,
            origin: Origin::host(0),
            stats: CacheStats::default(),
            warming_up: false,
            completions: Vec::new(),
            ended: Vec::new(),
            leaving: Vec::new(),
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

    /// Asks an eviction policy of the user's own. For before [`Store::begin`].
    pub fn ask(&mut self, custom: &CustomEviction) {
        self.cache.ask(custom);
    }

    /// Why that could not choose, once it could not.
    #[inline]
    pub fn take_eviction_failure(&mut self) -> Option<Error> {
        self.cache.take_policy_failure()
    }

    /// What the cache stands in front of.
    pub fn below(&self) -> &B {
        &self.below
    }

    /// The same, to change how it is watched.
    pub fn below_mut(&mut self) -> &mut B {
        &mut self.below
    }

    /// Whether requests that arrive from now on are left out of response times.
    pub fn set_warming_up(&mut self, warming_up: bool) {
        self.warming_up = warming_up;
    }

    /// What the cache did.
    pub fn stats(&self) -> CacheStats {
        CacheStats {
            counters: *self.cache.counters(),
            capacity: self.cache.capacity().into(),
            dirty_pages: self.cache.dirty_pages().into(),
            ..self.stats
        }
    }

    /// Follows the version of every sector as the run goes; with `every_event` checks all of them after each event.
    pub fn keep_versions(&mut self, every_event: bool) {
        let sectors = self.below.page_bytes().div_ceil(SECTOR_BYTES);
        self.shadow = Some(Shadow::new(&self.cache, self.below.exported_pages(), sectors));
        self.checks_every_event = every_event;
    }

    /// Compares all that is kept twice.
    ///
    /// # Errors
    /// The first contradiction found, as the run went or now.
    pub fn check_cache(&self) -> Result<()> {
        self.recount().map_err(|sentence| Error::Simulation(format!("verify mode found a defect: {sentence}")))
    }

    fn recount(&self) -> std::result::Result<(), String> {
        let (spare, kept, capacity) = (self.frames.spare(), self.cache.kept(), self.cache.capacity());
        if spare + kept != capacity {
            return Err(format!("the cache has {capacity} frames, {kept} of them kept and {spare} spare"));
        }
        self.cache.check()?;
        self.shadow.as_ref().map_or(Ok(()), |shadow| shadow.check(&self.cache))
    }

    fn check_if_asked(&mut self) {
        if self.checks_every_event
            && let Err(sentence) = self.recount()
            && let Some(shadow) = &mut self.shadow
        {
            shadow.note(sentence);
        }
    }

    /// What is under way, for the watchdog's report.
    pub fn describe_cache(&self) -> String {
        format!("in the cache {} requests, {} requests below, {} accesses", self.requests.len(), self.ops.len(), self.accesses.len())
    }
}

impl<B: Store> Store for Front<B> {
    fn begin(&mut self) {
        self.below.begin();
        self.settle(0);
    }

    fn make_room(&mut self, pages: usize) -> std::result::Result<(), Exhausted> {
        self.requests.make_room(pages)?;
        // A page may be fetched, and another destaged for it.
        self.ops.make_room(2 * pages)?;
        self.waiters.make_room(2 * pages)?;
        memory::make_room(&mut self.accesses, pages)?;
        self.below.make_room(2 * pages)
    }

    fn accept(&mut self, now: Ns, index: u64, request: Request) {
        self.now = now;
        self.origin = self.told.take().unwrap_or(Origin::host(index));
        self.take_in(now, index, request);
        self.settle(now);
    }

    fn accept_scattered(&mut self, _: Ns, _: u64, _: Request) {
        unreachable!("only caches write scattered sectors, and none stands on another");
    }

    #[inline]
    fn next_is(&mut self, origin: Origin) {
        self.told = Some(origin);
    }

    fn next_event(&self) -> Option<Ns> {
        let access = self.accesses.front().map(|access| access.ends_ns);
        [self.below.next_event(), access, self.idle_timer()].into_iter().flatten().min()
    }

    fn handle_events(&mut self, now: Ns) {
        self.now = now;
        self.below.handle_events(now);
        self.settle(now);
        while let Some(&access) = self.accesses.front().filter(|access| access.ends_ns <= now) {
            self.accesses.pop_front();
            self.page_done(now, access.request, Some((access.page, access.times)));
        }
        self.check_if_asked();
    }

    fn dispatch(&mut self, now: Ns) {
        self.now = now;
        loop {
            self.below.dispatch(now);
            if !self.settle(now) && !self.flush_if_idle(now) {
                return self.check_if_asked();
            }
        }
    }

    fn drain_completions(&mut self, into: &mut Vec<Completion>) {
        into.append(&mut self.completions);
    }

    fn page_bytes(&self) -> u32 {
        self.below.page_bytes()
    }

    fn exported_pages(&self) -> u32 {
        self.below.exported_pages()
    }
}

impl<B: Store> Homes for Front<B> {
    fn homes(&self) -> u32 {
        self.below.homes()
    }

    fn home_of(&self, page: u32) -> Option<u32> {
        self.below.home_of(page)
    }

    fn homes_are_fixed(&self) -> bool {
        self.below.homes_are_fixed()
    }

    fn in_gc(&self, home: u32, soon: u32) -> bool {
        self.below.in_gc(home, soon)
    }

    fn holds_data(&self, page: u32) -> bool {
        self.cache.entry_of(page) != NONE || self.below.holds_data(page)
    }

    fn groups(&self) -> Groups {
        self.below.groups()
    }
}
