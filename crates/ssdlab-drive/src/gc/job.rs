//! A GC job: the collection of one block, step by step. With several moves in flight its pages pass through the controller's buffer, as do
//! mapping units, which a job gathers there until they fill a program ([`Gathering`]).

use std::collections::VecDeque;

use crate::ftl::{Class, Ftl};
use crate::views::Ready;
use ssdlab_base::cause::Cause;
use ssdlab_base::units::{BlockId, DieId, Lpn, Ns, PoolId, Ppn, SlotId, TxnId};
use ssdlab_keys::geometry::Geometry;

mod gathering;
mod spread;

use crate::rules::BurstRule;
use gathering::Gathering;
pub use gathering::Left;
use spread::Spread;

/// Bursts: a move is one operation, which needs the bus.
pub const JOB_BURSTS: BurstRule = BurstRule {
    keys: &["gc.moves_in_flight", "gc.turns", "gc.poll_ns", "device.copyback"],
    exact: |config| config.gc.moves_in_flight == 1 && (!config.device.copyback || config.gc.merge),
};

/// The next step of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Move a page, its data staying in the register.
    Move(Move),
    /// Read a page into the controller's buffer; of mapping units, the flash page that holds this one and others.
    Read(Move),
    /// Program a page from the controller's buffer; of mapping units, this one and others gathered with it.
    Program(Move),
    /// Erase the victim.
    Erase,
}

impl Step {
    /// The move this step belongs to; `None` for the erase.
    pub fn moved(self) -> Option<Move> {
        match self {
            Step::Move(moved) | Step::Read(moved) | Step::Program(moved) => Some(moved),
            Step::Erase => None,
        }
    }
}

/// The move of a valid page, or mapping unit, of the victim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The logical page.
    pub lpn: Lpn,
    /// The class that the placement policy gave to a unit that is gathered, from the end of its read.
    pub class: Class,
    /// The physical page it is read from.
    pub from: Ppn,
    /// The physical page it is programmed to, once chosen.
    pub to: Option<Ppn>,
    /// The first of the host reads that have merged with the move; the others are linked by `Transaction::next`.
    pub readers: Option<TxnId>,
    /// The host write that has merged with the move: its data are programmed in place of the page's.
    pub writer: Option<TxnId>,
}

impl Move {
    /// The move of a page that lies at `from`.
    pub fn new(lpn: Lpn, from: Ppn) -> Self {
        Move { lpn, class: 0, from, to: None, readers: None, writer: None }
    }
}

/// The step of a job (`gc.advance`) that its reads belong to, where jobs gather units: the reads that bring a program's worth of units are one
/// step, and any other operation is a step of its own.
#[derive(Clone, Copy, Debug, Default)]
struct ReadStep {
    /// Units that the reads of the step under way have brought or will bring, fewer than fill a program; 0: the next operation begins a step.
    units: u32,
    /// The last operation belongs to the step of the one before.
    goes_on: bool,
}

impl ReadStep {
    /// A read of `units` units begins; a program takes `each`.
    fn read(&mut self, units: usize, each: u32) {
        self.goes_on = self.is_under_way();
        self.units += units as u32;
        if self.units >= each {
            self.units = 0;
        }
    }

    /// An operation begins that is no read.
    fn end(&mut self) {
        *self = ReadStep::default();
    }

    /// Another read would belong to the step.
    fn is_under_way(self) -> bool {
        self.units > 0
    }
}

/// The moves of one job that go through the controller's buffer.
#[derive(Clone, Debug, Default)]
struct Flight {
    /// Since when another move may begin, one entry for each that may.
    free: VecDeque<Ready>,
    /// Moves whose page is in the controller's buffer, and since when.
    buffered: VecDeque<(Move, Ready)>,
}

/// The collection of one block, by itself or as a part of the collection of its superblock.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    victim: BlockId,
    /// The block that the job erases next: its victim, or that of an earlier job, which waited.
    erases: BlockId,
    /// Valid pages of the victim below this page offset have been moved or are being moved.
    cursor: u32,
    started_ns: Ns,
    /// When the next step became ready.
    ready: Ready,
    /// An operation of the job is in service.
    busy: bool,
    /// The move in service or suspended; of gathered units, that of the first. `None` if there is none, also during the erase.
    moving: Option<Move>,
    /// Host operations that were in service inside the scope when the job started may not all have ended (ae2022's GC-pending state).
    pub(super) pending: bool,
    /// Why the job takes its block.
    pub(super) cause: Cause,
    /// Pauses at its next preemption point until the drive is idle again, or the pool short of free blocks.
    pub(super) paused: bool,
    /// The job has reached the point where it pauses, and the pause has been counted.
    pub(super) pause_seen: bool,
    /// The victim is erased, and other blocks of its superblock are not: the job goes on in other pools.
    pub(super) over: bool,
}

