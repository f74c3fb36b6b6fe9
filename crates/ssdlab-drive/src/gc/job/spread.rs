//! The job that collects a superblock of several pools. Its part in each pool reads the pages of the pool's block into the controller's
//! buffer. There all parts gather their units until they fill a program, which is dealt to the pool whose turn it is
//! ([`crate::ftl::Ftl::deal_move`]); the part in that pool programs it. The blocks are erased once no unit is left to be moved.

use std::collections::VecDeque;

use super::{Jobs, Left, Move, ReadStep, Step};
use crate::ftl::{BlockState, Class, Ftl};
use crate::gc::packing::Packing;
use crate::views::Ready;
use ssdlab_base::units::{BlockId, Lpn, PoolId, Ppn};
use ssdlab_keys::geometry::{Divisor, Geometry};

/// The part of a job in one pool.
#[derive(Clone, Debug, Default)]
struct Part {
    /// Units read from the pool's block, or being read, whose programs have not ended.
    held: usize,
    /// Units that the part is to program, in the order of their programs.
    units: VecDeque<Move>,
    /// Programs dealt to the pool: number of units and class of each.
    programs: VecDeque<(usize, Class)>,
    /// Units of the operation in service or suspended.
    in_service: Vec<Move>,
    /// Class of the program in service.
    class: Class,
    /// The operation in service is a read.
    reads: bool,
    read_step: ReadStep,
    /// A page of the block has been read before its turn.
    out_of_order: bool,
}

impl Part {
    /// The part programs, or is to program, a unit for which `is` is true.
    fn programs_any(&self, is: impl Fn(&Move) -> bool) -> bool {
        self.units.iter().any(&is) || !self.reads && self.in_service.iter().any(is)
    }
}

/// Tells units that were read from a superblock, named by the block that stands for it.
fn is_of(ftl: &Ftl, superblock: BlockId) -> impl Fn(&Move) -> bool {
    move |moved| ftl.blocks().stands_for(ftl.geometry().split_page(moved.from).0) == superblock
}

/// All parts of the job of one group.
#[derive(Clone, Debug)]
struct Whole {
    /// Units in the controller's buffer that were not dealt.
    gathered: Packing,
    /// The units of the program to be dealt next; else empty.
    next: Vec<Move>,
    /// Units read, or being read, whose programs have not ended.
    held: usize,
    /// Reads in service or suspended.
    reading: u32,
    /// Pools of the group, from its first on, whose blocks have no unit left to be read.
    pools_read: u32,
    /// All units were moved: the blocks are erased.
    erases: bool,
    /// The superblock that an earlier job left has no unit any more: its blocks are erased.
    erases_waiting: bool,
    /// The job has taken up the victim of an earlier one, and leaves nothing.
    finishes: bool,
}

/// The jobs of superblocks of several pools.
#[derive(Debug)]
pub(in crate::gc) struct Spread {
    parts: Vec<Part>,
    /// By group.
    wholes: Vec<Whole>,
    pools_per_group: Divisor,
    /// Reads of a part go on until it holds this many units.
    wanted: usize,
    /// Units that fill no program wait for the next job.
    carries: bool,
}

impl Spread {
    /// `classes`: of page moves, where the units that are gathered together may have several. `carries`: units that fill no program wait for the
    /// next job.
    pub(super) fn new(geometry: &Geometry, classes: u8, moves_in_flight: u32, carries: bool) -> Self {
        let (per_program, pools) = (geometry.units_per_program as usize, geometry.pools.count.get());
        let groups = pools / geometry.pools.per_group.get();
        let part = Part { in_service: Vec::with_capacity(per_program), ..Part::default() };
        let whole = Whole {
            gathered: Packing::new(geometry.units_per_program, classes, 1),
            next: Vec::with_capacity(per_program),
            held: 0,
            reading: 0,
            pools_read: 0,
            erases: false,
            erases_waiting: false,
            finishes: false,
        };
        Spread {
            parts: vec![part; pools as usize],
            wholes: vec![whole; groups as usize],
            pools_per_group: geometry.pools.per_group,
            // With one unit less in each class no program may be full, and nothing else lets a part read on.
            wanted: (per_program * moves_in_flight as usize).max(usize::from(classes) * (per_program - 1) + 1),
            carries,
        }
    }

