//! Operations begin: they leave their queues, get their pages, and go to the flash.

use super::Ssd;
use super::candidates::HostCandidate;
use super::mechanisms::{self, ages, pace, power, slc, superblock, units, wear};
use super::watch::probes::Event;
use super::watch::{timeline, waits};
use crate::flash::{Op, OpKind, Owner, Parts};
use crate::gc::{Move, Step};
use crate::sched::{QueueKind, TransactionKind};
use ssdlab_base::units::{BlockId, DieId, Ns, PoolId, Ppn, TxnId};
use ssdlab_keys::config::Mode;
use ssdlab_keys::geometry::PageFacts;

/// Times of a program after the transfer of its data, for one plane or several at once: programs of the data and of parity pages, if any.
/// Parity is transferred plane by plane and programmed at once. All of it counts as array time (docs/model/flash.md, section Parity).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProgramTime {
    data_ns: Ns,
    transfers_ns: Ns,
    parity_ns: Ns,
}

impl ProgramTime {
    /// The times together with those of a program of another plane at the same time.
    #[inline(always)]
    pub(super) fn beside(self, other: ProgramTime) -> Self {
        ProgramTime {
            data_ns: self.data_ns.max(other.data_ns),
            transfers_ns: self.transfers_ns + other.transfers_ns,
            parity_ns: self.parity_ns.max(other.parity_ns),
        }
    }

    #[inline(always)]
    pub(super) fn array_ns(self) -> Ns {
        self.data_ns + self.transfers_ns + self.parity_ns
    }
}

impl Ssd {
    /// Takes a host operation out of its queue, with operations that can join it on other planes, and starts it.
    pub(super) fn start_host(&mut self, now: Ns, die: DieId, candidate: HostCandidate, kind: OpKind) {
        let kind = mechanisms::host_begins(self, now, die, candidate, kind);
        let overlaps = !self.flash.idle(die);
        let (first, last) = units::take_page(self, now, die, candidate, kind);
        let joins = self.rules.multiplane && kind != OpKind::RegisterRead;
        let pages = 1 + if joins { self.join_planes(now, die, candidate, last) } else { 0 };
        let (read_ns, program, operations) = self.prepare_pages(now, first, kind);
        mechanisms::host_prepared(self, die, candidate.kind, operations);
        timeline::host_operation(self, kind, first);
        let parts = units::parts_of(self, kind, first);
        let op = Op { kind, owner: Owner::Host(first), pages, parts, read_ns, write_ns: program.array_ns() };
        let at = self.flash.start(now, die, op, &mut self.events);
        mechanisms::host_begun(self, at, kind);
        self.probes.count().multiplane_operations += u64::from(pages > 1);
        self.probes.count().multiplane_programs += u64::from(pages > 1 && kind == OpKind::Program);
        self.probes.count().overlapped_operations += u64::from(overlaps);
        if self.flash.is_transferring(at) {
            self.transfer_begun(now, at);
        }
    }

    /// Finds or allocates the pages of a host operation that starts, from its transaction `first` on. Returns the array time of a read, ns, the
    /// times of a program, and the number of transactions.
    #[inline(always)]
    fn prepare_pages(&mut self, now: Ns, first: TxnId, kind: OpKind) -> (Ns, ProgramTime, u32) {
        let (mut read_ns, mut program) = (0, ProgramTime::default());
        let (mut page, mut before, mut operations, mut first_of_page) = (Some(first), Ppn(0), 0, first);
        while let Some(id) = page {
            let along = self.transactions[id].same_page;
            first_of_page = if along { first_of_page } else { id };
            match kind {
                OpKind::Program if along => units::prepare_program_along(self, now, id, before),
                OpKind::Program => program = program.beside(self.prepare_program(now, id)),
                OpKind::RegisterRead => self.prepare_register_read(now, id),
                _ if along => units::prepare_read_along(self, now, id, first_of_page),
                _ => read_ns = self.prepare_read(now, id).max(read_ns),
            }
            (page, before, operations) = (self.transactions[id].next, self.transactions[id].ppn, operations + 1);
            units::page_prepared(self, now, kind, before, page);
        }
        (read_ns, program, operations)
    }

