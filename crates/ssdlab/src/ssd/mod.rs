//! One drive: owns translation, collection, scheduling and flash, and passes transactions down and completions up between them.
//!
//! | file | what happens there |
//! |---|---|
//! | `accept` | a request becomes page transactions, which wait in lines or for older operations on their page |
//! | `dispatch` | on a die happens what the arbiter decides |
//! | `candidates` | who could begin on a die |
//! | `begin` | operations leave their lines, are given pages, and go to the flash |
//! | `collect` | jobs start, exclude, and end |
//! | `idle` | collection ahead of need while no request is under way |
//! | `complete` | stages end: transactions, then requests complete |
//! | `merge` | host operations join page moves |
//! | `slack` | when operations will end, what they have to spare, and programs that pause |
//! | `gauges` | what is added up over time |
//! | `states` | what a pool allows while it has too little free space |
//! | `clocks` | where waiting time goes |
//! | `timeline` | what the recorder of a timeline is told |
//! | `planted` | defects for tests to find |
//! | `verify` | data versions and recounts, when asked for |

mod accept;
mod begin;
mod candidates;
mod clocks;
mod collect;
mod complete;
mod dispatch;
mod gauges;
mod idle;
mod merge;
mod planted;
mod requests;
mod slack;
mod states;
mod timeline;
mod verify;

use std::collections::VecDeque;

use crate::arbiter::Axes;
use crate::config::{Config, PartialWrite, Priority, Scope, Suspendable, UnmappedRead};
use crate::error::{Error, Result};
use crate::event::{Event, EventQueue};
use crate::flash::{Flash, Trace};
use crate::ftl::Ftl;
use crate::gc::Collector;
use crate::gc::victim::CustomVictim;
use crate::geometry::Geometry;
use crate::sched::{Scheduler, TRIMMED, Transactions};
use crate::stats::{Completion, SlackStats};
use crate::units::{ChannelId, ChipId, DieId, Lpn, Ns, PlaneId, PoolId};

#[doc(hidden)]
pub use planted::Planted;
pub use slack::Estimate;

use clocks::{Clocks, Holder};
use gauges::Gauges;
use idle::Idle;
use requests::Requests;
use states::States;
use verify::Verifier;

/// What the mechanisms of a drive did, in counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Flash reads for host requests, those of read-modify-writes included.
    pub host_reads: u64,
    /// Pages programmed for the host.
    pub host_programs: u64,
    /// Pages moved by collection: programs, stale copies included.
    pub pages_moved: u64,
    /// Page moves by copyback.
    pub copybacks: u64,
    /// Moved pages that were overwritten or trimmed meanwhile.
    pub stale_moves: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Collections finished.
    pub jobs: u64,
    /// Sum and maximum of their durations, start to end of erase, ns. Jobs of many pools go on side by side: the sum may exceed 64 bits.
    pub job_ns: u128,
    /// See `job_ns`.
    pub job_ns_max: Ns,
    /// Reads before partial writes.
    pub rmw_reads: u64,
    /// Page reads answered from a write still under way.
    pub buffer_reads: u64,
    /// Page reads of pages without data.
    pub unmapped_reads: u64,
    /// Operations that waited for an older one on their page.
    pub page_order_waits: u64,
    /// Multi-plane operations.
    pub multiplane_ops: u64,
    /// Operations that overlapped another through the cache register.
    pub overlapped_ops: u64,
    /// Times that a program had to wait for its bus.
    pub bus_lines: u64,
    /// Pages that a full chip queue held in the host queue.
    pub host_queue_waits: u64,
    /// Times that host operations went first between two jobs.
    pub gates: u64,
    /// Pages unmapped by trims.
    pub trimmed_pages: u64,
    /// Flash reads of page moves.
    pub gc_reads: u64,
    /// Host reads answered by a page move: by its transfer, from its register or from the buffer.
    pub merged_reads: u64,
    /// Host writes that took the place of a page move.
    pub merged_writes: u64,
    /// Page moves that went ahead of their turn because a host operation joins them.
    pub reordered_moves: u64,
    /// Host reads whose transfer a page move's read overlapped.
    pub pipelined_reads: u64,
    /// Host writes whose transfer overlapped a page move's program.
    pub pipelined_writes: u64,
    /// Host operations that began while a job on their die could have gone on.
    pub preemptions: u64,
    /// GC operations suspended in the array.
    pub suspensions: u64,
    /// Page moves put aside at a point between their stages.
    pub moves_put_aside: u64,
    /// Page moves given up before their program, since the host had written or trimmed the page.
    pub discarded_moves: u64,
    /// Times that a high-priority write made collection run to completion.
    pub s3_entries: u64,
    /// Host writes given a page of another block than the shared frontier, which a job had to itself.
    pub redirected_writes: u64,
    /// Times that a host program paused for reads, and reads served in the pauses.
    pub write_pauses: u64,
    /// See `write_pauses`.
    pub pause_reads: u64,
    /// Jobs started by idleness.
    pub idle_jobs: u64,
    /// Times that such a job paused at a point because a request had come.
    pub idle_pauses: u64,
}

