//! Garbage collection: when to collect (trigger), what (victim), how far a job is, and which host operations it keeps waiting (scope).
//! It knows pools and blocks; whether its next step may go now is the arbiter's question.

pub mod untimed;
pub mod victim;

use std::collections::VecDeque;

use crate::config::{Config, Scope};
use crate::ftl::Ftl;
use crate::geometry::Geometry;
use crate::units::{BlockId, Lpn, Ns, PlaneId, PoolId, Ppn};

/// The next step of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Move a page: where it lies, and what it holds.
    Move(Ppn, Lpn),
    /// Erase the victim.
    Erase,
}

/// The collection of one block.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// The block being collected.
    pub victim: BlockId,
    /// The page offset up to which valid pages have been moved.
    cursor: u32,
    /// When the job started, ns.
    pub started_ns: Ns,
    /// When the next step became ready, ns, and the serial number of that moment.
    pub ready: (Ns, u64),
    /// An operation of the job is under way.
    pub busy: bool,
    /// The page move under way: what, from where, to where. `None` during the erase.
    pub moving: Option<(Lpn, Ppn, Ppn)>,
    /// Host operations inside the scope that were running when the job started have not all ended (ae2022's GC-pending state).
    pub pending: bool,
}

/// The pools of which only one may have an active job at a time: those within one instance of the scope.
#[derive(Clone, Debug, Default)]
struct Turn {
    active: Option<PoolId>,
    waiting: VecDeque<PoolId>,
    /// Between two jobs: host operations that began to wait before this serial number go first.
    gate: Option<u64>,
}

/// The dies and planes in which host operations wait during a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excluded {
    /// None.
    Nothing,
    /// One plane.
    Plane(PlaneId),
    /// These dies, first and one past the last.
    Dies(u32, u32),
}

/// The garbage collector of one drive.
#[derive(Debug)]
pub struct Collector {
    victims: victim::Picker,
    scope: Scope,
    jobs: Vec<Option<Job>>,
    turns: Vec<Turn>,
    /// The pool waits for a turn or has one.
    queued: Vec<bool>,
    /// The pool wants collection but no block gained anything: until a page of it is invalidated.
    stalled: Vec<bool>,
    stalled_count: u32,
    /// Turns between two jobs.
    gated: u32,
}

impl Collector {
    /// A collector at rest. `seed`: that of the run, for policies that draw.
    pub fn new(config: &Config, geometry: &Geometry, seed: u64) -> Self {
        let pools = geometry.pools.count.get() as usize;
        let turns = match config.gc.scope {
            Scope::Device => 1,
            Scope::Channel => geometry.channels as usize,
            Scope::Chip => geometry.chips as usize,
            Scope::Die => geometry.dies as usize,
            Scope::Plane | Scope::Block | Scope::None => pools,
        };
        Collector {
            victims: victim::Picker::new(&config.gc, seed, "gc/victim"),
            scope: config.gc.scope,
            jobs: vec![None; pools],
            turns: vec![Turn::default(); turns],
            queued: vec![false; pools],
            stalled: vec![false; pools],
            stalled_count: 0,
            gated: 0,
        }
    }

    /// Picks in which the greedy choice stood in for that of the victim policy.
    pub fn victim_fallbacks(&self) -> u64 {
        self.victims.fallbacks()
    }

    /// The victim policy, to give it one of the user's own or to ask what became of that.
    pub fn victims_mut(&mut self) -> &mut victim::Picker {
        &mut self.victims
    }

    /// The pool's active job.
    #[inline(always)]
    pub fn job(&self, pool: PoolId) -> Option<&Job> {
        self.jobs[pool.index()].as_ref()
    }

    /// The pool's active job, to change.
    #[inline(always)]
    pub fn job_mut(&mut self, pool: PoolId) -> &mut Job {
        self.jobs[pool.index()].as_mut().expect("the pool has an active job")
    }

    fn turn_of(&self, geometry: &Geometry, pool: PoolId) -> usize {
        let die = geometry.die_of_pool(pool);
        match self.scope {
            Scope::Device => 0,
            Scope::Channel => geometry.channel_of_die(die).index(),
            Scope::Chip => geometry.chip_of_die(die).index(),
            Scope::Die => die.index(),
            Scope::Plane | Scope::Block | Scope::None => pool.index(),
        }
    }

    /// Where host operations wait while this pool's job is active.
    pub fn excluded(&self, geometry: &Geometry, pool: PoolId) -> Excluded {
        let die = geometry.die_of_pool(pool);
        let dies = |range: std::ops::Range<u32>| Excluded::Dies(range.start, range.end);
        match self.scope {
            Scope::Device => Excluded::Dies(0, geometry.dies),
            Scope::Channel => dies(geometry.dies_of_channel(geometry.channel_of_die(die))),
            Scope::Chip => dies(geometry.dies_of_chip(geometry.chip_of_die(die))),
            Scope::Die => Excluded::Dies(die.0, die.0 + 1),
            Scope::Plane => {
                let job = self.job(pool).expect("exclusion is asked for while a job is active");
                Excluded::Plane(geometry.plane_of_block(job.victim))
            }
            Scope::Block | Scope::None => Excluded::Nothing,
        }
    }

    /// Evaluates the trigger for a pool. Returns the pool whose job may start now, if there is one.
    #[inline]
    pub fn trigger(&mut self, ftl: &Ftl, pool: PoolId) -> Option<PoolId> {
        if self.queued[pool.index()] || !ftl.wants_collection(pool) {
            return None;
        }
        self.queued[pool.index()] = true;
        let turn = self.turn_of(ftl.geometry(), pool);
        self.turns[turn].waiting.push_back(pool);
        self.next_in_turn(turn)
    }