    fn prepare_register_read(&mut self, now: Ns, id: TxnId) {
        let (lpn, pool) = (self.transactions[id].lpn, self.transactions[id].pool);
        let held = self.gc.jobs.moving_page(pool, lpn).map(|moved| moved.from);
        let place = held.or_else(|| self.ftl.lookup(lpn));
        self.probes.note(now, &self.ftl, Event::MergedRead(lpn, place));
    }

    #[inline(always)]
    pub(super) fn take_from_queue(&mut self, now: Ns, die: DieId, candidate: HostCandidate) -> TxnId {
        if candidate.kind == QueueKind::Write
            && let Some(placement) = self.sched.placement_mut()
        {
            let geometry = self.ftl.geometry();
            placement.took_pool(die, geometry.station_of_die(die), geometry.dies_per_station.get());
        }
        self.leave_queue(now, die, candidate)
    }

    #[inline(always)]
    pub(super) fn leave_queue(&mut self, now: Ns, die: DieId, candidate: HostCandidate) -> TxnId {
        let HostCandidate { id, kind, pool, .. } = candidate;
        let chip = self.transactions[id].chip;
        self.sched.remove(&mut self.transactions, die, id);
        // A partial write keeps its place in the write queue while its page is read.
        if self.transactions[id].kind != TransactionKind::ReadForWrite {
            self.sched.release(chip, kind);
            self.host.place_freed();
        }
        waits::stop_waiting(self, now, id);
        let transaction = &mut self.transactions[id];
        (transaction.pool, transaction.next, transaction.same_page) = (pool, None, false);
        mechanisms::left_queue(self, die, candidate);
        if kind == QueueKind::Write && self.gc.states.urgent(pool).is_some() {
            self.leave_s3(now, pool);
        }
        id
    }

    /// Adds the first operations of the same kind on the die's other planes to a multi-plane operation whose list ends with `last`. Returns
    /// the number of pages added.
    fn join_planes(&mut self, now: Ns, die: DieId, first: HostCandidate, mut last: TxnId) -> u32 {
        let offset = self.ftl.next_offset(first.pool, self.transactions[first.id].class);
        let mode = self.ftl.mode_of_next(first.pool, self.transactions[first.id].class);
        let limits = self.limits_beside_suspended(die);
        let mut joined = 0;
        // A job that begins with a superblock begins in all pools of its group, and may leave another of them no page.
        if first.kind == QueueKind::Write && self.ftl.writes_alone(first.pool, self.transactions[first.id].class) {
            return 0;
        }
        let kind = if first.kind == QueueKind::Read { OpKind::Read } else { OpKind::Program };
        let most = power::planes_beside(self, kind);
        for pool in self.geometry().pools_of_die(die).map(PoolId).filter(|&pool| pool != first.pool) {
            let aligned = !self.rules.multiplane_aligned || self.ftl.next_offset(pool, self.class_of_next(pool)) == offset;
            let id = match first.kind {
                _ if joined == most || self.gc.states.urgent(pool).is_some() => None,
                QueueKind::Read => self.first_read(pool, limits).filter(|&id| self.joins_read(first.id, id)),
                QueueKind::Write
                    if !aligned || self.ftl.mode_of_next(pool, self.class_of_next(pool)) != mode || !self.may_write(pool, limits) =>
                {
                    None
                }
                QueueKind::Write if self.ftl.writes_alone(pool, self.class_of_next(pool)) => None,
                QueueKind::Write if self.rules.dynamic => self.dynamic_partner(die, pool),
                QueueKind::Write => self.sched.head(self.sched.queue(pool, QueueKind::Write)),
            };
            let Some(id) = id else { continue };
            let (next, end) = units::take_page(self, now, die, HostCandidate { id, kind: first.kind, pool, by_move: false }, kind);
            self.transactions[last].next = Some(next);
            last = end;
            joined += 1;
        }
        joined
    }

    /// The next read of another plane may join a read. If not, no later read of that plane takes its place: reads of a plane keep their
    /// order.
    fn joins_read(&mut self, first: TxnId, other: TxnId) -> bool {
        let joins = !self.rules.multiplane_aligned_reads || self.offset_of_read(first) == self.offset_of_read(other);
        self.probes.count().misaligned_reads += u64::from(!joins);
        joins && (!self.rules.slc || self.mode_of_read(first) == self.mode_of_read(other))
    }

