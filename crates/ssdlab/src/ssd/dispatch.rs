//! A die that is free begins what the arbiter decides.

use super::idle::Idle;
use super::{Planted, Ssd};
use crate::arbiter::{self, Decision};
use crate::flash::{Doing, Grant, Op, OpKind, Phase};
use crate::gc::{Move, Step};
use crate::sched::{LineKind, NONE, TransactionKind};
use crate::stats::Part;
use crate::units::{BlockId, ChipId, DieId, Ns, PlaneId, PoolId};
use crate::views::{DieView, GcView, HostView, Moment};

/// The host operation that would go next on a die.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    index: u32,
    line: LineKind,
    /// The pool whose page it reads or takes.
    pool: PoolId,
    /// It goes by way of the move of its page.
    by_move: bool,
}

/// What the GC operation that is under way or suspended on a die leaves to host operations.
#[derive(Clone, Copy, Debug, Default)]
struct Limits {
    /// Only writes.
    writes_only: bool,
    /// Not what needs the register of this plane.
    plane: Option<PlaneId>,
    /// Nor a write to this block, whose pages are programmed in order.
    block: Option<BlockId>,
}

/// The GC step that would go next on a die.
#[derive(Clone, Copy, Debug)]
enum GcCandidate {
    /// The next step of the pool's job.
    Step(PoolId),
    /// What was suspended on this die, of the pool.
    Resume(DieId, PoolId),
}

impl GcCandidate {
    fn pool(self) -> PoolId {
        match self {
            GcCandidate::Step(pool) | GcCandidate::Resume(_, pool) => pool,
        }
    }
}

impl Ssd {
    /// Lets everything begin that can begin now.
    pub fn dispatch(&mut self, now: Ns) {
        if self.idle.as_ref().is_some_and(Idle::is_due) {
            self.begin_idle_time(now);
        }
        loop {
            while let Some(channel) = self.freed.pop() {
                self.advance_bus_line(now, channel);
            }
            if !self.answered.is_empty() {
                self.answer_buffered(now);
            }
            if let Some(die) = self.dirty.pop() {
                self.dispatch_die(now, die, false);
            } else if self.host_queue_ready && !self.host_queue.is_empty() {
                self.advance_host_queue(now);
            } else if self.gated.is_empty() || !self.open_gates(now) {
                break;
            }
        }
        if let Some(verifier) = &mut self.verifier
            && verifier.every_event()
        {
            let result = super::verify::recount(self);
            self.verifier.as_mut().expect("checked above").note(result);
        }
    }

    fn advance_bus_line(&mut self, now: Ns, channel: crate::units::ChannelId) {
        while let Some(grant) = self.flash.next_in_line(now, channel, &mut self.events) {
            match grant {
                Grant::Transfer(slot) => self.transfer_begun(now, slot),
                Grant::Die(die) => {
                    self.update_clocks(die, now);
                    self.dispatch_die(now, die, true);
                }
            }
        }
    }

    /// Begins operations on a die. `granted`: it is the die's turn on the bus.
    fn dispatch_die(&mut self, now: Ns, die: DieId, granted: bool) {
        loop {
            let die = self.working_die(die);
            let begun = match self.flash.doing(die) {
                Doing::Nothing => self.at_b(now, die, granted),
                _ if !self.shares_dies => false,
                Doing::Held(slot) => self.inside_move(now, die, slot),
                Doing::Gc(_) if self.read_register(now, die) => true,
                Doing::Gc(slot) => {
                    self.during_gc(now, die, slot);
                    false
                }
                // A die at work begins an operation that can overlap only if that is what would begin were it idle: else a stream of one kind
                // would keep the other kind, or collection, waiting without end.
                Doing::Other => self.at_b(now, die, granted),
            };
            if !begun || !self.shares_dies {
                return;
            }
        }
    }

    /// The die whose operation decides what may begin on this one: where the dies of a chip exclude each other, the one that has one.
    #[inline(always)]
    fn working_die(&self, die: DieId) -> DieId {
        if self.interleave {
            return die;
        }
        let mut dies = self.geometry().dies_of_chip(self.geometry().chip_of_die(die)).map(DieId);
        dies.find(|&die| !self.flash.idle(die)).unwrap_or(die)
    }

    fn view(&self, moment: Moment, host: Option<Candidate>, gc: Option<PoolId>) -> DieView {
        DieView {
            moment,
            host: host.map(|candidate| HostView {
                ready: self.transactions[candidate.index].ready,
                in_victim: candidate.by_move,
                urgent: self.states.is_urgent(candidate.pool),
            }),
            gc: gc
                .map(|pool| GcView { ready: self.gc.job(pool).expect("a candidate has a job").ready, urgent: self.is_urgent_beside(pool) }),
        }
    }