    fn group(&self, pool: PoolId) -> usize {
        self.pools_per_group.quotient(pool.0) as usize
    }

    /// Call when the part of a job in a pool starts.
    pub(super) fn start(&mut self, pool: PoolId) {
        let group = self.group(pool);
        let whole = &mut self.wholes[group];
        let left = whole.gathered.units().len();
        assert!(whole.held == left && (self.carries || left == 0), "the job before has moved all its units, or left them");
        (whole.pools_read, whole.erases, whole.erases_waiting, whole.finishes) = (0, false, false, false);
        let part = &mut self.parts[pool.index()];
        (part.out_of_order, part.read_step) = (false, ReadStep::default());
    }

    /// The job of the group of `lead`, all of whose parts have started, has taken up the victim that an earlier one left.
    pub(super) fn takes_up(&mut self, lead: PoolId) {
        let group = self.group(lead);
        self.wholes[group].finishes = true;
    }

    /// The job of the pool's group has taken up the victim that an earlier one left.
    pub(super) fn finishes(&self, pool: PoolId) -> bool {
        self.wholes[self.group(pool)].finishes
    }

    /// The pools of the group of a pool.
    fn pools(&self, pool: PoolId) -> impl Iterator<Item = PoolId> + use<> {
        let (each, group) = (self.pools_per_group.get(), self.group(pool) as u32);
        (group * each..(group + 1) * each).map(PoolId)
    }

    /// The units in the controller's buffer that the job of the pool's group is to program: those gathered, then those dealt.
    fn buffer(&self, pool: PoolId) -> impl Iterator<Item = &Move> {
        let dealt = self.pools(pool).flat_map(|part| &self.parts[part.index()].units);
        self.wholes[self.group(pool)].gathered.units().iter().chain(dealt)
    }

    /// The move of `lpn` by the job of the pool's group, if the page is in the controller's buffer, and its program has not begun.
    pub(super) fn buffered(&self, pool: PoolId, lpn: Lpn) -> Option<&Move> {
        self.buffer(pool).find(|moved| moved.lpn == lpn)
    }

    /// Mutable access to the move that [`Spread::buffered`] finds.
    pub(super) fn buffered_mut(&mut self, pool: PoolId, lpn: Lpn) -> Option<&mut Move> {
        let (group, pools) = (self.group(pool), self.pools(pool));
        let parts = &mut self.parts[pools.map(|part| part.index()).min()?..][..self.pools_per_group.get() as usize];
        let dealt = parts.iter_mut().flat_map(|part| &mut part.units);
        self.wholes[group].gathered.units_mut().iter_mut().chain(dealt).find(|moved| moved.lpn == lpn)
    }

    /// The pool of the part whose operation in service or suspended is for the move of `lpn` by the job of the pool's group.
    pub(super) fn mover(&self, pool: PoolId, lpn: Lpn) -> Option<PoolId> {
        self.pools(pool).find(|&part| self.in_service(part).iter().any(|moved| moved.lpn == lpn))
    }

    /// The unit at `from`, in a block of the job of the pool's group, is in the controller's buffer, or comes or leaves.
    fn holds(&self, pool: PoolId, from: Ppn) -> bool {
        let moves = |moved: &Move| moved.from == from;
        self.buffer(pool).any(moves) || self.pools(pool).any(|part| self.in_service(part).iter().any(moves))
    }

    pub(super) fn read_step(&self, pool: PoolId) -> ReadStep {
        self.parts[pool.index()].read_step
    }

    /// A host write has merged with a unit that the part in a pool is to program, or that the job of its group has still to deal.
    pub(super) fn carries_write(&self, pool: PoolId) -> bool {
        let gathered = self.wholes[self.group(pool)].gathered.units().iter();
        gathered.chain(&self.parts[pool.index()].units).any(|moved| moved.writer.is_some())
    }

