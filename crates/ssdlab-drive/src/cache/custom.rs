//! A user-defined policy, called once per eviction. `docs/own-policies.md` shows one.

use super::policy::{Order, Rank, Use};
use super::recency::Recency;
use crate::custom::{AtWork, Custom};
use crate::lists::NONE;

pub use crate::custom::Failure;

/// A user-defined eviction policy.
pub trait EvictionPolicy: Send {
    /// Returns the page to evict. Called once per eviction, with at least one candidate. If it returns `None` or a page that is not a
    /// candidate, the least recently used candidate is evicted (counted by `cache.policy_fallbacks`).
    ///
    /// A run is repeatable if the choice depends only on the candidates of this and earlier calls.
    ///
    /// # Errors
    /// Any failure: the run ends with it.
    fn pick(&mut self, candidates: &[EvictionCandidate]) -> Result<Option<u32>, Failure>;
}

/// A page that can be evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvictionCandidate {
    /// Number of the page: byte offset / bytes of a page.
    pub page: u32,
    /// The page was written, and must be destaged before it leaves the cache.
    pub dirty: bool,
    /// Number of page uses since its last use.
    pub age: u64,
    /// Target of the page: the chip that stores it, or above an array the drive. `None`: not known.
    pub home: Option<u32>,
    /// GC runs on the target of the page.
    pub in_gc: bool,
}

/// A user-defined eviction policy as part of a plan.
pub type CustomEviction = Custom<dyn EvictionPolicy>;

impl CustomEviction {
    /// `name`: for messages. `source`: identifies the policy (its source text, or a name with a version); results have its hash. `make`:
    /// makes a new policy for each cache.
    pub fn new<P: EvictionPolicy + 'static>(name: &str, source: &str, make: impl Fn() -> P + Send + Sync + 'static) -> Self {
        Self::boxed("eviction", name, source, move || Box::new(make()))
    }
}

/// The order of use, and the user-defined policy that chooses from it.
#[derive(Debug)]
pub struct CustomOrder {
    recency: Recency,
    policy: AtWork<dyn EvictionPolicy>,
}

impl CustomOrder {
    /// An empty order for `entries` cache entries.
    pub fn new(policy: AtWork<dyn EvictionPolicy>, entries: u32) -> Self {
        CustomOrder { recency: Recency::new(entries, 1), policy }
    }

    /// The entries, least recently used first, each with the number of page uses since its last use.
    pub fn by_age(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.recency.chain(0).map(|entry| (entry, self.recency.age(entry)))
    }

    /// Index of the candidate that the policy chooses; `None` if it chooses no candidate, or has failed.
    pub fn pick(&mut self, candidates: &[EvictionCandidate]) -> Option<usize> {
        let named = self.policy.ask(|policy| policy.pick(candidates))?;
        candidates.iter().position(|candidate| candidate.page == named)
    }

    /// Mutable access to the user-defined policy.
    pub fn policy_mut(&mut self) -> &mut AtWork<dyn EvictionPolicy> {
        &mut self.policy
    }
}

impl Order for CustomOrder {
    fn insert(&mut self, entry: u32, _: u32, _: u32, _: Use) {
        self.recency.push(0, entry);
    }

    fn touch(&mut self, entry: u32, _: u32, _: (u32, u32), _: Use) {
        self.recency.remove(0, entry);
        self.recency.push(0, entry);
    }

    fn remove(&mut self, entry: u32, _: u32) {
        self.recency.remove(0, entry);
    }

    fn first(&self, _: u32) -> Option<(Rank, u32)> {
        let entry = self.recency.first(0);
        (entry != NONE).then(|| ((0, self.recency.stamp(entry)), entry))
    }
}