    /// A pool of the same die is in S3 for a high-priority write, and its job is not over: nothing comes between that and what is suspended
    /// ahead of it.
    fn is_urgent_beside(&self, pool: PoolId) -> bool {
        let urgent = |pool| self.states.is_urgent(pool) && self.gc.job(pool).is_some();
        self.states.any_urgent() && self.geometry().pools_of_die(self.geometry().die_of_pool(pool)).map(PoolId).any(urgent)
    }

    /// Point B, or a die whose operation another may overlap. Returns true if something has begun.
    fn at_b(&mut self, now: Ns, die: DieId, granted: bool) -> bool {
        let limits = self.limits_of_shelf(die);
        let (host, gc) =
            if self.interleave { (self.host_candidate(die, limits), self.gc_candidate(die)) } else { self.candidates_of_chip(die) };
        let view = self.view(Moment::B, host, gc.map(GcCandidate::pool));
        match (arbiter::decide(&view, &self.axes), host, gc) {
            (Decision::Host, Some(candidate), gc) => self.begin_host(now, candidate, granted, gc.is_some()),
            (Decision::MoveForHost, Some(candidate), _) => self.move_for_host(now, candidate),
            (Decision::Gc, _, Some(GcCandidate::Step(pool))) => self.begin_gc(now, pool, granted),
            (Decision::Gc, _, Some(GcCandidate::Resume(die, pool))) => self.resume(now, die, pool),
            _ => false,
        }
    }

    fn begin_host(&mut self, now: Ns, candidate: Candidate, granted: bool, preempts: bool) -> bool {
        let die = self.geometry().die_of_pool(candidate.pool);
        let kind = if candidate.line == LineKind::Read { OpKind::Read } else { OpKind::Program };
        if !self.flash.can_start(die, kind, true) {
            return false;
        }
        if candidate.line == LineKind::Write && !self.bus_is_there(die, granted) {
            self.stand_in_bus_line(now, die);
            return false;
        }
        self.counters.preemptions += u64::from(preempts);
        self.start_host(now, die, candidate, kind);
        true
    }

    fn bus_is_there(&self, die: DieId, granted: bool) -> bool {
        if granted { self.flash.bus_idle(die) } else { self.flash.bus_free(die) }
    }

    fn begin_gc(&mut self, now: Ns, pool: PoolId, granted: bool) -> bool {
        let die = self.geometry().die_of_pool(pool);
        let program = self.gc.next_is_program(&self.ftl, pool);
        let kind = if program { OpKind::Program } else { self.kind_of_next_step(pool) };
        if !self.flash.can_start(die, kind, false) {
            return false;
        }
        if program && !self.bus_is_there(die, granted) {
            self.stand_in_bus_line(now, die);
            return false;
        }
        let step = self.gc.next_step(&self.ftl, pool);
        self.start_gc(now, die, pool, step);
        true
    }

    /// Whether the next step, which does not begin with the bus, is a read or the erase: only a read may overlap.
    fn kind_of_next_step(&self, pool: PoolId) -> OpKind {
        if self.shares_dies && self.gc.next_is_erase(&self.ftl, pool) { OpKind::Erase } else { OpKind::Move }
    }

    /// The move of the page that a waiting host operation is for begins in its place, and takes it in.
    fn move_for_host(&mut self, now: Ns, candidate: Candidate) -> bool {
        let (pool, lpn) = (candidate.pool, self.transactions[candidate.index].lpn);
        let die = self.geometry().die_of_pool(pool);
        if self.flash.shelved(die).is_some() {
            return self.resume(now, die, pool);
        }
        if !self.flash.can_start(die, OpKind::Move, false) {
            return false;
        }
        let from = self.ftl.lookup(lpn).expect("a page in the victim has a place");
        let step = self.gc.move_ahead(pool, lpn, from);
        self.counters.reordered_moves += 1;
        self.start_gc(now, die, pool, step);
        true
    }