impl Job {
    /// The block being collected.
    #[inline(always)]
    pub fn victim(&self) -> BlockId {
        self.victim
    }

    /// The block that the job erases next, or is erasing: its victim, or that of an earlier job, which waited (`gc.leftover`).
    #[inline(always)]
    pub fn erases(&self) -> BlockId {
        self.erases
    }

    /// Valid pages of the victim below this page offset have been moved or are being moved.
    pub fn cursor(&self) -> u32 {
        self.cursor
    }

    /// When the job started, ns.
    pub fn started_ns(&self) -> Ns {
        self.started_ns
    }

    /// When the next step of the job became ready, and the serial number of that moment.
    #[inline(always)]
    pub fn ready(&self) -> Ready {
        self.ready
    }

    /// An operation of the job is in service.
    #[inline(always)]
    pub fn is_busy(&self) -> bool {
        self.busy
    }

    /// The move in service or suspended; of gathered units, that of the first, with its pages. `None` if there is none, also during the
    /// erase.
    #[inline(always)]
    pub fn moving(&self) -> Option<Move> {
        self.moving
    }

    /// Host operations that were in service inside the scope of the job when it started may not all have ended.
    #[inline(always)]
    pub fn is_pending(&self) -> bool {
        self.pending
    }

    /// The job pauses, now or at its next preemption point, until the drive is idle again or the pool short of free blocks.
    #[inline(always)]
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// The victim is erased, and the job goes on in other pools.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Why the job takes its block.
    #[inline(always)]
    pub fn cause(&self) -> Cause {
        self.cause
    }
}

/// The active jobs of all pools, at most one each.
#[derive(Debug)]
pub struct Jobs {
    jobs: Vec<Option<Job>>,
    /// By pool: moves through the controller's buffer. Used only if several moves may be in flight.
    flights: Vec<Flight>,
    moves_in_flight: u32,
    /// Mapping units that jobs gather in the controller's buffer; `None` unless a program takes several.
    gathering: Option<Gathering>,
    /// Jobs that collect superblocks of several pools; `None` without such.
    spread: Option<Spread>,
    /// By die: number of active jobs.
    on_die: Vec<u32>,
    /// By die: its burst, the page moves of a job as one event: the job's pool, and the slot of the die that it occupies.
    bursts: Vec<Option<(PoolId, SlotId)>>,
    bursts_begun: u64,
}

impl Jobs {
    /// `classes`: see [`Ftl::classes_of_victim`]; of all page moves, if units wait for the next job (`carries`).
    pub(super) fn new(geometry: &Geometry, classes: u8, moves_in_flight: u32, carries: bool) -> Self {
        let pools = geometry.pools.count.get() as usize;
        Jobs {
            jobs: vec![None; pools],
            flights: vec![Flight::default(); pools],
            moves_in_flight,
            gathering: (geometry.units_per_program > 1 && !geometry.spans_pools())
                .then(|| Gathering::new(geometry, classes, moves_in_flight, carries)),
            spread: geometry.spans_pools().then(|| Spread::new(geometry, classes, moves_in_flight, carries)),
            on_die: vec![0; geometry.dies as usize],
            bursts: vec![None; geometry.dies as usize],
            bursts_begun: 0,
        }
    }

    #[inline(always)]
    pub(super) fn of(&self, pool: PoolId) -> Option<&Job> {
        self.jobs[pool.index()].as_ref()
    }

    #[inline(always)]
    pub(super) fn of_mut(&mut self, pool: PoolId) -> &mut Job {
        self.jobs[pool.index()].as_mut().expect("the pool has an active job")
    }

    /// All active jobs; of the job that collects a superblock its parts, one of each pool.
    pub fn active(&self) -> impl Iterator<Item = &Job> {
        self.jobs.iter().flatten()
    }

    /// Number of active jobs of a die.
    #[inline(always)]
    pub fn on_die(&self, die: DieId) -> u32 {
        self.on_die[die.index()]
    }

