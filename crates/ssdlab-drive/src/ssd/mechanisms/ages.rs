//! Reads that age (`errors.retry`): which steps the read of a page takes, which data are being decoded, and which blocks are moved because
//! they were read too often (read reclaim) or are too old (refresh).
//!
//! | where | what |
//! |---|---|
//! | `flash/cells.rs`, `flash/errors.rs` | the age of each block, and the step that its reads need |
//! | `flash/retry/` | policies: which steps a read takes |
//! | `flash/steps.rs` | the stages of these steps on die and bus |
//! | `gc/due.rs` | blocks that wait to be moved |

use std::collections::VecDeque;

use crate::event::Event;
use crate::flash::{Cells, DAY_NS, Flash, OpKind, Pace, Retry, Steps};
use crate::ftl::Ftl;
use crate::rules::BurstRule;
use crate::ssd::mechanisms::units;
use crate::ssd::{Planted, Ssd};
use ssdlab_base::blocked::Served;
use ssdlab_base::cause::Cause;
use ssdlab_base::status::Status;
use ssdlab_base::units::{BlockId, Ns, Ppn, SlotId, TxnId};
use ssdlab_keys::geometry::PageFacts;
use ssdlab_result::stats::{AgeStats, AgedBlock};

/// Bursts: each read of a page has steps of its own.
pub(in crate::ssd) const BURSTS: BurstRule = BurstRule { keys: &["errors."], exact: |config| !config.errors.is_on() };

/// What a drive whose reads have errors keeps beside the age of its cells.
#[derive(Debug, Default)]
pub(in crate::ssd) struct Ages {
    /// Steps of the read that is being prepared, of all its planes.
    retry: Retry,
    /// First transactions of pages whose data are being decoded, in the order in which they will be.
    decoding: VecDeque<TxnId>,
    /// Blocks with data in the order in which they become too old, each with that time, ns.
    by_age: VecDeque<(Ns, BlockId)>,
    stats: AgeStats,
}

/// Ages the cells of a new drive, if reads have errors. Returns what is kept for that.
pub(in crate::ssd) fn of(ftl: &Ftl, flash: &mut Flash, cells: Option<Box<Cells>>) -> Option<Box<Ages>> {
    let cells = cells?;
    let mut ages = Ages::default();
    let blocks = || (0..ftl.geometry().blocks).map(BlockId).filter(|&block| ftl.blocks().is_in_use(block));
    if cells.refreshes() {
        ages.by_age = blocks().map(|block| (cells.refresh_at(block), block)).collect();
        ages.by_age.make_contiguous().sort_unstable();
    }
    let (mut lost, mut count) = (0, 0);
    for block in blocks() {
        let retry = expected(ftl, flash, &cells, block);
        (lost, count) = (lost + u128::from(retry), count + 1);
    }
    flash.expect_retries(lost.checked_div(count).unwrap_or(0) as Ns);
    flash.age(Some(cells));
    Some(Box::new(ages))
}

/// Time that the retries of a read of a block would take now, step by step, ns.
fn expected(ftl: &Ftl, flash: &Flash, cells: &Cells, block: BlockId) -> Ns {
    let (timing, facts) = (flash.timing(), ftl.block_facts(block));
    let failed = cells.steps_expected(0, block, facts);
    Ns::from(failed)
        * (timing.retry(&PageFacts { offset: 0, mode: facts.mode }, cells.pace().shortened) + timing.transfer_ns + timing.decode_ns)
}

impl Ssd {
    pub(in crate::ssd) fn ages_mut(&mut self) -> &mut Ages {
        self.ages.as_mut().expect("reads have errors")
    }

    /// Statistics of reads that age; `None` if reads have no errors.
    pub fn age_stats(&self, now: Ns) -> Option<AgeStats> {
        let (ages, cells) = (self.ages.as_ref()?, self.flash.cells()?);
        let mut stats = ages.stats.clone();
        for block in (0..self.geometry().blocks).map(BlockId).filter(|&block| self.ftl.blocks().is_in_use(block)) {
            let facts = self.ftl.block_facts(block);
            let age = cells.age(now, block, facts);
            let bit_error_rate = cells.rate(now, block, facts);
            stats.add_block(AgedBlock { cycles: age.cycles, days: age.ns as f64 / DAY_NS, reads: age.reads, bit_error_rate });
        }
        Some(stats)
    }