    /// What was suspended goes on, unless its page is not needed any more.
    fn resume(&mut self, now: Ns, die: DieId, pool: PoolId) -> bool {
        if !self.flash.can_start(die, OpKind::Erase, false) {
            return false;
        }
        let (_, phase) = self.flash.shelved(die).expect("a candidate is suspended");
        if self.has(Planted::KeepsStaleCopies) {
            self.plant_stale_copy(pool);
        }
        if self.is_unneeded(pool, phase) {
            self.flash.drop_shelved(die);
            self.discard_move(now, pool);
        } else {
            self.flash.resume(now, die, &mut self.events);
            self.join_waiting(now, pool);
        }
        self.update_clocks(die, now);
        true
    }

    /// The page of the pool's move has another place by now, and its program has not begun.
    fn is_unneeded(&self, pool: PoolId, phase: Phase) -> bool {
        let moving = self.gc.job(pool).and_then(|job| job.moving);
        let before_target = matches!(phase, Phase::Read(_) | Phase::BeforeOut | Phase::BeforeIn);
        before_target
            && moving.is_some_and(|moved| moved.to.is_none() && moved.writer == NONE && self.ftl.lookup(moved.lpn) != Some(moved.from))
    }

    fn discard_move(&mut self, now: Ns, pool: PoolId) {
        self.counters.discarded_moves += 1;
        let serial = self.next_serial();
        self.gc.move_ended(&self.ftl, pool, (now, serial));
    }

    /// A page move stands at a point between its stages.
    fn inside_move(&mut self, now: Ns, die: DieId, slot: u32) -> bool {
        let (pool, phase) = (PoolId(self.flash.op(slot).tag), self.flash.phase(slot, now));
        let free = self.flash.is_alone(slot) && !self.flash.is_joined(slot);
        if free && self.is_unneeded(pool, phase) {
            self.flash.drop_held(now, slot);
            self.discard_move(now, pool);
            self.update_clocks(die, now);
            return true;
        }
        let may_put_aside = free && self.suspends.program;
        let may_pair = self.flash.is_alone(slot) && self.gc_pipeline && !self.suspends.program && phase == Phase::BeforeProgram;
        let host = match (may_put_aside, may_pair) {
            (true, _) => self.host_beside(die, self.limits_beside(pool, phase)),
            (_, true) => self.host_candidate(die, Limits { writes_only: true, ..Limits::default() }),
            _ => None,
        };
        let view = self.view(Moment::InsideMove { may_put_aside, may_pair }, host, Some(pool));
        match (arbiter::decide(&view, &self.axes), host) {
            (Decision::PutAside, _) => {
                self.counters.moves_put_aside += 1;
                self.flash.put_aside(now, slot);
                self.update_clocks(die, now);
            }
            (Decision::Pair, Some(write)) => {
                self.go_on(now, slot);
                self.start_host(now, die, write, OpKind::Program);
            }
            _ => self.go_on(now, slot),
        }
        true
    }

    fn go_on(&mut self, now: Ns, slot: u32) {
        let begun = self.flash.go_on(now, slot, &mut self.events);
        self.begun(now, begun, Part::DieQueue);
    }

    /// A host operation that could go first if what GC does on the die were suspended. A write that only a move can serve could not.
    fn host_beside(&mut self, die: DieId, limits: Limits) -> Option<Candidate> {
        let host = if self.interleave { self.host_candidate(die, limits) } else { self.host_of_chip(die, limits) };
        host.filter(|candidate| candidate.line == LineKind::Read || !candidate.by_move)
    }

    /// The array of the die is at work for GC, or its transfer is under way. Nothing begins now; once what is suspended has stopped, the die asks
    /// again.
    fn during_gc(&mut self, now: Ns, die: DieId, slot: u32) {
        if !self.suspends.any() || self.flash.is_joined(slot) {
            return;
        }
        let (pool, phase) = (PoolId(self.flash.op(slot).tag), self.flash.phase(slot, now));
        let left = match phase {
            Phase::Read(left) if self.suspends.read => left,
            Phase::Program(left) if self.suspends.program => left,
            Phase::Erase(left) if self.suspends.erase => left,
            _ => return,
        };
        let may_suspend = left > self.suspends.ns;
        let host = self.host_beside(die, self.limits_beside(pool, phase));
        // Table III: a read of the page that is being programmed waits for the register.
        let host = host.filter(|read| !(self.merge && read.line == LineKind::Read && self.is_being_moved(pool, read.index)));
        let view = self.view(Moment::Array { may_suspend }, host, Some(pool));
        if arbiter::decide(&view, &self.axes) == Decision::Suspend {
            self.counters.suspensions += 1;
            self.flash.suspend(now, slot, &mut self.events);
        }
    }

