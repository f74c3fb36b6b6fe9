//! What the drive reports to the recorder of a timeline, if there is one: the pages of an operation, requests and jobs.

use std::sync::Arc;

use crate::flash::OpKind;
use crate::sched::linked;
use crate::ssd::Ssd;
use ssdlab_base::units::{ChipId, Ns, PoolId, Ppn, ReqId, SlabId, SlotId, TxnId};
use ssdlab_result::timeline::{Budget, DriveShape, Level, NOWHERE, Origin, Recorder};

const NO_PAGE: Ppn = Ppn(NOWHERE);

impl Ssd {
    /// Records a timeline from now on. Call before [`Ssd::begin`]. `drive`: number of this drive.
    pub fn keep_timeline(&mut self, drive: u32, budget: &Arc<Budget>) {
        let geometry = self.geometry();
        let shape = DriveShape {
            drive,
            dies: geometry.dies,
            channels: geometry.channels,
            pools: geometry.pools.count.get(),
            pages_per_block: geometry.units_per_block.get(),
            blocks_per_pool: geometry.pools.blocks_each,
        };
        self.rules.timeline_begins();
        self.flash.record(Recorder::new(shape, budget));
    }

    /// Takes the recorder of the timeline, with all that was recorded.
    pub fn take_timeline(&mut self) -> Option<Box<Recorder>> {
        self.flash.take_recorder()
    }

    /// Calls `each` with each level of this drive as it is now. `drive`: number of this drive.
    pub fn levels(&self, drive: u32, each: &mut dyn FnMut(Level, u64)) {
        for chip in 0..self.geometry().chips {
            let [reads, writes] = self.sched.queued(ChipId(chip));
            each(Level::Reads { drive, chip }, reads.into());
            each(Level::Writes { drive, chip }, writes.into());
        }
        each(Level::Free { drive }, self.probes.gauges().free());
        each(Level::Fewest { drive }, self.fewest_free_blocks().into());
        if let Some((degrees, level)) = self.last_look() {
            each(Level::Temperature { drive }, degrees);
            each(Level::Throttling { drive }, level as u64);
        }
        if let Some(state) = self.power_state() {
            each(Level::PowerState { drive }, state);
        }
    }

    /// Reports whose the next request is, where there is more than a drive.
    pub fn next_request_is(&mut self, origin: Origin) {
        if let Some(timeline) = self.flash.recorder() {
            timeline.next_request_is(origin);
        }
    }
}

/// Reports that a host operation is about to begin on the pages of these transactions.
#[inline]
pub(in crate::ssd) fn host_operation(ssd: &mut Ssd, kind: OpKind, first: TxnId) {
    let Some(timeline) = ssd.flash.recorder().filter(|timeline| !timeline.is_done()) else { return };
    let pages = linked(&ssd.transactions, Some(first)).filter(|&id| !ssd.transactions[id].same_page);
    timeline.next_is_for_requests(pages.map(|id| {
        let transaction = &ssd.transactions[id];
        let ppn = if kind == OpKind::Program { Some(transaction.ppn) } else { ssd.ftl.lookup(transaction.lpn) };
        (transaction.request.number(), transaction.lpn, ppn.unwrap_or(NO_PAGE))
    }));
}

/// Reports that a step of a pool's job is about to begin.
#[inline]
pub(in crate::ssd) fn gc_operation(ssd: &mut Ssd, pool: PoolId) {
    let Some(timeline) = ssd.flash.recorder() else { return };
    let job = ssd.gc.job(pool).expect("a step of a job");
    match job.moving() {
        None => timeline.next_erases(pool, job.erases()),
        Some(moved) => timeline.next_moves(pool, moved.lpn, moved.from, moved.to),
    }
}

/// Reports the target page of the page move in a slot, once it is chosen.
pub(in crate::ssd) fn target_chosen(ssd: &mut Ssd, at: SlotId, pool: PoolId) {
    let to = ssd.gc.moving(pool).and_then(|moved| moved.to);
    if let (Some(timeline), Some(to)) = (ssd.flash.recorder(), to) {
        timeline.moves_to(at.0, to);
    }
}

/// Reports that a host operation merges with the page move in a slot.
pub(in crate::ssd) fn merged(ssd: &mut Ssd, now: Ns, at: SlotId, id: TxnId) {
    if let Some(timeline) = ssd.flash.recorder() {
        timeline.joins(now, at.0, ssd.transactions[id].request.number());
    }
}

/// Reports that a request has come.
#[inline]
pub(in crate::ssd) fn request_arrived(ssd: &mut Ssd, request: ReqId, index: u64) {
    if let Some(timeline) = ssd.flash.recorder() {
        timeline.request_comes(request.number(), index);
    }
}

/// Reports that a job has started on a pool. Once the timeline has ended, nothing is reported any more, and jobs may move pages in bursts.
pub(in crate::ssd) fn job_started(ssd: &mut Ssd, now: Ns, pool: PoolId) {
    if let Some(timeline) = ssd.flash.recorder() {
        if timeline.is_done() {
            ssd.flash.end_recording();
            return ssd.rules.timeline_ends();
        }
        let job = ssd.gc.job(pool).expect("it has just started");
        let (victim, name) = (job.victim(), job.cause().slice());
        timeline.job_starts(now, pool, name, victim, ssd.ftl.blocks().valid(victim));
    }
}

/// Reports that the job of a pool has ended.
pub(in crate::ssd) fn job_ended(ssd: &mut Ssd, now: Ns, pool: PoolId) {
    if let Some(timeline) = ssd.flash.recorder() {
        timeline.job_ends(now, pool);
    }
}
