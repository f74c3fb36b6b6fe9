//! On a die happens what the arbiter decides: its view is filled here, and its decision carried out.

use super::candidates::{Candidate, GcCandidate, Limits};
use super::idle::Idle;
use super::{Planted, Ssd};
use crate::arbiter::{self, Decision};
use crate::flash::{Doing, Grant, OpKind, Phase};
use crate::sched::{LineKind, NONE};
use crate::stats::Part;
use crate::units::{DieId, Ns, PoolId};
use crate::views::{DieView, GcView, HostView, Moment};

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
                Doing::Other if self.pauses && self.look_at_pause(now, die) => false,
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

    pub(super) fn view(&self, moment: Moment, host: Option<Candidate>, gc: Option<PoolId>) -> DieView {
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
        if self.pauses
            && let Some(paused) = self.paused_die(die)
        {
            return self.during_pause(now, paused);
        }
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
            self.flash.drop_shelved(now, die);
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

    pub(super) fn discard_move(&mut self, now: Ns, pool: PoolId) {
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

    fn stand_in_bus_line(&mut self, now: Ns, die: DieId) {
        if !self.flash.in_line(die) {
            self.counters.bus_lines += 1;
            self.flash.line_up(now, die);
            self.update_clocks(die, now);
        }
    }
}
