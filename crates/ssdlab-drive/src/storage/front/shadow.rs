//! Verify mode: the version of every sector, as last written by the host, in the cache, and at the lower level.

use std::collections::BTreeMap;

use crate::cache::{Cache, Extent, Sectors};
use crate::lists::NONE;

/// Version of a sector that an entry or an evicted page does not hold.
const NOT_HELD: u32 = u32::MAX;

/// Versions of sectors, one per host write. 0: no data, or data from before the run.
#[derive(Debug)]
pub struct Shadow {
    sectors: u32,
    version: u32,
    /// By sector of the store: the version last written by the host.
    latest: Vec<u32>,
    /// By sector of the store: the version that the lower level has, or that was sent there.
    lower: Vec<u32>,
    /// By sector of each entry: the version that the entry has or fetches, or [`NOT_HELD`].
    entries: Vec<u32>,
    /// Pages listed for destage but not sent yet: the page, and the version of each sector, or [`NOT_HELD`].
    evicted: Vec<(u32, Vec<u32>)>,
    /// Outstanding requests that destage pages, each with its serial number, in the order sent.
    in_flight: Vec<(u32, u64)>,
    sent: u64,
    /// Outstanding flushes, each with the number of destages sent before it.
    flushes: Vec<(u32, u64)>,
    /// Pages read for padding, with the versions of their sectors at the time of the read.
    padding: BTreeMap<u32, Vec<u32>>,
    wrong: Option<String>,
}

impl Shadow {
    /// Shadow of `cache` over a store of `pages` pages with `sectors` sectors each.
    pub fn new(cache: &Cache, pages: u32, sectors: u32) -> Self {
        let all = pages as usize * sectors as usize;
        Shadow {
            sectors,
            version: 0,
            latest: vec![0; all],
            lower: vec![0; all],
            entries: vec![NOT_HELD; cache.entries() as usize * sectors as usize],
            evicted: Vec::new(),
            in_flight: Vec::new(),
            sent: 0,
            flushes: Vec::new(),
            padding: BTreeMap::new(),
            wrong: None,
        }
    }

    fn at(&self, index: u32, sector: u32) -> usize {
        index as usize * self.sectors as usize + sector as usize
    }

    /// Records a contradiction; only the first is kept.
    pub fn note(&mut self, sentence: String) {
        self.wrong.get_or_insert(sentence);
    }

    /// A page is inserted as `entry`, which holds none of its sectors yet.
    pub fn inserted(&mut self, entry: u32) {
        let first = self.at(entry, 0);
        self.entries[first..first + self.sectors as usize].fill(NOT_HELD);
    }

    /// The host writes sectors of a page, into `entry` unless that is [`NONE`]; `through`: to the lower level, too.
    pub fn written(&mut self, page: u32, sectors: Sectors, entry: u32, through: bool) {
        self.version += 1;
        for sector in sectors.first..sectors.end {
            let (place, version) = (self.at(page, sector), self.version);
            self.latest[place] = version;
            if through {
                self.lower[place] = version;
            }
            if entry != NONE {
                let held = self.at(entry, sector);
                self.entries[held] = version;
            }
        }
    }

    /// An entry gets its missing sectors from the lower level.
    pub fn fetched(&mut self, page: u32, entry: u32) {
        for sector in 0..self.sectors {
            let held = self.at(entry, sector);
            if self.entries[held] == NOT_HELD {
                self.entries[held] = self.lower[self.at(page, sector)];
            }
        }
    }

    /// The host reads sectors of a page, from `entry` or, if that is [`NONE`], from the lower level.
    pub fn read(&mut self, page: u32, sectors: Sectors, entry: u32) {
        for sector in sectors.first..sectors.end {
            let found = if entry == NONE { self.lower[self.at(page, sector)] } else { self.entries[self.at(entry, sector)] };
            let expected = self.latest[self.at(page, sector)];
            if found != expected {
                let place = if entry == NONE { "at the next level" } else { "in the cache" };
                self.note(format!(
                    "a read of sector {sector} of page {page} finds version {found} {place} where {expected} was written last"
                ));
            }
        }
    }

