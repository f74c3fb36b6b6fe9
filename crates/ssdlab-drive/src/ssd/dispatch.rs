//! Fills the arbiter's view of a die, and carries out its decision.

use super::candidates::{GcCandidate, HostCandidate, Limits};
use super::mechanisms::order::{self, Question};
use super::mechanisms::{advance, burst, carry, merge, pace, pause, power, superblock};
use super::watch::planted;
use super::{Planted, Ssd};
use crate::arbiter::{self, Decision};
use crate::flash::{OpKind, Owner, Phase};
use crate::gc::{Job, Move};
use crate::sched::QueueKind;
use crate::views::{DiePhase, DieView, GcView, HostView};
use ssdlab_base::blocked::Blocked;
use ssdlab_base::units::{DieId, Ns, PoolId, SlotId};
use ssdlab_keys::config::Priority;

impl Ssd {
    /// The die whose operation decides what may begin on `die`: itself, or the die in service where the dies of the chip exclude each
    /// other.
    #[inline(always)]
    pub(super) fn working_die(&self, die: DieId) -> DieId {
        if self.rules.flash.interleave {
            return die;
        }
        self.dies_of_chip_of(die).find(|&die| !self.flash.idle(die)).unwrap_or(die)
    }

    /// No operation can begin on a die at work, whatever waits for it, and finding that out changes nothing: no two operations share a die,
    /// and the die has no GC job, whose wait for a block might end.
    #[inline(always)]
    pub(super) fn nothing_can_begin_beside(&self, die: DieId) -> bool {
        let rules = &self.rules.flash;
        rules.interleave && !rules.overlaps && self.gc.jobs.on_die(die) == 0
    }

    /// Neither host operations nor GC jobs wait for the die. Always false where dies of a chip exclude each other, and may begin for another.
    #[inline(always)]
    pub(super) fn nothing_waits_on(&self, die: DieId) -> bool {
        self.rules.flash.interleave && self.gc.jobs.on_die(die) == 0 && !self.sched.any_waiting(die)
    }

    /// The arbiter's decision between these candidates, at this priority. `gc`: the pool of the GC step or operation.
    #[inline(always)]
    pub(super) fn decide(&self, phase: DiePhase, host: Option<HostCandidate>, gc: Option<PoolId>, priority: Priority) -> Decision {
        let view = DieView {
            phase,
            host: host.map(|candidate| HostView {
                // Needed only where there is a choice.
                ready: gc.map_or((0, 0), |_| self.transactions[candidate.id].ready),
                in_victim: candidate.by_move,
                urgent: self.gc.states.urgent(candidate.pool).is_some(),
            }),
            gc: gc.map(|pool| GcView {
                ready: self.gc.job(pool).map(Job::ready).expect("a candidate has a job"),
                urgent: self.is_urgent_beside(pool),
                in_turn: phase == DiePhase::BetweenMoves && advance::has_turn(self, pool) || self.goes_before_writes(pool, host),
            }),
        };
        arbiter::decide(&view, priority)
    }

    /// The pool's next step goes before a write that was let in, since earlier writes owe it, or another write waits for the credit that GC on the
    /// die earns (`gc.pace`). With a write buffer, writes that were let in are complete; without one, a write goes first that has waited for longer
    /// than the step.
    #[inline(always)]
    fn goes_before_writes(&self, pool: PoolId, host: Option<HostCandidate>) -> bool {
        let Some(write) = host.filter(|host| host.kind == QueueKind::Write) else { return false };
        if pace::is_owed(self, pool) {
            return true;
        }
        pace::is_awaited_on(self, self.geometry().die_of_pool(pool))
            && (self.rules.gc.writes_are_complete || self.gc.job(pool).is_some_and(|job| job.ready() < self.transactions[write.id].ready))
    }

    /// A pool of the same die is in S3 for a high-priority write, and its job is active or waits for its turn: no host operation goes
    /// before that job, nor before GC operations ahead of it on the die.
    pub(super) fn is_urgent_beside(&self, pool: PoolId) -> bool {
        let urgent = |pool| self.gc.states.urgent(pool).is_some() && (self.gc.job(pool).is_some() || self.waits_for_turn(pool));
        self.gc.states.any_urgent() && self.geometry().pools_of_die(self.geometry().die_of_pool(pool)).map(PoolId).any(urgent)
    }