    /// Number of active jobs of all dies; the parts of the job that collects a superblock count each.
    pub fn count(&self) -> u64 {
        self.on_die.iter().map(|&jobs| u64::from(jobs)).sum()
    }

    /// Starts the job of a pool, which has `moves` valid pages of `victim` to move.
    pub(super) fn start(&mut self, die: DieId, pool: PoolId, (victim, cause): (BlockId, Cause), moves: u32, ready: Ready) {
        if self.moves_in_flight > 1 {
            let free = &mut self.flights[pool.index()].free;
            free.clear();
            free.extend((0..moves.min(self.moves_in_flight)).map(|_| ready));
        }
        if let Some(gathering) = &mut self.gathering {
            gathering.start(pool, false);
        }
        if let Some(spread) = &mut self.spread {
            spread.start(pool);
        }
        self.on_die[die.index()] += 1;
        self.jobs[pool.index()] = Some(Job {
            victim,
            erases: victim,
            cursor: 0,
            started_ns: ready.0,
            ready,
            busy: false,
            moving: None,
            pending: true,
            cause,
            paused: false,
            pause_seen: false,
            over: false,
        });
    }

    /// Ends the job of a pool.
    pub(super) fn end(&mut self, die: DieId, pool: PoolId) -> Job {
        self.on_die[die.index()] -= 1;
        self.jobs[pool.index()].take().expect("the pool has an active job")
    }

    /// Jobs gather mapping units in the controller's buffer until they fill a program.
    pub(super) fn gathers(&self) -> bool {
        self.gathering.is_some() || self.spread.is_some()
    }

    /// The next step of the pool's job.
    #[inline(always)]
    pub fn next_step(&mut self, ftl: &Ftl, pool: PoolId) -> Step {
        if self.moves_in_flight > 1 || self.gathers() {
            return self.next_step_in_flight(ftl, pool);
        }
        let job = self.of_mut(pool);
        match ftl.next_move(job.victim, job.cursor) {
            Some((page, from, lpn)) => {
                job.cursor = page + 1;
                Step::Move(Move::new(lpn, from))
            }
            None => Step::Erase,
        }
    }

    /// The next step with several moves in flight: a read or a program, whichever became ready first, or else the erase.
    fn next_step_in_flight(&mut self, ftl: &Ftl, pool: PoolId) -> Step {
        if let Some(gathering) = &mut self.gathering {
            let job = self.jobs[pool.index()].as_mut().expect("the pool has an active job");
            let step = gathering.next_step(ftl, pool, job.victim, &mut job.cursor);
            if step == Step::Erase {
                job.erases = gathering.emptied(ftl, pool).unwrap_or(job.victim);
            }
            return step;
        }
        if self.spread.is_some() {
            return self.next_step_of_part(ftl, pool);
        }
        if self.next_is_program(ftl, pool) {
            let (moved, _) = self.flights[pool.index()].buffered.pop_front().expect("a page is in the buffer");
            return Step::Program(moved);
        }
        match self.next_page(ftl, pool) {
            Some((page, from, lpn)) => {
                self.of_mut(pool).cursor = page + 1;
                self.flights[pool.index()].free.pop_front();
                Step::Read(Move::new(lpn, from))
            }
            None => Step::Erase,
        }
    }

    /// The next page to be read, if one more move may begin: its offset, its physical and its logical page.
    fn next_page(&self, ftl: &Ftl, pool: PoolId) -> Option<(u32, Ppn, Lpn)> {
        let (job, flight) = (self.of(pool)?, &self.flights[pool.index()]);
        flight.free.front()?;
        let mut next = ftl.next_move(job.victim, job.cursor);
        // A page whose move began out of order is valid until the move ends.
        while let Some((page, _, lpn)) = next
            && self.buffered(pool, lpn).is_some()
        {
            next = ftl.next_move(job.victim, page + 1);
        }
        next
    }

    /// The next step of the pool's job is a flash program, which needs the bus to begin.
    pub fn next_is_program(&self, ftl: &Ftl, pool: PoolId) -> bool {
        if let Some(gathering) = &self.gathering {
            let job = self.of(pool).expect("the pool has an active job");
            return gathering.next_is_program(ftl, pool, job.victim, job.cursor);
        }
        if self.spread.is_some() {
            return self.part_programs_next(ftl, pool);
        }
        if self.moves_in_flight == 1 {
            return false;
        }
        let flight = &self.flights[pool.index()];
        let read = self.next_page(ftl, pool).and_then(|_| flight.free.front());
        flight.buffered.front().is_some_and(|(_, ready)| read.is_none_or(|read| ready < read))
    }

