//! What the host talks to: a drive, an array of them, and the caches in front.
//!
//! | file | what is there |
//! |---|---|
//! | `store` | the one interface that a drive, an array and a cache have in common |
//! | `drive` | a drive as a store |

mod drive;
mod store;

pub use store::{Groups, Store};

use std::sync::Arc;

use crate::config::Config;
use crate::error::{Error, Result};
use crate::ftl::Ftl;
use crate::gc::victim::CustomVictim;
use crate::request::Request;
use crate::rng::Rng;
use crate::ssd::Ssd;
use crate::stats::Completion;
use crate::timeline::{Budget, Recorder};
use crate::units::Ns;

/// What the host talks to.
pub struct Storage {
    drive: Ssd,
}

impl Storage {
    /// Storage as configured, of drives in the states `ftls`, one for each drive.
    pub fn new(config: &Config, ftls: Vec<Ftl>, seed: u64) -> Self {
        assert_eq!(ftls.len(), config.array.drives() as usize, "a state for each drive");
        let mut drives = ftls.into_iter().zip(0..).map(|(ftl, drive)| Ssd::new(config, ftl, drive_seed(seed, drive)));
        Storage { drive: drives.next().expect("there is a drive") }
    }

    /// The drives.
    pub fn drives(&self) -> impl Iterator<Item = &Ssd> {
        std::iter::once(&self.drive)
    }

    /// The drives, to change how they are watched.
    pub fn drives_mut(&mut self) -> impl Iterator<Item = &mut Ssd> {
        std::iter::once(&mut self.drive)
    }

    /// Checks data as the run goes; with `every_event` also recounts everything after each event.
    pub fn verify(&mut self, every_event: bool) {
        self.drives_mut().for_each(|drive| drive.verify(every_event));
    }

    /// Records what the drives do, for a timeline. For before [`Store::begin`].
    pub fn keep_timeline(&mut self, budget: &Arc<Budget>) {
        self.drives_mut().zip(0..).for_each(|(drive, number)| drive.keep_timeline(number, budget));
    }

    /// What was recorded of each drive.
    pub fn take_timelines(&mut self) -> Vec<Box<Recorder>> {
        self.drives_mut().filter_map(Ssd::take_timeline).collect()
    }

    /// Asks a victim policy of the user's own. For before [`Store::begin`].
    pub fn use_victim_policy(&mut self, custom: &CustomVictim) {
        self.drives_mut().for_each(|drive| drive.use_victim_policy(custom));
    }

    /// Why a policy of the user's own could not choose, once it could not.
    #[inline]
    pub fn take_policy_failure(&mut self) -> Option<Error> {
        self.drives_mut().find_map(Ssd::take_policy_failure)
    }

    /// The watchdog's report: nothing is due although requests are under way.
    pub fn stuck(&self, now: Ns) -> Error {
        self.drive.stuck(now)
    }

    /// Recounts everything that is kept twice.
    ///
    /// # Errors
    /// The first contradiction found, by verify mode as the run went or now.
    pub fn check(&self) -> Result<()> {
        self.drives().try_for_each(Ssd::check)
    }

    /// See [`Store::begin`].
    pub fn begin(&mut self) {
        self.drive.begin();
    }

    /// See [`Store::accept`].
    #[inline]
    pub fn accept(&mut self, now: Ns, index: u64, request: Request) {
        self.drive.accept(now, index, request);
    }

    /// See [`Store::next_event`].
    #[inline]
    pub fn next_event(&self) -> Option<Ns> {
        self.drive.next_event()
    }

    /// See [`Store::handle_events`].
    #[inline]
    pub fn handle_events(&mut self, now: Ns) {
        self.drive.handle_events(now);
    }

    /// See [`Store::dispatch`].
    #[inline]
    pub fn dispatch(&mut self, now: Ns) {
        self.drive.dispatch(now);
    }

    /// See [`Store::drain_completions`].
    #[inline]
    pub fn drain_completions(&mut self, into: &mut Vec<Completion>) {
        self.drive.drain_completions(into);
    }
}

/// The seed of a drive's own random streams: the run's for the first, so that a single drive is the first of an array.
pub fn drive_seed(seed: u64, drive: u32) -> u64 {
    if drive == 0 { seed } else { Rng::new(seed, &format!("drive/{drive}")).bits() }
}
