//! Gathering, where a program takes several mapping units: a job reads each page of its victim that has a valid unit once, and gathers the
//! units in the controller's buffer until those of a class fill a program ([`Packing`]). Its last programs take the rest, and padding.

use super::{Move, ReadStep, Step};
use crate::ftl::{Class, Ftl};
use crate::gc::packing::Packing;
use ssdlab_base::units::{BlockId, Lpn, PoolId, Ppn};
use ssdlab_keys::geometry::Geometry;

/// The mapping units that one pool's job moves.
#[derive(Clone, Debug)]
struct Gathered {
    /// Units in the controller's buffer.
    buffered: Packing,
    /// Units of the operation in service or suspended: of a read, those valid in the page when it began; of a program, all that it takes.
    in_service: Vec<Move>,
    /// Class of the last program.
    class: Class,
    reads: ReadStep,
    /// The last step was a program: programs go on as long as they can be filled.
    programs: bool,
    /// A page of the victim has been read before its turn.
    out_of_order: bool,
    /// The job has taken up the victim of an earlier one, and leaves nothing.
    finishes: bool,
    /// Valid units of the victim, and of one that waits, when all buffered units were last found to be needed: as long as this number is the same, they still are.
    all_needed_at: Option<u32>,
}

/// What the jobs of all pools have gathered.
#[derive(Debug)]
pub(in crate::gc) struct Gathering {
    pools: Vec<Gathered>,
    /// Reads go on until this many programs can be filled.
    wanted: usize,
    /// Units that fill no program wait for the next job.
    carries: bool,
    /// Buffered units that were overwritten or trimmed, since the last call of `take_discarded`.
    discarded: u32,
}

/// The next step of a job.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// A program; of this class, or of several classes (`true`), if that is decided.
    Program(Option<(Class, bool)>),
    /// The read of the flash page of a unit.
    Read(Ppn),
    /// The erase of the job's victim, or of one that waits.
    Erase,
}

/// Units that a job leaves for the next.
#[derive(Clone, Copy, Debug)]
pub struct Left {
    /// Number of units.
    pub units: u32,
    /// The most programs that they take.
    pub programs: u32,
}

impl Gathering {
    /// `classes`: of page moves, where the units that are gathered together may have several. `carries`: units that fill no program wait for the
    /// next job.
    pub(super) fn new(geometry: &Geometry, classes: u8, programs_in_flight: u32, carries: bool) -> Self {
        let per_program = geometry.units_per_program;
        let room = Gathered {
            buffered: Packing::new(per_program, classes, programs_in_flight),
            in_service: Vec::with_capacity(per_program as usize),
            class: 0,
            reads: ReadStep::default(),
            programs: false,
            out_of_order: false,
            finishes: false,
            all_needed_at: None,
        };
        Gathering { pools: vec![room; geometry.pools.count.get() as usize], wanted: programs_in_flight as usize, carries, discarded: 0 }
    }

    /// Call when the job of a pool starts. `finishes`: it takes up the victim that an earlier job left.
    pub(super) fn start(&mut self, pool: PoolId, finishes: bool) {
        let gathered = &mut self.pools[pool.index()];
        (gathered.out_of_order, gathered.all_needed_at, gathered.reads) = (false, None, ReadStep::default());
        gathered.finishes = finishes;
    }

    /// The pool's job has taken up the victim that an earlier one left.
    pub(super) fn finishes(&self, pool: PoolId) -> bool {
        self.pools[pool.index()].finishes
    }

    /// A buffered unit is still needed: its data are the newest, or a host write has merged with its move.
    fn is_needed(ftl: &Ftl, moved: &Move) -> bool {
        // The valid bit of the block says the same as the map, and is more likely in the processor's cache.
        moved.writer.is_some() || ftl.is_valid(moved.from)
    }

    /// The victim of an earlier job that waits for its last units.
    fn waiting(&self, ftl: &Ftl, pool: PoolId) -> Option<BlockId> {
        if self.carries { ftl.waiting_victim(pool) } else { None }
    }

