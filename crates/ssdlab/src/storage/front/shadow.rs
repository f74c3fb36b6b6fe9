//! Verify mode: the version of every sector, as last written by the host, in the cache, and below.

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
    /// By sector of the store: what lies below, or is on its way there.
    below: Vec<u32>,
    /// By sector of each entry: what it holds, or is on its way to it.
    entries: Vec<u32>,
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

    /// What an entry holds of a page goes below.
    pub fn destaged(&mut self, page: u32, entry: u32, extent: Extent) {
        let sectors = if let Extent::Part(sectors) = extent { sectors } else { Sectors { first: 0, end: self.sectors } };
        for sector in sectors.first..sectors.end {
            let (version, place) = (self.entries[self.at(entry, sector)], self.at(page, sector));
            if version != NOT_HELD {
                self.below[place] = version;
            } else if extent != Extent::Scattered {
                self.note(format!("sector {sector} of page {page} is written below and is not in the cache"));
            }
        }
    }

    /// What lies below of a page now.
    pub fn copy(&self, page: u32) -> Vec<u32> {
        let first = self.at(page, 0);
        self.below[first..first + self.sectors as usize].to_vec()
    }

    /// A page is written below as it was read from there: nothing may have changed since.
    pub fn written_back(&mut self, page: u32, copy: &[u32]) {
        if self.copy(page) != copy {
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
