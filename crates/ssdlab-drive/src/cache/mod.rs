//! The cache in DRAM (wu2017), decisions only: which pages hit, which are inserted, which are evicted. Decisions depend on the order of the
//! requests and on the targets in GC, not on time. `storage::front` carries them out.
//!
//! | file | what is there |
//! |---|---|
//! | `policy` | the interface of policies, the choice among them, GC awareness |
//! | `lru`, `cflru`, `bplru`, `fab` | a policy each |
//! | `custom` | a user-defined policy |
//! | `evict` | evictions: which unit is given up, and what becomes of its pages |
//! | `targets` | what a cache knows of the next storage level |
//! | `grouping`, `recency`, `sectors` | pages by group, order of use, parts of pages |
//! | `replay` | a cache without a drive |

mod bplru;
mod cflru;
mod custom;
mod evict;
mod fab;
mod grouping;
mod lru;
mod policy;
mod recency;
pub mod replay;
mod sectors;
mod targets;

pub use custom::{CustomEviction, EvictionCandidate, EvictionPolicy, Failure};
pub use sectors::{Extent, SECTOR_BYTES, Sectors};
pub use targets::{Groups, Targets};

use crate::lists::NONE;
use crate::rules::BurstRule;
use custom::CustomOrder;
use policy::{Order, Policy, Use};
use recency::Recency;
use sectors::Held;
use ssdlab_base::error::Error;
use ssdlab_keys::config::{Cache as Config, CacheGroup, Padding, whole_part};
use ssdlab_result::stats::CacheCounters;

/// Bursts: a cache looks up which chips have GC jobs and free blocks, which is not up to date during one.
pub const BURSTS: BurstRule = BurstRule { keys: &["cache."], exact: |config| !config.cache.is_on() };

/// The result of a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Read: the cache has or fetches all sectors. Write: it has some of the page.
    Hit,
    /// Read: the cache has other sectors of the page; it fetches the rest.
    PartialHit,
    /// A miss; the page is inserted.
    Inserted,
    /// A miss; the page is not inserted.
    Uncached,
    /// A read miss; the page is not inserted, as all targets are in GC.
    Bypass,
}

/// The answer to a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The result of the look-up.
    pub found: Found,
    /// The entry of the page, or [`NONE`].
    pub entry: u32,
}

/// A page that an eviction drops, destages or pads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evicted {
    /// An evicted page.
    Page {
        /// The entry that the page had; another page may have it now.
        entry: u32,
        /// The page.
        page: u32,
        /// The sectors to destage of a dirty page; `None`: it was clean.
        dirty: Option<Extent>,
    },
    /// A page that is not dirty and is written with its evicted group.
    Padding {
        /// The page.
        page: u32,
        /// The cache has the whole page, so it is not read.
        at_hand: bool,
    },
}

#[derive(Clone, Copy, Debug, Default)]
struct CacheEntry {
    page: u32,
    /// The class of the page: its target if the cache is GC-aware, or the last class if the target is not known.
    class: u32,
    dirty: bool,
    /// The missing sectors of the page are being fetched.
    fetching: bool,
}

/// A cache of pages.
#[derive(Debug)]
pub struct Cache {
    capacity: u32,
    /// With more pages than this the cache evicts ahead of need.
    evicts_above: u32,
    reads: bool,
    writes: bool,
    soon: u32,
    padding: Padding,
    padding_share: f64,
    classes: u32,
    /// The pages of a group may lie on several targets.
    spreads_groups: bool,
    /// By page: its entry + 1, or 0.
    entry_of: Vec<u32>,
    entries: Vec<CacheEntry>,
    free: Vec<u32>,
    held: Held,
    policy: Policy,
    /// Dirty entries by class, in the order in which they became dirty.
    dirty: Recency,
    dirty_count: u32,
    evicted: Vec<Evicted>,
    unit: Vec<u32>,
    counters: CacheCounters,
}