    /// A read of the page that a move holds in its register is answered from there.
    fn read_register(&mut self, now: Ns, die: DieId) -> bool {
        if !self.merge || !self.flash.can_start(die, OpKind::RegisterRead, true) {
            return false;
        }
        let Some((pool, index)) = self.register_reader(die) else { return false };
        self.start_host(now, die, Candidate { index, line: LineKind::Read, pool, by_move: false }, OpKind::RegisterRead);
        true
    }

    /// What a GC operation of the pool in this phase leaves to host operations while it is suspended.
    fn limits_beside(&self, pool: PoolId, phase: Phase) -> Limits {
        let Some(moved) = self.gc.job(pool).and_then(|job| job.moving) else { return Limits::default() };
        let block = |ppn| self.geometry().split_page(ppn).0;
        let programs = matches!(phase, Phase::BeforeProgram | Phase::Program(_));
        let register = if programs { moved.to } else { Some(moved.from) };
        Limits {
            writes_only: false,
            plane: register.filter(|_| self.suspends.one_register).map(|ppn| self.plane_of_page(ppn)),
            block: moved.to.map(block),
        }
    }

    #[inline(always)]
    fn limits_of_shelf(&self, die: DieId) -> Limits {
        if !self.suspends.any() {
            return Limits::default();
        }
        match self.flash.shelved(die) {
            Some((tag, phase)) => self.limits_beside(PoolId(tag), phase),
            None => Limits::default(),
        }
    }

    /// Where the dies of a chip exclude each other, the chip chooses among the operations of all of them as a die does among its own. Begins
    /// to look after `die`, so that dies take turns where nothing else decides.
    fn candidates_of_chip(&mut self, die: DieId) -> (Option<Candidate>, Option<GcCandidate>) {
        let dies = self.geometry().dies_of_chip(self.geometry().chip_of_die(die));
        let mut gc: Option<GcCandidate> = None;
        for die in (die.0 + 1..dies.end).chain(dies.start..=die.0).map(DieId) {
            gc = match (gc, self.gc_candidate(die)) {
                (Some(best), Some(other)) if self.gc_order(best.pool()) <= self.gc_order(other.pool()) => Some(best),
                (best, other) => other.or(best),
            };
        }
        (self.host_of_chip(die, Limits::default()), gc)
    }

    /// The host operation that goes first on any die of a chip. `limits` are those of `die`; each other die has its own.
    fn host_of_chip(&mut self, of: DieId, limits: Limits) -> Option<Candidate> {
        let chip = self.geometry().chip_of_die(of);
        let dies = self.geometry().dies_of_chip(chip);
        let mut host = None;
        for die in (of.0 + 1..dies.end).chain(dies.start..=of.0).map(DieId) {
            let key = |candidate: &Candidate| (candidate.line, self.transactions[candidate.index].ready.1);
            let limits = if die == of && self.flash.shelved(die).is_none() { limits } else { self.limits_of_shelf(die) };
            let candidate = self.host_candidate(die, limits);
            if candidate.is_some_and(|candidate| self.states.is_urgent(candidate.pool)) {
                return candidate;
            }
            host = match (host, candidate) {
                (Some(best), Some(other)) if !self.sched.goes_before(key(&other), key(&best), chip) => Some(best),
                (best, other) => other.or(best),
            };
        }
        host
    }

    fn stand_in_bus_line(&mut self, now: Ns, die: DieId) {
        if !self.flash.in_line(die) {
            self.counters.bus_lines += 1;
            self.flash.line_up(die);
            self.update_clocks(die, now);
        }
    }

    /// The host operation that goes first among those that could begin on the die once nothing but overlapping operations is in its way.
    #[inline]
    fn host_candidate(&self, die: DieId, limits: Limits) -> Option<Candidate> {
        let chip = self.ftl.geometry().chip_of_die(die);
        if !self.sched.any_waiting(die, chip) || self.excluded_by[die.index()].is_some() {
            return None;
        }
        let mut best: Option<(Candidate, u64)> = None;
        let mut consider = |index: u32, line: LineKind, pool: PoolId| {
            if index == NONE {
                return;
            }
            let serial = self.transactions[index].ready.1;
            if best.is_none_or(|(other, than)| self.sched.goes_before((line, serial), (other.line, than), chip)) {
                best = Some((Candidate { index, line, pool, by_move: false }, serial));
            }
        };
        for pool in self.ftl.geometry().pools_of_die(die).map(PoolId) {
            if self.states.is_urgent(pool) {
                if let Some(candidate) = self.urgent_candidate(pool, limits) {
                    return Some(candidate);
                }
                continue;
            }
            if !limits.writes_only {
                consider(self.first_read(pool, limits), LineKind::Read, pool);
            }
            if !self.sched.is_dynamic() && self.may_write(pool, limits) {
                consider(self.sched.head(self.sched.line(pool, LineKind::Write)), LineKind::Write, pool);
            }
        }
        if self.sched.is_dynamic()
            && let Some(pool) = self.pool_with_room(die, limits)
        {
            consider(self.sched.head(self.sched.chip_line(chip)), LineKind::Write, pool);
        }
        let best = best.map(|(candidate, _)| candidate);
        if self.merge && !limits.writes_only { self.by_move(die, best) } else { best }
    }

