//! A policy of the user's own. It is asked once for each eviction, so what it costs is the user's affair; the built-in policies know nothing of it.
//! `docs/eviction-policies.md` shows one.

use super::policy::{Order, Rank, Use};
use super::recency::Recency;
use crate::custom::{AtWork, Custom};
use crate::lists::NONE;

pub use crate::custom::Failure;

/// An eviction policy of the user's own.
pub trait EvictionPolicy: Send {
    /// Names the page to be evicted. Called once for each eviction, with at least one candidate. If the page is no candidate, or for `None`,
    /// the candidate used longest ago is evicted (`cache.policy_fallbacks` counts it).
    ///
    /// A run repeats if the choice depends on nothing but the candidates before and now.
    ///
    /// # Errors
    /// Whatever makes it impossible to go on: the run ends with it.
    fn pick(&mut self, candidates: &[Candidate]) -> Result<Option<u32>, Failure>;
}

/// A page that can be evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its number: the offset in bytes by the bytes of a page.
    pub page: u32,
    /// It was written, and must be destaged.
    pub dirty: bool,
    /// How many uses of pages there were since its last.
    pub age: u64,
    /// Its chip, or above an array its drive, where that is known.
    pub home: Option<u32>,
    /// Its home is in GC.
    pub in_gc: bool,
}

/// The example of the documentation, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/eviction-policies.md")]
struct Documentation;

/// An eviction policy of the user's own as a plan carries it.
pub type CustomEviction = Custom<dyn EvictionPolicy>;

impl CustomEviction {
    /// `name`: for messages. `source`: what tells this policy from others, its source text or a name with a version; results have its hash.
    /// `make`: makes one, anew for each cache.
    pub fn new<P: EvictionPolicy + 'static>(name: &str, source: &str, make: impl Fn() -> P + Send + Sync + 'static) -> Self {
        Self::boxed("eviction", name, source, move || Box::new(make()))
    }
}

/// The order of use, and the policy that chooses from it.
#[derive(Debug)]
pub struct Asked {
    recency: Recency,
    policy: AtWork<dyn EvictionPolicy>,
}

impl Asked {
    /// For so many entries.
    pub fn new(policy: AtWork<dyn EvictionPolicy>, entries: u32) -> Self {
        Asked { recency: Recency::new(entries, 1), policy }
    }

    /// The entries, from the longest unused on, and how many uses of pages there were since.
    pub fn by_age(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.recency.chain(0).map(|entry| (entry, self.recency.age(entry)))
    }

    /// The candidate that the policy names.
    pub fn pick(&mut self, candidates: &[Candidate]) -> Option<usize> {
        let named = self.policy.ask(|policy| policy.pick(candidates))?;
        candidates.iter().position(|candidate| candidate.page == named)
    }

    /// The policy at work.
    pub fn policy_mut(&mut self) -> &mut AtWork<dyn EvictionPolicy> {
        &mut self.policy
    }
}

impl Order for Asked {
    fn keep(&mut self, entry: u32, _: u32, _: u32, _: Use) {
        self.recency.push(0, entry);
    }

    fn touch(&mut self, entry: u32, _: u32, _: (u32, u32), _: Use) {
        self.recency.remove(0, entry);
        self.recency.push(0, entry);
    }

    fn forget(&mut self, entry: u32, _: u32) {
        self.recency.remove(0, entry);
    }

    fn first(&self, _: u32) -> Option<(Rank, u32)> {
        let entry = self.recency.first(0);
        (entry != NONE).then(|| ((0, self.recency.stamp(entry)), entry))
    }
}
