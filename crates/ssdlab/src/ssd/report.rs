//! What can be asked of a drive, by statistics, caches, arrays and tests.

use super::verify::{self, Verifier};
use super::{Counters, Ssd};
use crate::config::Config;
use crate::error::Error;
use crate::flash::Trace;
use crate::ftl::Ftl;
use crate::gc::Job;
use crate::gc::victim::CustomVictim;
use crate::sched::{TRIMMED, page_order};
use crate::stats::SlackStats;
use crate::units::{ChannelId, ChipId, DieId, Lpn, Ns, PoolId};

impl Ssd {
    /// The translation layer.
    pub fn ftl(&self) -> &Ftl {
        &self.ftl
    }

    /// Takes the translation layer out of a drive at rest, which is of no use afterwards. `config`: the drive's.
    pub fn take_ftl(&mut self, config: &Config) -> Ftl {
        let mut ftl = std::mem::replace(&mut self.ftl, Ftl::new(&Config::default()));
        ftl.want_configured(config);
        ftl
    }

    /// Units that can be programmed in all pools, as if jobs under way gained room with each move: of a job that has moved a share of its
    /// victim, that share of a block counts. `moved_share`: what victims hold, of the units of a block, 0 to 1.
    pub fn room_under_way(&self, moved_share: f64) -> f64 {
        let block = f64::from(self.geometry().pages_per_block.get());
        let room: u64 = self.pools().map(|pool| self.ftl.room(pool)).sum();
        let left = |job: &Job| f64::from(self.ftl.blocks().valid(job.victim())) / moved_share.max(1.0 / block);
        let gained = self.gc.active_jobs().map(|job| (block - left(job)).clamp(0.0, block));
        room as f64 + gained.sum::<f64>()
    }

    /// What the mechanisms did.
    pub fn counters(&self) -> Counters {
        let [read_passes, write_passes] = self.sched.slack().map_or([0; 2], |slack| slack.passes());
        // Of each burst a move is in service that is not counted yet.
        let gc_reads = self.probes.counters().gc_reads + self.gc.bursts();
        Counters { gc_reads, read_passes, write_passes, victim_fallbacks: self.gc.victim_fallbacks(), ..*self.probes.counters() }
    }

    /// How often the page moves of a job became one event. No result says so: nothing that can be seen depends on it.
    #[doc(hidden)]
    pub fn bursts_begun(&self) -> u64 {
        self.gc.bursts_begun()
    }

    /// What slack there was, and how well it was estimated.
    pub fn slack_stats(&self) -> &SlackStats {
        self.probes.slack()
    }

    /// Asks a victim policy of the user's own. For before [`Ssd::begin`].
    pub fn use_victim_policy(&mut self, custom: &CustomVictim) {
        // It may remember from one pool to the next, and whose jobs start first at an instant.
        self.rules.bursts = false;
        self.gc.use_victim_policy(custom);
    }

    /// Why the user's own victim policy could not choose, once it could not.
    #[inline]
    pub fn take_policy_failure(&mut self) -> Option<Error> {
        self.gc.take_policy_failure()
    }

    /// Checks data as the run goes; with `every_event` also recounts everything after each event.
    pub fn verify(&mut self, every_event: bool) {
        self.probes.verify(Verifier::new(&self.ftl, every_event));
        self.rules.bursts = false;
        self.flash.watch_stages(false);
    }

    /// The round is over: in verify mode everything is recounted, if that is wanted after each event.
    #[inline(always)]
    pub(super) fn verify_round(&mut self) {
        if self.probes.verifier().is_some_and(Verifier::every_event) {
            let found = verify::recount(self);
            self.probes.verifier_mut().expect("checked above").found(found);
        }
    }

    /// Recounts everything that is kept twice.
    ///
    /// # Errors
    /// The first contradiction found, by verify mode as the run went or now.
    pub fn check(&self) -> Result<(), String> {
        verify::check(self)
    }

    /// Keeps every stage of every operation as an interval, for tests and timelines.
    pub fn keep_trace(&mut self) {
        self.rules.bursts = false;
        self.flash.watch_stages(true);
    }

    /// The stages kept since [`Ssd::keep_trace`].
    pub fn trace(&self) -> Option<&Trace> {
        self.flash.trace()
    }

    /// Makes every stage an event of its own, also where nothing could get between them. For tests: results must not differ.
    pub fn play_every_stage(&mut self) {
        self.rules.bursts = false;
        self.flash.play_every_stage();
    }

    /// The run begins with a warm-up: slack is only recorded of requests that arrive after [`Ssd::end_warm_up`].
    pub fn warm_up(&mut self) {
        self.host.set_warming_up(true);
    }

    /// The warm-up ends. Extremes begin anew; sums go on, and who wants their growth takes the difference.
    pub fn end_warm_up(&mut self) {
        self.host.set_warming_up(false);
        self.probes.count().job_ns_max = 0;
        self.ftl.begin_run();
    }

    /// Moves the units that GC has moved since the last call to `into`, where that is noted (`ftl.map_cache_bytes`).
    pub fn take_moved(&mut self, into: &mut Vec<Lpn>) {
        into.append(&mut self.moved);
    }

    /// Moves the units of padding that programs of translation pages have had since the last call to `into`, by the index of their requests.
    pub fn take_padded(&mut self, into: &mut Vec<(u64, u32)>) {
        into.append(&mut self.padded);
    }

    /// Units that GC has gained in all: of each victim that it has erased, those that it has not moved. What it moves counts before its victim
    /// does. Only where that is noted (`ftl.map_cache_bytes`).
    pub fn gained(&self) -> i64 {
        self.gained
    }

    /// Requests that are outstanding.
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

    /// Where a page is written does not follow from its address.
    pub fn allocates_dynamically(&self) -> bool {
        self.rules.dynamic
    }

    /// A job is active on the chip, or, with `soon` > 0, a pool of it has fewer than T_soft + `soon` free blocks.
    #[inline]
    pub fn chip_in_gc(&self, chip: ChipId, soon: u32) -> bool {
        let dies = || self.geometry().dies_of_chip(chip).map(DieId);
        let wanted = self.ftl.soft_blocks() + soon;
        let is_short = |die| self.geometry().pools_of_die(die).any(|pool| self.ftl.blocks().free_count(PoolId(pool)) < wanted);
        dies().any(|die| self.gc.jobs_on_die(die) > 0) || soon > 0 && dies().any(is_short)
    }

    /// Time in S0 to S3 until `now`, summed over pools, ns.
    pub fn state_ns(&self, now: Ns) -> [u128; 4] {
        self.gc.state_ns(now)
    }

    /// Time in which a chip was busy until `now`, ns. Where its dies work side by side: the mean of theirs, rounded down; where it does one
    /// operation at a time, all of theirs.
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

    /// Sum over pools of the time until `now` in which a job was active, ns.
    pub fn gc_active_ns(&self, now: Ns) -> u128 {
        let running = self.gc.active_jobs().map(|job| u128::from(now - job.started_ns()));
        self.probes.counters().job_ns + running.sum::<u128>()
    }
}