    /// The next step of the pool's job is the erase.
    pub fn next_is_erase(&self, ftl: &Ftl, pool: PoolId) -> bool {
        let job = self.of(pool).expect("the pool has an active job");
        if let Some(gathering) = &self.gathering {
            return gathering.next_is_erase(ftl, pool, job.victim, job.cursor);
        }
        if self.spread.is_some() {
            return self.part_erases_next(ftl, pool);
        }
        let flight = &self.flights[pool.index()];
        flight.buffered.is_empty() && ftl.next_move(job.victim, job.cursor).is_none()
    }

    /// Begins the move of this page of the victim out of order, and returns its step. Only where [`Collector::may_move`].
    pub fn move_out_of_order(&mut self, ftl: &Ftl, pool: PoolId, lpn: Lpn, from: Ppn) -> Step {
        if let Some(gathering) = &mut self.gathering {
            return gathering.read_out_of_order(ftl, pool, from);
        }
        if self.spread.is_some() {
            return self.read_page_out_of_order(ftl, pool, from);
        }
        let moved = Move::new(lpn, from);
        if self.moves_in_flight == 1 {
            return Step::Move(moved);
        }
        self.flights[pool.index()].free.pop_front();
        Step::Read(moved)
    }

    /// The operation that the pool's job has begun last is the first of its step (`gc.advance`). Where units are gathered, a step reads a
    /// program's worth of them, which may take several reads.
    pub fn begins_step(&self, pool: PoolId) -> bool {
        let reads = match (&self.gathering, &self.spread) {
            (Some(gathering), _) => gathering.read_step(pool),
            (None, Some(spread)) => spread.read_step(pool),
            (None, None) => ReadStep::default(),
        };
        !reads.goes_on
    }

    /// The next operation of the pool's job belongs to the step under way: another read of it.
    pub fn is_inside_step(&self, ftl: &Ftl, pool: PoolId) -> bool {
        let Some(job) = self.of(pool) else { return false };
        match (&self.gathering, &self.spread) {
            (Some(gathering), _) => gathering.is_inside_step(ftl, pool, job.victim, job.cursor),
            (None, Some(spread)) => spread.read_step(pool).is_under_way() && self.part_reads_next(ftl, pool),
            (None, None) => false,
        }
    }

    /// A program of gathered units has ended, of which this many were moved out of their blocks.
    #[inline(always)]
    pub fn committed(&mut self, pool: PoolId, units: u32) {
        if let Some(gathering) = &mut self.gathering {
            gathering.committed(pool, units);
        }
    }

    /// A host write has merged with a move of the pool's job that is in the controller's buffer.
    pub fn carries_write(&self, pool: PoolId) -> bool {
        match (&self.gathering, &self.spread) {
            (Some(gathering), _) => gathering.carries_write(pool),
            (None, Some(spread)) => spread.carries_write(pool),
            (None, None) => self.flights[pool.index()].buffered.iter().any(|(moved, _)| moved.writer.is_some()),
        }
    }

    /// Steps of the pool's job (`gc.advance`) that have not begun, where moves pass through the controller's buffer: the reads that bring
    /// a program's worth of units, the programs, and the erase. Where classes share no programs, each may need one that is not full.
    pub fn steps_left(&self, ftl: &Ftl, pool: PoolId) -> u32 {
        let Some(job) = self.of(pool) else { return 0 };
        if job.busy && job.moving.is_none() {
            return 0;
        }
        if self.spread.is_some() {
            return self.steps_left_of_part(ftl, pool);
        }
        let valid = self.gathering.as_ref().map_or(ftl.blocks().valid(job.victim), |gathering| gathering.units_left(ftl, pool, job.victim));
        let (erases, reads) = (1 + u32::from(ftl.waiting_victim(pool).is_some()), job.moving.is_some_and(|moved| moved.to.is_none()));
        let (held, in_service) = match &self.gathering {
            Some(gathering) => gathering.units_held(ftl, pool, job.victim),
            None => {
                let is_valid = |moved: &Move| ftl.lookup(moved.lpn) == Some(moved.from);
                let buffered = &self.flights[pool.index()].buffered;
                (buffered.iter().filter(|(moved, _)| is_valid(moved)).count() as u32, u32::from(job.moving.as_ref().is_some_and(is_valid)))
            }
        };
        let to_read = valid.saturating_sub(held + in_service);
        let to_program = to_read + held + if reads { in_service } else { 0 };
        let each = ftl.geometry().units_per_program;
        let classes =
            u32::from(if ftl.waiting_victim(pool).is_some() { ftl.classes_of_moves() } else { ftl.classes_of_victim() }).min(to_program);
        let programs = (to_program + classes * (each - 1)) / each;
        to_read.div_ceil(each) + programs.min(ftl.programs_owed(pool)) + erases
    }

