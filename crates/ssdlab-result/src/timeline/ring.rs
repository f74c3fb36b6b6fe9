//! What one drive did recently, in rings of bounded size: stages of operations, waits, jobs. [`crate::slowest`] explains late requests with
//! it, so that no second run is needed.
//!
//! All memory is taken at the start. When a ring is full, its oldest entry leaves it; [`Ring::horizon`] is the time from which on all is
//! there. Explanations read them through an [`Index`].

mod index;

use std::collections::VecDeque;

use super::origin::{NOBODY, Origin};
use super::recorder::{NOWHERE, Page};
use super::track::Track;
pub use index::Index;
use ssdlab_base::blocked::{Blocked, DriveTimes};
use ssdlab_base::cause::Cause;
use ssdlab_base::units::{DieId, Lpn, Ns, PoolId, Ppn, TxnId};
use ssdlab_keys::geometry::Geometry;

/// Default number of stages that the rings of a run hold: about 10 MB.
pub const DEFAULT_STAGES: usize = 1 << 16;
/// The fewest stages that the ring of a drive holds.
const FEWEST_STAGES: usize = 1 << 12;

/// An interval of an operation on a track, as a timeline shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Start, ns.
    pub start: Ns,
    /// End, ns; [`Ns::MAX`] if it has not ended.
    pub end: Ns,
    /// Where it lies.
    pub track: Track,
    /// Name of the slice in a timeline.
    pub name: &'static str,
    /// Serial number of the operation in its drive.
    pub operation: u64,
}

/// A flash operation.
#[derive(Clone, Copy, Debug)]
pub struct RecentOperation {
    /// The operation serves requests; else it is a step of a GC job.
    pub host: bool,
    /// Number of the GC job, or [`NOBODY`].
    pub job: u64,
    /// The block that it erases, or [`NOWHERE`].
    pub block: u32,
    /// First page of the operation, if it has one.
    pub page: Option<Page>,
    /// Number of pages of the operation.
    pub pages: u32,
}

/// The wait of a page operation for its die.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// The page operation.
    pub transaction: TxnId,
    /// The domain of the wait clocks for which it waited.
    pub domain: u32,
    /// Start, ns.
    pub from: Ns,
    /// End, ns.
    pub to: Ns,
}

/// An interval in which one reason held a domain of the wait clocks.
#[derive(Clone, Copy, Debug)]
pub struct Hold {
    /// The domain.
    pub domain: u32,
    /// The reason.
    pub reason: Blocked,
    /// The pool whose job excludes the host from the die, if one does.
    pub excluded_by: Option<PoolId>,
    /// Start, ns.
    pub from: Ns,
    /// End, ns.
    pub to: Ns,
}

/// A page operation of a request that has ended.
#[derive(Clone, Copy, Debug)]
pub struct PageEnd {
    /// Whose it was.
    pub origin: Origin,
    /// The page operation.
    pub transaction: TxnId,
    /// The logical page.
    pub lpn: Lpn,
    /// The die that served it.
    pub die: DieId,
    /// The page operation is a write; else a read or a trim.
    pub write: bool,
    /// Arrival of the page's request at the drive, ns.
    pub arrival: Ns,
    /// End of the page operation, ns.
    pub ended: Ns,
    /// Times of the page operation, which add up to the time since the arrival.
    pub times: DriveTimes,
}

/// A write that has waited for room in the write buffer of a drive, and has come in.
#[derive(Clone, Copy, Debug)]
pub struct Admission {
    /// Whose it was.
    pub origin: Origin,
    /// Arrival of the write at the buffer, ns.
    pub from: Ns,
    /// When all of the write had come in, ns.
    pub to: Ns,
}

/// Why a GC job began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// The pool has fewer free blocks than the hard threshold.
    Hard,
    /// The pool has fewer free blocks than the soft threshold.
    Soft,
    /// GC goes on until the pool has `gc.until` free blocks more than the threshold.
    Episode,
    /// A block has at least as many invalid pages as `gc.invalid` asks for.
    Invalid,
    /// Another cause than that the pool needs a free block.
    Of(Cause),
}