/// The simulated drive.
pub struct Ssd {
    ftl: Ftl,
    gc: Collector,
    sched: Scheduler,
    flash: Flash,
    events: EventQueue,
    transactions: Transactions,
    requests: Requests,
    /// Requests not yet fully in the chip queues, oldest first, and their next page.
    host_queue: VecDeque<(u32, u32)>,
    /// The page for which the first of them waits, once that has been tried.
    held_in_host_queue: Option<u32>,
    /// A place in a chip queue became free while requests waited.
    host_queue_ready: bool,
    clocks: Clocks,
    /// Wait-clock domains are planes, not dies.
    plane_clocks: bool,
    /// Dies on which something may begin.
    dirty: DieSet,
    /// Channels whose bus became free.
    freed: Vec<ChannelId>,
    /// By die: the pool whose job excludes host operations.
    excluded_by: Vec<Option<PoolId>>,
    /// By plane, for exclusion of planes.
    plane_excluded: Vec<bool>,
    /// Active jobs on each die.
    jobs_on_die: Vec<u32>,
    /// By die: which of its pools a write without a place goes to next (dynamic allocation).
    next_pool: Vec<u32>,
    /// Pools whose finished job left a gate.
    gated: Vec<PoolId>,
    /// Where idleness is a trigger.
    idle: Option<Idle>,
    axes: Axes,
    multiplane: bool,
    multiplane_aligned: bool,
    copyback: bool,
    interleave: bool,
    skip_partial_read: bool,
    unmapped_read: UnmappedRead,
    /// Host operations join page moves.
    merge: bool,
    suspends: Suspends,
    /// Programs of the host pause for reads.
    pauses: bool,
    /// Two operations may share a die, or one be put aside for another.
    shares_dies: bool,
    gc_pipeline: bool,
    several_moves: bool,
    poll_ns: Ns,
    states: States,
    /// Reads that found their page in the controller's buffer, at this instant.
    answered: Vec<u32>,
    /// By die: the page whose move ended last, which lies in the register at that instant, ns.
    just_moved: Vec<(Lpn, Ns)>,
    /// Exclusion is by plane.
    excludes_planes: bool,
    /// Exclusion may hit a plane of a pool of several.
    plane_scope_in_pool: bool,
    /// A job works on its blocks alone.
    block_scope: bool,
    /// Some reads of a pool may have to wait while others need not: those of an excluded plane or block.
    excludes_reads: bool,
    /// Programs under way by pool, where writes go by load.
    writes_under_way: Vec<u32>,
    /// Serial number of the next moment at which something becomes ready.
    serial: u64,
    /// Where the request before ended, by which sequential ones are known.
    last_end: Option<u64>,
    counters: Counters,
    gauges: Gauges,
    slack_stats: SlackStats,
    /// Requests that arrive now are left out of statistics.
    warming_up: bool,
    completions: Vec<Completion>,
    verifier: Option<Verifier>,
    /// A defect for tests to find.
    planted: Option<Planted>,
}

