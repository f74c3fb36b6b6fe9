//! Verify mode: the version of every sector, as last written by the host, in the cache, and below.

use std::collections::BTreeMap;

use crate::cache::{Cache, Extent, Sectors};
use crate::lists::NONE;

/// The entry does not hold the sector.
const NOT_HELD: u32 = u32::MAX;

/// Versions of sectors. 0: no data, or those from before the run.
#[derive(Debug)]
pub struct Shadow {
    sectors: u32,
    version: u32,
    /// By sector of the store: last written by the host.
    latest: Vec<u32>,
    /// By sector of the store: what lies below, or has been sent there.
    below: Vec<u32>,
    /// By sector of each entry: what it holds, or is on its way to it.
    entries: Vec<u32>,
    /// Pages that have left the cache and have not been sent down: the version of each sector, or [`NOT_HELD`].
    in_hand: Vec<(u32, Vec<u32>)>,
    /// Operations that bring such pages down, in the order in which they were sent.
    on_the_way: Vec<(u32, u64)>,
    sent: u64,
    /// Flushes under way, and how much had been sent when they arrived.
    flushes: Vec<(u32, u64)>,
    /// Pages that are read for padding, as they were then.
    padding: BTreeMap<u32, Vec<u32>>,
    wrong: Option<String>,
}

impl Shadow {
    /// For a cache over so many pages of so many sectors.
    pub fn new(cache: &Cache, pages: u32, sectors: u32) -> Self {
        let all = pages as usize * sectors as usize;
        Shadow {
            sectors,
            version: 0,
            latest: vec![0; all],
            below: vec![0; all],
            entries: vec![NOT_HELD; cache.entries() as usize * sectors as usize],
            in_hand: Vec::new(),
            on_the_way: Vec::new(),
            sent: 0,
            flushes: Vec::new(),
            padding: BTreeMap::new(),
            wrong: None,
        }
    }

    fn at(&self, index: u32, sector: u32) -> usize {
        index as usize * self.sectors as usize + sector as usize
    }

    /// Keeps the first thing found wrong.
    pub fn note(&mut self, sentence: String) {
        self.wrong.get_or_insert(sentence);
    }

    /// A page becomes kept, with nothing held yet.
    pub fn kept(&mut self, entry: u32) {
        let first = self.at(entry, 0);
        self.entries[first..first + self.sectors as usize].fill(NOT_HELD);
    }

    /// The host writes sectors of a page, into an entry or (with [`NONE`]) past the cache.
    pub fn written(&mut self, page: u32, sectors: Sectors, entry: u32, through: bool) {
        self.version += 1;
        for sector in sectors.first..sectors.end {
            let (place, version) = (self.at(page, sector), self.version);
            self.latest[place] = version;
            if through {
                self.below[place] = version;
            }
            if entry != NONE {
                let held = self.at(entry, sector);
                self.entries[held] = version;
            }
        }
    }

    /// What an entry does not hold comes from below.
    pub fn fetched(&mut self, page: u32, entry: u32) {
        for sector in 0..self.sectors {
            let held = self.at(entry, sector);
            if self.entries[held] == NOT_HELD {
                self.entries[held] = self.below[self.at(page, sector)];
            }
        }
    }

    /// The host is given these sectors: from an entry, or (with [`NONE`]) from below.
    pub fn read(&mut self, page: u32, sectors: Sectors, entry: u32) {
        for sector in sectors.first..sectors.end {
            let found = if entry == NONE { self.below[self.at(page, sector)] } else { self.entries[self.at(entry, sector)] };
            let expected = self.latest[self.at(page, sector)];
            if found != expected {
                let place = if entry == NONE { "below" } else { "in the cache" };
                self.note(format!(
                    "a read of sector {sector} of page {page} finds version {found} {place} where {expected} was written last"
                ));
            }
        }
    }