    /// The victim that waits, if it has no unit left: it is to be erased.
    pub(super) fn emptied(&self, ftl: &Ftl, pool: PoolId) -> Option<BlockId> {
        self.waiting(ftl, pool).filter(|&block| ftl.blocks().valid(block) == 0)
    }

    /// Units that the job has still to move: those of its victim, and of one that waits.
    pub(super) fn units_left(&self, ftl: &Ftl, pool: PoolId, victim: BlockId) -> u32 {
        ftl.blocks().valid(victim) + self.waiting(ftl, pool).map_or(0, |block| ftl.blocks().valid(block))
    }

    /// Number of programs that the buffered units fill which are still needed, and number of these units.
    fn needed(&self, ftl: &Ftl, pool: PoolId, victim: BlockId) -> (usize, usize) {
        let Gathered { buffered, all_needed_at, .. } = &self.pools[pool.index()];
        if *all_needed_at == Some(self.units_left(ftl, pool, victim)) {
            return (buffered.filled(), buffered.units().len());
        }
        buffered.needed(|moved| Self::is_needed(ftl, moved))
    }

    /// Drops buffered units that are not needed any more.
    fn discard(&mut self, ftl: &Ftl, pool: PoolId, victim: BlockId) {
        let valid = Some(self.units_left(ftl, pool, victim));
        let gathered = &mut self.pools[pool.index()];
        if gathered.all_needed_at != valid {
            self.discarded += gathered.buffered.keep(|moved| Self::is_needed(ftl, moved));
            gathered.all_needed_at = valid;
        }
    }

    /// The first valid unit of the next page of the victim to be read.
    fn next_page(&self, ftl: &Ftl, pool: PoolId, victim: BlockId, cursor: u32) -> Option<Ppn> {
        if !self.pools[pool.index()].out_of_order {
            return ftl.next_valid(victim, cursor);
        }
        // Units of a page that was read out of order are valid until they are programmed.
        let mut next = ftl.next_move(victim, cursor);
        while let Some((page, _, lpn)) = next
            && self.buffered(pool, lpn).is_some()
        {
            next = ftl.next_move(victim, page + 1);
        }
        next.map(|(_, from, _)| from)
    }

    pub(super) fn next_is_program(&self, ftl: &Ftl, pool: PoolId, victim: BlockId, cursor: u32) -> bool {
        matches!(self.next_operation(ftl, pool, victim, cursor), Next::Program(_))
    }

    fn next_operation(&self, ftl: &Ftl, pool: PoolId, victim: BlockId, cursor: u32) -> Next {
        if self.carries && ftl.waiting_victim(pool).is_some() {
            return self.next_beside_waiting(ftl, pool, victim, cursor);
        }
        let (filled, needed) = self.needed(ftl, pool, victim);
        if filled >= self.wanted || self.pools[pool.index()].programs && filled > 0 {
            return Next::Program(None);
        }
        match self.next_page(ftl, pool, victim, cursor) {
            Some(from) => Next::Read(from),
            None if needed > 0 => Next::Program(self.of_first_write(ftl, pool, filled)),
            None => Next::Erase,
        }
    }

    /// The next step while the victim of an earlier job waits: its erase, once it has no unit left. Its last units are programmed, with padding,
    /// when all others were read, or as soon as the room is needed that it holds.
    fn next_beside_waiting(&self, ftl: &Ftl, pool: PoolId, victim: BlockId, cursor: u32) -> Next {
        if self.emptied(ftl, pool).is_some() {
            return Next::Erase;
        }
        let (filled, _) = self.needed(ftl, pool, victim);
        let next = self.next_page(ftl, pool, victim, cursor);
        let goes_on = filled >= self.wanted || self.pools[pool.index()].programs && filled > 0 || next.is_none() && filled > 0;
        match next {
            _ if ftl.victim_holds_room(pool) => {}
            _ if goes_on => return Next::Program(None),
            Some(from) => return Next::Read(from),
            None => {}
        }
        match (self.of_waiting(ftl, pool, victim, next.is_some()), next) {
            (None, Some(from)) => Next::Read(from),
            (chosen, _) => Next::Program(chosen),
        }
    }

