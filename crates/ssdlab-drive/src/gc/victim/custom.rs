//! A user-defined victim policy, called once per job. `docs/own-policies.md` shows one.

use crate::custom::{AtWork, Custom};
use crate::ftl::Ftl;
use ssdlab_base::units::{BlockId, PoolId};

pub use crate::custom::Failure;

/// A user-defined victim policy.
pub trait VictimPolicy: Send {
    /// Returns the block to collect. Called once per block to collect, also during preconditioning, with at least one candidate. If it
    /// returns `None` or a block of the drive that is not a candidate, the greedy choice is collected (in the run,
    /// `counters.victim_fallbacks` counts it). A block that the drive does not have is a failure.
    ///
    /// A run is repeatable if the choice depends only on the candidates of this and earlier calls.
    ///
    /// # Errors
    /// Any failure: the run ends with it.
    fn pick(&mut self, candidates: &Candidates<'_>) -> Result<Option<BlockId>, Failure>;
}

/// A block that can be collected: it is closed and has an invalid page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The number of the block in the drive, from 0.
    pub block: BlockId,
    /// Valid pages of the block: fewer than [`Candidates::pages_per_block`].
    pub valid_pages: u32,
    /// Erases of the block so far.
    pub erases: u32,
    /// Number of blocks of its pool filled after it.
    pub age: u64,
}

/// The blocks that a job may collect: a view of the FTL, which copies nothing.
#[derive(Clone, Copy)]
pub struct Candidates<'a> {
    ftl: &'a Ftl,
    pool: PoolId,
}

impl<'a> Candidates<'a> {
    pub(super) fn new(ftl: &'a Ftl, pool: PoolId) -> Self {
        Candidates { ftl, pool }
    }

    /// The pool that collects.
    pub fn pool(&self) -> PoolId {
        self.pool
    }

    /// Pages of every block of the drive.
    pub fn pages_per_block(&self) -> u32 {
        self.ftl.geometry().units_per_reclaim()
    }

    /// The candidates, fewest valid pages first; among equals, the one first that has had that number for longest. The first candidate is
    /// the greedy choice.
    pub fn iter(&self) -> impl Iterator<Item = Candidate> + 'a {
        let (blocks, pool) = (self.ftl.blocks(), self.pool);
        blocks.eligible_blocks(pool).map(move |block| Candidate {
            block,
            valid_pages: blocks.valid_together(block),
            erases: blocks.row(block).erases,
            age: blocks.age(pool, block),
        })
    }
}

/// A user-defined victim policy as part of a plan.
pub type CustomVictim = Custom<dyn VictimPolicy>;

impl CustomVictim {
    /// `name`: for messages. `source`: identifies the policy (its source text, or a name with a version); results have its hash. `make`:
    /// makes a new policy for preconditioning and another for the run, so that a run from a saved state is the same as one that prepared
    /// the drive itself.
    pub fn new<P: VictimPolicy + 'static>(name: &str, source: &str, make: impl Fn() -> P + Send + Sync + 'static) -> Self {
        Self::boxed("victim", name, source, move || Box::new(make()))
    }
}

/// The block that the policy returns. A block beyond the drive is a failure of the policy.
pub(super) fn pick(policy: &mut AtWork<dyn VictimPolicy>, ftl: &Ftl, pool: PoolId) -> Option<BlockId> {
    let blocks = ftl.geometry().blocks;
    policy.ask(|policy| match policy.pick(&Candidates::new(ftl, pool))? {
        Some(block) if block.0 >= blocks => Err(format!("named block {block}; the drive's blocks are 0 to {}", blocks - 1).into()),
        named => Ok(named),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::gc::victim::bench::Bench;

    /// A victim policy that calls a closure.
    struct FixedAnswer<F>(F);

    impl<F: FnMut(&Candidates<'_>) -> Result<Option<BlockId>, Failure> + Send> VictimPolicy for FixedAnswer<F> {
        fn pick(&mut self, candidates: &Candidates<'_>) -> Result<Option<BlockId>, Failure> {
            (self.0)(candidates)
        }
    }

    /// A drive with something to collect: block 2 has two valid pages, block 0 three.
    fn bench() -> Bench {
        let mut bench = Bench::filled();
        bench.write(&[8, 9, 0]);
        bench
    }

    /// The block collected if the policy returns `named`, the number of fallbacks to greedy, and the failure.
    fn picked(named: Option<u32>) -> (Option<u32>, u64, Option<String>) {
        let mut bench = bench();
        let custom = CustomVictim::new("ours", "ours 1", move || FixedAnswer(move |_: &Candidates<'_>| Ok(named.map(BlockId))));
        let mut picker = bench.picker(ssdlab_keys::config::Victim::Greedy);
        picker.ask(&custom);
        let block = picker.pick(&mut bench.ftl, PoolId(0)).map(|block| block.0);
        (block, picker.fallbacks(), picker.take_failure().map(|error| error.to_string()))
    }

    #[test]
    fn the_policy_sees_the_candidates_and_is_obeyed() {
        let mut bench = bench();
        bench.collect(2);
        bench.write(&[4, 5]);
        let seen: Vec<_> = Candidates::new(&bench.ftl, PoolId(0)).iter().collect();
        let candidate = |block, valid_pages, erases, age| Candidate { block: BlockId(block), valid_pages, erases, age };
        assert_eq!(seen, [candidate(1, 2, 0, 3), candidate(0, 3, 0, 4)]);
        assert_eq!(picked(Some(0)), (Some(0), 0, None));
    }

    #[test]
    fn what_cannot_be_collected_gives_the_greedy_choice() {
        assert_eq!(picked(None), (Some(2), 1, None));
        assert_eq!(picked(Some(1)), (Some(2), 1, None), "all its pages are valid");
        assert_eq!(picked(Some(7)), (Some(2), 1, None), "it is free");
    }

    #[test]
    fn a_block_that_the_drive_does_not_have_is_an_error() {
        let message = "victim policy ours: named block 8; the drive's blocks are 0 to 7";
        assert_eq!(picked(Some(8)), (Some(2), 1, Some(message.to_string())));
    }

    #[test]
    fn a_policy_that_failed_is_not_asked_again() {
        let mut bench = bench();
        let asked = Arc::new(std::sync::atomic::AtomicU32::new(0));
        let counted = Arc::clone(&asked);
        let custom = CustomVictim::new("ours", "ours 1", move || {
            let asked = Arc::clone(&counted);
            FixedAnswer(move |_: &Candidates<'_>| {
                asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                Err("no idea".into())
            })
        });
        let mut picker = bench.picker(ssdlab_keys::config::Victim::Greedy);
        picker.ask(&custom);
        for _ in 0..2 {
            assert_eq!(picker.pick(&mut bench.ftl, PoolId(0)), Some(BlockId(2)));
        }
        assert_eq!(asked.load(std::sync::atomic::Ordering::Relaxed), 1);
        assert_eq!(picker.take_failure().unwrap().to_string(), "victim policy ours: no idea");
        assert_eq!(picker.take_failure().map(|error| error.to_string()), None);
    }

    #[test]
    fn the_hash_tells_sources_apart() {
        let hash = |source| CustomVictim::new("ours", source, || FixedAnswer(|_: &Candidates<'_>| Ok(None))).source_hash().to_string();
        assert_eq!(hash("a"), hash("a"));
        assert_ne!(hash("a"), hash("b"));
        assert_eq!(hash("a").len(), 64);
    }
}
