//! What stays in DRAM (wu2017). Decisions only: which pages hit, which are kept, who is evicted. They depend on the order of the requests and on
//! which homes are in GC, and on no time; what it takes to carry them out is `storage::front`'s.
//!
//! | file | what is there |
//! |---|---|
//! | `policy` | the interface of policies, the choice among them, awareness of collection |
//! | `lru`, `cflru`, `bplru`, `fab` | a policy each |
//! | `custom` | one of the user's own |
//! | `homes` | what a cache knows of that which lies below |
//! | `grouping`, `recency`, `sectors` | pages by group, order of use, parts of pages |
//! | `replay` | a cache by itself |

mod bplru;
mod cflru;
mod custom;
mod fab;
mod grouping;
mod homes;
mod lru;
mod policy;
mod recency;
pub mod replay;
mod sectors;

pub use custom::{Candidate, CustomEviction, EvictionPolicy, Failure};
pub use homes::{Groups, Homes};
pub use sectors::{Extent, SECTOR_BYTES, Sectors};

use crate::config::{Cache as Config, Padding, whole_part};
use crate::error::Error;
use crate::lists::NONE;
use crate::stats::CacheCounters;
use custom::Asked;
use policy::{Choice, Order, Policy, Use};
use recency::Recency;
use sectors::Held;

/// What was found of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// What is read is there, or on its way; of what is written, something is.
    Hit,
    /// A page read of which other sectors are there: the rest is to come.
    Part,
    /// Nothing; the page is kept from now on.
    Kept,
    /// Nothing, and the page is not kept.
    Past,
    /// Nothing, and the page is not kept since all homes are in GC.
    Bypass,
}

/// The answer to a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What was found.
    pub found: Found,
    /// The entry that holds the page now, or [`NONE`].
    pub entry: u32,
}

/// What leaves the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// A page is evicted.
    Page {
        /// The entry that held it, which may hold another now.
        entry: u32,
        /// The page.
        page: u32,
        /// What has to be written below of a dirty page; `None`: it was clean.
        dirty: Option<Extent>,
    },
    /// A page that is not dirty is to be written below with its group.
    Padding {
        /// The page.
        page: u32,
        /// The cache held it, so that it need not be read.
        at_hand: bool,
    },
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    page: u32,
    /// Its home, if homes matter; behind them the class of what has none.
    class: u32,
    dirty: bool,
    /// Sectors that it does not hold are on their way.
    coming: bool,
}

/// A cache of pages.
#[derive(Debug)]
pub struct Cache {
    capacity: u32,
    /// Pages beyond which it evicts ahead of need.
    keeps: u32,
    reads: bool,
    writes: bool,
    soon: u32,
    padding: Padding,
    padding_share: f64,
    classes: u32,
    /// By page: its entry + 1, or 0.
    entry_of: Vec<u32>,
    entries: Vec<Entry>,
    free: Vec<u32>,
    held: Held,
    policy: Policy,
    /// Dirty entries by class, in the order in which they became dirty.
    dirty: Recency,
    dirty_count: u32,
    leaving: Vec<Leaves>,
    unit: Vec<u32>,
    counters: CacheCounters,
}

impl Cache {
    /// As configured, over a store of `pages` pages.
    pub fn new(config: &Config, page_bytes: u32, pages: u32, homes: &impl Homes) -> Self {
        let capacity = (config.bytes / u64::from(page_bytes)) as u32;
        // A cache larger than the store never fills.
        let entries = capacity.min(pages);
        let classes = if config.gc_aware { homes.homes() + 1 } else { 1 };
        Cache {
            capacity,
            keeps: capacity - whole_part(config.destage_ahead, capacity),
            reads: config.reads,
            writes: config.writes,
            soon: config.soon,
            padding: config.padding,
            padding_share: config.padding_share,
            classes,
            entry_of: vec![0; pages as usize],
            entries: vec![Entry::default(); entries as usize],
            free: (0..entries).rev().collect(),
            held: Held::new(entries, page_bytes.div_ceil(SECTOR_BYTES)),
            policy: Policy::new(config, capacity, classes, homes.groups(), pages),
            dirty: Recency::new(entries, classes),
            dirty_count: 0,
            leaving: Vec::new(),
            unit: Vec::new(),
            counters: CacheCounters::default(),
        }
    }

