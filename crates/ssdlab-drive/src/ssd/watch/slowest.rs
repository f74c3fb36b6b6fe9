//! What the drive reports to the ring of a timeline's recorder, if there is one, so that the slowest requests can be explained: waits for
//! dies, what held these, page operations that have ended, and why jobs began.

use std::sync::Arc;

use crate::sched::TransactionKind;
use crate::ssd::Ssd;
use ssdlab_base::blocked::Blocked;
use ssdlab_base::cause::Cause;
use ssdlab_base::units::{DieId, Ns, PoolId, SlabId, TxnId};
use ssdlab_result::timeline::{Admission, Budget, Origin, PageEnd, RecentJob, Recorder, Ring, Trigger, Wait};

impl Ssd {
    /// Keeps what the drive does recently, in a ring of at most this many stages. Call before [`Ssd::begin`], and after
    /// [`Ssd::keep_timeline`] if there is a timeline. `drive`: number of this drive.
    pub fn keep_ring(&mut self, drive: u32, stages: usize) {
        let ring = Ring::new(self.geometry(), (self.clocks.by_plane(), self.rules.flash.interleave), stages);
        if self.flash.recorder().is_none() {
            self.keep_timeline(drive, &Arc::new(Budget::nothing()));
        }
        self.flash.recorder().expect("a recorder is kept").keep_ring(ring);
    }

    /// What the drive did recently, if that is kept.
    pub fn ring(&self) -> Option<&Ring> {
        self.flash.recording()?.ring()
    }

    #[inline]
    fn ring_mut(&mut self) -> Option<&mut Ring> {
        self.flash.recorder()?.ring_mut()
    }

    /// Ends the rings at the end of the run: what is under way is cut there.
    pub fn finish_ring(&mut self, now: Ns) {
        if let Some(ring) = self.ring_mut() {
            ring.finish(now);
        }
    }

    /// Reports that a write, which came to the write buffer in front of the drive at `from`, has come in after it had waited for room.
    #[inline]
    pub fn note_admission(&mut self, now: Ns, origin: Origin, from: Ns) {
        if let Some(ring) = self.ring_mut() {
            ring.admitted(Admission { origin, from, to: now });
        }
    }

    /// Lets the rings show what holds each die now. Call before they are read.
    pub fn note_holds(&mut self, now: Ns) {
        let clocks = &self.clocks;
        let held = |domain| (domain, clocks.held(domain));
        if let Some(ring) = self.flash.recorder().and_then(Recorder::ring_mut) {
            let held = (0..clocks.domains()).map(held);
            ring.holds_now(now, held.filter_map(|(domain, (reason, since))| Some((domain, reason?, since))));
        }
    }
}

/// Reports that the wait clock of a domain of this die is about to be set to a reason.
#[inline(always)]
pub(in crate::ssd) fn clock_is_set(ssd: &mut Ssd, now: Ns, die: DieId, domain: u32, reason: Option<Blocked>) {
    if ssd.flash.recording().is_some() {
        note_change(ssd, now, die, domain, reason);
    }
}

#[cold]
fn note_change(ssd: &mut Ssd, now: Ns, die: DieId, domain: u32, reason: Option<Blocked>) {
    let (before, since) = ssd.clocks.held(domain);
    let excludes = ssd.gc.excludes_die(die);
    if before != reason
        && let Some(ring) = ssd.ring_mut()
    {
        ring.held(domain, before, (since, now), excludes);
    }
}

/// Reports that a page operation has waited for its die.
#[inline(always)]
pub(in crate::ssd) fn waited(ssd: &mut Ssd, transaction: TxnId, from: Ns, to: Ns) {
    if ssd.flash.recording().is_some() {
        note_wait(ssd, transaction, from, to);
    }
}

#[cold]
fn note_wait(ssd: &mut Ssd, transaction: TxnId, from: Ns, to: Ns) {
    let domain = ssd.transactions[transaction].noted.domain;
    if let Some(ring) = ssd.ring_mut() {
        ring.waited(Wait { transaction, domain, from, to });
    }
}

/// Reports that a page operation ends.
#[inline(always)]
pub(in crate::ssd) fn page_ended(ssd: &mut Ssd, now: Ns, id: TxnId) {
    if ssd.flash.recording().is_some() {
        note_end(ssd, now, id);
    }
}

#[cold]
fn note_end(ssd: &mut Ssd, now: Ns, id: TxnId) {
    let one = ssd.transactions[id];
    let arrival = ssd.host.request(one.request).request.arrival_ns;
    let die = ssd.geometry().die_of_pool(one.pool);
    let Some(recorder) = ssd.flash.recorder() else { return };
    let Some(origin) = recorder.origin_at(one.request.number()) else { return };
    let write = one.kind == TransactionKind::Write;
    if let Some(ring) = recorder.ring_mut() {
        ring.ended(PageEnd { origin, transaction: id, lpn: one.lpn, die, write, arrival, ended: now, times: one.times });
    }
}

/// Reports that a job has started on a pool. `follows`: it follows another of its episode.
pub(in crate::ssd) fn job_started(ssd: &mut Ssd, now: Ns, pool: PoolId, follows: bool) {
    if ssd.ring().is_none() {
        return;
    }
    let free = ssd.ftl.blocks().free_count(pool);
    let job = ssd.gc.job(pool).expect("it has just started");
    let (victim, cause) = (job.victim(), job.cause());
    let trigger = match () {
        () if follows && cause.collects() => Trigger::Episode,
        () if cause != Cause::Space => Trigger::Of(cause),
        () if free < ssd.gc.hard_blocks() => Trigger::Hard,
        () if ssd.ftl.is_below(pool, 0) => Trigger::Soft,
        () => Trigger::Invalid,
    };
    let valid = ssd.ftl.blocks().valid(victim);
    let Some(recorder) = ssd.flash.recorder() else { return };
    let number = recorder.job_of(pool);
    if let Some(ring) = recorder.ring_mut() {
        ring.job_starts(RecentJob { number, pool, victim: victim.0, valid, trigger, free, started: now, ended: Ns::MAX });
    }
}

/// Reports that the job of a pool has ended.
pub(in crate::ssd) fn job_ended(ssd: &mut Ssd, now: Ns, pool: PoolId) {
    if let Some(ring) = ssd.ring_mut() {
        ring.job_ends(now, pool);
    }
}