    /// What an entry holds of a page is to go below.
    pub fn destaged(&mut self, page: u32, entry: u32, extent: Extent) {
        let sectors = if let Extent::Part(sectors) = extent { sectors } else { Sectors { first: 0, end: self.sectors } };
        let mut versions = vec![NOT_HELD; self.sectors as usize];
        for sector in sectors.first..sectors.end {
            versions[sector as usize] = self.entries[self.at(entry, sector)];
            if versions[sector as usize] == NOT_HELD && extent != Extent::Scattered {
                self.note(format!("sector {sector} of page {page} is written below and is not in the cache"));
            }
        }
        self.in_hand.push((page, versions));
    }

    /// A page goes below with this operation. Of a page that leaves twice the older goes first.
    pub fn sent(&mut self, page: u32, op: u32) {
        let Some(place) = self.in_hand.iter().position(|&(other, _)| other == page) else { return };
        for (sector, version) in (0..).zip(self.in_hand.remove(place).1) {
            let below = self.at(page, sector);
            if version != NOT_HELD {
                self.below[below] = version;
            }
        }
        self.sent += 1;
        self.on_the_way.push((op, self.sent));
    }

    /// An operation has ended.
    pub fn arrived(&mut self, op: u32) {
        self.on_the_way.retain(|&(other, _)| other != op);
    }

    /// A flush arrives, and has sent what was dirty.
    pub fn flush_begins(&mut self, request: u32, cache: &Cache) {
        if cache.dirty_pages() > 0 {
            self.note(format!("a flush leaves {} pages dirty", cache.dirty_pages()));
        }
        self.flushes.push((request, self.sent));
    }

    /// A request completes: if it is a flush, all that was sent before it must have arrived.
    pub fn completed(&mut self, request: u32) {
        let Some(place) = self.flushes.iter().position(|&(other, _)| other == request) else { return };
        let (_, sent) = self.flushes.swap_remove(place);
        let late = self.on_the_way.iter().filter(|&&(_, serial)| serial <= sent).count();
        if late > 0 {
            self.note(format!("a flush completes while {late} of the pages that it is for are on their way"));
        }
    }

    fn below(&self, page: u32) -> Vec<u32> {
        let first = self.at(page, 0);
        self.below[first..first + self.sectors as usize].to_vec()
    }

    /// A page is read below, to be written back.
    pub fn read_for_padding(&mut self, page: u32) {
        let read = self.below(page);
        self.padding.insert(page, read);
    }

    /// A page is written below as it was read from there: nothing may have changed since.
    pub fn written_back(&mut self, page: u32) {
        if self.padding.remove(&page) != Some(self.below(page)) {
            self.note(format!("page {page} is padded with data older than those below"));
        }
    }

    /// A page is trimmed.
    pub fn trimmed(&mut self, page: u32) {
        for sector in 0..self.sectors {
            let place = self.at(page, sector);
            self.latest[place] = 0;
            self.below[place] = 0;
        }
    }

    /// Every sector is in the cache or below as it was last written; what is clean is the same in both.
    ///
    /// # Errors
    /// The first thing found wrong, as the run went or now.
    pub fn check(&self, cache: &Cache) -> Result<(), String> {
        if let Some(wrong) = &self.wrong {
            return Err(wrong.clone());
        }
        if let Some((page, _)) = self.in_hand.first() {
            return Err(format!("page {page} has left the cache and is not written below"));
        }
        for page in 0..(self.latest.len() / self.sectors as usize) as u32 {
            let entry = cache.entry_of(page);
            for sector in 0..self.sectors {
                let (latest, below) = (self.latest[self.at(page, sector)], self.below[self.at(page, sector)]);
                let held = if entry == NONE { NOT_HELD } else { self.entries[self.at(entry, sector)] };
                let found = if held == NOT_HELD { below } else { held };
                if found != latest {
                    return Err(format!("sector {sector} of page {page} has version {found} where {latest} was written last"));
                }
                if found != below && !cache.is_dirty(entry) {
                    return Err(format!("sector {sector} of page {page} is clean with version {found} and has {below} below"));
                }
            }
        }
        Ok(())
    }
}
