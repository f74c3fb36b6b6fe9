//! Bursts: the page moves of a job between which nothing can come, as one event.
//!
//! Where a channel has one die and nothing overlaps, the moves of a job follow each other, each as long as the last, until the last has
//! ended or something could come between: an eligible host operation that comes to wait for the die, a trim. Then the burst is interrupted:
//! the moves that have ended are made up for at once, and the one in service goes on as an operation of its own. Whoever reads sums
//! interrupts all bursts first. Results are those of move after move; `tests/metamorphic.rs` and the swarm compare the two.

use super::Ssd;
use super::candidates::Limits;
use super::probes::Event;
use crate::config::Priority;
use crate::flash::{Op, OpKind, Owner};
use crate::gc::Step;
use crate::units::{DieId, Ns, PoolId, SlotId};

/// What has happened at the instant of an interruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundPhase {
    /// Nothing: what ends at this instant has not ended yet.
    Begins,
    /// Stages that end have ended. Dies may have been dispatched since, or will be.
    StagesEnded,
    /// All of it.
    Over,
}

impl Ssd {
    /// Begins to move the pages that the job of a pool has left, as one event, if nothing is in the way.
    pub(super) fn begin_burst(&mut self, now: Ns, die: DieId, pool: PoolId) -> bool {
        let victim = self.gc.job(pool).expect("a job that begins a step").victim();
        let moves = self.ftl.blocks().valid(victim);
        if moves < 2 || self.gc.jobs_on_die(die) > 1 {
            return false;
        }
        let poll = self.rules.gc.poll_ns;
        let (read_ns, write_ns) = (self.flash.timing().read(0) + poll, self.flash.timing().program(0) + poll);
        let op = Op { kind: OpKind::Move, owner: Owner::Gc(pool), pages: 1, read_ns, write_ns };
        let at = self.flash.start_repeated(now, die, op, moves, &mut self.events);
        self.gc.begin_burst(die, pool, at);
        true
    }

    /// A host operation has come to wait for the die: if it may come between two moves of a burst, the burst is interrupted.
    #[inline(always)]
    pub(super) fn interrupt_for_host(&mut self, now: Ns, die: DieId) {
        if self.rules.bursts && self.rules.gc.priority == Priority::Host && self.gc.burst_on(die).is_some() {
            // The moves change nothing that could make an operation eligible that is not.
            if self.host_candidate(die, Limits::default()).is_some() {
                self.interrupt(now, die, RoundPhase::StagesEnded);
            }
        }
    }

    /// Ends the burst on a die, if there is one: its moves that have ended are made up for, and the one in service is an operation of its own.
    pub(super) fn interrupt(&mut self, now: Ns, die: DieId, phase: RoundPhase) {
        let Some((pool, at)) = self.gc.burst_on(die) else { return };
        let (since, move_ns) = self.flash.repeated(at);
        let ended = (now - since) / move_ns;
        let at_end_of_move = ended > 0 && (now - since).is_multiple_of(move_ns);
        // At the end of a move the next has begun if the die has been dispatched since.
        let next_begun = match phase {
            RoundPhase::Begins => false,
            RoundPhase::StagesEnded => self.dispatched_at == Some(now),
            RoundPhase::Over => true,
        };
        let before = if at_end_of_move && !next_begun { ended - 1 } else { ended };
        self.make_up(pool, at, before as u32);
        self.flash.end_repetition(at, &mut self.events);
        if at_end_of_move && phase == RoundPhase::StagesEnded && !next_begun {
            self.array_event(now, at);
        }
    }

    /// Does what the first `ended` moves of a burst did; the next is the one in service, an operation of its own from now on.
    pub(super) fn make_up(&mut self, pool: PoolId, at: SlotId, ended: u32) {
        let (began, move_ns) = self.flash.repeated(at);
        let job = self.gc.job(pool).expect("a burst is of a job");
        let (victim, cursor) = (job.victim(), job.cursor());
        self.ftl.prefetch_moves(victim, cursor);
        // A job moves fewer pages than a block has, and takes at most one block.
        let mut taken = None;
        let batch = self.ftl.move_batch(pool, victim, cursor, false, ended, |before, left| taken = Some((before, left)));
        assert!(batch.moves == ended && batch.stale == 0, "the pages of a burst are as they were when it began");
        if let Some((before, left)) = taken {
            self.block_taken(began + Ns::from(before) * move_ns, pool, left);
        }
        let counters = self.probes.count();
        counters.pages_moved += u64::from(ended);
        counters.gc_reads += u64::from(ended) + 1;
        self.flash.skip_repetitions(at, ended);
        self.gc.end_burst(at.die(), pool, batch.end);
        let Step::Move(moved) = self.gc.next_step(&self.ftl, pool) else { unreachable!("a burst ends with a move in service") };
        let (moved, _) = self.place_move(began + Ns::from(ended) * move_ns, pool, moved);
        self.gc.begin_step(pool, Some(moved));
    }

    /// Interrupts all bursts, for those who read sums.
    pub fn interrupt_bursts(&mut self, now: Ns, phase: RoundPhase) {
        if self.rules.bursts {
            (0..self.geometry().dies).for_each(|die| self.interrupt(now, DieId(die), phase));
        }
    }

    /// A block was taken from a pool that has so many free ones left.
    pub(super) fn block_taken(&mut self, now: Ns, pool: PoolId, left: u32) {
        self.probes.note(now, &self.ftl, Event::BlockTaken { left });
        self.trigger_gc(now, pool);
    }
}
