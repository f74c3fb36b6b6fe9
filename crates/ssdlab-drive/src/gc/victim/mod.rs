//! Which block is collected. One policy, one file: add the file, a variant of [`ssdlab_keys::config::Victim`] (which says whether it
//! draws random numbers) and a line in [`Picker::pick`]. A
//! user-defined policy ([`VictimPolicy`]) needs none of this: it comes with the plan of a run.
//!
//! A block can be collected if it is closed and has an invalid page: it is *eligible*. A policy may name any block of the pool.
//!
//! With superblocks of several pools a policy chooses among those of a group: the first pool of the group stands for it, and its block for
//! each superblock, whose valid pages are those of all its blocks ([`crate::ftl::Blocks::valid_together`]).

mod cost_benefit;
mod custom;
mod d_choices;
mod fifo;
mod greedy;
mod random;
mod wear_aware;

#[cfg(test)]
pub(in crate::gc) mod bench;

pub use custom::{Candidate, Candidates, CustomVictim, Failure, VictimPolicy};

use crate::custom::AtWork;
use crate::ftl::Ftl;
use crate::rules::BurstRule;
use ssdlab_base::error::Error;
use ssdlab_base::rng::Rng;
use ssdlab_base::units::{BlockId, PoolId};
use ssdlab_keys::config::{Gc, Victim};

/// Bursts: the order in which victims are drawn depends on that of the moves of several dies.
pub const VICTIM_BURSTS: BurstRule = BurstRule { keys: &["gc.victim", "gc.choices"], exact: |config| !config.gc.victim.draws() };

/// A victim policy in use, with its parameters and its state between picks.
#[derive(Debug)]
pub struct Picker {
    policy: Policy,
    choices: u32,
    rng: Rng,
    asked: u64,
    fallbacks: u64,
}

#[derive(Debug)]
enum Policy {
    BuiltIn(Victim),
    Custom(AtWork<dyn VictimPolicy>),
}

impl Picker {
    /// The configured policy. `stream`: the name of its random numbers, if it draws.
    pub fn new(gc: &Gc, seed: u64, stream: &str) -> Self {
        Picker { policy: Policy::BuiltIn(gc.victim), choices: gc.choices, rng: Rng::new(seed, stream), asked: 0, fallbacks: 0 }
    }

    /// Replaces the configured policy by a user-defined one.
    pub fn ask(&mut self, custom: &CustomVictim) {
        self.policy = Policy::Custom(custom.make());
    }

    /// The pool's next victim: an eligible block, or `None` if there is none. If the policy returns no eligible block, the greedy choice is
    /// used, and counted as a fallback.
    #[inline]
    pub fn pick(&mut self, ftl: &mut Ftl, pool: PoolId) -> Option<BlockId> {
        let greedy = greedy::pick(ftl, pool)?;
        let named = match &mut self.policy {
            Policy::BuiltIn(Victim::Greedy) => return Some(greedy),
            Policy::BuiltIn(Victim::WearAware) => wear_aware::pick(ftl, pool),
            Policy::BuiltIn(Victim::DChoices) => d_choices::pick(ftl, pool, self.choices, &mut self.rng),
            Policy::BuiltIn(Victim::Fifo) => fifo::pick(ftl, pool),
            Policy::BuiltIn(Victim::CostBenefit) => cost_benefit::pick(ftl, pool),
            Policy::BuiltIn(Victim::Random) => random::pick(ftl, pool, &mut self.rng),
            Policy::Custom(policy) => {
                self.asked += 1;
                custom::pick(policy, ftl, pool)
            }
        };
        let eligible = named.filter(|&block| ftl.geometry().pool_of_block(block) == pool && ftl.blocks().is_eligible(block));
        self.fallbacks += u64::from(eligible.is_none());
        eligible.or(Some(greedy))
    }

    /// The pool's next victim as [`Picker::pick`] names it; if there is none, an open superblock may close early and become one.
    #[inline]
    pub fn pick_or_close(&mut self, ftl: &mut Ftl, pool: PoolId) -> Option<BlockId> {
        let victim = self.pick(ftl, pool);
        if victim.is_some() || !ftl.close_for_want(pool) {
            return victim;
        }
        self.pick_or_close(ftl, pool)
    }

    /// Picks for which a user-defined policy was called.
    pub fn asked(&self) -> u64 {
        self.asked
    }

    /// Picks in which the greedy choice replaced that of the policy.
    pub fn fallbacks(&self) -> u64 {
        self.fallbacks
    }

    /// The failure of a user-defined policy, once there is one.
    #[inline]
    pub fn take_failure(&mut self) -> Option<Error> {
        match &mut self.policy {
            Policy::BuiltIn(_) => None,
            Policy::Custom(custom) => custom.take_failure(),
        }
    }
}

/// Draws a random block of the pool that is `wanted`, of which there must be one. The mean number of draws is the blocks of the pool
/// divided by those that are wanted.
fn draw(ftl: &Ftl, pool: PoolId, rng: &mut Rng, wanted: impl Fn(BlockId) -> bool) -> BlockId {
    let geometry = ftl.geometry();
    loop {
        let block = geometry.block_of_pool(pool, rng.below(u64::from(geometry.pools.blocks_each)) as u32);
        if wanted(block) {
            return block;
        }
    }
}
