//! What the drive tells the recorder of a timeline, if there is one: which pages an operation is for, requests and jobs.

use std::sync::Arc;

use super::Ssd;
use crate::flash::OpKind;
use crate::gc::{Move, Step};
use crate::sched::NONE;
use crate::timeline::{Budget, DriveShape, Level, NOWHERE, Origin, Recorder};
use crate::units::{ChipId, Ns, PoolId, Ppn};

const NO_PAGE: Ppn = Ppn(NOWHERE);

impl Ssd {
    /// Records what happens from now on. For before [`Ssd::begin`]; `drive` is the number of this drive.
    pub fn keep_timeline(&mut self, drive: u32, budget: &Arc<Budget>) {
        let geometry = self.geometry();
        let shape = DriveShape {
            drive,
            dies: geometry.dies,
            channels: geometry.channels,
            pools: geometry.pools.count.get(),
            pages_per_block: geometry.pages_per_block.get(),
            blocks_per_pool: geometry.pools.blocks_each,
        };
        self.flash.timeline = Some(Box::new(Recorder::new(shape, budget)));
    }

    /// What was recorded.
    pub fn take_timeline(&mut self) -> Option<Box<Recorder>> {
        self.flash.timeline.take()
    }

    /// Names the levels of this drive, whose number is `drive`, as they are now.
    pub fn levels(&self, drive: u32, each: &mut dyn FnMut(Level, u64)) {
        for chip in 0..self.geometry().chips {
            let [reads, writes] = self.sched.queued(ChipId(chip));
            each(Level::Reads { drive, chip }, reads.into());
            each(Level::Writes { drive, chip }, writes.into());
        }
        each(Level::Free { drive }, self.gauges.free());
        each(Level::Fewest { drive }, self.fewest_free_blocks().into());
    }

    /// A host operation is about to begin on the pages of these transactions.
    #[inline]
    pub(super) fn note_host_operation(&mut self, kind: OpKind, first: u32) {
        let Some(timeline) = &mut self.flash.timeline else { return };
        if timeline.is_over() {
            return;
        }
        let indices = std::iter::successors(Some(first), |&index| Some(self.transactions[index].next).filter(|&next| next != NONE));
        timeline.next_is_for_requests(indices.map(|index| {
            let transaction = &self.transactions[index];
            let ppn = if kind == OpKind::Program { Some(transaction.ppn) } else { self.ftl.lookup(transaction.lpn) };
            (transaction.request, transaction.lpn, ppn.unwrap_or(NO_PAGE))
        }));
    }

    /// A step of a pool's job is about to begin.
    #[inline]
    pub(super) fn note_gc_operation(&mut self, pool: PoolId, step: Step) {
        let Some(timeline) = &mut self.flash.timeline else { return };
        let job = self.gc.job(pool).expect("a step of a job");
        match (step, job.moving) {
            (Step::Erase, _) => timeline.next_erases(pool, job.victim),
            (_, Some(Move { lpn, from, to, .. })) => {
                timeline.next_moves(pool, lpn, from, to);
            }
            (_, None) => unreachable!("a page is being moved"),
        }
    }

    /// It is known where the page goes that the operation in a slot moves.
    pub(super) fn note_target(&mut self, slot: u32, pool: PoolId) {
        if let Some(timeline) = &mut self.flash.timeline
            && let Some(to) = self.gc.job(pool).and_then(|job| job.moving).and_then(|moved| moved.to)
        {
            timeline.moves_to(slot, to);
        }
    }

    /// A host operation joins the page move in a slot.
    pub(super) fn note_join(&mut self, now: Ns, slot: u32, index: u32) {
        if let Some(timeline) = &mut self.flash.timeline {
            timeline.joins(now, slot, self.transactions[index].request);
        }
    }

    /// The next request that comes is this one's, where there is more than a drive.
    pub fn next_request_is(&mut self, origin: Origin) {
        if let Some(timeline) = &mut self.flash.timeline {
            timeline.next_request_is(origin);
        }
    }

    /// A request has come.
    #[inline]
    pub(super) fn note_request(&mut self, place: u32, index: u64) {
        if let Some(timeline) = &mut self.flash.timeline {
            timeline.request_comes(place, index);
        }
    }

    /// A job has started on a pool.
    pub(super) fn note_job(&mut self, now: Ns, pool: PoolId) {
        if let Some(timeline) = &mut self.flash.timeline {
            let victim = self.gc.job(pool).expect("it has just started").victim;
            timeline.job_starts(now, pool, victim, self.ftl.blocks().valid(victim));
        }
    }

    /// The job of a pool has ended.
    pub(super) fn note_job_end(&mut self, now: Ns, pool: PoolId) {
        if let Some(timeline) = &mut self.flash.timeline {
            timeline.job_ends(now, pool);
        }
    }
}
