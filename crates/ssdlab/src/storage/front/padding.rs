//! Padding (BPLRU): pages missing in a group are read, and written with it.

use super::{Front, Outgoing, PlantedInCache, Purpose, Store};
use crate::cache::Extent;
use crate::config::{Cache as Config, Padding};
use crate::lists::NONE;
use crate::request::{Request, RequestKind};
use crate::timeline::{Cause, Origin};
use crate::units::Ns;

/// Pages between their read and their write.
#[derive(Debug)]
pub struct Pads {
    /// By page: the operation that reads it + 1, or 0. Empty where nothing is padded.
    reads: Vec<u32>,
    /// How many there are.
    count: u32,
}

impl Pads {
    /// For a store of so many pages.
    pub fn new(config: &Config, pages: u32) -> Self {
        let pages = if config.padding == Padding::Off { 0 } else { pages };
        Pads { reads: vec![0; pages as usize], count: 0 }
    }

    fn begin(&mut self, page: u32, op: u32) {
        let before = std::mem::replace(&mut self.reads[page as usize], op + 1);
        self.count += u32::from(before == 0);
    }

    fn end(&mut self, page: u32) {
        let before = std::mem::replace(&mut self.reads[page as usize], 0);
        self.count -= u32::from(before != 0);
    }
}

impl<B: Store> Front<B> {
    /// A page missing in a group is read.
    pub(super) fn read_padding(&mut self, now: Ns, page: u32) {
        let op = self.new_op(now, Purpose::PadRead, (page, page + 1));
        self.pads.begin(page, op);
        if let Some(shadow) = &mut self.shadow {
            shadow.read_for_padding(page);
        }
        let bytes = u64::from(self.below.page_bytes());
        let read =
            Request { arrival_ns: now, kind: RequestKind::Read, offset: u64::from(page) * bytes, length: bytes, high_priority: false };
        self.below.next_is(Origin::nobody(Cause::Padding));
        self.below.accept(now, op.into(), read);
    }

    /// The page has been read; it is written, unless it has changed below since or turned out to hold no data.
    pub(super) fn write_padding(&mut self, now: Ns, op: u32, page: u32) {
        if self.pads.reads[page as usize] != op + 1 {
            return;
        }
        self.pads.end(page);
        // A trim that waited below, in the host queue, was ahead of the read.
        if !self.below.holds_data(page) {
            return;
        }
        if let Some(shadow) = &mut self.shadow {
            shadow.written_back(page);
        }
        self.stats.padded_pages += 1;
        self.outgoing.push(Outgoing { page, extent: Extent::Whole, transit: NONE });
        self.send(now, false, Purpose::Destage(NONE));
    }

    /// These pages change below: what was read of them for padding is old.
    #[inline]
    pub(super) fn stop_padding(&mut self, (first, end): (u32, u32)) {
        if self.pads.count > 0 && !self.has(PlantedInCache::KeepsPadding) {
            (first..end).for_each(|page| self.pads.end(page));
        }
    }
}
