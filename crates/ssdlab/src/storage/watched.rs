//! Statistics, checks and user-defined policies of all levels of a storage: drives, arrays, caches.

use super::array::Array;
use super::buffer::Buffer;
use super::front::Front;
use super::interface::Interface;
use super::mapping::MappingCache;
use super::store::{EachVolatile, Layer, Store};
use crate::cache::CustomEviction;
use crate::error::{Error, Result};
use crate::ssd::Ssd;
use crate::stats::{ArrayResult, BufferStats, CacheStats, InterfaceStats, MappingStats};
use crate::units::Ns;

/// A store that can be observed.
pub trait Watched {
    /// The drives in it, in their order.
    fn drives(&self) -> Vec<&Ssd>;
    /// The drives, to change how they are observed.
    fn drives_mut(&mut self) -> Vec<&mut Ssd>;
    /// Verify mode: checks data during the run; with `every_event` it also recounts the redundant state after each event.
    fn verify(&mut self, every_event: bool);
    /// Recounts the redundant state.
    ///
    /// # Errors
    /// The first contradiction found, by verify mode during the run or now.
    fn check(&self) -> Result<()>;
    /// Outstanding requests, for the watchdog's report: the lowest level first.
    fn describe(&self) -> String;
    /// Statistics of its caches together; `None` without a cache.
    fn cache_stats(&self) -> Option<CacheStats> {
        None
    }
    /// Statistics of its write buffers together; `None` without one.
    fn buffer_stats(&self) -> Option<BufferStats> {
        None
    }
    /// Statistics of its mapping caches together; `None` where tables are in memory.
    fn mapping_stats(&self) -> Option<MappingStats> {
        None
    }
    /// Statistics of its host interfaces together until `now`; `None` where they take no time and have no limits.
    fn interface_stats(&self, _now: Ns) -> Option<InterfaceStats> {
        None
    }
    /// Statistics of its array; `None` without one.
    fn array_result(&self) -> Option<&ArrayResult> {
        None
    }
    /// Calls back with the units whose newest data a power failure would lose now. Not known of an array.
    fn volatile_units(&self, _each: &mut EachVolatile<'_>) {}
    /// All that its write buffers hold is to be programmed, without waiting for more.
    fn program_all(&mut self, now: Ns);
    /// Nothing is outstanding or under way in it, and no data are in volatile memory or a write buffer.
    fn is_at_rest(&self) -> bool;
    /// The run begins with a warm-up. Call it before the first request.
    fn warm_up(&mut self);
    /// The warm-up ends: minima and maxima start again, and response times count the requests that arrive from now on.
    fn end_warm_up(&mut self);
    /// Uses a user-defined eviction policy in its caches. Call it before the first request.
    fn use_eviction_policy(&mut self, _custom: &CustomEviction) {}
    /// The failure of a user-defined policy, once there is one.
    fn take_policy_failure(&mut self) -> Option<Error>;
}

/// Methods that do what the same method of the level below does.
macro_rules! as_below {
    ($lower:ident, $lower_mut:ident: $($method:ident)*) => { $(as_below!(@ $lower $lower_mut $method);)* };
    (@ $lower:ident $lower_mut:ident drives) => {
        fn drives(&self) -> Vec<&Ssd> {
            self.$lower().drives()
        }

        fn drives_mut(&mut self) -> Vec<&mut Ssd> {
            self.$lower_mut().drives_mut()
        }
    };
    (@ $lower:ident $lower_mut:ident cache) => {
        fn cache_stats(&self) -> Option<CacheStats> {
            self.$lower().cache_stats()
        }

        fn use_eviction_policy(&mut self, custom: &CustomEviction) {
            self.$lower_mut().use_eviction_policy(custom);
        }
    };
    (@ $lower:ident $lower_mut:ident failure) => {
        #[inline]
        fn take_policy_failure(&mut self) -> Option<Error> {
            self.$lower_mut().take_policy_failure()
        }
    };
    (@ $lower:ident $lower_mut:ident buffer) => {
        fn buffer_stats(&self) -> Option<BufferStats> {
            self.$lower().buffer_stats()
        }
    };
    (@ $lower:ident $lower_mut:ident mapping) => {
        fn mapping_stats(&self) -> Option<MappingStats> {
            self.$lower().mapping_stats()
        }
    };
    (@ $lower:ident $lower_mut:ident interface) => {
        fn interface_stats(&self, now: Ns) -> Option<InterfaceStats> {
            self.$lower().interface_stats(now)
        }
    };
    (@ $lower:ident $lower_mut:ident array) => {
        fn array_result(&self) -> Option<&ArrayResult> {
            self.$lower().array_result()
        }
    };
    (@ $lower:ident $lower_mut:ident warm_up) => {
        fn warm_up(&mut self) {
            self.$lower_mut().warm_up();
        }

        fn end_warm_up(&mut self) {
            self.$lower_mut().end_warm_up();
        }
    };
}

impl Watched for Ssd {
    fn drives(&self) -> Vec<&Ssd> {
        vec![self]
    }