    /// The mode of the block of the page that is read; native for a page without data.
    fn mode_of_read(&self, id: TxnId) -> Mode {
        let place = self.ftl.lookup(self.transactions[id].lpn);
        place.map_or(Mode::Native, |ppn| self.ftl.blocks().mode(self.block_of_page(ppn)))
    }

    /// The offset in its block of the page that is read; 0 for a page without data.
    fn offset_of_read(&self, id: TxnId) -> u32 {
        self.ftl.lookup(self.transactions[id].lpn).map_or(0, |ppn| self.geometry().flash_page(ppn))
    }

    /// Dynamic allocation: the chip's next write, if this pool has room for it.
    fn dynamic_partner(&self, die: DieId, pool: PoolId) -> Option<TxnId> {
        let head = self.sched.head(self.sched.writes_for(die));
        head.filter(|_| self.takes_any_write(pool))
    }

    /// Looks up the page of a read that starts. Returns its array time, ns.
    fn prepare_read(&mut self, now: Ns, id: TxnId) -> Ns {
        let lpn = self.transactions[id].lpn;
        let place = self.ftl.lookup(lpn);
        self.probes.note(now, &self.ftl, Event::HostRead(lpn, place));
        // `ftl.unmapped_read = flash`: reads some page of the block where it would lie.
        let Some(ppn) = place else { return self.flash.timing().read(&PageFacts::default()) };
        assert_eq!(self.geometry().pool_of_page(ppn), self.transactions[id].pool, "a page never leaves its pool while it is waited for");
        self.transactions[id].ppn = ppn;
        if self.rules.flash.errors {
            self.transactions[id].uncorrectable = ages::host_read(self, now, ppn);
        }
        let ns = self.flash.timing().read(&self.ftl.page_facts(ppn));
        slc::check_read(self, ppn, ns);
        ns
    }

    /// Allocates the page of a write that starts. Returns the times of its program.
    fn prepare_program(&mut self, now: Ns, id: TxnId) -> ProgramTime {
        let pool = self.transactions[id].pool;
        self.check_hard_threshold(pool, id);
        pace::write_begins(self, self.transactions[id].lpn);
        let allocated = self.ftl.allocate_host(pool, self.transactions[id].class);
        self.transactions[id].ppn = allocated.ppn;
        pace::pages_taken(self, pool, self.geometry().units_per_program);
        pace::program_begins(self, pool, allocated.class, allocated.ppn);
        self.write_begins(pool);
        self.probes.note(now, &self.ftl, Event::HostProgram(allocated.ppn, self.transactions[id].version));
        self.probes.count().redirected_writes += u64::from(allocated.redirected);
        self.page_allocated(now, pool, allocated);
        superblock::host_page_allocated(self, pool, self.transactions[id].class);
        self.program_time(allocated.ppn)
    }

    /// The times of a program that begins at this page, with those of the parity page if it completes a stripe.
    #[inline(always)]
    pub(super) fn program_time(&mut self, first: Ppn) -> ProgramTime {
        let program = self.time_of_program(first);
        slc::check_program(self, first, program.data_ns);
        if program.parity_ns > 0 {
            let in_slc = if self.ftl.in_cache(first) { u64::from(self.geometry().units_per_program) } else { 0 };
            let counters = self.probes.count();
            (counters.parity_programs, counters.slc_padded_units) = (counters.parity_programs + 1, counters.slc_padded_units + in_slc);
        }
        program
    }

    /// As [`Ssd::program_time`], without counting and checking the program.
    #[inline(always)]
    pub(super) fn time_of_program(&self, first: Ppn) -> ProgramTime {
        let timing = self.flash.timing();
        let data_ns = timing.program(&self.ftl.page_facts(first));
        let Some(parity) = self.ftl.parity_facts(first) else { return ProgramTime { data_ns, ..ProgramTime::default() } };
        ProgramTime { data_ns, transfers_ns: timing.program_transfer_ns, parity_ns: timing.program(&parity) }
    }

    /// Dynamic allocation: counts a write that has a page of the pool allocated.
    #[inline(always)]
    pub(super) fn write_begins(&mut self, pool: PoolId) {
        if self.rules.dynamic {
            let chip = self.geometry().chip_of_die(self.geometry().die_of_pool(pool));
            self.sched.placement_mut().expect("writes go by load").write_begins(pool, chip);
        }
    }

