//! Gathering, where a program takes several mapping units: a job reads each page of its victim that has a valid unit once, and gathers the
//! units in the controller's buffer until they fill a program. Its last program takes the rest, and padding.

use super::{Move, Step};
use crate::ftl::Ftl;
use ssdlab_base::units::{BlockId, Lpn, PoolId, Ppn};
use ssdlab_keys::geometry::Geometry;

/// The mapping units that one pool's job moves.
#[derive(Clone, Debug, Default)]
struct Gathered {
    /// Units in the controller's buffer, in the order of the reads that brought them.
    buffered: Vec<Move>,
    /// Units of the operation in service or suspended: of a read, those valid in the page when it began; of a program, all that it takes.
    in_service: Vec<Move>,
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
    /// Units that fill a program.
    per_program: usize,
    /// Reads go on until this many units are in the buffer.
    wanted: usize,
    /// Buffered units that were overwritten or trimmed, since the last call of `take_discarded`.
    discarded: u32,
}

impl Gathering {
    pub(super) fn new(geometry: &Geometry, programs_in_flight: u32) -> Self {
        let per_program = geometry.units_per_program as usize;
        let wanted = per_program * programs_in_flight as usize;
        // The last read may bring up to a page of units more.
        let room = Gathered {
            buffered: Vec::with_capacity(wanted + per_program),
            in_service: Vec::with_capacity(per_program),
            ..Gathered::default()
        };
        Gathering { pools: vec![room; geometry.pools.count.get() as usize], per_program, wanted, discarded: 0 }
    }

    /// Call when the job of a pool starts.
    pub(super) fn start(&mut self, pool: PoolId) {
        let gathered = &mut self.pools[pool.index()];
        (gathered.out_of_order, gathered.all_needed_at) = (false, None);
    }

    /// A buffered unit is still needed: its data are the newest, or a host write has merged with its move.
    fn is_needed(ftl: &Ftl, moved: &Move) -> bool {
        // The valid bit of the block says the same as the map, and is more likely in the processor's cache.
        moved.writer.is_some() || ftl.is_valid(moved.from)
    }

    /// Number of buffered units that are still needed.
    fn needed(&self, ftl: &Ftl, pool: PoolId, victim: BlockId) -> usize {
        let Gathered { buffered, all_needed_at, .. } = &self.pools[pool.index()];
        if *all_needed_at == Some(ftl.blocks().valid(victim)) {
            return buffered.len();
        }
        buffered.iter().filter(|moved| Self::is_needed(ftl, moved)).count()
    }

    /// Drops buffered units that are not needed any more.
    fn discard(&mut self, ftl: &Ftl, pool: PoolId, victim: BlockId) {
        let (gathered, valid) = (&mut self.pools[pool.index()], Some(ftl.blocks().valid(victim)));
        if gathered.all_needed_at != valid {
            let before = gathered.buffered.len();
            gathered.buffered.retain(|moved| Self::is_needed(ftl, moved));
            self.discarded += (before - gathered.buffered.len()) as u32;
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
        let needed = self.needed(ftl, pool, victim);
        if needed >= self.wanted || self.pools[pool.index()].programs && needed >= self.per_program {
            return (true, None);
        }
        let next = self.next_page(ftl, pool, victim, cursor);
        (needed > 0 && next.is_none(), next)
    }

    pub(super) fn next_is_erase(&self, ftl: &Ftl, pool: PoolId, victim: BlockId, cursor: u32) -> bool {
        self.needed(ftl, pool, victim) == 0 && self.next_page(ftl, pool, victim, cursor).is_none()
    }

    /// Begins the next step of a job, and returns it.
    pub(super) fn next_step(&mut self, ftl: &Ftl, pool: PoolId, victim: BlockId, cursor: &mut u32) -> Step {
        let (program, next) = self.next_operation(ftl, pool, victim, *cursor);
        let per_program = self.per_program;
        self.discard(ftl, pool, victim);
        let gathered = &mut self.pools[pool.index()];
        gathered.programs = program;
        if program {
            let units = per_program.min(gathered.buffered.len());
            gathered.in_service.clear();
            gathered.in_service.extend(gathered.buffered.drain(..units));
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
        let in_service = &mut self.pools[pool.index()].in_service;
        in_service.clear();
        in_service.extend(ftl.units_with(from).map(|(from, lpn)| Move::new(lpn, from)));
        Step::Read(in_service[0])
    }

    /// The buffer has room for the units of another page.
    pub(super) fn has_room(&self, pool: PoolId) -> bool {
        self.pools[pool.index()].buffered.len() < self.wanted
    }

    pub(super) fn buffered(&self, pool: PoolId, lpn: Lpn) -> Option<&Move> {
        self.pools[pool.index()].buffered.iter().find(|moved| moved.lpn == lpn)
    }

    pub(super) fn buffered_mut(&mut self, pool: PoolId, lpn: Lpn) -> Option<&mut Move> {
        self.pools[pool.index()].buffered.iter_mut().find(|moved| moved.lpn == lpn)
    }

    /// The units of the operation in service or suspended.
    pub(in crate::gc) fn in_service(&self, pool: PoolId) -> &[Move] {
        &self.pools[pool.index()].in_service
    }

    pub(in crate::gc) fn in_service_mut(&mut self, pool: PoolId) -> &mut Vec<Move> {
        &mut self.pools[pool.index()].in_service
    }

    /// The read in service has ended: its units are in the buffer.
    pub(super) fn read_ended(&mut self, pool: PoolId) {
        let Gathered { buffered, in_service, .. } = &mut self.pools[pool.index()];
        buffered.append(in_service);
    }

    /// The program in service has failed: its units are in the buffer again, ahead of the others.
    pub(super) fn program_failed(&mut self, pool: PoolId) {
        let Gathered { buffered, in_service, .. } = &mut self.pools[pool.index()];
        buffered.splice(0..0, in_service.drain(..).map(|moved| Move::new(moved.lpn, moved.from)));
        self.pools[pool.index()].all_needed_at = None;
    }

    /// Gives up all units in the buffer.
    pub(super) fn give_up(&mut self, pool: PoolId) -> Vec<Move> {
        std::mem::take(&mut self.pools[pool.index()].buffered)
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
        let mut gathering = Gathering::new(ftl.geometry(), programs_in_flight);
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
                    Step::Read(_) => gathering.read_ended(POOL),
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
        gathering.read_ended(POOL);
        let mut cursor = 0;
        assert_eq!(gathering.next_step(&ftl, POOL, VICTIM, &mut cursor), Step::Read(unit(2)));
        gathering.read_ended(POOL);
        assert_eq!((gathering.next_step(&ftl, POOL, VICTIM, &mut cursor), cursor), (Step::Program(unit(1)), 4));
    }
}