    /// A pool wants a job, which waits for its turn on the die (`gc.turns = "job"`).
    pub(super) fn waits_for_turn(&self, pool: PoolId) -> bool {
        let lead = self.geometry().lead_pool(pool);
        let other = || self.gc.active_in_scope(&self.ftl, pool).is_some_and(|active| active != lead);
        self.rules.gc.jobs_in_turn && self.gc.is_wanted(&self.ftl, pool) && other()
    }

    /// Begins an operation at preemption point B, on an idle die, or beside an operation that it may overlap. Returns true if one has
    /// begun.
    pub(super) fn between_moves<const OWN: bool>(&mut self, now: Ns, die: DieId, granted: bool) -> bool {
        if self.rules.flash.pauses
            && let Some(paused) = pause::paused_die(self, die)
        {
            return pause::during_pause(self, now, paused, granted);
        }
        if !OWN && self.nothing_waits_on(die) {
            return false;
        }
        let (host, gc) = self.candidates(die);
        advance::dispatched(self, die);
        if !OWN && gc.is_none() {
            // The decision without a choice.
            return match host {
                Some(candidate) if candidate.by_move => self.move_for_host(now, candidate, granted),
                Some(candidate) => self.begin_host(now, candidate, granted, false),
                None => false,
            };
        }
        let phase = DiePhase::BetweenMoves;
        let question = Question { now, die, phase, gc: gc.map(GcCandidate::pool), limits: None };
        let (host, priority) = order::choose::<OWN>(self, question, host);
        let decision = self.decide(phase, host, question.gc, priority);
        match (decision, host, gc) {
            (Decision::Host, Some(candidate), gc) => self.begin_host(now, candidate, granted, gc.is_some()),
            (Decision::MoveForHost, Some(candidate), _) => self.move_for_host(now, candidate, granted),
            (Decision::Gc, host, Some(GcCandidate::Step(pool))) => {
                let in_turn = host.is_some() && advance::has_turn(self, pool);
                let owed = host.is_some_and(|host| host.kind == QueueKind::Write) && pace::is_owed(self, pool);
                let begins = self.begin_gc(now, pool, granted);
                self.probes.count().steps_owed += u64::from(begins && owed);
                self.probes.count().steps_in_turn += u64::from(begins && in_turn);
                begins
            }
            (Decision::Gc, _, Some(GcCandidate::Resume(die, pool))) => self.resume(now, die, pool),
            (Decision::Wait, None, None) => false,
            (decision, ..) => unreachable!("{decision:?} between moves"),
        }
    }

    #[inline(always)]
    fn begin_host(&mut self, now: Ns, candidate: HostCandidate, granted: bool, preempts: bool) -> bool {
        let die = self.geometry().die_of_pool(candidate.pool);
        let kind = if candidate.kind == QueueKind::Read { OpKind::Read } else { OpKind::Program };
        if !self.flash.can_start(die, kind, true) {
            return false;
        }
        if self.flash.needs_bus(kind) && !self.has_bus(now, die, granted) {
            return false;
        }
        if !power::granted(self, die, kind) {
            return false;
        }
        self.probes.count().preemptions += u64::from(preempts);
        self.start_host(now, die, candidate, kind);
        true
    }

    /// The die may use the bus now; else it joins the bus's queue. `granted`: the bus has been granted to the die.
    #[inline(always)]
    pub(super) fn has_bus(&mut self, now: Ns, die: DieId, granted: bool) -> bool {
        let free = if granted { self.flash.bus_idle(die) } else { self.flash.bus_free(die) };
        if !free {
            self.joins_bus_queue(now, die);
        }
        free
    }

    fn joins_bus_queue(&mut self, now: Ns, die: DieId) {
        if !self.flash.waits_for_bus(die) {
            self.probes.count().bus_lines += 1;
            self.flash.queue_for_bus(now, die);
        }
    }

    #[inline(always)]
    fn begin_gc(&mut self, now: Ns, pool: PoolId, granted: bool) -> bool {
        let die = self.geometry().die_of_pool(pool);
        if carry::look(self, now, pool) {
            return true;
        }
        let program = self.gc.jobs.next_is_program(&self.ftl, pool);
        let kind = if program { OpKind::Program } else { self.kind_of_next_step(pool) };
        if !self.flash.can_start(die, kind, false) {
            return false;
        }
        let on_bus = program || self.rules.flash.read_commands && !self.gc.jobs.next_is_erase(&self.ftl, pool);
        if on_bus && !self.has_bus(now, die, granted) {
            return false;
        }
        if self.power.is_some() && !power::granted(self, die, power::kind_of_next_step(self, pool)) {
            return false;
        }
        if self.rules.bursts && burst::begin(self, now, die, pool) {
            return true;
        }
        let step = self.gc.jobs.next_step(&self.ftl, pool);
        if self.rules.gc.gathers() {
            self.probes.count().discarded_moves += u64::from(self.gc.take_discarded());
        }
        self.start_gc(now, die, pool, step);
        true
    }

