//! The state and statistics of a drive, as read by statistics, caches, arrays and tests.

use crate::flash::Trace;
use crate::ftl::{Ftl, SuperblockCounts};
use crate::gc::Job;
use crate::gc::victim::CustomVictim;
use crate::sched::{TRIMMED, page_order};
use crate::ssd::watch::verify::{self, Verifier};
use crate::ssd::{Counters, Ssd};
use ssdlab_base::error::Error;
use ssdlab_base::units::{ChannelId, ChipId, DieId, Lpn, Ns, PoolId};
use ssdlab_keys::config::Config;
use ssdlab_result::stats::SlackStats;

impl Ssd {
    /// The translation layer.
    pub fn ftl(&self) -> &Ftl {
        &self.ftl
    }

    /// Takes the translation layer out of a drive at rest, which cannot be used afterwards.
    pub fn take_ftl(&mut self) -> Ftl {
        let mut ftl = std::mem::replace(&mut self.ftl, Ftl::new(&Config::default()));
        ftl.want_configured();
        ftl.close_cache();
        ftl
    }

    /// Number of units that can be programmed in all pools, as if an active job gained room with each move: a job that has moved a share of
    /// its victim counts with that share of a block. `moved_share`: the share of a block's units that a job has to move, 0 to 1.
    pub fn room_under_way(&self, moved_share: f64) -> f64 {
        let block = f64::from(self.geometry().units_per_block.get());
        let room: u64 = self.pools().map(|pool| self.ftl.room_outside_cache(pool)).sum();
        let left = |job: &Job| f64::from(self.ftl.blocks().valid(job.victim())) / moved_share.max(1.0 / block);
        let gained = self.gc.jobs.active().map(|job| (block - left(job)).clamp(0.0, block));
        room as f64 + gained.sum::<f64>()
    }

    /// The counters of the drive.
    pub fn counters(&self) -> Counters {
        let [read_passes, write_passes] = self.sched.slack().map_or([0; 2], |slack| slack.passes());
        // Each burst has a move in service whose read is not counted yet.
        let gc_reads = self.probes.counters().gc_reads + self.gc.jobs.bursts();
        let (victim_choices, victim_fallbacks) = (self.gc.victim_choices(), self.gc.victim_fallbacks());
        let displaced_moves = self.ftl.displaced_moves();
        let &SuperblockCounts { opened: superblocks_opened, skipped: skipped_units, .. } = self.ftl.superblock_counts();
        Counters {
            gc_reads,
            read_passes,
            write_passes,
            victim_choices,
            victim_fallbacks,
            displaced_moves,
            superblocks_opened,
            superblocks_collected: self.ftl.superblocks_collected(),
            skipped_units,
            ..*self.probes.counters()
        }
    }

    /// Number of bursts begun: page moves of a job as one event. It is in no result, since results do not depend on it.
    #[doc(hidden)]
    pub fn bursts_begun(&self) -> u64 {
        self.gc.jobs.bursts_begun()
    }

    /// Statistics of slack, and of the errors of its estimates.
    pub fn slack_stats(&self) -> &SlackStats {
        self.probes.slack()
    }

    /// Replaces the configured victim policy by a user-defined one. Call before [`Ssd::begin`].
    pub fn use_victim_policy(&mut self, custom: &CustomVictim) {
        // The policy may have a memory across pools, and so depend on whose job starts first at an instant.
        self.rules.never_bursts();
        self.gc.use_victim_policy(custom);
    }

    /// The failure of a user-defined policy, once there is one.
    #[inline]
    pub fn take_policy_failure(&mut self) -> Option<Error> {
        let own = self.gc.take_policy_failure().or_else(|| self.take_order_failure());
        own.or_else(|| if self.rules.places { self.ftl.placer_mut().take_failure() } else { None })
    }