    /// State S3: after the job the write for which it was entered goes next.
    fn urgent_candidate(&self, pool: PoolId, limits: Limits) -> Option<Candidate> {
        let goes = self.gc.job(pool).is_none() && self.ftl.can_write(pool) && self.is_within(pool, limits);
        goes.then(|| Candidate { index: self.states.urgent_write(pool), line: LineKind::Write, pool, by_move: false })
    }

    /// Reordering (lee2013 III-B, Fig. 5): a read of a page that a job has still to move goes by way of its move; so does a write that would
    /// have to wait otherwise.
    fn by_move(&self, die: DieId, best: Option<Candidate>) -> Option<Candidate> {
        if self.jobs_on_die[die.index()] == 0 {
            return best;
        }
        let shelved = self.flash.shelved(die);
        if let Some(candidate) = best {
            let by_move = candidate.line == LineKind::Read
                && match shelved {
                    Some((tag, Phase::Read(_))) => PoolId(tag) == candidate.pool && self.is_being_moved(candidate.pool, candidate.index),
                    Some(_) => false,
                    None => self.is_to_be_moved(candidate.pool, candidate.index),
                };
            return Some(Candidate { by_move, ..candidate });
        }
        if shelved.is_some() {
            return None;
        }
        let pools = self.ftl.geometry().pools_of_die(die).map(PoolId);
        pools.filter(|&pool| self.states.holds_up(pool, LineKind::Write)).find_map(|pool| self.held_up_write(pool))
    }

    /// The page is the one of the move that is under way or suspended.
    fn is_being_moved(&self, pool: PoolId, index: u32) -> bool {
        let moving = self.gc.job(pool).and_then(|job| job.moving);
        moving.is_some_and(|moved| self.moves_page_of(moved, index))
    }

    /// The page lies in the victim of the pool's job, whose next step could be to move it.
    fn is_to_be_moved(&self, pool: PoolId, index: u32) -> bool {
        let Some(job) = self.gc.job(pool) else { return false };
        let place = self.ftl.lookup(self.transactions[index].lpn);
        let in_victim = place.is_some_and(|ppn| self.geometry().split_page(ppn).0 == job.victim);
        in_victim
            && !job.busy
            && !(job.pending && self.is_pending(pool))
            && self.gc.may_move(pool)
            && !self.gc.is_buffered(pool, self.transactions[index].lpn)
    }

    /// State S2: the oldest waiting write to a page that the job has still to move.
    fn held_up_write(&self, pool: PoolId) -> Option<Candidate> {
        let victim = self.gc.job(pool)?.victim;
        let head = self.sched.head(self.sched.line(pool, LineKind::Write));
        if head == NONE || self.sched.is_dynamic() || self.states.holds_up(pool, LineKind::Read) {
            return None;
        }
        let pages = std::iter::successors(self.ftl.next_move(victim, 0), |&(page, ..)| self.ftl.next_move(victim, page + 1));
        let writes = pages.filter_map(|(_, _, lpn)| self.ftl.chain(lpn)).map(|(oldest, _)| oldest).filter(|&index| {
            let transaction = &self.transactions[index];
            transaction.in_line && transaction.kind == TransactionKind::Write && self.is_to_be_moved(pool, index)
        });
        let index = writes.min_by_key(|&index| self.transactions[index].ready.1)?;
        Some(Candidate { index, line: LineKind::Write, pool, by_move: true })
    }

    /// A write to the pool needs neither the register nor the block of what is suspended.
    #[inline(always)]
    fn is_within(&self, pool: PoolId, limits: Limits) -> bool {
        limits.block.is_none_or(|block| block != self.ftl.next_write_block(pool))
            && limits.plane.is_none_or(|plane| plane != self.ftl.next_write_plane(pool))
    }