impl Ssd {
    /// A drive at rest, with the state of `ftl`. `seed`: that of the run.
    pub fn new(config: &Config, mut ftl: Ftl, seed: u64) -> Self {
        // Not only when the run begins: a failed drive of an array never does.
        ftl.begin_run();
        let geometry = ftl.geometry().clone();
        let flash = Flash::new(config, &geometry);
        let pool_is_plane = geometry.pools.planes_each.get() == 1;
        let plane_clocks = config.gc.scope == Scope::Plane && pool_is_plane && geometry.planes > geometry.dies;
        let domains = if plane_clocks { geometry.planes } else { geometry.dies };
        Ssd {
            gc: Collector::new(config, &geometry, seed),
            sched: Scheduler::new(config, &geometry, &flash.timing),
            flash,
            events: EventQueue::default(),
            transactions: Transactions::default(),
            requests: Requests::default(),
            host_queue: VecDeque::new(),
            held_in_host_queue: None,
            host_queue_ready: false,
            // Behind the dies' (or planes') clocks, one for each chip.
            clocks: Clocks::new(domains + geometry.chips),
            plane_clocks,
            dirty: DieSet::new(geometry.dies),
            freed: Vec::new(),
            excluded_by: vec![None; geometry.dies as usize],
            plane_excluded: vec![false; geometry.planes as usize],
            jobs_on_die: vec![0; geometry.dies as usize],
            next_pool: vec![0; geometry.dies as usize],
            gated: Vec::new(),
            idle: Idle::new(config, geometry.pools.blocks_each),
            axes: Axes::new(&config.gc),
            multiplane: config.device.multiplane,
            multiplane_aligned: config.device.multiplane_aligned,
            // Merging needs the page's data on the bus (lee2013 III-B), and several moves in flight need the controller's buffer.
            copyback: config.device.copyback && !config.gc.merge && config.gc.moves_in_flight == 1,
            interleave: config.device.die_interleave,
            skip_partial_read: config.ftl.partial_write == PartialWrite::Program,
            unmapped_read: config.ftl.unmapped_read,
            // Where host operations wait until the job has ended there is nothing to join.
            merge: config.gc.merge
                && (config.gc.scope == Scope::None || config.gc.scope == Scope::Block && config.gc.priority == Priority::Host),
            suspends: Suspends::new(config),
            pauses: config.scheduler.write_pausing,
            slack_stats: SlackStats::default(),
            warming_up: false,
            shares_dies: config.scheduler.pipeline
                || config.scheduler.write_pausing
                || config.gc.pipeline && config.device.cache_register
                || config.gc.merge
                || !config.gc.suspend.is_empty(),
            gc_pipeline: config.gc.pipeline && config.device.cache_register,
            several_moves: config.gc.moves_in_flight > 1,
            poll_ns: config.gc.poll_ns,
            states: States::new(config, &geometry),
            answered: Vec::new(),
            just_moved: vec![(Lpn(u32::MAX), 0); geometry.dies as usize],
            excludes_planes: config.gc.scope == Scope::Plane,
            plane_scope_in_pool: config.gc.scope == Scope::Plane && !pool_is_plane,
            block_scope: config.gc.scope == Scope::Block,
            excludes_reads: config.gc.scope == Scope::Plane || config.gc.excludes_block_reads(),
            writes_under_way: vec![0; geometry.pools.count.get() as usize],
            serial: 0,
            last_end: None,
            counters: Counters::default(),
            gauges: Gauges::new(geometry.chips, ftl.blocks().free_total()),
            completions: Vec::new(),
            verifier: None,
            planted: None,
            ftl,
        }
    }

    /// Begins at time 0. A drive that comes with too few free blocks in some pool (a saved state under another threshold) collects at once.
    pub fn begin(&mut self) {
        for pool in (0..self.geometry().pools.count.get()).map(PoolId) {
            self.look_at_trigger(0, pool);
        }
        self.idle_from(0);
        self.dispatch(0);
    }