    /// The job that has just started takes up the victim that an earlier one left, whose last units are in the controller's buffer.
    pub(super) fn takes_up(&mut self, ftl: &Ftl, pool: PoolId) {
        for part in ftl.geometry().pools_of_group(pool).map(PoolId) {
            self.of_mut(part).cursor = ftl.geometry().units_per_block.get();
        }
        match &mut self.spread {
            Some(spread) => spread.takes_up(pool),
            None => self.gathering_mut().start(pool, true),
        }
    }

    /// The pool's job has taken up the victim that an earlier one left.
    pub fn finishes(&self, pool: PoolId) -> bool {
        match (&self.gathering, &self.spread) {
            (Some(gathering), _) => gathering.finishes(pool),
            (None, spread) => spread.as_ref().is_some_and(|spread| spread.finishes(pool)),
        }
    }

    /// What the pool's job leaves for the next, if nothing else is left to be done.
    pub(super) fn leaves(&mut self, ftl: &Ftl, pool: PoolId) -> Option<Left> {
        if self.spread.is_some() {
            return self.parts_leave(ftl, pool);
        }
        let job = self.of(pool).filter(|job| !job.busy)?;
        let (victim, cursor) = (job.victim, job.cursor);
        self.gathering.as_mut()?.leaves(ftl, pool, victim, cursor)
    }

    /// The erase of a block that waited has ended: the job goes on.
    pub fn waiting_erased(&mut self, pool: PoolId, ready: Ready) {
        let job = self.of_mut(pool);
        (job.busy, job.ready, job.erases) = (false, ready, job.victim);
    }

    /// One more move of the pool's job may begin.
    pub fn may_move(&self, pool: PoolId) -> bool {
        if let Some(gathering) = &self.gathering {
            return gathering.has_room(pool);
        }
        if let Some(spread) = &self.spread {
            return spread.has_room(pool);
        }
        self.moves_in_flight == 1 || !self.flights[pool.index()].free.is_empty()
    }

    /// The move of `lpn` by the pool's job, if the page is in the controller's buffer.
    pub fn buffered(&self, pool: PoolId, lpn: Lpn) -> Option<&Move> {
        if let Some(gathering) = &self.gathering {
            return gathering.buffered(pool, lpn);
        }
        if let Some(spread) = &self.spread {
            return spread.buffered(pool, lpn);
        }
        self.flights[pool.index()].buffered.iter().map(|(moved, _)| moved).find(|moved| moved.lpn == lpn)
    }

    /// Mutable access to the move of `lpn` by the pool's job, if the page is in the controller's buffer.
    pub fn buffered_mut(&mut self, pool: PoolId, lpn: Lpn) -> Option<&mut Move> {
        if let Some(gathering) = &mut self.gathering {
            return gathering.buffered_mut(pool, lpn);
        }
        if let Some(spread) = &mut self.spread {
            return spread.buffered_mut(pool, lpn);
        }
        self.flights[pool.index()].buffered.iter_mut().map(|(moved, _)| moved).find(|moved| moved.lpn == lpn)
    }

    /// Marks an operation of the pool's job as in service: of the move `moving`, or, if `None`, the erase or a burst.
    pub fn begin_step(&mut self, pool: PoolId, moving: Option<Move>) {
        let job = self.of_mut(pool);
        (job.busy, job.moving) = (true, moving);
    }

    /// Begins a burst: the moves that the job of the pool has left become one event, in slot `at` of the die.
    pub fn begin_burst(&mut self, die: DieId, pool: PoolId, at: SlotId) {
        self.begin_step(pool, None);
        self.bursts[die.index()] = Some((pool, at));
        self.bursts_begun += 1;
    }

    /// Ends the burst of a die: the moves that its job has left are operations of their own.
    pub fn end_burst(&mut self, die: DieId) {
        self.bursts[die.index()] = None;
    }

    /// Number of dies with a burst.
    pub fn bursts(&self) -> u64 {
        self.bursts.iter().flatten().count() as u64
    }