    /// For tests: the retry step that reads of a block need now, from the power law, and the last good one that is kept for it.
    #[doc(hidden)]
    pub fn retry_step(&self, now: Ns, block: BlockId) -> Option<(u8, u8)> {
        let cells = self.flash.cells()?;
        Some((cells.step_needed(now, block, self.ftl.block_facts(block)), cells.last_good(block)))
    }
}

/// The read of a page begins: its steps, and the time of a retry step.
fn read_begins(ssd: &mut Ssd, now: Ns, ppn: Ppn, host: bool) -> (Steps, Pace, Ns) {
    let block = ssd.block_of_page(ppn);
    let (facts, of_page) = (ssd.ftl.block_facts(block), ssd.ftl.page_facts(ppn));
    let cells = ssd.flash.cells_mut().expect("reads have errors");
    let mut steps = cells.read(now, block, facts);
    let pace = cells.pace();
    let is_due = cells.is_read_out(block);
    if ssd.probes.has(Planted::ForgetsRetryStep) {
        steps.failed = steps.failed.saturating_sub(1);
    }
    check(ssd, now, block, steps);
    if is_due {
        becomes_due(ssd, block, Cause::Reclaim);
    }
    let step_ns = ssd.flash.timing().retry(&of_page, pace.shortened);
    let count = ssd.probes.count();
    count.retried_reads += u64::from(steps.failed > 0);
    count.retry_steps += u64::from(steps.failed);
    *(if host { &mut count.uncorrectable_reads } else { &mut count.uncorrectable_moves }) += u64::from(steps.uncorrectable);
    ssd.ages_mut().stats.read(steps.failed, steps.uncorrectable);
    (steps, pace, step_ns)
}

/// Verify mode: checks the retry steps of a read against those that the power law asks for at the age of its block, in the mode that the
/// verifier knows of it.
fn check(ssd: &mut Ssd, now: Ns, block: BlockId, steps: Steps) {
    let Some(mode) = ssd.probes.verifier().map(|verifier| verifier.mode(block)) else { return };
    let cells = ssd.flash.cells().expect("reads have errors");
    let found = cells.check(now, block, ssd.ftl.blocks().facts(block, mode), steps);
    ssd.probes.verifier_mut().expect("seen above").found(found);
}

/// A read of the host of this page begins, alone or with pages of other planes. Returns whether its data are lost.
pub(in crate::ssd) fn host_read(ssd: &mut Ssd, now: Ns, ppn: Ppn) -> bool {
    let (steps, pace, step_ns) = read_begins(ssd, now, ppn, true);
    let ages = ssd.ages_mut();
    ages.retry = ages.retry.beside(Retry::new(steps, pace, step_ns));
    steps.uncorrectable
}

/// A read by garbage collection of this page into the controller's buffer begins. Reads ahead need that nothing comes between its stages.
#[inline]
pub(in crate::ssd) fn gc_read(ssd: &mut Ssd, now: Ns, ppn: Ppn) {
    if !ssd.rules.flash.errors {
        return;
    }
    let (steps, pace, step_ns) = read_begins(ssd, now, ppn, false);
    let retry = Retry::new(steps, pace, step_ns);
    ssd.ages_mut().retry = if ssd.rules.flash.staged { retry.one_by_one() } else { retry };
}

/// The prepared operation has begun in a slot: the steps of a read go there.
#[inline(always)]
pub(in crate::ssd) fn operation_begun(ssd: &mut Ssd, at: SlotId, kind: OpKind) {
    if ssd.rules.flash.errors && kind == OpKind::Read {
        steps_begin(ssd, at);
    }
}

fn steps_begin(ssd: &mut Ssd, at: SlotId) {
    let retry = std::mem::take(&mut ssd.ages_mut().retry);
    ssd.flash.set_steps(at, retry);
}

