//! Turns to collect (`array.rotation`; Yan et al. 2017): a pool begins a job for space only in its turn, so that of all drives of an array at
//! most one job at a time holds up the pages of a stripe. The drive asks for turns and ends them, the array gives them
//! (`storage/array/rotation.rs`). A turn lasts a job, or an episode (`gc.until`).

use crate::rules::BurstRule;
use crate::ssd::{Planted, Ssd};
use crate::views::TurnNews;
use ssdlab_base::units::{Ns, PoolId};
use ssdlab_keys::config::{self, Config, Scope};

/// Bursts: a turn comes when a job of another drive ends.
pub(in crate::ssd) const BURSTS: BurstRule =
    BurstRule { keys: &["array.rotation", "array.rotation_forced"], exact: |config| config.array.rotation == config::Rotation::Off };

/// The turn of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// The pool has not asked for one.
    None,
    /// The pool has asked for one.
    Asked,
    /// It is the pool's turn, and its job has not begun.
    Given,
    /// A job that began in this turn is active, or its episode goes on.
    Used,
}

/// The turns of a drive's pools. Pools whose blocks form superblocks have one turn, as that of the first of them.
#[derive(Debug)]
pub(in crate::ssd) struct Rotation {
    /// Which pools share a turn.
    by: config::Rotation,
    /// A pool down to the reserve does not wait.
    forced: bool,
    turns: Vec<Turn>,
    /// By pool: its job for space began without its turn.
    without: Vec<bool>,
    /// What the array does not know yet, in order.
    news: Vec<TurnNews>,
}

impl Rotation {
    /// The turns of a drive; `None` if its pools need none.
    pub(in crate::ssd) fn new(config: &Config, pools: u32) -> Option<Box<Self>> {
        let pools = pools as usize;
        (config.array.rotation != config::Rotation::Off).then(|| {
            Box::new(Rotation {
                by: config.array.rotation,
                forced: config.array.rotation_forced,
                turns: vec![Turn::None; pools],
                without: vec![false; pools],
                news: Vec::new(),
            })
        })
    }
}

/// The jobs that share a turn with that of a pool, in all drives: their number is the same.
fn position(ssd: &Ssd, by: config::Rotation, pool: PoolId) -> u32 {
    match by {
        config::Rotation::Off | config::Rotation::Pool => pool.0,
        config::Rotation::Die => ssd.geometry().die_of_pool(pool).0,
        config::Rotation::Drive => 0,
    }
}

/// The turn of a pool or its group; `None` without rotation.
fn turn(ssd: &Ssd, pool: PoolId) -> Option<Turn> {
    ssd.rotation.as_ref().map(|rotation| rotation.turns[ssd.geometry().lead_pool(pool).index()])
}

/// A pool's job for space may begin: it is the pool's turn, or the pool needs none since it is short of free blocks.
#[inline(always)]
pub(in crate::ssd) fn may_begin(ssd: &Ssd, pool: PoolId) -> bool {
    ssd.rotation.is_none() || has_turn(ssd, pool)
}

#[inline(never)]
fn has_turn(ssd: &Ssd, pool: PoolId) -> bool {
    let is_forced = || ssd.rotation.as_ref().is_some_and(|rotation| rotation.forced);
    let is_short = || ssd.ftl.blocks().free_count(ssd.geometry().lead_pool(pool)) <= ssd.ftl.reserve();
    turn(ssd, pool) == Some(Turn::Given) || is_forced() && is_short() || ssd.probes.has(Planted::IgnoresTurn)
}

/// In the scope of a pool it is the turn of one whose job has not begun: it waits for host operations that came before.
#[inline(always)]
pub(in crate::ssd) fn is_about_to_begin(ssd: &Ssd, pool: PoolId) -> bool {
    let has_turn = |pool| turn(ssd, pool) == Some(Turn::Given);
    ssd.rotation.is_some() && ssd.rules.gc.scope != Scope::None && ssd.gc.pools_of_scope(&ssd.ftl, pool).any(has_turn)
}

/// Call when a pool may have come to want a job for space: it asks for its turn.
#[inline(always)]
pub(in crate::ssd) fn may_want(ssd: &mut Ssd, pool: PoolId) {
    if ssd.rotation.is_some() {
        ask(ssd, ssd.geometry().lead_pool(pool));
    }
}

/// Asks for the turn of a group that wants a job for space, and neither has a job nor waits for one in its scope.
#[inline(never)]
fn ask(ssd: &mut Ssd, lead: PoolId) {
    let wants = ssd.ftl.wants_collection(lead) && ssd.is_set_off(lead) && !ssd.gc.is_wanted(&ssd.ftl, lead);
    if wants && turn(ssd, lead) == Some(Turn::None) {
        change(ssd, lead, Turn::Asked);
    }
}

