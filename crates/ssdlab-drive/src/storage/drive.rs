//! A drive as a store: its targets are its chips.

use super::Store;
use crate::cache::{Groups, Targets};
use crate::ssd::Ssd;
use crate::views::TurnNews;
use ssdlab_base::request::Request;
use ssdlab_base::units::{ChipId, Lpn, Ns, PoolId};
use ssdlab_keys::memory::Exhausted;
use ssdlab_result::stats::Completion;
use ssdlab_result::timeline::Origin;

impl Store for Ssd {
    fn begin(&mut self) {
        Ssd::begin(self);
    }

    fn make_room(&mut self, pages: usize) -> Result<(), Exhausted> {
        Ssd::make_room(self, pages)
    }

    #[inline]
    fn foresee(&self, request: &Request) {
        Ssd::foresee(self, request);
    }

    #[inline]
    fn accept(&mut self, now: Ns, index: u64, request: Request) {
        Ssd::accept(self, now, index, request);
    }

    fn accept_scattered(&mut self, now: Ns, index: u64, request: Request) {
        Ssd::accept_scattered(self, now, index, request);
    }

    #[inline]
    fn set_next_origin(&mut self, origin: Origin) {
        self.next_request_is(origin);
    }

    #[inline]
    fn next_event(&self) -> Option<Ns> {
        Ssd::next_event(self)
    }

    #[inline]
    fn handle_events(&mut self, now: Ns) {
        Ssd::handle_events(self, now);
    }

    #[inline]
    fn dispatch(&mut self, now: Ns) {
        Ssd::dispatch(self, now);
    }

    #[inline]
    fn has_completed(&self) -> bool {
        Ssd::has_completed(self)
    }

    #[inline]
    fn drain_completions(&mut self, into: &mut Vec<Completion>) {
        Ssd::drain_completions(self, into);
    }

    fn page_bytes(&self) -> u32 {
        self.ftl().geometry().unit_bytes
    }

    fn exported_pages(&self) -> u32 {
        self.ftl().geometry().exported_units
    }
}

impl Targets for Ssd {
    fn targets(&self) -> u32 {
        self.ftl().geometry().chips
    }

    #[inline]
    fn target_of(&self, page: u32) -> Option<u32> {
        self.chip_of_page(Lpn(page)).map(|chip| chip.0)
    }

    fn targets_are_fixed(&self) -> bool {
        !self.allocates_dynamically()
    }

    #[inline]
    fn in_gc(&self, target: u32, soon: u32) -> bool {
        self.chip_in_gc(ChipId(target), soon)
    }

    fn gc_ahead(&self, page: u32) -> Option<Ns> {
        Ssd::gc_ahead(self, Lpn(page))
    }

    fn take_turn_news(&mut self, into: &mut Vec<TurnNews>) {
        Ssd::take_turn_news(self, into);
    }

    fn give_turn(&mut self, now: Ns, pool: PoolId) {
        Ssd::give_turn(self, now, pool);
    }

    fn jobs_in_turn(&self, each: &mut dyn FnMut(u32, PoolId, bool)) {
        Ssd::jobs_in_turn(self, each);
    }

    fn holds_data(&self, page: u32) -> bool {
        self.has_data(Lpn(page))
    }

    fn groups(&self) -> Groups {
        let geometry = self.ftl().geometry();
        Groups { pages: geometry.units_per_block.get(), run: geometry.units_per_flash_page, places: geometry.pools.count.get() }
    }
}