/// A page move whose data stay in the register of the die reads this page. Returns the time of its failed steps and of decoding, ns, which
/// counts as array time.
#[inline]
pub(in crate::ssd) fn move_read(ssd: &mut Ssd, now: Ns, ppn: Ppn) -> Ns {
    if !ssd.rules.flash.errors {
        return 0;
    }
    let (steps, pace, step_ns) = read_begins(ssd, now, ppn, false);
    let timing = ssd.flash.timing();
    let after = timing.transfer_ns + timing.decode_ns;
    let failed = Ns::from(steps.failed);
    if failed == 0 {
        return timing.decode_ns;
    }
    let set_ns = if pace.shortened { timing.set_ns } else { 0 };
    if !pace.pipelined || ssd.rules.flash.staged {
        return failed * (after + step_ns) + set_ns + timing.decode_ns;
    }
    let reset_ns = if steps.has_more && step_ns > after { timing.reset_ns } else { 0 };
    after + set_ns + step_ns + (failed - 1) * step_ns.max(timing.transfer_ns) + timing.decode_ns + reset_ns
}

/// The data of a page of a read have been transferred: they are decoded now. Returns the first transaction of the operation's next page.
pub(in crate::ssd) fn decode(ssd: &mut Ssd, now: Ns, first: TxnId) -> Option<TxnId> {
    units::each_unit(ssd, first, |transaction| transaction.served(Served::Transfer, now));
    let decode_ns = ssd.flash.timing().decode_ns;
    ssd.ages_mut().decoding.push_back(first);
    ssd.events.push(now + decode_ns, 0, Event::Decoded);
    units::next_page(ssd, first)
}

/// The data that have been decoded for longest have been.
pub(in crate::ssd) fn decoded(ssd: &mut Ssd, now: Ns) {
    let first = ssd.ages_mut().decoding.pop_front().expect("data are decoded in the order in which they come");
    units::page_ends(ssd, now, first, Served::Decode);
}

/// The first page of a block is about to be programmed.
#[inline]
pub(in crate::ssd) fn block_opened(ssd: &mut Ssd, now: Ns, first: Ppn) {
    if !ssd.rules.flash.errors {
        return;
    }
    let block = ssd.block_of_page(first);
    let Some(cells) = ssd.flash.cells_mut() else { return };
    cells.opened(now, block);
    if cells.refreshes() {
        let at = cells.refresh_at(block);
        ssd.ages_mut().by_age.push_back((at, block));
    }
}

/// A page operation of the host has ended: if its data are lost, its request is told.
#[inline(always)]
pub(in crate::ssd) fn page_ended(ssd: &mut Ssd, id: TxnId) {
    if ssd.transactions[id].uncorrectable {
        ssd.host.note_status(ssd.transactions[id].request, Status::Lost);
    }
}

/// A block has been erased: its cells age from now on as those of a block without data.
pub(in crate::ssd) fn block_erased(ssd: &mut Ssd, now: Ns, block: BlockId) {
    if let Some(cells) = ssd.flash.cells_mut() {
        cells.opened(now, block);
    }
}

/// Call when a round begins to dispatch: blocks that are too old wait to be moved from now on, and pools whose block can be moved by now
/// begin to.
#[inline(always)]
pub(in crate::ssd) fn look_for_due(ssd: &mut Ssd, now: Ns) {
    if ssd.ages.is_some() {
        find_due(ssd, now);
    }
}

fn find_due(ssd: &mut Ssd, now: Ns) {
    while let Some(&(at, block)) = ssd.ages_mut().by_age.front().filter(|&&(at, _)| at <= now) {
        ssd.ages_mut().by_age.pop_front();
        let is_current = ssd.flash.cells().expect("reads have errors").refresh_at(block) == at;
        if is_current && ssd.ftl.blocks().is_in_use(block) {
            becomes_due(ssd, block, Cause::Refresh);
        }
    }
    if ssd.gc.due.any() {
        move_due(ssd, now);
    }
}

/// Pools with a block that is to be moved begin to, if they have no job.
pub(in crate::ssd) fn move_due(ssd: &mut Ssd, now: Ns) {
    for pool in ssd.gc.due.pools() {
        if !ssd.gc.is_wanted(&ssd.ftl, pool) {
            ssd.trigger_gc(now, pool);
        }
    }
}

/// A block is to be moved, with its superblock if it has one, as soon as it is closed and its pool has room. The round under way, or else the
/// next, begins to.
fn becomes_due(ssd: &mut Ssd, block: BlockId, cause: Cause) {
    if ssd.flash.cells_mut().expect("reads have errors").becomes_due(block) {
        let first = ssd.ftl.blocks().stands_for(block);
        ssd.gc.due.push(ssd.geometry().pool_of_block(first), first, cause);
    }
}