    /// The first read of a pool's line that no exclusion keeps waiting.
    #[inline(always)]
    fn first_read(&self, pool: PoolId, limits: Limits) -> u32 {
        let head = self.sched.head(self.sched.line(pool, LineKind::Read));
        if head == NONE || self.states.holds_up(pool, LineKind::Read) {
            return self.first_of_high_priority(pool);
        }
        if !self.excludes_reads && limits.plane.is_none() {
            return head;
        }
        self.first_read_outside(pool, head, limits.plane)
    }

    /// Where all host operations are held up: the read of a partial write of high priority, which asks for S3 once it has its page.
    #[cold]
    fn first_of_high_priority(&self, pool: PoolId) -> u32 {
        if self.states.is_urgent(pool) || self.sched.high_priority_waiting(pool, LineKind::Read) == 0 {
            return NONE;
        }
        self.first_high_priority(pool, LineKind::Read).unwrap_or(NONE)
    }

    /// A write can be given a page in the pool, and no exclusion keeps it waiting.
    #[inline(always)]
    fn may_write(&self, pool: PoolId, limits: Limits) -> bool {
        self.ftl.can_write(pool)
            && !self.states.holds_up(pool, LineKind::Write)
            && self.is_within(pool, limits)
            && (!self.excludes_planes || !self.plane_excluded[self.ftl.next_write_plane(pool).index()])
    }

    /// Dynamic allocation: the die's pool that takes the next write, in turn among those with room.
    fn pool_with_room(&self, die: DieId, limits: Limits) -> Option<PoolId> {
        let range = self.geometry().pools_of_die(die);
        let count = range.end - range.start;
        (0..count)
            .map(|step| PoolId(range.start + (self.next_pool[die.index()] + step) % count))
            .find(|&pool| self.takes_any_write(pool) && self.is_within(pool, limits))
    }

    /// Dynamic allocation: the pool could take a write now, and has room for its data.
    pub(super) fn takes_any_write(&self, pool: PoolId) -> bool {
        self.may_write(pool, Limits::default())
            && self.ftl.blocks().valid_in_pool(pool) + self.writes_under_way[pool.index()] < self.ftl.room_of_pool()
    }

    /// Which pool's step goes first: one in S3, then the one that became ready first.
    fn gc_order(&self, pool: PoolId) -> (bool, Option<(Ns, u64)>) {
        (!self.states.is_urgent(pool), self.gc.job(pool).map(|job| job.ready))
    }

    /// What was suspended on the die, or the step of a job of it that became ready first.
    #[inline]
    fn gc_candidate(&mut self, die: DieId) -> Option<GcCandidate> {
        if self.jobs_on_die[die.index()] == 0 {
            return None;
        }
        if let Some((tag, _)) = self.flash.shelved(die) {
            return Some(GcCandidate::Resume(die, PoolId(tag)));
        }
        let mut best: Option<PoolId> = None;
        for pool in self.ftl.geometry().pools_of_die(die).map(PoolId) {
            if let Some(job) = self.gc.job(pool)
                && !job.busy
                && best.is_none_or(|best| self.gc_order(pool) < self.gc_order(best))
                && !(job.pending && self.still_pending(pool))
            {
                best = Some(pool);
            }
        }
        best.map(GcCandidate::Step)
    }

    /// Takes a host operation out of its line, with those that can join it on other planes, and starts it.
    fn start_host(&mut self, now: Ns, die: DieId, candidate: Candidate, kind: OpKind) {
        let overlaps = !self.flash.idle(die);
        let kind = if kind == OpKind::Read && !overlaps && self.merge && self.is_left_in_register(now, die, candidate.index) {
            OpKind::RegisterRead
        } else {
            kind
        };
        let first = self.take_from_line(now, die, candidate);
        let joins = self.multiplane && kind != OpKind::RegisterRead;
        let pages = 1 + if joins { self.join_planes(now, die, candidate, first) } else { 0 };
        let (mut read_ns, mut write_ns) = (0, 0);
        let mut index = first;
        while index != NONE {
            match kind {
                OpKind::Program => write_ns = self.prepare_program(now, index).max(write_ns),
                OpKind::RegisterRead => self.prepare_register_read(index),
                _ => read_ns = self.prepare_read(index).max(read_ns),
            }
            index = self.transactions[index].next;
        }
        let slot = self.flash.start(now, die, Op { kind, host: true, pages, read_ns, write_ns, tag: first }, &mut self.events);
        self.counters.multiplane_ops += u64::from(pages > 1);
        self.counters.overlapped_ops += u64::from(overlaps);
        if self.flash.is_transferring(slot) {
            self.transfer_begun(now, slot);
        }
        self.update_clocks(die, now);
    }

