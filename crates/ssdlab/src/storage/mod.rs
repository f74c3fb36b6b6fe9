//! What the host talks to: a drive, an array of them, and the caches in front.
//!
//! | file | what is there |
//! |---|---|
//! | `store` | the one interface that a drive, an array and a cache have in common |
//! | `drive` | a drive as a store |
//! | `array` | several drives behind one address space, striped, with or without parity |

mod array;
mod drive;
mod store;

pub use array::Array;
#[doc(hidden)]
pub use array::PlantedInArray;
pub use store::{Groups, Store};

use crate::config::{ArrayLevel, Config};
use crate::error::{Error, Result};
use crate::ftl::Ftl;
use crate::gc::victim::CustomVictim;
use crate::request::Request;
use crate::rng::Rng;
use crate::ssd::Ssd;
use crate::stats::Completion;
use crate::units::Ns;

/// What the host talks to.
pub struct Storage {
    kind: Kind,
}

/// There is one of these in a run, so that its size does not matter.
#[expect(clippy::large_enum_variant, reason = "there is one in a run, and a single drive is reached without a pointer")]
enum Kind {
    Drive(Ssd),
    Array(Box<Array<Ssd>>),
}

/// Calls a method of what there is.
macro_rules! each {
    ($storage:expr, $store:ident => $call:expr) => {
        match $storage {
            Kind::Drive($store) => $call,
            Kind::Array($store) => $call,
        }
    };
}

impl Storage {
    /// Storage as configured, of drives in the states `ftls`, one for each drive.
    pub fn new(config: &Config, ftls: Vec<Ftl>, seed: u64) -> Self {
        assert_eq!(ftls.len(), config.array.drives() as usize, "a state for each drive");
        let mut drives = ftls.into_iter().zip(0..).map(|(ftl, drive)| Ssd::new(config, ftl, drive_seed(seed, drive)));
        let kind = if config.array.level == ArrayLevel::None {
            Kind::Drive(drives.next().expect("there is a drive"))
        } else {
            Kind::Array(Box::new(Array::new(config, drives.collect())))
        };
        Storage { kind }
    }

    /// The drives.
    pub fn drives(&self) -> std::slice::Iter<'_, Ssd> {
        match &self.kind {
            Kind::Drive(drive) => std::slice::from_ref(drive).iter(),
            Kind::Array(array) => array.drives().iter(),
        }
    }

    /// The drives, to change how they are watched.
    pub fn drives_mut(&mut self) -> std::slice::IterMut<'_, Ssd> {
        match &mut self.kind {
            Kind::Drive(drive) => std::slice::from_mut(drive).iter_mut(),
            Kind::Array(array) => array.drives_mut().iter_mut(),
        }
    }

    /// The array of the drives, if they are one.
    pub fn array(&self) -> Option<&Array<Ssd>> {
        match &self.kind {
            Kind::Drive(_) => None,
            Kind::Array(array) => Some(array),
        }
    }

    /// The same, to plant defects in it.
    #[doc(hidden)]
    pub fn array_mut(&mut self) -> Option<&mut Array<Ssd>> {
        match &mut self.kind {
            Kind::Drive(_) => None,
            Kind::Array(array) => Some(array),
        }
    }

    /// Checks data as the run goes; with `every_event` also recounts everything after each event.
    pub fn verify(&mut self, every_event: bool) {
        self.drives_mut().for_each(|drive| drive.verify(every_event));
        if let Kind::Array(array) = &mut self.kind {
            array.verify(every_event);
        }
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
        let stuck = self.drives().find(|drive| drive.outstanding() > 0).or(self.drives().next());
        let report = stuck.expect("there is a drive").stuck(now);
        match &self.kind {
            Kind::Drive(_) => report,
            Kind::Array(array) => Error::Simulation(format!("{report} That was one drive; {}.", array.describe())),
        }
    }

    /// Recounts everything that is kept twice.
    ///
    /// # Errors
    /// The first contradiction found, by verify mode as the run went or now.
    pub fn check(&self) -> Result<()> {
        self.drives().try_for_each(Ssd::check)?;
        self.array().map_or(Ok(()), Array::check)
    }

    /// See [`Store::begin`].
    pub fn begin(&mut self) {
        each!(&mut self.kind, store => store.begin());
    }

    /// See [`Store::accept`].
    #[inline]
    pub fn accept(&mut self, now: Ns, index: u64, request: Request) {
        each!(&mut self.kind, store => store.accept(now, index, request));
    }

    /// See [`Store::next_event`].
    #[inline]
    pub fn next_event(&self) -> Option<Ns> {
        each!(&self.kind, store => store.next_event())
    }

    /// See [`Store::handle_events`].
    #[inline]
    pub fn handle_events(&mut self, now: Ns) {
        each!(&mut self.kind, store => store.handle_events(now));
    }

    /// See [`Store::dispatch`].
    #[inline]
    pub fn dispatch(&mut self, now: Ns) {
        each!(&mut self.kind, store => store.dispatch(now));
    }

    /// See [`Store::drain_completions`].
    #[inline]
    pub fn drain_completions(&mut self, into: &mut Vec<Completion>) {
        each!(&mut self.kind, store => store.drain_completions(into));
    }
}

/// The seed of a drive's own random streams: the run's for the first, so that a single drive is the first of an array.
pub fn drive_seed(seed: u64, drive: u32) -> u64 {
    if drive == 0 { seed } else { Rng::new(seed, &format!("drive/{drive}")).bits() }
}
