//! Folding: which pools move the data of a block in SLC mode to others now (`slc`).

use crate::ftl::Ftl;
use ssdlab_base::cause::Cause;
use ssdlab_base::units::{BlockId, PoolId};
use ssdlab_keys::config::Config;

/// The folding of a drive.
#[derive(Debug)]
pub struct Folds {
    /// There is a cache of blocks in SLC mode.
    on: bool,
    /// The most pools that fold at a time.
    most: u32,
    /// Pools that fold now.
    active: u32,
    /// Blocks are folded since the drive is idle.
    idle: bool,
    /// By pool: its last job folded a block, or moved one that was due.
    last: Vec<bool>,
    /// By pool: it wants free blocks, and waits for its turn to fold a block for that.
    waiting: Vec<bool>,
}

impl Folds {
    pub(super) fn new(config: &Config, pools: usize) -> Self {
        let most = if config.slc.fold_jobs == 0 { u32::MAX } else { config.slc.fold_jobs };
        Folds { on: config.slc.is_on(), most, active: 0, idle: false, last: vec![false; pools], waiting: vec![false; pools] }
    }

    /// Sets whether the drive is idle, so that all blocks are folded.
    pub fn set_idle(&mut self, idle: bool) {
        self.idle = idle;
    }

    /// Blocks are folded since the drive is idle.
    pub fn is_idle(&self) -> bool {
        self.idle
    }

    /// Not all pools may fold at a time.
    pub fn is_limited(&self) -> bool {
        self.most < u32::MAX
    }

    /// Another pool may fold beside those that fold now.
    pub fn has_room(&self) -> bool {
        self.active < self.most
    }

    /// A pool would fold a block if it had no other job, and why. `wanted`: it needs free blocks.
    #[inline(always)]
    pub(super) fn next(&self, ftl: &Ftl, pool: PoolId, wanted: bool) -> Option<(BlockId, Cause)> {
        if self.on { self.next_block(ftl, pool, wanted) } else { None }
    }

    fn next_block(&self, ftl: &Ftl, pool: PoolId, wanted: bool) -> Option<(BlockId, Cause)> {
        if !self.has_room() {
            return None;
        }
        let for_space = || ftl.next_fold(pool, true).filter(|_| wanted).map(|block| (block, Cause::FoldSpace));
        let cause = if ftl.wants_folding(pool) { Some(Cause::FoldFull) } else { self.idle.then_some(Cause::FoldIdle) };
        // The pool keeps a block for GC beside those that the data fill. A pool that needs free blocks has a job for that in between.
        let may = ftl.blocks().free_count(pool) > ftl.reserve() && !(wanted && self.last[pool.index()]);
        for_space().or_else(|| cause.filter(|_| may).and_then(|cause| Some((ftl.next_fold(pool, false)?, cause))))
    }

    /// Notes why the next job of a pool takes its block.
    #[inline(always)]
    pub(super) fn job_starts(&mut self, pool: PoolId, cause: Cause) {
        if self.on {
            self.active += u32::from(cause.folds());
            self.last[pool.index()] = !cause.collects();
        }
    }

    /// A job that folded a block has ended: another pool may fold.
    pub fn ended(&mut self) {
        self.active -= 1;
    }

    /// Sets whether a pool wants free blocks and waits for its turn to fold a block for that.
    #[inline(always)]
    pub(super) fn set_waiting(&mut self, pool: PoolId, waiting: bool) {
        if self.on {
            self.waiting[pool.index()] = waiting;
        }
    }

    /// The pool waits for its turn to fold a block, since it wants free blocks.
    #[inline(always)]
    pub(super) fn is_waiting(&self, pool: PoolId) -> bool {
        self.on && self.waiting[pool.index()]
    }

    /// The pool wants free blocks, and has some to fold for it as soon as other pools have ended.
    pub(super) fn waits_for_others(&self, ftl: &Ftl, pool: PoolId) -> bool {
        self.on && !self.has_room() && ftl.next_fold(pool, true).is_some()
    }
}
