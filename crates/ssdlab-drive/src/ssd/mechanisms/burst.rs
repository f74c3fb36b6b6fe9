//! Bursts: the page moves of a job between which nothing can come, as one event.
//!
//! Where a channel has one die, the moves of a job follow each other, each as long as the last, until the last has ended or something could
//! come between: an eligible host operation that comes to wait for the die, one on a page of the victim, a trim. Then the burst is
//! interrupted: the effects of moves that have ended are applied at once, and the move in service goes on as an operation of its own. They
//! are also applied before sums are read. Results are those of move after move: tests compare the two.

use crate::flash::{Op, OpKind, Owner, Parts, Unrolled};
use crate::gc::{Move, Step};
use crate::rules::BurstRule;
use crate::sched::{QueueKind, linked};
use crate::ssd::Ssd;
use crate::ssd::candidates::Limits;
use crate::ssd::mechanisms::{
    advance, ages, estimates, heat, idle, merge, order, pace, pause, planes, power, power_states, rotation, slc, superblock, units, wear,
    windows, zones,
};
use serde_json::Value;
use ssdlab_base::units::{BlockId, DieId, Ns, PoolId, Ppn, SlotId, TxnId};
use ssdlab_keys::config::{Config, Priority, RebuildReads};
use ssdlab_keys::geometry::PageFacts;

/// What all mechanisms say of bursts.
const RULES: &[BurstRule] = &[
    SHAPE,
    ABOVE,
    advance::BURSTS,
    ages::BURSTS,
    estimates::BURSTS,
    heat::BURSTS,
    idle::BURSTS,
    merge::BURSTS,
    order::BURSTS,
    pace::BURSTS,
    pause::BURSTS,
    planes::BURSTS,
    power::BURSTS,
    power_states::BURSTS,
    rotation::BURSTS,
    slc::BURSTS,
    superblock::BURSTS,
    units::BURSTS,
    wear::BURSTS,
    windows::BURSTS,
    zones::BURSTS,
    crate::arbiter::BURSTS,
    crate::cache::BURSTS,
    crate::flash::BUS_BURSTS,
    crate::flash::BUSY_BURSTS,
    crate::flash::TIMING_BURSTS,
    crate::ftl::NAMESPACE_BURSTS,
    crate::ftl::PARITY_BURSTS,
    crate::ftl::PLACEMENT_BURSTS,
    crate::ftl::POOL_BURSTS,
    crate::gc::EPISODE_BURSTS,
    crate::gc::EXCLUSION_BURSTS,
    crate::gc::JOB_BURSTS,
    crate::gc::VICTIM_BURSTS,
    crate::sched::PLACEMENT_BURSTS,
];

/// Bursts remain exact: sizes and thresholds say how many moves there are and when a job begins, not what comes between two of them.
const SHAPE: BurstRule = BurstRule {
    keys: &[
        "device.planes_per_die",
        "device.blocks_per_plane",
        "device.pages_per_block",
        "device.page_bytes",
        "device.multiplane",
        "device.multiplane_aligned",
        "device.multiplane_aligned_reads",
        "device.overprovisioning",
        "ftl.precondition.",
        "ftl.partial_write",
        "ftl.unmapped_read",
        "gc.soft",
        "gc.hard",
        "gc.hard_stops",
        "gc.invalid_share",
        "gc.forced",
        "scheduler.alpha",
        "scheduler.read_queue",
        "scheduler.write_queue",
    ],
    exact: |_| true,
};

/// Bursts: levels above the drive see its requests and completions, but a mapping table in flash is updated for each move when it ends, and
/// how long a job remains busy depends on the moves that have ended.
const ABOVE: BurstRule = BurstRule {
    keys: &[
        "array.degraded",
        "array.drives",
        "array.level",
        "array.rebuild_bytes_per_us",
        "array.rebuild_reads",
        "array.rebuild_stripes",
        "array.stripe_kb",
        "buffer.",
        "host.",
        "workload.",
        "ftl.map_cache_bytes",
        "ftl.map_cache_unit",
        "ftl.map_cache_policy",
        "ftl.map_page_bytes",
        "ftl.map_entry_bytes",
        "ftl.map_models",
        "ftl.map_model_error",
        "ftl.map_model_pieces",
    ],
    // Whether a read is refused depends on the operation that is in service when it comes: of a burst, the die seems busy between two moves.
    exact: |config| !config.has_mapping() && matches!(config.array.rebuild_reads, RebuildReads::Off | RebuildReads::Window),
};