    /// The part in a pool may read another page into the controller's buffer.
    pub(super) fn has_room(&self, pool: PoolId) -> bool {
        self.parts[pool.index()].held < self.wanted
    }

    pub(in crate::gc) fn in_service(&self, pool: PoolId) -> &[Move] {
        &self.parts[pool.index()].in_service
    }

    pub(in crate::gc) fn in_service_mut(&mut self, pool: PoolId) -> &mut Vec<Move> {
        &mut self.parts[pool.index()].in_service
    }
}

impl Jobs {
    fn spread(&self) -> &Spread {
        self.spread.as_ref().expect("superblocks have several pools")
    }

    fn spread_mut(&mut self) -> &mut Spread {
        self.spread.as_mut().expect("superblocks have several pools")
    }

    /// The first valid unit of the next page that the part in a pool may read.
    fn page_to_read(&self, ftl: &Ftl, pool: PoolId) -> Option<Ppn> {
        if self.spread().has_room(pool) { self.next_unread(ftl, pool) } else { None }
    }

    /// The first valid unit of the next page that the part in a pool has to read.
    fn next_unread(&self, ftl: &Ftl, pool: PoolId) -> Option<Ppn> {
        let (job, spread) = (self.of(pool)?, self.spread());
        let mut next = ftl.next_valid(job.victim, job.cursor);
        // Units of a page that was read before its turn are valid until they are programmed.
        while spread.parts[pool.index()].out_of_order
            && let Some(held) = next.filter(|&next| spread.holds(pool, next))
        {
            next = ftl.next_valid(job.victim, ftl.geometry().split_page(held).1 + 1);
        }
        next
    }

    /// The pool's job has a step that may begin. Only the parts of the job of a superblock wait for each other.
    #[inline(always)]
    pub fn has_step(&self, ftl: &Ftl, pool: PoolId) -> bool {
        self.spread.is_none() || self.part_has_step(ftl, pool)
    }

    fn part_has_step(&self, ftl: &Ftl, pool: PoolId) -> bool {
        let spread = self.spread();
        let over = self.of(pool).is_none_or(|job| job.over);
        let dealt = || !spread.parts[pool.index()].programs.is_empty();
        !over && (dealt() || self.part_erases_next(ftl, pool) || self.page_to_read(ftl, pool).is_some())
    }

    pub(super) fn part_reads_next(&self, ftl: &Ftl, pool: PoolId) -> bool {
        !self.part_programs_next(ftl, pool) && self.waiting_to_erase(ftl, pool).is_none() && self.page_to_read(ftl, pool).is_some()
    }

    pub(super) fn part_programs_next(&self, ftl: &Ftl, pool: PoolId) -> bool {
        !self.spread().parts[pool.index()].programs.is_empty() && self.waiting_to_erase(ftl, pool).is_none()
    }

    pub(super) fn part_erases_next(&self, ftl: &Ftl, pool: PoolId) -> bool {
        let spread = self.spread();
        spread.wholes[spread.group(pool)].erases || self.waiting_to_erase(ftl, pool).is_some()
    }

    /// The pool's block of the superblock that an earlier job left, if that has no unit any more, and the block is not erased yet.
    fn waiting_to_erase(&self, ftl: &Ftl, pool: PoolId) -> Option<BlockId> {
        let spread = self.spread();
        let waiting = if spread.wholes[spread.group(pool)].erases_waiting { ftl.waiting_victim(pool)? } else { return None };
        Some(ftl.blocks().member(waiting, pool)).filter(|&block| ftl.blocks().state(block) == BlockState::Victim)
    }

