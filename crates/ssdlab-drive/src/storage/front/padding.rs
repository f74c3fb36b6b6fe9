//! Padding (BPLRU): pages missing in a group are read, and written with it.

use super::{Front, NO_WRITE, Outgoing, PlantedInCache, Purpose, Store};
use crate::cache::Extent;
use crate::lists::NONE;
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::units::Ns;
use ssdlab_keys::config::{Cache as Config, Padding};
use ssdlab_result::timeline::{Cause, Origin};

/// Pages that are read for padding and not written yet.
#[derive(Debug)]
pub struct Pads {
    /// By page: the request that reads the page, plus 1, or 0. Empty if padding is off.
    reads: Vec<u32>,
    /// Number of pages being read for padding.
    count: u32,
}

impl Pads {
    /// No reads yet, for a store of `pages` pages.
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
    /// Reads a page that is missing in a group, to pad the group.
    pub(super) fn read_padding(&mut self, now: Ns, page: u32) {
        let op = self.new_lower_request(now, Purpose::PadRead, (page, page + 1));
        self.pads.begin(page, op);
        if let Some(shadow) = &mut self.shadow {
            shadow.read_for_padding(page);
        }
        let bytes = u64::from(self.lower.page_bytes());
        let read = Request {
            arrival_ns: now,
            kind: RequestKind::Read,
            offset: u64::from(page) * bytes,
            length: bytes,
            high_priority: false,
            flow: 0,
            handle: None,
        };
        self.lower.set_next_origin(Origin::nobody(Cause::Padding));
        self.lower.accept(now, op.into(), read);
    }

    /// The padding read `op` has ended: writes `page`, unless it has changed at the lower level since or has no data.
    pub(super) fn write_padding(&mut self, now: Ns, op: u32, page: u32) {
        if self.pads.reads[page as usize] != op + 1 {
            return;
        }
        self.pads.end(page);
        // A trim that waited in the host queue of the lower level was executed before the read.
        if !self.lower.holds_data(page) || !self.padding_has_place(page) {
            return;
        }
        if let Some(shadow) = &mut self.shadow {
            shadow.written_back(page);
        }
        self.stats.padded_pages += 1;
        self.outgoing.push(Outgoing { page, extent: Extent::Whole, transit: NONE, first_write: NO_WRITE, handle: None });
        self.send(now, false, Purpose::Destage(NONE));
    }

    /// Pages from the first to before the end change at the lower level: their reads for padding are outdated.
    #[inline]
    pub(super) fn stop_padding(&mut self, (first, end): (u32, u32)) {
        if self.pads.count > 0 && !self.has(PlantedInCache::KeepsPadding) {
            (first..end).for_each(|page| self.pads.end(page));
        }
    }
}
