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
    /// Valid units of the victim when all buffered units were last found to be needed: as long as this number is the same, they still are.
    all_needed_at: Option<u32>,
}

/// What the jobs of all pools have gathered.
#[derive(Debug)]
pub(in crate::gc) struct Gathering {
    pools: Vec<Gathered>,
    /// Reads go on until this many programs can be filled.
    wanted: usize,
    /// Buffered units that were overwritten or trimmed, since the last call of `take_discarded`.
    discarded: u32,
}

impl Gathering {
    /// `classes`: of page moves, where units of one block may have several.
    pub(super) fn new(geometry: &Geometry, classes: u8, programs_in_flight: u32) -> Self {
        let per_program = geometry.units_per_program;
        let room = Gathered {
            buffered: Packing::new(per_program, classes, programs_in_flight),
            in_service: Vec::with_capacity(per_program as usize),
            class: 0,
            reads: ReadStep::default(),
            programs: false,
            out_of_order: false,
            all_needed_at: None,
        };
        Gathering { pools: vec![room; geometry.pools.count.get() as usize], wanted: programs_in_flight as usize, discarded: 0 }
    }

    /// Call when the job of a pool starts.
    pub(super) fn start(&mut self, pool: PoolId) {
        let gathered = &mut self.pools[pool.index()];
        (gathered.out_of_order, gathered.all_needed_at, gathered.reads) = (false, None, ReadStep::default());
    }

    /// A buffered unit is still needed: its data are the newest, or a host write has merged with its move.
    fn is_needed(ftl: &Ftl, moved: &Move) -> bool {
        // The valid bit of the block says the same as the map, and is more likely in the processor's cache.
        moved.writer.is_some() || ftl.is_valid(moved.from)
    }

    /// Number of programs that the buffered units fill which are still needed, and number of these units.
    fn needed(&self, ftl: &Ftl, pool: PoolId, victim: BlockId) -> (usize, usize) {
        let Gathered { buffered, all_needed_at, .. } = &self.pools[pool.index()];
        if *all_needed_at == Some(ftl.blocks().valid(victim)) {
            return (buffered.filled(), buffered.units().len());
        }
        buffered.needed(|moved| Self::is_needed(ftl, moved))
    }

    /// Drops buffered units that are not needed any more.
    fn discard(&mut self, ftl: &Ftl, pool: PoolId, victim: BlockId) {
        let (gathered, valid) = (&mut self.pools[pool.index()], Some(ftl.blocks().valid(victim)));
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
        self.next_operation(ftl, pool, victim, cursor).0
    }

    /// Whether the next step is a program; if not, the first unit of the page to be read, `None` for the erase.
    fn next_operation(&self, ftl: &Ftl, pool: PoolId, victim: BlockId, cursor: u32) -> (bool, Option<Ppn>) {
        let (filled, needed) = self.needed(ftl, pool, victim);
        if filled >= self.wanted || self.pools[pool.index()].programs && filled > 0 {
            return (true, None);
        }
        let next = self.next_page(ftl, pool, victim, cursor);
        (needed > 0 && next.is_none(), next)
    }

    pub(super) fn next_is_erase(&self, ftl: &Ftl, pool: PoolId, victim: BlockId, cursor: u32) -> bool {
        self.needed(ftl, pool, victim).1 == 0 && self.next_page(ftl, pool, victim, cursor).is_none()
    }

    /// Begins the next step of a job, and returns it.
    pub(super) fn next_step(&mut self, ftl: &Ftl, pool: PoolId, victim: BlockId, cursor: &mut u32) -> Step {
        let (program, next) = self.next_operation(ftl, pool, victim, *cursor);
        self.discard(ftl, pool, victim);
        let gathered = &mut self.pools[pool.index()];
        gathered.programs = program;
        if program || next.is_none() {
            gathered.reads.end();
        }
        if program {
            gathered.in_service.clear();
            let allowed = ftl.programs_owed(pool);
            gathered.class = gathered.buffered.take(allowed, &mut gathered.in_service).expect("a program has units");
            return Step::Program(gathered.in_service[0]);
        }
        match next {
            Some(from) => {
                let page = ftl.geometry().split_page(from).1;
                *cursor = (page + 1).next_multiple_of(ftl.geometry().units_per_flash_page);
                ftl.prefetch_content_behind(from);
                self.read(ftl, pool, from)
            }
            None => Step::Erase,
        }
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
        self.pools[pool.index()].reads.is_under_way() && matches!(self.next_operation(ftl, pool, victim, cursor), (false, Some(_)))
    }

    /// Of the pool's job: units that were read and whose programs have not begun, and those of the operation in service; as far as they are
    /// needed.
    pub(super) fn units_held(&self, ftl: &Ftl, pool: PoolId, victim: BlockId) -> (u32, u32) {
        let in_service = self.in_service(pool).iter().filter(|moved| Self::is_needed(ftl, moved)).count();
        (self.needed(ftl, pool, victim).1 as u32, in_service as u32)
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
        let mut gathering = Gathering::new(ftl.geometry(), 1, programs_in_flight);
        gathering.start(POOL);
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
}