impl Cache {
    /// A cache as configured, over a store of `pages` pages.
    pub fn new(config: &Config, page_bytes: u32, pages: u32, targets: &impl Targets) -> Self {
        let capacity = (config.bytes / u64::from(page_bytes)) as u32;
        // A cache larger than the store never fills.
        let entries = capacity.min(pages);
        let groups = match config.group {
            CacheGroup::Chip => targets.groups(),
            // wu2017 Fig. 2: the buffer cache is above the chips, and BPLRU groups logical pages by block number.
            CacheGroup::Contiguous => Groups::contiguous(targets.groups().pages),
        };
        let classes = if config.gc_aware { targets.targets() + 1 } else { 1 };
        Cache {
            capacity,
            evicts_above: capacity - whole_part(config.destage_ahead, capacity),
            reads: config.reads,
            writes: config.writes,
            soon: config.soon,
            padding: config.padding,
            padding_share: config.padding_share,
            classes,
            spreads_groups: config.evicts_groups() && config.group == CacheGroup::Contiguous,
            entry_of: vec![0; pages as usize],
            entries: vec![CacheEntry::default(); entries as usize],
            free: (0..entries).rev().collect(),
            held: Held::new(entries, page_bytes.div_ceil(SECTOR_BYTES)),
            policy: Policy::new(config, capacity, classes, groups, pages),
            dirty: Recency::new(entries, classes),
            dirty_count: 0,
            evicted: Vec::new(),
            unit: Vec::new(),
            counters: CacheCounters::default(),
        }
    }

    /// Replaces the configured policy by a user-defined one. Call it before the first request.
    pub fn use_eviction_policy(&mut self, custom: &CustomEviction) {
        self.policy = Policy::Custom(CustomOrder::new(custom.make(), self.entries()));
    }

    /// The failure of a user-defined policy, once there is one.
    #[inline]
    pub fn take_policy_failure(&mut self) -> Option<Error> {
        match &mut self.policy {
            Policy::Custom(custom) => custom.policy_mut().take_failure(),
            _ => None,
        }
    }