    /// Begins the next step of the part in a pool, which has one, and returns it.
    pub(super) fn next_step_of_part(&mut self, ftl: &Ftl, pool: PoolId) -> Step {
        let page = self.page_to_read(ftl, pool);
        let waiting = self.waiting_to_erase(ftl, pool);
        let part = &mut self.spread_mut().parts[pool.index()];
        part.in_service.clear();
        if let Some(block) = waiting {
            part.read_step.end();
            self.of_mut(pool).erases = block;
            return Step::Erase;
        }
        if let Some((count, class)) = part.programs.pop_front() {
            part.in_service.extend(part.units.drain(..count));
            (part.class, part.reads) = (class, false);
            part.read_step.end();
            // Only a program without any valid unit, or host write, is not needed.
            let needed = part.in_service.iter().find(|moved| moved.writer.is_some() || ftl.is_valid(moved.from));
            return Step::Program(*needed.unwrap_or(&part.in_service[0]));
        }
        let Some(from) = page else {
            part.read_step.end();
            return Step::Erase;
        };
        ftl.prefetch_content_behind(from);
        let step = self.read_page(ftl, pool, from);
        let page = ftl.geometry().split_page(from).1;
        self.of_mut(pool).cursor = (page + 1).next_multiple_of(ftl.geometry().units_per_flash_page);
        step
    }

    /// The part in a pool begins to read the flash page of the unit at `from`.
    fn read_page(&mut self, ftl: &Ftl, pool: PoolId, from: Ppn) -> Step {
        let spread = self.spread_mut();
        let group = spread.group(pool);
        let part = &mut spread.parts[pool.index()];
        part.in_service.clear();
        part.in_service.extend(ftl.units_with(from).map(|(from, lpn)| Move::new(lpn, from)));
        part.reads = true;
        part.read_step.read(part.in_service.len(), ftl.geometry().units_per_program);
        part.held += part.in_service.len();
        spread.wholes[group].held += part.in_service.len();
        spread.wholes[group].reading += 1;
        Step::Read(part.in_service[0])
    }

    /// The part in a pool begins to read the flash page of the unit at `from` before its turn.
    pub(super) fn read_page_out_of_order(&mut self, ftl: &Ftl, pool: PoolId, from: Ppn) -> Step {
        self.spread_mut().parts[pool.index()].out_of_order = true;
        self.read_page(ftl, pool, from)
    }

    /// The class of the program that the part in a pool has begun.
    pub(super) fn class_of_part(&self, pool: PoolId) -> Class {
        self.spread().parts[pool.index()].class
    }

    /// The operation of the part in a pool that is in service or suspended is a read.
    pub fn part_reads(&self, pool: PoolId) -> bool {
        self.spread().parts[pool.index()].reads
    }

    /// The read of the part in a pool has ended: its units are gathered, each with the class that it has now.
    pub(super) fn part_has_read(&mut self, ftl: &Ftl, pool: PoolId) {
        let spread = self.spread_mut();
        let group = spread.group(pool);
        let (part, whole) = (&mut spread.parts[pool.index()], &mut spread.wholes[group]);
        part.in_service.drain(..).for_each(|moved| whole.gathered.push(Move { class: ftl.class_to_move(moved.from), ..moved }));
        whole.reading -= 1;
        part.reads = false;
    }

    /// The units of an operation of the part in `pool` are moved, or need not be: their parts may read more from now on.
    pub fn units_done(&mut self, ftl: &Ftl, pool: PoolId, units: &[Move], now: Ready) {
        let spread = self.spread_mut();
        let group = spread.group(pool);
        spread.wholes[group].held -= units.len();
        let reads = std::mem::take(&mut spread.parts[pool.index()].reads);
        spread.wholes[group].reading -= u32::from(reads);
        for moved in units {
            self.releases(ftl, ftl.geometry().pool_of_page(moved.from), now);
        }
    }

    /// Notes since when the part in a pool has a step, if it had none and has one.
    fn becomes_ready(&mut self, ftl: &Ftl, pool: PoolId, had_step: bool, now: Ready) {
        if !had_step && self.part_has_step(ftl, pool) && !self.of_mut(pool).busy {
            self.of_mut(pool).ready = now;
        }
    }

    /// All units of the superblock that the job of the group of `lead` collects were read, or are being read, or need not be.
    fn all_read(&mut self, ftl: &Ftl, lead: PoolId) -> bool {
        let group = self.spread().group(lead);
        let pools = self.spread().pools_per_group.get();
        while self.spread().wholes[group].pools_read < pools {
            if self.next_unread(ftl, PoolId(lead.0 + self.spread().wholes[group].pools_read)).is_some() {
                return false;
            }
            self.spread_mut().wholes[group].pools_read += 1;
        }
        true
    }