    /// Number of bursts begun: the page moves of a job as one event.
    pub fn bursts_begun(&self) -> u64 {
        self.bursts_begun
    }

    /// Notes that the valid pages of the job's victim below page offset `cursor` have been moved.
    pub fn set_cursor(&mut self, pool: PoolId, cursor: u32) {
        self.of_mut(pool).cursor = cursor;
    }

    /// Takes the move in service, which has ended.
    pub fn take_moving(&mut self, pool: PoolId) -> Option<Move> {
        self.of_mut(pool).moving.take()
    }

    /// The burst of a die, the page moves of a job as one event: the job's pool, and the slot of the die that it occupies.
    #[inline(always)]
    pub fn burst_on(&self, die: DieId) -> Option<(PoolId, SlotId)> {
        self.bursts[die.index()]
    }

    /// The class of the program that the pool's job has begun. Only where jobs gather units.
    pub fn class_in_service(&self, pool: PoolId) -> Class {
        match &self.gathering {
            Some(gathering) => gathering.class_in_service(pool),
            None => self.class_of_part(pool),
        }
    }

    /// Mutable access to the move in service or suspended of the pool's job.
    pub fn moving_mut(&mut self, pool: PoolId) -> &mut Move {
        self.of_mut(pool).moving.as_mut().expect("a page is being moved")
    }

    /// The move of `lpn` that is in service or suspended: the move of the job, or that of one of its gathered units.
    #[inline]
    pub fn moving_page(&self, pool: PoolId, lpn: Lpn) -> Option<&Move> {
        match (&self.gathering, &self.spread) {
            (Some(gathering), _) => gathering.in_service(pool).iter().find(|moved| moved.lpn == lpn),
            (None, Some(spread)) => spread.in_service(pool).iter().find(|moved| moved.lpn == lpn),
            (None, None) => self.of(pool)?.moving.as_ref().filter(|moved| moved.lpn == lpn),
        }
    }

    /// The pool whose job, or part of a job, has the move of `lpn` in service or suspended, for the job of the pool in which the page lies.
    #[inline]
    pub fn mover(&self, pool: PoolId, lpn: Lpn) -> Option<PoolId> {
        match &self.spread {
            Some(spread) => spread.mover(pool, lpn),
            None => self.moving_page(pool, lpn).map(|_| pool),
        }
    }

    /// Mutable access to the move of `lpn` by the pool's job, which must be in service or suspended.
    pub fn moving_page_mut(&mut self, pool: PoolId, lpn: Lpn) -> &mut Move {
        if !self.gathers() {
            return self.moving_mut(pool);
        }
        let mut units = self.in_service_mut(pool).iter_mut();
        units.find(|moved| moved.lpn == lpn).expect("a unit is being moved")
    }

    /// Mapping units that jobs gather in the controller's buffer; `None` unless a program takes several.
    pub(super) fn gathering(&self) -> Option<&Gathering> {
        self.gathering.as_ref()
    }

    pub(super) fn spread_jobs(&self) -> Option<&Spread> {
        self.spread.as_ref()
    }

    /// The units of the operation of the pool's job that is in service or suspended. Only where jobs gather units.
    pub(super) fn in_service_mut(&mut self, pool: PoolId) -> &mut Vec<Move> {
        match (&mut self.spread, &mut self.gathering) {
            (Some(spread), _) => spread.in_service_mut(pool),
            (None, Some(gathering)) => gathering.in_service_mut(pool),
            (None, None) => panic!("jobs gather no units"),
        }
    }

    pub(super) fn gathering_mut(&mut self) -> &mut Gathering {
        self.gathering.as_mut().expect("jobs gather units")
    }

    /// The read of the move in service has ended: its page is in the controller's buffer.
    pub fn read_ended(&mut self, ftl: &Ftl, pool: PoolId, ready: Ready) {
        let job = self.of_mut(pool);
        job.busy = false;
        let moved = job.moving.take().expect("a page was read");
        if let Some(gathering) = &mut self.gathering {
            gathering.read_ended(ftl, pool);
            self.of_mut(pool).ready = ready;
            return;
        }
        if self.spread.is_some() {
            self.part_has_read(ftl, pool);
            self.of_mut(pool).ready = ready;
            return;
        }
        self.flights[pool.index()].buffered.push_back((moved, ready));
        self.find_ready(ftl, pool, ready);
    }

