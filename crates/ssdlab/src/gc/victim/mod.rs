//! Which block is collected. One policy, one file: add the file, a variant of [`crate::config::Victim`] and a line in [`Picker::pick`].
//!
//! A block can be collected if it is closed and has an invalid page: it is *eligible*. A policy may name any block of the pool.

mod cost_benefit;
mod d_choices;
mod fifo;
mod greedy;
mod random;
mod wear_aware;

#[cfg(test)]
mod bench;

use crate::config::{Gc, Victim};
use crate::ftl::Ftl;
use crate::rng::Rng;
use crate::units::{BlockId, PoolId};

/// A victim policy at work: what it was told, and what it remembers from pick to pick.
#[derive(Clone, Debug)]
pub struct Picker {
    policy: Victim,
    choices: u32,
    rng: Rng,
    fallbacks: u64,
}

impl Picker {
    /// The configured policy. `stream`: the purpose under which it draws random numbers, if it does.
    pub fn new(gc: &Gc, seed: u64, stream: &str) -> Self {
        Picker { policy: gc.victim, choices: gc.choices, rng: Rng::new(seed, stream), fallbacks: 0 }
    }

    /// The pool's next victim: an eligible block, or `None` if there is none. If the policy names a block that is not eligible, or none, it
    /// is the greedy choice, and counted.
    #[inline]
    pub fn pick(&mut self, ftl: &mut Ftl, pool: PoolId) -> Option<BlockId> {
        let greedy = greedy::pick(ftl, pool)?;
        let named = match self.policy {
            Victim::Greedy => return Some(greedy),
            Victim::WearAware => wear_aware::pick(ftl, pool),
            Victim::DChoices => d_choices::pick(ftl, pool, self.choices, &mut self.rng),
            Victim::Fifo => fifo::pick(ftl, pool),
            Victim::CostBenefit => cost_benefit::pick(ftl, pool),
            Victim::Random => random::pick(ftl, pool, &mut self.rng),
        };
        let eligible = named.filter(|&block| ftl.geometry().pool_of_block(block) == pool && ftl.blocks().is_eligible(block));
        self.fallbacks += u64::from(eligible.is_none());
        eligible.or(Some(greedy))
    }

    /// Picks in which the greedy choice stood in for the policy's.
    pub fn fallbacks(&self) -> u64 {
        self.fallbacks
    }
}

/// A random block of the pool that is wanted. One must exist; draws until one is found, on average as many times as the pool has blocks for
/// each that is wanted.
fn draw(ftl: &Ftl, pool: PoolId, rng: &mut Rng, wanted: impl Fn(BlockId) -> bool) -> BlockId {
    let geometry = ftl.geometry();
    loop {
        let block = geometry.block_of_pool(pool, rng.below(u64::from(geometry.pools.blocks_each)) as u32);
        if wanted(block) {
            return block;
        }
    }
}