    /// The kind of a next step that does not begin on the bus: the erase, or a move, whose read may overlap another operation.
    fn kind_of_next_step(&self, pool: PoolId) -> OpKind {
        if self.rules.flash.shares_dies && self.gc.jobs.next_is_erase(&self.ftl, pool) { OpKind::Erase } else { OpKind::Move }
    }

    /// Begins the move of the page of a waiting host operation, to merge the two. Returns true if it has begun.
    #[inline(always)]
    fn move_for_host(&mut self, now: Ns, candidate: HostCandidate, granted: bool) -> bool {
        let (pool, lpn) = (candidate.pool, self.transactions[candidate.id].lpn);
        let die = self.geometry().die_of_pool(pool);
        if self.flash.suspended(die).is_some() {
            return self.resume(now, die, pool);
        }
        if !self.flash.can_start(die, OpKind::Move, false) {
            return false;
        }
        if self.flash.needs_bus(OpKind::Move) && !self.has_bus(now, die, granted) {
            return false;
        }
        if self.power.is_some() && !power::granted(self, die, power::kind_of_next_step(self, pool)) {
            return false;
        }
        let from = self.ftl.lookup(lpn).expect("a page in the victim has a place");
        let step = self.gc.jobs.move_out_of_order(&self.ftl, pool, lpn, from);
        self.probes.count().reordered_moves += 1;
        self.start_gc(now, die, pool, step);
        true
    }

    /// Resumes the suspended GC operation of a die, or drops it if its page need not be moved any more. Returns false if the die is busy.
    fn resume(&mut self, now: Ns, die: DieId, pool: PoolId) -> bool {
        if !self.flash.can_start(die, OpKind::Erase, false) {
            return false;
        }
        let (_, phase) = self.flash.suspended(die).expect("a candidate is suspended");
        if self.probes.has(Planted::KeepsStaleCopies) {
            planted::plant_stale_copy(self, pool);
        }
        if self.is_unneeded(pool, phase) {
            self.flash.drop_suspended(now, die);
            self.discard_move(now, pool);
        } else {
            if !power::may_resume(self, die) {
                return false;
            }
            self.flash.resume(now, die, &mut self.events);
            merge::merge_waiting(self, now, pool);
        }
        true
    }

    /// The pool's move need not go on: its page was overwritten or trimmed, and it has no target page yet.
    #[inline(always)]
    fn is_unneeded(&self, pool: PoolId, phase: Phase) -> bool {
        let before_target = matches!(phase, Phase::Read(_) | Phase::BeforeOut | Phase::BeforeIn);
        let unneeded = |moved: &Move| moved.to.is_none() && moved.writer.is_none() && self.ftl.lookup(moved.lpn) != Some(moved.from);
        if self.rules.gc.gathers() {
            return before_target && self.gc.units(pool).iter().all(unneeded);
        }
        before_target && self.gc.moving(pool).as_ref().is_some_and(unneeded)
    }

    #[inline(always)]
    pub(super) fn discard_move(&mut self, now: Ns, pool: PoolId) {
        self.probes.count().discarded_moves += if self.rules.gc.gathers() { self.gc.units(pool).len() as u64 } else { 1 };
        if self.rules.gc.spreads {
            return superblock::discard(self, now, pool);
        }
        let serial = self.next_serial();
        self.gc.jobs.move_ended(&self.ftl, pool, (now, serial));
    }