    fn drives_mut(&mut self) -> Vec<&mut Ssd> {
        vec![self]
    }

    fn verify(&mut self, every_event: bool) {
        Ssd::verify(self, every_event);
    }

    fn check(&self) -> Result<()> {
        Ssd::check(self)
    }

    fn describe(&self) -> String {
        Ssd::describe(self)
    }

    fn program_all(&mut self, _now: Ns) {}

    fn is_at_rest(&self) -> bool {
        Ssd::is_at_rest(self)
    }

    fn warm_up(&mut self) {
        Ssd::warm_up(self);
    }

    fn end_warm_up(&mut self) {
        Ssd::end_warm_up(self);
    }

    #[inline]
    fn take_policy_failure(&mut self) -> Option<Error> {
        Ssd::take_policy_failure(self)
    }
}

impl<B: Store + Watched> Watched for Front<B> {
    as_below!(lower, lower_mut: drives buffer mapping interface array);

    fn verify(&mut self, every_event: bool) {
        self.lower_mut().verify(every_event);
        self.track_versions(every_event);
    }

    fn check(&self) -> Result<()> {
        self.lower().check()?;
        self.check_cache()
    }

    fn volatile_units(&self, each: &mut EachVolatile<'_>) {
        self.own_volatile_units(each);
        self.lower().volatile_units(each);
    }

    fn program_all(&mut self, now: Ns) {
        self.lower_mut().program_all(now);
    }

    fn is_at_rest(&self) -> bool {
        self.is_empty() && self.lower().is_at_rest()
    }

    fn describe(&self) -> String {
        format!("{}; {}", self.lower().describe(), self.describe_cache())
    }

    fn cache_stats(&self) -> Option<CacheStats> {
        Some(self.stats())
    }

    fn warm_up(&mut self) {
        self.set_warming_up(true);
        self.lower_mut().warm_up();
    }

    fn end_warm_up(&mut self) {
        self.set_warming_up(false);
        self.lower_mut().end_warm_up();
    }

    fn use_eviction_policy(&mut self, custom: &CustomEviction) {
        self.use_custom_policy(custom);
    }

    #[inline]
    fn take_policy_failure(&mut self) -> Option<Error> {
        self.take_eviction_failure().or_else(|| self.lower_mut().take_policy_failure())
    }
}

impl<B: Store + Watched> Watched for Interface<B> {
    as_below!(lower, lower_mut: drives cache failure buffer mapping array warm_up);

    fn verify(&mut self, every_event: bool) {
        self.lower_mut().verify(every_event);
        self.check_every_event(every_event);
    }

    fn check(&self) -> Result<()> {
        self.lower().check()?;
        self.check_commands()
    }

    fn volatile_units(&self, each: &mut EachVolatile<'_>) {
        self.outside_units(each);
        self.lower().volatile_units(each);
    }

    fn program_all(&mut self, now: Ns) {
        self.lower_mut().program_all(now);
    }

    fn is_at_rest(&self) -> bool {
        self.is_empty() && self.lower().is_at_rest()
    }