    /// Takes the units that are to be dealt as one program now. Returns the class. `may_leave`: the job may leave what fills no program.
    pub fn to_deal(&mut self, ftl: &Ftl, lead: PoolId, may_leave: bool) -> Option<Class> {
        let (class, mixed) = self.program_to_deal(ftl, lead, may_leave)?;
        let spread = self.spread_mut();
        let group = spread.group(lead);
        let Whole { gathered, next, .. } = &mut spread.wholes[group];
        gathered.take_of(class, mixed, next);
        Some(class)
    }

    /// The class of the program that is to be dealt now, and whether units of all classes share it: one that units fill, or the rest once all were
    /// read. Units of a superblock that waits go with the rest, or as soon as the room is needed that it holds; its blocks are then erased before
    /// the job goes on with its own rest.
    fn program_to_deal(&mut self, ftl: &Ftl, lead: PoolId, may_leave: bool) -> Option<(Class, bool)> {
        let whole = &self.spread().wholes[self.spread().group(lead)];
        let (fills, reading) = (whole.gathered.filled() > 0, whole.reading);
        if whole.gathered.units().is_empty() {
            return None;
        }
        let all_read = reading == 0 && self.all_read(ftl, lead);
        let Whole { gathered, finishes, .. } = &self.spread().wholes[self.spread().group(lead)];
        let allowed = ftl.programs_owed(lead);
        let waiting = if self.spread().carries { ftl.waiting_victim(lead) } else { None };
        match waiting {
            Some(waiting) if ftl.victim_holds_room(lead) || all_read && !fills => self.of_waiting(ftl, lead, waiting, !all_read),
            None if all_read && !fills && may_leave && !finishes => {
                // A write that has merged with a unit does not wait.
                let first = gathered.units().iter().find(|moved| moved.writer.is_some())?;
                Some((first.class, gathered.classes_left() > allowed))
            }
            None if all_read => gathered.next(allowed),
            _ if fills => gathered.next(allowed),
            _ => None,
        }
    }

    /// The next program that takes units of the waiting superblock: its class, and whether units of all classes share it. That is so where each class
    /// by itself would need more programs than the job, or the room, has left. `None`: none is left to be dealt, or they do not fill that program, and
    /// other pages are to be read (`reads_on`).
    fn of_waiting(&self, ftl: &Ftl, lead: PoolId, waiting: BlockId, reads_on: bool) -> Option<(Class, bool)> {
        let (each, gathered) = (ftl.geometry().units_per_program, &self.spread().wholes[self.spread().group(lead)].gathered);
        let waits = is_of(ftl, waiting);
        let class = gathered.units().iter().find(|moved| waits(moved))?.class;
        let (mut of_class, mut own, mut all_own) = (0, 0, 0);
        for moved in gathered.units() {
            let (is_of_class, waits) = (moved.class == class, waits(moved));
            of_class += u32::from(is_of_class);
            all_own += u32::from(waits);
            own += u32::from(is_of_class && waits);
        }
        let fits = |left: u32, programs: u32| left <= programs.saturating_sub(1) * each;
        let apart = fits(self.units_to_deal(ftl, lead) - of_class.min(each), ftl.programs_owed(lead))
            && fits(all_own - own.min(each), ftl.room_for_job(lead) / each);
        let held = gathered.units().len() as u32;
        if !apart && reads_on && held < each { None } else { Some((class, !apart)) }
    }

    /// Drops gathered units of the job of the group of `lead` that are not needed any more. Returns their number.
    pub fn drop_stale(&mut self, ftl: &Ftl, lead: PoolId, now: Ready) -> u32 {
        let group = self.spread().group(lead);
        let is_needed = |moved: &Move| moved.writer.is_some() || ftl.is_valid(moved.from);
        let stale = self.spread().wholes[group].gathered.units().iter().filter(|moved| !is_needed(moved));
        let sources: Vec<PoolId> = stale.map(|moved| ftl.geometry().pool_of_page(moved.from)).collect();
        if sources.is_empty() {
            return 0;
        }
        let whole = &mut self.spread_mut().wholes[group];
        let dropped = whole.gathered.keep(is_needed);
        whole.held -= sources.len();
        sources.into_iter().for_each(|source| self.releases(ftl, source, now));
        dropped
    }