    fn prepare_register_read(&mut self, index: u32) {
        self.counters.merged_reads += 1;
        let (lpn, pool) = (self.transactions[index].lpn, self.transactions[index].pool);
        let held = self.gc.job(pool).and_then(|job| job.moving).filter(|moved| moved.lpn == lpn).map(|moved| moved.from);
        let Some(ppn) = held.or_else(|| self.ftl.lookup(lpn)) else { return };
        if let Some(verifier) = &mut self.verifier {
            verifier.read(lpn, ppn);
        }
    }

    fn take_from_line(&mut self, now: Ns, die: DieId, candidate: Candidate) -> u32 {
        let Candidate { index, line, pool, .. } = candidate;
        let chip = ChipId(self.transactions[index].chip);
        if line == LineKind::Write && self.sched.is_dynamic() {
            self.sched.remove_on_chip(&mut self.transactions, chip, index);
            self.next_pool[die.index()] = self.next_pool[die.index()].wrapping_add(1);
        } else {
            self.sched.remove(&mut self.transactions, die, self.sched.line(pool, line), index);
        }
        // A partial write keeps its place in the write queue while its page is read.
        if self.transactions[index].kind != TransactionKind::ReadForWrite {
            self.sched.release(chip, line);
            self.host_queue_ready = true;
        }
        self.stop_waiting(now, index);
        self.transactions[index].pool = pool;
        self.transactions[index].next = NONE;
        if line == LineKind::Write && self.states.is_urgent(pool) {
            self.leave_s3(now, pool);
        }
        index
    }

    /// A transaction has waited until now: its wait clocks say for what.
    pub(super) fn stop_waiting(&mut self, now: Ns, index: u32) {
        let shown = self.clocks.read(self.transactions[index].domain, now);
        let transaction = &mut self.transactions[index];
        for (part, (shown, noted)) in [Part::Gc, Part::DieQueue, Part::BusQueue].into_iter().zip(shown.iter().zip(transaction.clock)) {
            transaction.parts.add(part, shown - noted);
        }
        transaction.mark = now;
    }

    /// Adds the first operations of the same kind on the die's other planes to a multi-plane operation. Returns how many.
    fn join_planes(&mut self, now: Ns, die: DieId, first: Candidate, head: u32) -> u32 {
        let offset = self.ftl.next_offset(first.pool);
        let limits = self.limits_of_shelf(die);
        let (mut joined, mut last) = (0, head);
        for pool in self.geometry().pools_of_die(die).map(PoolId).filter(|&pool| pool != first.pool) {
            let index = match first.line {
                _ if self.states.is_urgent(pool) => NONE,
                LineKind::Read => self.first_read(pool, limits),
                LineKind::Write if !self.may_write(pool, limits) || self.multiplane_aligned && self.ftl.next_offset(pool) != offset => NONE,
                LineKind::Write if self.sched.is_dynamic() => self.dynamic_partner(die, pool),
                LineKind::Write => self.sched.head(self.sched.line(pool, LineKind::Write)),
            };
            if index == NONE {
                continue;
            }
            let next = self.take_from_line(now, die, Candidate { index, line: first.line, pool, by_move: false });
            self.transactions[last].next = next;
            last = next;
            joined += 1;
        }
        joined
    }

    /// Dynamic allocation: the chip's next write, if this pool has room for it.
    fn dynamic_partner(&self, die: DieId, pool: PoolId) -> u32 {
        if self.takes_any_write(pool) { self.sched.head(self.sched.chip_line(self.geometry().chip_of_die(die))) } else { NONE }
    }

    /// A read resolves its mapping when it starts. Returns its array time.
    fn prepare_read(&mut self, index: u32) -> Ns {
        self.counters.host_reads += 1;
        let Some(ppn) = self.ftl.lookup(self.transactions[index].lpn) else {
            if let Some(verifier) = &mut self.verifier {
                verifier.read_nothing(self.transactions[index].lpn);
            }
            // `ftl.unmapped_read = flash`: some page of the place where it would lie.
            return self.flash.timing.read(0);
        };
        assert_eq!(self.geometry().pool_of_page(ppn), self.transactions[index].pool, "a page never leaves its pool while it is waited for");
        self.transactions[index].ppn = ppn;
        if let Some(verifier) = &mut self.verifier {
            verifier.read(self.transactions[index].lpn, ppn);
        }
        self.flash.timing.read(self.ftl.geometry().split_page(ppn).1)
    }