    /// Some pool waits for a gain.
    #[inline(always)]
    pub fn any_stalled(&self) -> bool {
        self.stalled_count > 0
    }

    /// A page of the pool was invalidated or a block closed: if collection stopped for want of gain, it may go on.
    #[inline(always)]
    pub fn gain_appeared(&mut self, ftl: &Ftl, pool: PoolId) -> Option<PoolId> {
        if self.stalled_count == 0 || !self.stalled[pool.index()] {
            return None;
        }
        self.stalled[pool.index()] = false;
        self.stalled_count -= 1;
        self.trigger(ftl, pool)
    }

    fn next_in_turn(&mut self, turn: usize) -> Option<PoolId> {
        let turn = &self.turns[turn];
        if turn.active.is_some() || turn.gate.is_some() {
            return None;
        }
        turn.waiting.front().copied()
    }

    /// Starts the job of the pool at the front of its turn. Returns false if nothing is to be gained there (any more); the caller then asks
    /// [`Collector::after_job`] who is next.
    pub fn start(&mut self, ftl: &mut Ftl, pool: PoolId, now: Ns, serial: u64) -> bool {
        let turn = self.turn_of(ftl.geometry(), pool);
        let front = self.turns[turn].waiting.pop_front();
        assert_eq!(front, Some(pool), "jobs start in the order of their turn");
        let wanted = ftl.wants_collection(pool);
        let victim = if wanted { self.victims.pick(ftl, pool) } else { None };
        let Some(victim) = victim else {
            self.queued[pool.index()] = false;
            if wanted && !self.stalled[pool.index()] {
                self.stalled[pool.index()] = true;
                self.stalled_count += 1;
            }
            return false;
        };
        ftl.start_job(pool, victim);
        self.turns[turn].active = Some(pool);
        self.jobs[pool.index()] =
            Some(Job { victim, cursor: 0, started_ns: now, ready: (now, serial), busy: false, moving: None, pending: true });
        true
    }

    /// The next step of the pool's job.
    #[inline(always)]
    pub fn next_step(&mut self, ftl: &Ftl, pool: PoolId) -> Step {
        let job = self.jobs[pool.index()].as_mut().expect("the pool has an active job");
        match ftl.next_move(job.victim, job.cursor) {
            Some((page, ppn, lpn)) => {
                job.cursor = page + 1;
                Step::Move(ppn, lpn)
            }
            None => Step::Erase,
        }
    }

    /// True if the next step of the pool's job is the erase.
    #[inline]
    pub fn erase_is_next(&self, ftl: &Ftl, pool: PoolId) -> bool {
        self.job(pool).is_some_and(|job| ftl.next_move(job.victim, job.cursor).is_none())
    }

    /// The erase has ended. Puts the pool back in its turn if it wants more, and returns the finished job.
    /// `gate`: host operations that wait inside the scope with a serial number below go before the next job.
    pub fn finish(&mut self, ftl: &Ftl, pool: PoolId, gate: Option<u64>) -> Job {
        let turn = self.turn_of(ftl.geometry(), pool);
        let job = self.jobs[pool.index()].take().expect("the pool has an active job");
        self.turns[turn].active = None;
        self.queued[pool.index()] = false;
        if ftl.wants_collection(pool) {
            self.queued[pool.index()] = true;
            self.turns[turn].waiting.push_back(pool);
        }
        if gate.is_some() && !self.turns[turn].waiting.is_empty() {
            self.turns[turn].gate = gate;
            self.gated += 1;
        }
        job
    }

    /// The pool whose job may start now in the turn of `pool`, if any.
    #[inline]
    pub fn after_job(&mut self, geometry: &Geometry, pool: PoolId) -> Option<PoolId> {
        self.next_in_turn(self.turn_of(geometry, pool))
    }

    /// The gate of the turn of `pool`: host operations that began to wait before it go first.
    #[inline]
    pub fn gate(&self, geometry: &Geometry, pool: PoolId) -> Option<u64> {
        if self.gated == 0 { None } else { self.turns[self.turn_of(geometry, pool)].gate }
    }

    /// Opens the gate of the turn of `pool`; returns the pool whose job may start now.
    pub fn open_gate(&mut self, geometry: &Geometry, pool: PoolId) -> Option<PoolId> {
        let turn = self.turn_of(geometry, pool);
        if self.turns[turn].gate.take().is_some() {
            self.gated -= 1;
        }
        self.next_in_turn(turn)
    }

    /// The pools that belong to the turn of `pool`.
    pub fn pools_of_turn(&self, geometry: &Geometry, pool: PoolId) -> std::ops::Range<u32> {
        let die = geometry.die_of_pool(pool);
        let dies = match self.scope {
            Scope::Device => 0..geometry.dies,
            Scope::Channel => geometry.dies_of_channel(geometry.channel_of_die(die)),
            Scope::Chip => geometry.dies_of_chip(geometry.chip_of_die(die)),
            Scope::Die => die.0..die.0 + 1,
            Scope::Plane | Scope::Block | Scope::None => return pool.0..pool.0 + 1,
        };
        let per_die = geometry.pools.per_die.get();
        dies.start * per_die..dies.end * per_die
    }

    /// Pools with an active job, and pools that wait, for the watchdog's report.
    pub fn describe(&self) -> String {
        let active = self.jobs.iter().filter(|job| job.is_some()).count();
        let waiting: usize = self.turns.iter().map(|turn| turn.waiting.len()).sum();
        format!("{active} GC jobs active, {waiting} waiting, {} pools stalled without gain", self.stalled_count)
    }
}