    /// The writes ahead, for the oracle of `ftl.placement` to take in; `None` without an oracle.
    pub fn foretold(&mut self) -> Option<crate::ftl::Foretold<'_>> {
        self.ftl.placer_mut().foretold()
    }

    /// Turns verify mode on: checks data during the run, and with `every_event` recounts redundant state after each round of events.
    pub fn verify(&mut self, every_event: bool) {
        self.probes.verify(Verifier::new(self.rules.handles, &self.ftl, every_event));
        self.rules.never_bursts();
        self.flash.watch_stages(false);
    }

    /// Recounts redundant state, and returns the first defect that verify mode has found.
    ///
    /// # Errors
    /// The first contradiction found, by verify mode as the run went or now.
    pub fn check(&self) -> Result<(), String> {
        verify::check(self)
    }

    /// Keeps every stage of every operation as an interval, for tests and timelines.
    pub fn keep_trace(&mut self) {
        self.rules.never_bursts();
        self.flash.watch_stages(true);
    }

    /// The stages kept since [`Ssd::keep_trace`].
    pub fn trace(&self) -> Option<&Trace> {
        self.flash.trace()
    }

    /// Plays every stage as an event of its own, also where nothing could get between stages. For tests: results must not differ.
    pub fn play_every_stage(&mut self) {
        self.rules.never_bursts();
        self.flash.play_every_stage();
    }

    /// The run begins with a warm-up: slack is only recorded of requests that arrive after [`Ssd::end_warm_up`].
    pub fn warm_up(&mut self) {
        self.host.set_warming_up(true);
    }

    /// Ends the warm-up. Extremes are counted from now on again; sums go on, so that callers take differences.
    pub fn end_warm_up(&mut self) {
        self.host.set_warming_up(false);
        self.probes.count().job_ns_max = 0;
        self.ftl.begin_run();
    }

    /// Moves the units that GC has moved since the last call to `into`, where that is noted (`ftl.map_cache_bytes`).
    pub fn take_moved(&mut self, into: &mut Vec<Lpn>) {
        into.append(&mut self.moved);
    }

    /// Moves the units whose place has changed since the last call to `into`, where that is noted (`ftl.map_models`).
    pub fn take_changed(&mut self, into: &mut Vec<Lpn>) {
        into.append(&mut self.changed);
    }

    /// Moves the units of padding in programs of translation pages since the last call to `into`, each with the index of its request.
    pub fn take_padded(&mut self, into: &mut Vec<(u64, u32)>) {
        into.append(&mut self.padded);
    }

    /// Number of units that GC has gained so far: those of all victims erased, less those moved (with padding), which count before their
    /// victim is erased. Only with `ftl.map_cache_bytes`.
    pub fn gained(&self) -> i64 {
        self.gained
    }

    /// Number of outstanding requests.
    pub fn outstanding(&self) -> usize {
        self.host.outstanding()
    }

    /// The chip where a page lies, or will when it is written. `None`: it is not known before (dynamic allocation).
    #[inline]
    pub fn chip_of_page(&self, lpn: Lpn) -> Option<ChipId> {
        let geometry = self.geometry();
        // With static allocation a page stays in the pool that its address gives it.
        let pool = if self.rules.dynamic { geometry.pool_of_page(self.ftl.lookup(lpn)?) } else { geometry.static_pool(lpn) };
        Some(geometry.chip_of_die(geometry.die_of_pool(pool)))
    }

    /// A page has been written, or is about to be by an operation that has not ended, and not trimmed since.
    pub fn has_data(&self, lpn: Lpn) -> bool {
        match page_order::ends(&self.ftl, lpn).and_then(|ends| self.transactions[ends.youngest].changes()) {
            Some(change) => change != TRIMMED,
            None => self.ftl.lookup(lpn).is_some(),
        }
    }

    /// Dynamic allocation: the place of a write does not follow from its address.
    pub fn allocates_dynamically(&self) -> bool {
        self.rules.dynamic
    }

    /// A job is active on the chip, or, with `soon` > 0, a pool of it has fewer than T_soft + `soon` free blocks.
    #[inline]
    pub fn chip_in_gc(&self, chip: ChipId, soon: u32) -> bool {
        let dies = || self.geometry().dies_of_chip(chip).map(DieId);
        let wanted = self.ftl.soft_blocks() + soon;
        let is_short = |die| self.geometry().pools_of_die(die).any(|pool| self.ftl.blocks().free_count(PoolId(pool)) < wanted);
        dies().any(|die| self.gc.jobs.on_die(die) > 0) || soon > 0 && dies().any(is_short)
    }

    /// Time in S0 to S3 until `now`, summed over pools, ns.
    pub fn state_ns(&self, now: Ns) -> [u128; 4] {
        self.gc.states.times(now)
    }

    /// Time in which a chip was busy until `now`, ns: where its dies work side by side, the mean of their times, rounded down; where they
    /// exclude each other, the sum.
    pub fn chip_busy_ns(&self, chip: u32, now: Ns) -> Ns {
        let dies = self.geometry().dies_of_chip(ChipId(chip));
        let all = dies.map(|die| u128::from(self.flash.die_busy_ns(DieId(die), now))).sum::<u128>();
        let shared_by = if self.rules.flash.interleave { self.rules.flash.dies_per_chip } else { 1 };
        (all / u128::from(shared_by)) as Ns
    }

    /// Time a channel's bus was busy until `now`, ns.
    pub fn bus_busy_ns(&self, channel: ChannelId, now: Ns) -> Ns {
        self.flash.bus_busy_ns(channel, now)
    }

    /// Number of active jobs; that of a superblock, which has a part in each pool, counts once.
    pub(super) fn active_jobs(&self) -> u64 {
        self.gc.jobs.count() / u64::from(self.geometry().pools.per_group.get())
    }

    /// Sum over pools of the time until `now` in which a job was active, ns. The job of a superblock is active in each pool of its group.
    pub fn gc_active_ns(&self, now: Ns) -> u128 {
        let leads = self.pools().filter(|&pool| self.geometry().lead_pool(pool) == pool);
        let running = leads.filter_map(|pool| self.gc.job(pool)).map(|job| u128::from(now - job.started_ns()));
        let given_up = self.jobs_given_up().1;
        (self.probes.counters().job_ns + given_up + running.sum::<u128>()) * u128::from(self.geometry().pools.per_group.get())
    }
}
