//! The one interface that a drive, an array of drives and a cache have in common, so that each can stand on each.

use crate::cache::Homes;
use crate::memory::Exhausted;
use crate::request::Request;
use crate::stats::Completion;
use crate::timeline::Origin;
use crate::units::Ns;

/// Something that takes requests and completes them.
///
/// At an instant its user calls [`Store::handle_events`], then [`Store::accept`] any number of times, then [`Store::dispatch`]; completions may
/// appear in each of them. Requests that touch a common page take effect in the order in which they were accepted: a read returns what the
/// last write accepted before it wrote, even if that is still under way.
pub trait Store: Homes {
    /// Begins at time 0.
    fn begin(&mut self);
    /// Sees to it that requests for so many pages can be accepted without growing.
    ///
    /// # Errors
    /// [`Exhausted`]: nothing has changed, but the requests might end the process.
    fn make_room(&mut self, pages: usize) -> Result<(), Exhausted>;
    /// A request will arrive soon: what is needed to take it in may be fetched from memory. Changes nothing that can be seen.
    fn foresee(&self, _request: &Request) {}
    /// Takes in a request that arrives now, inside the exported range. `index` is for its completion.
    fn accept(&mut self, now: Ns, index: u64, request: Request);
    /// The same for a write of sectors of one page that do not follow each other; `request` is the page. What is not written is kept.
    fn accept_scattered(&mut self, now: Ns, index: u64, request: Request);
    /// The request that is taken in next is this one's: for the timelines of the drives below. Without a word it is the host's, of the same number.
    fn next_is(&mut self, _origin: Origin) {}
    /// When the next event is due. Never before the present; at the present, if there is more to do at this instant.
    fn next_event(&self) -> Option<Ns>;
    /// Handles all events due at `now`.
    fn handle_events(&mut self, now: Ns);
    /// Lets begin what can begin now.
    fn dispatch(&mut self, now: Ns);
    /// Moves the completions since the last call to `into`.
    fn drain_completions(&mut self, into: &mut Vec<Completion>);

    /// User bytes of a page.
    fn page_bytes(&self) -> u32;
    /// Pages that can be addressed.
    fn exported_pages(&self) -> u32;
}
