//! A cache without a drive: hits and evictions, request by request, with given GC states of the targets. There is no time: fetches and
//! destages take effect at once, and every page has data.

use super::{Answer, Cache, CustomEviction, Evicted, Found, Groups, Sectors, Targets};
use ssdlab_base::caller::Caller;
use ssdlab_base::error::{Error, Result};
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::units::Lpn;
use ssdlab_keys::config::{CachePlace, CachePolicy, Config};
use ssdlab_keys::geometry::Geometry;
use ssdlab_result::stats::CacheCounters;

/// An event of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A page read was cached.
    ReadHit,
    /// A page read was not cached, or not all of it; it is inserted.
    ReadMiss,
    /// A page read was not cached, and is not inserted.
    ReadPast,
    /// A page read was not cached, and is not inserted as all targets are in GC.
    ReadBypass,
    /// A page written was cached, at least in part.
    WriteHit,
    /// A page written was not cached; it is inserted.
    WriteMiss,
    /// A page was written through to the next storage level.
    WriteThrough,
    /// A clean page was evicted.
    EvictClean,
    /// A dirty page was evicted and destaged.
    EvictDirty,
    /// A page was written with its evicted group.
    Pad,
    /// A page was dropped by a trim.
    Drop,
    /// A page was destaged and stays in the cache.
    Clean,
}

impl What {
    /// Name of the event in results.
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

/// An event of a page during a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Happened {
    /// The request that caused it, from 0.
    pub request: u64,
    /// The kind of the event.
    pub what: What,
    /// The page.
    pub page: u32,
}

/// GC begins or ends on a target.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// The request before which it begins or ends.
    pub request: u64,
    /// The target.
    pub target: u32,
    /// GC begins; else it ends.
    pub in_gc: bool,
}

/// The result of a replay.
#[derive(Clone, Debug, Default)]
pub struct Replayed {
    /// All events, in order.
    pub happened: Vec<Happened>,
    /// The cache's counters.
    pub counters: CacheCounters,
    /// Pages written as padding of a group though not dirty.
    pub padded_pages: u64,
    /// Dirty pages at the end.
    pub dirty_pages: u32,
}

/// The targets of a configured drive or array, with given GC states.
struct Given {
    groups: Groups,
    /// By place of a group: its target.
    target_of_place: Vec<u32>,
    fixed: bool,
    in_gc: Vec<bool>,
}

impl Given {
    fn new(config: &Config) -> Self {
        let geometry = Geometry::new(config);
        let pages = geometry.units_per_block.get();
        if config.cache.place == CachePlace::Array {
            let (run, places) = ((config.array.unit_bytes() / u64::from(geometry.unit_bytes)) as u32, config.array.drives());
            let groups = Groups { pages, run, places };
            return Given { groups, target_of_place: (0..places).collect(), fixed: true, in_gc: vec![false; places as usize] };
        }
        let run = geometry.units_per_flash_page;
        let groups = Groups { pages, run, places: geometry.pools.count.get() };
        let chip = |stripe| geometry.chip_of_die(geometry.die_of_pool(geometry.home(Lpn(stripe * run)).0)).0;
        Given {
            groups,
            target_of_place: (0..groups.places).map(chip).collect(),
            fixed: config.ftl.allocation != ssdlab_keys::config::Allocation::Dynamic,
            in_gc: vec![false; geometry.chips as usize],
        }
    }
}

impl Targets for Given {
    fn targets(&self) -> u32 {
        self.in_gc.len() as u32
    }

    fn target_of(&self, page: u32) -> Option<u32> {
        Some(self.target_of_place[(page / self.groups.run % self.groups.places) as usize])
    }

    fn targets_are_fixed(&self) -> bool {
        self.fixed
    }

