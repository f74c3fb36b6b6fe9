//! Observation of the levels of a storage: checks, statistics, warm-up, user-defined policies. No method here is called per flash
//! operation, so that levels are visited as trait objects.

use super::store::EachVolatile;
use crate::cache::CustomEviction;
use crate::ssd::Ssd;
use ssdlab_base::error::Error;
use ssdlab_base::units::Ns;
use ssdlab_result::slowest::Passage;
use ssdlab_result::stats::{ArrayResult, BufferStats, CacheStats, InterfaceStats, MappingStats};

/// Statistics of all levels except the drives; levels of one kind are joined.
#[derive(Debug, Default)]
pub struct LevelStats {
    /// Statistics of the caches; `None` without a cache.
    pub cache: Option<CacheStats>,
    /// Statistics of the write buffers; `None` without a write buffer.
    pub buffer: Option<BufferStats>,
    /// Statistics of the mapping caches; `None` where mapping tables are wholly in memory.
    pub mapping: Option<MappingStats>,
    /// Statistics of the host interfaces; `None` where they take no time and have no limits.
    pub interface: Option<InterfaceStats>,
    /// Statistics of the array; `None` for a single drive.
    pub array: Option<ArrayResult>,
    /// Commands that drives were sent.
    pub commands: u64,
    /// Bytes that these read and wrote.
    pub link_bytes: u64,
}

/// Joins the statistics of a level, if it has any, to those of other levels of its kind.
pub(super) fn add<T>(to: &mut Option<T>, stats: Option<T>, joined: fn(T, T) -> T) {
    *to = match (to.take(), stats) {
        (Some(sum), Some(stats)) => Some(joined(sum, stats)),
        (sum, stats) => sum.or(stats),
    };
}

/// A level of a storage that can be observed. The default methods do nothing, for levels without the feature.
pub trait Observed: 'static {
    /// Describes outstanding requests, for the watchdog's report; `None` if the level keeps none.
    fn describe(&self) -> Option<String>;

    /// Recounts the redundant state of the level.
    ///
    /// # Errors
    /// The first contradiction found, by verify mode during the run or now.
    fn check(&self) -> Result<(), String>;

    /// Turns verify mode on: checks data during the run and, with `every_event`, recounts the redundant state after each event.
    fn verify(&mut self, every_event: bool);

    /// Nothing is outstanding or under way in the level, and neither volatile memory nor a write buffer of it holds data.
    fn is_at_rest(&self) -> bool;

    /// A warm-up begins (`true`, before the first request) or ends: minima and maxima start again, and response times count the
    /// requests that arrive from then on.
    fn set_warming_up(&mut self, _on: bool) {}

    /// Makes a write buffer program all that it holds, without waiting for full programs.
    fn program_all(&mut self, _now: Ns) {}

    /// Calls back with the units of this level whose newest data a power failure would lose now. An array does not support it.
    fn volatile_units(&self, _each: &mut EachVolatile<'_>) {}

    /// Joins the statistics of the level until `now` to `_to`.
    fn add_stats(&self, _now: Ns, _to: &mut LevelStats) {}

    /// Keeps the passages of commands from now on, if the level is a host interface. Call it before the first request.
    fn keep_passages(&mut self) {}

    /// Moves the passages of commands that have completed to `_into`, in the order of their completions.
    fn take_passages(&mut self, _into: &mut Vec<Passage>) {}

    /// Number of dirty pages, if the level is a cache.
    fn dirty_pages(&self) -> Option<u64> {
        None
    }

    /// Uses a user-defined eviction policy. Call it before the first request.
    fn use_eviction_policy(&mut self, _custom: &CustomEviction) {}

    /// Takes the failure of a user-defined policy of this level, if there is one.
    #[inline]
    fn own_policy_failure(&mut self) -> Option<Error> {
        None
    }

    /// The drive, if this level is one.
    fn drive(&self) -> Option<&Ssd> {
        None
    }

    /// Mutable access to the drive, if this level is one.
    fn drive_mut(&mut self) -> Option<&mut Ssd> {
        None
    }
}

/// A level together with the levels below it.
pub trait Levels: Observed {
    /// Visits all levels, the lowest first.
    fn each_level<'a>(&'a self, see: &mut dyn FnMut(&'a dyn Observed));

    /// Visits all levels with mutable access, the lowest first.
    fn each_level_mut(&mut self, see: &mut dyn FnMut(&mut dyn Observed));

    /// Takes the failure of a user-defined policy of any level, if there is one. Called in each round, so not by a visitor.
    fn take_policy_failure(&mut self) -> Option<Error>;
}

/// Implements [`Levels`] for a level with one level below, the field `$lower`.
macro_rules! above_one_level {
    ($level:ty, $lower:ident $(, $generic:ident)?) => {
        impl $(<$generic: Store + Levels>)? Levels for $level {
            fn each_level<'a>(&'a self, see: &mut dyn FnMut(&'a dyn Observed)) {
                self.$lower.each_level(see);
                see(self);
            }

            fn each_level_mut(&mut self, see: &mut dyn FnMut(&mut dyn Observed)) {
                self.$lower.each_level_mut(see);
                see(self);
            }

            #[inline]
            fn take_policy_failure(&mut self) -> Option<ssdlab_base::error::Error> {
                self.own_policy_failure().or_else(|| self.$lower.take_policy_failure())
            }
        }
    };
}
pub(super) use above_one_level;

impl Observed for Ssd {
    fn describe(&self) -> Option<String> {
        Some(Ssd::describe(self))
    }

    fn check(&self) -> Result<(), String> {
        Ssd::check(self)
    }

    fn verify(&mut self, every_event: bool) {
        Ssd::verify(self, every_event);
    }

    fn is_at_rest(&self) -> bool {
        Ssd::is_at_rest(self)
    }

    fn set_warming_up(&mut self, on: bool) {
        if on { self.warm_up() } else { self.end_warm_up() }
    }

    #[inline]
    fn own_policy_failure(&mut self) -> Option<Error> {
        Ssd::take_policy_failure(self)
    }

    fn drive(&self) -> Option<&Ssd> {
        Some(self)
    }

    fn drive_mut(&mut self) -> Option<&mut Ssd> {
        Some(self)
    }
}

impl Levels for Ssd {
    fn each_level<'a>(&'a self, see: &mut dyn FnMut(&'a dyn Observed)) {
        see(self);
    }

    fn each_level_mut(&mut self, see: &mut dyn FnMut(&mut dyn Observed)) {
        see(self);
    }

    #[inline]
    fn take_policy_failure(&mut self) -> Option<Error> {
        self.own_policy_failure()
    }
}