    /// The next program that takes units of the waiting victim, the oldest in the buffer: its class, and whether units of all classes share it.
    /// That is so where each class by itself would need more programs than the job, or the room, has left. `None`: they do not fill that program,
    /// and other pages are to be read (`reads_on`).
    fn of_waiting(&self, ftl: &Ftl, pool: PoolId, victim: BlockId, reads_on: bool) -> Option<(Class, bool)> {
        let waiting = self.waiting(ftl, pool)?;
        let each = ftl.geometry().units_per_program;
        let class = self.pools[pool.index()].buffered.units().iter().find(|moved| Self::is_needed(ftl, moved))?.class;
        let (mut held, mut of_class, mut own) = (0, 0, 0);
        for moved in self.pools[pool.index()].buffered.units().iter().filter(|moved| Self::is_needed(ftl, moved)) {
            held += 1;
            of_class += u32::from(moved.class == class);
            own += u32::from(moved.class == class && ftl.geometry().split_page(moved.from).0 == waiting);
        }
        let fits = |left: u32, programs: u32| left <= programs.saturating_sub(1) * each;
        let apart = fits(self.units_left(ftl, pool, victim) - of_class.min(each), ftl.programs_owed(pool))
            && fits(ftl.blocks().valid(waiting) - own.min(each), ftl.room_for_job(pool) / each);
        if !apart && reads_on && held < each { None } else { Some((class, !apart)) }
    }

    /// Where units wait for the next job, those of the class of the first that a host write has merged with are programmed.
    fn of_first_write(&self, ftl: &Ftl, pool: PoolId, filled: usize) -> Option<(Class, bool)> {
        let buffered = &self.pools[pool.index()].buffered;
        let first = buffered.units().iter().filter(|_| self.carries && filled == 0).find(|moved| moved.writer.is_some())?;
        Some((first.class, buffered.classes_left() > ftl.programs_owed(pool)))
    }

    /// What the pool's job leaves for the next, if nothing but that is left to be done: units that fill no program, and with which no host write has
    /// merged.
    pub(super) fn leaves(&mut self, ftl: &Ftl, pool: PoolId, victim: BlockId, cursor: u32) -> Option<Left> {
        let finishes = self.pools[pool.index()].finishes;
        if finishes || self.waiting(ftl, pool).is_some() || self.next_page(ftl, pool, victim, cursor).is_some() {
            return None;
        }
        self.discard(ftl, pool, victim);
        let buffered = &self.pools[pool.index()].buffered;
        let units = buffered.units().len() as u32;
        let stays = units > 0 && buffered.filled() == 0 && buffered.units().iter().all(|moved| moved.writer.is_none());
        stays.then(|| Left { units, programs: buffered.classes_left().min(ftl.programs_owed(pool)) })
    }

    pub(super) fn next_is_erase(&self, ftl: &Ftl, pool: PoolId, victim: BlockId, cursor: u32) -> bool {
        if self.waiting(ftl, pool).is_some() {
            return self.emptied(ftl, pool).is_some();
        }
        self.needed(ftl, pool, victim).1 == 0 && self.next_page(ftl, pool, victim, cursor).is_none()
    }