    fn in_gc(&self, target: u32, _soon: u32) -> bool {
        self.in_gc[target as usize]
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
    targets: Given,
    page_bytes: u64,
    request: u64,
    replayed: Replayed,
    evicted: Vec<Evicted>,
}

/// Replays requests on the configured cache, or with a user-defined policy. Arrival times are ignored; `changes` must be in order.
///
/// # Errors
/// [`Error::Policy`]; [`Error::Interrupted`]; [`Error::Usage`] without a cache, for a request beyond the exported range, or for a target
/// that does not exist.
pub fn replay(
    config: &Config,
    requests: &[Request],
    changes: &[Change],
    eviction: Option<&CustomEviction>,
    caller: &Caller,
) -> Result<Replayed> {
    if !config.cache.is_on() {
        return Err(Error::Usage(
            "cache.policy = \"none\": there is no cache to replay; set it to an eviction policy, such as \"lru\"".into(),
        ));
    }
    if eviction.is_some() && config.cache.policy != CachePolicy::Lru {
        return Err(Error::Usage("a user-defined eviction policy needs cache.policy = \"lru\", which it replaces; set it to that".into()));
    }
    let targets = Given::new(config);
    let exported = if config.cache.place == CachePlace::Array { config.exported_bytes()? } else { Geometry::new(config).exported_bytes() };
    if let Some(change) = changes.iter().find(|change| change.target >= targets.targets()) {
        let last = targets.targets() - 1;
        return Err(Error::Usage(format!("in_gc: target {} does not exist; expected 0 to {last}", change.target)));
    }
    if let Some(pair) = changes.windows(2).find(|pair| pair[0].request > pair[1].request) {
        let (before, after) = (pair[0].request, pair[1].request);
        return Err(Error::Usage(format!("in_gc: a change at request {after} follows one at {before}; give them in order")));
    }
    let page_bytes = config.map_unit_bytes();
    let pages = (exported / u64::from(page_bytes)) as u32;
    let mut cache = Cache::new(&config.cache, page_bytes, pages, &targets);
    if let Some(eviction) = eviction {
        cache.use_eviction_policy(eviction);
    }
    let mut replay =
        Replay { cache, targets, page_bytes: page_bytes.into(), request: 0, replayed: Replayed::default(), evicted: Vec::new() };
    let mut changes = changes.iter().peekable();
    for (index, request) in requests.iter().enumerate() {
        replay.request = index as u64;
        caller.check()?;
        while let Some(change) = changes.next_if(|change| change.request <= index as u64) {
            replay.targets.in_gc[change.target as usize] = change.in_gc;
        }
        let end = request.offset.checked_add(request.length);
        if end.is_none_or(|end| end > exported) {
            let (length, offset) = (request.length, request.offset);
            return Err(Error::Usage(format!("request {index}: {length} bytes at {offset} end beyond the {exported} exported bytes")));
        }
        if request.length == 0 && request.kind != RequestKind::Flush {
            return Err(Error::Usage(format!("request {index}: has length 0; expected at least 1 byte, as only a flush has none")));
        }
        if request.kind.needs_zones() {
            return Err(Error::Usage(format!(
                "request {index}: a cache takes no {}; expected a read, write, trim or flush",
                request.kind.name()
            )));
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
                self.cache.drop_range(first as u32, end as u32, |_, page, _| dropped.push(page));
                dropped.into_iter().for_each(|page| self.note(What::Drop, page));
            }
            RequestKind::Flush => {
                while let Some(entry) = self.cache.next_dirty(&self.targets, true) {
                    self.note(What::Clean, self.cache.page(entry));
                    self.cache.clean(entry);
                }
            }
            _ => {}
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
        let Answer { found, entry } = self.cache.read(page, sectors, &self.targets);
        self.note_evicted();
        let what = match found {
            Found::Hit => What::ReadHit,
            Found::PartialHit | Found::Inserted => What::ReadMiss,
            Found::Uncached => What::ReadPast,
            Found::Bypass => What::ReadBypass,
        };
        self.note(what, page);
        if matches!(found, Found::PartialHit | Found::Inserted) {
            self.cache.filled(entry);
        }
        if found == Found::Inserted {
            self.evict_ahead(entry);
        }
    }

    fn write(&mut self, page: u32, sectors: Sectors) {
        let Answer { found, entry } = self.cache.write(page, sectors, &self.targets);
        self.note_evicted();
        let what = match found {
            Found::Hit => What::WriteHit,
            Found::Inserted => What::WriteMiss,
            Found::PartialHit | Found::Uncached | Found::Bypass => What::WriteThrough,
        };
        self.note(what, page);
        if found == Found::Inserted {
            self.evict_ahead(entry);
        }
    }

    fn evict_ahead(&mut self, entry: u32) {
        self.cache.evict_ahead(entry, &self.targets);
        self.note_evicted();
    }

    fn note_evicted(&mut self) {
        let mut evicted = std::mem::take(&mut self.evicted);
        self.cache.take_evicted(&mut evicted);
        for leaving in evicted.drain(..) {
            match leaving {
                Evicted::Page { page, dirty: Some(_), .. } => self.note(What::EvictDirty, page),
                Evicted::Page { page, dirty: None, .. } => self.note(What::EvictClean, page),
                Evicted::Padding { page, .. } => {
                    self.replayed.padded_pages += 1;
                    self.note(What::Pad, page);
                }
            }
        }
        self.evicted = evicted;
    }
}
