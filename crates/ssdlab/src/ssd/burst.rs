//! Bursts: the page moves of a job between which nothing can come, as one event.
//!
//! Where a channel has one die, the moves of a job follow each other, each as long as the last, until the last has ended or something could
//! come between: an eligible host operation that comes to wait for the die, one on a page of the victim, a trim. Then the burst is
//! interrupted: the effects of moves that have ended are applied at once, and the move in service goes on as an operation of its own. They
//! are also applied before sums are read. Results are those of move after move: tests compare the two.

use super::Ssd;
use super::candidates::Limits;
use super::probes::Event;
use crate::config::Priority;
use crate::flash::{Op, OpKind, Owner, Parts, Unrolled};
use crate::gc::{Move, Step};
use crate::sched::{QueueKind, linked};
use crate::units::{BlockId, DieId, Ns, PoolId, Ppn, SlotId, TxnId};

/// Progress of the round of an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundPhase {
    /// Stages that end at this instant have not ended yet.
    Begins,
    /// Stages that end at this instant have ended. Dies may have been dispatched since, or will be.
    StagesEnded,
    /// The round is over.
    Over,
}

impl Ssd {
    /// Plays the pages that the job of a pool has left to move as one event, if nothing prevents it. Returns true if it has begun.
    pub(super) fn begin_burst(&mut self, now: Ns, die: DieId, pool: PoolId) -> bool {
        let victim = self.gc.job(pool).expect("a job that begins a step").victim();
        let moves = self.ftl.blocks().valid(victim);
        if moves < 2 || self.gc.jobs_on_die(die) > 1 || !self.flash.idle(die) || self.waits_for_move(die, pool, victim, moves) {
            return false;
        }
        let poll = self.rules.gc.poll_ns;
        let (read_ns, write_ns) = (self.flash.timing().read(0) + poll, self.flash.timing().program(0) + poll);
        let op = Op { kind: OpKind::Move, owner: Owner::Gc(pool), pages: 1, parts: Parts::WHOLE, read_ns, write_ns };
        let at = self.flash.start_repeated(now, die, op, moves, &mut self.events);
        self.gc.begin_burst(die, pool, at);
        true
    }

    /// A host operation that waits for the die could merge with one of the moves; also true if too many wait to check each.
    fn waits_for_move(&self, die: DieId, pool: PoolId, victim: BlockId, moves: u32) -> bool {
        let waiting = self.sched.waiting_on(die);
        let of = |kind| linked(&self.transactions, self.sched.head(self.sched.queue(pool, kind)));
        let in_victim = |id| self.lies_in(id, victim);
        self.rules.gc.merge && waiting > 0 && (waiting > moves || of(QueueKind::Read).chain(of(QueueKind::Write)).any(in_victim))
    }

    /// The page of an operation lies in this block.
    fn lies_in(&self, id: TxnId, block: BlockId) -> bool {
        self.ftl.lookup(self.transactions[id].lpn).is_some_and(|ppn| self.block_of_page(ppn) == block)
    }

    /// Call when a host operation is about to wait for the die: interrupts the burst there if it could merge with a move, or change the
    /// state of the pool.
    #[inline(always)]
    pub(super) fn interrupt_to_merge(&mut self, now: Ns, die: DieId, id: TxnId) {
        if self.rules.bursts
            && let Some((pool, _)) = self.gc.burst_on(die)
        {
            let victim = self.gc.job(pool).expect("a burst is of a job").victim();
            if self.transactions[id].high_priority || self.rules.gc.merge && self.lies_in(id, victim) {
                self.interrupt(now, die);
            }
        }
    }

    /// Call when a host operation has come to wait for the die: interrupts the burst there if it may come between two of its moves.
    #[inline(always)]
    pub(super) fn interrupt_for_host(&mut self, now: Ns, die: DieId) {
        // Where bursts are allowed their moves cannot make an operation eligible that is not (`may_burst`).
        if self.rules.bursts
            && self.rules.gc.priority == Priority::Host
            && self.gc.burst_on(die).is_some()
            && self.host_candidate(die, Limits::default()).is_some()
        {
            self.interrupt(now, die);
        }
    }

    /// Interrupts the burst on a die, if there is one: applies the moves that have ended, and makes the one in service an operation of its
    /// own.
    fn interrupt(&mut self, now: Ns, die: DieId) {
        let Some((pool, at)) = self.gc.burst_on(die) else { return };
        let (ended, begun) = self.moves_ended(now, at, RoundPhase::StagesEnded);
        self.make_up(now, pool, at, ended, begun);
        self.end_burst(now, pool, at, begun);
        let unrolled = self.flash.unroll(now, at, begun, &mut self.events);
        match unrolled {
            Unrolled::InService => {}
            Unrolled::ArrayEnds => self.array_event(now, at),
            Unrolled::TransferEnds(channel) => self.bus_event(now, channel),
        }
    }

    /// Interrupts the burst, if any, on the die of a page that is about to be trimmed.
    pub(super) fn interrupt_for_trim(&mut self, now: Ns, place: Ppn) {
        self.interrupt_on(now, self.geometry().die_of_pool(self.geometry().pool_of_page(place)));
    }

    /// Interrupts the burst on a die, if there is one: something changes there that it does not account for.
    #[inline(always)]
    pub(super) fn interrupt_on(&mut self, now: Ns, die: DieId) {
        if self.rules.bursts {
            self.interrupt(now, die);
        }
    }

