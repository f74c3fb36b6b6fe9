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
    /// Move a page, its data staying in the register.
    Move(Move),
    /// Read a page into the controller's buffer.
    Read(Move),
    /// Program a page from the controller's buffer.
    Program(Move),
    /// Erase the victim.
    Erase,
}

/// "No transaction" in a move: as in the slab.
const NOBODY: u32 = u32::MAX;

/// When something became ready, ns, and the serial number of that moment.
type Ready = (Ns, u64);

/// The move of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The logical page.
    pub lpn: Lpn,
    /// Where it lies.
    pub from: Ppn,
    /// Where it goes to, once that is chosen.
    pub to: Option<Ppn>,
    /// The first of the host reads that have joined it, which are linked like a line.
    pub readers: u32,
    /// The host write that has taken its place.
    pub writer: u32,
}

impl Move {
    /// The move of a page that lies at `from`.
    pub fn new(lpn: Lpn, from: Ppn) -> Self {
        Move { lpn, from, to: None, readers: NOBODY, writer: NOBODY }
    }
}

/// The moves of a job that go through the controller's buffer.
#[derive(Clone, Debug, Default)]
struct Flight {
    /// For each move that may begin: since when.
    free: VecDeque<Ready>,
    /// Moves whose page is in the buffer, and since when.
    buffered: VecDeque<(Move, Ready)>,
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
    /// The move whose operation is under way or suspended. `None` during the erase.
    pub moving: Option<Move>,
    /// Host operations inside the scope that were running when the job started have not all ended (ae2022's GC-pending state).
    pub pending: bool,
    /// Idleness started it: the pool was not short of free blocks.
    pub ahead: bool,
    /// It waits at its next point until the drive is idle again, or the pool short of free blocks.
    pub paused: bool,
    /// It has reached that point, and has been counted.
    pub pause_seen: bool,
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
    moves_in_flight: u32,
    jobs: Vec<Option<Job>>,
    /// By pool; used where more than one move may be in flight.
    flights: Vec<Flight>,
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
            moves_in_flight: config.gc.moves_in_flight,
            jobs: vec![None; pools],
            flights: vec![Flight::default(); pools],
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
        let moves = ftl.start_job(pool, victim);
        if self.moves_in_flight > 1 {
            let free = &mut self.flights[pool.index()].free;
            free.clear();
            free.extend((0..moves.min(self.moves_in_flight)).map(|_| (now, serial)));
        }
        self.turns[turn].active = Some(pool);
        self.jobs[pool.index()] = Some(Job {
            victim,
            cursor: 0,
            started_ns: now,
            ready: (now, serial),
            busy: false,
            moving: None,
            pending: true,
            ahead: false,
            paused: false,
            pause_seen: false,
        });
        true
    }

    /// The next step of the pool's job.
    #[inline(always)]
    pub fn next_step(&mut self, ftl: &Ftl, pool: PoolId) -> Step {
        if self.moves_in_flight > 1 {
            return self.next_step_in_flight(ftl, pool);
        }
        let job = self.jobs[pool.index()].as_mut().expect("the pool has an active job");
        match ftl.next_move(job.victim, job.cursor) {
            Some((page, from, lpn)) => {
                job.cursor = page + 1;
                Step::Move(Move::new(lpn, from))
            }
            None => Step::Erase,
        }
    }

    /// Of the page that could be read and the page that could be programmed, the one that became ready first.
    fn next_step_in_flight(&mut self, ftl: &Ftl, pool: PoolId) -> Step {
        if self.next_is_program(ftl, pool) {
            let (moved, _) = self.flights[pool.index()].buffered.pop_front().expect("a page is in the buffer");
            return Step::Program(moved);
        }
        match self.next_page(ftl, pool) {
            Some((page, from, lpn)) => {
                self.job_mut(pool).cursor = page + 1;
                self.flights[pool.index()].free.pop_front();
                Step::Read(Move::new(lpn, from))
            }
            None => Step::Erase,
        }
    }

    /// The next page to be read, if a move may begin.
    fn next_page(&self, ftl: &Ftl, pool: PoolId) -> Option<(u32, Ppn, Lpn)> {
        let (job, flight) = (self.job(pool)?, &self.flights[pool.index()]);
        flight.free.front()?;
        let mut next = ftl.next_move(job.victim, job.cursor);
        // One that went ahead of its turn is valid until its move ends.
        while let Some((page, _, lpn)) = next
            && self.is_buffered(pool, lpn)
        {
            next = ftl.next_move(job.victim, page + 1);
        }
        next
    }

    /// The next step of the pool's job is a flash program, which needs the bus to begin.
    pub fn next_is_program(&self, ftl: &Ftl, pool: PoolId) -> bool {
        if self.moves_in_flight == 1 {
            return false;
        }
        let flight = &self.flights[pool.index()];
        let read = self.next_page(ftl, pool).and_then(|_| flight.free.front());
        flight.buffered.front().is_some_and(|(_, ready)| read.is_none_or(|read| ready < read))
    }

    /// The next step of the pool's job is the erase.
    pub fn next_is_erase(&self, ftl: &Ftl, pool: PoolId) -> bool {
        let flight = &self.flights[pool.index()];
        let job = self.job(pool).expect("the pool has an active job");
        flight.buffered.is_empty() && ftl.next_move(job.victim, job.cursor).is_none()
    }

    /// The step that moves this page of the victim ahead of its turn, if one more move may begin.
    pub fn move_ahead(&mut self, pool: PoolId, lpn: Lpn, from: Ppn) -> Step {
        let moved = Move::new(lpn, from);
        if self.moves_in_flight == 1 {
            return Step::Move(moved);
        }
        self.flights[pool.index()].free.pop_front();
        Step::Read(moved)
    }

    /// One more move of the pool's job may begin.
    pub fn may_move(&self, pool: PoolId) -> bool {
        self.moves_in_flight == 1 || !self.flights[pool.index()].free.is_empty()
    }

    /// The page is in the controller's buffer.
    pub fn is_buffered(&self, pool: PoolId, lpn: Lpn) -> bool {
        self.buffered(pool, lpn).is_some()
    }

    /// The move of a page that is in the controller's buffer.
    pub fn buffered(&self, pool: PoolId, lpn: Lpn) -> Option<&Move> {
        self.flights[pool.index()].buffered.iter().map(|(moved, _)| moved).find(|moved| moved.lpn == lpn)
    }

    /// The same, to change.
    pub fn buffered_mut(&mut self, pool: PoolId, lpn: Lpn) -> Option<&mut Move> {
        self.flights[pool.index()].buffered.iter_mut().map(|(moved, _)| moved).find(|moved| moved.lpn == lpn)
    }

    /// The page of the move under way is in the controller's buffer.
    pub fn read_ended(&mut self, ftl: &Ftl, pool: PoolId, ready: Ready) {
        let job = self.job_mut(pool);
        job.busy = false;
        let moved = job.moving.take().expect("a page was read");
        self.flights[pool.index()].buffered.push_back((moved, ready));
        self.find_ready(ftl, pool, ready);
    }

    /// The move under way has ended, or is not needed any more.
    #[inline(always)]
    pub fn move_ended(&mut self, ftl: &Ftl, pool: PoolId, ready: Ready) {
        let job = self.job_mut(pool);
        job.busy = false;
        job.moving = None;
        job.ready = ready;
        if self.moves_in_flight > 1 {
            self.flights[pool.index()].free.push_back(ready);
            self.find_ready(ftl, pool, ready);
        }
    }

    /// Since when the next of several moves in flight, or else the erase, is ready.
    fn find_ready(&mut self, ftl: &Ftl, pool: PoolId, now: Ready) {
        let flight = &self.flights[pool.index()];
        let read = self.next_page(ftl, pool).and_then(|_| flight.free.front());
        let program = flight.buffered.front().map(|(_, ready)| ready);
        let ready = read.into_iter().chain(program).min().copied().unwrap_or(now);
        self.job_mut(pool).ready = ready;
    }

    /// The pool wants collection, and something may be gained by it.
    #[inline(always)]
    pub fn is_wanted(&self, pool: PoolId) -> bool {
        self.queued[pool.index()] || self.jobs[pool.index()].is_some()
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