    /// Asks a policy of the user's own in place of the configured one. For before the first request.
    pub fn ask(&mut self, custom: &CustomEviction) {
        self.policy = Policy::Asked(Asked::new(custom.make(), self.entries()));
    }

    /// Why the user's own policy could not choose, once it could not.
    #[inline]
    pub fn take_policy_failure(&mut self) -> Option<Error> {
        match &mut self.policy {
            Policy::Asked(asked) => asked.policy_mut().take_failure(),
            _ => None,
        }
    }

    /// Pages it can keep.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Entries there are: for as many pages as it can keep, but no more than the store has.
    pub fn entries(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Pages it keeps.
    pub fn kept(&self) -> u32 {
        self.entries() - self.free.len() as u32
    }

    /// The entry's page was written and is not below yet.
    pub fn is_dirty(&self, entry: u32) -> bool {
        self.entries[entry as usize].dirty
    }

    /// Dirty pages it keeps.
    pub fn dirty_pages(&self) -> u32 {
        self.dirty_count
    }

    /// What it did.
    pub fn counters(&self) -> &CacheCounters {
        &self.counters
    }

    /// Write-back: pages written are kept.
    pub fn keeps_writes(&self) -> bool {
        self.writes
    }

    /// The entry that holds something of a page, or [`NONE`].
    #[inline]
    pub fn entry_of(&self, page: u32) -> u32 {
        self.entry_of[page as usize].wrapping_sub(1)
    }

    /// The page of an entry in use.
    pub fn page(&self, entry: u32) -> u32 {
        self.entries[entry as usize].page
    }

    /// The entry holds these sectors now, not only on their way.
    pub fn holds(&self, entry: u32, sectors: Sectors) -> bool {
        self.held.covers(entry, sectors)
    }

    fn holds_all(&self, entry: u32) -> bool {
        self.holds(entry, Sectors { first: 0, end: self.held.sectors() })
    }

    /// The entry holds this sector now.
    pub fn holds_sector(&self, entry: u32, sector: u32) -> bool {
        self.held.has(entry, sector)
    }

    /// Looks up a page to be read. What is evicted for it waits in [`Cache::take_leaving`].
    #[inline]
    pub fn read(&mut self, page: u32, sectors: Sectors, homes: &impl Homes) -> Answer {
        self.counters.lookups += 1;
        let entry = self.entry_of(page);
        if entry != NONE {
            let Entry { coming, dirty, .. } = self.entries[entry as usize];
            self.touch(entry, page, Use { writes: false, whole_page: false, dirty }, false, homes);
            if coming || self.held.covers(entry, sectors) {
                self.counters.read_hits += 1;
                return Answer { found: Found::Hit, entry };
            }
            self.entries[entry as usize].coming = true;
            return Answer { found: Found::Part, entry };
        }
        if !self.reads {
            return Answer { found: Found::Past, entry: NONE };
        }
        if self.free.is_empty() && !self.make_room(homes, false) {
            return Answer { found: Found::Bypass, entry: NONE };
        }
        let entry = self.keep(page, Use { writes: false, whole_page: false, dirty: false }, homes);
        self.entries[entry as usize].coming = true;
        Answer { found: Found::Kept, entry }
    }

    /// Looks up a page to be written. What is evicted for it waits in [`Cache::take_leaving`].
    #[inline]
    pub fn write(&mut self, page: u32, sectors: Sectors, homes: &impl Homes) -> Answer {
        let entry = self.entry_of(page);
        if !self.writes {
            if entry != NONE {
                self.held.add(entry, sectors);
                self.touch(entry, page, Use { writes: false, whole_page: false, dirty: false }, true, homes);
            }
            return Answer { found: Found::Past, entry };
        }
        self.counters.lookups += 1;
        if entry != NONE {
            self.counters.write_hits += 1;
            self.held.add(entry, sectors);
            self.touch(entry, page, Use { writes: true, whole_page: self.is_whole(sectors), dirty: true }, true, homes);
            return Answer { found: Found::Hit, entry };
        }
        if self.free.is_empty() {
            self.make_room(homes, true);
        }
        let whole_page = self.is_whole(sectors);
        let entry = self.keep(page, Use { writes: true, whole_page, dirty: true }, homes);
        self.held.add(entry, sectors);
        self.mark_dirty(entry);
        Answer { found: Found::Kept, entry }
    }

    fn is_whole(&self, sectors: Sectors) -> bool {
        sectors.first == 0 && sectors.end == self.held.sectors()
    }

    #[inline]
    fn touch(&mut self, entry: u32, page: u32, used: Use, written: bool, homes: &impl Homes) {
        let from = self.entries[entry as usize].class;
        // With dynamic allocation what is written loses its home, and what is read keeps it.
        let to = if written { self.class_of(page, true, homes) } else { from };
        self.policy.touch(entry, page, (from, to), used);
        self.entries[entry as usize].class = to;
        if used.writes && !self.entries[entry as usize].dirty {
            self.mark_dirty(entry);
        }
    }

    #[inline]
    fn class_of(&self, page: u32, written: bool, homes: &impl Homes) -> u32 {
        if self.classes == 1 {
            return 0;
        }
        let no_home = self.classes - 1;
        let is_known = homes.homes_are_fixed() || !written && self.policy.grouping().is_none();
        if is_known { homes.home_of(page).unwrap_or(no_home) } else { no_home }
    }

    #[inline]
    fn keep(&mut self, page: u32, used: Use, homes: &impl Homes) -> u32 {
        let entry = self.free.pop().expect("there is room");
        let class = self.class_of(page, used.writes, homes);
        self.entries[entry as usize] = Entry { page, class, dirty: false, coming: false };
        self.entry_of[page as usize] = entry + 1;
        self.held.clear(entry);
        self.policy.keep(entry, page, class, used);
        entry
    }

    #[inline]
    fn mark_dirty(&mut self, entry: u32) {
        let Entry { class, dirty, .. } = &mut self.entries[entry as usize];
        *dirty = true;
        self.dirty.push(*class, entry);
        self.dirty_count += 1;
    }

    #[inline]
    fn mark_clean(&mut self, entry: u32) {
        let Entry { class, dirty, .. } = &mut self.entries[entry as usize];
        *dirty = false;
        self.dirty.remove(*class, entry);
        self.dirty_count -= 1;
    }

    /// All sectors of the page have come. What was written meanwhile is newer.
    pub fn filled(&mut self, entry: u32) {
        self.entries[entry as usize].coming = false;
        self.held.fill(entry);
    }

    /// Evicts one unit of a full cache. False if nothing is evicted: all homes are in GC, and it is not for a write.
    fn make_room(&mut self, homes: &impl Homes, for_write: bool) -> bool {
        let choice = self.choose(homes, for_write).expect("a full cache keeps something");
        let unit = match choice {
            Choice::First(unit) => unit,
            Choice::Skipped(unit) => {
                self.counters.gc_skips += 1;
                unit
            }
            Choice::AllInGc(unit) if for_write => {
                self.counters.gc_fallbacks += 1;
                unit
            }
            Choice::AllInGc(_) => {
                self.counters.gc_bypasses += 1;
                return false;
            }
        };
        self.take_unit(unit);
        self.evict_unit();
        true
    }

    /// Evicts ahead of need, after the page of `kept` has become kept. What it evicts waits in [`Cache::take_leaving`].
    #[inline]
    pub fn evict_ahead(&mut self, kept: u32, homes: &impl Homes) {
        while self.kept() > self.keeps {
            let choice = self.choose(homes, false);
            let unit = match choice {
                Some(Choice::First(unit) | Choice::Skipped(unit)) => unit,
                Some(Choice::AllInGc(_)) | None => return,
            };
            self.take_unit(unit);
            if self.unit.contains(&kept) {
                return;
            }
            self.counters.gc_skips += u64::from(matches!(choice, Some(Choice::Skipped(_))));
            self.evict_unit();
        }
    }

    /// Who goes: by the policy, or by the user's own, which is asked unless all homes are in GC and nothing would go (not `for_write`).
    #[inline]
    fn choose(&mut self, homes: &impl Homes, for_write: bool) -> Option<Choice> {
        if matches!(self.policy, Policy::Asked(_)) {
            return self.ask_policy(homes, for_write);
        }
        policy::choose(&self.policy, self.classes, homes, self.soon)
    }

    fn ask_policy(&mut self, homes: &impl Homes, for_write: bool) -> Option<Choice> {
        let Policy::Asked(asked) = &self.policy else { return None };
        let aware = self.classes > 1;
        let candidate = |(entry, age): (u32, u64)| {
            let Entry { page, class, dirty, .. } = self.entries[entry as usize];
            let known = if aware { Some(class).filter(|&class| class < homes.homes()) } else { homes.home_of(page) };
            let in_gc = known.is_some_and(|home| homes.in_gc(home, self.soon));
            (entry, Candidate { page, dirty, age, home: known, in_gc })
        };
        let all: Vec<_> = asked.by_age().map(candidate).collect();
        let first = all.first()?.0;
        let all_in_gc = aware && all.iter().all(|(_, candidate)| candidate.in_gc);
        if all_in_gc && !for_write {
            return Some(Choice::AllInGc(first));
        }
        let (entries, candidates): (Vec<_>, Vec<_>) =
            all.iter().filter(|(_, candidate)| !aware || all_in_gc || !candidate.in_gc).copied().unzip();
        let Policy::Asked(asked) = &mut self.policy else { return None };
        let named = asked.pick(&candidates);
        self.counters.policy_fallbacks += u64::from(named.is_none());
        let unit = entries[named.unwrap_or(0)];
        Some(if all_in_gc {
            Choice::AllInGc(unit)
        } else if candidates.len() < all.len() {
            Choice::Skipped(unit)
        } else {
            Choice::First(unit)
        })
    }

    /// Lists the entries of a unit by page.
    fn take_unit(&mut self, unit: u32) {
        self.unit.clear();
        match self.policy.grouping() {
            None => self.unit.push(unit),
            Some(groups) => {
                self.unit.extend(groups.entries(unit));
                self.unit.sort_unstable_by_key(|&entry| self.entries[entry as usize].page);
            }
        }
    }

    fn evict_unit(&mut self) {
        let unit = std::mem::take(&mut self.unit);
        let padding = self.padding_of(&unit);
        let class = self.entries[unit[0] as usize].class;
        if self.policy.grouping().is_some() {
            self.policy.forget_group(&unit, class);
        } else {
            self.policy.forget(unit[0], class);
        }
        for &entry in &unit {
            let Entry { page, dirty, .. } = self.entries[entry as usize];
            let dirty = dirty.then(|| self.held.extent(entry));
            self.counters.evictions += 1;
            self.counters.destages += u64::from(dirty.is_some());
            self.leaving.push(Leaves::Page { entry, page, dirty });
            self.release(entry);
        }
        self.leaving.extend(padding);
        self.unit = unit;
    }

    /// What is written with the group of these entries that is not dirty, by page (BPLRU).
    fn padding_of(&self, unit: &[u32]) -> Vec<Leaves> {
        let Policy::Bplru(order) = &self.policy else { return Vec::new() };
        let groups = order.groups();
        let slot = groups.slot(unit[0]);
        let wanted = match self.padding {
            Padding::Off => false,
            Padding::Always => true,
            Padding::Share => unit.len() as f64 >= self.padding_share * f64::from(groups.size(slot)),
        };
        if !wanted || !unit.iter().any(|&entry| self.entries[entry as usize].dirty) {
            return Vec::new();
        }
        let clean = groups.pages(slot).filter_map(|page| {
            let entry = self.entry_of(page);
            let kept = (entry != NONE).then(|| self.entries[entry as usize]);
            (!kept.is_some_and(|kept| kept.dirty)).then(|| Leaves::Padding { page, at_hand: kept.is_some() && self.holds_all(entry) })
        });
        clean.collect()
    }

    /// The entry is free again; the policy has forgotten it.
    fn release(&mut self, entry: u32) {
        if self.entries[entry as usize].dirty {
            self.mark_clean(entry);
        }
        self.entry_of[self.entries[entry as usize].page as usize] = 0;
        self.free.push(entry);
    }

    /// Moves what has left since the last call to `into`, in order: unit by unit, padding behind its group.
    #[inline]
    pub fn take_leaving(&mut self, into: &mut Vec<Leaves>) {
        into.append(&mut self.leaving);
    }

    /// Drops the pages from `first` to before `end`, dirty or not. Calls back with each entry and page, ascending. Costs as many look-ups as there
    /// are pages, or entries if these are fewer.
    pub fn drop_range(&mut self, first: u32, end: u32, mut dropped: impl FnMut(u32, u32)) {
        let mut pages: Vec<u32> = if end.saturating_sub(first) <= self.kept() {
            (first..end).filter(|&page| self.entry_of[page as usize] != 0).collect()
        } else {
            let in_use = self.entries.iter().map(|entry| entry.page).filter(|page| (first..end).contains(page));
            in_use.filter(|&page| self.entry_of[page as usize] != 0).collect()
        };
        pages.sort_unstable();
        pages.dedup();
        for page in pages {
            let entry = self.entry_of(page);
            self.policy.forget(entry, self.entries[entry as usize].class);
            self.release(entry);
            dropped(entry, page);
        }
    }

    /// The entry that has been dirty longest, of all or only of those whose home is not in GC where that matters.
    pub fn next_dirty(&self, homes: &impl Homes, also_in_gc: bool) -> Option<u32> {
        let heads = (0..self.classes).map(|class| (class, self.dirty.first(class))).filter(|&(_, entry)| entry != NONE);
        let goes = |class: u32| also_in_gc || self.classes == 1 || class >= homes.homes() || !homes.in_gc(class, self.soon);
        heads.filter(|&(class, _)| goes(class)).map(|(_, entry)| entry).min_by_key(|&entry| self.dirty.stamp(entry))
    }

    /// A dirty entry is written below and stays, clean. Returns what has to be written.
    pub fn clean(&mut self, entry: u32) -> Extent {
        self.mark_clean(entry);
        self.policy.cleaned(entry, self.entries[entry as usize].class);
        self.counters.destages += 1;
        self.held.extent(entry)
    }

    /// Recounts what is kept twice. Slow: for tests and verify mode.
    ///
    /// # Errors
    /// A sentence about the first contradiction.
    pub fn check(&self) -> Result<(), String> {
        let mut kept = vec![false; self.entries.len()];
        for (page, &entry) in self.entry_of.iter().enumerate().filter(|&(_, &entry)| entry != 0) {
            let entry = entry as usize - 1;
            if self.entries[entry].page as usize != page || std::mem::replace(&mut kept[entry], true) {
                return Err(format!("page {page} is said to be in entry {entry}, which holds page {}", self.entries[entry].page));
            }
        }
        let (count, dirty) = (0..self.entries.len())
            .filter(|&entry| kept[entry])
            .fold((0, 0), |(count, dirty), entry| (count + 1, dirty + u32::from(self.entries[entry].dirty)));
        if (count, dirty) != (self.kept(), self.dirty_count) {
            let (said, said_dirty) = (self.kept(), self.dirty_count);
            return Err(format!("the cache counts {said} pages, {said_dirty} of them dirty, and keeps {count} and {dirty}"));
        }
        Ok(())
    }
}