/// Bursts remain exact with this configuration: all mechanisms say so, and each key that is not at its default is of one.
pub(in crate::ssd) fn remain_exact(config: &Config) -> bool {
    agree(RULES, config)
}

fn agree(rules: &[BurstRule], config: &Config) -> bool {
    let mut agree = rules.iter().all(|rule| (rule.exact)(config));
    if agree {
        let default = Config::default().to_value();
        changed("", &config.to_value(), &default, &mut |key| agree &= rules.iter().any(|rule| is_of(key, rule)));
    }
    agree
}

/// The key belongs to the mechanism.
fn is_of(key: &str, rule: &BurstRule) -> bool {
    rule.keys.iter().any(|&of| if of.ends_with('.') { key.starts_with(of) } else { key == of })
}

/// Calls `each` with the name of each key whose value differs from its default.
fn changed(name: &str, value: &Value, default: &Value, each: &mut dyn FnMut(&str)) {
    match value {
        _ if value == default => {}
        Value::Object(section) if section.is_empty() || !default.is_object() => each(name),
        Value::Object(section) => {
            for (key, value) in section {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                changed(&name, value, default.get(key).unwrap_or(&Value::Null), each);
            }
        }
        _ => each(name),
    }
}

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
    /// Plays no bursts. Call before [`Ssd::begin`].
    pub fn move_page_by_page(&mut self) {
        self.rules.never_bursts();
    }

    /// Interrupts all bursts, in the middle of a round whose stages have ended.
    pub fn interrupt_bursts(&mut self, now: Ns) {
        if self.rules.bursts {
            (0..self.geometry().dies).for_each(|die| interrupt(self, now, DieId(die)));
        }
    }

    /// Applies the moves of bursts that have ended by `now`, before sums are read between two rounds. The bursts go on.
    pub fn catch_up(&mut self, now: Ns, phase: RoundPhase) {
        if !self.rules.bursts {
            return;
        }
        for die in (0..self.geometry().dies).map(DieId) {
            if let Some((pool, at)) = self.gc.jobs.burst_on(die) {
                let (ended, begun) = moves_ended(self, now, at, phase);
                make_up(self, now, pool, at, ended, begun);
            }
        }
    }
}

/// Plays the pages that the job of a pool has left to move as one event, if nothing prevents it. Returns true if it has begun.
pub(in crate::ssd) fn begin(ssd: &mut Ssd, now: Ns, die: DieId, pool: PoolId) -> bool {
    let victim = ssd.gc.job(pool).expect("a job that begins a step").victim();
    let moves = ssd.ftl.blocks().valid(victim);
    if moves < 2 || ssd.gc.jobs.on_die(die) > 1 || !ssd.flash.idle(die) || waits_for_move(ssd, die, pool, victim, moves) {
        return false;
    }
    // Bursts are allowed only where all pages take the same time.
    let (poll, timing, any) = (ssd.rules.gc.poll_ns, ssd.flash.timing(), PageFacts::default());
    let (read_ns, write_ns) = (timing.read(&any) + poll, timing.program(&any) + poll);
    let op = Op { kind: OpKind::Move, owner: Owner::Gc(pool), pages: 1, parts: Parts::WHOLE, read_ns, write_ns };
    let at = ssd.flash.start_repeated(now, die, op, moves, &mut ssd.events);
    ssd.gc.jobs.begin_burst(die, pool, at);
    true
}

/// A host operation that waits for the die could merge with one of the moves; also true if too many wait to check each.
fn waits_for_move(ssd: &Ssd, die: DieId, pool: PoolId, victim: BlockId, moves: u32) -> bool {
    let waiting = ssd.sched.waiting_on(die);
    let of = |kind| linked(&ssd.transactions, ssd.sched.head(ssd.sched.queue(pool, kind)));
    let in_victim = |id| lies_in(ssd, id, victim);
    ssd.rules.gc.merge && waiting > 0 && (waiting > moves || of(QueueKind::Read).chain(of(QueueKind::Write)).any(in_victim))
}

/// The page of an operation lies in this block.
fn lies_in(ssd: &Ssd, id: TxnId, block: BlockId) -> bool {
    ssd.ftl.lookup(ssd.transactions[id].lpn).is_some_and(|ppn| ssd.block_of_page(ppn) == block)
}

