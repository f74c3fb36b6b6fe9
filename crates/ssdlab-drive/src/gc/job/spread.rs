//! The job that collects a superblock of several pools. Its part in each pool reads the pages of the pool's block into the controller's
//! buffer. There all parts gather their units until they fill a program, which is dealt to the pool whose turn it is
//! ([`crate::ftl::Ftl::deal_move`]); the part in that pool programs it. The blocks are erased once no unit is left to be moved.

use std::collections::VecDeque;

use super::{Jobs, Move, ReadStep, Step};
use crate::ftl::{Class, Ftl};
use crate::gc::packing::Packing;
use crate::views::Ready;
use ssdlab_base::units::{Lpn, PoolId, Ppn};
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

/// All parts of the job of one group.
#[derive(Clone, Debug)]
struct Whole {
    /// Units in the controller's buffer that were not dealt.
    gathered: Packing,
    /// The units of the program to be dealt next; else empty.
    next: Vec<Move>,
    /// Units of the victim when the job started, and programs dealt since.
    units: u32,
    dealt: u32,
    /// Units read, or being read, whose programs have not ended.
    held: usize,
    /// Reads in service or suspended.
    reading: u32,
    /// Pools of the group, from its first on, whose blocks have no unit left to be read.
    pools_read: u32,
    /// All units were moved: the blocks are erased.
    erases: bool,
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
}

impl Spread {
    /// `classes`: of page moves, where units of one superblock may have several.
    pub(super) fn new(geometry: &Geometry, classes: u8, moves_in_flight: u32) -> Self {
        let (per_program, pools) = (geometry.units_per_program as usize, geometry.pools.count.get());
        let groups = pools / geometry.pools.per_group.get();
        let part = Part { in_service: Vec::with_capacity(per_program), ..Part::default() };
        let whole = Whole {
            gathered: Packing::new(geometry.units_per_program, classes, 1),
            next: Vec::with_capacity(per_program),
            units: 0,
            dealt: 0,
            held: 0,
            reading: 0,
            pools_read: 0,
            erases: false,
        };
        Spread {
            parts: vec![part; pools as usize],
            wholes: vec![whole; groups as usize],
            pools_per_group: geometry.pools.per_group,
            // With one unit less in each class no program may be full, and nothing else lets a part read on.
            wanted: (per_program * moves_in_flight as usize).max(usize::from(classes) * (per_program - 1) + 1),
        }
    }

    fn group(&self, pool: PoolId) -> usize {
        self.pools_per_group.quotient(pool.0) as usize
    }

    /// Call when the part of a job in a pool starts, with its number of units to move. The first pool of a group comes first.
    pub(super) fn start(&mut self, pool: PoolId, units: u32) {
        let group = self.group(pool);
        let whole = &mut self.wholes[group];
        assert!(whole.held == 0 && whole.gathered.units().is_empty(), "the job before has moved all its units");
        if self.pools_per_group.split(pool.0).1 == 0 {
            (whole.units, whole.dealt) = (0, 0);
        }
        whole.units += units;
        (whole.pools_read, whole.erases) = (0, false);
        let part = &mut self.parts[pool.index()];
        (part.out_of_order, part.read_step) = (false, ReadStep::default());
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
        !over && (dealt() || spread.wholes[spread.group(pool)].erases || self.page_to_read(ftl, pool).is_some())
    }

    pub(super) fn part_reads_next(&self, ftl: &Ftl, pool: PoolId) -> bool {
        !self.part_programs_next(pool) && self.page_to_read(ftl, pool).is_some()
    }

    pub(super) fn part_programs_next(&self, pool: PoolId) -> bool {
        !self.spread().parts[pool.index()].programs.is_empty()
    }

    pub(super) fn part_erases_next(&self, pool: PoolId) -> bool {
        let spread = self.spread();
        spread.wholes[spread.group(pool)].erases
    }

    /// Begins the next step of the part in a pool, which has one, and returns it.
    pub(super) fn next_step_of_part(&mut self, ftl: &Ftl, pool: PoolId) -> Step {
        let page = self.page_to_read(ftl, pool);
        let part = &mut self.spread_mut().parts[pool.index()];
        part.in_service.clear();
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
            let source = ftl.geometry().pool_of_page(moved.from);
            let had_step = self.part_has_step(ftl, source);
            self.spread_mut().parts[source.index()].held -= 1;
            self.becomes_ready(ftl, source, had_step, now);
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

    /// Takes the units that are to be dealt as one program now, as many of a class as fill one, or the rest once all were read. Returns the
    /// class.
    pub fn to_deal(&mut self, ftl: &Ftl, lead: PoolId) -> Option<Class> {
        let group = self.spread().group(lead);
        let Whole { gathered, reading, .. } = &self.spread().wholes[group];
        let fills = gathered.filled() > 0;
        if !(fills || *reading == 0 && !gathered.units().is_empty() && self.all_read(ftl, lead)) {
            return None;
        }
        let spread = self.spread_mut();
        let Whole { gathered, next, units, dealt, .. } = &mut spread.wholes[group];
        let allowed = ftl.most_programs(*units).saturating_sub(*dealt);
        *dealt += 1;
        gathered.take(allowed, next)
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
        let classes = u32::from(ftl.classes_of_victim()).min(units);
        let to_deal = ((units + classes * (each - 1)) / each).div_ceil(spread.pools_per_group.get());
        self.unread(ftl, pool).div_ceil(each) + spread.parts[pool.index()].programs.len() as u32 + to_deal + 1
    }

    /// The program of the part in a pool has failed: its units are to be dealt again, ahead of the others.
    pub(super) fn part_failed(&mut self, pool: PoolId) {
        let spread = self.spread_mut();
        let group = spread.group(pool);
        let units = spread.parts[pool.index()].in_service.drain(..);
        let whole = &mut spread.wholes[group];
        whole.gathered.put_back(units.map(|moved| Move { class: moved.class, ..Move::new(moved.lpn, moved.from) }));
        whole.dealt -= 1;
    }

    /// The programs that were dealt to a pool and have not begun are to be dealt again, since its open block has failed. Returns their classes.
    pub fn dealt_again(&mut self, pool: PoolId) -> Vec<Class> {
        let spread = self.spread_mut();
        let group = spread.group(pool);
        let (part, whole) = (&mut spread.parts[pool.index()], &mut spread.wholes[group]);
        whole.gathered.put_back(part.units.drain(..));
        whole.dealt -= part.programs.len() as u32;
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
        if whole.erases || whole.held > 0 || !self.all_read(ftl, lead) {
            return false;
        }
        self.spread_mut().wholes[group].erases = true;
        for pool in ftl.geometry().pools_of_group(lead).map(PoolId) {
            self.becomes_ready(ftl, pool, false, now);
        }
        true
    }
}