    /// The part in a pool holds a unit less: it may read more from now on.
    fn releases(&mut self, ftl: &Ftl, source: PoolId, now: Ready) {
        let had_step = self.part_has_step(ftl, source);
        self.spread_mut().parts[source.index()].held -= 1;
        self.becomes_ready(ftl, source, had_step, now);
    }

    /// What the job of the group of `lead` leaves for the next, if nothing but that is left to be done: units that fill no program, and with which no
    /// host write has merged.
    pub(super) fn parts_leave(&mut self, ftl: &Ftl, lead: PoolId) -> Option<Left> {
        let spread = self.spread();
        let Whole { gathered, held, finishes, .. } = &spread.wholes[spread.group(lead)];
        let units = gathered.units().len();
        let is_written = || gathered.units().iter().any(|moved| moved.writer.is_some());
        if *finishes || units == 0 || *held != units || gathered.filled() > 0 || is_written() || ftl.waiting_victim(lead).is_some() {
            return None;
        }
        let programs = gathered.classes_left().min(ftl.programs_owed(lead));
        let is_busy = spread.pools(lead).any(|pool| self.of(pool).is_none_or(|job| job.busy));
        (!is_busy && self.all_read(ftl, lead)).then_some(Left { units: units as u32, programs })
    }

    /// Deals the program whose units [`Jobs::to_deal`] has taken to a pool of the group.
    pub fn deal(&mut self, ftl: &Ftl, pool: PoolId, class: Class, now: Ready) {
        let had_step = self.part_has_step(ftl, pool);
        let spread = self.spread_mut();
        let group = spread.group(pool);
        let (part, next) = (&mut spread.parts[pool.index()], &mut spread.wholes[group].next);
        part.programs.push_back((next.len(), class));
        part.units.extend(next.drain(..));
        self.becomes_ready(ftl, pool, had_step, now);
    }

    /// Units that the part in a pool has to read.
    fn unread(&self, ftl: &Ftl, pool: PoolId) -> u32 {
        self.of(pool).map_or(0, |job| ftl.valid_from(job.victim, job.cursor))
    }

    /// Units that the job of the pool's group has still to deal: those gathered, being read, or to be read.
    fn units_to_deal(&self, ftl: &Ftl, pool: PoolId) -> u32 {
        let spread = self.spread();
        let of_part = |pool: PoolId| {
            let part = &spread.parts[pool.index()];
            let being_read = if part.reads { part.in_service.len() } else { 0 };
            being_read as u32 + self.unread(ftl, pool)
        };
        spread.wholes[spread.group(pool)].gathered.units().len() as u32 + spread.pools(pool).map(of_part).sum::<u32>()
    }

    /// Units that the job of the group of `lead` has still to place: those to be dealt, and those that were dealt.
    pub fn units_to_place(&self, ftl: &Ftl, lead: PoolId) -> u32 {
        let dealt = self.spread().pools(lead).map(|pool| self.spread().parts[pool.index()].units.len() as u32);
        self.units_to_deal(ftl, lead) + dealt.sum::<u32>()
    }

    /// Steps of the part in a pool (`gc.advance`) that have not begun: its reads, the programs that were dealt to it, its share of those that are
    /// still to be dealt, and the erase.
    pub(super) fn steps_left_of_part(&self, ftl: &Ftl, pool: PoolId) -> u32 {
        let (job, spread) = (self.of(pool).expect("the pool has a job"), self.spread());
        if job.over {
            return 0;
        }
        let (units, each) = (self.units_to_deal(ftl, pool), ftl.geometry().units_per_program);
        let waits = ftl.waiting_victim(pool).map(|waiting| ftl.blocks().member(waiting, pool));
        let classes = u32::from(if waits.is_some() { ftl.classes_of_moves() } else { ftl.classes_of_victim() }).min(units);
        let to_deal = ((units + classes * (each - 1)) / each).div_ceil(spread.pools_per_group.get());
        let erases = 1 + u32::from(waits.is_some_and(|block| ftl.blocks().state(block) == BlockState::Victim));
        self.unread(ftl, pool).div_ceil(each) + spread.parts[pool.index()].programs.len() as u32 + to_deal + erases
    }

