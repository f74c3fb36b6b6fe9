//! Which operations and jobs a segment waited for, by name.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Topology;
use super::result::{Explained, JobResult, OperationResult, OperationShare, Segment, StageResult};
use crate::timeline::{Index, NOBODY, NOWHERE, RecentJob, Ring, Stage, Track};
use ssdlab_base::units::{BlockId, DieId, Ns, PoolId, Ppn};

/// Most operations and jobs that a segment names.
const MOST_NAMED: usize = 8;

/// Which operations count as those that a segment waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Among {
    /// Operations of the host.
    Host,
    /// Operations of GC.
    Gc,
    /// All operations.
    All,
    /// Suspended operations.
    Suspended,
    /// Transfers on the bus.
    Bus,
}

/// Gathers what explains one request.
pub(super) struct Gatherer<'a> {
    pub rings: &'a [Index<'a>],
    pub topology: Topology,
    /// Completion of the request, ns: what came later is left out.
    pub until: Ns,
    pub found: Explained,
    /// Places of operations in `found`, by drive and serial number.
    operations: BTreeMap<(u32, u64), usize>,
    /// Places of jobs in `found`, by drive and number.
    jobs: BTreeMap<(u32, u64), usize>,
}

/// Number of the die of a slot or a suspended operation; `None` for other tracks.
pub(super) fn die_of(track: Track) -> Option<u32> {
    match track {
        Track::Slot(slot) => Some(slot / 2),
        Track::Suspended(die) => Some(die),
        Track::Bus(_) | Track::Job(_) => None,
    }
}

