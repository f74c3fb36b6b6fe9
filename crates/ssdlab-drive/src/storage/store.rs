//! The common interface of a drive, an array of drives and a cache, so that they can be stacked.

use super::places::Places;
use crate::cache::{Groups, Targets};
use crate::views::TurnNews;
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_base::units::{Ns, PoolId};
use ssdlab_keys::memory::Exhausted;
use ssdlab_result::stats::Completion;
use ssdlab_result::timeline::Origin;

/// Callback for a mapping unit whose newest data a power failure would lose now: the unit, and the number of the oldest host write of it
/// that has completed and would be lost. `None`: only writes that have not completed.
pub type EachVolatile<'a> = dyn FnMut(u32, Option<u64>) + 'a;

/// A level of storage that takes requests and completes them.
///
/// At each instant the caller calls [`Store::handle_events`], then [`Store::accept`] any number of times, then [`Store::dispatch`]; each
/// of them may produce completions. Requests to the same page take effect in the order of their acceptance: a read returns the data of the
/// last write accepted before it, even if that write is still in flight.
pub trait Store: Targets + Places {
    /// Begins the simulation of the store at time 0.
    fn begin(&mut self);
    /// Reserves memory for requests of `pages` pages.
    ///
    /// # Errors
    /// [`Exhausted`]: nothing has changed, but accepting the requests might exhaust memory and end the process.
    fn make_room(&mut self, pages: usize) -> Result<(), Exhausted>;
    /// Announces a request that will arrive soon, so that data needed to accept it may be prefetched. Has no visible effect.
    fn foresee(&self, _request: &Request) {}
    /// Accepts a request that arrives now, inside the exported range. Its completion carries `index`.
    fn accept(&mut self, now: Ns, index: u64, request: Request);
    /// Accepts a write of some sectors of one page that are not consecutive; `request` is the whole page. The other sectors keep their
    /// content.
    fn accept_scattered(&mut self, now: Ns, index: u64, request: Request);
    /// Sets the origin of the next request, for the timelines of the drives. The default is the host request with the same number.
    fn set_next_origin(&mut self, _origin: Origin) {}
    /// Time of the next event: never in the past; the present if there is more to do at this instant. `None` without an event.
    fn next_event(&self) -> Option<Ns>;
    /// Handles all events due at `now`.
    fn handle_events(&mut self, now: Ns);
    /// Starts the operations that can start now.
    fn dispatch(&mut self, now: Ns);
    /// Requests have completed since the last call of [`Store::drain_completions`].
    fn has_completed(&self) -> bool;
    /// Moves the completions since the last call to `into`, behind its content.
    fn drain_completions(&mut self, into: &mut Vec<Completion>);

    /// A power failure would lose data of writes that have completed, unless a flush came after them.
    fn is_volatile(&self) -> bool {
        false
    }
    /// Size of a page, bytes.
    fn page_bytes(&self) -> u32;
    /// Number of addressable pages.
    fn exported_pages(&self) -> u32;
}

/// Calls back with the units of a write that has not completed; does nothing for other requests.
pub fn each_written(request: &Request, unit_bytes: u32, each: &mut EachVolatile<'_>) {
    if request.kind == RequestKind::Write {
        let unit = u64::from(unit_bytes);
        let units = request.offset / unit..(request.offset + request.length).div_ceil(unit);
        units.for_each(|unit| each(unit as u32, None));
    }
}

/// A store in front of another store, which decides on the target of each page.
pub(super) trait Layer {
    type Lower: Targets;

    /// The store behind this one.
    fn lower(&self) -> &Self::Lower;
    /// Mutable access to the store behind this one.
    fn lower_mut(&mut self) -> &mut Self::Lower;
    /// Whether a page has been written and not trimmed since; `None` if only the lower store knows.
    fn holds_here(&self, page: u32) -> Option<bool>;
}

impl<L: Layer> Targets for L {
    fn targets(&self) -> u32 {
        self.lower().targets()
    }

    fn target_of(&self, page: u32) -> Option<u32> {
        self.lower().target_of(page)
    }

    fn targets_are_fixed(&self) -> bool {
        self.lower().targets_are_fixed()
    }

    fn in_gc(&self, target: u32, soon: u32) -> bool {
        self.lower().in_gc(target, soon)
    }

    fn gc_ahead(&self, page: u32) -> Option<Ns> {
        if self.holds_here(page).is_some() { None } else { self.lower().gc_ahead(page) }
    }

    fn take_turn_news(&mut self, into: &mut Vec<TurnNews>) {
        self.lower_mut().take_turn_news(into);
    }

    fn give_turn(&mut self, now: Ns, pool: PoolId) {
        self.lower_mut().give_turn(now, pool);
    }

    fn jobs_in_turn(&self, each: &mut dyn FnMut(u32, PoolId, bool)) {
        self.lower().jobs_in_turn(each);
    }

    fn holds_data(&self, page: u32) -> bool {
        self.holds_here(page).unwrap_or_else(|| self.lower().holds_data(page))
    }

    fn groups(&self) -> Groups {
        self.lower().groups()
    }
}