    /// Starts a step of a pool's job.
    pub(super) fn start_gc(&mut self, now: Ns, die: DieId, pool: PoolId, step: Step) {
        let poll = self.rules.gc.poll_ns;
        let (moving, kind, read_ns, write_ns) = match step {
            Step::Erase => (None, OpKind::Erase, 0, self.erase_ns(pool) + poll),
            Step::Move(moved) => {
                let (kind, moved, write_ns) = self.prepare_move(now, pool, moved);
                let failed_ns = if kind == OpKind::Move { ages::move_read(self, now, moved.from) } else { 0 };
                (Some(moved), kind, self.move_read_ns(moved) + failed_ns + poll, write_ns + poll)
            }
            Step::Read(moved) => {
                ages::gc_read(self, now, moved.from);
                (Some(moved), OpKind::Read, self.move_read_ns(moved) + poll, 0)
            }
            Step::Program(moved) if moved.writer.is_none() && !self.ftl.is_valid(moved.from) => {
                self.ready.wake(die);
                return self.discard_move(now, pool);
            }
            Step::Program(moved) => {
                let gathers = self.rules.gc.gathers();
                let (moved, write_ns) = if gathers { units::place(self, now, pool) } else { self.place_move(now, pool, moved) };
                (Some(moved), OpKind::Program, 0, write_ns + poll)
            }
        };
        mechanisms::step_begins(self, die, pool);
        self.gc.jobs.begin_step(pool, moving);
        timeline::gc_operation(self, pool);
        self.probes.count().gc_reads += u64::from(read_ns > 0);
        self.probes.count().pipelined_reads += u64::from(read_ns > 0 && !self.flash.idle(die));
        let op = Op { kind, owner: Owner::Gc(pool), pages: 1, parts: Parts::WHOLE, read_ns, write_ns };
        let at = self.flash.start(now, die, op, &mut self.events);
        mechanisms::step_begun(self, now, at, pool, kind);
        if self.flash.is_transferring(at) {
            self.transfer_begun(now, at);
        }
    }

    fn move_read_ns(&mut self, moved: Move) -> Ns {
        let ns = self.flash.timing().read(&self.ftl.page_facts(moved.from));
        slc::check_read(self, moved.from, ns);
        ns
    }

    /// Time of the erase of the victim of a pool's job, ns.
    fn erase_ns(&mut self, pool: PoolId) -> Ns {
        let victim = self.gc.job(pool).expect("a job erases its victim").erases();
        let ns = self.flash.timing().erase(self.ftl.blocks().mode(victim));
        wear::erase_ns(self, victim, ns)
    }

    /// Expected time of the next erase of a block, ns.
    pub(super) fn expected_erase_ns(&self, block: BlockId) -> Ns {
        let ns = self.flash.timing().erase(self.ftl.blocks().mode(block));
        self.wear.as_ref().map_or(ns, |wear| wear.expected_erase_ns(&self.ftl, block, ns))
    }

    /// The kind of operation that moves a page, and, unless host operations may come between its read and its program, its target page.
    fn prepare_move(&mut self, now: Ns, pool: PoolId, moved: Move) -> (OpKind, Move, Ns) {
        let copyback = self.rules.gc.copyback;
        if !copyback && self.rules.gc.places_late() {
            return (OpKind::Move, moved, 0);
        }
        let (moved, write_ns) = self.place_move(now, pool, moved);
        let same_plane = || moved.to.map(|to| self.plane_of_page(to)) == Some(self.plane_of_page(moved.from));
        (if copyback && same_plane() { OpKind::CopybackMove } else { OpKind::Move }, moved, write_ns)
    }

    /// Allocates the target page of a move. Returns the move with it, and the array time of its program, ns.
    pub(super) fn place_move(&mut self, now: Ns, pool: PoolId, moved: Move) -> (Move, Ns) {
        let allocated = self.ftl.allocate_move(pool, self.ftl.class_to_move(moved.from));
        let to = allocated.ppn;
        pace::pages_taken(self, pool, u32::from(moved.writer.is_some()));
        let placed = match moved.writer {
            None => Event::MovePlaced(moved.from, to),
            Some(writer) => Event::HostProgram(to, self.transactions[writer].version),
        };
        self.probes.note(now, &self.ftl, placed);
        self.page_allocated(now, pool, allocated);
        (Move { to: Some(to), ..moved }, self.program_time(to).array_ns())
    }
}