    /// The sectors of an entry in `extent` are to be destaged.
    pub fn destaged(&mut self, page: u32, entry: u32, extent: Extent) {
        let sectors = if let Extent::Part(sectors) = extent { sectors } else { Sectors { first: 0, end: self.sectors } };
        let mut versions = vec![NOT_HELD; self.sectors as usize];
        for sector in sectors.first..sectors.end {
            versions[sector as usize] = self.entries[self.at(entry, sector)];
            if versions[sector as usize] == NOT_HELD && extent != Extent::Scattered {
                self.note(format!("sector {sector} of page {page} is destaged but not in the cache"));
            }
        }
        self.evicted.push((page, versions));
    }

    /// Request `op` destages a page. If a page was evicted twice, the older data are sent first.
    pub fn sent(&mut self, page: u32, op: u32) {
        let Some(place) = self.evicted.iter().position(|&(other, _)| other == page) else { return };
        for (sector, version) in (0..).zip(self.evicted.remove(place).1) {
            let lower = self.at(page, sector);
            if version != NOT_HELD {
                self.lower[lower] = version;
            }
        }
        self.sent += 1;
        self.in_flight.push((op, self.sent));
    }

    /// Request `op` to the lower level has ended.
    pub fn arrived(&mut self, op: u32) {
        self.in_flight.retain(|&(other, _)| other != op);
    }

    /// A flush has arrived, and all dirty pages have been sent.
    pub fn flush_begins(&mut self, request: u32, cache: &Cache) {
        if cache.dirty_pages() > 0 {
            self.note(format!("a flush leaves {} pages dirty", cache.dirty_pages()));
        }
        self.flushes.push((request, self.sent));
    }

    /// A host request completes: if it is a flush, all destages sent before the flush must have ended.
    pub fn completed(&mut self, request: u32) {
        let Some(place) = self.flushes.iter().position(|&(other, _)| other == request) else { return };
        let (_, sent) = self.flushes.swap_remove(place);
        let late = self.in_flight.iter().filter(|&&(_, serial)| serial <= sent).count();
        if late > 0 {
            self.note(format!("a flush completes while {late} of its destages are outstanding"));
        }
    }

    fn lower_versions(&self, page: u32) -> Vec<u32> {
        let first = self.at(page, 0);
        self.lower[first..first + self.sectors as usize].to_vec()
    }

    /// A page is read at the lower level for padding.
    pub fn read_for_padding(&mut self, page: u32) {
        let read = self.lower_versions(page);
        self.padding.insert(page, read);
    }

    /// A page is written as padding: its version at the lower level must be the version that was read.
    pub fn written_back(&mut self, page: u32) {
        if self.padding.remove(&page) != Some(self.lower_versions(page)) {
            self.note(format!("page {page} is padded with data older than those of the next level"));
        }
    }

    /// The host trims a page.
    pub fn trimmed(&mut self, page: u32) {
        for sector in 0..self.sectors {
            let place = self.at(page, sector);
            self.latest[place] = 0;
            self.lower[place] = 0;
        }
    }

    /// Every sector must have the version last written, in the cache or at the lower level; a clean sector in both.
    ///
    /// # Errors
    /// The first contradiction found, during the run or now.
    pub fn check(&self, cache: &Cache) -> Result<(), String> {
        if let Some(wrong) = &self.wrong {
            return Err(wrong.clone());
        }
        if let Some((page, _)) = self.evicted.first() {
            return Err(format!("page {page} was evicted and is not destaged"));
        }
        for page in 0..(self.latest.len() / self.sectors as usize) as u32 {
            let entry = cache.entry_of(page);
            let all = self.at(page, 0)..self.at(page + 1, 0);
            if entry == NONE && self.latest[all.clone()] == self.lower[all] {
                continue; // most pages, of which each sector would be found so below
            }
            for sector in 0..self.sectors {
                let (latest, lower) = (self.latest[self.at(page, sector)], self.lower[self.at(page, sector)]);
                let held = if entry == NONE { NOT_HELD } else { self.entries[self.at(entry, sector)] };
                let found = if held == NOT_HELD { lower } else { held };
                if found != latest {
                    return Err(format!("sector {sector} of page {page} has version {found} where {latest} was written last"));
                }
                if found != lower && !cache.is_dirty(entry) {
                    return Err(format!("sector {sector} of page {page} is clean with version {found} and has {lower} at the next level"));
                }
            }
        }
        Ok(())
    }
}