    /// The number of moves of a burst that have ended, and whether what begins at `now` has begun; a move that ends at `now` counts only
    /// then.
    fn moves_ended(&self, now: Ns, at: SlotId, phase: RoundPhase) -> (u32, bool) {
        let (since, move_ns) = self.flash.repeated(at);
        let begun = match phase {
            RoundPhase::Begins => false,
            RoundPhase::StagesEnded => self.dispatched_at == Some(now),
            RoundPhase::Over => true,
        };
        let ended = (now - since) / move_ns;
        let ends_now = ended > 0 && (now - since).is_multiple_of(move_ns);
        ((ended - u64::from(ends_now && !begun)) as u32, begun)
    }

    /// The burst in a slot ends by itself: applies all of its moves but the last.
    pub(super) fn burst_ends(&mut self, now: Ns, pool: PoolId, at: SlotId) {
        self.make_up(now, pool, at, self.flash.repetitions(at) - 1, false);
        self.end_burst(now, pool, at, false);
    }

    /// Makes the move in service of a burst an operation of its own.
    fn end_burst(&mut self, now: Ns, pool: PoolId, at: SlotId, begun: bool) {
        self.probes.count().gc_reads += 1;
        let moving = self.gc.moving(pool).or_else(|| Some(self.place_in_service(now, pool, at, begun)));
        self.gc.end_burst(at.die());
        self.gc.begin_step(pool, moving);
    }

    /// The move in service of a burst, with its target page if that is chosen by `now` (exactly at `now`: if what begins then has begun).
    fn place_in_service(&mut self, now: Ns, pool: PoolId, at: SlotId, begun: bool) -> Move {
        let Step::Move(moved) = self.gc.next_step(&self.ftl, pool) else { unreachable!("a burst ends with a move in service") };
        if self.is_placed(now, at, begun) { self.place_move(self.placed_at(at), pool, moved).0 } else { moved }
    }

    /// When the move in service of a burst gets its target page, ns.
    fn placed_at(&self, at: SlotId) -> Ns {
        self.flash.repeated(at).0 + self.flash.placed_after(at, self.places_late())
    }

    fn is_placed(&self, now: Ns, at: SlotId, begun: bool) -> bool {
        let placed_at = self.placed_at(at);
        placed_at < now || placed_at == now && begun || !self.places_late()
    }

    /// Applies the first `ended` moves of a burst, and gives the next its target page if that is chosen by `now`.
    fn make_up(&mut self, now: Ns, pool: PoolId, at: SlotId, ended: u32, begun: bool) {
        if ended > 0 {
            let (began, move_ns) = self.flash.repeated(at);
            // The first move may have its target page already.
            let placed = self.gc.take_moving(pool);
            if let Some(Move { lpn, from, to, .. }) = placed {
                let current = self.ftl.commit_move(pool, lpn, from, to.expect("it was placed"));
                assert!(current, "the pages of a burst are as they were when it began");
            }
            let first = u32::from(placed.is_some());
            self.move_pages(pool, at, ended - first, began + Ns::from(first) * move_ns);
            let counters = self.probes.count();
            counters.pages_moved += u64::from(ended);
            counters.gc_reads += u64::from(ended);
            self.flash.skip_repetitions(at, ended);
        }
        if self.gc.moving(pool).is_none() && self.is_placed(now, at, begun) {
            let moved = self.place_in_service(now, pool, at, begun);
            self.gc.begin_step(pool, Some(moved));
        }
    }

    /// Moves `count` pages of a burst, the first of whose moves began at `began`.
    fn move_pages(&mut self, pool: PoolId, at: SlotId, count: u32, began: Ns) {
        let job = self.gc.job(pool).expect("a burst is of a job");
        let (victim, cursor) = (job.victim(), job.cursor());
        self.ftl.prefetch_moves(victim, cursor);
        // A job moves fewer pages than a block has, and takes at most one block.
        let mut taken = None;
        let batch = self.ftl.move_batch(pool, victim, cursor, false, count, |before, left| taken = Some((before, left)));
        assert!(batch.moves == count && batch.stale == 0, "the pages of a burst are as they were when it began");
        self.gc.set_cursor(pool, batch.end);
        if let Some((before, left)) = taken {
            let move_ns = self.flash.repeated(at).1;
            let placed_after = self.flash.placed_after(at, self.places_late());
            self.block_taken(began + Ns::from(before) * move_ns + placed_after, pool, left);
        }
    }

    /// A move gets its target page when its transfer in begins, since it can be suspended before.
    pub(super) fn places_late(&self) -> bool {
        self.rules.gc.suspends.read || self.rules.gc.suspends.program
    }

    /// Plays no bursts. Call before [`Ssd::begin`].
    pub fn move_page_by_page(&mut self) {
        self.rules.bursts = false;
    }

    /// Interrupts all bursts, in the middle of a round whose stages have ended.
    pub fn interrupt_bursts(&mut self, now: Ns) {
        if self.rules.bursts {
            (0..self.geometry().dies).for_each(|die| self.interrupt(now, DieId(die)));
        }
    }

    /// Applies the moves of bursts that have ended by `now`, before sums are read between two rounds. The bursts go on.
    pub fn catch_up(&mut self, now: Ns, phase: RoundPhase) {
        if !self.rules.bursts {
            return;
        }
        for die in (0..self.geometry().dies).map(DieId) {
            if let Some((pool, at)) = self.gc.burst_on(die) {
                let (ended, begun) = self.moves_ended(now, at, phase);
                self.make_up(now, pool, at, ended, begun);
            }
        }
    }

    /// Call when a block was taken from a pool, which has `left` free blocks left.
    pub(super) fn block_taken(&mut self, now: Ns, pool: PoolId, left: u32) {
        self.probes.note(now, &self.ftl, Event::BlockTaken { left });
        self.pace_block(pool);
        self.trigger_gc(now, pool);
    }
}