    /// The move in service has ended, or is not needed any more.
    #[inline(always)]
    pub fn move_ended(&mut self, ftl: &Ftl, pool: PoolId, ready: Ready) {
        let job = self.of_mut(pool);
        job.busy = false;
        job.moving = None;
        job.ready = ready;
        if let Some(gathering) = &mut self.gathering {
            gathering.in_service_mut(pool).clear();
        } else if self.moves_in_flight > 1 && self.spread.is_none() {
            self.flights[pool.index()].free.push_back(ready);
            self.find_ready(ftl, pool, ready);
        }
    }

    /// The program of the move in service has failed: its data are to be programmed once more. A page that is still in the controller's buffer is
    /// not read again. Host writes that had merged with the move have left it.
    pub fn move_failed(&mut self, ftl: &Ftl, pool: PoolId, ready: Ready) {
        let job = self.of_mut(pool);
        (job.busy, job.ready) = (false, ready);
        let moved = job.moving.take().expect("a page was moved");
        if let Some(gathering) = &mut self.gathering {
            return gathering.program_failed(pool);
        }
        if self.spread.is_some() {
            return self.part_failed(pool);
        }
        let again = Move::new(moved.lpn, moved.from);
        if self.moves_in_flight > 1 {
            self.flights[pool.index()].buffered.push_front((again, ready));
            return self.find_ready(ftl, pool, ready);
        }
        let job = self.of_mut(pool);
        job.cursor = job.cursor.min(ftl.geometry().split_page(moved.from).1);
    }

    /// Gives up all moves of the job of the pool, or of its group, that are in the controller's buffer. Returns the host writes that had merged with them.
    pub fn give_up_moves(&mut self, pool: PoolId) -> Vec<TxnId> {
        let buffered = match &mut self.gathering {
            Some(gathering) => gathering.give_up(pool),
            None if self.spread.is_some() => self.give_up_parts(pool),
            None => self.flights[pool.index()].buffered.drain(..).map(|(moved, _)| moved).collect(),
        };
        buffered.into_iter().filter_map(|moved| moved.writer).collect()
    }