/// Sets the turn of a group, and tells the array if it asks for one or ends it.
fn change(ssd: &mut Ssd, lead: PoolId, turn: Turn) {
    let by = ssd.rotation.as_ref().map_or(config::Rotation::Off, |rotation| rotation.by);
    let news = TurnNews { position: position(ssd, by, lead), pool: lead, ends: turn == Turn::None };
    let Some(rotation) = &mut ssd.rotation else { return };
    rotation.turns[lead.index()] = turn;
    if matches!(turn, Turn::Asked | Turn::None) {
        rotation.news.push(news);
    }
}

/// Call when the job of a group has begun: it uses the turn, or is one for space that begins without.
pub(in crate::ssd) fn job_begun(ssd: &mut Ssd, pool: PoolId) {
    let Some(turn) = turn(ssd, pool) else { return };
    let is_for_space = ssd.gc.job(pool).is_some_and(|job| job.cause().is_for_space());
    let in_turn = matches!(turn, Turn::Given | Turn::Used);
    if in_turn {
        change(ssd, pool, Turn::Used);
    }
    let is_forced = is_for_space && !in_turn && !ssd.probes.has(Planted::IgnoresTurn);
    ssd.rotation.as_mut().expect("it has a turn").without[pool.index()] = is_forced;
    ssd.probes.count().rotation_forced += u64::from(is_forced);
}

/// Call when the job of a group has ended and the next of its scope has not begun: the turn ends, unless an episode goes on, and the group asks for
/// another. `barrier`: host operations that began to wait before this serial number go first.
pub(in crate::ssd) fn job_ends(ssd: &mut Ssd, pool: PoolId, barrier: Option<u64>) {
    let Some(turn) = turn(ssd, pool) else { return };
    ssd.rotation.as_mut().expect("it has a turn").without[pool.index()] = false;
    let has_ended = match turn {
        Turn::Used => !ssd.gc.episode_goes_on(&ssd.ftl, pool),
        // It came during a job that needed none, and the group wants no more.
        Turn::Given => !ssd.gc.is_wanted(&ssd.ftl, pool),
        Turn::None | Turn::Asked => false,
    };
    if has_ended {
        change(ssd, pool, Turn::None);
    }
    ask(ssd, pool);
    let waits = matches!(self::turn(ssd, pool), Some(Turn::Asked));
    if waits && let Some(barrier) = barrier.filter(|_| ssd.gc.host_barrier(&ssd.ftl, pool).is_none()) {
        ssd.gc.set_barrier(&ssd.ftl, pool, barrier);
        ssd.note_host_barrier(pool, barrier);
    }
}

/// Call when a group whose turn it was in its scope began no job: it ends its turn to collect, or asks for one.
pub(in crate::ssd) fn no_job(ssd: &mut Ssd, pool: PoolId) {
    match turn(ssd, pool) {
        Some(Turn::Given | Turn::Used) => change(ssd, pool, Turn::None),
        Some(Turn::None) => ask(ssd, pool),
        Some(Turn::Asked) | None => {}
    }
}

impl Ssd {
    /// Moves what the array does not know yet of the turns of this drive to `into`.
    pub fn take_turn_news(&mut self, into: &mut Vec<TurnNews>) {
        if let Some(rotation) = &mut self.rotation {
            into.append(&mut rotation.news);
        }
    }

    /// It is the turn of a pool: its job begins behind the host operations of its scope that wait, or when another job there has ended. The turn ends
    /// at once if the pool wants none any more.
    pub fn give_turn(&mut self, now: Ns, pool: PoolId) {
        self.changes += 1;
        change(self, pool, Turn::Given);
        let is_free = self.gc.active_in_scope(&self.ftl, pool).is_none() && self.gc.host_barrier(&self.ftl, pool).is_none();
        if is_free && self.rules.gc.scope != Scope::None {
            self.gc.set_barrier(&self.ftl, pool, self.serial + 1);
            self.gc.note_barrier(pool);
        }
        self.trigger_gc(now, pool);
        if turn(self, pool) == Some(Turn::Given) && !self.gc.is_wanted(&self.ftl, pool) {
            change(self, pool, Turn::None);
        }
    }

    /// Calls back with the position of each active job for space that needs its turn, and whether it has it.
    pub fn jobs_in_turn(&self, each: &mut dyn FnMut(u32, PoolId, bool)) {
        let Some(rotation) = &self.rotation else { return };
        for pool in self.pools().filter(|&pool| self.geometry().lead_pool(pool) == pool && !rotation.without[pool.index()]) {
            if self.gc.job(pool).is_some_and(|job| job.cause().is_for_space()) {
                let has_it = rotation.turns[pool.index()] == Turn::Used;
                each(position(self, rotation.by, pool), pool, has_it);
            }
        }
    }
}