impl Trigger {
    /// Every trigger; some causes have one name.
    pub fn all() -> impl Iterator<Item = Trigger> {
        let causes = Cause::ALL.into_iter().filter(|&cause| cause != Cause::Space).map(Trigger::Of);
        [Trigger::Hard, Trigger::Soft, Trigger::Episode, Trigger::Invalid].into_iter().chain(causes)
    }

    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Trigger::Hard => "hard",
            Trigger::Soft => "soft",
            Trigger::Episode => "episode",
            Trigger::Invalid => "invalid",
            Trigger::Of(cause) => cause.trigger(),
        }
    }

    /// What `ssdlab why` says of a job that began so, behind the number of free blocks that its pool had.
    pub fn why(self) -> &'static str {
        match self {
            Trigger::Hard => "fewer than the hard threshold",
            Trigger::Soft => "fewer than the soft threshold",
            Trigger::Episode => "and GC went on until it has gc.until more than the threshold",
            Trigger::Invalid => "and a block with more invalid pages than gc.invalid_share",
            Trigger::Of(cause) => cause.why(),
        }
    }
}

/// A GC job.
#[derive(Clone, Copy, Debug)]
pub struct RecentJob {
    /// Number of the job in its drive.
    pub number: u64,
    /// The pool.
    pub pool: PoolId,
    /// The block that it collects.
    pub victim: u32,
    /// Valid pages of the victim at the start.
    pub valid: u32,
    /// Why it began.
    pub trigger: Trigger,
    /// Free blocks of the pool at the start.
    pub free: u32,
    /// Start, ns.
    pub started: Ns,
    /// End, ns; [`Ns::MAX`] if it has not ended.
    pub ended: Ns,
}

/// A ring: entries beyond its limit push out the oldest.
#[derive(Debug)]
struct Recent<T> {
    kept: VecDeque<T>,
    limit: usize,
    /// Number of entries that have left.
    left: u64,
}

impl<T> Recent<T> {
    fn new(limit: usize) -> Self {
        Recent { kept: VecDeque::with_capacity(limit), limit, left: 0 }
    }

    /// Adds an entry. Returns the one that leaves, if the ring is full.
    fn push(&mut self, one: T) -> Option<T> {
        let leaves = if self.kept.len() == self.limit { self.kept.pop_front() } else { None };
        self.left += u64::from(leaves.is_some());
        self.kept.push_back(one);
        leaves
    }
}

/// What a drive did recently.
#[derive(Debug)]
pub struct Ring {
    geometry: Geometry,
    /// Operations wait by plane instead of by die.
    by_plane: bool,
    /// The dies of a chip work at the same time.
    interleave: bool,
    /// The open stage of each track: slots, suspended operations, buses.
    open: Vec<Option<Stage>>,
    /// Serial number of the operation in each slot, then of the suspended operation of each die.
    current: Vec<u64>,
    running: Vec<Option<RecentJob>>,
    /// The pool whose job excludes the host from each domain of the wait clocks, as they last changed.
    excluded: Vec<Option<PoolId>>,
    /// What holds the domains at the time of the last [`Ring::holds_now`].
    now_held: Vec<Hold>,
    stages: Recent<Stage>,
    operations: Recent<RecentOperation>,
    waits: Recent<Wait>,
    holds: Recent<Hold>,
    ends: Recent<PageEnd>,
    admissions: Recent<Admission>,
    jobs: Recent<RecentJob>,
    horizon: Ns,
}

impl Ring {
    /// Rings of a drive of this geometry. `stages`: the limit of stages; the other rings are in proportion.
    pub fn new(geometry: &Geometry, (by_plane, interleave): (bool, bool), stages: usize) -> Self {
        let stages = stages.max(FEWEST_STAGES);
        let dies = geometry.dies as usize;
        Ring {
            by_plane,
            interleave,
            open: vec![None; 3 * dies + geometry.channels as usize],
            current: vec![0; 3 * dies],
            running: vec![None; geometry.pools.count.get() as usize],
            excluded: vec![None; (first_station(geometry, by_plane) + geometry.stations()) as usize],
            now_held: Vec::new(),
            stages: Recent::new(stages),
            operations: Recent::new(stages / 2),
            waits: Recent::new(stages / 4),
            holds: Recent::new(stages / 2),
            ends: Recent::new(stages / 4),
            admissions: Recent::new(stages / 8),
            jobs: Recent::new(stages / 8),
            horizon: 0,
            geometry: geometry.clone(),
        }
    }

    /// Number of stages recorded so far.
    pub fn recorded(&self) -> u64 {
        self.stages.left + self.stages.kept.len() as u64
    }