    /// The program of the part in a pool has failed: its units are to be dealt again, ahead of the others.
    pub(super) fn part_failed(&mut self, pool: PoolId) {
        let spread = self.spread_mut();
        let group = spread.group(pool);
        let units = spread.parts[pool.index()].in_service.drain(..);
        let whole = &mut spread.wholes[group];
        whole.gathered.put_back(units.map(|moved| Move { class: moved.class, ..Move::new(moved.lpn, moved.from) }));
    }

    /// The programs that were dealt to a pool and have not begun are to be dealt again, since its open block has failed. Returns their classes.
    pub fn dealt_again(&mut self, pool: PoolId) -> Vec<Class> {
        let spread = self.spread_mut();
        let group = spread.group(pool);
        let (part, whole) = (&mut spread.parts[pool.index()], &mut spread.wholes[group]);
        whole.gathered.put_back(part.units.drain(..));
        part.programs.drain(..).map(|(_, class)| class).collect()
    }

    /// Gives up all units of the job of the group of `lead` that are in the controller's buffer, and returns them.
    pub(super) fn give_up_parts(&mut self, lead: PoolId) -> Vec<Move> {
        let spread = self.spread_mut();
        let (group, pools) = (spread.group(lead), spread.pools_per_group.get() as usize);
        let mut units = spread.wholes[group].gathered.give_up();
        for part in &mut spread.parts[lead.index()..][..pools] {
            units.extend(part.units.drain(..));
            part.programs.clear();
            part.held = 0;
        }
        spread.wholes[group].held = 0;
        units
    }

    /// Lets the parts of the job of the group of `lead` erase their blocks, if all units were moved. Returns true if they may from now on.
    pub fn begin_erases(&mut self, ftl: &Ftl, lead: PoolId, now: Ready) -> bool {
        let group = self.spread().group(lead);
        let whole = &self.spread().wholes[group];
        if whole.erases || whole.held > 0 || self.spread().carries && ftl.waiting_victim(lead).is_some() || !self.all_read(ftl, lead) {
            return false;
        }
        self.spread_mut().wholes[group].erases = true;
        for pool in ftl.geometry().pools_of_group(lead).map(PoolId) {
            self.becomes_ready(ftl, pool, false, now);
        }
        true
    }

    /// Lets the parts of the job of the group of `lead` erase the blocks of the superblock that waits, if it has no unit any more, and no program takes
    /// one that the host has written again. Returns true if they may from now on.
    pub fn begin_erases_of_waiting(&mut self, ftl: &Ftl, lead: PoolId, now: Ready) -> bool {
        let group = self.spread().group(lead);
        let Some(waiting) = ftl.waiting_victim(lead).filter(|_| !self.spread().wholes[group].erases_waiting) else { return false };
        let is_read = |moved: &Move| ftl.blocks().stands_for(ftl.geometry().split_page(moved.from).0) == waiting;
        let is_dealt = || self.spread().pools(lead).any(|pool| self.spread().parts[pool.index()].programs_any(is_read));
        if ftl.blocks().members(waiting).any(|(_, block)| ftl.blocks().valid(block) > 0) || is_dealt() {
            return false;
        }
        let had_step: Vec<bool> = self.spread().pools(lead).map(|pool| self.part_has_step(ftl, pool)).collect();
        self.spread_mut().wholes[group].erases_waiting = true;
        for (pool, had_step) in self.spread().pools(lead).zip(had_step) {
            self.becomes_ready(ftl, pool, had_step, now);
        }
        true
    }

    /// All blocks of the superblock that waited are erased.
    pub fn all_of_waiting_erased(&mut self, lead: PoolId) {
        let spread = self.spread_mut();
        let group = spread.group(lead);
        spread.wholes[group].erases_waiting = false;
    }
}
