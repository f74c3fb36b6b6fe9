//! A cache by itself: what hits and what is evicted, request by request, with the states of the homes given. No drive and no time: what is fetched
//! is there at once, what is destaged is below at once, and every page holds data.

use super::{Answer, Cache, CustomEviction, Found, Groups, Homes, Leaves, Sectors};
use crate::caller::Caller;
use crate::config::{CachePlace, CachePolicy, Config};
use crate::error::{Error, Result};
use crate::geometry::Geometry;
use crate::request::{Request, RequestKind};
use crate::stats::CacheCounters;
use crate::units::Lpn;

/// What happened to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A page read was there.
    ReadHit,
    /// It was not, or not all of it; it is kept.
    ReadMiss,
    /// It was not there, and is not kept.
    ReadPast,
    /// It was not there, and is not kept since all homes are in GC.
    ReadBypass,
    /// Something of a page written was there.
    WriteHit,
    /// Nothing was there; it is kept.
    WriteMiss,
    /// It was written below at once.
    WriteThrough,
    /// A clean page was evicted.
    EvictClean,
    /// A dirty page was evicted and written below.
    EvictDirty,
    /// A page of an evicted group was written with it.
    Pad,
    /// A page was dropped by a trim.
    Drop,
    /// A page was written below and stays.
    Clean,
}

impl What {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            What::ReadHit => "read_hit",
            What::ReadMiss => "read_miss",
            What::ReadPast => "read_past",
            What::ReadBypass => "read_bypass",
            What::WriteHit => "write_hit",
            What::WriteMiss => "write_miss",
            What::WriteThrough => "write_through",
            What::EvictClean => "evict_clean",
            What::EvictDirty => "evict_dirty",
            What::Pad => "pad",
            What::Drop => "drop",
            What::Clean => "clean",
        }
    }
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Happened {
    /// The request at which, from 0.
    pub request: u64,
    /// What.
    pub what: What,
    /// To which page.
    pub page: u32,
}

/// A home goes into GC or comes out of it.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// From this request on, before it is looked at.
    pub request: u64,
    /// The home.
    pub home: u32,
    /// It is in GC.
    pub in_gc: bool,
}

/// What a replay gives.
#[derive(Clone, Debug, Default)]
pub struct Replayed {
    /// All that happened, in order.
    pub happened: Vec<Happened>,
    /// The cache's counters.
    pub counters: CacheCounters,
    /// Pages of padded groups written though they were not dirty.
    pub padded_pages: u64,
    /// Dirty pages at the end.
    pub dirty_pages: u32,
}

/// The homes of a configured drive or array, in states that are given.
struct Given {
    groups: Groups,
    /// By place of a group: its home.
    home_of_place: Vec<u32>,
    fixed: bool,
    in_gc: Vec<bool>,
}

impl Given {
    fn new(config: &Config) -> Self {
        let geometry = Geometry::new(config);
        let pages = geometry.pages_per_block.get();
        if config.cache.place == CachePlace::Array {
            let (run, places) = ((config.array.stripe_bytes() / u64::from(geometry.page_bytes)) as u32, config.array.drives());
            let groups = Groups { pages, run, places };
            return Given { groups, home_of_place: (0..places).collect(), fixed: true, in_gc: vec![false; places as usize] };
        }
        let groups = Groups { pages, run: 1, places: geometry.pools.count.get() };
        let chip = |stripe| geometry.chip_of_die(geometry.die_of_pool(geometry.home(Lpn(stripe)).0)).0;
        Given {
            groups,
            home_of_place: (0..groups.places).map(chip).collect(),
            fixed: config.ftl.allocation != crate::config::Allocation::Dynamic,
            in_gc: vec![false; geometry.chips as usize],
        }
    }
}

impl Homes for Given {
    fn homes(&self) -> u32 {
        self.in_gc.len() as u32
    }

    fn home_of(&self, page: u32) -> Option<u32> {
        Some(self.home_of_place[(page / self.groups.run % self.groups.places) as usize])
    }

    fn homes_are_fixed(&self) -> bool {
        self.fixed
    }

    fn in_gc(&self, home: u32, _soon: u32) -> bool {
        self.in_gc[home as usize]
    }

    fn holds_data(&self, _page: u32) -> bool {
        true
    }

    fn groups(&self) -> Groups {
        self.groups
    }
}

struct Replay {
    cache: Cache,
    homes: Given,
    page_bytes: u64,
    request: u64,
    replayed: Replayed,
    leaving: Vec<Leaves>,
}