    /// A write is given its page when it starts. Returns its array time.
    fn prepare_program(&mut self, now: Ns, index: u32) -> Ns {
        let pool = self.transactions[index].pool;
        self.check_hard_threshold(pool, index);
        let allocated = self.ftl.allocate_host(pool);
        self.transactions[index].ppn = allocated.ppn;
        self.writes_under_way[pool.index()] += 1;
        if let Some(verifier) = &mut self.verifier {
            verifier.program(self.ftl.geometry(), allocated.ppn, self.transactions[index].version);
        }
        self.counters.redirected_writes += u64::from(allocated.redirected);
        if allocated.took_block {
            self.look_at_trigger(now, pool);
        }
        self.flash.timing.program(self.ftl.geometry().split_page(allocated.ppn).1)
    }

    /// Starts a step of a pool's job.
    fn start_gc(&mut self, now: Ns, die: DieId, pool: PoolId, step: Step) {
        let poll = self.poll_ns;
        let op = |kind, read_ns, write_ns| Op { kind, host: false, pages: 1, read_ns, write_ns, tag: pool.0 };
        let op = match step {
            Step::Erase => op(OpKind::Erase, 0, self.flash.timing.erase_ns + poll),
            Step::Move(moved) => {
                let (kind, moved, write_ns) = self.prepare_move(now, pool, moved);
                self.gc.job_mut(pool).moving = Some(moved);
                op(kind, self.move_read_ns(moved) + poll, write_ns + poll)
            }
            Step::Read(moved) => {
                self.gc.job_mut(pool).moving = Some(moved);
                op(OpKind::Read, self.move_read_ns(moved) + poll, 0)
            }
            Step::Program(moved) => {
                let unneeded = moved.writer == NONE && self.ftl.lookup(moved.lpn) != Some(moved.from);
                self.gc.job_mut(pool).moving = Some(moved);
                if unneeded {
                    self.dirty.insert(die);
                    return self.discard_move(now, pool);
                }
                let write_ns = self.place_move(now, pool);
                op(OpKind::Program, 0, write_ns + poll)
            }
        };
        if matches!(step, Step::Erase) {
            self.gc.job_mut(pool).moving = None;
        }
        self.counters.gc_reads += u64::from(op.read_ns > 0);
        self.counters.pipelined_reads += u64::from(op.read_ns > 0 && !self.flash.idle(die));
        self.gc.job_mut(pool).busy = true;
        let slot = self.flash.start(now, die, op, &mut self.events);
        self.join_waiting(now, pool);
        if self.flash.is_transferring(slot) {
            self.transfer_begun(now, slot);
        }
        self.update_clocks(die, now);
    }

    fn move_read_ns(&self, moved: Move) -> Ns {
        self.flash.timing.read(self.geometry().split_page(moved.from).1)
    }

    /// How a page is moved, and, unless host operations may come between its read and its program, where to.
    fn prepare_move(&mut self, now: Ns, pool: PoolId, moved: Move) -> (OpKind, Move, Ns) {
        if !self.copyback && (self.suspends.read || self.suspends.program) {
            return (OpKind::Move, moved, 0);
        }
        self.gc.job_mut(pool).moving = Some(moved);
        let write_ns = self.place_move(now, pool);
        let moved = self.gc.job(pool).and_then(|job| job.moving).expect("just set");
        let geometry = self.ftl.geometry();
        let plane = |ppn| geometry.plane_of_block(geometry.split_page(ppn).0);
        let copyback = self.copyback && moved.to.map(plane) == Some(plane(moved.from));
        (if copyback { OpKind::CopybackMove } else { OpKind::Move }, moved, write_ns)
    }

    /// Chooses the page to which the pool's move goes. Returns its array time.
    pub(super) fn place_move(&mut self, now: Ns, pool: PoolId) -> Ns {
        let allocated = self.ftl.allocate_move(pool);
        let to = allocated.ppn;
        let job = self.gc.job_mut(pool);
        let moved = job.moving.as_mut().expect("a page is being moved");
        moved.to = Some(to);
        let moved = *moved;
        if let Some(verifier) = &mut self.verifier {
            match moved.writer {
                NONE => verifier.copy(self.ftl.geometry(), moved.from, to),
                writer => verifier.program(self.ftl.geometry(), to, self.transactions[writer].version),
            }
        }
        if allocated.took_block {
            self.look_at_trigger(now, pool);
        }
        self.flash.timing.program(self.ftl.geometry().split_page(to).1)
    }
}