    /// The limit of stages.
    pub fn limit(&self) -> u64 {
        self.stages.limit as u64
    }

    /// Time from which on everything is in the rings, ns.
    pub fn horizon(&self) -> Ns {
        self.horizon
    }

    /// An operation begins in a slot.
    pub(super) fn begins(&mut self, slot: u32, operation: RecentOperation) {
        self.current[slot as usize] = self.operations.left + self.operations.kept.len() as u64;
        self.operations.push(operation);
    }

    /// The destination of the page move in a slot is known.
    pub(super) fn moves_to(&mut self, slot: u32, to: Ppn) {
        let place = self.current[slot as usize].checked_sub(self.operations.left);
        if let Some(page) = place.and_then(|at| self.operations.kept.get_mut(at as usize)).and_then(|one| one.page.as_mut()) {
            page.to = to;
        }
    }

    /// The operation in a slot, and the suspended one of its die, change places.
    pub(super) fn swap(&mut self, slot: u32) {
        self.current.swap(slot as usize, (2 * self.geometry.dies + slot / 2) as usize);
    }

    /// A stage of the operation in `slot` ([`NOWHERE`]: of the suspended one) begins on a track.
    pub(super) fn begin(&mut self, now: Ns, track: Track, name: &'static str, slot: u32) {
        self.end(now, track);
        let Some(place) = self.place(track) else { return };
        self.open[place] = Some(self.stage(now, track, name, slot));
    }

    /// A stage whose end is known begins.
    pub(super) fn known(&mut self, (start, end): (Ns, Ns), track: Track, name: &'static str, slot: u32) {
        let stage = Stage { end, ..self.stage(start, track, name, slot) };
        self.keep(stage);
    }

    /// The open stage of a track, if there is one, ends.
    pub(super) fn end(&mut self, now: Ns, track: Track) {
        if let Some(stage) = self.place(track).and_then(|place| self.open[place].take()) {
            self.keep(Stage { end: now, ..stage });
        }
    }

    fn stage(&self, start: Ns, track: Track, name: &'static str, slot: u32) -> Stage {
        let of = match track {
            Track::Suspended(die) => 2 * self.geometry.dies + die,
            _ => slot,
        };
        Stage { start, end: Ns::MAX, track, name, operation: self.current[of as usize] }
    }

    fn keep(&mut self, stage: Stage) {
        if stage.end > stage.start
            && let Some(left) = self.stages.push(stage)
        {
            self.horizon = self.horizon.max(left.end);
        }
    }

    /// Place of the open stage of a track; `None` for jobs, which have no stages.
    fn place(&self, track: Track) -> Option<usize> {
        let dies = self.geometry.dies;
        Some(match track {
            Track::Slot(slot) => slot,
            Track::Suspended(die) => 2 * dies + die,
            Track::Bus(channel) => 3 * dies + channel,
            Track::Job(_) => return None,
        } as usize)
    }

    /// A job begins.
    pub fn job_starts(&mut self, job: RecentJob) {
        self.running[job.pool.index()] = Some(job);
    }

    /// The job of a pool ends.
    pub fn job_ends(&mut self, now: Ns, pool: PoolId) {
        if let Some(job) = self.running[pool.index()].take() {
            self.jobs.push(RecentJob { ended: now, ..job });
        }
    }

    /// A page operation has waited for its die.
    pub fn waited(&mut self, wait: Wait) {
        if let Some(left) = self.waits.push(wait) {
            self.horizon = self.horizon.max(left.to);
        }
    }

    /// A reason (`None`: nothing) has held a domain from one time to another. `excludes`: the pool whose job excludes the host from its die
    /// from then on, if one does.
    pub fn held(&mut self, domain: u32, reason: Option<Blocked>, (from, to): (Ns, Ns), excludes: Option<PoolId>) {
        let excluded_by = std::mem::replace(&mut self.excluded[domain as usize], excludes);
        let Some(reason) = reason.filter(|_| from < to) else { return };
        if let Some(left) = self.holds.push(Hold { domain, reason, excluded_by, from, to }) {
            self.horizon = self.horizon.max(left.to);
        }
    }

    /// Sets what holds domains now: domain, reason, and since when.
    pub fn holds_now(&mut self, now: Ns, held: impl Iterator<Item = (u32, Blocked, Ns)>) {
        self.now_held.clear();
        let excluded = &self.excluded;
        let hold = |(domain, reason, from)| Hold { domain, reason, excluded_by: excluded[domain as usize], from, to: now };
        self.now_held.extend(held.map(hold));
    }

