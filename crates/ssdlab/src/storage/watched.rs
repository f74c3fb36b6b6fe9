//! What can be asked of all that stands in a storage, however it is put together: drives, arrays of them, caches in front.

use super::array::Array;
use super::front::Front;
use super::store::Store;
use crate::cache::CustomEviction;
use crate::error::{Error, Result};
use crate::ssd::Ssd;
use crate::stats::{ArrayResult, CacheStats};

/// A store that can be watched.
pub trait Watched {
    /// The drives in it, in their order.
    fn drives(&self) -> Vec<&Ssd>;
    /// The same, to change how they are watched.
    fn drives_mut(&mut self) -> Vec<&mut Ssd>;
    /// Checks data as the run goes; with `every_event` also recounts everything after each event.
    fn verify(&mut self, every_event: bool);
    /// Recounts everything that is kept twice.
    ///
    /// # Errors
    /// The first contradiction found, by verify mode as the run went or now.
    fn check(&self) -> Result<()>;
    /// What is under way, for the watchdog's report: of what lies below first.
    fn describe(&self) -> String;
    /// What its caches did together, where there is one.
    fn cache_stats(&self) -> Option<CacheStats> {
        None
    }
    /// What its array did, where there is one.
    fn array_result(&self) -> Option<&ArrayResult> {
        None
    }
    /// The run begins with a warm-up. For before the first request.
    fn warm_up(&mut self);
    /// The warm-up ends: extremes begin anew, and requests that arrive from now on count where response times are recorded.
    fn end_warm_up(&mut self);
    /// Its caches ask an eviction policy of the user's own. For before the first request.
    fn use_eviction_policy(&mut self, _custom: &CustomEviction) {}
    /// Why a policy of the user's own could not choose, once it could not.
    fn take_policy_failure(&mut self) -> Option<Error>;
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
    fn drives(&self) -> Vec<&Ssd> {
        self.below().drives()
    }

    fn drives_mut(&mut self) -> Vec<&mut Ssd> {
        self.below_mut().drives_mut()
    }

    fn verify(&mut self, every_event: bool) {
        self.below_mut().verify(every_event);
        self.keep_versions(every_event);
    }

    fn check(&self) -> Result<()> {
        self.below().check()?;
        self.check_cache()
    }

    fn describe(&self) -> String {
        format!("{}; {}", self.below().describe(), self.describe_cache())
    }

    fn cache_stats(&self) -> Option<CacheStats> {
        Some(self.stats())
    }

    fn warm_up(&mut self) {
        self.set_warming_up(true);
        self.below_mut().warm_up();
    }

    fn end_warm_up(&mut self) {
        self.set_warming_up(false);
        self.below_mut().end_warm_up();
    }

    fn array_result(&self) -> Option<&ArrayResult> {
        self.below().array_result()
    }

    fn use_eviction_policy(&mut self, custom: &CustomEviction) {
        self.ask(custom);
    }

    #[inline]
    fn take_policy_failure(&mut self) -> Option<Error> {
        self.take_eviction_failure().or_else(|| self.below_mut().take_policy_failure())
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

    fn warm_up(&mut self) {
        self.members_mut().iter_mut().for_each(D::warm_up);
    }

    fn end_warm_up(&mut self) {
        self.members_mut().iter_mut().for_each(D::end_warm_up);
    }

    fn cache_stats(&self) -> Option<CacheStats> {
        self.members().iter().filter_map(D::cache_stats).reduce(CacheStats::joined)
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