    /// Begins the next step of a job, and returns it.
    pub(super) fn next_step(&mut self, ftl: &Ftl, pool: PoolId, victim: BlockId, cursor: &mut u32) -> Step {
        let next = self.next_operation(ftl, pool, victim, *cursor);
        self.discard(ftl, pool, victim);
        let gathered = &mut self.pools[pool.index()];
        gathered.programs = matches!(next, Next::Program(_));
        if let Next::Read(from) = next {
            let page = ftl.geometry().split_page(from).1;
            *cursor = (page + 1).next_multiple_of(ftl.geometry().units_per_flash_page);
            ftl.prefetch_content_behind(from);
            return self.read(ftl, pool, from);
        }
        gathered.reads.end();
        let Next::Program(chosen) = next else { return Step::Erase };
        gathered.in_service.clear();
        gathered.class = match chosen {
            Some((class, mixed)) => {
                gathered.buffered.take_of(class, mixed, &mut gathered.in_service);
                class
            }
            None => gathered.buffered.take(ftl.programs_owed(pool), &mut gathered.in_service).expect("a program has units"),
        };
        Step::Program(gathered.in_service[0])
    }

    /// Begins the read of the flash page of the unit at `from`, out of order.
    pub(super) fn read_out_of_order(&mut self, ftl: &Ftl, pool: PoolId, from: Ppn) -> Step {
        self.pools[pool.index()].out_of_order = true;
        self.read(ftl, pool, from)
    }

    /// Begins the read of the flash page of the unit at `from`.
    fn read(&mut self, ftl: &Ftl, pool: PoolId, from: Ppn) -> Step {
        let Gathered { in_service, reads, .. } = &mut self.pools[pool.index()];
        in_service.clear();
        in_service.extend(ftl.units_with(from).map(|(from, lpn)| Move::new(lpn, from)));
        reads.read(in_service.len(), ftl.geometry().units_per_program);
        Step::Read(in_service[0])
    }

    pub(super) fn read_step(&self, pool: PoolId) -> ReadStep {
        self.pools[pool.index()].reads
    }

    /// The next operation of the pool's job is a read that belongs to the step under way.
    pub(super) fn is_inside_step(&self, ftl: &Ftl, pool: PoolId, victim: BlockId, cursor: u32) -> bool {
        self.pools[pool.index()].reads.is_under_way() && matches!(self.next_operation(ftl, pool, victim, cursor), Next::Read(_))
    }

    /// Of the pool's job: units that were read and whose programs have not begun, and those of the operation in service; as far as they are
    /// needed.
    pub(super) fn units_held(&self, ftl: &Ftl, pool: PoolId, victim: BlockId) -> (u32, u32) {
        let in_service = self.in_service(pool).iter().filter(|moved| Self::is_needed(ftl, moved)).count();
        (self.needed(ftl, pool, victim).1 as u32, in_service as u32)
    }

    /// A program of the job has ended, which leaves the victims this many valid units fewer: those in the buffer are as they were.
    pub(super) fn committed(&mut self, pool: PoolId, units: u32) {
        if let Some(left) = &mut self.pools[pool.index()].all_needed_at {
            *left -= units;
        }
    }

    /// A host write has merged with a gathered unit.
    pub(super) fn carries_write(&self, pool: PoolId) -> bool {
        self.pools[pool.index()].buffered.units().iter().any(|moved| moved.writer.is_some())
    }

    /// The buffer has room for the units of another page.
    pub(super) fn has_room(&self, pool: PoolId) -> bool {
        self.pools[pool.index()].buffered.filled() < self.wanted
    }

    pub(super) fn buffered(&self, pool: PoolId, lpn: Lpn) -> Option<&Move> {
        self.pools[pool.index()].buffered.units().iter().find(|moved| moved.lpn == lpn)
    }

    pub(super) fn buffered_mut(&mut self, pool: PoolId, lpn: Lpn) -> Option<&mut Move> {
        self.pools[pool.index()].buffered.units_mut().iter_mut().find(|moved| moved.lpn == lpn)
    }

    /// The units of the operation in service or suspended.
    pub(in crate::gc) fn in_service(&self, pool: PoolId) -> &[Move] {
        &self.pools[pool.index()].in_service
    }

    pub(in crate::gc) fn in_service_mut(&mut self, pool: PoolId) -> &mut Vec<Move> {
        &mut self.pools[pool.index()].in_service
    }