    /// A page operation has ended.
    pub fn ended(&mut self, end: PageEnd) {
        if let Some(left) = self.ends.push(end) {
            self.horizon = self.horizon.max(left.ended);
        }
    }

    /// The page operations that have ended, the earliest first.
    pub fn ends(&self) -> impl DoubleEndedIterator<Item = &PageEnd> {
        self.ends.kept.iter()
    }

    /// The page operations that ended after `from`, and at `to` or before.
    pub fn ended_within(&self, from: Ns, to: Ns) -> impl Iterator<Item = &PageEnd> {
        let ends = &self.ends.kept;
        ends.range(ends.partition_point(|end| end.ended <= from)..).take_while(move |end| end.ended <= to)
    }

    /// The page operations that ended at an instant.
    pub fn ended_at(&self, at: Ns) -> impl Iterator<Item = &PageEnd> {
        self.ended_within(at.saturating_sub(1), at).filter(move |end| end.ended == at)
    }

    /// A write has come into the write buffer after it had waited for room.
    pub fn admitted(&mut self, admission: Admission) {
        if let Some(left) = self.admissions.push(admission) {
            self.horizon = self.horizon.max(left.to);
        }
    }

    /// Writes that have come into the write buffer after they had waited for room, the earliest first.
    pub fn admissions(&self) -> impl DoubleEndedIterator<Item = &Admission> {
        self.admissions.kept.iter()
    }

    /// An operation; `None` if it has left the ring.
    pub fn operation(&self, serial: u64) -> Option<&RecentOperation> {
        self.operations.kept.get(serial.checked_sub(self.operations.left)? as usize)
    }

    /// The geometry of the drive.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The dies whose operations hold a domain of the wait clocks.
    pub fn dies_of_domain(&self, domain: u32) -> std::ops::Range<u32> {
        let dies = match domain.checked_sub(first_station(&self.geometry, self.by_plane)) {
            Some(station) => self.geometry.dies_of_station(station),
            None if self.by_plane => {
                let die = self.geometry.die_of_pool(PoolId(domain)).0;
                die..die + 1
            }
            None => domain..domain + 1,
        };
        if self.interleave { dies } else { self.geometry.dies_of_chip(self.geometry.chip_of_die(DieId(dies.start))) }
    }

    /// Ends all open stages and jobs at the end of the run.
    pub fn finish(&mut self, now: Ns) {
        for place in 0..self.open.len() {
            if let Some(stage) = self.open[place].take() {
                self.keep(Stage { end: now, ..stage });
            }
        }
    }
}

/// Number of the wait clocks' domain of the first station: behind those of the dies, or of the planes.
fn first_station(geometry: &Geometry, by_plane: bool) -> u32 {
    if by_plane { geometry.planes } else { geometry.dies }
}

impl RecentOperation {
    /// An operation of a job (else `job` is [`NOBODY`]) on these pages, or the erase of `block`.
    pub(super) fn new(job: u64, block: u32, pages: &[Page]) -> Self {
        RecentOperation { host: job == NOBODY, job, block, page: pages.first().copied(), pages: pages.len() as u32 }
    }