    /// Asks a victim policy of the user's own. For before [`Ssd::begin`].
    pub fn use_victim_policy(&mut self, custom: &CustomVictim) {
        self.gc.victims_mut().ask(custom);
    }

    /// Checks data as the run goes; with `every_event` also recounts everything after each event.
    pub fn verify(&mut self, every_event: bool) {
        self.verifier = Some(Verifier::new(&self.ftl, every_event));
        self.flash.trace.get_or_insert_with(Trace::default);
    }

    /// Keeps every stage of every operation as an interval, for tests and timelines.
    pub fn keep_trace(&mut self) {
        self.flash.trace.get_or_insert_with(Trace::default).keep = true;
    }

    /// The stages kept since [`Ssd::keep_trace`].
    pub fn trace(&self) -> Option<&Trace> {
        self.flash.trace.as_ref()
    }

    /// Plays every stage as an event of its own, also where nobody could get between them. For tests: results must not differ.
    pub fn play_every_stage(&mut self) {
        self.flash.play_every_stage();
    }

    /// The translation layer.
    pub fn ftl(&self) -> &Ftl {
        &self.ftl
    }

    /// What the mechanisms did.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Operations that were passed by others, reads and writes.
    pub fn passes(&self) -> [u64; 2] {
        self.sched.slack.as_ref().map_or([0; 2], |slack| slack.passes())
    }

    /// What slack there was, and how well it was estimated.
    pub fn slack_stats(&self) -> &SlackStats {
        &self.slack_stats
    }

    /// The chip where a page lies, or will when it is written. `None`: it is not known before (dynamic allocation).
    #[inline]
    pub fn chip_of_page(&self, lpn: Lpn) -> Option<ChipId> {
        let geometry = self.geometry();
        let pool = if self.sched.is_dynamic() {
            geometry.pool_of_page(self.ftl.lookup(lpn)?)
        } else {
            // A page stays in the pool that its address gives it.
            geometry.home(lpn).0
        };
        Some(geometry.chip_of_die(geometry.die_of_pool(pool)))
    }

    /// A page has been written, or is about to be by what is under way, and not trimmed since.
    pub fn has_data(&self, lpn: Lpn) -> bool {
        match self.ftl.chain(lpn).and_then(|(_, youngest)| self.transactions[youngest].changes()) {
            Some(change) => change != TRIMMED,
            None => self.ftl.lookup(lpn).is_some(),
        }
    }

    /// Where a page is written does not follow from its address.
    pub fn allocates_dynamically(&self) -> bool {
        self.sched.is_dynamic()
    }

    /// A job is active on the chip, or, with `soon` > 0, a pool of it has fewer than T_soft + `soon` free blocks.
    #[inline]
    pub fn chip_in_gc(&self, chip: ChipId, soon: u32) -> bool {
        let dies = self.geometry().dies_of_chip(chip);
        let wanted = self.ftl.soft_blocks() + soon;
        let is_short = |die| self.geometry().pools_of_die(DieId(die)).any(|pool| self.ftl.blocks().free_count(PoolId(pool)) < wanted);
        dies.clone().any(|die| self.jobs_on_die[die as usize] > 0) || soon > 0 && dies.into_iter().any(is_short)
    }

    /// Requests under way.
    pub fn outstanding(&self) -> usize {
        self.requests.len()
    }

    /// A request will arrive soon. Nothing is fetched ahead yet, and nothing that can be seen may change.
    #[inline]
    pub fn foresee(&self, _request: &crate::request::Request) {}

    /// When the next event is due.
    #[inline]
    pub fn next_event(&self) -> Option<Ns> {
        self.events.next_time()
    }

    /// Handles all events due at `now`.
    #[inline]
    pub fn handle_events(&mut self, now: Ns) {
        while let Some(event) = self.events.pop_at(now) {
            match event {
                (serial, Event::Slot(slot)) if self.flash.is_stale(slot, serial) => {}
                (_, Event::Slot(slot)) => self.slot_event(now, slot),
                (_, Event::Bus(channel)) => self.bus_event(now, ChannelId(channel)),
                (_, Event::Timer) => self.timer_event(now),
            }
        }
    }