    /// Sets since when the job is ready: the earliest of its ready reads and programs, or else (the erase is next) `now`.
    fn find_ready(&mut self, ftl: &Ftl, pool: PoolId, now: Ready) {
        let flight = &self.flights[pool.index()];
        let read = self.next_page(ftl, pool).and_then(|_| flight.free.front());
        let program = flight.buffered.front().map(|(_, ready)| ready);
        let ready = read.into_iter().chain(program).min().copied().unwrap_or(now);
        self.of_mut(pool).ready = ready;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_keys::config::Config;

    const DIE: DieId = DieId(0);
    const POOL: PoolId = PoolId(0);

    /// Filled blocks of ten pages. Pages 3 and 8 of the first two blocks are invalid.
    fn drive() -> Ftl {
        let mut config = Config::default();
        config.device.channels = 1;
        config.device.blocks_per_plane = 8;
        config.device.pages_per_block = 10;
        config.device.overprovisioning = 0.5;
        let mut ftl = Ftl::new(&config);
        ftl.fill(ftl.geometry().exported_units);
        [3, 8, 13, 18].into_iter().for_each(|lpn| _ = ftl.trim(Lpn(lpn)));
        ftl
    }

    fn begin(ftl: &mut Ftl, jobs: &mut Jobs, victim: u32, ready: Ready) {
        let moves = ftl.start_job(POOL, BlockId(victim));
        assert_eq!(moves, 8);
        jobs.start(DIE, POOL, (BlockId(victim), Cause::Space), moves, ready);
    }

    fn program(ftl: &mut Ftl, moved: &Move) {
        let to = ftl.allocate_move(POOL, ftl.class_to_move(moved.from)).ppn;
        assert!(ftl.commit_move(POOL, moved.lpn, moved.from, to));
    }

    /// Plays a job with up to `most` moves in flight against a simple model: pages leave the buffer in the order of their reads, each once;
    /// no more than `most` are in flight; of the ready steps, the one that became ready first goes first.
    fn play(ftl: &mut Ftl, jobs: &mut Jobs, most: usize, out_of_order: Option<Lpn>, clock: &mut u64) -> Vec<Lpn> {
        let mut next_ready = || {
            *clock += 10;
            (*clock, *clock)
        };
        let mut free: VecDeque<Ready> = vec![jobs.of(POOL).unwrap().ready(); most.min(8)].into();
        let (mut buffered, mut read, mut first) = (VecDeque::<(Lpn, Ready)>::new(), Vec::new(), out_of_order);
        loop {
            let may_read = read.len() < 8 && !free.is_empty();
            assert_eq!(jobs.may_move(POOL), !free.is_empty());
            let programs = buffered.front().is_some_and(|&(_, ready)| !may_read || ready < free[0]);
            let erases = read.len() == 8 && buffered.is_empty();
            assert_eq!((jobs.next_is_program(ftl, POOL), jobs.next_is_erase(ftl, POOL)), (programs, erases));
            let step = match first.take() {
                Some(lpn) => jobs.move_out_of_order(ftl, POOL, lpn, ftl.lookup(lpn).unwrap()),
                None => jobs.next_step(ftl, POOL),
            };
            jobs.begin_step(POOL, step.moved());
            assert!(jobs.of(POOL).unwrap().is_busy());
            let ready = next_ready();
            match step {
                Step::Read(moved) => {
                    free.pop_front().expect("no more are in flight than may be");
                    read.push(moved.lpn);
                    buffered.push_back((moved.lpn, ready));
                    jobs.read_ended(ftl, POOL, ready);
                    assert_eq!(jobs.buffered(POOL, moved.lpn).map(|moved| moved.from), Some(moved.from));
                }
                Step::Program(moved) => {
                    assert_eq!(buffered.pop_front().map(|(lpn, _)| lpn), Some(moved.lpn));
                    free.push_back(ready);
                    program(ftl, &moved);
                    jobs.move_ended(ftl, POOL, ready);
                    assert_eq!(jobs.buffered(POOL, moved.lpn), None);
                }
                step => {
                    assert_eq!((step, erases), (Step::Erase, true));
                    return read;
                }
            }
            assert!(!jobs.of(POOL).unwrap().is_busy());
            let reads = free.front().filter(|_| read.len() < 8);
            let expected = reads.into_iter().chain(buffered.front().map(|(_, ready)| ready)).min().copied().unwrap_or(ready);
            assert_eq!(jobs.of(POOL).unwrap().ready(), expected);
        }
    }

    #[test]
    fn no_more_moves_are_in_flight_than_may_be_in_one_job_after_the_other() {
        for most in [2, 3, 100] {
            let (mut ftl, mut clock) = (drive(), 0);
            let mut jobs = Jobs::new(ftl.geometry(), 1, most, false);
            let pages = |numbers: [u32; 8]| numbers.map(Lpn).to_vec();
            for (victim, out_of_order, expected) in
                [(0, None, pages([0, 1, 2, 4, 5, 6, 7, 9])), (1, Some(Lpn(12)), pages([12, 10, 11, 14, 15, 16, 17, 19]))]
            {
                begin(&mut ftl, &mut jobs, victim, (clock, clock));
                assert_eq!(play(&mut ftl, &mut jobs, most as usize, out_of_order, &mut clock), expected, "{most} in flight");
                jobs.end(DIE, POOL);
                ftl.commit_erase(POOL, BlockId(victim));
            }
        }
    }

    #[test]
    fn one_move_at_a_time_is_ready_when_the_one_before_has_ended() {
        let mut ftl = drive();
        let mut jobs = Jobs::new(ftl.geometry(), 1, 1, false);
        begin(&mut ftl, &mut jobs, 0, (5, 1));
        assert_eq!((jobs.on_die(DIE), jobs.count(), jobs.of(POOL).unwrap().ready()), (1, 1, (5, 1)));
        for time in 6..14 {
            assert!(jobs.may_move(POOL) && !jobs.next_is_program(&ftl, POOL) && !jobs.next_is_erase(&ftl, POOL));
            let Step::Move(moved) = jobs.next_step(&ftl, POOL) else { panic!("a page is moved in one step") };
            jobs.begin_step(POOL, Some(moved));
            assert_eq!(jobs.moving_page(POOL, moved.lpn), Some(&moved));
            program(&mut ftl, &moved);
            jobs.move_ended(&ftl, POOL, (time, 2));
            assert_eq!((jobs.of(POOL).unwrap().ready(), jobs.of(POOL).unwrap().moving()), ((time, 2), None));
        }
        assert_eq!((jobs.next_is_erase(&ftl, POOL), jobs.next_step(&ftl, POOL)), (true, Step::Erase));
        jobs.end(DIE, POOL);
        assert_eq!((jobs.on_die(DIE), jobs.count(), jobs.of(POOL).is_none()), (0, 0, true));
    }
}