    /// The block that it erases, if it does.
    pub fn erases(&self) -> Option<u32> {
        (self.block != NOWHERE).then_some(self.block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_base::units::SlabId;
    use ssdlab_keys::config::{Allocation, Config, ReclaimUnit, SuperblockSpan};

    fn ring() -> Ring {
        Ring::new(&Geometry::new(&Config::default()), (false, true), 0)
    }

    fn named(ring: &Ring) -> Vec<(&'static str, Ns, Ns, u64)> {
        Index::new(ring).stages().map(|stage| (stage.name, stage.start, stage.end, stage.operation)).collect()
    }

    #[test]
    fn a_suspended_operation_keeps_its_number() {
        let mut ring = ring();
        let erase = RecentOperation { host: false, job: 3, block: 7, page: None, pages: 0 };
        ring.begins(0, erase);
        ring.begin(0, Track::Slot(0), "erase", 0);
        ring.end(10, Track::Slot(0));
        ring.swap(0);
        ring.begin(10, Track::Suspended(0), "suspended erase", NOWHERE);
        ring.begins(0, RecentOperation { host: true, job: NOBODY, block: NOWHERE, ..erase });
        ring.begin(10, Track::Slot(0), "read", 0);
        ring.end(35, Track::Slot(0));
        ring.end(35, Track::Suspended(0));
        ring.swap(0);
        ring.begin(35, Track::Slot(0), "erase", 0);
        assert_eq!(named(&ring), [("erase", 0, 10, 0), ("read", 10, 35, 1), ("suspended erase", 10, 35, 0), ("erase", 35, Ns::MAX, 0)]);
        assert_eq!(ring.operation(0).and_then(RecentOperation::erases), Some(7));
        assert_eq!(Index::new(&ring).stage_at(0, Track::Slot(0), 35), None, "it has not ended");
        ring.finish(50);
        assert_eq!(Index::new(&ring).stage_at(0, Track::Slot(0), 35).map(|stage| stage.end), Some(50));
    }

    /// Two dies a chip, each a station: the domains behind those of the dies are those of the stations.
    #[test]
    fn each_die_of_a_chip_may_be_a_station() {
        let mut config = Config::default();
        config.device.dies_per_chip = 2;
        config.ftl.allocation = Allocation::Dynamic;
        (config.ftl.reclaim_unit, config.ftl.superblock_span) = (ReclaimUnit::Superblock, SuperblockSpan::Drive);
        let geometry = Geometry::new(&config);
        assert_eq!(geometry.stations(), geometry.dies);
        let mut ring = Ring::new(&geometry, (false, true), 0);
        let last = geometry.dies - 1;
        ring.held(geometry.dies + last, Some(Blocked::GcOperation), (0, 5), None);
        assert_eq!([last, geometry.dies + last].map(|domain| ring.dies_of_domain(domain)), [last..last + 1, last..last + 1]);
        let takes_turns = Ring::new(&geometry, (false, false), 0);
        assert_eq!(takes_turns.dies_of_domain(geometry.dies + last), last - 1..last + 1);
    }

    #[test]
    fn a_full_ring_drops_the_oldest_and_says_from_when_on_it_is_complete() {
        let mut ring = ring();
        let count = ring.limit() + 2;
        for at in 0..count {
            ring.known((10 * at, 10 * at + 10), Track::Slot(0), "read", 0);
        }
        // Stages of no length are none.
        ring.known((5, 5), Track::Slot(0), "read", 0);
        assert_eq!((ring.recorded(), ring.horizon()), (count, 20));
        assert_eq!(named(&ring).first(), Some(&("read", 20, 30, 0)));
        assert_eq!(Index::new(&ring).stages_on(Track::Slot(0), 20, 41).count(), 3);
    }

    #[test]
    fn page_operations_are_found_by_their_end() {
        let mut ring = ring();
        for (lpn, ended) in [(1, 10), (2, 20), (3, 20), (4, 30)] {
            let (origin, transaction, die, times) = (Origin::host(7), TxnId::new(0), DieId(0), DriveTimes::default());
            ring.ended(PageEnd { origin, transaction, lpn: Lpn(lpn), die, write: true, arrival: 5, ended, times });
        }
        let lpns = |ends: &mut dyn Iterator<Item = &PageEnd>| ends.map(|end| end.lpn.0).collect::<Vec<_>>();
        assert_eq!(lpns(&mut ring.ended_at(20)), [2, 3]);
        assert_eq!((lpns(&mut ring.ended_at(0)), lpns(&mut ring.ended_at(15))), (vec![], vec![]));
        assert_eq!(lpns(&mut ring.ended_within(10, 30)), [2, 3, 4]);
    }

    #[test]
    fn what_held_a_domain_is_known_with_the_pool_that_excluded_the_host() {
        let mut ring = ring();
        ring.held(0, None, (0, 10), Some(PoolId(2)));
        ring.held(0, Some(Blocked::Scope), (10, 30), None);
        ring.holds_now(40, [(0, Blocked::Bus, 30)].into_iter());
        let index = Index::new(&ring);
        let holds = index.holds_between(0, 5, 35).map(|hold| (hold.reason, hold.excluded_by, hold.from, hold.to));
        assert_eq!(holds.collect::<Vec<_>>(), [(Blocked::Scope, Some(PoolId(2)), 10, 30), (Blocked::Bus, None, 30, 40)]);
    }
}