/// Plays requests to the cache that is configured, or to one with a policy of the user's own. Arrival times do not matter; `changes` are in
/// order.
///
/// # Errors
/// [`Error::Policy`]; [`Error::Interrupted`]; [`Error::Usage`] if there is no cache, for a request beyond the exported range, or a home that does not exist.
pub fn replay(
    config: &Config,
    requests: &[Request],
    changes: &[Change],
    eviction: Option<&CustomEviction>,
    caller: &Caller,
) -> Result<Replayed> {
    if !config.cache.is_on() {
        return Err(Error::Usage("there is no cache to replay; set cache.policy".into()));
    }
    if eviction.is_some() && config.cache.policy != CachePolicy::Lru {
        return Err(Error::Usage("an eviction policy of your own takes the place of cache.policy = \"lru\"; set it to that".into()));
    }
    let homes = Given::new(config);
    let exported = if config.cache.place == CachePlace::Array { config.exported_bytes()? } else { Geometry::new(config).exported_bytes() };
    if let Some(change) = changes.iter().find(|change| change.home >= homes.homes()) {
        let last = homes.homes() - 1;
        return Err(Error::Usage(format!("in_gc: home {} does not exist; there are 0 to {last}", change.home)));
    }
    if let Some(pair) = changes.windows(2).find(|pair| pair[0].request > pair[1].request) {
        let (before, after) = (pair[0].request, pair[1].request);
        return Err(Error::Usage(format!("in_gc: a change at request {after} follows one at {before}; give them in order")));
    }
    let page_bytes = config.device.page_bytes;
    let pages = (exported / u64::from(page_bytes)) as u32;
    let mut cache = Cache::new(&config.cache, page_bytes, pages, &homes);
    if let Some(eviction) = eviction {
        cache.ask(eviction);
    }
    let mut replay = Replay { cache, homes, page_bytes: page_bytes.into(), request: 0, replayed: Replayed::default(), leaving: Vec::new() };
    let mut changes = changes.iter().peekable();
    for (index, request) in requests.iter().enumerate() {
        replay.request = index as u64;
        caller.check()?;
        while let Some(change) = changes.next_if(|change| change.request <= index as u64) {
            replay.homes.in_gc[change.home as usize] = change.in_gc;
        }
        let end = request.offset.checked_add(request.length);
        if end.is_none_or(|end| end > exported) {
            let (length, offset) = (request.length, request.offset);
            return Err(Error::Usage(format!("request {index}: {length} bytes at {offset} end beyond the {exported} exported bytes")));
        }
        if request.length == 0 && request.kind != RequestKind::Flush {
            return Err(Error::Usage(format!("request {index}: has no length; only a flush may")));
        }
        replay.play(request);
        if let Some(failure) = replay.cache.take_policy_failure() {
            return Err(failure);
        }
    }
    replay.replayed.counters = *replay.cache.counters();
    replay.replayed.dirty_pages = replay.cache.dirty_pages();
    Ok(replay.replayed)
}

impl Replay {
    fn note(&mut self, what: What, page: u32) {
        self.replayed.happened.push(Happened { request: self.request, what, page });
    }

    fn play(&mut self, request: &Request) {
        match request.kind {
            RequestKind::Read => self.pages(request, |replay, page, sectors| replay.read(page, sectors)),
            RequestKind::Write => self.pages(request, |replay, page, sectors| replay.write(page, sectors)),
            RequestKind::Trim => {
                let (first, end) = (request.offset.div_ceil(self.page_bytes), (request.offset + request.length) / self.page_bytes);
                let mut dropped = Vec::new();
                self.cache.drop_range(first as u32, end as u32, |_, page| dropped.push(page));
                dropped.into_iter().for_each(|page| self.note(What::Drop, page));
            }
            RequestKind::Flush => {
                while let Some(entry) = self.cache.next_dirty(&self.homes, true) {
                    self.note(What::Clean, self.cache.page(entry));
                    self.cache.clean(entry);
                }
            }
        }
    }

    fn pages(&mut self, request: &Request, play: impl Fn(&mut Self, u32, Sectors)) {
        let (offset, end) = (request.offset, request.offset + request.length);
        for page in offset / self.page_bytes..end.div_ceil(self.page_bytes) {
            let start = page * self.page_bytes;
            let bytes = (offset.saturating_sub(start) as u32, (end - start).min(self.page_bytes) as u32);
            play(self, page as u32, Sectors::of_bytes(bytes));
        }
    }

    fn read(&mut self, page: u32, sectors: Sectors) {
        let Answer { found, entry } = self.cache.read(page, sectors, &self.homes);
        self.note_leaving();
        let what = match found {
            Found::Hit => What::ReadHit,
            Found::Part | Found::Kept => What::ReadMiss,
            Found::Past => What::ReadPast,
            Found::Bypass => What::ReadBypass,
        };
        self.note(what, page);
        if matches!(found, Found::Part | Found::Kept) {
            self.cache.filled(entry);
        }
        if found == Found::Kept {
            self.evict_ahead(entry);
        }
    }

    fn write(&mut self, page: u32, sectors: Sectors) {
        let Answer { found, entry } = self.cache.write(page, sectors, &self.homes);
        self.note_leaving();
        let what = match found {
            Found::Hit => What::WriteHit,
            Found::Kept => What::WriteMiss,
            Found::Part | Found::Past | Found::Bypass => What::WriteThrough,
        };
        self.note(what, page);
        if found == Found::Kept {
            self.evict_ahead(entry);
        }
    }

    fn evict_ahead(&mut self, entry: u32) {
        self.cache.evict_ahead(entry, &self.homes);
        self.note_leaving();
    }

    fn note_leaving(&mut self) {
        let mut leaving = std::mem::take(&mut self.leaving);
        self.cache.take_leaving(&mut leaving);
        for leaves in leaving.drain(..) {
            match leaves {
                Leaves::Page { page, dirty: Some(_), .. } => self.note(What::EvictDirty, page),
                Leaves::Page { page, dirty: None, .. } => self.note(What::EvictClean, page),
                Leaves::Padding { page, .. } => {
                    self.replayed.padded_pages += 1;
                    self.note(What::Pad, page);
                }
            }
        }
        self.leaving = leaving;
    }
}