    /// Dispatches a die on which a page move has stopped between two of its stages. Returns true if anything has changed.
    pub(super) fn inside_move<const OWN: bool>(&mut self, now: Ns, die: DieId, at: SlotId) -> bool {
        let (pool, phase) = (self.pool_in(at), self.flash.phase(at, now));
        let may_suspend = self.flash.is_alone(at) && !self.flash.is_merged(at);
        if may_suspend && self.is_unneeded(pool, phase) {
            self.flash.drop_stopped(now, at);
            self.discard_move(now, pool);
            return true;
        }
        let suspends_programs = self.rules.gc.suspends.program;
        let may_suspend = may_suspend && suspends_programs;
        let may_pair = self.flash.is_alone(at)
            && self.rules.flash.gc_pipeline
            && !suspends_programs
            && phase == Phase::BeforeProgram
            && self.power.is_none();
        let limits = if may_suspend { self.limits_beside(pool, phase) } else { Limits { writes_only: true, ..Limits::default() } };
        let host = if may_suspend {
            self.host_beside(die, limits)
        } else if may_pair {
            self.host_candidate(die, limits)
        } else {
            None
        };
        let point = DiePhase::InsideMove { may_suspend, may_pair };
        let question = Question { now, die, phase: point, gc: Some(pool), limits: Some(limits) };
        let (host, priority) = order::choose::<OWN>(self, question, host);
        let decision = self.decide(point, host, Some(pool), priority);
        if decision == Decision::GoOn && !power::may_go_on(self, at) {
            return false;
        }
        match (decision, host) {
            (Decision::SuspendMove, _) => {
                order::suspended(self, die);
                self.probes.count().moves_put_aside += 1;
                self.flash.suspend_stopped(now, at);
            }
            (Decision::Pair, Some(write)) => {
                if advance::steps_at_a(self) {
                    advance::takes_step(self, die, true);
                }
                self.go_on(now, at);
                self.start_host(now, die, write, OpKind::Program);
            }
            (Decision::GoOn, _) if phase == Phase::BeforeProgram => return self.go_on_to_program(now, die, at),
            (Decision::GoOn, _) => self.go_on(now, at),
            (decision, _) => unreachable!("{decision:?} inside a move"),
        }
        true
    }

    /// A page move that has stopped at preemption point A goes on, unless it waits there for host operations. Returns true if it goes on.
    #[inline(always)]
    fn go_on_to_program(&mut self, now: Ns, die: DieId, at: SlotId) -> bool {
        let stays = advance::stays_before_program(self, die, self.pool_in(at), at);
        if !stays {
            advance::program_goes_on(self, die);
            self.go_on(now, at);
        }
        !stays
    }

    #[inline(always)]
    fn go_on(&mut self, now: Ns, at: SlotId) {
        let begun = self.flash.go_on(now, at, &mut self.events);
        self.begun(now, begun, Blocked::HostOperation);
    }

    /// The pool whose job has the GC operation in a slot.
    pub(super) fn pool_in(&self, at: SlotId) -> PoolId {
        match self.flash.op(at).owner {
            Owner::Gc(pool) => pool,
            Owner::Host(first) => unreachable!("slot {at} has an operation of the host, of transaction {first}"),
        }
    }

    /// Dispatches a die on which a GC operation is in the array or on the bus: suspends it if the arbiter decides so. Nothing begins now;
    /// once the operation has stopped, the die is dispatched again.
    pub(super) fn in_array<const OWN: bool>(&mut self, now: Ns, die: DieId, at: SlotId) {
        let suspends = self.rules.gc.suspends;
        if !suspends.any() || self.flash.is_merged(at) {
            return;
        }
        let (pool, phase) = (self.pool_in(at), self.flash.phase(at, now));
        let left = match phase {
            Phase::Read(left) if suspends.read => left,
            Phase::Program(left) if suspends.program => left,
            Phase::Erase(left) if suspends.erase => left,
            _ => return,
        };
        if left <= suspends.ns {
            return;
        }
        let (limits, phase) = (self.limits_beside(pool, phase), DiePhase::InArray);
        let host = self.host_beside(die, limits);
        let question = Question { now, die, phase, gc: Some(pool), limits: Some(limits) };
        let (host, priority) = order::choose::<OWN>(self, question, host);
        // lee2013 Table III: a read of the page that is being programmed waits for the register.
        let waits_for_register =
            |read: &HostCandidate| self.rules.gc.merge && read.kind == QueueKind::Read && self.is_being_moved(pool, read.id);
        let host = host.filter(|candidate| !waits_for_register(candidate));
        if self.decide(phase, host, Some(pool), priority) == Decision::Suspend {
            order::suspended(self, die);
            self.probes.count().suspensions += 1;
            self.flash.suspend(now, at, &mut self.events);
        }
    }

    /// Answers a waiting read of the page that a move holds in its register from there. Returns true if one has begun.
    pub(super) fn read_register(&mut self, now: Ns, die: DieId) -> bool {
        if !self.rules.gc.merge || !self.flash.can_start(die, OpKind::RegisterRead, true) {
            return false;
        }
        let Some((pool, id)) = merge::register_reader(self, die) else { return false };
        self.start_host(now, die, HostCandidate { id, kind: QueueKind::Read, pool, by_move: false }, OpKind::RegisterRead);
        true
    }
}