    /// Number of pages that the cache can hold.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Number of entries: the capacity, but no more than the pages of the store.
    pub fn entries(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Number of pages in the cache.
    pub fn cached_pages(&self) -> u32 {
        self.entries() - self.free.len() as u32
    }

    /// The entry's page was written and not destaged yet.
    pub fn is_dirty(&self, entry: u32) -> bool {
        self.entries[entry as usize].dirty
    }

    /// Number of dirty pages in the cache.
    pub fn dirty_pages(&self) -> u32 {
        self.dirty_count
    }

    /// The counters of the cache.
    pub fn counters(&self) -> &CacheCounters {
        &self.counters
    }

    /// Write-back: pages written are inserted.
    pub fn caches_writes(&self) -> bool {
        self.writes
    }

    /// The entry of a page, or [`NONE`].
    #[inline]
    pub fn entry_of(&self, page: u32) -> u32 {
        self.entry_of[page as usize].wrapping_sub(1)
    }

    /// The page of an entry in use.
    pub fn page(&self, entry: u32) -> u32 {
        self.entries[entry as usize].page
    }

    /// The entry has these sectors; sectors being fetched do not count.
    pub fn holds(&self, entry: u32, sectors: Sectors) -> bool {
        self.held.covers(entry, sectors)
    }

    fn holds_all(&self, entry: u32) -> bool {
        self.holds(entry, Sectors { first: 0, end: self.held.sectors() })
    }

    /// Looks up a page to read. [`Cache::take_evicted`] gives the pages evicted for it.
    #[inline]
    pub fn read(&mut self, page: u32, sectors: Sectors, targets: &impl Targets) -> Answer {
        self.counters.lookups += 1;
        let entry = self.entry_of(page);
        if entry != NONE {
            let CacheEntry { fetching, dirty, .. } = self.entries[entry as usize];
            self.touch(entry, page, Use { writes: false, whole_page: false, dirty }, false, targets);
            if fetching || self.held.covers(entry, sectors) {
                self.counters.read_hits += 1;
                return Answer { found: Found::Hit, entry };
            }
            self.entries[entry as usize].fetching = true;
            return Answer { found: Found::PartialHit, entry };
        }
        if !self.reads {
            return Answer { found: Found::Uncached, entry: NONE };
        }
        if self.free.is_empty() && !self.make_room(targets, false) {
            return Answer { found: Found::Bypass, entry: NONE };
        }
        let entry = self.insert(page, Use { writes: false, whole_page: false, dirty: false }, targets);
        self.entries[entry as usize].fetching = true;
        Answer { found: Found::Inserted, entry }
    }

    /// Looks up a page to write. [`Cache::take_evicted`] gives the pages evicted for it.
    #[inline]
    pub fn write(&mut self, page: u32, sectors: Sectors, targets: &impl Targets) -> Answer {
        let entry = self.entry_of(page);
        if !self.writes {
            if entry != NONE {
                self.held.add(entry, sectors);
                self.touch(entry, page, Use { writes: false, whole_page: false, dirty: false }, true, targets);
            }
            return Answer { found: Found::Uncached, entry };
        }
        self.counters.lookups += 1;
        if entry != NONE {
            self.counters.write_hits += 1;
            self.held.add(entry, sectors);
            self.touch(entry, page, Use { writes: true, whole_page: self.is_whole(sectors), dirty: true }, true, targets);
            return Answer { found: Found::Hit, entry };
        }
        if self.free.is_empty() {
            self.make_room(targets, true);
        }
        let whole_page = self.is_whole(sectors);
        let entry = self.insert(page, Use { writes: true, whole_page, dirty: true }, targets);
        self.held.add(entry, sectors);
        self.mark_dirty(entry);
        Answer { found: Found::Inserted, entry }
    }

    fn is_whole(&self, sectors: Sectors) -> bool {
        sectors.first == 0 && sectors.end == self.held.sectors()
    }

    #[inline]
    fn touch(&mut self, entry: u32, page: u32, used: Use, written: bool, targets: &impl Targets) {
        let from = self.entries[entry as usize].class;
        // Under dynamic allocation a written page has no target until it is destaged; a read does not change the target.
        let to = if written { self.class_of(page, true, targets) } else { from };
        self.policy.touch(entry, page, (from, to), used);
        self.entries[entry as usize].class = to;
        if used.writes && !self.entries[entry as usize].dirty {
            self.mark_dirty(entry);
        }
    }

    #[inline]
    fn class_of(&self, page: u32, written: bool, targets: &impl Targets) -> u32 {
        if self.classes == 1 {
            return 0;
        }
        let no_target = self.classes - 1;
        let is_known = targets.targets_are_fixed() || !written && self.policy.grouping().is_none();
        if is_known { targets.target_of(page).unwrap_or(no_target) } else { no_target }
    }

    #[inline]
    fn insert(&mut self, page: u32, used: Use, targets: &impl Targets) -> u32 {
        let entry = self.free.pop().expect("an entry is free");
        let class = self.class_of(page, used.writes, targets);
        self.entries[entry as usize] = CacheEntry { page, class, dirty: false, fetching: false };
        self.entry_of[page as usize] = entry + 1;
        self.held.clear(entry);
        self.policy.insert(entry, page, class, used);
        entry
    }

    #[inline]
    fn mark_dirty(&mut self, entry: u32) {
        let CacheEntry { class, dirty, .. } = &mut self.entries[entry as usize];
        *dirty = true;
        self.dirty.push(*class, entry);
        self.dirty_count += 1;
    }

    #[inline]
    fn mark_clean(&mut self, entry: u32) {
        let CacheEntry { class, dirty, .. } = &mut self.entries[entry as usize];
        *dirty = false;
        self.dirty.remove(*class, entry);
        self.dirty_count -= 1;
    }

    /// A fetch has ended: the entry has all sectors. Sectors written meanwhile keep their newer content.
    pub fn filled(&mut self, entry: u32) {
        self.entries[entry as usize].fetching = false;
        self.held.fill(entry);
    }

    /// Frees an entry; the policy has removed it already.
    fn release(&mut self, entry: u32) {
        if self.entries[entry as usize].dirty {
            self.mark_clean(entry);
        }
        self.entry_of[self.entries[entry as usize].page as usize] = 0;
        self.free.push(entry);
    }

    /// Pages have been evicted since the last call of [`Cache::take_evicted`].
    #[inline(always)]
    pub fn has_evicted(&self) -> bool {
        !self.evicted.is_empty()
    }

    /// Moves the pages evicted since the last call to `into`, in order: unit by unit, the padding after its group.
    #[inline]
    pub fn take_evicted(&mut self, into: &mut Vec<Evicted>) {
        into.append(&mut self.evicted);
    }

    /// Drops the pages `first..end`, dirty or not. Calls back with each entry and page, ascending, and whether it was dirty. Costs one look-up per page of the range,
    /// or per entry if these are fewer.
    pub fn drop_range(&mut self, first: u32, end: u32, mut dropped: impl FnMut(u32, u32, bool)) {
        let mut pages: Vec<u32> = if end.saturating_sub(first) <= self.cached_pages() {
            (first..end).filter(|&page| self.entry_of[page as usize] != 0).collect()
        } else {
            let in_use = self.entries.iter().map(|entry| entry.page).filter(|page| (first..end).contains(page));
            in_use.filter(|&page| self.entry_of[page as usize] != 0).collect()
        };
        pages.sort_unstable();
        pages.dedup();
        for page in pages {
            let entry = self.entry_of(page);
            let CacheEntry { class, dirty, .. } = self.entries[entry as usize];
            self.policy.remove(entry, class);
            self.release(entry);
            dropped(entry, page, dirty);
        }
    }

    /// The entry that became dirty first. A GC-aware cache skips entries whose target is in GC unless `also_in_gc` is set.
    pub fn next_dirty(&self, targets: &impl Targets, also_in_gc: bool) -> Option<u32> {
        let heads = (0..self.classes).map(|class| (class, self.dirty.first(class))).filter(|&(_, entry)| entry != NONE);
        let eligible = |class: u32| also_in_gc || self.classes == 1 || class >= targets.targets() || !targets.in_gc(class, self.soon);
        heads.filter(|&(class, _)| eligible(class)).map(|(_, entry)| entry).min_by_key(|&entry| self.dirty.stamp(entry))
    }

    /// Marks a dirty entry clean; it stays in the cache. Returns the sectors to destage.
    pub fn clean(&mut self, entry: u32) -> Extent {
        self.mark_clean(entry);
        self.policy.cleaned(entry, self.entries[entry as usize].class);
        self.counters.destages += 1;
        self.held.extent(entry)
    }

    /// Recounts the redundant state. Slow: for tests and verify mode.
    ///
    /// # Errors
    /// A sentence about the first contradiction.
    pub fn check(&self) -> Result<(), String> {
        let mut cached = vec![false; self.entries.len()];
        for (page, &entry) in self.entry_of.iter().enumerate().filter(|&(_, &entry)| entry != 0) {
            let entry = entry as usize - 1;
            if self.entries[entry].page as usize != page || std::mem::replace(&mut cached[entry], true) {
                return Err(format!("page {page} should be in entry {entry}, which has page {}", self.entries[entry].page));
            }
        }
        let (count, dirty) = (0..self.entries.len())
            .filter(|&entry| cached[entry])
            .fold((0, 0), |(count, dirty), entry| (count + 1, dirty + u32::from(self.entries[entry].dirty)));
        if (count, dirty) != (self.cached_pages(), self.dirty_count) {
            let (said, said_dirty) = (self.cached_pages(), self.dirty_count);
            return Err(format!("the cache counts {said} pages, {said_dirty} of them dirty, and has {count} and {dirty}"));
        }
        Ok(())
    }
}