    /// The class of the program that the pool's job has begun.
    pub(super) fn class_in_service(&self, pool: PoolId) -> Class {
        self.pools[pool.index()].class
    }

    /// The read in service has ended: its units are in the buffer, each with the class that it has now.
    pub(super) fn read_ended(&mut self, ftl: &Ftl, pool: PoolId) {
        let Gathered { buffered, in_service, .. } = &mut self.pools[pool.index()];
        match in_service.first() {
            Some(first) if buffered.has_one_class() => {
                let class = ftl.class_to_move(first.from);
                buffered.append(in_service, class);
            }
            _ => in_service.drain(..).for_each(|moved| buffered.push(Move { class: ftl.class_to_move(moved.from), ..moved })),
        }
    }

    /// The program in service has failed: its units are in the buffer again, ahead of the others.
    pub(super) fn program_failed(&mut self, pool: PoolId) {
        let Gathered { buffered, in_service, .. } = &mut self.pools[pool.index()];
        buffered.put_back(in_service.drain(..).map(|moved| Move { class: moved.class, ..Move::new(moved.lpn, moved.from) }));
        self.pools[pool.index()].all_needed_at = None;
    }

    /// Gives up all units in the buffer.
    pub(super) fn give_up(&mut self, pool: PoolId) -> Vec<Move> {
        self.pools[pool.index()].buffered.give_up()
    }