    /// Moves the completions since the last call to `into`.
    #[inline]
    pub fn drain_completions(&mut self, into: &mut Vec<Completion>) {
        if !self.completions.is_empty() {
            into.append(&mut self.completions);
        }
    }

    fn geometry(&self) -> &Geometry {
        self.ftl.geometry()
    }

    fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    /// The wait-clock domain of a pool's transactions.
    #[inline(always)]
    fn domain_of_pool(&self, pool: PoolId) -> u32 {
        if self.plane_clocks { pool.0 } else { self.geometry().die_of_pool(pool).0 }
    }

    /// The wait-clock domain of a chip's writes that have no die yet.
    fn domain_of_chip(&self, chip: u32) -> u32 {
        chip + if self.plane_clocks { self.geometry().planes } else { self.geometry().dies }
    }

    /// Sets the wait clocks of a die (and what depends on it) by what holds it now.
    #[inline]
    fn update_clocks(&mut self, die: DieId, now: Ns) {
        if self.interleave {
            self.update_die_clock(die, now);
        } else {
            for die in self.geometry().dies_of_chip(self.geometry().chip_of_die(die)) {
                self.update_die_clock(DieId(die), now);
            }
        }
        if self.sched.is_dynamic() {
            self.update_chip_clock(die, now);
        }
    }

    fn update_die_clock(&mut self, die: DieId, now: Ns) {
        let holder = self.holder(die);
        if !self.plane_clocks {
            return self.clocks.hold(die.0, holder, now);
        }
        for plane in self.geometry().pools_of_die(die) {
            let holder = if self.plane_excluded[plane as usize] { Holder::Gc } else { holder };
            self.clocks.hold(plane, holder, now);
        }
    }

    /// Who holds a die. An idle die that is not excluded keeps nobody waiting but writes without a free block: that is collection's debt.
    #[inline]
    fn holder(&self, die: DieId) -> Holder {
        let (host, gc) = self.held(die);
        if gc {
            Holder::Gc
        } else if host {
            Holder::Host
        } else if !self.interleave {
            self.holder_of_chip(die)
        } else if self.flash.in_line(die) {
            Holder::Bus
        } else {
            Holder::Gc
        }
    }

    /// Who holds an idle die whose chip does one operation at a time: what runs on another die, or the bus for which the chip waits.
    fn holder_of_chip(&self, die: DieId) -> Holder {
        let dies = || self.geometry().dies_of_chip(self.geometry().chip_of_die(die)).map(DieId);
        let running = dies().map(|die| self.flash.holders(die)).find(|&(host, gc)| host || gc);
        match running {
            Some((true, _)) => Holder::Host,
            None if dies().any(|die| self.flash.in_line(die)) => Holder::Bus,
            _ => Holder::Gc,
        }
    }

    /// A host operation runs on the die; a GC operation runs on it or a job excludes it.
    #[inline]
    fn held(&self, die: DieId) -> (bool, bool) {
        let (host, gc) = self.flash.holders(die);
        (host, gc || self.excluded_by[die.index()].is_some())
    }

    fn update_chip_clock(&mut self, die: DieId, now: Ns) {
        let chip = self.geometry().chip_of_die(die);
        let dies = self.geometry().dies_of_chip(chip);
        let any = |f: &dyn Fn(DieId) -> bool| dies.clone().any(|die| f(DieId(die)));
        let holder = if any(&|die| self.held(die).1) {
            Holder::Gc
        } else if any(&|die| self.held(die).0) {
            Holder::Host
        } else if any(&|die| self.flash.in_line(die)) {
            Holder::Bus
        } else {
            Holder::Gc
        };
        self.clocks.hold(self.domain_of_chip(chip.0), holder, now);
    }