/// Call when a host operation is about to wait for the die: interrupts the burst there if it could merge with a move, or change the
/// state of the pool.
#[inline(always)]
pub(in crate::ssd) fn interrupt_to_merge(ssd: &mut Ssd, now: Ns, die: DieId, id: TxnId) {
    if ssd.rules.bursts
        && let Some((pool, _)) = ssd.gc.jobs.burst_on(die)
    {
        let victim = ssd.gc.job(pool).expect("a burst is of a job").victim();
        if ssd.transactions[id].high_priority || ssd.rules.gc.merge && lies_in(ssd, id, victim) {
            interrupt(ssd, now, die);
        }
    }
}

/// Call when a host operation has come to wait for the die: interrupts the burst there if it may come between two of its moves.
#[inline(always)]
pub(in crate::ssd) fn interrupt_for_host(ssd: &mut Ssd, now: Ns, die: DieId) {
    // Where bursts are allowed their moves cannot make an operation eligible that is not.
    if ssd.rules.bursts
        && ssd.rules.gc.priority == Priority::Host
        && ssd.gc.jobs.burst_on(die).is_some()
        && ssd.host_candidate(die, Limits::default()).is_some()
    {
        interrupt(ssd, now, die);
    }
}

/// Interrupts the burst on a die, if there is one: applies the moves that have ended, and makes the one in service an operation of its
/// own.
fn interrupt(ssd: &mut Ssd, now: Ns, die: DieId) {
    let Some((pool, at)) = ssd.gc.jobs.burst_on(die) else { return };
    let (ended, begun) = moves_ended(ssd, now, at, RoundPhase::StagesEnded);
    make_up(ssd, now, pool, at, ended, begun);
    end_burst(ssd, now, pool, at, begun);
    let unrolled = ssd.flash.unroll(now, at, begun, &mut ssd.events);
    match unrolled {
        Unrolled::InService => {}
        Unrolled::ArrayEnds => ssd.array_event(now, at),
        Unrolled::TransferEnds(channel) => ssd.bus_event(now, channel),
    }
}

/// Interrupts the burst, if any, on the die of a page that is about to be trimmed.
pub(in crate::ssd) fn interrupt_for_trim(ssd: &mut Ssd, now: Ns, place: Ppn) {
    interrupt_on(ssd, now, ssd.geometry().die_of_pool(ssd.geometry().pool_of_page(place)));
}

/// Interrupts the burst on a die, if there is one: something changes there that it does not account for.
#[inline(always)]
pub(in crate::ssd) fn interrupt_on(ssd: &mut Ssd, now: Ns, die: DieId) {
    if ssd.rules.bursts {
        interrupt(ssd, now, die);
    }
}

/// The number of moves of a burst that have ended, and whether what begins at `now` has begun; a move that ends at `now` counts only
/// then.
fn moves_ended(ssd: &Ssd, now: Ns, at: SlotId, phase: RoundPhase) -> (u32, bool) {
    let (since, move_ns) = ssd.flash.repeated(at);
    let begun = match phase {
        RoundPhase::Begins => false,
        RoundPhase::StagesEnded => ssd.dispatched_at == Some(now),
        RoundPhase::Over => true,
    };
    let ended = (now - since) / move_ns;
    let ends_now = ended > 0 && (now - since).is_multiple_of(move_ns);
    ((ended - u64::from(ends_now && !begun)) as u32, begun)
}

/// The burst in a slot ends by itself: applies all of its moves but the last.
pub(in crate::ssd) fn ended(ssd: &mut Ssd, now: Ns, pool: PoolId, at: SlotId) {
    make_up(ssd, now, pool, at, ssd.flash.repetitions(at) - 1, false);
    end_burst(ssd, now, pool, at, false);
}

/// Makes the move in service of a burst an operation of its own.
fn end_burst(ssd: &mut Ssd, now: Ns, pool: PoolId, at: SlotId, begun: bool) {
    ssd.probes.count().gc_reads += 1;
    let moving = ssd.gc.moving(pool).or_else(|| Some(place_in_service(ssd, now, pool, at, begun)));
    ssd.gc.jobs.end_burst(at.die());
    ssd.gc.jobs.begin_step(pool, moving);
}