    fn describe(&self) -> String {
        [Some(self.lower().describe()), self.describe_commands()].into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    fn interface_stats(&self, now: Ns) -> Option<InterfaceStats> {
        self.stats(now)
    }
}

impl Watched for Buffer {
    as_below!(drive, drive_mut: drives failure mapping warm_up);

    fn verify(&mut self, every_event: bool) {
        Watched::verify(self.drive_mut(), every_event);
        self.track_versions(every_event);
    }

    fn check(&self) -> Result<()> {
        Watched::check(self.drive())?;
        self.check_buffer()
    }

    fn volatile_units(&self, each: &mut EachVolatile<'_>) {
        self.own_volatile_units(each);
    }

    fn program_all(&mut self, now: Ns) {
        Buffer::program_all(self, now);
    }

    fn is_at_rest(&self) -> bool {
        self.is_empty() && self.drive().is_at_rest()
    }

    fn describe(&self) -> String {
        [Some(Watched::describe(self.drive())), self.describe_buffer()].into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    fn buffer_stats(&self) -> Option<BufferStats> {
        self.stats()
    }
}

impl Watched for MappingCache {
    as_below!(drive, drive_mut: drives failure warm_up);

    fn verify(&mut self, every_event: bool) {
        Watched::verify(self.drive_mut(), every_event);
        self.track_versions(every_event);
    }

    fn check(&self) -> Result<()> {
        Watched::check(self.drive())?;
        self.check_table()
    }

    fn describe(&self) -> String {
        [Some(Watched::describe(self.drive())), self.describe_table()].into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    fn program_all(&mut self, _now: Ns) {}

    fn is_at_rest(&self) -> bool {
        self.is_idle() && self.drive().is_at_rest()
    }

    fn mapping_stats(&self) -> Option<MappingStats> {
        self.stats()
    }
}

impl<D: Store + Watched> Watched for Array<D> {
    fn drives(&self) -> Vec<&Ssd> {
        self.members().iter().flat_map(D::drives).collect()
    }

    fn drives_mut(&mut self) -> Vec<&mut Ssd> {
        self.members_mut().iter_mut().flat_map(D::drives_mut).collect()
    }

    fn verify(&mut self, every_event: bool) {
        self.members_mut().iter_mut().for_each(|member| member.verify(every_event));
        self.keep_content(every_event);
    }

    fn check(&self) -> Result<()> {
        self.members().iter().try_for_each(D::check)?;
        self.check_array()
    }

    fn describe(&self) -> String {
        let members: Vec<String> = self.members().iter().map(D::describe).collect();
        format!("{}; {}", members.join("; "), self.describe_array())
    }

    fn program_all(&mut self, now: Ns) {
        self.members_mut().iter_mut().for_each(|member| member.program_all(now));
    }

    fn is_at_rest(&self) -> bool {
        self.members().iter().all(D::is_at_rest)
    }

    fn warm_up(&mut self) {
        self.members_mut().iter_mut().for_each(D::warm_up);
    }

    fn end_warm_up(&mut self) {
        self.members_mut().iter_mut().for_each(D::end_warm_up);
    }

    fn cache_stats(&self) -> Option<CacheStats> {
        self.members().iter().filter_map(D::cache_stats).reduce(CacheStats::joined)
    }

    fn buffer_stats(&self) -> Option<BufferStats> {
        self.members().iter().filter_map(D::buffer_stats).reduce(BufferStats::joined)
    }

    fn mapping_stats(&self) -> Option<MappingStats> {
        self.members().iter().filter_map(D::mapping_stats).reduce(MappingStats::joined)
    }

    fn interface_stats(&self, now: Ns) -> Option<InterfaceStats> {
        self.members().iter().filter_map(|member| member.interface_stats(now)).reduce(InterfaceStats::joined)
    }

    fn array_result(&self) -> Option<&ArrayResult> {
        Some(self.result())
    }

    fn use_eviction_policy(&mut self, custom: &CustomEviction) {
        self.members_mut().iter_mut().for_each(|member| member.use_eviction_policy(custom));
    }

    fn take_policy_failure(&mut self) -> Option<Error> {
        self.members_mut().iter_mut().find_map(D::take_policy_failure)
    }
}