    /// Time in which a chip was busy until `now`, ns. Where its dies work side by side: the mean of theirs, rounded down; where it does one
    /// operation at a time, all of theirs.
    pub fn chip_busy_ns(&self, chip: u32, now: Ns) -> Ns {
        let dies = self.geometry().dies_per_chip.get();
        let all = (chip * dies..(chip + 1) * dies).map(|die| u128::from(self.flash.die_busy_ns(DieId(die), now))).sum::<u128>();
        (if self.interleave { all / u128::from(dies) } else { all }) as Ns
    }

    /// The run begins with a warm-up: slack is only recorded of requests that arrive after [`Ssd::end_warm_up`].
    pub fn warm_up(&mut self) {
        self.warming_up = true;
    }

    /// The warm-up ends. Extremes begin anew; sums go on, and who wants their growth takes the difference.
    pub fn end_warm_up(&mut self) {
        self.warming_up = false;
        self.counters.job_ns_max = 0;
        self.ftl.begin_run();
    }

    /// Time a channel's bus was busy until `now`, ns.
    pub fn bus_busy_ns(&self, channel: ChannelId, now: Ns) -> Ns {
        self.flash.bus_busy_ns(channel, now)
    }

    /// Sum over pools of the time until `now` in which a job was active, ns.
    pub fn gc_active_ns(&self, now: Ns) -> u128 {
        let pools = self.geometry().pools.count.get();
        let running = (0..pools).filter_map(|pool| self.gc.job(PoolId(pool))).map(|job| u128::from(now - job.started_ns));
        self.counters.job_ns + running.sum::<u128>()
    }

    /// Collections whose victim the greedy policy chose because the configured one named a block that could not be collected, or none.
    pub fn victim_fallbacks(&self) -> u64 {
        self.gc.victim_fallbacks()
    }

    /// Why the user's own victim policy could not choose, once it could not.
    #[inline]
    pub fn take_policy_failure(&mut self) -> Option<Error> {
        self.gc.victims_mut().take_failure()
    }

    /// What waits for what, for the watchdog's report.
    pub fn describe(&self) -> String {
        format!(
            "{} requests are under way and nothing is due. {}; {}; {} requests in the host queue",
            self.requests.len(),
            self.sched.describe(),
            self.gc.describe(),
            self.host_queue.len()
        )
    }

    /// Recounts everything that is kept twice.
    ///
    /// # Errors
    /// The first contradiction found, by verify mode as the run went or now.
    pub fn check(&self) -> Result<()> {
        verify::check(self)
    }

    fn plane_of_page(&self, ppn: crate::units::Ppn) -> PlaneId {
        let geometry = self.geometry();
        geometry.plane_of_block(geometry.split_page(ppn).0)
    }
}

/// Which GC operations can be suspended, and what that takes.
#[derive(Clone, Copy, Debug)]
struct Suspends {
    read: bool,
    program: bool,
    erase: bool,
    ns: Ns,
    one_register: bool,
}

impl Suspends {
    fn new(config: &Config) -> Self {
        let has = |kind| config.gc.suspend.contains(&kind);
        Suspends {
            read: has(Suspendable::Read),
            program: has(Suspendable::Program),
            erase: has(Suspendable::Erase),
            ns: config.device.suspend_ns,
            one_register: config.device.page_registers == 1,
        }
    }

    fn any(&self) -> bool {
        self.read || self.program || self.erase
    }
}

/// A set of dies, taken in the order in which they came.
#[derive(Clone, Debug)]
struct DieSet {
    queue: VecDeque<DieId>,
    contains: Vec<bool>,
}

impl DieSet {
    fn new(dies: u32) -> Self {
        DieSet { queue: VecDeque::with_capacity(dies as usize), contains: vec![false; dies as usize] }
    }

    #[inline(always)]
    fn insert(&mut self, die: DieId) {
        if !std::mem::replace(&mut self.contains[die.index()], true) {
            self.queue.push_back(die);
        }
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<DieId> {
        let die = self.queue.pop_front()?;
        self.contains[die.index()] = false;
        Some(die)
    }
}
