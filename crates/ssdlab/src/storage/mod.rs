//! What the host talks to: a drive, an array of them, and the caches in front.
//!
//! | file | what is there |
//! |---|---|
//! | `store` | the one interface that a drive, an array and a cache have in common |
//! | `drive` | a drive as a store |
//! | `front` | a cache in front of a store |

mod drive;
mod front;
mod store;

pub use store::Store;

use crate::cache::CustomEviction;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::ftl::Ftl;
use crate::gc::victim::CustomVictim;
use crate::request::Request;
use crate::rng::Rng;
use crate::ssd::Ssd;
use crate::stats::{CacheStats, Completion};
use crate::units::Ns;
use front::Front;

/// What the host talks to.
pub enum Storage {
    /// A drive.
    Drive(Box<Ssd>),
    /// A drive behind a cache.
    Cached(Box<Front<Ssd>>),
}

/// Calls the same of whichever store it is.
macro_rules! each {
    ($storage:expr, $store:ident => $call:expr) => {
        match $storage {
            Storage::Drive($store) => $call,
            Storage::Cached($store) => $call,
        }
    };
}

impl Storage {
    /// Storage as configured, of drives in the states `ftls`, one for each drive.
    pub fn new(config: &Config, ftls: Vec<Ftl>, seed: u64) -> Self {
        assert_eq!(ftls.len(), config.array.drives() as usize, "a state for each drive");
        let mut drives = ftls.into_iter().zip(0..).map(|(ftl, drive)| Ssd::new(config, ftl, drive_seed(seed, drive)));
        let drive = drives.next().expect("there is a drive");
        if config.cache.is_on() { Storage::Cached(Box::new(Front::new(&config.cache, drive))) } else { Storage::Drive(Box::new(drive)) }
    }

    /// The drives.
    pub fn drives(&self) -> Vec<&Ssd> {
        match self {
            Storage::Drive(drive) => vec![drive],
            Storage::Cached(front) => vec![front.below()],
        }
    }

    /// The drives, to change how they are watched.
    pub fn drives_mut(&mut self) -> Vec<&mut Ssd> {
        match self {
            Storage::Drive(drive) => vec![drive],
            Storage::Cached(front) => vec![front.below_mut()],
        }
    }

    /// What the cache did, or those of all drives together, where there is one.
    pub fn cache_stats(&self) -> Option<CacheStats> {
        match self {
            Storage::Drive(_) => None,
            Storage::Cached(front) => Some(front.stats()),
        }
    }

    /// Checks data as the run goes; with `every_event` also recounts everything after each event.
    pub fn verify(&mut self, every_event: bool) {
        self.drives_mut().into_iter().for_each(|drive| drive.verify(every_event));
        match self {
            Storage::Drive(_) => {}
            Storage::Cached(front) => front.verify(every_event),
        }
    }

    /// Asks a victim policy of the user's own. For before [`Storage::begin`].
    pub fn use_victim_policy(&mut self, custom: &CustomVictim) {
        self.drives_mut().into_iter().for_each(|drive| drive.use_victim_policy(custom));
    }

    /// Asks an eviction policy of the user's own. For before [`Storage::begin`].
    ///
    /// # Errors
    /// [`Error::Config`] if there is no cache.
    pub fn use_eviction_policy(&mut self, custom: &CustomEviction) -> Result<()> {
        match self {
            Storage::Drive(_) => {
                let message = "cache.policy = \"none\": there is no cache for a policy of your own to evict from; set it to \"lru\"";
                return Err(Error::Config(message.into()));
            }
            Storage::Cached(front) => front.use_eviction_policy(custom),
        }
        Ok(())
    }

    /// Why a policy of the user's own could not choose, once it could not.
    #[inline]
    pub fn take_policy_failure(&mut self) -> Option<Error> {
        match self {
            Storage::Drive(drive) => drive.take_policy_failure(),
            Storage::Cached(front) => front.take_policy_failure().or_else(|| front.below_mut().take_policy_failure()),
        }
    }

    /// The watchdog's report: nothing is due although requests are under way.
    pub fn stuck(&self, now: Ns) -> Error {
        let above = match self {
            Storage::Drive(_) => String::new(),
            Storage::Cached(front) => format!("; {}", front.describe()),
        };
        let drives: Vec<String> = self.drives().iter().map(|drive| drive.describe()).collect();
        Error::Simulation(format!(
            "no progress at {now} ns: {}{above}. This is a defect of the simulator: please report it with the configuration and the seed.",
            drives.join("; ")
        ))
    }

    /// Recounts everything that is kept twice.
    ///
    /// # Errors
    /// The first contradiction found, by verify mode as the run went or now.
    pub fn check(&self) -> Result<()> {
        self.drives().into_iter().try_for_each(Ssd::check)?;
        match self {
            Storage::Drive(_) => Ok(()),
            Storage::Cached(front) => front.check(),
        }
    }

    /// See [`Store::begin`].
    pub fn begin(&mut self) {
        each!(self, store => store.begin());
    }

    /// See [`Store::accept`].
    #[inline]
    pub fn accept(&mut self, now: Ns, index: u64, request: Request) {
        each!(self, store => store.accept(now, index, request));
    }

    /// See [`Store::next_event`].
    #[inline]
    pub fn next_event(&self) -> Option<Ns> {
        each!(self, store => store.next_event())
    }

    /// See [`Store::handle_events`].
    #[inline]
    pub fn handle_events(&mut self, now: Ns) {
        each!(self, store => store.handle_events(now));
    }

    /// See [`Store::dispatch`].
    #[inline]
    pub fn dispatch(&mut self, now: Ns) {
        each!(self, store => store.dispatch(now));
    }

    /// See [`Store::drain_completions`].
    #[inline]
    pub fn drain_completions(&mut self, into: &mut Vec<Completion>) {
        each!(self, store => store.drain_completions(into));
    }
}

/// The seed of a drive's own random streams: the run's for the first, so that a single drive is the first of an array.
pub fn drive_seed(seed: u64, drive: u32) -> u64 {
    if drive == 0 { seed } else { Rng::new(seed, &format!("drive/{drive}")).bits() }
}
