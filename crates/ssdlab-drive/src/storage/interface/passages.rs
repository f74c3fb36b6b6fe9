//! When commands went on to the lower level and came back from it: to explain the slowest requests.

use ssdlab_base::units::Ns;
use ssdlab_keys::memory::{self, Exhausted};
use ssdlab_result::slowest::Passage;
use ssdlab_result::stats::Times;

/// The passages of a host interface's commands.
#[derive(Debug, Default)]
pub(super) struct Passages {
    /// By place of the command.
    under_way: Vec<Passage>,
    /// Of commands that have completed, in that order.
    pub(super) over: Vec<Passage>,
}

impl Passages {
    /// Reserves memory for commands at this many places.
    ///
    /// # Errors
    /// [`Exhausted`] if there is not enough memory.
    pub(super) fn make_room(&mut self, places: usize) -> Result<(), Exhausted> {
        let more = places.saturating_sub(self.under_way.len());
        memory::make_room(&mut self.under_way, more)
    }

    /// A command goes on to the lower level, after `before`.
    pub(super) fn delivered(&mut self, now: Ns, place: u32, before: &Times) {
        let place = place as usize;
        if self.under_way.len() <= place {
            self.under_way.resize(place + 1, Passage::default());
        }
        self.under_way[place] = Passage { delivered: now, before: *before, ..Passage::default() };
    }

    /// The lower level has completed a command, which took `inside` there.
    pub(super) fn answered(&mut self, now: Ns, place: u32, inside: &Times) {
        let passage = &mut self.under_way[place as usize];
        (passage.answered, passage.inside) = (now, *inside);
    }

    /// A command has completed.
    pub(super) fn completed(&mut self, place: u32) {
        self.over.push(self.under_way[place as usize]);
    }
}