    /// Number of buffered units dropped as not needed any more since the last call.
    pub(in crate::gc) fn take_discarded(&mut self) -> u32 {
        std::mem::take(&mut self.discarded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_keys::config::Config;

    const POOL: PoolId = PoolId(0);
    const VICTIM: BlockId = BlockId(0);

    /// A job on the first of several filled blocks of four pages of two units: unit n is at page n. The units `trimmed` are invalid.
    fn collecting(programs_in_flight: u32, trimmed: &[u32]) -> (Ftl, Gathering) {
        let mut config = Config::default();
        config.device.channels = 1;
        config.device.blocks_per_plane = 8;
        config.device.pages_per_block = 4;
        config.device.overprovisioning = 0.5;
        config.ftl.map_unit_bytes = Some(config.device.page_bytes / 2);
        let mut ftl = Ftl::new(&config);
        ftl.fill(ftl.geometry().exported_units);
        assert_eq!([0, 7].map(|unit| ftl.lookup(Lpn(unit))), [Some(Ppn(0)), Some(Ppn(7))]);
        trimmed.iter().for_each(|&unit| _ = ftl.trim(Lpn(unit)));
        ftl.start_job(POOL, VICTIM);
        let mut gathering = Gathering::new(ftl.geometry(), 1, programs_in_flight, false);
        gathering.start(POOL, false);
        (ftl, gathering)
    }

    fn unit(unit: u32) -> Move {
        Move::new(Lpn(unit), Ppn(unit))
    }

    /// Programs go on as long as they can be filled: after the first of two programs the second goes before the next read.
    #[test]
    fn programs_in_flight_are_filled_before_the_next_read() {
        let steps = |programs_in_flight| {
            let (ftl, mut gathering) = collecting(programs_in_flight, &[6, 7]);
            let (mut cursor, mut steps) = (0, Vec::new());
            loop {
                let step = gathering.next_step(&ftl, POOL, VICTIM, &mut cursor);
                steps.push(step);
                match step {
                    Step::Read(_) => gathering.read_ended(&ftl, POOL),
                    Step::Program(_) => gathering.in_service_mut(POOL).clear(),
                    _ => return steps,
                }
            }
        };
        let (read, program) = (|first| Step::Read(unit(first)), |first| Step::Program(unit(first)));
        assert_eq!(steps(1), [read(0), program(0), read(2), program(2), read(4), program(4), Step::Erase]);
        assert_eq!(steps(2), [read(0), read(2), program(0), program(2), read(4), program(4), Step::Erase]);
    }

    /// A read out of order takes unit 1, the only one left of the first page; the next read takes unit 2, right behind it.
    #[test]
    fn the_unit_behind_one_that_was_read_out_of_order_is_read() {
        let (ftl, mut gathering) = collecting(1, &[0, 3]);
        assert_eq!(gathering.read_out_of_order(&ftl, POOL, Ppn(1)), Step::Read(unit(1)));
        gathering.read_ended(&ftl, POOL);
        let mut cursor = 0;
        assert_eq!(gathering.next_step(&ftl, POOL, VICTIM, &mut cursor), Step::Read(unit(2)));
        gathering.read_ended(&ftl, POOL);
        assert_eq!((gathering.next_step(&ftl, POOL, VICTIM, &mut cursor), cursor), (Step::Program(unit(1)), 4));
    }

    /// A job leaves unit 0. The next, on block 1, reads units 8 and 9, and unit 0 shares a program with unit 8; then block 0 has nothing left, and is
    /// erased. If only one block is free, which has four programs of room where five may be needed, unit 0 is programmed by itself, and block
    /// 0 erased, before anything is read.
    #[test]
    fn units_that_wait_go_first_and_alone_where_their_block_holds_the_room() {
        let steps = |free| {
            let mut config = Config::default();
            (config.device.channels, config.device.blocks_per_plane, config.device.pages_per_block) = (1, 8, 4);
            config.device.overprovisioning = 0.5;
            config.ftl.map_unit_bytes = Some(config.device.page_bytes / 2);
            let mut ftl = Ftl::new(&config);
            ftl.fill(ftl.geometry().exported_units);
            (1..8).for_each(|unit| _ = ftl.trim(Lpn(unit)));
            let mut gathering = Gathering::new(ftl.geometry(), 1, 1, true);
            ftl.start_job(POOL, VICTIM);
            gathering.start(POOL, false);
            let (mut cursor, mut steps) = (0, Vec::new());
            assert_eq!(gathering.next_step(&ftl, POOL, VICTIM, &mut cursor), Step::Read(unit(0)));
            gathering.read_ended(&ftl, POOL);
            let left = gathering.leaves(&ftl, POOL, VICTIM, cursor).expect("it fills no program");
            assert_eq!((left.units, left.programs), (1, 1));
            ftl.leave_job(POOL, VICTIM, left.programs);
            while ftl.blocks().free_count(POOL) > free {
                ftl.allocate_host(POOL, 0);
            }
            let next = BlockId(1);
            ftl.start_job(POOL, next);
            gathering.start(POOL, false);
            cursor = 0;
            while steps.len() < 5 {
                let step = gathering.next_step(&ftl, POOL, next, &mut cursor);
                steps.push((step.moved().map(|moved| moved.lpn.0), gathering.in_service(POOL).len()));
                match step {
                    Step::Read(_) => gathering.read_ended(&ftl, POOL),
                    Step::Program(_) => {
                        let (first, count) = (ftl.allocate_move(POOL, 0).ppn, gathering.in_service(POOL).len() as u32);
                        ftl.pad(POOL, first, count);
                        for (moved, to) in gathering.in_service_mut(POOL).drain(..).zip(first.0..) {
                            ftl.commit_move(POOL, moved.lpn, moved.from, Ppn(to));
                        }
                    }
                    _ => {
                        assert_eq!(gathering.emptied(&ftl, POOL), Some(VICTIM));
                        let left = ftl.blocks().valid(next);
                        _ = ftl.commit_waiting(POOL, VICTIM, left, false);
                        gathering.in_service_mut(POOL).clear();
                    }
                }
            }
            ftl.check().unwrap();
            steps
        };
        assert_eq!(steps(2)[..4], [(Some(8), 2), (Some(0), 2), (None, 0), (Some(10), 2)]);
        assert_eq!(steps(1), [(Some(0), 1), (None, 0), (Some(8), 2), (Some(8), 2), (Some(10), 2)]);
    }
}