/// The move in service of a burst, with its target page if that is chosen by `now` (exactly at `now`: if what begins then has begun).
fn place_in_service(ssd: &mut Ssd, now: Ns, pool: PoolId, at: SlotId, begun: bool) -> Move {
    let Step::Move(moved) = ssd.gc.jobs.next_step(&ssd.ftl, pool) else { unreachable!("a burst ends with a move in service") };
    if is_placed(ssd, now, at, begun) { ssd.place_move(placed_at(ssd, at), pool, moved).0 } else { moved }
}

/// When the move in service of a burst gets its target page, ns.
fn placed_at(ssd: &Ssd, at: SlotId) -> Ns {
    ssd.flash.repeated(at).0 + ssd.flash.placed_after(at, ssd.rules.gc.places_late())
}

fn is_placed(ssd: &Ssd, now: Ns, at: SlotId, begun: bool) -> bool {
    let placed_at = placed_at(ssd, at);
    placed_at < now || placed_at == now && begun || !ssd.rules.gc.places_late()
}

/// Applies the first `ended` moves of a burst, and gives the next its target page if that is chosen by `now`.
fn make_up(ssd: &mut Ssd, now: Ns, pool: PoolId, at: SlotId, ended: u32, begun: bool) {
    if ended > 0 {
        let (began, move_ns) = ssd.flash.repeated(at);
        // The first move may have its target page already.
        let placed = ssd.gc.jobs.take_moving(pool);
        if let Some(Move { lpn, from, to, .. }) = placed {
            let current = ssd.ftl.commit_move(pool, lpn, from, to.expect("it was placed"));
            assert!(current, "the pages of a burst are as they were when it began");
        }
        let first = u32::from(placed.is_some());
        move_pages(ssd, pool, at, ended - first, began + Ns::from(first) * move_ns);
        let cause = ssd.gc.job(pool).expect("a burst is of a job").cause();
        let counters = ssd.probes.count();
        counters.pages_moved += u64::from(ended);
        counters.moves_by_cause[cause as usize] += u64::from(ended);
        counters.gc_reads += u64::from(ended);
        ssd.flash.skip_repetitions(at, ended);
    }
    if ssd.gc.moving(pool).is_none() && is_placed(ssd, now, at, begun) {
        let moved = place_in_service(ssd, now, pool, at, begun);
        ssd.gc.jobs.begin_step(pool, Some(moved));
    }
}

/// Moves `count` pages of a burst, the first of whose moves began at `began`.
fn move_pages(ssd: &mut Ssd, pool: PoolId, at: SlotId, count: u32, began: Ns) {
    let job = ssd.gc.job(pool).expect("a burst is of a job");
    let (victim, cursor) = (job.victim(), job.cursor());
    ssd.ftl.prefetch_moves(victim, cursor);
    // A job moves fewer pages than a block has, and takes at most one block.
    let mut taken = None;
    let batch = ssd.ftl.move_batch(pool, victim, cursor, false, count, |before, left| taken = Some((before, left)));
    assert!(batch.moves == count && batch.stale == 0, "the pages of a burst are as they were when it began");
    ssd.gc.jobs.set_cursor(pool, batch.end);
    if let Some((before, left)) = taken {
        let move_ns = ssd.flash.repeated(at).1;
        let placed_after = ssd.flash.placed_after(at, ssd.rules.gc.places_late());
        ssd.block_taken(began + Ns::from(before) * move_ns + placed_after, pool, left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_keys::config::schema::keys;

    #[test]
    fn each_key_is_of_one_mechanism_which_says_whether_bursts_remain_exact() {
        for key in keys() {
            let count = RULES.iter().filter(|rule| is_of(&key.name, rule)).count();
            assert_eq!(count, 1, "{} has {count} rules of bursts", key.name);
        }
    }

    #[test]
    fn a_mechanism_that_says_nothing_refuses_bursts() {
        let mut config = Config::default();
        (config.device.chips_per_channel, config.device.dies_per_chip) = (1, 1);
        assert!(agree(RULES, &config));
        let others: Vec<_> = RULES.iter().copied().filter(|rule| !is_of("gc.merge", rule)).collect();
        assert!(agree(&others, &config), "it is off");
        config.gc.merge = !config.gc.merge;
        assert!(agree(RULES, &config) && !agree(&others, &config));
    }
}