impl<'a> Gatherer<'a> {
    /// Gathers what explains a request that completed at `until`, ns.
    pub fn new(rings: &'a [Index<'a>], topology: Topology, until: Ns, found: Explained) -> Self {
        Gatherer { rings, topology, until, found, operations: BTreeMap::new(), jobs: BTreeMap::new() }
    }

    /// Names the operations on `dies` of a drive that overlap the segment.
    pub fn behind(&mut self, segment: &mut Segment, drive: u32, dies: &Range<u32>, among: Among, own: Option<u64>) {
        let ring = &self.rings[drive as usize];
        let tracks: Vec<Track> = match among {
            Among::Bus => vec![Track::Bus(ring.geometry().channel_of_die(DieId(dies.start)).0)],
            Among::Suspended => dies.clone().map(Track::Suspended).collect(),
            Among::Host | Among::Gc | Among::All => (2 * dies.start..2 * dies.end).map(Track::Slot).collect(),
        };
        let wanted = match among {
            Among::Host => Some(true),
            Among::Gc => Some(false),
            Among::All | Among::Suspended | Among::Bus => None,
        };
        let counts = |stage: &&Stage| {
            let host = ring.operation(stage.operation).map(|one| one.host);
            Some(stage.operation) != own && host.is_some() && wanted.is_none_or(|wanted| host == Some(wanted))
        };
        let overlapping = tracks.into_iter().flat_map(|track| ring.stages_on(track, segment.from_ns, segment.to_ns));
        let mut overlaps = BTreeMap::new();
        for stage in overlapping.map(|(_, stage)| stage).filter(counts) {
            let (start, overlap) = overlaps.entry(stage.operation).or_insert((stage.start, 0));
            *start = stage.start.min(*start);
            *overlap += stage.end.min(segment.to_ns) - stage.start.max(segment.from_ns);
        }
        let mut longest: Vec<(u64, (Ns, Ns))> = overlaps.into_iter().collect();
        longest.sort_by_key(|&(serial, (start, ns))| (std::cmp::Reverse(ns), start, serial));
        segment.more = longest.len().saturating_sub(MOST_NAMED);
        segment.more_ns = longest.iter().skip(MOST_NAMED).map(|&(_, (_, ns))| ns).sum();
        for (serial, (_, ns)) in longest.into_iter().take(MOST_NAMED) {
            let operation = self.operation(drive, serial);
            segment.behind.push(OperationShare { operation, ns });
        }
    }

    /// Names the jobs among `pools` of a drive that overlap the segment.
    pub fn jobs_in(&mut self, segment: &mut Segment, drive: u32, pools: &Range<u32>) {
        let (from, to) = (segment.from_ns, segment.to_ns);
        let mut jobs: Vec<RecentJob> = self.rings[drive as usize].jobs_between(pools, from, to).copied().collect();
        jobs.sort_by_key(|job| (std::cmp::Reverse(job.ended.min(to) - job.started.max(from)), job.number));
        for job in jobs.into_iter().take(MOST_NAMED) {
            let place = self.job(drive, &job);
            segment.jobs.push(place);
        }
    }

    /// Place of an operation in `operations`, where it is added with its job.
    pub fn operation(&mut self, drive: u32, serial: u64) -> usize {
        match self.operations.get(&(drive, serial)) {
            Some(&known) => known,
            None => self.add_operation(drive, serial),
        }
    }

    fn add_operation(&mut self, drive: u32, serial: u64) -> usize {
        let ring = &self.rings[drive as usize];
        let one = ring.operation(serial).expect("checked before");
        let mut stages: Vec<&Stage> = ring.stages_of(serial).filter(|stage| stage.start < self.until).collect();
        stages.retain(|stage| die_of(stage.track).is_some());
        stages.sort_by_key(|stage| (stage.start, stage.track));
        let die = stages.first().and_then(|stage| die_of(stage.track)).unwrap_or(0);
        let page = one.page.filter(|page| page.ppn.0 != NOWHERE);
        let block = one.erases().or(page.map(|page| ring.geometry().split_page(page.ppn).0.0));
        let origin = one.page.and_then(|page| page.origin);
        self.found.operations.push(OperationResult {
            drive,
            die,
            host: one.host,
            stages: stages.into_iter().map(StageResult::from).collect(),
            request: origin.map(|origin| origin.request).filter(|&request| request != NOBODY),
            cause: origin.and_then(|origin| origin.cause.name()),
            lpn: one.page.map(|page| page.lpn.0),
            ppn: page.map(|page| page.ppn.0),
            block,
            pages: one.pages,
            job: (one.job != NOBODY).then_some(one.job),
            serial,
        });
        let place = self.found.operations.len() - 1;
        self.operations.insert((drive, serial), place);
        if let Some(job) = ring.job(one.job).filter(|_| one.job != NOBODY) {
            self.job(drive, job);
        }
        place
    }

    /// Place of a job in `jobs`, where it is added with the program that set it off.
    fn job(&mut self, drive: u32, job: &RecentJob) -> usize {
        if let Some(&known) = self.jobs.get(&(drive, job.number)) {
            return known;
        }
        let ring = &self.rings[drive as usize];
        let die = ring.geometry().die_of_pool(job.pool);
        let place = self.found.jobs.len();
        self.jobs.insert((drive, job.number), place);
        self.found.jobs.push(JobResult {
            drive,
            job: job.number,
            pool: job.pool.0,
            die: die.0,
            victim: job.victim,
            valid_pages: job.valid,
            trigger: job.trigger.name(),
            free_blocks: job.free,
            from_ns: job.started,
            to_ns: (job.ended != Ns::MAX).then_some(job.ended),
            set_off_by: None,
        });
        if let Some(serial) = self.set_off(drive, job) {
            self.found.jobs[place].set_off_by = Some(self.operation(drive, serial));
        }
        place
    }

    /// The host program in the pool of a job that began when the job did, so that it took the free block.
    fn set_off(&self, drive: u32, job: &RecentJob) -> Option<u64> {
        let ring = &self.rings[drive as usize];
        let programs = |stage: &Stage| {
            let page = ring.operation(stage.operation).filter(|one| one.host).and_then(|one| one.page);
            let pool = page.filter(|page| page.ppn.0 != NOWHERE).map(|page| pool_of(ring, page.ppn));
            stage.start == job.started && pool == Some(job.pool) && matches!(stage.name, "transfer in" | "wait for bus")
        };
        let die = ring.geometry().die_of_pool(job.pool);
        let bus = Track::Bus(ring.geometry().channel_of_die(die).0);
        let tracks = [Track::Slot(2 * die.0), Track::Slot(2 * die.0 + 1), Track::Suspended(die.0), bus];
        let began = tracks.into_iter().flat_map(|track| ring.stages_on(track, job.started, job.started + 1));
        let first = began.filter(|(_, stage)| programs(stage)).min_by_key(|&(place, _)| place);
        first.map(|(_, stage)| stage.operation)
    }
}

fn pool_of(ring: &Ring, ppn: Ppn) -> PoolId {
    let block: BlockId = ring.geometry().split_page(ppn).0;
    ring.geometry().pool_of_block(block)
}

impl From<&Stage> for StageResult {
    fn from(stage: &Stage) -> Self {
        let to_ns = (stage.end != Ns::MAX).then_some(stage.end);
        StageResult { name: stage.name, from_ns: stage.start, to_ns, track: Some(stage.track) }
    }
}
